//! Depth: chains that no path can name and no stack can hold, and walks that run out of handles.
//! A recursion anywhere, a destructor's included, ends these with a stack overflow. The portable
//! source goes by paths and promises only what a path can name.

use std::fs;

use crate::document::Document;
use crate::fixture::Fixture;
use crate::oracle::du;
use crate::picture::cells;
use crate::rounds::{deeper_than_any_stack, rounds};
use crate::run::{Weigh, weigh};

const LEN: u64 = 5000;

/// weigh needs at least this number of handles.
const FEW: &str = "-n 16";

fn chain() -> Fixture {
    Fixture::in_memory().chain("d", deeper_than_any_stack(), usize::try_from(LEN).unwrap())
}

fn on(fixture: &Fixture, flags: &str) -> Weigh {
    weigh(flags).arg(fixture.at("d"))
}

#[test]
fn a_chain_that_a_path_can_name_is_exact() {
    const DEPTH: usize = 1500;
    let fixture = Fixture::in_memory().chain("d", DEPTH, 5000);
    let document = on(&fixture, "-j -s").run().document();
    check_chain(&document, DEPTH, |_| LEN);
    let all = on(&fixture, "-s -b -c -o b -p -n 2000").run().text();
    assert_eq!(all.lines().count(), DEPTH + 1);
    assert!(all.lines().all(weighs_len));
    // Without paths, a chain is one line, which says where it ends.
    let joined = on(&fixture, "-s -b -c -o b -w 80 -n 2000").run().text();
    assert_eq!(joined.lines().count(), 2, "{joined}");
    assert!(joined.lines().all(weighs_len) && joined.contains("d/d/end\n"), "{joined}");
}

#[test]
fn a_chain_is_exact_to_its_end() {
    native_only!("paths are bounded there");
    let (fixture, depth) = (chain(), deeper_than_any_stack());
    let disk = du(&["-sB1"], &fixture.at("d"));
    for handles in [None, Some(FEW)] {
        let start = |flags: &str| {
            let weigh = on(&fixture, flags);
            handles.map_or(on(&fixture, flags), |limit| weigh.limited(limit))
        };
        check_chain(&start("-j -s").run().document(), depth, |_| LEN);
        let inodes = start("-j --inodes").run().document();
        check_chain(&inodes, depth, |above| (depth + 1 - above) as u64);
        assert_eq!(start("-j").run().document().root().size, disk);

        let cut = start("-j -s -d 3").run().document();
        assert_eq!(cut.nodes.len(), 4);
        assert!(cut.nodes.iter().all(|node| node.size == LEN));

        let shallow = start("-s -b -c -o b -p -d 3").run().text();
        assert_eq!(shallow.lines().count(), 4, "{shallow}");
        assert!(shallow.lines().all(weighs_len), "{shallow}");
    }
}

/// In memory a directory takes no blocks; here each one adds some. Long enough that no path names
/// its end.
#[test]
fn a_chain_on_the_disk_is_exact() {
    native_only!("paths are bounded there");
    let fixture = Fixture::new().chain("d", 5000, 5000);
    let size = |flags| on(&fixture, flags).run().document().root().size;
    let (disk, inodes) =
        (du(&["-sB1"], &fixture.at("d")), du(&["-s", "--inodes"], &fixture.at("d")));
    assert_eq!((size("-j"), size("-j --inodes")), (disk, inodes));
    assert_eq!((size("-j -T 1"), size("-j -T 8")), (disk, disk));
    assert_eq!(on(&fixture, "-j").limited(FEW).run().document().root().size, disk);
}

#[test]
fn a_chain_can_be_drawn_and_cut() {
    native_only!("paths are bounded there");
    let (fixture, depth) = (chain(), deeper_than_any_stack());
    let few = on(&fixture, "-s -b -c -o b -p -n 20").run().text();
    assert_eq!(few.lines().count(), 21, "{few}");
    assert!(few.lines().all(weighs_len), "{few}");

    let all = on(&fixture, "-s -b -c -o b -w 80 -R -n 200000").run().text();
    assert_eq!(all.lines().count(), depth + 2);
    let joined = on(&fixture, "-s -b -c -o b -w 80 -n 200000").run().text();
    assert_eq!(joined.lines().count(), 2, "{joined}");
    assert!(joined.lines().all(|line| weighs_len(line) && cells(line) <= 80), "{joined}");

    let file = on(&fixture, "-s -F -b -c -o b -w 80 -n 3").run().text();
    assert_eq!(file.lines().count(), 2, "{file}");
    assert!(file.lines().all(weighs_len), "{file}");

    check_chain(&on(&fixture, "-j -s -n 200000").run().document(), depth, |_| LEN);

    let flat = on(&fixture, "-j -s -F -p").run().document();
    let [root, end] = flat.nodes.as_slice() else { panic!("{} nodes", flat.nodes.len()) };
    assert_eq!((root.size, end.kind.as_str(), end.size), (LEN, "file", LEN));
    let top = fixture.at("d");
    assert_eq!(end.name.len(), top.as_os_str().len() + 2 * (depth - 1) + "/end".len());
    assert!(end.name.ends_with(b"/d/d/d/end"));
}

