//! What a file system holds beside what was seen of it: why `df` says more than a walk does.

use std::collections::HashMap;
use std::ffi::{CString, OsString};
use std::path::{Path, PathBuf};

use crate::sys::{self, Space, Symlinks};
use crate::tree::{Shape, Tree};

/// A file system that a root is the mount point of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// The root, as given.
    pub root: Vec<u8>,
    /// What it has room for.
    pub space: Space,
    /// What was seen of it, in bytes, if that is known.
    pub seen: Option<u64>,
}

impl FileSystem {
    /// What is used of it, in bytes.
    pub fn used(&self) -> u64 {
        self.space.size.saturating_sub(self.space.free)
    }

    /// What is used and in no file that was seen: what belongs to no file, as metadata; what is deleted and open
    /// still; what could not be read, or was left out. Less than nothing where files share blocks.
    pub fn unseen(&self) -> Option<i128> {
        self.seen.map(|seen| i128::from(self.used()) - i128::from(seen))
    }
}

/// What the file systems hold whose mount points are among `roots`, of which `tree` came, each once; and the roots that
/// are no mount points.
pub fn file_systems(roots: &[OsString], tree: &Tree) -> (Vec<FileSystem>, Vec<Vec<u8>>) {
    let (mut found, mut others) = (Vec::<FileSystem>::new(), Vec::new());
    let mut numbers: HashMap<PathBuf, usize> = HashMap::new();
    for root in roots {
        let name = root.as_encoded_bytes();
        // What cannot be found is among the problems of the walk.
        let space = CString::new(name).ok().and_then(|path| sys::space(&path).ok()).flatten();
        match space {
            Some(space) => {
                let one = FileSystem { root: name.to_vec(), space, seen: seen(name, tree) };
                // In two spellings, the tree has one of them.
                let place = sys::real_path(Path::new(root), Symlinks::Follow).ok();
                let next = found.len();
                let number = place.map_or(next, |place| *numbers.entry(place).or_insert(next));
                match found.get_mut(number) {
                    None => found.push(one),
                    Some(known) if known.seen.is_none() => *known = one,
                    Some(_) => {}
                }
            }
            None => others.push(name.to_vec()),
        }
    }
    (found, others)
}

/// What the root called `name` comes to in `tree`, if that says so.
fn seen(name: &[u8], tree: &Tree) -> Option<u64> {
    let root = tree.root();
    if !tree.is_above_roots() {
        return Some(root.size()).filter(|_| root.name() == name);
    }
    let is_of_roots = tree.shape() == Shape::Directory;
    let mut roots = is_of_roots.then(|| root.unsorted())?;
    roots.find(|root| root.name() == name).map(|root| root.size())
}
