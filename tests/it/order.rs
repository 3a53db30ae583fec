//! In which order siblings are shown.

use crate::fixture::Fixture;
use crate::run::weigh;

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
    // Headings have no digits.
    let lines = text.lines().filter(|line| line.contains(|c: char| c.is_ascii_digit()));
    lines.map(|line| line.rsplit(' ').next().unwrap().to_owned()).collect()
}

#[test]
fn siblings_come_in_the_order_asked_for() {
    assert_eq!(names(""), ["b", "a", "c", "top"]);
    assert_eq!(names("--sort size -r"), ["top", "c", "a", "b"]);
    // Names are read from top to bottom, either way.
    assert_eq!(names("--sort name"), ["a", "b", "c", "top"]);
    assert_eq!(names("--sort name -r"), ["top", "a", "b", "c"]);
    assert_eq!(names("--sort count -r"), ["top", "b", "a", "c"]);
    assert_eq!(names("--sort time -n 2"), ["entry", "a", "b", "top"]);
    // It is still the largest that are shown.
    assert_eq!(names("--sort name -n 2"), ["entries", "a", "c", "top"]);
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
