//! containerd's databases: `meta.db` has the images, containers, leases, blobs and snapshots of each namespace, and their
//! references; each snapshotter's `metadata.db`, the directories of its snapshots. Written from metadata/buckets.go,
//! metadata/gc.go and snapshots/storage/bolt.go of containerd 1.6 to 2.1.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem;

use super::files::Files;

/// The directory of `meta.db`.
pub(super) const METADATA: &str = "io.containerd.metadata.v1.bolt";
pub(super) const CONTENT: &str = "io.containerd.content.v1.content";
pub(super) const SNAPSHOTTER: &str = "io.containerd.snapshotter.v1.";

/// The starts of labels that name other objects (gc.go).
const REFERENCE: &str = "containerd.io/gc.ref.";
const BACK_REFERENCE: &str = "containerd.io/gc.bref.";
const ROOT: &str = "containerd.io/gc.root";

/// More than this, with all that refers to it, is not kept: 3,000 images of 20 layers have fewer.
const MOST_OBJECTS: usize = 300_000;

/// The label in which nerdctl keeps the name of a container.
pub(super) const OWN_NAME: &str = "nerdctl/name";

#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(super) enum Kind {
    Image,
    Container,
    Lease,
    Ingest,
    #[default]
    Blob,
    Snapshot,
}

/// Something in a namespace.
#[derive(Debug, Default)]
pub(super) struct Object {
    pub(super) kind: Kind,
    pub(super) namespace: String,
    /// Its name, digest, or, of a snapshot, that of the snapshotter, a slash, and its key.
    pub(super) key: String,
    /// Whether it is there. Others only refer to it.
    pub(super) exists: bool,
    /// Whether it is kept although nothing may refer to it.
    pub(super) is_root: bool,
    /// The objects to which it refers, each with the rest of the label that says so.
    pub(super) references: Vec<(usize, String)>,
    /// The name that the snapshotter has for a snapshot; the media type of an image.
    pub(super) other_name: String,
    /// The snapshotter of a container, and the key of its snapshot.
    snapshot: [String; 2],
    /// The names of a container, by the labels that have them.
    pub(super) names: BTreeMap<String, String>,
}

/// The content of `meta.db`.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    pub(super) objects: Vec<Object>,
    numbers: HashMap<(Kind, String, String), usize>,
    references: usize,
    /// Whether something has a longer name than containerd allows.
    is_cut: bool,
}

/// The directories of snapshots, by the names of these.
#[derive(Debug, Default)]
struct Snapshotter(HashMap<String, u64>);

impl Metadata {
    /// Adds a key of the database. `path` has its name, and those of the buckets around it.
    pub(super) fn add(&mut self, path: &[&[u8]], value: &[u8]) {
        /// No label is longer (labels/validate.go). Names are around many keys, and are copied with them.
        const LONGEST: usize = 4_096;
        // Without one of them, others might seem to be of no use.
        self.is_cut |= path.iter().any(|name| name.len() > LONGEST);
        if self.is_full() {
            return;
        }
        let path: Vec<_> = path.iter().map(|name| String::from_utf8_lossy(name)).collect();
        let path: Vec<_> = path.iter().map(|name| &**name).collect();
        let ["v1", namespace, rest @ ..] = &path[..] else { return };
        let text = || String::from_utf8_lossy(value).into_owned();
        let (object, rest) = match rest {
            ["images", name, rest @ ..] => (self.object(Kind::Image, namespace, name), rest),
            ["containers", id, rest @ ..] => (self.object(Kind::Container, namespace, id), rest),
            ["leases", id, rest @ ..] => (self.object(Kind::Lease, namespace, id), rest),
            ["content", "blob", digest, rest @ ..] => {
                (self.object(Kind::Blob, namespace, digest), rest)
            }
            ["content", "ingests", name, rest @ ..] => {
                (self.object(Kind::Ingest, namespace, name), rest)
            }
            ["snapshots", snapshotter, key, rest @ ..] => {
                let key = format!("{snapshotter}/{key}");
                (self.object(Kind::Snapshot, namespace, &key), rest)
            }
            _ => return,
        };
        self.objects[object].exists = true;
        match (self.objects[object].kind, rest) {
            (_, ["labels", label]) => self.add_label(object, label, text()),
            (Kind::Image, ["target", "digest"]) => {
                self.refer(object, Kind::Blob, &text(), "");
            }
            (Kind::Image, ["target", "mediatype"]) => self.objects[object].other_name = text(),
            (Kind::Container, ["snapshotter"]) => self.objects[object].snapshot[0] = text(),
            (Kind::Container, ["snapshotKey"]) => self.objects[object].snapshot[1] = text(),
            (Kind::Lease, ["content", digest]) => self.refer(object, Kind::Blob, digest, ""),
            (Kind::Lease, ["snapshots", snapshotter, key]) => {
                self.refer(object, Kind::Snapshot, &format!("{snapshotter}/{key}"), "");
            }
            (Kind::Lease, ["images", name]) => self.refer(object, Kind::Image, name, ""),
            (Kind::Ingest, ["expected"]) => self.refer(object, Kind::Blob, &text(), ""),
            (Kind::Snapshot, ["name"]) => self.objects[object].other_name = text(),
            (Kind::Snapshot, ["parent"]) => {
                let key = &self.objects[object].key;
                let snapshotter = key.split('/').next().unwrap_or_default();
                let parent = format!("{snapshotter}/{}", text());
                self.refer(object, Kind::Snapshot, &parent, "");
            }
            _ => {}
        }
    }

