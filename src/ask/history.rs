//! The history of a tree: the directories that changed most from its first snapshot to its last, their size in each
//! snapshot and their growth rate; and when their file system will be full if it goes on growing at its own rate.
//!
//! The first and the last snapshot are compared, and are in memory together. Of every other snapshot, only the sizes
//! of the chosen directories are kept; these snapshots are loaded two at a time. So a history takes the memory of two
//! trees, however long it is.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::{io, iter};

use crate::ask::diff;
use crate::ask::trend::{self, Filling};
use crate::base::escape::escape;
use crate::base::measure::Measure;
use crate::base::parallel;
use crate::from::series::{self, Member};
use crate::from::snapshot::{self, Origin, Snapshot, SnapshotInfo, Volume, Wanted};
use crate::sys::problem::{Operation, Problem, hinted};
use crate::sys::{self, Symlinks, to_path};
use crate::tree::tally::{Entry, Inodes, Limits, Tally, Whole};
use crate::tree::{Child, Content, Order, Step, Traversal, Tree};

/// The history of a tree.
#[derive(Debug)]
pub struct History {
    /// Its snapshots, sorted by time.
    pub moments: Vec<Moment>,
    /// The root, and then the directories that changed most, each before the directories in it.
    pub lines: Vec<Trace>,
    /// The file systems that held the roots in the last snapshot, if snapshots tell.
    pub file_systems: Vec<FileSystem>,
    /// The hosts that they are of. Several only if there is one snapshot of each: containers have another name each time.
    pub hosts: Vec<Vec<u8>>,
    /// The path of the root of the snapshots, if the tree is only a part of them.
    pub above: Option<Vec<u8>>,
    /// The snapshots that could not be read, or are of another tree.
    pub unread: Vec<Problem>,
}

/// When a snapshot was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// In seconds since the epoch.
    pub time: i64,
    /// Whether everything was read; if not, sizes are lower bounds.
    pub is_complete: bool,
}

/// A directory over time.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Its name in its parent; the root's path as given.
    pub name: Vec<u8>,
    /// Its path from the root, including its own name; empty for the root.
    pub path: Vec<u8>,
    /// Where it was at first, as such a path, if it was moved since.
    pub moved_from: Option<Vec<u8>>,
    /// Its depth below the root.
    pub depth: usize,
    /// Its size at each moment, in the measure's unit; none if it did not exist.
    pub sizes: Vec<Option<u64>>,
    /// Its growth per day, in the measure's unit; none if it cannot be computed.
    pub rate: Option<f64>,
}

/// What a history keeps of one snapshot.
struct Column {
    moment: Moment,
    origin: Origin,
    /// The size for each line.
    sizes: Vec<Option<u64>>,
}

/// The history of the tree whose snapshots are `files`, or are in those that are directories, in any order: the
/// directories that changed most, as many as `limits` allow. If a `part` of the snapshots is given, the history is of that
/// directory. Its sizes must have the measure `measure`, if given; otherwise that of the last snapshot. Also returns the
/// last snapshot, with the tree of the changed directories.
///
/// # Errors
/// The problem of a snapshot, if none can be read.
pub fn history(
    files: &[PathBuf],
    part: Option<&Origin>,
    measure: Option<Measure>,
    limits: Limits,
) -> Result<(History, Snapshot), Problem> {
    let mut unread = Vec::new();
    let files: Vec<_> = files.iter().map(|path| series::all_in(path)).collect::<Result<_, _>>()?;
    let mut seen = HashSet::new();
    let files = files.into_iter().flatten().filter(|file| {
        seen.insert(sys::real_path(file, Symlinks::Follow).unwrap_or_else(|_| file.clone()))
    });
    let mut members: Vec<_> = series::members(files, &mut unread).collect();
    members.retain(|Member { file, header }| match undated(header.origin.time) {
        Some(message) => {
            unread.push(problem(file, message));
            false
        }
        None => true,
    });
    members.sort_by_key(|member| member.header.origin.time);
    // The last readable snapshot decides which tree it is.
    let last = iter::from_fn(|| members.pop()).find_map(|Member { file, header }| {
        let above = part.and_then(|_| Some(header.origin.paths().first()?.to_vec()));
        Some((readable(load(&file, measure, (None, part), MOVABLE), &mut unread)?, file, above))
    });
    let Some(((mut last, now), last_file, above)) = last else {
        let none = problem(Path::new(""), "there is no snapshot");
        return Err(unread.into_iter().next().unwrap_or(none));
    };
    let mut others = Vec::new();
    let host = last.origin.as_ref().map_or(&b""[..], |origin| &origin.host);
    let is_of_one = members.iter().any(|member| member.header.origin.host == host);
    for Member { file, header } in members {
        match misfit(&header, (&last, part), is_of_one) {
            Some(message) => unread.push(problem(&file, &message)),
            None => others.push(file),
        }
    }
    let wanted = Some(last.view.measure);
    let mut others = others.into_iter();
    let first = others
        .find_map(|file| readable(load(&file, wanted, (Some(&last), part), MOVABLE), &mut unread));
    let is_alone = first.is_none();
    let (first, before) = match first {
        Some(first) => first,
        None => load(&last_file, measure, (None, part), MOVABLE)?,
    };
    let tree = diff::compare(before, now, Some(limits), None);
    let (chosen, was, is) = chosen(&tree);
    let mut columns = Vec::new();
    if !is_alone {
        columns.push(Column::new(&first, was));
    }
    let others: Vec<_> = parallel::collect(2, others.collect::<Vec<_>>(), |file| {
        let (snapshot, tree) = load(&file, wanted, (Some(&last), part), Inodes::NONE)?;
        Ok(Column::new(&snapshot, sizes(&chosen, &tree)))
    });
    columns.extend(others.into_iter().filter_map(|column| readable(column, &mut unread)));
    columns.push(Column::new(&last, is));
    last.report.answer = Some(tree);
    let lines = chosen.into_iter().enumerate();
    let lines: Vec<_> = lines.map(|(i, line)| line.with(&columns, i)).collect();
    let moments = columns.iter().map(|column| column.moment).collect();
    let origins: Vec<_> = columns.iter().map(|column| &column.origin).collect();
    if let Some((part, above)) = part.zip(above.as_ref()) {
        let is_nothing = |line: &Trace| line.sizes.iter().all(|size| size.is_none_or(|it| it == 0));
        if lines.first().is_none_or(is_nothing) {
            let message = format!("no kept scan of {} has anything in it", escape(above));
            return Err(problem(&to_path(&part.roots[0].path), &message));
        }
    }
    let file_systems = file_systems(&origins);
    let hosts: BTreeSet<_> = origins.into_iter().map(|origin| origin.host.clone()).collect();
    let hosts = hosts.into_iter().collect();
    Ok((History { moments, lines, file_systems, hosts, above, unread }, last))
}

