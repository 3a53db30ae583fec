//! Rules in the syntax of gitignore(5): a list of globs, of which the last one that matches decides.

use std::ffi::CStr;
use std::io::{self, BufRead, BufReader, Read};
use std::mem;
use std::sync::Arc;

use super::WorkTreeDirectory;
use super::glob::Glob;

/// The rules of one file, or of one list of flags.
#[derive(Clone, Debug, Default)]
pub struct IgnoreRules(Vec<Rule>);

#[derive(Clone, Debug)]
struct Rule {
    /// Whether it takes back what matches: `!`.
    is_negative: bool,
    /// Whether it matches directories only: `…/`.
    is_for_directories: bool,
    /// Whether it is compared with the path, and not with the name.
    is_of_path: bool,
    pattern: Pattern,
}

/// How a rule is matched. Like git, it compares everything before the first wildcard without a glob. That is faster,
/// and it matters for a `**` that is not between slashes.
#[derive(Clone, Debug)]
enum Pattern {
    /// It ends in this: `*.o`.
    Ending(Box<[u8]>),
    /// It begins with this, and the rest matches the glob.
    Start(Box<[u8]>, Glob),
}

impl IgnoreRules {
    /// The rules in `text`, one a line. Invalid rules match nothing.
    pub fn parse(text: &[u8]) -> Self {
        // Reading from memory cannot fail.
        Self::read(text, false).unwrap_or_default()
    }

    /// The rules in the file at `path`, relative to `dir`; none if it is not a regular file. If it cannot be read or is
    /// too large, that is reported.
    pub(super) fn in_file(
        dir: &impl WorkTreeDirectory,
        path: &CStr,
        follows: bool,
        folds: bool,
        report: &mut impl FnMut(&[u8], &io::Error),
    ) -> Option<Arc<Self>> {
        /// Git ignores a larger file (dir.c, PATTERN_MAX_FILE_SIZE, 2.45).
        const MOST: u64 = 100 << 20;
        let rules = match dir.file_at(path, follows, MOST) {
            Ok(file) => Self::read(BufReader::new(file?.take(MOST)), folds),
            Err(error) => Err(error),
        };
        rules.map(Arc::new).inspect_err(|error| report(path.to_bytes(), error)).ok()
    }

    /// The rules in `text`; if it `folds`, for lower-case paths. Like git, it ends a line at a NUL. It does not keep
    /// the rest of the line, because a sparse file may be long.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn read(mut text: impl BufRead, folds: bool) -> io::Result<Self> {
        let mut rules = Self::default();
        let (mut line, mut is_first) = (Vec::new(), true);
        loop {
            let ahead = text.fill_buf()?;
            let is_end = ahead.is_empty();
            let end = ahead.iter().position(|byte| matches!(byte, b'\n' | b'\0'));
            line.extend_from_slice(&ahead[..end.unwrap_or(ahead.len())]);
            let stop = end.map(|end| ahead[end]);
            let taken = end.map_or(ahead.len(), |end| end + 1);
            text.consume(taken);
            if stop == Some(b'\0') {
                text.skip_until(b'\n')?;
            }
            if stop.is_some() || is_end {
                let bom: &[u8] = if mem::take(&mut is_first) { b"\xef\xbb\xbf" } else { b"" };
                let line_end: &[u8] = if stop == Some(b'\0') { b"" } else { b"\r" };
                let text = line.strip_prefix(bom).unwrap_or(&line);
                let rule = rule_in(text.strip_suffix(line_end).unwrap_or(text));
                rules.0.extend(rule.map(|rule| Rule::new(rule, folds)));
                line.clear();
            }
            if is_end {
                return Ok(rules);
            }
        }
    }

    /// Adds the rule in a line, unless the line is empty or a comment.
    ///
    /// # Errors
    /// Why the rule is invalid.
    pub fn add_line(&mut self, line: &[u8]) -> Result<(), String> {
        rule_in(line.strip_suffix(b"\r").unwrap_or(line)).map_or(Ok(()), |rule| self.add(rule))
    }

    /// Adds a rule.
    ///
    /// # Errors
    /// Why the rule is invalid.
    pub fn add(&mut self, rule: &[u8]) -> Result<(), String> {
        let rule = Rule::new(rule, false);
        if matches!(&rule.pattern, Pattern::Start(_, glob) if glob.is_nonsense()) {
            return Err("a bracket is not closed, or a backslash stands at the end".to_owned());
        }
        self.0.push(rule);
        Ok(())
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the rules ignore the entry at `path`, relative to where they hold; none if no rule matches.
    pub fn decide(&self, path: &[u8], is_directory: bool) -> Option<bool> {
        let slash = path.iter().rposition(|byte| *byte == b'/');
        let name = &path[slash.map_or(0, |slash| slash + 1)..];
        let decisive = self.0.iter().rev().find(|rule| {
            (is_directory || !rule.is_for_directories)
                && rule.pattern.is_match(if rule.is_of_path { path } else { name })
        });
        decisive.map(|rule| !rule.is_negative)
    }
}

