//! Messages for people: errors of reading, doubts about a comparison, and limits that are exceeded. Paths and texts may
//! come from a file that somebody else made.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::size::Format;
use crate::ask::history::History;
use crate::base::bounds::{Exceeded, Growth};
use crate::base::escape::{escape, harmless};
use crate::base::measure::Measure;
use crate::from::series::Remembering;
use crate::from::snapshot::Doubt;
use crate::scan::filter::Typed;
use crate::scan::stats::{NotInBulk, OverlayStats, SharingStats, Unasked};
use crate::sys::problem::{Problem, named};
use crate::tree::{FEW_EXTENTS, LEAST_ASKED, MOST_EXTENTS, Tree};

/// How many paths a line names at most.
pub(super) const SHOWN: usize = 3;

/// A line for each directory that is its own ancestor.
pub fn cycles(problems: &[Problem]) -> Vec<String> {
    let cycles = problems.iter().filter(|problem| !problem.is_loss());
    cycles.map(|cycle| format!("{} {}", escape(&cycle.path), text_of(cycle))).collect()
}

/// A line for each kind of loss, or for each loss if `is_every`. After the last line, in a line of its own, stands what
/// to do about them: it advises sudo only if root could read more (`may_need_root`). Empty if there is no loss.
pub fn losses(problems: &[Problem], is_every: bool, may_need_root: bool) -> Vec<String> {
    let losses = problems.iter().filter(|problem| problem.is_loss());
    let mut lines: Vec<String> = Vec::new();
    let mut remedies = Vec::new();
    if is_every {
        lines.extend(losses.clone().map(ToString::to_string));
    } else {
        // For each kind, the number of losses, and the first few.
        let mut kinds: BTreeMap<_, (usize, Vec<&Problem>)> = BTreeMap::new();
        for loss in losses.clone() {
            let (count, shown) = kinds.entry((loss.operation, &loss.message)).or_default();
            *count += 1;
            if shown.len() < SHOWN {
                shown.push(loss);
            }
        }
        if kinds.values().any(|(count, _)| *count > SHOWN) {
            remedies.push("--print-errors names every path");
        }
        lines.extend(kinds.into_values().map(|(count, shown)| several(count, &shown)));
    }
    if may_need_root && losses.clone().any(Problem::is_denied) {
        remedies.push("sudo weigh may read more");
    }
    if let (Some(last), false) = (lines.last_mut(), remedies.is_empty()) {
        *last += &format!("\n{}", remedies.join(", and "));
    }
    lines
}

/// The line for so many losses of one kind: their number, and the paths of the first few.
fn several(count: usize, shown: &[&Problem]) -> String {
    let [first, _, ..] = shown else { return shown.iter().map(ToString::to_string).collect() };
    let (attempt, message) = (first.attempt(), text_of(first));
    let paths = first_few(count, shown.iter().map(|loss| loss.path.as_slice()));
    let colon = if attempt.is_empty() { "" } else { ": " };
    format!("{count} × {attempt}{colon}{message}: {paths}")
}

/// The first few of so many `paths`, and whether there are more.
pub(super) fn first_few<'p>(count: usize, paths: impl Iterator<Item = &'p [u8]>) -> String {
    let more = if count > SHOWN { ", …" } else { "" };
    let shown: Vec<_> = paths.take(SHOWN).map(named).collect();
    shown.join(", ") + more
}

/// A line for each PATH that is not a mount point itself. All of its file system is scanned.
pub fn inside(paths: &[(Vec<u8>, Vec<u8>)]) -> Vec<String> {
    let line = |(path, point): &(Vec<u8>, Vec<u8>)| {
        format!("{} is on {}, and weigh scans all of that", named(path), named(point))
    };
    paths.iter().map(line).collect()
}

/// The line about machines whose programs know no inodes, if there are any.
pub fn without_inodes(hosts: &[Vec<u8>]) -> Option<String> {
    let shown = first_few(hosts.len(), hosts.iter().map(Vec::as_slice));
    (!hosts.is_empty()).then(|| {
        format!(
            "there is no stat -f on {shown}: inodes are not known, and sizes are exact to 1 KiB"
        )
    })
}

