//! Files without a name that processes hold open, as proc tells (proc_pid_fd(5), proc_pid_maps(5)).
//!
//! A link in proc that leads to such a file ends in "(deleted)". Only then the file itself is asked, from what the
//! kernel remembers, because a server may not answer. The inode decides, because a name may end like that, too. A
//! process that ends meanwhile is no error.

use std::collections::HashMap;
use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::proc::{entries_of, look};
use crate::base::inode::Identity;
use crate::base::measure::Kind;
use crate::sys::mount_table::{ListedMount, device_number, unescape};
use crate::sys::{
    Cause, Holder, Mapped, MountTable, Stat, UnlinkedFiles, Unseen, is_vanished, to_path,
    unless_vanished,
};

/// How many files are named on each file system: the largest.
const MOST: usize = 1_000;
/// Of smaller files, nobody asks what they share.
const LARGE: u64 = 64 << 10;
/// How many of its holders a file names.
const FEW: usize = 3;
/// What proc adds to the path of a file that has lost its name.
const DELETED: &[u8] = b" (deleted)";
/// Where the kernel tells which PID namespace this is, and what it tells of the first one (linux/proc_ns.h).
const NAMESPACE: (&str, &str) = ("/proc/self/ns/pid", "pid:[4026531836]");

/// Finds the files without a name on the file systems of `roots`. Ends early if it `is_stopped`.
///
/// # Errors
/// The system's, if there is no proc.
pub fn unlinked_files(roots: &[Identity], is_stopped: &AtomicBool) -> io::Result<UnlinkedFiles> {
    let processes = fs::read_dir("/proc")?;
    let mut search = Search { mounts: MountTable::try_read()?, ..Search::default() };
    for Identity { mount, device, .. } in roots {
        let number = search.file_system(Path::new("/proc/self"), *mount);
        search.found.push(Found { device: *device, number, ..Found::default() });
    }
    for process in processes.flatten() {
        let pid = process.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some(pid) = pid.filter(|_| !is_stopped.load(Ordering::Relaxed)) {
            search.process(pid, &process.path());
        }
    }
    let is_first = fs::read_link(NAMESPACE.0).is_ok_and(|it| it == Path::new(NAMESPACE.1));
    Ok(UnlinkedFiles {
        inodes: search.found.iter().flat_map(|found| found.sizes.keys().copied()).collect(),
        causes: search.found.into_iter().map(Found::finish).collect(),
        unread: search.unread,
        lists_all: is_first && Path::new("/proc/1").exists(),
    })
}

#[derive(Default)]
struct Search {
    mounts: MountTable,
    /// The number of the file system behind each mount that was met.
    by_mount: HashMap<u64, Option<u64>>,
    /// What was found on the file system of each root.
    found: Vec<Found>,
    /// The first error that kept files from being seen.
    unread: Option<io::Error>,
}

/// What was found on one file system.
#[derive(Default)]
struct Found {
    /// The device of its root.
    device: u64,
    /// The number of the file system.
    number: Option<u64>,
    sizes: HashMap<Identity, Option<u64>>,
    /// How much of that they may share.
    shared: u64,
    /// What else is known of the largest.
    files: HashMap<Identity, (Unseen, u32)>,
}

impl Search {
    fn process(&mut self, pid: u32, process: &Path) {
        let more = ["exe", "cwd", "root"].map(|name| Ok(process.join(name)));
        let looked = entries_of(&process.join("fd")).and_then(|open| {
            // One that cannot be asked says nothing of the others.
            let links = open.chain(more).map(|link| self.link(pid, process, &link?));
            links.fold(Ok(()), Result::and)
        });
        let looked = looked.and(self.maps(pid, process));
        self.unread = self.unread.take().or(looked.err());
    }

    /// Looks where a link of a process leads.
    fn link(&mut self, pid: u32, process: &Path, link: &Path) -> io::Result<()> {
        let Some(path) = unless_vanished(fs::read_link(link))? else { return Ok(()) };
        if let Some(path) = path.as_os_str().as_bytes().strip_suffix(DELETED)
            && let Some((stat, mount)) = unless_vanished(look(link))?
        {
            self.inode(pid, (process, link), path, (&stat, mount));
        }
        Ok(())
    }

    /// Adds the inode where a `link` of a `process` leads, unless it has a name.
    fn inode(
        &mut self,
        pid: u32,
        (process, link): (&Path, &Path),
        path: &[u8],
        (stat, mount): (&Stat, u64),
    ) {
        if stat.links > 0 {
            return;
        }
        let on_device = self.found.iter().position(|found| found.device == stat.device);
        // Subvolumes of btrfs and overlays have devices of their own.
        let root = on_device.or_else(|| {
            let number = self.file_system(process, mount)?;
            self.found.iter().position(|found| found.number == Some(number))
        });
        if let Some(root) = root {
            let found = &mut self.found[root];
            if !found.sizes.contains_key(&stat.identity()) {
                let more = shared(link, stat).unwrap_or(0);
                found.shared = found.shared.saturating_add(more);
            }
            found.add(stat.identity(), Some(stat.blocks.saturating_mul(512)), path, pid);
        }
    }

