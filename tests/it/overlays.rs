//! Overlays whose layers are below a PATH: what they show counts once, in the layers. `du -x` says what that is,
//! because it enters no other file system.

use crate::dice::Dice;
use crate::document::Document;
use crate::fixture::Fixture;
use crate::rounds::rounds;
use crate::run::{in_namespace, take_place, try_in_namespace};
use std::fmt::Write;

/// Puts files into the directories `$@`.
const FILL: &str = r#"set -e; n=0; fill() { for dir; do mkdir -p "$dir"; n=$((n + 1))
    head -c 5000 /dev/zero > "$dir/f$n"; mkdir -p "$dir/same"; head -c 9000 /dev/zero > "$dir/same/f"
    done; }; "#;

/// After `mounts` in a new file system at `top`: what `weigh FLAGS top` says, its complaint, and what `du top` said of
/// it with these `du` flags.
fn weighed(mounts: &str, flags: &str, du: &str) -> (Document, String, u64) {
    let fixture = Fixture::new().dir("top");
    let script = format!(
        r#"{FILL} mount -t tmpfs none top; {mounts}
        du -s --block-size=1 {du} top | cut -f 1 > du; exec "$0" -j -d 9 {flags} top"#
    );
    let output = in_namespace(&fixture, &script);
    let du = String::from_utf8(fixture.bytes("du")).unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    (Document::parse(&output.stdout), complaint, du.trim().parse().unwrap())
}

/// How the layers are named, and how they lie.
const ONCE: [(&str, &str); 11] = [
    (
        "an upper and two lower directories",
        "fill top/a top/b top/u; mkdir top/w top/m
         mount -t overlay x -o lowerdir=top/a:top/b,upperdir=top/u,workdir=top/w top/m",
    ),
    (
        "read-only",
        "fill top/a top/b; mkdir top/m; mount -t overlay x -o lowerdir=top/a:top/b top/m",
    ),
    (
        "relative links, as engines make them",
        "fill top/s/1/diff top/s/2/diff; mkdir top/s/l top/s/3 top/s/3/merged top/s/3/diff top/s/3/work
         ln -s ../1/diff top/s/l/AB; ln -s ../2/diff top/s/l/CD; cd top/s
         mount -t overlay x -o lowerdir=l/AB:l/CD,upperdir=3/diff,workdir=3/work 3/merged; cd ../..",
    ),
    (
        "names with blanks, commas, colons and backslashes",
        r"fill 'top/a,b' 'top/c:d' 'top/e\f' 'top/g h' 'top/u:1'; mkdir top/w 'top/m m'; cd top
         mount -t overlay x -o 'lowerdir=a\,b:c\:d:e\\f:g h,upperdir=u\:1,workdir=w' 'm m'; cd ..",
    ),
    (
        "stacked",
        "fill top/a top/b top/c; mkdir top/u top/w top/m top/n
         mount -t overlay x -o lowerdir=top/a:top/b,upperdir=top/u,workdir=top/w top/m
         mount -t overlay x -o lowerdir=top/m:top/c top/n",
    ),
    (
        "nested",
        "fill top/a top/b top/c top/u; mkdir top/w top/m top/a/n
         mount -t overlay x -o lowerdir=top/a:top/b,upperdir=top/u,workdir=top/w top/m
         mount -t overlay x -o lowerdir=top/b:top/c top/m/n; mount -t proc none top/m/same",
    ),
    (
        "on several file systems",
        "fill top/a top/t; mount -t tmpfs none top/t; fill top/t/b top/t/u; mkdir top/t/w top/m
         mount -t overlay x -o lowerdir=$PWD/top/a:$PWD/top/t/b,upperdir=$PWD/top/t/u,workdir=$PWD/top/t/w top/m",
    ),
    (
        "a part of it, mounted elsewhere",
        "fill top/a top/b top/u; mkdir top/w top/m top/part
         mount -t overlay x -o lowerdir=top/a:top/b,upperdir=top/u,workdir=top/w top/m
         mount --bind top/m/same top/part",
    ),
    (
        "layers that are mount points",
        "mkdir top/a top/b top/m; mount -t tmpfs none top/a; mount -t tmpfs none top/b; fill top/a top/b
         mount -t overlay x -o lowerdir=top/a:top/b top/m; mkdir out",
    ),
    (
        "an empty layer, and one that is hidden",
        "fill top/a top/b top/u; mkdir top/e top/w top/m top/h top/h/same; head -c 70 /dev/zero > top/h/same/f
         mount -t overlay x -o lowerdir=top/a:top/e:top/h,upperdir=top/u,workdir=top/w top/m
         rm top/m/f1; mv top/m/same/f top/m/g; mkdir top/m/new; echo > top/m/new/x; chmod 700 top/m/same",
    ),
    (
        "below a filter",
        "fill top/.a top/b; mkdir top/m; mount -t overlay x -o lowerdir=top/.a:top/b top/m",
    ),
];

