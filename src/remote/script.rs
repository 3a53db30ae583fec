//! What runs on the other side: a script for any POSIX shell. It runs weigh there, if there is one of this version,
//! else `find`, alone or with `stat`. Its answer begins with a line that says which, so that what a shell prints before
//! can be skipped.
//!
//! The login shell may be csh or fish. Between single quotes, these, sh and bash read letters, digits and most signs
//! alike. All other bytes are written as numbers, which `printf` turns back.
//!
//! As long as the connection stands, standard input has no end. When it ends, the script ends what it started: nobody
//! would do that otherwise, because a program learns only when it writes that nobody listens.

use std::ffi::OsString;

use crate::list::{FIND_END, FIND_FORMAT};

/// How the line begins that begins the answer.
pub(super) const ANSWER: &str = "weigh-answers 1 ";

/// What the other side does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// It runs weigh, which saves a `.weigh` snapshot in its standard output.
    Weigh,
    /// It runs find, and prints what `find -printf` does.
    Find,
}

impl Way {
    pub(super) const ALL: [(&'static str, Self); 2] =
        [("weigh", Self::Weigh), ("find", Self::Find)];
}

/// The script, in which `{{name}}` stands for what [`command`] puts in. It has no comments, because every byte is sent.
///
/// Where find has no `-printf`, stat prints the same of each entry that find names: that of GNU and BusyBox, or that of
/// BSD and macOS. The lines of stat have no names, and belong to the entries in their order. If stat fails,
/// each is asked for alone, and why one cannot be read is said as find says it, unless it has gone meanwhile.
const SCRIPT: &str = include_str!("script.sh");

/// The command that weighs `paths` on the other side: by weigh with `flags`, or else by find, perhaps on one file
/// system.
pub(super) fn command(paths: &[Vec<u8>], flags: &[OsString], one_file_system: bool) -> Vec<u8> {
    let paths = words(paths.iter().map(Vec::as_slice));
    let flags = words(flags.iter().map(|flag| flag.as_encoded_bytes()));
    let (version, stay) = (version(), if one_file_system { " -xdev" } else { "" });
    let mut script = Vec::new();
    for part in SCRIPT.split("{{") {
        let (name, text) = part.split_once("}}").unwrap_or(("", part));
        script.extend_from_slice(match name {
            "answer" => ANSWER.as_bytes(),
            "end" => FIND_END.as_bytes(),
            "flags" => &flags,
            "format" => FIND_FORMAT.as_bytes(),
            "paths" => &paths,
            "stay" => stay.as_bytes(),
            "version" => version.as_bytes(),
            // The beginning.
            "" => b"",
            _ => unreachable!("{name} has no value"),
        });
        script.extend_from_slice(text.as_bytes());
    }
    in_any_shell(&script)
}

/// The beginning of the versions whose snapshots are written alike.
pub(super) fn version() -> String {
    [env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR")].join(".")
}

/// Each word after a space, quoted for sh.
fn words<'a>(words: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut quoted = Vec::new();
    for word in words {
        let parts: Vec<_> = word.split(|byte| *byte == b'\'').collect();
        quoted.extend([b" '", &*parts.join(&b"'\\''"[..]), b"'"].concat());
    }
    quoted
}

/// A command that runs `script` by sh, for any login shell.
fn in_any_shell(script: &[u8]) -> Vec<u8> {
    let mut command = b"exec sh -c 'eval \"$(printf %b \"".to_vec();
    for byte in script {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b' ' | b'/' | b'.' | b'-' | b'_' | b'=' => {
                command.push(*byte);
            }
            byte => command.extend_from_slice(format!("\\0{byte:03o}").as_bytes()),
        }
    }
    command.extend_from_slice(b"\")\"'");
    command
}
