//! Hard links are created, removed and renamed during the walk.
//! An inode that has two links throughout counts once, in every walk, as it does for `du`.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::fixture::Fixture;
use crate::rounds::rounds;
use crate::run::weigh;

const WALKS: (usize, usize) = (40, 1000);
const DIRS: usize = 40;
/// Inodes with three links each, and what they weigh.
const INODES: usize = 8;
const LENGTH: usize = 1 << 16;

/// One kind of change, which is repeated until the walks are done.
type Churn = fn(&Fixture, usize);

/// Three links of every inode in different directories, and in each directory files that take time.
fn links() -> Fixture {
    let mut fixture = Fixture::in_memory();
    for dir in 0..DIRS {
        for file in 0..50 {
            fixture = fixture.sparse(format!("top/{dir}/f{file}"), 0);
        }
    }
    for inode in 0..INODES {
        let [first, second, third] = places(inode);
        fixture = fixture.file(&first, LENGTH).hard_link(&first, second).hard_link(&first, third);
    }
    fixture
}

/// Where the three links of an inode are, far from each other.
fn places(inode: usize) -> [String; 3] {
    [0, 13, 26].map(|apart| format!("top/{}/linked{inode}", (inode + apart) % DIRS))
}

/// Makes a link elsewhere in the tree, and removes it.
fn link_and_unlink(fixture: &Fixture, turn: usize) {
    let [first, ..] = places(turn % INODES);
    let other = fixture.at(format!("top/{}/temporary", turn * 7 % DIRS));
    fs::hard_link(fixture.at(first), &other).unwrap();
    pause(turn);
    fs::remove_file(other).unwrap();
}

/// Renames one of the links to another directory, and back.
fn rename_a_link(fixture: &Fixture, turn: usize) {
    let [.., third] = places(turn % INODES);
    let (third, other) = (fixture.at(third), fixture.at(format!("top/{}/moved", turn * 7 % DIRS)));
    fs::rename(&third, &other).unwrap();
    pause(turn);
    fs::rename(other, third).unwrap();
}

/// Copies a directory by links, as `cp -al` does, and removes the copy.
fn copy_by_links(fixture: &Fixture, turn: usize) {
    let copy = fixture.at(format!("top/{}/copy", turn * 7 % DIRS));
    fs::create_dir(&copy).unwrap();
    for inode in 0..INODES {
        let [first, ..] = places(inode);
        fs::hard_link(fixture.at(first), copy.join(inode.to_string())).unwrap();
    }
    pause(turn);
    fs::remove_dir_all(copy).unwrap();
}

/// Renames a directory with a link in it, and back. The inode of the link does not change.
fn rename_a_directory(fixture: &Fixture, turn: usize) {
    let [first, ..] = places(turn % INODES);
    let dir = Path::new(&first).parent().unwrap();
    let (dir, other) = (fixture.at(dir), fixture.at(format!("top/{}/moved", turn * 7 % DIRS)));
    // Not into itself.
    if fs::rename(&dir, &other).is_ok() {
        pause(turn);
        fs::rename(other, dir).unwrap();
    }
}

/// Sometimes waits long enough for a walk to see the change half done.
fn pause(turn: usize) {
    std::thread::sleep(Duration::from_micros([0, 50, 300, 2000][turn % 4]));
}

fn each_inode_counts_once(name: &str, churn: Churn) {
    let fixture = links();
    let expected = (INODES * LENGTH) as u64;
    let is_over = AtomicBool::new(false);
    let mut by_du = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for turn in 0.. {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                churn(&fixture, turn);
            }
        });
        let over = Over(&is_over);
        let walks = rounds(WALKS.0, WALKS.1);
        for walk in 0..walks {
            let flags = format!("-j -s -d 0 -T {}", [1, 2, 8][walk % 3]);
            let shown = weigh(&flags).arg(fixture.at("top")).run();
            let size = shown.document().root().size;
            assert_eq!(size, expected, "{name}, walk {walk}, weigh {flags}");
            by_du += usize::from(du(&fixture.at("top")) != expected);
        }
        println!("{name}: du was wrong in {by_du} of {walks} walks");
        drop(over);
    });
}

/// The total of `du`, or 0 if a file vanished meanwhile. On tmpfs, directories take no space.
fn du(top: &Path) -> u64 {
    let run = Command::new("du").args(["-s", "-B1"]).arg(top).output().unwrap();
    let text = String::from_utf8(run.stdout).unwrap();
    text.split('\t').next().and_then(|size| size.parse().ok()).unwrap_or(0)
}

#[test]
fn links_that_come_and_go() {
    each_inode_counts_once("link and unlink", link_and_unlink);
}

#[test]
fn a_link_that_is_renamed() {
    each_inode_counts_once("rename a link", rename_a_link);
}

#[test]
fn a_copy_by_links() {
    each_inode_counts_once("cp -al", copy_by_links);
}

#[test]
fn a_directory_that_is_renamed() {
    each_inode_counts_once("rename a directory", rename_a_directory);
}

/// Ends the changes when it is dropped, even if a walk fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
