//! Scanning again, where no event says what changed; and files without a name that are held open.

use std::sync::atomic::AtomicBool;

use super::*;
use crate::sys::MountTable;

impl Watch {
    /// Scans what has to be scanned again, if enough time has passed since the last time. At the `last` tick, scans at
    /// once.
    pub(super) fn scan_again(&mut self, is_last: bool) {
        for way in &mut self.ways {
            way.look();
            let (_, unexplained) = way.change().unwrap_or_default();
            let is_seen = (unexplained - way.known.0).abs() < UNSEEN || way.others != way.known.1;
            // Writing to a mapped file makes no event.
            if !way.is_gone && (way.events.is_err() || !is_seen && way.is_whole) {
                self.to_scan.extend(way.top);
            }
            if way.others != way.known.1 {
                way.known = (unexplained, way.others);
            }
        }
        if self.to_scan.is_empty()
            || (self.clock)() < self.next_scan && !is_last
            || !self.moved_roots().is_empty()
        {
            return;
        }
        // One that contains others comes alone.
        let wanted = mem::take(&mut self.to_scan);
        let is_below = |number: u32| {
            let mut above = self.table.parent(number);
            while let Some(it) = above {
                if wanted.contains(&it) {
                    return true;
                }
                above = self.table.parent(it);
            }
            false
        };
        let tops: Vec<_> = wanted.iter().copied().filter(|number| !is_below(*number)).collect();
        for number in tops {
            let all = number == 0;
            let paths = match all {
                true => self.roots.iter().map(|(path, _)| path.to_bytes().to_vec()).collect(),
                false => vec![self.table.path(number)],
            };
            let paths = paths.into_iter().map(|path| sys::into_path(path).into()).collect();
            self.scan(paths, (!all).then_some(number), &mut |_| ());
            if self.options.interrupt.load(Ordering::Relaxed) {
                return;
            }
        }
        for way in &mut self.ways {
            way.known = (way.change().unwrap_or_default().1, way.others);
            way.interval = way
                .events
                .is_err()
                .then(|| self.every.max(self.next_scan.saturating_sub((self.clock)())));
        }
    }

    /// Scans `paths`: all roots, or the directory `at`. Takes events meanwhile, which come before it.
    pub(super) fn scan(
        &mut self,
        paths: Vec<OsString>,
        at: Option<u32>,
        watch: &mut dyn FnMut(&Progress),
    ) {
        let before = sys::usage().cpu;
        let inodes = Inodes { of: Entries::All, details: Entries::None, fingerprints: false };
        let walked = walk::walk(paths, self.options.clone(), Whole { inodes }, |progress| {
            drain(&mut self.ways, &mut self.waiting);
            watch(progress);
        });
        let report = walked.report;
        if report.is_interrupted {
            return;
        }
        let scanned = at.map(|number| self.table.path(number));
        let is_scanned =
            |path: &[u8]| scanned.as_ref().is_none_or(|scanned| path::is_within(path, scanned));
        self.problems.retain(|problem| !is_scanned(&problem.path));
        self.problems.extend(report.problems);
        if let Some(tree) = report.answer {
            let taken = self.table.take(&tree, at);
            drop(tree);
            self.learn(&taken.devices);
            // Who has it open for writing. As root, events have said who writes.
            let is_named = self.ways.iter().all(|way| way.is_gone || way.events.is_ok())
                || taken.changes.is_empty();
            let is_first = !self.has_begun;
            let open = if is_named || is_first { None } else { sys::open_for_writing().ok() };
            for (key, before, now) in taken.changes {
                let identity = self.table.device_number(key).map(|device| Identity {
                    mount: 0,
                    device,
                    number: key.inode,
                });
                let pid = open.as_ref().zip(identity).and_then(|(open, it)| open.get(&it));
                let size = |entry: Option<Entry>| entry.map_or(0, |it| it.size.cast_signed());
                match is_first {
                    true => self.size = self.size.saturating_add(size(now)),
                    false if self.is_of_mount(key) => {
                        let grown = size(now).saturating_sub(size(before));
                        self.first_size = self.first_size.saturating_add_signed(grown);
                    }
                    false => self.credit(before, now, pid.copied().unwrap_or(0)),
                }
            }
            // Each within one that stays.
            let gone: BTreeSet<_> = taken.gone.into_iter().collect();
            for number in &gone {
                let mut parent = self.table.parent(*number);
                while let Some(it) = parent.filter(|it| gone.contains(it)) {
                    parent = self.table.parent(it);
                }
                self.places.fold(*number, parent.unwrap_or(0));
            }
            for number in gone {
                self.forget(number);
            }
        }
        let now = (self.clock)();
        for way in self.ways.iter_mut().filter(|way| self.has_begun && way.top.is_some()) {
            if !way.has_begun() {
                way.begin(now);
            }
        }
        let cost = sys::usage().cpu.saturating_sub(before);
        self.next_scan = now + cost * IDLE;
    }

