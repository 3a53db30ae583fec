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

/// As many whole characters (UAX 29) of the start of `text` as fit into `width` cells.
pub(super) fn start(text: &str, width: usize) -> &str {
    // Measures from the start each time, because the width of a character depends on those before it. Searches by
    // halves, because a name in a snapshot may have millions of characters of no width.
    let ends: Vec<usize> = text.grapheme_indices(true).map(|(end, _)| end).collect();
    let fitting = ends.partition_point(|end| cells(&text[..*end]) <= width);
    &text[..fitting.checked_sub(1).map_or(0, |last| ends[last])]
}

/// As many whole characters of the end of `text` as fit into `width` cells.
pub(super) fn end(text: &str, width: usize) -> &str {
    let starts: Vec<usize> = text.grapheme_indices(true).map(|(start, _)| start).collect();
    let fitting = starts.partition_point(|start| cells(&text[*start..]) > width);
    starts.get(fitting).map_or("", |start| &text[*start..])
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
            ("👩\u{200d}🚀abc", 4, "👩\u{200d}🚀a…"),
            ("👩\u{200d}🚀👩\u{200d}🚀", 3, "👩\u{200d}🚀…"),
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
            ("abcdef👩\u{200d}🚀", 5, "ab…👩\u{200d}🚀"),
            ("abcdef👩\u{200d}🚀", 4, "ab…"),
            // Flags, the family and the hand are characters of several parts.
            ("🇨🇭🇩🇪🇫🇷🇮🇹🇦🇹", 8, "🇨🇭🇩🇪…🇦🇹"),
            ("🇨🇭🇩🇪🇫🇷🇮🇹🇦🇹", 7, "🇨🇭…🇮🇹🇦🇹"),
            ("👩\u{200d}👩\u{200d}👧abcdef", 5, "👩\u{200d}👩\u{200d}👧…ef"),
            ("abcdef👩\u{200d}👩\u{200d}👧", 5, "ab…👩\u{200d}👩\u{200d}👧"),
            ("abcd👋\u{1f3fd}", 4, "ab…"),
            ("ab👋\u{1f3fd}cdef", 6, "ab…def"),
        ] {
            assert_eq!(shorten(text, width), expected, "{text} in {width}");
            assert!(cells(&shorten(text, width)) <= width);
        }
    }
}
