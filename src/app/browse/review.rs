//! The state of removing: the review, the removal in progress, and what is to be scanned again after it.

use std::collections::VecDeque;
use std::sync::Arc;

use super::event::Ending;
use super::follow::Gone;
use weigh::internal::base::measure::Time;
use weigh::internal::remove::{Fate, Manner, RemovalEvent, Target, Trashed};
use weigh::internal::sys::ExactStat;
use weigh::internal::sys::problem::Problem;
use weigh::internal::tree::Place;

/// The state of removing.
#[derive(Debug, Default)]
pub(super) struct Removals {
    pub(super) review: Option<Review>,
    /// The number of the last review. Results of earlier ones are ignored.
    pub(super) reviews: u64,
    pub(super) running: Option<RunningRemoval>,
    /// Whether the removal is cancelled.
    pub(super) is_cancelled: bool,
    /// How the program ends after the removal, if it does.
    pub(super) ending: Option<Ending>,
    /// What this run has moved into the trash, in this order.
    pub(super) trashed: Vec<TrashedEntry>,
    /// The entries that are to be deleted from the trash, or are being deleted.
    pub(super) emptying: Vec<(Arc<Trashed>, Target)>,
    /// Whether the trash is being emptied.
    pub(super) is_emptying: bool,
    /// The number of the last removal.
    pub(super) batches: u64,
    /// What the last removal or undo left behind, and then why it kept entries.
    pub(super) problems: Vec<Problem>,
    /// What all of them left behind under names that weigh made: entries, and directories of its own.
    pub(super) left: Vec<Problem>,
    /// Whether one of them did not do everything.
    pub(super) has_failed: bool,
    /// Whether they are still to be shown.
    pub(super) has_news: bool,
    /// The directories to scan again.
    pub(super) rescans: VecDeque<Rescan>,
}

/// A directory to scan again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rescan {
    /// The names on the path from the root (without its own).
    pub(super) way: Vec<Vec<u8>>,
    /// Whether entries in it were deleted that are still in the tree.
    pub(super) takes_links: bool,
}

/// The marked entries, which are looked at again.
#[derive(Debug)]
pub(super) struct Review {
    pub(super) number: u64,
    pub(super) marks: Vec<ReviewedMark>,
    pub(super) is_looked: bool,
    /// Whether it is of the chosen line, which was marked only for it.
    pub(super) is_of_line: bool,
}

/// A marked entry.
#[derive(Debug)]
pub(super) struct ReviewedMark {
    /// Its number when the review began.
    pub(super) number: usize,
    pub(super) place: Place,
    /// None until it has been looked at; or the reason why it must not be removed.
    pub(super) target: Result<Option<Target>, String>,
    /// What the rules of the view "clean" say against removing it.
    pub(super) warning: Option<String>,
}

/// An entry that is in the trash.
#[derive(Debug)]
pub(super) struct TrashedEntry {
    /// The number of the removal.
    pub(super) batch: u64,
    /// Its size, as it was shown, and in bytes.
    pub(super) size: String,
    pub(super) bytes: u64,
    pub(super) trashed: Arc<Trashed>,
}

/// A target of a removal in progress.
#[derive(Debug)]
pub(super) struct RunningTarget {
    /// The directory that it is in, as names from the root on.
    pub(super) way: Vec<Vec<u8>>,
    pub(super) name: Vec<u8>,
    pub(super) is_directory: bool,
    /// Its size, as it is shown, and in bytes.
    pub(super) size: String,
    pub(super) bytes: u64,
}

/// A removal in progress.
#[derive(Debug)]
pub(super) struct RunningRemoval {
    pub(super) manner: Manner,
    pub(super) targets: Vec<RunningTarget>,
    /// The number of entries.
    pub(super) entries: u64,
    pub(super) progress: RemovalProgress,
    /// What is not taken out of the tree yet.
    pub(super) gone: Gone,
}

/// The progress of a removal since the last report.
#[derive(Debug, Default)]
pub struct RemovalProgress {
    /// The number of removed entries.
    pub(super) removed: u64,
    /// The name of the last entry.
    pub(super) name: Vec<u8>,
    /// The numbers of targets that have been removed since.
    gone: Vec<usize>,
    /// The attributes of finished directories, each with the number of a target in it.
    directories: Vec<(usize, ExactStat)>,
}

