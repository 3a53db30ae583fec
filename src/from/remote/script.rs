//! What runs on the other side: a script for any POSIX shell. It runs weigh there, if there is one of this version,
//! else `find`, alone or with `stat`. Its answer begins with a line that says which, so that what a shell prints before
//! can be skipped.
//!
//! The login shell may be csh or fish. Between single quotes, these, sh and bash read letters, digits and most signs
//! alike.
//!
//! The script, flags and paths come through standard input, because a command has no room for thousands of them. All
//! unusual bytes are written as numbers, which `printf` turns back. As long as the connection stands, standard input
//! has no end. When it ends, the script ends what it started: nobody would do that otherwise, because a program learns
//! only when it writes that nobody listens.

use std::ffi::OsString;

use crate::from::list::{FIND_END, FIND_FORMAT};
use crate::sys::{AUTOMOUNT_NAME, KERNEL_FILE_SYSTEMS};

/// How the line begins that begins the answer.
pub(super) const ANSWER: &str = "weigh-answers 1 ";

/// How a line begins that tells how full a file system is. Such lines come before the answer.
pub(super) const TOLD: &str = "weigh-space 1 ";

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

/// The script, in which `{{name}}` stands for what [`script`] puts in. It has no comments, because every byte is sent.
///
/// Where find has no `-printf`, stat prints the same of each entry that find names: that of GNU and BusyBox, or that of
/// BSD and macOS. The lines of stat have no names, and belong to the entries in their order. If stat fails,
/// each is asked for alone, and why one cannot be read is said as find says it, unless it has gone meanwhile.
///
/// As a walk does, find leaves out directories on the kernel's own file systems and automounts, unless its starting
/// point is on one. GNU find knows the types of file systems. For others, the list of mounts has the paths, and the
/// number of the device shows whether such a file system is there now: another mount may cover it.
///
/// After the mark at the end comes the exit status of find, because not every way back tells it.
const SCRIPT: &str = include_str!("script.sh");

/// The part of the script that says how full the file systems around the paths are: for each, [`TOLD`] and the line of
/// `df -P -k`, or nothing if that fails; and after `stat `, what `stat -f` prints, if there is one that can. From then on,
/// the mount points take the place of the paths.
const SPACE: &str = include_str!("space.sh");

/// How many bytes of paths, as they are sent, find gets at once: it has room for as much on any system, and so has
/// `printf`.
const BATCH: usize = 64 << 10;

/// The command for the other side, in words that all shells take for the same: csh has no room for a long one. It runs
/// the script in what is [`asked`].
pub(super) const COMMAND: &str = "exec sh -c 'read -r m s; if [ \"$m\" = weigh-script ]; then eval \"$(printf %b \"$s\")\"; \
     else echo what to weigh did not arrive: a program that the shell starts may have read standard input >&2; exit 1; fi'";

/// The script; in it, find stays perhaps on one file system, and it tells perhaps how full file systems are.
fn script(one_file_system: bool, tells_space: bool) -> Vec<u8> {
    let (version, stay) = (version(), if one_file_system { " -xdev" } else { "" });
    let mut kinds: Vec<_> = KERNEL_FILE_SYSTEMS.iter().map(|(_, name)| *name).collect();
    kinds.push(AUTOMOUNT_NAME);
    let kernel: Vec<_> = kinds.iter().map(|kind| format!("-fstype {kind}")).collect();
    let (kernel, kinds) = (kernel.join(" -o "), kinds.join("|"));
    let mut script = Vec::new();
    for part in SCRIPT.split("{{") {
        let (name, text) = part.split_once("}}").unwrap_or(("", part));
        script.extend_from_slice(match name {
            "answer" => ANSWER.as_bytes(),
            "end" => FIND_END.as_bytes(),
            "format" => FIND_FORMAT.as_bytes(),
            "kernel" => kernel.as_bytes(),
            "kinds" => kinds.as_bytes(),
            "space" => if tells_space { SPACE } else { "" }.as_bytes(),
            "stay" => stay.as_bytes(),
            "version" => version.as_bytes(),
            // The beginning.
            "" => b"",
            _ => unreachable!("{name} has no value"),
        });
        script.extend_from_slice(text.as_bytes());
    }
    script
}

/// What the other side reads from standard input: the script, `flags` for weigh, and `paths`, all escaped, and words
/// quoted for sh before. A command has no room for many.
pub(super) fn asked<'p>(
    paths: impl IntoIterator<Item = &'p Vec<u8>>,
    flags: &[OsString],
    one_file_system: bool,
    tells_space: bool,
) -> Vec<u8> {
    const PATHS: &[u8] = b"\nweigh-paths ";
    let mut asked = b"weigh-script ".to_vec();
    escape(&script(one_file_system, tells_space), &mut asked);
    asked.extend_from_slice(b"\nweigh-flags ");
    for flag in flags {
        escape(&quoted(flag.as_encoded_bytes()), &mut asked);
    }
    let mut begin = 0;
    for path in paths {
        if begin == 0 || asked.len() - begin > BATCH {
            asked.extend_from_slice(PATHS);
            begin = asked.len();
        }
        escape(&quoted(path), &mut asked);
    }
    asked.extend_from_slice(b"\nweigh-end\n");
    asked
}

/// The beginning of the versions whose snapshots are written alike.
pub(super) fn version() -> String {
    [env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR")].join(".")
}

/// A `word` after a space, quoted for sh.
fn quoted(word: &[u8]) -> Vec<u8> {
    let parts: Vec<_> = word.split(|byte| *byte == b'\'').collect();
    [b" '", &*parts.join(&b"'\\''"[..]), b"'"].concat()
}

/// Adds `text` in letters that mean nothing else to a shell, as `printf %b` there takes it.
fn escape(text: &[u8], into: &mut Vec<u8>) {
    for byte in text {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b' ' | b'/' | b'.' | b'-' | b'_' | b'=' => {
                into.push(*byte);
            }
            byte => into.extend_from_slice(format!("\\0{byte:03o}").as_bytes()),
        }
    }
}
