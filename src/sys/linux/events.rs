//! Changes on a file system, as fanotify(7) tells root: the directory, the name, the inode and the process of each.
//!
//! The kernel names inodes by file handles. Their layout depends on the file system, so the handle of one known inode is
//! compared first ([`file_id`]). Records are parsed from bytes, without trust in any length.

use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::fanotify::{EventFFlags, Fanotify, InitFlags, MarkFlags, MaskFlags};
use rustix::fs::{CWD, inotify};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount,
    fsopen,
};

use crate::sys::changes::{Event, FileId, NameAt};
use crate::sys::{MountTable, to_path};

/// FAN_REPORT_FID, FAN_REPORT_DIR_FID, FAN_REPORT_NAME and FAN_REPORT_TARGET_FID (linux/fanotify.h): directory, name and
/// inode of each event. The last is of Linux 5.17, and of later versions of 5.10 and 5.15.
const REPORT: u32 = 0x0200 | 0x0400 | 0x0800 | 0x1000;

/// The events of one file system.
#[derive(Debug)]
pub struct Events {
    group: Fanotify,
    buffer: Vec<u8>,
}

impl Events {
    /// Begins to listen to the file system around `path`.
    ///
    /// # Errors
    /// The system's: it needs root, and some file systems have no handles that tell inodes apart.
    pub fn of(path: &CStr, mount: u64) -> io::Result<Self> {
        let flags = InitFlags::FAN_CLASS_NOTIF | InitFlags::FAN_CLOEXEC | InitFlags::FAN_NONBLOCK;
        let flags = flags | InitFlags::from_bits_retain(REPORT);
        let group = Fanotify::init(flags, EventFFlags::O_RDONLY)?;
        match mark(&group, CWD, path) {
            // A subvolume of btrfs is no whole file system. The mark stays on that when the mount is gone.
            Err(nix::errno::Errno::EXDEV) => mark(&group, top_subvolume(mount)?, c".")?,
            marked => marked?,
        }
        Ok(Self { group, buffer: vec![0; 64 << 10] })
    }

    /// Adds what has happened to `events`, of which there are at most about `most` then: the rest waits in the kernel,
    /// which keeps 16,384 of them, and then loses some.
    ///
    /// # Errors
    /// The system's.
    pub fn read(&mut self, events: &mut Vec<Event>, most: usize) -> io::Result<()> {
        while events.len() < most {
            match rustix::io::read(&self.group, &mut *self.buffer) {
                Err(Errno::AGAIN) | Ok(0) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
                Ok(length) => events.extend(parse(self.buffer.get(..length).unwrap_or_default())),
            }
        }
        Ok(())
    }
}

fn mark(
    group: &Fanotify,
    directory: impl std::os::fd::AsFd,
    path: &CStr,
) -> Result<(), nix::errno::Errno> {
    let mask = MaskFlags::FAN_CREATE
        | MaskFlags::FAN_DELETE
        | MaskFlags::FAN_DELETE_SELF
        | MaskFlags::FAN_RENAME
        | MaskFlags::FAN_MODIFY
        | MaskFlags::FAN_CLOSE_WRITE
        | MaskFlags::FAN_ONDIR;
    let flags = MarkFlags::FAN_MARK_ADD | MarkFlags::FAN_MARK_FILESYSTEM;
    group.mark(flags, mask, directory, Some(path))
}

