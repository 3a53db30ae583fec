//! Roots one after the other, each inode under the first that it is met in: as `du -s` does with several.

use std::collections::{HashMap, HashSet};
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use super::roots::Root;
use super::{Progress, WalkOptions, Walked, lock, walk};
use crate::sys::{Identity, MountedIdentity, Query, Symlinks};
use crate::tally::{Closed, Entry, Tally};
use crate::total::Sum;
use crate::tree::Totals;
use crate::weighed::Weighed;

/// What there is to be heard of while roots are weighed.
#[derive(Debug)]
pub enum Event<'a> {
    /// How far the walk of one has come.
    Progress(&'a Progress),
    /// Nothing is on its way.
    Pause,
    /// A root, as given, and what it comes to without what has been counted in another.
    Root(&'a [u8], u64),
}

/// Weighs `roots` one after the other. An inode counts under the first that it is met in, and a root that has been
/// met in another is none; unless every hard link counts. Says what each comes to in `on`, whose error ends it.
pub fn each(
    roots: Vec<OsString>,
    mut options: WalkOptions,
    mut on: impl FnMut(Event<'_>) -> io::Result<()>,
) -> (Weighed<()>, io::Result<()>) {
    if roots.len() > 1 && !options.count_links {
        options.counted = Some(Arc::default());
    }
    let (mut problems, mut is_interrupted, mut said) = (Vec::new(), false, Ok(()));
    for root in roots {
        let Walked { weighed, .. } = walk(vec![root.clone()], options.clone(), Total, |progress| {
            // It will be seen at the end of this root.
            let _ = on(Event::Progress(progress));
        });
        problems.extend(weighed.problems);
        is_interrupted = weighed.is_interrupted;
        said = on(Event::Pause);
        if let (Ok(()), Some(Totals { size, .. })) = (&said, weighed.report) {
            said = on(Event::Root(root.as_bytes(), size));
        }
        if is_interrupted || said.is_err() {
            break;
        }
    }
    (Weighed { report: Some(()), problems, is_interrupted }, said)
}

/// What a root comes to, and nothing else.
struct Total;

impl Tally for Total {
    type Part = ();
    type Report = Totals;

    fn leaf(&self, (): &mut (), _: &Entry<'_>) {}

    fn merge(&self, (): &mut (), (): ()) {}

    fn close(&self, (): &mut (), _: &Closed<'_>, (): ()) {}

    fn finish(&self, root: &Closed<'_>, (): ()) -> Totals {
        root.totals
    }
}

/// What walks have counted that others are not to count again.
#[derive(Debug, Default)]
pub struct Counted(Mutex<Seen>);

/// Guarded by a lock that is taken once a directory. No system call is made under it.
#[derive(Debug, Default)]
struct Seen {
    directories: HashSet<Identity>,
    /// Those that have links which were not met.
    linked: HashSet<MountedIdentity>,
    /// Roots that are no directories.
    files: HashSet<Identity>,
    /// Those of them that have one link: what they weigh, by the directory that this is in.
    in_directories: HashMap<Identity, u64>,
    /// What of those is in a directory that the walk has entered, and so counts in it.
    twice: u64,
}

impl Counted {
    /// Whether the directory `identity` is entered for the first time.
    pub(super) fn enter(&self, identity: Identity) -> bool {
        let mut known = self.known();
        let Seen { directories, in_directories, twice, .. } = &mut *known;
        let is_new = directories.insert(identity);
        *twice = twice.saturating_add(in_directories.remove(&identity).unwrap_or(0));
        is_new
    }

    /// Whether `root` has not been met yet.
    pub(super) fn begin(&self, root: &Root, options: &WalkOptions) -> bool {
        let (stat, identity) = (&root.stat, root.stat.identity());
        if stat.is_directory() {
            return self.enter(identity);
        }
        let path = Path::new(OsStr::from_bytes(root.path.to_bytes()));
        let above = path.parent().filter(|above| !above.as_os_str().is_empty());
        let above = CString::new(above.unwrap_or(Path::new(".")).as_os_str().as_bytes());
        // A symlink that is followed is not where the file is.
        let above = above.ok().filter(|_| !options.follow);
        let stat_of =
            |path: CString| options.source.stat(&path, Symlinks::Follow, Query::default()).ok();
        let above = above.and_then(stat_of).map(|stat| stat.identity());
        let mut known = self.known();
        let is_met = above.is_some_and(|above| known.directories.contains(&above));
        let mount = if options.follow { 0 } else { root.mount.id };
        if is_met || known.linked.contains(&(mount, identity)) || !known.files.insert(identity) {
            return false;
        }
        match above {
            Some(above) if stat.links < 2 => {
                let weight = stat.weight(options.measure);
                let weights = known.in_directories.entry(above).or_default();
                *weights = weights.saturating_add(weight);
            }
            _ => drop(known.linked.insert((mount, identity))),
        }
        true
    }

    /// Leaves out of what a root comes to what has been counted before.
    pub(super) fn leave_out(&self, sum: &mut Sum) {
        let mut known = self.known();
        sum.take_back(mem::take(&mut known.twice));
        sum.keep_links(|identity, has_others| {
            if has_others {
                known.linked.insert(identity)
            } else {
                !known.linked.contains(&identity)
            }
        });
    }

    fn known(&self) -> MutexGuard<'_, Seen> {
        lock(&self.0)
    }
}
