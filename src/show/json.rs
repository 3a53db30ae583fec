//! Schema 1, weigh's own JSON, which `-j` prints for other programs (docs/json.md): one object, the root node with the
//! header beside it. It is written without recursion, because a tree may be deeper than any stack, and a large one by
//! all cores.

use std::io::{self, Write};
use std::mem;
use std::num::NonZeroUsize;

use serde::Serialize;

use crate::base::escape::{json_bytes as bytes, json_string as string};
use crate::base::measure::{Change, Measures, View};
use crate::base::parallel;
use crate::base::path::LONGEST;
use crate::from::snapshot::header::{end, head, list, tool};
use crate::from::snapshot::{FileSystem, Origin, Unseen};
use crate::tree::{Child, Node, Order, Report, Step, Traversal, Tree};

/// What the header contains, and how names are written.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// What the sizes are: a figure, or times.
    pub view: View,
    /// The measures that are known of each node.
    pub known: Measures,
    /// Whether `name` is a path, rather than a base name.
    pub full_paths: bool,
    /// In which order children come.
    pub order: Order,
    /// Where what is shown comes from, for forms that contain it.
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
pub fn write(out: &mut dyn Write, report: &Report, options: &ExportOptions) -> io::Result<()> {
    head(out, options.view)?;
    if let Some(origin) = &options.origin {
        place(out, origin)?;
    }
    let is_complete = report.is_complete() && !options.lacks_earlier;
    write!(out, r#","complete":{is_complete}"#)?;
    if report.is_interrupted {
        out.write_all(br#","interrupted":true"#)?;
    }
    space(out, &options.file_systems)?;
    if let Some(tree) = &report.answer {
        out.write_all(b",")?;
        NodeWriter { tree, options }.tree(out)?;
    }
    end(out, &report.problems)
}

/// Writes the reason why there is no result: the first line of `text` is the error, and the rest is the way out.
///
/// # Errors
/// The writer's.
pub fn failure(out: &mut dyn Write, text: &str) -> io::Result<()> {
    let (error, hint) = text.split_once('\n').unwrap_or((text, ""));
    tool(out)?;
    bytes(out, r#","error":"#, error.as_bytes())?;
    if !hint.is_empty() {
        bytes(out, r#","hint":"#, hint.as_bytes())?;
    }
    out.write_all(b"}\n")
}

/// When and where it was weighed, as far as that is known: as in the header of a snapshot.
fn place(out: &mut dyn Write, origin: &Origin) -> io::Result<()> {
    if origin.time == 0 || origin.host.is_empty() {
        return Ok(());
    }
    write!(out, r#","time":{}"#, origin.time)?;
    bytes(out, r#","host":"#, &origin.host)?;
    list(out, r#","roots":"#, &origin.roots, |out, root| {
        bytes(out, r#"{"path":"#, &root.path)?;
        out.write_all(b"}")
    })
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
        let content = OpenContent::begin(&self, &mut text, root);
        out.write_all(&text)?;
        let threads = self.options.threads.map_or(0, NonZeroUsize::get);
        parallel::in_order(threads, content, |part| self.part(part), |text| out.write_all(&text))
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
        let Node { sums, note, .. } = node.node();
        let totals = sums.totals_in(self.options.view);
        // Seconds before or after the epoch; null for a directory in which nothing has a time.
        match self.options.view.by_time {
            false => number(text, br#","size":"#, totals.size),
            true => number(text, br#","size":"#, totals.newest),
        }
        if !note.is_empty() {
            let _ = bytes(text, r#","note":"#, note.as_bytes());
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
        }
    }

    /// Writes the members that only a directory has, up to its children.
    fn open(&self, text: &mut Vec<u8>, directory: Child<'_>) {
        if directory.change().is_none() {
            let totals = directory.node().sums.totals_in(self.options.view);
            number(text, br#","entries":"#, totals.entries);
            if totals.shared > 0 {
                number(text, br#","shared":"#, totals.shared);
            }
        }
        text.extend_from_slice(br#","children":["#);
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

/// What file systems hold besides the files that the walk saw.
fn space(out: &mut dyn Write, file_systems: &[FileSystem]) -> io::Result<()> {
    if file_systems.is_empty() {
        return Ok(());
    }
    list(out, r#","file_systems":"#, file_systems, |out, one| {
        bytes(out, r#"{"path":"#, &one.root)?;
        let space = &one.space;
        let [size, free, available] = [space.size, space.free, space.available];
        write!(out, r#","size":{size},"free":{free},"available":{available}"#)?;
        if space.inodes > 0 {
            write!(out, r#","inodes":{},"used_inodes":{}"#, space.inodes, space.used_inodes)?;
        }
        if let Some((unseen, unexplained)) = one.unseen().zip(one.unexplained()) {
            write!(out, r#","unseen":{unseen},"unexplained":{unexplained}"#)?;
        }
        list(out, r#","causes":"#, &one.causes, |out, cause| {
            let name = cause.name.replace(' ', "_");
            write!(out, r#"{{"cause":"{name}","size":{}"#, cause.size)?;
            if cause.shared > 0 {
                write!(out, r#","shared":{}"#, cause.shared)?;
            }
            if let Some(files) = cause.files {
                write!(out, r#","files":{files}"#)?;
            }
            list(out, r#","parts":"#, &cause.parts, part)?;
            out.write_all(b"}")
        })?;
        list(out, r#","not_in_df":"#, &one.left_out, part)?;
        let unknown: Vec<_> = one.all_unknown().map(ToString::to_string).collect();
        list(out, r#","not_looked_at":"#, &unknown, |out, what| string(out, what))?;
        out.write_all(b"}")
    })
}

/// A part of what is in no file that was seen.
fn part(out: &mut dyn Write, Unseen { size, name, holders, held_by }: &Unseen) -> io::Result<()> {
    bytes(out, r#"{"name":"#, name)?;
    if let Some(size) = size {
        write!(out, r#","size":{size}"#)?;
    }
    if *held_by > 0 {
        write!(out, r#","held_by":{held_by}"#)?;
        list(out, r#","holders":"#, holders, |out, holder| {
            write!(out, r#"{{"pid":{}"#, holder.pid)?;
            bytes(out, r#","command":"#, &holder.command)?;
            out.write_all(b"}")
        })?;
    }
    out.write_all(b"}")
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
