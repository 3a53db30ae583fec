//! File systems of several kinds, made in images. On each, every directory has the total that `find` gives. The mounts
//! are in a namespace that ends with the run.
#![cfg(target_os = "linux")]

use crate::dice::{Dice, Names};
use crate::document::Document;
use crate::fixture::Fixture;
use crate::oracle::{self, Measure};
use crate::rounds::rounds;
use crate::run::in_namespace;

const SEEDS: (usize, usize) = (2, 20);

/// Each mounts itself at `top`. An image is as small as its file system lets it be, and sparse.
const KINDS: [(&str, &str); 6] = [
    ("tmpfs", "mount -t tmpfs none top"),
    (
        "overlay",
        "mount -t tmpfs none image; mkdir image/lower image/upper image/work; cp -a tree/. image/lower; \
         mount -t overlay none -o lowerdir=image/lower,upperdir=image/upper,workdir=image/work top",
    ),
    (
        "ext4",
        "truncate -s 64M disk; mkfs.ext4 -q disk; mount -o loop disk top; rmdir top/lost+found",
    ),
    (
        "ext4 with blocks of 1 KiB",
        "truncate -s 64M disk; mkfs.ext4 -q -b 1024 disk; mount -o loop disk top",
    ),
    ("xfs", "truncate -s 400M disk; mkfs.xfs -q disk; mount -o loop disk top"),
    ("btrfs", "truncate -s 200M disk; mkfs.btrfs -q disk; mount -o loop disk top"),
];

/// A subvolume has a device number of its own, and all of them have the same inode numbers.
const SUBVOLUMES: &str = "btrfs -q subvolume create top/sub; cp -a tree/. top/sub; \
                          btrfs -q subvolume create top/sub/below; cp -a tree/. top/sub/below; \
                          btrfs -q subvolume snapshot top/sub top/shot; \
                          btrfs -q subvolume snapshot -r top/sub top/shot/read-only";

#[test]
#[ignore = "needs root"]
fn every_directory_is_what_find_says_on_every_file_system() {
    for seed in 0..rounds(SEEDS.0, SEEDS.1) as u64 {
        for (kind, mount) in KINDS {
            let fixture = Dice::new(seed + 3_000_000).tree(Fixture::new(), Names::Hostile);
            let fixture = fixture.dir("top").dir("image");
            let more = if kind == "btrfs" { SUBVOLUMES } else { ":" };
            let fill = format!("set -e; {mount}; cp -a tree/. top/; {more}; sync -f top");
            is_what_find_says(&fixture, &fill, &format!("{kind}, seed {seed}"));
        }
    }
}

/// What `weigh` says after `fill` is what `find` says, in the same namespace.
fn is_what_find_says(fixture: &Fixture, fill: &str, what: &str) {
    let weigh = Measure::ALL.map(|measure| {
        let flag = measure.flag();
        format!("for n in 1 8; do \"$0\" -j -T $n {flag} top > 'weighed {measure:?}'$n; done")
    });
    let (format, weigh) = (oracle::FORMAT, weigh.join("; "));
    let script = format!("{fill} >&2; find top -printf '{format}' > listing; {weigh}; rm -f disk");
    println!("{what}");
    in_namespace(fixture, &script);
    let entries = oracle::read(&fixture.bytes("listing"), b"top");
    for (measure, threads) in Measure::ALL.into_iter().flat_map(|one| [(one, 1), (one, 8)]) {
        let what = format!("{what}, {measure:?} on {threads} threads");
        let document = Document::parse(&fixture.bytes(format!("weighed {measure:?}{threads}")));
        oracle::compare(&document, &entries, measure, &what);
    }
}
