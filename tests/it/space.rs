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
    // Even root may not look at all processes everywhere.
    let text = String::from_utf8(output.stdout).unwrap().replace('≥', "");
    text.lines().map(str::to_owned).collect()
}

/// The lines of `df -o b`: the sizes of all parts, which add up to what is used, and that.
pub fn parts(text: &str) -> (Vec<i64>, i64) {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("scanned in "));
    let size = |text: &str| -> Option<i64> {
        text.trim_start_matches('≥').strip_suffix('B')?.parse().ok()
    };
    let used = lines.next().and_then(|line| size(line.rsplit(": ").next()?.strip_suffix(" used")?));
    let parts = lines.filter_map(|line| size(line.strip_prefix("   ")?.split_whitespace().next()?));
    (parts.collect(), used.unwrap_or_else(|| panic!("{text}")))
}

#[test]
#[ignore = "needs root"]
fn what_is_used_and_in_no_file_is_what_df_has_more_than_du() {
    let fixture = Fixture::new().dir("m");
    let lines = mounted(&fixture, "\"$0\" df -j m; \"$0\" df -c -o b m");
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
    // What is known at once comes first, and no tree.
    let starts = [
        format!("m  {free}B available of {size}B   inodes <1% used"),
        format!("   deleted but still open: {unseen}B   sh ("),
        "scanned in ".to_owned(),
        format!("   {seen}B  in files"),
        format!("   {unseen}B  deleted but still open (restart"),
    ];
    let lines = &lines[3..];
    let are_right = lines.iter().zip(&starts).all(|(line, start)| line.starts_with(start));
    assert!(are_right && lines.len() == starts.len(), "{starts:#?} {lines:#?}");
    assert!(lines[2].ends_with(&format!(": {used}B used")), "{lines:#?}");
}

/// A part with a minus had a text that said where it is, and not what is taken off.
#[test]
#[ignore = "needs root"]
fn what_files_have_more_than_is_used_is_taken_off_again() {
    let fixture = Fixture::new().dir("m").dir("top").file("lower/f", 3_000_000);
    let script = "set -e; mount -t tmpfs -o size=20M none m; mkdir m/upper m/work
         mount -t overlay none -o lowerdir=lower,upperdir=m/upper,workdir=m/work top
         \"$0\" df -c -o b top";
    let text = String::from_utf8(in_namespace(&fixture, script).stdout).unwrap();
    let (parts, used) = parts(&text);
    assert_eq!(parts.iter().sum::<i64>(), used, "{text}");
    let line = text.lines().find(|line| line.starts_with("   -"));
    let line = line.unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains("B  too much in the lines above: files share space"), "{text}");
}

/// Who reads the first lines can end the scan: it has not ended before them.
#[test]
#[ignore = "needs root and strace"]
fn how_much_is_available_is_said_before_the_scan() {
    let fixture = Fixture::new().dir("m");
    // Listing the directory takes a while.
    let script = r#"set -e; mount -t tmpfs -o size=20M none m; mkfifo pipe
        strace -f -qq -o /dev/null -P "$PWD/m" -e trace=getdents64 -e inject=getdents64:delay_enter=3000000 \
            "$0" df -c m > pipe & tracer=$!
        exec 3< pipe; head -n 2 <&3; kill -INT $(pgrep -P $tracer); cat <&3"#;
    let text = String::from_utf8(in_namespace(&fixture, script).stdout).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with("m  20.0Mi available of 20.0Mi"), "{text}");
    assert!(lines[1].starts_with("   deleted but still open: none"), "{text}");
    assert!(lines[2].starts_with("interrupted after "), "{text}");
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
             \"$0\" df -c -o b -w 300 m | grep available
             fill() {{ \"$@\" dd if=/dev/zero of=m/$f bs=64K || :; sync -f m; du -B1 m/$f; }}
             f=users; fill setpriv --reuid 65534 --regid 65534 --clear-groups
             f=roots; fill env"
        );
        let text = String::from_utf8(in_namespace(&fixture, &script).stdout).unwrap();
        let lines: Vec<_> = text.lines().collect();
        let size = |line: &str, after: &str| -> Option<u64> {
            let (before, _) = line.split_once(after)?;
            before.rsplit(' ').next()?.trim_end_matches('B').parse().ok()
        };
        let number =
            |text: &str| -> u64 { text.split_whitespace().next().unwrap().parse().unwrap() };
        let (users, roots) = (number(lines[1]), number(lines[2]));
        let available = size(lines[0], " available of").unwrap();
        assert!(available.abs_diff(users) < SLACK, "{make}: {text}");
        let for_root = size(lines[0], " more only for root");
        assert_eq!(for_root.is_some(), is_for_root, "{make}: {text}");
        assert!(for_root.unwrap_or(0).abs_diff(roots) < SLACK, "{make}: {text}");
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
    assert!(text.contains("t\\xe2\\x94\\x80  "), "{text}");
    assert!(text.contains(r"a\xe2\x94\x80b"), "{text}");
}

