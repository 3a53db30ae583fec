//! `--skip`: mounts of some kinds, below a PATH, are not entered. Every mount ends with its test.
#![cfg(target_os = "linux")]

use std::time::Duration;

use crate::document::Document;
use crate::fixture::Fixture;
use crate::oracle;
use crate::run::{in_namespace, weigh};
use crate::storage::{Mounted, Storage};

/// Two directories with three files each, mounted at `top/mnt`. The mount has to be dropped before the fixture.
fn mounted() -> (Fixture, Mounted) {
    let fixture =
        Fixture::new().file("top/here", 5000).dir("top/mnt").symlink("mnt/d0000", "top/link");
    let storage = Storage { directories: 2, files: 3, delay: Duration::ZERO, ..Storage::default() };
    let mounted = storage.mount(&fixture.at("top/mnt")).unwrap();
    (fixture, mounted)
}

fn shown(fixture: &Fixture, flags: &str) -> Document {
    let shown = weigh(&format!("-j --inodes {flags}")).within(fixture.path()).run();
    assert_eq!((shown.code(), &*shown.complaint()), (0, ""), "{flags}");
    shown.document()
}

/// Inodes with the mount: `top`, `here`, `link` and the 9 of the mount.
const ALL: u64 = 12;
const WITHOUT: u64 = 3;

#[test]
#[ignore = "mounts a file system"]
fn mounts_of_a_process_are_skipped_by_their_type() {
    native_only!("mounts cannot be told apart there");
    for (flags, expected) in [
        ("", ALL),
        ("--skip fuse", WITHOUT),
        ("--skip network", ALL),
        ("--skip snap,network --skip fuse", WITHOUT),
    ] {
        let (fixture, _mounted) = mounted();
        for threads in [1, 2, 8] {
            let document = shown(&fixture, &format!("{flags} -T {threads} top"));
            assert_eq!(document.root().size, expected, "{flags}");
            let has_it = document.by_path().contains_key(b"mnt".as_slice());
            assert_eq!(has_it, expected == ALL, "{flags}");
        }
        // As du counts both.
        for (flag, size) in [("--apparent-size", ALL), ("--exclude=mnt", WITHOUT)] {
            assert_eq!(oracle::du(&["--inodes", "-s", flag], &fixture.at("top")), size);
        }
    }
}

#[test]
#[ignore = "mounts a file system"]
fn a_path_that_is_such_a_mount_is_scanned() {
    native_only!("mounts cannot be told apart there");
    let (fixture, _mounted) = mounted();
    assert_eq!(shown(&fixture, "--skip fuse top/mnt").root().size, 9);
    assert_eq!(shown(&fixture, "--skip fuse top/mnt/d0000").root().size, 4);
    // It is not inside the other one, whose walk does not reach it.
    for paths in ["top top/mnt", "top/mnt top"] {
        assert_eq!(shown(&fixture, &format!("--skip fuse {paths}")).root().size, ALL, "{paths}");
        assert_eq!(shown(&fixture, paths).root().size, ALL, "{paths}");
    }
}

/// A symlink into a skipped mount counts as nothing, as with -x.
#[test]
#[ignore = "mounts a file system"]
fn symlinks_do_not_lead_into_a_skipped_mount() {
    native_only!("mounts cannot be told apart there");
    let (fixture, _mounted) = mounted();
    std::os::unix::fs::symlink("mnt/d0001/f00000", fixture.at("top/to-file")).unwrap();
    assert_eq!(shown(&fixture, "-L --skip fuse top").root().size, 2);
    assert_eq!(shown(&fixture, "-L -x top").root().size, 2);
}

/// A directory of a mount that is mounted elsewhere is on a mount of the same type.
#[test]
#[ignore = "mounts a file system"]
fn bind_mounts_are_of_the_type_of_their_file_system() {
    native_only!("mounts cannot be told apart there");
    let (fixture, _mounted) = mounted();
    let script = r#"set -e; mkdir top/bind top/file top/own; touch top/file/f
        mount --bind top/mnt/d0000 top/bind; mount --bind top/mnt/d0001/f00000 top/file/f
        mount -t tmpfs none top/own; touch top/own/f
        "$0" -j --inodes --skip fuse top"#;
    let output = in_namespace(&fixture, script);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    // top, here, link, file, and own with its file.
    assert_eq!(Document::parse(&output.stdout).root().size, 6);
}

#[test]
fn what_is_no_kind_is_refused() {
    for (flags, said) in [
        ("--skip netwrk .", "hint: did you mean network?"),
        ("--skip zfs .", "hint: use one of network, fuse, snap"),
        ("--skip fuse --from x", "cannot be combined"),
    ] {
        let shown = weigh(flags).run();
        assert_eq!(shown.code(), 2, "{flags}");
        assert!(shown.complaint().contains(said), "{flags}: {}", shown.complaint());
    }
}

/// Without the kernel's table, nobody knows what is a snap. A total with it would be wrong.
#[test]
#[ignore = "needs root"]
fn without_a_table_of_mounts_it_is_refused() {
    let fixture = Fixture::new().file("top/f", 1);
    let script = r#"mount -t tmpfs none /proc && "$0" --skip snap top; echo $?"#;
    let output = in_namespace(&fixture, script);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "2\n");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("--skip needs to know what is mounted"), "{said}");
    assert!(said.contains("hint: use -x"), "{said}");
}
