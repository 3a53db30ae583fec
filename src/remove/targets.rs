//! Makes targets of places in a scanned tree.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::held::HeldMount;
use super::protected::ProtectedPaths;
use super::target::{KnownEntry, Target};
use crate::path;
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
    let mut held: HashMap<DirectoryId, Arc<HeldMount>> = HashMap::new();
    let mut hold = |top: Child<'_>, path: PathBuf| {
        let id = top.id().unwrap_or_default();
        if let Some(mount) = held.get(&id) {
            return Arc::clone(mount);
        }
        let mount = Arc::new(HeldMount::new(path, KnownEntry::of(&top), Arc::clone(protected)));
        held.insert(id, Arc::clone(&mount));
        mount
    };
    places.into_iter().map(|place| target(tree, place, &root, &mut hold)).collect()
}

fn target(
    tree: &Tree,
    place: Place,
    root: &impl Fn(&[u8]) -> Option<PathBuf>,
    hold: &mut impl FnMut(Child<'_>, PathBuf) -> Arc<HeldMount>,
) -> io::Result<Target> {
    let child = tree.at(place);
    let is_root = |child: &Child<'_>| match child.parent() {
        Some(parent) => parent.parent().is_none() && tree.is_above_roots(),
        None => true,
    };
    let Some(parent) = child.parent().filter(|_| !is_root(&child)) else {
        return Err(io::Error::other("it is a root of the scan"));
    };
    let mount = |child: &Child<'_>| Some(child.inode()?.identity.mounted_device());
    let (mut top, mut way) = (parent, Vec::new());
    while let Some(above) = top.parent().filter(|_| !is_root(&top)) {
        if mount(&above) != mount(&top) {
            break;
        }
        way.push(top.name().to_vec());
        top = above;
    }
    way.reverse();
    let mut names = Vec::new();
    let mut at = top;
    while let Some(above) = at.parent().filter(|_| !is_root(&at)) {
        names.push(at.name());
        at = above;
    }
    let Some(real) = root(at.name()) else {
        return Err(io::Error::other("the path of its root is not known"));
    };
    let real = real.into_os_string().into_encoded_bytes();
    let names = names.iter().rev().copied();
    let path = sys::into_path(path::join_all([&*real].into_iter().chain(names)));
    Ok(Target {
        mount: hold(top, path),
        way,
        name: child.name().to_vec(),
        directory: KnownEntry::of(&parent),
        known: KnownEntry::of(&child),
        below: None,
        seen: None,
        totals: (child.removable(), child.size()),
    })
}
