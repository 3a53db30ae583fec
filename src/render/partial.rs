//! Figures that lack something: what was not read lies below them. They are marked in a picture.

use std::collections::HashMap;

use super::diff::Note;
use super::lines::Line;
use crate::measure::Kind;
use crate::problem::Problem;
use crate::tree::{Shape, Tree};
use crate::weighed::Weighed;

/// Stands before a figure that is a lower bound.
pub(super) const MARK: &str = "≥";

/// What was not read.
#[derive(Clone, Debug, Default)]
pub struct Partial {
    /// The paths at which something was lost.
    lost: Vec<Vec<u8>>,
    /// Whether the walk was ended early. Nobody knows what it did not come to.
    is_interrupted: bool,
}

impl Partial {
    /// What `walked` lacks.
    pub fn of<R>(weighed: &Weighed<R>) -> Self {
        let losses = weighed.problems.iter().filter(|problem| Problem::is_loss(problem));
        let lost = losses.map(|problem| problem.path.clone()).collect();
        Self { lost, is_interrupted: weighed.is_interrupted }
    }

    /// Marks the `notes` of those `lines` whose figures lack something.
    pub(super) fn mark(&self, notes: &mut [Note], lines: &[Line<'_>], tree: &Tree) {
        if self.lost.is_empty() && !self.is_interrupted {
            return;
        }
        let is_above_all = |line: &Line<'_>| line.parent.is_none();
        let are_partial: Vec<bool> = match tree.shape() {
            // Whatever is missing may be of any group.
            Shape::Groups => vec![true; lines.len()],
            _ if self.is_interrupted => {
                let is_directory = |line: &Line<'_>| line.mode.kind() == Kind::Directory;
                lines.iter().map(|line| is_above_all(line) || is_directory(line)).collect()
            }
            Shape::List => lines.iter().map(is_above_all).collect(),
            Shape::Directory => self.above_losses(lines, tree),
        };
        let marked = notes.iter_mut().zip(are_partial).filter(|(_, is_partial)| *is_partial);
        for (note, _) in marked {
            note.size = format!("{MARK}{}", note.size.trim_start());
        }
    }

    /// Which lines are on the way to what was lost. Names and paths are taken apart at their slashes, so that it
    /// takes a step a name, however many lines and losses there are and however long their paths.
    fn above_losses(&self, lines: &[Line<'_>], tree: &Tree) -> Vec<bool> {
        let mut below: HashMap<(usize, &[u8]), usize> = HashMap::new();
        // The place of each line. Every path begins at the first.
        let mut places: Vec<usize> = Vec::with_capacity(lines.len());
        for line in lines {
            let (mut place, names) = match line.parent {
                None if tree.is_above_roots() => (0, None),
                Some(parent) if parent > 0 || !tree.is_above_roots() => {
                    (places[parent], Some(line.name))
                }
                _ => (0, Some(line.name)),
            };
            for name in names.into_iter().flat_map(names_in) {
                let next = below.len() + 1;
                place = *below.entry((place, name)).or_insert(next);
            }
            places.push(place);
        }
        let mut is_reached = vec![false; below.len() + 1];
        for path in &self.lost {
            let mut place = 0;
            for name in names_in(path) {
                let Some(next) = below.get(&(place, name)) else { break };
                place = *next;
                is_reached[place] = true;
            }
        }
        // Something is lost below the topmost line, whatever line else has it.
        let is_topmost = |i: usize| i == 0;
        places.iter().enumerate().map(|(i, place)| is_topmost(i) || is_reached[*place]).collect()
    }
}

/// The names in a path, and before them the slash of one that is absolute.
fn names_in(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slash = path.starts_with(b"/").then_some(&b"/"[..]);
    slash.into_iter().chain(path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()))
}
