//! The pictures of README and docs that are drawn from what weigh prints, and the recording of it on a terminal.
//!
//! When one is to change: `UPDATE_GENERATED=1 cargo test --test it recording:: -- --include-ignored`, then look at
//! `docs/*.svg`. [`look`](crate::look) draws the screens.
#![cfg(all(target_os = "linux", feature = "tui"))]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};
use regex::{Captures, Regex};

use crate::fixture::Fixture;
use crate::look::{drawn, picture, text};
use crate::mounted::Mounted;
use crate::picture::cells;
use crate::run::{PATIENCE, is_kept, weigh};
use crate::saved;
use crate::session::{self, Theme};

/// The 8 colours that a terminal has names for, as pictures show them.
const NAMED: [u32; 8] =
    [0x5c6370, 0xe06c75, 0x98c379, 0xe5c07b, 0x61afef, 0xc678dd, 0x56b6c2, 0xd8dee9];

/// Lines with colours (SGR), as a screen of so many columns shows them.
fn screen(lines: &str, width: u16) -> Buffer {
    let height = lines.lines().count() as u16;
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    let mut style = Style::default();
    for (y, line) in lines.lines().enumerate() {
        let mut x = 0;
        for (i, part) in line.split("\x1b[").enumerate() {
            let text = match part.split_once('m') {
                Some((codes, text)) if i > 0 => {
                    style = styled(style, codes);
                    text
                }
                _ => part,
            };
            buffer.set_string(x, y as u16, text, style);
            x += cells(text) as u16;
        }
    }
    buffer
}

/// `style` after these codes.
fn styled(mut style: Style, codes: &str) -> Style {
    let codes: Vec<u32> = codes.split([';', ':']).map(|code| code.parse().unwrap_or(0)).collect();
    let rgb = |rgb: &[u32]| Color::Rgb(rgb[0] as u8, rgb[1] as u8, rgb[2] as u8);
    let mut rest = &codes[..];
    while let [code, after @ ..] = rest {
        rest = after;
        style = match code {
            0 => Style::default(),
            1 => style.add_modifier(Modifier::BOLD),
            2 => style.add_modifier(Modifier::DIM),
            4 => style.add_modifier(Modifier::UNDERLINED),
            7 => style.add_modifier(Modifier::REVERSED),
            30..=37 => {
                let color = NAMED[*code as usize - 30];
                style.fg(rgb(&[color >> 16, color >> 8 & 255, color & 255]))
            }
            39 => style.fg(Color::Reset),
            49 => style.bg(Color::Reset),
            38 | 48 => {
                let (color, length) = match after {
                    [5, number, ..] => (Color::Indexed(*number as u8), 2),
                    [2, ..] => (rgb(&after[1..]), 4),
                    _ => panic!("no colour: {codes:?}"),
                };
                rest = &after[length..];
                if *code == 38 { style.fg(color) } else { style.bg(color) }
            }
            code => panic!("{code} in {codes:?}"),
        };
    }
    style
}

/// Draws what this command prints on a dark terminal of 80 columns.
fn is_drawn(name: &str, flags: &str, fixture: &Fixture) {
    let run = weigh(&format!("{flags} -C -w 80 @theme=dark")).within(fixture.path());
    let printed = run.env("COLORTERM", "truecolor").env("TZ", "UTC").run().text();
    let buffer = screen(&printed, 80);
    let size = (buffer.area.width, buffer.area.height);
    is_kept(
        format!("docs/{name}"),
        &picture(size, Theme::Dark, &drawn(&buffer, Theme::Dark)),
        &text(&buffer),
    );
}

/// The snapshot of the pictures.
const LOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/look.weigh");

#[test]
fn a_tree_looks_like_that() {
    is_drawn("picture.svg", &format!("--from {LOOK} -n 16"), &Fixture::new());
}

/// Its age classes and its date are those of the day when the snapshot was made, on any day.
#[test]
fn a_treemap_looks_like_that() {
    let text = saved::text(Path::new(LOOK));
    let times = Regex::new(r#""(time|modified|newest)":(\d+)"#).unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let made = saved::header(Path::new(LOOK))["time"].as_u64().unwrap();
    let moved = times.replace_all(&text, |time: &Captures<'_>| {
        format!("\"{}\":{}", &time[1], time[2].parse::<u64>().unwrap() + now - made)
    });
    let fixture = Fixture::new();
    saved::write(fixture.at("today.weigh"), &moved);
    let map = weigh("--from today.weigh --as svg --time-style +2026-11-23");
    let map = map.within(fixture.path()).run().text();
    is_kept("docs/map.svg", &map, "");
}

