//! A plot of a size over time: an area under the line through the sizes, with round sizes at its left and dates below.

use super::name::{cells, right_aligned, widest};
use super::palette::{Charset, Palette};
use super::size::Format;
use super::time::{Style, TimeFormat};
use super::tree::PictureOptions;
use crate::base::measure::DAY;

/// A size at a time.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// In seconds since the epoch.
    pub time: i64,
    /// The size; none if it is not known well enough to be drawn. The axis then has a mark.
    pub size: Option<u64>,
}

/// How many lines the area takes at most.
const HEIGHT: usize = 8;
/// Below so many cells, nothing can be seen.
const LEAST_WIDTH: usize = 12;
/// The mark on the axis where a scan has no size.
pub const MARK: char = '×';

/// Draws `points`, in order of time. Nothing if there are not two sizes, or if they are all equal.
pub fn plot(points: &[Point], options: &PictureOptions) -> Vec<String> {
    let known: Vec<_> = points.iter().filter_map(|it| Some((it.time, it.size?))).collect();
    let sizes = known.iter().map(|(_, size)| *size);
    let (Some(low), Some(high)) = (sizes.clone().min(), sizes.max()) else { return Vec::new() };
    let [first, last] = [points.first(), points.last()].map(|it| it.map_or(0, |it| it.time));
    if low == high || first >= last {
        return Vec::new();
    }
    let scale = Scale::new(low, high, &options.format);
    let labels: Vec<_> = (0..=scale.steps).map(|i| options.format.write(scale.at(i))).collect();
    let label = widest(&labels);
    let width = options.width.min(u16::MAX.into()).saturating_sub(label + 2);
    if width < LEAST_WIDTH {
        return Vec::new();
    }
    let columns = Columns { first, last, width };
    let levels = columns.levels(&known, &scale);
    let paint = |text: &str| options.paint(text, Palette::aside);
    let mut lines = Vec::new();
    for row in (0..scale.rows()).rev() {
        // The label beside a line is the size of a column that fills this line.
        let (step, is_between) = ((row + 1) / scale.lines, !(row + 1).is_multiple_of(scale.lines));
        let size = if is_between { "" } else { &labels[step] };
        let area: String = levels.iter().map(|level| part(*level, row, options.charset)).collect();
        let area = options.paint(area.trim_end_matches(' '), Palette::plot);
        let beside = paint(&format!("{} │", right_aligned(size, label)));
        lines.push(format!("{beside}{area}"));
    }
    let (mut axis, dates) = columns.axis(&options.dates);
    for point in points.iter().filter(|point| point.size.is_none()) {
        axis[columns.of(point.time)] = MARK;
    }
    let axis: String = axis.into_iter().collect();
    lines.push(paint(&format!("{} └{axis}", right_aligned(&labels[0], label))));
    lines.push(paint(&format!("{}{dates}", " ".repeat(label + 2))));
    let drawn = lines.iter().map(|line| options.charset.drawing(line.trim_end()).into_owned());
    drawn.collect()
}

/// The times between which there was far more time than between the scans before and after: with no scan in it.
pub fn gaps(times: &[i64]) -> Vec<(i64, i64)> {
    /// So many times as long.
    const TIMES: i64 = 3;
    let between: Vec<_> = times.windows(2).map(|two| two[1].saturating_sub(two[0])).collect();
    let is_gap = |i: usize| {
        let beside = [i.checked_sub(1), i.checked_add(1)].into_iter().flatten();
        let longest = beside.filter_map(|i| between.get(i)).max();
        let longest = longest.map_or(i64::MAX, |it| it.saturating_mul(TIMES).max(2 * DAY));
        between[i] > longest
    };
    (0..between.len()).filter(|i| is_gap(*i)).map(|i| (times[i], times[i + 1])).collect()
}

/// The part of a column that is in a line, the lowest of which has number 0.
fn part(level: Option<usize>, row: usize, charset: Charset) -> char {
    const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let eighths = level.map_or(0, |level| level.saturating_sub(row * 8).min(8));
    match charset {
        Charset::Unicode => EIGHTHS[eighths],
        Charset::Console if eighths >= 4 => '█',
        Charset::Ascii if eighths >= 4 => '#',
        Charset::Console | Charset::Ascii => ' ',
    }
}

/// The sizes beside the lines.
struct Scale {
    base: u64,
    step: u64,
    steps: usize,
    /// How many lines a step takes.
    lines: usize,
}

impl Scale {
    /// With a round step, for sizes from `low` to `high`. From 0, unless that would hide the changes.
    fn new(low: u64, high: u64, format: &Format) -> Self {
        const STEPS: u64 = 4;
        let from = if low > high / 2 { low } else { 0 };
        let fits = |step: &u64| high.div_ceil(*step) - from / step <= STEPS;
        let step = round(format).find(fits).unwrap_or(u64::MAX);
        let base = from / step * step;
        let steps = (high - base).div_ceil(step).max(1) as usize;
        Self { base, step, steps, lines: HEIGHT / steps }
    }

    fn at(&self, step: usize) -> u64 {
        self.base.saturating_add(self.step.saturating_mul(step as u64))
    }

    fn rows(&self) -> usize {
        self.steps * self.lines
    }

