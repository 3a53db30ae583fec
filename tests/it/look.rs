//! How the screen looks: the pictures of it in docs, the contrast of all its colours, and that none of them says
//! anything alone. All from one snapshot, `look.weigh`, as it would be seen at the time when it was made.
//!
//! When a picture is to change: `UPDATE_GENERATED=1 cargo test --test it look::`, then look at `docs/screen-*.svg`.
#![cfg(all(target_os = "linux", feature = "tui"))]

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use nu_ansi_term::Color as Named;
use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::style::{Color, Modifier};

use crate::fixture::Fixture;
use crate::picture::cells;
use crate::pty::Terminal as Pty;
use crate::run::{is_kept, weigh};
use crate::session::{self, Depth, ROLES, Session, Theme, Wanted};

const TOP: &str = env!("CARGO_MANIFEST_DIR");

/// When the snapshot was made.
const NOW: i64 = 1_795_419_377;

/// The name of a picture, its theme (none for no colours), its size, and the keys that lead to it.
type Picture = (&'static str, Option<Theme>, (u16, u16), &'static str);

/// What docs show.
const PICTURES: [Picture; 5] = [
    ("wide", Some(Theme::Dark), (120, 26), " ↓↓ ↓⇱"),
    ("map", Some(Theme::Dark), (120, 26), "T"),
    ("light", Some(Theme::Light), (80, 22), "↓"),
    ("plain", None, (80, 22), "↓ ↓"),
    ("small", Some(Theme::Dark), (40, 15), "↓"),
];

/// The snapshot on a screen of this size; with a theme, in colours.
fn browser(theme: Option<Theme>, depth: Depth) -> Session {
    let setup = snapshot();
    match theme {
        Some(theme) => setup.colors(theme, depth, None),
        None => setup,
    }
    .open()
}

fn snapshot() -> session::Setup {
    session::files([Path::new(TOP).join("tests/it/look.weigh")]).times().at(NOW)
}

/// What is on a screen of this size after `keys`.
fn screen(mut browser: Session, size: (u16, u16), keys: &str) -> Buffer {
    browser.resize(size).press(keys).cells()
}

pub fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    let lines = buffer.content().chunks(width);
    lines.map(|line| line.iter().map(Cell::symbol).collect::<String>() + "\n").collect()
}

/// The foreground and the background of a cell, as a terminal with this theme shows them.
fn colors(cell: &Cell, theme: Theme) -> [[u8; 3]; 2] {
    let plain = match theme {
        Theme::Light => [[0x24, 0x29, 0x2f], [0xff; 3]],
        _ => [[0xd4; 3], [0x1e; 3]],
    };
    let [mut fore, mut back] =
        [(cell.fg, plain[0]), (cell.bg, plain[1])].map(|(color, plain)| match color {
            Color::Reset => plain,
            Color::Rgb(red, green, blue) => [red, green, blue],
            Color::Indexed(number @ 232..) => [8 + 10 * (number - 232); 3],
            Color::Indexed(number @ 16..) => [36, 6, 1].map(|unit| {
                let step = (number - 16) / unit % 6;
                if step == 0 { 0 } else { 55 + 40 * step }
            }),
            other => panic!("{other:?} is what the terminal makes of it"),
        });
    if cell.modifier.contains(Modifier::REVERSED) {
        (fore, back) = (back, fore);
    }
    if cell.modifier.contains(Modifier::DIM) {
        fore = [0, 1, 2].map(|i| ((u16::from(fore[i]) * 3 + u16::from(back[i]) * 2) / 5) as u8);
    }
    [fore, back]
}

/// The size of a cell in a picture, and its margin.
const CELL: (f64, f64) = (8.4, 18.0);
const MARGIN: f64 = 14.0;

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// A picture of a screen of this size, with `content` on it.
pub fn picture((width, height): (u16, u16), theme: Theme, content: &str) -> String {
    let [plain, ground] = colors(&Cell::EMPTY, theme);
    let (wide, high) =
        (f64::from(width) * CELL.0 + 2.0 * MARGIN, f64::from(height) * CELL.1 + 2.0 * MARGIN);
    let head = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide:.0} {high:.0}\" width=\"{wide:.0}\" \
         font-family=\"ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace\" font-size=\"14\" fill=\"{}\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{}\"/>\n",
        hex(plain),
        hex(ground)
    );
    head + content + "</svg>\n"
}

