//! Work on several cores.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use rayon::ThreadPoolBuilder;
use rayon::iter::{FromParallelIterator, IntoParallelIterator, ParallelIterator};

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

/// Does `work` of the items that `make` gives it, one after the other, on another thread. Meanwhile `make` goes on: it
/// waits only while its last item has not been begun. Returns the results of both. If no thread can be started, this
/// thread does the work.
///
/// # Errors
/// Those of `make`.
pub fn beside<T: Send, M, R: Send, E>(
    make: impl FnOnce(&mut dyn FnMut(T)) -> Result<M, E>,
    work: impl Fn(T) -> R + Sync,
) -> Result<(M, Vec<R>), E> {
    let work = &work;
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(1);
        let run = move || receiver.into_iter().map(work).collect::<Vec<_>>();
        let Ok(thread) = thread::Builder::new().spawn_scoped(scope, run) else {
            let mut results = Vec::new();
            return Ok((make(&mut |item| results.push(work(item)))?, results));
        };
        // If the thread panics, nobody takes it.
        let made = make(&mut |item| drop(sender.send(item)))?;
        drop(sender);
        Ok((made, thread.join().unwrap_or_else(|panic| resume_unwind(panic))))
    })
}

/// Does `work` of each of the `items` on so many `threads`, 0 being one for each core, while this thread makes the
/// items, and `take`s what comes of them, in their order. Only a few items are in memory at a time. There are no more
/// threads than items, and none for only one. If none can be started, this thread does the work.
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
    let mut threads = match threads {
        0 => thread::available_parallelism().map_or(1, Into::into),
        threads => threads,
    };
    let (sender, receiver) = mpsc::channel::<(mpsc::SyncSender<R>, T)>();
    let receiver = Mutex::new(receiver);
    let run = || {
        loop {
            let next = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((done, item)) = next else { return };
            // After an error nobody takes it.
            let _ = done.send(work(item));
        }
    };
    thread::scope(|scope| {
        // Dropped here, which ends the threads.
        let (sender, mut started) = (sender, 0);
        let (mut items, mut ahead) = (items.peekable(), VecDeque::new());
        while let Some(item) = items.next() {
            if started < threads && (started > 0 || items.peek().is_some()) {
                match thread::Builder::new().spawn_scoped(scope, run) {
                    Ok(_) => started += 1,
                    Err(_) => threads = started,
                }
            }
            if started == 0 {
                take(work(item))?;
                continue;
            }
            if ahead.len() == started * AHEAD
                && let Some(Ok(result)) =
                    ahead.pop_front().map(|first: mpsc::Receiver<R>| first.recv())
            {
                take(result)?;
            }
            let (done, result) = mpsc::sync_channel(1);
            // The threads end only after this one.
            let _ = sender.send((done, item));
            ahead.push_back(result);
        }
        // If a thread panics, so does the scope.
        ahead.into_iter().map_while(|result| result.recv().ok()).try_for_each(take)
    })
}
