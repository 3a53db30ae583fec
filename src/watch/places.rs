//! Who wrote how much in which directory, and the lines that show it.

use std::collections::{HashMap, HashSet, VecDeque};

use foldhash::fast::RandomState;

use super::table::Table;

/// A writer's number.
pub type WriterId = u32;

type Map<K, V> = HashMap<K, V, RandomState>;

/// How much something changed, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    /// In the last few ticks.
    pub recent: i64,
    /// Since the start.
    pub so_far: i64,
}

impl Growth {
    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self {
            recent: self.recent.saturating_add(other.recent),
            so_far: self.so_far.saturating_add(other.so_far),
        }
    }
}

/// The changes in one directory, without those below it.
#[derive(Debug, Default)]
struct Place {
    so_far: Vec<(WriterId, i64)>,
    /// By tick, the oldest first.
    recent: VecDeque<(u64, WriterId, i64)>,
}

impl Place {
    fn add(&mut self, writer: WriterId, bytes: i64) {
        let position = |writer| self.so_far.iter().position(|(it, _)| *it == writer);
        let known = position(writer);
        // Nobody that is known.
        let is_full = known.is_none() && self.so_far.len() >= MOST_WRITERS;
        let (writer, known) = if is_full { (0, position(0)) } else { (writer, known) };
        match known.and_then(|at| self.so_far.get_mut(at)) {
            Some((_, sum)) => *sum = sum.saturating_add(bytes),
            None => self.so_far.push((writer, bytes)),
        }
    }
}

/// Directories in which something changed.
#[derive(Debug, Default)]
pub struct Places(Map<u32, Place>);

/// A line: a directory, without the directories of other lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub directory: u32,
    pub growth: Growth,
    /// Who wrote there, the one that wrote most first.
    pub writers: Vec<(WriterId, Growth)>,
}

/// How many writers a directory keeps apart: the rest counts as nobody that is known.
const MOST_WRITERS: usize = 64;
/// A directory with at least this part of its parent's change stands for it.
const MOST_OF_IT: f64 = 0.8;
/// A directory with less than this part of all change has no line of its own.
const LARGE: f64 = 0.02;
/// Into so many lines a directory is divided at most.
const FEW: usize = 12;

impl Places {
    pub fn credit(&mut self, directory: u32, writer: WriterId, bytes: i64, tick: u64) {
        let place = self.0.entry(directory).or_default();
        place.add(writer, bytes);
        let mut of_now = place.recent.iter_mut().rev().take_while(|it| it.0 == tick);
        match of_now.find(|it| it.1 == writer) {
            Some((.., sum)) => *sum = sum.saturating_add(bytes),
            None => place.recent.push_back((tick, writer, bytes)),
        }
    }

    /// The changes in a directory that is gone become changes in its parent.
    pub fn fold(&mut self, directory: u32, parent: u32) {
        let Some(gone) = self.0.remove(&directory) else { return };
        let place = self.0.entry(parent).or_default();
        for (writer, bytes) in gone.so_far {
            place.add(writer, bytes);
        }
        let mut recent: Map<_, i64> = Map::default();
        for (tick, writer, bytes) in gone.recent.into_iter().chain(place.recent.drain(..)) {
            *recent.entry((tick, writer)).or_default() += bytes;
        }
        place
            .recent
            .extend(recent.into_iter().map(|((tick, writer), bytes)| (tick, writer, bytes)));
        place.recent.make_contiguous().sort_unstable();
    }

    /// Forgets the rates of ticks before `first`.
    pub fn forget_before(&mut self, first: u64) {
        for place in self.0.values_mut() {
            while place.recent.front().is_some_and(|(tick, ..)| *tick < first) {
                place.recent.pop_front();
            }
        }
    }

