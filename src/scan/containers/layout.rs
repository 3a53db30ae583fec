//! The storages of container engines, told by the directories in them: so one is known wherever it was moved or copied.

use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::iter;
use std::sync::LazyLock;

use crate::base::measure::Kind;
use crate::sys::{Handle, Listing, Query, Source, Symlinks};
use crate::tree::Child;

/// A container engine.
#[derive(Debug)]
pub struct Engine {
    /// Its name in rules.
    pub name: &'static str,
    /// Why only it deletes anything in its storage, and how it does that.
    pub refusal: &'static str,
}

/// How the storage of an engine is laid out.
#[derive(Debug)]
pub struct StorageLayout {
    /// Whose it is.
    pub engine: Engine,
    /// Its entries, mostly directories: one of each item, with `|` between alternatives. A `*` at the end stands for any
    /// rest. `a/b` is `b` in the directory `a`, and `=a` is a file.
    pub parts: &'static [&'static str],
}

const OF_DOCKER: Engine = Engine {
    name: "docker",
    refusal: "it is in Docker's storage: docker rm, rmi and system prune free space",
};
const OF_PODMAN: Engine = Engine {
    name: "podman",
    refusal: "it is in podman's storage: podman rm, rmi and system prune free space",
};
const OF_CONTAINERD: Engine = Engine {
    name: "containerd",
    refusal: "it is in containerd's storage: crictl rmi and nerdctl system prune free space",
};
const OF_BUILDKIT: Engine =
    Engine { name: "buildkit", refusal: "it is in BuildKit's storage: buildctl prune frees space" };
const OF_KUBERNETES: Engine = Engine {
    name: "kubernetes",
    refusal: "it is in a Kubernetes node's storage: kubectl delete frees space",
};
const OF_LXD: Engine = Engine {
    name: "lxd",
    refusal: "it is in the storage of LXD or Incus: lxc delete or incus delete frees space",
};
const OF_LXC: Engine =
    Engine { name: "lxc", refusal: "it is in LXC's storage: lxc-destroy frees space" };

/// All layouts. A layout with few names comes after the more exact ones.
pub static LAYOUTS: [StorageLayout; 21] = [
    // containers/storage: podman, buildah and CRI-O.
    StorageLayout {
        engine: OF_PODMAN,
        parts: &[
            "overlay-layers|overlay-images|overlay-containers|overlay2-layers|overlay2-images|\
             overlay2-containers|vfs-layers|vfs-images|vfs-containers|btrfs-layers|btrfs-images|\
             btrfs-containers|zfs-layers|zfs-images|zfs-containers|aufs-layers|aufs-images|\
             aufs-containers",
        ],
    },
    StorageLayout { engine: OF_PODMAN, parts: &["libpod", "volumes|secrets|networks"] },
    StorageLayout { engine: OF_PODMAN, parts: &["overlay", "volumes", "secrets"] },
    // Its layers alone: short names of them are in `l`.
    StorageLayout { engine: OF_PODMAN, parts: &["overlay/l"] },
    // Docker, with a driver of its own.
    StorageLayout {
        engine: OF_DOCKER,
        parts: &[
            "overlay2|vfs|btrfs|zfs|fuse-overlayfs|aufs|devicemapper|windowsfilter",
            "image|containers|volumes|buildkit",
        ],
    },
    StorageLayout { engine: OF_DOCKER, parts: &["overlay2/l"] },
    // Its first overlay driver. Alone with `image`, the name is that of parts of user interfaces.
    StorageLayout { engine: OF_DOCKER, parts: &["overlay", "image", "containers"] },
    // Docker, with images in containerd.
    StorageLayout {
        engine: OF_DOCKER,
        parts: &["volumes", "containers|image", "buildkit|network|swarm|plugins|runtimes"],
    },
    StorageLayout { engine: OF_DOCKER, parts: &["image", "containers", "buildkit|network"] },
    StorageLayout { engine: OF_CONTAINERD, parts: &["io.containerd.*"] },
    // One of its snapshotters.
    StorageLayout { engine: OF_CONTAINERD, parts: &["snapshots", "=metadata.db"] },
    // nerdctl.
    StorageLayout { engine: OF_CONTAINERD, parts: &["names", "volumes", "containers|etchosts"] },
    StorageLayout { engine: OF_BUILDKIT, parts: &["executor", "content|snapshots"] },
    StorageLayout { engine: OF_BUILDKIT, parts: &["snapshots", "content", "net"] },
    // kubelet, and k3s with its volumes. A node of k3s that is only an agent has no `server`.
    StorageLayout {
        engine: OF_KUBERNETES,
        parts: &["pods", "plugins_registry|pod-resources|device-plugins|checkpoints"],
    },
    StorageLayout { engine: OF_KUBERNETES, parts: &["storage", "agent", "data"] },
    StorageLayout { engine: OF_LXD, parts: &["storage-pools", "images|database|containers"] },
    // One of its pools.
    StorageLayout {
        engine: OF_LXD,
        parts: &[
            "containers-snapshots|virtual-machines-snapshots|custom-snapshots",
            "containers|virtual-machines|custom|images",
        ],
    },
    StorageLayout { engine: OF_LXD, parts: &["virtual-machines", "containers", "images|custom"] },
    StorageLayout { engine: OF_LXD, parts: &["containers", "custom", "images"] },
    // A container of LXC without LXD.
    StorageLayout { engine: OF_LXC, parts: &["rootfs", "=config"] },
];

