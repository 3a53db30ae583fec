//! How many threads: what the gearbox decides, from nothing but what it is told.
//!
//! Warm, one thread a core is best, and nothing may disturb it. Where threads wait for storage,
//! more of them help, up to what the storage serves at the same time; on a disk that has to seek,
//! fewer do. Nobody can tell in advance, so it is tried: the number goes up by steps as long as each
//! brings so many more entries a second, then stays, and from time to time is tried again. Where a
//! step brings hardly anything, one thread is tried before anything else.
//!
//! Threads that wait are told from threads that are kept from running by other processes: the former
//! gave up their cores themselves. And where they wait for storage they do so once in a few
//! dozen entries, since a block of inodes holds so many; warm, once in hundreds, for each other.

use std::time::Duration;

use crate::sys::Storage;

/// What the walk did between two looks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    /// How long that was.
    pub(super) wall: Duration,
    /// Time on a core, of all threads.
    pub(super) cpu: Duration,
    /// How often a thread waited for something.
    pub(super) waits: u64,
    /// How often a thread had to make room for another process.
    pub(super) preemptions: u64,
    /// Steps done: entries stated, directories opened.
    pub(super) done: u64,
    /// Steps known at the end that were not done yet.
    pub(super) waiting: u64,
}

/// Finds the number of threads.
#[derive(Debug)]
pub(super) struct Gearbox {
    cores: usize,
    most: usize,
    threads: usize,
    phase: Phase,
    /// What was seen since the phase began, or since it had to be looked at anew.
    seen: Sample,
    /// How long to stay, the next time there is nothing better.
    patience: Duration,
}

/// What the gearbox is about.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// One thread a core, and no reason for more at so many looks.
    First(u32),
    /// So many steps that were begun with the number before have to end first.
    Changing(Trial, u64),
    /// Measuring whether it is better.
    Trying(Trial),
    /// It was the best number for as long.
    Staying(Duration),
}

/// A number of threads that is tried instead of another.
#[derive(Clone, Copy, Debug)]
struct Trial {
    /// The number before.
    threads: usize,
    /// Steps a second with that number.
    rate: f64,
    /// How many times as many are tried next, if this is better.
    factor: usize,
}

/// A step up must bring so much.
const GAIN: f64 = 1.15;
/// Four times the threads bring so much at least, or else one may do as well.
const CLEAR: f64 = 1.5;
/// A step down may cost so much.
const LOSS: f64 = 0.95;
/// A step up multiplies the threads by so much, as long as that is better; then by 2.
const FACTOR: usize = 4;
/// In first gear, what is longer ago says nothing of what is going on.
const MEMORY: Duration = Duration::from_millis(100);
/// No storage is waited for any longer than this before something is decided.
const MOST_TIME: Duration = Duration::from_secs(1);
/// How long the best number stays, at first; each time twice as long.
const PATIENCE: Duration = Duration::from_secs(1);
const MOST_PATIENCE: Duration = Duration::from_secs(30);

impl Gearbox {
    /// Starts with one thread for each of `cores`; never goes beyond `most`.
    pub(super) fn new(cores: usize, most: usize) -> Self {
        let (phase, seen) = (Phase::First(0), Sample::default());
        Self { cores, most: most.max(cores), threads: cores, phase, seen, patience: PATIENCE }
    }

    /// How many threads it starts with.
    pub(super) fn cores(&self) -> usize {
        self.cores
    }

    /// Starts anew: storage is not what it was.
    pub(super) fn begin_anew(&mut self) {
        self.threads = self.cores;
        self.begin(Phase::First(0));
    }

    /// How long to wait before the next look.
    pub(super) fn interval(&self) -> Duration {
        /// A walk that is over by then has cost nothing.
        const SHORTEST: Duration = Duration::from_millis(5);
        match self.phase {
            Phase::First(looks) => SHORTEST * (1 << looks.min(4)),
            Phase::Changing(..) | Phase::Trying(_) => SHORTEST,
            Phase::Staying(_) => SHORTEST * 5,
        }
    }

    /// The number of threads from now on, if it changes. `hint` is asked what the threads wait for,
    /// only when they do: who answers for it, and whether it has to seek.
    pub(super) fn look(
        &mut self,
        sample: &Sample,
        hint: impl FnOnce() -> (Storage, bool),
    ) -> Option<usize> {
        self.seen.add(sample);
        let has_work = sample.waiting > self.threads as u64;
        match self.phase {
            Phase::First(looks) => {
                let may_be_blocked = has_work && !self.seen.is_busy(self.threads);
                if may_be_blocked && self.seen.is_blocked() && self.is_measured() {
                    return self.try_with(self.first_guess(hint()), FACTOR);
                }
                if !may_be_blocked || self.seen.wall > MEMORY && !self.seen.is_blocked() {
                    self.begin(Phase::First(looks.saturating_add(1)));
                }
                None
            }
            Phase::Changing(trial, begun) => {
                if self.seen.done >= begun || self.seen.wall >= MOST_TIME {
                    self.begin(Phase::Trying(trial));
                }
                None
            }
            Phase::Trying(_) if !has_work => {
                // Whatever the rate, there was not enough to do for so many.
                self.seen = Sample::default();
                None
            }
            Phase::Trying(trial) => self.judge(trial),
            Phase::Staying(until) => {
                let is_warm = self.seen.is_busy(self.cores) && !self.seen.is_blocked();
                if is_warm && self.threads > self.cores {
                    self.threads = self.cores;
                    self.begin(Phase::First(0));
                    return Some(self.cores);
                }
                if self.seen.wall < until {
                    return None;
                }
                self.patience = (self.patience * 2).min(MOST_PATIENCE);
                if !has_work || !self.seen.is_blocked() {
                    self.begin(Phase::Staying(until));
                    return None;
                }
                let more = self.threads.saturating_mul(2);
                self.try_with(if more <= self.most { more } else { self.threads / 2 }, 2)
            }
        }
    }

