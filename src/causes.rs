//! What uses the space of a file system besides the files that a walk saw: what `--df` says.
//!
//! No byte has two causes: a file without a name is not hidden by a mount, and what the file system needs for itself is
//! in no file. What could not be looked at is said.

use std::cmp::Reverse;
use std::ffi::{CString, OsString};
use std::io;
use std::mem;
use std::sync::Arc;

use crate::inode::Identity;
use crate::measure::View;
use crate::path;
use crate::problem::{Problem, reason};
use crate::snapshot::{Cause, FileSystem};
use crate::sys::{self, MountTable, Source, Symlinks, Unlinked, UnlinkedFiles, Unseen};
use crate::tally::{Limits, Top};
use crate::tree::{Sums, Tree};
use crate::walk::{self, WalkOptions};

/// The root of a file system.
struct Root {
    path: CString,
    real_path: Vec<u8>,
    at: Identity,
}

/// Finds the causes on each of these file systems, which were walked with `options` and had these `problems`.
pub fn find(file_systems: &mut [FileSystem], options: &WalkOptions, problems: &[Problem]) {
    let roots: Vec<_> = file_systems.iter().map_while(|one| Root::of(one).ok()).collect();
    if roots.is_empty() {
        return;
    }
    let mounts = MountTable::read();
    let places: Vec<_> = roots.iter().map(|root| root.at).collect();
    let mut unlinked = sys::unlinked_files(&places, &options.interrupt);
    for (i, (one, root)) in file_systems.iter_mut().zip(&roots).enumerate() {
        one.add_deleted(&mut unlinked, i);
        one.add_hidden(root, &mounts, options);
        one.add_own(root, &mounts);
        one.add_filtered(options);
        let lost = problems.iter().filter(|problem| problem.is_loss());
        match lost.filter(|problem| path::is_within(&problem.path, &one.root)).count() {
            0 => {}
            lost => one.unknown.push(format!("what could not be read ({lost})")),
        }
        one.causes.sort_by_key(|cause| Reverse(cause.size));
    }
}

impl Root {
    fn of(one: &FileSystem) -> io::Result<Self> {
        let path = CString::new(&*one.root)?;
        let at = Source::default().look(&path)?.mounted_identity()?;
        let real_path = sys::real_path(&sys::to_path(&one.root), Symlinks::Follow)?;
        Ok(Self { path, real_path: real_path.into_os_string().into_encoded_bytes(), at })
    }
}

impl FileSystem {
    /// Adds what processes hold open that has no name: what was found on the file system with this `number`.
    fn add_deleted(&mut self, found: &mut io::Result<Unlinked>, number: usize) {
        let Ok(Unlinked { by_root, is_refused, has_unlisted }) = found else {
            return self.unknown.push("open files: there is no /proc".to_owned());
        };
        let UnlinkedFiles { count, size, files } = mem::take(&mut by_root[number]);
        self.add("deleted but open", size, Some(count), files);
        if *is_refused {
            self.unknown.push("some processes (Permission denied)".to_owned());
        }
        if *has_unlisted {
            self.unknown.push("processes that /proc does not list".to_owned());
        }
    }

    /// Adds what lies below mount points, under what is mounted there. An inode that also has a name outside was seen.
    fn add_hidden(&mut self, root: &Root, mounts: &MountTable, options: &WalkOptions) {
        let Root { path, real_path, at } = root;
        if !mounts.is_root_of_all(at.mount, real_path) {
            self.unknown.push("other parts of it: not all of it is mounted here".to_owned());
        }
        let points = mounts.points_in(at.mount, real_path);
        if points.is_empty() {
            return;
        }
        let (_open, clone) = match sys::clone_mount(path) {
            Ok(clone) => clone,
            Err(error) => {
                let (mounts, why) = (points.len(), reason(&error));
                return self.unknown.push(format!("what mounts hide ({mounts}: {why})"));
            }
        };
        let below = |point: &Vec<u8>| sys::into_path(path::join_all([&*clone, point])).into();
        let Some(tree) = weighed(points.iter().map(below).collect(), options) else { return };
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
        self.add("hidden under mounts", size, Some(files), parts);
    }

    /// Adds what the file system needs for itself.
    fn add_own(&mut self, root: &Root, mounts: &MountTable) {
        let kind = mounts.file_system_type(root.at.mount).unwrap_or_default();
        let unknown = match (kind, sys::own_space(&root.path, self.space.size)) {
            (b"tmpfs", _) => return,
            (_, Ok(Some((parts, left_out)))) => return self.divide(parts, left_out),
            (b"overlay", _) => "the file system below this overlay, which has these figures".into(),
            (kind, Ok(None)) => format!("metadata of {}", String::from_utf8_lossy(kind)),
            (_, Err(error)) => format!("metadata ({})", reason(&error)),
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
        let size = used.iter().filter_map(|part| part.size).sum();
        self.add("metadata", size, None, used);
    }

    /// Adds what filters left out: what a walk without them finds besides.
    fn add_filtered(&mut self, options: &WalkOptions) {
        if options.filter.is_off() {
            return;
        }
        let root = sys::into_path(self.root.clone()).into();
        let all = weighed(vec![root], options).map(|tree| tree.root().size());
        let size = all.zip(self.seen).map(|(all, seen)| all.saturating_sub(seen));
        self.add("left out by filters", size.unwrap_or(0), None, Vec::new());
    }

    fn add(&mut self, name: &'static str, size: u64, files: Option<u64>, parts: Vec<Unseen>) {
        if size > 0 || files.is_some_and(|files| files > 0) {
            self.causes.push(Cause { name, size, files, parts });
        }
    }
}

/// What a walk of `roots` finds without filters, on their file system: the totals of the roots.
fn weighed(roots: Vec<OsString>, options: &WalkOptions) -> Option<Tree> {
    let WalkOptions { threads, source, ref interrupt, .. } = *options;
    let interrupt = Arc::clone(interrupt);
    let options =
        WalkOptions { threads, source, interrupt, one_file_system: true, ..WalkOptions::default() };
    let limits = Limits { depth: 0, lines: 0, roots: roots.len(), ..Limits::NONE };
    walk::walk(roots, options, Top::new(View::default(), limits), |_| ()).weighed.report
}
