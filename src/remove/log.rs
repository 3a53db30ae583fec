//! The log of deletes: one line of JSON before each target is touched, and one after. The first line says where the
//! target is moved to, so that a line names everything that a crash leaves behind.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::path::PathBuf;

use super::outcome::{Fate, TargetOutcome};
use super::target::Target;
use crate::problem::{Operation, Problem};
use crate::render::json;
use crate::sys::{self, AppendedFile};

/// The name of the log.
const NAME: &str = "deleted.ndjson";

/// The directories of the user, by the XDG base directory specification.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The directory for data of programs, with the trash.
    pub data: Option<PathBuf>,
    /// The directory for the state of programs, with the log.
    pub state: Option<PathBuf>,
}

impl Places {
    /// From the environment: `variable` returns a variable's value.
    pub fn of(variable: impl Fn(&str) -> Option<PathBuf>) -> Self {
        // The specification says to ignore relative paths.
        let absolute = |name| variable(name).filter(|path| path.is_absolute());
        let home = absolute("HOME");
        let below = |path| home.as_ref().map(|home| home.join(path));
        let data = absolute("XDG_DATA_HOME").or_else(|| below(".local/share"));
        let state = absolute("XDG_STATE_HOME").or_else(|| below(".local/state"));
        Self { data, state }
    }

    /// Opens the log, as a removal does.
    ///
    /// # Errors
    /// Why it cannot be opened. Then nothing can be removed.
    pub fn check_log(&self) -> io::Result<()> {
        match Log::open(self).trouble {
            Some(trouble) => Err(io::Error::other(format!("no log: {}", trouble.message))),
            None => Ok(()),
        }
    }

    /// The path of the log.
    pub fn log(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|state| state.join("weigh").join(NAME))
    }
}

/// The log, or the reason why there is none.
pub(super) struct Log {
    file: Option<AppendedFile>,
    path: PathBuf,
    pub(super) trouble: Option<Problem>,
    /// A random number for the lines of this run.
    run: u64,
    /// Whether the last line may be incomplete.
    is_torn: bool,
}

impl Log {
    pub(super) fn open(places: &Places) -> Self {
        let path = places.log();
        let run = RandomState::new().build_hasher().finish();
        let opened = match &path {
            None => Err(io::Error::other("neither XDG_STATE_HOME nor HOME is set")),
            Some(path) => AppendedFile::open(path),
        };
        let path = path.unwrap_or_else(|| NAME.into());
        let mut log = Self { file: None, path, trouble: None, run, is_torn: false };
        match opened {
            Ok(file) => log.file = Some(file),
            Err(error) => log.fail(&error),
        }
        log
    }

    /// Logs that `target` is about to be moved into the directory `into`, as `name`, for this `action`.
    ///
    /// # Errors
    /// If it cannot be logged. Then it must not be removed.
    pub(super) fn begin(
        &mut self,
        action: &str,
        target: &Target,
        into: &[u8],
        name: &[u8],
    ) -> io::Result<()> {
        let (entries, size) = target.totals;
        self.line(|out, run| {
            write!(out, r#"{{"time":{},"run":"{run:016x}","event":"begin""#, sys::now())?;
            write!(out, r#","action":"{action}","#)?;
            json::bytes(out, "path", &target.path())?;
            write!(out, r#","entries":{entries},"bytes":{size},"#)?;
            json::bytes(out, "at", &crate::path::join_all([into, name]))
        })
    }

    /// Logs the outcome.
    pub(super) fn end(&mut self, action: &str, target: &Target, outcome: &TargetOutcome) {
        // That it cannot be logged is in `trouble`.
        let _ = self.line(|out, run| {
            write!(out, r#"{{"time":{},"run":"{run:016x}","event":"end""#, sys::now())?;
            write!(out, r#","action":"{action}","#)?;
            json::bytes(out, "path", &target.path())?;
            write!(out, r#","result":"{}","removed":{}"#, outcome.fate.name(), outcome.removed)?;
            if let Fate::Left(at) = &outcome.fate {
                out.write_all(b",")?;
                json::bytes(out, "at", at)?;
            }
            if let Some(problem) = outcome.problems.first() {
                out.write_all(b",")?;
                json::bytes(out, "why", problem.message.as_bytes())?;
            }
            Ok(())
        });
    }

    fn line(&mut self, write: impl FnOnce(&mut Vec<u8>, u64) -> io::Result<()>) -> io::Result<()> {
        let unlogged =
            || io::Error::other("it cannot be logged, and nothing is removed without the log");
        let Some(file) = &mut self.file else { return Err(unlogged()) };
        let mut line = if self.is_torn { vec![b'\n'] } else { Vec::new() };
        let written = write(&mut line, self.run).and_then(|()| {
            line.extend_from_slice(b"}\n");
            file.append(&line)
        });
        self.is_torn = written.is_err();
        written.map_err(|error| {
            self.fail(&error);
            unlogged()
        })
    }

    fn fail(&mut self, error: &io::Error) {
        if self.trouble.is_none() {
            let path = self.path.clone().into_os_string().into_encoded_bytes();
            self.trouble = Some(Problem::new(path, Operation::Save, error));
        }
    }
}
