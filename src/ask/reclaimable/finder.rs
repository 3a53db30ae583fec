//! Decides what can go, of all that was kept: by what is around it, and by the content of files.

use std::cell::{LazyCell, OnceCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::CString;
use std::io::Read;
use std::iter;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use regex::bytes::Regex;

use super::collect::KeptEntry;
use super::expected::Expected;
use super::proof::{Proof, Proofs};
use super::rule::{ReclaimRule, command_for, is_at, pattern};
use super::{Reclaim, Search};
use crate::base::escape::escape;
use crate::base::{parallel, path};
use crate::fs::git::WorkTrees;
use crate::scan::containers::{StorageSearch, usual_storages};
use crate::sys::problem::Problem;
use crate::sys::{self, Handle, Holder, InUse, MountTable, Query, Source, Symlinks, to_path};
use crate::tree::Freeable;

/// No tag that is larger is opened, in bytes; and of a file that is no tag, no more than the start is read.
pub(super) const LARGEST_TAG: u64 = 1 << 16;
const START: u64 = 64;

/// Directories further below the place where a rule joins them stay apart.
const MOST_LEVELS: usize = 32;

/// Finds what can go among `entries`. All are told by their numbers there.
pub(super) struct Finder<'a> {
    proofs: &'a Proofs,
    entries: &'a [KeptEntry],
    problems: &'a [Problem],
    search: &'a Search,
    parents: Vec<Option<usize>>,
    /// The real paths of the roots. A root that is gone meanwhile has none, and nothing to remove; nor has one in the
    /// storage of a container engine. A root comes after all that is in it.
    real: BTreeMap<usize, Option<Vec<u8>>>,
    mounts: MountTable,
    /// Looked for as soon as something is found.
    protected: OnceCell<Protected>,
    /// The paths of the layers of overlays, which may be relative to an unknown directory.
    layers: Vec<Vec<u8>>,
    /// Whether the walk has seen every name that is in the roots.
    has_all_names: bool,
    work_trees: WorkTrees,
    /// The entries that other processes use; none if nobody can tell.
    in_use: &'a LazyCell<Option<InUse>>,
    /// What tags are compared with. Few of them are ever needed.
    patterns: HashMap<&'a str, Option<Regex>>,
}

/// Directories that are never removed: real paths.
struct Protected {
    /// The storages of container engines that are known by their paths.
    storages: Vec<Vec<u8>>,
    /// Home directories.
    homes: Vec<Vec<u8>>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(
        proofs: &'a Proofs,
        entries: &'a [KeptEntry],
        problems: &'a [Problem],
        search: &'a Search,
        in_use: &'a LazyCell<Option<InUse>>,
    ) -> Self {
        let mut parents = vec![None; entries.len()];
        for (number, entry) in entries.iter().enumerate() {
            for child in tops(entries, number - entry.below, number) {
                parents[child] = Some(number);
            }
        }
        let (mounts, mut around) = (MountTable::read(), StorageSearch::default());
        let real = tops(entries, 0, entries.len()).map(|root| {
            let real = sys::real_path(&to_path(&entries[root].name), Symlinks::Follow).ok();
            let real = real.filter(|real| {
                around.around(real.as_os_str().as_encoded_bytes(), 0, &mounts).is_none()
            });
            (root, real.map(|it| path::with_slashes(&it)))
        });
        let real: BTreeMap<_, _> = real.collect();
        // What is mounted may be left out.
        let mut roots = real.values().flatten();
        let has_all_names =
            problems.is_empty() && !roots.any(|root| mounts.paths().any(|at| is_inside(at, root)));
        let real_layer = |layer: Vec<u8>| match sys::real_path(&to_path(&layer), Symlinks::Follow) {
            Ok(real) if layer.starts_with(b"/") => path::with_slashes(&real),
            _ => layer,
        };
        let layers = mounts.layers().map(real_layer).collect();
        Self {
            layers,
            proofs,
            entries,
            problems,
            search,
            parents,
            real,
            mounts,
            protected: OnceCell::new(),
            has_all_names,
            work_trees: WorkTrees::default(),
            in_use,
            patterns: HashMap::new(),
        }
    }

