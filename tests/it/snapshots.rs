//! A snapshot shows what the tree itself shows, to the byte. A file is complete, or it is not there. Any file is read
//! correctly or refused.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::dice::{Dice, Names};
use crate::fixture::{Fixture, raw};
use crate::rounds::{deeper_than_any_stack, for_seeds, rounds};
#[cfg(target_os = "linux")]
use crate::run::in_namespace;
use crate::run::{Shown, beside_unmatched, take_place, weigh};
use crate::saved;

/// Links inside and outside, every kind, odd names and modes that colours tell apart.
fn varied() -> Fixture {
    Fixture::of_each_kind()
        .file("top/b/program", 30)
        .mode("top/b/program", 0o4755)
        .file("top/b/script", 9000)
        .mode("top/b/script", 0o755)
        .socket("top/b/socket")
        .mode("top/sticky", 0o1777)
        .file(raw(b"top/sticky/not utf-8 \xff\n\"\\\x1b"), 700)
        .file("top/.hidden/日本語", 70)
        .file("other/x", 3000)
}

/// Asserts that both streams and the status are as expected, to the byte. Only the advice to use sudo and the filters that
/// matched nothing are left out, which are for walks, and the time at which an export was made.
pub fn same(shown: &Shown, expected: &Shown, what: &str) {
    const ADVICE: [&str; 2] =
        ["\nhint: sudo weigh may read more", ", and sudo weigh may read more"];
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let text = ADVICE.iter().fold(text, |text, advice| text.replace(advice, ""));
        let Some((before, time)) = text.split_once("\"timestamp\":") else { return text };
        before.to_owned() + time.trim_start_matches(|c: char| c.is_ascii_digit())
    };
    assert_eq!(text(&shown.stdout), text(&expected.stdout), "{what}");
    let [said, wanted] = [shown, expected].map(|shown| text(&shown.stderr));
    assert_eq!(beside_unmatched(&said), beside_unmatched(&wanted), "{what}");
    assert_eq!(shown.code(), expected.code(), "{what}");
}

/// Makes of a snapshot one that knows nothing but sizes, as of a list.
pub fn sizes_alone(file: &Path) {
    saved::change(file, |header| {
        assert!(header.as_object_mut().unwrap().remove("figures").is_some());
    });
}

/// Every view of what is at the roots, and the forms in which all of them can be shown.
const VIEWS: [&str; 8] =
    ["", "-s", "-f", "--inodes", "-m m", "-s --sort time", "-s --by type", "--by age"];
const FORMS: [&str; 6] = ["-j", "-c", "-c -F", "-c -D", "-c -d 1", "--as csv"];

/// Whatever it was saved with, it has all that a walk of the same roots finds.
#[test]
fn one_snapshot_shows_every_view() {
    for_seeds(rounds(30, 300), |seed| {
        let mut dice = Dice::new(seed);
        let fixture = dice.tree(Fixture::new(), Names::Hostile).sparse("tree/sparse", 1 << 40);
        // One that is inside another counts there.
        let roots = *dice.of(&[".", "tree elsewhere", "elsewhere tree ."]);
        let place = Fixture::new();
        let (file, earlier) = (place.at("snapshot.weigh"), place.at("earlier.weigh"));
        let run = |flags: &str| weigh(flags).within(fixture.path());
        let walk = |flags: &str| run(&format!("{roots} {flags}"));
        let details = *dice.of(&["", "--details"]);
        let saved = *dice.of(&["", "-s", "-f", "--inodes"]);
        walk(&format!("{saved} --save")).arg(&earlier).run().clean();
        crate::since::shake(fixture.path(), seed);
        walk(&format!("{saved} {details} --save")).arg(&file).run().clean();
        for (view, form) in VIEWS.iter().flat_map(|view| FORMS.map(|form| (*view, form))) {
            let flags = format!("{view} {form}");
            let (is_time, is_grouped) =
                (view.contains("time") || view == "-m m", view.contains("by "));
            // Groups have no kinds and levels, and tables no times.
            if is_grouped && !["-j", "-c", "--as csv"].contains(&form)
                || is_time && form == "--as csv"
            {
                continue;
            }
            // Without a flag, sizes are those that were saved.
            if !saved.is_empty() && !["-s", "-f", "-i"].iter().any(|flag| view.contains(flag)) {
                continue;
            }
            let what = format!("seed {seed}, {roots:?}, {saved} {details}: {flags}");
            let load = run(&format!("{flags} --from")).arg(&file);
            same(&load.run(), &walk(&flags).run(), &what);
            if is_time {
                continue;
            }
            let load = run(&format!("diff {flags} --from")).arg(&file).arg("--since").arg(&earlier);
            same(&load.run(), &walk(&format!("diff {flags} --since")).arg(&earlier).run(), &what);
        }
        let load = run("-s --as ncdu --from").arg(&file).run();
        same(&load, &walk("-s --as ncdu").run(), &format!("seed {seed}: {roots:?}"));
    });
}

