//! A list shows what the program comes to that made it, in any order of its lines; or it is refused, with the number
//! of the line.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::dice::{Dice, Names};
use crate::document::Document;
use crate::fixture::{Fixture, raw};
use crate::rounds::{for_seeds, rounds};
use crate::run::{Shown, weigh};

/// What a shell prints in `place`, where `weigh` is the program.
fn sh(script: &str, place: &Path) -> Vec<u8> {
    let weigh = format!("weigh() {{ '{}' \"$@\"; }}\n", env!("CARGO_BIN_EXE_weigh"));
    let mut command = Command::new("sh");
    command.args(["-c", &(weigh + "set -e\n" + script)]).current_dir(place);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("LC_ALL", "C").stdin(Stdio::null());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{script}: {said}");
    output.stdout
}

/// Whether there is a program of this name; or if not, says so.
fn has(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
    let has = found.unwrap().status.success();
    if !has {
        eprintln!("there is no {program}");
    }
    has
}

/// What docs/lists.md says to type for what its lines call `name`, up to a colon or a bracket.
fn typed(name: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/lists.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once(&format!("\n# {name}")).expect(name);
    rest.lines().nth(1).unwrap().to_owned()
}

/// Shows `list`, with more `flags`.
fn listed(list: &[u8], flags: &str) -> Shown {
    let fixture = Fixture::new();
    fs::write(fixture.at("list"), list).unwrap();
    weigh(&format!("{flags} --list")).arg(fixture.at("list")).run()
}

/// Each path and its size.
fn sizes(json: &[u8]) -> Vec<(Vec<u8>, u64)> {
    let document = Document::parse(json);
    let by_path = document.by_path().into_iter();
    by_path.map(|(path, node)| (path, node.size)).collect()
}

/// The same, of a few.
fn known(sizes: &[(&str, u64)]) -> Vec<(Vec<u8>, u64)> {
    sizes.iter().map(|(path, size)| (path.as_bytes().to_vec(), *size)).collect()
}

/// The parts of `list` that end in `end`, in an order by chance.
fn shuffled(list: &[u8], end: u8, every: usize, dice: &mut Dice) -> Vec<u8> {
    let parts: Vec<_> = list.split_inclusive(|byte| *byte == end).collect();
    let mut parts: Vec<_> = parts.chunks(every).map(<[_]>::concat).collect();
    for at in (1..parts.len()).rev() {
        parts.swap(at, dice.below(at + 1));
    }
    parts.concat()
}

/// Byte for byte. Find does not know the mount, and reports errors of its own.
#[test]
fn what_find_lists_is_what_the_walk_finds() {
    native_only!("it does not know the links of some entries");
    for_seeds(rounds(20, 200), |seed| {
        let mut dice = Dice::new(seed);
        let fixture = dice.tree(Fixture::new(), Names::Hostile);
        let list = sh("find -H tree -printf \"$(weigh --find-format)\"", fixture.path());
        for flags in ["-j", "-j -s", "-j -f", "-j --inodes", "-F -n 9 -o b", "-t", "-j -m m"] {
            let walked = weigh(flags).within(fixture.path()).arg("tree").run();
            for list in [list.clone(), shuffled(&list, 0, 2, &mut dice)] {
                let shown = listed(&list, flags);
                let text = |shown: &Shown| String::from_utf8_lossy(&shown.stdout).into_owned();
                assert_eq!(text(&shown), text(&walked), "{seed} {flags}");
                assert_eq!(shown.code(), walked.code(), "{seed} {flags}");
            }
        }
    });
}

/// Only a table could have one.
#[test]
fn any_list_may_begin_with_a_byte_order_mark() {
    let fixture = Fixture::new().file("top/a", 5);
    let found = sh("find -H top -printf \"$(weigh --find-format)\"", fixture.path());
    for list in [&found[..], b"5 top/a\n", b"path,size\ntop/a,5\n", b"\"path\";size\ntop/a;5\n"] {
        let marked = [b"\xef\xbb\xbf", list].concat();
        let shown = listed(&marked, "-j -s").clean();
        assert_eq!(shown, listed(list, "-j -s").clean(), "{}", String::from_utf8_lossy(list));
    }
}

