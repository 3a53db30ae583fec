//! Slow storage made to order: a FUSE file system with a made-up tree, in which every request takes
//! as long as the storage that it stands for would. The tests and the `slow` example mount it.
//!
//! The tree is `directories` × `files`: `d0000/f00000` and so on; with no directories the files lie in
//! the root. Nothing of it is kept in memory: an inode number says where in the tree it is. They run as
//! on ext4, a directory's files right behind it, and a listing's order has nothing to do with them.
//!
//! LOOKUP, GETATTR, OPENDIR and READDIR are served in the order they come in, `parallel` at a time,
//! each for `delay`. The kernel may keep nothing: a `statx` costs a LOOKUP and a GETATTR (no GETATTR
//! with `AT_STATX_DONT_SYNC`), as on a network mount with `noac`. With a `seek`, it is a disk: one
//! request at a time, and the further the head has to go the longer it takes. What the disk has read
//! once, the kernel keeps: a `statx` is one LOOKUP.
//!
//! Since the end of a request is known when it comes in, and requests end in the order they came,
//! two threads are enough for any number of them: one reads requests, the other sleeps until the next
//! one ends and answers it.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, InitFlags, KernelConfig, MountOption, OpenFlags, ReplyAttr,
    ReplyDirectory, ReplyEntry, ReplyOpen, Request, Session, SessionACL,
};
use rustix::mount::{UnmountFlags, unmount};

/// What the storage is like, and what is on it.
#[derive(Clone, Debug)]
pub struct Storage {
    /// Directories in the root.
    pub directories: u64,
    /// Files in each directory; in the root, if there are no directories.
    pub files: u64,
    /// How long a request is served.
    pub delay: Duration,
    /// How many requests are served at the same time.
    pub parallel: usize,
    /// What a way across the whole disk takes on top; if not zero, only one request is served.
    pub seek: Duration,
    /// What goes wrong, by path: `d0001/f00002` whenever it is looked up, `d0001/` when it is opened.
    pub troubles: Vec<(String, Trouble)>,
    /// The storage goes away with this request.
    pub dies_after: Option<u64>,
    /// Nothing in it has blocks.
    pub has_no_blocks: bool,
}

/// What a request may come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// This error.
    Fails(Errno),
    /// No answer, until the storage is unmounted or whoever waits is killed, as on NFS.
    Hangs,
}

impl Default for Storage {
    /// 300 directories of 20 files, on a network a millisecond away.
    fn default() -> Self {
        Storage {
            directories: 300,
            files: 20,
            delay: Duration::from_millis(1),
            parallel: 128,
            seek: Duration::ZERO,
            troubles: Vec::new(),
            dies_after: None,
            has_no_blocks: false,
        }
    }
}

/// A storage that is mounted. Dropping it unmounts it, whoever still waits for an answer.
pub struct Mounted {
    at: PathBuf,
    session: Option<BackgroundSession>,
    hung: Arc<AtomicUsize>,
    lookups: Arc<AtomicUsize>,
}

impl Storage {
    /// Mounts it at an empty directory. Only root may.
    ///
    /// # Errors
    /// A path in `troubles` that is not there, and whatever the system says.
    pub fn mount(self, at: &Path) -> io::Result<Mounted> {
        let at = at.canonicalize()?;
        let Self { directories, files, has_no_blocks, .. } = self;
        let tree = Tree { directories, files, has_no_blocks };
        let mut troubles = HashMap::new();
        for (path, trouble) in &self.troubles {
            let place = tree.find(path).ok_or(io::ErrorKind::NotFound)?;
            troubles.insert((place.inode(&tree), path.ends_with('/')), *trouble);
        }
        let is_disk = !self.seek.is_zero();
        let queue = Queue {
            parallel: if is_disk { 1 } else { self.parallel.max(1) },
            delay: self.delay,
            seek: self.seek,
            inodes: tree.inodes(),
            head: 1,
            ends: VecDeque::new(),
            requests: 0,
        };
        let (answers, to_give) = channel();
        let (hang, to_hold) = channel();
        let hung = Arc::new(AtomicUsize::new(0));
        let number = Arc::clone(&hung);
        let lookups = Arc::new(AtomicUsize::new(0));
        thread::spawn(move || give(&to_give));
        thread::spawn(move || hold(&to_hold, &number));
        let slow = Slow {
            tree,
            troubles,
            attributes_last: if is_disk { Duration::from_secs(1) } else { Duration::ZERO },
            dies_after: self.dies_after,
            at: at.clone(),
            queue: Mutex::new(queue),
            lookups: Arc::clone(&lookups),
            answers,
            hang,
        };
        let mut config = Config::default();
        config.mount_options = vec![MountOption::RO, MountOption::FSName("slow".to_owned())];
        config.acl = SessionACL::All;
        let session = Some(Session::new(slow, &at, &config)?.spawn()?);
        Ok(Mounted { at, session, hung, lookups })
    }
}