impl Rule {
    fn new(text: &[u8], folds: bool) -> Self {
        let is_negative = text.starts_with(b"!");
        let text = text.strip_prefix(b"!").unwrap_or(text);
        let is_for_directories = text.ends_with(b"/");
        let text = text.strip_suffix(b"/").unwrap_or(text);
        let is_of_path = text.contains(&b'/');
        let (start, rest) = text.split_at(plain_length(text));
        let pattern = match text.strip_prefix(b"*") {
            Some(ending) if !is_of_path && plain_length(ending) == ending.len() => {
                Pattern::Ending(literal(ending, folds))
            }
            _ => {
                let start = start.strip_prefix(b"/").unwrap_or(start);
                Pattern::Start(literal(start, folds), Glob::new(rest, folds))
            }
        };
        Rule { is_negative, is_for_directories, is_of_path, pattern }
    }
}

impl Pattern {
    fn is_match(&self, text: &[u8]) -> bool {
        match self {
            Pattern::Ending(ending) => text.ends_with(ending),
            Pattern::Start(start, glob) => {
                text.strip_prefix(&**start).is_some_and(|rest| glob.is_match(rest))
            }
        }
    }
}

/// The length of `text` before its first wildcard or backslash.
fn plain_length(text: &[u8]) -> usize {
    let special = text.iter().position(|byte| matches!(byte, b'*' | b'?' | b'[' | b'\\'));
    special.unwrap_or(text.len())
}

fn literal(text: &[u8], folds: bool) -> Box<[u8]> {
    if folds { text.to_ascii_lowercase().into() } else { text.into() }
}

/// The rule in a line, without trailing blanks; none in an empty line or a comment.
pub fn rule_in(line: &[u8]) -> Option<&[u8]> {
    if line.is_empty() || line.starts_with(b"#") {
        return None;
    }
    let end = line.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    let backslashes = line[..end].iter().rev().take_while(|byte| **byte == b'\\').count();
    // An odd number of them escapes the first blank.
    Some(&line[..line.len().min(end + backslashes % 2)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(rules: &str, path: &str) -> Option<bool> {
        let is_directory = path.ends_with('/');
        IgnoreRules::parse(rules.as_bytes())
            .decide(path.trim_end_matches('/').as_bytes(), is_directory)
    }

    #[test]
    fn what_matches() {
        for (rules, matching, others) in [
            ("a", &["a", "x/a", "a/"][..], &["aa", "a/x"][..]),
            ("*.o", &["x.o", "d/.o"], &["x.oo"]),
            ("/a", &["a"], &["x/a"]),
            ("a/b", &["a/b"], &["x/a/b", "b"]),
            ("a/", &["a/", "x/a/"], &["a"]),
            ("/a*/b?", &["ax/bc"], &["x/a/bc", "ax/y/bc"]),
            ("**/b/c", &["b/c", "a/b/c"], &["ab/c"]),
            ("a/**", &["a/b", "a/b/c"], &["a/"]),
            // Git removes the part before the first wildcard first.
            ("a**/b", &["ab", "a/b", "ax/b", "a/x/b"], &["b"]),
            ("#a\n\\#b\n", &["#b"], &["#a", "a"]),
            ("\\!a", &["!a"], &["a"]),
            ("a  \nb\\ \n", &["a", "b "], &["a ", "b"]),
            ("\u{feff}a\r\nb\r", &["a", "b"], &["a\r"]),
            ("\n/\n!\n \n", &[], &["a", "a/", " ", "!"]),
            ("[x", &[], &["x", "[x"]),
            ("a\0b\nc\n\0d\ne", &["a", "c", "e"], &["b", "d", "ab"]),
        ] {
            for path in matching {
                assert_eq!(decide(rules, path), Some(true), "{rules:?} {path}");
            }
            for path in others {
                assert_eq!(decide(rules, path), None, "{rules:?} {path}");
            }
        }
    }

    #[test]
    fn the_last_rule_that_matches_decides() {
        let rules = "*.log\n!keep.log\nkeep.log/\n";
        assert_eq!(decide(rules, "a/x.log"), Some(true));
        assert_eq!(decide(rules, "a/keep.log"), Some(false));
        assert_eq!(decide(rules, "a/keep.log/"), Some(true));
        assert_eq!(decide(rules, "a/x.txt"), None);
    }

    #[test]
    fn nonsense_is_refused_when_it_is_typed() {
        for (rule, is_sense) in [("a/[b", false), ("a\\", false), ("[", false), ("[a]", true)] {
            assert_eq!(IgnoreRules::default().add(rule.as_bytes()).is_ok(), is_sense, "{rule}");
        }
    }
}
