//! Of a file, only what differs from a tree in memory: every directory's digest is compared first, and only the
//! listings of those that differ are read, and their leaves compared. Several threads share the work.

use std::iter::Peekable;
use std::sync::mpsc::Receiver;
use std::{io, vec};

use super::blocks::damaged;
use super::listings::{Directory, ListedEntry};
use super::pieces::{CUT_OFF, ensure_depth, take_leaf};
use super::write::start;
use super::{SavedListings, set_times};
use crate::base::parallel::{self, Helpers};
use crate::tree::tally::{Inodes, Whole};
use crate::tree::total::{AnyReplay, Replay, Shown};
use crate::tree::{Child, DirectoryId, LeafRecord, Node, Tree, UnchangedParts, record};

/// A thread gets directories with about so many blocks at a time. What is in two shares is unpacked twice.
const SHARE: u64 = 8;

/// Leaves before and now, packed.
type Leaves = [Box<[u8]>; 2];

/// The listings of a file, and the digests of its directories, by their numbers, if it has them.
#[derive(Debug)]
pub struct Digested {
    pub(super) listings: SavedListings,
    pub(super) digests: Vec<u64>,
}

impl Digested {
    /// The tree in the file, with these `inodes`, and without what is the same in `now`; and what that is. Roots are
    /// always there.
    ///
    /// # Errors
    /// The system's, and those of a damaged file.
    pub fn changed(self, now: &Tree, inodes: Inodes) -> io::Result<(Tree, UnchangedParts)> {
        let Self { listings, digests: was } = self;
        let share = listings.directories_in(SHARE);
        let comparison = Comparison { was, is: now.digests(None), share };
        let (root, was) = (now.root(), listings.root.clone());
        let is_unchanged = root.is_directory() && root.is_total() == listings.is_total;
        let replay = Replay::new(Whole { inodes }, listings.is_total.into(), None);
        let mut part = ComparedPart::new(replay);
        let root = Both { was: was.clone(), now: Some(root).filter(|_| is_unchanged) };
        // With less than a share, there is nothing to give away.
        let threads = if was.numbers.end > share { parallel::cores() } else { 0 };
        parallel::with_helpers(threads, |helpers| {
            part.compare(&comparison, listings.in_order(), vec![root], Some(helpers))
        })?;
        let mut directories = vec![false; comparison.is.len()];
        for id in part.unchanged {
            directories[id.index()] = true;
        }
        let others = part.others.into_iter().collect();
        Ok((part.replay.finish(&was.node()), UnchangedParts { directories, others }))
    }
}

/// What is known of all directories.
struct Comparison {
    /// Their digests before and now, by their numbers.
    was: Vec<u64>,
    is: Vec<u64>,
    /// How many directories a thread gets at a time.
    share: u64,
}

/// A directory of the file that is to be read, and what it is now.
struct Both<'t> {
    was: Directory,
    now: Option<Child<'t>>,
}

/// What a thread has found out.
struct ComparedPart {
    /// Gets the directories that differ.
    replay: Replay<Whole>,
    /// The directories that are unchanged, by their numbers now.
    unchanged: Vec<DirectoryId>,
    /// Of the others, the leaves that differ.
    others: Vec<(DirectoryId, Leaves)>,
}

/// Parts that other threads have been given.
type Given = Vec<Receiver<io::Result<ComparedPart>>>;

impl ComparedPart {
    fn new(replay: Replay<Whole>) -> Self {
        Self { replay, unchanged: Vec::new(), others: Vec::new() }
    }