impl RemovalProgress {
    /// Adds `event`.
    pub fn add(&mut self, event: RemovalEvent<'_>) {
        match event {
            RemovalEvent::Before { name, removed, .. } => {
                self.removed = removed;
                self.name.clear();
                self.name.extend_from_slice(name);
            }
            RemovalEvent::Done { target, outcome } => {
                if matches!(outcome.fate, Fate::Deleted | Fate::Trashed(_)) {
                    self.gone.push(target);
                }
            }
            RemovalEvent::Left { target, stat } => self.directories.push((target, *stat)),
        }
    }
}

impl Review {
    /// The targets that can be removed.
    pub(super) fn targets(&self) -> impl Iterator<Item = &Target> {
        self.marks.iter().filter_map(|mark| mark.target.as_ref().ok()?.as_ref())
    }

    /// How many marks must not be removed, as far as that is known.
    pub(super) fn refused(&self) -> usize {
        self.marks.iter().filter(|mark| mark.target.is_err()).count()
    }
}

impl Removals {
    /// Notes what a removal or an undo `left` behind, and the other `reasons` why it did not do everything.
    pub(super) fn fail(&mut self, left: Vec<Problem>, reasons: impl IntoIterator<Item = Problem>) {
        self.problems = left.clone();
        self.problems.extend(reasons);
        self.left.extend(left);
        self.has_failed |= !self.problems.is_empty();
    }

    /// Adds what has been removed since the last report. Of directories, this `time` is kept.
    pub(super) fn add(&mut self, progress: RemovalProgress, time: Option<Time>) {
        let Some(running) = &mut self.running else { return };
        for number in &progress.gone {
            if let Some(RunningTarget { way, name, .. }) = running.targets.get(*number) {
                running.gone.entry(way.clone()).or_default().names.insert(name.clone());
            }
        }
        for (number, stat) in &progress.directories {
            if let Some(RunningTarget { way, .. }) = running.targets.get(*number) {
                running.gone.entry(way.clone()).or_default().own = Some(stat.stat.figures(time));
            }
        }
        running.progress = progress;
    }

    /// Takes the targets of a review back, with the reasons why some must not be removed.
    pub(super) fn looked(&mut self, number: u64, looked: Vec<(usize, Result<Target, String>)>) {
        let review = self.review.as_mut().filter(|review| review.number == number);
        let Some(review) = review else { return };
        for (number, target) in looked {
            let at = review.marks.binary_search_by_key(&number, |mark| mark.number);
            if let Some(mark) = at.ok().and_then(|at| review.marks.get_mut(at)) {
                mark.target = target.map(Some);
            }
        }
        review.is_looked = true;
    }

    /// Notes that a directory is to be scanned again, unless one above it is. In place of many, it notes the one that
    /// contains them.
    pub(super) fn rescan_later(&mut self, way: Vec<Vec<u8>>, mut takes_links: bool) {
        /// Each takes at least a tenth of a second: so often does the loop look for results.
        const MOST: usize = 50;
        let around = self.rescans.iter_mut().find(|known| way.starts_with(&known.way));
        if let Some(around) = around {
            around.takes_links |= takes_links;
            return;
        }
        self.rescans.retain(|known| {
            let is_in_it = known.way.starts_with(&way);
            takes_links |= is_in_it && known.takes_links;
            !is_in_it
        });
        self.rescans.push_back(Rescan { way, takes_links });
        if self.rescans.len() > MOST {
            let around = self.rescans.iter().map(|it| &*it.way).reduce(|one, other| {
                let shared = one.iter().zip(other).take_while(|(one, other)| one == other).count();
                &one[..shared]
            });
            self.rescan_later(around.unwrap_or_default().to_vec(), false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each was compared with all others.
    #[test]
    fn few_are_to_be_scanned_again_however_many_could_not_be_deleted() {
        let mut removals = Removals::default();
        for number in 0..100_000 {
            let name = format!("{number}").into_bytes();
            removals.rescan_later(vec![b"a".to_vec(), b"b".to_vec(), name], number == 7);
            assert!(removals.rescans.len() <= 50, "{number}");
        }
        let around = Rescan { way: vec![b"a".to_vec(), b"b".to_vec()], takes_links: true };
        assert_eq!(removals.rescans, [around]);
        removals.rescan_later(vec![b"c".to_vec()], false);
        assert_eq!(removals.rescans.len(), 2);
    }
}
