//! The entries in the user's trash, for `clean --empty-trash`: found without rules, by one complete look that keeps the
//! evidence. An entry goes with its info file.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::iter;
use std::path::Path;
use std::sync::Arc;

use super::evidence::{EVIDENCE, Evidence};
use super::{Reclaim, ReclaimRule, Reclaimable, Search, is_on_sharing, largest_first};
use crate::ask::{Keep, Now, Outcome, Request, Watch};
use crate::base::escape::escape;
use crate::base::inode::Identity;
use crate::base::measure::DAY;
use crate::base::path;
use crate::from::snapshot::Snapshot;
use crate::remove::{self, ASIDE, INFO, UserDirectories};
use crate::sys::problem::{Operation, Problem};
use crate::sys::{self, Symlinks};
use crate::tree::sum::Freed;
use crate::tree::tally::Whole;
use crate::tree::{Child, Freeable, Report, Tree};

impl Request {
    /// Finds the entries in the user's trash on the file systems of `paths`.
    pub(in crate::ask) fn in_trash(
        &self,
        search: &Search,
        directories: &UserDirectories,
        paths: &[OsString],
        watch: Watch<'_>,
    ) -> Outcome {
        let (mut trashes, mut refused, mut unread) = (BTreeMap::new(), BTreeSet::new(), Vec::new());
        for path in paths {
            let real = sys::real_path(Path::new(path), Symlinks::Follow);
            let found = real.and_then(|real| remove::trashes_around(&real, directories));
            match found {
                Ok((found, others)) => {
                    trashes.extend(found);
                    refused.extend(others);
                }
                Err(error) => {
                    let path = path.as_encoded_bytes().to_vec();
                    unread.push(Problem::new(path, Operation::Stat, &error));
                }
            }
        }
        let (mut snapshot, mut stats) = (Snapshot::default(), Default::default());
        if !trashes.is_empty() {
            let roots: Vec<_> =
                trashes.keys().map(|path| sys::into_path(path.clone()).into()).collect();
            let request = Self { keep: Keep::Everything(EVIDENCE), ..self.clone() };
            let tally = Whole { inodes: EVIDENCE };
            let part = |tree| (tree, None::<()>);
            Now { snapshot, stats, .. } =
                request.walked(&roots, self.walk.view, tally, part, watch);
        }
        let Report { answer, problems, is_interrupted, .. } = &mut snapshot.report;
        problems.extend(unread);
        problems.sort_unstable();
        let tree = answer.get_or_insert_default();
        let mut found = Reclaimable { home: search.homes.first().cloned(), ..Default::default() };
        if !*is_interrupted {
            found.take_trashes(tree, &trashes, search);
        }
        found.refused.extend(refused);
        Outcome { snapshot, reclaimable: Some(found), stats, ..Outcome::default() }
    }
}

