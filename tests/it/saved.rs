//! Snapshots as text, to look at what is saved, and to make up what is loaded. The text is a JSON object: the header, and
//! beside it the members of the root, as `-j` has them, with all that a file has of a node.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::packed::{Parts, sealed, sections};
use weigh::internal::inode::{Identity, Links};
use weigh::internal::measure::{Figures, Kind, Measure, Mode};
use weigh::internal::snapshot::{self, Snapshot, Wanted, packed};
use weigh::internal::tally::{Inodes, Whole};
use weigh::internal::tree::{Child, Content, Details, Freeable, Inode, Node, Shape, Sums, Tree};
use weigh::internal::weighed::Weighed;

/// The members that are a node's, and not the header's.
const OF_NODES: &[&str] = &[
    "name",
    "name_bytes",
    "kind",
    "size",
    "disk",
    "apparent",
    "files",
    "inodes",
    "entries",
    "shared",
    "shared_disk",
    "shared_apparent",
    "shared_files",
    "shared_inodes",
    "own",
    "own_disk",
    "own_apparent",
    "own_files",
    "own_inodes",
    "mode",
    "inode",
    "device",
    "mount",
    "links",
    "modified",
    "newest",
    "changed",
    "born",
    "owner",
    "group",
    "children",
];

/// The header of the snapshot at `path`.
pub fn header(path: &Path) -> Value {
    let file = fs::read(path).unwrap();
    let text = sections(&file).into_iter().filter(|(kind, _)| *kind == b'H').flat_map(|it| it.1);
    serde_json::from_slice(&text.collect::<Vec<_>>()).unwrap()
}

/// Changes the header of the snapshot at `path`.
pub fn change(path: &Path, change: impl FnOnce(&mut Value)) {
    let mut header = header(path);
    change(&mut header);
    let mut parts = sections(&fs::read(path).unwrap());
    parts.retain(|(kind, _)| *kind != b'H');
    parts.splice(0..0, in_sections(&header));
    fs::write(path, sealed(&parts, false)).unwrap();
}

/// A header in sections as small as those of weigh.
fn in_sections(header: &Value) -> Parts {
    let text = header.to_string().into_bytes();
    text.chunks(16 << 10).map(|part| (b'H', part.to_vec())).collect()
}

/// The snapshot at `path`.
pub fn read(path: &Path) -> Value {
    let Value::Object(mut all) = header(path) else { panic!("no object") };
    all.remove("format");
    all.remove("directories");
    let wanted = Wanted { times: true, ..Wanted::default() };
    let loaded = snapshot::load(path, wanted, |_| Whole { inodes: Inodes::ALL }).unwrap();
    let measure = Measure::named(all["measure"].as_str().unwrap()).unwrap();
    if let Some(tree) = &loaded.weighed.report {
        all.extend(described(tree.root(), measure));
    }
    Value::Object(all)
}

/// The same as text.
pub fn text(path: &Path) -> String {
    read(path).to_string()
}

fn described(child: Child<'_>, measure: Measure) -> Map<String, Value> {
    let Node { name, mode, own, sums, inode, .. } = child.node();
    let kind = mode.kind();
    let mut all = Map::new();
    let mut set = |name: &str, value: Value| drop(all.insert(name.to_owned(), value));
    let is_total = name.is_empty();
    set("name", if is_total { "(total)".into() } else { String::from_utf8_lossy(name).into() });
    if str::from_utf8(name).is_err() {
        set("name_bytes", STANDARD.encode(name).into());
    }
    set("kind", if is_total { "total" } else { kind.name() }.into());
    let whose = [
        ("", "size", Some(sums.all)),
        ("shared_", "shared", Some(sums.shared).filter(|_| kind == Kind::Directory)),
        ("own_", "own", own.filter(|_| kind == Kind::Directory)),
    ];
    for (prefix, size, figures) in whose {
        let Some(figures) = figures else { continue };
        set(size, figures.get(measure).into());
        for other in Measure::ALL.into_iter().filter(|it| *it != measure) {
            set(&format!("{prefix}{}", other.name()), figures.get(other).into());
        }
    }
    if mode != Mode::usual(kind) {
        set("mode", mode.0.into());
    }
    if let Some(Inode { identity, links, details }) = inode {
        set("inode", identity.number.into());
        set("device", identity.device.into());
        set("mount", identity.mount.into());
        match links {
            Links::Alone => {}
            Links::Of(links) => set("links", links.into()),
            Links::Unknown => set("links", 0.into()),
        }
        if let Some(Details { changed, born, owner, group, .. }) = details {
            set("changed", changed.into());
            set("born", born.into());
            set("owner", owner.into());
            if let Some(group) = group {
                set("group", group.into());
            }
        }
    }
    if let Some(modified) = child.node().modified() {
        set("modified", modified.into());
    }
    if kind == Kind::Directory {
        set("entries", sums.entries.into());
        if let Some(newest) = sums.all.newest {
            set("newest", newest.into());
        }
        let children = child.unsorted().map(|child| Value::Object(described(child, measure)));
        set("children", children.collect());
    }
    all
}

/// Saves the snapshot that `text` describes at `path`. What a node does not say is as it usually is, and its device and
/// mount are those of the root.
pub fn write(path: impl AsRef<Path>, text: &str) {
    save(path.as_ref(), &serde_json::from_str(text).unwrap());
}

