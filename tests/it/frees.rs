//! `--frees`: what deleting frees. The oracle is deletion: trees of clones, partial clones, overwritten ranges, holes,
//! preallocation and hard links are made in an image, `weigh` predicts what deleting some of their directories frees,
//! these are deleted, and `stat -f` says what has become free.
#![cfg(target_os = "linux")]

use std::fmt::Write as _;

use serde_json::Value;

use crate::dice::Dice;
use crate::fixture::Fixture;
use crate::frees_faults::{after, bounds};
use crate::rounds::rounds;
use crate::run::{in_namespace, weigh};

/// Trees on each file system.
const TREES: (usize, usize) = (6, 300);

/// What the deletion of files and directories frees or takes of the file system's own metadata, at most, in bytes. The
/// most seen is in tests/ROBUSTNESS.md.
const METADATA: u64 = 256 << 10;

/// Waits until what is free does not change any more, and prints it in bytes: XFS and btrfs free in the background.
const FREE: &str = r#"
    free() {
        last= same=0
        for i in $(seq 400); do
            sync -f top; now=$(stat -f -c '%f*%S' top)
            if [ "$now" = "$last" ]; then same=$((same + 1)); else same=0; fi
            [ $same -lt 3 ] || { echo $(($now)); return; }
            last=$now; sleep 0.05
        done
        echo 'what is free does not settle' >&2; return 1
    }
"#;

/// What was said of a tree, and what was freed, in bytes.
struct Deleted {
    size: u64,
    least: u64,
    most: u64,
    freed: i64,
    is_whole: bool,
    what: String,
}

/// How many trees are made in one run: the script is one argument, which is at most 128 KiB.
const AT_ONCE: usize = 20;

/// Makes trees, deletes some of their directories, and returns what was said and what was freed, run by run. `make`
/// makes the file system and mounts it at `top`.
fn deleted(
    make: &str,
    trees: usize,
    seed: u64,
    is_synced: bool,
) -> impl Iterator<Item = Deleted> + '_ {
    (0..trees).step_by(AT_ONCE).flat_map(move |first| {
        eprintln!("from tree {first} on");
        deleted_at_once(make, AT_ONCE.min(trees - first), seed + first as u64, is_synced)
    })
}

fn deleted_at_once(make: &str, trees: usize, seed: u64, is_synced: bool) -> Vec<Deleted> {
    let fixture = Fixture::new().dir("top");
    let mut script = format!("set -e; {{ {make}; }} >&2\n{FREE}\n");
    let mut wholes = Vec::new();
    for tree in 0..trees {
        let mut dice = Dice::new(seed + tree as u64);
        let made = made(&mut dice, make.contains("mkfs.btrfs"));
        let (is_whole, picked) = (dice.below(3) == 0, 1 + dice.below(3));
        let picked = match is_whole {
            true => "top/t".to_owned(),
            false => (0..picked).map(|dir| format!("top/t/d{dir} ")).collect(),
        };
        let sync = if is_synced || dice.below(3) > 0 { "sync -f top" } else { ":" };
        // Writing to a string cannot fail.
        let _ = write!(
            script,
            r#"
            mkdir -p top/t/d0 top/t/d1 top/t/d2 top/t/d3
            ( set +e; {made} ) > /dev/null 2>&1 || :
            {sync}
            "$0" --frees -j {picked} > said{tree} 2> unasked{tree}
            before=$(free); rm -rf {picked}; after=$(free)
            echo $((after - before)) > freed{tree}
            rm -rf top/t; before=$(free)
            "#
        );
        wholes.push((is_whole, picked));
    }
    in_namespace(&fixture, &script);
    let one = |(tree, (is_whole, picked)): (usize, (bool, String))| {
        let said: Value = fixture.json(format!("said{tree}"));
        let freed = fixture.text(format!("freed{tree}"));
        let figure = |name: &str| said[name].as_u64().unwrap_or_else(|| panic!("no {name}"));
        let what = format!("{make}: tree {}, {picked}", seed + tree as u64);
        Deleted {
            size: figure("size"),
            least: figure("frees_least"),
            most: figure("frees_most"),
            freed: freed.trim().parse().unwrap(),
            is_whole,
            what,
        }
    };
    wholes.into_iter().enumerate().map(one).collect()
}

