//! What `--reclaimable` lists, and above all what it does not: every rule finds what its markers prove, nothing is
//! found without one of them, and nothing that may be missed is found at all.

use std::collections::BTreeSet;
#[cfg(target_os = "linux")]
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::fixture::{Fixture, entries_at};
use crate::gitignore::git;
use crate::run::{Weigh, in_namespace, is_kept, weigh};
use crate::tracked::COMMIT;

const RULES: &str = include_str!("../../src/ask/reclaimable/rules.toml");
const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n# by somebody";
const GO: &str = "This directory holds cached build artifacts from the Go build system.\nRun";
const MAVEN: &str = "#NOTE\n#Sat\na-1.jar>central=\na-1.pom>central=\n";
const ELF: &str = "\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x04\0\x3e\0";

/// What one rule finds.
struct Case {
    rule: &'static str,
    /// What is found.
    at: &'static str,
    /// What proves it: paths, each with its text. A slash at the end is a directory.
    markers: &'static [(&'static str, &'static str)],
}

const fn case(
    rule: &'static str,
    at: &'static str,
    markers: &'static [(&'static str, &'static str)],
) -> Case {
    Case { rule, at, markers }
}

/// One for each rule whose place is not fixed.
const CASES: &[Case] = &[
    case(
        "cargo-target",
        "p/target",
        &[
            ("p/Cargo.toml", "x"),
            ("p/target/CACHEDIR.TAG", TAG),
            ("p/target/.rustc_info.json", "{}"),
        ],
    ),
    case(
        "cargo-registry",
        ".cargo/registry",
        &[(".cargo/registry/cache/", ""), (".cargo/registry/index/", "")],
    ),
    case("cargo-git", ".cargo/git", &[(".cargo/git/db/", ""), (".cargo/git/checkouts/", "")]),
    case(
        "npm-packages",
        "p/node_modules",
        &[("p/package.json", "{}"), ("p/package-lock.json", "{\"node_modules/in\": {}}")],
    ),
    case(
        "pnpm-packages",
        "p/node_modules",
        &[("p/package.json", "{}"), ("p/pnpm-lock.yaml", "in@1.0.0:")],
    ),
    case(
        "yarn-packages",
        "p/node_modules",
        &[("p/package.json", "{}"), ("p/yarn.lock", "in@^1.0:")],
    ),
    case(
        "bun-packages",
        "p/node_modules",
        &[("p/package.json", "{}"), ("p/bun.lock", "\"in\": [\"in@1.0.0\"]")],
    ),
    case(
        "npm-cache",
        ".npm/_cacache",
        &[(".npm/_cacache/content-v2/", ""), (".npm/_cacache/index-v5/", "")],
    ),
    case("pnpm-store", "pnpm/store/v10", &[("pnpm/store/v10/files/", "")]),
    case("yarn-cache", ".cache/yarn/v6", &[(".cache/yarn/v6/.tmp/", "")]),
    case("bun-cache", ".bun/install/cache", &[(".bun/install/cache/a@1.0.0@@@1/", "")]),
    case(
        "uv-cache",
        ".cache/uv",
        &[(".cache/uv/CACHEDIR.TAG", TAG), (".cache/uv/archive-v0/", "")],
    ),
    case(
        "hugging-face-cache",
        ".cache/huggingface/hub",
        &[(".cache/huggingface/hub/models--a--b/", "")],
    ),
    case("playwright", ".cache/ms-playwright", &[(".cache/ms-playwright/chromium-1200/", "")]),
    case(
        "next-output",
        "p/.next",
        &[("p/package.json", "{}"), ("p/.next/BUILD_ID", "x"), ("p/.next/cache/", "")],
    ),
    case(
        "nuxt-output",
        "p/.nuxt",
        &[
            ("p/package.json", "{}"),
            ("p/nuxt.config.ts", "x"),
            ("p/.nuxt/nuxt.d.ts", "x"),
            ("p/.nuxt/types/", ""),
        ],
    ),
    case(
        "svelte-output",
        "p/.svelte-kit",
        &[
            ("p/package.json", "{}"),
            ("p/.svelte-kit/generated/", ""),
            ("p/.svelte-kit/tsconfig.json", "{}"),
        ],
    ),
    case("angular-cache", "p/.angular", &[("p/angular.json", "{}"), ("p/.angular/cache/", "")]),
    case(
        "docusaurus-output",
        "p/.docusaurus",
        &[
            ("p/package.json", "{}"),
            ("p/docusaurus.config.js", "x"),
            ("p/.docusaurus/routes.js", "x"),
            ("p/.docusaurus/site-metadata.json", "{}"),
        ],
    ),
    case(
        "parcel-cache",
        "p/.parcel-cache",
        &[
            ("p/package.json", "{}"),
            ("p/.parcel-cache/data.mdb", "x"),
            ("p/.parcel-cache/lock.mdb", "x"),
        ],
    ),
    case(
        "turbo-cache",
        "p/.turbo",
        &[("p/package.json", "{}"), ("p/turbo.json", "{}"), ("p/.turbo/cache/", "")],
    ),
    case("claude-sessions", ".claude/projects", &[(".claude/projects/-home-me/", "")]),
    case("claude-checkpoints", ".claude/file-history", &[(".claude/file-history/1-2-3-4-5/", "")]),
    case(
        "claude-output",
        "claude-1000/-home-me/tasks",
        &[("claude-1000/-home-me/tasks/b1.output", "x")],
    ),
    case(
        "agent-worktree",
        "p/.claude/worktrees/a",
        &[("p/.claude/worktrees/a/.git", "gitdir: /p/.git/worktrees/a")],
    ),
    case("codex-sessions", ".codex/sessions", &[(".codex/sessions/2026/", "")]),
    case("pip-cache", ".cache/pip", &[(".cache/pip/http-v2/", "")]),
    case(
        "conda-packages",
        "conda/pkgs",
        &[("conda/pkgs/urls.txt", "x"), ("conda/pkgs/cache/", ""), ("conda/conda-meta/", "")],
    ),
    case(
        "python-environment",
        "p/.venv",
        &[("p/uv.lock", ""), ("p/.venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.12\n")],
    ),
    case("python-unlocked", "p/env", &[("p/env/pyvenv.cfg", "home = /usr/bin\n")]),
    case("python-bytecode", "p/__pycache__", &[("p/a.py", "x")]),
    case(
        "go-build-cache",
        "go-build",
        &[("go-build/README", GO), ("go-build/00/", ""), ("go-build/ff/", "")],
    ),
    case("go-modules", "go/pkg/mod", &[("go/pkg/mod/cache/download/", "")]),
    case(
        "maven-artifact",
        "m2/a/1",
        &[("m2/a/1/_remote.repositories", MAVEN), ("m2/a/1/a-1.pom", "x")],
    ),
    case("maven-target", "p/target", &[("p/pom.xml", "x"), ("p/target/maven-archiver/", "")]),
    case("gradle-cache", ".gradle/caches", &[(".gradle/caches/modules-2/", "")]),
    case(
        "gradle-distributions",
        ".gradle/wrapper/dists",
        &[(".gradle/wrapper/dists/gradle-8.5-bin/", "")],
    ),
    case("ccache", ".cache/ccache", &[(".cache/ccache/0/", ""), (".cache/ccache/f/", "")]),
    case("sccache", ".cache/sccache", &[(".cache/sccache/0/", ""), (".cache/sccache/f/", "")]),
    case("bazel", ".cache/bazel", &[(".cache/bazel/_bazel_me/", "")]),
    case(
        "pytest-cache",
        ".pytest_cache",
        &[(".pytest_cache/CACHEDIR.TAG", TAG), (".pytest_cache/v/cache/", "")],
    ),
    case(
        "mypy-cache",
        ".mypy_cache",
        &[(".mypy_cache/CACHEDIR.TAG", TAG), (".mypy_cache/3.12/", "")],
    ),
    case(
        "ruff-cache",
        ".ruff_cache",
        &[(".ruff_cache/CACHEDIR.TAG", TAG), (".ruff_cache/0.4.1/", "")],
    ),
    case(
        "fontconfig-cache",
        "fontconfig",
        &[("fontconfig/CACHEDIR.TAG", TAG), ("fontconfig/1f.cache-7", "x")],
    ),
    case("thumbnails", ".cache/thumbnails", &[(".cache/thumbnails/large/", "")]),
    case("cache-tag", "any", &[("any/CACHEDIR.TAG", TAG)]),
    case("journal", "log/journal/1f", &[("log/journal/1f/system.journal", "x")]),
    case("core-dumps", "systemd/coredump", &[("systemd/coredump/core.sh.1", "x")]),
    case("core-dump", "p/core.17", &[("p/core.17", ELF)]),
    case("trash", ".local/share/Trash", &[(".local/share/Trash/files/", "")]),
];

/// Rules that only know one place of the system, with what is there.
const FIXED: [(&str, &str, &str); 3] = [
    ("apt", "/var/cache/apt", "archives/partial/x"),
    ("dnf", "/var/cache/dnf", "fedora-1/repodata/x"),
    ("pacman", "/var/cache/pacman/pkg", "a-1-1-any.pkg.tar.zst"),
];

/// What the rules say cannot be made again.
const FINAL: [&str; 10] = [
    "python-unlocked",
    "claude-sessions",
    "claude-checkpoints",
    "claude-output",
    "agent-worktree",
    "codex-sessions",
    "journal",
    "core-dumps",
    "core-dump",
    "trash",
];

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64
}

/// Makes everything in `fixture` look as if it was last written `days` ago.
fn aged(fixture: Fixture, days: i64) -> Fixture {
    let time = now() - days * 86_400 - 60;
    let paths = entries_at(fixture.path()).into_iter().map(|(path, _)| path);
    paths.fold(fixture, |fixture, path| fixture.modified(path, time))
}

impl Case {
    fn made(&self) -> Fixture {
        self.made_without("")
    }

    /// Without one of the markers.
    fn made_without(&self, left_out: &str) -> Fixture {
        // Its directories take no blocks: what has links elsewhere frees nothing then.
        let fixture = Fixture::in_memory();
        self.make_in(fixture.path(), left_out);
        aged(fixture, 40)
    }

    fn make_in(&self, top: &Path, left_out: &str) {
        for (path, text) in self.markers.iter().filter(|(path, _)| *path != left_out) {
            match path.strip_suffix('/') {
                Some(directory) => fs::create_dir_all(top.join(directory)).unwrap(),
                None => write(&top.join(path), text),
            }
        }
        if !self.at.contains("core.") {
            // Not in a marker that is left out.
            let payload = self.payload();
            let is_in_it = !left_out.is_empty() && payload.starts_with(left_out);
            let payload = if is_in_it { format!("{}/other/payload", self.at) } else { payload };
            write(&top.join(payload), &"w".repeat(100_000));
        }
        if self.at.ends_with("node_modules") {
            write(&top.join(self.at).join("in/package.json"), "{}");
        }
    }

    /// A file in what is found.
    fn payload(&self) -> String {
        let name = match self.rule {
            "python-bytecode" => "a.cpython-312.pyc",
            "cargo-target" => "tmp/payload",
            "cargo-registry" => "index/in/payload",
            "cargo-git" => "db/a-1/payload",
            "npm-cache" => "content-v2/sha512/payload",
            "pnpm-store" => "files/00/payload",
            "yarn-cache" => ".tmp/payload",
            "bun-cache" => "a@1.0.0@@@1/payload",
            "uv-cache" => "archive-v0/payload",
            "pip-cache" => "http-v2/a/payload",
            "hugging-face-cache" => "models--a--b/payload",
            "playwright" => "chromium-1200/payload",
            "next-output" => "cache/payload",
            "nuxt-output" => "types/payload",
            "svelte-output" => "generated/payload",
            "angular-cache" => "cache/20.0.0/payload",
            "docusaurus-output" => "docusaurus-plugin-content-docs/payload",
            "parcel-cache" => "payload.blob",
            "turbo-cache" => "cache/payload.tar.zst",
            "claude-sessions" => "-home-me/payload",
            "codex-sessions" => "2026/payload",
            "conda-packages" => "a-1-0/payload",
            "python-environment" => "lib/python3/payload",
            "go-build-cache" => "00/payload-d",
            "go-modules" => "cache/download/payload",
            "maven-target" => "classes/payload",
            "gradle-cache" => "modules-2/payload",
            "gradle-distributions" => "gradle-8.5-bin/payload",
            "ccache" | "sccache" => "0/payload",
            "bazel" => "_bazel_me/payload",
            "thumbnails" => "large/0123456789abcdef0123456789abcdef.png",
            "pytest-cache" => "v/cache/payload",
            "mypy-cache" => "3.12/payload",
            "ruff-cache" => "0.4.1/payload",
            "fontconfig-cache" => "1f.cache-7",
            "maven-artifact" => "a-1.jar",
            _ => "in/payload",
        };
        format!("{}/{name}", self.at)
    }

