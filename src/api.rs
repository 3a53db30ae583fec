//! What other programs use: how to make a [`Request`], to [`run`] it, and to read its [`Outcome`]. Both are those of
//! `ask` inside, which are open there to all of weigh.

use std::borrow::Cow;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::ask::{self, Input, Keep};
use crate::base::escape::harmless;
use crate::base::interrupt::Interrupt;
use crate::base::invalid::InvalidValue;
use crate::base::measure::{Figures, Kind, Measure};
use crate::scan::filter::add_glob;
use crate::sys::problem::Problem;
use crate::sys::{Destination, to_path};
use crate::tree::tally::Limits;
use crate::tree::{Child, Order, Tree};

/// What to weigh, or which snapshots to show, and how. It walks the current directory unless told otherwise.
#[derive(Clone, Debug, Default)]
pub struct Request(ask::Request);

/// The result of a request.
#[derive(Debug, Default)]
pub struct Outcome(ask::Outcome);

/// Does what the request asks for, on several threads, and returns when it is done.
///
/// # Errors
/// If no root can be read, or if a snapshot cannot be loaded, compared or saved. What else could not be read is among
/// the outcome's [problems](Outcome::problems).
pub fn run(request: &Request) -> Result<Outcome, Problem> {
    let outcome = ask::run(&request.0, |_| ())?;
    if let Some(problem) = &outcome.unsaved {
        return Err(problem.clone());
    }
    let report = &outcome.snapshot.report;
    match report.problems.first() {
        Some(problem) if report.answer.is_none() => Err(problem.clone()),
        _ => Ok(Outcome(outcome)),
    }
}

impl Request {
    /// A request for everything at and below these paths.
    pub fn of(roots: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        let roots = roots.into_iter().map(Into::into).collect();
        Self(ask::Request { source: Input::Roots(roots), ..ask::Request::default() })
    }

    /// A request for what snapshots have, together. A directory stands for the newest dated snapshot in it.
    pub fn saved(files: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        let files = files.into_iter().map(Into::into).collect();
        Self(ask::Request {
            source: Input::Files(files, Default::default()),
            ..ask::Request::default()
        })
    }

    /// What sizes measure, instead of bytes on disk.
    #[must_use]
    pub fn measure(mut self, measure: Measure) -> Self {
        self.0.measure = Some(measure);
        self.0.walk.view.measure = measure;
        self
    }

    /// Keeps only the `count` largest entries, and the directories above them. Memory no longer grows with the tree.
    #[must_use]
    pub fn largest(mut self, count: usize) -> Self {
        self.0.keep = Keep::Largest(Limits { lines: count, ..Limits::NONE });
        self
    }

    /// Leaves out what a glob matches, with the syntax of gitignore(5), relative to each root, and with alternates in
    /// braces: `*.{jpg,png}`.
    ///
    /// # Errors
    /// What is wrong with the glob.
    pub fn exclude(mut self, glob: &str) -> Result<Self, InvalidValue> {
        let globs = &mut self.0.walk.filter.globs;
        add_glob(&mut globs.exclude, glob.as_bytes()).map_err(InvalidValue::Pattern)?;
        // As the command line records it, so that snapshots of both can be compared.
        self.0.options.push(format!("--exclude={}", harmless(glob.as_bytes())));
        Ok(self)
    }

    /// Stays on the file system of each root.
    #[must_use]
    pub fn one_file_system(mut self) -> Self {
        self.0.walk.one_file_system = true;
        self.0.options.push("--limit-filesystem".to_owned());
        self
    }

