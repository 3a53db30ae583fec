//! `weigh history`: how a tree grew.

use std::mem;
use std::path::PathBuf;

use super::{CommandInfo, MEASURES, PRINTED, WORK};

pub(super) const HISTORY: CommandInfo = CommandInfo {
    name: "history",
    about: "Show growth per day and when the disk is full",
    operands: "[PATH]...",
    examples: &[
        ("weigh history ~", "from the scans of your home that weigh kept"),
        ("weigh history snapshots/", "from the snapshots of weigh --save snapshots/"),
        ("weigh history --scans", "list the kept scans; --forget removes them"),
    ],
    notes: "",
    own: &["number_of_lines series scans forget output_json"],
    also: &[
        "depth min_size",
        MEASURES,
        "paths full_paths screen_reader terminal_width remember_bound",
        PRINTED,
        WORK,
    ],
    take: |flags| {
        if !flags.snapshots.lists_kept() {
            let paths = mem::take(&mut flags.roots.paths);
            flags.snapshots.history = Some(paths.into_iter().map(PathBuf::from).collect());
        }
        Ok(())
    },
};
