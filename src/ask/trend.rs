//! Trends: how fast sizes grow, and when a file system will be full.
//!
//! Disks grow unevenly: less on weekends, by a large step when somebody copies a film, and down when somebody cleans up.
//! So the growth of a file system is the mean of whole weeks, and steps are counted apart: a step that came three times
//! or more will come again, and one that came once or twice may. Each uncertainty widens the range of days. If the range
//! is too wide to plan with, there is no day.

use crate::base::measure::DAY;

/// A rate needs this span between the first and the last point, in seconds. Two runs of a daily job are always further
/// apart, and a rate per day is at most twice what was measured.
pub const LEAST_SPAN: i64 = 12 * 3_600;

/// A day may be so many times as far ahead as the first scan is back.
pub const FURTHEST: f64 = 10.0;

/// A size at a time, in days.
type Point = (f64, f64);

/// The growth per day of `points`, each a time in seconds and a number, in order of time: the slope of the
/// least-squares line. None if they span less than [`LEAST_SPAN`].
pub fn slope(points: impl IntoIterator<Item = (i64, u64)>) -> Option<f64> {
    let points = in_days(points)?;
    let count = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    let (mut products, mut squares) = (0.0, 0.0);
    for (x, y) in points {
        products += (x - mean_x) * (y - mean_y);
        squares += (x - mean_x).powi(2);
    }
    Some(products / squares)
}

/// The `points` since the first one, if they span long enough. Differences are exact; a time or a size as a float is not.
fn in_days(points: impl IntoIterator<Item = (i64, u64)>) -> Option<Vec<Point>> {
    let points: Vec<_> = points.into_iter().collect();
    let ((start, base), (end, _)) = (*points.first()?, *points.last()?);
    let point = |(time, number): (i64, u64)| {
        let days = (i128::from(time) - i128::from(start)) as f64 / DAY as f64;
        (days, (i128::from(number) - i128::from(base)) as f64)
    };
    (end.saturating_sub(start) >= LEAST_SPAN).then(|| points.into_iter().map(point).collect())
}

/// When a file system will be full, in days after its last scan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Filling {
    /// It does not grow.
    Never,
    /// It grows too unevenly to say it.
    Uneven,
    /// Not within so many days. The scans do not reach back far enough to see further: only [`FURTHEST`] times less.
    NotWithin(f64),
    /// After so many days, if all goes on as it did; it may be as early as the second, and as late as the third.
    After(f64, [f64; 2]),
}

/// The growth per day of `used` space, each a time in seconds and a number of bytes, in order of time; and when so much
/// more (`available`) will be used. None if they span less than [`LEAST_SPAN`].
pub fn filling(
    used: impl IntoIterator<Item = (i64, u64)>,
    available: Option<u64>,
) -> Option<(f64, Option<Filling>)> {
    let points = spaced(in_days(used)?);
    let growth = Growth::of(&points)?;
    Some((growth.rate, available.map(|available| growth.until(available as f64))))
}

/// The points that are half a day or more from the one before: of a busy hour, no rate per day can be told.
fn spaced(points: Vec<Point>) -> Vec<Point> {
    let mut spaced: Vec<Point> = Vec::with_capacity(points.len());
    for point in points {
        match spaced.last_mut() {
            // The first one stays, and so does the last one.
            Some(last) if point.0 - last.0 < 0.5 && last.0 > 0.0 => *last = point,
            Some(last) if point.0 - last.0 < 0.5 => {}
            _ => spaced.push(point),
        }
    }
    spaced
}

/// How a file system grows.
struct Growth {
    /// Per day.
    rate: f64,
    /// Between which the rate probably is.
    bounds: [f64; 2],
    /// How far sizes were below and above the line that ends in the last one.
    swing: [f64; 2],
    /// How many days the points span.
    span: f64,
}

/// A change between two points that is far from the usual one.
struct Event {
    /// The number of the point after it.
    point: usize,
    day: f64,
    /// How much more it is than the usual change.
    size: f64,
    /// Whether it is one of three or more.
    recurs: bool,
}

impl Growth {
    fn of(points: &[Point]) -> Option<Self> {
        let ((start, _), (end, last)) = (*points.first()?, *points.last()?);
        let span = end - start;
        if points.len() < 2 || span <= 0.0 {
            return None;
        }
        let mut growth = Self { rate: 0.0, bounds: [0.0; 2], swing: [0.0; 2], span };
        let mut events = events(points);
        for sign in [-1.0, 1.0] {
            let these = events.iter_mut().filter(|event| event.size * sign > 0.0);
            growth.add_events(&mut these.collect::<Vec<_>>());
        }
        growth.add_usual(&without(points, &events, |_| true));
        let lasting = without(points, &events, |event| !event.recurs);
        let top = lasting.last().map_or(last, |(_, size)| *size);
        for (day, size) in lasting {
            let off = size - (top - growth.rate * (end - day));
            growth.swing = [growth.swing[0].min(off), growth.swing[1].max(off)];
        }
        Some(growth)
    }

