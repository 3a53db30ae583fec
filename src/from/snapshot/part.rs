//! A part of a snapshot: a snapshot of a directory contains each directory in it, which can so be compared alone.
//!
//! A directory has the same total wherever a scan starts: each inode counts once in it. Only flags that depend on the
//! start of the scan make a difference.

use std::io;

use super::{GivenRoot, Origin, Snapshot};
use crate::base::escape::escape;
use crate::base::measure::Mode;
use crate::base::path;
use crate::sys::problem::hinted;
use crate::tree::{Content, Node, Shape, Tree};

/// The path from the root of `whole` to the root of `part`, if each has one root, and the second lies in the first.
pub fn way_to<'p>(whole: &Origin, part: &'p Origin) -> Option<&'p [u8]> {
    let ([above], [root]) = (&whole.roots[..], &part.roots[..]) else { return None };
    let way = path::below(&root.path, &above.path).filter(|way| !way.is_empty())?;
    let starts_matter = |flag: &String| {
        let (name, value) = flag.split_once('=').unwrap_or((flag, ""));
        let is_of_mounts = matches!(name, "--limit-filesystem" | "--skip" | "--overlays");
        // A glob with a slash may begin at the root.
        is_of_mounts || name == "--dereference-links" || value.contains('/')
    };
    let is_same = whole.share.is_none() && !whole.options.iter().flatten().any(starts_matter);
    is_same.then_some(way)
}

/// Leaves of `snapshot` only what is in the root of `part`, if that is a directory in its own root.
///
/// # Errors
/// If a directory above it could not be read.
pub fn leave_part(snapshot: &mut Snapshot, part: &Origin) -> io::Result<()> {
    let Some(origin) = &mut snapshot.origin else { return Ok(()) };
    let Some(way) = way_to(origin, part) else { return Ok(()) };
    let Some(whole) = snapshot.report.answer.take() else { return Ok(()) };
    let (root, way) = (&part.roots[0], way.to_vec());
    let name = root.name.clone().unwrap_or_else(|| root.path.clone());
    let above = whole.root().name().to_vec();
    let mut problems = Vec::new();
    for mut problem in snapshot.report.problems.drain(..) {
        let Some(place) = path::below(&problem.path, &above) else { continue };
        if let Some(below) = path::below(place, &way) {
            problem.path = path::join_all([&*name, below].into_iter().filter(|it| !it.is_empty()));
            problems.push(problem);
        } else if problem.is_loss() && path::is_within(&way, place) {
            let text = format!("{} could not be read when it was made", escape(&problem.path));
            return Err(hinted(io::ErrorKind::Other, text));
        }
    }
    snapshot.report.problems = problems;
    snapshot.report.answer = Some(part_of(&whole, &way, &name));
    origin.roots = vec![GivenRoot { volume: None, ..root.clone() }];
    Ok(())
}

/// The directory at `way` below the root of `whole`, called `name`: an empty one if it was not there.
fn part_of(whole: &Tree, way: &[u8], name: &[u8]) -> Tree {
    let mut names = way.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
    let found =
        names.try_fold(whole.root(), |at, name| at.directories().find(|it| it.name() == name));
    let tree = match found.and_then(|it| it.id()) {
        Some(directory) => whole.part(directory).named(name),
        None => {
            let node = Node { name, mode: Mode::DIRECTORY, ..Node::default() };
            Content::default().finish(&node, Shape::Directory)
        }
    };
    tree.in_view(whole.view())
}
