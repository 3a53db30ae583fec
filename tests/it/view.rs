//! What `--ui` draws, at several sizes: snapshots of the screen, and names that would draw something else.
#![cfg(all(target_os = "linux", feature = "tui"))]

use std::fs;
use std::path::{Path, PathBuf};

use crate::dice::HOSTILE;
use crate::fixture::{Fixture, raw};
use crate::run::weigh;
use crate::session::{self, Session};

/// A snapshot of what is at `tree` in `fixture`, which was at `/srv` when it was made.
fn saved(fixture: &Fixture) -> PathBuf {
    let (tree, file) = (fixture.at("tree"), fixture.at("saved.weigh"));
    weigh("-P --save").arg(&file).arg(&tree).run();
    let text = crate::saved::text(&file);
    crate::saved::write(&file, &text.replace(tree.to_str().unwrap(), "/srv"));
    file
}

fn browser(snapshot: &Path) -> Session {
    session::files([snapshot]).open()
}

/// With a word in place of many blank lines.
fn condensed(screen: &str) -> String {
    let (mut text, mut blank) = (String::new(), 0);
    for line in screen.lines() {
        if line.is_empty() {
            blank += 1;
            continue;
        }
        text += &match std::mem::take(&mut blank) {
            0 => String::new(),
            blank => format!("({blank} blank)\n"),
        };
        text += line;
        text.push('\n');
    }
    text
}

fn screenful() -> Fixture {
    let mut fixture = Fixture::in_memory()
        .file(
            "tree/cache/deb.debian.org_debian_dists_stable_main_binary-amd64_Packages.yml",
            900_000,
        )
        .file("tree/cache/one", 400_000)
        .file("tree/base.img", 700_000)
        .hard_link("tree/base.img", "tree/images/base.img")
        .file("tree/images/other.img", 200_000)
        .dir("tree/empty")
        .file("tree/漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字", 10_000);
    for i in 0..30 {
        fixture = fixture.file(format!("tree/log/{i}.log"), 4096 * (i + 1));
    }
    fixture
}

const SIZES: [(u16, u16); 5] = [(20, 5), (40, 10), (80, 24), (120, 30), (400, 100)];

/// A click in the second pane or below the list was one on the line of the list at that height.
#[test]
fn only_a_click_on_the_list_is_one_on_its_lines() {
    let (wide, mut browser) = ((120, 30), session::of(["."]).scanning());
    for (at, size, line) in [
        ((0, 4), wide, Some(0)),
        ((71, 27), wide, Some(23)),
        ((72, 4), wide, None),
        ((119, 4), wide, None),
        ((10, 3), wide, None),
        ((10, 28), wide, None),
        ((79, 4), (80, 24), Some(0)),
        ((79, 22), (80, 24), None),
    ] {
        assert_eq!(browser.resize(size).line_at(at), line, "{at:?} on {size:?}");
    }
}

/// In a long list, nothing said how much of it was above and below.
#[test]
fn a_list_that_does_not_fit_says_where_one_is() {
    let mut browser = browser(&saved(&screenful()));
    browser.press("/29.log\nj");
    let mut heading = |size, line: usize| {
        let shown = browser.resize(size).screen();
        shown.lines().nth(line).unwrap_or_default().to_owned()
    };
    assert!(heading((60, 15), 2).ends_with(" 2 of 30"), "{}", heading((60, 15), 2));
    assert!(heading((60, 15), 2).contains(" name "), "{}", heading((60, 15), 2));
    assert!(heading((200, 25), 3).contains(" 2 of 30  │ "), "{}", heading((200, 25), 3));
    assert!(heading((200, 60), 3).contains(" name  "), "{}", heading((200, 60), 3));
    assert!(!heading((200, 60), 3).contains(" of "), "all of it is there");
    assert!(heading((20, 10), 1).ends_with(" name"), "there is no room");
}