/// A mount of the top subvolume of the btrfs on `mount`, which no path leads to.
fn top_subvolume(mount: u64) -> io::Result<OwnedFd> {
    let table = MountTable::try_read()?;
    let listed = table.listed(mount).filter(|listed| listed.kind == b"btrfs");
    let source = &listed.ok_or(io::ErrorKind::Unsupported)?.source;
    let context = fsopen(c"btrfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&context, c"source", &*to_path(source))?;
    // BTRFS_FS_TREE_OBJECTID
    fsconfig_set_string(&context, c"subvolid", c"5")?;
    fsconfig_create(&context)?;
    Ok(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?)
}

/// How events name the inode at `path`, as a watch of inotify(7) on it shows (proc_pid_fdinfo(5)).
///
/// # Errors
/// The system's, for example without proc; and if the file system's handles are of no known layout.
pub fn file_id(path: &CStr) -> io::Result<FileId> {
    let watch = inotify::init(inotify::CreateFlags::CLOEXEC)?;
    inotify::add_watch(&watch, path, inotify::WatchFlags::DELETE_SELF)?;
    let text = fs::read_to_string(format!("/proc/self/fdinfo/{}", watch.as_raw_fd()))?;
    let field = |name: &str| text.split_ascii_whitespace().find_map(|it| it.strip_prefix(name));
    let id = field("fhandle-type:").zip(field("f_handle:")).and_then(|(kind, handle)| {
        let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Option<Vec<u8>> = handle.as_bytes().chunks(2).map(byte).collect();
        inode(i32::from_str_radix(kind, 16).ok()?, &bytes?)
    });
    id.ok_or_else(|| io::ErrorKind::Unsupported.into())
}

/// The inode that a handle is of.
fn inode(kind: i32, handle: &[u8]) -> Option<FileId> {
    let of = |inode| Some(FileId { subvolume: 0, inode });
    match (kind, handle.len()) {
        // ext2, ext3, ext4, f2fs, and XFS with small numbers: inode, generation (exportfs.h, FILEID_INO32_GEN).
        (0x01, 8) => of(word(handle, 0)?.into()),
        // tmpfs: generation, inode in two halves (mm/shmem.c, shmem_encode_fh).
        (0x01, 12) => of(u64::from(word(handle, 4)?) | u64::from(word(handle, 8)?) << 32),
        // XFS: inode in 64 bits, generation (FILEID_INO64_GEN).
        (0x81, 12) => of(long(handle, 0)?),
        // btrfs: inode, subvolume, generation (fs/btrfs/export.h, FILEID_BTRFS_WITHOUT_PARENT).
        (0x4d, 20) => Some(FileId { subvolume: long(handle, 8)?, inode: long(handle, 0)? }),
        _ => None,
    }
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

/// The length of struct fanotify_event_metadata, in its only version.
const HEADER: usize = 24;
const VERSION: u8 = 3;

/// The events in what was read. After a record that cannot be right, events may be lost.
fn parse(mut bytes: &[u8]) -> Vec<Event> {
    let mut events = Vec::new();
    while !bytes.is_empty() {
        let length = word(bytes, 0).map_or(0, |length| length as usize);
        let event = bytes.get(..length).and_then(event);
        let is_wrong = event.is_none();
        events.push(event.unwrap_or(Event { is_lost: true, ..Event::default() }));
        if is_wrong {
            break;
        }
        bytes = bytes.get(length..).unwrap_or_default();
    }
    events
}

/// The event in a record: its header and what follows that.
fn event(record: &[u8]) -> Option<Event> {
    let start = usize::from(half(record, 6)?);
    if start < HEADER || record.get(4) != Some(&VERSION) {
        return None;
    }
    let (mask, pid) = (MaskFlags::from_bits_retain(long(record, 8)?), word(record, 20)?);
    let mut event = Event {
        pid: pid.min(i32::MAX as u32),
        is_directory: mask.contains(MaskFlags::FAN_ONDIR),
        is_created: mask.contains(MaskFlags::FAN_CREATE),
        is_deleted: mask.contains(MaskFlags::FAN_DELETE),
        is_freed: mask.contains(MaskFlags::FAN_DELETE_SELF),
        is_changed: mask.intersects(MaskFlags::FAN_MODIFY | MaskFlags::FAN_CLOSE_WRITE),
        is_lost: mask.contains(MaskFlags::FAN_Q_OVERFLOW),
        ..Event::default()
    };
    let mut rest = record.get(start..)?;
    while !rest.is_empty() {
        let length = usize::from(half(rest, 2)?);
        // A header alone takes four bytes.
        let info = rest.get(..length).filter(|info| info.len() >= 4)?;
        rest = rest.get(length..)?;
        match info.first()? {
            // FAN_EVENT_INFO_TYPE_FID
            1 => event.object = named(info).map(|(id, _)| id),
            // FAN_EVENT_INFO_TYPE_DFID_NAME, and the same of the old place
            2 | 10 => event.at = named(info),
            // FAN_EVENT_INFO_TYPE_NEW_DFID_NAME
            12 => event.to = named(info),
            _ => {}
        }
    }
    Some(event)
}

/// The handle in a record, and the name after it. None if the handle is of no known layout.
fn named(info: &[u8]) -> Option<NameAt> {
    /// After its own header and the id of the file system, the handle has a length, a type, and its bytes.
    const HANDLE: usize = 12;
    let length = word(info, HANDLE)? as usize;
    let kind = word(info, HANDLE + 4)?.cast_signed();
    let (handle, name) = info.get(HANDLE + 8..)?.split_at_checked(length)?;
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    Some((inode(kind, handle)?, name.get(..end)?.to_vec()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn info(kind: u8, handle: (i32, &[u8]), name: &[u8]) -> Vec<u8> {
        let mut info = vec![kind, 0, 0, 0];
        info.extend([7; 8]);
        info.extend((handle.1.len() as u32).to_ne_bytes());
        info.extend(handle.0.to_ne_bytes());
        info.extend([handle.1, name].concat());
        info.resize(info.len().next_multiple_of(4), 0);
        let length = info.len() as u16;
        info[2..4].copy_from_slice(&length.to_ne_bytes());
        info
    }

    fn record(mask: MaskFlags, infos: &[Vec<u8>]) -> Vec<u8> {
        let infos = infos.concat();
        let mut record = ((HEADER + infos.len()) as u32).to_ne_bytes().to_vec();
        record.extend([VERSION, 0]);
        record.extend((HEADER as u16).to_ne_bytes());
        record.extend(mask.bits().to_ne_bytes());
        record.extend((-1_i32).to_ne_bytes());
        record.extend(42_u32.to_ne_bytes());
        record.extend(infos);
        record
    }

    #[test]
    fn records_are_read_in_all_layouts() {
        let ext4 = [5_u32.to_ne_bytes(), [9; 4]].concat();
        let tmpfs = [[9; 4], 6_u32.to_ne_bytes(), 1_u32.to_ne_bytes()].concat();
        let xfs = [&(7_u64 << 33).to_ne_bytes()[..], &[9; 4]].concat();
        let btrfs = [&256_u64.to_ne_bytes()[..], &5_u64.to_ne_bytes(), &[9; 4]].concat();
        for (kind, handle, subvolume, number) in [
            (0x01, ext4, 0, 5),
            (0x01, tmpfs, 0, 6 | 1 << 32),
            (0x81, xfs, 0, 7 << 33),
            (0x4d, btrfs, 5, 256),
        ] {
            let id = FileId { subvolume, inode: number };
            let at = info(2, (kind, &handle), b"name\0");
            let infos = [at, info(1, (kind, &handle), b"")];
            let bytes = record(MaskFlags::FAN_CREATE | MaskFlags::FAN_ONDIR, &infos);
            let event = Event {
                pid: 42,
                object: Some(id),
                at: Some((id, b"name".to_vec())),
                is_directory: true,
                is_created: true,
                ..Event::default()
            };
            assert_eq!(parse(&[&*bytes, &*bytes].concat()), [event.clone(), event]);
        }
        let lost = parse(&record(MaskFlags::FAN_Q_OVERFLOW, &[]));
        assert_eq!(lost, [Event { pid: 42, is_lost: true, ..Event::default() }]);
    }

    #[test]
    fn a_cut_record_says_that_events_are_lost() {
        let bytes = record(MaskFlags::FAN_MODIFY, &[info(1, (1, &[0; 8]), b"")]);
        for end in 1..bytes.len() {
            assert!(parse(&bytes[..end])[0].is_lost, "{end}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_to_their_end(mut bytes: Vec<u8>, at in 0..80_usize, byte: u8) {
            prop_assert!(parse(&bytes).len() <= bytes.len());
            bytes = record(MaskFlags::FAN_RENAME, &[info(10, (1, &[1; 8]), b"a\0"), info(12, (1, &[2; 8]), b"b\0")]);
            let at = at % bytes.len();
            bytes[at] = byte;
            prop_assert!(parse(&bytes).len() <= bytes.len());
        }
    }
}
