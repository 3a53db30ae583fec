//! What can go: directories and files that rules know to come back, what each frees, and what all free together.
//!
//! It looks at the tree of a walk, which has all names and figures. Only where names match a rule, it opens files: the
//! tag that proves it, and the index of the work trees around it. It deletes nothing and runs nothing.
//!
//! A rule that matches a directory decides about it, and about all in it: what is in doubt is not listed.

mod command;
mod join;
mod proof;
mod rule;

use std::ffi::CString;
use std::iter;
use std::sync::Arc;

pub use rule::{ReclaimRule, RuleValue};

use crate::git::WorkTrees;
use crate::measure::DAY;
use crate::parallel;
use crate::path;
use crate::problem::Problem;
use crate::sum::Freed;
use crate::sys::{self, Handle, MountTable, Query, Source, Symlinks};
use crate::tree::{Child, DirectoryId, Freeable, Place, Tree};
use crate::weighed::Weighed;

/// The rules that come with weigh, as TOML.
pub const BUILT_IN: &str = include_str!("rules.toml");

/// What to look for.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The rules. The first one that matches decides.
    pub rules: Vec<Arc<ReclaimRule>>,
    /// How many days nothing in it must have been written.
    pub older: u32,
    /// Seconds since the epoch.
    pub now: i64,
    /// How many to list.
    pub lines: usize,
    /// How many bytes each of them frees at least.
    pub min_size: u64,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Reclaimable {
    /// What can be had again, what frees most first.
    pub found: Vec<Reclaim>,
    /// How many more there are.
    pub more: usize,
    /// What all of them free together, those that are not listed included.
    pub frees: Freeable,
    /// What cannot be made again.
    pub others: Vec<Reclaim>,
}

/// Something that can go.
#[derive(Debug)]
pub struct Reclaim {
    /// Where it is: a path that begins with the root as given.
    pub path: Vec<u8>,
    /// Where it is in the tree.
    pub place: Place,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Its size on disk.
    pub size: u64,
    /// What deleting it alone frees.
    pub frees: Freeable,
    /// When something in it was last written; of what a project makes, something in the project.
    pub written: i64,
    /// The name of the user that it belongs to, if that is another.
    pub owner: Option<String>,
    /// The command that removes it.
    pub command: Option<String>,
    /// The rule that found it.
    pub rule: Arc<ReclaimRule>,
}

/// Looks for what can go in the result of a complete walk.
pub fn find(weighed: &Weighed, search: &Search) -> Reclaimable {
    let Some(tree) = weighed.report.as_ref().filter(|_| !weighed.is_interrupted) else {
        return Reclaimable::default();
    };
    let mut found = Vec::new();
    let (mut work_trees, mounts) = (WorkTrees::default(), MountTable::read());
    let rules = || search.rules.iter();
    // They are few, and of different lengths.
    let mut tags: Vec<_> = rules().map(|rule| rule.tag.as_bytes()).collect();
    tags.sort_unstable();
    tags.dedup();
    let of_files: Vec<_> = rules().filter(|rule| rule.finds_files).cloned().collect();
    for root in tree.roots().filter(Child::is_directory) {
        // A root that is gone meanwhile has nothing to remove.
        let real = sys::real_path(&sys::to_path(root.name()), Symlinks::Follow);
        let Ok(real) = real.map(|real| path::with_slashes(&real)) else { continue };
        let look = Finder {
            search,
            tags: &tags,
            of_files: &of_files,
            problems: &weighed.problems,
            root,
            real,
            mounts: &mounts,
        };
        let each = look.below(&mut work_trees);
        found.extend(look.joined(tree, &mut work_trees, each));
    }
    listed(tree, found, search)
}

/// So many directories are looked at together.
const MANY: usize = 1 << 16;

/// What a rule matches.
type Match<'a> = (Child<'a>, &'a Arc<ReclaimRule>);

/// Finds what is below a root.
struct Finder<'a> {
    search: &'a Search,
    /// The names of all tags, and the rules that find files: all that every name is compared with.
    tags: &'a [&'a [u8]],
    of_files: &'a [Arc<ReclaimRule>],
    problems: &'a [Problem],
    root: Child<'a>,
    /// The root's real path.
    real: Vec<u8>,
    mounts: &'a MountTable,
}

impl<'a> Finder<'a> {
    /// What is found. Directories come before what is in them.
    fn below(&self, work_trees: &mut WorkTrees) -> Vec<Reclaim> {
        let mut found = Vec::new();
        // The last of the directories that are decided by one around them; those that follow are before it.
        let mut decided = usize::MAX;
        let mut directories = self.root.all_directories().rev();
        loop {
            let some: Vec<_> = directories.by_ref().take(MANY).collect();
            if some.is_empty() {
                return found;
            }
            // Every name is looked at, on all cores.
            let matches: Vec<Vec<Match<'_>>> =
                parallel::collect(0, some, |directory| self.matches(directory));
            for (child, rule) in matches.into_iter().flatten() {
                let number = child.id().or(child.parent().and_then(|above| above.id()));
                let number = number.map_or(0, DirectoryId::index);
                if number >= decided {
                    continue;
                }
                if child.is_directory() {
                    let below = usize::try_from(child.directories_below()).unwrap_or(usize::MAX);
                    decided = number.saturating_sub(below);
                }
                found.extend(self.reclaim(work_trees, rule, child));
            }
        }
    }

