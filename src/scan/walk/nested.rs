//! Roots that are the same as others or inside others: each is weighed once.
//!
//! The directories above a root are found by going up from it through `..`. Paths cannot tell: a path may lead
//! through unreadable directories, it may be too long, and what it led to may not be mounted any more. The place of a
//! directory is its mount and its inode, so that a directory mounted twice is in two places. Each place is visited
//! once, however many roots are below it.

use std::cell::OnceCell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString, OsString};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::{io, iter};

use super::find::name_in;
use super::is_entered;
use super::visit::is_loop;
use crate::base::inode::Identity;
use crate::base::measure::Kind;
use crate::base::path;
use crate::scan::filter::{self, CACHE_TAG, Verdict};
use crate::scan::walk::WalkOptions;
use crate::sys::problem::{Operation, Problem};
use crate::sys::{self, Handle, Location, Mount, MountContent, MountTable, Query, Stat, Symlinks};

/// Leaves out roots that are the same as another root, or inside another root whose walk reaches them.
///
/// It goes from the outside in, because only a root that is kept can contain others. A root inside one that is left
/// out is reached by the walk of another root, whose filters may leave it out.
pub(super) fn each_once(roots: Vec<Root>, options: &WalkOptions) -> Vec<Root> {
    let is_kept = are_outermost(&roots, options);
    roots.into_iter().zip(is_kept).filter(|(_, is_kept)| *is_kept).map(|(root, _)| root).collect()
}

/// Whether each of these `directories` is one of the roots or inside one whose walk reaches it.
pub(super) fn are_inside(
    roots: &[Root],
    directories: Vec<Root>,
    options: &WalkOptions,
) -> Vec<bool> {
    let all = [roots, &directories].concat();
    let are_outermost = are_outermost(&all, options).into_iter().skip(roots.len());
    are_outermost.map(|is_outermost| !is_outermost).collect()
}

/// Whether each of `roots` is the first of its kind, and inside no other.
fn are_outermost<'r>(roots: &'r [Root], options: &WalkOptions) -> Vec<bool> {
    let mut files = HashSet::new();
    let mut directories: HashMap<Identity, Vec<&'r Root>> = HashMap::new();
    let mounts = OnceCell::new();
    let mut is_first = |root: &'r Root| {
        let others = directories.entry(root.stat.identity()).or_default();
        let is_first = !others.iter().any(|other| is_same(other, root, &mounts));
        others.extend(is_first.then_some(root));
        is_first
    };
    let mut is_kept: Vec<_> =
        roots.iter().map(|root| !root.stat.is_directory() || is_first(root)).collect();

    let mut nesting = Nesting::new(roots, &is_kept, options);
    let mut placed = Vec::new();
    for (i, root) in roots.iter().enumerate().filter(|(i, _)| is_kept[*i]) {
        let start = Start::of(root, options);
        let place = nesting.place_above(&start);
        let depth = place.and_then(|place| nesting.depths.get(&place).copied());
        placed.push((depth, i, start, place));
    }
    placed.sort_by_key(|(depth, ..)| *depth);
    for (_, i, start, place) in placed {
        let root = &roots[i];
        let is_new = root.stat.is_directory()
            || match place {
                Some(_) => files.insert((place, start.name.clone())),
                None => files.insert((None, root.path.to_bytes().to_vec())),
            };
        let is_inside = is_new && place.is_some_and(|place| nesting.is_inside(&start, place));
        is_kept[i] = is_new && !is_inside;
        if is_inside {
            nesting.inner.insert(root.stat.identity());
        }
    }
    is_kept
}

/// Whether two roots with the same inode number are the same directory, which it is through any mount. In some file
/// systems, several directories may have one number.
fn is_same(one: &Root, other: &Root, mounts: &OnceCell<MountTable>) -> bool {
    let mounts = mounts.get_or_init(MountTable::read);
    let [one, other] =
        [one, other].map(|root| location(mounts, root.path.to_bytes(), root.mount.id));
    one.zip(other).is_none_or(|(one, other)| one == other)
}