/// Of two snapshots, a week apart on one host.
#[test]
fn growth_looks_like_that() {
    const MI: u64 = 1 << 20;
    let fixture = Fixture::in_memory()
        .sparse("srv/db/main.log", 940 * MI)
        .sparse("srv/db/table.dat", 2_100 * MI)
        .sparse("srv/www/uploads/2025.tar", 1_200 * MI)
        .sparse("srv/www/cache/pages", 830 * MI)
        .sparse("srv/backup/monday.img", 1_500 * MI);
    weigh("-s srv --save then.weigh").within(fixture.path()).run().clean();
    let fixture = fixture
        .extended("srv/db/main.log", 3_400 * MI)
        .extended("srv/db/table.dat", 2_310 * MI)
        .extended("srv/www/cache/pages", 210 * MI)
        .sparse("srv/www/uploads/2026.tar", 640 * MI)
        .sparse("srv/backup/tuesday.img", 1_500 * MI);
    fs::remove_file(fixture.at("srv/backup/monday.img")).unwrap();
    saved::change(&fixture.at("then.weigh"), |header| {
        header["time"] = 1_795_356_120.into();
        header["host"] = "web1".into();
    });
    is_drawn("growth.svg", "diff -s srv --since then.weigh", &fixture);
}

#[test]
fn watch_looks_like_that() {
    for (theme, file) in [(Theme::Dark, "docs/watch.svg"), (Theme::Light, "docs/watch-light.svg")] {
        let buffer = screen(&session::watched(theme), 90);
        let size = (buffer.area.width, buffer.area.height);
        let picture = picture(size, theme, &drawn(&buffer, theme));
        is_kept(file, &picture, &text(&buffer));
    }
}

/// What is typed, what it does, what the screen says then, and for how many seconds that is shown.
const RECORDED: [(&[&str], &str, &[&str], u32); 6] = [
    (&[], "$ weigh -s ui ~/src", &["4.93Gi in", "photos.zip"], 3),
    (&["Space"], "Space  mark", &["1 marked", "frees"], 2),
    (&["Down", "Space"], "↓ Space  mark another", &["2 marked", "frees"], 3),
    (&["d"], "d  review what is marked", &["t trash"], 3),
    (&["t"], "t  move it into the trash", &["in the trash", "0.99Gi in"], 4),
    (&["u"], "u  put it back", &["put back", "4.93Gi in"], 4),
];

/// The screen of the recording.
const SIZE: (u16, u16) = (80, 14);

/// A directory with sources, as somebody may have it.
fn sources(mut fixture: Fixture) -> Fixture {
    const MI: u64 = 1 << 20;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64;
    for (path, mebibytes, days) in [
        ("weigh/target/debug/weigh", 2_110, 0),
        ("weigh/target/release/weigh", 1_520, 0),
        ("linux/.git/objects/pack/one.pack", 575, 3),
        ("blog/node_modules/next/index.js", 300, 41),
        ("blog/node_modules/react/index.js", 106, 41),
        ("thesis/data/measured.csv", 264, 800),
        ("notes/2026.md", 130, 5),
        ("photos.zip", 47, 280),
    ] {
        let path = format!("home/me/src/{path}");
        fixture = fixture.sparse(&path, mebibytes * MI);
        let modified = now - days * 86_400 - 3_600;
        for path in std::path::Path::new(&path).ancestors().take_while(|it| !it.ends_with("me")) {
            fixture = fixture.modified(path, modified);
        }
    }
    fixture
}

