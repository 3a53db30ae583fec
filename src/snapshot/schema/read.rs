//! Reads schema 1. Members may come in any order. Unknown members are skipped, because a
//! later version may write more.

use std::io;
use std::mem;

use super::{Header, usual};
use crate::inode::{Identity, Links};
use crate::measure::{Figures, Kind, Measure, Measures, Mode, View};
use crate::path;
use crate::snapshot::several::is_line_of_host;
use crate::snapshot::tokens::Tokens;
use crate::snapshot::{Origin, Snapshot, Wanted};
use crate::total::{AnyReplay, BeginReplay, Shown};
use crate::tree::{Details, Freeable, Inode, Node, Sums};

/// The members of an object that were read so far.
#[derive(Default)]
struct Members {
    name: Vec<u8>,
    has_exact_name: bool,
    kind: Option<Kind>,
    /// Whether it is the node above several roots.
    is_total: bool,
    mode: Option<u16>,
    entries: Option<u64>,
    /// The size of the node, of a directory by itself, and of what is shared.
    sizes: [Option<u64>; 3],
    /// Figures besides the sizes: whose, and in which measure.
    others: [[Option<u64>; 4]; 3],
    frees_least: Option<u64>,
    frees_most: Option<u64>,
    has_too_many_extents: bool,
    inode: Option<u64>,
    device: Option<u64>,
    mount: Option<u64>,
    links: Option<u32>,
    modified: Option<i64>,
    changed: i64,
    born: i64,
    owner: Option<u32>,
    group: Option<u32>,
    /// The newest time in it so far: what it says, and those of its children.
    newest: Option<i64>,
    has_children: bool,
}

/// Reads a snapshot into what `begin` makes for its view. `check` gets that view and the origin before the tree is
/// read, if they stand before it.
pub(in crate::snapshot) fn read(
    tokens: &mut Tokens,
    wanted: Wanted,
    begin: BeginReplay<'_>,
    check: impl FnOnce(View, Option<&Origin>) -> io::Result<()>,
) -> io::Result<Snapshot> {
    let (mut header, mut root) = (Header::default(), Members::default());
    tokens.take(b'{')?;
    root.read(tokens, |tokens| header.read(tokens))?;
    // What sizes measure, if that stands before the tree.
    let measure = header.measure;
    let mut replay = if root.has_children {
        let view = header.view(wanted);
        if let Some(origin) = header.known() {
            check(view, Some(origin))?;
        }
        // What comes after the tree is too late to be of use there.
        let figures = header.figures;
        let mut replay = begin(view, root.is_total.into(), None);
        read_below(tokens, &mut root, &mut *replay, (measure, wanted.times))?;
        root.read(tokens, |tokens| header.read(tokens))?;
        header.figures =
            if measure.is_some() { header.figures.and(figures) } else { Measures::default() };
        replay
    } else {
        begin(header.view(wanted), 0, None)
    };
    if header.schema.is_none() {
        return Err(tokens.error("no schema"));
    }
    // If no root could be read, there is none in the file.
    let has_root = root.kind.is_some() || root.sizes[ALL].is_some() || root.has_children;
    let node = has_root.then(|| root.node((measure.or(header.measure), wanted.times), None));
    let node = node.transpose().map_err(|what| tokens.error(what))?;
    let report = node.map(|root| replay.finish(&root));
    header.loaded(wanted, report).map_err(|what| tokens.error(what))
}

