//! On which mount and device an inode is, where several snapshots are loaded together. A number of one of them means
//! something else in another: hosts count alike, and a file system that is mounted anew gets another number. So each
//! is told apart by what stays the same, and gets one number in all of them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use crate::tree::{Child, Tree};

/// The ids of a mount and of the device that is seen through it.
pub(super) type MountedDevice = (u64, u64);

/// The numbers of what is the same, by what that is.
pub(super) struct DeviceNumbers<K> {
    numbers: HashMap<K, MountedDevice>,
    used: HashSet<MountedDevice>,
}

/// What a device is in each of the shares of one tree, whatever machine looked at it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct DevicePlace {
    /// Where it lies below the root.
    path: Vec<u8>,
    /// The number of a device that no directory lies on: an overlay has files of others.
    device: Option<u64>,
}

impl<K: Hash + Eq> DeviceNumbers<K> {
    /// The number of what is `known_by` this: as one of its snapshots has it, if that is not another's.
    pub(super) fn number(&mut self, known_by: K, wanted: MountedDevice) -> MountedDevice {
        let used = &mut self.used;
        *self.numbers.entry(known_by).or_insert_with(|| {
            let (mut mount, device) = wanted;
            while !used.insert((mount, device)) {
                mount = mount.wrapping_add(1);
            }
            (mount, device)
        })
    }

    /// Says of each inode of `tree` anew where it is; each device `is_known_by` something.
    pub(super) fn renumber(&mut self, tree: &mut Tree, is_known_by: impl Fn(MountedDevice) -> K) {
        let numbers = devices(tree).into_iter();
        let numbers = numbers.map(|it| (it, self.number(is_known_by(it), it)));
        let numbers: HashMap<_, _> = numbers.collect();
        if numbers.iter().any(|(was, is)| was != is) {
            tree.renumber(|it| numbers.get(&it).copied().unwrap_or(it));
        }
    }
}

impl<K> Default for DeviceNumbers<K> {
    fn default() -> Self {
        Self { numbers: HashMap::new(), used: HashSet::new() }
    }
}

/// The devices that inodes of `tree` are on, in order.
pub(super) fn devices(tree: &Tree) -> BTreeSet<MountedDevice> {
    let (mut devices, mut last) = (BTreeSet::new(), None);
    for directory in tree.root().all_directories() {
        for node in directory.leaves().chain([directory]) {
            let device = device(node);
            // Neighbours nearly always are on the same one.
            if device != last {
                devices.extend(device);
                last = device;
            }
        }
    }
    devices
}

/// What each of the devices in `tree`, a share, is in the others.
pub(super) fn places(tree: &Tree) -> impl Fn(MountedDevice) -> DevicePlace + use<> {
    let root = tree.root();
    let mut places: HashMap<MountedDevice, Vec<u8>> = HashMap::new();
    for directory in root.all_directories() {
        let (Some(here), above) = (device(directory), directory.parent()) else { continue };
        if above.and_then(device) == Some(here) {
            continue;
        }
        let path = directory.path().split_off(root.name().len());
        let place = places.entry(here).or_insert_with(|| path.clone());
        if path < *place {
            *place = path;
        }
    }
    move |here| {
        let of_mount = || {
            let paths = places.iter().filter(|((mount, _), _)| *mount == here.0);
            paths.map(|(_, path)| path.clone()).min().unwrap_or_default()
        };
        match places.get(&here) {
            Some(path) => DevicePlace { path: path.clone(), device: None },
            None => DevicePlace { path: of_mount(), device: Some(here.1) },
        }
    }
}

fn device(node: Child<'_>) -> Option<MountedDevice> {
    let (mount, (device, _)) = node.inode()?.identity;
    Some((mount, device))
}
