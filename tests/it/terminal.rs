//! At any width, on any terminal and with any setting, a picture stays within its width and resets its colours.

use std::fs;
use std::process::Command;
use std::time::Instant;

use crate::fixture::{Fixture, raw};
use crate::picture::cells;
use crate::run::{PATIENCE, weigh};

/// Names long and short, wide and combining, deep, and of every size that makes the column change.
fn various() -> Fixture {
    // As many directories as there are other lines, because a chain of them is one line.
    let directories =
        (0..8).fold(Fixture::new(), |fixture, i| fixture.file(format!("top/dir{i}/f"), i));
    directories
        .file("top/plain", 5000)
        .sparse("top/huge", 1 << 42)
        .file(format!("top/{}", "long".repeat(60)), 4000)
        .file(format!("top/{}", "漢字".repeat(40)), 3000)
        .file(format!("top/{}", "e\u{301}".repeat(80)), 2000)
        .file(format!("top/📁 {}", "🚀".repeat(30)), 1000)
        .file(raw(b"top/\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\xff\xff\xff\xff"), 900)
        .file("top/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z/end", 800)
        .dir("top/漢字/漢字/漢字/漢字")
}

const LOOKS: [&str; 12] =
    ["", "-p", "-b", "-B", "-r", "-p -B", "-F", "-F -p -B", "-o b", "--sort count", "-m m", "-D"];

#[test]
fn no_line_is_wider_than_asked() {
    LOOKS.into_iter().for_each(check_widths);
}

#[test]
fn no_line_for_a_screen_reader_is_wider_than_asked() {
    ["-R", "-R -p", "-R -b", "-R -o b", "-R -m m", "-R --sort count"]
        .into_iter()
        .for_each(check_widths);
}

fn check_widths(look: &str) {
    let fixture = various();
    for width in 1..=200 {
        let flags = format!("-s -c -n 100 -w {width} {look}");
        let text = weigh(&flags).arg("top").within(fixture.path()).run().text();
        assert!(text.lines().count() > 8, "{flags}");
        // Paths are whole, and bars give way to them.
        let has_paths = look.contains("-p") || look.contains("-F");
        for line in text.lines() {
            let is_long = has_paths && !line.contains('█');
            let cells = cells(line);
            assert!(cells <= width || is_long, "weigh {flags}: {cells} cells: {line}");
        }
    }
}

/// Signs beside letters (Bengali, Tamil), letters that join (Arabic), joined emoji and soft hyphens: programs that shape
/// text draw fewer cells than terminals do, and lines that counted on that wrapped.
#[test]
#[ignore = "needs tmux"]
fn no_line_is_wrapped_by_a_terminal() {
    let names = [
        "\u{9ac}\u{9be}",
        "\u{b95}\u{bbe}",
        "\u{644}\u{627}",
        "so\u{ad}",
        "e\u{301}",
        "漢",
        "\u{3164}",
        "👩\u{200d}👩\u{200d}👧",
        "👍\u{1f3fd}",
        "❤\u{fe0f}",
        "🇩🇪",
    ];
    let fixture = names
        .iter()
        .zip(1..)
        .flat_map(|(name, size)| [(name, size, 4), (name, 10 * size, 40.min(255 / name.len()))])
        .fold(Fixture::new(), |fixture, (name, size, times)| {
            fixture.sparse(format!("top/{}", name.repeat(times)), size)
        });
    // With -p, paths are whole, and the longest here takes 320 cells.
    let looks = [(40, ""), (60, ""), (60, "-B"), (80, "-b"), (80, "-R"), (400, "-p")];
    for (i, (width, look)) in looks.into_iter().enumerate() {
        let picture = weigh(&format!("-s -c -n 100 -w {width} {look}"));
        let picture = picture.arg("top").within(fixture.path()).run().text();
        fs::write(fixture.at("picture"), &picture).unwrap();
        // A server of its own each: one that ends answers nobody.
        let socket = format!("socket{i}");
        let tmux = |args: &[&str]| {
            let mut command = Command::new("tmux");
            command.args(["-u", "-L", &socket, "-f", "/dev/null"]).args(args);
            command.env("LC_ALL", "C.UTF-8").env("TMUX_TMPDIR", fixture.path());
            command.current_dir(fixture.path()).output().unwrap()
        };
        let (columns, show) = (width.to_string(), "cat picture; echo end; sleep 60");
        assert!(tmux(&["new-session", "-d", "-x", &columns, "-y", "50", show]).status.success());
        let end = Instant::now() + PATIENCE;
        let screen = loop {
            assert!(Instant::now() < end, "tmux shows nothing");
            let screen = String::from_utf8(tmux(&["capture-pane", "-p"]).stdout).unwrap();
            if let Some((picture, _)) = screen.split_once("\nend") {
                break picture.to_owned();
            }
        };
        tmux(&["kill-server"]);
        let lines = [&screen, &picture].map(|text| text.lines().count());
        assert_eq!(lines[0], lines[1], "-w {width} {look}\n{picture}\n{screen}");
    }
}