/// Why `entry` of a scanned tree is not to be deleted, if an engine's storage lies around it, as far as the scan tells at
/// once. Before anything is removed, [`super::StorageSearch`] looks on disk.
pub fn owner(entry: Child<'_>) -> Option<&'static str> {
    /// Marking all entries of a directory asks this once for each. Few storages have more directories at their top.
    const MOST: usize = 256;
    iter::successors(entry.parent(), Child::parent).find_map(|it| owner_of(it, MOST))
}

/// Whether an engine's storage is `directory`, or lies in it.
pub fn holds_storage(directory: Child<'_>) -> bool {
    let is_first = |name: &[u8]| {
        let mut first = LAYOUTS.iter().filter_map(|layout| layout.parts.first());
        first.any(|names| names.split('|').any(|one| is_called(top_of(one), name)))
    };
    let mut named = directory.all_directories().filter(|it| is_first(it.name()));
    named.any(|it| it.parent().is_some_and(|parent| owner_of(parent, usize::MAX).is_some()))
}

/// Whose storage the open `directory` is now, as its layout tells.
pub fn refusal_of(directory: &Handle) -> Option<&'static str> {
    refusal_in(&parts_there(directory).0)
}

/// Whose storage `directory` is, as its directories tell. Its metadata need not be readable. Looks at no more than `most`
/// directories in it.
fn owner_of(directory: Child<'_>, most: usize) -> Option<&'static str> {
    // Of thousands of entries that are marked at once, each asks this about all directories around it: most have no such
    // name.
    let inside = directory.directories().take(most).filter(|it| may_be_part(it.name()));
    let inside: Vec<_> = inside.collect();
    if inside.is_empty() {
        return None;
    }
    let is_there = |part: &&str| {
        inside.iter().any(|it| match part.split_once('/') {
            Some((top, name)) => {
                is_called(top, it.name()) && it.directories().any(|it| is_called(name, it.name()))
            }
            None => is_called(part, it.name()),
        })
    };
    refusal_in(&all_parts().filter(is_there).collect::<Vec<_>>())
}

/// The engine whose storage a directory is, if it has these `parts`: why only the engine deletes in it.
pub(super) fn refusal_in(parts: &[&str]) -> Option<&'static str> {
    let is_there = |any: &&str| any.split('|').any(|one| parts.contains(&one));
    let layout = LAYOUTS.iter().find(|layout| layout.parts.iter().all(is_there))?;
    Some(layout.engine.refusal)
}

/// The parts of layouts that are in the directory at `path`, and the number of all entries if it was listed. If not
/// `may_list`, each part is looked for.
pub(super) fn parts_at(path: &CStr, may_list: bool) -> (Vec<&'static str>, usize) {
    let listed = if may_list { Source::default().open(path).ok() } else { None };
    let directory = listed.map_or_else(|| Source::default().look(path), Ok);
    directory.map_or_else(|_| (Vec::new(), 0), |directory| parts_there(&directory))
}