#[test]
fn several_roots_of_find_are_those_of_a_walk() {
    let fixture = Fixture::of_each_kind().file("other/x", 3000).file("file", 5);
    let list = sh("find -H top other file -printf \"$(weigh --find-format)\"", fixture.path());
    let walked = weigh("-j").within(fixture.path()).args(["top", "other", "file"]).run();
    assert_eq!(listed(&list, "-j").text(), walked.text());
    let alone = sh("find -H file -printf \"$(weigh --find-format)\"", fixture.path());
    let walked = weigh("-j").within(fixture.path()).arg("file").run();
    assert_eq!(listed(&alone, "-j").text(), walked.text());
}

#[test]
fn lists_have_all_that_find_tells() {
    let fixture = Fixture::of_each_kind().file("top/b/x", 9000).hard_link("top/b/x", "top/y");
    let list = sh("find -H top -printf \"$(weigh --find-format)\"", fixture.path());
    fs::write(fixture.at("list"), &list).unwrap();
    for flags in ["--by owner -o b", "--by type -o b", "--by size -o b", "-v b -o b", "-t -j"] {
        let walked = weigh(flags).within(fixture.path()).arg("top").run();
        let shown = weigh(flags).within(fixture.path()).args(["--list", "list"]).run();
        assert_eq!(shown.text(), walked.text(), "{flags}");
    }
    let saved = "--details --list list --save saved.weigh -q";
    weigh(saved).within(fixture.path()).run().text();
    let list = String::from_utf8(list).unwrap().replace(" 9000 ", " 9001 ");
    fs::write(fixture.at("now"), &list).unwrap();
    let compared =
        weigh("-s -j --since saved.weigh --list now").within(fixture.path()).run().json();
    assert_eq!(compared["change"], 1, "{compared}");
    let again = weigh("-j --load saved.weigh").within(fixture.path()).run().text();
    assert_eq!(again, weigh("-j --list list").within(fixture.path()).run().text());
}

/// Sums are what `du` itself says, of each directory; and so they are without `--list-totals`, from the files alone.
#[test]
fn what_du_lists_is_what_du_says() {
    let fixture = Dice::new(7).tree(Fixture::new(), Names::Tame);
    for name in ["du: apparent", "du: on disk"] {
        let list = sh(&typed(name).replace("DIR", "tree"), fixture.path());
        let shown = listed(&list, "-j --list-totals");
        let found = sizes(&shown.clean());
        let text = String::from_utf8(list).unwrap();
        let lines = text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
        let mut count = 0;
        for (size, path) in lines.map(|line| line.split_once('\t').unwrap()) {
            let one = found.iter().find(|(known, _)| known == path.as_bytes());
            assert_eq!(one.map(|it| it.1.to_string()).as_deref(), Some(size), "{path}");
            count += 1;
        }
        assert_eq!(count + 1, found.len(), "{name}");
    }
}

/// Without the flag, files count again in each directory above them. That is said; and not of what has own sizes.
#[test]
fn totals_without_the_flag_are_noticed() {
    let fixture = Fixture::new().file("t/a/b/f", 5000).file("t/a/g", 700).file("t/h", 60);
    let fixture = fixture.file("other", 10).file("flat/f", 8).dir("t/none");
    let said = |list: &str, flags: &str| {
        let shown = listed(&sh(list, fixture.path()), flags);
        assert_eq!(shown.code(), 0, "{list}");
        String::from_utf8(shown.stderr).unwrap()
    };
    for list in ["du -a t", "du -ab t", "du t", "du -ab *", "du -ab t/*", "du -ab flat"] {
        let noticed = said(list, "-s");
        assert!(noticed.contains("--list-totals"), "{list}: {noticed}");
        assert_eq!(noticed.lines().count(), 1, "{noticed}");
        assert_eq!(said(list, "-s --list-totals"), "", "{list}");
    }
    assert!(said("printf 'disk\tpath\n'; du -aB1 t", "-j").contains("--list-totals"));
    for list in [
        "find t -printf '%s %p\n'",
        "find -H t flat -printf \"$(weigh --find-format)\"",
        "find t -type f -printf '%s %p\n'",
        "printf '0 t/\n5 t/a\n'",
        // Keys of a bucket, some of which are others with more after them.
        "printf '10 a\n5 a/b\n7 c/d\n6 e/f\n'",
        "printf '0 a\n0 a/b\n'",
        "du -ab other",
    ] {
        assert_eq!(said(list, "-s"), "", "{list}");
    }
}

