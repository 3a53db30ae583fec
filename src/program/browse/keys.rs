//! What each key does: one table for the keys, the help, and the names of actions in the config file.

use weigh::internal::escape::escape;

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
    /// A click on a line of the list, counted from the first one on the screen.
    Click(usize),
}

/// What the browser does for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Up,
    Down,
    PageUp,
    PageDown,
    HalfUp,
    HalfDown,
    First,
    Last,
    Open,
    Parent,
    NextView,
    PreviousView,
    BySize,
    ByName,
    ByCount,
    ByTime,
    ByChange,
    DirectoriesFirst,
    Apparent,
    Bars,
    Map,
    Counts,
    Times,
    Details,
    Mark,
    MarkAll,
    MarkBy,
    MarkLinks,
    UnmarkAll,
    Delete,
    Undo,
    Trash,
    Search,
    PreviousMatch,
    Filter,
    Copy,
    OpenOutside,
    Unread,
    Again,
    Paths,
    Help,
    Quit,
    Stop,
}

/// Actions that belong together, each with its name in the config file and its keys; and their description in the help.
pub(super) type KeyLine = (&'static [(Act, &'static str, &'static [Key])], &'static str);

/// All actions, in the order of the help.
pub(super) const KEYS: &[KeyLine] = &[
    (
        &[
            (Act::Up, "up", &[Key::Up, Key::Char('k')]),
            (Act::Down, "down", &[Key::Down, Key::Char('j')]),
        ],
        "up, down",
    ),
    (
        &[
            (Act::PageUp, "page-up", &[Key::PageUp, Key::Control('b')]),
            (Act::PageDown, "page-down", &[Key::PageDown, Key::Control('f')]),
        ],
        "a page",
    ),
    (
        &[
            (Act::HalfUp, "half-page-up", &[Key::Control('u')]),
            (Act::HalfDown, "half-page-down", &[Key::Control('d')]),
        ],
        "half a page",
    ),
    (
        &[
            (Act::First, "first", &[Key::Char('g'), Key::Home]),
            (Act::Last, "last", &[Key::Char('G'), Key::End]),
        ],
        "to the first line, the last",
    ),
    (
        &[(Act::Open, "open", &[Key::Enter, Key::Right, Key::Char('l')])],
        "into a directory, to a file's place",
    ),
    (
        &[(Act::Parent, "parent", &[Key::Left, Key::Char('h'), Key::Char('<'), Key::Backspace])],
        "out of it",
    ),
    (
        &[
            (Act::NextView, "next-view", &[Key::Tab]),
            (Act::PreviousView, "previous-view", &[Key::BackTab]),
        ],
        "largest files, types, ages, owners",
    ),
    (
        &[
            (Act::Search, "search", &[Key::Char('/')]),
            (Act::PreviousMatch, "previous-match", &[Key::Char('N')]),
        ],
        "search; n, N go on",
    ),
    (&[(Act::Filter, "filter", &[Key::Char('f')])], "list only some names"),
    (
        &[(Act::BySize, "by-size", &[Key::Char('s')]), (Act::ByName, "by-name", &[Key::Char('n')])],
        "sort by size, name",
    ),
    (
        &[
            (Act::ByCount, "by-count", &[Key::Char('C')]),
            (Act::ByTime, "by-time", &[Key::Char('M')]),
        ],
        "sort by entries, time",
    ),
    (&[(Act::ByChange, "by-change", &[Key::Char('~')])], "sort by change (--since)"),
    (&[(Act::DirectoriesFirst, "directories-first", &[Key::Char('t')])], "directories first"),
    (&[(Act::Apparent, "apparent", &[Key::Char('a')])], "apparent size or disk usage"),
    (
        &[(Act::Bars, "bars", &[Key::Char('b')]), (Act::Map, "map", &[Key::Char('T')])],
        "bars, percentages; a treemap",
    ),
    (
        &[(Act::Counts, "counts", &[Key::Char('c')]), (Act::Times, "times", &[Key::Char('m')])],
        "show entries, times",
    ),
    (&[(Act::Details, "details", &[Key::Char('i')])], "more about the line"),
    (&[(Act::Mark, "mark", &[Key::Char(' ')])], "mark, or not, and go down"),
    (
        &[
            (Act::MarkAll, "mark-all", &[Key::Char('A')]),
            (Act::UnmarkAll, "unmark-all", &[Key::Char('U')]),
        ],
        "mark all shown, unmark all",
    ),
    (
        &[
            (Act::MarkBy, "mark-by", &[Key::Char('+')]),
            (Act::MarkLinks, "mark-links", &[Key::Char('H')]),
        ],
        "mark by name, size, age; all links",
    ),
    (
        &[(Act::Delete, "delete", &[Key::Char('d'), Key::Delete])],
        "review to delete: the marks, or the line",
    ),
    (
        &[(Act::Undo, "undo", &[Key::Char('u')]), (Act::Trash, "trash", &[Key::Char('z')])],
        "put the last back; what is in the trash",
    ),
    (
        &[
            (Act::Copy, "copy", &[Key::Char('y')]),
            (Act::OpenOutside, "open-outside", &[Key::Char('o')]),
        ],
        "copy the path, open in another program",
    ),
    (&[(Act::Unread, "unread", &[Key::Char('e')])], "what could not be read"),
    (&[(Act::Again, "again", &[Key::Char('r')])], "scan this directory again"),
    (&[(Act::Paths, "paths", &[Key::Char('p')])], "quit, print marked paths"),
    (&[(Act::Stop, "stop", &[Key::Escape])], "stop the scan; back"),
    (
        &[(Act::Help, "help", &[Key::Char('?')]), (Act::Quit, "quit", &[Key::Char('q')])],
        "this help, quit",
    ),
];

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
        let found = actions().find(|(_, name, _)| *name == action);
        let (act, ..) = found.ok_or_else(|| {
            let names: Vec<_> = actions().map(|(_, name, _)| *name).collect();
            format!("no action is called '{action}': there are {}", names.join(", "))
        })?;
        Ok(Self(*act, Key::parse(key)?))
    }
}

