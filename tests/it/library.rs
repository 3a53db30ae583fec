//! The library as another program uses it: what the program cannot do, but its caller may.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use weigh::internal::measure::Mode;
use weigh::internal::tally::{Entry, Tally};
use weigh::internal::tree::{Content, Node, Shape, Tree};
use weigh::internal::walk::{WalkOptions, walk};

use crate::fixture::Fixture;

/// Panics at the entry with this number.
struct Panics(usize, AtomicUsize);

impl Tally for Panics {
    type Part = ();

    fn leaf(&self, (): &mut (), _: &Entry<'_>) {
        assert_ne!(self.1.fetch_add(1, Ordering::Relaxed), self.0, "a tally that panics");
    }

    fn merge(&self, (): &mut (), (): ()) {}

    fn close(&self, (): &mut (), _: &Entry<'_>, (): ()) {}

    fn finish(&self, _: &Entry<'_>, (): ()) -> Tree {
        Tree::default()
    }
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
        let weighed = catch_unwind(AssertUnwindSafe(|| {
            walk(roots, WalkOptions::default(), tally, |_| ()).weighed.report
        }));
        let panic = weighed.expect_err("the panic is lost");
        let message = panic.downcast_ref::<String>().expect("a message");
        assert!(message.contains("a tally that panics"), "{message}");
    }
}

/// Takes long to close a directory, during which the walk is interrupted.
struct Slow(Arc<AtomicBool>);

impl Tally for Slow {
    type Part = ();

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
    let weighed = walk(roots, options, Slow(interrupt), |_| ()).weighed;
    assert!(weighed.is_interrupted);
    assert!(weighed.report.is_some_and(|tree| tree.root().totals().entries > 0));
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
