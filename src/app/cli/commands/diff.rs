//! `weigh diff`: what grew since the last scan, a time, or a snapshot.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{
    COUNT, CommandInfo, DRAWN, FILTERS, Flags, LIMITS, MEASURES, PRINTED, SAVED, SOURCES, WORK,
};
use weigh::internal::base::escape::harmless;
use weigh::internal::from::series::{self, Day};
use weigh::internal::from::snapshot;
use weigh::internal::sys;

pub(in crate::app::cli) const DIFF: CommandInfo = CommandInfo {
    name: "diff",
    about: "Show what grew since the last scan, a time, or a snapshot",
    operands: "[SINCE] [PATH]...",
    examples: &[
        ("weigh diff ~", "what grew since the last time; keeps this scan"),
        ("weigh diff 7d ~", "since a week ago; also 12h or monday"),
        ("weigh diff old.weigh new.weigh", "between two snapshots"),
    ],
    notes: "The first time, there is no earlier scan: weigh diff ~ only keeps this one.\n\
        Until then, weigh -F --newer 7d ~ lists what was written this week.\n\
        --no-remember keeps nothing, and neither does a comparison with a file.\n\
        In CI, compare with a file: weigh diff base.weigh build --fail-growth 10%\n",
    own: &["number_of_lines depth only_file by fail_growth output_json"],
    also: &[
        "since",
        SOURCES,
        MEASURES,
        COUNT,
        FILTERS,
        LIMITS,
        "file_types collapse fail_over",
        DRAWN,
        SAVED,
        PRINTED,
        WORK,
    ],
    take,
};

/// SINCE is a time or a snapshot, or left out; of two snapshots, the first is the old one.
fn take(flags: &mut Flags) -> Result<(), String> {
    if flags.snapshots.since.is_some() {
        return Ok(());
    }
    let is_given = !flags.snapshots.from.is_empty();
    let paths = &mut flags.roots.paths;
    let has_since = paths.first().is_some_and(|first| is_given || is_since(first));
    if !has_since {
        ensure_one_tree(paths)?;
        flags.snapshots.since = Some("last".into());
        return Ok(());
    }
    flags.snapshots.since = Some(PathBuf::from(paths.remove(0)));
    if is_given && !paths.is_empty() {
        return Err("--from takes the place of PATH\nleave out PATH".to_owned());
    }
    if let [now] = &**paths
        && is_snapshot(now.as_ref())
    {
        flags.snapshots.from.push(PathBuf::from(paths.remove(0)));
    }
    Ok(())
}

/// Ensures that these `paths`, without a SINCE, can be compared with an earlier scan of them.
fn ensure_one_tree(paths: &[OsString]) -> Result<(), String> {
    if let Some(word) = paths.first().and_then(|first| first.to_str())
        && !sys::exists(word.as_ref())
    {
        return Err(neither(word));
    }
    let is_late = |path: &&OsString| is_time(path) || is_snapshot_file((*path).as_ref());
    if let [path, others @ ..] = paths
        && let Some(late) = others.iter().find(is_late)
    {
        let [path, since] = [path, late].map(|word| harmless(word.as_encoded_bytes()));
        let or = if is_time(late) {
            format!("; a PATH of this name is ./{since}")
        } else {
            String::new()
        };
        return Err(format!(
            "{since} is a SINCE, which comes before PATH\nweigh diff {since} {path}{or}"
        ));
    }
    match paths {
        [one, other] if [one, other].iter().all(|path| sys::is_directory(path.as_ref())) => {
            let [one, other] = [one, other].map(|path| harmless(path.as_encoded_bytes()));
            Err(format!(
                "diff compares two times of one directory, and not {one} with {other}\n\
                 weigh -d 1 {one} {other} shows both"
            ))
        }
        _ => Ok(()),
    }
}

/// The error for a `word` that should be a SINCE.
pub(in crate::app::cli) fn neither(word: &str) -> String {
    format!(
        "'{}' is neither a file nor a time\n\
         use last, yesterday, monday, 12h, 7d, 2w, 2026-11-01, or the name of a snapshot",
        harmless(word.as_bytes())
    )
}

/// Whether an argument is SINCE, and not a PATH.
fn is_since(word: &OsString) -> bool {
    let path = Path::new(word);
    // As a rule, a snapshot has an ending, and its error says more than that it is not there.
    let is_missing = || !sys::exists(path) && path.extension().is_some();
    word == "-" || is_time(word) || is_snapshot(path) || is_missing()
}

/// Whether an argument is a time, such as `7d`.
fn is_time(word: &OsString) -> bool {
    word.to_str().is_some_and(|word| Day::named(word).is_some())
}

/// Whether a snapshot may be at `path`, or dated ones in it. Other files are PATHs.
fn is_snapshot(path: &Path) -> bool {
    match sys::is_directory(path) {
        true => series::all_in(path).is_ok(),
        false => is_snapshot_file(path),
    }
}

/// Whether a file is a snapshot, by its ending or its first bytes.
fn is_snapshot_file(path: &Path) -> bool {
    let is_named = path.extension().is_some_and(|ending| ending == "weigh");
    let is_begun = || sys::is_special_file(path) || snapshot::is_begun(path);
    sys::exists(path) && !sys::is_directory(path) && (is_named || is_begun())
}
