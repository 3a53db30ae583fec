//! The uses of space on a file system besides the files that a scan saw, for `weigh df`. Some of them are known at once, and
//! the rest after the scan.
//!
//! No byte has two causes: a file without a name is not hidden by a mount, and what the file system needs for itself is
//! in no file. What could not be looked at is said.

use std::cmp::Reverse;
use std::ffi::CString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::{io, iter, mem};

use crate::ask::{Input, Request};
use crate::base::escape::escape;
use crate::base::inode::Identity;
use crate::base::measure::View;
use crate::base::path;
use crate::from::remote::ToldSpaces;
use crate::from::snapshot::{self, Around, Cause, FileSystem, Unknown};
use crate::scan::walk::{self, WalkOptions};
use crate::sys::problem::Problem;
use crate::sys::{self, MountTable, Source, Symlinks, UnlinkedFiles, Unseen};
use crate::tree::Sums;
use crate::tree::tally::{Limits, Top};

/// The root of a file system.
struct MountRoot {
    path: CString,
    real_path: Vec<u8>,
    at: Identity,
}

/// How full the file systems around the PATHs of `request` are, which are scanned then in place of these PATHs; or without a
/// PATH, how full all that are mounted are. Waits until other machines have answered.
pub fn at_once(request: &mut Request) -> AtOnce {
    let (told, paths) = match &mut request.source {
        Input::Roots(paths) => (ToldSpaces::default(), paths),
        Input::Remote(remote, paths) => (remote.call_about_space(), paths),
        Input::FileSystems => {
            // If this fails, so it does in the answer.
            let (file_systems, unread) = snapshot::mounted().unwrap_or_default();
            request.unread = unread;
            return AtOnce { file_systems, ..AtOnce::default() };
        }
        Input::Files(..) | Input::History(..) => return AtOnce::default(),
    };
    let mut around = Around::of(paths);
    *paths = mem::take(&mut around.roots);
    if let Input::Remote(remote, paths) = &mut request.source
        && remote.hosts.is_empty()
    {
        request.source = Input::Roots(mem::take(paths));
    }
    request.unread = around.unread;
    request.unread.extend(told.unread);
    request.known.clone_from(&told.file_systems);
    AtOnce {
        file_systems: around.file_systems.into_iter().chain(told.file_systems).collect(),
        inside: around.inside.into_iter().chain(told.inside).collect(),
        without_inodes: told.without_inodes,
    }
}

/// Everything that is known before a scan.
#[derive(Debug, Default)]
pub struct AtOnce {
    /// The file systems.
    pub file_systems: Vec<FileSystem>,
    /// Each PATH that is no mount point, and the mount point of its file system.
    pub inside: Vec<(Vec<u8>, Vec<u8>)>,
    /// The machines whose programs know no inodes.
    pub without_inodes: Vec<Vec<u8>>,
}

/// Finds what is known without a scan on each of these file systems: the files that are deleted and still open. On those
/// that may not answer, nobody looks.
pub fn find_deleted(file_systems: &mut [FileSystem], is_stopped: &AtomicBool) {
    let near = file_systems.iter_mut().filter(|one| one.is_near);
    let mut roots: Vec<_> = near.filter_map(|one| Some((MountRoot::of(one).ok()?, one))).collect();
    if roots.is_empty() {
        return;
    }
    let places: Vec<_> = roots.iter().map(|(root, _)| root.at).collect();
    let (causes, unknown) = match sys::unlinked_files(&places, is_stopped) {
        Ok(found) => {
            let unknown = unseen_processes(&found);
            (found.causes, unknown)
        }
        Err(_) => (Vec::new(), vec![Unknown::because("open files", "there is no /proc")]),
    };
    let causes = causes.into_iter().map(Some).chain(iter::repeat(None));
    for ((_, one), cause) in roots.iter_mut().zip(causes) {
        one.unseen_processes.clone_from(&unknown);
        one.add(cause.unwrap_or_default());
    }
}

/// The processes that could not be looked at.
fn unseen_processes(found: &UnlinkedFiles) -> Vec<Unknown> {
    let name = if sys::is_root() { "some processes" } else { "other users' processes" };
    let unread = found.unread.as_ref().map(|error| Unknown::failed(name, error));
    let unlisted = (!found.lists_all).then(|| Unknown::new("processes that /proc does not list"));
    unread.into_iter().chain(unlisted).collect()
}

/// Finds the causes on each of these file systems, which were scanned with `options` and had these `problems`.
pub fn find(file_systems: &mut [FileSystem], options: &WalkOptions, problems: &[Problem]) {
    find_deleted(file_systems, &options.interrupt);
    let mounts = MountTable::read();
    for one in file_systems {
        let Ok(root) = MountRoot::of(one) else { continue };
        one.add_own(&root, &mounts);
        one.add_hidden(&root, &mounts, options);
        one.unknown.extend(not_walked(&one.root, options, problems));
        one.causes.sort_by_key(|cause| Reverse(cause.size));
    }
}

