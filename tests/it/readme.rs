//! The README's commands work as written, on a small tree in place of the paths that they name.

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

fn is_path(word: &str) -> bool {
    word.starts_with(['/', '~'])
}
