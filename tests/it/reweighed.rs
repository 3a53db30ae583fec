//! Filters on a snapshot, and its times, give the same bytes as on the tree itself, and the totals of `find`.

use std::fs;
use std::process::Command;

use crate::dice::{Dice, Names};
use crate::fixture::{Fixture, raw};
use crate::oracle::{self, Eyes};
use crate::random::spelled;
use crate::rounds::{deeper_than_any_stack, for_seeds, rounds};
use crate::run::{Shown, weigh};
use crate::snapshots::same;

/// Links in and out of what is left out, names that filters tell apart, times of a year.
fn project() -> Fixture {
    let mut fixture = Fixture::new()
        .file("top/README.md", 1)
        .file("top/src/main.py", 10)
        .file("top/src/main.pyc", 5000)
        .hard_link("top/src/main.py", "top/cache/main.py")
        .hard_link("top/src/main.pyc", "outside")
        .file("top/src/cache/x.py", 9000)
        .file("top/cache/y.js", 10_000)
        .symlink("../src", "top/cache/link.py")
        .fifo("top/src/pipe")
        .file("top/.git/config", 70_000)
        .file(raw(b"top/\xff/\n.py"), 300)
        .file("top/only.py/deep/er/z", 40)
        .dir("top/empty")
        .file("other/src/w.py", 6000)
        .hard_link("top/src/main.py", "other/v.py");
    for (name, day) in [("src/main.py", 3), ("src", 30), ("cache/y.js", 300), (".git/config", 31)] {
        fixture = fixture.modified(format!("top/{name}"), days_ago(day));
    }
    fixture
}

fn days_ago(days: i64) -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(now.as_secs()).unwrap() - days * 86_400 - 3600
}

const FILTERS: [&str; 20] = [
    "-i",
    "-X cache",
    "-X src/cache",
    "-X top/src",
    "-X nowhere",
    r"-e \.py$",
    r"-e ^top/src/ -v c$",
    "-v src",
    "-v ^",
    "--exclude cache/",
    "--exclude *.py --exclude !main.py",
    "--exclude /src/cache",
    "--include *.py",
    "--include src/ -X main.py",
    "--type py",
    "--type-not py -i",
    "--collapse src",
    "-M -7",
    "-M +29",
    "-M 30 -e py",
];

#[test]
fn filters_leave_of_a_snapshot_what_they_leave_of_the_tree() {
    let fixture = project();
    let forms = ["-j", "-c", "-j -n 3", "-c -F", "-c -D -d 1", "--as csv"];
    for counting in ["", "-s", "-f", "--inodes", "-l"] {
        for roots in ["top", "top other", "top/src/main.py", "other/src top/"] {
            let run = |flags: &str| weigh(flags).within(fixture.path()).run();
            run(&format!("{counting} {roots} --details --save snapshot")).clean();
            for (filter, form) in FILTERS.iter().zip(forms.iter().cycle()) {
                let load = run(&format!("{form} {filter} --from snapshot"));
                let direct = run(&format!("{form} {counting} {filter} {roots}"));
                let what = format!("{form} {counting} {filter} {roots}");
                same(&load, &direct, &what);
            }
        }
    }
}

#[test]
fn random_trees_are_reweighed_alike() {
    let filters =
        ["-X a1", "-e [2-5]", "-v [2-5]$", "--exclude *3", "--include *4 -i", "-M 0 -e b"];
    for seed in 0..12 {
        let fixture = Dice::new(seed).tree(Fixture::new(), Names::Hostile);
        let place = Fixture::new();
        let file = place.at("snapshot.weigh");
        weigh("--details --save").arg(&file).arg(fixture.path()).run().clean();
        for filter in filters {
            for form in ["-j", "-c", "-j --by type", "-j --by owner"] {
                let direct = weigh(&format!("{form} {filter}")).arg(fixture.path()).run();
                let load = weigh(&format!("{form} {filter} --from")).arg(&file).run();
                same(&load, &direct, &format!("seed {seed}: {form} {filter}"));
            }
        }
    }
}

