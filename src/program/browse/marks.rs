//! Marks. A mark is a place in the tree, and covers everything below it. When a new tree replaces the old one, marks
//! are found again by name, and kept only if they are the same inode, as far as the tree can tell.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::freed::Freed;
use weigh::internal::inode::Links;
use weigh::internal::tree::{Child, Inode, Place, Tree};

/// The marks in a tree.
#[derive(Debug, Default)]
pub struct Marks {
    places: BTreeSet<Place>,
    freed: Freed,
}

/// Marks by name, without a tree: the names on the path from the root (without its own) to a directory, and the names
/// of its marked entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedMarks(BTreeMap<Vec<Vec<u8>>, BTreeMap<Vec<u8>, Identification>>);

/// Tells an entry from another that later gets its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identification {
    file_type: u16,
    inode: Option<Inode>,
    fingerprint: Option<u32>,
}

impl Identification {
    /// The identity of `child`.
    pub fn of(child: &Child<'_>) -> Self {
        let node = child.node();
        let is_directory = child.is_directory();
        // Left out: what changes without a new identity. Any change in a directory changes its times, and any change
        // of links the number of links.
        let inode = node.inode.map(|inode| Inode {
            links: Links::Alone,
            details: inode.details.filter(|_| !is_directory),
            ..inode
        });
        Self { file_type: node.mode.file_type(), inode, fingerprint: node.fingerprint }
    }
}

impl Identification {
    /// The inode, if the tree keeps it.
    pub fn inode(&self) -> Option<Inode> {
        self.inode
    }
}

impl Marks {
    /// Whether there are no marks.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// How many marks there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// The marked places.
    pub fn places(&self) -> impl Iterator<Item = Place> {
        self.places.iter().copied()
    }

    /// The total of the marks.
    pub fn freed(&self) -> &Freed {
        &self.freed
    }

    /// Whether `place` itself is marked.
    pub fn is_marked(&self, place: Place) -> bool {
        self.places.contains(&place)
    }

    /// Whether a directory above `place` is marked.
    pub fn is_held(&self, tree: &Tree, place: Place) -> bool {
        if self.places.is_empty() {
            return false;
        }
        let mut above = tree.at(place).parent();
        while let Some(directory) = above {
            if directory.id().is_some_and(|id| self.places.contains(&id.into())) {
                return true;
            }
            above = directory.parent();
        }
        false
    }

    /// Marks `place`, unless a directory above it is marked. Its mark replaces those below it.
    pub fn mark(&mut self, tree: &Tree, place: Place) {
        if self.is_marked(place) || self.is_held(tree, place) {
            return;
        }
        if let Some(directory) = tree.at(place).id() {
            let below: Vec<_> =
                self.places.range(Place::within(tree, directory)).copied().collect();
            below.into_iter().for_each(|place| self.unmark(tree, place));
        }
        self.places.insert(place);
        self.freed.mark(tree, place);
    }

    /// Adds up again what is marked: the view of the `tree` is another.
    pub fn add_up(&mut self, tree: &Tree) {
        self.freed = Freed::default();
        self.places.iter().for_each(|place| self.freed.mark(tree, *place));
    }

    /// Unmarks `place`.
    pub fn unmark(&mut self, tree: &Tree, place: Place) {
        if self.places.remove(&place) {
            self.freed.unmark(tree, place);
        }
    }

    /// Removes all marks.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The same marks by name.
    pub fn named(&self, tree: &Tree) -> NamedMarks {
        let mut named = NamedMarks::default();
        for place in self.places() {
            let child = tree.at(place);
            if let Some(parent) = child.parent() {
                let way = names(&parent);
                named.insert(way, child.name().to_vec(), Identification::of(&child));
            }
        }
        named
    }

    /// Finds the marks of `named` in `tree`, as far as each `may_be` marked, and counts the lost ones: their entry is
    /// gone, or another one has its name.
    pub fn find(
        tree: &Tree,
        named: &NamedMarks,
        may_be: impl Fn(&Child<'_>) -> bool,
    ) -> (Self, usize) {
        let (mut marks, mut lost) = (Self::default(), 0);
        for (way, marked) in &named.0 {
            let directory = descend(tree, way);
            let children = directory.into_iter().flat_map(Child::unsorted);
            let mut found: HashMap<&[u8], Child<'_>> = HashMap::new();
            for child in children.filter(|child| marked.contains_key(child.name())) {
                found.insert(child.name(), child);
            }
            for (name, identification) in marked {
                let is_same = |child: &&Child<'_>| {
                    Identification::of(child) == *identification && may_be(child)
                };
                let same = found.get(&**name).filter(is_same);
                match same.and_then(Child::place) {
                    Some(place) => marks.mark(tree, place),
                    None => lost += 1,
                }
            }
        }
        (marks, lost)
    }
}

impl NamedMarks {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.values().map(BTreeMap::len).sum()
    }

    /// Whether there are none.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the entry called `name` in the directory at `way` is marked.
    pub fn contains(&self, way: &[Vec<u8>], name: &[u8]) -> bool {
        self.0.get(way).is_some_and(|marked| marked.contains_key(name))
    }

    /// Whether a directory on `way` is marked.
    pub fn holds(&self, way: &[Vec<u8>]) -> bool {
        !self.0.is_empty()
            && way.iter().enumerate().any(|(depth, name)| self.contains(&way[..depth], name))
    }

    /// Marks the entry called `name` there.
    pub fn insert(&mut self, way: Vec<Vec<u8>>, name: Vec<u8>, identification: Identification) {
        self.0.entry(way).or_default().insert(name, identification);
    }

    /// Keeps only the marks for which `is_kept` is true, by the names of the directory and the name of the entry.
    pub fn retain(&mut self, is_kept: impl Fn(&[Vec<u8>], &[u8]) -> bool) {
        for (way, marked) in &mut self.0 {
            marked.retain(|name, _| is_kept(way, name));
        }
        self.0.retain(|_, marked| !marked.is_empty());
    }

    /// Unmarks it; false if it was not marked.
    pub fn remove(&mut self, way: &[Vec<u8>], name: &[u8]) -> bool {
        let Some(marked) = self.0.get_mut(way) else { return false };
        let is_removed = marked.remove(name).is_some();
        if marked.is_empty() {
            self.0.remove(way);
        }
        is_removed
    }

    /// Removes all marks.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// The names on the path from the root (without its own) to `directory`.
pub fn names(directory: &Child<'_>) -> Vec<Vec<u8>> {
    let mut names = Vec::new();
    let mut at = *directory;
    while let Some(parent) = at.parent() {
        names.push(at.name().to_vec());
        at = parent;
    }
    names.reverse();
    names
}

/// The directory at the path `way` from the root.
pub fn descend<'a>(tree: &'a Tree, way: &[Vec<u8>]) -> Option<Child<'a>> {
    way.iter().try_fold(tree.root(), |directory, name| {
        directory.directories().find(|child| child.name() == name)
    })
}
