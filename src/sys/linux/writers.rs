//! Processes that write, as proc tells: their commands, users, and units or containers, never their arguments.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::proc::{entries_of, look};
use crate::base::inode::Identity;
use crate::sys::changes::Writer;
use crate::sys::{Holder, unless_vanished};

/// The process with this number.
pub fn writer(pid: u32) -> Writer {
    let process = format!("/proc/{pid}");
    let process = Path::new(&process);
    let command = command(process);
    let user = fs::metadata(process).ok().map(|it| it.uid());
    let groups = fs::read_to_string(process.join("cgroup")).unwrap_or_default();
    Writer { process: Holder { pid, command }, user, unit: unit(&groups) }
}

fn command(process: &Path) -> Vec<u8> {
    let command = fs::read(process.join("comm")).unwrap_or_default();
    command.strip_suffix(b"\n").unwrap_or(&command).to_vec()
}

/// The unit or the container in the list of a process's cgroups (cgroups(7)).
fn unit(groups: &str) -> String {
    /// As many digits as engines show of the number of a container.
    const SHORT: usize = 12;
    let paths = groups.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    let mut parts: Vec<_> = paths.flat_map(|path| path.split('/').rev()).collect();
    let id = |part: &&str| {
        let part = part.strip_suffix(".scope").unwrap_or(part);
        let id = part.rsplit('-').next().unwrap_or(part);
        let is_id = id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_id.then(|| format!("container {}", &id[..SHORT]))
    };
    if let Some(container) = parts.iter().find_map(id) {
        return container;
    }
    parts.retain(|part| part.ends_with(".service") || part.ends_with(".scope"));
    parts.first().map_or_else(String::new, |unit| (*unit).to_owned())
}

/// The inodes that processes have open for writing, each with one of them; of those processes that may be looked at.
///
/// # Errors
/// The system's, if there is no proc.
pub fn open_for_writing() -> io::Result<HashMap<Identity, u32>> {
    let (mut found, own) = (HashMap::new(), std::process::id());
    for process in fs::read_dir("/proc")?.flatten() {
        let pid = process.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(pid) = pid.filter(|pid| *pid != own) else { continue };
        // Others may not be looked at.
        let Ok(open) = entries_of(&process.path().join("fd")) else { continue };
        for link in open.flatten() {
            let number = link.file_name().unwrap_or_default();
            let about = fs::read_to_string(process.path().join("fdinfo").join(number));
            if about.is_ok_and(|about| is_writable(&about))
                && let Ok(Some((stat, _))) = unless_vanished(look(&link))
            {
                found.insert(stat.identity(), pid);
            }
        }
    }
    Ok(found)
}

/// Whether a file was opened for writing, by its lines in proc (proc_pid_fdinfo(5)).
fn is_writable(about: &str) -> bool {
    /// O_ACCMODE
    const MODE: u32 = 3;
    let flags = about.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & MODE != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_containers() {
        let id = "0123456789abcdef".repeat(4);
        for (groups, expected) in [
            ("0::/system.slice/app.service\n", "app.service"),
            ("0::/user.slice/user-1.slice/user@1.service/app.slice/run-7.scope\n", "run-7.scope"),
            ("0::/user.slice/user@1.service/app.slice\n", "user@1.service"),
            (&*format!("0::/system.slice/docker-{id}.scope\n"), "container 0123456789ab"),
            (&*format!("12:cpu:/docker/{id}\n0::/x.service\n"), "container 0123456789ab"),
            ("0::/\n", ""),
            ("", ""),
            ("::::\n//\n-", ""),
        ] {
            assert_eq!(unit(groups), expected, "{groups}");
        }
    }

    #[test]
    fn files_that_are_written() {
        assert!(is_writable("pos:\t0\nflags:\t0100001\nmnt_id:\t2\n"));
        assert!(is_writable("flags:\t02100002\n"));
        assert!(!is_writable("flags:\t0100000\n") && !is_writable("") && !is_writable("flags:\t9"));
    }
}
