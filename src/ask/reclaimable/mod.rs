//! What can go: directories and files that rules know to come back, what each frees, and what all free together.
//!
//! During the walk, only what a rule may find is kept, by names alone (`collect`). When it is over, files are opened:
//! the tags that prove it, and the index of the work trees around it. It deletes nothing and runs nothing.
//!
//! A rule that matches a directory decides about it, and about all in it: what is in doubt is not listed.

mod collect;
mod evidence;
mod expected;
mod finder;
mod markers;
mod plan;
mod proof;
mod rule;
mod trash;

use std::cell::LazyCell;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::Arc;

use collect::{KeptEntry, OwnInodes};
use evidence::Evidence;
use finder::Finder;
use plan::is_at;

use crate::base::inode::Identity;
use crate::remove::{Target, UserDirectories};
use crate::scan::filter::Filter;
use crate::sys::{self, InUse, SharedSpace, Source, Symlinks, to_path};
use crate::tree::sum::Freed;
use crate::tree::{Freeable, Place, Report};

pub use collect::{Findable, RuleTally};
pub use evidence::{EVIDENCE, EvidenceTally, doubts, used_within};
pub use plan::{PlanOrigin, ReclaimPlan};
pub use rule::{ReclaimRule, quoted};

/// The rules that come with weigh, as TOML.
pub const BUILT_IN: &str = include_str!("rules.toml");

