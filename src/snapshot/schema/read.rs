//! Reads schema 1. Members may come in any order. Unknown members are skipped, because a
//! later version may write more.

use std::io::{self, Read};

use super::{Header, usual};
use crate::inode::{Identity, Links};
use crate::measure::{Figures, Kind, Measure, Mode, View};
use crate::snapshot::tokens::Tokens;
use crate::snapshot::{Origin, Snapshot, Wanted};
use crate::tally::Tally;
use crate::total::{Replay, Shown};
use crate::tree::{Details, Freeable, Inode, Node, Sums};

/// The members of an object that were read so far.
#[derive(Default)]
struct Members {
    name: Vec<u8>,
    has_exact_name: bool,
    kind: Option<NodeKind>,
    mode: Option<u16>,
    size: Option<u64>,
    entries: Option<u64>,
    shared: u64,
    /// Figures besides the size: whose, and in which measure.
    others: [[Option<u64>; 4]; 3],
    frees_least: Option<u64>,
    frees_most: Option<u64>,
    has_too_many_extents: bool,
    own: Option<u64>,
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum NodeKind {
    /// The node above several roots.
    Total,
    Of(Kind),
}

const TOTAL: Option<NodeKind> = Some(NodeKind::Total);

/// Reads a snapshot into what `tally` makes for its view. `look` gets that view and the origin before the tree is read, if
/// they stand before it.
pub(in crate::snapshot) fn read<R: Read, T: Tally>(
    tokens: &mut Tokens<R>,
    wanted: Wanted,
    tally: impl FnOnce(View) -> T,
    look: impl FnOnce(View, Option<&Origin>) -> io::Result<()>,
) -> io::Result<Snapshot> {
    let mut header = Header::default();
    let (mut tally, mut look) = (Some(tally), Some(look));
    let mut replay = None;
    // What sizes measure, if that stands before the tree.
    let (mut measure, mut has_all) = (None, false);
    // The nodes that have not ended, the root first. Elements beyond `depth` are reused, so that a name needs no
    // allocation.
    let mut open = vec![Members::default()];
    let (mut depth, mut is_first) = (0, true);
    tokens.take(b'{')?;
    loop {
        if tokens.member(is_first)? {
            is_first = false;
            if tokens.text() == b"children" {
                let members = &mut open[depth];
                if members.has_children {
                    return Err(tokens.error("children twice in one object"));
                }
                members.has_children = true;
                if depth == 0 {
                    let view = header.view(wanted);
                    if let (Some(look), Some(origin)) = (look.take(), header.known()) {
                        look(view, Some(origin))?;
                    }
                    let is_total = members.kind == TOTAL;
                    measure = header.measure;
                    // What comes after the tree is too late to be of use there.
                    header.has_all &= measure.is_some();
                    has_all = header.has_all;
                    let root_depth = is_total.into();
                    replay = tally.take().map(|tally| Replay::new(tally(view), root_depth));
                }
                if let Some(replay) = &mut replay {
                    replay.open();
                }
                tokens.take(b'[')?;
                is_first = begin(tokens, &mut open, &mut depth, true)?;
            } else if !open[depth].read(tokens)? && (depth > 0 || !header.read(tokens)?) {
                tokens.skip()?;
            }
            continue;
        }
        if depth == 0 {
            break;
        }
        let node = open[depth].node(tokens, (measure, wanted.times), Some((&open[0], depth)))?;
        let newest = node.sums.all.newest;
        if let Some(replay) = &mut replay {
            match node.mode.kind() {
                Kind::Directory => replay.close(&node, Shown::Always),
                _ => replay.leaf(&node, true),
            }
        }
        depth -= 1;
        open[depth].newest = open[depth].newest.max(newest);
        is_first = begin(tokens, &mut open, &mut depth, false)?;
    }
    let root = &open[0];
    // If no root could be read, there is none in the file.
    let has_root = root.kind.is_some() || root.size.is_some() || root.has_children;
    let report = match (header.schema, has_root) {
        (None, _) => return Err(tokens.error("no schema")),
        (_, false) => None,
        (_, true) => {
            let root = root.node(tokens, (measure.or(header.measure), wanted.times), None)?;
            let view = header.view(wanted);
            let replay = replay.or_else(|| tally.map(|tally| Replay::new(tally(view), 0)));
            replay.map(|replay| replay.finish(&root))
        }
    };
    header.has_all &= has_all || !open[0].has_children;
    header.loaded(tokens, wanted, report)
}

/// Begins the next child in a list, if there is one. Returns whether there is. None of its members has been read.
fn begin<R: Read>(
    tokens: &mut Tokens<R>,
    open: &mut Vec<Members>,
    depth: &mut usize,
    is_first: bool,
) -> io::Result<bool> {
    if !tokens.item(is_first)? {
        return Ok(false);
    }
    tokens.take(b'{')?;
    *depth += 1;
    tokens.check_depth(*depth)?;
    match open.get_mut(*depth) {
        Some(members) => members.clear(),
        None => open.push(Members::default()),
    }
    Ok(true)
}

impl Members {
    fn clear(&mut self) {
        let mut name = std::mem::take(&mut self.name);
        name.clear();
        *self = Self { name, ..Self::default() };
    }

