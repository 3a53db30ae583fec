//! What is to go: where it is by name, and what tells it from anything else of that name.

use std::ffi::{CStr, CString};
use std::io;
use std::sync::Arc;

use super::explain::explain;
use super::held::HeldMount;
use crate::measure::{Kind, Mode};
use crate::path;
use crate::sys::{ExactStat, HeldDirectory, MountedIdentity, Stat};
use crate::tree::{Child, Place, Tree};

/// What a scan knows of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownEntry {
    file_type: u16,
    identity: Option<MountedIdentity>,
    links: Option<u32>,
    fingerprint: Option<u32>,
}

/// Something that is to go.
#[derive(Debug)]
pub struct Target {
    /// What it lies on.
    pub mount: Arc<HeldMount>,
    /// The names of the directories from there to the one that it lies in.
    pub way: Vec<Vec<u8>>,
    /// Its name.
    pub name: Vec<u8>,
    /// What is known of the directory that it lies in.
    pub directory: KnownEntry,
    /// What is known of the target.
    pub known: KnownEntry,
    /// What was scanned of it, if it is a directory: itself, as the root, and all below it.
    pub below: Option<Tree>,
    /// What the review found; without it nothing is removed.
    pub seen: Option<ExactStat>,
    /// How many entries it comes to, and how large it is: for the log alone.
    pub totals: (u64, u64),
}

impl KnownEntry {
    /// What the tree has of `child`.
    pub fn of(child: &Child<'_>) -> Self {
        let node = child.node();
        Self {
            file_type: node.mode.file_type(),
            identity: node.inode.map(|inode| inode.identity),
            links: node.inode.and_then(|inode| inode.links),
            fingerprint: node.fingerprint,
        }
    }

    fn is_directory(&self) -> bool {
        Mode(self.file_type).kind() == Kind::Directory
    }

    /// Whether there were several links to it.
    pub(super) fn has_links(&self) -> bool {
        self.links.is_some()
    }

    /// Whether this is the directory that was scanned, whatever has been done in it; if not, why not.
    pub(super) fn check_identity(&self, now: &ExactStat) -> io::Result<()> {
        match self.fingerprint {
            Some(_) => self.check(now),
            None => self.check_inode(now),
        }
    }

    fn check_inode(&self, now: &ExactStat) -> io::Result<()> {
        let is_other_mount = |mount: u64| mount != 0 && now.mount != 0 && mount != now.mount;
        let is_other = self.identity.is_some_and(|(mount, identity)| {
            is_other_mount(mount) || identity != now.stat.identity()
        });
        match is_other || self.file_type != now.stat.mode.file_type() {
            true => Err(io::Error::other(CHANGED)),
            false => Ok(()),
        }
    }

    /// Whether this is what was scanned; if not, why not.
    pub(super) fn check(&self, now: &ExactStat) -> io::Result<()> {
        let Some(fingerprint) = self.fingerprint else {
            return Err(io::Error::other("it was not read completely"));
        };
        if self.links == Some(u32::MAX) {
            return Err(io::Error::other("something is mounted on it, or symlinks lead to it"));
        }
        self.check_inode(now)?;
        // Links may have been removed since: what has one now may have had two.
        let linked = Stat { links: 2, ..now.stat };
        let is_same = now.stat.fingerprint() == fingerprint
            || self.links.is_some() && linked.fingerprint() == fingerprint;
        if is_same { Ok(()) } else { Err(io::Error::other(CHANGED)) }
    }
}

const CHANGED: &str = "it has changed since the scan";

impl Target {
    /// Its path.
    pub fn path(&self) -> Vec<u8> {
        let mut path = self.directory_path();
        path::join(&mut path, &self.name);
        path
    }

    /// Whether it was scanned as a directory.
    pub fn is_directory(&self) -> bool {
        self.known.is_directory()
    }

    /// The same with what was scanned in it, which is at `place` in `tree`: without that, no directory is deleted.
    pub fn with_content(self, tree: &Tree, place: Place) -> Self {
        let below = tree.at(place).id().map(|id| tree.part(id));
        Self { below, ..self }
    }

    /// The same without what was scanned in it.
    pub(super) fn without_content(&self) -> Self {
        let Self { directory, known, seen, totals, .. } = *self;
        let (mount, below) = (Arc::clone(&self.mount), None);
        let (way, name) = (self.way.clone(), self.name.clone());
        Self { mount, way, name, directory, known, below, seen, totals }
    }

    /// That of the directory it lies in.
    pub(super) fn directory_path(&self) -> Vec<u8> {
        let names = self.way.iter().map(|name| &**name);
        path::join_all([self.mount.path()].into_iter().chain(names))
    }

    /// The directory that it lies in, if that is the one that was scanned.
    pub(super) fn enter(&self) -> io::Result<(HeldDirectory, ExactStat)> {
        let names = self.way.iter().map(|name| checked(name)).collect::<io::Result<Vec<_>>>()?;
        let directory = self.mount.held()?.descend(&names)?;
        let stat = directory.stat()?;
        let top = self.mount.stat()?;
        if (stat.mount, stat.stat.device) != (top.mount, top.stat.device) {
            return Err(io::Error::other("it is on another mount or subvolume"));
        }
        if self.directory.fingerprint.is_none() {
            return Err(io::Error::other("its directory was not read completely"));
        }
        match self.directory.check(&stat) {
            Ok(()) => Ok((directory, stat)),
            Err(_) => Err(io::Error::other("its directory has been replaced")),
        }
    }

    /// Looks at it: whether it is what was scanned, and may go.
    pub(super) fn look(
        &self,
        directory: &HeldDirectory,
        around: &ExactStat,
        name: &CStr,
    ) -> io::Result<ExactStat> {
        let now = directory.stat_of(name)?;
        self.known.check(&now)?;
        ensure_here(around, &now)?;
        self.mount.ensure_not_protected(&now)?;
        let refuse = |why: &str| Err(io::Error::other(why));
        // The private directory could be made there, and never be removed again.
        match (around, &now) {
            (ExactStat { is_immutable: true, .. }, _) => refuse("its directory is immutable"),
            (ExactStat { is_append_only: true, .. }, _) => refuse("its directory is append-only"),
            (_, ExactStat { is_immutable: true, .. }) => refuse("it is immutable"),
            (_, ExactStat { is_append_only: true, .. }) => refuse("it is append-only"),
            _ => Ok(now),
        }
    }
}

/// Looks at `target` for the review, and keeps what it is now.
///
/// # Errors
/// Why it is not to be removed: it has changed, for one.
pub fn look(target: &mut Target) -> io::Result<()> {
    target.seen = None;
    let name = checked(&target.name)?;
    let (directory, around) = target.enter()?;
    let seen = target.look(&directory, &around, &name).map_err(|error| {
        let message = explain(&error, Some(&around), None);
        io::Error::other(message)
    })?;
    target.seen = Some(seen);
    Ok(())
}

/// `name` as the system takes it, if it is one entry of a directory.
pub(super) fn checked(name: &[u8]) -> io::Result<CString> {
    match name {
        b"" | b"." | b".." => Err(io::Error::other("it has no name of its own")),
        _ if name.contains(&b'/') => Err(io::Error::other("it is a path, and no name")),
        _ => CString::new(name).map_err(io::Error::other),
    }
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