    /// What is found, with directories in place of all that is in them, where rules join them.
    pub(super) fn found(&mut self) -> Vec<Reclaim> {
        /// One thread lists so few: to start others takes time, too.
        const FEW: usize = 50;
        let mut found = Vec::new();
        let mut ranges = vec![Range { start: 0, end: self.entries.len() }];
        while !ranges.is_empty() {
            let outermost = ranges.drain(..).flat_map(|range| self.outermost(range));
            let outermost: Vec<_> = outermost.collect();
            let looked: Vec<_> = match outermost.len() {
                ..FEW => outermost.into_iter().filter_map(looked_at).collect(),
                FEW.. => parallel::collect::<_, _, Vec<_>>(0, outermost, looked_at)
                    .into_iter()
                    .flatten()
                    .collect(),
            };
            // A doubtful directory, and a work tree, say nothing about entries in it that have a proof of their own.
            let open =
                looked.iter().filter(|one| one.unexpected.is_some() || one.rule.is_work_tree());
            ranges.extend(open.map(|one| one.entry - self.entries[one.entry].below..one.entry));
            found.extend(looked);
        }
        // A directory comes before what is in it.
        found.sort_unstable_by_key(|one| Reverse(one.entry));
        self.joined(found)
    }

    /// The entries in a range that rules find, each with its real path: not those inside others that they find.
    fn outermost(&mut self, range: Range<usize>) -> Vec<(Reclaim, Vec<u8>)> {
        let mut found = Vec::new();
        let mut end = range.end;
        while end > range.start {
            let number = end - 1;
            end = number;
            let one = match self.storage(number) {
                Some(storage) => Some(storage),
                None => {
                    let Some(proof) = self.proof_of(number) else { continue };
                    self.reclaim(proof, number)
                }
            };
            end -= self.entries[number].below;
            found.extend(one.and_then(|one| Some((one, self.real_path(number)?))));
        }
        found
    }

    /// The storage of a container engine. Only the engine knows what in it is in use, so that no more than its size can come
    /// free.
    fn storage(&self, number: usize) -> Option<Reclaim> {
        let entry = &self.entries[number];
        let proof = self.proofs.rule(*entry.rules.first()?);
        // Of a root, nothing around it tells.
        if !proof.rule.is_of_engine() || self.parents[number].is_none() {
            return None;
        }
        let size = entry.sums.all.disk;
        Some(Reclaim {
            names: self.names(number)?.into_iter().map(<[u8]>::to_vec).collect(),
            path: path::join_all(self.names(number)?),
            entry: number,
            number: proof.number,
            is_directory: true,
            size,
            frees: Freeable { least: 0, most: size, extents: 0 },
            written: entry.sums.all.newest?,
            command: Some(proof.rule.command.clone()).filter(|command| !command.is_empty()),
            rule: Arc::clone(&proof.rule),
            ..Reclaim::default()
        })
    }

