//! Weighs a snapshot again, with filters. It weighs as a walk does, with the same filters and the
//! same sums, but it knows only what the snapshot contains.
//!
//! The tree is in memory, and the result is a new tree. A filter needs a directory's name before the directory's
//! content, and a snapshot may have them in the other order.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use super::roots::{SavedRoot, roots};
use super::{Origin, Snapshot};
use crate::base::measure::Mode;
use crate::base::path::{self, LONGEST};
use crate::scan::filter::{DirectoryFilter, Filter, Verdict};
use crate::sys;
use crate::sys::problem::{Operation, Problem};
use crate::tree::tally::{Inodes, Whole};
use crate::tree::total::{AnyReplay, Replay, Rules, Shown, stat_of};
use crate::tree::{Child, Content, Named, Node, Shape, Step, Traversal, Tree};

/// Applies `filter` to `snapshot`, and keeps of its inodes what `keep` says.
///
/// # Errors
/// If something is left out, and the snapshot does not contain enough to add up the rest.
pub fn reweigh(snapshot: &mut Snapshot, filter: &Filter, keep: Inodes) -> io::Result<()> {
    let tree = snapshot.report.answer.as_ref().filter(|_| !filter.is_off());
    let Some((tree, origin)) = tree.zip(snapshot.origin.as_ref()) else { return Ok(()) };
    let mut reweigher = Reweigher { filter, origin, is_less: false };
    let roots = roots(tree, origin, filter);
    let left = reweigher.tree(tree, &roots, keep);
    if reweigher.is_less && origin.follows() {
        let other_ways = "symlinks were followed, and may lead to what would be left out";
        return Err(io::Error::other(other_ways));
    }
    let (inside, walked): (Vec<_>, Vec<_>) = roots.iter().partition(|root| root.was_inside);
    let met = RootsOfErrors {
        given: origin.roots.iter().filter_map(|root| root.name.as_deref()).collect(),
        walked: walked.into_iter().map(|root| (root.name, root)).collect(),
        inside: inside.into_iter().map(|root| (root.place.as_path(), root)).collect(),
    };
    let problems = snapshot.report.problems.iter();
    let mut problems: Vec<_> =
        problems.filter_map(|problem| reweigher.problem(problem, &met)).collect();
    problems.sort_unstable();
    // Entries that could not be examined are not in the tree, but their problems may be left out, too.
    let is_less = reweigher.is_less;
    snapshot.report.problems = problems;
    if is_less {
        snapshot.report.answer = Some(left.in_view(snapshot.view));
    }
    Ok(())
}

/// Filters, and whether anything was left out.
struct Reweigher<'s> {
    filter: &'s Filter,
    origin: &'s Origin,
    /// Whether something has been left out.
    is_less: bool,
}

/// A directory that counts, or in which entries may count.
struct SavedDirectory<'r, 't> {
    /// Its name; of a root, as it was given.
    name: &'t [u8],
    node: Child<'t>,
    root: Option<&'r SavedRoot<'t>>,
    is_counted: bool,
    /// Whether its content is kept. If not, it only counts.
    is_gathered: bool,
}

impl<'r, 't> SavedDirectory<'r, 't> {
    fn new(name: &'t [u8], node: Child<'t>, root: Option<&'r SavedRoot<'t>>) -> Self {
        Self { name, node, root, is_counted: true, is_gathered: true }
    }
}

impl Named for SavedDirectory<'_, '_> {
    fn name(&self) -> &[u8] {
        self.name
    }
}

