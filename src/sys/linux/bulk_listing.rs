//! Directories of a file system that is read in bulk. Names are read from the directory's blocks; the attributes of all
//! inodes were read before. For everything else the kernel is asked, through a handle that is opened when it is needed.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::{io, mem};

use super::listing;
use crate::base::inode::Identity;
use crate::base::measure::Mode;
use crate::fs::ext4::{self, Budget, DirectoryEntry, PackedInodes, RawInode, RawVolume};
use crate::sys::{self, Listed, Listing, Mount, MountTable, Query, Stat, Symlinks, not_found};

/// An open directory.
#[derive(Debug)]
pub struct Handle {
    records: Arc<Records>,
    location: Arc<Location>,
    inode: u64,
    /// The kernel's handle, if it was needed.
    opened: OnceLock<listing::Handle>,
    /// Guards what is left of the listing. Blocks are read under it, by the one thread that lists.
    listing: Mutex<Unlisted>,
}

/// The path of a directory.
#[derive(Debug)]
struct Location {
    above: Option<Arc<Location>>,
    name: CString,
    depth: usize,
    /// The kernel's handle of the root.
    root: Option<listing::Handle>,
}

/// What is left of a listing.
#[derive(Debug)]
enum Unlisted {
    /// Everything.
    All,
    /// The rest of these blocks, from this byte on.
    Blocks(Vec<u8>, usize),
    /// What the kernel has not listed yet.
    Kernels,
    /// Nothing.
    None,
}

/// The kernel lists a directory of more bytes than this, because that needs less memory.
const LARGEST: u64 = 64 << 20;

/// How many bytes of blocks are listed at a time, about as many as one call of the kernel returns.
const PART: usize = 64 << 10;

/// Directories at a greater depth are opened and listed by the kernel. To open one whose parents are not open takes a
/// call for each level, so a long chain of directories that changed would take a number of calls that grows with the
/// square of its length.
const DEEPEST: usize = 64;

impl Handle {
    /// The root directory, which is open as `root`.
    pub(super) fn root(records: Arc<Records>, root: listing::Handle) -> Self {
        let location =
            Location { above: None, name: CString::default(), depth: 0, root: Some(root) };
        Self::new(records, Arc::new(location), ext4::ROOT)
    }

    fn new(records: Arc<Records>, location: Arc<Location>, inode: u64) -> Self {
        let listing = Mutex::new(Unlisted::All);
        Self { records, location, inode, opened: OnceLock::new(), listing }
    }

    /// Whether the directory called `name` in this one, whose attributes are `stat`, can be read in bulk, too. To open
    /// it takes no system call then.
    fn reads_below(&self, name: &CStr, stat: &Stat, symlinks: Symlinks) -> bool {
        let Records { mounts, mount, device, .. } = &*self.records;
        symlinks == Symlinks::Stay
            && stat.device == *device
            && !stat.mount_point
            && self.location.depth < DEEPEST
            && mounts.is_bare(*mount, name.to_bytes())
            && self.records.stat(stat.inode).is_some_and(|known| known.is_directory())
    }

    /// Opens the directory called `name` in this one. Its attributes are `stat`, if they are known.
    pub fn open_at(
        &self,
        name: &CStr,
        stat: Option<&Stat>,
        symlinks: Symlinks,
    ) -> io::Result<sys::Handle> {
        if let Some(stat) = stat.filter(|stat| self.reads_below(name, stat, symlinks)) {
            let (above, depth) = (Some(Arc::clone(&self.location)), self.location.depth + 1);
            let location = Location { above, name: name.into(), depth, root: None };
            let below = Self::new(Arc::clone(&self.records), Arc::new(location), stat.inode);
            return Ok(sys::Handle::Bulk(below));
        }
        self.opened()?.open_at(name, stat, symlinks).map(sys::Handle::Native)
    }

    /// None: the kernel's handle may be opened later.
    pub fn number(&self) -> Option<usize> {
        None
    }

    /// Opens the parent directory without reading it.
    pub fn up(&self) -> io::Result<listing::Handle> {
        self.opened()?.up()
    }