#[test]
fn screens() {
    let fixture = screenful();
    let mut browser = browser(&saved(&fixture));
    let mut shown = String::new();
    for (what, keys) in [
        ("the list", ""),
        ("marked: one with links elsewhere, one alone", "n  "),
        ("review", "d"),
        ("keys", "q?"),
        ("about a line", "qi"),
        ("a directory, by entries, with counts", "qs⇱→Cc"),
        ("a pattern", "f[12]?.log\n"),
        ("what is asked", "+"),
    ] {
        browser.press(keys);
        for size in SIZES.into_iter().filter(|size| keys.len() < 2 || size.0 < 100) {
            shown += &format!(
                "── {what}, {} × {}\n{}",
                size.0,
                size.1,
                condensed(&browser.resize(size).screen())
            );
        }
    }
    insta::assert_snapshot!(shown);
}

/// The screen marks the same figures as a picture: what something was lost below, and what sums it up.
#[test]
fn partial_figures_say_so() {
    let fixture = Fixture::in_memory().file("tree/half/f", 40_960).unreadable("tree/half/closed");
    let fixture = fixture.file("tree/whole/f", 409_600).file("tree/half-whole", 4_096);
    let json = weigh("-P -j tree").within(fixture.path()).by_nobody(&fixture).run().stdout;
    crate::saved::write(fixture.at("saved.weigh"), str::from_utf8(&json).unwrap());
    let mut browser = browser(&fixture.at("saved.weigh"));
    let mut lines = |keys: &str, word: &str| {
        browser.press(keys);
        let shown = browser.resize((80, 20)).screen();
        let lines = shown.lines().filter(|line| line.contains(word)).map(str::to_owned);
        (lines.collect::<Vec<_>>().join("\n"), shown)
    };
    for (keys, word, expected) in [
        ("", " whole/", 0),
        ("", " half-whole", 0),
        // What deleting it frees is its size.
        ("", " half/", 1),
        // All of it.
        ("", "entries", 1),
        // The lines are whole, half, half-whole.
        (" ", "1 marked", 0),
        ("d", "1 marked", 0),
        ("q ", "2 marked", 2),
        ("d", "2 marked", 1),
        ("", "removing them", 1),
        ("", "tree/half/", 2),
        ("", "tree/whole/", 0),
        ("qU⇱ji", "size  ", 1),
        ("", "frees", 1),
        ("q→", "closed/", 1),
        ("", " f", 0),
    ] {
        let (found, shown) = lines(keys, word);
        assert_eq!(found.matches('≥').count(), expected, "{keys:?} {word:?} in\n{shown}");
        assert!(!found.is_empty(), "{keys:?} {word:?} in\n{shown}");
    }
}

/// After `G` in a long list of errors, no number of `k` led back up.
#[test]
fn the_way_back_from_the_end_of_a_text_begins_soon() {
    let mut fixture = Fixture::in_memory();
    for i in 0..40 {
        fixture = fixture.unreadable(format!("tree/{i}"));
    }
    let json = weigh("-P -j tree").within(fixture.path()).by_nobody(&fixture).run().stdout;
    crate::saved::write(fixture.at("saved.weigh"), str::from_utf8(&json).unwrap());
    let mut browser = browser(&fixture.at("saved.weigh"));
    browser.resize((80, 20)).screen();
    browser.press("eG");
    let end = browser.resize((80, 20)).screen();
    browser.press("kkkk");
    assert_ne!(browser.resize((80, 20)).screen(), end);
}

/// It panicked where a terminal says that it has no columns.
#[test]
fn a_text_over_the_list_may_have_no_room() {
    let fixture = screenful();
    let mut browser = browser(&saved(&fixture));
    for text in ["?", "i", "y", "e", "d", "z"] {
        browser.press(text);
        for size in (0..6).flat_map(|width| (0..6).map(move |height| (width, height))) {
            browser.resize(size).screen();
        }
        browser.press("q");
    }
}

/// The second pane was drawn over the total where the screen has few lines.
#[test]
fn the_first_line_is_the_same_on_low_screens() {
    let fixture = screenful();
    let mut browser = browser(&saved(&fixture));
    let mut first =
        |height| browser.resize((120, height)).screen().lines().next().map(str::to_owned);
    let whole = first(30);
    for height in 1..30 {
        assert_eq!(first(height), whole, "{height} lines");
    }
}

