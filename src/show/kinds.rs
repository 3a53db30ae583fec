//! The kinds of files that have a colour, by extension.

use crate::base::measure::{Kind, Mode};

/// The kinds. The last is for directories whose entries have no tiles: on a page, these are hatched.
pub const KINDS: [&str; 9] = [
    "program",
    "source",
    "document",
    "picture, font",
    "sound, video",
    "archive, image",
    "data, log",
    "other",
    "smaller entries",
];
/// A line for each of the first kinds: what it is called, and the extensions of its files, in lower case.
const ENDINGS: &str = include_str!("kinds.txt");
const PROGRAM: usize = 0;
const OTHER: usize = KINDS.len() - 2;
/// The kind of a directory.
pub const DIRECTORY: usize = KINDS.len() - 1;

/// Which of [`KINDS`] it is. Without a known extension, what may be executed is a program.
pub fn kind(path: &[u8], mode: Mode) -> usize {
    match mode.kind() {
        Kind::Directory => return DIRECTORY,
        Kind::File => {}
        Kind::Symlink | Kind::Other => return OTHER,
    }
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    let ending = ending(name).unwrap_or_default();
    let known = ENDINGS
        .lines()
        .position(|line| endings(line).any(|one| ending.eq_ignore_ascii_case(one.as_bytes())));
    known.unwrap_or(if mode.0 & 0o111 == 0 { OTHER } else { PROGRAM })
}

/// The extensions in a line of [`ENDINGS`].
fn endings(line: &str) -> impl Iterator<Item = &str> {
    line.split_once(": ").map_or("", |(_, endings)| endings).split(' ')
}

/// The last part of `name` after a dot that is not a number: `so` of `libc.so.6`.
fn ending(name: &[u8]) -> Option<&[u8]> {
    let dot = name.iter().position(|byte| *byte == b'.')?;
    let mut parts = name[dot + 1..].rsplit(|byte| *byte == b'.');
    parts.find(|part| !part.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn files_are_of_the_kind_that_their_extension_says() {
        let [file, program] = [0o100_644, 0o100_755].map(Mode);
        for (name, mode, expected) in [
            ("a.rs", file, "source"),
            ("a.RS", file, "source"),
            ("a.rs", program, "source"),
            ("a", program, "program"),
            ("a", file, "other"),
            ("rs", file, "other"),
            ("libc.so.6", file, "program"),
            ("libLLVM.so.22.1", file, "program"),
            ("1.2.3", file, "other"),
            ("a.", file, "other"),
            ("", file, "other"),
            ("a.rs/b", file, "other"),
            ("a/b.tar.gz", file, "archive, image"),
            ("a.rs", Mode::DIRECTORY, "smaller entries"),
            ("a.rs", Mode::usual(Kind::Symlink), "other"),
        ] {
            assert_eq!(KINDS[kind(name.as_bytes(), mode)], expected, "{name}");
        }
    }

    #[test]
    fn an_extension_is_of_one_kind() {
        let kinds = ENDINGS.lines().filter_map(|line| line.split_once(": ")).map(|(kind, _)| kind);
        assert!(kinds.eq(KINDS[..OTHER].iter().copied()));
        let all: Vec<_> = ENDINGS.lines().flat_map(endings).collect();
        let mut seen = HashSet::new();
        let twice: Vec<_> = all.iter().filter(|ending| !seen.insert(**ending)).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
