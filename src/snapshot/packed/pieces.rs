//! What is in a block: pieces of the listings of directories, one after the other. Everything that comes from a file is
//! checked here.

use std::{io, iter};

use super::blocks::damaged;
use crate::measure::Kind;
use crate::tree::Node;
use crate::tree::record::{self, push_number, take_number};

/// What is wrong where names go down.
pub const UNORDERED: &str = "entries that are not in the order of their names";

/// A part of the listing of a directory, or all of it.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// The records of its subdirectories, each with the number of directories below, by name.
    pub directories: &'a [u8],
    /// The records of its other entries, by name.
    pub leaves: &'a [u8],
    /// Whether the listing ends here.
    pub is_last: bool,
}

impl<'a> Piece<'a> {
    /// Takes the next piece from the `content` of a block.
    ///
    /// # Errors
    /// If it is longer than the block.
    pub fn take(content: &mut &'a [u8]) -> io::Result<Self> {
        Self::take_known(content).ok_or_else(|| damaged("a listing that is longer than its block"))
    }

    fn take_known(content: &mut &'a [u8]) -> Option<Self> {
        let [directories, leaves] = [take_number(content)?, take_number(content)?];
        let is_last = directories & 1 == 1;
        let [directories, leaves] = [directories >> 1, leaves].map(usize::try_from);
        let (directories, rest) = content.split_at_checked(directories.ok()?)?;
        let (leaves, rest) = rest.split_at_checked(leaves.ok()?)?;
        *content = rest;
        Some(Piece { directories, leaves, is_last })
    }

    /// Adds it to the `content` of a block.
    pub fn push(&self, content: &mut Vec<u8>) {
        let Self { directories, leaves, is_last } = self;
        push_number(content, (directories.len() as u64) << 1 | u64::from(*is_last));
        push_number(content, leaves.len() as u64);
        content.extend_from_slice(directories);
        content.extend_from_slice(leaves);
    }

    /// Its entries that are not directories. The names of roots are paths.
    pub fn leaves(&self, are_roots: bool) -> impl Iterator<Item = io::Result<Node<'a>>> {
        let leaves = in_order(self.leaves, move |rest| take_leaf(rest, are_roots));
        leaves.map(|leaf| leaf.map(|leaf| leaf.node))
    }

    /// Its subdirectories.
    pub fn directories(&self, are_roots: bool) -> impl Iterator<Item = io::Result<Record<'a>>> {
        in_order(self.directories, move |rest| take_directory(rest, are_roots))
    }
}

/// An entry, and how many directories are below it.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The entry.
    pub node: Node<'a>,
    /// How many directories are below it.
    pub below: u64,
}

/// Takes the record of the root, which has the form of a directory's also if it is none. Without a name, it is the
/// node above several roots.
///
/// # Errors
/// If it is invalid.
pub fn take_root<'a>(content: &mut &'a [u8]) -> io::Result<Record<'a>> {
    let root = take_record(content)?;
    let is_directory = root.node.mode.kind() == Kind::Directory;
    if !is_directory && (root.node.name.is_empty() || root.below > 0) {
        return Err(damaged("a root that is no directory, and has no name, or directories below"));
    }
    checked(root, None)
}

/// Takes the record of a subdirectory, whose name is a path if it is a root that was given.
///
/// # Errors
/// If it is invalid.
pub fn take_directory<'a>(rest: &mut &'a [u8], is_root: bool) -> io::Result<Record<'a>> {
    let directory = take_record(rest)?;
    if directory.node.mode.kind() != Kind::Directory {
        return Err(damaged("a subdirectory that is no directory"));
    }
    checked(directory, Some(is_root))
}

fn take_record<'a>(rest: &mut &'a [u8]) -> io::Result<Record<'a>> {
    let record = record::take_directory(rest).zip(take_number(rest));
    let record = record.map(|(node, below)| Record { node, below });
    record.ok_or_else(|| {
        damaged("a record of a directory that ends too early, or has a number that is too large")
    })
}

fn take_leaf<'a>(rest: &mut &'a [u8], is_root: bool) -> io::Result<Record<'a>> {
    let node = record::take(rest).ok_or_else(|| {
        damaged("a record that ends too early, or has a number that is too large")
    })?;
    if node.mode.kind() == Kind::Directory {
        return Err(damaged("a directory where none can be"));
    }
    checked(Record { node, below: 0 }, Some(is_root))
}

/// A record with a name that an entry can have, or a path if it is of a root, and without what no file has.
fn checked(mut record: Record<'_>, is_root: Option<bool>) -> io::Result<Record<'_>> {
    let node = &mut record.node;
    match is_root {
        Some(_) if node.name.is_empty() => return Err(damaged("an entry without a name")),
        Some(false) if node.name.contains(&b'/') => return Err(damaged("a name with a slash")),
        _ => {}
    }
    if node.fingerprint.is_some() || node.change.is_some() || !node.note.is_empty() {
        return Err(damaged("a record with a fingerprint, a change or a note"));
    }
    node.sums.frees = node.sums.frees.map(|frees| frees.saved(node.sums.all.disk));
    Ok(record)
}

/// What `take` takes of `records`, up to their end. Their names should be in order.
fn in_order<'a>(
    mut records: &'a [u8],
    take: impl Fn(&mut &'a [u8]) -> io::Result<Record<'a>>,
) -> impl Iterator<Item = io::Result<Record<'a>>> {
    let mut last: &[u8] = b"";
    iter::from_fn(move || {
        if records.is_empty() {
            return None;
        }
        let record = take(&mut records).and_then(|record| match record.node.name < last {
            true => Err(damaged(UNORDERED)),
            false => Ok(record),
        });
        match &record {
            Ok(record) => last = record.node.name,
            Err(_) => records = b"",
        }
        Some(record)
    })
}
