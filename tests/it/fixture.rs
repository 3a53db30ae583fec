//! Trees built by name, for the tests to weigh. Nothing of them is left afterwards.
//!
//! `Fixture::new().file("a/b", 4096).hard_link("a/b", "c")` is a temporary directory with exactly
//! that in it. Chains and combs are made relative to an open parent, so that they may be deeper than
//! any path can say, and every fixture is taken down without recursion: a directory that is not
//! empty is first moved up to the top.

use std::cell::Cell;
use std::ffi::{CString, OsStr};
use std::fs::{self, Metadata};
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Timespec, Timestamps};
use rustix::io::Errno;
use serde_json::Value;
use tempfile::TempDir;

/// A temporary tree. It is removed, whatever its depth and permissions, when this is dropped.
pub struct Fixture {
    top: TempDir,
    /// Written to since the last sync. Until it is synced, delayed allocation may change
    /// `st_blocks` between the oracle's reading and the program's.
    unsynced: AtomicBool,
}

/// A path made of any bytes but NUL.
pub fn raw(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Each path at `top` and below it, with what lstat(2) says of it. A directory comes before what is in it.
pub fn entries_at(top: &Path) -> Vec<(PathBuf, Metadata)> {
    let (mut found, mut ahead) = (Vec::new(), vec![top.to_owned()]);
    while let Some(path) = ahead.pop() {
        let stat = fs::symlink_metadata(&path).unwrap();
        if stat.is_dir() {
            ahead.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        found.push((path, stat));
    }
    found
}

impl Fixture {
    /// An empty tree on the file system of the temporary directory.
    pub fn new() -> Self {
        Self::within(&std::env::temp_dir())
    }

    /// An empty tree on tmpfs if there is one: quick to build, but its directories take no blocks.
    pub fn in_memory() -> Self {
        let shm = Path::new("/dev/shm");
        if shm.is_dir() { Self::within(shm) } else { Self::new() }
    }

    /// `top`, with links inside and outside of it, and an entry of each kind.
    pub fn of_each_kind() -> Self {
        Self::new()
            .file("top/big", 70_000)
            .file("top/a/f", 5_000)
            .hard_link("top/a/f", "top/b/g")
            .hard_link("top/a/f", "outside")
            .symlink("../a", "top/b/link")
            .fifo("top/b/pipe")
            .dir("top/empty")
    }

    /// An empty tree in the directory `place`, readable by every user.
    pub fn within(place: &Path) -> Self {
        let top = tempfile::Builder::new().prefix("weigh-it-").tempdir_in(place).unwrap();
        fs::set_permissions(top.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let unsynced = AtomicBool::new(true);
        Fixture { top, unsynced }
    }

    /// The directory that holds it all. What was written so far has its final blocks.
    pub fn path(&self) -> &Path {
        if self.unsynced.swap(false, Ordering::Relaxed) {
            rustix::fs::syncfs(self.open_top()).unwrap();
        }
        self.top.path()
    }

    /// The path of `name` in it.
    pub fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }

    /// The same as text.
    pub fn text_path(&self, name: &str) -> String {
        self.at(name).into_os_string().into_string().unwrap()
    }

    /// What is in the file `name`.
    pub fn bytes(&self, name: impl AsRef<Path>) -> Vec<u8> {
        fs::read(self.at(name)).unwrap()
    }

    /// [`Fixture::bytes`] as text.
    pub fn text(&self, name: impl AsRef<Path>) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    /// [`Fixture::bytes`] as JSON that is not deep.
    pub fn json(&self, name: impl AsRef<Path>) -> Value {
        serde_json::from_slice(&self.bytes(name)).unwrap()
    }

    /// The names in the directory `name`, sorted.
    pub fn names(&self, name: impl AsRef<Path>) -> Vec<String> {
        let names = fs::read_dir(self.at(name)).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A directory; missing parents are made, here and in every other of these.
    pub fn dir(self, name: impl AsRef<Path>) -> Self {
        fs::create_dir_all(self.place(name)).unwrap();
        self
    }

    /// A regular file with `len` bytes written to it.
    pub fn file(self, name: impl AsRef<Path>, len: usize) -> Self {
        fs::write(self.place(name), vec![b'w'; len]).unwrap();
        self
    }

    /// A regular file `len` bytes long with no block to it.
    pub fn sparse(self, name: impl AsRef<Path>, len: u64) -> Self {
        let file = fs::File::create(self.place(name)).unwrap();
        file.set_len(len).unwrap();
        self
    }

    /// An existing file, made `len` bytes long without another block.
    pub fn extended(self, name: impl AsRef<Path>, len: u64) -> Self {
        let file = fs::File::options().write(true).open(self.place(name)).unwrap();
        file.set_len(len).unwrap();
        self
    }

    /// Another link, `name`, to what `existing` names (itself, where that is a symlink).
    pub fn hard_link(self, existing: impl AsRef<Path>, name: impl AsRef<Path>) -> Self {
        fs::hard_link(self.place(existing), self.place(name)).unwrap();
        self
    }

    /// A symlink `name` that says `target`, as given.
    pub fn symlink(self, target: impl AsRef<Path>, name: impl AsRef<Path>) -> Self {
        symlink(target, self.place(name)).unwrap();
        self
    }

    /// A FIFO: opening it to read blocks for ever.
    pub fn fifo(self, name: impl AsRef<Path>) -> Self {
        let path = self.place(name);
        rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::from(0o644), 0).unwrap();
        self
    }

    /// A socket nobody listens at.
    pub fn socket(self, name: impl AsRef<Path>) -> Self {
        let path = self.place(name);
        rustix::fs::mknodat(CWD, &path, FileType::Socket, Mode::from(0o644), 0).unwrap();
        self
    }

    /// Sets the permission bits of an entry, or of a new directory.
    pub fn mode(self, name: impl AsRef<Path>, bits: u32) -> Self {
        let path = self.place(name);
        if !path.exists() {
            fs::create_dir(&path).unwrap();
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(bits)).unwrap();
        self
    }

    /// Sets the time of last modification of an entry, in seconds since the epoch, or before it if negative.
    pub fn modified(self, name: impl AsRef<Path>, seconds: i64) -> Self {
        let time = Timespec { tv_sec: seconds, tv_nsec: 0 };
        let times = Timestamps { last_access: time, last_modification: time };
        rustix::fs::utimensat(CWD, self.place(name), &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
        self
    }

    /// Gives an entry to the user with this number. Only root can.
    pub fn owned(self, name: impl AsRef<Path>, user: u32) -> Self {
        lchown(self.place(name), Some(user), None).unwrap();
        self
    }

    /// A directory that a plain user can neither list nor enter.
    pub fn unreadable(self, name: impl AsRef<Path>) -> Self {
        self.mode(name, 0o000)
    }

    /// Directories one in the other, `depth` of them and each called `name`, with a file `end` of
    /// `len` bytes in the last.
    pub fn chain(self, name: &str, depth: usize, len: usize) -> Self {
        let last = self.descend(name, depth, |_| ());
        write_at(last.as_fd(), "end", len);
        self
    }

    /// A chain of `depth` directories called `name`. Each also has a directory `a` and a directory `z` with a file of
    /// one byte, so that much is left to do at every level of a walk.
    pub fn comb(self, name: &str, depth: usize) -> Self {
        self.descend(name, depth, |level| {
            for tooth in ["a", "z"] {
                write_at(make_and_open(level, tooth).as_fd(), "f", 1);
            }
        });
        self
    }

    /// A chain of `depth` directories called `name`, each with an empty file whose name ends as no other does.
    pub fn endings(self, name: &str, depth: usize) -> Self {
        let number = Cell::new(0);
        self.descend(name, depth, |level| {
            write_at(level, &format!("f.{}", number.replace(number.get() + 1)), 0);
        });
        self
    }

    fn descend(&self, name: &str, depth: usize, fill: impl Fn(BorrowedFd<'_>)) -> OwnedFd {
        self.unsynced.store(true, Ordering::Relaxed);
        let mut level = self.open_top();
        for _ in 0..depth {
            level = make_and_open(level.as_fd(), name);
            fill(level.as_fd());
        }
        level
    }

    /// Where `name` goes, with its parents made.
    fn place(&self, name: impl AsRef<Path>) -> PathBuf {
        self.unsynced.store(true, Ordering::Relaxed);
        let path = self.top.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn open_top(&self) -> OwnedFd {
        open(CWD, self.top.path().as_os_str().as_bytes()).unwrap()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        if let Err(error) = take_down(self.top.path()) {
            let message = format!("{} stays behind: {error}", self.top.path().display());
            assert!(std::thread::panicking(), "{message}");
            eprintln!("{message}");
        }
    }
}

/// Empties the directory `top`: directories that are not empty are moved up to it, one after the
/// other, so that neither depth nor a path's length matters.
fn take_down(top: &Path) -> Result<(), Errno> {
    let top = open(CWD, top.as_os_str().as_bytes())?;
    let mut moved = 0_u64;
    loop {
        let names = listing(top.as_fd())?;
        if names.is_empty() {
            return Ok(());
        }
        for (name, kind) in names {
            if remove_leaf(top.as_fd(), &name, kind)? {
                continue;
            }
            allow(top.as_fd(), &name)?;
            let dir = open(&top, name.as_bytes())?;
            for (child, kind) in listing(dir.as_fd())? {
                if !remove_leaf(dir.as_fd(), &child, kind)? {
                    moved += 1;
                    let name = format!(".moved up {moved}");
                    // To move a directory is to write to it: its `..` changes.
                    allow(dir.as_fd(), &child)?;
                    rustix::fs::renameat(&dir, &child, &top, name)?;
                }
            }
            rustix::fs::unlinkat(&top, &name, AtFlags::REMOVEDIR)?;
        }
    }
}

/// Removes an empty directory or another entry. False if the directory is not empty.
fn remove_leaf(dir: BorrowedFd<'_>, name: &CString, kind: FileType) -> Result<bool, Errno> {
    if kind != FileType::Directory {
        return rustix::fs::unlinkat(dir, name, AtFlags::empty()).map(|()| true);
    }
    match rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR) {
        Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
        done => done.map(|()| true),
    }
}

fn allow(dir: BorrowedFd<'_>, name: &CString) -> Result<(), Errno> {
    rustix::fs::chmodat(dir, name, Mode::RWXU, AtFlags::empty())
}

fn listing(dir: BorrowedFd<'_>) -> Result<Vec<(CString, FileType)>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_owned();
        if name.as_bytes() != b"." && name.as_bytes() != b".." {
            names.push((name, entry.file_type()));
        }
    }
    Ok(names)
}

fn open(parent: impl AsFd, name: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, Mode::empty())
}

fn make_and_open(parent: BorrowedFd<'_>, name: &str) -> OwnedFd {
    rustix::fs::mkdirat(parent, name, Mode::from(0o755)).unwrap();
    open(parent, name.as_bytes()).unwrap()
}

fn write_at(dir: BorrowedFd<'_>, name: &str, len: usize) {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = rustix::fs::openat(dir, name, flags, Mode::from(0o644)).unwrap();
    fs::File::from(file).write_all(&vec![b'w'; len]).unwrap();
}