#[test]
#[ignore = "needs root"]
fn what_an_overlay_shows_counts_in_its_layers() {
    native_only!("mounts cannot be told apart there");
    for (what, mounts) in ONCE {
        let on_others = matches!(what, "on several file systems" | "layers that are mount points");
        for threads in [1, 2, 8] {
            let flags = format!("-T {threads}");
            // Without -x, but without the overlay.
            let du = if on_others { "--exclude=m" } else { "-x" };
            let (document, complaint, du) = weighed(mounts, &flags, du);
            assert_eq!(document.root().size, du, "{what}: {complaint}");
            assert!(complaint.contains("--overlays"), "{what}: {complaint}");
        }
        if what != "nested" {
            let (document, complaint, du) = weighed(mounts, "--overlays", "");
            assert_eq!((document.root().size, complaint.as_str()), (du, ""), "{what}");
        }
    }
}

#[test]
#[ignore = "needs root"]
fn the_line_of_an_overlay_says_where_it_counts() {
    native_only!("mounts cannot be told apart there");
    let (_, mounts) = ONCE[0];
    let (document, complaint, _) = weighed(mounts, "", "-x");
    let said = "weigh: note: 1 × overlay not entered, because its layers count (--overlays enters it): top/m\n";
    assert_eq!(complaint, said);
    let overlay = document.by_path()[b"m".as_slice()];
    assert_eq!((overlay.size, overlay.note.as_deref()), (0, Some("counts in u")));
}

