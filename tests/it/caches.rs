//! What `--exclude-caches` leaves out: the content of directories with a valid CACHEDIR.TAG, as tar does.

use std::fs;
use std::process::Command;

use crate::document::Document;
use crate::filters::seen;
use crate::fixture::Fixture;
use crate::run::{Weigh, weigh};

const SIGNATURE: &str = "Signature: 8a477f597d28d172789f06886806bc55";

/// Writes a tag, or what looks like one, into the directory called `dir`.
fn tagged(fixture: Fixture, dir: &str, text: &str) -> Fixture {
    let fixture = fixture.dir(dir);
    fs::write(fixture.at(dir).join("CACHEDIR.TAG"), text).unwrap();
    fixture
}

/// Caches, and what only looks like one. Each sum tells what is in it.
fn tree() -> Fixture {
    let fixture = Fixture::new()
        .file("top/kept", 1)
        .file("top/cache/left", 1_000)
        .file("top/cache/below/left", 1_000)
        .file("top/in/long/left", 1_000)
        .file("top/short/kept", 10)
        .file("top/other/kept", 100)
        .file("top/late/kept", 10_000)
        .file("top/linked/kept", 100_000)
        .symlink("../cache/CACHEDIR.TAG", "top/linked/CACHEDIR.TAG")
        .file("top/pipe/kept", 1_000_000)
        .fifo("top/pipe/CACHEDIR.TAG")
        .file("top/directory/CACHEDIR.TAG/kept", 10_000_000)
        .file("top/lower/kept", 100_000_000);
    let fixture = tagged(fixture, "top/cache", SIGNATURE);
    let fixture = tagged(fixture, "top/in/long", &format!("{SIGNATURE}\n# of something\n"));
    let fixture = tagged(fixture, "top/short", &SIGNATURE[..42]);
    let fixture = tagged(fixture, "top/other", "");
    let fixture = tagged(fixture, "top/late", &format!("\n{SIGNATURE}"));
    fs::write(fixture.at("top/lower/cachedir.tag"), SIGNATURE).unwrap();
    fixture
}

fn run(fixture: &Fixture, flags: &str) -> Weigh {
    weigh(flags).within(fixture.path())
}

/// What tar would put into an archive of `root`: the names below it, directories with a slash at the end.
fn by_tar(fixture: &Fixture, root: &str) -> Vec<String> {
    let script = format!("tar --exclude-caches -cf - {root} | tar -t");
    let listed = Command::new("sh").args(["-c", &script]).current_dir(fixture.path()).output();
    let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
    let below = listed.lines().filter_map(|line| line.strip_prefix(&format!("{root}/")));
    let mut below: Vec<_> = below.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    below.sort();
    assert!(!below.is_empty());
    below
}

fn names(weigh: Weigh) -> Vec<String> {
    let (mut names, _) = seen(weigh);
    names.sort();
    names
}

#[test]
fn what_tar_leaves_out_is_left_out() {
    let fixture = tree();
    for root in ["top", "top/cache", "top/in"] {
        let expected = by_tar(&fixture, root);
        for flags in ["-j", "-j -T 1", "-j -T 8", "-j -l"] {
            let names = names(run(&fixture, flags).arg("--exclude-caches").arg(root));
            assert_eq!(names, expected, "{flags} {root}");
        }
    }
    let size = |flags| seen(run(&fixture, flags).arg("top")).1;
    let (all, left) = (size("-j -s"), size("-j -s --exclude-caches"));
    assert_eq!(all - left, 3_000);
    assert_eq!(size("-j -s --exclude-caches --no-exclude-caches"), all);
}

/// A directory of many entries is not listed to its end before its first entries are weighed.
#[test]
fn a_tag_is_found_wherever_it_is_listed() {
    let mut fixture = tagged(Fixture::new(), "top/first", SIGNATURE);
    for number in 0..12_000 {
        fixture = fixture.sparse(format!("top/first/{number}"), 1);
        fixture = fixture.sparse(format!("top/last/{number}"), 1);
    }
    let fixture = tagged(fixture, "top/last", SIGNATURE);
    let expected = by_tar(&fixture, "top");
    assert_eq!(expected.len(), 4);
    for flags in ["-j --exclude-caches", "-j --exclude-caches -T 8"] {
        assert_eq!(names(run(&fixture, flags).arg("top")), expected, "{flags}");
    }
    // Without a tag, none of so many is lost, and none counts twice.
    fs::write(fixture.at("top/first/CACHEDIR.TAG"), "").unwrap();
    assert_eq!(names(run(&fixture, "-j --exclude-caches").arg("top")).len(), 12_004);
}

