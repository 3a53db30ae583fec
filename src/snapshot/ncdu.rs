//! ncdu's JSON export, format 1 (dev.yorhel.nl/ncdu/jsonfmt): nested lists, one for each directory, which begin with
//! the directory's own object. It has the size of every inode and no totals, so they are added up here as in a walk.
//! Names are raw bytes, UTF-8 or not.

use std::io::{self, Read};

use super::tokens::Tokens;
use super::{Origin, Snapshot};
use crate::inode::Links;
use crate::measure::{Figures, Kind, Mode, View};
use crate::path;
use crate::problem::{Operation, Problem};
use crate::sys::Stat;
use crate::tally::{Entry, Tally};

use crate::total::{self, Rules, Shown, Subtotal};
use crate::weighed::Weighed;

/// An object's members.
#[derive(Default)]
struct NcduMembers {
    name: Vec<u8>,
    apparent: u64,
    disk: u64,
    device: Option<u64>,
    inode: u64,
    is_linked: bool,
    links: Option<u32>,
    is_not_regular: bool,
    is_unread: bool,
    is_excluded: bool,
    mode: Option<u16>,
}

/// A directory whose list has not ended.
struct OpenDirectory<P> {
    members: NcduMembers,
    subtotal: Subtotal<P>,
}

/// Reads an export into what `tally` makes, to be seen in a `view`.
pub(super) fn read<R: Read, T: Tally>(
    tokens: &mut Tokens<R>,
    view: View,
    tally: impl FnOnce(View) -> T,
) -> io::Result<Snapshot> {
    tokens.allow_any_bytes();
    tokens.take(b'[')?;
    let version = tokens.number()?;
    tokens.take(b',')?;
    tokens.number()?;
    tokens.take(b',')?;
    if tokens.peek()? == b'{' {
        tokens.recognize();
    }
    if version != 1 {
        let what = format_args!("it is of ncdu's format {version}, and this weigh reads 1");
        return Err(tokens.error(what));
    }
    let origin = read_origin(tokens)?;
    tokens.take(b',')?;

    let tally = tally(view);
    let rules = Rules::default();
    let mut problems = Problems::default();
    let mut open: Vec<OpenDirectory<T::Part>> = vec![begin(tokens, None, &mut problems, &[])?];
    let root = loop {
        let Some(directory) = open.last() else { return Err(tokens.error("no directory")) };
        if tokens.item(false)? {
            let device = directory.members.device;
            if tokens.peek()? == b'[' {
                tokens.check_depth(open.len())?;
                let below = begin(tokens, device, &mut problems, &open)?;
                open.push(below);
            } else {
                let members = NcduMembers::read(tokens, device)?;
                problems.add(tokens, &members, Operation::Stat, &open)?;
                let depth = depth(&open);
                if let (false, Some(above)) = (members.is_excluded, open.last_mut()) {
                    let (figures, stat) = (members.figures(), members.stat());
                    let mut entry = Entry::new(&members.name, depth, &stat, figures, 0);
                    entry.links = members.links();
                    above.subtotal.add(&rules, &tally, &mut entry, true);
                }
            }
            continue;
        }
        let Some(OpenDirectory { members, subtotal }) = open.pop() else { continue };
        let (stat, own) = (members.stat(), members.figures());
        let mut directory = Entry::new(&members.name, depth(&open), &stat, own, 0);
        directory.own = Some(own);
        let Some(above) = open.last_mut() else {
            break total::finish(Some(&rules), &tally, directory, subtotal);
        };
        total::close(Some(&rules), &tally, directory, Shown::IfCounted, subtotal, || {
            &mut above.subtotal
        });
    };
    if tokens.item(false)? {
        return Err(tokens.error("more than one tree"));
    }
    let mut problems = problems.list;
    problems.sort_unstable_by(|one, two| one.path.cmp(&two.path));
    let report = Some(root.seen_as(view));
    let weighed = Weighed { report, problems, is_interrupted: false };
    Ok(Snapshot { weighed, view, has_all: true, origin: Some(origin) })
}

/// Takes the start of a directory's list, and the directory's own object.
fn begin<R: Read, P: Default>(
    tokens: &mut Tokens<R>,
    device: Option<u64>,
    problems: &mut Problems,
    above: &[OpenDirectory<P>],
) -> io::Result<OpenDirectory<P>> {
    tokens.take(b'[')?;
    let mut members = NcduMembers::read(tokens, device)?;
    problems.add(tokens, &members, Operation::Open, above)?;
    // The links of a directory do not count.
    members.is_linked = false;
    members.mode = members.mode.filter(|mode| Mode(*mode).kind() == Kind::Directory);
    members.mode.get_or_insert(Mode::usual(Kind::Directory).0);
    Ok(OpenDirectory { members, subtotal: Subtotal::default() })
}