/// A directory that lacks something shares no line with its only entry, whose figures are whole.
#[test]
fn what_is_partial_has_its_own_line() {
    let fixture = Fixture::in_memory().file("tree/a/b/c/f", 40_960).unreadable("tree/x/closed");
    let json = weigh("-P -j tree").within(fixture.path()).by_nobody(&fixture).run().stdout;
    let json = String::from_utf8(json).unwrap();
    for (lost, joined, partial) in [
        ("tree/a/gone", "a/", true),
        ("tree/a/b/gone", "a/b/", true),
        ("tree/a/b/c/gone", "a/b/c/", true),
        ("tree/gone", "a/b/c/", false),
    ] {
        crate::saved::write(fixture.at("saved.weigh"), &json.replace("tree/x/closed", lost));
        let mut browser = browser(&fixture.at("saved.weigh"));
        let shown = browser.resize((80, 20)).screen();
        let end = format!(" {joined}");
        let line = shown.lines().find(|line| line.ends_with(&end));
        let line = line.unwrap_or_else(|| panic!("{lost} in\n{shown}"));
        assert_eq!(line.contains('≥'), partial, "{lost} in\n{shown}");
        // The way back leads past the same directories.
        browser.press("→");
        browser.press("←");
        assert_eq!(browser.resize((80, 20)).screen(), shown, "{lost}");
    }
}

/// Where an action had very many keys, they were cut, and what the others do had no room.
#[test]
fn the_help_shows_all_keys() {
    let keys: Vec<_> = ('0'..='9').chain('A'..='K').map(|key| format!("up={key}")).collect();
    let keys: Vec<_> = keys.iter().map(|it| &**it).collect();
    let mut browser = session::files([saved(&screenful())]).keys(&keys).open();
    browser.press("?");
    for (width, help) in [
        (40, "\n 0 1 2 3 4 5 6 7 8 9  up\n A B C D E F G H I J\n K\n ↓ j"),
        (80, "\n 0 1 2 3 4 5 6 7 8 9 A B C D E F G H I J  up\n K\n ↓ j"),
        (120, "\n 0 1 2 3 4 5 6 7 8 9 A B C D E F G H I J K  up   "),
    ] {
        let shown = browser.resize((width, 80)).screen();
        assert!(shown.contains(help), "{shown}");
        assert!(shown.contains("  copy the path"), "{shown}");
    }
}

/// Where the user has set all keys of a line for other actions, the help had it still, without a key.
#[test]
fn the_help_has_no_line_without_a_key() {
    let keys = ["bars=y", "map=o", "copy=x", "up=t"];
    let mut browser = session::files([saved(&screenful())]).keys(&keys).open();
    browser.press("?");
    for width in [40, 80, 120] {
        let shown = browser.resize((width, 80)).screen();
        assert!(shown.contains(" y ") && shown.contains(" o ") && shown.contains(" x "), "{shown}");
        assert!(shown.contains("copy the path"), "{shown}");
        let gone = ["directories first", "open it elsewhere"];
        assert!(!gone.iter().any(|it| shown.contains(it)), "{shown}");
    }
}

/// Its middle was cut, and with it the start of the last name, though that alone had room.
#[test]
fn the_first_line_has_all_of_the_last_name() {
    let fixture = Fixture::in_memory().file("tree/some/where/libharfbuzz-subset0/f", 9_000);
    let mut browser = browser(&saved(&fixture));
    browser.press("→");
    for width in 40..80 {
        let shown = browser.resize((width, 20)).screen();
        assert!(shown.lines().next().unwrap().contains("/libharfbuzz-subset0 "), "{shown}");
    }
}

/// It was said that there is nothing in it.
#[test]
fn a_directory_that_could_not_be_read_is_not_called_empty() {
    let fixture = Fixture::in_memory().file("tree/f", 9_000).unreadable("tree/closed");
    let json = weigh("-P -j tree").within(fixture.path()).by_nobody(&fixture).run().stdout;
    crate::saved::write(fixture.at("saved.weigh"), str::from_utf8(&json).unwrap());
    let mut browser = browser(&fixture.at("saved.weigh"));
    browser.press("j");
    let shown = browser.resize((120, 24)).screen();
    assert!(shown.contains("│ nothing found, but not all was read"), "{shown}");
    browser.press("→");
    let shown = browser.resize((80, 24)).screen();
    assert!(shown.contains("cannot open tree/closed: Permission denied"), "{shown}");
}

