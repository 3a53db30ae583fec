//! The paths to weigh, here and on other machines.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read};
use std::mem;
use std::path::{Path, PathBuf};

use clap::{Arg, Args, Command, ValueHint};

use super::flags::Flags;
use super::parse::Given;
use super::snapshots::{has_say, typed};
use weigh::internal::ask::Keep;
use weigh::internal::base::escape::harmless;
use weigh::internal::from::remote::{Host, Remote};
use weigh::internal::scan::filter::Filter;
use weigh::internal::sys;
use weigh::internal::sys::problem::reason;
use weigh::internal::tree::tally::By;

#[derive(Debug, Default, Args)]
pub(super) struct RootFlags {
    /// Directories and files to weigh, also HOST:PATH on another machine [default: .]
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(super) paths: Vec<OsString>,

    /// Reach other machines with COMMAND instead of ssh
    ///
    /// It gets -T, -p and a port if there is one, --, the host as in HOST:PATH, and a command for the shell there. Its
    /// words are separated by spaces, as in --rsh 'ssh -J gate'.
    #[arg(long, value_name = "COMMAND", help_heading = "What to weigh")]
    pub(super) rsh: Option<String>,

    /// Also weigh the PATHs in FILE, each ended by a NUL; - is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(help_heading = "What to weigh")]
    files0_from: Vec<PathBuf>,

    /// Also weigh the PATHs in FILE, one per line; - is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(help_heading = "What to weigh")]
    files_from: Vec<PathBuf>,
}

impl RootFlags {
    /// Whether there are paths.
    pub(super) fn are_named(&self) -> bool {
        !self.paths.is_empty() || self.are_listed()
    }

    /// Whether a file names paths; it may be long.
    pub(super) fn are_listed(&self) -> bool {
        !self.files0_from.is_empty() || !self.files_from.is_empty()
    }

    /// Takes the paths that name other machines; an entry of that name here wins. Or says in one line why one of them
    /// cannot.
    pub(super) fn hosts(&mut self) -> Result<Vec<Host>, String> {
        let mut hosts = Vec::new();
        let mut paths = Vec::new();
        for path in mem::take(&mut self.paths) {
            match Host::named(path.as_encoded_bytes()).filter(|_| !sys::exists(path.as_ref())) {
                None => paths.push(path),
                Some(Ok(host)) => hosts.push(host),
                Some(Err(why)) => {
                    let path = harmless(path.as_encoded_bytes());
                    return Err(format!(
                        "invalid value '{path}' for '[PATH]...': {why}\nput ./ before a \
                         name with a colon that is here"
                    ));
                }
            }
        }
        self.paths = paths;
        Ok(hosts)
    }

    /// The roots: those on the command line and those in files, or if there are neither and some `are_needed`, the
    /// current directory. The error is one line that says why the file cannot be read, or that a path is empty.
    pub(super) fn roots(mut self, are_needed: bool) -> Result<Vec<OsString>, String> {
        let mut roots = mem::take(&mut self.paths);
        if roots.iter().any(|root| root.is_empty()) {
            return Err(
                "invalid value '' for '[PATH]...': it is empty\nwithout a PATH, weigh shows the current directory"
                    .into(),
            );
        }
        if roots.is_empty() && are_needed && !self.are_listed() {
            roots.push(".".into());
        }
        for (files, end, flag) in [
            (&self.files0_from, 0, "--files0-from <FILE>"),
            (&self.files_from, b'\n', "--files-from <FILE>"),
        ] {
            for file in files {
                read(file, end, &mut roots).map_err(|error| unreadable(file, flag, &error))?;
            }
        }
        Ok(roots)
    }
}

/// One line that says why the `file` of a flag cannot be read.
pub(super) fn unreadable(file: &Path, flag: &str, error: &io::Error) -> String {
    let name = harmless(file.as_os_str().as_encoded_bytes());
    format!("cannot read '{name}' for '{flag}': {}", reason(error))
}

