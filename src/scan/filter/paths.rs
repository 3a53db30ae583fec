//! Entries that a user gives by name or path.
//!
//! A bare name means every entry of that name. A path begins at each root, and also at the current directory. Paths
//! are not built to be compared. Instead, each directory gets what is left of the given paths after the names that
//! lead to it, which is nothing in nearly all directories.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::Filter;
use crate::base::path;
use crate::sys::{self, Symlinks};

/// Names and paths.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    names: Vec<Box<[u8]>>,
    /// Relative to any root.
    relative: Vec<PathBuf>,
    /// Real absolute paths.
    absolute: Vec<PathBuf>,
}

/// What is left of the paths below some directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Ends(Vec<Box<[u8]>>);

impl Paths {
    /// Takes names and paths as `typed`. A path that does not exist is kept unchanged.
    pub fn new(typed: impl IntoIterator<Item = OsString>) -> Self {
        let mut paths = Paths::default();
        for typed in typed {
            // Without slashes at the end, doubled ones and inner dots.
            let path: PathBuf = Path::new(&typed).components().collect();
            let mut parts = path.components();
            match (parts.next(), parts.next()) {
                (Some(Component::Normal(name)), None) => {
                    paths.names.push(name.as_encoded_bytes().into())
                }
                _ => {
                    // A symlink at its end is not followed.
                    let real = sys::real_path(&path, Symlinks::Stay);
                    paths.absolute.push(real.unwrap_or_else(|_| path.clone()));
                    paths.relative.push(path.strip_prefix(".").map_or(path.clone(), Into::into));
                }
            }
        }
        paths
    }

    /// Whether there are no names and no paths.
    pub(super) fn is_off(&self) -> bool {
        self.names.is_empty() && self.absolute.is_empty()
    }

    /// Whether every entry called `name` is meant.
    pub(super) fn name(&self, name: &[u8]) -> bool {
        self.names.iter().any(|known| **known == *name)
    }

    /// Whether an entry called `name` is one of these, or may be, if its path is.
    pub(super) fn may_mean(&self, name: &[u8]) -> bool {
        let ends =
            |path: &PathBuf| path.file_name().is_some_and(|end| end.as_encoded_bytes() == name);
        self.name(name) || self.relative.iter().any(ends)
    }

    /// What is left of the paths below the root at `path`, whose real path `is_at` returns.
    pub(super) fn below(&self, path: &[u8], is_at: impl Fn() -> PathBuf) -> Ends {
        if self.absolute.is_empty() {
            return Ends::default();
        }
        let (root, real) = (sys::to_path(path), is_at());
        let absolute = self.absolute.iter().filter_map(|path| path.strip_prefix(&real).ok());
        // A path may be spelled like the root and not exist any more.
        let spelled = self.relative.iter().filter_map(|path| path.strip_prefix(&root).ok());
        let ends = self.relative.iter().map(PathBuf::as_path).chain(absolute).chain(spelled);
        Ends(ends.map(|end| path::with_slashes(end).into()).collect())
    }
}

/// Entries that names, paths and `--exclude` globs leave out, by their paths. A walk leaves them out as it goes.
#[derive(Debug)]
pub struct Spared<'f> {
    filter: &'f Filter,
    /// What is left of the paths below each root.
    ends: HashMap<Vec<u8>, Ends>,
}

impl<'f> Spared<'f> {
    /// What `filter` leaves out below roots with these names.
    pub fn new<'r>(filter: &'f Filter, roots: impl IntoIterator<Item = &'r [u8]>) -> Self {
        let real = |root: &[u8]| {
            let path = sys::to_path(root);
            sys::real_path(&path, Symlinks::Follow).unwrap_or_else(|_| path.into_owned())
        };
        let ends =
            roots.into_iter().map(|root| (root.to_vec(), filter.paths.below(root, || real(root))));
        Self { filter, ends: ends.collect() }
    }

    /// Whether anything is left out.
    pub fn is_none(&self) -> bool {
        self.filter.paths.is_off() && self.filter.globs.is_off()
    }

    /// Whether the entry at the path `below` a `root` is left out.
    pub fn has(&self, root: &[u8], below: &[u8], is_directory: bool) -> bool {
        let name = below.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        self.filter.paths.name(name)
            || self.ends.get(root).is_some_and(|ends| ends.end(below))
            || self.filter.globs.excludes(below, is_directory)
    }
}

impl Ends {
    /// Whether nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of the paths ends at the entry called `name`.
    pub(super) fn end(&self, name: &[u8]) -> bool {
        self.0.iter().any(|end| **end == *name)
    }

    /// What is left of the paths below the directory called `name`.
    pub(super) fn below(&self, name: &[u8]) -> Ends {
        let rests = self.0.iter().filter_map(|end| end.strip_prefix(name)?.strip_prefix(b"/"));
        Ends(rests.map(Into::into).collect())
    }
}
