//! The packed form of a node: length of the name, name, type and permissions, bytes on disk, how much longer or shorter
//! its content is, and what is kept of the inode; for a directory also what is shared and its own. Numbers are LEB128.
//! The two lowest bits of the length say how much of the inode there is, or that there is more, and then a byte after
//! the figures says what. So to keep everything takes little more than the names.
//!
//! How many files and inodes a leaf is follows from its kind, and is packed only where it does not.

use std::iter;

use super::{Details, Freeable, Inode, Node, Sums};
use crate::base::inode::{Identity, Links};
use crate::base::measure::{Change, Figures, Kind, Mode};

/// The inode is kept, and its details.
const INODE: u64 = 1;
const DETAILS: u64 = 2;
/// There is more: no details are kept without their inode.
const MORE: u64 = DETAILS;
/// What more there is, in the number that says so: a time, a fingerprint, what deleting frees, files and inodes, how it
/// changed, and a note, which needs a second byte.
const TIME: u64 = 4;
const FINGERPRINT: u64 = 8;
const FREES: u64 = 16;
const COUNTS: u64 = 32;
const CHANGE: u64 = 64;
const NOTE: u64 = 128;
const MOST_FLAGS: u64 = 255;

/// What is said of a change: which of these kinds it is, and what else there is.
const KINDS: [Option<Kind>; 5] =
    [None, Some(Kind::Directory), Some(Kind::File), Some(Kind::Symlink), Some(Kind::Other)];
const KIND: u64 = 7;
const WAS: u64 = 8;
const IS: u64 = 16;
const MOVED: u64 = 32;

/// What a directory's own figures are: none, those of one directory that differ only on disk, or all of them, perhaps
/// with a time.
const NOT_COUNTED: u64 = 0;
const ON_DISK: u64 = 1;
const ALL: u64 = 2;
const WITH_TIME: u64 = 4;

/// Modes and times are packed as the difference from these, which is mostly small: that saves a byte for each.
const USUAL_MODE: u16 = 0o100_644;
/// The start of the year 2024.
const USUAL_TIME: i64 = 1_704_067_200;

/// How links are packed: these two, or their number from here on.
const ALONE: u64 = 0;
const UNKNOWN: u64 = 1;
const FIRST_COUNT: u64 = 2;

/// Packs an entry that is not a directory. Always inlined: a node that is made to be packed is then never in memory.
#[inline(always)]
pub fn push(block: &mut Vec<u8>, node: &Node<'_>) {
    let Node { name, mode, inode, fingerprint, .. } = *node;
    let details = inode.and_then(|inode| inode.details);
    let flags = if inode.is_some() { INODE } else { 0 };
    let flags = if details.is_some() { flags | DETAILS } else { flags };
    let Sums { all: Figures { disk, length, files, inodes, newest }, frees, .. } = node.sums;
    let usual = Figures::counts_of(mode.kind());
    let more = if (files, inodes) == (usual.files, usual.inodes) { 0 } else { COUNTS };
    let more = if newest.is_some() { more | TIME } else { more };
    let more = if fingerprint.is_some() { more | FINGERPRINT } else { more };
    let more = if frees.is_some() { more | FREES } else { more };
    let more = if node.change.is_some() { more | CHANGE } else { more };
    let more = if node.note.is_empty() { more } else { more | NOTE };
    let mark = if more > 0 { MORE } else { flags };
    push_number(block, (name.len() as u64) << 2 | mark);
    block.extend_from_slice(name);
    push_number(block, (mode.0 ^ USUAL_MODE).into());
    push_number(block, disk);
    push_near(block, disk, length);
    if more > 0 {
        push_number(block, more | flags);
    }
    if more & COUNTS != 0 {
        push_number(block, files);
        push_number(block, inodes);
    }
    if let Some(newest) = newest {
        push_signed(block, newest.wrapping_sub(USUAL_TIME));
    }
    if let Some(change) = node.change {
        push_change(block, &change);
    }
    if !node.note.is_empty() {
        push_number(block, node.note.len() as u64);
        block.extend_from_slice(node.note.as_bytes());
    }
    if let Some(fingerprint) = fingerprint {
        block.extend_from_slice(&fingerprint.to_le_bytes());
    }
    if let Some(Freeable { least, most, extents }) = frees {
        // Nearly always both are its size on disk.
        push_number(block, disk.wrapping_sub(least));
        push_number(block, disk.wrapping_sub(most));
        push_number(block, extents);
    }
    if let Some(Inode { identity: Identity { mount, device, number }, links, .. }) = inode {
        let links = match links {
            Links::Alone => ALONE,
            Links::Unknown => UNKNOWN,
            Links::Of(links) => FIRST_COUNT + u64::from(links),
        };
        for number in [mount, device, number, links] {
            push_number(block, number);
        }
    }
    if let Some(Details { modified, changed, born, owner, group }) = details {
        push_signed(block, modified);
        // The others are near it, mostly.
        push_signed(block, changed.wrapping_sub(modified));
        push_signed(block, born.wrapping_sub(modified));
        push_number(block, owner.into());
        // One more than it is, and 0 for none.
        push_number(block, group.map_or(0, |group| u64::from(group) + 1));
    }
}

