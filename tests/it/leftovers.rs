//! The tests clean up after themselves: no fixture, however deep, closed or oddly named, stays in
//! the temporary directory.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::dice::{Dice, HOSTILE, Names};
use crate::fixture::{Fixture, PLACE, raw};

fn is_empty(dir: &Path) -> bool {
    std::fs::read_dir(dir).unwrap().next().is_none()
}

#[test]
fn a_fixture_takes_everything_with_it() {
    let place = tempfile::tempdir().unwrap();
    for seed in 0..20 {
        let tree = Dice::new(seed).tree(Fixture::within(place.path()), Names::Hostile);
        assert!(!is_empty(place.path()));
        drop(tree);
        assert!(is_empty(place.path()), "seed {seed}");
    }
    let mut fixture = Fixture::within(place.path())
        .chain("d", 3000, 10)
        .comb("c", 500)
        .file("closed/in/it/f", 1)
        .unreadable("closed/in/it")
        .unreadable("closed/in")
        .unreadable("closed")
        .symlink("/", "to-root")
        .symlink(place.path(), "to-itself");
    for name in HOSTILE {
        fixture = fixture.file(raw(&[name, b"/", name].concat()), 1).unreadable(raw(name));
    }
    drop(fixture);
    assert!(is_empty(place.path()));
}

/// The tests that make the oddest fixtures, run once more in a place of their own.
#[test]
fn whole_modules_leave_nothing() {
    let place = tempfile::tempdir().unwrap();
    std::fs::set_permissions(place.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    for module in ["golden::", "names::", "errors::", "mounts::"] {
        let run = Command::new(std::env::current_exe().unwrap())
            .arg(module)
            .env(PLACE, place.path())
            .env("TMPDIR", place.path())
            .env("INSTA_UPDATE", "no")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stdout).into_owned();
        assert!(said.contains("running ") && !said.contains("running 0 tests"), "{said}");
        assert!(is_empty(place.path()), "{module} leaves something in {}", place.path().display());
    }
}