    /// The lines, in no particular order, and what is in none of them.
    pub fn lines(&self, table: &Table) -> (Vec<Line>, Growth) {
        let weights = Weights::of(self, table);
        let chosen = weights.chosen();
        let mut lines: Map<u32, (Growth, Map<WriterId, Growth>)> = Map::default();
        let mut elsewhere = Growth::default();
        for (directory, place) in &self.0 {
            let mut line = Some(*directory);
            while let Some(it) = line.filter(|it| !chosen.contains(it)) {
                line = table.parent(it);
            }
            let mut add = |writer, growth| match line {
                None => elsewhere = elsewhere.plus(growth),
                Some(line) => {
                    let (sum, writers) = lines.entry(line).or_default();
                    *sum = sum.plus(growth);
                    let of_writer = writers.entry(writer).or_default();
                    *of_writer = of_writer.plus(growth);
                }
            };
            for (writer, so_far) in &place.so_far {
                add(*writer, Growth { recent: 0, so_far: *so_far });
            }
            for (_, writer, recent) in &place.recent {
                add(*writer, Growth { recent: *recent, so_far: 0 });
            }
        }
        let lines = lines.into_iter().map(|(directory, (growth, writers))| {
            let mut writers: Vec<_> = writers.into_iter().collect();
            writers.sort_unstable_by_key(|(id, it)| {
                (-it.recent.saturating_abs(), -it.so_far.saturating_abs(), *id)
            });
            Line { directory, growth, writers }
        });
        (lines.collect(), elsewhere)
    }
}

/// The part that each directory has, with those below it, in all that was written and removed: in the last tick with
/// changes, recently, and since the start.
struct Weights {
    of: Map<u32, [f64; 3]>,
    /// Without those below it.
    own: Map<u32, [f64; 3]>,
    children: Map<u32, Vec<u32>>,
}

