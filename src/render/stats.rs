//! What the walk did, for people who ask why it took so long: a line for each number of threads.

use super::size::Format;
use crate::stats::Gear;

/// A table of `gears`, in the order of their first use.
///
/// `blocked` is the share of the threads' time that was not spent on a core: waiting for storage, for
/// work, or for other processes. A prefetch, and reading in bulk, have a line with bytes and seconds.
pub fn table(gears: &[Gear]) -> String {
    let mut table =
        " threads      entries   seconds  blocked    entries/s  calls/entry\n".to_owned();
    for gear in gears {
        table += &if gear.is_walk() { line(gear) } else { read(gear) };
    }
    table
}

/// The line of a prefetch, or of reading in bulk.
fn read(gear: &Gear) -> String {
    let (what, bytes) =
        if gear.bulk > 0 { ("bulk", gear.bulk) } else { ("prefetch", gear.prefetched) };
    let (bytes, seconds) = (Format::Binary.write(bytes), gear.wall.as_secs_f64());
    format!("{what:>8} {bytes:>12} {seconds:>9.3}\n")
}

fn line(gear: &Gear) -> String {
    let seconds = gear.wall.as_secs_f64().max(1e-9);
    let share = gear.cpu.as_secs_f64() / (seconds * gear.threads.max(1) as f64);
    let blocked = (100.0 - 100.0 * share).clamp(0.0, 100.0);
    let rate = Format::Count.write((gear.entries as f64 / seconds) as u64);
    let entries = Format::Count.write(gear.entries);
    let calls = gear.calls as f64 / gear.entries.max(1) as f64;
    let threads = gear.threads;
    format!("{threads:>8} {entries:>12} {seconds:>9.3} {blocked:>7.0}% {rate:>12} {calls:>12.2}\n")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_line_a_gear() {
        let (wall, cpu) = (Duration::from_millis(2_500), Duration::from_millis(1_250));
        let one =
            Gear { threads: 2, wall, cpu, entries: 1_000_000, calls: 1_250_000, ..Gear::default() };
        let read = Gear { threads: 1, wall, prefetched: 96 << 20, ..Gear::default() };
        let none = Gear::default();
        assert_eq!(
            table(&[one, read, none]),
            " threads      entries   seconds  blocked    entries/s  calls/entry\n\
             \x20      2    1,000,000     2.500      75%      400,000         1.25\n\
             prefetch       96.0Mi     2.500\n\
             \x20      0            0     0.000     100%            0         0.00\n",
        );
    }
}
