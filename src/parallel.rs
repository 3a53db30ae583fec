//! Work on several cores.

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