    fn is_final(&self) -> bool {
        FINAL.contains(&self.rule)
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text.chars().map(|c| c as u8).collect::<Vec<_>>()).unwrap();
}

fn look(flags: &str, fixture: &Fixture) -> Weigh {
    weigh("clean").args(flags.split_whitespace()).within(fixture.path())
}

/// The rule and the path of each entry that is found, or cannot be made again.
fn found(fixture: &Fixture) -> BTreeSet<(String, String)> {
    let json = look("-j", fixture).run().json();
    let lists = ["found", "by_program", "others"]
        .map(|list| json["reclaimable"][list].as_array().unwrap().clone());
    let text = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
    let all = lists.concat();
    let all = all.iter().map(|one| (text(one, "rule"), text(one, "path")));
    // Any environment without a lock file is listed, so that somebody looks; and a storage, so that its engine does.
    all.filter(|(rule, path)| rule != "python-unlocked" || path == "./p/env")
        .filter(|(rule, _)| rule != "docker-storage")
        .collect()
}

fn finds(fixture: &Fixture, rule: &str) -> bool {
    found(fixture).iter().any(|(name, _)| name == rule)
}

/// What is said if nothing is found, at any age.
const MARKER: &str =
    ": a directory needs proof, such as Cargo.toml beside target and CACHEDIR.TAG in it";

#[test]
fn every_rule_is_tried() {
    let names = RULES.lines().filter_map(|line| line.strip_prefix("name = \""));
    let names: Vec<_> = names.map(|name| name.trim_end_matches('"')).collect();
    let tried = CASES.iter().map(|case| case.rule).chain(FIXED.iter().map(|one| one.0));
    let tried = tried.chain(ENGINES.iter().map(|one| one.0));
    assert_eq!(BTreeSet::from_iter(names.iter().copied()), tried.collect());
    let finals = RULES.split("[[rule]]").filter(|rule| rule.contains("\nagain = false"));
    assert_eq!(finals.count(), FINAL.len());
}

#[test]
fn every_rule_finds_what_its_markers_prove_and_nothing_without_one() {
    for case in CASES {
        let path = format!("./{}", case.at);
        let expected = [(case.rule.to_owned(), path)].into();
        assert_eq!(found(&case.made()), expected, "{}", case.rule);
        for (marker, _) in case.markers {
            let is_found = finds(&case.made_without(marker), case.rule);
            assert!(!is_found, "{} without {marker}", case.rule);
        }
    }
}

/// What makes of something that is found something that is in doubt. The second tree is elsewhere.
type Spoil = fn(&Case, &Fixture, &Fixture);

/// Each of them on each rule.
const SPOILS: &[(&str, Spoil)] = &[
    ("a marker is a symlink", |case, fixture, elsewhere| {
        for (marker, _) in case.markers {
            let (marker, real) = (fixture.at(marker.trim_end_matches('/')), elsewhere.at("real"));
            if !real.exists() {
                fs::rename(&marker, &real).unwrap();
                symlink(&real, &marker).unwrap();
            }
        }
    }),
    ("it is a symlink to elsewhere", |case, fixture, elsewhere| {
        fs::rename(fixture.at(case.at), elsewhere.at("real")).unwrap();
        symlink(elsewhere.at("real"), fixture.at(case.at)).unwrap();
    }),
    ("git tracks a file in it", |case, fixture, _| {
        let tracked = match fixture.at(case.at).is_file() {
            true => case.at.to_owned(),
            false => case.payload(),
        };
        write(&fixture.at(".gitignore"), "*\n");
        git(fixture, fixture.path(), &["init", "-q"]);
        git(fixture, fixture.path(), &["add", "-f", &tracked]);
    }),
    ("it is in an engine's storage", |case, fixture, _| {
        let layer = fixture.at("docker/overlay2/1f/diff");
        fs::create_dir_all(&layer).unwrap();
        fs::create_dir_all(fixture.at("docker/image")).unwrap();
        let top = Path::new(case.at).iter().next().unwrap();
        fs::rename(fixture.at(top), layer.join(top)).unwrap();
        if let Some((marker, _)) = case.markers.iter().find(|(it, _)| !it.starts_with(case.at)) {
            assert!(layer.join(marker).exists(), "{marker}");
        }
    }),
];

/// Each of them on each rule that finds what comes back; and the rest of what can be wrong.
const SPOILS_OF_WHAT_COMES_BACK: &[(&str, Spoil)] = &[
    ("it was written an hour ago", |case, fixture, _| touch(&fixture.at(case.payload()), 3_600)),
    ("it will be written tomorrow", |case, fixture, _| touch(&fixture.at(case.payload()), -86_400)),
    ("all of it has links elsewhere", |case, fixture, elsewhere| {
        let files = entries_at(&fixture.at(case.at)).into_iter().filter(|(_, stat)| stat.is_file());
        for (i, (file, _)) in files.enumerate() {
            fs::hard_link(file, elsewhere.at(i.to_string())).unwrap();
        }
    }),
];

fn touch(path: &Path, ago: i64) {
    let time = rustix::fs::Timespec { tv_sec: now() - ago, tv_nsec: 0 };
    let times = rustix::fs::Timestamps { last_access: time, last_modification: time };
    rustix::fs::utimensat(rustix::fs::CWD, path, &times, rustix::fs::AtFlags::empty()).unwrap();
}

/// Asserts that nothing of a case is found any more once it is spoilt.
fn assert_spoilt(case: &Case, (why, spoil): &(&str, Spoil), is_aged: bool) {
    let (fixture, elsewhere) = (case.made(), Fixture::in_memory());
    assert!(finds(&fixture, case.rule), "{}", case.rule);
    spoil(case, &fixture, &elsewhere);
    let fixture = if is_aged { aged(fixture, 40) } else { fixture };
    let mut found = found(&fixture);
    if case.rule == "cargo-target" && *why == "a marker is a symlink" {
        // Its tag is as good without Cargo.toml.
        found.retain(|(rule, _)| rule != "cache-tag");
    }
    assert_eq!(found, BTreeSet::new(), "{}: {why}", case.rule);
}

#[test]
fn what_is_in_doubt_is_not_listed() {
    for case in CASES {
        // Git tracks nothing in a work tree of another repository.
        let is_other_tree = |why: &str| case.rule == "agent-worktree" && why.starts_with("git");
        for spoil in SPOILS.iter().filter(|(why, _)| !is_other_tree(why)) {
            assert_spoilt(case, spoil, true);
        }
        for spoil in SPOILS_OF_WHAT_COMES_BACK.iter().filter(|_| !case.is_final()) {
            assert_spoilt(case, spoil, false);
        }
        // What cannot be made again is shown at any age.
        let fixture = case.made();
        let payload = fixture.at(case.payload());
        if case.is_final() && payload.exists() {
            touch(&payload, 3_600);
            assert!(finds(&fixture, case.rule), "{}", case.rule);
        }
    }
}

fn named(rule: &str) -> &'static Case {
    CASES.iter().find(|case| case.rule == rule).unwrap()
}

/// Traps of one rule: a file with its text that spoils it, or that takes the place of one that was there.
#[test]
fn what_looks_like_it_is_not_listed() {
    for (rule, path, text) in [
        ("cargo-target", "p/target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc5"),
        ("cargo-target", "p/target/CACHEDIR.TAG", "\nSignature: 8a477f597d28d172789f06886806bc55"),
        ("cargo-target", "p/target/CACHEDIR.TAG", ""),
        ("cargo-target", "p/target/d/.git/HEAD", "ref: refs/heads/main"),
        ("cache-tag", "any/CACHEDIR.TAG", "Signature: 8A477F597D28D172789F06886806BC55"),
        ("cache-tag", "any/pyvenv.cfg", "home = /usr/bin"),
        ("cache-tag", "any/d/e/.git", "gitdir: /elsewhere"),
        ("npm-packages", "p/node_modules/mine/.git/HEAD", "ref: refs/heads/main"),
        ("python-environment", "p/.venv/lib/direct_url.json", "{\"dir_info\":{\"editable\":true}}"),
        ("python-environment", "p/.venv/lib/mine.egg-link", "/home/me/mine"),
        ("python-environment", "p/.venv/lib/easy-install.pth", "/home/me/mine"),
        ("python-environment", "p/.venv/lib/__editable__.mine-1.pth", "/home/me/mine"),
        ("python-environment", "p/.venv/src/mine/.git/HEAD", "ref: refs/heads/main"),
        ("python-environment", "p/.venv/pyvenv.cfg", "homeless = 1"),
        ("python-bytecode", "p/__pycache__/notes.txt", "mine"),
        ("python-bytecode", "p/__pycache__/d/a.py", "mine"),
        ("go-build-cache", "go-build/README", "This directory holds my photos"),
        ("maven-artifact", "m2/a/1/_remote.repositories", "a-1.jar>=\na-1.pom>=\n"),
        ("maven-artifact", "m2/a/1/_remote.repositories", "a-1.jar>central=\na-1.pom>=\n"),
        ("maven-artifact", "m2/a/1/_remote.repositories", "#a-1.jar>central=\n"),
        ("maven-artifact", "m2/a/1/maven-metadata-local.xml", "<metadata/>"),
        ("maven-artifact", "m2/a/1/thesis.docx", "mine"),
        ("go-build-cache", "go-build/fuzz/x", "x"),
        ("npm-packages", "p/node_modules/in/.hg/x", "x"),
        ("npm-packages", "p/node_modules/in/CVS/Entries", "/mine/1.1///"),
        ("npm-packages", "p/.svn/x", "x"),
        ("npm-packages", "p/.sl/x", "x"),
        ("npm-packages", "p/CVS/Entries", "D/node_modules////"),
        ("npm-packages", "p/_FOSSIL_", "x"),
        ("npm-packages", "p/.jj/repo/x", "x"),
        ("npm-packages", "p/.git/HEAD", ""),
        ("npm-packages", ".hg/x", "x"),
        ("npm-packages", "p/.got/x", "x"),
        ("npm-packages", "p/_MTN/x", "x"),
        ("npm-packages", ".p4config", "P4PORT=x"),
        ("npm-packages", ".plastic/x", "x"),
        ("npm-packages", ".repo/x", "x"),
        ("npm-packages", "p/RCS/package.json,v", "x"),
        ("npm-packages", "p/SCCS/s.package.json", "x"),
        ("npm-packages", "BitKeeper/x", "x"),
        ("npm-packages", "p/.bk/x", "x"),
        ("npm-packages", "{arch}/x", "x"),
        ("npm-packages", "$tf/x", "x"),
        ("npm-packages", "p/.oxen/x", "x"),
        ("npm-packages", "p/node_modules/in/.GIT", "gitdir: /elsewhere"),
        ("ccache", ".cache/ccache/ccache.conf", "max_size = 5G"),
        ("core-dump", "p/core.17", "\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0"),
        ("core-dump", "p/core.17", "core of an apple"),
    ] {
        let case = named(rule);
        let fixture = case.made();
        assert!(finds(&fixture, rule), "{rule}");
        write(&fixture.at(path), text);
        let fixture = aged(fixture, 40);
        assert_eq!(found(&fixture), BTreeSet::new(), "{rule}: {path}: {text}");
    }
}

