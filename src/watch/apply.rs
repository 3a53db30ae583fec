//! Applies events to the table and the places.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::io;

use super::*;

/// No path that is longer is given to the system (linux/limits.h, PATH_MAX).
const LONGEST: usize = 4_000;

impl Watch {
    /// Applies an event of a file system. Each entry that was `seen` since is known already. Returns the entry if it was
    /// not found.
    pub(super) fn apply(
        &mut self,
        way: usize,
        event: Event,
        seen: &mut BTreeSet<Key>,
    ) -> Option<(Key, Pending)> {
        if event.is_lost {
            self.is_lost = true;
            self.to_scan.extend(self.ways[way].top);
            return None;
        }
        let place = event.at.as_ref().and_then(|(id, _)| self.key(way, *id));
        let directory = place.and_then(|key| self.table.number(key));
        let name = event.at.as_ref().map_or(&[][..], |(_, name)| name);
        // A directory itself is `.` in itself.
        let object =
            if name == b"." { place } else { event.object.and_then(|id| self.key(way, id)) };
        if let Some((to, new_name)) = &event.to {
            let to = self.key(way, *to).and_then(|key| self.table.number(key));
            self.renamed(way, &event, directory, to, new_name, seen);
            return None;
        }
        if event.is_freed
            && let Some(key) = object
        {
            self.remove(key, None, event.pid);
            // A new inode may have its number at once.
            seen.remove(&key);
        }
        let Some(directory) = directory else {
            match place.filter(|_| self.ways[way].is_whole) {
                // If it is there at the next tick, all of it has to be scanned.
                Some(key) if self.unknown.len() < MOST_PENDING => {
                    self.unknown.insert(key, way);
                }
                // An inode that is gone has no directory.
                _ => self.ways[way].others += u64::from(event.at.is_some()),
            }
            return None;
        };
        if name == b"." {
            return None;
        }
        let is_new = event.is_created || event.is_changed;
        let is_there =
            is_new && self.look_once(way, directory, name, event.object, event.pid, seen);
        if event.is_deleted
            && !is_there
            // Where it was seen since, that is newer.
            && let Some(key) = object.filter(|key| !seen.contains(key))
        {
            self.unlink(key, directory, &event);
        }
        if event.is_created || event.is_deleted {
            self.look_at_directory(directory, event.pid, seen);
        }
        let missed = object.filter(|_| is_new && !is_there)?;
        let (name, pid, tick) = (name.to_vec(), event.pid, self.tick);
        Some((missed, Pending { directory, name, pid, tick }))
    }

    fn renamed(
        &mut self,
        way: usize,
        event: &Event,
        from: Option<u32>,
        to: Option<u32>,
        name: &[u8],
        seen: &mut BTreeSet<Key>,
    ) {
        let object = event.object.and_then(|id| self.key(way, id));
        let known = object.filter(|_| event.is_directory).and_then(|key| self.table.number(key));
        match (to, known) {
            (None, _) if from.is_none() => self.ways[way].others += 1,
            // Its content is not known until its old place is listed.
            (None, _) if event.is_directory => self.to_scan.extend(from),
            (None, _) => {
                let known = object.and_then(|key| Some((key, self.table.get(key)?)));
                match known {
                    // Another name of it may still be below PATH.
                    Some((key, Entry { links: 2.., .. })) => self.miss(key),
                    Some((key, _)) => self.remove(key, from, event.pid),
                    None => {}
                }
            }
            (Some(to), Some(_)) => {
                if object.and_then(|key| self.table.add(key, to, name)).is_none() {
                    self.to_scan.insert(0);
                }
            }
            (Some(to), None) => {
                if let Some(key) = object {
                    seen.remove(&key);
                }
                if !self.look_once(way, to, name, event.object, event.pid, seen)
                    && let Some(key) = object
                {
                    self.miss(key);
                }
                // It comes with its content.
                let number = object.and_then(|key| self.table.number(key));
                self.to_scan.extend(number.filter(|_| event.is_directory));
            }
        }
        for directory in [from, to].into_iter().flatten() {
            self.look_at_directory(directory, event.pid, seen);
        }
    }

    fn key(&self, way: usize, id: FileId) -> Option<Key> {
        let device = *self.ways[way].devices.get(&id.subvolume)?;
        Some(Key { device, inode: id.inode })
    }