    /// Learns which devices there are, from the first directories on them.
    fn learn(&mut self, devices: &[(Identity, u32)]) {
        let mounts = MountTable::read();
        for (identity, number) in devices {
            let path = self.table.path(*number);
            let device = self.table.device(identity.device);
            for way in self.ways.iter_mut().filter(|way| way.is_gone) {
                way.remove_device(device);
            }
            let is_it = |way: &&mut Way| !way.is_gone && way.is_on(identity.mount, &mounts);
            // More than one of several PATHs may be on it.
            let top = if self.roots.len() > 1 { 0 } else { *number };
            if let Some(way) = self.ways.iter_mut().find(is_it).filter(|way| !way.has(device)) {
                way.learn(&path, identity.number, device, top);
            }
        }
    }

    /// Looks for files without a name that processes hold open.
    pub(super) fn look_at_held(&mut self) {
        let before = sys::usage().cpu;
        let places = self.ways.iter().map(Way::place).collect::<Vec<_>>();
        let found = sys::unlinked_files(&places, &AtomicBool::new(false));
        // Without proc, nothing is found, and not all is seen.
        let found = found.unwrap_or_default();
        let is_there = |place: &Identity| *place != Identity::default();
        let is_all = found.lists_all && found.unread.is_none() && places.iter().all(is_there);
        self.remove_open(&found.inodes, is_all);
        let (mut held, known) = (Vec::new(), mem::take(&mut self.held));
        for (way, cause) in found.causes.into_iter().enumerate() {
            if places.get(way).is_some_and(is_there) {
                self.ways[way].hold(cause.size);
            }
            for part in cause.parts {
                /// Smaller files are not worth a line.
                const LARGE: u64 = 1 << 20;
                let Some((size, holder)) = part.size.zip(part.holders.first()) else { continue };
                let is_within =
                    |(root, _): &(CString, Handle)| path::is_within(&part.name, root.to_bytes());
                let is_told = self.ways[way].is_whole || self.roots.iter().any(is_within);
                if size >= LARGE && is_told {
                    let writer = sys::writer(holder.pid);
                    let user = self.user(writer.user);
                    let before = known
                        .iter()
                        .find(|it| it.id == part.name && it.writer.process.pid == holder.pid);
                    let grown =
                        size.cast_signed() - before.map_or(size, |it| it.size).cast_signed();
                    held.push(HeldFile { id: part.name, size, grown, writer, user });
                }
            }
        }
        held.sort_by_key(|it| std::cmp::Reverse(it.size));
        self.held = held;
        let cost = sys::usage().cpu.saturating_sub(before);
        // A hundredth of one core.
        self.next_look = (self.clock)() + cost * 10 * IDLE;
    }

    /// Sentences about roots that have another path now, or none.
    pub(super) fn moved_roots(&self) -> Vec<String> {
        let moved = self.roots.iter().filter(|(path, handle)| {
            let now = Source::default().look(path).and_then(|it| it.identity());
            now.ok() != handle.identity().ok()
        });
        let text = |path: &CString| crate::base::escape::escape(path.to_bytes());
        let say = |(path, _): &(CString, Handle)| {
            format!(
                "{} was moved, removed or unmounted: weigh stops scanning, and shows only reported changes",
                text(path)
            )
        };
        moved.map(say).collect()
    }
}
