//! What a rule expects in a directory. A marker proves which program made the directory, and not that nobody put
//! something of their own there. So after the scan, weigh lists the upper levels of each
//! directory that it found once more. Doing so during the scan would cost memory for every directory.

use std::collections::HashSet;
use std::ffi::CString;
use std::io::{self, Read};

use super::finder::LARGEST_TAG;
use super::rule::{ReclaimRule, names_of};
use crate::base::measure::Kind;
use crate::base::path;
use crate::fs::git::Glob;
use crate::sys::{Handle, Listing, Query, Source, Symlinks, to_path};

/// What may be in a directory.
#[derive(Debug, Default)]
pub(super) struct Expected {
    paths: Vec<ExpectedPath>,
    /// A directory with one of these files in it is expected with all that is in it.
    whole: Vec<Glob>,
    /// The ending of the files beside it that all files in it were made from; empty if nothing is said.
    source: String,
    /// The rest of a file's name after the name of its source; empty if any rest will do.
    made: Vec<Glob>,
    /// The paths of the lock files beside it, from it.
    locks: Vec<CString>,
    /// The files in it that the `tag` must name.
    named: Vec<Glob>,
    tag: CString,
}

/// No lock file that is larger is read, in bytes.
const LARGEST_LOCK: u64 = 1 << 26;

/// No more directories wait to be listed.
const MOST_AHEAD: usize = 100_000;

/// The end of a path that is a program.
const PROGRAM: &str = "+x";

/// A relative path.
#[derive(Debug)]
struct ExpectedPath {
    /// One of these on each level.
    names: Vec<Vec<Glob>>,
    /// Whether it is taken out of the paths before it.
    is_out: bool,
    /// Whether it is a directory, with all that is in it; else it is a file.
    is_directory: bool,
    /// Whether it is a program: a file that may be executed.
    is_program: bool,
}

/// A directory that is to be listed.
struct Ahead {
    names: Vec<Vec<u8>>,
    /// The paths that may begin with these names.
    paths: Vec<usize>,
}

impl Expected {
    pub(super) fn of(rule: &ReclaimRule) -> Self {
        let glob = |name: &str| Glob::new(name.as_bytes(), false);
        let path = |text: &String| ExpectedPath {
            names: names_of(text.trim_start_matches('!').trim_end_matches(PROGRAM))
                .map(|any| any.split('|').map(glob).collect())
                .collect(),
            is_out: text.starts_with('!'),
            is_directory: text.ends_with('/'),
            is_program: text.ends_with(PROGRAM),
        };
        let locks = rule.lock.split('|').filter(|name| !name.is_empty());
        let locks = locks.filter_map(|name| CString::new(format!("../{name}")).ok());
        Self {
            paths: rule.expects.iter().map(path).collect(),
            whole: rule.whole.iter().map(|name| glob(name)).collect(),
            source: rule.source.clone(),
            made: rule.made.iter().map(|name| glob(name)).collect(),
            locks: locks.collect(),
            named: rule.named.iter().map(|name| glob(name)).collect(),
            tag: CString::new(&*rule.tag).unwrap_or_default(),
        }
    }

