//! File systems of their own, and what they have free.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A file system of its own at a temporary directory, for as long as this is there.
pub struct Mounted {
    path: PathBuf,
    /// What is free and what is used in it, together, in bytes.
    whole: u64,
    /// What it is mounted on, if that is to go too.
    _top: Option<tempfile::TempDir>,
}

impl Mounted {
    pub fn tmpfs() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut mounted = Self::tmpfs_at(dir.path());
        mounted._top = Some(dir);
        mounted
    }

    pub fn tmpfs_at(path: &Path) -> Self {
        Self::tmpfs_of("256m", path)
    }

    pub fn tmpfs_of(size: &str, path: &Path) -> Self {
        let args = ["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"];
        let args = args.map(std::ffi::OsString::from);
        succeed("mount", args.into_iter().chain([path.into()]));
        Self::at(path.to_owned(), None)
    }

    /// An overlay of two directories.
    pub fn overlay_at(path: &Path, [one, two]: [&Path; 2]) -> Self {
        let lower = format!("lowerdir={}:{}", one.display(), two.display());
        let args = ["-t", "overlay", "-o", &lower, "overlay"].map(std::ffi::OsString::from);
        succeed("mount", args.into_iter().chain([path.into()]));
        Self::at(path.to_owned(), None)
    }

    /// What was just mounted at `path`.
    fn at(path: PathBuf, top: Option<tempfile::TempDir>) -> Self {
        let mut mounted = Self { path, whole: 0, _top: top };
        mounted.whole = free(&mounted.path) + mounted.used();
        mounted
    }

    /// What is used in it, in bytes.
    fn used(&self) -> u64 {
        synced(&self.path);
        weight_of(std::slice::from_ref(&self.path))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it has free, in bytes, as soon as nothing that was removed is open any more: a child that another test has
    /// just forked holds what is open here, until it runs its program.
    pub fn free(&self) -> u64 {
        self.whole - self.used()
    }

    /// Asserts that it comes to have so much free, in bytes.
    pub fn assert_free(&self, expected: u64, what: &str) {
        for _ in 0..500 {
            if free(&self.path) == expected {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(free(&self.path), expected, "{what}");
    }

    pub fn ext4() -> Self {
        Self::image("mkfs.ext4", 256 << 20)
    }

    pub fn image(mkfs: &str, size: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let image = dir.path().with_extension("image");
        fs::File::create(&image).unwrap().set_len(size).unwrap();
        succeed(mkfs, ["-q".into(), image.clone().into()]);
        succeed("mount", ["-o".into(), "loop".into(), image.clone().into(), dir.path().into()]);
        fs::remove_file(image).unwrap();
        Self::at(dir.path().to_owned(), Some(dir))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Something may be open in it for a moment longer.
        succeed("umount", ["-l".into(), self.path.clone().into()]);
    }
}

pub fn succeed(program: &str, args: impl IntoIterator<Item = std::ffi::OsString>) {
    let status = std::process::Command::new(program).args(args).status().unwrap();
    assert!(status.success(), "{program}: {status}");
}

/// What the file system at `path` has free, in bytes.
pub fn free(path: &Path) -> u64 {
    let space = rustix::fs::fstatvfs(synced(path)).unwrap();
    space.f_bfree * space.f_frsize
}

/// The directory at `path`, after its file system was written to its device: before, files may still get blocks.
fn synced(path: &Path) -> fs::File {
    let directory = fs::File::open(path).unwrap();
    rustix::fs::syncfs(&directory).unwrap();
    directory
}

/// What `find` says: each inode below `paths` once.
pub fn weight_of(paths: &[PathBuf]) -> u64 {
    let mut inodes = BTreeMap::new();
    let mut ahead = paths.to_vec();
    while let Some(path) = ahead.pop() {
        let stat = fs::symlink_metadata(&path).unwrap();
        inodes.insert(stat.ino(), stat.blocks() * 512);
        if stat.is_dir() {
            ahead.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    inodes.values().sum()
}
