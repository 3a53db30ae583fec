//! containerd's storage, which Docker 29, Kubernetes and nerdctl use.
//!
//! containerd removes blobs and snapshots that nothing refers to. So removing an image or a container frees those that no
//! other one refers to, by whatever way. A lease keeps its blobs and snapshots as an image does, also after it has expired.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::CString;
use std::io;

use super::files::Files;
use super::metadata::{CONTENT, Kind, METADATA, Metadata, OWN_NAME, Object, SNAPSHOTTER};
use super::users::User;
use super::{EngineStorage, MOST_NOTES, image_name, shown};
use crate::sys::{MountTable, Query, Source, Symlinks};

/// An image with all its names, a container, or another object that keeps others.
struct Keeper {
    name: String,
    is_image: bool,
    roots: Vec<usize>,
}

/// The name of the group that no image, container or lease needs.
pub(super) const GARBAGE: &str = "(nothing refers to it)";

/// Reads the storage; none if it is none.
pub(super) fn read(files: &mut Files<'_>) -> Option<EngineStorage> {
    let mut metadata: Metadata = files.database(METADATA, "meta.db", Metadata::add)?;
    metadata.finish();
    let mut storage = EngineStorage::default();
    if metadata.is_full() {
        files.fail(METADATA, &io::Error::other("it has too many entries, or too long names"));
        return Some(storage);
    }
    let mut downloads = HashMap::new();
    for name in files.names(&format!("{CONTENT}/ingest")).into_iter().take(MOST_NOTES) {
        let at = format!("{CONTENT}/ingest/{name}");
        let reference = files.text(&at, "ref").unwrap_or_default();
        // The namespace and a number come before what it is called.
        if let [namespace, _, key] = reference.splitn(3, '/').collect::<Vec<_>>()[..] {
            storage.note(&at, format!("unfinished download {}", shown(key)));
            downloads.insert((namespace.to_owned(), key.to_owned()), at);
        }
    }
    let paths = metadata.paths(files, &downloads);
    metadata.describe(files, &paths, &mut storage);
    Some(storage)
}

impl Metadata {
    /// Images by what they refer to, and everything else that keeps something.
    fn keepers(&self, mounted: &HashSet<usize>) -> Vec<Keeper> {
        let (mut keepers, mut images) = (Vec::new(), BTreeMap::<_, (Vec<_>, Vec<_>)>::new());
        for (number, object) in self.objects.iter().enumerate().filter(|(_, it)| it.exists) {
            let Object { kind, namespace, key, is_root, .. } = object;
            let within = format!("in {}", shown(namespace));
            let name = match kind {
                Kind::Image => {
                    // Labels come before it.
                    let target = object.references.last();
                    let target = target.map_or("", |(it, _)| &self.objects[*it].key);
                    let image = images.entry((&**namespace, target)).or_default();
                    image.0.push(&**key);
                    image.1.push(number);
                    continue;
                }
                Kind::Container => {
                    let state = if mounted.contains(&number) { ", mounted" } else { "" };
                    format!("container {} {within}{state}", object.container_name())
                }
                Kind::Lease => format!("lease {} {within}", shown(key)),
                Kind::Ingest => format!("unfinished download {} {within}", shown(key)),
                Kind::Blob | Kind::Snapshot if *is_root => {
                    format!("{} {within}, kept by a label", shown(key))
                }
                Kind::Blob | Kind::Snapshot => continue,
            };
            keepers.push(Keeper { name, is_image: false, roots: vec![number] });
        }
        keepers.extend(images.into_iter().map(|((namespace, target), (mut names, roots))| {
            // Kubernetes also gives each image two names with digests.
            let is_tag = |name: &&str| !name.contains('@') && !name.starts_with("sha256:");
            if names.iter().any(is_tag) {
                names.retain(is_tag);
            }
            let digits = target.split_once(':').map_or(target, |(_, digits)| digits);
            let name = match &names[..] {
                // It has no tag.
                [name] if !is_tag(name) => shown(name),
                _ => image_name(names, digits),
            };
            let name = format!("image {name} in {}", shown(namespace));
            Keeper { name, is_image: true, roots }
        }));
        // The images made from others have more layers.
        keepers.sort_by(|one, two| (!one.is_image, &one.name).cmp(&(!two.is_image, &two.name)));
        keepers
    }

