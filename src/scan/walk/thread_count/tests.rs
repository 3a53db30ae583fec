//! What the chooser decides: for single samples, in a table; and over time, with a simulated storage.

use super::*;

const MS: Duration = Duration::from_millis(1);

/// On two cores, `times` looks at the same sample: the first decision.
fn decision(times: usize, sample: Sample, hint: Storage) -> Option<usize> {
    let mut chooser = ThreadChooser::new(2, 2, 128, false);
    (0..times).find_map(|_| chooser.look(&sample, || hint))
}

#[test]
fn what_leaves_one_thread_for_each_core() {
    let blocked =
        Sample { wall: 10 * MS, cpu: MS, waits: 200, preemptions: 1, done: 400, waiting: 1_000 };
    let slow = Sample { cpu: MS / 10, waits: 8, done: 10, ..blocked };
    let local = Storage::Local;
    for (case, sample, hint, expected) in [
        ("a cold SSD", blocked, local, Some(8)),
        // It may also be that of a virtual machine that is busy: one thread is tried next.
        ("a spinning disk", slow, local, Some(8)),
        ("a network file system", slow, Storage::Remote, Some(64)),
        ("FUSE", slow, Storage::Process, Some(8)),
        ("warm", Sample { cpu: 19 * MS, waits: 10, done: 15_000, ..blocked }, local, None),
        ("nothing to hand out", Sample { waiting: 2, ..blocked }, local, None),
        (
            "other processes take the cores",
            Sample { cpu: 5 * MS, waits: 8, preemptions: 6, done: 5_000, ..blocked },
            local,
            None,
        ),
        (
            "other processes take the cores, and locks are waited for",
            Sample { cpu: 5 * MS, waits: 18, preemptions: 10, done: 5_000, ..blocked },
            local,
            None,
        ),
        (
            "throttled by a cgroup, or stopped by ^Z",
            Sample { wall: 900 * MS, cpu: 18 * MS, waits: 3, preemptions: 2, ..blocked },
            local,
            None,
        ),
        ("nobody answers", Sample { cpu: MS / 100, waits: 0, done: 0, ..blocked }, local, None),
    ] {
        assert_eq!(decision(200, sample, hint), expected, "{case}");
    }
}

#[test]
fn a_walk_that_is_over_at_once_is_not_disturbed() {
    let short = Sample { wall: MS, waits: 40, done: 80, waiting: 1_000, ..Sample::default() };
    assert_eq!(decision(1, short, Storage::Local), None);
}

#[test]
fn one_thread_a_core_again_once_it_is_warm() {
    let mut chooser = ThreadChooser::new(2, 2, 8, false);
    let cold = Sample { wall: 50 * MS, cpu: 10 * MS, waits: 500, done: 1_000, ..WORK };
    let faster = Sample { done: 4_000, ..cold };
    let warm = Sample { wall: 50 * MS, cpu: 98 * MS, waits: 2, done: 90_000, ..WORK };
    let mut look = |sample| chooser.look(&sample, || Storage::Local);
    assert_eq!(look(cold), Some(8));
    let looks = [faster, faster, warm].map(&mut look);
    assert_eq!(looks, [None, None, Some(2)]);
    assert_eq!([warm; 100].map(look), [None; 100]);
    assert!(!chooser.is_slow());
}

/// Whatever number of threads is being tried then.
#[test]
fn storage_is_no_longer_slow_once_it_is_warm() {
    let cold = Sample { wall: 50 * MS, cpu: 10 * MS, waits: 500, done: 1_000, ..WORK };
    for looks in 1..20 {
        let (mut chooser, mut threads) = (ThreadChooser::new(2, 2, 8, false), 2);
        for look in 0..looks + 100 {
            let busy = threads.min(2);
            let (cpu, done) = (49 * MS * busy, 45_000 * u64::from(busy));
            let warm = Sample { wall: 50 * MS, cpu, waits: 2, done, ..WORK };
            let sample = if look < looks { cold } else { warm };
            threads = chooser.look(&sample, || Storage::Local).map_or(threads, |it| it as u32);
            assert!(chooser.is_slow() || look >= looks);
        }
        assert_eq!((threads, chooser.is_slow()), (2, false), "after {looks}");
    }
}

