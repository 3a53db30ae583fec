//! Directories of container engines say what they are: images, layers, containers, volumes. The files here are like
//! those that Docker 20.10, podman 4.3 and buildah 1.28 wrote; `.ci/engines` asks the engines themselves.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use crate::document::Document;
use crate::fixture::Fixture;
use crate::run::weigh;

/// Writes `text` to the file at `path`, and makes the directories above it.
fn put(fixture: &Fixture, path: &str, text: &str) {
    let file = fixture.at(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// Two images on a third, an untagged one, two containers, a volume, and what belongs to none of them.
fn docker() -> Fixture {
    let fixture = Fixture::new().file("d/volumes/vol1/_data/f", 7000);
    let layers = [
        ("c1", "", "base"),
        ("c2", "c1", "one"),
        ("c3", "c2", "two"),
        ("c4", "c1", "untagged"),
        ("c5", "c1", "unused"),
    ];
    for (chain, parent, name) in layers {
        let at = format!("d/image/overlay2/layerdb/sha256/{chain}");
        put(&fixture, &format!("{at}/diff"), &format!("sha256:of-{name}"));
        put(&fixture, &format!("{at}/cache-id"), &format!("layer-{name}"));
        if !parent.is_empty() {
            put(&fixture, &format!("{at}/parent"), &format!("sha256:{parent}"));
        }
        put(&fixture, &format!("d/overlay2/layer-{name}/diff/{name}"), &"x".repeat(9000));
    }
    put(&fixture, "d/overlay2/cached/diff/f", "x");
    put(&fixture, "d/overlay2/l/AB", "x");
    let images = [
        ("1111", "base", "base:1"),
        ("2222", "base one", "one:1 two/one:latest"),
        ("3333", "base one two", "two:1"),
        ("4444444444444444", "base untagged", ""),
        // What `docker build` leaves between two images. Docker does not show it, and removes it with the upper one.
        ("5555", "base one", ""),
    ];
    for (id, parent) in [("2222", "1111"), ("5555", "2222"), ("3333", "5555")] {
        let at = format!("d/image/overlay2/imagedb/metadata/sha256/{id}/parent");
        put(&fixture, &at, &format!("sha256:{parent}"));
    }
    let mut repositories = serde_json::json!({});
    for (id, layers, tags) in images {
        let diffs: Vec<_> = layers.split(' ').map(|layer| format!("sha256:of-{layer}")).collect();
        let config = serde_json::json!({ "config": { "Env": ["A=secret"] }, "rootfs": { "diff_ids": diffs } });
        put(
            &fixture,
            &format!("d/image/overlay2/imagedb/content/sha256/{id}"),
            &config.to_string(),
        );
        for tag in tags.split_whitespace() {
            let name = tag.split(':').next().unwrap();
            repositories[name] = serde_json::json!({
                tag: format!("sha256:{id}"), format!("{name}@sha256:0f"): format!("sha256:{id}")
            });
        }
    }
    let repositories = serde_json::json!({ "Repositories": repositories });
    put(&fixture, "d/image/overlay2/repositories.json", &repositories.to_string());
    for (id, name, is_running) in [("k1", "/db", true), ("k2", "/job", false)] {
        let config = serde_json::json!({
            "Name": name, "Config": { "Env": ["PASSWORD=secret"] }, "State": { "Running": is_running }
        });
        put(&fixture, &format!("d/containers/{id}/config.v2.json"), &config.to_string());
        let at = format!("d/image/overlay2/layerdb/mounts/{id}");
        put(&fixture, &format!("{at}/mount-id"), &format!("mount-{id}"));
        put(&fixture, &format!("{at}/init-id"), &format!("mount-{id}-init"));
        put(&fixture, &format!("d/overlay2/mount-{id}/diff/f"), "written");
        put(&fixture, &format!("d/overlay2/mount-{id}-init/diff/f"), "first");
    }
    fixture
}

/// An image on another, an untagged one, a container of podman and one of buildah, and a volume.
fn podman() -> Fixture {
    let fixture = Fixture::new().file("s/volumes/vol1/_data/f", 7000);
    for layer in ["a", "b", "c", "k", "unused"] {
        put(&fixture, &format!("s/overlay/{layer}/diff/{layer}"), &"x".repeat(9000));
    }
    put(&fixture, "s/overlay/l/AB", "x");
    let files = [
        (
            "layers",
            r#"[{"id":"a","diff-size":9},{"id":"b","parent":"a"},{"id":"c","parent":"a"},
                {"id":"k","parent":"b"},{"id":"unused","parent":"a"}]"#,
        ),
        (
            "images",
            r#"[{"id":"i1","names":["localhost/base:1"],"layer":"a","metadata":"secret"},
                {"id":"i2","names":["localhost/one:1"],"layer":"b"},
                {"id":"0123456789abcdef","names":null,"layer":"c"}]"#,
        ),
        ("containers", r#"[{"id":"c1","names":["wip"],"image":"i2","layer":"k"}]"#),
    ];
    for (name, json) in files {
        put(&fixture, &format!("s/overlay-{name}/{name}.json"), json);
    }
    for (directory, id) in [("images", "i1"), ("containers", "c1")] {
        put(&fixture, &format!("s/overlay-{directory}/{id}/f"), "x");
    }
    fixture
}

/// The notes below `top`, by path.
fn notes(fixture: &Fixture, top: &str) -> BTreeMap<String, String> {
    let run = weigh("-j").arg(fixture.at(top)).run();
    assert!(!String::from_utf8_lossy(&run.stdout).contains("secret"));
    let document = run.document();
    let nodes = document.by_path();
    let notes = nodes.iter().filter_map(|(path, node)| Some((path, node.note.clone()?)));
    notes.map(|(path, note)| (String::from_utf8(path.clone()).unwrap(), note)).collect()
}

fn expected(notes: &[(&str, &str)]) -> BTreeMap<String, String> {
    notes.iter().map(|(path, note)| ((*path).to_owned(), (*note).to_owned())).collect()
}

#[test]
fn dockers_directories_say_what_they_are() {
    let fixture = docker();
    let all = expected(&[
        ("containers/k1", "container db, running"),
        ("containers/k2", "container job, stopped"),
        ("overlay2/cached", "build cache, or left over"),
        ("overlay2/layer-base", "shared by image base:1 and 3 others"),
        ("overlay2/layer-one", "shared by image one:1, … and another"),
        ("overlay2/layer-two", "image two:1, layer 3 of 3"),
        ("overlay2/layer-untagged", "image 444444444444 (untagged), layer 2 of 2"),
        ("overlay2/layer-unused", "no image uses it"),
        ("overlay2/mount-k1", "container db, running: writable layer"),
        ("overlay2/mount-k1-init", "container db: first layer"),
        ("overlay2/mount-k2", "container job, stopped: writable layer"),
        ("overlay2/mount-k2-init", "container job: first layer"),
        ("volumes/vol1", "volume"),
    ]);
    assert_eq!(notes(&fixture, "d"), all);
    // Its layers alone, too, if their directory is named.
    let layers = notes(&fixture, "d/overlay2");
    assert_eq!(layers.len(), 10);
    assert_eq!(layers["layer-two"], all["overlay2/layer-two"]);
}

#[test]
fn directories_of_containers_storage_say_what_they_are() {
    let all = expected(&[
        ("overlay/a", "shared by image localhost/base:1 and 2 others"),
        ("overlay/b", "image localhost/one:1, layer 2 of 2"),
        ("overlay/c", "image 0123456789ab (untagged), layer 2 of 2"),
        ("overlay/k", "container wip: writable layer"),
        ("overlay/unused", "no image uses it"),
        ("overlay-containers/c1", "container wip"),
        ("overlay-images/i1", "image localhost/base:1"),
        ("volumes/vol1", "volume"),
    ]);
    assert_eq!(notes(&podman(), "s"), all);
}

/// Once, those that the walk came to first had notes.
#[test]
fn among_many_that_look_so_the_first_by_path_have_notes() {
    let fixture = Fixture::in_memory();
    for number in 0..8 {
        let at = format!("top/a{number}/deep/er");
        put(&fixture, &format!("{at}/image/overlay2/repositories.json"), r#"{"Repositories":{}}"#);
        let container = r#"{"Name":"/db","State":{"Running":true}}"#;
        put(&fixture, &format!("{at}/containers/k1/config.v2.json"), container);
        for other in 0..300 {
            fs::create_dir_all(fixture.at(format!("top/b{number}/{other}/overlay2"))).unwrap();
        }
        fs::create_dir_all(fixture.at(format!("{at}/overlay2"))).unwrap();
    }
    for threads in ["1", "2", "4"] {
        let text = weigh("-j -T").arg(threads).arg(fixture.at("top")).run().text();
        assert_eq!(text.matches("container db, running").count(), 8, "{threads}");
    }
}

/// In a picture, in ndjson and in a page, beside the name and never instead of it.
#[test]
fn a_note_stands_beside_the_name() {
    let fixture = docker();
    let shown = |flags: &str| weigh(flags).arg(fixture.at("d")).run().text();
    let picture = shown("-s -w 100 -n 40");
    assert!(picture.contains("layer-two (image two:1, layer 3 of 3)"), "{picture}");
    // Of a note that is too long for the line, a part is left, and of the name.
    let narrow = shown("-s -w 53 -n 40");
    assert!(narrow.contains("laye…two (ima…of 3)"), "{narrow}");
    let rows = shown("--as ndjson -d 2");
    assert!(rows.contains(r#""note":"container db, running""#), "{rows}");
    let page = shown("--as html");
    assert!(page.contains("image two:1, layer 3 of 3"), "{page}");
}

/// What is not known is not said: not that nothing uses a layer, if an image may not have been read.
#[test]
fn nothing_is_said_to_be_unused_unless_everything_was_read() {
    for broken in ["image/overlay2/imagedb/content/sha256/3333", "containers/k2/config.v2.json"] {
        let fixture = docker();
        put(&fixture, &format!("d/{broken}"), "{");
        let notes = notes(&fixture, "d");
        assert!(!notes.contains_key("overlay2/layer-unused"), "{broken}: {notes:?}");
        assert!(!notes.contains_key("overlay2/cached"), "{broken}: {notes:?}");
        assert_eq!(notes["overlay2/mount-k1"], "container db, running: writable layer");
    }
    let fixture = podman();
    put(
        &fixture,
        "s/overlay-layers/layers.json",
        r#"[{"id":"unused"},{"id":"b","parent":"gone"}]"#,
    );
    assert!(!notes(&fixture, "s").contains_key("overlay/unused"));
}

/// Nothing that somebody wrote into these files changes a figure, is followed, or reaches the terminal.
#[test]
fn forged_files_do_no_harm() {
    let sizes = |fixture: &Fixture| {
        let document: Document = weigh("-j -s").arg(fixture.at("s/overlay")).run().document();
        let of = |(path, node): (Vec<u8>, &crate::document::Node)| (path, node.size);
        document.by_path().into_iter().map(of).collect::<Vec<_>>()
    };
    let before = sizes(&podman());
    let chain = |length: usize| {
        let mut layers = String::from("[");
        for i in 0..length {
            write!(layers, r#"{{"id":"{i}","parent":"{}"}},"#, (i + 1) % length).unwrap();
        }
        layers.replace_range(layers.len() - 1.., "]");
        layers
    };
    let images = |layer: &str, count: usize| {
        let image = format!(r#"{{"id":"i","names":["x"],"layer":"{layer}"}}"#);
        format!("[{}]", vec![image; count].join(","))
    };
    let names = r#"[{"id":"i","names":["\u001b[2J\u202e\n"],"layer":"b"}]"#;
    let deep = "[".repeat(1 << 20);
    for (what, layers, images) in [
        ("a layer that is its own parent", r#"[{"id":"b","parent":"b"}]"#, &*images("b", 1)),
        ("a loop of parents", &*chain(7), &*images("3", 1)),
        ("100,000 layers", &*chain(100_000), &*images("5", 1)),
        ("many images of many layers", &*chain(10_000), &*images("5", 100_000)),
        ("controls in names", r#"[{"id":"b"}]"#, names),
        ("other types", r#"{"id":7}"#, r#"[{"id":[]}]"#),
        ("deep nesting", &*deep, &*deep),
        ("nothing", "", ""),
    ] {
        let fixture = podman();
        put(&fixture, "s/overlay-layers/layers.json", layers);
        put(&fixture, "s/overlay-images/images.json", images);
        assert_eq!(sizes(&fixture), before, "{what}");
        for form in ["-n 100", "-j", "--as ndjson", "--as html", "--as csv"] {
            let run = weigh(form).arg(fixture.at("s")).run();
            assert_eq!(run.code(), 0, "{what}");
            let text = run.text();
            assert!(!text.contains(['\x1b', '\u{202e}']), "{what}");
        }
        let notes = notes(&fixture, "s");
        assert!(notes.values().all(|note| note.len() < 300), "{what}: {notes:?}");
    }
}

/// Long names of layers that many images have, a layer that is its own parent, and the same again in many storages.
#[test]
#[cfg(target_os = "linux")]
fn small_files_take_little_memory() {
    let long = "x".repeat(4_000);
    let image = r#"{"id":"i","layer":"top"}"#;
    let images = format!("[{}]", vec![image; 100_000].join(","));
    let mut chain = format!(r#"[{{"id":"top","parent":"0{long}"}}"#);
    for i in 0..400 {
        write!(chain, r#",{{"id":"{i}{long}","parent":"{}{long}"}}"#, i + 1).unwrap();
    }
    let loops = format!(
        r#"[{{"id":"top","parent":"{0}"}},{{"id":"{0}","parent":"{0}"}}"#,
        "x".repeat(4 << 20)
    );
    let alone: Vec<_> = (0..200_000).map(|i| format!(r#",{{"id":"{i:030}"}}"#)).collect();
    for (what, layers, count) in [
        ("long names", chain + "]", 1),
        ("a loop", loops + "]", 1),
        ("many storages", format!(r#"[{{"id":"top"}}{}]"#, alone.concat()), 300),
    ] {
        let fixture = Fixture::new().dir("s");
        put(&fixture, "layers", &layers);
        put(&fixture, "images", &images);
        for storage in 0..count {
            for name in ["layers", "images"] {
                let directory = fixture.at(format!("s/{storage}/overlay-{name}"));
                fs::create_dir_all(&directory).unwrap();
                fs::hard_link(fixture.at(name), directory.join(format!("{name}.json"))).unwrap();
            }
        }
        let confined = weigh("-n 1").env("MALLOC_ARENA_MAX", "1");
        let run = confined.limited("-v 1500000; ulimit -t 60").arg(fixture.at("s")).run();
        assert_eq!(run.code(), 0, "{what}: {}", run.complaint());
    }
}

/// A file of 10 GB, a pipe, and symlinks out of the storage. Without an answer to these, weigh would not end.
#[test]
#[cfg(unix)]
fn only_small_files_in_the_storage_are_read() {
    let fixture = podman();
    let outside = fixture.at("outside.json");
    fs::write(&outside, r#"[{"id":"i","names":["outside"],"layer":"b"}]"#).unwrap();
    let images = "s/overlay-images/images.json";
    let replace = |fixture: Fixture| {
        fs::remove_file(fixture.at(images)).unwrap();
        fixture
    };
    let fixture = replace(fixture).symlink(&outside, images);
    assert!(!notes(&fixture, "s").values().any(|note| note.contains("image")));
    let fixture = replace(fixture).fifo(images);
    assert!(!notes(&fixture, "s").values().any(|note| note.contains("image")));
    let fixture = replace(fixture).sparse(images, 10 << 30);
    assert!(!notes(&fixture, "s").values().any(|note| note.contains("image")));
    let fixture = docker();
    fs::rename(fixture.at("d/image"), fixture.at("image")).unwrap();
    let fixture = fixture.symlink("../image", "d/image");
    assert_eq!(notes(&fixture, "d"), BTreeMap::new());
}

/// What Docker says of its images with `docker system df -v`: all of an image, and what others have of it, too.
#[test]
fn images_and_containers_have_their_own_and_what_they_share() {
    let fixture = docker();
    let document = weigh("-j -s --by image").arg(fixture.at("d")).run().document();
    let groups = document.by_path();
    let of = |name: &str| groups.get(name.as_bytes()).map(|group| (group.size, group.shared));
    for (name, size, shared) in [
        ("image base:1", 9_000, 9_000),
        ("image one:1, …", 18_000, 18_000),
        ("image two:1", 27_000, 18_000),
        ("image 444444444444 (untagged)", 18_000, 9_000),
    ] {
        assert_eq!(of(name), Some((size, shared)), "{name}");
        assert_eq!(document.node(name).frees, [size - shared; 2], "{name}");
    }
    assert_eq!(groups.len(), 1 + 4 + 2 + 1);
    let sizes = ["container db", "container job"].map(|name| of(name).unwrap());
    assert!(sizes.iter().all(|(size, shared)| *size > 12 && *shared == 0));
    // Each layer once.
    let all = weigh("-j -s").arg(fixture.at("d")).run().document();
    assert_eq!(document.root().size, all.root().size);
    let others = all.root().size - 4 * 9_000 - sizes.iter().map(|(size, _)| size).sum::<u64>();
    assert_eq!(of("(everything else)"), Some((others, 0)));
    let picture = weigh("-s --by image").arg(fixture.at("d")).run().text();
    let line = "26.4Ki frees 8.79Ki   ├── image two:1 (17.6Ki shared)";
    assert!(picture.contains(line), "{picture}");
    assert!(!picture.contains("smaller"), "{picture}");
    let few = weigh("-j -s --by image -n 1").arg(fixture.at("d")).run().document();
    assert_eq!(few.nodes.len(), 1 + 2);
    assert_eq!(few.node("image two:1").size, 27_000);
    assert_eq!(few.node("(everything else)").size, all.root().size - 27_000);
    let large = weigh("-j -s --by image -z 20k").arg(fixture.at("d")).run().document();
    assert_eq!(large.nodes.len(), 1 + 2);
    let none = weigh("-j --by image").arg(podman().at("s/volumes")).run().document();
    assert_eq!(none.nodes.len(), 1 + 1);
    assert_eq!(none.node("(everything else)").size, none.root().size);
    let of_podman = weigh("-j -s --by image").arg(podman().at("s")).run().document();
    assert_eq!(of_podman.node("image localhost/one:1").size, 18_000);
    assert_eq!(of_podman.node("container wip").size, 9_000 + 1);
}

/// Without an engine's file, an image was smaller than it is, or had no line, and the status was 0.
#[test]
fn images_whose_files_cannot_be_read_are_lower_bounds() {
    let image = "image/overlay2/imagedb/content/sha256";
    for (name, lost) in [
        ("d", "image/overlay2/repositories.json"),
        ("d", "image/overlay2"),
        ("d", image),
        ("d", "image/overlay2/layerdb/sha256/c1/diff"),
        ("d", "containers"),
        ("s", "overlay-layers/layers.json"),
        ("s", "overlay-images/images.json"),
        ("s", "overlay-containers/containers.json"),
        ("s", "overlay-images"),
    ] {
        for is_damaged in [false, true] {
            let fixture = if name == "d" { docker() } else { podman() };
            let at = format!("{name}/{lost}");
            let fixture = match is_damaged {
                true if !lost.ends_with(".json") => continue,
                true => {
                    fs::write(fixture.at(&at), "{").unwrap();
                    fixture
                }
                false => fixture.unreadable(&at),
            };
            let shown = |flags: &str| {
                weigh(flags).arg(name).within(fixture.path()).by_nobody(&fixture).run()
            };
            let picture = shown("--by image");
            assert_eq!(picture.code(), 1, "{at}");
            let text = String::from_utf8(picture.stdout.clone()).unwrap();
            assert!(text.contains('≥'), "{at}: {text}");
            assert!(picture.complaint().contains(&at), "{at}: {}", picture.complaint());
            if is_damaged {
                // Elsewhere, no figure depends on it.
                assert_eq!(shown("-s").code(), 0, "{at}");
            }
        }
    }
    // What an engine need not have is no loss.
    let fixture = podman();
    fs::remove_dir_all(fixture.at("s/overlay-containers")).unwrap();
    assert_eq!(weigh("--by image").arg(fixture.at("s")).run().code(), 0);
}

/// podman's driver vfs has its layers one level lower, each with all that is below it. All were 0 bytes.
#[test]
fn images_of_the_driver_vfs_have_sizes() {
    let fixture = podman();
    for what in ["layers", "images", "containers"] {
        let [from, to] = ["overlay", "vfs"].map(|driver| fixture.at(format!("s/{driver}-{what}")));
        fs::rename(from, to).unwrap();
    }
    fs::create_dir(fixture.at("s/vfs")).unwrap();
    fs::remove_dir_all(fixture.at("s/overlay/l")).unwrap();
    fs::rename(fixture.at("s/overlay"), fixture.at("s/vfs/dir")).unwrap();
    let document = weigh("-j -s --by image").arg(fixture.at("s")).run().document();
    assert_eq!(document.node("image localhost/one:1").size, 18_000);
    assert_eq!(document.node("image localhost/one:1").frees, [9_000; 2]);
    assert_eq!(document.node("container wip").size, 9_000 + 1);
    let notes = notes(&fixture, "s");
    assert_eq!(notes["vfs/dir/k"], "container wip: writable layer");
    assert_eq!(notes["vfs/dir/a"], "shared by image localhost/base:1 and 2 others");
}

#[cfg(all(target_os = "linux", feature = "tui"))]
mod on_the_screen {
    use super::{docker, podman, put};
    use crate::mounted::Mounted;
    use crate::session::{Session, Wanted, open};
    use std::fs;

    const OF_DOCKER: &str = "it is in Docker's storage: docker rm, rmi and system prune free space";
    const OF_PODMAN: &str = "it is in podman's storage: podman rm, rmi and system prune free space";

    /// What is said of marking each entry of the current directory, by name.
    fn mark_all(browser: &mut Session) -> Vec<String> {
        browser.press("⇱");
        let marked = (0..browser.len()).map(|_| match browser.press(" ").said() {
            "" => "marked".to_owned(),
            said => said.strip_prefix("not marked: ").unwrap_or(said).to_owned(),
        });
        let mut marked: Vec<_> = marked.collect();
        marked.sort();
        marked
    }

    #[test]
    fn nothing_in_a_storage_can_be_marked() {
        for is_broken in [false, true] {
            let fixture = docker().file("plain/f", 5).file("d/tmp/f", 100_000);
            // So that they do not share a line with what is in them.
            let fixture = fixture.file("d/image/f", 5).file("d/volumes/f", 5);
            if is_broken {
                // Its layout is enough.
                fs::remove_dir_all(fixture.at("d/image/overlay2")).unwrap();
            }
            let mut browser = open(fixture.path());
            let lies = "d: a container engine's storage lies in it";
            assert_eq!(browser.press("⇱ ").said(), format!("not marked: {lies}"));
            browser.press("⇱→");
            let said = mark_all(&mut browser);
            let of = |name: &str| format!("{name}: {OF_DOCKER}");
            assert_eq!(said, ["containers", "image", "overlay2", "tmp", "volumes"].map(of));
            assert!(browser.marked().is_empty());
        }
        let fixture = docker();
        let mut browser = open(fixture.at("d/overlay2"));
        let said = mark_all(&mut browser);
        assert!(said.iter().all(|said| said.ends_with("it is in a container engine's storage")));
        let fixture = podman();
        let mut browser = open(fixture.at("s"));
        assert!(mark_all(&mut browser).iter().all(|said| said.ends_with(OF_PODMAN)));
    }

    /// Goes to the directory whose names are `way`, scans it again, and does all that is asked for then.
    fn scan_again(browser: &mut Session, way: &[&str]) {
        for name in way {
            let line = browser.names().iter().position(|it| it == name).unwrap();
            browser.press(&format!("⇱{}→", "↓".repeat(line)));
        }
        let mut wanted = browser.ask("r");
        while !wanted.is_empty() {
            assert!(matches!(wanted[..], [Wanted::Scan(_)]), "{wanted:?}");
            wanted = browser.scan();
        }
    }

    /// They were lost, because a scan of this directory alone meets no storage.
    #[test]
    fn notes_stay_when_a_directory_is_scanned_again() {
        let fixture = docker().file("d/containers/f", 5);
        let mut browser = open(fixture.at("d"));
        scan_again(&mut browser, &["containers"]);
        let mut notes = browser.notes();
        notes.sort();
        assert_eq!(notes, ["container db, running", "container job, stopped"]);
    }

    /// A scan of the overlay's directory alone does not weigh the layers, and would count them twice.
    #[test]
    #[ignore = "mounts an overlay"]
    fn an_overlay_counts_once_when_its_directory_is_scanned_again() {
        let place = Mounted::tmpfs();
        let script = r#"set -e; mkdir -p top/a top/b/diff top/b/work top/b/merged
            head -c 100000 /dev/zero > top/a/f; head -c 50000 /dev/zero > top/b/f
            mount -t overlay x -o lowerdir=top/a,upperdir=top/b/diff,workdir=top/b/work top/b/merged"#;
        let mut shell = std::process::Command::new("sh");
        assert!(shell.args(["-c", script]).current_dir(place.path()).status().unwrap().success());
        let top = place.path().join("top");
        let mut browser = open(top);
        let before = browser.whole();
        scan_again(&mut browser, &["b"]);
        assert_eq!(browser.whole(), before);
    }

    #[test]
    fn a_note_stands_beside_the_name() {
        let fixture = docker();
        put(&fixture, "d/overlay2/layer-two/diff/more", &"x".repeat(50_000));
        let mut browser = open(fixture.at("d/overlay2"));
        let list = browser.resize((80, 20)).screen();
        assert!(list.contains("layer-two/  image two"), "{list}");
        browser.press("i");
        let details = browser.resize((80, 20)).screen();
        assert!(details.contains("image two:1, layer 3 of 3"), "{details}");
    }
}
