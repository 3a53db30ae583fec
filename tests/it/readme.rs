//! README and docs are true: whatever they tell a reader to type works as written, in a fresh home.
//!
//! * A block of `console` has commands, each after `$ `, and below each what it prints, byte for byte. When that
//!   changes: `UPDATE_GENERATED=1 cargo test --test it readme::`, then look at the difference.
//! * A block of `sh` is a script, which succeeds and has no complaint.
//! * `weigh …` in text or in a table succeeds, too, and so does each example of the man page.
//! * [`NOT_RUN`] has all commands that cannot run here, with the reason. No other block has commands.
//! * A block of `toml` is a config file, and one of `json` is JSON. Those of `sql` and `python` are run in [`export`].
//!
//! `/usr`, `/var` and `/` are small directories of the home, and so are words such as DIR.
//!
//! [`export`]: crate::export

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::fixture::{Fixture, entries_at};
use crate::run::{beside_unmatched, flags, is_kept, source, weigh};

/// What the README may have at most: who wants to know more opens a page of docs.
const README_WORDS: usize = 950;

const TOP: &str = env!("CARGO_MANIFEST_DIR");

/// README and the pages of docs, in the order of their paths.
fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir(Path::new(TOP).join("docs")).unwrap();
    let paths = docs.map(|entry| entry.unwrap().path());
    let is_page = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
    let mut pages: Vec<_> = paths.filter(is_page).collect();
    pages.push(Path::new(TOP).join("README.md"));
    pages.sort();
    assert!(pages.len() > 5, "{pages:?}");
    pages
}

fn readme() -> String {
    fs::read_to_string(Path::new(TOP).join("README.md")).unwrap()
}

/// Commands that these tests do not run: words in them, and the reason.
const NOT_RUN: &[(&str, &str)] = &[
    ("* * * root ", "is a crontab: metrics:: runs what it calls"),
    ("cargo ", "builds: tests below do that for README, .ci/run for the others"),
    ("cp completions/", "changes a home: a test below does that"),
    ("sqlite3 ", "needs sqlite3: export:: runs it"),
    ("host:/", "needs another machine: ssh:: does that"),
    ("hosts.txt", "needs other machines: ssh:: does that"),
    ("ssh ", "needs another machine: snapshots from a pipe are in screen:: and saving::"),
    ("web1:", "needs another machine: ssh:: does that"),
    ("sudo ", "needs root, for a device or caches: bulk:: and benches"),
    ("weigh --frees vm", "needs XFS: frees::"),
    ("weigh df PATH", "scans a whole disk: space:: and unseen:: do that"),
    ("weigh df /", "scans a whole disk: space:: and unseen:: do that"),
    ("weigh watch", "does not end by itself: watch::"),
    ("weigh ui", "needs a terminal: screen:: and recording::"),
    ("--apply", "asks on a terminal, and removes: cleaning::"),
    ("jq ", "needs jq"),
    ("strace ", "needs strace"),
    ("gh pr comment", "needs GitHub: the lines above it are like others"),
];

/// Why this command is not run, if it is not.
fn not_run(command: &str) -> Option<&'static str> {
    NOT_RUN.iter().find(|(words, _)| command.contains(words)).map(|(_, why)| *why)
}

/// The blocks between fences in `page`, each with its kind.
fn blocks(page: &str) -> impl Iterator<Item = (&str, &str)> {
    let fenced = page.split("```").skip(1).step_by(2);
    fenced.map(|block| block.split_once('\n').expect("a fence ends its line"))
}

/// The commands in a block of `console`.
fn commands(block: &str) -> impl Iterator<Item = &str> {
    block.lines().filter_map(|line| line.strip_prefix("$ "))
}

/// A home like that of somebody who reads the docs.
struct Home {
    home: Fixture,
}

