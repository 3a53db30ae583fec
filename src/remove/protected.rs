//! What is never removed: roots, the working directory if it leads to them, home directories, mount points, the storage
//! of container engines, and every directory that contains one of them, by whatever mounts it is reached. Two things
//! tell that an entry is one of them: its inode, and its location in its file system, which all bind mounts of it share.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{CStr, CString};
use std::io;
use std::io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
use std::path::{Path, PathBuf};

use super::below::HeldPath;
use super::outcome::{RemovalStep, Stop, because};
use super::run::Removal;
use crate::base::inode::Identity;
use crate::base::measure::Kind;
use crate::scan::containers::{self, StorageSearch, refusal_of};
use crate::sys::{self, ExactStat, HeldDirectory, Listed, Listing, Location, MountTable};
use crate::tree::{DirectoryId, Tree};

/// Why an entry must not be removed.
pub type Refusal = &'static str;

/// The paths of what is protected, beside mount points and the homes of other users.
#[derive(Clone, Debug, Default)]
pub struct ProtectedPaths {
    /// The real paths of the roots.
    pub roots: Vec<PathBuf>,
    /// The home directories of the user.
    pub homes: Vec<PathBuf>,
    /// The working directory, if the path of a root begins there: `..` would lead elsewhere once that is moved.
    pub working: Option<PathBuf>,
}

/// What is protected, as the system had it when it was asked.
#[derive(Clone, Debug, Default)]
pub struct ProtectedLocations {
    mounts: MountTable,
    mount_points: BTreeMap<Location, Protection>,
    /// The roots, home directories, storages, and the working directory.
    locations: BTreeMap<Location, Protection>,
    /// Where container engines store. Everything in it is protected, too.
    storages: BTreeSet<Location>,
    /// Those of them that are directories.
    inodes: HashMap<Identity, Protection>,
}

/// Why something that is protected must not be removed, and why what contains it must not.
#[derive(Clone, Copy, Debug)]
struct Protection {
    itself: Refusal,
    around: Refusal,
}

const ROOT: Protection = Protection { itself: "it is a root", around: "a root lies in it" };
const HOME: Protection =
    Protection { itself: "it is your home directory", around: "it holds your home directory" };
const HOME_OF_OTHER: Protection =
    Protection { itself: "it is a home directory", around: "it holds a home directory" };
const WORKING: Protection = Protection {
    itself: "it is the working directory",
    around: "the working directory lies in it",
};
const MOUNT_POINT: Protection =
    Protection { itself: "it is a mount point", around: "something is mounted in it" };
const STORAGE: Protection =
    Protection { itself: "it is in a container engine's storage", around: HOLDS_STORAGE };
pub(super) const HOLDS_STORAGE: Refusal = "a container engine's storage lies in it";