    /// Looks at an entry of a directory, unless that was done. Returns whether it is still the same inode.
    fn look_once(
        &mut self,
        way: usize,
        directory: u32,
        name: &[u8],
        object: Option<FileId>,
        pid: u32,
        seen: &mut BTreeSet<Key>,
    ) -> bool {
        let Some(id) = object else { return false };
        let key = match self.key(way, id) {
            Some(key) => key,
            // A new subvolume.
            None => {
                let Ok(stat) = self.stat(directory, name) else { return false };
                if stat.inode != id.inode {
                    return false;
                }
                let device = self.table.device(stat.device);
                self.ways[way].add_device(id.subvolume, device);
                Key { device, inode: id.inode }
            }
        };
        if !seen.insert(key) {
            // Programs often write to a name, rename or link that, and remove it.
            if let Some(it) = self.pending.get_mut(&key) {
                (it.directory, it.name) = (directory, name.to_vec());
            }
            return true;
        }
        let is_there = self.look(directory, name, key, pid);
        if !is_there {
            seen.remove(&key);
        } else if self.pending.len() < MOST_PENDING || self.pending.contains_key(&key) {
            let (name, tick) = (name.to_vec(), self.tick);
            self.pending.insert(key, Pending { directory, name, pid, tick });
        }
        is_there
    }

    fn look_at_directory(&mut self, directory: u32, pid: u32, seen: &mut BTreeSet<Key>) {
        let key = self.table.key(directory);
        if seen.insert(key) && !self.look(directory, b".", key, pid) {
            seen.remove(&key);
        }
    }

    /// Looks at an entry of a directory, which `pid` changed. Returns whether it is the inode that is meant.
    pub(super) fn look(&mut self, directory: u32, name: &[u8], key: Key, pid: u32) -> bool {
        let Ok(stat) = self.stat(directory, name) else { return false };
        if stat.inode != key.inode || Some(stat.device) != self.table.device_number(key) {
            return false;
        }
        let mut place = directory;
        if stat.is_directory() && name != b"." {
            let Some(number) = self.table.add(key, directory, name) else { return false };
            place = number;
        }
        let links = if stat.is_directory() { 1 } else { stat.links };
        let entry = Entry { size: stat.blocks.saturating_mul(512), directory: place, links };
        self.put(key, Some(entry), pid);
        self.unseen.remove(&key);
        true
    }

    /// A name of an inode is gone. If the table has the inode still, it was not freed: it has other names, or a process has
    /// it open.
    fn unlink(&mut self, key: Key, directory: u32, event: &Event) {
        if self.table.get(key).is_none() {
            return;
        }
        if event.is_directory {
            // It has no other names.
            self.remove(key, Some(directory), event.pid);
            return;
        }
        if self.unlinked.len() < MOST_PENDING {
            self.unlinked.insert(key, (directory, event.pid));
        }
        // If it was looked at by this name, it may have changed since.
        if let Some(it) = self.pending.remove(&key) {
            if self.look(it.directory, &it.name, key, it.pid) {
                self.pending.insert(key, it);
            } else {
                self.miss(key);
            }
        }
    }

    /// An inode changed, and was not found by its last name.
    pub(super) fn miss(&mut self, key: Key) {
        if self.table.get(key).is_some() {
            self.unseen.insert(key);
        }
    }

    /// Removes these inodes, which were deleted and are open. Each other inode that lost a name has another one below
    /// PATH, if that is all of the file system, and if these are all that are open. Otherwise a scan tells.
    pub(super) fn remove_open(&mut self, open: &[Identity], is_all: bool) {
        let mut unlinked = mem::take(&mut self.unlinked);
        // On an overlay, an open file has another device than below it.
        let mut elsewhere = BTreeSet::new();
        for inode in open {
            let Some(device) = self.table.known_device(inode.device) else {
                elsewhere.insert(inode.number);
                continue;
            };
            let key = Key { device, inode: inode.number };
            if let Some(entry) = self.table.get(key) {
                let (directory, pid) = unlinked.remove(&key).unwrap_or((entry.directory, 0));
                self.remove(key, Some(directory), pid);
            }
        }
        for (key, (directory, pid)) in unlinked {
            if elsewhere.contains(&key.inode) {
                self.remove(key, Some(directory), pid);
            } else if !is_all || !self.ways.iter().any(|way| way.has(key.device) && way.is_whole) {
                self.miss(key);
            }
        }
    }