/// Nothing in a storage is anybody's but its engine's, wherever weigh begins.
#[test]
fn what_lies_in_an_engines_storage_is_not_listed() {
    for (layer, others) in [
        ("docker/overlay2/1f/diff/home", &["docker/image"][..]),
        ("docker/volumes/data/_data", &["docker/overlay2", "docker/containers"]),
        ("storage/overlay/1f/diff", &["storage/overlay-layers"]),
        ("storage/vfs/dir/1f", &["storage/vfs-layers"]),
        ("docker/vfs/dir/1f", &["docker/image"]),
        ("docker/btrfs/subvolumes/1f", &["docker/containers"]),
        ("docker/zfs/graph/1f", &["docker/image"]),
        ("docker/fuse-overlayfs/1f/diff", &["docker/image"]),
        ("docker/aufs/diff/1f", &["docker/image"]),
        ("docker/devicemapper/mnt/1f", &["docker/image"]),
        (
            "backup/docker/volumes/data/_data",
            &["backup/docker/containers", "backup/docker/network"],
        ),
        ("docker/rootfs/overlayfs/1f", &["docker/volumes", "docker/image", "docker/buildkit"]),
        ("docker/buildkit/executor/1f", &["docker/buildkit/snapshots"]),
        ("moved/io.containerd.snapshotter.v1.overlayfs/snapshots/1/fs", &[]),
        ("k3s/agent/containerd/tmp/1", &["k3s/agent/containerd/io.containerd.content.v1.content"]),
        ("k3s/storage/pvc-1", &["k3s/agent", "k3s/data", "k3s/server"]),
        ("kubelet/pods/1/volumes/empty", &["kubelet/plugins_registry"]),
        ("kubelet/pods/1/volumes/empty", &["kubelet/pod-resources"]),
        ("kubelet/pods/1/volumes/empty", &["kubelet/device-plugins"]),
        ("kubelet/pods/1/volumes/empty", &["kubelet/checkpoints"]),
        ("storage/volumes/v/_data", &["storage/overlay", "storage/secrets"]),
        ("buildkit/snapshots/1/fs", &["buildkit/content", "buildkit/net"]),
        ("pool/containers/c/rootfs", &["pool/custom-snapshots"]),
        ("pool/virtual-machines/v", &["pool/containers", "pool/images"]),
        (
            "nerdctl/1935/volumes/default/v/_data",
            &["nerdctl/1935/names", "nerdctl/1935/containers"],
        ),
        ("storage/btrfs/subvolumes/1f", &["storage/btrfs-images"]),
        ("storage/zfs/graph/1f", &["storage/zfs-layers"]),
        ("storage/volumes/v/_data", &["storage/libpod"]),
        ("lxd/storage-pools/default/containers/c/rootfs", &["lxd/images"]),
        ("k3s/storage/pvc-1", &["k3s/agent", "k3s/data"]),
        ("copy/overlay2/1f/diff", &["copy/overlay2/l"]),
        ("copy/overlay/1f/diff", &["copy/overlay/l"]),
        ("copy/snapshots/1/fs", &["copy/metadata.db="]),
        ("lxc/c/rootfs/home", &["lxc/c/config="]),
        ("pool/containers/c/rootfs", &["pool/custom", "pool/images"]),
    ] {
        let fixture = Fixture::in_memory();
        let layer = fixture.at(layer);
        named("npm-packages").make_in(&layer, "");
        let fixture = aged(fixture, 40);
        let found = |place: &Path| number_found(&weigh("clean -j").arg(place).run().json());
        let places = [layer.clone(), layer.join("p"), layer.join("p/node_modules")];
        // The name of a directory of containerd's is enough.
        if !others.is_empty() {
            let known = places.each_ref().map(|place| found(place));
            assert_eq!(known, [1, 1, 0], "a lock file is beside it: {layer:?}");
        }
        for other in others {
            match other.strip_suffix('=') {
                Some(file) => write(&fixture.at(file), "x"),
                None => fs::create_dir_all(fixture.at(other)).unwrap(),
            }
        }
        for place in places {
            assert_eq!(found(&place), 0, "{}", place.display());
        }
    }
}

/// The rules that find the storages of engines: what is in one, its size, and what is said.
const ENGINES: [(&str, &[&str], &str); 3] = [
    (
        "docker-storage",
        &["overlay2/1f/diff/f", "image/overlay2/x", "buildkit/metadata_v2.db"],
        "docker system prune",
    ),
    ("containerd-storage", &["io.containerd.content.v1.content/blobs/f"], "nerdctl system prune"),
    ("podman-storage", &["overlay/1f/diff/f", "overlay-layers/layers.json"], "podman system prune"),
];

/// Only its engine removes anything in a storage. The list has its size as the most that may come free, and the command; also
/// if it is written at this moment.
#[test]
fn the_storage_of_an_engine_is_shown_with_its_command() {
    for (rule, files, command) in ENGINES {
        let fixture = Fixture::in_memory().dir("h");
        for file in files {
            write(&fixture.at("h/var/engine").join(file), &"w".repeat(100_000));
        }
        // In a storage, others are only a part of it.
        write(&fixture.at("h/var/engine").join(files[0]).with_file_name("io.containerd.x/y"), "x");
        named("npm-packages").make_in(&fixture.at("h"), "");
        let json = look("-j", &fixture).run().json();
        let list = json["reclaimable"]["by_program"].as_array().unwrap();
        let [one] = &list[..] else { panic!("{rule}: {json}") };
        assert_eq!((&one["rule"], &one["command"]), (&rule.into(), &command.into()));
        assert_eq!(one["path"], "./h/var/engine");
        assert_eq!((&one["frees_least"], &one["frees_most"]), (&0.into(), &one["size"]), "{json}");
        assert!(one["program"].as_str().unwrap().contains("prune removes"), "{json}");
        assert_eq!(json["reclaimable"]["frees_most"], 0, "what is new is in no sum: {json}");
        let shown = look("-w 80", &fixture).run().text();
        assert!(
            shown.contains(
                "Only its own program can remove it
"
            ),
            "{shown}"
        );
        let line = format!("{command} (removes unused data)");
        assert!(shown.lines().any(|it| it.contains(&line) && it.contains('≤')), "{shown}");
        // Only below PATH.
        for at in ["h/var/engine", &format!("h/var/engine/{}", files[0].split('/').next().unwrap())]
        {
            let json = weigh("clean -j").arg(fixture.at(at)).run().json();
            assert_eq!(json["reclaimable"]["by_program"], serde_json::json!([]), "{rule} {at}");
        }
        let run = look("--only cargo -j", &fixture).run().json();
        assert_eq!(run["reclaimable"]["by_program"], serde_json::json!([]));
    }
}

/// How many are listed in this output of `-j`, those in doubt included.
fn number_found(json: &Value) -> usize {
    ["found", "others"].map(|list| json["reclaimable"][list].as_array().unwrap().len()).iter().sum()
}

/// Neither is what has one in it.
#[test]
fn what_holds_an_engines_storage_is_not_listed() {
    let fixture = named("npm-packages").made();
    fs::create_dir_all(fixture.at("p/node_modules/in/docker/overlay2")).unwrap();
    let fixture = aged(fixture, 40);
    assert!(finds(&fixture, "npm-packages"));
    fs::create_dir(fixture.at("p/node_modules/in/docker/image")).unwrap();
    assert_eq!(found(&aged(fixture, 40)), BTreeSet::new());
}

/// What else is found in a directory proves nothing of it.
#[test]
fn what_has_nothing_beside_it_is_not_listed_for_what_is_in_it() {
    let (packages, cache) = (named("npm-packages"), named("cache-tag"));
    for (marker, _) in packages.markers {
        let fixture = packages.made_without(marker);
        cache.make_in(&fixture.at("p/node_modules"), "");
        let expected = [("cache-tag".to_owned(), "./p/node_modules/any".to_owned())].into();
        assert_eq!(found(&aged(fixture, 40)), expected, "without {marker}");
    }
}

/// What git ignores is often what nobody else has.
#[test]
fn what_git_ignores_is_not_listed_for_that() {
    let mut fixture = Fixture::in_memory();
    let names = [
        ".env",
        "db.sqlite",
        "data/a.csv",
        "target/release/x",
        "node_modules/a.js",
        "dist/a.js",
        "build/a.o",
        "vendor/a.go",
        ".venv/lib/a.py",
        "venv/bin/python",
        "out/a",
        "__pycache__/a.pyc",
        ".idea/a.xml",
        "coverage/a",
        "core",
        "tmp/a",
        "logs/a.log",
        "models/a.bin",
        ".terraform/a",
        "bin/a",
        "pkg/mod/a",
        ".cache/pip/a",
        ".cache/uv/a",
        ".gradle/caches/a",
        ".m2/repository/a/1/a-1.jar",
        "volumes/v/_data/a",
    ];
    for name in names {
        fixture = fixture.file(name, 100_000);
    }
    write(&fixture.at(".gitignore"), "*\n");
    git(&fixture, fixture.path(), &["init", "-q"]);
    assert_eq!(found(&aged(fixture, 40)), BTreeSet::new());
}

/// Of a work tree whose index is no file, nothing is known. Once, it tracked nothing.
#[test]
fn what_an_index_that_cannot_be_read_may_track_is_not_listed() {
    for kind in [Fixture::dir, Fixture::fifo, |it: Fixture, path: &str| it.symlink("gone", path)] {
        let fixture = named("npm-packages").made();
        git(&fixture, &fixture.at("p"), &["init", "-q"]);
        git(&fixture, &fixture.at("p"), &["add", "package.json"]);
        assert!(finds(&aged(kind(fixture, "p/other"), 40), "npm-packages"));
        let fixture = named("npm-packages").made();
        git(&fixture, &fixture.at("p"), &["init", "-q"]);
        assert_eq!(found(&aged(kind(fixture, "p/.git/index"), 40)), BTreeSet::new());
        // It may say that the index is of another work tree.
        let fixture = named("npm-packages").made();
        git(&fixture, &fixture.at("p"), &["init", "-q"]);
        git(&fixture, &fixture.at("p"), &["add", "package.json"]);
        fs::remove_file(fixture.at("p/.git/config")).unwrap();
        assert_eq!(found(&aged(kind(fixture, "p/.git/config"), 40)), BTreeSet::new());
    }
}

/// `core.worktree` names the directory that the names in the index begin in. Once, that was taken to be beside `.git`.
#[test]
fn what_git_tracks_in_a_work_tree_that_is_not_around_its_repository_is_not_listed() {
    for (top, work_tree) in [("p", "../.."), (".", "../p")] {
        let fixture = named("npm-packages").made();
        let tracked = fixture.at("p/node_modules/in/payload");
        git(&fixture, &fixture.at(top), &["init", "-q"]);
        git(&fixture, &fixture.at(top), &["config", "core.worktree", work_tree]);
        git(&fixture, &fixture.at(top), &["add", "-f", tracked.to_str().unwrap()]);
        assert_eq!(found(&aged(fixture, 40)), BTreeSet::new(), "{top}: {work_tree}");
    }
}

/// As git has it in a submodule. In a linked work tree, what the repository says is not of that.
#[test]
fn a_work_tree_that_its_repository_names_is_known() {
    let fixture = named("npm-packages").made();
    fs::create_dir_all(fixture.at("modules")).unwrap();
    git(&fixture, &fixture.at("p"), &["init", "-q", "--separate-git-dir", "../modules/p"]);
    git(&fixture, &fixture.at("p"), &["config", "core.worktree", "../../p"]);
    git(&fixture, &fixture.at("p"), &["add", "package.json"]);
    let fixture = aged(fixture, 40);
    assert!(finds(&fixture, "npm-packages"));
    git(&fixture, &fixture.at("p"), &["add", "-f", "node_modules/in/payload"]);
    assert_eq!(found(&aged(fixture, 40)), BTreeSet::new());

    let fixture = named("npm-packages").made();
    fs::create_dir_all(fixture.at("first")).unwrap();
    write(&fixture.at("first/f"), "x");
    git(&fixture, &fixture.at("first"), &["init", "-q"]);
    git(&fixture, &fixture.at("first"), &["add", "f"]);
    git(&fixture, &fixture.at("first"), COMMIT);
    git(&fixture, &fixture.at("first"), &["worktree", "add", "-q", "../second"]);
    fs::rename(fixture.at("second/.git"), fixture.at("p/.git")).unwrap();
    git(&fixture, &fixture.at("first"), &["config", "core.worktree", "../elsewhere"]);
    let fixture = aged(fixture, 40);
    assert!(finds(&fixture, "npm-packages"));
    git(&fixture, &fixture.at("p"), &["config", "extensions.worktreeConfig", "true"]);
    assert_eq!(found(&aged(fixture, 40)), BTreeSet::new());
}

/// The index has the directory alone, and not what is in it.
#[test]
fn what_lies_where_nothing_is_checked_out_is_not_listed() {
    let fixture = named("cache-tag").made();
    fs::create_dir_all(fixture.at("p/out")).unwrap();
    fs::create_dir_all(fixture.at("p/in")).unwrap();
    write(&fixture.at("p/in/f"), "");
    named("cache-tag").make_in(&fixture.at("p/out"), "");
    git(&fixture, &fixture.at("p"), &["init", "-q"]);
    git(&fixture, &fixture.at("p"), &["add", "."]);
    git(&fixture, &fixture.at("p"), COMMIT);
    git(&fixture, &fixture.at("p"), &["sparse-checkout", "set", "--cone", "--sparse-index", "in"]);
    assert!(!fixture.at("p/out").exists());
    named("cache-tag").make_in(&fixture.at("p/out"), "");
    let expected = [("cache-tag".to_owned(), "./any".to_owned())].into();
    assert_eq!(found(&aged(fixture, 40)), expected);
}

/// What is in it can be reached by its name.
#[test]
fn what_is_tracked_in_a_directory_that_cannot_be_listed_is_not_listed() {
    let (case, fixture) = (named("cache-tag"), Fixture::in_memory());
    case.make_in(&fixture.at("p"), "");
    let fixture = aged(fixture, 40).mode("p", 0o711).mode(".", 0o755);
    let found = || {
        let run = weigh("clean -j").arg(fixture.at("p/any")).by_nobody(&fixture).run();
        number_found(&run.json())
    };
    assert_eq!(found(), 1);
    git(&fixture, &fixture.at("p"), &["init", "-q"]);
    git(&fixture, &fixture.at("p"), &["add", "-f", &case.payload()]);
    assert_eq!(found(), 0);
}

