//! File systems that are mounted or unmounted below PATH while weigh watches.

use super::*;
use crate::base::escape::escape;
use crate::sys::MountTable;

/// Later mounts are followed without a sentence.
const MOST_SAID: usize = 8;

impl Watch {
    /// Follows file systems that were mounted since the last look, and no longer those that are gone. Their content is no
    /// growth.
    pub(super) fn look_at_mounts(&mut self) {
        let now = sys::mount_list().unwrap_or_default();
        if now == self.mounts {
            return;
        }
        self.mounts = now;
        let table = MountTable::read();
        let is_root = |way: &Way| self.roots.iter().any(|(path, _)| *path == way.point);
        let is_gone = |way: &&mut Way| !way.is_gone && table.point(way.mount).is_none();
        let mut changed = Vec::new();
        // A root that is gone is told as such.
        let gone = self.ways.iter_mut().filter(|way| !is_root(way)).filter(is_gone);
        for way in gone {
            way.is_gone = true;
            // Each user may have few of them (fanotify/max_user_groups).
            way.events = Err("it is unmounted".to_owned());
            changed.push((way.point.to_bytes().to_vec(), "unmounted"));
        }
        let paths: Vec<_> = self.roots.iter().map(|(path, _)| path.to_bytes().to_vec()).collect();
        for way in Way::all(&paths, self.options.one_file_system, &self.ways) {
            changed.push((way.point.to_bytes().to_vec(), "mounted"));
            self.ways.push(way);
        }
        for (path, what) in changed {
            let parent = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0).max(1);
            let Some(number) = self.number_at(path.get(..parent).unwrap_or_default()) else {
                continue;
            };
            self.to_scan.insert(number);
            if self.mounted.len() < MOST_SAID {
                self.mounted.push(format!("{} was {what} after weigh began", escape(&path)));
            }
        }
    }

    /// The number of the directory that is at `path` now.
    fn number_at(&mut self, path: &[u8]) -> Option<u32> {
        let entry = Source::default().look(&CString::new(path).ok()?).ok()?;
        let identity = entry.identity().ok()?;
        let device = self.table.device(identity.device);
        self.table.number(Key { device, inode: identity.number })
    }

    /// Whether an inode is on a file system whose content came or went as a whole.
    pub(super) fn is_of_mount(&self, key: Key) -> bool {
        self.ways.iter().any(|way| (way.is_gone || !way.has_begun()) && way.has(key.device))
    }
}
