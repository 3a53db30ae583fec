//! Replaces and removes subtrees.
//!
//! What the directories above come to then cannot be computed here, because there may be other links to inodes that
//! are gone: `total::add_up` does.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::{Bound, RangeInclusive};
use std::{iter, mem};

use super::{
    Child, Content, DirectoryId, Inode, Node, PackedDirectory, Place, Shape, Step, Sums, Traversal,
    Tree, adopt, below, record,
};
use crate::base::inode::{Identity, Links, MountedDevice};
use crate::base::measure::{Figures, Mode};
use crate::base::parallel;
use crate::base::path;

impl Tree {
    /// A copy of a directory with everything below it, as a tree of its own.
    pub fn part(&self, directory: DirectoryId) -> Tree {
        let directories = self.directories.get(self.numbers_within(directory));
        self.alone(directories.unwrap_or_default().to_vec())
    }

    /// The same tree, whose root is called `name`.
    #[must_use]
    pub fn named(mut self, name: &[u8]) -> Tree {
        if let Some(root) = self.directories.last_mut() {
            root.block = root.with(&Node { name, ..root.node() });
        }
        self
    }

    /// `directories` as a tree of their own.
    fn alone(&self, mut directories: Vec<PackedDirectory>) -> Tree {
        if let Some(root) = directories.last_mut() {
            root.up = 0;
        }
        Tree { directories, shape: self.shape, view: self.view }
    }

    /// The numbers of a directory and all below it.
    fn numbers_within(&self, DirectoryId(id): DirectoryId) -> RangeInclusive<usize> {
        id.saturating_sub(below(&self.directories, id)) as usize..=id as usize
    }

    /// Replaces a directory by the root of `other`, with everything below it, under the name of the directory. What
    /// the directories above come to stays as it was. The numbers of directories change; returns that of the new one.
    pub fn replace(&mut self, old: DirectoryId, mut other: Tree) -> DirectoryId {
        let Some(&PackedDirectory { below, up, .. }) = self.directories.get(old.index()) else {
            return old;
        };
        if let Some(root) = other.directories.last_mut() {
            let name = self.directory(old).name();
            root.block = root.with(&Node { name, ..root.node() });
        }
        let (first, added) = (old.0 - below, other.directories.len() as u32);
        self.directories.splice(first as usize..=old.index(), other.directories);
        let mut above = (up > 0).then(|| first + added + up - 1);
        while let Some(number) = above {
            let directory = &mut self.directories[number as usize];
            directory.below = directory.below + added - (below + 1);
            above = (directory.up > 0).then(|| number + directory.up);
            adopt(&mut self.directories, number);
        }
        DirectoryId((first + added).saturating_sub(1))
    }

    /// Adds a node above the root, as above several roots, if this is a tree of directories.
    #[must_use]
    pub fn below_total(self) -> Self {
        if self.shape != Shape::Directory {
            return self;
        }
        let (root, shape, view) = (self.root(), self.shape, self.view);
        let total = Node { mode: Mode::DIRECTORY, sums: root.node().sums, ..Node::default() };
        let mut content = Content::default();
        if root.is_directory() {
            content.adopt(self);
        } else {
            content.push(&root.node());
        }
        content.finish(&total, shape).in_view(view)
    }

    /// Takes a directory out with all that is below it, under another `name`. It stays in its place without
    /// anything known of it: this is for a tree that is taken apart, and dropped.
    pub fn detach(&mut self, directory: DirectoryId, name: &[u8]) -> Tree {
        let range = self.numbers_within(directory);
        let directories = self.directories.get_mut(range).into_iter().flatten();
        let directories = directories
            .map(|it| PackedDirectory { block: mem::take(&mut it.block), ..*it })
            .collect();
        let mut tree = self.alone(directories);
        if let Some(root) = tree.directories.last_mut()
            && record::name(&root.block) != name
        {
            root.block = root.with(&Node { name, ..root.node() });
        }
        tree
    }

