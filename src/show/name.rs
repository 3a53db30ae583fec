//! Text cut to a width in cells.

mod cells;

use unicode_segmentation::UnicodeSegmentation;

pub use cells::cells;

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
}
