//! Names are bytes. This makes them text that can neither move the cursor nor forge a line.

mod cells;

use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar;

pub use cells::cells;

/// `name` as text. Escapes bytes that are not UTF-8, control characters, line and paragraph separators, bidirectional
/// controls, and noncharacters. With `&`, `<` and quotes escaped, the text is valid in XML and HTML.
pub fn escape(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => text.push_str("\\n"),
                '\r' => text.push_str("\\r"),
                '\t' => text.push_str("\\t"),
                c if c.is_ascii_control() => push(&mut text, format_args!("\\x{:02x}", c as u32)),
                c if is_control(c) || is_noncharacter(c) => {
                    push(&mut text, format_args!("\\u{{{:x}}}", c as u32))
                }
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            push(&mut text, format_args!("\\x{byte:02x}"));
        }
    }
    text
}

/// Stands for what is left out.
const MARK: &str = "…";

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
    match (cells(figure) <= width, width.checked_sub(cells(MARK))) {
        (true, _) => figure.to_owned(),
        (false, None) => String::new(),
        (false, Some(room)) => start(figure, room).to_owned() + MARK,
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
fn start(text: &str, width: usize) -> &str {
    // Measures from the start each time, because the width of a character depends on those before it. Searches by
    // halves, because a name in a snapshot may have millions of characters of no width.
    let ends: Vec<usize> = text.char_indices().map(|(end, _)| end).collect();
    let fitting = ends.partition_point(|end| cells(&text[..*end]) <= width);
    &text[..fitting.checked_sub(1).map_or(0, |last| ends[last])]
}

/// As much of the end of `text` as fits into `width` cells. It does not begin with a mark that belongs to the letter
/// before it.
fn end(text: &str, width: usize) -> &str {
    const JOINER: char = '\u{200d}';
    let starts: Vec<usize> = text.char_indices().map(|(start, _)| start).collect();
    let fitting = starts.partition_point(|start| cells(&text[*start..]) > width);
    let mut end = starts.get(fitting).map_or("", |start| &text[*start..]);
    let mut is_joined = false;
    while let Some(first) = end.chars().next()
        && (is_joined || first.width() == Some(0))
    {
        is_joined = first == JOINER;
        end = &end[first.len_utf8()..];
    }
    end
}

/// Whether `c` is escaped: C0 and C1 controls and DEL, line and paragraph separators, and characters that change the
/// direction of text (Unicode Standard Annex 9, table 3-1); also soft hyphens and Hangul fillers, which some
/// terminals draw as a blank and others do not draw.
pub(super) fn is_control(c: char) -> bool {
    matches!(
        c,
        '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{ad}'
            | '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{3164}'
            | '\u{ffa0}'
    )
}

/// Whether `c` is a noncharacter (Unicode, section 23.7). XML forbids two of these (1.0, section 2.2), HTML all.
fn is_noncharacter(c: char) -> bool {
    matches!(c, '\u{fdd0}'..='\u{fdef}') || u32::from(c) & 0xfffe == 0xfffe
}

fn push(text: &mut String, escaped: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(escaped);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        for (name, text) in [
            (b"plain \xc3\xa9".as_slice(), "plain é"),
            (b"a\nb\tc\rd", "a\\nb\\tc\\rd"),
            (b"\x1b[2J\x7f\0", "\\x1b[2J\\x7f\\x00"),
            (b"\xff\xc3", "\\xff\\xc3"),
            ("\u{202e}\u{9b}\u{2028}".as_bytes(), "\\u{202e}\\u{9b}\\u{2028}"),
            ("so\u{ad}ft\u{3164}".as_bytes(), "so\\u{ad}ft\\u{3164}"),
            ("\u{fffe}\u{fffd}\u{1ffff}".as_bytes(), "\\u{fffe}\u{fffd}\\u{1ffff}"),
        ] {
            assert_eq!(escape(name), text);
        }
    }

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
