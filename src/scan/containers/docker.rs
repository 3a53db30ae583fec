//! Docker's storage with its driver overlay2: `image/overlay2` and `containers`. `layerdb` has a directory for each
//! layer by the digest of all up to it, and for each container; `imagedb` has the images, by their content.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use super::files::Files;
use super::{EngineStorage, MOST_LAYERS, User, image_name, shown};

/// The tags and digests of each image, by name.
#[derive(Deserialize)]
struct Repositories {
    #[serde(rename = "Repositories")]
    by_name: HashMap<String, HashMap<String, String>>,
}

#[derive(Deserialize)]
struct ImageConfig {
    rootfs: RootFs,
}

#[derive(Deserialize)]
struct RootFs {
    #[serde(default)]
    diff_ids: Vec<String>,
}

/// All that is kept of a container: the file also has secrets.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Container {
    name: String,
    state: ContainerState,
}

#[derive(Deserialize)]
struct ContainerState {
    #[serde(rename = "Running", default)]
    running: bool,
}

const SHA256: &str = "sha256:";

/// What is in the storage; none if it is not Docker's.
pub(super) fn read(files: &mut Files<'_>) -> Option<EngineStorage> {
    let names: Repositories = files.json("image/overlay2", "repositories.json")?;
    let mut storage = EngineStorage { driver: "overlay2".to_owned(), ..EngineStorage::default() };
    read_images(files, &names, &mut storage);
    read_containers(files, &mut storage);
    storage.directories = files.names("overlay2");
    Some(storage)
}

fn read_images(files: &mut Files<'_>, names: &Repositories, storage: &mut EngineStorage) {
    // By the digest of all layers below it and its own: its directory, and its digest with all below it.
    let mut layers: HashMap<(Option<String>, String), (String, String)> = HashMap::new();
    for chain in files.names("image/overlay2/layerdb/sha256") {
        let at = format!("image/overlay2/layerdb/sha256/{chain}");
        let (parent, diff) = (files.text(&at, "parent"), files.text(&at, "diff"));
        if let Some((diff, directory)) = diff.zip(files.text(&at, "cache-id")) {
            storage.layers.push(directory.clone());
            layers.insert((parent, diff), (directory, format!("{SHA256}{chain}")));
        }
    }
    let mut tags: HashMap<&str, Vec<&str>> = HashMap::new();
    for (tag, id) in names.by_name.values().flatten().filter(|(tag, _)| !tag.contains('@')) {
        tags.entry(id.strip_prefix(SHA256).unwrap_or(id)).or_default().push(tag);
    }
    let at = "image/overlay2/imagedb";
    let ids = files.names(&format!("{at}/content/sha256"));
    let metadata = ids.iter().map(|id| format!("{at}/metadata/sha256/{id}"));
    let parents: HashSet<_> = metadata.filter_map(|at| files.text(&at, "parent")).collect();
    for id in ids {
        let tags = tags.remove(&*id).unwrap_or_default();
        // A step of a build. Docker does not show it, and removes it with the image that was made from it.
        if tags.is_empty() && parents.contains(&format!("{SHA256}{id}")) {
            continue;
        }
        let config = files.json(&format!("{at}/content/sha256"), &id);
        let Some(ImageConfig { rootfs }) = config else { continue };
        let name = image_name(tags, &id);
        let (mut directories, mut below) = (Vec::new(), None);
        for diff in rootfs.diff_ids.into_iter().take(MOST_LAYERS) {
            let Some((directory, chain)) = layers.get(&(below, diff)) else {
                files.is_complete = false;
                break;
            };
            directories.push(&**directory);
            below = Some(chain.clone());
        }
        if !files.take_room_for(&directories) {
            return;
        }
        storage.add(name, &directories);
    }
}

fn read_containers(files: &mut Files<'_>, storage: &mut EngineStorage) {
    for id in files.names("containers") {
        let at = format!("containers/{id}");
        let Some(Container { name, state }) = files.json(&at, "config.v2.json") else { continue };
        let name = shown(name.strip_prefix('/').unwrap_or(&name));
        let state = if state.running { "running" } else { "stopped" };
        storage.note(&at, format!("container {name}, {state}"));
        let mut directories = vec![at];
        let at = format!("image/overlay2/layerdb/mounts/{id}");
        if let Some(layer) = files.text(&at, "mount-id") {
            let note = format!("container {name}, {state}: writable layer");
            directories.push(format!("overlay2/{layer}"));
            storage.note(&format!("overlay2/{layer}"), note);
        }
        if let Some(layer) = files.text(&at, "init-id") {
            directories.push(format!("overlay2/{layer}"));
            storage.note(&format!("overlay2/{layer}"), format!("container {name}: first layer"));
        }
        storage.users.push(User::new(format!("container {name}"), directories));
    }
}
