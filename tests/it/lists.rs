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
    let lines = rest.lines().skip(1);
    let lines: Vec<_> =
        lines.take_while(|line| !line.starts_with("# ") && !line.starts_with("```")).collect();
    lines.join("\n")
}

/// Names that look like something else in listings made for people.
const MISLEADING: [&[u8]; 19] = [
    b"big -> z",
    b"a link to b",
    b"new\nline",
    b"0\n999999999 fake",
    b"\n",
    b"tab\tname",
    b"\t7",
    b"carriage\r99\treturn",
    b"ends so\r",
    b"\"q\"",
    b"'s'",
    b"  leading",
    b"trailing ",
    b"-1",
    b"100 200",
    b"not utf-8 \xff",
    "\u{fc}".as_bytes(),
    b"back\\slash",
    b"a,b;c",
];

/// Files of different sizes with these names in `top`; a hard link, a sparse file, and symlinks that mislead, too.
fn misleading() -> Fixture {
    let mut fixture = Fixture::new().file("top/d/big", 1).sparse("top/sparse", 3 << 20);
    for (size, name) in (1000..).zip(MISLEADING) {
        fixture = fixture.file(raw(&[b"top/d/", name].concat()), size);
    }
    let fixture = fixture.hard_link("top/d/big -> z", "top/hard").dir("top/empty -> d");
    fixture.symlink("e -> f\n5 g", "top/d/c -> d")
}

/// Each path below `prefix` with its size has to be among `shown`.
fn assert_misleading(shown: &[(Vec<u8>, u64)], prefix: &[u8], what: &str) {
    for (size, name) in (1000..).zip(MISLEADING) {
        let expected = ([prefix, name].concat(), size);
        let text = String::from_utf8_lossy(&expected.0).into_owned();
        assert!(shown.contains(&expected), "{what}: {text:?} {size} {shown:?}");
    }
    assert!(shown.contains(&([prefix, b"big"].concat(), 1)), "{what}: {shown:?}");
}

/// Shows `list`, with more `flags`.
fn listed(list: &[u8], flags: &str) -> Shown {
    let fixture = Fixture::new();
    fs::write(fixture.at("list"), list).unwrap();
    weigh(&format!("{flags} --from")).arg(fixture.at("list")).run()
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
        let shown = weigh(flags).within(fixture.path()).args(["--from", "list"]).run();
        assert_eq!(shown.text(), walked.text(), "{flags}");
    }
    let saved = "--details --from list --save saved.weigh -q";
    weigh(saved).within(fixture.path()).run().text();
    let list = String::from_utf8(list).unwrap().replace(" 9000 ", " 9001 ");
    fs::write(fixture.at("now"), &list).unwrap();
    let compared =
        weigh("diff -s -j --since saved.weigh --from now").within(fixture.path()).run().json();
    assert_eq!(compared["change"], 1, "{compared}");
    let again = weigh("-j --from saved.weigh").within(fixture.path()).run().text();
    assert_eq!(again, weigh("-j --from list").within(fixture.path()).run().text());
}

/// Sums are what `du` itself says, of each directory; and so they are without `--from-format du`, from the files alone.
#[test]
fn what_du_lists_is_what_du_says() {
    let fixture = Dice::new(7).tree(Fixture::new(), Names::Tame);
    for name in ["du: apparent", "du: on disk"] {
        let list = sh(&typed(name).replace("DIR", "tree"), fixture.path());
        let shown = listed(&list, "-j --from-format du");
        let found = sizes(&shown.clean());
        let text = String::from_utf8(list).unwrap();
        let lines = text.split_terminator('\0');
        let lines = lines.filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
        let mut count = 0;
        for (size, path) in lines.map(|line| line.split_once('\t').unwrap()) {
            let one = found.iter().find(|(known, _)| known == path.as_bytes());
            assert_eq!(one.map(|it| it.1.to_string()).as_deref(), Some(size), "{path}");
            count += 1;
        }
        assert_eq!(count + 1, found.len(), "{name}");
    }
    let fixture = misleading();
    for (name, flags) in [("du: apparent", "-sb"), ("du: on disk", "-sB1")] {
        let list = sh(&typed(name).replace("DIR", "top"), fixture.path());
        let shown = sizes(&listed(&list, "-j --from-format du").clean());
        let total = String::from_utf8(sh(&format!("du {flags} top"), fixture.path())).unwrap();
        assert_eq!(shown[0].1.to_string(), total.split('\t').next().unwrap());
        if name == "du: apparent" {
            // The first link of an inode has its size.
            let shown: Vec<_> = shown
                .into_iter()
                .map(|(path, size)| match path.as_slice() {
                    b"top/hard" => (b"top/d/big -> z".to_vec(), size),
                    _ => (path, size),
                })
                .collect();
            assert_misleading(&shown, b"top/d/", name);
        }
    }
}

