//! File systems within file systems: `-x`, what the kernel makes up, a directory that is its own
//! ancestor. Each mounts what it needs in a mount namespace of its own, which ends with the run, so
//! nothing is left mounted.
#![cfg(target_os = "linux")]

use crate::document::Document;
use crate::fixture::Fixture;
use crate::run::{in_namespace, try_in_namespace, weigh};
use crate::saved;
use std::collections::BTreeSet;

/// Runs `weigh FLAGS top` within `fixture` after the shell has done `mounts` there.
fn with_mounts(fixture: &Fixture, mounts: &str, flags: &str) -> (Document, String, Option<i32>) {
    let script = format!("set -e; {mounts}; exec \"$0\" {flags} top");
    let output = try_in_namespace(fixture, &script);
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(!output.stdout.is_empty(), "{complaint}");
    (Document::parse(&output.stdout), complaint, output.status.code())
}

const TMPFS: &str = "mount -t tmpfs none top/mnt; head -c 9000 /dev/zero > top/mnt/there";

#[test]
#[ignore = "needs root"]
fn mounts_are_crossed_unless_told_not_to() {
    let fixture = Fixture::new().file("top/here", 5000).dir("top/mnt");
    let (document, complaint, code) = with_mounts(&fixture, TMPFS, "-j -s");
    assert_eq!((document.root().size, complaint.as_str(), code), (14_000, "", Some(0)));
    let (document, complaint, code) = with_mounts(&fixture, TMPFS, "-j -s -x");
    assert_eq!((document.root().size, complaint.as_str(), code), (5000, "", Some(0)));
    assert!(document.by_path().keys().all(|path| path != b"mnt/there"));
}

/// With several roots each stays on its own file system.
#[test]
#[ignore = "needs root"]
fn one_file_system_is_each_roots_own() {
    let fixture = Fixture::new().file("top/here", 5000).dir("top/mnt");
    let (document, complaint, code) = with_mounts(&fixture, TMPFS, "-j -s -x top/mnt");
    assert_eq!((document.root().size, complaint.as_str(), code), (14_000, "", Some(0)));
}

#[test]
#[ignore = "needs root"]
fn a_directory_that_is_its_own_ancestor_is_named_once_and_skipped() {
    let fixture = Fixture::new().file("top/f", 5000).dir("top/sub/loop");
    let bind = "mount --bind top top/sub/loop";
    for flags in ["-j -s", "-j -s -T 1", "-j -s -T 8"] {
        let (document, complaint, code) = with_mounts(&fixture, bind, flags);
        assert_eq!((document.root().size, code), (5000, Some(0)), "{complaint}");
        assert_eq!(complaint.matches("top/sub/loop").count(), 1, "{complaint}");
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
    }
}

#[test]
#[ignore = "needs root"]
fn what_the_kernel_makes_up_is_skipped_below_a_root() {
    native_only!("mounts cannot be told apart there");
    let fixture = Fixture::new().file("top/f", 5000).dir("top/proc").dir("top/sys");
    let mounts = "mount -t proc none top/proc; mount -t sysfs none top/sys";
    let (document, complaint, code) = with_mounts(&fixture, mounts, "-j --inodes");
    assert_eq!(code, Some(0), "{complaint}");
    assert!(document.root().size <= 4, "{}", document.root().size);
    assert!(document.nodes.len() <= 4);
}

/// A root on such a file system is weighed, because the user named it.
#[test]
fn what_the_kernel_makes_up_is_weighed_when_it_is_the_root() {
    let document = weigh("-j --inodes").arg("/proc/sys/kernel/random").run().document();
    assert!(document.by_path().contains_key(b"uuid".as_slice()));
}

/// No walk enters what would have to be mounted first. A root that is such a place once counted as come to by
/// the walk of a root above it on a kernel file system, and was not weighed at all.
#[test]
#[ignore = "needs root"]
fn a_root_that_is_not_mounted_yet_is_weighed() {
    native_only!("mounts cannot be told apart there");
    let fixture = Fixture::new().dir("sys");
    // Those in the group of the one who would mount something see what is there without it (autofs(5)).
    let script = r#"set -e; mount -t sysfs none sys; mkfifo asked; exec 3<>asked
        group=$(cut -d ' ' -f 5 /proc/self/stat)
        mount -t autofs -o fd=3,pgrp=$group,minproto=5,maxproto=5,direct none sys/kernel/debug
        exec "$0" -j -s sys/kernel sys/kernel/debug"#;
    let output = in_namespace(&fixture, script);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let document = Document::parse(&output.stdout);
    assert!(document.by_path().contains_key(b"sys/kernel/debug".as_slice()));
}

