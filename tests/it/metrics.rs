//! Metrics: `--as prometheus` says what other forms say; promtool and a library that we did not write read it; and the
//! examples work, and show metrics that exist.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::dice::{Dice, Names};
use crate::fixture::{Fixture, raw};
use crate::rounds::rounds;
use crate::run::{in_namespace, python, said_by, weigh};

/// A line: the metric, its labels, and the figure.
type Sample = (String, Vec<(String, String)>, i128);

/// What the text format of Prometheus says that `text` has, which is complete.
fn samples(text: &str) -> Vec<Sample> {
    let (mut known, mut samples) = (Vec::<&str>::new(), Vec::new());
    let text = text.strip_suffix("# EOF\n").expect("it is complete");
    for line in text.lines() {
        if let Some(metric) = line.strip_prefix("# HELP ") {
            let (metric, help) = metric.split_once(' ').unwrap();
            assert!(help.ends_with('.') && !known.contains(&metric), "{line}");
            known.push(metric);
        } else if let Some(metric) = line.strip_prefix("# TYPE ") {
            assert_eq!(metric.split_once(' '), Some((*known.last().unwrap(), "gauge")), "{text}");
        } else {
            let sample = sample(line);
            assert_eq!(&sample.0, known.last().unwrap(), "all of a metric stand together: {text}");
            samples.push(sample);
        }
    }
    let labels: BTreeSet<_> = samples.iter().map(|(metric, labels, _)| (metric, labels)).collect();
    assert_eq!(labels.len(), samples.len(), "labels are there twice: {text}");
    samples
}

fn sample(line: &str) -> Sample {
    let (metric, mut rest) = line.split_once('{').unwrap();
    let mut labels = Vec::new();
    loop {
        let (name, value) = rest.split_once("=\"").unwrap();
        let (mut text, mut characters) = (String::new(), value.chars());
        loop {
            text.push(match characters.next().unwrap() {
                '"' => break,
                '\\' => match characters.next() {
                    Some('n') => '\n',
                    Some(c @ ('\\' | '"')) => c,
                    other => panic!("{other:?} in {line}"),
                },
                c => c,
            });
        }
        labels.push((name.to_owned(), text));
        match characters.as_str().split_at(1) {
            (",", others) => rest = others,
            ("}", figure) => return (metric.to_owned(), labels, figure[1..].parse().unwrap()),
            _ => panic!("{line}"),
        }
    }
}

/// Path and figure of each line of `metric`, which has no other label.
fn paths(text: &str, metric: &str) -> Vec<(String, i128)> {
    let samples = samples(text).into_iter().filter(|(name, ..)| name == metric);
    let of = |(_, labels, figure): Sample| match &labels[..] {
        [(name, path)] if name == "path" => (path.clone(), figure),
        _ => panic!("{labels:?}"),
    };
    samples.map(of).collect()
}

#[test]
fn metrics_have_the_figures_of_other_forms() {
    let fixture = Fixture::new().file("top/a/f", 100).file("top/b", 20).file("other/g", 3);
    for (flags, metric) in [
        ("-d 9", "weigh_size_bytes"),
        ("-s -d 9", "weigh_apparent_size_bytes"),
        ("-f -d 9", "weigh_files"),
        ("--inodes -n 9 top other", "weigh_inodes"),
        ("-s -F", "weigh_apparent_size_bytes"),
    ] {
        let run = |form: &str| {
            weigh(&format!("{flags} top --as {form}")).within(fixture.path()).run().text()
        };
        let rows = run("ndjson");
        let rows = rows.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let rows = rows.filter(|row| row["kind"] != "total");
        let rows = rows.map(|row| {
            (row["path"].as_str().unwrap().to_owned(), row["size"].as_u64().unwrap().into())
        });
        assert_eq!(paths(&run("prometheus"), metric), rows.collect::<Vec<_>>(), "{flags}");
    }
    // Without limits, only what was asked for.
    let given = |roots: &str| {
        let text = weigh(&format!("-s --as prometheus {roots}")).within(fixture.path()).run();
        paths(&text.text(), "weigh_apparent_size_bytes")
    };
    assert_eq!(given("top"), [("top".to_owned(), 120)]);
    assert_eq!(given("top other"), [("top".to_owned(), 120), ("other".to_owned(), 3)]);
}

