//! Everything, as [`Whole`] keeps it, while the walk goes on: what has been gathered of each directory that is open
//! can be looked at from another thread.
//!
//! Nothing is copied. What is kept of an open directory lies behind a lock of its own until that closes and hands it
//! to its parent; the walk takes that lock where it adds to a directory, once a directory or part of one, and so does
//! whoever looks. Open directories know those below them, so that whoever looks comes from the root down.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Closed, Entry, Inodes, Tally, Whole};
use crate::tree::{Child, Content, Tree};

/// Keeps every entry, and lets somebody watch.
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
    /// Set when it has closed, with itself and its parent locked; where nothing in it counted, when it is dropped.
    is_closed: AtomicBool,
    /// Guards what has been gathered. No system call is made under it.
    gathered: Mutex<Gathered>,
}

/// What an open directory has.
#[derive(Debug, Default)]
struct Gathered {
    content: Content,
    seen: Seen,
    /// Those below it that are open, and some that have closed since they were last sorted out.
    below: Vec<Arc<LiveDirectory>>,
    /// How many there may be before they are sorted out again.
    most_below: usize,
}

/// What has been met so far. Each link of an inode has its share of the weight, as in the progress of a walk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Weight, in the measure's unit.
    pub size: f64,
    /// How many entries.
    pub entries: u64,
}

/// What is gathered in one directory, or a part of it.
#[derive(Debug, Default)]
pub struct LivePart {
    /// Where it is to be seen, if it belongs to a directory as a whole.
    open: Option<Arc<LiveDirectory>>,
    content: Content,
    seen: Seen,
}

impl Live {
    /// Keeps what `whole` keeps, to be seen from `top` on, which nothing has been seen of yet.
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
        match (self.whole.inodes, self.is_stopped.load(Ordering::SeqCst)) {
            (Inodes::Fingerprints, true) => Whole { inodes: Inodes::Directories },
            _ => self.whole,
        }
    }
}

impl Tally for Live {
    type Part = LivePart;
    type Report = Tree;

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
        let links = if entry.identity.is_some() { entry.links } else { 1 };
        part.seen.add(Seen { size: entry.size as f64 / f64::from(links.max(1)), entries: 1 });
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

    fn close(&self, parent: &mut LivePart, directory: &Closed<'_>, mut part: LivePart) {
        let own = Seen {
            size: directory.own.unwrap_or(0) as f64,
            entries: directory.own.is_some().into(),
        };
        match &parent.open {
            Some(above) => {
                // First, so that nobody sees what is closed twice, or not at all.
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

    fn finish(&self, root: &Closed<'_>, mut part: LivePart) -> Tree {
        let (content, _) = part.take();
        self.of_closed().finish(root, content)
    }
}

impl LivePart {
    /// Takes out all that has been gathered.
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

/// Also where nothing in it counted, and nobody closes it.
impl Drop for LivePart {
    fn drop(&mut self) {
        if let Some(open) = &self.open {
            open.is_closed.store(true, Ordering::Release);
        }
    }
}

impl LiveDirectory {
    /// Its name, as bytes; that of the root is not known here.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Whether it has closed: what was in it is in its parent now, or it is the root.
    pub fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// What has been met in it and below so far.
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

    /// What `look` makes of what is in it: what has closed, and what is open; nothing if it has closed itself. The
    /// walk waits for it where it comes to add something.
    pub fn look<R>(&self, look: impl FnOnce(&Content, &[Arc<LiveDirectory>]) -> R) -> Option<R> {
        let mut gathered = self.gathered();
        gathered.sort_out();
        (!self.is_closed()).then(|| look(&gathered.content, &gathered.below))
    }

    /// What `look` makes of the closed entry called `name` in it.
    pub fn closed<R>(&self, name: &[u8], look: impl FnOnce(Child<'_>) -> R) -> Option<R> {
        let gathered = self.gathered();
        let child = gathered.content.children().find(|child| child.name() == name);
        child.map(look)
    }

    /// One called `name` begins in it.
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
        // A tally that panicked has ended the walk.
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets go of what is below in a loop: the nested drops of a deep chain would overflow the stack.
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

    /// Lets go of those that have closed. As often as their number doubles, so that each is looked at a few times.
    fn sort_out(&mut self) {
        const AT_LEAST: usize = 16;
        self.below.retain(|below| !below.is_closed());
        self.most_below = (self.below.len() * 2).max(AT_LEAST);
    }
}

impl Seen {
    fn add(&mut self, other: Seen) {
        self.size += other.size;
        self.entries += other.entries;
    }
}
