//! Imports point down, nothing is called `util`, few tests know how weigh is built, and every file of tests is
//! compiled. Reads the source as text. `ARCHITECTURE.md` draws the layers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// All parts, from the ground up and from the left, as `ARCHITECTURE.md` draws them.
fn parts() -> Vec<String> {
    let map = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
    let map = std::fs::read_to_string(map).unwrap();
    let (_, after) = map.split_once("## Imports point down").expect("they are drawn");
    let lines = after.lines().skip_while(|line| *line != "```text").skip(1);
    // A layer in a line: its parts, and after two spaces a description.
    let layers =
        lines.take_while(|line| *line != "```").map(|line| line.split("  ").next().unwrap());
    let layers: Vec<_> = layers.collect();
    layers.iter().rev().flat_map(|layer| layer.split(' ')).map(str::to_owned).collect()
}

#[test]
fn imports_point_down() {
    let (parts, mut wrong) = (parts(), Vec::new());
    let place_of = |part: &str| parts.iter().position(|it| it == part);
    for (path, text) in sources() {
        let part = part_of(&path);
        if part == "lib" {
            continue;
        }
        let place = place_of(&part).unwrap_or_else(|| panic!("{} is not drawn", path.display()));
        for used in uses(&text, &part, is_root(&path)) {
            // Public names have no part before them.
            let is_public = used.starts_with(char::is_uppercase) || used == "run";
            let Some(other) = place_of(if is_public { "api" } else { &used }) else {
                panic!("{}: {used} is no part of the house", path.display());
            };
            if other > place {
                wrong.push(format!("{}: {part} uses {used}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_is_called_util() {
    for (path, text) in sources() {
        let name = path.to_string_lossy().to_lowercase();
        assert!(!name.contains("util") && !name.contains("helper"), "{name}");
        let text = code_of(&text);
        let words = words(&text);
        for pair in words.windows(2) {
            let is_mod = pair[0] == "mod" && (pair[1].contains("util") || pair[1] == "common");
            assert!(!is_mod, "{}: mod {}", path.display(), pair[1]);
        }
    }
}

/// Only `sys`, and `ext4` for its device, touch the file system. Output depends only on what `show` was given.
#[test]
fn nobody_reaches_past_its_part() {
    let only_in: &[(&str, &[&str])] = &[
        ("std::fs", &["sys", "fs/ext4"]),
        ("rustix::", &["sys", "fs/ext4"]),
        // To `sys` it tells the time zone, as to localtime(3).
        ("std::env", &["app/cli", "app/terminal", "sys"]),
        ("std::process", &["main", "app/cli", "app/signals", "app/terminal", "from/remote", "sys"]),
        (
            "std::thread",
            &[
                "base/parallel",
                "from/remote",
                "ask/mod",
                "ask/compared",
                "app/signals",
                "app/terminal",
                "app/watch",
                "scan/walk",
                "app/browse",
                "sys",
            ],
        ),
        ("catch_unwind", &["scan/walk"]),
        ("Instant", &["app/terminal", "from/remote", "scan/walk", "app/browse", "sys"]),
        ("SystemTime", &["sys"]),
        ("terminal_size", &["app/terminal"]),
        ("is_terminal", &["app/terminal"]),
    ];
    for (path, text) in sources() {
        // A file of tests may need what the program does not.
        if path.ends_with("tests.rs") {
            continue;
        }
        let (code, path) = (code_of(&text), path.with_extension(""));
        // Of `sys`, only errors are shown.
        let asks_system = code.replace("crate::sys::problem", "").contains("crate::sys");
        assert!(!path.starts_with("show") || !asks_system, "{}: sys", path.display());
        for (word, parts) in only_in {
            let is_allowed = parts.iter().any(|part| path.starts_with(part));
            assert!(is_allowed || !code.contains(word), "{}: {word}", path.display());
        }
    }
}

/// One function removes entries, with the user's consent: for the screen, for `clean` and for the trash. Beside it, weigh
/// removes only its own snapshots.
#[test]
fn one_function_removes() {
    let only_in: &[(&str, &[&str])] = &[
        ("unlinkat", &["sys/linux/held"]),
        ("remove_dir", &[]),
        ("remove_file", &["sys", "from/series", "app/cli/snapshots"]),
        ("HeldDirectory", &["sys", "remove"]),
        ("remove::remove", &["app/browse/work", "app/clean"]),
        ("Consent::typed", &["remove/consent", "app/browse/removal", "app/clean"]),
        ("Consent::planned", &["app/clean"]),
        ("Consent::to_trash", &["app/browse/removal"]),
    ];
    for (path, text) in sources() {
        let (code, path) = (code_of(&text), path.with_extension(""));
        for (word, parts) in only_in {
            let is_allowed = parts.iter().any(|part| path.starts_with(part));
            assert!(is_allowed || !code.contains(word), "{}: {word}", path.display());
        }
    }
}

/// All other tests ask the program, or one of these drivers: what is inside can change, and they stay as they are.
#[test]
fn few_tests_know_how_weigh_is_built() {
    // The screen, removing, and saved files; the library as others use it; parsers.
    const INSIDE: [&str; 5] = ["fuzz", "library", "removal", "saved", "session"];
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(place).unwrap() {
        let path = entry.unwrap().path();
        let Some(module) =
            path.file_stem().filter(|_| path.extension().is_some_and(|it| it == "rs"))
        else {
            continue;
        };
        let code = code_of(&std::fs::read_to_string(&path).unwrap());
        if code.contains("weigh::internal") || code.contains("weigh::app") {
            found.push(module.to_str().unwrap().to_owned());
        }
    }
    found.sort_unstable();
    assert_eq!(found, INSIDE);
}

/// A file of tests that no `mod` names is not compiled, and nobody notices.
#[test]
fn every_file_of_tests_is_compiled() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = std::fs::read_to_string(place.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(place).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") {
            assert!(main.contains(&format!("\nmod {module};\n")), "{name} is no module of main.rs");
        }
    }
}

/// Every source file by its path from `src`.
fn sources() -> BTreeMap<PathBuf, String> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut sources, mut dirs) = (BTreeMap::new(), vec![src.clone()]);
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                sources.insert(path.strip_prefix(&src).unwrap().to_owned(), text);
            }
        }
    }
    assert!(sources.len() > 5, "this is not the source");
    sources
}

