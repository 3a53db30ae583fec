//! What the directories of container engines are: layers of images, containers, volumes. The engines' own files tell;
//! no daemon is asked.
//!
//! What is found is a note for people. It may be missing or wrong, and no figure depends on it. All that is read is
//! bounded, no symlink is followed, and of a container only its name and whether it runs are kept.

mod around;
mod containerd;
mod docker;
mod files;
mod layout;
mod metadata;
mod storage;
mod users;

use std::collections::{BTreeMap, HashMap};
use std::mem;

use crate::base::escape::escape;
use crate::base::path;
use crate::sys::problem::Problem;
use files::{Files, Room};

pub use around::{StorageAround, StorageSearch, usual_storages};
pub use layout::{LAYOUTS, holds_storage, owner, refusal_of};
pub use users::{User, by_user};

/// The directories of layers of which the engine's files tell more: those of Docker, podman and buildah; and the one in
/// which containerd has such a file.
const KNOWN: [&str; 4] = ["overlay2", "overlay-layers", "vfs-layers", metadata::METADATA];

/// Whether [more is known](look_at) of what is in a directory of this name.
#[inline]
pub fn may_be_storage(name: &[u8]) -> bool {
    KNOWN.iter().any(|layers| layers.as_bytes() == name)
}

/// An engine's storage.
#[derive(Debug, Default)]
struct EngineStorage {
    /// The directory of the layers, from the storage's own.
    driver: String,
    /// The directories of its layers; and, if that tells more, all that lie there.
    layers: Vec<String>,
    directories: Vec<String>,
    images: Vec<Image>,
    /// Notes about directories of containers and others, from the storage's own.
    notes: BTreeMap<String, String>,
    /// Each image and container, with its directories, likewise.
    users: Vec<User>,
}

/// What is known of the storages of engines.
#[derive(Clone, Debug, Default)]
pub struct ContainersFound {
    /// Notes about directories, by path.
    pub notes: BTreeMap<Vec<u8>, String>,
    /// All images and containers.
    pub users: Vec<User>,
    /// The first file of each storage that could not be read.
    pub problems: Vec<Problem>,
}

/// An image.
#[derive(Debug)]
struct Image {
    name: String,
    /// The directories of its layers, the lowest first.
    layers: Vec<String>,
}

/// More layers than an overlay can have (fs/overlayfs/params.h, OVL_MAX_STACK).
const MOST_LAYERS: usize = 500;
/// More layers and volumes than get a note.
const MOST_NOTES: usize = 100_000;

/// What is known of what is in `directories` and beside them. Those [may be in a storage](may_be_storage).
pub fn look_at(directories: &[Vec<u8>]) -> ContainersFound {
    let (mut known, mut room) = (ContainersFound::default(), Room::ALL);
    for directory in directories {
        let name = directory.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let top = directory.strip_suffix(name).unwrap_or_default();
        let top_or_here = if top.is_empty() { b"." } else { top };
        let Some(mut files) = Files::in_directory(top_or_here, &mut room) else { continue };
        let storage = match name.strip_suffix(b"-layers") {
            Some(driver) => storage::read(&mut files, &String::from_utf8_lossy(driver)),
            None if name == metadata::METADATA.as_bytes() => containerd::read(&mut files),
            None => docker::read(&mut files),
        };
        known.problems.extend(files.problem.take());
        let Some(mut storage) = storage else { continue };
        // What no image uses can be told only by one who knows all images.
        let is_complete = files.is_complete;
        for volume in files.names("volumes").into_iter().take(MOST_NOTES) {
            storage.note(&format!("volumes/{volume}"), "volume");
        }
        let path = |at: &Vec<u8>| path::join_all([top, at]);
        let users = mem::take(&mut storage.users);
        known.users.extend(users.into_iter().map(|user| User {
            directories: user.directories.iter().map(path).collect(),
            keeps: user.keeps.iter().map(path).collect(),
            ..user
        }));
        let notes = storage.notes(is_complete).into_iter();
        known.notes.extend(notes.map(|(at, note)| (path(&at.into_bytes()), note)));
    }
    known
}

impl EngineStorage {
    /// Notes by path from the storage's own directory.
    fn notes(self, is_complete: bool) -> BTreeMap<String, String> {
        let Self { driver, layers, directories, mut images, mut notes, .. } = self;
        // The images made from others have more layers.
        images
            .sort_by(|one, two| (one.layers.len(), &one.name).cmp(&(two.layers.len(), &two.name)));
        let mut uses: HashMap<&str, (&Image, usize, usize)> = HashMap::new();
        for image in &images {
            for (i, layer) in image.layers.iter().enumerate() {
                uses.entry(layer).or_insert((image, i + 1, 0)).2 += 1;
            }
        }
        for layer in layers.iter().take(MOST_NOTES) {
            let note = match uses.get(layer.as_str()) {
                Some((Image { name, layers }, i, 1)) => {
                    format!("image {name}, layer {i} of {}", layers.len())
                }
                Some((image, _, 2)) => format!("shared by image {} and another", image.name),
                Some((image, _, count)) => {
                    format!("shared by image {} and {} others", image.name, count - 1)
                }
                None if is_complete => "no image uses it".to_owned(),
                None => continue,
            };
            notes.entry(format!("{driver}/{layer}")).or_insert(note);
        }
        // Then each layer has a note. Short names of layers are in `l`.
        for other in directories.iter().filter(|other| is_complete && *other != "l") {
            let note = notes.entry(format!("{driver}/{other}"));
            note.or_insert_with(|| "build cache, or left over".to_owned());
        }
        notes
    }

    /// Adds an image with the directories of its layers, the lowest first.
    fn add(&mut self, name: String, layers: &[&str]) {
        let directories = layers.iter().map(|layer| format!("{}/{layer}", self.driver));
        self.users.push(User::new(format!("image {name}"), directories));
        let layers = layers.iter().map(|layer| (*layer).to_owned()).collect();
        self.images.push(Image { name, layers });
    }

    /// Adds a note about a directory, from the storage's own.
    fn note(&mut self, directory: &str, note: impl Into<String>) {
        self.notes.insert(directory.to_owned(), note.into());
    }
}

/// A name as people see it: escaped, and not too long.
fn shown(name: &str) -> String {
    const MOST: usize = 80;
    let escaped = escape(name.as_bytes());
    match escaped.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &escaped[..end]),
        None => escaped,
    }
}

/// The name of an image that has these `tags`, which are in no order, or only an `id`.
fn image_name(mut tags: Vec<&str>, id: &str) -> String {
    tags.sort_unstable();
    match tags[..] {
        [] => format!("{} (untagged)", shown(id.get(..12).unwrap_or(id))),
        [tag] => shown(tag),
        [tag, ..] => format!("{}, …", shown(tag)),
    }
}
