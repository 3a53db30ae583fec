//! Writes schema 1, without recursion, because a tree may be deeper than any stack, and a large one by all cores.

use std::io::{self, Write};
use std::mem;
use std::num::NonZeroUsize;

use super::ordered::{Ordered, Sink};
use super::{header, usual};
use crate::escape::json_bytes as bytes;
use crate::inode::{Identity, Links};
use crate::measure::{Figures, Kind, Measure, Mode, View};
use crate::path::LONGEST;
use crate::snapshot::{FileSystem, Origin};
use crate::tree::{
    Child, Details, Freeable, Inode, Node, Order, Step, Sums, Totals, Traversal, Tree,
};
use crate::weighed::Weighed;

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
    header::end(out, weighed)
}

/// Writes everything before the root's members.
pub fn begin(out: &mut impl Write, weighed: &Weighed, options: &ExportOptions) -> io::Result<()> {
    header::head(out, options.view)?;
    write!(out, r#","complete":{}"#, weighed.is_complete())?;
    header::space(out, &options.file_systems)?;
    options.origin.as_ref().map_or(Ok(()), |origin| header::origin(out, origin, options.has_all))
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
        if let Some(own) = own {
            number(out, br#","own":"#, options.view.size(&own))?;
            figures(out, "own_", &own, &Figures::counts_of(Kind::Directory), options)?;
        }
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
    if !options.has_all {
        return Ok(());
    }
    for measure in Measure::ALL {
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

/// What a snapshot keeps of a node besides its size: its other figures, unusual permissions, and the inode, with device and
/// mount if they differ from those `at_root`; and its times, as far as they are kept.
fn kept(
    out: &mut impl Write,
    node: &Node<'_>,
    at_root: Option<Inode>,
    options: &ExportOptions,
) -> io::Result<()> {
    let Node { mode, sums: Sums { all, entries, .. }, inode, .. } = *node;
    figures(out, "", &all, &usual(mode.kind(), entries), options)?;
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
    if mode.kind() == Kind::Directory
        && all.newest != modified
        && let Some(newest) = all.newest
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
