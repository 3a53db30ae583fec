//! Commands, to be pasted into a shell.

use crate::base::escape::is_control;

/// What stands for a path in a command: of what is found, and of the directory above.
pub(super) const COMMAND_PATHS: [&str; 2] = ["{path}", "{parent}"];

/// `command` for what is at `path`, which is absolute; none if a name on the path cannot be pasted, because it is not
/// text or has control characters.
pub(super) fn command_for(command: &str, path: &[u8]) -> Option<String> {
    let path = std::str::from_utf8(path).ok().filter(|path| !path.contains(is_control))?;
    let parent = path.rsplit_once('/').map_or("/", |(parent, _)| parent);
    let [of_path, of_parent] = COMMAND_PATHS;
    // Only what the rule says has placeholders, not the path that is put in.
    let parts = command.split(of_path).map(|part| part.replace(of_parent, &quoted(parent)));
    let command = parts.collect::<Vec<_>>().join(&quoted(path));
    Some(command).filter(|command| !command.is_empty())
}

/// A word of sh(1).
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_quoted() {
        for (path, expected) in [
            (&b"/a/b"[..], Some("rm -- /a/b /a")),
            (b"/a b/$c", Some("rm -- '/a b/$c' '/a b'")),
            (b"/a/it's", Some(r"rm -- '/a/it'\''s' /a")),
            (b"/{parent}/{path}", Some("rm -- '/{parent}/{path}' '/{parent}'")),
            (b"/a/\n", None),
            (b"/a/\xff", None),
            ("/a/\u{202e}b".as_bytes(), None),
        ] {
            assert_eq!(command_for("rm -- {path} {parent}", path).as_deref(), expected, "{path:?}");
        }
        assert_eq!(command_for("", b"/a"), None);
    }
}