    /// The first rule that matches.
    fn proof_of(&mut self, number: usize) -> Option<&'a Proof> {
        let (proofs, entry) = (self.proofs, &self.entries[number]);
        let is_root = self.parents[number].is_none();
        if entry.rules.is_empty() && !is_root {
            return None;
        }
        let real = self.real_path(number)?;
        let mut rules = entry.rules.clone();
        if is_root {
            // It may have been given by another name, and nothing is beside it.
            let own = names_up(&real).next().unwrap_or_default();
            rules = proofs.finding_root(own, &entry.evidence);
        }
        let mut rules = rules.into_iter().map(|rule| proofs.rule(rule));
        let is_outside = |proof: &Proof| {
            let is_named = |name| proof.rule.outside.iter().any(|one| one.as_bytes() == name);
            !names_up(&real).skip(1).any(is_named)
        };
        rules.find(|proof| {
            is_at(&proof.at, names_up(&real)) && is_outside(proof) && self.is_written(proof, number)
        })
    }

    /// The names on the path of an entry, that of its root first, as given; none if no path can be that long.
    fn names(&self, number: usize) -> Option<Vec<&'a [u8]>> {
        let way = iter::successors(Some(number), |number| self.parents[*number]);
        let way: Vec<_> = way.take(path::LONGEST).collect();
        self.parents[*way.last()?]
            .is_none()
            .then(|| way.into_iter().rev().map(|number| &*self.entries[number].name).collect())
    }

    /// The real path of an entry.
    fn real_path(&self, number: usize) -> Option<Vec<u8>> {
        // The first root after it.
        let root = self.real.range(number..).next()?.1.as_ref()?;
        Some(path::join_all(iter::once(&**root).chain(self.names(number)?.into_iter().skip(1))))
    }

    /// Whether the start of the file that proves it matches, if there is one.
    fn is_written(&mut self, proof: &'a Proof, number: usize) -> bool {
        let ReclaimRule { file, tag, matches, unless, .. } = &*proof.rule;
        let Some(matches) = matches else { return true };
        let Some(mut names) = self.names(number) else { return false };
        let (name, most) = match file {
            true => (names.pop().unwrap_or_default(), u64::MAX),
            false => (tag.as_bytes(), LARGEST_TAG),
        };
        let Some(start) = start_of(&path::join_all(names), name, most) else { return false };
        self.is_match(matches, &start)
            && !unless.as_ref().is_some_and(|unless| self.is_match(unless, &start))
    }

    fn is_match(&mut self, text: &'a str, start: &[u8]) -> bool {
        let regex = self.patterns.entry(text).or_insert_with(|| pattern(text).ok());
        regex.as_ref().is_some_and(|regex| regex.is_match(start))
    }

    fn protected(&self) -> &Protected {
        self.protected.get_or_init(|| {
            let homes: BTreeSet<_> =
                self.search.homes.iter().cloned().chain(sys::user_homes()).collect();
            let storages = usual_storages(&homes, 0, &self.mounts);
            let bytes = homes.iter().map(|home| home.as_os_str().as_encoded_bytes());
            let homes = bytes.filter_map(|home| self.mounts.near_path(home, 0));
            Protected { storages, homes: homes.map(|(real, _)| real).collect() }
        })
    }

    /// What is to be said of an entry that a rule matches; nothing if it is in doubt.
    fn reclaim(&mut self, proof: &Proof, number: usize) -> Option<Reclaim> {
        let (rule, entry) = (&proof.rule, &self.entries[number]);
        let written = self.written(rule, number)?;
        let (path, real) = (path::join_all(self.names(number)?), self.real_path(number)?);
        if !proof.may_go(&entry.evidence) || self.is_unread(&path) {
            return None;
        }
        // A rule may let repositories lie in it, but it is none itself.
        if entry.evidence.may_be_repository(self.proofs) && !rule.is_work_tree() {
            return None;
        }
        // With -x or --skip, what is mounted in it was not seen.
        let is_unknown = self.search.leaves_out_mounts && self.mounts.is_empty();
        if is_unknown || self.mounts.paths().any(|point| path::is_within(point, &real)) {
            return None;
        }
        let whole = self.mounts.with_all_around(&real)?;
        let is_in_trash = |path: &[u8]| !rule.is_final() && names_up(path).any(is_trash);
        if is_in_trash(&real) || is_in_trash(&whole) || self.is_layer(&real) {
            return None;
        }
        let Protected { storages, homes } = self.protected();
        if homes.iter().any(|home| path::is_within(home, &real)) {
            return None;
        }
        let meets = |storage: &[u8]| path::is_within(&real, storage) || is_inside(storage, &real);
        if storages.iter().any(|storage| meets(storage)) {
            return None;
        }
        let at = to_path(&real).into_owned();
        if sys::is_read_only(&at) {
            return None;
        }
        if self.may_be_tracked(&at, number) {
            return None;
        }
        if whole != real {
            let is_stored = StorageSearch::default().around(&whole, 0, &self.mounts).is_some();
            let whole = to_path(&whole);
            let tops = whole.ancestors().skip(1);
            if is_stored || self.work_trees.may_track::<Handle>(&whole, entry.is_directory, tops) {
                return None;
            }
        }
        let at = CString::new(at.into_os_string().into_encoded_bytes()).ok()?;
        let query = Query { owner: true, ..Query::default() };
        let stat = Source::default().stat(&at, Symlinks::Stay, query).ok()?;
        let is_of_root = stat.owner == 0;
        if [&real, &whole].into_iter().any(|path| is_of_system(path, is_of_root)) {
            return None;
        }
        let owner = (stat.owner != sys::user_id())
            .then(|| sys::user_name(stat.owner).unwrap_or_else(|| stat.owner.to_string()));
        let freed = entry.freed();
        let alone = Freeable { least: freed, most: freed, extents: 0 };
        Some(Reclaim {
            names: self.names(number)?.into_iter().map(<[u8]>::to_vec).collect(),
            path,
            entry: number,
            number: proof.number,
            is_directory: entry.is_directory,
            size: entry.sums.all.disk,
            frees: entry.sums.frees.unwrap_or(alone),
            written,
            owner,
            command: command_for(&rule.command, &real),
            doubt: self.doubt(rule, number, &real, stat.owner),
            rule: rule.clone(),
            ..Reclaim::default()
        })
    }

    /// Whether git may track something at the real `path` of an entry. Of the directories around it, the walk knows which
    /// may be the top of a work tree: so most are not opened.
    fn may_be_tracked(&mut self, path: &Path, number: usize) -> bool {
        let Self { proofs, entries, parents, work_trees, has_all_names, .. } = self;
        let mut walked = iter::successors(parents[number], |number| parents[*number]);
        let tops = path.ancestors().skip(1).filter(|_| {
            let is_known = walked.next().filter(|_| *has_all_names);
            is_known.is_none_or(|around| entries[around].evidence.may_be_repository(proofs))
        });
        work_trees.may_track::<Handle>(path, entries[number].is_directory, tops)
    }

    /// Whether the real path `path` may be in a layer of an overlay, or have one in it. Deleting anything there changes
    /// what is mounted.
    fn is_layer(&self, path: &[u8]) -> bool {
        self.layers.iter().any(|layer| {
            if layer.starts_with(b"/") {
                return path::is_within(path, layer) || path::is_within(layer, path);
            }
            // From wherever it was mounted.
            let is_name = |name: &&[u8]| !matches!(*name, b"." | b"..");
            let names: Vec<_> = names_up(layer).filter(is_name).collect();
            let around: Vec<_> = names_up(path).collect();
            !names.is_empty() && around.windows(names.len()).any(|some| some == names)
        })
    }

    /// When it was last written. A project that is worked on needs what it makes.
    fn written(&self, rule: &ReclaimRule, number: usize) -> Option<i64> {
        let used = self.parents[number].filter(|_| !rule.beside.is_empty()).unwrap_or(number);
        self.entries[used].sums.all.newest
    }

    /// Why somebody has to look first before the entry at the `real` path is removed.
    fn doubt(&self, rule: &ReclaimRule, number: usize, real: &[u8], owner: u32) -> Option<String> {
        let is_own = owner == sys::user_id() || self.search.owners.contains(&owner);
        let name = || sys::user_name(owner).unwrap_or_else(|| owner.to_string());
        if rule.is_final() {
            return Some(rule.why.clone()).filter(|why| !why.is_empty());
        }
        if !is_own {
            return Some(format!("belongs to {}", escape(name().as_bytes())));
        }
        if self.parents[number].is_none() {
            return Some("it is a PATH itself".to_owned());
        }
        self.in_use.as_ref()?.within(real).map(Holder::to_string)
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

    /// One for all that a rule finds in a directory with nothing else in it, where the rule says so: a repository of
    /// Maven has a directory for each version of each artifact.
    fn joined(&mut self, mut ahead: Vec<Reclaim>) -> Vec<Reclaim> {
        let mut joined = Vec::new();
        // By directory, which comes after those in it, and by rule.
        let mut waiting: BTreeMap<(usize, usize), Vec<Reclaim>> = BTreeMap::new();
        loop {
            for one in ahead.drain(..) {
                let is_sure = one.doubt.is_none() && !self.search.is_recent(&one);
                let may_be_joined = one.is_directory && is_sure && !one.rule.join.is_empty();
                match self.parents[one.entry].filter(|_| may_be_joined) {
                    Some(parent) => {
                        waiting.entry((parent, one.number)).or_default().push(one);
                    }
                    None => joined.push(one),
                }
            }
            let Some(((directory, _), inside)) = waiting.pop_first() else { return joined };
            match self.in_place_of(directory, &inside) {
                Some(one) => ahead.push(one),
                None => joined.extend(inside),
            }
        }
    }

    /// The directory in place of what was found `inside`, if that is all that is in it.
    fn in_place_of(&mut self, directory: usize, inside: &[Reclaim]) -> Option<Reclaim> {
        let proof = self.proofs.rule(inside.first()?.number);
        let real = self.real_path(directory)?;
        let mut levels = 0..MOST_LEVELS.min(names_up(&real).count());
        let is_joined = levels.any(|level| is_at(&proof.join, names_up(&real).skip(level)));
        let entry = &self.entries[directory];
        let is_all = entry.directories == inside.len() as u64 && proof.may_join(&entry.evidence);
        if is_joined && is_all { self.reclaim(proof, directory) } else { None }
    }
}

