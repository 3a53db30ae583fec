//! A picture shows the right lines: the test selects what `-n -d -D -F -z` must leave from the whole tree, in the
//! simplest way, and compares line by line.

use std::collections::HashSet;
use std::path::Path;

use crate::dice::{Dice, Names};
use crate::document::Document;
use crate::fixture::Fixture;
use crate::oracle::{self, Entry, Eyes};
use crate::picture::{self, Line};
use crate::rounds::{for_seeds, rounds};
use crate::run::weigh;

const SEEDS: (usize, usize) = (40, 400);

/// What is asked for, as flags and as the selection that they stand for.
struct Ask {
    flags: String,
    lines: usize,
    depth: usize,
    least: u64,
    kinds: Kinds,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kinds {
    All,
    Directories,
    Files,
}

/// One thing that might be listed.
struct Candidate<'a> {
    path: Vec<&'a [u8]>,
    size: u64,
    shared: u64,
    inode: &'a str,
    is_dir: bool,
}

#[test]
fn pictures_hold_the_largest_each_inode_once() {
    for_seeds(rounds(SEEDS.0, SEEDS.1), |seed| {
        let fixture = Dice::new(seed + 2_000_000).tree(Fixture::in_memory(), Names::Tame);
        let root = fixture.at("tree");
        let entries = oracle::find(&root, Eyes::Mine);
        for measure in ["", "-s"] {
            let whole = weigh(&format!("-j {measure}")).arg(&root).run().document();
            for ask in asks() {
                let flags = format!("{measure} {} -p -b -c -o b -w 400", ask.flags);
                let text = weigh(&flags).arg(&root).run().text();
                let expected = expected(&whole, &entries, &ask, &root);
                let what = format!("seed {seed}, weigh {flags}\n{text}");
                compare(&picture::lines(&text), &expected, &what);
                let upside_down = weigh(&format!("-r {flags}")).arg(&root).run().text();
                let mut lines = picture::lines(&upside_down);
                lines.reverse();
                compare(&lines, &expected, &format!("{what}with -r\n{upside_down}"));
            }
        }
    });
}

/// Directories with many files of few sizes, so that entries are dropped while they are read, and most of them have the
/// same size as one that is kept. Only this test finds that the first of them was dropped instead of the last by name,
/// or a link instead of an inode.
#[test]
fn entries_dropped_during_the_walk_are_those_dropped_at_its_end() {
    for_seeds(40, |seed| {
        let fixture = crowd(&mut Dice::new(seed + 4_000_000));
        let root = fixture.at("tree");
        let entries = oracle::find(&root, Eyes::Mine);
        let whole = weigh("-j -s").arg(&root).run().document();
        for (lines, kinds) in [
            (1, Kinds::All),
            (3, Kinds::All),
            (12, Kinds::All),
            (5, Kinds::Files),
            (60, Kinds::All),
        ] {
            let only = if kinds == Kinds::Files { "-F" } else { "" };
            let flags = format!("-n {lines} {only}");
            let ask = Ask { flags, lines, depth: usize::MAX, least: 0, kinds };
            let expected = expected(&whole, &entries, &ask, &root);
            for threads in [1, 2, 8] {
                let flags = format!("-s {} -p -b -c -o b -w 400 -T {threads}", ask.flags);
                let text = weigh(&flags).arg(&root).run().text();
                let what = format!("seed {seed}, weigh {flags}\n{text}");
                compare(&picture::lines(&text), &expected, &what);
            }
        }
    });
}

/// Four directories, one in another, of 100 files each; a third of them are links to what is there.
fn crowd(dice: &mut Dice) -> Fixture {
    let mut fixture = Fixture::in_memory();
    let mut files: Vec<String> = Vec::new();
    for i in 0..400 {
        let dir = dice.of(&["m", "c", "c/x", "s"]);
        // The number last, so that names do not sort as they were made.
        let name = format!("tree/{dir}/{}{}-{i}", dice.below(10), dice.below(10));
        fixture = if dice.below(3) == 0 && !files.is_empty() {
            fixture.hard_link(dice.of(&files), &name)
        } else {
            fixture.sparse(&name, 1000 * dice.below(3) as u64)
        };
        files.push(name);
    }
    fixture
}

