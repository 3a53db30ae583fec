//! Random trees: the same seed makes the same tree on every machine.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use crate::fixture::{Fixture, raw};

/// A xorshift generator: random enough for tests, without a dependency.
pub struct Dice(u64);

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// Letters and digits.
    Tame,
    /// Also any bytes that a file system allows.
    Hostile,
}

/// What a hostile name starts with: controls, bidi, invalid and half UTF-8, wide and combining
/// characters, what shells, paths, JSON and terminals take for their own.
pub const HOSTILE: [&[u8]; 16] = [
    b"new\nline",
    b"esc\x1b[2J",
    "over\u{202e}ride".as_bytes(),
    b"c1\x9b2J",
    b"c1 \xc2\x9b2J",
    b"\xff\xfe",
    b"del\x7f",
    b"half\xe6\xbc",
    "\u{301}combining e\u{301}".as_bytes(),
    "漢字".as_bytes(),
    b" lead",
    b"-rf",
    b"quote\"back\\slash",
    b"tab\tbell\x07",
    b"...",
    b"%s {} $(x)",
];

/// Lengths just below and above a block, and zero.
const LENGTHS: [usize; 8] = [0, 1, 59, 100, 4096, 4097, 9000, 70_000];

impl Dice {
    pub fn new(seed: u64) -> Self {
        // A xorshift of 0 stays there; and small seeds should not begin alike.
        Dice((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let high = usize::try_from(self.0 >> 33).unwrap();
        high % end
    }

    /// One of `all`.
    pub fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// A tree of 20 to 80 entries at `tree` in `fixture`. Some of its inodes also have links in
    /// `elsewhere`, beside it.
    pub fn tree(&mut self, mut fixture: Fixture, names: Names) -> Fixture {
        fixture = fixture.dir("tree").dir("elsewhere");
        let mut dirs = vec![PathBuf::from("tree")];
        let mut leaves: Vec<PathBuf> = Vec::new();
        for serial in 0..20 + self.below(61) {
            let path = self.of(&dirs).join(self.name(serial, names));
            let kind = self.below(100);
            if (30..50).contains(&kind) && !leaves.is_empty() {
                let existing = self.of(&leaves).clone();
                let far = self.below(8) == 0;
                let path = if far { format!("elsewhere/{serial}").into() } else { path };
                fixture = fixture.hard_link(&existing, &path);
                leaves.push(path);
                continue;
            }
            fixture = match kind {
                0..25 => {
                    dirs.push(path.clone());
                    fixture.dir(&path)
                }
                25..75 => fixture.file(&path, *self.of(&LENGTHS)),
                75..83 => fixture.symlink(raw(self.of::<&[u8]>(&HOSTILE)), &path),
                83..90 => fixture.sparse(&path, 1 << self.below(36)),
                90..95 => fixture.fifo(&path),
                _ => fixture.socket(&path),
            };
            if kind >= 25 {
                leaves.push(path);
            }
        }
        fixture
    }

    /// A name no other entry of the tree has; names are often alike up to their ends.
    fn name(&mut self, serial: usize, names: Names) -> OsString {
        let mut name = match names {
            Names::Hostile if self.below(3) == 0 => self.of(&HOSTILE).to_vec(),
            _ => self.of(&[b"".as_slice(), b"a", b"b", b"Z", b".h"]).to_vec(),
        };
        name.extend(serial.to_string().bytes());
        OsString::from_vec(name)
    }
}
