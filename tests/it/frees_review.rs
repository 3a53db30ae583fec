//! `--ui --frees`: the review says what the marked entries free where files share space.
#![cfg(all(target_os = "linux", feature = "tui"))]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command as Program;

use serde_json::json;

use crate::fixture::Fixture;
use crate::mounted::{Mounted, free};
use crate::session::{self, Session, Wanted};

const KIB: u64 = 1024;

/// A browser of what is at `root`.
fn browser(root: &Path) -> Session {
    session::of([root]).frees().open()
}

/// What removing the entries of these names frees, at least and at most.
fn bounds(browser: &mut Session, names: &[&str]) -> [u64; 2] {
    browser.press("U");
    for name in names {
        browser.press(&format!("+{name}\n"));
    }
    assert_eq!(browser.marks(), names.len());
    browser.frees()
}

/// What is free on the file system at `place`, once that does not change any more: XFS frees in the background.
fn settled_free(place: &Path) -> u64 {
    let (mut last, mut same) = (0, 0);
    for _ in 0..400 {
        let now = free(place);
        same = if now == last { same + 1 } else { 0 };
        if same == 3 {
            return now;
        }
        last = now;
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("what is free does not settle");
}

#[test]
#[ignore = "mounts an XFS image"]
fn marks_free_between_two_bounds() {
    native_only!("the library is asked, and not the program");
    let place = Mounted::image("mkfs.xfs", 320 << 20);
    let root = place.path().join("t");
    let script = r#"
        set -e
        mkdir -p t; cd t
        head -c 1M /dev/urandom > one; head -c 2M /dev/urandom > own; head -c 512K /dev/urandom > linked
        ln linked link; mkdir both; head -c 4M /dev/urandom > both/x; sync -f .
        cp --reflink=always one other; cp --reflink=always both/x both/y; sync -f .
    "#;
    let made = Program::new("sh").args(["-c", script]).current_dir(place.path()).status().unwrap();
    assert!(made.success());
    let mut browser = browser(&root);
    assert_eq!(bounds(&mut browser, &["own"]), [2_048 * KIB; 2]);
    assert_eq!(bounds(&mut browser, &["one"]), [0, 1_024 * KIB]);
    assert_eq!(bounds(&mut browser, &["linked"]), [0, 0]);
    assert_eq!(bounds(&mut browser, &["both"]), [0, 4_096 * KIB]);
    // What is in several marks counts for each. The links are one file.
    let all = ["own", "both", "one", "other", "linked", "link"];
    let [least, most] = bounds(&mut browser, &all);
    assert_eq!([least, most], [2_048 * KIB, (2_048 + 4_096 + 1_024 * 2 + 512) * KIB]);

    let before = settled_free(place.path());
    for name in all {
        let path = root.join(name);
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        removed.unwrap();
    }
    let freed = settled_free(place.path()) - before;
    assert!(least <= freed && freed <= most + 256 * KIB, "{least} <= {freed} <= {most}");

    // Only a walk of everything can tell, and only of disk usage.
    assert!(browser.ask("a").is_empty());
    assert_eq!(browser.ask("r"), [Wanted::Scan(vec![root])]);
}

/// Where files share space only through links, all links of a file freed between nothing and its size.
#[test]
fn marks_of_all_links_free_one_figure() {
    let fixture = Fixture::in_memory().file("t/one", 200_000).hard_link("t/one", "t/two");
    let fixture = fixture.file("t/own", 4_096).file("t/kept", 4_096).hard_link("t/kept", "kept");
    let size = fs::metadata(fixture.at("t/one")).unwrap().blocks() * 512;
    let mut browser = browser(&fixture.at("t"));
    assert_eq!(bounds(&mut browser, &["one"]), [0, 0]);
    assert_eq!(bounds(&mut browser, &["one", "two"]), [size; 2]);
    assert_eq!(bounds(&mut browser, &["one", "two", "own", "kept"]), [size + 4_096; 2]);
}

/// The root above several snapshots has no figures of its own. Its review had one figure where a line had two.
#[test]
fn the_review_of_several_snapshots_has_two_bounds() {
    let fixture = Fixture::new();
    let snapshot = |name: &str| {
        let file =
            json!({"name": "f", "kind": "file", "size": 9, "frees_least": 0, "frees_most": 9});
        let snapshot = json!({"schema": 1, "tool": "weigh", "version": "1", "measure": "disk",
            "unit": "bytes", "complete": true, "time": 1, "host": "h", "options": ["--frees"],
            "roots": [{"path": format!("/{name}")}], "name": format!("/{name}"),
            "kind": "directory", "size": 9, "entries": 2, "own": 0, "inode": 1, "device": 1,
            "mount": 1, "frees_least": 0, "frees_most": 9, "children": [file]});
        crate::saved::save(&fixture.at(name), &snapshot);
        fixture.at(name)
    };
    let mut browser = session::files([snapshot("one"), snapshot("two")]).open();
    // The file in the first of them.
    browser.press("\n ");
    assert_eq!(browser.frees(), [0, 9]);
}

/// Of a file of which a snapshot does not say what it shares, nothing is freed for certain.
#[test]
fn what_is_not_known_of_a_file_is_not_freed_for_certain() {
    let fixture = Fixture::new();
    let file = |name: &str| json!({"name": name, "kind": "file", "size": 9});
    let mut asked = file("asked");
    (asked["frees_least"], asked["frees_most"]) = (json!(9), json!(9));
    let snapshot = json!({"schema": 1, "tool": "weigh", "version": "1", "measure": "disk",
        "unit": "bytes", "complete": true, "time": 1, "host": "h", "options": ["--frees"],
        "roots": [{"path": "/r"}], "name": "/r", "kind": "directory", "size": 18, "entries": 3,
        "own": 0, "inode": 1, "device": 1, "mount": 1, "frees_least": 9, "frees_most": 18,
        "children": [asked, file("other")]});
    crate::saved::save(&fixture.at("r"), &snapshot);
    let mut browser = session::files([fixture.at("r")]).open();
    assert_eq!(bounds(&mut browser, &["asked"]), [9, 9]);
    assert_eq!(bounds(&mut browser, &["other"]), [0, 9]);
}
