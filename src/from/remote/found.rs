//! What find prints on the other side, when weigh is not there. A mark at the end shows that the connection was not
//! cut, and is followed by find's exit status. What find could not read, it says on stderr.

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::host::Host;
use crate::base::measure::{Measure, Measures};
use crate::from::list::{ListEntries, ListOptions, read_find};
use crate::from::snapshot::{Origin, Snapshot, Wanted};
use crate::sys::errors::codes;
use crate::sys::problem::{Operation, Problem};
use crate::tree::Report;
use crate::tree::total::BeginReplay;

/// How many bytes are read at once.
const PIECE: usize = 64 << 10;

/// Reads `output` of find into what `begin` makes, and counts its entries. What came before it was cut off counts, and
/// a problem says so. Returns as well the exit status of find, if that is there.
pub(super) fn read(
    output: impl Read,
    (host, count): (&Host, &Arc<AtomicU64>),
    one_file_system: bool,
    wanted: Wanted,
    begin: BeginReplay<'_>,
) -> io::Result<(Snapshot, Option<i32>)> {
    let mut entries = ListEntries::new(ListOptions { one_file_system, ..ListOptions::default() });
    entries.count = Arc::clone(count);
    let mut output = BufReader::with_capacity(PIECE, output);
    let read = read_find(&mut output, &mut entries);
    let is_cut = match &read {
        Ok(has_end) => !has_end,
        // Only the last entry can be cut off.
        Err(error) => super::is_of_content(error) && output.fill_buf()?.is_empty(),
    };
    if !is_cut {
        read?;
    }
    let status = if is_cut { None } else { status(&mut output)? };
    // A root that only has entries below it would lack its own size.
    let listed: HashSet<_> = entries.roots_with_lines().cloned().collect();
    let origin = Origin { has_details: true, has_times: true, ..Origin::default() };
    let origin = Some(origin.listed(host.paths.iter().filter(|path| listed.contains(*path))));
    let cut = status.is_none().then(|| io::Error::other("the connection was cut"));
    let view = wanted.view(Measure::Disk, Measures::ALL);
    let has_roots = entries.roots().next().is_some();
    let answer = has_roots.then(|| entries.replay(begin, view, wanted.times)).transpose()?;
    let answer = answer.map(|(tree, _)| tree);
    let problems = match (cut, &answer) {
        (Some(error), None) => return Err(error),
        (cut, _) => cut.map(|error| {
            Problem::new(host.paths.first().cloned().unwrap_or_default(), Operation::Load, &error)
        }),
    };
    let report = Report { answer, problems: problems.into_iter().collect(), ..Report::default() };
    Ok((Snapshot { report, view, known: Measures::ALL, origin, ..Snapshot::default() }, status))
}

/// The exit status that comes after the mark at the end: `0` and a newline.
fn status(output: impl Read) -> io::Result<Option<i32>> {
    /// More than a number has.
    const MOST: u64 = 32;
    let mut text = Vec::new();
    output.take(MOST).read_to_end(&mut text)?;
    let number = text.strip_suffix(b"\n").and_then(|number| str::from_utf8(number).ok());
    Ok(number.and_then(|number| number.parse().ok()))
}

/// What find `said` that it could not read on `host`: `find: 'PATH': MESSAGE`, perhaps without quotes. What others say is
/// no problem of its own, and neither is a warning. Returns as well whether it failed because entries have gone meanwhile:
/// whether it said so, and since its first line nobody said anything else.
pub(super) fn problems(said: &[Vec<u8>], host: &Host) -> (Vec<Problem>, bool) {
    let (mut problems, codes) = (Vec::new(), codes());
    let (mut has_gone, mut is_other) = (false, false);
    for line in said {
        const FIND: &[u8] = b"find: ";
        let start = line.windows(FIND.len()).position(|start| start == FIND);
        let parts = start.map(|start| &line[start + FIND.len()..]).and_then(|line| {
            let end = line.windows(2).rposition(|end| end == b": ")?;
            Some((&line[..end], &line[end + 2..]))
        });
        let Some((path, message)) = parts else {
            is_other |= start.is_some() || has_gone && !line.is_empty();
            continue;
        };
        if path.get(..7).is_some_and(|start| start.eq_ignore_ascii_case(b"warning")) {
            continue;
        }
        let quoted = path.strip_prefix(b"'").and_then(|path| path.strip_suffix(b"'"));
        let path = quoted.map_or_else(|| path.to_vec(), unquoted);
        let is_root = host.paths.contains(&path);
        let symbol = match message {
            b"Permission denied" => "EACCES",
            b"No such file or directory" if is_root => "ENOENT",
            b"No such file or directory" => {
                has_gone = true;
                continue;
            }
            _ => "EIO",
        };
        problems.push(Problem {
            path: [&*host.prefix, &path].concat(),
            operation: if symbol == "ENOENT" { Operation::Stat } else { Operation::Open },
            code: codes.get(symbol).copied(),
            message: String::from_utf8_lossy(message).into_owned(),
            hint: None,
        });
    }
    let has_only_gone = has_gone && !is_other && problems.is_empty();
    (problems, has_only_gone)
}

/// What find quotes: a backslash stands before a quote, a letter, or the number of a byte.
fn unquoted(quoted: &[u8]) -> Vec<u8> {
    const LETTERS: [(u8, u8); 7] =
        [(b'a', 7), (b'b', 8), (b't', 9), (b'n', 10), (b'v', 11), (b'f', 12), (b'r', 13)];
    let (mut path, mut rest) = (Vec::new(), quoted);
    while let [byte, after @ ..] = rest {
        rest = after;
        let (b'\\', [escaped, beyond @ ..]) = (byte, after) else {
            path.push(*byte);
            continue;
        };
        rest = beyond;
        let number = after.get(..3).and_then(|digits| str::from_utf8(digits).ok());
        let number = number.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        let letter = LETTERS.iter().find(|(letter, _)| letter == escaped);
        path.push(number.or(letter.map(|(_, byte)| *byte)).unwrap_or(*escaped));
        if number.is_some() {
            rest = &after[3..];
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unquoted() {
        for (quoted, name) in [
            (r"/srv/a b", &b"/srv/a b"[..]),
            (r"it\'s", b"it's"),
            (r"\n\377\\x", b"\n\xff\\x"),
            (r"\", b"\\"),
            (r"\18", b"18"),
        ] {
            assert_eq!(unquoted(quoted.as_bytes()), name, "{quoted}");
        }
    }
}
