//! Everything that [`Whole`] keeps, also readable during the walk: another thread can read the content of each open
//! directory.
//!
//! The walk copies nothing. An open directory keeps its content behind a lock of its own, and hands it to its parent
//! when it closes. The walk takes the lock once for each directory or part of one that it adds; readers take it too.
//! Each open directory knows the open directories below it, so that readers can descend from the root. They get a copy
//! of one directory, as a tree.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{iter, mem};

use super::{Entry, Inodes, Tally, Whole};
use crate::base::measure::{Figures, Kind, Measure, Mode, View};
use crate::tree::{Child, Content, Node, Shape, Sums, Totals, Tree};

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
    state: Mutex<LiveState>,
}

/// The state of an open directory.
#[derive(Debug, Default)]
struct LiveState {
    kept: LiveContent,
    /// The open directories below it, and some that have closed since the last cleanup.
    below: Vec<Arc<LiveDirectory>>,
    /// How many of them trigger the next cleanup.
    most_below: usize,
}

/// What is kept of a directory so far.
#[derive(Debug, Default)]
struct LiveContent {
    content: Content,
    seen: Seen,
}

/// The figures so far. Each link of an inode counts a share of them, as in the progress of a walk.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// In the order of [`Measure::ALL`].
    amounts: [f64; 4],
    newest: Option<i64>,
}

/// The content of one directory, or of a part of it.
#[derive(Debug, Default)]
pub struct LivePart {
    /// Where readers find it, if it belongs to a whole directory.
    open: Option<Arc<LiveDirectory>>,
    kept: LiveContent,
}

impl Live {
    /// Keeps what `whole` keeps, for readers that start at `top`, a new directory. `is_stopped` says that the walk is
    /// to end: directories that close from then on may not have been read to their end. They have no fingerprint.
    pub fn new(whole: Whole, top: Arc<LiveDirectory>, is_stopped: Arc<AtomicBool>) -> Self {
        Self { whole, top, is_stopped }
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
    type Answer = Tree;

    fn is_live(&self) -> bool {
        true
    }

    fn open(&self, parent: Option<&LivePart>, name: &[u8]) -> LivePart {
        let mut part = LivePart::default();
        part.open = match parent {
            None => Some(Arc::clone(&self.top)),
            Some(parent) => parent.open.as_ref().map(|parent| parent.open(name)),
        };
        part
    }

    fn leaf(&self, part: &mut LivePart, entry: &Entry<'_>) {
        part.kept.seen.add(Seen::of(&entry.sums.all, entry.links.share()));
        self.whole.leaf(&mut part.kept.content, entry);
    }

    fn merge(&self, part: &mut LivePart, mut other: LivePart) {
        let kept = mem::take(&mut other.kept);
        part.change(|all| all.append(kept));
    }

    fn close(&self, parent: &mut LivePart, directory: &Entry<'_>, mut part: LivePart) {
        let own = directory.own.map_or(Seen::default(), |own| Seen::of(&own, 1.0));
        // Locks the parent first, so that no reader finds the closed directory twice or not at all.
        parent.change(|above| {
            let LiveContent { content, seen } = part.take();
            self.of_closed().close(&mut above.content, directory, content);
            above.seen.add(seen);
            above.seen.add(own);
        });
    }

    fn finish(&self, root: &Entry<'_>, mut part: LivePart) -> Tree {
        let content = part.take().content;
        self.of_closed().finish(root, content)
    }
}

impl LivePart {
    /// Changes what readers find of its directory; or itself, if it belongs to none.
    fn change(&mut self, change: impl FnOnce(&mut LiveContent)) {
        match &self.open {
            Some(open) => change(&mut open.state().kept),
            None => change(&mut self.kept),
        }
    }

