//! Reads what GNU find prints of all attributes.

use std::io::{self, BufRead, Read};

use super::ListEntries;
use super::entries::EntryLine;
use crate::base::inode::{Identity, Links};
use crate::base::measure::{Figures, Mode};
use crate::tree::{Details, Inode};

/// The format for `find -H PATH... -printf`. The word at its start tells it from other lists. The starting point and
/// the path below it end with NUL, because they may have any other byte.
pub const FIND_FORMAT: &str = r"find %D %i %n %b %s %T@ %C@ %B@ %U %G %m %y %H\0%P\0";

/// What may be printed after the last entry, to show that nothing is missing. No entry begins so.
pub const FIND_END: &str = r"\0\0found\n";
const END: &[u8] = b"\0\0found\n";

/// The first bytes of each entry.
pub(super) const START: &[u8] = b"find ";

/// No path is as long, except in an attack.
pub(super) const LONGEST: usize = 16 << 20;

/// Reads what find prints in [`FIND_FORMAT`] into `entries`, up to its end, or up to [`FIND_END`]. Lines in errors are entries. Returns
/// whether [`FIND_END`] is there.
///
/// # Errors
/// The system's, and of what is not such an entry, or is cut off. What came before it has been added.
pub fn read_find(input: &mut impl BufRead, entries: &mut ListEntries) -> io::Result<bool> {
    let (mut start, mut path) = (Vec::new(), Vec::new());
    loop {
        entries.line += 1;
        if !take(input, &mut start, 0, entries)? {
            return Ok(false);
        }
        if start.is_empty() {
            start.push(0);
            input.take(END.len() as u64 - 1).read_to_end(&mut start)?;
            if start == END {
                return Ok(true);
            }
        }
        if !take(input, &mut path, 0, entries)? {
            return Err(entries.error("it is cut off"));
        }
        let Some((root, entry)) = parse(&start) else {
            return Err(entries.error("not what find prints in the format for weigh"));
        };
        entries.add(root, &path, entry)?;
    }
}

/// Takes what comes before the next byte `end`. False at the end of the input.
pub(super) fn take(
    input: &mut impl BufRead,
    into: &mut Vec<u8>,
    end: u8,
    entries: &ListEntries,
) -> io::Result<bool> {
    into.clear();
    input.take(LONGEST as u64).read_until(end, into)?;
    match into.pop_if(|byte| *byte == end) {
        Some(_) => Ok(true),
        None if into.is_empty() => Ok(false),
        None if into.len() == LONGEST => Err(entries.error("it is too long")),
        // A newline may be missing at the end of a file; what ends with NUL, a program wrote.
        None if end == 0 => Err(entries.error("it is cut off")),
        None => Ok(true),
    }
}

/// The root that an entry is below, and what is said of it.
fn parse(entry: &[u8]) -> Option<(&[u8], EntryLine)> {
    let mut fields = entry.strip_prefix(START)?.splitn(13, |byte| *byte == b' ');
    let [device, number, links, blocks, length] =
        [(); 5].map(|()| fields.next().and_then(unsigned));
    let [modified, changed, born] = [(); 3].map(|()| fields.next().and_then(seconds));
    let [owner, group] = [(); 2].map(|()| fields.next().and_then(unsigned));
    let mode = mode(fields.next()?, fields.next()?)?;
    let links = match u32::try_from(links?).ok()? {
        links @ 2.. => Links::Of(links),
        _ => Links::Alone,
    };
    let details = Details {
        modified: modified?,
        changed: changed?,
        // Not every file system knows it. Then find prints nothing, or a time before the epoch.
        born: born.unwrap_or(0).max(0),
        owner: u32::try_from(owner?).ok()?,
        group: Some(u32::try_from(group?).ok()?),
    };
    let identity = Identity { mount: 0, device: device?, number: number? };
    let figures = Figures::of(mode.kind(), blocks?, length?, modified);
    let inode = Some(Inode { identity, links, details: Some(details) });
    let root = fields.next().filter(|root| !root.is_empty())?;
    Some((root, EntryLine { mode, figures, inode, ..EntryLine::default() }))
}