impl Reclaimable {
    /// Takes the entries of these trash directories, which are the roots of `tree`.
    fn take_trashes(
        &mut self,
        tree: &Tree,
        trashes: &BTreeMap<Vec<u8>, Identity>,
        search: &Search,
    ) {
        let rule = Arc::new(ReclaimRule {
            name: "trash".to_owned(),
            what: "trash".to_owned(),
            hand: "you moved it into the trash".to_owned(),
            doc: "https://specifications.freedesktop.org/trash-spec/latest/".to_owned(),
            ..ReclaimRule::default()
        });
        let reclaim = |child: Child<'_>, since: i64| Reclaim {
            path: child.path(),
            names: child.names().into_iter().map(<[u8]>::to_vec).collect(),
            is_directory: child.is_directory(),
            size: child.size(),
            frees: Freeable { least: child.freed(), most: child.freed(), extents: 0 },
            written: since,
            rule: Arc::clone(&rule),
            ..Reclaim::default()
        };
        let changed = |child: &Child<'_>| {
            child.inode().and_then(|inode| inode.details).map_or(0, |details| details.changed)
        };
        let (mut looked, mut infos_at) = (Vec::new(), BTreeSet::new());
        for root in tree.roots() {
            // A symlink in its place would have led elsewhere.
            let known = trashes.get(root.name()).copied();
            if root.inode().map(|inode| inode.identity.on_any_mount()) != known {
                let path = escape(root.name());
                self.refused.push(format!("the trash {path} is left alone: it was replaced"));
                continue;
            }
            let inside = |name: &[u8]| root.directories().find(|it| it.name() == name);
            let entry_of = |info: &Child<'_>| {
                let name = info.name();
                match info.is_directory() {
                    // weigh was killed while it deleted an info file.
                    true => name.starts_with(ASIDE.as_bytes()).then(|| name.to_vec()),
                    false => Some(name.strip_suffix(INFO.as_bytes())?.to_vec()),
                }
            };
            let infos = inside(b"info").into_iter().flat_map(Child::unsorted);
            let mut infos: BTreeMap<_, _> =
                infos.filter_map(|info| Some((entry_of(&info)?, info))).collect();
            for child in inside(b"files").into_iter().flat_map(Child::unsorted) {
                let info = infos.remove(child.name());
                let since = info.as_ref().map_or_else(|| changed(&child), &changed);
                looked.push(reclaim(child, since));
                if let Some(info) = info {
                    infos_at.insert(looked.len());
                    looked.push(reclaim(info, since));
                }
            }
            // A program writes the info file first, and then moves the entry. After a day, none will come.
            let at = |name: &[u8]| path::join_all([root.name(), b"files", name]);
            let (hidden, left): (Vec<_>, Vec<_>) =
                infos.into_iter().partition(|(name, _)| sys::exists(&sys::to_path(&at(name))));
            let hidden = hidden.into_iter().map(|(name, _)| escape(&at(&name)));
            self.refused.extend(hidden.map(|path| {
                format!("{path} is left alone: it is new, or something is mounted on it")
            }));
            let left = left.into_iter().map(|(_, info)| info);
            let left = left.filter(|info| changed(info) < sys::now() - DAY);
            looked.extend(left.map(|info| reclaim(info, changed(&info))));
        }
        let in_use = sys::in_use().ok();
        self.unseen = in_use.as_ref().map_or(0, |in_use| in_use.unseen);
        Evidence::new(tree, &looked, search, in_use.as_ref()).examine(&mut looked);
        let mut all: Vec<Reclaim> = Vec::new();
        for (number, one) in looked.into_iter().enumerate() {
            // An info file comes right after its entry.
            match all.last_mut().filter(|_| infos_at.contains(&number)) {
                Some(entry) => entry.take_info(one),
                None => all.push(one),
            }
        }
        all.sort_by(largest_first);
        (self.others, self.found) = all.into_iter().partition(|one| one.doubt.is_some());
        let mut freed = Freed::default();
        for checked in self.found.iter().filter_map(|one| one.checked.as_ref()) {
            let all = iter::once(checked).chain(checked.info.as_deref());
            all.for_each(|it| freed.mark(tree, it.place));
        }
        self.frees = freed.freed(false);
        self.by_kind.insert(rule.what.clone(), self.frees);
        self.may_share = self.found.iter().any(|one| is_on_sharing(&one.path));
    }
}

impl Reclaim {
    /// Takes its info file, which goes with it.
    fn take_info(&mut self, info: Self) {
        self.size += info.size;
        self.frees.least += info.frees.least;
        self.frees.most += info.frees.most;
        match (&mut self.checked, info.checked) {
            (Some(checked), Some(mut info)) => {
                info.target.is_info = true;
                checked.info = Some(Box::new(info));
            }
            (_, None) => {
                let why = info.doubt.unwrap_or_default();
                self.doubt.get_or_insert(format!("its info file: {why}"));
            }
            (None, Some(_)) => {}
        }
    }
}
