//! Snapshots: the result of a walk in a file, which can be loaded into any tally.
//!
//! A snapshot is fed to the tally while it is read, as in a walk, and nothing is kept except what the tally keeps. So
//! everything that can be shown of a walk can be shown of a snapshot.
//!
//! * `packed`: the `.weigh` format, written and read; `header`: its header.
//! * `ncdu`: ncdu's export, which is only read; `tokens`: JSON, piece by piece; `compression`: zstd and gzip.
//! * `reweigh`: applies filters; `roots`: the roots for that.
//! * `part`: a directory in a snapshot as a snapshot of its own.
//! * `comparable`: whether two snapshots count the same things, and what their comparison cannot tell.
//! * `several`: loads several snapshots together; `shares`: those of one tree; `devices`: which devices are the same.
//! * `file_system`: what a file system holds besides what the walk saw.

mod comparable;
mod compression;
mod devices;
mod file_system;
pub mod header;
mod ncdu;
mod origin;
pub mod packed;
mod part;
mod reweigh;
mod roots;
mod several;
mod shares;
mod tokens;

use std::io::{self, BufWriter, Cursor, Read, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use packed::blocks::{self, MAGIC, damaged};

use crate::base::escape::harmless;
use crate::base::interrupt::Interrupt;
use crate::base::measure::{Measure, Measures, View};
use crate::sys::problem::{Operation, Problem, hinted, unless_closed};
use crate::sys::{self, Draft, SnapshotFile};
use crate::tree::tally::{Limits, Tally};
use crate::tree::total::{BeginReplay, replay_to};
use crate::tree::{Report, Tree};

pub use crate::scan::filter::Share;
pub use crate::sys::Destination;
pub use comparable::{
    Doubt, difference, doubts, lacks_for_filters, of_other_roots, other_roots, sets_apart,
};
pub use file_system::{Around, Cause, FileSystem, Space, Unknown, Unseen, file_systems, mounted};
pub use origin::{GivenRoot, Origin, Volume};
pub use packed::{Digested, SavedListings};
pub use part::{leave_part, way_to};
pub use reweigh::reweigh;
pub use several::{joined, load_all};
pub use shares::other_share;
pub use tokens::DEEPEST;
pub(crate) use tokens::Tokens;

/// What a snapshot is to be seen by.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// What its sizes are to measure, if not what they do in the file.
    pub measure: Option<Measure>,
    /// Whether the largest are chosen by the time when they were last modified.
    pub by_time: bool,
    /// Whether to keep these times, if it has them.
    pub times: bool,
    /// The limits of what is shown, if nothing needs more. Directories that have no line then need not be read.
    pub limits: Option<Limits>,
}

/// The result of a walk, and what is needed to understand it later.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// The result.
    pub report: Report,
    /// What its sizes measure, and by what the largest are chosen.
    pub view: View,
    /// The measures that it knows, that of its sizes among them.
    pub known: Measures,
    /// Where it comes from, if that is known.
    pub origin: Option<Origin>,
    /// Whether it is a list that another program made.
    pub is_list: bool,
}

/// The header of a snapshot.
#[derive(Clone, Debug)]
pub struct SnapshotInfo {
    /// Its origin.
    pub origin: Origin,
    /// Whether everything could be read when it was made.
    pub is_complete: bool,
}

/// Checks whether a snapshot can be saved at `to`, as far as that is possible without saving one.
///
/// # Errors
/// The system's, and an error if that would replace a file that is not a snapshot.
pub fn ensure_savable(to: &Destination) -> Result<(), Problem> {
    const DIRECTORY: &str =
        "it is a directory\nend its name in a slash to save a dated snapshot there";
    let writable = to.ensure_writable().map_err(|error| match error.kind() {
        io::ErrorKind::IsADirectory => hinted(error.kind(), DIRECTORY),
        _ => error,
    });
    writable.map_err(|error| problem(&to.path, Operation::Save, &error))?;
    if to.is_stdout || to.directory_of_new().is_some() {
        return Ok(());
    }
    ensure_replaceable(&to.path).map_err(|error| problem(&to.path, Operation::Replace, &error))
}

/// Checks that what `path` leads to, if anything, is a snapshot that `--save` wrote, or has no content.
fn ensure_replaceable(path: &Path) -> io::Result<()> {
    if !sys::has_content(path) {
        return Ok(());
    }
    let Err(Problem { code, message, .. }) = read_info(path) else { return Ok(()) };
    let message = harmless(message.as_bytes());
    let reason = match code {
        None => "it is not a snapshot from --save".to_owned(),
        Some(_) => format!("it cannot be read to see whether it is a snapshot ({message})"),
    };
    Err(hinted(io::ErrorKind::Other, format!("{reason}\nsave to another file, or remove it first")))
}

