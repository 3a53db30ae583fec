//! Filters by type of file, as the name tells it. The types are those of ripgrep.

use ignore::Error;
use ignore::types::{self, TypesBuilder};

use crate::sys;

/// Which types of files count. A directory is of no type.
#[derive(Clone, Debug, Default)]
pub struct Types {
    /// Only files of these types count.
    pub only: Option<types::Types>,
    /// Files of these types do not count.
    pub never: Option<types::Types>,
}

impl Types {
    /// Whether files of every type count.
    pub(super) fn is_off(&self) -> bool {
        self.only.is_none() && self.never.is_none()
    }

    /// Whether an entry called `name` counts.
    pub(super) fn admit(&self, name: &[u8], is_directory: bool) -> bool {
        self.only.as_ref().is_none_or(|types| is_of(types, name, is_directory))
            && !self.never.as_ref().is_some_and(|types| is_of(types, name, is_directory))
    }
}

/// The name of each type, in order, and the globs that make it.
pub fn known_types() -> Vec<(String, Vec<String>)> {
    let known = TypesBuilder::new().add_defaults().definitions();
    known.into_iter().map(|known| (known.name().to_owned(), known.globs().to_vec())).collect()
}

/// The types with these names, if there are any.
///
/// # Errors
/// The first unknown name.
pub fn any_type(names: &[String]) -> Result<Option<types::Types>, String> {
    if names.is_empty() {
        return Ok(None);
    }
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    for name in names {
        builder.select(name);
    }
    match builder.build() {
        Err(Error::UnrecognizedFileType(name)) => Err(name),
        // Only unknown names could make this fail.
        types => Ok(types.ok()),
    }
}

fn is_of(types: &types::Types, name: &[u8], is_directory: bool) -> bool {
    !is_directory && types.matched(sys::to_path(name), false).is_whitelist()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_go_by_name() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let (only, never) = (names(&["rust", "py", "make"]), names(&["cython"]));
        let [only, never] =
            [&only, &never].map(|names| any_type(names).expect("types that are known"));
        let types = Types { only: only.clone(), never };
        for (name, is_directory, is_admitted) in [
            (b"main.rs".as_slice(), false, true),
            (b"x.py", false, true),
            (b"Makefile", false, true),
            (b"x.pyx", false, false),
            (b"x.c", false, false),
            (b"\xff.rs", false, true),
            (b"dir.rs", true, false),
        ] {
            assert_eq!(types.admit(name, is_directory), is_admitted, "{name:?}");
        }
        let never = Types { only: None, never: only };
        assert!(never.admit(b"dir", true) && never.admit(b"x.c", false));
        assert!(!never.admit(b"x.rs", false));
        assert_eq!(any_type(&names(&["rust", "rusty"])).err().as_deref(), Some("rusty"));
    }
}
