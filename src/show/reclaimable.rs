//! What can go: a list, what frees most first, with the command that removes each. As JSON and as CSV, too.

use std::io::{self, Write};

use nu_ansi_term::Style;

use super::markdown::code;
use super::name::{cells, padded, right_aligned, widest};
use super::palette::{Charset, Palette};
use super::partial;
use super::rows::quoted;
use super::size::Format;
use super::tree::PictureOptions;
use crate::ask::reclaimable::{Reclaim, Reclaimable};
use crate::base::escape::{escape, json_bytes};
use crate::base::measure::{Kind, Mode, View};
use crate::base::path;
use crate::from::snapshot::header;
use crate::tree::{Freeable, Report};

/// What the columns show. The last two are the path and the command.
const HEADINGS: [&str; 6] = ["frees", "size", "unused", "what it is", "path", "to remove it"];
const UNUSED: usize = 2;
const WHAT: usize = 3;
const PATH: usize = 4;
const COMMAND: usize = 5;
/// Between two columns, in cells.
const GAP: usize = 2;

/// So many cells a path has room for at least.
const ROOM: usize = 24;

/// Draws a line for each. Where the lines do not fit, commands are on lines of their own: a part of a command would be
/// another command.
///
/// # Errors
/// The writer's.
pub fn draw(
    out: &mut dyn Write,
    reclaimable: &Reclaimable,
    options: &PictureOptions,
) -> io::Result<()> {
    let Reclaimable { found, others, frees, more, more_others, .. } = reclaimable;
    let rows: Vec<_> = found.iter().chain(others).map(|one| row(one, options)).collect();
    let mut widths =
        [0, 1, 2, 3, 4, 5].map(|column| match widest(rows.iter().map(|row| &row[column])) {
            0 => 0,
            width => width.max(cells(HEADINGS[column])),
        });
    let whole = |widths: &[usize]| -> usize {
        widths.iter().filter(|width| **width > 0).map(|width| width + GAP).sum()
    };
    // Paths are not cut. So on a narrow terminal others give way.
    for column in [UNUSED, WHAT] {
        if whole(&widths[..PATH]) + widths[PATH].min(ROOM) > options.width {
            widths[column] = 0;
        }
    }
    let fits = whole(&widths) <= options.width.saturating_add(GAP);
    let list = List { options, widths, fits, whole: frees.most };
    let (found_rows, other_rows) = rows.split_at(found.len());
    if !found.is_empty() {
        list.write_headings(out)?;
    }
    for (one, row) in found.iter().zip(found_rows) {
        list.write(out, one, row)?;
    }
    let [more, more_others] = [more, more_others].map(|more| match *more {
        0 => String::new(),
        1 => ", with 1 that is not listed".to_owned(),
        more => format!(", with {} that are not listed", Format::Count.write(more as u64)),
    });
    let sum = match found.is_empty() && more.is_empty() {
        true => format!("found nothing that can be made or downloaded again{}", reclaimable.hint),
        false => format!(
            "all together free {}{more}",
            partial::freed(*frees, &options.format, !options.partial.is_empty())
        ),
    };
    writeln!(out, "{}", options.paint(&options.charset.drawing(&sum), |_| Style::new().bold()))?;
    if !others.is_empty() || !more_others.is_empty() {
        let colon = if others.is_empty() { "" } else { ":" };
        let title = format!("look first: not made again, and in no sum{more_others}{colon}");
        writeln!(out, "\n{}", options.paint(&title, Palette::aside))?;
    }
    others.iter().zip(other_rows).try_for_each(|(one, row)| list.write(out, one, row))
}

