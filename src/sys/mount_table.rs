//! The mounts that the process can reach, as Linux lists them; empty on other systems.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::CString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::OnceLock;
use std::{fs, io};

use foldhash::fast::RandomState;

use super::{MOST_SYMLINKS, Source, system};
use crate::base::path;

/// The mounts, and the names of their mount points.
#[derive(Clone, Debug, Default)]
pub struct MountTable {
    /// By mount id.
    mounts: HashMap<u64, ListedMount, RandomState>,
    /// The id of each mount, by that of the mount it is in, and its mount point.
    points: HashMap<(u64, Vec<u8>), u64, RandomState>,
    /// The last components of the mount points' paths.
    names: HashSet<Vec<u8>, RandomState>,
    /// The id of the mount of the process's root directory, which need not be listed; 0 if the system does not tell. It
    /// is asked for when it is first needed, which no walk does.
    root: OnceLock<u64>,
}

#[derive(Clone, Debug, Default)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub(super) struct ListedMount {
    /// The type of its file system.
    pub(super) kind: Vec<u8>,
    /// The device number of its file system, as [`number`] has it.
    pub(super) device: Option<u64>,
    /// The mount that it is in.
    parent: u64,
    /// The directory of its file system that is mounted.
    pub(super) root: Vec<u8>,
    /// Its mount point.
    point: Vec<u8>,
    /// Its options, with commas between.
    pub(super) options: Vec<u8>,
    /// What is mounted; for a file system on a device, the device's path.
    pub(super) source: Vec<u8>,
    /// The options of its file system, with commas between, still escaped.
    pub(super) own_options: Vec<u8>,
}

/// Where an entry is in its file system. It is the same through every mount: two bind mounts of a
/// directory have the same location.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    file_system: FileSystemId,
    path: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum FileSystemId {
    Device(u64),
    /// That of a mount which is not listed, by the mount's id. Paths in it are those of the process.
    OfMount(u64),
}

impl Location {
    /// Whether `other` is below it.
    pub fn contains(&self, other: &Self) -> bool {
        self.file_system == other.file_system
            && path::below(&other.path, &self.path).is_some_and(|rest| !rest.is_empty())
    }

    /// A hash of it, of 64 bits.
    pub fn hashed(&self) -> u64 {
        let names = self.path.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
        names.fold(hash_of(self.file_system), hash_below)
    }

    /// The start of the range of what is below this location: what is there sorts next after this.
    pub fn before_content(&self) -> Self {
        let mut path = self.path.clone();
        path.push(b'/');
        Self { path, ..*self }
    }
}

/// An overlay, as the table has it.
#[derive(Clone, Debug)]
pub struct Overlay<'t> {
    /// The mount that shows all of it.
    pub mount: u64,
    /// Where it is mounted.
    pub point: &'t [u8],
    /// Its layers.
    pub layers: Layers,
}

/// The layers of an overlay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layers {
    /// Their paths, the topmost first: as whoever mounted it gave them, perhaps from another directory or in another
    /// mount namespace.
    pub paths: Vec<Vec<u8>>,
    /// Whether some of them have only data: what is in them is shown under other names.
    pub have_hidden: bool,
}

/// The [hash](Location::hashed) of the location of the entry called `name` in a directory whose location has the hash
/// `above`.
pub fn hash_below(above: u64, name: &[u8]) -> u64 {
    hash_of((above, name))
}

