//! Runs code for which the kernel refuses one system call (seccomp(2)), as an old kernel or a full file system would.

use std::collections::BTreeMap;
use std::process::Command;

use nix::libc::{
    EINVAL, EIO, ENOSPC, ENOSYS, EPERM, SYS_fadvise64, SYS_flock, SYS_fstatfs, SYS_getrusage,
    SYS_lgetxattr, SYS_mkdirat, SYS_open_tree, SYS_openat2, SYS_prlimit64, SYS_renameat2,
    SYS_statfs, SYS_statx, SYS_unlinkat,
};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

use crate::document::Document;
use crate::fixture::Fixture;
use crate::run::weigh;

/// Runs `body` as on a kernel without openat2(2).
pub fn without_openat2<T: Send>(body: impl FnOnce() -> T + Send) -> T {
    denied(SYS_openat2, ENOSYS, body)
}

/// Runs `body` as on a file system without room for another directory.
pub fn without_room<T: Send>(body: impl FnOnce() -> T + Send) -> T {
    denied(SYS_mkdirat, ENOSPC, body)
}

/// Runs `body` as on a file system without a move that never replaces, such as NFS and many in FUSE.
pub fn without_safe_move<T: Send>(body: impl FnOnce() -> T + Send) -> T {
    denied(SYS_renameat2, EINVAL, body)
}

/// Runs `body` as on a file system that removes nothing.
pub fn without_removal<T: Send>(body: impl FnOnce() -> T + Send) -> T {
    denied(SYS_unlinkat, EIO, body)
}

/// Runs `body` in a thread of its own, in which `call` fails with `error`.
fn denied<T: Send>(call: i64, error: i32, body: impl FnOnce() -> T + Send) -> T {
    let action = SeccompAction::Errno(error as u32);
    let arch = std::env::consts::ARCH.try_into().unwrap();
    let rules = BTreeMap::from([(call, Vec::new())]);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, arch).unwrap();
    let filter: BpfProgram = filter.try_into().unwrap();
    let run = || {
        apply_filter(&filter).unwrap();
        body()
    };
    std::thread::scope(|scope| scope.spawn(run).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Old kernels have no statx(2), and the filter of an old Docker refuses it. weigh found nothing there.
#[test]
fn without_statx_totals_are_those_of_du() {
    let fixture = Fixture::of_each_kind().file("top/.git/x", 9000).symlink("b", "top/lost");
    let top = fixture.path();
    let du = Command::new("du").args(["-sB1", "top"]).current_dir(top).output().unwrap();
    let size: u64 =
        String::from_utf8_lossy(&du.stdout).split('\t').next().unwrap().parse().unwrap();
    for flags in
        ["-j", "-j -x", "-j -L", "-j -F", "-j -t", "-j --by owner", "-j --frees", "-j -m m"]
    {
        let run = || weigh(flags).arg("top").within(top).run();
        let usual = run();
        for error in [EPERM, ENOSYS] {
            let shown = denied(SYS_statx, error, run);
            assert_eq!(shown.complaint(), usual.complaint(), "{flags}, {error}");
            assert_eq!(shown.stdout, usual.stdout, "{flags}, {error}");
        }
        if matches!(flags, "-j" | "-j -x") {
            assert_eq!(Document::parse(&usual.stdout).root().size, size, "{flags}");
        }
    }
}

/// Whatever else a filter refuses, the answer is the same, or there is an error.
#[test]
fn a_refused_call_is_no_silent_loss() {
    let fixture = Fixture::of_each_kind();
    let top = fixture.path();
    for call in [
        SYS_fadvise64,
        SYS_flock,
        SYS_fstatfs,
        SYS_getrusage,
        SYS_lgetxattr,
        SYS_open_tree,
        SYS_openat2,
        SYS_prlimit64,
        SYS_renameat2,
        SYS_statfs,
        SYS_statx,
    ] {
        for flags in ["-j", "-j -L", "-j --frees", "-j -s -t"] {
            let run = || weigh(flags).arg("top").within(top).run();
            let usual = run();
            for error in [EPERM, ENOSYS] {
                let shown = denied(call, error, run);
                let is_same = shown.stdout == usual.stdout;
                let is_told = shown.complaint() != usual.complaint();
                assert!(is_same || is_told, "{call}, {error}, {flags}");
                assert!(matches!(shown.code(), 0 | 1), "{call}, {error}, {flags}");
            }
        }
    }
}