/// A path is meant below the root that it lies in, however roots are spelled, and whatever the ending of
/// one has to do with another.
#[test]
fn a_path_is_found_below_the_right_one_of_several_roots() {
    let fixture = Fixture::new()
        .file("a/deep/x", 5000)
        .file("b/a/deep/y", 9000)
        .file("c/z", 3000)
        .symlink("../a", "b/to-a");
    for roots in ["b/a a", "a b/a", "./a b/a c", "b/../a b/a", "b/to-a b/a", "c/../b/a a/ c"] {
        let run = |flags: &str, path: &str| {
            weigh(flags).arg(fixture.at(path)).within(fixture.path()).run()
        };
        weigh(&format!("{roots} --save snapshot")).within(fixture.path()).run().clean();
        for path in ["a/deep", "b/a/deep", "c/z"] {
            for filter in ["-j -X", "-j --collapse"] {
                let load = run(&format!("--from snapshot {filter}"), path);
                same(&load, &run(&format!("{roots} {filter}"), path), &format!("{roots} {path}"));
            }
        }
    }
    let inside = |flags: &str| weigh(flags).within(fixture.at("c")).run();
    inside(". ../a ../b/a --save ../snapshot").clean();
    for filter in ["-X ../a/deep", "-X ./z", "--collapse ../b/a/deep"] {
        let load = inside(&format!("-j {filter} --from ../snapshot"));
        same(&load, &inside(&format!("-j {filter} . ../a ../b/a")), filter);
    }
}

/// A root inside another is not walked by itself. Once, what the filters of the outer one leave out was taken to be
/// reached from it.
#[test]
fn what_is_left_out_of_an_outer_root_is_not_reached_from_an_inner_one() {
    let fixture = Fixture::new().file("top/a/a/b/f", 9000).file("top/a/g", 3000);
    let run = |flags: &str| weigh(flags).within(fixture.at("top")).run();
    run(". a a/a/b --save ../snapshot").clean();
    for filter in ["--exclude=/a/a/b", "--exclude=/a/a", "--exclude=/a/b"] {
        let load = run(&format!("-j {filter} --from ../snapshot"));
        same(&load, &run(&format!("-j {filter} . a a/a/b")), filter);
    }
}

/// A snapshot from before roots had names.
#[test]
fn the_only_root_needs_no_name() {
    let fixture = project();
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    run("./top --save snapshot").clean();
    crate::saved::change(&fixture.at("snapshot"), |header| {
        assert!(header["roots"][0].as_object_mut().unwrap().remove("name").is_some());
    });
    let load =
        weigh("-j --from snapshot -X").arg(fixture.at("top/src")).within(fixture.path()).run();
    same(&load, &run("-j ./top -X top/src"), "-X top/src");
}

#[test]
fn any_mix_of_roots_is_reweighed_alike() {
    for_seeds(rounds(30, 600), |seed| {
        let mut dice = Dice::new(seed + 3_000_000);
        let mut fixture = dice.tree(Fixture::in_memory(), Names::Hostile).symlink(".", "again");
        let entries = oracle::find(&fixture.at("tree"), Eyes::Mine);
        let mut path = |fixture: &Fixture| {
            let entry = dice.of(&entries);
            let plain = std::path::Path::new("tree").join(raw(&entry.path));
            let is_link = entry.kind == b'd' && dice.below(6) == 0;
            (spelled(&mut dice, &plain, entry.kind == b'd', fixture), is_link.then_some(plain))
        };
        let mut roots = Vec::new();
        for i in 0..1 + seed % 6 {
            let (mut root, target) = path(&fixture);
            if let Some(target) = target {
                root = format!("to-{i}").into();
                fixture = fixture.symlink(target, &root);
            }
            roots.push(root);
        }
        let run = |flags: &str, roots: &[std::path::PathBuf]| {
            let start = weigh(&format!("{flags} --")).within(fixture.path());
            roots.iter().fold(start, |weigh, root| weigh.arg(root)).run()
        };
        run("--details --save snapshot", &roots).clean();
        for form in ["-j", "-c -n 9", "-j -m m"] {
            for flag in ["-X", "--collapse"] {
                let (filter, _) = path(&fixture);
                let show = |from: &str, roots: &[std::path::PathBuf]| -> Shown {
                    let start = weigh(&format!("{form} {from} {flag}")).arg(&filter).arg("--");
                    let start = start.within(fixture.path());
                    roots.iter().fold(start, |weigh, root| weigh.arg(root)).run()
                };
                let what = format!("seed {seed}: {form} {flag} {filter:?} {roots:?}");
                same(&show("--from snapshot", &[]), &show("", &roots), &what);
            }
            for filter in ["-X a1", "-e [2-5]", "--exclude *3 -v 7$", "-M 0 -e b", "-M +3"] {
                let what = format!("seed {seed}: {form} {filter} {roots:?}");
                let load = run(&format!("{form} {filter} --from snapshot"), &[]);
                same(&load, &run(&format!("{form} {filter}"), &roots), &what);
            }
        }
    });
}