impl Mounted {
    /// Whether somebody else has unmounted it.
    pub fn is_gone(&self) -> bool {
        self.session.as_ref().is_none_or(|session| session.guard.is_finished())
    }

    /// How many names were looked up.
    pub fn lookups(&self) -> usize {
        self.lookups.load(Ordering::Relaxed)
    }

    /// How many requests are without an answer for ever.
    pub fn hung(&self) -> usize {
        self.hung.load(Ordering::Relaxed)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // By force: who waits gets an error, so that nobody waits for ever. Then it is not there to
        // be unmounted a second time, but the session is told to look. An error says that somebody
        // else has unmounted it.
        let _ = unmount(&self.at, UnmountFlags::FORCE | UnmountFlags::DETACH);
        if let Some(session) = self.session.take() {
            let _ = session.join();
        }
    }
}

/// The shape of the tree, and how inode numbers run through it.
struct Tree {
    directories: u64,
    files: u64,
    has_no_blocks: bool,
}

/// A place in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Root,
    Directory(u64),
    /// The number of the directory, if there are any, and of the file in it.
    File(u64, u64),
}

impl Place {
    fn inode(self, tree: &Tree) -> u64 {
        let block = tree.files + 1;
        match self {
            Place::Root => 1,
            Place::Directory(directory) => 2 + directory * block,
            Place::File(_, file) if tree.directories == 0 => 2 + file,
            Place::File(directory, file) => 3 + directory * block + file,
        }
    }

    fn kind(self) -> FileType {
        match self {
            Place::File(..) => FileType::RegularFile,
            Place::Root | Place::Directory(_) => FileType::Directory,
        }
    }

    fn name(self) -> String {
        match self {
            Place::Root => String::new(),
            Place::Directory(directory) => format!("d{directory:04}"),
            Place::File(_, file) => format!("f{file:05}"),
        }
    }
}

impl Tree {
    fn inodes(&self) -> u64 {
        1 + if self.directories == 0 { self.files } else { self.directories * (self.files + 1) }
    }

    fn place(&self, inode: u64) -> Option<Place> {
        let number = inode.checked_sub(2);
        match number {
            None => Some(Place::Root),
            Some(_) if inode > self.inodes() => None,
            Some(file) if self.directories == 0 => Some(Place::File(0, file)),
            Some(number) => {
                let (directory, within) = (number / (self.files + 1), number % (self.files + 1));
                Some(match within.checked_sub(1) {
                    None => Place::Directory(directory),
                    Some(file) => Place::File(directory, file),
                })
            }
        }
    }

    /// How many entries a directory has.
    fn width(&self, of: Place) -> u64 {
        match of {
            Place::Root if self.directories > 0 => self.directories,
            Place::Root | Place::Directory(_) => self.files,
            Place::File(..) => 0,
        }
    }

    /// Entry number `n` of a directory.
    fn entry(&self, of: Place, n: u64) -> Place {
        match of {
            Place::Root if self.directories > 0 => Place::Directory(n),
            Place::Directory(directory) => Place::File(directory, n),
            _ => Place::File(0, n),
        }
    }

