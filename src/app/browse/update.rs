//! How events change the state. What needs a terminal or threads is returned to the loop.

use std::collections::BTreeSet;
use std::mem;

use super::browser::{BARS, Browser, Dialog, DialogText, PendingWork, Question, ViewKind};
use super::event::{Command, Ending, Event};
use super::keys::{Act, Bindings, Key};
use super::listing::{Item, SortKey};
use super::marks::descend;
use super::pattern::{MarkedBy, NamePattern};
use super::removal::NOTHING_MARKED;
use weigh::internal::ask::NO_TIMES_LISTED;
use weigh::internal::base::escape::escape;
use weigh::internal::base::measure::Measure;
use weigh::internal::remove::Manner;
use weigh::internal::sys;
use weigh::internal::tree::Place;

/// About how many bytes of a pattern can be typed: more than any path has. A search begins anew with each key.
const LONGEST_TYPED: usize = 10_000;

/// Why something is not done yet.
pub(super) const AFTER_SCAN: &str = "you can do this when the scan is over";

impl Browser {
    /// Takes `event`, and returns what is to be done.
    pub fn on(&mut self, event: Event) -> Vec<Command> {
        let mut command = None;
        match event {
            Event::Start => return self.start(),
            Event::Key(key) => command = self.press(key),
            Event::Pasted(text) => self.paste(&text),
            Event::Redraw => {}
            Event::Signal(signal) => return vec![Command::End(Ending::Signal(signal))],
            Event::Tick => self.tick(),
            Event::Slice => self.go_on(),
            Event::FoundUnused(number, found, in_git) => {
                self.found_unused(number, *found, &in_git);
            }
            Event::LinkTarget(path, target) => {
                self.shown.link = Some((path, Some(target.unwrap_or_default())));
            }
            Event::OpenedOutside(failed) => self.opened_outside(failed),
            Event::Protected(protected) => {
                self.selection.protected = *protected;
                // Until this is known, a review refuses everything.
                if let Some(Dialog::Text(DialogText::Review, _)) = self.dialogs.open {
                    self.close_review();
                    self.dialogs.open = None;
                    command = self.open_review();
                } else if !self.is_walking() && !self.scan.marks.is_empty() {
                    // Some of what was marked before must not be.
                    let named = self.scan.marks.named(&self.scan.tree);
                    self.mark_again(named);
                }
            }
            Event::Progress(progress, elapsed) => {
                (self.walk.progress, self.walk.elapsed) = (progress, elapsed);
            }
            Event::Theme(theme) => {
                if let Some(colors) = &mut self.options.colors {
                    colors.palette = colors.palette.on(theme);
                }
            }
            Event::UsedInodes(inodes) => {
                // A filter leaves out some of them.
                self.walk.used_inodes = Some(inodes).filter(|_| self.request.walk.filter.is_off());
            }
            Event::Space(spaces) => self.spaces = spaces,
            Event::Opened(listings, view) => {
                self.scan.listings = Some(listings);
                self.scan.set_view(view);
                self.relist();
            }
            Event::LoadedKept(loaded) => self.loaded_kept(loaded),
            Event::Scanned(Err(problem)) if !self.is_walking() => {
                command = self.give_up(problem.to_string());
            }
            Event::Failed(problem) | Event::Scanned(Err(problem)) => {
                return vec![Command::End(Ending::Fail(problem))];
            }
            Event::Scanned(Ok(browsed)) => command = self.scanned(*browsed),
            Event::Looked(number, looked) => self.removals.looked(number, looked),
            Event::Removing(progress) => self.removals.add(progress, self.request.walk.rules.time),
            Event::Removed(removed) => command = self.removed(*removed),
            Event::LookedInTrash(looked) => self.looked_in_trash(looked),
            Event::Emptied(trashed, removed) => command = self.emptied(&trashed, *removed),
            Event::Undone(undone) => command = self.undone(undone),
        }
        // Letters that are typed for a pattern must not act.
        if self.removals.has_news && !matches!(self.dialogs.open, Some(Dialog::Prompt(..))) {
            self.removals.has_news = false;
            self.dialogs.open = Some(Dialog::Text(DialogText::Kept, 0));
        }
        match &self.removals.ending {
            Some(ending) if !self.is_removing() => vec![Command::End(ending.clone())],
            _ => {
                let others = [self.look_for_unused(), self.look_at_link()];
                command.into_iter().chain(others.into_iter().flatten()).collect()
            }
        }
    }