fn push_change(block: &mut Vec<u8>, change: &Change<'_>) {
    let Change { kind, was, is, churn, entries, moved_from } = *change;
    let kind = KINDS.iter().position(|known| *known == kind).unwrap_or(0) as u64;
    let flags = if was.is_some() { kind | WAS } else { kind };
    let flags = if is.is_some() { flags | IS } else { flags };
    let flags = if moved_from.is_some() { flags | MOVED } else { flags };
    for number in [flags, was.unwrap_or(0), is.unwrap_or(0), churn, entries] {
        push_number(block, number);
    }
    if let Some(origin) = moved_from {
        push_number(block, origin.len() as u64);
        block.extend_from_slice(origin);
    }
}

/// Packs a directory's own record, which comes before its leaves.
pub fn push_directory(block: &mut Vec<u8>, node: &Node<'_>) {
    let Node { own, sums: Sums { all, shared, entries, .. }, .. } = *node;
    push(block, node);
    push_near(block, all.inodes, entries);
    let is_shared = shared != Figures::default();
    push_number(block, is_shared.into());
    if is_shared {
        push_figures(block, &shared);
    }
    match own {
        None => push_number(block, NOT_COUNTED),
        Some(own) if own == on_disk(own.disk) => {
            push_number(block, ON_DISK);
            push_number(block, own.disk);
        }
        Some(own) => {
            push_number(block, ALL | own.newest.map_or(0, |_| WITH_TIME));
            push_figures(block, &own);
            own.newest.into_iter().for_each(|newest| push_signed(block, newest));
        }
    }
}

/// What a directory is that has so many bytes on disk.
fn on_disk(disk: u64) -> Figures {
    Figures { disk, ..Figures::counts_of(Kind::Directory) }
}

/// Packs all figures but the time.
fn push_figures(block: &mut Vec<u8>, figures: &Figures) {
    push_number(block, figures.disk);
    push_near(block, figures.disk, figures.length);
    push_number(block, figures.files);
    push_number(block, figures.inodes);
}

fn take_figures(block: &mut &[u8]) -> Option<Figures> {
    let disk = take_number(block)?;
    let length = take_near(block, disk)?;
    let (files, inodes) = (take_number(block)?, take_number(block)?);
    Some(Figures { disk, length, files, inodes, newest: None })
}

/// The name of the first record in `block`.
#[inline]
pub fn name(mut block: &[u8]) -> &[u8] {
    take_name(&mut block).map_or(b"", |(_, name)| name)
}

/// Its type and permissions.
#[inline]
pub fn mode(mut block: &[u8]) -> Mode {
    take_name(&mut block).and_then(|_| take_mode(&mut block)).unwrap_or_default()
}

/// What the first record in `block` comes to, and whether it says how that changed.
#[inline]
pub(super) fn figures(mut block: &[u8]) -> (Figures, bool) {
    let head = take_known(&mut block);
    head.map_or_else(Default::default, |head| (head.figures, head.flags & CHANGE != 0))
}

/// How it changed.
pub(super) fn change(mut block: &[u8]) -> Option<Change<'_>> {
    let head = take_known(&mut block)?;
    if head.flags & CHANGE == 0 { None } else { take_change(&mut block) }
}

