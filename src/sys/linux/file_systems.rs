//! The known kinds of file systems, by the number that statfs(2) returns on Linux.

use crate::sys::mount_table::KERNEL_FILE_SYSTEMS;
use crate::sys::{Mount, MountContent, SharedSpace, Source, Storage};

/// The mount `id`, whose file system is of the kind with this number.
pub(super) fn mount(id: u64, number: u32) -> Mount {
    let (content, storage) = match number {
        AUTOMOUNT => (MountContent::Automount, Storage::Local),
        OVERLAY => (MountContent::Overlay, Storage::Local),
        PROCESS => (MountContent::Data, Storage::Process),
        number if is_synthetic(number) => (MountContent::Synthetic, Storage::Local),
        number if REMOTE.contains(&number) => (MountContent::Data, Storage::Remote),
        _ => (MountContent::Data, Storage::Local),
    };
    let (lists_inodes, end, sharing) = tested(number);
    Mount { id, source: Source::Native, content, storage, lists_inodes, end, sharing }
}

fn is_synthetic(number: u32) -> bool {
    KERNEL_FILE_SYSTEMS.iter().any(|(known, _)| *known == number)
}

/// What is known of the file systems that were tested, by number:
///
/// * Whether listings give the same inode number as stat(2), except for directories. Overlays and FUSE may give another
///   number.
/// * The position at which listings end, if no entry is ever at that position. After the entry that leads to it, no
///   further call is needed. A buffer that is not full would prove nothing: getdents64(2) stops early for a signal.
///   From fs/ext4/hash.c and fs/libfs.c (6.18). On ext4 without dir_index, and in older tmpfs, listings end elsewhere.
///   In some older tmpfs, one entry can have this position: the one that was made after two thousand million others in
///   the same directory.
/// * Whether files may share space, and FIEMAP tells which parts of a file do; or never, because there are no reflinks,
///   snapshots and deduplication. bcachefs is not here, because it is not in every kernel.
fn tested(number: u32) -> (bool, Option<u64>, SharedSpace) {
    match number {
        // ext2, ext3, ext4
        0x0000_ef53 => (true, Some(i64::MAX as u64), SharedSpace::Never),
        // tmpfs
        0x0102_1994 => (true, Some(i32::MAX as u64), SharedSpace::Never),
        // xfs, which may share unless it was made without reflink, and btrfs
        0x5846_5342 | 0x9123_683e => (true, None, SharedSpace::Mapped),
        // vfat, exfat
        0x0000_4d44 | 0x2011_bab0 => (false, None, SharedSpace::Never),
        _ => (false, None, SharedSpace::Unknown),
    }
}

/// File systems on another machine. Numbers from statfs(2) and linux/magic.h (6.18). Lustre, GPFS, BeeGFS and PanFS
/// are not in the kernel; their numbers are from GNU coreutils' stat.
const REMOTE: [u32; 13] = [
    0x0000_6969, // nfs
    0x0000_517b, // smb
    0xff53_4d42, // cifs
    0xfe53_4d42, // smb2
    0x00c3_6400, // ceph
    0x5346_414f, // afs
    0x6b41_4653, // kafs
    0x0102_1997, // 9p
    0x7375_7245, // coda
    0x0bd0_0bd0, // lustre
    0x4750_4653, // gpfs
    0x1983_0326, // beegfs
    0xaad7_aaea, // panfs
];

/// fuse, from linux/magic.h.
const PROCESS: u32 = 0x6573_5546;

/// overlayfs, from linux/magic.h.
const OVERLAY: u32 = 0x794c_7630;

/// autofs, from linux/magic.h.
const AUTOMOUNT: u32 = 0x187;

#[cfg(test)]
mod tests {
    use super::*;

    /// fusectl and fuse differ in one digit. Mistaking one for the other would lose whole mounts.
    #[test]
    fn what_users_store_on_is_not_synthetic() {
        for (name, number) in [
            ("ext4", 0xef53),
            ("xfs", 0x5846_5342),
            ("btrfs", 0x9123_683e),
            ("zfs", 0x2fc1_2fc1),
            ("f2fs", 0xf2f5_2010),
            ("vfat", 0x4d44),
            ("exfat", 0x2011_bab0),
            ("fuse", 0x6573_5546),
            ("nfs", 0x6969),
            ("smb2", 0xfe53_4d42),
            ("ceph", 0x00c3_6400),
            ("9p", 0x0102_1997),
            ("overlay", 0x794c_7630),
            ("squashfs", 0x7371_7368),
            ("tmpfs", 0x0102_1994),
            ("ramfs", 0x8584_58f6),
            ("hugetlbfs", 0x9584_58f6),
        ] {
            assert!(!is_synthetic(number) && number != AUTOMOUNT, "{name}");
        }
    }
}
