//! What can go: a list with a line for each kind, and the answer last, next to the prompt. As JSON, CSV and Markdown, too.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use nu_ansi_term::Style;

use super::markdown::code;
use super::name::{cells, padded, right_aligned, shorten, widest};
use super::palette::{Charset, Palette};
use super::partial;
use super::rows::quoted;
use super::size::Format;
use super::tree::PictureOptions;
use crate::ask::reclaimable::{Checked, PlanOrigin, Reclaim, Reclaimable};
use crate::base::escape::{escape, json_bytes};
use crate::base::inode::Identity;
use crate::base::measure::View;
use crate::base::path;
use crate::from::snapshot::header;
use crate::remove::Manner;
use crate::tree::{Freeable, Report};

/// How the list is drawn.
#[derive(Debug, Default)]
pub struct ListOptions {
    /// Width, formats, colours.
    pub picture: PictureOptions,
    /// The first line; perhaps empty.
    pub title: &'static str,
    /// The text if nothing is found.
    pub nothing: &'static str,
    /// A line for each entry, and not for each kind.
    pub is_unfolded: bool,
    /// With the command that removes each entry.
    pub has_commands: bool,
    /// Whether the recent entries are those of the last day.
    pub is_of_today: bool,
    /// How many lines each group has at most.
    pub lines: usize,
    /// The line to type that removes what the sum is of; perhaps empty.
    pub apply: String,
}

// The titles of the groups. The title of entries that were written lately depends on `--older`.

/// Entries that weigh can remove.
pub const CAN_GO: &str = "Can go";
/// Entries that only their own program can remove.
pub const BY_PROGRAM: &str = "Only its own program can remove it";
/// Entries that somebody has to look at first.
pub const LOOK_FIRST: &str = "Look first";

/// A line, without the sizes of its columns.
struct Row {
    frees: Freeable,
    age: String,
    what: String,
    text: String,
    command: Option<String>,
}

/// Between two columns, in cells.
const GAP: usize = 2;
/// So many cells the last column has room for at least. Else others give way.
const ROOM: usize = 24;

