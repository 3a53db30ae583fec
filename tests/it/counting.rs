//! What counts, and how often: hard links within and across directories, `-l`, special files,
//! hidden ones, and roots of every kind.

use crate::fixture::Fixture;
use crate::oracle::{self, Eyes, Measure, du};
use crate::run::weigh;

/// `a` and `b` share an inode of 5,000 bytes, which has two links in `a`. `only` is in `a` alone.
fn linked() -> Fixture {
    Fixture::new()
        .file("top/a/first", 5000)
        .hard_link("top/a/first", "top/a/second")
        .hard_link("top/a/first", "top/b/third")
        .file("top/a/only", 70_000)
}

#[test]
fn each_directory_shows_what_du_would_say_of_it_alone() {
    let fixture = linked();
    for measure in ["", "--inodes"] {
        let document = weigh(&format!("-j {measure}")).arg(fixture.at("top")).run().document();
        let flags: &[&str] = if measure.is_empty() { &["-sB1"] } else { &["-s", measure] };
        for dir in ["", "a", "b"] {
            let path = fixture.at("top").join(dir);
            assert_eq!(document.node(dir).size, du(flags, &path), "{measure} {dir}");
        }
    }
}

#[test]
fn shared_is_what_has_links_outside() {
    let fixture = linked();
    let document = weigh("-j -s").arg(fixture.at("top")).run().document();
    let of = |dir| (document.node(dir).size, document.node(dir).shared);
    assert_eq!((of(""), of("a"), of("b")), ((75_000, 0), (75_000, 5000), (5000, 5000)));
    // `a` alone has the same total: the link count shows that there are links outside.
    let alone = weigh("-j -s").arg(fixture.at("top/a")).run().document();
    assert_eq!((alone.root().size, alone.root().shared), (75_000, 5000));
}

/// Threads compare the links of directories that end at the same time.
#[test]
fn many_links_of_many_directories_count_once() {
    let mut fixture = Fixture::new();
    for file in 0..100 {
        fixture = fixture.file(format!("top/d0/{file}"), 5000);
        for directory in 1..30 {
            fixture = fixture.dir(format!("top/d{directory}"));
            let link = format!("top/d{directory}/{file}");
            fixture = fixture.hard_link(format!("top/d0/{file}"), link);
        }
    }
    for threads in [1, 2, 8, 8, 8] {
        let flags = format!("-j -s -T {threads}");
        let document = weigh(&flags).arg(fixture.at("top")).run().document();
        assert_eq!((document.root().size, document.root().shared), (500_000, 0), "{threads}");
        let one = document.node("d7");
        assert_eq!((one.size, one.shared), (500_000, 500_000), "{threads}");
    }
}

#[test]
fn a_picture_says_what_is_shared_from_a_tenth_on() {
    for (own, said) in [(0, true), (45_000, true), (45_001, false)] {
        let fixture = Fixture::new().file("top/d/f", 5000).hard_link("top/d/f", "elsewhere");
        let fixture = fixture.sparse("top/d/own", own);
        let text = weigh("-s -b -c -o b").arg(fixture.at("top")).run().text();
        let dir = crate::picture::lines(&text).into_iter().find(|line| line.name == "d").unwrap();
        assert_eq!(dir.shared, if said { 5000 } else { 0 }, "{text}");
    }
}

#[test]
fn every_place_of_a_link_is_in_the_json_and_one_in_a_picture() {
    let fixture = linked();
    let nodes = weigh("-j").arg(fixture.at("top")).run().document();
    for place in ["a/first", "a/second", "b/third"] {
        assert_eq!(nodes.node(place).kind, "file");
    }
    let cut = weigh("-j -n 100").arg(fixture.at("top")).run().document();
    let paths: Vec<Vec<u8>> = cut.by_path().into_keys().collect();
    assert_eq!(
        paths,
        [b"".to_vec(), b"a".into(), b"a/first".into(), b"a/only".into(), b"b".into()]
    );
}

