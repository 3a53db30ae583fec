//! Filters by globs in the syntax of gitignore(5), relative to each root; and with braces, as ripgrep has them.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Paths;
use crate::fs::git::IgnoreRules;

/// Which paths below a root count.
#[derive(Clone, Debug, Default)]
pub struct Globs {
    /// Matching entries are left out, directories with everything in them.
    pub exclude: IgnoreRules,
    /// If there are any, only matching entries count, directories with everything in them.
    pub include: IgnoreRules,
}

impl Globs {
    /// Whether every path counts.
    pub(super) fn is_off(&self) -> bool {
        self.exclude.is_empty() && self.include.is_empty()
    }

    /// Whether the entry at `path` is left out.
    pub(super) fn excludes(&self, path: &[u8], is_directory: bool) -> bool {
        self.exclude.decide(path, is_directory) == Some(true)
    }

    /// Whether an `--include` glob matches the entry at `path`.
    pub(super) fn includes(&self, path: &[u8], is_directory: bool) -> bool {
        self.include.is_empty() || self.include.decide(path, is_directory) == Some(true)
    }
}

/// Adds a glob to `rules`, in which braces have the alternates that commas are between: `*.{jpg,png}`.
///
/// # Errors
/// Why the glob is invalid.
pub fn add_glob(rules: &mut IgnoreRules, glob: &[u8]) -> Result<(), String> {
    alternates(glob)?.iter().try_for_each(|glob| rules.add(glob))
}

/// A line of a file, in which braces are nothing special, as a glob of [`add_glob`].
pub fn escape_braces(line: &[u8]) -> Vec<u8> {
    let mut glob = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((part, after)) = next(rest) {
        if matches!(part, b"{" | b"}") {
            glob.push(b'\\');
        }
        glob.extend(part);
        rest = after;
    }
    glob
}

/// The globs that `glob` stands for, without braces.
fn alternates(glob: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    /// Ten groups of two.
    const MOST: usize = 1_024;
    let (mut open, mut done) = (vec![glob.to_vec()], Vec::new());
    while let Some(glob) = open.pop() {
        if open.len() + done.len() >= MOST {
            return Err(format!("its braces stand for more than {MOST} globs"));
        }
        match braces(&glob)? {
            None => done.push(glob),
            Some((start, choices, end)) => {
                let all = choices.iter().rev().map(|choice| {
                    // At its start, this would take back what matches.
                    let is_literal = start.is_empty() && choice.starts_with(b"!");
                    let escape: &[u8] = if is_literal { b"\\" } else { b"" };
                    [start, escape, choice, end].concat()
                });
                open.extend(all);
            }
        }
    }
    Ok(done)
}

/// What is before the first braces in a glob, between the commas there, and after them.
type Braces<'g> = (&'g [u8], Vec<&'g [u8]>, &'g [u8]);

/// The first braces in `glob`, if there are any.
fn braces(glob: &[u8]) -> Result<Option<Braces<'_>>, String> {
    const UNPAIRED: &str = "a brace has no counterpart";
    let (mut rest, mut depth) = (glob, 0_usize);
    let (mut before, mut choices, mut begin) = (0, Vec::new(), 0);
    while let Some((part, after)) = next(rest) {
        let (at, end) = (glob.len() - rest.len(), glob.len() - after.len());
        match part {
            b"{" => {
                depth += 1;
                if depth == 1 {
                    (before, begin) = (at, end);
                }
            }
            b"}" if depth == 0 => return Err(UNPAIRED.to_owned()),
            b"}" => {
                depth -= 1;
                if depth == 0 {
                    choices.push(&glob[begin..at]);
                    return Ok(Some((&glob[..before], choices, after)));
                }
            }
            b"," if depth == 1 => {
                choices.push(&glob[begin..at]);
                begin = end;
            }
            _ => {}
        }
        rest = after;
    }
    if depth > 0 { Err(UNPAIRED.to_owned()) } else { Ok(None) }
}

/// The next byte of a glob with the backslash before it, or the next set in brackets; and the rest.
fn next(glob: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = match glob {
        [] => return None,
        [b'\\', _, ..] => 2,
        [b'[', set @ ..] => {
            let first = usize::from(matches!(set.first(), Some(b'!' | b'^')));
            let mut at = first + usize::from(set.get(first) == Some(&b']'));
            loop {
                match set.get(at..).unwrap_or_default() {
                    // It is not closed, which is an error elsewhere.
                    [] => break 1,
                    [b']', ..] => break at + 2,
                    [b'\\', ..] => at += 2,
                    [b'[', b':', class @ ..] => {
                        at += 2 + class
                            .iter()
                            .position(|byte| *byte == b']')
                            .map_or(0, |end| end + 1);
                    }
                    _ => at += 1,
                }
            }
        }
        _ => 1,
    };
    Some(glob.split_at(length))
}

