//! Browses a tree, even while it is being weighed; marks entries, and shows how much removing them would free.
//!
//! * `browser`: the state. `update`: how keys change it; `keys`: the actions of keys. None of them uses a terminal.
//! * `listing`, `item`, `sorting`, `pattern`: the entries of one directory, in order.
//! * `marks`, `freed`, `protected`: the marks, their totals, and what must not be marked.
//! * `removal`, `follow`: removes marked entries, and updates the tree and its totals.
//! * `view` draws the state, and is pure. `screen` is the loop, and the only part with a terminal, threads and
//!   signals. Both need the feature `tui`.

mod browser;
mod follow;
pub mod freed;
pub mod item;
mod keys;
mod listing;
pub mod marks;
pub mod pattern;
pub mod protected;
mod removal;
mod sorting;
pub mod update;
#[cfg(feature = "tui")]
pub mod view;

#[cfg(feature = "tui")]
mod screen;
#[cfg(not(feature = "tui"))]
#[path = "no_screen.rs"]
mod screen;

pub use browser::{BrowseOptions, Browser, Ended};
pub use keys::Key;
pub use protected::Protected;
pub use removal::RemovalProgress;
pub use screen::{IS_BUILT, run};
pub use sorting::{SortKey, Sorting};
