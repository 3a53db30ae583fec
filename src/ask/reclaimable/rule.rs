//! A rule: where something is that can be made or downloaded again, what proves it, and what it is called. Rules are
//! data (`rules.toml`, and the user's config file); nothing in a scanned tree is ever a rule.

use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

use crate::base::escape::is_control;
use crate::fs::git::Glob;

/// A rule, as it is written. docs/clean.md explains its keys.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReclaimRule {
    /// What it is called in JSON.
    pub name: String,
    /// What it finds, in a few words.
    pub what: String,
    /// What brings it back; empty if nothing does.
    pub back: String,
    /// The command that removes just what is found, with `{path}` and `{parent}` for its path and the one
    /// above; empty if there is none.
    pub command: String,
    /// Why its files may be removed by hand; empty if weigh must not do that.
    pub hand: String,
    /// Why only its own program may remove them.
    pub program: String,
    /// Why it cannot be made again, in a few words; empty if `what` says it all.
    pub why: String,
    /// Where that is documented.
    pub doc: String,
    /// Whether it can be made again; if not, it is only shown. It can unless the rule says otherwise.
    pub again: Option<bool>,
    /// The container engine whose storage it finds, wherever that is: `scan/containers` knows the layouts.
    pub(super) engine: String,
    /// Whether it is a file. Other rules find directories.
    pub(super) file: bool,
    /// Where git repositories may be in it, if anywhere: a relative path of globs, with `|` between alternatives for a
    /// name. A dot says that it is a work tree itself.
    pub(super) git: String,
    /// Where it may be: one of these endings of its path.
    pub(super) at: Vec<String>,
    /// What must be beside it, and in it: relative paths of globs, with `|` between alternatives. With a slash at the end,
    /// it is a directory.
    pub(super) beside: Vec<String>,
    pub(super) has: Vec<String>,
    /// The lock files beside it, with `|` between alternatives, if there are any. A package in it is in doubt unless one of
    /// them names it.
    pub(super) lock: String,
    /// Names that no directory around it has.
    pub(super) outside: Vec<String>,
    /// What must not be in it; what must be nowhere below it; and what all files below it must be called, if anything
    /// is said.
    pub(super) lacks: Vec<String>,
    pub(super) never: Vec<String>,
    pub(super) only: Vec<String>,
    /// All that is expected in it, if anything is said: relative paths of globs, with `|` between alternatives for a name.
    /// With a slash at the end, it is a directory with all that is in it; with `+x`, a file that may be executed. With `!`
    /// at the start, it is taken out of those before. With anything else in it, a directory is in doubt.
    pub(super) expects: Vec<String>,
    /// A directory on the way to that is expected with all that is in it, if it has one of these files.
    pub(super) whole: Vec<String>,
    /// The ending of the files beside it that all files in it were made from, if anything is said. The name of each file
    /// begins with the name of its source. If anything is said in `made`, one of these globs follows.
    pub(super) source: String,
    pub(super) made: Vec<String>,
    /// The files that are in doubt unless a line of the tag begins with their name and `>`.
    pub(super) named: Vec<String>,
    /// Where a directory takes the place of all that is found in it, if nothing else is there.
    pub(super) join: Vec<String>,
    /// The file in it whose content proves it. Of a file, its own content does.
    pub(super) tag: String,
    /// What the start of that must match, and must not.
    pub(super) matches: Option<String>,
    pub(super) unless: Option<String>,
}

impl ReclaimRule {
    /// Whether what it finds cannot be made again.
    pub fn is_final(&self) -> bool {
        self.again == Some(false)
    }

    /// Whether what it finds is a work tree of git.
    pub(super) fn is_work_tree(&self) -> bool {
        self.git == "."
    }

    /// Whether it finds the storage of a container engine.
    pub fn is_of_engine(&self) -> bool {
        !self.engine.is_empty()
    }

    /// Whether what it finds may be removed by hand, and so by weigh.
    pub fn is_by_hand(&self) -> bool {
        !self.hand.is_empty() && !self.is_final() && !self.is_of_engine()
    }

    /// Whether `name` is its name, or the start of it up to a hyphen: `npm` for `npm-cache`.
    pub fn is_named(&self, name: &str) -> bool {
        let rest = self.name.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    }

    /// Whether it finds what a project makes of its own sources.
    pub fn is_of_project(&self) -> bool {
        !self.beside.is_empty() && self.source.is_empty()
    }

