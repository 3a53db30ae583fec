//! Snapshots: a walk's result in a file, and back out of it into any tally.
//!
//! A snapshot is read as it streams by, and fed to the tally as a walk would: nothing is kept of it but
//! what the tally keeps. So whatever can be shown of a walk can be shown of a saved one.
//!
//! * `compression`: zstd and gzip.
//! * `bytes`, `tokens` and `skip`: JSON, piece by piece.
//! * `schema` and `header`: schema 1, weigh's own; `ncdu`: its export.
//! * `reweigh`: weighed anew, with filters, or by time; `roots`: of what;
//!   `comparable`: whether two count the same things; `doubts`: what their comparison cannot tell.
//! * `file_system`: what there is beside what was seen.

mod bytes;
mod comparable;
mod compression;
mod doubts;
mod file_system;
mod header;
mod ncdu;
mod origin;
mod reweigh;
mod roots;
mod schema;
mod skip;
mod tokens;

pub use crate::sys::Destination;
pub use comparable::difference;
pub use compression::is_compressed;
pub use doubts::{Doubt, doubts};
pub use file_system::{FileSystem, file_systems};
pub use origin::{GivenRoot, Origin, Share, Volume};
pub use reweigh::{TIMES, reweigh};

use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::interrupt::Interrupt;
use crate::measure::Measure;
use crate::problem::{Operation, Problem, unless_closed};
use crate::sys::{self, Draft};
use crate::tally::Tally;
use crate::weighed::Weighed;
use compression::Packer;
use tokens::Tokens;

/// What is wrong with a snapshot that has sizes and little more.
pub const TOO_LITTLE: &str =
    "what -j prints says too little for that; what --save writes says enough";

/// Where a snapshot is written to.
pub type Out<'a> = BufWriter<UntilAsked<'a, Packer<Draft>>>;

/// What is written to until somebody asks for the end.
pub struct UntilAsked<'a, W> {
    out: W,
    interrupt: &'a Interrupt,
}

/// What a walk came to, and what there is to know of it later.
#[derive(Debug)]
pub struct Snapshot<R> {
    /// What it came to.
    pub weighed: Weighed<R>,
    /// What its sizes count.
    pub measure: Measure,
    /// Where it comes from, if that is known.
    pub origin: Option<Origin>,
}

/// Whether something can be saved at `to`, as far as that can be told without doing it.
///
/// # Errors
/// The system's.
pub fn ensure_savable(to: &Destination) -> Result<(), Problem> {
    to.ensure_writable().map_err(|error| problem(&to.path, Operation::Save, &error))
}

/// Saves what `write` writes at `to`, compressed as the ending says. Until it is whole, and safe
/// on the device, a file that was there before is there still.
///
/// # Errors
/// The system's, and that somebody asked for the end.
pub fn save(
    to: &Destination,
    interrupt: &Interrupt,
    write: impl FnOnce(&mut Out<'_>) -> io::Result<()>,
) -> Result<(), Problem> {
    let save = || {
        let out = Packer::new(&to.path, Draft::new(to)?)?;
        let mut out = BufWriter::new(UntilAsked { out, interrupt });
        write(&mut out)?;
        let draft = out.into_inner()?.out.finish()?;
        check(interrupt, "interrupted")?;
        draft.put()?;
        check(interrupt, "interrupted, when it was in its place")
    };
    // What is no file has no draft that could stay, and may wait for a reader for ever.
    let saved = if to.is_replaced() { interrupt.put_off(save) } else { save() };
    let saved = if to.is_stdout { unless_closed(saved) } else { saved };
    saved.map_err(|error| problem(&to.path, Operation::Save, &error))
}

fn check(interrupt: &Interrupt, message: &str) -> io::Result<()> {
    // Not of the kind that is called so: that would be tried again.
    if interrupt.is_asked() { Err(io::Error::other(message)) } else { Ok(()) }
}

impl<W: Write> Write for UntilAsked<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        check(self.interrupt, "interrupted")?;
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Feeds `tally` with the snapshot at `path`, by weigh or by ncdu, whose sizes must count what `measure` says, if anything.
///
/// # Errors
/// The system's, and what is wrong with the file.
pub fn load<T: Tally>(
    path: &Path,
    measure: Option<Measure>,
    tally: T,
) -> Result<Snapshot<T::Report>, Problem> {
    load_after(path, measure, tally, |_| Ok(()))
}

/// The same. `look` sees where the snapshot comes from before its tree is read, if it says so there, as those do
/// that were saved; what it finds wrong is what is wrong.
///
/// # Errors
/// Likewise, and those of `look`.
pub fn load_after<T: Tally>(
    path: &Path,
    measure: Option<Measure>,
    tally: T,
    look: impl FnOnce(&Origin) -> Result<(), Problem>,
) -> Result<Snapshot<T::Report>, Problem> {
    let check = |is: Measure| match measure {
        Some(wanted) if is != wanted => {
            let (is, wanted) = (is.name(), wanted.name());
            Err(io::Error::other(format!("its sizes are {is} sizes, not {wanted} sizes")))
        }
        _ => Ok(()),
    };
    let mut found = None;
    let look = |is: Measure, origin: &Origin| {
        check(is)?;
        look(origin).map_err(|problem| {
            found = Some(problem);
            io::ErrorKind::Other.into()
        })
    };
    let load = || {
        let (file, size) = sys::open_snapshot(path)?;
        let mut tokens = Tokens::new(compression::unpack(file, size)?);
        let snapshot = if tokens.peek()? == b'[' {
            ncdu::read(&mut tokens, measure.unwrap_or_default(), tally)?
        } else {
            schema::read(&mut tokens, tally, look)?
        };
        tokens.end()?;
        check(snapshot.measure)?;
        Ok(snapshot)
    };
    let loaded = load();
    loaded.map_err(|error| found.unwrap_or_else(|| problem(path, Operation::Load, &error)))
}

/// What `error` says of the snapshot at `path`.
pub fn problem(path: &Path, operation: Operation, error: &io::Error) -> Problem {
    Problem::new(path.as_os_str().as_encoded_bytes().to_vec(), operation, error)
}
