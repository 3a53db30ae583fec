//! Replaces and removes subtrees.
//!
//! The new totals of the directories above cannot be computed here, because there may be other links to inodes that
//! are gone. So the caller provides them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::mem;

use super::{
    Content, DirectoryId, Inode, Node, PackedDirectory, Place, Shape, Sums, Tree, adopt, record,
};
use crate::inode::{Identity, Links, MountedDevice};
use crate::measure::{Figures, Mode};

impl Tree {
    /// A copy of a directory with everything below it, as a tree of its own.
    pub fn part(&self, directory: DirectoryId) -> Tree {
        let end = directory.0 as usize;
        let first = end.saturating_sub(self.below(directory) as usize);
        let copied = self.directories.get(first..=end).unwrap_or_default();
        let copy = |it: &PackedDirectory| PackedDirectory { block: it.block.clone(), ..*it };
        let mut directories: Vec<_> = copied.iter().map(copy).collect();
        if let Some(root) = directories.last_mut() {
            root.up = 0;
        }
        Tree { directories, shape: self.shape, view: self.view }
    }

    /// Replaces a directory by the root of `other`, with everything below it, under the name of the directory.
    /// `sums` returns what each directory above comes to now, innermost first. The numbers of directories change;
    /// returns that of the new one.
    pub fn replace(
        &mut self,
        old: DirectoryId,
        mut other: Tree,
        sums: impl FnMut(&Node<'_>) -> Sums,
    ) -> DirectoryId {
        let name = self.directory(old).name().to_vec();
        if let Some(root) = other.directories.last_mut() {
            root.rewrite(|block, node| {
                record::push_directory(block, &Node { name: &name, ..node });
            });
        }
        let first = old.0.saturating_sub(self.below(old));
        let new = first.saturating_add(other.root_id().0);
        self.splice(old, other.directories, sums);
        DirectoryId(new)
    }

    /// Removes a directory with everything below it, unless it is the root. `sums` returns what is new of each
    /// directory above, innermost first. The numbers of directories change; returns that of the parent.
    pub fn remove(
        &mut self,
        old: DirectoryId,
        sums: impl FnMut(&Node<'_>) -> Sums,
    ) -> Option<DirectoryId> {
        self.directory(old).parent()?;
        self.splice(old, Vec::new(), sums)
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
        content.finish(&total, shape).seen_as(view)
    }

    /// Takes a directory out with all that is below it, under another `name`. It stays in its place without
    /// anything known of it: this is for a tree that is taken apart, and dropped.
    pub fn detach(&mut self, directory: DirectoryId, name: &[u8]) -> Tree {
        let (last, below) = (directory.0 as usize, self.below(directory) as usize);
        let stretch = self.directories.get_mut(last.saturating_sub(below)..=last);
        let mut directories: Vec<_> = stretch
            .into_iter()
            .flatten()
            .map(|it| PackedDirectory { block: mem::take(&mut it.block), ..*it })
            .collect();
        if let Some(root) = directories.last_mut() {
            root.up = 0;
            if record::name(&root.block) != name {
                root.rewrite(|block, node| {
                    record::push_directory(block, &Node { name, ..node });
                });
            }
        }
        Tree { directories, shape: self.shape, view: self.view }
    }

    /// Says of each inode anew on which mount and device it is: what `renumber` makes of them.
    pub fn renumber(&mut self, renumber: impl Fn(MountedDevice) -> MountedDevice) {
        let renumbered = |inode: Inode| {
            let MountedDevice { mount, device } = renumber(inode.identity.mounted_device());
            Inode { identity: Identity { mount, device, ..inode.identity }, ..inode }
        };
        for directory in &mut self.directories {
            let (mut rest, mut block) = (&*directory.block, Vec::new());
            let Some(node) = record::take_directory(&mut rest) else { continue };
            let inode = node.inode.map(renumbered);
            record::push_directory(&mut block, &Node { inode, ..node });
            while let Some(leaf) = record::take(&mut rest) {
                let inode = leaf.inode.map(renumbered);
                record::push(&mut block, &Node { inode, ..leaf });
            }
            directory.block = block.into_boxed_slice();
        }
    }

    /// Says what a directory comes to.
    pub fn set_sums(&mut self, directory: DirectoryId, sums: Sums) {
        if let Some(directory) = self.directories.get_mut(directory.0 as usize) {
            directory.rewrite(|block, node| {
                record::push_directory(block, &Node { sums, ..node });
            });
        }
    }

    /// Says what a directory comes to by itself, unless a filter leaves it out.
    pub fn set_own(&mut self, directory: DirectoryId, own: Figures) {
        if let Some(directory) = self.directories.get_mut(directory.0 as usize) {
            directory.rewrite(|block, node| {
                record::push_directory(block, &Node { own: node.own.map(|_| own), ..node });
            });
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
                let first = id.saturating_sub(self.below(DirectoryId(id)));
                let subtree = is_gone.get_mut(first as usize..=id as usize);
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
        let number = |old: u32| numbers.get(old as usize).copied().unwrap_or(0);
        let old = mem::take(&mut self.directories);
        self.directories.reserve_exact(kept as usize);
        for (id, mut directory) in (0..).zip(old) {
            if is_gone.get(id as usize) == Some(&true) {
                continue;
            }
            let new = number(id);
            directory.below = new - number(id - directory.below);
            directory.up = if directory.up > 0 { number(id + directory.up) - new } else { 0 };
            if let Some(gone) = leaves.get(&id) {
                directory.keep_leaves(|offset| !gone.contains(&offset));
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
        self.change_leaves(except, |node| {
            let inode = node.inode.as_mut()?;
            let Links::Of(links) = &mut inode.links else { return None };
            let lost = lost.get(&inode.identity.on_any_mount())?;
            *links = links.saturating_sub(*lost).max(1);
            Some(())
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
            let (before, after) = fingerprints.get(&identity.on_any_mount())?;
            *node.fingerprint.as_mut().filter(|fingerprint| *fingerprint == before)? = *after;
            Some(())
        });
    }

    /// Changes leaves, except those in the directory `except` and below it. `change` returns none for those that stay
    /// as they are. Returns the directories of the others.
    fn change_leaves(
        &mut self,
        except: Option<DirectoryId>,
        change: impl Fn(&mut Node<'_>) -> Option<()>,
    ) -> Vec<DirectoryId> {
        let except = except.map(|id| id.0.saturating_sub(self.below(id))..=id.0);
        let mut changed = Vec::new();
        for (id, directory) in (0..).zip(&mut self.directories) {
            if except.as_ref().is_some_and(|except| except.contains(&id)) {
                continue;
            }
            let mut rest = directory.leaves();
            let mut is_changed = false;
            while let Some(mut node) = record::take(&mut rest) {
                is_changed |= change(&mut node).is_some();
            }
            if !is_changed {
                continue;
            }
            let (head, mut rest) = directory.block.split_at(directory.head());
            let mut block = head.to_vec();
            while let Some(mut node) = record::take(&mut rest) {
                change(&mut node);
                record::push(&mut block, &node);
            }
            directory.block = block.into_boxed_slice();
            changed.push(DirectoryId(id));
        }
        changed
    }

    fn below(&self, directory: DirectoryId) -> u32 {
        self.directories.get(directory.0 as usize).map_or(0, |it| it.below)
    }

    /// Replaces a directory, with everything below it, by `new`. Returns the number of the parent.
    fn splice(
        &mut self,
        old: DirectoryId,
        new: Vec<PackedDirectory>,
        mut sums: impl FnMut(&Node<'_>) -> Sums,
    ) -> Option<DirectoryId> {
        let PackedDirectory { below, up, .. } = *self.directories.get(old.0 as usize)?;
        let (first, added) = (old.0 - below, new.len() as u32);
        self.directories.splice(first as usize..=old.0 as usize, new);
        let parent = (up > 0).then(|| first + added + up - 1);
        let mut above = parent;
        while let Some(number) = above {
            let directory = &mut self.directories[number as usize];
            directory.below = directory.below + added - (below + 1);
            directory.rewrite(|block, node| {
                record::push_directory(block, &Node { sums: sums(&node), ..node });
            });
            above = (directory.up > 0).then(|| number + directory.up);
            adopt(&mut self.directories, number);
        }
        parent.map(DirectoryId)
    }
}

impl PackedDirectory {
    /// How long its own record is.
    fn head(&self) -> usize {
        let mut leaves = &*self.block;
        record::take_directory(&mut leaves);
        self.block.len() - leaves.len()
    }

    /// The records of its leaves.
    fn leaves(&self) -> &[u8] {
        self.block.get(self.head()..).unwrap_or_default()
    }

    /// Keeps the leaves for which `is_kept` is true; it gets where in the block a leaf begins.
    fn keep_leaves(&mut self, is_kept: impl Fn(u32) -> bool) {
        let (head, mut rest) = self.block.split_at(self.head());
        let mut block = head.to_vec();
        loop {
            let (start, before) = (self.block.len() - rest.len(), rest);
            if record::take(&mut rest).is_none() {
                break;
            }
            if u32::try_from(start).map_or(true, &is_kept) {
                block.extend_from_slice(&before[..before.len() - rest.len()]);
            }
        }
        self.block = block.into_boxed_slice();
    }

    /// Replaces its own record: `write` gets the node and writes the new record.
    fn rewrite(&mut self, write: impl FnOnce(&mut Vec<u8>, Node<'_>)) {
        let (mut leaves, mut block) = (&*self.block, Vec::new());
        let node = record::take_directory(&mut leaves).unwrap_or_default();
        write(&mut block, node);
        block.extend_from_slice(leaves);
        self.block = block.into_boxed_slice();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that finds no directory should stop there")]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::measure::Mode;
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

    /// What is left of `sizes` without what is at `path`, whose ancestors come to `more` and `less`.
    fn without(mut sizes: Sizes, path: &str, more: u64, less: u64) -> Sizes {
        let below = format!("{path}/");
        sizes.retain(|other, _| other != path && !other.starts_with(&below));
        for (above, size) in &mut sizes {
            if path.starts_with(&format!("{above}/")) {
                *size = *size + more - less;
            }
        }
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
            let size = whole[&path];
            let parent = tree.remove(id, |above| sums_of(above.sums.all.disk - size));
            let Some(parent) = parent else {
                assert_eq!((path.as_str(), sizes(&tree)), ("root", whole.clone()));
                continue;
            };
            let above = String::from_utf8(tree.directory(parent).path()).unwrap();
            assert_eq!(Some(above.as_str()), path.rsplit_once('/').map(|(above, _)| above));
            assert_eq!(sizes(&tree), without(whole.clone(), &path, 0, size), "{path}");
        }
    }

    #[test]
    fn what_is_replaced_has_the_old_name_and_the_new_content() {
        let whole = sizes(&tree(b"root", 3, 2));
        for (width, depth) in [(0, 0), (2, 1), (4, 3)] {
            let new = sizes(&tree(b"other", width, depth));
            for (path, id) in directories(&tree(b"root", 3, 2)) {
                let mut tree = tree(b"root", 3, 2);
                let (less, more) = (whole[&path], new["other"]);
                let mut asked = 0;
                let id = tree.replace(id, self::tree(b"other", width, depth), |above| {
                    asked += 1;
                    sums_of(above.sums.all.disk + more - less)
                });
                assert_eq!(tree.directory(id).path(), path.as_bytes());
                assert_eq!(asked, path.matches('/').count(), "once for each above {path}");
                let mut expected = without(whole.clone(), &path, more, less);
                expected.extend(
                    new.iter().map(|(below, size)| (below.replacen("other", &path, 1), *size)),
                );
                assert_eq!(sizes(&tree), expected, "{path}");
                // What has changed can be changed again.
                if tree.remove(id, |above| sums_of(above.sums.all.disk - more)).is_some() {
                    assert_eq!(sizes(&tree), without(whole.clone(), &path, 0, less), "{path}");
                }
            }
        }
    }
}