/// The start of a record.
struct Head<'a> {
    name: &'a [u8],
    mode: Mode,
    figures: Figures,
    /// What else there is.
    flags: u64,
}

#[inline]
fn take_known<'a>(block: &mut &'a [u8]) -> Option<Head<'a>> {
    let (head, name) = take_name(block)?;
    let mode = take_mode(block)?;
    let disk = take_number(block)?;
    let length = take_near(block, disk)?;
    let mut figures = Figures { disk, length, ..Figures::counts_of(mode.kind()) };
    let mut flags = head & (INODE | DETAILS);
    if flags == MORE {
        flags = take_number(block)?;
        if flags > MOST_FLAGS {
            return None;
        }
    }
    if flags & COUNTS != 0 {
        (figures.files, figures.inodes) = (take_number(block)?, take_number(block)?);
    }
    if flags & TIME != 0 {
        figures.newest = Some(take_signed(block)?.wrapping_add(USUAL_TIME));
    }
    Some(Head { name, mode, figures, flags })
}

/// Takes the record of an entry that is not a directory from `block`.
#[inline]
pub fn take<'a>(block: &mut &'a [u8]) -> Option<Node<'a>> {
    let Head { name, mode, figures, flags } = take_known(block)?;
    let mut sums = Sums::of(figures);
    let change = if flags & CHANGE == 0 { None } else { Some(take_change(block)?) };
    let note = if flags & NOTE == 0 { "" } else { str::from_utf8(take_bytes(block)?).ok()? };
    let fingerprint = if flags & FINGERPRINT == 0 { None } else { Some(take_fingerprint(block)?) };
    if flags & FREES != 0 {
        let least = figures.disk.wrapping_sub(take_number(block)?);
        let most = figures.disk.wrapping_sub(take_number(block)?);
        sums.frees = Some(Freeable { least, most, extents: take_number(block)? });
    }
    let inode = if flags & INODE == 0 { None } else { Some(take_inode(block, flags)?) };
    Some(Node { name, mode, own: None, sums, inode, fingerprint, change, note })
}

/// Takes bytes that come after their number.
fn take_bytes<'a>(block: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take_number(block)?).ok()?;
    let (bytes, rest) = block.split_at_checked(length)?;
    *block = rest;
    Some(bytes)
}

/// Takes the record of an entry that is not a directory, and returns only its name, what it comes to, and whether it
/// says how that changed: in half of the time.
#[inline]
pub fn take_brief<'a>(block: &mut &'a [u8]) -> Option<(&'a [u8], (Figures, bool))> {
    let mut rest = *block;
    let Head { name, figures, flags, .. } = take_known(&mut rest)?;
    if flags & (CHANGE | FINGERPRINT | NOTE) != 0 {
        take(block)?;
    } else {
        let counts = [(FREES, 3), (INODE, 4), (DETAILS, 5)]
            .map(|(flag, count)| if flags & flag == 0 { 0 } else { count });
        skip_numbers(&mut rest, counts.iter().sum())?;
        *block = rest;
    }
    Some((name, (figures, flags & CHANGE != 0)))
}

/// A directory's own record, and what comes after it in `block`.
#[inline]
pub fn split(block: &[u8]) -> (&[u8], &[u8]) {
    let mut rest = block;
    let _ = skip_directory(&mut rest);
    block.split_at(block.len() - rest.len())
}

fn skip_directory(block: &mut &[u8]) -> Option<()> {
    take_brief(block)?;
    skip_numbers(block, 1)?;
    let shared = if take_number(block)? > 0 { 4 } else { 0 };
    skip_numbers(block, shared)?;
    let own = match take_number(block)? {
        NOT_COUNTED => 0,
        ON_DISK => 1,
        ALL => 4,
        _ => 5,
    };
    skip_numbers(block, own)
}

/// Skips so many numbers.
#[inline]
fn skip_numbers(block: &mut &[u8], mut count: usize) -> Option<()> {
    while count > 0 {
        let (byte, rest) = block.split_first()?;
        *block = rest;
        count -= usize::from(*byte < 0x80);
    }
    Some(())
}

