//! What git tracks at paths anywhere, outside a walk.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::io;
use std::path::{Path, PathBuf};

use super::config::work_tree_of;
use super::head::{ensure_new, tree_of_head};
use super::index::Tracked;
use super::repository::Repository;
use super::{WorkTreeDirectory, invalid, resolve};

/// The entries that version control keeps at the top of a work tree: first git's. Which files the others track is not
/// known.
pub const REPOSITORIES: [&CStr; 23] = [
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
    c"_MTN",
    c".got",
    c".p4config",
    c".plastic",
    c".repo",
    c"RCS",
    c"SCCS",
    c"BitKeeper",
    c".bk",
    c"{arch}",
    c"$tf",
    c".oxen",
];

/// The directories that were looked at: what is tracked there, if one is the top of a work tree; or why that is not
/// known.
#[derive(Debug, Default)]
pub struct WorkTrees(HashMap<PathBuf, io::Result<Option<Tracked>>>);

impl WorkTrees {
    /// Whether any work tree may track what is at the real `path`, or something in it. `tops` are the directories around
    /// it that may be the top of one. Upper and lower case are the same here: whoever asks leaves alone what may be
    /// tracked.
    pub fn may_track<'p, D: WorkTreeDirectory>(
        &mut self,
        path: &'p Path,
        is_directory: bool,
        mut tops: impl Iterator<Item = &'p Path>,
    ) -> bool {
        // How many bytes of `path` lead to the top of each work tree around it that has a repository.
        let mut inner = Vec::new();
        tops.any(|top| {
            match self.0.entry(top.to_owned()).or_insert_with(|| tracked_in::<D>(top)) {
                Ok(Some(tracked)) => {
                    let below = path.strip_prefix(top).unwrap_or(path).iter();
                    // As git writes it, in lower case.
                    let names: Vec<_> = below.map(|name| name.as_encoded_bytes()).collect();
                    if names.first().is_some_and(|name| name.eq_ignore_ascii_case(b".git")) {
                        return true;
                    }
                    let below = names.join(&b'/').to_ascii_lowercase();
                    let from = path.as_os_str().len() - below.len();
                    let is_top = |length: usize| inner.contains(&(from + length));
                    let is_doubtful =
                        tracked.has(&below, is_directory) || tracked.has_around(&below, is_top);
                    inner.push(top.as_os_str().len());
                    is_doubtful
                }
                Ok(None) => false,
                // It may track everything.
                Err(_) => true,
            }
        })
    }
}

/// Whether `dir` has a repository in it, of whatever kind, or is one of git's without a work tree.
pub(super) fn is_repository(dir: &impl WorkTreeDirectory) -> bool {
    REPOSITORIES.iter().any(|name| dir.kind_at(name, false).is_some()) || is_bare(dir)
}

/// Whether `dir` looks like a repository of git's.
fn is_bare(dir: &impl WorkTreeDirectory) -> bool {
    [c"HEAD", c"objects", c"refs"].iter().all(|name| dir.kind_at(name, false).is_some())
}

/// What is tracked in the work tree whose top is `top`, if it is one.
///
/// # Errors
/// If that is not known.
fn tracked_in<D: WorkTreeDirectory>(top: &Path) -> io::Result<Option<Tracked>> {
    let dir = D::open(&CString::new(top.as_os_str().as_encoded_bytes())?)?;
    let is_there = |name: &&CStr| dir.kind_at(name, false).is_some();
    // Beside a repository of git, jj records files on its own.
    let [git, others @ ..] = &REPOSITORIES;
    if others.iter().any(is_there) {
        return Err(invalid("another system may track it"));
    }
    if is_bare(&dir) {
        return Err(invalid("it is a repository"));
    }
    let Some(repository) = Repository::of(&dir, &mut |_, _| ()) else {
        let is_unreadable = is_there(git);
        return if is_unreadable {
            Err(invalid("its repository cannot be read"))
        } else {
            Ok(None)
        };
    };
    match work_tree_of(&repository, &dir) {
        Ok(None) => {}
        Ok(Some(path)) if dir.is_at(&CString::new(resolve(&repository.own, &path))?) => {}
        _ => return Err(invalid("its work tree may be elsewhere")),
    }
    let own = resolve(top.as_os_str().as_encoded_bytes(), &repository.own);
    let common = resolve(top.as_os_str().as_encoded_bytes(), &repository.common);
    let [own_dir, common_dir] = [D::open(&CString::new(&*own)?)?, D::open(&CString::new(common)?)?];
    let has_index = own_dir.kind_at(c"index", true).is_some();
    let tracked = Tracked::new(own, 0, true);
    tracked.read::<D>()?;
    match tree_of_head(&own_dir, &common_dir)? {
        // Without an index git takes nothing for tracked, but a commit has it, or another index.
        Some(_) if !has_index => return Err(invalid("it has no index")),
        Some(head) if tracked.tree() != Some(&head) => {
            return Err(invalid("its index is not what is checked out"));
        }
        None => ensure_new(&own_dir, &common_dir, has_index)?,
        Some(_) => {}
    }
    Ok(Some(tracked))
}