/// Draws groups, the most important last, with the largest line last in each.
///
/// # Errors
/// The writer's.
pub fn draw(
    out: &mut dyn Write,
    reclaimable: &Reclaimable,
    options: &ListOptions,
) -> io::Result<()> {
    let Reclaimable { found, others, by_program, recent, frees, .. } = reclaimable;
    let picture = &options.picture;
    let groups = [
        (LOOK_FIRST, others),
        (BY_PROGRAM, by_program),
        (options.recent_title(), recent),
        (CAN_GO, found),
    ];
    let groups = groups.map(|(title, entries)| (title, options.rows(reclaimable, entries)));
    let rows = || groups.iter().flat_map(|(_, rows)| rows);
    let sum = partial::freed(*frees, &picture.format, !picture.partial.is_empty());
    let sizes: Vec<_> = rows().map(|row| options.size(row)).chain([sum.clone()]).collect();
    let size = widest(&sizes).max(6) + GAP;
    let unused = rows().map(|row| cells(&row.age)).max().unwrap_or(0).max(6) + GAP;
    let what = rows().map(|row| cells(&row.what)).max().unwrap_or(0) + GAP;
    let mut columns = [size, unused, what];
    for column in [1, 2] {
        if columns.iter().sum::<usize>() + GAP + ROOM > picture.width {
            columns[column] = 0;
        }
    }
    let line = |text: &str, style: fn(Palette) -> Style| {
        picture.paint(&picture.charset.drawing(text), style)
    };
    if !options.title.is_empty() && rows().next().is_some() {
        writeln!(out, "{}", options.title)?;
    }
    for (title, rows) in groups.iter().filter(|(_, rows)| !rows.is_empty()) {
        let head = if *title == CAN_GO && columns[1] > 0 {
            padded(title, size + GAP) + "unused"
        } else {
            (*title).to_owned()
        };
        writeln!(out, "{}", line(&head, |_| Style::new().bold()))?;
        let hidden = rows.len().saturating_sub(options.lines);
        if hidden > 0 {
            let lines = if hidden == 1 { "line" } else { "lines" };
            let more = format!("{}{hidden} more {lines}", " ".repeat(size + GAP));
            writeln!(out, "{}", line(&more, Palette::aside))?;
        }
        for row in &rows[hidden..] {
            let [first, age, what] = columns;
            let start = right_aligned(&options.size(row), first) + &" ".repeat(GAP);
            let aside = if age > 0 { padded(&row.age, age) } else { String::new() };
            let kind = if what > 0 { padded(&row.what, what) } else { String::new() };
            let room = picture.width.saturating_sub(cells(&start) + age + what);
            let text = match options.is_unfolded {
                // A path that is cut could not be copied.
                true => row.text.clone(),
                false => shorten(&row.text, room),
            };
            let [start, aside, kind, text] =
                [start, aside, kind, text].map(|it| picture.charset.drawing(&it).into_owned());
            let start =
                picture.paint(&start, |palette| palette.share(row.frees.most, frees.most.max(1)));
            let aside = picture.paint(&aside, Palette::aside);
            writeln!(out, "{}", format!("{start}{aside}{kind}{text}").trim_end())?;
            if let Some(command) = row.command.as_ref().filter(|_| options.has_commands) {
                let command = picture.paint(command, Palette::aside);
                writeln!(out, "{}{command}", " ".repeat(first + GAP))?;
            }
        }
    }
    let last = match rows().next() {
        _ if !found.is_empty() => {
            let all = padded("in all", columns[1].max(6 + GAP));
            let start = right_aligned(&sum, size) + &" ".repeat(GAP) + &all;
            format!("{start}{}", options.apply).trim_end().to_owned()
        }
        Some(_) => format!("Nothing can go{}", reclaimable.hint),
        None => {
            let nothing = match reclaimable.refused.is_empty() {
                true => options.nothing,
                false => "found nothing that weigh may delete",
            };
            format!("{nothing}{}", reclaimable.hint)
        }
    };
    writeln!(out, "{}", line(&last, |_| Style::new().bold()))
}

impl ListOptions {
    fn recent_title(&self) -> &'static str {
        match self.is_of_today {
            true => "Written today (--older 0h includes it)",
            false => "Written since (--older 0h includes it)",
        }
    }

    fn size(&self, row: &Row) -> String {
        match row.frees {
            Freeable { least: 0, most, .. } if most > 0 => {
                format!("≤{}", self.picture.format.write(most))
            }
            frees => self.picture.format.write_bounds(frees),
        }
    }

    /// A line for each of these entries, or for each kind, the largest last.
    fn rows(&self, all: &Reclaimable, entries: &[Reclaim]) -> Vec<Row> {
        let mut rows: Vec<_> = if self.is_unfolded {
            entries.iter().map(|one| self.row(all, &[one], one.frees)).collect()
        } else {
            let mut kinds: BTreeMap<&str, Vec<&Reclaim>> = BTreeMap::new();
            for one in entries {
                kinds.entry(&one.rule.what).or_default().push(one);
            }
            let is_found = |one: &Reclaim| all.found.iter().any(|it| std::ptr::eq(it, one));
            let kinds = kinds.into_iter().map(|(what, some)| {
                let together = all.by_kind.get(what).filter(|_| is_found(some[0]));
                self.row(all, &some, together.copied().unwrap_or_else(|| sum_of(&some)))
            });
            kinds.collect()
        };
        // Stable, so that equal ones stay in their order.
        rows.sort_by_key(|row| row.frees.most);
        rows
    }

    /// The line of these entries of one kind.
    fn row(&self, all: &Reclaimable, some: &[&Reclaim], frees: Freeable) -> Row {
        let written = some.iter().map(|one| one.written).max().unwrap_or_default();
        let what = some[0].rule.what.clone();
        let charset = self.picture.charset;
        let text = place_in_words(all, some, charset, self.is_unfolded);
        let command = match some {
            [one] => shown_command(one, charset).cloned(),
            _ => None,
        };
        let age = self.picture.dates.age_in_words(written);
        Row { frees, age, what, text, command }
    }
}

