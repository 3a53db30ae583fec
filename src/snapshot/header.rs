//! What stands beside the root in schema 1: what was measured, where it comes from, what went wrong.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::io::{self, Read};

use super::origin::Share;
use super::tokens::Tokens;
use super::{GivenRoot, Origin, Snapshot};
use crate::measure::Measure;
use crate::problem::{self, Operation, Problem};
use crate::weighed::Weighed;

/// The newest schema that is read.
const SCHEMA: u64 = 1;

/// What stands beside the root.
#[derive(Default)]
pub(super) struct Header {
    pub(super) schema: Option<u64>,
    measure: Option<Measure>,
    is_complete: Option<bool>,
    problems: Vec<Problem>,
    /// Where it comes from, if it was saved and not merely printed.
    origin: Option<Origin>,
    /// Whether it has said if there are times and owners. A snapshot that was saved says so before its tree.
    knows_details: bool,
}

impl Header {
    /// Reads the member whose key was taken last. False if it is none of the header's.
    pub(super) fn read<R: Read>(&mut self, tokens: &mut Tokens<R>) -> io::Result<bool> {
        match tokens.text() {
            b"schema" => {
                let schema = tokens.number()?;
                if schema > SCHEMA {
                    return Err(tokens.error(format_args!(
                        "it has schema {schema}, and this weigh reads schema {SCHEMA}"
                    )));
                }
                self.schema = Some(schema);
            }
            b"measure" => {
                let measure = Measure::named(tokens.utf8()?);
                let measure = measure.ok_or_else(|| tokens.error("a measure that is not known"))?;
                self.measure = Some(measure);
            }
            b"complete" => self.is_complete = Some(tokens.boolean()?),
            b"errors" => {
                let codes = LazyCell::new(problem::codes);
                self.problems = list(tokens, usize::MAX, |tokens| read_problem(tokens, &codes))?;
            }
            b"time" => self.origin().time = tokens.signed()?,
            b"host" => self.origin().host = tokens.utf8()?.into(),
            b"roots" => self.origin().roots = list(tokens, usize::MAX, GivenRoot::read)?,
            b"details" => {
                self.origin().has_details = tokens.boolean()?;
                self.knows_details = true;
            }
            b"share" => self.origin().share = Some(Share::read(tokens)?),
            b"options" => {
                /// More than fit a command line of 6 MiB (execve(2)).
                const MOST: usize = 1 << 20;
                let read = |tokens: &mut Tokens<R>| Ok(tokens.utf8()?.into());
                self.origin().options = Some(list(tokens, MOST, read)?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn origin(&mut self) -> &mut Origin {
        self.origin.get_or_insert_default()
    }

    /// What sizes count, and where it comes from, if that much is known by now.
    pub(super) fn known(&self) -> Option<(Measure, &Origin)> {
        self.schema?;
        self.measure.zip(self.origin.as_ref().filter(|_| self.knows_details))
    }

    pub(super) fn loaded<R: Read, T>(
        self,
        tokens: &Tokens<R>,
        report: Option<T>,
    ) -> io::Result<Snapshot<T>> {
        let (Some(measure), Some(is_complete)) = (self.measure, self.is_complete) else {
            return Err(
                tokens.error("a snapshot that does not say what was measured, and whether all")
            );
        };
        let is_interrupted = !is_complete && !self.problems.iter().any(Problem::is_loss);
        let weighed = Weighed { report, problems: self.problems, is_interrupted };
        Ok(Snapshot { weighed, measure, origin: self.origin })
    }
}

/// Reads a list of `most` items or fewer.
fn list<R: Read, V>(
    tokens: &mut Tokens<R>,
    most: usize,
    read: impl Fn(&mut Tokens<R>) -> io::Result<V>,
) -> io::Result<Vec<V>> {
    let mut list = Vec::new();
    tokens.take(b'[')?;
    while tokens.item(list.is_empty())? {
        if list.len() == most {
            return Err(tokens.error(format_args!("a list of more than {most} items")));
        }
        list.push(read(tokens)?);
    }
    Ok(list)
}

/// Reads an error; `codes` are the numbers that this system knows by symbols.
fn read_problem<R: Read>(
    tokens: &mut Tokens<R>,
    codes: &HashMap<String, i32>,
) -> io::Result<Problem> {
    let (mut path, mut exact_path) = (Vec::new(), None);
    let (mut operation, mut code, mut message) = (None, None, String::new());
    tokens.object(|tokens| {
        match tokens.text() {
            b"path" => path = tokens.utf8()?.into(),
            b"path_bytes" => exact_path = Some(tokens.base64()?),
            b"operation" => operation = Operation::named(tokens.utf8()?),
            b"error" => code = codes.get(tokens.utf8()?).copied(),
            b"message" => message = tokens.utf8()?.to_owned(),
            _ => tokens.skip()?,
        }
        Ok(())
    })?;
    let operation = operation.ok_or_else(|| tokens.error("an error of no known operation"))?;
    // A directory that is its own ancestor is no error of the system's.
    let code = code.filter(|_| operation != Operation::Enter);
    Ok(Problem { path: exact_path.unwrap_or(path), operation, code, message })
}
