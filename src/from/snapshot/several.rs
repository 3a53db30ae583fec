//! Several snapshots, loaded together: the result is that of one walk of all their roots. Every inode counts once over
//! all snapshots of one host, and a root that equals another or is inside another appears once. With snapshots of
//! several hosts, each host is a line.
//!
//! The totals below a root stay the same, so its directory is taken over as it is, and only the totals above the roots
//! are computed. That takes one pass over all inodes for their links, and memory only for the links.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use indexmap::{IndexMap, IndexSet};

use super::devices::{self, devices};
use super::roots::{Listings, roots};
use super::shares::{self, Loaded};
use super::{
    GivenRoot, Origin, Snapshot, SnapshotInfo, Wanted, difference, ensure_measure, is_read_once,
    problem, read_info,
};
use crate::base::escape::escape;
use crate::base::inode::MountedDevice;
use crate::base::measure::{Measure, Measures, Mode, View};
use crate::base::parallel;
use crate::base::path::{self, LONGEST};
use crate::scan::filter::Filter;
use crate::sys::problem::{Operation, Problem, hinted};
use crate::tree::tally::{Inodes, Whole};
use crate::tree::total::{
    AnyReplay, BeginReplay, Replay, Rules, Shown, replay_to, sum_of_disjoint,
};
use crate::tree::{DirectoryId, Node, Place, Report, Tree};

