//! weigh starts no thread, and makes no system call, that the result does not need.
#![cfg(target_os = "linux")]

use crate::fixture::Fixture;
use crate::run::weigh;

/// The calls of `what` kinds that weighing `name` takes, as `strace` prints them. If another thread's call interrupts
/// one, it takes two lines, and only the first has `name(`.
fn calls(fixture: &Fixture, name: &str, what: &str) -> String {
    let log = tempfile::Builder::new().tempfile_in(fixture.path()).unwrap();
    let mut strace: Vec<_> = ["strace", "-f", "-q", "-e", what, "-o"].map(String::from).into();
    strace.push(log.path().display().to_string());
    weigh("-j").arg(fixture.at(name)).under(strace).run().clean();
    std::fs::read_to_string(log.path()).unwrap()
}

#[test]
#[ignore = "needs strace"]
fn a_root_without_subdirectories_starts_no_thread() {
    let fixture = Fixture::new()
        .dir("empty")
        .file("few/a", 100)
        .hard_link("few/a", "few/b")
        .symlink("a", "few/c")
        .file("tree/d/a", 100);
    let threads = |name| calls(&fixture, name, "trace=clone,clone3").matches("clone").count();
    for small in ["empty", "few", "few/a", "few/c"] {
        assert_eq!(threads(small), 0, "{small}");
    }
    assert!(threads("tree") > 0);
}

/// A file system that never answers may be mounted there, and Ctrl-C has to end the run even then.
#[test]
#[ignore = "needs strace"]
fn threads_start_before_a_subdirectory_is_examined() {
    native_only!("other calls are made there");
    let fixture = Fixture::new().file("tree/a", 100).file("tree/d/b", 100);
    let calls = calls(&fixture, "tree", "trace=clone,clone3,statx");
    let first = |what| calls.find(what).expect("it is called");
    assert!(first("clone") < first(", \"d\","), "{calls}");
}

/// Inode numbers in listings show that links lead to the same inode. Only the first link in each directory is examined,
/// to see whether these numbers can be trusted there.
#[test]
#[ignore = "needs strace"]
fn an_inode_is_examined_once_for_many_links() {
    native_only!("other calls are made there");
    let mut fixture = Fixture::in_memory().file("tree/0/0", 100);
    for link in 1..500 {
        fixture = fixture.hard_link("tree/0/0", format!("tree/{}/{link}", link % 10));
    }
    let asked = calls(&fixture, "tree", "trace=statx").matches("statx(").count();
    assert!(asked < 100, "{asked}");
}

/// The last entry of a listing shows that it is the last, so no further call is needed.
#[test]
#[ignore = "needs strace, and a tmpfs that marks where a listing ends, as Linux 6.18 does"]
fn a_listing_that_shows_its_end_is_not_read_again() {
    native_only!("other calls are made there");
    let fixture = Fixture::in_memory().dir("tree/empty").file("tree/few/a", 100);
    assert_eq!(calls(&fixture, "tree", "trace=getdents64").matches("getdents64(").count(), 3);
}
