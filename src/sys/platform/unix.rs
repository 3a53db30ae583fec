//! What all Unix systems tell alike, by way of nix and rustix.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use nix::unistd::{Uid, User};
use rustix::process::Signal;

use crate::sys::{Space, Usage};

/// Whether an entry was there when it was listed and is not any more, or is something else by now.
/// A process's directory in proc answers ESRCH when the process has ended.
pub fn is_vanished(error: &io::Error) -> bool {
    matches!(errno(error), Errno::ENOENT | Errno::ENOTDIR | Errno::ELOOP | Errno::ESRCH)
        || matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// What the system says of what is not there.
pub fn not_found() -> io::Error {
    Errno::ENOENT.into()
}

/// Whether the process, or the whole system, has as many open files as it may.
pub fn is_out_of_handles(error: &io::Error) -> bool {
    matches!(errno(error), Errno::EMFILE | Errno::ENFILE)
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_raw(error.raw_os_error().unwrap_or(0))
}

/// The machine's own name (uname(2)).
pub fn host() -> Vec<u8> {
    rustix::system::uname().nodename().to_bytes().to_vec()
}

/// What the user with the id `id` is called, where somebody knows: asks the system's user database
/// (getpwuid_r(3)), which may be far away.
pub fn user_name(id: u32) -> Option<String> {
    // A database that cannot be asked knows nobody.
    User::from_uid(Uid::from_raw(id)).ok().flatten().map(|user| user.name)
}

/// Whether the process is root's, whom no permission stops.
pub fn is_root() -> bool {
    Uid::effective().is_root()
}

/// What the file system has room for that `path` lies on.
///
/// # Errors
/// The system's.
pub fn space_around(path: &CStr) -> io::Result<Space> {
    let space = rustix::fs::statvfs(path)?;
    let bytes = |blocks: u64| blocks.saturating_mul(space.f_frsize);
    Ok(Space {
        size: bytes(space.f_blocks),
        free: bytes(space.f_bfree),
        available: bytes(space.f_bavail),
    })
}

/// The terminal that the process was started from, whatever its standard streams are.
///
/// # Errors
/// The system's, as where there is none.
pub fn terminal() -> io::Result<File> {
    File::options().read(true).write(true).open("/dev/tty")
}

/// Stops the others that were started with the process, as the terminal does for Ctrl-Z. False if nobody is there to
/// continue them, nor the process itself: it leads the session.
pub fn stop_others() -> bool {
    let is_leader =
        rustix::process::getsid(None).is_ok_and(|leader| leader == rustix::process::getpid());
    !is_leader && rustix::process::kill_current_process_group(Signal::TSTP).is_ok()
}

/// What the process has used until now (getrusage(2)); nothing where the system does not tell.
pub fn usage() -> Usage {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Usage::default() };
    let count = |switches| u64::try_from(switches).unwrap_or(0);
    Usage {
        cpu: duration(usage.user_time()) + duration(usage.system_time()),
        waits: count(usage.voluntary_context_switches()),
        preemptions: count(usage.involuntary_context_switches()),
    }
}

fn duration(time: TimeVal) -> Duration {
    // Its two parts are not of one type on every system: macOS has microseconds in 32 bits.
    Duration::from_micros(u64::try_from(time.num_microseconds()).unwrap_or(0))
}
