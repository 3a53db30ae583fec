//! `weigh` answers one question, "where did the space go?", exactly, in parallel, and in memory
//! that grows only with what is kept.
//!
//! The largest directories and files:
//!
//! ```
//! # fn main() -> Result<(), weigh::Problem> {
//! use weigh::Request;
//!
//! let outcome = weigh::run(&Request::of(["src"]))?;
//! for entry in outcome.root().children().iter().take(10) {
//!     println!("{:>12} {}", entry.size(), entry.name().display());
//! }
//! assert!(outcome.is_complete(), "{:?}", outcome.problems());
//! # assert!(outcome.root().size() > outcome.root().children()[0].size());
//! # Ok(())
//! # }
//! ```
//!
//! What grew and what shrank between two snapshots:
//!
//! ```
//! # use weigh::Problem;
//! # fn main() -> Result<(), Problem> {
//! # let directory = tempfile::tempdir().expect("a directory");
//! # let [monday, friday] = ["monday.weigh", "friday.weigh"].map(|name| directory.path().join(name));
//! # let tree = directory.path().join("tree");
//! # std::fs::create_dir_all(tree.join("logs")).expect("a tree");
//! # weigh::run(&Request::of([&tree]).save_to(&monday))?;
//! # std::fs::write(tree.join("logs/new"), "grows").expect("a file");
//! # weigh::run(&Request::of([&tree]).save_to(&friday))?;
//! use weigh::{Measure, Request};
//!
//! let request = Request::saved([friday]).since(monday).measure(Measure::Apparent);
//! for entry in weigh::run(&request)?.root().children() {
//!     println!("{:+} {}", entry.growth().unwrap_or(0), entry.name().display());
//!     # assert_eq!((entry.growth(), &*entry.name()), (Some(5), "logs".as_ref()));
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Without its default features, the crate is only this library, and builds without what only the program needs:
//!
//! ```toml
//! [dependencies]
//! weigh = { path = "../weigh", default-features = false }
//! ```
//!
//! Everything else here is about how weigh is built. Its parts are private.
//!
//! # Imports point down
//!
//! Seven layers. A part may use the layers below it, and the parts to its left. A test reads this drawing:
//!
//! ```text
//! app main                commands, flags, config file · screen, terminal, signals
//! show api                results as text: tree, tables, JSON, CSV, Parquet, page · the public library
//! ask                     answers to a request: largest, groups, growth, space that can be freed, `df`
//! scan from remove watch  the walk · snapshots, lists, other machines · deleting and the trash · growth as it happens
//! tree                    directories, their totals, and the packed result
//! sys                     every system call
//! fs base                 formats of git, bbolt and ext4 · measures, inodes, times, paths, limits
//! ```
//!
//! ```text
//! arguments ─► app ─► Request
//!                       │
//!                      ask ───────────────────────────► Outcome ─► exit status
//!                       │
//! roots ─► scan/walk ─► tree/tally ───► tree ─────────► show ─► stdout, snapshots
//!          │ sys        │ what bubbles  one shape,      │ tree, json
//!          │ filter     │ up            one way         └► stderr
//!          └► problems, │               through it
//!             progress  │
//! from/snapshot ────────┤
//! from/list ────────────┤
//! from/remote ──────────┘
//! ```
//!
//! * `app` is the program and no part of the library. `cli` turns flags, and the config file below them, into a
//!   request and a form for the output. `browse` shows a result on a screen, and marks entries: a state, a pure view of
//!   it, and one loop. `terminal` knows the terminal, and shows the progress on it. `signals` handles Ctrl-C and other
//!   signals. `main`, its tests and its benches use one build of them, so `app` is a hidden module here. It needs the
//!   feature `cli`.
//! * `api` is the public library.
//! * `show` turns a result into text. It uses no file system, no clock and no terminal, with one exception: when
//!   it writes its first date, `sys` looks up the time zone.
//! * `ask` answers a [`Request`]. It knows no flags and no terminal. `diff` is the difference between two snapshots:
//!   entries that grew, shrank, appeared, disappeared or moved. `history` compares many: the largest changes, their
//!   rates, and the day on which a file system is full, from its `trend`. `causes` finds out how full file systems are,
//!   before a walk, and why more space is used on them than the walk saw in files. `reclaimable` finds entries that can be
//!   made or downloaded again, by rules. During a walk it keeps only entries that these may find. A second walk keeps the
//!   evidence that removing compares.
//! * `scan`: `walk` visits every directory once, in parallel, and adds finished directories to their parents. It
//!   does not know what is kept. `filter` decides what counts. It changes totals. `containers` knows what the
//!   directories of container engines are, from the engines' files. `stats` counts the work of a walk.
//! * `from`: `snapshot` is the result of a walk in a file. It is written completely or not at all, loaded into any
//!   tally like a walk, and weighed again if filters leave something out. `series` is the snapshots of one tree at
//!   different times, in files with dated names: which one is meant, and which are kept. `list` is a tree made from
//!   what other programs list: entries in any order, sorted in bounded memory, and fed to any tally like a walk.
//!   `remote` starts a program on another machine, through ssh, and feeds what arrives to any tally.
//! * `remove` deletes entries, or moves them into the trash, for the screen and for `clean`: only what was scanned
//!   and has not changed, and only with a `Consent`.
//! * `watch` follows directories: by events of the system that name entry and process, or by scanning again. Its `table`
//!   has the size of each inode, and its `places` the growth of each directory, by process.
//! * `tree` is the packed result of every tally, with one traversal for everything, also for two trees side by
//!   side. `tally` decides what is kept: the N largest nodes, the whole tree, or totals by group. It does not know
//!   how the walk works. A new kind of answer is a new file there. `total` is the only place that closes a
//!   directory: it computes the directory's total. `sum` adds up inodes, each once, and what removing some of them
//!   frees.
//! * `sys` lists directories and examines entries, through the source for the root or the mount. Nothing else
//!   touches the file system. Each failure is a [`Problem`].
//! * `fs`: `git` knows what git ignores and tracks, `bbolt` reads containerd's databases, and `ext4` reads ext4 from a
//!   device that `sys` opened. They import nothing else of weigh.
//! * `base` is shared by all: inodes, measures and units, points in time, invalid values, escapes in text, limits,
//!   work on several cores, paths, and how to end a walk early.
//!
//! # Invariants
//!
//! * Every inode counts once in the total of any directory, in every measure, however many links lead to it. (It
//!   counts once for each mount of a tree that is mounted in several places.) No result depends on the number of
//!   threads or on timing.
//! * Nothing recurses: not the walk, not rendering, not dropping. Depth costs memory, never stack.
//! * The walk builds a path only for an error, for the progress line, and for filters that need paths.
//! * Only directories are opened, relative to their parents and without following symlinks. Exceptions are the config
//!   file; lists, patterns and snapshots that the user names or had remembered; the terminal; git's rules,
//!   configuration and index, and the tags of caches, if flags ask for them; the tags, lock files and git indexes
//!   that prove what can go; files of container engines in their storage; the devices of file systems that are
//!   prefetched or read in bulk, or for `--df`; the log and the info files of a delete; files that are asked what
//!   they share; the file of the time zone; the user database; and files in proc and sys.
//! * Two other programs are started: the one that leads to another machine (`remote`), and the one that opens files for
//!   the desktop, by a key of the screen.
//! * A name is copied only when it is certain that its entry is kept.
//! * Sums are exact, and saturate when they are shown.
//! * Nothing is asked of other processes but for `df`, `clean` and `watch`, and no mount is copied but for `df` and `watch`.
//! * There is no process-wide mutable state, and no unsafe code.
//!
// Without the program, some of it is unused.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]

// The program names the library as every other program does.
#[cfg(feature = "cli")]
extern crate self as weigh;

#[cfg(not(any(unix, windows)))]
compile_error!("weigh knows Unix and Windows: see docs/platforms.md");

mod api;
mod ask;
mod base;
mod from;
mod fs;
mod remove;
mod scan;
mod show;
mod sys;
mod tree;
mod watch;

#[cfg(feature = "cli")]
#[doc(hidden)]
#[allow(
    missing_docs,
    rustdoc::bare_urls,
    reason = "it is no part of the library, and some of its docs are help"
)]
pub mod app;

pub use api::{Outcome, Request, TreeEntry, run};
pub use base::interrupt::Interrupt;
pub use base::invalid::InvalidValue;
pub use base::measure::{Figures, Kind, Measure};
pub use sys::problem::{Operation, Problem};

/// What the program, its tests and its benches use beyond what is public. It changes without notice.
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod internal {
    macro_rules! layers {
        ($($layer:ident)*) => {
            $(pub mod $layer {
                pub use crate::$layer::*;
            })*
        };
    }

    layers! { ask base from fs remove scan show sys tree watch }
}
