//! Everything that [`Whole`] keeps, also readable during the walk: another thread can read the content of each open
//! directory.
//!
//! Nothing is copied. An open directory keeps its content behind a lock of its own, and hands it to its parent when it
//! closes. The walk takes the lock once for each directory or part of one that it adds; readers take it too. Each open
//! directory knows the open directories below it, so that readers can descend from the root.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Entry, Inodes, Tally, Whole};
use crate::measure::{Figures, View};
use crate::tree::{Child, Content, Sums, Tree};

/// Keeps every entry, and lets other threads read them.
#[derive(Debug)]
pub struct Live {
    whole: Whole,
    top: Arc<LiveDirectory>,
    is_stopped: Arc<AtomicBool>,
}

/// A directory, or the node above several roots, that may still be open.
#[derive(Debug, Default)]
pub struct LiveDirectory {
    name: Box<[u8]>,
    /// Set on closing, while the directory and its parent are locked; if nothing in it counted, when it is dropped.
    is_closed: AtomicBool,
    /// Guards the content. No system call is made under it.
    gathered: Mutex<Gathered>,
}

/// The state of an open directory.
#[derive(Debug, Default)]
struct Gathered {
    content: Content,
    seen: Seen,
    /// The open directories below it, and some that have closed since the last cleanup.
    below: Vec<Arc<LiveDirectory>>,
    /// How many of them trigger the next cleanup.
    most_below: usize,
}

/// The figures so far. Each link of an inode counts a share of them, as in the progress of a walk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    disk: f64,
    length: f64,
    files: f64,
    inodes: f64,
    newest: Option<i64>,
}

/// The content of one directory, or of a part of it.
#[derive(Debug, Default)]
pub struct LivePart {
    /// Where readers find it, if it belongs to a whole directory.
    open: Option<Arc<LiveDirectory>>,
    content: Content,
    seen: Seen,
}

impl Live {
    /// Keeps what `whole` keeps, for readers that start at `top`, a new directory.
    pub fn new(whole: Whole, top: Arc<LiveDirectory>) -> Self {
        Self { whole, top, is_stopped: Arc::default() }
    }

    /// The same where `is_stopped` says that the walk is to end: directories that close from then on may not have been
    /// read to their end. They have no fingerprint.
    pub fn until(self, is_stopped: Arc<AtomicBool>) -> Self {
        Self { is_stopped, ..self }
    }

    /// What is kept of a directory that closes now.
    fn of_closed(&self) -> Whole {
        // Whatever was left out for it was left out after it was set.
        match self.is_stopped.load(Ordering::SeqCst) {
            true => Whole { inodes: Inodes { fingerprints: false, ..self.whole.inodes } },
            false => self.whole,
        }
    }
}

impl Tally for Live {
    type Part = LivePart;

    const IS_LIVE: bool = true;

    fn open(&self, parent: Option<&LivePart>, name: &[u8]) -> LivePart {
        let mut part = LivePart::default();
        part.open = match parent {
            None => Some(Arc::clone(&self.top)),
            Some(parent) => parent.open.as_ref().map(|parent| parent.open(name)),
        };
        part
    }

    fn leaf(&self, part: &mut LivePart, entry: &Entry<'_>) {
        part.seen.add(Seen::of(&entry.sums.all, entry.links.share()));
        self.whole.leaf(&mut part.content, entry);
    }

    fn merge(&self, part: &mut LivePart, mut other: LivePart) {
        let content = mem::take(&mut other.content);
        match &part.open {
            Some(open) => {
                let mut gathered = open.gathered();
                gathered.content.append(content);
                gathered.seen.add(other.seen);
            }
            None => {
                part.content.append(content);
                part.seen.add(other.seen);
            }
        }
    }

    fn close(&self, parent: &mut LivePart, directory: &Entry<'_>, mut part: LivePart) {
        let own = directory.own.map_or(Seen::default(), |own| Seen::of(&own, 1.0));
        match &parent.open {
            Some(above) => {
                // Locks the parent first, so that no reader finds the closed directory twice or not at all.
                let mut gathered = above.gathered();
                let (content, seen) = part.take();
                self.of_closed().close(&mut gathered.content, directory, content);
                gathered.seen.add(seen);
                gathered.seen.add(own);
            }
            None => {
                let (content, seen) = part.take();
                self.of_closed().close(&mut parent.content, directory, content);
                parent.seen.add(seen);
                parent.seen.add(own);
            }
        }
    }

    fn finish(&self, root: &Entry<'_>, mut part: LivePart) -> Tree {
        let (content, _) = part.take();
        self.of_closed().finish(root, content)
    }
}

