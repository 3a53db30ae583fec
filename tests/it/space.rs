//! What a file system holds beside what was seen, against `df` and `du`.
#![cfg(target_os = "linux")]

use serde_json::Value;

use crate::fixture::Fixture;
use crate::run::{in_namespace, weigh};

/// Runs `script` where `m` is a file system in memory with a directory that has a file, and a file of 1 MiB that is
/// open and deleted. Its lines, after those of `df -B1` (size, used, free) and `du -sxB1`.
fn mounted(fixture: &Fixture, script: &str) -> Vec<String> {
    let script = format!(
        "set -e; mount -t tmpfs -o size=20M none m; mkdir m/a m/sub; dd if=/dev/zero of=m/a/f bs=1M count=3
         exec 3>m/gone; dd if=/dev/zero bs=1M count=1 >&3; rm m/gone
         mount -t tmpfs -o size=9M none m/sub; dd if=/dev/zero of=m/sub/g bs=1M count=2
         df -B1 --output=size,used,avail m | tail -n 1; du -sxB1 m
         {script}"
    );
    let output = in_namespace(fixture, &script);
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
#[ignore = "needs root"]
fn what_is_used_and_in_no_file_is_what_df_has_more_than_du() {
    let fixture = Fixture::new().dir("m");
    let lines = mounted(
        &fixture,
        "\"$0\" df -j m; echo; \"$0\" df -c -o b m -d 0; \"$0\" df -cr -o b m -d 0",
    );
    let numbers = |line: &str| -> Vec<u64> {
        line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    };
    let ([size, used, free], [seen]) =
        (numbers(&lines[0])[..].try_into().unwrap(), numbers(&lines[1])[..].try_into().unwrap());
    let _: (u64, u64) = (size, seen);
    let json: Value = serde_json::from_str(&lines[2]).unwrap();
    assert_eq!(json["size"], seen, "another file system is none of it");
    let unseen = used - seen;
    let one = &json["file_systems"][0];
    let figures = ["size", "free", "available", "unseen"].map(|name| &one[name]);
    assert_eq!(figures, [size, free, free, unseen]);
    assert_eq!((&one["path"], &one["unexplained"]), (&"m".into(), &0.into()));
    assert_eq!(unseen, 1 << 20, "what is open and deleted");
    let figures = [
        format!("{size}B file system of m"),
        format!("{used}B used"),
        format!("{seen}B   in files seen"),
        format!("{unseen}B   deleted but open      sh ("),
        format!("{free}B free"),
    ];
    let trimmed: Vec<_> = lines[3..].iter().map(|line| line.trim().to_owned()).collect();
    // At the root's end: below it, or with -r above it.
    for shown in [&trimmed[2..7], &trimmed[7..12]] {
        let are_right = shown.iter().zip(&figures).all(|(line, figure)| line.starts_with(figure));
        assert!(are_right, "{figures:#?} {lines:#?}");
    }
    assert!(lines[4].contains("─ m") && lines[15].contains("─ m"), "{lines:#?}");
}

/// Room for the metadata of btrfs was said to be for root alone, and on ext4 also the part that root cannot use.
#[test]
#[ignore = "needs root"]
fn what_is_for_root_alone_is_what_root_can_write_when_others_cannot() {
    /// Written files take metadata, too.
    const SLACK: u64 = 3 << 20;
    for (make, is_for_root) in [
        ("mkfs.ext4 -q", true),
        ("mkfs.ext4 -q -m 0", false),
        ("mkfs.ext4 -q -m 20 -b 1024", true),
        ("mkfs.ext2 -q", true),
        ("mkfs.btrfs -q", false),
    ] {
        let fixture = Fixture::new().dir("m");
        let script = format!(
            "set -e; truncate -s 400M disk; {make} disk >&2; mount -o loop disk m; chmod 777 m; sync -f m
             \"$0\" df -c -o b -w 300 -d 0 m | grep available
             fill() {{ \"$@\" dd if=/dev/zero of=m/$f bs=64K || :; sync -f m; du -B1 m/$f; }}
             f=users; fill setpriv --reuid 65534 --regid 65534 --clear-groups
             f=roots; fill env"
        );
        let text = String::from_utf8(in_namespace(&fixture, &script).stdout).unwrap();
        let lines: Vec<_> = text.lines().collect();
        let number = |text: &str| -> u64 {
            let digits: String = text.trim().chars().take_while(char::is_ascii_digit).collect();
            digits.parse().unwrap()
        };
        let parts: Vec<_> = lines[0].split(", ").collect();
        let [available, users, roots] = [parts[1], lines[1], lines[2]].map(number);
        assert!(available.abs_diff(users) < SLACK, "{make}: {text}");
        assert_eq!(parts.len() > 2, is_for_root, "{make}: {text}");
        let for_root = parts.get(2).map_or(0, |part| number(part));
        assert!(for_root.abs_diff(roots) < SLACK, "{make}: {text}");
    }
}

/// A line in a name was drawn as a hyphen, as those of the picture are.
#[test]
#[ignore = "needs root"]
fn names_are_escaped_where_only_ascii_can_be_shown() {
    let fixture = Fixture::new().dir("m").dir("t─");
    let held = "mount -t tmpfs none t─; exec 4>t─/a─b; head -c 1000000 /dev/zero >&4; rm t─/a─b";
    let script = format!("{held}; LC_ALL=C \"$0\" df -c -w 500 t─");
    let text = mounted(&fixture, &script).join("\n");
    assert!(text.contains(r"file system of t\xe2\x94\x80"), "{text}");
    assert!(text.contains(r"a\xe2\x94\x80b"), "{text}");
}

#[test]
#[ignore = "needs root"]
fn each_root_has_its_own_file_system() {
    let fixture = Fixture::new().dir("m").file("plain/f", 10);
    let lines = mounted(&fixture, "\"$0\" df -j m m/sub plain 2>&1");
    let [said, json] = &lines[2..] else { panic!("{lines:#?}") };
    let (said, json) = if said.starts_with('{') { (json, said) } else { (said, json) };
    assert_eq!(
        said,
        "weigh: df says nothing about plain: it is no mount point, and `weigh df` lists those"
    );
    let json: Value = serde_json::from_str(json).unwrap();
    let found: Vec<_> = json["file_systems"].as_array().unwrap().iter().collect();
    let of = |key: &str| found.iter().map(|one| one[key].clone()).collect::<Vec<_>>();
    assert_eq!(of("path"), ["m", "m/sub"]);
    assert_eq!(of("size"), [20 << 20, 9 << 20]);
    assert_eq!(of("unseen"), [1 << 20, 0]);
}

/// Once, a file system whose root was given in two spellings had two lines.
#[test]
#[ignore = "needs root"]
fn one_file_system_has_its_lines_once() {
    let fixture = Fixture::new().dir("m");
    let once = mounted(&fixture, "\"$0\" df -c -b m");
    for roots in ["m m/", "m/ m", "m m ./m m/../m"] {
        let lines = mounted(&fixture, &format!("\"$0\" df -c -b {roots}"));
        let count = |lines: &[String], words: &str| {
            lines.iter().filter(|line| line.contains(words)).count()
        };
        for words in ["file system of", " used", " free", "deleted but open"] {
            assert_eq!(count(&lines, words), count(&once, words), "{roots}: {words}\n{lines:#?}");
        }
    }
}

#[test]
fn what_is_no_mount_point_is_said_and_what_makes_no_sense_is_refused() {
    let fixture = Fixture::new().file("top/f", 10);
    let shown = weigh("df -c top").within(fixture.path()).run();
    let said =
        "weigh: df says nothing about top: it is no mount point, and `weigh df` lists those\n";
    assert_eq!((shown.code(), shown.complaint().as_str()), (0, said));
    let plain = weigh("-c top").within(fixture.path()).run().clean();
    assert_eq!(shown.stdout, plain);
    let json = String::from_utf8(weigh("df -j top").within(fixture.path()).run().stdout).unwrap();
    assert!(!json.contains("file_systems"), "{json}");
    for flags in [
        "-s",
        "-f",
        "--inodes",
        "-m m",
        "--sort time",
        "-l",
        "--unique",
        "-L",
        "--as csv",
        "diff --since x",
        "--from x",
    ] {
        assert_eq!(weigh(&format!("df {flags}")).run().code(), 2, "{flags}");
    }
}
