//! `--ui --frees`: the review says what the marked entries free where files share space.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command as Program;
use std::sync::Arc;

use weigh::browse::{BrowseOptions, Browser, Command, Key, Protected};
use weigh::report::{self, Keep, Request};
use weigh::tally::Inodes;

use crate::browse::Mounted;

const KIB: u64 = 1024;

/// A browser of what is at `root`.
fn browser(root: &Path) -> Browser {
    let options = BrowseOptions { knows_freed: true, frees: true, ..BrowseOptions::default() };
    let protected = Protected::ask([root.as_os_str().as_bytes()], None);
    let mut browser = Browser::new(options, protected, Arc::default(), true);
    let keep = Keep::Everything(Inodes::Fingerprints);
    let mut request = Request { keep, ..Request::of_roots([root.as_os_str().to_owned()]) };
    request.walk.frees = true;
    browser.finish(report::browse(&request, Arc::default(), |_| {}).unwrap());
    browser.resize(20);
    browser
}

/// What removing the entries of these names frees, at least and at most.
fn bounds(browser: &mut Browser, names: &[&str]) -> [u64; 2] {
    browser.press(Key::Char('U'));
    for name in names {
        browser.press(Key::Char('+'));
        name.chars().for_each(|key| _ = browser.press(Key::Char(key)));
        browser.press(Key::Enter);
    }
    let (count, marked) = browser.marked();
    assert_eq!(count, names.len());
    let freed = marked.unwrap().1.unwrap();
    [freed.least, freed.most]
}

/// What is free on the file system at `place`. XFS frees in the background.
fn free(place: &Path) -> u64 {
    let mut last = None;
    loop {
        let said = Program::new("sh")
            .args(["-c", "sync -f .; stat -f -c '%f %S' ."])
            .current_dir(place)
            .output()
            .unwrap();
        let numbers = String::from_utf8(said.stdout).unwrap();
        let now: u64 = numbers.split_whitespace().map(|it| it.parse::<u64>().unwrap()).product();
        if last == Some(now) {
            return now;
        }
        last = Some(now);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
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

    let before = free(place.path());
    for name in all {
        let path = root.join(name);
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        removed.unwrap();
    }
    let freed = free(place.path()) - before;
    assert!(least <= freed && freed <= most + 256 * KIB, "{least} <= {freed} <= {most}");

    // Only a walk of everything can tell, and only of disk usage.
    assert_eq!(browser.press(Key::Char('a')), None);
    let again = Some(Command::Again { is_other_measure: false });
    assert_eq!(browser.press(Key::Char('r')), again);
}