/// Where a disk or a server fails, there may be a repository. Once, an error was taken for none.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs strace"]
fn what_may_be_tracked_where_nobody_can_tell_is_not_listed() {
    let (case, fixture) = (named("cache-tag"), Fixture::in_memory());
    case.make_in(&fixture.at("p"), "");
    let fixture = aged(fixture, 40);
    let found = |error: &str| {
        let inject = format!("inject=statx:error={error}");
        let strace = ["strace", "-qq", "-f", "-o", "/dev/null", "-e", &inject, "-P"];
        let strace = strace.map(OsString::from).into_iter().chain([fixture.at("p").into()]);
        let run = weigh("clean -j").arg(fixture.at("p/any")).under(strace).run();
        number_found(&run.json())
    };
    assert_eq!(found("ENOENT"), 1);
    for error in ["EIO", "ESTALE", "EACCES", "ENOMEM"] {
        assert_eq!(found(error), 0, "{error}");
    }
}

/// A disk may fail while a directory is listed, before it says that there is a repository.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs strace"]
fn what_is_tracked_in_a_directory_that_is_listed_in_part_is_not_listed() {
    let (case, fixture) = (named("pip-cache"), Fixture::in_memory().dir("p"));
    // On tmpfs, the last one comes first.
    git(&fixture, &fixture.at("p"), &["init", "-q"]);
    let long = "x".repeat(200);
    let fixture = (0..1_000).fold(fixture, |fixture, n| fixture.file(format!("p/{long}{n}"), 0));
    let fixture = fixture.file("p/tracked", 1);
    git(&fixture, &fixture.at("p"), &["add", "tracked"]);
    git(&fixture, &fixture.at("p"), COMMIT);
    case.make_in(&fixture.at("p"), "");
    let fixture = aged(fixture, 40);
    let found = || {
        let strace = ["strace", "-qq", "-f", "-o", "/dev/null", "-P"].map(OsString::from);
        let inject = ["-e", "inject=getdents64:error=EIO:when=2"].map(OsString::from);
        let strace = strace.into_iter().chain([fixture.at("p").into()]).chain(inject);
        let run = weigh("clean -T 1 -j p").within(fixture.path()).under(strace).run();
        assert_eq!(run.code(), 1, "it is listed in part");
        let json: Value = serde_json::from_slice(&run.stdout).unwrap();
        number_found(&json)
    };
    assert_eq!(found(), 1);
    git(&fixture, &fixture.at("p"), &["add", "-f", &case.payload()]);
    git(&fixture, &fixture.at("p"), COMMIT);
    assert_eq!(found(), 0);
}

/// Of the rest nothing is known: what speaks against it may not have been met.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs strace"]
fn nothing_is_listed_after_an_interrupt() {
    let fixture = Fixture::in_memory();
    for number in 0..20 {
        named("cache-tag").make_in(&fixture.at(format!("{number}")), "");
    }
    let fixture = aged(fixture, 40);
    let found = |when: &str| {
        let inject = format!("inject=getdents64:signal=SIGINT:when={when}");
        let strace = ["strace", "-qq", "-f", "-o", "/dev/null", "-e", &inject].map(OsString::from);
        let run = weigh("clean -T 1 -j").within(fixture.path()).under(strace).run();
        let json: Value = serde_json::from_slice(&run.stdout).unwrap();
        number_found(&json)
    };
    // Beyond all that the scans and the look at processes list.
    assert_eq!((found("65000"), found("20")), (20, 0));
}

/// A marker that would never end, or that is large, is not read.
#[test]
fn markers_of_other_kinds_and_large_ones_are_not_read() {
    for case in CASES.iter().filter(|case| case.markers.iter().any(|one| one.1 == TAG)) {
        let tag = format!("{}/CACHEDIR.TAG", case.at);
        let fixture = case.made();
        fs::remove_file(fixture.at(&tag)).unwrap();
        let fixture = aged(fixture.fifo(&tag), 40);
        assert_eq!(found(&fixture), BTreeSet::new(), "{}", case.rule);
        let fixture = aged(case.made().extended(&tag, 1 << 30), 40);
        assert_eq!(found(&fixture), BTreeSet::new(), "{}", case.rule);
    }
}

/// A project that is worked on needs what it made, however old that is.
#[test]
fn a_project_that_is_worked_on_is_left_alone() {
    for rule in
        ["cargo-target", "npm-packages", "pnpm-packages", "python-environment", "python-bytecode"]
    {
        let fixture = named(rule).made();
        write(&fixture.at("p/src/new"), "x");
        touch(&fixture.at("p/src/new"), 3_600);
        assert_eq!(found(&fixture), BTreeSet::new(), "{rule}");
        let young = look("-j", &fixture).run().json();
        assert_eq!(young["reclaimable"]["recent"][0]["rule"], rule);
        let all = look("-j --older 0h", &fixture).run().json();
        assert_eq!(all["reclaimable"]["found"][0]["rule"], rule);
        let none = look("-j --older 41d", &aged(fixture, 40)).run().json();
        assert_eq!(none["reclaimable"]["found"], Value::Array(Vec::new()));
    }
}

/// What could not be read may be what nobody else has.
#[test]
fn what_could_not_be_read_is_in_doubt() {
    let case = named("cache-tag");
    let fixture = aged(case.made().dir("any/d/closed").dir("any-b"), 40);
    let fixture = fixture.mode("any/d/closed", 0o000).mode("any-b", 0o000).mode(".", 0o755);
    let run = look("-j", &fixture).by_nobody(&fixture).run();
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(run.code(), 1);
    assert_eq!(json["reclaimable"]["found"], Value::Array(Vec::new()));
    // Itself, where what proves it is beside it. On a disk, a directory takes space.
    let fixture = Fixture::new();
    named("npm-packages").make_in(fixture.path(), "");
    let fixture = aged(fixture, 40);
    assert!(finds(&fixture, "npm-packages"));
    let fixture = fixture.mode("p/node_modules", 0o000).mode("p", 0o755).mode(".", 0o755);
    let run = look("-j", &fixture).by_nobody(&fixture).run();
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(run.code(), 1);
    assert_eq!(json["reclaimable"]["found"], Value::Array(Vec::new()));
}

/// The first of two is the outermost, and says nothing of what is in it.
#[test]
fn what_is_inside_of_another_counts_once() {
    let fixture = Fixture::in_memory();
    named("cargo-target").make_in(fixture.path(), "");
    named("cache-tag").make_in(&fixture.at("p/target/tmp"), "");
    named("npm-packages").make_in(&fixture.at("p/target/tmp/d"), "");
    let fixture = aged(fixture, 40);
    assert_eq!(found(&fixture), [("cargo-target".to_owned(), "./p/target".to_owned())].into());
    // What is beside a root is not seen, so nothing proves who made it.
    let json = look("-j p/target", &fixture).run().json();
    assert_eq!(json["reclaimable"]["others"][0]["path"], "p/target");
}

/// A store that only its own program may remove counts for nothing, and projects free what it has no link to.
#[test]
fn a_store_is_freed_with_its_projects() {
    let fixture = Fixture::in_memory();
    named("pnpm-store").make_in(fixture.path(), "");
    named("pnpm-packages").make_in(fixture.path(), "");
    let fixture = fixture
        .file("pnpm/store/v10/files/00/own", 40_000)
        .hard_link("pnpm/store/v10/files/00/payload", "p/node_modules/in/linked")
        .hard_link("pnpm/store/v10/files/00/own", "kept");
    let fixture = aged(fixture, 40);
    let size = |name: &str| {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(fixture.at(name)).unwrap().blocks() * 512
    };
    let json = look("-j", &fixture).run().json();
    let list = json["reclaimable"]["found"].as_array().unwrap().clone();
    let frees = |rule: &str| {
        let one = list.iter().find(|one| one["rule"] == rule).unwrap();
        (one["size"].as_u64().unwrap(), one["frees_least"].as_u64().unwrap())
    };
    let payload = size("p/node_modules/in/linked");
    let packages = size("p/node_modules/in/payload") + size("p/node_modules/in/package.json");
    // Only pnpm may remove its store.
    assert!(list.iter().all(|one| one["rule"] != "pnpm-store"), "{json}");
    assert_eq!(frees("pnpm-packages"), (payload + packages, packages));
    assert_eq!(json["reclaimable"]["frees_most"], packages);
}

#[test]
fn the_list_is_limited_and_its_sum_is_not() {
    let fixture = Fixture::in_memory();
    for (i, size) in [(1, 100_000), (2, 300_000), (3, 200_000)] {
        write(&fixture.at(format!("{i}/.cache/pip/http-v2/a/b")), &"w".repeat(size));
    }
    let fixture = aged(fixture, 40);
    let shown = look("-a -c -n 1 -o b", &fixture).run().text();
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(lines[0], "Nothing was removed.");
    assert!(lines[2].ends_with("  2 more lines"), "{shown}");
    assert!(lines[3].ends_with("  1 month  pip cache  2/.cache/pip"), "{shown}");
    assert!(lines[4].ends_with("  in all"), "{shown}");
    assert_eq!(lines.len(), 5, "{shown}");
    // The time of a plan is another one each time.
    let without_time = |mut json: Value| {
        json["reclaimable"]["plan"]["time"].take();
        json["reclaimable"].take()
    };
    let json = |flags: &str| without_time(look(flags, &fixture).run().json());
    let all = json("-j");
    let paths: Vec<_> = all["found"].as_array().unwrap().iter().map(|one| &one["path"]).collect();
    assert_eq!(paths, ["./2/.cache/pip", "./3/.cache/pip", "./1/.cache/pip"]);
    // What is remembered is the whole tree; without that, only what rules may find is kept.
    let state = Fixture::in_memory();
    let remembered = look("-j -q --remember", &fixture).env("XDG_STATE_HOME", state.path()).run();
    assert_eq!(without_time(remembered.json()), all);
    assert_eq!(json("-j -n 1")["frees_most"], all["frees_most"]);
    let large = json("-j -z 150k");
    assert_eq!(large["found"].as_array().unwrap().len(), 2);
    // A sum is of what would be removed.
    assert!(large["frees_most"].as_u64() < all["frees_most"].as_u64());
    assert_eq!((&large["more"], &large["more_others"]), (&0.into(), &0.into()));
    let csv = look("--as csv", &fixture).run().text();
    assert_eq!(csv.lines().count(), 4);
    assert!(csv.starts_with(
        "path,size,frees_least,frees_most,written,rule,back,command,owner,group\n\"./2/.cache/pip\","
    ));
    // There, no age finds more.
    for flags in ["-c", "-c --older 0h"] {
        assert_eq!(
            look(flags, &Fixture::new()).run().text(),
            format!("found nothing that can be made or downloaded again{MARKER}\n")
        );
    }
    // What cannot be made again was cut without a word.
    let fixture = Fixture::new().file("p/core.1", 0).file("p/core.2", 0).file("p/core.3", 0);
    (1..4).for_each(|number| write(&fixture.at(format!("p/core.{number}")), ELF));
    let shown = look("-c --older 0h", &fixture).run().text();
    assert!(
        shown.contains("Look first\n") && shown.contains("core dump  3 files in p\n"),
        "{shown}"
    );
    assert!(shown.ends_with("\nNothing can go\n"), "{shown}");
    let shown = look("-c -a -n 1 --older 0h", &fixture).run().text();
    assert_eq!(shown.matches("core dump").count(), 1, "{shown}");
    assert!(shown.contains("  2 more lines\n"), "{shown}");
    // Where nothing was read, no age would find more.
    let missing = look("-c missing", &Fixture::new()).run();
    assert_eq!(missing.code(), 1);
    assert_eq!(missing.stdout, b"found nothing that can be made or downloaded again\n");
}

#[test]
fn commands_are_for_a_shell() {
    let fixture = Fixture::in_memory();
    for name in ["it's $HOME", "-n", "a\nb"] {
        named("npm-packages").make_in(&fixture.at(name), "");
    }
    let fixture = aged(fixture, 40);
    let json = look("-j", &fixture).run().json();
    let list = json["reclaimable"]["found"].as_array().unwrap();
    let mut removed = 0;
    for one in list {
        let path = fixture.at(one["path"].as_str().unwrap());
        let Some(command) = one["command"].as_str() else {
            assert!(path.to_str().unwrap().contains('\n'));
            continue;
        };
        let status =
            std::process::Command::new("sh").args(["-c", command]).current_dir("/").status();
        assert!(status.unwrap().success() && !path.exists() && path.parent().unwrap().exists());
        removed += 1;
    }
    assert_eq!(removed, 2);
}