/// The tree is deleted before the snapshot is loaded.
#[test]
fn find_says_the_same_of_what_is_gone_by_now() {
    let fixture = project();
    fs::remove_file(fixture.at("outside")).unwrap();
    fs::remove_file(fixture.at("other/v.py")).unwrap();
    weigh("-s top --save snapshot").within(fixture.path()).run().clean();
    let of = |tests: &[&str]| {
        let output = Command::new("find")
            .arg("top")
            .args(tests)
            .args(["-type", "f,l", "-printf", "%i %s\n"])
            .current_dir(fixture.path())
            .output()
            .unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        // Every inode once.
        let inodes: std::collections::BTreeMap<_, u64> = text
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(i, s)| (i.to_owned(), s.parse().unwrap()))
            .collect();
        inodes.values().sum::<u64>()
    };
    let cases: [(&str, &[&str]); 7] = [
        ("-X cache", &["-name", "cache", "-prune", "-o"]),
        (r"-e \.py$", &["-name", "*.py"]),
        (r"-v \.py$", &["!", "-name", "*.py"]),
        ("-i", &["-name", ".*", "-prune", "-o"]),
        ("--exclude /src/cache", &["-path", "top/src/cache", "-prune", "-o"]),
        ("--include src/", &["-path", "*/src/*"]),
        ("--type py -X src", &["-name", "src", "-prune", "-o", "-name", "*.py"]),
    ];
    let expected = cases.map(|(_, tests)| of(tests));
    let absolute = fixture.at("top/src");
    fs::rename(fixture.at("top"), fixture.at("gone")).unwrap();
    for ((filter, _), expected) in cases.iter().zip(expected) {
        let shown = weigh(&format!("-j {filter} --from snapshot")).within(fixture.path()).run();
        assert_eq!(shown.document().root().size, expected, "{filter}");
    }
    // By the path where it was, and as the root was spelled.
    let load = || weigh("-j --from snapshot").within(fixture.path());
    let without = load().arg("-X").arg("src").run().clean();
    assert_eq!(load().arg("-X").arg(absolute).run().clean(), without);
    assert_eq!(load().arg("-X").arg("top/src").run().clean(), without);
}

#[test]
fn what_is_saved_again_is_what_was_left() {
    let fixture = project();
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    run("top --details --save all").clean();
    run("--from all -X cache --save less").clean();
    same(&run("-j --from less"), &run("-j -X cache top"), "-X cache");
    same(&run("-j -i --from less"), &run("-j -i -X cache top"), "-X cache, then -i");
    let less = crate::saved::header(&fixture.at("less"));
    assert_eq!(less["options"], serde_json::json!(["--ignore-directory=cache"]));
    assert_eq!(less["details"], false);
    run("--from all -X cache --details --save less").clean();
    same(&run("-m m --from less"), &run("-m m -X cache top"), "-X cache --details");
}

