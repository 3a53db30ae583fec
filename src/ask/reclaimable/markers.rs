//! What the names of entries mean to rules. Each name that a rule asks for is a marker, and has a number. What is in a
//! directory is to the rules the set of its markers: nothing else needs to be kept of it.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use indexmap::IndexSet;
use smallvec::SmallVec;

use super::rule::names_of;
use crate::base::measure::Kind;
use crate::fs::git::Glob;

/// A set of markers.
#[derive(Clone, Debug, Default)]
pub(super) struct MarkerSet(SmallVec<[u64; 6]>);

/// The markers that an entry is: mostly none.
pub(super) type EntryMarkers = SmallVec<[usize; 8]>;

/// All markers.
#[derive(Debug, Default)]
pub(super) struct Markers {
    all: IndexSet<Marker, RandomState>,
    exact: HashMap<Vec<u8>, Vec<usize>, RandomState>,
    /// Globs, by the byte that all names begin with which they match, or end with. Names are compared with few of them.
    globs: Vec<Vec<(Glob, usize)>>,
}

/// Where globs are whose names begin with a byte, at the number of that byte; or end with it, after this; or neither.
const BY_LAST: usize = 256;
const NEITHER: usize = 512;

/// A name that a rule asks for.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Marker {
    /// A glob.
    name: String,
    of: Marked,
    /// The marker that must be in it, where a rule asks for a path.
    within: Option<usize>,
}

/// What must have the name of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Marked {
    /// Anything.
    Anything,
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// Anything but a directory.
    Leaf,
}

impl MarkerSet {
    pub(super) fn insert(&mut self, marker: usize) {
        let word = marker / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (marker % 64);
    }

    #[inline]
    pub(super) fn has(&self, marker: usize) -> bool {
        self.0.get(marker / 64).is_some_and(|word| word >> (marker % 64) & 1 == 1)
    }

    /// Adds all of `other`.
    pub(super) fn add(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }

    /// Whether one of them is in both.
    pub(super) fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(one, other)| one & other != 0)
    }
}

impl FromIterator<usize> for MarkerSet {
    fn from_iter<I: IntoIterator<Item = usize>>(markers: I) -> Self {
        let mut set = Self::default();
        markers.into_iter().for_each(|marker| set.insert(marker));
        set
    }
}

impl Markers {
    /// The number of the marker called `name`.
    pub(super) fn name(&mut self, name: &str, of: Marked) -> usize {
        self.insert(name, of, None)
    }

    /// Those called as one of `names`, or at one of such relative paths.
    pub(super) fn names(&mut self, names: &[impl AsRef<str>], of: Marked) -> MarkerSet {
        names.iter().filter_map(|name| self.path(name.as_ref(), of)).collect()
    }

    /// A marker for something else that is known of a directory. No entry has such a name.
    pub(super) fn sign(&mut self, what: &str) -> usize {
        self.name(&format!("/{what}"), Marked::Anything)
    }

    /// Those for relative paths with `|` between: one of them must be there. With a slash at the end, it is a directory,
    /// and else a regular file. Nothing else proves anything.
    pub(super) fn any_of(&mut self, paths: &str) -> MarkerSet {
        let of = |path: &str| if path.ends_with('/') { Marked::Directory } else { Marked::File };
        paths.split('|').filter_map(|path| self.path(path, of(path))).collect()
    }

    /// The one at a relative path, if that has a name.
    pub(super) fn path(&mut self, path: &str, of: Marked) -> Option<usize> {
        let mut names = names_of(path).rev();
        let last = self.name(names.next()?, of);
        Some(names.fold(last, |within, name| self.insert(name, Marked::Directory, Some(within))))
    }

    fn insert(&mut self, name: &str, of: Marked, within: Option<usize>) -> usize {
        const SPECIAL: &[u8] = b"*?[]\\";
        let marker = Marker { name: name.to_owned(), of, within };
        let (number, is_new) = self.all.insert_full(marker);
        let is_glob = name.bytes().any(|byte| SPECIAL.contains(&byte));
        if is_new && is_glob {
            let is_sure = |byte: &u8| !SPECIAL.contains(byte);
            let first = name.bytes().next().filter(is_sure).map(usize::from);
            let last = name.bytes().last().filter(is_sure).map(|byte| BY_LAST + usize::from(byte));
            self.globs.resize_with(NEITHER + 1, Vec::new);
            self.globs[first.or(last).unwrap_or(NEITHER)]
                .push((Glob::new(name.as_bytes(), false), number));
        } else if is_new {
            self.exact.entry(name.into()).or_default().push(number);
        }
        number
    }

    /// The markers that an entry called `name` is, which has those `inside` in it.
    #[inline]
    pub(super) fn of(&self, kind: Kind, name: &[u8], inside: &MarkerSet) -> EntryMarkers {
        let exact = self.exact.get(name).into_iter().flatten().copied();
        let first = name.first().map(|byte| usize::from(*byte));
        let last = name.last().map(|byte| BY_LAST + usize::from(*byte));
        let ends = [first, last, Some(NEITHER)].into_iter().flatten();
        let globs = ends.filter_map(|end| self.globs.get(end)).flatten();
        let globs = globs.filter(|(_, number)| self.all[*number].may_be(kind, inside));
        let globs = globs.filter(|(glob, _)| glob.is_match(name)).map(|(_, number)| *number);
        exact.filter(|number| self.all[*number].may_be(kind, inside)).chain(globs).collect()
    }
}

impl Marker {
    fn may_be(&self, kind: Kind, inside: &MarkerSet) -> bool {
        let is_directory = kind == Kind::Directory;
        let is_of = match self.of {
            Marked::Anything => true,
            Marked::File => kind == Kind::File,
            Marked::Directory => is_directory,
            Marked::Leaf => !is_directory,
        };
        is_of && self.within.is_none_or(|within| inside.has(within))
    }
}
