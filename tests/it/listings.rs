//! What is read of a `.weigh` file by its listings, and not from front to back: a picture of the largest, and what is
//! browsed. It is what all of the file says.

use std::fmt::Write;
use std::fs;

use crate::dice::Dice;
use crate::fixture::Fixture;
use crate::rounds::{for_seeds, rounds};
use crate::run::weigh;
use crate::saved::{self, Block, block};
#[cfg(feature = "tui")]
use crate::session;
use crate::snapshots::same;

/// Members of any header that `--save` writes.
const HEADER: &str = r#"{"schema":1,"tool":"weigh","version":"0.3.0","measure":"disk","unit":"bytes","complete":true,"time":1750000000,"host":"nowhere","roots":[],"options":[],"figures":["disk","apparent","files","inodes","modified"],"details":false"#;

/// A tree as JSON: of many directories, some of them large, with many equal sizes and times, and links.
struct MadeUp {
    dice: Dice,
    text: String,
    /// How many more entries there may be in each directory of the root.
    left: usize,
    most: usize,
}

/// What an entry comes to.
#[derive(Clone, Copy)]
struct Total {
    size: u64,
    files: u64,
    newest: i64,
}

impl MadeUp {
    /// A snapshot of one root, or of several.
    fn snapshot(seed: u64, entries: usize) -> String {
        let (dice, text, most) = (Dice::new(seed), HEADER.to_owned(), entries / 40);
        let mut tree = Self { dice, text, left: 0, most };
        let text = &mut tree.text;
        if seed.is_multiple_of(3) {
            text.push_str(r#","name":"(total)","kind":"total","#);
            tree.content(0, &|number| format!("/root/{number}"));
        } else {
            text.push_str(
                r#","name":"top","kind":"directory","inode":1,"device":7,"mount":3,"own":4096,"modified":5,"#,
            );
            tree.content(0, &|number| number.to_string());
        }
        tree.text + r#","errors":[]}"#
    }

    /// Writes the members that only a directory has.
    fn content(&mut self, depth: usize, name: &dyn Fn(usize) -> String) -> Total {
        self.text.push_str(r#""children":["#);
        let mut all = Total { size: 4096, files: 0, newest: 5 };
        let most = if self.dice.below(40) == 0 { 9_000 } else { 25 };
        let count = if depth == 0 { 40 } else { self.dice.below(most).min(self.left) };
        // A directory in which is only another one shares a line with it, if all of it is known.
        let count = if count == 1 { 0 } else { count };
        for number in 0..count {
            self.left = if depth == 0 { self.most } else { self.left.saturating_sub(1) };
            let comma = if number == 0 { "" } else { "," };
            write!(self.text, r#"{comma}{{"name":"{}","#, name(number)).unwrap();
            let is_directory = match depth {
                0 => number % 4 > 0,
                _ => depth < 9 && self.left > 0 && self.dice.below(3) == 0,
            };
            let entry = if is_directory {
                self.text.push_str(r#""kind":"directory","own":4096,"modified":5,"#);
                self.content(depth + 1, &|number| format!("{number}-{depth}"))
            } else {
                self.leaf()
            };
            self.text.push('}');
            all.size += entry.size;
            all.files += entry.files;
            all.newest = all.newest.max(entry.newest);
        }
        let Total { size, files, newest } = all;
        write!(
            self.text,
            r#"],"size":{size},"apparent":{},"files":{files},"entries":{},"newest":{newest}"#,
            size * 2,
            files + size / 4096 + 1
        )
        .unwrap();
        all
    }

    fn leaf(&mut self) -> Total {
        let (mut size, newest) =
            (*self.dice.of(&[0, 4096, 4096, 8192, 70_000]), *self.dice.of(&[-5, 0, 9]));
        let mut inode = String::new();
        if self.dice.below(9) == 0 {
            let number = 100 + self.dice.below(60);
            inode = format!(r#","inode":{number},"device":7,"mount":3,"links":9"#);
            size = number as u64 * 4096;
        }
        let apparent = size / 2;
        write!(
            self.text,
            r#""kind":"file","size":{size},"apparent":{apparent},"modified":{newest}{inode}"#
        )
        .unwrap();
        Total { size, files: 1, newest }
    }
}

/// A snapshot with blocks that only one of many listings needs.
fn saved(seed: u64, entries: usize) -> Fixture {
    let fixture = Fixture::new();
    saved::write(fixture.at("all.weigh"), &MadeUp::snapshot(seed, entries));
    fixture
}

#[test]
fn pictures_are_those_of_all_of_it() {
    const FORMS: &[&str] = &[
        "",
        "-n 3",
        "-n 60",
        "-n 4000",
        "-n 0",
        "-d 1",
        "-d 2 -n 30",
        "-D -n 30",
        "-F -n 30",
        "-F -n 2000",
        "-z 300000",
        "-s -n 30",
        "-f -n 30",
        "--inodes -n 30",
        "-m m -n 30",
        "-m m -F",
        "-j -n 50",
        "-p --as csv -n 9",
        "-j -d 1 -D",
    ];
    for_seeds(rounds(4, 60), |seed| {
        let fixture = saved(seed, 60_000);
        for form in FORMS {
            // What is saved needs all of it.
            let [some, all] = ["", "--save again"].map(|more| {
                let run = weigh(&format!("{form} --from all.weigh {more}"));
                run.within(fixture.path()).run()
            });
            assert!(!all.stdout.is_empty(), "{form}: {}", all.complaint());
            same(&some, &all, &format!("seed {seed}, weigh {form}"));
        }
    });
}

/// Where the blocks of a file are, after its header.
fn blocks(file: &[u8]) -> Vec<usize> {
    let (mut at, mut blocks) = (8, Vec::new());
    while file[at] != b'E' {
        if file[at] == b'D' {
            blocks.push(at);
        }
        at += 5 + u32::from_le_bytes(file[at + 1..at + 5].try_into().unwrap()) as usize;
    }
    blocks
}

/// A picture does not read what it does not show. That is seen where this is damaged.
#[test]
fn only_what_is_shown_is_read() {
    let fixture = saved(1, 60_000);
    let mut file = fs::read(fixture.at("all.weigh")).unwrap();
    let blocks = blocks(&file);
    assert!(blocks.len() > 2, "{blocks:?}");
    let last = blocks.len() - 1;
    file[blocks[last] + 40] ^= 1;
    fs::write(fixture.at("all.weigh"), &file).unwrap();
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    run("--from all.weigh -d 1").clean();
    // From a pipe, and where everything is shown, everything is read.
    for flags in ["--from all.weigh -j", "--from all.weigh -t", "--from all.weigh -X none"] {
        let complaint = run(flags).complaint();
        assert!(complaint.contains(&format!("all.weigh: block {last} is damaged")), "{complaint}");
    }
}

/// Before it is loaded, and if it is not loaded at all, every list is as in what is loaded; and marks stay.
#[cfg(feature = "tui")]
#[test]
fn lists_are_those_of_all_of_it() {
    for_seeds(rounds(6, 100), |seed| {
        let fixture = saved(seed, 20_000);
        let file = session::files([fixture.at("all.weigh")]).times();
        let (mut all, mut some) = (file.clone().open(), file.open_listings());
        assert!(some.is_scanning());
        let mut dice = Dice::new(seed);
        for step in 0..150 {
            if step == 70 && seed.is_multiple_of(2) {
                // It is too large to be loaded.
                some.load(true);
                assert!(!some.is_scanning());
            }
            let key = *dice.of(&["j", "j", "k", "→", "→", "→", "h", "n", "s", "C", " ", "M"]);
            assert!(all.ask(key).is_empty() && some.ask(key).is_empty());
            let (what, is_same) =
                (format!("seed {seed}, after {step} keys, {key}"), some.said() == all.said());
            assert_eq!(some.lines(), all.lines(), "{what}");
            assert!(is_same && some.totals() == all.totals(), "{what}");
            assert_eq!(some.marks(), all.marks(), "{what}");
        }
        assert_eq!(some.marked(), all.marked(), "seed {seed}");
        assert!(some.marked_size().is_none(), "it knows no total of what it has not read");
        // Now it is loaded.
        some.load(false);
        assert_eq!(some.marked(), all.marked(), "seed {seed}");
        assert_eq!(some.marked_totals(), all.marked_totals(), "seed {seed}");
        assert_eq!(some.lines(), all.lines());
    });
}

/// A directory that cannot be read is not entered, and the last line says why.
#[cfg(feature = "tui")]
#[test]
fn a_damaged_block_is_named_where_it_is_needed() {
    let fixture = saved(1, 60_000);
    let mut file = fs::read(fixture.at("all.weigh")).unwrap();
    for block in &blocks(&file)[1..] {
        file[block + 40] ^= 1;
    }
    fs::write(fixture.at("all.weigh"), &file).unwrap();
    let mut browser = session::files([fixture.at("all.weigh")]).times().open_listings();
    browser.ask("n");
    let (root, names) = (browser.lines(), browser.len());
    let mut refused = 0;
    for line in 0..names {
        browser.ask(&format!("⇱{}→", "j".repeat(line)));
        match browser.said() {
            "there is nothing to open" => {}
            "" => drop(browser.ask("h")),
            said => {
                assert!(said.contains("snapshot: block ") && said.contains("is damaged"), "{said}");
                assert_eq!(browser.lines(), root);
                refused += 1;
            }
        }
    }
    assert!(refused > 0);
}

/// No number of directories leads to a listing twice, or back; and what the index says of a block is checked.
#[test]
fn numbers_that_do_not_fit_are_refused() {
    let fixture = Fixture::new();
    let fits = block(0, &[&[("a", 1), ("b", 0)], &[("c", 0)], &[], &[]], 3);
    let cases: &[(&str, u64, &[Block])] = &[
        ("", 4, &[(0, fits.clone())]),
        (
            "",
            4,
            &[
                (0, block(0, &[&[("a", 1), ("b", 0)]], 3)),
                (1, block(1, &[&[("c", 0)], &[], &[]], 0)),
            ],
        ),
        ("number of directories", 5, &[(0, fits)]),
        (
            "more directories than it says",
            3,
            &[(0, block(0, &[&[("a", 0), ("b", 0)], &[("c", 0)], &[]], 2))],
        ),
        (
            "more directories than it says",
            3,
            &[(0, block(0, &[&[("a", 9), ("b", 0)], &[], &[]], 2))],
        ),
        ("more directories than it says", 2, &[(0, block(0, &[&[("a", u64::MAX)], &[]], 1))]),
        (
            "fewer directories than it says",
            4,
            &[(0, block(0, &[&[("a", 1)], &[("c", 0)], &[], &[]], 3))],
        ),
        ("", 2, &[(0, block(0, &[&[("a", 0)]], 1)), (1, block(1, &[&[]], 0))]),
        ("", 2, &[(0, block(0, &[&[("a", 0)]], 1))]),
        ("", 2, &[(0, block(0, &[&[("a", 0)]], 1)), (2, block(2, &[&[]], 0))]),
        (
            "is not what the index says",
            2,
            &[(0, block(0, &[&[("a", 0)]], 1)), (1, block(2, &[&[]], 0))],
        ),
    ];
    for (number, (why, directories, blocks)) in cases.iter().enumerate() {
        saved::forge(&fixture.at("all.weigh"), HEADER, *directories, blocks);
        let run = |flags: &str| weigh(flags).within(fixture.path()).run();
        let [some, all] = ["-n 20", "-j"].map(|form| run(&format!("{form} --from all.weigh")));
        assert_eq!(
            (some.code(), some.code() == 0),
            (all.code(), some.complaint().is_empty()),
            "{number}"
        );
        assert!(some.complaint().contains(why), "{number}: {}", some.complaint());
        let is_right = matches!(number, 0 | 1 | 7);
        assert_eq!(some.code() == 0, is_right, "{number}: {}", some.complaint());
    }
}

/// Blocks that have any bytes changed, with the right checksums, lead to an error or a listing, and to no panic.
#[test]
fn damaged_listings_are_refused_or_shown() {
    for_seeds(rounds(300, 50_000), |seed| {
        let mut dice = Dice::new(seed);
        let fixture = Fixture::new();
        let mut blocks: Vec<Block> = vec![
            (0, block(0, &[&[("a", 2), ("b", 0)], &[("c", 1)]], 4)),
            (2, block(2, &[&[("d", 0)], &[], &[]], 0)),
        ];
        for _ in 0..=dice.below(3) {
            let block = dice.below(2);
            let (first, content) = &mut blocks[block];
            match dice.below(8) {
                0 => *first = dice.below(6) as u64,
                1 => content.truncate(dice.below(content.len() + 1)),
                _ => {
                    let at = dice.below(content.len().max(1));
                    if let Some(byte) = content.get_mut(at) {
                        *byte = dice.below(256) as u8;
                    }
                }
            }
        }
        saved::forge(&fixture.at("all.weigh"), HEADER, 5 + u64::from(dice.below(9) == 0), &blocks);
        for way in [&[][..], &["a"], &["b"], &["a", "c"], &["a", "c", "d"]] {
            let most = saved::directories_listed(&fixture.at("all.weigh"), way);
            assert!(most.is_none_or(|most| most <= 6), "seed {seed}");
        }
    });
}