/// Writes it as tables in Markdown: what can go with its sum, and what to look at first.
///
/// # Errors
/// The writer's.
pub fn markdown(
    out: &mut dyn Write,
    reclaimable: &Reclaimable,
    options: &PictureOptions,
) -> io::Result<()> {
    let Reclaimable { found, others, frees, more, more_others, .. } = reclaimable;
    let frees = partial::freed(*frees, &options.format, !options.partial.is_empty());
    let sum = format!("Together: {}", frees.trim_start());
    let tables = [(found, more, sum), (others, more_others, "Look first; in no sum.".to_owned())];
    let tables = tables.into_iter().enumerate();
    for (i, (list, more, title)) in tables.filter(|(i, (list, ..))| *i == 0 || !list.is_empty()) {
        let gap = if i == 0 { "" } else { "\n" };
        let more = if *more == 0 { String::new() } else { format!(" ({more} are not listed)") };
        writeln!(out, "{gap}{title}{more}\n")?;
        writeln!(
            out,
            "| frees | unused | path | what it is | to remove it |\n| --: | --: | :-- | :-- | :-- |"
        )?;
        for one in list {
            let [frees, _, unused, what, path, command] = row(one, options);
            let [path, what] = [path, what].map(|text| code(&text));
            let command = if command.is_empty() { command } else { code(&command) };
            writeln!(out, "| {frees} | {unused} | {path} | {what} | {command} |")?;
        }
    }
    Ok(())
}

/// The texts of the columns.
fn row(one: &Reclaim, options: &PictureOptions) -> [String; 6] {
    let Reclaim { size, frees, written, owner, command, unexpected, rule, path, .. } = one;
    let alone = Freeable { least: *size, most: *size, ..*frees };
    let is_all = frees.least == *size;
    let owner = owner.as_ref().map(|owner| format!(", of {owner}")).unwrap_or_default();
    let unexpected = unexpected.as_ref().map(|at| [b", with ", &**at].concat()).unwrap_or_default();
    let is_shown = |command: &str| options.charset != Charset::Ascii || command.is_ascii();
    let texts = [
        options.format.write_bounds(*frees),
        if is_all { String::new() } else { options.format.write_bounds(alone) },
        options.dates.age(*written),
        options
            .charset
            .text(escape(&[format!("{}{owner}", rule.what).as_bytes(), &unexpected].concat())),
        options.charset.text(escape(path::below(path, b".").unwrap_or(path))),
        // What cannot be shown as it is cannot be pasted either.
        command.clone().filter(|it| is_shown(it)).unwrap_or_default(),
    ];
    texts.map(|text| text.trim_start().to_owned())
}

struct List<'a> {
    options: &'a PictureOptions,
    /// Of the columns, in cells; 0 if nothing is in one.
    widths: [usize; 6],
    /// Whether commands have room beside the paths.
    fits: bool,
    /// What all free together.
    whole: u64,
}

impl List<'_> {
    fn write_headings(&self, out: &mut dyn Write) -> io::Result<()> {
        let last = if self.fits && self.widths[COMMAND] > 0 { COMMAND } else { PATH };
        let shown = (0..=last).filter(|column| self.widths[*column] > 0);
        let headings: Vec<_> = shown.map(|column| self.aligned(column, HEADINGS[column])).collect();
        let headings = headings.join(&" ".repeat(GAP));
        writeln!(out, "{}", self.options.paint(headings.trim_end(), Palette::aside))
    }

    fn write(&self, out: &mut dyn Write, one: &Reclaim, row: &[String; 6]) -> io::Result<()> {
        let has_command = !row[COMMAND].is_empty();
        let last = if self.fits && has_command { COMMAND } else { PATH };
        let mut line = String::new();
        for column in (0..=last).filter(|column| self.widths[*column] > 0) {
            let gap = if line.is_empty() { 0 } else { GAP };
            line += &" ".repeat(gap);
            line += &self.cell(column, one, row, column == last);
        }
        writeln!(out, "{line}")?;
        if has_command && !self.fits {
            // Below the path, or else further to the left.
            let widths = self.widths.map(|width| if width > 0 { width + GAP } else { 0 });
            let starts = [PATH, WHAT].map(|column| widths[..column].iter().sum());
            let has_room = |start: &usize| start + cells(&row[COMMAND]) <= self.options.width;
            let before = starts.into_iter().find(has_room).unwrap_or(GAP);
            let command = self.options.paint(&row[COMMAND], Palette::aside);
            writeln!(out, "{}{command}", " ".repeat(before))?;
        }
        Ok(())
    }

    /// The text of a column with its colours, and as wide as that unless it is the last of its line.
    fn cell(&self, column: usize, one: &Reclaim, row: &[String; 6], is_last: bool) -> String {
        let text = self.options.charset.drawing(&row[column]);
        let aligned = self.aligned(column, &text);
        match column {
            0 => self.options.paint(&aligned, |palette| palette.share(one.frees.most, self.whole)),
            PATH => {
                let padding =
                    if is_last { 0 } else { self.widths[PATH].saturating_sub(cells(&text)) };
                let kind = if one.is_directory { Kind::Directory } else { Kind::File };
                let name = match &self.options.colors {
                    Some(colors) => {
                        colors.name(&one.path, Mode::usual(kind)).paint(text).to_string()
                    }
                    None => text.into_owned(),
                };
                let links = self.options.links.as_ref();
                links.map_or(name.clone(), |links| links.on(name, &one.path)) + &" ".repeat(padding)
            }
            WHAT => aligned,
            COMMAND => self.options.paint(&text, Palette::aside),
            _ => self.options.paint(&aligned, Palette::aside),
        }
    }

    /// `text` as wide as its column: figures to the right.
    fn aligned(&self, column: usize, text: &str) -> String {
        let aligned = if column < WHAT { right_aligned } else { padded };
        aligned(text, self.widths[column])
    }
}