/// Entries are marked, put into the trash, and come back: recorded from a terminal (tmux).
#[test]
#[ignore = "needs tmux, and mounts a tmpfs"]
fn the_recording_is_what_happens() {
    // The header shows how much is available: as much on each machine.
    let fixture = Fixture::in_memory().dir("home");
    let disk = Mounted::tmpfs_of("252g", &fixture.at("home"));
    let fixture = sources(fixture.dir("home/me"));
    let home = fixture.at("home/me");
    let tmux = |args: &[&str]| {
        let mut command = Command::new("tmux");
        command.args(["-u", "-L", "recording", "-f", "/dev/null"]).args(args);
        command.env("LC_ALL", "C.UTF-8").env("TMUX_TMPDIR", fixture.path()).env("HOME", &home);
        command.env("COLORTERM", "truecolor").env_remove("XDG_DATA_HOME").current_dir(&home);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let server = Server(&tmux);
    std::fs::write(fixture.at("dark.toml"), "theme = 'dark'").unwrap();
    let program = format!("{} ui -s src --config ../../dark.toml", env!("CARGO_BIN_EXE_weigh"));
    let [columns, lines] = [SIZE.0, SIZE.1].map(|it| it.to_string());
    tmux(&["new-session", "-d", "-x", &columns, "-y", &lines, &program]);
    let mut frames = Vec::new();
    // Marked, reviewed, in the trash, and back.
    for (keys, caption, said, seconds) in RECORDED {
        for key in keys {
            tmux(&["send-keys", key]);
        }
        let end = Instant::now() + PATIENCE;
        let mut last = String::new();
        // Until it says so, and nothing changes any more.
        let shown = loop {
            let shown = tmux(&["capture-pane", "-e", "-p", "-N"]);
            assert!(Instant::now() < end, "no {said:?}:\n{shown}");
            let words = text(&screen(&shown, SIZE.0));
            if last == shown && said.iter().all(|said| words.contains(said)) {
                break shown;
            }
            last = shown;
            sleep(Duration::from_millis(300));
        };
        frames.push((at_home(&shown, &fixture), caption, seconds));
    }
    assert!(fixture.at("home/me/src/weigh/target/debug/weigh").exists());
    let shown: Vec<_> = frames.iter().map(|(shown, ..)| text(&screen(shown, SIZE.0))).collect();
    drop(server);
    drop(disk);
    is_kept("docs/recording.svg", &recording(&frames), &shown.join("\n"));
}

/// A server of tmux, which would outlive a test that fails.
struct Server<'a>(&'a dyn Fn(&[&str]) -> String);

impl Drop for Server<'_> {
    fn drop(&mut self) {
        (self.0)(&["kill-server"]);
    }
}

/// With the path of the home as it would be elsewhere, and what is to the right of it in its place. A narrow screen may have
/// shortened that path in the middle.
fn at_home(shown: &str, fixture: &Fixture) -> String {
    let place = &fixture.path().to_str().unwrap()[.."/dev/shm/wei".len()];
    let lines = shown.lines().map(|line| {
        let start = line.find(place);
        let hidden = start.and_then(|start| Some(start..start + line[start..].find("/home/me")?));
        let Some(hidden) = hidden else { return line.to_owned() };
        let (before, after) = (&line[..hidden.start], &line[hidden.end..]);
        let end = after.find(' ').unwrap_or(after.len());
        let (name, right) = after.split_at(end);
        format!("{before}{name}{}{right}", " ".repeat(line[hidden].chars().count()))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A picture of the frames, one after the other, again and again; and of the one with the most marks, if nothing is to
/// move.
fn recording(frames: &[(String, &str, u32)]) -> String {
    let total: u32 = frames.iter().map(|(.., seconds)| seconds).sum();
    let mut svg = format!(
        "<style>.f{{visibility:hidden;animation:{total}s step-end infinite}}\n\
         @media (prefers-reduced-motion:reduce){{.f{{animation:none}}#f2{{visibility:visible}}}}\n"
    );
    let mut start = 0;
    for (i, (.., seconds)) in frames.iter().enumerate() {
        let [from, to] =
            [start, start + seconds].map(|at| f64::from(at) * 100.0 / f64::from(total));
        writeln!(
            svg,
            "#f{i}{{animation-name:k{i}}}\n\
             @keyframes k{i}{{0%{{visibility:hidden}}{from:.2}%{{visibility:visible}}{to:.2}%{{visibility:hidden}}}}"
        )
        .unwrap();
        start += seconds;
    }
    svg += "</style>\n";
    for (i, (shown, caption, _)) in frames.iter().enumerate() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, SIZE.0, SIZE.1 + 2));
        buffer.merge(&screen(shown, SIZE.0));
        let style = Style::default().add_modifier(Modifier::BOLD | Modifier::REVERSED);
        if !caption.is_empty() {
            buffer.set_string(0, SIZE.1 + 1, format!(" {caption} "), style);
        }
        let drawn = drawn(&buffer, Theme::Dark);
        writeln!(svg, "<g class=\"f\" id=\"f{i}\">\n{drawn}</g>").unwrap();
    }
    picture((SIZE.0, SIZE.1 + 2), Theme::Dark, &svg)
}
