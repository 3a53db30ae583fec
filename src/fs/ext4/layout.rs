//! The layout of a file system, from its superblock, and the inode table of each group, from its descriptor.

use std::fs::File;
use std::io::{self, ErrorKind, Seek, SeekFrom};
use std::os::unix::fs::FileExt;

use super::map::{Run, joined};
use super::{damaged, u16_at, u32_at, wide};

/// What the superblock says, as far as it is needed here.
#[derive(Clone, Debug)]
pub struct Layout {
    /// In bytes, from 1 to 64 KiB.
    pub block_size: u64,
    /// How many blocks there are.
    pub blocks: u64,
    /// How many inodes there are.
    pub inodes: u64,
    /// The size of an inode on the device, in bytes.
    pub inode_size: usize,
    pub(super) inodes_per_group: u64,
    blocks_per_group: u64,
    pub(super) first_data_block: u64,
    first_meta_group: u64,
    backups: [u64; 2],
    descriptor_size: usize,
    /// How many blocks follow each copy of the descriptors, for more of them.
    reserved: u64,
    /// How many blocks are allocated together.
    pub(super) cluster: u64,
    /// The inodes of the quotas by project, and of the inodes that are to be freed; 0 if there are none.
    pub(super) project_quotas: u64,
    pub(super) orphan_file: u64,
    /// Where the checksums of inodes start from, if they have any.
    pub(super) checksum_seed: Option<u32>,
    /// The three words with features.
    pub(super) compatible: u32,
    pub(super) incompatible: u32,
    pub(super) read_only: u32,
}

/// The inode tables of all groups.
#[derive(Debug)]
pub struct InodeTables {
    pub(super) groups: Vec<InodeTable>,
    /// The blocks that the file system needs for itself, in order.
    pub(super) own: Vec<Run>,
    /// Those of them that no inode has.
    pub(super) tables: Vec<Run>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct InodeTable {
    /// The first block of its inode table.
    pub(super) table: u64,
    /// How many inodes, from its beginning on, have ever been used.
    pub(super) used: u64,
}

// Features that a reader must know (s_feature_incompat).
/// Directory entries have a type.
pub(super) const ENTRY_TYPES: u32 = 0x2;
const META_BG: u32 = 0x10;
/// A block guards against a second mount.
const GUARD_BLOCK: u32 = 0x100;
const WIDE: u32 = 0x80;
const CHECKSUM_SEED: u32 = 0x2000;
/// The size of a directory has 64 bits.
pub(super) const LARGE_DIRECTORIES: u32 = 0x4000;
/// Files may be stored in their inodes.
pub(super) const INLINE_DATA: u32 = 0x8000;
/// Directories may ignore case.
pub(super) const CASE_INSENSITIVE: u32 = 0x2_0000;
/// Journal recovery, extents, multiple mount protection, flexible groups, extended attributes in inodes, encryption.
const OTHERS: u32 = 0x4 | 0x40 | 0x100 | 0x200 | 0x400 | 0x1_0000;
const FOR_DIRECTORIES: u32 = ENTRY_TYPES | LARGE_DIRECTORIES | INLINE_DATA | CASE_INSENSITIVE;
const KNOWN: u32 = META_BG | WIDE | CHECKSUM_SEED | FOR_DIRECTORIES | OTHERS;

// Features that a writer must know (s_feature_ro_compat).
const SPARSE: u32 = 0x1;
/// The number of a file's sectors has more than 32 bits.
pub(super) const HUGE_FILES: u32 = 0x8;
const GROUP_CHECKSUMS: u32 = 0x10;
const CHECKSUMS: u32 = 0x400;
/// Blocks are allocated in clusters.
const CLUSTERS: u32 = 0x200;
/// Large files, directory trees, many subdirectories, larger inodes, quotas, clusters.
const OTHERS_TO_WRITE: u32 = 0x2 | 0x4 | 0x20 | 0x40 | 0x100 | 0x200;
/// Replicas, read-only, projects, verity, an orphan file.
const LATER_TO_WRITE: u32 = 0x800 | 0x1000 | 0x2000 | 0x8000 | 0x1_0000;
const KNOWN_TO_WRITE: u32 =
    SPARSE | HUGE_FILES | GROUP_CHECKSUMS | CHECKSUMS | OTHERS_TO_WRITE | LATER_TO_WRITE;

// Features that an old reader and writer need not know (s_feature_compat).
/// An inode has the blocks that are reserved for descriptors.
const RESIZE_INODE: u32 = 0x10;
/// Directories may have hash trees.
pub(super) const INDEXES: u32 = 0x20;
/// There are only two backups of the superblock.
const SPARSE_2: u32 = 0x200;

impl Layout {
    /// Reads the superblock.
    pub(super) fn read(device: &File) -> io::Result<Self> {
        const START: u64 = 1024;
        const MAGIC: u16 = 0xef53;
        let mut bytes = [0; 1024];
        device.read_exact_at(&mut bytes, START)?;
        let four = |at| u32_at(&bytes, at);
        if u16_at(&bytes, 0x38) != MAGIC {
            return Err(io::Error::new(ErrorKind::InvalidData, "it is not ext2, ext3 or ext4"));
        }
        let is_dynamic = four(0x4c) > 0;
        let [compatible, incompatible, read_only] = [0x5c, 0x60, 0x64].map(four);
        let (read, written) = (incompatible & !KNOWN, read_only & !KNOWN_TO_WRITE);
        if is_dynamic && (read, written) != (0, 0) {
            let message =
                format!("it has features that weigh does not know ({read:#x}, {written:#x})");
            return Err(io::Error::new(ErrorKind::Unsupported, message));
        }
        let block_size = 1024_u64.checked_shl(four(0x18)).filter(|size| *size <= 1 << 16);
        let Some(block_size) = block_size.filter(|size| *size > 0) else {
            return Err(damaged("its block size"));
        };
        let is_wide = incompatible & WIDE != 0;
        let seed = match incompatible & CHECKSUM_SEED {
            0 => checksum(u32::MAX, &bytes[0x68..0x78]),
            _ => four(0x270),
        };
        let layout = Self {
            block_size,
            blocks: wide(if is_wide { four(0x150) } else { 0 }, four(0x4)),
            inodes: four(0).into(),
            inode_size: if is_dynamic { u16_at(&bytes, 0x58).into() } else { 128 },
            inodes_per_group: four(0x28).into(),
            blocks_per_group: four(0x20).into(),
            first_data_block: four(0x14).into(),
            first_meta_group: four(0x104).into(),
            backups: match compatible & SPARSE_2 {
                0 => [u64::MAX; 2],
                _ => [four(0x24c).into(), four(0x250).into()],
            },
            descriptor_size: if is_wide { u16_at(&bytes, 0xfe).into() } else { 32 },
            reserved: u16_at(&bytes, 0xce).into(),
            cluster: match is_dynamic && read_only & CLUSTERS != 0 {
                true => {
                    1_u64.checked_shl(four(0x1c).saturating_sub(four(0x18))).unwrap_or(u64::MAX)
                }
                false => 1,
            },
            project_quotas: four(0x26c).into(),
            orphan_file: four(0x280).into(),
            checksum_seed: (read_only & CHECKSUMS != 0).then_some(seed),
            compatible,
            incompatible,
            read_only,
        };
        layout.check((&*device).seek(SeekFrom::End(0))?)?;
        Ok(layout)
    }

