//! Whether the kernel may refuse an inode because it is damaged (fs/ext4/inode.c, __ext4_iget), or a block of a
//! directory (fs/ext4/namei.c). The kernel is asked about these, so it does no harm to doubt what it accepts.

use std::mem;

use rustix::fs::FileType;
use smallvec::SmallVec;

use super::layout::{CASE_INSENSITIVE, INDEXES, INLINE_DATA, checksum};
use super::map::extent_entries;
use super::{Layout, RawInode, RawVolume, Run, u16_at, u32_at, wide};

// Flags of inodes (i_flags).
const IMMUTABLE: u32 = 0x10;
const APPEND_ONLY: u32 = 0x20;
/// It is a directory with a hash tree.
const INDEX: u32 = 0x1000;
/// It is the value of an extended attribute.
const ATTRIBUTE: u32 = 0x20_0000;
const CASEFOLD: u32 = 0x4000_0000;

/// The size of an inode of ext2, in bytes. What follows is extra.
const OLD: usize = 128;

impl RawInode<'_> {
    /// Whether the kernel certainly accepts it as the inode with this `number`.
    pub(super) fn is_sound(&self, number: u64, volume: &RawVolume) -> bool {
        let Layout { block_size, compatible, incompatible, .. } = volume.layout;
        let flags = self.flags();
        let acl = wide(u16_at(self.bytes, 0x76).into(), u32_at(self.bytes, 0x68));
        // Without extents, three levels of blocks full of pointers are the largest map. Some limits are lower.
        let longest_map = (block_size / 4).pow(3).saturating_mul(block_size).min(1 << 40);
        let length = self.length(&volume.layout);
        let is_link = self.file_type() == FileType::Symlink;
        matches!(self.mode() >> 12, 0x1 | 0x2 | 0x4 | 0x6 | 0x8 | 0xa | 0xc)
            && flags & ATTRIBUTE == 0
            && (flags & CASEFOLD == 0 || incompatible & CASE_INSENSITIVE != 0)
            && (flags & INDEX == 0 || compatible & INDEXES != 0)
            && (!self.is_inline() || incompatible & INLINE_DATA != 0 && !self.has_extents())
            && !(is_link && flags & (IMMUTABLE | APPEND_ONLY) != 0)
            && (acl == 0 || volume.has_data_at(acl, 1))
            && (self.has_extents() || length <= longest_map)
            && self.has_sound_attributes()
            && self.has_sound_map(volume, length, acl != 0)
            && volume.layout.checksum_seed.is_none_or(|seed| self.has_checksum(number, seed))
    }

    /// Whether what follows the inode of ext2 has a valid size, and valid extended attributes (fs/ext4/xattr.c,
    /// check_xattrs).
    fn has_sound_attributes(&self) -> bool {
        const MAGIC: u32 = 0xea02_0000;
        const HEAD: usize = 16;
        /// The attribute system.data, which has the content of an inline file.
        const DATA: (u8, &[u8]) = (7, b"data");
        if self.bytes.len() <= OLD {
            return !self.is_inline();
        }
        let extra = usize::from(u16_at(self.bytes, 0x80));
        let Some(rest) = self.bytes.get(OLD + extra..).filter(|_| extra.is_multiple_of(4)) else {
            return false;
        };
        if extra == 0 || rest.len() < 8 || u32_at(rest, 0) != MAGIC {
            return !self.is_inline();
        }
        let (entries, mut at, mut has_data) = (&rest[4..], 0, false);
        // Where values begin and end. They must be behind all names.
        let (mut first, mut last) = (u64::MAX, 0);
        while u32_at(entries, at) != 0 {
            let Some(name) =
                entries.get(at + HEAD..).and_then(|rest| rest.get(..entries[at].into()))
            else {
                return false;
            };
            let next = at + (HEAD + name.len()).next_multiple_of(4);
            let (start, length) = (u64::from(u16_at(entries, at + 2)), u32_at(entries, at + 8));
            let is_elsewhere = u32_at(entries, at + 4) != 0;
            if next >= entries.len() || name.contains(&0) || is_elsewhere {
                return false;
            }
            if length > 0 {
                first = first.min(start);
                last = last.max(start + u64::from(length).next_multiple_of(4));
            }
            has_data |= (entries[at + 1], name) == DATA;
            at = next;
        }
        let has_values = first >= at as u64 + 4 && last <= entries.len() as u64;
        has_values && (has_data || !self.is_inline())
    }

    /// Whether its map of blocks, or the target of a symlink in its place, is valid.
    fn has_sound_map(&self, volume: &RawVolume, length: u64, has_acl: bool) -> bool {
        let map = self.map();
        match self.file_type() {
            _ if self.is_inline() => return true,
            FileType::Symlink if !self.is_encrypted() => {
                let acl = if has_acl { volume.layout.block_size / 512 } else { 0 };
                if self.sectors(&volume.layout) == acl {
                    let end = map.iter().position(|byte| *byte == 0);
                    return length > 0 && end.is_some_and(|end| end as u64 == length);
                }
            }
            FileType::Symlink | FileType::RegularFile | FileType::Directory => {}
            _ => return true,
        }
        if !self.has_extents() {
            let mut pointers = map.chunks_exact(4).map(|pointer| u64::from(u32_at(pointer, 0)));
            return pointers.all(|block| block == 0 || volume.has_data_at(block, 1));
        }
        has_sound_extents(map, volume)
    }

    /// Whether it has the right checksum (ext4_inode_csum).
    fn has_checksum(&self, number: u64, seed: u32) -> bool {
        const LOW: usize = 0x7c;
        const HIGH: usize = 0x82;
        let has_high = self.fits(HIGH - 2);
        let high = if has_high { u16_at(self.bytes, HIGH) } else { 0 };
        let stored = u32::from(high) << 16 | u32::from(u16_at(self.bytes, LOW));
        // One run over a copy is faster than one over each part.
        let mut bytes: SmallVec<[u8; 256]> = SmallVec::from_slice(self.bytes);
        for at in [Some(LOW), has_high.then_some(HIGH)].into_iter().flatten() {
            bytes.get_mut(at..at + 2).unwrap_or_default().fill(0);
        }
        let sum = checksum(self.seed(number, seed), &bytes);
        stored == if has_high { sum } else { sum & 0xffff }
    }

    /// Where its checksum, and those of a directory's blocks, start from: its number and its generation.
    fn seed(&self, number: u64, seed: u32) -> u32 {
        let generation = self.bytes.get(0x64..0x68).unwrap_or_default();
        checksum(checksum(seed, &(number as u32).to_le_bytes()), generation)
    }

    /// Whether all `blocks` of the directory with this `number` have the right checksums, and a hash tree has a root.
    pub fn has_sound_blocks(&self, number: u64, layout: &Layout, blocks: &[u8]) -> bool {
        let size = layout.block_size as usize;
        let seed = layout.checksum_seed.map(|seed| self.seed(number, seed));
        let has_index = self.flags() & INDEX != 0;
        let mut blocks_alone = blocks.chunks_exact(size);
        (!has_index || index(blocks, size, seed.is_some()) == Some(ROOT_INDEX))
            && seed.is_none_or(|seed| blocks_alone.all(|block| has_checksum(block, seed)))
    }
}

