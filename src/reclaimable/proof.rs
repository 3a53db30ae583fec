//! What proves that something comes back, and what speaks against it: as far as names tell.

use std::sync::Arc;

use smallvec::SmallVec;

use super::markers::{Marked, MarkerSet, Markers};
use super::rule::{ReclaimRule, RulePlace, names_of};
use crate::inode::MountedDevice;
use crate::measure::Kind;

/// What has the history of a work tree, in several systems.
const REPOSITORIES: [&str; 8] =
    [".git", ".hg", ".svn", ".jj", ".bzr", "_darcs", ".pijul", ".fslckout"];

/// All rules, with what they ask for.
#[derive(Debug)]
pub(super) struct Proofs {
    markers: Markers,
    rules: Vec<Proof>,
    /// The last names of all places.
    finds: MarkerSet,
    /// For each rule that says what files are called: these names, and the sign that a file is called otherwise.
    only: Vec<(MarkerSet, usize)>,
    /// What a repository of git without a work tree has in it, and the sign of one.
    bare: ([usize; 3], usize),
    /// What tells an engine's storage (any of these pairs), and the sign of one.
    storage: ([[usize; 2]; 4], usize),
    /// The sign that directories are on several file systems.
    mounts: usize,
}

/// A rule, with what it asks for.
#[derive(Debug)]
pub(super) struct Proof {
    pub(super) number: usize,
    pub(super) rule: Arc<ReclaimRule>,
    pub(super) at: Vec<RulePlace>,
    pub(super) join: Vec<RulePlace>,
    /// The last names of the places.
    finds: MarkerSet,
    /// One of each must be in it, and beside it.
    has: Vec<MarkerSet>,
    beside: Vec<MarkerSet>,
    /// What must not be in it.
    lacks: MarkerSet,
    /// What must be nowhere below it.
    never: MarkerSet,
}

/// Rules, by their numbers.
pub(super) type RuleNumbers = SmallVec<[usize; 2]>;

/// What names say of a directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    /// The markers in it.
    here: MarkerSet,
    /// All markers below it, and signs.
    below: MarkerSet,
    /// Where it is, or a directory in it.
    device: Option<MountedDevice>,
}

impl Proofs {
    /// Of `rules`. The first one that matches decides.
    pub(super) fn of(rules: &[Arc<ReclaimRule>]) -> Self {
        let mut markers = Markers::default();
        let bare =
            [("HEAD", Marked::Leaf), ("objects", Marked::Anything), ("refs", Marked::Anything)];
        let bare = bare.map(|(name, of)| markers.name(name, of));
        let storage = [
            ["overlay2", "image"],
            ["overlay2", "containers"],
            ["overlay-layers"; 2],
            ["vfs-layers"; 2],
        ];
        let storage = storage.map(|pair| pair.map(|name| markers.name(name, Marked::Directory)));
        let mut all = Self {
            bare: (bare, markers.sign("bare")),
            storage: (storage, markers.sign("storage")),
            mounts: markers.sign("mounts"),
            only: Vec::new(),
            rules: Vec::new(),
            finds: MarkerSet::default(),
            markers,
        };
        for rule in rules {
            let proof = all.proof(rule);
            all.finds.add(&proof.finds);
            all.rules.push(proof);
        }
        all
    }

    fn proof(&mut self, rule: &Arc<ReclaimRule>) -> Proof {
        let markers = &mut self.markers;
        let mut never = markers.names(&rule.never, Marked::Anything);
        never.insert(self.storage.1);
        never.insert(self.mounts);
        if !rule.git {
            never.add(&markers.names(&REPOSITORIES, Marked::Anything));
            never.insert(self.bare.1);
        }
        if !rule.only.is_empty() {
            let sign = markers.sign(&self.rules.len().to_string());
            self.only.push((markers.names(&rule.only, Marked::Leaf), sign));
            never.insert(sign);
        }
        let of = if rule.file { Marked::Leaf } else { Marked::Directory };
        let last: Vec<_> = rule.at.iter().filter_map(|at| names_of(at).next_back()).collect();
        let mut has: Vec<_> = rule.has.iter().map(|any| markers.any_of(any)).collect();
        if !rule.tag.is_empty() {
            has.push(markers.names(&[&rule.tag], Marked::Leaf));
        }
        Proof {
            number: self.rules.len(),
            rule: Arc::clone(rule),
            at: RulePlace::all(&rule.at),
            join: RulePlace::all(&rule.join),
            finds: markers.names(&last, of),
            has,
            beside: rule.beside.iter().map(|any| markers.any_of(any)).collect(),
            lacks: markers.names(&rule.lacks, Marked::Anything),
            never,
        }
    }