/// Where the way up from a root begins.
struct Start<'a> {
    root: &'a Root,
    /// The root itself if it is a directory, and else the directory that contains it.
    dir: CString,
    /// What the root is called there; empty for a directory.
    name: Vec<u8>,
}

impl<'a> Start<'a> {
    fn of(root: &'a Root, options: &WalkOptions) -> Self {
        let spelled = sys::to_path(root.path.to_bytes());
        // The path may be that of a symlink, and the root its target.
        let is_file = !root.stat.is_directory();
        let path =
            if is_file && options.rules.follow { real_path(root) } else { spelled.into_owned() };
        let (Some(dir), Some(name), true) = (path.parent(), path.file_name(), is_file) else {
            return Self { root, dir: root.path.clone(), name: Vec::new() };
        };
        let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
        let dir = CString::new(dir.as_os_str().as_encoded_bytes()).unwrap_or_default();
        Self { root, dir, name: name.as_encoded_bytes().to_vec() }
    }

    /// The directory that contains the root.
    fn dir_above(&self) -> io::Result<Handle> {
        let source = self.root.mount.source;
        let dir = source.look(&self.dir)?;
        if !self.root.stat.is_directory() {
            return Ok(dir);
        }
        dir.up().or_else(|_| {
            // A directory may forbid searching, even for `..`.
            let path = sys::to_path(self.root.path.to_bytes());
            let path = sys::real_path(&path, Symlinks::Follow)?;
            let above = path.parent().ok_or_else(sys::not_found)?;
            source.look(&CString::new(above.as_os_str().as_encoded_bytes())?)
        })
    }
}

/// What is known about the places of the roots and above them.
struct Nesting<'a> {
    options: &'a WalkOptions,
    /// The roots that are directories.
    outer: HashMap<Identity, &'a Root>,
    /// Those of them that are walked through another mount. The walk does not reach what else is mounted in them.
    twins: HashSet<Identity>,
    /// Those that are inside another root.
    inner: HashSet<Identity>,
    /// The places of directories that contain files, by their paths.
    spelled: HashMap<CString, Option<Identity>>,
    /// The place above each place; the same place if there is none above, or if it cannot be found.
    above: HashMap<Identity, Identity>,
    /// How many places are above each.
    depths: HashMap<Identity, usize>,
    /// The mount that each place is on, if a walk could enter it.
    enterable: HashMap<Identity, Option<Mount>>,
    /// The name of each place in the one above it.
    names: HashMap<Identity, CString>,
    /// What filters know about a directory, and whether it is a cache whose content is left out, by its path: git's
    /// index and the tag of a cache are read once, and not once for each root.
    entered: HashMap<Vec<u8>, (Option<Arc<filter::Scope>>, bool)>,
}

impl<'a> Nesting<'a> {
    fn new(roots: &'a [Root], is_kept: &[bool], options: &'a WalkOptions) -> Self {
        let (mut outer, mut twins, inner) = (HashMap::new(), HashSet::new(), HashSet::new());
        let roots = roots.iter().zip(is_kept);
        for (root, is_kept) in roots.filter(|(root, _)| root.stat.is_directory()) {
            let mut place = root.stat.identity_on(root.mount.id);
            // Something else may be mounted by the time the directory is entered.
            if root.mount.content == MountContent::Automount {
                let opened = root.mount.source.open(&root.path);
                place = opened.and_then(|dir| dir.mounted_identity()).unwrap_or(place);
            }
            if let Entry::Vacant(vacant) = outer.entry(place) {
                vacant.insert(root);
                if !is_kept {
                    twins.insert(place);
                }
            }
        }
        let (spelled, above, depths) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (enterable, names, entered) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { options, outer, twins, inner, spelled, above, depths, enterable, names, entered }
    }

