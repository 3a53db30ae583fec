//! JSON, schema 1: one object, the root node with the header beside it. In a snapshot, the header says where it comes
//! from, and nodes have all that is needed to draw every picture from it.
//!
//! It is written without recursion, because a tree may be deeper than any stack, and a large one by all cores.

use std::io::{self, Write};
use std::mem;
use std::num::NonZeroUsize;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::name::is_control;
use super::ordered::{Ordered, Sink};
use crate::inode::{Identity, Links};
use crate::measure::{Figures, Kind, Measure, Mode, View};
use crate::path::LONGEST;
use crate::snapshot::{FileSystem, Origin, Share, Volume};
use crate::tree::{
    Child, Details, Freeable, Inode, Node, Order, Step, Sums, Totals, Traversal, Tree,
};
use crate::weighed::Weighed;

/// The schema's number.
const SCHEMA: u32 = 1;

/// What the header contains, and how names are written.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// What the sizes are: a figure, or times.
    pub view: View,
    /// Whether all figures of each node are known, which a snapshot then has besides its size.
    pub has_all: bool,
    /// Whether `name` is a path, rather than a base name.
    pub full_paths: bool,
    /// In which order children come.
    pub order: Order,
    /// Where the snapshot comes from, if this is one.
    pub origin: Option<Origin>,
    /// How many threads may write; by default one for each core.
    pub threads: Option<NonZeroUsize>,
    /// What the file systems of roots hold, if --df asked for that.
    pub file_systems: Vec<FileSystem>,
    /// The time of writing, in seconds since the epoch, for forms that contain it.
    pub time: i64,
    /// On which machine, by its own name, likewise.
    pub host: Vec<u8>,
}

impl ExportOptions {
    /// Where and when what is written was weighed: here and now, if it does not say.
    pub fn made(&self) -> (&[u8], i64) {
        let here = (&self.host[..], self.time);
        self.origin.as_ref().map_or(here, |origin| (&origin.host[..], origin.time))
    }
}

/// Writes the result of a walk.
///
/// # Errors
/// The writer's.
pub fn write(out: &mut impl Write, weighed: &Weighed, options: &ExportOptions) -> io::Result<()> {
    begin(out, weighed, options)?;
    if let Some(tree) = &weighed.report {
        out.write_all(b",")?;
        nodes(out, tree, options)?;
    }
    end(out, weighed)
}

