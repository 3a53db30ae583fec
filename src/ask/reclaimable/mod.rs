//! What can go: directories and files that rules know to come back, what each frees, and what all free together.
//!
//! During the walk, only what a rule may find is kept, by names alone (`collect`). When it is over, files are opened:
//! the tags that prove it, and the index of the work trees around it. It deletes nothing and runs nothing.
//!
//! A rule that matches a directory decides about it, and about all in it: what is in doubt is not listed.

mod collect;
mod expected;
mod finder;
mod markers;
mod proof;
mod rule;

use std::path::PathBuf;
use std::sync::Arc;

use collect::{KeptEntry, OwnInodes};
use finder::Finder;

use crate::tree::sum::Freed;
use crate::tree::{Freeable, Report};

pub use collect::{Findable, RuleTally};
pub use rule::ReclaimRule;

/// The rules that come with weigh, as TOML.
pub const BUILT_IN: &str = include_str!("rules.toml");

/// What to look for.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The rules. The first one that matches decides.
    pub rules: Vec<Arc<ReclaimRule>>,
    /// Nothing in it must have been written after this time, in seconds since the epoch.
    pub older: Option<i64>,
    /// The home directories of the user. None is listed, nor a directory in which one lies.
    pub homes: Vec<PathBuf>,
    /// How many to list.
    pub lines: usize,
    /// How many bytes each of them frees at least.
    pub min_size: u64,
    /// Whether the walk may not have entered all mounts below its roots.
    pub leaves_out_mounts: bool,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Reclaimable {
    /// What can be made or downloaded again, what frees most first.
    pub found: Vec<Reclaim>,
    /// How many are not listed: after the first ones, or because they are small.
    pub more: usize,
    /// What all of them free together, those that are not listed included.
    pub frees: Freeable,
    /// What cannot be made again, or may have something in it that cannot.
    pub others: Vec<Reclaim>,
    /// How many of those are not listed.
    pub more_others: usize,
    /// The end of a message that nothing was found: the flag that finds more, or the reason; empty if nothing was read.
    pub hint: &'static str,
}

/// Something that can go.
#[derive(Debug)]
pub struct Reclaim {
    /// Where it is: a path that begins with the root as given.
    pub path: Vec<u8>,
    /// Its number among what was kept, and that of its rule.
    entry: usize,
    number: usize,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Its size on disk.
    pub size: u64,
    /// What deleting it alone frees.
    pub frees: Freeable,
    /// When something in it was last written; of what a project makes, something in the project.
    pub written: i64,
    /// The name of the user that it belongs to, if that is another.
    pub owner: Option<String>,
    /// The command that removes it.
    pub command: Option<String>,
    /// The path of something in it that its rule does not expect, and that may be somebody's own.
    pub unexpected: Option<Vec<u8>>,
    /// The rule that found it.
    pub rule: Arc<ReclaimRule>,
}

/// What can go of what was `findable`; nothing if the walk was interrupted, or could read nothing.
pub fn find(findable: Option<Findable>, report: &Report, search: &Search) -> Reclaimable {
    let Some(Findable { proofs, entries }) = findable.filter(|_| !report.is_interrupted) else {
        return Reclaimable::default();
    };
    let found = Finder::new(&proofs, &entries, &report.problems, search).found();
    let (mut others, mut found): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|one| one.rule.is_final() || one.unexpected.is_some());
    others.retain(|one| one.rule.is_final() || one.frees.most > 0);
    let mut freed = Freed::default();
    for one in &found {
        freed.add_sharing(entries[one.entry].freed(), entries[one.entry].sums.frees);
        for own in own_inodes(&entries, one) {
            freed.add(own.single, None);
            own.links().for_each(|(size, inode)| freed.add(size, Some(inode)));
        }
    }
    let frees = freed.freed(found.iter().any(|one| one.frees.least < one.frees.most));
    // All the links of something in it must be in what is found.
    found.retain(|one| {
        let mut links = own_inodes(&entries, one).flat_map(OwnInodes::links);
        one.frees.most > 0
            || own_inodes(&entries, one).any(|own| own.single > 0)
            || links.any(|(size, inode)| size > 0 && freed.has_all(inode.identity))
    });
    let all = [found.len(), others.len()];
    for list in [&mut found, &mut others] {
        list.retain(|one| one.frees.most >= search.min_size);
        list.sort_by(|one, two| {
            (two.frees.most, two.size, &one.path).cmp(&(one.frees.most, one.size, &two.path))
        });
        list.truncate(search.lines);
    }
    let (more, more_others) = (all[0] - found.len(), all[1] - others.len());
    let hint = match search.older {
        Some(_) => ": --older 0h includes what was written lately",
        None if all == [0, 0] => {
            ": a directory needs a marker beside it, such as Cargo.toml beside target"
        }
        None => "",
    };
    Reclaimable { found, more, frees, others, more_others, hint }
}

/// What counts in `one` of the `entries`.
fn own_inodes<'e>(
    entries: &'e [KeptEntry],
    one: &Reclaim,
) -> impl Iterator<Item = &'e OwnInodes> + use<'e> {
    let first = one.entry - entries[one.entry].below;
    entries[first..=one.entry].iter().map(|entry| &entry.own)
}
