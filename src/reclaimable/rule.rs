//! A rule: where something is that can be had again, what proves it, and what it is called. Rules are data
//! (`rules.toml`, and the user's config file); nothing in a scanned tree is ever a rule.

use regex::bytes::{Regex, RegexBuilder};

use super::command::COMMAND_PATHS;
use crate::git::Glob;

/// A rule. The texts of its keys are as they were written; all that has to match has been parsed.
#[derive(Clone, Debug, Default)]
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
    /// Where that is documented.
    pub doc: String,
    /// Whether it cannot be made again, and is only shown.
    pub is_final: bool,
    /// Whether it finds files. Others find directories.
    pub(super) finds_files: bool,
    /// Whether git repositories may be in it.
    pub(super) may_have_repositories: bool,
    /// Where it may be: one of these endings of its path.
    pub(super) at: Vec<RulePlace>,
    /// What must be beside it, and in it.
    pub(super) beside: Vec<AnyOf>,
    pub(super) has: Vec<AnyOf>,
    /// What must not be in it; what must be nowhere below it; and what all files below it must be called, if anything
    /// is said.
    pub(super) lacks: Vec<Glob>,
    pub(super) never: Vec<Glob>,
    pub(super) only: Vec<Glob>,
    /// Where a directory takes the place of all that is found in it, if nothing else is there.
    pub(super) join: Vec<RulePlace>,
    /// The file in it whose content proves it. Of a file, its own content does.
    pub(super) tag: String,
    /// What the start of that must match, and must not.
    pub(super) matches: Option<Regex>,
    pub(super) unless: Option<Regex>,
}

/// The last names of a path, or all of them.
#[derive(Clone, Debug)]
pub(super) struct RulePlace {
    is_absolute: bool,
    /// Outermost first; never empty.
    names: Vec<Glob>,
}

/// Relative paths, each as patterns of names. One of them must be there.
pub(super) type AnyOf = Vec<Vec<Glob>>;

impl RulePlace {
    fn new(text: &str) -> Self {
        Self { is_absolute: text.starts_with('/'), names: path_of(text) }
    }

    /// The pattern of the last name.
    fn last(&self) -> Option<&Glob> {
        self.names.last()
    }

    /// Whether it is the end of an absolute path, whose last name comes first.
    fn is_end_of<'n>(&self, mut names: impl Iterator<Item = &'n [u8]>) -> bool {
        let is_end =
            self.names.iter().rev().all(|one| names.next().is_some_and(|name| one.is_match(name)));
        is_end && (!self.is_absolute || names.next().is_none())
    }
}

/// Whether one of `places` is the end of an absolute path, whose last name comes first.
pub(super) fn is_at<'n>(
    places: &[RulePlace],
    names: impl Iterator<Item = &'n [u8]> + Clone,
) -> bool {
    places.iter().any(|place| place.is_end_of(names.clone()))
}

/// The pattern of a name.
fn glob(text: &str) -> Glob {
    Glob::new(text.as_bytes(), false)
}

fn path_of(text: &str) -> Vec<Glob> {
    text.split('/').filter(|name| !name.is_empty()).map(glob).collect()
}

fn any_of(text: &str) -> AnyOf {
    text.split('|').map(path_of).collect()
}

/// What a key of a rule is given.
#[derive(Clone, Debug)]
pub enum RuleValue {
    /// A text.
    Text(String),
    /// A list of texts.
    Texts(Vec<String>),
    /// True or false.
    Switch(bool),
    /// Anything else, which no key takes.
    Other,
}

impl ReclaimRule {
    /// All keys, by what they take.
    pub const KEYS: [(&str, &[&str]); 3] = [
        ("a string", &["name", "what", "back", "command", "doc", "tag", "matches", "unless"]),
        ("true or false", &["again", "file", "git"]),
        ("a list of strings", &["at", "beside", "has", "lacks", "never", "only", "join"]),
    ];