fn hash_of(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

/// The type of an overlay.
const OVERLAY: &[u8] = b"overlay";

/// Types of file systems that answer at once, beside those on a block device: reading a symlink there neither waits for
/// another machine nor mounts anything.
const NEAR: [&[u8]; 5] = [b"btrfs", OVERLAY, b"tmpfs", b"zfs", b"bcachefs"];

/// Types of file systems that have several devices, and so no number of one.
const POOLED: [&[u8]; 3] = [b"btrfs", b"zfs", b"bcachefs"];

impl MountTable {
    /// The paths of all mount points.
    pub fn paths(&self) -> impl Iterator<Item = &[u8]> {
        self.mounts.values().map(|mount| &*mount.point)
    }

    /// Reads the system's table; empty if it cannot be read.
    pub fn read() -> Self {
        Self::try_read().unwrap_or_default()
    }

    /// Reads the system's table.
    ///
    /// # Errors
    /// The system's.
    pub fn try_read() -> io::Result<Self> {
        let mut table = Self::default();
        for line in system::mount_list()?.split(|b| *b == b'\n') {
            if let Some((id, mount)) = ListedMount::parse(line) {
                table.names.extend(mount.point.rsplit(|b| *b == b'/').next().map(<[u8]>::to_vec));
                table.points.insert((mount.parent, mount.point.clone()), id);
                table.mounts.insert(id, mount);
            }
        }
        Ok(table)
    }

    /// The mount with the id `id`, if it is listed.
    pub(super) fn listed(&self, id: u64) -> Option<&ListedMount> {
        self.mounts.get(&id)
    }

    /// Whether no mount is listed: the system does not tell.
    pub fn is_empty(&self) -> bool {
        self.mounts.is_empty()
    }

    /// The type of the file system on `mount`, as mount(8) calls it, if the mount is listed.
    pub fn file_system_type(&self, mount: u64) -> Option<&[u8]> {
        self.listed(mount).map(|mount| &*mount.kind)
    }

    /// Where `mount` is mounted, if it is listed.
    pub fn point(&self, mount: u64) -> Option<&[u8]> {
        self.listed(mount).map(|mount| &*mount.point)
    }

    /// A number for the file system on `mount`, if the mount is listed; not to be compared with `Stat::device`.
    /// Subvolumes of btrfs have device numbers of their own, but get the same number here, because they share space.
    pub fn file_system(&self, mount: u64) -> Option<u64> {
        self.listed(mount)?.device
    }

    /// The overlay on `mount`, where all of it is mounted. None if the table does not have all of its layers.
    pub fn overlay(&self, mount: u64) -> Option<Overlay<'_>> {
        let part = self.listed(mount).filter(|listed| listed.kind == OVERLAY)?;
        let is_all = |(_, listed): &(&u64, &ListedMount)| {
            listed.device == part.device && listed.root == b"/"
        };
        let same = self.mounts.get_key_value(&mount).filter(is_all);
        let (id, whole) =
            same.or_else(|| self.mounts.iter().filter(is_all).min_by_key(|(id, _)| **id))?;
        let layers = layers(&whole.own_options)?;
        Some(Overlay { mount: *id, point: &whole.point, layers })
    }

    /// The mount points of overlays.
    pub fn overlays(&self) -> impl Iterator<Item = &[u8]> {
        let overlays = self.mounts.values().filter(|mount| mount.kind == OVERLAY);
        overlays.map(|mount| &*mount.point)
    }

    /// The paths of the layers of all overlays, as whoever mounted them gave them.
    pub fn layers(&self) -> impl Iterator<Item = Vec<u8>> {
        let overlays = self.mounts.values().filter(|mount| mount.kind == OVERLAY);
        overlays.filter_map(|mount| layers(&mount.own_options)).flat_map(|layers| layers.paths)
    }

    /// The path by which all directories around the real path `path` can be seen: on the mount of a directory of a file
    /// system, where the whole is mounted. None if they cannot be seen: the whole is mounted nowhere, or it is one layer
    /// of an overlay, and the directories around that layer are elsewhere.
    pub fn with_all_around(&self, path: &[u8]) -> Option<Vec<u8>> {
        let Some(listed) = self.listed(self.mount_at(path)) else { return Some(path.to_vec()) };
        // Of a container, or a system that was started from a disc, all is on an overlay.
        let is_of_system = listed.point == b"/" && listed.root == b"/";
        if is_of_system || listed.root == b"/" && listed.kind != OVERLAY {
            return Some(path.to_vec());
        }
        let below = path::join_all([&*listed.root, path::below(path, &listed.point)?]);
        let wholes = self.mounts.iter().filter(|(_, whole)| {
            let is_same = whole.device.is_some() && whole.device == listed.device;
            is_same && whole.root == b"/" && whole.kind != OVERLAY
        });
        let mut visible = wholes.filter_map(|(id, whole)| {
            let rest = below.strip_prefix(b"/").unwrap_or(&below);
            let path = path::join_all([&*whole.point, rest]);
            (self.mount_at(&path) == *id).then_some(path)
        });
        let is_subvolume = || listed.kind == b"btrfs" && is_top_of_subvolume(&listed.point);
        visible.next().or_else(|| is_subvolume().then(|| path.to_vec()))
    }

    /// The mount point of each file system that has a device and is mounted at the real path `top` or below it, once:
    /// where all of it can be reached, if anywhere, and by the shortest path.
    pub fn of_devices(&self, top: &[u8]) -> Vec<Vec<u8>> {
        let has_device = |ListedMount { kind, device, point, .. }: &ListedMount| {
            let has_device = device.is_some_and(is_of_block_device) || POOLED.contains(&&**kind);
            has_device && path::is_within(point, top)
        };
        self.each_once(has_device).map(|(_, listed)| listed.point.clone()).collect()
    }

    /// The mount point of each file system that can fill up, once; whether it is in memory; and whether nothing there waits
    /// for another machine or a process. An overlay uses the space of other file systems, so only the one at `/` is among
    /// them. Read-only images are always full.
    pub fn of_space(&self) -> Vec<(Vec<u8>, bool, bool)> {
        const IN_MEMORY: [&[u8]; 3] = [b"tmpfs", b"devtmpfs", b"ramfs"];
        const IMAGES: [&[u8]; 4] = [b"squashfs", b"erofs", b"cramfs", b"iso9660"];
        let can_fill_up = |ListedMount { kind, point, .. }: &ListedMount| {
            let mut of_kernel = KERNEL_FILE_SYSTEMS.iter().map(|(_, name)| name.as_bytes());
            let is_of_kernel =
                of_kernel.any(|name| name == kind) || kind == AUTOMOUNT_NAME.as_bytes();
            let is_of_others = kind == OVERLAY && point != b"/" || IMAGES.contains(&&**kind);
            !is_of_kernel && !is_of_others
        };
        let found = self.each_once(can_fill_up).map(|(id, listed)| {
            let is_in_memory = IN_MEMORY.contains(&&*listed.kind);
            (listed.point.clone(), is_in_memory, is_in_memory || self.is_near(id, None))
        });
        found.collect()
    }

    /// A mount of each file system below the real path `top` that has data, by its id and its mount point; and whether
    /// nothing there waits for another machine or a process.
    pub fn data_below(&self, top: &[u8]) -> Vec<(u64, Vec<u8>, bool)> {
        const OF_DEVICES: [&[u8]; 2] = [b"devtmpfs", b"devpts"];
        let has_data = |ListedMount { kind, point, .. }: &ListedMount| {
            let mut of_kernel = KERNEL_FILE_SYSTEMS.iter().map(|(_, name)| name.as_bytes());
            let is_of_kernel = of_kernel.any(|name| name == kind);
            let is_below = point != top && path::is_within(point, top);
            let is_of_others = OF_DEVICES.contains(&&**kind) || kind == AUTOMOUNT_NAME.as_bytes();
            is_below && !is_of_kernel && !is_of_others
        };
        let found = self.each_once(has_data);
        found.map(|(id, listed)| (id, listed.point.clone(), self.is_near(id, None))).collect()
    }

    /// Of each file system that `is_wanted`, the best mount that is not covered by another: of all of it, if there is one,
    /// and with the shortest path.
    fn each_once(
        &self,
        is_wanted: impl Fn(&ListedMount) -> bool,
    ) -> impl Iterator<Item = (u64, &ListedMount)> {
        let mut found = BTreeMap::new();
        for (id, listed) in &self.mounts {
            let ListedMount { device, root, point, .. } = listed;
            if is_wanted(listed) && self.mount_at(point) == *id {
                let how = (root != b"/", point.len(), point, *id);
                let best = found.entry(*device).or_insert(how);
                *best = how.min(*best);
            }
        }
        found.into_values().filter_map(|(.., id)| Some((id, self.listed(id)?)))
    }

    /// The mount point of the file system around the real path `path`: of all of it, if that is mounted anywhere. A
    /// subvolume of btrfs is mounted like a whole. None if the mount is not listed.
    pub(super) fn whole_around(&self, path: &[u8]) -> Option<Vec<u8>> {
        let here = self.listed(self.mount_at(path))?;
        let is_whole = here.root == b"/" || POOLED.contains(&&*here.kind);
        let is_same = |it: &ListedMount| it.device == here.device && it.root == b"/";
        let whole = || self.each_once(is_same).next().map(|(_, whole)| whole.point.clone());
        let whole = if is_whole { None } else { whole() };
        Some(whole.unwrap_or_else(|| here.point.clone()))
    }

    /// What is mounted in `mount`: the id and the mount point of each.
    pub fn mounted_in(&self, mount: u64) -> impl Iterator<Item = (u64, &[u8])> {
        let inner = self.mounts.iter().filter(move |(id, it)| it.parent == mount && **id != mount);
        inner.map(|(id, listed)| (*id, &*listed.point))
    }

    /// Whether something is mounted below the real path `path`, which is reached through `mount`.
    pub fn is_covered(&self, mount: u64, path: &[u8]) -> bool {
        let below = |point| path::below(point, path).is_some_and(|rest| !rest.is_empty());
        self.mounted_in(mount).any(|(_, point)| below(point))
    }

    /// Whether nothing is mounted on an entry called `name` that is reached through `mount`. If so, the directory's
    /// listing describes the entry itself.
    ///
    /// If a mount is listed, so is every mount below it. A mount that is not listed belongs to another mount
    /// namespace, or lies outside the process's root, and the mounts below it are unknown.
    #[inline]
    pub fn is_bare(&self, mount: u64, name: &[u8]) -> bool {
        self.mounts.contains_key(&mount) && !self.names.contains(name)
    }

    /// The location of the entry at the real path `path`, which is reached through `mount`; if that is 0, through the
    /// mount that is there. None if the table cannot be right: the path is not below the mount point.
    pub fn location(&self, mount: u64, path: &[u8]) -> Option<Location> {
        let mount = if mount == 0 { self.mount_at(path) } else { mount };
        let Some(listed) = self.listed(mount) else {
            let path = path.strip_suffix(b"/").unwrap_or(path).to_vec();
            return Some(Location { file_system: FileSystemId::OfMount(mount), path });
        };
        let file_system = FileSystemId::Device(listed.device?);
        let path = path::join_all([&*listed.root, path::below(path, &listed.point)?]);
        Some(Location { file_system, path: path.strip_suffix(b"/").unwrap_or(&path).to_vec() })
    }

    /// The paths by which other mounts show the directory at the real path `path`, which is reached through `mount`; if
    /// that is 0, through the mount that is there. Something else may be mounted over them. Also returns the path in its
    /// file system of the topmost directory around it that any mount shows: what is above that has no path.
    pub fn ways_to(&self, mount: u64, path: &[u8]) -> (Vec<Vec<u8>>, Vec<u8>) {
        let mount = if mount == 0 { self.mount_at(path) } else { mount };
        let found = self.listed(mount).and_then(|listed| {
            let inside = path::join_all([&*listed.root, path::below(path, &listed.point)?]);
            Some((listed, inside))
        });
        let Some((here, inside)) = found else { return (Vec::new(), Vec::new()) };
        let (mut ways, mut top) = (Vec::new(), &*here.root);
        for (id, ListedMount { device, root, point, .. }) in &self.mounts {
            let is_other = *id != mount && device.is_some() && *device == here.device;
            if let Some(rest) = path::below(&inside, root).filter(|_| is_other) {
                ways.push(path::join_all([&**point, rest]));
                top = if root.len() < top.len() { root } else { top };
            }
        }
        (ways, top.to_vec())
    }

    /// The locations of all mount points: of the entries that something is mounted on.
    pub fn mount_points(&self) -> impl Iterator<Item = Location> {
        self.mounts.values().filter_map(|mount| self.location(mount.parent, &mount.point))
    }

    /// Whether the real path `path`, which is reached through `mount`, is the root of its file system.
    pub fn is_root_of_all(&self, mount: u64, path: &[u8]) -> bool {
        self.listed(mount).is_some_and(|listed| listed.root == b"/" && listed.point == path)
    }

    /// The mount through which the real path `path` is reached.
    pub(super) fn mount_at(&self, path: &[u8]) -> u64 {
        let mut at = self.outermost();
        let ends = (0..=path.len()).filter(|end| path.get(*end).is_none_or(|byte| *byte == b'/'));
        for end in ends {
            at = self.topmost(at, path.get(..end).unwrap_or_default());
        }
        at
    }

    /// The mount of the process's root directory; 0 if nobody tells.
    fn outermost(&self) -> u64 {
        let root = *self.root.get_or_init(|| {
            let root = Source::default().look(c"/").and_then(|root| root.mounted_identity());
            root.map_or(0, |root| root.mount)
        });
        if root != 0 {
            return root;
        }
        // Before Linux 5.8. A mount may be its own parent.
        let outer = self.mounts.iter().find(|(id, ListedMount { point, parent, .. })| {
            point == b"/" && (parent == *id || !self.mounts.contains_key(parent))
        });
        outer.map_or(0, |(id, _)| self.topmost(*id, b"/"))
    }

    /// The topmost mount that is mounted at `path` in the mount `at`; `at` itself if there is none.
    fn topmost(&self, mut at: u64, path: &[u8]) -> u64 {
        // A mount that is its own parent would have no end.
        for _ in 0..self.mounts.len() {
            match self.points.get(&(at, path.to_vec())) {
                Some(id) => at = *id,
                None => break,
            }
        }
        at
    }

    /// The real path of `path`, as far as it can be told without touching file systems that may not answer, or on which
    /// directories are mounted when they are used. Beyond these, symlinks are taken for directories. Also returns
    /// whether the result may be opened. On the file system of `mount`, everything may.
    pub fn near_path(&self, path: &[u8], mount: u64) -> Option<(Vec<u8>, bool)> {
        let (also, top) = (self.file_system(mount), self.outermost());
        let mut rest = components(path);
        // Each directory on the way, with its mount, and whether it may be touched.
        let mut way = vec![(b"/".to_vec(), top, self.is_near(top, also))];
        let mut links = 0;
        while let Some(name) = rest.pop() {
            if name == b".." && way.len() > 1 {
                way.pop();
            }
            if matches!(&*name, b"" | b"." | b"..") {
                continue;
            }
            let (here, mount, may_touch) = way.last()?;
            let next = path::join_all([&**here, &*name]);
            let on = self.topmost(*mount, &next);
            let may_touch = *may_touch && self.is_near(on, also);
            let target = match may_touch && on == *mount {
                true => fs::read_link(super::to_path(&next)).ok(),
                false => None,
            };
            let Some(target) = target else {
                way.push((next, on, may_touch));
                continue;
            };
            links += 1;
            if links > MOST_SYMLINKS {
                return None;
            }
            if target.is_absolute() {
                way.truncate(1);
            }
            rest.extend(components(target.as_os_str().as_encoded_bytes()));
        }
        way.pop().map(|(path, _, may_touch)| (path, may_touch))
    }

    /// Whether nothing on `mount` waits for another machine or mounts anything. On the file system `also`, nothing
    /// does.
    fn is_near(&self, mount: u64, also: Option<u64>) -> bool {
        let Some(ListedMount { device, kind, .. }) = self.listed(mount) else {
            // In a chroot, the process is on a mount that is not listed.
            return mount == self.outermost();
        };
        device.is_some_and(is_of_block_device)
            || also.is_some() && *device == also
            || NEAR.contains(&&**kind)
    }
}

