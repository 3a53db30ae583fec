//! What the header of a snapshot says, without the rest of it.

use std::path::Path;

use super::header::Header;
use super::tokens::Tokens;
use super::{Origin, TOO_LITTLE, compression, problem};
use crate::problem::{Operation, Problem};
use crate::sys;

/// What the header of a snapshot says.
#[derive(Clone, Debug)]
pub struct Glance {
    /// Where it comes from.
    pub origin: Origin,
    /// Whether everything was read that it is of.
    pub is_complete: bool,
}

/// What the header of the snapshot at `path` says, which weigh wrote. Nothing is known of the rest, not even whether
/// it is there.
///
/// # Errors
/// The system's, and that it is none that `--save` wrote.
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
