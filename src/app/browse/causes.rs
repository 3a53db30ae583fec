//! What uses the space of a file system besides the files in the tree, as a view: the causes, and the parts of each.
//! Nothing in it is an entry that could be marked.

use std::iter;

use super::browser::{Browser, ViewKind};
use super::listing::Item;
use super::marks::Refusal;
use weigh::internal::base::path;
use weigh::internal::from::snapshot::{Cause, FileSystem, Unseen};
use weigh::internal::show::file_systems::{held, least};
use weigh::internal::show::size::Format;
use weigh::internal::tree::{Child, Totals};

const UNEXPLAINED: &str = "not explained";
const NOT_IN_DF: &str = "not in df";

/// Why a part of each cause cannot be removed here, and what to do instead.
const REMEDIES: [(&str, &str); 5] = [
    ("deleted but open", "it has no name: restart the process"),
    ("hidden under mounts", "it is hidden: unmount what is above it"),
    ("metadata", "the file system needs it"),
    (UNEXPLAINED, "weigh does not know what it is"),
    (NOT_IN_DF, "the file system needs it"),
];

impl Browser {
    /// The views that have something to show, with their names.
    pub(super) fn views(&self) -> impl Iterator<Item = (ViewKind, &'static str)> {
        let has_causes = self.file_system().is_some();
        let has_marks = !self.scan.marks.is_empty() || self.shown.view == ViewKind::Marked;
        let has_clean = self.options.search.is_some() && self.is_of_roots();
        ViewKind::ALL.into_iter().filter(move |(kind, _)| match kind {
            ViewKind::Causes => has_causes,
            ViewKind::Clean => has_clean,
            ViewKind::Marked => has_marks,
            _ => true,
        })
    }

    /// The file system that the current directory is on, if --df asked for it.
    fn file_system(&self) -> Option<&FileSystem> {
        let file_systems = &self.scan.browsed.as_ref()?.file_systems;
        let here = self.path();
        file_systems.iter().find(|one| path::is_within(&here, &one.root)).or(file_systems.first())
    }

    /// What shares are of: in this view, the space that is used on the file system; otherwise the current directory, or
    /// the root if a search found entries elsewhere.
    pub(super) fn whole(&self) -> u64 {
        if self.shown.view == ViewKind::Causes
            && let Some(file_system) = self.file_system()
        {
            return file_system.used();
        }
        if self.shown.view == ViewKind::Marked && !self.is_searching() {
            return self.marked().1.map_or(0, |(totals, _)| totals.size);
        }
        if self.is_cleaning() {
            return self.item(0).map_or(0, |first| first.totals.size);
        }
        let (tree, here) = (self.tree(), self.scan.here());
        let found = self.item(0).filter(|_| self.is_searching()).and_then(|item| item.place);
        let mut above = iter::successors(found.map(|place| tree.at(place)), Child::parent);
        let is_here = found.is_none() || above.any(|it| it.id() == here.id());
        if is_here { here.totals().size } else { tree.root().totals().size }
    }

    /// The lines of the view: the causes, or the parts of the one that is entered.
    pub(super) fn causes(&self) -> Vec<Item<'static>> {
        let all = self.file_system().map(causes).unwrap_or_default();
        let format = &self.options.format;
        let Some(group) = &self.shown.group else {
            return all.iter().map(|cause| line(cause, format)).collect();
        };
        let entered = all.iter().find(|cause| cause.name.as_bytes() == group);
        entered.map_or_else(Vec::new, |cause| cause.parts.iter().map(line_of_part).collect())
    }

    /// Why `item`, which has no place in the tree, cannot be marked.
    pub(super) fn refusal_of(&self, item: &Item<'_>) -> Refusal {
        if item.gone.is_some() {
            return "it is gone";
        }
        if self.found_so_far().is_some() {
            return "Enter goes to its place, where it can be marked";
        }
        let name = self.shown.group.as_deref().unwrap_or(&item.name);
        let mut remedies = REMEDIES.iter().filter(|_| self.shown.view == ViewKind::Causes);
        let remedy = remedies.find(|(cause, _)| cause.as_bytes() == name);
        remedy.map_or("it is no entry: Enter shows what is in it", |(_, remedy)| remedy)
    }
}

/// The causes, what is left, and what is not among what is used.
fn causes(one: &FileSystem) -> Vec<Cause> {
    let unknown = one
        .all_unknown()
        .map(|it| Unseen { name: format!("not looked at: {it}").into(), ..Unseen::default() });
    let left = one.unexplained().and_then(|left| u64::try_from(left).ok()).unwrap_or(0);
    let left =
        Cause { name: UNEXPLAINED, size: left, parts: unknown.collect(), ..Cause::default() };
    let parts = one.left_out.clone();
    let size = parts.iter().filter_map(|part| part.size).sum();
    let left_out = Cause { name: NOT_IN_DF, size, parts, ..Cause::default() };
    let others = [left, left_out].into_iter().filter(|cause| cause.size > 0);
    one.causes.iter().cloned().chain(others).collect()
}

fn line(cause: &Cause, format: &Format) -> Item<'static> {
    let files = match cause.files {
        None => String::new(),
        Some(1) => "1 file".to_owned(),
        Some(files) => format!("{files} files"),
    };
    let note = (least(cause, format) + &files).trim_end_matches("; ").to_owned();
    let entries = cause.files.unwrap_or(cause.parts.len() as u64);
    item(cause.name.as_bytes(), note, cause.size, entries)
}

fn line_of_part(part: &Unseen) -> Item<'static> {
    let is_unknown = part.held_by > 0 && part.size.is_none();
    let holders = Some(held(part)).filter(|held| !held.is_empty());
    let notes = [
        is_unknown.then(|| "size unknown".to_owned()),
        holders.map(|held| format!("held by {}", held.trim_end())),
    ];
    let note = notes.into_iter().flatten().collect::<Vec<_>>().join(", ");
    item(&part.name, note, part.size.unwrap_or(0), 1)
}

fn item(name: &[u8], note: String, size: u64, entries: u64) -> Item<'static> {
    let totals = Totals { size, weight: size, entries, ..Totals::default() };
    Item { name: name.to_vec().into(), note: note.into(), totals, ..Item::default() }
}