#[test]
fn what_could_not_be_read_is_left_out_with_what_it_lies_in() {
    let fixture = Fixture::new()
        .file("top/open/f", 5000)
        .unreadable("top/closed")
        .unreadable("top/in/closed")
        .mode("place", 0o777);
    let direct = |flags: &str| weigh(flags).arg("top").within(fixture.path()).by_nobody(&fixture);
    assert_eq!(direct("--save place/snapshot").run().code(), 1);
    for filter in ["-X closed", "-X in", "--exclude /top/closed", "-e f$"] {
        let load = weigh(&format!("-j {filter} --from")).arg(fixture.at("place/snapshot")).run();
        same(&load, &direct(&format!("-j {filter}")).run(), filter);
    }
    // A root that cannot be found is no less missing for how it is called.
    let missing = |flags: &str| weigh(flags).arg("top").arg("top/gone").within(fixture.path());
    assert_eq!(missing("--save place/missing").run().code(), 1);
    let load = weigh("-j -X gone --from").arg(fixture.at("place/missing")).run();
    same(&load, &missing("-j -X gone").run(), "a missing root");
    let both = |flags: &str| {
        let roots = weigh(flags).arg("./in").arg("./in/../open").arg("./in/../in/../closed");
        roots.within(fixture.at("top")).by_nobody(&fixture)
    };
    assert_eq!(both("--save ../place/two").run().code(), 1);
    let load = weigh("-j -X open -X closed --from").arg(fixture.at("place/two")).run();
    same(&load, &both("-j -X open -X closed").run(), "two roots");
    // What lies in another root is one itself where the way is left out.
    let inner = |flags: &str| {
        let roots = weigh(flags).arg("top").arg("top/../top/in/").arg("./top/in/closed");
        roots.within(fixture.path()).by_nobody(&fixture)
    };
    assert_eq!(inner("--save place/three").run().code(), 1);
    for filter in ["-X in", "-X closed", "-X in -X closed", "-e f$", "--collapse in"] {
        let load = weigh(&format!("-j {filter} --from")).arg(fixture.at("place/three")).run();
        same(&load, &inner(&format!("-j {filter}")).run(), &format!("three roots, {filter}"));
    }
}

/// Whether it is a directory is not saved of what could not be asked about. If it may be one in which
/// something would count, it is not said that all is there.
#[test]
fn what_may_be_a_directory_is_not_left_out_as_a_file() {
    let fixture = Fixture::new()
        .file("top/listed/directory/f.py", 5000)
        .file("top/listed/file", 5000)
        .mode("top/listed", 0o444)
        .mode("place", 0o777);
    let direct = |flags: &str| weigh(flags).arg("top").within(fixture.path()).by_nobody(&fixture);
    assert_eq!(direct("--save place/snapshot").run().code(), 1);
    for (filter, are_lost) in [
        ("-e py$", [true, true]),
        ("--type py", [true, true]),
        ("-v listed/", [true, true]),
        ("--exclude directory/", [true, true]),
        ("--exclude directory", [false, true]),
        ("-X directory", [false, true]),
        ("-X listed", [false, false]),
    ] {
        let flags = format!("-j {filter} --from");
        let document = weigh(&flags).arg(fixture.at("place/snapshot")).run();
        let text = String::from_utf8_lossy(&document.stdout);
        let is_said = ["directory", "file"].map(|name| text.contains(&format!("listed/{name}\"")));
        assert_eq!(is_said, are_lost, "{filter}: {text}");
        let code = i32::from(are_lost.contains(&true));
        assert_eq!(document.code(), code, "{filter}");
        // No walk says less than is said here.
        assert!(direct(&format!("-j {filter}")).run().code() <= code, "{filter}");
    }
}

/// Each of many roots is looked up in the directory that contains them all.
#[test]
fn many_roots_in_another_are_found_at_once() {
    let mut fixture = Fixture::in_memory();
    let mut list = String::new();
    for i in 0..30_000 {
        fixture = fixture.sparse(format!("top/{i}"), 1);
        list += &format!("top/{i}\n");
    }
    fs::write(fixture.at("list"), list).unwrap();
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    for roots in ["top --files-from list", "--files-from list"] {
        run(&format!("-s {roots} -n 1 --save snapshot")).clean();
        let filter = "-j --exclude *7";
        same(
            &run(&format!("{filter} --from snapshot")),
            &run(&format!("-s {filter} {roots}")),
            roots,
        );
    }
}

