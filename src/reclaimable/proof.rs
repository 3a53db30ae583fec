//! What proves that something comes back, and what speaks against it.

use std::ffi::CString;
use std::io::Read;

use super::Finder;
use super::rule::{AnyOf, ReclaimRule, is_at};
use crate::containers;
use crate::git::Glob;
use crate::measure::Kind;
use crate::path;
use crate::sys::{Source, Symlinks, to_path};
use crate::tree::Child;

/// No tag that is larger is opened, in bytes; and of a file that is no tag, no more than the start is read.
const LARGEST_TAG: u64 = 1 << 16;
const START: u64 = 64;

/// What has the history of a work tree, in several systems.
const REPOSITORIES: [&[u8]; 8] =
    [b".git", b".hg", b".svn", b".jj", b".bzr", b"_darcs", b".pijul", b".fslckout"];

impl Finder<'_> {
    /// Whether a file of this name may be found, or be the tag of what is.
    pub(super) fn is_notable(&self, name: &[u8]) -> bool {
        self.tags.contains(&name) || self.of_files.iter().any(|rule| rule.may_find(name))
    }

    /// Whether the `rule` matches a directory, whose real name is `name`. The cheapest comes first, and files last.
    pub(super) fn is_proved(
        &self,
        rule: &ReclaimRule,
        directory: Child<'_>,
        name: &[u8],
        notable: &[Child<'_>],
    ) -> bool {
        if rule.finds_files || !rule.may_find(name) {
            return false;
        }
        let tag = notable.iter().find(|leaf| leaf.name() == rule.tag.as_bytes());
        if (!rule.tag.is_empty() && tag.is_none()) || !is_at(&rule.at, self.names(directory)) {
            return false;
        }
        let parent = directory.parent().filter(|_| !directory.is_root());
        rule.beside.iter().all(|any| parent.is_some_and(|parent| has_any(parent, any)))
            && rule.has.iter().all(|any| has_any(directory, any))
            && !directory.unsorted().any(|entry| is_one_of(&rule.lacks, entry.name()))
            && tag.is_none_or(|tag| is_written_in(rule, directory, tag.name(), LARGEST_TAG))
    }

    /// Whether the `rule` matches a file.
    pub(super) fn is_file_of(&self, rule: &ReclaimRule, leaf: Child<'_>) -> bool {
        let Some(directory) = leaf.parent() else { return false };
        rule.may_find(leaf.name())
            && rule.beside.iter().all(|any| has_any(directory, any))
            && is_at(&rule.at, self.names(leaf))
            && is_written_in(rule, directory, leaf.name(), u64::MAX)
    }

    /// Whether nothing speaks against it: something that could not be read, a mount, an engine's storage, a repository,
    /// or a name that the rule does not want.
    pub(super) fn may_go(&self, rule: &ReclaimRule, child: Child<'_>) -> bool {
        let here = child.inode().map(|inode| inode.identity.mounted_device());
        containers::owner(child).is_none()
            && !containers::holds_storage(child)
            && !self.is_unread(&child.path())
            && child.all_directories().all(|directory| {
                let is_top = directory.id() == child.id();
                let mounted = directory.inode().map(|inode| inode.identity.mounted_device());
                (is_top || may_be_in(rule, directory.name()))
                    && mounted == here
                    && (rule.may_have_repositories || !is_bare(directory))
                    && directory.leaves().all(|leaf| {
                        let is_wanted = rule.only.is_empty() || is_one_of(&rule.only, leaf.name());
                        is_wanted && may_be_in(rule, leaf.name())
                    })
            })
    }

    /// Whether something at `path` or below could not be read. Problems are sorted by path.
    fn is_unread(&self, path: &[u8]) -> bool {
        let within = path::join_all([path, b""]);
        let is_at = |from: &[u8]| {
            let first = self.problems.partition_point(|problem| *problem.path < *from);
            self.problems.get(first).is_some_and(|problem| path::is_within(&problem.path, path))
        };
        is_at(path) || is_at(&within)
    }
}

fn may_be_in(rule: &ReclaimRule, name: &[u8]) -> bool {
    (rule.may_have_repositories || !REPOSITORIES.contains(&name)) && !is_one_of(&rule.never, name)
}

/// Whether it is a git repository without a work tree.
fn is_bare(directory: Child<'_>) -> bool {
    let has = |name: &&[u8]| directory.unsorted().any(|entry| entry.name() == *name);
    [&b"HEAD"[..], b"objects", b"refs"].iter().all(has)
}

fn is_one_of(patterns: &[Glob], name: &[u8]) -> bool {
    patterns.iter().any(|pattern| pattern.is_match(name))
}

/// Whether `directory` has a file or a directory at one of these paths. A symlink proves nothing.
fn has_any(directory: Child<'_>, any: &AnyOf) -> bool {
    any.iter().any(|path| {
        let Some((last, above)) = path.split_last() else { return false };
        let mut at = vec![directory];
        for name in above {
            let below = at.into_iter().flat_map(Child::directories);
            at = below.filter(|directory| name.is_match(directory.name())).collect();
        }
        let mut entries = at.into_iter().flat_map(Child::unsorted);
        entries.any(|entry| {
            last.is_match(entry.name())
                && matches!(entry.mode().kind(), Kind::File | Kind::Directory)
        })
    })
}

/// Whether the start of the regular file called `name` matches. It is not opened if it has more than `most` bytes.
fn is_written_in(rule: &ReclaimRule, directory: Child<'_>, name: &[u8], most: u64) -> bool {
    let Some(matches) = &rule.matches else { return false };
    start_of(&directory.path(), name, most).is_some_and(|start| {
        matches.is_match(&start) && !rule.unless.as_ref().is_some_and(|it| it.is_match(&start))
    })
}

fn start_of(directory: &[u8], name: &[u8], most: u64) -> Option<Vec<u8>> {
    let path = CString::new(to_path(directory).as_os_str().as_encoded_bytes()).ok()?;
    let directory = Source::default().look(&path).ok()?;
    let file = directory.open_file_at(&CString::new(name).ok()?, Symlinks::Stay, most).ok()??;
    let mut start = Vec::new();
    let length = if most == LARGEST_TAG { LARGEST_TAG } else { START };
    file.take(length).read_to_end(&mut start).ok()?;
    Some(start)
}