    /// Gives each of several roots its new name, if there is one for its name in `names`.
    pub fn rename_roots(&mut self, names: &HashMap<&[u8], &[u8]>) {
        if names.is_empty() || !self.root().is_total() {
            return;
        }
        let total = self.root_id();
        let roots: Vec<_> = self.subdirectories(total).collect();
        for root in roots {
            let root = &mut self.directories[root.index()];
            let node = root.node();
            if let Some(name) = names.get(node.name) {
                root.block = root.with(&Node { name, ..node });
            }
        }
        let total = &mut self.directories[total.index()];
        total.block = total.packed_anew(&total.node(), |block, _, leaf| {
            let name = names.get(leaf.name).unwrap_or(&leaf.name);
            record::push(block, &Node { name, ..leaf });
        });
    }

    /// Says of each inode anew on which mount and device it is: what `renumber` makes of them.
    pub fn renumber(&mut self, renumber: impl Fn(MountedDevice) -> MountedDevice + Send + Sync) {
        parallel::collect(0, &mut self.directories, |directory| {
            let own = renumbered(directory.node(), &renumber);
            directory.block = directory.packed_anew(&own, |block, _, leaf| {
                record::push(block, &renumbered(leaf, &renumber));
            });
        })
    }

    /// Says what a directory comes to.
    pub fn set_sums(&mut self, directory: DirectoryId, sums: Sums) {
        if let Some(directory) = self.directories.get_mut(directory.0 as usize) {
            directory.block = directory.with(&Node { sums, ..directory.node() });
        }
    }

    /// Says what a directory comes to by itself, unless a filter leaves it out.
    pub fn set_own(&mut self, directory: DirectoryId, own: Figures) {
        if let Some(directory) = self.directories.get_mut(directory.0 as usize) {
            let node = directory.node();
            directory.block = directory.with(&Node { own: node.own.map(|_| own), ..node });
        }
    }

    /// Has a directory and all below it come to nothing, and takes that off the directories above. For files that have no
    /// link elsewhere. All numbers stay as they are.
    pub fn empty(&mut self, directory: DirectoryId) {
        let lost = self.directory(directory).node().sums;
        for id in self.numbers_within(directory) {
            let Some(directory) = self.directories.get_mut(id) else { continue };
            let node = directory.node();
            let own = node.own.map(|_| Figures::default());
            let mut block = Vec::new();
            let sums = Sums::default();
            record::push_directory(&mut block, &Node { own, sums, ..node });
            directory.block = block.into_boxed_slice();
        }
        let above: Vec<_> = iter::successors(self.directory(directory).parent(), Child::parent)
            .filter_map(|above| Some((above.id()?, above.node().sums)))
            .collect();
        for (id, sums) in above {
            let left = Sums { shared: sums.shared, frees: None, ..sums.without(&lost) };
            self.set_sums(id, left);
        }
    }

