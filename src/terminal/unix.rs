//! Unix: the variable TERM says what the terminal understands. Colours need no request.

use std::env;

/// Whether the terminal shows more than plain lines.
pub fn is_capable() -> bool {
    env::var_os("TERM").is_none_or(|term| term != "dumb")
}
