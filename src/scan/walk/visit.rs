//! What a worker does with the entries of one directory. This is the hottest code.

use std::collections::HashSet;
use std::ffi::CStr;
use std::io;
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::dir::Dir;
use super::find::{ATTEMPTS, Missing};
use super::follow::Via;
use super::handles::CountedHandle;
use super::is_entered;
use super::known::Known;
use super::progress::Counts;
use super::task::{Task, Worker, settle, with_patience};
use crate::base::inode::Identity;
use crate::base::measure::Kind;
use crate::scan::containers;
use crate::scan::filter::{DirectoryFilter, Verdict};
use crate::sys::problem::{Operation, Problem};
use crate::sys::{self, Listed, Listing, MountContent, MountTable, Query, Stat, Storage, Symlinks};
use crate::tree::tally::{Entry, Tally};
use crate::tree::total::Subtotal;

/// A directory whose entries are being weighed.
pub(super) struct Visit<'a, 's, T: Tally> {
    worker: &'a Worker<'a, 's, T>,
    dir: &'a Arc<Dir<T::Part>>,
    open: &'a Arc<CountedHandle>,
    query: Query,
    filters: DirectoryFilter<'a>,
    subtotal: Subtotal<T::Part>,
    /// What was done since the last time it was added to the directory.
    counts: Counts,
    known: &'a mut Known,
    /// Whether it found a link of an unknown inode here. Then there may be more links, and their inodes may be
    /// recalled. In a directory that may not be searched they may not be recalled, even if they are known.
    has_links: bool,
    /// The last subdirectory found. This worker continues with it, and so may keep the parent open even if handles
    /// are scarce.
    last: Option<Arc<Dir<T::Part>>>,
    /// The names that were not found.
    missing: Vec<Missing>,
}

impl<'a, 's, T: Tally> Visit<'a, 's, T> {
    /// A worker begins with `dir`, whose handle is `open`, or with another part of it.
    pub(super) fn new(
        worker: &'a Worker<'a, 's, T>,
        dir: &'a Arc<Dir<T::Part>>,
        open: &'a Arc<CountedHandle>,
        known: &'a mut Known,
        is_first: bool,
    ) -> Self {
        let options = &worker.walk.options;
        let cached = dir.mount.storage == Storage::Remote;
        let query = Query { cached, ..options.query };
        let filters = options.filter.for_directory(open.scope.clone(), || dir.names());
        let tally = &worker.walk.tally;
        let subtotal = match is_first && !tally.is_live() {
            // Nothing in it has been weighed, and the tally does not ask where it is.
            true => Subtotal::default(),
            false => dir.subtotal().begin_part(tally),
        };
        Self {
            worker,
            dir,
            open,
            query,
            filters,
            subtotal,
            counts: Counts::default(),
            known,
            has_links: false,
            last: None,
            missing: Vec::new(),
        }
    }

    /// Weighs every entry in `names`, and hands out the subdirectories. While storage is slow, it also hands out what
    /// exceeds a few names, and the rest if fewer threads may work. As long as nobody watches, it hands out
    /// everything if there are subdirectories, because these need other threads anyway; but if a file comes first, not
    /// that one, which shows whether the attributes are cached.
    pub(super) fn weigh(&mut self, names: &Listing) {
        /// How many entries a worker takes if each may take long.
        const FEW: usize = 32;
        /// How many inodes are read ahead.
        const AHEAD: usize = 16;
        let Worker { walk, slot, .. } = *self.worker;
        // A file system that never answers may be mounted on a directory; hardly ever on a file.
        let is_unwatched = self.worker.is_unwatched();
        let is_for_others = is_unwatched
            && names.iter().any(|name| name.kind.is_none_or(|kind| kind == Kind::Directory));
        for (i, listed) in names.iter().enumerate() {
            if walk.is_interrupted() {
                break;
            }
            // They may take long, and so should be shared in small portions.
            let is_waited_for = self.worker.is_unwatched() || walk.pool.is_slow();
            let is_too_much =
                is_waited_for && (is_for_others || names.len() - i > FEW || walk.pool.is_crowded());
            let is_look = is_unwatched && i == 0 && listed.kind == Some(Kind::File);
            if is_too_much && !is_look && walk.handles.is_plenty_for(self.open) {
                // The last one handed out is the first one taken.
                for names in names.parts(i, FEW).rev() {
                    let (dir, open) = (Arc::clone(self.dir), Arc::clone(self.open));
                    if !dir.hand_out() {
                        break;
                    }
                    open.missing.hand_out();
                    self.worker.hand_out(Task::Entries { dir, open, names });
                }
                break;
            }
            if self.has_links && i % AHEAD == 0 {
                self.known.fetch(names.inodes(i, AHEAD).map(|number| self.identity(number)));
            }
            if let Some(rate) = &walk.rate {
                rate.wait(&walk.options.interrupt);
            }
            self.entry(listed);
            slot.step();
            if is_waited_for {
                // The next one may never answer.
                self.flush();
            }
        }
    }

