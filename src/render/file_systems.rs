//! The lines of --df: what file systems hold besides the files that the walk saw.

use super::name::{cells, fit};
use super::size::Format;
use crate::escape::escape;
use crate::snapshot::FileSystem;

/// The lines of all `file_systems`, none wider than `width` cells.
pub(super) fn lines(file_systems: &[FileSystem], format: &Format, width: usize) -> Vec<String> {
    let all: Vec<_> = file_systems.iter().flat_map(|one| figures(one, format)).collect();
    let widest = all.iter().map(|(size, _)| cells(size)).max().unwrap_or(0);
    let line = |(size, what): &(String, String)| {
        let padding = " ".repeat(widest - cells(size));
        fit(&format!("{padding}{size} {what}"), width)
    };
    all.iter().map(line).collect()
}

/// The figures of one, each with what it is.
fn figures(one: &FileSystem, format: &Format) -> Vec<(String, String)> {
    let figure = |size: u64, what: String| (format.write(size), what);
    let reserved = one.space.free.saturating_sub(one.space.available);
    let for_root = match reserved {
        0 => String::new(),
        reserved => format!(", {} of it for root alone", format.write(reserved)),
    };
    let unseen = one.unseen().map(|unseen| {
        let size = u64::try_from(unseen.unsigned_abs()).unwrap_or(u64::MAX);
        let what = match unseen {
            0.. => "used, and in no file seen: metadata, deleted but open, unreadable",
            _ => "seen, and not used: changed meanwhile, shared, compressed, or overlaid",
        };
        figure(size, what.to_owned())
    });
    let named = figure(one.space.size, format!("file system of {}", escape(&one.root)));
    let free = figure(one.space.free, format!("free{for_root}"));
    [Some(named), Some(figure(one.used(), "used".to_owned())), unseen, Some(free)]
        .into_iter()
        .flatten()
        .collect()
}
