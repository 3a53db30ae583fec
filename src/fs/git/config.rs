//! The part of git's configuration (git-config(1)) that says what is ignored.
//!
//! It is read here and not by gix-config 0.62, which adds 38 packages and 107 KB for parsing alone. gix-config reads
//! included files whole, even a pipe or an endless file, and a repository must not make us do that.

use std::ffi::CString;
use std::io;
use std::sync::Arc;

use super::repository::{Repository, ensure_absent, text_of};
use super::rules::IgnoreRules;
use super::syntax::Variables;
use super::{WorkTreeDirectory, invalid, is_absolute, resolve, within};

/// The configuration that holds in every repository.
#[derive(Clone, Debug, Default)]
pub struct GitConfig {
    /// The directory that `~` stands for.
    home: Option<Vec<u8>>,
    /// Settings that a repository's configuration may override.
    weak: Settings,
    /// Settings that override those of the repository.
    strong: Settings,
    /// The path and the rules of the excludes file that holds unless a repository names another.
    excludes: Option<(Vec<u8>, Arc<IgnoreRules>)>,
}

/// The variables that matter here, with the value that was set last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Settings {
    /// `core.excludesFile`; a relative path begins at the top of the work tree.
    excludes_file: Option<Vec<u8>>,
    /// `core.ignoreCase`.
    ignore_case: Option<bool>,
    /// `core.worktree`.
    work_tree: Option<Vec<u8>>,
    /// `extensions.worktreeConfig`.
    worktree_config: Option<bool>,
}

/// The settings in one work tree.
pub(super) struct InWorkTree {
    /// Whether git ignores case.
    pub(super) folds: bool,
    /// The rules in the excludes file.
    pub(super) excludes: Arc<IgnoreRules>,
}

/// The content of a file; none if there is no such file.
pub type Text = io::Result<Option<Vec<u8>>>;

/// The path of a file of git's configuration that is invalid or cannot be read, and the error.
pub type BadFile = (Vec<u8>, io::Error);

impl GitConfig {
    /// A configuration in which the excludes file is `excludes_file`, unless it is set. `~` stands for `home`.
    pub fn new(home: Option<Vec<u8>>, excludes_file: Option<Vec<u8>>) -> Self {
        let weak = Settings { excludes_file, ..Settings::default() };
        Self { home, weak, ..Self::default() }
    }

    /// Adds the settings in the system's or user's file at `path`, and in those that it includes. `open` reads a file.
    ///
    /// # Errors
    /// Those of `open`, and if git refuses the file, too.
    pub fn read(&mut self, path: &[u8], open: &dyn Fn(&[u8]) -> Text) -> Result<(), BadFile> {
        self.weak.read(path, self.home.as_deref(), open)
    }

    /// Sets the variable called `name` to `value`, which overrides all files. `open` reads a file that it includes.
    ///
    /// # Errors
    /// Those of `open`, and if git refuses the variable, too.
    pub fn overrule(
        &mut self,
        name: &[u8],
        value: &[u8],
        open: &dyn Fn(&[u8]) -> Text,
    ) -> Result<(), BadFile> {
        let (name, home) = (name.to_ascii_lowercase(), self.home.as_deref());
        if name == INCLUDE {
            return self.strong.read(&expanded(value, home), home, open);
        }
        let is_sense = self.strong.set(&name, Some(value), home).is_some();
        if is_sense { Ok(()) } else { Err((name, invalid("its value makes no sense"))) }
    }

    /// Reads the excludes file once, for all repositories that do not name another. `open` reads a file. Like git, it
    /// uses none if the file cannot be read.
    #[must_use]
    pub fn with_excludes(mut self, open: &dyn Fn(&[u8]) -> Text) -> Self {
        let named = self.strong.excludes_file.as_ref().or(self.weak.excludes_file.as_ref());
        if let Some(path) = named.filter(|path| is_absolute(path)) {
            let text = open(path).ok().flatten().unwrap_or_default();
            self.excludes = Some((path.clone(), Arc::new(IgnoreRules::parse(&text))));
        }
        self
    }

    /// The settings in the work tree of `repository`, whose top is open as `top`. Invalid files are reported and
    /// change nothing.
    pub(super) fn in_work_tree(
        &self,
        top: &impl WorkTreeDirectory,
        repository: &Repository,
        mut report: impl FnMut(&[u8], &io::Error),
    ) -> InWorkTree {
        let mut said = Settings { worktree_config: None, ..self.weak.clone() };
        let (home, path) = (self.home.as_deref(), within(&repository.common, b"config"));
        said.read_or_report(&path, home, top, &mut report);
        if said.worktree_config == Some(true) {
            let path = within(&repository.own, b"config.worktree");
            said.read_or_report(&path, home, top, &mut report);
        }

        let folds = self.strong.ignore_case.or(said.ignore_case).unwrap_or(false);
        let named = self.strong.excludes_file.as_ref().or(said.excludes_file.as_ref());
        let excludes = match (named, &self.excludes) {
            (Some(path), Some((known, rules))) if path == known && !folds => Arc::clone(rules),
            (Some(path), _) => {
                let path = CString::new(&**path).unwrap_or_default();
                IgnoreRules::in_file(top, &path, true, folds, &mut |_, _| ()).unwrap_or_default()
            }
            (None, _) => Arc::default(),
        };
        InWorkTree { folds, excludes }
    }
}