    /// Weighs one entry, unless filters leave it out, it has vanished, or it cannot be examined.
    #[inline]
    fn entry(&mut self, listed: Listed<'_>) {
        let walk = self.worker.walk;
        let name = listed.name;
        let verdict = self.filter_listed(listed);
        if verdict == Some(Verdict::LeftOut) {
            return;
        }
        let (stat, symlinks) = match self.stat(listed) {
            Ok(known) => known,
            Err(error) => return self.miss(name, Operation::Stat, error),
        };
        let is_directory = stat.is_directory();
        let verdict =
            verdict.unwrap_or_else(|| self.filters.verdict(name.to_bytes(), is_directory));
        let verdict = self.filters.confirm(verdict, &stat);
        if verdict == Verdict::LeftOut {
            return;
        }
        self.counts.entries += 1;
        let figures = walk.options.rules.figures(&stat);
        let size = walk.options.view.size(&figures) as f64;
        let is_whole = is_directory || stat.links < 2 || walk.options.rules.count_links;
        self.counts.size += if is_whole { size } else { size / f64::from(stat.links) };
        if is_directory {
            self.enter(name, stat, symlinks, verdict);
        } else if self.is_here(&stat, symlinks) && !self.is_skipped(name, &stat, symlinks) {
            let (depth, mount) = (self.dir.depth.saturating_add(1), self.dir.mount.id);
            let mut entry = Entry::new(name.to_bytes(), depth, &stat, figures, mount);
            if walk.options.rules.frees {
                let directory = Some(&self.open.handle);
                walk.add_sharing(&mut self.subtotal, self.dir.mount, directory, name, &mut entry);
            }
            walk.weigh(self.dir, &mut self.subtotal, &mut entry);
        }
    }

    /// The verdict about an entry, if the listing already says enough.
    fn filter_listed(&mut self, Listed { name, kind, .. }: Listed<'_>) -> Option<Verdict> {
        match kind? {
            // Its target may be a directory.
            Kind::Symlink if self.worker.walk.options.rules.follow => None,
            kind => Some(self.filters.verdict(name.to_bytes(), kind == Kind::Directory)),
        }
    }

    /// The attributes of an entry, and whether a symlink was followed. It makes no system call if the listing has
    /// them.
    fn stat(&mut self, listed: Listed<'_>) -> io::Result<(Stat, Symlinks)> {
        let (handle, name) = (&self.open.handle, listed.name);
        let stat = match listed.stat {
            Some(stat) => *stat,
            None => {
                if let Some(stat) = self.recall(listed) {
                    return Ok((stat, Symlinks::Stay));
                }
                self.counts.calls += 1;
                let mut stat = handle.stat_at(name, Symlinks::Stay, self.query)?;
                let is_by_process = self.dir.mount.storage == Storage::Process;
                if stat.links > 1 && is_by_process && sys::has_dos_name(handle, name) {
                    stat.links -= 1;
                }
                stat
            }
        };
        if self.worker.walk.options.rules.follow && stat.mode.kind() == Kind::Symlink {
            match handle.stat_at(name, Symlinks::Follow, self.query) {
                // A broken symlink counts as itself.
                Err(error) if sys::is_vanished(&error) && !is_loop(&error) => {}
                target => return target.map(|target| (target, Symlinks::Follow)),
            }
        }
        if listed.stat.is_none() && self.is_recognizable(&stat, listed) {
            self.has_links = true;
            self.known.remember(self.dir.mount.id, &stat);
        }
        Ok((stat, Symlinks::Stay))
    }

