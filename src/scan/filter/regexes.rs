//! Filters by path, with regular expressions. A path is the root as given and the names below it: what `-p` shows.

use std::fmt;

use regex::bytes::{Regex, RegexSet};

/// Which paths count.
#[derive(Clone, Debug, Default)]
pub struct Regexes {
    /// Only paths that one of these matches count.
    pub only: Option<RegexSet>,
    /// Paths that one of these matches do not count.
    pub never: Option<RegexSet>,
}

/// Which of several patterns is invalid, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPattern {
    /// Its number, from 0.
    pub index: usize,
    /// What is wrong with it, in one line.
    pub message: String,
}

impl Regexes {
    /// Whether every path counts.
    pub(super) fn is_off(&self) -> bool {
        self.only.is_none() && self.never.is_none()
    }

    /// Whether what is at `path` counts.
    pub(super) fn admit(&self, path: &[u8]) -> bool {
        self.only.as_ref().is_none_or(|set| set.is_match(path))
            && self.never.as_ref().is_none_or(|set| !set.is_match(path))
    }
}

/// What matches paths that one of `patterns` matches, if there are any.
///
/// # Errors
/// The first invalid pattern.
pub fn any_pattern(patterns: &[Vec<u8>]) -> Result<Option<RegexSet>, BadPattern> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let patterns: Vec<String> = patterns.iter().map(|pattern| as_text(pattern)).collect();
    RegexSet::new(&patterns).map(Some).map_err(|error| {
        // The error of a set does not say which pattern is invalid.
        let mut each = patterns.iter().map(|pattern| Regex::new(pattern).err()).enumerate();
        let (index, error) = each
            .find_map(|(index, bad)| Some((index, bad?)))
            .unwrap_or((patterns.len() - 1, error));
        BadPattern { index, message: last_line(&error) }
    })
}

/// A pattern as text. A byte that is not UTF-8 matches itself.
fn as_text(pattern: &[u8]) -> String {
    let mut text = String::new();
    for chunk in pattern.utf8_chunks() {
        text += chunk.valid();
        for byte in chunk.invalid() {
            text += &format!(r"(?-u:\x{byte:02x})");
        }
    }
    text
}

/// The error has several lines, and the last one says what is wrong.
fn last_line(error: &impl fmt::Display) -> String {
    let text = error.to_string();
    let line = text.lines().last().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(patterns: &[&[u8]]) -> Vec<Vec<u8>> {
        patterns.iter().map(|pattern| pattern.to_vec()).collect()
    }

    #[test]
    fn any_of_those_wanted_and_none_of_those_not() {
        let regexes = Regexes::default();
        assert!(regexes.is_off() && regexes.admit(b"anything"));
        let only = any_pattern(&patterns(&[b"\\.py$", b"^b/", b"\xff"])).expect("patterns");
        let never = any_pattern(&patterns(&[b"test"])).expect("a pattern");
        let regexes = Regexes { only, never };
        for (path, is_admitted) in [
            (b"a/x.py".as_slice(), true),
            (b"a/x.pyc", false),
            (b"b/x", true),
            (b"b/test", false),
            (b"a/\xfe\xff", true),
        ] {
            assert_eq!(regexes.admit(path), is_admitted, "{path:?}");
        }
    }

    #[test]
    fn what_is_wrong_fits_one_line() {
        let bad = |list: &[&[u8]]| any_pattern(&patterns(list)).expect_err("is bad");
        let unclosed = |index| BadPattern { index, message: "unclosed group".to_owned() };
        assert_eq!(bad(&[b"a", b"b", b"(c", b"(d"]), unclosed(2));
        assert!(!bad(&[b"a{1000}{1000}{1000}"]).message.contains('\n'));
    }
}
