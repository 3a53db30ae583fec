//! The roots: what is weighed, each once, whatever it is spelled like.

use std::collections::HashSet;
use std::ffi::{CString, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::measure::Kind;
use crate::problem::{Operation, Problem};
use crate::sys::{self, Mounted, Stat, Symlinks};

/// Where a walk begins.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) path: CString,
    pub(super) stat: Stat,
    /// Whether it lies on a kernel file system, which then is what is asked for.
    pub(super) is_synthetic: bool,
}

/// The roots that `paths` name, and what is wrong with the others.
pub(super) fn resolve(
    paths: Vec<OsString>,
    follow: bool,
    one_file_system: bool,
) -> (Vec<Root>, Vec<Problem>) {
    let (mut roots, mut problems) = (Vec::new(), Vec::new());
    for path in paths {
        match root(&path, follow) {
            Ok(root) => roots.push(root),
            Err(error) => {
                problems.push(Problem::new(path.into_vec(), Operation::Stat, &error));
            }
        }
    }
    if roots.len() > 1 {
        roots = each_once(roots, one_file_system);
    }
    (roots, problems)
}

fn root(path: &OsString, follow: bool) -> io::Result<Root> {
    let path = CString::new(path.as_bytes())?;
    let mut stat = sys::stat(&path, Symlinks::Stay)?;
    if stat.mode.kind() == Kind::Symlink {
        match sys::stat(&path, Symlinks::Follow) {
            Ok(target) if follow || target.is_directory() => stat = target,
            _ => {}
        }
    }
    let is_synthetic = stat.is_directory() && matches!(sys::mounted(&path), Ok(Mounted::Synthetic));
    Ok(Root { path, stat, is_synthetic })
}

/// Leaves out a root that is another one, or lies inside another that will come by it.
fn each_once(roots: Vec<Root>, one_file_system: bool) -> Vec<Root> {
    let places: Vec<_> = roots.iter().map(real_path).collect();
    let mut met = HashSet::new();
    let is_first: Vec<_> = places.iter().map(|place| met.insert(place)).collect();
    let is_inside = |root: &Root, place: &Path| {
        place.ancestors().skip(1).any(|above| {
            let outer = roots.iter().zip(&places).find(|(_, place)| place.as_path() == above);
            outer.is_some_and(|(outer, _)| {
                outer.stat.is_directory()
                    && !(one_file_system && outer.stat.device != root.stat.device)
                    && (outer.is_synthetic || !root.is_synthetic)
            })
        })
    };
    let is_kept: Vec<_> = (roots.iter().zip(&places).zip(is_first))
        .map(|((root, place), is_first)| is_first && !is_inside(root, place))
        .collect();
    roots.into_iter().zip(is_kept).filter(|(_, is_kept)| *is_kept).map(|(root, _)| root).collect()
}

/// Where a root really is. A symlink that stands for itself is where its directory is.
fn real_path(root: &Root) -> PathBuf {
    let path = Path::new(std::ffi::OsStr::from_bytes(root.path.to_bytes()));
    let real = match (root.stat.mode.kind(), path.parent(), path.file_name()) {
        (Kind::Symlink, Some(parent), Some(name)) => {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            fs::canonicalize(parent).map(|parent| parent.join(name))
        }
        _ => fs::canonicalize(path),
    };
    real.unwrap_or_else(|_| path.to_owned())
}
