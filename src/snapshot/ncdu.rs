//! ncdu's JSON export, format 1 (dev.yorhel.nl/ncdu/jsonfmt): nested lists, one for each directory, which begin with
//! the directory's own object. It has the size of every inode and no totals, so they are added up here as in a walk.
//! Names are raw bytes, UTF-8 or not.
//!
//! Several programs write it, and each leaves out something else. As in ncdu, a size that is missing is 0, `dev` is that
//! of the directory above, and what is known to have several links is a hard link, with `hlnkc` or without.

use std::io;

use super::several::is_line_of_host;
use super::tokens::Tokens;
use super::{Origin, Snapshot, Wanted};
use crate::inode::{Identity, Links};
use crate::measure::{Figures, Kind, Measure, Measures, Mode};
use crate::path;
use crate::problem::{Operation, Problem};
use crate::total::{AnyReplay, BeginReplay, Rules, Shown};
use crate::tree::{Inode, Node, Sums};
use crate::weighed::Weighed;

/// An object's members.
#[derive(Default)]
struct NcduMembers {
    name: Vec<u8>,
    apparent: u64,
    disk: u64,
    device: Option<u64>,
    inode: Option<u64>,
    /// Whether it is said to have several links.
    is_linked: bool,
    links: u32,
    is_not_regular: bool,
    is_directory: bool,
    is_unread: bool,
    is_excluded: bool,
    /// Whether it counts elsewhere.
    is_repeat: bool,
    mode: Option<u16>,
    /// Whether it is a line above roots ([`NcduMembers::is_total`], [`is_line_of_host`]), and no directory.
    is_line: bool,
}

/// What is special in exports of gdu.
#[derive(Clone, Copy, Default)]
struct GduExport {
    /// Directories have totals, if any, and not own sizes.
    has_totals: bool,
    /// Of the links of an inode, the first has neither `ino` nor `hlnkc`, and the others count nothing (before 5.30).
    hides_first_link: bool,
}

/// Reads an export into what `begin` makes, to be seen as `wanted`.
pub(super) fn read(
    tokens: &mut Tokens,
    wanted: Wanted,
    begin: BeginReplay<'_>,
) -> io::Result<Snapshot> {
    tokens.is_lax = true;
    tokens.take(b'[')?;
    let version = tokens.number()?;
    tokens.take(b',')?;
    tokens.number()?;
    tokens.take(b',')?;
    if tokens.peek()? == b'{' {
        tokens.is_recognized = true;
    }
    if version != 1 {
        let what = format_args!("it is of ncdu's format {version}, and this weigh reads 1");
        return Err(tokens.error(what));
    }
    let (mut origin, known, gdu) = read_header(tokens)?;
    let usual = if known.contains(Measure::Disk) { Measure::Disk } else { Measure::Apparent };
    let view = wanted.view(usual, known);
    tokens.take(b',')?;
    tokens.take(b'[')?;
    let root = NcduMembers::read(tokens, None)?;
    let is_total = root.is_total();
    let replay = begin(view, is_total.into(), Some(Rules::default()));
    let (open, problems) = (Vec::new(), Vec::new());
    let mut export = Export { tokens, replay, open, problems, length: 0 };
    export.enter(root)?;
    let root = export.tree(gdu)?;
    let Export { tokens, mut replay, mut problems, .. } = export;
    if tokens.item()? {
        return Err(tokens.error("more than one tree"));
    }
    origin.lacks_modes = root.mode.is_none();
    problems.sort_unstable();
    // The node above several roots has no name.
    let name = if is_total { &b""[..] } else { root.name.as_slice() };
    let report = Some(replay.finish(&Node { name, ..root.node() }).seen_as(view));
    let weighed = Weighed { report, problems, ..Weighed::default() };
    Ok(Snapshot { weighed, view, known, origin: Some(origin) })
}

/// An export that is being read.
struct Export<'t> {
    tokens: &'t mut Tokens,
    replay: Box<dyn AnyReplay>,
    /// The directories that have not ended.
    open: Vec<NcduMembers>,
    /// The entries that ncdu could not read, and the total length of their paths, in bytes.
    problems: Vec<Problem>,
    length: usize,
}

impl Export<'_> {
    /// Reads what is in the list of the root after its own object. Returns the root.
    fn tree(&mut self, gdu: GduExport) -> io::Result<NcduMembers> {
        loop {
            if self.tokens.item()? {
                let device = self.open.last().and_then(|directory| directory.device);
                if self.tokens.peek()? == b'[' {
                    self.tokens.check_depth(self.open.len())?;
                    self.tokens.take(b'[')?;
                    let directory = NcduMembers::read(self.tokens, device)?;
                    self.enter(directory)?;
                    continue;
                }
                let mut members = NcduMembers::read(self.tokens, device)?;
                self.check(&members, Operation::Stat)?;
                members.is_repeat = members.is_linked && gdu.hides_first_link;
                if !members.is_excluded {
                    self.replay.leaf(&members.node(), true);
                }
            } else if let Some(mut directory) = self.open.pop() {
                if gdu.has_totals {
                    directory.disk = 0;
                }
                if self.open.is_empty() {
                    return Ok(directory);
                }
                let shown = if directory.is_line { Shown::Always } else { Shown::IfCounted };
                self.replay.close(&directory.node(), shown);
            }
        }
    }

    /// Begins with a `directory` whose own object was read.
    fn enter(&mut self, mut directory: NcduMembers) -> io::Result<()> {
        self.check(&directory, Operation::Open)?;
        directory.is_directory = true;
        directory.is_line = match &self.open[..] {
            [] => directory.is_total(),
            [root] => root.is_line && is_line_of_host(&directory.name, directory.has_size()),
            _ => false,
        };
        self.replay.open();
        self.open.push(directory);
        Ok(())
    }

    /// Checks the name of an entry in the innermost directory. If ncdu could not read the entry, that is a problem of
    /// this `operation`.
    fn check(&mut self, members: &NcduMembers, operation: Operation) -> io::Result<()> {
        /// Enough for half a million of them. An export has only names, but each path repeats all names above. In a
        /// deep tree, the paths may be ten thousand times as large as the file.
        const MOST: usize = 64 << 20;
        let is_root = self.open.last().is_none_or(|above| above.is_line);
        path::ensure_name(&members.name, is_root).map_err(|what| self.tokens.error(what))?;
        if !members.is_unread {
            return Ok(());
        }
        // Only the line above all others is in no path.
        let above = self.open.iter().filter(|directory| !directory.is_total());
        let names = above.chain([members]).map(|entry| entry.name.as_slice());
        let path = path::join_all(names);
        self.length += path.len();
        if self.length > MOST {
            let what = "the paths of what could not be read take more than 64 MiB";
            return Err(self.tokens.error(what));
        }
        let message = "could not be read when it was exported".to_owned();
        self.problems.push(Problem { path, operation, code: None, message });
        Ok(())
    }
}