    /// The attributes of the entry called `name`. Not inlined, because it would be beside that of the Linux source.
    #[inline(never)]
    pub fn stat_at(&self, name: &CStr, symlinks: Symlinks, query: Query) -> io::Result<Stat> {
        self.opened()?.stat_at(name, symlinks, query)
    }

    /// Its mount, device and inode number.
    pub fn mounted_identity(&self) -> io::Result<Identity> {
        let Records { mount, device, .. } = *self.records;
        Ok(Identity { mount, device, number: self.inode })
    }

    /// The mount of the entry called `name`.
    pub fn mount_at(&self, name: &CStr, symlinks: Symlinks) -> io::Result<Mount> {
        self.opened()?.mount_at(name, symlinks)
    }

    /// Opens the file at `path`, relative to this directory, for reading.
    pub fn open_file_at(&self, path: &CStr, symlinks: Symlinks) -> io::Result<File> {
        self.opened()?.open_file_at(path, symlinks)
    }

    /// Appends the next names to `names`, with their attributes. Returns whether there may be more.
    ///
    /// # Errors
    /// The system's.
    pub fn read(
        &self,
        buffer: &mut Vec<u8>,
        names: &mut Listing,
        end: Option<u64>,
    ) -> io::Result<bool> {
        let mut listing = self.listing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Unlisted::All = *listing {
            let before = names.len();
            buffer.clear();
            if self.read_blocks(buffer, names).is_none() {
                names.truncate(before);
                *listing = Unlisted::Kernels;
            } else if buffer.len() <= PART {
                *listing = Unlisted::None;
            } else {
                *listing = Unlisted::Blocks(mem::take(buffer), 0);
            }
            // Other sources read into the capacity beyond its length.
            buffer.clear();
        }
        match &mut *listing {
            Unlisted::All | Unlisted::None => Ok(false),
            Unlisted::Kernels => self.opened()?.read(buffer, names, end),
            Unlisted::Blocks(blocks, at) => {
                let rest = blocks.get(*at..).unwrap_or_default();
                let part = &rest[..rest.len().min(PART)];
                *at += part.len();
                let is_more = part.len() < rest.len();
                self.list(part, names)?;
                if !is_more {
                    *listing = Unlisted::None;
                }
                Ok(is_more)
            }
        }
    }