/// The same path may have groups in one file and a size in another, and nothing is there twice.
#[test]
fn groups_have_a_label_for_their_key() {
    let fixture = Fixture::new().file("top/a.rs", 100).file("top/.rs", 20).file("other/b.rs", 3);
    let run = |flags: &str| {
        let text = weigh(&format!("-f --as prometheus {flags}")).within(fixture.path()).run();
        samples(&text.text())
    };
    let of = |labels: &[(&str, &str)], figure: i128| {
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        ("weigh_files".to_owned(), labels.collect::<Vec<_>>(), figure)
    };
    let [ending, none, dirs] =
        [".rs", "(no extension)", "(directories)"].map(|name| ("type", name));
    let top = ("path", "top");
    let expected = [of(&[top, none], 1), of(&[top, ending], 1), of(&[top, dirs], 0)];
    assert_eq!(run("--by type top"), expected);
    assert_eq!(run("-t top other"), [of(&[ending], 2), of(&[none], 1), of(&[dirs], 0)]);
    for (flags, key) in [("--by age top", "age"), ("--by owner top", "owner")] {
        let all = run(flags);
        assert_eq!((all.len(), all[0].2, &*all[0].1[1].0), (1, 2, key), "{all:?}");
    }
}

/// The half of a character at the end was replaced, too.
#[test]
fn a_long_label_is_cut_between_characters() {
    let fixture = Fixture::new();
    let name = "\u{e9}".repeat(3_000);
    let export = format!(r#"[1,0,{{}},[{{"name":"/x"}},{{"name":"{name}"}}]]"#);
    std::fs::write(fixture.at("export"), export).unwrap();
    let text = weigh("--as prometheus -n 5 --from").arg(fixture.at("export")).run().text();
    assert!(text.contains("\u{e9}\u{fffd}\"}"), "{}", text.replace('\u{e9}', ""));
}

#[test]
fn errors_are_counted_at_each_path() {
    let fixture = Fixture::new().file("top/f", 10).unreadable("top/closed").file("top2/f", 10);
    let fixture = fixture.unreadable("top2/a").unreadable("top2/b");
    let shown = weigh("--as prometheus top top2").within(fixture.path()).by_nobody(&fixture).run();
    assert_eq!(shown.code(), 1);
    let text = String::from_utf8(shown.stdout).unwrap();
    let errors = [("top", 1), ("top2", 2)].map(|(path, errors)| (path.to_owned(), errors));
    assert_eq!(paths(&text, "weigh_errors"), errors);
    // Limits leave out no PATH, so errors are at PATHs only.
    let run = |limits: &str| {
        let shown = weigh(&format!("-s --as prometheus {limits} top top2"));
        let shown = shown.within(fixture.path()).by_nobody(&fixture).run();
        String::from_utf8(shown.stdout).unwrap()
    };
    for limits in ["-n 0", "-n 1", "-z 1G", "-D -z 1G"] {
        let text = run(limits);
        let sizes = [("top", 10), ("top2", 10)].map(|(path, size)| (path.to_owned(), size));
        assert_eq!(paths(&text, "weigh_apparent_size_bytes"), sizes, "{limits}");
        assert_eq!(paths(&text, "weigh_errors"), errors, "{limits}");
    }
    // A list of files does not say which PATH they are below.
    assert_eq!(paths(&run("-F"), "weigh_errors"), []);
    // What was interrupted did not read everything.
    let json = r#"{"schema":1,"tool":"weigh","measure":"apparent","complete":false,"name":"top","kind":"directory",
        "size":9,"entries":1,"children":[],"errors":[]}"#;
    crate::saved::write(fixture.at("interrupted.weigh"), json);
    let shown = weigh("-s --as prometheus --from interrupted.weigh").within(fixture.path()).run();
    let text = String::from_utf8(shown.stdout).unwrap();
    assert_eq!(paths(&text, "weigh_errors"), [("top".to_owned(), 1)]);
}

