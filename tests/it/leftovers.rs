//! A fixture is removed with everything in it, however deep, unreadable or oddly named that is. That no test leaves
//! anything behind is checked by `.ci/run`.

use std::path::Path;

use crate::dice::{Dice, HOSTILE, Names};
use crate::fixture::{Fixture, raw};

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
