//! The tree of the commit that is checked out. An index lists what it tracks, but HEAD still tracks files that
//! were taken out of the index and not yet committed. Comparing two ids finds that out: the index has the id of the tree that it was last
//! written as, as long as nothing was staged since (`index`).
//!
//! Of objects, only the start of one commit is read, loose or in a pack (gitformat-pack(5)).

use std::ffi::{CStr, CString};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use flate2::read::ZlibDecoder;

use super::repository::{c_within, ensure_absent, text_of};
use super::{EntryKind, WorkTreeDirectory, invalid, resolve};

/// Refs that lead to refs (refs.c, SYMREF_MAXDEPTH).
const DEEPEST: usize = 5;
/// A file with a ref has no more bytes.
const LONGEST: u64 = 4096;
/// Each work tree has refs of its own with such names (gitrepository-layout(5)). They are never packed.
const OWN_REFS: [&[u8]; 3] = [b"refs/bisect/", b"refs/rewritten/", b"refs/worktree/"];
/// No more is read of a list of refs, in bytes.
const MOST_REFS: u64 = 64 << 20;

/// The id of the tree of the commit that is checked out in the work tree whose repository is `own`, and `common`; none
/// if its branch has no commit yet.
///
/// # Errors
/// If that is not known.
pub(super) fn tree_of_head<D: WorkTreeDirectory>(
    own: &D,
    common: &D,
) -> io::Result<Option<Vec<u8>>> {
    if common.kind_at(c"reftable", false).is_some() {
        return Err(invalid("its refs are in tables"));
    }
    let Some(commit) = commit_of_head(own, common)? else { return Ok(None) };
    tree_of(common, &commit).map(Some)
}

/// Checks that a repository whose HEAD is no commit has none at all: neither the other branches of an orphan branch, nor
/// commits whose branch was lost.
///
/// # Errors
/// If there may be a commit.
pub(super) fn ensure_new<D: WorkTreeDirectory>(
    own: &D,
    common: &D,
    has_index: bool,
) -> io::Result<()> {
    ensure_absent(common, c"packed-refs")?;
    // The first `git add` writes objects and an index, and the first commit a log.
    let objects = if has_index { c"objects/pack" } else { c"objects" };
    for (dir, name) in [(common, c"refs"), (own, c"refs"), (own, c"logs"), (common, objects)] {
        ensure_no_file(dir, name, DEEPEST)?;
    }
    Ok(())
}

/// Checks that nothing but directories is at `path`, and below it.
fn ensure_no_file<D: WorkTreeDirectory>(dir: &D, path: &CStr, levels: usize) -> io::Result<()> {
    match dir.kind_at(path, false) {
        None => return Ok(()),
        Some(EntryKind::Directory) if levels > 0 => {}
        Some(_) => return Err(invalid("it has commits, and none is checked out")),
    }
    for name in dir.names_at(path)? {
        let inner = c_within(path.to_bytes(), name.as_bytes()).ok_or_else(lost)?;
        ensure_no_file(dir, &inner, levels - 1)?;
    }
    Ok(())
}

/// The id of the commit.
fn commit_of_head<D: WorkTreeDirectory>(own: &D, common: &D) -> io::Result<Option<Vec<u8>>> {
    let (mut text, mut dir) = (text_of(own, c"HEAD", LONGEST)?, own);
    let mut at = b"HEAD".to_vec();
    for _ in 0..DEEPEST {
        let Some(said) = text else {
            // A link may lead nowhere.
            ensure_absent(dir, &CString::new(&*at)?)?;
            return packed_ref(common, &at);
        };
        let Some(next) = said.strip_prefix(b"ref:") else { return id_of(&said).map(Some) };
        at = next.trim_ascii().to_vec();
        if !at.starts_with(b"refs/") || at.windows(2).any(|two| two == b"..") {
            return Err(invalid("its HEAD leads elsewhere"));
        }
        dir = if OWN_REFS.iter().any(|start| at.starts_with(start)) { own } else { common };
        text = text_of(dir, &CString::new(&*at)?, LONGEST)?;
    }
    Err(invalid("its HEAD leads nowhere"))
}

/// The id of the ref called `name` in the list of refs, if it is there.
fn packed_ref(common: &impl WorkTreeDirectory, name: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = common.file_at(c"packed-refs", true, MOST_REFS)? else {
        return ensure_absent(common, c"packed-refs").map(|()| None);
    };
    let (mut lines, mut line) = (BufReader::new(file.take(MOST_REFS)), Vec::new());
    while lines.read_until(b'\n', &mut line)? > 0 {
        if let Some((id, _)) = line.split_at_checked(line.len().saturating_sub(name.len() + 2))
            && line[id.len()..].trim_ascii() == name
            && line[id.len()] == b' '
        {
            return id_of(id).map(Some);
        }
        line.clear();
    }
    Ok(None)
}

/// An id in hexadecimal, of SHA-1 or SHA-256.
fn id_of(text: &[u8]) -> io::Result<Vec<u8>> {
    let text = text.trim_ascii();
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let bytes = text.chunks(2).map(|two| match two {
        [high, low] => u8::try_from(digit(*high)? << 4 | digit(*low)?).ok(),
        _ => None,
    });
    let id = bytes.collect::<Option<Vec<u8>>>().filter(|id| [20, 32].contains(&id.len()));
    id.ok_or_else(|| invalid("its HEAD is no commit"))
}

