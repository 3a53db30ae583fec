//! What keys do to the state. Commands that need a terminal or threads are returned to the loop.

use super::browser::{Bar, Browser, Dialog, PendingWork, Question, Scan, Watched};
use super::item::Item;
use super::keys::{Act, Key, act};
use super::marks::Marks;
use super::pattern::{MarkedBy, NamePattern};
use super::protected::Refusal;
use super::sorting::SortKey;
use weigh::internal::escape::escape;
use weigh::internal::measure::Measure;
use weigh::internal::path;
use weigh::internal::remove::Manner;
use weigh::internal::report::Browsed;
use weigh::internal::sys;
use weigh::internal::tree::Child;

/// What the loop must do for a key, besides the change of state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Stop the walk.
    Stop,
    /// Scan everything again.
    Again,
    /// Scan the directory at this path again.
    Rescan(Vec<u8>),
    /// Find what git ignores in the directory at this path.
    FindIgnored(Vec<u8>),
    /// End.
    Quit,
    /// Look at the marked entries again, for the review.
    Look,
    /// Remove what was reviewed.
    Remove(Manner),
    /// Put the last entry back from the trash.
    Undo,
    /// End, and print the marked paths on standard output.
    PrintPaths,
}

impl Browser {
    /// Handles `key`.
    pub fn press(&mut self, key: Key) -> Option<Command> {
        self.said = None;
        let command = self.pressed(key);
        self.is_held = self.scan().is_some_and(|scan| {
            let here = scan.directory.into();
            scan.marks.is_marked(here) || scan.marks.is_held(&scan.tree, here)
        });
        command
    }

    fn pressed(&mut self, key: Key) -> Option<Command> {
        match self.dialog.take() {
            None => match act(key) {
                Some(act) => self.act(act),
                None => self.point(key),
            },
            Some(Dialog::Prompt(question, text)) => self.prompt(question, text, key),
            Some(Dialog::Delete { entries, typed }) => self.type_number(entries, typed, key),
            Some(dialog) => self.scroll(dialog, key),
        }
    }

    /// Sets how many lines of the list fit on the screen.
    pub fn resize(&mut self, height: usize) {
        if self.height != height {
            self.height = height;
            self.choose(self.chosen);
        }
    }

    fn point(&mut self, key: Key) -> Option<Command> {
        match key {
            Key::ScrollUp => self.pin(self.chosen.saturating_sub(3)),
            Key::ScrollDown => self.pin(self.chosen + 3),
            Key::Click(line) if self.first + line < self.len() => {
                if self.first + line == self.chosen {
                    return self.act(Act::Open);
                }
                self.pin(self.first + line);
            }
            _ => {}
        }
        None
    }

    fn act(&mut self, act: Act) -> Option<Command> {
        let page = self.height.max(2) - 1;
        match act {
            Act::Up => self.pin(self.chosen.saturating_sub(1)),
            Act::Down => self.pin(self.chosen + 1),
            Act::PageUp => self.pin(self.chosen.saturating_sub(page)),
            Act::PageDown => self.pin(self.chosen + page),
            Act::First => self.pin(0),
            Act::Last => self.pin(usize::MAX),
            Act::Open => self.open(),
            Act::Parent => self.parent(),
            Act::BySize => self.sort(SortKey::Size),
            Act::ByName => self.sort(SortKey::Name),
            Act::ByCount => self.sort(SortKey::Count),
            Act::ByTime => match self.has_times() {
                true => self.sort(SortKey::Modified),
                false => self.say(NO_TIMES),
            },
            Act::ByChange => match self.browsed().is_some_and(|browsed| browsed.before.is_some()) {
                true => self.sort(SortKey::Change),
                false => self.say("changes are shown with --since FILE"),
            },
            Act::DirectoriesFirst => {
                self.sorting.directories_first = !self.sorting.directories_first;
                self.relist();
            }
            Act::Apparent => self.other_measure(),
            Act::Graph => {
                self.columns.bars = match self.columns.bars {
                    Bar::Both => Bar::Percent,
                    Bar::Percent => Bar::Graph,
                    Bar::Graph => Bar::None,
                    Bar::None => Bar::Both,
                };
            }
            Act::Counts => self.columns.counts = !self.columns.counts,
            Act::Times if self.has_times() => self.columns.times = !self.columns.times,
            Act::Times => self.say(NO_TIMES),
            Act::Info if self.is_empty() => {}
            Act::Info => self.dialog = Some(Dialog::Info { first: 0 }),
            Act::Mark => self.mark_chosen(),
            Act::MarkAll => self.mark_all(|_| true),
            Act::MarkBy => self.dialog = Some(Dialog::Prompt(Question::Mark, String::new())),
            Act::UnmarkAll => match &mut self.seen {
                Watched::Walk { marks, .. } => marks.clear(),
                Watched::Whole(scan) => scan.marks.clear(),
            },
            Act::Review => return self.open_review(),
            Act::Undo => return self.ask_to_undo(),
            Act::Filter => {
                let text = self.pattern.as_ref().map_or("", NamePattern::text).to_owned();
                self.dialog = Some(Dialog::Prompt(Question::Filter, text));
            }
            Act::Errors => self.dialog = Some(Dialog::Errors { first: 0 }),
            Act::Again => return self.again(),
            Act::Help => self.dialog = Some(Dialog::Help { first: 0 }),
            Act::Stop | Act::Interrupt => return self.stop(act),
            Act::Quit => return Some(Command::Quit),
            Act::Paths => return self.paths(),
        }
        None
    }