#[test]
fn what_tar_lists_is_what_is_in_it() {
    let fixture = Fixture::of_each_kind().file("top/b/a b  c", 700);
    // On machines in a domain, names of groups have spaces.
    sh("tar --group='domain users:100' -cf x.tar top", fixture.path());
    let list = sh(&typed("tar").replace("FILE", "x.tar"), fixture.path());
    let shown = sizes(&listed(&list, "-j").clean());
    // Its total: what it extracts, each link once.
    let total = weigh("-s -j").within(fixture.path()).arg("top").run().json()["size"].as_u64();
    let links: u64 = sh("find top -type l -printf '%s\\n'", fixture.path())
        .split(|byte| *byte == b'\n')
        .filter_map(|size| str::from_utf8(size).ok()?.parse::<u64>().ok())
        .sum();
    assert_eq!(Some(shown[0].1 + links), total, "{shown:?}");
    assert!(shown.contains(&(b"top/b/a b  c".to_vec(), 700)), "{shown:?}");
    sh("tar -rf x.tar top/b", fixture.path());
    let list = sh(&typed("tar").replace("FILE", "x.tar"), fixture.path());
    assert!(listed(&list, "-j").complaint().contains("again"));
    // The links of what came first may have what is in them now.
    let last = sizes(&listed(&list, "-j --list-duplicates last").clean());
    assert_eq!(last.len(), shown.len());
}

/// Rows that end in a carriage return alone are in one line, and the last of them counts, whatever the others are.
#[test]
fn the_last_of_several_rows_in_one_line_counts() {
    for sizes in [[9, 3, 5], [3, 5, 9], [9, 5, 3], [5, 300, 4]] {
        let row = |size: &u64| format!("a,{size}\r");
        let rows: String = sizes.iter().map(row).collect();
        for list in [format!("path,size\n{rows}"), format!("path,size\nb,1\r\n{rows}b,2\r\n")] {
            let last = listed(list.as_bytes(), "-j -s --list-duplicates last").document();
            assert_eq!(last.node("a").size, sizes[2], "{list:?}");
        }
    }
}

#[test]
fn what_unzip_lists_is_what_is_in_it() {
    if !has("unzip") || !has("zip") {
        return;
    }
    let fixture = Fixture::new().file("top/a/x  y", 5000).file("top/b", 70).dir("top/empty");
    sh("zip -qr x.zip top", fixture.path());
    let list = sh(&typed("zip").replace("FILE", "x.zip"), fixture.path());
    let total = sh("unzip -l x.zip | tail -n 1", fixture.path());
    let total = String::from_utf8(total).unwrap();
    let shown = listed(&list, "-j").json();
    assert_eq!(shown["size"].to_string(), total.split_whitespace().next().unwrap());
    assert_eq!(shown["entries"], 5);
    assert_eq!(listed(&list, "-f -j").json()["size"], 2);
}