/// Read as their own sizes, the totals of directories would count files several times.
#[test]
fn sizes_of_directories_that_may_be_totals_are_refused() {
    let fixture = Fixture::new().file("t/a/b/f", 5000).file("t/a/g", 700).file("t/h", 60);
    let fixture = fixture.file("other", 10).file("flat/f", 8).dir("t/none");
    let run = |list: &str, flags: &str| listed(&sh(list, fixture.path()), flags);
    for list in ["du -a t", "du -ab t", "du t", "du -ab *", "du -ab t/*", "du -ab flat"] {
        let shown = run(list, "-s");
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{list}");
        assert!(shown.complaint().contains("--from-format du"), "{}", shown.complaint());
        let totals = run(list, "-s -j --from-format du").json()["size"].as_u64();
        assert!(totals < run(list, "-s -j --from-format list").json()["size"].as_u64(), "{list}");
    }
    assert_eq!(run("printf 'disk\tpath\n'; du -aB1 t", "-j").code(), 2);
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
        assert_eq!(run(list, "-s").clean(), run(list, "-s --from-format list").clean(), "{list}");
    }
}

#[test]
fn what_tar_lists_is_what_is_in_it() {
    if !has("python3") {
        return;
    }
    let fixture = Fixture::of_each_kind().file("top/b/a b  c", 700);
    sh("tar --group='domain users:100' -cf x.tar top", fixture.path());
    let typed = typed("tar").replace("FILE", "x.tar");
    let list = sh(&typed, fixture.path());
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
    let list = sh(&typed, fixture.path());
    assert!(listed(&list, "-j").complaint().contains("again"));
    // The links of what came first may have what is in them now.
    let last = sizes(&listed(&list, "-j --from-format tar").clean());
    assert_eq!(last.len(), shown.len());
}

/// Names with blanks, arrows and newlines in them are whole. The archive itself is refused with that line.
#[test]
fn the_short_help_lists_a_tar_archive() {
    let fixture = misleading();
    sh("tar --sort=name -cf F top", fixture.path());
    let help = weigh("-h").run().text();
    let line = help.lines().find(|line| line.starts_with("tar ")).unwrap();
    assert!(line.ends_with(" | weigh --from -"), "{line}");
    let shown = sizes(&sh(&format!("{line} -s -j"), fixture.path()));
    assert_misleading(&shown, b"top/d/", line);
    let files = "find top -type f ! -name hard -printf '%s\n'";
    let files = String::from_utf8(sh(files, fixture.path())).unwrap();
    assert_eq!(shown[0].1, files.lines().map(|size| size.parse::<u64>().unwrap()).sum::<u64>());
    sh("gzip -k F", fixture.path());
    for archive in ["F", "F.gz"] {
        let shown = weigh("--from").arg(fixture.at(archive)).run();
        let said = line.replace("xf F", "xf FILE");
        assert!(shown.complaint().trim_end().ends_with(&said), "{}", shown.complaint());
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{archive}");
    }
}

/// Once, the arrow in a name was taken for that of a symlink.
#[test]
fn names_in_archives_do_not_mislead() {
    let fixture = misleading();
    let files =
        "find top -type f ! -name hard -printf '%s\n' | awk '{ sum += $1 } END { print sum }'";
    let total = String::from_utf8(sh(files, fixture.path())).unwrap();
    let total: u64 = total.trim().parse().unwrap();
    if has("python3") {
        let typed = typed("tar").replace("FILE", "x.tar");
        for form in ["gnu", "pax", "gnu -S", "pax -S", "pax -S --sparse-version=0.1"] {
            sh(&format!("tar --sort=name -cf x.tar --format={form} top"), fixture.path());
            let list = sh(&typed, fixture.path());
            let shown = listed(&list, "-j").clean();
            let shown = sizes(&shown);
            assert_eq!(shown[0].1, total, "{form}: {shown:?}");
            assert!(shown.contains(&(b"top/sparse".to_vec(), 3 << 20)), "{form}: {shown:?}");
            assert_misleading(&shown, b"top/d/", form);
        }
        // What is damaged, or cut off, is no list.
        for damage in [
            "printf x | dd of=x.tar bs=1 seek=514 conv=notrunc 2>/dev/null",
            "truncate -s 9000 x.tar",
        ] {
            sh(&format!("tar -cf x.tar top; {damage}"), fixture.path());
            let list = sh(&format!("{{ {typed}; }} 2>/dev/null || :"), fixture.path());
            assert_eq!(listed(&list, "-j").code(), 2, "{damage}");
        }
    }
    if has("zip") && has("python3") {
        sh("zip -qry x.zip top", fixture.path());
        sh("printf '999999999  2024-01-01 00:00   top/evil\n' | zip -qz x.zip", fixture.path());
        let list = sh(&typed("zip").replace("FILE", "x.zip"), fixture.path());
        let shown = sizes(&listed(&list, "-j").clean());
        // Both links, and what the symlink has.
        assert_eq!(shown[0].1, total + 1000 + 10, "{shown:?}");
        assert_misleading(&shown, b"top/d/", "zip");
    }
}