    /// Where the nodes at these paths (`Child::path`) are, each with what is given for it.
    pub fn at_paths<'v, V>(&self, paths: &'v BTreeMap<Vec<u8>, V>) -> Vec<(Place, &'v V)> {
        let mut found = Vec::new();
        let mut traversal = Traversal::new(self.root());
        while let Some(step) = traversal.next() {
            let Step::Node(node) = step else { continue };
            if let Some(given) = paths.get(traversal.path()) {
                found.extend(node.place().map(|place| (place, given)));
            }
            if node.id().is_none() {
                continue;
            }
            let below = path::join_all([traversal.path(), b""]);
            let next =
                paths.range::<[u8], _>((Bound::Included(&below[..]), Bound::Unbounded)).next();
            if next.is_some_and(|(path, _)| path.starts_with(&below)) {
                traversal.enter((), node.unsorted().collect());
            }
        }
        found
    }

    /// Adds notes to entries, by their paths.
    pub fn annotate(&mut self, notes: &BTreeMap<Vec<u8>, String>) {
        // Of each directory: by where it begins in the block, each entry that is not a directory.
        let mut leaves: HashMap<DirectoryId, HashMap<usize, &str>> = HashMap::new();
        let mut itself = Vec::new();
        for (Place { directory, offset }, note) in self.at_paths(notes) {
            match offset {
                0 => itself.push((directory, &**note)),
                at => drop(leaves.entry(directory).or_default().insert(at as usize, note)),
            }
        }
        for (id, leaves) in leaves {
            let Some(directory) = self.directories.get_mut(id.index()) else { continue };
            directory.block = directory.packed_anew(&directory.node(), |block, at, leaf| {
                let note = leaves.get(&at).copied().unwrap_or(leaf.note);
                record::push(block, &Node { note, ..leaf });
            });
        }
        for (id, note) in itself {
            let Some(directory) = self.directories.get_mut(id.index()) else { continue };
            directory.block = directory.with(&Node { note, ..directory.node() });
        }
    }

    /// Removes what is at `places`, each with all below it, but not the root. What the directories above come to
    /// stays as it was. All numbers and places change.
    pub fn remove_all(&mut self, places: &BTreeSet<Place>) {
        let mut is_gone = vec![false; self.directories.len()];
        let mut leaves: HashMap<u32, HashSet<u32>> = HashMap::new();
        for &Place { directory: DirectoryId(id), offset } in places {
            if offset > 0 {
                leaves.entry(id).or_default().insert(offset);
            } else if DirectoryId(id) != self.root_id() {
                let subtree = is_gone.get_mut(self.numbers_within(DirectoryId(id)));
                subtree.into_iter().for_each(|subtree| subtree.fill(true));
            }
        }
        // How many are kept before each: their new numbers.
        let mut kept = 0;
        let mut numbers: Vec<u32> = Vec::with_capacity(is_gone.len());
        for is_gone in &is_gone {
            numbers.push(kept);
            kept += u32::from(!is_gone);
        }
        let old = mem::take(&mut self.directories);
        self.directories.reserve_exact(kept as usize);
        for (id, mut directory) in (0..).zip(old) {
            if is_gone[id as usize] {
                continue;
            }
            let new = numbers[id as usize];
            directory.below = new - numbers[(id - directory.below) as usize];
            if directory.up > 0 {
                directory.up = numbers[(id + directory.up) as usize] - new;
            }
            if let Some(gone) = leaves.get(&id) {
                directory.block = directory.packed_anew(&directory.node(), |block, at, leaf| {
                    if !u32::try_from(at).is_ok_and(|at| gone.contains(&at)) {
                        record::push(block, &leaf);
                    }
                });
            }
            self.directories.push(directory);
        }
    }

    /// Takes links off inodes: how many off each, by which inode it is. Of one that has one left it is known that
    /// there were more.
    ///
    /// Nothing is changed in the directory `except`, nor below it. Returns the directories that have some of them.
    pub fn unlink(
        &mut self,
        lost: &HashMap<Identity, u32>,
        except: Option<DirectoryId>,
    ) -> Vec<DirectoryId> {
        if lost.is_empty() {
            return Vec::new();
        }
        self.change_leaves(except, |node| {
            let mut inode = node.inode?;
            let Links::Of(links) = &mut inode.links else { return None };
            let lost = lost.get(&inode.identity.on_any_mount())?;
            *links = links.saturating_sub(*lost).max(1);
            Some(Node { inode: Some(inode), ..node })
        })
    }

    /// Sets the fingerprints of inodes with several links, by which inode it is: of links that have the one before, the
    /// one after. A link that was scanned at another time may have changed, and keeps its own. All places stay as they
    /// are.
    pub fn set_fingerprints(&mut self, fingerprints: &HashMap<Identity, (u32, u32)>) {
        if fingerprints.is_empty() {
            return;
        }
        self.change_leaves(None, |node| {
            let identity = node.inode?.linked()?;
            let (before, after) = *fingerprints.get(&identity.on_any_mount())?;
            let is_known = node.fingerprint == Some(before);
            is_known.then_some(Node { fingerprint: Some(after), ..node })
        });
    }

    /// Changes leaves, except those in the directory `except` and below it. `change` returns none for those that stay
    /// as they are. Returns the directories of the others.
    fn change_leaves(
        &mut self,
        except: Option<DirectoryId>,
        change: impl for<'a> Fn(Node<'a>) -> Option<Node<'a>>,
    ) -> Vec<DirectoryId> {
        let except = except.map(|except| self.numbers_within(except));
        let mut changed = Vec::new();
        for (id, directory) in self.directories.iter_mut().enumerate() {
            if except.as_ref().is_some_and(|except| except.contains(&id)) {
                continue;
            }
            if record::leaves(directory.leaves()).any(|leaf| change(leaf).is_some()) {
                directory.block = directory.packed_anew(&directory.node(), |block, _, leaf| {
                    record::push(block, &change(leaf).unwrap_or(leaf));
                });
                changed.push(DirectoryId(id as u32));
            }
        }
        changed
    }
}