#[test]
fn a_wide_picture_uses_the_width() {
    let fixture = Fixture::new().file("top/a", 5000).file("top/b", 70);
    for width in [40, 80, 120, 200] {
        let text =
            weigh(&format!("-s -c -w {width}")).arg("top").within(fixture.path()).run().text();
        for line in text.lines() {
            assert_eq!(cells(line), width, "{text}");
        }
    }
}

#[test]
fn a_name_is_cut_between_characters() {
    let fixture = various();
    for width in 20..120 {
        let flags = format!("-s -c -n 100 -w {width}");
        let text = weigh(&flags).arg("top").within(fixture.path()).run().text();
        // Where a wide character was cut in half, `text` would be no UTF-8; where a combining mark
        // was cut from its letter, it would sit on what follows.
        assert!(!text.contains(" \u{301}") && !text.contains("…\u{301}"), "{flags}\n{text}");
    }
}

#[test]
fn colours_are_for_a_terminal_that_wants_them() {
    let fixture = various();
    let coloured = |flags: &str, env: &[(&'static str, &'static str)]| {
        let mut weigh = weigh(flags).arg("top").within(fixture.path());
        for &(name, value) in env {
            weigh = weigh.env(name, value);
        }
        weigh.run().clean().contains(&0x1b)
    };
    let xterm = ("TERM", "xterm-256color");
    let force = ("CLICOLOR_FORCE", "1");
    // Its output is a pipe.
    assert!(!coloured("", &[xterm]));
    assert!(!coloured("", &[]));
    assert!(coloured("", &[xterm, force]));
    assert!(!coloured("", &[xterm, ("CLICOLOR_FORCE", "0")]));
    assert!(coloured("--color=auto", &[xterm, force]));
    assert!(!coloured("--color=auto", &[("NO_COLOR", "1"), xterm, force]));
    assert!(!coloured("--color=never", &[xterm, force]));
    assert!(coloured("--color=always", &[("NO_COLOR", "1"), xterm]));
    assert!(coloured("-C", &[xterm]));
    assert!(coloured("-C", &[("NO_COLOR", "1"), xterm]), "a flag outweighs a variable");
    assert!(!coloured("-c", &[xterm, force]), "a flag outweighs a variable");
    assert!(!coloured("", &[("NO_COLOR", "1"), xterm]));
    assert!(!coloured("", &[("TERM", "dumb")]));
}

