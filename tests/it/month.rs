//! A month of random changes, compared from day to day: what `diff` says is what `find` and `du` say of each day.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::dice::Dice;
use crate::fixture::Fixture;
use crate::rounds::{for_seeds, rounds};
use crate::run::{Shown, weigh};

/// What each path comes to, by `find`: a directory, what the files in it do. The path of the top is empty.
type Sizes = BTreeMap<String, u64>;

fn find(top: &Path) -> (Sizes, Vec<String>) {
    let found = Command::new("find").arg(top).args(["-printf", "%y %s %P\\0"]).output().unwrap();
    assert!(found.status.success());
    let (mut sizes, mut directories) = (Sizes::new(), Vec::new());
    for line in found.stdout.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
        let line = std::str::from_utf8(line).unwrap();
        let [kind, size, path] = line.splitn(3, ' ').collect::<Vec<_>>().try_into().unwrap();
        if kind == "d" {
            sizes.entry(path.to_owned()).or_default();
            directories.push(path.to_owned());
            continue;
        }
        let size: u64 = size.parse().unwrap();
        sizes.insert(path.to_owned(), size);
        let mut above = path;
        while !above.is_empty() {
            above = above.rsplit_once('/').map_or("", |(above, _)| above);
            *sizes.entry(above.to_owned()).or_default() += size;
        }
    }
    (sizes, directories)
}

/// The disk usage of `top`, by `du`.
fn du(top: &Path) -> i64 {
    let found = Command::new("du").args(["-s", "-B1"]).arg(top).output().unwrap();
    let text = String::from_utf8(found.stdout).unwrap();
    text.split('\t').next().unwrap().parse().unwrap()
}

/// Changes what is in `top`: new, longer, shorter and removed files, files with new names, new and removed directories, and
/// directories that move. Or only moves directories.
fn change(top: &Path, dice: &mut Dice, day: usize, only_moves: bool) {
    for turn in 0..if only_moves { 1 } else { 12 } {
        let (sizes, directories) = find(top);
        let files: Vec<_> = sizes.keys().filter(|path| !directories.contains(path)).collect();
        let directory = dice.of(&directories).clone();
        let new = PathBuf::from(&directory).join(format!("new-{day}-{turn}"));
        let file = (!files.is_empty()).then(|| top.join(files[dice.below(files.len().max(1))]));
        let length = [0, 1, 500, 4_096, 70_000, 1_000_000][dice.below(6)];
        match if only_moves { 7 } else { dice.below(9) } {
            0 | 1 => fs::write(top.join(new), vec![1; length]).unwrap(),
            2 => fs::create_dir(top.join(new)).unwrap(),
            3 | 4 => drop(file.map(|file| fs::write(file, vec![2; length]).unwrap())),
            5 => drop(file.map(|file| fs::remove_file(file).unwrap())),
            6 => drop(file.map(|file| fs::rename(file, top.join(new)).unwrap())),
            7 => {
                let moved = dice.of(&directories);
                let is_inside = Path::new(&directory).starts_with(moved);
                if !is_inside && !moved.is_empty() {
                    fs::rename(top.join(moved), top.join(new)).unwrap();
                }
            }
            _ if directory.matches('/').count() > 1 => {
                fs::remove_dir_all(top.join(directory)).unwrap();
            }
            _ => {}
        }
    }
}

/// Each node of a comparison, by its path below the root: before, size, change, and where it was.
fn nodes(root: &Value) -> BTreeMap<String, [Value; 4]> {
    let mut nodes = BTreeMap::new();
    let mut open = vec![(String::new(), root)];
    while let Some((path, node)) = open.pop() {
        for child in node["children"].as_array().into_iter().flatten() {
            let name = child["name"].as_str().unwrap();
            let path = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            open.push((path, child));
        }
        nodes.insert(
            path,
            ["before", "size", "change", "moved_from"].map(|member| node[member].clone()),
        );
    }
    nodes
}

/// The changes in the lines of a picture, in bytes.
fn changes(text: &str) -> Vec<i64> {
    let lines = text.lines().skip(1).filter(|line| line.trim_start().starts_with(['+', '-']));
    let figures = lines.map(|line| line.split_whitespace().next().unwrap().trim_end_matches('B'));
    figures.map(|figure| figure.parse().unwrap()).collect()
}

