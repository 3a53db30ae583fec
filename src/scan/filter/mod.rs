//! Filters: they decide what counts. They change totals and do not merely hide lines.
//!
//! Every kind of filter has a file of its own, except mere flags and caches, which are at the end of this one.
//! [`DirectoryFilter::verdict`] asks them about an entry as soon as it is listed, the cheapest first, and before any
//! system call. [`DirectoryFilter::confirm`] asks the filters that need its attributes; and the walk asks whether each
//! directory [is a cache](is_cache). An entry counts if every filter admits it.
//!
//! Some filters (hidden names, paths) leave out a directory with everything in it, and it is not read. The others
//! decide about every entry by itself, including a directory's own size. So entries in a directory may count even if
//! the directory does not ([`Verdict::Passes`]).
//!
//! A directory's [`Scope`] is what filters know about it from its parents. Without filters there is none.

mod git_files;
mod globs;
mod paths;
mod regexes;
mod share;
mod times;
mod types;

use std::ffi::CStr;
use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;
use std::sync::Arc;

use paths::Ends;
use share::AboveShares;

use crate::base::measure::Kind;
use crate::base::path;
use crate::fs::git::{DirectoryRules, Git, Ignored};
use crate::sys::{self, Handle, Listed, Query, Stat, Symlinks};

pub use globs::{Globs, Typed, add_glob, escape_braces};
pub use paths::{Paths, Spared};
pub use regexes::{BadPattern, Regexes, any_pattern};
pub use share::{MANY, Share};
pub use times::{Days, Times};
pub use types::{Types, any_type, known_types};

/// All filters of a walk. Roots always count, because they were asked for.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Whether to leave out names that begin with a dot.
    pub leaves_out_hidden: bool,
    /// Filters by name or path.
    pub paths: Paths,
    /// Filters by type, as the name tells it.
    pub types: Types,
    /// Filters by path below a root.
    pub globs: Globs,
    /// Filters by what git ignores.
    pub git: Git,
    /// Filters by path.
    pub regexes: Regexes,
    /// Filters by age.
    pub times: Times,
    /// Only entries of these users count; if there are none, everybody's do.
    pub owners: Vec<u32>,
    /// Directories that count with everything in them, but are shown without their content.
    pub collapse: Paths,
    /// Whether to leave out the content of caches. A cache itself counts, and its tag: the walk lists both anyway. The
    /// walk and whoever looks for roots inside others look at directories that they have open, and
    /// [`DirectoryFilter::verdict`] does not.
    pub leaves_out_caches: bool,
    /// Which share of a tree counts, if not all of it does.
    pub share: Option<Share>,
    /// What of these filters was typed.
    pub typed: Typed,
}

/// What the filters decide about an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It counts.
    Counts,
    /// A directory that does not count, but entries in it may.
    Passes,
    /// It does not count, and neither does anything in it.
    LeftOut,
}

impl Verdict {
    /// The verdict of a filter that decides about every entry by itself.
    fn of_one(is_admitted: bool, is_directory: bool) -> Self {
        match (is_admitted, is_directory) {
            (true, _) => Verdict::Counts,
            (false, true) => Verdict::Passes,
            (false, false) => Verdict::LeftOut,
        }
    }
}

/// What filters know about a directory.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// What is left of the paths in [`Filter::paths`] below this directory.
    left_out: Ends,
    /// What is left of the paths in [`Filter::collapse`] below this directory.
    collapsed: Ends,
    /// Whether it is collapsed or inside a collapsed directory: its content counts, but is not kept.
    pub is_collapsed: bool,
    /// Whether [`Filter::globs`] include it, and so everything in it.
    is_included: bool,
    /// How it is split between shares, if it is above the split. Below the split, everything counts.
    above_shares: Option<AboveShares>,
    /// The rules of git and of `.ignore` files that hold in it.
    rules: DirectoryRules,
}

/// Filters the entries of one directory, and of the directories below it that it enters.
#[derive(Debug)]
pub struct DirectoryFilter<'a> {
    filter: &'a Filter,
    /// What filters know about the directory.
    pub scope: Option<Arc<Scope>>,
    /// The directory's path (the root as given, and the names below it), for filters that need paths. To match an
    /// entry, its name is appended.
    path: Vec<u8>,
    /// The path from the root, or from the top of the work tree that the root is in.
    ruled_path: Vec<u8>,
    /// The directories above that were entered, with the lengths of both paths.
    above: Vec<(Option<Arc<Scope>>, usize, usize)>,
}

