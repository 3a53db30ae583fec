//! The line that shows how far a walk has come, and the table for `--stats`.

use std::time::Duration;

use super::size::{Format, percent};
use crate::base::escape::escape;
use crate::scan::stats::Stage;

/// Entries, and their percentage of all `inodes` if that number is known and right; size, which another machine does
/// not say; entries per second, current directory. It leaves out times, because they do not add up.
pub fn line(
    (entries, inodes): (u64, u64),
    size: u64,
    elapsed: Duration,
    directory: &[u8],
    format: &Format,
) -> String {
    if entries == 0 {
        return format!("waiting for {}", escape(directory));
    }
    let size = if size > 0 { format!(", {}", format.write(size)) } else { String::new() };
    let rate = entries as f64 / elapsed.as_secs_f64().max(0.001);
    let known =
        if entries <= inodes { format!(" ({})", percent(entries, inodes)) } else { String::new() };
    format!(
        "{} entries{known}{size}, {}/s  {}",
        Format::Count.write(entries),
        Format::Count.write(rate as u64),
        escape(directory),
    )
}

/// How many bytes a prefetch has read, and of how many.
pub fn prefetch(read: u64, of: u64) -> String {
    let [read, of] = [read, of].map(|bytes| Format::Binary.write(bytes));
    format!("prefetching {read} of {of}")
}

// What the walk did, for people who ask why it took so long: a line for each number of threads.

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
        table += &if stage.is_walk() { walked(stage) } else { read(stage) };
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

fn walked(stage: &Stage) -> String {
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
    use super::*;

    #[test]
    fn shows_a_prefetch() {
        assert_eq!(prefetch(1 << 20, 96 << 20), "prefetching 1.00Mi of 96.0Mi");
    }

    #[test]
    fn shows_a_walk() {
        let second = Duration::from_secs(2);
        let line = |inodes| line((20_000, inodes), 5 << 30, second, b"/usr/\x1bx", &Format::Binary);
        assert_eq!(line(0), "20,000 entries, 5.00Gi, 10,000/s  /usr/\\x1bx");
        assert_eq!(line(80_000), "20,000 entries (25%), 5.00Gi, 10,000/s  /usr/\\x1bx");
        assert_eq!(line(19_999), line(0), "other file systems count, too");
        let far = super::line((2_000, 0), 0, second, b"web1:/", &Format::Binary);
        assert_eq!(far, "2,000 entries, 1,000/s  web1:/");
        let first = super::line((0, 0), 0, second, b"web1:/", &Format::Binary);
        assert_eq!(first, "waiting for web1:/");
    }

    use std::time::Duration;

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