    /// Gives `key` a `value`.
    ///
    /// # Errors
    /// What is wrong with it, in a few words.
    pub fn set(&mut self, key: &str, value: RuleValue) -> Result<(), String> {
        let patterns = |texts: Vec<String>| texts.iter().map(|text| glob(text)).collect();
        let any = |texts: Vec<String>| texts.iter().map(|text| any_of(text)).collect();
        let places = |texts: Vec<String>| texts.iter().map(|text| RulePlace::new(text)).collect();
        match (key, value) {
            ("name", RuleValue::Text(text)) => self.name = text,
            ("what", RuleValue::Text(text)) => self.what = text,
            ("back", RuleValue::Text(text)) => self.back = text,
            ("command", RuleValue::Text(text)) => self.command = text,
            ("doc", RuleValue::Text(text)) => self.doc = text,
            ("tag", RuleValue::Text(text)) => self.tag = text,
            ("matches", RuleValue::Text(text)) => self.matches = Some(regex(&text)?),
            ("unless", RuleValue::Text(text)) => self.unless = Some(regex(&text)?),
            ("again", RuleValue::Switch(is_on)) => self.is_final = !is_on,
            ("file", RuleValue::Switch(is_on)) => self.finds_files = is_on,
            ("git", RuleValue::Switch(is_on)) => self.may_have_repositories = is_on,
            ("at", RuleValue::Texts(texts)) => self.at = places(texts),
            ("join", RuleValue::Texts(texts)) => self.join = places(texts),
            ("beside", RuleValue::Texts(texts)) => self.beside = any(texts),
            ("has", RuleValue::Texts(texts)) => self.has = any(texts),
            ("lacks", RuleValue::Texts(texts)) => self.lacks = patterns(texts),
            ("never", RuleValue::Texts(texts)) => self.never = patterns(texts),
            ("only", RuleValue::Texts(texts)) => self.only = patterns(texts),
            _ => {
                let known = Self::KEYS.iter().find(|(_, keys)| keys.contains(&key));
                return Err(known.map_or("a rule has no such key".to_owned(), |(takes, _)| {
                    format!("it takes {takes}")
                }));
            }
        }
        Ok(())
    }

    /// Checks that the rule proves what it finds.
    ///
    /// # Errors
    /// The key that is missing or wrong, and why.
    pub fn ensure_proves(&self) -> Result<(), (&'static str, &'static str)> {
        let is_proved = !self.beside.is_empty() || !self.has.is_empty() || self.matches.is_some();
        let names_it = COMMAND_PATHS.iter().any(|it| self.command.contains(it));
        let is_fixed = self.at.iter().all(|at| at.is_absolute);
        let wrong = [
            (self.name.is_empty(), ("name", "a rule has a name")),
            (self.what.is_empty(), ("what", "a rule says what it finds")),
            (
                self.at.is_empty() || self.at.iter().any(|at| at.names.is_empty()),
                ("at", "a rule says where it may be, as in at = [\"target\"]"),
            ),
            (
                !is_proved,
                (
                    "has",
                    "a name alone proves nothing: a rule needs beside, has, or tag and matches",
                ),
            ),
            (
                self.matches.is_some() == (self.tag.is_empty() && !self.finds_files),
                ("tag", "tag and matches go together"),
            ),
            (self.tag.contains(['/', '\0']), ("tag", "it is the name of a file, not a path")),
            (
                self.back.is_empty() && !self.is_final,
                ("back", "a rule says what brings it back, or again = false"),
            ),
            (
                !self.command.is_empty() && !names_it && !is_fixed,
                ("command", "it must remove just what is found, and so name {path} or {parent}"),
            ),
            (
                self.command.contains(['"', '\'', '`']),
                ("command", "paths are quoted already: leave the quotes out"),
            ),
        ];
        wrong.into_iter().find_map(|(is_wrong, why)| is_wrong.then_some(why)).map_or(Ok(()), Err)
    }

    /// Whether it may find something with this name.
    pub(super) fn may_find(&self, name: &[u8]) -> bool {
        let mut last = self.at.iter().filter_map(RulePlace::last);
        last.any(|pattern| pattern.is_match(name))
    }
}

/// Patterns that would take more memory than this, in bytes, are refused.
const MOST_REGEX: usize = 1 << 20;

fn regex(text: &str) -> Result<Regex, String> {
    let regex = RegexBuilder::new(text).size_limit(MOST_REGEX).build();
    regex.map_err(|error| format!("{text} is no pattern: {}", last_line(&error.to_string())))
}

fn last_line(text: &str) -> &str {
    text.lines().last().unwrap_or_default().trim_start_matches("error: ")
}