    /// How many eighths of a line a size takes.
    fn level(&self, size: f64) -> usize {
        let whole = self.step as f64 * self.steps as f64;
        let level = (size - self.base as f64) / whole * (self.rows() * 8) as f64;
        // A cast from a float saturates. What is there is seen.
        (level.round() as usize).max(1)
    }
}

/// Round numbers, as `format` writes them, in ascending order.
fn round(format: &Format) -> impl Iterator<Item = u64> {
    let (one, thousand) = match format {
        Format::Binary => (1, 1024),
        Format::Decimal | Format::Count => (1, 1000),
        Format::Fixed(unit) => (unit.bytes.max(1), 1000),
    };
    let units = (0..7).map_while(move |power| u64::checked_pow(thousand, power)?.checked_mul(one));
    let digits = [1, 2, 5, 10, 20, 50, 100, 200, 500];
    units.flat_map(move |unit| digits.into_iter().filter_map(move |it| unit.checked_mul(it)))
}

/// The times of columns.
struct Columns {
    first: i64,
    last: i64,
    width: usize,
}

impl Columns {
    /// The column of a `time`.
    fn of(&self, time: i64) -> usize {
        let all = (i128::from(self.last) - i128::from(self.first)).max(1);
        let part = (i128::from(time) - i128::from(self.first)).clamp(0, all);
        ((part * (self.width as i128 - 1) + all / 2) / all) as usize
    }

    /// The time of a column.
    fn time(&self, column: usize) -> i64 {
        let all = i128::from(self.last) - i128::from(self.first);
        let part = all * column as i128 / (self.width as i128 - 1).max(1);
        self.first.saturating_add(i64::try_from(part).unwrap_or(i64::MAX))
    }

    /// How high each column is, in eighths of a line: as high as the last size in it, or as the line between two sizes.
    /// None in a gap, and beyond the sizes.
    fn levels(&self, known: &[(i64, u64)], scale: &Scale) -> Vec<Option<usize>> {
        let mut levels = vec![None; self.width];
        let times: Vec<_> = known.iter().map(|(time, _)| *time).collect();
        let gaps = gaps(&times);
        for two in known.windows(2) {
            let [(from, was), (to, is)] = [two[0], two[1]];
            if gaps.contains(&(from, to)) {
                continue;
            }
            let [start, end] = [from, to].map(|time| self.of(time));
            let between = levels.iter_mut().enumerate().take(end).skip(start + 1);
            for (column, level) in between {
                let part = (column - start) as f64 / (end - start) as f64;
                let size = was as f64 + (is as f64 - was as f64) * part;
                *level = Some(scale.level(size));
            }
        }
        for (time, size) in known {
            levels[self.of(*time)] = Some(scale.level(*size as f64));
        }
        levels
    }

    /// The axis, with ticks, and the dates below it.
    fn axis(&self, dates: &TimeFormat) -> (Vec<char>, String) {
        const BETWEEN: usize = 6;
        /// Of a few days, the hours tell more.
        const DAYS: i64 = 3;
        let is_usual = matches!(&dates.style, Style::Format(format) if format == "%Y-%m-%d");
        let is_short = self.last.saturating_sub(self.first) < DAYS * DAY;
        let hours = Style::Format("%m-%d %H:%M".to_owned());
        let dates = match is_usual && is_short {
            true => TimeFormat { style: hours, ..dates.clone() },
            false => dates.clone(),
        };
        let date = cells(&dates.write(self.first)).max(1);
        let count = (self.width / (date + BETWEEN)).clamp(1, 9);
        let (mut axis, mut line) = (vec!['─'; self.width], String::new());
        for i in 0..=count {
            let column = i * (self.width - 1) / count;
            let text = dates.write(self.time(column));
            let start = match i {
                0 => 0,
                _ if i == count => self.width.saturating_sub(cells(&text)),
                _ => column.saturating_sub(cells(&text) / 2),
            };
            let room = start.checked_sub(cells(&line)).filter(|room| *room > 0 || i == 0);
            let Some(room) = room else { continue };
            axis[column] = '┴';
            line += &" ".repeat(room);
            line += &text;
        }
        (axis, line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_round() {
        const MI: u64 = 1 << 20;
        for (low, high, base, step, steps) in [
            (0, 4, 0, 1, 4),
            (66 * MI, 164 * MI, 0, 50 * MI, 4),
            (900 * MI, 1000 * MI, 900 * MI, 50 * MI, 2),
            (0, u64::MAX, 0, 5 << 60, 4),
        ] {
            let scale = Scale::new(low, high, &Format::Binary);
            assert_eq!((scale.base, scale.step, scale.steps), (base, step, steps), "{low} {high}");
            assert!(scale.at(scale.steps) >= high && scale.rows() <= HEIGHT);
        }
    }

    #[test]
    fn a_gap_is_longer_than_what_is_around_it() {
        let days = |days: &[i64]| gaps(&days.iter().map(|day| day * DAY).collect::<Vec<_>>()).len();
        assert_eq!(days(&[0, 1, 2, 14, 15, 16]), 1);
        assert_eq!(days(&[0, 1, 2, 4, 5]), 0);
        // As weigh thins out what it keeps.
        assert_eq!(days(&[0, 30, 60, 67, 74, 75, 76]), 0);
        assert_eq!(days(&[0, 30]), 0);
    }
}
