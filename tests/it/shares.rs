//! The shares of a tree, loaded together, are the tree, to the byte, for any number of shares and machines. If one is
//! missing, or there twice, weigh says so.

use std::path::Path;

use serde_json::Value;

use crate::dice::{Dice, Names};
use crate::fixture::Fixture;
use crate::rounds::{for_seeds, rounds};
use crate::run::{Shown, Weigh, weigh};
use crate::saved;

const SEEDS: (usize, usize) = (40, 300);

/// How many shares.
const NUMBERS: [usize; 5] = [1, 2, 3, 8, 64];

const SHOWN: [&str; 6] = ["", "-j", "-F -n 7", "-d 1 --sort count", "-t -j", "-e 1 -j"];

/// Saves share `number` of `of`, as a machine would whose devices have other numbers.
fn save(place: &Path, root: &Path, flags: &str, (number, of): (usize, usize), machine: &str) {
    let file = place.join(number.to_string());
    let save = weigh(&format!("{flags} --shard {number}/{of} --save")).arg(&file).arg(root);
    save.run().clean();
    if !machine.is_empty() {
        let text = saved::text(&file);
        let text = text.replacen("\"host\":\"", &format!("\"host\":\"{machine}"), 1);
        let text = text.replace("\"device\":", "\"device\":7");
        saved::write(&file, &text.replace("\"mount\":", "\"mount\":7"));
    }
}

fn loading(flags: &str, place: &Path, numbers: impl IntoIterator<Item = usize>) -> Weigh {
    let start = weigh(flags).within(place);
    numbers.into_iter().fold(start, |weigh, number| weigh.arg("--from").arg(number.to_string()))
}

#[test]
fn shares_loaded_together_are_the_tree() {
    for_seeds(rounds(SEEDS.0, SEEDS.1), |seed| {
        let mut dice = Dice::new(seed + 22_000_000);
        let place = if seed % 8 == 0 { Fixture::new() } else { Fixture::in_memory() };
        let fixture = dice.tree(place, Names::Hostile);
        let root = fixture.at("tree");
        let flags =
            *dice.of(&["", "-s", "--inodes", "--details", "-l", "-i -X b", "--type-not rust"]);
        let of = NUMBERS[(seed % 5) as usize];
        let place = Fixture::in_memory();
        let second = *dice.of(&["", "other-"]);
        for number in 1..=of {
            let machine = if number % 2 == 0 { second } else { "" };
            save(place.path(), &root, flags, (number, of), machine);
        }
        // In any order.
        let first = dice.below(of);
        let order = (0..of).map(|i| (i + first) % of + 1);
        let what = format!("seed {seed}, weigh {flags} in {of} shares, by {second:?}");
        for shown in SHOWN {
            let walk_flags = format!("{shown} {}", flags.replace("--details", ""));
            let walk = weigh(&walk_flags).arg(&root).run().clean();
            let measure = flags.split(' ').find(|flag| matches!(*flag, "-s" | "--inodes"));
            let flags = format!("{shown} {}", measure.unwrap_or_default());
            let load = loading(&flags, place.path(), order.clone()).run().clean();
            let [walk, load] = [walk, load].map(|shown| String::from_utf8(shown).unwrap());
            assert_eq!(load, walk, "{what}, {shown}");
        }
    });
}

/// Each share of a tree of many small directories is about as large as another.
#[test]
fn no_share_is_far_larger_than_another() {
    let mut fixture = Fixture::in_memory();
    for i in 0..600 {
        fixture = fixture.file(format!("user{}/project{}/f", i % 20, i / 20), 1);
    }
    let sizes = (1..=4).map(|number| {
        let shown = weigh(&format!("-j -f --shard {number}/4")).arg(fixture.path()).run();
        shown.document().root().size
    });
    let sizes: Vec<_> = sizes.collect();
    assert_eq!(sizes.iter().sum::<u64>(), 600);
    assert!(sizes.iter().all(|size| (90..210).contains(size)), "{sizes:?}");
}

/// Where the root has a thousand subdirectories, they are shared out. What is shared out in two ways does not fit.
#[test]
fn a_root_of_many_is_shared_out_there() {
    let mut fixture = Fixture::in_memory();
    for i in 0..999 {
        fixture = fixture.file(format!("t/{i}/d/f"), 1);
    }
    let root = fixture.at("t");
    let place = Fixture::in_memory();
    save(place.path(), &root, "-f", (1, 2), "");
    let fixture = fixture.file("t/999/d/f", 1);
    save(place.path(), &root, "-f", (2, 2), "");
    let shown = loading("", place.path(), [1, 2]).run();
    let expected = "weigh: error: cannot show 2: it was divided in another way than 1\nhint: save all shares again\n";
    assert_eq!((shown.code(), shown.complaint().as_str()), (2, expected));
    save(place.path(), &root, "-f", (1, 2), "");
    let walk = weigh("-f -j").arg(&root).run().clean();
    assert_eq!(loading("-f -j", place.path(), [1, 2]).run().clean(), walk);
    drop(fixture);
}

fn saved(of: usize) -> Fixture {
    let mut fixture = Fixture::new();
    for i in 0..40 {
        fixture = fixture.file(format!("t/a{i}/b/f"), 100);
    }
    for number in 1..=of {
        save(fixture.path(), Path::new(&fixture.at("t")), "-s", (number, of), "");
    }
    fixture
}

fn check_partial(shown: &Shown, missing: &str) {
    assert_eq!(shown.code(), 1);
    let complaint = shown.complaint();
    assert!(complaint.contains(missing), "{complaint}");
    assert!(complaint.ends_with("weigh: note: totals are a lower bound\n"), "{complaint}");
    assert_eq!(complaint.lines().count(), 2, "{complaint}");
    assert!(!shown.stdout.is_empty());
}

