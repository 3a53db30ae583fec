//! containerd's storage says what it is: images by namespace, containers, pods, blobs, snapshots, downloads. The files here
//! are like those that containerd 1.6 wrote; `.ci/engines` asks containerd itself.

use std::collections::BTreeMap;
use std::fs;

use crate::bolt::Bucket;
use crate::fixture::Fixture;
use crate::run::weigh;

const METADATA: &str = "c/io.containerd.metadata.v1.bolt/meta.db";
const SNAPSHOTS: &str = "c/io.containerd.snapshotter.v1.overlayfs";
const BLOBS: &str = "c/io.containerd.content.v1.content/blobs/sha256";

/// A storage, as it is made here.
struct Storage {
    fixture: Fixture,
    metadata: Bucket,
    snapshots: Bucket,
    next: u64,
}

impl Storage {
    fn new() -> Self {
        let fixture = Fixture::new().dir(SNAPSHOTS).dir("c/io.containerd.metadata.v1.bolt");
        let (metadata, snapshots) = (Bucket::default(), Bucket::default());
        Self { fixture, metadata, snapshots, next: 1 }
    }

    fn file(&self, path: &str, bytes: usize) {
        let file = self.fixture.at(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "x".repeat(bytes)).unwrap();
    }

    fn put(&mut self, path: &str, value: &str) {
        self.metadata.put(path, value);
    }

    /// A blob with labels, each with an equals sign.
    fn blob(&mut self, namespace: &str, digest: &str, bytes: usize, labels: &[&str]) {
        self.file(&format!("{BLOBS}/{digest}"), bytes);
        let at = format!("v1/{namespace}/content/blob/sha256:{digest}");
        self.put(&format!("{at}/size"), "\u{7}");
        for (label, value) in labels.iter().map(|label| label.split_once('=').unwrap()) {
            self.put(&format!("{at}/labels/containerd.io\\/gc.ref.{label}"), value);
        }
    }

    /// A snapshot in the next directory.
    fn snapshot(&mut self, namespace: &str, key: &str, parent: &str, bytes: usize) {
        let id = self.next;
        self.next += 1;
        self.file(&format!("{SNAPSHOTS}/snapshots/{id}/fs/f"), bytes);
        let at = format!("v1/{namespace}/snapshots/overlayfs/{key}");
        self.put(&format!("{at}/name"), &format!("{namespace}/{id}/{key}"));
        self.put(&format!("{at}/createdat"), "");
        if !parent.is_empty() {
            self.put(&format!("{at}/parent"), parent);
        }
        let name = format!("{namespace}\\/{id}\\/{key}");
        self.snapshots.put(&format!("v1/snapshots/{name}/id"), [id as u8]);
    }

    /// An image of snapshots with these letters, the lowest first.
    fn image(&mut self, namespace: &str, name: &str, manifest: &str, layers: &str) {
        let at = format!("v1/{namespace}/images/{}/target", name.replace('/', "\\/"));
        self.put(&format!("{at}/digest"), &format!("sha256:{manifest}"));
        self.put(&format!("{at}/mediatype"), "application/vnd.oci.image.manifest.v1+json");
        let config = format!("{manifest}c");
        let mut labels = vec![format!("content.config=sha256:{config}")];
        for (i, layer) in layers.chars().enumerate() {
            labels.push(format!("content.l.{i}=sha256:{layer}"));
        }
        let labels: Vec<_> = labels.iter().map(String::as_str).collect();
        self.blob(namespace, manifest, 10, &labels);
        let top = layers.chars().last().unwrap();
        let label = format!("snapshot.overlayfs=chain-{top}");
        self.blob(namespace, &config, 20, &[&label]);
    }

    fn container(&mut self, namespace: &str, id: &str, labels: &[(&str, &str)]) {
        let at = format!("v1/{namespace}/containers/{id}");
        self.put(&format!("{at}/spec"), "PASSWORD=secret");
        self.put(&format!("{at}/snapshotter"), "overlayfs");
        self.put(&format!("{at}/snapshotKey"), id);
        for (label, value) in labels {
            self.put(&format!("{at}/labels/{}", label.replace('/', "\\/")), value);
        }
    }