    /// What to try first.
    fn first_guess(&self, (storage, seeks): (Storage, bool)) -> usize {
        /// What network file systems serve at the same time, at the least.
        const REMOTE: usize = 64;
        /// Disks of virtual machines often say that they seek. Those that do need so long.
        const SEEK: Duration = Duration::from_millis(1);
        match storage {
            Storage::Remote => REMOTE.max(self.threads),
            Storage::Local if seeks && self.seen.wait(self.threads) >= SEEK => 1,
            Storage::Local | Storage::Process => self.threads.saturating_mul(FACTOR),
        }
    }

    /// Says whether what is tried is better, as soon as that can be said.
    fn judge(&mut self, trial: Trial) -> Option<usize> {
        let (rate, is_up) = (self.seen.rate(), self.threads > trial.threads);
        if !(self.is_bad(trial) || self.is_measured()) {
            return None;
        }
        if is_up && rate >= trial.rate * GAIN {
            if self.threads >= self.most || self.seen.is_busy(self.cores) {
                return self.stay(self.threads);
            }
            let is_doubtful = trial.threads <= self.cores && rate < trial.rate * CLEAR;
            let next = if is_doubtful { 1 } else { self.threads.saturating_mul(trial.factor) };
            return self.try_with(next, trial.factor);
        }
        if !is_up && rate >= trial.rate * LOSS {
            return self.stay(self.threads);
        }
        if is_up && trial.threads > 1 {
            // Where more do not help, one may do better: a disk that has to seek. If it does not,
            // that shows at once.
            return self.try_again(trial, 1);
        }
        if !is_up && trial.factor > 2 {
            // Too far, but maybe not in the wrong direction; or a hint was wrong.
            return self.try_again(Trial { factor: 2, ..trial }, trial.threads * 2);
        }
        self.stay(trial.threads)
    }

    /// Whether it is clear early that `trial` brings nothing: where so many steps would have been done
    /// before, not half of them is done; or four times the threads get hardly more done.
    fn is_bad(&self, trial: Trial) -> bool {
        let enough = 16.0_f64.max(self.threads as f64 / 2.0);
        let (done, expected) = (self.seen.done as f64, trial.rate * self.seen.wall.as_secs_f64());
        let is_leap = self.threads >= trial.threads.saturating_mul(FACTOR);
        expected >= enough && done < expected * if is_leap { CLEAR } else { 0.5 }
    }

    /// Whether enough was seen for a rate to be told from it.
    fn is_measured(&self) -> bool {
        const TIME: Duration = Duration::from_millis(5);
        const STEPS: u64 = 16;
        const STEPS_A_THREAD: u64 = 4;
        let steps = STEPS.max(STEPS_A_THREAD * self.threads as u64);
        self.seen.wall >= TIME && self.seen.done >= steps || self.seen.wall >= MOST_TIME
    }

    /// Tries `threads`, to be better than what was just measured.
    fn try_with(&mut self, threads: usize, factor: usize) -> Option<usize> {
        let trial = Trial { threads: self.threads, rate: self.seen.rate(), factor };
        self.try_again(trial, threads)
    }

    /// Tries `threads`, to be better than what was measured before what was just tried.
    fn try_again(&mut self, trial: Trial, threads: usize) -> Option<usize> {
        self.change(threads, Phase::Changing(trial, self.threads as u64))
    }

    fn stay(&mut self, threads: usize) -> Option<usize> {
        self.change(threads, Phase::Staying(self.patience))
    }

    fn change(&mut self, threads: usize, phase: Phase) -> Option<usize> {
        let threads = threads.clamp(1, self.most);
        let is_new = threads != self.threads;
        self.threads = threads;
        self.begin(phase);
        is_new.then_some(threads)
    }

    fn begin(&mut self, phase: Phase) {
        self.phase = phase;
        self.seen = Sample::default();
    }
}

impl Sample {
    fn add(&mut self, other: &Sample) {
        self.wall += other.wall;
        self.cpu += other.cpu;
        self.waits += other.waits;
        self.preemptions += other.preemptions;
        self.done += other.done;
        self.waiting = other.waiting;
    }

    /// Steps a second.
    fn rate(&self) -> f64 {
        self.done as f64 / self.wall.as_secs_f64().max(1e-6)
    }

    /// How long a wait of so many threads took on average.
    fn wait(&self, threads: usize) -> Duration {
        let waited = (self.wall * threads as u32).saturating_sub(self.cpu);
        waited / u32::try_from(self.waits.max(1)).unwrap_or(u32::MAX)
    }

    /// The share of the time of so many threads that was spent on a core.
    fn share(&self, threads: usize) -> f64 {
        self.cpu.as_secs_f64() / (self.wall.as_secs_f64().max(1e-6) * threads.max(1) as f64)
    }

    fn is_busy(&self, threads: usize) -> bool {
        const BUSY: f64 = 0.75;
        self.share(threads) >= BUSY
    }

    /// Whether threads wait for storage: they do so often for what they get done, and more often
    /// than they are kept from running. A few waits say nothing.
    fn is_blocked(&self) -> bool {
        const WAITS: u64 = 4;
        const STEPS_A_WAIT: u64 = 96;
        self.waits >= WAITS
            && self.waits > self.preemptions.saturating_mul(2)
            && self.waits.saturating_mul(STEPS_A_WAIT) >= self.done
    }
}

#[cfg(test)]
mod tests;
