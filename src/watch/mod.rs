//! Growth as it happens: where, how fast, and who writes it (`weigh watch`).
//!
//! A scan fills the [`Table`]. Then each file system below PATH is followed in one of two ways. As root on
//! Linux, the kernel names each entry that changes and the process that changed it; weigh asks for the entry's size, and
//! compares. Elsewhere, it scans again, within a tenth of one core. [`Places`] has the differences, by
//! directory and process.
//!
//! Events outside PATH are dropped at once. Nothing grows with the number of events: the table has what
//! a scan would find, and processes, pending looks and waiting events have limits.

mod apply;
mod mounts;
mod places;
mod scan;
mod table;
mod way;

use std::collections::{BTreeSet, HashMap};
use std::ffi::{CString, OsString};
use std::mem;
use std::sync::atomic::Ordering;
use std::time::Duration;

use foldhash::fast::RandomState;

use crate::base::inode::Identity;
use crate::base::path;
use crate::scan::walk::{self, Progress, WalkOptions};
use crate::sys::problem::{Operation, Problem};
use crate::sys::{self, Event, FileId, Handle, Query, Source, Stat, Symlinks};
use crate::tree::tally::{Entries, Inodes, Whole};
use places::{Places, WriterId};
use table::{Entry, Key, Table};
use way::{Way, drain};

pub use crate::sys::{Holder, Space, Writer};
pub use places::Growth;
pub use way::Followed;

/// Rates are those of so much time.
const WINDOW: Duration = Duration::from_secs(10);
/// File systems give blocks back, or take more for their own tables, only when they write to the device: by default after
/// 30 seconds (vm.dirty_expire_centisecs). Then a file is looked at once more.
const SETTLED: Duration = Duration::from_secs(35);
/// More pending looks, and more processes, are not remembered.
const MOST_PENDING: usize = 100_000;
const MOST_WRITERS: usize = 50_000;
/// One part of the time is for scanning again, or for looking at open files; nine are not.
const IDLE: u32 = 9;
/// Where so much space goes and nothing says so, that file system is scanned again, in bytes.
const UNSEEN: i64 = 10 << 20;

/// Follows directories.
pub struct Watch {
    options: WalkOptions,
    every: Duration,
    clock: Box<dyn Fn() -> Duration>,
    roots: Vec<(CString, Handle)>,
    ways: Vec<Way>,
    /// The system's list of mounts, when weigh looked last.
    mounts: Vec<u8>,
    /// Sentences about mounts that came and went.
    mounted: Vec<String>,
    table: Table,
    places: Places,
    /// The first is nobody that is known.
    writers: Vec<Writer>,
    /// Of each process, its number there, and when it was seen last.
    by_pid: HashMap<u32, (WriterId, u64), RandomState>,
    users: HashMap<u32, Option<String>, RandomState>,
    tick: u64,
    /// Each with its way.
    waiting: Vec<(usize, Event)>,
    pending: HashMap<Key, Pending, RandomState>,
    /// Inodes that lost a name and were not freed, each with the directory of the name and the process.
    unlinked: HashMap<Key, (u32, u32), RandomState>,
    /// Inodes that changed, and were not found by their last name.
    unseen: BTreeSet<Key>,
    /// Directories in which something happened, and that are not in the table, each with its way.
    unknown: HashMap<Key, usize, RandomState>,
    /// The directories to scan again, and not before which time.
    to_scan: BTreeSet<u32>,
    next_scan: Duration,
    next_look: Duration,
    is_lost: bool,
    /// Whether the first scan is done.
    has_begun: bool,
    first_size: u64,
    size: i64,
    held: Vec<HeldFile>,
    problems: Vec<Problem>,
}

/// An entry that is to be looked at once more.
struct Pending {
    directory: u32,
    name: Vec<u8>,
    pid: u32,
    tick: u64,
}

/// A file without a name that is held open.
#[derive(Clone, Debug, Default)]
pub struct HeldFile {
    /// The path that it had.
    id: Vec<u8>,
    /// Its size on disk, in bytes.
    pub size: u64,
    /// How much it grew since it was looked at before.
    pub grown: i64,
    /// A process that has it open.
    pub writer: Writer,
    /// The name of its user.
    pub user: Option<String>,
}

