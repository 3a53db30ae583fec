//! Where a snapshot comes from.

use std::borrow::Cow;
use std::ffi::{CStr, CString, OsString};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::tokens::Tokens;
use crate::filter::Share;
use crate::path;
use crate::sys::{self, MountTable, Query, Source, Symlinks};

/// When and where a snapshot was made, and what counted in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// When, in seconds since the epoch.
    pub time: i64,
    /// On which machine, by its own name.
    pub host: Vec<u8>,
    /// What was to be weighed, in the order in which it was given.
    pub roots: Vec<GivenRoot>,
    /// The flags that had a say in what counts, if that is known.
    pub options: Option<Vec<String>>,
    /// Whether it has times and owners.
    pub has_details: bool,
    /// Which share of a tree it is, if it is not all of it.
    pub share: Option<Share>,
}

/// A root as it was given, and where that was. The walk may have left it out, as inside another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenRoot {
    /// Its absolute path.
    pub path: Vec<u8>,
    /// As it was given, and as the tree calls it; snapshots from before this was saved do not say.
    pub name: Option<Vec<u8>>,
    /// The file system that it lay on, if that is known.
    pub volume: Option<Volume>,
}

/// A file system, as it was then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// Its type, as mount(8) calls it; empty if it is not known.
    pub kind: Vec<u8>,
    /// What it had room for, in bytes.
    pub size: u64,
    /// What of that was not used, in bytes.
    pub free: u64,
}

impl Origin {
    /// Here and now, for a walk of `roots`, which `source` lists, with `options`, and with times and owners or
    /// without.
    pub fn here(
        roots: &[OsString],
        source: Source,
        options: Vec<String>,
        has_details: bool,
    ) -> Self {
        let mounts = MountTable::read();
        let given = |root: &OsString| {
            let name = root.as_encoded_bytes().to_vec();
            let at = CString::new(root.as_encoded_bytes()).unwrap_or_default();
            // A symlink to a directory means that, and any other itself.
            let stat = source.stat(&at, Symlinks::Follow, Query::default());
            let is_directory = stat.is_ok_and(|stat| stat.is_directory());
            let symlinks = if is_directory { Symlinks::Follow } else { Symlinks::Stay };
            let volume = is_directory.then(|| Volume::of(&at, source, &mounts).ok()).flatten();
            // What cannot be found will be among the problems.
            let path = sys::real_path(Path::new(root), symlinks);
            let path = path
                .map_or_else(|_| name.clone(), |path| path.into_os_string().into_encoded_bytes());
            GivenRoot { path, name: Some(name), volume }
        };
        let roots = roots.iter().map(given).collect();
        let options = Some(options);
        Self { time: sys::now(), host: sys::host(), roots, options, has_details, share: None }
    }

    /// Where the root was that is called `name`, in a snapshot whose roots have no names: it is the only one,
    /// or the first whose path ends in that.
    pub(super) fn likely_place(&self, name: &[u8]) -> PathBuf {
        let name = path::from_bytes(name);
        let mut places = self.roots.iter().map(GivenRoot::place);
        let only = self.roots.len() == 1;
        places.find(|place| only || place.ends_with(&name)).unwrap_or(name).into_owned()
    }

    /// Whether symlinks were followed: nobody knows how many of them lead to an inode.
    pub(super) fn follows(&self) -> bool {
        self.options.iter().flatten().any(|option| option == "--dereference-links")
    }
}

impl Volume {
    /// The one that the directory at `path` lies on.
    fn of(path: &CStr, source: Source, mounts: &MountTable) -> io::Result<Self> {
        let sys::Space { size, free, .. } = sys::space_around(path)?;
        let mount = source.mount_of(path, Symlinks::Follow)?.id;
        Ok(Self { kind: mounts.file_system_type(mount).unwrap_or_default().to_vec(), size, free })
    }

    fn read<R: Read>(tokens: &mut Tokens<R>) -> io::Result<Self> {
        let mut volume = Self::default();
        tokens.object(|tokens| {
            match tokens.text() {
                b"type" => volume.kind = tokens.utf8()?.into(),
                b"size" => volume.size = tokens.number()?,
                b"free" => volume.free = tokens.number()?,
                _ => tokens.skip()?,
            }
            Ok(())
        })?;
        Ok(volume)
    }
}

impl Share {
    pub(super) fn read<R: Read>(tokens: &mut Tokens<R>) -> io::Result<Self> {
        let mut share = Self { number: 0, of: 0, depth: 2 };
        tokens.object(|tokens| {
            match tokens.text() {
                b"number" => share.number = tokens.number()?,
                b"of" => share.of = tokens.number()?,
                b"depth" => share.depth = tokens.number()?,
                _ => tokens.skip()?,
            }
            Ok(())
        })?;
        let is_one = (1..=share.of).contains(&share.number);
        if is_one { Ok(share) } else { Err(tokens.error("a share that is none")) }
    }
}

impl GivenRoot {
    /// Where it was.
    pub(super) fn place(&self) -> Cow<'_, Path> {
        path::from_bytes(&self.path)
    }

    /// Reads one of the header's roots.
    pub(super) fn read<R: Read>(tokens: &mut Tokens<R>) -> io::Result<Self> {
        let mut root = Self::default();
        let (mut exact_path, mut exact_name) = (None, None);
        tokens.object(|tokens| {
            match tokens.text() {
                b"path" => root.path = tokens.utf8()?.into(),
                b"path_bytes" => exact_path = Some(tokens.base64()?),
                b"name" => root.name = Some(tokens.utf8()?.into()),
                b"name_bytes" => exact_name = Some(tokens.base64()?),
                b"file_system" => root.volume = Some(Volume::read(tokens)?),
                _ => tokens.skip()?,
            }
            Ok(())
        })?;
        root.path = exact_path.unwrap_or(root.path);
        root.name = exact_name.or(root.name);
        // An empty object takes 2 bytes in a file, and 48 in memory.
        if root.path.is_empty() { Err(tokens.error("a root without a path")) } else { Ok(root) }
    }
}