/// Saves a `snapshot` at `to`, with so many threads. A file that exists there stays until the new one is complete and
/// safely on the device. Returns its path.
///
/// # Errors
/// The system's, an interrupt, and an error if a file that is not a snapshot is there by now.
pub fn save(
    to: &Destination,
    interrupt: &Interrupt,
    snapshot: &Snapshot,
    threads: Option<NonZeroUsize>,
) -> Result<PathBuf, Problem> {
    ensure_savable(to)?;
    let mut operation = Operation::Save;
    let mut save = || {
        let mut out = BufWriter::new(Interruptible { out: Draft::new(to)?, interrupt });
        packed::write(&mut out, snapshot, threads)?;
        let draft = out.into_inner()?.out;
        check(interrupt, "interrupted")?;
        // Long after the first check: the file may have come in the meantime.
        operation = Operation::Replace;
        draft.replaces().map_or(Ok(()), ensure_replaceable)?;
        operation = Operation::Save;
        let path = draft.put()?;
        check(interrupt, "interrupted, when it was in its place").map(|()| path)
    };
    // A pipe or a device has no draft to keep, and may wait for a reader for ever.
    let saved = if to.is_replaced() { interrupt.put_off(save) } else { save() };
    let saved = match saved {
        Err(error) if to.is_stdout => unless_closed(Err(error)).map(|()| to.path.clone()),
        saved => saved,
    };
    saved.map_err(|error| problem(&to.path, operation, &error))
}

fn check(interrupt: &Interrupt, message: &str) -> io::Result<()> {
    // Not of the kind `Interrupted`, which would be retried.
    if interrupt.is_asked() { Err(io::Error::other(message)) } else { Ok(()) }
}

/// Writes to `out`, and fails once an interrupt was requested.
struct Interruptible<'a> {
    out: Draft,
    interrupt: &'a Interrupt,
}

impl Write for Interruptible<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        check(self.interrupt, "interrupted")?;
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Wanted {
    /// The view of a snapshot that was saved in a `measure`, and has the figures of those that are `known`.
    pub fn view(self, measure: Measure, known: Measures) -> View {
        let measure = self.measure.filter(|wanted| known.contains(*wanted)).unwrap_or(measure);
        View { measure, by_time: self.by_time }
    }
}

/// Checks that a snapshot whose sizes measure `has` can show what is `wanted`, if a measure is.
///
/// # Errors
/// What the snapshot has instead.
pub fn ensure_measure(has: Measure, wanted: Option<Measure>) -> io::Result<()> {
    let Some(message) = other_measure(has, wanted) else { return Ok(()) };
    Err(hinted(io::ErrorKind::Other, message + ", or save it again"))
}

/// What sizes that measure `has` can show instead of what is `wanted`, if that is something else.
pub fn other_measure(has: Measure, wanted: Option<Measure>) -> Option<String> {
    let wanted = wanted.filter(|wanted| *wanted != has)?;
    let [has, wanted] = [has, wanted].map(Measure::noun);
    Some(format!("it has {has}, and no {wanted}\nshow {has}"))
}

impl Snapshot {
    /// Reports the other shares as missing, if it is one of several.
    pub fn report_missing_shares(&mut self) {
        let missing = shares::missing(&[self]);
        let problems = &mut self.report.problems;
        // One that was loaded and saved again says it already.
        let is_said = |problem: &Problem| problem.operation == Operation::Load;
        if !problems.iter().any(is_said) {
            problems.extend(missing);
        }
    }

    /// Sees it in another `view`.
    pub fn set_view(&mut self, view: View) {
        self.view = view;
        let answer = &mut self.report.answer;
        *answer = answer.take().map(|tree| tree.in_view(view));
    }

    /// Names its roots as `now` does, if they are the same.
    pub fn name_roots_as(&mut self, now: &Snapshot) {
        let answer = self.report.answer.as_mut();
        if let (Some(tree), Some(was), Some(is)) = (answer, &self.origin, &now.origin) {
            tree.rename_roots(&was.new_names(is));
        }
    }
}

/// Reads the header of the snapshot at `path`, which weigh wrote. The rest is not checked; it may even be missing.
///
/// # Errors
/// The system's, and an error if `--save` did not write the file.
pub fn read_info(path: &Path) -> Result<SnapshotInfo, Problem> {
    let read = open_file(path).and_then(|opened| match opened {
        Opened::Packed(file, size) => Ok(blocks::header(file, size)?.0.info()),
        _ => Err(damaged("it is not a snapshot from --save")),
    });
    read.map_err(|error| problem(path, Operation::Load, &error))
}

