//! `weigh clean`: build output and caches, and the commands that remove them.

use super::{CommandInfo, PRINTED, WORK};
use crate::app::cli::flags::Flags;
use weigh::internal::base::when::{Unit, When};

pub(super) const CLEAN: CommandInfo = CommandInfo {
    name: "clean",
    about: "Find build output and caches, and the commands that remove them",
    operands: "[PATH]...",
    examples: &[
        ("weigh clean ~", "list caches and build output; nothing is removed"),
        ("weigh clean --older 3mo ~", "only entries that nobody wrote to for three months"),
        ("weigh clean --older 0h ~", "also entries that were written today"),
    ],
    notes: "A directory needs more than the right name: target counts only beside a\n\
        Cargo.toml, node_modules only beside a package.json and its lock file.\n",
    own: &["older limit_filesystem skip min_size output_json"],
    also: &[
        "number_of_lines",
        PRINTED,
        WORK,
        "remember remember_bound series paths frees files_from files0_from terminal_width screen_reader",
    ],
    take: |flags| {
        flags.show.reclaimable = true;
        look_for_unused(flags);
        Ok(())
    },
};

/// Takes `--older` for the time in which nobody may have written to an entry. As a filter, it would hide newer files.
pub(super) fn look_for_unused(flags: &mut Flags) {
    // Entries that were written in the last day may be in use.
    let older = flags.filters.older.take().unwrap_or(When::Ago(1, Unit::Days));
    flags.show.unused = Some(older);
}
