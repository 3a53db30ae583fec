//! Whether directories are the layers of an overlay. The kernel tells only their paths. Other directories may be there
//! by now, so what the overlay shows is compared with what is in them.
//!
//! An overlay shows a file under the inode number that it has in its layer. Of a directory that holds if all layers are
//! on one file system, and the directory is in one layer alone (Documentation/filesystems/overlayfs.rst, 6.18).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, CString};
use std::io;

use super::find::list_again;
use super::nested::Root;
use crate::base::measure::Kind;
use crate::sys::{self, Handle, Query, Stat, Symlinks};

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
        match directory.stat_at(name, Symlinks::Stay, self.query) {
            Err(error) if sys::is_vanished(&error) => Ok(None),
            stat => stat.map(Some),
        }
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
