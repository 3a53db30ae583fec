//! The roots of a walk, each once, however it is spelled.

use std::ffi::{CString, OsString};
use std::io;

use super::nested;
use super::visit::is_loop;
use crate::base::measure::Kind;
use crate::scan::walk::WalkOptions;
use crate::sys::problem::{Operation, Problem};
use crate::sys::{self, Location, Mount, MountTable, Stat, Symlinks};

/// Where a walk begins.
#[derive(Clone, Debug)]
pub(super) struct Root {
    pub(super) path: CString,
    pub(super) stat: Stat,
    /// The mount that it is on. A kernel file system here was asked for.
    pub(super) mount: Mount,
}

/// The roots at `paths`, and the problems of those that cannot be found.
pub(super) fn resolve(paths: Vec<OsString>, options: &WalkOptions) -> (Vec<Root>, Vec<Problem>) {
    let (mut roots, mut problems) = (Vec::new(), Vec::new());
    for path in paths {
        match root(&path, options) {
            Ok(root) => roots.push(root),
            Err(error) => {
                problems.push(Problem::new(path.into_encoded_bytes(), Operation::Stat, &error));
            }
        }
    }
    if roots.len() > 1 {
        roots = nested::each_once(roots, options);
    }
    (roots, problems)
}

/// The root at `path`.
pub(super) fn root(path: &OsString, options: &WalkOptions) -> io::Result<Root> {
    let path = CString::new(path.as_encoded_bytes())?;
    let source = options.source;
    let mut stat = source.stat(&path, Symlinks::Stay, options.query)?;
    if stat.mode.kind() == Kind::Symlink {
        match source.stat(&path, Symlinks::Follow, options.query) {
            Ok(target) if options.rules.follow || target.is_directory() => stat = target,
            // What it leads to might be a directory.
            Err(error) if !sys::is_vanished(&error) => return Err(error),
            Err(error) if options.rules.follow && is_loop(&error) => return Err(error),
            _ => {}
        }
    }
    let mount = source.mount_of(&path, standing_for(&stat))?;
    Ok(Root { path, stat, mount })
}

/// The location of the directory at `path`, which is on `mount`; none if the system does not tell.
pub(super) fn location(mounts: &MountTable, path: &[u8], mount: u64) -> Option<Location> {
    let real = sys::real_path(&sys::to_path(path), Symlinks::Follow).ok();
    let real = real.filter(|_| !mounts.is_empty())?;
    mounts.location(mount, real.as_os_str().as_encoded_bytes())
}

/// Whether to follow symlinks when a root with these attributes is examined again.
pub(super) fn standing_for(stat: &Stat) -> Symlinks {
    if stat.mode.kind() == Kind::Symlink { Symlinks::Stay } else { Symlinks::Follow }
}