    fn tick(&mut self) {
        // The listings of a snapshot stay as they are.
        if self.scan.is_walked_now() {
            self.relist();
            // Its looks into the walk are timed with this tick, and not with the next drawing.
            self.shows_map();
        }
        // A list of what is anywhere is computed anew only at the end of a removal.
        if !self.is_flat() {
            self.follow();
        }
    }

    fn press(&mut self, key: Key) -> Option<Command> {
        let was_said = self.dialogs.said.take().is_some();
        match self.dialogs.open.take() {
            // Whoever wants a message to go away does not mean the scan.
            None if was_said
                && self.is_walking()
                && self.options.keys.act(key) == Some(Act::Stop) =>
            {
                None
            }
            None if key == Key::Interrupt => self.stop(true),
            None if self.go_in_map(key) => None,
            None => match self.options.keys.act(key) {
                Some(act) => self.act(act),
                None => self.point(key),
            },
            Some(Dialog::Prompt(question, text)) => self.prompt(question, text, key),
            Some(Dialog::Text(text, first)) => self.press_in_text(text, first, key),
        }
    }

    /// Adds pasted text to a pattern that is being typed. Anywhere else it could mark or delete something.
    fn paste(&mut self, pasted: &str) {
        let Some(Dialog::Prompt(
            question @ (Question::Search | Question::Filter | Question::Mark),
            text,
        )) = &mut self.dialogs.open
        else {
            return self.say("pasted text does nothing here");
        };
        let room = LONGEST_TYPED.saturating_sub(text.len());
        text.extend(pasted.chars().filter(|c| !c.is_control()).take(room));
        if *question == Question::Search {
            let text = text.clone();
            self.search(&text);
        }
    }

    fn point(&mut self, key: Key) -> Option<Command> {
        match key {
            Key::ScrollUp => self.pin(self.shown.chosen.saturating_sub(3)),
            Key::ScrollDown => self.pin(self.shown.chosen + 3),
            Key::Click(line) if line < self.len() => {
                if line == self.shown.chosen {
                    return self.act(Act::Open);
                }
                self.pin(line);
            }
            Key::Click(_) => {}
            Key::ClickView(kind) => self.show_view(kind),
            key => {
                let help = self.options.keys.keys(Act::Help).first().map(|key| key.name());
                let help = help.map_or_else(String::new, |help| format!(": {help} shows all keys"));
                self.say(format!("{} does nothing here{help}", key.name()));
            }
        }
        None
    }

