//! What stays on the disk: the snapshot that is saved, the one that is remembered, and not what is expired.

use std::io;
use std::path::{Path, PathBuf};

use super::Request;
use crate::measure::View;
use crate::problem::{Operation, Problem};
use crate::snapshot::schema::ExportOptions;
use crate::snapshot::{self, Destination, Expired, Origin, Snapshot, SnapshotForm};

impl Request {
    /// Half a snapshot is not saved, because later it would be taken for a whole one.
    pub(super) fn save(
        &self,
        to: &Destination,
        form: SnapshotForm,
        snapshot: &mut Snapshot,
    ) -> Result<PathBuf, Problem> {
        if snapshot.weighed.is_interrupted {
            let interrupted = io::Error::other("interrupted");
            return Err(snapshot::problem(&to.path, Operation::Save, &interrupted));
        }
        // It has sizes, the largest first, whatever is shown.
        let shown = snapshot.view;
        let view = View { by_time: false, ..shown };
        snapshot.see_as(view);
        let options = ExportOptions {
            view,
            known: snapshot.known,
            origin: snapshot.origin.clone(),
            threads: self.walk.threads,
            ..ExportOptions::default()
        };
        let saved = snapshot::save(to, form, &self.interrupt, &snapshot.weighed, &options);
        snapshot.see_as(shown);
        saved
    }

    /// Remembers a walk of directories, if that is asked for and nothing is missing. Returns what had to make room.
    pub(super) fn remember(&self, snapshot: &mut Snapshot) -> Result<Expired, Problem> {
        let is_whole = snapshot.weighed.is_complete()
            && snapshot
                .weighed
                .report
                .as_ref()
                .is_some_and(|tree| tree.roots().all(|root| root.is_directory()));
        let (Some(remembered), Some(origin), true) =
            (&self.remember, snapshot.origin.clone(), is_whole)
        else {
            return Ok(Expired::default());
        };
        let failed = |error| snapshot::problem(&remembered.directory, Operation::Save, &error);
        let to = remembered.destination(&origin).map_err(failed)?;
        let saved = self.save(&to, SnapshotForm::Packed, snapshot)?;
        remembered.thin(&saved, &origin).map_err(failed)
    }

    /// Removes expired snapshots from the directory in which a dated one from `origin` was saved in a `file`, if that
    /// was asked for.
    pub(super) fn remove_old(&self, file: &Path, origin: &Origin) -> Expired {
        let directory = self.save.as_ref().and_then(Destination::directory_of_new);
        directory.zip(self.keep_saved).map_or_else(Expired::default, |(directory, count)| {
            snapshot::remove_old(directory, (file, origin), count.get())
        })
    }
}