#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
impl ListedMount {
    /// The mount with the id `id` in the table of the process with this directory in proc.
    pub(super) fn of_process(process: &Path, id: u64) -> Option<Self> {
        let table = fs::read(process.join("mountinfo")).ok()?;
        let mounts = table.split(|b| *b == b'\n').filter_map(Self::parse);
        mounts.into_iter().find(|(listed, _)| *listed == id).map(|(_, mount)| mount)
    }

    /// Of an overlay, the directory below it that is written to.
    pub(super) fn upper(&self) -> Option<Vec<u8>> {
        let mut options = self.own_options.split(|b| *b == b',').filter(|_| self.kind == OVERLAY);
        let upper = options.find_map(|option| option.strip_prefix(b"upperdir="));
        let upper = upper.map(|upper| between_colons(&unescape(upper)).join(&b':'));
        // If it is relative, nobody knows to what.
        upper.filter(|upper| upper.starts_with(b"/"))
    }

    /// The mount in a `line` of the table, with its id.
    fn parse(line: &[u8]) -> Option<(u64, Self)> {
        let mut fields = line.split(|b| *b == b' ');
        let id = str::from_utf8(fields.next()?).ok()?.parse().ok()?;
        let parent = str::from_utf8(fields.next()?).ok()?.parse().ok()?;
        let device = number(fields.next()?);
        let (root, point) = (unescape(fields.next()?), unescape(fields.next()?));
        let options = fields.next().unwrap_or_default().to_vec();
        // A hyphen ends the optional fields; later kernels may have more of them.
        let mut rest = fields.skip_while(|field| *field != b"-").skip(1);
        let kind = unescape(rest.next().unwrap_or_default());
        let source = unescape(rest.next().unwrap_or_default());
        let own_options = rest.next().unwrap_or_default().to_vec();
        Some((id, Self { kind, device, parent, root, point, options, source, own_options }))
    }
}

