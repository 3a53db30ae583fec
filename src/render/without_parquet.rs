//! What there is in place of Parquet in a weigh that was built without its feature.

use std::io::{self, Write};

use super::json::ExportOptions;
use crate::tree::Tree;

/// Writes nothing.
///
/// # Errors
/// Always: why.
pub fn write(_: &mut impl Write, _: &Tree, _: &ExportOptions) -> io::Result<()> {
    Err(io::Error::other("this weigh was built without the feature parquet"))
}
