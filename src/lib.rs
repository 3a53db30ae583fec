//! `weigh` answers one question, "where did the space go?", exactly, in parallel, and in memory
//! that grows only with the number of hard-linked inodes.
//!
//! # The one way that data flows
//!
//! ```text
//! arguments ─► cli ─► Request
//!                       │
//!                     report ─────────────────────────► Outcome ─► exit status
//!                       │
//! roots ─► walk ──────► tally ──────► tree ──────► render ─► stdout, snapshots
//!          │ sys          │ what       one shape,     │ tree, json
//!          │ filter       │ bubbles up one way        └► stderr
//!          └► problems,   │            through it
//!             progress    │
//! files ───► snapshot ────┘
//! ```
//!
//! * [`report`] is the front door: it does what a [`Request`] asks for. It knows no flag and no terminal.
//! * [`sys`] lists directories and stats entries, by the source that serves the root or the mount; and reads ext4
//!   from its device. Nothing else touches the file system.
//! * [`filter`] says what does not count. It changes totals.
//! * [`walk`] visits every directory once, in parallel, and bubbles finished directories up. It
//!   knows nothing of what is gathered.
//! * [`total`] is the one place where a directory closes: what it comes to, every inode once.
//! * [`tally`] is what is gathered: the N largest nodes, the whole tree, totals by group. It knows nothing of how
//!   the walk goes. A new kind of report is a new file there.
//! * [`tree`] is what every tally comes to, packed; and the one way through it, which also goes through two trees
//!   side by side.
//! * [`snapshot`] is a walk's result in a file: written whole or not at all, fed to any tally as if it
//!   were walked, and weighed anew where filters leave out some of it.
//! * [`diff`] is what there is between two snapshots: what grew, what shrank.
//! * [`render`] turns a finished tally into text. It is pure: no file system, no clock, no terminal.
//! * [`cli`] turns flags, and the config file beneath them, into a request and a form to show the outcome in;
//!   [`terminal`] knows the terminal, and shows the progress on it.
//! * [`measure`], [`weighed`], [`problem`], [`bounds`], [`path`], [`gear`] and [`interrupt`] are the words that all of
//!   them share: what is measured, what it came to, what could not be read, what it may come to, where, on how many
//!   threads, and what Ctrl-C ends.
//!
//! [`Request`]: report::Request
//!
//! # Imports run one way
//!
//! Each part may use those in its line, and no other. A test reads this table and the `use` lines.
//!
//! ```text
//! main       cli report render terminal problem interrupt
//! cli        report snapshot walk tally tree render filter sys measure problem path terminal interrupt
//! report     diff filter snapshot walk total tally tree render measure problem bounds interrupt gear weighed
//! terminal   walk render
//! render     diff snapshot tree measure problem bounds path gear weighed
//! diff       sys total tally tree path
//! snapshot   filter sys total tally tree measure problem path interrupt weighed
//! walk       sys filter total tally tree measure problem path gear weighed
//! filter     sys measure path
//! total      sys tally tree measure
//! tally      sys tree measure path
//! tree       sys measure path
//! sys        measure path
//! bounds     measure
//! measure
//! weighed    problem
//! problem
//! path
//! gear
//! interrupt
//! ```
//!
//! # Invariants
//!
//! * Every inode counts once in the total of any directory, in every measure, however many links
//!   lead to it (once a mount, where a tree is mounted in several places); no result depends on the number of threads or on timing.
//! * Nothing recurses: not the walk, not rendering, not dropping. Depth costs memory, never stack.
//! * No path is put together while walking, except for an error, for whoever watches, and for
//!   filters that look at paths.
//! * Only directories are ever opened, relative to their parents and without following symlinks;
//!   apart from lists, patterns and snapshots in files that were named to be read, git's rules,
//!   configuration and index if those are asked for, devices that are read ahead of or in bulk, and what the
//!   system tells of itself in proc and sys.
//! * A name is copied only once its entry is known to be kept.
//! * Sums are exact inside and saturate when they are shown.
//! * There is no process-wide mutable state, and no unsafe code.
//!
//! # Example
//!
//! ```
//! use weigh::report::{self, Keep, Request};
//! use weigh::tally::Limits;
//! use weigh::tree::Order;
//!
//! let keep = Keep::Largest(Limits { lines: 10, ..Limits::NONE });
//! let request = Request { keep, ..Request::of_roots(["src".into()]) };
//! let outcome = report::run(&request, |_| {}).expect("there is no file to be read");
//! let tree = outcome.snapshot.weighed.report.expect("src is there to be read");
//! let largest = tree.root().children(Order::Size);
//! assert!(largest.len() <= 10);
//! assert!(tree.root().size() >= largest[0].size());
//! ```

#[cfg(not(any(unix, windows)))]
compile_error!("weigh knows Unix and Windows: see docs/platforms.md");

pub mod bounds;
pub mod cli;
pub mod diff;
pub mod filter;
pub mod gear;
pub mod interrupt;
pub mod measure;
pub mod path;
pub mod problem;
pub mod render;
pub mod report;
pub mod snapshot;
pub mod sys;
pub mod tally;
pub mod terminal;
pub mod total;
pub mod tree;
pub mod walk;
pub mod weighed;
