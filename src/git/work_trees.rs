//! What git tracks at paths anywhere, outside a walk.

use std::collections::HashMap;
use std::ffi::CStr;
use std::io;
use std::path::{Path, PathBuf};

use super::index::Tracked;
use super::repository::Repository;
use super::{WorkTreeDirectory, invalid, opened, resolve};

/// What version control keeps at the top of a work tree: first git and jj, whose repository mostly is one of git. What
/// the others track is not known.
pub const REPOSITORIES: [&CStr; 11] = [
    c".git",
    c".jj",
    c".hg",
    c".sl",
    c".svn",
    c".bzr",
    c"CVS/Entries",
    c"_darcs",
    c".pijul",
    c".fslckout",
    c"_FOSSIL_",
];

/// The work trees that were met.
#[derive(Debug, Default)]
pub struct WorkTrees(HashMap<PathBuf, Option<Tracked>>);

impl WorkTrees {
    /// Whether any work tree tracks what is at the real `path`, or something in it. `tops` are the directories around it
    /// that may be the top of one. Upper and lower case are the same here: whoever asks leaves alone what may be
    /// tracked.
    ///
    /// # Errors
    /// If an index cannot be read.
    pub fn track<'p, D: WorkTreeDirectory>(
        &mut self,
        path: &'p Path,
        is_directory: bool,
        tops: impl Iterator<Item = &'p Path>,
    ) -> io::Result<bool> {
        for top in tops {
            if !self.0.contains_key(top) {
                self.0.insert(top.to_owned(), tracked_in::<D>(top)?);
            }
            let Some(Some(tracked)) = self.0.get(top) else { continue };
            let below = path.strip_prefix(top).unwrap_or(path).iter();
            // As git writes it, in lower case.
            let names: Vec<_> = below.map(|name| name.as_encoded_bytes()).collect();
            if tracked.has(&names.join(&b'/').to_ascii_lowercase(), is_directory) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether `dir` has a repository in it, of whatever kind, or is one of git's without a work tree.
pub(super) fn is_repository(dir: &impl WorkTreeDirectory) -> bool {
    let is_there = |name: &&CStr| dir.kind_at(name, false).is_some();
    REPOSITORIES.iter().any(is_there) || [c"HEAD", c"objects", c"refs"].iter().all(is_there)
}

/// What is tracked in the work tree whose top is `top`, if it is one.
fn tracked_in<D: WorkTreeDirectory>(top: &Path) -> io::Result<Option<Tracked>> {
    let Some(dir) = opened::<D>(top) else { return Ok(None) };
    let is_there = |name: &&CStr| dir.kind_at(name, false).is_some();
    let [git, jj, others @ ..] = &REPOSITORIES;
    if others.iter().any(is_there) {
        return Err(invalid("another system may track it"));
    }
    let Some(repository) = Repository::of(&dir) else {
        // Whatever it is, it may track everything. Beside a repository of git, jj shares that.
        return if is_there(git) || is_there(jj) {
            Err(invalid("its repository cannot be read"))
        } else {
            Ok(None)
        };
    };
    let own = resolve(top.as_os_str().as_encoded_bytes(), &repository.own);
    let tracked = Tracked::new(own, 0, true);
    tracked.read::<D>()?;
    Ok(Some(tracked))
}
