//! Removes the scanned content of a directory that has been moved into a private one. It moves each entry into another
//! private directory, looks at it there, and removes it or puts it back. A program that still has the directory open,
//! such as a build, may give a name to another file at any time; that file is kept. So is a directory that a filter
//! leaves out.

use std::collections::VecDeque;
use std::ffi::CStr;
use std::io::{self, ErrorKind};

use super::aside::{Move, random_name};
use super::outcome::{RemovalStep, Stop, because, explain};
use super::protected::{ProtectedLocations, ensure_no_storage};
use super::run::Removal;
use super::target::{KnownEntry, Target, checked, ensure_here};
use crate::base::path;
use crate::scan::filter::CACHE_TAG;
use crate::sys::{ExactStat, HeldDirectory};
use crate::tree::{Child, Step, Traversal};

/// Removes the content of a directory.
pub(super) struct Below<'a, 'w> {
    /// The private directory that entries other than directories are moved into, and its path. Without one, on a file
    /// system that is full, each entry gets a random name in its own directory instead.
    pub(super) inner: Option<(&'a HeldDirectory, &'a [u8])>,
    /// The path of the target's directory.
    pub(super) around: &'a [u8],
    pub(super) protected: &'a ProtectedLocations,
    pub(super) removal: &'a mut Removal<'w>,
}

/// A directory whose content is being removed.
#[derive(Debug)]
struct Entered<'t> {
    child: Child<'t>,
    stat: ExactStat,
    /// What marks it as a cache.
    tag: Option<Child<'t>>,
    /// The length of its path.
    end: usize,
    /// Whether some of its content is kept.
    has_rest: bool,
}

/// The current directory and those above it, of which only the innermost are held open.
#[derive(Debug, Default)]
pub(super) struct HeldPath(VecDeque<HeldDirectory>);

impl HeldPath {
    /// However deep the tree is, no more are open.
    const MOST: usize = 32;

    pub(super) fn enter(&mut self, held: HeldDirectory) {
        self.0.push_back(held);
        if self.0.len() > Self::MOST {
            self.0.pop_front();
        }
    }

    /// Returns from the innermost to its parent, which must be `around`.
    pub(super) fn leave(&mut self, around: &ExactStat) -> io::Result<()> {
        let inner = self.0.pop_back();
        if let (Some(inner), true) = (inner, self.0.is_empty()) {
            let held = inner.up()?;
            if !held.stat()?.is_same(around) {
                return Err(io::Error::other("it has been moved meanwhile"));
            }
            self.0.push_back(held);
        }
        Ok(())
    }

    pub(super) fn innermost(&self) -> io::Result<&HeldDirectory> {
        self.0.back().ok_or_else(|| ErrorKind::NotFound.into())
    }
}

impl Below<'_, '_> {
    /// Removes what was scanned in the directory `target`, but not the directory itself, which is at the name `moved`
    /// now and has the attributes `stat`. Fails if some of it is kept, or if it cannot find the way back up.
    pub(super) fn remove_content(
        &mut self,
        target: &Target,
        moved: (&HeldDirectory, &CStr),
        stat: &ExactStat,
    ) -> Result<(), Stop> {
        let scanned = target.below.as_ref();
        let root = scanned.ok_or_else(|| because("nothing in it was scanned"))?.root();
        let mut open = HeldPath::default();
        open.enter(moved.0.descend(&[moved.1])?);
        if !open.innermost()?.stat()?.is_same(stat) {
            return Err(because(REPLACED));
        }
        ensure_no_storage(open.innermost()?)?;
        let mut traversal: Traversal<Child<'_>, Entered<'_>> = Traversal::new(root);
        let (mut has_rest, mut leaves_out) = (false, false);
        while let Some(step) = traversal.next() {
            let is_kept = match step {
                Step::Node(child) => {
                    let is_top = traversal.depth() == 0;
                    let entered = if is_top { Ok(*stat) } else { self.enter(&mut open, &child) };
                    match entered {
                        Ok(stat) => {
                            let (directory, path) = ((open.innermost()?, &stat), traversal.path());
                            let (mut has_rest, mut tag) = (child.node().own.is_none(), None);
                            leaves_out |= has_rest;
                            for leaf in child.leaves() {
                                if leaf.name() == CACHE_TAG.to_bytes() {
                                    tag = Some(leaf);
                                } else {
                                    has_rest |= self.entry(directory, path, &leaf, None)?;
                                }
                            }
                            let entered = Entered { child, stat, tag, end: path.len(), has_rest };
                            traversal.enter(entered, child.directories().collect());
                            continue;
                        }
                        Err(stop) => self.keep(stop, traversal.path(), None, None)?,
                    }
                }
                Step::End(mut it) => {
                    if let Some(tag) = &it.tag {
                        let path = traversal.path().get(..it.end).unwrap_or_default();
                        it.has_rest |= self.tag((open.innermost()?, &it.stat), path, tag)?;
                    }
                    let Some(above) = traversal.innermost() else {
                        has_rest = it.has_rest;
                        break;
                    };
                    let (around, end) = (above.stat, above.end);
                    open.leave(&around)?;
                    let directory = (open.innermost()?, &around);
                    let path = traversal.path().get(..end).unwrap_or_default();
                    it.has_rest || self.entry(directory, path, &it.child, Some(&it.stat))?
                }
            };
            if let Some(above) = traversal.innermost() {
                above.has_rest |= is_kept;
            }
        }
        if leaves_out {
            let why = because("directories that a filter leaves out stay");
            self.keep(why, root.name(), None, None)?;
        }
        // The reasons have been reported.
        if has_rest { Err(Stop::Cancelled) } else { Ok(()) }
    }

