//! The black-box tests of `weigh`. They are one binary. Each module asks one question of the program, and knows nothing
//! of how it is built.
//!
//! With `WEIGH_TEST_SOURCE=portable`, every run of the program uses the portable source of listings. A test that cannot
//! pass there says so with `native_only!`. `.ci/run` names the modules that it does not run there.
//!
//! Tests that need root, `/dev/fuse`, or programs that not everybody has are ignored by default. To run them:
//! `cargo test -- --include-ignored`. `tests/against-dust` compares pictures with those of dust, where that is
//! installed.
#![allow(clippy::unwrap_used, reason = "a test that cannot get what it needs should stop there")]
// Without the screen, what only its tests use is unused.
#![cfg_attr(not(feature = "tui"), allow(dead_code))]

// What tests are made of. The first lines of each file say what it does.
#[macro_use]
mod run;
mod bolt;
#[cfg(target_os = "linux")]
mod denied;
mod dice;
mod document;
mod fixture;
mod month;
#[cfg(target_os = "linux")]
mod mounted;
mod oracle;
mod picture;
mod pty;
#[cfg(target_os = "linux")]
mod removal;
mod rounds;
mod saved;
#[cfg(feature = "tui")]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
mod session;
#[cfg(target_os = "linux")]
#[path = "../../benches/storage.rs"]
mod storage;

// What is counted.
mod caches;
mod churn;
mod containerd;
mod containers;
mod counting;
mod filters;
mod follow;
mod git_config;
mod gitignore;
mod groups;
mod mistyped;
mod mounts;
#[cfg(target_os = "linux")]
mod overlays;
mod owners;
mod random;
mod reclaimable;
mod roots;
mod selection;
mod skipped;
#[cfg(target_os = "linux")]
mod summarize;
mod times;
mod tracked;

// Which entries are listed, by which calls, and what is never started.
mod bulk;
mod prefetch;
mod sources;
mod ssh;
mod start;

// Size, depth, names, and hostile input.
mod bombs;
mod deep;
mod determinism;
mod fuzz;
mod loaded;
mod looks;
mod names;
mod numbers;
mod packed;
mod wide;

// What may happen meanwhile: errors, signals, changes, slow storage.
mod disks;
mod errors;
mod faults;
mod hangups;
mod interrupt;
mod kernel;
mod remembered;
mod renamed;
mod signals;
mod slow;
mod storm;
mod streams;
mod watch;

// What is asked for.
mod config;
mod dust;
mod help;
mod order;

// What is shown, saved and compared.
mod alike;
mod browse;
mod clean_tab;
mod export;
mod format;
mod golden;
mod growth;
mod history;
mod html;
mod json;
mod listings;
mod lists;
mod look;
mod map;
mod markdown;
mod metrics;
#[cfg(feature = "parquet")]
mod parquet;
mod recording;
mod reweighed;
mod saving;
mod schema;
mod screen;
mod several;
mod shares;
mod shown;
mod since;
mod snapshots;
mod space;
mod terminal;
mod tty;
mod unread;
mod unseen;
mod view;
mod views;

// What is deleted, and what that frees.
mod cleaning;
mod emptying;
mod freeing;
mod frees;
mod frees_faults;
mod frees_review;
mod protected;
mod races;
mod removing;

// The library, the order among its parts, the documentation, and the tests themselves.
mod layering;
mod leftovers;
mod library;
mod pages;
mod readme;