/// Reads the children of `root`, whose list comes next, and everything below them into `replay`. `known` is what sizes
/// measure, if that is known by now, and whether times are kept.
fn read_below(
    tokens: &mut Tokens,
    root: &mut Members,
    replay: &mut dyn AnyReplay,
    known: (Option<Measure>, bool),
) -> io::Result<()> {
    // The nodes that have not ended, and memory for the next name.
    let (mut open, mut spare) = (Vec::<Members>::new(), Vec::new());
    replay.open();
    tokens.take(b'[')?;
    loop {
        if tokens.item()? {
            tokens.take(b'{')?;
            tokens.check_depth(open.len() + 1)?;
            open.push(Members { name: mem::take(&mut spare), ..Members::default() });
        }
        let Some((members, around)) = open.split_last_mut() else { return Ok(()) };
        if members.read(tokens, Tokens::skip)? {
            replay.open();
            tokens.take(b'[')?;
            continue;
        }
        // Below the node above several roots, and below the line of a host there, names are paths.
        let of_host = |host: &Members| is_line_of_host(&host.name, host.sizes[OWN].is_some());
        let host = match around {
            [] => Some(&b""[..]),
            [host] if of_host(host) => Some(&*host.name),
            _ => None,
        };
        let node = members.node(known, Some((root, host.filter(|_| root.is_total))));
        let node = node.map_err(|what| tokens.error(what))?;
        match node.mode.kind() {
            Kind::Directory => replay.close(&node, Shown::Always),
            _ => replay.leaf(&node, true),
        }
        let newest = node.sums.all.newest;
        spare = open.pop().map(|members| members.name).unwrap_or_default();
        spare.clear();
        let above = open.last_mut().unwrap_or(root);
        above.newest = above.newest.max(newest);
    }
}

impl Members {
    /// Reads members up to the start of the children, or to the end of the object. Returns whether children come.
    /// `others` takes members that are not a node's.
    fn read(
        &mut self,
        tokens: &mut Tokens,
        mut others: impl FnMut(&mut Tokens) -> io::Result<()>,
    ) -> io::Result<bool> {
        while tokens.member()? {
            if tokens.text() == b"children" {
                if mem::replace(&mut self.has_children, true) {
                    return Err(tokens.error("children twice in one object"));
                }
                return Ok(true);
            }
            if !self.read_member(tokens)? {
                others(tokens)?;
            }
        }
        Ok(false)
    }

    /// Reads the member whose key was taken last. False if it is not a member of a node.
    fn read_member(&mut self, tokens: &mut Tokens) -> io::Result<bool> {
        match tokens.text() {
            b"name" => {
                tokens.string()?;
                if !self.has_exact_name {
                    self.name.clear();
                    self.name.extend_from_slice(tokens.text());
                }
            }
            b"name_bytes" => {
                self.name = tokens.base64()?;
                self.has_exact_name = true;
            }
            b"kind" => {
                tokens.string()?;
                self.is_total = tokens.text() == b"total";
                let kind = match self.is_total {
                    true => Some(Kind::Directory),
                    false => Kind::named(tokens.text()),
                };
                self.kind = Some(kind.ok_or_else(|| tokens.error("a kind that is not known"))?);
            }
            b"size" => self.sizes[ALL] = Some(tokens.number()?),
            b"entries" => self.entries = Some(tokens.number()?),
            b"shared" => self.sizes[SHARED] = Some(tokens.number()?),
            b"frees_least" => self.frees_least = Some(tokens.number()?),
            b"frees_most" => self.frees_most = Some(tokens.number()?),
            b"frees_exact" => self.has_too_many_extents = !tokens.boolean()?,
            b"own" => self.sizes[OWN] = Some(tokens.number()?),
            b"mode" => self.mode = Some(tokens.narrow()?),
            b"inode" => self.inode = Some(tokens.number()?),
            b"device" => self.device = Some(tokens.number()?),
            b"mount" => self.mount = Some(tokens.number()?),
            b"links" => self.links = Some(tokens.narrow()?),
            b"modified" => self.modified = Some(tokens.signed()?),
            b"newest" => self.newest = self.newest.max(Some(tokens.signed()?)),
            b"changed" => self.changed = tokens.signed()?,
            b"born" => self.born = tokens.signed()?,
            b"owner" => self.owner = Some(tokens.narrow()?),
            b"group" => self.group = Some(tokens.narrow()?),
            key => {
                let Some((whose, measure)) = other_figure(key) else { return Ok(false) };
                self.others[whose][measure] = Some(tokens.number()?);
            }
        }
        Ok(true)
    }

    /// The figures of the node, of a directory by itself, or of what is shared (`whose`), as `usual` where no member says
    /// them. Without a known `measure`, each is the size.
    fn figures(&self, whose: usize, usual: Figures, measure: Option<Measure>) -> Figures {
        let size = self.sizes[whose].unwrap_or(0);
        let Some(measure) = measure else {
            return Figures { disk: size, length: size, files: size, inodes: size, ..usual };
        };
        let others = Measure::ALL.into_iter().zip(self.others[whose]);
        let figures = others.fold(usual, |figures, (other, figure)| match figure {
            Some(figure) => figures.with(other, figure),
            None => figures,
        });
        figures.with(measure, size)
    }

