//! Lists as JSON: objects in lists or one after the other, whose members are those that a table names its columns by.
//! rclone prints them so (`lsjson`), restic (`ls --json`) and, with a query, aws. Memory does not grow with them.

use std::io::{self, ErrorKind, Read};

use super::ListEntries;
use super::entries::error;
use super::table::{self, EntryAttributes};
use crate::base::measure::{Kind, Measure, Measures, Mode};
use crate::from::snapshot::{Origin, Tokens};

/// What was said of every entry so far that has it.
struct KnownMembers {
    /// Sizes and disk usage: whether any entry has it, and whether every one has.
    size: [bool; 2],
    disk: [bool; 2],
    has_times: bool,
    has_owners: bool,
}

/// An object, as far as it is an entry.
#[derive(Default)]
struct EntryMembers {
    path: Option<Vec<u8>>,
    attributes: EntryAttributes,
    /// Whether it is something else: restic begins with the snapshot.
    is_other: bool,
    has_kind: bool,
}

/// Reads a list into `entries`.
pub(super) fn read(
    input: Box<dyn Read>,
    entries: &mut ListEntries,
) -> io::Result<(Measures, Origin)> {
    let mut tokens = Tokens::new(input);
    (tokens.is_lax, tokens.is_recognized) = (true, true);
    let read = read_all(&mut tokens, entries);
    let known = read.map_err(|error| match error.kind() {
        ErrorKind::InvalidData => located(&error, tokens.line()),
        _ => error,
    })?;
    let has = |[any, every]: [bool; 2]| any && every;
    let measures = [(Measure::Apparent, has(known.size)), (Measure::Disk, has(known.disk))];
    let measures: Vec<_> = measures.into_iter().filter(|(_, is)| *is).map(|it| it.0).collect();
    if measures.is_empty() && (known.size[0] || known.disk[0]) {
        return Err(entries.error("some entries have a size, and others only disk"));
    }
    let origin = Origin {
        has_times: known.has_times,
        has_details: known.has_times && known.has_owners,
        lacks_modes: true,
        ..Origin::default()
    };
    Ok((measures.into_iter().chain([Measure::Files, Measure::Inodes]).collect(), origin))
}

/// The same error, which says in which line it is.
fn located(what: &io::Error, line: u64) -> io::Error {
    let text = what.to_string();
    if text.starts_with("line ") {
        return io::Error::new(ErrorKind::InvalidData, text);
    }
    error(line, &text)
}

fn read_all(tokens: &mut Tokens, entries: &mut ListEntries) -> io::Result<KnownMembers> {
    let (size, disk) = ([false, true], [false, true]);
    let mut known = KnownMembers { size, disk, has_times: true, has_owners: true };
    while let Some(first) = tokens.next()? {
        if first == b'[' {
            tokens.take(b'[')?;
            while tokens.item()? {
                entry(tokens, entries, &mut known)?;
            }
        } else {
            entry(tokens, entries, &mut known)?;
        }
    }
    Ok(known)
}

/// Takes an object, and adds the entry that it is.
fn entry(
    tokens: &mut Tokens,
    entries: &mut ListEntries,
    known: &mut KnownMembers,
) -> io::Result<()> {
    if tokens.peek()? != b'{' {
        return Err(tokens.error("no object with path and size"));
    }
    entries.line = tokens.line();
    let mut members = EntryMembers::default();
    tokens.object(|tokens| members.read(tokens))?;
    if members.is_other {
        return Ok(());
    }
    let EntryMembers { path, attributes, has_kind, .. } = members;
    let path = path.ok_or_else(|| entries.error("no path"))?;
    let EntryAttributes { mode, size, disk, time, owner, .. } = attributes;
    // Only files always have a size.
    let is_file = !has_kind || mode.kind() == Kind::File;
    if is_file && size.is_none() && disk.is_none() {
        return Err(entries.error("no size"));
    }
    for (of, is) in [(&mut known.size, size.is_some()), (&mut known.disk, disk.is_some())] {
        *of = [of[0] || is, of[1] && (is || !is_file)];
    }
    known.has_times &= time.is_some();
    known.has_owners &= owner.is_some();
    table::add_entry(&path, &attributes, entries)
}

impl EntryMembers {
    /// Takes the value of the member whose name was taken.
    fn read(&mut self, tokens: &mut Tokens) -> io::Result<()> {
        let attributes = &mut self.attributes;
        match &*table::column(tokens.text()) {
            "path" => {
                tokens.string()?;
                self.path = Some(tokens.text().to_vec());
            }
            "size" => attributes.size = number(tokens)?,
            "disk" => attributes.disk = number(tokens)?,
            "owner" => attributes.owner = narrow(tokens)?,
            "group" => attributes.group = narrow(tokens)?,
            "links" => attributes.links = narrow(tokens)?,
            "inode" => attributes.inode = narrow(tokens)?,
            "device" => attributes.device = narrow(tokens)?,
            "time" => attributes.time = time(tokens)?,
            "isdir" => {
                let kind = if tokens.boolean()? { Kind::Directory } else { Kind::File };
                (attributes.mode, self.has_kind) = (Mode::usual(kind), true);
            }
            "type" if tokens.peek()? == b'"' => {
                tokens.string()?;
                if let Some(mode) = mode(tokens.text()) {
                    (attributes.mode, self.has_kind) = (mode, true);
                }
            }
            // So restic tells entries from what else it prints.
            "struct_type" | "message_type" if tokens.peek()? == b'"' => {
                tokens.string()?;
                self.is_other |= tokens.text() != b"node";
            }
            _ => tokens.skip()?,
        }
        Ok(())
    }
}

/// The mode of what is of this type, as restic and borg call it.
fn mode(name: &[u8]) -> Option<Mode> {
    Some(match name {
        b"dir" | b"d" => Mode::usual(Kind::Directory),
        b"file" | b"-" => Mode::usual(Kind::File),
        b"symlink" | b"l" => Mode::usual(Kind::Symlink),
        // Not by its usual mode, which is that of what is not known.
        b"dev" | b"chardev" | b"fifo" | b"socket" => Mode(0o010_000),
        _ => return None,
    })
}

/// Takes a whole number; or something else, which is none.
fn number(tokens: &mut Tokens) -> io::Result<Option<i128>> {
    match tokens.peek()? {
        b'-' => tokens.signed().map(|number| Some(number.into())),
        b'0'..=b'9' => tokens.number().map(|number| Some(number.into())),
        _ => tokens.skip().map(|()| None),
    }
}

/// The same, of what fits in `N`.
fn narrow<N: TryFrom<i128>>(tokens: &mut Tokens) -> io::Result<Option<N>> {
    let number = number(tokens)?;
    let narrow = number.map(N::try_from).transpose();
    narrow.map_err(|_| tokens.error("a number that is negative or too large"))
}

/// Takes a number of seconds, or a date.
fn time(tokens: &mut Tokens) -> io::Result<Option<i64>> {
    let text = match tokens.peek()? {
        b'"' => {
            tokens.string()?;
            tokens.text().to_vec()
        }
        b'n' => return tokens.skip().map(|()| None),
        _ => tokens.word()?,
    };
    let time = str::from_utf8(&text).ok().and_then(table::time);
    time.map(Some)
        .ok_or_else(|| tokens.error("a time that is neither a number of seconds nor a date"))
}
