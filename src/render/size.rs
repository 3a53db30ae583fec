//! Sizes as people read them.

use super::time::TimeFormat;
use crate::measure::Measure;
use crate::tree::Freeable;

/// How a size is written.
#[derive(Clone, Debug, Default)]
pub enum Format {
    /// In the largest unit that leaves a number above 1, by powers of 1024: `1.5Gi`.
    #[default]
    Binary,
    /// The same by powers of 1000: `1.6G`.
    Decimal,
    /// In one unit throughout.
    Fixed(Unit),
    /// As a plain count with separators for thousands: `12,345`.
    Count,
}

/// How to write figures, before it is known what they measure.
#[derive(Clone, Debug, Default)]
pub struct Formats {
    /// How to write bytes.
    pub bytes: Format,
    /// How to write times, if times may be shown.
    pub times: Option<TimeFormat>,
}

/// One unit for all sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its symbol.
    pub name: &'static str,
    /// How many bytes it has.
    pub bytes: u64,
}

impl Formats {
    /// How to write figures of `measure`.
    pub fn of(&self, measure: Measure) -> Format {
        match measure {
            Measure::Files | Measure::Inodes => Format::Count,
            Measure::Disk | Measure::Apparent => self.bytes.clone(),
        }
    }
}

impl Format {
    /// `size` as text.
    pub fn write(&self, size: u64) -> String {
        match self {
            Format::Binary => scaled(size, 1024, &["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]),
            Format::Decimal => scaled(size, 1000, &["K", "M", "G", "T", "P", "E"]),
            // There is no unit smaller than a byte.
            Format::Fixed(unit) if unit.bytes <= 1 => format!("{size}{}", unit.name),
            Format::Fixed(unit) => in_units(size, unit.bytes.into(), unit.name),
            Format::Count => grouped(size),
        }
    }

    /// What deleting frees: one size, or two between which it is.
    pub fn write_bounds(&self, Freeable { least, most, .. }: Freeable) -> String {
        let (least, most) = (self.write(least), self.write(most));
        let (least, most) = (least.trim_start(), most.trim_start());
        if least == most { most.to_owned() } else { format!("≥{least} ≤{most}") }
    }
}

fn scaled(size: u64, thousand: u64, units: &[&str]) -> String {
    let Some(power) = size.checked_ilog(thousand).filter(|power| *power > 0) else {
        return format!("{size}B");
    };
    in_units(size, thousand.pow(power).into(), units[power as usize - 1])
}

/// `size` in a unit of `bytes`: with one decimal below ten, and rounded down from ten on.
fn in_units(size: u64, bytes: u128, unit: &str) -> String {
    let tenths = (u128::from(size) * 10 + bytes / 2) / bytes;
    if tenths < 100 {
        format!("{}.{}{unit}", tenths / 10, tenths % 10)
    } else {
        format!("{}{unit}", (u128::from(size) / bytes).max(10))
    }
}

fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        let mebi = Format::Fixed(Unit { name: "Mi", bytes: 1 << 20 });
        for (format, size, expected) in [
            (Format::Binary, 0, "0B"),
            (Format::Binary, 1023, "1023B"),
            (Format::Binary, 1024, "1.0Ki"),
            (Format::Binary, 10_188, "9.9Ki"),
            (Format::Binary, 10_239, "10Ki"),
            (Format::Binary, 11_263, "10Ki"),
            (Format::Binary, u64::MAX, "15Ei"),
            (Format::Decimal, 999, "999B"),
            (Format::Decimal, 1_500_000, "1.5M"),
            (Format::Decimal, u64::MAX, "18E"),
            (mebi.clone(), 0, "0.0Mi"),
            (mebi.clone(), (1 << 21) - 1, "2.0Mi"),
            (mebi.clone(), 7_852_056_576, "7488Mi"),
            (mebi, u64::MAX, "17592186044415Mi"),
            (Format::Fixed(Unit { name: "G", bytes: 1_000_000_000 }), 7_852_056_576, "7.9G"),
            (Format::Fixed(Unit { name: "B", bytes: 1 }), 7, "7B"),
            (Format::Count, 1_234_567, "1,234,567"),
            (Format::Count, 123, "123"),
        ] {
            assert_eq!(format.write(size), expected, "{size} as {format:?}");
        }
    }
}