/// The layers in the `options` of an overlay; none if some are missing.
///
/// A backslash in the name of a layer escapes the next character, except after `lowerdir+` and `datadir+` (ovl_unescape
/// in fs/overlayfs/params.c, 6.18). The table escapes the result once more.
fn layers(options: &[u8]) -> Option<Layers> {
    let (mut layers, mut has_upper, mut has_lower) = (Layers::default(), false, false);
    for option in options.split(|byte| *byte == b',') {
        let Some(equals) = option.iter().position(|byte| *byte == b'=') else { continue };
        let value = unescape(&option[equals + 1..]);
        match &option[..equals] {
            b"lowerdir" => {
                // Before those that have only data, there are two colons.
                let (names, blanks): (Vec<_>, Vec<_>) =
                    between_colons(&value).into_iter().partition(|name| !name.is_empty());
                layers.paths.extend(names);
                layers.have_hidden |= !blanks.is_empty();
            }
            b"lowerdir+" => layers.paths.push(value),
            b"datadir+" => {
                layers.paths.push(value);
                layers.have_hidden = true;
            }
            b"upperdir" => {
                // It has one name, in which colons need no backslash.
                layers.paths.insert(0, between_colons(&value).join(&b':'));
                has_upper = true;
                continue;
            }
            _ => continue,
        }
        has_lower = true;
    }
    // Without an upper directory, it can only be read.
    let is_read_only = || options.split(|byte| *byte == b',').any(|it| it == b"ro");
    (has_lower && (has_upper || is_read_only())).then_some(layers)
}