/// The lines about a walk that was to be remembered: what had to go for it, and why it is not. `says_kept` and
/// `says_unfit` are whether to say also where it is, and why it is no walk that is kept.
pub fn remembered(
    remembered: Option<&Remembering>,
    (says_kept, says_unfit): (bool, bool),
    first: Option<&str>,
) -> Vec<String> {
    match remembered {
        Some(Remembering::Kept { file, length, expired }) => {
            let file = escape(file.as_os_str().as_encoded_bytes());
            let kept = match first {
                Some(why) => Some(format!(
                    "{why}. This one is kept ({})\nrun weigh diff again later to see what grew",
                    Format::Binary.write(*length)
                )),
                None => says_kept.then(|| format!("kept this scan: {file}")),
            };
            let over = (expired.of_other_hosts > 0).then(|| {
                "scans of other hosts take more than remember-bound in the config file allows, and stay\n\
                 weigh history --forget removes all, and --series NAME makes one series of all hosts"
                    .to_owned()
            });
            let lines = kept.into_iter().chain(removed("remember-bound", &expired.files));
            lines.chain(over).chain(expired.problems.iter().map(Problem::to_string)).collect()
        }
        Some(Remembering::Failed(problem)) => vec![unremembered(&problem.to_string())],
        Some(Remembering::Unfit(why)) if says_unfit => vec![unremembered(why)],
        Some(Remembering::Unfit(_)) | None => Vec::new(),
    }
}

/// The line that says why a walk is not remembered.
pub fn unremembered(why: &str) -> String {
    format!("this scan is not kept: {why}")
}

/// The line about so many snapshots of other hosts that `--keep` left.
pub fn of_other_hosts(count: usize) -> Option<String> {
    let plural = if count == 1 { "" } else { "s" };
    (count > 0).then(|| {
        format!(
            "--keep left {count} snapshot{plural} of other hosts\n\
             --series NAME makes one series of all hosts, and a DIR for each host keeps them apart"
        )
    })
}

/// The line about a history of scans of several `hosts`.
pub fn several_hosts(hosts: &[Vec<u8>]) -> Option<String> {
    let shown = first_few(hosts.len(), hosts.iter().map(Vec::as_slice));
    (hosts.len() > 1).then(|| {
        format!(
            "these are scans of {} hosts, as each has only one: {shown}\n--series NAME makes one series of them",
            hosts.len()
        )
    })
}

/// The line about snapshots that a `flag` removed, if there are any.
pub fn removed(flag: &str, removed: &[PathBuf]) -> Option<String> {
    let files = removed.iter().map(|file| file.as_os_str().as_encoded_bytes());
    let shown = first_few(removed.len(), files);
    match removed.len() {
        0 => None,
        1 => Some(format!("{flag} removed {shown}")),
        count => Some(format!("{flag} removed {count} snapshots: {shown}")),
    }
}

/// The line about snapshots of a `history` for which something could not be read, if there are any.
pub fn incomplete(history: &History) -> Option<String> {
    let count = history.moments.iter().filter(|moment| !moment.is_complete).count();
    match count {
        0 => None,
        1 => Some("1 snapshot is incomplete: its sizes are lower bounds".to_owned()),
        _ => Some(format!("{count} snapshots are incomplete: their sizes are lower bounds")),
    }
}

/// A line for each of `roots`, which were walked although they were to be read in bulk.
pub fn not_in_bulk(roots: &[NotInBulk]) -> Vec<String> {
    let roots = roots.iter().map(|it| (escape(&it.root), harmless(it.reason.as_bytes())));
    roots.map(|(root, why)| format!("{root} was walked, not read in bulk: {why}")).collect()
}

/// The lines about overlays: those that were not entered, and those that may count twice.
pub fn overlays(overlays: &[OverlayStats]) -> Vec<String> {
    let (once, twice): (Vec<_>, Vec<_>) = overlays.iter().partition(|it| it.layer.is_some());
    let once = (once, "not entered, because its layers count (--overlays enters it)");
    let twice = (twice, "entered, so that those of its layers which are below a PATH count twice");
    let lines = [once, twice].into_iter().filter(|(some, _)| !some.is_empty());
    lines
        .map(|(some, what)| {
            let shown = first_few(some.len(), some.iter().map(|overlay| overlay.path.as_slice()));
            format!("{} × overlay {what}: {shown}", some.len())
        })
        .collect()
}

/// The line about so many other file systems below the PATHs, with so many bytes in use.
pub fn mounted_below((count, used): (usize, u64), format: &Format) -> Option<String> {
    let (noun, verb, them) = match count {
        0 => return None,
        1 => ("system", "is", "it"),
        _ => ("systems", "are", "them"),
    };
    let used = format.write(used);
    Some(format!("{count} other file {noun} {verb} included ({used}); -x leaves {them} out"))
}

