//! Makes targets of places in a scanned tree.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::{io, iter};

use super::held::HeldMount;
use super::known::KnownEntry;
use super::protected::{HOLDS_STORAGE, ProtectedPaths};
use super::target::Target;
use crate::base::path;
use crate::scan::containers;
use crate::sys;
use crate::tree::{Child, DirectoryId, Place, Tree};

/// A target for each of `places` in `tree`, or the reason why there is none. `root` returns the real path of the root
/// with a name.
///
/// Makes no system calls. [`Target::with_content`] adds the content of directories.
pub fn targets(
    tree: &Tree,
    places: impl IntoIterator<Item = Place>,
    root: impl Fn(&[u8]) -> Option<PathBuf>,
    protected: &Arc<ProtectedPaths>,
) -> Vec<io::Result<Target>> {
    let mut held = HashMap::new();
    places.into_iter().map(|place| target(tree.at(place), &root, protected, &mut held)).collect()
}

fn target(
    child: Child<'_>,
    root: &impl Fn(&[u8]) -> Option<PathBuf>,
    protected: &Arc<ProtectedPaths>,
    held: &mut HashMap<DirectoryId, Arc<HeldMount>>,
) -> io::Result<Target> {
    if let Some(owner) = containers::owner(child) {
        return Err(io::Error::other(owner));
    }
    if containers::holds_storage(child) {
        return Err(io::Error::other(HOLDS_STORAGE));
    }
    let ancestors: Vec<_> = iter::successors(above(&child), above).collect();
    let (Some(parent), Some(topmost)) = (ancestors.first(), ancestors.last()) else {
        return Err(io::Error::other("it is a root of the scan"));
    };
    let mut pairs = ancestors.windows(2);
    let other_mount = pairs.position(|pair| pair[0].mounted_device() != pair[1].mounted_device());
    let (way, outside) = ancestors.split_at(other_mount.unwrap_or(ancestors.len() - 1));
    let top = outside[0];
    let Some(real) = root(topmost.name()) else {
        return Err(io::Error::other("the path of its root is not known"));
    };
    let real = real.into_os_string().into_encoded_bytes();
    let names = outside[..outside.len() - 1].iter().rev().map(Child::name);
    let path = sys::into_path(path::join_all(iter::once(&*real).chain(names)));
    let mount = held.entry(top.id().unwrap_or_default()).or_insert_with(|| {
        Arc::new(HeldMount::new(path, KnownEntry::of(&top), Arc::clone(protected)))
    });
    Ok(Target {
        mount: Arc::clone(mount),
        way: way.iter().rev().map(|dir| dir.name().to_vec()).collect(),
        name: child.name().to_vec(),
        directory: KnownEntry::of(parent),
        known: KnownEntry::of(&child),
        below: None,
        seen: None,
        totals: (child.removable(), child.size()),
    })
}

/// The directory of `child`, unless `child` is a root.
fn above<'t>(child: &Child<'t>) -> Option<Child<'t>> {
    child.parent().filter(|_| !child.is_root())
}
