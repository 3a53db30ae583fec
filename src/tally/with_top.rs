//! Keeps everything, to be saved, and beside it the largest, which are shown. So nobody looks for them in the whole
//! tree afterwards.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Entry, Tally, Top, Whole};
use crate::tally::candidates::Candidates;
use crate::tree::{Content, Tree};

/// Keeps everything, and leaves the largest where its maker finds them.
#[derive(Debug)]
pub struct WithTop {
    /// What keeps everything.
    pub whole: Whole,
    /// What keeps the largest.
    pub top: Top,
    /// Where the largest are in the end.
    pub largest: Arc<Mutex<Option<Tree>>>,
}

impl Tally for WithTop {
    type Part = (Content, Candidates);

    fn begin_part(&self, (content, candidates): &Self::Part) -> Self::Part {
        (self.whole.begin_part(content), self.top.begin_part(candidates))
    }

    fn leaf(&self, (content, candidates): &mut Self::Part, entry: &Entry<'_>) {
        self.whole.leaf(content, entry);
        self.top.leaf(candidates, entry);
    }

    fn merge(&self, (content, candidates): &mut Self::Part, other: Self::Part) {
        self.whole.merge(content, other.0);
        self.top.merge(candidates, other.1);
    }

    fn close(&self, parent: &mut Self::Part, directory: &Entry<'_>, part: Self::Part) {
        self.whole.close(&mut parent.0, directory, part.0);
        self.top.close(&mut parent.1, directory, part.1);
    }

    fn finish(&self, root: &Entry<'_>, (content, candidates): Self::Part) -> Tree {
        let largest = self.top.finish(root, candidates);
        *self.largest.lock().unwrap_or_else(PoisonError::into_inner) = Some(largest);
        self.whole.finish(root, content)
    }
}
