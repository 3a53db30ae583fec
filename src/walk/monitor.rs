//! Whoever watches: shows the progress, changes gears, and does not wait for what never answers.
//!
//! It is the thread that called for the walk, which has nothing else to do. A look costs a few
//! microseconds; a walk that is over within the first 5 milliseconds is never looked at.

use std::mem;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::gears::{Gearbox, Sample};
use super::prefetch::{Candidate, ReadAhead};
use super::progress::{Counts, Progress};
use super::task::settle;
use super::{Walk, pool};
use crate::gear::Gear;
use crate::problem::Problem;
use crate::sys::{self, Storage, Usage};
use crate::tally::Tally;

/// Between two looks at the progress. Longer than a worker needs to notice an interrupt, unless it
/// waits for storage.
const SHOWN: Duration = Duration::from_millis(100);

/// Watches one walk.
pub(super) struct Monitor<T: Tally> {
    walk: Arc<Walk<T>>,
    /// How many threads may be at work now.
    threads: usize,
    /// None if the number of threads is fixed.
    gearbox: Option<Gearbox>,
    /// What was seen at the last look, and when the present gear was engaged.
    last: Look,
    engaged: Look,
    gears: Vec<Gear>,
    /// The roots that may be read ahead of, until that is tried.
    candidates: Vec<Candidate>,
    /// While it goes on.
    ahead: Option<ReadAhead>,
}

/// What there is to be seen.
#[derive(Clone, Copy, Debug)]
struct Look {
    at: Instant,
    usage: Usage,
    counts: Counts,
}

