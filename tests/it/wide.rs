//! Breadth: threads divide a large directory between them. No entry is lost or counted twice where its parts meet.

use std::collections::HashSet;

use crate::document::Document;
use crate::fixture::Fixture;
use crate::rounds::rounds;
use crate::run::{Weigh, weigh};

const COUNT: (usize, usize) = (20_000, 2_000_000);
/// Inodes with two links each.
const LINKED: (usize, usize) = (20_000, 500_000);
/// Links to one inode. Only in memory may there be so many (65,000 on ext4).
const LINKS: (usize, usize) = (20_000, 1_000_000);

/// `weigh` with a minute of the processor, which is not enough if each entry is compared with all before it: for two
/// million entries, that would take hours.
fn hurried(flags: &str) -> Weigh {
    weigh(flags).limited("-t 60")
}

/// Large enough that its JSON is written in parts, by several threads: directories that are one part,
/// some that are more, and between them text that is long itself. Every node is where it belongs.
#[test]
fn json_of_many_directories_is_in_order() {
    let mut fixture = Fixture::in_memory();
    let mut expected = Vec::new();
    for i in 0..50_000_usize {
        let dir = match i % 10 {
            0 => "top".to_owned(),
            1 => format!("top/large/{}", i % 70),
            _ => format!("top/{}/deep/er/{}", i % 60, i % 7),
        };
        expected.push((format!("{dir}/{i}"), i as u64 * 8));
        fixture = fixture.sparse(format!("{dir}/{i}"), i as u64 * 8);
    }
    let json = |flags: &str| weigh(flags).arg("top").within(fixture.path()).run().clean();
    let written = json("-j -s");
    let document = Document::parse(&written);
    let by_path = document.by_path();
    for (path, size) in &expected {
        assert_eq!(by_path[&path.as_bytes()["top/".len()..]].size, *size, "{path}");
    }
    assert_eq!(document.root().entries, Some(document.nodes.len() as u64));
    assert_eq!(by_path.len(), document.nodes.len());
    for node in &document.nodes {
        let sizes: Vec<_> = node.children.iter().map(|&i| document.nodes[i].size).collect();
        assert!(sizes.is_sorted_by(|one, other| one >= other), "{sizes:?}");
    }
    assert!(written == json("-j -s -T 1") && written == json("-j -s -T 8"), "it varies");
    let paths = Document::parse(&json("-j -s -p"));
    let names: HashSet<_> = paths.nodes.iter().map(|node| node.name.clone()).collect();
    assert!(expected.iter().all(|(path, _)| names.contains(path.as_bytes())));
}

/// Lengths 0, 1, 2, … so that a wrong sum cannot come out right by two mistakes of one kind. The
/// names are of many lengths, so that no record is where another was.
#[test]
fn a_directory_of_many_files_is_exact() {
    let count = rounds(COUNT.0, COUNT.1);
    let fixture = (0..count).fold(Fixture::in_memory(), |fixture, i| {
        fixture.sparse(format!("top/{i}{}", "x".repeat(i % 60)), i as u64)
    });
    let count = count as u64;
    let sum = (0..count).sum();
    for threads in [1, 2, 8] {
        let document =
            hurried(&format!("-j -s -T {threads}")).arg(fixture.at("top")).run().document();
        assert_eq!(document.root().size, sum, "{threads} threads");
        assert_eq!(document.root().entries, Some(count + 1), "{threads} threads");
        let sizes: Vec<u64> =
            document.root().children.iter().map(|&i| document.nodes[i].size).collect();
        assert!(sizes.iter().copied().eq((0..count).rev()), "{threads} threads");
        let files = hurried(&format!("-j -f -T {threads} -d 0")).arg(fixture.at("top")).run();
        assert_eq!(files.document().root().size, count, "{threads} threads");

        let flags = format!("-s -b -c -o b -n 5 -T {threads}");
        let picture = hurried(&flags).arg(fixture.at("top")).run().text();
        let sizes: Vec<u64> =
            crate::picture::lines(&picture).into_iter().map(|line| line.size).collect();
        let largest: Vec<u64> = (count - 5..count).chain([sum]).collect();
        assert_eq!(sizes, largest);
    }
}