// The names and globs of flags, and whether each has met an entry. One that never does may be a mistake.

/// What was typed.
#[derive(Clone, Debug, Default)]
pub struct Typed(Arc<[TypedPattern]>);

#[derive(Debug)]
struct TypedPattern {
    flag: &'static str,
    text: Vec<u8>,
    pattern: TypedMatch,
    /// Set once. Relaxed: a thread that sees it late compares once more.
    is_met: AtomicBool,
}

#[derive(Debug)]
enum TypedMatch {
    Path(Paths),
    Glob(IgnoreRules),
}

impl Typed {
    /// Takes the names and paths of a flag, and globs, each with their flag.
    pub fn new(
        (flag, paths): (&'static str, &[OsString]),
        globs: &[(&'static str, &[OsString])],
    ) -> Self {
        let typed = |flag, text: &OsString, pattern| {
            let (text, is_met) = (text.as_encoded_bytes().to_vec(), AtomicBool::new(false));
            TypedPattern { flag, text, pattern, is_met }
        };
        let paths = paths
            .iter()
            .map(|path| typed(flag, path, TypedMatch::Path(Paths::new([path.clone()]))));
        let globs =
            globs.iter().flat_map(|(flag, globs)| globs.iter().map(move |glob| (*flag, glob)));
        let globs = globs.filter_map(|(flag, glob)| {
            let (text, mut rules) = (glob.as_encoded_bytes(), IgnoreRules::default());
            // One that takes back what another leaves out is none of these.
            let is_added = !text.starts_with(b"!") && add_glob(&mut rules, text).is_ok();
            is_added.then(|| typed(flag, glob, TypedMatch::Glob(rules)))
        });
        Self(paths.chain(globs).collect())
    }

    /// An entry at `path` below a root, the last name of which is `name`, was left out or included.
    pub(super) fn meet(&self, name: &[u8], path: &[u8], is_directory: bool) {
        for typed in self.0.iter().filter(|typed| !typed.is_met.load(Ordering::Relaxed)) {
            let is_met = match &typed.pattern {
                TypedMatch::Path(paths) => paths.may_mean(name),
                TypedMatch::Glob(rules) => rules.decide(path, is_directory).is_some(),
            };
            if is_met {
                typed.is_met.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Those that met no entry, each with its flag.
    pub fn unmet(&self) -> impl Iterator<Item = (&'static str, &[u8])> {
        let unmet = self.0.iter().filter(|typed| !typed.is_met.load(Ordering::Relaxed));
        unmet.map(|typed| (typed.flag, &*typed.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_have_alternates() {
        for (glob, expected) in [
            ("*.{jpg,png}", &["*.jpg", "*.png"][..]),
            ("{a,b}/{c,d}", &["a/c", "a/d", "b/c", "b/d"]),
            ("x{a,b{c,d}}", &["xa", "xbc", "xbd"]),
            ("{a}", &["a"]),
            ("a{,b}", &["a", "ab"]),
            ("{!a,b}", &["\\!a", "b"]),
            ("!{a,b}", &["!a", "!b"]),
            ("\\{a,b\\}", &["\\{a,b\\}"]),
            ("[{,}]", &["[{,}]"]),
            ("[]{]{a,b}", &["[]{]a", "[]{]b"]),
            ("[[:alpha:]{]{a,b}", &["[[:alpha:]{]a", "[[:alpha:]{]b"]),
            ("a,b", &["a,b"]),
        ] {
            let globs = alternates(glob.as_bytes()).expect("globs");
            let globs: Vec<_> = globs.iter().map(|glob| String::from_utf8_lossy(glob)).collect();
            assert_eq!(globs, expected, "{glob}");
            let escaped = escape_braces(glob.as_bytes());
            assert_eq!(alternates(&escaped), Ok(vec![escaped.clone()]), "{glob}");
        }
        let many = "{a,b}".repeat(11);
        for glob in ["{a", "a}", "{a,{b}", &many] {
            assert!(alternates(glob.as_bytes()).is_err(), "{glob}");
        }
    }
}
