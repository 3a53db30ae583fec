//! Writes schema 1, without recursion, because a tree may be deeper than any stack, and a large one by all cores.

use std::io::{self, Write};
use std::mem;
use std::num::NonZeroUsize;

use serde::Serialize;

use super::{header, usual};
use crate::escape::json_bytes as bytes;
use crate::inode::{Identity, Links};
use crate::measure::{Change, Figures, Kind, Measure, Measures, Mode, View};
use crate::parallel;
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
    /// Whether something could not be read for the earlier snapshot of a comparison.
    pub lacks_earlier: bool,
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

/// Writes the result of a walk, or a difference: that has `before`, `change` and `churn` beside `size`.
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
    let is_complete = weighed.is_complete() && !options.lacks_earlier;
    write!(out, r#","complete":{is_complete}"#)?;
    if weighed.is_interrupted {
        out.write_all(br#","interrupted":true"#)?;
    }
    header::space(out, &options.file_systems)?;
    options.origin.as_ref().map_or(Ok(()), |origin| header::origin(out, origin, options.known))
}

/// So few directories cannot make long paths, however they are nested.
const FEW: u64 = 64;

/// How many entries one thread writes at a time: few enough that all threads are busy, and enough that handing them
/// out costs nothing.
const PART: u64 = 1_024;

/// Text that is longer than this, in bytes, is a part by itself.
const LONG: usize = 64 << 10;

/// Writes the nodes of a tree.
struct NodeWriter<'a> {
    tree: &'a Tree,
    /// The root's inode, below the root. Nodes on its device and mount do not repeat these.
    at_root: Option<Inode>,
    options: &'a ExportOptions,
}

/// A directory whose content is being written.
struct OpenContent<'w, 'a> {
    writer: &'w NodeWriter<'a>,
    traversal: Traversal<Child<'a>, ()>,
    is_first: bool,
}

/// Texts, some with a directory whose content comes after it, and is still to be written.
type Part<'a> = Vec<(Vec<u8>, Option<Child<'a>>)>;

impl<'a> NodeWriter<'a> {
    /// Writes the root's members and everything below it, of which several threads write parts.
    fn tree(self, out: &mut dyn Write) -> io::Result<()> {
        let (root, mut text) = (self.tree.root(), Vec::new());
        self.members(&mut text, root.shown_name(), root);
        if !has_content(root) {
            return out.write_all(&text);
        }
        let below = Self { at_root: root.inode(), ..self };
        let content = OpenContent::begin(&below, &mut text, root);
        out.write_all(&text)?;
        let threads = below.options.threads.map_or(0, NonZeroUsize::get);
        parallel::in_order(threads, content, |part| below.part(part), |text| out.write_all(&text))
    }

    /// The text of a `part`.
    fn part(&self, part: Part<'a>) -> Vec<u8> {
        let mut text = Vec::new();
        for (before, directory) in part {
            text.extend_from_slice(&before);
            if let Some(directory) = directory {
                OpenContent::begin(self, &mut text, directory).go_on(&mut text, false);
                text.push(b'}');
            }
        }
        text
    }

