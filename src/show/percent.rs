//! Percentages, as pictures and the screen show them.

/// The share of `whole` that `size` has, as text.
pub fn percent(size: u64, whole: u64) -> String {
    if size == 0 || whole == 0 {
        return "0%".to_owned();
    }
    // In a snapshot from another source, a part may be larger than the whole.
    let percent = size as f64 / whole as f64 * 100.0;
    match format!("{:.0}%", percent.min(100.0)) {
        percent if percent == "0%" => "<1%".to_owned(),
        percent => percent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages() {
        for (size, whole, expected) in [
            (0, 0, "0%"),
            (0, 1, "0%"),
            (1, 0, "0%"),
            (1, u64::MAX, "<1%"),
            (5, 1_000, "<1%"),
            (6, 1_000, "1%"),
            (994, 1_000, "99%"),
            (999, 1_000, "100%"),
            (2, 1, "100%"),
        ] {
            assert_eq!(percent(size, whole), expected, "{size} of {whole}");
        }
    }
}
