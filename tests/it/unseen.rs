//! What `--df` names besides the files that it saw: planted causes on several file systems, each known from another
//! program, and what is freed when they go.
#![cfg(target_os = "linux")]

use serde_json::Value;

use crate::dice::Dice;
use crate::fixture::Fixture;
use crate::rounds::rounds;
use crate::run::{in_namespace, weigh};
use crate::space::parts;

const SEEDS: (usize, usize) = (1, 100);

/// What may be left without a cause.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// A thousandth of what is used.
    Nothing,
    /// What an empty file system uses: XFS does not tell.
    Metadata,
    /// Little, because btrfs says that its directories take blocks. `btrfs filesystem df` knows the rest.
    Directories,
}

/// Each mounts itself at `m`.
const KINDS: [(&str, Left, &str); 11] = [
    ("tmpfs", Left::Nothing, "mount -t tmpfs -o size=200M none m"),
    ("ext4", Left::Nothing, "mkfs.ext4 -q disk; mount -o loop disk m"),
    ("ext4, all of the device", Left::Nothing, "mkfs.ext4 -q disk; mount -o loop,minixdf disk m"),
    (
        "ext4 with an orphan file and a guard block",
        Left::Nothing,
        "mkfs.ext4 -q -b 4096 -O orphan_file,mmp disk; mount -o loop,minixdf disk m",
    ),
    (
        "ext4 with clusters",
        Left::Nothing,
        "mkfs.ext4 -q -O bigalloc -C 65536 disk 2>/dev/null; mount -o loop,minixdf disk m",
    ),
    (
        "ext4 with groups of groups",
        Left::Nothing,
        "mkfs.ext4 -q -b 1024 -O meta_bg,^resize_inode disk; mount -o loop,minixdf disk m",
    ),
    (
        "ext4 with groups of groups after the first ones",
        Left::Nothing,
        "mkfs.ext4 -q -b 1024 -g 512 -O ^resize_inode,^metadata_csum,64bit disk
         groups=$((300 * 1024 / 512)); echo \"feature meta_bg\nssv first_meta_bg $((groups * 64 / 1024 + 1))\" > grow
         debugfs -w -f grow disk; mount -o loop,minixdf disk m",
    ),
    ("ext2", Left::Nothing, "mkfs.ext2 -q -b 1024 disk; mount -o loop disk m"),
    ("xfs", Left::Metadata, "mkfs.xfs -q disk; mount -o loop disk m"),
    ("btrfs", Left::Directories, "mkfs.btrfs -q -m single disk; mount -o loop disk m"),
    ("btrfs, twice", Left::Directories, "mkfs.btrfs -q -d dup -m dup disk; mount -o loop disk m"),
];

/// Functions of the script: what is used, and how many blocks of 512 bytes processes hold.
const FUNCTIONS: &str = r#"
    set -e; P=; trap 'kill $P 2>/dev/null || :' EXIT
    used() { sync -f m; set -- $(stat -f -c '%S %b %f' m); echo $(($1 * ($2 - $3))); }
    # Opens a new file, fills it, removes it, and leaves it to so many processes.
    leave() {
        exec 3>"$1"; head -c "$2" /dev/urandom >&3
        for i in $(seq "$3"); do sleep 1000 & P="$P $!"; done
        stat -c %b "$1" >> gone; rm "$1"; exec 3>&-
    }
    wait_until_ready() { for i in $(seq 600); do [ ! -e ready ] || return 0; sleep .05; done; exit 1; }
    # XFS and btrfs free later.
    wait_for() { for i in $(seq 50); do used > "$1"; [ "$(cat "$1")" -gt "$2" ] || break; sleep .1; done; }
"#;

fn number(text: &str) -> i64 {
    text.split_whitespace().next().unwrap().parse().unwrap_or_else(|_| panic!("{text}"))
}

/// The size of a cause of a file system in JSON; 0 if it is not there.
fn size(one: &Value, cause: &str) -> i64 {
    let causes = one["causes"].as_array().unwrap();
    causes.iter().find(|it| it["cause"] == cause).map_or(0, |it| it["size"].as_i64().unwrap())
}

