//! The library as another program uses it: what the program cannot do, but its caller may.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use weigh::internal::base::measure::Mode;
use weigh::internal::scan::walk::{WalkOptions, walk};
use weigh::internal::tree::tally::{Entry, Tally};
use weigh::internal::tree::{Content, Node, Shape, Tree};
use weigh::{Interrupt, Kind, Measure, Operation, Outcome, Request};

use crate::fixture::Fixture;

/// Panics at the entry with this number.
struct Panics(usize, AtomicUsize);

impl Tally for Panics {
    type Part = ();
    type Answer = ();

    fn leaf(&self, (): &mut (), _: &Entry<'_>) {
        assert_ne!(self.1.fetch_add(1, Ordering::Relaxed), self.0, "a tally that panics");
    }

    fn merge(&self, (): &mut (), (): ()) {}

    fn close(&self, (): &mut (), _: &Entry<'_>, (): ()) {}

    fn finish(&self, _: &Entry<'_>, (): ()) {}
}

/// Once, this ended the process if rayon's threads were at work.
#[test]
fn a_tally_that_panics_ends_the_walk_and_its_caller_is_told() {
    let mut fixture = Fixture::in_memory();
    for dir in 0..50 {
        fixture = fixture.sparse(format!("{dir}/below/file"), 0);
    }
    for entry in [0, 20, 49] {
        let roots = vec![fixture.path().as_os_str().to_owned()];
        let tally = Panics(entry, AtomicUsize::new(0));
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            walk(roots, WalkOptions::default(), tally, |_| ()).report.answer
        }));
        let panic = outcome.expect_err("the panic is lost");
        let message = panic.downcast_ref::<String>().expect("a message");
        assert!(message.contains("a tally that panics"), "{message}");
    }
}

/// Takes long to close a directory, during which the walk is interrupted.
struct Slow(Arc<AtomicBool>);

impl Tally for Slow {
    type Part = ();
    type Answer = Tree;

    fn leaf(&self, (): &mut (), _: &Entry<'_>) {}

    fn merge(&self, (): &mut (), (): ()) {}

    fn close(&self, (): &mut (), _: &Entry<'_>, (): ()) {
        if !self.0.swap(true, Ordering::Relaxed) {
            // Long enough for the progress thread to see several times that nothing moves.
            thread::sleep(Duration::from_millis(500));
        }
    }

    fn finish(&self, root: &Entry<'_>, (): ()) -> Tree {
        let node = Node { sums: root.sums, mode: Mode::DIRECTORY, ..Node::default() };
        Content::default().finish(&node, Shape::Directory)
    }
}

/// Once, nothing was shown then.
#[test]
fn an_interrupt_while_a_directory_closes_leaves_a_report() {
    let mut fixture = Fixture::in_memory();
    for dir in 0..50 {
        fixture = fixture.dir(format!("{dir}/below"));
    }
    let interrupt = Arc::new(AtomicBool::new(false));
    let options = WalkOptions { interrupt: Arc::clone(&interrupt), ..WalkOptions::default() };
    let roots = vec![fixture.path().as_os_str().to_owned()];
    let report = walk(roots, options, Slow(interrupt), |_| ()).report;
    assert!(report.is_interrupted);
    assert!(report.answer.is_some_and(|tree| tree.root().totals().entries > 0));
}

/// Who uses the library alone builds nothing that only the program needs.
#[test]
fn the_library_alone_needs_nothing_of_the_program() {
    let names = |flags: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
        cargo.args(["tree", "--locked", "--offline", "--edges", "normal", "--prefix", "none"]);
        let listed = cargo.args(flags).output().unwrap();
        assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
        let listed = String::from_utf8(listed.stdout).unwrap();
        let names = listed.lines().filter_map(|line| line.split(' ').next());
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let (all, alone) = (names(&[]), names(&["--no-default-features"]));
    let program = [
        "clap",
        "clap_mangen",
        "crossterm",
        "parquet",
        "ratatui-core",
        "signal-hook",
        "strsim",
        "toml",
    ];
    for name in program {
        assert!(all.iter().any(|other| other == name), "{name} is not needed at all");
        assert!(!alone.iter().any(|other| other == name), "the library needs {name}");
    }
}

/// What the front page of the library does not show.
#[test]
fn requests_and_entries_do_what_they_say() {
    let fixture = Fixture::in_memory()
        .file("tree/a/large", 30_000)
        .file("tree/a/small", 10)
        .file("tree/b/other", 20_000)
        .file("tree/c.o", 40_000)
        .hard_link("tree/a/large", "outside");
    let tree = fixture.at("tree");
    let request = Request::of([&tree]).measure(Measure::Apparent);
    let outcome = weigh::run(&request).unwrap();
    let root = outcome.root();
    assert!(outcome.is_complete() && outcome.problems().is_empty());
    assert_eq!((root.size(), root.shared(), root.entries()), (90_010, 30_000, 7));
    assert_eq!(
        (root.path(), root.kind(), root.parent().is_none()),
        (tree.clone(), Kind::Directory, true)
    );
    assert_eq!((root.figures().files, root.figures().inodes), (4, 7));
    assert_eq!((root.sizes(), root.growth(), root.moved_from()), (None, None, None));
    let names = |outcome: &Outcome| {
        let children = outcome.root().children();
        children.iter().map(|entry| entry.name().into_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&outcome), [Path::new("c.o"), Path::new("a"), Path::new("b")]);
    let large = root.children()[1].children()[0];
    assert_eq!(large.path(), tree.join("a/large"));
    assert_eq!((large.parent().unwrap().name(), large.kind()), (Path::new("a").into(), Kind::File));

    let without = request.clone().exclude("*.o").unwrap().threads(NonZeroUsize::MIN);
    assert_eq!(names(&weigh::run(&without).unwrap()), [Path::new("a"), Path::new("b")]);
    let refused = request.clone().exclude("a/[b").unwrap_err();
    assert_eq!(refused.to_string(), "a bracket is not closed, or a backslash stands at the end");
    let few = weigh::run(&request.clone().largest(2).one_file_system()).unwrap();
    assert_eq!(names(&few), [Path::new("c.o"), Path::new("a")]);
    assert_eq!(few.root().size(), 90_010);

    let interrupt = Interrupt::default();
    interrupt.is_asked.store(true, Ordering::SeqCst);
    let ended = weigh::run(&request.clone().interrupted_by(&interrupt)).unwrap();
    assert!(!ended.is_complete() && ended.root().size() < 90_010);

    let missing = weigh::run(&Request::of([fixture.at("nothing")])).unwrap_err();
    assert_eq!(
        (missing.path(), missing.operation),
        (fixture.at("nothing").into(), Operation::Stat)
    );
    assert!(missing.to_string().ends_with("nothing: No such file or directory"), "{missing}");
}

/// What a request leaves out is in the snapshot that it saves, as if the program had saved it.
#[test]
fn a_snapshot_says_what_a_request_left_out() {
    let fixture = Fixture::in_memory().file("tree/kept", 10).file("tree/left.o", 20);
    let (tree, saved) = (fixture.at("tree"), fixture.at("saved.weigh"));
    let request = Request::of([&tree]).exclude("*.o").unwrap().one_file_system();
    weigh::run(&request.clone().save_to(&saved)).unwrap();
    let same = weigh::run(&request.since(&saved)).unwrap();
    assert_eq!(same.root().growth(), Some(0));
    let other = weigh::run(&Request::of([&tree]).since(&saved)).unwrap_err();
    assert_eq!(other.operation, Operation::Compare);
    assert!(other.message.contains("--exclude=*.o"), "{other}");
}
