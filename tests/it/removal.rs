//! What is removed through the library, without a screen: a scan, its entries as targets, and what came of each. No other test
//! knows how that is built.
#![cfg(target_os = "linux")]

use std::fs;
use std::io;
use std::num::{NonZeroU32, NonZeroUsize};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use weigh::internal::ask::{self, Input, Keep, Request};
use weigh::internal::base::measure::Time;
use weigh::internal::remove::{self as removal, Trashed};
use weigh::internal::sys::{self, Source};
use weigh::internal::tree::tally::Inodes;
use weigh::internal::tree::{Place, Tree};

use crate::denied::{without_room, without_safe_move};
use crate::fixture::Fixture;

pub use weigh::internal::remove::{
    Consent, Fate, Manner, ProtectedPaths, RemovalEvent, RemovalStep, Removed, Target,
    TargetOutcome, UserDirectories, look, undo,
};
pub use weigh::internal::sys::{HeldDirectory, to_path};

/// Removes `targets`, as somebody who typed how many entries these are.
pub fn remove(
    targets: &[Target],
    manner: Manner,
    directories: &UserDirectories,
    on_event: &mut dyn FnMut(RemovalEvent<'_>) -> ControlFlow<()>,
) -> Removed {
    let entries: u64 = targets.iter().map(|target| target.totals.0).sum();
    let consent = Consent::typed(entries, &entries.to_string()).unwrap();
    removal::remove(targets, manner, consent, directories, on_event)
}

/// All that is at `roots`.
fn scan<'r>(roots: impl IntoIterator<Item = &'r Path>) -> Tree {
    scan_from(Source::Native, roots)
}

fn scan_from<'r>(source: Source, roots: impl IntoIterator<Item = &'r Path>) -> Tree {
    let keep = Keep::Everything(Inodes::FINGERPRINTS);
    let roots = Input::Roots(roots.into_iter().map(Into::into).collect());
    let mut request = Request { source: roots, keep, ..Request::default() };
    request.walk.source = source;
    let browsed = ask::browse(&request, Arc::default(), |_| {}).unwrap();
    browsed.snapshot.report.answer.unwrap()
}

/// Every entry at `roots` and below, by its path: reviewed, or why it must not be removed. What `protected` names is not.
pub fn reviewed(
    roots: &[PathBuf],
    protected: &Arc<ProtectedPaths>,
) -> Vec<(PathBuf, io::Result<Target>)> {
    let tree = scan(roots.iter().map(PathBuf::as_path));
    let (mut all, mut ahead) = (Vec::<(PathBuf, Place)>::new(), vec![tree.root()]);
    while let Some(child) = ahead.pop() {
        let path = sys::into_path(child.path());
        all.extend(child.place().filter(|_| path.is_absolute()).map(|place| (path, place)));
        ahead.extend(child.unsorted());
    }
    let root = |name: &[u8]| to_path(name).canonicalize().ok();
    let places = all.iter().map(|(_, place)| *place);
    let targets = removal::targets(&tree, places, root, protected);
    let looked = all.into_iter().zip(targets).map(|((path, place), target)| {
        let looked = target.and_then(|mut target| {
            look(&mut target)?;
            Ok(target.with_content(&tree, place))
        });
        (path, looked)
    });
    looked.collect()
}

/// A scan of a fixture, and what would be deleted of it.
pub struct Scanned {
    top: PathBuf,
    home: PathBuf,
    tree: Tree,
    pub directories: UserDirectories,
}

impl Scanned {
    /// Of all in `top`, with a home directory at `home`.
    pub fn new(top: &Path, home: &Path) -> Self {
        let tree = scan([top]);
        let home = home.to_owned();
        let directories = UserDirectories::of(|name| (name == "HOME").then(|| home.clone()));
        Self { top: top.to_owned(), tree, home, directories }
    }

    /// The directory `tree` of `fixture`, with a home directory beside it.
    pub fn of(fixture: &Fixture) -> Self {
        Self::new(&fixture.at("tree"), &fixture.at("home"))
    }

    /// The same, scanned by a source that cannot tell mounts.
    pub fn by_paths(fixture: &Fixture) -> Self {
        let tree = scan_from(Source::Portable, [&*fixture.at("tree")]);
        Self { tree, ..Self::of(fixture) }
    }

    fn place(&self, name: &str) -> Place {
        let mut at = self.tree.root();
        for name in name.split('/') {
            at = at.unsorted().find(|child| child.name() == name.as_bytes()).unwrap();
        }
        at.place().unwrap()
    }

    /// The entries of these names, as targets that have been reviewed.
    pub fn targets(&self, names: &[&str]) -> Vec<Target> {
        let mut targets = self.unreviewed(names);
        targets.iter_mut().for_each(|target| look(target).unwrap());
        targets
    }