impl PackedDirectory {
    /// What its own record says.
    pub(super) fn node(&self) -> Node<'_> {
        record::take_directory(&mut &*self.block).unwrap_or_default()
    }

    /// The records of its leaves.
    pub(super) fn leaves(&self) -> &[u8] {
        record::split(&self.block).1
    }

    /// Its block with another record of its own.
    fn with(&self, node: &Node<'_>) -> Box<[u8]> {
        let mut block = Vec::new();
        record::push_directory(&mut block, node);
        block.extend_from_slice(self.leaves());
        block.into_boxed_slice()
    }

    /// Its block packed anew: its own record is that of `node`, and `push` packs what takes the place of each leaf. It gets
    /// the leaf, and where that begins in the old block.
    fn packed_anew(
        &self,
        node: &Node<'_>,
        push: impl Fn(&mut Vec<u8>, usize, Node<'_>),
    ) -> Box<[u8]> {
        let mut block = Vec::with_capacity(self.block.len());
        record::push_directory(&mut block, node);
        let mut rest = self.leaves();
        let mut offset = self.block.len() - rest.len();
        while let Some(leaf) = record::take(&mut rest) {
            push(&mut block, offset, leaf);
            offset = self.block.len() - rest.len();
        }
        block.into_boxed_slice()
    }
}

