//! Git's configuration (git-config(1)): what of it says what is ignored.
//!
//! Read here rather than by gix-config 0.62, which adds 38 packages and 107 KB to parse alone: what it includes
//! it would read whole, be it a pipe or without end, and a repository must not make us do that.

use std::ffi::CString;
use std::io;
use std::sync::Arc;

use super::git_syntax::Variables;
use super::repository::{self, Repository};
use super::rules::IgnoreRules;
use crate::path;
use crate::sys::{self, Handle, Symlinks};

/// What git's configuration says to whoever works in any repository.
#[derive(Clone, Debug, Default)]
pub struct GitConfig {
    /// Where `~` leads.
    home: Option<Vec<u8>>,
    /// What a repository's configuration may overrule.
    weak: Settings,
    /// What overrules that.
    strong: Settings,
    /// The rules in the excludes file, by its path, where no repository names another.
    excludes: Option<(Vec<u8>, Arc<IgnoreRules>)>,
}

/// The variables that count here, each as it was set last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Settings {
    /// `core.excludesFile`; what is relative begins at the top of the work tree.
    excludes_file: Option<Vec<u8>>,
    /// `core.ignoreCase`.
    ignore_case: Option<bool>,
    /// `extensions.worktreeConfig`.
    worktree_config: Option<bool>,
}

/// What holds in one work tree.
pub(super) struct InWorkTree {
    /// Whether git takes no heed of case.
    pub(super) folds: bool,
    /// The rules in the excludes file.
    pub(super) excludes: Arc<IgnoreRules>,
}

/// What is in a file; none if it is not there.
type Text = io::Result<Option<Vec<u8>>>;

/// A file of git's configuration that makes no sense, or cannot be read.
pub type BadFile = (Vec<u8>, io::Error);

impl GitConfig {
    /// Where nobody says anything, the excludes file is `excludes_file`. `~` leads to `home`.
    pub fn new(home: Option<Vec<u8>>, excludes_file: Option<Vec<u8>>) -> Self {
        let weak = Settings { excludes_file, ..Settings::default() };
        Self { home, weak, ..Self::default() }
    }

    /// Adds what the system's or the user's file at `path` says. What cannot be read is passed over, as
    /// git does it.
    ///
    /// # Errors
    /// What git refuses.
    pub fn read(&mut self, path: &[u8]) -> Result<(), BadFile> {
        self.weak.read(path, self.home.as_deref(), &text_of_named)
    }

    /// Adds that the variable called `name` is `value`, which overrules what is in files.
    ///
    /// # Errors
    /// What git refuses.
    pub fn overrule(&mut self, name: &[u8], value: &[u8]) -> Result<(), BadFile> {
        let (name, home) = (name.to_ascii_lowercase(), self.home.as_deref());
        if name == INCLUDE {
            return self.strong.read(&expanded(value, home), home, &text_of_named);
        }
        let is_sense = self.strong.set(&name, Some(value), home).is_some();
        if is_sense { Ok(()) } else { Err((name, invalid("its value makes no sense"))) }
    }

    /// Reads the excludes file once, for all that do not name another; none if it cannot be read: then git
    /// goes without it too.
    #[must_use]
    pub fn with_excludes(mut self) -> Self {
        let named = self.strong.excludes_file.as_ref().or(self.weak.excludes_file.as_ref());
        if let Some(path) = named.filter(|path| path::is_absolute(path)) {
            let text = sys::read_file(&path::from_bytes(path)).unwrap_or_default();
            self.excludes = Some((path.clone(), Arc::new(IgnoreRules::parse(&text))));
        }
        self
    }

    /// What holds in the work tree of `repository`, whose top is open as `top`. What is wrong is reported,
    /// and says nothing.
    pub(super) fn in_work_tree(
        &self,
        top: &Handle,
        repository: &Repository,
        mut report: impl FnMut(&[u8], &io::Error),
    ) -> InWorkTree {
        let mut said = Settings { worktree_config: None, ..self.weak.clone() };
        let mut read = |said: &mut Settings, path: Vec<u8>| {
            let mut new = said.clone();
            match new.read(&path, self.home.as_deref(), &|path| text_of(top, path)) {
                Ok(()) => *said = new,
                Err((path, error)) => report(&path, &error),
            }
        };
        read(&mut said, path::join_all([&*repository.common, b"config"]));
        if said.worktree_config == Some(true) {
            read(&mut said, path::join_all([&*repository.own, b"config.worktree"]));
        }

        let folds = self.strong.ignore_case.or(said.ignore_case).unwrap_or(false);
        let named = self.strong.excludes_file.as_ref().or(said.excludes_file.as_ref());
        let excludes = match (named, &self.excludes) {
            (Some(path), Some((known, rules))) if path == known && !folds => Arc::clone(rules),
            (Some(path), _) => {
                let path = CString::new(&**path).unwrap_or_default();
                let rules = IgnoreRules::in_file(top, &path, Symlinks::Follow, folds);
                Arc::new(rules.ok().flatten().unwrap_or_default())
            }
            (None, _) => Arc::default(),
        };
        InWorkTree { folds, excludes }
    }
}

