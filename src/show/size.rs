//! Sizes and percentages as people read them.

use crate::base::measure::Measure;
use crate::tree::Freeable;

/// How a size is written.
#[derive(Clone, Debug, Default)]
pub enum Format {
    /// With three digits, in the smallest unit in which it shows as less than 1000, by powers of 1024: `1.50Gi`.
    #[default]
    Binary,
    /// The same by powers of 1000: `1.61G`.
    Decimal,
    /// In one unit throughout.
    Fixed(Unit),
    /// As a plain count with separators for thousands: `12,345`.
    Count,
}

/// One unit for all sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its symbol.
    pub name: &'static str,
    /// How many bytes it has.
    pub bytes: u64,
}

impl Format {
    /// How figures of `measure` are written, if bytes are written like this.
    pub fn of(&self, measure: Measure) -> Format {
        match measure {
            Measure::Files | Measure::Inodes => Format::Count,
            Measure::Disk | Measure::Apparent => self.clone(),
        }
    }

    /// `size` as text.
    pub fn write(&self, size: u64) -> String {
        match self {
            Format::Binary => scaled(size, 1024, ["B", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]),
            Format::Decimal => scaled(size, 1000, ["B", "K", "M", "G", "T", "P", "E"]),
            Format::Fixed(unit) => in_units(size, unit.bytes.max(1).into(), unit.name),
            Format::Count => grouped(size),
        }
    }

    /// A change of a size, with its sign.
    pub fn write_change(&self, change: i128) -> String {
        let size = self.write(u64::try_from(change.unsigned_abs()).unwrap_or(u64::MAX));
        match change.signum() {
            1 => format!("+{size}"),
            0 => size,
            _ => format!("-{size}"),
        }
    }

    /// What deleting frees: one size, or two between which it is.
    pub fn write_bounds(&self, Freeable { least, most, .. }: Freeable) -> String {
        let (least, most) = (self.write(least), self.write(most));
        if least == most { most } else { format!("≥{least} ≤{most}") }
    }
}

/// How many entries there are, in words.
pub fn entries(count: u64) -> String {
    let noun = if count == 1 { "entry" } else { "entries" };
    format!("{} {noun}", grouped(count))
}

/// `size` in the first of `units`, each a `thousand` times the one before, in which it shows as less than 1000.
fn scaled(size: u64, thousand: u128, units: [&str; 7]) -> String {
    let fitting = (0..6).find(|power| nearest(size.into(), thousand.pow(*power)) < 1000);
    let power = fitting.unwrap_or(6);
    in_units(size, thousand.pow(power), units[power as usize])
}

/// `size` in a unit of `bytes`, with as many decimals as make three digits, but two at most. Bytes have none.
fn in_units(size: u64, bytes: u128, unit: &str) -> String {
    let size = u128::from(size);
    for (one, width) in [(100, 2), (10, 1)] {
        let digits = nearest(size * one, bytes);
        if bytes > 1 && digits < 1000 {
            return format!("{}.{:0width$}{unit}", digits / one, digits % one);
        }
    }
    format!("{}{unit}", nearest(size, bytes))
}

/// How many times `bytes` are in `size`, rounded to the nearest, and a half up.
fn nearest(size: u128, bytes: u128) -> u128 {
    (size + bytes / 2) / bytes
}

