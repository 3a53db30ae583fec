//! The trash of the freedesktop specification (1.0): in the user's home directory, or at the top of the mount. Nothing
//! is copied: an entry stays where it is if there is no trash on its mount.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::io::{self, ErrorKind};
use std::iter;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use super::aside::random_number;
use super::held::{ancestors, c_string};
use super::log::UserDirectories;
use super::outcome::explain;
use super::target::{Target, TargetDirectory, ensure_here, is_beside};
use crate::base::escape::{escape, uri};
use crate::base::inode::Identity;
use crate::base::measure::Kind;
use crate::base::path;
use crate::sys::{self, ExactStat, HeldDirectory, user_id};

/// A trash directory, held.
#[derive(Debug)]
pub(super) struct TrashDirectory {
    pub(super) files: HeldDirectory,
    info: HeldDirectory,
    /// The path of its directory `files`.
    pub(super) path: Vec<u8>,
    /// The directory to which paths in info files are relative; none if they are absolute.
    top: Option<Vec<u8>>,
    /// The identities of its directories, and of all directories above it.
    around: Vec<Identity>,
}

/// An entry in the trash that can be put back.
#[derive(Debug)]
pub struct Trashed {
    pub(super) trash: Arc<TrashDirectory>,
    pub(super) name: CString,
    pub(super) stat: ExactStat,
    pub(super) target: Target,
    /// Its path when it was moved.
    pub old_path: Vec<u8>,
}

impl Trashed {
    /// The path to which an undo puts it back. Asks the system where the top of its mount is now, which may not answer.
    pub fn path(&self) -> Vec<u8> {
        self.target.path()
    }

    /// The path of the directory in the trash that it is in, and its name there.
    pub fn place(&self) -> (&[u8], &[u8]) {
        (&self.trash.path, self.name.to_bytes())
    }

    /// Whether what was `seen` in the trash is what was moved there.
    pub fn is(&self, seen: &ExactStat) -> bool {
        seen.is_same(&self.stat)
    }

    /// Removes its info file, because it is deleted. If this fails, the info file names nothing, and does no harm.
    pub fn forget(&self) {
        let _ = self.trash.forget(&self.name);
    }

    /// Its path in the trash.
    pub fn path_in_trash(&self) -> Vec<u8> {
        path::join_all([&*self.trash.path, self.name.to_bytes()])
    }
}

impl TrashDirectory {
    /// The trash for entries of `directory`. Makes it if needed, and adds the path of its directory `files` to `used`.
    pub(super) fn find(
        directory: &TargetDirectory,
        directories: &UserDirectories,
        used: &mut BTreeSet<Vec<u8>>,
    ) -> io::Result<Self> {
        let data = directories.data.as_ref();
        let of_home = data.map(|data| of_home(data, &directory.stat)).transpose()?.flatten();
        let (held, path, top) = of_home.map_or_else(|| at_top(directory), Ok)?;
        let path_of_files = path::join_all([&*path, b"files"]);
        used.insert(path_of_files.clone());
        let (files, info) = (own(&held, c"files", &path)?, own(&held, c"info", &path)?);
        let [of_files, of_info] = [files.stat()?, info.stat()?];
        if ![of_files, of_info].iter().all(|stat| is_beside(stat, &directory.stat)) {
            return Err(io::Error::other(ELSEWHERE));
        }
        let inside = [of_files.stat.identity(), of_info.stat.identity()];
        if ancestors(&directory.held)?.iter().any(|above| inside.contains(above)) {
            return Err(io::Error::other("it is already in the trash; D deletes it"));
        }
        let around = inside.into_iter().chain(ancestors(&files)?).collect();
        Ok(Self { files, info, path: path_of_files, top, around })
    }