/// What has one measure is shown and compared in the measure that it has.
#[test]
fn a_snapshot_with_sizes_alone_has_those() {
    let place = Fixture::new().file("top/f", 5000).file("top/g", 3).sparse("top/h", 1 << 20);
    let run = |flags: &str| weigh(flags).within(place.path()).run();
    for (flags, name) in [("", "full"), ("", "disk"), ("-s", "lengths"), ("-f", "files")] {
        run(&format!("top {flags} --save {name}")).clean();
        if name != "full" {
            sizes_alone(&place.at(name));
        }
        same(&run(&format!("-j --from {name}")), &run(&format!("-j {flags} top")), name);
    }
    let place = place.file("top/new", 9000);
    let run = |flags: &str| weigh(flags).within(place.path()).run();
    run("top --save now").clean();
    for (flags, name) in [("", "disk"), ("-s", "lengths"), ("-f", "files")] {
        for form in ["-j", "-c", "--as csv"] {
            for now in ["top", "--from now"] {
                let expected = run(&format!("diff {form} {now} {flags} --since full"));
                let what = format!("diff {form} {now} --since {name}");
                same(&run(&what), &expected, &what);
                same(&run(&format!("{what} {flags}")), &expected, &what);
            }
        }
    }
    same(&run("-j --from disk --from disk"), &run("-j --from disk"), "one root");
    for (flags, complaint) in [
        ("-s --from disk", "cannot show disk: it has disk usage, and no apparent sizes\nhint: "),
        (
            "-f --from lengths",
            "cannot show lengths: it has apparent sizes, and no numbers of files",
        ),
        (
            "--inodes --from files",
            "cannot show files: it has numbers of files, and no numbers of i",
        ),
        ("-m m --from disk", "cannot show disk: it has no times\nhint: "),
        ("--by age --from disk", "cannot show disk: it has no times\nhint: "),
        (
            "diff -s top --since disk",
            "cannot compare with disk: it has disk usage, and no apparent ",
        ),
        ("diff top --by age --since disk", "cannot compare with disk: it has no times\nhint: "),
        (
            "diff top -M +30 --since disk",
            "cannot compare with disk: it was saved without --mtime=+30",
        ),
        (
            "diff --from files --since disk",
            "cannot compare with disk: it has disk usage, and no numb",
        ),
        ("--from disk --from files", "cannot show files: it has numbers of files, and no disk us"),
    ] {
        let shown = run(flags);
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{flags}: {}", shown.complaint());
        let said = shown.complaint();
        assert!(said.starts_with(&format!("weigh: error: {complaint}")), "{flags}: {said}");
        assert_eq!(said.lines().count(), 2, "{said}");
    }
}