    fn add_label(&mut self, object: usize, label: &str, value: String) {
        let name = label.strip_prefix("io.kubernetes.").unwrap_or(label);
        if matches!(name, "pod.namespace" | "pod.name" | "container.name" | OWN_NAME) {
            self.objects[object].names.insert(name.to_owned(), value);
        } else if label == ROOT || label.starts_with(BACK_REFERENCE) {
            self.objects[object].is_root = true;
        } else if let Some(kind) = label.strip_prefix(REFERENCE) {
            // The part after a dot or a slash only tells labels apart.
            let end = |text: &str| text.find(['.', '/']).unwrap_or(text.len());
            let (kind, rest) = kind.split_at(end(kind));
            let rest = rest.get(1..).unwrap_or_default();
            match kind {
                "content" => self.refer(object, Kind::Blob, &value, rest),
                "image" => self.refer(object, Kind::Image, &value, rest),
                "snapshot" => {
                    let key = format!("{}/{value}", &rest[..end(rest)]);
                    self.refer(object, Kind::Snapshot, &key, "");
                }
                _ => {}
            }
        }
    }

    /// The number of an object.
    fn object(&mut self, kind: Kind, namespace: &str, key: &str) -> usize {
        let (namespace, key) = (namespace.to_owned(), key.to_owned());
        let next = self.objects.len();
        let number = *self.numbers.entry((kind, namespace.clone(), key.clone())).or_insert(next);
        if number == next {
            self.objects.push(Object { kind, namespace, key, ..Object::default() });
        }
        number
    }

    fn refer(&mut self, object: usize, kind: Kind, key: &str, label: &str) {
        let namespace = self.objects[object].namespace.clone();
        let other = self.object(kind, &namespace, key);
        self.objects[object].references.push((other, label.to_owned()));
        self.references += 1;
    }

    /// Whether it has more than is kept, so that nothing can be told.
    pub(super) fn is_full(&self) -> bool {
        self.is_cut || self.objects.len() + self.references >= MOST_OBJECTS
    }

    /// Has each container refer to its snapshot: the database has snapshotter and key in two places.
    pub(super) fn finish(&mut self) {
        for object in 0..self.objects.len() {
            let [snapshotter, key] = mem::take(&mut self.objects[object].snapshot);
            if !key.is_empty() {
                self.refer(object, Kind::Snapshot, &format!("{snapshotter}/{key}"), "");
            }
        }
    }

    /// Where each blob, snapshot and download is, from the storage's own directory; empty for others, and if that is not
    /// known.
    pub(super) fn paths(
        &self,
        files: &mut Files<'_>,
        downloads: &HashMap<(String, String), String>,
    ) -> Vec<String> {
        let mut snapshotters: HashMap<String, Option<Snapshotter>> = HashMap::new();
        let path = |object: &Object| match object.kind {
            Kind::Blob if object.exists => {
                let (algorithm, digits) = object.key.split_once(':')?;
                Some(format!("{CONTENT}/blobs/{algorithm}/{digits}"))
            }
            Kind::Snapshot if object.exists => {
                let (name, _) = object.key.split_once('/')?;
                let directory = format!("{SNAPSHOTTER}{name}");
                let known = snapshotters
                    .entry(name.to_owned())
                    .or_insert_with(|| files.database(&directory, "metadata.db", Snapshotter::add));
                let id = known.as_ref()?.0.get(&object.other_name)?;
                Some(format!("{directory}/snapshots/{id}"))
            }
            Kind::Ingest => downloads.get(&(object.namespace.clone(), object.key.clone())).cloned(),
            _ => None,
        };
        let paths = self.objects.iter().map(path);
        paths.map(Option::unwrap_or_default).collect()
    }

    /// All that these objects refer to, and they themselves, with the label that led there: the outermost first.
    pub(super) fn reached(&self, roots: &[usize]) -> Vec<(usize, &str)> {
        let mut seen: HashSet<usize> = roots.iter().copied().collect();
        let mut reached: Vec<_> = roots.iter().map(|root| (*root, "")).collect();
        let mut next = 0;
        while let Some((object, _)) = reached.get(next) {
            for (other, label) in &self.objects[*object].references {
                if seen.insert(*other) {
                    reached.push((*other, label));
                }
            }
            next += 1;
        }
        reached
    }

    /// The objects to which these themselves refer.
    pub(super) fn direct(&self, objects: &[usize]) -> HashSet<usize> {
        let references = objects.iter().flat_map(|object| &self.objects[*object].references);
        references.map(|(other, _)| *other).collect()
    }

    /// How many snapshots each snapshot consists of; 0 for other objects.
    pub(super) fn depths(&self) -> Vec<usize> {
        let mut depths = vec![0; self.objects.len()];
        for number in 0..depths.len() {
            let (mut above, mut at) = (Vec::new(), Some(number));
            while let Some(snapshot) = at {
                let Object { kind, references, .. } = &self.objects[snapshot];
                // A snapshot may be its own parent.
                if *kind != Kind::Snapshot || depths[snapshot] > 0 {
                    break;
                }
                depths[snapshot] = 1;
                above.push(snapshot);
                // Labels come before it.
                at = references.last().map(|(parent, _)| *parent);
            }
            let below = at.map_or(0, |at| depths[at]);
            for (i, snapshot) in above.into_iter().rev().enumerate() {
                depths[snapshot] = below + 1 + i;
            }
        }
        depths
    }
}

impl Snapshotter {
    fn add(&mut self, path: &[&[u8]], value: &[u8]) {
        if let [b"v1", b"snapshots", key, b"id"] = path
            && let Ok(key) = str::from_utf8(key)
            && let Some(id) = varint(value)
            && self.0.len() < MOST_OBJECTS
        {
            self.0.insert(key.to_owned(), id);
        }
    }
}

/// A number of seven bits a byte, the lowest first (encoding/binary, Uvarint).
fn varint(bytes: &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for (i, byte) in bytes.iter().take(9).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