/// Files of one size rank by their names, in whatever part of the listing each is. A second link has no line.
#[test]
fn of_many_files_of_one_size_the_first_by_name_are_shown() {
    let count = rounds(COUNT.0, COUNT.1);
    let name = |i: usize| format!("top/{i:07}{}", "x".repeat(20));
    let fixture =
        (0..count).fold(Fixture::in_memory(), |fixture, i| fixture.sparse(name(i), 1 << 12));
    let fixture =
        (0..4).fold(fixture, |fixture, i| fixture.hard_link(name(i), format!("{}~", name(i))));
    let expected: Vec<_> = (0..6).rev().map(|i| name(i)["top/".len()..].to_owned()).collect();
    for threads in [1, 2, 8] {
        let flags = format!("-s -b -c -o b -n 6 -w 200 -T {threads}");
        let picture = hurried(&flags).arg(fixture.at("top")).run().text();
        let lines = crate::picture::lines(&picture);
        let names: Vec<_> = lines.into_iter().map(|line| line.name).take(6).collect();
        assert_eq!(names, expected, "{threads} threads");
    }
}

/// Each file has a second link in a second large directory. Both sets of 20,000 inodes are merged.
#[test]
fn many_links_across_two_directories_count_once() {
    let count = rounds(LINKED.0, LINKED.1);
    let fixture = (0..count).fold(Fixture::in_memory(), |fixture, i| {
        let name = format!("top/a/{i}");
        fixture.sparse(&name, 1).hard_link(&name, format!("top/b/{i}"))
    });
    for threads in [1, 2, 8] {
        let flags = format!("-j -s -d 1 -T {threads}");
        let document = hurried(&flags).arg(fixture.at("top")).run().document();
        let of = |path| {
            let node = document.node(path);
            (node.size, node.shared, node.entries.unwrap())
        };
        let count = count as u64;
        assert_eq!(of(""), (count, 0, count + 3), "{threads} threads");
        assert_eq!(of("a"), (count, count, count + 1), "{threads} threads");
        assert_eq!(of("b"), (count, count, count + 1), "{threads} threads");
    }
}

/// Both links of every file in one directory, so far apart that they are read in different parts:
/// none may look as if it had a link outside.
#[test]
fn many_links_within_a_directory_count_once() {
    let inodes = rounds(LINKED.0, LINKED.1) / 2;
    let mut fixture = Fixture::in_memory();
    for i in 0..inodes {
        fixture = fixture.sparse(format!("top/{i}"), 1);
    }
    for i in 0..inodes {
        fixture = fixture.hard_link(format!("top/{i}"), format!("top/{i}-again"));
    }
    let count = inodes as u64;
    for threads in [1, 2, 8] {
        let document =
            hurried(&format!("-j -s -T {threads}")).arg(fixture.at("top")).run().document();
        let root = document.root();
        assert_eq!((root.size, root.shared, root.entries), (count, 0, Some(count + 1)));
        assert_eq!(root.children.len(), 2 * inodes);
    }
}

/// Every name is a link to the same inode, in three directories.
#[test]
fn many_links_to_one_inode_count_once() {
    let links = rounds(LINKS.0, LINKS.1);
    let fixture = (0..links).fold(Fixture::in_memory().file("top/f", 5000), |fixture, i| {
        fixture.hard_link("top/f", format!("top/{}/{i}", i % 3))
    });
    for threads in [1, 2, 8] {
        let flags = format!("-j -s -n 10 -T {threads}");
        let document = hurried(&flags).arg(fixture.at("top")).run().document();
        let root = document.root();
        assert_eq!((root.size, root.shared, root.entries), (5000, 0, Some(5)), "{threads} threads");
        // The three directories, and the file under the first of its names.
        assert_eq!(document.nodes.len(), 5);
    }
}
