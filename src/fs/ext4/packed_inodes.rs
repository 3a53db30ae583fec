//! The attributes of all inodes of a file system, packed: 18 bytes each, with times 40, and with owners 2 more.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use indexmap::IndexSet;
use rustix::fs::FileType;

use super::{Attributes, Budget, Layout, MOST_RUNS, RawInode, RawVolume, Run, each_inode, runs};

/// A user and a group.
type Owner = (u32, u32);

/// The attributes of all inodes when they were read.
#[derive(Debug)]
pub struct PackedInodes {
    groups: Vec<PackedGroup>,
    inodes_per_group: u64,
    block_size: u64,
    owners: IndexSet<Owner>,
}

/// Which attributes are kept, beside type, links, length and blocks. The others are 0.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// All times.
    pub times: bool,
    /// The owner: user and group.
    pub owners: bool,
}

/// Reads the inodes of a file system, group by group. Several threads may each read a group at the same time.
pub struct InodePacker<'a> {
    volume: &'a RawVolume,
    kept: Kept,
    is_stopped: &'a AtomicBool,
    /// The owners of all inodes. They are few, so an inode has only the number of its owner. Guards the numbers; locked
    /// when the owner changes from one inode to the next.
    owners: Mutex<IndexSet<Owner>>,
    budget: Budget,
    /// How many runs of blocks directories have so far, and how many bytes were read. Both are only added to, and guard
    /// no other data.
    runs: AtomicUsize,
    bytes: AtomicU64,
}

/// The inodes of one group.
#[derive(Debug, Default)]
pub struct PackedGroup {
    /// None if the inode is free or damaged, or if the kernel must be asked about it.
    base: Vec<Option<PackedBase>>,
    times: Vec<PackedTimes>,
    owners: Vec<u16>,
}

#[derive(Clone, Copy, Debug)]
struct PackedBase {
    mode: u16,
    links: u16,
    size: PackedSize,
}

#[derive(Clone, Copy, Debug)]
enum PackedSize {
    /// Numbers of at most 48 bits.
    Stored { length: [u16; 3], blocks: [u16; 3] },
    /// A directory that has contiguous blocks, and no others. Its length and its blocks follow from their number.
    Contiguous { state: Unaligned, count: u16, start: [u16; 3] },
}

/// The times of the last read, write and change, and of creation: 34 bits each, in seconds since 2^31 seconds before
/// the epoch; and the nanoseconds of the last change.
#[derive(Clone, Copy, Debug, Default)]
struct PackedTimes {
    low: [Unaligned; 4],
    changed_nanos: Unaligned,
    high: u8,
}

/// A number of 32 bits that takes no more than its 4 bytes beside numbers of 16 bits.
#[derive(Clone, Copy, Debug, Default)]
#[repr(Rust, packed(2))]
struct Unaligned(u32);

impl<'a> InodePacker<'a> {
    /// Reads nothing yet. What [`Self::group`] reads ends early once it `is_stopped`.
    pub fn new(volume: &'a RawVolume, kept: Kept, is_stopped: &'a AtomicBool) -> Self {
        let (owners, runs, bytes) = Default::default();
        Self { volume, kept, is_stopped, owners, budget: volume.budget(), runs, bytes }
    }

    /// Reads the inodes of the group with this number, and the blocks of its directories.
    ///
    /// # Errors
    /// The system's, an error if a table is damaged, and [`io::ErrorKind::Interrupted`].
    pub fn group(&self, group: usize) -> io::Result<(PackedGroup, Vec<Run>)> {
        let Self { volume, kept, .. } = *self;
        let (mut found, mut directories) = (PackedGroup::default(), Vec::new());
        let (mut buffer, mut last) = (Vec::new(), None);
        let bytes = each_inode(volume, group, &mut buffer, |number, inode| {
            if self.is_stopped.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let before = directories.len();
            if inode.has_entries_in_blocks() && self.runs.load(Ordering::Relaxed) < MOST_RUNS {
                // An error is found again when the directory is listed.
                let found = runs(volume, &inode, &self.budget).unwrap_or_default();
                self.runs.fetch_add(found.len(), Ordering::Relaxed);
                directories.extend(found);
            }
            let its = inode.attributes(&volume.layout);
            let owner = match kept.owners {
                true => self.number_of((its.owner, its.group), &mut last),
                false => Some(0),
            };
            // For an encrypted symlink, the kernel returns the length of the decrypted target.
            let is_hidden = inode.is_encrypted() && its.file_type() == FileType::Symlink;
            let is_known = inode.is_used() && !is_hidden && owner.is_some();
            found.base.push(if is_known && inode.is_sound(number, volume) {
                PackedBase::packed(&its, &inode, volume.layout.block_size, &directories[before..])
            } else {
                None
            });
            if kept.times {
                let times = [its.accessed, its.modified, its.changed, its.born];
                found.times.push(PackedTimes::packed(times, its.changed_nanos));
            }
            if kept.owners {
                found.owners.push(owner.unwrap_or_default());
            }
            Ok(())
        })?;
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        found.shrink();
        Ok((found, directories))
    }

    /// The number of an `owner`; none if there are too many. `last` has the previous answer.
    fn number_of(&self, owner: Owner, last: &mut Option<(Owner, u16)>) -> Option<u16> {
        if let Some((known, number)) = *last
            && known == owner
        {
            return Some(number);
        }
        let mut known = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let number = u16::try_from(known.insert_full(owner).0).ok()?;
        *last = Some((owner, number));
        Some(number)
    }

