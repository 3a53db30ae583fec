//! ncdu's JSON export, format 1.2 (dev.yorhel.nl/ncdu/jsonfmt): what `ncdu -f` loads.
//!
//! ncdu adds up sizes by itself, and counts inodes with several links once. Of the two sizes that it
//! knows, it gets the one that was measured.

use std::collections::HashSet;
use std::io::{self, Write};

use super::json::is_plain;
use super::name::is_control;
use super::visits::{Visit, Visits};
use crate::measure::{Kind, Measure};
use crate::tally::{Child, Inode, Tree};
use crate::walk::Walked;

/// Writes what a walk came to; `time` is in seconds since the epoch.
///
/// # Errors
/// The writer's.
pub fn write(
    out: &mut impl Write,
    walked: &Walked<Tree>,
    measure: Measure,
    time: i64,
) -> io::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    write!(out, r#"[1,2,{{"progname":"weigh","progver":"{version}","timestamp":{time}}}"#)?;
    let unread: HashSet<&[u8]> = walked
        .problems
        .iter()
        .filter(|problem| problem.is_loss())
        .map(|problem| problem.path.as_slice())
        .collect();
    let Some(tree) = &walked.report else { return out.write_all(b"]\n") };
    let is_file = tree.mode.kind() != Kind::Directory;
    if is_file {
        // A file has to lie in something.
        out.write_all(b",\n[{\"name\":\"(total)\"}")?;
    }
    let device = tree.inode.as_ref().map(|inode| inode.identity.1.0);
    let mut is_list = Vec::new();
    let mut visits = Visits::new(tree);
    while let Some(visit) = visits.next() {
        let Visit::Begin(child) = visit else {
            if is_list.pop() == Some(true) {
                out.write_all(b"]")?;
            }
            continue;
        };
        let is_directory = child.mode().kind() == Kind::Directory;
        out.write_all(if is_directory { b",\n[{\"name\":\"" } else { b",\n{\"name\":\"" })?;
        let is_total = is_list.is_empty() && tree.is_above_roots();
        name(out, if is_total { b"(total)" } else { child.name() })?;
        out.write_all(b"\"")?;
        let (size, inode) = match child {
            Child::Branch(tree) => (tree.own.unwrap_or(0), tree.inode.as_deref().copied()),
            Child::Leaf(leaf) => (leaf.size, leaf.inode),
        };
        match measure {
            Measure::Apparent => write!(out, r#","asize":{size}"#)?,
            _ => write!(out, r#","dsize":{size}"#)?,
        }
        let is_root = is_list.is_empty();
        if let Some(Inode { identity: (_, (own, number)), links, .. }) = inode {
            if is_root || device != Some(own) {
                write!(out, r#","dev":{own}"#)?;
            }
            if let (Some(links), false) = (links, is_directory) {
                write!(out, r#","ino":{number},"hlnkc":true"#)?;
                if links != u32::MAX {
                    write!(out, r#","nlink":{links}"#)?;
                }
            }
        }
        if matches!(child.mode().kind(), Kind::Symlink | Kind::Other) {
            out.write_all(br#","notreg":true"#)?;
        }
        if !unread.is_empty() && unread.contains(visits.path()) {
            out.write_all(br#","read_error":true"#)?;
        }
        out.write_all(b"}")?;
        is_list.push(is_directory);
    }
    out.write_all(if is_file { b"]]\n" } else { b"]\n" })
}

/// As it is, but for what would end the string or steer a terminal: ncdu knows bytes, and no encoding.
/// What is not UTF-8 it can be told in no other way.
fn name(out: &mut impl Write, name: &[u8]) -> io::Result<()> {
    if is_plain(name) {
        return out.write_all(name);
    }
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' | '\\' => write!(out, "\\{c}")?,
                c if is_control(c) => write!(out, "\\u{:04x}", c as u32)?,
                c => write!(out, "{c}")?,
            }
        }
        out.write_all(chunk.invalid())?;
    }
    Ok(())
}