    fn sort(&mut self, key: SortKey) {
        self.sorting = self.sorting.by(key);
        self.relist();
    }

    /// Enters the chosen directory.
    fn open(&mut self) {
        let Some(item) = self.item(self.chosen).filter(Item::is_directory) else { return };
        let name = item.name.into_owned();
        self.way.push(name);
        (self.chosen, self.first, self.name) = (0, 0, None);
        self.pattern = None;
        self.relist();
    }

    fn parent(&mut self) {
        if let Some(name) = self.way.pop() {
            (self.chosen, self.first, self.name) = (0, 0, Some(name));
            self.pattern = None;
            self.relist();
        }
    }

    fn has_times(&self) -> bool {
        let Some(Browsed { is_walked, snapshot, .. }) = self.browsed() else { return true };
        *is_walked || snapshot.origin.as_ref().is_some_and(|origin| origin.has_times)
    }

    /// Marks or unmarks the chosen entry, and moves down.
    fn mark_chosen(&mut self) {
        let Some(item) = self.item(self.chosen).map(Item::into_owned) else { return };
        let refusal = match &mut self.seen {
            Watched::Walk { marks, .. } => {
                if marks.remove(&self.way, &item.name) {
                    None
                } else if marks.holds(&self.way) {
                    Some(HELD)
                } else if let Some(identification) = item.identification.filter(|_| !item.is_open) {
                    marks.insert(self.way.clone(), item.name.to_vec(), identification);
                    None
                } else {
                    Some("it is still being read")
                }
            }
            Watched::Whole(scan) => item.place.and_then(|place| {
                if scan.marks.is_marked(place) {
                    scan.marks.unmark(&scan.tree, place);
                    return None;
                }
                mark(scan, place, &self.protected).err()
            }),
        };
        self.pin(self.chosen + 1);
        if let Some(refusal) = refusal {
            self.say(format!("not marked: {}: {refusal}", escape(&item.name)));
        }
    }