/// Writes it as JSON.
///
/// # Errors
/// The writer's.
pub fn json(out: &mut dyn Write, reclaimable: &Reclaimable, report: &Report) -> io::Result<()> {
    let Reclaimable { found, more, frees, others, more_others, .. } = reclaimable;
    let Freeable { least, most, .. } = frees;
    header::head(out, View::default())?;
    header::list(out, r#","reclaimable":{"found":"#, found, json_entry)?;
    write!(out, r#","more":{more},"frees_least":{least},"frees_most":{most}"#)?;
    header::list(out, r#","others":"#, others, json_entry)?;
    write!(out, r#","more_others":{more_others}}}"#)?;
    header::end(out, &report.problems)
}

fn json_entry(out: &mut dyn Write, one: &Reclaim) -> io::Result<()> {
    let Reclaim { path, size, frees, written, owner, command, unexpected, rule, .. } = one;
    json_bytes(out, r#"{"path":"#, path)?;
    let Freeable { least, most, .. } = frees;
    write!(out, r#","size":{size},"frees_least":{least},"frees_most":{most},"written":{written}"#)?;
    let texts = [
        ("rule", Some(&rule.name)),
        ("what", Some(&rule.what)),
        ("back", Some(&rule.back).filter(|_| unexpected.is_none())),
        ("command", command.as_ref()),
        ("doc", Some(&rule.doc)),
        ("owner", owner.as_ref()),
    ];
    for (member, text) in texts {
        let Some(text) = text.filter(|text| !text.is_empty()) else { continue };
        json_bytes(out, &format!(r#","{member}":"#), text.as_bytes())?;
    }
    if let Some(unexpected) = unexpected {
        json_bytes(out, r#","unexpected":"#, unexpected)?;
    }
    out.write_all(b"}")
}

/// Writes it as CSV (RFC 4180), with a header. The last rows are of what cannot be made again, or not all of it: nothing is in
/// `back`.
///
/// # Errors
/// The writer's.
pub fn csv(out: &mut dyn Write, reclaimable: &Reclaimable) -> io::Result<()> {
    out.write_all(b"path,size,frees_least,frees_most,written,rule,back,command,owner\n")?;
    for one in reclaimable.found.iter().chain(&reclaimable.others) {
        let Reclaim { path, size, frees, written, owner, command, unexpected, rule, .. } = one;
        let back = if unexpected.is_none() { &*rule.back } else { "" };
        let command = command.as_deref().unwrap_or_default();
        let owner = owner.as_deref().unwrap_or_default();
        let [path, rule, back, command, owner] =
            [path, rule.name.as_bytes(), back.as_bytes(), command.as_bytes(), owner.as_bytes()]
                .map(quoted);
        let Freeable { least, most, .. } = frees;
        writeln!(out, "{path},{size},{least},{most},{written},{rule},{back},{command},{owner}")?;
    }
    Ok(())
}