/// A NUL in a name ended the entry in the list, and what followed was one more.
#[test]
fn names_in_archives_end_at_a_nul() {
    if !has("python3") {
        return;
    }
    let place = Fixture::new();
    let make = r#"python3 -c '
import io, tarfile, zipfile
evil = "a\x00777777\tevil"
with tarfile.open("x.tar", "w", format=tarfile.PAX_FORMAT) as archive:
    for name, kind, size in [("b", b"0", 10), ("c", b"0", 5), ("unknown", b"Z", 700), ("more", b"M", 30), ("d/", b"D", 50)]:
        member = tarfile.TarInfo(name)
        member.type, member.size = kind, size
        if name == "b": member.pax_headers = {"path": evil}
        archive.addfile(member, io.BytesIO(bytes(size)))
with zipfile.ZipFile("x.zip", "w") as archive:
    archive.writestr("Q" * len(evil), bytes(10))
    archive.writestr("c", bytes(5))
data = open("x.zip", "rb").read().replace(b"Q" * len(evil), evil.encode())
open("x.zip", "wb").write(data)
'"#;
    sh(make, place.path());
    let files: &[(&str, u64)] = &[("a", 10), ("c", 5)];
    let of_tar = [files, &[("d", 0), ("more", 30), ("unknown", 700)]].concat();
    for (kind, expected) in [("tar", &*of_tar), ("zip", files)] {
        let list = sh(&typed(kind).replace("FILE", &format!("x.{kind}")), place.path());
        let mut shown = sizes(&listed(&list, "-j").clean());
        let total = shown.remove(0).1;
        assert_eq!(total, expected.iter().map(|(_, size)| size).sum::<u64>(), "{kind}: {shown:?}");
        shown.sort();
        assert_eq!(shown, known(expected), "{kind}");
    }
}

