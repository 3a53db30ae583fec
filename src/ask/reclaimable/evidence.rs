//! The second look, from which `clean --apply` removes and `clean -j` makes a plan. The first look finds entries by
//! names alone. The second one applies the same rules again, and keeps what removing compares: of each entry that was
//! found, and of everything below it, name, inode, length and time of the last change.

use std::collections::{BTreeMap, HashMap};
use std::iter;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::{Checked, Reclaim, Search};
use crate::base::escape::escape;
use crate::base::path;
use crate::remove::{self, ProtectedPaths};
use crate::scan::filter::Spared;
use crate::sys::{self, Holder, InUse};
use crate::tree::tally::{Entries, Entry, Inodes, Tally, Whole};
use crate::tree::{Child, Content, Details, Inode, Place, Step, Traversal, Tree};

/// What is kept of inodes.
pub const EVIDENCE: Inodes = Inodes { of: Entries::All, details: Entries::All, fingerprints: true };

/// Keeps some entries with everything below them, and the directories on the way there.
#[derive(Debug)]
pub struct EvidenceTally {
    whole: Whole,
    ways: Arc<Ways>,
}

/// The names on the way to the entries that are kept: a tree of names. The first names are those of roots.
#[derive(Debug, Default)]
struct Ways(Vec<HashMap<Box<[u8]>, NextWay>>);

/// The number of the names after a name, and whether the entry there is kept.
type NextWay = (usize, bool);

/// What is kept of a directory or of a part of it.
#[derive(Debug, Default)]
pub struct EvidencePart {
    at: At,
    content: Content,
}

/// Where a directory is.
#[derive(Clone, Copy, Debug, Default)]
enum At {
    /// Nothing in it is kept.
    #[default]
    Outside,
    /// On the way to an entry that is kept; its number among the ways.
    OnTheWay(usize),
    /// It is kept with everything in it.
    Within,
}

impl EvidenceTally {
    /// For entries with these names, the first of which are the roots as given.
    pub fn of<'n>(entries: impl IntoIterator<Item = &'n [Vec<u8>]>) -> Self {
        let mut ways = Ways(vec![HashMap::new()]);
        for names in entries {
            let mut at = 0;
            for (i, name) in names.iter().enumerate() {
                let new = ways.0.len();
                let (next, is_kept) =
                    ways.0[at].entry(name.as_slice().into()).or_insert((new, false));
                *is_kept |= i + 1 == names.len();
                at = *next;
                if at == new {
                    ways.0.push(HashMap::new());
                }
            }
        }
        Self { whole: Whole { inodes: EVIDENCE }, ways: Arc::new(ways) }
    }

    /// Where the directory called `name` is, in one that is `at`.
    fn step(&self, at: At, name: &[u8]) -> At {
        let At::OnTheWay(number) = at else { return at };
        match self.ways.0.get(number).and_then(|names| names.get(name)) {
            None => At::Outside,
            Some((_, true)) => At::Within,
            Some((next, false)) => At::OnTheWay(*next),
        }
    }
}

impl Tally for EvidenceTally {
    type Part = EvidencePart;
    type Answer = Tree;

    fn is_live(&self) -> bool {
        true
    }

    fn open(&self, parent: Option<&EvidencePart>, name: &[u8]) -> EvidencePart {
        let top = At::OnTheWay(0);
        let at = match parent {
            // Above several roots.
            None if name.is_empty() => top,
            None => self.step(top, name),
            Some(parent) => self.step(parent.at, name),
        };
        EvidencePart { at, ..EvidencePart::default() }
    }

    fn begin_part(&self, so_far: &EvidencePart) -> EvidencePart {
        EvidencePart { at: so_far.at, ..EvidencePart::default() }
    }

    fn leaf(&self, part: &mut EvidencePart, entry: &Entry<'_>) {
        if matches!(self.step(part.at, entry.name), At::Within) {
            self.whole.leaf(&mut part.content, entry);
        }
    }

    fn merge(&self, part: &mut EvidencePart, other: EvidencePart) {
        self.whole.merge(&mut part.content, other.content);
    }

    fn close(&self, parent: &mut EvidencePart, directory: &Entry<'_>, part: EvidencePart) {
        if !matches!(part.at, At::Outside) {
            self.whole.close(&mut parent.content, directory, part.content);
        }
    }

    fn finish(&self, root: &Entry<'_>, part: EvidencePart) -> Tree {
        self.whole.finish(root, part.content)
    }
}

/// The second look: its tree, and what may be removed of it.
pub(super) struct Evidence<'a> {
    tree: &'a Tree,
    /// Where each entry is that the first look found.
    places: HashMap<Vec<u8>, Place>,
    search: &'a Search,
    spared: Spared<'a>,
    /// The entries that other processes use; none if nobody can tell.
    in_use: Option<&'a InUse>,
}

impl<'a> Evidence<'a> {
    pub(super) fn new(
        tree: &'a Tree,
        found: &[Reclaim],
        search: &'a Search,
        in_use: Option<&'a InUse>,
    ) -> Self {
        let paths: BTreeMap<_, _> = found.iter().map(|one| (one.path.clone(), &one.path)).collect();
        let places = tree.at_paths(&paths).into_iter();
        let places = places.map(|(place, path)| ((*path).clone(), place)).collect();
        let spared = Spared::new(&search.spared, tree.roots().map(|root| root.name()));
        Self { tree, places, search, spared, in_use }
    }