    /// Compares `directories` of the innermost open one, and all below them. Those that are small go to `helpers`.
    fn compare<'t: 's, 's>(
        &mut self,
        comparison: &'s Comparison,
        mut listings: SavedListings,
        directories: Vec<Both<'t>>,
        helpers: Option<&Helpers<'_, 's>>,
    ) -> io::Result<()> {
        // Each directory that is to be opened, or closed after what is in it.
        let mut ahead: Vec<_> = directories.into_iter().rev().map(|both| (both, None)).collect();
        while let Some((both, given)) = ahead.pop() {
            let Some(given): Option<Given> = given else {
                ensure_depth(self.replay.depth() as usize)?;
                self.replay.open();
                let mut below = self.list(comparison, &mut listings, &both)?;
                let give = |helpers| self.give(comparison, &listings, &mut below, helpers);
                let given = helpers.map(give);
                ahead.push((both, Some(given.unwrap_or_default())));
                ahead.extend(below.into_iter().rev().map(|both| (both, None)));
                continue;
            };
            for part in given {
                // If a thread panics, so does the one that waits for all.
                let part = part.recv().map_err(io::Error::other)??;
                self.replay.merge(part.replay);
                self.unchanged.extend(part.unchanged);
                self.others.extend(part.others);
            }
            if both.was.numbers.start > 0 {
                self.replay.close(&both.was.node(), Shown::Always);
            }
        }
        Ok(())
    }

    /// Gives `helpers` those `directories` of the innermost open one that are small.
    fn give<'t: 's, 's>(
        &self,
        comparison: &'s Comparison,
        listings: &SavedListings,
        directories: &mut Vec<Both<'t>>,
        helpers: &Helpers<'_, 's>,
    ) -> Given {
        let size = |both: &Both<'t>| both.was.numbers.end - both.was.numbers.start;
        let shares = parallel::shares(directories, comparison.share, size).into_iter();
        let given = shares.map(|share| {
            let (listings, mut part) =
                (listings.in_order(), ComparedPart::new(self.replay.begin_part()));
            helpers.give(move || part.compare(comparison, listings, share, None).map(|()| part))
        });
        given.collect()
    }

    /// Reads the listing of a directory. Returns its subdirectories that differ.
    fn list<'t>(
        &mut self,
        comparison: &Comparison,
        listings: &mut SavedListings,
        both: &Both<'t>,
    ) -> io::Result<Vec<Both<'t>>> {
        let now = both.now;
        let mut is: Vec<_> = now.into_iter().flat_map(Child::directories).collect();
        is.sort_unstable_by_key(Child::name);
        let mut is = is.into_iter().peekable();
        // All roots are shown.
        let are_roots = listings.are_roots(both.was.numbers.start);
        let has_times = listings.has_times;
        let mut leaves = now.filter(|_| !are_roots).map(|now| Differing::new(now, has_times));
        let (mut below, mut compared) = (Vec::new(), Ok(()));
        listings.entries(both.was.numbers.clone(), leaves.is_some(), |listed| match listed {
            ListedEntry::Directory(node, numbers) => {
                while is.next_if(|is| is.name() < node.name).is_some() {}
                let now = is.next_if(|is| is.name() == node.name);
                let unchanged = now
                    .filter(|now| !are_roots && comparison.is_unchanged(numbers.start, node, now));
                match unchanged.and_then(|now| now.id()) {
                    Some(id) => self.unchanged.push(id),
                    None => below.push(Both { was: Directory::new(numbers, node), now }),
                }
            }
            ListedEntry::Leaf(node) => self.replay.leaf(node, true),
            ListedEntry::Leaves(was) => {
                if let (Some(leaves), Ok(())) = (&mut leaves, &compared) {
                    compared = leaves.add(was);
                }
            }
        })?;
        compared?;
        let differing = leaves.map(Differing::finish).zip(now.and_then(|now| now.id()));
        self.others.extend(differing.map(|(leaves, id)| (id, leaves)));
        Ok(below)
    }
}

impl Comparison {
    /// Whether the directory with this `number` is the same `now`. Somebody may choose names so that digests are, and
    /// nothing should grow unseen.
    fn is_unchanged(&self, number: u64, node: &Node<'_>, now: &Child<'_>) -> bool {
        let digest = usize::try_from(number).ok().and_then(|number| self.was.get(number));
        digest.is_some()
            && digest == now.id().and_then(|id| self.is.get(id.index()))
            && now.view().size(&node.sums.all) == now.size()
    }
}

/// Finds the leaves that differ between a listing and a directory. Where several have one name, or are not in their
/// order, it may find some that do not differ.
struct Differing<'t> {
    now: Child<'t>,
    has_times: bool,
    /// The leaves now, by name, from the one on that comes next.
    is: Peekable<vec::IntoIter<LeafRecord<'t>>>,
    only_was: Vec<u8>,
    only_is: Vec<u8>,
}

impl<'t> Differing<'t> {
    fn new(now: Child<'t>, has_times: bool) -> Self {
        let mut is: Vec<_> = now.leaf_records().collect();
        is.sort_unstable_by_key(|(name, size, _)| (start(name), *name, *size));
        let (only_was, only_is) = Default::default();
        Self { now, has_times, is: is.into_iter().peekable(), only_was, only_is }
    }

    /// Compares the next ones of the listing, which are packed.
    fn add(&mut self, mut rest: &[u8]) -> io::Result<()> {
        let mut last = b"".as_slice();
        while !rest.is_empty() {
            let leaves = rest;
            let brief = record::take_brief(&mut rest);
            let (name, (figures, _)) = brief.ok_or_else(|| damaged(CUT_OFF))?;
            let size = self.now.view().size(&figures);
            while let Some((.., new)) = self.is.next_if(|(is, ..)| *is < name) {
                self.only_is.extend_from_slice(new);
            }
            if self.is.next_if(|(is, now, _)| (*is, *now) == (name, size)).is_some() {
                last = name;
                continue;
            }
            rest = leaves;
            take_leaf(&mut rest, &mut last, false, |leaf| {
                set_times(leaf, self.has_times);
                record::push(&mut self.only_was, leaf);
            })?;
        }
        Ok(())
    }

    fn finish(mut self) -> Leaves {
        self.is.for_each(|(.., new)| self.only_is.extend_from_slice(new));
        [self.only_was.into(), self.only_is.into()]
    }
}
