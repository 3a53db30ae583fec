//! `--frees` where files cannot be asked what they share, change while they are asked, or have very many extents: there
//! are bounds, what is left out is named, and nothing waits.
#![cfg(target_os = "linux")]

use serde_json::Value;

use crate::fixture::Fixture;
use crate::rounds::rounds;
use crate::run::try_in_namespace;

/// Makes a file system of this kind, and mounts it at `top`.
fn mounted(kind: &str) -> String {
    format!(
        "set -e; truncate -s 2G disk; mkfs.{kind} -q disk 2> /dev/null; mount -o loop disk top\n"
    )
}

/// A fixture with a mount point `top` after `script` ran within it.
pub fn after(script: &str) -> Fixture {
    let fixture = Fixture::new().dir("top");
    let output = try_in_namespace(&fixture, script);
    let said = std::fs::read_to_string(fixture.at("said")).unwrap_or_default();
    assert!(output.status.success(), "{}{said}", String::from_utf8_lossy(&output.stderr));
    fixture
}

/// The size of `node`, and what deleting it frees, at least and at most.
pub fn bounds(node: &Value) -> [u64; 3] {
    ["size", "frees_least", "frees_most"].map(|name| node[name].as_u64().unwrap())
}

fn child<'a>(node: &'a Value, name: &str) -> &'a Value {
    node["children"].as_array().unwrap().iter().find(|child| child["name"] == name).unwrap()
}

/// One file with two links, one alone, and a small one. Every FIEMAP fails.
#[test]
#[ignore = "needs root, loop devices and strace"]
fn files_that_cannot_be_mapped_are_in_doubt_and_counted() {
    native_only!("only the native source asks what files share");
    for error in ["EOPNOTSUPP", "EIO", "ENOTTY"] {
        let fixture = after(
            &(mounted("xfs")
                + &format!(
                    r#"
            head -c 100K /dev/zero > top/one; ln top/one top/other
            head -c 200K /dev/zero > top/alone; head -c 4K /dev/zero > top/small; sync -f top
            timeout 60 strace -f -qq -o /dev/null -e trace=ioctl -e inject=ioctl:error={error} \
                "$0" --frees -j top > json 2> said
            grep -q 'could not check 2 files (300Ki)' said
            grep -q 'did not check 1 file below 64 KiB' said
        "#
                )),
        );
        let [size, least, most] = bounds(&fixture.json("json"));
        assert_eq!([size - least, most], [(100 + 200 + 4) << 10, size], "{error}");
    }
}

/// On a file system that cannot say what its files share, no file is opened.
#[test]
#[ignore = "needs root, loop devices and strace"]
fn nothing_is_certain_on_other_file_systems() {
    native_only!("only the native source asks what files share");
    let fixture = after(
        r#"
        set -e
        mount -t ramfs none top
        head -c 100K /dev/zero > top/one; head -c 4K /dev/zero > top/small
        strace -f -qq -o calls -e trace=openat "$0" --frees -j top > json 2> said
        ! grep -E 'one|small' calls
        grep -q 'could not check 2 files (104Ki)' said
    "#,
    );
    assert_eq!(bounds(&fixture.json("json")), [104 << 10, 0, 104 << 10]);
}

/// A program holds a lease (fcntl(2)), for which others wait up to 45 seconds to open the file.
#[test]
#[ignore = "needs root, loop devices and python3"]
fn a_lease_is_not_waited_for() {
    native_only!("only the native source asks what files share");
    let script = mounted("xfs")
        + r#"
        head -c 100K /dev/zero > top/leased; sync -f top
        cat > lease.py <<'END'
import fcntl, signal, subprocess, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
held = open("top/leased", "r+")
fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK)
sys.exit(subprocess.run(sys.argv[1:], timeout=120).returncode)
END
        python3 lease.py "$0" --frees -j top > json 2> said
        grep -q 'could not check 1 file (100Ki)' said
    "#;
    let [size, least, most] = bounds(&after(&script).json("json"));
    assert_eq!([size - least, most], [100 << 10, size]);
}

