//! Looks again for names that were listed but not found.
//!
//! A name may be removed after it was listed, and that is not reported. But broken storage may answer ENOENT for
//! names that it still lists, and totals would be too small. So after ENOENT the directory is listed again. This
//! costs nothing if everything is found.

use std::ffi::CString;
use std::sync::{Arc, Mutex, OnceLock};
use std::{io, mem};

use super::dir::Dir;
use super::handles::CountedHandle;
use super::lock;
use super::task::{Worker, with_patience};
use crate::base::measure::Kind;
use crate::sys::problem::Operation;
use crate::sys::{self, Handle, Listed, Listing, Query, Symlinks};
use crate::tree::tally::Tally;

/// A name is reported after so many lookups in a row that fail while it is still listed; it may come and go. If a
/// file is renamed to and fro all the time, up to half of the lookups miss it. With 3 lookups, one walk in 50
/// reported a file as missing that existed.
pub(super) const ATTEMPTS: usize = 16;

/// A name that was listed and not found.
#[derive(Debug)]
pub(super) struct Missing {
    pub(super) name: CString,
    pub(super) operation: Operation,
    pub(super) error: io::Error,
}

/// How many threads work on a directory, and the names that they miss in it; nothing as long as it is one thread, which
/// needs no lock. Otherwise locked when a part is handed to another thread, and when a thread is done.
#[derive(Debug, Default)]
pub(super) struct AllMissing(OnceLock<Mutex<(usize, Vec<Missing>)>>);

impl AllMissing {
    /// One more thread will work on it. Called by one that does.
    pub(super) fn hand_out(&self) {
        lock(self.0.get_or_init(|| Mutex::new((1, Vec::new())))).0 += 1;
    }

    /// One thread is done, and misses `some`. Returns what all of them miss to the last one.
    pub(super) fn hand_in(&self, some: Vec<Missing>) -> Vec<Missing> {
        let Some(all) = self.0.get() else { return some };
        let mut all = lock(all);
        let (at_work, missing) = &mut *all;
        missing.extend(some);
        *at_work -= 1;
        if *at_work == 0 { mem::take(missing) } else { Vec::new() }
    }
}

impl<T: Tally> Worker<'_, '_, T> {
    /// Opens `dir` relative to its parent, which it releases. Nothing if it has vanished; but a vanished root is an
    /// error, because it existed when the walk began.
    pub(super) fn open(
        &self,
        dir: &Dir<T::Part>,
        mut parent: Option<Arc<CountedHandle>>,
    ) -> io::Result<Option<Handle>> {
        /// One to open and one to close.
        const CALLS: usize = 2;
        let (walk, symlinks) = (self.walk, self.walk.symlinks());
        self.slot.call(CALLS);
        with_patience(walk, || match (parent.take(), &dir.parent) {
            _ if dir.is_root => walk.open_root(dir).map(Some),
            (Some(open), _) => open_in(&open.handle, dir, symlinks),
            (None, Some(above)) => match walk.handles.reopen(above, symlinks)? {
                Some(above) => open_in(&above.handle, dir, symlinks),
                None => Ok(None),
            },
            (None, None) => Err(sys::not_found()),
        })
    }

    /// Reports an error of reading `dir`, unless the directory has vanished.
    pub(super) fn report_unless_vanished(&self, dir: &Dir<T::Part>, error: &io::Error) {
        if !sys::is_vanished(error) || self.is_there(dir) {
            self.walk.report(dir.path(), Operation::Read, error);
        }
    }

    /// Lists `dir`, open as `handle`, once more, like [`list_again`], unless it has vanished. If it is open by its
    /// path, it is not found while it is renamed, and that is tried again.
    pub(super) fn list_unless_vanished(
        &self,
        dir: &Dir<T::Part>,
        handle: &Handle,
        mut look: impl FnMut(&Listing) -> io::Result<bool>,
    ) -> io::Result<()> {
        retried_while(
            || Ok(self.is_there(dir)),
            || with_patience(self.walk, || list_again(handle, &mut look)),
        )
        .map(drop)
    }

