//! Paths as bytes, put together only to be shown.

/// No path that can be opened is longer, in bytes (limits.h, PATH_MAX). One that is put together may be, and one
/// in a snapshot.
pub const LONGEST: usize = 4096;

/// Adds `name` to `path`, with a slash between if there is none yet.
pub fn join(path: &mut Vec<u8>, name: &[u8]) {
    if !path.is_empty() && !path.ends_with(b"/") {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}

/// The path of `names`, from the outermost in.
pub fn join_all<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut path = Vec::new();
    for name in names {
        join(&mut path, name);
    }
    path
}

/// The way to `path`, which begins at `base` unless it is absolute.
pub fn resolve(base: &[u8], path: &[u8]) -> Vec<u8> {
    if path.starts_with(b"/") { path.to_vec() } else { join_all([base, path]) }
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
            (&[], b""),
        ] {
            assert_eq!(join_all(names.iter().copied()), expected);
        }
    }
}
