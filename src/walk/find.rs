//! Finding what was listed: what has vanished since, and what is there and cannot be found.
//!
//! A name can be removed after it was listed; that is not reported. But broken storage may answer ENOENT
//! for names that it still lists, and totals would be too small. So on ENOENT the directory is asked again.
//! This costs nothing when everything is found.

use std::ffi::CString;
use std::io;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::dir::Dir;
use super::handles::Lease;
use super::lock;
use super::task::{Worker, with_patience};
use crate::measure::Kind;
use crate::problem::Operation;
use crate::sys::{self, Handle, Listed, Listing, Query, Symlinks};
use crate::tally::Tally;

/// After this many lookups in a row that fail for a name that is still listed, it is reported: it may
/// come and go. Of what is renamed to and fro all the time, each lookup misses up to half, so that with 3 of
/// them one walk in 50 called missing what was there.
pub(super) const ATTEMPTS: usize = 16;

/// A name that was listed and not found.
#[derive(Debug)]
pub(super) struct Missing {
    pub(super) name: CString,
    pub(super) operation: Operation,
    pub(super) error: io::Error,
}

/// What is missing in a directory, by all who share its listing.
#[derive(Debug)]
pub(super) struct AllMissing {
    /// How many are at it. Released by each who is done and acquired by the last, as is `Dir::outstanding`.
    at_work: AtomicUsize,
    /// Guards the list; taken only by whoever misses something, and then by the last.
    list: OnceLock<Mutex<Vec<Missing>>>,
}

impl AllMissing {
    /// One is at it.
    pub(super) fn new() -> Self {
        Self { at_work: AtomicUsize::new(1), list: OnceLock::new() }
    }

    /// One more will be at it. Called by someone who is, so relaxed ordering is enough.
    pub(super) fn hand_out(&self) {
        self.at_work.fetch_add(1, Ordering::Relaxed);
    }

    /// One is done and misses `some`. Returns what all of them do to whoever is the last.
    pub(super) fn hand_in(&self, some: Vec<Missing>) -> Vec<Missing> {
        if !some.is_empty() {
            lock(self.list.get_or_init(Mutex::default)).extend(some);
        }
        let is_last = self.at_work.fetch_sub(1, Ordering::AcqRel) == 1;
        let all = self.list.get().filter(|_| is_last);
        all.map_or_else(Vec::new, |list| mem::take(&mut *lock(list)))
    }
}

impl<T: Tally> Worker<'_, '_, T> {
    /// Opens `dir` relative to its parent, and lets go of that. Nothing if it has vanished; but not a root,
    /// which was there when the walk began.
    pub(super) fn open(
        &self,
        dir: &Dir<T::Part>,
        mut parent: Option<Arc<Lease>>,
    ) -> io::Result<Option<Handle>> {
        /// To open, and to close again.
        const CALLS: usize = 2;
        let (walk, symlinks) = (self.walk, self.walk.symlinks());
        self.slot.call(CALLS);
        with_patience(walk, || match (parent.take(), &dir.parent) {
            _ if dir.is_root => walk.open_root(dir).map(Some),
            (Some(lease), _) => open_in(&lease.handle, dir, symlinks),
            (None, Some(above)) => match walk.handles.reopen(above, symlinks)? {
                Some(above) => open_in(&above.handle, dir, symlinks),
                None => Ok(None),
            },
            (None, None) => Err(sys::not_found()),
        })
    }

    /// Reports what came of reading `dir`, unless it has vanished.
    pub(super) fn report_unless_vanished(&self, dir: &Dir<T::Part>, error: &io::Error) {
        if !sys::is_vanished(error) || self.is_there(dir) {
            self.walk.report(dir.path(), Operation::Read, error);
        }
    }

    /// Whether its parent still has `dir`, or cannot be asked.
    fn is_there(&self, dir: &Dir<T::Part>) -> bool {
        let (walk, symlinks) = (self.walk, self.walk.symlinks());
        let Some(above) = dir.parent.as_ref().filter(|_| !dir.is_root) else { return true };
        match with_patience(walk, || walk.handles.reopen(above, symlinks)) {
            Ok(Some(above)) => is_in(&above.handle, dir, symlinks).unwrap_or(true),
            Ok(None) => false,
            Err(_) => true,
        }
    }
}

/// Opens `dir` in `parent`, which listed it; nothing if it is not there any more.
fn open_in<P>(parent: &Handle, dir: &Dir<P>, symlinks: Symlinks) -> io::Result<Option<Handle>> {
    let mut attempts = 1;
    loop {
        match parent.open_known_at(&dir.name, &dir.stat, symlinks) {
            Err(error) if sys::is_vanished(&error) => {
                if !is_in(parent, dir, symlinks)? {
                    return Ok(None);
                } else if attempts == ATTEMPTS {
                    return Err(error);
                }
            }
            opened => return opened.map(Some),
        }
        attempts += 1;
    }
}

