//! Updates the scan after a removal or another scan of a part, so that every figure is the same as in a new scan.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::iter;

use super::marks::{Descents, NamedMarks, descend};
use super::scan::Scan;
use weigh::internal::base::inode::Identity;
use weigh::internal::base::measure::Figures;
use weigh::internal::base::path;
use weigh::internal::show::partial::Partial;
use weigh::internal::tree::sum::Freed;
use weigh::internal::tree::total::{Rules, add_up};
use weigh::internal::tree::{Child, Place, Report};

/// What is gone from a scan, by the path of the directory that it was in.
pub(super) type Gone = BTreeMap<Vec<Vec<u8>>, GoneFrom>;

/// What is gone from a directory.
#[derive(Debug, Default)]
pub(super) struct GoneFrom {
    /// The names of removed entries.
    pub(super) names: BTreeSet<Vec<u8>>,
    /// What the directory comes to by itself now, if that is known.
    pub(super) own: Option<Figures>,
}

impl Scan {
    /// Removes what is `gone` from the tree, and adds up again by `rules`. If the entries were unlinked and not moved,
    /// their inodes have fewer links. Returns the marks on other entries, which must be marked again.
    pub(super) fn follow(&mut self, gone: &Gone, rules: &Rules, are_unlinked: bool) -> NamedMarks {
        let mut named = self.marks.named(&self.tree);
        named.retain(|way, name| gone.get(way).is_none_or(|from| !from.names.contains(name)));
        let mut places: BTreeSet<Place> = BTreeSet::new();
        let mut paths = Vec::new();
        let mut descents = Descents::new(&self.tree);
        for (way, GoneFrom { names, .. }) in gone {
            let Some(directory) = descents.descend(way) else { continue };
            for child in directory.unsorted().filter(|child| names.contains(child.name())) {
                places.extend(child.place());
                if child.id().is_some() {
                    paths.push(child.path());
                }
            }
        }
        let lost = if are_unlinked { self.links_at(&places) } else { HashMap::new() };
        self.tree.remove_all(&places);
        let relinked = self.tree.unlink(&lost, None);
        let mut descents = Descents::new(&self.tree);
        let changed = gone.iter().filter_map(|(way, it)| Some((descents.descend(way)?.id()?, it)));
        let changed: Vec<_> = changed.collect();
        for (id, GoneFrom { own, .. }) in &changed {
            if let Some(own) = own {
                self.tree.set_own(*id, *own);
            }
        }
        let changed = changed.into_iter().map(|(id, _)| id);
        add_up(&mut self.tree, rules, changed.clone().chain(relinked));
        // A scan does not list a directory that a filter leaves out if nothing counts in it.
        let empty = changed.filter_map(|id| {
            let up = iter::successors(Some(self.tree.directory(id)), Child::parent);
            Some(up.take_while(|it| !it.is_root() && it.totals().entries == 0).last()?.id()?.into())
        });
        let empty: BTreeSet<_> = empty.collect();
        if !empty.is_empty() {
            self.tree.remove_all(&empty);
        }
        let is_gone = |it: &[u8]| paths.iter().any(|path| path::is_within(it, path));
        self.exchange_problems(is_gone, Report::default());
        named
    }

    /// Forgets the problems about paths that are gone, and adds those of a new scan.
    fn exchange_problems(&mut self, is_gone: impl Fn(&[u8]) -> bool, new: Report) {
        let Some(browsed) = &mut self.browsed else { return };
        let report = &mut browsed.snapshot.report;
        if new.is_interrupted {
            let before =
                if report.is_interrupted { report.unfinished.take() } else { Some(Vec::new()) };
            let both = before.zip(new.unfinished);
            report.unfinished = both.map(|(before, new)| [before, new].concat());
            report.is_interrupted = true;
        }
        report.problems.retain(|problem| !is_gone(&problem.path));
        report.problems.extend(new.problems);
        report.problems.sort_unstable();
        self.partial = Partial::of(report);
    }

    /// Replaces the directory at the path `way` by the result of its new scan, and adds up again by `rules`. If entries
    /// were unlinked, the inodes of links that are gone have fewer links everywhere. Returns the marks, which must be
    /// marked again.
    ///
    /// None if the totals would be wrong: if the directory is gone or another one, or if one of its inodes has, or had,
    /// links elsewhere.
    pub(super) fn replace(
        &mut self,
        way: &[Vec<u8>],
        mut new: Report,
        rules: &Rules,
        are_unlinked: bool,
    ) -> Option<NamedMarks> {
        let named = self.marks.named(&self.tree);
        let old = descend(&self.tree, way).filter(|old| old.parent().is_some())?;
        let (id, path) = (old.id()?, old.path());
        let tree = new.answer.take().filter(|new| new.root().is_directory())?;
        // Something else may have its name: a mount, or a symlink, which is followed only where a walk begins.
        if let Some((was, is)) = old.inode().zip(tree.root().inode())
            && was.identity != is.identity
        {
            return None;
        }
        // Totals need every link of an inode, and this scan covers only one directory.
        if !Freed::is_apart(&tree, tree.root().id()?) || !Freed::is_apart(&self.tree, id) {
            return None;
        }
        // Another root may lie in it that its walk does not reach.
        let roots = self.tree.roots().map(|root| root.name().to_vec());
        let roots: Vec<_> =
            roots.filter(|root| *root != path && path::is_within(root, &path)).collect();
        let mut lost = match are_unlinked {
            true => self.links_at(&BTreeSet::from([id.into()])),
            false => HashMap::new(),
        };
        let place = self.tree.replace(id, tree);
        if !lost.is_empty() {
            for (inode, left) in self.links_at(&BTreeSet::from([place.into()])) {
                lost.entry(inode).and_modify(|links| *links = links.saturating_sub(left));
            }
            lost.retain(|_, links| *links > 0);
        }
        let relinked = self.tree.unlink(&lost, Some(place));
        add_up(&mut self.tree, rules, relinked.into_iter().chain([place]));
        self.exchange_problems(
            |it| path::is_within(it, &path) && !roots.iter().any(|root| path::is_within(it, root)),
            new,
        );
        Some(named)
    }

    /// The number of links to each inode at `places`.
    fn links_at(&self, places: &BTreeSet<Place>) -> HashMap<Identity, u32> {
        let mut lost = HashMap::new();
        // What counts has its inode only if that has several links.
        let counted = places.iter().flat_map(|place| self.tree.at(*place).counted());
        for inode in counted.filter_map(|(_, inode)| inode) {
            *lost.entry(inode.identity.on_any_mount()).or_default() += 1;
        }
        lost
    }

    /// The names of the innermost scanned directory on the way to the absolute `path`. `roots` has the real path of
    /// each root by its name.
    pub(super) fn way_to(
        &self,
        path: &[u8],
        roots: &HashMap<Vec<u8>, Vec<u8>>,
    ) -> Option<Vec<Vec<u8>>> {
        let ways = roots.iter().filter_map(|(name, real)| {
            let rest = path::below(path, real)?;
            let mut way = vec![name.clone(); self.tree.root_depth()];
            let mut at = descend(&self.tree, &way)?;
            for name in rest.split(|byte| *byte == b'/') {
                let Some(below) = at.directories().find(|child| child.name() == name) else {
                    break;
                };
                way.push(name.to_vec());
                at = below;
            }
            Some((real.len(), way))
        });
        // The innermost of several roots has it.
        ways.max().map(|(_, way)| way)
    }
}