/// Reads the header: where it comes from, what sizes it has, and what is special if gdu wrote it. ncdu does not read it,
/// so others may write anything there.
fn read_header(tokens: &mut Tokens) -> io::Result<(Origin, Measures, GduExport)> {
    let (mut origin, mut program, mut version) = (Origin::default(), Vec::new(), Vec::new());
    let mut measure = Vec::new();
    tokens.object(|tokens| {
        match (tokens.text().to_vec().as_slice(), tokens.peek()?) {
            (b"timestamp", b'-' | b'0'..=b'9') => origin.time = tokens.time()?,
            (key @ (b"progname" | b"progver" | b"measure"), b'"') => {
                tokens.string()?;
                let into = match key {
                    b"progname" => &mut program,
                    b"progver" => &mut version,
                    _ => &mut measure,
                };
                *into = tokens.text().to_vec();
            }
            _ => tokens.skip()?,
        }
        Ok(())
    })?;
    let version = str::from_utf8(&version).unwrap_or_default().trim_start_matches('v');
    let mut numbers = version.split('.').map_while(|number| number.parse::<u32>().ok());
    let is_old = numbers.next().zip(numbers.next()).is_some_and(|version| version < (5, 30));
    let is_of_gdu = program == b"gdu";
    // weigh says it if it knows only one of both.
    let unknown = match (&*program, &*measure) {
        (b"weigh", b"apparent") => Some(Measure::Disk),
        (b"weigh", b"disk") => Some(Measure::Apparent),
        _ => None,
    };
    let known = Measure::ALL.into_iter().filter(|measure| Some(*measure) != unknown).collect();
    let gdu = GduExport { has_totals: is_of_gdu, hides_first_link: is_of_gdu && is_old };
    Ok((origin, known, gdu))
}

impl NcduMembers {
    /// Whether it is what weigh writes above several roots, if nothing is around it.
    fn is_total(&self) -> bool {
        self.name == b"(total)" && !self.has_size()
    }

    fn has_size(&self) -> bool {
        (self.disk, self.apparent) != (0, 0)
    }

    /// Reads the object of an entry, which is on this `device` unless it has its own.
    fn read(tokens: &mut Tokens, device: Option<u64>) -> io::Result<Self> {
        let mut members = Self { device, ..Self::default() };
        tokens.object(|tokens| {
            match tokens.text() {
                b"name" => {
                    tokens.string()?;
                    members.name = tokens.text().to_vec();
                }
                b"asize" => members.apparent = tokens.number()?,
                b"dsize" => members.disk = tokens.number()?,
                b"dev" => members.device = Some(tokens.number()?),
                b"ino" => members.inode = Some(tokens.number()?),
                b"nlink" => members.links = u32::try_from(tokens.number()?).unwrap_or(u32::MAX),
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
            Ok(())
        })?;
        Ok(members)
    }

    /// The entry by itself. Only extended exports have modes, some without the type; the list says whether it is a
    /// directory. The inode's number is kept only if there are several links. The links of a directory do not count.
    fn node(&self) -> Node<'_> {
        let kind = match (self.is_directory, self.is_not_regular) {
            (true, _) => Kind::Directory,
            (false, true) => Kind::Other,
            (false, false) => Kind::File,
        };
        let fits = |mode: &Mode| (mode.kind() == Kind::Directory) == self.is_directory;
        let usual = Mode::usual(kind);
        let mode = self.mode.map(|mode| match Mode(mode).file_type() {
            0 => Mode(usual.file_type() | mode),
            _ => Mode(mode),
        });
        let mode = mode.filter(fits).unwrap_or(usual);
        // An entry with a length that is not a regular file is a symlink.
        let length = if mode.kind() == Kind::Directory { 0 } else { self.apparent };
        let figures = match self.is_repeat {
            true => Figures::default(),
            false => Figures { disk: self.disk, length, ..Figures::counts_of(mode.kind()) },
        };
        let links = match self.links {
            links @ 2.. => Links::Of(links),
            _ if self.is_linked => Links::Unknown,
            _ => Links::Alone,
        };
        let is_link = links.are_several() && !self.is_directory && !self.is_repeat;
        let inode = self.inode.filter(|_| is_link);
        let inode = inode.map(|number| Inode {
            identity: Identity { mount: 0, device: self.device.unwrap_or(0), number },
            links,
            details: None,
        });
        Node {
            name: &self.name,
            mode,
            // An excluded directory has a list, too.
            own: (!self.is_excluded && !self.is_line).then_some(figures),
            sums: Sums::of(figures),
            inode,
            ..Node::default()
        }
    }
}