    /// The place that contains the root at `start`, after finding all places above it; none if there is none, or it
    /// cannot be found.
    fn place_above(&mut self, start: &Start<'_>) -> Option<Identity> {
        let root = start.root;
        if root.stat.is_directory() {
            let place = root.stat.identity_on(root.mount.id);
            // A single root has no other root inside it.
            if self.outer.len() > 1 && !self.above.contains_key(&place) {
                self.climb(place, || start.dir_above());
            }
            return self.above.get(&place).copied().filter(|above| *above != place);
        }
        if let Some(place) = self.spelled.get(&start.dir) {
            return *place;
        }
        let dir = root.mount.source.look(&start.dir).ok();
        let place = dir.and_then(|dir| {
            let place = dir.mounted_identity().ok()?;
            if !self.outer.is_empty() {
                self.climb(place, || dir.up());
            }
            Some(place)
        });
        self.spelled.insert(start.dir.clone(), place);
        place
    }

    /// Goes `up` from `place` until it reaches a known place.
    fn climb(&mut self, place: Identity, up: impl FnOnce() -> io::Result<Handle>) {
        let (mut way, mut at, mut up) = (Vec::new(), place, up());
        while !self.above.contains_key(&at) {
            way.push(at);
            let above = up.and_then(|dir| Ok((dir.mounted_identity()?, dir)));
            let Ok((above, dir)) = above else {
                self.above.insert(at, at);
                break;
            };
            self.above.insert(at, above);
            (at, up) = (above, dir.up());
        }
        let top = self.depths.get(&at).map_or(0, |depth| depth + 1);
        self.depths.extend(way.into_iter().rev().zip(top..));
    }

    /// Whether the walk of another root reaches the root at `start`, which is in `place`.
    fn is_inside(&mut self, start: &Start<'_>, place: Identity) -> bool {
        let mut way = vec![place];
        let mut at = place;
        // A directory that is moved meanwhile could seem to be inside itself.
        while way.len() <= self.above.len() + 1 {
            let mounts = way.iter().map(|place| place.mount).chain([start.root.mount.id]);
            if let Some(outer) = self.outer.get(&at).copied()
                && !self.inner.contains(&outer.stat.identity())
                && (!self.twins.contains(&at) || mounts.into_iter().all(|mount| mount == at.mount))
                && self.leads_to(outer, &way, start)
            {
                return true;
            }
            match self.above.get(&at) {
                Some(above) if *above != at => at = *above,
                _ => return false,
            }
            way.push(at);
        }
        false
    }

    /// Whether the walk of `outer` reaches the root at `start` by the places on the `way`, of which `outer` is the
    /// last. It does not if anything there is left out, unreadable, or on a file system that the walk does not enter.
    fn leads_to(&mut self, outer: &Root, way: &[Identity], start: &Start<'_>) -> bool {
        let root = start.root;
        if way.iter().any(|place| !self.enterable.contains_key(place)) {
            self.look_at(way, start);
        }
        for (i, place) in way.iter().enumerate() {
            match self.enterable.get(place).copied().flatten() {
                Some(_) if i + 1 == way.len() => {}
                Some(mount) if self.is_crossed_to(outer, place.device, mount) => {}
                _ => return false,
            }
        }
        if !self.is_crossed_to(outer, root.stat.device, root.mount) {
            return false;
        }
        if self.options.filter.is_off() {
            return true;
        }
        let names = self.names(way, start);
        names.and_then(|names| self.is_admitted(outer, &names)).unwrap_or(false)
    }

    /// Whether the walk of `outer` enters a `mount` of this `device`.
    fn is_crossed_to(&self, outer: &Root, device: u64, mount: Mount) -> bool {
        self.options.is_weighed(outer.stat.device, device)
            && !self.options.skip.has(mount, outer.mount)
            && is_entered(mount.content, outer.mount.content == MountContent::Synthetic)
    }

    /// Finds out which places on the `way` a walk could enter.
    fn look_at(&mut self, way: &[Identity], start: &Start<'_>) {
        let mut dir = start.dir_above();
        for place in way {
            let mount = dir.as_ref().ok().and_then(|dir| {
                dir.open_at(c".", Symlinks::Stay).ok()?;
                dir.mount_at(c".", Symlinks::Stay).ok()
            });
            self.enterable.insert(*place, mount);
            dir = dir.and_then(|dir| dir.up());
        }
    }