/// The part a file belongs to: `scan` for `scan/walk/dir.rs`.
fn part_of(path: &Path) -> String {
    let first = path.iter().next().unwrap().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

/// Whether `super` in this file is the crate itself.
fn is_root(path: &Path) -> bool {
    path.iter().count() == 1 || path.iter().count() == 2 && path.ends_with("mod.rs")
}

/// The parts that `text` names after `crate::` or `weigh::internal::`, or where it is the same, `super::`.
fn uses(text: &str, part: &str, super_is_crate: bool) -> Vec<String> {
    let code = code_of(text);
    assert!(!code.contains("super::super::"), "{part}: say crate:: for what is further up");
    let inside = ["weigh::internal::", "weigh::"];
    let code = inside.iter().fold(code, |code, path| code.replace(path, "crate::"));
    let mut used = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let is_word = !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if is_word {
            used.extend(first_names(&code[at + "crate::".len()..]));
        }
    }
    if super_is_crate {
        for (at, _) in code.match_indices("super::") {
            used.extend(first_names(&code[at + "super::".len()..]));
        }
    }
    used
}

/// The names that a path's next step may be: one, or with `{a, b::c}` several.
fn first_names(rest: &str) -> impl Iterator<Item = String> {
    let mut names = vec![String::new()];
    let mut depth = 0;
    let mut in_first = true;
    for char in rest.chars() {
        match char {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => {
                names.push(String::new());
                in_first = true;
                continue;
            }
            c if c.is_alphanumeric() || c == '_' => {
                if in_first && depth <= 1 {
                    names.last_mut().unwrap().push(c);
                }
                continue;
            }
            c if c.is_whitespace() && depth == 1 && names.last().unwrap().is_empty() => continue,
            _ => in_first = false,
        }
        if depth == 0 {
            break;
        }
    }
    names.into_iter().filter(|name| !name.is_empty())
}

fn words(code: &str) -> Vec<&str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect()
}

/// `text` without comments and without what is in string and character literals.
fn code_of(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let skip = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(raw) = rest.strip_prefix("r#\"") {
            raw.find("\"#").map_or(rest.len(), |end| end + "r#\"\"#".len())
        } else if char == '"' {
            string_len(rest)
        } else if rest.starts_with("'\\") || rest.chars().nth(2) == Some('\'') && char == '\'' {
            // A character, not a lifetime: 'x' or '\…'.
            let from = if rest.starts_with("'\\") { 3 } else { 1 };
            from + rest[from..].find('\'').map_or(0, |end| end + 1)
        } else {
            code.push(char);
            char.len_utf8()
        };
        rest = &rest[skip..];
    }
    code
}

/// The length of the string literal that `text` starts with, quotes included.
fn string_len(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => drop(chars.next()),
            '"' => return at + 1,
            _ => (),
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An import is seen however it is written.
    #[test]
    fn every_spelling_of_an_import_is_read() {
        let of = |text: &str| uses(text, "show", true);
        assert_eq!(of("use crate::scan::walk::Walk;"), ["scan"]);
        assert_eq!(of("use crate::{base::{A, B}, sys, tree::tally};"), ["base", "sys", "tree"]);
        assert_eq!(of("pub(crate) use crate :: x;"), [""; 0]);
        assert_eq!(of("fn f() -> crate::sys::Stat {}"), ["sys"]);
        assert_eq!(of("use super::scan;"), ["scan"]);
        assert_eq!(of("use super::*;"), [""; 0]);
        assert_eq!(of("crate::app::cli::parse()"), ["app"]);
        assert_eq!(of("use weigh::app::cli::parse;"), ["app"]);
        assert_eq!(of("use weigh::internal::{sys, tree::Tree};"), ["sys", "tree"]);
        assert_eq!(of("// crate::scan\nlet s = \"crate::scan \\\" crate::sys\";"), [""; 0]);
        assert_eq!(of("let c = '\"'; use crate::sys; let d = '\"';"), ["sys"]);
        assert_eq!(of("fn f<'a>(x: &'a str) { crate::sys::f() }"), ["sys"]);
    }
}