    /// Whether `other` is the same, at the same path.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (&self.path, &self.around) == (&other.path, &other.around)
    }

    /// Whether the entry `it` is the trash or contains it.
    pub(super) fn is_in(&self, it: &ExactStat) -> bool {
        self.around.contains(&it.stat.identity())
    }

    /// Chooses a free name for the entry at `path`, and writes its info file.
    pub(super) fn note(&self, name: &[u8], path: &[u8]) -> io::Result<CString> {
        self.try_note(name, path).map_err(|error| unusable(&self.path, error))
    }

    fn try_note(&self, name: &[u8], path: &[u8]) -> io::Result<CString> {
        /// With so many entries of one name, the next one gets a random number: to ask for each takes too long.
        const NUMBERED: u64 = 20;
        let content = self.content(path);
        for number in (1..=NUMBERED).chain(iter::once_with(random_number)) {
            let name = CString::new(numbered(name, number))?;
            match self.files.stat_of(&name) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
                Ok(_) => continue,
            }
            match self.info.create(&info_name(&name)?, &content) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(()) => return Ok(name),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// Removes the info file.
    pub(super) fn forget(&self, name: &CStr) -> io::Result<()> {
        self.info.remove(&info_name(name)?, false)
    }

    fn content(&self, path: &[u8]) -> Vec<u8> {
        let below = self.top.as_ref().and_then(|top| path::below(path, top));
        let from = uri(below.unwrap_or(path), b"0123456789ABCDEF");
        let now = Timestamp::from_second(sys::now()).unwrap_or_default();
        let now = now.to_zoned_datetime(sys::time_zone());
        let now = now.strftime("%Y-%m-%dT%H:%M:%S");
        format!("[Trash Info]\nPath={from}\nDeletionDate={now}\n").into_bytes()
    }
}

/// Explains that a plain user usually may not make a directory at the top of a mount.
fn not_allowed(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::PermissionDenied => io::Error::other(
            "there is no trash on its file system, and you may not make one at the top; D deletes it",
        ),
        _ => error,
    }
}

const ELSEWHERE: &str = "there is no trash on its file system or subvolume; D deletes it";

/// Where a trash is: its directory, that directory's path, and that of the top of the mount if it is there.
type TrashPlace = (HeldDirectory, Vec<u8>, Option<Vec<u8>>);

/// The trash at the top of the mount.
fn at_top(directory: &TargetDirectory) -> io::Result<TrashPlace> {
    let (top, levels) = topmost(&directory.held, &directory.stat)?;
    let path = sys::to_path(&directory.path);
    let top_path = path.ancestors().take(levels + 1).last().unwrap_or(&path);
    let top_path = top_path.as_os_str().as_encoded_bytes();
    let user = user_id();
    let (held, name) = match shared(&top, user) {
        Some(held) => (held, format!(".Trash/{user}")),
        None => {
            let name = format!(".Trash-{user}");
            let held = own(&top, &CString::new(&*name)?, top_path);
            (held.map_err(not_allowed)?, name)
        }
    };
    let path = path::join_all([top_path, name.as_bytes()]);
    Ok((held, path, Some(top_path.to_vec())))
}

/// The trash in the home directory, if that is on the same mount and belongs to the user.
fn of_home(data: &Path, around: &ExactStat) -> io::Result<Option<TrashPlace>> {
    let path = data.as_os_str().as_encoded_bytes();
    let existing = data.ancestors().find_map(|above| {
        let held = HeldDirectory::open(&c_string(above.as_os_str()).ok()?);
        held.and_then(|held| held.stat()).ok()
    });
    let Some(existing) = existing else { return Ok(None) };
    if !is_beside(&existing, around) || existing.stat.owner != user_id() {
        return Ok(None);
    }
    let made = sys::make_directories(data)
        .and_then(|()| HeldDirectory::open(&c_string(data.as_os_str())?));
    let held = made.map_err(|error| unusable(path, error))?;
    let trash = own(&held, c"Trash", path)?;
    // There may be a symlink on the way.
    let path = held.path()?;
    Ok(Some((trash, path::join_all([&*path, b"Trash"]), None)))
}

