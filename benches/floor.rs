//! The floor: `floor THREADS PATH…`, the least work that a disk-usage analyzer can do.
//!
//! What it does, in every directory: `openat` relative to the parent, `getdents64` into a 64 KiB
//! buffer that the thread keeps, until the kernel says 0; `statx(directory, name)` of every entry,
//! without following links or automounts, asking for type, mode, inode, link count, size and blocks.
//! It adds up `st_blocks × 512` and prints the sum and the number of entries, roots included, as
//! `du -s --count-links --block-size=1` would. Exit status 1 says that something could not be read, be
//! it for want of handles: it needs about as many as the tree is deep for every thread (on the home
//! shape, 64 are enough for 2 threads and 256 for 128), and knows no way to do with fewer.
//!
//! What it does not do: know hard links, mounts, loops or roots inside each other; keep a name, a
//! size or a tree; filter, sort, draw, report progress, or be interrupted. It leaves out no call that
//! a correct program needs, unless that knows from the listing that it has asked about an inode already,
//! and makes none that it does not.
//!
//! How it is shared out, in the order of what it costs: a thread works on a stack of its own, last in
//! first out, so that few directories are open at once. After a buffer it looks whether anybody is
//! idle (one relaxed load) and only then takes the lock, to give away the older half of its stack: the
//! directories nearest the root. A directory that does not fit one buffer is shared out as an open
//! handle: the kernel keeps the position, so whoever is idle reads the next buffer by itself and no
//! name is copied.
//!
//! With more threads than cores, what is waited for is the storage, and there all of it is shared out:
//! every directory, and names by eights. On slow storage that is how N threads can ask for N things at
//! once; on a warm cache it costs more than it brings.
//!
//! Everybody is compared with this program, so it has to be fast. `benches/LABBOOK.md` lists what was
//! tried instead.

use std::ffi::{CStr, CString};
use std::mem::{self, MaybeUninit};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, StatxFlags, statx};

const USAGE: &str = "usage: floor THREADS PATH…";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let threads = arguments.next().and_then(|threads| threads.to_str()?.parse().ok());
    let roots: Result<Vec<_>, _> =
        arguments.map(|path| CString::new(path.into_encoded_bytes())).collect();
    let (Some(threads @ 1..), Ok(roots)) = (threads, roots) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };

    let mut sum = Sum::default();
    let queue = Queue::new(threads);
    for name in roots {
        if sum.add(CWD, &name) {
            queue.give([Work::Directory { parent: None, name }]);
        }
    }
    if threads == 1 {
        sum.merge(worker(&queue));
    } else {
        // This thread only waits: where it worked too, a thread just made would often start on its
        // processor and wait there for a millisecond, with the other one idle.
        thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| worker(&queue))).collect();
            for worker in workers {
                // A thread that panicked is a failure, and counts as one.
                sum.merge(worker.join().unwrap_or(Sum { failures: 1, ..Sum::default() }));
            }
        });
    }
    println!("{} {}", sum.bytes, sum.entries);
    ExitCode::from(u8::from(sum.failures > 0))
}

#[derive(Default)]
struct Sum {
    bytes: u64,
    entries: u64,
    failures: u64,
}

impl Sum {
    /// Stats one entry; true if it is a directory.
    #[inline]
    fn add(&mut self, dir: BorrowedFd<'_>, name: &CStr) -> bool {
        const MASK: StatxFlags = StatxFlags::TYPE
            .union(StatxFlags::MODE)
            .union(StatxFlags::INO)
            .union(StatxFlags::NLINK)
            .union(StatxFlags::SIZE)
            .union(StatxFlags::BLOCKS);
        const FLAGS: AtFlags = AtFlags::SYMLINK_NOFOLLOW.union(AtFlags::NO_AUTOMOUNT);
        let Ok(stat) = statx(dir, name, FLAGS, MASK) else {
            self.failures += 1;
            return false;
        };
        self.bytes += stat.stx_blocks * 512;
        self.entries += 1;
        FileType::from_raw_mode(stat.stx_mode.into()) == FileType::Directory
    }

    fn merge(&mut self, other: Sum) {
        self.bytes += other.bytes;
        self.entries += other.entries;
        self.failures += other.failures;
    }
}

enum Work {
    /// A directory that is still closed, by its name in an open one (or in the current one).
    Directory { parent: Option<Arc<OwnedFd>>, name: CString },
    /// The buffers of a large directory that nobody has read yet.
    Rest(Arc<OwnedFd>),
    /// Some of the names of a directory on slow storage.
    Names(Arc<OwnedFd>, Vec<CString>),
}

/// Takes work until there is none anywhere.
fn worker(queue: &Queue) -> Sum {
    let mut sum = Sum::default();
    let mut stack = Vec::new();
    let mut buffer = vec![MaybeUninit::uninit(); BUFFER];
    while let Some(work) = stack.pop().or_else(|| queue.take(&mut stack)) {
        match work {
            Work::Names(dir, names) => state(&dir, names, queue, &mut sum),
            Work::Rest(dir) => list(dir, true, &mut buffer, &mut stack, queue, &mut sum),
            Work::Directory { parent, name } => {
                const FLAGS: OFlags = OFlags::RDONLY
                    .union(OFlags::DIRECTORY)
                    .union(OFlags::NOFOLLOW)
                    .union(OFlags::CLOEXEC);
                let beside = parent.as_ref().map_or(CWD, |parent| parent.as_fd());
                match rustix::fs::openat(beside, &name, FLAGS, Mode::empty()) {
                    Ok(dir) => {
                        drop(parent);
                        list(Arc::new(dir), false, &mut buffer, &mut stack, queue, &mut sum);
                    }
                    Err(_) => sum.failures += 1,
                }
            }
        }
    }
    sum
}