    /// With its databases.
    fn finish(self) -> Fixture {
        fs::write(self.fixture.at(METADATA), self.metadata.database(7)).unwrap();
        let at = self.fixture.at(SNAPSHOTS).join("metadata.db");
        fs::write(at, self.snapshots.database(4)).unwrap();
        self.fixture
    }
}

/// Two images with a layer in common; one of them again in another namespace; containers of both, and one whose image is
/// gone; a lease, a download, and what nothing refers to.
fn containerd() -> Fixture {
    let mut storage = Storage::new();
    for (layer, bytes) in [("a", 1000), ("b", 2000), ("d", 3000)] {
        storage.blob("default", layer, bytes, &[]);
    }
    storage.snapshot("default", "chain-a", "", 9_000);
    storage.snapshot("default", "chain-b", "chain-a", 8_000);
    storage.snapshot("default", "chain-d", "chain-a", 7_000);
    storage.image("default", "docker.io/library/one:1", "11", "ab");
    storage.image("default", "docker.io/library/one:latest", "11", "ab");
    storage.image("default", "docker.io/library/two:1", "22", "ad");
    storage.snapshot("default", "web", "chain-b", 600);
    storage.container("default", "web", &[]);
    storage.snapshot("default", "gone", "", 5_000);
    storage.snapshot("default", "job", "gone", 500);
    storage.container("default", "job", &[]);
    for (layer, bytes) in [("a", 1000), ("b", 2000)] {
        storage.blob("k8s.io", layer, bytes, &[]);
    }
    storage.snapshot("k8s.io", "chain-a", "", 9_000);
    storage.snapshot("k8s.io", "chain-b", "chain-a", 8_000);
    for name in ["one:1", "one@sha256:11", "sha256:11c"] {
        storage.image("k8s.io", name, "11", "ab");
    }
    let id = "0123456789abcdef".repeat(4);
    storage.snapshot("k8s.io", &id, "chain-b", 300);
    let pod = [
        ("io.kubernetes.pod.name", "web-0"),
        ("io.kubernetes.pod.namespace", "shop"),
        ("io.kubernetes.container.name", "nginx"),
    ];
    storage.container("k8s.io", &id, &pod);
    let other = "fedcba9876543210".repeat(4);
    storage.snapshot("moby", &other, "", 200);
    storage.container("moby", &other, &[("com.docker/engine.bundle.path", "/run/x")]);
    storage.blob("default", "e", 400, &[]);
    storage.put("v1/default/leases/build/content/sha256:e", "");
    storage.blob("default", "f", 4_000, &[]);
    storage.snapshot("default", "lost", "", 6_000);
    let ingest = "c/io.containerd.content.v1.content/ingest/77";
    storage.file(&format!("{ingest}/data"), 100);
    fs::write(storage.fixture.at(ingest).join("ref"), "default/1/layer-sha256:99").unwrap();
    storage.finish()
}

fn notes(fixture: &Fixture, top: &str) -> BTreeMap<String, String> {
    let run = weigh("-j").arg(fixture.at(top)).run();
    assert!(!String::from_utf8_lossy(&run.stdout).contains("secret"));
    let document = run.document();
    let nodes = document.by_path();
    let notes = nodes.iter().filter_map(|(path, node)| Some((path, node.note.clone()?)));
    let short = |path: &[u8]| {
        let path = String::from_utf8(path.to_vec()).unwrap();
        let (first, rest) = path.split_once('/').unwrap();
        let kind = first.split('.').nth(2).unwrap();
        format!("{kind}/{}", rest.trim_start_matches("blobs/sha256/"))
    };
    notes.map(|(path, note)| (short(path), note)).collect()
}