/// Adds the entry in something with this `real` path that its rule does not expect; none if nobody can tell.
fn looked_at((mut one, real): (Reclaim, Vec<u8>)) -> Option<Reclaim> {
    if one.is_directory {
        one.unexpected = Expected::of(&one.rule).unexpected_in(&real).ok()?;
        let with = one.unexpected.as_ref().map(|at| format!("with {}", escape(at)));
        one.doubt = with.or(one.doubt);
        // A command would remove that, too.
        one.command = one.command.filter(|_| one.unexpected.is_none());
    }
    Some(one)
}

/// The names on a path, the last one first.
fn names_up(path: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    path.rsplit(|byte| *byte == b'/').filter(|name| !name.is_empty())
}

/// The entries with these numbers that are below no other of them.
fn tops(
    entries: &[KeptEntry],
    first: usize,
    mut end: usize,
) -> impl Iterator<Item = usize> + use<'_> {
    iter::from_fn(move || {
        let top = end.checked_sub(1).filter(|top| *top >= first)?;
        end = top - entries[top].below;
        Some(top)
    })
}

/// Whether `point` is below `directory`.
fn is_inside(point: &[u8], directory: &[u8]) -> bool {
    path::below(point, directory).is_some_and(|below| !below.is_empty())
}

/// Whether a directory of this name is a trash: of the home, of a file system, of another system or a server.
fn is_trash(name: &[u8]) -> bool {
    const NAMES: [&[u8]; 11] = [
        b"Trash",
        b".Trash",
        b".Trashes",
        b"$RECYCLE.BIN",
        b"RECYCLER",
        // Of Synology, QNAP, Samba, Nextcloud and Syncthing.
        b"#recycle",
        b"@Recycle",
        b".recycle",
        b"files_trashbin",
        b".stversions",
        b"lost+found",
    ];
    NAMES.iter().any(|one| one.eq_ignore_ascii_case(name)) || name.starts_with(b".Trash-")
}