/// Where the index begins in the root of a hash tree, and in its other nodes.
const ROOT_INDEX: usize = 0x20;
const NODE_INDEX: usize = 0x8;

/// Where the index begins in this block of a directory, if it is a node of a hash tree: how many entries there is room
/// for tells (dx_root_limit, dx_node_limit).
fn index(block: &[u8], size: usize, has_checksum: bool) -> Option<usize> {
    let tail = if has_checksum { 8 } else { 0 };
    let mut places = [ROOT_INDEX, NODE_INDEX].into_iter();
    places.find(|at| usize::from(u16_at(block, *at)) == (size - at - tail) / 8)
}

/// Whether a block of a directory has the right checksum: at its end, or behind the index of a hash tree
/// (ext4_dirblock_csum, ext4_dx_csum).
fn has_checksum(block: &[u8], seed: u32) -> bool {
    /// An entry without a name, of 12 bytes and of a type that is none, hides the checksum.
    const TAIL: [u8; 8] = [0, 0, 0, 0, 12, 0, 0, 0xde];
    let Some((content, tail)) = block.split_last_chunk::<12>() else { return false };
    // What became a hash tree's node keeps the type.
    if tail[..8] == TAIL && checksum(seed, content) == u32_at(tail, 8) {
        return true;
    }
    let Some(at) = index(block, block.len(), true) else { return false };
    let [room, count] = [at, at + 2].map(|at| usize::from(u16_at(block, at)));
    let (Some(entries), Some(tail)) = (block.get(..at + 8 * count), block.get(at + 8 * room..))
    else {
        return false;
    };
    let sum =
        [entries, tail.get(..4).unwrap_or_default(), &[0; 4]].into_iter().fold(seed, checksum);
    count <= room && sum == u32_at(tail, 4)
}

/// Whether the root of a tree of extents is valid. The kernel checks other nodes when it reads them.
fn has_sound_extents(root: &[u8], volume: &RawVolume) -> bool {
    let Some(mut entries) = extent_entries(root) else { return false };
    let mut from = 0;
    entries.all(|(logical, Run { start, count })| {
        let is_ordered = logical >= mem::replace(&mut from, logical + count);
        is_ordered && from <= 1 << 32 && volume.has_data_at(start, count)
    })
}