/// The state at a tick.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Since the start.
    pub elapsed: Duration,
    /// The file systems, the one of the first PATH first.
    pub ways: Vec<Followed>,
    /// The places.
    pub rows: Vec<Row>,
    /// The growth in none of them.
    pub elsewhere: Growth,
    /// Of all PATHs together.
    pub growth: Growth,
    /// The time that rates are of.
    pub window: Duration,
    /// The part of the file systems' own change that nothing explains.
    pub not_attributed: i64,
    /// That change.
    pub of: i64,
    /// Whether PATHs are all that is on these file systems.
    pub is_all: bool,
    /// Files without a name, the largest first.
    pub held: Vec<HeldFile>,
    /// Sentences about gaps.
    pub notes: Vec<String>,
}

/// A place that grows or shrinks, and who writes there.
#[derive(Clone, Debug)]
pub struct Row {
    /// The directory.
    pub path: Vec<u8>,
    /// Without the directories of other rows.
    pub growth: Growth,
    /// The one that wrote most first, with the name of the user.
    pub writers: Vec<(Writer, Option<String>, Growth)>,
}

impl Watch {
    /// Scans `roots`, and begins to follow them. Meanwhile calls `watch` as a walk does, and at its end with nothing.
    ///
    /// # Errors
    /// If one of them is no directory that can be read.
    pub fn start(
        roots: &[OsString],
        options: WalkOptions,
        every: Duration,
        mut watch: impl FnMut(Option<&Progress>),
    ) -> Result<Self, Problem> {
        let failed = |root: &OsString, operation, error: &_| {
            Problem::new(root.as_encoded_bytes().to_vec(), operation, error)
        };
        let mut held = Vec::new();
        for root in roots {
            let real = sys::real_path(root.as_ref(), Symlinks::Follow);
            let real = real.map_err(|error| failed(root, Operation::Stat, &error))?;
            let path = CString::new(real.into_os_string().into_encoded_bytes());
            let path = path.map_err(|error| failed(root, Operation::Stat, &error.into()))?;
            let handle = Source::default().open(&path);
            held.push((path, handle.map_err(|error| failed(root, Operation::Open, &error))?));
        }
        let paths: Vec<_> = held.iter().map(|(path, _)| path.to_bytes().to_vec()).collect();
        let mut this = Self {
            ways: Way::all(&paths, options.one_file_system, &[]),
            mounts: sys::mount_list().unwrap_or_default(),
            options,
            every,
            clock: Box::new(sys::stopwatch()),
            roots: held,
            table: Table::default(),
            places: Places::default(),
            writers: vec![Writer::default()],
            by_pid: HashMap::default(),
            users: HashMap::default(),
            tick: 0,
            waiting: Vec::new(),
            pending: HashMap::default(),
            unlinked: HashMap::default(),
            unseen: BTreeSet::new(),
            unknown: HashMap::default(),
            to_scan: BTreeSet::new(),
            next_scan: Duration::ZERO,
            next_look: Duration::ZERO,
            is_lost: false,
            has_begun: false,
            first_size: 0,
            size: 0,
            held: Vec::new(),
            problems: Vec::new(),
            mounted: Vec::new(),
        };
        let paths = paths.into_iter().map(|path| sys::into_path(path).into()).collect();
        this.scan(paths, None, &mut |progress| watch(Some(progress)));
        watch(None);
        // Changes during the scan are a part of the start, too.
        this.listen();
        this.has_begun = true;
        this.places = Places::default();
        this.first_size = mem::take(&mut this.size).max(0) as u64;
        // Nothing was found on others.
        this.ways.retain(|way| way.top.is_some());
        for way in &mut this.ways {
            way.begin(Duration::ZERO);
        }
        // Devices have no caches of what changes.
        (this.options.prefetch, this.options.bulk) = (false, false);
        this.look_at_held();
        this.clock = Box::new(sys::stopwatch());
        // The time of the first scan is not counted against the next.
        this.next_scan = this.next_scan.min(this.every);
        this.next_look = this.next_look.min(this.every);
        Ok(this)
    }

    /// The entries that could not be read.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The size of everything at the start, and the growth since.
    pub fn size(&self) -> (u64, i64) {
        (self.first_size, self.size)
    }

