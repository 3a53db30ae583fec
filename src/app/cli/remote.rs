//! What is weighed on other machines, and which flags weigh gets there.

use std::ffi::OsString;

use clap::{Arg, Command};

use super::flags::Flags;
use super::parse::Given;
use super::snapshots::{has_say, typed};
use weigh::internal::ask::Keep;
use weigh::internal::from::remote::Remote;
use weigh::internal::scan::filter::Filter;
use weigh::internal::tree::tally::By;

/// The flags in `given`, arguments of `command`, that weigh gets on another machine.
pub(super) fn passed(command: &Command, given: &Given) -> Vec<OsString> {
    /// Those that change how weigh works there, and not what counts.
    const ALSO: [&str; 3] = ["details", "read", "threads"];
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
            (self.show.df, "df"),
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
        let needs_owners =
            filter.query().owner || matches!(keep, Keep::Groups(By::Owner { .. }, _));
        if needs_owners && !self.snapshots.details {
            flags.push("--details".into());
        }
        let rsh = self.roots.rsh.as_deref().unwrap_or("ssh");
        if rsh.trim().is_empty() {
            return Err("invalid value '' for '--rsh <COMMAND>': it names no program".to_owned());
        }
        let links = [
            (self.count.count_links, "--count-links"),
            (self.count.dereference_links, "--dereference-links"),
        ];
        let links = links.into_iter().find_map(|(is_given, flag)| is_given.then_some(flag));
        let mut remote = Remote::new(self.hosts.clone(), rsh, flags);
        remote.needs_weigh = self.filters.needs_weigh().or(links);
        remote.one_file_system = self.filters.limit_filesystem;
        Ok(Some(remote))
    }
}