#[test]
fn every_picture_of_a_snapshot_is_the_one_of_the_tree() {
    let fixture = varied();
    let pictures = [
        "",
        "-j",
        "-j -p",
        "-j -n 4",
        "-n 3",
        "-d 1",
        "-z 2000",
        "-D",
        "-F",
        "-p",
        "-r",
        "-b",
        "-B",
        "-R",
        "-C",
        "-o si",
        "-w 40",
        "--skip-total",
        "-F -j",
        "-t",
        "-t -j",
    ];
    for counting in ["", "-s", "-f", "--inodes", "-l", "-L"] {
        let place = Fixture::new();
        let file = place.at("snapshot.weigh");
        let run = |flags: String| weigh(&flags).within(fixture.path()).env("LS_COLORS", "ex=32");
        for roots in [&["top"][..], &["top/b/", "top/../other"], &["top", "other/x"], &["top/big"]]
        {
            let with_roots = |flags| {
                roots.iter().fold(run(format!("{counting} {flags}")), |run, root| run.arg(root))
            };
            for flags in pictures {
                let direct = with_roots(flags.to_owned()).run();
                let saving = with_roots(flags.to_owned()).arg("--save").arg(&file).run();
                same(&saving, &direct, &format!("weigh {counting} {flags} --save"));
                let loading = run(format!("{flags} --from")).arg(&file).run();
                same(
                    &loading,
                    &direct,
                    &format!("weigh {counting} {flags} {roots:?}, then --from"),
                );
            }
        }
    }
}

#[test]
fn random_trees_come_back() {
    for seed in 0..20 {
        let fixture = Dice::new(seed).tree(Fixture::new(), Names::Hostile);
        let place = Fixture::new();
        let file = place.at("snapshot.weigh");
        for flags in ["-j", "-n 10", "-j --details"] {
            let direct = weigh(flags.trim_end_matches("--details")).arg(fixture.path()).run();
            let saving = weigh(flags).arg(fixture.path()).arg("--save").arg(&file).run();
            same(&saving, &direct, &format!("seed {seed}, {flags}"));
            let flags = flags.trim_end_matches("--details");
            let loading = weigh(flags).arg("--from").arg(&file).run();
            same(&loading, &direct, &format!("seed {seed}, {flags}"));
        }
    }
}

#[test]
fn what_was_not_read_is_remembered() {
    let fixture = Fixture::new()
        .file("top/open/f", 5000)
        .unreadable(raw(b"top/closed \xff"))
        .unreadable("top/shut")
        .mode("place", 0o777);
    let direct = |flags| weigh(flags).arg("top").within(fixture.path()).by_nobody(&fixture);
    for flags in ["-j", "", "--print-errors"] {
        let expected = direct(flags).run();
        assert_eq!(expected.code(), 1);
        let saving = direct(flags).arg("--save").arg("place/snapshot").run();
        same(&saving, &expected, flags);
        let loading = weigh(flags).arg("--from").arg(fixture.at("place/snapshot")).run();
        same(&loading, &expected, flags);
    }
}

#[test]
fn what_is_no_snapshot_is_refused_in_one_line() {
    let fixture = varied();
    let file = fixture.at("snapshot");
    let load = || weigh("--from").arg(&file).run();
    for content in [
        "",
        "{}",
        "hello",
        "//! A program.\n\nfn main() {}\n",
        "{ margin: 0; }",
        "{\"a\": [1, 2}",
        "[package]\nname = \"x\"\n",
        "[1, 2, 3]",
        "\u{feff}\u{1}\u{2}",
    ] {
        fs::write(&file, content).unwrap();
        let shown = load();
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{content}");
        assert!(shown.complaint().starts_with("weigh: error: cannot "), "{content}");
        assert_eq!(shown.messages(), 1, "{content}");
    }
    fs::remove_file(&file).unwrap();
    assert!(load().complaint().contains("No such file"));
    let shown = weigh("-j -s --from").arg(&file).run();
    assert_eq!(shown.code(), 2);
}

#[test]
fn groups_are_made_of_what_was_saved() {
    let fixture = varied();
    let (plain, detailed) = (fixture.at("plain"), fixture.at("detailed"));
    let top = |flags| weigh(flags).arg("top").within(fixture.path());
    weigh("top --save").arg(&plain).within(fixture.path()).run().clean();
    weigh("top --details --save").arg(&detailed).within(fixture.path()).run().clean();
    for flags in ["-c --by owner", "-c --by age", "-j --by owner", "-c --by type"] {
        let direct = top(flags).run().clean();
        let load = |file| weigh(&format!("{flags} --from")).arg(file).run();
        assert_eq!(load(&detailed).clean(), direct, "{flags}");
        if flags.ends_with("owner") {
            assert!(load(&plain).complaint().contains("without --details"), "{flags}");
            assert_eq!(load(&plain).code(), 2);
        } else {
            assert_eq!(load(&plain).clean(), direct, "{flags}");
        }
    }
}