    /// Adds images, containers, what nothing refers to, and notes to `storage`.
    fn describe(&self, files: &mut Files<'_>, paths: &[String], storage: &mut EngineStorage) {
        let keepers = self.keepers(&self.mounted(files, paths));
        let depths = self.depths();
        // By path: a note, and how many images have it.
        let mut uses: BTreeMap<&str, (String, &str, usize)> = BTreeMap::new();
        for Keeper { name, is_image, roots } in &keepers {
            let mut reached = self.reached(roots);
            reached.retain(|(number, _)| !paths[*number].is_empty());
            let places: Vec<_> = reached.iter().map(|(number, _)| &*paths[*number]).collect();
            if !files.take_room_for(&places) {
                return;
            }
            // All names of an image refer to the same.
            let direct = self.direct(if *is_image { &roots[..1] } else { roots });
            let layers = reached.iter().map(|(number, _)| depths[*number]).max().unwrap_or(0);
            let mut user = User { name: name.clone(), ..User::default() };
            for (number, label) in reached {
                let path = &*paths[number];
                let object = &self.objects[number];
                let note = || match (is_image, object.kind) {
                    (true, Kind::Snapshot) => {
                        format!("{name}, layer {} of {layers}", depths[number])
                    }
                    (true, _) => {
                        format!("{name}, {}", self.blob(roots[0], label, direct.contains(&number)))
                    }
                    (false, Kind::Snapshot) if direct.contains(&number) => {
                        format!("{name}: writable layer")
                    }
                    (false, _) => name.clone(),
                };
                let (_, _, images) = uses.entry(path).or_insert_with(|| (note(), name, 0));
                *images += usize::from(*is_image);
                // Blobs and snapshots of an image count there.
                let counts = *is_image || *images == 0;
                let paths = if counts { &mut user.directories } else { &mut user.keeps };
                paths.push(path.as_bytes().to_vec());
            }
            storage.users.push(user);
        }
        let mut garbage = User { name: GARBAGE.to_owned(), ..User::default() };
        for path in paths.iter().filter(|path| !path.is_empty()) {
            uses.entry(path).or_insert_with(|| {
                garbage.directories.push(path.as_bytes().to_vec());
                ("nothing refers to it".to_owned(), GARBAGE, 0)
            });
        }
        if !garbage.directories.is_empty() {
            storage.users.push(garbage);
        }
        for (path, (note, name, images)) in uses.into_iter().take(MOST_NOTES) {
            let note = match images {
                0 | 1 => note,
                2 => format!("shared by {name} and another"),
                _ => format!("shared by {name} and {} others", images - 1),
            };
            storage.note(path, note);
        }
    }

    /// The purpose of a blob with this label, in an image that perhaps refers to it directly.
    fn blob(&self, image: usize, label: &str, is_direct: bool) -> String {
        let kind = &self.objects[image].other_name;
        match label.split_once('.').unwrap_or((label, "")) {
            ("l", layer) => {
                let layer = layer.parse().map_or(0, |layer: u32| layer.saturating_add(1));
                format!("compressed layer {layer}")
            }
            ("config", _) => "config".to_owned(),
            ("m", _) => "manifest".to_owned(),
            _ if !is_direct => "content".to_owned(),
            _ if kind.contains("index") || kind.contains("manifest.list") => "index".to_owned(),
            _ => "manifest".to_owned(),
        }
    }

    /// The containers whose snapshots are mounted, as they are while they run.
    fn mounted(&self, files: &Files<'_>, paths: &[String]) -> HashSet<usize> {
        let mounts = MountTable::read();
        let mut layers: HashMap<Vec<u8>, Vec<Vec<u8>>> = HashMap::new();
        for layer in mounts.layers() {
            let start =
                layer.windows(SNAPSHOTTER.len()).rposition(|it| it == SNAPSHOTTER.as_bytes());
            let rest = start.and_then(|start| layer[start..].strip_suffix(b"/fs"));
            if let Some(path) = rest.map(<[u8]>::to_vec) {
                layers.entry(path).or_default().push(layer);
            }
        }
        // Another storage may have the same names.
        let is_here = |path: &str| {
            layers.get(path.as_bytes()).into_iter().flatten().any(|layer| {
                let near = mounts.near_path(layer, 0).filter(|(_, may_touch)| *may_touch);
                let real = near.and_then(|(real, _)| CString::new(real).ok());
                let stat = real.and_then(|real| {
                    Source::default().stat(&real, Symlinks::Stay, Query::default()).ok()
                });
                let there = stat.map(|stat| (stat.device, stat.inode));
                there.is_some() && there == files.identity(path, "fs")
            })
        };
        let containers = self.objects.iter().enumerate();
        let containers = containers.filter(|(_, object)| object.kind == Kind::Container);
        let mounted = containers.filter(|(_, object)| {
            let snapshots = object.references.iter().map(|(number, _)| &*paths[*number]);
            snapshots.into_iter().any(is_here)
        });
        mounted.map(|(number, _)| number).collect()
    }
}

impl Object {
    /// The name that people know a container by.
    fn container_name(&self) -> String {
        let [namespace, pod, name, own] =
            ["pod.namespace", "pod.name", "container.name", OWN_NAME].map(|it| self.names.get(it));
        match (pod, own) {
            (Some(pod), _) => {
                // That of the pod itself has no name.
                let name = name.map_or("sandbox", |name| name);
                let namespace = namespace.map_or("", |namespace| namespace);
                shown(&format!("{name} of pod {namespace}/{pod}"))
            }
            (None, Some(own)) => shown(own),
            (None, None) => {
                let is_id =
                    self.key.len() == 64 && self.key.bytes().all(|it| it.is_ascii_hexdigit());
                shown(if is_id { &self.key[..12] } else { &self.key })
            }
        }
    }
}