/// Joins the snapshots in `files`, to be seen as `wanted`. `read` loads each, feeding what it is given. Keeps the `inodes`
/// asked for, at least those of directories. Returns as well whether they were saved in different measures.
///
/// # Errors
/// The system's; the problem of a file; or the reason why a snapshot cannot be joined with the others.
pub fn load_all(
    files: &[PathBuf],
    wanted: Wanted,
    inodes: Inodes,
    read: impl Fn(&Path, Wanted, BeginReplay<'_>) -> Result<Snapshot, Problem> + Sync,
) -> Result<(Snapshot, bool), Problem> {
    let are_apart = wanted.limits.is_some() && are_apart(files);
    let wanted = Wanted { limits: wanted.limits.filter(|_| are_apart), ..wanted };
    // In shares, directories tell where mounts are.
    let inodes = inodes.and(Inodes::DIRECTORIES);
    let loaded: Vec<_> =
        parallel::collect(0, files, |file| read(file, wanted, replay_to(|_| Whole { inodes })));
    let mut fitting: Vec<Loaded<'_>> = Vec::new();
    let mut known = Measures::ALL;
    for (file, snapshot) in files.iter().zip(loaded) {
        let snapshot = snapshot?;
        if let Some(message) = misfit(fitting.first().map(|(_, first)| first), &snapshot) {
            return Err(problem(file, Operation::Show, &hinted(io::ErrorKind::Other, message)));
        }
        let both = known.and(snapshot.known);
        if both == Measures::default() {
            let wanted = Measure::ALL.into_iter().find(|measure| known.contains(*measure));
            ensure_measure(snapshot.view.measure, wanted)
                .map_err(|error| problem(file, Operation::Show, &error))?;
        }
        known = both;
        fitting.push((file, snapshot));
    }
    let first = fitting.first().map_or(Measure::default(), |(_, first)| first.view.measure);
    let measures = [first].into_iter().chain(Measure::ALL);
    let measure = measures.into_iter().find(|measure| known.contains(*measure)).unwrap_or(first);
    let differ = fitting.iter().any(|(_, snapshot)| snapshot.view.measure != measure);
    if are_apart && differ {
        // Of some, only the largest by another measure were read.
        return load_all(files, Wanted { limits: None, ..wanted }, inodes, read);
    }
    for (_, snapshot) in &mut fitting {
        snapshot.set_view(View { measure, ..snapshot.view });
    }
    let united = shares::united(fitting, inodes)?.into_iter();
    let (files, mut snapshots): (Vec<_>, Vec<_>) = united.unzip();
    let roots = all_roots(&mut snapshots);
    for root in roots.iter().filter(|root| root.host.is_empty()) {
        // It may be another machine's. Of weigh's own snapshots, both are of the same host.
        if let Some(other) = root.around.filter(|other| *other != root.snapshot) {
            let other = escape(files[other].as_os_str().as_encoded_bytes());
            let given = escape(&root.given);
            let message = format!(
                "it does not say on which machine {given} is, and neither does {other}, which has it, too\n\
                 load them one at a time; cat joins lists"
            );
            let file = files[root.snapshot];
            return Err(problem(file, Operation::Show, &hinted(io::ErrorKind::Other, message)));
        }
    }
    Ok((join(snapshots, roots, inodes, are_apart, false), differ))
}

/// Whether each of the `files` has one root, and all of that, of another host. Then no inode has links in two of them.
fn are_apart(files: &[PathBuf]) -> bool {
    let mut hosts = HashSet::new();
    files.iter().all(|file| {
        let known = (!is_read_once(file)).then(|| read_info(file).ok()).flatten();
        known.is_some_and(|SnapshotInfo { origin: Origin { host, roots, share, .. }, .. }| {
            roots.len() == 1 && share.is_none() && hosts.insert(host)
        })
    })
}

/// Why a snapshot cannot be joined with the first one.
fn misfit(first: Option<&Snapshot>, other: &Snapshot) -> Option<String> {
    let (first, origin) = (first?, other.origin.as_ref()?);
    let with = first.origin.as_ref()?.options.as_deref()?;
    difference(with, &[], origin, true)
}

/// A root of one of the snapshots.
struct JoinedRoot {
    /// The number of its snapshot, and its host.
    snapshot: usize,
    host: Vec<u8>,
    /// Its path as given, and its name in the joined tree.
    given: Vec<u8>,
    name: Vec<u8>,
    place: PathBuf,
    /// Where it is in its tree.
    at: Option<Place>,
    /// None if it is not a directory.
    directory: Option<DirectoryId>,
    /// If it equals another root or is inside one, the number of the snapshot with that.
    around: Option<usize>,
}

impl JoinedRoot {
    /// Its path, without the host.
    fn path(&self) -> &[u8] {
        self.place.as_os_str().as_encoded_bytes()
    }
}

/// Joins the `snapshots`. Perhaps there is none of other roots that were asked for (`lacks_roots`): then the line above
/// several roots is there also above a single one, to be marked.
pub fn joined(mut snapshots: Vec<Snapshot>, inodes: Inodes, lacks_roots: bool) -> Snapshot {
    let roots = all_roots(&mut snapshots);
    join(snapshots, roots, inodes, false, lacks_roots)
}

/// The roots of all `snapshots`, in which devices that differ have numbers that differ from then on.
fn all_roots(snapshots: &mut [Snapshot]) -> Vec<JoinedRoot> {
    // In one snapshot, also one joined from shares, device numbers differ already.
    if snapshots.len() > 1 {
        renumber(snapshots);
    }
    each_once(snapshots)
}

/// Joins the `snapshots`, which have these `roots`, perhaps knowing that no inode has links in two of them.
fn join(
    mut snapshots: Vec<Snapshot>,
    mut roots: Vec<JoinedRoot>,
    inodes: Inodes,
    are_apart: bool,
    lacks_roots: bool,
) -> Snapshot {
    let hosts: IndexSet<_> = snapshots.iter().map(host).collect();
    let hosts: Vec<_> = hosts.into_iter().collect();
    name(&mut roots, hosts.len() > 1);
    let lacks_roots = lacks_roots || snapshots.iter().any(lacks_root);

    let follow = snapshots.iter().filter_map(|it| it.origin.as_ref()).any(Origin::follows);
    let view = snapshots.first().map_or(View::default(), |snapshot| snapshot.view);
    let known = snapshots.iter().fold(Measures::ALL, |known, it| known.and(it.known));
    let rules = (!are_apart).then(|| Rules { follow, ..Rules::default() });
    let names = by_name(&snapshots, &roots);
    let (problems, origin) = (problems(&mut snapshots, &names), origin(&snapshots, &names, &hosts));
    let is_interrupted = snapshots.iter().any(|snapshot| snapshot.report.is_interrupted);
    let is_list = snapshots.iter().any(|snapshot| snapshot.is_list);
    let trees = snapshots.into_iter().map(|snapshot| snapshot.report.answer).collect();
    let answer = tree(trees, (&roots, lacks_roots), &hosts, rules, inodes);
    let answer = answer.map(|tree| tree.in_view(view));
    Snapshot {
        report: Report { answer, problems, is_interrupted, unfinished: None },
        view,
        known,
        origin,
        is_list,
    }
}

/// The name of the machine on which a snapshot was made.
pub(super) fn host(snapshot: &Snapshot) -> Vec<u8> {
    snapshot.origin.as_ref().map_or_else(Vec::new, |origin| origin.host.clone())
}

/// Whether a root was not found when it was made.
fn lacks_root(snapshot: &Snapshot) -> bool {
    let problems = snapshot.report.problems.iter();
    let lost = problems.filter(|problem| problem.operation == Operation::Stat);
    let lost: HashSet<_> = lost.map(|problem| &*problem.path).collect();
    let mut given = snapshot.origin.iter().flat_map(|origin| &origin.roots);
    given.any(|root| root.name.as_deref().is_some_and(|name| lost.contains(name)))
}

/// Gives the same device of the same host one number in all snapshots. Two mounts of a device are different if one
/// snapshot has both; a device that was mounted again between two snapshots counts as the same mount.
fn renumber(snapshots: &mut [Snapshot]) {
    let mut numbers = HashMap::new();
    // The known mounts of each device of a host.
    let mut known: HashMap<(Vec<u8>, u64), IndexSet<u64>> = HashMap::new();
    for snapshot in snapshots {
        let host = host(snapshot);
        let Some(tree) = &mut snapshot.report.answer else { continue };
        let mut here: HashMap<u64, Vec<u64>> = HashMap::new();
        let devices = devices(tree);
        for &MountedDevice { mount, device } in &devices {
            here.entry(device).or_default().push(mount);
        }
        let mut is_now: HashMap<MountedDevice, u64> = HashMap::new();
        for (device, mut mounts) in here {
            let known = known.entry((host.clone(), device)).or_default();
            if let Some(is) = known.first()
                && !mounts.iter().any(|mount| known.contains(mount))
            {
                is_now.insert(MountedDevice { mount: mounts[0], device }, *is);
                mounts[0] = *is;
            }
            known.extend(mounts);
        }
        devices::renumber(tree, devices, &mut numbers, |it| {
            (host.clone(), is_now.get(&it).copied().unwrap_or(it.mount), it.device)
        });
    }
}

/// The roots of all `snapshots`, in order. Of equal roots, the first one is kept.
fn each_once(snapshots: &[Snapshot]) -> Vec<JoinedRoot> {
    let all = Filter::default();
    let (mut found, mut order) = (Vec::new(), Vec::new());
    for (i, snapshot) in snapshots.iter().enumerate() {
        let both = snapshot.report.answer.as_ref().zip(snapshot.origin.as_ref());
        let Some((tree, origin)) = both else { continue };
        for root in roots(tree, origin, &all) {
            order.push(found.len());
            let (given, place) = (root.name.to_vec(), root.place);
            let directory = root.node.id().filter(|_| root.node.is_directory());
            let (host, name, at) = (host(snapshot), given.clone(), root.node.place());
            let (snapshot, around) = (i, None);
            let joined = JoinedRoot { snapshot, host, given, name, place, at, directory, around };
            found.push((joined, root.node));
        }
    }
    // Outer roots first, because only kept roots can contain others.
    order.sort_by_key(|i| found[*i].0.place.components().count());
    let mut known: HashMap<(&[u8], &Path), usize> = HashMap::new();
    // Finds the same directory under another path.
    let mut directories = HashMap::new();
    let mut listings: Vec<Listings<'_>> = snapshots.iter().map(|_| Listings::default()).collect();
    let mut inside = HashMap::new();
    for i in order {
        let (root, node) = &found[i];
        let inode =
            node.inode().filter(|_| node.is_directory()).map(|inode| inode.identity.on_any_mount());
        let same = inode.and_then(|inode| directories.get(&(&root.host, inode)).copied());
        // Nothing can be at a path that is too long to open.
        let mut above = root.place.ancestors().filter(|above| above.as_os_str().len() <= LONGEST);
        let around = same.or_else(|| {
            above.find_map(|above| {
                let (outer, outer_node) = &found[*known.get(&(&*root.host, above))?];
                let way = root.place.strip_prefix(above).ok()?;
                let start = (&*outer.name, above, *outer_node);
                let (there, _) = listings[outer.snapshot].follow(start, way, &all)?;
                (there.is_directory() == node.is_directory()).then_some(outer.snapshot)
            })
        });
        if let Some(around) = around {
            inside.insert(i, around);
        } else {
            known.insert((&root.host, &root.place), i);
            directories.extend(inode.map(|inode| ((&root.host, inode), root.snapshot)));
        }
    }
    let roots = found.into_iter().map(|(root, _)| root).enumerate();
    roots.map(|(i, root)| JoinedRoot { around: inside.get(&i).copied(), ..root }).collect()
}

/// Names the `roots`: by their given paths; if two have the same, by their real paths; with several hosts, by host
/// and real path.
fn name(roots: &mut [JoinedRoot], are_several_hosts: bool) {
    let mut counts: HashMap<Vec<u8>, usize> = HashMap::new();
    for root in roots.iter().filter(|root| root.around.is_none()) {
        *counts.entry(root.given.clone()).or_default() += 1;
    }
    for root in roots {
        let place = root.place.as_os_str().as_encoded_bytes();
        if are_several_hosts {
            let colon: &[u8] = if root.host.is_empty() { b"" } else { b":" };
            root.name = [&root.host, colon, place].concat();
        } else if counts.get(&root.given).is_some_and(|count| *count > 1) {
            root.name = place.to_vec();
        }
    }
}

/// The roots of each snapshot by name: there may be many, and as many problems.
fn by_name<'r>(snapshots: &[Snapshot], roots: &'r [JoinedRoot]) -> Vec<ByName<'r>> {
    let mut names: Vec<_> = snapshots.iter().map(|_| IndexMap::new()).collect();
    for root in roots {
        names[root.snapshot].entry(&*root.given).or_insert(root);
    }
    names
}