/// A line for each name or glob of a filter that met no entry.
pub fn unmet(typed: &Typed) -> Vec<String> {
    let lines = typed.unmet().map(|(flag, text)| {
        let is_glob = text.iter().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'{'));
        let hint = match flag {
            "-X" if is_glob => "\n-X takes names and paths, and --exclude takes globs".to_owned(),
            _ if text.contains(&b',') && !text.contains(&b'{') => {
                format!("\nrepeat {flag} for each of several")
            }
            "-X" => String::new(),
            _ if text.starts_with(b"/") => {
                "\na glob that begins with a slash begins at each PATH".to_owned()
            }
            _ => String::new(),
        };
        format!("{flag} '{}' matched nothing{hint}", escape(text))
    });
    lines.collect()
}

/// The line about the flags `selected_by`, which no entry in the `tree` matched.
pub fn unmatched(selected_by: Option<&str>, tree: Option<&Tree>) -> Option<String> {
    let root = tree?.root();
    let had_none = root.change().is_none_or(|change| change.churn == 0);
    let is_empty = root.is_directory() && root.totals().entries == 0 && had_none;
    selected_by.filter(|_| is_empty).map(|flags| format!("{flags} matched nothing"))
}

/// The line about a file system that reports no blocks.
pub fn no_blocks(are_none: bool) -> Option<String> {
    let line = "all sizes are 0, because the file system reports no disk blocks\n-s counts lengths";
    are_none.then(|| line.to_owned())
}

/// The lines about PATHs that were taken for names of machines, none of which could be reached, if they may be names of
/// files with a colon.
pub fn taken_for_hosts<'p>(typed: impl Iterator<Item = &'p [u8]>) -> Vec<String> {
    let names = typed.filter_map(|path| {
        let colon = path.iter().position(|byte| *byte == b':')?;
        let (host, rest) = (&path[..colon], &path[colon + 1..]);
        let is_path = rest.starts_with(b"/") || rest.starts_with(b"~");
        (!is_path).then(|| (escape(host), escape(path)))
    });
    names
        .map(|(host, path)| {
            format!(
                "{path} was taken for a path on the machine {host}\nfor a file here, type ./{path}"
            )
        })
        .collect()
}

/// The line about a root that is a snapshot, as its name says, and was not loaded.
pub fn not_loaded(tree: Option<&Tree>) -> Option<String> {
    let root = tree?.root();
    let name = escape(root.name());
    root.seems_snapshot().then(|| format!("{name} is a file: --from shows the snapshot in it"))
}

/// The line about snapshots that were saved in different measures, and are shown in one.
pub fn measures(differ: bool, shown: Measure) -> Option<String> {
    let saved = "the snapshots were saved in different measures, and show";
    let flags = "-s, --no-apparent-size, -f or --inodes shows another";
    differ.then(|| format!("{saved} {} here\n{flags}", shown.noun()))
}

/// The lines about what is not known of shared space.
pub fn sharing(stats: SharingStats) -> Vec<String> {
    let below = format!(" below {} KiB", LEAST_ASKED >> 10);
    let mut lines = Vec::new();
    lines.extend(unasked(stats.small, "did not check", &below));
    lines.extend(unasked(stats.unknown, "could not check", ""));
    if stats.has_too_many_extents {
        let [most, few] = [MOST_EXTENTS, FEW_EXTENTS].map(|count| Format::Count.write(count));
        lines.push(format!(
            "more than {most} extents are shared: in directories with more than {few} of them, the upper figure \
             counts shared space once for each file"
        ));
    }
    lines
}

/// The line about files of which it is not known what they share, if there are any.
fn unasked(Unasked { files, bytes }: Unasked, checked: &str, below: &str) -> Option<String> {
    let (count, bytes) = (Format::Count.write(files), Format::Binary.write(bytes));
    let (noun, it) = if files == 1 { ("file", "it") } else { ("files", "them") };
    (files > 0).then(|| format!(
        "--frees {checked} {count} {noun}{below} ({bytes}) for shared space: the lower figures leave {it} out"
    ))
}

fn text_of(problem: &Problem) -> String {
    harmless(problem.message.as_bytes())
}

// Says what a comparison cannot tell, one line each, for people.

/// The name, in messages, of a snapshot that weigh kept and chose.
pub const KEPT: &[u8] = b"the kept scan";

/// A line for each of `doubts` about changes since the snapshot in the file `earlier`.
pub fn doubts<'d>(doubts: impl IntoIterator<Item = &'d Doubt>, earlier: &[u8]) -> Vec<String> {
    let earlier = escape(earlier);
    doubts.into_iter().map(|doubt| line(doubt, &earlier)).collect()
}