/// The id of the tree of the commit `id`.
fn tree_of(common: &impl WorkTreeDirectory, id: &[u8]) -> io::Result<Vec<u8>> {
    let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let (first, rest) = hex.split_at(2);
    for store in stores(common)? {
        let at = |name: &str| c_within(&store, name.as_bytes()).ok_or_else(lost);
        if let Some(file) = common.file_at(&at(&format!("{first}/{rest}"))?, true, u64::MAX)? {
            return tree_in(ZlibDecoder::new(file), true, id.len());
        }
        let packs = at("pack")?;
        for name in common.names_at(&packs)? {
            let Some(pack) = name.strip_suffix(".idx") else { continue };
            let index = at(&format!("pack/{name}"))?;
            let index = common.file_at(&index, true, u64::MAX)?;
            let Some(offset) = index.map_or(Ok(None), |index| offset_in(index, id))? else {
                continue;
            };
            let pack = at(&format!("pack/{pack}.pack"))?;
            let pack = common.file_at(&pack, true, u64::MAX)?;
            return commit_at(pack.ok_or_else(lost)?, offset, id.len());
        }
    }
    Err(lost())
}

/// Where objects are, from the repository: its own, and those that it borrows.
fn stores(common: &impl WorkTreeDirectory) -> io::Result<Vec<Vec<u8>>> {
    const OWN: &[u8] = b"objects";
    let borrowed = text_of(common, c"objects/info/alternates", LONGEST)?.unwrap_or_default();
    let borrowed = borrowed.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let borrowed = borrowed.map(|path| resolve(OWN, path));
    Ok([OWN.to_vec()].into_iter().chain(borrowed).collect())
}

/// Where the object `id` is in the pack that `index` is of (version 2).
fn offset_in(index: impl Read + Seek, id: &[u8]) -> io::Result<Option<u64>> {
    const HEADER: u64 = 8;
    const NAMES: u64 = HEADER + 256 * 4;
    let mut index = Numbers(BufReader::with_capacity(1024, index));
    if index.at::<8>(0)? != *b"\xfftOc\0\0\0\x02" {
        return Err(invalid("its packs are of another version"));
    }
    let [first, ..] = id else { return Ok(None) };
    let mut start = match first.checked_sub(1) {
        Some(before) => u64::from(index.number(HEADER + 4 * u64::from(before))?),
        None => 0,
    };
    let mut end = u64::from(index.number(HEADER + 4 * u64::from(*first))?);
    let count = u64::from(index.number(NAMES - 4)?);
    let length = id.len() as u64;
    while start < end {
        let middle = start.midpoint(end);
        let mut found = vec![0; id.len()];
        index.read(NAMES + middle * length, &mut found)?;
        match found.as_slice().cmp(id) {
            std::cmp::Ordering::Less => start = middle + 1,
            std::cmp::Ordering::Greater => end = middle,
            std::cmp::Ordering::Equal => {
                // After the names, a checksum for each.
                let offsets = NAMES + count * (length + 4);
                let offset = index.number(offsets + 4 * middle)?;
                let Some(large) = offset.checked_sub(1 << 31) else {
                    return Ok(Some(offset.into()));
                };
                let large = index.at(offsets + 4 * count + 8 * u64::from(large))?;
                return Ok(Some(u64::from_be_bytes(large)));
            }
        }
    }
    Ok(None)
}

/// The id of the tree of the commit that is at `offset` in `pack`.
fn commit_at(mut pack: impl Read + Seek, offset: u64, id: usize) -> io::Result<Vec<u8>> {
    const COMMIT: u8 = 1;
    pack.seek(SeekFrom::Start(offset))?;
    let mut byte = [0];
    pack.read_exact(&mut byte)?;
    if byte[0] >> 4 & 7 != COMMIT {
        return Err(invalid("the commit of its HEAD is stored as a difference"));
    }
    // Its length takes 64 bits, 7 in a byte.
    for _ in 0..10 {
        if byte[0] & 0x80 != 0 {
            pack.read_exact(&mut byte)?;
        }
    }
    tree_in(ZlibDecoder::new(pack), false, id)
}

/// The id in the first line of a commit, whose ids take `id` bytes. A loose object begins with its kind and length.
fn tree_in(commit: impl Read, is_loose: bool, id: usize) -> io::Result<Vec<u8>> {
    const MOST: u64 = 128;
    let mut start = Vec::new();
    commit.take(MOST).read_to_end(&mut start)?;
    let mut text = &*start;
    if is_loose {
        let end = text.iter().position(|byte| *byte == 0).ok_or_else(lost)?;
        text = text.strip_prefix(b"commit ").and_then(|_| text.get(end + 1..)).ok_or_else(lost)?;
    }
    let tree = text.strip_prefix(b"tree ").and_then(|text| text.get(..2 * id)).ok_or_else(lost)?;
    id_of(tree)
}

struct Numbers<R>(BufReader<R>);

impl<R: Read + Seek> Numbers<R> {
    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.0.seek(SeekFrom::Start(offset))?;
        self.0.read_exact(bytes)
    }

    fn at<const N: usize>(&mut self, offset: u64) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.read(offset, &mut bytes)?;
        Ok(bytes)
    }

    fn number(&mut self, offset: u64) -> io::Result<u32> {
        self.at(offset).map(u32::from_be_bytes)
    }
}

fn lost() -> io::Error {
    invalid("the commit of its HEAD is not found")
}
