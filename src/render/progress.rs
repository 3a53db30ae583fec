//! The line that shows how far a walk has come.

use std::time::Duration;

use super::name;
use super::size::Format;
use crate::escape::escape;

/// One line of at most `width` cells: entries, size, entries per second, current directory. It leaves out times,
/// because they do not add up.
pub fn line(
    entries: u64,
    size: u64,
    elapsed: Duration,
    directory: &[u8],
    format: &Format,
    width: usize,
) -> String {
    let rate = entries as f64 / elapsed.as_secs_f64().max(0.001);
    let line = format!(
        "{} entries, {}, {}/s  {}",
        Format::Count.write(entries),
        format.write(size),
        Format::Count.write(rate as u64),
        escape(directory),
    );
    name::fit(&line, width)
}

/// One line of at most `width` cells: how many bytes a prefetch has read, and of how many.
pub fn prefetch(read: u64, of: u64, width: usize) -> String {
    let [read, of] = [read, of].map(|bytes| Format::Binary.write(bytes));
    name::fit(&format!("prefetching {read} of {of}"), width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_a_prefetch() {
        assert_eq!(prefetch(1 << 20, 96 << 20, 80), "prefetching 1.00Mi of 96.0Mi");
    }

    #[test]
    fn fits() {
        let second = Duration::from_secs(2);
        let line = |width| line(20_000, 5 << 30, second, b"/usr/\x1bx", &Format::Binary, width);
        assert_eq!(line(80), "20,000 entries, 5.00Gi, 10,000/s  /usr/\\x1bx");
        assert_eq!(line(20), "20,000 entries, 5...");
    }
}