#[test]
fn what_git_lists_is_what_is_in_a_commit() {
    let fixture =
        Fixture::new().file("top/a/x  y", 5000).file("top/\"q\"", 70).file(raw(b"top/\xff\n"), 9);
    let make = "git init -q; git add .; git -c user.name=a -c user.email=a commit -qm a";
    sh(make, &fixture.at("top"));
    sh(
        "echo more > b; git add .; git -c user.name=a -c user.email=a commit -qm b",
        &fixture.at("top"),
    );
    let list = sh(&typed("git: a commit"), &fixture.at("top"));
    let total =
        sh("git ls-tree -lr HEAD | awk '{ sum += $4 } END { print sum }'", &fixture.at("top"));
    let shown = listed(&list, "-j").json();
    assert_eq!(shown["size"].to_string(), String::from_utf8(total).unwrap().trim());
    assert_eq!(shown["entries"], 4);
    let names: Vec<_> = sizes(&listed(&list, "-j").clean()).into_iter().map(|it| it.0).collect();
    for name in [&b"\"q\""[..], b"\xff\n", b"a/x  y"] {
        assert!(names.iter().any(|it| it == name), "{names:?}");
    }
    // Without sed, git prints the mode first, which is no size.
    for modes_first in [
        "git ls-tree -lr HEAD",
        "git ls-tree -lrz HEAD",
        "git ls-tree -r HEAD",
        "git ls-tree -r --abbrev=4 HEAD",
        "git ls-files -s",
    ] {
        let shown = listed(&sh(modes_first, &fixture.at("top")), "-j");
        let said = "line 1: it does not begin with a size";
        assert!(shown.complaint().contains(said), "{modes_first}: {}", shown.complaint());
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{modes_first}");
    }
    let list = sh(&typed("git: each version"), &fixture.at("top"));
    let total = "git cat-file --batch-all-objects --batch-check='%(objectsize:disk)'";
    let total =
        sh(&format!("{total} | awk '{{ sum += $1 }} END {{ print sum }}'"), &fixture.at("top"));
    let shown = listed(&list, "-j").json();
    assert_eq!(shown["size"].to_string(), String::from_utf8(total).unwrap().trim());
}

#[test]
fn what_dpkg_lists_is_what_it_says() {
    if !has("dpkg-query") {
        return;
    }
    let place = Fixture::new();
    let list = sh(&typed("dpkg"), place.path());
    let total = "dpkg-query -Wf '${Installed-Size}\\n' | awk '{ sum += $1 } END { print sum }'";
    let total: u64 = String::from_utf8(sh(total, place.path())).unwrap().trim().parse().unwrap();
    assert_eq!(listed(&list, "-j").json()["size"], total * 1024);
}

/// What programs print that are seldom at hand, as their documentation shows it.
#[test]
fn what_other_programs_list_is_read() {
    for (name, printed, expected) in [
        ("rclone", "5\ta/b c\n70\td\n", [("a/b c", 5), ("d", 70)]),
        (
            "aws",
            "2013-09-02 21:37:53         10 a/b c.txt\n2013-09-02 21:37:53    2863288 foo.zip\n",
            [("a/b c.txt", 10), ("foo.zip", 2_863_288)],
        ),
        (
            "gsutil",
            "     2276224  2012-03-02T19:25:17Z  gs://bucket/a/b c\n        3914  2012-03-02T19:30:27Z  gs://bucket/d\nTOTAL: 2 objects, 2280138 bytes (2.17 MiB)\n",
            [("bucket/a/b c", 2_276_224), ("bucket/d", 3914)],
        ),
        (
            "hdfs",
            "drwxr-xr-x   - alice users          0 2026-01-02 03:04 /a\n-rw-r--r--   3 alice users   12345678 2026-01-02 03:04 /a/b c\n-rw-r--r--   3 alice users          7 2026-01-02 03:04 /d\n",
            [("a/b c", 12_345_678), ("d", 7)],
        ),
        (
            "restic",
            "snapshot 1234 of [/a] at 2026-01-02 03:04:05 by alice@host filtered by []:\ndrwxr-xr-x  1000  1000      0 2026-01-02 03:04:05 /a\n-rw-r--r--  1000  1000   1234 2026-01-02 03:04:05 /a/b c\nlrwxrwxrwx  1000  1000      0 2026-01-02 03:04:05 /d -> b\n",
            [("a/b c", 1234), ("d", 0)],
        ),
        ("borg", "0\ta\x001234\ta/b\nc\x005\td\x00", [("a/b\nc", 1234), ("d", 5)]),
    ] {
        let fixture = Fixture::new().dir("bin");
        fs::write(fixture.at("printed"), printed).unwrap();
        fs::write(fixture.at(format!("bin/{name}")), "#!/bin/sh\ncat printed\n").unwrap();
        let program = fixture.at(format!("bin/{name}"));
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
        let list = sh(&format!("PATH=\"$PWD/bin:$PATH\"\n{}", typed(name)), fixture.path());
        let shown = sizes(&listed(&list, "-j").clean());
        for (path, size) in expected {
            assert!(shown.contains(&(path.as_bytes().to_vec(), size)), "{name} {path}: {shown:?}");
        }
        let sum: u64 = expected.iter().map(|(_, size)| size).sum();
        assert_eq!(shown.iter().map(|(_, size)| size).max(), Some(&sum), "{name}: {shown:?}");
    }
}

