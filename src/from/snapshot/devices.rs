//! The mounts and devices of inodes, when several snapshots are loaded together. The same number may mean different
//! things in two snapshots: hosts number their devices alike, and a file system gets another number when it is mounted
//! again. So each mount and device is recognized by properties that stay the same, and gets one number in all
//! snapshots.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};

use crate::base::inode::MountedDevice;
use crate::base::parallel;
use crate::tree::{Node, Tree};

/// Renumbers the `devices` of the inodes in `tree`. `is_known_by` gives the properties of a device, and `numbers` has
/// the number of each device so far, by these: the number from its snapshot, unless another device has it.
pub(super) fn renumber<K: Hash + Eq>(
    tree: &mut Tree,
    devices: BTreeSet<MountedDevice>,
    numbers: &mut HashMap<K, MountedDevice>,
    is_known_by: impl Fn(MountedDevice) -> K,
) {
    let mut used: HashSet<_> = numbers.values().copied().collect();
    // The last mount of each device that was tried in search of a free one.
    let mut searched = HashMap::new();
    let mut renumbered = HashMap::new();
    for device in devices {
        let number = *numbers.entry(is_known_by(device)).or_insert_with(|| {
            let mut free = device;
            while !used.insert(free) {
                let mount = searched.entry(device.device).or_insert(device.mount);
                *mount = mount.wrapping_add(1);
                free.mount = *mount;
            }
            free
        });
        renumbered.insert(device, number);
    }
    if renumbered.iter().any(|(was, is)| was != is) {
        tree.renumber(|it| renumbered.get(&it).copied().unwrap_or(it));
    }
}

/// The devices of the inodes in `tree`, in order.
pub(super) fn devices(tree: &Tree) -> BTreeSet<MountedDevice> {
    /// So many directories at a time.
    const PART: usize = 1024;
    let directories = tree.root().directories_below() as usize + 1;
    let parts: Vec<BTreeSet<_>> = parallel::collect(0, 0..directories.div_ceil(PART), |part| {
        let (mut devices, mut last) = (BTreeSet::new(), None);
        for directory in tree.root().all_directories_from((part * PART) as u64).take(PART) {
            for node in directory.leaf_nodes().chain([directory.node()]) {
                let device = device(&node);
                // Neighbours are nearly always on the same device.
                if device != last {
                    devices.extend(device);
                    last = device;
                }
            }
        }
        devices
    });
    parts.into_iter().flatten().collect()
}

/// Where a directory is: its depth below the root, and a digest of its path from there. All paths of a deep tree would
/// take far more memory than the tree.
type Point = (u32, u64);

/// Where each device of a mount is, and where each mount, of whatever device.
pub(super) type MountPoints = HashMap<(u64, Option<u64>), Point>;

/// Where each mount and each device that holds directories of `tree` is mounted.
pub(super) fn mount_points(tree: &Tree) -> MountPoints {
    let root = tree.root();
    let mut places = vec![Point::default(); root.directories_below() as usize + 1];
    let (digests, mut points) =
        (BuildHasherDefault::<DefaultHasher>::default(), MountPoints::new());
    // Each before those in it.
    for directory in root.all_directories().rev() {
        let Some(id) = directory.id() else { continue };
        let above = directory.parent();
        if let Some(above) = above.and_then(|above| above.id()) {
            let (depth, digest) = places[above.index()];
            let digest = digests.hash_one((digest, directory.name()));
            places[id.index()] = (depth + 1, digest);
        }
        let found = device(&directory.node());
        let Some(MountedDevice { mount, device: number }) = found else { continue };
        if above.and_then(|above| device(&above.node())) == found {
            continue;
        }
        let here = places[id.index()];
        for number in [Some(number), None] {
            let point = points.entry((mount, number)).or_insert(here);
            *point = here.min(*point);
        }
    }
    points
}

/// What identifies a device in the shares of one tree, on any machine: where it is mounted. An overlay has files of
/// other devices, which hold no directory: where the overlay is mounted, and the number of the device.
pub(super) fn known_by(here: MountedDevice, points: &MountPoints) -> (Point, Option<u64>) {
    let point = |device| points.get(&(here.mount, device)).copied();
    match point(Some(here.device)) {
        Some(point) => (point, None),
        None => (point(None).unwrap_or_default(), Some(here.device)),
    }
}

fn device(node: &Node<'_>) -> Option<MountedDevice> {
    Some(node.inode?.identity.mounted_device())
}
