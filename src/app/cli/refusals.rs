//! Flags that cannot be combined, with the reason and the way out.

use clap::Command;

use super::commands::shown;
use super::config::Setting;
use super::parse::Given;

/// A flag, or with `=` one of its values, or with `!` any value but these.
pub(super) type Use = &'static str;

/// The way out if either of two flags makes sense.
const BOTH: &str = "leave out {one} or {other}";

/// Uses of flags, uses of others that cannot be combined with them, the reason, and the way out. `{one}` and `{other}` in
/// it are the two that were given.
const REFUSED: &[(&[Use], &[Use], &str, &str)] = &[
    (
        &["apparent_size"],
        &["filecount", "inodes"],
        "weigh counts one thing at a time: lengths (-s), files (-f) or inodes (--inodes)",
        BOTH,
    ),
    (
        &["filecount"],
        &["inodes"],
        "weigh counts one thing at a time: lengths (-s), files (-f) or inodes (--inodes)",
        BOTH,
    ),
    (
        &["filetime"],
        &["filecount", "inodes"],
        "-m shows times beside sizes, and not beside numbers of files",
        BOTH,
    ),
    (
        &["filetime"],
        &["min_size"],
        "-m shows times, which -z does not limit",
        "leave out -z; --newer and --older choose by time",
    ),
    (
        &["exact_links"],
        &["count_links"],
        "-l counts each link, and --exact-links each file once",
        BOTH,
    ),
    (
        &["gitignore"],
        &["only_ignored"],
        "--gitignore leaves out ignored files, and --only-ignored counts only them",
        BOTH,
    ),
    (&["only_dir"], &["only_file"], "-F shows only files and -D only directories", BOTH),
    (&["file_types"], &["by"], "-t is --by type", BOTH),
    (
        &["file_types", "by"],
        &["depth", "only_dir", "only_file", "full_paths", "collapse"],
        "groups are totals, without levels, paths or single files",
        "leave out {one} to see a tree, or {other} to see groups",
    ),
    (
        &["collapse"],
        &["save"],
        "a saved scan contains everything",
        "leave out --collapse, and show the scan with it later: weigh --from FILE --collapse PATH",
    ),
    (
        &["summarize"],
        &[
            "number_of_lines",
            "depth",
            "min_size",
            "only_dir",
            "only_file",
            "file_types",
            "by",
            "collapse",
            "sort",
            "skip_total",
            "filetime",
            "output_json",
            "form",
        ],
        "--summarize prints one line for each PATH, and nothing else",
        "leave out {one} or {other}: without --summarize, -d 0 shows only totals",
    ),
    (
        &["frees"],
        &["apparent_size", "filecount", "inodes", "filetime", "count_links", "dereference_links"],
        "--frees counts disk blocks, because deleting frees blocks, not lengths, files or links",
        BOTH,
    ),
    (
        &["frees"],
        &["from"],
        "--frees looks at each file while it scans",
        "leave out --frees: a snapshot that was saved with it shows it",
    ),
    (
        &["frees"],
        &["since", "summarize", "file_types", "by"],
        "--frees shows each entry of a tree",
        BOTH,
    ),
    (
        &["frees"],
        &["sort=time", "form!json"],
        "--frees is shown with sizes, as a tree or with -j",
        "leave out {other}",
    ),
    (
        &["form=ncdu"],
        &["number_of_lines", "depth", "min_size", "only_dir", "only_file", "file_types", "by"],
        "--as ncdu exports everything",
        "leave out {other}",
    ),
    (
        &["form=ncdu"],
        &["filecount", "inodes", "filetime"],
        "ncdu knows sizes in bytes",
        "leave out {other}",
    ),
    (&["form!json"], &["filetime"], "only a tree and JSON show times", "use -j, or leave out -m"),
    (&["output_json"], &["form"], "-j is --as json", BOTH),
    (&["no_colors"], &["force_colors", "color"], "-c is --color never", BOTH),
    (&["force_colors"], &["color"], "-C is --color always", BOTH),
    (
        &["from"],
        &[
            "dereference_links",
            "count_links",
            "exact_links",
            "limit_filesystem",
            "overlays",
            "gitignore",
            "only_ignored",
            "exclude_caches",
        ],
        "--from reads a file and scans nothing, so {other} has no effect",
        "leave out {other}, or scan with it: weigh {other} --save FILE PATH",
    ),
    (
        &["from"],
        &["rsh", "threads", "rate", "read", "skip", "shard", "series"],
        "--from reads a file and scans nothing, so {other} has no effect",
        "leave out {other}",
    ),
    (
        &["from"],
        &["atime", "ctime"],
        "a snapshot has only times of modification",
        "leave out {other}, or use --older or --newer",
    ),
    (
        &["from"],
        &["paths", "files0_from", "files_from"],
        "--from shows FILE instead of a PATH",
        "leave out {other}; to compare with it: weigh diff FILE PATH",
    ),
    (&["read=bulk"], &["dereference_links"], "--read bulk follows no symlinks", BOTH),
    (
        &["shard"],
        &["since", "dereference_links", "files0_from", "files_from"],
        "--shard scans a part of one PATH for a snapshot",
        BOTH,
    ),
    (
        &["reclaimable"],
        &[
            "ignore_hidden",
            "ignore_directory",
            "filter",
            "invert_filter",
            "ignore_all_in_file",
            "exclude",
            "include",
            "exclude_from",
            "gitignore",
            "only_ignored",
            "exclude_caches",
            "only_type",
            "type_not",
            "newer",
            "mtime",
            "atime",
            "ctime",
        ],
        "{one} needs files that {other} may leave out, such as the Cargo.toml beside target",
        "leave out {other}",
    ),
    (
        &["empty_trash"],
        &["apply"],
        "--empty-trash deletes your trash, and --apply deletes build output and caches",
        BOTH,
    ),
    (
        &["empty_trash"],
        &["from"],
        "--empty-trash deletes your trash, and a plan lists build output and caches",
        BOTH,
    ),
    (
        &["empty_trash"],
        &[
            "free",
            "only",
            "older",
            "trash",
            "min_size",
            "ignore_directory",
            "exclude",
            "exclude_from",
            "owner",
            "limit_filesystem",
            "skip",
            "frees",
        ],
        "--empty-trash deletes everything in your trash",
        "leave out {other}; to delete only some entries: weigh ui ~/.local/share/Trash/files",
    ),
    (&["files0_from"], &["files_from"], "weigh reads PATHs from one file only", BOTH),
    (
        &["fail_over"],
        &["filetime", "sort=time"],
        "--fail-over limits sizes, not times",
        "leave out {other}",
    ),
    (
        &["by=size"],
        &["filecount", "inodes", "filetime"],
        "--by size needs sizes in bytes",
        "leave out {other}",
    ),
];

