//! ncdu's JSON export, format 1 (dev.yorhel.nl/ncdu/jsonfmt): nested lists, one for each directory, which begin with
//! the directory's own object. It has the size of every inode and no totals, so they are added up here as in a walk.
//! Names are raw bytes, UTF-8 or not.
//!
//! Extended exports (`ncdu -e`) have times, owners and modes; those of gdu times, and those of restic all of it.
//!
//! Several programs write it, and each leaves out something else. As in ncdu, a size that is missing is 0, `dev` is that
//! of the directory above, and what is known to have several links is a hard link, with `hlnkc` or without.

use std::io;

use super::several::is_line_of_host;
use super::tokens::Tokens;
use super::{DIGEST, Origin, Snapshot, Wanted, digest};
use crate::base::inode::{Identity, Links};
use crate::base::measure::{Figures, Kind, Measure, Measures, Mode};
use crate::base::path;
use crate::sys::problem::{Operation, Problem};
use crate::tree::total::{AnyReplay, BeginReplay, Rules, Shown};
use crate::tree::{Details, Inode, Node, Report, Sums};

/// The first bytes of the other format of ncdu (dev.yorhel.nl/ncdu/binfmt), which ncdu alone reads.
pub(super) const BINARY_MAGIC: &[u8] = b"\xbfncduEX1";

/// The error for it.
pub(super) const BINARY: &str =
    "it is a binary export of ncdu\n`ncdu -f FILE -o -` makes JSON of it, which weigh reads";

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
    modified: Option<i64>,
    owner: Option<u32>,
    group: Option<u32>,
    /// The digest of its path.
    path: u64,
    /// Whether it is a line above roots ([`NcduMembers::is_total`], [`is_line_of_host`]), and no directory.
    is_line: bool,
}

/// Whether something is known of entries: of one at least, and of all that are not directories. (That of the root is
/// missing in exports of restic.)
#[derive(Clone, Copy, Default)]
struct Coverage {
    is_said: bool,
    is_missing: bool,
}

impl Coverage {
    fn add(&mut self, is_said: bool, is_directory: bool) {
        self.is_said |= is_said;
        self.is_missing |= !is_said && !is_directory;
    }

    fn is_known(self) -> bool {
        self.is_said && !self.is_missing
    }
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
    let [has_times, has_owners] = [Coverage::default(); 2];
    let mut export = Export {
        tokens,
        replay,
        times: wanted.times,
        open,
        has_times,
        has_owners,
        problems,
        length: 0,
    };
    export.enter(root)?;
    let root = export.tree(gdu)?;
    let Export { tokens, mut replay, has_times, has_owners, mut problems, .. } = export;
    origin.has_times = has_times.is_known();
    origin.has_details = origin.has_times && has_owners.is_known();
    if tokens.item()? {
        return Err(tokens.error("more than one tree"));
    }
    origin.lacks_modes = root.mode.is_none();
    problems.sort_unstable();
    // The node above several roots has no name.
    let name = if is_total { &b""[..] } else { root.name.as_slice() };
    let answer = Some(replay.finish(&Node { name, ..root.node(wanted.times) }).in_view(view));
    let report = Report { answer, problems, ..Report::default() };
    Ok(Snapshot { report, view, known, origin: Some(origin), ..Snapshot::default() })
}

/// An export that is being read.
struct Export<'t> {
    tokens: &'t mut Tokens,
    replay: Box<dyn AnyReplay>,
    /// Whether times are kept.
    times: bool,
    /// The directories that have not ended.
    open: Vec<NcduMembers>,
    has_times: Coverage,
    has_owners: Coverage,
    /// The entries that ncdu could not read, and the total length of their paths, in bytes.
    problems: Vec<Problem>,
    length: usize,
}

