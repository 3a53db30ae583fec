//! The lines of a picture: the nodes of a tree, laid out without recursion.

use std::cmp::{Ordering, Reverse};
use std::{iter, mem};

use crate::base::measure::{Change, Mode};
use crate::base::path;
use crate::tree::tally::Limits;
use crate::tree::{Order, Step, Totals, Traversal, Tree};

/// A line of the picture.
#[derive(Default)]
pub(super) struct Line<'a> {
    pub(super) parent: Option<usize>,
    pub(super) depth: usize,
    /// How many levels of the tree are drawn above it.
    pub(super) indent: usize,
    /// Whether it is drawn farthest from the parent directory, of all siblings.
    pub(super) is_last: bool,
    /// Whether it has no siblings.
    pub(super) is_only: bool,
    pub(super) has_children: bool,
    /// The directories before its name, if it stands for them as well.
    pub(super) chain: Vec<&'a [u8]>,
    pub(super) name: &'a [u8],
    pub(super) mode: Mode,
    pub(super) totals: Totals,
    /// What else is known of it.
    pub(super) note: &'a str,
    /// How it changed, in a comparison. In a box, because other pictures do not need the room.
    pub(super) change: Option<Box<Change<'a>>>,
    /// Whether it is an inode that counts, as far as the tree knows.
    pub(super) has_own: bool,
    /// Whether it sums up everything without a line of its own.
    pub(super) is_rest: bool,
    /// Whether its figures lack something that was not read.
    pub(super) is_partial: bool,
    /// What a picture has before its name, and after it.
    pub(super) figures: String,
    pub(super) aside: String,
}

impl Line<'_> {
    /// Whether its path may be short enough to be opened, with a slash and a byte for each level.
    pub(super) fn has_path(&self) -> bool {
        self.depth <= path::LONGEST / 2
    }

    /// Whether it grew, or shrank.
    pub(super) fn direction(&self) -> Option<Ordering> {
        self.change.as_ref().map(|change| change.difference().cmp(&0))
    }
}

/// The ancestors at which the paths of deep lines are cut. A line shows only the first and last cells of a path that is
/// too long to be opened, and each level takes at least one cell, for a slash. To build whole paths takes time that
/// grows with the square of the depth.
pub(super) struct Outer {
    /// How many levels are kept at either end of a path.
    levels: usize,
    /// For each line, its ancestor at that depth; the line itself if it is not deeper.
    ends: Vec<usize>,
}

impl Outer {
    /// For `lines` of at most `width` cells.
    pub(super) fn of(lines: &[Line<'_>], width: usize) -> Self {
        let levels = width.max(1);
        let mut ends: Vec<usize> = Vec::with_capacity(lines.len());
        for (i, line) in lines.iter().enumerate() {
            ends.push(match line.parent {
                Some(parent) if lines[parent].depth >= levels => ends[parent],
                _ => i,
            });
        }
        Self { levels, ends }
    }
}

/// The path of a line: the root as given, and the names below it. The middle of a path that cannot
/// be opened is missing.
pub(super) fn path(lines: &[Line<'_>], line: usize, root: &Tree, outer: &Outer) -> Vec<u8> {
    let mut names = names_of(&lines[line]);
    let mut at = lines[line].parent;
    while let Some(mut above) = at {
        if !lines[line].has_path() && names.len() == outer.levels {
            above = outer.ends[above];
        }
        if lines[above].depth >= root.root_depth() {
            names.extend(names_of(&lines[above]));
        }
        at = lines[above].parent;
    }
    path::join_all(names.into_iter().rev())
}

/// Keeps the lines that tell most: as many below the root's as `limits` admit once those that `may_join` are joined,
/// and all roots, if `limits` says so. The others were candidates.
///
/// A line tells as much as its size. Only the largest entry of a directory tells no more than it leaves to the
/// others, because the directory's own line has told the rest: so breadth comes before depth. A directory tells as
/// much as the best line in it. So what is left out is never larger than a line that is kept beside it.
pub(super) fn choose<'a>(
    lines: Vec<Line<'a>>,
    limits: &Limits,
    by_time: bool,
    root_depth: usize,
    may_join: impl Fn(&Line<'_>, &Line<'_>) -> bool,
) -> Vec<Line<'a>> {
    if lines.len() <= limits.lines {
        return lines;
    }
    let values = values(&lines, by_time);
    let is_root = |line: &Line<'_>| line.parent.is_some() && line.depth == root_depth;
    let are_kept = lines.iter().filter(|line| is_root(line)).count() <= limits.roots;
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by_key(|&i| {
        let line = &lines[i];
        // Of two that tell as much, the larger one: else it would hide behind a smaller entry of its directory.
        let weight = Reverse(line.totals.weight);
        (i > 0 && !(are_kept && is_root(line)), Reverse(values[i]), weight, line.depth, line.name)
    });
    let (mut rows, mut is_full) = (0, false);
    let mut is_kept = vec![false; lines.len()];
    // For each line, how many lines it leads to, and whether it shares a row with the only one.
    let mut children = vec![(0_usize, false); lines.len()];
    for i in order {
        let line = &lines[i];
        let Some(parent) = line.parent else {
            is_kept[i] = true;
            continue;
        };
        let above = &lines[parent];
        let is_shared =
            children[parent].0 == 0 && above.depth > root_depth && may_join(above, line);
        let needed = match children[parent] {
            _ if is_shared => 0,
            (1, true) => 2,
            _ => 1,
        };
        is_full |= rows + needed > limits.lines && !(are_kept && is_root(line));
        if is_kept[parent] && (!is_full || is_shared) {
            (is_kept[i], children[parent]) = (true, (children[parent].0 + 1, is_shared));
            rows += needed;
        }
    }
    keep(lines, &is_kept)
}