    /// The first rule that matches a directory; or if none does, the files in it that rules match.
    fn matches(&self, directory: Child<'a>) -> Vec<Match<'a>> {
        // Names are unpacked once; most directories have no such file.
        let has_notable = directory.leaf_nodes().any(|leaf| self.is_notable(leaf.name));
        let leaves = has_notable.then(|| directory.leaves()).into_iter().flatten();
        let notable: Vec<_> = leaves.filter(|leaf| self.is_notable(leaf.name())).collect();
        let name = self.names(directory).next().unwrap_or_default();
        let mut rules = self.search.rules.iter();
        if let Some(rule) = rules.find(|rule| self.is_proved(rule, directory, name, &notable)) {
            return vec![(directory, rule)];
        }
        let rule = |leaf| self.of_files.iter().find(|rule| self.is_file_of(rule, leaf));
        notable.into_iter().filter_map(|leaf| Some((leaf, rule(leaf)?))).collect()
    }

    /// The names on the real path of `child`, the last one first.
    fn names(&self, child: Child<'a>) -> impl Iterator<Item = &[u8]> + Clone {
        let below = iter::successors(Some(child), Child::parent).take_while(|at| !at.is_root());
        let around = self.real.rsplit(|byte| *byte == b'/').filter(|name| !name.is_empty());
        below.map(|at| at.name()).chain(around)
    }

    /// The real path of `child`.
    fn real_path(&self, child: Child<'_>) -> Vec<u8> {
        let path = child.path();
        let below = path::below(&path, self.root.name()).unwrap_or_default();
        if below.is_empty() { self.real.clone() } else { path::join_all([&self.real, below]) }
    }

    /// What is to be said of `child`, which `rule` matches; nothing if it is in doubt.
    fn reclaim(
        &self,
        work_trees: &mut WorkTrees,
        rule: &Arc<ReclaimRule>,
        child: Child<'_>,
    ) -> Option<Reclaim> {
        let written = self.written(rule, child)?;
        if !self.may_go(rule, child) {
            return None;
        }
        let real = self.real_path(child);
        // With -x, the tree does not have what is mounted in it.
        let is_inside = |point| path::below(point, &real).is_some_and(|below| !below.is_empty());
        if self.mounts.paths().any(is_inside) {
            return None;
        }
        let path = sys::to_path(&real).into_owned();
        if work_trees.track::<Handle>(&path, child.is_directory()).unwrap_or(true) {
            return None;
        }
        let at = CString::new(path.into_os_string().into_encoded_bytes()).ok()?;
        let query = Query { owner: true, ..Query::default() };
        let stat = Source::default().stat(&at, Symlinks::Stay, query).ok()?;
        let owner = (stat.owner != sys::user_id())
            .then(|| sys::user_name(stat.owner).unwrap_or_else(|| stat.owner.to_string()));
        let sums = child.node().sums;
        let freed = child.freed();
        let alone = Freeable { least: freed, most: freed, extents: 0 };
        Some(Reclaim {
            path: child.path(),
            place: child.place()?,
            is_directory: child.is_directory(),
            size: sums.all.disk,
            frees: sums.frees.unwrap_or(alone),
            written,
            owner,
            command: command::command_for(&rule.command, &real),
            rule: Arc::clone(rule),
        })
    }

    /// When it was last written; none if that is too late. A project that is worked on needs what it makes.
    fn written(&self, rule: &ReclaimRule, child: Child<'_>) -> Option<i64> {
        let used = child.parent().filter(|_| !rule.beside.is_empty()).unwrap_or(child);
        let written = used.node().sums.all.newest?;
        let Search { now, older, .. } = *self.search;
        let is_old = now.saturating_sub(i64::from(older) * DAY) >= written;
        (older == 0 || rule.is_final || is_old).then_some(written)
    }
}

/// What of `found` is listed, and what all of it frees.
fn listed(tree: &Tree, found: Vec<Reclaim>, search: &Search) -> Reclaimable {
    let (mut others, mut found): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|one| one.rule.is_final);
    let mut freed = Freed::default();
    found.iter().for_each(|one| freed.mark(tree, one.place));
    let frees = freed.freed(found.iter().any(|one| one.frees.least < one.frees.most));
    // All the links of something in it must be in what is found.
    found.retain(|one| one.frees.most > 0 || freed.frees_of(tree, one.place));
    for list in [&mut found, &mut others] {
        list.retain(|one| one.frees.most >= search.min_size);
        list.sort_by(|one, two| {
            (two.frees.most, two.size, &one.path).cmp(&(one.frees.most, one.size, &two.path))
        });
    }
    let more = found.len().saturating_sub(search.lines);
    found.truncate(search.lines);
    others.truncate(search.lines);
    Reclaimable { found, more, frees, others }
}
