//! The lines of --df: how much of file systems is used, and by what besides the files that the walk saw.

use std::collections::BTreeSet;
use std::{array, iter};

use super::errors::SHOWN;
use super::name::{cells, padded, widest};
use super::palette::{self, Charset, Palette};
use super::size::{Format, percent};
use super::tree::PictureOptions;
use crate::base::escape::escape;
use crate::from::snapshot::{Cause, FileSystem, Unseen};

/// The lines of all `file_systems`.
pub(super) fn lines(file_systems: &[FileSystem], options: &PictureOptions) -> String {
    let figures = file_systems.iter().flat_map(|one| figures(one, options));
    let written = |size| options.format.write(size);
    let lines: Vec<_> =
        figures.map(|(size, what)| (size.map(written).unwrap_or_default(), what)).collect();
    let widest = widest(lines.iter().map(|(size, _)| size));
    let lines = lines.iter().map(|(size, what)| format!("{size:>widest$} {what}"));
    lines.map(|line| options.charset.cut(&line, options.width) + "\n").collect()
}

/// A line for each as df has it, with its largest cause; below them, what could not be looked at.
pub(super) fn table(file_systems: &[FileSystem], options: &PictureOptions) -> String {
    const HEAD: [&str; 5] = ["size", "used", "avail", "use%", "mounted on"];
    let format = &options.format;
    let rows = file_systems.iter().map(|one| {
        let share = percent(one.used(), whole(one));
        let sizes = [one.space.size, one.used(), one.space.available].map(|it| format.write(it));
        let [size, used, available] = sizes;
        [size, used, available, share, options.charset.text(escape(&one.root))]
    });
    let rows: Vec<_> = iter::once(HEAD.map(str::to_owned)).chain(rows).collect();
    let widths: [usize; 5] = array::from_fn(|column| widest(rows.iter().map(|row| &row[column])));
    let mut text = String::new();
    for (row, one) in rows.iter().zip(iter::once(None).chain(file_systems.iter().map(Some))) {
        let figures = row[..4].iter().zip(widths).map(|(it, width)| format!("{it:>width$} "));
        let figures = options.charset.cut(&figures.collect::<String>(), options.width);
        let bar = usage(one, options);
        let room = options.width.saturating_sub(cells(&figures) + BAR);
        let cause = match one {
            None => "largest besides files".to_owned(),
            Some(one) => one.causes.first().map_or_else(String::new, |it| brief(it, options)),
        };
        let rest = format!(" {}  {cause}", padded(&row[4], widths[4]));
        text += &(figures + &bar + &options.charset.cut(rest.trim_end(), room) + "\n");
    }
    let unknown: BTreeSet<_> = file_systems.iter().flat_map(|one| &one.unknown).collect();
    let unknown = unknown.into_iter().map(|what| format!("not looked at: {what}\n"));
    text + &unknown.collect::<String>()
}

/// How wide the bar in a table is.
const BAR: usize = 10;

/// What of a file system users can fill, which df takes its percentage of.
fn whole(one: &FileSystem) -> u64 {
    one.used().saturating_add(one.space.available)
}

/// How full one is, as a bar; blank for the head.
fn usage(one: Option<&FileSystem>, options: &PictureOptions) -> String {
    let Some(one) = one else { return " ".repeat(BAR) };
    let bar = palette::bar(one.used(), whole(one), BAR, options.charset);
    let behind = if options.charset == Charset::Ascii { "." } else { "░" };
    let behind = behind.repeat(BAR - cells(&bar));
    options.paint(&bar, |palette| palette.bar(one.used(), whole(one)))
        + &options.paint(&behind, Palette::aside)
}

/// The figures of one, each with what it is; and what has none.
fn figures(one: &FileSystem, options: &PictureOptions) -> Vec<(Option<u64>, String)> {
    let (PictureOptions { format, charset, .. }, space) = (options, one.space);
    // What is kept for root, or for metadata, is free but not available.
    let available = match space.free == space.available {
        true => String::new(),
        false => format!(", {} available", format.write(space.available)),
    };
    let for_root = match one.for_root {
        0 => String::new(),
        more => format!(", {} more for root alone", format.write(more)),
    };
    let mut figures = vec![
        (Some(space.size), format!("file system of {}", charset.text(escape(&one.root)))),
        (Some(one.used()), "used".to_owned()),
    ];
    figures.extend(one.seen.map(|seen| (Some(seen), "  in files seen".to_owned())));
    let causes = one.causes.iter();
    figures.extend(causes.map(|cause| (Some(cause.size), explained(cause, options))));
    if let Some(left) = one.unexplained().filter(|left| *left != 0) {
        let what = match left {
            0.. => "  not explained",
            _ => "  seen, and not used: changed meanwhile, shared, compressed, or overlaid",
        };
        figures.push((u64::try_from(left.unsigned_abs()).ok(), what.to_owned()));
        let unknown = one.unknown.iter().filter(|_| left > 0);
        figures.extend(unknown.map(|what| (None, format!("    not looked at: {what}"))));
    }
    figures.push((Some(space.free), format!("free{available}{for_root}")));
    let left_out = one.left_out.iter().filter_map(|part| part.size).sum();
    if left_out > 0 {
        let what = format!("not in df: {}", listed(&one.left_out, options));
        figures.push((Some(left_out), what));
    }
    figures
}

/// A cause and its size, and the largest parts of it.
fn brief(cause: &Cause, options: &PictureOptions) -> String {
    let (least, parts) = (least(cause, &options.format), listed(&cause.parts, options));
    format!("{} {}: {least}{parts}", options.format.write(cause.size), cause.name)
}

/// What a cause comes to at least, if clones may share some of it.
pub fn least(Cause { size, shared, .. }: &Cause, format: &Format) -> String {
    match shared {
        0 => String::new(),
        _ => format!("frees at least {}; ", format.write(size.saturating_sub(*shared))),
    }
}

/// A cause, and the largest parts of it.
fn explained(cause: &Cause, options: &PictureOptions) -> String {
    let Cause { name, files, parts, .. } = cause;
    let more = files.filter(|files| *files > parts.len() as u64);
    let more = more.map(|files| format!(", {files} files")).unwrap_or_default();
    let what = least(cause, &options.format) + &listed(parts, options) + &more;
    format!("  {name:<21} {what}").trim_end().to_owned()
}

/// The first few of `parts`, each with its size unless it is alone.
fn listed(parts: &[Unseen], options: &PictureOptions) -> String {
    let shown = parts.iter().take(SHOWN).map(|part| {
        let size = match part.size {
            None => "size unknown ".to_owned(),
            Some(_) if parts.len() == 1 => String::new(),
            Some(size) => options.format.write(size) + " ",
        };
        size + &options.charset.text(held(part) + &escape(&part.name))
    });
    let mut shown: Vec<_> = shown.collect();
    shown.extend((parts.len() > SHOWN).then(|| "…".to_owned()));
    shown.join("; ")
}

/// Who holds a part open.
pub fn held(Unseen { holders, held_by, .. }: &Unseen) -> String {
    let Some(first) = holders.first() else { return String::new() };
    let more = match held_by.saturating_sub(1) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{} ({}){more} ", escape(&first.command), first.pid)
}