/// Several blocks' worth of lines come through files.
#[test]
fn the_order_of_lines_does_not_matter() {
    const LINES: usize = 1_000_000;
    let line = |number: usize| {
        let long = "x".repeat(80);
        format!("{}\t{:02}/{:03}-{long}/{number}\n", number % 999, number % 100, number % 1000)
    };
    let sorted: String = (0..LINES).map(line).collect();
    let mut dice = Dice::new(1);
    let list = shuffled(sorted.as_bytes(), b'\n', 1, &mut dice);
    let size: usize = (0..LINES).map(|number| number % 999).sum();
    for flags in ["-j -d 1", "-n 20 -o b", "-F -n 5"] {
        let shown = listed(&list, flags).text();
        assert_eq!(shown, listed(sorted.as_bytes(), flags).text());
    }
    let shown = listed(&list, "-j -d 0").json();
    assert_eq!((&shown["size"], &shown["entries"]), (&size.into(), &LINES.into()));
}

#[test]
fn directories_are_made_and_have_their_own_sizes() {
    let list = b"10 a/b\n3 a\n5 a/c/d\n7 e/\n";
    let expected = [("", 25), ("a", 18), ("a/b", 10), ("a/c", 5), ("a/c/d", 5), ("e", 7)];
    assert_eq!(sizes(&listed(list, "-j").clean()), known(&expected));
    let shown = listed(list, "-j").json();
    assert_eq!((&shown["entries"], &shown["measure"]), (&4.into(), &"apparent".into()));
    let totals = listed(b"10 a/b\n13 a\n20 .\n", "-j --list-totals").clean();
    let expected = [("", 20), ("a", 13), ("a/b", 10)];
    assert_eq!(sizes(&totals), known(&expected));
}

#[test]
fn csv_names_its_columns() {
    let list = "Bucket;Key;Size;LastModifiedDate;uid;inode;links\r\n\
        b;\"x \"\"y\";10;2026-11-23T10:00:00.000Z;7;1;2\r\n\
        b;z;10;1700000000;8;1;2\r\n\
        b;d/;0;1700000000;8;3;1\r\n";
    let shown = listed(list.as_bytes(), "-j").json();
    assert_eq!((&shown["size"], &shown["entries"]), (&10.into(), &2.into()));
    let owners = listed(list.as_bytes(), "--by owner -j").json();
    assert_eq!(owners["children"].as_array().map(Vec::len), Some(2), "{owners}");
    let newest = listed(list.as_bytes(), "-m m -j").json();
    assert_eq!(newest["size"], 1_795_428_000, "{newest}");
    let disk = listed(b"path\tdisk\tsize\n\"a\"\t4096\t5\n", "-j").json();
    assert_eq!((&disk["size"], &disk["measure"]), (&4096.into(), &"disk".into()));
    assert_eq!(disk["children"][0]["name"], "\"a\"");
    // A quote amid a field is one byte of it, and the last line may lack its end.
    let inch = listed(b"size,path\n5,19\"\n6,\"b\nc\"", "-j").json();
    assert_eq!((&inch["size"], &inch["entries"]), (&11.into(), &2.into()));
}

