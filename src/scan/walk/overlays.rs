//! Overlays: what one shows counts in its layers, and only there, if the walk weighs all of them.
//!
//! The kernel tells the paths of the layers as they were given when the overlay was mounted, perhaps in another
//! directory or mount namespace. So what they lead to now is checked as far as that is possible, and in doubt the
//! overlay is entered.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::{CStr, CString};
use std::io;
use std::sync::Mutex;

use super::find::list_again;
use super::nested::{self, Root};
use super::{Walk, is_entered, lock};
use crate::base::measure::Kind;
use crate::base::path;
use crate::scan::stats::OverlayStats;
use crate::sys::{self, Handle, MountTable, Query, Source, Stat, Symlinks};
use crate::tree::tally::Tally;

/// The overlays that a walk has met.
#[derive(Debug, Default)]
pub(super) struct Overlays {
    /// The roots of the walk.
    roots: Vec<Root>,
    /// What is to be said. Locked once for each.
    met: Mutex<Vec<OverlayStats>>,
}

/// Where the layers of an overlay are.
enum Layers {
    /// All of them are weighed. The path of the topmost, from where the overlay is mounted.
    Weighed(Vec<u8>),
    /// None of them is.
    Elsewhere,
}

impl Overlays {
    /// None yet, in a walk of these `roots`.
    pub(super) fn of(roots: &[Root]) -> Self {
        Self { roots: roots.to_vec(), ..Self::default() }
    }

    /// What is to be said of them, in the order of their paths.
    pub(super) fn stats(&self) -> Vec<OverlayStats> {
        let mut met = lock(&self.met).clone();
        met.sort_unstable_by(|one, two| one.path.cmp(&two.path));
        met
    }
}

impl<T: Tally> Walk<T> {
    /// Whether what the overlay on `mount` shows, which was met at `path`, is weighed elsewhere.
    #[cold]
    pub(super) fn is_weighed_below(&self, mount: u64, path: impl FnOnce() -> Vec<u8>) -> bool {
        let layer = match self.layers_of(mount) {
            Some(Layers::Elsewhere) => return false,
            Some(Layers::Weighed(layer)) => Some(layer),
            None => None,
        };
        let is_weighed = layer.is_some();
        lock(&self.overlays.met).push(OverlayStats { path: path(), layer });
        is_weighed
    }

    /// Where the layers of the overlay on `mount` are, and of all overlays that are mounted in it. If another file
    /// system is mounted in it, that would be missing. None if that is unclear.
    fn layers_of(&self, mount: u64) -> Option<Layers> {
        let mounts = self.mounts.get_or_init(MountTable::read);
        let (mut found, mut inner) = (None, vec![mount]);
        while let Some(id) = inner.pop() {
            match self.layers(mounts, id) {
                Some(Layers::Weighed(layer)) => found = found.or(Some(layer)),
                Some(Layers::Elsewhere) if id == mount => return Some(Layers::Elsewhere),
                _ => return None,
            }
            let in_it = mounts.mounted_in(id).filter(|(_, point)| !is_synthetic(point));
            inner.extend(in_it.map(|(id, _)| id));
        }
        found.map(Layers::Weighed)
    }

    /// Where the layers of the overlay on `mount` are; none if it is none, they cannot be found, or something that it
    /// shows may not be weighed in them.
    fn layers(&self, mounts: &MountTable, mount: u64) -> Option<Layers> {
        let (root, layers) = self.found(mounts, mount)?;
        let overlay = mounts.overlay(mount)?;
        let above = overlay.point.rsplitn(2, |byte| *byte == b'/').nth(1)?;
        let first = path::seen_from(above, layers.first()?.path.to_bytes());
        // Shares leave nothing out, together.
        let mut options = self.options.clone();
        options.filter.share = None;
        let is_clear = !overlay.layers.have_hidden
            && !options.filter.depends_on_place()
            // A relative symlink may lead elsewhere from the overlay than from its layer.
            && !options.rules.follow
            && layers.iter().all(|layer| !mounts.is_covered(layer.mount.id, layer.path.to_bytes()))
            && !self.is_in_own_layers(mounts, &root, &layers);
        let are_inside = nested::are_inside(&self.overlays.roots, layers, &options);
        match are_inside.iter().filter(|is_inside| **is_inside).count() {
            0 => Some(Layers::Elsewhere),
            count if count == are_inside.len() && is_clear => Some(Layers::Weighed(first)),
            _ => None,
        }
    }

