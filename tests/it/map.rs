//! The treemap on the whole screen: areas are as sizes, the arrows reach every tile, and all keys of the list work.
#![cfg(feature = "tui")]

use std::collections::{BTreeMap, BTreeSet};

use ratatui_core::style::Color;

use crate::dice::Dice;
use crate::fixture::Fixture;
use crate::session::{self, Depth, Session, Theme};

fn map(fixture: &Fixture) -> Session {
    let mut browser = session::of([fixture.at("tree")]).own_home().open();
    browser.resize((80, 24)).press("T");
    browser
}

/// Directories, files, and more of them than there is room for.
fn fixture() -> Fixture {
    let mut fixture = Fixture::in_memory()
        .file("tree/target/debug/deps/lib.rlib", 600_000)
        .file("tree/target/debug/app", 200_000)
        .file("tree/pictures/one.jpg", 300_000)
        .file("tree/pictures/two.jpg", 250_000)
        .file("tree/notes.txt", 150_000);
    for i in 0..100 {
        fixture = fixture.file(format!("tree/small/{i:03}"), 4_096);
    }
    fixture
}

/// How many cells of the screen a click on leads to each line of the list.
fn areas(browser: &Session, (width, height): (u16, u16)) -> BTreeMap<usize, usize> {
    let mut areas = BTreeMap::new();
    for at in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
        if let Some(line) = browser.line_at(at) {
            *areas.entry(line).or_default() += 1;
        }
    }
    areas
}

/// The name of the chosen entry, from the line above the map.
fn chosen(browser: &mut Session) -> String {
    let shown = browser.screen();
    let name = shown.lines().nth(3).unwrap().split_whitespace().next().unwrap();
    name.trim_end_matches('/').to_owned()
}

#[test]
fn areas_are_as_sizes() {
    let fixture = fixture();
    let mut browser = map(&fixture);
    for (width, height) in [(80, 24), (200, 60), (120, 40)] {
        browser.resize((width, height)).screen();
        let areas = areas(&browser, (width, height));
        let sizes: Vec<_> = browser.listed().into_iter().map(|(_, size)| size).collect();
        let (all, whole) = (areas.values().sum::<usize>(), sizes.iter().sum::<u64>());
        assert!(all > usize::from(width) * usize::from(height - 8), "{all} of {width} × {height}");
        for (line, size) in sizes.iter().enumerate() {
            let [area, share] = [areas[&line] as f64 / all as f64, *size as f64 / whole as f64];
            assert!((area - share).abs() < 0.02, "{line}: {area} of the area, {share} of the size");
        }
    }
}

