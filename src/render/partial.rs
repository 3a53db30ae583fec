//! Finds figures that are lower bounds, because something below them was not read. Pictures and the screen mark them.

use std::iter;

use super::lines::Line;
use super::size::Format;
use crate::measure::Kind;
use crate::path;
use crate::problem::Problem;
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
    /// Whether the walk was interrupted. Nobody knows what it did not reach.
    is_interrupted: bool,
}

impl Partial {
    /// What was not read of `weighed`.
    pub fn of(weighed: &Weighed) -> Self {
        let losses = weighed.problems.iter().filter(|problem| Problem::is_loss(problem));
        let mut lost: Vec<_> = losses.map(|problem| problem.path.clone()).collect();
        lost.sort_unstable();
        lost.dedup();
        Self { lost, is_interrupted: weighed.is_interrupted }
    }

    /// Whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.lost.is_empty() && !self.is_interrupted
    }

    /// Whether the figures of `child` lack something.
    pub fn has(&self, child: &Child<'_>) -> bool {
        if self.is_interrupted || self.lost.is_empty() {
            return self.is_interrupted && child.is_directory();
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
            Shape::Directory if !self.is_interrupted => above_losses(&lost, lines, tree),
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

/// Which lines are ancestors of what was lost. What is lost below a line is a range of what is lost below its parent,
/// because `lost` is sorted. Each name is looked up in it once, without the path before it.
fn above_losses(lost: &[&Vec<u8>], lines: &[Line<'_>], tree: &Tree) -> Vec<bool> {
    // What is lost below all roots, and then below each line; where the names of its children begin in that; and how
    // much of it is at its children or below them.
    let mut below = vec![(lost, 0, 0)];
    let mut are_partial = Vec::with_capacity(lines.len());
    let root_depth = tree.root_depth();
    for line in lines.iter().filter(|line| !line.is_rest) {
        let above = line.parent.filter(|_| line.depth > root_depth).map_or(0, |parent| parent + 1);
        // What is above several roots has no name.
        let (around, start, _) =
            if line.depth < root_depth { (&[][..], 0, 0) } else { below[above] };
        // The roots of a host have a slash, which its line ends in already.
        let is_below_host = line.depth > root_depth && line.name.starts_with(b"/");
        let name = &line.name[usize::from(is_below_host)..];
        let directory = path::join_all([name, b""]);
        let inside = &around[around.partition_point(|it| it[start..] <= *directory)..];
        let inside = &inside[..inside.partition_point(|it| it[start..].starts_with(&directory))];
        let is_lost = around.binary_search_by(|it| it[start..].cmp(name)).is_ok();
        below[above].2 += inside.len() + usize::from(is_lost);
        below.push((inside, start + directory.len(), 0));
        are_partial.push(is_lost || !inside.is_empty());
    }
    // Every loss is below the topmost line.
    are_partial[0] = true;
    // What no child has is in what has no line.
    let have_lines = iter::once(true).chain(lines.iter().map(|line| line.has_children));
    let mut all = below.iter().zip(have_lines);
    let is_in_rest = all.any(|((lost, _, known), has_lines)| has_lines && *known < lost.len());
    are_partial.resize(lines.len(), is_in_rest);
    are_partial
}
