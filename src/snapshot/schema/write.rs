//! Writes schema 1, without recursion, because a tree may be deeper than any stack, and a large one by all cores.

use std::io::{self, Write};
use std::mem;
use std::num::NonZeroUsize;

use super::ordered::Ordered;
use super::{header, usual};
use crate::escape::json_bytes as bytes;
use crate::inode::{Identity, Links};
use crate::measure::{Figures, Kind, Measure, Measures, Mode, View};
use crate::path::LONGEST;
use crate::snapshot::{FileSystem, Origin};
use crate::tree::{Child, Details, Inode, Node, Order, Step, Sums, Traversal, Tree};
use crate::weighed::Weighed;

/// What the header contains, and how names are written.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// What the sizes are: a figure, or times.
    pub view: View,
    /// The measures that are known of each node: a snapshot has them besides its size.
    pub known: Measures,
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
    /// The key of the groups, if there are groups.
    pub by: Option<String>,
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
pub fn write(out: &mut dyn Write, weighed: &Weighed, options: &ExportOptions) -> io::Result<()> {
    begin(out, weighed, options)?;
    if let Some(tree) = &weighed.report {
        out.write_all(b",")?;
        NodeWriter { tree, at_root: None, options }.tree(out)?;
    }
    header::end(out, weighed)
}

/// Writes everything before the root's members.
pub fn begin(out: &mut dyn Write, weighed: &Weighed, options: &ExportOptions) -> io::Result<()> {
    header::head(out, options.view)?;
    write!(out, r#","complete":{}"#, weighed.is_complete())?;
    header::space(out, &options.file_systems)?;
    options.origin.as_ref().map_or(Ok(()), |origin| header::origin(out, origin, options.known))
}

/// So few directories cannot make long paths, however they are nested.
const FEW: u64 = 64;

/// Text that is longer than this, in bytes, is put out at once.
const LONG: usize = 64 << 10;

/// Writes the nodes of a tree.
struct NodeWriter<'a> {
    tree: &'a Tree,
    /// The root's inode, below the root. Nodes on its device and mount do not repeat these.
    at_root: Option<Inode>,
    options: &'a ExportOptions,
}

impl<'a> NodeWriter<'a> {
    /// Writes the root's members and everything below it.
    fn tree(self, out: &mut dyn Write) -> io::Result<()> {
        let (root, mut text) = (self.tree.root(), Vec::new());
        self.members(&mut text, root.shown_name(), root)?;
        let below = Self { at_root: root.inode(), ..self };
        let part = |text: &mut Vec<u8>, directory| below.content(text, directory, None);
        let mut ordered = Ordered::new(out, self.options.threads, &part);
        if root.is_directory() {
            below.content(&mut text, root, Some(&mut ordered))?;
        }
        ordered.put(&mut text)
    }

    /// Writes the members that only a directory has, up to the end of its children. What `others` takes over, other
    /// threads write.
    fn content(
        &self,
        text: &mut Vec<u8>,
        directory: Child<'a>,
        mut others: Option<&mut Ordered<'a, '_>>,
    ) -> io::Result<()> {
        let ExportOptions { full_paths, order, .. } = *self.options;
        self.open(text, directory)?;
        let path = if full_paths { directory.path() } else { Vec::new() };
        let mut traversal = Traversal::inside(path, (), directory.children(order));
        let mut is_first = true;
        while let Some(step) = traversal.next() {
            if text.len() > LONG
                && let Some(others) = &mut others
            {
                others.put(text)?;
            }
            let Step::Node(node) = step else {
                text.extend_from_slice(if traversal.depth() == 0 { b"]" } else { b"]}" });
                is_first = false;
                continue;
            };
            text.extend_from_slice(if mem::take(&mut is_first) { b"{" } else { b",{" });
            let name = if full_paths { traversal.path() } else { self.tree.label(node.name()) };
            self.members(text, name, node)?;
            // If every entry has a path, which may be long, the queued output would take too much memory.
            let is_short =
                !full_paths || traversal.path().len() <= LONGEST && node.directories_below() <= FEW;
            let is_left = match &mut others {
                Some(others) if node.is_directory() && is_short => others.takes_over(text, node)?,
                _ => false,
            };
            if !node.is_directory() || is_left {
                text.push(b'}');
                continue;
            }
            self.open(text, node)?;
            traversal.enter((), node.children(order));
            is_first = true;
        }
        Ok(())
    }

