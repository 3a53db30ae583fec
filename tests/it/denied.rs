//! Runs code for which the kernel refuses one system call (seccomp(2)), as an old kernel or a full file system would.

use std::collections::BTreeMap;

use nix::libc::{
    EINVAL, EIO, ENOSPC, ENOSYS, SYS_mkdirat, SYS_openat2, SYS_renameat2, SYS_unlinkat,
};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

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
