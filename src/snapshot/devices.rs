//! The mounts and devices of inodes, when several snapshots are loaded together. The same number may mean different
//! things in two snapshots: hosts number their devices alike, and a file system gets another number when it is mounted
//! again. So each mount and device is recognized by properties that stay the same, and gets one number in all
//! snapshots.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use crate::inode::MountedDevice;
use crate::parallel;
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
    let mut renumbered = HashMap::new();
    for device in devices {
        let number = *numbers.entry(is_known_by(device)).or_insert_with(|| {
            let mut free = device;
            while !used.insert(free) {
                free.mount = free.mount.wrapping_add(1);
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

/// Where each device that holds directories of `tree` is mounted: the path below the root.
pub(super) fn mount_points(tree: &Tree) -> HashMap<MountedDevice, Vec<u8>> {
    let root = tree.root();
    let mut points: HashMap<MountedDevice, Vec<u8>> = HashMap::new();
    for directory in root.all_directories() {
        let Some(here) = device(&directory.node()) else { continue };
        if directory.parent().and_then(|above| device(&above.node())) == Some(here) {
            continue;
        }
        let path = directory.path().split_off(root.name().len());
        let point = points.entry(here).or_insert_with(|| path.clone());
        if path < *point {
            *point = path;
        }
    }
    points
}

/// What identifies a device in the shares of one tree, on any machine: where it is mounted. An overlay has files of
/// other devices, which hold no directory: where the overlay is mounted, and the number of the device.
pub(super) fn known_by(
    here: MountedDevice,
    points: &HashMap<MountedDevice, Vec<u8>>,
) -> (Vec<u8>, Option<u64>) {
    if let Some(path) = points.get(&here) {
        return (path.clone(), None);
    }
    let of_mount = points.iter().filter(|(there, _)| there.mount == here.mount);
    let path = of_mount.map(|(_, path)| path).min();
    (path.cloned().unwrap_or_default(), Some(here.device))
}

fn device(node: &Node<'_>) -> Option<MountedDevice> {
    Some(node.inode?.identity.mounted_device())
}
