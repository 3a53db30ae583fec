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

/// Where find has no `-printf`, stat prints the same of each entry that find names: that of GNU and BusyBox, or that of
/// BSD and macOS. The lines of stat have no names, and belong to the entries in their order. If stat fails,
/// each is asked for alone, and why one cannot be read is said as find says it, unless it has gone meanwhile.
const STAT: &str = r#"if stat -c %d / >/dev/null 2>&1; then o=-c
f='find %d %i %h %b %s %Y %Z 0 %u %g %a|%F'
elif stat -f %d / >/dev/null 2>&1; then o=-f
f='find %d %i %l %b %z %m %c %B %u %g %Lp|%HT'
else echo 'it has no weigh of this version, no find with -printf, and no stat' >&2; exit 127; fi
export o f
each='say() { while IFS= read -r a; do
t=${a#*|}; case $t in [Rr]*) t=f;; [Dd]*) t=d;; [Ss]y*) t=l;; [Ff]*) t=p;; [Ss]*) t=s;; [Cc]*) t=c;; *) t=b;; esac
p=${1#"$0"}; printf "%s %s %s\0%s\0" "${a%%|*}" $t "$0" "${p#/}"; shift; done; }
no() { printf "find: %s: %s\n" "$1" "${a##*: }" >&2; s=1; }
s=0; if [ "$1" = "$0" ]; then
a=$(stat -L $o "$f" "$1" 2>/dev/null || stat $o "$f" "$1" 2>&1) || { no "$1"; exit 1; }
printf "%s\n" "$a" | say "$1"; shift; fi
[ $# -gt 0 ] || exit 0
if a=$(stat $o "$f" "$@" 2>/dev/null); then printf "%s\n" "$a" | say "$@"; exit; fi
for x do if a=$(stat $o "$f" "$x" 2>&1); then printf "%s\n" "$a" | say "$x"; continue; fi
case ${a##*: } in "No such file"*) ;; *) no "$x";; esac; done; exit $s'
"#;

/// The command that weighs `paths` on the other side: by weigh with `flags`, or else by find, perhaps on one file
/// system.
pub(super) fn command(paths: &[Vec<u8>], flags: &[OsString], one_file_system: bool) -> Vec<u8> {
    let paths = words(paths.iter().map(Vec::as_slice));
    let flags = words(flags.iter().map(|flag| flag.as_encoded_bytes()));
    let version = version();
    let stay: &[u8] = if one_file_system { b" -xdev" } else { b"" };
    let script = [
        b"exec 3<&0 </dev/null 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; e=; case $(weigh --version 2>/dev/null) in \"weigh ",
        version.as_bytes(),
        b".\"*) echo; echo '",
        ANSWER.as_bytes(),
        b"weigh'; weigh --config= -q --save=- --save-as=weigh",
        &flags,
        b" --",
        &paths,
        b" 3<&- & ;; *) LC_ALL=C; export LC_ALL; \
        if find / -maxdepth 0 -printf '' 2>/dev/null; then l() { exec find -H",
        &paths,
        stay,
        b" -printf '",
        FIND_FORMAT.as_bytes(),
        b"'; }; else ",
        STAT.as_bytes(),
        b"l() { s=0; for r in",
        &paths,
        b"; do find -H \"$r\"",
        stay,
        b" -exec sh -c \"$each\" \"$r\" {} +; t=$?; [ $t -lt $s ] || s=$t; done; exit $s; }; fi; echo; echo '",
        ANSWER.as_bytes(),
        b"find'; e=1; l 3<&- & ;; esac; p=$!; (cat <&3; kill $p) >/dev/null 2>&1 & k=$!; \
        wait $p; s=$?; kill $k 2>/dev/null; [ ! $e ] || printf '",
        FIND_END.as_bytes(),
        b"'; exit $s",
    ];
    in_any_shell(&script.concat())
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