impl<T: Tally + 'static> Monitor<T> {
    /// Watches `walk`, which begins now, on the calling thread.
    /// Before that, so many bytes were `read` in bulk, in so much time.
    pub(super) fn new(
        walk: Arc<Walk<T>>,
        candidates: Vec<Candidate>,
        read: (u64, Duration),
    ) -> Self {
        let now = Look { at: Instant::now(), usage: sys::usage(), counts: Counts::default() };
        let (bulk, wall) = read;
        let gear = Gear { threads: 1, wall, bulk, ..Gear::default() };
        let gears = if bulk > 0 { vec![gear] } else { Vec::new() };
        Self {
            walk,
            threads: 1,
            gearbox: None,
            last: now,
            engaged: now,
            gears,
            candidates,
            ahead: None,
        }
    }

    /// Watches `workers`, who go on with the walk, until there is word that it is `done`, or nothing
    /// more is to be expected of it. About ten times a second, says how far it has come. Returns
    /// what was done with each number of threads.
    pub(super) fn watch(
        mut self,
        workers: usize,
        gearbox: Option<Gearbox>,
        done: &Receiver<()>,
        mut show: impl FnMut(&Progress),
    ) -> Vec<Gear> {
        self.threads = workers;
        self.gearbox = gearbox;
        let mut shown = Instant::now();
        loop {
            let interval = self.gearbox.as_ref().map_or(SHOWN, Gearbox::interval);
            match done.recv_timeout(interval) {
                Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => self.look(),
            }
            if self.walk.is_interrupted() {
                self.give_up(done);
                break;
            }
            if shown.elapsed() >= SHOWN {
                shown = Instant::now();
                show(&self.progress());
            }
        }
        self.end()
    }

    /// The walk is over: what was done with each number of threads.
    pub(super) fn end(mut self) -> Vec<Gear> {
        let now = Look::now(&self.walk);
        match self.ahead.take() {
            Some(ahead) => self.end_ahead(&ahead, now),
            None => self.end_gear(now),
        }
        self.gears
    }

    /// Changes gears, if that is called for.
    fn look(&mut self) {
        if let Some(ahead) = self.ahead.take_if(|ahead| ahead.is_done()) {
            self.end_ahead(&ahead, Look::now(&self.walk));
            pool::engage(&self.walk, self.threads);
        }
        let Some(gearbox) = self.gearbox.as_mut().filter(|_| self.ahead.is_none()) else { return };
        let (walk, now) = (&self.walk, Look::now(&self.walk));
        let threads = gearbox.look(&now.since(&self.last), || what_is_waited_for(walk));
        self.last = now;
        if let Some(threads) = threads {
            self.ahead = ReadAhead::begin(&mem::take(&mut self.candidates));
            if self.ahead.is_some() {
                gearbox.begin_anew();
                let cores = gearbox.cores();
                self.end_gear(now);
                // Whoever is at work hands over what there is to be done. After this, all begins anew.
                pool::engage(&self.walk, 1);
                self.walk.pool.rest();
                self.threads = cores;
                return;
            }
            self.end_gear(now);
            pool::engage(&self.walk, threads);
            self.threads = threads;
        }
    }

    /// After an interrupt, waits for the workers to notice, but not for one that storage does not
    /// answer: its directory is settled without it.
    fn give_up(&self, done: &Receiver<()>) {
        let walk = &self.walk;
        let mut before: Option<Vec<Arc<_>>> = None;
        let is_going_on = || done.recv_timeout(SHOWN) == Err(RecvTimeoutError::Timeout);
        while !walk.is_finished() && is_going_on() {
            for task in walk.pool.take_all().into_iter().chain(walk.workers.take_tasks()) {
                settle(walk, Arc::clone(task.dir()));
            }
            let is_between = walk.workers.is_between();
            let places = walk.workers.places();
            let is_new = |dir| !before.iter().flatten().any(|other| Arc::ptr_eq(other, dir));
            if !is_between && before.is_some() && !places.iter().any(is_new) {
                for dir in walk.workers.give_up() {
                    walk.record(Problem::unanswered(dir.path()));
                    settle(walk, dir);
                }
                walk.follows.give_up(walk);
                if before.is_some_and(|before| before.is_empty()) {
                    break;
                }
            }
            before = Some(places);
        }
    }

    fn progress(&self) -> Progress {
        let Counts { entries, size, shares, .. } = self.walk.workers.counts();
        // A cast from a float saturates.
        let size = size.saturating_add(shares as u64);
        let places = self.walk.workers.places();
        let directory = places.first().map(|dir| dir.path()).unwrap_or_default();
        let ahead = self.ahead.as_ref().map(ReadAhead::progress);
        Progress { entries, size, directory, ahead }
    }

    /// Reading ahead is over.
    fn end_ahead(&mut self, ahead: &ReadAhead, now: Look) {
        let (wall, (ahead, _)) = (now.at - self.engaged.at, ahead.progress());
        self.gears.push(Gear { threads: 1, wall, ahead, ..Gear::default() });
        (self.engaged, self.last) = (now, now);
    }

    /// Adds up what was done since the present number of threads was engaged.
    fn end_gear(&mut self, now: Look) {
        let threads = self.threads;
        let i = self
            .gears
            .iter()
            .position(|gear| gear.threads == threads && gear.is_walk())
            .unwrap_or_else(|| {
                self.gears.push(Gear { threads, ..Gear::default() });
                self.gears.len() - 1
            });
        let (gear, before) = (&mut self.gears[i], &self.engaged);
        gear.wall += now.at - before.at;
        gear.cpu += now.usage.cpu.saturating_sub(before.usage.cpu);
        gear.entries += now.counts.entries - before.counts.entries;
        gear.calls += now.counts.calls - before.counts.calls;
        self.engaged = now;
    }
}

/// Who answers for what a worker is waiting for now, and whether it has to seek.
fn what_is_waited_for<T: Tally>(walk: &Walk<T>) -> (Storage, bool) {
    let places = walk.workers.places();
    places.first().map_or((Storage::Local, false), |dir| {
        (dir.mount.storage, sys::is_rotational(dir.stat.device))
    })
}

impl Look {
    fn now<T: Tally>(walk: &Walk<T>) -> Self {
        Self { at: Instant::now(), usage: sys::usage(), counts: walk.workers.counts() }
    }

    fn since(&self, before: &Look) -> Sample {
        Sample {
            wall: self.at - before.at,
            cpu: self.usage.cpu.saturating_sub(before.usage.cpu),
            waits: self.usage.waits.saturating_sub(before.usage.waits),
            preemptions: self.usage.preemptions.saturating_sub(before.usage.preemptions),
            done: self.counts.done - before.counts.done,
            waiting: self.counts.found.saturating_sub(self.counts.done),
        }
    }
}
