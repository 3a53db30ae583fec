//! `-L` follows symlinks. Still nothing is entered or counted twice, and weigh waits for nothing.

use std::ffi::OsString;

use crate::dice::{Dice, Names};
use crate::document::Document;
use crate::fixture::Fixture;
use crate::oracle::{self, Eyes, Measure};
use crate::rounds::for_seeds;
use crate::run::{Shown, weigh};

/// `strace` gives two directories one number, as FUSE and network file systems may.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs strace"]
fn directories_with_one_number_are_both_weighed() {
    native_only!("other calls are made there");
    let fixture = Fixture::new()
        .file("top/a/f", 5000)
        .file("top/b/g", 300)
        .symlink("../elsewhere", "other/to")
        .file("elsewhere/c/h", 20)
        .file("elsewhere/d/i", 1)
        .dir("empty/a")
        .dir("empty/b");
    // struct statx (statx(2)): mask, block size, attributes, links, user, group, mode, inode. All that is asked for is
    // there, and it is a directory.
    let odd =
        "ff070000 00100000 0000000000000000 02000000 00000000 00000000 ed410000 0700000000000000";
    let inject = format!("inject=statx:poke_exit=@arg5={}", odd.replace(' ', ""));
    let run = |flags: &str, paths: [&str; 2], roots: &[&str]| {
        let strace = ["strace", "-f", "-q", "-o", "/dev/null", "-e", &inject];
        let starter = strace.map(OsString::from).into_iter();
        let paths = paths.into_iter().flat_map(|path| ["-P".into(), path.into()]);
        let run = weigh(flags).within(fixture.path()).under(starter.chain(paths));
        roots.iter().fold(run, |run, root| run.arg(root)).run()
    };
    // What is asked of the entries of an open directory.
    let open = ["top", "elsewhere"].map(|path| fixture.at(path).display().to_string());
    for threads in [1, 8] {
        let flags = format!("-j -s -L -T {threads}");
        let shown = run(&flags, [&open[0], &open[1]], &["top/", "other"]);
        assert_eq!(Document::parse(&shown.clean()).root().size, 5321);
    }
    let roots = ["empty/a", "empty/b"];
    let shown = run("-j --inodes", roots, &roots);
    assert_eq!(Document::parse(&shown.stdout).root().size, 2, "{}", shown.complaint());
}

fn followed(fixture: &Fixture, root: &str) -> Shown {
    weigh("-j -s -L").arg(fixture.at(root)).run()
}

#[test]
fn what_a_link_names_counts() {
    let fixture = Fixture::new()
        .file("elsewhere/f", 5000)
        .file("elsewhere/deep/g", 300)
        .file("single", 20)
        .symlink("../elsewhere", "top/dir")
        .symlink("../single", "top/file");
    let document = followed(&fixture, "top").document();
    assert_eq!(document.root().size, 5320);
    assert_eq!(
        (document.node("dir").size, document.node("dir").kind.as_str()),
        (5300, "directory")
    );
    assert_eq!((document.node("file").size, document.node("file").kind.as_str()), (20, "file"));
    // top, elsewhere, f, deep, g, single.
    assert_eq!(document.root().entries, Some(6));
    let as_they_are = weigh("-j -s").arg(fixture.at("top")).run().document();
    assert_eq!(as_they_are.root().size, 12 + 9);
}

#[test]
fn a_target_with_two_links_counts_once() {
    let fixture = Fixture::new()
        .file("elsewhere/f", 5000)
        .symlink("../elsewhere", "top/one")
        .symlink("../elsewhere", "top/two")
        .symlink("../elsewhere/f", "top/three");
    for threads in [1, 2, 8] {
        let document = weigh(&format!("-j -s -L -T {threads}")).arg(fixture.at("top")).run();
        let document = document.document();
        assert_eq!(document.root().size, 5000, "{threads} threads");
        assert_eq!(document.root().entries, Some(3), "top, elsewhere, f");
    }
}

#[test]
fn a_link_to_what_is_in_the_tree_counts_once() {
    let fixture = Fixture::new()
        .file("top/real/f", 5000)
        .symlink("real", "top/again")
        .symlink("real/f", "top/f");
    let document = followed(&fixture, "top").document();
    assert_eq!(document.root().size, 5000);
    assert_eq!(document.root().entries, Some(3));
}

/// Without a check, the walk would follow the loop until the path is too long: 40 levels or 4096 bytes.
#[test]
fn a_loop_is_named_once_and_not_entered() {
    for (target, link) in
        [("..", "top/sub/the-loop"), (".", "top/sub/the-loop"), ("../..", "top/sub/x/y/the-loop")]
    {
        let fixture = Fixture::new().file("top/sub/f", 5000).symlink(target, link);
        let shown = followed(&fixture, "top");
        let complaint = shown.complaint();
        assert_eq!(complaint.matches("the-loop").count(), 1, "{complaint}");
        let document = crate::document::Document::parse(&shown.stdout);
        assert_eq!(document.root().size, 5000);
    }
}