#[test]
#[ignore = "needs root"]
fn each_cause_is_what_was_planted_and_all_parts_add_up() {
    for seed in 0..rounds(SEEDS.0, SEEDS.1) as u64 {
        for (kind, left, mount) in KINDS {
            println!("{kind}, seed {seed}");
            each_cause_is_what_was_planted(&mut Dice::new(seed + 36_000_000), left, mount);
        }
    }
}

fn each_cause_is_what_was_planted(dice: &mut Dice, left: Left, mount: &str) {
    let fixture = Fixture::new().dir("m");
    let mut plant = String::from("mkdir -p m/seen m/cover m/deep/cover;");
    for file in 0..1 + dice.below(5) {
        plant +=
            &format!("head -c {} /dev/urandom > m/seen/{file};", 100_000 + dice.below(900_000));
    }
    plant += "ln m/seen/0 m/cover/link; ln m/seen/0 m/deep/cover/link;";
    for file in 0..dice.below(4) {
        let place = dice.of(&["cover", "deep/cover"]);
        let size = 100_000 + dice.below(900_000);
        plant += &format!("head -c {size} /dev/urandom > m/{place}/{file};");
        plant += &format!("ln -f m/{place}/{file} m/cover/again;");
    }
    let gone = dice.below(4);
    for file in 0..gone {
        let (size, holders) = (100_000 + dice.below(900_000), 1 + dice.below(4));
        plant += &format!("leave 'm/gone {file}' {size} {holders};");
    }
    let script = format!(
        r#"{FUNCTIONS}
        truncate -s 300M disk; {mount}
        used > empty; : > gone
        {plant}
        mount -t tmpfs none m/cover; mount -t tmpfs none m/deep/cover
        used > full; du -sxB1 m > seen; "$0" df -j -d 0 m > json; "$0" df -c -o b -w 300 m > lines
        btrfs filesystem df -b m > btrfs 2>/dev/null || :
        lsof -w -Fn +aL1 "$PWD/m" | sed -n 's/^n//p' | sed 's/ (deleted)$//' | sort -u > lsof
        "$0" df -j -d 0 -X 'seen' m > filtered; du -sxB1 m/seen > left_out
        kill $P || :; wait || :; P=
        wait_for killed $(($(cat full) - 512 * (0 $(sed 's/^/+ /' gone))))
        umount m/cover m/deep/cover; du -sxB1 m > all
        rm -r m/cover m/deep/cover; wait_for emptied $(($(cat killed) - $(cat all | cut -f 1) + $(cut -f 1 seen)))
        rm -f disk"#
    );
    in_namespace(&fixture, &script);
    let read = |name: &str| number(&fixture.text(name));
    let json = fixture.json("json");
    let one = &json["file_systems"][0];
    let unexplained = one["unexplained"].as_i64().unwrap();
    let [deleted, hidden, own] =
        ["deleted_but_open", "hidden_under_mounts", "metadata"].map(|cause| size(one, cause));
    assert_eq!(json["size"], read("seen"), "{one:#}");
    assert_eq!(read("seen") + deleted + hidden + own + unexplained, read("full"), "{one:#}");
    let (parts, used) = parts(&fixture.text("lines"));
    assert_eq!((parts.iter().sum(), used), (used, read("full")), "{}", fixture.text("lines"));
    assert_eq!(deleted, 512 * fixture.text("gone").lines().map(number).sum::<i64>(), "{one:#}");
    assert_eq!(hidden, read("all") - read("seen"), "{one:#}");
    let found =
        one["causes"].as_array().unwrap().iter().find(|it| it["cause"] == "deleted_but_open");
    let parts = found.map_or(&[][..], |it| it["parts"].as_array().unwrap());
    let mut names: Vec<_> = parts.iter().map(|it| it["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, fixture.text("lsof").lines().collect::<Vec<_>>(), "{one:#}");
    assert_eq!(found.map_or(0, |it| it["files"].as_i64().unwrap()), gone as i64);
    let filtered = &fixture.json("filtered")["file_systems"][0];
    let left_out = filtered["unexplained"].as_i64().unwrap() - unexplained;
    assert_eq!(left_out, read("left_out"), "{filtered:#}");
    assert!(
        filtered["not_looked_at"].to_string().contains("files that a filter leaves out"),
        "{filtered:#}"
    );

    let freed = [read("full") - read("killed"), read("killed") - read("emptied")];
    let is_near = |one: i64, other: i64, most: i64| (one - other).abs() <= most;
    match left {
        Left::Nothing => {
            assert!(is_near(unexplained, 0, read("full") / 1_000), "{one:#}");
            assert_eq!(freed, [deleted, hidden], "{one:#}");
        }
        Left::Metadata => {
            assert!(is_near(unexplained, read("empty"), 256 << 10), "{one:#}");
            assert!(is_near(freed[0], deleted, 128 << 10), "{freed:?} {one:#}");
            assert!(is_near(freed[1], hidden, 128 << 10), "{freed:?} {one:#}");
        }
        Left::Directories => {
            assert!(is_near(unexplained, 0, 64 << 10), "{one:#}");
            assert!(is_near(own, own_of_btrfs(&fixture.text("btrfs")), 128 << 10), "{one:#}");
            assert!(is_near(freed[0], deleted, 128 << 10), "{freed:?} {one:#}");
            assert!(is_near(freed[1], hidden, 128 << 10), "{freed:?} {one:#}");
        }
    }
}

/// What `btrfs filesystem df` says that is no data, as statfs(2) counts it: each copy, divided by the copies of data.
fn own_of_btrfs(text: &str) -> i64 {
    let copies = |line: &str| if line.contains("DUP") { 2 } else { 1 };
    let of_data = text.lines().find(|line| line.starts_with("Data")).map_or(1, copies);
    let sizes = text.lines().filter(|line| !line.starts_with("Data")).map(|line| {
        let figure = if line.starts_with("GlobalReserve") { "total=" } else { "used=" };
        let (_, figure) = line.split_once(figure).unwrap();
        let size = number(&figure.replace(',', " "));
        if line.starts_with("GlobalReserve") { size } else { size * copies(line) / of_data }
    });
    sizes.sum()
}

/// A container's log, for example: its device is the overlay's, in a namespace that weigh does not see.
#[test]
#[ignore = "needs root"]
fn a_file_deleted_from_an_overlay_takes_space_where_its_upper_directory_is() {
    let fixture = Fixture::new().dir("m").dir("o");
    let script = format!(
        r#"{FUNCTIONS}
        mount -t tmpfs none m; mkdir m/l m/u m/w; head -c 50000 /dev/zero > m/l/low
        unshare -m sh -c 'mount -t overlay -o lowerdir=$PWD/m/l,upperdir=$PWD/m/u,workdir=$PWD/m/w none o
            exec 3>o/log; head -c 999000 /dev/zero >&3; exec 4<o/low; rm o/log o/low
            : > ready; exec sleep 1000' & P=$!
        wait_until_ready
        "$0" df -j -d 0 m > json; echo $P > pid"#
    );
    in_namespace(&fixture, &script);
    let one = &fixture.json("json")["file_systems"][0];
    assert_eq!(size(one, "deleted_but_open"), 999_424, "{one:#}");
    assert_eq!(one["unexplained"], 0, "{one:#}");
    let part = &one["causes"][0]["parts"][0];
    assert!(part["name"].as_str().unwrap().ends_with("/log"), "{part:#}");
    let holder = serde_json::json!([{"pid": number(&fixture.text("pid")), "command": "sleep"}]);
    assert_eq!(part["holders"], holder);
}

/// Of files that have the same size and had the same path, the order does not depend on chance.
#[test]
#[ignore = "needs root"]
fn files_that_are_alike_are_always_in_the_same_order() {
    let fixture = Fixture::new().dir("m");
    let script = format!(
        r#"{FUNCTIONS}
        mount -t tmpfs none m; for i in 1 2 3; do leave m/same 100000 1; done
        for i in $(seq 10); do "$0" df -j -d 0 m | sed 's/.*"file_systems"//'; done | sort -u > all"#
    );
    in_namespace(&fixture, &script);
    assert_eq!(fixture.text("all").lines().count(), 1, "{}", fixture.text("all"));
}

/// What is mapped need not be open: root is told how large it is. A name that says "(deleted)" proves nothing.
#[test]
#[ignore = "needs root"]
fn mapped_files_and_names_that_lie() {
    let fixture = Fixture::new().dir("m");
    let map = r#"
import ctypes, os, time
# The module mmap would keep the file open.
map = ctypes.CDLL(None).mmap
map.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
for name in ["m/there (deleted)", "m/mapped\n\x1b[2J", "m/gone (deleted)"]:
    file = os.open(name, os.O_RDWR | os.O_CREAT)
    os.write(file, bytes(70000))
    if "mapped" in name: map(None, 70000, 1, 1, file, 0); os.close(file)
    if "there" not in name: os.unlink(name)
open("ready", "w").close()
time.sleep(1000)"#;
    let script = format!(
        r#"{FUNCTIONS}
        mount -t tmpfs none m; cp "$(command -v sleep)" m/run; m/run 1000 & P="$P $!"
        python3 -c '{map}' & P="$P $!"; wait_until_ready; stat -c %b m/run > run; rm m/run
        "$0" df -j -d 0 m > json; "$0" df -c -w 300 m > picture
        cp "$(command -v "$0")" weigh; chmod 755 weigh; chmod 777 . m; rm ready m/there*
        setpriv --reuid 65534 --regid 65534 --clear-groups /usr/bin/python3 -c '{map}' & P="$P $!"
        wait_until_ready
        setpriv --reuid 65534 --regid 65534 --clear-groups ./weigh df -j -d 0 m > user"#
    );
    let fixture = fixture.mode(".", 0o777);
    in_namespace(&fixture, &script);
    let one = &fixture.json("json")["file_systems"][0];
    let mut names: Vec<_> = one["causes"][0]["parts"].as_array().unwrap().iter().collect();
    names.sort_by_key(|part| part["name"].as_str().unwrap().rsplit('/').next().unwrap().to_owned());
    let names: Vec<_> = names.iter().map(|part| part["name"].as_str().unwrap()).collect();
    let ends = ["/m/gone (deleted)", "/m/mapped\n\u{1b}[2J", "/m/run"];
    assert!(names.iter().zip(ends).all(|(name, end)| name.ends_with(end)), "{one:#}");
    assert_eq!(names.len(), 3, "{one:#}");
    assert_eq!(size(one, "deleted_but_open"), 2 * 73_728 + 512 * number(&fixture.text("run")));
    assert_eq!(one["unexplained"], 0, "{one:#}");
    assert!(!fixture.bytes("picture").contains(&0x1b));
    // A plain user is told less: of what is mapped, not the size.
    let one = &fixture.json("user")["file_systems"][0];
    let parts = one["causes"][0]["parts"].as_array().unwrap();
    let mapped = parts.iter().find(|part| part["name"].as_str().unwrap().contains("mapped"));
    assert_eq!(mapped.unwrap()["size"], Value::Null, "{one:#}");
    assert_eq!(parts.len(), 2, "{one:#}");
    let refused = one["not_looked_at"].to_string();
    assert!(refused.contains("other users' processes (Permission denied)"), "{refused}");
}

/// Each says what it could not look at, and the rest is right.
#[test]
#[ignore = "needs root"]
fn what_cannot_be_looked_at_is_said() {
    let fixture = Fixture::new().dir("m").mode(".", 0o777);
    let script = format!(
        r#"{FUNCTIONS}
        mount -t tmpfs none m; mkdir m/cover; head -c 100000 /dev/zero > m/cover/f; mount -t tmpfs none m/cover
        leave m/gone 50000 1
        mkdir m/locked; chmod 0 m/locked
        cp "$(command -v "$0")" weigh; chmod 755 . weigh
        setpriv --reuid 65534 --regid 65534 --clear-groups ./weigh df -c m > user || :
        unshare -Urm ./weigh df -j -d 0 m > namespace
        unshare -fpm --mount-proc ./weigh df -j -d 0 m > container
        mount -t tmpfs none /proc; ./weigh df -j -d 0 m > without"#
    );
    in_namespace(&fixture, &script);
    let user = fixture.text("user");
    let sentence = user.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "not explained (sudo reads other users' processes, files under 1 mount and 1 unreadable entry)";
    assert!(sentence.contains(said) && user.contains("≥"), "{user}");
    let said = |name: &str| {
        let one = &fixture.json(name)["file_systems"][0];
        let sizes = ["deleted_but_open", "hidden_under_mounts"].map(|cause| size(one, cause));
        (one["not_looked_at"].to_string(), sizes, one["unexplained"].as_i64().unwrap())
    };
    let (deleted, hidden) = (53_248, 102_400);
    let (what, sizes, left) = said("namespace");
    assert!(what.contains("files under 1 mount (not allowed in this user namespace)"), "{what}");
    assert_eq!((sizes[1], left), (0, hidden + deleted - sizes[0]));
    let (what, sizes, left) = said("container");
    assert!(what.contains("processes that /proc does not list"), "{what}");
    assert_eq!((sizes, left), ([0, hidden], deleted));
    let (what, sizes, left) = said("without");
    assert!(what.contains("open files (there is no /proc)"), "{what}");
    assert_eq!((sizes, left), ([0, 0], deleted + hidden));
}

/// A thousand descriptors of one file are one file, and processes that end are no error.
#[test]
#[ignore = "needs root"]
fn many_descriptors_and_processes_that_come_and_go() {
    let fixture = Fixture::new().dir("m");
    let hold = "import os, time
file = os.open('m/one', os.O_RDWR | os.O_CREAT); os.write(file, bytes(70000)); os.unlink('m/one')
kept = [os.dup(file) for _ in range(900)]
for i in range(3000): os.posix_fallocate(os.open('m/f', os.O_RDWR | os.O_CREAT), 0, 4096); os.unlink('m/f')
open('ready', 'w').close(); time.sleep(1000)";
    let script = format!(
        r#"{FUNCTIONS}
        mount -t tmpfs none m; ulimit -n 8192; python3 -c "{hold}" & P="$P $!"
        wait_until_ready
        (while :; do true & wait; done) & P="$P $!"
        for i in 1 2 3 4 5; do "$0" df -j -d 0 m > "json$i"; done"#
    );
    in_namespace(&fixture, &script);
    for i in 1..=5 {
        let one = &fixture.json(format!("json{i}"))["file_systems"][0];
        let cause = &one["causes"][0];
        assert_eq!(
            (&cause["files"], &cause["size"]),
            (&3001.into(), &(73_728 + 3000 * 4096).into())
        );
        assert_eq!(one["unexplained"], 0);
        let parts = cause["parts"].as_array().unwrap();
        assert_eq!(
            (parts.len(), &parts[0]["size"], &parts[0]["held_by"]),
            (1000, &73_728.into(), &1.into())
        );
    }
}

/// This kernel need not know quotas to read such a file system.
#[test]
#[ignore = "needs root"]
fn quotas_of_ext4_are_metadata() {
    for (features, inodes) in [("quota", 2), ("quota,project", 3)] {
        let fixture = Fixture::new().dir("m").file("seen/f", 900_000);
        let script = format!(
            r#"{FUNCTIONS}
            truncate -s 300M disk; mkfs.ext4 -q -b 4096 -O {features} -d seen disk
            mount -o loop,ro disk m; "$0" df -j -d 0 m > json; used > used; rm disk"#
        );
        in_namespace(&fixture, &script);
        let json = fixture.json("json");
        let one = &json["file_systems"][0];
        let parts = one["causes"][0]["parts"].as_array().unwrap();
        let quotas = parts.iter().find(|part| part["name"] == "quotas").expect("quotas");
        assert!(quotas["size"].as_i64().unwrap() >= inodes * 4096, "{one:#}");
        assert_eq!(one["unexplained"], 0, "{one:#}");
        assert_eq!(
            json["size"].as_i64().unwrap() + size(one, "metadata"),
            number(&fixture.text("used"))
        );
    }
}

/// What is left on btrfs is in its other subvolumes; on XFS, the rest is in no extent of a file.
#[test]
#[ignore = "needs root"]
fn what_is_left_is_what_other_programs_know() {
    let fixture = Fixture::new().dir("m");
    let script = format!(
        r#"{FUNCTIONS}
        fill() {{ head -c "$2" /dev/urandom > "$1"; }}
        truncate -s 300M disk; mkfs.btrfs -q -m single disk; mount -o loop disk m
        btrfs -q subvolume create m/sub; fill m/sub/a 20000000; fill m/top 5000000
        btrfs -q subvolume snapshot m/sub m/snap; fill m/snap/b 3000000; rm m/sub/a; leave m/sub/gone 4000000 1
        used > full; "$0" df -j -d 0 m > btrfs; btrfs filesystem df -b m > df
        kill $P; wait || :; P=; umount m; rm disk
        truncate -s 400M disk; mkfs.xfs -q -m rmapbt=1 disk; mount -o loop disk m
        for i in $(seq 300); do fill m/$i 20000; done; leave m/gone 4000000 1; sync -f m
        "$0" df -j -d 0 m > xfs; rm disk
        xfs_io -c fsmap m | sed -n 's/.*\]: //p' | awk '$1 == "inode" && $2 ~ /^[0-9]+$/ {{ sum += $NF }} END {{ print sum * 512 }}' > fsmap
        xfs_io -c fsmap m | sed -n 's/.*\]: //p' | awk '!/^free|^journal|^inode [0-9]/ {{ sum += $NF }} END {{ print sum * 512 }}' > metadata
        xfs_io -x -c resblks m | sed -n 's/^reserved blocks = //p' > reserve
        for group in 0 1 2 3; do xfs_db -r -c "agresv $group" "$(findmnt -no SOURCE m)"; done |
            awk '{{ sum += $(NF - 2) - $NF }} END {{ print sum }}' > reserved"#
    );
    in_namespace(&fixture, &script);
    let read = |name: &str| number(&fixture.text(name));
    let json = fixture.json("btrfs");
    let one = &json["file_systems"][0];
    let df = fixture.text("df");
    let data = df.lines().find_map(|line| line.strip_prefix("Data")?.split_once("used="));
    let (seen, deleted) = (json["size"].as_i64().unwrap(), size(one, "deleted_but_open"));
    let elsewhere = number(data.unwrap().1) - seen - deleted;
    let left = one["unexplained"].as_i64().unwrap();
    assert!((left - elsewhere).abs() < 128 << 10 && left > 22_900_000, "{elsewhere} {one:#}");
    assert!(one["not_looked_at"].to_string().contains("subvolumes"), "{one:#}");
    assert_eq!(deleted, 4_001_792, "through another subvolume: {one:#}");
    assert_eq!(read("full"), seen + deleted + size(one, "metadata") + left);
    let json = fixture.json("xfs");
    let one = &json["file_systems"][0];
    assert_eq!(
        json["size"].as_i64().unwrap() + size(one, "deleted_but_open"),
        read("fsmap"),
        "{one:#}"
    );
    // The rest is metadata, what is kept free for more of it, and the reserve.
    let kept = read("metadata") + 4_096 * (read("reserve") + read("reserved"));
    let left = one["unexplained"].as_i64().unwrap();
    assert!((left - kept).abs() < 64 << 10, "{kept} {one:#}");
}

/// What a clone still needs is not freed with the file that has no name.
#[test]
#[ignore = "needs root"]
fn what_clones_share_is_no_part_of_the_least_that_closing_frees() {
    for mount in [
        "mkfs.xfs -q disk; mount -o loop disk m",
        "mkfs.btrfs -q -m single disk; mount -o loop disk m",
    ] {
        let fixture = Fixture::new().dir("m");
        let script = format!(
            r#"{FUNCTIONS}
            truncate -s 300M disk; {mount}
            head -c 4000000 /dev/urandom > m/whole; sync -f m; cp --reflink=always m/whole m/gone
            head -c 1000000 /dev/urandom >> m/gone; sync -f m; stat -c %b m/gone > gone
            exec 3< m/gone; rm m/gone; used > held
            "$0" df -j -d 0 m > json; "$0" df -c -w 300 m > picture
            exec 3<&-; wait_for closed $(($(cat held) - 900000)); rm disk"#
        );
        in_namespace(&fixture, &script);
        let read = |name: &str| number(&fixture.text(name));
        let one = &fixture.json("json")["file_systems"][0];
        let cause =
            &one["causes"].as_array().unwrap().iter().find(|it| it["cause"] == "deleted_but_open");
        let cause = cause.unwrap();
        assert_eq!(cause["size"], 512 * read("gone"), "{one:#}");
        let least = cause["size"].as_i64().unwrap() - cause["shared"].as_i64().unwrap();
        let freed = read("held") - read("closed");
        assert!((freed - least).abs() < 128 << 10 && least < 1_200_000, "{freed} {one:#}");
        assert!(fixture.text("picture").contains("at least "), "{}", fixture.text("picture"));
    }
}

/// A file system that is mounted twice has one line; and so has it in the page.
#[test]
#[ignore = "needs root"]
fn alone_it_lists_what_is_mounted_and_walks_nothing() {
    let fixture = Fixture::new().dir("m").dir("o").dir("t");
    let script = format!(
        r#"{FUNCTIONS}
        truncate -s 100M disk; mkfs.ext4 -q disk; mount -o loop disk m; mkdir m/sub; mount --bind m/sub o
        mount -t tmpfs none t; leave m/gone 3000000 1; sync -f m
        "$0" df -j > json; "$0" df -c -w 250 > table; df -B1 --output=size,used,avail m > df
        "$0" df -c m > walked; "$0" df --as html m > page; cd t; echo > one
        "$0" df -c -d 1 . > ../depth
        strace -f -q -o ../log -e trace=openat "$0" df > /dev/null; cd ..; rm disk"#
    );
    in_namespace(&fixture, &script);
    let point = fixture.at("m").display().to_string();
    let json = fixture.json("json");
    let all = json["file_systems"].as_array().unwrap();
    let here: Vec<_> = all
        .iter()
        .filter(|one| one["path"].as_str().unwrap().starts_with(fixture.path().to_str().unwrap()))
        .collect();
    assert_eq!(here.len(), 1, "{json:#}");
    let [path, size, free, available, unseen] =
        ["path", "size", "free", "available", "unseen"].map(|key| &here[0][key]);
    let df = fixture.text("df");
    let df: Vec<i64> = df.lines().nth(1).unwrap().split_whitespace().map(number).collect();
    assert_eq!(
        (path, size, available, unseen),
        (&(*point).into(), &df[0].into(), &df[2].into(), &Value::Null)
    );
    assert_eq!(df[0] - free.as_i64().unwrap(), df[1]);
    assert_eq!(self::size(here[0], "deleted_but_open"), 512 * number(&fixture.text("gone")));
    let table = fixture.text("table");
    let line = table.lines().find(|line| line.ends_with(&format!(" {point}"))).expect(&table);
    let deleted = table.lines().find(|line| line.starts_with(&format!("   on {point}: ")));
    assert!(deleted.is_some_and(|line| line.contains("sleep (")), "{table}");
    assert!(line.contains("% "), "{table}");
    let page = fixture.text("page");
    assert!(page.contains("<pre>") && page.contains("deleted but still open"), "{page}");
    assert!(fixture.text("depth").contains("one"), "with a PATH, it walks");
    let log = fixture.text("log");
    let directories = log.lines().filter(|line| line.contains("O_DIRECTORY"));
    let walked: Vec<_> =
        directories.filter(|line| !line.contains("\"/proc") && !line.contains("\"/sys")).collect();
    assert!(walked.is_empty(), "{walked:?}");
}

/// docs/counting.md shows a log that was removed while it was written, and backups that went to the wrong disk.
#[test]
#[ignore = "needs root"]
fn the_page_shows_what_is_said() {
    let fixture = Fixture::new();
    let script = format!(
        r#"{FUNCTIONS}
        truncate -s 200M disk; mkfs.ext4 -q -b 4096 disk; mount -o loop disk /srv; rmdir /srv/lost+found
        mkdir -p /srv/www /srv/log /srv/backup; head -c 25000000 /dev/zero > /srv/www/site.tar
        cp "$(command -v sleep)" nginx; cp nginx java
        exec 3>/srv/log/access.log; ./nginx 1000 & P="$P $!"; echo $! > pid
        head -c 40000000 /dev/zero >&3; rm /srv/log/access.log
        exec 3>/srv/log/gc.log; ./java 1000 & P="$P $!"; head -c 2000000 /dev/zero >&3
        rm /srv/log/gc.log; exec 3>&-
        for i in 1 2 3; do head -c 10000000 /dev/zero > /srv/backup/$i; done
        mount -t tmpfs none /srv/backup; sync -f /srv; rm disk
        "$0" df -c -w 80 /srv > shown; "$0" df -c -w 80 > table"#
    );
    in_namespace(&fixture, &script);
    let page = include_str!("../../docs/counting.md");
    let with_pid =
        |text: String| text.replace(&format!("({})", fixture.text("pid").trim()), "(812)");
    let (shown, table) = (with_pid(fixture.text("shown")), with_pid(fixture.text("table")));
    // Even root may not look at all processes everywhere.
    let [shown, table] = [shown, table].map(|text| text.replace('≥', ""));
    // How much of a long line is shown depends on the length of the number.
    let is_alike = |a: &str, b: &str| match (a.strip_suffix('…'), b.strip_suffix('…')) {
        (Some(a), Some(b)) => a.starts_with(b) || b.starts_with(a),
        _ => a == b || a.starts_with("scanned in ") && a.split(": ").last() == b.split(": ").last(),
    };
    let is_on_page = |line: &str| page.lines().any(|other| is_alike(line, other));
    let unlike: Vec<_> = shown.lines().filter(|line| !is_on_page(line)).collect();
    assert!(unlike.is_empty() && shown.lines().count() > 7, "{unlike:#?} {shown}");
    // The other file systems of this machine set the widths.
    let line = |text: &str| {
        let line = text.lines().find(|line| line.contains("% ") && line.ends_with(" /srv"));
        line.expect(text).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line(&table), line(page));
    // The number of the second process is another one.
    let deleted = |text: &str| {
        let line = text.lines().find(|line| line.starts_with("   on /srv: ")).expect(text);
        line.split("java").next().unwrap_or_default().to_owned()
    };
    assert_eq!(deleted(&table), deleted(page));
}

#[test]
#[ignore = "needs strace"]
fn nobody_who_does_not_ask_pays_for_it() {
    let fixture = Fixture::new().file("top/f", 10);
    let calls = |flags: &str| {
        let log = fixture.at("log");
        let strace =
            ["strace", "-f", "-q", "-o", "log", "-e", "trace=open_tree,openat,readlink,statx"];
        weigh(flags).arg("top").within(fixture.path()).under(strace).run();
        std::fs::read_to_string(log).unwrap()
    };
    let is_asking = |calls: &str| calls.contains("open_tree(") || calls.contains("/proc/1/");
    assert!(!is_asking(&calls("-j")), "{}", calls("-j"));
}
