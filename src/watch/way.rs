//! A file system below PATH: how it is followed, and what its own figures say.

use std::collections::{HashMap, VecDeque};
use std::ffi::CString;
use std::time::Duration;

use super::{SETTLED, WINDOW};
use crate::base::inode::Identity;
use crate::sys::problem::reason;
use crate::sys::{self, Event, Events, FileId, MountTable, Source, Space, Symlinks};

/// The time until it is full is that of the growth in so much time, and is not told before [`WINDOW`].
const STEADY: Duration = Duration::from_secs(30);
/// btrfs counts new data late: when it writes them to the device, and then when it commits, after as long again.
const COMMITTED: Duration = SETTLED.saturating_mul(2);

/// More events than these do not wait: where more happened, a scan tells.
const MOST_WAITING: usize = 200_000;

pub(super) struct Way {
    /// Where it is, at or below PATH.
    pub(super) point: CString,
    /// Its mount point.
    mounted_at: CString,
    /// The id of its mount, and the number of the file system on it.
    pub(super) mount: u64,
    file_system: Option<u64>,
    is_btrfs: bool,
    /// Its events, or the reason why there are none.
    pub(super) events: Result<Events, String>,
    /// Whether all of it is below PATH.
    pub(super) is_whole: bool,
    /// The number in the table of each device, by subvolume.
    pub(super) devices: HashMap<u64, u32>,
    /// All of them, also without events.
    all_devices: Vec<u32>,
    /// Whether it was unmounted.
    pub(super) is_gone: bool,
    /// The directory to scan for all of it: its first one, or all PATHs if there are several.
    pub(super) top: Option<u32>,
    /// Its figures after its first scan, when that was, and the last ones.
    first: Option<Space>,
    began: Duration,
    now: Option<Space>,
    /// Its state at each tick in the last seconds.
    history: VecDeque<State>,
    /// The part of its change in directories.
    pub(super) explained: i64,
    /// The part in files without a name.
    pub(super) held: i64,
    held_first: Option<i64>,
    /// How much btrfs needs for its own tables: after the first scan, and now.
    own_first: i64,
    own: i64,
    /// How many events were outside PATH.
    pub(super) others: u64,
    /// The unexplained part, and how many others there were, at the last scan.
    pub(super) known: (i64, u64),
    /// How much time there is from one scan to the next.
    pub(super) interval: Option<Duration>,
}

/// The state of a file system at a tick.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    time: Duration,
    in_use: i64,
    /// Its growth in directories and in files without a name.
    explained: i64,
}

/// How a file system is followed, and how full it is.
#[derive(Clone, Debug, Default)]
pub struct Followed {
    /// Its mount point; PATH, if the system lists no mounts.
    pub path: Vec<u8>,
    /// Why weigh scans it again; none if the system names each change.
    pub how: Option<String>,
    /// The time from one scan to the next, once that is known.
    pub interval: Option<Duration>,
    /// Its own figures.
    pub space: Space,
    /// How much it grows, in bytes a second.
    pub rate: f64,
    /// In how many seconds it is full.
    pub full_in: Option<f64>,
}