    /// The attributes that another link to the same file has shown.
    #[inline]
    fn recall(&mut self, Listed { name, kind, inode, .. }: Listed<'_>) -> Option<Stat> {
        if !self.has_links || kind != Some(Kind::File) {
            return None;
        }
        let stat = self.known.recall(self.identity(inode))?;
        let mounts = self.worker.walk.mounts.get_or_init(MountTable::read);
        mounts.is_bare(self.dir.mount.id, name.to_bytes()).then_some(stat)
    }

    /// The identity of an inode that is listed here.
    #[inline]
    fn identity(&self, number: u64) -> Identity {
        Identity { mount: self.dir.mount.id, device: self.dir.stat.device, number }
    }

    /// Whether the listing is enough to recognize other links to this inode.
    fn is_recognizable(&self, stat: &Stat, listed: Listed<'_>) -> bool {
        stat.links > 1
            && stat.mode.kind() == Kind::File
            && self.dir.mount.lists_inodes
            && !stat.mount_point
            && (stat.device, stat.inode) == (self.dir.stat.device, listed.inode)
    }

    /// Whether an entry is on a file system that is weighed. An entry that is neither a directory nor a mount point
    /// is on that of its directory, whatever device an overlay reports, unless a symlink was followed.
    fn is_here(&self, stat: &Stat, symlinks: Symlinks) -> bool {
        let is_followed = symlinks == Symlinks::Follow;
        let may_be_elsewhere = stat.mount_point || stat.is_directory() || is_followed;
        !may_be_elsewhere || self.worker.walk.options.is_weighed(self.dir.stat.device, stat.device)
    }

    /// Whether a file is on a mount that is not entered: mounted on its name, or the target of a symlink.
    #[inline]
    fn is_skipped(&self, name: &CStr, stat: &Stat, symlinks: Symlinks) -> bool {
        let (skip, here) = (&self.worker.walk.options.skip, self.dir.mount);
        let may_be_elsewhere = stat.mount_point || symlinks == Symlinks::Follow;
        !skip.is_off()
            && may_be_elsewhere
            && self.open.handle.mount_at(name, symlinks).is_ok_and(|mount| skip.has(mount, here))
    }

    /// Hands out the subdirectory called `name`, if the walk enters it. Not inlined, because that would leave fewer
    /// registers for files.
    #[inline(never)]
    fn enter(&mut self, name: &CStr, stat: Stat, symlinks: Symlinks, verdict: Verdict) {
        let Worker { walk, slot, .. } = *self.worker;
        let dir = self.dir;
        if !self.is_here(&stat, symlinks) {
            return;
        }
        let (mut mount, mut is_elsewhere) = (dir.mount, false);
        if stat.device != dir.stat.device || stat.mount_point {
            let handle = &self.open.handle;
            match with_patience(walk, || handle.mount_at(name, symlinks)) {
                Ok(other) if walk.options.skip.has(other, dir.mount) => return,
                Ok(other) if is_entered(other.content, dir.is_synthetic) => mount = other,
                Ok(_) => return,
                Err(error) => return self.miss(name, Operation::Open, error),
            }
            if symlinks == Symlinks::Stay
                && dir.above_with(stat.identity()).next().is_some()
                && walk.is_within(dir, stat.identity(), &dir.path_of(name), mount.id)
            {
                return walk.record(Problem::cycle(dir.path_of(name)));
            }
            is_elsewhere = mount.content == MountContent::Overlay
                && mount.id != dir.mount.id
                && !walk.options.overlays
                && walk.is_weighed_below(mount.id, || dir.path_of(name));
        }
        let way = match symlinks {
            Symlinks::Follow => Via::Symlink,
            Symlinks::Stay if mount.id != dir.mount.id => Via::Mount,
            Symlinks::Stay if stat.device != dir.stat.device => Via::Mount,
            Symlinks::Stay => Via::Name,
        };
        let follow = walk.options.rules.follow;
        let is_to_wait = follow && way != Via::Name;
        let location = match way {
            Via::Name => dir.location.map(|above| sys::hash_below(above, name.to_bytes())),
            _ if follow => walk.location(&dir.path_of(name), mount.id),
            _ => None,
        };
        if follow && !is_to_wait && !walk.follows.enter(stat.identity(), location) {
            return;
        }
        if containers::may_be_storage(name.to_bytes()) {
            walk.remember_storage(dir.path_of(name));
        }
        slot.find(1);
        let mut below = Dir::below(Arc::clone(dir), name, stat, mount);
        below.location = location;
        below.is_elsewhere = is_elsewhere;
        below.is_counted = verdict == Verdict::Counts && !is_elsewhere;
        below.scope = walk.options.filter.scope_below(self.filters.below(name.to_bytes()));
        below.begin(&walk.tally);
        let below = Arc::new(below);
        if is_elsewhere {
            if dir.hand_out() {
                settle(walk, below, None);
            }
        } else if is_to_wait {
            if dir.hand_out() {
                walk.follows.wait(below, way);
            }
        } else if let Some(earlier) = self.last.replace(below)
            && dir.hand_out()
        {
            let parent = walk.handles.is_plenty_for(self.open).then(|| Arc::clone(self.open));
            self.worker.hand_out(Task::Directory { dir: earlier, parent });
        }
    }