/// Its middle was cut there, too.
#[test]
fn the_list_of_the_largest_files_has_all_of_their_names() {
    let fixture = Fixture::in_memory()
        .file("tree/a-long-way/to/where/it/is/libharfbuzz.so", 9_000)
        .file("tree/b", 1);
    let mut browser = browser(&saved(&fixture));
    browser.press("\t");
    for width in 60..130 {
        let shown = browser.resize((width, 20)).screen();
        assert!(shown.lines().nth(3).unwrap().contains("/libharfbuzz.so"), "{shown}");
    }
}

/// Once, the directories above kept their room, and the last name was cut.
#[test]
fn names_are_readable_in_the_review() {
    let fixture = Fixture::in_memory().file("tree/long-name-of-a-directory/name-of-file", 9_000);
    let mut browser = browser(&saved(&fixture));
    browser.press("→ d");
    for (size, path) in [
        ((50, 20), " /srv/lon…ectory/name-of-file\n"),
        ((40, 20), " /sr…y/name-of-file\n"),
        ((36, 20), " …/name-of-file\n"),
        ((34, 20), " …/name-…file\n"),
    ] {
        let shown = browser.resize(size).screen();
        assert!(shown.contains(path), "{size:?} {shown}");
    }
}

/// What several lines share was in each of them and once in their sum, and nothing said why.
#[test]
fn the_review_explains_its_sum() {
    const WHY: &str = "a file with several marked links counts once in this sum";
    let fixture = Fixture::in_memory().file("tree/a/f", 90_000).file("tree/c/f", 9_000);
    let fixture = fixture.hard_link("tree/a/f", "tree/b/g");
    let mut browser = browser(&saved(&fixture));
    for (keys, is_more) in [("n  d", true), ("qUG ⇱ d", false)] {
        browser.press(keys);
        let shown = browser.resize((80, 24)).screen();
        assert!(shown.contains("2 marked: ") && shown.contains("together\n"), "{shown}");
        assert_eq!(shown.contains(WHY), is_more, "{shown}");
        assert!(browser.resize((80, 9)).screen().contains("together\n"), "{shown}");
    }
}

/// What is marked may have links elsewhere: then deleting it frees less, however low the screen is.
#[test]
fn a_low_review_says_that_not_all_is_freed() {
    let fixture = Fixture::in_memory().file("tree/a/f", 90_000).file("tree/c/f", 9_000);
    let fixture = fixture.hard_link("tree/a/f", "tree/b/g");
    let mut browser = browser(&saved(&fixture));
    browser.press("n j d");
    let shown = browser.resize((80, 9)).screen();
    assert!(shown.contains("the rest has links that are not marked\n"), "{shown}");
}

/// Where a locale has no Unicode, names are escaped, and all else is drawn in ASCII: nothing moves, nothing is missing.
#[test]
fn a_locale_without_unicode_gets_the_same_in_ascii() {
    let fixture = screenful();
    let saved = saved(&fixture);
    let mut plain = browser(&saved);
    let mut ascii = session::files([&saved]).ascii().open();
    for keys in ["", "n  ", "d", "q?", "qi", "qs⇱→", "Cc", "f[12]?.log\n", "+é", "\nT", "y", "q/漢"]
    {
        plain.press(keys);
        ascii.press(keys);
        for size in [(20, 5), (40, 10), (80, 24), (120, 30)] {
            let [shown, escaped] = [&mut plain, &mut ascii].map(|it| it.resize(size).screen());
            assert!(escaped.is_ascii(), "{keys:?} {escaped}");
            assert!(
                keys.contains('漢') || !escaped.contains('?') || shown.contains('?'),
                "{escaped}"
            );
            for (one, other) in shown.lines().zip(escaped.lines()).filter(|(it, _)| it.is_ascii()) {
                assert_eq!(one, other, "{keys:?} {size:?}");
            }
        }
    }
    let escaped = ascii.resize((120, 30)).screen();
    assert!(escaped.contains(r"\xe6\xbc\xa2"), "{escaped}");
    assert!(browser(&saved).resize((120, 30)).screen().contains("漢"));
}

/// At half a percent the picture said `<1%`, and the screen `0%`.
#[test]
fn a_percentage_is_that_of_the_picture() {
    let fixture = Fixture::in_memory().file("tree/a", 199 * 4096).file("tree/b", 4096);
    let picture = weigh("-P -c -s tree").within(fixture.path()).run().text();
    let shown = browser(&saved(&fixture)).resize((80, 20)).screen();
    for text in [picture, shown] {
        let small = |line: &&str| line.contains("── b") || line.ends_with(" b");
        assert!(text.lines().find(small).unwrap().contains(" <1%"), "{text}");
    }
}