/// The place of these entries of one kind: a path, or their number and the directory that most are in. In its place stands
/// the command for an entry that only its own program can remove, if it is short and nothing `is_unfolded`. The reason to
/// look first follows in parentheses.
pub fn place_in_words(
    all: &Reclaimable,
    some: &[&Reclaim],
    charset: Charset,
    is_unfolded: bool,
) -> String {
    let shown = |path: &[u8]| shown(path, all);
    let same = |doubt: &Option<String>| some.iter().all(|one| one.doubt == *doubt);
    let why = match &some[0].doubt {
        Some(why) if same(&some[0].doubt) => format!(" ({why})"),
        None if same(&None) && some[0].rule.is_of_engine() => format!(" ({})", some[0].rule.why),
        None if same(&None) => String::new(),
        _ => " (-a says why)".to_owned(),
    };
    let by_program = some[0].rule.hand.is_empty() && some[0].doubt.is_none();
    let text = match some {
        [one] => match shown_command(one, charset) {
            Some(command) if by_program && !is_unfolded && cells(command) < ROOM + GAP => {
                command.clone()
            }
            _ => shown(&one.path),
        },
        _ => {
            let count = Format::Count.write(some.len() as u64);
            let directories = some.iter().filter(|one| one.is_directory).count();
            let noun = match directories {
                _ if some[0].rule.is_of_project() => "projects",
                0 => "files",
                all if all == some.len() => "directories",
                _ => "entries",
            };
            let place = match place_of(some.iter().map(|one| &*one.path)) {
                Some((place, true)) => format!(" in {}", shown(place)),
                Some((place, false)) => format!(", most in {}", shown(place)),
                None => String::new(),
            };
            format!("{count} {noun}{place}")
        }
    };
    charset.text(format!("{text}{why}"))
}

/// The command that removes an entry, if a terminal with this `charset` shows it as it has to be typed.
fn shown_command(one: &Reclaim, charset: Charset) -> Option<&String> {
    one.command.as_ref().filter(|command| charset != Charset::Ascii || command.is_ascii())
}

// The messages about removed entries.

/// An entry that stays, and why.
#[derive(Debug)]
pub struct KeptEntry {
    /// Its path.
    pub path: Vec<u8>,
    /// The reason.
    pub why: String,
}

/// How many processes may use something that goes, because the system does not show their files.
pub fn unseen(found: &Reclaimable) -> Option<String> {
    match found.unseen {
        0 => None,
        1 => Some("1 process could not be asked what it uses".to_owned()),
        unseen => {
            let count = Format::Count.write(unseen);
            Some(format!("{count} processes could not be asked what they use"))
        }
    }
}

/// The question before entries are removed.
pub fn question(entries: u64, manner: Manner, found: &Reclaimable) -> String {
    let count = Format::Count.write(entries);
    // On a line of its own, so that a narrow terminal does not break the question.
    let unseen = unseen(found).map(|unseen| format!("{unseen}.\n")).unwrap_or_default();
    let noun = if entries == 1 { "entry" } else { "entries" };
    match manner {
        Manner::Delete => format!("{unseen}Type {count} to delete {count} {noun} permanently: "),
        Manner::Trash => format!("{unseen}Type {count} to move {count} {noun} to the trash: "),
    }
}

