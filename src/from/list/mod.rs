//! Lists: what other programs say of entries, in any order, made into a tree (docs/lists.md).
//!
//! * `find`: reads what GNU find prints, with all attributes; `lines`: sizes and paths; `table`: CSV; `json`: JSON.
//! * `entries`: the entries of a list, from whatever reads one.
//! * `sorted`: sorts them in bounded memory; `feed`: feeds them to a tally, as in a walk.

mod entries;
mod feed;
mod find;
mod json;
mod lines;
mod sorted;
mod table;

use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};
use std::path::Path;

use crate::base::measure::{Measure, Measures};
use crate::from::snapshot::{self, Opened, Origin, Snapshot, Wanted};
use crate::sys::problem::{Operation, Problem, hinted};
use crate::tree::Report;
use crate::tree::total::BeginReplay;

pub use entries::{Duplicates, ListEntries, ListOptions};
pub use feed::ListFindings;
pub use find::{FIND_END, FIND_FORMAT, read_find};

/// Loads `lists`, each with its path, as one, to be seen as `wanted`: feeds their entries to what `begin` makes for that view.
///
/// # Errors
/// The system's, those of a line, and [`Operation::Show`] if they lack what is wanted.
pub fn load<'p>(
    lists: impl IntoIterator<Item = Result<(&'p Path, Opened), Problem>>,
    options: ListOptions,
    wanted: Wanted,
    begin: BeginReplay<'_>,
) -> Result<Snapshot, Problem> {
    let mut entries = ListEntries::new(options);
    let (mut path, mut known) = (Path::new(""), None);
    let mut origin = Origin { has_times: true, has_details: true, ..Origin::default() };
    let has_bytes =
        |known: Measures| known.contains(Measure::Disk) || known.contains(Measure::Apparent);
    let failed = |path, error: io::Error| {
        let is_wrong = error.kind() == ErrorKind::InvalidData;
        let operation = if is_wrong { Operation::Show } else { Operation::Load };
        snapshot::problem(path, operation, &error)
    };
    for list in lists {
        let opened;
        (path, opened) = list?;
        let Opened::List(start, rest) = opened else {
            return Err(failed(path, refused("it is no list any more")));
        };
        entries.begin_file();
        let (its, of) = read(start, rest, &mut entries).map_err(|error| failed(path, error))?;
        let both = known.map_or(its, |known: Measures| its.and(known));
        if has_bytes(its) && !has_bytes(both) {
            return Err(failed(path, refused("it has no size that the lists before it have, too")));
        }
        known = Some(both);
        origin.has_times &= of.has_times;
        origin.has_details &= of.has_details;
        origin.lacks_modes |= of.lacks_modes;
    }
    let failed = |error| failed(path, error);
    let known = known.unwrap_or_default();
    let usual = if known.contains(Measure::Disk) { Measure::Disk } else { Measure::Apparent };
    let view = wanted.view(usual, known);
    if let Some(message) = snapshot::other_measure(view.measure, wanted.measure) {
        return Err(failed(refused(message)));
    }
    let origin = origin.listed(entries.roots());
    let (tree, findings) = entries.replay(begin, view, wanted.times).map_err(failed)?;
    let ListFindings { seem_totals, problems } = findings;
    // What has modes is no output of du.
    if seem_totals && origin.lacks_modes {
        let message = "the sizes of directories in it may be totals, as du prints them, or their own\nadd --from-format du or \
            --from-format list";
        return Err(failed(refused(message)));
    }
    let report = Report { answer: Some(tree), problems, ..Report::default() };
    Ok(Snapshot { report, view, known, origin: Some(origin), is_list: true })
}

fn refused(what: impl Into<String>) -> io::Error {
    hinted(ErrorKind::InvalidData, what)
}

/// The command that lists the files in a tar archive, with any names.
pub const TAR_LINE: &str =
    r#"tar xf FILE --to-command='printf "$TAR_SIZE %s\0" "$TAR_FILENAME"' | weigh --from -"#;

/// Reads a list into `entries`. Its start tells of which kind it is. Returns which measures it knows, and what else it
/// says of each entry.
fn read(
    start: Vec<u8>,
    rest: Box<dyn Read>,
    entries: &mut ListEntries,
) -> io::Result<(Measures, Origin)> {
    const BUFFER: usize = 64 << 10;
    if start.is_empty() {
        return Err(refused("it is empty"));
    }
    if start.get(257..262) == Some(b"ustar") {
        let what = format!("it is a tar archive, and weigh reads a list of it: {TAR_LINE}");
        return Err(refused(what));
    }
    let has_nul = start.contains(&0);
    let is_find = start.starts_with(find::START);
    let is_json = matches!(start.trim_ascii_start().first(), Some(b'[' | b'{'));
    let form = table::form(&start);
    let mut input = BufReader::with_capacity(BUFFER, Cursor::new(start).chain(rest));
    match form {
        _ if is_find => {
            let has_end = read_find(&mut input, entries)?;
            if has_end && !input.fill_buf()?.is_empty() {
                return Err(entries.error("something comes after the end"));
            }
            Ok((Measures::ALL, Origin { has_times: true, has_details: true, ..Origin::default() }))
        }
        _ if is_json => json::read(Box::new(input), entries),
        Some(form) => table::read(input, form, entries),
        None => {
            lines::read(&mut input, if has_nul { 0 } else { b'\n' }, entries)?;
            let known = [Measure::Apparent, Measure::Files, Measure::Inodes].into_iter().collect();
            Ok((known, Origin { lacks_modes: true, ..Origin::default() }))
        }
    }
}
