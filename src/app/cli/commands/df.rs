//! `weigh df`: why df reports more than du.

use super::{CommandInfo, DRAWN, FILTERS, LIMITS, PRINTED, WORK};

pub(super) const DF: CommandInfo = CommandInfo {
    name: "df",
    about: "Explain why df reports more than du",
    operands: "[PATH]...",
    examples: &[
        ("weigh df", "the file systems, and deleted files that are still open"),
        ("sudo weigh df /", "all that uses one of them; root sees more of it"),
        ("weigh df root@web1:/", "on another machine, with nothing installed there"),
    ],
    notes: "",
    own: &["depth number_of_lines output_json"],
    also: &[
        FILTERS,
        LIMITS,
        DRAWN,
        "paths files_from files0_from rsh frees overlays fail_over by file_types collapse",
        PRINTED,
        WORK,
    ],
    take: |flags| {
        flags.show.df = true;
        flags.is_df_alone = !flags.roots.are_named();
        Ok(())
    },
};