/// The commands that make a tree in four directories of `top/t`, two of which may have a subvolume. Some fail, as a
/// clone of nothing does.
fn made(dice: &mut Dice, has_subvolumes: bool) -> String {
    let (mut script, mut files) = (String::new(), Vec::<String>::new());
    if has_subvolumes {
        script += "for d in 0 1; do btrfs -q subvolume create top/t/d$d/sub; done\n";
    }
    for number in 0..8 + dice.below(14) {
        let directory = dice.below(4);
        let sub = if has_subvolumes && directory < 2 && dice.below(2) == 0 { "sub/" } else { "" };
        let new = format!("top/t/d{directory}/{sub}f{number}");
        if has_subvolumes && dice.below(8) == 0 {
            let (of, into) = (dice.below(2), dice.below(4));
            let snapshot = format!("top/t/d{of}/sub top/t/d{into}/snapshot{number}");
            let _ = writeln!(script, "sync -f top; btrfs -q subvolume snapshot {snapshot}");
        }
        let kib = 4 * (1 + dice.below(160));
        let (at, len) = (4 * dice.below(75), 4 * (1 + dice.below(40)));
        let what = if files.is_empty() { 0 } else { dice.below(11) };
        let old = if files.is_empty() { new.clone() } else { dice.of(&files).clone() };
        let is_new = !matches!(what, 6..=8);
        let command = match what {
            0 | 1 => format!("head -c {kib}K /dev/urandom > {new}"),
            2 => format!("yes hello | head -c {kib}K > {new}"),
            3 => format!("head -c {} /dev/urandom > {new}", dice.below(60_000)),
            4 | 5 => format!("cp --reflink=auto {old} {new}"),
            6 => format!(
                "dd if=/dev/urandom of={old} bs=4K seek={} count={} conv=notrunc",
                at / 4,
                len / 4
            ),
            7 => format!("fallocate -p -o {at}K -l {len}K {old}"),
            8 => format!("fallocate -n -o {at}K -l {len}K {old}"),
            9 => format!("ln {old} {new}"),
            _ => format!(
                "xfs_io -f -c 'reflink {old} {}K {at}K {len}K' {new} || cp {old} {new}",
                4 * dice.below(20)
            ),
        };
        let sync = if dice.below(5) == 0 { "; sync -f top" } else { "" };
        let _ = writeln!(script, "{command}{sync}");
        if is_new {
            files.push(new);
        }
    }
    script
}

/// Both bounds hold, and the upper one is what is freed where every owner is deleted.
fn both_bounds_hold(make: &str, seed: u64, is_synced: bool) {
    let trees = rounds(TREES.0, TREES.1);
    let (mut under, mut off, mut sharing) = (0, 0, 0);
    for Deleted { size, least, most, freed, is_whole, what } in
        deleted(make, trees, seed, is_synced)
    {
        sharing += usize::from(most < size);
        let what = format!("{what}: {least} <= {freed} <= {most}");
        assert!(least as i64 <= freed, "{what}");
        assert!(freed <= (most + METADATA) as i64, "{what}");
        under = under.max(freed - most as i64);
        if is_whole {
            assert!(most as i64 - freed <= METADATA as i64, "{what}, of the whole");
            off = off.max(most as i64 - freed);
        }
    }
    assert!(sharing > 0 || !make.contains("reflink=1"), "nothing is shared");
    eprintln!("{make}: freed at most {under} above the upper bound; of wholes, {off} below");
}

#[test]
#[ignore = "needs root and loop devices"]
fn what_is_freed_is_between_the_bounds_on_xfs() {
    native_only!("only the native source asks what files share");
    let make = "truncate -s 300M disk; mkfs.xfs -q -m reflink=1 disk; mount -o loop disk top";
    both_bounds_hold(make, 22_000_000, false);
}

#[test]
#[ignore = "needs root and loop devices"]
fn what_is_freed_is_between_the_bounds_on_xfs_without_reflink() {
    native_only!("only the native source asks what files share");
    let make = "truncate -s 300M disk; mkfs.xfs -q -m reflink=0 disk; mount -o loop disk top";
    both_bounds_hold(make, 23_000_000, false);
}

#[test]
#[ignore = "needs root and loop devices"]
fn what_is_freed_is_between_the_bounds_on_ext4() {
    native_only!("only the native source asks what files share");
    let make = "truncate -s 200M disk; mkfs.ext4 -q disk; mount -o loop disk top";
    both_bounds_hold(make, 24_000_000, true);
}

/// btrfs frees an extent as a whole, with its last reference. So the upper figure is an estimate.
#[test]
#[ignore = "needs root and loop devices"]
fn what_is_freed_is_above_the_lower_bound_on_btrfs() {
    native_only!("only the native source asks what files share");
    let trees = rounds(TREES.0, TREES.1);
    for (options, seed) in [("", 25_000_000), ("-o compress=zstd", 26_000_000)] {
        let make =
            format!("truncate -s 300M disk; mkfs.btrfs -q disk; mount {options} -o loop disk top");
        let mut over = 0;
        for Deleted { least, most, freed, what, .. } in deleted(&make, trees, seed, true) {
            assert!(least as i64 <= freed, "{what}: {least} <= {freed}, {most}");
            over = over.max(freed - most as i64);
        }
        eprintln!("{make}: freed at most {over} above the estimate");
    }
}

/// A snapshot holds everything in its subvolume: nothing is freed for certain.
#[test]
#[ignore = "needs root and loop devices"]
fn snapshots_share_on_btrfs() {
    native_only!("only the native source asks what files share");
    let script = r#"
        set -e
        truncate -s 200M disk; mkfs.btrfs -q disk; mount -o loop disk top
        btrfs -q subvolume create top/sub
        head -c 1M /dev/urandom > top/sub/old; sync -f top
        btrfs -q subvolume snapshot -r top/sub top/shot >&2
        head -c 2M /dev/urandom > top/sub/new; sync -f top
        "$0" --frees -j top/sub > sub; "$0" --frees -j top > all
    "#;
    let fixture = after(script);
    let bounds = |name: &str| bounds(&fixture.json(name));
    let [size, least, most] = bounds("sub");
    assert!(size >= 3 << 20, "{size}");
    assert_eq!([least, most], [size - (1 << 20), size]);
    // Both owners are below: the file counts once.
    let [size, least, most] = bounds("all");
    assert!(size >= 4 << 20, "{size}");
    assert_eq!([least, most], [size - (2 << 20), size - (1 << 20)]);
}

