//! What could not be read, for people. Paths and messages may come from a file that somebody else made.

use std::collections::BTreeMap;
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
        let _ = writeln!(text, "weigh: {} {}", escape(&cycle.path), text_of(cycle));
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
    format!("cannot {} {}: {}", loss.operation.name(), escape(&loss.path), text_of(loss))
}

fn all(losses: &[&Problem]) -> String {
    let mut kinds: BTreeMap<(Operation, &str), Vec<&[u8]>> = BTreeMap::new();
    for loss in losses {
        kinds.entry((loss.operation, &loss.message)).or_default().push(&loss.path);
    }
    let part = |((operation, message), paths): ((Operation, &str), Vec<&[u8]>)| {
        let shown: Vec<_> = paths.iter().take(SHOWN).map(|path| escape(path)).collect();
        let more = if paths.len() > SHOWN { ", …" } else { "" };
        let many = if paths.len() > 1 { format!("{} × ", paths.len()) } else { String::new() };
        let (operation, message) = (operation.name(), escape(message.as_bytes()));
        format!("{many}cannot {operation} {}{more}: {message}", shown.join(", "))
    };
    kinds.into_iter().map(part).collect::<Vec<_>>().join("; ")
}

fn text_of(problem: &Problem) -> String {
    escape(problem.message.as_bytes())
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
