//! Says what a comparison cannot tell, one line each, for people.

use super::errors::{SHOWN, first_few};
use crate::base::escape::escape;
use crate::from::snapshot::Doubt;

/// A line for each of `doubts` about changes since the snapshot in the file `earlier`.
pub fn summary<'d>(doubts: impl IntoIterator<Item = &'d Doubt>, earlier: &[u8]) -> Vec<String> {
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
