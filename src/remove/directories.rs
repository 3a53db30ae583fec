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
