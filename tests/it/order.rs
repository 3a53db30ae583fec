//! What lies side by side: in which order, and of what weight when only deleting counts.

use std::collections::HashMap;

use crate::dice::{Dice, Names};
use crate::fixture::Fixture;
use crate::oracle::{self, Eyes, Measure};
use crate::picture;
use crate::rounds::for_seeds;
use crate::run::weigh;

/// What deleting a directory gives back: its inodes of which it holds every link.
#[test]
fn unique_is_what_deleting_gives_back() {
    for_seeds(60, |seed| {
        let fixture = Dice::new(seed + 7_000_000).tree(Fixture::in_memory(), Names::Hostile);
        let root = fixture.at("tree");
        let entries = oracle::find(&root, Eyes::Mine);
        for measure in Measure::ALL {
            let whole = oracle::directories(&entries, measure);
            for threads in [1, 2, 8] {
                let flags = format!("-j --unique -T {threads} {}", measure.flag());
                let document = weigh(&flags).arg(&root).run().document();
                let nodes = document.by_path();
                assert_eq!(nodes.len(), entries.len());
                for entry in &entries {
                    let what = format!("{flags}: {}", String::from_utf8_lossy(&entry.path));
                    let expected = match whole.get(&entry.path) {
                        Some(weight) => weight.size - weight.shared,
                        None if entry.links > 1 => 0,
                        None => measure.of(entry),
                    };
                    assert_eq!(nodes[&entry.path].size, expected, "{what}");
                    assert_eq!(nodes[&entry.path].shared, 0, "{what}");
                }
            }
        }
    });
}

/// The largest lines are those that the whole has, in whatever way they are cut.
#[test]
fn the_largest_that_are_unique() {
    for_seeds(40, |seed| {
        let fixture = Dice::new(seed + 8_000_000).tree(Fixture::in_memory(), Names::Tame);
        let root = fixture.at("tree");
        let whole = weigh("-j --unique -s").arg(&root).run().document();
        let mut sizes: Vec<u64> = whole.nodes[1..].iter().map(|node| node.size).collect();
        sizes.retain(|size| *size > 0);
        sizes.sort_unstable_by_key(|size| std::cmp::Reverse(*size));
        sizes.truncate(7);
        let text = weigh("--unique -s -n 7 -z 1 -b -c -p -o b").arg(&root).run().text();
        let mut shown: Vec<u64> =
            picture::lines(&text).iter().rev().skip(1).map(|line| line.size).collect();
        shown.sort_unstable_by_key(|size| std::cmp::Reverse(*size));
        assert_eq!(shown, sizes, "seed {seed}\n{text}");
    });
}

#[test]
fn unique_where_links_are_elsewhere() {
    let fixture = Fixture::new()
        .file("top/a/one", 5000)
        .hard_link("top/a/one", "top/b/two")
        .file("top/b/three", 100)
        .file("out/four", 3000)
        .hard_link("out/four", "top/b/four");
    let sizes = |root: &str| -> HashMap<String, u64> {
        let flags = "--unique -s -b -c -p -o b -n 20";
        let text = weigh(flags).arg(root).within(fixture.path()).run().text();
        picture::lines(&text).into_iter().map(|line| (line.name, line.size)).collect()
    };
    let top = sizes("top");
    assert_eq!((top["top"], top["top/a"], top["top/b"]), (5100, 0, 100));
    assert_eq!(sizes("out/four")["out/four"], 0);
}

fn dated() -> Fixture {
    Fixture::in_memory()
        .file("top/b/1", 10)
        .file("top/b/2", 10)
        .file("top/b/3", 10)
        .file("top/c", 900)
        .modified("top/c", 1_000)
        .file("top/a/x", 500)
        .modified("top/a/x", 2_000)
        .modified("top/a", 2_000)
        .modified("top/b", 5_000)
}

fn names(flags: &str) -> Vec<String> {
    let fixture = dated();
    let flags = format!("-s -b -c -d 1 {flags}");
    let text = weigh(&flags).arg("top").within(fixture.path()).run().text();
    text.lines().map(|line| line.rsplit(' ').next().unwrap().to_owned()).collect()
}

#[test]
fn siblings_come_in_the_order_asked_for() {
    assert_eq!(names(""), ["b", "a", "c", "top"]);
    assert_eq!(names("--sort size -r"), ["top", "c", "a", "b"]);
    // Names are read from top to bottom, either way.
    assert_eq!(names("--sort name"), ["a", "b", "c", "top"]);
    assert_eq!(names("--sort name -r"), ["top", "a", "b", "c"]);
    assert_eq!(names("--sort count -r"), ["top", "b", "a", "c"]);
    assert_eq!(names("--sort time -n 2"), ["older", "a", "b", "top"]);
    // It is still the largest that are shown.
    assert_eq!(names("--sort name -n 2"), ["smaller", "a", "c", "top"]);
}

#[test]
fn children_come_in_the_order_asked_for() {
    let fixture = dated();
    let children = |flags: &str| {
        let json = weigh(&format!("-j -s {flags}")).arg("top").within(fixture.path()).run();
        let document = json.document();
        let names = document.root().children.iter();
        let names = names.map(|&child| String::from_utf8(document.nodes[child].name.clone()));
        names.map(Result::unwrap).collect::<Vec<_>>()
    };
    let rows = |flags: &str| {
        let flags = format!("--as csv -s -d 1 {flags}");
        let table = weigh(&flags).arg("top").within(fixture.path()).run().text();
        let names = table.lines().skip(2).map(|row| row["\"top/".len()..][..1].to_owned());
        names.collect::<Vec<_>>()
    };
    for list in [&children as &dyn Fn(&str) -> Vec<String>, &rows] {
        assert_eq!(list(""), ["c", "a", "b"]);
        assert_eq!(list("--sort name"), ["a", "b", "c"]);
        assert_eq!(list("--sort count"), ["b", "a", "c"]);
    }
}

/// As dust has it; but where there are no colours there is no grey either.
#[test]
fn dim_bars_are_grey() {
    let fixture = dated();
    let shown = |flags: &str| weigh(flags).arg("top").within(fixture.path()).run().text();
    let dim = shown("-s -C --dim -d 0");
    // Every console of Windows has all colours.
    let grey = if cfg!(windows) || dim.contains("[38;5;") { "[38;5;244m" } else { "[2m" };
    assert!(dim.contains(&format!("\u{1b}{grey}\u{2588}")), "{dim:?}");
    assert_eq!(shown("-s -c --dim"), shown("-s -c"));
}