/// Several are in one line, and the last of them counts, whatever the others are.
#[test]
fn the_last_of_several_objects_in_one_line_counts() {
    for sizes in [[9, 3, 5], [3, 5, 9], [9, 5, 3], [5, 300, 4]] {
        let object = |size: &u64| format!(r#"{{"path":"a","size":{size}}}"#);
        let objects = sizes.iter().map(object).collect::<Vec<_>>();
        for list in [objects.concat(), format!("[{}]", objects.join(","))] {
            let last = listed(list.as_bytes(), "-j -s --from-format tar").document();
            assert_eq!(last.node("a").size, sizes[2], "{list:?}");
        }
    }
}

/// Once, a carriage return in a name ended the row, and what follows was another.
#[test]
fn rows_end_as_the_header_does() {
    let both = |list: &[u8], expected: &[(&str, u64)]| {
        let text = String::from_utf8_lossy(list);
        assert_eq!(sizes(&listed(list, "-j").clean()), known(expected), "{text:?}");
    };
    for end in ["\n", "\r\n"] {
        let name = [("", 8192), ("x\r100000000\ty", 8192)];
        both(format!("size\tpath{end}8192\tx\r100000000\ty{end}").as_bytes(), &name);
        both(
            format!("path\tsize{end}x\r100000000 y\t8192{end}").as_bytes(),
            &[("", 8192), ("x\r100000000 y", 8192)],
        );
        let quoted = format!("x\r{end}9");
        for comma in [",", ";"] {
            let list =
                format!("path{comma}size{end}\"x\r{end}9\"{comma}8192{end}x\r1{comma}2{end}");
            both(list.as_bytes(), &[("", 8194), (&*quoted, 8192), ("x\r1", 2)]);
        }
        // At its end, too, with an empty line after it.
        both(
            format!("size\tpath{end}5\tx{end}7\tIcon\r{end}{end}").as_bytes(),
            &[("", 12), ("Icon\r", 7), ("x", 5)],
        );
        both(
            format!("size,path{end}5,\"x\"{end}7,\"Icon\r\"{end}").as_bytes(),
            &[("", 12), ("Icon\r", 7), ("x", 5)],
        );
        // The last row may lack its end.
        both(format!("size\tpath{end}5\tx").as_bytes(), &[("", 5), ("x", 5)]);
    }
    // A number has no carriage return in it.
    both(b"path,size\na,5\r\nb,6\n", &[("", 11), ("a", 5), ("b", 6)]);
    both(b"path,size\r\na,5\nb,6\r\n", &[("", 11), ("a", 5), ("b", 6)]);
    // NUL.
    both(b"size\tpath\x005\tx\r\n6\ty\x007\tz\r\x00", &[("", 12), ("x\r\n6\ty", 5), ("z\r", 7)]);
    for (list, said) in [
        (
            &b"size\tpath\r\n5\tx\n100000000\ty\r\n"[..],
            "line 2: it does not end in a carriage return",
        ),
        (b"size\tpath\n5\tx\r\n6\ty\r\n", "all lines but the first end in a carriage return"),
        (b"size\tpath\x005\tx\x006\ty", "line 3: it is cut off"),
        (b"size\tpath\n5\tx\x00\n", "line 2: an entry with a NUL in its name"),
    ] {
        let shown = listed(list, "-j");
        assert!(shown.complaint().contains(said), "{list:?}: {}", shown.complaint());
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{list:?}");
    }
}

/// Once, one of them refused the whole list. In Google Drive, rclone knows no size of documents.
#[test]
fn sizes_that_are_not_known_are_lower_bounds() {
    for list in [
        &b"5\ta/x\n-1\ta/doc\n7\tb/y\n"[..],
        b"size\tpath\n5\ta/x\n-1\ta/doc\n7\tb/y\n",
        b"path,disk\na/x,5\na/doc,-1\nb/y,7\n",
        br#"[{"Path":"a","Size":-1,"IsDir":true},{"Path":"a/x","Size":5,"IsDir":false},
            {"Path":"a/doc","Size":-1,"IsDir":false},{"Path":"b/y","Size":7,"IsDir":false}]"#,
    ] {
        let shown = listed(list, "-j");
        let document = Document::parse(&shown.stdout);
        let paths: Vec<_> = document.errors().iter().map(|error| &error["path"]).collect();
        assert_eq!(paths, ["./a/doc"]);
        assert_eq!(document.root().size, 12);
        assert_eq!(shown.code(), 1);
        let said = String::from_utf8(shown.stderr).unwrap();
        assert_eq!(said.matches("./a/doc").count(), 1, "{said}");
        let drawn = listed(list, "-o b");
        let text = String::from_utf8(drawn.stdout).unwrap();
        let marked: Vec<_> = text.lines().filter(|line| line.contains('≥')).collect();
        assert!(marked.len() >= 2, "{text}");
        assert!(!text.lines().any(|line| line.contains("b") && line.contains("≥7")), "{text}");
        // What is saved of it says so, too.
        let fixture = Fixture::new();
        fs::write(fixture.at("list"), list).unwrap();
        let form = "x.weigh";
        weigh(&format!("--from list --save {form} -q")).within(fixture.path()).run();
        let again = weigh(&format!("-j --from {form}")).within(fixture.path()).run();
        assert_eq!((again.code(), again.stdout), (1, shown.stdout.clone()), "{form}");
    }
    // A directory has none of its own.
    for list in [&b"5\ta/x\n-1\ta/\n"[..], b"-1 a\n5 a/x\n", b"-1 a\n5 a\n"] {
        let flags = "-j --from-format tar";
        assert_eq!(listed(list, flags).code(), 0, "{}", String::from_utf8_lossy(list));
    }
    for list in [&b"-2\ta\n"[..], b"path,size\na,-2\n", br#"{"path":"a","size":-2}"#] {
        assert_eq!(listed(list, "-j").code(), 2, "{}", String::from_utf8_lossy(list));
    }
}

/// In Google Drive, a directory may have several files, and several directories, of one name.
#[test]
fn all_entries_of_one_path_are_counted() {
    let list = b"5\ta/x\n7\ta/x\n70\ta/x\n1\ta/y\n-1\tb/\n-1\tb/\n3\tb/z\n2\tc\n4\tc/d\n";
    let shown = listed(list, "-j --from-format drive");
    let expected =
        [("", 92), ("a", 83), ("a/x", 82), ("a/y", 1), ("b", 3), ("b/z", 3), ("c", 6), ("c/d", 4)];
    assert_eq!(sizes(&shown.clean()), known(&expected));
    assert_eq!(listed(list, "-f -j --from-format drive").json()["size"], 6);
    // The order does not matter, nor does it that a file has the name of a directory.
    let mixed = "7 a\n-1 a/\n50 a/x\n1 a\n";
    let parts: Vec<_> = mixed.split_inclusive('\n').collect();
    for turn in 0..4 {
        let turned = [&parts[turn..], &parts[..turn]].concat().concat();
        let shown = listed(turned.as_bytes(), "-j --from-format drive");
        assert_eq!(sizes(&shown.clean()), known(&[("", 58), ("a", 58), ("a/x", 50)]), "{turned}");
    }
    let shown = listed(b"5 a\n-1 a\n", "-j --from-format drive");
    assert_eq!((shown.code(), Document::parse(&shown.stdout).root().size), (1, 5));
    assert!(listed(b"5 a\n5 a\n", "-j").complaint().contains("drive counts both"));
    let linked = b"path,size,inode,links\na,5,1,2\na,5,1,2\nb,5,1,2\n";
    assert_eq!(listed(linked, "-j --from-format drive").json()["size"], 5);
    // Kept and compared as one entry.
    let fixture = Fixture::new();
    fs::write(fixture.at("list"), list).unwrap();
    let form = "x.weigh";
    let save = format!("--from list --from-format drive --save {form} -q");
    weigh(&save).within(fixture.path()).run().text();
    let again = weigh(&format!("-j --from {form}")).within(fixture.path()).run().clean();
    assert_eq!(again, listed(list, "-j --from-format drive").clean(), "{form}");
}

