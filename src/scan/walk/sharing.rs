//! What files share with others, asked only with `--frees`.

use std::collections::HashMap;
use std::ffi::CStr;
use std::io;
use std::sync::{Arc, Mutex};

use super::task::with_patience;
use super::{Walk, lock};
use crate::base::inode::{Identity, Links};
use crate::base::measure::Kind;
use crate::scan::stats::{SharingStats, Unasked};
use crate::sys::{self, Handle, Mapped, Mount, MountTable, SharedSpace};
use crate::tree::LEAST_ASKED;
use crate::tree::tally::{Entry, Tally};
use crate::tree::total::{ExtentCount, Extents, MaybeShared, SharingFile, Subtotal};

/// What is known of all files of a walk.
#[derive(Debug, Default)]
pub(super) struct SharingAnswers {
    extents: Arc<ExtentCount>,
    /// What files with several links said, and how many of these were not found yet. Locked for each link, and not
    /// while a file is asked.
    linked: Mutex<HashMap<Identity, (SharingFile, u32)>>,
    /// Files that were not asked: small ones, and others. Each such file locks one.
    small: Mutex<Unasked>,
    unknown: Mutex<Unasked>,
}

impl SharingAnswers {
    /// What was not found out.
    pub(super) fn stats(&self) -> SharingStats {
        SharingStats {
            small: *lock(&self.small),
            unknown: *lock(&self.unknown),
            has_too_many_extents: self.extents.is_exceeded(),
        }
    }

    /// What a file said at another link.
    fn known(&self, identity: Identity) -> Option<SharingFile> {
        let mut linked = lock(&self.linked);
        let (file, left) = linked.get_mut(&identity)?;
        let again = SharingFile { extents: file.extents.again(), ..*file };
        *left = left.saturating_sub(1);
        if *left == 0 {
            linked.remove(&identity);
        }
        Some(again)
    }

    /// Remembers what a file with so many `links` said. Returns whether it is the first to say so.
    ///
    /// If there are too many extents, files that have any are asked at each link.
    fn remember(&self, identity: Identity, file: &SharingFile, links: Links) -> bool {
        if file.extents.listed() > 0 && self.extents.is_exceeded() {
            return true;
        }
        let mut linked = lock(&self.linked);
        let others = if let Links::Of(links) = links { links.saturating_sub(1) } else { 0 };
        linked.insert(identity, (file.clone(), others)).is_none()
    }
}

impl<T: Tally> Walk<T> {
    /// Adds what an entry may share to `subtotal`, that of its directory. The entry is the one of this name in
    /// `directory`, or a root at this path.
    #[cold]
    #[inline(never)]
    pub(super) fn add_sharing(
        &self,
        subtotal: &mut Subtotal<T::Part>,
        mount: Mount,
        directory: Option<&Handle>,
        name: &CStr,
        entry: &mut Entry<'_>,
    ) {
        self.options.rules.identify(entry);
        let may_share = mount.sharing != SharedSpace::Never
            && entry.sums.all.disk > 0
            && entry.stat.mode.kind() == Kind::File;
        let file = may_share.then(|| self.sharing_of(mount, directory, name, entry));
        subtotal.add_sharing(entry, file);
    }

    /// What a file may share.
    fn sharing_of(
        &self,
        mount: Mount,
        directory: Option<&Handle>,
        name: &CStr,
        entry: &Entry<'_>,
    ) -> SharingFile {
        let SharingAnswers { extents, small, unknown, .. } = &self.sharing;
        let size = entry.sums.all.disk;
        if let Some(file) = entry.linked().and_then(|identity| self.sharing.known(identity)) {
            return file;
        }
        let answer = match size < LEAST_ASKED && mount.sharing == SharedSpace::Mapped {
            true => Err(small),
            false => self.ask(mount, directory, name, entry).map_err(|_| unknown),
        };
        let unasked = answer.as_ref().err().copied();
        // What is not known is in doubt as a whole.
        let file = answer.unwrap_or_else(|_| {
            let maybe_shared = MaybeShared { size, in_extents: 0 };
            SharingFile { maybe_shared, extents: Extents::new(extents) }
        });
        let is_first = entry
            .linked()
            .is_none_or(|identity| self.sharing.remember(identity, &file, entry.links));
        if let Some(unasked) = unasked.filter(|_| is_first) {
            let mut unasked = lock(unasked);
            unasked.files += 1;
            unasked.bytes = unasked.bytes.saturating_add(size);
        }
        file
    }

    /// Asks a file for the extents that it shares.
    fn ask(
        &self,
        mount: Mount,
        directory: Option<&Handle>,
        name: &CStr,
        entry: &Entry<'_>,
    ) -> io::Result<SharingFile> {
        const UNKNOWN: io::ErrorKind = io::ErrorKind::Unsupported;
        if mount.sharing != SharedSpace::Mapped {
            return Err(UNKNOWN.into());
        }
        // Subvolumes of btrfs have devices of their own, and share the space of one file system.
        let mounts = self.mounts.get_or_init(MountTable::read);
        let file_system = mounts.file_system(mount.id).ok_or(UNKNOWN)?;
        with_patience(self, || {
            let mut extents = Extents::new(&self.sharing.extents);
            let Mapped { own, unplaced } =
                sys::map_extents(directory, name, entry.stat, |extent| {
                    extents.add(file_system, extent);
                })?;
            let size = entry.sums.all.disk.saturating_sub(own);
            let maybe_shared = MaybeShared { size, in_extents: size.saturating_sub(unplaced) };
            Ok(SharingFile { maybe_shared, extents })
        })
    }
}
