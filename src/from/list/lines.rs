//! Lists with a size and a path in each line, as du prints them.

use std::io::{self, BufRead, ErrorKind};

use super::ListEntries;
use super::entries::EntryLine;
use super::find::{take, unsigned};
use crate::base::measure::{Figures, parse_size};
use crate::sys::problem::hinted;

/// Reads lines that end in `end` into `entries`. Blanks may come before the size, and one after it.
pub(super) fn read(input: &mut impl BufRead, end: u8, entries: &mut ListEntries) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        entries.line += 1;
        if !take(input, &mut line, end, entries)? {
            return Ok(());
        }
        let text = line.trim_ascii_start();
        let blank = text.iter().position(|byte| matches!(byte, b' ' | b'\t'));
        let Some((length, path)) = blank
            .and_then(|at| Some((size(&text[..at])?, &text[at..])))
            // The other lines of a list are like the first.
            .filter(|_| entries.line > 1 || !is_of_git(text))
        else {
            if entries.line > 1 {
                return Err(entries.error("it does not begin with a size and a path"));
            }
            let what = "it is neither a snapshot, nor an ncdu export, nor a list: line 1 does not begin with a size and a path\n\
                docs/lists.md has what to type for tar, du and others";
            return Err(hinted(ErrorKind::InvalidData, what));
        };
        if path.starts_with(b"  ") || path.starts_with(b" \t") {
            return Err(entries.error_with("several blanks after the size", "put one tab there"));
        }
        if end == b'\n' && path.ends_with(b"\r") {
            return Err(
                entries.error_with("it ends in a carriage return", "remove them with tr -d '\\r'")
            );
        }
        let figures = Figures { length: length.unwrap_or(0), ..Figures::default() };
        let is_unsized = length.is_none();
        entries
            .add_printed(&path[1..], EntryLine { figures, is_unsized, ..EntryLine::default() })?;
    }
}

/// Whether it begins with a mode, which is no size, and a hash: so `git ls-tree` (with a type between) and
/// `git ls-files -s` print entries.
fn is_of_git(line: &[u8]) -> bool {
    const MODES: [&[u8]; 5] = [b"040000", b"100644", b"100755", b"120000", b"160000"];
    let words: Vec<_> = line.split(|byte| matches!(byte, b' ' | b'\t')).take(4).collect();
    let is_hash = |word: &[u8]| word.len() >= 4 && word.iter().all(u8::is_ascii_hexdigit);
    matches!(words[..], [mode, a, b, _] if MODES.contains(&mode) && (is_hash(a) || is_hash(b)))
}

/// A size in whole bytes, or in another unit, if it is less than 2⁶⁴. What has none, as git prints for submodules,
/// counts as nothing; the inner value is none for what is not known, as rclone prints for documents of Google.
fn size(text: &[u8]) -> Option<Option<u64>> {
    match text {
        b"-1" => Some(None),
        b"-" => Some(Some(0)),
        _ if text.last()?.is_ascii_digit() => unsigned(text).map(Some),
        _ => {
            let text = str::from_utf8(text).ok().filter(|text| !text.contains('.'))?;
            // It saturates.
            parse_size(text).ok().filter(|size| *size < u64::MAX).map(Some)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_whole() {
        for (text, expected) in [
            ("0", Some(0)),
            ("-", Some(0)),
            ("18446744073709551615", Some(u64::MAX)),
            ("12K", Some(12_288)),
            ("3kB", Some(3_000)),
            ("15E", Some(15 << 60)),
            ("16E", None),
            ("99EB", None),
            ("18446744073709551616", None),
            ("1.5K", None),
            ("-2", None),
            ("+1", None),
            ("", None),
            ("K", None),
            ("x", None),
        ] {
            assert_eq!(size(text.as_bytes()), expected.map(Some), "{text}");
        }
        assert_eq!(size(b"-1"), Some(None));
    }
}
