//! The roots: what is weighed, each once, whatever it is spelled like.

use std::ffi::{CString, OsString};
use std::io;

use super::nested;
use crate::measure::Kind;
use crate::problem::{Operation, Problem};
use crate::sys::{Mount, Stat, Symlinks};
use crate::walk::WalkOptions;

/// Where a walk begins.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) path: CString,
    pub(super) stat: Stat,
    /// What it lies on. If that is a kernel file system, it is what is asked for.
    pub(super) mount: Mount,
}

/// The roots that `paths` name, and what is wrong with the others.
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

fn root(path: &OsString, options: &WalkOptions) -> io::Result<Root> {
    let path = CString::new(path.as_encoded_bytes())?;
    let source = options.source;
    let mut stat = source.stat(&path, Symlinks::Stay, options.query)?;
    if stat.mode.kind() == Kind::Symlink {
        match source.stat(&path, Symlinks::Follow, options.query) {
            Ok(target) if options.follow || target.is_directory() => stat = target,
            _ => {}
        }
    }
    let mount = source.mount_of(&path, standing_for(&stat))?;
    Ok(Root { path, stat, mount })
}

/// How a root that came to `stat` is to be looked at again.
pub(super) fn standing_for(stat: &Stat) -> Symlinks {
    if stat.mode.kind() == Kind::Symlink { Symlinks::Stay } else { Symlinks::Follow }
}
