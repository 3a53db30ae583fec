//! Finds figures that are lower bounds, because something below them was not read. Pictures and the screen mark them.

use std::ops::Range;

use super::lines::Line;
use super::size::Format;
use crate::base::measure::Kind;
use crate::base::path;
use crate::sys::problem::{Operation, Problem};
use crate::tree::{Child, Freeable, Report, Shape, Tree};

/// Stands before a figure that is a lower bound.
pub(super) const MARK: &str = "≥";

/// `figure`, marked if it is a lower bound.
pub fn mark(figure: String, is_partial: bool) -> String {
    match is_partial && !figure.is_empty() {
        true => format!("{MARK}{}", figure.trim_start()),
        false => figure,
    }
}

/// What deleting something frees. What could not be read may be freed, too.
pub fn freed(frees: Freeable, format: &Format, is_partial: bool) -> String {
    match is_partial {
        true => mark(format.write(frees.least), true),
        false => format.write_bounds(frees),
    }
}

/// What was not read.
#[derive(Clone, Debug, Default)]
pub struct Partial {
    /// Sorted, so that those at an entry and below it come together.
    lost: Vec<Loss>,
    /// Whether the walk was interrupted.
    is_interrupted: bool,
    /// Whether nobody knows which directories it did not finish.
    is_unknown: bool,
}

/// Something that was not read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Loss {
    /// The names in its path, each with a zero byte after it.
    names: Vec<u8>,
    /// Whether only its content was not read. A file then lacks nothing: it held ignore rules or a git index.
    is_content: bool,
}

/// The losses at an entry and below it.
#[derive(Clone, Debug)]
pub(super) struct Losses {
    range: Range<usize>,
    /// How many bytes the names in the entry's path take.
    names: usize,
}

impl Losses {
    fn len(&self) -> usize {
        self.range.len()
    }
}

/// The path of each loss of `report`, and whether only its content was not read. Losses outside all roots concern any
/// of them, so each root has one for them.
pub(super) fn losses(report: &Report) -> Vec<(Vec<u8>, bool)> {
    let losses = report.problems.iter().filter(|problem| Problem::is_loss(problem));
    let roots = report.answer.iter().flat_map(Tree::roots).filter(|root| root.is_directory());
    let roots: Vec<_> = roots.map(|root| root.path()).collect();
    // A git index, or rules for what to ignore, may be outside all roots. What else is lost outside them is another
    // root.
    let (outside, inside): (Vec<_>, Vec<_>) = losses.partition(|problem| {
        let is_in = |root: &Vec<u8>| path::is_within(&problem.path, root);
        problem.operation == Operation::Read && !roots.is_empty() && !roots.iter().any(is_in)
    });
    let mut losses: Vec<_> = inside
        .into_iter()
        .map(|problem| (problem.path.clone(), problem.operation == Operation::Read))
        .collect();
    losses.extend(roots.into_iter().filter(|_| !outside.is_empty()).map(|root| (root, false)));
    losses
}

impl Partial {
    /// What was not read of `report`.
    pub fn of(report: &Report) -> Self {
        let content = losses(report).into_iter();
        let unfinished = report.unfinished.iter().flatten();
        let mut lost: Vec<_> = content
            .chain(unfinished.map(|path| (path.clone(), true)))
            .map(|(path, is_content)| {
                let parts: Vec<&[u8]> = names_in(&path).flat_map(|name| [name, &[0]]).collect();
                Loss { names: parts.concat(), is_content }
            })
            .collect();
        lost.sort_unstable();
        lost.dedup();
        let is_interrupted = report.is_interrupted;
        let is_unknown = is_interrupted && report.unfinished.is_none();
        Self { lost, is_interrupted, is_unknown }
    }

