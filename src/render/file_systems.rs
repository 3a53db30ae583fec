//! The lines of --df: what file systems hold besides the files that the walk saw.

use super::name::{fit, widest};
use super::size::Format;
use crate::escape::escape;
use crate::snapshot::FileSystem;

/// The lines of all `file_systems`, none wider than `width` cells.
pub(super) fn lines(file_systems: &[FileSystem], format: &Format, width: usize) -> String {
    let figures = file_systems.iter().flat_map(|one| figures(one, format));
    let lines: Vec<_> = figures.map(|(size, what)| (format.write(size), what)).collect();
    let widest = widest(lines.iter().map(|(size, _)| size));
    let lines = lines.iter().map(|(size, what)| fit(&format!("{size:>widest$} {what}"), width));
    lines.map(|line| line + "\n").collect()
}

/// The figures of one, each with what it is.
fn figures(one: &FileSystem, format: &Format) -> Vec<(u64, String)> {
    let space = one.space;
    let for_root = match space.free.saturating_sub(space.available) {
        0 => String::new(),
        reserved => format!(", {} of it for root alone", format.write(reserved)),
    };
    let mut figures = vec![
        (space.size, format!("file system of {}", escape(&one.root))),
        (one.used(), "used".to_owned()),
    ];
    if let Some(unseen) = one.unseen() {
        let what = match unseen {
            0.. => "used, and in no file seen: metadata, deleted but open, unreadable",
            _ => "seen, and not used: changed meanwhile, shared, compressed, or overlaid",
        };
        let size = u64::try_from(unseen.unsigned_abs()).unwrap_or(u64::MAX);
        figures.push((size, what.to_owned()));
    }
    figures.push((space.free, format!("free{for_root}")));
    figures
}