/// Whether the snapshot in `file`, which weigh wrote, was written to its end. Its header does not show whether the rest
/// was cut off.
pub fn has_end(file: &Path) -> bool {
    sys::open_snapshot(file).and_then(|(file, _)| blocks::ensure_end(file)).is_ok()
}

/// Loads the snapshot at `path`, saved by weigh or ncdu, to be seen as `wanted`: feeds it to the tally that `tally`
/// makes for that view. If it is one share of several, the others are reported as missing.
///
/// # Errors
/// The system's, those of an invalid file, and [`Operation::Show`] if it lacks what is wanted.
pub fn load<T: Tally<Answer = Tree>>(
    path: &Path,
    wanted: Wanted,
    tally: impl FnOnce(View) -> T + Send,
) -> Result<Snapshot, Problem> {
    let mut snapshot = load_opened(path, open(path)?, wanted, replay_to(tally))?;
    snapshot.report_missing_shares();
    Ok(snapshot)
}

/// [`load`] of a file that was `opened`, without a look at other shares.
///
/// # Errors
/// The system's, those of an invalid file, and [`Operation::Show`] if it lacks what is wanted.
pub fn load_opened(
    path: &Path,
    opened: Opened,
    wanted: Wanted,
    begin: BeginReplay<'_>,
) -> Result<Snapshot, Problem> {
    let mut failed = Operation::Load;
    let loaded = parse(opened, wanted, begin, |view, _| {
        ensure_measure(view.measure, wanted.measure).inspect_err(|_| failed = Operation::Show)
    });
    loaded.map_err(|error| problem(path, failed, &error))
}

/// [`load`] without a look at other shares, and with another check: `check` gets the view and the origin before the tree is read, but
/// of an export only when all is read. If it fails, the problem is one of [`Operation::Compare`].
///
/// # Errors
/// The system's, those of an invalid file, and those of `check`.
pub fn load_after<T: Tally<Answer = Tree>>(
    path: &Path,
    wanted: Wanted,
    tally: impl FnOnce(View) -> T + Send,
    check: impl FnOnce(View, &Origin) -> io::Result<()>,
) -> Result<Snapshot, Problem> {
    let mut failed = Operation::Load;
    let loaded = open_file(path).and_then(|opened| {
        parse(opened, wanted, replay_to(tally), |view, origin| {
            check(view, origin).inspect_err(|_| failed = Operation::Compare)
        })
    });
    loaded.map_err(|error| problem(path, failed, &error))
}

/// Reads the digests of the snapshot at `path`, to read later only what has changed: what it says besides its tree, and
/// that. None if its form does not allow it. `check` gets the view and the origin before; if it fails, the problem is
/// one of [`Operation::Compare`].
///
/// # Errors
/// The system's, those of an invalid file, and those of `check`.
pub fn digested(
    path: &Path,
    wanted: Wanted,
    check: impl FnOnce(View, &Origin) -> io::Result<()>,
) -> Result<Option<(Snapshot, Digested)>, Problem> {
    if is_read_once(path) {
        return Ok(None);
    }
    let mut failed = Operation::Load;
    let read = open_file(path).and_then(|opened| match opened {
        Opened::Packed(file, _) => packed::digested(file, wanted, |view, origin| {
            check(view, origin).inspect_err(|_| failed = Operation::Compare)
        }),
        _ => Ok(None),
    });
    read.map_err(|error| problem(path, failed, &error))
}

/// Whether it is a pipe or the like.
fn is_read_once(path: &Path) -> bool {
    path == Path::new("-") || !sys::has_content(path)
}

/// Opens the snapshot at `path` to read its listings one by one, with times: what it says besides its tree, and the
/// listings. None if its form does not allow that.
///
/// # Errors
/// The system's, and those of an invalid file.
pub fn listings(path: &Path, wanted: Wanted) -> io::Result<Option<(Snapshot, SavedListings)>> {
    if is_read_once(path) {
        return Ok(None);
    }
    let Opened::Packed(file, _) = open_file(path)? else { return Ok(None) };
    let Some((mut snapshot, listings)) = packed::listings(file, wanted)? else { return Ok(None) };
    ensure_measure(snapshot.view.measure, wanted.measure)?;
    snapshot.report.problems.extend(shares::missing(&[&snapshot]));
    Ok(Some((snapshot, listings)))
}

/// Reads a snapshot that arrives in a pipe.
///
/// # Errors
/// The system's, those of an invalid file, and an error if it lacks what is wanted.
pub fn read_from(
    pipe: SnapshotFile,
    wanted: Wanted,
    begin: BeginReplay<'_>,
) -> io::Result<Snapshot> {
    parse(opened(pipe, 0)?, wanted, begin, |view, _| ensure_measure(view.measure, wanted.measure))
}

