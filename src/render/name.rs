//! Text cut to a width in cells.

mod cells;

use unicode_width::UnicodeWidthChar;

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

/// `text` cut to at most `width` cells. Cut text ends in `..`.
pub fn fit(text: &str, width: usize) -> String {
    if cells(text) <= width {
        return text.to_owned();
    }
    let mark = if width < 4 { "" } else { ".." };
    start(text, width - mark.len()).to_owned() + mark
}

/// A figure cut to at most `width` cells. A cut figure ends in `…`, so that nobody takes it for the whole one.
pub fn cut(figure: &str, width: usize) -> String {
    match width.checked_sub(cells(MARK)) {
        _ if cells(figure) <= width => figure.to_owned(),
        Some(room) => start(figure, room).to_owned() + MARK,
        None => String::new(),
    }
}

/// `text` in at most `width` cells. Longer text loses its middle, because the end of a name tells files apart.
pub fn shorten(text: &str, width: usize) -> String {
    if cells(text) <= width {
        return text.to_owned();
    }
    if width < 4 {
        return start(text, width).to_owned();
    }
    let start = start(text, width / 2);
    let end = end(text, width - 1 - cells(start));
    [start, MARK, end].concat()
}

/// As much of the start of `text` as fits into `width` cells.
pub(super) fn start(text: &str, width: usize) -> &str {
    // Measures from the start each time, because the width of a character depends on those before it. Searches by
    // halves, because a name in a snapshot may have millions of characters of no width.
    let ends: Vec<usize> = text.char_indices().map(|(end, _)| end).collect();
    let fitting = ends.partition_point(|end| cells(&text[..*end]) <= width);
    &text[..fitting.checked_sub(1).map_or(0, |last| ends[last])]
}

/// As much of the end of `text` as fits into `width` cells. It does not begin with a mark that belongs to the letter
/// before it.
pub(super) fn end(text: &str, width: usize) -> &str {
    const JOINER: char = '\u{200d}';
    let starts: Vec<usize> = text.char_indices().map(|(start, _)| start).collect();
    let fitting = starts.partition_point(|start| cells(&text[*start..]) > width);
    let end = starts.get(fitting).map_or("", |start| &text[*start..]);
    let mut is_joined = false;
    end.trim_start_matches(|c: char| {
        let belongs_before = is_joined || c.width() == Some(0);
        is_joined = c == JOINER;
        belongs_before
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_by_cells() {
        for (text, width, expected) in [
            ("abcdef", 6, "abcdef"),
            ("abcdef", 5, "abc.."),
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日.."),
            ("🗂\u{fe0f}abc", 4, "🗂\u{fe0f}.."),
            ("abcdef", 2, "ab"),
            ("abcdef", 0, ""),
        ] {
            assert_eq!(fit(text, width), expected, "{text} in {width}");
            assert!(cells(&fit(text, width)) <= width);
        }
    }

    #[test]
    fn shortens_in_the_middle() {
        for (text, width, expected) in [
            ("deb.debian.org_debian_main_binary-amd64.yml", 20, "deb.debian…amd64.yml"),
            ("abcdef", 6, "abcdef"),
            ("abcdef", 5, "ab…ef"),
            ("abcdef", 4, "ab…f"),
            ("abcdef", 3, "abc"),
            ("abcdef", 0, ""),
            ("日本語日本語", 8, "日本…語"),
            ("日本語日本語", 7, "日…本語"),
            ("abcde\u{301}f", 4, "ab…f"),
            ("abcdee\u{301}", 5, "ab…ee\u{301}"),
            ("abcdef👩\u{200d}🚀", 5, "ab…👩\u{200d}🚀"),
            ("abcdef👩\u{200d}🚀", 4, "ab…"),
        ] {
            assert_eq!(shorten(text, width), expected, "{text} in {width}");
            assert!(cells(&shorten(text, width)) <= width);
        }
    }
}