    /// Whether its parent still has `dir`, or cannot tell.
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

/// Opens `dir` in `parent`, which listed it; nothing if it does not exist any more.
fn open_in<P>(parent: &Handle, dir: &Dir<P>, symlinks: Symlinks) -> io::Result<Option<Handle>> {
    retried_while(
        || is_in(parent, dir, symlinks),
        || parent.open_known_at(dir.name(), &dir.stat, symlinks),
    )
}

/// Returns what `attempt` returns. If that fails because something is not found, tries again as long as the thing
/// `is_there`. Nothing if it is gone.
fn retried_while<R>(
    is_there: impl Fn() -> io::Result<bool>,
    mut attempt: impl FnMut() -> io::Result<R>,
) -> io::Result<Option<R>> {
    let mut attempts = 1;
    loop {
        match attempt() {
            Err(error) if sys::is_vanished(&error) => {
                if !is_there()? {
                    return Ok(None);
                } else if attempts == ATTEMPTS {
                    return Err(error);
                }
            }
            done => return done.map(Some),
        }
        attempts += 1;
    }
}

/// Whether `parent` has `dir` under its name.
fn is_in<P>(parent: &Handle, dir: &Dir<P>, symlinks: Symlinks) -> io::Result<bool> {
    let stat = sys::unless_vanished(parent.stat_at(dir.name(), symlinks, Query::default()))?;
    Ok(stat.is_some_and(|stat| match dir.mount.lists_inodes {
        true => stat.identity() == dir.stat.identity(),
        false => stat.is_directory(),
    }))
}

/// Opens `dir`, which was open before, in `parent`, whatever its name is now; nothing if `parent` does not contain it
/// any more. A listing may miss a name that is renamed at the same time, so it is read more than once.
///
/// If inodes may get other numbers, the directory with its name is taken for it, unless one has its number: FUSE may
/// give a new number to an inode that the kernel has forgotten.
pub(super) fn open_again<P>(
    parent: &Handle,
    dir: &Dir<P>,
    symlinks: Symlinks,
) -> io::Result<Option<Handle>> {
    for _ in 0..ATTEMPTS {
        let named = sys::unless_vanished(parent.open_at(dir.name(), symlinks))?;
        if let Some(handle) = &named
            && handle.identity()? == dir.stat.identity()
        {
            return Ok(named);
        }
        // If the parent itself is removed, nothing is in it.
        let Some(found) = sys::unless_vanished(open_by_inode(parent, dir))? else {
            return Ok(None);
        };
        if found.is_some() {
            return Ok(found);
        } else if named.is_some() && !dir.mount.lists_inodes {
            return Ok(named);
        }
    }
    if is_in(parent, dir, symlinks)? { Err(sys::not_found()) } else { Ok(None) }
}

/// Opens the directory in `parent` that has the inode number of `dir`.
fn open_by_inode<P>(parent: &Handle, dir: &Dir<P>) -> io::Result<Option<Handle>> {
    let mut found = None;
    name_in(parent, |listed| {
        if listed.inode == dir.stat.inode {
            let opened = sys::unless_vanished(parent.open_at(listed.name, Symlinks::Stay))?;
            found = opened.filter(|it| it.identity().is_ok_and(|it| it == dir.stat.identity()));
        }
        Ok(found.is_some())
    })?;
    Ok(found)
}

/// The name in `dir` of the directory for which `is_it` holds.
pub(super) fn name_in(
    dir: &Handle,
    mut is_it: impl FnMut(Listed<'_>) -> io::Result<bool>,
) -> io::Result<Option<CString>> {
    let mut found = None;
    list_again(dir, |names| {
        for listed in names.iter() {
            if matches!(listed.kind, None | Some(Kind::Directory)) && is_it(listed)? {
                found = Some(listed.name.to_owned());
                return Ok(false);
            }
        }
        Ok(true)
    })?;
    Ok(found)
}

/// Lists the directory open as `handle` once more, from its beginning. `look` gets the names as they come, and says
/// whether to continue.
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
    use crate::base::measure::Mode;
    use crate::scan::filter::Filter;
    use crate::scan::walk::nested::Root;
    use crate::sys::{Mount, Source, Stat};

    /// On FUSE, everything below it was lost when handles were scarce.
    #[test]
    fn what_is_numbered_anew_is_found_by_its_name() {
        let root = Root { path: c"src".into(), stat: Stat::default(), mount: Mount::default() };
        let root = Arc::new(Dir::<()>::root(None, root, &Filter::default(), |_, _| ()));
        let parent = Source::default().open(c"src").expect("it is there");
        for (lists_inodes, is_there) in [(false, true), (true, false)] {
            let mount = Mount { lists_inodes, ..Mount::default() };
            let stat = Stat { inode: u64::MAX, mode: Mode::DIRECTORY, ..Stat::default() };
            let dir = Dir::below(Arc::clone(&root), c"scan", stat, mount);
            let found = open_again(&parent, &dir, Symlinks::Stay).expect("it is there");
            assert_eq!(found.is_some(), is_there, "{mount:?}");
        }
    }
}
