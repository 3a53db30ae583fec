//! Totals by group: every inode belongs to exactly one group, whatever links lead to it.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use crate::dice::Dice;
use crate::document::Document;
use crate::fixture::Fixture;
use crate::oracle::{self, Entry, Eyes, Measure};
use crate::rounds::for_seeds;
use crate::run::weigh;

const ENDINGS: [&str; 7] = [".rs", ".txt", "", ".tar.gz", ".", ".RS", ".\u{301}"];

/// The label of a group, and what it comes to: its size and its inodes.
type Groups = BTreeMap<String, (u64, u64)>;

/// Files in directories in one another; every other one is a link to another, under whatever
/// ending, and some have links outside.
fn thrown(dice: &mut Dice) -> Fixture {
    let mut fixture = Fixture::in_memory().dir("elsewhere");
    let mut files: Vec<String> = Vec::new();
    for i in 0..60 {
        let dir = dice.of(&["tree", "tree/a", "tree/a/b.txt", "tree/c.d", "elsewhere"]);
        let name = format!("{dir}/{}{i}{}", dice.of(&["", ".", "x.y"]), dice.of(&ENDINGS));
        fixture = match dice.below(8) {
            0..4 if !files.is_empty() => fixture.hard_link(dice.of(&files), &name),
            4 => fixture.symlink("anywhere.else", &name),
            _ => fixture.file(&name, 3000 * dice.below(4)),
        };
        files.push(name);
    }
    fixture
}

fn ending(entry: &Entry) -> String {
    let path = String::from_utf8(entry.path.clone()).unwrap();
    let name = path.rsplit('/').next().unwrap();
    match Path::new(name).extension().map(|ending| ending.to_str().unwrap()) {
        _ if entry.kind == b'd' => "(directories)".to_owned(),
        Some(ending) if ending.chars().any(char::is_alphanumeric) => format!(".{ending}"),
        _ => String::new(),
    }
}

/// Every inode in one group: the one that sorts first of those that its links belong to.
fn expected(entries: &[Entry], measure: Measure, group: impl Fn(&Entry) -> String) -> Groups {
    let mut inodes: HashMap<&str, (String, u64)> = HashMap::new();
    for entry in entries {
        let group = group(entry);
        let known = inodes.entry(&entry.inode).or_insert((group.clone(), measure.of(entry)));
        if group < known.0 {
            known.0 = group;
        }
    }
    let mut groups = Groups::new();
    for (group, size) in inodes.into_values() {
        let group = if group.is_empty() { "(no extension)".to_owned() } else { group };
        let known = groups.entry(group).or_default();
        *known = (known.0 + size, known.1 + 1);
    }
    groups
}

fn found(document: &Document, what: &str) -> Groups {
    let root = document.root();
    let children = root.children.iter().map(|&child| &document.nodes[child]);
    let groups: Groups = children
        .map(|node| {
            assert_eq!((node.kind.as_str(), node.listed), ("group", false), "{what}");
            let name = String::from_utf8(node.name.clone()).unwrap();
            (name, (node.size, node.entries.expect("a group has entries")))
        })
        .collect();
    let size: u64 = groups.values().map(|(size, _)| size).sum();
    let entries: u64 = groups.values().map(|(_, entries)| entries).sum();
    assert_eq!((size, entries), (root.size, root.entries.unwrap()), "{what}: they do not add up");
    groups
}

#[test]
fn every_inode_is_of_one_type() {
    for_seeds(60, |seed| {
        let fixture = thrown(&mut Dice::new(seed + 5_000_000));
        let root = fixture.at("tree");
        let entries = oracle::find(&root, Eyes::Mine);
        for measure in Measure::ALL {
            let expected = expected(&entries, measure, ending);
            for threads in [1, 2, 8] {
                let flags = format!("-j --by type -T {threads} {}", measure.flag());
                let what = format!("seed {seed}, weigh {flags}");
                let document = weigh(&flags).arg(&root).run().document();
                assert_eq!(found(&document, &what), expected, "{what}");
            }
        }
    });
}

/// With -L, more paths may lead to an inode than it has links. It still counts once.
#[test]
fn followed_links_count_once() {
    let fixture = Fixture::new()
        .file("tree/a/one.rs", 5000)
        .hard_link("tree/a/one.rs", "tree/b/two.txt")
        .symlink("../a/one.rs", "tree/c/three.c")
        .symlink("../a/one.rs", "tree/d/four.go");
    for threads in [1, 2, 8] {
        let flags = format!("-j -s -t -L -T {threads}");
        let groups = found(&weigh(&flags).arg(fixture.at("tree")).run().document(), &flags);
        assert_eq!(groups[".c"], (5000, 1));
        assert_eq!(groups.len(), 2, "{groups:?}");
    }
    let each = weigh("-j -s -t -l").arg(fixture.at("tree")).run().document();
    assert_eq!(found(&each, "-l")[".rs"], (5000, 1));
    assert_eq!(found(&each, "-l")[".txt"], (5000, 1));
}

#[test]
fn every_inode_has_one_owner() {
    let mut fixture = Fixture::new()
        .file("tree/a", 5000)
        .file("tree/dir/b", 9000)
        .hard_link("tree/dir/b", "tree/c")
        .file("tree/dir/d", 1);
    if rustix::process::geteuid().is_root() {
        // No user has the number 3,999,999,999.
        fixture = fixture.owned("tree/dir/b", 65534).owned("tree/dir/d", 3_999_999_999);
        fixture = fixture.owned("tree/dir", 65534);
    }
    let root = fixture.at("tree");
    let entries = oracle::find(&root, Eyes::Mine);
    let document = weigh("-j --by owner").arg(&root).run().document();
    let expected = expected(&entries, Measure::Disk, |entry| entry.owner.clone());
    assert_eq!(found(&document, "--by owner"), expected);
}

