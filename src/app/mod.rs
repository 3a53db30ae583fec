//! The program around the library: flags, the terminal, the screen. It is built with the library, so that tests and
//! examples can browse without a terminal, and nothing is compiled twice.

pub mod browse;
pub mod clean;
pub mod cli;
pub mod kept;
pub mod signals;
pub mod terminal;
pub mod watch;
