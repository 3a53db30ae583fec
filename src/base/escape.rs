//! Names are bytes. This makes them text that can neither move the cursor nor forge a line, and JSON.
//!
//! This part imports nothing, so that all others can use it.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use unicode_width::UnicodeWidthChar;

/// `name` as text that shows every character and can be read back: two different names never give the
/// same text. A backslash is doubled. The rest is `\n`, `\r`, `\t`, `\xff` for a byte or an ASCII character, and
/// `\u{200b}` for another character:
///
/// * what [`harmless`] escapes;
/// * what nobody sees, or what looks like something else: blanks at the ends, other blanks than the usual one,
///   characters without a width or not yet in Unicode, and marks that are drawn on the letter before them although that
///   letter exists with the mark.
///
/// With `&`, `<` and quotes escaped, the text is valid in XML and HTML.
pub fn escape(name: &[u8]) -> String {
    // Where a backslash parts names, none has one in it.
    const DOUBLES: bool = !cfg!(windows);
    let is_open = name.first() == Some(&b' ') || name.last() == Some(&b' ');
    if let Some(text) = str::from_utf8(name).ok().filter(|_| is_plain(name) && !is_open) {
        return text.to_owned();
    }
    let mut text = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        let is_first = text.is_empty();
        let is_last = chunk.invalid().is_empty();
        // The character before, if that is shown as it is.
        let mut before = None;
        let mut chars = chunk.valid().char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let after = chars.peek().map(|(_, after)| *after);
            let is_end = at == 0 && is_first || after.is_none() && is_last;
            let is_shown = match c {
                '\\' if DOUBLES => {
                    text.push('\\');
                    true
                }
                ' ' => !is_end,
                _ => !is_dangerous(c) && is_seen(before, c, after),
            };
            if is_shown {
                text.push(c);
            } else {
                push_escaped(&mut text, c);
            }
            before = is_shown.then_some(c);
        }
        push_bytes(&mut text, chunk.invalid());
    }
    text
}

/// A `text` that may have escaped names in it, such as a message, so that it can neither move the cursor nor forge a
/// line. Escapes bytes that are not UTF-8, control characters, line and paragraph separators, bidirectional controls,
/// and noncharacters. Once is as good as twice.
pub fn harmless(text: &[u8]) -> String {
    let mut shown = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            if is_dangerous(c) { push_escaped(&mut shown, c) } else { shown.push(c) }
        }
        push_bytes(&mut shown, chunk.invalid());
    }
    shown
}

/// A `text` in which terminals that go by single characters (wcwidth(3)) draw no other number of cells than those that
/// know emoji of several characters: characters that join others, or change them, are escaped. A second time changes
/// nothing.
pub fn single(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return text.into();
    }
    let (mut single, mut before) = (String::with_capacity(text.len()), None);
    for c in text.chars() {
        let is_shown = match c {
            // Selectors of a shape, the frame of a key, halves of flags, colours of skin.
            '\u{fe0e}' | '\u{fe0f}' | '\u{20e3}' => false,
            '\u{1f1e6}'..='\u{1f1ff}' | '\u{1f3fb}'..='\u{1f3ff}' => false,
            // Marks that take cells of their own, how many is not agreed on.
            '\u{302e}' | '\u{302f}' | '\u{16ff0}' | '\u{16ff1}' => false,
            '\u{200d}' => before.is_some_and(has_joiners),
            c => !is_dangerous(c),
        };
        if is_shown {
            single.push(c)
        } else {
            push_escaped(&mut single, c)
        }
        before = Some(c);
    }
    single.into()
}

fn push_escaped(text: &mut String, c: char) {
    match c {
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        c if c.is_ascii() => push(text, format_args!("\\x{:02x}", c as u32)),
        c => push(text, format_args!("\\u{{{:x}}}", c as u32)),
    }
}

fn push_bytes(text: &mut String, bytes: &[u8]) {
    bytes.iter().for_each(|byte| push(text, format_args!("\\x{byte:02x}")));
}

fn is_dangerous(c: char) -> bool {
    is_control(c) || is_noncharacter(c)
}