impl Filter {
    /// Whether everything counts and is kept.
    pub fn is_off(&self) -> bool {
        self.share.is_none() && self.is_share_of_all()
    }

    /// The same, but for what is in another share.
    fn is_share_of_all(&self) -> bool {
        !self.depends_on_place()
            && self.times.is_off()
            && self.owners.is_empty()
            && self.collapse.is_off()
    }

    /// Whether an entry may count in one directory and not in another: by its name, its path, or what else is there. An
    /// overlay may show a file under another name than its layer.
    pub fn depends_on_place(&self) -> bool {
        self.leaves_out_hidden
            || !self.paths.is_off()
            || !self.types.is_off()
            || self.looks_at_paths()
            || self.leaves_out_caches
    }

    /// The attributes of entries that the filters look at, beyond those that are always known.
    pub fn query(&self) -> Query {
        let (times, owner) = (!self.times.is_off(), !self.owners.is_empty());
        Query { times, owner, ..Query::default() }
    }

    /// The attributes that a snapshot needs for the filters that work on one.
    pub fn query_of_saved(&self) -> Query {
        Query { times: self.times.are_of_modification(), ..self.query() }
    }

    fn has_no_rules(&self) -> bool {
        self.globs.is_off() && self.git.is_off()
    }

    fn looks_at_paths(&self) -> bool {
        !(self.regexes.is_off() && self.has_no_rules())
    }

    /// The filters that work on a snapshot that `has` some attributes: none that read files (git's, and those of caches),
    /// and of times only the last modification.
    pub fn of_saved(&self, has: Query) -> Self {
        let times = if has.times { self.times } else { Times::default() };
        let times = Times { accessed: None, changed: None, ..times };
        let owners = if has.owner { self.owners.clone() } else { Vec::new() };
        Self { git: Git::default(), leaves_out_caches: false, times, owners, ..self.clone() }
    }

    /// What filters know about the root at `path`; nothing if there are no filters. Unreadable files above it are
    /// reported with their paths.
    pub fn root(&self, path: &[u8], report: impl FnMut(Vec<u8>, &io::Error)) -> Option<Arc<Scope>> {
        let is_at = || {
            let root = sys::to_path(path);
            sys::real_path(&root, Symlinks::Follow).unwrap_or_else(|_| root.into_owned())
        };
        self.root_at(path, is_at, report)
    }

    /// The filters for the entries of the root at `path`. `is_at` says where the root really is.
    pub fn for_root(&self, path: &[u8], is_at: impl Fn() -> PathBuf) -> DirectoryFilter<'_> {
        self.for_directory(self.root_at(path, is_at, |_, _| ()), || vec![path])
    }

    fn root_at(
        &self,
        path: &[u8],
        is_at: impl Fn() -> PathBuf,
        report: impl FnMut(Vec<u8>, &io::Error),
    ) -> Option<Arc<Scope>> {
        if self.is_off() {
            return None;
        }
        let mut rules = DirectoryRules::default();
        if !self.git.is_off()
            && let Ok(real) = sys::real_path(&sys::to_path(path), Symlinks::Follow)
        {
            rules = self.git.root::<Handle>(&real, report);
        }
        Some(Arc::new(Scope {
            left_out: self.paths.below(path, &is_at),
            collapsed: self.collapse.below(path, &is_at),
            above_shares: self.share.map(|_| AboveShares::ROOT),
            rules,
            ..Scope::default()
        }))
    }

    /// What there is still to be known of a directory: nothing, where all in it is in one share and nothing else
    /// filters. Then nobody is asked about its entries.
    pub fn scope_below(&self, scope: Option<Arc<Scope>>) -> Option<Arc<Scope>> {
        scope.filter(|scope| scope.above_shares.is_some() || !self.is_share_of_all())
    }

    /// What filters know about a directory once it is open as `dir`, because there may be rules in it. Calls `names`,
    /// the names from the root on, only if there are rules. Unreadable files are reported with their paths.
    pub fn enter<'n>(
        &self,
        scope: Option<&Arc<Scope>>,
        dir: &Handle,
        names: impl Fn() -> Vec<&'n [u8]>,
        mut report: impl FnMut(Vec<u8>, &io::Error),
    ) -> Option<Arc<Scope>> {
        let scope = scope?;
        if self.git.is_off() {
            return Some(Arc::clone(scope));
        }
        let rules = self.git.enter(
            &scope.rules,
            dir,
            || path::join_all(names()),
            || {
                let path = ruled_path(scope, &names());
                path.len() + usize::from(!path.is_empty() && !path.ends_with(b"/"))
            },
            &mut report,
        );
        let here = rules.as_ref().unwrap_or(&scope.rules);
        here.read_index_or_report::<Handle>(self.git.ignored, report);
        Some(match rules {
            Some(rules) => Arc::new(Scope { rules, ..(**scope).clone() }),
            None => Arc::clone(scope),
        })
    }

    /// The filters for the entries of a directory. Calls `names`, the names from the root on, only if filters need
    /// paths.
    pub fn for_directory<'n>(
        &self,
        scope: Option<Arc<Scope>>,
        names: impl FnOnce() -> Vec<&'n [u8]>,
    ) -> DirectoryFilter<'_> {
        let (mut path, mut ruled) = (Vec::new(), Vec::new());
        if let Some(scope) = &scope
            && self.looks_at_paths()
        {
            let names = names();
            ruled = ruled_path(scope, &names);
            path = path::join_all(names);
        }
        DirectoryFilter { filter: self, scope, path, ruled_path: ruled, above: Vec::new() }
    }

    /// Whether the root at `path`, a directory, counts. Entries in it may count even if it does not.
    pub fn admits_root(&self, scope: Option<&Arc<Scope>>, path: &[u8], stat: &Stat) -> bool {
        let is_ignored = scope.is_some_and(|scope| scope.rules.is_ignored());
        self.share.is_none_or(Share::has_root)
            && self.types.admit(path, true)
            && self.globs.include.is_empty()
            && (self.git.ignored != Ignored::Only || is_ignored)
            && self.regexes.admit(path)
            && self.admits_attributes(stat)
    }

    /// Whether an entry with these attributes counts.
    fn admits_attributes(&self, stat: &Stat) -> bool {
        self.times.admit(stat) && (self.owners.is_empty() || self.owners.contains(&stat.owner))
    }
}

