//! Schema 1: each key has the right type, and stands where docs/json.md says, and nowhere else.

use serde_json::Value;

use crate::document::Document;
use crate::fixture::Fixture;
use crate::run::weigh;

fn small() -> Fixture {
    Fixture::new()
        .file("top/big", 70_000)
        .file("top/dir/f", 5000)
        .file("top/dir/g", 300)
        .hard_link("top/dir/f", "elsewhere")
        .file("top/dir/sub/h", 20)
        .symlink("dir", "top/link")
        .fifo("top/pipe")
        .dir("top/empty")
}

fn json(fixture: &Fixture, flags: &str) -> Value {
    weigh(flags).arg("top").within(fixture.path()).run().json()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// The names of a node's children, as they come.
fn names(node: &Value) -> Vec<&str> {
    node["children"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect()
}

/// When, on which host, and where, also from a snapshot. A list does not say, and neither does its document.
#[test]
fn the_header_says_when_and_where() {
    let fixture = small();
    let place = |flags: &str, path: &str| {
        let shown = weigh(flags).args([path].iter().filter(|it| !it.is_empty()));
        let place = shown.within(fixture.path()).run().place;
        let place = String::from_utf8(place).unwrap();
        serde_json::from_str::<Value>(&format!("{{{}}}", place.trim_start_matches(','))).unwrap()
    };
    let walked = place("-j", "top");
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let path = fixture.path().canonicalize().unwrap().join("top");
    assert_eq!(walked["host"], host.trim());
    assert_eq!(walked["roots"], serde_json::json!([{ "path": path.to_str().unwrap() }]));
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    assert!(now - walked["time"].as_u64().unwrap() < 600, "{walked}");
    weigh("--save saved.weigh top").within(fixture.path()).run().clean();
    let loaded = place("-j --from saved.weigh", "");
    assert_eq!([&loaded["host"], &loaded["roots"]], [&walked["host"], &walked["roots"]]);
    std::fs::write(fixture.at("list"), "5\ta\n").unwrap();
    assert_eq!(place("-j --from list", ""), serde_json::json!({}));
}

#[test]
fn the_header_stands_beside_the_root() {
    let fixture = small();
    let root = json(&fixture, "-j -s");
    let mut found = keys(&root);
    found.sort_unstable();
    let mut expected = vec![
        "schema", "tool", "version", "measure", "unit", "complete", "name", "kind", "size",
        "entries", "children", "errors", "shared",
    ];
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(root["schema"], 1);
    assert_eq!(root["tool"], "weigh");
    assert_eq!(root["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(root["complete"], true);
    assert_eq!((root["name"].as_str(), root["kind"].as_str()), (Some("top"), Some("directory")));
    assert_eq!(root["size"], 70_000 + 5000 + 300 + 20 + 3);
    assert_eq!(root["entries"], 10);
    assert_eq!(root["shared"], 5000);
    assert_eq!(root["errors"], serde_json::json!([]));
}

#[test]
fn the_measure_and_its_unit_are_named() {
    let fixture = small();
    for (flag, measure, unit) in [
        ("", "disk", "bytes"),
        ("-s", "apparent", "bytes"),
        ("-f", "files", "files"),
        ("--inodes", "inodes", "inodes"),
    ] {
        let root = json(&fixture, &format!("-j {flag}"));
        assert_eq!((&root["measure"], &root["unit"]), (&measure.into(), &unit.into()));
    }
}

#[test]
fn a_node_has_what_its_kind_has_and_no_more() {
    let fixture = small();
    let root = json(&fixture, "-j -s");
    let mut kinds = Vec::new();
    let mut left: Vec<&Value> = root["children"].as_array().unwrap().iter().collect();
    while let Some(node) = left.pop() {
        let name = node["name"].as_str().unwrap();
        let kind = node["kind"].as_str().unwrap();
        kinds.push((name, kind));
        let mut expected = vec!["name", "kind", "size"];
        if kind == "directory" {
            expected.extend(["entries", "children"]);
            left.extend(node["children"].as_array().unwrap());
        }
        // `f` has a link outside, and so has a part of `dir`. For a file, `shared` would only repeat its size.
        if name == "dir" {
            expected.push("shared");
        }
        let mut found = keys(node);
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{name}");
        assert!(node["size"].is_u64(), "{name}");
    }
    kinds.sort_unstable();
    assert_eq!(
        kinds,
        [
            ("big", "file"),
            ("dir", "directory"),
            ("empty", "directory"),
            ("f", "file"),
            ("g", "file"),
            ("h", "file"),
            ("link", "symlink"),
            ("pipe", "other"),
            ("sub", "directory"),
        ]
    );
}

#[test]
fn children_come_largest_first_and_ties_by_name() {
    let fixture = Fixture::new()
        .file("top/b", 10)
        .file("top/a", 10)
        .file("top/Z", 10)
        .file("top/c/f", 10)
        .file("top/large", 11)
        .file("top/\u{e4}", 10)
        .file("top/none", 0);
    let root = json(&fixture, "-j -s");
    assert_eq!(names(&root), ["large", "Z", "a", "b", "c", "\u{e4}", "none"]);
}

#[test]
fn a_default_number_of_lines_does_not_cut_it() {
    let mut fixture = Fixture::new();
    for i in 0..500 {
        fixture = fixture.sparse(format!("top/{i}"), 1);
    }
    assert_eq!(names(&json(&fixture, "-j -s")).len(), 500);
    assert_eq!(names(&json(&fixture, "-j -s -n 40")).len(), 40);
}

#[test]
fn limits_cut_it_and_leave_sizes_alone() {
    let fixture = small();
    let paths = |flags: &str| -> Vec<String> {
        let json = weigh(flags).arg("top").within(fixture.path()).run().clean();
        let document = Document::parse(&json);
        assert_eq!(document.root().size, 75_323, "{flags}");
        assert_eq!(document.root().entries, Some(10), "{flags}");
        let paths = document.by_path().into_keys().map(|path| String::from_utf8(path).unwrap());
        paths.filter(|path| !path.is_empty()).collect()
    };
    assert_eq!(paths("-j -s -n 3"), ["big", "dir", "dir/f"]);
    assert_eq!(paths("-j -s -d 0"), [""; 0]);
    assert_eq!(paths("-j -s -d 1"), ["big", "dir", "empty", "link", "pipe"]);
    assert_eq!(paths("-j -s -z 300"), ["big", "dir", "dir/f", "dir/g"]);
    assert_eq!(paths("-j -s -D"), ["dir", "dir/sub", "empty"]);
    let files = paths("-j -s -F");
    assert_eq!(files.len(), 6, "flat, so a name is a base name or a path from the root: {files:?}");
    assert_eq!(paths("-j -s -d 1 -D"), ["dir", "empty"]);
}

#[test]
fn sizes_are_read_as_they_are_written_elsewhere() {
    let fixture = Fixture::new()
        .sparse("top/999", 999)
        .sparse("top/1000", 1000)
        .sparse("top/1023", 1023)
        .sparse("top/1024", 1024)
        .sparse("top/1500000", 1_500_000)
        .sparse("top/1610612736", 1_610_612_736);
    for (least, expected) in [
        ("1000", 5),
        ("1000b", 5),
        ("1000B", 5),
        ("1kB", 5),
        ("1KB", 5),
        ("1k", 3),
        ("1K", 3),
        ("1KiB", 3),
        ("1kib", 3),
        ("1.5MB", 2),
        ("1.5M", 1),
        ("1.5G", 1),
        ("1.5GiB", 1),
        ("1.6G", 0),
        ("0", 6),
    ] {
        let root = json(&fixture, &format!("-j -s -z {least}"));
        assert_eq!(names(&root).len(), expected, "-z {least}");
    }
}

#[test]
fn full_paths_are_the_root_and_what_is_below_it() {
    let fixture = small();
    let document = weigh("-j -s -p").arg("./top/").within(fixture.path()).run().document();
    assert_eq!(document.root().name, b"./top/");
    let found: Vec<&[u8]> = document.nodes.iter().map(|node| &*node.name).collect();
    assert!(found.contains(&b"./top/dir/sub/h".as_slice()), "{found:?}");
    assert_eq!(found.iter().filter(|name| name.starts_with(b"./top/")).count(), found.len());
}

#[test]
fn it_is_one_line_and_not_coloured() {
    let fixture = small();
    for flags in ["-j", "-j -C", "-j -r", "-j -w 20", "-j -b"] {
        let json = weigh(flags).arg("top").within(fixture.path()).run().clean();
        assert_eq!(json, weigh("-j").arg("top").within(fixture.path()).run().clean(), "{flags}");
    }
}
