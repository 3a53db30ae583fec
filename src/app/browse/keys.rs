//! What each key does: one table for the keys, the help, and the names of actions in the config file.

use Key::{Char, Control};

use super::browser::ViewKind;
use weigh::internal::base::escape::harmless;

/// A key or a mouse action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A letter or another character.
    Char(char),
    /// A letter with Ctrl.
    Control(char),
    /// An arrow.
    Up,
    /// An arrow.
    Down,
    /// An arrow.
    Left,
    /// An arrow.
    Right,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// To the first line.
    Home,
    /// To the last line.
    End,
    /// Return.
    Enter,
    /// Tab.
    Tab,
    /// Tab with Shift.
    BackTab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Esc.
    Escape,
    /// Ctrl-C.
    Interrupt,
    /// The wheel of the mouse.
    ScrollUp,
    /// The wheel of the mouse.
    ScrollDown,
    /// A click on a line of the list, or of a text over it, counted from its first one.
    Click(usize),
    /// A click on the name of a view.
    ClickView(ViewKind),
}

macro_rules! actions {
    ($(($act:ident, $name:literal, $keys:expr, $help:literal),)*) => {
        /// What the browser does for a key.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Act {
            $($act),*
        }

        /// All actions, in the order of the help.
        pub(super) const ACTIONS: &[Action] = &[$((Act::$act, $name, $keys, $help)),*];
    };
}

/// An action, its name in the config file, its keys, and the help.
pub(super) type Action = (Act, &'static str, &'static [Key], &'static str);

actions! {
    (Up, "up", &[Key::Up, Char('k')], "up"),
    (Down, "down", &[Key::Down, Char('j')], "down"),
    (PageUp, "page-up", &[Key::PageUp, Control('b')], "a page up"),
    (PageDown, "page-down", &[Key::PageDown, Control('f')], "a page down"),
    (HalfUp, "half-page-up", &[Control('u')], "half a page up"),
    (HalfDown, "half-page-down", &[Control('d')], "half a page down"),
    (First, "first", &[Char('g'), Key::Home], "the first line"),
    (Last, "last", &[Char('G'), Key::End], "the last line"),
    (Open, "open", &[Key::Enter, Key::Right, Char('l')], "into a directory, a match"),
    (Parent, "parent", &[Key::Left, Char('h'), Char('<'), Key::Backspace], "out of it"),
    (NextView, "next-view", &[Key::Tab], "next view: files, clean …"),
    (PreviousView, "previous-view", &[Key::BackTab], "the view before"),
    (Search, "search", &[Char('/')], "search; n goes on till Esc"),
    (PreviousMatch, "previous-match", &[Char('N')], "the match before"),
    (Filter, "filter", &[Char('f')], "list only some names"),
    (BySize, "by-size", &[Char('s')], "sort by size"),
    (ByName, "by-name", &[Char('n')], "sort by name"),
    (ByCount, "by-count", &[Char('C')], "sort by entries"),
    (ByTime, "by-time", &[Char('M')], "sort by time"),
    (ByChange, "by-change", &[Char('~')], "what grew; again: back"),
    (DirectoriesFirst, "directories-first", &[Char('t')], "directories first"),
    (Apparent, "apparent", &[Char('a')], "apparent size or on disk"),
    (Bars, "bars", &[Char('b')], "bars, shares"),
    (Map, "map", &[Char('T')], "a treemap; arrows move"),
    (Counts, "counts", &[Char('c')], "show entries"),
    (Times, "times", &[Char('m')], "show times"),
    (Details, "details", &[Char('i')], "more about the line"),
    (Mark, "mark", &[Char(' ')], "mark or unmark, go down"),
    (MarkAll, "mark-all", &[Char('A')], "mark all shown"),
    (UnmarkAll, "unmark-all", &[Char('U')], "unmark all"),
    (MarkBy, "mark-by", &[Char('+')], "mark by name, size, age"),
    (MarkLinks, "mark-links", &[Char('H')], "mark all hard links"),
    (Delete, "delete", &[Char('d'), Key::Delete], "review, then delete"),
    (Undo, "undo", &[Char('u')], "put back the last"),
    (Trash, "trash", &[Char('z')], "show the trash"),
    (Copy, "copy", &[Char('y')], "copy the path"),
    (OpenOutside, "open-outside", &[Char('o')], "open it elsewhere"),
    (Unread, "unread", &[Char('e')], "what could not be read"),
    (Again, "again", &[Char('r')], "scan this directory again"),
    (Paths, "paths", &[Char('p')], "quit, print marked paths"),
    (Stop, "stop", &[Key::Escape], "stop the scan; back"),
    (Help, "help", &[Char('?')], "this help"),
    (Quit, "quit", &[Char('q')], "quit"),
}

/// The keys that are no character: what the config file calls them, and the help.
const NAMED: &[(Key, &str, &str)] = &[
    (Key::Up, "Up", "↑"),
    (Key::Down, "Down", "↓"),
    (Key::Left, "Left", "←"),
    (Key::Right, "Right", "→"),
    (Key::PageUp, "PageUp", "PgUp"),
    (Key::PageDown, "PageDown", "PgDn"),
    (Key::Home, "Home", "Home"),
    (Key::End, "End", "End"),
    (Key::Enter, "Enter", "Enter"),
    (Key::Tab, "Tab", "Tab"),
    (Key::BackTab, "Shift-Tab", "Shift-Tab"),
    (Key::Backspace, "Backspace", "Bksp"),
    (Key::Delete, "Delete", "Del"),
    (Key::Escape, "Esc", "Esc"),
    (Key::Char(' '), "Space", "Space"),
];

/// An action, and a key for it instead of those of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding(Act, Key);

impl Binding {
    /// Reads `ACTION=KEY`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (action, key) = text.split_once('=').ok_or("it is ACTION=KEY")?;
        let (act, ..) = ACTIONS.iter().find(|it| it.1 == action).ok_or_else(|| {
            let names: Vec<_> = ACTIONS.iter().map(|it| it.1).collect();
            format!("no action is called '{action}': there are {}", names.join(", "))
        })?;
        Ok(Self(*act, Key::parse(key)?))
    }
}

