//! Takes the place of `parquet` if weigh is built without that feature.

use std::io::{self, Write};

use super::ExportOptions;
use crate::tree::Tree;

/// Writes nothing.
///
/// # Errors
/// Always: it is not built in.
pub fn write(_: &mut dyn Write, _: &Tree, _: &ExportOptions) -> io::Result<()> {
    Err(io::Error::other("this weigh was built without the feature parquet"))
}