/// In a locale that is not UTF-8, colours were printed as text: `\x1b[1m`.
#[test]
fn colours_change_nothing_but_colours() {
    let fixture =
        various().dir("top/target").file("top/Cargo.toml", 1).file("top/target/CACHEDIR.TAG", 5000);
    let saved = fixture.at("saved.weigh");
    weigh("-s --save").arg(&saved).arg("top").within(fixture.path()).run();
    let fixture = fixture.file("top/new", 3000);
    let since = format!("diff -s -n 100 --since {}", saved.display());
    let history = format!("history {}", saved.display());
    let looks = LOOKS.map(|look| format!("-s -n 100 {look}")).into_iter();
    let others = ["-s -R", "-s --by type", "clean", &since, &history].map(str::to_owned);
    for look in looks.chain(others) {
        for (name, value) in
            [("LC_ALL", ""), ("LC_ALL", "C"), ("LANG", "de_DE.ISO-8859-1"), ("TERM", "linux")]
        {
            let text = |flag: &str| {
                let roots = if look.starts_with("history") { &[][..] } else { &["top"] };
                let run = weigh(&format!("-w 100 {flag} {look}")).args(roots);
                let run = run.within(fixture.path()).env(name, value).run();
                String::from_utf8(run.stdout).unwrap()
            };
            let plain = text("-c");
            assert!(!plain.is_empty(), "{look}");
            assert_eq!(without_colours(&text("-C")), plain, "{look} {name}={value}");
            let is_unicode = value.is_empty() || value == "linux";
            assert!(is_unicode || plain.is_ascii(), "{look} {name}={value}\n{plain}");
        }
    }
}

#[test]
fn links_are_links_in_every_locale() {
    let fixture = Fixture::new().file("top/é", 5000);
    for (locale, name) in [("C.UTF-8", "é"), ("C", "\\xc3\\xa9")] {
        let shown = weigh("-c -s @hyperlink=always").arg("top").within(fixture.path());
        let text = shown.env("LC_ALL", locale).run().text();
        assert!(text.contains("top/%c3%a9\x1b\\"), "{text:?}");
        assert!(text.contains(&format!("\x1b\\{name}\x1b]8;;\x1b\\")), "{text:?}");
    }
}

/// Fonts of Linux's console have box drawing and a few blocks. They have no eighths of a block.
#[test]
fn linux_has_only_what_its_fonts_have() {
    let fixture = various();
    // In code page 437 (drivers/tty/vt/cp437.uni) and in Debian's Lat15, Uni2 and Uni3 (console-setup).
    const SHOWN: &str = "─│├┌└┴┬≥≤·↑↓←→░▒█";
    let names: String = "漢字\u{301}e📁🚀".into();
    for look in LOOKS {
        let shown = weigh(&format!("-C -s -n 100 -w 100 {look}")).arg("top").within(fixture.path());
        let text = shown.env("TERM", "linux").run().text();
        let is_shown = |c: char| c.is_ascii() || SHOWN.contains(c) || names.contains(c);
        assert!(text.chars().all(is_shown), "{look}\n{text}");
    }
}

#[test]
fn a_pipe_is_as_wide_as_columns_says() {
    let fixture = Fixture::new().file("top/a", 5000).file("top/b", 70);
    let width = |flags: &str, columns: &str| {
        let shown = weigh(&format!("-s -c {flags}")).arg("top").within(fixture.path());
        cells(shown.env("COLUMNS", columns).run().text().lines().next().unwrap())
    };
    for (flags, columns, expected) in [
        ("", "132", 132),
        ("-w 60", "132", 60),
        ("", "", 80),
        ("", "0", 80),
        ("", "wide", 80),
        ("", "70000", 80),
    ] {
        assert_eq!(width(flags, columns), expected, "{flags} {columns}");
    }
}

/// Without this, the screen was drawn on a terminal that prints its commands as text.
#[test]
fn a_terminal_that_cannot_draw_gets_no_screen() {
    let fixture = Fixture::new().file("top/a", 5000);
    for (term, said) in [
        (None, "TERM is not set"),
        (Some("dumb"), "TERM is dumb"),
        (Some("unknown"), "TERM is unknown"),
        (Some(""), "TERM is not set"),
    ] {
        let mut shown = weigh("-u").arg("top").within(fixture.path());
        if let Some(term) = term {
            shown = shown.env("TERM", term);
        }
        let shown = shown.run();
        assert_eq!(shown.code(), 2);
        assert!(
            shown.complaint().contains(said) && shown.complaint().contains("TERM=xterm"),
            "{}",
            shown.complaint()
        );
    }
}