#[test]
fn blobs_and_snapshots_say_what_they_are() {
    let expected = [
        ("content/11", "shared by image docker.io/library/one:1, … in default and another"),
        ("content/11c", "shared by image docker.io/library/one:1, … in default and another"),
        ("content/22", "image docker.io/library/two:1 in default, manifest"),
        ("content/22c", "image docker.io/library/two:1 in default, config"),
        ("content/a", "shared by image docker.io/library/one:1, … in default and 2 others"),
        ("content/b", "shared by image docker.io/library/one:1, … in default and another"),
        ("content/d", "image docker.io/library/two:1 in default, compressed layer 2"),
        ("content/e", "lease build in default"),
        ("content/f", "nothing refers to it"),
        ("content/ingest/77", "unfinished download layer-sha256:99"),
        (
            "snapshotter/snapshots/1",
            "shared by image docker.io/library/one:1, … in default and another",
        ),
        ("snapshotter/snapshots/2", "image docker.io/library/one:1, … in default, layer 2 of 2"),
        ("snapshotter/snapshots/3", "image docker.io/library/two:1 in default, layer 2 of 2"),
        ("snapshotter/snapshots/4", "container web in default: writable layer"),
        ("snapshotter/snapshots/5", "container job in default"),
        ("snapshotter/snapshots/6", "container job in default: writable layer"),
        ("snapshotter/snapshots/7", "image one:1 in k8s.io, layer 1 of 2"),
        ("snapshotter/snapshots/8", "image one:1 in k8s.io, layer 2 of 2"),
        ("snapshotter/snapshots/9", "container nginx of pod shop/web-0 in k8s.io: writable layer"),
        ("snapshotter/snapshots/10", "container fedcba987654 in moby: writable layer"),
        ("snapshotter/snapshots/11", "nothing refers to it"),
    ];
    let expected: BTreeMap<_, _> =
        expected.iter().map(|(path, note)| ((*path).to_owned(), (*note).to_owned())).collect();
    let fixture = containerd();
    assert_eq!(notes(&fixture, "c"), expected);
    // Beside the name, also of a file.
    let picture = weigh("-s -w 120 -n 60").arg(fixture.at("c")).run().text();
    assert!(
        picture.contains("(image docker.io/library/two:1 in default, compressed layer 2)"),
        "{picture}"
    );
}

#[test]
fn images_free_what_no_other_one_refers_to() {
    let fixture = containerd();
    let document = weigh("-j -s --by image").arg(fixture.at("c")).run().document();
    let of = |name: &str| {
        let node = document.node(name);
        (node.size, node.shared, [node.frees[0], node.frees[1]])
    };
    // The other namespace has the same blobs, and a container has the snapshots.
    let one = 10 + 20 + 1000 + 2000 + 9_000 + 8_000;
    assert_eq!(of("image docker.io/library/one:1, … in default"), (one, one, [0; 2]));
    assert_eq!(of("image one:1 in k8s.io"), (one, one, [0; 2]));
    let two = 10 + 20 + 3000 + 7_000;
    let shared = 1000 + 9_000;
    assert_eq!(of("image docker.io/library/two:1 in default"), (two + shared, shared, [two; 2]));
    // Without an image, its snapshots go with the container.
    assert_eq!(of("container job in default"), (5_500, 0, [5_500; 2]));
    assert_eq!(of("container web in default"), (600, 0, [600; 2]));
    assert_eq!(of("container nginx of pod shop/web-0 in k8s.io"), (300, 0, [300; 2]));
    assert_eq!(of("lease build in default"), (400, 0, [400; 2]));
    assert_eq!(of("(nothing refers to it)"), (10_000, 0, [10_000; 2]));
    // Each byte is in one group, or shared.
    let whole = weigh("-j -s").arg(fixture.at("c")).run().document().root().size;
    assert_eq!(document.root().size, whole);
    let groups = document.nodes.iter().skip(1);
    let own: u64 = groups.map(|group| group.size - group.shared).sum();
    assert_eq!(own + 9_000 + 8_000 + 9_000 + 8_000 + 10 + 20 + 1000 + 2000, whole);
}

