//! Snapshots as text, to look at what is saved, and to make up what is loaded. The text is a JSON object: the header, and
//! beside it the members of the root, as `-j` has them, with all that a file has of a node.

use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use weigh::internal::ask::{self, Input, Keep, Request};
use weigh::internal::base::inode::{Identity, Links};
use weigh::internal::base::measure::{Figures, Kind, Measure, Mode};
use weigh::internal::from::snapshot::packed::blocks::{self, Blocks, HeaderText, Writer};
use weigh::internal::from::snapshot::packed::pieces::{self, Piece};
use weigh::internal::from::snapshot::{self, Snapshot, Wanted, packed};
use weigh::internal::tree::Report;
use weigh::internal::tree::record::{push_directory, push_number};
use weigh::internal::tree::tally::{Inodes, Limits, Top, Whole};
use weigh::internal::tree::{Child, Content, Details, Freeable, Inode, Node, Shape, Sums, Tree};

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
    if let Some(tree) = &loaded.report.answer {
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
    let answer = all.get("size").or(all.get("children")).map(|_| tree(all, measure));
    let directories = match &answer {
        Some(tree) if tree.root().is_directory() => tree.root().directories_below() + 1,
        _ => 0,
    };
    let snapshot =
        Snapshot { report: Report { answer, ..Report::default() }, ..Snapshot::default() };
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

/// How a file begins (docs/format.md).
pub const MAGIC: &[u8] = b"\x89weigh\r\n";

/// The format that is written and read.
pub const FORMAT: u64 = 1;

/// The most that a section unpacks to, in bytes.
pub const LARGEST: usize = 1 << 20;

/// Sections: their kinds, and what they unpack to.
pub type Parts = Vec<(u8, Vec<u8>)>;

/// The sections of a file.
pub fn sections(file: &[u8]) -> Parts {
    let unpacked = |frame: Range<usize>| zstd::bulk::decompress(&file[frame], LARGEST).unwrap();
    places(file).into_iter().map(|(kind, frame)| (kind, unpacked(frame))).collect()
}

/// The kinds of the sections of a file, and where their frames are.
pub fn places(file: &[u8]) -> Vec<(u8, Range<usize>)> {
    assert!(file.starts_with(MAGIC));
    let (mut places, mut begin) = (Vec::new(), MAGIC.len());
    while let [kind @ (b'H' | b'D' | b'C' | b'I'), a, b, c, d, ..] = file[begin..] {
        let frame = begin + 5..begin + 5 + u32::from_le_bytes([a, b, c, d]) as usize;
        begin = frame.end;
        places.push((kind, frame));
    }
    assert_eq!((file.len() - begin, file[begin]), (9, b'E'));
    places
}

/// A file of these sections, in any order and number. Its end says where the first index is. If `is_indexed`, its
/// index says where blocks are, as far as they begin with a number.
pub fn sealed(sections: &[(u8, Vec<u8>)], is_indexed: bool) -> Vec<u8> {
    let (mut file, mut index, mut last, mut begin) = (MAGIC.to_vec(), Vec::new(), 0, None);
    for (kind, content) in sections {
        let content = if *kind == b'I' && is_indexed { &index } else { content };
        let frame = blocks::pack(content).unwrap();
        if *kind == b'I' {
            begin.get_or_insert(file.len() as u64);
        }
        if *kind == b'D' {
            let first = number(&mut content.as_slice()).unwrap_or(last);
            push(&mut index, 5 + frame.len() as u64);
            push(&mut index, first.saturating_sub(last));
            last = first;
        }
        file.push(*kind);
        file.extend((frame.len() as u32).to_le_bytes());
        file.extend(frame);
    }
    file.push(b'E');
    let begin = begin.unwrap_or(file.len() as u64 - 1);
    file.extend(begin.to_le_bytes());
    file
}

pub fn push(packed: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        packed.push(number as u8 | 0x80);
        number >>= 7;
    }
    packed.push(number as u8);
}