/// What is in a collapsed directory counts, in times as in sizes.
#[test]
fn times_are_those_of_what_is_collapsed_too() {
    let fixture = project()
        .modified("top/src/main.py", days_ago(400))
        .modified("top/src/cache/x.py", days_ago(200))
        .modified("top/src/cache", days_ago(500))
        .modified("top/src", days_ago(600));
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    run("top other --details --save snapshot").clean();
    for collapse in ["src", "cache", "top/src", "src --collapse cache -X y.js", "src -M +100"] {
        for form in ["-j -m m", "-c -m m --time-style full-iso", "-c --sort time", "-j -m m -n 2"] {
            let flags = format!("{form} --collapse {collapse}");
            same(
                &run(&format!("{flags} --from snapshot")),
                &run(&format!("{flags} top other")),
                &flags,
            );
        }
    }
}

/// With times, the snapshot of sizes has them too, and the picture is the one that was drawn.
#[test]
fn times_are_saved_with_sizes() {
    let fixture = project();
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    for flags in
        ["-j -m m", "-c -m m -n 3", "-c --sort time", "-j -m m --by type", "-j -m m -X cache"]
    {
        let direct = run(&format!("{flags} top"));
        same(&run(&format!("{flags} top --save snapshot")), &direct, flags);
        same(&run(&format!("{flags} --from snapshot")), &direct, flags);
        same(&run("-j -X cache --from snapshot"), &run("-j -X cache top"), "sizes");
    }
    run("top --by owner --save owned").clean();
    same(&run("-c --by owner --from owned"), &run("-c --by owner top"), "--by owner");
    run("top --save plain").clean();
    for flags in ["-c -m m", "-j -M 3", "-c --sort time"] {
        same(&run(&format!("{flags} --from plain")), &run(&format!("{flags} top")), flags);
    }
    let shown = run("--details --save again --from plain");
    assert_eq!((shown.code(), shown.stdout.len()), (2, 0));
    assert!(shown.complaint().contains("without --details"), "{}", shown.complaint());
}

#[test]
fn what_a_snapshot_cannot_tell_is_said() {
    let fixture = project();
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    run("top --save snapshot").clean();
    for flag in ["--gitignore", "--only-ignored", "-x", "-A 3", "-y 3", "-m a", "-m c"] {
        let shown = run(&format!("{flag} --from snapshot"));
        let long = match flag.split(' ').next() {
            Some("-x") => "-x",
            Some("-A") => "-A",
            Some("-y") => "-y",
            Some("-m") => flag,
            _ => flag,
        };
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{flag}");
        assert!(shown.complaint().lines().next().unwrap().contains(long), "{}", shown.complaint());
    }
    assert_eq!(run("-m a top --save other").code(), 2);
    run("-L top --details --save followed").clean();
    same(&run("-j -m m --from followed"), &run("-j -L -m m top"), "-L -m m");
    let shown = run("-X cache --from followed");
    assert_eq!((shown.code(), shown.stdout.len()), (2, 0));
    assert!(shown.complaint().contains("symlinks were followed"), "{}", shown.complaint());
}

/// Entries that are left out now are not reported as gone.
#[test]
fn changes_are_of_what_counts() {
    let fixture = project();
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    run("-s top --details --save snapshot").clean();
    let grown = fixture.file("top/src/grown.py", 100_000).file("top/cache/grown", 1_000_000);
    let run = |flags: &str| weigh(flags).within(grown.path()).run();
    let change = |flags: &str| {
        let json = run(&format!("diff -j -s --since snapshot {flags}")).clean();
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        json["change"].as_i64().unwrap()
    };
    run("-s top --save later").clean();
    for from in ["top", "--from later"] {
        assert_eq!(change(from), 1_100_000);
        assert_eq!(change(&format!("-X cache {from}")), 100_000);
        assert_eq!(change(&format!(r"-e \.py$ {from}")), 100_000);
        assert_eq!(change(&format!("--collapse cache -X src {from}")), 1_000_000);
    }
    assert_eq!(change("-M +100 top"), 0);
    let picture = run("diff -c -s -X cache --since snapshot top").text();
    assert!(!picture.contains("gone"), "{picture}");
}

#[test]
fn a_chain_deeper_than_any_stack_is_reweighed() {
    native_only!("paths are bounded there");
    let fixture = Fixture::in_memory().chain("d", deeper_than_any_stack(), 10);
    weigh("-s d -n 1 --save snapshot").within(fixture.path()).run().clean();
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    same(&run("-j -X end --from snapshot"), &run("-j -s -X end d"), "-X end");
}