    /// Appends the names in `blocks`.
    ///
    /// # Errors
    /// An error if a block is damaged.
    fn list(&self, blocks: &[u8], names: &mut Listing) -> io::Result<()> {
        let Records { volume, mounts, mount, .. } = &*self.records;
        let mut bytes = Vec::new();
        for block in blocks.chunks_exact(volume.layout.block_size as usize) {
            ext4::entries(&volume.layout, block, |DirectoryEntry { inode, file_type, name }| {
                let kind = file_type.and_then(listing::kind);
                // The kernel is asked where something may be mounted, and if the type has changed. It refuses names of
                // reserved inodes, and that of the directory itself.
                let known = self.records.stat(inode).filter(|stat| {
                    kind.is_none_or(|kind| kind == stat.mode.kind())
                        && mounts.is_bare(*mount, name)
                        && inode > ext4::RESERVED
                        && inode != self.inode
                });
                bytes.clear();
                bytes.extend_from_slice(name);
                bytes.push(0);
                if let Ok(name) = CStr::from_bytes_with_nul(&bytes) {
                    names.push(Listed { name, kind, inode, stat: known.as_ref() });
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Whether the names of the directory whose inode is now `raw` can be read here.
    fn is_listed_here(&self, raw: &RawInode<'_>) -> bool {
        raw.has_entries_in_blocks() && !raw.is_encrypted() && raw.changed() < self.records.since
    }

    /// Reads all of its blocks into `blocks`, which is empty. If they are few, appends their names. None if the kernel
    /// has to list the directory: it changed since its inode was read or since shortly before the start, it is large or
    /// damaged, its names are in the inode, or they need a key.
    fn read_blocks(&self, blocks: &mut Vec<u8>, names: &mut Listing) -> Option<()> {
        let Records { volume, inodes, budget, .. } = &*self.records;
        let (size, mut buffer) = (volume.layout.block_size, Vec::new());
        let (runs, state) = match inodes.directory(self.inode) {
            Some((run, _)) if run.count > LARGEST / size => return None,
            Some((run, state)) => {
                budget.take(run.count).ok()?;
                (vec![run], state)
            }
            None => {
                let raw = ext4::inode(volume, self.inode, &mut buffer).ok()?;
                if !self.is_listed_here(&raw) || raw.length(&volume.layout) > LARGEST {
                    return None;
                }
                let runs = ext4::runs(volume, &raw, budget).ok()?;
                // The kernel refuses directories with holes, and lists no entry beyond the length.
                let count: u64 = runs.iter().map(|run| run.count).sum();
                if count == 0 || count * size != raw.length(&volume.layout) {
                    return None;
                }
                (runs, raw.state())
            }
        };
        for run in runs {
            let start = blocks.len();
            blocks.resize(start + usize::try_from(run.count * size).ok()?, 0);
            volume.read_blocks(run.start, &mut blocks[start..]).ok()?;
        }
        let now = ext4::inode(volume, self.inode, &mut buffer).ok()?;
        if !self.is_listed_here(&now)
            || now.state() != state
            || !now.has_sound_blocks(self.inode, &volume.layout, blocks)
        {
            return None;
        }
        if blocks.len() <= PART {
            return self.list(blocks, names).ok();
        }
        // If one part is damaged, the kernel has to list all of them.
        let mut blocks = blocks.chunks_exact(size as usize);
        blocks.all(|block| ext4::entries(&volume.layout, block, |_| Ok(())).is_ok()).then_some(())
    }

    /// The kernel's handle of this directory.
    ///
    /// # Errors
    /// The system's, also if another directory is there by now.
    fn opened(&self) -> io::Result<&listing::Handle> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let opened = self.location.open()?;
        if opened.mounted_identity()?.on_any_mount() != self.mounted_identity()?.on_any_mount() {
            return Err(not_found());
        }
        Ok(self.opened.get_or_init(|| opened))
    }
}

impl Location {
    /// Opens it from the root, one name after the other.
    fn open(&self) -> io::Result<listing::Handle> {
        let (mut names, mut at) = (Vec::new(), self);
        while let Some(above) = &at.above {
            names.push(at.name.as_c_str());
            at = above;
        }
        let root = at.root.as_ref().ok_or_else(not_found)?;
        let mut opened = root.open_at(c".", None, Symlinks::Stay)?;
        for name in names.into_iter().rev() {
            opened = opened.open_at(name, None, Symlinks::Stay)?;
        }
        Ok(opened)
    }
}

/// Drops the parents in a loop, because nested drops could overflow the stack.
impl Drop for Location {
    fn drop(&mut self) {
        let mut above = self.above.take();
        while let Some(mut location) = above.and_then(Arc::into_inner) {
            above = location.above.take();
        }
    }
}

// What has been read in bulk of a file system.

/// Its inodes, and what is needed to read directories.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) volume: RawVolume,
    pub(super) inodes: PackedInodes,
    pub(super) budget: Budget,
    pub(super) mounts: MountTable,
    pub(super) mount: u64,
    pub(super) device: u64,
    /// The kernel lists directories that changed at or after this time, in seconds since the epoch.
    pub(super) since: i64,
}

impl Records {
    /// The attributes of the inode with this number; none if it was free, or if the kernel must be asked.
    pub(super) fn stat(&self, inode: u64) -> Option<Stat> {
        let its = self.inodes.attributes(inode)?;
        Some(Stat {
            device: self.device,
            inode,
            links: its.links.into(),
            mode: Mode(its.mode),
            mount_point: false,
            blocks: its.blocks,
            length: its.length,
            accessed: its.accessed,
            modified: its.modified,
            changed: its.changed,
            changed_nanos: its.changed_nanos,
            born: its.born,
            owner: its.owner,
            group: Some(its.group),
        })
    }
}