/// A file with the same labels twice is refused by node_exporter as a whole.
#[test]
fn metrics_have_labels_of_their_own() {
    let fixture = Fixture::new()
        .file("top/a\"b\\n\nc", 16)
        .file(raw(b"top/\xff"), 1)
        .file(raw(b"top/\xfe"), 2)
        .file("top/\u{fffd}", 4)
        .file("top/\x1b", 8);
    let flags = "-s -z 0 --as prometheus top";
    let text = weigh(flags).within(fixture.path()).run().text();
    let expected = [("top", 31), ("top/a\"b\\n\nc", 16), ("top/\u{fffd}", 15)];
    let expected = expected.map(|(path, size)| (path.to_owned(), size));
    assert_eq!(paths(&text, "weigh_apparent_size_bytes"), expected, "{text}");
    // Paths are cut that no program can open: those of the last two directories, and of the files.
    let name = "x".repeat(200);
    let files = r#"{"name":"y","kind":"file","size":5},{"name":"z","kind":"file","size":4}"#;
    let content = (0..22).rev().fold(files.to_owned(), |content, level| {
        let entries = 24 - level;
        format!(
            r#"{{"name":"{name}","kind":"directory","size":9,"entries":{entries},"children":[{content}]}}"#
        )
    });
    let json = format!(
        r#"{{"schema":1,"tool":"weigh","measure":"apparent","complete":true,"name":"top","kind":"directory","size":9,
        "entries":25,"children":[{content}],"errors":[]}}"#
    );
    crate::saved::write(fixture.at("long.weigh"), &json);
    let text = weigh("-s -z 0 --as prometheus --from long.weigh").within(fixture.path()).run();
    let all = paths(&text.text(), "weigh_apparent_size_bytes");
    let (cut, figure) = all.last().unwrap();
    assert_eq!((all.len(), cut.len(), *figure), (22, 4096 + '\u{fffd}'.len_utf8(), 27));
    assert!(cut.starts_with(&all[20].0) && cut.ends_with("x\u{fffd}"));
    // Characters with escapes made them longer, and were cut.
    let way = format!("{}/", "\"".repeat(250)).repeat(10);
    let fixture = Fixture::new().file(format!("top/{way}a"), 1).file(format!("top/{way}b"), 2);
    let text = weigh("-F --as prometheus -s top").within(fixture.path()).run().text();
    let expected = [("b", 2), ("a", 1)].map(|(name, size)| (format!("top/{way}{name}"), size));
    assert_eq!(paths(&text, "weigh_apparent_size_bytes")[1..], expected, "{text}");
}

/// Every metric that can be printed.
fn known(fixture: &Fixture) -> BTreeSet<String> {
    let script = "mkdir m; mount -t tmpfs none m; exec 3>m/gone; echo x >&3; rm m/gone; echo x >m/f
        for measure in '' -s -f --inodes; do \"$0\" --as prometheus $measure m; done
        \"$0\" df --as prometheus m; \"$0\" df --as prometheus ";
    let text = String::from_utf8(in_namespace(fixture, script).stdout).unwrap();
    let files = text.split_inclusive("# EOF\n").flat_map(samples);
    files.map(|(metric, ..)| metric).collect()
}

