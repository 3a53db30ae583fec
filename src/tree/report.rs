//! What weighing came to, by a walk or from a snapshot.

use crate::sys::problem::{Operation, Problem};
use crate::tree::{Child, Tree};

/// What weighing came to.
#[derive(Debug, Default)]
pub struct Report<A = Tree> {
    /// The answer: as a rule, the tree of what was kept. None if no root could be read.
    pub answer: Option<A>,
    /// What could not be read, sorted by path.
    pub problems: Vec<Problem>,
    /// Whether it was ended early, so that all totals are lower bounds.
    pub is_interrupted: bool,
    /// The paths of the directories that may lack something because it was ended early; none if nobody knows them.
    pub unfinished: Option<Vec<Vec<u8>>>,
}

impl Report {
    /// Notes which totals are as large as a number can be, and so are lower bounds: a problem for each directory with one
    /// in which no other directory has one.
    pub fn check_totals(&mut self) {
        self.problems.retain(|problem| problem.operation != Operation::Add);
        let is_at_most = |child: &Child<'_>| child.is_directory() && child.size() == u64::MAX;
        let roots = self.answer.iter().flat_map(Tree::roots);
        let mut open: Vec<_> = roots.filter(is_at_most).collect();
        let before = self.problems.len();
        while let Some(directory) = open.pop() {
            let length = open.len();
            open.extend(directory.directories().filter(is_at_most));
            if open.len() == length {
                self.problems.push(Problem::too_large(directory.path()));
            }
        }
        // Of several roots, and of groups.
        let root = self.answer.as_ref().map(Tree::root);
        if self.problems.len() == before && root.is_some_and(|root| root.size() == u64::MAX) {
            self.problems.push(Problem::too_large(b"(total)".to_vec()));
        }
        // Those of a snapshot keep their order.
        if self.problems.len() > before {
            self.problems.sort_unstable();
        }
    }
}

impl<A> Report<A> {
    /// Whether everything was read; if not, all totals are lower bounds.
    pub fn is_complete(&self) -> bool {
        !self.is_interrupted && !self.problems.iter().any(Problem::is_loss)
    }
}
