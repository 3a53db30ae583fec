//! What the answer does not need is not started.
#![cfg(target_os = "linux")]

use crate::fixture::Fixture;
use crate::run::weigh;

/// The calls of `what` kinds that weighing `name` takes, as `strace` writes them: of a call that another
/// thread's interrupts, `name(` stands in the first of two lines alone.
fn calls(fixture: &Fixture, name: &str, what: &str) -> String {
    let log = tempfile::Builder::new().tempfile_in(fixture.path()).unwrap();
    let mut strace: Vec<_> = ["strace", "-f", "-q", "-e", what, "-o"].map(String::from).into();
    strace.push(log.path().display().to_string());
    weigh("-j").arg(fixture.at(name)).under(strace).run().clean();
    std::fs::read_to_string(log.path()).unwrap()
}

#[test]
#[ignore = "needs strace"]
fn what_one_look_settles_takes_no_thread() {
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

/// Something may be mounted there that never answers, and Ctrl-C has to end that too.
#[test]
#[ignore = "needs strace"]
fn no_subdirectory_is_looked_at_before_somebody_watches() {
    native_only!("other calls are made there");
    let fixture = Fixture::new().file("tree/a", 100).file("tree/d/b", 100);
    let calls = calls(&fixture, "tree", "trace=clone,clone3,statx");
    let first = |what| calls.find(what).expect("it is called");
    assert!(first("clone") < first(", \"d\","), "{calls}");
}

/// The listing says that they are the same one; but for the first link in each directory, which tells
/// whether others there may be asked about at all.
#[test]
#[ignore = "needs strace"]
fn an_inode_is_not_asked_about_for_every_link() {
    native_only!("other calls are made there");
    let mut fixture = Fixture::in_memory().file("tree/0/0", 100);
    for link in 1..500 {
        fixture = fixture.hard_link("tree/0/0", format!("tree/{}/{link}", link % 10));
    }
    let asked = calls(&fixture, "tree", "trace=statx").matches("statx(").count();
    assert!(asked < 100, "{asked}");
}

/// The last entry of a listing tells that it is the last.
#[test]
#[ignore = "needs strace, and a tmpfs that marks where a listing ends, as Linux 6.18 does"]
fn nobody_asks_twice_where_a_listing_ends() {
    native_only!("other calls are made there");
    let fixture = Fixture::in_memory().dir("tree/empty").file("tree/few/a", 100);
    assert_eq!(calls(&fixture, "tree", "trace=getdents64").matches("getdents64(").count(), 3);
}
