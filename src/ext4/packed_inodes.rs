//! The attributes of all inodes of a file system, packed: 18 bytes each, with times 40, and with owners 2 more.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use indexmap::IndexSet;
use rustix::fs::FileType;

use super::{Attributes, Budget, Layout, MOST_RUNS, RawInode, RawVolume, Run, each_inode, runs};

/// The attributes of all inodes when they were read.
#[derive(Debug)]
pub struct PackedInodes {
    groups: Vec<PackedGroup>,
    inodes_per_group: u64,
    block_size: u64,
    owners: IndexSet<(u32, u32)>,
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
    owners: Owners,
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
    Contiguous { state: [u16; 2], count: u16, start: [u16; 3] },
}

/// A directory whose blocks are contiguous, and whose names need no key.
#[derive(Clone, Copy, Debug)]
pub struct ContiguousDirectory {
    pub run: Run,
    /// What [`RawInode::state`] was.
    pub state: u32,
}

/// The times of the last read, write and change, and of creation: 34 bits each, in seconds since 2^31 seconds before
/// the epoch; and the nanoseconds of the last change.
#[derive(Clone, Copy, Debug, Default)]
struct PackedTimes {
    low: [[u16; 2]; 4],
    changed_nanos: [u16; 2],
    high: u8,
}

/// Pairs of user and group. There are few, so an inode has only the number of its pair.
#[derive(Debug, Default)]
struct Owners {
    /// Guards the numbers; locked when the owner changes from one inode to the next.
    known: Mutex<IndexSet<(u32, u32)>>,
}

impl<'a> InodePacker<'a> {
    /// Reads nothing yet. What [`Self::group`] reads ends early once it `is_stopped`.
    pub fn new(volume: &'a RawVolume, kept: Kept, is_stopped: &'a AtomicBool) -> Self {
        Self {
            volume,
            kept,
            is_stopped,
            owners: Owners::default(),
            budget: volume.budget(),
            runs: AtomicUsize::new(0),
            bytes: AtomicU64::new(0),
        }
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
            let owner =
                if kept.owners { self.owners.number(&inode, volume, &mut last) } else { Some(0) };
            let before = directories.len();
            if inode.has_entries_in_blocks() && self.runs.load(Ordering::Relaxed) < MOST_RUNS {
                // An error is found again when the directory is listed.
                let found = runs(volume, &inode, &self.budget).unwrap_or_default();
                self.runs.fetch_add(found.len(), Ordering::Relaxed);
                directories.extend(found);
            }
            found.push(number, &inode, volume, kept, owner, &directories[before..]);
            Ok(())
        })?;
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        found.shrink();
        Ok((found, directories))
    }

    /// How many bytes have been read.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// All inodes, which are in these `groups`, in order.
    pub fn packed(self, groups: Vec<PackedGroup>) -> PackedInodes {
        let Layout { inodes_per_group, block_size, .. } = self.volume.layout;
        let owners = self.owners.known.into_inner().unwrap_or_else(PoisonError::into_inner);
        PackedInodes { groups, inodes_per_group, block_size, owners }
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
        let (group, within) = self.place(number)?;
        let PackedBase { mode, links, size } = (*group.base.get(within)?)?;
        let (length, blocks) = match size {
            PackedSize::Stored { length, blocks } => (unpacked(length), unpacked(blocks)),
            PackedSize::Contiguous { count, .. } => {
                let length = u64::from(count) * self.block_size;
                (length, length / 512)
            }
        };
        let times = group.times.get(within);
        let owner = group.owners.get(within);
        let owner = owner.and_then(|owner| self.owners.get_index(usize::from(*owner)));
        let (owner, group) = owner.copied().unwrap_or_default();
        let [accessed, modified, changed, born] = times.map_or([0; 4], PackedTimes::unpacked);
        Some(Attributes {
            mode,
            links,
            blocks,
            length,
            accessed,
            modified,
            changed,
            changed_nanos: times.map_or(0, PackedTimes::changed_nanos),
            born,
            owner,
            group,
        })
    }

    /// The directory with this inode number, if it is such a one.
    pub fn directory(&self, number: u64) -> Option<ContiguousDirectory> {
        let (group, within) = self.place(number)?;
        match (*group.base.get(within)?)?.size {
            PackedSize::Contiguous { state: [low, high], count, start } => {
                Some(ContiguousDirectory {
                    run: Run { start: unpacked(start), count: count.into() },
                    state: u32::from(low) | u32::from(high) << 16,
                })
            }
            PackedSize::Stored { .. } => None,
        }
    }

    /// The group of the inode with this number, and its place there.
    fn place(&self, number: u64) -> Option<(&PackedGroup, usize)> {
        let index = number.checked_sub(1)?;
        let group = self.groups.get(usize::try_from(index / self.inodes_per_group).ok()?)?;
        Some((group, usize::try_from(index % self.inodes_per_group).ok()?))
    }
}

