//! Finds figures that are lower bounds, because something below them was not read. Pictures and the screen mark them.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use super::lines::Line;
use super::size::Format;
use crate::measure::Kind;
use crate::path;
use crate::problem::{Operation, Problem};
use crate::tree::{Child, Freeable, Shape, Tree};
use crate::weighed::Weighed;

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
    /// The paths that could not be read, sorted.
    lost: Vec<Vec<u8>>,
    /// Whether the walk was interrupted.
    is_interrupted: bool,
    /// Whether nobody knows which directories it did not finish.
    is_unknown: bool,
}

impl Partial {
    /// What was not read of `weighed`.
    pub fn of(weighed: &Weighed) -> Self {
        let losses = weighed.problems.iter().filter(|problem| Problem::is_loss(problem));
        let roots = weighed.report.iter().flat_map(Tree::roots).filter(|root| root.is_directory());
        let roots: Vec<_> = roots.map(|root| root.path()).collect();
        // A git index, or rules for what to ignore, may be outside all roots, and concern any of them. What else is
        // lost outside them is another root.
        let (outside, inside): (Vec<_>, Vec<_>) = losses.partition(|problem| {
            let is_in = |root: &Vec<u8>| path::is_within(&problem.path, root);
            problem.operation == Operation::Read && !roots.is_empty() && !roots.iter().any(is_in)
        });
        let mut lost: Vec<_> = inside.into_iter().map(|problem| problem.path.clone()).collect();
        lost.extend(roots.into_iter().filter(|_| !outside.is_empty()));
        let Weighed { is_interrupted, unfinished, .. } = weighed;
        lost.extend(unfinished.iter().flatten().cloned());
        lost.sort_unstable();
        lost.dedup();
        let is_interrupted = *is_interrupted;
        Self { lost, is_interrupted, is_unknown: is_interrupted && unfinished.is_none() }
    }

    /// Whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.lost.is_empty() && !self.is_interrupted
    }

    /// Whether the figures of `child` lack something.
    pub fn has(&self, child: &Child<'_>) -> bool {
        if self.is_unknown || self.lost.is_empty() {
            return self.is_unknown && child.is_directory();
        }
        let path = child.path();
        let below = path::join_all([&*path, b""]);
        let first = self.lost.partition_point(|lost| *lost < below);
        self.lost.binary_search(&path).is_ok()
            || self.lost.get(first).is_some_and(|lost| lost.starts_with(&below))
    }

    /// Marks those of `lines` whose figures lack something. The line that sums up the rest comes last, if there is one.
    pub(super) fn mark_lines(&self, lines: &mut [Line<'_>], tree: &Tree) {
        // Another root may be lost as a whole.
        let root = tree.root().name();
        let lost: Vec<_> = self.lost.iter().filter(|lost| path::is_within(lost, root)).collect();
        if lost.is_empty() && !self.is_interrupted {
            return;
        }
        let are_partial = match tree.shape() {
            Shape::Directory if !self.is_unknown => above_losses(&lost, lines, tree),
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
}

/// Which lines are ancestors of what was lost. It looks up one name after the other, so it takes one step for
/// each name, however many lines and losses there are and however long their paths.
fn above_losses(lost: &[&Vec<u8>], lines: &[Line<'_>], tree: &Tree) -> Vec<bool> {
    // A number for each path to a line, by the number of the path above it and the last name. The empty path has 0.
    let mut numbers: HashMap<(usize, &[u8]), usize> = HashMap::new();
    let mut of_lines: Vec<usize> = Vec::with_capacity(lines.len());
    let root_depth = tree.root_depth();
    for line in lines.iter().filter(|line| !line.is_rest) {
        let mut number = match line.parent {
            Some(parent) if line.depth > root_depth => of_lines[parent],
            _ => 0,
        };
        // What is above several roots has no name. A host's line ends in the slash that its roots begin with.
        let name = match line.depth.cmp(&root_depth) {
            Ordering::Less => b"",
            Ordering::Equal => line.name,
            Ordering::Greater => line.name.strip_prefix(b"/").unwrap_or(line.name),
        };
        for name in names_in(name) {
            let next = numbers.len() + 1;
            number = *numbers.entry((number, name)).or_insert(next);
        }
        of_lines.push(number);
    }
    let with_lines: HashSet<usize> = numbers.keys().map(|(above, _)| *above).collect();
    let (mut is_reached, mut is_in_rest) = (vec![false; numbers.len() + 1], false);
    for path in lost {
        let mut number = 0;
        for name in names_in(path) {
            let Some(next) = numbers.get(&(number, name)) else {
                // There are lines below this path, and none has this name: the loss is in what has no line.
                is_in_rest |= with_lines.contains(&number);
                break;
            };
            number = *next;
            is_reached[number] = true;
        }
    }
    let mut are_partial: Vec<_> = of_lines.iter().map(|number| is_reached[*number]).collect();
    // Every loss is below the topmost line.
    are_partial[0] = true;
    are_partial.resize(lines.len(), is_in_rest);
    are_partial
}

/// The names in a path, and before them the slash of one that is absolute.
fn names_in(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slash = path.starts_with(b"/").then_some(&b"/"[..]);
    slash.into_iter().chain(path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()))
}
