//! A target: where it is, and what tells it from another entry with the same name.

use std::ffi::{CStr, CString};
use std::io::{self, ErrorKind};
use std::sync::Arc;

use super::explain::explain;
use super::held::HeldMount;
use super::protected::Protected;
use super::relinked::Relinked;
use crate::measure::{Kind, Mode};
use crate::path;
use crate::sys::{ExactStat, HeldDirectory, MountedIdentity};
use crate::tree::{Child, Place, Tree};

/// What a scan knows of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownEntry {
    file_type: u16,
    identity: Option<MountedIdentity>,
    links: Option<u32>,
    fingerprint: Option<u32>,
}

/// An entry to be removed.
#[derive(Debug)]
pub struct Target {
    /// The mount that it is on.
    pub mount: Arc<HeldMount>,
    /// The names of the directories between the held directory and the target.
    pub way: Vec<Vec<u8>>,
    /// Its name.
    pub name: Vec<u8>,
    /// What the scan knows of its directory.
    pub directory: KnownEntry,
    /// What the scan knows of the target.
    pub known: KnownEntry,
    /// Its scanned content if it is a directory: a tree whose root is the target.
    pub below: Option<Tree>,
    /// Its attributes in the review. Without them nothing is removed.
    pub seen: Option<ExactStat>,
    /// The number of entries that go with it, and its size, for the question and the log.
    pub totals: (u64, u64),
}

impl KnownEntry {
    /// What the tree keeps of `child`.
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

    /// Checks that `now` is the scanned directory, even if its content has changed.
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

    /// Checks that `now` is what was scanned.
    pub(super) fn check(&self, now: &ExactStat) -> io::Result<()> {
        let Some(fingerprint) = self.fingerprint else {
            return Err(io::Error::other("it was not read completely"));
        };
        if self.links == Some(u32::MAX) {
            return Err(io::Error::other("something is mounted on it, or symlinks lead to it"));
        }
        self.check_inode(now)?;
        let is_same = now.stat.fingerprint() == fingerprint;
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

    /// The same with its scanned content, which is at `place` in `tree`. Without it no directory is deleted.
    pub fn with_content(self, tree: &Tree, place: Place) -> Self {
        let below = tree.at(place).id().map(|id| tree.part(id));
        Self { below, ..self }
    }

    /// The same without its content.
    pub(super) fn without_content(&self) -> Self {
        let Self { directory, known, seen, totals, .. } = *self;
        let (mount, below) = (Arc::clone(&self.mount), None);
        let (way, name) = (self.way.clone(), self.name.clone());
        Self { mount, way, name, directory, known, below, seen, totals }
    }

    /// The path of its directory.
    pub(super) fn directory_path(&self) -> Vec<u8> {
        let names = self.way.iter().map(|name| &**name);
        path::join_all([&*self.mount.path()].into_iter().chain(names))
    }

    /// Opens its directory, which must be the one that was scanned.
    pub(super) fn enter(&self) -> io::Result<(HeldDirectory, ExactStat)> {
        let names = self.way.iter().map(|name| checked(name)).collect::<io::Result<Vec<_>>>()?;
        let directory = self.mount.held()?.descend(&names).map_err(|error| match error.kind() {
            ErrorKind::NotFound => io::Error::other("its directory is not there any more"),
            _ => error,
        })?;
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

    /// Returns its attributes, with the time of change from before this run, if it is what was scanned and may be
    /// removed.
    pub(super) fn look(
        &self,
        directory: &HeldDirectory,
        around: &ExactStat,
        name: &CStr,
        protected: &Protected,
        relinked: &Relinked,
    ) -> io::Result<ExactStat> {
        let now = relinked.unrelinked(directory.stat_of(name)?);
        self.known.check(&now)?;
        ensure_here(around, &now)?;
        protected.check(directory, name, &now)?;
        let refuse = |why: &str| Err(io::Error::other(why));
        // In an append-only directory, weigh could make a private directory but never remove it.
        match (around, &now) {
            (ExactStat { is_immutable: true, .. }, _) => refuse("its directory is immutable"),
            (ExactStat { is_append_only: true, .. }, _) => refuse("its directory is append-only"),
            (_, ExactStat { is_immutable: true, .. }) => refuse("it is immutable"),
            (_, ExactStat { is_append_only: true, .. }) => refuse("it is append-only"),
            _ => Ok(now),
        }
    }
}

/// Looks at `target` for the review, and keeps its attributes.
///
/// # Errors
/// The reason why it must not be removed, such as a change.
pub fn look(target: &mut Target) -> io::Result<()> {
    target.seen = None;
    let name = checked(&target.name)?;
    let (directory, around) = target.enter()?;
    let (protected, relinked) = (target.mount.protected()?, &Relinked::default());
    let seen = target.look(&directory, &around, &name, protected, relinked).map_err(|error| {
        let message = explain(&error, Some(&around), None);
        io::Error::other(message)
    })?;
    target.seen = Some(seen);
    Ok(())
}

/// `name` for a system call, if it can be the name of an entry.
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