    /// Adds events of one sign to the rate: three or more in full, two as if they came half as often, because nobody
    /// knows, and a single one not at all.
    fn add_events(&mut self, events: &mut [&mut Event]) {
        let sum: f64 = events.iter().map(|event| event.size).sum();
        let over_span = sum / self.span;
        match events.len() {
            0 => {}
            1 => self.add(0.0, [0.0, over_span]),
            2 => self.add(over_span / 2.0, [0.0, 1.5 * over_span]),
            count => {
                events.iter_mut().for_each(|event| event.recurs = true);
                let between: Vec<_> =
                    events.windows(2).map(|two| two[1].day - two[0].day).collect();
                let sizes: Vec<_> = events.iter().map(|event| event.size).collect();
                let rate = mean(&sizes) / mean(&between);
                let varies =
                    deviation(&between) / mean(&between) + (deviation(&sizes) / mean(&sizes)).abs();
                let by_chance = rate.abs() * 2.0 * varies / ((count - 1) as f64).sqrt();
                let error = by_chance.max((rate - over_span).abs() / 2.0);
                self.add(rate, [rate - error, rate + error]);
            }
        }
    }

    /// Adds the growth without events.
    fn add_usual(&mut self, points: &[Point]) {
        const WEEK: f64 = 7.0;
        /// How much a rate from less than four weeks, or from few points, may be off.
        const THIN: f64 = 0.15;
        const FEW: usize = 8;
        /// Ten years: what was before says nothing.
        const MOST_WEEKS: usize = 520;
        let Some((end, last)) = points.last().copied() else { return };
        // The last scan of a week may be an hour earlier.
        let weeks = (((self.span + 0.25) / WEEK) as usize).min(MOST_WEEKS);
        let mut bounds;
        let rate;
        if weeks >= 2 {
            let ends: Vec<_> = (0..=weeks).map(|i| at(points, end - WEEK * i as f64)).collect();
            let rates: Vec<_> = ends.windows(2).map(|two| (two[0] - two[1]) / WEEK).collect();
            rate = mean(&rates);
            let error = error_of_mean(&rates);
            bounds = [rate - error, rate + error];
            // It may grow faster now than it did at first, or more slowly.
            if weeks >= 6 {
                widen(&mut bounds, mean(&rates[..weeks / 3]));
            }
        } else {
            let first = points.first().map_or(0.0, |(_, size)| *size);
            rate = (last - first) / self.span;
            let rates = points.windows(2).map(|two| (two[1].1 - two[0].1) / (two[1].0 - two[0].0));
            let rates: Vec<_> = rates.collect();
            let error = if rates.len() > 1 { error_of_mean(&rates) } else { rate.abs() * 0.4 };
            bounds = [rate - error, rate + error];
            // The weekend may be all of it, or nothing.
            [rate * 5.0 / 7.0, rate * 7.0 / 5.0].into_iter().for_each(|it| widen(&mut bounds, it));
        }
        if weeks < 4 || points.len() < FEW {
            [1.0 - THIN, 1.0 + THIN].into_iter().for_each(|by| widen(&mut bounds, rate * by));
        }
        self.add(rate, bounds);
    }

    fn add(&mut self, rate: f64, bounds: [f64; 2]) {
        self.rate += rate;
        self.bounds[0] += bounds[0].min(bounds[1]);
        self.bounds[1] += bounds[0].max(bounds[1]);
    }

    /// When so much more is used.
    fn until(&self, available: f64) -> Filling {
        /// The latest day may be so many times as far as the earliest.
        const WIDEST: f64 = 3.0;
        let [slow, fast] = self.bounds;
        if fast <= 0.0 || self.rate <= 0.0 {
            return Filling::Never;
        }
        if available <= 0.0 {
            return Filling::After(0.0, [0.0; 2]);
        }
        let early = (available - self.swing[1]).max(0.0) / fast;
        let late = (available - self.swing[0]) / slow;
        let furthest = FURTHEST * self.span;
        match () {
            () if early > furthest => Filling::NotWithin(furthest),
            () if slow <= 0.0 || late > WIDEST * early => Filling::Uneven,
            () if available / self.rate > furthest => Filling::NotWithin(furthest),
            () => Filling::After(available / self.rate, [early, late]),
        }
    }
}