    /// The names on the `way` down to the root at `start`.
    fn names(&mut self, way: &[Identity], start: &Start<'_>) -> io::Result<Vec<CString>> {
        let root = start.root;
        let path = real_path(root);
        let mut spelled = path.components().rev().map_while(|name| match name {
            Component::Normal(name) => CString::new(name.as_encoded_bytes()).ok(),
            _ => None,
        });
        let mut names = Vec::new();
        let mut dir = start.dir_above()?;
        let mut below = root.stat.identity_on(root.mount.id);
        for (i, above) in way.iter().enumerate() {
            let spelled = spelled.next();
            if i > 0 {
                dir = dir.up()?;
            }
            let name = match self.names.get(&below) {
                _ if i == 0 && !root.stat.is_directory() => CString::new(start.name.clone())?,
                Some(name) => name.clone(),
                None => {
                    let name = name_of(&dir, below, spelled)?;
                    self.names.insert(below, name.clone());
                    name
                }
            };
            names.push(name);
            below = *above;
        }
        names.reverse();
        Ok(names)
    }

    /// Whether filters admit every name on the `way` from `outer`.
    fn is_admitted(&mut self, outer: &Root, way: &[CString]) -> io::Result<bool> {
        let (filter, root) = (&self.options.filter, outer.path.to_bytes());
        let mut filters = filter.for_directory(filter.root(root, |_, _| ()), || vec![root]);
        let mut dir = outer.mount.source.open(&outer.path)?;
        for (i, name) in way.iter().enumerate() {
            if i > 0 {
                dir = dir.open_at(&way[i - 1], Symlinks::Stay)?;
            }
            let stat = dir.stat_at(name, Symlinks::Stay, self.options.query)?;
            let above = way[..i].iter().map(|name| name.to_bytes());
            let names: Vec<_> = iter::once(root).chain(above).collect();
            let entered = self.entered.entry(path::join_all(names.iter().copied()));
            let (scope, is_cache) = entered.or_insert_with(|| {
                let scope = filter.enter(filters.scope.as_ref(), &dir, || names.clone(), |_, _| ());
                (scope, filter.leaves_out_caches && filter::is_cache(&dir).unwrap_or(false))
            });
            if *is_cache && name.as_c_str() != CACHE_TAG {
                return Ok(false);
            }
            filters.scope = scope.clone();
            let verdict = filters.verdict(name.to_bytes(), stat.is_directory());
            if filters.confirm(verdict, &stat) == Verdict::LeftOut {
                return Ok(false);
            }
            filters.enter(name.to_bytes());
        }
        Ok(true)
    }
}

/// The name of the directory at `place` in the one above it, `above`: the one that is `spelled`, if that is right.
fn name_of(above: &Handle, place: Identity, spelled: Option<CString>) -> io::Result<CString> {
    if let Some(name) = spelled.filter(|name| is_at(above, name, place)) {
        return Ok(name);
    }
    name_in(above, |listed| Ok(is_at(above, listed.name, place)))?.ok_or_else(sys::not_found)
}

/// Whether what is called `name` in `above` is at `place`.
fn is_at(above: &Handle, name: &CStr, place: Identity) -> bool {
    let stat = above.stat_at(name, Symlinks::Stay, Query::default());
    stat.is_ok_and(|stat| stat.identity() == place.on_any_mount())
        && above.mount_at(name, Symlinks::Stay).is_ok_and(|mount| mount.id == place.mount)
}

/// The real path of a root, as far as a path can tell.
fn real_path(root: &Root) -> PathBuf {
    let path = sys::to_path(root.path.to_bytes());
    sys::real_path(&path, standing_for(&root.stat)).unwrap_or_else(|_| path.into_owned())
}

// The roots of a walk, each once, however it is spelled.

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
        roots = each_once(roots, options);
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
