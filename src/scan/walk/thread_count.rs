//! Chooses the number of threads, from the samples that it gets and from nothing else.
//!
//! If everything is cached, one thread for each core is best, and nothing may disturb it. So a walk begins with these,
//! or with a few more if its first look had to wait. If threads wait for storage, more threads help, up to the number
//! of requests that the storage serves at the same time. Fewer help on a disk that has to seek, and where each look-up
//! locks its directory. Nobody can know this in advance, so it is tried: the number goes up in steps as long as each
//! step brings enough entries a second, then stays, and is tried again from time to time. If the first step brings
//! hardly anything, one thread is tried before anything else, unless the storage is on another machine: on NFS with 2 ms
//! for an answer, 9 of 14 walks tried it, and took 1.5 s instead of 1.0 s (medians, 2026-11-26).
//!
//! Whether a device says that it rotates is not asked. Disks of virtual machines say so, and on a busy machine their
//! answers seem as late as those of a real one: cold on XFS, one thread was then taken for a second, and balanced took
//! 1.66 s instead of 0.39 s (medians of 9, 2026-11-23).
//!
//! Threads that wait for storage gave up their cores themselves; threads that other processes keep from running did
//! not. And threads that wait for storage do so once in a few dozen entries, because a block of inodes holds that
//! many. If everything is cached, they wait once in hundreds of entries, for each other.

use std::time::Duration;

use crate::sys::Storage;

/// What the walk did between two samples.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    /// The time between them.
    pub(super) wall: Duration,
    /// CPU time of all threads.
    pub(super) cpu: Duration,
    /// How often a thread waited for something.
    pub(super) waits: u64,
    /// How often another process took a thread's core.
    pub(super) preemptions: u64,
    /// Steps done: entries stated, directories opened.
    pub(super) done: u64,
    /// Steps known at the end but not done yet.
    pub(super) waiting: u64,
}

/// Finds the number of threads.
#[derive(Debug)]
pub(super) struct ThreadChooser {
    cores: usize,
    most: usize,
    /// How many it started with: one for each core, or more.
    first: usize,
    threads: usize,
    phase: Phase,
    /// The samples since the phase began, or since they were discarded.
    seen: Sample,
    /// How long to stay the next time that nothing is better.
    patience: Duration,
    /// Whether the storage is on another machine. Whatever disks that has, one thread mostly waits for the network.
    is_remote: bool,
}

/// What it is doing.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// The beginning, which is not measured.
    Beginning,
    /// The number it started with; so many samples gave no reason for another.
    First(u32),
    /// Waiting for the end of so many steps that began with the previous number of threads.
    Changing(Trial, u64),
    /// Measuring whether the trial is better.
    Trying(Trial),
    /// Staying so long, because this was the best number.
    Staying(Duration),
}

/// A number of threads that is tried instead of another.
#[derive(Clone, Copy, Debug)]
struct Trial {
    /// The previous number.
    threads: usize,
    /// Steps a second with that number.
    rate: f64,
    /// By how much to multiply the number next, if this is better.
    factor: usize,
}

/// A step up must raise the rate to at least so many times the previous one.
const GAIN: f64 = 1.15;
/// Four times as many threads must raise it to at least so many times; otherwise one thread may do as well.
const CLEAR: f64 = 1.5;
/// A step down may lower it to so many times.
const LOSS: f64 = 0.95;
/// A step up multiplies the threads by so much as long as that is better, and then by 2.
const FACTOR: usize = 4;
/// With nothing cached, a walk is slow for its first 10 to 30 ms (benches/README.md), and any number of threads tried
/// next would seem better. So no number is judged by this time.
const BEGINNING: Duration = Duration::from_millis(40);
/// Before the first change, older samples do not tell what the walk is doing now.
const MEMORY: Duration = Duration::from_millis(100);
/// The longest time before a decision.
const MOST_TIME: Duration = Duration::from_secs(1);
/// How long the best number stays at first. Each time it stays twice as long.
const PATIENCE: Duration = Duration::from_millis(100);
const MOST_PATIENCE: Duration = Duration::from_secs(30);

impl ThreadChooser {
    /// Starts with `first` threads on so many `cores`; never goes beyond `most`. `is_uncached` if the first look had to
    /// wait.
    pub(super) fn new(cores: usize, first: usize, most: usize, is_uncached: bool) -> Self {
        let phase = if is_uncached { Phase::Beginning } else { Phase::First(0) };
        let (seen, threads) = (Sample::default(), first);
        let most = most.max(first);
        let (patience, is_remote) = (PATIENCE, false);
        Self { cores, most, first, threads, phase, seen, patience, is_remote }
    }

    /// Starts again, because the storage has changed. Returns the number of threads.
    pub(super) fn begin_again(&mut self) -> usize {
        (self.first, self.threads) = (self.cores, self.cores);
        self.begin(Phase::First(0));
        self.threads
    }

    /// Whether storage keeps threads waiting, or did when that was last looked at.
    pub(super) fn is_slow(&self) -> bool {
        !matches!(self.phase, Phase::First(_))
    }

    /// How long to wait before the next sample.
    pub(super) fn interval(&self) -> Duration {
        /// A walk that ends earlier has cost nothing.
        const SHORTEST: Duration = Duration::from_millis(2);
        match self.phase {
            Phase::Beginning => BEGINNING,
            Phase::First(looks) => SHORTEST * (1 << looks.min(4)),
            Phase::Changing(..) | Phase::Trying(_) => SHORTEST,
            Phase::Staying(_) => SHORTEST * 10,
        }
    }

