//! Turns a finished report into text. Pure: no file system, no clock, no terminal; width, colours
//! and all else come in as options.

pub mod changes;
pub mod colors;
pub mod errors;
pub mod json;
mod lines;
pub mod name;
pub mod ncdu;
mod ordered;
pub mod progress;
pub mod rows;
pub mod size;
pub mod stats;
pub mod time;
pub mod tree;

use std::io::{self, Write};

use crate::changes::Changes;
use crate::measure::Measure;
use crate::tree::Tree;
use crate::walk::Walked;

/// What to show.
#[derive(Debug)]
pub enum Output {
    /// A picture.
    Tree(Box<tree::Options>),
    /// JSON.
    Json(json::Options),
    /// CSV.
    Csv,
    /// JSON lines.
    Ndjson,
    /// ncdu's export.
    Ncdu {
        /// What the sizes count.
        measure: Measure,
        /// When, in seconds since the epoch.
        time: i64,
    },
}

/// Writes what a walk came to; where there are `changes`, its sizes are their churn.
///
/// # Errors
/// The writer's.
pub fn write(
    out: &mut impl Write,
    walked: &Walked<Tree>,
    changes: Option<&Changes>,
    output: &Output,
) -> io::Result<()> {
    match (output, changes, &walked.report) {
        (Output::Json(options), Some(changes), _) => changes::write(out, walked, changes, options),
        (Output::Json(options), None, _) => json::write(out, walked, options),
        (Output::Ncdu { measure, time }, _, _) => ncdu::write(out, walked, *measure, *time),
        (Output::Tree(options), _, Some(tree)) => tree::draw(out, tree, changes, options),
        (Output::Csv, _, Some(tree)) => rows::csv(out, tree, changes),
        (Output::Ndjson, _, Some(tree)) => rows::ndjson(out, tree, changes),
        (Output::Tree(_) | Output::Csv | Output::Ndjson, _, None) => Ok(()),
    }
}