/// What is on a screen. What fills parts of cells is drawn as rectangles, so that it looks the same in every font.
pub fn drawn(buffer: &Buffer, theme: Theme) -> String {
    let [_, ground] = colors(&Cell::EMPTY, theme);
    let (width, height) = (buffer.area.width, buffer.area.height);
    let mut svg = String::new();
    let mut rectangle = |x: f64, y: f64, (width, height): (f64, f64), color: [u8; 3]| {
        writeln!(svg, "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{}\"/>", hex(color))
            .unwrap();
    };
    let mut texts = String::new();
    for row in 0..height {
        let line: Vec<_> = (0..width).map(|column| &buffer[(column, row)]).collect();
        let y = MARGIN + f64::from(row) * CELL.1;
        // Runs of cells that look alike.
        let mut start = 0;
        while start < line.len() {
            let look = |cell: &Cell| (colors(cell, theme), cell.modifier, block(cell.symbol()));
            let first = look(line[start]);
            let end = (start..line.len()).find(|i| look(line[*i]) != first).unwrap_or(line.len());
            let ([fore, back], modifier, filled) = first;
            let (x, run) = (MARGIN + start as f64 * CELL.0, (end - start) as f64 * CELL.0);
            if back != ground {
                rectangle(x, y, (run, CELL.1), back);
            }
            if let Some((across, down)) = filled {
                rectangle(x, y, (run * across, CELL.1 * down), fore);
            } else {
                let text: String = line[start..end].iter().map(|cell| cell.symbol()).collect();
                let (shown, before) = (text.trim(), text.len() - text.trim_start().len());
                let (x, run) = (x + before as f64 * CELL.0, cells(shown) as f64 * CELL.0);
                let weight =
                    if modifier.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
                let line = if modifier.contains(Modifier::UNDERLINED) {
                    " text-decoration=\"underline\""
                } else {
                    ""
                };
                let shown = shown.replace('&', "&amp;").replace('<', "&lt;");
                if !shown.is_empty() {
                    let y = y + 14.0;
                    writeln!(texts, "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{run:.1}\" fill=\"{}\"{weight}{line} xml:space=\"preserve\">{shown}</text>", hex(fore)).unwrap();
                }
            }
            start = end;
        }
    }
    // Without this, a browser that scales the picture shows what is behind two rectangles that touch.
    format!("<g shape-rendering=\"crispEdges\">\n{svg}</g>\n{texts}")
}

/// How much of a cell a block fills from its left, and from its top.
fn block(symbol: &str) -> Option<(f64, f64)> {
    let eighths = "▏▎▍▌▋▊▉█".chars().position(|c| symbol.starts_with(c));
    eighths.map(|i| ((i + 1) as f64 / 8.0, 1.0)).or((symbol == "▀").then_some((1.0, 0.5)))
}

#[test]
fn docs_show_the_screen_as_it_is() {
    for (name, theme, size, keys) in PICTURES {
        let buffer = screen(browser(theme, Depth::Rgb), size, keys);
        let theme = theme.unwrap_or_default();
        let drawn = picture(size, theme, &drawn(&buffer, theme));
        is_kept(format!("docs/screen-{name}.svg"), &drawn, &text(&buffer));
    }
}

