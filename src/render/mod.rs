//! Turns a finished report into text. Pure: no file system, no clock, no terminal; width, colours
//! and all else come in as options.

pub mod changes;
pub mod colors;
pub mod errors;
pub mod json;
mod lines;
pub mod name;
pub mod progress;
pub mod size;
pub mod stats;
pub mod time;
pub mod tree;
