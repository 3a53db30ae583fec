//! What is in a block: pieces of the listings of directories, one after the other. Everything that comes from a file is
//! checked here.

use std::{io, mem};

use super::blocks::damaged;
use crate::base::measure::Kind;
use crate::base::path;
use crate::from::snapshot::tokens::DEEPEST;
use crate::tree::Node;
use crate::tree::record::{self, push_number, take_number};

/// What is wrong where a record does not fit.
pub const CUT_OFF: &str = "a record that ends too early, or has a number that is too large";

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

    /// Gives `take` its entries that are not directories. The names of roots are paths.
    ///
    /// # Errors
    /// The first invalid one.
    pub fn each_leaf(
        &self,
        are_roots: bool,
        mut take: impl FnMut(&mut Node<'a>),
    ) -> io::Result<()> {
        let (mut rest, mut last) = (self.leaves, b"".as_slice());
        while !rest.is_empty() {
            take_leaf(&mut rest, &mut last, are_roots, &mut take)?;
        }
        Ok(())
    }

    /// Gives `take` its subdirectories.
    ///
    /// # Errors
    /// The first invalid one.
    pub fn each_directory(
        &self,
        are_roots: bool,
        mut take: impl FnMut(Record<'a>) -> io::Result<()>,
    ) -> io::Result<()> {
        let (mut rest, mut last) = (self.directories, b"".as_slice());
        while !rest.is_empty() {
            let directory = take_directory(&mut rest, are_roots)?;
            ensure_order(mem::replace(&mut last, directory.node.name), directory.node.name)?;
            take(directory)?;
        }
        Ok(())
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

/// Takes the record of the root of a file with so many `directories`. It has the form of a directory's also if it is
/// none. Without a name, it is the node above several roots.
///
/// # Errors
/// If it is invalid.
pub fn take_root<'a>(content: &mut &'a [u8], directories: u64) -> io::Result<Record<'a>> {
    let mut root = take_record(content)?;
    let is_directory = root.node.mode.kind() == Kind::Directory;
    if !is_directory && (root.node.name.is_empty() || root.below > 0) {
        return Err(damaged("a root that is no directory, and has no name, or directories below"));
    }
    check(&mut root.node, None)?;
    let said = if is_directory { root.below.checked_add(1) } else { Some(0) };
    if said != Some(directories) {
        return Err(damaged("its header says another number of directories than its root"));
    }
    Ok(root)
}

/// Gives `take` the next of the leaves in `rest`, after one of this name. The names of roots are paths.
///
/// # Errors
/// If it is invalid.
#[inline(always)]
pub fn take_leaf<'a>(
    rest: &mut &'a [u8],
    last: &mut &'a [u8],
    is_root: bool,
    take: impl FnOnce(&mut Node<'a>),
) -> io::Result<()> {
    // Nothing takes a node by value, because there are millions, and each copy would show.
    let Some(mut node) = record::take(rest) else { return Err(damaged(CUT_OFF)) };
    if node.mode.kind() == Kind::Directory {
        return Err(damaged("a directory where none can be"));
    }
    check(&mut node, Some(is_root))?;
    ensure_order(mem::replace(last, node.name), node.name)?;
    take(&mut node);
    Ok(())
}

/// Takes the record of a subdirectory, whose name is a path if it is a root that was given.
///
/// # Errors
/// If it is invalid.
pub fn take_directory<'a>(rest: &mut &'a [u8], is_root: bool) -> io::Result<Record<'a>> {
    let mut directory = take_record(rest)?;
    if directory.node.mode.kind() != Kind::Directory {
        return Err(damaged("a subdirectory that is no directory"));
    }
    check(&mut directory.node, Some(is_root))?;
    Ok(directory)
}

fn take_record<'a>(rest: &mut &'a [u8]) -> io::Result<Record<'a>> {
    let record = record::take_directory(rest).zip(take_number(rest));
    record.map(|(node, below)| Record { node, below }).ok_or_else(|| damaged(CUT_OFF))
}

/// Checks that an entry has a name that it can have, or a path if it is a root, and nothing that no file has.
fn check(node: &mut Node<'_>, is_root: Option<bool>) -> io::Result<()> {
    // The node above several roots has no name.
    if is_root.is_some() || !node.name.is_empty() {
        path::ensure_name(node.name, is_root.unwrap_or(true)).map_err(damaged)?;
    }
    if node.fingerprint.is_some() || node.change.is_some() || !node.note.is_empty() {
        return Err(damaged("a record with a fingerprint, a change or a note"));
    }
    node.sums.frees = node.sums.frees.map(|frees| frees.saved(node.sums.all.disk));
    Ok(())
}

/// Checks that a `name` can come after the `last` one.
pub fn ensure_order(last: &[u8], name: &[u8]) -> io::Result<()> {
    if name < last {
        return Err(damaged("entries that are not in the order of their names"));
    }
    Ok(())
}

/// Checks that so many `levels` are not too many.
pub fn ensure_depth(levels: usize) -> io::Result<()> {
    if levels > DEEPEST {
        return Err(damaged(format_args!("it is deeper than {DEEPEST} levels")));
    }
    Ok(())
}
