//! A directory's leaves, packed into one block, so that keeping everything costs little more than
//! the names: length of name, name, type and permissions, size, and what is kept of the inode.
//! Numbers are LEB128; the two lowest bits of the length say what of the inode there is.

use std::cell::Cell;

use crate::measure::Mode;
use crate::sys::{MountedIdentity, Stat};

/// An entry below a [`Tree`](super::Tree) that is not a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf<'a> {
    /// Its name, as bytes; in a flat list, its path below the root.
    pub name: &'a [u8],
    /// File type and permissions.
    pub mode: Mode,
    /// Its weight, in the measure's unit.
    pub size: u64,
    /// Which inode it is, if that is kept.
    pub inode: Option<Inode>,
}

/// Which inode something is, and what else is kept of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inode {
    /// Its mount, device and inode number.
    pub identity: MountedIdentity,
    /// How many names it has, if they all count once; `u32::MAX` where more lead to it than it
    /// knows.
    pub links: Option<u32>,
    /// What only those want who ask for it.
    pub details: Option<Details>,
}

/// What else is kept of an inode for those who ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Details {
    /// When it was last written to, in seconds since the epoch.
    pub modified: i64,
    /// The user id of its owner.
    pub owner: u32,
}

impl Inode {
    /// What to keep of an inode seen through `mount`, of which `links` names count once.
    pub(super) fn new(stat: &Stat, mount: u64, links: Option<u32>, has_details: bool) -> Self {
        let details = Details { modified: stat.modified, owner: stat.owner };
        let identity = (mount, stat.identity());
        Self { identity, links, details: has_details.then_some(details) }
    }

    /// Which inode it is, if it may be met again.
    pub fn linked(&self) -> Option<MountedIdentity> {
        self.links.map(|_| self.identity)
    }
}

/// A directory's leaves, packed.
#[derive(Debug, Default)]
pub(super) struct Leaves(Vec<u8>);

thread_local! {
    /// The room in which this thread has gathered leaves, for those of the next directory.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The inode is kept, and the details.
const INODE: u64 = 1;
const DETAILS: u64 = 2;

impl Leaves {
    pub(super) fn push(&mut self, leaf: &Leaf<'_>) {
        let Leaf { name, mode, size, inode } = *leaf;
        let details = inode.and_then(|inode| inode.details);
        let flags = if inode.is_some() { INODE } else { 0 };
        let flags = if details.is_some() { flags | DETAILS } else { flags };
        let block = &mut self.0;
        if block.capacity() == 0 {
            *block = SPARE.take();
        }
        push_number(block, (name.len() as u64) << 2 | flags);
        block.extend_from_slice(name);
        block.extend_from_slice(&mode.0.to_le_bytes());
        push_number(block, size);
        if let Some(Inode { identity: (mount, (device, inode)), links, .. }) = inode {
            // One more than they are, and 0 for none.
            let links = links.map_or(0, |links| u64::from(links) + 1);
            for number in [mount, device, inode, links] {
                push_number(block, number);
            }
        }
        if let Some(Details { modified, owner }) = details {
            // Times before the epoch, as zigzag: 0, -1, 1, -2, …
            push_number(block, (modified << 1 ^ modified >> 63) as u64);
            push_number(block, owner.into());
        }
    }

    /// Adds what is in `other`; where nothing was, in as little room as it takes.
    pub(super) fn append(&mut self, mut other: Leaves) {
        /// Room that grew beyond this is not kept for the next directory, in bytes.
        const LARGE: usize = 64 << 10;
        self.0.extend_from_slice(&other.0);
        other.0.clear();
        if (1..=LARGE).contains(&other.0.capacity()) {
            SPARE.set(other.0);
        }
    }

    pub(super) fn into_block(self) -> Box<[u8]> {
        self.0.into_boxed_slice()
    }
}

/// The leaves in `block`, in the order they went in.
pub(super) fn iter(mut block: &[u8]) -> impl Iterator<Item = Leaf<'_>> {
    std::iter::from_fn(move || take_leaf(&mut block))
}

fn take_leaf<'a>(block: &mut &'a [u8]) -> Option<Leaf<'a>> {
    let head = take_number(block)?;
    let (name, rest) = block.split_at_checked(usize::try_from(head >> 2).ok()?)?;
    let (mode, rest) = rest.split_first_chunk()?;
    *block = rest;
    let size = take_number(block)?;
    let inode = if head & INODE == 0 { None } else { Some(take_inode(block, head)?) };
    Some(Leaf { name, mode: Mode(u16::from_le_bytes(*mode)), size, inode })
}

fn take_inode(block: &mut &[u8], head: u64) -> Option<Inode> {
    let mount = take_number(block)?;
    let identity = (mount, (take_number(block)?, take_number(block)?));
    let links = take_number(block)?.checked_sub(1).map(|links| links as u32);
    let mut details = None;
    if head & DETAILS != 0 {
        let modified = take_number(block)?;
        let modified = (modified >> 1) as i64 ^ -((modified & 1) as i64);
        details = Some(Details { modified, owner: take_number(block)? as u32 });
    }
    Some(Inode { identity, links, details })
}

fn push_number(block: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        block.push(number as u8 | 0x80);
        number >>= 7;
    }
    block.push(number as u8);
}

fn take_number(block: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = block.split_first()?;
        *block = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_come_back_as_they_went_in() {
        let long = vec![b'x'; 255];
        let linked = Inode { identity: (1, (2, u64::MAX)), links: Some(u32::MAX), details: None };
        let details = |modified| Some(Details { modified, owner: u32::MAX });
        let once = Inode { identity: (0, (0, 0)), links: None, details: details(i64::MIN) };
        let twice = Inode { links: Some(0), details: details(1_700_000_000), ..once };
        let kept = [
            (b"a".as_slice(), 0, 0, None),
            (b"", 0o100_644, 127, Some(linked)),
            (b"\xff\n", 0o120_777, 128, Some(once)),
            (&long, u16::MAX, u64::MAX, Some(twice)),
        ]
        .map(|(name, mode, size, inode)| Leaf { name, mode: Mode(mode), size, inode });
        let mut leaves = Leaves::default();
        for leaf in &kept {
            leaves.push(leaf);
        }
        assert_eq!(iter(&leaves.into_block()).collect::<Vec<_>>(), kept);
    }
}
