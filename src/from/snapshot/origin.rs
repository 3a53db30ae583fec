//! Where a snapshot comes from.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::{CStr, CString, OsString};
use std::io;
use std::path::{Path, PathBuf};

use super::tokens::Tokens;
use crate::base::path;
use crate::scan::filter::Share;
use crate::sys::{self, MountTable, Query, Source, Symlinks};

/// When and where a snapshot was made, and what counts in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The time, in seconds since the epoch.
    pub time: i64,
    /// The machine's host name.
    pub host: Vec<u8>,
    /// The roots, in the order in which they were given.
    pub roots: Vec<GivenRoot>,
    /// The flags that change what counts, if they are known.
    pub options: Option<Vec<String>>,
    /// Whether it has all times and the owner of each entry.
    pub has_details: bool,
    /// Whether it has the time when each entry was last modified.
    pub has_times: bool,
    /// Whether nothing is known of the permissions of entries. Then they have the usual ones.
    pub lacks_modes: bool,
    /// Which share of a tree it is; none if it is all of it.
    pub share: Option<Share>,
}

/// A root as it was given, and its place. The walk may have left it out because it is inside another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenRoot {
    /// Its absolute path.
    pub path: Vec<u8>,
    /// Its name as given, which is also its name in the tree. Old snapshots do not contain it.
    pub name: Option<Vec<u8>>,
    /// The file system that it was on, if that is known.
    pub volume: Option<Volume>,
}

/// A file system at the time of the snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// Its type, with the name that mount(8) uses; empty if it is unknown.
    pub kind: Vec<u8>,
    /// Its size, in bytes.
    pub size: u64,
    /// How much of it was free, in bytes.
    pub free: u64,
    /// How much of that was available to every user. Old snapshots do not contain it.
    pub available: Option<u64>,
}

impl Origin {
    /// The attributes that it has of each entry, beyond those that every snapshot has.
    pub fn attributes(&self) -> Query {
        Query { times: self.has_times, owner: self.has_details, ..Query::default() }
    }

    /// The absolute paths of the roots, in their order.
    pub fn paths(&self) -> Vec<&[u8]> {
        self.roots.iter().map(|root| &*root.path).collect()
    }

    /// Whether `other` is of the same roots, in any order.
    pub fn has_paths_of(&self, other: &Self) -> bool {
        let [mut paths, mut others] = [self, other].map(Self::paths);
        paths.sort_unstable();
        others.sort_unstable();
        paths == others
    }

    /// What roots are called in `now`, by their names here, where these differ: another directory spells the same
    /// paths in another way. Empty if it is of other roots.
    pub fn new_names<'n>(&self, now: &'n Self) -> HashMap<&[u8], &'n [u8]> {
        if !self.has_paths_of(now) {
            return HashMap::new();
        }
        let mut names = HashMap::new();
        for root in &now.roots {
            if let Some(name) = &root.name {
                // The walk takes the first of several for one path.
                names.entry(&*root.path).or_insert(&**name);
            }
        }
        let roots = self.roots.iter();
        let both = roots.filter_map(|root| Some((root.name.as_deref()?, *names.get(&*root.path)?)));
        both.filter(|(was, is)| was != is).collect()
    }

    /// The origin of a walk that starts now: of `roots`, listed by `source`, with these `options`.
    pub fn here(roots: &[OsString], source: Source, options: Vec<String>) -> Self {
        let mounts = MountTable::read();
        // An empty name is nowhere.
        let roots = roots.iter().filter(|root| !root.is_empty());
        let roots = roots.map(|root| GivenRoot::of(root, source, &mounts)).collect();
        let options = Some(options);
        let lacks_modes = cfg!(windows);
        Self { time: sys::now(), host: sys::host(), roots, options, lacks_modes, ..Self::default() }
    }

    /// When and where a walk of `roots` starts now, without a look at them: what cannot be examined, the walk reports.
    pub fn named(roots: &[OsString]) -> Self {
        let root = |root: &OsString| {
            let path = sys::real_path(Path::new(root), Symlinks::Follow);
            let path = path.unwrap_or_else(|_| root.into()).into_os_string().into_encoded_bytes();
            GivenRoot { path, name: Some(root.as_encoded_bytes().to_vec()), volume: None }
        };
        let roots = roots.iter().filter(|root| !root.is_empty()).map(root).collect();
        Self { time: sys::now(), host: sys::host(), roots, ..Self::default() }
    }

    /// The same of the series with this name, if there is one. It takes the place of the host's.
    #[must_use]
    pub fn in_series(self, name: Option<&[u8]>) -> Self {
        let host = name.map_or_else(|| self.host.clone(), <[u8]>::to_vec);
        Self { host, ..self }
    }

    /// The origin of what is listed now below these `roots`, on no host that is known. What is known of entries, it
    /// says already.
    #[must_use]
    pub fn listed<'r>(self, roots: impl IntoIterator<Item = &'r Vec<u8>>) -> Self {
        let root = |path: Vec<u8>| GivenRoot { name: Some(path.clone()), path, volume: None };
        let roots = roots.into_iter().cloned().map(root).collect();
        Self { time: sys::now(), roots, options: Some(Vec::new()), ..self }
    }

    /// The place of the root called `name`, in a snapshot that has no names of roots: that of the only root; of
    /// several, the name itself.
    pub(super) fn likely_place(&self, name: &[u8]) -> PathBuf {
        match &self.roots[..] {
            [only] => only.place().into_owned(),
            _ => sys::to_path(name).into_owned(),
        }
    }

    /// Whether it was made with the flag called `name`, as far as its flags are known.
    pub(super) fn has_flag(&self, name: &str) -> bool {
        let flags = self.options.iter().flatten();
        flags.map(|flag| flag.split('=').next()).any(|it| it == Some(name))
    }

    /// Whether symlinks were followed. Then it is unknown how many of them lead to an inode.
    pub(super) fn follows(&self) -> bool {
        self.has_flag("--dereference-links")
    }
}