/// What to look for.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The rules. The first one that matches decides.
    pub rules: Vec<Arc<ReclaimRule>>,
    /// Nothing in it must have been written after this time, in seconds since the epoch.
    pub older: Option<i64>,
    /// The home directories of the user. None is listed, nor a directory in which one lies.
    pub homes: Vec<PathBuf>,
    /// How many to list.
    pub lines: usize,
    /// How many bytes each of them frees at least.
    pub min_size: u64,
    /// Whether the walk may not have entered all mounts below its roots.
    pub leaves_out_mounts: bool,
    /// Only these rules: their names, or the starts of their names up to a hyphen; all if there are none.
    pub only: Vec<String>,
    /// How many bytes to free, if that is a limit: entries that were not written for the longest time go first.
    pub free: Option<u64>,
    /// Its names, paths and `--exclude` globs spare entries, and directories with such entries in them.
    pub spared: Filter,
    /// Only entries that this plan names.
    pub plan: Option<Arc<ReclaimPlan>>,
    /// Whether to look twice, so that what is found can be removed.
    pub looks_twice: bool,
    /// The users, other than the own one, to whom entries may belong.
    pub owners: Vec<u32>,
    /// Where the trash is, if its entries are to be found, and not those that rules find.
    pub trash: Option<UserDirectories>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Reclaimable {
    /// Entries that can be made or downloaded again, and that weigh may remove: what frees most first.
    pub found: Vec<Reclaim>,
    /// How many are not listed: after the first ones.
    pub more: usize,
    /// What all of them free together, those that are not listed included.
    pub frees: Freeable,
    /// What those of each kind free together.
    pub by_kind: BTreeMap<String, Freeable>,
    /// Entries that only their own program can remove.
    pub by_program: Vec<Reclaim>,
    /// Entries that were written too lately.
    pub recent: Vec<Reclaim>,
    /// Entries that cannot be made again, or about which there is a doubt.
    pub others: Vec<Reclaim>,
    /// How many of those are not listed.
    pub more_others: usize,
    /// The end of a message that nothing was found: the flag that finds more, or the reason; empty if nothing was read.
    pub hint: &'static str,
    /// The home directory of the user, if it is known.
    pub home: Option<PathBuf>,
    /// How many processes could not be asked what they have open.
    pub unseen: u64,
    /// Whether less may come free, because files may share space with others, and nobody asked the file system.
    pub may_share: bool,
    /// What makes a plan of it, after the second look.
    pub origin: Option<PlanOrigin>,
    /// How much was to come free, in bytes, if less can go.
    pub short_of: Option<u64>,
    /// The paths of entries that a plan names, and that do not go, each with the reason.
    pub unplanned: Vec<(String, &'static str)>,
    /// Which trash directories are left alone, and why.
    pub refused: Vec<String>,
}

/// Something that can go.
#[derive(Debug, Default)]
pub struct Reclaim {
    /// Where it is: a path that begins with the root as given.
    pub path: Vec<u8>,
    /// The names on that path.
    pub names: Vec<Vec<u8>>,
    /// Its number among what was kept, and that of its rule.
    entry: usize,
    number: usize,
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
    /// The path of something in it that its rule does not expect, and that may be somebody's own.
    pub unexpected: Option<Vec<u8>>,
    /// Why somebody has to look first, if there is a reason.
    pub doubt: Option<String>,
    /// The rule that found it.
    pub rule: Arc<ReclaimRule>,
    /// What the second look knows, if it may be removed.
    pub checked: Option<Checked>,
}

/// An entry that may be removed, as the second look found it.
#[derive(Clone, Debug)]
pub struct Checked {
    /// It, without its content.
    pub target: Target,
    /// Where it is in the tree of the second look.
    pub place: Place,
    /// Its mount, device and inode.
    pub identity: Identity,
    /// A SHA-256 of everything that removing compares, in hexadecimal digits.
    pub evidence: String,
    /// The same of its info file, if it has one in the trash.
    pub info: Option<Box<Self>>,
}

impl Checked {
    /// How many entries go with it.
    pub fn entries(&self) -> u64 {
        self.target.totals.0 + self.info.as_ref().map_or(0, |info| info.entries())
    }

    /// Whether another look has found the same.
    pub fn is_same(&self, other: &Self) -> bool {
        let [one, two] = [self, other].map(|it| it.info.as_ref().map(|info| &info.evidence));
        self.evidence == other.evidence && one == two
    }
}

impl Reclaim {
    /// Whether somebody has to look first.
    fn is_doubtful(&self) -> bool {
        self.rule.is_final() || self.doubt.is_some()
    }
}

/// The `findable` entries that can go; none if the walk was interrupted, or could read nothing. The second look also
/// knows what the `first` one found, and examines that.
pub fn find(
    findable: Option<&Findable>,
    report: &Report,
    search: &Search,
    first: Option<&Reclaimable>,
) -> Reclaimable {
    let Some(Findable { proofs, entries }) = findable.filter(|_| !report.is_interrupted) else {
        return Reclaimable::default();
    };
    // To ask each process takes ten times as long as a small tree: not where nothing is found.
    let in_use: LazyCell<Option<InUse>> = LazyCell::new(|| sys::in_use().ok());
    let mut finder = Finder::new(proofs, entries, &report.problems, search, &in_use);
    let wanted = finder.found().into_iter().filter(|one| search.is_wanted(&one.rule));
    let (mut others, found): (Vec<_>, Vec<_>) = wanted.partition(Reclaim::is_doubtful);
    let unseen = match found.is_empty() {
        true => 0,
        false => in_use.as_ref().map_or(0, |in_use| in_use.unseen),
    };
    let is_too_recent = |one: &Reclaim| {
        let is_listed = one.frees.most > 0 && one.frees.most >= search.min_size;
        is_listed && !one.rule.is_final() && search.is_recent(one)
    };
    let has_recent = others.iter().chain(&found).any(is_too_recent);
    // Before somebody looks, it has to be out of use.
    others.retain(|one| one.rule.is_final() || one.frees.most > 0 && !search.is_recent(one));
    let (mut recent, found): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|one| search.is_recent(one));
    let (mut found, mut by_program): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|one| one.rule.is_by_hand());
    keep_freeing(entries, &mut found);
    let mut origin = None;
    if let (Some(first), Some(tree)) = (first, &report.answer) {
        Evidence::new(tree, &first.found, search, in_use.as_ref()).examine(&mut found);
        let (doubtful, sure): (Vec<_>, Vec<_>) = found.into_iter().partition(Reclaim::is_doubtful);
        others.extend(doubtful);
        found = sure;
        origin = PlanOrigin::here(tree);
    }
    let mut unplanned = Vec::new();
    if let (Some(plan), Some(_)) = (&search.plan, first) {
        unplanned = plan.narrow(&mut found, &recent);
        recent.clear();
        by_program.clear();
        others.retain(|one| plan.paths().any(|path| is_at(one, path)));
    }
    // Less may go now, and so fewer links.
    keep_freeing(entries, &mut found);
    for list in [&mut recent, &mut by_program] {
        list.retain(|one| one.frees.most > 0);
    }
    for list in [&mut found, &mut by_program, &mut recent, &mut others] {
        list.retain(|one| one.frees.most >= search.min_size);
        list.sort_by(largest_first);
    }
    let is_last = first.is_some() || !search.looks_twice;
    if let Some(bytes) = search.free.filter(|_| is_last) {
        keep_oldest(entries, &mut found, bytes);
    }
    let frees = freed_together(entries, found.iter());
    let short_of = search.free.filter(|bytes| is_last && frees.most < *bytes);
    let mut kinds: BTreeMap<_, Vec<&Reclaim>> = BTreeMap::new();
    for one in &found {
        kinds.entry(one.rule.what.clone()).or_default().push(one);
    }
    let kinds = kinds.into_iter();
    let by_kind = kinds.map(|(what, some)| (what, freed_together(entries, some.into_iter())));
    let by_kind = by_kind.collect();
    let may_share =
        first.is_some() && found.iter().any(|one| may_share(&entries[one.entry], &one.path));
    let all = [&found, &others, &by_program, &recent].map(Vec::len);
    for list in [&mut found, &mut others].into_iter().filter(|_| is_last) {
        list.truncate(search.lines);
    }
    let (more, more_others) = (all[0] - found.len(), all[1] - others.len());
    let hint = match all.iter().sum::<usize>() {
        _ if has_recent => ": --older 0h includes what was written lately",
        0 => ": a directory needs proof, such as Cargo.toml beside target and CACHEDIR.TAG in it",
        _ => "",
    };
    let home = search.homes.first().cloned();
    Reclaimable {
        found,
        more,
        frees,
        by_kind,
        by_program,
        recent,
        others,
        more_others,
        hint,
        home,
        unseen,
        may_share,
        origin,
        short_of,
        unplanned,
        refused: Vec::new(),
    }
}

