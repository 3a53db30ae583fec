//! Finds names and paths in two trees. Each directory is searched once, however many lookups there are. To search a
//! directory of 200,000 files for each of them took minutes.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::diff::Sides;
use crate::path::LONGEST;
use crate::tree::Child;

/// What was found so far, by number; the root first.
#[derive(Debug)]
pub struct Lookup<'a> {
    found: Vec<Found<'a>>,
    /// The number of each entry, by the number of its directory and its name.
    numbers: HashMap<(usize, &'a [u8]), usize, RandomState>,
}

/// The number of everything that is in neither tree.
const NOWHERE: usize = 1;

#[derive(Clone, Copy, Debug)]
struct Found<'a> {
    sides: Sides<'a>,
    /// Whether its entries were added.
    is_open: bool,
}

const NEITHER: Found<'_> = Found { sides: Sides { before: None, now: None }, is_open: false };

impl<'a> Lookup<'a> {
    /// The number of the root.
    pub const ROOT: usize = 0;

    /// A lookup that knows only the root.
    pub fn new(root: Sides<'a>) -> Self {
        let found = vec![Found { sides: root, ..NEITHER }, NEITHER];
        Self { found, numbers: HashMap::default() }
    }

    /// The entry with this number.
    pub fn sides(&self, number: usize) -> Sides<'a> {
        self.found[number].sides
    }

    /// The number of the entry at `path` below the entry with the number `at`.
    pub fn find(&mut self, mut at: usize, path: &[u8]) -> usize {
        let mut rest = path;
        while !rest.is_empty() {
            self.open(at);
            // A root's name may contain slashes, also at its end. If anything is below it, it could be opened, so its
            // name is not too long.
            let slashes = (0..rest.len().min(LONGEST)).filter(|slash| rest[*slash] == b'/');
            let mut ends = slashes.flat_map(|slash| [slash, slash + 1]).chain([rest.len()]);
            let known = |end: usize| Some((*self.numbers.get(&(at, &rest[..end]))?, end));
            let Some((number, end)) = ends.find_map(known) else { return NOWHERE };
            at = number;
            rest = &rest[end..];
            rest = rest.strip_prefix(b"/").unwrap_or(rest);
        }
        at
    }

    /// Adds the entries of the directory with the number `at`.
    fn open(&mut self, at: usize) {
        if std::mem::replace(&mut self.found[at].is_open, true) {
            return;
        }
        let Sides { before, now } = self.found[at].sides;
        for child in before.into_iter().flat_map(Child::unsorted) {
            self.side(at, child.name()).before = Some(child);
        }
        for child in now.into_iter().flat_map(Child::unsorted) {
            self.side(at, child.name()).now = Some(child);
        }
    }

    fn side(&mut self, at: usize, name: &'a [u8]) -> &mut Sides<'a> {
        let found = &mut self.found;
        let number = *self.numbers.entry((at, name)).or_insert_with(|| {
            found.push(NEITHER);
            found.len() - 1
        });
        &mut found[number].sides
    }
}