    /// Checks that it is consistent, and fits a device of so many `bytes`.
    fn check(&self, bytes: u64) -> io::Result<()> {
        let Self { block_size, inode_size, inodes_per_group, descriptor_size, .. } = *self;
        let bits = 8 * block_size;
        /// One bit of a group's bitmap stands for so many blocks at most (clusters of 256 MiB with blocks of 1 KiB).
        const BLOCKS_A_BIT: u64 = 1 << 18;
        let has_inodes = is_power_within(inode_size, 128, block_size);
        let has_descriptors = is_power_within(descriptor_size, 32, 1024.min(block_size));
        let has_blocks = (1..=bits * BLOCKS_A_BIT).contains(&self.blocks_per_group);
        let has_room = self.blocks.checked_mul(block_size).is_some_and(|all| all <= bytes);
        let is_sound = [
            (has_inodes, "the size of its inodes"),
            (has_descriptors, "the size of its descriptors"),
            ((1..=bits).contains(&inodes_per_group), "the inodes of its groups"),
            (has_blocks, "the blocks of its groups"),
            (self.cluster <= BLOCKS_A_BIT, "the size of its clusters"),
            (self.first_data_block < self.blocks, "its first block"),
            (has_room, "it is longer than its device"),
        ];
        if let Some((_, what)) = is_sound.iter().find(|(is_sound, _)| !is_sound) {
            return Err(damaged(what));
        }
        /// With groups of 128 MiB, the usual size, these would be 2 PiB.
        const MOST_GROUPS: u64 = 1 << 24;
        if self.groups() > MOST_GROUPS {
            return Err(damaged("the number of its groups"));
        }
        if self.groups().checked_mul(inodes_per_group) != Some(self.inodes) {
            return Err(damaged("the number of its inodes"));
        }
        Ok(())
    }

    /// The size of the file system in bytes.
    pub fn bytes(&self) -> u64 {
        self.blocks.saturating_mul(self.block_size)
    }

    /// How many blocks of its own it has besides tables: one of the inode of reserved blocks, and one that guards
    /// against a second mount.
    pub(super) fn single_blocks(&self) -> u64 {
        let has_resize_inode = self.compatible & RESIZE_INODE != 0;
        u64::from(has_resize_inode) + u64::from(self.incompatible & GUARD_BLOCK != 0)
    }

    fn groups(&self) -> u64 {
        (self.blocks - self.first_data_block).div_ceil(self.blocks_per_group)
    }

