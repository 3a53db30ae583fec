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

/// Signs beside letters (Bengali, Tamil), letters that join (Arabic) and soft hyphens: programs that shape text draw
/// fewer cells than terminals do, and lines that counted on that wrapped.
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
    ];
    let fixture = names
        .iter()
        .zip(1..)
        .flat_map(|(name, size)| [(name, size, 4), (name, 10 * size, 40)])
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

#[test]
fn colours_change_nothing_but_colours() {
    let fixture = various();
    for look in LOOKS {
        let text = |flag| {
            let flags = format!("-s -n 100 -w 100 {flag} {look}");
            weigh(&flags).arg("top").within(fixture.path()).run().text()
        };
        assert_eq!(without_colours(&text("-C")), text("-c"), "{look}");
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
    for (ls_colors, theme, colour) in [
        ("", "dark", "1;38;5;75m"),
        ("di=01;34", "dark", "1;38;5;75m"),
        ("di=01;34", "light", "1;38;5;25m"),
        ("di=01;34", "none", "1;38;5;67m"),
        ("di=34", "dark", "34m"),
        ("di=01;36", "dark", "1;36m"),
    ] {
        let text = weigh("-C -s -b --theme").arg(theme).arg("top").within(fixture.path());
        let text = text.env("LS_COLORS", ls_colors).env("TERM", "xterm-256color").run().text();
        let line = text.lines().find(|line| line.contains("dir")).unwrap();
        assert!(line.contains(&format!("\x1b[{colour}dir")), "{ls_colors}, {theme}: {line:?}");
    }
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