/// The same on any number of threads, and from a snapshot. What cannot be opened is in doubt, and said.
#[test]
#[ignore = "needs root and loop devices"]
fn it_is_the_same_on_any_number_of_threads_and_when_loaded() {
    native_only!("only the native source asks what files share");
    let made = [27_000_000, 27_000_001].map(|seed| made(&mut Dice::new(seed), false)).concat();
    let script = format!(
        r#"
        set -e
        truncate -s 300M disk; mkfs.xfs -q disk; mount -o loop disk top
        mkdir -p top/t/d0 top/t/d1 top/t/d2 top/t/d3
        ( set +e; {made} ) > /dev/null 2>&1 || :
        chmod -R a+r top/t; head -c 100K /dev/urandom > top/closed; chmod 600 top/closed; mkfifo top/pipe; sync -f top
        for n in 1 2 8; do "$0" --frees -j -T $n top > json$n; "$0" --frees -T $n top > picture$n; done 2> said
        cmp json1 json2 >&2; cmp json1 json8 >&2; cmp picture1 picture2 >&2; cmp picture1 picture8 >&2
        "$0" --frees --save saved top > shown 2> said; cmp shown picture1 >&2
        "$0" --from saved -j > loaded; cmp loaded json1 >&2
        "$0" --from saved > loaded; cmp loaded picture1 >&2
        ! grep -q 'could not check' said
        cp "$0" program; chmod 755 . program
        setpriv --reuid 65534 --regid 65534 --clear-groups ./program --frees -j top/ > by-nobody 2> said
        grep -q 'could not check 1 file (100Ki)' said
        "#
    );
    let fixture = after(&script);
    let [by_root, by_nobody] = ["json1", "by-nobody"].map(|name| bounds(&fixture.json(name)));
    assert_eq!(by_nobody[1..], [by_root[1] - (100 << 10), by_root[2]]);
}

/// A PATH that is a file is asked, too. A file is asked once for all of its links.
#[test]
#[ignore = "needs root, loop devices and strace"]
fn paths_may_be_files_and_links_are_asked_once() {
    native_only!("only the native source asks what files share");
    let script = r#"
        set -e
        truncate -s 300M disk; mkfs.xfs -q disk; mount -o loop disk top; cd top
        head -c 1M /dev/urandom > one; head -c 200K /dev/urandom > own; sync -f .
        cp --reflink=always one other; mkdir links; ln one links/1; ln one links/2; sync -f .
        "$0" --frees -j own > ../own; "$0" --frees -j other > ../other; "$0" --frees -j own other > ../both
        strace -f -qq -o ../calls -e trace=ioctl "$0" --frees -j one links > ../linked
        [ $(grep -c FIEMAP ../calls) = 1 ]
    "#;
    let fixture = after(script);
    let bounds = |name: &str| bounds(&fixture.json(name)).map(|bytes| bytes >> 10);
    assert_eq!(bounds("own"), [200; 3]);
    assert_eq!(bounds("other"), [1_024, 0, 1_024]);
    assert_eq!(bounds("both"), [1_224, 200, 1_224]);
    // All three links are there, and a clone elsewhere. The directory takes no blocks.
    assert_eq!(bounds("linked"), [1_024, 0, 1_024]);
}

/// Where nothing but hard links shares, both bounds are the same.
#[test]
fn links_elsewhere_keep_a_file() {
    native_only!("only the native source knows file systems that share nothing");
    let fixture = Fixture::in_memory().dir("top/a").dir("top/b");
    let fixture = fixture.file("top/a/own", 8_192).file("top/a/both", 16_384);
    let fixture = fixture.hard_link("top/a/both", "top/b/both");
    let picture = weigh("--frees -r -b -o b top").within(fixture.path()).run().text();
    // Where deleting frees the size, nothing repeats that.
    for name in [" own", " top"] {
        let line = picture.lines().find(|line| line.ends_with(name)).unwrap();
        assert!(!line.contains("frees"), "{picture}");
    }
    let a = picture.lines().find(|line| line.contains(" a (")).unwrap();
    assert!(a.contains("frees 8192B "), "{picture}");
}

#[test]
fn what_it_does_not_go_with_is_said() {
    let with = [
        "-s",
        "-f",
        "--inodes",
        "-m m",
        "-l",
        "-L",
        "--summarize",
        "-t",
        "--sort time",
        "--as csv",
    ];
    for flags in with {
        let shown = weigh(&format!("--frees {flags} .")).run();
        assert_eq!(shown.code(), 2, "{flags}: {}", shown.complaint());
        assert!(shown.complaint().contains("--frees"), "{flags}: {}", shown.complaint());
    }
}
