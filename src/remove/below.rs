//! Removes the scanned content of a directory that has been moved into a private one. It moves each entry into another
//! private directory, looks at it there, and removes it or puts it back. A program that still has the directory open,
//! such as a build, may give a name to another file at any time; that file is kept. So is a directory that a filter
//! leaves out.

use std::collections::VecDeque;
use std::ffi::CStr;
use std::io::{self, ErrorKind};

use super::explain::explain;
use super::outcome::{RemovalStep, Stop, TargetOutcome, Watcher, because};
use super::private::random_name;
use super::protected::Protected;
use super::relinked::Relinked;
use super::target::{KnownEntry, checked, ensure_here};
use crate::path;
use crate::render::name::escape;
use crate::sys::{ExactStat, HeldDirectory};
use crate::tree::{Child, Step, Traversal, Tree};

/// Removes the content of a directory.
pub(super) struct Below<'a, 'w> {
    /// The private directory that entries other than directories are moved into. Without one, on a file system that is
    /// full, each entry gets a random name in its own directory instead.
    pub(super) inner: Option<&'a HeldDirectory>,
    /// The path of that private directory.
    pub(super) inner_path: &'a [u8],
    /// The path of the target's directory.
    pub(super) around: &'a [u8],
    pub(super) protected: &'a Protected,
    pub(super) watcher: &'a mut Watcher<'w>,
    pub(super) relinked: &'a mut Relinked,
    pub(super) outcome: &'a mut TargetOutcome,
    /// Where the first entry is that could not be put back.
    pub(super) left: Option<Vec<u8>>,
}

/// A directory whose content is being removed.
#[derive(Debug)]
struct Entered<'t> {
    child: Child<'t>,
    stat: ExactStat,
    /// The length of its path.
    end: usize,
    /// Whether some of its content is kept.
    has_rest: bool,
}

/// The result for one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryFate {
    Gone,
    Kept,
}

/// The directories above the current one, of which only the innermost are held open.
#[derive(Debug, Default)]
struct HeldWay(VecDeque<HeldDirectory>);

impl HeldWay {
    /// However deep the tree is, no more are open.
    const MOST: usize = 32;

    fn enter(&mut self, held: HeldDirectory) {
        self.0.push_back(held);
        if self.0.len() > Self::MOST {
            self.0.pop_front();
        }
    }

    /// Returns from the innermost to its parent, which must be `around`.
    fn leave(&mut self, around: &ExactStat) -> io::Result<()> {
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

    fn innermost(&self) -> io::Result<&HeldDirectory> {
        self.0.back().ok_or_else(|| ErrorKind::NotFound.into())
    }
}

impl Below<'_, '_> {
    /// Removes what was `scanned` in the directory `name` of `private`, but not the directory itself. Returns whether
    /// all of it is gone, or an error if it was cancelled or cannot find the way back up.
    pub(super) fn remove(
        &mut self,
        private: &HeldDirectory,
        name: &CStr,
        stat: &ExactStat,
        scanned: &Tree,
    ) -> Result<bool, Stop> {
        let root = scanned.root();
        let mut way = HeldWay::default();
        way.enter(private.descend(&[name])?);
        if !way.innermost()?.stat()?.is_same(stat) {
            return Err(Stop::Because(io::Error::other("it has been replaced meanwhile")));
        }
        let mut traversal: Traversal<Child<'_>, Entered<'_>> = Traversal::new(root);
        let (mut is_gone, mut leaves_out) = (true, false);
        while let Some(step) = traversal.next() {
            match step {
                Step::Node(child) => {
                    let entered = match traversal.depth() {
                        0 => Ok(*stat),
                        _ => self.enter(&mut way, &child),
                    };
                    let stat = match entered {
                        Ok(stat) => stat,
                        // Somebody else has removed it.
                        Err(Stop::Because(error)) if error.kind() == ErrorKind::NotFound => {
                            continue;
                        }
                        Err(Stop::Because(error)) => {
                            self.say(traversal.path(), &error, None, None);
                            traversal.innermost().into_iter().for_each(|it| it.has_rest = true);
                            continue;
                        }
                        Err(stop) => return Err(stop),
                    };
                    let (held, path) = (way.innermost()?, traversal.path());
                    let is_left_out = child.node().own.is_none();
                    leaves_out |= is_left_out;
                    let has_rest = self.leaves(held, &stat, &child, path)? | is_left_out;
                    let entered = Entered { child, stat, end: path.len(), has_rest };
                    traversal.enter(entered, child.directories().collect());
                }
                Step::End(Entered { child, stat, end, has_rest }) => {
                    let Some(around) = traversal.innermost().map(|around| around.stat) else {
                        is_gone = !has_rest;
                        continue;
                    };
                    way.leave(&around)?;
                    let is_kept = has_rest || {
                        let known = (&KnownEntry::of(&child), Some(&stat));
                        let path = || traversal.path().get(..end).unwrap_or_default().to_vec();
                        let held = way.innermost()?;
                        self.entry(held, &around, child.name(), known, path)? == EntryFate::Kept
                    };
                    traversal.innermost().into_iter().for_each(|it| it.has_rest |= is_kept);
                }
            }
        }
        if leaves_out {
            let why = io::Error::other("directories that a filter leaves out stay");
            self.say(root.name(), &why, None, None);
        }
        Ok(is_gone)
    }

    /// Opens a directory in the innermost one.
    fn enter(&mut self, way: &mut HeldWay, child: &Child<'_>) -> Result<ExactStat, Stop> {
        self.watcher.before(RemovalStep::Enter, child.name())?;
        let name = checked(child.name())?;
        let around = way.innermost()?;
        let (held, outside) = (around.descend(&[&name])?, around.stat()?);
        let stat = held.stat()?;
        KnownEntry::of(child).check(&stat)?;
        ensure_here(&outside, &stat)?;
        if let Some(refusal) = self.protected.refusal_of(stat.stat.identity()) {
            return Err(because(refusal));
        }
        way.enter(held);
        Ok(stat)
    }