    /// Takes what may be removed for targets, with their evidence; and says why the rest of `found` may not be.
    pub(super) fn examine(&self, found: &mut [Reclaim]) {
        let (roots, paths) =
            ProtectedPaths::around(self.tree.roots().map(|it| it.name()), &self.search.homes);
        let protected = Arc::new(paths);
        let mut places = Vec::new();
        for (number, one) in found.iter_mut().enumerate() {
            let place = self.places.get(&one.path).copied();
            one.doubt = match place {
                None => Some("it was not there at the first look".to_owned()),
                Some(place) => self.spared(one).or_else(|| self.doubt(self.tree.at(place))),
            };
            places.extend(place.filter(|_| one.doubt.is_none()).map(|place| (number, place)));
        }
        let root = |name: &[u8]| Some(sys::to_path(roots.get(name)?).into_owned());
        let all = places.iter().map(|(_, place)| *place);
        let targets = remove::targets(self.tree, all, root, &protected);
        for ((number, place), target) in places.into_iter().zip(targets) {
            let looked = target.and_then(|mut target| {
                remove::look(&mut target)?;
                Ok(target)
            });
            match looked {
                Ok(target) => {
                    let top = self.tree.at(place);
                    let evidence = digest(top);
                    let identity = top.inode().map_or_else(Default::default, |it| it.identity);
                    let info = None;
                    found[number].checked =
                        Some(Checked { target, place, identity, evidence, info });
                }
                Err(why) => found[number].doubt = Some(why.to_string()),
            }
        }
    }

    /// Which filter spares it or a directory around it, in words, if one does.
    fn spared(&self, one: &Reclaim) -> Option<String> {
        let (root, names) = one.names.split_first()?;
        let mut paths = (1..=names.len()).map(|end| join(&names[..end]));
        let is_spared = paths.any(|path| self.spared.has(root, &path, true));
        is_spared.then(|| "-X or --exclude spares it".to_owned())
    }

    /// Why an entry must not go, if there is a reason in it.
    fn doubt(&self, top: Child<'_>) -> Option<String> {
        let Some(in_use) = self.in_use else {
            return Some("nobody can tell which files are in use: there is no /proc".to_owned());
        };
        let within = |child: &Child<'_>| {
            let names = child.names().into_iter().skip(top.names().len());
            let path = path::join_all(names);
            if path.is_empty() { "it".to_owned() } else { escape(&path) }
        };
        entries_of(top).find_map(|child| {
            let inode = child.inode();
            let Some(Details { owner, .. }) = inode.and_then(|inode| inode.details) else {
                return Some("it was not read completely".to_owned());
            };
            if owner != sys::user_id() && !self.search.owners.contains(&owner) {
                let name = sys::user_name(owner).unwrap_or_else(|| owner.to_string());
                return Some(format!("{} belongs to {}", within(&child), escape(name.as_bytes())));
            }
            let used = used(in_use, &child);
            if used.is_some() || self.spared.is_none() {
                return used;
            }
            let names = child.names();
            let names = if self.tree.root().is_total() { &names[1..] } else { &names[..] };
            let (root, below) = names.split_first()?;
            let below = path::join_all(below.iter().copied());
            let is_spared = self.spared.has(root, &below, child.is_directory());
            is_spared.then(|| format!("-X or --exclude spares {}", within(&child)))
        })
    }
}

fn join(names: &[Vec<u8>]) -> Vec<u8> {
    path::join_all(names.iter().map(Vec::as_slice))
}

/// Why roots of `tree`, which has the [`EVIDENCE`], must not go: each root with a reason in it, by its name.
pub fn doubts(tree: &Tree, search: &Search) -> HashMap<Vec<u8>, String> {
    let in_use = sys::in_use().ok();
    let evidence = Evidence::new(tree, &[], search, in_use.as_ref());
    let doubts = tree.roots().map(|root| Some((root.name().to_vec(), evidence.doubt(root)?)));
    doubts.flatten().collect()
}

/// Which process uses an entry, in words, if one does.
fn used(in_use: &InUse, child: &Child<'_>) -> Option<String> {
    in_use.of(child.inode()?.identity).map(Holder::to_string)
}

/// Which process uses something at `place` in `tree`, in words, if one does.
pub fn used_within(in_use: &InUse, tree: &Tree, place: Place) -> Option<String> {
    entries_of(tree.at(place)).find_map(|child| used(in_use, &child))
}

/// An entry and everything below it.
fn entries_of(top: Child<'_>) -> impl Iterator<Item = Child<'_>> {
    let leaf = top.id().is_none().then_some(top);
    let inside = top.all_directories().flat_map(|it| iter::once(it).chain(it.leaves()));
    leaf.into_iter().chain(inside)
}

/// A SHA-256 of the evidence: of each entry, in the order of their paths, its depth and name, its inode, its length, and
/// its times. Two scans of the same entries have the same.
fn digest(top: Child<'_>) -> String {
    let mut hash = Sha256::new();
    let mut traversal: Traversal<Child<'_>, ()> = Traversal::new(top);
    while let Some(step) = traversal.next() {
        let Step::Node(child) = step else { continue };
        let node = child.node();
        let mut number = |number: u64| hash.update(number.to_le_bytes());
        number(traversal.depth() as u64);
        number(child.name().len() as u64);
        hash.update(child.name());
        let mut number = |number: u64| hash.update(number.to_le_bytes());
        number(node.mode.file_type().into());
        let Some(Inode { identity, details, .. }) = node.inode else { continue };
        number(identity.device);
        number(identity.number);
        if child.is_directory() {
            // Its own times are those of its content.
            let mut inside: Vec<_> = child.unsorted().collect();
            inside.sort_unstable_by(|one, other| one.name().cmp(other.name()));
            traversal.enter((), inside);
        } else {
            number(node.sums.all.length);
            let changed = details.map_or(0, |details| details.changed);
            number(changed.cast_unsigned());
        }
        number(node.fingerprint.map_or(0, u64::from));
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