/// The names in `list`, which has colons between them. A backslash before a character makes it part of a name.
fn between_colons(list: &[u8]) -> Vec<Vec<u8>> {
    let (mut names, mut bytes) = (vec![Vec::new()], list.iter());
    while let Some(byte) = bytes.next() {
        match byte {
            b':' => names.push(Vec::new()),
            b'\\' => names.last_mut().into_iter().for_each(|name| name.extend(bytes.next())),
            byte => names.last_mut().into_iter().for_each(|name| name.push(*byte)),
        }
    }
    names
}

/// Whether the directory at `point`, on btrfs, is the top of a subvolume (BTRFS_FIRST_FREE_OBJECTID in btrfs_tree.h).
fn is_top_of_subvolume(point: &[u8]) -> bool {
    const TOP: u64 = 256;
    let path = CString::new(point).ok();
    let top = path.and_then(|path| Source::default().look(&path).ok()?.mounted_identity().ok());
    top.is_some_and(|top| top.number == TOP)
}

/// The names in `path`, the last one first.
fn components(path: &[u8]) -> Vec<Vec<u8>> {
    path.split(|b| *b == b'/').rev().map(<[u8]>::to_vec).collect()
}

/// The number of the device written as `major:minor`.
fn number(device: &[u8]) -> Option<u64> {
    let (major, minor) = str::from_utf8(device).ok()?.split_once(':')?;
    Some(device_number(major.parse().ok()?, minor.parse().ok()?))
}

