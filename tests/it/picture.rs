//! Reads the program's tree back: what every line is about, and how wide it is on a terminal.

/// One line of a picture drawn with `-b -c -o b`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub size: u64,
    /// The name, or the whole path with `-p`.
    pub name: String,
    /// What it says is shared; nothing is said of too little.
    pub shared: u64,
}

/// What the last line says of those that there is no room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    pub size: u64,
    pub count: u64,
    pub is_at_least: bool,
}

/// The lines of `text`, which was drawn with `-b -c -o b`, without the one of what is hidden and without the headings
/// of a comparison. Names hold no glyph, no `─` and no ` (`. Only with `-p` has every entry a line of its own.
pub fn lines(text: &str) -> Vec<Line> {
    let line = |line| parse(line).unwrap_or_else(|| panic!("{line:?} is no line"));
    let headings = if text.starts_with("since ") { 2 } else { 0 };
    // Other headings have no digits.
    let lines =
        text.lines().skip(headings).filter(|line| line.contains(|c: char| c.is_ascii_digit()));
    lines.filter(|line| parse_rest(line).is_none()).map(line).collect()
}

/// What is said of what is hidden in `text`, which was drawn with `-b -c -o b`.
pub fn rest(text: &str) -> Option<Rest> {
    text.lines().find_map(parse_rest)
}

fn parse_rest(line: &str) -> Option<Rest> {
    let (size, rest) = line.trim_start().split_once("B ")?;
    let (size, is_at_least) = match size.trim_start().strip_prefix('≥') {
        Some(size) => (size, true),
        None => (size, false),
    };
    let rest = rest.strip_suffix(" in smaller groups").unwrap_or(rest);
    let rest = rest.strip_suffix(" entries").or_else(|| rest.strip_suffix(" entry"))?;
    let kinds = [" smaller", " other", " older", ""];
    let count = kinds.iter().find_map(|kind| rest.strip_suffix(kind))?;
    let count = count.trim_start().replace(',', "").parse().ok()?;
    Some(Rest { size: size.parse().ok()?, count, is_at_least })
}

fn parse(line: &str) -> Option<Line> {
    let (size, rest) = line.trim_start().split_once('B')?;
    // A directory's glyphs end in the corner to its children.
    let ends = ["── ", "─┴ ", "─┬ "];
    let (_, name) = ends.into_iter().find_map(|end| rest.split_once(end))?;
    let (name, shared) = match name.split_once(" (") {
        Some((name, aside)) => {
            (name, aside.strip_suffix("B hard-linked elsewhere)")?.parse().ok()?)
        }
        None => (name, 0),
    };
    Some(Line { size: size.parse().ok()?, name: name.to_owned(), shared })
}

/// How many cells of a terminal `text` takes, colours left out. Knows the characters that the
/// fixtures use: combining marks take none, East Asian ideographs and emoji two.
pub fn cells(text: &str) -> usize {
    let mut cells = 0;
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        cells += match char {
            '\x1b' => {
                let next = chars.next();
                if next == Some(']') {
                    // A link, or its end: ESC ] 8 ; ; URI ESC \.
                    assert!(chars.as_str().starts_with("8;;"), "no link in {text:?}");
                    let end = chars.find(|char| *char == '\\');
                    assert!(end.is_some(), "a link without end in {text:?}");
                    continue;
                }
                // A colour: ESC [ digits and semicolons m.
                assert_eq!(next, Some('['), "an escape that is no colour in {text:?}");
                let end = chars.find(|char| !matches!(char, '0'..='9' | ';'));
                assert_eq!(end, Some('m'), "an escape that is no colour in {text:?}");
                0
            }
            '\u{300}'..='\u{36f}' => 0,
            '\u{1100}'..='\u{115f}' | '\u{3000}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => 2,
            '\u{ff00}'..='\u{ff60}' | '\u{1f300}'..='\u{1faff}' => 2,
            _ => 1,
        };
    }
    cells
}
