//! The growth rate of sizes, and when a file system will be full.

use std::collections::HashSet;

use crate::base::measure::DAY;
use crate::from::snapshot::{Origin, Volume};

/// A rate needs this span between the first and the last point, in seconds. Two runs of a daily job are always further
/// apart, and a rate per day is at most twice what was measured.
pub const LEAST_SPAN: i64 = 12 * 3_600;

/// A file system over time.
#[derive(Clone, Debug)]
pub struct Filling {
    /// The path, as given, of the root that it held.
    pub root: Vec<u8>,
    /// Its type, size and free space in the last snapshot.
    pub volume: Volume,
    /// The growth of its used space per day, in bytes; none if it cannot be computed.
    pub rate: Option<f64>,
    /// When nothing will be available at that rate, in seconds since the epoch; none if it does not grow, or if the last
    /// snapshot does not say what is available.
    pub full: Option<i64>,
}

/// The growth per day of `points`, each a time in seconds and a number, in order of time: the slope of the
/// least-squares line. None if they span less than [`LEAST_SPAN`].
pub fn slope(points: impl IntoIterator<Item = (i64, u64)>) -> Option<f64> {
    let points: Vec<_> = points.into_iter().collect();
    let ((start, base), (end, _)) = (*points.first()?, *points.last()?);
    if end.saturating_sub(start) < LEAST_SPAN {
        return None;
    }
    // Differences are exact; a time or a size as a float is not.
    let points = points.iter().map(|(time, number)| {
        let days = (i128::from(*time) - i128::from(start)) as f64 / DAY as f64;
        (days, (i128::from(*number) - i128::from(base)) as f64)
    });
    let count = points.len() as f64;
    let mean_x = points.clone().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = points.clone().map(|(_, y)| y).sum::<f64>() / count;
    let (mut products, mut squares) = (0.0, 0.0);
    for (x, y) in points {
        products += (x - mean_x) * (y - mean_y);
        squares += (x - mean_x).powi(2);
    }
    Some(products / squares)
}

/// The file systems that held the roots in the last of the snapshots, with what each snapshot says about them, in
/// order of time.
pub fn fillings(origins: &[&Origin]) -> Vec<Filling> {
    let Some(last) = origins.last() else { return Vec::new() };
    let mut known = HashSet::new();
    let mut fillings = Vec::new();
    for root in &last.roots {
        let Some(volume) = &root.volume else { continue };
        // Several roots may be on the same one.
        if !known.insert((&volume.kind, volume.size, volume.free)) {
            continue;
        }
        let rate = slope(origins.iter().filter_map(|origin| {
            let then = origin.roots.iter().find(|then| then.path == root.path)?;
            let volume = then.volume.as_ref()?;
            Some((origin.time, volume.size.saturating_sub(volume.free)))
        }));
        let growth = rate.filter(|rate| *rate > 0.0);
        // Not what is free: programs fail when the part for every user is used up.
        let full = growth.zip(volume.available).map(|(rate, available)| {
            // A cast from a float saturates.
            let seconds = (available as f64 / rate * DAY as f64).round() as i64;
            last.time.saturating_add(seconds)
        });
        let root = root.name.clone().unwrap_or_else(|| root.path.clone());
        fillings.push(Filling { root, volume: volume.clone(), rate, full });
    }
    fillings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_slope() {
        let day = |days: i64| 1_700_000_000 + days * DAY;
        let line = |days: i64| (day(days), (1_u64 << 60) + 1_000 * days as u64);
        let found = slope((0..30).map(line)).expect("there are many");
        assert!((found - 1_000.0).abs() < 1e-6, "{found}");
        let falling = slope([(day(0), 500), (day(2), 100)]).expect("there are two");
        assert!((falling + 200.0).abs() < 1e-9, "{falling}");
        assert_eq!(slope([(day(0), 1), (day(0), 9)]), None);
        assert_eq!(slope([]), None);
        assert!(slope([(i64::MIN, 0), (i64::MAX, u64::MAX)]).is_some_and(f64::is_finite));
    }
}