/// How much each line tells.
fn values(lines: &[Line<'_>], by_time: bool) -> Vec<i128> {
    let weight = |i: usize| lines[i].totals.weight;
    // The two largest entries of each directory.
    let mut largest = vec![(0, 0); lines.len()];
    for (i, line) in lines.iter().enumerate() {
        let Some(parent) = line.parent else { continue };
        let (first, second) = &mut largest[parent];
        *second = (*second).max(weight(i).min(*first));
        *first = (*first).max(weight(i));
    }
    let mut values: Vec<i128> = (0..lines.len())
        .map(|i| match (lines[i].parent, lines[i].totals.newest) {
            (_, newest) if by_time => newest.map_or(i128::MIN, i128::from),
            (Some(parent), _) if weight(i) == largest[parent].0 => {
                let others = weight(parent).saturating_sub(weight(i)).max(largest[parent].1);
                weight(i).min(others).into()
            }
            _ => weight(i).into(),
        })
        .collect();
    for i in (0..lines.len()).rev() {
        if let Some(parent) = lines[i].parent {
            values[parent] = values[parent].max(values[i]);
        }
    }
    values
}

/// The lines for which `is_kept` is true. Each leads to the root over such lines.
fn keep<'a>(lines: Vec<Line<'a>>, is_kept: &[bool]) -> Vec<Line<'a>> {
    let mut numbers = vec![0; lines.len()];
    let mut kept: Vec<Line<'a>> = Vec::new();
    for (i, mut line) in lines.into_iter().enumerate().filter(|(i, _)| is_kept[*i]) {
        numbers[i] = kept.len();
        line.parent = line.parent.map(|parent| numbers[parent]);
        kept.push(line);
    }
    relate(&mut kept);
    kept
}

/// Says of each line which others there are around it.
fn relate(lines: &mut [Line<'_>]) {
    // For each line, how many lines it leads to, and the last one.
    let mut children = vec![(0, 0); lines.len()];
    for (i, line) in lines.iter().enumerate() {
        if let Some(parent) = line.parent {
            children[parent] = (children[parent].0 + 1, i);
        }
    }
    for (i, line) in lines.iter_mut().enumerate() {
        line.has_children = children[i].0 > 0;
        let (siblings, last) = line.parent.map_or((0, i), |parent| children[parent]);
        (line.is_last, line.is_only) = (i == last, siblings == 1);
    }
}

/// Joins chains of directories: the line of an only child stands for the directories above it, too, if they are
/// below `root_depth`, and each line `says` the same as the one above it.
pub(super) fn join<'a>(
    lines: Vec<Line<'a>>,
    root_depth: usize,
    says: impl Fn(&Line<'_>, &Line<'_>) -> bool,
) -> Vec<Line<'a>> {
    let mut joined: Vec<Line<'a>> = Vec::with_capacity(lines.len());
    // For each line, the number of the one that stands for it.
    let mut stand: Vec<usize> = Vec::with_capacity(lines.len());
    for (i, mut line) in lines.into_iter().enumerate() {
        stand.push(joined.len());
        let Some(parent) = line.parent else {
            joined.push(line);
            continue;
        };
        let (at, above) = (stand[parent], &mut joined[stand[parent]]);
        if line.is_only && above.depth > root_depth && says(above, &line) {
            line.chain = mem::take(&mut above.chain);
            line.chain.push(above.name);
            (line.parent, line.indent) = (above.parent, above.indent);
            (line.is_last, line.is_only) = (above.is_last, above.is_only);
            joined[at] = line;
            stand[i] = at;
        } else {
            (line.parent, line.indent) = (Some(at), above.indent + 1);
            joined.push(line);
        }
    }
    joined
}

/// The name of a line and of the directories it stands for, innermost first.
fn names_of<'a>(line: &Line<'a>) -> Vec<&'a [u8]> {
    iter::once(line.name).chain(line.chain.iter().rev().copied()).collect()
}

/// The lines from the root down, siblings in `order`; backwards, if `is_backwards`.
pub(super) fn lay_out(tree: &Tree, order: Order, is_backwards: bool) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut traversal = Traversal::new(tree.root());
    while let Some(step) = traversal.next() {
        let Step::Node(node) = step else { continue };
        let mut children = node.children(order);
        if is_backwards {
            children.reverse();
        }
        let (line, depth) = (lines.len(), traversal.depth());
        let known = node.node();
        lines.push(Line {
            parent: traversal.innermost().copied(),
            depth,
            indent: depth,
            name: node.shown_name(),
            mode: node.mode(),
            totals: known.totals_in(node.view()),
            note: known.note,
            change: known.change.map(Box::new),
            has_own: !node.is_directory() || known.own.is_some(),
            ..Line::default()
        });
        traversal.enter(line, children);
    }
    relate(&mut lines);
    lines
}
