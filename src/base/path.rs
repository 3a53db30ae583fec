//! Paths as bytes, built only to be shown. In `sys`, bytes become paths of the system.

use std::iter;
use std::path::Path;

use crate::base::escape::escape;

/// No path that can be opened is longer, in bytes: on Unix PATH_MAX (limits.h), on Windows 32,767 units of at most
/// three bytes ("Maximum Path Length Limitation"). A joined path may be, and so may one in a snapshot.
pub const LONGEST: usize = if cfg!(windows) { 3 * 32_767 } else { 4096 };

/// Checks that an entry of a directory can have this `name`. The name of a root is a path, which may be `..`. Who makes a
/// path of other names leads to another place than the name says.
///
/// # Errors
/// What is wrong, with the name.
#[inline]
pub fn ensure_name(name: &[u8], is_root: bool) -> Result<(), String> {
    let is_path = !name.is_empty() && !name.contains(&0);
    let is_name = is_path && !matches!(name, b"." | b"..") && !name.contains(&b'/');
    if is_name || is_root && is_path { Ok(()) } else { Err(misnamed(name)) }
}

#[cold]
fn misnamed(name: &[u8]) -> String {
    /// More does not help to find it.
    const SHOWN: usize = 80;
    let shown = escape(&name[..name.len().min(SHOWN)]);
    match name {
        b"" => "an entry without a name".to_owned(),
        _ if name.contains(&0) => format!("an entry with a NUL in its name, {shown}"),
        _ if name.contains(&b'/') => format!("an entry with a slash in its name, {shown}"),
        _ => format!("an entry that is called {shown}, as none can be"),
    }
}

/// Adds `name` to `path`, with a slash between if there is none yet. A name begins with a slash if it is a whole path, as
/// those of a host's roots are below the line of the host.
pub fn join(path: &mut Vec<u8>, name: &[u8]) {
    if !path.is_empty() && !path.ends_with(b"/") && !name.starts_with(b"/") {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}

/// The path that consists of `names`, outermost first.
pub fn join_all<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut path = Vec::new();
    for name in names {
        join(&mut path, name);
    }
    path
}

/// Whether `path` is `above`, or below it. Everything is below the empty path.
pub fn is_within(path: &[u8], above: &[u8]) -> bool {
    above.is_empty() || below(path, above).is_some()
}

/// What of `path` is below the directory `above`: nothing if it is the same, none if it is elsewhere. `above` may end
/// in a slash.
pub fn below<'p>(path: &'p [u8], above: &[u8]) -> Option<&'p [u8]> {
    let rest = path.strip_prefix(above.strip_suffix(b"/").unwrap_or(above))?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(b"/") }
}

/// Each way to split `path` into a directory and what is below it, the longest directory first; the first is `path`
/// itself. `./../a/b` splits at `./../a` and at `./`, among others. No directory is longer than [`LONGEST`].
pub fn splits(path: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    (0..=path.len().min(LONGEST)).rev().filter_map(|end| {
        let (above, below) = path.split_at(end);
        // Names end there.
        let is_end = below.is_empty() || below.starts_with(b"/") || above.ends_with(b"/");
        is_end.then(|| (above, below.strip_prefix(b"/").unwrap_or(below)))
    })
}

/// How `to` is spelled from the directory `from`, if both are real paths: by few names, or as it is.
pub fn seen_from(from: &[u8], to: &[u8]) -> Vec<u8> {
    const MOST_UP: usize = 2;
    let names = |path| <[u8]>::split(path, |byte| *byte == b'/');
    let common = names(from).zip(names(to)).take_while(|(one, other)| one == other).count();
    match names(from).count() - common {
        up if up > MOST_UP => to.to_vec(),
        up => join_all(iter::repeat_n(&b".."[..], up).chain(names(to).skip(common))),
    }
}

/// `path` with slashes between its names, whatever separators the system has.
pub fn with_slashes(path: &Path) -> Vec<u8> {
    join_all(path.components().map(|part| part.as_os_str().as_encoded_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slash_between() {
        for (names, expected) in [
            (&[b"/".as_slice(), b"usr", b"bin"][..], b"/usr/bin".as_slice()),
            (&[b"a/", b"b"], b"a/b"),
            (&[b"", b"a"], b"a"),
            (&[b"web1:", b"/srv", b"a"], b"web1:/srv/a"),
            (&[], b""),
        ] {
            assert_eq!(join_all(names.iter().copied()), expected);
        }
    }

    #[test]
    fn seen_from_near_and_far() {
        for (from, to, expected) in [
            (&b"/a/b"[..], &b"/a/b/c"[..], &b"c"[..]),
            (b"/a/b", b"/a/c/d", b"../c/d"),
            (b"/a/b/c/d", b"/a/e", b"/a/e"),
            (b"", b"/a", b"a"),
            (b"/a", b"/a", b""),
        ] {
            assert_eq!(seen_from(from, to), expected, "{from:?} {to:?}");
        }
    }

    #[test]
    fn what_is_within() {
        for (path, above, expected) in [
            (&b"a/b"[..], &b"a"[..], true),
            (b"a", b"a", true),
            (b"a-b", b"a", false),
            (b"a", b"a/b", false),
            (b"a/b", b"a/", true),
            (b"/a", b"/", true),
            (b"a", b"", true),
        ] {
            assert_eq!(is_within(path, above), expected, "{path:?} {above:?}");
        }
    }
}