/// What is in a directory has tiles inside it, with names and sizes; what has no room is one area.
#[test]
fn directories_show_what_is_in_them() {
    let mut browser = map(&fixture());
    let shown = browser.screen();
    for text in [
        "\n>target/debug/ 784Ki ─",
        "\n│deps/ 588Ki ─",
        "\n│lib.rlib",
        "\n│588Ki",
        "\n│app",
        "─pictures/ 544Ki ─",
        " one.jpg",
        " notes.txt",
        "T list",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    assert!(shown.lines().nth(3).unwrap().starts_with(" target/debug/  784Ki · 42% · "), "{shown}");
}

/// From each tile, some arrow leads on, so that all of them can be reached; and none leads to one that is not there.
#[test]
fn arrows_reach_every_tile() {
    for seed in 0..40 {
        let mut dice = Dice::new(seed);
        let mut fixture = Fixture::in_memory();
        for i in 0..dice.below(60) + 2 {
            fixture = fixture.file(format!("tree/{i}/f"), 4096 << dice.below(8));
        }
        let mut browser = map(&fixture);
        let names = browser.names();
        browser.screen();
        let there: BTreeSet<_> = areas(&browser, (80, 24)).into_keys().collect();
        let (mut seen, mut next) = (BTreeSet::from([0]), vec![0]);
        while let Some(line) = next.pop() {
            for key in ["←", "→", "↑", "↓"] {
                // No arrow, so along the list.
                browser.press(&format!("g{}", "j".repeat(line))).press(key);
                let to = chosen(&mut browser);
                let to = names.iter().position(|name| *name == to).unwrap();
                assert!(there.contains(&to), "seed {seed}: {key} from {line} leads to {to}");
                if seen.insert(to) {
                    next.push(to);
                }
            }
        }
        assert_eq!(seen, there, "seed {seed}");
    }
}

/// `Enter` opens, `h` leaves, `Esc` goes back to the list, and marks and all else are those of the list.
#[test]
fn all_keys_of_the_list_work() {
    let fixture = fixture();
    let mut browser = map(&fixture);
    let list = browser.names();
    browser.press("\n");
    assert_eq!(browser.names(), ["deps", "app"]);
    assert!(browser.screen().contains(" app\n"), "{}", browser.screen());
    browser.press("h");
    assert_eq!(browser.names(), list);
    browser.press(" ");
    assert!(browser.screen().contains("● "), "{}", browser.screen());
    assert_eq!(browser.marked(), [fixture.at("tree/target/debug")]);
    browser.press("U\t⇤");
    assert!(browser.screen().contains("T list"), "it stays");
    browser.press("f*.txt\n");
    assert!(browser.screen().contains("notes.txt") && !browser.screen().contains("one.jpg"));
    browser.press("\x1b");
    assert!(browser.screen().contains("T list"), "first the filter goes");
    browser.press("\x1b");
    let shown = browser.screen();
    assert!(shown.contains(" name\n") && !shown.contains("T list"), "{shown}");
    assert_eq!(browser.said(), "");
}

/// An arrow that came in one batch with a key that lists anew was lost, so that `Space` marked another entry.
#[test]
fn keys_typed_fast_do_the_same() {
    let fixture = fixture();
    for keys in ["ss→ ", "\n→ ", "T→T→ ", "a→ ", "f*\n→ "] {
        let (mut slow, mut fast) = (map(&fixture), map(&fixture));
        for key in keys.chars() {
            slow.screen();
            slow.press(&key.to_string());
        }
        fast.press(keys);
        assert_eq!(fast.marked(), slow.marked(), "{keys:?}");
        assert_eq!(fast.marks(), 1, "{keys:?}");
    }
}

/// Without sizes there are no areas: the list stays, and so do its keys.
#[test]
fn what_has_no_size_is_listed() {
    let fixture = Fixture::in_memory().file("tree/a", 0).file("tree/b", 0);
    let mut browser = map(&fixture);
    browser.press("↓ ");
    assert!(browser.screen().contains(" name\n"), "{}", browser.screen());
    assert_eq!(browser.marked(), [fixture.at("tree/b")]);
}

/// During a scan, only a few directories show what is in them: the largest.
#[test]
fn a_scan_shows_what_is_in_the_largest() {
    let mut fixture = Fixture::in_memory();
    for i in 0..14 {
        fixture = fixture.file(format!("{i:02}/inside{i:02}"), 40_000 + 20_000 * i);
    }
    let mut seen = String::new();
    session::during_scan(fixture.path(), |browser| {
        browser.resize((160, 45));
        if !browser.screen().contains("T list") {
            browser.ask("T");
        }
        let (names, shown) = (browser.names(), browser.screen());
        if names.len() == 14 && shown.contains("inside") {
            let largest = format!("inside{}", names[0]);
            assert!(shown.contains(&largest), "{largest}: {shown}");
            seen = shown;
        }
    });
    assert!(!seen.is_empty());
}

/// A click chooses a tile, and a second one opens it.
#[test]
fn a_click_chooses_a_tile() {
    let mut browser = map(&fixture());
    browser.screen();
    let at = (0..24).flat_map(|y| (0..80).map(move |x| (x, y)));
    let of_pictures: Vec<_> = at.filter(|at| browser.line_at(*at) == Some(1)).collect();
    assert!(browser.click(of_pictures[0]));
    assert_eq!(
        (chosen(&mut browser), browser.names()[1].as_str()),
        ("pictures".to_owned(), "pictures")
    );
    assert!(browser.click(of_pictures[0]));
    assert_eq!(browser.names(), ["one.jpg", "two.jpg"]);
}

/// It fills during a scan, also inside directories.
#[test]
fn it_fills_during_a_scan() {
    let mut fixture = Fixture::in_memory();
    for i in 0..40 {
        fixture = fixture.file(format!("top{}/deep{}/f{i}", i % 3, i % 2), 40_000);
    }
    let mut seen = BTreeSet::new();
    session::during_scan(fixture.path(), |browser| {
        browser.resize((120, 40));
        if !browser.screen().contains("T list") {
            browser.ask("T");
        }
        let shown = browser.screen();
        for text in ["top0/", "top1/", "top2/", "deep0/", "deep1/"] {
            // Not in the line above the map.
            let below = shown.lines().skip(4).any(|line| line.contains(text));
            seen.extend(Some(text).filter(|_| below));
        }
    });
    assert_eq!(seen.len(), 5, "{seen:?}");
}

/// No terminal is too small, and a colour is never all there is: a frame marks the chosen tile.
#[test]
fn it_is_drawn_at_any_size() {
    let fixture = fixture();
    let mut plain = map(&fixture);
    for (width, height) in
        [(1, 1), (2, 3), (10, 4), (20, 8), (40, 15), (300, 3), (3, 100), (80, 24)]
    {
        plain.resize((width, height)).screen();
        if width >= 10 && height >= 4 {
            assert!(plain.screen().contains('>'), "{width} × {height}: {}", plain.screen());
        }
    }
    let mut colored =
        session::of([fixture.at("tree")]).colors(Theme::Dark, Depth::Rgb, None).open();
    let cells = colored.resize((80, 24)).press("T").cells();
    let grounds = cells.content().iter().filter_map(|cell| match cell.bg {
        Color::Rgb(red, green, blue) => Some([red, green, blue]),
        _ => None,
    });
    let kinds: BTreeSet<_> = grounds.collect();
    assert!(kinds.len() >= 3, "{kinds:?}");
}