#[test]
fn every_inode_has_one_age() {
    const DAY: i64 = 86_400;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let now = i64::try_from(now.as_secs()).unwrap();
    // No age is so close to a limit that the duration of this test matters.
    let ages = [
        (0, "under 1 day"),
        (-2 * DAY, "in the future"),
        (2 * DAY, "1 to 7 days"),
        (29 * DAY, "7 to 30 days"),
        (31 * DAY, "30 to 90 days"),
        (91 * DAY, "90 to 365 days"),
        (366 * DAY, "1 to 2 years"),
        (4 * 365 * DAY, "2 to 5 years"),
        (6 * 365 * DAY, "5 years or more"),
        (now + DAY, "5 years or more"),
    ];
    let mut fixture = Fixture::new().dir("tree");
    for (i, (age, _)) in ages.iter().enumerate() {
        let name = format!("tree/f{i}");
        fixture = fixture.file(&name, 1000 << i).modified(&name, now - age);
    }
    let root = fixture.at("tree");
    let document = weigh("-j -s --by age").arg(&root).run().document();
    let mut expected = Groups::new();
    for (i, (_, label)) in ages.iter().enumerate() {
        let known = expected.entry((*label).to_owned()).or_default();
        *known = (known.0 + (1000 << i), known.1 + 1);
    }
    // The directory was written to just now.
    expected.get_mut("under 1 day").unwrap().1 += 1;
    assert_eq!(found(&document, "--by age"), expected);
}

/// Each mail of a maildir was a type.
#[test]
fn mails_are_of_one_type() {
    let fixture = Fixture::new().file("top/new/1764327960.M9P2.host,S=34", 30);
    let fixture = ["", "S", "RS", "FRS"].iter().enumerate().fold(fixture, |fixture, (i, flags)| {
        fixture.file(format!("top/cur/176432796{i}.M{i}P2.host,S=3{i}:2,{flags}"), 30)
    });
    let fixture = fixture.file("top/a.c++", 5).file("top/b.7z", 6).file("top/c.tar.gz", 7);
    let document = weigh("-j -s -t").arg(fixture.at("top")).run().document();
    let expected =
        [("(directories)", 0), ("(no extension)", 150), (".c++", 5), (".7z", 6), (".gz", 7)];
    let groups = found(&document, "mails");
    let sizes = groups.iter().map(|(name, (size, _))| (name.as_str(), *size));
    assert_eq!(sizes.collect::<BTreeMap<_, _>>(), BTreeMap::from(expected));
}

#[test]
fn groups_beyond_the_limit_are_others() {
    let fixture = Fixture::new()
        .sparse("top/a.a", 400)
        .sparse("top/b.b", 300)
        .sparse("top/c.c", 250)
        .sparse("top/d.d", 200)
        .sparse("top/e", 1);
    let shown = |flags: &str| {
        let flags = format!("-s -b -c -o b {flags}");
        let text = weigh(&flags).arg("top").within(fixture.path()).run().text();
        let lines = crate::picture::lines(&text);
        lines.into_iter().rev().map(|line| (line.name, line.size)).collect::<Vec<_>>()
    };
    let expect = |flags: &str, expected: &[(&str, u64)]| {
        let expected: Vec<_> = expected.iter().map(|(n, s)| (n.to_string(), *s)).collect();
        assert_eq!(shown(flags), expected, "{flags}");
    };
    expect("-t -n 2", &[("top", 1151), ("(others)", 451), (".a", 400), (".b", 300)]);
    // It was nothing but others.
    expect("-t -n 1", &[("top", 1151), ("(others)", 751), (".a", 400)]);
    expect("-t -n 0", &[("top", 1151)]);
    expect("-t -z 250", &[("top", 1151), (".a", 400), (".b", 300), (".c", 250)]);
    expect("--by type -z 400", &[("top", 1151), (".a", 400)]);
}

#[test]
fn every_inode_has_one_size() {
    let sizes: [(u64, &str); 9] = [
        (0, "empty"),
        (1, "up to 4 KiB"),
        (4096, "up to 4 KiB"),
        (4097, "up to 64 KiB"),
        (1 << 20, "up to 1 MiB"),
        ((1 << 20) + 1, "up to 16 MiB"),
        (256 << 20, "up to 256 MiB"),
        ((256 << 20) + 1, "more than 256 MiB"),
        (1 << 40, "more than 256 MiB"),
    ];
    let mut fixture = Fixture::in_memory().dir("tree/dir");
    for (i, (size, _)) in sizes.iter().enumerate() {
        fixture = fixture.sparse(format!("tree/dir/f{i}"), *size);
    }
    let fixture = fixture.hard_link("tree/dir/f3", "tree/linked");
    let mut expected = Groups::from([("(directories)".to_owned(), (0, 2))]);
    for (size, label) in sizes {
        let known = expected.entry(label.to_owned()).or_default();
        *known = (known.0 + size, known.1 + 1);
    }
    let document = weigh("-j -s --by size").arg(fixture.at("tree")).run().document();
    assert_eq!(found(&document, "--by size"), expected);
    for counts in ["-f", "--inodes", "-m m"] {
        let refused = weigh(&format!("--by size {counts}")).arg(fixture.at("tree")).run();
        assert_eq!((refused.code(), refused.stdout.len()), (2, 0), "{counts}");
    }
}