    /// An entry below `top` that is not expected, as a path from there. Symlinks are: nothing is lost with one.
    ///
    /// # Errors
    /// The system's: then nobody can tell.
    pub(super) fn unexpected_in(&self, top: &[u8]) -> io::Result<Option<Vec<u8>>> {
        if self.paths.is_empty() {
            return Ok(None);
        }
        let top = CString::new(to_path(top).as_os_str().as_encoded_bytes())?;
        let top = Source::default().open(&top)?;
        let tag = self.text_of_tag(&top)?;
        let named: HashSet<_> = tag.split(|byte| *byte == b'\n').filter_map(name_in).collect();
        let lock = self.text_of_locks(&top)?;
        let packages: HashSet<_> = words_in(&lock).map(package_in).collect();
        // One that is not text has names of which nobody sees the ends.
        let is_text = !lock.contains(&0);
        let is_locked = |name: &[u8]| {
            packages.contains(name) || !is_text && lock.windows(name.len()).any(|it| it == name)
        };
        let sources = self.sources_beside(&top)?;
        let mut ahead = vec![Ahead { names: Vec::new(), paths: (0..self.paths.len()).collect() }];
        while let Some(directory) = ahead.pop() {
            let asks_for_programs = directory.paths.iter().any(|path| {
                let path = &self.paths[*path];
                path.is_program && path.names.len() == directory.names.len() + 1
            });
            let entries = listed(&top, &directory.names, asks_for_programs)?;
            let is_whole = |(name, kind, _): &(Vec<u8>, Kind, bool)| {
                *kind == Kind::File && self.whole.iter().any(|one| one.is_match(name))
            };
            if !directory.names.is_empty() && entries.iter().any(is_whole) {
                continue;
            }
            let level = directory.names.len();
            for (name, kind, is_program) in entries {
                let must_be_named = self.named.iter().any(|one| one.is_match(&name));
                let is_known = (!must_be_named || named.contains(&*name))
                    && (self.source.is_empty() || self.is_made(&name, &sources));
                if level == 0 && kind == Kind::File && !is_known {
                    return Ok(Some(name));
                }
                if !self.locks.is_empty()
                    && kind == Kind::Directory
                    && let Some(package) = package_at(&directory.names, &name)
                    && !is_locked(&package)
                {
                    return Ok(Some(package));
                }
                let is_next = |path: &&usize| {
                    let next = self.paths[**path].names.get(level);
                    next.is_some_and(|any| any.iter().any(|one| one.is_match(&name)))
                };
                let paths: Vec<_> = directory.paths.iter().filter(is_next).copied().collect();
                let mut ending = paths.iter().map(|path| &self.paths[*path]).filter(|path| {
                    path.names.len() == level + 1
                        && path.is_directory == (kind == Kind::Directory)
                        && (is_program || !path.is_program)
                });
                if kind == Kind::Symlink || ending.next_back().is_some_and(|last| !last.is_out) {
                    continue;
                }
                let leads_on = |path: &usize| self.paths[*path].names.len() > level + 1;
                let is_on_the_way = kind == Kind::Directory && paths.iter().any(leads_on);
                let names: Vec<_> = directory.names.iter().cloned().chain([name]).collect();
                if !is_on_the_way {
                    return Ok(Some(path::join_all(names.iter().map(Vec::as_slice))));
                }
                if ahead.len() >= MOST_AHEAD {
                    return Err(io::Error::other("too many directories"));
                }
                ahead.push(Ahead { names, paths });
            }
        }
        Ok(None)
    }

    fn text_of_tag(&self, top: &Handle) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        if !self.named.is_empty()
            && let Some(file) = top.open_file_at(&self.tag, Symlinks::Stay, LARGEST_TAG)?
        {
            file.take(LARGEST_TAG).read_to_end(&mut text)?;
        }
        Ok(text)
    }

    fn text_of_locks(&self, top: &Handle) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        for lock in &self.locks {
            if let Some(file) = top.open_file_at(lock, Symlinks::Stay, LARGEST_LOCK)? {
                file.take(LARGEST_LOCK).read_to_end(&mut text)?;
                text.push(b'\n');
            }
        }
        Ok(text)
    }

    /// The names of the files beside the directory `top` from which files in it may be made. To ask for each source alone
    /// took 53,000 system calls more in a home with 4,100 directories of bytecode.
    fn sources_beside(&self, top: &Handle) -> io::Result<HashSet<Vec<u8>>> {
        if self.source.is_empty() {
            return Ok(HashSet::new());
        }
        let around = top.open_at(c"..", Symlinks::Stay)?;
        let named = listed(&around, &[], false)?.into_iter();
        let named = named.filter(|(name, ..)| name.ends_with(self.source.as_bytes()));
        let is_file = |name: &[u8]| {
            let target =
                around.stat_at(&CString::new(name).ok()?, Symlinks::Follow, Query::default());
            Some(target.ok()?.mode.kind() == Kind::File)
        };
        let files = named.filter(|(name, kind, _)| match kind {
            Kind::Symlink => is_file(name) == Some(true),
            kind => *kind == Kind::File,
        });
        Ok(files.map(|(name, ..)| name).collect())
    }

    /// Whether the file called `name` is made from one of `sources`.
    fn is_made(&self, name: &[u8], sources: &HashSet<Vec<u8>>) -> bool {
        let dots = name.iter().enumerate().filter(|(_, byte)| **byte == b'.');
        let mut parts = dots.map(|(end, _)| name.split_at(end));
        parts.any(|(stem, rest)| {
            (self.made.is_empty() || self.made.iter().any(|it| it.is_match(rest)))
                && sources.contains(&[stem, self.source.as_bytes()].concat())
        })
    }
}

