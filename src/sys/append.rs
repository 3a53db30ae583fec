//! A file to which lines are appended.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use super::system::open_to_append;

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