impl Export<'_> {
    /// Reads what is in the list of the root after its own object. Returns the root.
    fn tree(&mut self, gdu: GduExport) -> io::Result<NcduMembers> {
        loop {
            if self.tokens.item()? {
                let above = self.open.last();
                if self.tokens.peek()? == b'[' {
                    self.tokens.check_depth(self.open.len())?;
                    self.tokens.take(b'[')?;
                    let directory = NcduMembers::read(self.tokens, above)?;
                    self.enter(directory)?;
                    continue;
                }
                let mut members = NcduMembers::read(self.tokens, above)?;
                self.check(&members, Operation::Stat)?;
                members.is_repeat = members.is_linked && gdu.hides_first_link;
                if !members.is_excluded {
                    self.note(&members);
                    self.replay.leaf(&members.node(self.times), true);
                }
            } else if let Some(mut directory) = self.open.pop() {
                if gdu.has_totals {
                    directory.disk = 0;
                }
                if self.open.is_empty() {
                    return Ok(directory);
                }
                let shown = if directory.is_line { Shown::Always } else { Shown::IfCounted };
                self.replay.close(&directory.node(self.times), shown);
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
        self.note(&directory);
        self.replay.open();
        self.open.push(directory);
        Ok(())
    }

    /// Notes what is known of an entry. What could not be read has nothing, and a line above roots is none.
    fn note(&mut self, members: &NcduMembers) {
        let NcduMembers { modified, owner, is_directory, .. } = *members;
        if !members.is_unread {
            self.has_times.add(modified.is_some(), is_directory);
            self.has_owners.add(owner.is_some(), is_directory);
        }
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
        self.problems.push(Problem { path, operation, code: None, message, hint: None });
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

    /// Reads the object of an entry in the directory `above`, which is on the device of that unless it has its own.
    fn read(tokens: &mut Tokens, above: Option<&Self>) -> io::Result<Self> {
        let device = above.and_then(|above| above.device);
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
                b"mtime" => members.modified = Some(seconds(tokens)?),
                b"uid" => members.owner = u32::try_from(tokens.number()?).ok(),
                b"gid" => members.group = u32::try_from(tokens.number()?).ok(),
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
        members.path = digest(above.map_or(DIGEST, |above| above.path), &members.name);
        Ok(members)
    }

    /// The entry by itself, with its time if it `has_times`. Some modes lack the type; the list says whether it is a
    /// directory. The inode's number is kept only if there are several links. The links of a directory do not count.
    fn node(&self, has_times: bool) -> Node<'_> {
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
        let newest = self.modified.filter(|_| has_times);
        let figures = match self.is_repeat {
            true => Figures::default(),
            false => Figures { disk: self.disk, length, newest, ..Figures::counts_of(mode.kind()) },
        };
        let links = match self.links {
            links @ 2.. => Links::Of(links),
            _ if self.is_linked => Links::Unknown,
            _ => Links::Alone,
        };
        let is_link = links.are_several() && !self.is_directory && !self.is_repeat;
        let details = self.modified.zip(self.owner);
        let details = details.map(|(modified, owner)| Details {
            modified,
            changed: 0,
            born: 0,
            owner,
            group: self.group,
        });
        // Without a number, the path tells an inode from others. An export does not say on which machine it is.
        let known = self.inode.filter(|_| is_link);
        let number = known.or(details.map(|_| self.path));
        let inode = number.map(|number| Inode {
            identity: Identity { mount: 0, device: self.device.unwrap_or(0), number },
            links: if known.is_some() { links } else { Links::Alone },
            details,
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

/// Takes a number of seconds. Some programs write fractions, and `ncdu -e` writes times before 1970 without their sign:
/// -1 is 2^64 - 1.
fn seconds(tokens: &mut Tokens) -> io::Result<i64> {
    let word = tokens.word()?;
    let text = str::from_utf8(&word).unwrap_or_default();
    let whole = text.split_once('.').map_or(text, |(whole, _)| whole);
    let unsigned = || whole.parse().ok().map(u64::cast_signed);
    let seconds = whole.parse().ok().or_else(unsigned);
    seconds.ok_or_else(|| tokens.error("no number of seconds where one should be"))
}
