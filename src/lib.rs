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
//! All of its parts are private. `ARCHITECTURE.md` in the repository says how they fit together.

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