/// Of which something would be missing, if they were not entered.
const TWICE: [(&str, &str); 25] = [
    (
        "a layer was replaced, and the others have more names than are compared",
        "fill top/a; mkdir top/u top/w top/m; for i in $(seq 11000); do : > top/u/n$i; done
         mount -t overlay x -o lowerdir=top/a,upperdir=top/u,workdir=top/w top/m
         mv top/a top/old; mkdir top/a",
    ),
    (
        "the upper directory was replaced, and the lower one is on another file system",
        "fill top/u; mkdir top/a top/w top/m; mount -t tmpfs x top/a; fill top/a
         mount -t overlay x -o lowerdir=top/a,upperdir=top/u,workdir=top/w top/m
         mv top/u top/old; mkdir top/u; : > top/u/f1",
    ),
    (
        "the upper directory alone is below PATH",
        "fill top/u other; mkdir top/w top/m
         mount -t overlay x -o lowerdir=other,upperdir=top/u,workdir=top/w top/m",
    ),
    (
        "one lower directory alone is below PATH",
        "fill top/a other/u; mkdir top/m; mkdir other/w
         mount -t overlay x -o lowerdir=top/a,upperdir=other/u,workdir=other/w top/m",
    ),
    (
        "another file system is mounted in it",
        "fill top/a top/b; mkdir top/m; mount -t overlay x -o lowerdir=top/a:top/b top/m
         mount -t tmpfs none top/m/same; fill top/m/same/there",
    ),
    (
        "a layer is gone",
        "fill top/a top/b; mkdir top/m; mount -t overlay x -o lowerdir=top/a:top/b top/m
         mv top/b top/c",
    ),
    (
        "another directory has a layer's name",
        "fill top/a top/b; mkdir top/m; mount -t overlay x -o lowerdir=top/a:top/b top/m
         mv top/a top/c; fill top/a",
    ),
    (
        "a layer is hidden by what is mounted on it",
        "fill top/a top/b; mkdir top/m; mount -t overlay x -o lowerdir=top/a:top/b top/m
         mount -t tmpfs none top/a",
    ),
    (
        "a later mount covers the lower layer",
        "fill top/a top/b out; mkdir top/m; mount -t overlay x -o lowerdir=top/a:top/b top/m
         mount --bind out top/b",
    ),
    (
        "a later mount covers the lower layer, and shows nothing",
        "fill top/a top/b; mkdir out top/m; mount -t overlay x -o lowerdir=top/a:top/b top/m
         mount --bind out top/b",
    ),
    (
        "a later mount covers the upper layer",
        "fill top/a top/u out; mkdir top/w top/m
         mount -t overlay x -o lowerdir=top/a,upperdir=top/u,workdir=top/w top/m
         mount --bind out top/u",
    ),
    (
        "a later mount covers a directory above a layer",
        "fill top/d/a top/b out/a; mkdir top/m; mount -t overlay x -o lowerdir=top/d/a:top/b top/m
         mount --bind out top/d",
    ),
    (
        "a later mount covers a directory in a layer",
        "fill top/a top/b out; mkdir top/m; mount -t overlay x -o lowerdir=top/a:top/b top/m
         mount --bind out top/b/same",
    ),
    (
        "a later mount covers a file in a layer",
        "fill top/a top/b; mkdir top/m; mount -t overlay x -o lowerdir=top/a:top/b top/m
         echo > top/small; mount --bind top/small top/b/f2",
    ),
    (
        "it covers its own lower layer",
        "fill top/a top/u; mkdir top/w
         mount -t overlay x -o lowerdir=top/a,upperdir=top/u,workdir=top/w top/a",
    ),
    (
        "it covers its own lower layer, read-only",
        "fill top/a top/b; mount -t overlay x -o lowerdir=top/a:top/b top/a",
    ),
    (
        "it covers the lower layer of an overlay that is its own lower layer",
        "fill top/a; mkdir top/b top/u top/w top/m top/n
         mount -t overlay x -o lowerdir=top/a,upperdir=top/u,workdir=top/w top/m
         mount -t overlay x -o lowerdir=top/b:top/m top/n; mount --bind top/n top/a",
    ),
    (
        "it is mounted in its own lower layer",
        "fill top/a top/u; mkdir top/w top/a/m; head -c 30000 /dev/zero > top/a/m/beneath
         mount -t overlay x -o lowerdir=top/a,upperdir=top/u,workdir=top/w top/a/m",
    ),
    (
        "the lower layer was moved away",
        "fill top/a top/b; mkdir out top/m; mount -t overlay x -o lowerdir=top/a:top/b top/m
         mkdir top/keep; mount -t tmpfs none out; mv top/b top/c; fill top/b",
    ),
    (
        "an empty directory is where the lower layer was",
        "mkdir top/a top/b; mkdir top/a/same top/b/same top/b/same/deep top/a/same/deep
         head -c 9000 /dev/zero > top/b/same/deep/f; mkdir top/m
         mount -t overlay x -o lowerdir=top/a:top/b top/m; mv top/b top/c; mkdir top/b",
    ),
    (
        "layers on several file systems, one of which was replaced",
        "fill top/a top/t; mount -t tmpfs none top/t; fill top/t/b; mkdir top/m
         mount -t overlay x -o lowerdir=$PWD/top/a:$PWD/top/t/b top/m; mv top/t/b top/t/c; fill top/t/b",
    ),
    (
        "layers on several file systems, the topmost of which was replaced",
        "fill top/a top/t; mount -t tmpfs none top/t; fill top/t/b; mkdir top/m
         mount -t overlay x -o lowerdir=$PWD/top/t/b:$PWD/top/a top/m; mv top/t/b top/t/c; fill top/t/b",
    ),
    (
        "relative layers of another directory",
        "fill top/other/a top/other/b top/a top/b; mkdir top/m; cd top/other
         mount -t overlay x -o lowerdir=a:b ../m; cd ../..; mv top/other/b top/other/c",
    ),
    (
        "a layer has only data",
        "fill top/a top/b top/data; mkdir top/m
         mount -t overlay x -o ro,lowerdir=top/a:top/b::top/data top/m",
    ),
    (
        "the mount that shows all of it is covered",
        "fill top/a top/b; mkdir top/m top/part
         mount -t overlay x -o lowerdir=top/a:top/b top/m; mount --bind top/m/same top/part
         mount -t tmpfs none top/m",
    ),
];