    /// Notes an entry that could not be examined. Whether it has vanished is found out after all others.
    #[cold]
    fn miss(&mut self, name: &CStr, operation: Operation, error: io::Error) {
        if sys::is_vanished(&error) {
            self.missing.push(Missing { name: name.to_owned(), operation, error });
        } else {
            self.worker.walk.report(self.dir.path_of(name), operation, &error);
        }
    }

    /// Looks again for `missing` names as long as they are listed, because some may be back. A name that is listed
    /// but never found is a problem.
    #[cold]
    fn look_again(&mut self, mut missing: Vec<Missing>) {
        let worker = self.worker;
        let walk = worker.walk;
        for _ in 0..ATTEMPTS {
            if missing.is_empty() || walk.is_interrupted() {
                return;
            }
            let mut names: HashSet<_> = missing.drain(..).map(|missing| missing.name).collect();
            let listed = worker.list_unless_vanished(self.dir, &self.open.handle, |listed| {
                let is_on = !walk.is_interrupted();
                let again = listed.iter().filter(|listed| is_on && names.remove(listed.name));
                again.for_each(|listed| self.entry(listed));
                Ok(is_on)
            });
            if let Err(error) = listed {
                walk.report(self.dir.path(), Operation::Read, &error);
            }
            missing = mem::take(&mut self.missing);
        }
        for Missing { name, operation, error } in missing {
            walk.report(self.dir.path_of(&name), operation, &error);
        }
    }

    /// Returns the last subdirectory; if there is none, the subtotal. Without a subdirectory the directory is closed next,
    /// which nearly always adds the subtotal without a lock.
    pub(super) fn finish(mut self) -> ControlFlow<Subtotal<T::Part>, Arc<Dir<T::Part>>> {
        let missing = mem::take(&mut self.missing);
        let missing = self.open.missing.hand_in(missing);
        if !missing.is_empty() {
            self.look_again(missing);
        }
        match self.last.take() {
            Some(last) => {
                self.flush();
                ControlFlow::Continue(last)
            }
            None => {
                self.worker.slot.add(self.counts);
                ControlFlow::Break(self.subtotal)
            }
        }
    }

    /// Adds the subtotal to the directory, and begins another one.
    fn flush(&mut self) {
        self.worker.slot.add(mem::take(&mut self.counts));
        let tally = &self.worker.walk.tally;
        let mut all = self.dir.subtotal();
        let next = all.begin_part(tally);
        all.merge(tally, mem::replace(&mut self.subtotal, next));
    }
}

/// Whether symlinks lead round and round (ELOOP), which is an error as it is for `du -L`.
pub(super) fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|code| sys::errors::symbol(code) == "ELOOP")
}

#[cfg(test)]
mod tests;
