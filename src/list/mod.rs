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

pub use entries::{Duplicates, ListEntries, ListOptions};
pub use feed::ListFindings;
pub use find::{FIND_END, FIND_FORMAT, read_find};

use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};
use std::path::Path;

use crate::measure::{Measure, Measures};
use crate::problem::{Operation, Problem};
use crate::snapshot::{self, Origin, Snapshot, Wanted};
use crate::total::BeginReplay;
use crate::weighed::Weighed;

/// Loads the list at `path`, standard input for `-`, to be seen as `wanted`: feeds it to what `begin` makes for that view.
/// Returns as well whether directories seem to have totals, and not their own sizes as it was said.
///
/// # Errors
/// The system's, those of a line, and [`Operation::Show`] if it lacks what is wanted.
pub fn load(
    path: &Path,
    options: ListOptions,
    wanted: Wanted,
    begin: BeginReplay<'_>,
) -> Result<(Snapshot, bool), Problem> {
    let failed = |error: io::Error| {
        let is_wrong = error.kind() == ErrorKind::InvalidData;
        let operation = if is_wrong { Operation::Show } else { Operation::Load };
        snapshot::problem(path, operation, &error)
    };
    let mut entries = ListEntries::new(options);
    let input = snapshot::text(path).map_err(failed)?;
    let (known, origin) = read(input, &mut entries).map_err(failed)?;
    let usual = if known.contains(Measure::Disk) { Measure::Disk } else { Measure::Apparent };
    let view = wanted.view(usual, known);
    if let Some(message) = snapshot::other_measure(view.measure, wanted.measure) {
        return Err(failed(io::Error::new(ErrorKind::InvalidData, message)));
    }
    let origin = origin.listed(entries.roots());
    let (tree, findings) = entries.replay(begin, view, wanted.times).map_err(failed)?;
    let ListFindings { seem_totals, problems } = findings;
    let weighed = Weighed { report: Some(tree), problems, ..Weighed::default() };
    // What has modes is no output of du.
    let seem_totals = seem_totals && origin.lacks_modes;
    Ok((Snapshot { weighed, view, known, origin: Some(origin) }, seem_totals))
}

/// Reads a list into `entries`. Its start tells of which kind it is. Returns which measures it knows, and what else it
/// says of each entry.
fn read(mut input: Box<dyn Read>, entries: &mut ListEntries) -> io::Result<(Measures, Origin)> {
    /// Several times as long as a path may be on any system (limits.h, PATH_MAX).
    const START: usize = 64 << 10;
    const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
    let mut start = Vec::with_capacity(START);
    input.by_ref().take(START as u64).read_to_end(&mut start)?;
    if start.starts_with(BYTE_ORDER_MARK) {
        start.drain(..BYTE_ORDER_MARK.len());
    }
    let has_nul = start.contains(&0);
    let is_find = start.starts_with(find::START);
    let is_json = matches!(start.trim_ascii_start().first(), Some(b'[' | b'{'));
    let form = table::form(&start);
    let mut input = BufReader::with_capacity(START, Cursor::new(start).chain(input));
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