    /// The root and the layers of the overlay on `mount`; none if it is none, or they cannot be found.
    fn found(&self, mounts: &MountTable, mount: u64) -> Option<(Root, Vec<Root>)> {
        let overlay = mounts.overlay(mount)?;
        let (point, paths) = (overlay.point, &overlay.layers.paths);
        let root = self.find(point).filter(|root| root.mount.id == overlay.mount)?;
        // Engines mount by names that begin in a directory above the mount point.
        let ends = (0..point.len()).filter(|end| point[*end] == b'/');
        let is_absolute = paths.iter().all(|layer| layer.starts_with(b"/"));
        let mut found = Vec::new();
        for end in ends.take(if is_absolute { 1 } else { usize::MAX }) {
            let base = &point[..end];
            let layers = paths.iter().map(|layer| self.layer(mounts, base, layer));
            let layers = layers.collect::<Option<Vec<_>>>();
            // A later mount may have covered one.
            let query = Query { times: true, ..self.options.query };
            let are_of = |layers: &Vec<Root>| are_of(&root, layers, query).unwrap_or(false);
            found.extend(layers.filter(are_of));
        }
        let layers = found.pop().filter(|_| found.is_empty())?;
        Some((root, layers))
    }

    /// Whether one of the `layers` of the overlay with this `root` is in an overlay that has this one among its own
    /// layers, or the layers of those. A later mount has covered a layer then, and each counts only in the others.
    fn is_in_own_layers(&self, mounts: &MountTable, root: &Root, layers: &[Root]) -> bool {
        let (mut seen, mut open) = (HashSet::new(), layers.to_vec());
        while let Some(layer) = open.pop() {
            if layer.stat.device == root.stat.device {
                return true;
            }
            if seen.insert(layer.mount.id) {
                open.extend(
                    self.found(mounts, layer.mount.id).into_iter().flat_map(|(_, below)| below),
                );
            }
        }
        false
    }

    /// The `layer` with this path from the directory `base`, unless opening it might wait.
    fn layer(&self, mounts: &MountTable, base: &[u8], layer: &[u8]) -> Option<Root> {
        let base = if layer.starts_with(b"/") { b"" } else { base };
        let near = self.overlays.roots.first()?.mount.id;
        let (path, may_open) = mounts.near_path(&path::join_all([base, layer]), near)?;
        if may_open { self.find(&path) } else { None }
    }

    /// The directory at `path`.
    fn find(&self, path: &[u8]) -> Option<Root> {
        let path = sys::to_path(path).into_owned().into();
        nested::root(&path, &self.options).ok().filter(|root| root.stat.is_directory())
    }
}

/// Whether no walk enters what is mounted at `point`.
fn is_synthetic(point: &[u8]) -> bool {
    let Ok(path) = CString::new(point) else { return false };
    let mount = Source::default().mount_of(&path, Symlinks::Stay);
    mount.is_ok_and(|mount| !is_entered(mount.content, false))
}

// Whether directories are the layers of an overlay. The kernel tells only their paths. Other directories may be there
// by now, so what the overlay shows is compared with what is in them.
//
// An overlay shows a file under the inode number that it has in its layer. Of a directory that holds if all layers are
// on one file system, and the directory is in one layer alone (Documentation/filesystems/overlayfs.rst, 6.18).

/// At most so many names are compared: as many as in a large directory of programs.
const MOST: usize = 10_000;

/// The names in one directory of an overlay, and in its layers.
struct Compared<'l> {
    query: Query,
    /// Whether all layers are on one file system.
    are_on_one: bool,
    /// Which layers are known to be the overlay's.
    are_known: &'l mut [bool],
    /// How many more names are compared.
    left: usize,
}

/// A directory that several layers may have: the names that lead to it, and the numbers of these layers, the topmost
/// first.
struct Merged {
    way: Vec<CString>,
    layers: Vec<usize>,
}

/// Whether each of `layers`, the topmost first, is a layer of the overlay with this `root`, or shows nothing there. False
/// in doubt.
///
/// # Errors
/// The system's.
pub(super) fn are_of(root: &Root, layers: &[Root], query: Query) -> io::Result<bool> {
    let device = layers.first().map(|top| top.stat.device);
    let are_on_one = layers.iter().all(|layer| Some(layer.stat.device) == device);
    let is_top = layers.first().is_some_and(|top| top.stat.inode == root.stat.inode);
    // Where the overlay covers one of its own layers, it is found there itself.
    let is_itself = layers.iter().any(|layer| layer.stat.device == root.stat.device);
    if is_itself || (are_on_one && !is_top) {
        return Ok(false);
    }
    let mut are_known: Vec<_> = (0..layers.len()).map(|i| i == 0 && are_on_one).collect();
    let mut compared = Compared { query, are_on_one, are_known: &mut are_known, left: MOST };
    let mut open = vec![Merged { way: Vec::new(), layers: (0..layers.len()).collect() }];
    let shown = open_root(root)?;
    let handles = layers.iter().map(open_root).collect::<io::Result<Vec<_>>>()?;
    while let Some(directory) = open.pop() {
        if !compared.directory(&shown, &handles, directory, &mut open)? {
            return Ok(false);
        }
        if compared.left == 0 || compared.are_known.iter().all(|is_known| *is_known) {
            break;
        }
    }
    // If all that it shows was found, a layer that shows nothing does not matter.
    let is_all = open.is_empty() && compared.left > 0;
    Ok(is_all || are_known.iter().all(|is_known| *is_known))
}