/// Once, the CPU time of a thread that loads a snapshot, and the few waits of a short time, were taken for a walk that
/// waits for nothing: other numbers of threads were tried again and again.
#[test]
fn one_thread_stays_on_a_disk_that_seeks_beside_another_that_loads_a_snapshot() {
    let mut chooser = ThreadChooser::new(2, 2, 8, false);
    let seeks = Sample { wall: 20 * MS, cpu: 19 * MS, waits: 3, done: 3, ..WORK };
    let mut threads = vec![2];
    for _ in 0..1_000 {
        threads.extend(chooser.look(&seeks, || Storage::Local));
    }
    assert_eq!(threads.last(), Some(&1));
    assert!(threads.len() < 20, "{threads:?}");
}

/// Where the first look had to wait, and nothing after that.
#[test]
fn more_threads_than_cores_at_the_start_end_once_it_is_warm() {
    let mut chooser = ThreadChooser::new(2, 8, 128, true);
    let busy =
        Sample { wall: 30 * MS, cpu: 55 * MS, waits: 300, preemptions: 400, done: 6_000, ..WORK };
    let warm = Sample { waits: 100, done: 40_000, ..busy };
    let mut look = |sample| chooser.look(&sample, || Storage::Local);
    assert_eq!([busy; 100].map(&mut look), [None; 100]);
    let first = [warm; 8].into_iter().find_map(&mut look);
    assert_eq!((first, [warm; 100].map(look)), (Some(2), [None; 100]));
}

/// One directory on XFS: each look-up locks it, so that one thread is best. Beside the slow beginning, 24 would seem
/// better than six.
#[test]
fn the_beginning_with_nothing_cached_is_not_measured() {
    let mut chooser = ThreadChooser::new(2, 6, 128, true);
    let beginning = chooser.interval();
    let slow = Sample { wall: beginning, cpu: 10 * MS, waits: 300, done: 1_500, ..WORK };
    let six = Sample { wall: 10 * MS, cpu: 10 * MS, waits: 700, done: 700, ..WORK };
    let one = Sample { done: 900, ..six };
    let mut look = |sample| chooser.look(&sample, || Storage::Local);
    // 24 threads do no more.
    assert_eq!([slow, six, six, six].map(&mut look), [None, Some(24), None, Some(1)]);
    assert_eq!([one; 10].map(look), [None; 10]);
}

#[test]
fn where_more_threads_get_hardly_more_done_one_is_tried() {
    let few = Sample { wall: 200 * MS, cpu: MS, waits: 20, done: 20, ..WORK };
    let hardly_more = Sample { done: 26, ..few };
    let many = Sample { done: 200, ..few };
    for (second, expected) in [(few, Some(1)), (hardly_more, Some(1)), (many, Some(32))] {
        let mut chooser = ThreadChooser::new(2, 2, 128, false);
        let mut look = |sample| chooser.look(&sample, || Storage::Process);
        assert_eq!([few, many, second].map(&mut look), [Some(8), None, expected]);
    }
}

/// On NFS, where the first look is slow or 64 threads are more than the server takes, that took half of the time.
#[test]
fn one_is_not_tried_on_another_machine() {
    let few = Sample { wall: 200 * MS, cpu: MS, waits: 20, done: 20, ..WORK };
    let hardly_more = Sample { done: 26, ..few };
    for (second, expected) in [(few, Some(4)), (hardly_more, Some(256))] {
        let mut chooser = ThreadChooser::new(2, 2, 512, false);
        let mut look = |sample| chooser.look(&sample, || Storage::Remote);
        let many = Sample { done: 200, ..few };
        assert_eq!([few, many, second, second].map(&mut look)[2..], [None, expected]);
    }
}