    /// What the directory `of` has under `name`.
    fn child(&self, of: Place, name: &str) -> Option<Place> {
        let n = name.get(1..)?.parse().ok().filter(|n| *n < self.width(of))?;
        Some(self.entry(of, n)).filter(|place| place.name() == name)
    }

    fn find(&self, path: &str) -> Option<Place> {
        let mut names = path.split('/').filter(|name| !name.is_empty());
        names.try_fold(Place::Root, |place, name| self.child(place, name))
    }

    fn attributes(&self, place: Place) -> FileAttr {
        let inode = place.inode(self);
        let is_file = place.kind() == FileType::RegularFile;
        // Up to 32 KiB, and no two neighbours alike.
        let size = if is_file { inode * 7_919 % 32_768 } else { 4_096 };
        let nlink = match place {
            Place::File(..) => 1,
            Place::Directory(_) => 2,
            Place::Root => 2 + self.directories as u32,
        };
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + inode);
        FileAttr {
            ino: INodeNo(inode),
            size,
            blocks: if self.has_no_blocks { 0 } else { size.div_ceil(4_096) * 8 },
            atime: time,
            mtime: time,
            ctime: time,
            crtime: time,
            kind: place.kind(),
            perm: if is_file { 0o644 } else { 0o755 },
            nlink,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4_096,
            flags: 0,
        }
    }
}

/// The requests that are being served.
struct Queue {
    parallel: usize,
    delay: Duration,
    seek: Duration,
    inodes: u64,
    /// The inode that the disk's head is at.
    head: u64,
    /// When the last `parallel` requests end: the first of them makes room for the next request.
    ends: VecDeque<Instant>,
    requests: u64,
}

impl Queue {
    /// When a request that has come in now ends.
    fn end(&mut self, inode: u64) -> Instant {
        let now = Instant::now();
        let is_full = self.ends.len() == self.parallel;
        let room = if is_full { self.ends.pop_front() } else { None };
        let start = room.map_or(now, |room| room.max(now));
        // The arm of a disk speeds up half the way and slows down the other half, so that the time
        // grows with the root of the distance.
        let way = inode.abs_diff(self.head) as f64 / self.inodes as f64;
        self.head = inode;
        let end = start + self.delay + self.seek.mul_f64(way.sqrt());
        self.ends.push_back(end);
        self.requests += 1;
        end
    }
}

type Answer = Box<dyn FnOnce() + Send>;

/// Gives every answer when its time has come.
fn give(answers: &Receiver<(Instant, Answer)>) {
    for (end, answer) in answers {
        thread::sleep(end.saturating_duration_since(Instant::now()));
        answer();
    }
}

/// Holds what is not to be answered, until its thread is being killed: else it could not end. fuser
/// tells nothing of that, so the thread is looked at now and then.
fn hold(hung: &Receiver<(u32, Answer)>, number: &AtomicUsize) {
    const NOW_AND_THEN: Duration = Duration::from_millis(20);
    let mut held = Vec::new();
    loop {
        match hung.recv_timeout(NOW_AND_THEN) {
            Ok(request) => held.push(request),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        for (_, answer) in held.extract_if(.., |(thread, _)| is_being_killed(*thread)) {
            answer();
        }
        number.store(held.len(), Ordering::Relaxed);
    }
}

/// Whether SIGKILL, signal 9, is on its way to a thread, or the thread is gone.
fn is_being_killed(thread: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).unwrap_or_default();
    let pending = status.lines().find_map(|line| line.strip_prefix("SigPnd:"));
    let pending = pending.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    pending.is_none_or(|mask| mask & (1 << 8) != 0)
}

/// The file system, as fuser wants it.
struct Slow {
    tree: Tree,
    troubles: HashMap<(u64, bool), Trouble>,
    /// How long the kernel may keep attributes.
    attributes_last: Duration,
    dies_after: Option<u64>,
    at: PathBuf,
    /// Guards the queue; taken once a request, by the only thread that reads them.
    queue: Mutex<Queue>,
    lookups: Arc<AtomicUsize>,
    answers: Sender<(Instant, Answer)>,
    hang: Sender<(u32, Answer)>,
}

