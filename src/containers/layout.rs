//! The storages of container engines, told by the directories in them: so one is known wherever it was moved or copied.

use std::ffi::{CStr, CString};
use std::iter;

use crate::measure::Kind;
use crate::sys::{Handle, Listing, Query, Source, Symlinks};
use crate::tree::Child;

/// How the storage of an engine is laid out.
#[derive(Debug)]
pub struct StorageLayout {
    /// Why only its engine deletes anything in it, and how that does it.
    pub refusal: &'static str,
    /// The directories in it: one of each, with `|` between alternatives. A `*` at the end stands for any rest.
    pub directories: &'static [&'static str],
}

const OF_DOCKER: &str = "it is in Docker's storage: docker rm, rmi and system prune free space";
const OF_PODMAN: &str = "it is in podman's storage: podman rm, rmi and system prune free space";
const OF_CONTAINERD: &str =
    "it is in containerd's storage: crictl rmi and nerdctl system prune free space";
const OF_BUILDKIT: &str = "it is in BuildKit's storage: buildctl prune frees space";
const OF_KUBERNETES: &str = "it is in a Kubernetes node's storage: kubectl delete frees space";
const OF_LXD: &str = "it is in the storage of LXD or Incus: lxc delete or incus delete frees space";

/// All layouts. A layout with few names comes after the more exact ones.
pub const LAYOUTS: [StorageLayout; 16] = [
    // containers/storage: podman, buildah and CRI-O.
    StorageLayout {
        refusal: OF_PODMAN,
        directories: &[
            "overlay-layers|overlay-images|overlay-containers|overlay2-layers|overlay2-images|\
             overlay2-containers|vfs-layers|vfs-images|vfs-containers|btrfs-layers|btrfs-images|\
             btrfs-containers|zfs-layers|zfs-images|zfs-containers|aufs-layers|aufs-images|\
             aufs-containers",
        ],
    },
    StorageLayout { refusal: OF_PODMAN, directories: &["libpod", "volumes|secrets|networks"] },
    StorageLayout { refusal: OF_PODMAN, directories: &["overlay", "volumes", "secrets"] },
    // Docker, with a driver of its own.
    StorageLayout {
        refusal: OF_DOCKER,
        directories: &[
            "overlay2|vfs|btrfs|zfs|fuse-overlayfs|aufs|devicemapper|windowsfilter",
            "image|containers|volumes|buildkit",
        ],
    },
    // Its first overlay driver. Alone with `image`, the name is that of parts of user interfaces.
    StorageLayout { refusal: OF_DOCKER, directories: &["overlay", "image", "containers"] },
    // Docker, with images in containerd.
    StorageLayout {
        refusal: OF_DOCKER,
        directories: &["volumes", "containers|image", "buildkit|network|swarm|plugins|runtimes"],
    },
    StorageLayout { refusal: OF_DOCKER, directories: &["image", "containers", "buildkit|network"] },
    StorageLayout { refusal: OF_CONTAINERD, directories: &["io.containerd.*"] },
    // nerdctl.
    StorageLayout {
        refusal: OF_CONTAINERD,
        directories: &["names", "volumes", "containers|etchosts"],
    },
    StorageLayout { refusal: OF_BUILDKIT, directories: &["executor", "content|snapshots"] },
    StorageLayout { refusal: OF_BUILDKIT, directories: &["snapshots", "content", "net"] },
    // kubelet, and k3s with its volumes.
    StorageLayout {
        refusal: OF_KUBERNETES,
        directories: &["pods", "plugins_registry|pod-resources|device-plugins|checkpoints"],
    },
    StorageLayout { refusal: OF_KUBERNETES, directories: &["storage", "agent", "data", "server"] },
    StorageLayout {
        refusal: OF_LXD,
        directories: &["storage-pools", "images|database|containers"],
    },
    // One of its pools.
    StorageLayout {
        refusal: OF_LXD,
        directories: &[
            "containers-snapshots|virtual-machines-snapshots|custom-snapshots",
            "containers|virtual-machines|custom|images",
        ],
    },
    StorageLayout {
        refusal: OF_LXD,
        directories: &["virtual-machines", "containers", "images|custom"],
    },
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
        let mut first = LAYOUTS.iter().filter_map(|layout| layout.directories.first());
        first.any(|names| is_one_of(names, name))
    };
    let mut named = directory.all_directories().filter(|it| is_first(it.name()));
    named.any(|it| it.parent().is_some_and(|parent| owner_of(parent, usize::MAX).is_some()))
}

/// Whose storage the open `directory` is now, as its layout tells.
pub fn refusal_of(directory: &Handle) -> Option<&'static str> {
    refusal_in(&names_there(directory).0)
}

