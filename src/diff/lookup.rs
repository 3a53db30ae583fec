//! Finds in two trees what has a name, or a path. Each directory is looked through once, however
//! many ask: one of 200,000 files, asked for each of them, took minutes.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::diff::Sides;
use crate::path::LONGEST;
use crate::tree::Child;

/// What has been found so far, by number; the root first.
#[derive(Debug)]
pub struct Lookup<'a> {
    found: Vec<Found<'a>>,
    /// By the number of what it is in, and its name.
    numbers: HashMap<(usize, &'a [u8]), usize, RandomState>,
}

/// The number of what is in neither tree.
const NOWHERE: usize = 1;

#[derive(Clone, Copy, Debug)]
struct Found<'a> {
    sides: Sides<'a>,
    /// Whether what is in it has been found.
    is_open: bool,
}

const NEITHER: Found<'_> = Found { sides: Sides { before: None, now: None }, is_open: false };

impl<'a> Lookup<'a> {
    /// The number of the root.
    pub const ROOT: usize = 0;

    /// Nothing but the root.
    pub fn new(root: Sides<'a>) -> Self {
        let found = vec![Found { sides: root, ..NEITHER }, NEITHER];
        Self { found, numbers: HashMap::default() }
    }

    /// What has this number.
    pub fn sides(&self, number: usize) -> Sides<'a> {
        self.found[number].sides
    }

    /// The number of what lies at `path` below what has the number `at`.
    pub fn find(&mut self, mut at: usize, path: &[u8]) -> usize {
        let mut rest = path;
        while !rest.is_empty() {
            self.open(at);
            // A root's name may have slashes in it, also at its end; but what has anything below it could be
            // opened.
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

    /// Finds what is in what has the number `at`.
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
