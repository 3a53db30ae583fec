//! What goes outside: a path into the clipboard, and a file or directory to another program.

use super::browser::{Browser, Dialog};
use super::event::Command;
use super::update::AFTER_SCAN;
use weigh::internal::base::escape::is_control;
use weigh::internal::base::measure::Kind;
use weigh::internal::base::path;
use weigh::internal::sys;

/// What is said until it is.
const OPENING: &str = "opening it …";

impl Browser {
    /// The path of the chosen line, or of the directory if nothing is in it: absolute, unless it is from a snapshot.
    pub(super) fn chosen_path(&self) -> Option<Vec<u8>> {
        let child = match self.item(self.shown.chosen) {
            Some(item) if item.gone.is_some() || self.found_so_far().is_some() => {
                return Some(path::join_all([&*self.path(), &*item.name]));
            }
            Some(item) => self.scan.tree.at(item.place?),
            None => self.scan.here(),
        };
        let real = self.selection.protected.real_path(&self.scan.tree, &child);
        Some(real.unwrap_or_else(|| child.path()))
    }

    /// Asks for the target of the chosen symlink, if it is not known and there is room to show it.
    pub(super) fn look_at_link(&mut self) -> Option<Command> {
        let is_shown =
            self.shown.has_pane || self.dialogs.open.as_ref().is_some_and(Dialog::is_info);
        let item = self.item(self.shown.chosen).filter(|_| is_shown && self.is_of_roots());
        let child = self.scan.tree.at(item?.place?);
        let path = Some(child).filter(|it| it.mode().kind() == Kind::Symlink);
        let path = self.selection.protected.real_path(&self.scan.tree, &path?)?;
        if self.shown.link.as_ref().is_some_and(|(known, _)| *known == path) {
            return None;
        }
        self.shown.link = Some((path.clone(), None));
        Some(Command::ReadLink(path))
    }

    /// The target of the chosen symlink, as it is shown.
    pub(super) fn link_target(&self) -> Option<String> {
        let child = self.scan.tree.at(self.item(self.shown.chosen)?.place?);
        let (path, target) = self.shown.link.as_ref()?;
        let real = self.selection.protected.real_path(&self.scan.tree, &child)?;
        let target = target.as_ref().filter(|it| real == *path && !it.is_empty());
        target.map(|target| self.text(target))
    }

    /// Copies the path of the chosen line if it cannot control the terminal, and says it.
    pub(super) fn copy_path(&mut self) -> Option<Command> {
        let Some(path) = self.chosen_path() else {
            return self.refuse("a group has no path");
        };
        let shown = self.text(&path);
        let why = match String::from_utf8(path) {
            Ok(text) if !text.contains(is_control) => {
                self.say(format!("copied {shown}"));
                return Some(Command::Copy(text));
            }
            Ok(_) => "has control characters",
            Err(_) => "is not UTF-8",
        };
        self.refuse(format!("not copied, because it {why}: {shown}"))
    }

    /// Opens the chosen file or directory in another program.
    pub(super) fn open_outside(&mut self) -> Option<Command> {
        let opened = self.to_open();
        self.say(opened.as_ref().err().copied().unwrap_or(OPENING));
        opened.ok()
    }

    /// The other program has started, or why it has not.
    pub(super) fn opened_outside(&mut self, failed: Option<String>) {
        match failed {
            Some(why) => self.say(format!("not opened: {why}")),
            // Nobody wants to know it later.
            None if self.said() == Some(OPENING) => self.say("opened"),
            None => {}
        }
    }

    fn to_open(&self) -> Result<Command, &'static str> {
        let reasons = [
            (self.options.is_root, "nothing is opened as root"),
            (self.options.read_only, "nothing is opened with --read-only"),
            (self.is_walking(), AFTER_SCAN),
            (!self.is_of_roots(), "nothing is opened: this was not scanned here"),
        ];
        if let Some((_, why)) = reasons.into_iter().find(|(is_so, _)| *is_so) {
            return Err(why);
        }
        let place = self.item(self.shown.chosen).and_then(|item| item.place);
        let child = place.map(|place| self.scan.tree.at(place));
        let child = child.filter(|it| matches!(it.mode().kind(), Kind::File | Kind::Directory));
        let child = child.ok_or("only files and directories are opened")?;
        let path = self.selection.protected.real_path(&self.scan.tree, &child);
        let known = path.zip(child.node().fingerprint).ok_or("it was not read completely")?;
        Ok(Command::Open(sys::into_path(known.0), known.1))
    }
}
