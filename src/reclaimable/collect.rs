//! What is kept during a walk of what rules may find: for each directory what its names say, and of all that is in it
//! only what a rule may find. A directory in which nothing can be found is dropped as it closes. What remains of it
//! are a sum, and the inodes with several links, which count in the directory around it that is kept.
//!
//! Whether a rule matches may depend on what is around a directory, and on the content of files. That is looked at
//! when the walk is over.

use std::iter;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use smallvec::SmallVec;

use super::Search;
use super::proof::{Evidence, Proofs, RuleNumbers};
use crate::inode::MountedDevice;
use crate::measure::{Figures, Kind, View};
use crate::tally::{Entry, Tally};
use crate::tree::{Content, Inode, MOST_EXTENTS, Node, Shape, Sums, Tree, record};

/// Keeps what rules may find.
#[derive(Debug)]
pub struct MayGo {
    proofs: Arc<Proofs>,
    /// Where what is kept is in the end.
    kept: Arc<Mutex<Option<Vec<KeptEntry>>>>,
}

/// What a walk has kept, once it is over.
#[derive(Debug)]
pub struct Collected {
    pub(super) proofs: Arc<Proofs>,
    kept: Arc<Mutex<Option<Vec<KeptEntry>>>>,
}

/// What rules may find, a directory on the way to that, or a root.
#[derive(Debug)]
pub(super) struct KeptEntry {
    pub(super) name: SmallVec<[u8; 24]>,
    pub(super) is_directory: bool,
    /// The rules that may find it.
    pub(super) rules: RuleNumbers,
    pub(super) evidence: Evidence,
    pub(super) sums: Sums,
    /// What deleting it alone frees, judging by link counts.
    pub(super) freed: u64,
    /// How many directories are directly in it.
    pub(super) directories: u64,
    /// Whether all directories in it are on its own file system.
    pub(super) is_on_one_mount: bool,
    /// How many others that are kept are below it. They come right before it.
    pub(super) below: usize,
    /// What counts in it, and in none of those.
    pub(super) own: OwnInodes,
}

/// Inodes, without those in what is kept apart.
#[derive(Debug, Default)]
pub(super) struct OwnInodes {
    /// The size of those with one link.
    pub(super) settled: u64,
    /// Those with several links: records of entries without names.
    links: Vec<u8>,
}

/// What is known of an open directory, or of a part of it.
#[derive(Debug, Default)]
pub struct MayGoPart {
    evidence: Evidence,
    own: OwnInodes,
    /// Each after those below it.
    kept: Vec<KeptEntry>,
    /// What is in it and has nothing that is kept below it. What is beside them tells whether they are kept.
    alone: Vec<KeptEntry>,
    directories: u64,
    mounted: Mounted,
}

/// Where directories are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mounted {
    /// There are none.
    #[default]
    None,
    /// All of them on this.
    On(MountedDevice),
    /// On more than one.
    OnSeveral,
}

impl MayGo {
    /// Keeps what the rules of `search` may find, and leaves it in the second.
    pub fn new(search: &Search) -> (Self, Collected) {
        let (proofs, kept) = (Arc::new(Proofs::of(&search.rules)), Arc::default());
        (Self { proofs: Arc::clone(&proofs), kept: Arc::clone(&kept) }, Collected { proofs, kept })
    }

    /// Decides about what is in a directory whose content is complete.
    fn look_around(&self, part: &mut MayGoPart) {
        let is_beside = |number: &mut usize| self.proofs.rule(*number).is_beside(&part.evidence);
        let mut end = part.kept.len();
        while let Some(entry) = end.checked_sub(1).and_then(|last| part.kept.get_mut(last)) {
            entry.rules.retain(is_beside);
            end -= 1 + entry.below;
        }
        for mut entry in mem::take(&mut part.alone) {
            entry.rules.retain(is_beside);
            match entry.rules.is_empty() {
                true => part.own.append(entry.own),
                false => part.kept.push(entry),
            }
        }
        part.evidence.close(&self.proofs);
        if part.evidence.is_storage(&self.proofs) {
            let kept = mem::take(&mut part.kept);
            kept.into_iter().for_each(|entry| part.own.append(entry.own));
        }
    }
}

impl Tally for MayGo {
    type Part = MayGoPart;

    #[inline]
    fn leaf(&self, part: &mut MayGoPart, entry: &Entry<'_>) {
        let named = (entry.stat.mode.kind(), entry.name);
        let rules = self.proofs.add(&mut part.evidence, named, &Evidence::default());
        if rules.is_empty() || entry.depth == 0 {
            part.own.add(entry);
            return;
        }
        let mut own = OwnInodes::default();
        own.add(entry);
        part.alone.push(KeptEntry { rules, own, ..KeptEntry::new(entry) });
    }

