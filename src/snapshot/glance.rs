//! Reads only the header of a snapshot.

use std::io;
use std::path::Path;

use super::packed::blocks::{self, FileHeader, damaged};
use super::schema::Header;
use super::{Opened, Origin, TOO_LITTLE, open, problem};
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
    let mut tokens = match open(path)? {
        Opened::Packed(file, size) => {
            let (FileHeader { header, .. }, _) = blocks::header(file, size)?;
            return header.glance().ok_or_else(|| damaged(TOO_LITTLE));
        }
        Opened::Text(tokens) => tokens,
    };
    let mut header = Header::default();
    tokens.take(b'{')?;
    while tokens.member()? && tokens.text() != b"children" {
        header.read(&mut tokens)?;
    }
    header.glance().ok_or_else(|| tokens.error(TOO_LITTLE))
}