/// Two directories that share a file were subtracted in full: the line of the rest said ≥0B beside files without links.
#[test]
fn links_of_directories_hide_no_other_files() {
    let fixture =
        Fixture::new().file("top/l/a/data", 900_000).hard_link("top/l/a/data", "top/l/b/data");
    let fixture = (0..100).fold(fixture, |it, i| it.file(format!("top/many/{i}"), 1_000));
    let fixture = (0..2).fold(fixture, |it, i| it.file(format!("top/many/large{i}"), 50_000));
    let shown = weigh("-s -o b -n 6 -w 60").arg(fixture.at("top")).run().text();
    let rest = shown.lines().find(|line| line.contains("smaller entries")).expect("a rest");
    assert!(rest.trim_start().starts_with("≥100000B "), "{shown}");
}

#[test]
fn count_links_counts_every_link() {
    let fixture = linked();
    for flag in ["-l", "--count-links"] {
        let of = |measure| {
            weigh(&format!("-j {flag} {measure}")).arg(fixture.at("top")).run().document()
        };
        let apparent = of("-s");
        assert_eq!(apparent.root().size, 3 * 5000 + 70_000);
        assert_eq!(apparent.node("a").size, 2 * 5000 + 70_000);
        assert_eq!(apparent.node("b").size, 5000);
        assert_eq!((apparent.root().entries, apparent.node("a").entries), (Some(7), Some(4)));
        assert_eq!(of("-f").root().size, 4);
        assert_eq!(of("--inodes").root().size, 7);
        assert_eq!(of("").root().size, du(&["-slB1"], &fixture.at("top")));
    }
    let picture = weigh("-l -s -b -c -p -n 100").arg(fixture.at("top")).run().text();
    assert_eq!(picture.lines().count(), 7, "{picture}");
}

#[test]
fn apparent_size_is_of_files_and_symlinks_only() {
    let fixture = Fixture::new()
        .file("top/f", 5000)
        .symlink("a target of 22 letters", "top/l")
        .dir("top/d")
        .fifo("top/p")
        .socket("top/s")
        .sparse("top/big", 1 << 40);
    let document = weigh("-j -s").arg(fixture.at("top")).run().document();
    assert_eq!(document.root().size, 5000 + 22 + (1 << 40));
    assert_eq!(document.node("d").size, 0);
    let files = weigh("-j -f").arg(fixture.at("top")).run().document();
    assert_eq!(files.root().size, 2);
    assert_eq!(files.root().entries, Some(7));
    let disk = weigh("-j").arg(fixture.at("top")).run().document();
    assert_eq!(disk.node("big").size, 0);
    assert_eq!(disk.root().size, du(&["-sB1"], &fixture.at("top")));
}

/// Opening a FIFO blocks until somebody writes to it.
#[test]
fn special_files_are_never_opened() {
    let fixture = Fixture::new().fifo("top/pipe").socket("top/socket").symlink("pipe", "top/link");
    for flags in ["-j", "-j -L", "-j -s"] {
        let document = weigh(flags).arg(fixture.at("top")).run().document();
        assert_eq!(document.node("pipe").kind, "other", "{flags}");
        assert_eq!(document.node("socket").kind, "other", "{flags}");
    }
    let document = weigh("-j --inodes").arg(fixture.at("top/pipe")).run().document();
    assert_eq!((document.root().kind.as_str(), document.root().size), ("other", 1));
}

#[test]
fn a_root_that_is_a_symlink_to_a_directory_is_followed() {
    let fixture =
        Fixture::new().file("real/f", 5000).symlink("real", "link").symlink("link", "two");
    for root in ["link", "two", "link/"] {
        let document = weigh("-j -s").arg(root).within(fixture.path()).run().document();
        assert_eq!(document.root().kind, "directory", "{root}");
        assert_eq!(document.root().size, 5000, "{root}");
        assert_eq!(document.root().name, root.as_bytes());
    }
    // Below a root a symlink is a symlink.
    let document = weigh("-j -s").arg(fixture.path()).run().document();
    assert_eq!(document.root().size, 5000 + 4 + 4);
    assert_eq!(document.node("link").kind, "symlink");
}

#[test]
fn hidden_entries_count_unless_ignored() {
    let fixture = Fixture::new()
        .file(".root/seen", 1000)
        .file(".root/.f", 200)
        .file(".root/.d/f", 30)
        .file(".root/d/.g", 4);
    let size = |flags| weigh(flags).arg(fixture.at(".root")).run().document().root().size;
    assert_eq!(size("-j -s"), 1234);
    assert_eq!(size("-j -s -i"), 1000);
    let names = weigh("-j -s -i").arg(fixture.at(".root")).run().document();
    let paths: Vec<Vec<u8>> = names.by_path().into_keys().collect();
    assert_eq!(paths, [b"".to_vec(), b"d".into(), b"seen".into()]);
}