#[test]
fn users_have_rules_of_their_own() {
    let fixture = Fixture::in_memory().file("p/dist/a.js", 100_000).file("p/dist.toml", 1);
    let fixture = aged(fixture, 40);
    let rule = "[[rule]]\nname = 'dist'\nwhat = 'a bundle'\nat = ['dist']\nbeside = ['dist.toml']\n\
                back = 'make'\ncommand = 'make -C {parent} clean'\n";
    let config = Fixture::new();
    let run = |text: &str| {
        write(&config.at("c"), text);
        look("-j", &fixture).env("WEIGH_CONFIG_PATH", config.at("c")).run()
    };
    assert_eq!(run(rule).json()["reclaimable"]["by_program"][0]["rule"], "dist");
    let by_hand = format!("{rule}hand = 'make builds it again'\n");
    assert_eq!(run(&by_hand).json()["reclaimable"]["found"][0]["rule"], "dist");
    // They come from nowhere else.
    write(&fixture.at("p/.weigh.toml"), rule);
    write(&fixture.at("config.toml"), rule);
    assert_eq!(found(&fixture), BTreeSet::new());
    for (text, message) in [
        (
            rule.replace("beside", "besides"),
            ":5: besides: a rule has no such key\nhint: did you mean beside?",
        ),
        (rule.replace("['dist.toml']", "'dist.toml'"), ":5: beside: it takes a list of strings"),
        (rule.replace("'make'", "1"), ":6: back: it takes a string"),
        (rule.replace("beside = ['dist.toml']\n", ""), ":1: has: a name alone proves nothing"),
        (rule.replace("{parent} ", ""), ":7: command: it must remove just what is found"),
        (rule.replace("make -C {parent} clean", "make clean"), ":7: command: it must remove just"),
        (rule.replace("{parent}", "\\{parent}"), ":7: command: paths are quoted already"),
        (
            rule.replace("'make -C {parent} clean'", "\"make -C {parent}\\nreboot\""),
            ":7: command: it is one line of text",
        ),
        (format!("{rule}tag = 'a'\n"), ":8: tag: tag and matches go together"),
        (format!("{rule}tag = 'a'\nmatches = '('\n"), ":9: matches: ( is no pattern"),
        ("rule = 1\n".to_owned(), ":1: rule: it takes tables, as in [[rule]]"),
        ("depth = 1\n[[rule]\n".to_owned(), ":2: "),
    ] {
        let run = run(&text);
        assert_eq!(run.code(), 2, "{text}");
        assert!(run.complaint().contains(message), "{message}: {}", run.complaint());
    }
}

#[test]
fn what_belongs_to_another_user_is_said() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let fixture = named("pip-cache").made();
    let fixture = aged(fixture.owned(".cache/pip", 65_534).mode(".", 0o755), 40);
    let json = look("-j", &fixture).run().json();
    let one = &json["reclaimable"]["others"][0];
    assert_eq!((&one["owner"], &one["doubt"]), (&"nobody".into(), &"belongs to nobody".into()));
    assert!(look("-c", &fixture).run().text().contains(".cache/pip (belongs to nobody)\n"));
    // Unless they are named.
    let json = look("-j --owner nobody", &fixture).run().json();
    assert_eq!(json["reclaimable"]["found"][0]["owner"], "nobody");
}

/// All rules at once, with links between what they find and to elsewhere.
#[cfg(target_os = "linux")]
fn is_freed_as_predicted(top: &Path, free: impl Fn() -> u64) {
    for (i, case) in CASES.iter().filter(|case| !case.is_final()).enumerate() {
        let at = top.join(i.to_string());
        case.make_in(&at, "");
        let payload = at.join(case.payload());
        let linked = payload.with_file_name("linked.pyc");
        match i % 3 {
            0 => fs::hard_link(&payload, top.join(format!("kept {i}"))).unwrap(),
            1 => fs::hard_link(&payload, linked).unwrap(),
            _ => write(&linked, &"x".repeat(7_777 * i)),
        }
    }
    let shared = top.join("2").join(CASES[2].payload());
    fs::hard_link(shared, top.join("4").join(CASES[4].at).join("in/shared")).unwrap();
    for (path, _) in entries_at(top) {
        touch(&path, 40 * 86_400);
    }
    let json = weigh("clean -j").arg(top).run().json();
    let (list, before) = (&json["reclaimable"], free());
    let found = list["found"].as_array().unwrap();
    // On tmpfs, directories alone free nothing.
    assert!(found.len() > 15, "{found:?}");
    for one in found {
        fs::remove_dir_all(one["path"].as_str().unwrap()).unwrap();
    }
    assert_eq!(list["frees_least"], list["frees_most"]);
    assert_eq!(free() - before, list["frees_most"].as_u64().unwrap());
}

#[cfg(all(target_os = "linux", feature = "tui"))]
#[test]
#[ignore = "mounts a tmpfs and an ext4 image"]
fn what_is_predicted_is_freed() {
    use crate::mounted::Mounted;
    for place in [Mounted::tmpfs(), Mounted::ext4()] {
        is_freed_as_predicted(place.path(), || place.free());
    }
}

/// Places that only a system has.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs root"]
fn the_system_has_places_of_its_own() {
    for (rule, at, file) in FIXED {
        let fixture = Fixture::new();
        let script = format!(
            "set -e; mount -t tmpfs none /var/cache; mkdir -p $(dirname {at}/{file})
             head -c 100000 /dev/zero > {at}/{file}; mkdir -p copy/var/cache; cp -a {at} copy/var/cache
             find /var/cache copy -exec touch -d '40 days ago' {{}} +
             \"$0\" clean -j /var/cache; \"$0\" clean -j copy"
        );
        let output = crate::run::in_namespace(&fixture, &script);
        let text = String::from_utf8(output.stdout).unwrap();
        let lists: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lists[0]["reclaimable"]["by_program"][0]["rule"], rule);
        assert_eq!(lists[1]["reclaimable"]["by_program"], Value::Array(Vec::new()));
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    for flags in [
        "clean -s",
        "clean -e x",
        "clean --from x",
        "clean --older 1",
        "clean --as ncdu",
        "clean --save x",
        "clean -d 1",
        "clean --gitignore",
    ] {
        let run = weigh(flags).run();
        assert_eq!(run.code(), 2, "{flags}: {}", run.complaint());
    }
}

/// The table of rules in the page is made from the rules.
#[test]
fn the_page_has_every_rule() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/clean-rules.md");
    let text = fs::read_to_string(&page).unwrap();
    const HEAD: &str = "| rule | it is | where | proved by | comes back by | removed by | command |\n|---|---|---|---|---|---|---|\n";
    let (before, after) = text.split_once(HEAD).unwrap();
    let rows = after.lines().take_while(|line| line.starts_with('|')).map(|line| line.len() + 1);
    let after = &after[rows.sum()..];
    let rules = toml::de::DeTable::parse(RULES).unwrap();
    let rules = rules.get_ref()["rule"].get_ref().as_array().unwrap();
    let mut table = String::new();
    for rule in rules {
        let list = |key: &str| -> Vec<String> {
            match rule.get_ref().get(key).map(|value| value.get_ref()) {
                Some(toml::de::DeValue::Array(texts)) => {
                    texts.iter().map(|text| code(text.get_ref().as_str().unwrap())).collect()
                }
                Some(text) => text.as_str().map(code).into_iter().collect(),
                None => Vec::new(),
            }
        };
        let plain = |key: &str| list(key).concat().replace('`', "");
        let is_of_engine = rule.get_ref().get("engine").is_some();
        let markers = [("beside", "beside"), ("has", "in it"), ("tag", "content of")];
        let markers = markers.map(|(key, what)| (what, list(key).join(", ")));
        let markers: Vec<_> = markers
            .iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(what, names)| format!("{what} {names}"))
            .collect();
        let proof = match markers.is_empty() {
            true if is_of_engine => "its [layout](containers.md)".to_owned(),
            true => "its start".to_owned(),
            false => markers.join("; "),
        };
        let back = list("back").concat();
        let back = if back.is_empty() { "nothing" } else { back.trim_matches('`') };
        let (name, doc, what) = (plain("name"), plain("doc"), plain("what"));
        let (at, command) = (list("at").join(", "), list("command").concat());
        let removed = [("hand", "hand"), ("program", "its program")];
        let removed = removed.map(|(key, by)| match &*plain(key) {
            "" => String::new(),
            why => format!("{by}: {why}"),
        });
        let removed = removed.concat();
        let is_final = back == "nothing";
        assert_eq!(removed.is_empty(), is_final, "{name}: by hand, or by its program, and why");
        table += &format!(
            "| [{name}]({doc}) | {what} | {at} | {proof} | {back} | {removed} | {command} |\n"
        );
    }
    is_kept(&page, &[before, HEAD, &table, after].concat(), &table);
}

/// On a narrow terminal, what a path needs no room beside gives way.
#[test]
fn a_narrow_list_has_what_is_needed() {
    let fixture = named("cargo-target").made();
    let text = |width: &str| look(&format!("-w {width} ."), &fixture).run().text();
    let line = |width: &str| text(width).lines().nth(2).unwrap().trim_start().to_owned();
    assert!(line("80").ends_with("Ki  1 month  cargo output  p/target"), "{}", text("80"));
    assert!(line("50").ends_with("Ki  cargo output  p/target"), "{}", text("50"));
    assert!(line("36").ends_with("Ki  p/target"), "{}", text("36"));
}

/// A list of `rm -rf` lines is copied without a look.
#[test]
fn commands_are_shown_if_they_are_asked_for() {
    let fixture = named("cargo-target").made();
    let words = look("-R .", &fixture).run().text();
    assert!(words.contains("  cargo output  p/target\n") && !words.contains("rm -rf"), "{words}");
    let words = look("-R -v .", &fixture).run().text();
    assert!(words.contains("  cargo output  p/target\n          rm -rf -- "), "{words}");
}

/// A directory takes the place of the artifacts in it, if there is nothing else, and only in a repository.
#[test]
fn artifacts_are_joined() {
    let case = named("maven-artifact");
    let paths = |fixture: &Fixture| -> BTreeSet<String> {
        found(fixture).into_iter().map(|(_, path)| path).collect()
    };
    let fixture = Fixture::in_memory();
    for group in ["org/a/x", "org/a/y", "org/b", "com/c"] {
        case.make_in(&fixture.at(format!(".m2/repository/{group}")), "");
    }
    case.make_in(&fixture.at("elsewhere"), "");
    write(&fixture.at(".m2/settings.xml"), "mine");
    write(&fixture.at(".m2/repository/org/a/maven-metadata-central.xml"), "x");
    let fixture = aged(fixture, 40);
    let elsewhere = "./elsewhere/m2/a/1".to_owned();
    assert_eq!(paths(&fixture), ["./.m2/repository".to_owned(), elsewhere.clone()].into());
    // A root is what it is joined to at most, and a file beside it is none of it.
    let json = look("-j .m2/repository .m2/settings.xml", &fixture).run().json();
    let root = &json["reclaimable"]["others"][0];
    assert_eq!(
        (&root["path"], &root["doubt"]),
        (&".m2/repository".into(), &"it is a PATH itself".into())
    );
    assert_eq!(json["reclaimable"]["found"].as_array().unwrap().len(), 0);
    for (path, expected) in [
        ("org/b/notes.txt", &["com", "org/a", "org/b/m2"][..]),
        ("org/a/x/m2/a/1/thesis.docx", &["com", "org/a/y", "org/b/m2"]),
        ("com/mine/1/mine-1.jar", &["com/c", "org/a/y", "org/b/m2"]),
        ("org/a/y/m2/a/1/_remote.repositories", &["com/c", "org/b/m2"]),
    ] {
        write(&fixture.at(format!(".m2/repository/{path}")), "mine");
        entries_at(fixture.path()).iter().for_each(|(path, _)| touch(path, 4_000_000));
        let expected = expected.iter().map(|path| format!("./.m2/repository/{path}"));
        assert_eq!(paths(&fixture), expected.chain([elsewhere.clone()]).collect(), "{path}");
    }
}

