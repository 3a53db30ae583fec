//! What is kept during a walk of what rules may find: for each directory what its names say, and of all that is in it
//! only what a rule may find. A directory in which nothing can be found is dropped as it closes. What remains of it
//! are a sum, and the inodes with several links, which count in the directory around it that is kept.
//!
//! Whether a rule matches may depend on what is around a directory, and on the content of files. That is looked at
//! when the walk is over.

use std::iter;
use std::mem;
use std::sync::Arc;

use smallvec::SmallVec;

use super::Search;
use super::proof::{Evidence, Proofs, RuleNumbers};
use crate::base::measure::{Figures, Kind};
use crate::tree::tally::{Entry, Tally};
use crate::tree::{Content, Inode, MOST_EXTENTS, Node, Shape, Sums, Tree, record};

/// Keeps what rules may find.
#[derive(Debug)]
pub struct RuleTally {
    proofs: Arc<Proofs>,
}

/// What rules may find in all that was weighed.
#[derive(Debug)]
pub struct Findable {
    pub(super) proofs: Arc<Proofs>,
    pub(super) entries: Vec<KeptEntry>,
}

/// What rules may find, a directory on the way to that, or a root.
#[derive(Debug, Default)]
pub(super) struct KeptEntry {
    pub(super) name: SmallVec<[u8; 24]>,
    pub(super) is_directory: bool,
    /// The rules that may find it.
    pub(super) rules: RuleNumbers,
    pub(super) evidence: Evidence,
    pub(super) sums: Sums,
    /// How many directories are directly in it.
    pub(super) directories: u64,
    /// How many others that are kept are below it. They come right before it.
    pub(super) below: usize,
    /// What counts in it, and in none of those.
    pub(super) own: OwnInodes,
}

/// Inodes, without those in what is kept apart.
#[derive(Debug, Default)]
pub(super) struct OwnInodes {
    /// The size of those with one link.
    pub(super) single: u64,
    /// Those with several links: records of entries without names.
    links: Vec<u8>,
}

/// What is known of an open directory, or of a part of it.
#[derive(Debug, Default)]
pub struct RulePart {
    evidence: Evidence,
    own: OwnInodes,
    /// Each after those below it.
    kept: Vec<KeptEntry>,
    /// What is in it and has nothing that is kept below it. What is beside them tells whether they are kept.
    alone: Vec<KeptEntry>,
    directories: u64,
}

impl RuleTally {
    /// Keeps what the rules of `search` may find.
    pub fn new(search: &Search) -> Self {
        Self { proofs: Arc::new(Proofs::of(&search.rules)) }
    }

    /// Decides about what is in a directory whose content is complete.
    fn look_around(&self, part: &mut RulePart) {
        let is_beside = |number: &mut usize| self.proofs.rule(*number).is_beside(&part.evidence);
        let mut end = part.kept.len();
        while let Some(entry) = end.checked_sub(1).and_then(|last| part.kept.get_mut(last)) {
            entry.rules.retain(is_beside);
            end -= 1 + entry.below;
        }
        for mut entry in mem::take(&mut part.alone) {
            entry.rules.retain(is_beside);
            if entry.rules.is_empty() { part.own.append(entry.own) } else { part.kept.push(entry) }
        }
        part.evidence.close(&self.proofs);
        if part.evidence.is_storage(&self.proofs) {
            let kept = mem::take(&mut part.kept);
            kept.into_iter().for_each(|entry| part.own.append(entry.own));
        }
    }
}

impl Tally for RuleTally {
    type Part = RulePart;
    /// The root alone comes with it.
    type Answer = (Tree, Findable);

    #[inline]
    fn leaf(&self, part: &mut RulePart, entry: &Entry<'_>) {
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

    fn merge(&self, part: &mut RulePart, other: RulePart) {
        let RulePart { evidence, own, kept, alone, directories } = other;
        part.evidence.merge(&evidence, &self.proofs);
        part.own.append(own);
        append(&mut part.kept, kept);
        append(&mut part.alone, alone);
        part.directories += directories;
    }

    fn close(&self, parent: &mut RulePart, directory: &Entry<'_>, mut part: RulePart) {
        let device = directory.stat.identity_on(directory.mount).mounted_device();
        part.evidence.is_on(device, &self.proofs);
        self.look_around(&mut part);
        let RulePart { evidence, mut own, mut kept, directories, .. } = part;
        let figures = directory.own.unwrap_or_default();
        own.single = own.single.saturating_add(figures.disk);
        let mut rules =
            self.proofs.add(&mut parent.evidence, (Kind::Directory, directory.name), &evidence);
        if let Some(storage) = evidence.storage_rules(&self.proofs) {
            rules = storage;
        }
        parent.evidence.is_on(device, &self.proofs);
        parent.directories += 1;
        let is_alone = kept.is_empty() && directory.depth > 0;
        if is_alone && rules.is_empty() {
            parent.own.append(own);
            return;
        }
        let (entry, below) = (KeptEntry::new(directory), kept.len());
        let entry = KeptEntry { rules, evidence, directories, below, own, ..entry };
        if is_alone {
            parent.alone.push(entry);
        } else {
            kept.push(entry);
            append(&mut parent.kept, kept);
        }
    }

    fn finish(&self, root: &Entry<'_>, mut part: RulePart) -> (Tree, Findable) {
        let mut top = RulePart::default();
        if root.name.is_empty() {
            self.look_around(&mut part);
            top = part;
        } else if root.stat.is_directory() {
            self.close(&mut top, root, part);
        }
        let has_too_many = root.sums.frees.is_some_and(|frees| frees.extents > MOST_EXTENTS);
        for KeptEntry { sums, .. } in &mut top.kept {
            sums.frees = sums.frees.map(|frees| frees.reproducible(sums, || has_too_many));
        }
        let findable = Findable { proofs: Arc::clone(&self.proofs), entries: top.kept };
        (Content::default().finish(&root.node(), Shape::Directory), findable)
    }
}

impl KeptEntry {
    fn new(entry: &Entry<'_>) -> Self {
        Self {
            name: SmallVec::from_slice(entry.name),
            is_directory: entry.stat.is_directory(),
            sums: entry.sums,
            ..Self::default()
        }
    }

    /// What deleting it alone frees, judging by link counts.
    pub(super) fn freed(&self) -> u64 {
        let Sums { all, shared, .. } = &self.sums;
        if self.is_directory { all.disk.saturating_sub(shared.disk) } else { self.own.single }
    }
}

impl OwnInodes {
    #[inline]
    fn add(&mut self, entry: &Entry<'_>) {
        let disk = entry.sums.all.disk;
        if !entry.links.are_several() {
            self.single = self.single.saturating_add(disk);
            return;
        }
        let sums = Sums::of(Figures { disk, ..Figures::default() });
        let inode = Some(Inode::new(entry.stat, entry.mount, entry.links, false));
        record::push(&mut self.links, &Node { sums, inode, ..Node::default() });
    }

    fn append(&mut self, other: Self) {
        self.single = self.single.saturating_add(other.single);
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

/// Adds all of `more`, in any order. The smaller list is moved.
fn append<T>(list: &mut Vec<T>, mut more: Vec<T>) {
    if list.len() < more.len() {
        mem::swap(list, &mut more);
    }
    list.append(&mut more);
}
