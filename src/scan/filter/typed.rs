//! The names and globs of flags, and whether each has met an entry. One that never does may be a mistake.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Paths, add_glob};
use crate::fs::git::IgnoreRules;

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