/// Nor does a rule of the user's take more than it found. Once, files beside that went with it.
#[test]
fn a_place_in_which_something_else_lies_is_not_joined() {
    let run = |fixture: &Fixture, rule: &str| -> BTreeSet<String> {
        write(
            &fixture.at("c"),
            &format!("[[rule]]\nname = 'r'\nwhat = 'r'\nback = 'make'\n{rule}"),
        );
        let run = look("-j --older 0h in", fixture).env("WEIGH_CONFIG_PATH", fixture.at("c")).run();
        let json = run.json();
        let found = json["reclaimable"]["by_program"].as_array().unwrap().iter();
        found.map(|one| one["path"].as_str().unwrap().to_owned()).collect()
    };
    let rule = "at = ['v*']\nhas = ['made']\njoin = ['store']\n";
    let fixture = Fixture::new().file("in/store/v1/made", 9000).file("in/store/v2/made", 9000);
    assert_eq!(run(&fixture, rule), ["in/store".to_owned()].into());
    let apart = BTreeSet::from(["in/store/v1".to_owned(), "in/store/v2".to_owned()]);
    let fixture = fixture.file("in/store/thesis", 9000);
    assert_eq!(run(&fixture, rule), apart);
    assert_eq!(run(&fixture, &format!("{rule}only = ['made']\n")), apart);
    assert_eq!(run(&fixture, &format!("{rule}only = ['made', 'th*']\n")).len(), 1);
    // As many directories as files were found.
    let rule = "at = ['*.tmp']\nfile = true\nmatches = 'x'\nonly = ['*.tmp']\njoin = ['store']\n";
    let fixture = Fixture::new().dir("in/store/mine");
    write(&fixture.at("in/store/a.tmp"), "x");
    write(&fixture.at("in/store/mine/b.tmp"), "mine");
    assert_eq!(run(&fixture, rule), ["in/store/a.tmp".to_owned()].into());
}

#[test]
fn a_bare_repository_is_not_listed() {
    let case = named("pip-cache");
    let mut fixture = case.made();
    for (name, is_found) in [("HEAD", true), ("objects/x", true), ("refs/x", false)] {
        write(&fixture.at(".cache/pip/backup.git").join(name), "x");
        fixture = aged(fixture, 40);
        assert_eq!(finds(&fixture, case.rule), is_found, "{name}");
    }
}

/// Repositories lie where a tool puts them. Once they could be anywhere in its store.
#[test]
fn a_repository_in_a_store_is_listed_only_where_its_tool_has_some() {
    let bare = |at: &str| ["HEAD", "objects/x", "refs/x"].map(|name| format!("{at}/{name}"));
    let tree = |at: &str| [format!("{at}/.git/HEAD"), format!("{at}/f"), format!("{at}/g")];
    for (rule, own, is_found) in [
        ("go-modules", bare("cache/vcs/1f"), true),
        ("go-modules", tree("m@v1"), false),
        ("go-modules", bare("m@v1/vcs/1f"), false),
        ("go-modules", tree("cache/download/m"), false),
        ("go-modules", tree("cache"), false),
        ("cargo-git", bare("db/a-1"), true),
        ("cargo-git", tree("checkouts/a-1/1f"), true),
        ("cargo-git", tree("checkouts/a-1/1f/sub/module"), true),
        ("cargo-git", tree("mine"), false),
        ("cargo-registry", tree("index/github.com-1"), true),
        ("cargo-registry", tree("src/index/a-1"), false),
        ("cargo-registry", tree("src/registry-1/a-1"), false),
        ("uv-cache", tree("git-v0/checkouts/1f/2e"), true),
        ("uv-cache", tree("archive-v0/1f"), false),
        ("bazel", tree("_bazel_me/1f/external/a"), false),
    ] {
        let fixture = named(rule).made();
        let at = named(rule).at;
        own.iter().for_each(|name| write(&fixture.at(at).join(name), "ref: refs/heads/main"));
        assert_eq!(finds(&aged(fixture, 40), rule), is_found, "{rule}: {own:?}");
    }
    // Elsewhere, nothing is allowed.
    let fixture = named("npm-packages").made();
    for name in bare("p/node_modules/in/pkg/mod/cache/vcs/1f") {
        write(&fixture.at(name), "x");
    }
    assert!(!finds(&aged(fixture, 40), "npm-packages"));
}