/// Whose storage `directory` is, as its layout tells. Its metadata need not be readable. Looks at no more than `most`
/// directories in it.
fn owner_of(directory: Child<'_>, most: usize) -> Option<&'static str> {
    let names = directory.directories().take(most).map(|it| it.name());
    refusal_in(&names.filter(|name| is_part(name)).map(<[u8]>::to_vec).collect::<Vec<_>>())
}

/// The engine whose storage a directory is, if it has directories with these `names`: why only the engine deletes in it.
pub(super) fn refusal_in(names: &[Vec<u8>]) -> Option<&'static str> {
    let is_there = |any: &&str| names.iter().any(|name| is_one_of(any, name));
    let layout = LAYOUTS.iter().find(|layout| layout.directories.iter().all(is_there))?;
    Some(layout.refusal)
}

/// The names in the directory at `path` that layouts ask for, and the number of all entries if it was listed. If not
/// `may_list`, each of the names is looked for.
pub(super) fn part_names(path: &CStr, may_list: bool) -> (Vec<Vec<u8>>, usize) {
    let listed = if may_list { Source::default().open(path).ok() } else { None };
    let directory = listed.map_or_else(|| Source::default().look(path), Ok);
    directory.map_or_else(|_| (Vec::new(), 0), |directory| names_there(&directory))
}

/// The names in the open `directory` that layouts ask for, and the number of all entries if it can be listed. If not,
/// each of the names is looked for.
fn names_there(directory: &Handle) -> (Vec<Vec<u8>>, usize) {
    listed_parts(directory).unwrap_or_else(|| {
        let all = LAYOUTS.iter().flat_map(|layout| layout.directories);
        let exact = all.flat_map(|any| any.split('|')).filter(|name| !name.ends_with('*'));
        let there = exact.filter(|name| is_directory(directory, name.as_bytes()));
        (there.map(|name| name.as_bytes().to_vec()).collect(), 0)
    })
}

fn listed_parts(directory: &Handle) -> Option<(Vec<Vec<u8>>, usize)> {
    let (mut buffer, mut listing) = (Vec::new(), Listing::default());
    let (mut names, mut entries) = (Vec::new(), 0);
    loop {
        let is_more = directory.read(&mut buffer, &mut listing, None).ok()?;
        entries += listing.iter().count();
        let parts = listing.iter().filter(|listed| is_part(listed.name.to_bytes()));
        let parts = parts.filter(|listed| match listed.kind {
            Some(kind) => kind == Kind::Directory,
            None => is_directory(directory, listed.name.to_bytes()),
        });
        names.extend(parts.map(|listed| listed.name.to_bytes().to_vec()));
        listing.clear();
        if !is_more {
            return Some((names, entries));
        }
    }
}

fn is_directory(around: &Handle, name: &[u8]) -> bool {
    let name = CString::new(name).ok();
    let stat = name.and_then(|name| around.stat_at(&name, Symlinks::Stay, Query::default()).ok());
    stat.is_some_and(|stat| stat.is_directory())
}

/// Whether any layout asks for a directory of this name.
fn is_part(name: &[u8]) -> bool {
    LAYOUTS.iter().flat_map(|layout| layout.directories).any(|any| is_one_of(any, name))
}

fn is_one_of(names: &str, name: &[u8]) -> bool {
    names.split('|').any(|one| match one.strip_suffix('*') {
        Some(start) => name.starts_with(start.as_bytes()),
        None => one.as_bytes() == name,
    })
}

/// Where engines store, unless they are configured otherwise: those of the system, and those of a user, in the home
/// directory. Beside the layouts, these paths tell a storage, whatever is in it.
pub(super) const SYSTEM_PATHS: [&str; 3] =
    ["/var/lib/docker", "/var/lib/containers/storage", "/var/lib/containerd"];
pub(super) const PATHS_AT_HOME: [&str; 3] =
    [".local/share/docker", ".local/share/containers/storage", ".local/share/containerd"];

/// Whether `path`, from the top of a file system, leads into one of these storages, or to it. The file system may be
/// mounted anywhere, and so begin with any name of them.
pub(super) fn is_usual(path: &[u8]) -> bool {
    const ENGINES: [&str; 3] = ["docker", "containers/storage", "containerd"];
    let names: Vec<_> = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).collect();
    (0..names.len()).any(|start| {
        let is_around = start == 0 || matches!(names[start - 1], b"lib" | b"share");
        let mut engines = ENGINES.iter().map(|engine| engine.split('/').map(str::as_bytes));
        is_around
            && engines.any(|engine| {
                names[start..].iter().copied().take(engine.clone().count()).eq(engine)
            })
    })
}
