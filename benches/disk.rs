//! A model of a disk with one head: `disk MOUNTPOINT IMAGE` mounts a FUSE file system with one file, `disk`, that has
//! the bytes of the image. A read takes as long as on a disk of 7,200 revolutions a minute. `throttled` puts a loop
//! device on top. It runs until somebody unmounts it. Only root may mount it.
//!
//! * Requests are served one at a time, in the order they come in. A real disk has up to 32 of them at once and chooses
//!   the nearest, which this does not.
//! * Near the end of the last request, before it or behind it, only the bytes between pass under the head, at 150 MB/s:
//!   a disk keeps in its own memory what has just passed.
//! * Elsewhere the head has to seek, for 1 to 9 ms, which grows with the root of the distance, as the arm speeds up
//!   half the way and slows down the other half. Then it waits half a revolution. The image is the whole disk, so that
//!   most ways are short: a large disk is slower than this.
//!
//! It is read-only, and neither the kernel nor the model keeps anything in memory.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use fuser::{
    Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEntry, ReplyOpen, Request,
    Session, SessionACL,
};

/// Bytes a second that pass under the head.
const BYTES: f64 = 150e6;
/// How near a request must be to the last one, in bytes, so that the head need not seek.
const NEAR: u64 = 1 << 20;
/// A seek to the next track, and what the way across all tracks takes longer.
const SEEK: Duration = Duration::from_millis(1);
const WAY: Duration = Duration::from_millis(8);
const HALF_REVOLUTION: Duration = Duration::from_micros(4_167);

const DISK: &str = "disk";
const DISK_INODE: INodeNo = INodeNo(2);
const BUSY: &str = "busy";
const BUSY_INODE: INodeNo = INodeNo(3);

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [at, image] = &arguments[..] else {
        eprintln!("usage: disk MOUNTPOINT IMAGE");
        return ExitCode::from(2);
    };
    match mount(at.as_ref(), image.as_ref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("disk: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Mounts the disk with the bytes of the `image`, until it is unmounted.
fn mount(at: &Path, image: &Path) -> io::Result<()> {
    let image = File::open(image)?;
    let length = image.metadata()?.len();
    let mut config = Config::default();
    config.mount_options = vec![MountOption::RO, MountOption::FSName(DISK.to_owned())];
    config.acl = SessionACL::All;
    Session::new(Disk { image, length, state: Mutex::default() }, at, &config)?.run()
}

/// The disk.
struct Disk {
    image: File,
    length: u64,
    /// Held while a request is served.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Where the last request ended.
    head: u64,
    /// What all requests took.
    busy: Duration,
}

impl Disk {
    /// How long a request for so many bytes at `offset` takes.
    fn cost(&self, head: u64, offset: u64, bytes: u64) -> Duration {
        let distance = offset.abs_diff(head);
        let transfer = |bytes: u64| Duration::from_secs_f64(bytes as f64 / BYTES);
        if distance <= NEAR {
            return transfer(distance + bytes);
        }
        let way = distance as f64 / self.length as f64;
        SEEK + WAY.mul_f64(way.sqrt()) + HALF_REVOLUTION + transfer(bytes)
    }

    fn attributes(&self, inode: INodeNo) -> FileAttr {
        let (is_disk, is_file) = (inode == DISK_INODE, inode != INodeNo::ROOT);
        let time = SystemTime::UNIX_EPOCH;
        FileAttr {
            ino: inode,
            size: if is_disk { self.length } else { 0 },
            blocks: 0,
            atime: time,
            mtime: time,
            ctime: time,
            crtime: time,
            kind: if is_file { FileType::RegularFile } else { FileType::Directory },
            perm: if is_file { 0o400 } else { 0o500 },
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4_096,
            flags: 0,
        }
    }
}

/// How long the kernel may keep attributes, which never change.
const LAST: Duration = Duration::from_secs(3_600);

impl Filesystem for Disk {
    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let inode = [(DISK, DISK_INODE), (BUSY, BUSY_INODE)].into_iter().find(|it| name == it.0);
        match inode {
            Some((_, inode)) => reply.entry(&LAST, &self.attributes(inode), Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&LAST, &self.attributes(inode));
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO);
    }

    fn read(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let start = Instant::now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if inode == BUSY_INODE {
            let text = format!("{}\n", state.busy.as_millis());
            return reply.data(text.as_bytes().get(offset as usize..).unwrap_or_default());
        }
        let bytes = u64::from(size).min(self.length.saturating_sub(offset));
        let cost = self.cost(state.head, offset, bytes);
        (state.head, state.busy) = (offset + bytes, state.busy + cost);
        let end = start + cost;
        let mut buffer = vec![0; bytes as usize];
        let read = self.image.read_exact_at(&mut buffer, offset);
        thread::sleep(end.saturating_duration_since(Instant::now()));
        match read {
            Ok(()) => reply.data(&buffer),
            Err(error) => reply.error(error.into()),
        }
    }
}