/// The last line: what came free, what was announced, and what was kept.
pub fn freed(
    (gone, is_partly_gone): (Freeable, bool),
    manner: Manner,
    found: &Reclaimable,
    kept: &[KeptEntry],
    format: &Format,
) -> String {
    /// More are in the messages before.
    const NAMED: usize = 3;
    let bound = |is_part: bool| match (is_part, found.may_share) {
        (false, false) => "",
        (false, true) => "at most ",
        (true, false) => "at least ",
        (true, true) => "about ",
    };
    let [gone, announced] = [(gone, is_partly_gone), (found.frees, false)]
        .map(|(frees, is_part)| format!("{}{}", bound(is_part), format.write_bounds(frees)));
    let freed = match manner {
        Manner::Delete => format!("freed {gone} (announced {announced})"),
        Manner::Trash => {
            format!("moved {gone} to the trash (announced {announced}); emptying it frees that")
        }
    };
    if kept.is_empty() {
        return freed;
    }
    let named = kept.iter().take(NAMED);
    let named = named.map(|it| format!("{} ({})", shown(&it.path, found), it.why));
    let mut named: Vec<_> = named.collect();
    if kept.len() > NAMED {
        named.push("…".to_owned());
    }
    format!("{freed}; kept {}: {}", Format::Count.write(kept.len() as u64), named.join(", "))
}

/// What these free, each by itself.
pub fn sum_of(some: &[&Reclaim]) -> Freeable {
    some.iter().fold(Freeable::default(), |sum, one| Freeable {
        least: sum.least.saturating_add(one.frees.least),
        most: sum.most.saturating_add(one.frees.most),
        ..sum
    })
}

/// The same, escaped.
fn shown(path: &[u8], all: &Reclaimable) -> String {
    escape(&from_home(path, all))
}

/// A path as people write it: from their home.
pub fn from_home(path: &[u8], all: &Reclaimable) -> Vec<u8> {
    let home = all.home.as_ref().map(|home| home.as_os_str().as_encoded_bytes());
    match home.and_then(|home| path::below(path, home)) {
        Some(b"") => b"~".to_vec(),
        Some(below) => path::join_all([b"~", below]),
        None => {
            let below = path::below(path, b".").filter(|below| !below.is_empty());
            below.unwrap_or(path).to_vec()
        }
    }
}

/// The innermost directory in which most of these are, and whether all are; none if that is where they all start.
fn place_of<'p>(paths: impl Iterator<Item = &'p [u8]>) -> Option<(&'p [u8], bool)> {
    let (mut inside, mut count): (HashMap<&[u8], usize>, usize) = (HashMap::new(), 0);
    for path in paths {
        count += 1;
        for (at, _) in path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
            *inside.entry(&path[..at]).or_default() += 1;
        }
    }
    let most = inside.into_iter().filter(|(_, some)| some * 2 > count);
    let (place, some) = most.max_by_key(|(place, _)| place.len())?;
    (!matches!(place, b"" | b".")).then_some((place, some == count))
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
    let Reclaimable { found, others, by_program, frees, more, more_others, .. } = reclaimable;
    let frees = partial::freed(*frees, &options.format, !options.partial.is_empty());
    let sum = format!("Together: {}", frees.trim_start());
    let program = "Only its own program can remove it.".to_owned();
    let tables = [
        (found, more, sum),
        (by_program, &0, program),
        (others, more_others, "Look first; in no sum.".to_owned()),
    ];
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
    let Reclaim { size, frees, written, command, doubt, rule, path, .. } = one;
    let alone = Freeable { least: *size, most: *size, ..*frees };
    let is_all = frees.least == *size;
    let doubt = doubt.as_ref().map(|why| format!(", {why}")).unwrap_or_default();
    let is_shown = |command: &str| options.charset != Charset::Ascii || command.is_ascii();
    let texts = [
        options.format.write_bounds(*frees),
        if is_all { String::new() } else { options.format.write_bounds(alone) },
        options.dates.age(*written),
        options.charset.text(format!("{}{doubt}", rule.what)),
        options.charset.text(escape(path::below(path, b".").unwrap_or(path))),
        // What cannot be shown as it is cannot be pasted either.
        command.clone().filter(|it| is_shown(it)).unwrap_or_default(),
    ];
    texts.map(|text| text.trim_start().to_owned())
}

