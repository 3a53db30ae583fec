//! How many cells text takes on a terminal.
//!
//! unicode-width counts the cells of shaped text: letters that join are one cell (Arabic lam and alef), signs beside a
//! letter take none (Bengali aa), and joined emoji are two. Terminals that go by single characters (wcwidth(3)), as
//! xterm, tmux and VTE do, draw cells for each. If a count is too low, lines wrap and the picture breaks; if it is too
//! high, a blank is left over. So the higher count is used.

use unicode_width::UnicodeWidthChar;

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

#[cfg(test)]
mod tests {
    use super::*;

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
