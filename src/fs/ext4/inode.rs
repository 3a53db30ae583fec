//! An inode in its table, and its attributes as stat(2) returns them.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use rustix::fs::FileType;

use super::layout::{HUGE_FILES, LARGE_DIRECTORIES};
use super::{Layout, u16_at, u32_at, wide};

/// An inode in its table.
#[derive(Clone, Copy, Debug)]
pub struct RawInode<'a> {
    pub(super) bytes: &'a [u8],
}

/// The attributes of an inode, as statx(2) returns them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// File type and permissions.
    pub mode: u16,
    /// The number of hard links.
    pub links: u16,
    /// Allocated blocks of 512 bytes.
    pub blocks: u64,
    /// Length in bytes.
    pub length: u64,
    /// When it was last read, in seconds since the epoch, like the next three.
    pub accessed: i64,
    /// When its content was last written.
    pub modified: i64,
    /// When it was last written, renamed, linked, or changed in owner or mode.
    pub changed: i64,
    /// The nanoseconds of that second.
    pub changed_nanos: u32,
    /// When it was created; 0 if the inode does not tell.
    pub born: i64,
    /// The user id of its owner.
    pub owner: u32,
    /// The group id of its owner.
    pub group: u32,
}

impl Attributes {
    /// The type of the file.
    pub fn file_type(&self) -> FileType {
        FileType::from_raw_mode(self.mode.into())
    }
}

/// Its map of blocks is a tree of extents.
const EXTENTS: u32 = 0x8_0000;
const ENCRYPTED: u32 = 0x800;
/// It counts blocks, not sectors.
const HUGE_FILE: u32 = 0x4_0000;
/// Its content is in the inode.
const INLINE: u32 = 0x1000_0000;

impl<'a> RawInode<'a> {
    /// Whether it is in use: it has links and a type.
    pub fn is_used(&self) -> bool {
        self.links() > 0 && self.mode() >> 12 != 0
    }

    /// File type and permissions.
    pub(super) fn mode(&self) -> u16 {
        u16_at(self.bytes, 0)
    }

    /// The type of the file.
    pub(super) fn file_type(&self) -> FileType {
        FileType::from_raw_mode(self.mode().into())
    }

    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        self.file_type() == FileType::Directory
    }

    /// Whether its names, or the length of a symlink, need a key.
    pub fn is_encrypted(&self) -> bool {
        self.flags() & ENCRYPTED != 0
    }

    /// Whether its content is in the inode itself.
    pub fn is_inline(&self) -> bool {
        self.flags() & INLINE != 0
    }

    /// Whether it is a directory in use whose entries are in blocks.
    pub fn has_entries_in_blocks(&self) -> bool {
        self.is_used() && self.is_directory() && !self.is_inline()
    }

    pub(super) fn has_extents(&self) -> bool {
        self.flags() & EXTENTS != 0
    }

    /// The 60 bytes with its map of blocks, or the root of that.
    pub(super) fn map(&self) -> &'a [u8] {
        self.bytes.get(0x28..0x64).unwrap_or_default()
    }

    /// A hash of everything in the inode of a directory that changes with its entries: times to the nanosecond, size
    /// and links.
    pub fn state(&self) -> u32 {
        let [length, changed, modified] = [0x4, 0xc, 0x10].map(|at| u32_at(self.bytes, at));
        let [changed_more, modified_more] = [0x84, 0x88].map(|at| self.extra(at));
        let links = self.links().into();
        let state = [length, changed, modified, links, changed_more, modified_more, self.flags()];
        FixedState::default().hash_one(state) as u32
    }

    /// The time of its last change, in seconds since the epoch.
    pub fn changed(&self) -> i64 {
        self.time(0xc, 0x84)
    }

    /// Its length in bytes (fs/ext4/ext4.h, ext4_isize).
    pub fn length(&self, layout: &Layout) -> u64 {
        let is_long = layout.incompatible & LARGE_DIRECTORIES != 0
            || self.file_type() == FileType::RegularFile;
        wide(if is_long { u32_at(self.bytes, 0x6c) } else { 0 }, u32_at(self.bytes, 0x4))
    }

    /// Its attributes (fs/ext4/inode.c, ext4_getattr and ext4_file_getattr).
    pub fn attributes(&self, layout: &Layout) -> Attributes {
        let length = self.length(layout);
        let is_inline_file = self.is_inline() && self.file_type() == FileType::RegularFile;
        let inline = if is_inline_file { length.div_ceil(512) } else { 0 };
        Attributes {
            mode: self.mode(),
            links: self.links(),
            blocks: self.sectors(layout).saturating_add(inline),
            length,
            accessed: self.time(0x8, 0x8c),
            modified: self.time(0x10, 0x88),
            changed: self.changed(),
            changed_nanos: self.extra(0x84) >> 2,
            born: if self.fits(0x90) { self.time(0x90, 0x94) } else { 0 },
            owner: self.id(0x2, 0x78),
            group: self.id(0x18, 0x7a),
        }
    }

    fn links(&self) -> u16 {
        u16_at(self.bytes, 0x1a)
    }

    pub(super) fn flags(&self) -> u32 {
        u32_at(self.bytes, 0x20)
    }

    /// Its size on disk, in sectors of 512 bytes.
    pub(super) fn sectors(&self, layout: &Layout) -> u64 {
        let low = u32_at(self.bytes, 0x1c);
        if layout.read_only & HUGE_FILES == 0 {
            return low.into();
        }
        let count = wide(u16_at(self.bytes, 0x74).into(), low);
        if self.flags() & HUGE_FILE != 0 {
            count.saturating_mul(layout.block_size / 512)
        } else {
            count
        }
    }

    /// The id with its lower and upper halves at these places.
    fn id(&self, low: usize, high: usize) -> u32 {
        u32::from(u16_at(self.bytes, high)) << 16 | u32::from(u16_at(self.bytes, low))
    }

    /// The time at `at`, with its extra bits at `extra`.
    fn time(&self, at: usize, extra: usize) -> i64 {
        let seconds = i64::from(u32_at(self.bytes, at) as i32);
        seconds + (i64::from(self.extra(extra) & 3) << 32)
    }

    /// The four bytes at `at`, behind the inode of ext2; 0 if the inode is too small.
    fn extra(&self, at: usize) -> u32 {
        if self.fits(at) { u32_at(self.bytes, at) } else { 0 }
    }

    /// Whether the inode is large enough for the four bytes at `at`.
    pub(super) fn fits(&self, at: usize) -> bool {
        const OLD: usize = 128;
        self.bytes.len() > OLD && at + 4 <= OLD + usize::from(u16_at(self.bytes, 0x80))
    }
}