    /// The node that the members describe, below a `root`, with sizes that measure this, and with its time if that is
    /// wanted. Without a known measure, a size is that of each. If it is a root that was given, the line of its host is
    /// known, or empty: its name is a path. An error says what is wrong.
    fn node(
        &self,
        (measure, has_times): (Option<Measure>, bool),
        root: Option<(&Self, Option<&[u8]>)>,
    ) -> Result<Node<'_>, String> {
        let (root, host) = root.map_or((None, Some(&b""[..])), |(root, host)| (Some(root), host));
        let is_path = host.is_some();
        let size = self.sizes[ALL].ok_or("a node without a size")?;
        let kind = self.kind.filter(|_| !self.is_total || root.is_none());
        let kind = kind.ok_or("a node without a kind")?;
        let name = match host {
            _ if self.is_total => b"",
            // With -p, it begins with the name of the host.
            Some(host) => self.name.strip_prefix(host).unwrap_or(&self.name),
            None => base_name(&self.name),
        };
        if !self.is_total {
            path::ensure_name(name, is_path)?;
        }
        if (kind == Kind::Directory) != self.has_children {
            return Err("children where none can be, or none where they should be".into());
        }
        let mode = self.mode.map_or(Mode::usual(kind), Mode);
        if mode.kind() != kind {
            return Err("a mode of another kind".into());
        }
        let modified = self.modified.filter(|_| has_times);
        let one = Figures { newest: modified, ..Figures::counts_of(kind) };
        let own = self.sizes[OWN].map(|_| self.figures(OWN, one, measure));
        let newest = match kind {
            Kind::Directory => {
                self.newest.filter(|_| has_times).max(own.and_then(|own| own.newest))
            }
            _ => modified,
        };
        let entries = self.entries.unwrap_or(1);
        let all = Figures { newest, ..self.figures(ALL, usual(kind, entries), measure) };
        let shared = self.figures(SHARED, Figures::default(), measure);
        let sums = Sums { all, shared, entries, frees: self.frees(size) };
        let inode = self.inode(root);
        Ok(Node { name, mode, own, sums, inode, ..Node::default() })
    }

    /// What deleting it frees: no more than its `size`.
    fn frees(&self, size: u64) -> Option<Freeable> {
        let extents = if self.has_too_many_extents { Freeable::TOO_MANY } else { 0 };
        let frees = Freeable { least: self.frees_least?, most: self.frees_most?, extents };
        Some(frees.saved(size))
    }

    /// Its inode. Device and mount are those of its `root` unless it has its own.
    fn inode(&self, root: Option<&Self>) -> Option<Inode> {
        let Self { modified, changed, born, owner, group, .. } = *self;
        let identity = Identity {
            mount: self.mount.or(root.and_then(|root| root.mount)).unwrap_or(0),
            device: self.device.or(root.and_then(|root| root.device)).unwrap_or(0),
            number: self.inode?,
        };
        let links = match self.links {
            None => Links::Alone,
            Some(0) => Links::Unknown,
            Some(links) => Links::Of(links),
        };
        let details = modified.zip(owner);
        let details =
            details.map(|(modified, owner)| Details { modified, changed, born, owner, group });
        Some(Inode { identity, links, details })
    }
}

/// Whose figures there are: of a node with all below it, of a directory by itself, and of what is shared.
const ALL: usize = 0;
const OWN: usize = 1;
const SHARED: usize = 2;

/// Whose figure a member is that is no size, and in which measure.
fn other_figure(key: &[u8]) -> Option<(usize, usize)> {
    let (whose, name) = match (key.strip_prefix(b"own_"), key.strip_prefix(b"shared_")) {
        (Some(name), _) => (OWN, name),
        (_, Some(name)) => (SHARED, name),
        _ => (ALL, key),
    };
    let measure = Measure::ALL.iter().position(|measure| measure.name().as_bytes() == name)?;
    Some((whose, measure))
}

/// With `-p`, names are paths.
fn base_name(name: &[u8]) -> &[u8] {
    // Searching for any slash is several times as fast as searching for the last.
    if !name.contains(&b'/') {
        return name;
    }
    name.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}
