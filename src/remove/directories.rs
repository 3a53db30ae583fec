//! The directories of the user, by the XDG base directory specification.

use std::path::PathBuf;

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
        let absolute = |name| variable(name).filter(|path| path.is_absolute());
        let home = absolute("HOME");
        let in_home = |path| Some(home.as_ref()?.join(path));
        Self {
            data: absolute("XDG_DATA_HOME").or_else(|| in_home(".local/share")),
            state: absolute("XDG_STATE_HOME").or_else(|| in_home(".local/state")),
        }
    }

    /// The path of the log.
    pub fn log(&self) -> Option<PathBuf> {
        Some(self.state.as_ref()?.join("weigh/deleted.ndjson"))
    }
}