impl Home {
    fn new() -> Self {
        let home = Fixture::new()
            .sparse("backups/monday/disk.img", 5 << 20)
            .hard_link("backups/monday/disk.img", "backups/tuesday/disk.img")
            .sparse("backups/tuesday/notes", 1 << 20)
            .sparse("photos/2025/a.jpg", 4 << 20)
            .sparse("photos/2026/b.jpg", 6 << 20)
            .sparse("photos/2026/c.png", 2 << 20)
            .sparse("project/.git/objects/pack/one.pack", 8 << 20)
            .dir("project/.git/refs")
            .file("project/.gitignore", 0)
            .sparse("project/data/labels.csv", 5 << 20)
            .sparse("project/data/points.csv", 45 << 20)
            .sparse("project/src/lib.rs", 40_000)
            .sparse("project/src/main.rs", 12_000)
            .sparse("project/target/debug/app", 30 << 20)
            .sparse("project/target/debug/deps/libapp.rlib", 80 << 20)
            .sparse("project/target/release/app", 12 << 20)
            .sparse("usr/bin/weigh", 2 << 20)
            .sparse("usr/lib/libc.so", 9 << 20)
            .sparse("usr/share/doc/du", 20_000)
            .sparse("var/log/syslog", 3 << 20);
        fs::write(home.at("project/.gitignore"), "target/\n").unwrap();
        fs::write(home.at("project/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        Self { home }
    }

    /// The home that `page` is about.
    fn of(page: &Path) -> Self {
        if page.ends_with("tour.md") { Self::of_the_tour() } else { Self::new() }
    }

    /// A small home with files of a few years. Where it is, directories take no blocks.
    fn of_the_tour() -> Self {
        const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n";
        let home = Fixture::in_memory()
            .file("Downloads/debian.iso", 9 << 20)
            .file("Downloads/talk.mp4", 6 << 20)
            .file("Music/live.flac", 7 << 20)
            .file("Pictures/2024/beach.jpg", 3 << 20)
            .file("Pictures/2024/boat.jpg", 2 << 20)
            .file("Pictures/2026/cat.jpg", 3 << 20)
            .file("backups/monday/mail.mbox", 5 << 20)
            .hard_link("backups/monday/mail.mbox", "backups/tuesday/mail.mbox")
            .file("backups/tuesday/notes.txt", 1 << 20)
            .file("src/shop/src/main.rs", 12_000)
            .file("src/shop/target/debug/shop", 12 << 20)
            .mode("src/shop/target/debug/shop", 0o755)
            .file("src/shop/target/debug/deps/libshop.rlib", 8 << 20)
            .file("src/blog/node_modules/in/index.js", 4 << 20)
            .file(".cache/pip/http-v2/a/b/wheel", 3 << 20)
            .file(".local/share/Trash/files/old.zip", 2 << 20);
        for (path, text) in [
            ("src/shop/Cargo.toml", "x"),
            ("src/shop/target/CACHEDIR.TAG", TAG),
            ("src/shop/target/.rustc_info.json", "{}"),
            ("src/blog/package.json", "{}"),
            ("src/blog/package-lock.json", r#"{"node_modules/in": {}}"#),
            ("src/blog/node_modules/in/package.json", "{}"),
        ] {
            fs::write(home.at(path), text).unwrap();
        }
        let mut home = home;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        for (path, _) in entries_at(home.path()) {
            let name = path.strip_prefix(home.path()).unwrap();
            let days = match name.iter().next().and_then(|first| first.to_str()) {
                Some("Downloads") if !name.ends_with("talk.mp4") => 800,
                Some("Pictures") if !name.ends_with("2026/cat.jpg") => 700,
                Some("src") if name.starts_with("src/blog") => 100,
                _ => 24,
            };
            home = home.modified(name, i64::try_from(now).unwrap() - days * 86_400 - 60);
        }
        Self { home }
    }

    /// What `script` comes to, by `sh`: whether it succeeds, and what it says on both streams.
    fn sh(&self, script: &str) -> (bool, String) {
        let small = [(" /usr", " usr"), (" /var", " var"), (" /\n", " usr\n"), (" / ", " usr ")];
        let script =
            small.iter().fold(format!("{script}\n"), |all, (one, two)| all.replace(one, two));
        let (program, source) = (env!("CARGO_BIN_EXE_weigh"), source().join(" "));
        let weigh = format!("weigh() {{ '{program}' {source} \"$@\"; }}");
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{weigh}\n{script}")])
            .current_dir(self.home.path())
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", std::env::var_os("PATH").unwrap())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        // The note of --remember names a file of this home, and that of the first diff says how large it is.
        let is_other = |line: &&str| {
            !line.starts_with("weigh: note: kept this scan: ")
                && !line.contains("This one is kept (")
                && !line.starts_with("hint: run weigh diff again later")
        };
        let said = said.split_inclusive('\n').filter(is_other).collect();
        (output.status.success(), said)
    }

    /// What the commands of a block of `console` print, in the form of that block.
    fn transcript(&self, block: &str) -> String {
        const END: char = '\x1e';
        let commands: Vec<_> = commands(block).collect();
        assert!(block.starts_with("$ "), "{block}");
        // The status of each is there for the next one to ask for.
        let script =
            |command: &&str| format!("{command}\nstatus=$?; printf '\\036'; (exit $status)\n");
        let (_, printed) = self.sh(&commands.iter().map(script).collect::<String>());
        let printed: Vec<_> = printed.split_terminator(END).collect();
        assert_eq!(printed.len(), commands.len(), "{block}\n{printed:?}");
        // When and where something was weighed is that of an example.
        let since = |line: &str| match (line.find(r#","time":"#), line.find(r#","complete":"#)) {
            (Some(start), Some(end)) => {
                let place =
                    r#","time":1795269720,"host":"web1","roots":[{"path":"/home/me/backups"}]"#;
                [&line[..start], place, &line[end..]].concat()
            }
            _ => match line.split_once(" since today ") {
                Some((before, time)) => {
                    format!("{before} since yesterday 14:02{}", &time["12:34".len()..])
                }
                None => line.to_owned(),
            },
        };
        let text = |text: &str| text.split_inclusive('\n').map(since).collect::<String>();
        let blocks = commands.iter().zip(printed);
        blocks.map(|(command, printed)| format!("$ {command}\n{}", text(printed))).collect()
    }
}

#[test]
fn what_is_shown_is_what_is_printed() {
    let mut count = 0;
    for page in pages() {
        let (home, text) = (Home::of(&page), fs::read_to_string(&page).unwrap());
        let mut mended = text.clone();
        for (kind, block) in blocks(&text) {
            if kind == "sh" {
                // The script for each night has a test below.
                if block.starts_with("#!") {
                    continue;
                }
                // A `cd`, and what else a line needs, is in the lines before it. A command may take several lines.
                let is_broken = block.contains("\\\n");
                let lines: Vec<_> = match is_broken {
                    true if not_run(block).is_some() => continue,
                    true => vec![block],
                    false => block.lines().filter(|line| not_run(line).is_none()).collect(),
                };
                let script = lines.join("\n");
                let (succeeds, said) = home.sh(&format!("set -e\nexec >/dev/null\n{script}"));
                let others = beside_unmatched(&said);
                assert!(succeeds && others.is_empty(), "{}: {block}{said}", page.display());
            } else if kind == "yaml" {
                // A workflow, which a test below runs.
            } else if kind == "console" && commands(block).all(|line| not_run(line).is_none()) {
                mended = mended.replace(block, &home.transcript(block));
                count += 1;
            } else if not_run(block).is_some() {
                assert_eq!(kind, "text", "{}: {block}", page.display());
            } else {
                // The others have tests of their own, those of queries and of text for their pages.
                let is_query = ["sql", "python"].contains(&kind) && page.ends_with("scripting.md");
                let own =
                    ["browse.md", "counting.md", "format.md", "lists.md", "clean.md", "nightly.md"];
                let has_test = own.iter().any(|own| page.ends_with(own));
                let is_text = kind == "text" && has_test;
                let is_tested = is_query || is_text || ["sh", "toml", "json"].contains(&kind);
                assert!(is_tested, "{}: {kind}", page.display());
            }
        }
        is_kept(&page, &mended, "");
    }
    assert!(count > 5, "{count}");
}

/// Each flag that the help of the tree shows, by its letter or its name, in text that is marked as code.
#[test]
fn every_flag_is_in_docs() {
    let pages: Vec<_> = pages().iter().map(|page| fs::read_to_string(page).unwrap()).collect();
    let code = pages.iter().flat_map(|text| text.split('`').skip(1).step_by(2));
    let is_between = |it: char| it.is_whitespace() || "=,|()\"'".contains(it);
    let words: HashSet<&str> = code.flat_map(|text| text.split(is_between)).collect();
    for (_, names) in flags() {
        assert!(names.iter().any(|name| words.contains(&**name)), "{names:?} is on no page");
    }
}

/// The names of actions, for the table `[keys]` of the config file.
#[test]
fn every_action_is_in_docs() {
    let fixture = Fixture::new();
    fs::write(fixture.at("config"), "[keys]\nnone = 'x'\n").unwrap();
    let refused = weigh("ui --config config").within(fixture.path()).run().complaint();
    let (_, actions) = refused.split_once("there are ").expect(&refused);
    let page = fs::read_to_string(Path::new(TOP).join("docs/config.md")).unwrap();
    let (_, listed) = page.split_once("The actions are ").unwrap();
    let (listed, _) = listed.split_once(".\n").unwrap();
    let listed: Vec<_> = listed.split('`').skip(1).step_by(2).collect();
    let actions: Vec<_> = actions.lines().next().unwrap().split(", ").collect();
    assert_eq!(listed, actions);
}

#[test]
fn commands_in_text_and_tables_work() {
    let words = |word: &str| match word {
        "DIR" | "PATH" => "usr".to_owned(),
        "DIR…" | "PATH…" => "usr var".to_owned(),
        "SHELL" => "bash".to_owned(),
        _ => word.replace('\u{a0}', " "),
    };
    let mut count = 0;
    for page in pages() {
        let (home, text) = (Home::of(&page), fs::read_to_string(&page).unwrap());
        let text: String = text.split("```").step_by(2).collect();
        let spans = text.split('`').skip(1).step_by(2);
        let spans = spans.filter(|span| span.starts_with("weigh ") && not_run(span).is_none());
        for span in spans {
            let command: Vec<_> = span.split_whitespace().map(words).collect();
            let (succeeds, said) = home.sh(&command.join(" "));
            assert!(succeeds, "{}: {span}: {said}", page.display());
            assert!(
                !said.is_empty() && !complains(said.trim_start_matches("weigh: ")),
                "{}: {span}: {said}",
                page.display()
            );
            count += 1;
        }
    }
    assert!(count > 15, "{count}");
}

/// Whether there is a message in what was `said`, other than that a filter has nothing to leave out here.
fn complains(said: &str) -> bool {
    beside_unmatched(said).iter().any(|line| line.starts_with("weigh: "))
}

/// Each line of EXAMPLES that has a command, as a shell gets it.
fn examples() -> Vec<String> {
    let man = fs::read_to_string(Path::new(TOP).join("man/weigh.1")).unwrap();
    let (_, examples) = man.split_once(".SH EXAMPLES\n").expect("there are some");
    let (examples, _) = examples.split_once("\n.SH").unwrap();
    let commands =
        examples.lines().filter_map(|line| line.strip_prefix("\\fB")?.strip_suffix("\\fR"));
    commands.map(|command| command.replace("\\-", "-").replace("\\e", "\\")).collect()
}

/// In their order, in one home: the second of two may compare with what the first one kept.
#[test]
fn examples_of_the_man_page_work() {
    let (home, examples) = (Home::new(), examples());
    assert!(examples.len() >= 15, "{examples:?}");
    for command in examples.iter().filter(|command| not_run(command).is_none()) {
        let (succeeds, said) = home.sh(&format!("set -e\n{command}"));
        assert!(succeeds && !complains(&said), "{command}: {said}");
    }
    let man = fs::read_to_string(Path::new(TOP).join("man/weigh.1")).unwrap();
    for question in ["My disk is full", "What can go", "What grew", "Why does df say more"] {
        assert!(man.contains(&format!("\n.SS {question}")), "{question}");
    }
}

/// A command that is not in a fence would be seen by no test. What is not run is still somewhere.
#[test]
fn every_command_is_in_a_fence_or_on_the_list() {
    let mut all = examples().join("\n");
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let outside: String = text.split("```").step_by(2).collect();
        for line in outside.lines().filter_map(|line| line.strip_prefix("    ")) {
            let word = line.trim_start().trim_start_matches("$ ").split(' ').next().unwrap_or("");
            let is_command = ["weigh", "sudo", "ssh", "cargo", "jq", "find"].contains(&word);
            assert!(!is_command, "{}: {line}", page.display());
        }
        all += &text;
    }
    all += &fs::read_to_string(Path::new(TOP).join("packaging/README.md")).unwrap();
    for (words, why) in NOT_RUN {
        assert!(all.contains(words), "{words} ({why}) is nowhere");
    }
}

/// The index, which mdBook reads, has each page once, by its title, and that is what the file is called.
#[test]
fn the_index_has_every_page_by_its_title() {
    let index = fs::read_to_string(Path::new(TOP).join("docs/SUMMARY.md")).unwrap();
    for page in pages() {
        let name = page.file_name().unwrap().to_str().unwrap().to_owned();
        if ["README.md", "SUMMARY.md"].contains(&&*name) {
            continue;
        }
        let text = fs::read_to_string(&page).unwrap();
        let title = text.lines().next().unwrap().strip_prefix("# ").expect(&name);
        let listed = format!("* [{}]({name})", title.replace('`', ""));
        assert_eq!(index.matches(&listed).count(), 1, "{listed}");
        let words = title.to_lowercase();
        for word in name.trim_end_matches(".md").split('-') {
            assert!(words.contains(word), "{name} is called {title}");
        }
    }
    assert!(index.contains("# weigh\n\n* [My disk is full]"), "that comes first");
}

/// Every picture is shown, and a test draws it: [`look`], [`recording`], or `.ci/page.py` (in a browser).
///
/// [`look`]: crate::look
/// [`recording`]: crate::recording
#[test]
fn every_picture_is_shown_and_drawn() {
    let drawn = ["look.rs", "recording.rs"].map(|name| Path::new(TOP).join("tests/it").join(name));
    let drawn = drawn.map(|path| fs::read_to_string(path).unwrap()).concat();
    let texts: Vec<_> = pages().iter().map(|page| fs::read_to_string(page).unwrap()).collect();
    let mut count = 0;
    for entry in fs::read_dir(Path::new(TOP).join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some((stem, "svg" | "png")) = name.rsplit_once('.') else { continue };
        assert!(texts.iter().any(|text| text.contains(&name)), "no page shows {name}");
        let is_screen =
            stem.strip_prefix("screen-").is_some_and(|it| drawn.contains(&format!("(\"{it}\"")));
        let is_page = ["page.png", "page-phone.png"].contains(&&*name);
        let is_other = ["\"", "docs/"].iter().any(|it| drawn.contains(&format!("{it}{name}\"")));
        assert!(is_screen || is_page || is_other, "{name}");
        count += 1;
    }
    assert!(count >= 10, "{count}");
}

#[test]
fn there_are_ten_examples() {
    let readme = readme();
    let (_, examples) =
        blocks(&readme).find(|(_, block)| block.starts_with("weigh ")).expect("there are some");
    assert_eq!(
        examples.lines().filter(|line| line.starts_with("weigh ")).count(),
        10,
        "{examples}"
    );
}

#[test]
fn the_readme_is_short() {
    let words = readme().split_whitespace().count();
    assert!(words <= README_WORDS, "{words}");
}

#[test]
fn config_files_are_read() {
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for (_, block) in blocks(&text).filter(|(kind, _)| *kind == "toml") {
            let home = Home::new();
            fs::create_dir_all(home.home.at(".config/weigh")).unwrap();
            fs::write(home.home.at(".config/weigh/config.toml"), block).unwrap();
            let (succeeds, said) = home.sh("weigh project");
            let root = if block.contains("reverse") { "┬ project" } else { "┴ project" };
            assert!(succeeds && said.contains(root), "{said}");
            count += 1;
        }
    }
    assert!(count > 0);
}

/// The lines of the workflow run as they are: on the main branch, and then in a pull request, in which something grew. `gh`
/// and `make` do nothing there.
#[test]
fn the_workflow_comments_and_fails_where_something_grew() {
    let text = fs::read_to_string(Path::new(TOP).join("docs/scripting.md")).unwrap();
    let (_, workflow) = blocks(&text).find(|(kind, _)| *kind == "yaml").unwrap();
    let steps: Vec<_> = workflow.split("      - ").skip(1).collect();
    let script = |step: &str| {
        let (_, run) = step.split_once("run: ").unwrap();
        let run = run.trim_start_matches("|\n").lines().take_while(|line| !line.trim().is_empty());
        let lines: Vec<_> = run.map(str::trim).collect();
        lines.join("\n").replace("${{ github.event.number }}", "7")
    };
    let step = |name: &str| script(steps.iter().find(|step| step.contains(name)).unwrap());
    let home = Home::new();
    let run =
        |lines: &str| home.sh(&format!("gh() {{ echo \"gh $*\" >>called; }}; set -e\n{lines}"));
    for (name, succeeds) in [
        ("Keep this one", true),
        ("Comment what grew", true),
        ("Fail if it grew", true),
        ("", true),
        ("Comment what grew", true),
        ("Fail if it grew", false),
    ] {
        let lines = match name {
            "" => "mkdir build/more && cp build/* build/more/ 2>/dev/null || true".to_owned(),
            name => step(name),
        };
        let lines =
            format!("mkdir -p build; test -e build/f || head -c 50000 /dev/zero >build/f\n{lines}");
        let (is_well, said) = run(&lines);
        assert_eq!(is_well, succeeds, "{lines}: {said}");
    }
    let called = fs::read_to_string(home.home.at("called")).unwrap();
    assert_eq!(called, "gh pr comment 7 --body-file comment.md\n".repeat(2));
    let comment = fs::read_to_string(home.home.at("comment.md")).unwrap();
    assert!(comment.contains("build grew by ") && comment.contains("| `more` |"), "{comment}");
}

/// The script for each night: nothing to compare with, no change, too much growth, the night after that, and one on which
/// the newest snapshot is damaged.
#[test]
fn the_script_for_each_night_keeps_snapshots_and_fails_where_too_much_grew() {
    let text = fs::read_to_string(Path::new(TOP).join("docs/nightly.md")).unwrap();
    let (_, script) = blocks(&text).find(|(_, block)| block.starts_with("#!")).unwrap();
    let script = script.replace("=/srv", "=project").replace("=/var/lib/weigh/srv", "=kept/night");
    let home = Home::new();
    let night = |before: &str| {
        let (_, said) =
            home.sh(&format!("{before}\n({script})\necho \"status $?\"; ls kept/night"));
        let (said, files) = said.rsplit_once("status ").expect("it ends");
        let (status, files) = files.split_once('\n').unwrap();
        (said.to_owned(), status.to_owned(), files.lines().count())
    };
    // Some file systems only know how much it takes once it is written.
    let grow = "head -c 90000000 /dev/zero >project/new; sync project/new";
    for (before, says, status, files) in [
        ("", "┴ project", "0", 1),
        ("", "project did not change since", "0", 1),
        (grow, "over the limit of 10% (--fail-growth)", "3", 1),
        ("", "project did not change since", "0", 1),
        ("truncate -s 100 kept/night/*", "it ends too early", "2", 2),
        ("", "project did not change since", "0", 2),
    ] {
        let (said, ended, kept) = night(before);
        assert!(said.contains(says), "{before}: {said}");
        assert_eq!((&*ended, kept), (status, files), "{before}: {said}");
    }
}

#[test]
fn json_can_be_read() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for (_, block) in blocks(&text).filter(|(kind, _)| *kind == "json") {
            let value: Result<serde_json::Value, _> = serde_json::from_str(block);
            assert!(value.is_ok(), "{}: {block}{value:?}", page.display());
        }
    }
}