/// A PATH that is no mount point is on a file system, and df is about that. Before, weigh said nothing about it.
#[test]
#[ignore = "needs root"]
fn each_path_has_its_file_system() {
    let fixture = Fixture::new().dir("m").dir("bound");
    let lines = mounted(
        &fixture,
        "mount --bind m/a bound; \"$0\" df -j m m/sub m/a 2>&1; \"$0\" df -c -q m/a/f; \"$0\" df -q -c bound",
    );
    let m = fixture.text_path("m");
    assert_eq!(lines[2], format!("weigh: note: m/a is on {m}, and weigh scans all of that"));
    let json: Value = serde_json::from_str(&lines[3]).unwrap();
    let found: Vec<_> = json["file_systems"].as_array().unwrap().iter().collect();
    let of = |key: &str| found.iter().map(|one| one[key].clone()).collect::<Vec<_>>();
    assert_eq!(of("path"), ["m", "m/sub"]);
    assert_eq!(of("size"), [20 << 20, 9 << 20]);
    assert_eq!(of("unseen"), [1 << 20, 0]);
    let about: Vec<_> = lines.iter().filter(|line| line.contains(" available of ")).collect();
    let expected = format!("{m}  16.0Mi available of 20.0Mi");
    assert!(about.len() == 2 && about.iter().all(|it| it.starts_with(&expected)), "{lines:#?}");
}

/// Once, a file system whose root was given in two spellings had two lines.
#[test]
#[ignore = "needs root"]
fn one_file_system_has_its_lines_once() {
    let fixture = Fixture::new().dir("m");
    let once = mounted(&fixture, "\"$0\" df -c -q m");
    for roots in ["m m/", "m/ m", "m m ./m m/../m"] {
        let lines = mounted(&fixture, &format!("\"$0\" df -c -q {roots}"));
        let count = |lines: &[String], words: &str| {
            lines.iter().filter(|line| line.contains(words)).count()
        };
        for words in ["available of", "in files", "deleted but still open:"] {
            assert_eq!(count(&lines, words), count(&once, words), "{roots}: {words}\n{lines:#?}");
        }
    }
}

/// Storage that does not answer is named, and does not hold up the others. statfs(2) waits for ever for a server that is
/// gone.
#[test]
#[ignore = "needs root"]
fn storage_that_does_not_answer_is_named() {
    let fixture = Fixture::new().dir("hung").dir("m");
    // Nobody serves the requests of this file system.
    let script = r#"exec 9<>/dev/fuse
        mount -i -t fuse -o fd=9,rootmode=40000,user_id=0,group_id=0 hung hung
        mount -t tmpfs -o size=20M none m; echo >m/f
        for flags in "" -j; do "$0" df -c $flags > "out$flags" 2> "said$flags" 9>&-; echo $? >> status; done
        "$0" df -c hung 2> path 9>&-; echo $? >> status
        "$0" df -c m hung > both 2>&1 9>&-; echo $? >> status"#;
    in_namespace(&fixture, script);
    let hung = fixture.text_path("hung");
    let said =
        |path: &str| format!("weigh: error: cannot read {path}: no answer from the storage\n");
    assert_eq!(fixture.text("status"), "1\n1\n1\n1\n");
    assert_eq!([fixture.text("said"), fixture.text("said-j")], [said(&hung), said(&hung)]);
    let table = fixture.text("out");
    assert!(table.contains(&fixture.text_path("m")) && !table.contains(&hung), "{table}");
    let json = fixture.json("out-j");
    assert_eq!((&json["complete"], &json["errors"][0]["path"]), (&false.into(), &(*hung).into()));
    // Nobody scans what does not answer.
    assert_eq!(fixture.text("path"), said("hung"));
    let both = fixture.text("both");
    assert!(both.contains("in files") && both.contains(&said("hung")), "{both}");
}

/// As df(1) lists them: once each, with its figures, but neither those that are empty and in memory, nor images.
#[test]
#[ignore = "needs root"]
fn the_table_has_the_figures_of_df() {
    let fixture = Fixture::new().dir("m").dir("again").dir("empty").dir("disk");
    let lines = mounted(
        &fixture,
        "truncate -s 60M image; mkfs.ext4 -q image >&2; mount -o loop image disk; mount --bind m again
         mount -t tmpfs none empty; \"$0\" df -c -o b -w 300
         df -B1 --output=size,used,avail,iused,itotal,target m m/sub disk | tail -n 3",
    );
    let fields = |line: &String| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let here = fixture.path().to_str().unwrap();
    let (table, df) = lines.split_at(lines.len() - 3);
    let mut rows: Vec<_> = table.iter().filter(|line| line.contains(here)).map(fields).collect();
    let heading = lines.iter().find(|line| line.contains("mounted on")).unwrap();
    assert_eq!(fields(heading), ["size", "used", "avail", "use%", "inodes", "mounted", "on"]);
    rows.retain(|row| row.len() > 4 && row[0].ends_with('B'));
    assert_eq!(rows.len(), 3, "{lines:#?}");
    for line in df {
        let [size, used, available, inodes, all, point] = fields(line).try_into().unwrap();
        let row = rows.iter().find(|row| row.last() == Some(&point)).expect(&point);
        assert_eq!(row[..3], [size, used, available].map(|it| it + "B"), "{lines:#?}");
        let [inodes, all]: [f64; 2] = [inodes, all].map(|it| it.parse().unwrap());
        let share = match (100.0 * inodes / all).round() {
            0.0 => "<1%".to_owned(),
            share => format!("{share}%"),
        };
        assert_eq!(row[row.len() - 2], share, "{lines:#?}");
    }
    let deleted = lines.iter().position(|line| line.starts_with("deleted but still open")).unwrap();
    let expected = format!("   on {here}/m: 1048576B   sh (");
    assert!(lines[deleted + 1..].iter().any(|line| line.starts_with(&expected)), "{lines:#?}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    for flags in [
        "-s",
        "-f",
        "--inodes",
        "-m m",
        "--sort time",
        "-l",
        "-L",
        "--as csv",
        "diff --since x",
        "--from x",
    ] {
        assert_eq!(weigh(&format!("df {flags}")).run().code(), 2, "{flags}");
    }
}