const BUFFER: usize = 64 << 10;

/// The longest record of `getdents64`: 19 bytes, a name of 255 and its NUL, rounded up to 8.
const RECORD: usize = 280;

/// Lists a directory from where it was left, stats what is in it, and puts its subdirectories on the
/// stack. `large`: it is known to go on behind this buffer.
fn list(
    dir: Arc<OwnedFd>,
    mut large: bool,
    buffer: &mut [MaybeUninit<u8>],
    stack: &mut Vec<Work>,
    queue: &Queue,
    sum: &mut Sum,
) {
    if queue.is_for_slow_storage {
        return list_and_share(&dir, buffer, queue, sum);
    }
    let mut listing = RawDir::new(&*dir, buffer);
    let mut handed_over = false;
    let mut used = 0;
    while let Some(entry) = listing.next() {
        let Ok(entry) = entry else {
            sum.failures += 1;
            return;
        };
        if large && used == 0 {
            queue.give([Work::Rest(Arc::clone(&dir))]);
            handed_over = true;
        }
        let name = entry.file_name();
        used += (19 + name.count_bytes() + 1).next_multiple_of(8);
        if name != c"." && name != c".." && sum.add(dir.as_fd(), name) {
            let parent = Some(Arc::clone(&dir));
            stack.push(Work::Directory { parent, name: name.to_owned() });
        }
        if listing.is_buffer_empty() {
            if stack.len() > 1 && queue.somebody_is_idle() {
                queue.give(stack.drain(..stack.len() / 2));
            }
            if handed_over {
                return;
            }
            large = used + RECORD > BUFFER;
            used = 0;
        }
    }
}

/// How many entries of a directory on slow storage one thread states, one after the other.
const CHUNK: usize = 8;

/// [`list`] for slow storage, where an entry takes longer than handing it over: its name is copied,
/// and a few at a time go to whoever is idle.
fn list_and_share(
    dir: &Arc<OwnedFd>,
    buffer: &mut [MaybeUninit<u8>],
    queue: &Queue,
    sum: &mut Sum,
) {
    let mut listing = RawDir::new(dir, buffer);
    let mut names = Vec::with_capacity(CHUNK);
    while let Some(entry) = listing.next() {
        let Ok(entry) = entry else {
            sum.failures += 1;
            break;
        };
        let name = entry.file_name();
        if name != c"." && name != c".." {
            names.push(name.to_owned());
        }
        if names.len() == CHUNK {
            queue.give([Work::Names(Arc::clone(dir), mem::take(&mut names))]);
        }
    }
    state(dir, names, queue, sum);
}

/// Stats `names`, and gives every directory among them away as soon as it is found.
fn state(dir: &Arc<OwnedFd>, names: Vec<CString>, queue: &Queue, sum: &mut Sum) {
    for name in names {
        if sum.add(dir.as_fd(), &name) {
            queue.give([Work::Directory { parent: Some(Arc::clone(dir)), name }]);
        }
    }
}

/// Where work waits for a thread that has none.
struct Queue {
    threads: usize,
    /// More threads than cores are there to wait for storage.
    is_for_slow_storage: bool,
    /// How many threads have nothing to do. Relaxed: it is a hint, and the lock decides.
    idle: AtomicUsize,
    /// Guards what was given away. No system call is made under it, but for waiting.
    given: Mutex<Vec<Work>>,
    changed: Condvar,
}

impl Queue {
    fn new(threads: usize) -> Self {
        let (idle, given, changed) = Default::default();
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Queue { threads, is_for_slow_storage: threads > cores, idle, given, changed }
    }

    #[inline]
    fn somebody_is_idle(&self) -> bool {
        self.idle.load(Ordering::Relaxed) > 0
    }

    fn give(&self, work: impl IntoIterator<Item = Work>) {
        self.given.lock().unwrap_or_else(PoisonError::into_inner).extend(work);
        self.changed.notify_one();
    }

    /// Waits for work; `None` once every thread waits. A fair share of what is there goes onto the
    /// caller's stack.
    fn take(&self, stack: &mut Vec<Work>) -> Option<Work> {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        if given.is_empty() {
            if self.idle.fetch_add(1, Ordering::Relaxed) + 1 == self.threads {
                self.changed.notify_all();
            }
            while given.is_empty() {
                if self.idle.load(Ordering::Relaxed) == self.threads {
                    return None;
                }
                given = self.changed.wait(given).unwrap_or_else(PoisonError::into_inner);
            }
            self.idle.fetch_sub(1, Ordering::Relaxed);
        }
        let rest = given.len() - given.len().div_ceil(self.threads);
        stack.extend(given.drain(rest..));
        if !given.is_empty() {
            self.changed.notify_one();
        }
        stack.pop()
    }
}