    /// Looks at what a process has mapped, which need not be open any more.
    fn maps(&mut self, pid: u32, process: &Path) -> io::Result<()> {
        let Some(maps) = unless_vanished(File::open(process.join("maps")))? else { return Ok(()) };
        let (mut maps, mut line) = (BufReader::new(maps), Vec::new());
        while unless_vanished(maps.read_until(b'\n', &mut line))?.is_some_and(|length| length > 0) {
            let path = line.strip_suffix(b"\n").and_then(|line| line.strip_suffix(DELETED));
            if let Some(path) = path {
                self.mapping(pid, process, path);
            }
            line.clear();
        }
        Ok(())
    }

    /// Looks at a file that is mapped and has lost its name, as a line of proc_pid_maps(5) tells.
    fn mapping(&mut self, pid: u32, process: &Path, line: &[u8]) -> Option<()> {
        let (fields, path) = line.split_at(line.iter().position(|byte| *byte == b'/')?);
        let (fields, path) = (str::from_utf8(fields).ok()?, unescape(path));
        let fields: Vec<_> = fields.split_whitespace().collect();
        let [range, _, _, device, inode] = fields[..] else { return None };
        // There, numbers have no leading zeros.
        let range: Vec<_> = range.split('-').map(|end| end.trim_start_matches('0')).collect();
        let link = process.join("map_files").join(range.join("-"));
        let is_gone = match look(&link) {
            Ok((stat, mount)) => {
                self.inode(pid, (process, &link), &path, (&stat, mount));
                return None;
            }
            Err(error) => is_vanished(&error),
        };
        // Only root may follow these links. What the line says must do, unless the name is still there.
        let (major, minor) = device.split_once(':')?;
        let [major, minor] = [major, minor].map(|number| u32::from_str_radix(number, 16));
        let number = Some(device_number(major.ok()?, minor.ok()?));
        let found = self.found.iter_mut().find(|found| found.number == number && !is_gone)?;
        let number = inode.parse().ok()?;
        let named = to_path(&[b".", &*path, DELETED].concat()).into_owned();
        if look(&process.join("root").join(named)).is_ok_and(|(stat, _)| stat.inode == number) {
            return None;
        }
        found.add(Identity { mount: 0, device: found.device, number }, None, &path, pid);
        Some(())
    }

    /// The number of the file system that holds what is reached through `mount`, which a process has. For an overlay,
    /// that is the one below that is written to.
    fn file_system(&mut self, process: &Path, mount: u64) -> Option<u64> {
        if let Some(known) = self.by_mount.get(&mount) {
            return *known;
        }
        let elsewhere = match self.mounts.listed(mount) {
            Some(_) => None,
            None => ListedMount::of_process(process, mount),
        };
        let listed = elsewhere.as_ref().or_else(|| self.mounts.listed(mount));
        let number = listed.and_then(|listed| match listed.upper() {
            Some(upper) => {
                let (upper, may_touch) = self.mounts.near_path(&upper, 0)?;
                let upper = Some(to_path(&upper)).filter(|_| may_touch);
                self.mounts.file_system(look(&upper?).ok()?.1)
            }
            None => listed.device,
        });
        self.by_mount.insert(mount, number);
        number
    }
}

impl Found {
    fn add(&mut self, identity: Identity, size: Option<u64>, path: &[u8], pid: u32) {
        let known = self.sizes.entry(identity).or_insert_with(|| {
            let file = Unseen { name: path.to_vec(), ..Unseen::default() };
            self.files.insert(identity, (file, 0));
            size
        });
        *known = size.or(*known);
        let Some((file, last)) = self.files.get_mut(&identity) else { return };
        file.size = *known;
        if *last != pid {
            *last = pid;
            file.held_by += 1;
            if file.holders.len() < FEW {
                let command = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
                let command = command.strip_suffix(b"\n").unwrap_or(&command).to_vec();
                file.holders.push(Holder { pid, command });
            }
        }
        if self.files.len() > 2 * MOST {
            self.forget_small();
        }
    }

    /// Keeps only the sizes of all but the largest, so that a million files take little memory.
    fn forget_small(&mut self) {
        let mut sizes: Vec<_> = self.files.iter().map(|(id, (file, _))| (file.size, *id)).collect();
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        for (_, identity) in sizes.into_iter().skip(MOST) {
            self.files.remove(&identity);
        }
    }

    fn finish(self) -> Cause {
        let mut files: Vec<_> = self.files.into_iter().map(|(id, (file, _))| (file, id)).collect();
        files.sort_unstable_by(|(one, one_id), (other, other_id)| {
            (other.size, &one.name, one_id).cmp(&(one.size, &other.name, other_id))
        });
        files.truncate(MOST);
        let parts = files.into_iter().map(|(file, _)| file).collect();
        let sizes = self.sizes.values().flatten();
        let size = sizes.fold(0, |sum: u64, size| sum.saturating_add(*size));
        let (files, shared) = (Some(self.sizes.len() as u64), self.shared);
        Cause { name: "deleted but open", size, shared, files, parts }
    }
}

/// How much of the regular file where `link` leads other files may share, in bytes.
fn shared(link: &Path, stat: &Stat) -> Option<u64> {
    let size = stat.blocks.saturating_mul(512);
    if stat.mode.kind() != Kind::File || size < LARGE {
        return None;
    }
    let link = CString::new(link.as_os_str().as_bytes()).ok()?;
    let Mapped { own, unplaced } = super::map_extents(None, &link, stat, |_| ()).ok()?;
    size.checked_sub(own.saturating_add(unplaced))
}
