//! What must never be marked: roots, mount points, home directories, the working directory if a root is relative to it,
//! and every directory above them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use weigh::internal::base::inode::{Links, MountedDevice};
use weigh::internal::base::path;
use weigh::internal::remove::{ProtectedLocations, ProtectedPaths};
use weigh::internal::scan::containers;
use weigh::internal::sys::{self, Symlinks};
use weigh::internal::tree::{Child, Tree};

pub use weigh::internal::remove::Refusal;

/// What must not be marked.
#[derive(Clone, Debug, Default)]
pub struct Protected {
    /// The real path of each root, by its given name. Empty for a snapshot.
    pub(super) roots: HashMap<Vec<u8>, Vec<u8>>,
    /// The paths of what is protected, so that the system can be asked again.
    pub(super) paths: Arc<ProtectedPaths>,
    locations: ProtectedLocations,
}

impl Protected {
    /// Asks the system, once. `homes` are the home directories of the user.
    pub fn ask<'r>(roots: impl IntoIterator<Item = &'r [u8]>, homes: &[PathBuf]) -> Self {
        let mut paths = ProtectedPaths { homes: homes.to_vec(), ..ProtectedPaths::default() };
        let mut real_roots = HashMap::new();
        for root in roots {
            if sys::to_path(root).is_relative() {
                paths.working = sys::real_path(Path::new("."), Symlinks::Follow).ok();
            }
            if let Ok(real) = sys::real_path(&sys::to_path(root), Symlinks::Follow) {
                let real_name = real.as_os_str().as_encoded_bytes().to_vec();
                if real_roots.insert(root.to_vec(), real_name).is_none() {
                    paths.roots.push(real);
                }
            }
        }
        // Where mounts are not listed, nothing is removed, but marked paths can be printed.
        let locations = paths.ask(None).unwrap_or_default();
        Self { roots: real_roots, paths: Arc::new(paths), locations }
    }

    /// The reason why `child` must not be marked, if there is one.
    pub(super) fn refusal(&self, tree: &Tree, child: &Child<'_>) -> Option<Refusal> {
        let Some(parent) = child.parent() else { return Some("the root cannot be marked") };
        if child.is_root() {
            return Some("a root cannot be marked");
        }
        if let Some(owner) = containers::owner(*child) {
            return Some(owner);
        }
        let here = parent.mounted_device();
        match child.id() {
            None if child.inode().is_some_and(|inode| inode.links == Links::Unknown) => {
                return Some("symlinks may lead to it");
            }
            None => {}
            Some(_) if containers::holds_storage(*child) => {
                return Some("a container engine's storage lies in it");
            }
            Some(id) => {
                if let Some([refusal, _]) = elsewhere(child, here) {
                    return Some(refusal);
                }
                let mut within = tree.directory(id).all_directories();
                if let Some([_, refusal]) = within.find_map(|it| elsewhere(&it, here)) {
                    return Some(refusal);
                }
                if let Some(refusal) = self.locations.refusal_within(tree, id) {
                    return Some(refusal);
                }
            }
        }
        let path = self.real_path(tree, child)?;
        let mount = here.map_or(0, |here| here.mount);
        self.locations.refusal_at(mount, &path, child.id().is_some())
    }

    /// The absolute path of `child`, if its root is known.
    pub(super) fn real_path(&self, tree: &Tree, child: &Child<'_>) -> Option<Vec<u8>> {
        let mut names = child.names();
        if tree.root().is_total() && names.len() > 1 {
            // What is above several roots is no directory.
            names.remove(0);
        }
        names[0] = self.roots.get(names[0])?;
        Some(path::join_all(names))
    }
}

/// If `child` is on another mount or device than `here`, as far as both are known: why it must not be marked, and why
/// no directory around it must be.
fn elsewhere(child: &Child<'_>, here: Option<MountedDevice>) -> Option<[Refusal; 2]> {
    let (here, other) = here.zip(child.mounted_device())?;
    match here.mount == other.mount {
        _ if here == other => None,
        true => {
            Some(["it is another subvolume or device", "another subvolume or device lies in it"])
        }
        false => Some(["it is a mount point", "something is mounted in it"]),
    }
}
