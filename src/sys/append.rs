//! A file to which lines are appended.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use super::platform::open_to_append;

/// A log. Several processes may write to it at once: each line is one write.
#[derive(Debug)]
pub struct AppendedFile {
    file: File,
}

impl AppendedFile {
    /// Opens the file at `path`, which is absolute. If it does not exist, makes it and its parent directories, for its
    /// owner alone. Nobody but the user and root can make it another file.
    ///
    /// # Errors
    /// The system's, and the reason why the file is not used.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { file: open_to_append(path)? })
    }

    /// Appends `line`, which ends in a newline. Once this returns, it is written even if the process is killed.
    ///
    /// # Errors
    /// The system's.
    pub fn append(&mut self, line: &[u8]) -> io::Result<()> {
        self.file.write_all(line)
    }
}

/// Makes the directory at `path` and its parents, for its owner alone.
///
/// # Errors
/// The system's. That they exist is no error.
#[cfg(unix)]
pub fn make_directories(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Makes the directory at `path` and its parents.
///
/// # Errors
/// The system's. That they exist is no error.
#[cfg(windows)]
pub fn make_directories(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}