/// Birth and change times and groups are what `stat` says, and come back from the file.
#[test]
fn details_are_what_the_system_says() {
    let fixture = varied();
    let (file, again) = (fixture.at("snapshot.weigh"), fixture.at("again.weigh"));
    weigh("top --details --save").arg(&file).within(fixture.path()).run().clean();
    weigh("--details --from").arg(&file).arg("--save").arg(&again).run().clean();
    for file in [file, again] {
        let snapshot = saved::read(&file);
        let found = fs::symlink_metadata(fixture.at("top")).unwrap();
        let born = found
            .created()
            .map_or(0, |born| born.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs());
        assert_eq!(snapshot["changed"], found.ctime());
        assert_eq!(snapshot["born"].as_u64().unwrap_or(0), born);
        assert_eq!(
            (&snapshot["owner"], &snapshot["group"]),
            (&found.uid().into(), &found.gid().into())
        );
    }
}

/// What file system a root lies on, and how large that is, is what `df` says.
#[test]
fn the_file_system_is_the_one_that_df_knows() {
    native_only!("mounts cannot be told apart there");
    let fixture = varied();
    let (file, again) = (fixture.at("scan.weigh"), fixture.at("again.weigh"));
    weigh("top other/x --save").arg(&file).within(fixture.path()).run().clean();
    weigh("--from").arg(&file).arg("--save").arg(&again).run().clean();
    let df = std::process::Command::new("df")
        .args(["--block-size=1", "--output=fstype,size"])
        .arg(fixture.at("top"))
        .output()
        .unwrap();
    let df = String::from_utf8(df.stdout).unwrap();
    for file in [file, again] {
        let scan = saved::header(&file);
        let [directory, other] = scan["roots"].as_array().unwrap().as_slice() else { panic!() };
        let on = &directory["file_system"];
        let (kind, size) = (on["type"].as_str().unwrap(), on["size"].as_u64().unwrap());
        let expected: Vec<&str> = df.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!([kind, &size.to_string()], *expected);
        assert!(on["free"].as_u64().unwrap() <= size);
        // Only what is a directory can be full.
        assert_eq!(other["file_system"], serde_json::Value::Null);
    }
}

/// It showed apparent sizes all the same.
#[test]
fn disk_usage_can_be_shown_of_what_was_saved_with_apparent_sizes() {
    let fixture = Fixture::new().file("top/f", 5000);
    let run = |flags: &str| weigh(flags).within(fixture.path()).run().text();
    run("-s top --save saved.weigh");
    for (flags, walk) in [
        ("", "-j -s top"),
        ("--no-apparent-size", "-j top"),
        ("-s --no-apparent-size", "-j top"),
        ("--no-apparent-size -s", "-j -s top"),
        ("--no-apparent-size -f", "-j -f top"),
    ] {
        assert_eq!(run(&format!("-j --from saved.weigh {flags}")), run(walk), "{flags}");
    }
}

/// Numbers of a share that is none are refused, and what is no number is not taken for one.
#[test]
fn a_share_that_is_none_is_refused() {
    let fixture = varied();
    weigh("top/b -q --shard 1/1 --save x").within(fixture.path()).run().clean();
    let whole = fixture.bytes("x");
    for share in
        [json!({"number": 0, "of": 0}), json!({"number": 4, "of": 3}), json!({"number": 1})]
    {
        fs::write(fixture.at("x"), &whole).unwrap();
        saved::change(&fixture.at("x"), |header| header["share"] = share);
        let shown = weigh("--from x").within(fixture.path()).run();
        assert!(shown.complaint().contains("share"), "{}", shown.complaint());
        assert_eq!(shown.code(), 2);
    }
}