fn compare(found: &[Line], expected: &[Line], what: &str) {
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found, expected, "{what}");
    }
    assert_eq!(found.len(), expected.len(), "{what}");
}

/// Each flag alone, and some together.
fn asks() -> Vec<Ask> {
    let all = |flags: &str, lines| Ask {
        flags: flags.to_owned(),
        lines,
        depth: usize::MAX,
        least: 0,
        kinds: Kinds::All,
    };
    vec![
        all("-n 1", 1),
        all("-n 5", 5),
        all("-n 20", 20),
        all("-n 1000", 1000),
        Ask { depth: 1, ..all("-n 1000 -d 1", 1000) },
        Ask { depth: 2, ..all("-n 7 -d 2", 7) },
        Ask { depth: 0, ..all("-n 7 -d 0", 7) },
        Ask { kinds: Kinds::Directories, ..all("-n 6 -D", 6) },
        Ask { kinds: Kinds::Files, ..all("-n 6 -F", 6) },
        Ask { kinds: Kinds::Files, ..all("-n 1000 -F", 1000) },
        Ask { least: 5 * 1024, ..all("-n 1000 -z 5k", 1000) },
        Ask { least: 4096, kinds: Kinds::Files, ..all("-n 1000 -z 4096 -F", 1000) },
        Ask { depth: 2, kinds: Kinds::Directories, ..all("-n 1000 -d 2 -D", 1000) },
        Ask { depth: 2, kinds: Kinds::Files, ..all("-n 1000 -d 2 -F", 1000) },
    ]
}

/// The lines that should be drawn, top to bottom: smallest first, the root last.
fn expected(whole: &Document, entries: &[Entry], ask: &Ask, root: &Path) -> Vec<Line> {
    let nodes = whole.by_path();
    let mut candidates: Vec<Candidate<'_>> = entries
        .iter()
        .filter(|entry| !entry.path.is_empty())
        .map(|entry| Candidate {
            path: entry.path.split(|&byte| byte == b'/').collect(),
            size: nodes[&entry.path].size,
            shared: nodes[&entry.path].shared,
            inode: &entry.inode,
            is_dir: entry.kind == b'd',
        })
        .filter(|one| one.path.len() <= ask.depth && one.size >= ask.least)
        .filter(|one| match ask.kinds {
            Kinds::All => true,
            Kinds::Directories => one.is_dir,
            Kinds::Files => !one.is_dir,
        })
        .collect();
    candidates.sort_by(|a, b| a.path.cmp(&b.path));
    let mut seen = HashSet::new();
    candidates.retain(|one| seen.insert(one.inode));
    candidates.sort_by(|a, b| b.size.cmp(&a.size).then_with(|| a.path.cmp(&b.path)));
    candidates.truncate(ask.lines);

    let prefix = root.to_str().unwrap();
    let mut lines = vec![line_of(prefix.to_owned(), whole.root().size, whole.root().shared)];
    if ask.kinds == Kinds::Files {
        lines.extend(candidates.iter().map(|one| one.line(prefix)));
    } else {
        add_below(&[], &candidates, prefix, &mut lines);
    }
    lines.reverse();
    lines
}

/// The lines below `dir`, largest first, each followed by what is below it.
fn add_below(dir: &[&[u8]], shown: &[Candidate<'_>], prefix: &str, lines: &mut Vec<Line>) {
    for one in shown {
        if one.path.split_last().is_some_and(|(_, parent)| parent == dir) {
            lines.push(one.line(prefix));
            add_below(&one.path, shown, prefix, lines);
        }
    }
}

fn line_of(name: String, size: u64, shared: u64) -> Line {
    // Said where it is a tenth or more.
    Line { size, name, shared: if shared * 10 >= size { shared } else { 0 } }
}

impl Candidate<'_> {
    fn line(&self, prefix: &str) -> Line {
        let path = String::from_utf8(self.path.join(b"/".as_slice())).unwrap();
        line_of(format!("{prefix}/{path}"), self.size, self.shared)
    }
}
