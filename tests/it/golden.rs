//! Pictures as they should look, to the byte, in `snapshots/`. Sizes are apparent ones, so that no
//! file system has a say. After a change that is meant to show: `INSTA_UPDATE=always cargo test`,
//! then look at every line of the difference.

use crate::fixture::{Fixture, raw};
use crate::run::weigh;

/// A home as one might find it: music, a project, a mail folder, a link that counts once.
fn home() -> Fixture {
    Fixture::new()
        .sparse("home/Music/Bach/goldberg.flac", 310_000_000)
        .sparse("home/Music/Bach/mass in b minor.flac", 520_000_000)
        .sparse("home/Music/Ravel/boléro.flac", 88_000_000)
        .sparse("home/Music/cover.jpg", 2_400_000)
        .sparse("home/code/weigh/target/debug/weigh", 61_000_000)
        .sparse("home/code/weigh/src/main.rs", 2_900)
        .sparse("home/code/weigh/Cargo.lock", 41_000)
        .hard_link("home/code/weigh/target/debug/weigh", "home/bin/weigh")
        .sparse("home/Mail/inbox", 140_000_000)
        .sparse("home/Mail/下書き", 1_500_000)
        .sparse(raw(b"home/odd\nname \xff"), 700_000)
        .symlink("Music/Bach", "home/bach")
        .sparse("home/.cache/thumbnails.db", 9_800_000)
        .dir("home/empty")
}

fn picture(flags: &str) -> String {
    let fixture = home();
    weigh(&format!("-s -c {flags}")).arg("home").within(fixture.path()).run().text()
}

#[test]
fn the_plain_picture() {
    insta::assert_snapshot!("width_40", picture("-w 40 -n 30"));
    insta::assert_snapshot!("width_80", picture("-w 80 -n 30"));
    insta::assert_snapshot!("width_120", picture("-w 120 -n 30"));
}

#[test]
fn other_styles() {
    insta::assert_snapshot!("reverse", picture("-w 80 -n 30 -r"));
    insta::assert_snapshot!("no_bars", picture("-w 80 -n 30 -b"));
    insta::assert_snapshot!("bars_on_the_right", picture("-w 80 -n 30 -B"));
    insta::assert_snapshot!("screen_reader", picture("-w 80 -n 30 -R"));
    insta::assert_snapshot!("full_paths", picture("-w 80 -n 30 -p"));
    insta::assert_snapshot!("skip_total", picture("-w 80 -n 30 --skip-total"));
}

#[test]
fn the_units() {
    for unit in ["si", "b", "k", "m", "g", "t", "kb", "mb", "gb", "tb"] {
        insta::assert_snapshot!(format!("unit_{unit}"), picture(&format!("-w 80 -n 6 -o {unit}")));
    }
}

#[test]
fn less_of_it() {
    insta::assert_snapshot!("six_lines", picture("-w 80 -n 6"));
    insta::assert_snapshot!("two_levels", picture("-w 80 -n 30 -d 2"));
    insta::assert_snapshot!("only_files", picture("-w 80 -n 30 -F"));
    insta::assert_snapshot!("only_directories", picture("-w 80 -n 30 -D"));
    insta::assert_snapshot!("no_less_than_100_MB", picture("-w 80 -n 30 -z 100MB"));
}

#[test]
fn other_measures() {
    let fixture = home();
    for (name, flag) in [("files", "-f"), ("inodes", "--inodes")] {
        let text =
            weigh(&format!("-c -w 80 -n 10 {flag}")).arg("home").within(fixture.path()).run();
        insta::assert_snapshot!(name, text.text());
    }
}

#[test]
fn several_roots() {
    let fixture = home();
    let run = |flags| weigh(flags).arg("home/Music").arg("home/Mail").within(fixture.path()).run();
    insta::assert_snapshot!("two_roots", run("-s -c -w 80 -n 8").text());
    insta::assert_snapshot!("two_roots_skip_total", run("-s -c -w 80 -n 8 --skip-total").text());
}