/// Each line once looked at all above it: in a debug build, these pictures took 25 seconds of a core and more. Now
/// they take one to three.
#[test]
fn what_a_line_costs_does_not_grow_with_depth() {
    native_only!("paths are bounded there");
    const DEPTH: usize = 20_000;
    let fixture = Fixture::in_memory()
        .chain("d", DEPTH, 5000)
        .sparse("d/more", 1 << 20)
        .sparse("d/d/more", 1 << 16);
    for (flags, lines) in [("", 5), ("-p -B -r", DEPTH + 3), ("@hyperlink=always", 5)] {
        let flags = format!("-s -c -w 80 -n 30000 {flags}");
        let picture = on(&fixture, &flags).limited("-t 20").run().text();
        assert_eq!(picture.lines().count(), lines, "{flags}");
        // No path that is longer than 4,096 bytes can be opened. Such paths are cut, and others are whole.
        let is_cut = |line: &str| line.contains('…') && cells(line) == 80;
        let is_whole = |line: &str| !line.contains('…') && line.len() < 5000;
        assert!(picture.lines().all(|line| is_cut(line) || is_whole(line)), "{flags}");
    }
    // No chain: each level has more. Names are short, because up to a depth of 2,048 a path may be one that can be opened.
    let fixture = Fixture::in_memory().comb("l", DEPTH / 4);
    for flags in ["", "-p", "@hyperlink=always"] {
        let flags = format!("-s -c -w 80 -n 30000 {flags}");
        let run = weigh(&flags).arg(fixture.at("l")).limited("-t 20").run();
        assert!(run.text().lines().count() > DEPTH / 2, "{flags}");
    }
}

/// For each directory, its path was joined name by name: in a debug build, each of these took 14 seconds of a core. Now
/// they take less than one.
#[test]
fn what_a_filter_of_paths_costs_hardly_grows_with_depth() {
    native_only!("paths are bounded there");
    const DEPTH: usize = 20_000;
    let fixture = Fixture::in_memory()
        .chain("d", DEPTH, 5000)
        .file("d/.gitignore", 7)
        .file(format!("d{}/q", "/d".repeat(600)), 6000);
    for (flags, size) in [
        ("--exclude=d/d/q", 11_007),
        (&format!("--exclude=/{}q", "d/".repeat(600)), 5007),
        ("--gitignore", 11_007),
        ("-v ^/.*/end$", 6007),
        ("-v /d/d/q$", 5007),
    ] {
        let run = on(&fixture, &format!("-j -s -n 1 {flags}")).limited("-t 7");
        assert_eq!(run.run().document().root().size, size, "{flags}");
    }
}

/// Of all directories that are gone, each once had its whole path in memory: 16,000 of them took 265 MB.
#[test]
fn what_a_gone_directory_takes_does_not_grow_with_depth() {
    native_only!("paths are bounded there");
    const DEPTH: usize = 20_000;
    let (fixture, saved) = (Fixture::in_memory().chain("d", DEPTH, 5000), Fixture::new());
    let run = |flags: &str| {
        let weigh = weigh(flags).arg(".").within(fixture.path());
        weigh.limited("-v 262144").run()
    };
    let before = saved.at("before");
    let flags = format!("--details --save {}", before.display());
    run(&flags).clean();
    fs::rename(fixture.at("d"), fixture.at("moved")).unwrap();
    let shown = run(&format!("diff -c -w 80 -n 1 --since {}", before.display())).text();
    assert!(shown.ends_with("1 directory moved, same size: d → moved\n"), "{shown}");
}

#[test]
fn a_comb_is_exact_with_few_handles() {
    native_only!("paths are bounded there");
    let depth = rounds(2_000, 20_000);
    let teeth = depth as u64;
    let fixture = Fixture::in_memory().comb("level", depth);
    for threads in [1, 8] {
        let flags = format!("-j -s -T {threads}");
        let document = weigh(&flags).arg(fixture.at("level")).limited(FEW).run().document();
        assert_eq!(document.root().size, 2 * teeth, "{threads} threads");
        assert_eq!(document.root().entries, Some(5 * teeth), "{threads} threads");
        assert_eq!(document.nodes.len() as u64, 5 * teeth, "{threads} threads");
    }
}

#[test]
fn many_subdirectories_are_exact_with_few_handles() {
    const COUNT: usize = 10_000;
    let mut fixture = Fixture::in_memory();
    for i in 0..COUNT {
        fixture = fixture.file(format!("top/{i}/f"), 1);
    }
    for threads in [1, 2, 8, 64] {
        let flags = format!("-j -s -T {threads}");
        let document = weigh(&flags).arg(fixture.at("top")).limited(FEW).run().document();
        assert_eq!(document.root().size, COUNT as u64, "{threads} threads");
        assert_eq!(document.root().entries, Some(2 * COUNT as u64 + 1), "{threads} threads");
    }
}

