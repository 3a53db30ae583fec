//! The directory of one or more targets, as long as it is held.

use std::sync::Arc;

use super::directories::UserDirectories;
use super::explain::{Stop, explain};
use super::held::HeldMount;
use super::outcome::{RemovalEvent, RemovalStep};
use super::private::Private;
use super::removal::Removal;
use super::target::{Target, TargetDirectory};
use super::trash::TrashDirectory;
use crate::sys::problem::{Operation, Problem};

/// A directory with targets.
pub(super) struct Parent {
    pub(super) directory: TargetDirectory,
    pub(super) private: Private,
    mount: Arc<HeldMount>,
    way: Vec<Vec<u8>>,
    trash: Option<Arc<TrashDirectory>>,
    /// The number of one target in it.
    target: usize,
}

impl Parent {
    /// Whether it is the directory of `target`, still at the same path.
    pub(super) fn is_of(&self, target: &Target) -> bool {
        Arc::ptr_eq(&self.mount, &target.mount)
            && self.way == target.way
            && self.directory.held.path().is_ok_and(|now| now == self.directory.path)
    }

    /// Opens the directory of `target`.
    pub(super) fn open(target: &Target, removal: &mut Removal<'_>) -> Result<Self, Stop> {
        let name = target.way.last().map_or(&b""[..], |name| name);
        removal.before(RemovalStep::Enter, name)?;
        Ok(Self {
            directory: target.enter()?,
            private: Private::new()?,
            mount: Arc::clone(&target.mount),
            way: target.way.clone(),
            trash: None,
            target: removal.target(),
        })
    }

    /// Removes its private directory.
    pub(super) fn leave(self, removal: &mut Removal<'_>) {
        let Self { directory, private, target, .. } = self;
        let path = private.path(&directory.path);
        let removed = private.remove(&directory.held);
        if let Ok(stat) = directory.held.stat() {
            removal.report(RemovalEvent::Left { target, stat: &stat });
        }
        let Err(error) = removed else { return };
        let why = explain(&error, Some(&directory.stat), None);
        let message = format!("weigh could not remove its private directory: {why}");
        let problem = Problem::new(path, Operation::Remove, &error);
        removal.removed.left.push(Problem { message, ..problem });
    }

    /// The trash for its entries.
    pub(super) fn trash(
        &mut self,
        directories: &UserDirectories,
        removal: &mut Removal<'_>,
    ) -> Result<Arc<TrashDirectory>, Stop> {
        if let Some(trash) = &self.trash {
            return Ok(Arc::clone(trash));
        }
        let used = &mut removal.removed.trashes;
        let found = TrashDirectory::find(&self.directory, directories, used)?;
        let known = removal.trashes.iter().find(|known| known.is_same(&found)).cloned();
        let trash = known.unwrap_or_else(|| {
            let found = Arc::new(found);
            removal.trashes.push(Arc::clone(&found));
            found
        });
        Ok(Arc::clone(self.trash.insert(trash)))
    }
}