    /// Walks with this many threads. Without a number, it starts as many as the storage can keep busy.
    #[must_use]
    pub fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.0.walk.threads = Some(threads);
        self
    }

    /// Compares with an earlier snapshot; or, in a directory, with the newest complete one of the same roots.
    #[must_use]
    pub fn since(mut self, file: impl Into<PathBuf>) -> Self {
        self.0.since = Some(file.into());
        self
    }

    /// Saves a snapshot in a file. It replaces a snapshot, but no other file that has something in it.
    #[must_use]
    pub fn save_to(mut self, file: impl Into<PathBuf>) -> Self {
        self.0.save = Some(Destination::new(file.into()));
        self
    }

    /// What can end it early, from another thread. The outcome has what was read until then.
    ///
    /// ```
    /// # fn main() -> Result<(), weigh::Problem> {
    /// use std::sync::atomic::Ordering;
    ///
    /// let interrupt = weigh::Interrupt::default();
    /// let request = weigh::Request::of(["src"]).interrupted_by(&interrupt);
    /// // For example, in a thread that waits for a key, or for a time limit.
    /// interrupt.is_asked.store(true, Ordering::SeqCst);
    /// assert!(!weigh::run(&request)?.is_complete());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn interrupted_by(mut self, interrupt: &Interrupt) -> Self {
        self.0.interrupt = interrupt.clone();
        self
    }
}

impl Outcome {
    /// The root; if there are several, what is above them.
    pub fn root(&self) -> TreeEntry<'_> {
        /// What there is if nothing was read before the walk was interrupted.
        static NOTHING: LazyLock<Tree> = LazyLock::new(Tree::default);
        TreeEntry(self.0.snapshot.report.answer.as_ref().unwrap_or(&NOTHING).root())
    }

    /// What could not be read, sorted by path.
    pub fn problems(&self) -> &[Problem] {
        &self.0.snapshot.report.problems
    }

    /// Whether everything was read. If not, all figures are lower bounds.
    pub fn is_complete(&self) -> bool {
        self.0.is_complete()
    }
}

/// A directory, a file, or another entry, with everything below it.
///
/// All files of 1 MiB or more:
///
/// ```
/// # fn main() -> Result<(), weigh::Problem> {
/// let outcome = weigh::run(&weigh::Request::of(["src"]))?;
/// let mut left = vec![outcome.root()];
/// while let Some(entry) = left.pop() {
///     if entry.kind() == weigh::Kind::File && entry.size() >= 1 << 20 {
///         println!("{:>12} {}", entry.size(), entry.path().display());
///     }
///     left.extend(entry.children());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TreeEntry<'a>(Child<'a>);

impl<'a> TreeEntry<'a> {
    /// Its name; the path of a root, as given. Empty above several roots.
    pub fn name(self) -> Cow<'a, Path> {
        to_path(self.0.name())
    }

    /// Its path: that of its root, as given, and the names below it.
    pub fn path(self) -> PathBuf {
        to_path(&self.0.path()).into_owned()
    }

    /// What it is.
    pub fn kind(self) -> Kind {
        self.0.mode().kind()
    }

    /// Its size with everything below it, in the measure of the request: bytes, files, or inodes. An inode counts once.
    pub fn size(self) -> u64 {
        self.0.size()
    }

    /// The part of its size that is in inodes with links outside of it, too. Removing it would not free that part.
    pub fn shared(self) -> u64 {
        self.0.totals().shared
    }

    /// All that it comes to with everything below it, whatever the request measures.
    pub fn figures(self) -> Figures {
        self.0.node().sums.all
    }

    /// How many inodes count at and below it, however many links they have; in a comparison, how many entries changed.
    pub fn entries(self) -> u64 {
        self.0.totals().entries
    }

    /// In a comparison, its size before, and now; none where it was not there.
    pub fn sizes(self) -> Option<(Option<u64>, Option<u64>)> {
        self.0.change().map(|change| (change.was, change.is))
    }

    /// In a comparison, by how much it grew; less than 0 if it shrank.
    pub fn growth(self) -> Option<i128> {
        self.0.change().map(|change| change.difference())
    }

    /// Where a directory was before, below the root, if a comparison finds that it was moved.
    pub fn moved_from(self) -> Option<Cow<'a, Path>> {
        self.0.change()?.moved_from.map(to_path)
    }

    /// The directory that contains it; none above the root.
    pub fn parent(self) -> Option<Self> {
        self.0.parent().map(Self)
    }

    /// What is in it, the largest first; in a comparison, what changed most.
    pub fn children(self) -> Vec<Self> {
        self.0.children(Order::Size).into_iter().map(Self).collect()
    }
}