fn grouped(count: u64) -> String {
    let digits = count.to_string().into_bytes();
    let groups: Vec<_> = digits.rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

// Percentages, as pictures and the screen show them.

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
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn formats() {
        let fixed = |name, bytes| Format::Fixed(Unit { name, bytes });
        let mebi = fixed("Mi", 1 << 20);
        for (format, size, expected) in [
            (Format::Binary, 0, "0B"),
            (Format::Binary, 999, "999B"),
            (Format::Binary, 1000, "0.98Ki"),
            (Format::Binary, 1023, "1.00Ki"),
            (Format::Binary, 1024, "1.00Ki"),
            (Format::Binary, 10_234, "9.99Ki"),
            (Format::Binary, 10_235, "10.0Ki"),
            (Format::Binary, 102_348, "99.9Ki"),
            (Format::Binary, 102_349, "100Ki"),
            (Format::Binary, 1_023_487, "999Ki"),
            (Format::Binary, 1_023_488, "0.98Mi"),
            (Format::Binary, 11_429_478, "10.9Mi"),
            (Format::Binary, u64::MAX, "16.0Ei"),
            (Format::Decimal, 999, "999B"),
            (Format::Decimal, 1_000, "1.00K"),
            (Format::Decimal, 1_004, "1.00K"),
            (Format::Decimal, 1_005, "1.01K"),
            (Format::Decimal, 999_499, "999K"),
            (Format::Decimal, 999_500, "1.00M"),
            (Format::Decimal, u64::MAX, "18.4E"),
            (mebi.clone(), 0, "0.00Mi"),
            (mebi.clone(), (1 << 21) - 1, "2.00Mi"),
            (mebi.clone(), 7_852_056_576, "7488Mi"),
            (mebi, u64::MAX, "17592186044416Mi"),
            (fixed("G", 1_000_000_000), 7_852_056_576, "7.85G"),
            (fixed("B", 1), 7, "7B"),
            (Format::Count, 1_234_567, "1,234,567"),
            (Format::Count, 123, "123"),
        ] {
            assert_eq!(format.write(size), expected, "{size} as {format:?}");
        }
    }

    /// The bytes of the unit of `text`, the bytes of the next smaller one, the digits, and how many are decimals.
    fn parts(text: &str, thousand: u128) -> (u128, u128, u128, u32) {
        let unit = text.find(char::is_alphabetic).expect("there is a unit");
        let (number, unit) = text.split_at(unit);
        let power = "BKMGTPE".find(&unit[..1]).expect("it is known") as u32;
        let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len() as u32);
        let digits = number.replace('.', "").parse().expect("they are digits");
        (thousand.pow(power), thousand.pow(power.saturating_sub(1)), digits, decimals)
    }

    fn sizes() -> impl Strategy<Value = u64> {
        let around = |thousand: u64| {
            let number =
                prop_oneof![Just(1_u64), Just(10), Just(100), Just(999), Just(1000), 1..1025_u64];
            (number, 0..7_u32, 0..3_u64, -12..13_i64).prop_map(move |(number, power, half, off)| {
                let unit = u128::from(thousand).pow(power);
                // On both sides of where the number of decimals changes, and of ties.
                let at = u128::from(number) * unit - unit * u128::from(half) / 2 / 100;
                u64::try_from(at).unwrap_or(u64::MAX).saturating_add_signed(off)
            })
        };
        prop_oneof![
            any::<u64>(),
            (any::<u64>(), 0..64_u32).prop_map(|(n, by)| n >> by),
            around(1000),
            around(1024)
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// Compared without a division, and so without an error.
        #[test]
        fn three_digits_are_the_nearest_ones(size in sizes()) {
            for (format, thousand) in [(Format::Binary, 1024), (Format::Decimal, 1000)] {
                let text = format.write(size);
                prop_assert!(text.len() <= if thousand == 1024 { 6 } else { 5 }, "{text}");
                let (unit, smaller, digits, decimals) = parts(&text, thousand);
                let (shown, exact) = (digits * unit, u128::from(size) * 10_u128.pow(decimals));
                // Half a digit is rounded up.
                prop_assert!(2 * exact < 2 * shown + unit && 2 * shown <= 2 * exact + unit, "{size} {text}");
                prop_assert!(digits < 1000, "{size} {text}");
                match text.ends_with('B') {
                    true => prop_assert_eq!(exact, shown),
                    // The unit below shows up to 999.
                    false => prop_assert!(2 * u128::from(size) >= 1999 * smaller, "{size} {text}"),
                }
                let is_below_one = u128::from(size) < unit && decimals == 2;
                prop_assert!(unit == 1 || digits >= 100 || is_below_one, "{size} {text}");
            }
        }
    }

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
