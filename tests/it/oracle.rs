//! Computes what is right, in the simplest way, from what `find` says of every entry, with a set of inodes for each
//! directory. `du` checks the result in turn.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::document::{Document, Node};
use crate::run::become_nobody;

/// What `find` says of one entry.
#[derive(Clone)]
pub struct Entry {
    /// From the root, which is "" itself.
    pub path: Vec<u8>,
    /// Device and inode number, as `find` prints them.
    pub inode: String,
    pub links: u64,
    blocks: u64,
    len: u64,
    /// As in `find -printf %y`: `d`, `f`, `l`, `p`, `s`.
    pub kind: u8,
    /// The name of the user it belongs to; the id where that has none.
    pub owner: String,
    /// When it was last accessed, changed and modified, in whole seconds since the epoch.
    pub times: [i64; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    Disk,
    Apparent,
    Files,
    Inodes,
}

/// What a directory weighs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    pub size: u64,
    pub entries: u64,
    pub shared: u64,
}

/// The user who reads the tree: the one who runs the tests, or one without permissions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Eyes {
    Mine,
    Nobodys,
    /// Mine, and symlinks are followed. Loops are left out.
    Following,
}

impl Measure {
    pub const ALL: [Measure; 4] = [Self::Disk, Self::Apparent, Self::Files, Self::Inodes];

    /// The flag of `weigh` that asks for it.
    pub fn flag(self) -> &'static str {
        match self {
            Self::Disk => "",
            Self::Apparent => "-s",
            Self::Files => "-f",
            Self::Inodes => "--inodes",
        }
    }

    /// What one inode weighs by itself.
    pub fn of(self, entry: &Entry) -> u64 {
        match (self, entry.kind) {
            (Self::Disk, _) => entry.blocks * 512,
            (Self::Apparent, b'f' | b'l') => entry.len,
            (Self::Files, b'f') | (Self::Inodes, _) => 1,
            (Self::Apparent | Self::Files, _) => 0,
        }
    }
}

impl Weight {
    /// What the program says of a directory.
    pub fn of(node: &Node) -> Self {
        let entries = node.entries.expect("a directory has entries");
        Weight { size: node.size, entries, shared: node.shared }
    }
}

impl Entry {
    /// The `kind` that schema 1 gives it.
    pub fn kind(&self) -> &'static str {
        match self.kind {
            b'd' => "directory",
            b'f' => "file",
            b'l' => "symlink",
            _ => "other",
        }
    }
}

/// Every entry of the tree at `root`, itself included, that can be seen.
pub fn find(root: &Path, eyes: Eyes) -> Vec<Entry> {
    let mut command = Command::new("find");
    if eyes == Eyes::Following {
        command.arg("-L");
    }
    command.arg(root).args(["-printf", FORMAT]);
    if eyes == Eyes::Nobodys {
        become_nobody(&mut command);
    }
    let output = command.output().unwrap();
    assert!(eyes != Eyes::Mine || output.status.success(), "find failed");
    read(&output.stdout, root.as_os_str().as_bytes())
}

/// What `find -printf` is to print for [`read`].
pub const FORMAT: &str = r"%D:%i %n %b %s %y %u %As %Cs %Ts %p\0";

/// What `find` printed of the tree at `root`.
pub fn read(listing: &[u8], root: &[u8]) -> Vec<Entry> {
    let lines = listing.split(|&byte| byte == 0).filter(|line| !line.is_empty());
    lines.map(|line| entry(line, root)).collect()
}

/// What every directory of `entries` weighs by itself, each inode in it counted once.
pub fn directories(entries: &[Entry], measure: Measure) -> BTreeMap<Vec<u8>, Weight> {
    let directories = entries.iter().filter(|entry| entry.kind == b'd');
    directories.map(|dir| (dir.path.clone(), weight(entries, &dir.path, measure))).collect()
}

/// Asserts that every entry is there once, and that every directory has the total of the oracle.
pub fn compare(document: &Document, entries: &[Entry], measure: Measure, what: &str) {
    let nodes = document.by_path();
    let weights = directories(entries, measure);
    for entry in entries {
        let path = String::from_utf8_lossy(&entry.path);
        let Some(node) = nodes.get(&entry.path) else { panic!("{what}: {path} is missing") };
        assert_eq!(node.kind, entry.kind(), "{what}: {path}");
        match weights.get(&entry.path) {
            Some(&expected) => {
                assert_eq!(Weight::of(node), expected, "{what}: {path}/");
            }
            None => assert_eq!(node.size, measure.of(entry), "{what}: {path}"),
        }
    }
    assert_eq!(nodes.len(), entries.len(), "{what}: something is listed that is not there");
}