/// Whether people see that `c` stands between `before` and `after`, and what it is.
fn is_seen(before: Option<char>, c: char, after: Option<char>) -> bool {
    let are = |is: fn(char) -> bool| [before, after].into_iter().all(|it| it.is_some_and(is));
    match c {
        c if c < '\u{a0}' => true,
        // The blank of East Asia, as wide as its letters.
        '\u{3000}' => are(|it| it >= '\u{590}' && it != '\u{3000}'),
        // Other blanks, and what is drawn as one.
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{2800}' => {
            false
        }
        // Joiners are part of a word, or of an emoji.
        '\u{200c}' => are(has_joiners),
        '\u{200d}' => {
            let is_part = |it| is_emoji(it) || it == '\u{fe0f}';
            are(has_joiners) || before.is_some_and(is_part) && after.is_some_and(is_emoji)
        }
        // So are the selectors of a shape; there is also one in `1️⃣`.
        '\u{180b}'..='\u{180d}' | '\u{180f}' => {
            before.is_some_and(|it| matches!(it, '\u{1820}'..='\u{18aa}'))
        }
        '\u{fe0e}' => before.is_some_and(is_emoji),
        '\u{fe0f}' => before.is_some_and(is_emoji) || after == Some('\u{20e3}') && before.is_some(),
        '\u{fe00}'..='\u{fe0d}' | '\u{e0100}'..='\u{e01ef}' => before.is_some_and(is_han),
        // These take no cell (DerivedCoreProperties, Default_Ignorable_Code_Point).
        '\u{34f}'
        | '\u{115f}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => false,
        // Marks, and letters of Hangul, that make the character before them another one, which also exists alone. On
        // macOS many names have them, and no two names of a directory differ in this only.
        '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}' | '\u{1160}'..='\u{11ff}' => {
            cfg!(target_os = "macos") && before.is_some_and(char::is_alphanumeric)
        }
        // Other marks need something to be drawn on.
        c if UnicodeWidthChar::width(c) == Some(0) => {
            before.is_some_and(|it| it > ' ' && it != '/')
        }
        c => is_assigned(c),
    }
}

/// Whether `c` is a character, as far as Unicode or somebody else has made it one. Terminals draw others in no cell, in one
/// or in two.
fn is_assigned(c: char) -> bool {
    // For private use, std has no name, but fonts have pictures.
    let is_private = matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..);
    // After a letter, because std escapes a mark that comes first.
    is_private || ['x', c].iter().collect::<String>().escape_debug().nth(2).is_none()
}

/// Whether `c` is of a script in which joiners are part of words: from Arabic to Sinhala, and of Myanmar, Khmer and
/// Mongolian.
fn has_joiners(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{18af}')
}

