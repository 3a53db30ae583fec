//! The roots of a snapshot after filters. A walk leaves out a root inside another one, because it reaches it from
//! there. If a filter leaves out the directories between them, the inner root is a root of its own again.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::Origin;
use crate::base::path::LONGEST;
use crate::scan::filter::{DirectoryFilter, Filter, Verdict};
use crate::tree::total::stat_of;
use crate::tree::{Child, DirectoryId, Tree};

/// A root in a snapshot.
pub(super) struct SavedRoot<'t> {
    /// Its name, as given.
    pub(super) name: &'t [u8],
    /// Its absolute path.
    pub(super) place: PathBuf,
    pub(super) node: Child<'t>,
    /// Whether the walk left it out because it is inside another root.
    pub(super) was_inside: bool,
}

impl SavedRoot<'_> {
    /// The filters for its entries.
    pub(super) fn for_directory<'f>(&self, filter: &'f Filter) -> DirectoryFilter<'f> {
        filter.for_root(self.name, || self.place.clone())
    }
}

/// The roots of `tree`, and the inner roots that `filter` separates from them.
pub(super) fn roots<'t>(tree: &'t Tree, origin: &'t Origin, filter: &Filter) -> Vec<SavedRoot<'t>> {
    /// So many outer roots are looked at for each, the innermost first. Only a forged header has more.
    const MOST_OUTER: usize = 16;
    let named = origin.roots.iter().filter_map(|root| Some((root.name.as_deref()?, root.place())));
    let places: HashMap<_, _> = named.clone().collect();
    let mut roots = Vec::new();
    for node in tree.roots() {
        let name = node.name();
        let place = match places.get(name) {
            Some(place) => place.to_path_buf(),
            // There is nothing below an entry that is not a directory.
            None if node.id().is_some() => origin.likely_place(name),
            None => PathBuf::new(),
        };
        roots.push(SavedRoot { name, place, node, was_inside: false });
    }
    if places.len() <= roots.len() {
        return roots;
    }
    // Outer roots come first. Nothing can be at a path that is too long to open.
    let mut given: Vec<_> = named.filter(|(_, place)| place.as_os_str().len() <= LONGEST).collect();
    given.sort_by_key(|(_, place)| place.as_os_str().len());
    let mut known: HashMap<PathBuf, (&[u8], Child<'_>)> =
        roots.iter().map(|root| (root.place.clone(), (root.name, root.node))).collect();
    let mut listings = Listings::default();
    for (name, place) in given {
        if known.contains_key(&*place) {
            continue;
        }
        // The entry that it is, and whether filters leave out nothing between it and an outer root.
        let (mut found, mut is_inside) = (None, false);
        let around = place.ancestors().skip(1);
        let outer_roots = around.filter_map(|above| Some((above, *known.get(above)?)));
        for (above, (outer, child)) in outer_roots.take(MOST_OUTER) {
            let Ok(way) = place.strip_prefix(above) else { continue };
            let Some((child, is_clear)) = listings.follow((outer, above, child), way, filter)
            else {
                continue;
            };
            found = Some(child);
            is_inside = is_clear;
            if is_inside {
                break;
            }
        }
        // What is below a root inside another is reached from the outer one, by the filters of that.
        if let Some(node) = found.filter(|_| !is_inside) {
            known.insert(place.to_path_buf(), (name, node));
            roots.push(SavedRoot { name, place: place.into_owned(), node, was_inside: true });
        }
    }
    roots
}

/// The entries of directories between roots, by name. A list of roots may name every entry of a directory.
#[derive(Default)]
pub(super) struct Listings<'t>(HashMap<DirectoryId, HashMap<&'t [u8], Child<'t>>>);

impl<'t> Listings<'t> {
    /// The entry at `way` below a root, given by its name, place and node; and whether `filter` leaves out nothing on
    /// the way.
    pub(super) fn follow(
        &mut self,
        (name, place, root): (&[u8], &Path, Child<'t>),
        way: &Path,
        filter: &Filter,
    ) -> Option<(Child<'t>, bool)> {
        let (mut child, mut is_clear) = (root, true);
        let mut filters = filter.for_root(name, || place.to_owned());
        for name in way.iter().map(OsStr::as_encoded_bytes) {
            let listing = self
                .0
                .entry(child.id()?)
                .or_insert_with(|| child.unsorted().map(|child| (child.name(), child)).collect());
            child = *listing.get(name)?;
            let stat = stat_of(&child.node());
            let verdict = filters.verdict(name, stat.is_directory());
            is_clear &= filters.confirm(verdict, &stat) != Verdict::LeftOut;
            filters.enter(name);
        }
        Some((child, is_clear))
    }
}