    /// Checks that the rule proves what it finds.
    ///
    /// # Errors
    /// The key that is missing or wrong, and why.
    pub fn ensure_proves(&self) -> Result<(), (&'static str, String)> {
        let is_proved = !self.beside.is_empty()
            || !self.has.is_empty()
            || self.matches.is_some()
            || self.is_of_engine();
        let names_it = COMMAND_PATHS.iter().any(|it| self.command.contains(it));
        let is_fixed = self.at.iter().all(|at| at.starts_with('/'));
        let is_nowhere = |at: &String| names_of(at).next().is_none();
        let wrong = [
            (self.name.is_empty(), "name", "a rule has a name"),
            (self.what.is_empty(), "what", "a rule says what it finds"),
            (
                self.at.is_empty() != self.is_of_engine() || self.at.iter().any(is_nowhere),
                "at",
                "a rule says where it may be, as in at = [\"target\"]",
            ),
            (
                !is_proved,
                "has",
                "a name alone proves nothing: a rule needs beside, has, or tag and matches",
            ),
            (
                self.matches.is_some() == (self.tag.is_empty() && !self.file),
                "tag",
                "tag and matches go together",
            ),
            (self.tag.contains(['/', '\0']), "tag", "it is the name of a file, not a path"),
            (
                self.back.is_empty() && !self.is_final(),
                "back",
                "a rule says what brings it back, or again = false",
            ),
            (
                self.is_work_tree() && !self.is_final(),
                "git",
                "only git knows whether a work tree can be made again: add again = false",
            ),
            (
                !self.command.is_empty() && !names_it && !is_fixed,
                "command",
                "it must remove just what is found, and so name {path} or {parent}",
            ),
            (
                self.command.contains(['"', '\'', '`']) || self.command.contains("\\{"),
                "command",
                "paths are quoted already: leave the quotes out",
            ),
            (self.command.contains(is_control), "command", "it is one line of text"),
            (
                !self.hand.is_empty() && (!self.program.is_empty() || self.is_final()),
                "hand",
                "files are removed by hand only if they can be made again, and no program has to do it",
            ),
        ];
        if let Some((_, key, why)) = wrong.into_iter().find(|(is_wrong, ..)| *is_wrong) {
            return Err((key, why.to_owned()));
        }
        for (key, text) in [("matches", &self.matches), ("unless", &self.unless)] {
            text.as_ref()
                .map_or(Ok(()), |text| pattern(text).map(drop))
                .map_err(|why| (key, why))?;
        }
        Ok(())
    }
}

/// The names in a path of a rule, outermost first.
pub(super) fn names_of(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty())
}

/// The last names of a path, or all of them.
#[derive(Clone, Debug)]
pub(super) struct RulePlace {
    is_absolute: bool,
    /// Innermost first; never empty.
    names: Vec<Glob>,
}

impl RulePlace {
    pub(super) fn all(texts: &[String]) -> Vec<Self> {
        let place = |text: &String| Self {
            is_absolute: text.starts_with('/'),
            names: names_of(text).rev().map(|name| Glob::new(name.as_bytes(), false)).collect(),
        };
        texts.iter().map(place).collect()
    }
}

/// Whether one of `places` is the end of an absolute path, whose last name comes first.
pub(super) fn is_at<'n>(
    places: &[RulePlace],
    names: impl Iterator<Item = &'n [u8]> + Clone,
) -> bool {
    places.iter().any(|place| {
        let mut names = names.clone();
        let mut globs = place.names.iter();
        let is_end = globs.all(|one| names.next().is_some_and(|name| one.is_match(name)));
        is_end && (!place.is_absolute || names.next().is_none())
    })
}

/// What the start of a tag is compared with; or what is wrong with it. Patterns that would take more than a MiB are
/// refused.
pub(super) fn pattern(text: &str) -> Result<Regex, String> {
    const LARGEST: usize = 1 << 20;
    let regex = RegexBuilder::new(text).size_limit(LARGEST).build();
    regex.map_err(|error| {
        let error = error.to_string();
        let last = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
        format!("{text} is no pattern: {last}")
    })
}

// Commands, to be pasted into a shell.

/// What stands for a path in a command: of what is found, and of the directory above.
pub(super) const COMMAND_PATHS: [&str; 2] = ["{path}", "{parent}"];

/// `command` for what is at `path`, which is absolute; none if a name on the path cannot be pasted, because it is not
/// text or has control characters.
pub(super) fn command_for(command: &str, path: &[u8]) -> Option<String> {
    let path = std::str::from_utf8(path).ok().filter(|path| !path.contains(is_control))?;
    let parent = path.rsplit_once('/').map_or("/", |(parent, _)| parent);
    let [of_path, of_parent] = COMMAND_PATHS;
    // Only what the rule says has placeholders, not the path that is put in.
    let parts = command.split(of_path).map(|part| part.replace(of_parent, &quoted(parent)));
    let command = parts.collect::<Vec<_>>().join(&quoted(path));
    Some(command).filter(|command| !command.is_empty())
}

/// A word of sh(1).
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_quoted() {
        for (path, expected) in [
            (&b"/a/b"[..], Some("rm -- /a/b /a")),
            (b"/a b/$c", Some("rm -- '/a b/$c' '/a b'")),
            (b"/a/it's", Some(r"rm -- '/a/it'\''s' /a")),
            (b"/{parent}/{path}", Some("rm -- '/{parent}/{path}' '/{parent}'")),
            (b"/a/\n", None),
            (b"/a/\xff", None),
            ("/a/\u{202e}b".as_bytes(), None),
        ] {
            assert_eq!(command_for("rm -- {path} {parent}", path).as_deref(), expected, "{path:?}");
        }
        assert_eq!(command_for("", b"/a"), None);
    }
}
