//! On a terminal, output fits its width and height, has colours, and the progress is erased in the end. `script` makes
//! the terminal, and records both streams.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::dice::HOSTILE;
use crate::fixture::{Fixture, raw};
use crate::picture::cells;
use crate::pty::Terminal;
use crate::run::{source, weigh};

const COLUMNS: usize = 72;
const ROWS: usize = 50;

/// What a terminal is asked for its background. Nobody answers that one.
const QUESTION: &str = "\x1b]11;?\x07\x1b[c";

/// What `weigh FLAGS top` sends to a terminal of [`COLUMNS`] by [`ROWS`], run within `fixture`.
fn on_a_terminal(fixture: &Fixture, flags: &str, env: &[(&str, &str)]) -> String {
    script(fixture, &format!("exec \"$WEIGH\" $SOURCE {flags} top"), env)
}

/// The same, from a program that is held up often enough for its progress to be drawn, however
/// quick it is.
fn on_a_terminal_slowly(fixture: &Fixture, flags: &str) -> String {
    script(fixture, &slowly(&format!("{flags} top")), &[])
}

/// The shell command that runs `weigh ARGUMENTS` and holds it up often.
fn slowly(arguments: &str) -> String {
    let hold = "kill -STOP $p; sleep 0.15; kill -CONT $p; sleep 0.003;";
    format!("\"$WEIGH\" $SOURCE {arguments} & p=$!; {} wait $p\n", hold.repeat(6))
}