type ByName<'r> = IndexMap<&'r [u8], &'r JoinedRoot>;

/// The problems of all snapshots, except those in a root that is inside another: the outer root has them.
fn problems(snapshots: &mut [Snapshot], names: &[ByName<'_>]) -> Vec<Problem> {
    let mut all = Vec::new();
    for (snapshot, names) in snapshots.iter_mut().zip(names) {
        for mut problem in snapshot.report.problems.drain(..) {
            let root = path::splits(&problem.path).find_map(|(above, _)| names.get(above));
            if let Some(root) = root {
                if root.around.is_some() {
                    continue;
                }
                shares::rename(&mut problem, &root.given, &root.name);
            }
            all.push(problem);
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// The joined origin.
fn origin(snapshots: &[Snapshot], names: &[ByName<'_>], hosts: &[Vec<u8>]) -> Option<Origin> {
    let origins: Vec<_> = snapshots.iter().filter_map(|it| it.origin.as_ref()).collect();
    let mut given = Vec::new();
    for (snapshot, names) in snapshots.iter().zip(names) {
        for root in snapshot.origin.iter().flat_map(|origin| &origin.roots) {
            let joined = match &root.name {
                Some(name) => names.get(&**name),
                None => names.values().next(),
            };
            let name = joined.map(|joined| &joined.name).or(root.name.as_ref()).cloned();
            given.push(GivenRoot { name, ..root.clone() });
        }
    }
    Some(Origin {
        // The age of the oldest snapshot: nothing in the joined tree is certainly newer.
        time: origins.iter().map(|origin| origin.time).min()?,
        host: hosts.first().filter(|_| hosts.len() == 1).cloned().unwrap_or_default(),
        roots: given,
        options: origins.first()?.options.clone(),
        has_details: origins.iter().all(|origin| origin.has_details),
        has_times: origins.iter().all(|origin| origin.has_times),
        lacks_modes: origins.iter().any(|origin| origin.lacks_modes),
        share: None,
    })
}

/// Whether a directory below the node above several roots is the line of a host, like `web1:`. Then its entries are
/// roots, whose names are paths. It is no directory anywhere, and so has no size of its own.
pub(super) fn is_line_of_host(name: &[u8], has_own_size: bool) -> bool {
    name.ends_with(b":") && !has_own_size
}

/// The tree of all `roots` that are not inside another. With several `hosts`, each has a line ([`is_line_of_host`]).
fn tree(
    mut trees: Vec<Option<Tree>>,
    (roots, lacks_roots): (&[JoinedRoot], bool),
    hosts: &[Vec<u8>],
    rules: Option<Rules>,
    inodes: Inodes,
) -> Option<Tree> {
    let kept: Vec<_> = roots.iter().filter(|root| root.around.is_none()).collect();
    let [first, others @ ..] = &kept[..] else { return None };
    if others.is_empty() && hosts.len() == 1 && !lacks_roots {
        let tree = &mut trees[first.snapshot];
        return match first.directory {
            Some(directory) => Some(tree.as_mut()?.detach(directory, &first.name)),
            None => tree.take(),
        };
    }
    let mut replay = Replay::new(Whole { inodes }, 1, rules);
    replay.open();
    // If they are apart, it need not be added up.
    let known = trees.iter().flatten().map(|tree| tree.root().node().sums);
    let above = Node { mode: Mode::DIRECTORY, sums: sum_of_disjoint(known), ..Node::default() };
    for host in hosts {
        let of_host: Vec<_> = kept.iter().filter(|root| root.host == *host).collect();
        // Paths here have no host. Below the line of one, a path from a home directory would look like one from `/`.
        let has_line = hosts.len() > 1
            && of_host.len() > 1
            && !host.is_empty()
            && of_host.iter().all(|root| root.path().starts_with(b"/"));
        if !has_line {
            of_host.iter().for_each(|root| add(&mut replay, &mut trees, root, &root.name));
            continue;
        }
        replay.open();
        of_host.iter().for_each(|root| add(&mut replay, &mut trees, root, root.path()));
        let name = [host, &b":"[..]].concat();
        replay.close(&Node { name: &name, ..above }, Shown::Always);
    }
    Some(replay.finish(&above))
}

/// Adds a root, under `name`, to the directory that is open in `replay`.
fn add(replay: &mut Replay<Whole>, trees: &mut [Option<Tree>], root: &JoinedRoot, name: &[u8]) {
    let Some(tree) = &mut trees[root.snapshot] else { return };
    if let Some(directory) = root.directory {
        replay.graft(tree, directory, name);
    } else if let Some(at) = root.at {
        replay.leaf(&Node { name, ..tree.at(at).node() }, true);
    }
}