/// Links within the project lead to a file, and to a heading where they name one. Those of docs stay there, because a
/// book of them has nothing else.
#[test]
fn links_lead_somewhere() {
    let for_contributors = [
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "benches/LABBOOK.md",
        "benches/README.md",
        "packaging/README.md",
        "tests/README.md",
        "tests/ROBUSTNESS.md",
    ];
    let others = for_contributors.map(|name| Path::new(TOP).join(name));
    for page in pages().into_iter().chain(others) {
        let text = fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.starts_with("https://") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.with_file_name(file) };
            assert!(target.exists(), "{}: {link}", page.display());
            let is_in_book = page.parent().is_some_and(|place| place.ends_with("docs"));
            assert!(!is_in_book || !link.starts_with("../"), "{}: {link}", page.display());
            if !heading.is_empty() {
                let target = fs::read_to_string(target).unwrap();
                let anchors: Vec<_> = target.lines().filter_map(anchor).collect();
                assert!(
                    anchors.iter().any(|one| one == heading),
                    "{}: {link}: {anchors:?}",
                    page.display()
                );
            }
        }
    }
}

/// What a heading is called in a link.
fn anchor(line: &str) -> Option<String> {
    let title = line.strip_prefix('#')?.trim_start_matches('#').trim().to_lowercase();
    let is_kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    Some(title.chars().filter(is_kept).map(|c| if c == ' ' { '-' } else { c }).collect())
}

