//! For builds without the feature `tui`, which have no screen.

use std::io;

use super::options::{BrowseOptions, Ended};
use weigh::internal::ask::Request;
use weigh::internal::sys::problem::{Operation, Problem};

/// Whether there is a screen to browse on.
pub const IS_BUILT: bool = false;

/// Does nothing.
///
/// # Errors
/// Always.
pub fn run(_: &Request, _: BrowseOptions) -> Result<Ended, Problem> {
    let error = io::Error::from(io::ErrorKind::Unsupported);
    Err(Problem::new(b"the screen".to_vec(), Operation::Open, &error))
}
