//! The shares of one tree, loaded together: the result is the tree of a single walk. Workers walk at their own times,
//! on their own machines. A directory above the level at which the tree is split is in several shares, and counts in
//! one of them. A directory below is in one share, and is taken over as it is, with its totals.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::Path;

use indexmap::IndexMap;

use super::devices::{devices, known_by, mount_points, renumber};
use super::several::host;
use super::{Origin, Share, Snapshot, problem};
use crate::base::escape::escape;
use crate::base::parallel;
use crate::base::path;
use crate::sys::problem::{Operation, Problem, hinted};
use crate::tree::tally::{Inodes, Whole};
use crate::tree::total::{AnyReplay, Replay, Rules, Shown};
use crate::tree::{DirectoryId, Named, Node, Step, Traversal, Tree};

/// A snapshot and its file.
pub(super) type Loaded<'p> = (&'p Path, Snapshot);

/// The snapshots in `loaded`, in which these `inodes` are kept; shares of the same tree are joined.
pub(super) fn united(loaded: Vec<Loaded<'_>>, inodes: Inodes) -> Result<Vec<Loaded<'_>>, Problem> {
    let (mut united, mut sets) = (Vec::new(), BTreeMap::<_, Vec<Loaded<'_>>>::new());
    for (file, snapshot) in loaded {
        let origin = snapshot.origin.as_ref();
        let set = origin.and_then(|origin| {
            Some((origin.share?.of, origin.roots.first().map(|root| root.place().into_owned())))
        });
        match set {
            Some(set) => sets.entry(set).or_default().push((file, snapshot)),
            None => united.push((file, snapshot)),
        }
    }
    for set in sets.into_values().flat_map(by_host) {
        united.push(unite(set, inodes)?);
    }
    Ok(united)
}

fn share(snapshot: &Snapshot) -> Share {
    let whole = Share { number: 1, of: 1, depth: 0 };
    snapshot.origin.as_ref().and_then(|origin| origin.share).unwrap_or(whole)
}

/// Workers may run on different hosts. But if a share is there twice, each host may have split a tree of its own.
fn by_host(set: Vec<Loaded<'_>>) -> Vec<Vec<Loaded<'_>>> {
    let mut numbers = HashSet::new();
    if set.iter().all(|(_, snapshot)| numbers.insert(share(snapshot).number)) {
        return vec![set];
    }
    let mut hosts: IndexMap<_, Vec<_>> = IndexMap::new();
    for (file, snapshot) in set {
        hosts.entry(host(&snapshot)).or_default().push((file, snapshot));
    }
    hosts.into_values().collect()
}

/// Joins the shares in `set` to one tree.
fn unite(mut set: Vec<Loaded<'_>>, inodes: Inodes) -> Result<Loaded<'_>, Problem> {
    set.sort_by_key(|(_, snapshot)| share(snapshot).number);
    for pair in set.windows(2) {
        let [(one, first), (other, second)] = pair else { continue };
        let (Share { number, of, depth }, one) =
            (share(first), escape(one.as_os_str().as_encoded_bytes()));
        let message = match share(second) {
            Share { number: same, .. } if same == number => {
                format!("it is share {number} of {of}, and so is {one}\nleave one out")
            }
            // The number of subdirectories in the root crossed the limit between two walks.
            Share { depth: other, .. } if other != depth => {
                format!("it was divided in another way than {one}\nsave all shares again")
            }
            _ => continue,
        };
        return Err(problem(other, Operation::Show, &hinted(io::ErrorKind::Other, message)));
    }
    let missing = missing(&set.iter().map(|(_, snapshot)| snapshot).collect::<Vec<_>>());
    // No set is empty.
    let (file, mut united) = set.remove(0);
    let mut trees: Vec<_> = united.report.answer.take().into_iter().collect();
    for (_, mut snapshot) in set {
        let problems = &mut snapshot.report.problems;
        if let Some(tree) = snapshot.report.answer {
            let first = trees.first().unwrap_or(&tree).root().name();
            problems.iter_mut().for_each(|it| rename(it, tree.root().name(), first));
            trees.push(tree);
        }
        united.report.problems.append(problems);
        united.report.is_interrupted |= snapshot.report.is_interrupted;
        united.known = united.known.and(snapshot.known);
    }
    // What each share says about the missing others no longer holds.
    united.report.problems.retain(|problem| problem.operation != Operation::Load);
    united.report.problems.extend(missing);
    if let Some(origin) = &mut united.origin {
        origin.share = None;
    }
    let follow = united.origin.as_ref().is_some_and(Origin::follows);
    let rules = Rules { follow, ..Rules::default() };
    united.report.answer = union(trees, rules, inodes).map(|tree| tree.in_view(united.view));
    Ok((file, united))
}

/// Renames the path of a `problem` from the root `was` to the root `is`.
pub(super) fn rename(problem: &mut Problem, was: &[u8], is: &[u8]) {
    if let Some(way) = path::below(&problem.path, was).filter(|_| was != is) {
        problem.path = if way.is_empty() { is.to_vec() } else { path::join_all([is, way]) };
    }
}

/// The problem that shares are missing in `set`, if they are; their content is unknown.
pub(super) fn missing(set: &[&Snapshot]) -> Option<Problem> {
    /// How many are named.
    const SHOWN: usize = 3;
    let first = set.first()?;
    let of = share(first).of;
    let count = of.saturating_sub(set.len() as u64);
    let known: HashSet<u64> = set.iter().map(|snapshot| share(snapshot).number).collect();
    let named = (1..=of).filter(|number| !known.contains(number)).take(SHOWN);
    let named: Vec<_> = named.map(|number| number.to_string()).collect();
    let (shares, more) = (named.join(", "), if count > SHOWN as u64 { ", …" } else { "" });
    let message = match count {
        0 => return None,
        1 => format!("share {shares} of {of} is missing"),
        count => format!("{count} shares of {of} are missing: {shares}{more}"),
    };
    let name = first.report.answer.as_ref().map(|tree| tree.root().name().to_vec());
    let given = first.origin.as_ref().and_then(|origin| origin.roots.first());
    let path = name.or_else(|| given.map(|root| root.path.clone())).unwrap_or_default();
    Some(Problem::new(path, Operation::Load, &io::Error::other(message)))
}

/// Why a snapshot cannot be compared with the result of `now`: it is one share of several, and not the same as that. All
/// that is in the others would seem to be new.
pub fn other_share(before: &Origin, now: Option<&Origin>) -> Option<String> {
    let share = before.share.filter(|share| share.of > 1)?;
    let Share { number, of, .. } = share;
    let is_same = now.and_then(|now| now.share) == Some(share);
    (!is_same).then(|| {
        format!(
            "it is share {number} of {of}\nload all {of} with --from, save them as one with --save, and compare with that"
        )
    })
}

/// A directory in one or several shares, with its share and its id there.
struct SharedDirectory {
    name: Vec<u8>,
    places: Vec<(usize, DirectoryId)>,
}

impl Named for SharedDirectory {
    fn name(&self) -> &[u8] {
        &self.name
    }
}

/// Joins the `trees`, shares in order, by these `rules`.
fn union(mut trees: Vec<Tree>, rules: Rules, inodes: Inodes) -> Option<Tree> {
    let found: Vec<_> = parallel::collect(0, &trees, |tree| (devices(tree), mount_points(tree)));
    let mut numbers = HashMap::new();
    for (tree, (devices, points)) in trees.iter_mut().zip(found) {
        renumber(tree, devices, &mut numbers, |it| known_by(it, &points));
    }
    let first = trees.first()?;
    if trees.len() == 1 || !first.root().is_directory() {
        return trees.into_iter().next();
    }
    let roots = trees.iter().enumerate().filter_map(|(i, tree)| Some((i, tree.root().id()?)));
    let root = SharedDirectory { name: first.root().name().to_vec(), places: roots.collect() };
    let mut replay = Replay::new(Whole { inodes }, 0, Some(rules));
    let mut traversal = Traversal::new(root);
    while let Some(step) = traversal.next() {
        match step {
            Step::Node(SharedDirectory { name, places }) => match places[..] {
                [(share, directory)] if traversal.depth() > 0 => {
                    replay.graft(&mut trees[share], directory, &name);
                }
                _ => {
                    replay.open();
                    let below = begin(&trees, &places, &mut replay);
                    traversal.enter(SharedDirectory { name, places }, below);
                }
            },
            Step::End(SharedDirectory { name, places }) => {
                let nodes = places.iter().map(|(i, id)| trees[*i].directory(*id).node());
                let nodes: Vec<_> = nodes.collect();
                let own = nodes.iter().find_map(|node| node.own);
                let inode = nodes.iter().find_map(|node| node.inode);
                let Some(first) = nodes.first() else { continue };
                let node = Node { name: &name, own, inode, ..*first };
                if traversal.depth() == 0 {
                    return Some(replay.finish(&node));
                }
                replay.close(&node, Shown::IfCounted);
            }
        }
    }
    None
}

/// Weighs the entries of a directory that is in several shares, except for its subdirectories, which it returns.
fn begin(
    trees: &[Tree],
    places: &[(usize, DirectoryId)],
    replay: &mut Replay<Whole>,
) -> Vec<SharedDirectory> {
    let (mut leaves, mut below) = (HashSet::new(), BTreeMap::<_, Vec<_>>::new());
    for (share, directory) in places {
        let directory = trees[*share].directory(*directory);
        for leaf in directory.leaves().filter(|leaf| leaves.insert(leaf.name())) {
            replay.leaf(&leaf.node(), true);
        }
        for directory in directory.directories() {
            if let Some(id) = directory.id() {
                below.entry(directory.name()).or_default().push((*share, id));
            }
        }
    }
    let below = below.into_iter();
    below.map(|(name, places)| SharedDirectory { name: name.to_vec(), places }).collect()
}
