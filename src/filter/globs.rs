//! Leaving out by globs in the syntax of gitignore(5), which hold from each root on down.

use super::rules::IgnoreRules;

/// Which paths below a root count, as far as globs go.
#[derive(Clone, Debug, Default)]
pub struct Globs {
    /// What matches is left out, a directory with all that is in it.
    pub exclude: IgnoreRules,
    /// If there are any, only what matches counts, a directory with all that is in it.
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

    /// Whether the entry at `path` is asked for.
    pub(super) fn includes(&self, path: &[u8], is_directory: bool) -> bool {
        self.include.is_empty() || self.include.decide(path, is_directory) == Some(true)
    }
}
