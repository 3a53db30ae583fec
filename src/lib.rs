//! `weigh` answers one question, "where did the space go?", exactly, in parallel, and in memory
//! that does not grow with the number of files, but for those with several links.
//!
//! # The one way that data flows
//!
//! ```text
//! arguments ─► cli ─► options of each stage
//!                       │
//! roots ─► walk ──────► tally ──────► tree ──────► render ─► stdout, saved scans
//!          │ sys          │ what       one shape,     │ tree, json
//!          │ filter       │ bubbles up one way        └► stderr
//!          └► problems,   │            through it
//!             progress    │
//! saved scans ─► scan ────┘
//! ```
//!
//! * [`sys`] lists directories and states entries. Nothing else touches the file system.
//! * [`filter`] says what does not count. It changes totals.
//! * [`walk`] visits every directory once, in parallel, and bubbles finished directories up. It
//!   knows nothing of what is gathered.
//! * [`tally`] is what is gathered: the N largest nodes, the whole tree, totals by group. It knows nothing of how
//!   the walk goes. A new kind of report is a new file there.
//! * [`tree`] is what every tally comes to, packed; and the one way through it, which also goes through two trees
//!   side by side.
//! * [`scan`] is a walk's result in a file: written whole or not at all, fed to any tally as if it
//!   were walked, and weighed anew where filters leave out some of it.
//! * [`changes`] is what there is between two scans: what grew, what shrank.
//! * [`render`] turns a finished tally into text. It is pure: no file system, no clock, no terminal.
//! * [`cli`] turns flags into the options of each stage, [`gather`] gathers what they ask for, from a
//!   walk or a saved scan; [`config`] is the file beneath the flags; [`terminal`] knows the terminal, and shows
//!   the progress on it.
//! * [`measure`], [`problem`], [`path`] and [`gear`] are the words that all of them share: what is
//!   measured, what could not be read, where, and on how many threads.
//!
//! # Imports run one way
//!
//! `main → gather → cli → {config, walk, tally, render, sys, terminal}`, `terminal → {walk, render}`,
//! `gather → scan → {walk, filter}`, `walk → {sys, filter, tally}`, `tally → {tree, sys}`, `tree → sys` (its types),
//! `render → {changes, scan, walk, tree}` (what they come to), and everything may
//! use those words, which use nothing. A test reads the `use` lines and keeps it so.
//!
//! # Invariants
//!
//! * Every inode counts once in the total of any directory, in every measure, however many links
//!   lead to it (once a mount, where a tree is mounted in several places); no result depends on the number of threads or on timing.
//! * Nothing recurses: not the walk, not rendering, not dropping. Depth costs memory, never stack.
//! * No path is put together while walking, except for an error, for whoever watches, and for
//!   filters that look at paths.
//! * Only directories are ever opened, relative to their parents and without following symlinks;
//!   apart from lists, patterns and scans in files that were named to be read, git's rules and
//!   index if those are asked for, and what the system tells of itself in proc and sys.
//! * A name is copied only once its entry is known to be kept.
//! * Sums are exact inside and saturate when they are shown.
//! * There is no process-wide mutable state, and no unsafe code.
//!
//! # Example
//!
//! ```
//! use weigh::tally::{Limits, Top};
//! use weigh::tree::Order;
//! use weigh::walk::{self, Options};
//!
//! let largest = Top::new(Limits { lines: 10, ..Limits::NONE });
//! let walked = walk::walk(vec!["src".into()], Options::default(), largest, |_| {});
//! let tree = walked.report.expect("src is there to be read");
//! let largest = tree.root().children(Order::Size);
//! assert!(largest.len() <= 10);
//! assert!(tree.root().size() >= largest[0].size());
//! ```

#[cfg(not(unix))]
compile_error!(
    "weigh is made for Linux; it may run on other Unix systems, and does not on this one"
);

pub mod changes;
pub mod cli;
pub mod config;
pub mod filter;
pub mod gather;
pub mod gear;
pub mod measure;
pub mod path;
pub mod problem;
pub mod render;
pub mod scan;
pub mod sys;
pub mod tally;
pub mod terminal;
pub mod tree;
pub mod walk;
