//! Says what could not be read, for people. Paths and messages may come from a file that somebody else made.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::size::Format;
use crate::escape::escape;
use crate::problem::Problem;
use crate::stats::{NotInBulk, SharingStats, Unasked};
use crate::tree::{FEW_EXTENTS, LEAST_ASKED, MOST_EXTENTS};

/// How many paths a line names at most.
const SHOWN: usize = 3;

/// A line for each kind of loss, or for each loss if `is_every`; and a line for each directory that is its own
/// ancestor. The last line says what this means for the totals, if any were shown (`has_totals`), and what to do
/// about it. It advises sudo only if root could read more (`may_need_root`). Empty if there is no problem.
pub fn summary(
    problems: &[Problem],
    is_every: bool,
    has_totals: bool,
    may_need_root: bool,
) -> Vec<String> {
    let mut lines = Vec::new();
    let losses = || problems.iter().filter(|problem| problem.is_loss());
    for cycle in problems.iter().filter(|problem| !problem.is_loss()) {
        lines.push(format!("{} {}", escape(&cycle.path), text_of(cycle)));
    }
    let is_all_named = if is_every {
        lines.extend(losses().map(one));
        true
    } else {
        by_kind(losses(), &mut lines)
    };
    let is_denied = |problem: &Problem| matches!(&*problem.symbol(), "EACCES" | "EPERM");
    let remedies = [
        (!is_all_named).then_some("--print-errors names every path"),
        (may_need_root && losses().any(is_denied)).then_some("sudo weigh may read more"),
    ];
    let remedies: Vec<_> = remedies.into_iter().flatten().collect();
    let meaning =
        (has_totals && losses().next().is_some()).then(|| "totals are a lower bound".to_owned());
    let remedies = (!remedies.is_empty()).then(|| remedies.join(", and "));
    let last: Vec<_> = [meaning, remedies].into_iter().flatten().collect();
    if !last.is_empty() {
        lines.push(last.join(": "));
    }
    lines
}

/// The line for one loss.
pub fn one(loss: &Problem) -> String {
    loss.to_string()
}

/// The line that names the `roots` that are not mount points, which --df says nothing about, if there are any.
pub fn unmounted(roots: &[Vec<u8>]) -> Option<String> {
    let shown: Vec<_> = roots.iter().take(SHOWN).map(|root| escape(root)).collect();
    let more = if roots.len() > SHOWN { ", …" } else { "" };
    let shown = shown.join(", ");
    (!shown.is_empty()).then(|| format!("--df is for mount points: not for {shown}{more}"))
}

/// The line about snapshots that --keep `removed`, if there are any.
pub fn removed(removed: &[PathBuf]) -> Option<String> {
    let shown = removed.iter().take(SHOWN).map(|file| escape(file.as_os_str().as_encoded_bytes()));
    let shown: Vec<_> = shown.collect();
    let shown = shown.join(", ");
    match removed.len() {
        0 => None,
        1 => Some(format!("--keep removed {shown}")),
        count => {
            let more = if count > SHOWN { ", …" } else { "" };
            Some(format!("--keep removed {count} snapshots: {shown}{more}"))
        }
    }
}

/// A line for each of `roots`, which were walked although they were to be read in bulk.
pub fn not_in_bulk(roots: &[NotInBulk]) -> Vec<String> {
    let line = |NotInBulk { root, reason }: &NotInBulk| {
        let (root, reason) = (escape(root), escape(reason.as_bytes()));
        format!("{root} was walked, not read in bulk: {reason}")
    };
    roots.iter().map(line).collect()
}

/// The lines about what is not known of shared space.
pub fn sharing(stats: SharingStats) -> Vec<String> {
    let line = |Unasked { files, bytes }: Unasked, checked: &str, below: &str| {
        let (count, bytes) = (Format::Count.write(files), Format::Binary.write(bytes));
        let (noun, it) = if files == 1 { ("file", "it") } else { ("files", "them") };
        (files > 0).then(|| format!(
            "--frees {checked} {count} {noun}{below} ({bytes}) for shared space: the lower figures leave {it} out"
        ))
    };
    let small = line(stats.small, "did not check", &format!(" below {} KiB", LEAST_ASKED >> 10));
    let unknown = line(stats.unknown, "could not check", "");
    let mut lines: Vec<_> = small.into_iter().chain(unknown).collect();
    if stats.has_too_many_extents {
        let [most, few] = [MOST_EXTENTS, FEW_EXTENTS].map(|count| Format::Count.write(count));
        lines.push(format!(
            "more than {most} extents are shared: in directories with more than {few} of them, the upper figure \
             counts shared space once for each file"
        ));
    }
    lines
}

/// Adds a line for each kind of loss to `lines`: how many, and the first few paths. Returns whether it named all
/// paths.
fn by_kind<'a>(losses: impl Iterator<Item = &'a Problem>, lines: &mut Vec<String>) -> bool {
    // For each kind, the number of losses and those to name.
    let mut kinds = BTreeMap::new();
    for loss in losses {
        let (count, shown) =
            kinds.entry((loss.operation, &loss.message)).or_insert((0, Vec::new()));
        *count += 1;
        if shown.len() < SHOWN {
            shown.push(loss);
        }
    }
    let mut is_all_named = true;
    for (count, shown) in kinds.into_values() {
        let [first, _, ..] = &shown[..] else {
            lines.extend(shown.into_iter().map(one));
            continue;
        };
        let more = if count > shown.len() { ", …" } else { "" };
        is_all_named &= more.is_empty();
        let (operation, message) = (first.operation.name(), text_of(first));
        let paths: Vec<_> = shown.iter().map(|loss| escape(&loss.path)).collect();
        let paths = paths.join(", ");
        lines.push(format!("{count} × cannot {operation}: {message}: {paths}{more}"));
    }
    is_all_named
}

fn text_of(problem: &Problem) -> String {
    escape(problem.message.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Operation;

    fn denied(path: &str) -> Problem {
        let error = std::io::Error::from_raw_os_error(13);
        Problem::new(path.into(), Operation::Open, &error)
    }

    #[test]
    fn a_line_for_many_and_one_for_what_to_do() {
        let problems: Vec<_> = ["/a", "/b", "/c\n", "/d"].map(denied).into();
        let all = "4 × cannot open: Permission denied: /a, /b, /c\\n, …";
        let bound = "totals are a lower bound: --print-errors names every path";
        assert_eq!(
            summary(&problems, false, true, true),
            [all, &format!("{bound}, and sudo weigh may read more")]
        );
        assert_eq!(
            summary(&problems, false, false, true),
            [all, "--print-errors names every path, and sudo weigh may read more"]
        );
        assert_eq!(summary(&problems, true, true, true).len(), 5);
        assert!(!summary(&problems, false, true, false).concat().contains("sudo"));
        assert!(summary(&[], false, true, true).is_empty());
    }

    #[test]
    fn each_kind_has_its_line() {
        let mut problems = ["/c", "/a", "/b"].map(denied).to_vec();
        problems[0].message = "another\x1b".to_owned();
        let expected = [
            "2 × cannot open: Permission denied: /a, /b",
            "cannot open /c: another\\x1b",
            "sudo weigh may read more",
        ];
        assert_eq!(summary(&problems, false, false, true), expected);
    }

    #[test]
    fn a_cycle_is_no_loss() {
        let problems = [Problem::cycle(b"/a/b".to_vec())];
        assert_eq!(
            summary(&problems, false, true, true),
            ["/a/b is its own ancestor; not entered again"]
        );
    }
}
