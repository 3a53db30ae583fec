//! Looks on disk for an engine's storage around a directory. A scan is not enough: it may have left directories out, it
//! began somewhere, and it is over.

use std::collections::HashMap;
use std::ffi::CString;
use std::iter;
use std::path::PathBuf;

use super::layout::{USUAL_PATHS, is_usual, parts_at, refusal_in};
use crate::sys::{self, MountTable, Query, Source, Symlinks, to_path};

/// Looks for storages, and remembers which directories are none as long as they do not change.
#[derive(Debug, Default)]
pub struct StorageSearch {
    seen: HashMap<Vec<u8>, SeenDirectory>,
}

/// A directory, as it was when it was last looked at.
#[derive(Debug)]
struct SeenDirectory {
    /// Its device, inode, and the time of its last change.
    state: (u64, u64, i64, u32),
    /// Whether a later change has another time: the clock of many file systems goes in steps of milliseconds.
    is_settled: bool,
    refusal: Option<&'static str>,
    /// Whether it has so many entries that it is not listed again at each change: weigh itself changes the directory of
    /// a target.
    is_large: bool,
}

/// A storage.
#[derive(Debug)]
pub struct StorageAround {
    /// Its real path, if it can be reached.
    pub path: Option<Vec<u8>>,
    /// Why only its engine deletes anything in it, and how that does it.
    pub refusal: &'static str,
}

impl StorageSearch {
    /// The storage that is the directory at the real path `path`, or lies around it. `mount` is the mount through which
    /// the directory is reached; if it is 0, the one that is there. Other mounts may show other directories around it.
    pub fn around(
        &mut self,
        path: &[u8],
        mount: u64,
        mounts: &MountTable,
    ) -> Option<StorageAround> {
        let (others, hidden) = mounts.ways_to(mount, path);
        // Those of other mounts are asked for nothing that another machine would have to answer.
        let near = others.iter().filter_map(|other| mounts.near_path(other, mount));
        let near = near.filter_map(|(path, may_touch)| may_touch.then_some(path));
        for way in iter::once(path.to_vec()).chain(near) {
            for directory in to_path(&way).ancestors() {
                let directory = directory.as_os_str().as_encoded_bytes();
                if let Some(refusal) = self.look(directory) {
                    return Some(StorageAround { path: Some(directory.to_vec()), refusal });
                }
            }
        }
        // No mount shows the directories around this one. Only its path in its file system tells.
        let refusal = "it is in a container engine's storage";
        is_usual(&hidden).then_some(StorageAround { path: None, refusal })
    }

    /// Whose storage the directory at the real path `path` is now.
    fn look(&mut self, path: &[u8]) -> Option<&'static str> {
        /// Listing as many takes about as long as the look-ups of all names in layouts.
        const LARGE: usize = 100;
        let name = CString::new(path).ok()?;
        let query = Query { times: true, ..Query::default() };
        // Before they are read: what changes meanwhile is read again.
        let stat = Source::default().stat(&name, Symlinks::Follow, query).ok()?;
        let state = (stat.device, stat.inode, stat.changed, stat.changed_nanos);
        let before = self.seen.get(path);
        if let Some(seen) = before.filter(|seen| seen.is_settled && seen.state == state) {
            return seen.refusal;
        }
        let was_large = before.is_some_and(|seen| seen.is_large);
        let (parts, entries) = parts_at(&name, !was_large);
        let refusal = refusal_in(&parts);
        let is_settled = stat.changed.saturating_add(1) < sys::now();
        let is_large = was_large || entries > LARGE;
        let seen = SeenDirectory { state, is_settled, refusal, is_large };
        self.seen.insert(path.to_vec(), seen);
        refusal
    }
}

/// The real paths of the storages that engines use if nobody configures them otherwise, as far as they exist: of the
/// system, and of users with these `homes`. Looks only at file systems that answer at once, and at that of `mount`.
pub fn usual_storages<'h>(
    homes: impl IntoIterator<Item = &'h PathBuf>,
    mount: u64,
    mounts: &MountTable,
) -> Vec<Vec<u8>> {
    let of_users = homes.into_iter().map(|home| home.join(".local/share"));
    let around = iter::once(PathBuf::from("/var/lib")).chain(of_users);
    let all = around.flat_map(|around| USUAL_PATHS.map(|path| around.join(path)));
    let real = all.filter_map(|path| {
        let (real, may_touch) = mounts.near_path(path.as_os_str().as_encoded_bytes(), mount)?;
        let there = CString::new(&*real).ok().filter(|_| may_touch)?;
        let stat = Source::default().stat(&there, Symlinks::Stay, Query::default()).ok()?;
        stat.is_directory().then_some(real)
    });
    real.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_not_visible_tells_a_storage() {
        for (path, is_storage) in [
            ("/var/lib/docker/volumes/v/_data", true),
            ("/old/var/lib/containerd", true),
            ("/lib/containers/storage/overlay", true),
            ("/docker/volumes/v/_data", true),
            ("/@home/u/.local/share/containers/storage/x", true),
            ("/u/.local/share/docker", true),
            ("/rancher/k3s/storage/pvc-1", true),
            ("/var/lib/machines/deb/root/p", true),
            ("/u/.local/share/flatpak/app/x", true),
            ("/home/u/machines", false),
            ("/var/lib/rancher", false),
            ("/@home", false),
            ("/home/docker", false),
            ("/docker-data/u", false),
            ("/storage/u", false),
            ("/data/server", false),
            ("/", false),
            ("", false),
        ] {
            assert_eq!(is_usual(path.as_bytes()), is_storage, "{path}");
        }
    }
}