    /// Writes the members that any node has.
    fn members(&self, text: &mut Vec<u8>, name: &[u8], node: Child<'_>) {
        // To write to memory never fails.
        let _ = bytes(text, r#""name":"#, name);
        text.extend_from_slice(br#","kind":""#);
        text.extend_from_slice(node.kind().as_bytes());
        text.push(b'"');
        if let Some(changed) = node.change() {
            let _ = change(text, &changed);
            return number(text, br#","churn":"#, changed.churn);
        }
        let known = node.node();
        let sums = &known.sums;
        let totals = sums.seen_as(self.options.view);
        // Seconds before or after the epoch; null for a directory in which nothing has a time.
        match self.options.view.by_time {
            false => number(text, br#","size":"#, totals.size),
            true => number(text, br#","size":"#, totals.newest),
        }
        if !known.note.is_empty() {
            let _ = bytes(text, r#","note":"#, known.note.as_bytes());
        }
        if let Some(frees) = sums.frees {
            number(text, br#","frees_least":"#, frees.least);
            number(text, br#","frees_most":"#, frees.most);
            if !frees.is_exact() {
                text.extend_from_slice(br#","frees_exact":false"#);
            }
        }
        if node.is_group() {
            number(text, br#","entries":"#, sums.entries);
            if totals.shared > 0 {
                number(text, br#","shared":"#, totals.shared);
            }
        } else if self.options.origin.is_some() {
            self.kept(text, &known);
        }
    }

    /// Writes the members that only a directory has, up to its children.
    fn open(&self, text: &mut Vec<u8>, directory: Child<'_>) {
        if directory.change().is_none() {
            self.totals(text, directory);
        }
        text.extend_from_slice(br#","children":["#);
    }

    fn totals(&self, text: &mut Vec<u8>, directory: Child<'_>) {
        let Node { own, sums, .. } = directory.node();
        let view = self.options.view;
        let totals = sums.seen_as(view);
        number(text, br#","entries":"#, totals.entries);
        if totals.shared > 0 {
            number(text, br#","shared":"#, totals.shared);
        }
        if self.options.origin.is_some() {
            self.figures(text, "shared_", &sums.shared, &Figures::default());
            if let Some(own) = own {
                number(text, br#","own":"#, view.size(&own));
                self.figures(text, "own_", &own, &Figures::counts_of(Kind::Directory));
            }
        }
    }

    /// Writes those `figures` of a snapshot that are not the size, and not as `usual`. Their members begin with
    /// `whose`.
    fn figures(&self, text: &mut Vec<u8>, whose: &str, figures: &Figures, usual: &Figures) {
        let ExportOptions { view, known, .. } = self.options;
        for measure in Measure::ALL {
            let figure = figures.get(measure);
            let is_other = measure != view.measure && known.contains(measure);
            if is_other && figure != usual.get(measure) {
                for part in [",\"", whose, measure.name()] {
                    text.extend_from_slice(part.as_bytes());
                }
                number(text, b"\":", figure);
            }
        }
    }

    /// What a snapshot keeps of a node besides its size: its other figures, unusual permissions, and the inode, with
    /// device and mount if they differ from those at the root; and its times, as far as they are kept.
    fn kept(&self, text: &mut Vec<u8>, node: &Node<'_>) {
        let Node { mode, sums: Sums { all, entries, .. }, inode, .. } = *node;
        self.figures(text, "", &all, &usual(mode.kind(), entries));
        if mode != Mode::usual(mode.kind()) {
            number(text, br#","mode":"#, mode.0);
        }
        if let Some(Inode { identity: Identity { mount, device, number: inode }, links, .. }) =
            inode
        {
            number(text, br#","inode":"#, inode);
            if self.at_root.is_none_or(|root| root.identity.device != device) {
                number(text, br#","device":"#, device);
            }
            if self.at_root.is_none_or(|root| root.identity.mount != mount) {
                number(text, br#","mount":"#, mount);
            }
            match links {
                Links::Alone => {}
                Links::Of(links) => number(text, br#","links":"#, links),
                Links::Unknown => number(text, br#","links":"#, 0),
            }
        }
        let modified = node.modified();
        if let Some(modified) = modified {
            number(text, br#","modified":"#, modified);
        }
        // Of a file it is the same. What is in a directory may not be in the snapshot.
        if mode.kind() == Kind::Directory
            && all.newest != modified
            && let Some(newest) = all.newest
        {
            number(text, br#","newest":"#, newest);
        }
        let Some(Details { changed, born, owner, group, .. }) = inode.and_then(|it| it.details)
        else {
            return;
        };
        for (field, time) in [(br#","changed":"#.as_slice(), changed), (br#","born":"#, born)] {
            if time != 0 {
                number(text, field, time);
            }
        }
        number(text, br#","owner":"#, owner);
        if let Some(group) = group {
            number(text, br#","group":"#, group);
        }
    }
}

impl<'w, 'a> OpenContent<'w, 'a> {
    /// Begins to write the members that only a directory has.
    fn begin(writer: &'w NodeWriter<'a>, text: &mut Vec<u8>, directory: Child<'a>) -> Self {
        let ExportOptions { full_paths, order, .. } = *writer.options;
        writer.open(text, directory);
        let path = if full_paths { directory.path() } else { Vec::new() };
        let traversal = Traversal::inside(path, (), directory.children(order));
        Self { writer, traversal, is_first: true }
    }

    /// Writes up to the end of its children. If parts `are_left` to others, only as much as is one, and up to the
    /// members of a directory whose content is another, which it returns.
    fn go_on(&mut self, text: &mut Vec<u8>, are_left: bool) -> Option<Child<'a>> {
        let Self { writer, traversal, is_first } = self;
        let ExportOptions { full_paths, order, .. } = *writer.options;
        while !(are_left && text.len() > LONG)
            && let Some(step) = traversal.next()
        {
            let Step::Node(node) = step else {
                text.extend_from_slice(if traversal.depth() == 0 { b"]" } else { b"]}" });
                *is_first = false;
                continue;
            };
            text.extend_from_slice(if mem::take(is_first) { b"{" } else { b",{" });
            let name = if full_paths { traversal.path() } else { writer.tree.label(node.name()) };
            writer.members(text, name, node);
            if !has_content(node) {
                text.push(b'}');
                continue;
            }
            // If every entry has a path, which may be long, the queued output would take too much memory.
            let is_short =
                !full_paths || traversal.path().len() <= LONGEST && node.directories_below() <= FEW;
            if are_left && is_short && entries(node) <= PART {
                return Some(node);
            }
            writer.open(text, node);
            traversal.enter((), node.children(order));
            *is_first = true;
        }
        None
    }
}

impl<'a> Iterator for OpenContent<'_, 'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let (mut part, mut count, mut length) = (Part::new(), 0, 0);
        while count < PART && length < LONG {
            let mut text = Vec::new();
            let directory = self.go_on(&mut text, true);
            if text.is_empty() {
                break;
            }
            count += directory.map_or(0, entries);
            length += text.len();
            part.push((text, directory));
        }
        (!part.is_empty()).then_some(part)
    }
}

/// Whether it has a list of children. In a comparison, an empty list is left out.
fn has_content(node: Child<'_>) -> bool {
    node.is_directory() && (node.change().is_none() || node.unsorted().next().is_some())
}

/// Writes JSON members that say how a node changed, and follow others.
pub fn change(out: &mut dyn Write, change: &Change<'_>) -> io::Result<()> {
    let [before, now] = [change.was, change.is]
        .map(|size| size.map_or_else(|| "null".to_owned(), |size| size.to_string()));
    write!(out, r#","before":{before},"size":{now},"change":{}"#, change.difference())?;
    change.moved_from.map_or(Ok(()), |origin| bytes(out, r#","moved_from":"#, origin))
}

/// How many entries a directory has. A file may claim fewer.
fn entries(directory: Child<'_>) -> u64 {
    directory.totals().entries.max(directory.directories_below())
}

/// Writes `before` and then `number`. With `write!`, formatting took a third of all instructions of a run.
fn number(text: &mut Vec<u8>, before: &[u8], number: impl Serialize) {
    text.extend_from_slice(before);
    let _ = serde_json::to_writer(text, &number);
}
