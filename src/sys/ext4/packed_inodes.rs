//! The attributes of all inodes of a file system, packed: 18 bytes each, with times 36, and with owners 2 more.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use indexmap::IndexSet;

use super::{Layout, MOST_RUNS, RawInode, RawVolume, Run, each_inode, runs};
use crate::measure::{Kind, Mode};
use crate::parallel;
use crate::sys::{Query, Stat};

/// The attributes of all inodes when they were read.
#[derive(Debug)]
pub(in crate::sys) struct PackedInodes {
    groups: Vec<PackedGroup>,
    inodes_per_group: u64,
    block_size: u64,
    owners: IndexSet<(u32, u32)>,
}

/// Those of one group.
#[derive(Debug, Default)]
struct PackedGroup {
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
pub(in crate::sys) struct ContiguousDirectory {
    pub(in crate::sys) run: Run,
    /// What [`RawInode::state`] was.
    pub(in crate::sys) state: u32,
}

/// The times of the last read, write and change, and of creation: 34 bits each, in seconds since 2^31 seconds before
/// the epoch.
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

impl PackedInodes {
    /// Reads all inodes, and returns also the blocks of directories. Adds the number of bytes to `read`. Ends early if it
    /// `is_stopped`.
    ///
    /// # Errors
    /// The system's, an error if a table is damaged, and [`io::ErrorKind::Interrupted`].
    pub(in crate::sys) fn read(
        volume: &RawVolume,
        query: Query,
        threads: usize,
        is_stopped: &AtomicBool,
        read: &AtomicU64,
    ) -> io::Result<(Self, Vec<Run>)> {
        let (owners, budget) = (Owners::default(), volume.budget());
        let number_of_runs = AtomicUsize::new(0);
        let group = |group: usize| {
            let (mut found, mut directories) = (PackedGroup::default(), Vec::new());
            let (mut buffer, mut last) = (Vec::new(), None);
            let bytes = each_inode(volume, group, &mut buffer, |number, inode| {
                if is_stopped.load(Ordering::Relaxed) {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                let owner =
                    if query.owner { owners.number(&inode, volume, &mut last) } else { Some(0) };
                let before = directories.len();
                if inode.has_entries_in_blocks()
                    && number_of_runs.load(Ordering::Relaxed) < MOST_RUNS
                {
                    // An error is found again when the directory is listed.
                    let found = runs(volume, &inode, &budget).unwrap_or_default();
                    number_of_runs.fetch_add(found.len(), Ordering::Relaxed);
                    directories.extend(found);
                }
                found.push(number, &inode, volume, query, owner, &directories[before..]);
                Ok(())
            })?;
            read.fetch_add(bytes, Ordering::Relaxed);
            found.shrink();
            Ok((found, directories))
        };
        let count = volume.groups.len();
        let all: io::Result<Vec<_>> = parallel::collect(threads, 0..count, group);
        let (mut groups, mut directories) = (Vec::with_capacity(count), Vec::new());
        for (group, some) in all? {
            groups.push(group);
            directories.extend(some);
        }
        let Layout { inodes_per_group, block_size, .. } = volume.layout;
        let owners = owners.known.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((Self { groups, inodes_per_group, block_size, owners }, directories))
    }

    /// How much memory it needs for each inode, in bytes.
    pub(in crate::sys) fn bytes_an_inode(query: Query) -> u64 {
        let (base, times) = (
            size_of::<Option<PackedBase>>(),
            if query.times { size_of::<PackedTimes>() } else { 0 },
        );
        (base + times + if query.owner { size_of::<u16>() } else { 0 }) as u64
    }

    /// The attributes of the inode with this number on `device`; none if it was free, or if the kernel must be asked.
    pub(in crate::sys) fn stat(&self, number: u64, device: u64) -> Option<Stat> {
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
        Some(Stat {
            device,
            inode: number,
            links: links.into(),
            mode: Mode(mode),
            mount_point: false,
            blocks,
            length,
            accessed,
            modified,
            changed,
            changed_nanos: times.map_or(0, PackedTimes::changed_nanos),
            born,
            owner,
            group: Some(group),
        })
    }

    /// The directory with this inode number, if it is such a one.
    pub(in crate::sys) fn directory(&self, number: u64) -> Option<ContiguousDirectory> {
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
    fn packed(stat: &Stat, inode: &RawInode<'_>, block_size: u64, runs: &[Run]) -> Option<Self> {
        let bytes = |run: &Run| run.count.checked_mul(block_size);
        let size = if let [run] = runs
            && !inode.is_encrypted()
            && bytes(run).is_some_and(|bytes| (bytes, bytes / 512) == (stat.length, stat.blocks))
            && let Ok(count) = u16::try_from(run.count)
        {
            let state = inode.state();
            let state = [state as u16, (state >> 16) as u16];
            PackedSize::Contiguous { state, count, start: packed(run.start)? }
        } else {
            PackedSize::Stored { length: packed(stat.length)?, blocks: packed(stat.blocks)? }
        };
        Some(Self { mode: stat.mode.0, links: stat.links as u16, size })
    }
}

impl PackedGroup {
    fn push(
        &mut self,
        number: u64,
        inode: &RawInode<'_>,
        volume: &RawVolume,
        query: Query,
        owner: Option<u16>,
        runs: &[Run],
    ) {
        let stat = inode.stat(number, &volume.layout);
        // For an encrypted symlink, the kernel returns the length of the decrypted target.
        let is_hidden = inode.is_encrypted() && stat.mode.kind() == Kind::Symlink;
        let times = [stat.accessed, stat.modified, stat.changed, stat.born];
        let is_known =
            inode.is_used() && !is_hidden && owner.is_some() && inode.is_sound(number, volume);
        let base = || PackedBase::packed(&stat, inode, volume.layout.block_size, runs);
        self.base.push(is_known.then(base).flatten());
        if query.times {
            self.times.push(PackedTimes::packed(times, stat.changed_nanos));
        }
        if query.owner {
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
        let stat = inode.stat(0, &volume.layout);
        let pair = (stat.owner, stat.group.unwrap_or_default());
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