/// Whether what is at the real path `path` belongs to the system: its package manager would miss it, and no user's
/// program makes it again.
fn is_of_system(path: &[u8], is_of_root: bool) -> bool {
    let mut names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
    match names.next() {
        // FreeBSD has homes there.
        Some(b"usr") => !matches!(names.next(), Some(b"local" | b"src" | b"home")),
        Some(b"nix" | b"gnu" | b"snap") => true,
        Some(b"opt") => is_of_root,
        _ => false,
    }
}

/// The start of the regular file called `name` in `directory`, if it has at most `most` bytes.
fn start_of(directory: &[u8], name: &[u8], most: u64) -> Option<Vec<u8>> {
    let path = CString::new(to_path(directory).as_os_str().as_encoded_bytes()).ok()?;
    let directory = Source::default().look(&path).ok()?;
    let file = directory.open_file_at(&CString::new(name).ok()?, Symlinks::Stay, most).ok()??;
    let mut start = Vec::new();
    let length = if most == LARGEST_TAG { LARGEST_TAG } else { START };
    file.take(length).read_to_end(&mut start).ok()?;
    Some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_has_directories_of_its_own() {
        for (path, is_of_root, expected) in [
            ("/usr/lib/python3/__pycache__", true, true),
            ("/usr/share/x/node_modules", false, true),
            ("/usr", true, true),
            ("/usr/local/lib/python3/__pycache__", true, false),
            ("/usr/src/p/target", true, false),
            ("/nix/store/1f-python/lib/__pycache__", false, true),
            ("/gnu/store/x", false, true),
            ("/snap/x/1/lib/__pycache__", false, true),
            ("/opt/x/node_modules", true, true),
            ("/opt/x/node_modules", false, false),
            ("/home/u/usr/lib/__pycache__", true, false),
            ("/var/cache/apt", true, false),
            ("/", true, false),
        ] {
            assert_eq!(is_of_system(path.as_bytes(), is_of_root), expected, "{path}");
        }
    }
}
