//! Schema 1, as `-j` and `--save` write it. Members may come in any order, and those that are not
//! known are passed over: a later weigh may have more to say.

use std::io::{self, Read};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::tokens::Tokens;
use super::{GivenRoot, Origin, Scan};
use crate::measure::{Kind, Measure, Mode};
use crate::problem::{Operation, Problem};
use crate::tally::{Details, Inode, Node, Replay, Tally, Totals};
use crate::walk::Walked;

/// The newest schema that is read.
const SCHEMA: u64 = 1;

/// What stands beside the root.
#[derive(Default)]
struct Header {
    schema: Option<u64>,
    measure: Option<Measure>,
    is_complete: Option<bool>,
    problems: Vec<Problem>,
    /// Where it comes from, if it was saved and not merely printed.
    origin: Option<Origin>,
}

/// An object's members, as far as they have been read.
#[derive(Default)]
struct Members {
    name: Vec<u8>,
    has_exact_name: bool,
    kind: Option<NodeKind>,
    mode: Option<u16>,
    size: Option<u64>,
    entries: Option<u64>,
    shared: u64,
    own: Option<u64>,
    inode: Option<u64>,
    device: Option<u64>,
    mount: Option<u64>,
    links: Option<u32>,
    modified: Option<i64>,
    owner: u32,
    has_children: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NodeKind {
    /// The node above several roots.
    Total,
    Of(Kind),
}

const TOTAL: Option<NodeKind> = Some(NodeKind::Total);

/// Reads a scan into `tally`.
pub(super) fn read<R: Read, T: Tally>(
    tokens: &mut Tokens<R>,
    tally: T,
) -> io::Result<Scan<T::Report>> {
    let mut header = Header::default();
    let mut tally = Some(tally);
    let mut replay = None;
    // The nodes that have begun and not ended, the root first. Beyond `depth` there is room to be
    // used again, so that a name costs no allocation.
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
                    let is_total = members.kind == TOTAL;
                    replay = tally.take().map(|tally| Replay::new(tally, is_total));
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
        let node = open[depth].node(tokens, Some((&open[0], depth)))?;
        if let Some(replay) = &mut replay {
            match node.mode.kind() {
                Kind::Directory => replay.close(&node),
                _ => replay.leaf(&node),
            }
        }
        depth -= 1;
        is_first = begin(tokens, &mut open, &mut depth, false)?;
    }
    let root = &open[0];
    // Where no root could be read there is none.
    let has_root = root.kind.is_some() || root.size.is_some() || root.has_children;
    let report = match (header.schema, has_root) {
        (None, _) => return Err(tokens.error("not a scan that weigh has saved")),
        (_, false) => None,
        (_, true) => {
            let root = root.node(tokens, None)?;
            let replay = replay.or_else(|| tally.map(|tally| Replay::new(tally, false)));
            replay.map(|replay| replay.finish(&root))
        }
    };
    header.loaded(tokens, report)
}

/// Begins the next of a list of children, if there is one. True if it does, and none of the node's
/// members has been read.
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

    /// Reads the member whose key was taken last. False if it is none of a node's.
    fn read<R: Read>(&mut self, tokens: &mut Tokens<R>) -> io::Result<bool> {
        match tokens.text() {
            b"name" => {
                let name = tokens.utf8()?;
                if !self.has_exact_name {
                    self.name.clear();
                    self.name.extend_from_slice(name.as_bytes());
                }
            }
            b"name_bytes" => {
                self.name = base64(tokens)?;
                self.has_exact_name = true;
            }
            b"kind" => {
                self.kind = Some(match tokens.utf8()? {
                    "total" => NodeKind::Total,
                    name => match Kind::named(name) {
                        Some(kind) => NodeKind::Of(kind),
                        None => return Err(tokens.error("a kind that is not known")),
                    },
                });
            }
            b"size" => self.size = Some(tokens.number()?),
            b"entries" => self.entries = Some(tokens.number()?),
            b"shared" => self.shared = tokens.number()?,
            b"own" => self.own = Some(tokens.number()?),
            b"mode" => self.mode = Some(narrow(tokens)?),
            b"inode" => self.inode = Some(tokens.number()?),
            b"device" => self.device = Some(tokens.number()?),
            b"mount" => self.mount = Some(tokens.number()?),
            b"links" => self.links = Some(narrow(tokens)?),
            b"modified" => self.modified = Some(tokens.signed()?),
            b"owner" => self.owner = narrow(tokens)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The node that they make, so deep below a root: on its device and mount if they do not say
    /// another. Below the node above several roots, those are called by their paths.
    fn node<R: Read>(&self, at: &Tokens<R>, root: Option<(&Self, usize)>) -> io::Result<Node<'_>> {
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
        let inode = self.inode.map(|inode| Inode {
            identity: (
                self.mount.or(root.and_then(|root| root.mount)).unwrap_or(0),
                (self.device.or(root.and_then(|root| root.device)).unwrap_or(0), inode),
            ),
            links: self.links.map(|links| if links == 0 { u32::MAX } else { links }),
            details: self.modified.map(|modified| Details { modified, owner: self.owner }),
        });
        let entries = self.entries.unwrap_or(1);
        let totals = Totals { size, entries, shared: self.shared };
        Ok(Node { name, mode, own: self.own, totals, inode })
    }
}