/// The name in a line of a tag that names files.
fn name_in(line: &[u8]) -> Option<&[u8]> {
    Some(&line[..line.iter().position(|byte| *byte == b'>')?])
}

/// The words of a lock file in which names of packages are.
fn words_in(lock: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~@/+".contains(byte);
    lock.split(move |byte| !is_of_word(byte)).filter(|word| !word.is_empty())
}

/// The name of the package in a word such as `node_modules/@a/b`, `/@a/b@1.0.0` or `@a/b@npm`.
fn package_in(word: &[u8]) -> &[u8] {
    const AROUND: &[u8] = b"node_modules/";
    let start = word.windows(AROUND.len()).rposition(|it| it == AROUND);
    let name = start.map_or(word, |start| &word[start + AROUND.len()..]);
    let name = name.strip_prefix(b"/").unwrap_or(name);
    let slash = || name.iter().position(|byte| *byte == b'/');
    let scope = if name.starts_with(b"@") { slash().map_or(name.len(), |at| at + 1) } else { 0 };
    let end = name[scope..].iter().position(|byte| b"@/".contains(byte));
    end.map_or(name, |end| &name[..scope + end])
}

/// The name of the package in the directory called `name` below `names`, if it is one: the name of a scope is a
/// part of it.
fn package_at(names: &[Vec<u8>], name: &[u8]) -> Option<Vec<u8>> {
    match names {
        [] if !name.starts_with(b".") && !name.starts_with(b"@") => Some(name.to_vec()),
        [scope] if scope.starts_with(b"@") => Some(path::join_all([&**scope, name])),
        _ => None,
    }
}

/// The names in a directory below `top`, in their order, what they are, and if it `asks_for_programs`, whether they may be
/// executed.
fn listed(
    top: &Handle,
    names: &[Vec<u8>],
    asks_for_programs: bool,
) -> io::Result<Vec<(Vec<u8>, Kind, bool)>> {
    const EXECUTABLE: u16 = 0o111;
    let mut below = None;
    for name in names {
        let around = below.as_ref().unwrap_or(top);
        below = Some(around.open_at(&CString::new(&**name)?, Symlinks::Stay)?);
    }
    let directory = below.as_ref().unwrap_or(top);
    let (mut buffer, mut listing) = (Vec::new(), Listing::default());
    while directory.read(&mut buffer, &mut listing, None)? {}
    let entries = listing.iter().map(|listed| {
        let name = listed.name.to_bytes().to_vec();
        match listed.kind {
            Some(kind) if !asks_for_programs => Ok((name, kind, false)),
            _ => {
                let mode = directory.stat_at(listed.name, Symlinks::Stay, Query::default())?.mode;
                Ok((name, mode.kind(), mode.0 & EXECUTABLE != 0))
            }
        }
    });
    let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
    entries.sort_unstable_by(|(one, ..), (other, ..)| one.cmp(other));
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_files_name_packages() {
        for (lock, expected) in [
            (r#"{"node_modules/a": {}, "node_modules/a/node_modules/@s/b": {}}"#, "a @s/b"),
            (r#"{"dependencies": {"a": {"version": "1.0.0"}, "@s/b": {}}}"#, "a @s/b"),
            ("a@^1.0.0, a@~1.2:\n\"@s/b@^1\":\n", "a @s/b"),
            ("\"a@npm:^1.0\":\n\"@s/b@npm:^1\":\n", "a @s/b"),
            ("  /a@1.0.0:\n  /@s/b@1.0.0(c@2.0.0):\n", "a @s/b c"),
            ("  /a/1.0.0:\n  /@s/b/1.0.0:\n", "a @s/b"),
            ("  a@1.0.0:\n  '@s/b@1.0.0':\n", "a @s/b"),
            (r#""a": ["a@1.0.0", "", {}], "@s/b": ["@s/b@1.0.0"]"#, "a @s/b"),
        ] {
            let found: HashSet<_> = words_in(lock.as_bytes()).map(package_in).collect();
            for name in expected.split(' ') {
                assert!(found.contains(name.as_bytes()), "{name}: {lock}");
            }
            assert!(!found.contains(&b"b"[..]), "{lock}");
        }
    }
}