/// The number of the device with these numbers, as the table has it.
pub(super) fn device_number(major: u32, minor: u32) -> u64 {
    u64::from(major) << 32 | u64::from(minor)
}

fn is_of_block_device(number: u64) -> bool {
    number >> 32 != 0
}

/// Decodes a name in which blanks, newlines and backslashes are written as a backslash and three octal digits.
pub(super) fn unescape(mut escaped: &[u8]) -> Vec<u8> {
    let mut name = Vec::with_capacity(escaped.len());
    while let [first, rest @ ..] = escaped {
        let (byte, rest) = match escaped {
            [b'\\', high @ b'0'..=b'3', middle @ b'0'..=b'7', low @ b'0'..=b'7', rest @ ..] => {
                ((high - b'0') << 6 | (middle - b'0') << 3 | (low - b'0'), rest)
            }
            _ => (*first, rest),
        };
        name.push(byte);
        escaped = rest;
    }
    name
}

// File systems that show the kernel's own state: nothing in them takes space on a device or in memory that a user
// could free. tmpfs, ramfs, hugetlbfs and devtmpfs hold real memory and are not among them.

/// The number that statfs(2) returns for each on Linux (linux/magic.h, 6.18), and the name that mount(8) uses.
pub const KERNEL_FILE_SYSTEMS: [(u32, &str); 19] = [
    (0x0000_9fa0, "proc"),
    (0x6265_6572, "sysfs"),
    (0x0027_e0eb, "cgroup"),
    (0x6367_7270, "cgroup2"),
    (0x6462_6720, "debugfs"),
    (0x7472_6163, "tracefs"),
    (0x7363_6673, "securityfs"),
    (0x6165_676c, "pstore"),
    (0xcafe_4a11, "bpf"),
    (0x6265_6570, "configfs"),
    // fs/fuse/control.c; fuse itself ends in 46.
    (0x6573_5543, "fusectl"),
    (0x4249_4e4d, "binfmt_misc"),
    (0xde5e_81e4, "efivarfs"),
    (0xf97c_ff8c, "selinuxfs"),
    (0x4341_5d53, "smackfs"),
    (0x6e73_6673, "nsfs"),
    (0x6759_6969, "rpc_pipefs"),
    (0x6e66_7364, "nfsd"),
    (0x5a3c_69f0, "apparmorfs"),
];