/// weigh reads only what it can read quickly: JSON is for other programs, and ncdu converts its own binary form.
#[test]
fn what_weigh_does_not_read_says_what_to_do() {
    let fixture = varied();
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    let printed = run("-j top").clean();
    fs::write(fixture.at("x.json"), printed).unwrap();
    fs::write(fixture.at("binary"), b"\xbfncduEX1\0\0\0\x08\0\0").unwrap();
    for (file, why) in [
        (
            "x.json",
            "it is JSON from weigh, which is for other programs\nhint: weigh reads snapshots: weigh --save FILE.weigh PATH",
        ),
        (
            "binary",
            "it is a binary export of ncdu\nhint: `ncdu -f FILE -o -` makes JSON of it, which weigh reads",
        ),
    ] {
        for flags in ["--from", "diff top --since", "history", "--from x --from"] {
            run("top -q --save x");
            let shown = run(&format!("{flags} {file}"));
            let expected = format!("weigh: error: cannot load {file}: {why}\n");
            assert_eq!((shown.code(), shown.complaint()), (2, expected), "{flags}");
            assert!(shown.stdout.is_empty());
        }
    }
}

/// weigh writes JSON to standard output only, and .weigh files are compressed already.
#[test]
fn a_name_of_another_format_is_refused() {
    let fixture = varied();
    for name in ["x.json", "x.json.zst", "x.JSON.GZ", "place/x.gz"] {
        let shown = weigh("top --save").arg(name).within(fixture.path()).run();
        let expected = "weigh: error: --save writes .weigh files, which are compressed already\n\
            hint: end the name in .weigh; weigh -j >FILE.json writes JSON for other programs\n";
        assert_eq!((shown.code(), shown.complaint().as_str()), (2, expected), "{name}");
        assert!(!fixture.at(name).exists());
    }
    for name in ["x", "x.weigh", "x.snapshot"] {
        weigh("top -q --save").arg(name).within(fixture.path()).run().clean();
        assert!(fixture.bytes(name).starts_with(saved::MAGIC), "{name}");
    }
}

#[test]
fn a_chain_deeper_than_any_stack_comes_back() {
    native_only!("paths are bounded there");
    let fixture = Fixture::in_memory().chain("d", deeper_than_any_stack(), 10);
    let file = fixture.at("snapshot.weigh");
    let direct = weigh("-j -s").arg(fixture.at("d")).run().clean();
    weigh("-s -n 5 --save").arg(&file).arg(fixture.at("d")).run().clean();
    assert_eq!(weigh("-j --from").arg(&file).run().clean(), direct);
    weigh("-s -n 5 --from").arg(&file).run().clean();
}

fn drafts(place: &Path) -> usize {
    let names = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.as_bytes().starts_with(b".weigh-draft-of-")).count()
}

#[test]
fn killed_at_any_moment_it_leaves_the_old_file_whole() {
    kill("snapshot.weigh", 12);
}

#[test]
#[ignore = "takes minutes"]
fn killed_a_hundred_times_it_leaves_the_old_file_whole() {
    kill("snapshot.weigh", 100);
}

