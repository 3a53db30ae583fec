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
use crate::scan::Scan;
use crate::tree::Tree;
use size::{Format, Formats};
use tree::Bars;

/// How to show what came of it.
#[derive(Debug)]
pub enum Output {
    /// As a picture.
    Tree(Box<tree::Options>, Formats),
    /// As JSON.
    Json(json::Options),
    /// As CSV.
    Csv,
    /// As JSON lines.
    Ndjson,
    /// As ncdu's export.
    Ncdu {
        /// When, in seconds since the epoch.
        time: i64,
    },
}

/// Writes what came of a walk; where there are `changes`, its sizes are their churn.
///
/// # Errors
/// The writer's.
pub fn write(
    out: &mut impl Write,
    Scan { walked, measure, .. }: &Scan<Tree>,
    changes: Option<&Changes>,
    output: Output,
) -> io::Result<()> {
    let measure = *measure;
    match (output, &walked.report) {
        (Output::Json(options), _) => {
            let options = json::Options { measure, ..options };
            match changes {
                Some(changes) => changes::write(out, walked, changes, &options),
                None => json::write(out, walked, &options),
            }
        }
        (Output::Ncdu { time }, _) => ncdu::write(out, walked, measure, time),
        (Output::Tree(mut options, formats), Some(tree)) => {
            options.format = formats.of(measure);
            if matches!(options.format, Format::Time(_)) {
                // A time is no part of another.
                options.bars = Bars::None;
            }
            tree::draw(out, tree, changes, &options)
        }
        (Output::Csv, Some(tree)) => rows::csv(out, tree, changes),
        (Output::Ndjson, Some(tree)) => rows::ndjson(out, tree, changes),
        (Output::Tree(..) | Output::Csv | Output::Ndjson, None) => Ok(()),
    }
}