    /// All inodes, which are in these `groups`, in order, and how many bytes have been read.
    pub fn packed(self, groups: Vec<PackedGroup>) -> (PackedInodes, u64) {
        let Layout { inodes_per_group, block_size, .. } = self.volume.layout;
        let owners = self.owners.into_inner().unwrap_or_else(PoisonError::into_inner);
        (PackedInodes { groups, inodes_per_group, block_size, owners }, self.bytes.into_inner())
    }
}

impl PackedInodes {
    /// How much memory it needs for each inode, in bytes.
    pub fn bytes_an_inode(kept: Kept) -> u64 {
        let times = if kept.times { size_of::<PackedTimes>() } else { 0 };
        let owner = if kept.owners { size_of::<u16>() } else { 0 };
        (size_of::<Option<PackedBase>>() + times + owner) as u64
    }

    /// The attributes of the inode with this number; none if it was free, or if the kernel must be asked.
    pub fn attributes(&self, number: u64) -> Option<Attributes> {
        let (group, within, PackedBase { mode, links, size }) = self.find(number)?;
        let (length, blocks) = match size {
            PackedSize::Stored { length, blocks } => (unpacked(length), unpacked(blocks)),
            PackedSize::Contiguous { count, .. } => {
                let length = u64::from(count) * self.block_size;
                (length, length / 512)
            }
        };
        let mut its = Attributes { mode, links, blocks, length, ..Attributes::default() };
        let times = group.times.get(within).map(PackedTimes::unpacked).unwrap_or_default();
        ([its.accessed, its.modified, its.changed, its.born], its.changed_nanos) = times;
        let owner = group.owners.get(within);
        let owner = owner.and_then(|owner| self.owners.get_index(usize::from(*owner)));
        (its.owner, its.group) = owner.copied().unwrap_or_default();
        Some(its)
    }

    /// The blocks of the directory with this inode number, if they are contiguous and its names need no key; and what
    /// [`RawInode::state`] was.
    pub fn directory(&self, number: u64) -> Option<(Run, u32)> {
        match self.find(number)?.2.size {
            PackedSize::Contiguous { state, count, start } => {
                Some((Run { start: unpacked(start), count: count.into() }, state.0))
            }
            PackedSize::Stored { .. } => None,
        }
    }

    /// The group of the inode with this number, its index there, and what is always kept.
    fn find(&self, number: u64) -> Option<(&PackedGroup, usize, PackedBase)> {
        let index = number.checked_sub(1)?;
        let group = self.groups.get(usize::try_from(index / self.inodes_per_group).ok()?)?;
        let within = usize::try_from(index % self.inodes_per_group).ok()?;
        Some((group, within, (*group.base.get(within)?)?))
    }
}

impl PackedBase {
    /// An inode with these attributes. If it is a directory, it has these `runs` of blocks. None if a number has more
    /// than 48 bits.
    fn packed(
        its: &Attributes,
        inode: &RawInode<'_>,
        block_size: u64,
        runs: &[Run],
    ) -> Option<Self> {
        let size = if let [run] = runs
            && !inode.is_encrypted()
            && let Ok(count) = u16::try_from(run.count)
            && (run.count * block_size, run.count * block_size / 512) == (its.length, its.blocks)
        {
            let state = Unaligned(inode.state());
            PackedSize::Contiguous { state, count, start: packed(run.start)? }
        } else {
            PackedSize::Stored { length: packed(its.length)?, blocks: packed(its.blocks)? }
        };
        Some(Self { mode: its.mode, links: its.links, size })
    }
}

impl PackedGroup {
    /// Frees memory that is not needed.
    fn shrink(&mut self) {
        let used = self.base.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        self.base.truncate(used);
        self.times.truncate(used);
        self.owners.truncate(used);
        self.base.shrink_to_fit();
        self.times.shrink_to_fit();
        self.owners.shrink_to_fit();
    }
}

/// A number of at most 48 bits; none if it is larger.
fn packed(number: u64) -> Option<[u16; 3]> {
    let parts = [number as u16, (number >> 16) as u16, (number >> 32) as u16];
    (number < 1 << 48).then_some(parts)
}

fn unpacked([low, middle, high]: [u16; 3]) -> u64 {
    u64::from(low) | u64::from(middle) << 16 | u64::from(high) << 32
}

impl PackedTimes {
    const FIRST: i64 = -(1 << 31);

    fn packed(times: [i64; 4], nanos: u32) -> Self {
        let since = times.map(|time| time - Self::FIRST);
        let high = since.iter().rev().fold(0, |high, time| high << 2 | (time >> 32 & 3) as u8);
        let low = since.map(|time| Unaligned(time as u32));
        Self { low, high, changed_nanos: Unaligned(nanos) }
    }

    fn unpacked(&self) -> ([i64; 4], u32) {
        let mut high = self.high;
        let times = self.low.map(|low| {
            let since = i64::from(low.0) | i64::from(high & 3) << 32;
            high >>= 2;
            since + Self::FIRST
        });
        (times, self.changed_nanos.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_as_they_went_in() {
        for number in [0, 1, 0xffff, 0x1_0000, (1 << 48) - 1] {
            assert_eq!(packed(number).map(unpacked), Some(number));
        }
        assert_eq!(packed(1 << 48), None);
        let times = [i32::MIN.into(), -1, 0, 1_700_000_000];
        let packed = PackedTimes::packed(times, 999_999_999);
        assert_eq!(packed.unpacked(), (times, 999_999_999));
        let late = [i64::from(i32::MAX) + (3 << 32), 1 << 32, 0, 3 << 32];
        assert_eq!(PackedTimes::packed(late, 0).unpacked(), (late, 0));
        // In docs/bulk.md.
        assert_eq!((size_of::<Option<PackedBase>>(), size_of::<PackedTimes>()), (18, 22));
    }
}
