//! The README's commands work as written, on a small tree in place of the paths that they name.

use std::path::Path;
use std::process::Command;

use crate::fixture::Fixture;
use crate::run::weigh;

const README: &str = include_str!("../../README.md");

#[test]
fn the_ten_examples_work() {
    let fixture = Fixture::new().file("top/a/f", 5000).file("top/b", 70).file("top/.hidden", 1);
    let examples: Vec<&str> = README.lines().filter(|line| line.starts_with("weigh ")).collect();
    assert_eq!(examples.len(), 10, "{examples:?}");
    for example in examples {
        let command = example.split(['#', '>']).next().unwrap();
        let flags: Vec<&str> =
            command.split_whitespace().skip(1).filter(|word| !is_path(word)).collect();
        let shown = weigh(&flags.join(" ")).arg("top").within(fixture.path()).run();
        assert_eq!(shown.status.code(), Some(0), "{example}: {}", shown.complaint());
        assert!(!shown.stdout.is_empty(), "{example}");
    }
}

/// Each of them needed a directory that a fresh home does not have.
#[test]
fn completions_and_the_man_page_are_installed_in_a_fresh_home() {
    let mut blocks = README.split("```sh\n").skip(1).filter_map(|block| block.split("```").next());
    let script =
        blocks.find(|block| block.contains("cp completions/")).expect("there are such lines");
    let home = Fixture::new();
    let sh = |shell: &str, script: &str| {
        let mut command = Command::new(shell);
        command.arg("-c").arg(script).env("HOME", home.path());
        let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output();
        output.map(|output| (output.status.success(), String::from_utf8(output.stderr).unwrap()))
    };
    assert_eq!(sh("sh", &format!("set -e\n{script}")).unwrap(), (true, String::new()));
    for (place, file) in [
        (".local/share/bash-completion/completions/weigh", "completions/weigh.bash"),
        (".config/fish/completions/weigh.fish", "completions/weigh.fish"),
        (".zfunc/_weigh", "completions/_weigh"),
        (".local/share/man/man1/weigh.1", "man/weigh.1"),
    ] {
        let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        assert_eq!(std::fs::read(home.at(place)).unwrap(), std::fs::read(kept).unwrap(), "{place}");
    }
    let finds =
        "fpath+=~/.zfunc; autoload -Uz compinit && compinit -u && [[ $_comps[weigh] == _weigh ]]";
    match sh("zsh", finds) {
        Ok(found) => assert_eq!(found, (true, String::new())),
        Err(_) => eprintln!("zsh is not installed"),
    }
}

fn is_path(word: &str) -> bool {
    word.starts_with(['/', '~'])
}