/// Adds the paths in `file`, each of which ends with `end`, in their order.
fn read(file: &Path, end: u8, roots: &mut Vec<OsString>) -> io::Result<()> {
    /// Far more than any path has, and little if there is no end, as in /dev/zero.
    const LONGEST: u64 = 16 << 20;
    /// What all paths may take, each at least the memory that keeps it.
    const MOST: u64 = 1 << 30;
    const LEAST: u64 = 64;
    let mut list: Box<dyn BufRead> = match file == Path::new("-") {
        true => Box::new(io::stdin().lock()),
        false => Box::new(BufReader::new(sys::open_file(file)?)),
    };
    let (mut total, mut has_empty) = (0, false);
    loop {
        let mut path = Vec::new();
        let length = list.by_ref().take(LONGEST).read_until(end, &mut path)? as u64;
        if length == 0 {
            return Ok(());
        }
        if length == LONGEST {
            return Err(io::Error::other("a path of more than 16 MiB"));
        }
        total += length.max(LEAST);
        if total > MOST {
            return Err(io::Error::other("more than 1 GiB of paths, or more than 16 million"));
        }
        path.pop_if(|last| *last == end);
        // No file has an empty name. Between NULs, one is a mistake, which is named, as by du, but once; an empty line is
        // none.
        let is_mistake = path.is_empty() && end == 0 && !mem::replace(&mut has_empty, true);
        if !path.is_empty() || is_mistake {
            roots.push(sys::into_path(path).into());
        }
    }
}

// What is weighed on other machines, and which flags weigh gets there.

/// The flags in `given`, arguments of `command`, that weigh gets on another machine.
pub(super) fn passed(command: &Command, given: &Given) -> Vec<OsString> {
    /// Those that change how weigh works there, and not what counts.
    const ALSO: [&str; 4] = ["details", "rate", "read", "threads"];
    /// Those that are done here: views, files that are here, and the way there.
    const NOT: [&str; 9] = [
        "apparent_size",
        "filecount",
        "filetime",
        "files0_from",
        "files_from",
        "ignore_all_in_file",
        "exclude_from",
        "inodes",
        "rsh",
    ];
    typed(command, given, |flag: &Arg| {
        let name = flag.get_id().as_str();
        !NOT.contains(&name) && (has_say(flag) || ALSO.contains(&name))
    })
}

impl Flags {
    /// What is weighed on other machines, if a path names one; or why that cannot be done.
    pub(super) fn remote(
        &mut self,
        keep: &Keep,
        filter: &Filter,
    ) -> Result<Option<Remote>, String> {
        if self.hosts.is_empty() {
            return Ok(None);
        }
        let refused = [
            (self.show.frees, "--frees"),
            (self.show.df && self.screen.ui, "--df"),
            (self.show.reclaimable, "clean"),
            (self.snapshots.shard.is_some(), "--shard"),
            (self.show.by.as_deref() == Some("image"), "--by image"),
        ];
        if let Some((_, flag)) = refused.into_iter().find(|(is_given, _)| *is_given) {
            return Err(format!(
                "{flag} looks at file systems here\nrun weigh on the other machine"
            ));
        }
        let mut flags = self.filters.lines_of_files()?;
        flags.append(&mut self.passed);
        flags.extend(self.show.df.then(|| "-x".into()));
        let needs_owners =
            filter.query().owner || matches!(keep, Keep::Groups(By::Owner { .. }, _));
        if needs_owners && !self.snapshots.details {
            flags.push("--details".into());
        }
        let rsh = self.roots.rsh.as_deref().unwrap_or("ssh");
        if rsh.trim().is_empty() {
            return Err("invalid value '' for '--rsh <COMMAND>': it names no program".to_owned());
        }
        let flags_of_weigh = [
            (self.count.count_links, "--count-links"),
            (self.count.dereference_links, "--dereference-links"),
            (self.print.rate.is_some(), "--rate"),
        ];
        let flag = flags_of_weigh.into_iter().find_map(|(is_given, flag)| is_given.then_some(flag));
        let mut remote = Remote::new(self.hosts.clone(), rsh, flags);
        remote.needs_weigh = self.filters.needs_weigh().or(flag);
        remote.one_file_system = self.filters.limit_filesystem || self.show.df;
        remote.tells_space = self.show.df;
        Ok(Some(remote))
    }
}