impl ProtectedPaths {
    /// What is protected where the roots with these names were scanned, for a user with these `homes`; and the real
    /// path of each root.
    pub fn around<'r>(
        roots: impl IntoIterator<Item = &'r [u8]>,
        homes: &[PathBuf],
    ) -> (HashMap<Vec<u8>, Vec<u8>>, Self) {
        let mut paths = Self { homes: homes.to_vec(), ..Self::default() };
        let mut real_roots = HashMap::new();
        for root in roots {
            if sys::to_path(root).is_relative() {
                paths.working = sys::real_path(Path::new("."), sys::Symlinks::Follow).ok();
            }
            if let Ok(real) = sys::real_path(&sys::to_path(root), sys::Symlinks::Follow) {
                let real_name = real.as_os_str().as_encoded_bytes().to_vec();
                if real_roots.insert(root.to_vec(), real_name).is_none() {
                    paths.roots.push(real);
                }
            }
        }
        (real_roots, paths)
    }

    /// Asks the system where these are, and the homes of other users. `top` is the topmost scanned directory of the
    /// mount on which something is to be removed, if it is known. It is protected as a root. Homes of other users are
    /// opened only on its file system and on those that answer at once.
    ///
    /// # Errors
    /// If the system does not list its mounts.
    pub fn ask(&self, top: Option<&ExactStat>) -> io::Result<ProtectedLocations> {
        let mut protected = ProtectedLocations::default();
        protected.look_at_mounts()?;
        if let Some(top) = top {
            protected.inodes.insert(top.stat.identity(), ROOT);
        }
        let working = self.working.as_slice();
        for (paths, kind) in [(&*self.roots, ROOT), (&self.homes, HOME), (working, WORKING)] {
            for path in paths {
                // If it does not exist, its path is protected.
                let real = sys::real_path(path, sys::Symlinks::Follow);
                let real = real.unwrap_or_else(|_| path.clone());
                protected.add(real.as_os_str().as_encoded_bytes(), kind, true);
            }
        }
        let mount = top.map_or(0, |top| top.mount);
        let others = sys::user_homes();
        let homes = self.homes.iter().chain(&others);
        for storage in containers::usual_storages(homes, mount, &protected.mounts) {
            protected.add_storage(&storage);
        }
        // The scan knows no directory around a root. With a filter, it does not know all directories in it.
        let mut search = StorageSearch::default();
        for root in &self.roots {
            let real = sys::real_path(root, sys::Symlinks::Follow).unwrap_or_else(|_| root.clone());
            let real = real.as_os_str().as_encoded_bytes();
            if let Some(storage) = search.around(real, 0, &protected.mounts) {
                let path = storage.path.iter().map(|path| &**path);
                path.chain([real]).for_each(|path| protected.add_storage(path));
            }
        }
        for home in &others {
            let home = home.as_os_str().as_encoded_bytes();
            if let Some((path, may_touch)) = protected.mounts.near_path(home, mount) {
                protected.add(&path, HOME_OF_OTHER, may_touch);
            }
        }
        Ok(protected)
    }
}

impl ProtectedLocations {
    /// Asks again what is mounted.
    ///
    /// # Errors
    /// If the system does not tell.
    pub(super) fn look_at_mounts(&mut self) -> io::Result<()> {
        self.mounts = MountTable::read();
        if self.mounts.is_empty() {
            return Err(io::Error::other(
                "what is mounted cannot be told: /proc/self/mountinfo cannot be read",
            ));
        }
        let points = self.mounts.mount_points();
        self.mount_points = points.map(|point| (point, MOUNT_POINT)).collect();
        // Engines mount an overlay at DRIVER/LAYER/merged in their storage.
        let storages: Vec<_> = self.mounts.overlays().filter_map(storage_around).collect();
        storages.iter().for_each(|storage| self.add_storage(storage));
        Ok(())
    }

    /// The mounts when they were last read.
    pub(super) fn mounts(&self) -> &MountTable {
        &self.mounts
    }

    /// Protects the storage of a container engine at the real path `path`, and all that is in it.
    fn add_storage(&mut self, path: &[u8]) {
        if let Some(location) = self.mounts.location(0, path) {
            self.locations.entry(location.clone()).or_insert(STORAGE);
            self.storages.insert(location);
        }
    }

    /// Protects what is at the real path `path`. Without `may_touch`, it is not opened.
    fn add(&mut self, path: &[u8], kind: Protection, may_touch: bool) {
        let held = may_touch.then(|| HeldDirectory::open(&CString::new(path).ok()?).ok());
        let stat = held.flatten().and_then(|held| held.stat().ok());
        if let Some(stat) = &stat {
            self.inodes.entry(stat.stat.identity()).or_insert(kind);
        }
        let location = self.mounts.location(stat.map_or(0, |stat| stat.mount), path);
        if let Some(location) = location {
            self.locations.entry(location).or_insert(kind);
        }
    }

    /// The reason why the entry at `path`, which is reached through `mount`, must not be removed, if there is one.
    pub fn refusal_at(&self, mount: u64, path: &[u8], is_directory: bool) -> Option<Refusal> {
        let Some(location) = self.mounts.location(mount, path) else {
            return Some("its place in its file system cannot be told");
        };
        let kinds = [&self.mount_points, &self.locations];
        if let Some(kind) = kinds.iter().find_map(|kinds| kinds.get(&location)) {
            return Some(kind.itself);
        }
        if self.storages.iter().any(|storage| storage.contains(&location)) {
            return Some(STORAGE.itself);
        }
        if !is_directory {
            return None;
        }
        let start = location.before_content();
        kinds.into_iter().find_map(|kinds| {
            let (inside, kind) = kinds.range(&start..).next()?;
            location.contains(inside).then_some(kind.around)
        })
    }