impl LivePart {
    /// Takes the whole content.
    fn take(&mut self) -> (Content, Seen) {
        let (mut content, mut seen) = (mem::take(&mut self.content), self.seen);
        if let Some(open) = &self.open {
            let mut gathered = open.gathered();
            content.append(mem::take(&mut gathered.content));
            seen.add(mem::take(&mut gathered.seen));
            gathered.below = Vec::new();
            open.is_closed.store(true, Ordering::Release);
        }
        (content, seen)
    }
}

/// Closes the directory also if nothing in it counted and `close` is never called.
impl Drop for LivePart {
    fn drop(&mut self) {
        if let Some(open) = &self.open {
            open.is_closed.store(true, Ordering::Release);
        }
    }
}

impl LiveDirectory {
    /// Its name, as bytes; empty for the root.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Whether it has closed: its content is now in its parent, or it is the root.
    pub fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// The totals so far of this directory and everything below it.
    pub fn seen(&self) -> Seen {
        let (mut seen, mut below) = {
            let gathered = self.gathered();
            (gathered.seen, gathered.below.clone())
        };
        while let Some(next) = below.pop() {
            let gathered = next.gathered();
            seen.add(gathered.seen);
            below.extend_from_slice(&gathered.below);
        }
        seen
    }

    /// The open directory called `name` in it.
    pub fn below(&self, name: &[u8]) -> Option<Arc<LiveDirectory>> {
        self.gathered().open_below().find(|below| &*below.name == name).cloned()
    }

    /// Calls `look` on its closed and its open entries, and returns the result; none if it has closed itself.
    /// Meanwhile the walk waits before it adds to this directory.
    pub fn look<R>(&self, look: impl FnOnce(&Content, &[Arc<LiveDirectory>]) -> R) -> Option<R> {
        let mut gathered = self.gathered();
        gathered.sort_out();
        (!self.is_closed()).then(|| look(&gathered.content, &gathered.below))
    }

    /// Calls `look` on the closed entry called `name` in it, seen in a `view`, and returns the result.
    pub fn closed<R>(
        &self,
        view: View,
        name: &[u8],
        look: impl FnOnce(Child<'_>) -> R,
    ) -> Option<R> {
        let gathered = self.gathered();
        let child = gathered.content.children(view).find(|child| child.name() == name);
        child.map(look)
    }

    /// Opens a directory called `name` in it.
    fn open(&self, name: &[u8]) -> Arc<Self> {
        let open = Arc::new(Self {
            name: name.into(),
            is_closed: AtomicBool::new(false),
            gathered: Mutex::default(),
        });
        let mut gathered = self.gathered();
        if gathered.below.len() >= gathered.most_below {
            gathered.sort_out();
        }
        gathered.below.push(Arc::clone(&open));
        open
    }

    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        // If a tally panicked, the walk has ended.
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops the directories below in a loop: nested drops of a deep chain would overflow the stack.
impl Drop for LiveDirectory {
    fn drop(&mut self) {
        let mut below = mem::take(&mut self.gathered().below);
        while let Some(next) = below.pop() {
            if let Some(next) = Arc::into_inner(next) {
                below.append(&mut next.gathered().below);
            }
        }
    }
}

impl Gathered {
    fn open_below(&self) -> impl Iterator<Item = &Arc<LiveDirectory>> {
        self.below.iter().filter(|below| !below.is_closed())
    }

    /// Removes the closed ones. Runs whenever the number doubles, so that each is checked only a few times.
    fn sort_out(&mut self) {
        const AT_LEAST: usize = 16;
        self.below.retain(|below| !below.is_closed());
        self.most_below = (self.below.len() * 2).max(AT_LEAST);
    }
}

impl Seen {
    /// This `share` of `figures`.
    fn of(figures: &Figures, share: f64) -> Self {
        let part = |figure: u64| figure as f64 * share;
        Self {
            disk: part(figures.disk),
            length: part(figures.length),
            files: part(figures.files),
            inodes: part(figures.inodes),
            newest: figures.newest,
        }
    }

    fn add(&mut self, other: Seen) {
        self.disk += other.disk;
        self.length += other.length;
        self.files += other.files;
        self.inodes += other.inodes;
        self.newest = self.newest.max(other.newest);
    }

    /// What that comes to. A cast from a float saturates.
    pub fn sums(self) -> Sums {
        let inodes = self.inodes.round() as u64;
        let all = Figures {
            disk: self.disk as u64,
            length: self.length as u64,
            files: self.files as u64,
            inodes,
            newest: self.newest,
        };
        Sums { all, entries: inodes, ..Sums::default() }
    }
}