    /// Whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.lost.is_empty() && !self.is_interrupted
    }

    /// Whether the figures of `child` lack something.
    pub fn has(&self, child: &Child<'_>) -> bool {
        !self.is_empty() && self.has_at(&child.path(), child.is_directory())
    }

    /// Whether the figures of the entry at `path` lack something.
    pub(super) fn has_at(&self, path: &[u8], is_directory: bool) -> bool {
        self.is_unknown && is_directory || self.lacks(&self.at(&self.all(), path), is_directory)
    }

    /// All losses.
    fn all(&self) -> Losses {
        Losses { range: 0..self.lost.len(), names: 0 }
    }

    /// Those of the losses `above` that are at the entry `name`, which may have several names, or below it.
    fn at(&self, above: &Losses, name: &[u8]) -> Losses {
        names_in(name).fold(above.clone(), |Losses { range, names }, name| {
            let lost = &self.lost[range.clone()];
            let is_before = |loss: &Loss| loss.names[names..].iter().lt(name.iter().chain(&[0]));
            let start = lost.partition_point(is_before);
            let is_within = |loss: &Loss| {
                let rest = loss.names[names..].strip_prefix(name);
                rest.is_some_and(|rest| rest.starts_with(&[0]))
            };
            let count = lost[start..].partition_point(is_within);
            let start = range.start + start;
            Losses { range: start..start + count, names: names + name.len() + 1 }
        })
    }

    /// Those of the losses `above` that are at the node with this name, or below it.
    pub(super) fn at_node(&self, above: Option<&Losses>, name: &[u8]) -> Losses {
        match above {
            // A host's name ends in the slash that the names of its roots begin with.
            Some(above) if above.names > 0 => {
                self.at(above, name.strip_prefix(b"/").unwrap_or(name))
            }
            // What is above several roots has no name.
            _ => self.at(&self.all(), name),
        }
    }

    /// Whether an entry lacks something, if these are the losses at it and below it.
    fn lacks(&self, losses: &Losses, is_directory: bool) -> bool {
        let mut lost = self.lost[losses.range.clone()].iter();
        lost.any(|loss| is_directory || !loss.is_content)
    }

    /// How many of the `losses` are below the entry.
    fn below(&self, losses: &Losses) -> usize {
        let lost = self.lost[losses.range.clone()].iter();
        losses.len() - lost.take_while(|loss| loss.names.len() == losses.names).count()
    }

    /// Whether a node was not read, or something in it that has no node, if these are the `losses` at it and below it.
    pub(super) fn is_unread(&self, losses: &Losses, node: &Child<'_>, is_top: bool) -> bool {
        if is_top && (self.is_interrupted || self.lost.len() > self.in_tree(node).len()) {
            return true;
        }
        if losses.len() == 0 || !node.is_directory() {
            return self.lacks(losses, false);
        }
        let in_children = node.unsorted().filter_map(|child| {
            let losses = self.at_node(Some(losses), child.name());
            self.lacks(&losses, child.is_directory()).then_some(losses.len())
        });
        losses.len() > in_children.sum()
    }

    /// Those at the topmost node of a tree and below it. Another root may be lost as a whole.
    fn in_tree(&self, root: &Child<'_>) -> Losses {
        self.at_node(None, root.name())
    }

    /// Marks those of `lines` whose figures lack something. The line that sums up the rest comes last, if there is one.
    pub(super) fn mark_lines(&self, lines: &mut [Line<'_>], tree: &Tree) {
        if self.in_tree(&tree.root()).len() == 0 && !self.is_interrupted {
            return;
        }
        let are_partial = match tree.shape() {
            Shape::Directory if !self.is_unknown => self.above_losses(lines, tree),
            // What is missing may belong to any group.
            Shape::Groups => vec![true; lines.len()],
            _ => lines.iter().map(|line| self.may_lack(line)).collect(),
        };
        for (line, is_partial) in lines.iter_mut().zip(are_partial) {
            line.is_partial = is_partial;
        }
    }

    /// Whether a line may lack something, if nobody knows where that is.
    fn may_lack(&self, line: &Line<'_>) -> bool {
        let is_above_all = line.parent.is_none() || line.is_rest;
        is_above_all || self.is_interrupted && line.mode.kind() == Kind::Directory
    }

    /// Which lines are ancestors of what was lost. It narrows the losses by one name after the other, however long
    /// their paths are.
    fn above_losses(&self, lines: &[Line<'_>], tree: &Tree) -> Vec<bool> {
        let mut losses: Vec<Losses> = Vec::with_capacity(lines.len());
        // How many losses are below each line, and below no line below it; none where it is the last one.
        let mut unlined: Vec<(usize, bool)> = Vec::with_capacity(lines.len());
        for line in lines.iter().filter(|line| !line.is_rest) {
            let here = match line.parent {
                // Above several roots, its line says so.
                None => self.in_tree(&tree.root()),
                Some(parent) => self.at_node(Some(&losses[parent]), line.name),
            };
            if let Some(parent) = line.parent {
                let (count, has_lines) = &mut unlined[parent];
                (*count, *has_lines) = (count.saturating_sub(here.len()), true);
            }
            unlined.push((self.below(&here), false));
            losses.push(here);
        }
        let is_in_rest = unlined.iter().any(|(count, has_lines)| *has_lines && *count > 0);
        let are_directories = lines.iter().map(|line| line.mode.kind() == Kind::Directory);
        let mut are_partial: Vec<_> =
            losses.iter().zip(are_directories).map(|(it, kind)| self.lacks(it, kind)).collect();
        are_partial.resize(lines.len(), is_in_rest);
        are_partial
    }
}

/// The names in a path, and before them the slash of one that is absolute.
fn names_in(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slash = path.starts_with(b"/").then_some(&b"/"[..]);
    slash.into_iter().chain(path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()))
}