    fn act(&mut self, act: Act) -> Option<Command> {
        match act {
            Act::Up | Act::Down | Act::PageUp | Act::PageDown => self.go(act),
            Act::HalfUp | Act::HalfDown | Act::First | Act::Last => self.go(act),
            Act::Open if self.may_ask_owners() => return self.ask_owners(),
            Act::Open if self.is_flat() => self.follow_line(),
            Act::Open => self.open(),
            Act::Parent if self.is_cleaning() && self.fold() => {}
            Act::Parent if self.leave_view() => {}
            Act::Parent => self.parent(),
            Act::NextView => self.turn(1),
            Act::PreviousView => self.turn(-1),
            Act::ByName if self.has_matches() => self.go_to_match(1),
            Act::PreviousMatch => self.go_to_match(-1),
            Act::BySize | Act::ByName | Act::ByCount | Act::ByTime | Act::DirectoriesFirst
                if self.order().is_none() =>
            {
                self.say("the order of this list is fixed");
            }
            Act::BySize => self.sort(SortKey::Size),
            Act::ByName => self.sort(SortKey::Name),
            Act::ByCount => self.sort(SortKey::Count),
            Act::ByTime | Act::Times if !self.has_times() => self.say(self.no_times()),
            Act::ByTime => self.sort(SortKey::Modified),
            Act::ByChange if self.is_flat() => self.say("changes are listed in the tree only"),
            Act::ByChange => return self.changes(),
            Act::DirectoriesFirst => {
                self.shown.sorting.directories_first = !self.shown.sorting.directories_first;
                self.relist();
            }
            Act::Apparent => self.other_measure(),
            Act::Bars => self.shown.columns.bars = (self.shown.columns.bars + 1) % BARS.len(),
            Act::Map if self.is_flat() => self.say("the treemap shows the view \"tree\""),
            Act::Map => self.shown.columns.map = !self.shown.columns.map,
            Act::Counts if self.lists_groups() => {
                self.say("the entries of groups are always shown")
            }
            Act::Counts => self.shown.columns.counts = !self.shown.columns.counts,
            Act::Times => self.shown.columns.no_times = !self.shown.columns.no_times,
            Act::Details if self.is_empty() => {}
            Act::Details => self.dialogs.open = Some(Dialog::Text(DialogText::Info, 0)),
            Act::Mark => self.mark_chosen(),
            Act::MarkAll => self.mark_all(None),
            Act::MarkBy => self.dialogs.open = Some(Dialog::Prompt(Question::Mark, String::new())),
            Act::MarkLinks => self.mark_links(),
            Act::UnmarkAll if self.scan.marks.is_empty() => self.say(NOTHING_MARKED),
            Act::UnmarkAll => {
                self.scan.marks.clear();
                if self.shown.view == ViewKind::Marked {
                    self.relist();
                }
            }
            Act::Delete => return self.open_review(),
            Act::Undo => return self.undo(),
            // The chosen line could become another one.
            Act::Trash if self.is_removing() => self.say("not while weigh removes or puts back"),
            Act::Trash => self.dialogs.open = Some(Dialog::Text(DialogText::Trash, 0)),
            Act::Search => self.begin_search(),
            Act::Filter => {
                let text =
                    self.shown.pattern.as_ref().map_or("", |pattern| &pattern.text).to_owned();
                self.dialogs.open = Some(Dialog::Prompt(Question::Filter, text));
            }
            Act::Copy => return self.copy_path(),
            Act::OpenOutside => return self.open_outside(),
            Act::Unread => self.dialogs.open = Some(Dialog::Text(DialogText::Errors, 0)),
            Act::Again => return self.again(),
            Act::Help => self.dialogs.open = Some(Dialog::Text(DialogText::Help, 0)),
            Act::Stop => return self.stop(false),
            Act::Quit => return self.end(Ending::Quit),
            Act::Paths => return self.print_paths(),
        }
        None
    }

    fn sort(&mut self, key: SortKey) {
        self.shown.sorting = self.shown.sorting.by(key);
        self.relist();
    }

    /// Enters the chosen directory.
    fn open(&mut self) {
        let item = self.item(self.shown.chosen).filter(Item::is_directory);
        let Some(item) = item.filter(|item| item.gone.is_none()) else {
            return self.say("there is nothing to open");
        };
        let names: Vec<_> = self.scan.names(&item).into_iter().map(<[u8]>::to_vec).collect();
        self.shown.way.extend(names);
        self.enter(None);
    }

    /// Leaves the current directory, and those around it that share its line.
    fn parent(&mut self) {
        let mut left = self.shown.way.pop();
        // Elsewhere, it is not known what is beside a directory.
        while self.has_all()
            && left.is_some()
            && descend(&self.scan.tree, &self.shown.way)
                .is_some_and(|it| self.scan.only_directory(it).is_some())
            && let Some(name) = self.shown.way.pop()
        {
            left = Some(name);
        }
        match left {
            Some(_) => self.enter(left),
            None => self.say_how_to_quit(),
        }
    }

    /// Shows the new current directory, with the entry of this name, or the first one, chosen.
    pub(super) fn enter(&mut self, name: Option<Vec<u8>>) {
        (self.shown.chosen, self.shown.first, self.shown.name) = (0, 0, name);
        self.shown.pattern = None;
        self.relist();
    }

    pub(super) fn has_times(&self) -> bool {
        let Some(browsed) = &self.scan.browsed else { return true };
        let origin = browsed.snapshot.origin.as_ref();
        self.is_of_roots() || origin.is_some_and(|origin| origin.has_times)
    }