/// The path of the directory at `names`, as rules need it.
fn ruled_path(scope: &Scope, names: &[&[u8]]) -> Vec<u8> {
    path::join_all([&*scope.rules.base].into_iter().chain(names.iter().skip(1).copied()))
}

impl DirectoryFilter<'_> {
    /// The verdict about the entry called `name`.
    #[inline]
    pub fn verdict(&mut self, name: &[u8], is_directory: bool) -> Verdict {
        if self.scope.is_none() { Verdict::Counts } else { self.filtered(name, is_directory) }
    }

    /// The verdict of the filters. Names come first, paths last.
    fn filtered(&mut self, name: &[u8], is_directory: bool) -> Verdict {
        let Self { filter, scope: Some(scope), path, ruled_path, .. } = self else {
            return Verdict::Counts;
        };
        let is_hidden = filter.leaves_out_hidden && name.starts_with(b".");
        if is_hidden || filter.paths.name(name) || scope.left_out.end(name) {
            if filter.typed.unmet().next().is_some() {
                let path = At::new(ruled_path, name);
                filter.typed.meet(name, &path.0[scope.rules.base.len()..], is_directory);
            }
            return Verdict::LeftOut;
        }
        let in_share = match (filter.share, scope.above_shares) {
            (Some(share), Some(above)) => share.verdict(above, name, is_directory),
            _ => Verdict::Counts,
        };
        if in_share == Verdict::LeftOut {
            return Verdict::LeftOut;
        }
        let mut is_admitted = filter.types.admit(name, is_directory);
        if !filter.has_no_rules() && (is_admitted || is_directory) {
            let path = At::new(ruled_path, name);
            let below_root = &path.0[scope.rules.base.len()..];
            if filter.globs.excludes(below_root, is_directory) {
                filter.typed.meet(name, below_root, is_directory);
                return Verdict::LeftOut;
            }
            let is_included = scope.is_included || filter.globs.includes(below_root, is_directory);
            if is_included && !filter.globs.include.is_empty() {
                filter.typed.meet(name, below_root, is_directory);
            }
            is_admitted &= is_included;
            match filter.git.ignored {
                Ignored::Counts => {}
                Ignored::LeftOut if scope.rules.ignores(path.0, name, is_directory) => {
                    filter.typed.meet(name, below_root, is_directory);
                    return Verdict::LeftOut;
                }
                Ignored::LeftOut => {}
                Ignored::Only if scope.rules.is_free_of_ignored(name) => return Verdict::LeftOut,
                Ignored::Only => is_admitted &= scope.rules.ignores(path.0, name, is_directory),
            }
        }
        if !filter.regexes.is_off() && is_admitted {
            is_admitted = filter.regexes.admit(At::new(path, name).0);
        }
        Verdict::of_one(is_admitted && in_share == Verdict::Counts, is_directory)
    }

    /// The final verdict, now that the entry's attributes are known.
    #[inline]
    pub fn confirm(&self, verdict: Verdict, stat: &Stat) -> Verdict {
        if self.scope.is_none() || verdict != Verdict::Counts {
            return verdict;
        }
        Verdict::of_one(self.filter.admits_attributes(stat), stat.is_directory())
    }

    /// What filters know about the directory called `name`, before it is opened.
    pub fn below(&mut self, name: &[u8]) -> Option<Arc<Scope>> {
        let (scope, filter) = (self.scope.as_ref()?, self.filter);
        let (mut is_included, mut rules) = (scope.is_included, None);
        if !filter.has_no_rules() {
            let path = At::new(&mut self.ruled_path, name);
            let globs = &filter.globs;
            is_included |= !globs.include.is_empty()
                && globs.includes(&path.0[scope.rules.base.len()..], true);
            rules = scope.rules.below(path.0, name);
        }
        let is_collapsed =
            scope.is_collapsed || filter.collapse.name(name) || scope.collapsed.end(name);
        let above_shares = scope.above_shares.and_then(|above| above.enter(name, filter.share?));
        let is_same = scope.left_out.is_empty()
            && scope.above_shares == above_shares
            && scope.collapsed.is_empty()
            && is_collapsed == scope.is_collapsed
            && is_included == scope.is_included
            && rules.is_none();
        if is_same {
            return Some(Arc::clone(scope));
        }
        Some(Arc::new(Scope {
            left_out: scope.left_out.below(name),
            collapsed: scope.collapsed.below(name),
            is_collapsed,
            is_included,
            above_shares,
            rules: rules.unwrap_or_else(|| scope.rules.clone()),
        }))
    }

    /// Enters the directory called `name`, before it is opened. It extends the path that it has, so the time depends
    /// only on the length of the name.
    pub fn enter(&mut self, name: &[u8]) {
        let Some(below) = self.below(name) else { return };
        self.above.push((self.scope.replace(below), self.path.len(), self.ruled_path.len()));
        if self.filter.looks_at_paths() {
            path::join(&mut self.path, name);
            path::join(&mut self.ruled_path, name);
        }
    }

    /// Goes back to the directory above, if there is one.
    pub fn leave(&mut self) {
        let Some((scope, path, ruled_path)) = self.above.pop() else { return };
        self.scope = scope;
        self.path.truncate(path);
        self.ruled_path.truncate(ruled_path);
    }
}

