//! How often a test repeats: as often as CI has time for, or, with `WEIGH_TEST_ROUNDS=full`, as often as
//! `tests/ROBUSTNESS.md` says. The code is the same.

use std::sync::atomic::{AtomicUsize, Ordering};

/// `usual`, or `full` where the full run is asked for.
pub fn rounds(usual: usize, full: usize) -> usize {
    match std::env::var("WEIGH_TEST_ROUNDS").as_deref() {
        Ok("full") => full,
        Ok(other) => panic!("WEIGH_TEST_ROUNDS={other}: only `full` is known"),
        Err(_) => usual,
    }
}

/// Levels of directories that no stack holds: a recursion that takes 42 bytes a level overflows that of a thread, and one
/// that takes 168 that of the program; in full, half as many bytes do.
pub fn deeper_than_any_stack() -> usize {
    rounds(50_000, 100_000)
}

/// Runs `check` for every seed, a few at a time. A failure names its seed.
pub fn for_seeds(seeds: usize, check: impl Fn(u64) + Sync) {
    let seeds: Vec<u64> = (0..seeds as u64).collect();
    for_each(&seeds, |seed| check(*seed));
}

/// Runs `check` for every case, a few at a time.
pub fn for_each<T: Sync>(cases: &[T], check: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check(case);
                }
            });
        }
    });
}
