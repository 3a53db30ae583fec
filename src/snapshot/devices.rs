//! The mounts and devices of inodes, when several snapshots are loaded together. The same number may mean different
//! things in two snapshots: hosts number their devices alike, and a file system gets another number when it is mounted
//! again. So each mount and device is recognized by properties that stay the same, and gets one number in all
//! snapshots.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use crate::inode::MountedDevice;
use crate::tree::{Child, Node, Tree};

/// The number of each device, by the properties that identify it.
pub(super) struct DeviceNumbers<K> {
    numbers: HashMap<K, MountedDevice>,
    used: HashSet<MountedDevice>,
}

/// What identifies a device in the shares of one tree, on any machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct DevicePlace {
    /// The path below the root where it is mounted.
    path: Vec<u8>,
    /// The number of a device that holds no directory: an overlay has files of other devices.
    device: Option<u64>,
}

impl<K: Hash + Eq> DeviceNumbers<K> {
    /// The number of the device that is `known_by` these properties: the number from its snapshot, unless another
    /// device has it.
    pub(super) fn number(&mut self, known_by: K, wanted: MountedDevice) -> MountedDevice {
        let used = &mut self.used;
        *self.numbers.entry(known_by).or_insert_with(|| {
            let mut free = wanted;
            while !used.insert(free) {
                free.mount = free.mount.wrapping_add(1);
            }
            free
        })
    }

    /// Renumbers the `devices` of the inodes in `tree`; `is_known_by` gives the properties of a device.
    pub(super) fn renumber(
        &mut self,
        tree: &mut Tree,
        devices: BTreeSet<MountedDevice>,
        is_known_by: impl Fn(MountedDevice) -> K,
    ) {
        let numbers = devices.into_iter();
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

/// The devices of the inodes in `tree`, in order.
pub(super) fn devices(tree: &Tree) -> BTreeSet<MountedDevice> {
    let (mut devices, mut last) = (BTreeSet::new(), None);
    for directory in tree.root().all_directories() {
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
}

/// What identifies each device of `tree`, a share, in the other shares.
pub(super) fn places(tree: &Tree) -> impl Fn(MountedDevice) -> DevicePlace + use<> {
    let root = tree.root();
    let mut places: HashMap<MountedDevice, Vec<u8>> = HashMap::new();
    let device_of = |directory: Child<'_>| device(&directory.node());
    for directory in root.all_directories() {
        let (Some(here), above) = (device_of(directory), directory.parent()) else { continue };
        if above.and_then(device_of) == Some(here) {
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
            let paths = places.iter().filter(|(there, _)| there.mount == here.mount);
            paths.map(|(_, path)| path.clone()).min().unwrap_or_default()
        };
        match places.get(&here) {
            Some(path) => DevicePlace { path: path.clone(), device: None },
            None => DevicePlace { path: of_mount(), device: Some(here.device) },
        }
    }
}

fn device(node: &Node<'_>) -> Option<MountedDevice> {
    Some(node.inode?.identity.mounted_device())
}