impl Compared<'_> {
    /// Compares one directory, and adds those in it that several layers have to `open`. False if what it shows is in
    /// none of the layers.
    fn directory(
        &mut self,
        shown: &Handle,
        layers: &[Handle],
        Merged { way, layers: numbers }: Merged,
        open: &mut Vec<Merged>,
    ) -> io::Result<bool> {
        let shown = open_below(shown, &way)?;
        // Before the layers, because files may appear meanwhile.
        let names = self.names(&shown)?;
        let mut in_layers: BTreeMap<CString, Vec<usize>> = BTreeMap::new();
        let mut handles = BTreeMap::new();
        for number in numbers {
            let handle = open_below(&layers[number], &way)?;
            for name in self.names(&handle)? {
                in_layers.entry(name).or_default().push(number);
            }
            handles.insert(number, handle);
        }
        if self.left == 0 {
            return Ok(true);
        }
        for (name, numbers) in &in_layers {
            let Some(topmost) = numbers.first().and_then(|number| handles.get(number)) else {
                continue;
            };
            let Some(stat) = self.stat(topmost, name)? else { continue };
            let Some(as_shown) = self.stat(&shown, name)? else {
                // Below the root, a directory may hide all that is in lower layers. A device or an empty file may be a
                // whiteout.
                let may_be_hidden = !way.is_empty() || may_be_whiteout(&stat);
                match may_be_hidden {
                    true => continue,
                    false => return Ok(false),
                }
            };
            if as_shown.mount_point {
                continue;
            }
            let is_same = self.is_same(&as_shown, &stat);
            self.are_known[numbers[0]] |= is_same;
            if !as_shown.is_directory() {
                // A file that was copied up has the number that it had in a lower layer, perhaps under another name.
                if !is_same && (numbers[0] > 0 || !self.is_copy(&shown, topmost, name)?) {
                    return Ok(false);
                }
                continue;
            }
            // A layer that is not here may have it, too, and then the overlay shows both under the number of the topmost.
            let are_below_known = self.are_known[numbers[0]..].iter().all(|is_known| *is_known);
            if is_same && numbers.len() == 1 && are_below_known {
                continue;
            }
            let way = way.iter().chain([name]).cloned().collect();
            let mut layers = Vec::new();
            for number in numbers {
                let handle = &handles[number];
                if self.stat(handle, name)?.is_none_or(|stat| !stat.is_directory()) {
                    break;
                }
                layers.push(*number);
            }
            open.push(Merged { way, layers });
        }
        for name in names.iter().filter(|name| !in_layers.contains_key(*name)) {
            // It may have been removed meanwhile.
            if self.stat(&shown, name)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The names in a directory, as many as may still be compared.
    fn names(&mut self, directory: &Handle) -> io::Result<BTreeSet<CString>> {
        let mut names = BTreeSet::new();
        list_again(directory, |listing| {
            names.extend(listing.iter().take(self.left).map(|listed| listed.name.to_owned()));
            self.left -= listing.len().min(self.left);
            Ok(self.left > 0)
        })?;
        Ok(names)
    }

    /// The attributes of the entry called `name`; none if there is none.
    fn stat(&self, directory: &Handle, name: &CStr) -> io::Result<Option<Stat>> {
        sys::unless_vanished(directory.stat_at(name, Symlinks::Stay, self.query))
    }

    /// Whether a file that is shown is that of a layer, whatever its number. Somebody may write to it meanwhile.
    fn is_copy(&self, shown: &Handle, layer: &Handle, name: &CStr) -> io::Result<bool> {
        const TRIES: usize = 3;
        for _ in 0..TRIES {
            let [shown, stat] = [self.stat(shown, name)?, self.stat(layer, name)?];
            let attributes = |it: Stat| (it.mode, it.length, it.modified, it.changed);
            if shown.map(attributes) == stat.map(attributes) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether what is shown is what is in a layer. The upper bits of an inode number may say which layer that is.
    fn is_same(&self, shown: &Stat, stat: &Stat) -> bool {
        const NUMBER: u64 = (1 << 48) - 1;
        let attributes = |it: &Stat| {
            (it.inode & NUMBER, it.mode, it.length, it.modified, it.changed, it.changed_nanos)
        };
        attributes(shown) == attributes(stat) && (self.are_on_one || !stat.is_directory())
    }
}

/// Whether an entry of a layer may say that what is in lower layers is removed.
fn may_be_whiteout(stat: &Stat) -> bool {
    match stat.mode.kind() {
        Kind::Other => true,
        Kind::File => stat.length == 0,
        Kind::Directory | Kind::Symlink => false,
    }
}

fn open_root(root: &Root) -> io::Result<Handle> {
    root.mount.source.open(&root.path)
}

/// Opens the directory that `way` leads to.
fn open_below(root: &Handle, way: &[CString]) -> io::Result<Handle> {
    let mut handle = root.open_at(c".", Symlinks::Stay)?;
    for name in way {
        handle = handle.open_at(name, Symlinks::Stay)?;
    }
    Ok(handle)
}