#[test]
fn other_filters_hold_in_caches_too() {
    let fixture = tree();
    let left = |flags| names(run(&fixture, flags).arg("--exclude-caches").arg("top/in"));
    assert_eq!(left("-j -X CACHEDIR.TAG"), ["long/"]);
    assert_eq!(left("-j -e left"), [""; 0]);
    assert_eq!(left("-j -e TAG"), ["long/", "long/CACHEDIR.TAG"]);
}

/// A root always counts, because it was asked for. One that the walk of another reaches is not weighed twice.
#[test]
fn a_root_inside_a_cache_counts_once() {
    let fixture = tree();
    let size = |roots: &[&str]| seen(run(&fixture, "-j -s --exclude-caches").args(roots)).1;
    let tag = SIGNATURE.len() as u64;
    assert_eq!(size(&["top/cache"]), tag);
    assert_eq!(size(&["top/cache/below"]), 1_000);
    assert_eq!(size(&["top/cache", "top/cache/below"]), tag + 1_000);
    assert_eq!(size(&["top/cache", "top/cache/left"]), tag + 1_000);
    assert_eq!(size(&["top/cache", "top/cache/CACHEDIR.TAG"]), tag);
    assert_eq!(size(&["top/other", "top/other/kept"]), 100);
}

/// Whether its content counts is not known, so it does, and the result is not complete.
#[test]
fn a_tag_that_cannot_be_read_is_reported() {
    let fixture = tree().mode("top/cache/CACHEDIR.TAG", 0o000);
    let weigh = || run(&fixture, "-j -s --print-errors --exclude-caches").by_nobody(&fixture);
    let shown = weigh().arg(fixture.at("top/cache")).run();
    assert_eq!(shown.code(), 1);
    assert!(shown.complaint().contains("top/cache/CACHEDIR.TAG"), "{}", shown.complaint());
    assert_eq!(Document::parse(&shown.stdout).root().size, 2_000 + SIGNATURE.len() as u64);
}

/// A snapshot does not contain what files say, so nothing more can be left out of it.
#[test]
fn snapshots_remember_it() {
    let fixture = tree();
    let quiet = |flags: &str| run(&fixture, flags).run().code();
    assert_eq!(quiet("-j top --save all.weigh"), 0);
    assert_eq!(quiet("-j top --save less.weigh --exclude-caches"), 0);
    assert_eq!(
        run(&fixture, "-j --from less.weigh").run().clean(),
        run(&fixture, "-j top --exclude-caches").run().clean()
    );
    assert_eq!(quiet("-j --from all.weigh --exclude-caches"), 2);
    for (flags, code) in [
        ("diff -j top --exclude-caches --since less.weigh", 0),
        ("diff -j top --since all.weigh", 0),
        ("diff -j top --exclude-caches --since all.weigh", 2),
        ("diff -j top --since less.weigh", 2),
    ] {
        assert_eq!(quiet(flags), code, "{flags}");
    }
}

/// A listing says where there may be a tag. Nothing is asked anywhere else.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs strace"]
fn only_what_is_listed_as_a_tag_is_opened() {
    native_only!("other calls are made there");
    let fixture = tree();
    let calls = |root: &str, flag: &str| {
        let log = fixture.at("log");
        let strace = ["strace", "-f", "-q", "-s", "64", "-e", "trace=file,read,getdents64", "-o"];
        let strace = strace.map(Into::into).into_iter().chain([log.clone().into_os_string()]);
        run(&fixture, "-j -T 1").arg(flag).arg(root).under(strace).run().clean();
        fs::read_to_string(log).unwrap()
    };
    let count = |calls: &str, what: &str| calls.lines().filter(|line| line.contains(what)).count();
    let opened = |calls: &str| {
        let is_file = |line: &&str| line.contains("openat(") && !line.contains("O_DIRECTORY");
        let tags = calls.lines().filter(|line| line.contains("CACHEDIR.TAG")).filter(is_file);
        tags.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(opened(&calls("top", "--no-exclude-caches")), [""; 0]);
    let with = calls("top", "--exclude-caches");
    // Those of cache, long, short, other and late.
    assert_eq!(opened(&with).len(), 5, "{with}");
    assert!(opened(&with).iter().all(|line| line.contains("O_NOFOLLOW")), "{with}");
    let mut reads = with.lines().filter(|line| line.contains("Signature"));
    assert!(reads.all(|line| line.contains(", 43)")), "{with}");
    // Without an entry of that name, the calls are the same.
    for what in ["openat(", "statx(", "getdents64(", "read("] {
        let [without, with] = ["--no-exclude-caches", "--exclude-caches"]
            .map(|flag| count(&calls("top/lower", flag), what));
        assert_eq!(with, without, "{what}");
    }
}
