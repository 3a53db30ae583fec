//! A file system below PATH: how it is followed, and what its own figures say.

use std::collections::{HashMap, VecDeque};
use std::ffi::CString;
use std::time::Duration;

use super::WINDOW;
use crate::base::inode::Identity;
use crate::sys::problem::reason;
use crate::sys::{self, Event, Events, FileId, MountTable, Source, Space, Symlinks};

/// More events than these do not wait: where more happened, a scan tells.
const MOST_WAITING: usize = 200_000;

pub(super) struct Way {
    /// Where it is, at or below PATH.
    pub(super) point: CString,
    /// Its mount point.
    mounted_at: CString,
    /// The id of its mount, and the number of the file system on it.
    mount: u64,
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
    /// Its first directory.
    pub(super) top: Option<u32>,
    /// Its figures when weigh began, and the last ones.
    first: Option<Space>,
    now: Option<Space>,
    /// How much was in use at each tick in the last seconds.
    history: VecDeque<(Duration, i64)>,
    /// The part of its change in directories.
    pub(super) explained: i64,
    /// The part in files without a name.
    pub(super) held: i64,
    held_first: Option<i64>,
    /// How many events were outside PATH.
    pub(super) others: u64,
    /// The unexplained part, and how many others there were, at the last scan.
    pub(super) known: (i64, u64),
    /// How much time there is from one scan to the next.
    pub(super) interval: Option<Duration>,
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
    /// The file systems at and below `paths`, or only at them.
    pub(super) fn all(paths: &[Vec<u8>], one_file_system: bool) -> Vec<Self> {
        let (table, mut ways) = (MountTable::read(), Vec::<Self>::new());
        for path in paths {
            let below = if one_file_system { Vec::new() } else { table.data_below(path) };
            let Ok(path) = CString::new(&**path) else { continue };
            let mount = Source::default().mount_of(&path, Symlinks::Follow);
            let itself = (mount.map_or(0, |mount| mount.id), path.into_bytes(), true);
            for (mount, point, is_near) in std::iter::once(itself).chain(below) {
                let Ok(point) = CString::new(point) else { continue };
                let file_system = table.file_system(mount);
                let is_known = |way: &Way| way.file_system == file_system && way.mount != 0;
                if file_system.is_some() && ways.iter().any(is_known) {
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
                    top: None,
                    first: None,
                    now: None,
                    history: VecDeque::new(),
                    explained: 0,
                    held: 0,
                    held_first: None,
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
    /// the table. If its events name it in another way, they are of no use.
    pub(super) fn learn(&mut self, path: &[u8], inode: u64, device: u32, number: u32) {
        self.top = self.top.or(Some(number));
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

    /// Whether it has this device of the table.
    pub(super) fn has(&self, device: u32) -> bool {
        self.all_devices.contains(&device)
    }

    /// Where it is, for those who look for files without a name.
    pub(super) fn place(&self) -> Identity {
        let stat = Source::default().look(&self.point).and_then(|it| it.mounted_identity());
        stat.unwrap_or_default()
    }

    /// Files without a name take so much of it now.
    pub(super) fn hold(&mut self, size: u64) {
        let size = size.cast_signed();
        self.held = size - *self.held_first.get_or_insert(size);
    }

    /// Takes its figures when weigh begins.
    pub(super) fn begin(&mut self) {
        self.look();
        self.first = self.now;
        let in_use = self.now.map_or(0, |space| in_use(&space));
        self.history.push_back((Duration::ZERO, if self.is_btrfs { 0 } else { in_use }));
    }

    /// Looks how full it is.
    pub(super) fn look(&mut self) {
        // Of one that is gone, the last figures stay: another has its place then.
        let mount = Source::default().mount_of(&self.mounted_at, Symlinks::Follow);
        if mount.is_ok_and(|mount| mount.id == self.mount) {
            self.now = sys::space_around(&self.mounted_at).ok().or(self.now);
        }
    }

    /// The change of the figures that the file system has, and the part that nothing explains.
    pub(super) fn change(&self) -> Option<(i64, i64)> {
        let change = in_use(&self.now?).saturating_sub(in_use(&self.first?));
        Some((change, change.saturating_sub(self.explained).saturating_sub(self.held)))
    }

    pub(super) fn follow(&mut self, now: Duration) -> Followed {
        let space = self.now.unwrap_or_default();
        // The figures of btrfs change when it commits, every 30 seconds.
        let grown = if self.is_btrfs { self.explained } else { in_use(&space) };
        self.history.push_back((now, grown));
        while self.history.len() > 2 && self.history.get(1).is_some_and(|it| it.0 + WINDOW <= now) {
            self.history.pop_front();
        }
        let (since, before) = self.history.front().copied().unwrap_or_default();
        let seconds = now.saturating_sub(since).as_secs_f64();
        let rate = if seconds > 0.0 { (grown - before) as f64 / seconds } else { 0.0 };
        // Less than this may be anything.
        const SOME: f64 = 1024.0;
        Followed {
            path: self.mounted_at.to_bytes().to_vec(),
            how: self.events.as_ref().err().cloned(),
            interval: self.interval,
            space,
            rate,
            full_in: (rate >= SOME && self.first.is_some()).then(|| space.available as f64 / rate),
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
