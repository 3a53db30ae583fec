//! A target: where it is, and what tells it from another entry with the same name.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::io::{self, ErrorKind};
use std::iter;
use std::path::PathBuf;
use std::sync::Arc;

use super::held::HeldMount;
use super::outcome::explain;
use super::protected::{HOLDS_STORAGE, ProtectedLocations, ProtectedPaths};
use super::run::Relinked;
use crate::base::inode::{Identity, Links};
use crate::base::measure::{Kind, Mode};
use crate::base::path;
use crate::scan::containers::{self, refusal_of};
use crate::sys::{self, ExactStat, HeldDirectory};
use crate::tree::{Child, Details, DirectoryId, Place, Tree};

/// An entry to be removed.
#[derive(Clone, Debug)]
pub struct Target {
    /// The mount that it is on.
    pub(super) mount: Arc<HeldMount>,
    /// The names of the directories between the held directory and the target.
    pub way: Vec<Vec<u8>>,
    /// Its name.
    pub name: Vec<u8>,
    /// What the scan knows of its directory.
    pub(super) directory: KnownEntry,
    /// What the scan knows of the target.
    pub(super) known: KnownEntry,
    /// Its scanned content if it is a directory: a tree whose root is the target.
    pub(super) below: Option<Arc<Tree>>,
    /// Its attributes in the review. Without them nothing is removed.
    pub seen: Option<ExactStat>,
    /// The number of entries that go with it, and its size, for the question and the log.
    pub totals: (u64, u64),
    /// Whether it is the info file, in the trash, of the target before it. Then it goes only after that: an info file that
    /// names nothing does no harm, but without one, nobody can put the entry back, and another may get its name.
    pub is_info: bool,
}

/// The directory of a target, held open.
pub(super) struct TargetDirectory {
    pub(super) held: HeldDirectory,
    pub(super) stat: ExactStat,
    /// Its path now.
    pub(super) path: Vec<u8>,
}

impl Target {
    /// Its path.
    pub fn path(&self) -> Vec<u8> {
        let names = self.way.iter().chain([&self.name]).map(|name| &**name);
        path::join_all([&*self.mount.path()].into_iter().chain(names))
    }

    /// Whether it was scanned as a directory.
    pub fn is_directory(&self) -> bool {
        self.known.is_directory()
    }

    /// The same with its scanned content, which is at `place` in `tree`. Without it no directory is deleted.
    pub fn with_content(self, tree: &Tree, place: Place) -> Self {
        let below = tree.at(place).id().map(|id| Arc::new(tree.part(id)));
        Self { below, ..self }
    }

    /// Opens its directory, which must be the one that was scanned.
    pub(super) fn enter(&self) -> io::Result<TargetDirectory> {
        let names = self.way.iter().map(|name| checked(name)).collect::<io::Result<Vec<_>>>()?;
        let top = self.mount.opened()?;
        let held = top.held.descend(&names).map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => {
                io::Error::other("its directory is not there any more")
            }
            _ => error,
        })?;
        let stat = held.stat()?;
        if !is_beside(&stat, &top.stat) {
            return Err(io::Error::other("it is on another mount or subvolume"));
        }
        if !self.directory.is_complete() {
            return Err(io::Error::other("its directory was not read completely"));
        }
        if self.directory.check(&stat).is_err() {
            return Err(io::Error::other("its directory has been replaced"));
        }
        let path = held.path()?;
        Ok(TargetDirectory { held, stat, path })
    }

    /// Returns its attributes, with the time of change from before this run, if it is what was scanned and may be
    /// removed.
    pub(super) fn look(
        &self,
        directory: &TargetDirectory,
        name: &CStr,
        protected: &ProtectedLocations,
        relinked: &Relinked,
    ) -> io::Result<ExactStat> {
        let around = &directory.stat;
        let now = relinked.as_before_this_run(directory.held.stat_of(name)?);
        self.known.check(&now)?;
        ensure_here(around, &now)?;
        let path = path::join_all([&*directory.path, &*self.name]);
        if let Some(refusal) = protected.refusal(&path, &now) {
            return Err(io::Error::other(refusal));
        }
        // A scan may not have seen the directories around it, or they changed.
        if let Some(refusal) = self.mount.refusal_around(&directory.path, around.mount, protected) {
            return Err(io::Error::other(refusal));
        }
        if now.is_directory() && refusal_of(&directory.held.descend(&[name])?.to_list()?).is_some()
        {
            return Err(io::Error::other(HOLDS_STORAGE));
        }
        // In an append-only directory, weigh could make a private directory but never remove it.
        let refusal = match (around, &now) {
            (ExactStat { is_immutable: true, .. }, _) => "its directory is immutable",
            (ExactStat { is_append_only: true, .. }, _) => "its directory is append-only",
            (_, ExactStat { is_immutable: true, .. }) => "it is immutable",
            (_, ExactStat { is_append_only: true, .. }) => "it is append-only",
            _ => return Ok(now),
        };
        Err(io::Error::other(refusal))
    }
}

