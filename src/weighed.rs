//! What weighing came to, by a walk or from a snapshot.

use crate::problem::Problem;

/// What weighing came to.
#[derive(Debug)]
pub struct Weighed<R> {
    /// The tally's report; none if no root could be read.
    pub report: Option<R>,
    /// What could not be read, sorted by path.
    pub problems: Vec<Problem>,
    /// Whether it was ended early, so that all totals are lower bounds.
    pub is_interrupted: bool,
}

impl<R> Weighed<R> {
    /// Whether everything was read; if not, all totals are lower bounds.
    pub fn is_complete(&self) -> bool {
        !self.is_interrupted && !self.problems.iter().any(Problem::is_loss)
    }
}
