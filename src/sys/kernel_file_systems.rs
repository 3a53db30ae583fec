//! File systems that show the kernel's own state: nothing in them takes space on a device or in memory that a user
//! could free. tmpfs, ramfs, hugetlbfs and devtmpfs hold real memory and are not among them.

/// The number that statfs(2) returns for each on Linux (linux/magic.h, 6.18), and the name that mount(8) uses.
pub const KERNEL_FILE_SYSTEMS: [(u32, &str); 19] = [
    (0x0000_9fa0, "proc"),
    (0x6265_6572, "sysfs"),
    (0x0027_e0eb, "cgroup"),
    (0x6367_7270, "cgroup2"),
    (0x6462_6720, "debugfs"),
    (0x7472_6163, "tracefs"),
    (0x7363_6673, "securityfs"),
    (0x6165_676c, "pstore"),
    (0xcafe_4a11, "bpf"),
    (0x6265_6570, "configfs"),
    // fs/fuse/control.c; fuse itself ends in 46.
    (0x6573_5543, "fusectl"),
    (0x4249_4e4d, "binfmt_misc"),
    (0xde5e_81e4, "efivarfs"),
    (0xf97c_ff8c, "selinuxfs"),
    (0x4341_5d53, "smackfs"),
    (0x6e73_6673, "nsfs"),
    (0x6759_6969, "rpc_pipefs"),
    (0x6e66_7364, "nfsd"),
    (0x5a3c_69f0, "apparmorfs"),
];

/// The name of the file system on which other file systems are mounted when they are used.
pub const AUTOMOUNT_NAME: &str = "autofs";
