//! A prefetch, on an image whose device grants few requests a second: no total depends on it, and there are far fewer
//! reads. `benches/throttled` measures the time.
#![cfg(target_os = "linux")]

use std::fs;

use crate::document::Document;
use crate::fixture::Fixture;
use crate::run::in_namespace;

/// Makes an image of 12,000 files and mounts it at `top`. Defines `cold`, which mounts it again, so that nothing of it
/// is in memory, and runs its arguments while the device grants 600 requests a second. `$reads` is how many reads there
/// were.
const SCRIPT: &str = r#"
set -e
truncate -s 64M disk
mkfs.ext4 -q -b 1024 -N 16000 -E nodiscard disk
loop=$(losetup --find --show --direct-io=on disk)
group=/sys/fs/cgroup/blkio/weigh-test-$$
trap 'cd /; umount "$OLDPWD/top" || :; losetup -d $loop; rmdir $group || :' EXIT
mount $loop top
python3 -c '
import os
for i in range(60):
    os.makedirs(f"top/d{i}/below")
    for j in range(200):
        open(f"top/d{i}/below/f{j}", "w").write("x" * (j * 7))'
mkdir $group
number=$(cat /sys/block/${loop#/dev/}/dev)
count() { awk '{ print $1 }' /sys/block/${loop#/dev/}/stat; }
cold() {
    umount top
    blockdev --flushbufs $loop
    mount -o inode_readahead_blks=1 $loop top
    echo "$number 600" > $group/blkio.throttle.read_iops_device
    before=$(count)
    sh -c 'echo $$ > '$group'/cgroup.procs; exec "$@"' sh "$@"
    reads=$(($(count) - before))
}
"#;

/// Whether devices can be throttled here. Prints a line if not.
fn can_throttle() -> bool {
    let can = fs::exists("/sys/fs/cgroup/blkio/blkio.throttle.read_iops_device").unwrap_or(false);
    if !can {
        eprintln!("no blkio cgroup of version 1");
    }
    can
}

fn on_a_slow_device(script: &str) -> (Fixture, String) {
    let fixture = Fixture::new().dir("top");
    let output = in_namespace(&fixture, &format!("{SCRIPT}\n{script}"));
    (fixture, String::from_utf8(output.stderr).unwrap())
}

#[test]
#[ignore = "needs root, loop devices and a blkio cgroup"]
fn what_is_read_ahead_need_not_be_asked_for() {
    native_only!("only the native source knows mounts");
    if !can_throttle() {
        return;
    }
    let (fixture, _) = on_a_slow_device(
        r#"
        cold "$0" -j --stats top > ahead 2> ahead.stats; echo $reads > ahead.reads
        cold "$0" -j --stats --read=walk top > never 2> never.stats; echo $reads > never.reads
        "$0" -j --stats top > warm 2> warm.stats
        du -s -B1 top > du
        cmp ahead never >&2; cmp ahead warm >&2
    "#,
    );
    let size = Document::parse(fixture.text("ahead").as_bytes()).root().size;
    assert_eq!(fixture.text("du").split_whitespace().next(), Some(&*size.to_string()));
    let is_prefetched =
        |name: &str| fixture.text(name).lines().any(|line| line.starts_with("prefetch "));
    let prefetched = ["ahead.stats", "never.stats", "warm.stats"].map(is_prefetched);
    assert_eq!(prefetched, [true, false, false], "{}", fixture.text("ahead.stats"));
    let reads = |name: &str| fixture.text(name).trim().parse::<u64>().unwrap();
    let (ahead, never) = (reads("ahead.reads"), reads("never.reads"));
    assert!(ahead * 4 < never, "{ahead} reads, not {never}");
}

/// No prefetch if it would read too much or is switched off, or if the number of threads is given.
#[test]
#[ignore = "needs root, loop devices and a blkio cgroup"]
fn nothing_is_read_ahead_where_not_all_of_it_is_asked_for() {
    native_only!("only the native source knows mounts");
    if !can_throttle() {
        return;
    }
    let (fixture, _) = on_a_slow_device(
        r#"
        chmod 755 . top
        i=0
        for flags in top/d7 '-X d3 top' '-T 4 top'; do
            i=$((i + 1))
            cold "$0" --stats $flags > /dev/null 2> stats$i
        done
        cp "$0" weigh; chmod 755 weigh
        cold setpriv --reuid 65534 --regid 65534 --clear-groups ./weigh --stats top > /dev/null 2> stats4 || :
    "#,
    );
    for i in 1..=4 {
        let stats = fixture.text(format!("stats{i}"));
        assert!(stats.contains("threads") && !stats.contains("prefetch"), "{i}: {stats}");
    }
}

/// Ctrl-C ends it soon, with a lower bound.
#[test]
#[ignore = "needs root, loop devices and a blkio cgroup"]
fn ctrl_c_ends_reading_ahead() {
    native_only!("only the native source knows mounts");
    if !can_throttle() {
        return;
    }
    let (fixture, _) = on_a_slow_device(
        r#"
        umount top; blockdev --flushbufs $loop; mount -o inode_readahead_blks=1 $loop top
        echo "$number 600" > $group/blkio.throttle.read_iops_device
        # So slow that it cannot end by itself.
        echo "$number 20000" > $group/blkio.throttle.read_bps_device
        sh -c 'echo $$ > '$group'/cgroup.procs; exec "$@"' sh "$0" --stats top > picture 2> stats &
        weigh=$!
        until grep -q 'weigh prefetch' /proc/$weigh/task/*/comm; do sleep 0.05; done
        kill -INT $weigh
        wait $weigh || echo $? > status
        echo "$number 0" > $group/blkio.throttle.read_bps_device
    "#,
    );
    assert_eq!(fixture.text("status"), "130\n", "{}", fixture.text("stats"));
    assert!(
        fixture.text("stats").contains("interrupted; totals are a lower bound"),
        "{}",
        fixture.text("stats")
    );
}