/// The entries that a scan of `root` left out or could not read. Nothing is known of a directory that is left out, because
/// it is not entered.
fn not_walked(root: &[u8], options: &WalkOptions, problems: &[Problem]) -> Vec<Unknown> {
    let is_within = |it: &&Problem| it.is_loss() && path::is_within(&it.path, root);
    let lost: Vec<_> = problems.iter().filter(is_within).collect();
    let entries = match lost.len() {
        1 => "1 unreadable entry".to_owned(),
        count => format!("{count} unreadable entries"),
    };
    let are_alike = lost.iter().all(|it| it.message == lost[0].message);
    let lost = lost.first().map(|first| match are_alike {
        true => {
            let needs_root = first.is_denied() && !sys::is_root();
            Unknown { needs_root, ..Unknown::because(entries, &*first.message) }
        }
        false => Unknown::because(entries, "they could not be read"),
    });
    let is_filtered = !options.filter.is_off();
    let filtered = is_filtered.then(|| Unknown::new("files that a filter leaves out"));
    filtered.into_iter().chain(lost).collect()
}

impl MountRoot {
    fn of(one: &FileSystem) -> io::Result<Self> {
        let path = CString::new(&*one.root)?;
        let at = Source::default().look(&path)?.mounted_identity()?;
        let real_path = sys::real_path(&sys::to_path(&one.root), Symlinks::Follow)?;
        Ok(Self { path, real_path: real_path.into_os_string().into_encoded_bytes(), at })
    }
}

impl FileSystem {
    /// Adds what lies below mount points, under what is mounted there. An inode that also has a name outside was seen.
    fn add_hidden(&mut self, root: &MountRoot, mounts: &MountTable, options: &WalkOptions) {
        let MountRoot { path, real_path, at } = root;
        if mounts.is_empty() {
            let unknown = Unknown::because("files under mounts", "mounts are not listed");
            return self.unknown.push(unknown);
        }
        if !mounts.is_root_of_all(at.mount, real_path) {
            self.unknown
                .push(Unknown::because("other parts of it", "not all of it is mounted here"));
        }
        let points = mounts.mounted_in(at.mount).filter_map(|(_, it)| path::below(it, real_path));
        let points: Vec<_> = points.filter(|below| !below.is_empty()).collect();
        if points.is_empty() {
            return;
        }
        let (_open, clone) = match sys::clone_mount(path) {
            Ok(clone) => clone,
            Err(error) => {
                let mounts = match points.len() {
                    1 => "files under 1 mount".to_owned(),
                    count => format!("files under {count} mounts"),
                };
                return self.unknown.push(Unknown::failed(mounts, &error));
            }
        };
        let below = |point: &&[u8]| sys::into_path(path::join_all([&*clone, point])).into();
        let WalkOptions { threads, source, ref interrupt, .. } = *options;
        let interrupt = Arc::clone(interrupt);
        let options = WalkOptions {
            threads,
            source,
            interrupt,
            one_file_system: true,
            ..WalkOptions::default()
        };
        let limits = Limits { depth: 0, lines: 0, roots: points.len(), ..Limits::NONE };
        let top = Top::new(View::default(), limits);
        let walked = walk::walk(points.iter().map(below).collect(), options, top, |_| ());
        let Some(tree) = walked.report.answer else { return };
        let unseen = |Sums { all, shared, .. }: Sums| {
            (all.disk.saturating_sub(shared.disk), all.files.saturating_sub(shared.files))
        };
        let parts = tree.roots().map(|root| {
            let below = path::below(root.name(), &clone).unwrap_or_default();
            Unseen::of(path::join_all([path.to_bytes(), below]), unseen(root.node().sums).0)
        });
        let mut parts: Vec<_> = parts.collect();
        parts.sort_unstable_by(|one, other| (other.size, &one.name).cmp(&(one.size, &other.name)));
        let (size, files) = unseen(tree.root().node().sums);
        self.add(Cause { name: "hidden under mounts", size, shared: 0, files: Some(files), parts });
    }

    /// Adds what the file system needs for itself.
    fn add_own(&mut self, root: &MountRoot, mounts: &MountTable) {
        let kind = mounts.file_system_type(root.at.mount).unwrap_or_default();
        if kind == b"btrfs" {
            self.unknown.push(Unknown::new("subvolumes"));
        }
        let unknown = match (kind, sys::own_space(&root.path, self.space.size)) {
            (b"tmpfs", _) => return,
            (_, Ok(Some((parts, left_out)))) => return self.divide(parts, left_out),
            (b"overlay", _) => {
                Unknown::because("the file system below this overlay", "these are its figures")
            }
            (kind, Ok(None)) => {
                Unknown::because("metadata", format!("{} does not tell", escape(kind)))
            }
            (_, Err(error)) => Unknown::failed("metadata", &error),
        };
        self.unknown.push(unknown);
    }

    /// Adds these `parts`, of which df leaves so many bytes out of its size: the first ones.
    fn divide(&mut self, parts: Vec<Unseen>, mut left_out: u64) {
        let mut used = Vec::new();
        for Unseen { name, size, .. } in parts {
            let size = size.unwrap_or(0);
            let out = left_out.min(size);
            left_out -= out;
            self.left_out.extend((out > 0).then(|| Unseen::of(&*name, out)));
            used.extend((size > out).then(|| Unseen::of(name, size - out)));
        }
        used.sort_by_key(|part| Reverse(part.size));
        self.left_out.sort_by_key(|part| Reverse(part.size));
        let size = used.iter().filter_map(|part| part.size).sum();
        self.add(Cause { name: "metadata", size, parts: used, ..Cause::default() });
    }

    fn add(&mut self, cause: Cause) {
        if cause.size > 0 || cause.files.is_some_and(|files| files > 0) {
            self.causes.push(cause);
        }
    }
}