    /// Writes the members that any node has.
    fn members(&self, text: &mut Vec<u8>, name: &[u8], node: Child<'_>) -> io::Result<()> {
        bytes(text, "name", name)?;
        text.extend_from_slice(br#","kind":""#);
        text.extend_from_slice(node.kind().as_bytes());
        text.push(b'"');
        let known = node.node();
        let sums = &known.sums;
        let totals = sums.seen_as(self.options.view);
        // Seconds before or after the epoch; null for a directory in which nothing has a time.
        match (self.options.view.by_time, totals.newest) {
            (false, _) => number(text, br#","size":"#, totals.size)?,
            (true, Some(newest)) => signed(text, br#","size":"#, newest)?,
            (true, None) => text.extend_from_slice(br#","size":null"#),
        }
        if !known.note.is_empty() {
            text.push(b',');
            bytes(text, "note", known.note.as_bytes())?;
        }
        if let Some(frees) = sums.frees {
            number(text, br#","frees_least":"#, frees.least)?;
            number(text, br#","frees_most":"#, frees.most)?;
            if !frees.is_exact() {
                text.extend_from_slice(br#","frees_exact":false"#);
            }
        }
        if node.is_group() {
            number(text, br#","entries":"#, sums.entries)?;
            if totals.shared > 0 { number(text, br#","shared":"#, totals.shared) } else { Ok(()) }
        } else if self.options.origin.is_some() {
            self.kept(text, &known)
        } else {
            Ok(())
        }
    }

    /// Writes the members that only a directory has, up to its children.
    fn open(&self, text: &mut Vec<u8>, directory: Child<'_>) -> io::Result<()> {
        let Node { own, sums, .. } = directory.node();
        let view = self.options.view;
        let totals = sums.seen_as(view);
        number(text, br#","entries":"#, totals.entries)?;
        if totals.shared > 0 {
            number(text, br#","shared":"#, totals.shared)?;
        }
        if self.options.origin.is_some() {
            self.figures(text, "shared_", &sums.shared, &Figures::default())?;
            if let Some(own) = own {
                number(text, br#","own":"#, view.size(&own))?;
                self.figures(text, "own_", &own, &Figures::counts_of(Kind::Directory))?;
            }
        }
        text.extend_from_slice(br#","children":["#);
        Ok(())
    }

    /// Writes those `figures` of a snapshot that are not the size, and not as `usual`. Their members begin with
    /// `whose`.
    fn figures(
        &self,
        text: &mut Vec<u8>,
        whose: &str,
        figures: &Figures,
        usual: &Figures,
    ) -> io::Result<()> {
        let ExportOptions { view, known, .. } = self.options;
        for measure in Measure::ALL {
            let figure = figures.get(measure);
            let is_other = measure != view.measure && known.contains(measure);
            if is_other && figure != usual.get(measure) {
                for part in [",\"", whose, measure.name()] {
                    text.extend_from_slice(part.as_bytes());
                }
                number(text, b"\":", figure)?;
            }
        }
        Ok(())
    }

    /// What a snapshot keeps of a node besides its size: its other figures, unusual permissions, and the inode, with
    /// device and mount if they differ from those at the root; and its times, as far as they are kept.
    fn kept(&self, text: &mut Vec<u8>, node: &Node<'_>) -> io::Result<()> {
        let Node { mode, sums: Sums { all, entries, .. }, inode, .. } = *node;
        self.figures(text, "", &all, &usual(mode.kind(), entries))?;
        if mode != Mode::usual(mode.kind()) {
            number(text, br#","mode":"#, mode.0.into())?;
        }
        if let Some(Inode { identity: Identity { mount, device, number: inode }, links, .. }) =
            inode
        {
            number(text, br#","inode":"#, inode)?;
            if self.at_root.is_none_or(|root| root.identity.device != device) {
                number(text, br#","device":"#, device)?;
            }
            if self.at_root.is_none_or(|root| root.identity.mount != mount) {
                number(text, br#","mount":"#, mount)?;
            }
            match links {
                Links::Alone => {}
                Links::Of(links) => number(text, br#","links":"#, links.into())?,
                Links::Unknown => number(text, br#","links":"#, 0)?,
            }
        }
        let modified = node.modified();
        if let Some(modified) = modified {
            signed(text, br#","modified":"#, modified)?;
        }
        // Of a file it is the same. What is in a directory may not be in the snapshot.
        if mode.kind() == Kind::Directory
            && all.newest != modified
            && let Some(newest) = all.newest
        {
            signed(text, br#","newest":"#, newest)?;
        }
        let Some(Details { changed, born, owner, group, .. }) = inode.and_then(|it| it.details)
        else {
            return Ok(());
        };
        for (field, time) in [(br#","changed":"#.as_slice(), changed), (br#","born":"#, born)] {
            if time != 0 {
                signed(text, field, time)?;
            }
        }
        number(text, br#","owner":"#, owner.into())?;
        group.map_or(Ok(()), |group| number(text, br#","group":"#, group.into()))
    }
}

/// Writes `before` and then `number`. With `write!`, formatting took a third of all instructions of a run.
fn number(text: &mut Vec<u8>, before: &[u8], number: u64) -> io::Result<()> {
    text.extend_from_slice(before);
    serde_json::to_writer(text, &number).map_err(io::Error::from)
}

/// The same with a number that may be negative.
fn signed(text: &mut Vec<u8>, before: &[u8], number: i64) -> io::Result<()> {
    text.extend_from_slice(before);
    serde_json::to_writer(text, &number).map_err(io::Error::from)
}
