//! One of several shares that together make one tree. Paths alone decide what belongs to a share, so machines can
//! weigh their shares without communicating, whatever they find.
//!
//! An entry one or two levels below the root belongs to a share by a hash of its path, with everything below it. Each
//! entry above that level belongs to one share, but every share enters the directories there, to reach its own below.

use super::Verdict;
use crate::base::invalid::InvalidValue;

/// One of several shares that together make one tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Its number, from 1.
    pub number: u64,
    /// The number of shares.
    pub of: u64,
    /// The tree is split at this many levels below the root.
    pub depth: u64,
}

/// With fewer subdirectories in the root than this, the tree is split two levels below it: a home directory with 14
/// would make shares of very different sizes. With this many or more, it is split one level below, because every share
/// enters each directory above the split: with 20,000, eight shares took 1.6 times as long as one walk.
pub const MANY: usize = 1_000;

/// A directory above the level at which the tree is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AboveShares {
    depth: u64,
    hash: u64,
}

impl Share {
    /// Parses a share, such as `3/8`.
    ///
    /// # Errors
    /// The expected syntax, if it is not a share.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let share = text.split_once('/').and_then(|(number, of)| {
            Some(Self { number: number.parse().ok()?, of: of.parse().ok()?, depth: 2 })
        });
        match share {
            Some(share) if (1..=share.of).contains(&share.number) => Ok(share),
            _ => Err(InvalidValue::Share),
        }
    }

    /// This share of a tree whose root has this many subdirectories; more than [`MANY`] need not be counted.
    pub fn of_root_with(self, subdirectories: usize) -> Self {
        Self { depth: if subdirectories < MANY { 2 } else { 1 }, ..self }
    }

    /// Whether the root itself belongs to this share.
    pub fn has_root(self) -> bool {
        self.number == 1
    }

    /// What to do with the entry called `name` in the directory `above`.
    pub(super) fn verdict(self, above: AboveShares, name: &[u8], is_directory: bool) -> Verdict {
        let hash = above.below(name);
        if hash.spread() % self.of == self.number - 1 {
            Verdict::Counts
        } else {
            Verdict::of_one(false, is_directory && hash.depth < self.depth)
        }
    }
}

impl AboveShares {
    /// The root of the tree.
    pub(super) const ROOT: Self = Self { depth: 0, hash: 0xcbf2_9ce4_8422_2325 };

    /// The directory called `name` in it, if that is above the split, too.
    pub(super) fn enter(self, name: &[u8], share: Share) -> Option<Self> {
        Some(self.below(name)).filter(|below| below.depth < share.depth)
    }

    /// FNV-1a of the names on the path, each after a slash. Every machine, and every later version of weigh, must get
    /// the same hash.
    fn below(self, name: &[u8]) -> Self {
        const PRIME: u64 = 0x0100_0000_01b3;
        let mut hash = self.hash;
        for byte in b"/".iter().chain(name) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(PRIME);
        }
        Self { depth: self.depth + 1, hash }
    }

    /// Mixes the upper bits of the hash into the lower ones: FNV's lowest bit is only the parity of the lowest bits of
    /// all bytes.
    fn spread(self) -> u64 {
        let mixed = (self.hash ^ self.hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each name is in one share, and no share has far more than another; otherwise one machine would do all the work.
    #[test]
    fn names_are_shared_out_evenly() {
        for of in [1, 2, 3, 8, 64] {
            let mut counts = vec![0; of];
            for i in 0..1_000 * of {
                let name = format!("user{i}");
                let mut shares: Vec<_> = (1..=of as u64).collect();
                shares.retain(|number| {
                    let share = Share { number: *number, of: of as u64, depth: 2 };
                    share.verdict(AboveShares::ROOT, name.as_bytes(), false) == Verdict::Counts
                });
                assert_eq!(shares.len(), 1, "{name}");
                counts[shares[0] as usize - 1] += 1;
            }
            assert!(counts.iter().all(|count| (800..1_200).contains(count)), "{counts:?}");
        }
    }

    /// Shares saved by an earlier version, or on another machine, must fit together.
    #[test]
    fn a_path_is_in_the_same_share_for_ever() {
        let share = |depth| Share { number: 1, of: 8, depth };
        assert_eq!(AboveShares::ROOT.enter(b"usr", share(1)), None);
        let usr = AboveShares::ROOT.enter(b"usr", share(2));
        let Some(usr) = usr else { panic!("it is above") };
        assert_eq!(usr.enter(b"lib", share(2)), None);
        let share = |above: AboveShares, name: &[u8]| above.below(name).spread() % 8 + 1;
        let root = AboveShares::ROOT;
        let shares =
            [share(root, b"usr"), share(usr, b"lib"), share(usr, b"bin"), share(root, b"")];
        assert_eq!(shares, [2, 3, 8, 1]);
    }

    #[test]
    fn shares_are_read() {
        assert_eq!(Share::parse("3/8"), Ok(Share { number: 3, of: 8, depth: 2 }));
        for text in ["0/8", "9/8", "3", "3/", "/8", "-1/8", "0/0", "1/0", "3/8/9", "a/b", ""] {
            assert!(Share::parse(text).is_err(), "{text}");
        }
    }
}