    /// Removes the entries of a directory that are not directories. Returns whether some are kept.
    fn leaves(
        &mut self,
        held: &HeldDirectory,
        around: &ExactStat,
        directory: &Child<'_>,
        path: &[u8],
    ) -> Result<bool, Stop> {
        let mut has_rest = false;
        for leaf in directory.leaves() {
            let known = KnownEntry::of(&leaf);
            let path = || path::join_all([path, leaf.name()]);
            let fate = self.entry(held, around, leaf.name(), (&known, None), path)?;
            has_rest |= fate == EntryFate::Kept;
        }
        Ok(has_rest)
    }

    /// Removes one entry if it is what was scanned and, for a directory, what was `entered`.
    fn entry(
        &mut self,
        held: &HeldDirectory,
        around: &ExactStat,
        name: &[u8],
        (known, entered): (&KnownEntry, Option<&ExactStat>),
        path: impl Fn() -> Vec<u8>,
    ) -> Result<EntryFate, Stop> {
        let mut now = None;
        match self.try_entry(held, around, name, (known, entered), &mut now, &path) {
            Ok(()) => {
                self.watcher.removed += 1;
                self.outcome.removed += 1;
                Ok(EntryFate::Gone)
            }
            Err(Stop::Because(error)) if error.kind() == ErrorKind::NotFound && now.is_none() => {
                Ok(EntryFate::Gone)
            }
            Err(Stop::Because(error)) => {
                self.say(&path(), &error, Some(around), now.as_ref());
                Ok(EntryFate::Kept)
            }
            Err(stop) => Err(stop),
        }
    }

    fn try_entry(
        &mut self,
        held: &HeldDirectory,
        around: &ExactStat,
        name: &[u8],
        (known, entered): (&KnownEntry, Option<&ExactStat>),
        seen: &mut Option<ExactStat>,
        path: &impl Fn() -> Vec<u8>,
    ) -> Result<(), Stop> {
        let entry = checked(name)?;
        self.watcher.before(RemovalStep::Look, name)?;
        let now = self.relinked.unrelinked(held.stat_of(&entry)?);
        *seen = Some(now);
        known.check(&now)?;
        ensure_here(around, &now)?;
        if entered.is_some_and(|entered| !entered.is_same(&now)) {
            return Err(Stop::Because(io::Error::other("it has been replaced meanwhile")));
        }
        // A directory gets a random name in its own directory. To move it elsewhere, the kernel goes through all its
        // ancestors: 5.8 ms for 100,000. All that its new name could lose is another empty directory.
        let inner = self.inner.filter(|_| !now.is_directory());
        let random = if inner.is_some() { None } else { Some(random_name()?) };
        let (to, new) = (inner.unwrap_or(held), random.as_deref().unwrap_or(&entry));
        self.watcher.before(RemovalStep::Move, name)?;
        held.move_to(&entry, to, new)?;
        let removed = self.remove_moved(to, new, name, &now);
        removed.inspect_err(|_| {
            // This step cannot be cancelled.
            let _ = self.watcher.before(RemovalStep::PutBack, name);
            if let Err(error) = to.move_to(new, held, &entry) {
                let at = match &random {
                    None => path::join_all([self.inner_path, name]),
                    Some(random) => {
                        let mut at = path::join_all([self.around, &path()]);
                        at.truncate(at.len().saturating_sub(name.len()));
                        at.extend_from_slice(random.to_bytes());
                        at
                    }
                };
                let message = format!("it could not be put back ({})", explain(&error, None, None));
                self.outcome.add_as(at.clone(), &error, message);
                self.left.get_or_insert(at);
            }
        })
    }

    /// Removes the entry that was moved, if it is the one that was looked at `before`.
    fn remove_moved(
        &mut self,
        at: &HeldDirectory,
        moved: &CStr,
        name: &[u8],
        before: &ExactStat,
    ) -> Result<(), Stop> {
        self.watcher.before(RemovalStep::LookAgain, name)?;
        if !at.stat_of(moved)?.is_same(before) {
            return Err(Stop::Because(io::Error::other("it was replaced while it was moved")));
        }
        self.watcher.before(RemovalStep::Remove, name)?;
        let removed = self.relinked.remove(at, moved, before);
        Ok(removed.map_err(|error| name_new(at, moved, error))?)
    }

    /// Reports why the entry at `path` is kept. The path begins with the target's name.
    fn say(
        &mut self,
        path: &[u8],
        error: &io::Error,
        around: Option<&ExactStat>,
        it: Option<&ExactStat>,
    ) {
        let message = explain(error, around, it);
        self.outcome.add_as(path::join_all([self.around, path]), error, message);
    }
}

/// The error of removing a directory, with the names of entries that are still in it.
pub(super) fn name_new(around: &HeldDirectory, name: &CStr, error: io::Error) -> io::Error {
    /// The number of names in the message.
    const NAMED: usize = 3;
    if error.kind() != ErrorKind::DirectoryNotEmpty {
        return error;
    }
    let names = around.descend(&[name]).and_then(|held| held.names(NAMED + 1));
    let Ok(names) = names else { return error };
    let mut named: Vec<_> = names.iter().take(NAMED).map(|name| escape(name.to_bytes())).collect();
    if names.len() > NAMED {
        named.push("…".to_owned());
    }
    io::Error::other(format!("it contains entries that were not scanned: {}", named.join(", ")))
}