fn weighs_len(line: &str) -> bool {
    line.trim_start().starts_with(&format!("{LEN}B "))
}

/// A chain of `length` directories with one file at its end, each directory weighing what `size`
/// says for its depth below the root.
fn check_chain(document: &Document, length: usize, size: impl Fn(usize) -> u64) {
    assert_eq!(document.nodes.len(), length + 1);
    for (depth, node) in document.nodes[..length].iter().enumerate() {
        assert_eq!(node.children, [depth + 1]);
        assert_eq!((node.kind.as_str(), node.size), ("directory", size(depth)), "depth {depth}");
        assert_eq!(node.entries, Some((length + 1 - depth) as u64), "depth {depth}");
    }
    let file = &document.nodes[length];
    assert_eq!((file.name.as_slice(), file.size), (b"end".as_slice(), size(length)));
}

/// Large directories below one another, each shared while the walk goes on down. They once held a
/// handle each until there were none left.
#[test]
fn large_directories_below_one_another_do_with_few_handles() {
    let mut fixture = Fixture::new();
    let mut dir = "top".to_owned();
    for _ in 0..20 {
        for i in 0..300 {
            fixture = fixture.file(format!("{dir}/file-{i}"), 0);
        }
        dir += "/below";
    }
    for threads in ["-T 1", "-T 2", "-T 8", ""] {
        let flags = format!("-j --inodes {threads}");
        let shown = weigh(&flags).arg("top").within(fixture.path()).limited(FEW).run();
        assert_eq!(shown.complaint(), "", "{flags}");
        assert_eq!(shown.document().root().size, 20 * 301, "{flags}");
    }
}

/// As long as a name may be, and so deep that no path names the end.
#[test]
fn the_longest_names_are_no_trouble() {
    native_only!("paths are bounded there");
    const LEVELS: usize = 64;
    let name = "n".repeat(255);
    let fixture = Fixture::in_memory().chain(&name, LEVELS, 5000);
    let start = |flags: &str| weigh(flags).arg(fixture.at(&name)).limited(FEW);
    check_chain(&start("-j -s").run().document(), LEVELS, |_| LEN);
    let flat = start("-j -s -F -p").run().document();
    let end = flat.nodes.last().unwrap();
    assert_eq!(end.name.len(), fixture.path().as_os_str().len() + LEVELS * 256 + "/end".len());
    for (flags, lines) in [("", 2), ("-p -w 60", LEVELS + 1), ("-R", LEVELS + 2)] {
        let picture = start(&format!("-s -b -c -o b -n 100 {flags}")).run().text();
        assert_eq!(picture.lines().count(), lines, "{picture}");
    }
}

/// Each level once took over what all levels below it have: 16,000 of them took 29 seconds of a core.
#[test]
fn what_a_group_costs_does_not_grow_with_depth() {
    native_only!("paths are bounded there");
    const DEPTH: usize = 20_000;
    let fixture = Fixture::in_memory().endings("d", DEPTH);
    let flags = "-j --inodes --by type -n 100000";
    let document = on(&fixture, flags).limited("-t 10").run().document();
    assert_eq!(document.root().size, 2 * DEPTH as u64);
    assert_eq!(document.nodes.len(), DEPTH + 2, "with that of directories, and the root");
}

/// Little memory, few processors or few processes.
#[test]
fn little_of_everything_is_enough() {
    native_only!("paths are bounded there");
    let mut wide = Fixture::in_memory();
    for i in 0..10_000 {
        wide = wide.file(format!("top/{i}/f"), 1);
    }
    let deep = Fixture::in_memory().chain("top", deeper_than_any_stack(), 1);
    for fixture in [wide.mode(".", 0o755), deep.mode(".", 0o755)] {
        let expected = weigh("-j --inodes").arg(fixture.at("top")).run().document().root().size;
        assert!(expected > 10_000);
        let start = |flags: &str| weigh(flags).arg(fixture.at("top"));
        for flags in ["-j --inodes -n 10", "-j --inodes -n 10 -T 8", "-j --inodes"] {
            let with_little = [
                // Each thread takes much of it, so there may be fewer than were asked for.
                ("a quarter of a GiB to address", start(flags).limited("-v 262144")),
                ("one processor", start(flags).under(["taskset", "-c", "0"])),
                // The user nobody may have one process, and has it: weigh. It can start no thread.
                ("one process", start(flags).by_nobody(&fixture).under(["prlimit", "--nproc=1"])),
            ];
            for (little, weigh) in with_little {
                let size = weigh.run().document().root().size;
                assert_eq!(size, expected, "weigh {flags} with {little}");
            }
        }
    }
}
