//! The program around the library: flags, the terminal, the screen. Its tests and examples include this folder, too, so
//! that they can browse without a terminal.

pub mod browse;
pub mod cli;
pub mod signals;
pub mod terminal;