/// The changes in `points` that are far larger than nearly all others.
fn events(points: &[Point]) -> Vec<Event> {
    /// Of fewer changes, none is unusual.
    const FEWEST: usize = 8;
    /// An event is so many times what nine of ten changes are.
    const TIMES: f64 = 4.0;
    let changes = points.windows(2).map(|two| (two[1].0 - two[0].0, two[1].1 - two[0].1));
    let changes: Vec<_> = changes.collect();
    if changes.len() < FEWEST {
        return Vec::new();
    }
    let mut rates: Vec<_> = changes.iter().map(|(days, size)| size / days).collect();
    rates.sort_unstable_by(f64::total_cmp);
    let usual = (rates[(rates.len() - 1) / 2] + rates[rates.len() / 2]) / 2.0;
    rates.iter_mut().for_each(|rate| *rate = rate.abs());
    rates.sort_unstable_by(f64::total_cmp);
    let large = rates[rates.len() * 9 / 10];
    let events = changes.into_iter().zip(1..).filter_map(|((days, size), point)| {
        let size = size - usual * days;
        let is_event = size.abs() > TIMES * large * days;
        is_event.then(|| Event { point, day: points[point].0, size, recurs: false })
    });
    events.collect()
}

/// `points` without those of `events` that are to be left out.
fn without(points: &[Point], events: &[Event], leaves_out: impl Fn(&Event) -> bool) -> Vec<Point> {
    let mut left_out = events.iter().filter(|event| leaves_out(event)).peekable();
    let mut less = 0.0;
    let points = points.iter().enumerate().map(|(i, (day, size))| {
        if let Some(event) = left_out.next_if(|event| event.point == i) {
            less += event.size;
        }
        (*day, size - less)
    });
    points.collect()
}

/// The size on a `day`, on the line between the points around it.
fn at(points: &[Point], day: f64) -> f64 {
    let next = points.partition_point(|point| point.0 < day).min(points.len() - 1);
    let ((x, y), (after, size)) = (points[next.saturating_sub(1)], points[next]);
    match after > x && day > x {
        true => y + (size - y) * (day - x) / (after - x),
        false => y,
    }
}