/// The order of a list: what frees most first, and in the order of paths among equal ones.
fn largest_first(one: &Reclaim, two: &Reclaim) -> Ordering {
    (two.frees.most, two.size, &one.path).cmp(&(one.frees.most, one.size, &two.path))
}

/// Whether files in an entry at `path` may share space, of which nobody asked.
fn may_share(entry: &KeptEntry, path: &[u8]) -> bool {
    entry.sums.frees.is_none() && is_on_sharing(path)
}

/// Whether files on the file system of `path` may share space.
fn is_on_sharing(path: &[u8]) -> bool {
    let path = CString::new(to_path(path).as_os_str().as_encoded_bytes()).ok();
    let mount = path.and_then(|path| Source::default().mount_of(&path, Symlinks::Stay).ok());
    mount.is_some_and(|it| it.sharing == SharedSpace::Mapped)
}

/// Keeps those that free something: all the links of something in it must be in what is found.
fn keep_freeing(entries: &[KeptEntry], found: &mut Vec<Reclaim>) {
    let mut freed = freed_by(entries, &*found);
    found.retain(|one| {
        let mut links = own_inodes(entries, one).flat_map(OwnInodes::links);
        one.frees.most > 0
            || own_inodes(entries, one).any(|own| own.single > 0)
            || links.any(|(size, inode)| size > 0 && freed.has_all(inode.identity))
    });
}

/// Keeps as many of those that `found` as free so many `bytes`, the least recently written first.
fn keep_oldest(entries: &[KeptEntry], found: &mut Vec<Reclaim>, bytes: u64) {
    let mut order: Vec<_> = (0..found.len()).collect();
    // Stable: of those of one age, the largest first.
    order.sort_by_key(|number| found[*number].written);
    let is_range = found.iter().any(|one| one.frees.is_range());
    let mut freed = Freed::default();
    let mut chosen = vec![false; found.len()];
    for number in order {
        if freed.freed(is_range).least >= bytes {
            break;
        }
        add_freed(entries, &found[number], &mut freed);
        chosen[number] = true;
    }
    let mut chosen = chosen.into_iter();
    found.retain(|_| chosen.next().unwrap_or(false));
}

/// How many bytes `some` of the `entries` free together.
fn freed_together<'r>(
    entries: &[KeptEntry],
    mut some: impl Iterator<Item = &'r Reclaim> + Clone,
) -> Freeable {
    let freed = freed_by(entries, some.clone());
    freed.freed(some.any(|one| one.frees.is_range()))
}

/// The inodes that `some` of the `entries` free together.
fn freed_by<'r>(entries: &[KeptEntry], some: impl IntoIterator<Item = &'r Reclaim>) -> Freed {
    let mut freed = Freed::default();
    some.into_iter().for_each(|one| add_freed(entries, one, &mut freed));
    freed
}

fn add_freed(entries: &[KeptEntry], one: &Reclaim, freed: &mut Freed) {
    freed.add_sharing(entries[one.entry].freed(), entries[one.entry].sums.frees);
    for own in own_inodes(entries, one) {
        freed.add(own.single, None);
        own.links().for_each(|(size, inode)| freed.add(size, Some(inode)));
    }
}

impl Search {
    /// Whether it was written too lately. With `--older 0h`, nothing is. A container engine knows itself what it uses.
    fn is_recent(&self, one: &Reclaim) -> bool {
        self.older.is_some_and(|older| one.written > older) && !one.rule.is_of_engine()
    }

    /// Whether `--only` names a rule, or nothing does.
    fn is_wanted(&self, rule: &ReclaimRule) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| rule.is_named(only))
    }
}

/// What counts in `one` of the `entries`.
fn own_inodes<'e>(
    entries: &'e [KeptEntry],
    one: &Reclaim,
) -> impl Iterator<Item = &'e OwnInodes> + use<'e> {
    let first = one.entry - entries[one.entry].below;
    entries[first..=one.entry].iter().map(|entry| &entry.own)
}
