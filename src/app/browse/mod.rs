//! Browses a tree, even while it is being weighed; marks entries, and shows how much removing them would free.
//!
//! * `event`: what the state learns, and what it wants to be done. `options`: how to browse, and how that ended.
//! * `browser`: the state. In it, `scan` is the tree with its marks, and `review` is what is being removed.
//! * `update`: how events change the state. `results` does that for scans, `removal` for the review and for removals.
//!   `keys`: what each key does. None of all these uses a terminal, a thread or the file system, except for the
//!   listings of a snapshot and the names of owners.
//! * `listing`, `pattern`: the lines of the list, in order. `views`: the search, and lists that are not of one
//!   directory; `query` finds their lines.
//! * `causes`: a view of what is in no file, for `--df`. `clean`: a view of entries that can be made or
//!   downloaded again.
//! * `outside`: paths that are copied, or opened in another program.
//! * `marks`: the marks, and the entries that must not be marked. The system is asked about these once.
//! * `follow`: updates the tree and its totals.
//! * `work`: the loop, with threads.
//! * `view` draws the state, and is pure. `screen` is the terminal, and `background` asks it for its colours. All need
//!   the feature `tui`.

// Without a screen, nothing of it is used.
#![cfg_attr(not(feature = "tui"), allow(dead_code))]

#[cfg(feature = "tui")]
mod background;
pub mod browser;
mod causes;
mod clean;
pub mod event;
mod follow;
pub mod keys;
pub mod listing;
mod map;
mod marks;
mod options;
mod outside;
mod pattern;
mod query;
mod removal;
mod results;
pub mod review;
mod scan;
mod update;
#[cfg(feature = "tui")]
pub mod view;
mod views;
pub mod work;

#[cfg(feature = "tui")]
mod screen;

pub use keys::{Binding, Bindings};
pub use listing::{SortKey, Sorting};
pub use marks::Protected;
pub use options::{BrowseOptions, LazySearch};
pub use screen::{IS_BUILT, run};

#[cfg(not(feature = "tui"))]
#[path = "no_screen.rs"]
mod screen;
