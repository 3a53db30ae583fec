//! `weigh ui`: browse, mark and remove.

use super::{COUNT, CommandInfo, FILTERS, MEASURES, SOURCES, WORK, clean};

pub(in crate::app::cli) const UI: CommandInfo = CommandInfo {
    name: "ui",
    about: "Browse; mark, move to the trash with undo, delete",
    operands: "[PATH]...",
    examples: &[
        ("weigh ui ~", "browse your home; ? shows the keys"),
        ("weigh ui --clean ~", "the same, beginning with build output and caches"),
        ("weigh ui root@web1:/", "look at another machine, over ssh"),
        ("cd \"$(weigh ui --cd)\"", "go to the directory in which you quit"),
    ],
    notes: "",
    own: &["since reclaimable frees df sort read_only cd print0"],
    also: &[
        SOURCES,
        MEASURES,
        COUNT,
        FILTERS,
        "details remember remember_bound key_of output_format time_style color no_colors force_colors theme color_of \
         hyperlink terminal_width ui",
        WORK,
    ],
    take: |flags| {
        flags.screen.ui = true;
        match flags.show.reclaimable {
            true => clean::look_for_unused(flags),
            // There, `--older` is a filter.
            false => flags.show.unused = Some(clean::TODAY),
        }
        Ok(())
    },
};
