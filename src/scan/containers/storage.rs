//! containers/storage, which podman, buildah and CRI-O use: `layers.json`, `images.json` and `containers.json`, each in
//! a directory that begins with the name of the driver.

use std::collections::HashMap;

use serde::Deserialize;

use super::files::Files;
use super::{EngineStorage, MOST_LAYERS, User, image_name, shown};

#[derive(Deserialize)]
struct Layer {
    id: String,
    parent: Option<String>,
}

/// An image, or a container.
#[derive(Deserialize)]
struct ImageOrContainer {
    id: String,
    #[serde(default)]
    names: Option<Vec<String>>,
    /// The topmost layer.
    #[serde(default)]
    layer: String,
}

/// What is in the storage; none if it is none.
pub(super) fn read(files: &mut Files<'_>, driver: &str) -> Option<EngineStorage> {
    let layers: Vec<Layer> = files.json(&format!("{driver}-layers"), "layers.json")?;
    let images: Vec<ImageOrContainer> = files.json(&format!("{driver}-images"), "images.json")?;
    let containers: Vec<ImageOrContainer> =
        files.json(&format!("{driver}-containers"), "containers.json").unwrap_or_default();
    let place = match driver {
        // Each has all of the layers below it, too.
        "vfs" => "vfs/dir",
        driver => driver,
    };
    let mut storage = EngineStorage { driver: place.to_owned(), ..EngineStorage::default() };
    let parents: HashMap<&str, Option<&str>> =
        layers.iter().map(|layer| (&*layer.id, layer.parent.as_deref())).collect();
    for ImageOrContainer { id, names, layer } in images {
        let names = names.unwrap_or_default();
        let name = image_name(names.iter().map(String::as_str).collect(), &id);
        storage.note(&format!("{driver}-images/{id}"), format!("image {name}"));
        let (mut layers, mut at, mut is_whole) = (Vec::new(), Some(&*layer), true);
        while let Some(layer) = at.filter(|layer| !layer.is_empty() && is_whole) {
            let parent = parents.get(layer);
            // A layer may be its own parent.
            is_whole = parent.is_some() && layers.len() < MOST_LAYERS;
            at = parent.copied().flatten();
            layers.push(layer);
        }
        if !files.take_room_for(&layers) {
            break;
        }
        if !is_whole {
            files.is_complete = false;
            layers.clear();
        }
        layers.reverse();
        storage.add(name, &layers);
    }
    for ImageOrContainer { id, names, layer } in containers {
        let name = shown(names.unwrap_or_default().first().unwrap_or(&id));
        let directories = [format!("{driver}-containers/{id}"), format!("{place}/{layer}")];
        storage.note(&directories[0], format!("container {name}"));
        storage.note(&directories[1], format!("container {name}: writable layer"));
        storage.users.push(User::new(format!("container {name}"), directories));
    }
    storage.layers = layers.into_iter().map(|layer| layer.id).collect();
    Some(storage)
}