impl Way {
    /// The file systems at and below `paths`, or only at them, without those that are `known`.
    pub(super) fn all(paths: &[Vec<u8>], one_file_system: bool, known: &[Self]) -> Vec<Self> {
        let (table, mut ways) = (MountTable::read(), Vec::<Self>::new());
        for path in paths {
            let below = if one_file_system { Vec::new() } else { table.data_below(path) };
            let Ok(path) = CString::new(&**path) else { continue };
            let mount = Source::default().mount_of(&path, Symlinks::Follow);
            let itself = (mount.map_or(0, |mount| mount.id), path.into_bytes(), true);
            for (mount, point, is_near) in std::iter::once(itself).chain(below) {
                let Ok(point) = CString::new(point) else { continue };
                let file_system = table.file_system(mount);
                let is_known = |way: &Way| match file_system {
                    Some(_) => way.file_system == file_system && way.mount != 0,
                    None => way.mount == mount && known.iter().any(|it| it.point == way.point),
                };
                if known.iter().chain(&ways).filter(|way| !way.is_gone).any(is_known) {
                    continue;
                }
                let events = match is_near {
                    true => Events::of(&point, mount).map_err(|error| why(&error)),
                    false => Err("another machine or a process serves it".to_owned()),
                };
                let mounted_at = table.point(mount).unwrap_or(point.to_bytes());
                ways.push(Self {
                    is_whole: table.is_root_of_all(mount, point.to_bytes()),
                    is_btrfs: table.file_system_type(mount) == Some(b"btrfs"),
                    mounted_at: CString::new(mounted_at).unwrap_or_else(|_| point.clone()),
                    point,
                    mount,
                    file_system,
                    events,
                    devices: HashMap::new(),
                    all_devices: Vec::new(),
                    is_gone: false,
                    top: None,
                    first: None,
                    began: Duration::ZERO,
                    now: None,
                    history: VecDeque::new(),
                    explained: 0,
                    held: 0,
                    held_first: None,
                    own_first: 0,
                    own: 0,
                    others: 0,
                    known: (0, 0),
                    interval: None,
                });
            }
        }
        ways
    }

    /// Whether it is the file system on `mount`.
    pub(super) fn is_on(&self, mount: u64, table: &MountTable) -> bool {
        self.mount == mount
            || self.file_system.is_some() && self.file_system == table.file_system(mount)
    }

    /// Learns that the directory at `path`, whose inode has this number, is the first on a device, which is `device` in
    /// the table, and that `top` is the directory to scan. If its events name it in another way, they are of no use.
    pub(super) fn learn(&mut self, path: &[u8], inode: u64, device: u32, top: u32) {
        self.top = self.top.or(Some(top));
        self.all_devices.push(device);
        if self.events.is_err() {
            return;
        }
        let id = CString::new(path).map_err(Into::into).and_then(|path| sys::file_id(&path));
        match id {
            Ok(FileId { subvolume, inode: named }) if named == inode => {
                self.devices.insert(subvolume, device);
            }
            Ok(_) => self.events = Err("its events are of no known kind".to_owned()),
            Err(error) => self.events = Err(why(&error)),
        }
    }

    /// A new subvolume.
    pub(super) fn add_device(&mut self, subvolume: u64, device: u32) {
        self.devices.insert(subvolume, device);
        self.all_devices.push(device);
    }

    /// Another file system has this device now.
    pub(super) fn remove_device(&mut self, device: u32) {
        self.devices.retain(|_, it| *it != device);
        self.all_devices.retain(|it| *it != device);
    }

    /// Whether it has this device of the table.
    pub(super) fn has(&self, device: u32) -> bool {
        self.all_devices.contains(&device)
    }

    /// Where it is, for those who look for files without a name; nowhere if it is gone.
    pub(super) fn place(&self) -> Identity {
        let found = Source::default().look(&self.point).and_then(|it| it.mounted_identity());
        let is_it = |found: &Identity| [0, self.mount].contains(&found.mount) && !self.is_gone;
        found.ok().filter(is_it).unwrap_or_default()
    }

    /// Files without a name take so much of it now.
    pub(super) fn hold(&mut self, size: u64) {
        let size = size.cast_signed();
        self.held = size - *self.held_first.get_or_insert(size);
    }

    /// Whether its first scan is done.
    pub(super) fn has_begun(&self) -> bool {
        !self.history.is_empty()
    }

    /// Takes its figures after its first scan.
    pub(super) fn begin(&mut self, now: Duration) {
        self.look();
        (self.first, self.own_first) = (self.now, self.own);
        (self.explained, self.began) = (0, now);
        self.history.push_back(self.state(now));
    }

    fn state(&self, time: Duration) -> State {
        let in_use = self.now.map_or(0, |space| in_use(&space));
        State { time, in_use, explained: self.explained.saturating_add(self.held) }
    }

