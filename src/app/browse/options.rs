//! How to browse, and how that ended.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use super::keys::Bindings;
use super::listing::Sorting;
use crate::app::kept::KeptScans;
use weigh::internal::ask::Outcome;
use weigh::internal::ask::reclaimable::Search;
use weigh::internal::fs::git::Git;
use weigh::internal::remove::UserDirectories;
use weigh::internal::show::colors::Colors;
use weigh::internal::show::palette::Charset;
use weigh::internal::show::size::Format;
use weigh::internal::show::time::TimeFormat;
use weigh::internal::sys::problem::Problem;

/// How to find entries that can go. The rules are read when they are needed for the first time.
pub type LazySearch = Arc<LazyLock<Arc<Search>, Box<dyn FnOnce() -> Arc<Search> + Send>>>;

/// How to browse.
#[derive(Clone, Debug, Default)]
pub struct BrowseOptions {
    /// How bytes are written.
    pub format: Format,
    /// How times are written.
    pub times: Option<TimeFormat>,
    /// The initial order of entries.
    pub sorting: Sorting,
    /// Whether paths on standard output end in NUL instead of a newline.
    pub print0: bool,
    /// Whether the directory in which browsing ends is printed, and no other paths (`--cd`).
    pub prints_directory: bool,
    /// Whether those paths are written unchanged. On a terminal they are escaped.
    pub is_raw: bool,
    /// Whether nothing may be removed (`--read-only`).
    pub read_only: bool,
    /// Whether the process runs as root, so that nothing is opened in another program.
    pub is_root: bool,
    /// What each key does.
    pub keys: Bindings,
    /// Where the trash and the log are; if the log is at no known place, nothing is removed.
    pub directories: UserDirectories,
    /// The user's home directories, from the environment and the user database.
    pub homes: Vec<PathBuf>,
    /// How to read git's rules, for marking ignored files.
    pub ignored: Git,
    /// Colours, if any.
    pub colors: Option<Colors>,
    /// What can be drawn.
    pub charset: Charset,
    /// The columns and lines of the terminal, if it does not know them itself.
    pub size: (u16, u16),
    /// Whether to ask the terminal for its background, so that colours can be those for it.
    pub asks_background: bool,
    /// Whether the user has chosen how times are written. Otherwise the list has ages.
    pub has_time_style: bool,
    /// How to find entries that can go, if these can be shown.
    pub search: Option<LazySearch>,
    /// Whether these are shown first, when the scan is over (`--clean`).
    pub begins_with_clean: bool,
    /// The kept scans to compare with, if the tree is scanned here.
    pub kept: Option<KeptScans>,
    /// What its last line says at first.
    pub note: Option<String>,
}

/// How browsing ended.
#[derive(Debug, Default)]
pub struct Ended {
    /// The result, without its tree; none if the walk did not end in time.
    pub browsed: Option<Outcome>,
    /// What to print.
    pub printed: Option<Vec<u8>>,
    /// The number of the signal that ended it, if any. [`HANGUP`](crate::app::signals::HANGUP) if the terminal
    /// failed.
    pub signal: Option<u8>,
    /// Why the terminal failed, if it did.
    pub failure: Option<Problem>,
    /// What removals left behind under names that weigh made, and why one that ended after the screen kept entries.
    pub kept: Vec<Problem>,
    /// Whether a removal or an undo did not do everything.
    pub has_failed: bool,
    /// What this run has left in the trash: how many entries, and how much.
    pub in_trash: Option<(usize, String)>,
    /// Whether a removal did not finish in time.
    pub unfinished: bool,
}
