//! Unix: writing more than a file may have raises a signal, which would end the process.

use std::io;
use std::sync::Arc;

use signal_hook::consts::SIGXFSZ;
use signal_hook::flag;

/// From now on, writing past RLIMIT_FSIZE fails with EFBIG and does not end the process.
///
/// # Errors
/// The system's.
pub fn outlive_size_limit() -> io::Result<()> {
    flag::register(SIGXFSZ, Arc::default()).map(drop)
}