#[test]
fn links_that_name_each_other_end() {
    let fixture = Fixture::new()
        .file("top/a/f", 5000)
        .file("top/b/g", 300)
        .symlink("../b", "top/a/to-b")
        .symlink("../a", "top/b/to-a");
    let mut outputs: Vec<Vec<u8>> = [1, 2, 8]
        .into_iter()
        .map(|threads| weigh(&format!("-j -s -L -T {threads}")).arg(fixture.at("top")).run().stdout)
        .collect();
    outputs.dedup();
    assert_eq!(outputs.len(), 1, "it depends on the number of threads");
    let document = crate::document::Document::parse(&outputs[0]);
    assert_eq!(document.root().size, 5300);
    assert_eq!(document.root().entries, Some(5));
}

/// A dangling link counts as itself, as for `find -L`.
#[test]
fn a_dangling_link_is_itself() {
    let fixture = Fixture::new().symlink("nowhere", "top/link").file("top/f", 5000);
    let document = followed(&fixture, "top").document();
    assert_eq!((document.node("link").kind.as_str(), document.node("link").size), ("symlink", 7));
    assert_eq!(document.root().size, 5007);
}

/// The system gives up on it (ELOOP). It counted as itself, but for `du -L` it is an error.
#[test]
fn links_that_lead_round_and_round_are_a_problem() {
    let fixture = Fixture::new()
        .symlink("link", "top/link")
        .symlink("b", "top/a")
        .symlink("a", "top/b")
        .file("top/f", 5000);
    let mut du = std::process::Command::new("du");
    let du = du.args(["-L", "top"]).current_dir(fixture.path()).output().unwrap();
    assert_eq!(du.status.code(), Some(1));
    let shown = weigh("-j -s -L top").within(fixture.path()).run();
    let said = "weigh: error: 3 × cannot stat: Too many levels of symbolic links: top/a, top/b, top/link\n";
    assert_eq!(shown.code(), 1);
    assert!(shown.complaint().starts_with(said), "{}", shown.complaint());
    let document = crate::document::Document::parse(&shown.stdout);
    assert_eq!((document.root().size, &document.header["complete"]), (5000, &false.into()));
    // As a root, too; without -L it is itself.
    let shown = weigh("-j -s -L top/link").within(fixture.path()).run();
    let said = "weigh: error: cannot stat top/link: Too many levels of symbolic links\n";
    assert_eq!((shown.code(), shown.complaint().as_str()), (1, said));
    weigh("-j -s top/link").within(fixture.path()).run().clean();
}

/// What a symlink leads to may be there and not be told. Once it was left out without a word, also below a PATH that is
/// such a symlink.
#[test]
fn a_target_that_cannot_be_examined_is_a_problem() {
    let fixture = Fixture::new().file("shut/in/f", 5000).symlink("../shut/in", "top/link");
    let fixture = fixture.mode("shut", 0).mode(".", 0o755);
    for (flags, root) in [("-j -s -L", "top"), ("-j -s -L", "top/link"), ("-j -s", "top/link")] {
        let weigh = weigh(flags).arg(root).within(fixture.path()).by_nobody(&fixture);
        let shown = weigh.run();
        assert_eq!(shown.code(), 1, "{flags} {root}");
        let complaint = shown.complaint();
        let expected = "weigh: error: cannot stat top/link: Permission denied\n";
        assert!(complaint.starts_with(expected), "{flags} {root}: {complaint}");
    }
}

/// Symlinks all over a random tree, to files and directories in it, above it and beside it: the
/// whole is every inode that `find -L` comes to, once.
#[test]
fn the_whole_is_what_find_comes_to() {
    for_seeds(80, |seed| {
        let mut dice = Dice::new(seed + 3_000_000);
        let mut fixture =
            dice.tree(Fixture::in_memory(), Names::Tame).file("elsewhere/d/f", 12_345);
        let everything = oracle::find(fixture.path(), Eyes::Mine);
        let dirs: Vec<_> = everything
            .iter()
            .filter(|entry| entry.kind == b'd' && entry.path.starts_with(b"tree"))
            .map(|entry| crate::fixture::raw(&entry.path).to_owned())
            .collect();
        for i in 0..10 {
            let target = crate::fixture::raw(&dice.of(&everything).path);
            let (target, link) = (fixture.at(target), dice.of(&dirs).join(format!("to-{i}")));
            fixture = fixture.symlink(target, link);
        }
        let root = fixture.at("tree");
        let mut found = oracle::find(&root, Eyes::Following);
        found.sort_by(|a, b| a.inode.cmp(&b.inode));
        found.dedup_by(|a, b| a.inode == b.inode);
        for measure in Measure::ALL {
            let run = |threads| {
                let flags = format!("-j -L -T {threads} {}", measure.flag());
                weigh(&flags).arg(&root).run().stdout
            };
            let json = run(1);
            let document = crate::document::Document::parse(&json);
            let size: u64 = found.iter().map(|entry| measure.of(entry)).sum();
            assert_eq!(document.root().size, size, "seed {seed}, {measure:?}");
            assert_eq!(document.root().entries, Some(found.len() as u64), "seed {seed}");
            assert!(run(2) == json && run(8) == json, "seed {seed}: threads change it");
        }
    });
}