/// A tree that is mounted twice counts twice, its hard links included, as another file would that
/// has one link. They once left the set of links with as many as the inode has, wherever those were
/// met, and came back as often as timing had it.
#[test]
#[ignore = "needs root"]
fn hard_links_count_once_a_mount() {
    native_only!("mounts cannot be told apart there");
    let fixture = Fixture::new()
        .file("top/a/x", 5000)
        .hard_link("top/a/x", "top/a/y")
        .hard_link("top/a/x", "top/b/w")
        .dir("top/m")
        .dir("top/n")
        .dir("top/o");
    let binds = "mount --bind top/a top/m; mount --bind top/b top/n; mount --bind top/b top/o";
    for threads in [1, 2, 8].repeat(5) {
        let flags = format!("-j -s -T {threads}");
        let (document, complaint, code) = with_mounts(&fixture, binds, &flags);
        assert_eq!((document.root().size, code), (4 * 5000, Some(0)), "{complaint}");
    }
}

/// ncdu knows no mounts: the export has another device for each.
#[test]
#[ignore = "needs root"]
fn hard_links_of_an_export_count_once_a_mount() {
    native_only!("mounts cannot be told apart there");
    let fixture = Fixture::new().file("top/a/x", 5000).hard_link("top/a/x", "top/a/y").dir("top/m");
    let script =
        "mount --bind top/a top/m; \"$0\" top --as ncdu > export; exec \"$0\" -j -s --from export";
    let output = in_namespace(&fixture, script);
    assert_eq!(Document::parse(&output.stdout).root().size, 2 * 5000);
}

/// What a listing tells of a link is what lies beneath what is mounted on it.
#[test]
#[ignore = "needs root"]
fn a_link_on_which_something_is_mounted_is_not_that_link() {
    let fixture = Fixture::new().file("other", 9000).dir("top");
    // On both sides of the others, whichever way it is listed.
    let mounts = r#"mount -t tmpfs none top; mkdir top/a top/b; head -c 70 /dev/zero > top/a/0
        cover() { ln top/a/0 "top/b/$1"; mount --bind other "top/b/$1"; }
        cover first; cover 'a name'; cover 'back\slash'; cover '\040'; cover "tab$(printf '\t')"
        for i in $(seq 50); do ln top/a/0 top/a/$i; ln top/a/0 top/b/$i; done
        cover last; cover 'one more'; cover 'back\\slash'; cover '\134'; cover 'line
end'"#;
    for flags in ["-j -s -T 1", "-j -s -T 2", "-j -s -l -T 1"] {
        let (document, complaint, code) = with_mounts(&fixture, mounts, flags);
        let links = if flags.contains("-l") { 101 } else { 1 };
        assert_eq!((document.root().size, code), (10 * 9000 + links * 70, Some(0)), "{complaint}");
    }
}

/// By way of a process elsewhere, which has mounts that no list of our own shows.
#[test]
#[ignore = "needs root"]
fn what_is_mounted_on_links_in_another_namespace_is_weighed() {
    let fixture = Fixture::new().file("other", 9000).dir("top");
    let elsewhere = r#"mount -t tmpfs none top; head -c 70 /dev/zero > top/0
        for i in $(seq 10); do ln top/0 top/a$i; ln top/0 top/b$i; mount --bind other top/b$i; done
        for i in $(seq 10); do ln top/0 top/c$i; done
        touch ready; read -r end < wait"#;
    let script = format!(
        r#"set -e; mkfifo wait; unshare --mount --propagation private sh -ec '{elsewhere}' &
        while ! [ -e ready ]; do sleep 0.01; done
        "$0" -j -s -T 1 /proc/$!/root$PWD/top; echo > wait; wait"#
    );
    let output = in_namespace(&fixture, &script);
    assert_eq!(Document::parse(&output.stdout).root().size, 10 * 9000 + 70);
}