/// Of the overlay in `$PWD/top/m` of [`ONCE`], with layers `a`, `b` and `u`: what these flags leave, as `find` and `du`
/// tell it.
const FILTERED: [(&str, &str); 14] = [
    ("-e /m/", "-path 'top/m/*'"),
    ("-e m/f", "-path 'top/m/f*'"),
    ("-v top/[abu]/", "! -path 'top/[abu]/*'"),
    ("--include m/", "-path 'top/m/*'"),
    ("--include m", "-path 'top/m/*'"),
    ("--include /m/same", "-path 'top/m/same/*'"),
    ("--exclude /a/*", "! -path 'top/a/*'"),
    ("--exclude /b/same --exclude /u/*", "! -path 'top/b/same*' ! -path 'top/u/*'"),
    ("--gitignore", "! -path 'top/[abu]/*'"),
    ("-X a", "! -path 'top/a*'"),
    ("-X top/a/same", "! -path 'top/a/same*'"),
    ("-X same", "! -path '*/same*'"),
    ("-i", ""),
    ("--type-not rust", ""),
];

/// Files with one number of an inode count once: so the overlay's and a layer's must, and all that `find` finds is there.
#[test]
#[ignore = "needs root"]
fn what_filters_leave_of_an_overlay_or_its_layers_counts() {
    native_only!("mounts cannot be told apart there");
    let (_, mounts) = ONCE[0];
    for (flags, find) in FILTERED {
        let fixture = Fixture::new().dir("top");
        let script = format!(
            r#"{FILL} mount -t tmpfs none top; {mounts}
            printf '/a/*\n/b/*\n/u/*\n' > top/.ignore
            find top -type f {find} ! -name .ignore -printf '%i %b\n' | sort -u > found
            set -f; exec "$0" -j {flags} top"#
        );
        let output = in_namespace(&fixture, &script);
        let found = fixture.text("found");
        let blocks =
            found.lines().map(|line| line.split(' ').nth(1).unwrap().parse::<u64>().unwrap());
        let least = 512 * blocks.sum::<u64>();
        let size = Document::parse(&output.stdout).root().size;
        assert!(size >= least && least > 0, "{flags}: {size} < {least}");
    }
}

#[test]
#[ignore = "needs root"]
fn an_overlay_is_entered_if_something_would_be_missing() {
    native_only!("mounts cannot be told apart there");
    for (what, mounts) in TWICE {
        let (document, complaint, du) = weighed(mounts, "", "");
        assert_eq!(document.root().size, du, "{what}: {complaint}");
        assert!(complaint.contains("count twice"), "{what}: {complaint}");
    }
    // Nothing counts twice, and so nothing is said.
    let elsewhere = "fill a b; mkdir top/m; mount -t overlay x -o lowerdir=a:b top/m";
    let (document, complaint, du) = weighed(elsewhere, "", "");
    assert_eq!((document.root().size, complaint.as_str()), (du, ""));
}

/// In the layer, the directory still has the name that is left out.
#[test]
#[ignore = "needs root"]
fn what_an_overlay_shows_under_another_name_counts() {
    native_only!("mounts cannot be told apart there");
    let mounts = "mkdir -p top/a/p top/u top/w top/m; head -c 50000 /dev/zero > top/a/p/f
        mount -t overlay x -o lowerdir=top/a,upperdir=top/u,workdir=top/w,redirect_dir=on top/m
        mv top/m/p top/m/q";
    let (document, complaint, _) = weighed(mounts, "-s -X p", "");
    assert_eq!(document.by_path()[&b"m/q/f"[..]].size, 50_000, "{complaint}");
}

/// From the layer, the symlink leads to nothing.
#[test]
#[ignore = "needs root"]
fn what_symlinks_in_an_overlay_lead_to_counts() {
    native_only!("mounts cannot be told apart there");
    let mounts = "mkdir out; head -c 50000 /dev/zero > out/f; mkdir -p top/in/a top/b top/m
        ln -s ../../out top/in/a/link; mount -t overlay x -o lowerdir=top/in/a:top/b top/m";
    let (document, complaint, _) = weighed(mounts, "-s -L", "");
    assert_eq!(document.by_path()[&b"m/link/f"[..]].size, 50_000, "{complaint}");
}

