//! What all Unix systems do in the same way, through std, nix and rustix.

pub mod by_path;
pub mod errors;
pub mod snapshot_file;
pub mod time_zone;

use std::borrow::Cow;
use std::env;
use std::ffi::{CStr, OsStr, OsString};
use std::fs::{DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt as _, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use nix::unistd::{Uid, User};
use rustix::fs::OFlags;
use rustix::process::{Signal, getpgrp};
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, tcgetattr, tcgetpgrp, tcsetattr,
};

use crate::sys::{Source, Space, Usage};

impl Source {
    /// Whether the default source knows how many links a file has, and which inode it is.
    pub const LISTS_LINKS: bool = true;

    /// The sources beside the default.
    pub(in crate::sys) const OTHERS: &[(&str, Self)] = &[("portable", Self::Portable)];

    /// The source that knows how many links a file has, and which inode it is.
    pub fn with_links(self) -> Self {
        self
    }
}

/// What the directory at `path` carries, as far as std can tell.
#[cfg(not(target_os = "macos"))]
pub fn mount_content(_: &Path) -> io::Result<crate::sys::MountContent> {
    Ok(crate::sys::MountContent::Data)
}

/// The environment variable with the user's home directory.
pub const HOME: &str = "HOME";

/// Converts bytes to a path: a name is its bytes.
pub fn to_path(bytes: &[u8]) -> Cow<'_, Path> {
    Path::new(OsStr::from_bytes(bytes)).into()
}

/// Converts bytes to a path.
pub fn into_path(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}

/// Whether an entry has disappeared, or become something else, since it was listed. A process's directory in proc
/// returns ESRCH once the process has ended.
pub fn is_vanished(error: &io::Error) -> bool {
    matches!(errno(error), Errno::ENOENT | Errno::ENOTDIR | Errno::ELOOP | Errno::ESRCH)
        || matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The system's error for a path that does not exist.
pub fn not_found() -> io::Error {
    Errno::ENOENT.into()
}

/// Whether the process, or the whole system, has reached its limit of open files.
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

/// The name of the user with the id `id`, if it is known. Asks the system's user database (getpwuid_r(3)), which may
/// be on another machine.
pub fn user_name(id: u32) -> Option<String> {
    // If the database cannot be read, no name is known.
    User::from_uid(Uid::from_raw(id)).ok().flatten().map(|user| user.name)
}

/// The id of the user that is called `name` in the same database, or else has that number; none if there is neither.
///
/// # Errors
/// The system's.
pub fn user_number(name: &str) -> io::Result<Option<u32>> {
    let found = User::from_name(name)?.map(|user| user.uid.as_raw());
    // The standard library would accept a sign.
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
    Ok(found.or_else(|| name.parse().ok().filter(|_| is_number)))
}

/// The home directory of the user with the id `id`, from the same database.
pub fn user_home(id: u32) -> Option<PathBuf> {
    let home = User::from_uid(Uid::from_raw(id)).ok().flatten()?.dir;
    home.is_absolute().then_some(home)
}

/// The home directories of root and of all people in /etc/passwd (passwd(5)). Those are the users from 1000 on, on all
/// common systems (login.defs(5), UID_MIN).
pub fn user_homes() -> Vec<PathBuf> {
    let content = crate::sys::read_file(Path::new("/etc/passwd")).unwrap_or_default();
    let lines = content.split(|byte| *byte == b'\n').map(|line| line.split(|byte| *byte == b':'));
    let homes = lines.filter_map(|fields| {
        let mut fields = fields.skip(2);
        let id: u32 = str::from_utf8(fields.next()?).ok()?.parse().ok()?;
        let home = to_path(fields.nth(2)?).into_owned();
        ((id == 0 || id >= 1000) && home.is_absolute()).then_some(home)
    });
    homes.collect()
}

/// The capacity and free space of the file system that holds `path`.
///
/// # Errors
/// The system's.
pub fn space_around(path: &CStr) -> io::Result<Space> {
    let space = rustix::fs::statvfs(path)?;
    let blocks = [space.f_blocks, space.f_bfree, space.f_bavail];
    let [size, free, available] = blocks.map(|blocks| blocks.saturating_mul(space.f_frsize));
    let used_inodes = space.f_files.saturating_sub(space.f_ffree);
    Ok(Space { size, free, available, inodes: space.f_files, used_inodes })
}

/// The content of a file of the user's own that nobody else may write to.
///
/// # Errors
/// The system's, and an error if it is large, no regular file, or if others may write to it.
pub fn read_private_file(path: &Path) -> io::Result<Vec<u8>> {
    const MOST: u64 = 100 << 20;
    const OTHERS_WRITE: u32 = 0o022;
    if crate::sys::is_special_file(path) {
        return Err(io::Error::other("it is no regular file"));
    }
    let file = File::open(path)?;
    let stat = file.metadata()?;
    let refused = [
        (!stat.is_file(), "it is no regular file"),
        (stat.uid() != user_id(), "it belongs to another user"),
        (stat.mode() & OTHERS_WRITE != 0, "others may write to it\nchmod go-w FILE"),
        (stat.len() > MOST, "it is larger than 100 MiB"),
    ];
    if let Some((_, why)) = refused.into_iter().find(|(is_refused, _)| *is_refused) {
        return Err(io::Error::other(why));
    }
    let mut content = Vec::new();
    file.take(MOST).read_to_end(&mut content)?;
    Ok(content)
}

/// The effective user of this process.
pub fn user_id() -> u32 {
    Uid::effective().as_raw()
}

/// Whether the terminal shows more than plain lines: TERM says so. Colours need no request.
pub fn is_capable_terminal() -> bool {
    env::var_os("TERM").is_some_and(|term| !crate::sys::is_plain_terminal(&term))
}

/// Makes the directory at `path` and its parents, for its owner alone.
///
/// # Errors
/// The system's. That they exist is no error.
pub fn make_directories(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Whether standard output can be written to. std takes writing to one that is only for reading for done.
///
/// # Errors
/// The system's.
pub fn ensure_output() -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(rustix::stdio::stdout())?;
    if flags & OFlags::RWMODE == OFlags::RDONLY { Err(Errno::EBADF.into()) } else { Ok(()) }
}

/// The terminal that controls the process, whatever its standard streams are. Reading and writing do not wait.
///
/// # Errors
/// The system's, for example if there is none.
pub fn terminal() -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    File::options().read(true).write(true).custom_flags(flags).open("/dev/tty")
}

