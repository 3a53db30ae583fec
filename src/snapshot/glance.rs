//! Reads only the header of a snapshot.

use std::io;
use std::path::Path;

use super::schema::Header;
use super::{Origin, TOO_LITTLE, open, problem};
use crate::problem::{Operation, Problem};

/// The header of a snapshot.
#[derive(Clone, Debug)]
pub struct Glance {
    /// Its origin.
    pub origin: Origin,
    /// Whether everything could be read when it was made.
    pub is_complete: bool,
}

/// Reads the header of the snapshot at `path`, which weigh wrote. The rest is not checked; it may even be missing.
///
/// # Errors
/// The system's, and an error if `--save` did not write the file.
pub fn glance(path: &Path) -> Result<Glance, Problem> {
    read(path).map_err(|error| problem(path, Operation::Load, &error))
}

fn read(path: &Path) -> io::Result<Glance> {
    let mut tokens = open(path)?;
    let (mut header, mut is_ours) = (Header::default(), false);
    tokens.take(b'{')?;
    while tokens.member()? {
        match tokens.text() {
            b"children" => break,
            b"tool" => is_ours = tokens.utf8()? == "weigh",
            _ => header.read(&mut tokens)?,
        }
    }
    header.glance().filter(|_| is_ours).ok_or_else(|| tokens.error(TOO_LITTLE))
}