/// With `-p`, names are paths.
fn base_name(name: &[u8]) -> &[u8] {
    name.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

impl Header {
    /// Reads the member whose key was taken last. False if it is none of the header's.
    fn read<R: Read>(&mut self, tokens: &mut Tokens<R>) -> io::Result<bool> {
        match tokens.text() {
            b"schema" => {
                let schema = tokens.number()?;
                if schema > SCHEMA {
                    return Err(tokens.error(format_args!(
                        "it has schema {schema}, and this weigh reads schema {SCHEMA}"
                    )));
                }
                self.schema = Some(schema);
            }
            b"measure" => {
                let measure = Measure::named(tokens.utf8()?);
                let measure = measure.ok_or_else(|| tokens.error("a measure that is not known"))?;
                self.measure = Some(measure);
            }
            b"complete" => self.is_complete = Some(tokens.boolean()?),
            b"errors" => self.problems = list(tokens, read_problem)?,
            b"time" => self.origin().time = tokens.signed()?,
            b"host" => self.origin().host = tokens.utf8()?.into(),
            b"roots" => self.origin().roots = list(tokens, GivenRoot::read)?,
            b"details" => self.origin().has_details = tokens.boolean()?,
            b"options" => {
                self.origin().options = Some(list(tokens, |tokens| Ok(tokens.utf8()?.into()))?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn origin(&mut self) -> &mut Origin {
        self.origin.get_or_insert_default()
    }

    fn loaded<R: Read, T>(self, tokens: &Tokens<R>, report: Option<T>) -> io::Result<Scan<T>> {
        let (Some(measure), Some(is_complete)) = (self.measure, self.is_complete) else {
            return Err(tokens.error("a scan that does not say what was measured, and whether all"));
        };
        let is_interrupted = !is_complete && !self.problems.iter().any(Problem::is_loss);
        let walked = Walked { report, problems: self.problems, is_interrupted, gears: Vec::new() };
        Ok(Scan { walked, measure, origin: self.origin })
    }
}

fn list<R: Read, V>(
    tokens: &mut Tokens<R>,
    read: impl Fn(&mut Tokens<R>) -> io::Result<V>,
) -> io::Result<Vec<V>> {
    let mut list = Vec::new();
    tokens.take(b'[')?;
    while tokens.item(list.is_empty())? {
        list.push(read(tokens)?);
    }
    Ok(list)
}

fn read_problem<R: Read>(tokens: &mut Tokens<R>) -> io::Result<Problem> {
    let (mut path, mut exact_path) = (Vec::new(), None);
    let (mut operation, mut symbol, mut message) = (None, String::new(), String::new());
    tokens.take(b'{')?;
    let mut is_first = true;
    while tokens.member(is_first)? {
        is_first = false;
        match tokens.text() {
            b"path" => path = tokens.utf8()?.into(),
            b"path_bytes" => exact_path = Some(base64(tokens)?),
            b"operation" => operation = Operation::named(tokens.utf8()?),
            b"error" => symbol = tokens.utf8()?.to_owned(),
            b"message" => message = tokens.utf8()?.to_owned(),
            _ => tokens.skip()?,
        }
    }
    let operation = operation.ok_or_else(|| tokens.error("an error of no known operation"))?;
    Ok(Problem::known(exact_path.unwrap_or(path), operation, &symbol, message))
}

pub(super) fn base64<R: Read>(tokens: &mut Tokens<R>) -> io::Result<Vec<u8>> {
    tokens.string()?;
    STANDARD.decode(tokens.text()).map_err(|_| tokens.error("no base64 where it should be"))
}

fn narrow<N: TryFrom<u64>, R: Read>(tokens: &mut Tokens<R>) -> io::Result<N> {
    let number = tokens.number()?;
    number.try_into().map_err(|_| tokens.error("a number that is too large"))
}
