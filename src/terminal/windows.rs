//! Windows: a terminal interprets escape sequences only on request; before Windows 10, it cannot.

use std::env;

/// Makes the terminal interpret escape sequences. Returns whether it shows more than plain lines.
pub fn is_capable() -> bool {
    // Emulators of a Unix terminal set TERM, and are no console for Windows.
    let is_enabled = || nu_ansi_term::enable_ansi_support().is_ok();
    env::var_os("TERM").map_or_else(is_enabled, |term| term != "dumb")
}
