//! What must never be marked: roots, mount points, home directories, and every directory above them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use weigh::internal::inode::Links;
use weigh::internal::path;
use weigh::internal::remove::{ProtectedLocations, ProtectedPaths};
use weigh::internal::sys::{self, Symlinks};
use weigh::internal::tree::{Child, Tree};

pub use weigh::internal::remove::Refusal;

/// What must not be marked.
#[derive(Clone, Debug, Default)]
pub struct Protected {
    /// The real path of each root, by its given name. Empty for a snapshot.
    roots: HashMap<Vec<u8>, Vec<u8>>,
    paths: Arc<ProtectedPaths>,
    locations: ProtectedLocations,
}

impl Protected {
    /// Asks the system, once. `homes` are the home directories of the user.
    pub fn ask<'r>(roots: impl IntoIterator<Item = &'r [u8]>, homes: &[PathBuf]) -> Self {
        let real = |root: &'r [u8]| {
            let real = sys::real_path(&sys::to_path(root), Symlinks::Follow).ok()?;
            Some((root.to_vec(), real.into_os_string().into_encoded_bytes()))
        };
        let roots: HashMap<_, _> = roots.into_iter().filter_map(real).collect();
        let real_roots = roots.values().map(|root| sys::into_path(root.clone())).collect();
        let paths = Arc::new(ProtectedPaths { roots: real_roots, homes: homes.to_vec() });
        // Where mounts are not listed, nothing is removed, but marked paths can be printed.
        let locations = paths.ask(None).unwrap_or_default();
        Self { roots, paths, locations }
    }

    /// The real path of each root, by the name it was given.
    pub(super) fn roots(&self) -> &HashMap<Vec<u8>, Vec<u8>> {
        &self.roots
    }

    /// The paths of what is protected, so that the system can be asked again.
    pub(super) fn paths(&self) -> &Arc<ProtectedPaths> {
        &self.paths
    }

    /// The reason why `child` must not be marked, if there is one.
    pub(super) fn refusal(&self, tree: &Tree, child: &Child<'_>) -> Option<Refusal> {
        let Some(parent) = child.parent() else { return Some("the root cannot be marked") };
        if child.is_root() {
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
            Some(id) => {
                if let Some(refusal) = self.locations.refusal_within(tree, id) {
                    return Some(refusal);
                }
            }
        }
        let path = self.real_path(tree, child)?;
        self.locations.refusal_at(here.map_or(0, |here| here.mount), &path, child.id().is_some())
    }

    /// The absolute path of `child`, if its root is known.
    fn real_path(&self, tree: &Tree, child: &Child<'_>) -> Option<Vec<u8>> {
        let mut names = super::marks::names(child);
        let root = if tree.root().is_total() && !names.is_empty() {
            names.remove(0)
        } else {
            tree.root().name().to_vec()
        };
        let root = self.roots.get(&root)?;
        Some(path::join_all([&**root].into_iter().chain(names.iter().map(|name| &**name))))
    }
}
