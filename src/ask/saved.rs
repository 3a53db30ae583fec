//! What stays on the disk: the snapshot that is saved, the one that is remembered, and not what is expired.

use std::io;
use std::path::{Path, PathBuf};

use super::Request;
use crate::base::measure::View;
use crate::from::series::{self, Expired, Remembering};
use crate::from::snapshot::{self, Destination, Origin, Snapshot};
use crate::sys::problem::{Operation, Problem};

impl Request {
    /// Where to save `snapshot`. In a directory, it is named after its own time, which is not now if it was loaded: the
    /// names there are in the order of the times.
    pub(super) fn destination(&self, snapshot: &Snapshot) -> Option<Destination> {
        let to = self.save.as_ref()?;
        let dated = to.directory_of_new().zip(snapshot.origin.as_ref());
        let dated = dated.map(|(directory, origin)| series::dated(directory, origin.time));
        Some(dated.unwrap_or_else(|| to.clone()))
    }

    /// Half a snapshot is not saved, because later it would be taken for a whole one.
    pub(super) fn save(
        &self,
        to: &Destination,
        snapshot: &mut Snapshot,
    ) -> Result<PathBuf, Problem> {
        if snapshot.weighed.is_interrupted {
            let interrupted = io::Error::other("interrupted");
            return Err(snapshot::problem(&to.path, Operation::Save, &interrupted));
        }
        // It has sizes, the largest first, whatever is shown.
        let shown = snapshot.view;
        snapshot.see_as(View { by_time: false, ..shown });
        let saved = snapshot::save(to, &self.interrupt, snapshot, self.walk.threads);
        snapshot.see_as(shown);
        saved
    }

    /// Remembers a walk of directories, if that is asked for. It may be incomplete, unless it was interrupted.
    pub(super) fn remember(&self, snapshot: &mut Snapshot) -> Option<Remembering> {
        let remembered = self.remember.as_ref()?;
        let tree = snapshot.weighed.report.as_ref();
        let (Some(tree), Some(origin)) = (tree, snapshot.origin.clone()) else {
            return Some(Remembering::Unfit("nothing could be read"));
        };
        if snapshot.weighed.is_interrupted {
            return Some(Remembering::Unfit("the scan was interrupted"));
        }
        if !tree.roots().all(|root| root.is_directory()) {
            return Some(Remembering::Unfit("only scans of directories are"));
        }
        let mut keep = || {
            let failed = |error| snapshot::problem(&remembered.directory, Operation::Save, &error);
            let to = remembered.destination(&origin).map_err(failed)?;
            let saved = self.save(&to, snapshot)?;
            let expired = remembered.thin(&saved, &origin).map_err(failed)?;
            Ok((saved, expired))
        };
        Some(match keep() {
            Ok((saved, expired)) => Remembering::Kept(saved, expired),
            Err(problem) => Remembering::Failed(problem),
        })
    }

    /// Removes expired snapshots from the directory in which a dated one from `origin` was saved in a `file`, if that
    /// was asked for.
    pub(super) fn remove_old(&self, file: &Path, origin: &Origin) -> Expired {
        let directory = self.save.as_ref().and_then(Destination::directory_of_new);
        directory.zip(self.keep_saved).map_or_else(Expired::default, |(directory, count)| {
            series::remove_old(directory, (file, origin), count.get())
        })
    }
}
