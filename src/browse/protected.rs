//! What must never be marked: roots, mount points, the user's home directory, and every directory above them.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use crate::inode::Links;
use crate::path;
use crate::sys::{self, Symlinks};
use crate::tree::{Child, Tree};

/// Why an entry must not be marked.
pub type Refusal = &'static str;

/// The absolute paths that must not be marked.
#[derive(Clone, Debug, Default)]
pub struct Protected {
    /// The real path of each root, by its given name. Empty for a snapshot.
    roots: HashMap<Vec<u8>, Vec<u8>>,
    /// The same paths: a root may lie in another one.
    real_roots: BTreeSet<Vec<u8>>,
    mounts: BTreeSet<Vec<u8>>,
    home: Option<Vec<u8>>,
}

impl Protected {
    /// Asks the system, once.
    pub fn ask<'r>(roots: impl IntoIterator<Item = &'r [u8]>, home: Option<&Path>) -> Self {
        let real = |path: &Path| {
            let real = sys::real_path(path, Symlinks::Follow).ok()?;
            Some(real.as_os_str().as_encoded_bytes().to_vec())
        };
        let roots: HashMap<_, _> = roots
            .into_iter()
            .filter_map(|root| Some((root.to_vec(), real(&path::from_bytes(root))?)))
            .collect();
        Self {
            real_roots: roots.values().cloned().collect(),
            roots,
            mounts: sys::mount_points().into_iter().collect(),
            home: home.and_then(real),
        }
    }

    /// The real path of each root, by the name it was given.
    pub(super) fn roots(&self) -> &HashMap<Vec<u8>, Vec<u8>> {
        &self.roots
    }

    /// The reason why `child` must not be marked, if there is one.
    pub(super) fn refusal(&self, tree: &Tree, child: &Child<'_>) -> Option<Refusal> {
        let Some(parent) = child.parent() else { return Some("the root cannot be marked") };
        if parent.parent().is_none() && tree.is_above_roots() {
            return Some("a root cannot be marked");
        }
        let mount = |child: &Child<'_>| Some(child.inode()?.identity.mounted_device());
        let here = mount(&parent);
        let is_elsewhere =
            |child: &Child<'_>| here.zip(mount(child)).is_some_and(|(here, other)| here != other);
        match child.id() {
            None if child.inode().is_some_and(|inode| inode.links == Links::Unknown) => {
                return Some("symlinks may lead to it");
            }
            None => {}
            Some(_) if is_elsewhere(child) => return Some("it is a mount point"),
            Some(id) if tree.directories_within(id).any(|child| is_elsewhere(&child)) => {
                return Some("something is mounted in it");
            }
            Some(_) => {}
        }
        self.refusal_at(&self.real_path(tree, child)?, child.id().is_some())
    }

    /// The absolute path of `child`, if its root is known.
    fn real_path(&self, tree: &Tree, child: &Child<'_>) -> Option<Vec<u8>> {
        let mut names = super::marks::names(child);
        let root = if tree.is_above_roots() && !names.is_empty() {
            names.remove(0)
        } else {
            tree.root().name().to_vec()
        };
        let root = self.roots.get(&root)?;
        Some(path::join_all([&**root].into_iter().chain(names.iter().map(|name| &**name))))
    }

    fn refusal_at(&self, path: &[u8], is_directory: bool) -> Option<Refusal> {
        if self.mounts.contains(path) {
            return Some("it is a mount point");
        }
        if self.real_roots.contains(path) {
            return Some("it is a root");
        }
        if !is_directory {
            return None;
        }
        let mut below = path.to_vec();
        path::join(&mut below, b"");
        let has_below = |paths: &BTreeSet<Vec<u8>>| {
            paths.range(below.clone()..).next().is_some_and(|path| path.starts_with(&below))
        };
        if has_below(&self.mounts) {
            return Some("something is mounted in it");
        }
        if has_below(&self.real_roots) {
            return Some("a root lies in it");
        }
        match &self.home {
            Some(home) if home == path => Some("it is your home directory"),
            Some(home) if home.starts_with(&below) => Some("it holds your home directory"),
            _ => None,
        }
    }
}
