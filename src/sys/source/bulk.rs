//! Directories of a file system that is read in bulk: their names are read from their blocks, and what they are was
//! read before. For all else the kernel is asked, by a handle that is opened when it is first needed.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::mem;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::linux;
use crate::sys::bulk::Records;
use crate::sys::ext4::{self, DirectoryEntry};
use crate::sys::{
    Identity, Listed, Listing, Mount, MountedIdentity, Query, Stat, Symlinks, not_found,
};

/// A directory.
#[derive(Debug)]
pub struct Handle {
    records: Arc<Records>,
    place: Arc<Place>,
    inode: u64,
    /// As the kernel has it open, once that was needed.
    opened: OnceLock<linux::Handle>,
    /// Guards what has not been listed yet.
    listing: Mutex<Names>,
}

/// Where a directory is.
#[derive(Debug)]
struct Place {
    above: Option<Arc<Place>>,
    name: CString,
    /// Of the uppermost one: as the kernel has it open.
    root: Option<linux::Handle>,
}

/// What is left of a listing.
#[derive(Debug)]
enum Names {
    /// All of it.
    All,
    /// What is in these blocks, from this one on.
    Blocks(Vec<u8>, usize),
    /// What the kernel has not listed yet.
    Kernels,
    /// Nothing.
    None,
}

/// A directory of more bytes than this is listed by the kernel, which takes less memory.
const LARGEST: u64 = 64 << 20;

/// So many bytes of blocks are listed at a time, about as many as the kernel gives in one call.
const PART: usize = 64 << 10;

impl Handle {
    /// The uppermost directory, open as `root`.
    pub(in crate::sys) fn root(records: Arc<Records>, root: linux::Handle) -> Self {
        let place = Place { above: None, name: CString::default(), root: Some(root) };
        Self::new(records, Arc::new(place), ext4::ROOT)
    }

    fn new(records: Arc<Records>, place: Arc<Place>, inode: u64) -> Self {
        let listing = Mutex::new(Names::All);
        Self { records, place, inode, opened: OnceLock::new(), listing }
    }

    /// The directory called `name` in this one, which was said to be `stat`, if it can be read in bulk, too: no
    /// call is needed for that.
    pub fn below(&self, name: &CStr, stat: &Stat, symlinks: Symlinks) -> Option<Self> {
        let Records { census, mounts, mount, device, .. } = &*self.records;
        let is_here = symlinks == Symlinks::Stay
            && stat.device == *device
            && !stat.mount_point
            && mounts.is_bare(*mount, name.to_bytes())
            && census.stat(stat.inode, *device).is_some_and(|known| known.is_directory());
        let place =
            || Place { above: Some(Arc::clone(&self.place)), name: name.into(), root: None };
        is_here.then(|| Self::new(Arc::clone(&self.records), Arc::new(place()), stat.inode))
    }

    /// Opens the directory called `name` in this one.
    pub fn open_at(&self, name: &CStr, symlinks: Symlinks) -> io::Result<linux::Handle> {
        self.opened()?.open_at(name, symlinks)
    }

    /// Looks at the directory that this one lies in; one that lies in none is its own.
    pub fn up(&self) -> io::Result<linux::Handle> {
        self.opened()?.up()
    }

    /// What the entry called `name` is.
    ///
    /// Not inlined where any source may be asked, beside Linux', which is.
    #[inline(never)]
    pub fn stat_at(&self, name: &CStr, symlinks: Symlinks, query: Query) -> io::Result<Stat> {
        self.opened()?.stat_at(name, symlinks, query)
    }

    /// Which directory it is.
    pub fn identity(&self) -> io::Result<Identity> {
        Ok((self.records.device, self.inode))
    }

    /// Which directory it is, and through which mount.
    pub fn place(&self) -> io::Result<MountedIdentity> {
        Ok((self.records.mount, (self.records.device, self.inode)))
    }

    /// What is mounted at `name`.
    pub fn mount_at(&self, name: &CStr, symlinks: Symlinks) -> io::Result<Mount> {
        self.opened()?.mount_at(name, symlinks)
    }

    /// Opens the file at `path` from here, to be read.
    pub fn open_file_at(&self, path: &CStr, symlinks: Symlinks) -> io::Result<File> {
        self.opened()?.open_file_at(path, symlinks)
    }

