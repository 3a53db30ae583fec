//! Windows: a terminal has to be asked to heed escape sequences; those before Windows 10 cannot.

use std::env;

/// Whether the terminal shows more than plain lines, from now on.
pub fn is_capable() -> bool {
    // What imitates a Unix terminal says so, and is none for Windows.
    let is_enabled = || nu_ansi_term::enable_ansi_support().is_ok();
    env::var_os("TERM").map_or_else(is_enabled, |term| term != "dumb")
}