/// The hidden layer counts nowhere else.
#[test]
#[ignore = "needs root"]
fn what_filters_leave_out_of_the_layers_counts_in_the_overlay() {
    native_only!("mounts cannot be told apart there");
    let (_, mounts) = ONCE[10];
    let (document, complaint, du) = weighed(mounts, "-i", "--exclude=.a");
    assert_eq!(document.root().size, du, "{complaint}");
}

/// Inside a container, the root is an overlay.
#[test]
#[ignore = "needs root"]
fn an_overlay_that_is_a_path_counts() {
    native_only!("mounts cannot be told apart there");
    let fixture = Fixture::new().dir("top");
    let (_, mounts) = ONCE[0];
    let script = format!(
        r#"{FILL} mount -t tmpfs none top; {mounts}; du -s --block-size=1 top/m | cut -f 1 > du
        "$0" -j top/m > one; "$0" -j top/u top/m/same > two"#
    );
    let output = in_namespace(&fixture, &script);
    let du: u64 = String::from_utf8(fixture.bytes("du")).unwrap().trim().parse().unwrap();
    assert_eq!(Document::parse(&fixture.bytes("one")).root().size, du);
    assert_eq!(Document::parse(&fixture.bytes("two")).root().children.len(), 2);
    assert_eq!(output.stderr, b"");
}

/// Two snapshots that count overlays in different ways cannot be compared.
#[test]
#[ignore = "needs root"]
fn snapshots_say_whether_overlays_were_entered() {
    let fixture = Fixture::new().dir("top");
    let (_, mounts) = ONCE[0];
    let script = format!(
        r#"{FILL} mount -t tmpfs none top; {mounts}
        "$0" -q top --overlays --save with; "$0" -q top --save without
        "$0" -j -q --from without; "$0" diff top --overlays --since with; "$0" diff top --since with"#
    );
    let output = try_in_namespace(&fixture, &script);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        complaint.contains("it was saved with --overlays\nhint: give --overlays here too"),
        "{complaint}"
    );
    assert_eq!(output.status.code(), Some(2));
}

/// Overlays of random directories below and beside PATH, of overlays and within overlays. Each that is entered adds
/// what `du -x` says of it.
#[test]
#[ignore = "needs root"]
fn random_overlays_count_once() {
    native_only!("mounts cannot be told apart there");
    let of_all: Vec<_> = (0..rounds(20, 300) as u64).map(random).collect();
    let entered: usize = of_all.iter().map(|(entered, _)| entered).sum();
    let not_entered: usize = of_all.iter().map(|(_, not_entered)| not_entered).sum();
    assert!(
        entered > of_all.len() / 4 && not_entered > of_all.len() / 2,
        "{entered} {not_entered}"
    );
}

