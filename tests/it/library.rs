//! The library as another program uses it: what the program cannot do, but its caller may.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use weigh::measure::Mode;
use weigh::tally::{Entry, Tally};
use weigh::tree::{Content, Node, Shape, Tree};
use weigh::walk::{WalkOptions, walk};

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

/// It ended the process where rayon's threads were at work.
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
            // So long that whoever watches looks several times, and sees nobody in any directory.
            thread::sleep(Duration::from_millis(500));
        }
    }

    fn finish(&self, root: &Entry<'_>, (): ()) -> Tree {
        let node = Node { sums: root.sums, mode: Mode::DIRECTORY, ..Node::default() };
        Content::default().finish(&node, Shape::Directory)
    }
}

/// Nothing was shown then.
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