    /// Reads the member whose key was taken last. False if it is not a member of a node.
    fn read<R: Read>(&mut self, tokens: &mut Tokens<R>) -> io::Result<bool> {
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
                self.kind = Some(match tokens.text() {
                    b"total" => NodeKind::Total,
                    name => match Kind::named(name) {
                        Some(kind) => NodeKind::Of(kind),
                        None => return Err(tokens.error("a kind that is not known")),
                    },
                });
            }
            b"size" => self.size = Some(tokens.number()?),
            b"entries" => self.entries = Some(tokens.number()?),
            b"shared" => self.shared = tokens.number()?,
            b"frees_least" => self.frees_least = Some(tokens.number()?),
            b"frees_most" => self.frees_most = Some(tokens.number()?),
            b"frees_exact" => self.has_too_many_extents = !tokens.boolean()?,
            b"own" => self.own = Some(tokens.number()?),
            b"mode" => self.mode = Some(narrow(tokens)?),
            b"inode" => self.inode = Some(tokens.number()?),
            b"device" => self.device = Some(tokens.number()?),
            b"mount" => self.mount = Some(tokens.number()?),
            b"links" => self.links = Some(narrow(tokens)?),
            b"modified" => self.modified = Some(tokens.signed()?),
            b"newest" => self.newest = self.newest.max(Some(tokens.signed()?)),
            b"changed" => self.changed = tokens.signed()?,
            b"born" => self.born = tokens.signed()?,
            b"owner" => self.owner = Some(narrow(tokens)?),
            b"group" => self.group = Some(narrow(tokens)?),
            key => {
                let Some((whose, measure)) = other_figure(key) else { return Ok(false) };
                self.others[whose][measure] = Some(tokens.number()?);
            }
        }
        Ok(true)
    }

    /// The figures `whose` size is this, and that else are as `usual`. Without a known `measure`, each is the size.
    fn figures(
        &self,
        whose: usize,
        usual: Figures,
        measure: Option<Measure>,
        size: u64,
    ) -> Figures {
        let Some(measure) = measure else {
            return Figures { disk: size, length: size, files: size, inodes: size, ..usual };
        };
        let others = Measure::ALL.into_iter().zip(self.others[whose]);
        let others = others.filter_map(|(other, figure)| Some((other, figure?)));
        others
            .fold(usual, |figures, (other, figure)| figures.with(other, figure))
            .with(measure, size)
    }

    /// The node that the members describe, at its depth, with sizes that measure this, and with its time if that is
    /// wanted. Without a known measure, a size is that of each. Device and mount are those of its root unless it has its
    /// own. Directly below the node above several roots, names are paths.
    fn node<R: Read>(
        &self,
        at: &Tokens<R>,
        (measure, has_times): (Option<Measure>, bool),
        root: Option<(&Self, usize)>,
    ) -> io::Result<Node<'_>> {
        let wrong = |what| Err(at.error(what));
        let is_path = root.is_none_or(|(root, depth)| depth == 1 && root.kind == TOTAL);
        let root = root.map(|(root, _)| root);
        let Some(size) = self.size else { return wrong("a node without a size") };
        let (name, kind) = match self.kind {
            TOTAL if root.is_none() => (b"".as_slice(), Kind::Directory),
            Some(NodeKind::Of(kind)) if is_path => (self.name.as_slice(), kind),
            Some(NodeKind::Of(kind)) => (base_name(&self.name), kind),
            _ => return wrong("a node without a kind"),
        };
        if name.is_empty() && self.kind != TOTAL {
            return wrong("a node without a name");
        }
        if (kind == Kind::Directory) != self.has_children {
            return wrong("children where none can be, or none where they should be");
        }
        let mode = self.mode.map_or(Mode::usual(kind), Mode);
        if mode.kind() != kind {
            return wrong("a mode of another kind");
        }
        let Self { modified, changed, born, owner, group, .. } = *self;
        let details = |(modified, owner)| Details { modified, changed, born, owner, group };
        let inode = self.inode.map(|inode| Inode {
            identity: Identity {
                mount: self.mount.or(root.and_then(|root| root.mount)).unwrap_or(0),
                device: self.device.or(root.and_then(|root| root.device)).unwrap_or(0),
                number: inode,
            },
            links: match self.links {
                None => Links::Alone,
                Some(0) => Links::Unknown,
                Some(links) => Links::Of(links),
            },
            details: modified.zip(owner).map(details),
        });
        let entries = self.entries.unwrap_or(1);
        let bounds = self.frees_least.zip(self.frees_most);
        let extents = if self.has_too_many_extents { Freeable::TOO_MANY } else { 0 };
        let frees = bounds.map(|(least, most)| {
            let most = most.min(size);
            Freeable { least: least.min(most), most, extents }
        });
        let of_time = |time: Option<i64>| time.filter(|_| has_times);
        let one = Figures { newest: of_time(modified), ..Figures::counts_of(kind) };
        let own = self.own.map(|own| self.figures(OWN, one, measure, own));
        let newest = match kind {
            Kind::Directory => of_time(self.newest).max(own.and_then(|own| own.newest)),
            _ => of_time(modified),
        };
        let all = Figures { newest, ..self.figures(ALL, usual(kind, entries), measure, size) };
        let shared = self.figures(SHARED, Figures::default(), measure, self.shared);
        let sums = Sums { all, shared, entries, frees };
        Ok(Node { name, mode, own, sums, inode, fingerprint: None, change: None })
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

fn narrow<N: TryFrom<u64>, R: Read>(tokens: &mut Tokens<R>) -> io::Result<N> {
    let number = tokens.number()?;
    number.try_into().map_err(|_| tokens.error("a number that is too large"))
}
