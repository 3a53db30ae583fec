//! What the walk did, for people who ask why it took so long: a line for each number of threads.

use super::size::Format;
use crate::scan::stats::Stage;

/// A table with a line for each of `stages`; nothing if there are none, as for what was walked elsewhere.
///
/// `blocked` is the share of the threads' time that was not spent on a core: waiting for storage, for
/// work, or for other processes. A prefetch, and reading in bulk, have a line with bytes and seconds.
pub fn table(stages: &[Stage]) -> String {
    if stages.is_empty() {
        return String::new();
    }
    let mut table =
        " threads      entries   seconds  blocked    entries/s  calls/entry\n".to_owned();
    for stage in stages {
        table += &if stage.is_walk() { line(stage) } else { read(stage) };
    }
    table
}

/// The line of a prefetch, or of reading in bulk.
fn read(stage: &Stage) -> String {
    let (what, bytes) =
        if stage.bulk > 0 { ("bulk", stage.bulk) } else { ("prefetch", stage.prefetched) };
    let (bytes, seconds) = (Format::Binary.write(bytes), stage.wall.as_secs_f64());
    format!("{what:>8} {bytes:>12} {seconds:>9.3}\n")
}

fn line(stage: &Stage) -> String {
    let seconds = stage.wall.as_secs_f64().max(1e-9);
    let share = stage.cpu.as_secs_f64() / (seconds * stage.threads.max(1) as f64);
    let blocked = (100.0 - 100.0 * share).clamp(0.0, 100.0);
    let rate = Format::Count.write((stage.entries as f64 / seconds) as u64);
    let entries = Format::Count.write(stage.entries);
    let calls = stage.calls as f64 / stage.entries.max(1) as f64;
    let threads = stage.threads;
    format!("{threads:>8} {entries:>12} {seconds:>9.3} {blocked:>7.0}% {rate:>12} {calls:>12.2}\n")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_line_a_stage() {
        let (wall, cpu) = (Duration::from_millis(2_500), Duration::from_millis(1_250));
        let one = Stage {
            threads: 2,
            wall,
            cpu,
            entries: 1_000_000,
            calls: 1_250_000,
            ..Stage::default()
        };
        let read = Stage { threads: 1, wall, prefetched: 96 << 20, ..Stage::default() };
        let none = Stage::default();
        assert_eq!(
            table(&[one, read, none]),
            " threads      entries   seconds  blocked    entries/s  calls/entry\n\
             \x20      2    1,000,000     2.500      75%      400,000         1.25\n\
             prefetch       96.0Mi     2.500\n\
             \x20      0            0     0.000     100%            0         0.00\n",
        );
    }
}
