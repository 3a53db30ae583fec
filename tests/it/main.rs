//! The black-box tests of `weigh`: one binary, in which every module asks one question of the
//! program and knows nothing of how it is built.
//!
//! * What the tests stand on: [`fixture`] builds a tree by name and leaves nothing behind, [`run`]
//!   starts the program in a clean environment, [`document`] reads its JSON to any depth,
//!   [`picture`] its tree, [`oracle`] says what is right by asking `find` and `du`, [`dice`] grows
//!   trees from a seed, [`rounds`] says how often, [`storage`]
//!   is slow, or fails, as it is told to, [`denied`] takes one system call away.
//! * What is counted: [`random`], [`selection`], [`counting`], [`groups`], [`times`], [`filters`], [`gitignore`],
//!   [`tracked`], [`roots`], [`follow`], [`mounts`].
//! * What must not break it: [`churn`], [`deep`], [`wide`], [`names`], [`loaded`], [`bombs`], [`errors`], [`interrupt`],
//!   [`determinism`].
//! * What it leaves undone: [`start`]. Who is asked: [`sources`].
//! * What other programs ask of the library: [`library`].
//! * What is asked for: [`config`], [`dust`], [`help`], [`order`].
//! * What the world does to it: [`faults`], [`slow`], [`renamed`], [`storm`], [`signals`], [`hangups`], [`streams`],
//!   [`numbers`], [`kernel`], [`disks`], [`prefetch`], [`bulk`], [`fuzz`].
//! * What is shown: [`shown`], [`golden`], [`terminal`], [`tty`], [`json`], [`snapshots`], [`saving`], [`reweighed`], [`several`], [`shares`], [`since`], [`history`], [`alike`],
//!   [`export`], [`parquet`], [`summarize`], [`space`], [`browse`], [`screen`], [`view`].
//! * What is deleted: [`removing`], [`races`], [`freeing`], [`frees`], [`frees_faults`], [`frees_review`].
//! * What rots: [`layering`], [`leftovers`], [`pages`], [`readme`].
//!
//! `tests/against-dust` beside this holds pictures against those of dust, where that is installed.
//!
//! Where the variable WEIGH_TEST_SOURCE is `portable`, every run of the program is on the portable source; a test
//! that cannot hold there says so with `native_only!`. What only holds on Linux says so with a `cfg`.
//!
//! Tests that mount something, some of them through `/dev/fuse`, are ignored unless asked for as root:
//! `cargo test -- --ignored`.
#![allow(clippy::unwrap_used, reason = "a test that cannot get what it needs should stop there")]

#[cfg(target_os = "linux")]
mod denied;
mod dice;
mod document;
mod fixture;
mod oracle;
mod order;
mod picture;
mod pty;
mod rounds;
#[macro_use]
mod run;
#[cfg(target_os = "linux")]
#[path = "../../benches/storage.rs"]
mod storage;

mod alike;
mod bombs;
mod browse;
mod bulk;
mod churn;
mod config;
mod counting;
mod deep;
mod determinism;
mod disks;
mod errors;
mod export;
mod faults;
mod filters;
mod follow;
mod freeing;
mod frees;
mod frees_faults;
mod frees_review;
mod fuzz;
mod git_config;
mod gitignore;
mod golden;
mod groups;
mod hangups;
mod help;
mod history;
mod html;
mod interrupt;
mod json;
mod kernel;
mod layering;
mod leftovers;
mod library;
mod loaded;
mod mounts;
mod names;
mod numbers;
mod pages;
#[cfg(feature = "parquet")]
mod parquet;
mod prefetch;
mod protected;
mod races;
mod random;
mod readme;
mod removing;
mod renamed;
mod reweighed;
mod roots;
mod saving;
mod screen;
mod selection;
mod several;
mod shares;
mod shown;
mod signals;
mod since;
mod slow;
mod snapshots;
mod sources;
mod space;
mod start;
mod storm;
mod streams;
#[cfg(target_os = "linux")]
mod summarize;
mod terminal;
mod times;
mod tracked;
mod tty;
mod view;
mod wide;
