//! Filters by globs in the syntax of gitignore(5), relative to each root.

use crate::git::IgnoreRules;

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