impl Weights {
    fn of(places: &Places, table: &Table) -> Self {
        let amount = |bytes: i64| bytes.unsigned_abs() as f64;
        let last = places.0.values().filter_map(|it| it.recent.back()).map(|it| it.0).max();
        let own = places.0.iter().map(|(directory, place)| {
            let of_last = place.recent.iter().rev().take_while(|it| Some(it.0) == last);
            let now: f64 = of_last.map(|(.., bytes)| amount(*bytes)).sum();
            let recent: f64 = place.recent.iter().map(|(.., bytes)| amount(*bytes)).sum();
            let so_far: f64 = place.so_far.iter().map(|(_, bytes)| amount(*bytes)).sum();
            (*directory, [now, recent, so_far])
        });
        let own: Vec<_> = own.collect();
        let mut all = [0, 1, 2].map(|at| {
            let sum: f64 = own.iter().map(|(_, amounts)| amounts[at]).sum();
            if sum > 0.0 { sum } else { 1.0 }
        });
        // Else a small change in a quiet moment would be all of it.
        all[0] = all[0].max(all[1] / 100.0);
        let (mut of, mut children) = (Map::default(), Map::<u32, Vec<u32>>::default());
        let mut alone = Map::default();
        for (directory, amounts) in own {
            let weights: [f64; 3] = std::array::from_fn(|at| amounts[at] / all[at]);
            alone.insert(directory, weights);
            let mut at = directory;
            loop {
                let is_new = !of.contains_key(&at);
                let sums = of.entry(at).or_insert([0.0; 3]);
                sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight);
                let Some(parent) = table.parent(at) else { break };
                if is_new {
                    children.entry(parent).or_default().push(at);
                }
                at = parent;
            }
        }
        Self { of, own: alone, children }
    }

    /// The directories that have lines: those that cannot be divided into a few others with most of their change, now,
    /// recently, or since the start. So after an hour in many directories, the one that grows now has a line at once.
    fn chosen(&self) -> HashSet<u32, RandomState> {
        let mut chosen = HashSet::default();
        for at in 0..3 {
            self.choose(|weights| weights[at], &mut chosen);
        }
        chosen
    }

    fn choose(&self, of: impl Fn(&[f64; 3]) -> f64, chosen: &mut HashSet<u32, RandomState>) {
        let mut ahead = vec![0_u32];
        let weight = |it: &u32| self.of.get(it).map_or(0.0, &of);
        let own = |it: &u32| self.own.get(it).map_or(0.0, &of);
        while let Some(directory) = ahead.pop() {
            let all = weight(&directory);
            let below = self.children.get(&directory).map_or(&[][..], |it| it);
            let large: Vec<_> = below.iter().copied().filter(|it| weight(it) >= LARGE).collect();
            let divided: f64 = large.iter().map(weight).sum();
            let stands_for_it = large.iter().any(|it| weight(it) >= MOST_OF_IT * all);
            // The rest, without a line of its own, is in the directory itself.
            let shown = divided + own(&directory);
            let is_divided = stands_for_it || large.len() <= FEW && shown >= MOST_OF_IT * all;
            let (rest, large) = if is_divided { (all - divided, large) } else { (all, vec![]) };
            // Nothing below is left, if what is there is too small for lines.
            if rest >= LARGE || large.is_empty() && all > 0.0 {
                chosen.insert(directory);
            }
            ahead.extend(large);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::watch::table::Key;

    /// A root, and directories, each in the one before it that a number chooses.
    fn table(parents: &[usize]) -> Table {
        let mut table = Table::default();
        let key = |inode: usize| Key { device: 0, inode: inode as u64 };
        table.add(key(0), 0, b"/").expect("the root");
        for (number, parent) in parents.iter().enumerate() {
            table.add(key(number + 1), (parent % (number + 1)) as u32, b"d").expect("a directory");
        }
        table
    }

    fn lines(places: &Places, table: &Table) -> Vec<u32> {
        let mut lines: Vec<_> = places.lines(table).0.iter().map(|line| line.directory).collect();
        lines.sort_unstable();
        lines
    }

    #[test]
    fn the_deepest_directory_with_most_of_the_change_has_a_line() {
        // 0 contains 1, that contains 2; and 0 contains 3 to 12.
        let table = table(&[0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let mut places = Places::default();
        places.credit(2, 1, 1_000, 0);
        assert_eq!(lines(&places, &table), [2]);
        // A small part elsewhere has a line, and a tiny one has none.
        places.credit(3, 2, 50, 0);
        places.credit(1, 2, 1, 0);
        assert_eq!(lines(&places, &table), [2, 3]);
        // Ten at once.
        for directory in 3..=11 {
            places.credit(directory, directory, 1_000, 0);
        }
        assert_eq!(lines(&places, &table), [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        // Of a directory that is gone, its parent.
        places.fold(2, 1);
        assert_eq!(lines(&places, &table), [1, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    }

    /// Once, a directory that grows by itself hid those in it.
    #[test]
    fn a_directory_and_one_in_it_have_lines() {
        let table = table(&[0, 1]);
        let mut places = Places::default();
        places.credit(1, 1, 1_000, 0);
        places.credit(2, 2, 500, 0);
        assert_eq!(lines(&places, &table), [1, 2]);
    }

    /// Once, a long list of places that no longer grow hid the one that does.
    #[test]
    fn a_place_that_grows_now_has_a_line_after_many_others() {
        let table = table(&[0; 100]);
        let mut places = Places::default();
        (1..=99).for_each(|directory| places.credit(directory, 1, 10_000, 0));
        places.forget_before(1);
        places.credit(100, 2, 1_000, 1);
        assert_eq!(lines(&places, &table), [0, 100]);
    }

    /// Once, it had no line before it had written a fiftieth of all that was written within ten seconds.
    #[test]
    fn a_place_that_begins_to_grow_has_a_line_at_once() {
        let table = table(&[0, 0]);
        let mut places = Places::default();
        places.credit(1, 1, 1_000_000, 0);
        places.credit(2, 2, 15_000, 1);
        assert_eq!(lines(&places, &table), [1, 2]);
    }

    #[test]
    fn no_writer_gets_what_others_wrote() {
        let mut places = Places::default();
        (1..=200).for_each(|writer| places.credit(0, writer, 10, 0));
        places.forget_before(1);
        let (lines, _) = places.lines(&table(&[]));
        let of = |id| lines[0].writers.iter().find(|it| it.0 == id).map(|it| it.1.so_far);
        assert_eq!((of(0), of(1), of(200)), (Some(1_360), Some(10), None));
    }

    #[test]
    fn many_small_changes_are_one_line() {
        let table = table(&[0; 100]);
        let mut places = Places::default();
        (1..=100).for_each(|directory| places.credit(directory, 1, 10, 0));
        assert_eq!(lines(&places, &table), [0]);
    }

    proptest! {
        #[test]
        fn lines_and_the_rest_are_all(
            parents: Vec<usize>,
            changes in prop::collection::vec((0..50_u32, 0..90_u32, -1_000..1_000_i64, 0..4_u64), 0..200),
        ) {
            let (table, mut places) = (table(&parents), Places::default());
            let mut all = 0;
            for (directory, writer, bytes, tick) in changes {
                places.credit(directory % (parents.len() as u32 + 1), writer, bytes, tick);
                all += bytes;
            }
            let (lines, elsewhere) = places.lines(&table);
            let sum: i64 = lines.iter().map(|line| line.growth.so_far).sum();
            prop_assert_eq!(sum + elsewhere.so_far, all);
            places.forget_before(u64::MAX);
            prop_assert!(places.lines(&table).0.iter().all(|line| line.growth.recent == 0));
        }
    }
}
