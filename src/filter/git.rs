//! What git ignores: which rules hold in a directory, and what they come to.
//!
//! In a work tree, from the weakest to the strongest: the user's own excludes, the repository's
//! `info/exclude`, and each `.gitignore` from the top of the work tree down. Of the rules nearest to
//! an entry that speak of it at all, the last one decides. What lies in a directory that is ignored is
//! ignored, and no rule in there is read; but what is tracked is not, wherever it lies ([`index`]). A
//! work tree in another one has rules of its own, unless it is ignored with all that is in it.
//!
//! `.ignore` files are ripgrep's: they hold everywhere, and are stronger, also than what is tracked.
//! Git knows nothing of them, so they have no say in what *git* ignores.
//!
//! [`index`]: super::index

use std::ffi::{CStr, CString, OsStr};
use std::io::{self, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use super::index::Tracked;
use super::repository::Repository;
use super::rules::Rules;
use crate::path;
use crate::sys::{self, Handle, Symlinks};

/// What becomes of what git ignores.
#[derive(Clone, Debug, Default)]
pub struct Git {
    /// Whether it counts.
    pub ignored: Ignored,
    /// The user's own rules, for every work tree.
    pub everywhere: Arc<Rules>,
}

/// Whether what git ignores counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ignored {
    /// Like anything else.
    #[default]
    Counts,
    /// It does not.
    LeftOut,
    /// Nothing else does.
    Only,
}

/// A directory as git sees it.
#[derive(Clone, Debug, Default)]
pub(super) struct Ground {
    /// From the top of the work tree above the root to the root, with a slash at the end; empty if
    /// there is none above it. The rules' paths begin with it.
    pub(super) base: Arc<[u8]>,
    region: Region,
    /// What git tracks; none outside of work trees, and where all is ignored.
    tracked: Option<Arc<Tracked>>,
    /// Git's rules.
    rules: Option<Arc<Level>>,
    /// Those of `.ignore` files.
    stronger: Option<Arc<Level>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Region {
    /// Rules decide.
    #[default]
    Ruled,
    /// Everything is ignored that is not tracked.
    Ignored,
    /// A `.git`, of which no rule speaks.
    Repository,
}

/// The rules that one file adds to those above.
#[derive(Debug)]
struct Level {
    rules: Arc<Rules>,
    /// How much of a path leads to where these hold.
    from: usize,
    above: Option<Arc<Level>>,
}

impl Git {
    pub(super) fn is_off(&self) -> bool {
        self.ignored == Ignored::Counts
    }

    /// The root at `path`, with the rules that hold from above it.
    pub(super) fn root(&self, path: &[u8]) -> Ground {
        let mut ground = Ground::default();
        let root = Path::new(OsStr::from_bytes(path));
        let Ok(root) = sys::real_path(root, Symlinks::Follow) else { return ground };
        let open = |path: &Path| {
            let path = CString::new(path.as_os_str().as_bytes()).ok()?;
            Handle::open(&path).ok()
        };
        // A root that is a work tree itself has none above it that matters.
        let mut above = root.ancestors();
        let is_top = |path: &Path| open(path).is_some_and(|dir| Repository::of(&dir).is_some());
        let Some(top) = above.find(|path| is_top(path)).filter(|top| *top != root) else {
            return ground;
        };
        let mut at = top.to_owned();
        let mut way = Vec::new();
        for name in root.strip_prefix(top).unwrap_or(Path::new("")) {
            if let Some(dir) = open(&at) {
                let path = || at.as_os_str().as_bytes().to_vec();
                // Whoever is above the root is not weighed, and no problem of this walk.
                let here = self.add_rules(&ground, &dir, path, || way.len(), |_, _| ());
                ground = here.unwrap_or(ground);
                // If that fails, whoever enters the root says so.
                let _ = ground.read_index();
            }
            at.push(name);
            path::join(&mut way, name.as_bytes());
            ground = ground.below(&way, name.as_bytes()).unwrap_or(ground);
            way.push(b'/');
        }
        ground.base = way.into();
        ground
    }

    /// The directory at `path`, open as `dir`, with the rules that it adds; none if it adds nothing.
    /// Paths of what is in it begin with `from` bytes that lead to it. Whatever cannot be read is
    /// reported by its path.
    pub(super) fn enter(
        &self,
        ground: &Ground,
        dir: &Handle,
        path: impl Fn() -> Vec<u8>,
        from: impl FnOnce() -> usize,
        mut report: impl FnMut(Vec<u8>, &io::Error),
    ) -> Option<Ground> {
        let here = self.add_rules(ground, dir, path, from, &mut report);
        let ground = here.as_ref().unwrap_or(ground);
        if let (Err(error), Some(tracked)) = (ground.read_index(), &ground.tracked) {
            report(tracked.index_path(), &error);
            tracked.give_up();
        }
        here
    }