/// A directory's path with a name appended. The name is removed when this is dropped.
struct At<'a>(&'a mut Vec<u8>, usize);

impl<'a> At<'a> {
    fn new(path: &'a mut Vec<u8>, name: &[u8]) -> Self {
        let length = path.len();
        path::join(path, name);
        Self(path, length)
    }
}

impl Drop for At<'_> {
    fn drop(&mut self) {
        self.0.truncate(self.1);
    }
}

// Caches, which have a tag in their directory (<https://bford.info/cachedir/>).

/// What the tag is called.
pub const CACHE_TAG: &CStr = c"CACHEDIR.TAG";

/// What the tag begins with.
const SIGNATURE: [u8; 43] = *b"Signature: 8a477f597d28d172789f06886806bc55";

/// Whether a listed entry may be a tag. Its content tells whether it is.
pub fn may_be_cache_tag(listed: Listed<'_>) -> bool {
    listed.name == CACHE_TAG && listed.kind.is_none_or(|kind| kind == Kind::File)
}

/// Whether `dir` is a cache: whether a valid tag is in it. It reads no more than the signature, and only of a regular
/// file.
///
/// # Errors
/// The system's, if there is a file of that name that cannot be read.
pub fn is_cache(dir: &Handle) -> io::Result<bool> {
    let Some(mut file) = dir.open_file_at(CACHE_TAG, Symlinks::Stay, u64::MAX)? else {
        return Ok(false);
    };
    let mut start = [0; SIGNATURE.len()];
    match file.read_exact(&mut start) {
        Ok(()) => Ok(start == SIGNATURE),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_names() {
        let all = Filter::default();
        let visible = Filter { leaves_out_hidden: true, ..Filter::default() };
        for (name, is_hidden) in [(b".git".as_slice(), true), (b"a.b", false), (b"", false)] {
            for (filter, is_left_out) in [(&all, false), (&visible, is_hidden)] {
                let verdict =
                    filter.for_directory(Some(Arc::default()), Vec::new).verdict(name, true);
                assert_eq!(verdict == Verdict::LeftOut, is_left_out);
            }
        }
    }
}
