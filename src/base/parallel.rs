//! Work on several cores.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver};
use std::thread;

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

/// How many threads can work at a time.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, Into::into)
}

/// Threads that do parts of what another thread does; none if there should be none, or none could be started.
pub struct Helpers<'h, 's>(Option<&'h Scope<'s>>);

/// Does `work` with so many `threads` that help.
pub fn with_helpers<'s, R>(threads: usize, work: impl FnOnce(&Helpers<'_, 's>) -> R) -> R {
    // To start one for each core takes longer than to compare two small trees.
    let pool = (threads > 0).then(|| ThreadPoolBuilder::new().num_threads(threads).build());
    let Some(Ok(pool)) = pool else { return work(&Helpers(None)) };
    pool.in_place_scope(|scope| work(&Helpers(Some(scope))))
}

impl<'s> Helpers<'_, 's> {
    /// Has a `part` done, and returns where its result arrives. If there is no other thread, this one does it.
    pub fn give<R: Send + 's>(&self, part: impl FnOnce() -> R + Send + 's) -> Receiver<R> {
        let (sender, result) = mpsc::sync_channel(1);
        // After an error nobody takes it.
        let run = move || drop(sender.send(part()));
        match self.0 {
            Some(scope) => scope.spawn(|_| run()),
            None => run(),
        }
        result
    }
}

/// Takes out those of the `items` that are no larger than a `share`, by their `size`, and puts them together into
/// shares of about that size. None if they are less than one: a deep tree would have one at each of its levels.
pub fn shares<T>(items: &mut Vec<T>, share: u64, size: impl Fn(&T) -> u64) -> Vec<Vec<T>> {
    let (mut shares, mut room): (Vec<Vec<T>>, u64) = (Vec::new(), 0);
    if items.iter().map(&size).filter(|size| *size <= share).sum::<u64>() < share {
        return shares;
    }
    for item in items.extract_if(.., |item| size(item) <= share) {
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
/// items, and `take`s what comes of them, in their order. Only a few items are in memory at a time. There are no more
/// threads than items, and none for only one.
///
/// # Errors
/// The first of `take`, which ends it.
pub fn in_order<T: Send, R: Send, E>(
    threads: usize,
    mut items: impl Iterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    /// For each thread, so many items are waiting or done.
    const AHEAD: usize = 3;
    let work = &work;
    let most = if threads == 0 { cores() } else { threads };
    let first: Vec<_> = items.by_ref().take(most.max(2)).collect();
    let threads = if first.len() > 1 { first.len().min(most) } else { 0 };
    with_helpers(threads, |helpers| {
        let mut ahead = VecDeque::new();
        for item in first.into_iter().chain(items) {
            if ahead.len() == threads * AHEAD {
                // If a thread panics, so does the one that waits for all.
                let first = ahead.pop_front().and_then(|first: Receiver<R>| first.recv().ok());
                first.map_or(Ok(()), &mut take)?;
            }
            ahead.push_back(helpers.give(move || work(item)));
        }
        ahead.into_iter().filter_map(|result| result.recv().ok()).try_for_each(take)
    })
}
