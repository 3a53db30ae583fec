//! Says what a comparison cannot tell, one line each, for people.

use crate::escape::escape;
use crate::snapshot::Doubt;

/// How many paths a line names at most.
const SHOWN: usize = 3;

/// A line for each of `doubts` about changes since the snapshot in the file `earlier`.
pub fn summary(doubts: &[Doubt], earlier: &[u8]) -> Vec<String> {
    let earlier = escape(earlier);
    let line = |doubt: &Doubt| match doubt {
        Doubt::OtherRoots(before, now) => {
            let (before, now) = (list(before), list(now));
            format!(
                "{earlier} is of {before}, and not of {now}: what differs need not have changed"
            )
        }
        Doubt::UnreadBefore(paths) => {
            let paths = list(paths);
            format!("{earlier} is incomplete: what is new in {paths} may have been there before")
        }
        Doubt::UnreadNow(paths) => {
            let paths = list(paths);
            format!("more could be read for {earlier}: what is gone in {paths} may still be there")
        }
        Doubt::InterruptedBefore => {
            format!("{earlier} was interrupted: what is new may have been there before")
        }
        Doubt::InterruptedNow => "interrupted: what is gone may still be there".to_owned(),
    };
    doubts.iter().map(line).collect()
}

/// The first few of `paths`, and their number if there are more.
fn list(paths: &[Vec<u8>]) -> String {
    let shown: Vec<_> = paths.iter().take(SHOWN).map(|path| escape(path)).collect();
    let more = if paths.len() > SHOWN { format!(", … ({})", paths.len()) } else { String::new() };
    shown.join(", ") + &more
}