/// The same directory by two mounts is one root.
#[test]
#[ignore = "needs root"]
fn a_root_that_is_another_by_a_mount_is_weighed_once() {
    let fixture = Fixture::new().file("top/f", 5000).dir("twin");
    let (document, complaint, code) = with_mounts(&fixture, "mount --bind top twin", "-j -s twin");
    assert_eq!((document.root().size, complaint.as_str(), code), (5000, "", Some(0)));
}

/// What lies on a file system that is mounted nowhere any more has no path.
#[test]
#[ignore = "needs root"]
fn a_root_inside_another_is_weighed_once_where_nothing_is_mounted() {
    let fixture = Fixture::new().dir("top");
    let mounts = "mount -t tmpfs none top; mkdir -p top/in/s; head -c 300 /dev/zero > top/in/s/f; \
                  head -c 5000 /dev/zero > top/g; cd top/in; umount -l ../../top";
    for (roots, size) in [
        (". s", 300),
        ("s . s/f", 300),
        (".. .", 5300),
        (". s/.. ../in ..", 5300),
        ("-i .. .", 5300),
    ] {
        let script = format!(r#"set -e; {mounts}; exec "$0" -j -s {roots}"#);
        let output = in_namespace(&fixture, &script);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{roots}");
        assert_eq!(Document::parse(&output.stdout).root().size, size, "{roots}");
    }
}

/// What is reached by another mount than the outer root's lies elsewhere, and counts once more.
#[test]
#[ignore = "needs root"]
fn a_root_by_another_mount_is_not_inside() {
    native_only!("mounts cannot be told apart there");
    let fixture = Fixture::new().file("top/s/f", 5000).file("top/s/g", 300).dir("twin");
    let mounts = "mount --bind top twin";
    for (roots, size) in [("twin/s", 10_600), ("twin/s/f", 10_300), ("top/s twin/s twin", 5300)] {
        let (document, complaint, code) = with_mounts(&fixture, mounts, &format!("-j -s {roots}"));
        assert_eq!(
            (document.root().size, complaint.as_str(), code),
            (size, "", Some(0)),
            "{roots}"
        );
    }
}

/// What is mounted in one of two mounts of a directory is not in the other, which is the one that is walked.
#[test]
#[ignore = "needs root"]
fn a_root_that_is_mounted_in_what_is_another_root_is_weighed() {
    native_only!("mounts cannot be told apart there");
    let fixture = Fixture::new().file("top/s/f", 5000).dir("top/here").dir("twin");
    let mounts = "mount --bind top twin; mount -t tmpfs none twin/here; \
                  head -c 300 /dev/zero > twin/here/there";
    let roots = "-j -s top twin twin/here twin/s";
    let (document, complaint, code) = with_mounts(&fixture, mounts, roots);
    assert_eq!((document.root().size, complaint.as_str(), code), (5300, "", Some(0)));
}

/// What lies on a kernel file system below a root is not come to, so a root there is its own.
#[test]
#[ignore = "needs root"]
fn a_root_beyond_what_the_kernel_makes_up_is_weighed() {
    native_only!("mounts cannot be told apart there");
    let fixture = Fixture::new().file("top/f", 70).dir("top/sys");
    let mounts = "mount -t sysfs none top/sys; mount -t tmpfs none top/sys/fs; \
                  head -c 5000 /dev/zero > top/sys/fs/there";
    let (document, complaint, code) = with_mounts(&fixture, mounts, "-j -s top/sys/fs");
    assert_eq!((document.root().size, complaint.as_str(), code), (5070, "", Some(0)));
}

/// With `-L` every directory is entered once. Once, the threads raced for which of its two mounts was used.
#[test]
#[ignore = "needs root"]
fn following_takes_the_same_way_through_mounts_every_time() {
    native_only!("mounts cannot be told apart there");
    let fixture = Fixture::new()
        .file("elsewhere/deep/f", 9000)
        .file("elsewhere/g", 70)
        .file("top/z/real/deep/f", 5000)
        .dir("top/a/real")
        .dir("top/b/one")
        .dir("top/c/two")
        .symlink("../../elsewhere", "top/c/link");
    // There is more to do beside them, so that threads meet.
    let fixture = (0..30).fold(fixture, |fixture, i| fixture.file(format!("top/y/{i}/f"), 1));
    let mounts = "mount --bind top/z/real top/a/real; mount --bind elsewhere top/b/one; \
                  mount --bind elsewhere top/c/two";
    let script = format!(
        r#"set -e; {mounts}
        for i in $(seq 50); do for n in 1 2 8; do "$0" -j -s -L -T $n top; done; done
        "$0" -j -L top; du -LsB1 top"#
    );
    let output = in_namespace(&fixture, &script);
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<_> = text.lines().collect();
    let [runs @ .., disk, du] = lines.as_slice() else { panic!("{text}") };
    assert_eq!(runs.len(), 150);
    let outputs: BTreeSet<_> = runs.iter().collect();
    assert_eq!(outputs.len(), 1, "it depends on timing");
    let parse = |line: &str| Document::parse(format!("{line}\n").as_bytes());
    let nodes = parse(runs[0]);
    let size = |path: &str| nodes.by_path().get(path.as_bytes()).map(|node| node.size);
    // Where it really is, else by the mount whose path sorts first, else by a link.
    assert_eq!((size("z/real"), size("a/real")), (Some(5000), None));
    assert_eq!((size("b/one"), size("c/two"), size("c/link")), (Some(9070), None, None));
    let total = du.split_whitespace().next().unwrap().parse::<u64>().unwrap();
    assert_eq!(parse(disk).root().size, total);
}

/// As `du -xL`: a link to a file on another file system was weighed.
#[test]
#[ignore = "needs root"]
fn one_file_system_holds_for_what_links_lead_to() {
    let fixture = Fixture::new()
        .file("top/here", 5000)
        .file("beside", 300)
        .dir("other")
        .symlink("../other/there", "top/to-file")
        .symlink("../other/dir", "top/to-directory")
        .symlink("../beside", "top/to-beside");
    let mounts = "mount -t tmpfs none other; mkdir other/dir; \
                  head -c 9000 /dev/zero | tee other/there > other/dir/f";
    for (flags, size) in [("-s -L -x", 5300), ("-s -L", 23_300)] {
        let flags = format!("-j {flags}");
        let (document, complaint, code) = with_mounts(&fixture, mounts, &flags);
        assert_eq!((document.root().size, code), (size, Some(0)), "{complaint}");
    }
    let script = format!(r#"set -e; {mounts}; "$0" -j -L -x top; du -LxsB1 top"#);
    let output = in_namespace(&fixture, &script);
    let text = String::from_utf8(output.stdout).unwrap();
    let (json, du) = text.split_at(text.find('\n').unwrap() + 1);
    let du = du.split_whitespace().next().unwrap().parse::<u64>().unwrap();
    assert_eq!(Document::parse(json.as_bytes()).root().size, du);
}

/// Files that Windows made on NTFS have a second name in the form of DOS, which no listing has. ntfs-3g counts it as a
/// link: such a file seemed to be linked elsewhere, and freed nothing.
#[test]
#[ignore = "needs root, ntfs-3g and setfattr"]
fn a_dos_name_is_no_link() {
    native_only!("it cannot ask for the name");
    let fixture = Fixture::new().dir("m");
    let script = "set -e; truncate -s 30M disk; mkfs.ntfs -q -F disk >&2; ntfs-3g disk m; trap 'umount m' EXIT
        mkdir m/in; head -c 70000 /dev/zero > m/in/longfilename.text
        setfattr -n system.ntfs_dos_name -v LONGFI~1.TEX m/in/longfilename.text
        head -c 50000 /dev/zero > m/in/one; ln m/in/one m/two
        head -c 9000 /dev/zero > m/in/both; ln m/in/both m/in/again
        stat -c %h m/in/longfilename.text m/in/one; \"$0\" -s --save s.weigh m/in >&2";
    let text = String::from_utf8(in_namespace(&fixture, script).stdout).unwrap();
    let mut lines = text.lines();
    assert_eq!([lines.next(), lines.next()], [Some("2"); 2], "the driver counts the name");
    let saved = saved::read(&fixture.at("s.weigh"));
    let of = |name: &str, key: &str| {
        let children = saved["children"].as_array().unwrap();
        children.iter().find(|child| child["name"] == name).unwrap()[key].clone()
    };
    assert_eq!(of("longfilename.text", "links"), serde_json::Value::Null);
    assert_eq!([of("one", "links"), of("both", "links")], [2, 2]);
    assert_eq!([&saved["size"], &saved["shared"]], [129_000, 50_000]);
}