impl Key {
    fn parse(text: &str) -> Result<Self, String> {
        /// The terminal sends them as other keys, and Ctrl-C, Ctrl-L and Ctrl-Z are not for actions.
        const TAKEN: &[char] = &['c', 'h', 'i', 'j', 'l', 'm', 'z'];
        let mut letters = text.chars();
        if let (Some(letter), None) = (letters.next(), letters.next())
            && !letter.is_control()
        {
            return Ok(Self::Char(letter));
        }
        let control = text.strip_prefix("Ctrl-").and_then(|letter| letter.parse().ok());
        if let Some(letter) = control.filter(char::is_ascii_lowercase)
            && !TAKEN.contains(&letter)
        {
            return Ok(Self::Control(letter));
        }
        let named = NAMED.iter().find(|(_, name, _)| *name == text);
        named.map(|(key, ..)| *key).ok_or_else(|| {
            let names: Vec<_> = NAMED.iter().map(|(_, name, _)| *name).collect();
            let names = names.join(", ");
            format!("'{text}' is no key: a key is one character, Ctrl-a and the like, {names}")
        })
    }

    /// Its name in the help.
    pub(super) fn name(self) -> String {
        match (self, NAMED.iter().find(|(key, ..)| *key == self)) {
            (_, Some((_, _, short))) => (*short).to_owned(),
            (Key::Char(letter), None) => harmless(letter.to_string().as_bytes()),
            (Key::Control(letter), None) => format!("^{}", letter.to_ascii_uppercase()),
            _ => String::new(),
        }
    }
}

/// The keys of all actions: those of the table, and others that the user has set.
#[derive(Clone, Debug, Default)]
pub struct Bindings(Vec<Binding>);

impl Bindings {
    /// Those of the table, except for these.
    ///
    /// # Errors
    /// Which key is that of two actions.
    pub fn new(set: Vec<Binding>) -> Result<Self, String> {
        for (i, Binding(act, key)) in set.iter().enumerate() {
            if let Some(other) = set[..i].iter().find(|it| it.1 == *key && it.0 != *act) {
                let name = |act| ACTIONS.iter().find(|it| it.0 == act).map_or("", |it| it.1);
                let (key, one, two) = (key.name(), name(other.0), name(*act));
                return Err(format!("one key, {key}, is set for {one} and for {two}"));
            }
        }
        Ok(Self(set))
    }

    /// What `key` does in the list.
    pub(super) fn act(&self, key: Key) -> Option<Act> {
        ACTIONS.iter().map(|it| it.0).find(|act| self.keys(*act).contains(&key))
    }

    /// The keys of an action.
    pub(super) fn keys(&self, act: Act) -> Vec<Key> {
        let set: Vec<_> = self.0.iter().filter(|it| it.0 == act).map(|it| it.1).collect();
        if !set.is_empty() {
            return set;
        }
        let usual = ACTIONS.iter().filter(|it| it.0 == act).flat_map(|it| it.2);
        usual.copied().filter(|key| !self.0.iter().any(|it| it.1 == *key)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first of the two would have it, and nobody would hear of the other.
    #[test]
    fn no_key_is_that_of_two_actions() {
        let mut keys: Vec<_> = ACTIONS.iter().flat_map(|it| it.2).collect();
        let all = keys.len();
        keys.sort_unstable_by_key(|key| key.name());
        keys.dedup();
        assert_eq!(keys.len(), all);
    }
}