impl Settings {
    /// Adds what the file at `path` says, and what that includes. `open` reads a file.
    fn read(
        &mut self,
        path: &[u8],
        home: Option<&[u8]>,
        open: &dyn Fn(&[u8]) -> Text,
    ) -> Result<(), BadFile> {
        /// Git takes no more in one another (config.c, MAX_INCLUDE_DEPTH).
        const DEEPEST: usize = 10;
        /// Two in each of ten in one another are a thousand.
        const MOST: usize = 100;
        let mut files: Vec<(Vec<u8>, Variables)> = Vec::new();
        let (mut next, mut count) = (Some(path.to_vec()), 0);
        loop {
            if let Some(path) = next.take() {
                count += 1;
                if count > MOST || files.len() > DEEPEST {
                    return Err((
                        path,
                        invalid("too many files are included, or one includes itself"),
                    ));
                }
                match open(&path) {
                    Ok(Some(text)) => files.push((path, Variables::new(text))),
                    Ok(None) => {}
                    Err(error) => return Err((path, error)),
                }
            }
            let Some((path, variables)) = files.last_mut() else { return Ok(()) };
            let Some(variable) = variables.next() else {
                files.pop();
                continue;
            };
            match variable {
                Some((name, Some(value))) if name == INCLUDE => {
                    let directory =
                        path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
                    next = Some(path::resolve(&path[..directory], &expanded(&value, home)));
                }
                Some((name, value)) if self.set(&name, value.as_deref(), home).is_some() => {}
                _ => {
                    let message = format!("line {} is not valid", variables.line);
                    return Err((path.clone(), invalid(&message)));
                }
            }
        }
    }

    /// Sets the variable called `name`; none if it cannot have that value.
    fn set(&mut self, name: &[u8], value: Option<&[u8]>, home: Option<&[u8]>) -> Option<()> {
        match name {
            b"core.excludesfile" => self.excludes_file = Some(expanded(value?, home)),
            b"core.ignorecase" => self.ignore_case = Some(truth(value)?),
            b"extensions.worktreeconfig" => self.worktree_config = Some(truth(value)?),
            INCLUDE => drop(value?),
            _ => {}
        }
        Some(())
    }
}

const INCLUDE: &[u8] = b"include.path";

/// Whether a variable, or one of the environment, is switched on; none if that cannot be told.
pub fn truth(value: Option<&[u8]>) -> Option<bool> {
    let Some(value) = value else { return Some(true) };
    match &*value.to_ascii_lowercase() {
        b"true" | b"yes" | b"on" => Some(true),
        b"" | b"false" | b"no" | b"off" => Some(false),
        number => {
            let digits = number.strip_suffix(b"k").or_else(|| number.strip_suffix(b"m"));
            let digits = digits.or_else(|| number.strip_suffix(b"g")).unwrap_or(number);
            str::from_utf8(digits).ok()?.parse::<i32>().ok().map(|number| number != 0)
        }
    }
}

/// A path whose `~` stands for `home`. For git it ends at a NUL.
fn expanded(path: &[u8], home: Option<&[u8]>) -> Vec<u8> {
    let path = path.split(|byte| *byte == 0).next().unwrap_or_default();
    match (path.strip_prefix(b"~"), home) {
        (Some(rest @ ([] | [b'/', ..])), Some(home)) => [home, rest].concat(),
        _ => path.to_vec(),
    }
}

/// What is in a file that a user named.
fn text_of_named(path: &[u8]) -> Text {
    Ok(sys::read_file(&path::from_bytes(path)).ok())
}

/// What is in the file at `path` from `top`, which a repository named: only a regular one is read.
fn text_of(top: &Handle, path: &[u8]) -> Text {
    /// Some 100 bytes a branch and a remote: room for 100,000 of them.
    const MOST: u64 = 10 << 20;
    repository::text_of(top, &CString::new(path)?, MOST)
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}