/// What the terminal gets from the shell command `command`, which knows the program as `$WEIGH`.
fn script(fixture: &Fixture, command: &str, env: &[(&str, &str)]) -> String {
    let output = Command::new("/usr/bin/script")
        .args(["-q", "-e", "-c"])
        .arg(format!("stty cols {COLUMNS} rows {ROWS}; {command}"))
        .arg("/dev/null")
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("SHELL", "/bin/sh")
        .env("TERM", "xterm-256color")
        .env("WEIGH", env!("CARGO_BIN_EXE_weigh"))
        .env("SOURCE", source().join(" "))
        .envs(env.iter().copied())
        .current_dir(fixture.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{text}");
    assert!(text.contains("top"), "{text}");
    text.replace("\r\n", "\n").replace(QUESTION, "")
}

fn sixty_files() -> Fixture {
    (1..=60).fold(Fixture::new(), |fixture, i| fixture.sparse(format!("top/f{i}"), 100 * i))
}

#[test]
fn a_picture_fits_the_terminal() {
    let text = on_a_terminal(&sixty_files(), "-P -s", &[]);
    // All but three lines, for the prompts and the command.
    assert_eq!(text.lines().count(), ROWS - 3, "{text}");
    assert!(text.lines().next().unwrap().contains("15 smaller entries"), "{text}");
    for line in text.lines() {
        assert_eq!(cells(line), COLUMNS, "{text}");
    }
    let text = on_a_terminal(&sixty_files(), "-P -s -w 42 -n 3", &[]);
    assert_eq!(text.lines().map(cells).collect::<Vec<_>>(), [42; 5], "{text}");
}

/// Sizes had no colour, unless a variable or a flag said what the background is.
#[test]
fn a_terminal_says_what_its_background_is() {
    let fixture = sixty_files();
    for (answer, warmest) in [
        ("\x1b]11;rgb:1e1e/1e1e/1e1e\x07\x1b[?62;22c", "\x1b[1;38;2;240;122;98m"),
        ("\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?6c", "\x1b[1;38;2;178;58;34m"),
        // It knows no colours, and says so at once.
        ("\x1b[?6c", "\x1b[38;2;204;84;58m"),
    ] {
        let mut terminal = Terminal::new();
        let before = terminal.settings();
        let weigh = weigh("-P -s").arg("top").within(fixture.path()).env("TERM", "xterm-256color");
        let child = weigh.env("COLORTERM", "truecolor").on(&terminal).spawn();
        terminal.wait_for(QUESTION);
        terminal.type_in(answer.as_bytes());
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
        assert_eq!(terminal.settings(), before);
        let shown = String::from_utf8(terminal.close()).unwrap();
        assert!(shown.contains(warmest), "{shown:?}");
        // What is typed is shown, and the answer is not.
        assert!(!shown.contains("rgb:") && !shown.contains("^["), "{shown:?}");
    }
}

/// What has been typed is for the next program, and in the background nobody may read.
#[test]
fn a_terminal_is_not_asked_while_something_is_typed() {
    let fixture = sixty_files();
    let mut terminal = Terminal::new();
    terminal.type_in(b"next\n");
    let weigh = weigh("-P -s").arg("top").within(fixture.path()).env("TERM", "xterm-256color");
    let child = weigh.on(&terminal).spawn();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    let mut left = String::new();
    BufReader::new(terminal.line()).read_line(&mut left).unwrap();
    assert_eq!(left, "next\n");
    let shown = String::from_utf8(terminal.close()).unwrap();
    assert!(shown.contains("100%") && !shown.contains("]11"), "{shown:?}");
}

#[test]
fn a_terminal_has_colours_unless_told_otherwise() {
    let fixture = sixty_files();
    let coloured = |flags, env: &[_]| on_a_terminal(&fixture, flags, env).contains('\x1b');
    assert!(coloured("-P", &[]));
    assert!(!coloured("-P -c", &[]));
    assert!(!coloured("-P --color=never", &[]));
    assert!(coloured("-P --color=auto", &[]));
    assert!(!coloured("-P --color=auto", &[("NO_COLOR", "1")]));
    assert!(!coloured("-P", &[("NO_COLOR", "1")]));
    assert!(coloured("-P", &[("NO_COLOR", "")]), "an empty NO_COLOR says nothing");
    assert!(!coloured("-P", &[("CLICOLOR", "0")]));
    assert!(coloured("-P", &[("CLICOLOR", "1")]));
    assert!(coloured("-P", &[("CLICOLOR", "0"), ("CLICOLOR_FORCE", "1")]));
    assert!(coloured("-P -C", &[("CLICOLOR", "0")]), "a flag outweighs a variable");
    // Linux's console would show links as text.
    for term in ["linux", "linux-16color"] {
        assert!(!on_a_terminal(&fixture, "-P", &[("TERM", term)]).contains("\x1b]8"), "{term}");
    }
    // These terminals get no screen either.
    for term in ["dumb", "unknown", ""] {
        assert!(!coloured("-P", &[("TERM", term)]), "{term}");
        let shown = on_a_terminal(&fixture, "", &[("TERM", term)]);
        assert!(!shown.contains('\x1b'), "{term}: {shown:?}");
    }
}

#[test]
fn progress_is_erased_and_shows_no_control_of_a_name() {
    let mut fixture = Fixture::in_memory();
    for i in 0..12_000 {
        let name = HOSTILE[i % HOSTILE.len()];
        let path = [b"top/", name, format!("/{i}/f").as_bytes()].concat();
        fixture = fixture.sparse(raw(&path), 1);
    }
    let silent = on_a_terminal(&fixture, "-P -T 1", &[]);
    assert_eq!(on_a_terminal_slowly(&fixture, "-q -T 1"), silent);
    let text = on_a_terminal_slowly(&fixture, "-T 1");
    assert!(text.ends_with(&silent), "something is left of it, or the picture is another");
    let progress = text.strip_suffix(&silent).unwrap();
    assert!(progress.contains("top/"), "there is no progress to look at: {progress:?}");
    for forbidden in ["\x1b[2J", "\u{202e}", "\u{9b}", "\x07", "\x7f", "new\nline", "\t"] {
        assert!(!progress.contains(forbidden), "{forbidden:?} in {progress:?}");
    }
    let drawn = progress.split(['\r', '\n']).next_back().unwrap();
    let left = drawn.replace("\x1b[2K", "").replace("\x1b[K", "").replace("\x1b[?25h", "");
    assert_eq!(left.trim(), "", "{drawn:?} is left on the line");
}

/// Progress went up to 18 GiB where hard links came to 2: each link counted as much as the file.
#[test]
fn progress_counts_a_link_for_its_share() {
    const LINKS: u64 = 100;
    const LENGTH: u64 = 1_000_000;
    let mut fixture = Fixture::in_memory();
    for i in 0..120 {
        fixture = fixture.sparse(format!("top/{i}/0"), LENGTH);
        for link in 1..LINKS {
            fixture = fixture.hard_link(format!("top/{i}/0"), format!("top/{i}/{link}"));
        }
    }
    // What a link adds to the progress: its share, and with -l all of the file.
    for (flags, share) in [("-s", LENGTH / LINKS), ("-s -l", LENGTH)] {
        // On a busy machine a walk may end before its progress is drawn.
        let mut walks = (0..10).map(|_| {
            let text = on_a_terminal_slowly(&fixture, &format!("{flags} -o b -T 1"));
            text.split("\x1b[2K").filter_map(drawn).collect::<Vec<(u64, u64)>>()
        });
        let drawn = walks.find(|drawn| drawn.iter().any(|(entries, _)| *entries > LINKS));
        let drawn = drawn.expect("no progress in ten walks");
        for (entries, size) in drawn {
            // Directories are entries too, and the numbers are not read all at one moment.
            let links = entries - entries / LINKS;
            let (least, most) = (links.saturating_sub(2 * LINKS), links + 2 * LINKS);
            assert!(
                (least * share..=most * share).contains(&size),
                "{entries} entries, {size} bytes"
            );
        }
    }
}

/// Only the inodes of the outer file system counted, so that it said 100% early, and then nothing. Those of one that
/// two PATHs show counted twice, so that it stopped at 50%.
#[test]
#[ignore = "needs root"]
fn progress_is_a_share_of_all_file_systems_that_are_walked() {
    const FILES: u64 = 12_000;
    let fixture = Fixture::in_memory().dir("top");
    let text = script(
        &fixture,
        &format!(
            "unshare --mount --propagation private sh -c 'set -e
             mount -t tmpfs none top; mkdir top/in; truncate -s 32M disk; mkfs.ext4 -q -N 16384 disk
             mount -o loop disk top/in; mkdir top/in/d; (cd top/in/d; seq {FILES} | xargs touch)
             mkdir again; mount --rbind top again; set +e
             {}{}'",
            slowly("-T 1 -d 0 top").repeat(5),
            slowly("-T 1 -d 0 top again").repeat(5)
        ),
        &[("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")],
    );
    let shares = text.split("\x1b[2K").filter_map(|line| {
        let (entries, percent) = line.split_once("%), ")?.0.split_once(" entries (")?;
        Some((entries.replace(',', "").parse::<u64>().ok()?, percent.parse::<u64>().ok()?))
    });
    let shares: Vec<_> = shares.filter(|(entries, _)| *entries > 100).collect();
    assert!(!shares.is_empty(), "{text:?}");
    for (entries, percent) in shares {
        assert!(percent.abs_diff(entries * 100 / FILES) <= 1, "{entries} entries, {percent}%");
    }
}

/// The entries and the bytes that a line of progress says.
fn drawn(line: &str) -> Option<(u64, u64)> {
    let (entries, rest) = line.split_once(" entries, ")?;
    let (size, _) = rest.split_once("B,")?;
    Some((entries.replace(',', "").parse().ok()?, size.parse().ok()?))
}