/// What `du` says of `root` when asked with `flags`.
pub fn du(flags: &[&str], root: &Path) -> u64 {
    let output = Command::new("du").args(flags).arg(root).output().unwrap();
    assert!(output.status.success(), "du failed");
    let digits: Vec<u8> = output.stdout.into_iter().take_while(u8::is_ascii_digit).collect();
    String::from_utf8(digits).unwrap().parse().unwrap()
}

/// What `du` says that all `roots` come to, from within `dir`.
pub fn du_total(flags: &[&str], dir: &Path, roots: &[PathBuf]) -> u64 {
    let output =
        Command::new("du").arg("-c").args(flags).args(roots).current_dir(dir).output().unwrap();
    assert!(output.status.success(), "du failed: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let total = text.lines().last().and_then(|line| line.strip_suffix("\ttotal"));
    total.expect("the last line is the total").parse().unwrap()
}

fn weight(entries: &[Entry], dir: &[u8], measure: Measure) -> Weight {
    let mut inodes: HashMap<&[u8], (u64, &Entry)> = HashMap::new();
    for entry in entries.iter().filter(|entry| is_within(dir, &entry.path)) {
        // A directory has one name. Those that a snapshot of btrfs leaves in the place of a
        // subvolume have the same inode number, 2, all of them.
        let key = if entry.kind == b'd' { &entry.path } else { entry.inode.as_bytes() };
        inodes.entry(key).or_insert((0, entry)).0 += 1;
    }
    let mut weight = Weight::default();
    for (found, entry) in inodes.into_values() {
        weight.size += measure.of(entry);
        weight.entries += 1;
        if entry.kind != b'd' && entry.links > found {
            weight.shared += measure.of(entry);
        }
    }
    weight
}

fn is_within(dir: &[u8], path: &[u8]) -> bool {
    match path.strip_prefix(dir) {
        Some(rest) => dir.is_empty() || rest.is_empty() || rest[0] == b'/',
        None => false,
    }
}

fn entry(line: &[u8], root: &[u8]) -> Entry {
    let mut fields = line.splitn(10, |&byte| byte == b' ');
    let mut field = || fields.next().expect("ten fields");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let number = |bytes: &[u8]| text(bytes).parse().unwrap();
    let inode = text(field());
    let (links, blocks, len) = (number(field()), number(field()), number(field()));
    let kind = field()[0];
    let owner = text(field());
    let times = [(); 3].map(|()| text(field()).parse().unwrap());
    let path = field().strip_prefix(root).expect("below the root");
    let path = path.strip_prefix(b"/").unwrap_or(path).to_vec();
    Entry { path, inode, links, blocks, len, kind, owner, times }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::{Dice, Names};
    use crate::fixture::Fixture;

    #[test]
    fn agrees_with_du() {
        for seed in 0..40 {
            let fixture = Dice::new(seed).tree(Fixture::new(), Names::Hostile);
            let root = fixture.at("tree");
            let entries = find(&root, Eyes::Mine);
            let of = |measure| directories(&entries, measure)[b"".as_slice()];
            let disk = of(Measure::Disk);
            assert_eq!(disk.size, du(&["-sB1"], &root), "seed {seed}");
            assert_eq!(of(Measure::Inodes).size, du(&["-s", "--inodes"], &root), "seed {seed}");
            assert_eq!(of(Measure::Inodes).size, disk.entries, "seed {seed}");
        }
    }

    #[test]
    fn sees_what_is_shared() {
        let fixture = Fixture::new()
            .file("tree/a/f", 5000)
            .hard_link("tree/a/f", "tree/a/g")
            .hard_link("tree/a/f", "tree/b/h");
        let weights = directories(&find(&fixture.at("tree"), Eyes::Mine), Measure::Apparent);
        let weight = |shared, entries| Weight { size: 5000, entries, shared };
        assert_eq!(weights[b"a".as_slice()], weight(5000, 2));
        assert_eq!(weights[b"b".as_slice()], weight(5000, 2));
        assert_eq!(weights[b"".as_slice()], weight(0, 4));
    }
}