/// The mode of permissions, in octal, and of a letter for the type.
fn mode(permissions: &[u8], letter: &[u8]) -> Option<Mode> {
    const TYPES: [(&[u8], u16); 7] = [
        (b"d", 0o040_000),
        (b"f", 0o100_000),
        (b"l", 0o120_000),
        (b"b", 0o060_000),
        (b"c", 0o020_000),
        (b"p", 0o010_000),
        (b"s", 0o140_000),
    ];
    let permissions = u16::from_str_radix(str::from_utf8(permissions).ok()?, 8).ok()?;
    let known = TYPES.iter().find(|(known, _)| *known == letter);
    // Some systems have other types. They count as what is neither a file nor a directory.
    let file_type = known.map_or(0, |(_, bits)| *bits);
    Some(Mode(file_type | permissions & 0o7777))
}

/// A number that is not negative.
pub(super) fn unsigned(text: &[u8]) -> Option<u64> {
    let is_number = text.iter().all(u8::is_ascii_digit);
    str::from_utf8(text).ok().filter(|_| is_number)?.parse().ok()
}

/// Whole seconds since the epoch, of a time with a fraction. find prints the fraction that stat(2) tells, also before
/// the epoch, and -1.-000000010 if a time is not known.
pub(super) fn seconds(text: &[u8]) -> Option<i64> {
    let text = str::from_utf8(text).ok()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_known = fraction.bytes().all(|digit| digit.is_ascii_digit());
    whole.parse().ok().filter(|_| is_known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::measure::View;
    use crate::from::list::ListOptions;
    use crate::tree::Sums;
    use crate::tree::tally::{Inodes, Whole};
    use crate::tree::total::replay_to;

    #[test]
    fn what_find_prints_is_a_tree_in_any_order() {
        let entry = |number: u64, links: u32, letter, path| {
            let attributes =
                format!("2049 {number} {links} 8 5 -1.5 2.0 -1.-000000010 0 0 644 {letter}");
            format!("find {attributes} a b\0{path}\0")
        };
        let entries = [
            entry(1, 3, 'd', ""),
            entry(2, 2, 'd', "x"),
            entry(3, 2, 'f', "x/1"),
            entry(3, 2, 'f', "x-1"),
            entry(4, 1, 'f', "x/\n2"),
        ];
        for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3]] {
            let list = order.map(|number| entries[number].as_bytes()).concat();
            let mut read = ListEntries::new(ListOptions::default());
            read_find(&mut list.as_slice(), &mut read).unwrap();
            let begin = replay_to(|_| Whole { inodes: Inodes::LINKED });
            let (tree, _) = read.replay(begin, View::default(), true).unwrap();
            let Sums { all, entries, .. } = tree.root().node().sums;
            assert_eq!((tree.root().name(), all.disk, all.length), (&b"a b"[..], 4 * 4096, 10));
            assert_eq!((all.files, entries, all.newest), (2, 4, Some(-1)));
            assert_eq!(tree.root().unsorted().count(), 2);
        }
    }

    #[test]
    fn what_is_cut_off_is_no_list() {
        let list = b"find 1 2 1 8 5 1.0 1.0 1.0 0 0 644 d r\0\0find 1 3 1 8 5 1.0 1.0 1.0 0 0 644 f r\0x\0";
        for length in 0..list.len() {
            let mut read = ListEntries::new(ListOptions::default());
            let is_whole = [0, 40].contains(&length);
            assert_eq!(read_find(&mut &list[..length], &mut read).is_ok(), is_whole, "{length}");
        }
        let ended = [&list[..], END, b"x"].concat();
        for length in 0..=ended.len() {
            let mut read = ListEntries::new(ListOptions::default());
            let has_end = read_find(&mut &ended[..length], &mut read).is_ok_and(|has_end| has_end);
            assert_eq!(has_end, length >= ended.len() - 1, "{length}");
        }
    }
}
