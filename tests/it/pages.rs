//! What is generated from the flags, and checked in for packagers: it is what the program prints, it
//! loads in the shells that are installed, and the man page is without fault.
//!
//! After a change of the flags: `UPDATE_GENERATED=1 cargo test --test it pages::`, then look at the difference.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::fixture::Fixture;
use crate::run::{is_kept, weigh};

/// The shell, and the file that its completions are looked for in by that shell.
const SHELLS: [(&str, &str); 5] = [
    ("bash", "completions/weigh.bash"),
    ("zsh", "completions/_weigh"),
    ("fish", "completions/weigh.fish"),
    ("elvish", "completions/weigh.elv"),
    ("powershell", "completions/_weigh.ps1"),
];

const MAN: &str = "man/weigh.1";

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn is_checked_in(path: &str, flags: &str) {
    is_kept(path, &weigh(flags).run().text(), &format!("it is not what `weigh {flags}` prints"));
}

#[test]
fn what_is_checked_in_is_what_is_printed() {
    for (shell, path) in SHELLS {
        is_checked_in(path, &format!("completions {shell}"));
    }
    is_checked_in(MAN, "help --man");
}

/// Runs `program` if it is installed, which must succeed and have nothing to say.
fn succeeds_silently(program: &str, args: &[&str]) {
    let output = Command::new(program).args(args).stdin(Stdio::null()).output();
    let Ok(output) = output else {
        eprintln!("{program} is not installed");
        return;
    };
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success() && said.is_empty(), "{program} {args:?}: {said}");
}

/// What `shell` offers where `typed` ends, in a directory with the file `file`, the directory `tree` and the snapshot
/// `kept.weigh`; sorted. None if the shell is not installed.
fn offered(shell: &str, typed: &str) -> Option<Vec<String>> {
    let fixture =
        Fixture::new().file("here/file", 1).file("here/tree/f", 1).file("here/kept.weigh", 1);
    let fixture = fixture.file("state/weigh/snapshots/0/weigh-2026-11-01T120000Z.weigh", 1);
    let (_, path) = SHELLS.into_iter().find(|(name, _)| *name == shell).unwrap();
    let script = at(path);
    let here = fixture.at("here");
    let mut command = Command::new(shell);
    match shell {
        // Where it offers nothing itself, readline completes paths, unless the function forbids it.
        "bash" => command.args(["--norc", "--noprofile", "-c"]).arg(
            "compopt() { [[ $1 == +o ]] && default=; return 0; }
            default=yes; source \"$1\"; cur=${2##*[ =]}
            read -ra COMP_WORDS <<< \"${2//=/ = }\"; [[ $2 == *[\\ =] ]] && COMP_WORDS+=('')
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _weigh
            printf '%s\n' \"${COMPREPLY[@]}\"
            [[ -n $default && -z ${COMPREPLY[*]} ]] && compgen -f -- \"$cur\"; true",
        ),
        "zsh" => command.arg("-f").arg(at("tests/complete.zsh")),
        _ => command.args(["--no-config", "-c"]).arg("source $argv[1]; complete -C $argv[2]"),
    };
    match shell {
        "bash" => command.arg("bash").arg(&script).arg(typed),
        "zsh" => command.arg(&script).arg(&here).arg(typed),
        _ => command.arg(&script).arg(typed),
    };
    let run = command.current_dir(&here).env("XDG_STATE_HOME", fixture.at("state"));
    let Ok(output) = run.env("HOME", fixture.path()).stdin(Stdio::null()).output() else {
        eprintln!("{shell} is not installed");
        return None;
    };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.is_empty(), "{shell}: {said}");
    let text = String::from_utf8(output.stdout).unwrap();
    // fish has a description after a tab, and a slash after a directory.
    let word = |line: &str| line.split('\t').next().unwrap().trim_end_matches('/').to_owned();
    let mut words: Vec<_> = text.lines().map(word).filter(|word| !word.is_empty()).collect();
    words.sort_unstable();
    words.dedup();
    Some(words)
}