/// Writes everything before the root's members.
pub(super) fn begin(
    out: &mut impl Write,
    weighed: &Weighed,
    options: &ExportOptions,
) -> io::Result<()> {
    head(out, options.view)?;
    write!(out, r#","complete":{}"#, weighed.is_complete())?;
    space(out, &options.file_systems)?;
    options.origin.as_ref().map_or(Ok(()), |origin| header(out, origin, options.has_all))
}

/// Writes the first members of every document.
pub(super) fn head(out: &mut impl Write, view: View) -> io::Result<()> {
    write!(out, r#"{{"schema":{SCHEMA},"tool":"weigh","version":"#)?;
    string(out, env!("CARGO_PKG_VERSION"))?;
    let (measure, unit) = (view.name(), view.unit());
    write!(out, r#","measure":"{measure}","unit":"{unit}""#)
}

/// Writes everything after the root's members: the errors.
pub(super) fn end(out: &mut impl Write, weighed: &Weighed) -> io::Result<()> {
    out.write_all(br#","errors":["#)?;
    for (i, problem) in weighed.problems.iter().enumerate() {
        out.write_all(if i == 0 { b"{" } else { b",{" })?;
        bytes(out, "path", &problem.path)?;
        write!(out, r#","operation":"{}","error":"#, problem.operation.name())?;
        string(out, &problem.symbol())?;
        out.write_all(br#","message":"#)?;
        string(out, &problem.message)?;
        out.write_all(b"}")?;
    }
    out.write_all(b"]}\n")
}

/// Writes the root's members and everything below it.
fn nodes(out: &mut impl Write, tree: &Tree, options: &ExportOptions) -> io::Result<()> {
    let root = tree.root();
    bytes(out, "name", root.shown_name())?;
    write!(out, r#","kind":"{}""#, root.kind())?;
    let node @ Node { sums, inode, .. } = root.node();
    size(out, &sums.seen_as(options.view), options.view)?;
    frees(out, sums.frees)?;
    if options.origin.is_some() {
        kept(out, &node, None, options)?;
    }
    if !root.is_directory() {
        return Ok(());
    }
    let mut out =
        Ordered::new(out, options.threads, |out, below| content(out, below, tree, inode, options));
    content(&mut out, root, tree, inode, options)?;
    out.settle()
}

/// So few directories cannot make long paths, however they are nested.
const FEW: u64 = 64;

/// Writes the members that only a directory has, up to the end of its children. The root is the inode `at_root`.
fn content<'a>(
    out: &mut impl Sink<'a>,
    directory: Child<'a>,
    tree: &Tree,
    at_root: Option<Inode>,
    options: &ExportOptions,
) -> io::Result<()> {
    let children = |directory: Child<'a>| directory.children(options.order);
    open(out, directory, options)?;
    let path = if options.full_paths { directory.path() } else { Vec::new() };
    let mut traversal = Traversal::inside(path, (), children(directory));
    let (is_saved, mut is_first) = (options.origin.is_some(), true);
    while let Some(step) = traversal.next() {
        let Step::Node(node) = step else {
            out.write_all(if traversal.depth() == 0 { b"]" } else { b"]}" })?;
            is_first = false;
            continue;
        };
        out.write_all(if mem::take(&mut is_first) { b"{" } else { b",{" })?;
        let name = if options.full_paths { traversal.path() } else { tree.label(node.name()) };
        bytes(out, "name", name)?;
        out.write_all(br#","kind":""#)?;
        out.write_all(node.kind().as_bytes())?;
        out.write_all(b"\"")?;
        let known @ Node { sums, .. } = node.node();
        size(out, &sums.seen_as(options.view), options.view)?;
        frees(out, sums.frees)?;
        if node.is_group() {
            number(out, br#","entries":"#, sums.entries)?;
        } else if is_saved {
            kept(out, &known, at_root, options)?;
        }
        // If every entry has a path, which may be long, the queued output would take too much memory.
        let is_short = !options.full_paths
            || traversal.path().len() <= LONGEST && node.directories_below() <= FEW;
        if !node.is_directory() || is_short && out.takes_over(node)? {
            out.write_all(b"}")?;
            continue;
        }
        open(out, node, options)?;
        traversal.enter((), children(node));
        is_first = true;
    }
    Ok(())
}

/// Writes the members that only a directory has, up to its children.
fn open(out: &mut impl Write, directory: Child<'_>, options: &ExportOptions) -> io::Result<()> {
    let Node { own, sums, .. } = directory.node();
    let totals = sums.seen_as(options.view);
    number(out, br#","entries":"#, totals.entries)?;
    if totals.shared > 0 {
        number(out, br#","shared":"#, totals.shared)?;
    }
    if options.origin.is_some() {
        figures(out, "shared_", &sums.shared, &Figures::default(), options)?;
    }
    if let (true, Some(own)) = (options.origin.is_some(), own) {
        number(out, br#","own":"#, options.view.size(&own))?;
        figures(out, "own_", &own, &Figures::counts_of(Kind::Directory), options)?;
    }
    out.write_all(br#","children":["#)
}

/// The size; or seconds before or after the epoch, null for a directory in which nothing has a time.
fn size(out: &mut impl Write, totals: &Totals, view: View) -> io::Result<()> {
    match (view.by_time, totals.newest) {
        (false, _) => number(out, br#","size":"#, totals.size),
        (true, Some(newest)) => write!(out, r#","size":{newest}"#),
        (true, None) => out.write_all(br#","size":null"#),
    }
}

/// Writes those `figures` of a snapshot that are not the size, and not as `usual`. Their members begin with `whose`.
fn figures(
    out: &mut impl Write,
    whose: &str,
    figures: &Figures,
    usual: &Figures,
    options: &ExportOptions,
) -> io::Result<()> {
    for measure in Measure::ALL.into_iter().filter(|_| options.has_all) {
        let figure = figures.get(measure);
        if measure != options.view.measure && figure != usual.get(measure) {
            for part in [",\"", whose, measure.name()] {
                out.write_all(part.as_bytes())?;
            }
            number(out, b"\":", figure)?;
        }
    }
    Ok(())
}

/// What deleting a node frees, if that is known.
fn frees(out: &mut impl Write, frees: Option<Freeable>) -> io::Result<()> {
    let Some(frees) = frees else { return Ok(()) };
    number(out, br#","frees_least":"#, frees.least)?;
    number(out, br#","frees_most":"#, frees.most)?;
    if !frees.is_exact() {
        out.write_all(br#","frees_exact":false"#)?;
    }
    Ok(())
}

/// Where a snapshot comes from.
fn header(out: &mut impl Write, origin: &Origin, has_all: bool) -> io::Result<()> {
    write!(out, r#","time":{},"#, origin.time)?;
    bytes(out, "host", &origin.host)?;
    for (i, root) in origin.roots.iter().enumerate() {
        out.write_all(if i == 0 { br#","roots":[{"# } else { b"},{" })?;
        bytes(out, "path", &root.path)?;
        if let Some(name) = &root.name {
            out.write_all(b",")?;
            bytes(out, "name", name)?;
        }
        if let Some(Volume { kind, size, free }) = &root.volume {
            out.write_all(br#","file_system":{"#)?;
            bytes(out, "type", kind)?;
            write!(out, r#","size":{size},"free":{free}}}"#)?;
        }
    }
    out.write_all(if origin.roots.is_empty() { br#","roots":["# } else { b"}" })?;
    out.write_all(b"]")?;
    if let Some(options) = &origin.options {
        out.write_all(br#","options":["#)?;
        for (i, option) in options.iter().enumerate() {
            out.write_all(if i == 0 { b"" } else { b"," })?;
            string(out, option)?;
        }
        out.write_all(b"]")?;
    }
    if let Some(Share { number, of, depth }) = origin.share {
        write!(out, r#","share":{{"number":{number},"of":{of},"depth":{depth}}}"#)?;
    }
    let mut figures = if has_all { Measure::ALL.map(Measure::name).to_vec() } else { Vec::new() };
    // It is among the details.
    figures.extend((origin.has_times && !origin.has_details).then_some(Figures::TIME));
    if !figures.is_empty() {
        write!(out, r#","figures":["{}"]"#, figures.join(r#"",""#))?;
    }
    write!(out, r#","details":{}"#, origin.has_details)
}

/// What file systems hold besides the files that the walk saw.
fn space(out: &mut impl Write, file_systems: &[FileSystem]) -> io::Result<()> {
    for (i, one) in file_systems.iter().enumerate() {
        out.write_all(if i == 0 { br#","file_systems":[{"# } else { b"},{" })?;
        bytes(out, "path", &one.root)?;
        let space = one.space;
        write!(
            out,
            r#","size":{},"free":{},"available":{}"#,
            space.size, space.free, space.available
        )?;
        one.unseen().map_or(Ok(()), |unseen| write!(out, r#","unseen":{unseen}"#))?;
    }
    out.write_all(if file_systems.is_empty() { b"" } else { b"}]" })
}

/// What a snapshot keeps of a node besides its size: its other figures, unusual permissions, and the inode, with device and
/// mount if they differ from those `at_root`; and its times, as far as they are kept.
fn kept(
    out: &mut impl Write,
    node: &Node<'_>,
    at_root: Option<Inode>,
    options: &ExportOptions,
) -> io::Result<()> {
    let Node { mode, sums: Sums { all, entries, .. }, inode, .. } = *node;
    let usual = match mode.kind() {
        Kind::Directory => Figures { inodes: entries, ..Figures::default() },
        kind => Figures::counts_of(kind),
    };
    figures(out, "", &all, &usual, options)?;
    if mode != Mode::usual(mode.kind()) {
        number(out, br#","mode":"#, mode.0.into())?;
    }
    if let Some(Inode { identity: Identity { mount, device, number: inode }, links, .. }) = inode {
        number(out, br#","inode":"#, inode)?;
        if at_root.is_none_or(|root| root.identity.device != device) {
            number(out, br#","device":"#, device)?;
        }
        if at_root.is_none_or(|root| root.identity.mount != mount) {
            number(out, br#","mount":"#, mount)?;
        }
        match links {
            Links::Alone => {}
            Links::Of(links) => number(out, br#","links":"#, links.into())?,
            Links::Unknown => number(out, br#","links":"#, 0)?,
        }
    }
    let modified = node.modified();
    if let Some(modified) = modified {
        signed(out, br#","modified":"#, modified)?;
    }
    // Of a file it is the same. What is in a directory may not be in the snapshot.
    if let (Kind::Directory, Some(newest)) =
        (mode.kind(), all.newest.filter(|_| all.newest != modified))
    {
        signed(out, br#","newest":"#, newest)?;
    }
    let Some(Details { changed, born, owner, group, .. }) = inode.and_then(|it| it.details) else {
        return Ok(());
    };
    for (field, time) in [(br#","changed":"#.as_slice(), changed), (br#","born":"#, born)] {
        if time != 0 {
            signed(out, field, time)?;
        }
    }
    number(out, br#","owner":"#, owner.into())?;
    group.map_or(Ok(()), |group| number(out, br#","group":"#, group.into()))
}

/// Writes `before` and then `number`. With `write!`, formatting took a third of all instructions of a run.
fn number(out: &mut impl Write, before: &[u8], number: u64) -> io::Result<()> {
    out.write_all(before)?;
    serde_json::to_writer(out, &number).map_err(io::Error::from)
}

/// The same with a number that may be negative.
fn signed(out: &mut impl Write, before: &[u8], number: i64) -> io::Result<()> {
    out.write_all(before)?;
    serde_json::to_writer(out, &number).map_err(io::Error::from)
}

/// A member whose value is bytes: as text, and if they are not UTF-8, also exactly, in base64. Most names need no
/// escaping and are written as they are.
pub(crate) fn bytes(out: &mut impl Write, field: &str, value: &[u8]) -> io::Result<()> {
    out.write_all(b"\"")?;
    out.write_all(field.as_bytes())?;
    out.write_all(b"\":")?;
    if is_plain(value) {
        out.write_all(b"\"")?;
        out.write_all(value)?;
        return out.write_all(b"\"");
    }
    match std::str::from_utf8(value) {
        Ok(text) => string(out, text),
        Err(_) => {
            string(out, &String::from_utf8_lossy(value))?;
            write!(out, r#","{field}_bytes":"{}""#, STANDARD.encode(value))
        }
    }
}

/// Whether no byte needs escaping, in JSON or on a terminal. It always looks at all bytes, because that lets the
/// compiler check many at a time.
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    let is_plain = |byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    bytes.iter().fold(true, |plain, byte| plain & is_plain(*byte))
}

/// Writes a string. Control characters are escaped even where JSON allows them, because the output may go to a
/// terminal.
fn string(out: &mut impl Write, text: &str) -> io::Result<()> {
    if !text.contains(is_control) {
        return serde_json::to_writer(out, text).map_err(io::Error::from);
    }
    for c in serde_json::to_string(text)?.chars() {
        if is_control(c) {
            write!(out, "\\u{:04x}", c as u32)?;
        } else {
            write!(out, "{c}")?;
        }
    }
    Ok(())
}