/// [`load_after`], before its errors are problems, with a tally of any type.
fn parse(
    opened: Opened,
    wanted: Wanted,
    begin: BeginReplay<'_>,
    check: impl FnOnce(View, &Origin) -> io::Result<()>,
) -> io::Result<Snapshot> {
    let mut tokens = match opened {
        Opened::Packed(file, size) => return packed::read(file, size, wanted, begin, check),
        Opened::Export(text) => Tokens::new(text),
        Opened::List(start, _) if start.is_empty() => return Err(damaged("it is empty")),
        Opened::List(..) => return Err(damaged("it is not a snapshot")),
    };
    let snapshot = ncdu::read(&mut tokens, wanted, begin)?;
    tokens.end()?;
    check(snapshot.view, &snapshot.origin.clone().unwrap_or_default())?;
    Ok(snapshot)
}

/// A file that was opened, in the form that its content shows.
pub enum Opened {
    /// A snapshot, after its first bytes, with the size of the file.
    Packed(SnapshotFile, u64),
    /// An export of ncdu.
    Export(Box<dyn Read>),
    /// Any other text: its start, and the rest.
    List(Vec<u8>, Box<dyn Read>),
}

/// Opens the file at `path`, standard input for `-`, and unpacks it if it is compressed.
///
/// # Errors
/// The system's, and of what other programs read, and weigh does not.
pub fn open(path: &Path) -> Result<Opened, Problem> {
    open_file(path).map_err(|error| problem(path, Operation::Load, &error))
}

/// Whether the file at `path` begins as a snapshot or an export does, perhaps a damaged one.
pub fn is_begun(path: &Path) -> bool {
    match open_file(path) {
        Ok(opened) => !matches!(opened, Opened::List(..)),
        Err(error) => error.kind() == io::ErrorKind::InvalidData,
    }
}

/// Whether the file at `path` is a list, as far as its content can be read twice.
pub fn is_list(path: &Path) -> bool {
    !is_read_once(path) && matches!(open_file(path), Ok(Opened::List(..)))
}

fn open_file(path: &Path) -> io::Result<Opened> {
    let (file, size) = sys::open_snapshot(path)?;
    opened(file, size)
}

/// What is in a `file` of `size` bytes.
fn opened(mut file: SnapshotFile, size: u64) -> io::Result<Opened> {
    /// Several times as long as a path may be on any system (limits.h, PATH_MAX).
    const START: u64 = 64 << 10;
    const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
    let mut start = Vec::new();
    Read::by_ref(&mut file).take(MAGIC.len() as u64).read_to_end(&mut start)?;
    if start == MAGIC {
        return Ok(Opened::Packed(file, size));
    }
    if start == ncdu::BINARY_MAGIC {
        return Err(hinted(io::ErrorKind::InvalidData, ncdu::BINARY));
    }
    let mut text = compression::unpack(start, file, size)?;
    let mut start = Vec::new();
    text.by_ref().take(START).read_to_end(&mut start)?;
    if start.starts_with(BYTE_ORDER_MARK) {
        start.drain(..BYTE_ORDER_MARK.len());
    }
    if start.starts_with(MAGIC) {
        return Err(hinted(
            io::ErrorKind::InvalidData,
            "it is a .weigh file in a compressed one\nunpack it with gunzip or zstd -d",
        ));
    }
    let after =
        |first: &[u8]| start.trim_ascii_start().strip_prefix(first).map(<[u8]>::trim_ascii_start);
    if after(b"{").is_some_and(|first| first.starts_with(b"\"schema\"")) {
        return Err(hinted(
            io::ErrorKind::InvalidData,
            "it is JSON from weigh, which is for other programs\nweigh reads snapshots: weigh --save FILE.weigh PATH",
        ));
    }
    // The first item is a version.
    if after(b"[").is_some_and(|first| first.first().is_some_and(u8::is_ascii_digit)) {
        return Ok(Opened::Export(Box::new(Cursor::new(start).chain(text))));
    }
    Ok(Opened::List(start, text))
}

/// The digest of no names.
pub const DIGEST: u64 = 0xcbf2_9ce4_8422_2325;

/// The digest of some names, with one `more`: FNV-1a, which is the same in every version of weigh.
pub fn digest(of: u64, more: &[u8]) -> u64 {
    more.iter()
        .chain(&[0])
        .fold(of, |digest, byte| (digest ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The problem that `error` is for the snapshot at `path`.
pub fn problem(path: &Path, operation: Operation, error: &io::Error) -> Problem {
    Problem::new(path.as_os_str().as_encoded_bytes().to_vec(), operation, error)
}