    /// Takes the whole content.
    fn take(&mut self) -> LiveContent {
        let mut kept = mem::take(&mut self.kept);
        if let Some(open) = &self.open {
            let mut state = open.state();
            kept.append(mem::take(&mut state.kept));
            state.below = Vec::new();
            open.is_closed.store(true, Ordering::Release);
        }
        kept
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
    /// Whether it has closed: its content is now in its parent, or it is the root.
    pub fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// The directory at the path `way` below this one, as it is now: a tree with that and its entries, below the
    /// directories on the way. This one is called `name` in it. What is known of an open directory is only what it
    /// comes to so far.
    ///
    /// None if it is gone or no directory, or if everything has closed. Meanwhile the walk waits before it adds to that
    /// directory.
    pub fn listing(self: &Arc<Self>, name: &[u8], way: &[Vec<u8>]) -> Option<Tree> {
        let (here, depth) = self.innermost_open(way);
        let (open_way, closed_way) = way.split_at(depth);
        let (mut copy, mut sums) = match closed_way {
            [] => here.copy()?,
            _ => (here.state().kept.content.copy_at(closed_way)?, Sums::default()),
        };
        for name in open_way.iter().rev() {
            let mut above = Content::default();
            above.close(&open_node(name, mem::take(&mut sums)), copy);
            copy = above;
        }
        Some(copy.finish(&open_node(name, sums), Shape::Directory))
    }

    /// The largest entries below the directory at the path `way`, as they are now, that `is_match` admits by their
    /// names and by whether they are directories: the largest first, `most` at most; and whether there are more. They
    /// are as large as `view` measures. Meanwhile the walk waits before it adds to a directory that is looked at.
    pub fn find(
        self: &Arc<Self>,
        way: &[Vec<u8>],
        (view, most): (View, usize),
        is_match: impl Fn(&[u8], bool) -> bool,
    ) -> (Vec<Found>, bool) {
        let mut largest =
            Largest { view, most, is_match, found: Vec::new(), least: None, names: 0 };
        let (here, depth) = self.innermost_open(way);
        let (open_way, closed_way) = way.split_at(depth);
        // The open directories, each with the number of the one around it: a name is copied only if it is needed.
        let mut opened = vec![(0, open_way.to_vec(), Seen::default())];
        if !closed_way.is_empty() {
            let state = here.state();
            if let Some(directory) = state.kept.content.directory_at(closed_way) {
                largest.add_below(directory, &opened, 0);
            }
            return largest.finish(way.len());
        }
        let mut next = vec![(here, 0)];
        while let Some((directory, number)) = next.pop() {
            let state = directory.state();
            opened[number].2 = state.kept.seen;
            state
                .kept
                .content
                .leaf_nodes()
                .for_each(|leaf| largest.add(&leaf, None, &opened, number));
            for closed in state.kept.content.directories() {
                largest.add(&closed.node(), closed.parent().as_ref(), &opened, number);
                largest.add_below(closed, &opened, number);
            }
            for open in state.below.iter().filter(|below| !below.is_closed()) {
                next.push((Arc::clone(open), opened.len()));
                opened.push((number, vec![open.name.to_vec()], Seen::default()));
            }
        }
        // The figures of an open directory include those below it, which come after it.
        for number in (1..opened.len()).rev() {
            let (above, names, seen) = &opened[number];
            let (above, name, seen) = (*above, names[0].clone(), *seen);
            opened[above].2.add(seen);
            largest.add(&open_node(&name, seen.sums()), None, &opened, above);
        }
        largest.finish(way.len())
    }

    /// The innermost open directory on the path `way`, and how many names lead to it.
    fn innermost_open(self: &Arc<Self>, way: &[Vec<u8>]) -> (Arc<Self>, usize) {
        let (mut here, mut depth) = (Arc::clone(self), 0);
        while let Some(below) = way.get(depth).and_then(|name| here.below(name)) {
            (here, depth) = (below, depth + 1);
        }
        (here, depth)
    }

    /// A copy of its entries, and what it comes to so far; none if it has closed.
    fn copy(&self) -> Option<(Content, Sums)> {
        let sums = self.seen().sums();
        let (mut copy, below) = {
            let mut state = self.state();
            state.forget_closed();
            if self.is_closed() {
                return None;
            }
            (state.kept.content.copy(), state.below.clone())
        };
        for directory in &below {
            let node = open_node(&directory.name, directory.seen().sums());
            copy.close(&node, Content::default());
        }
        Some((copy, sums))
    }

    /// The totals so far of this directory and everything below it.
    fn seen(&self) -> Seen {
        let (mut seen, mut below) = {
            let state = self.state();
            (state.kept.seen, state.below.clone())
        };
        while let Some(next) = below.pop() {
            let state = next.state();
            seen.add(state.kept.seen);
            below.extend_from_slice(&state.below);
        }
        seen
    }

    /// The open directory called `name` in it.
    fn below(&self, name: &[u8]) -> Option<Arc<LiveDirectory>> {
        let state = self.state();
        let mut open = state.below.iter().filter(|below| !below.is_closed());
        open.find(|below| &*below.name == name).cloned()
    }

    /// Opens a directory called `name` in it.
    fn open(&self, name: &[u8]) -> Arc<Self> {
        let (name, is_closed) = (name.into(), AtomicBool::new(false));
        let open = Arc::new(Self { name, is_closed, state: Mutex::default() });
        let mut state = self.state();
        if state.below.len() >= state.most_below {
            state.forget_closed();
        }
        state.below.push(Arc::clone(&open));
        open
    }

    fn state(&self) -> MutexGuard<'_, LiveState> {
        // If a tally panicked, the walk has ended.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops the directories below in a loop: nested drops of a deep chain would overflow the stack.
impl Drop for LiveDirectory {
    fn drop(&mut self) {
        let mut below = mem::take(&mut self.state().below);
        while let Some(next) = below.pop() {
            if let Some(next) = Arc::into_inner(next) {
                below.append(&mut next.state().below);
            }
        }
    }
}

impl LiveState {
    /// Forgets closed directories. Runs whenever the number doubles, so that each is checked only a few times.
    fn forget_closed(&mut self) {
        const AT_LEAST: usize = 16;
        self.below.retain(|below| !below.is_closed());
        self.most_below = (self.below.len() * 2).max(AT_LEAST);
    }
}

impl LiveContent {
    fn append(&mut self, other: LiveContent) {
        self.content.append(other.content);
        self.seen.add(other.seen);
    }
}

/// An entry that was found while the walk goes on.
#[derive(Clone, Debug)]
pub struct Found {
    /// The names on the path to it, from the directory in which it was sought.
    pub names: Vec<Vec<u8>>,
    /// File type and permissions.
    pub mode: Mode,
    /// Its figures; so far, if it is an open directory.
    pub totals: Totals,
    /// Whether it is a directory that is still open.
    pub is_open: bool,
}

/// An open directory: the number of the one around it, its name, and its figures without those below it.
type Opened = (usize, Vec<Vec<u8>>, Seen);

/// The largest entries that match.
struct Largest<F> {
    view: View,
    most: usize,
    is_match: F,
    found: Vec<Found>,
    /// The least size that is still sought, once there are enough.
    least: Option<u64>,
    /// How many names those have that were found.
    names: usize,
}

impl<F: Fn(&[u8], bool) -> bool> Largest<F> {
    /// Adds everything below `directory`, which lies in the open one with this number.
    fn add_below(&mut self, directory: Child<'_>, opened: &[Opened], number: usize) {
        for below in directory.all_directories() {
            if below.id() != directory.id() {
                self.add(&below.node(), below.parent().as_ref(), opened, number);
            }
            below.leaf_nodes().for_each(|leaf| self.add(&leaf, Some(&below), opened, number));
        }
    }

    /// Adds `node`, if it matches and is large enough. It lies in `parent`, or else directly in the open directory with
    /// this number.
    fn add(
        &mut self,
        node: &Node<'_>,
        parent: Option<&Child<'_>>,
        opened: &[Opened],
        number: usize,
    ) {
        /// About how many names the paths of what is found have at most: they are copied.
        const MOST_NAMES: usize = 1_000_000;
        let totals = node.sums.totals_in(self.view);
        let is_directory = node.mode.kind() == Kind::Directory;
        if self.least.is_some_and(|least| totals.size <= least)
            || !(self.is_match)(node.name, is_directory)
        {
            return;
        }
        let mut names = vec![node.name.to_vec()];
        let above = iter::successors(parent.copied(), |it| it.parent());
        names.extend(above.map(|it| it.name().to_vec()));
        let mut at = number;
        loop {
            let (above, own, _) = &opened[at];
            names.extend(own.iter().rev().cloned());
            if at == 0 {
                break;
            }
            at = *above;
        }
        self.names += names.len();
        if self.names > MOST_NAMES {
            // Most of it may be small by now.
            self.keep_largest(self.found.len() / 2);
        }
        names.reverse();
        let is_open = is_directory && node.inode.is_none();
        self.found.push(Found { names, mode: node.mode, totals, is_open });
        if self.found.len() >= 2 * self.most {
            self.keep_largest(self.most);
        }
    }

    fn keep_largest(&mut self, count: usize) {
        let Some(last) = count.checked_sub(1).filter(|last| *last < self.found.len()) else {
            return;
        };
        let (_, least, _) =
            self.found.select_nth_unstable_by_key(last, |it| Reverse(it.totals.size));
        self.least = Some(least.totals.size);
        self.found.truncate(count);
        self.names = self.found.iter().map(|it| it.names.len()).sum();
    }

    /// The entries found, without the first names of each path, which lead to where they were sought.
    fn finish(mut self, way: usize) -> (Vec<Found>, bool) {
        let has_more = self.least.is_some() || self.found.len() > self.most;
        self.found.iter_mut().for_each(|it| _ = it.names.drain(..way));
        let key = |it: &Found| (Reverse(it.totals.size), it.names.clone());
        self.found.sort_by_cached_key(key);
        self.found.truncate(self.most);
        (self.found, has_more)
    }
}

/// An open directory that comes to `sums` so far.
fn open_node(name: &[u8], sums: Sums) -> Node<'_> {
    Node { name, mode: Mode::DIRECTORY, sums, ..Node::default() }
}

impl Seen {
    /// This `share` of `figures`.
    fn of(figures: &Figures, share: f64) -> Self {
        let amounts = Measure::ALL.map(|measure| figures.get(measure) as f64 * share);
        Self { amounts, newest: figures.newest }
    }

    fn add(&mut self, other: Seen) {
        self.amounts.iter_mut().zip(other.amounts).for_each(|(sum, amount)| *sum += amount);
        self.newest = self.newest.max(other.newest);
    }

    /// What that comes to. A cast from a float saturates.
    fn sums(self) -> Sums {
        let [disk, length, files, inodes] = self.amounts;
        let [disk, length, files, inodes] =
            [disk, length, files, inodes.round()].map(|it| it as u64);
        let all = Figures { disk, length, files, inodes, newest: self.newest };
        Sums { all, entries: inodes, ..Sums::default() }
    }
}