    /// The reason why the directory with this inode must not be removed, if there is one.
    pub fn refusal_of(&self, inode: Identity) -> Option<Refusal> {
        self.inodes.get(&inode).map(|kind| kind.itself)
    }

    /// The reason why the directory `id` of `tree` must not be removed because of what was scanned in it.
    pub fn refusal_within(&self, tree: &Tree, id: DirectoryId) -> Option<Refusal> {
        tree.directory(id).all_directories().find_map(|child| {
            let kind = self.inodes.get(&child.inode()?.identity.on_any_mount())?;
            Some(if child.id() == Some(id) { kind.itself } else { kind.around })
        })
    }

    /// The reason why the entry at `path`, whose attributes are `it`, must not be removed, if there is one.
    pub(super) fn refusal(&self, path: &[u8], it: &ExactStat) -> Option<Refusal> {
        if it.is_directory()
            && let Some(refusal) = self.refusal_of(it.stat.identity())
        {
            return Some(refusal);
        }
        self.refusal_at(it.mount, path, it.is_directory())
    }
}

/// The storage in which an engine has mounted the overlay at `point`.
fn storage_around(point: &[u8]) -> Option<Vec<u8>> {
    let mut names = point.strip_suffix(b"/merged")?.rsplitn(3, |byte| *byte == b'/').skip(1);
    let driver = names.next()?;
    matches!(driver, b"overlay" | b"overlay2").then(|| names.next().map(<[u8]>::to_vec))?
}

// Looks for storages of container engines in a directory that is about to go. The scan may not have seen them: a filter
// left them out, or an engine made them since.

/// Ensures that the directory is no container engine's storage now. Once its own content is being removed, nothing that
/// is new in it is.
pub(super) fn ensure_no_storage(held: &HeldDirectory) -> Result<(), Stop> {
    refusal_of(&held.to_list()?).map_or(Ok(()), |refusal| Err(because(refusal)))
}

/// Ensures that no storage lies in the directory called `name` in `around`, as far as directories can be listed. It goes
/// into the trash with everything in it. The look can be cancelled.
pub(super) fn ensure_no_storage_in(
    around: &HeldDirectory,
    name: &CStr,
    removal: &mut Removal<'_>,
) -> Result<(), Stop> {
    let mut open = HeldPath::default();
    // Of each open directory, its attributes and the directories in it that are still ahead.
    let mut levels: Vec<(ExactStat, Vec<CString>)> = Vec::new();
    let mut next = Some(around.descend(&[name])?);
    loop {
        if let Some(held) = next.take() {
            removal.before(RemovalStep::Enter, name.to_bytes())?;
            if refusal_of(&held.to_list()?).is_some() {
                return Err(because(HOLDS_STORAGE));
            }
            levels.push((held.stat()?, directories_in(&held)?));
            open.enter(held);
        }
        let Some((_, ahead)) = levels.last_mut() else { return Ok(()) };
        match ahead.pop().map(|name| open.innermost()?.descend(&[name])) {
            Some(Ok(held)) => next = Some(held),
            Some(Err(error)) => match error.kind() {
                // Somebody else has removed or replaced it; or nobody may look.
                NotFound | NotADirectory | PermissionDenied => {}
                _ => return Err(error.into()),
            },
            None => {
                levels.pop();
                if let Some((around, _)) = levels.last() {
                    open.leave(around)?;
                }
            }
        }
    }
}

/// The names of the directories in `held`, as far as it can be listed.
fn directories_in(held: &HeldDirectory) -> io::Result<Vec<CString>> {
    let (directory, mut buffer, mut listing) = (held.to_list()?, Vec::new(), Listing::default());
    while matches!(directory.read(&mut buffer, &mut listing, None), Ok(true)) {}
    let is_directory = |listed: &Listed<'_>| match listed.kind {
        Some(kind) => kind == Kind::Directory,
        None => held.stat_of(listed.name).is_ok_and(|stat| stat.is_directory()),
    };
    Ok(listing.iter().filter(is_directory).map(|listed| listed.name.to_owned()).collect())
}
