//! Hyperlinks behind names: OSC 8, as `ls --hyperlink` writes it.

use std::fmt::Write as _;

use crate::path;

/// What links begin with.
#[derive(Clone, Debug, Default)]
pub struct Links {
    /// The machine's host name.
    pub host: Vec<u8>,
    /// The absolute path of the directory to which paths are relative; empty if that is unknown.
    pub directory: Vec<u8>,
}

impl Links {
    /// `text` with a link to the entry at `path`, if its absolute path is known.
    pub(super) fn on(&self, text: String, path: &[u8]) -> String {
        let absolute = match path.starts_with(b"/") {
            true => path.to_vec(),
            false => path::join_all([&*self.directory, path::below(path, b".").unwrap_or(path)]),
        };
        if absolute.first() != Some(&b'/') {
            return text;
        }
        let [host, path] = [encoded(&self.host), encoded(&absolute)];
        format!("\x1b]8;;file://{host}{path}\x1b\\{text}\x1b]8;;\x1b\\")
    }
}

/// Bytes as in a URI: all are escaped but those that RFC 3986 does not reserve, and slashes.
fn encoded(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                text.push(char::from(*byte));
            }
            // Writing to a string cannot fail.
            _ => _ = write!(text, "%{byte:02x}"),
        }
    }
    text
}