/// The uses in the table that are among the flags in `given`.
pub(super) fn used(given: &Given) -> Vec<Use> {
    let all = REFUSED.iter().flat_map(|(ones, others, ..)| ones.iter().chain(*others)).copied();
    all.filter(|used| is_used(used, given)).collect()
}

/// Refuses a pair of uses that cannot be combined, with the way out.
pub(super) fn refuse(command: &Command, used: &[Use]) -> Result<(), String> {
    let shown = |used: Use| {
        let arg = command.get_arguments().find(|arg| arg.get_id() == name(used));
        arg.map_or_else(|| used.to_owned(), shown)
    };
    for (ones, others, why, instead) in REFUSED {
        let first = |these: &[Use]| these.iter().copied().find(|it| used.contains(it));
        if let (Some(one), Some(other)) = (first(ones), first(others)) {
            let (one, other) = (shown(one), shown(other));
            let text = format!("{{one}} and {{other}} cannot be combined: {why}\n{instead}");
            return Err(text.replace("{one}", &one).replace("{other}", &other));
        }
    }
    Ok(())
}

/// Whether a setting of the config file cannot be combined with the typed flags. Then it does nothing in this run.
pub(super) fn gives_way(setting: &Setting, typed: &Given) -> bool {
    let values = || setting.arguments.iter().filter_map(|it| Some(it.split_once('=')?.1));
    let is_set = |used: &Use| name(used) == setting.flag && is_among(used, values());
    REFUSED.iter().any(|(ones, others, ..)| {
        let meets = |these: &[Use], those: &[Use]| {
            those.iter().any(|it| is_used(it, typed)) && these.iter().any(is_set)
        };
        meets(ones, others) || meets(others, ones)
    })
}

fn name(used: Use) -> &'static str {
    used.split(['=', '!']).next().unwrap_or(used)
}

fn is_used(used: Use, given: &Given) -> bool {
    let flags = given.0.iter().filter(|(id, _)| used.starts_with(id) && name(used) == id);
    let mut values = flags.map(|(_, values)| values.iter().filter_map(|value| value.to_str()));
    values.any(|values| is_among(used, values))
}

/// Whether `values` of a flag are used so.
fn is_among<'v>(used: Use, mut values: impl Iterator<Item = &'v str>) -> bool {
    match (used.split_once('='), used.split_once('!')) {
        (Some((_, wanted)), _) => values.any(|value| value.eq_ignore_ascii_case(wanted)),
        (_, Some((_, not))) => values.any(|value| !value.eq_ignore_ascii_case(not)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::app::cli::flags::Flags;

    #[test]
    fn each_use_is_of_a_flag() {
        let flags = Flags::command();
        for used in REFUSED.iter().flat_map(|(ones, others, ..)| ones.iter().chain(*others)) {
            assert!(flags.get_arguments().any(|arg| arg.get_id() == name(used)), "{used}");
        }
    }
}