    /// Has the file systems scanned again on which an inode changed by a name that is gone. If it is perhaps only held open,
    /// it waits for the look at open files.
    pub(super) fn scan_unseen(&mut self) {
        self.unseen.retain(|key| {
            let is_waiting = self.unlinked.contains_key(key);
            if !is_waiting {
                let way = self.ways.iter().find(|way| way.has(key.device));
                self.to_scan.extend(way.and_then(|way| way.top));
            }
            is_waiting
        });
    }

    /// An inode is gone, and its last name was in `directory`, if that is known.
    fn remove(&mut self, key: Key, directory: Option<u32>, pid: u32) {
        if let Some(entry) =
            self.table.get(key).zip(directory).map(|(it, directory)| Entry { directory, ..it })
        {
            // A directory has a line of its own no more.
            self.table.put(key, Some(entry));
        }
        self.put(key, None, pid);
        if let Some(number) = self.table.number(key) {
            self.forget(number);
        }
        self.pending.remove(&key);
        self.unlinked.remove(&key);
        self.unseen.remove(&key);
        self.unknown.remove(&key);
    }

    /// A directory is gone.
    pub(super) fn forget(&mut self, number: u32) {
        if let Some(parent) = self.table.forget(number) {
            self.places.fold(number, parent);
            if self.to_scan.remove(&number) {
                self.to_scan.insert(parent);
            }
        }
    }

    /// Changes what is known of an inode, and credits that to the process `pid`.
    pub(super) fn put(&mut self, key: Key, entry: Option<Entry>, pid: u32) {
        let before = self.table.put(key, entry);
        self.credit(before, entry, pid);
    }

    pub(super) fn credit(&mut self, before: Option<Entry>, now: Option<Entry>, pid: u32) {
        let size =
            |entry: Option<Entry>| entry.map_or(0, |it| i64::try_from(it.size).unwrap_or(i64::MAX));
        let grown = size(now).saturating_sub(size(before));
        let Some(Entry { directory, .. }) = now.or(before).filter(|_| grown != 0) else { return };
        let writer = self.writer(pid);
        self.places.credit(directory, writer, grown, self.tick);
        self.size = self.size.saturating_add(grown);
        // On overlays, files have devices of their own.
        let device = self.table.key(directory).device;
        let is_of = |way: &&mut Way| way.has(device);
        if let Some(way) = self.ways.iter_mut().find(is_of) {
            way.explained = way.explained.saturating_add(grown);
        }
    }

    /// The attributes of the entry called `name` in a directory, through the handle of its root.
    fn stat(&self, directory: u32, name: &[u8]) -> io::Result<Stat> {
        let (root, names) = self.table.below_root(directory);
        let root = self.roots.iter().find(|(path, _)| path.to_bytes() == root);
        let (_, handle) = root.ok_or_else(sys::not_found)?;
        let (mut opened, mut path) = (None::<Handle>, Vec::new());
        for part in names.into_iter().chain([name]) {
            if path.len() + part.len() > LONGEST {
                let from = opened.as_ref().unwrap_or(handle);
                opened = Some(from.open_at(&CString::new(path)?, Symlinks::Stay)?);
                path = Vec::new();
            }
            path::join(&mut path, part);
        }
        let from = opened.as_ref().unwrap_or(handle);
        from.stat_at(&CString::new(path)?, Symlinks::Stay, Query::default())
    }

    /// The number of a process among writers. It is looked at when it is first seen, and again after a while: another may
    /// have its number.
    fn writer(&mut self, pid: u32) -> WriterId {
        const AGAIN: u64 = 8;
        if pid == 0 {
            return 0;
        }
        if let Some((id, last)) = self.by_pid.get_mut(&pid) {
            let (id, before) = (*id, std::mem::replace(last, self.tick));
            if before + AGAIN >= self.tick {
                return id;
            }
            let now = sys::writer(pid);
            let known = self.writers.get(id as usize);
            if now.process.command.is_empty() || known == Some(&now) {
                return id;
            }
        }
        if self.writers.len() >= MOST_WRITERS {
            return 0;
        }
        self.writers.push(sys::writer(pid));
        let id = (self.writers.len() - 1) as WriterId;
        self.by_pid.insert(pid, (id, self.tick));
        id
    }

    /// The name of a user.
    pub(super) fn user(&mut self, id: Option<u32>) -> Option<String> {
        let name = |id: &u32| Some(sys::user_name(*id).unwrap_or_else(|| id.to_string()));
        id.and_then(|id| self.users.entry(id).or_insert_with_key(name).clone())
    }
}