/// The topmost directory of the mount, and the number of levels between it and `parent`.
fn topmost(parent: &HeldDirectory, around: &ExactStat) -> io::Result<(HeldDirectory, usize)> {
    let (mut at, mut stat, mut levels) = (parent.descend::<CString>(&[])?, *around, 0);
    while !stat.stat.mount_point {
        let above = at.up()?;
        let now = above.stat()?;
        if now.stat.identity() == stat.stat.identity() || now.mount != stat.mount {
            break;
        }
        (at, stat, levels) = (above, now, levels + 1);
    }
    match stat.stat.device == around.stat.device {
        true => Ok((at, levels)),
        false => Err(io::Error::other(ELSEWHERE)),
    }
}

/// The user's directory in the trash that all users share, if an administrator has made one by the specification: a
/// sticky directory, and no symlink.
fn shared(top: &HeldDirectory, user: u32) -> Option<HeldDirectory> {
    let name = c".Trash";
    let stat = top.stat_of(name).ok()?;
    if !stat.is_directory() || !stat.is_sticky() {
        return None;
    }
    let held = top.descend(&[name]).ok()?;
    held.stat().ok().filter(|now| now.is_same(&stat) && now.is_sticky())?;
    own(&held, &CString::new(user.to_string()).ok()?, b"").ok()
}

/// The user's directory `name` in the one at `path`. Makes it if necessary.
fn own(parent: &HeldDirectory, name: &CStr, path: &[u8]) -> io::Result<HeldDirectory> {
    try_own(parent, name).map_err(|error| unusable(&path::join_all([path, name.to_bytes()]), error))
}

fn try_own(parent: &HeldDirectory, name: &CStr) -> io::Result<HeldDirectory> {
    match parent.make_directory(name) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => existing(parent, name),
    }
}

/// The user's directory `name` in `parent`, which is no symlink.
fn existing(parent: &HeldDirectory, name: &CStr) -> io::Result<HeldDirectory> {
    match parent.stat_of(name)?.stat.mode.kind() {
        Kind::Directory => {}
        Kind::Symlink => return Err(io::Error::other("it is a symlink")),
        _ => return Err(io::Error::other("it is not a directory")),
    }
    let held = parent.descend(&[name])?;
    match held.stat()?.stat.owner == user_id() {
        true => Ok(held),
        false => Err(io::Error::other("it belongs to somebody else")),
    }
}

// The trash directories that `clean --empty-trash` empties. It makes none.

/// A trash directory of the user, as it was found.
pub type OwnTrash = (Vec<u8>, Identity);

/// The user's trash directories on the file system of what is at the real path `path`: the path and inode of each,
/// and why others must not be emptied.
///
/// # Errors
/// The system's.
pub fn trashes_around(
    path: &Path,
    directories: &UserDirectories,
) -> io::Result<(Vec<OwnTrash>, Vec<String>)> {
    let around = HeldDirectory::open(&c_string(path.as_os_str())?);
    let around = match (around, path.parent()) {
        (Err(error), Some(above)) if error.kind() == ErrorKind::NotADirectory => {
            HeldDirectory::open(&c_string(above.as_os_str())?)?
        }
        (around, _) => around?,
    };
    let stat = around.stat()?;
    let user = user_id();
    let mut places = Vec::new();
    let data = directories.data.as_ref().and_then(|data| c_string(data.as_os_str()).ok());
    if let Some(held) = data.and_then(|data| HeldDirectory::open(&data).ok()) {
        let data = held.stat()?;
        let refusal = (data.stat.owner != user).then_some("its directory belongs to somebody else");
        if data.stat.device == stat.stat.device {
            places.push((held, c"Trash".to_owned(), refusal));
        }
    }
    // On a subvolume without a mount of its own, there is none.
    if let Ok((top, _)) = topmost(&around, &stat) {
        let own = CString::new(format!(".Trash-{user}"))?;
        let shared = match top.stat_of(c".Trash") {
            Ok(it) if it.is_directory() && it.is_sticky() => top.descend(&[c".Trash"]).ok(),
            Ok(_) => {
                let refusal = "it is not a sticky directory";
                places.push((top.descend::<CString>(&[])?, c".Trash".to_owned(), Some(refusal)));
                None
            }
            Err(_) => None,
        };
        places.push((top, own, None));
        if let Some(shared) = shared {
            places.push((shared, CString::new(user.to_string())?, None));
        }
    }
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    for (held, name, refusal) in places {
        let usable = match refusal {
            None => usable(&held, &name),
            Some(why) => held.stat_of(&name).and(Err(io::Error::other(why))),
        };
        let path = path::join_all([&*held.path()?, name.to_bytes()]);
        match usable {
            Ok(identity) => found.push((path, identity)),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                let why = explain(&error, None, None);
                refused.push(format!("the trash {} is left alone: {why}", escape(&path)));
            }
        }
    }
    Ok((found, refused))
}