    /// Takes what happened since the last call. To be called ten times a second: the kernel keeps 16,384 events.
    pub fn listen(&mut self) {
        drain(&mut self.ways, &mut self.waiting);
        let (mut seen, mut missed) = (BTreeSet::new(), Vec::new());
        for (way, event) in mem::take(&mut self.waiting) {
            missed.extend(self.apply(way, event, &mut seen));
        }
        // Their directories were renamed meanwhile, or they are gone.
        for (key, it) in missed {
            let is_known = self.table.number(key).is_some();
            let is_there = self.look(it.directory, &it.name, key, it.pid);
            if is_there && !is_known {
                // Events in a directory that was not known are lost.
                self.to_scan.extend(self.table.number(key));
            }
            if !is_there && !seen.contains(&key) {
                self.miss(key);
            }
        }
    }

    /// The state now. At the `last` tick, all that may still change is looked at again, unless weigh is interrupted: then
    /// nothing is scanned.
    pub fn tick(&mut self, is_last: bool) -> Report {
        self.listen();
        let ticks = |time: Duration| (time.as_secs_f64() / self.every.as_secs_f64()).ceil() as u64;
        let (window, settled) = (ticks(WINDOW).max(1), ticks(SETTLED));
        let due = |it: &Pending| is_last || it.tick + settled <= self.tick;
        let pending = self.pending.extract_if(|_, it| due(it)).collect::<Vec<_>>();
        for (key, it) in pending {
            if !self.look(it.directory, &it.name, key, it.pid) {
                self.miss(key);
            }
            self.pending.remove(&key);
        }
        for (key, way) in mem::take(&mut self.unknown) {
            if self.table.number(key).is_none() {
                self.to_scan.extend(self.ways[way].top);
            }
        }
        self.look_at_mounts();
        if is_last || (self.clock)() >= self.next_look {
            self.look_at_held();
        }
        self.scan_unseen();
        self.scan_again(is_last);
        let first = (self.tick + 1).saturating_sub(window);
        self.places.forget_before(first);
        let now = (self.clock)();
        let window = now.min(self.every * u32::try_from(window).unwrap_or(u32::MAX));
        let report = self.report(now, window);
        self.tick += 1;
        report
    }

    fn report(&mut self, now: Duration, window: Duration) -> Report {
        let (lines, elsewhere) = self.places.lines(&self.table);
        let growth = lines.iter().fold(elsewhere, |sum, line| sum.plus(line.growth));
        /// A line names the first of them, and counts the others.
        const NAMED: usize = 16;
        let mut rows = Vec::new();
        for line in lines {
            let path = self.table.path(line.directory);
            let writers = line.writers.into_iter().take(NAMED).map(|(id, growth)| {
                let writer = self.writers.get(id as usize).cloned().unwrap_or_default();
                let user = self.user(writer.user);
                (writer, user, growth)
            });
            rows.push(Row { path, growth: line.growth, writers: writers.collect() });
        }
        let mut notes = self.moved_roots();
        notes.extend(self.mounted.iter().cloned());
        if mem::take(&mut self.is_lost) {
            notes.push("too much happened at once: some directories are scanned again".to_owned());
        }
        let unread = self.problems.iter().filter(|problem| problem.is_loss()).count();
        if unread > 0 {
            notes.push(format!("{unread} entries could not be read"));
        }
        // The last figures of one that is gone say nothing now.
        let is_there = |way: &Way| way.has_begun() && !way.is_gone;
        let followed = self.ways.iter_mut().filter(|way| is_there(way));
        let ways: Vec<_> = followed.map(|way| way.follow(now)).collect();
        let changes = self.ways.iter().filter(|way| is_there(way)).filter_map(Way::change);
        let (of, not_attributed) =
            changes.fold((0, 0), |sum: (i64, i64), it| (sum.0 + it.0, sum.1 + it.1));
        let is_all = self.ways.iter().all(|way| way.is_whole);
        let held = self.held.clone();
        Report {
            elapsed: now,
            ways,
            rows,
            elsewhere,
            growth,
            window,
            not_attributed,
            of,
            is_all,
            held,
            notes,
        }
    }
}
