//! What files share with others, asked only if it is to be computed what deleting gives back.

use std::ffi::CStr;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Walk;
use super::task::with_patience;
use crate::gear::Unasked;
use crate::measure::Kind;
use crate::sys::{self, Handle, Mapped, Mount, MountTable, SharedSpace};
use crate::tally::{Entry, Tally};
use crate::total::{Doubtful, Extents, Subtotal};

/// Smaller files are not asked: in a home directory, 3.6% of the files that are not smaller have 78% of the bytes.
const LEAST_ASKED: u64 = 64 << 10;

/// Counts files that are not asked. Relaxed: they are read when the walk is over.
#[derive(Debug, Default)]
pub(super) struct UnaskedCount {
    files: AtomicU64,
    bytes: AtomicU64,
}

impl UnaskedCount {
    fn add(&self, bytes: u64) {
        self.files.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn sum(&self) -> Unasked {
        let [files, bytes] = [&self.files, &self.bytes].map(|count| count.load(Ordering::Relaxed));
        Unasked { files, bytes }
    }
}

impl<T: Tally> Walk<T> {
    /// Adds what an entry may share to `subtotal`, that of its directory. The entry is the one of this name in an open
    /// directory; a root is in none, and not asked.
    ///
    /// A file is asked at each of its links, so that the result does not depend on which link is found first.
    #[cold]
    #[inline(never)]
    pub(super) fn share(
        &self,
        subtotal: &mut Subtotal<T::Part>,
        mount: Mount,
        place: Option<(&Handle, &CStr)>,
        entry: &mut Entry<'_>,
    ) {
        self.rules.identify(entry);
        let (mut file, mut extents) = (Doubtful::default(), Extents::default());
        let may_share = mount.sharing != SharedSpace::Never;
        if may_share && entry.size > 0 && entry.stat.mode.kind() == Kind::File {
            // What is not known is in doubt as a whole.
            file.size = entry.size;
            let is_small = entry.size < LEAST_ASKED && mount.sharing == SharedSpace::Mapped;
            match if is_small { None } else { Some(self.ask(mount, place, entry, &mut extents)) } {
                None => self.small.add(entry.size),
                Some(Ok(Mapped { own, unplaced })) => {
                    file.size = entry.size.saturating_sub(own);
                    file.in_extents = file.size.saturating_sub(unplaced);
                }
                Some(Err(_)) => {
                    extents = Extents::default();
                    self.unknown.add(entry.size);
                }
            }
        }
        subtotal.share(entry, file, extents);
    }

    /// Asks a file for the extents that it shares.
    fn ask(
        &self,
        mount: Mount,
        place: Option<(&Handle, &CStr)>,
        entry: &Entry<'_>,
        extents: &mut Extents,
    ) -> io::Result<Mapped> {
        let unknown = || io::Error::from(io::ErrorKind::Unsupported);
        if mount.sharing != SharedSpace::Mapped {
            return Err(unknown());
        }
        // Subvolumes of btrfs have devices of their own, and share the space of one file system.
        let mounts = self.mounts.get_or_init(MountTable::read);
        let file_system = mounts.file_system(mount.id).ok_or_else(unknown)?;
        let (directory, name) = place.ok_or_else(unknown)?;
        with_patience(self, || {
            *extents = Extents::default();
            sys::map(directory, name, entry.stat, |extent| extents.add(file_system, extent))
        })
    }
}