#[test]
fn an_empty_directory_weighs_itself() {
    let fixture = Fixture::new().dir("top");
    let root = fixture.at("top");
    let entries = oracle::find(&root, Eyes::Mine);
    for measure in Measure::ALL {
        let flags = format!("-j {}", measure.flag());
        let document = weigh(&flags).arg(&root).run().document();
        let expected = oracle::directories(&entries, measure)[b"".as_slice()];
        assert_eq!((document.root().size, document.root().entries), (expected.size, Some(1)));
        assert!(document.root().children.is_empty());
    }
    let picture = weigh("-s -b -c").arg("top").within(fixture.path()).run().text();
    assert_eq!(picture.lines().count(), 1, "{picture}");
}

/// Sums of sparse files pass 2^64 before a disk does.
#[test]
fn sums_saturate() {
    let len = (1 << 44) - (1 << 12); // As long as a file may be on ext4 with blocks of 4 KiB.
    let mut fixture = Fixture::in_memory();
    // tmpfs allows files of 2^63 bytes and more, other file systems fewer.
    let longest = i64::MAX as u64;
    let long = std::fs::File::create(fixture.at("probe")).unwrap().set_len(longest).is_ok();
    std::fs::remove_file(fixture.at("probe")).unwrap();
    for name in ["top/a", "top/b", "top/c"] {
        fixture = fixture.sparse(name, if long { longest } else { len });
    }
    let run = |flags: &str| weigh(flags).arg(fixture.at("top")).run();
    if !long {
        assert_eq!(run("-j -s").document().root().size, 3 * len);
        return;
    }
    let said = "top: its total is larger than 16 EiB";
    let json = run("-j -s");
    assert_eq!(json.code(), 1);
    assert!(json.complaint().contains(said), "{}", json.complaint());
    let document = crate::document::Document::parse(&json.stdout);
    assert_eq!(document.root().size, u64::MAX);
    let text = String::from_utf8_lossy(&json.stdout).into_owned();
    assert!(text.contains(r#""complete":false"#) && text.contains("EOVERFLOW"), "{text}");
    for flags in ["-s -c -w 80", "-s -c --by type"] {
        let shown = run(flags);
        let text = String::from_utf8_lossy(&shown.stdout);
        assert!(text.contains("≥16.0Ei") && shown.code() == 1, "{flags}: {text}");
        assert!(!text.contains("≥8.00Ei"), "{flags}: {text}");
    }
    let text = String::from_utf8_lossy(&run("-s -c -n 1").stdout).into_owned();
    assert!(text.contains("2 smaller entries"), "{text}");
    // The sum above several PATHs, of which each fits.
    for flags in ["-s -c -w 80", "-s -c --by type"] {
        let paths = ["top/a", "top/b", "top/c"].map(|path| fixture.at(path));
        let shown = weigh(flags).args(paths).run();
        let text = String::from_utf8_lossy(&shown.stdout);
        assert!(text.contains("≥16.0Ei") && shown.code() == 1, "{flags}: {text}");
    }
    // Each fits by itself, and so does what they take on disk.
    assert_eq!(run("-j").document().root().size, du(&["-sB1"], &fixture.at("top")));
    let one = weigh("-j -s").arg(fixture.at("top/a")).run().document();
    assert_eq!(one.root().size, longest);
    for saved in ["saved.weigh"] {
        let saved = fixture.at(saved);
        assert_eq!(weigh("-s --save").arg(&saved).arg(fixture.at("top")).run().code(), 1);
        let shown = weigh("-s -c --from").arg(&saved).run();
        let text = String::from_utf8_lossy(&shown.stdout);
        assert!(text.contains("≥16.0Ei") && shown.code() == 1, "{text}");
        assert!(shown.complaint().contains(said), "{}", shown.complaint());
        // Nothing of it is too large in other measures, or if a filter leaves a file out.
        for flags in ["-f --from", "-s -X a --from"] {
            assert_eq!(weigh(flags).arg(&saved).run().code(), 0, "{flags}");
        }
    }
}
