//! The lines of --df: how much of file systems is used, and by what besides the files that the walk saw.

use super::errors::SHOWN;
use super::name::{fit, widest};
use super::size::Format;
use crate::escape::escape;
use crate::snapshot::{Cause, FileSystem, Unseen};

/// The lines of all `file_systems`, none wider than `width` cells.
pub(super) fn lines(file_systems: &[FileSystem], format: &Format, width: usize) -> String {
    let figures = file_systems.iter().flat_map(|one| figures(one, format));
    let written = |size| format.write(size);
    let lines: Vec<_> =
        figures.map(|(size, what)| (size.map(written).unwrap_or_default(), what)).collect();
    let widest = widest(lines.iter().map(|(size, _)| size));
    let lines = lines.iter().map(|(size, what)| fit(&format!("{size:>widest$} {what}"), width));
    lines.map(|line| line + "\n").collect()
}

/// The figures of one, each with what it is; and what has none.
fn figures(one: &FileSystem, format: &Format) -> Vec<(Option<u64>, String)> {
    let space = one.space;
    let for_root = match space.free.saturating_sub(space.available) {
        0 => String::new(),
        reserved => format!(", {} of it for root alone", format.write(reserved)),
    };
    let mut figures = vec![
        (Some(space.size), format!("file system of {}", escape(&one.root))),
        (Some(one.used()), "used".to_owned()),
    ];
    figures.extend(one.seen.map(|seen| (Some(seen), "  in files seen".to_owned())));
    figures.extend(one.causes.iter().map(|cause| (Some(cause.size), explained(cause, format))));
    if let Some(left) = one.unexplained().filter(|left| *left != 0) {
        let what = match left {
            0.. => "  not explained",
            _ => "  seen, and not used: changed meanwhile, shared, compressed, or overlaid",
        };
        figures.push((u64::try_from(left.unsigned_abs()).ok(), what.to_owned()));
        let unknown = one.unknown.iter().filter(|_| left > 0);
        figures.extend(unknown.map(|what| (None, format!("    not looked at: {what}"))));
    }
    figures.push((Some(space.free), format!("free{for_root}")));
    let left_out = one.left_out.iter().filter_map(|part| part.size).sum();
    if left_out > 0 {
        let what = format!("not in df: {}", listed(&one.left_out, format));
        figures.push((Some(left_out), what));
    }
    figures
}

/// A cause, and the largest parts of it.
fn explained(Cause { name, files, parts, .. }: &Cause, format: &Format) -> String {
    let more = files.filter(|files| *files > parts.len() as u64);
    let more = more.map(|files| format!(", {files} files")).unwrap_or_default();
    let what = listed(parts, format) + &more;
    format!("  {name:<21} {what}").trim_end().to_owned()
}

/// The first few of `parts`, each with its size unless it is alone.
fn listed(parts: &[Unseen], format: &Format) -> String {
    let shown = parts.iter().take(SHOWN).map(|part| {
        let size = match part.size {
            None => "size unknown ".to_owned(),
            Some(_) if parts.len() == 1 => String::new(),
            Some(size) => format.write(size) + " ",
        };
        size + &held(part) + &escape(&part.name)
    });
    let mut shown: Vec<_> = shown.collect();
    shown.extend((parts.len() > SHOWN).then(|| "…".to_owned()));
    shown.join("; ")
}

/// Who holds a part open.
fn held(Unseen { holders, held_by, .. }: &Unseen) -> String {
    let Some(first) = holders.first() else { return String::new() };
    let more = match held_by.saturating_sub(1) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{} ({}){more} ", escape(&first.command), first.pid)
}