#[test]
fn objects_are_entries() {
    let expected = [("", 30), ("a", 23), ("a/b\n", 23), ("c", 7)];
    for list in [
        r#"[{"path":"a/b\n","size":23},{"path":"c","size":7}]"#,
        "{\"path\":\"a/b\\n\",\"size\":23}\n{\"path\":\"c\",\"size\":7}\n",
        r#" [ { "Key" : "a\/b\u000a" , "Size" : 23, "Other": [{"path":"z"}] } ] [{"Key":"c","Size":7}]"#,
        r#"{"name":"b","path":"./a/b\n","size":23,"type":"file"}{"path":"c","size":7,"type":null}"#,
    ] {
        assert_eq!(sizes(&listed(list.as_bytes(), "-j").clean()), known(&expected), "{list}");
    }
    let times = br#"[{"Key":"a","Size":5,"LastModified":"2026-11-23T10:00:00+00:00"},{"Key":"b","Size":5,"LastModified":1700000000.5}]"#;
    assert_eq!(listed(times, "-m m -j").json()["size"], 1_795_428_000);
    let some = br#"[{"Key":"a","Size":5,"LastModified":"2026-11-23T10:00:00+00:00"},{"Key":"b","Size":5,"LastModified":null}]"#;
    assert!(listed(some, "-m m -j").complaint().contains("the list has no times"));
    let linked =
        br#"[{"path":"a","disk":5,"inode":7,"links":2},{"path":"b","disk":5,"inode":7,"links":2}]"#;
    assert_eq!(listed(linked, "-j").json()["size"], 5);
    for (list, said) in [
        (r"[]", "nothing is in the list"),
        (r"{}", "line 1: no path"),
        ("[\n{\"path\":\"a\",\"size\":1},\n{\"path\":\"b\"}]", "line 3: no size"),
        (r#"{"path":"a","size":null}"#, "line 1: no size"),
        (r#"{"path":"a","size":"5"}"#, "line 1: no size"),
        (r#"{"path":"a","size":5.5}"#, "line 1: no whole number"),
        (r#"{"path":"a","size":18446744073709551616}"#, "line 1: no whole number"),
        (r#"[{"path":"a","size":5}"#, "line 1: it ends too early"),
        (r#"{"path":"a","size":5"#, "line 1: it ends too early"),
        (r#"{"path":"a\u0000b","size":5}"#, "line 1: an entry with a NUL in its name"),
        (r#"{"path":"a/../b","size":5}"#, "line 1: an entry that is called .."),
        (r#"{"path":"","size":5}"#, "line 1: no path"),
        (r#"{"path":"a","size":5,"time":"now"}"#, "line 1: a time that is neither"),
        (
            r#"{"path":"a","size":1}{"path":"b","disk":1}"#,
            "some entries have a size, and others only disk",
        ),
        (r#"{"path":"a","size":1,"type":"file"}{"path":"a/b","size":1}"#, "it is no directory"),
        (r#"[["a",5]]"#, "line 1: no object with path and size"),
    ] {
        let shown = listed(list.as_bytes(), "-j");
        assert!(shown.complaint().contains(said), "{list}: {}", shown.complaint());
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{list}");
    }
}

/// rclone writes other characters for those that it does not allow in names.
#[test]
fn what_rclone_lists_is_what_it_says() {
    if !has("rclone") {
        return;
    }
    let fixture = misleading();
    let prefix = "export RCLONE_CONFIG=rclone.conf; touch rclone.conf";
    let typed = typed("rclone").replace("REMOTE:", "top");
    let list = sh(&format!("{prefix}; {typed} 2>/dev/null"), fixture.path());
    let total = sh(&format!("{prefix}; rclone size --json top 2>/dev/null"), fixture.path());
    let total: serde_json::Value = serde_json::from_slice(&total).unwrap();
    let shown = listed(&list, "-j").json();
    assert_eq!(shown["size"], total["bytes"]);
    assert_eq!(listed(&list, "-f -j").json()["size"], total["count"]);
}

/// What programs printed earlier (`tests/exports/README.md`), whichever are here.
#[test]
fn real_lists_come_to_what_is_in_them() {
    for (name, links) in [("restic-0.14-ls.json", 3), ("rclone-1.60-lsjson.json", 3)] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exports").join(name);
        let shown = weigh("-j --from").arg(&file).run();
        let expected = links * 5_000_000 + 1 + 700 + 2 + 1_048_576;
        assert_eq!((shown.code(), shown.json()["size"].as_u64()), (0, Some(expected)), "{name}");
        assert_eq!(weigh("-f -j --from").arg(&file).run().json()["size"], links + 4, "{name}");
        let newest = weigh("-m m -j --from").arg(&file).run().json();
        assert!(newest["size"].as_u64().unwrap() >= 1_795_877_439, "{name}: {newest}");
    }
}

/// What restic prints of `latest`, of a backup of `top`.
fn restic(fixture: &Fixture, command: &str) -> Vec<u8> {
    let prefix = "export RESTIC_PASSWORD=x RESTIC_REPOSITORY=repo RESTIC_CACHE_DIR=cache";
    sh(&format!("{prefix}; {command}"), fixture.path())
}

#[test]
fn what_restic_lists_is_what_is_in_a_backup() {
    if !has("restic") {
        return;
    }
    let fixture = misleading();
    restic(&fixture, "restic init -q; restic backup -q top");
    let list = restic(&fixture, &typed("restic"));
    let shown = sizes(&listed(&list, "-j").clean());
    let files = "find top -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }'";
    let total = String::from_utf8(sh(files, fixture.path())).unwrap();
    assert_eq!(shown[0].1.to_string(), total.trim(), "{shown:?}");
    assert!(shown.iter().any(|(path, size)| path.ends_with(b"/d/new\nline") && *size == 1002));
    let times = listed(&list, "-m m -j").json();
    assert!(times["size"].as_u64().unwrap() > 1_700_000_000, "{times}");
}

#[test]
fn what_zip_lists_is_what_is_in_it() {
    if !has("unzip") || !has("zip") || !has("python3") {
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
    let misleading = misleading();
    sh(make, &misleading.at("top/d"));
    let shown = sizes(&listed(&sh(&typed("git: a commit"), &misleading.at("top/d")), "-j").clean());
    assert_misleading(&shown, b"", "git");
    // Without sed, git prints the mode first, which is no size.
    for modes_first in [
        "git ls-tree -lr HEAD",
        "git ls-tree -lrz HEAD",
        "git ls-tree -r HEAD",
        "git ls-tree -r --abbrev=4 HEAD",
        "git ls-files -s",
    ] {
        let shown = listed(&sh(modes_first, &fixture.at("top")), "-j");
        let said = "line 1 does not begin with a size and a path";
        assert!(shown.complaint().contains(said), "{modes_first}: {}", shown.complaint());
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{modes_first}");
    }
    // git ends a path at a newline: here, after a slash.
    let cut = Fixture::new().file("top/s/\nx", 5);
    sh(make, &cut.at("top"));
    for place in [fixture.at("top"), misleading.at("top/d"), cut.at("top")] {
        let list = sh(&typed("git: each version"), &place);
        let total = "git cat-file --batch-all-objects --batch-check='%(objectsize:disk)'";
        let total = sh(&format!("{total} | awk '{{ sum += $1 }} END {{ print sum }}'"), &place);
        let shown = listed(&list, "-j").json();
        assert_eq!(shown["size"].to_string(), String::from_utf8(total).unwrap().trim());
    }
}

#[test]
fn what_dpkg_lists_is_what_it_says() {
    if !has("dpkg-query") {
        return;
    }
    let place = Fixture::new();
    let list = sh(&typed("dpkg"), place.path());
    let total = "dpkg-query -Wf '${db:Status-Status} ${Installed-Size}\\n' | awk '/^installed/ { sum += $2 } END { print sum }'";
    let total: u64 = String::from_utf8(sh(total, place.path())).unwrap().trim().parse().unwrap();
    assert_eq!(listed(&list, "-j").json()["size"], total * 1024);
}

/// What programs print that are seldom at hand, as their documentation shows it.
#[test]
fn what_other_programs_list_is_read() {
    for (name, printed, expected) in [
        (
            "aws",
            r#"[{"path":"a/b\nc","size":10,"time":"2013-09-02T21:37:53+00:00"},{"path":"d","size":7,"time":"2013-09-02T21:37:53.000Z"}]"#,
            [("a/b\nc", 10), ("d", 7)],
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
    const LINES: usize = 250_000;
    let line = |number: usize| {
        let long = "x".repeat(400);
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
    let totals = listed(b"10 a/b\n13 a\n20 .\n", "-j --from-format du").clean();
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
    let said = "it has disk usage, and no apparent sizes\nhint: show disk usage";
    assert!(disk.complaint().trim_end().ends_with(said), "{}", disk.complaint());
    // What is saved of it knows no more.
    let fixture = Fixture::new();
    fs::write(fixture.at("list"), list).unwrap();
    let form = "x.weigh";
    let save = format!("--from list --save {form} -q");
    weigh(&save).within(fixture.path()).run().text();
    let load = |flags: &str| weigh(&format!("{flags} --from {form}")).within(fixture.path()).run();
    assert_eq!(load("-j").text(), listed(list, "-j").text());
    assert_eq!(load("-f -j").json()["size"], 1);
    assert!(load("-m m").complaint().contains("no times"));
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
        (&b""[..], "it is empty"),
        (b"5 a\n6 a\n", "line 2: the path of line 1 again"),
        (b"5 a\n6 ./a\n", "line 2: the path of line 1 again"),
        (b"5 a\n6 a/\n", "line 2: the path of line 1 again"),
        (b"1 a\n5 a/../b\n", "line 2: an entry that is called .., as none can be"),
        (b"5 a//b\n", "line 1: a path with an empty name in it: tr -s / makes"),
        (b"5 a//\n", "line 1: a path with an empty name in it: tr -s / makes"),
        (b"5 //a\n6 /a\n", "line 2: the path of line 1 again"),
        (b"5 /\n6 a\n", "line 2: absolute paths among relative ones: put ./"),
        (b"5 \n", "line 1: no path"),
        (b"5\n", "line 1 does not begin with a size and a path"),
        (b"5 a\n\n", "line 2: it does not begin with a size"),
        (b"1.5K a\n", "line 1 does not begin with a size and a path"),
        (b"18446744073709551616 a\n", "line 1 does not begin with a size and a path"),
        (b"5 a\n5   b\n", "line 2: several blanks after the size"),
        (b"5 a\r\n", "line 1: it ends in a carriage return"),
        (b"5 a\x005 b", "line 2: it is cut off"),
        (b"16E a\n", "line 1 does not begin with a size and a path"),
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
    let totals = listed(b"5 a/b\n4 a\n", "--from-format du").complaint();
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
        br#"[{"path":"a/b","size":5,"time":7,"isdir":false},{"Key":"c","Size":-0,"type":"dir"}]"#
            .to_vec(),
        b"size\tpath\r\n5\ta\r\n6\tb\r\n".to_vec(),
    ];
    let (fixture, rounds) = (&fixture, rounds(400, 100_000));
    for_seeds(rounds, |seed| {
        let mut dice = Dice::new(seed);
        let mut list = dice.of(&lists).clone();
        for _ in 0..=dice.below(4) {
            let at = dice.below(list.len().max(1)).min(list.len());
            match dice.below(4) {
                0 => list.truncate(at),
                1 => list.insert(at, *dice.of(b"\0\n\r /.,\"\t09-\xff{}[]:")),
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
        let shown = weigh("-j --from").arg(&file).run();
        fs::remove_file(&file).unwrap();
        let complaint = String::from_utf8_lossy(&shown.stderr).into_owned();
        match shown.code() {
            0 => drop(Document::parse(&shown.stdout)),
            1 => assert!(complaint.contains("(-1)"), "{seed}: {complaint}"),
            2 => assert!(
                complaint.contains(" line ")
                    || complaint.contains("nothing is in the list")
                    || complaint.contains("it is empty")
                    || complaint.contains("may be totals"),
                "{seed}: {complaint}"
            ),
            code => panic!("{seed}: {code}: {complaint}"),
        }
    });
}

/// Whatever its name, compressed or not, in a file and in a pipe.
#[test]
fn content_tells_what_a_file_is() {
    let fixture = Fixture::new().file("top/f", 5000).file("top/d/g", 700);
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    run("-q -s top --save saved").clean();
    let saved = fs::read(fixture.at("saved")).unwrap();
    let export = run("top --as ncdu").clean();
    let before = |start: &[u8], rest: &[u8]| [start, rest].concat();
    let below: String = (0..350).map(|_| "n".repeat(200) + "/").collect();
    let long = |end: &str| format!("7 {below}f{end}8 g{end}").into_bytes();
    let tree = run("-s -j top").json()["size"].as_u64().unwrap();
    let is = |bytes: &[u8], size: u64| (bytes.to_vec(), Ok(size));
    let is_not = |bytes: &[u8], said: &'static str| (bytes.to_vec(), Err(said));
    for (number, (content, expected)) in [
        is(&saved, tree),
        is(&export, tree),
        is(&before(b"\xef\xbb\xbf", &export), tree),
        is(&before(b"\n\r\n \t", &export), tree),
        is(b" [ 1 , 2, {}, [{\"name\":\"/\"}, {\"name\":\"a\",\"asize\":6}]]", 6),
        is(b"5 a\n6 b\n", 11),
        is(b"\xef\xbb\xbf5 a\n", 5),
        is(b"path,size\n\"[1,2\",5\n", 5),
        is(b"{\"path\":\"a\",\"size\":5}\n{\"path\":\"b\",\"size\":6}\n", 11),
        is(b"\n\n [ {\"path\":\"a\",\"size\":5}]", 5),
        is(b"{\"Size\":5,\"schema\":1,\"Key\":\"a\"}", 5),
        is(b"5 [1,2,{\"a\"\n6 {\"schema\":1\n", 11),
        is(b"5 \x89weigh\n", 5),
        is(&long("\n"), 15),
        is_not(&long("\0"), "line 1: "),
        is_not(
            &before(" ".repeat(70_000).as_bytes(), &export),
            "line 1 does not begin with a size",
        ),
        is_not(b"", "it is empty"),
        is_not(b"\xef\xbb\xbf", "it is empty"),
        is_not(b"\n5 a\n", "neither a snapshot, nor an ncdu export, nor a list: line 1 does not"),
        is_not(b"hello", "neither a snapshot"),
        is_not(b"[package]\nname = 'x'\n", "line 1: no object with path and size"),
        is_not(b"{\"a\": [1, 2}", "line 1: "),
        is_not(b"[]", "nothing is in the list"),
        is_not(b"[1, 2, 3]", "it is not a snapshot"),
        is_not(b"\n{ \"schema\": 1}", "it is JSON from weigh"),
        is_not(&saved[..5], "neither a snapshot"),
        is_not(&saved[..50], "it ends too early"),
        is_not(&[0; 4096], "neither a snapshot"),
    ]
    .into_iter()
    .enumerate()
    {
        fs::write(fixture.at("x.tar"), &content).unwrap();
        sh("gzip -kf x.tar; rm -f x.zst; zstd -q x.tar -o x.zst", fixture.path());
        for name in ["x.tar", "x.tar.gz", "x.zst"] {
            let file = weigh("-s -j -d 0 --from").arg(fixture.at(name)).run();
            let pipe = format!("cat {name} | \"$0\" -s -j -d 0 --from -");
            let pipe = weigh("").within(fixture.path()).under(["sh", "-c", &pipe]).run();
            // A .weigh file is compressed already.
            let is_packed = content.starts_with(b"\x89weigh") && name != "x.tar";
            for shown in [file, pipe] {
                let said = shown.complaint();
                match expected {
                    Ok(size) if !is_packed => {
                        assert_eq!(shown.json()["size"], size, "{number} {name}");
                    }
                    Ok(_) => assert!(said.contains("unpack it with gunzip"), "{name}: {said}"),
                    Err(why) => {
                        let is_said = said.contains(why) || is_packed;
                        assert!(is_said && shown.messages() == 1, "{number} {name}: {said}");
                        assert!(matches!(shown.code(), 1 | 2), "{number} {name}");
                        assert!(shown.stdout.is_empty(), "{number} {name}");
                    }
                }
            }
        }
    }
}

/// Whatever their kinds; and an error names the file.
#[test]
fn several_lists_are_one() {
    let fixture = Fixture::new();
    for (name, list) in [
        ("one", "100 a/x\n"),
        ("two", "path,size,owner\na/y,200,7\nb/,0,7\n"),
        ("json", "{\"path\":\"c\",\"size\":4}"),
        ("header", "size,path\n"),
        ("again", "7 z\n1 a/x\n"),
        ("wrong", "5 q\n6\n"),
        ("blocks", "path,disk\nd,8192\n"),
        ("absolute", "5 /a\n"),
    ] {
        fs::write(fixture.at(name), list).unwrap();
    }
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    let shown = run("-j --from one --from two --from json --from header");
    let expected = [("", 304), ("a", 300), ("a/x", 100), ("a/y", 200), ("b", 0), ("c", 4)];
    assert_eq!(sizes(&shown.clean()), known(&expected));
    assert_eq!(run("-j --from-format tar --from one --from again").json()["size"], 8);
    assert_eq!(run("-j --from-format drive --from one --from again").json()["size"], 108);
    for (flags, said) in [
        (
            "--from one --from again",
            "cannot show again: line 2 of file 2: the path of line 1 again",
        ),
        ("--from one --from wrong", "cannot show wrong: line 2: it does not begin with a size"),
        ("--from one --from blocks", "cannot show blocks: it has no size that the lists before"),
        ("--from one --from absolute", "cannot show absolute: line 1: absolute paths among"),
        ("--by owner --from two --from one", "the list has no owners"),
    ] {
        let shown = run(flags);
        assert!(shown.complaint().contains(said), "{flags}: {}", shown.complaint());
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{flags}");
    }
    // A pipe is read once, so what is in it is known too late.
    let piped = weigh("--from one --from -").within(fixture.path());
    let piped = piped.stdin(fs::File::open(fixture.at("again")).unwrap()).run();
    assert!(
        piped.code() == 2 && piped.complaint().contains("cat joins lists"),
        "{}",
        piped.complaint()
    );
}