    /// The rule with this number.
    pub(super) fn rule(&self, number: usize) -> &Proof {
        &self.rules[number]
    }

    /// Adds what an entry with this `name`, and this `inside`, says of the directory `above` it. Returns the rules that
    /// may find it.
    #[inline]
    pub(super) fn add(
        &self,
        above: &mut Evidence,
        (kind, name): (Kind, &[u8]),
        inside: &Evidence,
    ) -> RuleNumbers {
        let markers = self.markers.of(kind, name, &inside.here);
        for (wanted, sign) in self.only.iter().filter(|_| kind != Kind::Directory) {
            if !wanted.has_any(&markers) {
                above.below.insert(*sign);
            }
        }
        markers.iter().for_each(|marker| above.here.insert(*marker));
        above.below.add(&inside.below);
        self.finding(&markers, inside)
    }

    /// The rules that may find what is one of these `markers`, and has this `inside`.
    fn finding(&self, markers: &[usize], inside: &Evidence) -> RuleNumbers {
        let mut rules = RuleNumbers::new();
        if self.finds.has_any(markers) {
            let found = self.rules.iter().filter(|proof| proof.may_find(markers, inside));
            rules.extend(found.map(|proof| proof.number));
        }
        rules
    }

    /// The rules that may find a directory called `name`, which is in no other.
    pub(super) fn finding_root(&self, name: &[u8], inside: &Evidence) -> RuleNumbers {
        let mut top = Evidence::default();
        let mut rules = self.add(&mut top, (Kind::Directory, name), inside);
        rules.retain(|number| self.rules[*number].beside.is_empty());
        rules
    }
}

impl Evidence {
    /// All of the directory has been added.
    pub(super) fn close(&mut self, proofs: &Proofs) {
        let (bare, is_bare) = &proofs.bare;
        if bare.iter().all(|marker| self.here.has(*marker)) {
            self.below.insert(*is_bare);
        }
        if self.is_storage(proofs) {
            self.below.insert(proofs.storage.1);
        }
        self.below.add(&self.here);
    }

    /// Whether it is the storage of a container engine, as its layout tells. Nothing in it is removed by anybody else.
    pub(super) fn is_storage(&self, proofs: &Proofs) -> bool {
        proofs.storage.0.iter().any(|pair| pair.iter().all(|marker| self.here.has(*marker)))
    }

    /// Adds what is known of another part of the directory.
    pub(super) fn merge(&mut self, other: &Self, proofs: &Proofs) {
        self.here.add(&other.here);
        self.below.add(&other.below);
        other.device.iter().for_each(|device| self.is_on(*device, proofs));
    }

    /// It, or a directory in it, is on `device`. What has a mount in it may not go.
    pub(super) fn is_on(&mut self, device: MountedDevice, proofs: &Proofs) {
        if *self.device.get_or_insert(device) != device {
            self.below.insert(proofs.mounts);
        }
    }
}

impl Proof {
    /// Whether it asks for no more of an entry than these `markers`, and what is `inside`.
    fn may_find(&self, markers: &[usize], inside: &Evidence) -> bool {
        self.finds.has_any(markers)
            && !self.lacks.meets(&inside.here)
            && self.has.iter().all(|any| any.meets(&inside.here))
    }

    /// Whether what must be beside it is in the directory of which there is `evidence`.
    pub(super) fn is_beside(&self, above: &Evidence) -> bool {
        self.beside.iter().all(|any| any.meets(&above.here))
    }

    /// Whether no name `below` it speaks against it.
    pub(super) fn may_go(&self, inside: &Evidence) -> bool {
        !self.never.meets(&inside.below)
    }
}