/// Whether `c` may be an emoji, or a colour of one.
fn is_emoji(c: char) -> bool {
    matches!(
        c,
        '\u{a9}' | '\u{ae}' | '\u{203c}'..='\u{2bff}' | '\u{3030}'..='\u{303d}' | '\u{3297}'..='\u{3299}'
            | '\u{1f000}'..='\u{1faff}'
    )
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// A member whose value is bytes: as text, and if they are not UTF-8, also exactly, in base64. `before` comes before the
/// value: the member's name in quotes and a colon, after what parts it from other members. Most names need no escaping
/// and are written as they are. Inlined, because each node has a name, and `before` is then a constant.
///
/// # Errors
/// The writer's.
#[inline(always)]
pub fn json_bytes(
    mut out: &mut (impl Write + ?Sized),
    before: &str,
    value: &[u8],
) -> io::Result<()> {
    out.write_all(before.as_bytes())?;
    if is_plain(value) {
        out.write_all(b"\"")?;
        out.write_all(value)?;
        return out.write_all(b"\"");
    }
    json_escaped(&mut out, before, value)
}

/// The value of such a member, and what follows it, if it needs escaping.
#[cold]
fn json_escaped(out: &mut dyn Write, before: &str, value: &[u8]) -> io::Result<()> {
    match std::str::from_utf8(value) {
        Ok(text) => json_string(out, text),
        Err(_) => {
            json_string(out, &String::from_utf8_lossy(value))?;
            let field = before.rsplit('"').nth(1).unwrap_or_default();
            write!(out, r#","{field}_bytes":"{}""#, STANDARD.encode(value))
        }
    }
}

/// Whether no byte needs escaping, in JSON or on a terminal. It always looks at all bytes, because that lets the
/// compiler check many at a time.
pub fn is_plain(bytes: &[u8]) -> bool {
    bytes.iter().fold(true, |is_plain, byte| {
        is_plain & (matches!(byte, b' '..=b'~') && *byte != b'"' && *byte != b'\\')
    })
}

/// Writes a string. Control characters are escaped even where JSON allows them, because the output may go to a
/// terminal.
///
/// # Errors
/// The writer's.
pub fn json_string(out: &mut dyn Write, text: &str) -> io::Result<()> {
    if !text.contains(is_control) {
        return serde_json::to_writer(out, text).map_err(io::Error::from);
    }
    for c in serde_json::to_string(text)?.chars() {
        if is_control(c) {
            write!(out, "\\u{:04x}", c as u32)?;
        } else {
            write!(out, "{c}")?;
        }
    }
    Ok(())
}

/// Whether `c` is escaped: C0 and C1 controls and DEL, line and paragraph separators, and characters that change the
/// direction of text (Unicode Standard Annex 9, table 3-1); also soft hyphens and Hangul fillers, which some
/// terminals draw as a blank and others do not draw.
pub fn is_control(c: char) -> bool {
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

/// Percent-encodes bytes for a URI, with these hexadecimal `digits`. Unreserved characters (RFC 3986, section 2.3) and
/// slashes stay.
pub fn uri(bytes: &[u8], digits: &[u8; 16]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                text.push(char::from(*byte));
            }
            _ => {
                let [high, low] = [byte >> 4, byte & 15].map(|half| digits[usize::from(half)]);
                text.extend([b'%', high, low].map(char::from));
            }
        }
    }
    text
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
            (br"\n \x1b \\ a\", r"\\n \\x1b \\\\ a\\"),
            (b" a  b ", "\\x20a  b\\x20"),
            ("a\u{a0}b\u{200b}c".as_bytes(), "a\\u{a0}b\\u{200b}c"),
            ("\u{301}e\u{5b0}/\u{5b0}".as_bytes(), "\\u{301}e\u{5b0}/\\u{5b0}"),
            // Words and emoji.
            ("می\u{200c}خواهم क\u{94d}\u{200d}ष".as_bytes(), "می\u{200c}خواهم क\u{94d}\u{200d}ष"),
            (
                "👩\u{200d}🚀 🗂\u{fe0f} 1\u{fe0f}\u{20e3}".as_bytes(),
                "👩\u{200d}🚀 🗂\u{fe0f} 1\u{fe0f}\u{20e3}",
            ),
            ("新\u{3000}新 a\u{200d}b a\u{fe0f}".as_bytes(), "新\u{3000}新 a\\u{200d}b a\\u{fe0f}"),
            (b"\xff\xc3", "\\xff\\xc3"),
            // No characters yet, whatever terminals draw for them; fonts have pictures for private use.
            ("un\u{e1234}\u{378}".as_bytes(), "un\\u{e1234}\\u{378}"),
            ("\u{f8ff}\u{9ac}\u{9be} \u{1f1e9}".as_bytes(), "\u{f8ff}\u{9ac}\u{9be} \u{1f1e9}"),
            ("\u{202e}\u{9b}\u{2028}".as_bytes(), "\\u{202e}\\u{9b}\\u{2028}"),
            ("so\u{ad}ft\u{3164}".as_bytes(), "so\\u{ad}ft\\u{3164}"),
            ("\u{fffe}\u{fffd}\u{1ffff}".as_bytes(), "\\u{fffe}\u{fffd}\\u{1ffff}"),
        ] {
            assert_eq!(escape(name), text);
        }
    }

    #[test]
    fn what_is_harmless_stays_as_it_is() {
        let once = harmless(b"a\\b\x1b\xff \n ");
        assert_eq!(once, "a\\b\\x1b\\xff \\n ");
        assert_eq!(harmless(once.as_bytes()), once);
    }
}