/// The same of a value.
pub fn save(path: &Path, all: &Value) {
    let measure = Measure::named(all["measure"].as_str().unwrap_or("disk")).unwrap();
    let report = all.get("size").or(all.get("children")).map(|_| tree(all, measure));
    let directories = match &report {
        Some(tree) if tree.root().is_directory() => tree.root().directories_below() + 1,
        _ => 0,
    };
    let snapshot =
        Snapshot { weighed: Weighed { report, ..Weighed::default() }, ..Snapshot::default() };
    let mut file = Vec::new();
    packed::write(&mut file, &snapshot, None).unwrap();
    let mut header = all.as_object().unwrap().clone();
    header.retain(|name, _| !OF_NODES.contains(&&**name));
    header.entry("format").or_insert(1.into());
    header.insert("directories".into(), directories.into());
    if !header.contains_key("figures") {
        let measures = ["disk", "apparent", "files", "inodes"];
        let said = |name: &&str| has(all, name);
        header.insert("figures".into(), measures.into_iter().filter(said).collect());
    }
    let mut parts = sections(&file);
    parts.retain(|(kind, _)| *kind != b'H');
    parts.splice(0..0, in_sections(&Value::Object(header)));
    fs::write(path, sealed(&parts, false)).unwrap();
}

/// Whether a node has such a member.
fn has(node: &Value, name: &str) -> bool {
    node.get(name).is_some() || children(node).iter().any(|child| has(child, name))
}

fn children(node: &Value) -> &[Value] {
    node.get("children").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn tree(all: &Value, measure: Measure) -> Tree {
    let name = name(all);
    let (node, content) = (node(all, &name, all, measure), content(all, all, measure));
    let shape =
        if node.mode.kind() == Kind::Directory { Shape::Directory } else { Shape::default() };
    content.finish(&node, shape)
}

fn content(of: &Value, root: &Value, measure: Measure) -> Content {
    let mut content = Content::default();
    for child in children(of) {
        let name = name(child);
        let node = node(child, &name, root, measure);
        match node.mode.kind() {
            Kind::Directory => content.close(&node, self::content(child, root, measure)),
            _ => content.push(&node),
        }
    }
    content
}

fn name(node: &Value) -> Vec<u8> {
    match node["name_bytes"].as_str() {
        _ if node["kind"] == "total" => Vec::new(),
        Some(bytes) => STANDARD.decode(bytes).unwrap(),
        None => node["name"].as_str().unwrap_or_default().as_bytes().to_vec(),
    }
}

fn node<'n>(of: &Value, name: &'n [u8], root: &Value, measure: Measure) -> Node<'n> {
    let number = |name: &str| of.get(name).and_then(Value::as_u64);
    let time = |name: &str| of.get(name).and_then(Value::as_i64);
    let kind = match of["kind"].as_str() {
        Some("total") | None => Kind::Directory,
        Some(kind) => Kind::named(kind.as_bytes()).unwrap(),
    };
    let entries = number("entries").unwrap_or(1);
    let figures = |prefix: &str, size: &str, usual: Figures| {
        let others = Measure::ALL.into_iter().fold(usual, |figures, measure| {
            let figure = number(&format!("{prefix}{}", measure.name()));
            figure.map_or(figures, |figure| figures.with(measure, figure))
        });
        others.with(measure, number(size).unwrap_or(0))
    };
    let is_directory = kind == Kind::Directory;
    let usual = if is_directory {
        Figures { inodes: entries, ..Figures::default() }
    } else {
        Figures::counts_of(kind)
    };
    let modified = time("modified");
    let newest = if is_directory { newest(of) } else { modified };
    let all = Figures { newest, ..figures("", "size", usual) };
    let shared = figures("shared_", "shared", Figures::default());
    let own = number("own").map(|_| Figures {
        newest: modified,
        ..figures("own_", "own", Figures::counts_of(Kind::Directory))
    });
    let at_root = |name: &str| number(name).or(root.get(name).and_then(Value::as_u64)).unwrap_or(0);
    let links = match number("links") {
        None => Links::Alone,
        Some(0) => Links::Unknown,
        Some(links) => Links::Of(links as u32),
    };
    let details = modified.zip(number("owner")).map(|(modified, owner)| Details {
        modified,
        changed: time("changed").unwrap_or(0),
        born: time("born").unwrap_or(0),
        owner: owner as u32,
        group: number("group").map(|group| group as u32),
    });
    let inode = number("inode").map(|number| Inode {
        identity: Identity { mount: at_root("mount"), device: at_root("device"), number },
        links,
        details,
    });
    let mode = number("mode").map_or(Mode::usual(kind), |mode| Mode(mode as u16));
    let frees = number("frees_least").zip(number("frees_most"));
    let frees = frees.map(|(least, most)| Freeable { least, most, extents: 0 });
    let sums = Sums { all, shared, entries, frees };
    Node { name, mode, own, sums, inode, ..Node::default() }
}

/// The newest time in a node.
fn newest(of: &Value) -> Option<i64> {
    let own = of.get("newest").or(of.get("modified")).and_then(Value::as_i64);
    children(of).iter().map(newest).fold(own, Ord::max)
}
