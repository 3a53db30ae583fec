//! Reads only the header of a snapshot.

use std::path::Path;

use super::schema::Header;
use super::tokens::Tokens;
use super::{Origin, TOO_LITTLE, compression, problem};
use crate::problem::{Operation, Problem};
use crate::sys;

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
    let glance = || {
        let (file, size) = sys::open_snapshot(path)?;
        let mut tokens = Tokens::new(compression::unpack(file, size)?);
        let (mut header, mut is_first, mut is_ours) = (Header::default(), true, false);
        tokens.take(b'{')?;
        while tokens.member(is_first)? {
            is_first = false;
            match tokens.text() {
                b"children" => break,
                b"tool" => is_ours = tokens.utf8()? == "weigh",
                _ => {
                    if !header.read(&mut tokens)? {
                        tokens.skip()?;
                    }
                }
            }
        }
        match header.glance().filter(|_| is_ours) {
            Some(glance) => Ok(glance),
            None => Err(tokens.error(TOO_LITTLE)),
        }
    };
    glance().map_err(|error| problem(path, Operation::Load, &error))
}