    fn merge(&self, part: &mut MayGoPart, other: MayGoPart) {
        let MayGoPart { evidence, own, kept, alone, directories, mounted } = other;
        part.evidence.add(&evidence);
        part.own.append(own);
        append(&mut part.kept, kept);
        append(&mut part.alone, alone);
        part.directories += directories;
        part.mounted = part.mounted.and(mounted);
    }

    fn close(&self, parent: &mut MayGoPart, directory: &Entry<'_>, mut part: MayGoPart) {
        self.look_around(&mut part);
        let MayGoPart { evidence, mut own, mut kept, directories, mounted, .. } = part;
        let here = Mounted::On(directory.stat.identity_on(directory.mount).mounted_device());
        let is_on_one_mount = here == here.and(mounted);
        let figures = directory.own.unwrap_or_default();
        own.settled = own.settled.saturating_add(figures.disk);

        let rules = self.proofs.add(
            &mut parent.evidence,
            (Kind::Directory, directory.name),
            &evidence,
        );
        parent.directories += 1;
        parent.mounted = parent.mounted.and(here).and(mounted);
        let is_alone = kept.is_empty() && directory.depth > 0;
        if is_alone && rules.is_empty() {
            parent.own.append(own);
            return;
        }
        let (entry, below) = (KeptEntry::new(directory), kept.len());
        let entry =
            KeptEntry { rules, evidence, directories, is_on_one_mount, below, own, ..entry };
        if is_alone {
            parent.alone.push(entry);
        } else {
            kept.push(entry);
            append(&mut parent.kept, kept);
        }
    }

    fn finish(&self, root: &Entry<'_>, mut part: MayGoPart) -> Tree {
        let mut top = MayGoPart::default();
        if root.name.is_empty() {
            self.look_around(&mut part);
            top = part;
        } else if root.stat.is_directory() {
            self.close(&mut top, root, part);
        }
        let has_too_many = root.sums.frees.is_some_and(|frees| frees.extents > MOST_EXTENTS);
        for KeptEntry { sums, .. } in &mut top.kept {
            sums.frees = sums.frees.map(|frees| frees.settled(sums, || has_too_many));
        }
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(top.kept);
        Content::default().finish(&root.node(), Shape::Directory)
    }
}

impl KeptEntry {
    fn new(entry: &Entry<'_>) -> Self {
        let is_directory = entry.stat.is_directory();
        Self {
            name: SmallVec::from_slice(entry.name),
            is_directory,
            rules: RuleNumbers::new(),
            evidence: Evidence::default(),
            sums: entry.sums,
            freed: entry.sums.seen_as(View::default()).freed(is_directory, entry.links),
            directories: 0,
            is_on_one_mount: true,
            below: 0,
            own: OwnInodes::default(),
        }
    }
}

impl OwnInodes {
    #[inline]
    fn add(&mut self, entry: &Entry<'_>) {
        let disk = entry.sums.all.disk;
        if !entry.links.are_several() {
            self.settled = self.settled.saturating_add(disk);
            return;
        }
        let sums = Sums::of(Figures { disk, ..Figures::default() });
        let inode = Some(Inode::new(entry.stat, entry.mount, entry.links, false));
        record::push(&mut self.links, &Node { sums, inode, ..Node::default() });
    }

    fn append(&mut self, other: Self) {
        self.settled = self.settled.saturating_add(other.settled);
        append(&mut self.links, other.links);
    }

    /// The size of each inode with several links, once for each link.
    pub(super) fn links(&self) -> impl Iterator<Item = (u64, Inode)> {
        let mut rest = &self.links[..];
        iter::from_fn(move || {
            let node = record::take(&mut rest)?;
            Some((node.sums.all.disk, node.inode?))
        })
    }
}

impl Mounted {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, one) | (one, Self::None) => one,
            (one, other) if one == other => one,
            _ => Self::OnSeveral,
        }
    }
}

impl Collected {
    /// What was kept; nothing if the walk has found no root.
    pub(super) fn take(&self) -> Vec<KeptEntry> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default()
    }
}

/// Adds all of `more`, in any order. The smaller list is moved.
fn append<T>(list: &mut Vec<T>, mut more: Vec<T>) {
    if list.len() < more.len() {
        mem::swap(list, &mut more);
    }
    list.append(&mut more);
}
