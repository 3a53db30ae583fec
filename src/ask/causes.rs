//! What uses the space of a file system besides the files that a walk saw: what `--df` says.
//!
//! No byte has two causes: a file without a name is not hidden by a mount, and what the file system needs for itself is
//! in no file. What could not be looked at is said.

use std::cmp::Reverse;
use std::ffi::CString;
use std::io;
use std::sync::Arc;

use crate::base::escape::escape;
use crate::base::inode::Identity;
use crate::base::measure::View;
use crate::base::path;
use crate::from::snapshot::{Cause, FileSystem};
use crate::scan::walk::{self, WalkOptions};
use crate::sys::problem::{Problem, reason};
use crate::sys::{self, MountTable, Source, Symlinks, Unseen};
use crate::tree::Sums;
use crate::tree::tally::{Limits, Top};

/// The root of a file system.
struct MountRoot {
    path: CString,
    real_path: Vec<u8>,
    at: Identity,
}

/// Finds the causes on each of these file systems, which were walked with `options` and had these `problems`. Of one
/// whose files were not seen, only what is known without a walk.
pub fn find(file_systems: &mut [FileSystem], options: &WalkOptions, problems: &[Problem]) {
    let roots = file_systems.iter_mut().filter_map(|one| Some((MountRoot::of(one).ok()?, one)));
    let roots: Vec<_> = roots.collect();
    if roots.is_empty() {
        return;
    }
    let mounts = MountTable::read();
    let places: Vec<_> = roots.iter().map(|(root, _)| root.at).collect();
    let no_proc = |_| (Vec::new(), vec!["open files: there is no /proc".to_owned()]);
    let (mut unlinked, unknown) =
        sys::unlinked_files(&places, &options.interrupt).unwrap_or_else(no_proc);
    unlinked.resize(roots.len(), Cause::default());
    for ((root, one), unlinked) in roots.into_iter().zip(unlinked) {
        one.unknown.clone_from(&unknown);
        one.add(unlinked);
        one.add_own(&root, &mounts);
        if one.seen.is_some() {
            one.add_hidden(&root, &mounts, options);
            one.unknown.extend(not_walked(&one.root, options, problems));
        }
        one.causes.sort_by_key(|cause| Reverse(cause.size));
    }
}

/// What a walk of `root` left out or could not read. Nothing is known of a directory that is left out, because it is
/// not entered.
fn not_walked(root: &[u8], options: &WalkOptions, problems: &[Problem]) -> Vec<String> {
    let is_filtered = !options.filter.is_off();
    let lost = problems.iter().filter(|it| it.is_loss() && path::is_within(&it.path, root)).count();
    let lost = (lost > 0).then(|| format!("what could not be read ({lost})"));
    is_filtered.then(|| "what filters leave out".to_owned()).into_iter().chain(lost).collect()
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
            return self.unknown.push("what mounts hide: they are not listed".to_owned());
        }
        if !mounts.is_root_of_all(at.mount, real_path) {
            self.unknown.push("other parts of it: not all of it is mounted here".to_owned());
        }
        let points = mounts.mounted_in(at.mount).filter_map(|(_, it)| path::below(it, real_path));
        let points: Vec<_> = points.filter(|below| !below.is_empty()).collect();
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
        if kind == b"btrfs" && self.seen.is_some() {
            self.unknown.push("subvolumes".to_owned());
        }
        let unknown = match (kind, sys::own_space(&root.path, self.space.size)) {
            (b"tmpfs", _) => return,
            (_, Ok(Some((parts, left_out)))) => return self.divide(parts, left_out),
            (b"overlay", _) => "the file system below this overlay, which has these figures".into(),
            (kind, Ok(None)) => format!("metadata of {}", escape(kind)),
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
