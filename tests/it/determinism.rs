//! The same tree gives the same bytes, for any number of threads, and in whatever order they find its links.

use crate::dice::Dice;
use crate::fixture::Fixture;
use crate::rounds::rounds;
use crate::run::weigh;

/// For each kind of output.
const RUNS: (usize, usize) = (50, 200);

/// 60 directories in which 1,500 links lead to 120 inodes, all of few lengths so that many tie.
fn tangle() -> Fixture {
    let mut dice = Dice::new(7);
    let mut fixture = Fixture::in_memory();
    let dirs: Vec<String> = (0..60).map(|i| format!("top/{}/{}/{i}", i % 3, i % 7)).collect();
    let mut first = Vec::new();
    for i in 0..120 {
        let name = format!("{}/f{i}", dice.of(&dirs));
        fixture = fixture.file(&name, 1000 * dice.below(6));
        first.push(name);
    }
    for i in 0..1380 {
        let (existing, dir) = (dice.of(&first), dice.of(&dirs));
        fixture = fixture.hard_link(existing, format!("{dir}/l{i}"));
    }
    fixture
}

#[test]
fn the_same_tree_gives_the_same_bytes() {
    let fixture = tangle();
    let kinds = ["-j", "-c -w 100 -n 40", "-j -s -n 30", "-c -s -w 100 -F -n 25"];
    for flags in kinds {
        let run = |threads: usize| {
            let flags = format!("{flags} -T {threads}");
            weigh(&flags).arg("top").within(fixture.path()).run().clean()
        };
        let expected = run(1);
        for i in 0..rounds(RUNS.0, RUNS.1) {
            let threads = [1, 2, 8, 64][i % 4];
            assert!(run(threads) == expected, "weigh {flags} -T {threads} differs in run {i}");
        }
        let unset = weigh(flags).arg("top").within(fixture.path()).run().clean();
        assert!(unset == expected, "weigh {flags} differs without -T");
    }
}
