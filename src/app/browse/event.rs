//! What the state learns, and what it wants to be done.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::keys::Key;
use super::marks::Protected;
use super::review::RemovalProgress;
use crate::app::kept::KeptScans;
use weigh::internal::ask::reclaimable::{Findable, Reclaimable, Search};
use weigh::internal::ask::{Outcome, Request};
use weigh::internal::base::measure::View;
use weigh::internal::from::snapshot::{SavedListings, Snapshot};
use weigh::internal::remove::{Consent, Manner, Removed, Target, Trashed};
use weigh::internal::scan::walk::Progress;
use weigh::internal::show::palette::Theme;
use weigh::internal::sys::Space;
use weigh::internal::sys::problem::Problem;
use weigh::internal::tree::Report;
use weigh::internal::tree::tally::LiveDirectory;

/// Something has happened.
#[derive(Debug)]
pub enum Event {
    /// Browsing begins.
    Start,
    /// A key was pressed.
    Key(Key),
    /// This text was pasted.
    Pasted(String),
    /// Some time has passed, while work goes on in the background.
    Tick,
    /// There is time for the next slice of a query.
    Slice,
    /// The symlink at this path leads to this, if that could be read.
    LinkTarget(Vec<u8>, Option<Vec<u8>>),
    /// Another program has opened the file or directory, or not, for this reason.
    OpenedOutside(Option<String>),
    /// Nothing more can be done, for this reason.
    Failed(Problem),
    /// The system has been asked what must not be marked: this.
    Protected(Box<Protected>),
    /// How far the scan is, and how long it has taken.
    Progress(Progress, Duration),
    /// The terminal has said for what background colours are.
    Theme(Theme),
    /// Nothing has changed, but the screen must be drawn again.
    Redraw,
    /// The signal with this number ends the program.
    Signal(u8),
    /// How many inodes the scanned file systems have.
    UsedInodes(u64),
    /// A snapshot is open: its listings can be read, in this view. All of it comes later, unless it is large.
    Opened(Box<SavedListings>, View),
    /// How much is available on the file system of each root, by the root's name.
    Space(Vec<(Vec<u8>, Space)>),
    /// The kept scan to compare with is loaded, and this is to be said of it; or there is none, for this reason.
    LoadedKept(Result<(Box<Snapshot>, Option<String>), String>),
    /// A scan has ended.
    Scanned(Result<Box<Outcome>, Problem>),
    /// The entries that can go, from the look with this number; and the paths of those in a git repository.
    FoundUnused(u64, Box<Reclaimable>, BTreeSet<Vec<u8>>),
    /// The targets of the review with this number have been looked at: each by its number, or why it must not be
    /// removed.
    Looked(u64, Vec<(usize, Result<Target, String>)>),
    /// What a removal has done since the last report.
    Removing(RemovalProgress),
    /// A removal has ended.
    Removed(Box<Removed>),
    /// The moved entries have been looked at in the trash: each can be deleted, or not, for this reason.
    LookedInTrash(Vec<(Arc<Trashed>, Result<Target, String>)>),
    /// These were to be deleted from the trash. That has ended.
    Emptied(Vec<Arc<Trashed>>, Box<Removed>),
    /// An undo has ended: what came of each, and its path.
    Undone(Vec<(Arc<Trashed>, Removed, Vec<u8>)>),
}

/// What is to be done, besides the change of state. It has everything that is needed to do it.
#[derive(Debug)]
pub enum Command {
    /// Ask the system what must not be marked: these roots and homes, and mount points. Ask also how many inodes a scan
    /// of the roots will meet.
    Protect { roots: Vec<OsString>, homes: Vec<PathBuf>, one_file_system: bool },
    /// Scan this. Meanwhile it can be read from that directory on.
    Scan(Box<Request>, Arc<LiveDirectory>),
    /// Load the newest kept scan that a scan of the request's roots can be compared with. That one began at this time, in
    /// seconds since the epoch, and is seen in this view.
    LoadKept(Box<Request>, KeptScans, i64, View),
    /// Stop the scan.
    StopScan,
    /// Look at these targets, each with its number, for the review with that number. Those that rules have found must pass
    /// this check.
    Look(u64, Vec<(usize, Target)>, Option<Box<Recheck>>),
    /// Find the entries that can go by these rules, in the look with this number. The report has the problems of the scan.
    FindUnused(u64, Arc<Findable>, Arc<Search>, Box<Report>),
    /// Remove these.
    Remove(Manner, Consent, Vec<Target>),
    /// Stop the removal between two system calls, or the undo after its current entry.
    CancelRemoval,
    /// Put these back from the trash, the last first. If one cannot be, because another entry has its old name, the others
    /// still are.
    Undo(Vec<Arc<Trashed>>),
    /// Look at these in the trash, with everything in them. None of these homes goes.
    LookInTrash(Vec<Arc<Trashed>>, Vec<PathBuf>),
    /// Delete these from the trash.
    Empty(Consent, Vec<(Arc<Trashed>, Target)>),
    /// Read the target of the symlink at this path.
    ReadLink(Vec<u8>),
    /// Give this to the terminal for the clipboard. It has no control characters.
    Copy(String),
    /// Open the file or directory at this path in another program, if it still has this fingerprint.
    Open(PathBuf, u32),
    /// End.
    End(Ending),
}

/// A check of marks that were set because rules find the entries.
#[derive(Debug)]
pub struct Recheck {
    /// The entries that the rules may find.
    pub findable: Arc<Findable>,
    /// The rules.
    pub search: Arc<Search>,
    /// The problems of the scan.
    pub report: Box<Report>,
    /// How to scan one of the entries.
    pub request: Request,
    /// The marks: the number of each in the review, and its path.
    pub marks: Vec<(usize, Vec<u8>)>,
}

/// How browsing ends.
#[derive(Clone, Debug)]
pub enum Ending {
    /// The user has ended it.
    Quit,
    /// The same, with the marked paths on standard output.
    Print,
    /// There is nothing to browse.
    Fail(Problem),
    /// The signal with this number has ended it.
    Signal(u8),
}