    /// Marks all listed entries for which `is_meant` is true.
    fn mark_all(&mut self, is_meant: impl Fn(&Item<'_>) -> bool) {
        let (mut marked, mut refused) = (0_usize, None);
        match &mut self.seen {
            Watched::Walk { page, marks, .. } => {
                for item in page.items.iter().filter(|item| is_meant(item)) {
                    match item.identification.filter(|_| !item.is_open && !marks.holds(&self.way)) {
                        Some(identification) => {
                            marks.insert(self.way.clone(), item.name.to_vec(), identification);
                            marked += 1;
                        }
                        None => refused = Some("what is still being read"),
                    }
                }
            }
            Watched::Whole(scan) => {
                let places = scan.index.places().to_vec();
                for place in places {
                    if !is_meant(&Item::of(&scan.tree.at(place))) || scan.marks.is_marked(place) {
                        continue;
                    }
                    match mark(scan, place, &self.protected) {
                        Ok(()) => marked += 1,
                        Err(refusal) => refused = Some(refusal),
                    }
                }
            }
        }
        let marked = format!("{marked} marked");
        self.say(refused.map_or(marked.clone(), |why| format!("{marked}; not all: {why}")));
    }

    fn prompt(&mut self, question: Question, mut text: String, key: Key) -> Option<Command> {
        match key {
            Key::Escape | Key::Interrupt => return None,
            Key::Backspace => drop(text.pop()),
            Key::Char(c) => text.push(c),
            Key::Enter => return self.answer(question, &text),
            _ => {}
        }
        self.dialog = Some(Dialog::Prompt(question, text));
        None
    }

    fn answer(&mut self, question: Question, text: &str) -> Option<Command> {
        match question {
            _ if text.is_empty() && question == Question::Mark => {}
            Question::Filter => {
                match NamePattern::parse(text) {
                    Ok(pattern) => self.pattern = Some(pattern).filter(|_| !text.is_empty()),
                    Err(why) => self.say(why),
                }
                self.relist();
            }
            Question::Mark => match MarkedBy::parse(text) {
                Ok(MarkedBy::Ignored) => return self.find_ignored(),
                Ok(MarkedBy::Age(_)) if !self.has_times() => self.say(NO_TIMES),
                Ok(by) => {
                    let now = sys::now();
                    self.mark_all(|item| {
                        let name = (&*item.name, item.is_directory());
                        by.is_match(name, item.totals, now)
                    });
                }
                Err(why) => self.say(why),
            },
        }
        None
    }

    fn find_ignored(&mut self) -> Option<Command> {
        let path = self.path_to_walk().filter(|_| self.pending.is_none());
        let Some(path) = path else {
            self.say("only in what has been scanned here");
            return None;
        };
        self.pending = Some(PendingWork::Ignored(self.way.clone()));
        Some(Command::FindIgnored(path))
    }

    /// Marks what git ignores in the directory at this path, by the walk `ignored`.
    pub fn mark_ignored(&mut self, ignored: &weigh::internal::tree::Tree) {
        let Some(PendingWork::Ignored(way)) = self.pending.take() else { return };
        let Watched::Whole(scan) = &mut self.seen else { return };
        let Some(here) = super::marks::descend(&scan.tree, &way) else { return };
        // Marks the files and directories that count in that walk; a marked directory covers everything in it.
        let mut found = Vec::new();
        let mut ahead = vec![(ignored.root(), here)];
        while let Some((ignored, here)) = ahead.pop() {
            let is_meant = |child: &Child<'_>| child.id().is_none() || child.node().own.is_some();
            let known: std::collections::HashMap<_, _> =
                here.unsorted().map(|child| (child.name(), child)).collect();
            for child in ignored.unsorted() {
                match known.get(child.name()) {
                    Some(same) if is_meant(&child) => found.extend(same.place()),
                    Some(same) => ahead.push((child, *same)),
                    None => {}
                }
            }
        }
        let (mut marked, mut refused) = (0, None);
        for place in found {
            match mark(scan, place, &self.protected) {
                Ok(()) => marked += 1,
                Err(refusal) => refused = Some(refusal),
            }
        }
        let marked = format!("{marked} marked that git ignores");
        self.say(refused.map_or(marked.clone(), |why| format!("{marked}; not all: {why}")));
    }

    /// Takes the number of entries that must be typed before they are deleted.
    fn type_number(&mut self, entries: u64, mut typed: String, key: Key) -> Option<Command> {
        match key {
            Key::Enter => return self.answer_delete(entries, &typed),
            Key::Char(c) => typed.push(c),
            Key::Backspace => drop(typed.pop()),
            Key::Escape | Key::Interrupt => {
                self.removals.review = None;
                self.say("nothing is deleted");
                return None;
            }
            _ => {}
        }
        self.dialog = Some(Dialog::Delete { entries, typed });
        None
    }

    /// In a dialog, keys scroll or close it.
    fn scroll(&mut self, dialog: Dialog, key: Key) -> Option<Command> {
        let page = self.height.max(2) - 1;
        let moved = |first: usize| match key {
            Key::Up | Key::Char('k') | Key::ScrollUp => Some(first.saturating_sub(1)),
            Key::Down | Key::Char('j') | Key::ScrollDown => Some(first + 1),
            Key::PageUp => Some(first.saturating_sub(page)),
            Key::PageDown => Some(first + page),
            Key::Home => Some(0),
            _ => None,
        };
        self.dialog = match dialog {
            Dialog::Help { first } => moved(first).map(|first| Dialog::Help { first }),
            Dialog::Info { first } => moved(first).map(|first| Dialog::Info { first }),
            Dialog::Review { first } => moved(first).map(|first| Dialog::Review { first }),
            Dialog::Errors { first } => moved(first).map(|first| Dialog::Errors { first }),
            Dialog::Kept { first } => moved(first).map(|first| Dialog::Kept { first }),
            Dialog::Prompt(..) | Dialog::Delete { .. } => None,
        };
        if let (Dialog::Review { .. }, None) = (&dialog, &self.dialog) {
            match key {
                Key::Char('t') => return self.ask_to_trash(dialog),
                Key::Char('D') => {
                    self.ask_to_delete(dialog);
                    return None;
                }
                _ => self.removals.review = None,
            }
        }
        let is_paths = matches!(dialog, Dialog::Review { .. }) && key == Key::Char('p');
        if is_paths { self.paths() } else { None }
    }

    fn stop(&mut self, act: Act) -> Option<Command> {
        match &mut self.seen {
            Watched::Walk { is_walk: true, is_stopping, .. } => {
                // Pressing it twice ends the program.
                let was_asked = std::mem::replace(is_stopping, true);
                Some(if was_asked && act == Act::Interrupt { Command::Quit } else { Command::Stop })
            }
            _ if act == Act::Interrupt => Some(Command::Quit),
            _ if self.pending.is_some() => Some(Command::Stop),
            _ if self.pattern.take().is_some() => {
                self.relist();
                None
            }
            _ => None,
        }
    }

    /// Shows apparent sizes instead of disk usage, or disk usage instead of anything else.
    fn other_measure(&mut self) {
        if self.options.frees {
            return self.say("with --frees, sizes are disk usage");
        }
        let is_pending = self.pending.is_some();
        let Watched::Whole(scan) = &mut self.seen else { return self.say("once the scan is over") };
        if is_pending {
            return self.say("once the scan is over");
        }
        let snapshot = &scan.browsed.snapshot;
        if !snapshot.has_all {
            let measure = snapshot.view.measure.noun();
            return self.say(format!("it has only {measure}"));
        }
        let measure = match snapshot.view.measure {
            Measure::Disk => Measure::Apparent,
            _ => Measure::Disk,
        };
        scan.see_as(measure.into());
        self.relist();
    }

    /// Scans the current directory again.
    fn again(&mut self) -> Option<Command> {
        if self.scan().is_none() || self.pending.is_some() {
            self.say("once the scan is over");
            return None;
        }
        match self.path_to_walk() {
            Some(path) if !self.way.is_empty() && !self.options.frees => {
                self.pending = Some(PendingWork::Directory(self.way.clone()));
                Some(Command::Rescan(path))
            }
            _ => {
                self.pending = Some(PendingWork::All);
                Some(Command::Again)
            }
        }
    }

    /// The path of the current directory, if it can be scanned by itself.
    fn path_to_walk(&self) -> Option<Vec<u8>> {
        let scan = self.scan()?;
        let here = scan.here();
        (scan.browsed.is_walked && !here.is_total()).then(|| here.path())
    }

    /// Ends with the marked paths on standard output, if there are any that can be printed.
    fn paths(&mut self) -> Option<Command> {
        let Some(scan) = self.scan() else {
            self.say("once the scan is over: Esc stops it");
            return None;
        };
        if scan.marks.is_empty() {
            self.say("nothing is marked: Space marks");
            return None;
        }
        let has_newline = || self.marked_paths().iter().any(|path| path.contains(&b'\n'));
        if !self.options.print0 && has_newline() {
            self.say("a marked name has a newline in it: start weigh with --print0");
            return None;
        }
        Some(Command::PrintPaths)
    }

    /// The output for the marked paths.
    pub fn printed_paths(&self) -> Vec<u8> {
        let end = if self.options.print0 { b'\0' } else { b'\n' };
        let written = |path: Vec<u8>| match self.options.is_raw {
            true => path,
            false => escape(&path).into_bytes(),
        };
        let paths = self.marked_paths().into_iter().map(written);
        paths.flat_map(|path| path.into_iter().chain([end])).collect()
    }

    /// The current directory, as the head of the screen shows it.
    pub fn path(&self) -> Vec<u8> {
        let root = self.tree().map_or(&*self.root, |tree| tree.root().name());
        let names = self.way.iter().map(|name| &**name);
        path::join_all([root].into_iter().chain(names))
    }
}

const NO_TIMES: &str = "it has no times: save it again";
const HELD: Refusal = "the directory it lies in is marked";

/// Marks `place`, or shows why it must not be marked.
fn mark(
    scan: &mut Scan,
    place: weigh::internal::tree::Place,
    protected: &super::protected::Protected,
) -> Result<(), Refusal> {
    let Scan { tree, marks, .. } = scan;
    if marks.is_held(tree, place) {
        return Err(HELD);
    }
    match protected.refusal(tree, &tree.at(place)) {
        Some(refusal) => Err(refusal),
        None => {
            Marks::mark(marks, tree, place);
            Ok(())
        }
    }
}