/// The inode of the trash directory `name`, if nobody else chose what is in it: neither it nor its directories `files` and
/// `info` is a symlink, belongs to somebody else, or lies on another mount.
fn usable(parent: &HeldDirectory, name: &CStr) -> io::Result<Identity> {
    let on_mount = |around: &HeldDirectory, name: &CStr| {
        ensure_here(&around.stat()?, &around.stat_of(name)?)?;
        existing(around, name)
    };
    let trash = on_mount(parent, name)?;
    for inside in [c"files", c"info"] {
        match on_mount(&trash, inside) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                let why = explain(&error, None, None);
                return Err(io::Error::other(format!("{}: {why}", inside.to_string_lossy())));
            }
            Ok(_) => {}
        }
    }
    Ok(trash.stat()?.stat.identity())
}

/// The same error, but names the directory of the trash at `path`, not the entry that was to be moved there.
fn unusable(path: &[u8], error: io::Error) -> io::Error {
    let (path, why) = (escape(path), explain(&error, None, None));
    let is_read_only = error.kind() == ErrorKind::ReadOnlyFilesystem;
    let way_out = if is_read_only { "" } else { "; D deletes it" };
    io::Error::new(error.kind(), format!("the trash {path} cannot be used: {why}{way_out}"))
}

/// The name of `name` in the trash at the `number`th try. Leaves room for the ending of the info file.
fn numbered(name: &[u8], number: u64) -> Vec<u8> {
    /// The longest name on all common file systems (NAME_MAX).
    const LONGEST: usize = 255;
    let end = if number > 1 { format!(".{number}") } else { String::new() };
    let most = LONGEST - INFO.len() - end.len();
    let mut cut = name.len().min(most);
    if cut < name.len() {
        // Does not cut a character.
        while cut > 1 && name.get(cut).is_some_and(|byte| *byte & 0xc0 == 0x80) {
            cut -= 1;
        }
    }
    let mut numbered = name.get(..cut).unwrap_or_default().to_vec();
    numbered.extend_from_slice(end.as_bytes());
    numbered
}

/// How the name of an info file ends.
pub const INFO: &str = ".trashinfo";

fn info_name(name: &CStr) -> io::Result<CString> {
    CString::new([name.to_bytes(), INFO.as_bytes()].concat()).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_the_trash_leave_room_for_their_notes() {
        assert_eq!(numbered(b"a", 1), b"a");
        assert_eq!(numbered(b"a", 2), b"a.2");
        let long = vec![b'x'; 255];
        assert_eq!(numbered(&long, 12).len() + INFO.len(), 255);
        assert!(numbered(&long, 12).ends_with(b"x.12"));
        let wide = "ä".repeat(127);
        let cut = numbered(wide.as_bytes(), 1);
        assert!(str::from_utf8(&cut).is_ok() && cut.len() > 240);
    }
}
