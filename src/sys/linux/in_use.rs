//! Files and directories that processes have open, have mapped, run, or work in, as proc tells (proc_pid_fd(5),
//! proc_pid_maps(5)). It reads names of processes and where their links lead, never arguments, memory or content.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::proc::{entries_of, look};
use crate::sys::{Holder, InUse, unless_vanished};

/// Looks at all processes but this one.
///
/// # Errors
/// The system's, if there is no proc.
pub fn in_use() -> io::Result<InUse> {
    let mut found = InUse::default();
    let own = std::process::id();
    for process in fs::read_dir("/proc")?.flatten() {
        let pid = process.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some(pid) = pid.filter(|pid| *pid != own) {
            found.unseen += u64::from(!look_at(pid, &process.path(), &mut found));
        }
    }
    // With the option hidepid, other users' processes are not even listed.
    found.unseen += u64::from(!Path::new("/proc/1").exists());
    found.paths.sort_unstable();
    found.paths.dedup_by(|one, other| one.0 == other.0);
    Ok(found)
}

/// Adds the files of a process. Returns false if some of them may not be seen. A process that ends meanwhile has none.
fn look_at(pid: u32, process: &Path, found: &mut InUse) -> bool {
    let command = fs::read(process.join("comm")).unwrap_or_default();
    let command = command.strip_suffix(b"\n").unwrap_or(&command).to_vec();
    let holder = found.holders.len();
    found.holders.push(Holder { pid, command });
    add_files(process, holder, found).is_ok() || is_of_kernel(process)
}

/// Adds the files of a process and of each of its threads: a thread may work elsewhere, and have files of its own; and the
/// first one may have ended.
fn add_files(process: &Path, holder: usize, found: &mut InUse) -> io::Result<()> {
    // All of them have the same memory.
    let mut is_mapped = false;
    for thread in entries_of(&process.join("task"))? {
        let thread = thread?;
        let links = ["exe", "cwd", "root"].map(|name| Ok(thread.join(name)));
        for link in entries_of(&thread.join("fd"))?.chain(links) {
            add_link(&link?, holder, found)?;
        }
        if !is_mapped {
            is_mapped = add_maps(&thread, holder, found)?;
        }
    }
    Ok(())
}

/// Whether it is a thread of the kernel, which has no files (PF_KTHREAD in linux/sched.h; proc_pid_stat(5)).
fn is_of_kernel(process: &Path) -> bool {
    const KERNEL_THREAD: u64 = 0x0020_0000;
    const FLAGS: usize = 6;
    let stat = fs::read(process.join("stat")).unwrap_or_default();
    // Its name may have blanks and parentheses.
    let end = stat.iter().rposition(|byte| *byte == b')').map_or(0, |end| end + 1);
    let fields = String::from_utf8_lossy(&stat[end..]).into_owned();
    let flags = fields.split_whitespace().nth(FLAGS).and_then(|flags| flags.parse::<u64>().ok());
    flags.is_some_and(|flags| flags & KERNEL_THREAD != 0)
}

/// Adds what a link leads to, by its path here and by its inode: a container has other paths.
fn add_link(link: &Path, holder: usize, found: &mut InUse) -> io::Result<()> {
    let Some(path) = unless_vanished(fs::read_link(link))? else { return Ok(()) };
    let path = path.into_os_string().into_encoded_bytes();
    // Others are pipes, sockets and the like.
    if path.starts_with(b"/") {
        if let Ok((stat, _)) = look(link) {
            found.inodes.insert(stat.identity(), holder);
        }
        found.paths.push((path, holder));
    }
    Ok(())
}

/// `text` with a newline for each `\012`.
fn unescape_newlines(text: &[u8]) -> Vec<u8> {
    const ESCAPE: &[u8] = b"\\012";
    let (mut rest, mut plain) = (text, Vec::with_capacity(text.len()));
    while let [first, after @ ..] = rest {
        match rest.strip_prefix(ESCAPE) {
            Some(after) => {
                plain.push(b'\n');
                rest = after;
            }
            None => {
                plain.push(*first);
                rest = after;
            }
        }
    }
    plain
}

/// Adds what a process has mapped. Returns whether it has any memory: a thread that ended has none.
fn add_maps(process: &Path, holder: usize, found: &mut InUse) -> io::Result<bool> {
    let Some(maps) = unless_vanished(File::open(process.join("maps")))? else { return Ok(false) };
    let mut maps = BufReader::new(maps);
    let (mut line, mut last, mut is_mapped) = (Vec::new(), Vec::new(), false);
    while unless_vanished(maps.read_until(b'\n', &mut line))?.is_some_and(|length| length > 0) {
        // A file has several lines, one after the other.
        if let Some(start) = line.iter().position(|byte| *byte == b'/')
            && line[start..] != *last
        {
            last = line[start..].to_vec();
            // Of the escapes in other files of proc, it has only that of a newline. A name may look like the others.
            let path = unescape_newlines(last.strip_suffix(b"\n").unwrap_or(&last));
            let named = Path::new(std::ffi::OsStr::from_bytes(&path));
            let below_root = named.strip_prefix("/").unwrap_or(named);
            if let Ok((stat, _)) = look(&process.join("root").join(below_root)) {
                found.inodes.insert(stat.identity(), holder);
            }
            found.paths.push((path, holder));
        }
        line.clear();
        is_mapped = true;
    }
    Ok(is_mapped)
}