impl Volume {
    /// The file system of the directory at `path`.
    fn of(path: &CStr, source: Source, mounts: &MountTable) -> io::Result<Self> {
        let sys::Space { size, free, available, .. } = sys::space_around(path)?;
        let mount = source.mount_of(path, Symlinks::Follow)?.id;
        let kind = mounts.file_system_type(mount).unwrap_or_default().to_vec();
        Ok(Self { kind, size, free, available: Some(available) })
    }

    fn read(tokens: &mut Tokens) -> io::Result<Self> {
        let mut volume = Self::default();
        tokens.object(|tokens| {
            match tokens.text() {
                b"type" => volume.kind = tokens.utf8()?.into(),
                b"size" => volume.size = tokens.number()?,
                b"free" => volume.free = tokens.number()?,
                b"available" => volume.available = Some(tokens.number()?),
                _ => tokens.skip()?,
            }
            Ok(())
        })?;
        Ok(volume)
    }
}

impl Share {
    pub(super) fn read(tokens: &mut Tokens) -> io::Result<Self> {
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
    /// The root that was given as `root`.
    fn of(root: &OsString, source: Source, mounts: &MountTable) -> Self {
        let name = root.as_encoded_bytes().to_vec();
        let at = CString::new(&*name).unwrap_or_default();
        // A symlink to a directory stands for the directory, and any other symlink for itself.
        let stat = source.stat(&at, Symlinks::Follow, Query::default());
        let is_directory = stat.is_ok_and(|stat| stat.is_directory());
        let symlinks = if is_directory { Symlinks::Follow } else { Symlinks::Stay };
        let volume = is_directory.then(|| Volume::of(&at, source, mounts).ok()).flatten();
        // The walk reports a root that cannot be found.
        let path = sys::real_path(Path::new(root), symlinks);
        let path = path.map(|path| path.into_os_string().into_encoded_bytes());
        Self { path: path.unwrap_or_else(|_| name.clone()), name: Some(name), volume }
    }

    /// Its absolute path.
    pub(super) fn place(&self) -> Cow<'_, Path> {
        sys::to_path(&self.path)
    }

    /// Reads one of the header's roots.
    pub(super) fn read(tokens: &mut Tokens) -> io::Result<Self> {
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
        // An empty object would take 2 bytes in a file and 48 in memory.
        if root.path.is_empty() {
            return Err(tokens.error("a root without a path"));
        }
        for path in [&root.path].into_iter().chain(&root.name) {
            path::ensure_name(path, true).map_err(|what| tokens.error(what))?;
        }
        Ok(root)
    }
}
