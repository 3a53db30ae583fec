//! What proves that something comes back, and what speaks against it: as far as names tell.

use std::ffi::CStr;
use std::sync::Arc;

use smallvec::SmallVec;

use super::markers::{Marked, MarkerSet, Markers};
use super::rule::{ReclaimRule, RulePlace, names_of};
use crate::base::inode::MountedDevice;
use crate::base::measure::Kind;
use crate::fs::git::REPOSITORIES;
use crate::scan::containers::LAYOUTS;

/// All rules, with what they ask for.
#[derive(Debug)]
pub(super) struct Proofs {
    markers: Markers,
    rules: Vec<Proof>,
    /// For each marker, the rules that have a place with this last name.
    finding: Vec<RuleNumbers>,
    /// For each rule that says what files are called: these names, and the sign that a file is called otherwise.
    only: Vec<(MarkerSet, usize)>,
    /// What the top of a work tree has in it.
    repositories: MarkerSet,
    /// What a repository of git without a work tree has in it, and the sign of one.
    bare: ([usize; 3], usize),
    /// For each rule that says where repositories may be: the names on the way there, each with the sign that what has such
    /// names in it has a repository elsewhere.
    git: Vec<Vec<(MarkerSet, usize)>>,
    /// The markers in an engine's storage by each of the layouts (one of each set), and the sign of a storage.
    storage: (Vec<Vec<MarkerSet>>, usize),
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
    /// One of each must be in it, and beside it.
    has: Vec<MarkerSet>,
    beside: Vec<MarkerSet>,
    /// What must not be in it.
    lacks: MarkerSet,
    /// What must not be in the directory that takes the place of all that is found in it.
    apart: MarkerSet,
    /// What must be nowhere below it.
    never: MarkerSet,
    /// The sign of a repository where the rule allows none, if it allows any.
    astray: Option<usize>,
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
    /// The signs that a repository is not where a rule allows it, from this directory on.
    astray: MarkerSet,
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
        let mut storage = Vec::with_capacity(LAYOUTS.len());
        for layout in &LAYOUTS {
            let any_of = |any: &&str| {
                let parts = any.split('|').flat_map(|part| match part.strip_prefix('=') {
                    Some(file) => markers.path(file, Marked::File),
                    None => markers.path(part, Marked::Directory),
                });
                parts.collect()
            };
            storage.push(layout.parts.iter().map(any_of).collect());
        }
        let mut all = Self {
            bare: (bare, markers.sign("bare")),
            repositories: markers.names(&REPOSITORIES.map(in_any_case), Marked::Anything),
            storage: (storage, markers.sign("storage")),
            mounts: markers.sign("mounts"),
            only: Vec::new(),
            git: Vec::new(),
            rules: Vec::new(),
            finding: Vec::new(),
            markers,
        };
        rules.iter().for_each(|rule| all.add_rule(rule));
        all
    }

    fn add_rule(&mut self, rule: &Arc<ReclaimRule>) {
        let (number, markers) = (self.rules.len(), &mut self.markers);
        let mut never = markers.names(&rule.never, Marked::Anything);
        never.insert(self.storage.1);
        never.insert(self.mounts);
        let on_the_way =
            names_of(&rule.git).filter(|_| !rule.is_work_tree()).enumerate().map(|(level, any)| {
                let names = any.split('|').collect::<Vec<_>>();
                let sign = markers.sign(&format!("git {number} {level}"));
                (markers.names(&names, Marked::Directory), sign)
            });
        let on_the_way: Vec<_> = on_the_way.collect();
        let astray = on_the_way.first().map(|(_, sign)| *sign);
        self.git.extend(astray.map(|_| on_the_way));
        if astray.is_none() && !rule.is_work_tree() {
            never.add(&self.repositories);
            never.insert(self.bare.1);
        }
        if !rule.only.is_empty() {
            let sign = markers.sign(&number.to_string());
            self.only.push((markers.names(&rule.only, Marked::Leaf), sign));
            never.insert(sign);
        }
        // Files may lie beside what is joined only where `only` says which.
        let is_alone = !rule.join.is_empty() && rule.only.is_empty();
        let apart = is_alone.then(|| markers.name("*", Marked::Leaf)).into_iter().collect();
        let of = if rule.file { Marked::Leaf } else { Marked::Directory };
        for name in rule.at.iter().filter_map(|at| names_of(at).next_back()) {
            let marker = markers.name(name, of);
            self.finding.resize(self.finding.len().max(marker + 1), RuleNumbers::new());
            self.finding[marker].push(number);
        }
        let mut has: Vec<_> = rule.has.iter().map(|any| markers.any_of(any)).collect();
        if !rule.tag.is_empty() {
            has.push(markers.names(&[&rule.tag], Marked::Leaf));
        }
        self.rules.push(Proof {
            number,
            rule: Arc::clone(rule),
            at: RulePlace::all(&rule.at),
            join: RulePlace::all(&rule.join),
            has,
            beside: rule.beside.iter().map(|any| markers.any_of(any)).collect(),
            lacks: markers.names(&rule.lacks, Marked::Anything),
            apart,
            never,
            astray,
        });
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
            if !markers.iter().any(|marker| wanted.has(*marker)) {
                above.below.insert(*sign);
            }
        }
        markers.iter().for_each(|marker| above.here.insert(*marker));
        above.below.add(&inside.below);
        if inside.below.meets(&self.repositories) || inside.below.has(self.bare.1) {
            for on_the_way in &self.git {
                for (level, (names, sign)) in on_the_way.iter().enumerate() {
                    let further = on_the_way.get(level + 1);
                    let is_allowed = markers.iter().any(|marker| names.has(*marker))
                        && further.is_none_or(|(_, sign)| !inside.astray.has(*sign));
                    if !is_allowed {
                        above.astray.insert(*sign);
                    }
                }
            }
        }
        self.finding(&markers, inside)
    }

    /// The rules that may find what is one of these `markers`, and has this `inside`.
    fn finding(&self, markers: &[usize], inside: &Evidence) -> RuleNumbers {
        let by_name = markers.iter().filter_map(|marker| self.finding.get(*marker)).flatten();
        let mut rules: RuleNumbers =
            by_name.copied().filter(|number| self.rules[*number].may_be(inside)).collect();
        rules.sort_unstable();
        rules.dedup();
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

/// A glob for `name` in upper and lower case, which some file systems take for the same.
fn in_any_case(name: &CStr) -> String {
    // A glob that begins with the dot is compared only with names that do.
    let either = |c: char| match c.to_ascii_uppercase() {
        same if same == c => c.to_string(),
        upper => format!("[{c}{upper}]"),
    };
    name.to_string_lossy().chars().map(either).collect()
}

impl Evidence {
    /// All of the directory has been added.
    pub(super) fn close(&mut self, proofs: &Proofs) {
        if self.is_bare(proofs) {
            self.below.insert(proofs.bare.1);
        }
        if self.is_storage(proofs) {
            self.below.insert(proofs.storage.1);
        }
        if self.may_be_repository(proofs) {
            proofs.git.iter().flatten().for_each(|(_, sign)| self.astray.insert(*sign));
        }
        self.below.add(&self.here);
    }

    /// Whether it is the storage of a container engine, as its layout tells. Nothing in it is removed by anybody else.
    pub(super) fn is_storage(&self, proofs: &Proofs) -> bool {
        proofs.storage.0.iter().any(|layout| layout.iter().all(|any| any.meets(&self.here)))
    }

    /// The rules that find the storage which this is; none if it is no storage. It is closed.
    pub(super) fn storage_rules(&self, proofs: &Proofs) -> Option<RuleNumbers> {
        // Few directories have one in them.
        if !self.below.has(proofs.storage.1) {
            return None;
        }
        let is = |layout: &Vec<MarkerSet>| layout.iter().all(|any| any.meets(&self.here));
        let layout = LAYOUTS.get(proofs.storage.0.iter().position(is)?)?;
        let is_of_it = |proof: &Proof| proof.rule.engine == layout.engine.name;
        Some(proofs.rules.iter().position(is_of_it).into_iter().collect())
    }

    /// Whether it has a repository in it, or is one of git's.
    pub(super) fn may_be_repository(&self, proofs: &Proofs) -> bool {
        self.here.meets(&proofs.repositories) || self.is_bare(proofs)
    }

    fn is_bare(&self, proofs: &Proofs) -> bool {
        proofs.bare.0.iter().all(|marker| self.here.has(*marker))
    }

    /// Adds what is known of another part of the directory.
    pub(super) fn merge(&mut self, other: &Self, proofs: &Proofs) {
        self.here.add(&other.here);
        self.below.add(&other.below);
        self.astray.add(&other.astray);
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
    /// Whether it asks for no more of an entry than what is `inside`.
    fn may_be(&self, inside: &Evidence) -> bool {
        !self.lacks.meets(&inside.here) && self.has.iter().all(|any| any.meets(&inside.here))
    }

    /// Whether what must be beside it is in the directory of which there is `evidence`.
    pub(super) fn is_beside(&self, above: &Evidence) -> bool {
        self.beside.iter().all(|any| any.meets(&above.here))
    }

    /// Whether a directory with what is `inside` may take the place of all that was found in it.
    pub(super) fn may_join(&self, inside: &Evidence) -> bool {
        !self.apart.meets(&inside.here)
    }

    /// Whether no name below it speaks against it.
    pub(super) fn may_go(&self, inside: &Evidence) -> bool {
        !self.never.meets(&inside.below) && self.astray.is_none_or(|sign| !inside.astray.has(sign))
    }
}
