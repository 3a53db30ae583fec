//! `weigh [PATH…]`: the largest directories and files.

use super::{COUNT, CommandInfo, DRAWN, FILTERS, LIMITS, MEASURES, PRINTED, SAVED, SOURCES, WORK};
use crate::app::cli::elsewhere::instead_of_value;
use weigh::internal::sys;

pub(in crate::app::cli) const TREE: CommandInfo = CommandInfo {
    name: "",
    about: "Show the largest directories and files, as a tree",
    operands: "[PATH]...",
    examples: &[
        ("weigh ~", "the largest directories and files of your home"),
        ("weigh -x /", "without other disks and network mounts"),
        ("weigh -F -n 20 --older 1y ~", "the 20 largest files that nobody changed for a year"),
    ],
    notes: "",
    own: &[
        SOURCES,
        MEASURES,
        "filetime",
        COUNT,
        FILTERS,
        LIMITS,
        "file_types by collapse summarize frees",
        DRAWN,
        SAVED,
        "fail_over shard",
        PRINTED,
        WORK,
        "type_list find_format man ui",
    ],
    also: &[],
    take: |flags| {
        let paths = flags.roots.paths.iter();
        let missing = paths.filter(|path| flags.show.file_types && !sys::exists(path.as_ref()));
        match missing.filter_map(|path| path.to_str()).find_map(instead_of_value) {
            Some(instead) => {
                Err(format!("-t takes no value, because it is --by type\nuse {instead}"))
            }
            None => Ok(()),
        }
    },
};
