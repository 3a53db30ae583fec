//! What weighing came to, by a walk or from a snapshot.

use crate::problem::Problem;
use crate::tree::Tree;

/// What weighing came to.
#[derive(Debug, Default)]
pub struct Weighed {
    /// The tree of what was kept; none if no root could be read.
    pub report: Option<Tree>,
    /// What could not be read, sorted by path.
    pub problems: Vec<Problem>,
    /// Whether it was ended early, so that all totals are lower bounds.
    pub is_interrupted: bool,
    /// The paths of the directories that may lack something because it was ended early; none if nobody knows them.
    pub unfinished: Option<Vec<Vec<u8>>>,
}

impl Weighed {
    /// Whether everything was read; if not, all totals are lower bounds.
    pub fn is_complete(&self) -> bool {
        !self.is_interrupted && !self.problems.iter().any(Problem::is_loss)
    }
}