impl<'s> Reweigher<'s> {
    /// What is left of `tree`. `roots` are its roots.
    fn tree(&mut self, tree: &Tree, roots: &[SavedRoot<'_>], inodes: Inodes) -> Tree {
        let root = tree.root();
        let above_roots = Node { mode: Mode::DIRECTORY, ..Node::default() };
        let above_roots = Content::default().finish(&above_roots, Shape::Directory);
        let are_several = root.is_total() || roots.len() > 1;
        let follow = self.origin.follows();
        let rules = Rules { follow, ..Rules::default() };
        let mut replay = Replay::new(Whole { inodes }, are_several.into(), Some(rules));
        if !root.is_directory() {
            return replay.finish(&root.node());
        }
        let mut traversal = Traversal::new(match are_several {
            true => SavedDirectory::new(b"", above_roots.root(), None),
            false => SavedDirectory::new(root.name(), root, roots.first()),
        });
        let mut filters = self.filter.for_directory(None, Vec::new);
        let mut left = root.node();
        while let Some(step) = traversal.next() {
            let dir = match step {
                Step::Node(mut dir) => {
                    replay.open();
                    if let Some(root) = dir.root {
                        filters = root.for_directory(self.filter);
                        let (scope, stat) = (filters.scope.as_ref(), stat_of(&root.node.node()));
                        dir.is_counted = self.filter.admits_root(scope, root.name, &stat);
                    } else {
                        filters.enter(dir.name);
                    }
                    let scope = filters.scope.as_ref();
                    dir.is_gathered = !scope.is_some_and(|scope| scope.is_collapsed);
                    let ahead = self.begin(&dir, roots, &mut filters, &mut replay);
                    traversal.enter(dir, ahead);
                    continue;
                }
                Step::End(dir) => dir,
            };
            filters.leave();
            let node = dir.node.node();
            let own = node.own.filter(|_| dir.is_counted);
            let node = Node { name: dir.name, own, ..node };
            match traversal.innermost() {
                Some(above) if !above.is_gathered => replay.close(&node, Shown::Never),
                Some(_) if dir.root.is_some() => replay.close(&node, Shown::Always),
                Some(_) => replay.close(&node, Shown::IfCounted),
                None => left = node,
            }
        }
        replay.finish(&left)
    }

    /// Weighs the entries of `dir` except for directories, which it returns.
    fn begin<'r, 't>(
        &mut self,
        dir: &SavedDirectory<'r, 't>,
        roots: &'r [SavedRoot<'t>],
        filters: &mut DirectoryFilter<'_>,
        replay: &mut Replay<Whole>,
    ) -> Vec<SavedDirectory<'r, 't>> {
        // Unless it was left out before, a directory has, or may have, a size of its own.
        self.is_less |= !dir.is_gathered || !dir.is_counted && dir.node.own().is_some();
        let mut ahead = Vec::new();
        if dir.name.is_empty() {
            for root @ SavedRoot { name, node, .. } in roots {
                if node.is_directory() {
                    ahead.push(SavedDirectory::new(name, *node, Some(root)));
                } else {
                    replay.leaf(&Node { name, ..node.node() }, true);
                }
            }
        }
        for child in dir.node.unsorted() {
            let node = child.node();
            let (name, stat) = (node.name, stat_of(&node));
            let verdict = filters.verdict(name, stat.is_directory());
            let verdict = filters.confirm(verdict, &stat);
            if verdict == Verdict::LeftOut {
                self.is_less = true;
            } else if child.is_directory() {
                let is_counted = verdict == Verdict::Counts;
                ahead.push(SavedDirectory { is_counted, ..SavedDirectory::new(name, child, None) });
            } else {
                replay.leaf(&node, dir.is_gathered);
            }
        }
        ahead
    }

    /// `problem` as a walk with these filters would report it; none if the walk would not reach it.
    fn problem(&self, problem: &Problem, met: &RootsOfErrors<'_, '_>) -> Option<Problem> {
        // If `.` and `./../a` are roots, the walk may have reached it from the second.
        let mut splits = path::splits(&problem.path);
        let reached = splits.find_map(|(above, way)| Some((*met.walked.get(above)?, way)));
        let Some((root, way)) = reached else { return Some(problem.clone()) };
        // A root is always weighed.
        if met.given.contains(problem.path.as_slice()) || !self.leaves_out_at(root, way, problem) {
            return Some(problem.clone());
        }
        let met_at = root.place.join(sys::to_path(way));
        let places = met_at.ancestors().filter(|place| place.as_os_str().len() <= LONGEST);
        let inside: Vec<_> = places.filter_map(|place| met.inside.get(place)).collect();
        // Outer roots come first.
        inside.into_iter().rev().find_map(|root| {
            let way = path::with_slashes(met_at.strip_prefix(&root.place).ok()?);
            let names = [root.name, &way].into_iter().filter(|name| !name.is_empty());
            let path = path::join_all(names);
            let is_met = !self.leaves_out_at(root, &way, problem);
            is_met.then(|| Problem { path, ..problem.clone() })
        })
    }

    /// Whether a walk would not reach `way` below `root`.
    fn leaves_out_at(&self, root: &SavedRoot<'_>, way: &[u8], problem: &Problem) -> bool {
        let mut filters = root.for_directory(self.filter);
        let ahead = way.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
        let mut ahead = ahead.peekable();
        while let Some(name) = ahead.next() {
            let is_directory = ahead.peek().is_some() || problem.operation != Operation::Stat;
            // An entry that could not be examined may be a directory, in which entries may count.
            if filters.verdict(name, true) == Verdict::LeftOut
                && (is_directory || filters.verdict(name, false) == Verdict::LeftOut)
            {
                return true;
            }
            filters.enter(name);
        }
        false
    }
}

/// Finds the root of each error. It looks paths up in maps, because there may be many roots and many errors.
struct RootsOfErrors<'r, 't> {
    /// The roots as they were given.
    given: HashSet<&'t [u8]>,
    /// Roots that were walked, by name.
    walked: HashMap<&'t [u8], &'r SavedRoot<'t>>,
    /// Roots inside others, by place.
    inside: HashMap<&'r Path, &'r SavedRoot<'t>>,
}
