//! Entries meant by name or by path, as a user types them.
//!
//! A bare name is meant wherever it is found. A path is meant below each root, and also from where
//! the process stands. No path is put together to compare: a directory is handed what is left of
//! the given paths once the way to it is taken off, and that is nothing nearly everywhere.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use crate::path;
use crate::sys::{self, Symlinks};

/// Names and paths.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    names: Vec<Box<[u8]>>,
    /// From any root.
    relative: Vec<PathBuf>,
    /// Where they really are.
    absolute: Vec<PathBuf>,
}

/// What is left of paths, seen from some directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Ends(Vec<Box<[u8]>>);

impl Paths {
    /// What `typed` stands for. A path that leads nowhere is kept as it is.
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
                    paths.absolute.push(really(&path));
                    paths.relative.push(path.strip_prefix(".").map_or(path.clone(), Into::into));
                }
            }
        }
        paths
    }

    /// Whether nothing is meant.
    pub(super) fn is_off(&self) -> bool {
        self.names.is_empty() && self.absolute.is_empty()
    }

    /// Whether everything called `name` is meant.
    pub(super) fn name(&self, name: &[u8]) -> bool {
        self.names.iter().any(|known| **known == *name)
    }

    /// What is meant below the root at `path`, which really `is_at` some place.
    pub(super) fn below(&self, path: &[u8], is_at: impl Fn() -> PathBuf) -> Ends {
        if self.absolute.is_empty() {
            return Ends::default();
        }
        let (root, place) = (path::from_bytes(path), is_at());
        let absolute = self.absolute.iter().filter_map(|path| path.strip_prefix(&place).ok());
        // As the root is spelled, there need not be anything at the place any more.
        let spelled = self.relative.iter().filter_map(|path| path.strip_prefix(&root).ok());
        let ends = self.relative.iter().map(PathBuf::as_path).chain(absolute).chain(spelled);
        Ends(ends.map(|end| path::with_slashes(end).into()).collect())
    }
}

impl Ends {
    /// Whether nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of the paths ends here, in `name`.
    pub(super) fn end(&self, name: &[u8]) -> bool {
        self.0.iter().any(|end| **end == *name)
    }

    /// What is left in the directory called `name`.
    pub(super) fn below(&self, name: &[u8]) -> Ends {
        let rests = self.0.iter().filter_map(|end| end.strip_prefix(name)?.strip_prefix(b"/"));
        Ends(rests.map(Into::into).collect())
    }
}

/// Where `path` is; a symlink is meant itself.
fn really(path: &Path) -> PathBuf {
    sys::real_path(path, Symlinks::Stay).unwrap_or_else(|_| path.to_owned())
}