/// What is not known is not made up: modes and inodes of a list, and of what was saved from these.
#[test]
fn what_nobody_knows_is_not_shown() {
    let fixture = Fixture::in_memory().file("tree/a", 5000).file("list", 0);
    fs::write(fixture.at("list"), "5 a/b\n").unwrap();
    fs::write(fixture.at("attributes.csv"), "path,size,disk,time,owner\na/,0,8,7,0\na/b,5,8,7,0\n")
        .unwrap();
    let ncdu = r#"[1,2,{},[{"name":"/t"},{"name":"a","asize":5,"dsize":8}]]"#;
    let modes = ncdu.replace(r#""/t""#, r#""/t","mode":16888"#);
    fs::write(fixture.at("plain.ncdu"), ncdu).unwrap();
    fs::write(fixture.at("extended.ncdu"), modes.replace(r#""a""#, r#""a","mode":33184"#)).unwrap();
    let run = |flags: &str| weigh(flags).within(fixture.path()).run().text();
    run("-q --from list --save of-list.weigh");
    run("-q tree --save walked.weigh");
    let details =
        |name: &str| session::files([fixture.at(name)]).open().press("i").resize((80, 20)).screen();
    for name in ["walked.weigh", "extended.ncdu"] {
        assert!(details(name).contains("\n mode "), "{name}: {}", details(name));
    }
    for name in ["of-list.weigh", "plain.ncdu"] {
        assert!(!details(name).contains("mode"), "{name}: {}", details(name));
    }
    for name in ["list", "attributes.csv"] {
        // It has no inodes either. The number of a line was shown as one.
        let unknown = ["mode", "inode"].iter().find(|it| details(name).contains(**it));
        assert_eq!(unknown, None, "{name}: {}", details(name));
    }
}

/// A list cannot be saved again by who shows it.
#[test]
fn a_list_says_what_it_has_not() {
    let fixture = Fixture::in_memory().file("list", 0);
    fs::write(fixture.at("list"), "5 a/b\n").unwrap();
    let mut browser = session::files([fixture.at("list")]).open();
    for (key, said) in [("m", "the list has no times"), ("⇤", "the list has no owners")] {
        browser.press(key);
        let shown = browser.resize((80, 20)).screen();
        assert!(shown.contains(said), "{shown}");
    }
    for keys in ["i", "qA", "d"] {
        browser.press(keys);
        let shown = browser.resize((80, 20)).screen();
        assert!(!shown.contains("frees ") && !shown.contains("-L"), "{shown}");
    }
}

/// Once, the screen panicked.
#[test]
fn a_file_system_may_claim_any_number_of_inodes() {
    let mut browser = session::of(["/srv"]).scanning();
    browser.used_inodes(u64::MAX);
    browser.progress(1, 100);
    let shown = browser.resize((80, 20)).screen();
    assert!(shown.contains("scanning 0%, ") && shown.contains(" h left"), "{shown}");
}

/// Whatever a name is, it takes a line, and moves nothing else.
#[test]
fn names_stay_in_their_lines() {
    let mut fixture = Fixture::in_memory();
    for (i, name) in HOSTILE.into_iter().enumerate() {
        fixture = fixture.file(Path::new("tree").join(raw(name)), 5_000 * (i + 1));
    }
    let mut browser = browser(&saved(&fixture));
    for size in SIZES.into_iter().chain([(1, 1), (2, 2), (3, 3), (5, 4), (13, 7)]) {
        for keys in ["", "i", "q d", "qe", "qf", "\n"] {
            browser.press(keys);
            if keys == "qf" {
                browser.paste("\u{202e}\x07");
            }
            let shown = browser.resize(size).screen();
            assert_eq!(shown.lines().count(), usize::from(size.1), "{size:?} {keys:?}");
            let is_control = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
            assert!(!shown.contains(is_control), "{size:?} {keys:?}: {shown:?}");
        }
        browser.press("f");
        browser.press("\x7f\x7f\x7f\n");
    }
}
