//! What could not be read, for people. Paths and messages may come from a file that somebody else made.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::name::escape;
use crate::problem::Problem;

/// How many paths a summary names.
const SHOWN: usize = 3;

/// One line for all that was lost and one for each directory that is its own ancestor; with
/// `is_every`, one line for each problem. Says what it means for the totals, if any were shown
/// (`has_totals`). Empty if there is no problem.
pub fn summary(problems: &[Problem], is_every: bool, has_totals: bool) -> String {
    let mut text = String::new();
    let losses = || problems.iter().filter(|problem| problem.is_loss());
    // Writing to a string cannot fail.
    for cycle in problems.iter().filter(|problem| !problem.is_loss()) {
        let _ = writeln!(text, "weigh: {} {}", escape(&cycle.path), text_of(cycle));
    }
    let meaning = "totals are a lower bound";
    match (losses().next(), is_every) {
        (None, _) => {}
        (_, true) => {
            losses().for_each(|loss| text += &format!("weigh: {}\n", one(loss)));
            if has_totals {
                let _ = writeln!(text, "weigh: {meaning}");
            }
        }
        (_, false) => {
            let meaning = if has_totals { format!("; {meaning}") } else { String::new() };
            let _ = writeln!(text, "weigh: {}{meaning}", all(losses()));
        }
    }
    text
}

fn one(loss: &Problem) -> String {
    format!("cannot {} {}: {}", loss.operation.name(), escape(&loss.path), text_of(loss))
}

fn all<'a>(losses: impl Iterator<Item = &'a Problem>) -> String {
    // How many there are of a kind, and the paths that are shown.
    let mut kinds = BTreeMap::new();
    for Problem { operation, message, path, .. } in losses {
        let (count, paths) = kinds.entry((*operation, message)).or_insert((0, Vec::new()));
        *count += 1;
        if paths.len() < SHOWN {
            paths.push(path);
        }
    }
    let mut parts = Vec::new();
    for ((operation, message), (count, paths)) in kinds {
        let paths: Vec<_> = paths.into_iter().map(|path| escape(path)).collect();
        let more = if count > paths.len() { ", …" } else { "" };
        let many = if count > 1 { format!("{count} × ") } else { String::new() };
        let (operation, message) = (operation.name(), escape(message.as_bytes()));
        parts.push(format!("{many}cannot {operation} {}{more}: {message}", paths.join(", ")));
    }
    parts.join("; ")
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
    fn one_line_for_many() {
        let problems: Vec<_> = ["/a", "/b", "/c\n", "/d"].map(denied).into();
        assert_eq!(
            summary(&problems, false, true),
            "weigh: 4 × cannot open /a, /b, /c\\n, …: Permission denied; totals are a lower bound\n"
        );
        assert_eq!(summary(&problems, true, true).lines().count(), 5);
        assert_eq!(summary(&[], false, true), "");
    }

    #[test]
    fn each_kind_has_its_count() {
        let mut problems = ["/c", "/a", "/b"].map(denied).to_vec();
        problems[0].message = "another\x1b".to_owned();
        let expected =
            "weigh: 2 × cannot open /a, /b: Permission denied; cannot open /c: another\\x1b\n";
        assert_eq!(summary(&problems, false, false), expected);
    }

    #[test]
    fn a_cycle_is_no_loss() {
        let problems = [Problem::cycle(b"/a/b".to_vec())];
        assert_eq!(
            summary(&problems, false, true),
            "weigh: /a/b is its own ancestor; not entered again\n"
        );
    }
}