fn kill(name: &str, count: usize) {
    let mut fixture = Fixture::in_memory();
    for i in 0..20_000 {
        fixture = fixture.sparse(format!("top/{}/{i}", i % 100), 1);
    }
    let place = Fixture::new();
    let file = place.at(name);
    let save = || weigh("-n 1 -P --save").arg(&file).arg(fixture.at("top"));
    save().run().clean();
    let old = fs::read(&file).unwrap();
    let (mut dice, mut left) = (Dice::new(3), 0);
    for _ in 0..count {
        let mut child = save().spawn();
        std::thread::sleep(Duration::from_micros(dice.below(120_000) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(drafts(place.path()) <= 1);
        left += drafts(place.path());
        let now = fs::read(&file).unwrap();
        // All but the time is the same, be it the old one or, where it came too late, the new one.
        assert!(now.len().abs_diff(old.len()) < 16);
        assert_eq!(weigh("-j --from").arg(&file).run().code(), 0);
    }
    eprintln!("{left} of {count} left a draft");
    save().run().clean();
    assert_eq!(drafts(place.path()), 0, "the next one clears it");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
}

#[test]
fn only_what_is_left_behind_is_cleared() {
    let fixture = varied();
    let file = fixture.at("snapshot");
    let stale = fixture.at(".weigh-draft-of-snapshot-abcdef");
    let other = fixture.at(".weigh-draft-of-another-abcdef");
    fs::write(&stale, "half").unwrap();
    fs::write(&other, "half").unwrap();
    weigh("--save").arg(&file).arg(fixture.at("top")).run().clean();
    assert!(!stale.exists() && other.exists() && file.exists());
    let busy = fs::File::create(&stale).unwrap();
    rustix::fs::flock(&busy, rustix::fs::FlockOperation::LockExclusive).unwrap();
    weigh("--save").arg(&file).arg(fixture.at("top")).run().clean();
    assert!(stale.exists(), "somebody writes it");
}

/// A run locks the draft that it has just made. If it got the lock right before the draft is removed, it would save
/// nothing.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs strace"]
fn nobody_gets_the_lock_of_a_draft_that_is_about_to_be_removed() {
    let fixture = varied();
    let stale = fixture.at(".weigh-draft-of-snapshot-abcdef");
    fs::write(&stale, "half").unwrap();
    let unlink = "inject=unlink,unlinkat:delay_enter=2000000";
    let strace = ["strace", "-f", "-qq", "-e", "trace=flock,unlink,unlinkat", "-e", unlink, "-o"];
    let strace = strace.map(Into::into).into_iter().chain([fixture.at("calls").into_os_string()]);
    let save = weigh("--save").arg(fixture.at("snapshot")).arg(fixture.at("top"));
    let mut child = save.under(strace).spawn();
    while !fs::read_to_string(fixture.at("calls")).is_ok_and(|calls| calls.contains("LOCK_NB)")) {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let draft = fs::File::open(&stale).unwrap();
    let lock = rustix::fs::flock(&draft, rustix::fs::FlockOperation::NonBlockingLockExclusive);
    assert_eq!(lock, Err(rustix::io::Errno::WOULDBLOCK));
    assert!(child.wait().unwrap().success() && !stale.exists());
}

#[test]
fn a_snapshot_that_cannot_be_saved_is_shown_and_said() {
    let fixture = varied();
    for (file, is_shown) in
        [("/dev/full", true), ("/no/such/place/snapshot", false), ("/usr", false)]
    {
        let shown = weigh("--save").arg(file).arg(fixture.at("top")).run();
        assert_eq!(shown.code(), 1);
        // Nothing is walked in vain.
        assert_eq!(!shown.stdout.is_empty(), is_shown);
        let complaint = shown.complaint();
        assert!(
            complaint.starts_with(&format!("weigh: error: cannot save {file}: ")),
            "{complaint}"
        );
        assert_eq!(shown.messages(), 1);
    }
    assert!(!Path::new("/dev/full").is_file());
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs root"]
fn a_full_file_system_leaves_the_old_file_whole() {
    let mut fixture = varied().dir("small");
    let mut dice = Dice::new(1);
    for _ in 0..1000 {
        fixture = fixture.sparse(format!("top/{}", dice.below(usize::MAX)), 1);
    }
    for name in ["snapshot", "snapshot.weigh"] {
        let script = format!(
            "mount -t tmpfs -o size=8k none small; \"$0\" --save small/{name} small > /dev/null
            cp small/{name} old
            \"$0\" -j --save small/{name} top > /dev/null; echo $? >&2
            ls -A small; cmp small/{name} old"
        );
        let output = in_namespace(&fixture, &script);
        assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{name}\n"));
        let complaint = String::from_utf8(output.stderr).unwrap();
        let said = format!("weigh: error: cannot save small/{name}: No space left on device\n1\n");
        assert!(complaint.ends_with(&said), "{complaint}");
    }
}

#[test]
fn a_pipe_is_written_to_and_read_from() {
    let fixture = varied().fifo("pipe");
    let direct = weigh("-j").arg(fixture.at("top")).run().clean();
    let (from, to) = (fixture.at("pipe"), fixture.at("pipe"));
    let saving = weigh("-j --save").arg(to).arg(fixture.at("top")).spawn();
    assert_eq!(weigh("-j --from").arg(from).run().clean(), direct);
    let mut printed = saving.wait_with_output().unwrap().stdout;
    take_place(&mut printed);
    assert_eq!(printed, direct);
}

#[test]
fn a_snapshot_replaces_a_walk() {
    for flags in ["--from x top", "--from x -x", "--from x -L", "--from x -T 2", "--details"] {
        assert_eq!(weigh(flags).run().code(), 2, "weigh {flags}");
    }
}