    /// Looks how full it is.
    pub(super) fn look(&mut self) {
        // Of one that is gone, the last figures stay: another has its place then.
        let mount = Source::default().mount_of(&self.mounted_at, Symlinks::Follow);
        if !self.is_gone && mount.is_ok_and(|mount| mount.id == self.mount) {
            self.now = sys::space_around(&self.mounted_at).ok().or(self.now);
            if self.is_btrfs
                && let Ok(Some((own, _))) = sys::own_space(&self.mounted_at, 0)
            {
                self.own = own.iter().filter_map(|it| it.size).sum::<u64>().cast_signed();
            }
        }
    }

    /// The change of the figures that the file system has, and the part that nothing explains.
    pub(super) fn change(&self) -> Option<(i64, i64)> {
        let change = in_use(&self.now?).saturating_sub(in_use(&self.first?));
        let explained = self.explained.saturating_add(self.held);
        let (mut least, mut most) = (explained, explained);
        // It may count a part of the last growth later.
        for state in self.history.iter().filter(|_| self.is_btrfs) {
            (least, most) = (least.min(state.explained), most.max(state.explained));
        }
        let in_files = change.saturating_sub(self.own.saturating_sub(self.own_first));
        Some((change, in_files.saturating_sub(in_files.clamp(least, most))))
    }

    pub(super) fn follow(&mut self, now: Duration) -> Followed {
        let state = self.state(now);
        self.history.push_back(state);
        let kept = if self.is_btrfs { COMMITTED } else { STEADY };
        while self.history.len() > 2 && self.history.get(1).is_some_and(|it| it.time + kept <= now)
        {
            self.history.pop_front();
        }
        // In bytes a second.
        let rate = |window: Duration| {
            let since = self.history.iter().rev().find(|it| it.time + window <= now);
            let since = since.or(self.history.front()).copied().unwrap_or_default();
            let seconds = now.saturating_sub(since.time).as_secs_f64();
            let grown = match self.is_btrfs {
                true => state.explained.saturating_sub(since.explained),
                false => state.in_use.saturating_sub(since.in_use),
            };
            if seconds > 0.0 { grown as f64 / seconds } else { 0.0 }
        };
        // Less than this may be anything.
        const SOME: f64 = 1024.0;
        let (recent, steady) = (rate(WINDOW), rate(STEADY));
        let is_known = self.now.is_some() && now >= self.began + WINDOW;
        let is_growing = is_known && recent >= SOME && steady >= SOME;
        let space = self.now.unwrap_or_default();
        Followed {
            path: self.mounted_at.to_bytes().to_vec(),
            how: self.events.as_ref().err().cloned(),
            interval: self.interval,
            space,
            rate: recent,
            full_in: is_growing.then(|| space.available as f64 / steady),
        }
    }
}

fn in_use(space: &Space) -> i64 {
    i64::try_from(space.size.saturating_sub(space.free)).unwrap_or(i64::MAX)
}

/// Why there are no events, in words.
fn why(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied if !sys::is_root() => "not root".to_owned(),
        std::io::ErrorKind::PermissionDenied => "not allowed here".to_owned(),
        std::io::ErrorKind::Unsupported => "the system names no changes there".to_owned(),
        std::io::ErrorKind::NotFound => "there is no proc".to_owned(),
        _ => format!("the system names no changes there: {}", reason(error)),
    }
}

/// Takes the events that came in.
pub(super) fn drain(ways: &mut [Way], waiting: &mut Vec<(usize, Event)>) {
    for (number, way) in ways.iter_mut().enumerate() {
        let Ok(source) = &mut way.events else { continue };
        let mut events = Vec::new();
        let most = MOST_WAITING.saturating_sub(waiting.len());
        if source.read(&mut events, most).is_err() || most == 0 {
            // If nothing is taken, the kernel says so later.
            continue;
        }
        waiting.extend(events.into_iter().map(|event| (number, event)));
    }
}