/// Whether `parent` has `dir` under its name.
fn is_in<P>(parent: &Handle, dir: &Dir<P>, symlinks: Symlinks) -> io::Result<bool> {
    match parent.stat_at(&dir.name, symlinks, Query::default()) {
        Ok(stat) if !dir.mount.lists_inodes => Ok(stat.is_directory()),
        Ok(stat) => Ok(stat.identity() == dir.stat.identity()),
        Err(error) if sys::is_vanished(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Opens `dir`, which has been open before, in `parent`, whatever it is called there by now; nothing if
/// that has it no more. A listing may miss what is renamed meanwhile, so it is asked more than once.
///
/// Where it is not known that inodes keep their numbers, what has its name is it, if nothing has its number:
/// FUSE may number anew what the kernel has forgotten.
pub(super) fn open_again<P>(
    parent: &Handle,
    dir: &Dir<P>,
    symlinks: Symlinks,
) -> io::Result<Option<Handle>> {
    for _ in 0..ATTEMPTS {
        let named = match parent.open_at(&dir.name, symlinks) {
            Err(error) if sys::is_vanished(&error) => None,
            opened => Some(opened?),
        };
        if let Some(handle) = &named
            && handle.identity()? == dir.stat.identity()
        {
            return Ok(named);
        }
        match open_by_inode(parent, dir) {
            Ok(None) if named.is_some() && !dir.mount.lists_inodes => return Ok(named),
            Ok(None) => {}
            // Where the parent itself is removed, nothing is in it.
            Err(error) if sys::is_vanished(&error) => return Ok(None),
            found => return found,
        }
    }
    if is_in(parent, dir, symlinks)? { Err(sys::not_found()) } else { Ok(None) }
}

/// Opens whatever in `parent` is `dir` by its inode number.
fn open_by_inode<P>(parent: &Handle, dir: &Dir<P>) -> io::Result<Option<Handle>> {
    let mut found = None;
    name_in(parent, |listed| {
        if listed.inode == dir.stat.inode {
            found = match parent.open_at(listed.name, Symlinks::Stay) {
                Err(error) if sys::is_vanished(&error) => None,
                opened => Some(opened?),
            };
            found =
                found.take().filter(|it| it.identity().is_ok_and(|it| it == dir.stat.identity()));
        }
        Ok(found.is_some())
    })?;
    Ok(found)
}

/// The name in `dir` of the directory that `is_it`.
pub(super) fn name_in(
    dir: &Handle,
    mut is_it: impl FnMut(Listed<'_>) -> io::Result<bool>,
) -> io::Result<Option<CString>> {
    let may_be = |kind| matches!(kind, None | Some(Kind::Directory));
    let mut found = None;
    list_again(dir, |names| {
        for listed in names.iter().filter(|listed| may_be(listed.kind)) {
            if is_it(listed)? {
                found = Some(listed.name.to_owned());
                return Ok(false);
            }
        }
        Ok(true)
    })?;
    Ok(found)
}

/// Lists the directory open as `handle` once more, from its beginning; `look` sees the names as they come, and says
/// whether to go on.
pub(super) fn list_again(
    handle: &Handle,
    mut look: impl FnMut(&Listing) -> io::Result<bool>,
) -> io::Result<()> {
    let listing = handle.open_at(c".", Symlinks::Stay)?;
    let (mut buffer, mut names) = (Vec::new(), Listing::default());
    loop {
        names.clear();
        let is_more = listing.read(&mut buffer, &mut names, None)?;
        if !look(&names)? || !is_more {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Filter;
    use crate::measure::Mode;
    use crate::sys::{Mount, Source, Stat};
    use crate::walk::roots::Root;

    /// On FUSE, all below it was lost where handles were scarce.
    #[test]
    fn what_is_numbered_anew_is_found_by_its_name() {
        let root = Root { path: c"src".into(), stat: Stat::default(), mount: Mount::default() };
        let root = Arc::new(Dir::<()>::root(None, root, &Filter::default()));
        let parent = Source::default().open(c"src").expect("it is there");
        for (lists_inodes, is_there) in [(false, true), (true, false)] {
            let mount = Mount { lists_inodes, ..Mount::default() };
            let stat = Stat { inode: u64::MAX, mode: Mode::DIRECTORY, ..Stat::default() };
            let dir = Dir::below(Arc::clone(&root), c"walk".into(), stat, mount);
            let found = open_again(&parent, &dir, Symlinks::Stay).expect("it is there");
            assert_eq!(found.is_some(), is_there, "{mount:?}");
        }
    }
}
