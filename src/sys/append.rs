//! A file to which lines are appended.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// A log. Several processes may write to it at once: each line is one write.
#[derive(Debug)]
pub struct AppendedFile {
    file: File,
}

impl AppendedFile {
    /// Opens the file at `path`. If it does not exist, makes it and its parent directories, for its owner alone.
    ///
    /// # Errors
    /// The system's.
    pub fn open(path: &Path) -> io::Result<Self> {
        if let Some(parent) = path.parent() {
            make_directories(parent)?;
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        only_owner(&mut options);
        Ok(Self { file: options.open(path)? })
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

#[cfg(unix)]
fn only_owner(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    // Does not wait for the reader of a pipe.
    options.mode(0o600).custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
}

#[cfg(windows)]
fn only_owner(_: &mut OpenOptions) {}
