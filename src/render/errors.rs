//! What could not be read, for people.

use std::fmt::Write as _;

use super::name::escape;
use crate::problem::{Operation, Problem};

/// How many paths a summary names.
const SHOWN: usize = 3;

/// One line for all that was lost and one for each directory that is its own ancestor; with
/// `is_every`, one line for each problem. Says what it means for the totals, if any were shown
/// (`has_totals`). Empty if there is no problem.
pub fn summary(problems: &[Problem], is_every: bool, has_totals: bool) -> String {
    let mut text = String::new();
    let (losses, cycles): (Vec<&Problem>, Vec<_>) =
        problems.iter().partition(|problem| problem.is_loss());
    for cycle in cycles {
        let _ = writeln!(text, "weigh: {} {}", escape(&cycle.path), cycle.message);
    }
    if losses.is_empty() {
        return text;
    }
    let mut lines: Vec<String> =
        if is_every { losses.iter().map(|loss| one(loss)).collect() } else { vec![all(&losses)] };
    if has_totals {
        let meaning = "totals are a lower bound";
        match lines.last_mut() {
            Some(line) if !is_every => *line += &format!("; {meaning}"),
            _ => lines.push(meaning.to_owned()),
        }
    }
    for line in lines {
        let _ = writeln!(text, "weigh: {line}");
    }
    text
}

fn one(loss: &Problem) -> String {
    let Problem { path, operation, message, .. } = loss;
    format!("cannot {} {}: {message}", operation.name(), escape(path))
}

fn all(losses: &[&Problem]) -> String {
    let mut kinds: Vec<(Operation, &str)> =
        losses.iter().map(|loss| (loss.operation, loss.message.as_str())).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut parts = Vec::new();
    for (operation, message) in kinds {
        let is_of_kind =
            |loss: &&&Problem| (loss.operation, loss.message.as_str()) == (operation, message);
        let count = losses.iter().filter(is_of_kind).count();
        let paths = losses.iter().filter(is_of_kind).take(SHOWN);
        let paths: Vec<_> = paths.map(|loss| escape(&loss.path)).collect();
        let more = if count > paths.len() { ", …" } else { "" };
        let many = if count > 1 { format!("{count} × ") } else { String::new() };
        let operation = operation.name();
        parts.push(format!("{many}cannot {operation} {}{more}: {message}", paths.join(", ")));
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_cycle_is_no_loss() {
        let problems = [Problem::cycle(b"/a/b".to_vec())];
        assert_eq!(
            summary(&problems, false, true),
            "weigh: /a/b is its own ancestor; not entered again\n"
        );
    }
}
