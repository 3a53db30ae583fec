//! What a scan knows of an entry, and which entries it must not be.

use std::ffi::CString;
use std::io;

use crate::base::inode::{Identity, Links};
use crate::base::measure::{Kind, Mode};
use crate::base::path;
use crate::sys::ExactStat;
use crate::tree::{Child, Details};

/// What a scan knows of an entry: it tells it from another that has its name now, or in another scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownEntry {
    file_type: u16,
    identity: Option<Identity>,
    links: Links,
    /// None of a directory: any change in it changes its times.
    details: Option<Details>,
    fingerprint: Option<u32>,
}

impl KnownEntry {
    /// What the tree keeps of `child`.
    pub fn of(child: &Child<'_>) -> Self {
        let node = child.node();
        let is_directory = child.is_directory();
        Self {
            file_type: node.mode.file_type(),
            identity: node.inode.map(|inode| inode.identity),
            links: node.inode.map_or(Links::Alone, |inode| inode.links),
            details: node.inode.and_then(|inode| inode.details).filter(|_| !is_directory),
            fingerprint: node.fingerprint,
        }
    }

    /// Whether `other`, which another scan knows, is the same entry. It may have more links now, or fewer.
    pub fn is_same(&self, other: &Self) -> bool {
        *self == Self { links: self.links, ..*other }
    }

    pub(super) fn is_directory(&self) -> bool {
        Mode(self.file_type).kind() == Kind::Directory
    }

    /// Whether a directory was read completely.
    pub(super) fn is_complete(&self) -> bool {
        self.fingerprint.is_some()
    }

    /// Checks that `now` is what was scanned. A directory may have other content.
    pub(super) fn check(&self, now: &ExactStat) -> io::Result<()> {
        let Some(fingerprint) = self.fingerprint else {
            return Err(io::Error::other("it was not read completely"));
        };
        if self.links == Links::Unknown {
            return Err(io::Error::other("symlinks may lead to it"));
        }
        self.check_inode(now)?;
        let is_same = now.stat.fingerprint() == fingerprint;
        if is_same { Ok(()) } else { Err(io::Error::other(CHANGED)) }
    }

    /// Checks that `now` is the scanned directory, even if that was not read completely.
    pub(super) fn check_identity(&self, now: &ExactStat) -> io::Result<()> {
        if self.is_complete() { self.check(now) } else { self.check_inode(now) }
    }

    fn check_inode(&self, now: &ExactStat) -> io::Result<()> {
        let is_other = self.identity.is_some_and(|identity| {
            // A mount is 0 if the system does not tell.
            let (then, now_on) = (identity.mount, now.mount);
            let is_other_mount = then != 0 && now_on != 0 && then != now_on;
            is_other_mount || identity.on_any_mount() != now.stat.identity()
        });
        if is_other || self.file_type != now.stat.mode.file_type() {
            return Err(io::Error::other(CHANGED));
        }
        Ok(())
    }
}

pub(super) const CHANGED: &str = "it has changed since the scan";

/// `name` for a system call, if it can be the name of an entry.
pub(super) fn checked(name: &[u8]) -> io::Result<CString> {
    path::ensure_name(name, false).map_err(io::Error::other)?;
    CString::new(name).map_err(io::Error::other)
}

/// Whether `it` is on the mount and the device of `other`.
pub(super) fn is_beside(it: &ExactStat, other: &ExactStat) -> bool {
    (it.mount, it.stat.device) == (other.mount, other.stat.device)
}

/// Refuses what is on another mount, or on another device, than the directory `around` it.
pub(super) fn ensure_here(around: &ExactStat, it: &ExactStat) -> io::Result<()> {
    if it.stat.mount_point || it.mount != around.mount {
        return Err(io::Error::other("it is a mount point"));
    }
    // What is no directory may have a device number of its own: overlays do that.
    if it.is_directory() && it.stat.device != around.stat.device {
        return Err(io::Error::other("it is another subvolume or device"));
    }
    Ok(())
}
