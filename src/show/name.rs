//! Text cut to a width in cells, and the links behind names.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

use crate::base::escape::uri;
use crate::base::path;

/// Stands for what is left out.
pub(super) const MARK: &str = "…";

/// How many cells the widest of `texts` takes.
pub fn widest<'t>(texts: impl IntoIterator<Item = &'t String>) -> usize {
    texts.into_iter().map(|text| cells(text)).max().unwrap_or(0)
}

/// `text` with blanks after it, up to `width` cells.
pub fn padded(text: &str, width: usize) -> String {
    text.to_owned() + &" ".repeat(width.saturating_sub(cells(text)))
}

/// `text` with blanks before it, up to `width` cells.
pub fn right_aligned(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(cells(text))) + text
}

/// `text` cut to at most `width` cells. Cut text ends in `…`, so that nobody takes it for the whole one.
pub fn cut(text: &str, width: usize) -> String {
    match width.checked_sub(cells(MARK)) {
        _ if cells(text) <= width => text.to_owned(),
        Some(room) => start(text, room).to_owned() + MARK,
        None => String::new(),
    }
}

/// `text` in lines of at most `width` cells, broken at blanks; a longer word has a line of its own. `after` stands before
/// each line but the first.
pub(super) fn wrapped(text: &str, width: usize, after: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            // The blanks at the start of the text stay.
            Some(line) if line.trim().is_empty() || cells(line) + 1 + cells(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("{after}{word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// `text` in at most `width` cells. Longer text loses its middle, because the end of a name tells files apart.
pub fn shorten(text: &str, width: usize) -> String {
    if cells(text) <= width {
        return text.to_owned();
    }
    if width < 4 {
        return cut(text, width);
    }
    let start = start(text, width / 2);
    let end = end(text, width - 1 - cells(start));
    [start, MARK, end].concat()
}

/// As many whole characters (UAX 29) and escapes of the start of `text` as fit into `width` cells.
pub(super) fn start(text: &str, width: usize) -> &str {
    // Measures from the start each time, because the width of a character depends on those before it. Searches by
    // halves, because a name in a snapshot may have millions of characters of no width.
    let ends = starts(text);
    let fitting = ends.partition_point(|end| cells(&text[..*end]) <= width);
    &text[..fitting.checked_sub(1).map_or(0, |last| ends[last])]
}

/// As many whole characters and escapes of the end of `text` as fit into `width` cells.
pub(super) fn end(text: &str, width: usize) -> &str {
    let starts = starts(text);
    let fitting = starts.partition_point(|start| cells(&text[*start..]) > width);
    starts.get(fitting).map_or("", |start| &text[*start..])
}

/// Where characters and escapes start in `text`: half of an escape would be read as a name.
fn starts(text: &str) -> Vec<usize> {
    let mut end_of_escape = 0;
    let starts = text.grapheme_indices(true).map(|(at, _)| at).filter(|at| {
        let is_start = *at >= end_of_escape;
        if is_start {
            end_of_escape = at + length_of_escape(&text.as_bytes()[*at..]);
        }
        is_start
    });
    starts.collect()
}

/// How many bytes the escape takes with which `text` starts; 0 if there is none.
fn length_of_escape(text: &[u8]) -> usize {
    const LONGEST: usize = r"\u{10ffff}".len();
    match text {
        [b'\\', b'x', ..] => r"\xff".len(),
        [b'\\', b'u', b'{', ..] => {
            text.iter().take(LONGEST).position(|byte| *byte == b'}').map_or(0, |end| end + 1)
        }
        [b'\\', ..] => r"\n".len(),
        _ => 0,
    }
}

// How many cells text takes on a terminal.
//
// unicode-width counts the cells of shaped text: letters that join are one cell (Arabic lam and alef), signs beside a
// letter take none (Bengali aa), and joined emoji are two. Terminals that go by single characters (wcwidth(3)), as
// xterm, tmux and VTE do, draw cells for each. If a count is too low, lines wrap and the picture breaks; if it is too
// high, a blank is left over. So the higher count is used.

/// How many cells `text` takes on a terminal, at most.
pub fn cells(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.chars().map(|c| c.width().unwrap_or(0) + missing(c)).sum()
}

/// How many cells a terminal draws for `c` beyond those that unicode-width counts.
fn missing(c: char) -> usize {
    match u32::from(c) {
        0x302e | 0x302f | 0x16ff0 | 0x16ff1 => 2,
        // Some terminals widen the character before it, an emoji.
        0xfe0f => 1,
        c => usize::from(ONE_MISSING.binary_search(&c).is_ok()),
    }
}

/// These characters and those of two cells above are all up to U+2FFFF for which tmux 3.3a (glibc 2.36) draws more cells than
/// unicode-width 0.2.3 counts. Most are signs beside a letter (general category Mc).
const ONE_MISSING: [u32; 75] = [
    0x605, 0x70f, 0x890, 0x891, 0x8e2, 0x9be, 0x9d7, 0xb3e, 0xb57, 0xbbe, 0xbd7, 0xcc0, 0xcc2,
    0xcc7, 0xcc8, 0xcca, 0xccb, 0xcd5, 0xcd6, 0xd3e, 0xd4e, 0xd57, 0xdcf, 0xddf, 0x1715, 0x1734,
    0x1b35, 0x1b3b, 0x1b3d, 0x1b43, 0x1b44, 0x1baa, 0x1bf2, 0x1bf3, 0x3248, 0x3249, 0x324a, 0x324b,
    0x324c, 0x324d, 0x324e, 0x324f, 0xa8fa, 0xa953, 0xa9c0, 0x111c0, 0x111c2, 0x111c3, 0x11235,
    0x1133e, 0x1134d, 0x11357, 0x114b0, 0x114bd, 0x115af, 0x116b6, 0x11930, 0x1193d, 0x1193f,
    0x11941, 0x11a84, 0x11a85, 0x11a86, 0x11a87, 0x11a88, 0x11a89, 0x11d46, 0x1d165, 0x1d166,
    0x1d16d, 0x1d16e, 0x1d16f, 0x1d170, 0x1d171, 0x1d172,
];

// Hyperlinks behind names: OSC 8, as `ls --hyperlink` writes it.

/// What links begin with.
#[derive(Clone, Debug, Default)]
pub struct Hyperlinks {
    /// The machine's host name.
    pub host: Vec<u8>,
    /// The absolute path of the directory to which paths are relative; empty if that is unknown.
    pub directory: Vec<u8>,
}

impl Hyperlinks {
    /// `text` with a link to the entry at `path`, if its absolute path is known.
    pub(super) fn on(&self, text: String, path: &[u8]) -> String {
        let absolute = match path.starts_with(b"/") {
            true => path.to_vec(),
            false => path::join_all([&*self.directory, path::below(path, b".").unwrap_or(path)]),
        };
        if absolute.first() != Some(&b'/') {
            return text;
        }
        let [host, path] = [&self.host, &absolute].map(|it| uri(it, b"0123456789abcdef"));
        format!("\x1b]8;;file://{host}{path}\x1b\\{text}\x1b]8;;\x1b\\")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_by_cells() {
        for (text, width, expected) in [
            ("abcdef", 6, "abcdef"),
            ("abcdef", 5, "abcd…"),
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日本…"),
            ("🗂\u{fe0f}abc", 4, "🗂\u{fe0f}a…"),
            ("🗂\u{fe0f}abc", 2, "…"),
            ("👩\u{200d}🚀abc", 6, "👩\u{200d}🚀a…"),
            ("👩\u{200d}🚀👩\u{200d}🚀", 5, "👩\u{200d}🚀…"),
            ("abcdef", 2, "a…"),
            ("abcdef", 0, ""),
        ] {
            assert_eq!(cut(text, width), expected, "{text} in {width}");
            assert!(cells(&cut(text, width)) <= width);
        }
    }

    #[test]
    fn shortens_in_the_middle() {
        for (text, width, expected) in [
            ("deb.debian.org_debian_main_binary-amd64.yml", 20, "deb.debian…amd64.yml"),
            ("abcdef", 6, "abcdef"),
            ("abcdef", 5, "ab…ef"),
            ("abcdef", 4, "ab…f"),
            ("abcdef", 3, "ab…"),
            ("abcdef", 0, ""),
            ("日本語日本語", 8, "日本…語"),
            ("日本語日本語", 7, "日…本語"),
            ("abcde\u{301}f", 4, "ab…f"),
            ("abcdee\u{301}", 5, "ab…ee\u{301}"),
            ("abcdef👩\u{200d}🚀", 9, "abcd…👩\u{200d}🚀"),
            ("abcdef👩\u{200d}🚀", 4, "ab…"),
            // Flags, the family and the hand are characters of several parts.
            ("🇨🇭🇩🇪🇫🇷🇮🇹🇦🇹", 8, "🇨🇭🇩🇪…🇦🇹"),
            ("🇨🇭🇩🇪🇫🇷🇮🇹🇦🇹", 7, "🇨🇭…🇮🇹🇦🇹"),
            ("👩\u{200d}👩\u{200d}👧abcdefgh", 13, "👩\u{200d}👩\u{200d}👧…cdefgh"),
            ("abcdefgh👩\u{200d}👩\u{200d}👧", 13, "abcdef…👩\u{200d}👩\u{200d}👧"),
            ("abcd👋\u{1f3fd}", 4, "ab…"),
            ("ab👋\u{1f3fd}cdef", 6, "ab…def"),
            // So are escapes.
            (r"ab\x01\x02cdefgh", 9, r"ab…cdefgh"),
            (r"abcdef\x01\x02gh", 9, r"abcd…gh"),
            (r"abcdef\x01\x02gh", 13, r"abcdef…\x02gh"),
            (r"\u{10ffff}abcdefgh", 12, r"…abcdefgh"),
            (r"abcdefgh\u{200b}", 10, r"abcde…"),
            (r"a\\\\bcdef", 7, r"a\\…def"),
            (r"a\\\\bcdef", 6, r"a\\…ef"),
            (r"a\\nbcdef", 4, r"a…ef"),
            (r"\u{abcdefghijklmn", 8, r"\u{a…lmn"),
        ] {
            assert_eq!(shorten(text, width), expected, "{text} in {width}");
            assert!(cells(&shorten(text, width)) <= width);
        }
    }

    #[test]
    fn no_terminal_draws_more() {
        for (text, expected) in [
            ("plain", 5),
            ("e\u{301}", 1),
            ("日本語", 6),
            // Bengali and Tamil, each with a sign beside a letter.
            ("\u{9ac}\u{9be}", 2),
            ("\u{b95}\u{bbe}", 2),
            // Arabic lam and alef.
            ("\u{644}\u{627}", 2),
            ("👩\u{200d}🚀", 4),
            ("👍\u{1f3fd}", 4),
            ("🇩🇪", 2),
            ("🗂\u{fe0f}", 2),
        ] {
            assert_eq!(cells(text), expected, "{text}");
        }
    }

    #[test]
    fn the_table_is_in_order() {
        assert!(ONE_MISSING.is_sorted());
    }
}