#[test]
fn what_a_list_does_not_know_is_not_shown() {
    let list = b"5 a\n";
    for (flags, why) in [
        ("-m m", "the list has no times"),
        ("--by owner", "the list has no owners"),
        ("--by age", "the list has no times"),
    ] {
        let shown = listed(list, flags);
        assert!(shown.complaint().trim_end().ends_with(why), "{flags}: {}", shown.complaint());
        assert_eq!(shown.code(), 2, "{flags}");
    }
    let disk = listed(b"path,disk\na,5\n", "-s");
    let said = "it has disk usage, and no apparent sizes: show disk usage";
    assert!(disk.complaint().trim_end().ends_with(said), "{}", disk.complaint());
    // What is saved of it knows no more.
    let fixture = Fixture::new();
    fs::write(fixture.at("list"), list).unwrap();
    for form in ["x.weigh", "x.json"] {
        let save = format!("--list list --save {form} -q");
        weigh(&save).within(fixture.path()).run().text();
        let load =
            |flags: &str| weigh(&format!("{flags} --load {form}")).within(fixture.path()).run();
        assert_eq!(load("-j").text(), listed(list, "-j").text());
        assert_eq!(load("-f -j").json()["size"], 1);
        assert!(load("-m m").complaint().contains("no times"));
    }
}

/// `find //` and `du -a .//` print that. Once, only `//` itself was read.
#[test]
fn several_slashes_at_the_start_are_one() {
    for (several, one) in [
        (&b"1 //\n2 //a\n3 ///a/b\n"[..], &b"1 /\n2 /a/\n3 /a/b\n"[..]),
        (b"1 .//\n2 .//a\n3 .///a/b\n", b"1 .\n2 ./a/\n3 a/b\n"),
    ] {
        assert_eq!(listed(several, "-j").text(), listed(one, "-j").text());
    }
}

/// A date that many programs write for "never". Once, it was none.
#[test]
fn the_last_day_is_a_date() {
    let newest = listed(b"path,size,time\na,1,9999-12-31T23:59:59Z\n", "-m m -j").json();
    assert_eq!(newest["size"], 253_402_300_799_i64, "{newest}");
    assert_eq!(listed(b"path,size,time\na,1,9999-12-31T23:59:59Z\n", "-s -m m").code(), 0);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    for (list, said) in [
        (&b""[..], "nothing is in the list"),
        (b"5 a\n6 a\n", "line 2: the path of line 1 again"),
        (b"5 a\n6 ./a\n", "line 2: the path of line 1 again"),
        (b"5 a\n6 a/\n", "line 2: the path of line 1 again"),
        (b"1 a\n5 a/../b\n", "line 2: an entry that is called .., as none can be"),
        (b"5 a//b\n", "line 1: a path with an empty name in it: tr -s / makes"),
        (b"5 a//\n", "line 1: a path with an empty name in it: tr -s / makes"),
        (b"5 //a\n6 /a\n", "line 2: the path of line 1 again"),
        (b"5 /\n6 a\n", "line 2: absolute paths among relative ones: put ./"),
        (b"5 \n", "line 1: no path"),
        (b"5\n", "line 1: it does not begin with a size"),
        (b"5 a\n\n", "line 2: it does not begin with a size"),
        (b"1.5K a\n", "line 1: it does not begin with a size"),
        (b"18446744073709551616 a\n", "line 1: it does not begin with a size"),
        (b"5 a\n5   b\n", "line 2: several blanks after the size"),
        (b"5 a\r\n", "line 1: it ends in a carriage return"),
        (b"5 a\x005 b", "line 2: it is cut off"),
        (b"16E a\n", "line 1: it does not begin with a size"),
        (b"other,path,size\n,a,5\n,b,x\n", "line 3: size is no whole number"),
        (b"path,size\na,18446744073709551616\n", "line 2: size is too large"),
        (b"path,size,time\na,5,\xff\n", "line 2: time is not UTF-8"),
        (b"path,size,key\na,5,b\n", "line 2: two columns of the header mean the same"),
        (b"path,size\na,\n", "line 2: no size"),
        (b"path,size,disk\na,5,\n", "line 2: no disk"),
        (b"path,size,owner\na,5,\n", "line 2: no owner"),
        (b"path,size\na,5\nb\n", "line 3: the header has 2 columns, and this line 1"),
        (b"path,size\na,5\n\"b,1\n", "line 3: a quote that does not end"),
        (b"size,path\n5,\"a\n6,b\n7,c\n", "line 2: a quote that does not end"),
        (b"size,path\n5,\"a\n6,b", "line 2: a quote that does not end"),
        (b"find 1 2 3\0x\0", "line 1: not what find prints"),
    ] {
        let shown = listed(list, "-j");
        let what = String::from_utf8_lossy(list);
        assert!(shown.complaint().contains(said), "{what}: {}", shown.complaint());
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{what}");
    }
    let totals = listed(b"5 a/b\n4 a\n", "--list-totals").complaint();
    assert!(
        totals.contains("line 2: its total is less than the sizes of what is in it"),
        "{totals}"
    );
}