/// The entries in `block`, up to its end.
pub(super) fn leaves(mut block: &[u8]) -> impl Iterator<Item = Node<'_>> {
    iter::from_fn(move || take(&mut block))
}

/// Takes a directory's own record from `block`.
pub fn take_directory<'a>(block: &mut &'a [u8]) -> Option<Node<'a>> {
    let mut node = take(block)?;
    node.sums.entries = take_near(block, node.sums.all.inodes)?;
    if take_number(block)? > 0 {
        node.sums.shared = take_figures(block)?;
    }
    node.own = match take_number(block)? {
        NOT_COUNTED => None,
        ON_DISK => Some(on_disk(take_number(block)?)),
        kept if kept & !WITH_TIME == ALL => {
            let own = take_figures(block)?;
            let newest = if kept == ALL { None } else { Some(take_signed(block)?) };
            Some(Figures { newest, ..own })
        }
        _ => return None,
    };
    Some(node)
}

#[inline]
fn take_name<'a>(block: &mut &'a [u8]) -> Option<(u64, &'a [u8])> {
    let head = take_number(block)?;
    let (name, rest) = block.split_at_checked(usize::try_from(head >> 2).ok()?)?;
    *block = rest;
    Some((head, name))
}

#[inline]
fn take_mode(block: &mut &[u8]) -> Option<Mode> {
    let mode = u16::try_from(take_number(block)?).ok()?;
    Some(Mode(mode ^ USUAL_MODE))
}

fn take_change<'a>(block: &mut &'a [u8]) -> Option<Change<'a>> {
    let flags = take_number(block)?;
    let [was, is] = [take_number(block)?, take_number(block)?];
    let [churn, entries] = [take_number(block)?, take_number(block)?];
    let moved_from = if flags & MOVED == 0 { None } else { Some(take_bytes(block)?) };
    let kind = *KINDS.get((flags & KIND) as usize)?;
    let (was, is) = ((flags & WAS != 0).then_some(was), (flags & IS != 0).then_some(is));
    Some(Change { kind, was, is, churn, entries, moved_from })
}

fn take_fingerprint(block: &mut &[u8]) -> Option<u32> {
    let (fingerprint, rest) = block.split_first_chunk()?;
    *block = rest;
    Some(u32::from_le_bytes(*fingerprint))
}

fn take_inode(block: &mut &[u8], flags: u64) -> Option<Inode> {
    let [mount, device, number] = [take_number(block)?, take_number(block)?, take_number(block)?];
    let identity = Identity { mount, device, number };
    let links = match take_number(block)? {
        ALONE => Links::Alone,
        UNKNOWN => Links::Unknown,
        links => Links::Of(u32::try_from(links - FIRST_COUNT).ok()?),
    };
    let mut details = None;
    if flags & DETAILS != 0 {
        let modified = take_signed(block)?;
        let changed = modified.wrapping_add(take_signed(block)?);
        let born = modified.wrapping_add(take_signed(block)?);
        let owner = u32::try_from(take_number(block)?).ok()?;
        let group = take_number(block)?.checked_sub(1).map(u32::try_from).transpose().ok()?;
        details = Some(Details { modified, changed, born, owner, group });
    }
    Some(Inode { identity, links, details })
}

/// Packs a number that may be negative, as zigzag: 0, -1, 1, -2, …
fn push_signed(block: &mut Vec<u8>, number: i64) {
    push_number(block, (number << 1 ^ number >> 63) as u64);
}

fn take_signed(block: &mut &[u8]) -> Option<i64> {
    let number = take_number(block)?;
    Some((number >> 1) as i64 ^ -((number & 1) as i64))
}

/// Packs a number that is near `other`.
fn push_near(block: &mut Vec<u8>, other: u64, number: u64) {
    push_signed(block, number.wrapping_sub(other).cast_signed());
}

fn take_near(block: &mut &[u8], other: u64) -> Option<u64> {
    take_signed(block).map(|difference| other.wrapping_add_signed(difference))
}

/// Packs a number.
pub fn push_number(block: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        block.push(number as u8 | 0x80);
        number >>= 7;
    }
    block.push(number as u8);
}