/// How many overlays were entered, and how many were not.
fn random(seed: u64) -> (usize, usize) {
    struct Overlay {
        is_covered: bool,
        /// Other overlays that are its layers.
        lower: Vec<usize>,
        inside: Option<usize>,
    }
    let mut dice = Dice::new(seed + 7_000_000);
    let names = ["plain", "a b", "c:d", "e\\f", "tab\tbed", "漢字", "-rf"];
    let (mut layers, mut script) = (Vec::new(), String::new());
    for (i, name) in names.into_iter().enumerate() {
        let is_below = dice.below(4) > 0;
        let dir = format!("{}/{name}", if is_below { "top" } else { "other" });
        writeln!(script, "fill \"$PWD/\"'{dir}'; mkdir '{dir}/in {i}'").unwrap();
        layers.push((dir, is_below));
    }
    let mut overlays: Vec<Overlay> = Vec::new();
    for i in 0..1 + dice.below(5) {
        let first = dice.below(layers.len());
        let count = 2 + dice.below(3);
        let lower: Vec<_> = (first..first + count).map(|at| &layers[at % layers.len()]).collect();
        let upper = (dice.below(2) > 0).then(|| dice.below(4) > 0);
        let is_covered = lower.iter().all(|(_, is_below)| *is_below) && upper != Some(false);
        // In another, at a directory that its topmost lower layer has.
        let inside = (i > 0 && dice.below(2) == 0).then(|| dice.below(i));
        let inside = inside.filter(|outer| overlays.iter().all(|it| it.inside != Some(*outer)));
        let point = match inside {
            Some(outer) => format!("\"$(ls -d point{outer}/in* | tail -n 1)\""),
            None => format!("top/m{i}"),
        };
        let numbers = lower.iter().filter_map(|(dir, _)| dir.strip_prefix("top/m")?.parse().ok());
        let overlays_below: Vec<usize> = numbers.collect();
        let is_relative = dice.below(2) > 0;
        let base = if is_relative { "" } else { "$PWD/" };
        let lower: Vec<_> = lower
            .iter()
            .map(|(dir, _)| format!("{base}{}", dir.replace('\\', r"\\\\").replace(':', r"\\:")))
            .collect();
        let mut options = format!("lowerdir={}", lower.join(":"));
        if let Some(is_below) = upper {
            let at = if is_below { "top" } else { "other" };
            writeln!(script, "fill {at}/u{i}; mkdir {at}/w{i}").unwrap();
            write!(options, ",upperdir={base}{at}/u{i},workdir={base}{at}/w{i}").unwrap();
        }
        // The kernel refuses some: overlays of overlays of overlays, and those that overlap.
        writeln!(script, "mkdir -p top/m{i}; point={point}; [ -d \"$point\" ] &&").unwrap();
        writeln!(script, "mount -t overlay x -o \"{options}\" \"$point\" 2> refused &&").unwrap();
        writeln!(script, "ln -s \"$PWD/$point\" point{i} || :").unwrap();
        overlays.push(Overlay { is_covered, lower: overlays_below, inside });
        if inside.is_none() && dice.below(2) == 0 {
            layers.push((format!("top/m{i}"), true));
        }
    }
    let fixture = Fixture::new().dir("top").dir("other");
    let script = format!(
        r#"{FILL} mount -t tmpfs none top; mount -t tmpfs none other
        {script}
        du -sx --block-size=1 top > du; mkdir see
        # Without what is mounted in it. Files in an overlay of several file systems are on none to du -x.
        for point in point*; do
            if [ -e "$point" ]; then
                mount --bind "$point" see; du -s --block-size=1 see | sed "s/see/$point/" >> du; umount see
            fi
        done
        for n in 1 2 8; do "$0" -j -T $n top 2>> said > weighed$n; done"#
    );
    in_namespace(&fixture, &script);
    let du = fixture.text("du");
    let sizes: Vec<(&str, u64)> = du
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(size, of)| (of, size.parse().unwrap()))
        .collect();
    let size_of = |of: &str| sizes.iter().find(|(name, _)| *name == of).map(|(_, size)| *size);
    let mounted: Vec<_> =
        (0..overlays.len()).filter(|i| size_of(&format!("point{i}")).is_some()).collect();
    let is_entered = |i: usize| {
        let mut open = vec![i];
        while let Some(at) = open.pop() {
            // It shows what is beneath a mount in its layer.
            let is_mounted_in =
                |layer| mounted.iter().any(|it| overlays[*it].inside == Some(layer));
            if !overlays[at].is_covered || overlays[at].lower.iter().copied().any(is_mounted_in) {
                return true;
            }
            open.extend(mounted.iter().filter(|inner| overlays[**inner].inside == Some(at)));
        }
        false
    };
    let entered: Vec<_> = mounted.iter().copied().filter(|i| is_entered(*i)).collect();
    let of_entered = entered.iter().filter_map(|i| size_of(&format!("point{i}")));
    let expected = size_of("top").unwrap() + of_entered.sum::<u64>();
    let said = String::from_utf8_lossy(&fixture.bytes("said")).into_owned();
    let weighed = |threads: u32| {
        let mut json = fixture.bytes(format!("weighed{threads}"));
        take_place(&mut json);
        json
    };
    for threads in [1, 2, 8] {
        let bytes = weighed(threads);
        assert_eq!(bytes, weighed(1), "seed {seed}");
        assert_eq!(Document::parse(&bytes).root().size, expected, "seed {seed}: {said}\n{script}");
    }
    (entered.len(), mounted.len() - entered.len())
}
