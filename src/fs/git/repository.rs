//! Finds the repository of a work tree, by git's rules (setup.c, is_git_directory).

use std::ffi::{CStr, CString};
use std::io::{self, Read};

use super::{EntryKind, WorkTreeDirectory, invalid, resolve, within};

/// The repository of a work tree. Paths are from the top of the work tree, or absolute.
pub(super) struct Repository {
    /// The directory that belongs to this work tree alone.
    pub(super) own: Vec<u8>,
    /// The directory that it shares with other work trees, which git calls the common directory.
    pub(super) common: Vec<u8>,
}

impl Repository {
    /// The repository of the work tree whose top is open as `dir`, if it is one. Like git, it asks for a valid HEAD,
    /// and for objects and refs. If a file cannot be read, that is reported: then nobody can tell.
    pub(super) fn of(
        dir: &impl WorkTreeDirectory,
        report: &mut impl FnMut(&[u8], &io::Error),
    ) -> Option<Self> {
        let own = match kind(dir, c".git", report)? {
            EntryKind::Directory => b".git".to_vec(),
            // In a linked work tree or a submodule, `.git` is a file that names the repository.
            EntryKind::File => {
                let text = note(dir, c".git", report)?;
                without_newlines(text.strip_prefix(b"gitdir: ")?).to_vec()
            }
            EntryKind::Symlink | EntryKind::Other => return None,
        };
        let head = c_within(&own, b"HEAD")?;
        // Before 2005, HEAD was a symlink to a branch that need not exist yet.
        let is_symlink = dir.kind_at(&head, false)? == EntryKind::Symlink;
        if !is_symlink && !is_head(&note(dir, &head, report)?) {
            return None;
        }
        let common = match note(dir, &c_within(&own, b"commondir")?, report) {
            Some(common) => resolve(&own, without_newlines(&common)),
            None => own.clone(),
        };
        for name in [&b"objects"[..], b"refs"] {
            kind(dir, &c_within(&common, name)?, report)
                .filter(|it| *it == EntryKind::Directory)?;
        }
        Some(Self { own, common })
    }
}

/// Whether `text` is a valid HEAD: a branch or a commit.
fn is_head(text: &[u8]) -> bool {
    /// The hexadecimal digits of a SHA-1 id; SHA-256 ids have more.
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

/// The kind of the entry at `path`, or of the one that a symlink there leads to. An entry that cannot be examined is
/// reported.
fn kind(
    dir: &impl WorkTreeDirectory,
    path: &CStr,
    report: &mut impl FnMut(&[u8], &io::Error),
) -> Option<EntryKind> {
    let kind = dir.kind_at(path, true)?;
    if kind == EntryKind::Other {
        note(dir, path, report);
    }
    Some(kind)
}

/// The content of a file of git's that names another path; none if there is no such file. If the system cannot read it,
/// that is reported.
fn note(
    dir: &impl WorkTreeDirectory,
    name: &CStr,
    report: &mut impl FnMut(&[u8], &io::Error),
) -> Option<Vec<u8>> {
    /// Git refuses a larger `.git` file (setup.c, read_gitfile_gently).
    const MOST: u64 = 1 << 20;
    let text = text_of(dir, name, MOST);
    let text = text.inspect_err(|error| {
        if error.raw_os_error().is_some() {
            report(name.to_bytes(), error);
        }
    });
    text.ok()?
}

/// The content of the file at `path`, relative to `dir`, of at most `most` bytes; nothing if it is not a regular
/// file.
pub(super) fn text_of(
    dir: &impl WorkTreeDirectory,
    path: &CStr,
    most: u64,
) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = dir.file_at(path, true, most)? else { return Ok(None) };
    let mut text = Vec::new();
    file.take(most).read_to_end(&mut text)?;
    Ok(Some(text))
}

/// Checks that nothing is at `path`, relative to `dir`, where there is no regular file.
///
/// # Errors
/// If something else is there.
pub(super) fn ensure_absent(dir: &impl WorkTreeDirectory, path: &CStr) -> io::Result<()> {
    let is_there = dir.kind_at(path, false).is_some();
    if is_there { Err(invalid("it is no regular file")) } else { Ok(()) }
}

/// The path of the entry called `name` in `directory`, for a system call.
pub(super) fn c_within(directory: &[u8], name: &[u8]) -> Option<CString> {
    CString::new(within(directory, name)).ok()
}