/// Writes it as JSON.
///
/// # Errors
/// The writer's.
pub fn json(out: &mut dyn Write, reclaimable: &Reclaimable, report: &Report) -> io::Result<()> {
    let Reclaimable { found, more, frees, by_program, recent, others, more_others, .. } =
        reclaimable;
    let Freeable { least, most, .. } = frees;
    header::head(out, View::default())?;
    header::list(out, r#","reclaimable":{"found":"#, found, json_entry)?;
    write!(out, r#","more":{more},"frees_least":{least},"frees_most":{most}"#)?;
    if let Some(PlanOrigin { time, user, host, roots }) = &reclaimable.origin {
        write!(out, r#","plan":{{"time":{time},"user":{user}"#)?;
        json_bytes(out, r#","host":"#, host.as_bytes())?;
        header::list(out, r#","roots":"#, roots, |out, root| json_bytes(out, "", root.as_bytes()))?;
        out.write_all(b"}")?;
    }
    header::list(out, r#","by_program":"#, by_program, json_entry)?;
    header::list(out, r#","recent":"#, recent, json_entry)?;
    header::list(out, r#","others":"#, others, json_entry)?;
    write!(out, r#","more_others":{more_others}}}"#)?;
    header::end(out, &report.problems)
}

fn json_entry(out: &mut dyn Write, one: &Reclaim) -> io::Result<()> {
    let Reclaim { path, size, frees, written, owner, command, unexpected, doubt, rule, .. } = one;
    json_bytes(out, r#"{"path":"#, path)?;
    let Freeable { least, most, .. } = frees;
    write!(out, r#","size":{size},"frees_least":{least},"frees_most":{most},"written":{written}"#)?;
    let texts = [
        ("rule", Some(&rule.name)),
        ("what", Some(&rule.what)),
        ("back", Some(&rule.back).filter(|_| unexpected.is_none())),
        ("command", command.as_ref()),
        ("hand", Some(&rule.hand)),
        ("program", Some(&rule.program)),
        ("doc", Some(&rule.doc)),
        ("doubt", doubt.as_ref()),
        ("owner", owner.as_ref()),
    ];
    for (member, text) in texts {
        let Some(text) = text.filter(|text| !text.is_empty()) else { continue };
        json_bytes(out, &format!(r#","{member}":"#), text.as_bytes())?;
    }
    if let Some(Checked { identity: Identity { mount, device, number }, evidence, .. }) =
        &one.checked
    {
        write!(out, r#","mount":{mount},"device":{device},"inode":{number}"#)?;
        write!(out, r#","evidence":"{evidence}""#)?;
    }
    if let Some(unexpected) = unexpected {
        json_bytes(out, r#","unexpected":"#, unexpected)?;
    }
    out.write_all(b"}")
}

/// Writes it as CSV (RFC 4180), with a header. `group` says what may be done with each entry.
///
/// # Errors
/// The writer's.
pub fn csv(out: &mut dyn Write, reclaimable: &Reclaimable) -> io::Result<()> {
    out.write_all(b"path,size,frees_least,frees_most,written,rule,back,command,owner,group\n")?;
    let Reclaimable { found, by_program, recent, others, .. } = reclaimable;
    let groups =
        [("can go", found), ("by program", by_program), ("recent", recent), ("look first", others)];
    let all = groups.into_iter().flat_map(|(name, list)| list.iter().map(move |one| (name, one)));
    for (group, one) in all {
        let Reclaim { path, size, frees, written, owner, command, unexpected, rule, .. } = one;
        let back = if unexpected.is_none() { &*rule.back } else { "" };
        let command = command.as_deref().unwrap_or_default();
        let owner = owner.as_deref().unwrap_or_default();
        let [path, rule, back, command, owner] =
            [path, rule.name.as_bytes(), back.as_bytes(), command.as_bytes(), owner.as_bytes()]
                .map(quoted);
        let Freeable { least, most, .. } = frees;
        writeln!(
            out,
            "{path},{size},{least},{most},{written},{rule},{back},{command},{owner},{group}"
        )?;
    }
    Ok(())
}