/// Makes standard input, which is a terminal, return at once where nothing is typed. Only for this process: others share
/// the terminal, but not what is opened here.
///
/// # Errors
/// The system's.
pub fn read_keys_without_waiting() -> io::Result<()> {
    Ok(rustix::stdio::dup2_stdin(terminal()?)?)
}

/// What comes from the terminal within this time; nothing if nothing does.
///
/// # Errors
/// The system's.
pub fn typed(wait: Duration) -> io::Result<Vec<u8>> {
    const PAUSE: Duration = Duration::from_millis(1);
    let (mut terminal, end) = (terminal()?, Instant::now() + wait);
    let mut bytes = vec![0; 1024];
    loop {
        match terminal.read(&mut bytes) {
            Ok(length) => {
                bytes.truncate(length);
                return Ok(bytes);
            }
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            Err(_) if Instant::now() >= end => return Ok(Vec::new()),
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

/// What the terminal answers to a `question` until that `is_whole`, and at most within this time. It shows none of it.
/// Nothing is asked if something has been typed: that is for the next program.
///
/// # Errors
/// The system's, and an error in the background.
pub fn asked(question: &[u8], wait: Duration, is_whole: fn(&[u8]) -> bool) -> io::Result<Vec<u8>> {
    let silence = silence()?;
    let mut answer = Vec::new();
    if matches!(rustix::io::ioctl_fionread(&silence.terminal), Ok(0))
        && (&silence.terminal).write_all(question).is_ok()
    {
        let end = Instant::now() + wait;
        while !is_whole(&answer)
            && let Some(left) = end.checked_duration_since(Instant::now())
            && let Ok(bytes @ [_, ..]) = typed(left).as_deref()
        {
            answer.extend_from_slice(bytes);
        }
    }
    Ok(answer)
}

/// Keeps the terminal from showing what is typed, and gives it at once ([`typed`]). At its end, the terminal is as before.
#[derive(Debug)]
pub struct Silence {
    terminal: File,
    before: rustix::termios::Termios,
}

impl Drop for Silence {
    fn drop(&mut self) {
        // The terminal may be gone.
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.before);
    }
}

/// Silences the terminal.
///
/// # Errors
/// The system's, and an error in the background.
pub fn silence() -> io::Result<Silence> {
    let terminal = terminal()?;
    if tcgetpgrp(&terminal)? != getpgrp() {
        return Err(Errno::EPERM.into());
    }
    let before = tcgetattr(&terminal)?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
    tcsetattr(&terminal, OptionalActions::Now, &silent)?;
    Ok(Silence { terminal, before })
}

/// Drops what was typed on standard input and not read yet.
///
/// # Errors
/// The system's.
pub fn forget_typed() -> io::Result<()> {
    Ok(rustix::termios::tcflush(io::stdin(), QueueSelector::IFlush)?)
}

/// The program that opens a file for the desktop.
pub const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Opens what is at `path`, which is absolute, in the program that the desktop has for it, and waits for what starts
/// that. No shell reads the path.
///
/// # Errors
/// The system's, for example if there is no such program.
pub fn open_outside(path: &Path) -> io::Result<ExitStatus> {
    let mut command = Command::new(OPENER);
    command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // In a process group of its own, it gets no Ctrl-C, and cannot take the terminal.
    command.process_group(0).status()
}

/// Stops the rest of the process group, as the terminal does for Ctrl-Z. Returns false if nobody could continue the
/// group or this process: it leads the session.
pub fn stop_others() -> bool {
    let is_leader =
        rustix::process::getsid(None).is_ok_and(|leader| leader == rustix::process::getpid());
    !is_leader && rustix::process::kill_current_process_group(Signal::TSTP).is_ok()
}

/// What the process has used so far (getrusage(2)); none if the system does not tell.
pub fn usage() -> Usage {
    usage_of(UsageWho::RUSAGE_SELF)
}

/// What this thread has used so far; where the system does not tell, what the process has.
pub fn own_usage() -> Usage {
    #[cfg(target_os = "linux")]
    let who = UsageWho::RUSAGE_THREAD;
    #[cfg(not(target_os = "linux"))]
    let who = UsageWho::RUSAGE_SELF;
    usage_of(who)
}

fn usage_of(who: UsageWho) -> Usage {
    let Ok(usage) = getrusage(who) else { return Usage::default() };
    Usage {
        cpu: duration(usage.user_time()) + duration(usage.system_time()),
        waits: u64::try_from(usage.voluntary_context_switches()).unwrap_or(0),
        preemptions: u64::try_from(usage.involuntary_context_switches()).unwrap_or(0),
        reads: u64::try_from(usage.block_reads()).unwrap_or(0),
    }
}

fn duration(time: TimeVal) -> Duration {
    // The types of its two parts differ between systems: macOS has microseconds in 32 bits.
    Duration::from_micros(u64::try_from(time.num_microseconds()).unwrap_or(0))
}