    /// Opens a directory in the innermost one.
    fn enter(&mut self, open: &mut HeldPath, child: &Child<'_>) -> Result<ExactStat, Stop> {
        self.removal.before(RemovalStep::Enter, child.name())?;
        let name = checked(child.name())?;
        let around = open.innermost()?;
        let (held, outside) = (around.descend(&[&name])?, around.stat()?);
        let stat = held.stat()?;
        KnownEntry::of(child).check(&stat)?;
        ensure_here(&outside, &stat)?;
        if let Some(refusal) = self.protected.refusal_of(stat.stat.identity()) {
            return Err(because(refusal));
        }
        ensure_no_storage(&held)?;
        open.enter(held);
        Ok(stat)
    }

    /// Removes the entry `child` of a directory, which is held, has these attributes, and is at `path`. It must be what
    /// was scanned and, if it is a directory, what was `entered`. Returns whether it is kept.
    fn entry(
        &mut self,
        directory: (&HeldDirectory, &ExactStat),
        path: &[u8],
        child: &Child<'_>,
        entered: Option<&ExactStat>,
    ) -> Result<bool, Stop> {
        let mut seen = None;
        match self.try_entry(directory, path, child, entered, &mut seen) {
            Ok(()) => Ok(false),
            Err(stop) => {
                let path = path::join_all([path, child.name()]);
                self.keep(stop, &path, Some(directory.1), seen.as_ref())
            }
        }
    }

    /// Removes the `tag` of a cache as the last entry of its directory. If other content stays, listed or not, so must
    /// the tag.
    fn tag(
        &mut self,
        directory: (&HeldDirectory, &ExactStat),
        path: &[u8],
        tag: &Child<'_>,
    ) -> Result<bool, Stop> {
        // In doubt it stays.
        if directory.0.names(2).is_ok_and(|names| names.len() < 2) {
            return self.entry(directory, path, tag, None);
        }
        self.keep(because(TAG_STAYS), &path::join_all([path, tag.name()]), None, None)
    }

    fn try_entry(
        &mut self,
        (held, around): (&HeldDirectory, &ExactStat),
        path: &[u8],
        child: &Child<'_>,
        entered: Option<&ExactStat>,
        seen: &mut Option<ExactStat>,
    ) -> Result<(), Stop> {
        let name = checked(child.name())?;
        self.removal.before(RemovalStep::Look, child.name())?;
        let now = self.removal.relinked.as_before_this_run(held.stat_of(&name)?);
        *seen = Some(now);
        KnownEntry::of(child).check(&now)?;
        ensure_here(around, &now)?;
        if entered.is_some_and(|entered| !entered.is_same(&now)) {
            return Err(because(REPLACED));
        }
        // A directory gets a random name in its own directory. To move it elsewhere, the kernel goes through all its
        // ancestors: 5.8 ms for 100,000. All that its new name could lose is another empty directory.
        let inner = self.inner.filter(|_| !now.is_directory());
        let random = if inner.is_none() { Some(random_name()?) } else { None };
        let new = random.as_deref().unwrap_or(&name);
        let to = inner.map_or(held, |(inner, _)| inner);
        let step = Move { from: (held, &name), to: (to, new), before: &now, own: to };
        step.commit(
            self.removal,
            || match inner {
                Some((_, inner_path)) => path::join_all([inner_path, new.to_bytes()]),
                None => path::join_all([self.around, path, new.to_bytes()]),
            },
            |removal, _| step.remove(removal),
        )
    }

    /// Reports why the entry at `path`, which begins with the target's name, is kept, and returns true: unless it was
    /// never there. Fails after a cancel.
    fn keep(
        &mut self,
        stop: Stop,
        path: &[u8],
        around: Option<&ExactStat>,
        it: Option<&ExactStat>,
    ) -> Result<bool, Stop> {
        let Stop::Because(error) = stop else { return Err(stop) };
        // Somebody else has removed it.
        if error.kind() == ErrorKind::NotFound && it.is_none() {
            return Ok(false);
        }
        let message = explain(&error, around, it);
        self.removal.outcome.add(path::join_all([self.around, path]), &error, message);
        Ok(true)
    }
}

const TAG_STAYS: &str = "it marks a cache, and content of that stays";
const REPLACED: &str = "it has been replaced meanwhile";