fn widen(bounds: &mut [f64; 2], to: f64) {
    *bounds = [bounds[0].min(to), bounds[1].max(to)];
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

fn deviation(numbers: &[f64]) -> f64 {
    let mean = mean(numbers);
    (numbers.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / numbers.len() as f64).sqrt()
}

/// How far the mean of two or more numbers may be from the true mean, in 19 of 20 cases.
fn error_of_mean(numbers: &[f64]) -> f64 {
    /// Student's t for 1, 2, … degrees of freedom.
    const T: [f64; 9] = [12.7, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26];
    let free = numbers.len().saturating_sub(1).max(1);
    let t = T[free.min(T.len()) - 1];
    t * deviation(numbers) / (free as f64).sqrt()
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
        let widest = [(i64::MIN, 0), (i64::MAX, u64::MAX)];
        assert!(slope(widest).is_some_and(f64::is_finite));
        assert!(filling(widest, Some(u64::MAX)).is_some_and(|(rate, _)| rate.is_finite()));
    }

    /// A generator of xorshift numbers.
    struct Dice(u64);

    impl Dice {
        fn between(&mut self, least: f64, most: f64) -> f64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            least + (self.0 >> 11) as f64 / (1_u64 << 53) as f64 * (most - least)
        }

        fn of(&mut self, all: &[usize]) -> usize {
            all[self.between(0.0, all.len() as f64) as usize % all.len()]
        }
    }

    /// Growth with some of: weekends, noise, clean-ups and steps that come again, and one step of its own, down or up.
    /// Returns a scan a day for so many `days`, what is available then, and after how many days nothing is, if all goes on.
    fn grown(kind: &str, days: usize, seed: u64) -> (Vec<(i64, u64)>, u64, f64) {
        const GIB: f64 = (1_u64 << 30) as f64;
        let mut dice = Dice((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let has = |letter| kind.contains(letter);
        let a_day = dice.between(0.5, 3.0) * GIB;
        let on_weekends = if has('w') { [0.0, 0.2, 1.0][dice.of(&[0, 1, 2])] } else { 1.0 };
        let noise = if has('n') { dice.between(0.0, 0.5) } else { 0.0 };
        let phase = dice.of(&[0, 1, 2, 3, 4, 5, 6]);
        // Of what came less than three times, nothing is known.
        let seen = |least: usize| {
            let all = [5, 7, 10, 14, 21, 30].into_iter();
            all.filter(|it| *it >= least && *it <= days / 3).collect::<Vec<_>>()
        };
        let period = dice.of(&seen(5));
        let cleaned = a_day * period as f64 * dice.between(0.2, 0.9);
        let steps = dice.of(&seen(10.min(days / 3)));
        let step = a_day * dice.between(5.0, 20.0);
        let (once, of_once) = (dice.between(0.0, days as f64), a_day * dice.between(-30.0, 60.0));
        let mut grow = |day: usize| {
            let mut size = if (day + phase) % 7 < 5 { a_day } else { a_day * on_weekends };
            if has('n') {
                // About as a normal distribution: three are enough here.
                let dice: f64 = (0..3).map(|_| dice.between(-1.0, 1.0)).sum();
                size += dice * noise * a_day;
            }
            size -= if has('c') && day % period == phase % period { cleaned } else { 0.0 };
            size += if has('s') && day % steps == phase % steps { step } else { 0.0 };
            size += if has('o') && day == once as usize { of_once } else { 0.0 };
            size
        };
        let mut size = 1_000.0 * GIB;
        let mut scans = vec![(0, size as u64)];
        for day in 1..days {
            size += grow(day);
            scans.push((day as i64 * DAY, size as u64));
        }
        let available = a_day * (20.0 + (seed % 29) as f64 * 10.0);
        let (mut used, mut day) = (0.0, days);
        while used < available && day < 20_000 {
            used += grow(day);
            day += 1;
        }
        (scans, available as u64, (day - days) as f64)
    }

    /// With weekends, steps and clean-ups, the day is within 10 % of the true one, or the range has it, or there is none.
    #[test]
    fn the_day_is_near_or_there_is_none() {
        /// How many of a hundred answers may be wrong: by chance, if growth is noisy, or steps are rare.
        const WRONG: usize = 3;
        for kind in ["", "w", "o", "wo", "wn", "c", "wc", "s", "ws", "wco", "wnsco"] {
            for days in [16, 30, 60, 120, 210] {
                let (mut known, mut wrong) = (0, 0);
                for seed in 0..100 {
                    let (scans, available, truth) = grown(kind, days, seed);
                    let found = filling(scans, Some(available)).and_then(|(_, filling)| filling);
                    let Some(Filling::After(day, [early, late])) = found else { continue };
                    known += 1;
                    let is_right = match late <= early * 1.2 {
                        true => (day - truth).abs() <= truth * 0.1 + 1.0,
                        false => (early * 0.9 - 1.0..=late * 1.1 + 1.0).contains(&truth),
                    };
                    wrong += usize::from(!is_right);
                }
                let most = if "wo".contains(kind) { 0 } else { WRONG };
                assert!(wrong <= most, "{kind:?}, {days} days: {wrong} of {known}");
                // Where nothing is uneven, there is always an answer.
                let horizon = days * 10;
                let least = if "wo".contains(kind) && horizon > 300 { 95 } else { 0 };
                assert!(known >= least, "{kind:?}, {days} days: {known}");
            }
        }
    }

    #[test]
    fn of_little_there_is_a_range_and_of_nothing_no_day() {
        let scans = |sizes: &[u64]| {
            (0..).zip(sizes).map(|(day, size)| (day * DAY, *size)).collect::<Vec<_>>()
        };
        let full = |sizes: &[u64], available| {
            filling(scans(sizes), Some(available)).and_then(|(_, filling)| filling)
        };
        // A working week may be followed by a weekend.
        let five = full(&[0, 10, 20, 30, 40], 100);
        assert!(
            matches!(five, Some(Filling::After(day, [early, late]))
                if day == 10.0 && early < 7.5 && late >= 14.0),
            "{five:?}"
        );
        assert_eq!(full(&[40, 30, 20, 10], 100), Some(Filling::Never));
        assert_eq!(full(&[40, 40, 40, 40], 100), Some(Filling::Never));
        assert_eq!(full(&[0, 10, 20, 30, 40], 0), Some(Filling::After(0.0, [0.0; 2])));
        assert_eq!(full(&[0, 90, 10, 80, 20], 100), Some(Filling::Uneven));
        assert_eq!(full(&[0, 10, 20, 30, 40], 10_000), Some(Filling::NotWithin(40.0)));
        assert_eq!(full(&[0], 100), None);
    }
}