    /// The block that has part `number` of the descriptors (fs/ext4/super.c, descriptor_loc).
    fn descriptors_at(&self, number: u64) -> u64 {
        let first = 1024 / self.block_size;
        if self.incompatible & META_BG == 0 || number < self.first_meta_group {
            return first + number + 1;
        }
        let group = number * (self.block_size / self.descriptor_size as u64);
        let is_shifted = self.block_size == 1024 && number == 0 && self.first_data_block == 0;
        let start = self.first_data_block + group * self.blocks_per_group;
        start + u64::from(self.has_superblock(group)) + u64::from(is_shifted)
    }

    /// Whether a group begins with a copy of the superblock (fs/ext4/balloc.c, ext4_bg_has_super).
    fn has_superblock(&self, group: u64) -> bool {
        match group {
            0 => true,
            _ if self.backups != [u64::MAX; 2] => self.backups.contains(&group),
            1 => true,
            _ if self.read_only & SPARSE == 0 => true,
            _ => [3_u64, 5, 7].iter().any(|base| base.pow(group.ilog(*base)) == group),
        }
    }
}

impl InodeTables {
    /// The number of groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// How many inodes the used parts of all inode tables have.
    pub fn used(&self) -> u64 {
        self.groups.iter().map(|group| group.used).fold(0, u64::saturating_add)
    }

    /// Reads the descriptors of all groups.
    pub(super) fn read(device: &File, layout: &Layout) -> io::Result<Self> {
        let (size, count) = (layout.descriptor_size, layout.groups());
        let a_block = layout.block_size / size as u64;
        let mut block = vec![0; layout.block_size as usize];
        let (mut groups, mut own) = (Vec::new(), Vec::new());
        let parts = count.div_ceil(a_block);
        // So many parts are copied behind each copy of the superblock.
        let copied = match layout.incompatible & META_BG {
            0 => parts,
            _ => parts.min(layout.first_meta_group),
        };
        for number in 0..parts {
            let at = layout.descriptors_at(number);
            if at >= layout.blocks {
                return Err(damaged("a descriptor beyond its end"));
            }
            device.read_exact_at(&mut block, at * layout.block_size)?;
            let left = usize::try_from(count - number * a_block).unwrap_or(usize::MAX);
            own.push(Run { start: at, count: 1 });
            let is_meta = number >= copied;
            for bytes in block.chunks_exact(size).take(left) {
                let table = InodeTable::new(bytes, layout);
                let number = groups.len() as u64;
                if layout.has_superblock(number) {
                    let start = layout.first_data_block + number * layout.blocks_per_group;
                    let copies = if is_meta { 0 } else { copied + layout.reserved };
                    own.push(Run { start, count: 1 + copies });
                }
                let at = number % a_block;
                if is_meta && (at == 1 || at == a_block - 1) {
                    // Copies of the first one's.
                    let start = layout.first_data_block + number * layout.blocks_per_group;
                    let start = start + u64::from(layout.has_superblock(number));
                    own.push(Run { start, count: 1 });
                }
                let inodes = layout.inodes_per_group * layout.inode_size as u64;
                own.push(Run { start: table.table, count: inodes.div_ceil(layout.block_size) });
                let bitmaps = [(0x20, 0), (0x24, 4)].map(|at| address(bytes, at));
                own.extend(bitmaps.map(|start| Run { start, count: 1 }));
                groups.push(table);
            }
        }
        // A damaged address is a large number.
        own.retain(|run| run.start < layout.blocks);
        let table = Self { groups, own: Vec::new(), tables: joined(own, 0) };
        // Otherwise groups could share one table, and all together take very long to read.
        if table.used().saturating_mul(layout.inode_size as u64) > layout.bytes() {
            return Err(damaged("its inode tables"));
        }
        Ok(table)
    }
}

impl InodeTable {
    fn new(bytes: &[u8], layout: &Layout) -> Self {
        /// Its inode table has never been used.
        const UNUSED: u16 = 0x1;
        let is_wide = bytes.len() >= 64;
        let unused_high = if is_wide { u16_at(bytes, 0x32) } else { 0 };
        let unused = u64::from(unused_high) << 16 | u64::from(u16_at(bytes, 0x1c));
        let is_unused = u16_at(bytes, 0x12) & UNUSED != 0;
        // Only then, groups say how much of their inode tables was never used.
        let used = match layout.read_only & (GROUP_CHECKSUMS | CHECKSUMS) {
            0 => layout.inodes_per_group,
            _ if is_unused => 0,
            _ => layout.inodes_per_group.saturating_sub(unused),
        };
        Self { table: address(bytes, (0x28, 0x8)), used }
    }
}

/// Whether `size` is a power of two from `least` to `most`.
fn is_power_within(size: usize, least: usize, most: u64) -> bool {
    size.is_power_of_two() && size >= least && size as u64 <= most
}

/// The address with its upper and its lower half at these places of a group's descriptor.
fn address(bytes: &[u8], (high, low): (usize, usize)) -> u64 {
    let is_wide = bytes.len() >= 64;
    wide(if is_wide { u32_at(bytes, high) } else { 0 }, u32_at(bytes, low))
}

/// CRC-32C of `bytes`, continuing `sum`, as ext4 has it: without the complement at both ends.
pub(super) fn checksum(sum: u32, bytes: &[u8]) -> u32 {
    !crc32c::crc32c_append(!sum, bytes)
}
