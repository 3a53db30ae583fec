//! What git ignores: which rules hold in a directory, and what they come to.
//!
//! In a work tree, from the weakest to the strongest: the user's own excludes, the repository's
//! `info/exclude`, and each `.gitignore` from the top of the work tree down. Of the rules nearest to
//! an entry that speak of it at all, the last one decides. What lies in a directory that is ignored is
//! ignored, and no rule in there is read. A work tree in another one has rules of its own.
//!
//! `.ignore` files are ripgrep's: they hold everywhere, and are stronger. Git knows nothing of them,
//! so they have no say in what *git* ignores.
//!
//! The index is not read. What is tracked although a rule speaks of it is ignored here, and not by git.

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use super::rules::Rules;
use crate::measure::Kind;
use crate::path;
use crate::sys::{self, Handle, Query, Symlinks};

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
    is_in_work_tree: bool,
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
    /// Everything is ignored.
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
        let is_top = |path: &Path| open(path).is_some_and(|dir| work_tree(&dir).is_some());
        let Some(top) = above.find(|path| is_top(path)).filter(|top| *top != root) else {
            return ground;
        };
        let mut at = top.to_owned();
        let mut way = Vec::new();
        for name in root.strip_prefix(top).unwrap_or(Path::new("")) {
            if let Some(dir) = open(&at) {
                // Whoever is above the root is not weighed, and no problem of this walk.
                ground = self.enter(&ground, &dir, || way.len(), |_, _| ()).unwrap_or(ground);
            }
            at.push(name);
            path::join(&mut way, name.as_bytes());
            ground.region = ground.region_of(&way, name.as_bytes());
            way.push(b'/');
        }
        ground.base = way.into();
        ground
    }

    /// The directory open as `dir` with the rules that it adds; none if it adds nothing. Paths of
    /// what is in it begin with `from` bytes that lead to it.
    pub(super) fn enter(
        &self,
        ground: &Ground,
        dir: &Handle,
        from: impl FnOnce() -> usize,
        mut report: impl FnMut(&CStr, &io::Error),
    ) -> Option<Ground> {
        if ground.region != Region::Ruled {
            return None;
        }
        let mut read = |name: &CStr| {
            dir.read_file_at(name).unwrap_or_else(|error| {
                report(name, &error);
                None
            })
        };
        let repository = work_tree(dir);
        let is_in_work_tree = ground.is_in_work_tree || repository.is_some();
        let rules = if is_in_work_tree { read(c".gitignore") } else { None };
        let stronger = if self.ignored == Ignored::LeftOut { read(c".ignore") } else { None };
        if repository.is_none() && rules.is_none() && stronger.is_none() {
            return None;
        }
        let from = from();
        let mut here = Ground { is_in_work_tree, ..ground.clone() };
        if let Some(repository) = repository {
            here.rules = None;
            add(&mut here.rules, Arc::clone(&self.everywhere), from);
            if let Some(text) = exclude_file(&repository).and_then(|name| read(&name)) {
                add(&mut here.rules, Arc::new(Rules::parse(&text)), from);
            }
        }
        if let Some(text) = rules {
            add(&mut here.rules, Arc::new(Rules::parse(&text)), from);
        }
        if let Some(text) = stronger {
            add(&mut here.stronger, Arc::new(Rules::parse(&text)), from);
        }
        Some(here)
    }
}

impl Ground {
    /// Whether the entry called `name`, which has `path` from the base on, is ignored.
    pub(super) fn ignores(&self, path: &[u8], name: &[u8], is_directory: bool) -> bool {
        match self.region {
            Region::Ignored => true,
            Region::Repository => false,
            Region::Ruled => {
                let levels =
                    |first| std::iter::successors(first, |level: &&Level| level.above.as_deref());
                let by_strength =
                    levels(self.stronger.as_deref()).chain(levels(self.rules.as_deref()));
                let mut decisions = by_strength
                    .filter_map(|level| level.rules.decide(&path[level.from..], is_directory));
                name != b".git" && decisions.next() == Some(true)
            }
        }
    }

    /// Whether nothing below the directory called `name` is ignored.
    pub(super) fn is_free_of_ignored(&self, name: &[u8]) -> bool {
        self.region == Region::Repository || self.region == Region::Ruled && name == b".git"
    }

    /// Whether the directory itself is ignored.
    pub(super) fn is_ignored(&self) -> bool {
        self.region == Region::Ignored
    }

    /// The directory called `name`; none if it is as this one.
    pub(super) fn below(&self, path: &[u8], name: &[u8]) -> Option<Ground> {
        let region = self.region_of(path, name);
        (region != self.region).then(|| Ground { region, ..self.clone() })
    }

    fn region_of(&self, path: &[u8], name: &[u8]) -> Region {
        match self.region {
            Region::Ruled if name == b".git" => Region::Repository,
            Region::Ruled if self.ignores(path, name, true) => Region::Ignored,
            region => region,
        }
    }
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

/// The repository of the work tree whose top is open as `dir`, if it is one: the path of what git
/// calls the common directory, from there.
fn work_tree(dir: &Handle) -> Option<Vec<u8>> {
    match dir.stat_at(c".git", Symlinks::Follow, Query::default()).ok()?.mode.kind() {
        Kind::Directory => {
            dir.stat_at(c".git/HEAD", Symlinks::Stay, Query::default()).ok()?;
            Some(b".git".to_vec())
        }
        // A work tree besides the first one, or a submodule, says where its repository is.
        Kind::File => {
            let text = dir.read_file_at(c".git").ok()??;
            let repository = text.strip_prefix(b"gitdir: ")?.trim_ascii_end().to_vec();
            let name = CString::new([&repository, b"/commondir".as_slice()].concat()).ok()?;
            Some(match dir.read_file_at(&name).ok().flatten() {
                Some(common) if common.starts_with(b"/") => common.trim_ascii_end().to_vec(),
                Some(common) => [&repository, b"/".as_slice(), common.trim_ascii_end()].concat(),
                None => repository,
            })
        }
        _ => None,
    }
}

fn exclude_file(repository: &[u8]) -> Option<CString> {
    CString::new([repository, b"/info/exclude"].concat()).ok()
}