/// Runs the block of `page` that has `line`, with `run` in its place, where the source is, and with `home` as the home.
fn install(page: &str, line: &str, run: &str, home: &Fixture, variables: &[(&str, &Path)]) {
    let page = fs::read_to_string(Path::new(TOP).join(page)).unwrap();
    let (_, script) = blocks(&page).find(|(_, block)| block.contains(line)).expect("it is there");
    let script = script.replace(line, run);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("set -e\n{script}")]).current_dir(TOP).env("HOME", home.path());
    let output = command.envs(variables.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The release profile takes minutes to build. So the command installs that of development, from the dependencies that
/// are built for the tests, too; the workflow that makes releases builds and runs the real one.
#[test]
#[ignore = "builds the program once more"]
fn the_program_is_installed_in_a_fresh_home() {
    let (home, old) = (Fixture::new(), PathBuf::from(std::env::var_os("HOME").unwrap()));
    let place = |name, usual| std::env::var_os(name).map_or_else(|| old.join(usual), PathBuf::from);
    // The toolchain and the sources of dependencies are not the home's.
    let (cargo, rustup) = (place("CARGO_HOME", ".cargo"), place("RUSTUP_HOME", ".rustup"));
    let own = Path::new(env!("CARGO_TARGET_TMPDIR"));
    install(
        "README.md",
        "cargo install",
        "cargo install --debug",
        &home,
        &[
            ("CARGO_HOME", &cargo),
            ("RUSTUP_HOME", &rustup),
            ("CARGO_INSTALL_ROOT", &home.at(".cargo")),
            // The tests run the program in the other one.
            ("CARGO_TARGET_DIR", &own.join("install")),
            ("CARGO_BUILD_BUILD_DIR", own.parent().unwrap()),
        ],
    );
    let version = Command::new(home.at(".cargo/bin/weigh")).arg("--version").output().unwrap();
    assert_eq!(version.stdout, concat!("weigh ", env!("CARGO_PKG_VERSION"), "\n").as_bytes());
}

/// Each of them needed a directory that a fresh home does not have.
#[test]
fn completions_and_the_man_page_are_installed_in_a_fresh_home() {
    let home = Fixture::new();
    install("packaging/README.md", "cp completions/", "cp completions/", &home, &[]);
    for (place, file) in [
        (".local/share/bash-completion/completions/weigh", "completions/weigh.bash"),
        (".config/fish/completions/weigh.fish", "completions/weigh.fish"),
        (".zfunc/_weigh", "completions/_weigh"),
        (".local/share/man/man1/weigh.1", "man/weigh.1"),
    ] {
        let kept = Path::new(TOP).join(file);
        assert_eq!(home.bytes(place), fs::read(kept).unwrap(), "{place}");
    }
    let finds =
        "fpath+=~/.zfunc; autoload -Uz compinit && compinit -u && [[ $_comps[weigh] == _weigh ]]";
    match Command::new("zsh").args(["-c", finds]).env("HOME", home.path()).output() {
        Ok(output) => assert!(output.status.success() && output.stderr.is_empty(), "{output:?}"),
        Err(_) => eprintln!("zsh is not installed"),
    }
}