/// The whole place counts, not only its last name.
#[test]
fn a_place_has_all_its_names() {
    let fixture = Fixture::in_memory();
    for place in ["foo/y", "other/x"] {
        write(&fixture.at(place).join("marker"), "x");
        write(&fixture.at(place).join("payload"), &"w".repeat(100_000));
    }
    let rule =
        "[[rule]]\nname = 'mine'\nwhat = 'mine'\nat = ['foo/*']\nhas = ['marker']\nback = 'make'\n";
    let config = fixture.at("config.toml");
    let look = |rule: &str| {
        fs::write(&config, rule).unwrap();
        let run = weigh("clean --older 0h -j .").within(fixture.path());
        run.env("WEIGH_CONFIG_PATH", &config).run()
    };
    let json = look(rule).json();
    let found = json["reclaimable"]["by_program"].as_array().unwrap();
    let paths: Vec<_> = found.iter().map(|one| one["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["./foo/y"]);
    // Paths are quoted by weigh: in quotes of the rule's own, they would not be.
    let shown = look(&format!("{rule}command = 'rm -rf -- \"{{path}}\"'\n"));
    assert_eq!(shown.code(), 2);
    assert!(shown.complaint().contains("quotes"), "{}", shown.complaint());
}

/// A command that cannot be shown as it is would remove something else.
#[test]
fn commands_are_shown_as_they_are_or_not_at_all() {
    let fixture = Fixture::in_memory();
    for project in ["a…b", "a~b"] {
        let case = Case {
            rule: "npm-packages",
            at: "node_modules",
            markers: &[("package.json", "{}"), ("package-lock.json", "{\"in\": {}}")],
        };
        case.make_in(&fixture.at(project), "");
    }
    let run = |locale: &str| {
        let run = weigh("clean -v --older 0h -w 300 .").within(fixture.path());
        run.env("LC_ALL", locale).run().text()
    };
    assert_eq!(run("C.UTF-8").matches("rm -rf").count(), 2);
    assert_eq!(run("C").matches("rm -rf").count(), 1);
    assert!(run("C").contains("a~b/node_modules"));
}

/// What is mounted in it would go, too, whether the walk enters it or not.
#[test]
#[ignore = "mounts a tmpfs"]
fn what_has_a_mount_in_it_is_not_listed() {
    let case = named("npm-packages");
    let fixture = Fixture::new();
    case.make_in(fixture.path(), "");
    fs::create_dir_all(fixture.at("p/node_modules/mounted")).unwrap();
    let script = "\"$0\" clean --older 0h -j . >before
        mount -t tmpfs tmpfs p/node_modules/mounted
        \"$0\" clean --older 0h -j . >with; \"$0\" clean -x --older 0h -j . >apart";
    in_namespace(&fixture, script);
    let found = |name: &str| fixture.text(name).contains("p/node_modules\"");
    assert!(found("before") && !found("with") && !found("apart"));
    // Where nothing says what is mounted, everything may be.
    let script = "\"$0\" clean -x --older 0h -j . >apart
        mount -t tmpfs tmpfs /proc; \"$0\" clean -x --older 0h -j . >unknown
        \"$0\" clean --older 0h -j . >seen";
    in_namespace(&fixture, script);
    assert!(found("apart") && !found("unknown") && found("seen"));
    // Where it is alone, too.
    let script = "mkdir p/node_modules/in/alone; mount -t tmpfs tmpfs p/node_modules/in/alone
        mount -t tmpfs tmpfs /proc
        \"$0\" clean --older 0h -j . >seen";
    in_namespace(&fixture, script);
    assert!(!found("seen"));
}

/// The example of the page.
#[test]
fn the_page_shows_what_is_printed() {
    let fixture = Fixture::in_memory();
    for name in ["uv-cache", "trash"] {
        named(name).make_in(fixture.path(), "");
    }
    let packages = Case {
        at: "src/admin/node_modules",
        markers: &[("src/admin/package.json", "{}"), ("src/admin/pnpm-lock.yaml", "/in@1.0.0:")],
        ..*named("pnpm-packages")
    };
    packages.make_in(fixture.path(), "");
    let mut fixture = fixture
        .file(".cache/uv/archive-v0/wheel", 5_300_000)
        .file(".local/share/Trash/files/old", 1_600_000)
        .file("src/admin/node_modules/in/own", 1_400_000)
        .file("store", 1_000_000)
        .hard_link("store", "src/admin/node_modules/in/linked");
    for (path, _) in entries_at(fixture.path()) {
        let days = if path.starts_with(fixture.at("src")) { 14 } else { 3 };
        fixture = fixture.modified(path, now() - days * 86_400 - 60);
    }
    // The shared inode is last written when the project is.
    let fixture = fixture.modified("store", now() - 14 * 86_400 - 60);
    let shown = weigh("clean .").within(fixture.path()).run().text();
    let home = fixture.path().to_str().unwrap();
    let shown = format!("```text\n{}```\n", shown.replace(home, "/home/me"));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/clean.md");
    let text = fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once("```text\n").unwrap();
    let (_, after) = rest.split_once("```\n").unwrap();
    is_kept(&page, &[before, &shown, after].concat(), &shown);
}

/// Text as code in a table.
fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|"))
}

/// What lies in `found`, and in `others` with the entry that is not expected.
fn found_and_doubtful(fixture: &Fixture) -> [Vec<String>; 2] {
    let json = look("-j --older 0h", fixture).run().json();
    let text = |one: &Value| match one["unexpected"].as_str() {
        Some(unexpected) => format!("{} {unexpected}", one["rule"].as_str().unwrap()),
        None => one["rule"].as_str().unwrap().to_owned(),
    };
    [&["found", "by_program"][..], &["others"]].map(|lists| {
        let lists = lists.iter().flat_map(|list| json["reclaimable"][list].as_array().unwrap());
        lists.map(text).collect()
    })
}

/// Markers prove who made a directory. Once, whatever else was in it was in the sum.
#[test]
fn what_a_rule_does_not_expect_is_named_and_in_no_sum() {
    let open = ["python-bytecode", "maven-artifact", "cache-tag"];
    for case in CASES.iter().filter(|case| !case.is_final() && !open.contains(&case.rule)) {
        for own in ["thesis.pdf", "results/measured.csv", "a b/c/d/notes"] {
            let fixture = case.made();
            assert_eq!(found_and_doubtful(&fixture), [vec![case.rule.to_owned()], Vec::new()]);
            write(&fixture.at(case.at).join(own), &"w".repeat(50_000));
            let [found, doubtful] = found_and_doubtful(&fixture);
            assert_eq!(found, Vec::<String>::new(), "{}: {own}", case.rule);
            assert!(
                doubtful.iter().any(|one| {
                    one.split_once(' ')
                        .is_some_and(|(rule, at)| rule == case.rule && own.starts_with(at))
                }),
                "{}: {own}: {doubtful:?}",
                case.rule
            );
            let json = look("-j --older 0h", &fixture).run().json();
            assert_eq!(json["reclaimable"]["frees_most"], 0, "{}: {own}", case.rule);
            assert!(json["reclaimable"]["others"][0]["command"].is_null());
            let with = json["reclaimable"]["others"][0]["doubt"].as_str().unwrap();
            assert!(with.starts_with("with "), "{with}");
        }
    }
    for (rule, own) in [
        ("cargo-target", "p/target/debug/results/measured.csv"),
        ("cargo-target", "p/target/debug/measured.csv"),
        ("cargo-target", "p/target/debug/deps/thesis.pdf"),
        ("cargo-target", "p/target/release/measurements"),
        ("cargo-target", "p/target/release/deps/measurements"),
        ("cargo-target", "p/target/x86_64-unknown-linux-gnu/release/measurements"),
        ("cargo-target", "p/target/debug/build/my-notes/x"),
        ("cargo-target", "p/target/criterion/report/base.json"),
        ("cargo-target", "p/target/nextest/default/junit.xml"),
        ("cargo-target", "p/target/llvm-cov/html/index.html"),
        ("cargo-target", "p/target/tarpaulin/x.json"),
        ("cargo-target", "p/target/coverage/lcov.info"),
        ("go-modules", "go/pkg/mod/me@work/thesis"),
        ("thumbnails", ".cache/thumbnails/large/holiday.png"),
        ("bun-cache", ".bun/install/cache/mine/thesis.pdf"),
        ("cargo-target", "p/target/x86_64-unknown-linux-gnu/release/thesis.pdf"),
        ("npm-packages", "p/node_modules/mine/index.js"),
        ("npm-packages", "p/node_modules/@me/mine/index.js"),
        ("cargo-registry", ".cargo/registry/src/index/mine/lib.rs"),
        ("go-build-cache", "go-build/00/notes"),
        ("pip-cache", ".cache/pip/http-v2/notes"),
    ] {
        let fixture = named(rule).made();
        write(&fixture.at(own), &"w".repeat(50_000));
        assert_eq!(found_and_doubtful(&fixture)[0], Vec::<String>::new(), "{rule}: {own}");
    }
    // And what it does not make, in places where much is its own.
    for (rule, own, text) in [
        ("cargo-target", "p/target/doc/thesis.pdf", ""),
        ("cargo-target", "p/target/doc/thesis.html", ""),
        ("cargo-target", "p/target/doc/notes.txt", ""),
        ("cargo-target", "p/target/doc/plan.svg", ""),
        ("cargo-target", "p/target/doc/mine/thesis.html", ""),
        ("cargo-target", "p/target/doc/src/mine/thesis.html", ""),
        ("cargo-target", "p/target/x86_64-unknown-linux-gnu/doc/mine/thesis", ""),
        ("cargo-target", "p/target/x86_64-unknown-linux-gnu/doc/thesis.html", ""),
        ("cargo-target", "p/target/my-own-notes/doc/thesis", ""),
        ("cargo-target", "p/target/mine/debug.d", ""),
        ("python-bytecode", "p/__pycache__/gone.cpython-312.pyc", ""),
        ("python-bytecode", "p/__pycache__/gone.cpython-312.opt-1.pyc", ""),
        ("python-bytecode", "p/__pycache__/gone.pyc", ""),
        ("python-bytecode", "p/__pycache__/d/a.pyc", ""),
        ("maven-artifact", "m2/a/1/mine-1.jar", ""),
        ("maven-artifact", "m2/a/1/mine.pom", ""),
        ("maven-artifact", "m2/a/1/d/a-1.jar", ""),
    ] {
        let fixture = named(rule).made();
        write(&fixture.at(own), &format!("{text}{}", "w".repeat(50_000)));
        let [found, doubtful] = found_and_doubtful(&fixture);
        assert_eq!(found, Vec::<String>::new(), "{rule}: {own}");
        assert!(doubtful.iter().any(|one| one.starts_with(rule)), "{rule}: {own}: {doubtful:?}");
    }
    // What Python and cargo make.
    let fixture = named("python-bytecode").made();
    for name in ["a.cpython-312.opt-1.pyc", "a.cpython-312-pytest-8.1.pyc", "x.y.cpython-39.pyc"] {
        write(&fixture.at("p/__pycache__").join(name), "x");
    }
    write(&fixture.at("p/x.y.py"), "x");
    assert_eq!(found_and_doubtful(&fixture), [vec!["python-bytecode".to_owned()], Vec::new()]);
    let fixture = named("cargo-target").made();
    for name in [
        "debug/.fingerprint/a-1/x",
        "debug/build/a-0123456789abcdef/out/x.csv",
        "debug/deps/a.long-type-123.txt",
        "llvm-cov-target/debug/a",
        "debug/deps/liba-1.rlib",
        "debug/a.d",
        "debug/incremental/a-1/x",
        "debug/.cargo-lock",
        "release/liba.rlib",
        "doc/a/index.html",
        "doc/a/sidebar-items1.95.0.js",
        "doc/src/a/lib.rs.html",
        "doc/search.js",
        "doc/help.html",
        "doc/static.files/x.css",
        "doc/trait.impl/core/clone.js",
        "x86_64-unknown-linux-gnu/doc/a/sidebar-items.js",
        "x86_64-unknown-linux-gnu/doc/a/struct.A.html",
        "x86_64-unknown-linux-gnu/debug/deps/a-1.d",
        "wasm32-wasip1/release/a.wasm",
    ] {
        write(&fixture.at("p/target").join(name), "x");
    }
    for name in ["debug/a", "release/deps/a-1", "x86_64-unknown-linux-gnu/release/examples/a"] {
        write(&fixture.at("p/target").join(name), "x");
        chmod(&fixture.at("p/target").join(name), 0o755);
    }
    assert_eq!(found_and_doubtful(&fixture), [vec!["cargo-target".to_owned()], Vec::new()]);
}

/// People put a tag into a directory to keep it out of a backup.
#[test]
fn a_tag_without_its_tool_leaves_everything_in_doubt() {
    let fixture = Fixture::in_memory();
    for name in ["CACHEDIR.TAG", "Documents/thesis.odt", ".ssh/id_ed25519", "mine"] {
        write(&fixture.at("home").join(name), TAG);
    }
    for rule in ["trash", "journal", "pip-cache"] {
        named(rule).make_in(&fixture.at("home"), "");
    }
    let [found, doubtful] = found_and_doubtful(&fixture);
    assert_eq!(found, ["pip-cache"], "it is proved on its own");
    assert!(doubtful.iter().any(|one| one.starts_with("cache-tag ")), "{doubtful:?}");
    assert!(doubtful.contains(&"trash".to_owned()), "{doubtful:?}");
}

/// A marker is of the kind that its tool makes.
#[test]
fn a_marker_of_another_kind_proves_nothing() {
    for case in CASES {
        for (marker, _) in case.markers {
            let fixture = case.made_without(marker);
            let fixture = match marker.strip_suffix('/') {
                Some(directory) if fixture.at(directory).exists() => continue,
                Some(directory) => fixture.file(directory, 10),
                None => fixture.dir(marker),
            };
            assert!(!finds(&aged(fixture, 40), case.rule), "{}: {marker}", case.rule);
        }
    }
}

/// Files that HEAD tracks and the index does not have were listed.
#[test]
fn what_only_a_commit_tracks_is_not_listed() {
    let made = || {
        let fixture = named("npm-packages").made();
        git(&fixture, &fixture.at("p"), &["init", "-q"]);
        git(&fixture, &fixture.at("p"), &["add", "package.json"]);
        git(&fixture, &fixture.at("p"), COMMIT);
        fixture
    };
    let is_found = |fixture: Fixture, how: &[&[&str]]| {
        let top = fixture.at("p");
        how.iter().for_each(|arguments| {
            git(&fixture, &top, arguments);
        });
        finds(&aged(fixture, 40), "npm-packages")
    };
    let add: &[&str] = &["add", "-f", "node_modules"];
    let remove: &[&str] = &["rm", "-rq", "--cached", "node_modules"];
    assert!(is_found(made(), &[]));
    assert!(is_found(made(), &[&["gc", "-q"], &["pack-refs", "--all"]]));
    assert!(is_found(made(), &[add, COMMIT, remove, COMMIT]), "no commit has it");
    for how in [
        &[add][..],
        &[add, COMMIT],
        &[add, COMMIT, remove],
        &[add, COMMIT, remove, &["write-tree"]],
        &[add, COMMIT, remove, COMMIT, &["reset", "-q", "--soft", "HEAD~"]],
        &[add, COMMIT, &["gc", "-q"], remove, &["write-tree"]],
        &[add, COMMIT, &["read-tree", "--empty"]],
    ] {
        assert!(!is_found(made(), how), "{how:?}");
    }
    let fixture = made();
    fs::remove_file(fixture.at("p/.git/index")).unwrap();
    assert!(!is_found(fixture, &[]), "without an index");
}

/// A work tree of an agent is to be looked at, and the output in it can go on its own.
#[test]
fn what_is_in_a_work_tree_of_an_agent_is_listed_on_its_own() {
    let fixture = Fixture::new().dir("p");
    let at = |path: &str| fixture.at("p/.claude/worktrees/a").join(path);
    write(&fixture.at("p/f"), "x");
    git(&fixture, &fixture.at("p"), &["init", "-q", "-b", "main"]);
    git(&fixture, &fixture.at("p"), &["add", "f"]);
    git(&fixture, &fixture.at("p"), COMMIT);
    git(&fixture, &fixture.at("p"), &["worktree", "add", "-q", ".claude/worktrees/a"]);
    write(&at("package.json"), "{}");
    write(&at("package-lock.json"), "{\"node_modules/in\": {}}");
    write(&at("node_modules/in/package.json"), &"{}".repeat(9_000));
    let fixture = aged(fixture, 40);
    let json = look("-j", &fixture).run().json();
    let [found, others] = ["found", "others"].map(|list| json["reclaimable"][list][0].clone());
    assert_eq!(found["path"], "./p/.claude/worktrees/a/node_modules", "{json}");
    assert_eq!(others["path"], "./p/.claude/worktrees/a", "{json}");
    assert_eq!(others["doubt"], "git status says whether it is clean", "{json}");
    // Git refuses what its command would lose, and takes the rest.
    let command = others["command"].as_str().unwrap().to_owned();
    let run = || std::process::Command::new("sh").args(["-c", &command]).output().unwrap();
    assert!(!run().status.success());
    for name in ["package.json", "package-lock.json"] {
        fs::remove_file(fixture.at("p/.claude/worktrees/a").join(name)).unwrap();
    }
    fs::remove_dir_all(fixture.at("p/.claude/worktrees/a/node_modules")).unwrap();
    assert!(run().status.success());
    assert!(!fixture.at("p/.claude/worktrees/a").exists());
}

/// A repository that is called and marked as a cache, and what is in one.
#[test]
fn a_repository_is_no_cache() {
    let is_tree = |case: &&Case| case.at.contains("core.") || case.rule == "agent-worktree";
    for case in CASES.iter().filter(|case| !is_tree(case)) {
        for (name, text) in
            [(".git", "gitdir: /elsewhere"), (".git/HEAD", "ref: refs/heads/main"), (".hg/x", "x")]
        {
            let fixture = case.made();
            write(&fixture.at(case.at).join(name), text);
            assert!(!finds(&aged(fixture, 40), case.rule), "{}: {name}", case.rule);
        }
        let fixture = case.made();
        for name in ["HEAD", "objects/x", "refs/x"] {
            write(&fixture.at(case.at).join(name), "x");
        }
        assert!(!finds(&aged(fixture, 40), case.rule), "{}: bare", case.rule);
    }
    let fixture = Fixture::in_memory();
    git(&fixture, fixture.path(), &["init", "-q"]);
    write(&fixture.at("f"), "x");
    git(&fixture, fixture.path(), &["add", "f"]);
    named("pip-cache").make_in(&fixture.at(".git/objects"), "");
    assert_eq!(found(&aged(fixture, 40)), BTreeSet::new());
}

fn chmod(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Bun has a directory for each name, with a symlink for each version.
#[test]
fn a_cache_of_bun_has_symlinks_beside_its_packages() {
    let fixture = named("bun-cache").made();
    for at in ["is-odd", "@a/b"] {
        fs::create_dir_all(fixture.at(".bun/install/cache").join(at)).unwrap();
        let link = fixture.at(".bun/install/cache").join(at).join("3.0.1@@@1");
        symlink("../a@1.0.0@@@1", link).unwrap();
    }
    assert_eq!(found_and_doubtful(&fixture), [vec!["bun-cache".to_owned()], Vec::new()]);
}

/// Archives and settings beside artifacts went with them.
#[test]
fn own_files_in_a_repository_of_maven_are_left_alone() {
    for own in ["photos.zip", "settings.xml", "m2/a/1/own/dump.tar.gz", "my.properties"] {
        let fixture = Fixture::in_memory();
        named("maven-artifact").make_in(&fixture.at(".m2/repository"), "");
        let fixture = aged(fixture, 40);
        assert!(found(&fixture).iter().any(|(_, path)| path == "./.m2/repository"));
        write(&fixture.at(".m2/repository").join(own), "mine");
        for (_, path) in found(&aged(fixture, 40)) {
            let rest = format!("./.m2/repository/{own}");
            assert!(!rest.starts_with(&path), "{own}: {path}");
        }
    }
}

/// What was put into a trash is found by looking there, wherever weigh begins.
#[test]
fn nothing_in_a_trash_is_listed_on_its_own() {
    for trash in [
        ".Trash/1000/files",
        ".Trash-1000/files",
        "data/Trash/files",
        ".local/share/Trash/files",
        ".Trash",
        "Trash/expunged/1",
        "#recycle",
        "@Recycle/u",
        ".recycle",
        "RECYCLER/S-1",
        "$Recycle.Bin/S-1",
        "u/files_trashbin/in",
        "share/.stversions",
        "lost+found/#12",
    ] {
        let fixture = Fixture::in_memory();
        named("npm-packages").make_in(&fixture.at(trash), "");
        let fixture = aged(fixture, 40);
        assert!(!finds(&fixture, "npm-packages"), "{trash}");
        for root in [trash.to_owned(), format!("{trash}/p")] {
            let json = look("-j", &fixture).arg(fixture.at(root)).run().json();
            assert_eq!(number_found(&json), 0, "{trash}");
        }
        if trash.ends_with("/files") {
            assert!(finds(&fixture, "trash"), "{trash}");
        }
    }
}

/// Of a new repository, nothing is tracked. Of an orphan branch the others may track everything.
#[test]
fn a_head_without_a_commit_is_doubt_unless_the_repository_is_new() {
    let made = |how: &[&[&str]]| {
        let fixture = named("npm-packages").made();
        let top = fixture.at("p");
        git(&fixture, &top, &["init", "-q", "-b", "main"]);
        how.iter().for_each(|arguments| {
            git(&fixture, &top, arguments);
        });
        fixture
    };
    let is_found = |fixture: Fixture| finds(&aged(fixture, 40), "npm-packages");
    assert!(is_found(made(&[])), "before the first git add");
    assert!(is_found(made(&[&["add", "package.json"]])));
    let all: &[&str] = &["add", "-f", "."];
    let orphan: &[&str] = &["checkout", "-q", "--orphan", "pages"];
    let untrack: &[&str] = &["rm", "-rq", "--cached", "."];
    assert!(!is_found(made(&[all, COMMIT, orphan, untrack])));
    assert!(!is_found(made(&[all, COMMIT, &["pack-refs", "--all"], orphan, untrack])));
    assert!(!is_found(made(&[all, COMMIT, orphan, untrack, &["branch", "-qD", "main"]])));
    // A disk that failed took the branch.
    let fixture = made(&[all, COMMIT, untrack]);
    fs::remove_file(fixture.at("p/.git/refs/heads/main")).unwrap();
    assert!(!is_found(fixture));
    // And all that was written of it.
    let fixture = made(&[all, COMMIT]);
    for gone in ["refs/heads/main", "index", "logs/HEAD", "logs/refs/heads/main"] {
        fs::remove_file(fixture.at("p/.git").join(gone)).unwrap();
    }
    assert!(!is_found(fixture));
}

/// A linked work tree has some refs in its own directory. Those of the first work tree were read.
#[test]
fn a_head_may_be_at_a_ref_of_its_work_tree_alone() {
    let fixture = Fixture::in_memory();
    let first = fixture.at("first");
    write(&first.join("f"), "x");
    git(&fixture, &first, &["init", "-q"]);
    git(&fixture, &first, &["add", "f"]);
    git(&fixture, &first, COMMIT);
    git(&fixture, &first, &["worktree", "add", "-q", "../p"]);
    named("npm-packages").make_in(fixture.path(), "");
    let p = fixture.at("p");
    git(&fixture, &first, &["update-ref", "refs/worktree/x", "HEAD"]);
    git(&fixture, &p, &["update-ref", "refs/worktree/x", "HEAD"]);
    git(&fixture, &p, &["symbolic-ref", "HEAD", "refs/worktree/x"]);
    let fixture = aged(fixture, 40);
    assert!(finds(&fixture, "npm-packages"));
    git(&fixture, &p, &["add", "-f", "."]);
    git(&fixture, &p, COMMIT);
    git(
        &fixture,
        &p,
        &["rm", "-rq", "--cached", "node_modules", "package.json", "package-lock.json"],
    );
    git(&fixture, &p, &["write-tree"]);
    assert!(!finds(&aged(fixture, 40), "npm-packages"));
}

/// A repository of a submodule tells what is tracked there; without it, nobody does.
#[test]
fn a_submodule_without_its_repository_is_doubt() {
    let fixture = named("npm-packages").made();
    let p = fixture.at("p");
    git(&fixture, &p, &["init", "-q"]);
    git(&fixture, &p, &["add", "package.json"]);
    git(&fixture, &p, COMMIT);
    git(&fixture, fixture.path(), &["init", "-q"]);
    git(&fixture, fixture.path(), &["add", "p"]);
    git(&fixture, fixture.path(), COMMIT);
    let fixture = aged(fixture, 40);
    assert!(finds(&fixture, "npm-packages"));
    fs::remove_dir_all(fixture.at("p/.git")).unwrap();
    assert!(!finds(&aged(fixture, 40), "npm-packages"));
}

/// Beside a repository of git, jj tracks what it sees.
#[test]
fn a_work_tree_of_git_and_jj_is_doubt() {
    let fixture = named("npm-packages").made();
    git(&fixture, &fixture.at("p"), &["init", "-q"]);
    git(&fixture, &fixture.at("p"), &["add", "package.json"]);
    let fixture = aged(fixture, 40);
    assert!(finds(&fixture, "npm-packages"));
    write(&fixture.at("p/.jj/repo/x"), "x");
    assert!(!finds(&aged(fixture, 40), "npm-packages"));
}

/// What is mounted may be a part of a repository. Once, git tracked what was listed.
#[test]
#[ignore = "mounts directories"]
fn a_mount_hides_what_is_around_it() {
    let fixture = Fixture::new();
    named("npm-packages").make_in(&fixture.at("R"), "");
    named("npm-packages").make_in(&fixture.at("free"), "");
    named("npm-packages").make_in(&fixture.at("proj"), "");
    git(&fixture, &fixture.at("R"), &["init", "-q"]);
    git(&fixture, &fixture.at("R"), &["add", "-f", "."]);
    git(&fixture, &fixture.at("R"), COMMIT);
    for directory in ["b", "c", "d", "o", "u", "w", "low"] {
        fs::create_dir(fixture.at(directory)).unwrap();
    }
    named("npm-packages").make_in(&fixture.at("low"), "");
    let script = "set -e; look() { \"$0\" clean --older 0h -j $1 >$2; }
        look low low.before; look free/p free.before
        mount --bind R/p b; look b bound
        mount --bind free/p c; look c bound.free
        mount --bind R/p/node_modules proj/p/node_modules; look proj mounted
        umount proj/p/node_modules; mount -t tmpfs tmpfs proj/p/node_modules
        mkdir proj/p/node_modules/x; echo {} >proj/p/node_modules/x/package.json; look proj point
        mount -t tmpfs none u; mkdir u/u u/w; mount -t overlay -o lowerdir=R/p,upperdir=u/u,workdir=u/w none o
        look o overlay; umount o
        mkdir u/u2 u/w2; mount -t overlay -o lowerdir=low,upperdir=u/u2,workdir=u/w2 none o
        look low low.after";
    in_namespace(&fixture, script);
    let found = |name: &str| number_found(&serde_json::from_str(&fixture.text(name)).unwrap());
    assert_eq!(["low.before", "free.before", "bound.free"].map(found), [1, 1, 1]);
    for name in ["bound", "mounted", "point", "overlay", "low.after"] {
        assert_eq!(found(name), 0, "{name}");
    }
}

/// A filter hid the repository that tracks what is found, and `--older` hid what was written today: both were listed.
#[cfg(all(target_os = "linux", feature = "tui"))]
#[test]
fn the_screen_lists_nothing_because_a_filter_hides_what_speaks_against_it() {
    use crate::pty::Terminal;
    let fixture = Fixture::in_memory();
    for project in ["tracked", "worked-on", "free"] {
        named("npm-packages").make_in(&fixture.at(project), "");
    }
    git(&fixture, &fixture.at("tracked"), &["init", "-q"]);
    git(&fixture, &fixture.at("tracked"), &["add", "-f", "."]);
    let fixture = aged(fixture, 40).file("worked-on/p/today", 1).dir("home");
    for filter in [
        "-i",
        "-X .git",
        "--exclude .git",
        "--include *.js",
        "-v [.]git",
        "-e p",
        "--gitignore",
        "--only-ignored",
        "--exclude-caches",
        "--type js",
        "--type-not js",
        "--newer 1y",
        "--mtime +1",
    ] {
        let run = weigh(&format!("ui --clean {filter} .")).within(fixture.path()).run();
        let said = "needs files that";
        assert!(run.complaint().contains(said), "{filter}: {}", run.complaint());
        assert_eq!(run.code(), 2, "{filter}");
    }
    let listed = |flags: &str, config: &str, said: &str| {
        let mut terminal = Terminal::new();
        write(&fixture.at("config"), config);
        let run = weigh(&format!("ui {flags}")).within(fixture.path());
        let run = run.env("WEIGH_CONFIG_PATH", fixture.at("config"));
        let mut child = run.env("HOME", fixture.at("home")).on(&terminal).spawn();
        terminal.wait_for(said);
        terminal.type_in(b"q");
        assert_eq!(child.wait().unwrap().code(), Some(0));
    };
    listed("--clean .", "", "free/p/node_modules");
    listed("--clean .", "ignore-hidden = true\n", "free/p/node_modules");
    listed("--clean --older 30d .", "", "free/p/node_modules");
    listed("--clean --older 50d .", "", "2 projects");
    listed("--clean --older 0h .", "", "2 projects");
}

/// `foo.py` was taken for the source of `foo.notes.cpython-312.pyc`.
#[test]
fn bytecode_has_the_name_of_its_source_and_a_tag() {
    for (name, is_made) in [
        ("a.cpython-312.opt-1.pyc", true),
        ("a.cpython-312-pytest-8.1.1.pyc", true),
        ("a.pypy39.pyc", true),
        ("a.graalpy-242.pyc", true),
        ("a.pyc", false),
        ("a.notes.pyc", false),
        ("a.v2.cpython-312.pyc", false),
        ("b.cpython-312.pyc", false),
    ] {
        let case = named("python-bytecode");
        let fixture = case.made();
        write(&fixture.at(case.at).join(name), "x");
        let rule = case.rule.to_owned();
        let expected = match is_made {
            true => [vec![rule], Vec::new()],
            false => [Vec::new(), vec![format!("{rule} {name}")]],
        };
        assert_eq!(found_and_doubtful(&fixture), expected, "{name}");
    }
}

/// Own code in `node_modules` was listed beside any lock file, also beside an empty one.
#[test]
fn a_package_that_no_lock_file_names_is_doubt() {
    for rule in ["npm-packages", "pnpm-packages", "yarn-packages", "bun-packages"] {
        let case = named(rule);
        for own in ["mine", "@me/mine", "@in/mine", "ins"] {
            let fixture = case.made();
            assert_eq!(found_and_doubtful(&fixture), [vec![rule.to_owned()], Vec::new()]);
            write(&fixture.at(case.at).join(own).join("package.json"), "{}");
            assert_eq!(found_and_doubtful(&fixture), [vec![], vec![format!("{rule} {own}")]]);
            let lock = fixture.at(case.markers[1].0);
            let text = fs::read_to_string(&lock).unwrap();
            fs::write(&lock, format!("{text}\n\"{own}@1.0.0\": {{}}\n")).unwrap();
            assert_eq!(found_and_doubtful(&fixture), [vec![rule.to_owned()], Vec::new()], "{own}");
        }
        let fixture = case.made();
        fs::write(fixture.at(case.markers[1].0), "").unwrap();
        assert_eq!(found_and_doubtful(&fixture), [vec![], vec![format!("{rule} in")]]);
    }
    // The old lock file of Bun is not text.
    let fixture = named("bun-packages").made_without("p/bun.lock");
    fs::write(fixture.at("p/bun.lockb"), b"#!/usr/bin/env bun\n\0\x01in\0").unwrap();
    assert!(finds(&aged(fixture, 40), "bun-packages"));
}

/// Many packages bring the lock file of their own project, and npm puts what others must not share into a
/// `node_modules` in theirs. That one belongs to the project around both.
#[test]
fn packages_in_a_package_are_not_listed_for_a_lock_file_that_it_brings() {
    for rule in ["npm-packages", "pnpm-packages", "yarn-packages", "bun-packages"] {
        for around in ["n/node_modules/x", "lib/node_modules/@s/x"] {
            let fixture = Fixture::in_memory();
            named(rule).make_in(&fixture.at(around), "");
            let fixture = aged(fixture, 40);
            assert_eq!(found(&fixture), BTreeSet::new(), "{rule} in {around}");
            let json = look("-j", &fixture).arg(fixture.at(around)).run().json();
            assert_eq!(number_found(&json), 0, "{rule} in {around}");
        }
    }
}

/// Tests and build servers put a home into `target`.
#[test]
fn what_holds_a_home_is_not_listed() {
    let fixture = aged(named("cargo-target").made().dir("p/target/tmp/home"), 40);
    for (home, expected) in [("p/target/tmp/home", 0), ("p/target", 0), ("p", 1), ("q", 1)] {
        let json = look("-j", &fixture).env("HOME", fixture.at(home)).run().json();
        assert_eq!(number_found(&json), expected, "{home}");
    }
}

/// A read-only snapshot of btrfs was listed with what is in use, and in the sum.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "mounts"]
fn what_is_read_only_is_not_listed() {
    let fixture = Fixture::new();
    named("npm-packages").make_in(fixture.path(), "");
    let script = "mkdir view; mount --bind p view; \"$0\" clean --older 0h -j view >writable
        mount -o remount,bind,ro view; \"$0\" clean --older 0h -j view >read-only";
    in_namespace(&fixture, script);
    let found = |name: &str| fixture.text(name).contains("/node_modules\"");
    assert!(found("writable") && !found("read-only"));
}

/// What a package manager has put into `/opt` is the system's; what users have there is theirs.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs root"]
fn what_the_system_has_is_not_listed() {
    let fixture = Fixture::new();
    named("npm-packages").make_in(fixture.path(), "");
    let script = "mount -t tmpfs none /opt; cp -a p /opt; \"$0\" clean --older 0h -j /opt >of-root
        chown -R 1234 /opt/p; \"$0\" clean --older 0h -j /opt >of-user
        mount -t tmpfs none /usr/share; cp -a /opt/p /usr/share; \"$0\" clean --older 0h -j /usr/share >usr";
    in_namespace(&fixture, script);
    let found = |name: &str| fixture.text(name).contains("/node_modules\"");
    assert!(found("of-user") && !found("of-root") && !found("usr"));
}
