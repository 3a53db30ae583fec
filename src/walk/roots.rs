//! The roots: what is weighed, each once, whatever it is spelled like.

use std::collections::{HashMap, HashSet};
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::measure::Kind;
use crate::problem::{Operation, Problem};
use crate::sys::{self, Handle, Mounted, Stat, Symlinks};
use crate::walk::Options;

/// Where a walk begins.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) path: CString,
    pub(super) stat: Stat,
    /// Whether it lies on a kernel file system, which then is what is asked for.
    pub(super) is_synthetic: bool,
}

/// The roots that `paths` name, and what is wrong with the others.
pub(super) fn resolve(paths: Vec<OsString>, options: &Options) -> (Vec<Root>, Vec<Problem>) {
    let (mut roots, mut problems) = (Vec::new(), Vec::new());
    for path in paths {
        match root(&path, options.follow) {
            Ok(root) => roots.push(root),
            Err(error) => {
                problems.push(Problem::new(path.into_vec(), Operation::Stat, &error));
            }
        }
    }
    if roots.len() > 1 {
        roots = each_once(roots, options);
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

/// Leaves out a root that is another one, or lies inside another whose walk will come to it.
fn each_once(roots: Vec<Root>, options: &Options) -> Vec<Root> {
    let places: Vec<_> = roots.iter().map(real_path).collect();
    let mut met = HashSet::new();
    let is_first: Vec<_> = places.iter().map(|place| met.insert(place)).collect();
    let by_place: HashMap<&Path, &Root> = places.iter().map(PathBuf::as_path).zip(&roots).collect();
    let is_inside = |inner: &Root, place: &Path| {
        place.ancestors().skip(1).any(|above| {
            let outer = by_place.get(above);
            outer.is_some_and(|outer| leads_to(outer, above, inner, place, options))
        })
    };
    let is_kept: Vec<_> = (roots.iter().zip(&places).zip(is_first))
        .map(|((root, place), is_first)| is_first && !is_inside(root, place))
        .collect();
    roots.into_iter().zip(is_kept).filter(|(_, is_kept)| *is_kept).map(|(root, _)| root).collect()
}

/// Whether the walk of `outer`, which is at `above`, comes to `inner`, at `place`: nothing on the
/// way is left out, on another file system that is not crossed to, or closed to us.
fn leads_to(outer: &Root, above: &Path, inner: &Root, place: &Path, options: &Options) -> bool {
    let Ok(way) = place.strip_prefix(above) else { return false };
    if inner.is_synthetic && !outer.is_synthetic {
        return false;
    }
    let mut at = above.to_owned();
    way.iter().all(|name| {
        let is_open = as_c_str(&at).is_ok_and(|path| Handle::open(&path).is_ok());
        at.push(name);
        let stat = as_c_str(&at).and_then(|path| sys::stat(&path, Symlinks::Stay));
        let is_here = stat.is_ok_and(|stat| stat.device == outer.stat.device);
        is_open
            && options.filter.names.admit(name.as_bytes())
            && (is_here || !options.one_file_system)
    })
}

fn as_c_str(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

/// Where a root really is. A symlink that stands for itself is where its directory is.
fn real_path(root: &Root) -> PathBuf {
    let symlinks = match root.stat.mode.kind() {
        Kind::Symlink => Symlinks::Stay,
        _ => Symlinks::Follow,
    };
    let path = Path::new(OsStr::from_bytes(root.path.to_bytes()));
    sys::real_path(path, symlinks).unwrap_or_else(|_| path.to_owned())
}
