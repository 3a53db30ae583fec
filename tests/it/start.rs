//! What the answer does not need is not started.
#![cfg(target_os = "linux")]

use crate::fixture::Fixture;
use crate::run::weigh;

#[test]
#[ignore = "needs strace"]
fn what_one_look_settles_takes_no_thread() {
    let fixture = Fixture::new()
        .dir("empty")
        .file("few/a", 100)
        .hard_link("few/a", "few/b")
        .symlink("a", "few/c")
        .file("tree/d/a", 100);
    let threads = |name: &str| {
        let log = tempfile::Builder::new().tempfile_in(fixture.path()).unwrap();
        let mut strace: Vec<_> =
            ["strace", "-f", "-q", "-e", "trace=clone,clone3", "-o"].map(String::from).into();
        strace.push(log.path().display().to_string());
        weigh("-j").arg(fixture.at(name)).under(strace).run().clean();
        std::fs::read_to_string(log.path()).unwrap().matches("clone").count()
    };
    for small in ["empty", "few", "few/a", "few/c"] {
        assert_eq!(threads(small), 0, "{small}");
    }
    assert!(threads("tree") > 0);
}
