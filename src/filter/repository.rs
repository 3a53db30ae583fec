//! Where the repository of a work tree is, and what git takes for one (setup.c, is_git_directory).

use std::ffi::{CStr, CString};
use std::io::{self, Read};

use crate::measure::Kind;
use crate::path;
use crate::sys::{Handle, Query, Stat, Symlinks};

/// Where the repository of a work tree is, from the top of the work tree or from `/`.
pub(super) struct Repository {
    /// What is this work tree's own.
    pub(super) own: Vec<u8>,
    /// What it shares with others: what git calls the common directory.
    pub(super) common: Vec<u8>,
}

impl Repository {
    /// The repository of the work tree whose top is open as `dir`, if it is one. As for git, that is where
    /// a HEAD is that leads somewhere, and objects and refs.
    pub(super) fn of(dir: &Handle) -> Option<Self> {
        let stat = |path: &CStr, symlinks| dir.stat_at(path, symlinks, Query::default()).ok();
        let own = match stat(c".git", Symlinks::Follow)?.mode.kind() {
            Kind::Directory => b".git".to_vec(),
            // A work tree besides the first one, or a submodule, says where its repository is.
            Kind::File => {
                let text = note(dir, c".git")?;
                without_newlines(text.strip_prefix(b"gitdir: ")?).to_vec()
            }
            _ => return None,
        };
        let head = within(&own, b"HEAD")?;
        // Before 2005 it was a symlink, to a branch that need not be there yet.
        let is_symlink = stat(&head, Symlinks::Stay)?.mode.kind() == Kind::Symlink;
        if !is_symlink && !is_head(&note(dir, &head)?) {
            return None;
        }
        let common = match note(dir, &within(&own, b"commondir")?) {
            Some(common) => path::resolve(&own, without_newlines(&common)),
            None => own.clone(),
        };
        for name in [&b"objects"[..], b"refs"] {
            stat(&within(&common, name)?, Symlinks::Follow).filter(Stat::is_directory)?;
        }
        Some(Self { own, common })
    }
}

/// Whether a HEAD with this `text` leads to a branch or to a commit.
fn is_head(text: &[u8]) -> bool {
    /// Digits of an id of SHA-1; one of SHA-256 has more.
    const ID: usize = 40;
    match text.strip_prefix(b"ref:") {
        Some(branch) => branch.trim_ascii_start().starts_with(b"refs/"),
        None => text.len() >= ID && text[..ID].iter().all(u8::is_ascii_hexdigit),
    }
}

fn without_newlines(mut text: &[u8]) -> &[u8] {
    while let [rest @ .., b'\n' | b'\r'] = text {
        text = rest;
    }
    text
}

/// What is in a file of git's that says where something is, if it can be read.
fn note(dir: &Handle, name: &CStr) -> Option<Vec<u8>> {
    /// Git takes no larger one for `.git` (setup.c, read_gitfile_gently).
    const MOST: u64 = 1 << 20;
    text_of(dir, name, MOST).ok()?
}

/// What is in the file at `path` from `dir`, which may have `most` bytes; nothing if there is no regular file.
pub(super) fn text_of(dir: &Handle, path: &CStr, most: u64) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = dir.open_file_at(path, Symlinks::Follow, most)? else { return Ok(None) };
    let mut text = Vec::new();
    file.take(most).read_to_end(&mut text)?;
    Ok(Some(text))
}

fn within(directory: &[u8], name: &[u8]) -> Option<CString> {
    CString::new(path::join_all([directory, name])).ok()
}
