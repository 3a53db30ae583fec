//! Looks around in what was weighed, while it is weighed; marks some of it, and says what removing that would free.
//!
//! * `browser`: what is looked at. `update`: what keys do to it; `keys`: which do. Neither knows a terminal.
//! * `listing`, `item`, `sorting`, `pattern`: the entries of one directory, in order.
//! * `marks`, `freed`, `protected`: what is marked, what that comes to, and what is not to be marked.
//! * `removal`, `follow`: what is removed of what is marked, and what is looked at then.
//! * `view` draws it, and is pure; `screen` is the loop, and the only one with a terminal, threads and signals. They
//!   are there with the feature `tui`.

mod browser;
mod follow;
mod freed;
mod item;
mod keys;
mod listing;
mod marks;
mod pattern;
mod protected;
mod removal;
mod sorting;
mod update;
#[cfg(feature = "tui")]
pub mod view;

#[cfg(feature = "tui")]
mod screen;
#[cfg(not(feature = "tui"))]
#[path = "no_screen.rs"]
mod screen;

pub use browser::{BrowseOptions, Browser, Ended};
pub use freed::Freed;
pub use item::Item;
pub use keys::Key;
pub use marks::{Identification, Marks, NamedMarks};
pub use pattern::{MarkedBy, NamePattern};
pub use protected::{Protected, Refusal};
pub use removal::RemovalProgress;
pub use screen::{IS_BUILT, run};
pub use sorting::{SortKey, Sorting};
pub use update::Command;