/// The work tree that `repository` names in its configuration (`core.worktree`), if it does: a path from its own
/// directory. By git's rules (setup.c, check_repository_format_gently), files that are included do not count. `.git` is
/// in the directory open as `top`.
///
/// # Errors
/// If a file is invalid, not a regular file, or cannot be read.
pub(super) fn work_tree_of(
    repository: &Repository,
    top: &impl WorkTreeDirectory,
) -> Result<Option<Vec<u8>>, BadFile> {
    let mut said = Settings::default();
    let mut add = |directory, name| {
        let file = within(directory, name);
        said.read(&file, None, &|path| {
            if path != file {
                return Ok(None);
            }
            let text = config(top, path)?;
            if text.is_none() {
                ensure_absent(top, &CString::new(path)?)?;
            }
            Ok(text)
        })?;
        Ok(said.worktree_config == Some(true))
    };
    let is_per_work_tree = add(&repository.common, b"config")?;
    if is_per_work_tree {
        add(&repository.own, b"config.worktree")?;
    }
    // In a configuration that several work trees share, git ignores it.
    let counts = is_per_work_tree || repository.own == repository.common;
    Ok(said.work_tree.filter(|_| counts))
}

/// The content of the file at `path` of the repository whose work tree is open as `top`.
fn config(top: &impl WorkTreeDirectory, path: &[u8]) -> Text {
    /// A branch with its remote takes about 100 bytes, so there is room for 100,000 of them.
    const MOST: u64 = 10 << 20;
    text_of(top, &CString::new(path)?, MOST)
}

impl Settings {
    /// Adds the settings in the file at `path` of the repository whose work tree is open as `top`. An invalid file is
    /// reported and changes nothing.
    fn read_or_report(
        &mut self,
        path: &[u8],
        home: Option<&[u8]>,
        top: &impl WorkTreeDirectory,
        report: &mut impl FnMut(&[u8], &io::Error),
    ) {
        let mut new = self.clone();
        match new.read(path, home, &|path| config(top, path)) {
            Ok(()) => *self = new,
            Err((path, error)) => report(&path, &error),
        }
    }

    /// Adds the settings in the file at `path` and in the files that it includes. `open` reads a file.
    fn read(
        &mut self,
        path: &[u8],
        home: Option<&[u8]>,
        open: &dyn Fn(&[u8]) -> Text,
    ) -> Result<(), BadFile> {
        /// Git allows no deeper nesting of includes (config.c, MAX_INCLUDE_DEPTH).
        const DEEPEST: usize = 10;
        /// With two includes in every file, ten levels would be a thousand files.
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
                    next = Some(resolve(&path[..directory], &expanded(&value, home)));
                }
                Some((name, value)) if self.set(&name, value.as_deref(), home).is_some() => {}
                _ => {
                    let message = format!("line {} is not valid", variables.line);
                    return Err((path.clone(), invalid(&message)));
                }
            }
        }
    }

    /// Sets the variable called `name`; none if the value is invalid.
    fn set(&mut self, name: &[u8], value: Option<&[u8]>, home: Option<&[u8]>) -> Option<()> {
        match name {
            b"core.excludesfile" => self.excludes_file = Some(expanded(value?, home)),
            b"core.ignorecase" => self.ignore_case = Some(truth(value)?),
            b"core.worktree" => self.work_tree = Some(value?.to_vec()),
            b"extensions.worktreeconfig" => self.worktree_config = Some(truth(value)?),
            INCLUDE => drop(value?),
            _ => {}
        }
        Some(())
    }
}

const INCLUDE: &[u8] = b"include.path";

/// Whether a variable, of git or of the environment, is true; none if the value is invalid.
pub fn truth(value: Option<&[u8]>) -> Option<bool> {
    let Some(value) = value else { return Some(true) };
    match &*value.to_ascii_lowercase() {
        b"true" | b"yes" | b"on" => Some(true),
        b"" | b"false" | b"no" | b"off" => Some(false),
        number => {
            let number = str::from_utf8(number).ok()?;
            let digits = number.strip_suffix(['k', 'm', 'g']).unwrap_or(number);
            digits.parse::<i32>().ok().map(|number| number != 0)
        }
    }
}

/// A path with `home` in place of `~`. Git ends it at a NUL.
fn expanded(path: &[u8], home: Option<&[u8]>) -> Vec<u8> {
    let path = path.split(|byte| *byte == 0).next().unwrap_or_default();
    match (path.strip_prefix(b"~"), home) {
        (Some(rest @ ([] | [b'/', ..])), Some(home)) => [home, rest].concat(),
        _ => path.to_vec(),
    }
}
