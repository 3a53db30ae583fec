//! Where a scan comes from.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::sys::{self, Symlinks};

/// When and where a scan was made, and what counted in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// When, in seconds since the epoch.
    pub time: i64,
    /// On which machine, by its own name.
    pub host: Vec<u8>,
    /// What was weighed, as absolute paths.
    pub roots: Vec<Vec<u8>>,
    /// The flags that had a say in what counts.
    pub options: Vec<String>,
    /// Whether it has times and owners.
    pub has_details: bool,
}

impl Origin {
    /// Here and now, for a walk of `roots` with `options`, and with times and owners or without.
    pub fn here(roots: &[OsString], options: Vec<String>, has_details: bool) -> Self {
        let absolute = |root: &OsString| {
            // What cannot be found will be among the problems.
            let path = sys::real_path(Path::new(root), Symlinks::Follow);
            path.map_or_else(|_| root.as_bytes().to_vec(), |path| path.into_os_string().into_vec())
        };
        let roots = roots.iter().map(absolute).collect();
        Self { time: sys::now(), host: sys::host(), roots, options, has_details }
    }

    /// Where the root was that is called `name`.
    pub(super) fn place(&self, name: &[u8]) -> PathBuf {
        let name = Path::new(OsStr::from_bytes(name));
        let mut roots = self.roots.iter().map(|root| Path::new(OsStr::from_bytes(root)));
        let only = roots.len() == 1;
        roots.find(|root| only || root.ends_with(name)).unwrap_or(name).to_owned()
    }

    /// Whether symlinks were followed: nobody knows how many of them lead to an inode.
    pub(super) fn follows(&self) -> bool {
        self.options.iter().any(|option| option == "--dereference-links")
    }
}