/// Why a snapshot of this `time` has no place among the others.
fn undated(time: i64) -> Option<&'static str> {
    /// The clocks of two hosts differ by less.
    const SKEW: i64 = 12 * 3_600;
    match time {
        0 => Some("it does not say when it was made"),
        time if time > sys::now().saturating_add(SKEW) => Some("it is dated in the future"),
        _ => None,
    }
}

/// What was read; if nothing was, the problem is one of those `unread`.
fn readable<T>(read: Result<T, Problem>, unread: &mut Vec<Problem>) -> Option<T> {
    read.map_err(|problem| unread.push(problem)).ok()
}

/// Loads the snapshot in `file`, or a `part` of it, and separately its tree, which has all its directories, with these
/// `inodes`. Its roots are called as in the `last` one, if there is one.
fn load(
    file: &Path,
    measure: Option<Measure>,
    (last, part): (Option<&Snapshot>, Option<&Origin>),
    inodes: Inodes,
) -> Result<(Snapshot, Tree), Problem> {
    let mut snapshot = snapshot::load(file, Wanted { measure, ..Wanted::default() }, |_| {
        Directories(Whole { inodes })
    })?;
    if let Some(part) = part {
        snapshot::leave_part(&mut snapshot, part)
            .map_err(|error| snapshot::problem(file, Operation::Load, &error))?;
    }
    if let Some(last) = last {
        snapshot.name_roots_as(last);
    }
    snapshot.report.check_totals();
    match snapshot.report.answer.take() {
        Some(tree) => Ok((snapshot, tree)),
        None => Err(problem(file, "nothing could be read when it was made")),
    }
}

fn problem(file: &Path, message: &str) -> Problem {
    snapshot::problem(file, Operation::Load, &hinted(io::ErrorKind::Other, message))
}

/// Why a snapshot is of another tree than the last one, or lacks the `part` of it that is left there. All may have to be of
/// its host.
fn misfit(
    info: &SnapshotInfo,
    (last, part): (&Snapshot, Option<&Origin>),
    is_of_one: bool,
) -> Option<String> {
    let origin = last.origin.as_ref()?;
    let other = match &info.origin {
        it if part
            .map_or(!origin.has_paths_of(it), |part| snapshot::way_to(it, part).is_none()) =>
        {
            "of another root"
        }
        it if is_of_one && it.host != origin.host => "of another host",
        it if it.share != origin.share => "another share",
        it => return snapshot::difference(origin.options.as_deref()?, &[], it, true),
    };
    Some(format!("it is {other} than the last snapshot"))
}

/// A line for each directory in the difference `tree`, and their sizes before and now.
fn chosen(tree: &Tree) -> (Vec<Trace>, Vec<Option<u64>>, Vec<Option<u64>>) {
    let (mut lines, mut was, mut is) = (Vec::new(), Vec::new(), Vec::new());
    let mut traversal = Traversal::new(tree.root());
    while let Some(step) = traversal.next() {
        let Step::Node(node) = step else { continue };
        let (name, depth) = (node.name().to_vec(), traversal.depth());
        let root = tree.root().name().len();
        let below = traversal.path().get(root..).unwrap_or_default();
        let path = match () {
            () if depth == 0 => &[],
            // With several roots, paths begin with the root as given.
            () if tree.root().is_total() => below,
            () => below.strip_prefix(b"/").unwrap_or(below),
        };
        let path = path.to_vec();
        let moved_from = node.change().and_then(|change| change.moved_from).map(<[u8]>::to_vec);
        lines.push(Trace { name, path, moved_from, depth, sizes: Vec::new(), rate: None });
        was.push(node.change().and_then(|change| change.was));
        is.push(node.change().and_then(|change| change.is));
        traversal.enter((), node.children(Order::Size));
    }
    (lines, was, is)
}