/// What is below two roots would count twice.
#[test]
fn a_root_in_another_is_refused() {
    let fixture = Fixture::new().file("t/a/x", 5000).file("t/b", 5000).file("other/c", 5000);
    let fixture = fixture.hard_link("t/b", "other/b");
    for roots in ["t t/a", "t/a t", "t t/", "t ./t", "t t/a/x", "other t t/a"] {
        let list = format!("find -H {roots} -printf \"$(weigh --find-format)\"");
        let shown = listed(&sh(&list, fixture.path()), "-j");
        let said = "one of the PATHs is in another, or the same";
        assert!(shown.complaint().contains(said), "{roots}: {}", shown.complaint());
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{roots}");
    }
    let list = "find -H t other other/b -printf \"$(weigh --find-format)\"";
    assert_eq!(listed(&sh(list, fixture.path()), "-f -j").json()["size"], 3);
}

#[test]
fn roots_are_bounded() {
    let root = |name: char| {
        let (number, long) = (u32::from(name), name.to_string().repeat(6 << 20));
        format!("find 1 {number} 1 8 5 1.0 1.0 1.0 0 0 644 f {long}\0\0")
    };
    assert_eq!(listed(['a', 'b'].map(root).concat().as_bytes(), "-j -d 0").code(), 0);
    let said = listed(['a', 'b', 'c'].map(root).concat().as_bytes(), "-j -d 0").complaint();
    assert!(said.contains("line 3: too many roots"), "{said}");
}

/// A file below a file, a cut, a flipped byte: a tree, or an error that names the line.
#[test]
fn mutated_lists_are_trees_or_errors() {
    let fixture = Dice::new(3).tree(Fixture::new(), Names::Hostile);
    let lists = [
        sh("find -H tree -printf \"$(weigh --find-format)\"", fixture.path()),
        sh("du -ab0 tree", fixture.path()),
        b"path,size,time,owner,inode,links\na/b,5,7,1,2,3\n\"a\nc\",6,2026-01-01,1,2,3\n".to_vec(),
        b"10 a/b\n3K a\n5\ta/c/d\n- e/\n".to_vec(),
    ];
    let (fixture, rounds) = (&fixture, rounds(400, 100_000));
    for_seeds(rounds, |seed| {
        let mut dice = Dice::new(seed);
        let mut list = dice.of(&lists).clone();
        for _ in 0..=dice.below(4) {
            let at = dice.below(list.len().max(1)).min(list.len());
            match dice.below(4) {
                0 => list.truncate(at),
                1 => list.insert(at, *dice.of(b"\0\n /.,\"\t09-\xff")),
                2 if at < list.len() => list[at] = dice.below(256) as u8,
                _ => {
                    let end = (at + dice.below(60)).min(list.len());
                    let part = list[at..end].to_vec();
                    list.splice(at..at, part);
                }
            }
        }
        let file = fixture.at(format!("list{seed}"));
        fs::write(&file, &list).unwrap();
        let shown = weigh("-j --list").arg(&file).run();
        fs::remove_file(&file).unwrap();
        let complaint = String::from_utf8_lossy(&shown.stderr).into_owned();
        match shown.code() {
            0 => drop(Document::parse(&shown.stdout)),
            2 => assert!(
                complaint.contains(": line ") || complaint.contains("nothing is in the list"),
                "{seed}: {complaint}"
            ),
            code => panic!("{seed}: {code}: {complaint}"),
        }
    });
}
