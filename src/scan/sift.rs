//! A saved scan weighed anew: what filters leave of it, or by its times. As a walk weighs, with the
//! same judge and the same sum; but nobody can be asked for what the scan does not say.
//!
//! The tree is in memory, and what is left of it becomes another: a filter has to know a directory's
//! name before what is in it, and a scan may say it after.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use super::roots::{SavedRoot, roots};
use super::{Origin, Scan, TOO_LITTLE};
use crate::filter::{Filter, Place, Verdict};
use crate::measure::{Kind, Measure, Mode, Time, weight_of_time};
use crate::path;
use crate::problem::{Operation, Problem};
use crate::sys::Stat;
use crate::tally::{Child, Inode, Inodes, Node, Replay, Totals, Tree, Whole};
use crate::total::Sum;

/// The times that a scan with details has.
pub const TIMES: Measure = Measure::Newest(Time::Modified);

/// Leaves of `scan` what `filter` leaves of it, and of its inodes what is to be kept; with sizes that count
/// what `measure` says: what they did, or the time of last change, if it has details. Both at once:
/// what is collapsed is not in what is left, and has times that count.
///
/// # Errors
/// Where something is left out of a scan that says too little to add up the rest.
pub fn sift(
    scan: &mut Scan<Tree>,
    filter: &Filter,
    measure: Measure,
    keep: Inodes,
) -> io::Result<()> {
    let is_anew = std::mem::replace(&mut scan.measure, measure) != measure;
    let Some(tree) = scan.walked.report.as_ref().filter(|_| is_anew || !filter.is_off()) else {
        return Ok(());
    };
    let mut sieve = Sieve { filter, measure, origin: scan.origin.as_ref(), is_less: false };
    let roots = roots(tree, scan.origin.as_ref(), filter);
    let left = sieve.tree(tree, &roots, keep);
    match &scan.origin {
        None if sieve.is_less => return Err(io::Error::other(TOO_LITTLE)),
        Some(origin) if sieve.is_less && origin.follows() => {
            let other_ways = "symlinks were followed, and may lead to what would be left out";
            return Err(io::Error::other(other_ways));
        }
        None => return Ok(()),
        Some(_) => {}
    }
    let problems = scan.walked.problems.iter();
    let mut problems: Vec<_> =
        problems.filter_map(|problem| sieve.problem(problem, &roots)).collect();
    problems.sort_by(|one, two| one.path.cmp(&two.path));
    // What could not be asked about is not in the tree, and may be left out all the same.
    let is_other = sieve.is_less || is_anew;
    scan.walked.problems = problems;
    if is_other {
        scan.walked.report = Some(left);
    }
    Ok(())
}

/// What is weighed, and how.
struct Sieve<'s> {
    filter: &'s Filter,
    measure: Measure,
    origin: Option<&'s Origin>,
    /// Whether something has been left out.
    is_less: bool,
}

/// A directory that counts, or in which something may.
struct Dir<'t> {
    /// Of a root, as it was given.
    name: &'t [u8],
    tree: &'t Tree,
    place: Option<Arc<Place>>,
    is_counted: bool,
    is_root: bool,
}

/// A directory that has begun and not ended.
struct Open<'t> {
    dir: Dir<'t>,
    /// The directories in it that have not begun.
    ahead: Vec<Dir<'t>>,
    sum: Sum,
}

impl Dir<'_> {
    /// Whether what is in it is gathered, and not only counted.
    fn is_gathered(&self) -> bool {
        !self.place.as_ref().is_some_and(|place| place.is_collapsed())
    }
}