/// Looks at `target` for the review, and keeps its attributes.
///
/// # Errors
/// The reason why it must not be removed, such as a change.
pub fn look(target: &mut Target) -> io::Result<()> {
    target.seen = None;
    let name = checked(&target.name)?;
    let directory = target.enter()?;
    let protected = &target.mount.opened()?.protected;
    let seen = target.look(&directory, &name, protected, &Relinked::default());
    target.seen =
        Some(seen.map_err(|error| io::Error::other(explain(&error, Some(&directory.stat), None)))?);
    Ok(())
}

// Makes targets of places in a scanned tree.

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
        is_info: false,
    })
}

/// The directory of `child`, unless `child` is a root.
fn above<'t>(child: &Child<'t>) -> Option<Child<'t>> {
    child.parent().filter(|_| !child.is_root())
}

// What a scan knows of an entry.

/// What a scan knows of an entry: it tells it from another that has its name now, or in another scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownEntry {
    file_type: u16,
    identity: Option<Identity>,
    links: Links,
    /// None of a directory: any change in it changes its times.
    details: Option<Details>,
    fingerprint: Option<u32>,
}

impl KnownEntry {
    /// What the tree keeps of `child`.
    pub fn of(child: &Child<'_>) -> Self {
        let node = child.node();
        let is_directory = child.is_directory();
        Self {
            file_type: node.mode.file_type(),
            identity: node.inode.map(|inode| inode.identity),
            links: node.inode.map_or(Links::Alone, |inode| inode.links),
            details: node.inode.and_then(|inode| inode.details).filter(|_| !is_directory),
            fingerprint: node.fingerprint,
        }
    }

    /// Whether `other`, which another scan knows, is the same entry. It may have more links now, or fewer.
    pub fn is_same(&self, other: &Self) -> bool {
        *self == Self { links: self.links, ..*other }
    }

    pub(super) fn is_directory(&self) -> bool {
        Mode(self.file_type).kind() == Kind::Directory
    }

    /// Whether a directory was read completely.
    pub(super) fn is_complete(&self) -> bool {
        self.fingerprint.is_some()
    }

    /// Checks that `now` is what was scanned. A directory may have other content.
    pub(super) fn check(&self, now: &ExactStat) -> io::Result<()> {
        let Some(fingerprint) = self.fingerprint else {
            return Err(io::Error::other("it was not read completely"));
        };
        if self.links == Links::Unknown {
            return Err(io::Error::other("symlinks may lead to it"));
        }
        self.check_inode(now)?;
        let is_same = now.stat.fingerprint() == fingerprint;
        if is_same { Ok(()) } else { Err(io::Error::other(CHANGED)) }
    }

    /// Checks that `now` is the scanned directory, even if that was not read completely.
    pub(super) fn check_identity(&self, now: &ExactStat) -> io::Result<()> {
        if self.is_complete() { self.check(now) } else { self.check_inode(now) }
    }

    fn check_inode(&self, now: &ExactStat) -> io::Result<()> {
        let is_other = self.identity.is_some_and(|identity| {
            // A mount is 0 if the system does not tell.
            let (then, now_on) = (identity.mount, now.mount);
            let is_other_mount = then != 0 && now_on != 0 && then != now_on;
            is_other_mount || identity.on_any_mount() != now.stat.identity()
        });
        if is_other || self.file_type != now.stat.mode.file_type() {
            return Err(io::Error::other(CHANGED));
        }
        Ok(())
    }
}

pub(super) const CHANGED: &str = "it has changed since the scan";

/// `name` for a system call, if it can be the name of an entry.
pub(super) fn checked(name: &[u8]) -> io::Result<CString> {
    path::ensure_name(name, false).map_err(io::Error::other)?;
    CString::new(name).map_err(io::Error::other)
}

/// Whether `it` is on the mount and the device of `other`.
pub(super) fn is_beside(it: &ExactStat, other: &ExactStat) -> bool {
    (it.mount, it.stat.device) == (other.mount, other.stat.device)
}

/// Refuses what is on another mount, or on another device, than the directory `around` it.
pub(super) fn ensure_here(around: &ExactStat, it: &ExactStat) -> io::Result<()> {
    if it.stat.mount_point || it.mount != around.mount {
        return Err(io::Error::other("it is a mount point"));
    }
    // What is no directory may have a device number of its own: overlays do that.
    if it.is_directory() && it.stat.device != around.stat.device {
        return Err(io::Error::other("it is another subvolume or device"));
    }
    Ok(())
}