    fn add_rules(
        &self,
        ground: &Ground,
        dir: &Handle,
        path: impl Fn() -> Vec<u8>,
        from: impl FnOnce() -> usize,
        mut report: impl FnMut(Vec<u8>, &io::Error),
    ) -> Option<Ground> {
        if ground.region != Region::Ruled {
            return None;
        }
        let mut read = |name: &CStr, symlinks| {
            rules_in(dir, name, symlinks).unwrap_or_else(|error| {
                report(path::resolve(&path(), name.to_bytes()), &error);
                None
            })
        };
        let repository = Repository::of(dir);
        let is_in_work_tree = ground.tracked.is_some() || repository.is_some();
        let rules = if is_in_work_tree { read(c".gitignore", Symlinks::Stay) } else { None };
        let stronger =
            if self.ignored == Ignored::LeftOut { read(c".ignore", Symlinks::Stay) } else { None };
        if repository.is_none() && rules.is_none() && stronger.is_none() {
            return None;
        }
        let from = from();
        let mut here = ground.clone();
        if let Some(Repository { own, common }) = repository {
            here.rules = None;
            add(&mut here.rules, Arc::clone(&self.everywhere), from);
            let exclude = CString::new(path::join_all([&*common, b"info/exclude"])).ok();
            if let Some(rules) = exclude.and_then(|name| read(&name, Symlinks::Follow)) {
                add(&mut here.rules, Arc::new(rules), from);
            }
            let own = path::resolve(&path(), &own);
            here.tracked = Some(Arc::new(Tracked::new(own, from)));
        }
        if let Some(rules) = rules {
            add(&mut here.rules, Arc::new(rules), from);
        }
        if let Some(rules) = stronger {
            add(&mut here.stronger, Arc::new(rules), from);
        }
        Some(here)
    }
}

impl Ground {
    /// Whether the entry called `name`, which has `path` from the base on, is ignored.
    pub(super) fn ignores(&self, path: &[u8], name: &[u8], is_directory: bool) -> bool {
        self.is_against(path, name, is_directory) && !self.is_tracked(path, is_directory)
    }

    /// Whether rules are against an entry, be it tracked or not.
    fn is_against(&self, path: &[u8], name: &[u8], is_directory: bool) -> bool {
        match self.region {
            Region::Ignored => true,
            Region::Repository => false,
            Region::Ruled => {
                let decide = |rules| decide(rules, path, is_directory);
                name != b".git"
                    && decide(&self.stronger).or_else(|| decide(&self.rules)) == Some(true)
            }
        }
    }

    /// Whether an entry counts whatever git's rules say.
    fn is_tracked(&self, path: &[u8], is_directory: bool) -> bool {
        self.tracked.as_ref().is_some_and(|tracked| tracked.has(path, is_directory))
            && decide(&self.stronger, path, is_directory) != Some(true)
    }

    /// Whether nothing in the directory called `name` is ever ignored.
    pub(super) fn is_free_of_ignored(&self, name: &[u8]) -> bool {
        self.region == Region::Repository || name == b".git"
    }

    /// Whether the directory itself is ignored.
    pub(super) fn is_ignored(&self) -> bool {
        self.region == Region::Ignored && self.tracked.is_none()
    }

    /// The directory called `name`; none if it is as this one.
    pub(super) fn below(&self, path: &[u8], name: &[u8]) -> Option<Ground> {
        let has_submodule = |tracked: &Arc<Tracked>| tracked.has_submodule(path);
        let region = match self.region {
            Region::Ruled if name == b".git" => Region::Repository,
            Region::Repository => Region::Repository,
            _ if !self.is_against(path, name, true) => Region::Ruled,
            _ if self.tracked.as_ref().is_some_and(has_submodule) => Region::Ruled,
            _ => Region::Ignored,
        };
        // Below a directory where nothing is tracked, nobody need ask again.
        let is_kept = region != Region::Ignored || self.is_tracked(path, true);
        let tracked = self.tracked.clone().filter(|_| is_kept);
        let is_same = region == self.region && tracked.is_some() == self.tracked.is_some();
        (!is_same).then(|| Ground { region, tracked, ..self.clone() })
    }

    /// Reads what is tracked, once there is a rule that may be against it.
    fn read_index(&self) -> io::Result<()> {
        match (&self.tracked, &self.rules) {
            (Some(tracked), Some(_)) => tracked.read(),
            _ => Ok(()),
        }
    }
}

/// What the nearest of `rules` that speaks of an entry says.
fn decide(rules: &Option<Arc<Level>>, path: &[u8], is_directory: bool) -> Option<bool> {
    let mut levels = std::iter::successors(rules.as_deref(), |level| level.above.as_deref());
    levels.find_map(|level| level.rules.decide(&path[level.from..], is_directory))
}

/// Lets go of what is above in a loop: the nested drops of a deep chain would overflow the stack.
impl Drop for Level {
    fn drop(&mut self) {
        let mut above = self.above.take();
        while let Some(mut level) = above.and_then(Arc::into_inner) {
            above = level.above.take();
        }
    }
}

fn add(chain: &mut Option<Arc<Level>>, rules: Arc<Rules>, from: usize) {
    if !rules.is_empty() {
        *chain = Some(Arc::new(Level { rules, from, above: chain.take() }));
    }
}

/// The rules in the file called `name`, if there is one.
fn rules_in(dir: &Handle, name: &CStr, symlinks: Symlinks) -> io::Result<Option<Rules>> {
    /// Git heeds no larger one (dir.c, PATTERN_MAX_FILE_SIZE, 2.45).
    const MOST: u64 = 100 << 20;
    let file = dir.open_file_at(name, symlinks, MOST)?;
    file.map(|file| Rules::read(BufReader::new(file.take(MOST)))).transpose()
}