    /// What is said where times are needed, and it has none.
    pub(super) fn no_times(&self) -> &'static str {
        if self.is_list() { NO_TIMES_LISTED } else { "it has no times: save it again" }
    }

    /// Marks or unmarks the chosen entry, and moves down.
    fn mark_chosen(&mut self) {
        let places = self.item(self.shown.chosen).and_then(|item| self.places_of(&item).ok());
        let marks = &mut self.scan.marks;
        match places.filter(|places| places.iter().all(|place| marks.is_marked(*place))) {
            Some(places) => places.iter().for_each(|it| marks.unmark(&self.scan.tree, *it)),
            None => _ = self.mark_line("not marked"),
        }
        if self.shown.view == ViewKind::Marked && !self.is_searching() {
            // Its line is gone.
            self.shown.name = None;
            return self.relist();
        }
        self.pin(self.shown.chosen + 1);
    }

    /// Marks all listed entries that `by` selects.
    fn mark_all(&mut self, by: Option<&MarkedBy>) {
        let now = sys::now();
        let items = (0..self.len()).filter_map(|line| self.item(line));
        let meant = items.filter(|item| by.is_none_or(|by| by.is_match(item, now)));
        let is_most = by.is_some_and(MarkedBy::is_most);
        // Entries that cannot go are listed, too.
        let meant = meant.filter(|item| by.is_some() || item.branch.is_none_or(|it| it.is_summed));
        let places = meant.flat_map(|item| match self.places_of(&item) {
            Ok(_) if is_most && self.is_partial(item.place) => vec![Err("not all of it was read")],
            Ok(places) => places.into_iter().map(Ok).collect(),
            Err(refusal) => vec![Err(refusal)],
        });
        let mut seen = BTreeSet::new();
        let is_new = |place: &Result<Place, _>| {
            place.is_err()
                || place.is_ok_and(|at| !self.scan.marks.is_marked(at) && seen.insert(at))
        };
        let unmarked: Vec<_> = places.filter(is_new).collect();
        let places: Vec<_> = unmarked.iter().filter_map(|place| place.ok()).collect();
        self.mark_places(unmarked, "");
        if self.is_cleaning() {
            self.mark_by_rules(&places);
        }
    }

    fn prompt(&mut self, question: Question, mut text: String, key: Key) -> Option<Command> {
        match key {
            Key::Char('y') | Key::Interrupt if question == Question::Stop => {
                return self.stop_scan();
            }
            // Also Enter: only the keys in the question stop it.
            _ if question == Question::Stop => return None,
            Key::Escape | Key::Interrupt => {
                match question {
                    Question::Search => self.cancel_search(),
                    Question::Delete(_) => {
                        self.close_review();
                        self.say("nothing is deleted");
                    }
                    Question::Empty(_) => {
                        self.removals.emptying.clear();
                        self.dialogs.open = Some(Dialog::Text(DialogText::Trash, 0));
                        self.say("nothing is deleted");
                    }
                    Question::Filter | Question::Mark | Question::Stop => {}
                }
                return None;
            }
            Key::Backspace => drop(text.pop()),
            Key::Char(c) if text.len() < LONGEST_TYPED => text.push(c),
            Key::Enter => return self.answer(question, &text),
            Key::Up if question == Question::Search => {
                self.pin(self.shown.chosen.saturating_sub(1))
            }
            Key::Down if question == Question::Search => self.pin(self.shown.chosen + 1),
            _ => {}
        }
        if question == Question::Search && matches!(key, Key::Backspace | Key::Char(_)) {
            self.search(&text);
        }
        self.dialogs.open = Some(Dialog::Prompt(question, text));
        None
    }

    fn answer(&mut self, question: Question, text: &str) -> Option<Command> {
        match question {
            Question::Stop => {}
            _ if text.is_empty() && question == Question::Mark => {}
            Question::Search if self.can_search() => self.accept_search(),
            Question::Search => {}
            Question::Filter => {
                match NamePattern::parse(text) {
                    Ok(pattern) => self.shown.pattern = Some(pattern).filter(|_| !text.is_empty()),
                    Err(why) => self.say(why),
                }
                self.relist();
            }
            Question::Mark => match MarkedBy::parse(text) {
                Ok(MarkedBy::Ignored) => return self.find_ignored(),
                Ok(MarkedBy::Age(_)) if !self.has_times() => self.say(self.no_times()),
                Ok(by) => self.mark_all(Some(&by)),
                Err(why) => self.say(why),
            },
            Question::Delete(entries) => return self.answer_delete(entries, text),
            Question::Empty(entries) => return self.answer_empty(entries, text),
        }
        None
    }

    /// Handles a key while a text covers the list: it acts, closes the text, or scrolls it. These keys stay as they are,
    /// whatever the user has set for the list.
    fn press_in_text(&mut self, text: DialogText, at: usize, key: Key) -> Option<Command> {
        match (key, text) {
            (Key::Escape | Key::Char('q') | Key::Interrupt, _) => self.close_review(),
            (Key::Char(' '), DialogText::Review) => self.take_mark_away(at),
            (Key::Char('t'), DialogText::Review) => {
                return self.remove_reviewed(Manner::Trash, at);
            }
            (Key::Char('D'), DialogText::Review) => {
                return self.remove_reviewed(Manner::Delete, at);
            }
            (Key::Char('p'), DialogText::Review) => {
                let printed = self.print_paths();
                if printed.is_none() {
                    self.close_review();
                }
                return printed;
            }
            (Key::Enter, DialogText::Errors) if self.show_unread(at) => {}
            (Key::Click(line), DialogText::Errors) if line == at && self.show_unread(at) => {}
            (Key::Enter | Key::Char('u'), DialogText::Trash) => return self.undo_chosen(at),
            (Key::Char('E'), DialogText::Trash) => return self.look_in_trash(at),
            _ => self.scroll(text, at, key),
        }
        None
    }

    /// Scrolls a text over the list, or chooses a line of it. A key that does neither does nothing: the last line shows
    /// those that do.
    fn scroll(&mut self, text: DialogText, at: usize, key: Key) {
        let to = match key {
            Key::ScrollUp => at.saturating_sub(1),
            Key::ScrollDown => at.saturating_add(1),
            Key::Click(line) => line,
            _ => Bindings::default().act(key).and_then(|act| self.moved(act, at)).unwrap_or(at),
        };
        self.dialogs.open = Some(Dialog::Text(text, to.min(self.stops(text).saturating_sub(1))));
    }

    /// How many positions a text has: in the review, the trash and the errors one for each line that can be chosen, and
    /// in others one for each line that can be at the top.
    pub(super) fn stops(&self, text: DialogText) -> usize {
        match text {
            DialogText::Review => self.removals.review.as_ref().map_or(0, |it| it.marks.len()),
            DialogText::Trash => self.removals.trashed.len(),
            DialogText::Errors => self.unread().1.len(),
            _ => self.dialogs.text_end,
        }
    }

    /// Whether `key` is an arrow in the treemap; then it chooses the tile on that side, if there is one.
    fn go_in_map(&mut self, key: Key) -> bool {
        let toward = match key {
            Key::Left => (-1, 0),
            Key::Right => (1, 0),
            Key::Up => (0, -1),
            Key::Down => (0, 1),
            _ => return false,
        };
        if !self.shows_map() || Bindings::default().act(key) != self.options.keys.act(key) {
            return false;
        }
        if let Some(line) = self.map().beside(self.shown.chosen, toward) {
            self.pin(line);
        }
        true
    }

    fn go(&mut self, act: Act) {
        if let Some(line) = self.moved(act, self.shown.chosen) {
            self.pin(line);
        }
    }

    /// The line that a movement leads to from `line`; none if `act` is no movement.
    fn moved(&self, act: Act, line: usize) -> Option<usize> {
        let page = self.shown.height.max(2) - 1;
        Some(match act {
            Act::Up => line.saturating_sub(1),
            Act::Down => line.saturating_add(1),
            Act::PageUp => line.saturating_sub(page),
            Act::PageDown => line.saturating_add(page),
            Act::HalfUp => line.saturating_sub(page.div_ceil(2)),
            Act::HalfDown => line.saturating_add(page.div_ceil(2)),
            Act::First => 0,
            Act::Last => usize::MAX,
            _ => return None,
        })
    }

    /// Stops the first scan. Nothing is asked if it has ended meanwhile.
    fn stop_scan(&mut self) -> Option<Command> {
        self.walk.is_stopping = self.is_walking();
        self.walk.is_stopping.then_some(Command::StopScan)
    }

    /// Asks whether to stop the first scan, or stops what else goes on in the background, or else ends the filter of the
    /// list. An interrupt does not ask, and ends the program if there is nothing to stop; and so does a second one
    /// during a walk.
    fn stop(&mut self, is_interrupt: bool) -> Option<Command> {
        if !is_interrupt && self.is_walking() && self.leave() {
            return None;
        }
        if self.is_walking() && self.is_of_roots() {
            match self.walk.is_stopping {
                true if is_interrupt => return self.end(Ending::Quit),
                true => return None,
                false if is_interrupt => return self.stop_scan(),
                false => {}
            }
            self.dialogs.open = Some(Dialog::Prompt(Question::Stop, String::new()));
            return None;
        }
        match self.pending {
            _ if is_interrupt => return self.end(Ending::Quit),
            Some(PendingWork::Removal) => {
                self.removals.is_cancelled = true;
                return Some(Command::CancelRemoval);
            }
            // It goes on, and nobody waits for it.
            Some(PendingWork::Kept) => self.pending = None,
            Some(_) => return Some(Command::StopScan),
            None => {}
        }
        if !self.leave() {
            self.say_how_to_quit();
        }
        None
    }

    /// Ends the filter of the list, or leaves the view, or ends the search, or the treemap. False if there is none of
    /// these.
    fn leave(&mut self) -> bool {
        if self.shown.pattern.take().is_some() {
            self.relist();
            return true;
        }
        self.leave_view()
            || self.shown.search.take().is_some()
            || mem::take(&mut self.shown.columns.map)
    }

    /// Nothing is left that could be closed. The progress of a removal stays.
    fn say_how_to_quit(&mut self) {
        let quit = self.options.keys.keys(Act::Quit).first().map(|key| key.name());
        if let Some(quit) = quit.filter(|_| self.pending.is_none()) {
            self.say(format!("{quit} quits"));
        }
    }

    /// Shows apparent sizes instead of disk usage, or disk usage instead of anything else.
    fn other_measure(&mut self) {
        if self.request.walk.rules.frees {
            return self.say("with --frees, sizes are disk usage");
        }
        let browsed = self.scan.browsed.as_ref().filter(|_| self.pending.is_none());
        let Some(browsed) = browsed else { return self.say(AFTER_SCAN) };
        let measure = self.measure();
        let other = if measure == Measure::Disk { Measure::Apparent } else { Measure::Disk };
        if !browsed.snapshot.known.contains(other) {
            return self.say(format!("it has only {}", measure.noun()));
        }
        self.scan.set_view(other.into());
        self.forget_found();
        self.relist();
    }

    /// Ends with the marked paths on standard output, if there are any that can be printed.
    fn print_paths(&mut self) -> Option<Command> {
        if self.options.prints_directory {
            return self.refuse("with --cd, only the directory is printed");
        }
        if self.is_walking() {
            return self.refuse(AFTER_SCAN);
        }
        let paths = self.marked_paths();
        if paths.is_empty() {
            return self.refuse(NOTHING_MARKED);
        }
        if !self.options.print0 && paths.iter().any(|path| path.contains(&b'\n')) {
            return self.refuse("a marked name has a newline in it: start weigh with --print0");
        }
        self.end(Ending::Print)
    }

    /// The path of the current directory for `cd "$(weigh ui --cd)"`, if it is to be printed. Nothing for a path that a
    /// shell would change, or that is not one of this machine.
    pub fn printed_directory(&self) -> Option<Vec<u8>> {
        let here = self.scan.here();
        let path = self.selection.protected.real_path(&self.scan.tree, &here);
        let path = path.filter(|_| self.options.prints_directory && self.is_of_roots())?;
        // The shell takes away newlines at the end.
        let is_kept = !here.is_total() && !path.ends_with(b"\n") && !path.contains(&b'\0');
        let shown = match self.options.is_raw {
            true => path,
            false => self.options.charset.text(escape(&path)).into_bytes(),
        };
        is_kept.then(|| [&*shown, b"\n"].concat())
    }

    /// The marked paths, as they are printed: at the end, when what is deleted has no mark any more.
    pub fn printed_paths(&self) -> Vec<u8> {
        let mut printed = Vec::new();
        for path in self.marked_paths() {
            // A program would take it for a flag.
            if path.starts_with(b"-") {
                printed.extend(b"./");
            }
            match self.options.is_raw {
                true => printed.extend(path),
                false => printed.extend(self.options.charset.text(escape(&path)).into_bytes()),
            }
            printed.push(if self.options.print0 { b'\0' } else { b'\n' });
        }
        printed
    }
}
