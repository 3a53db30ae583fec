//! Unix: what terminals understand is in the variable TERM, and none needs to be asked to understand colours.

use std::env;

/// Whether the terminal shows more than plain lines.
pub fn is_capable() -> bool {
    env::var_os("TERM").is_none_or(|term| term != "dumb")
}
