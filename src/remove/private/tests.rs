//! Which directories are private.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use tempfile::TempDir;

use super::*;
use crate::sys::Stat;

/// A new directory, which goes with the first of these, and its attributes.
fn new_parent() -> (TempDir, HeldDirectory, ExactStat) {
    let place = tempfile::tempdir().unwrap();
    let path = CString::new(place.path().as_os_str().as_encoded_bytes()).unwrap();
    let parent = HeldDirectory::open(&path).unwrap();
    let around = parent.stat().unwrap();
    (place, parent, around)
}

/// It was taken for one of weigh's own whose answer was lost, and removed.
#[test]
fn a_directory_that_is_already_there_stays() {
    let (_place, parent, around) = new_parent();
    parent.make_directory(c"theirs").unwrap();
    assert!(make_directory(&parent, c"theirs", &around).is_err());
    assert!(parent.stat_of(c"theirs").is_ok());
    assert!(make_directory(&parent, c"ours", &around).is_ok());
}

/// On FAT all directories have the same mode.
#[test]
fn nobody_else_may_write_to_it() {
    let (place, parent, around) = new_parent();
    parent.make_directory(c"it").unwrap();
    for (mode, is_private) in [(0o700, true), (0o755, true), (0o775, false), (0o757, false)] {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(place.path().join("it"), permissions).unwrap();
        assert_eq!(opened(&parent, c"it", &around).is_ok(), is_private, "{mode:o}");
    }
}

/// With something in it, it is another one that somebody has put in its place.
#[test]
fn it_is_empty() {
    let (_place, parent, around) = new_parent();
    let it = make_directory(&parent, c"it", &around).unwrap();
    assert!(opened(&parent, c"it", &around).is_ok());
    it.make_directory(c"theirs").unwrap();
    assert!(opened(&parent, c"it", &around).is_err());
}

/// On another subvolume, no entry could be moved there.
#[test]
fn it_is_on_the_mount_and_the_device_of_the_target() {
    let (_place, parent, around) = new_parent();
    parent.make_directory(c"it").unwrap();
    let other_mount = ExactStat { mount: around.mount + 1, ..around };
    let other_device =
        ExactStat { stat: Stat { device: around.stat.device + 1, ..around.stat }, ..around };
    for (around, is_it) in [(around, true), (other_mount, false), (other_device, false)] {
        assert_eq!(opened(&parent, c"it", &around).is_ok(), is_it);
    }
}
