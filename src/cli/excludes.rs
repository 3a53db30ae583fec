//! The user's own excludes file, as git finds it: what `core.excludesFile` names in git's
//! configuration of the system or the user, else `git/ignore` in the user's configuration directory.
//!
//! That much of git-config(1) is read and no more: no included files, and nothing that a repository
//! says for itself.

use std::env;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::filter::Rules;
use crate::sys;

/// The rules in it; none if it is not there, or cannot be read: then git goes without them too.
pub(super) fn of_user() -> Rules {
    let home = directory("HOME");
    let config = directory("XDG_CONFIG_HOME")
        .or_else(|| Some(home.as_ref()?.join(".config")))
        .map(|config| config.join("git"));
    let system = (directory("GIT_CONFIG_NOSYSTEM").is_none()).then(|| "/etc/gitconfig".into());
    let own = match directory("GIT_CONFIG_GLOBAL") {
        Some(file) => [Some(file), None],
        None => [
            config.as_ref().map(|config| config.join("config")),
            home.as_ref().map(|home| home.join(".gitconfig")),
        ],
    };
    // The last one that says anything is the one that counts.
    let mut named = [system].into_iter().chain(own).flatten().filter_map(|file| {
        let value = excludes_file(&sys::read_file(&file).ok()?)?;
        match (value.strip_prefix(b"~/"), &home) {
            (Some(rest), Some(home)) => Some(home.join(OsStr::from_bytes(rest))),
            _ => Some(Path::new(OsStr::from_bytes(&value)).to_owned()),
        }
    });
    let file = named.next_back().or_else(|| Some(config?.join("ignore")));
    let text = file.and_then(|file| sys::read_file(&file).ok());
    text.map_or_else(Rules::default, |text| Rules::parse(&text))
}

fn directory(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// What a configuration says of `core.excludesFile`, the last time it does.
fn excludes_file(config: &[u8]) -> Option<Vec<u8>> {
    let mut is_core = false;
    let mut found = None;
    for line in config.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
        if let Some(section) = line.strip_prefix(b"[") {
            let end = section.iter().position(|byte| *byte == b']');
            is_core = end.is_some_and(|end| section[..end].eq_ignore_ascii_case(b"core"));
        } else if is_core && let Some(equals) = line.iter().position(|byte| *byte == b'=') {
            let (key, value) = (line[..equals].trim_ascii(), &line[equals + 1..]);
            if key.eq_ignore_ascii_case(b"excludesfile") {
                found = Some(unquoted(value.trim_ascii()));
            }
        }
    }
    found
}

/// A value without its quotes and without the comment after it.
fn unquoted(value: &[u8]) -> Vec<u8> {
    let (mut text, mut is_quoted, mut bytes) = (Vec::new(), false, value.iter());
    while let Some(&byte) = bytes.next() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\\' => text.extend(bytes.next()),
            b'#' | b';' if !is_quoted => break,
            _ => text.push(byte),
        }
    }
    text.trim_ascii_end().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_configuration_says() {
        for (config, file) in [
            ("[core]\n\texcludesFile = ~/.ignored ; mine\n", Some("~/.ignored")),
            ("[Core]\nEXCLUDESFILE=\"/a b#c\"\n[core \"x\"]\nexcludesfile = no", Some("/a b#c")),
            ("[core]\nexcludesfile = one\n[user]\n[core]\nexcludesfile = two", Some("two")),
            ("[user]\nexcludesfile = x\n# [core]\nexcludesfile = y", None),
            ("", None),
        ] {
            let found = excludes_file(config.as_bytes());
            assert_eq!(found.as_deref(), file.map(str::as_bytes), "{config}");
        }
    }
}
