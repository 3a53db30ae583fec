//! A target: where it is, and what tells it from another entry with the same name.

use std::ffi::CStr;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use super::explain::explain;
use super::held::HeldMount;
use super::known::{KnownEntry, checked, ensure_here, is_beside};
use super::protected::{HOLDS_STORAGE, ProtectedLocations};
use super::relinked::Relinked;
use crate::base::path;
use crate::scan::containers::refusal_of;
use crate::sys::{ExactStat, HeldDirectory};
use crate::tree::{Place, Tree};

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
