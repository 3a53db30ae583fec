//! What is generated from the flags, and checked in for packagers: it is what the program prints, it
//! loads in the shells that are installed, and the man page is without fault.
//!
//! After a change of the flags: `UPDATE_GENERATED=1 cargo test pages`, then look at the difference.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::run::weigh;

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
    let printed = weigh(flags).run().text();
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::create_dir_all(at(path).parent().unwrap()).unwrap();
        std::fs::write(at(path), &printed).unwrap();
    }
    let kept = std::fs::read_to_string(at(path)).unwrap_or_default();
    let how = "to mend it: UPDATE_GENERATED=1 cargo test pages";
    assert!(kept == printed, "{path} is not what `weigh {flags}` prints; {how}");
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

/// Loads the completions, and asks for those of `weigh --rev`: a script that loads may yet be
/// for another program.
#[test]
fn completions_load() {
    let script = |shell| {
        let (_, path) = SHELLS.into_iter().find(|(name, _)| *name == shell).unwrap();
        at(path).to_str().unwrap().to_owned()
    };
    let bash = format!(
        "set -u; source '{}'; COMP_WORDS=(weigh --rev); COMP_CWORD=1; \
         _weigh weigh --rev weigh; [[ \"${{COMPREPLY[*]}}\" == --reverse ]]",
        script("bash")
    );
    succeeds_silently("bash", &["--norc", "--noprofile", "-c", &bash]);
    // No counterparts of switches, types by name, and no file where a flag names none.
    for (before, typed, found) in [
        ("-r", "--no-rev", ""),
        ("-r", "--only-ig", "--only-ignored"),
        ("--type", "rus", "rust"),
        ("--type-not", "rus", "rust"),
        ("--threads", "Cargo.l", "Cargo.l"),
        ("--save", "Cargo.l", "Cargo.lock"),
    ] {
        let bash = format!(
            "compopt() {{ :; }}; source '{}'; COMP_WORDS=(weigh {before} {typed}); COMP_CWORD=2; \
             _weigh weigh {typed} {before}; [[ \"${{COMPREPLY[*]}}\" == '{found}' ]] || echo \"${{COMPREPLY[*]}}\"",
            script("bash")
        );
        succeeds_silently("bash", &["--norc", "--noprofile", "-c", &bash]);
    }
    let zsh = format!(
        "autoload -Uz compinit && compinit -D -u && source '{}' && [[ $_comps[weigh] == _weigh ]]",
        script("zsh")
    );
    succeeds_silently("zsh", &["-f", "-c", &zsh]);
    let fish = format!(
        "source '{}'; and complete -C 'weigh --rev' | string match -q -- '--reverse*'",
        script("fish")
    );
    succeeds_silently("fish", &["--no-config", "-c", &fish]);
}

#[test]
fn the_man_page_is_without_fault() {
    let man = at(MAN);
    let man = man.to_str().unwrap();
    succeeds_silently("mandoc", &["-T", "lint", "-W", "warning", man]);
    succeeds_silently("groff", &["-ww", "-man", "-Tutf8", "-z", man]);
    let text = std::fs::read_to_string(man).unwrap();
    for section in ["SYNOPSIS", "EXAMPLES", "\"EXIT STATUS\"", "ENVIRONMENT", "FILES"] {
        assert!(text.contains(&format!("\n.SH {section}\n")), "{section}");
    }
}
