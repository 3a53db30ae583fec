//! Names are bytes. This makes them text that can neither move the cursor nor forge a line, and JSON.
//!
//! This part imports nothing, so that all others can use it.

use std::fmt::Write as _;
use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

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
            (b"\xff\xc3", "\\xff\\xc3"),
            ("\u{202e}\u{9b}\u{2028}".as_bytes(), "\\u{202e}\\u{9b}\\u{2028}"),
            ("so\u{ad}ft\u{3164}".as_bytes(), "so\\u{ad}ft\\u{3164}"),
            ("\u{fffe}\u{fffd}\u{1ffff}".as_bytes(), "\\u{fffe}\u{fffd}\\u{1ffff}"),
        ] {
            assert_eq!(escape(name), text);
        }
    }
}
