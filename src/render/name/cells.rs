//! How many cells text takes on a terminal.
//!
//! unicode-width counts the cells of shaped text: letters that join are one cell (Arabic lam and alef), and signs
//! beside a letter take none (Bengali aa). Terminals that go by single characters (wcwidth(3)), as xterm, tmux and
//! VTE do, draw a cell for each. If a count is too low, lines wrap and the picture breaks; if it is too high, a blank
//! is left over. So the higher count is used, except for emoji made of several characters.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How many cells `text` takes on a terminal, at most.
pub fn cells(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    let of_emoji = |c| matches!(c, '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' | '\u{1f1e6}'..='\u{1f1ff}' | '\u{1f3fb}'..='\u{1f3ff}');
    if text.contains(of_emoji) {
        return text.width() + text.chars().map(missing).sum::<usize>();
    }
    text.chars().map(|c| c.width().unwrap_or(0) + missing(c)).sum()
}

/// How many cells a terminal draws for `c` beyond those that unicode-width counts.
fn missing(c: char) -> usize {
    let at = MISSING.partition_point(|(_, last, _)| *last < c);
    MISSING.get(at).filter(|(first, ..)| *first <= c).map_or(0, |(.., cells)| *cells)
}

/// First character, last character, and extra cells: all characters up to U+2FFFF for which tmux 3.3a (glibc 2.36)
/// draws more cells than unicode-width 0.2.3 counts. Most are signs beside a letter (general category Mc).
const MISSING: [(char, char, usize); 52] = [
    ('\u{605}', '\u{605}', 1),
    ('\u{70f}', '\u{70f}', 1),
    ('\u{890}', '\u{891}', 1),
    ('\u{8e2}', '\u{8e2}', 1),
    ('\u{9be}', '\u{9be}', 1),
    ('\u{9d7}', '\u{9d7}', 1),
    ('\u{b3e}', '\u{b3e}', 1),
    ('\u{b57}', '\u{b57}', 1),
    ('\u{bbe}', '\u{bbe}', 1),
    ('\u{bd7}', '\u{bd7}', 1),
    ('\u{cc0}', '\u{cc0}', 1),
    ('\u{cc2}', '\u{cc2}', 1),
    ('\u{cc7}', '\u{cc8}', 1),
    ('\u{cca}', '\u{ccb}', 1),
    ('\u{cd5}', '\u{cd6}', 1),
    ('\u{d3e}', '\u{d3e}', 1),
    ('\u{d4e}', '\u{d4e}', 1),
    ('\u{d57}', '\u{d57}', 1),
    ('\u{dcf}', '\u{dcf}', 1),
    ('\u{ddf}', '\u{ddf}', 1),
    ('\u{1715}', '\u{1715}', 1),
    ('\u{1734}', '\u{1734}', 1),
    ('\u{1b35}', '\u{1b35}', 1),
    ('\u{1b3b}', '\u{1b3b}', 1),
    ('\u{1b3d}', '\u{1b3d}', 1),
    ('\u{1b43}', '\u{1b44}', 1),
    ('\u{1baa}', '\u{1baa}', 1),
    ('\u{1bf2}', '\u{1bf3}', 1),
    ('\u{302e}', '\u{302f}', 2),
    ('\u{3248}', '\u{324f}', 1),
    ('\u{a8fa}', '\u{a8fa}', 1),
    ('\u{a953}', '\u{a953}', 1),
    ('\u{a9c0}', '\u{a9c0}', 1),
    ('\u{111c0}', '\u{111c0}', 1),
    ('\u{111c2}', '\u{111c3}', 1),
    ('\u{11235}', '\u{11235}', 1),
    ('\u{1133e}', '\u{1133e}', 1),
    ('\u{1134d}', '\u{1134d}', 1),
    ('\u{11357}', '\u{11357}', 1),
    ('\u{114b0}', '\u{114b0}', 1),
    ('\u{114bd}', '\u{114bd}', 1),
    ('\u{115af}', '\u{115af}', 1),
    ('\u{116b6}', '\u{116b6}', 1),
    ('\u{11930}', '\u{11930}', 1),
    ('\u{1193d}', '\u{1193d}', 1),
    ('\u{1193f}', '\u{1193f}', 1),
    ('\u{11941}', '\u{11941}', 1),
    ('\u{11a84}', '\u{11a89}', 1),
    ('\u{11d46}', '\u{11d46}', 1),
    ('\u{16ff0}', '\u{16ff1}', 2),
    ('\u{1d165}', '\u{1d166}', 1),
    ('\u{1d16d}', '\u{1d172}', 1),
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
            ("👩\u{200d}🚀", 2),
            ("🗂\u{fe0f}", 2),
        ] {
            assert_eq!(cells(text), expected, "{text}");
        }
    }

    #[test]
    fn the_table_is_in_order() {
        assert!(MISSING.iter().all(|(first, last, _)| first <= last));
        assert!(MISSING.windows(2).all(|two| two[0].1 < two[1].0));
    }
}
