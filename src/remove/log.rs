//! The log of deletes: one line of JSON before each target is touched, and one after. The first line says where the
//! target is moved to, so that a line names everything that a crash leaves behind.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::aside::random_number;
use super::held::{ancestors, c_string};
use super::outcome::{Fate, TargetOutcome};
use super::target::Target;
use crate::base::escape::json_bytes;
use crate::base::inode::Identity;
use crate::base::path;
use crate::sys::problem::{Operation, Problem};
use crate::sys::{self, ExactStat, File, HeldDirectory, Symlinks};

/// The log, or the reason why there is none. Several processes may write to it at once: each line is one write.
pub(super) struct Log {
    file: Option<File>,
    pub(super) path: PathBuf,
    /// The identities of its file and of all directories above it.
    around: Vec<Identity>,
    pub(super) trouble: Option<Problem>,
    /// A random number for the lines of this run.
    run: u64,
    /// What happens to the current target, if a line says so.
    begun: Option<&'static str>,
}

impl UserDirectories {
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
}

impl Log {
    pub(super) fn open(directories: &UserDirectories) -> Self {
        let path = directories.log();
        let opened = match &path {
            None => Err(io::Error::other("neither XDG_STATE_HOME nor HOME is set")),
            Some(path) => sys::open_to_append(path).and_then(|file| Ok((file, around(path)?))),
        };
        let path = path.unwrap_or_else(|| "deleted.ndjson".into());
        let run = random_number();
        let (around, begun) = (Vec::new(), None);
        let mut log = Self { file: None, path, around, trouble: None, run, begun };
        match opened {
            Ok((file, around)) => {
                // There may be a symlink on the way.
                log.path = sys::real_path(&log.path, Symlinks::Stay).unwrap_or(log.path);
                log.file = Some(file);
                log.around = around;
            }
            Err(error) => log.fail(&error),
        }
        log
    }

    /// Whether the entry `it` is the log or contains it.
    pub(super) fn is_in(&self, it: &ExactStat) -> bool {
        self.around.contains(&it.stat.identity())
    }

    /// Logs that `target` is about to be moved into the directory `into`, as `name`, for this `action`.
    ///
    /// # Errors
    /// If it cannot be logged. Then it must not be removed.
    pub(super) fn begin(
        &mut self,
        action: &'static str,
        target: &Target,
        into: &[u8],
        name: &[u8],
    ) -> io::Result<()> {
        let (entries, size) = target.totals;
        self.line("begin", action, target, |out| {
            write!(out, r#","entries":{entries},"bytes":{size}"#)?;
            json_bytes(out, r#","at":"#, &path::join_all([into, name]))
        })?;
        self.begun = Some(action);
        Ok(())
    }

    /// Logs the outcome, if the beginning has been logged.
    pub(super) fn end(&mut self, target: &Target, outcome: &TargetOutcome) {
        let Some(action) = self.begun.take() else { return };
        // That it cannot be logged is in `trouble`.
        let _ = self.line("end", action, target, |out| {
            write!(out, r#","result":"{}","removed":{}"#, outcome.fate.name(), outcome.removed)?;
            if let Fate::Left(at) = &outcome.fate {
                json_bytes(out, r#","at":"#, at)?;
            }
            if let Some(problem) = outcome.left.first().or(outcome.problems.first()) {
                json_bytes(out, r#","why":"#, problem.message.as_bytes())?;
            }
            Ok(())
        });
    }

    /// Appends a line with what all lines have, and what `rest` writes.
    fn line(
        &mut self,
        event: &str,
        action: &str,
        target: &Target,
        rest: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> io::Result<()> {
        const UNLOGGED: &str = "it cannot be logged, and nothing is removed without the log";
        let Some(file) = &mut self.file else { return Err(io::Error::other(UNLOGGED)) };
        let mut line = if is_torn(file) { vec![b'\n'] } else { Vec::new() };
        let (time, run) = (sys::now(), self.run);
        let written = write!(line, r#"{{"time":{time},"run":"{run:016x}","event":"{event}""#)
            .and_then(|()| write!(line, r#","action":"{action}""#))
            .and_then(|()| json_bytes(&mut line, r#","path":"#, &target.path()))
            .and_then(|()| rest(&mut line))
            .and_then(|()| line.write_all(b"}\n"))
            .and_then(|()| file.write_all(&line));
        written.map_err(|error| {
            self.fail(&error);
            io::Error::other(UNLOGGED)
        })
    }

    fn fail(&mut self, error: &io::Error) {
        if self.trouble.is_none() {
            let path = self.path.clone().into_os_string().into_encoded_bytes();
            self.trouble = Some(Problem::new(path, Operation::Save, error));
        }
    }
}

/// Whether the last line of `log` is incomplete: after a crash, or where its disk was full.
fn is_torn(log: &mut File) -> bool {
    let mut last = *b"\n";
    // An empty one has no last byte.
    let _ = log.seek(SeekFrom::End(-1)).and_then(|_| log.read(&mut last));
    last != *b"\n"
}

/// The identities of the file at `path` and of all directories above it.
fn around(path: &Path) -> io::Result<Vec<Identity>> {
    let [above, name] = [path.parent(), path.file_name().map(Path::new)];
    let above = HeldDirectory::open(&c_string(above.unwrap_or(path).as_os_str())?)?;
    let mut around = ancestors(&above)?;
    around.push(above.stat_of(&c_string(name.unwrap_or(path).as_os_str())?)?.stat.identity());
    Ok(around)
}

// The directories of the user, by the XDG base directory specification.

/// Where a removal finds the trash and the log.
#[derive(Clone, Debug, Default)]
pub struct UserDirectories {
    /// The directory for data of programs, with the trash.
    pub data: Option<PathBuf>,
    /// The directory for the state of programs, with the log.
    pub state: Option<PathBuf>,
}

impl UserDirectories {
    /// From the environment: `variable` returns a variable's value.
    pub fn of(variable: impl Fn(&str) -> Option<PathBuf>) -> Self {
        // The specification says to ignore relative paths.
        let [data, state, home] = ["XDG_DATA_HOME", "XDG_STATE_HOME", "HOME"]
            .map(|name| variable(name).filter(|path| path.is_absolute()));
        Self {
            data: data.or_else(|| Some(home.as_ref()?.join(".local/share"))),
            state: state.or_else(|| Some(home.as_ref()?.join(".local/state"))),
        }
    }

    /// The directory of the scans that weigh remembers.
    pub fn remembered(&self) -> Option<PathBuf> {
        Some(self.state.as_ref()?.join("weigh/snapshots"))
    }

    /// The path of the log.
    pub fn log(&self) -> Option<PathBuf> {
        Some(self.state.as_ref()?.join("weigh/deleted.ndjson"))
    }
}