/// Without `meta.db`, nothing is known, and figures by image are lower bounds.
#[test]
fn a_database_that_cannot_be_read_is_named() {
    for (lost, hidden) in [(METADATA, 21), (&*format!("{SNAPSHOTS}/metadata.db"), 11)] {
        let fixture = containerd();
        let all = notes(&fixture, "c").len();
        let bytes = fs::read(fixture.at(lost)).unwrap();
        for damaged in [b"{".to_vec(), bytes[..8192].to_vec(), vec![0; bytes.len()]] {
            fs::write(fixture.at(lost), damaged).unwrap();
            let run = weigh("--by image c").within(fixture.path()).run();
            assert_eq!(run.code(), 1, "{lost}");
            assert!(run.complaint().contains(lost), "{}", run.complaint());
            assert!(String::from_utf8_lossy(&run.stdout).contains('≥'));
            // Elsewhere, no figure depends on it.
            assert_eq!(weigh("-s c").within(fixture.path()).run().code(), 0);
            assert_eq!(all - notes(&fixture, "c").len(), hidden, "{lost}");
        }
    }
}

/// Loops, names with controls, and digests that are no names.
#[test]
fn forged_databases_do_no_harm() {
    let mut storage = Storage::new();
    storage.snapshot("n", "a", "b", 10);
    storage.snapshot("n", "b", "a", 10);
    storage.image("n", "\u{1b}[2J\u{202e}", "11", "ab");
    storage.put("v1/n/content/blob/none/size", "");
    storage.put("v1/n/content/blob/sha256:..\\/..\\/f/size", "");
    storage
        .put("v1/n/content/blob/sha256:11/labels/containerd.io\\/gc.ref.content.l.x", "sha256:11");
    storage.put("v1/\u{1b}]0;x/images/x/target/digest", "sha256:11");
    storage.put("v1/n/images/none/target/digest", "");
    storage.snapshots.put("v1/snapshots/n\\/1\\/a/id", [255; 20]);
    let fixture = storage.finish();
    for form in ["-n 100", "-j", "--as ndjson", "--as html", "--by image"] {
        let run = weigh(form).arg(fixture.at("c")).run();
        assert_eq!(run.code(), 0, "{form}: {}", run.complaint());
        assert!(!run.text().contains(['\x1b', '\u{202e}']), "{form}");
    }
}

/// Once, such a name was left out with all that it refers to, which then seemed to be of no use.
#[test]
fn a_name_that_is_too_long_is_a_loss() {
    let mut storage = Storage::new();
    storage.image("n", &"x".repeat(5_000), "11", "ab");
    let fixture = storage.finish();
    let run = weigh("--by image").arg(fixture.at("c")).run();
    assert_eq!(run.code(), 1);
    assert!(run.complaint().contains("too long names"), "{}", run.complaint());
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(!text.contains("nothing refers to it"), "{text}");
}

/// k3s, rootless containerd and Docker have it elsewhere: what is in it tells, and not the path.
#[test]
fn a_storage_is_known_wherever_it_is() {
    let fixture = containerd();
    let groups = |top: &str| {
        let document = weigh("-j -s --by image").arg(fixture.at(top)).run().document();
        let groups =
            document.nodes.iter().skip(1).filter(|group| group.name != b"(everything else)");
        let groups = groups.map(|it| (it.name.clone(), (it.size, it.shared, it.frees.clone())));
        groups.collect::<BTreeMap<_, _>>()
    };
    let expected = groups("c");
    assert!(expected.len() > 7, "{expected:?}");
    let mut last = fixture.at("c");
    for top in ["k3s/agent/containerd", "home/.local/share/containerd", "docker/daemon", "any/name"]
    {
        let next = fixture.at(top);
        fs::create_dir_all(next.parent().unwrap()).unwrap();
        fs::rename(&last, &next).unwrap();
        last = next;
        assert_eq!(groups(top.split('/').next().unwrap()), expected, "{top}");
    }
}
