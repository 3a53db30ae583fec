//! Makes targets of places in a scanned tree.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::{io, iter};

use super::held::HeldMount;
use super::known::KnownEntry;
use super::protected::ProtectedPaths;
use super::target::Target;
use crate::inode::MountedDevice;
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
    let mut mount = |top: Child<'_>, path| {
        let mount = held.entry(top.id().unwrap_or_default()).or_insert_with(|| {
            Arc::new(HeldMount::new(path, KnownEntry::of(&top), Arc::clone(protected)))
        });
        Arc::clone(mount)
    };
    places.into_iter().map(|place| target(tree, place, &root, &mut mount)).collect()
}

fn target(
    tree: &Tree,
    place: Place,
    root: &impl Fn(&[u8]) -> Option<PathBuf>,
    mount: &mut impl FnMut(Child<'_>, PathBuf) -> Arc<HeldMount>,
) -> io::Result<Target> {
    let child = tree.at(place);
    let Some(parent) = above(&child) else {
        return Err(io::Error::other("it is a root of the scan"));
    };
    let (mut top, mut way) = (parent, Vec::new());
    while let Some(above) = above(&top).filter(|above| device(above) == device(&top)) {
        way.push(top.name().to_vec());
        top = above;
    }
    way.reverse();
    let (mut at, mut names) = (top, Vec::new());
    while let Some(above) = above(&at) {
        names.push(at.name());
        at = above;
    }
    let Some(real) = root(at.name()) else {
        return Err(io::Error::other("the path of its root is not known"));
    };
    let real = real.into_os_string().into_encoded_bytes();
    let path = path::join_all(iter::once(&*real).chain(names.into_iter().rev()));
    Ok(Target {
        mount: mount(top, sys::into_path(path)),
        way,
        name: child.name().to_vec(),
        directory: KnownEntry::of(&parent),
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

/// The mount and the device that `child` is on, if the tree knows them.
fn device(child: &Child<'_>) -> Option<MountedDevice> {
    Some(child.inode()?.identity.mounted_device())
}