/// Files are truncated, grown, replaced by others, by pipes and by symlinks, and cloned, while they are asked.
#[test]
#[ignore = "needs root and loop devices"]
fn files_may_change_while_they_are_asked() {
    native_only!("only the native source asks what files share");
    for kind in ["xfs", "btrfs"] {
        let script = mounted(kind)
            + &format!(
                r#"
            for i in $(seq 40); do head -c 300K /dev/urandom > top/f$i; done; sync -f top
            head -c 1M /dev/urandom > top/calm; sync -f top
            change() {{
                while [ ! -e stop ]; do for i in $(seq 40); do
                    case $((i % 5)) in
                    0) truncate -s $((i * 3000)) top/f$i; truncate -s 300K top/f$i;;
                    1) head -c 100K /dev/urandom >> top/f$i; truncate -s 200K top/f$i;;
                    # Renamed, because opening the other writer's pipe would never end.
                    2) rm -f top/f$i; mkfifo top/f$i
                       head -c 300K /dev/zero > top/zero$1; mv -f top/zero$1 top/f$i;;
                    3) ln -sf calm top/f$i; cp --remove-destination --reflink=always top/calm top/f$i;;
                    4) cp --reflink=always top/calm top/new$1; mv top/new$1 top/f$i;;
                    esac
                done; done 2> /dev/null
            }}
            change 1 & change 2 &
            for i in $(seq {}); do
                timeout 120 "$0" --frees -j -T 4 top > json$i 2> said && status=0 || status=$?
                [ $status -le 1 ] || {{ echo "status $status" >> said; touch stop; wait; exit 1; }}
            done
            touch stop; wait
        "#,
                rounds(20, 1_000)
            );
        let fixture = after(&script);
        for i in 1..=rounds(20, 1_000) {
            let whole = fixture.json(format!("json{i}"));
            let [size, least, most] = bounds(&whole);
            assert!(least <= most && most <= size, "{kind}: {least} <= {most} <= {size}");
            // Nobody changes this one, though others become its clones.
            let [size, _, most] = bounds(child(&whole, "calm"));
            assert!(most == size && size >= 1 << 20, "{kind}: {most} of {size}");
        }
    }
}

/// A file that has very many extents, at several links; and two small clones, which are still certain.
#[test]
#[ignore = "needs root and loop devices"]
fn a_million_extents_have_a_bound() {
    native_only!("only the native source asks what files share");
    let (doublings, links) = (rounds(16, 20), rounds(17, 2));
    for kind in ["xfs", "btrfs"] {
        let script = mounted(kind)
            + &format!(
                r#"
            mkdir top/large top/small
            head -c 4K /dev/urandom > top/large/1
            length=4096
            for i in $(seq {doublings}); do
                xfs_io -c "reflink top/large/1 0 $length $length" top/large/1; length=$((length * 2))
            done > /dev/null
            for i in $(seq 2 {links}); do ln top/large/1 top/large/$i; done
            head -c 100K /dev/urandom > top/small/one; sync -f top
            cp --reflink=always top/small/one top/small/other; sync -f top
            for n in 1 2 8; do timeout 120 "$0" --frees -j -T $n top > json$n 2> said; done
            cmp json1 json2 >&2; cmp json1 json8 >&2
            grep -q 'more than 1,048,576 extents are shared' said
            "$0" --frees --save saved top > shown 2> said; "$0" --from saved -j > loaded; cmp loaded json1 >&2 || (head -c 300 loaded; echo; head -c 300 json1) >&2
            "$0" --from saved > loaded; cmp loaded shown >&2
            timeout 120 "$0" --frees -j top/small > json-small 2> said
        "#
            );
        let fixture = after(&script);
        let all = fixture.json("json1");
        let large = child(&all, "large");
        let [size, least, most] = bounds(large);
        assert_eq!((most, &large["frees_exact"]), (size, &Value::Bool(false)), "{kind}");
        // The map of the file is its own.
        assert!(least < size / 64, "{kind}: {least}");
        assert_eq!(all["frees_exact"], false, "{kind}");
        let (small, alone) = (child(&all, "small"), fixture.json("json-small"));
        assert_eq!(
            (bounds(small), &small["children"]),
            (bounds(&alone), &alone["children"]),
            "{kind}"
        );
        let [size, least, most] = bounds(small);
        assert!(least < 4096 * 5 && most + (96 << 10) <= size, "{kind}: {least}, {most}, {size}");
    }
}