/// Where more threads got clearly more done, one does not, and to try it would take as long as many steps.
#[test]
fn one_is_not_tried_where_more_threads_were_better() {
    let rate = |done| Sample { wall: 50 * MS, cpu: MS, waits: done / 2, done, ..WORK };
    let mut chooser = ThreadChooser::new(2, 2, 128, false);
    let mut look = |done| chooser.look(&rate(done), || Storage::Local);
    // 2, 8 and 32 threads; then 32 are hardly better than 8, and 16 are tried.
    assert_eq!([400, 400, 4_000].map(&mut look), [Some(8), None, Some(32)]);
    assert_eq!([4_000, 4_100].map(&mut look), [None, Some(16)]);
}

const WORK: Sample = Sample {
    wall: Duration::ZERO,
    cpu: Duration::ZERO,
    waits: 0,
    preemptions: 0,
    done: 0,
    waiting: 1_000_000,
};

/// A simulated storage and its costs.
#[derive(Clone, Copy, Debug)]
struct Model {
    cores: usize,
    /// Seconds on a core a step.
    cpu: f64,
    /// Seconds until a step is answered.
    latency: f64,
    /// How many it answers at the same time.
    serves: usize,
    /// Seconds that a step takes longer if another thread's was in between.
    seek: f64,
}

impl Model {
    /// Steps a second with so many threads.
    fn rate(&self, threads: usize) -> f64 {
        let mixed = 1.0 - 1.0 / threads as f64;
        let step = self.latency + self.seek * mixed;
        let storage = threads.min(self.serves) as f64 / (step + self.cpu);
        let cores = threads.min(self.cores) as f64 / self.cpu;
        storage.min(cores)
    }

    /// Steps done in so many seconds from `first` threads on, and the threads at the end.
    fn play(&self, first: usize, seconds: u64) -> (f64, usize) {
        let mut chooser = ThreadChooser::new(self.cores, first, 128, first > self.cores);
        let (mut threads, mut done, mut wall) = (first, 0.0, Duration::ZERO);
        while wall < Duration::from_secs(seconds) {
            let tick = chooser.interval();
            let before = done;
            done += self.rate(threads) * tick.as_secs_f64();
            wall += tick;
            let steps = done.floor() - f64::floor(before);
            let cpu = tick.mul_f64(steps / tick.as_secs_f64() * self.cpu);
            let (waits, done) = (steps as u64, steps as u64);
            let sample = Sample { wall: tick, cpu, waits, done, ..WORK };
            if let Some(other) = chooser.look(&sample, || Storage::Local) {
                threads = other;
            }
        }
        (done, threads)
    }
}

#[test]
fn ends_near_the_best_fixed_number_of_threads() {
    let ssd = Model { cores: 2, cpu: 8e-6, latency: 100e-6, serves: 32, seek: 0.0 };
    for model in [
        ssd,
        Model { serves: 10, ..ssd },
        Model { cores: 16, ..ssd },
        Model { serves: 1, ..ssd },
        Model { latency: 1e-3, serves: 1_000, ..ssd },
        Model { latency: 5e-3, serves: 64, ..ssd },
        Model { latency: 50e-3, serves: 128, cores: 8, ..ssd },
        Model { latency: 1e-3, serves: 1, seek: 8e-3, ..ssd },
        Model { latency: 4e-3, serves: 1, seek: 8e-3, cores: 8, ..ssd },
    ] {
        let best = (1..=128).map(|threads| model.rate(threads)).fold(0.0, f64::max);
        for first in [model.cores, model.cores.max(8)] {
            let (done, threads) = model.play(first, 20);
            assert!(model.rate(threads) >= 0.85 * best, "{model:?}: {threads} after {first}");
            assert!(done >= 0.85 * best * 20.0, "{model:?}: {done} of {}", best * 20.0);
        }
    }
}
