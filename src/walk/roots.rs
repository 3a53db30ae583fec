//! The roots: what is weighed, each once, whatever it is spelled like.

use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::filter::Verdict;
use crate::measure::Kind;
use crate::problem::{Operation, Problem};
use crate::sys::{self, Carries, Handle, Mount, Stat, Symlinks};
use crate::walk::Options;

/// Where a walk begins.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) path: CString,
    pub(super) stat: Stat,
    /// What it lies on. If that is a kernel file system, it is what is asked for.
    pub(super) mount: Mount,
}

/// The roots that `paths` name, and what is wrong with the others.
pub(super) fn resolve(paths: Vec<OsString>, options: &Options) -> (Vec<Root>, Vec<Problem>) {
    let (mut roots, mut problems) = (Vec::new(), Vec::new());
    for path in paths {
        match root(&path, options) {
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

fn root(path: &OsString, options: &Options) -> io::Result<Root> {
    let path = CString::new(path.as_bytes())?;
    let mut stat = sys::stat(&path, Symlinks::Stay, options.query)?;
    if stat.mode.kind() == Kind::Symlink {
        match sys::stat(&path, Symlinks::Follow, options.query) {
            Ok(target) if options.follow || target.is_directory() => stat = target,
            _ => {}
        }
    }
    let mount = sys::mount_of(&path, standing_for(&stat))?;
    Ok(Root { path, stat, mount })
}

/// How a root that came to `stat` is to be looked at again.
fn standing_for(stat: &Stat) -> Symlinks {
    if stat.mode.kind() == Kind::Symlink { Symlinks::Stay } else { Symlinks::Follow }
}

/// Leaves out a root that is another one, or lies inside another whose walk will come to it.
fn each_once(roots: Vec<Root>, options: &Options) -> Vec<Root> {
    let places: Vec<_> = roots.iter().map(real_path).collect();
    let (mut met, mut entered) = (HashSet::new(), HashSet::new());
    let mut is_new = |(root, place): (&Root, _)| {
        // By whatever mount it is reached, a directory is the same one.
        met.insert(place) && (!root.stat.is_directory() || entered.insert(root.stat.identity()))
    };
    let is_first: Vec<_> = roots.iter().zip(&places).map(&mut is_new).collect();
    let by_place: HashMap<&Path, &Root> = places.iter().map(PathBuf::as_path).zip(&roots).collect();
    let is_inside = |place: &Path| {
        place.ancestors().skip(1).any(|above| {
            let outer = by_place.get(above);
            outer.is_some_and(|outer| leads_to(outer, above, place, options))
        })
    };
    let is_kept: Vec<_> = places
        .iter()
        .zip(is_first)
        .map(|(place, is_first)| is_first && !is_inside(place))
        .collect();
    roots.into_iter().zip(is_kept).filter(|(_, is_kept)| *is_kept).map(|(root, _)| root).collect()
}

/// Whether the walk of `outer`, which is at `above`, comes to `place`: nothing on the way is left
/// out, on a file system that is not crossed to, or closed to us.
fn leads_to(outer: &Root, above: &Path, place: &Path, options: &Options) -> bool {
    let Ok(way) = place.strip_prefix(above) else { return false };
    let mut at = above.to_owned();
    let mut names = vec![outer.path.to_bytes()];
    let mut known = options.filter.root(names[0]);
    for name in way {
        let open = |path: CString| Handle::open(&path).ok();
        let Some(dir) = as_c_str(&at).ok().and_then(open) else { return false };
        at.push(name);
        let Ok(at) = as_c_str(&at) else { return false };
        let Ok(stat) = sys::stat(&at, Symlinks::Stay, options.query) else { return false };
        known = options.filter.enter(known.as_ref(), &dir, || names.clone(), |_, _| ());
        let mut judge = options.filter.judge(known.as_ref(), || names.clone());
        let verdict = judge.verdict(name.as_bytes(), stat.is_directory());
        let verdict = judge.confirm(verdict, &stat);
        let below = judge.below(name.as_bytes());
        if verdict == Verdict::LeftOut || !is_crossed_to(outer, &at, &stat, options) {
            return false;
        }
        known = below;
        names.push(name.as_bytes());
    }
    true
}

/// Whether the walk of `outer` weighs what is at `path`, as far as file systems go.
fn is_crossed_to(outer: &Root, path: &CStr, stat: &Stat, options: &Options) -> bool {
    let carries = sys::mount_of(path, Symlinks::Stay).map(|mount| mount.carries);
    (!options.one_file_system || stat.device == outer.stat.device)
        && (outer.mount.carries == Carries::Synthetic || matches!(carries, Ok(Carries::Data)))
}

fn as_c_str(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

/// Where a root really is. A symlink that stands for itself is where its directory is.
fn real_path(root: &Root) -> PathBuf {
    let path = Path::new(OsStr::from_bytes(root.path.to_bytes()));
    sys::real_path(path, standing_for(&root.stat)).unwrap_or_else(|_| path.to_owned())
}