/// The queries of the board.
fn queries() -> Vec<String> {
    let board: Value =
        serde_json::from_str(include_str!("../../examples/prometheus/board.json")).unwrap();
    let panels = board["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let queries = targets.map(|target| target["expr"].as_str().unwrap().to_owned());
    let variables = board["templating"]["list"].as_array().unwrap();
    let variables = variables.iter().filter_map(|variable| variable["query"].as_str());
    let lists = variables.filter_map(|query| query.strip_prefix("label_values("));
    let lists = lists.map(|query| query.split(',').next().unwrap().to_owned());
    queries.chain(lists).collect()
}

#[test]
#[ignore = "needs root"]
fn the_board_shows_metrics_and_labels_that_exist() {
    let fixture = Fixture::new();
    let known = known(&fixture);
    assert_eq!(known.len(), 13, "{known:?}");
    let page = include_str!("../../docs/metrics.md");
    assert!(known.iter().all(|metric| page.contains(&format!("`{metric}`"))), "docs/metrics.md");
    let queries = queries();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = queries.iter().flat_map(|query| query.split(|c| !is_name(c)));
    let shown: BTreeSet<_> = words.filter(|word| word.starts_with("weigh_")).collect();
    assert!(shown.len() >= 4 && shown.iter().all(|metric| known.contains(*metric)), "{shown:?}");
}

/// A `promtool` of Debian's package, and `prometheus_client` of pip.
#[test]
#[ignore = "needs root, promtool, and prometheus_client for Python"]
fn others_read_metrics_of_any_tree() {
    let promtool = std::env::var_os("PROMTOOL").unwrap_or_else(|| "promtool".into());
    let script = r#"
import json, sys
from prometheus_client.parser import text_string_to_metric_families as parse
for name in sys.argv[1:]:
    for family in parse(open(name, encoding="utf-8", newline="\n").read()):
        assert family.type == "gauge" and family.documentation, family
        for sample in family.samples:
            print(json.dumps([sample.name, sorted(sample.labels.items()), int(sample.value)]))
"#;
    const FLAGS: [&str; 7] =
        ["-z 0", "-s -D", "-f -d 2", "-n 9 -F", "-t", "--by owner", "--by age"];
    for seed in 0..rounds(100, 1_000) as u64 {
        let fixture = Dice::new(seed).tree(Fixture::in_memory(), Names::Hostile);
        let flags = FLAGS[seed as usize % FLAGS.len()];
        let roots = &["tree", "elsewhere"][..1 + seed as usize % 2];
        let run = weigh(&format!("--as prometheus {flags}")).within(fixture.path()).args(roots);
        let text = run.run().text();
        fs::write(fixture.at("x.prom"), &text).unwrap();
        let read = said_by(python().args(["-c", script, "x.prom"]), &fixture);
        let read: Vec<Sample> =
            read.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut expected = samples(&text);
        expected.iter_mut().for_each(|(_, labels, _)| labels.sort());
        assert_eq!(read, expected, "seed {seed}, {flags}");
        let mut check = Command::new(&promtool);
        check.args(["check", "metrics"]).stdin(fs::File::open(fixture.at("x.prom")).unwrap());
        // It has nothing to say, also of names and units.
        let check = check.stderr(Stdio::piped()).output().unwrap();
        let said = [check.stdout, check.stderr].concat();
        assert!(check.status.success() && said.is_empty(), "{}", String::from_utf8_lossy(&said));
    }
    // The queries of the board, as rules.
    let fixture = Fixture::new();
    let rules: Vec<Value> = queries()
        .iter()
        .enumerate()
        .map(|(i, query)| {
            let query = query.replace("$instance", "web1").replace("${path:regex}", "/srv");
            serde_json::json!({"record": format!("query_{i}"), "expr": query})
        })
        .collect();
    let file = serde_json::json!({"groups": [{"name": "board", "rules": rules}]});
    fs::write(fixture.at("rules.yml"), file.to_string()).unwrap();
    said_by(Command::new(&promtool).args(["check", "rules", "rules.yml"]), &fixture);
}

/// The script in the examples replaces a file at once, with mode 644, and only if the output is complete.
#[test]
#[ignore = "needs root"]
fn the_example_replaces_a_file_only_by_a_complete_one() {
    let fixture = Fixture::new().file("top/f", 10).file("x.prom", 3);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/prometheus/weigh-metrics");
    let path =
        format!("mkdir bin; ln -s \"$0\" bin/weigh; PATH=$PWD/bin:$PATH; umask 077; {script}");
    let runs = format!(
        "{path} x.prom -s top; echo $?
         {script} x.prom -s none; echo $?
         {script} over.prom -s --fail-over 1 top; echo $?; tail -n 1 over.prom
         mkdir full; mount -t tmpfs -o size=4k none full; echo old >full/x.prom
         {script} full/x.prom -s top; echo $?; cat full/x.prom; ls full"
    );
    let lines = String::from_utf8(in_namespace(&fixture, &runs).stdout).unwrap();
    assert_eq!(lines.lines().collect::<Vec<_>>(), ["0", "1", "3", "# EOF", "1", "old", "x.prom"]);
    assert_eq!(paths(&fixture.text("x.prom"), "weigh_apparent_size_bytes")[0].1, 10);
    let mode = fs::metadata(fixture.at("x.prom")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o644);
    assert_eq!(fixture.names(".").iter().filter(|name| name.starts_with("x.prom")).count(), 1);
}