/// The name of the file system on which other file systems are mounted when they are used.
pub const AUTOMOUNT_NAME: &str = "autofs";

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux 6.18 writes them, and older ones.
    #[test]
    fn layers_are_told_apart_by_colons_and_options() {
        let of = |have_hidden, names: &[&str]| {
            let paths = names.iter().map(|it| it.as_bytes().to_vec()).collect();
            Some(Layers { paths, have_hidden })
        };
        let some = |names| of(false, names);
        let cases: [(&str, Option<Layers>); 9] = [
            ("rw,lowerdir=plain,upperdir=u,workdir=w,uuid=on", some(&["u", "plain"])),
            (
                r"rw,lowerdir=a\134\054b:c\134:d:e\134\134f:g\040h,upperdir=u\134:1,workdir=w",
                some(&["u:1", "a,b", "c:d", r"e\f", "g h"]),
            ),
            (r"rw,lowerdir=a\054b,upperdir=u::1:,workdir=w", some(&["u::1:", "a,b"])),
            ("ro,lowerdir=l/A:/b::data,redirect_dir=on", of(true, &["l/A", "/b", "data"])),
            (
                r"ro,lowerdir+=a\054b,lowerdir+=c:d,lowerdir+=e\134f,lowerdir+=x\012y,datadir+=data",
                of(true, &["a,b", "c:d", r"e\f", "x\ny", "data"]),
            ),
            // Cut off.
            ("rw,lowerdir=a:b", None),
            ("rw,upperdir=a", None),
            ("rw", None),
            ("", None),
        ];
        for (options, expected) in cases {
            assert_eq!(layers(options.as_bytes()), expected, "{options}");
        }
    }

    /// As in a chroot, and on a machine that runs from its first file system.
    #[test]
    fn a_root_that_is_not_listed_or_lies_in_itself_is_the_same_for_all_paths() {
        let unlisted = MountTable { root: 7.into(), ..MountTable::default() };
        assert_eq!(unlisted.near_path(b"/nowhere/u", 0), Some((b"/nowhere/u".to_vec(), true)));
        assert_eq!(unlisted.location(0, b"/home/u"), unlisted.location(7, b"/home/u"));

        let mut own_parent = MountTable { root: 0.into(), ..MountTable::default() };
        let (point, root) = (b"/".to_vec(), b"/".to_vec());
        let kind = b"rootfs".to_vec();
        own_parent.points.insert((1, point.clone()), 1);
        let device = Some(2);
        let mount = ListedMount { kind, device, parent: 1, root, point, ..ListedMount::default() };
        own_parent.mounts.insert(1, mount);
        assert_eq!(own_parent.location(0, b"/home/u"), own_parent.location(1, b"/home/u"));
    }
}