fn line(doubt: &Doubt, earlier: &str) -> String {
    match doubt {
        Doubt::OtherHost(before, now) => other_host(before, now),
        Doubt::UnreadBefore(paths) => format!(
            "{earlier} is incomplete: what is new in {} may have been there before",
            list(paths)
        ),
        Doubt::UnreadNow(paths) => format!(
            "more could be read for {earlier}: what is gone in {} may still be there",
            list(paths)
        ),
        Doubt::InterruptedBefore => {
            format!("{earlier} was interrupted: what is new may have been there before")
        }
        Doubt::InterruptedNow => "interrupted: what is gone may still be there".to_owned(),
    }
}

/// The line that says that a snapshot of the host `before` was chosen to compare with, on the host `now`.
pub fn other_host(before: &[u8], now: &[u8]) -> String {
    let [before, now] = [before, now].map(escape);
    format!(
        "compared with a scan of host {before}, as {now} has none\n--series NAME makes one series of all hosts"
    )
}

/// The first few of `paths`, and their number if there are more.
fn list(paths: &[Vec<u8>]) -> String {
    let count = if paths.len() > SHOWN { format!(" ({})", paths.len()) } else { String::new() };
    first_few(paths.len(), paths.iter().map(Vec::as_slice)) + &count
}

// Says which bound was exceeded, for people who ask why the exit status is 3.

/// A line about the total of a `tree` in a `measure`: the figure, by how much it exceeds the bound, and the bound with its
/// flag. If the figure `is_partial`, something was not read, and the true figure can only be larger.
pub fn exceeded(
    exceeded: &Exceeded,
    tree: Option<&Tree>,
    (measure, format): (Measure, &Format),
    is_partial: bool,
) -> String {
    let (or_more, sign) = if is_partial { (" or more", super::partial::MARK) } else { ("", "") };
    let name = match tree.map(|tree| escape(tree.root().name())) {
        Some(name) if !name.is_empty() => name,
        _ => "the total".to_owned(),
    };
    let is_count = matches!(measure, Measure::Files | Measure::Inodes);
    let unit = |count| match (is_count, count) {
        (false, _) => String::new(),
        (true, 1) => format!(" {}", measure.unit().trim_end_matches('s')),
        (true, _) => format!(" {}", measure.unit()),
    };
    let excess = format.write(exceeded.excess());
    let over = format!("{excess}{or_more} over the limit of");
    match *exceeded {
        Exceeded::Size { most, now } => {
            let unit = unit(now);
            let [most, now] = [most, now].map(|size| format.write(size));
            let is = if is_count { "has" } else { "is" };
            format!("{name} {is} {sign}{now}{unit}, {over} {most} (--fail-over)")
        }
        Exceeded::Growth { most, before, now } => {
            let most = match most {
                Growth::By(most) => format.write(most),
                Growth::Percent(percent) => format!("{percent}%"),
            };
            let grown = now.saturating_sub(before);
            let unit = unit(grown);
            let [grown, before, now] = [grown, before, now].map(|size| format.write(size));
            format!(
                "{name} grew by {sign}{grown}{unit}, from {before} to {sign}{now}, {over} {most} (--fail-growth)"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::problem::Operation;

    fn denied(path: &str) -> Problem {
        let error = std::io::Error::from_raw_os_error(13);
        Problem::new(path.into(), Operation::Open, &error)
    }

    #[test]
    fn a_line_for_many_and_one_for_what_to_do() {
        let problems: Vec<_> = ["/a", "/b", "/c\n", "/d"].map(denied).into();
        let all = "4 × cannot open: Permission denied: /a, /b, /c\\n, …";
        let names = "\n--print-errors names every path";
        assert_eq!(
            losses(&problems, false, true),
            [format!("{all}{names}, and sudo weigh may read more")]
        );
        assert_eq!(losses(&problems, false, false), [format!("{all}{names}")]);
        assert_eq!(losses(&problems, true, true).len(), 4);
        assert!(losses(&[], false, true).is_empty());
    }

    #[test]
    fn each_kind_has_its_line() {
        let mut problems = ["/c", "/a", "/b"].map(denied).to_vec();
        problems[0].message = "another\x1b".to_owned();
        let expected = [
            "2 × cannot open: Permission denied: /a, /b",
            "cannot open /c: another\\x1b\nsudo weigh may read more",
        ];
        assert_eq!(losses(&problems, false, true), expected);
    }

    #[test]
    fn a_cycle_is_no_loss() {
        let problems = [Problem::cycle(b"/a/b".to_vec())];
        assert!(losses(&problems, false, true).is_empty());
        assert_eq!(cycles(&problems), ["/a/b is its own ancestor; not entered again"]);
    }
}