    /// The same, but not reviewed.
    pub fn unreviewed(&self, names: &[&str]) -> Vec<Target> {
        let places: Vec<_> = names.iter().map(|name| self.place(name)).collect();
        let targets = self.targets_at(&places).into_iter().map(Result::unwrap);
        let whole = |(target, place): (Target, &Place)| target.with_content(&self.tree, *place);
        targets.zip(&places).map(whole).collect()
    }

    /// The entry of this name as a target, if it may be one.
    pub fn target(&self, name: &str) -> io::Result<Target> {
        self.targets_at(&[self.place(name)]).remove(0)
    }

    /// What was scanned itself, which is no target.
    pub fn root(&self) -> Vec<io::Result<Target>> {
        self.targets_at(&[self.tree.root().place().unwrap()])
    }

    fn targets_at(&self, places: &[Place]) -> Vec<io::Result<Target>> {
        let root = |_: &[u8]| Some(self.top.clone());
        removal::targets(&self.tree, places.to_vec(), root, &self.protected())
    }

    fn protected(&self) -> Arc<ProtectedPaths> {
        let (roots, homes) = (vec![self.top.clone()], vec![self.home.clone()]);
        Arc::new(ProtectedPaths { roots, homes, working: None })
    }

    /// Moves the entry called `name` into the trash.
    pub fn trash(&self, name: &str) -> Box<Trashed> {
        let mut nothing = |_: RemovalEvent<'_>| ControlFlow::Continue(());
        let targets = self.targets(&[name]);
        let removed = remove(&targets, Manner::Trash, &self.directories, &mut nothing);
        let Fate::Trashed(trashed) = one(removed).fate else { panic!() };
        trashed
    }

    pub fn delete(&self, names: &[&str]) -> Removed {
        self.delete_with(&self.targets(names), |_| ControlFlow::Continue(()))
    }

    pub fn delete_with(
        &self,
        targets: &[Target],
        mut watch: impl FnMut(RemovalEvent<'_>) -> ControlFlow<()>,
    ) -> Removed {
        remove(targets, Manner::Delete, &self.directories, &mut watch)
    }

    /// The same on a file system that has no room for a private directory.
    pub fn delete_without_room(
        &self,
        targets: &[Target],
        watch: impl FnMut(RemovalEvent<'_>) -> ControlFlow<()> + Send,
    ) -> Removed {
        // The log has to be there.
        fs::create_dir_all(self.directories.log().unwrap().parent().unwrap()).unwrap();
        without_room(|| self.delete_with(targets, watch))
    }

    /// The same, or into the trash, on a file system that has no move that never replaces.
    pub fn remove_without_safe_move(
        &self,
        targets: &[Target],
        manner: Manner,
        mut watch: impl FnMut(RemovalEvent<'_>) -> ControlFlow<()> + Send,
    ) -> Removed {
        without_safe_move(|| remove(targets, manner, &self.directories, &mut watch))
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.directories.log().unwrap()).unwrap_or_default()
    }
}

/// The outcome of the only target.
pub fn one(removed: Removed) -> TargetOutcome {
    assert_eq!(removed.left, []);
    assert_eq!(removed.unlogged, None);
    let [outcome] = <[TargetOutcome; 1]>::try_from(removed.outcomes).unwrap();
    outcome
}

/// Each entry at `root` after a scan by one thread that was stopped in the middle: how many entries go with it, as far
/// as is known, and why it must not be removed, if there is a reason.
pub fn stopped(root: &Path) -> Vec<(u64, Option<String>)> {
    let source = Input::Roots(vec![root.into()]);
    let keep = Keep::Everything(Inodes::FINGERPRINTS);
    let mut request = Request { source, keep, ..Request::default() };
    request.walk.rules.time = Some(Time::Modified);
    request.walk.threads = NonZeroUsize::new(1);
    // So that it goes on when it is looked at for the first time.
    request.walk.rate = NonZeroU32::new(500);
    let stop = Arc::clone(&request.interrupt.is_asked);
    let stopped = ask::browse(&request, Arc::default(), |_| stop.store(true, Ordering::SeqCst));
    let tree = stopped.unwrap().snapshot.report.answer.unwrap();
    let places: Vec<_> = tree.root().unsorted().filter_map(|child| child.place()).collect();
    let top = |_: &[u8]| Some(root.to_owned());
    let targets = removal::targets(&tree, places, top, &Arc::default());
    let looked = targets.into_iter().map(|target| {
        let mut target = target.unwrap();
        let refusal = look(&mut target).err().map(|why| why.to_string());
        (target.totals.0, refusal)
    });
    looked.collect()
}