impl Slow {
    fn place(&self, inode: INodeNo) -> Result<Place, Errno> {
        self.tree.place(inode.0).ok_or(Errno::ENOENT)
    }

    /// Serves a request for an inode; then `answer` gets what it came to.
    fn serve<T: Send + 'static>(
        &self,
        request: &Request,
        (inode, is_listing): (u64, bool),
        found: Result<T, Errno>,
        answer: impl FnOnce(Result<T, Errno>) + Send + 'static,
    ) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let end = queue.end(inode);
        if Some(queue.requests) == self.dies_after {
            // With somebody in it, the storage stays mounted, but its connection is cut: before this request, and not
            // whenever another thread comes to it, when all may have been served.
            let _ = unmount(&self.at, UnmountFlags::FORCE);
        }
        // Where nobody receives any more, all is over.
        match self.troubles.get(&(inode, is_listing)) {
            None => drop(self.answers.send((end, Box::new(|| answer(found))))),
            Some(Trouble::Fails(error)) => {
                let error = *error;
                drop(self.answers.send((end, Box::new(move || answer(Err(error))))));
            }
            Some(Trouble::Hangs) => {
                drop(self.hang.send((request.pid(), Box::new(|| answer(Err(Errno::EINTR))))));
            }
        }
    }
}

impl Filesystem for Slow {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Else the kernel asks for one entry of a directory after the other. READDIRPLUS is not
        // asked for: it would bring the attributes that are to cost a request each.
        let parallel = InitFlags::FUSE_PARALLEL_DIROPS;
        config.add_capabilities(parallel).map_err(|_| io::ErrorKind::Unsupported.into())
    }

    fn lookup(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.lookups.fetch_add(1, Ordering::Relaxed);
        let place = self.place(parent).and_then(|parent| {
            name.to_str().and_then(|name| self.tree.child(parent, name)).ok_or(Errno::ENOENT)
        });
        let inode = place.as_ref().map_or(parent.0, |place| place.inode(&self.tree));
        let found = place.map(|place| self.tree.attributes(place));
        let last = self.attributes_last;
        self.serve(request, (inode, false), found, move |found| match found {
            Ok(found) => reply.entry_with_ttls(&last, &Duration::ZERO, &found, Generation(0)),
            Err(error) => reply.error(error),
        });
    }

    fn getattr(&self, request: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let found = self.place(inode).map(|place| self.tree.attributes(place));
        let last = self.attributes_last;
        self.serve(request, (inode.0, false), found, move |found| match found {
            Ok(found) => reply.attr(&last, &found),
            Err(error) => reply.error(error),
        });
    }

    fn opendir(&self, request: &Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let found = self.place(inode);
        self.serve(request, (inode.0, true), found, move |found| match found {
            Ok(_) => reply.opened(FileHandle(0), FopenFlags::empty()),
            Err(error) => reply.error(error),
        });
    }

    /// An offset is the number of entries before it, `.` and `..` among them.
    fn readdir(
        &self,
        request: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let found = self.place(inode).map(|directory| {
            let width = self.tree.width(directory);
            let stride = stride(width);
            for number in offset..width + 2 {
                let (place, name) = match number {
                    0 => (directory, ".".to_owned()),
                    1 => (Place::Root, "..".to_owned()),
                    _ => {
                        let place = self.tree.entry(directory, (number - 2) * stride % width);
                        (place, place.name())
                    }
                };
                let inode = INodeNo(place.inode(&self.tree));
                if reply.add(inode, number + 1, place.kind(), name) {
                    break;
                }
            }
        });
        self.serve(request, (inode.0, false), found, move |found| match found {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error),
        });
    }
}

/// How far to step through `width` entries so that each is met once, and none next to its like: near
/// the golden section, and without a common divisor.
fn stride(width: u64) -> u64 {
    let divisor = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    (width * 618 / 1000..=width).find(|step| divisor(*step, width) == 1).unwrap_or(1)
}