impl Key {
    fn parse(text: &str) -> Result<Self, String> {
        /// The terminal sends them as other keys, and Ctrl-C and Ctrl-Z are not for actions.
        const TAKEN: &[char] = &['c', 'h', 'i', 'j', 'm', 'z'];
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
            (Key::Char(letter), None) => escape(letter.to_string().as_bytes()),
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
            if let Some(Binding(other, _)) = set[..i].iter().find(|it| it.1 == *key && it.0 != *act)
            {
                let [one, two] = [other, act].map(|act| name(*act));
                return Err(format!("one key, {}, is set for {one} and for {two}", key.name()));
            }
        }
        Ok(Self(set))
    }

    /// What `key` does in the list.
    pub(super) fn act(&self, key: Key) -> Option<Act> {
        let acts = actions().map(|(act, ..)| *act);
        acts.into_iter().find(|act| self.keys(*act).contains(&key))
    }

    /// The keys of an action.
    pub(super) fn keys(&self, act: Act) -> Vec<Key> {
        let set: Vec<_> = self.0.iter().filter(|it| it.0 == act).map(|it| it.1).collect();
        if !set.is_empty() {
            return set;
        }
        let usual = actions().filter(|(it, ..)| *it == act).flat_map(|(.., keys)| keys.iter());
        usual.copied().filter(|key| !self.0.iter().any(|it| it.1 == *key)).collect()
    }
}

fn actions() -> impl Iterator<Item = &'static (Act, &'static str, &'static [Key])> {
    KEYS.iter().flat_map(|(actions, _)| *actions)
}

fn name(act: Act) -> &'static str {
    actions().find(|(it, ..)| *it == act).map_or("", |(_, name, _)| name)
}