/// Once, bash and fish offered flags before commands, and zsh no paths.
#[test]
fn shells_offer_commands_and_paths_and_flags_only_after_a_dash() {
    const COMMANDS: [&str; 8] =
        ["clean", "completions", "df", "diff", "help", "history", "ui", "watch"];
    const PATHS: [&str; 3] = ["file", "kept.weigh", "tree"];
    const TIMES: [&str; 9] =
        ["12h", "1y", "2026-11-01", "2w", "3mo", "7d", "last", "monday", "yesterday"];
    let together = |some: &[&[&'static str]]| {
        let mut all = some.concat();
        all.sort_unstable();
        all
    };
    let all = together(&[&COMMANDS, &PATHS]);
    let times = together(&[&TIMES, &PATHS]);
    for shell in ["bash", "zsh", "fish"] {
        for (typed, expected) in [
            ("weigh ", &all[..]),
            ("weigh ui ", &PATHS),
            ("weigh tree ", &PATHS),
            ("weigh -r ", &PATHS),
            ("weigh clean tr", &["tree"]),
            ("weigh cl", &["clean"]),
            ("weigh diff ", &times),
            ("weigh diff 2026", &["2026-11-01"]),
            ("weigh diff -r ", &times),
            ("weigh diff 7d ", &PATHS),
            ("weigh help ", &COMMANDS),
            ("weigh completions ", &["bash", "elvish", "fish", "powershell", "zsh"]),
            ("weigh --rev", &["--reverse"]),
            ("weigh --only-ig", &["--only-ignored"]),
            ("weigh ui --read-", &["--read-only"]),
            ("weigh history --forg", &["--forget"]),
            // Not of that command, and no counterpart.
            ("weigh ui --reverse", &[]),
            ("weigh --no-rev", &[]),
            ("weigh --sort ", &["count", "name", "size", "time"]),
            ("weigh ui --sort ", &["count", "name", "size", "time"]),
            ("weigh --as zzz", &[]),
            ("weigh --as cs", &["csv"]),
            ("weigh --type rus", &["rust"]),
            ("weigh clean -o ", &["b", "g", "gb", "k", "kb", "m", "mb", "si", "t", "tb"]),
            // A number.
            ("weigh --threads ", &[]),
            ("weigh --config ", &PATHS),
        ] {
            let Some(found) = offered(shell, typed) else { break };
            // For a flag without values, fish lists the files that it would take for words.
            assert_eq!(found, expected, "{shell}: {typed}");
        }
        let Some(flags) = offered(shell, "weigh -") else { continue };
        assert!(flags.len() > 60 && flags.iter().all(|flag| flag.starts_with('-')), "{flags:?}");
        let counterparts: Vec<_> = flags.iter().filter(|flag| flag.starts_with("--no-")).collect();
        assert_eq!(counterparts, ["--no-percent-bars", "--no-progress"], "{shell}");
    }
    // readline takes this for three words.
    assert_eq!(offered("bash", "weigh --as=cs").unwrap(), ["csv"]);
    assert_eq!(offered("bash", "weigh --sort=").unwrap(), ["count", "name", "size", "time"]);
}

#[test]
fn the_man_page_is_without_fault() {
    let man = at(MAN);
    let man = man.to_str().unwrap();
    succeeds_silently("mandoc", &["-T", "lint", "-W", "warning", man]);
    succeeds_silently("groff", &["-ww", "-man", "-Tutf8", "-z", man]);
    let text = std::fs::read_to_string(man).unwrap();
    for section in ["SYNOPSIS", "COMMANDS", "EXAMPLES", "\"EXIT STATUS\"", "ENVIRONMENT", "FILES"] {
        assert!(text.contains(&format!("\n.SH {section}\n")), "{section}");
    }
    // Each command has its lines to type, and its flags.
    let (_, commands) = text.split_once(".SH COMMANDS\n").unwrap();
    let (commands, _) = commands.split_once("\n.SH ").unwrap();
    let sections: Vec<_> = commands.split(".SS ").skip(1).collect();
    assert_eq!(sections.len(), 8);
    for section in sections {
        let name: String = section.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        assert!(section.contains(&format!("\\fB{name}")), "{section}");
    }
    let section = |name: &str| commands.split(".SS ").find(|it| it.starts_with(name)).unwrap();
    for (name, flag) in [
        ("weigh ui", "read\\-only"),
        ("weigh diff", "fail\\-growth"),
        ("weigh clean", "older"),
        ("weigh history", "forget"),
    ] {
        assert!(section(name).contains(&format!("\\fB\\-\\-{flag}\\fR")), "{name}: {flag}");
    }
}