    /// The new number of threads, if it changes. `hint` says what kind of storage the threads wait for; it is called
    /// only if they wait.
    pub(super) fn look(
        &mut self,
        sample: &Sample,
        hint: impl FnOnce() -> Storage,
    ) -> Option<usize> {
        self.seen.add(sample);
        let has_work = sample.waiting > self.threads as u64;
        match self.phase {
            Phase::Beginning => {
                self.begin(Phase::First(0));
                None
            }
            Phase::First(looks) => {
                let is_busy = self.seen.is_busy(self.threads.min(self.cores));
                let may_be_blocked = has_work && !is_busy;
                if may_be_blocked && self.seen.is_blocked() && self.is_measured() {
                    let storage = hint();
                    self.is_remote = storage == Storage::Remote;
                    return self.try_with(self.first_guess(storage), FACTOR);
                }
                if is_busy && self.threads > self.cores {
                    // Perhaps nothing has to be waited for any more, which a short time does not show.
                    if self.seen.wall <= MEMORY {
                        return None;
                    }
                    if !self.seen.waits_often() {
                        return Some(self.begin_again());
                    }
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
                // Whatever the rate is, there was not enough to do for so many threads.
                self.seen = Sample::default();
                None
            }
            Phase::Trying(trial) => self.judge(trial),
            Phase::Staying(until) => {
                if self.seen.is_busy(self.threads.min(self.cores)) && self.seen.waits_seldom() {
                    return Some(self.begin_again());
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
    fn first_guess(&self, storage: Storage) -> usize {
        /// The number of requests that network file systems serve at the same time, at least.
        const REMOTE: usize = 64;
        match storage {
            Storage::Remote => REMOTE.max(self.threads),
            Storage::Local | Storage::Process => self.threads.saturating_mul(FACTOR),
        }
    }

    /// Decides whether the trial is better, as soon as that is possible.
    fn judge(&mut self, trial: Trial) -> Option<usize> {
        let (rate, is_up) = (self.seen.rate(), self.threads > trial.threads);
        if !(self.is_bad(trial) || self.is_measured()) {
            return None;
        }
        if is_up && rate >= trial.rate * GAIN {
            if self.threads >= self.most || self.seen.is_busy(self.cores) {
                return self.stay(self.threads);
            }
            let is_doubtful =
                !self.is_remote && trial.threads <= self.first && rate < trial.rate * CLEAR;
            let next = if is_doubtful { 1 } else { self.threads.saturating_mul(trial.factor) };
            return self.try_with(next, trial.factor);
        }
        if !is_up && rate >= trial.rate * LOSS {
            return self.stay(self.threads);
        }
        if is_up && !self.is_remote && (2..=self.first).contains(&trial.threads) {
            // If more threads do not help, one may do better, on a disk that has to seek. If it does not, that shows
            // at once.
            return self.try_again(trial, 1);
        }
        if trial.factor > 2 {
            // It went too far, but perhaps in the right direction; or a hint was wrong.
            return self.try_again(Trial { factor: 2, ..trial }, trial.threads * 2);
        }
        self.stay(trial.threads)
    }

    /// Whether it is clear early that `trial` brings nothing: in the time of so many earlier steps, not half as many
    /// were done; or four times as many threads do hardly more.
    fn is_bad(&self, trial: Trial) -> bool {
        let enough = 16.0_f64.max(self.threads as f64 / 2.0);
        let (done, expected) = (self.seen.done as f64, trial.rate * self.seen.wall.as_secs_f64());
        let is_leap = self.threads >= trial.threads.saturating_mul(FACTOR);
        expected >= enough && done < expected * if is_leap { CLEAR } else { 0.5 }
    }

    /// Whether the samples are enough for a rate.
    fn is_measured(&self) -> bool {
        const TIME: Duration = Duration::from_millis(5);
        const STEPS: u64 = 16;
        const STEPS_A_THREAD: u64 = 4;
        let steps = STEPS.max(STEPS_A_THREAD * self.threads as u64);
        self.seen.wall >= TIME && self.seen.done >= steps || self.seen.wall >= MOST_TIME
    }

    /// Tries `threads` against the rate just measured.
    fn try_with(&mut self, threads: usize, factor: usize) -> Option<usize> {
        let trial = Trial { threads: self.threads, rate: self.seen.rate(), factor };
        self.try_again(trial, threads)
    }

    /// Tries `threads` against the rate before the last trial.
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

    /// Whether most of the time of so many threads was CPU time.
    fn is_busy(&self, threads: usize) -> bool {
        const BUSY: f64 = 0.75;
        let time = self.wall.as_secs_f64().max(1e-6) * threads.max(1) as f64;
        self.cpu.as_secs_f64() / time >= BUSY
    }

    /// Whether threads wait for storage: they wait often, and more often than other processes take their cores.
    fn is_blocked(&self) -> bool {
        self.waits_often() && self.waits > self.preemptions.saturating_mul(2)
    }

    /// Whether threads wait often for the steps that they do. A few waits mean nothing. If there are more threads than
    /// cores, they take the cores from each other, and how often that happens says nothing.
    fn waits_often(&self) -> bool {
        const WAITS: u64 = 4;
        self.waits >= WAITS && !self.waits_seldom()
    }

    /// Whether there are many steps for each wait. One thread on a disk that seeks has few waits in a short time, but
    /// does few steps, too.
    fn waits_seldom(&self) -> bool {
        const STEPS_A_WAIT: u64 = 96;
        self.waits.saturating_mul(STEPS_A_WAIT) < self.done
    }
}

#[cfg(test)]
mod tests;