#[test]
fn a_missing_share_is_said_and_the_others_are_shown() {
    let fixture = saved(8);
    let load = |numbers: &[usize]| loading("-j", fixture.path(), numbers.iter().copied()).run();
    check_partial(&load(&[1, 2, 3, 4, 5, 6, 8]), "/t: share 7 of 8 is missing");
    check_partial(&load(&[1, 8, 6]), "/t: 5 shares of 8 are missing: 2, 3, 4, …");
    check_partial(&load(&[3]), "/t: 7 shares of 8 are missing: 1, 2, 4, …");
    let shown: Value = serde_json::from_slice(&load(&[2, 3]).stdout).unwrap();
    assert_eq!(
        (&shown["complete"], &shown["errors"][0]["operation"]),
        (&false.into(), &"load".into())
    );
    // What was saved of some is not all of them later.
    let again = loading("-s --save some", fixture.path(), [2, 3]).run();
    check_partial(&again, "6 shares of 8 are missing");
    check_partial(&weigh("--from some").within(fixture.path()).run(), "6 shares of 8 are missing");
}

/// All that is in the other shares seemed to be new, with status 0; or to have passed a limit.
#[test]
fn a_tree_is_not_compared_with_one_share_of_it() {
    let fixture = saved(2);
    weigh("-s -q --save 1.weigh --shard 1/2 t").within(fixture.path()).run().clean();
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    run("-q --from 1 --save again.weigh").code();
    for share in ["1", "1.weigh", "again.weigh"] {
        for flags in ["", "-d0", "-j", "--fail-growth 1B", "--by type", "-n 3", "-t"] {
            let shown = run(&format!("diff -s t {flags} --since {share}"));
            let said = shown.complaint();
            assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{flags}: {said}");
            let expected = format!(
                "weigh: error: cannot compare with {share}: it is share 1 of 2\nhint: load all 2"
            );
            assert!(said.starts_with(&expected), "{said}");
        }
    }
    // Each with itself, and all with all, can be compared.
    assert!(!run("diff -s --from 1.weigh --since 1").complaint().contains("compare"));
    run("-s -q --from 1 --from 2 --save all.weigh").clean();
    run("diff -s t --since all.weigh").clean();
    // What was saved of some says what it lacks.
    let fixture = saved(3);
    let run = |flags: &str| weigh(flags).within(fixture.path()).run();
    run("-s -q --from 1 --from 2 --save some.weigh");
    let shown = run("diff -s t --since some.weigh");
    assert_eq!(shown.code(), 1);
    assert!(shown.complaint().contains("what is new in"), "{}", shown.complaint());
}

#[test]
fn a_share_that_is_there_twice_is_refused_by_name() {
    let fixture = saved(3);
    let shown = loading("", fixture.path(), [1, 2, 3, 2]).run();
    assert_eq!((shown.code(), shown.stdout.len()), (2, 0));
    assert_eq!(
        shown.complaint(),
        "weigh: error: cannot show 2: it is share 2 of 3, and so is 2\nhint: leave one out\n"
    );
}

/// Two machines may have shared out the same path, each its own.
#[test]
fn shares_of_two_hosts_are_two_trees() {
    let fixture = Fixture::new().file("t/a/b/f", 100).file("t/c/d/g", 100);
    let [one, two] = [Fixture::new(), Fixture::new()];
    for number in [1, 2] {
        save(one.path(), &fixture.at("t"), "-s", (number, 2), "");
        save(two.path(), &fixture.at("t"), "-s", (number, 2), "other-");
    }
    let mut load = loading("-j -d 0", one.path(), [1, 2]);
    for number in ["1", "2"] {
        load = load.arg("--from").arg(two.at(number));
    }
    let shown: Value = load.run().json();
    assert_eq!((&shown["kind"], &shown["size"]), (&"total".into(), &400.into()));
    assert_eq!(shown["children"].as_array().unwrap().len(), 2);
}

#[test]
fn a_share_is_of_one_tree_and_walked() {
    let place = Fixture::new().dir("a").dir("b");
    for flags in
        ["--shard 0/2 a", "--shard 3/2 a", "--shard 2 a", "--shard 1/2 a b", "--shard 1/2 -L a"]
    {
        let shown = weigh(flags).within(place.path()).run();
        assert_eq!(shown.code(), 2, "{flags}");
        assert!(shown.complaint().starts_with("weigh: error: "), "{}", shown.complaint());
    }
}

/// Links on what is mounted below the root are known by where that is, and not by its numbers, which differ from one
/// machine to the next.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs root to mount"]
fn links_on_a_mount_are_known_by_where_that_is() {
    native_only!("it cannot tell mounts");
    let fixture = Fixture::new().dir("t/m").dir("t/n");
    let script = r#"set -e
mount -t tmpfs one t/m; mount -t tmpfs two t/n
for m in m n; do
  mkdir -p t/$m/1 t/$m/2 t/$m/3 t/$m/4; head -c 1000 /dev/zero > t/$m/1/f
  for i in 2 3 4; do ln t/$m/1/f t/$m/$i/f; done
done
"$0" -s -j t > whole
for i in 1 2 3 4; do
  "$0" -s --shard $i/4 t --save - | sed "s/\"device\":/\"device\":$i/g; s/\"mount\":/\"mount\":$i/g" > $i
done
"$0" -j --from 1 --from 2 --from 3 --from 4 > loaded
cmp whole loaded
"#;
    crate::run::in_namespace(&fixture, script);
    let whole: Value = fixture.json("whole");
    assert_eq!(whole["size"], 2000);
}
