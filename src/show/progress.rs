//! The line that shows how far a walk has come.

use std::time::Duration;

use super::percent::percent;
use super::size::Format;
use crate::base::escape::escape;

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
}