    /// Appends the next names to `names`, with what they are. Returns whether there may be more.
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
        if let Names::All = *listing {
            let before = names.len();
            buffer.clear();
            if self.read_blocks(buffer, names).is_none() {
                names.truncate(before);
                *listing = Names::Kernels;
            } else if buffer.len() <= PART {
                *listing = Names::None;
            } else {
                *listing = Names::Blocks(mem::take(buffer), 0);
            }
            // Others read into what it has room for beyond what is in it.
            buffer.clear();
        }
        match &mut *listing {
            Names::All | Names::None => Ok(false),
            Names::Kernels => self.opened()?.read(buffer, names, end),
            Names::Blocks(blocks, at) => {
                let rest = blocks.get(*at..).unwrap_or_default();
                let part = &rest[..rest.len().min(PART)];
                *at += part.len();
                let is_more = part.len() < rest.len();
                self.list(part, names)?;
                if !is_more {
                    *listing = Names::None;
                }
                Ok(is_more)
            }
        }
    }

    /// Appends the names in `blocks`.
    ///
    /// # Errors
    /// That something is damaged.
    fn list(&self, blocks: &[u8], names: &mut Listing) -> io::Result<()> {
        let Records { volume, census, mounts, mount, device, .. } = &*self.records;
        let mut name = Vec::new();
        let mut push = |entry: DirectoryEntry<'_>| {
            let DirectoryEntry { inode, kind, name: bytes } = entry;
            name.clear();
            name.extend_from_slice(bytes);
            name.push(0);
            let Ok(name) = CStr::from_bytes_with_nul(&name) else { return Ok(()) };
            // Where something may be mounted, and of what is not what it was, the kernel is asked.
            let known = census.stat(inode, *device).filter(|stat| {
                kind.is_none_or(|kind| kind == stat.mode.kind()) && mounts.is_bare(*mount, bytes)
            });
            names.push(Listed { name, kind, inode, stat: known.as_ref() });
            Ok(())
        };
        let mut blocks = blocks.chunks_exact(volume.layout.block_size as usize);
        blocks.try_for_each(|block| ext4::entries(&volume.layout, block, &mut push))
    }

    /// Reads all of its blocks into `blocks`, which is empty, if they are what the kernel would list: nothing was
    /// changed in it while they were read, nor shortly before; none is damaged; and what they say needs no key. If
    /// there are few of them, appends the names in them.
    fn read_blocks(&self, blocks: &mut Vec<u8>, names: &mut Listing) -> Option<()> {
        let Records { volume, budget, since, .. } = &*self.records;
        let mut buffer = Vec::new();
        let raw = ext4::inode(volume, self.inode, &mut buffer).ok()?;
        let is_plain = raw.is_used() && raw.is_directory() && !raw.is_inline();
        let is_old = raw.changed() < *since && raw.length(&volume.layout) <= LARGEST;
        if !is_plain || raw.is_encrypted() || !is_old {
            return None;
        }
        let (size, state) = (volume.layout.block_size, raw.state());
        for run in ext4::runs(volume, &raw, budget).ok()? {
            let start = blocks.len();
            blocks.resize(start + usize::try_from(run.count * size).ok()?, 0);
            volume.read_blocks(run.start, &mut blocks[start..]).ok()?;
        }
        let now = ext4::inode(volume, self.inode, &mut buffer).ok()?;
        if !now.is_used() || now.state() != state {
            return None;
        }
        if blocks.len() <= PART {
            return self.list(blocks, names).ok();
        }
        // What is listed in parts has to be good as a whole.
        let is_sound = |block| ext4::entries(&volume.layout, block, |_| Ok(())).is_ok();
        blocks.chunks_exact(size as usize).all(is_sound).then_some(())
    }

    /// The same directory as the kernel has it.
    ///
    /// # Errors
    /// The system's, and that something else is there by now.
    fn opened(&self) -> io::Result<&linux::Handle> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let opened = self.place.open()?;
        if opened.identity()? != self.identity()? {
            return Err(not_found());
        }
        Ok(self.opened.get_or_init(|| opened))
    }
}

impl Place {
    /// Opens what is there, one name after the other.
    fn open(&self) -> io::Result<linux::Handle> {
        let (mut names, mut place) = (Vec::new(), self);
        while let Some(above) = &place.above {
            names.push(place.name.as_c_str());
            place = above;
        }
        let root = place.root.as_ref().ok_or_else(not_found)?;
        let open = |opened: linux::Handle, name| opened.open_at(name, Symlinks::Stay);
        names.into_iter().rev().try_fold(root.open_at(c".", Symlinks::Stay)?, open)
    }
}

/// Lets go of those above in a loop: the nested drops of a deep chain would overflow the stack.
impl Drop for Place {
    fn drop(&mut self) {
        let mut above = self.above.take();
        while let Some(mut place) = above.and_then(Arc::into_inner) {
            above = place.above.take();
        }
    }
}
