//! What each key does: one table for the keys and the help.

/// A key or a mouse action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A letter or another character.
    Char(char),
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
    /// Backspace.
    Backspace,
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
    First,
    Last,
    Open,
    Parent,
    BySize,
    ByName,
    ByCount,
    ByTime,
    ByChange,
    DirectoriesFirst,
    Apparent,
    Graph,
    Map,
    Counts,
    Times,
    Info,
    Mark,
    MarkAll,
    MarkBy,
    UnmarkAll,
    Review,
    Undo,
    Filter,
    Errors,
    Again,
    Paths,
    Help,
    Quit,
    Stop,
    Interrupt,
}

/// Keys that belong together, with the action of each; their names in the help, and their description there.
pub(super) type KeyLine = (&'static [(Key, Act)], &'static str, &'static str);

/// The actions of all keys with their help texts, in the order of the help. Related keys share one line.
pub(super) const KEYS: &[KeyLine] = &[
    (
        &[
            (Key::Up, Act::Up),
            (Key::Char('k'), Act::Up),
            (Key::Down, Act::Down),
            (Key::Char('j'), Act::Down),
        ],
        "↑ ↓ k j",
        "up, down",
    ),
    (
        &[
            (Key::PageUp, Act::PageUp),
            (Key::PageDown, Act::PageDown),
            (Key::Home, Act::First),
            (Key::End, Act::Last),
        ],
        "PgUp PgDn Home End",
        "further",
    ),
    (
        &[(Key::Right, Act::Open), (Key::Enter, Act::Open), (Key::Char('l'), Act::Open)],
        "→ Enter l",
        "into a directory",
    ),
    (
        &[
            (Key::Left, Act::Parent),
            (Key::Backspace, Act::Parent),
            (Key::Char('h'), Act::Parent),
            (Key::Char('<'), Act::Parent),
        ],
        "← h <",
        "out of it",
    ),
    (&[(Key::Char('s'), Act::BySize), (Key::Char('n'), Act::ByName)], "s n", "sort by size, name"),
    (
        &[(Key::Char('C'), Act::ByCount), (Key::Char('M'), Act::ByTime)],
        "C M",
        "sort by entries, time",
    ),
    (&[(Key::Char('~'), Act::ByChange)], "~", "sort by change (--since)"),
    (&[(Key::Char('t'), Act::DirectoriesFirst)], "t", "directories first"),
    (&[(Key::Char('a'), Act::Apparent)], "a", "apparent size or disk usage"),
    (
        &[(Key::Char('g'), Act::Graph), (Key::Char('T'), Act::Map)],
        "g T",
        "bars, percentages; a treemap",
    ),
    (&[(Key::Char('c'), Act::Counts), (Key::Char('m'), Act::Times)], "c m", "show entries, times"),
    (&[(Key::Char('i'), Act::Info)], "i", "more about the line"),
    (&[(Key::Char(' '), Act::Mark)], "Space", "mark, or not, and go down"),
    (
        &[(Key::Char('A'), Act::MarkAll), (Key::Char('U'), Act::UnmarkAll)],
        "A U",
        "mark all shown, unmark all",
    ),
    (&[(Key::Char('+'), Act::MarkBy)], "+", "mark by name, size or age"),
    (
        &[(Key::Char('d'), Act::Review), (Key::Char('u'), Act::Undo)],
        "d u",
        "review marks to delete, undo",
    ),
    (&[(Key::Char('/'), Act::Filter)], "/", "list only some names"),
    (&[(Key::Char('e'), Act::Errors)], "e", "what could not be read"),
    (&[(Key::Char('r'), Act::Again)], "r", "scan this directory again"),
    (&[(Key::Char('p'), Act::Paths)], "p", "quit, print marked paths"),
    (&[(Key::Escape, Act::Stop), (Key::Interrupt, Act::Interrupt)], "Esc ^C", "stop the scan"),
    (&[(Key::Char('?'), Act::Help), (Key::Char('q'), Act::Quit)], "? q", "this help, quit"),
];

/// The action of `key` in the list.
pub(super) fn act(key: Key) -> Option<Act> {
    let mut all = KEYS.iter().flat_map(|(keys, ..)| *keys);
    all.find(|(known, _)| *known == key).map(|(_, act)| *act)
}