/// The parts of layouts that are in the open `directory`, and the number of all entries if it can be listed. If not, each
/// part is looked for.
fn parts_there(directory: &Handle) -> (Vec<&'static str>, usize) {
    let is_there = |part: &&str| is_there(directory, part);
    match listed(directory) {
        Some((named, entries)) => {
            let is_there = |part: &&str| part.ends_with('*') || is_there(part);
            (named.into_iter().filter(is_there).collect(), entries)
        }
        None => (all_parts().filter(is_there).collect(), 0),
    }
}

/// The parts of layouts that have the name of an entry in `directory`, and the number of all entries.
fn listed(directory: &Handle) -> Option<(Vec<&'static str>, usize)> {
    let (mut buffer, mut listing) = (Vec::new(), Listing::default());
    let (mut named, mut entries) = (Vec::new(), 0);
    loop {
        let is_more = directory.read(&mut buffer, &mut listing, None).ok()?;
        for it in listing.iter() {
            let name = it.name.to_bytes();
            let is_directory = it.kind.is_none_or(|kind| kind == Kind::Directory);
            let is_named = |part: &&str| match part.strip_prefix('=') {
                Some(file) => !is_directory && is_called(file, name),
                None => is_directory && is_called(top_of(part), name),
            };
            named.extend(all_parts().filter(is_named));
            entries += 1;
        }
        listing.clear();
        if !is_more {
            return Some((named, entries));
        }
    }
}

/// Whether `part` is in the open `directory`. If any rest may follow its name, only a list tells.
fn is_there(directory: &Handle, part: &str) -> bool {
    let file = part.strip_prefix('=');
    let kind = if file.is_some() { Kind::File } else { Kind::Directory };
    let name = CString::new(file.unwrap_or(part)).ok();
    let stat =
        name.and_then(|name| directory.stat_at(&name, Symlinks::Stay, Query::default()).ok());
    stat.is_some_and(|stat| stat.mode.kind() == kind)
}

/// The parts of all layouts.
fn all_parts() -> impl Iterator<Item = &'static str> {
    LAYOUTS.iter().flat_map(|layout| layout.parts).flat_map(|any| any.split('|'))
}

/// Whether an entry with this name may be a part of a layout, or have one in it.
fn may_be_part(name: &[u8]) -> bool {
    static NAMES: LazyLock<HashSet<&[u8]>> = LazyLock::new(|| {
        let whole = all_parts().map(top_of).filter(|top| !top.ends_with('*'));
        whole.map(str::as_bytes).collect()
    });
    static STARTS: LazyLock<Vec<&[u8]>> = LazyLock::new(|| {
        all_parts().filter_map(|part| top_of(part).strip_suffix('*')).map(str::as_bytes).collect()
    });
    NAMES.contains(name) || STARTS.iter().any(|start| name.starts_with(start))
}

/// The name that the entry of a part has in the storage itself.
fn top_of(part: &str) -> &str {
    part.split('/').next().unwrap_or(part)
}

fn is_called(part: &str, name: &[u8]) -> bool {
    match part.strip_suffix('*') {
        Some(start) => name.starts_with(start.as_bytes()),
        None => part.as_bytes() == name,
    }
}

/// Where engines store in `/var/lib` and in the `.local/share` of a home, unless they are configured otherwise. Beside the
/// layouts, these paths tell a storage, whatever is in it.
pub(super) const USUAL_PATHS: [&str; 13] = [
    "docker",
    "containers/storage",
    "containerd",
    "nerdctl",
    "buildkit",
    "kubelet",
    "rancher/k3s",
    "rancher/rke2",
    "lxc",
    "lxd",
    "incus",
    // Of systemd-nspawn and machinectl.
    "machines",
    "flatpak",
];

/// Whether `path`, from the top of a file system, leads into one of these storages, or to it. The file system may be
/// mounted anywhere, and so begin with any name of them.
pub(super) fn is_usual(path: &[u8]) -> bool {
    let names: Vec<_> = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).collect();
    (0..names.len()).any(|start| {
        let is_around = start == 0 || matches!(names[start - 1], b"lib" | b"share");
        let mut usual = USUAL_PATHS.iter().map(|path| path.split('/').map(str::as_bytes));
        is_around
            && usual.any(|path| names[start..].iter().copied().take(path.clone().count()).eq(path))
    })
}
