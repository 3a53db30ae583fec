//! One number a root, as `du -s` prints it.

use std::io::{self, Write};

use super::name::escape;
use super::size::Format;

/// How a line is written.
#[derive(Clone, Debug, Default)]
pub struct SummaryOptions {
    /// How sizes are written.
    pub format: Format,
    /// Whether names are written as they are. A terminal wants them escaped.
    pub is_raw: bool,
}

/// Writes the line of the root called `name`.
///
/// # Errors
/// The writer's.
pub fn line(
    out: &mut impl Write,
    name: &[u8],
    size: u64,
    options: &SummaryOptions,
) -> io::Result<()> {
    write!(out, "{}\t", options.format.write(size))?;
    if options.is_raw {
        out.write_all(name)?
    } else {
        write!(out, "{}", escape(name))?
    }
    out.write_all(b"\n")
}