impl PackedBase {
    /// An inode with these attributes. If it is a directory, it has these `runs` of blocks. None if a number has more than
    /// 48 bits.
    fn packed(
        its: &Attributes,
        inode: &RawInode<'_>,
        block_size: u64,
        runs: &[Run],
    ) -> Option<Self> {
        let bytes = |run: &Run| run.count.checked_mul(block_size);
        let size = if let [run] = runs
            && !inode.is_encrypted()
            && bytes(run).is_some_and(|bytes| (bytes, bytes / 512) == (its.length, its.blocks))
            && let Ok(count) = u16::try_from(run.count)
        {
            let state = inode.state();
            let state = [state as u16, (state >> 16) as u16];
            PackedSize::Contiguous { state, count, start: packed(run.start)? }
        } else {
            PackedSize::Stored { length: packed(its.length)?, blocks: packed(its.blocks)? }
        };
        Some(Self { mode: its.mode, links: its.links, size })
    }
}

impl PackedGroup {
    fn push(
        &mut self,
        number: u64,
        inode: &RawInode<'_>,
        volume: &RawVolume,
        kept: Kept,
        owner: Option<u16>,
        runs: &[Run],
    ) {
        let its = inode.attributes(&volume.layout);
        // For an encrypted symlink, the kernel returns the length of the decrypted target.
        let is_hidden = inode.is_encrypted() && its.file_type() == FileType::Symlink;
        let times = [its.accessed, its.modified, its.changed, its.born];
        let is_known =
            inode.is_used() && !is_hidden && owner.is_some() && inode.is_sound(number, volume);
        let base = || PackedBase::packed(&its, inode, volume.layout.block_size, runs);
        self.base.push(is_known.then(base).flatten());
        if kept.times {
            self.times.push(PackedTimes::packed(times, its.changed_nanos));
        }
        if kept.owners {
            self.owners.push(owner.unwrap_or_default());
        }
    }

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
        let since = times.map(|time| (time - Self::FIRST) as u64);
        let low = since.map(|time| [time as u16, (time >> 16) as u16]);
        let high = since.iter().rev().fold(0, |high, time| high << 2 | (time >> 32 & 3) as u8);
        Self { low, high, changed_nanos: [nanos as u16, (nanos >> 16) as u16] }
    }

    fn changed_nanos(&self) -> u32 {
        let [low, high] = self.changed_nanos;
        u32::from(low) | u32::from(high) << 16
    }

    fn unpacked(&self) -> [i64; 4] {
        let mut high = self.high;
        self.low.map(|[low, middle]| {
            let since = u64::from(low) | u64::from(middle) << 16 | u64::from(high & 3) << 32;
            high >>= 2;
            since as i64 + Self::FIRST
        })
    }
}

impl Owners {
    /// The number of an inode's owners; none if there are too many pairs. `last` has the previous answer.
    fn number(
        &self,
        inode: &RawInode<'_>,
        volume: &RawVolume,
        last: &mut Option<((u32, u32), u16)>,
    ) -> Option<u16> {
        let its = inode.attributes(&volume.layout);
        let pair = (its.owner, its.group);
        if let Some((known, number)) = *last
            && known == pair
        {
            return Some(number);
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (number, _) = known.insert_full(pair);
        let number = u16::try_from(number).ok()?;
        *last = Some((pair, number));
        Some(number)
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
        assert_eq!((packed.unpacked(), packed.changed_nanos()), (times, 999_999_999));
        let late = [i64::from(i32::MAX) + (3 << 32), 1 << 32, 0, 3 << 32];
        assert_eq!(PackedTimes::packed(late, 0).unpacked(), late);
        // In docs/bulk.md.
        assert_eq!((size_of::<Option<PackedBase>>(), size_of::<PackedTimes>()), (18, 22));
    }
}
