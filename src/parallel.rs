//! Work on several cores.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver};
use std::{iter, thread};

use rayon::iter::{FromParallelIterator, IntoParallelIterator, ParallelIterator};
use rayon::{Scope, ThreadPoolBuilder};

/// Collects `work` of each of the `items`, in their order, on so many `threads`; 0 is one for each core. If no thread
/// can be started, this thread does the work.
pub fn collect<T, R, C>(
    threads: usize,
    items: impl IntoIterator<Item = T> + IntoParallelIterator<Item = T> + Send,
    work: impl Fn(T) -> R + Send + Sync,
) -> C
where
    R: Send,
    C: FromIterator<R> + FromParallelIterator<R> + Send,
{
    match ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(|| items.into_par_iter().map(work).collect()),
        Err(_) => items.into_iter().map(work).collect(),
    }
}

/// Drops a `value` that nobody needs any more, on another thread: a tree of 5 million entries takes 50 ms, and mostly
/// the program ends before.
pub fn discard(value: impl Send + 'static) {
    let _ = thread::Builder::new().spawn(move || drop(value));
}

/// Threads that do parts of what another thread does, and how many they are; none if none could be started.
pub struct Helpers<'h, 's>(Option<(&'h Scope<'s>, usize)>);

/// Does `work` with so many `threads` that help, or one for each core if it is 0.
pub fn with_helpers<'s, R>(threads: usize, work: impl FnOnce(&Helpers<'_, 's>) -> R) -> R {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let Ok(pool) = pool else { return work(&Helpers(None)) };
    pool.in_place_scope(|scope| work(&Helpers(Some((scope, pool.current_num_threads())))))
}

impl<'s> Helpers<'_, 's> {
    /// Has a `part` done, and returns where its result arrives. If no thread can be started, this thread does it.
    pub fn give<R: Send + 's>(&self, part: impl FnOnce() -> R + Send + 's) -> Receiver<R> {
        let (sender, result) = mpsc::sync_channel(1);
        // After an error nobody takes it.
        let run = move || drop(sender.send(part()));
        match self.0 {
            Some((scope, _)) => scope.spawn(|_| run()),
            None => run(),
        }
        result
    }
}

/// Takes out those of the `items` that are no larger than a `share`, by their `size`, and puts them together into shares of
/// about that size. None if they are less than one: a deep tree would have one at each of its levels.
pub fn shares<T>(items: &mut Vec<T>, share: u64, size: impl Fn(&T) -> u64) -> Vec<Vec<T>> {
    let (mut shares, mut room): (Vec<Vec<T>>, u64) = (Vec::new(), 0);
    let is_small = |item: &T| size(item) <= share;
    if items.iter().filter(|item| is_small(item)).map(&size).sum::<u64>() < share {
        return shares;
    }
    for item in items.extract_if(.., |item| is_small(item)) {
        let size = size(&item);
        match shares.last_mut() {
            Some(last) if room > 0 => last.push(item),
            _ => {
                shares.push(vec![item]);
                room = share;
            }
        }
        room = room.saturating_sub(size);
    }
    shares
}

/// Does `work` of each of the `items` on so many `threads`, 0 being one for each core, while this thread makes the
/// items, and `take`s what comes of them, in their order. Only a few items are in memory at a time. No thread is started
/// for only one.
///
/// # Errors
/// The first of `take`, which ends it.
pub fn in_order<T: Send, R: Send, E>(
    threads: usize,
    items: impl Iterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    /// For each thread, so many items are waiting or done.
    const AHEAD: usize = 3;
    let (work, mut items) = (&work, items.peekable());
    let Some(first) = items.next() else { return Ok(()) };
    if items.peek().is_none() {
        return take(work(first));
    }
    with_helpers(threads, |helpers| {
        let most = helpers.0.map_or(1, |(_, threads)| threads) * AHEAD;
        let mut ahead = VecDeque::new();
        for item in iter::once(first).chain(items) {
            if ahead.len() == most {
                // If a thread panics, so does the one that waits for all.
                let first = ahead.pop_front().and_then(|first: Receiver<R>| first.recv().ok());
                first.map_or(Ok(()), &mut take)?;
            }
            ahead.push_back(helpers.give(move || work(item)));
        }
        ahead.into_iter().filter_map(|result| result.recv().ok()).try_for_each(take)
    })
}
