//! How git's rules, configuration and index are reached: through the directories that the walk has open.

use std::ffi::CStr;
use std::io::{self, Read, Seek};

use crate::base::measure::Kind;
use crate::fs::git::{EntryKind, WorkTreeDirectory};
use crate::sys::{Handle, Listing, Query, Source, Symlinks, is_vanished};

impl WorkTreeDirectory for Handle {
    fn open(path: &CStr) -> io::Result<Self> {
        // It need not be readable for what is in it to be reached.
        Source::default().look(path)
    }

    fn kind_at(&self, path: &CStr, follows: bool) -> Option<EntryKind> {
        let kind = match self.stat_at(path, symlinks(follows), Query::default()) {
            Err(error) if is_vanished(&error) => return None,
            stat => stat.map_or(Kind::Other, |stat| stat.mode.kind()),
        };
        Some(match kind {
            Kind::Directory => EntryKind::Directory,
            Kind::File => EntryKind::File,
            Kind::Symlink => EntryKind::Symlink,
            Kind::Other => EntryKind::Other,
        })
    }

    fn is_at(&self, path: &CStr) -> bool {
        let there = self.stat_at(path, Symlinks::Follow, Query::default());
        there.ok().zip(self.identity().ok()).is_some_and(|(there, here)| there.identity() == here)
    }

    fn file_at(
        &self,
        path: &CStr,
        follows: bool,
        most: u64,
    ) -> io::Result<Option<impl Read + Seek>> {
        self.open_file_at(path, symlinks(follows), most)
    }

    fn names_at(&self, path: &CStr) -> io::Result<Vec<String>> {
        let directory = match self.open_at(path, Symlinks::Follow) {
            Err(error) if is_vanished(&error) => return Ok(Vec::new()),
            opened => opened?,
        };
        let (mut buffer, mut listing) = (Vec::new(), Listing::default());
        while directory.read(&mut buffer, &mut listing, None)? {}
        let names = listing.iter().filter_map(|listed| listed.name.to_str().ok());
        Ok(names.map(str::to_owned).collect())
    }
}

fn symlinks(follows: bool) -> Symlinks {
    if follows { Symlinks::Follow } else { Symlinks::Stay }
}