#[test]
fn a_month_of_changes_is_what_find_and_du_say() {
    for_seeds(rounds(2, 10), |seed| {
        let mut fixture = Fixture::in_memory().dir("saved");
        let mut dice = Dice::new(seed + 77);
        for i in 0..60 {
            let path = format!("t/{}/{}/f{i}", i % 7, i % 3);
            fixture = fixture.file(path, [0, 1, 300, 5_000, 60_000][dice.below(5)]);
        }
        let top = fixture.at("t");
        let run = |flags: &str| weigh(flags).within(fixture.path()).run();
        let mut days: Vec<(Sizes, i64)> = Vec::new();
        for day in 0..rounds(8, 30) {
            let only_moves = day % 4 == 3;
            if day > 0 {
                change(&top, &mut dice, day, only_moves);
            }
            let (now, _) = find(&top);
            let used = du(&top);
            for since in [day.checked_sub(1), Some(day / 2), Some(0)].into_iter().flatten() {
                let Some((before, used_then)) = days.get(since) else { continue };
                let what = format!("seed {seed}, day {day} since day {since}");
                let diff = |flags: &str| run(&format!("diff {flags} saved/{since}.weigh t"));
                check_figures(&diff("-s -j"), before, &now, &what);
                let json: Value = diff("-j").json();
                assert_eq!(json["change"], used - used_then, "{what}: {}", json["change"]);
                check_picture(&diff("-s -o b -n 10000 -d 99").text(), before, &now, &what);
                if only_moves && since + 1 == day {
                    let text = diff("-s -o b").text();
                    let is_said = ["did not change", "neither grew nor shrank"];
                    assert!(is_said.iter().any(|said| text.contains(said)), "{what}: {text}");
                    assert_eq!(changes(&text), [0; 0], "{what}: {text}");
                }
            }
            run(&format!("-q --details t --save saved/{day}.weigh")).clean();
            days.push((now, used));
        }
    });
}

/// Each figure is what `find` said. What moved is not gone where it was.
fn check_figures(shown: &Shown, before: &Sizes, now: &Sizes, what: &str) {
    let root: Value = serde_json::from_slice(&shown.stdout).unwrap();
    let nodes = nodes(&root);
    for (path, [was, is, change, moved_from]) in &nodes {
        let known = |sizes: &Sizes| sizes.get(path).copied();
        assert_eq!(is.as_u64(), known(now), "{what}: {path:?} is");
        let mut difference = is.as_i64().unwrap_or(0) - was.as_i64().unwrap_or(0);
        if let Some(origin) = moved_from.as_str() {
            assert_eq!(before.get(origin).copied(), is.as_u64(), "{what}: {path:?} from {origin}");
            difference = 0;
        } else {
            assert_eq!(was.as_u64(), known(before), "{what}: {path:?} was");
        }
        assert_eq!(change.as_i64(), Some(difference), "{what}: {path:?}");
    }
    // Every file that differs has a node, unless it moved with its directory.
    let origins: Vec<_> = nodes.values().filter_map(|node| node[3].as_str()).collect();
    let moved: Vec<_> = nodes.iter().filter(|(_, node)| node[3].is_string()).collect();
    let is_below =
        |path: &str, above: &str| path.strip_prefix(above).is_some_and(|it| it.starts_with('/'));
    for path in before.keys().chain(now.keys()) {
        let has_moved = origins.iter().any(|above| path == above || is_below(path, above))
            || moved.iter().any(|(above, _)| is_below(path, above));
        let differs = before.get(path).unwrap_or(&0) != now.get(path).unwrap_or(&0);
        assert!(nodes.contains_key(path) || has_moved || !differs, "{what}: {path:?} is missing");
    }
    let total = |sizes: &Sizes| sizes[""] as i64;
    assert_eq!(root["change"], total(now) - total(before), "{what}");
}

/// The first line is the difference; the others add up to it, and have the order of their changes.
fn check_picture(text: &str, before: &Sizes, now: &Sizes, what: &str) {
    let [was, is] = [before, now].map(|sizes| sizes[""] as i64);
    let first = text.lines().next().unwrap();
    let said = match is - was {
        0 => format!(": {is}B"),
        1.. => format!("t grew by {}B since ", is - was),
        _ => format!("t shrank by {}B since ", was - is),
    };
    assert!(first.contains(&said), "{what}: {first}, and not {said}");
    let rows = changes(text);
    let is_rest_first = text.lines().nth(1).is_some_and(|line| line.contains("smaller changes"));
    let skipped = usize::from(is_rest_first);
    let mut own = rows.get(skipped..).unwrap_or_default().to_vec();
    let shown = own.clone();
    own.sort_unstable();
    assert_eq!(shown, own, "{what}: {text}");
    assert_eq!(rows.iter().sum::<i64>(), is - was, "{what}: {text}");
}