/// The same node with its inode on the mount and device that `renumber` makes of its own.
fn renumbered<'a>(node: Node<'a>, renumber: impl Fn(MountedDevice) -> MountedDevice) -> Node<'a> {
    let inode = node.inode.map(|inode| {
        let MountedDevice { mount, device } = renumber(inode.identity.mounted_device());
        Inode { identity: Identity { mount, device, ..inode.identity }, ..inode }
    });
    Node { inode, ..node }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::base::measure::Mode;
    use crate::tree::{Content, Order, Shape, Step, Traversal};

    /// Sizes by path. A directory is larger than what is in it by one.
    type Sizes = BTreeMap<String, u64>;

    /// `width` directories in each, `depth` levels of them, and a file in each.
    fn content(width: u8, depth: u8) -> (Content, u64) {
        let (mut grown, mut size) = (Content::default(), 1 + 10);
        grown.push(&Node { sums: sums_of(10), ..node(b"file", 0o100_644) });
        for name in b'a'..b'a' + if depth > 0 { width } else { 0 } {
            let (below, size_below) = content(width, depth - 1);
            size += size_below;
            grown.close(&Node { sums: sums_of(size_below), ..node(&[name], 0o040_755) }, below);
        }
        (grown, size)
    }

    fn tree(name: &[u8], width: u8, depth: u8) -> Tree {
        let (content, size) = content(width, depth);
        content.finish(&Node { sums: sums_of(size), ..node(name, 0o040_755) }, Shape::default())
    }

    fn node(name: &[u8], mode: u16) -> Node<'_> {
        Node { name, mode: Mode(mode), ..Node::default() }
    }

    fn sums_of(disk: u64) -> Sums {
        Sums::of(Figures { disk, ..Figures::default() })
    }

    /// What is found from the root down is what leads up to it.
    fn sizes(tree: &Tree) -> Sizes {
        let mut sizes = Sizes::new();
        let mut traversal = Traversal::new(tree.root());
        while let Some(step) = traversal.next() {
            let Step::Node(node) = step else { continue };
            let path = String::from_utf8(traversal.path().to_vec()).unwrap();
            assert_eq!(node.path(), path.as_bytes());
            assert_eq!(node.parent().is_none(), traversal.depth() == 0);
            assert_eq!(sizes.insert(path, node.size()), None);
            traversal.enter((), node.children(Order::Name));
        }
        sizes
    }

    /// The number of each directory, by path.
    fn directories(tree: &Tree) -> Vec<(String, DirectoryId)> {
        let path = |id| String::from_utf8(tree.directory(id).path()).unwrap();
        let ids = (0..tree.directories.len() as u32).map(DirectoryId);
        ids.map(|id| (path(id), id)).collect()
    }

    /// What is left of `sizes` without what is at `path`.
    fn without(mut sizes: Sizes, path: &str) -> Sizes {
        let below = format!("{path}/");
        sizes.retain(|other, _| other != path && !other.starts_with(&below));
        sizes
    }

    /// A link that was scanned after a change of its inode would otherwise vouch for one that was scanned before.
    #[test]
    fn only_links_with_the_fingerprint_from_before_get_the_new_one() {
        let identity = Identity { mount: 1, device: 2, number: 3 };
        let inode = Some(Inode { identity, links: Links::Of(3), details: None });
        let mut content = Content::default();
        for (name, fingerprint) in [(b"early", 1), (b"later", 2)] {
            let fingerprint = Some(fingerprint);
            content.push(&Node { inode, fingerprint, ..node(name, 0o100_644) });
        }
        let mut tree = content.finish(&node(b"root", 0o040_755), Shape::default());
        tree.set_fingerprints(&HashMap::from([(identity.on_any_mount(), (2, 7))]));
        let mut found: Vec<_> = tree
            .root()
            .leaves()
            .map(|leaf| (leaf.name().to_vec(), leaf.node().fingerprint))
            .collect();
        found.sort();
        assert_eq!(found, [(b"early".to_vec(), Some(1)), (b"later".to_vec(), Some(7))]);
    }

    #[test]
    fn what_is_removed_is_gone_with_all_below_it_and_the_rest_is_as_it_was() {
        let whole = sizes(&tree(b"root", 3, 3));
        assert_eq!(whole.len(), 2 * (1 + 3 + 9 + 27));
        for (path, id) in directories(&tree(b"root", 3, 3)) {
            let mut tree = tree(b"root", 3, 3);
            tree.remove_all(&BTreeSet::from([id.into()]));
            let expected = match path.as_str() {
                "root" => whole.clone(),
                path => without(whole.clone(), path),
            };
            assert_eq!(sizes(&tree), expected, "{path}");
        }
    }

    #[test]
    fn what_is_replaced_has_the_old_name_and_the_new_content() {
        let whole = sizes(&tree(b"root", 3, 2));
        for (width, depth) in [(0, 0), (2, 1), (4, 3)] {
            let new = sizes(&tree(b"other", width, depth));
            for (path, id) in directories(&tree(b"root", 3, 2)) {
                let mut tree = tree(b"root", 3, 2);
                let id = tree.replace(id, self::tree(b"other", width, depth));
                assert_eq!(tree.directory(id).path(), path.as_bytes());
                let mut expected = without(whole.clone(), &path);
                expected.extend(
                    new.iter().map(|(below, size)| (below.replacen("other", &path, 1), *size)),
                );
                assert_eq!(sizes(&tree), expected, "{path}");
                // What has changed can be changed again.
                if path != "root" {
                    tree.remove_all(&BTreeSet::from([id.into()]));
                    assert_eq!(sizes(&tree), without(whole.clone(), &path), "{path}");
                }
            }
        }
    }
}