/// The depth below the root of entries in the last of the `open` directories.
fn depth<P>(open: &[OpenDirectory<P>]) -> u32 {
    u32::try_from(open.len()).unwrap_or(u32::MAX)
}

fn read_origin<R: Read>(tokens: &mut Tokens<R>) -> io::Result<Origin> {
    let (mut origin, mut is_first) = (Origin::default(), true);
    tokens.take(b'{')?;
    while tokens.member(is_first)? {
        is_first = false;
        match tokens.text() {
            b"timestamp" => origin.time = tokens.signed()?,
            _ => tokens.skip()?,
        }
    }
    Ok(origin)
}

impl NcduMembers {
    /// Reads an object in a directory on `device`.
    fn read<R: Read>(tokens: &mut Tokens<R>, device: Option<u64>) -> io::Result<Self> {
        let mut members = Self { device, ..Self::default() };
        let mut is_first = true;
        tokens.take(b'{')?;
        while tokens.member(is_first)? {
            is_first = false;
            match tokens.text() {
                b"name" => {
                    tokens.string()?;
                    members.name = tokens.text().to_vec();
                }
                b"asize" => members.apparent = tokens.number()?,
                b"dsize" => members.disk = tokens.number()?,
                b"dev" => members.device = Some(tokens.number()?),
                b"ino" => members.inode = tokens.number()?,
                b"nlink" => members.links = u32::try_from(tokens.number()?).ok(),
                b"mode" => members.mode = u16::try_from(tokens.number()?).ok(),
                b"hlnkc" => members.is_linked = tokens.boolean()?,
                b"notreg" => members.is_not_regular = tokens.boolean()?,
                b"read_error" => members.is_unread = tokens.boolean()?,
                b"excluded" => {
                    tokens.skip()?;
                    members.is_excluded = true;
                }
                _ => tokens.skip()?,
            }
        }
        if members.name.is_empty() {
            return Err(tokens.error("an entry without a name"));
        }
        Ok(members)
    }

    /// Only ncdu's extended export has modes.
    fn mode(&self) -> Mode {
        let usual = Mode::usual(if self.is_not_regular { Kind::Other } else { Kind::File });
        self.mode.map_or(usual, Mode)
    }

    fn figures(&self) -> Figures {
        let kind = self.mode().kind();
        // An entry with a length that is not a regular file is a symlink.
        let length = if kind == Kind::Directory { 0 } else { self.apparent };
        Figures { disk: self.disk, length, ..Figures::counts_of(kind) }
    }

    fn links(&self) -> Links {
        match self.links {
            _ if !self.is_linked => Links::Alone,
            Some(links) => Links::Of(links),
            None => Links::Unknown,
        }
    }

    /// The attributes of its inode. The number is kept only if there are several links.
    fn stat(&self) -> Stat {
        let mut stat = Stat { mode: self.mode(), links: 1, ..Stat::default() };
        if self.is_linked {
            (stat.device, stat.inode) = (self.device.unwrap_or(0), self.inode);
        }
        stat
    }
}

/// The entries that ncdu could not read.
#[derive(Default)]
struct Problems {
    list: Vec<Problem>,
    /// The total length of their paths, in bytes.
    length: usize,
}

impl Problems {
    /// Adds the entry with these `members`, if ncdu could not read it.
    fn add<R: Read, P>(
        &mut self,
        tokens: &Tokens<R>,
        members: &NcduMembers,
        operation: Operation,
        above: &[OpenDirectory<P>],
    ) -> io::Result<()> {
        /// Enough for half a million of them. An export has only names, but each path repeats all names above. In a
        /// deep tree, the paths may be ten thousand times as large as the file.
        const MOST: usize = 64 << 20;
        if !members.is_unread {
            return Ok(());
        }
        let names = above.iter().map(|open| open.members.name.as_slice());
        let path = path::join_all(names.chain([members.name.as_slice()]));
        self.length += path.len();
        if self.length > MOST {
            let what = "the paths of what could not be read take more than 64 MiB";
            return Err(tokens.error(what));
        }
        let message = "could not be read when it was exported".to_owned();
        self.list.push(Problem { path, operation, code: None, message });
        Ok(())
    }
}
