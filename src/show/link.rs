//! Hyperlinks behind names: OSC 8, as `ls --hyperlink` writes it.

use crate::base::escape::uri;
use crate::base::path;

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