fn number(packed: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let (byte, rest) = packed.split_first()?;
        *packed = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// What a block contains, and the number that the index says of it.
pub type Block = (u64, Vec<u8>);

/// Writes a file of these `sections` at `path`, with the members of `header`.
pub fn forge(path: &Path, header: &str, directories: u64, sections: &[Block]) {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file).unwrap();
    let header = format!(r#"{header},"format":1,"directories":{directories},"errors":[]}}"#);
    HeaderText(&mut writer).write_all(header.as_bytes()).unwrap();
    for (first, content) in sections {
        writer.block(*first, &blocks::pack(content).unwrap()).unwrap();
    }
    writer.finish().unwrap();
    fs::write(path, file).unwrap();
}

fn directory(packed: &mut Vec<u8>, name: &str, below: u64) {
    let mut node = Node { name: name.as_bytes(), mode: Mode::DIRECTORY, ..Node::default() };
    node.sums = Sums { entries: 1, ..Sums::default() };
    node.sums.all.disk = 1000;
    push_directory(packed, &node);
    push_number(packed, below);
}

/// The content of a block: the number of its first directory, the root if it is that, and listings of directories by
/// their names and the numbers of those below them.
pub fn block(first: u64, listings: &[&[(&str, u64)]], root_below: u64) -> Vec<u8> {
    let mut content = Vec::new();
    push_number(&mut content, first);
    if first == 0 {
        directory(&mut content, "top", root_below);
    }
    for listing in listings {
        let mut directories = Vec::new();
        for (name, below) in *listing {
            directory(&mut directories, name, *below);
        }
        Piece { directories: &directories, leaves: b"", is_last: true }.push(&mut content);
    }
    content
}

/// How many directories the listing of the directory has that these names lead to, if the file at `path` can be read by its
/// listings.
pub fn directories_listed(path: &Path, way: &[&str]) -> Option<usize> {
    let source = Input::Files(vec![path.to_owned()], Default::default());
    let keep = Keep::Everything(Inodes::DATED_DIRECTORIES);
    let (_, mut listings) = ask::listings(&Request { source, keep, ..Request::default() })?;
    let way: Vec<_> = way.iter().map(|name| name.as_bytes().to_vec()).collect();
    let tree = listings.at(&way, Inodes::ALL).ok()??;
    Some(tree.root().all_directories().count())
}

/// Reads all that there is at `path`, in each way that there is, and returns it as it is saved again, at `out`. What is
/// taken can be shown and saved.
pub fn read_every_way(path: &Path, out: &Path) -> Result<Vec<u8>, String> {
    let bytes = fs::read(path).unwrap();
    let _ = snapshot::read_info(path);
    let by_block = read_blocks(bytes);
    let front =
        snapshot::load(path, Wanted::default(), |view| Top::new(view, Limits::NONE)).map(|_| ());
    // By the index, and only some of it.
    let few = Limits { lines: 3, ..Limits::NONE };
    let largest = snapshot::load(path, Wanted::default(), |view| Top::new(view, few));
    let whole = snapshot::load(path, Wanted::default(), |_| Whole { inodes: Inodes::ALL });
    let digested = snapshot::digested(path, Wanted::default(), |_, _| Ok(()));
    // What differs from nothing, or from what is in it.
    let tree = whole.as_ref().ok().and_then(|whole| whole.report.answer.as_ref());
    let nothing = Tree::default();
    let changed = digested.map_err(|problem| problem.to_string()).and_then(|digested| {
        let changed = digested.map(|(_, it)| it.changed(tree.unwrap_or(&nothing), Inodes::ALL));
        changed.transpose().map_err(|error| error.to_string())
    });
    let whole = match whole {
        Ok(whole) => whole,
        Err(problem) => {
            assert!(front.is_err());
            return Err(problem.to_string());
        }
    };
    changed.expect("what is right from front to back is so by what has changed");
    by_block.expect("what is right from front to back is so by blocks");
    largest.expect("what is right from front to back is so by listings");
    let mut saved = Vec::new();
    packed::write(&mut saved, &whole, None).unwrap();
    fs::write(out, &saved).unwrap();
    let same = snapshot::load(out, Wanted::default(), |_| Whole { inodes: Inodes::ALL }).unwrap();
    let mut again = Vec::new();
    packed::write(&mut again, &same, None).unwrap();
    assert!(saved == again);
    Ok(saved)
}

/// Reads every block by its place, and what is in it.
fn read_blocks(file: Vec<u8>) -> io::Result<()> {
    let mut there = tempfile::tempfile()?;
    there.write_all(&file)?;
    let (header, blocks) = Blocks::open(there)?;
    for number in 0..blocks.places.len() {
        let content = blocks.content(number)?;
        assert!(content.len() <= LARGEST);
        let mut rest = content.as_slice();
        if number == 0 {
            pieces::take_root(&mut rest, header.directories)?;
        }
        while !rest.is_empty() {
            let piece = Piece::take(&mut rest)?;
            piece.each_directory(true, |_| Ok(()))?;
            piece.each_leaf(true, |_| ())?;
        }
    }
    Ok(())
}