/// The sizes in `tree` of the `chosen` directories, each of which comes before those in it.
fn sizes(chosen: &[Trace], tree: &Tree) -> Vec<Option<u64>> {
    let mut sizes = Vec::with_capacity(chosen.len());
    // What is in each directory above the line, by name.
    let mut open: Vec<HashMap<&[u8], Child<'_>>> = Vec::new();
    for line in chosen {
        open.truncate(line.depth);
        let found = match open.last() {
            None => Some(tree.root()),
            Some(above) => above.get(&*line.name).copied(),
        };
        sizes.push(found.map(|child| child.size()));
        let below = found.into_iter().flat_map(Child::directories);
        open.push(below.map(|child| (child.name(), child)).collect());
    }
    sizes
}

impl History {
    /// The moments whose sizes make a trend: those of complete snapshots. If there are not two, all of them.
    pub fn of_trend(&self) -> impl Iterator<Item = usize> {
        let complete = self.moments.iter().filter(|moment| moment.is_complete).count();
        let moments = self.moments.iter().enumerate();
        moments.filter(move |(_, moment)| moment.is_complete || complete < 2).map(|(i, _)| i)
    }
}

impl Column {
    fn new(snapshot: &Snapshot, sizes: Vec<Option<u64>>) -> Self {
        let origin = snapshot.origin.clone().unwrap_or_default();
        let moment = Moment { time: origin.time, is_complete: snapshot.report.is_complete() };
        Self { moment, origin, sizes }
    }
}

impl Trace {
    /// This line with its sizes, number `i` in all `columns`.
    fn with(self, columns: &[Column], i: usize) -> Self {
        let sizes: Vec<_> = columns.iter().map(|column| column.sizes[i]).collect();
        // What could not be read at one time would seem to grow by the next.
        let complete = columns.iter().filter(|column| column.moment.is_complete);
        let points = complete.filter_map(|column| Some((column.moment.time, column.sizes[i]?)));
        Self { rate: trend::slope(points), sizes, ..self }
    }
}

// The part of a tree that a history needs: its directories, without files. Thirty snapshots of a million entries take
// 47 MB, and 13 s of CPU time; with files they took 115 MB and 16 s.

/// Keeps every directory with what it comes to, and perhaps its inode.
struct Directories(Whole);

/// The first and the last snapshot have the inodes of directories, which tell a moved one.
const MOVABLE: Inodes = Inodes::DATED_DIRECTORIES;

impl Tally for Directories {
    type Part = Content;
    type Answer = Tree;

    fn leaf(&self, _: &mut Content, _: &Entry<'_>) {}

    fn merge(&self, part: &mut Content, other: Content) {
        part.append(other);
    }

    fn close(&self, parent: &mut Content, directory: &Entry<'_>, part: Content) {
        self.0.close(parent, directory, part);
    }

    fn finish(&self, root: &Entry<'_>, part: Content) -> Tree {
        self.0.finish(root, part)
    }
}

// When file systems will be full.

/// A file system over time.
#[derive(Clone, Debug)]
pub struct FileSystem {
    /// The path, as given, of the root that it held.
    pub root: Vec<u8>,
    /// Its type, size and free space in the last snapshot.
    pub volume: Volume,
    /// The growth of its used space per day, in bytes; none if it cannot be computed.
    pub rate: Option<f64>,
    /// When nothing will be available at that rate; none if there is no rate, or if the last snapshot does not say what
    /// is available.
    pub filling: Option<Filling>,
}

/// The file systems that held the roots in the last of the snapshots, with what each snapshot says about them, in
/// order of time. Incomplete snapshots count, too: what is used and available, the system says whatever else weigh may
/// read.
fn file_systems(origins: &[&Origin]) -> Vec<FileSystem> {
    let Some(last) = origins.last() else { return Vec::new() };
    let mut known = HashSet::new();
    let mut file_systems = Vec::new();
    for root in &last.roots {
        let Some(volume) = &root.volume else { continue };
        // Several roots may be on the same one.
        if !known.insert((&volume.kind, volume.size, volume.free)) {
            continue;
        }
        let used = origins.iter().filter_map(|origin| {
            let then = origin.roots.iter().find(|then| then.path == root.path)?;
            let volume = then.volume.as_ref()?;
            Some((origin.time, volume.size.saturating_sub(volume.free)))
        });
        // Not what is free: programs fail when the part for every user is used up.
        let found = trend::filling(used, volume.available);
        let (rate, filling) = found.map_or((None, None), |(rate, it)| (Some(rate), it));
        let root = root.name.clone().unwrap_or_else(|| root.path.clone());
        file_systems.push(FileSystem { root, volume: volume.clone(), rate, filling });
    }
    file_systems
}