#[test]
fn colours_are_those_of_ls() {
    let fixture = Fixture::new().dir("top/dir").file("top/a.flac", 10).symlink("dir", "top/link");
    let text = weigh("-C -s -b")
        .env("LS_COLORS", "di=38;5;99:ln=38;5;98:*.flac=38;5;97")
        .arg("top")
        .within(fixture.path())
        .run()
        .text();
    for (name, colour) in [("dir", "38;5;99"), ("link", "38;5;98"), ("a.flac", "38;5;97")] {
        let line = text.lines().find(|line| line.contains(name)).unwrap();
        assert!(line.contains(colour), "{line:?}");
    }
}

#[test]
fn directories_in_the_blue_of_ls_have_a_legible_one() {
    let fixture = Fixture::new().dir("top/dir");
    for (ls_colors, term, theme, colour) in [
        ("", "xterm-256color", "@theme=dark", "1;38;5;75m"),
        ("di=01;34", "xterm-256color", "@theme=dark", "1;38;5;75m"),
        ("di=01;34", "xterm-256color", "@theme=light", "1;38;5;25m"),
        // No colour is legible on any background.
        ("di=01;34", "xterm-256color", "@theme=none", "1m"),
        ("di=34", "xterm-256color", "@theme=dark", "34m"),
        ("di=01;36", "xterm-256color", "@theme=dark", "1;36m"),
        // Of 16 colours, blue is legible only on white.
        ("", "xterm", "@theme=dark", "1;36m"),
        ("", "xterm", "@theme=light", "1;34m"),
        ("", "xterm", "", "1;35m"),
        // Linux's own console is black.
        ("", "linux", "", "1;36m"),
        ("", "linux", "@theme=light", "1;34m"),
    ] {
        let text = weigh(&format!("-C -s -b {theme}")).arg("top").within(fixture.path());
        let text = text.env("LS_COLORS", ls_colors).env("TERM", term).run().text();
        let line = text.lines().find(|line| line.contains("dir")).unwrap();
        assert!(line.contains(&format!("\x1b[{colour}dir")), "{term} {theme}: {line:?}");
    }
}

/// `tmp` was black on green, and drew more attention than what was large.
#[test]
fn no_name_has_a_background() {
    let fixture = Fixture::new().dir("top/tmp").file("top/a.zip", 10);
    let text = weigh("-C -s -b @theme=dark").arg("top").within(fixture.path());
    let text =
        text.env("LS_COLORS", "di=30;42:*.zip=37;41").env("TERM", "xterm-256color").run().text();
    assert!(text.contains("\x1b[1;38;5;75mtmp\x1b[0m") && text.contains(" a.zip\n"), "{text:?}");
}

fn without_colours(text: &str) -> String {
    let mut plain = String::new();
    let mut parts = text.split("\x1b[");
    plain.extend(parts.next());
    for part in parts {
        plain.push_str(part.split_once('m').expect("a colour ends in m").1);
    }
    plain
}

/// Once, a width larger than the memory ended in a panic.
#[test]
fn an_absurd_width_is_refused() {
    let fixture = Fixture::new().file("top/f", 5000);
    for width in ["65536", "18446744073709551615", "-1", "wide"] {
        let shown = weigh("-w").arg(width).arg("top").within(fixture.path()).run();
        assert_eq!(shown.code(), 2, "{width}");
        assert!(shown.complaint().contains("--terminal-width"), "{}", shown.complaint());
    }
    assert_eq!(weigh("-w 65535").arg("top").within(fixture.path()).run().code(), 0);
}