/// Takes a number from `block`. None if it has more than 64 bits.
#[inline]
pub fn take_number(block: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = block.split_first()?;
        if shift == 63 && byte > 1 {
            return None;
        }
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
    fn nodes_come_back_as_they_went_in() {
        let long = vec![b'x'; 255];
        let identity = Identity { mount: 1, device: 2, number: u64::MAX };
        let linked = Inode { identity, links: Links::Unknown, details: None };
        let details = |modified, group| {
            Some(Details { modified, changed: 0, born: i64::MAX, owner: u32::MAX, group })
        };
        let details_of_one = details(i64::MIN, None);
        let identity = Identity::default();
        let once = Inode { identity, links: Links::Alone, details: details_of_one };
        let details = details(1_700_000_000, Some(u32::MAX));
        let twice = Inode { links: Links::Of(u32::MAX), details, ..once };
        let kept = [
            (b"a".as_slice(), 0, 0, None, None),
            (b"", 0o100_644, 127, Some(linked), Some(0)),
            (b"\xff\n", 0o120_777, 128, Some(once), Some(u64::MAX)),
            (&long, u16::MAX, u64::MAX, Some(twice), None),
        ]
        .map(|(name, mode, size, inode, own)| {
            let newest = (size > 127).then_some(-1 - (size / 3) as i64);
            let of = |disk: u64| Figures {
                disk,
                length: disk.wrapping_mul(3),
                files: size,
                inodes: !size,
                newest: None,
            };
            let own = own.map(|disk| match disk {
                0 => on_disk(disk),
                _ => Figures { newest, ..of(disk) },
            });
            let frees = (size > 0).then_some(Freeable {
                least: size / 2,
                most: size.wrapping_add(7),
                extents: size,
            });
            let (all, shared) = (Figures { newest, ..of(size) }, of(size / 2));
            let shared = if size == 128 { Figures::default() } else { shared };
            let sums = Sums { all, entries: size, shared, frees };
            let fingerprint = (size != 128).then_some(!0 - size as u32);
            let change = (size > 0).then_some(Change {
                kind: KINDS[name.len() % 5],
                was: (size > 127).then_some(size),
                is: (size < 128).then_some(!size),
                churn: size,
                entries: size / 7,
                moved_from: (size > 127).then_some(name),
            });
            let note = if size > 127 { "a note, as long as this one is" } else { "" };
            Node { name, mode: Mode(mode), own, sums, inode, fingerprint, change, note }
        });
        let mut block = Vec::new();
        for directory in &kept {
            push_directory(&mut block, directory);
            push(&mut block, directory);
        }
        let mut rest = block.as_slice();
        for directory in kept {
            assert_eq!((name(rest), mode(rest)), (directory.name, directory.mode));
            let (_, after) = split(rest);
            assert_eq!(take_directory(&mut rest), Some(directory));
            assert_eq!(rest, after);
            let sums = Sums { entries: 1, shared: Figures::default(), ..directory.sums };
            assert_eq!(figures(rest), (sums.all, directory.change.is_some()));
            assert_eq!(change(rest), directory.change);
            let mut after = rest;
            assert_eq!(take_brief(&mut after).map(|(name, _)| name), Some(directory.name));
            let skipped = after.len();
            assert_eq!(take(&mut rest), Some(Node { own: None, sums, ..directory }));
            assert_eq!(rest.len(), skipped);
        }
        assert_eq!((rest, take(&mut rest)), (b"".as_slice(), None));
    }

    /// What every entry takes matters: there may be millions.
    #[test]
    fn an_entry_takes_few_bytes_besides_its_name() {
        let packed = |kind, disk: u64, length| {
            let all = Figures::of(kind, disk / 512, length, None);
            let sums = Sums { all, ..Sums::of(all) };
            let mut block = Vec::new();
            push(&mut block, &Node { mode: Mode::usual(kind), sums, ..Node::default() });
            block.len()
        };
        assert_eq!(packed(Kind::File, 4096, 1234), 1 + 1 + 2 + 2);
        assert_eq!(packed(Kind::File, 1 << 20, 1 << 20), 1 + 1 + 3 + 1);
        assert_eq!(packed(Kind::Symlink, 0, 20), 1 + 2 + 1 + 1);
    }
}