impl<'s> Sieve<'s> {
    /// What is left of the tree at `root`, which has these `roots` in it, or is the only one.
    fn tree(&mut self, root: &Tree, roots: &[SavedRoot<'_>], inodes: Inodes) -> Tree {
        let mut above_roots = Tree::default();
        above_roots.mode = Mode::DIRECTORY;
        let are_several = root.is_above_roots() || roots.len() > 1;
        let mut replay = Replay::new(Whole { inodes }, are_several);
        if root.mode.kind() != Kind::Directory {
            let size = self.weight(root.totals.size, root.inode.as_deref());
            return replay.finish(&sized(Child::Branch(root), size));
        }
        let mut open: Vec<Open<'_>> = Vec::new();
        let mut begun = Some(match are_several {
            true => {
                Dir { name: b"", tree: &above_roots, place: None, is_counted: true, is_root: true }
            }
            false => self.root(&root.name, root, &roots[0].place),
        });
        loop {
            if let Some(dir) = begun.take() {
                let begun = self.begin(dir, roots, &open, &mut replay);
                open.push(begun);
            }
            let Some(directory) = open.last_mut() else { unreachable!("the root ends the loop") };
            begun = directory.ahead.pop();
            if begun.is_some() {
                continue;
            }
            let Some(Open { dir, mut sum, .. }) = open.pop() else { continue };
            let own = dir.tree.own.filter(|_| dir.is_counted);
            let own = own.map(|own| self.weight(own, dir.tree.inode.as_deref()));
            if let Some(own) = own {
                sum.add(own);
            }
            let mut totals = sum.totals(self.measure);
            if self.origin.is_some_and(Origin::follows) {
                totals.shared = 0;
            }
            let node = Node { name: dir.name, own, totals, ..Child::Branch(dir.tree).node() };
            let Some(above) = open.last_mut() else { return replay.finish(&node) };
            above.sum.absorb(sum);
            match above.dir.is_gathered() {
                true if totals.entries > 0 || dir.is_root => replay.close(&node),
                true => replay.forget(),
                false => {}
            }
        }
    }

    /// Weighs what is in `dir`, which lies in those that are open, but for the directories.
    fn begin<'t>(
        &mut self,
        dir: Dir<'t>,
        roots: &[SavedRoot<'t>],
        above: &[Open<'t>],
        replay: &mut Replay<Whole>,
    ) -> Open<'t> {
        if above.last().is_none_or(|above| above.dir.is_gathered()) {
            replay.open();
        }
        self.is_less |= !dir.is_counted && self.has_own(dir.tree) || !dir.is_gathered();
        let (mut sum, mut ahead) = (Sum::default(), Vec::new());
        if dir.name.is_empty() {
            for SavedRoot { name, place, child, .. } in roots {
                match child {
                    Child::Branch(tree) => ahead.push(self.root(name, tree, place)),
                    Child::Leaf(leaf) => {
                        let size = self.weight(leaf.size, leaf.inode.as_ref());
                        sum.add_known(leaf.inode, size);
                        replay.leaf(&Node { name, ..sized(*child, size) });
                    }
                }
            }
        }
        let names = || {
            let above = above.iter().map(|open| open.dir.name);
            above.chain([dir.name]).filter(|name| !name.is_empty()).collect()
        };
        let mut judge = self.filter.judge(dir.place.as_ref(), names);
        for child in dir.tree.unsorted() {
            let (name, stat) = (child.name(), stat(&child));
            let verdict = judge.verdict(name, stat.is_directory());
            let verdict = judge.confirm(verdict, &stat);
            self.is_less |= verdict == Verdict::LeftOut;
            match child {
                _ if verdict == Verdict::LeftOut => {}
                Child::Branch(tree) => {
                    let (place, is_counted) = (judge.below(name), verdict == Verdict::Counts);
                    ahead.push(Dir { name, tree, place, is_counted, is_root: false });
                }
                Child::Leaf(leaf) => {
                    let size = self.weight(leaf.size, leaf.inode.as_ref());
                    sum.add_known(leaf.inode, size);
                    if dir.is_gathered() {
                        replay.leaf(&sized(child, size));
                    }
                }
            }
        }
        Open { dir, ahead, sum }
    }

    fn root<'t>(&self, name: &'t [u8], tree: &'t Tree, was_at: &Path) -> Dir<'t> {
        let place = self.filter.root_at(name, || was_at.to_owned());
        let stat = stat(&Child::Branch(tree));
        let is_counted = self.filter.admits_root(place.as_ref(), name, &stat);
        Dir { name, tree, place, is_counted, is_root: true }
    }

    /// Whether a directory has, or may have, a weight of its own, and was not left out before.
    fn has_own(&self, directory: &Tree) -> bool {
        directory.own.is_some() || self.origin.is_none()
    }

    /// What an inode weighs that weighed `size`.
    fn weight(&self, size: u64, inode: Option<&Inode>) -> u64 {
        match (self.measure, inode.and_then(|inode| inode.details)) {
            (Measure::Newest(_), details) => {
                details.map_or(0, |details| weight_of_time(details.modified))
            }
            _ => size,
        }
    }

    /// What a walk with these filters would have said of `problem`, if it had come to where that was met.
    fn problem(&self, problem: &Problem, roots: &[SavedRoot<'_>]) -> Option<Problem> {
        let of_walk = roots.iter().filter(|root| !root.was_inside);
        let met_in = of_walk.filter_map(|root| Some((root, way(root.name, &problem.path)?)));
        // Of `.` and `./../a`, what is in the other one.
        let Some((root, way)) = met_in.max_by_key(|(root, _)| root.name.len()) else {
            return Some(problem.clone());
        };
        if !self.leaves_out_at(root, way, problem) {
            return Some(problem.clone());
        }
        let met_at = root.place.join(OsStr::from_bytes(way));
        roots.iter().filter(|root| root.was_inside).find_map(|root| {
            let way = met_at.strip_prefix(&root.place).ok()?.as_os_str().as_bytes();
            let names = [root.name, way].into_iter().filter(|name| !name.is_empty());
            let path = path::join_all(names);
            let is_met = !self.leaves_out_at(root, way, problem);
            is_met.then(|| Problem { path, ..problem.clone() })
        })
    }

    /// Whether it would not have come to `way` below `root`.
    fn leaves_out_at(&self, root: &SavedRoot<'_>, way: &[u8], problem: &Problem) -> bool {
        let mut place = self.filter.root_at(root.name, || root.place.clone());
        let mut names = vec![root.name];
        let ahead = way.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
        let mut ahead = ahead.peekable();
        while let Some(name) = ahead.next() {
            let is_directory = ahead.peek().is_some() || problem.operation != Operation::Stat;
            let mut judge = self.filter.judge(place.as_ref(), || names.clone());
            let mut is_left_out = |is_dir| judge.verdict(name, is_dir) == Verdict::LeftOut;
            // What could not be asked may be a directory, in which something would count.
            if is_left_out(true) && (is_directory || is_left_out(false)) {
                return true;
            }
            place = judge.below(name);
            names.push(name);
        }
        false
    }
}

/// What leads from `root` to `path`, if that is below it, or is the root itself.
fn way<'p>(root: &[u8], path: &'p [u8]) -> Option<&'p [u8]> {
    let way = path.strip_prefix(root)?;
    if root.ends_with(b"/") || way.is_empty() { Some(way) } else { way.strip_prefix(b"/") }
}

/// What filters ask of an inode.
pub(super) fn stat(child: &Child<'_>) -> Stat {
    let details = child.node().inode.and_then(|inode| inode.details);
    let modified = details.map_or(0, |details| details.modified);
    Stat { mode: child.mode(), modified, ..Stat::default() }
}

fn sized(child: Child<'_>, size: u64) -> Node<'_> {
    Node { totals: Totals { size, entries: 1, shared: 0 }, ..child.node() }
}
