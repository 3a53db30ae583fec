//! Overlays: what one shows counts in its layers, and only there, if the walk weighs all of them.
//!
//! The kernel tells the paths of the layers as they were given when the overlay was mounted, perhaps in another
//! directory or mount namespace. So what they lead to now is checked as far as that is possible, and in doubt the
//! overlay is entered.

use std::collections::HashSet;
use std::ffi::CString;
use std::sync::Mutex;

use super::nested::{self, Root};
use super::{Walk, is_entered, layers, lock};
use crate::base::path;
use crate::scan::stats::OverlayStats;
use crate::sys::{self, MountTable, Query, Source, Symlinks};
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
    Report(Vec<u8>),
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
            Some(Layers::Report(layer)) => Some(layer),
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
                Some(Layers::Report(layer)) => found = found.or(Some(layer)),
                Some(Layers::Elsewhere) if id == mount => return Some(Layers::Elsewhere),
                _ => return None,
            }
            let in_it = mounts.mounted_in(id).filter(|(_, point)| !is_synthetic(point));
            inner.extend(in_it.map(|(id, _)| id));
        }
        found.map(Layers::Report)
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
            count if count == are_inside.len() && is_clear => Some(Layers::Report(first)),
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
            let are_of = |layers: &Vec<Root>| layers::are_of(&root, layers, query).unwrap_or(false);
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