/// WCAG 2.2, "contrast ratio" and "relative luminance".
fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let [one, other] = [one, other].map(|color| {
        let [red, green, blue] = color.map(|channel| {
            let channel = f64::from(channel) / 255.0;
            if channel <= 0.04045 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
    });
    one.max(other) / one.min(other)
}

/// On every screen, in every cell: text has 4.5, and a bar has 3, also on the selected line. If the background is
/// unknown, that holds on a dark one and on a light one.
#[test]
fn everything_is_legible() {
    let mut seen = 0;
    for (colors_for, theme) in [
        (Theme::Dark, Theme::Dark),
        (Theme::Light, Theme::Light),
        (Theme::None, Theme::Dark),
        (Theme::None, Theme::Light),
    ] {
        for depth in [Depth::Fixed, Depth::Rgb] {
            for (_, _, size, keys) in PICTURES {
                let buffer = screen(browser(Some(colors_for), depth), size, keys);
                for cell in buffer.content().iter().filter(|cell| cell.symbol() != " ") {
                    // Lines between panes only part them.
                    let is_area = block(cell.symbol()).is_some() || cell.symbol() == "■";
                    let least = if is_area { 3.0 } else { 4.5 };
                    let [fore, back] = colors(cell, theme);
                    let contrast = contrast(fore, back);
                    assert!(
                        contrast >= least,
                        "{colors_for:?} on {theme:?} {depth:?} {size:?}: {contrast:.2} {cell:?}"
                    );
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 10_000, "{seen}");
}

/// Without colours and with any of them, the same is written. The selected line is seen without them.
#[test]
fn colours_say_nothing_alone() {
    let palettes = [Theme::Dark, Theme::Light, Theme::None]
        .into_iter()
        .flat_map(|theme| [Depth::Ansi, Depth::Fixed, Depth::Rgb].map(|depth| (depth, theme)));
    for (depth, theme) in palettes {
        for (name, _, size, keys) in PICTURES {
            let plain = screen(browser(None, depth), size, keys);
            let drawn = screen(browser(Some(theme), depth), size, keys);
            // A bar is drawn in another way where the band has no colour.
            let bars = |text: String| text.replace(|c| "▏▎▍▌▋▊▉█▒░".contains(c), "█");
            if name == "map" {
                // The chosen tile has a frame. Only what says which colour is which needs colours.
                let lines = |buffer| text(buffer).lines().map(str::to_owned).collect::<Vec<_>>();
                let (plain, mut drawn) = (lines(&plain), lines(&drawn));
                let legend = drawn.iter().position(|line| line.contains("■ program")).unwrap();
                drawn[legend].clone_from(&plain[legend]);
                assert_eq!(plain, drawn, "{theme:?} {depth:?}");
                assert!(plain[4].starts_with(">weigh/target/") && plain[4].contains('┐'));
                continue;
            }
            let plain_text = bars(text(&plain).replace("\n>", "\n "));
            assert_eq!(plain_text, bars(text(&drawn)), "{name} {theme:?} {depth:?}");
            let chosen = |buffer: &Buffer| {
                let lines = buffer.content().chunks(size.0.into());
                let is_band = |line: &[Cell]| {
                    line[..size.0 as usize / 2]
                        .iter()
                        .all(|it| it.modifier.contains(Modifier::REVERSED) || it.bg != Color::Reset)
                };
                lines
                    .enumerate()
                    .filter(|(_, line)| is_band(line))
                    .map(|it| it.0)
                    .collect::<Vec<_>>()
            };
            assert_eq!(chosen(&drawn).len(), 1, "{name} {theme:?} {depth:?}");
            assert_eq!(chosen(&drawn), chosen(&plain), "{name} {theme:?} {depth:?}");
            if depth == Depth::Ansi {
                let others = drawn.content().iter().filter(|it| it.bg != Color::Reset);
                assert_eq!(others.count(), 0, "a background that nobody knows: {name}");
            }
        }
    }
}

/// A colour of one's own is used where the terminal has it.
#[test]
fn roles_have_the_colours_that_are_set() {
    let uses = |depth, role: usize, color, wanted: Color| {
        let setup = snapshot().colors(Theme::Dark, depth, Some((role, color)));
        let buffer = screen(setup.open(), (120, 26), " ↓");
        buffer.content().iter().any(|cell| [cell.fg, cell.bg].contains(&wanted))
    };
    let [named, fixed, rgb] = [Named::Green, Named::Fixed(200), Named::Rgb(1, 2, 3)];
    for (role, name) in
        ROLES.iter().enumerate().filter(|(_, name)| !["shrunk", "track"].contains(name))
    {
        assert!(uses(Depth::Rgb, role, rgb, Color::Rgb(1, 2, 3)), "{name}");
        assert!(uses(Depth::Fixed, role, fixed, Color::Indexed(200)), "{name}");
        assert!(!uses(Depth::Fixed, role, rgb, Color::Rgb(1, 2, 3)), "{name}");
        assert!(!uses(Depth::Ansi, role, fixed, Color::Indexed(200)), "{name}");
    }
    assert!(uses(Depth::Ansi, 6, named, Color::Green));
}

/// Nothing that is needed is cut, and long names get room before bars do.
#[test]
fn small_screens_have_what_is_needed() {
    let browser = || browser(Some(Theme::Dark), Depth::Rgb);
    let shown = text(&screen(browser(), (40, 15), " "));
    for word in
        ["3.80Gi", "weigh/target/", "linux/.git/objects/pack/", "1 marked", "help", "owners", "src"]
    {
        assert!(shown.contains(word), "{word} in\n{shown}");
    }
    let shown = text(&screen(browser(), (80, 24), ""));
    for word in
        ["linux/.git/objects/pack/ ", "photos.zip  2 links, frees 0", "16 mo", "72%", "help"]
    {
        assert!(shown.contains(word), "{word} in\n{shown}");
    }
}

/// A directory whose only entry is a directory shares its line; what is done there is done to the last one.
#[test]
fn directories_with_one_directory_share_a_line() {
    let fixture = Fixture::new().file("tree/a/b/c/one", 9_000).file("tree/a/b/c/two", 9_000);
    let fixture =
        fixture.file("tree/two/x/file", 5_000).file("tree/two/file", 5_000).file("tree/c", 1);
    let mut browser = session::of([fixture.at("tree")]).lines(20).open();
    let mut shown = |keys| browser.press(keys).screen();
    assert!(shown("n").contains(" a/b/c/\n"), "{}", shown(""));
    assert!(shown("").contains(" two/\n"));
    // Into the last one, and back to where one was.
    assert!(shown("\n").contains(" one\n"));
    assert!(shown("<").contains("> "), "{}", shown(""));
    let line = shown("").lines().find(|line| line.starts_with('>')).unwrap().to_owned();
    assert!(line.ends_with(" a/b/c/"), "{line}");
    shown(" ");
    assert_eq!(browser.marked(), [fixture.at("tree/a/b/c")]);
    let mut shown = |keys| browser.press(keys).screen();
    assert!(shown("d").contains("/a/b/c/"));
    // The entry called like the last one is another.
    assert!(shown("q⇱↓").lines().any(|line| line.starts_with('>') && line.ends_with(" c")));
}

/// Where the number of inodes is known, how far it is; else one count.
#[test]
fn the_progress_is_one_figure() {
    let fixture = Fixture::new().file("tree/a", 1);
    let scanning = || session::of([fixture.at("tree")]).lines(20).scanning();
    let after = |browser: &mut Session, seconds, entries| {
        browser.progress(entries, seconds);
        browser.head()
    };
    let mut browser = scanning();
    assert!(after(&mut browser, 1, 250).contains("scanning, 250 entries"));
    assert!(!after(&mut browser, 1, 250).contains(" in "), "two counts");
    let mut browser = scanning();
    browser.used_inodes(1_000);
    let mut after = |seconds, entries| after(&mut browser, seconds, entries);
    assert!(after(1, 250).contains("scanning 25% "));
    assert!(after(10, 250).contains("scanning 25%, 30 s left"));
    assert!(after(3_000, 250).contains("scanning 25%, 2 h left"));
    assert!(after(2, 0).contains("scanning 0%"));
    // There is more than the file system said.
    assert!(after(10, 1_000).contains("scanning, 1,000 entries"));
    browser.ask("e");
    assert!(browser.screen().contains("everything was read so far"));
}

/// The terminal is asked, and nobody waits for it. Keys are keys, before its answer and after it.
#[test]
fn a_terminal_is_asked_for_its_background() {
    let fixture = Fixture::new().file("tree/one", 30_000).file("tree/two", 20_000);
    for (answer, band) in [
        (&b""[..], "\x1b[38;2;255;255;255;48;2;47;95;147m"),
        (b"\x1b]11;rgb:ffff/ffff/ffff\x07", "\x1b[39;48;2;224;234;248m"),
        (b"\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\", "\x1b[39;48;2;38;52;74m"),
        // Twice, and in another form: `/` opened the search.
        (
            b"\x1b]11;rgb:1e1e/1e1e/1e1e\x07\x1b]11;rgb:ffff/ffff/ffff\x07\x1b]11;#ffffff\x07",
            "\x1b[39;48;2;38;52;74m",
        ),
    ] {
        let mut terminal = Pty::new();
        let child = weigh("-u tree").within(fixture.path()).env("COLORTERM", "truecolor");
        let child = child.env("TERM", "xterm-256color").on(&terminal).spawn();
        // Only what is certain to be browsed asks.
        terminal.wait_for("\x1b]11;?\x07");
        terminal.type_in(answer);
        terminal.type_in(b"n ");
        terminal.type_until(b"", "1 marked");
        terminal.type_until(b"", band);
        terminal.type_in(b"q");
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    }
}

/// The answer came to the shell if weigh ended first. It is waited for, and so is that to a last question, which tells
/// that none comes.
#[test]
fn no_answer_is_left_for_the_shell() {
    let fixture = Fixture::new().file("tree/one", 30_000);
    let mut terminal = Pty::new();
    let child = weigh("-u tree").within(fixture.path()).on(&terminal).spawn();
    terminal.wait_for("\x1b]11;?\x07");
    terminal.type_in(b"q");
    terminal.wait_for("\x1b[c");
    terminal.type_in(b"\x1b]11;rgb:1e1e/1e1e/1e1e\x07\x1b[?62;22c");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    // Whatever is left is typed into the next program.
    terminal.type_in(b"end\n");
    let mut left = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(terminal.line()), &mut left).unwrap();
    assert_eq!(left, "end\n");
}

/// A damaged snapshot ends it at once, before anything is asked.
#[test]
fn what_cannot_begin_asks_nothing() {
    let fixture = Fixture::new().file("bad.weigh", 3);
    let terminal = Pty::new();
    let child = weigh("-u --from bad.weigh").within(fixture.path()).on(&terminal).spawn();
    assert_ne!(child.wait_with_output().unwrap().status.code(), Some(0));
    let shown = String::from_utf8_lossy(&terminal.close()).into_owned();
    assert!(shown.contains("bad.weigh") && !shown.contains("\x1b]11"), "{shown:?}");
}

/// Where there is no alternate screen, old text stood between the cells, and the prompt came between the lines.
#[test]
fn the_screen_is_cleared() {
    let fixture = Fixture::new().file("tree/one", 30_000);
    let mut terminal = Pty::new();
    let child = weigh("-u tree").within(fixture.path()).on(&terminal).spawn();
    terminal.wait_for("\x1b[?1049h\x1b[2J");
    terminal.wait_for("help");
    // Ctrl-L draws all of it again.
    terminal.type_in(b"\x0c");
    terminal.wait_for("\x1b[2J");
    terminal.wait_for("help");
    terminal.type_in(b"q");
    terminal.wait_for("\x1b[2J\x1b[1;1H");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
}

/// `/` said that Esc stops the scan, and Esc ended it for good.
#[test]
fn esc_takes_the_message_away_and_then_asks() {
    let fixture = Fixture::new().file("tree/one", 30_000);
    let mut browser = session::of([fixture.at("tree")]).lines(20).scanning();
    let mut press = |key| {
        let stops = browser.ask(key).contains(&Wanted::StopScan);
        (browser.foot(), stops)
    };
    let (last, _) = press("o");
    assert!(last.contains("you can do this when the scan is over"), "{last}");
    let (last, stops) = press("\x1b");
    assert!(!stops && !last.contains("you can") && !last.contains("stop scan?"), "{last}");
    let (last, stops) = press("\x1b");
    assert!(!stops && last.contains("stop scan?"), "{last}");
    // Enter stopped it, too.
    for other in ["\x1b", "q", "n", "↓", "\n"] {
        let (last, stops) = press(other);
        assert!(!stops && !last.contains("stop scan?"), "{last}");
        press("\x1b");
    }
    assert!(press("y").1);
    // Once is enough.
    assert!(!press("\x1b").1);
}

/// `y` covered the list, and `opening it …` stayed.
#[test]
fn the_last_line_answers() {
    let fixture = Fixture::new().file("tree/one", 30_000).file("tree/two", 20_000);
    let mut browser = session::open(fixture.at("tree"));
    browser.resize((120, 20));
    let shown = |browser: &mut Session, keys| browser.press(keys).foot();
    let copied = browser.press("y").screen();
    assert!(copied.contains(" one "), "{copied}");
    let copied = shown(&mut browser, "");
    assert!(copied.contains("copied /") && copied.contains("tree/one"), "{copied}");
    assert!(!shown(&mut browser, "↓").contains("copied"));
    assert!(shown(&mut browser, "o").contains("opening it"));
    browser.opened_outside(None);
    assert!(!shown(&mut browser, "").contains("opening"));
    shown(&mut browser, "o↓");
    browser.opened_outside(None);
    assert!(!shown(&mut browser, "").contains("open"), "nobody wants to know it later");
    browser.opened_outside(Some("no"));
    assert!(shown(&mut browser, "").contains("not opened: no"));
    assert!(!shown(&mut browser, "↓").contains("opened"));
}

fn walking(fixture: &Fixture) -> Session {
    session::of([fixture.at("tree")]).scanning()
}

/// The last line on a screen of this size, after `keys` during a scan.
fn last_line(browser: &mut Session, size: (u16, u16), keys: &str) -> String {
    browser.resize(size).ask(keys);
    browser.foot()
}

/// On a small screen, the question had lost its keys; and Ctrl-C, which stops a scan, let it go on.
#[test]
fn the_question_whether_to_stop_names_its_keys_on_any_screen() {
    let fixture = Fixture::new().file("tree/one", 30_000);
    for size in [(20, 5), (40, 15), (80, 24)] {
        for (key, stops) in [("\x03", true), ("y", true), ("\n", false)] {
            let mut browser = walking(&fixture);
            browser.ask("\x1b");
            let line = last_line(&mut browser, size, "");
            assert!(line.contains("stop scan? y/Esc"), "{size:?}: {line}");
            assert_eq!(browser.ask(key).contains(&Wanted::StopScan), stops, "{key:?}");
        }
    }
}

/// The question went away when the scan had ended, and the answer copied a path.
#[test]
fn an_answer_that_comes_too_late_does_nothing() {
    let fixture = Fixture::new().file("tree/one", 30_000);
    for key in ["y", "\x1b", "\x03", "D"] {
        let mut browser = walking(&fixture);
        browser.ask("\x1b");
        browser.scan_all();
        let line = last_line(&mut browser, (40, 15), "");
        assert!(line.contains("the scan is over"), "{line}");
        assert!(browser.ask(key).is_empty(), "{key:?}");
        let line = last_line(&mut browser, (40, 15), "");
        assert!(!line.contains("is over") && !line.contains("copied"), "{line}");
        assert!(!last_line(&mut browser, (80, 15), "y").contains("is over"));
    }
}

/// Letters that were typed for a search marked, sorted and copied.
#[test]
fn what_is_typed_for_a_search_during_a_scan_is_searched_for_after_it() {
    let fixture = Fixture::new().file("tree/a/sync", 30_000).file("tree/b/other", 60_000);
    let mut browser = walking(&fixture);
    for width in [40, 80] {
        let line = last_line(&mut browser, (width, 15), "/ sy");
        assert!(line.ends_with(" sy"), "{line}");
        assert!(browser.marked().is_empty());
        browser.ask("\x1b");
    }
    last_line(&mut browser, (80, 15), "/sy");
    browser.scan_all().press("");
    assert_eq!(browser.len(), 1);
    let line = last_line(&mut browser, (80, 15), "\n");
    assert!(line.contains("1 of 1: sy"), "{line}");
    // Enter may come before anything is known.
    let mut browser = walking(&fixture);
    browser.ask("/sy\n");
    browser.scan_all().press("");
    assert_eq!(browser.said(), "1 of 1: sy; n N go on");
}

/// Of its second, the last question got only the rest: over a slow line, its answer came to the shell.
#[test]
fn the_last_question_has_a_second_of_its_own() {
    let fixture = Fixture::new().file("tree/one", 30_000);
    let mut terminal = Pty::new();
    let child = weigh("-u tree").within(fixture.path()).on(&terminal).spawn();
    terminal.wait_for("\x1b]11;?\x07");
    std::thread::sleep(Duration::from_millis(700));
    terminal.type_in(b"q");
    terminal.wait_for("\x1b[c");
    std::thread::sleep(Duration::from_millis(500));
    terminal.type_in(b"\x1b]11;rgb:1e1e/1e1e/1e1e\x07\x1b[?62;22c");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    terminal.type_in(b"end\n");
    let mut left = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(terminal.line()), &mut left).unwrap();
    assert_eq!(left, "end\n");
}

/// The answer to weigh's own last question came to the shell, if that to the first one took nearly a second.
#[test]
fn the_last_answer_may_come_long_after_the_first() {
    let fixture = Fixture::new().file("tree/one", 30_000);
    let mut terminal = Pty::new();
    let child = weigh("-u tree").within(fixture.path()).on(&terminal).spawn();
    terminal.wait_for("\x1b]11;?\x07");
    terminal.type_in(b"q");
    terminal.wait_for("\x1b[c");
    terminal.type_in(b"\x1b]11;rgb:1e1e/1e1e/1e1e\x07");
    std::thread::sleep(Duration::from_millis(1_100));
    terminal.type_in(b"\x1b[?62;22c");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    terminal.type_in(b"end\n");
    let mut left = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(terminal.line()), &mut left).unwrap();
    assert_eq!(left, "end\n");
}

/// The screen stayed blank on serial lines, which do not know their size.
#[test]
fn a_terminal_without_a_size_has_a_screen() {
    let fixture = Fixture::new().file("tree/the-file", 30_000);
    for (columns, lines, last) in [(None, None, 24), (Some("60"), Some("12"), 12)] {
        let mut terminal = Pty::new();
        terminal.resize(0, 0);
        let mut child = weigh("-u tree").within(fixture.path());
        for (name, value) in [("COLUMNS", columns), ("LINES", lines)] {
            child = child.env(name, value.unwrap_or_default());
        }
        let child = child.on(&terminal).spawn();
        terminal.wait_for(&format!("\x1b[{last};"));
        terminal.wait_for("the-file");
        terminal.type_in(b"q");
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    }
}

/// The form for 256 colours blinks on a terminal that does not know it.
#[test]
fn a_terminal_of_16_colours_gets_no_others() {
    let fixture = Fixture::new().file("tree/d/one", 30_000).file("tree/two", 30_000);
    for (term, accent) in [("xterm", "\x1b[35;49m"), ("xterm-256color", "\x1b[38;5;166;49m")] {
        let mut terminal = Pty::new();
        let child = weigh("-u tree").within(fixture.path()).on(&terminal).env("TERM", term).spawn();
        terminal.wait_for(accent);
        terminal.wait_for("two");
        terminal.type_in(b"q");
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
        let shown = String::from_utf8_lossy(&terminal.close()).into_owned();
        assert!(term != "xterm" || !shown.contains("8;5;"), "{shown:?}");
    }
}
