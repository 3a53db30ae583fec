//! One of several shares that together make one tree, told by paths alone: so machines that know nothing of one another
//! weigh what is theirs, whatever they find.
//!
//! What lies one or two levels below the root belongs to a share by a hash of its path, with all that is below it. What
//! is above belongs to one each; but every share enters the directories there, for what is theirs below.

use super::Verdict;

/// One of several shares that together make one tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Which one, from 1 on.
    pub number: u64,
    /// How many there are.
    pub of: u64,
    /// So many levels below the root the tree is shared out.
    pub depth: u64,
}

/// Below so many subdirectories in the root, the tree is shared out two levels below it: a home directory of 14 would
/// make shares of very different size. From so many on it is one level, for every share enters each directory above:
/// for 20,000, eight shares took 1.6 times as long as one walk.
pub const MANY: usize = 1_000;

/// A directory that lies above where a tree is shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AboveShares {
    depth: u64,
    hash: u64,
}

impl Share {
    /// Reads one, as in `3/8`.
    ///
    /// # Errors
    /// What a share looks like, if this is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(number, of)| {
            Some(Self { number: number.parse().ok()?, of: of.parse().ok()?, depth: 2 })
        });
        let is_one = |share: &Self| (1..=share.of).contains(&share.number);
        numbers.filter(is_one).ok_or_else(|| "a share is 1/8, 2/8 … or 8/8".to_owned())
    }

    /// It, of a tree whose root has so many subdirectories: [`MANY`] are as good as more.
    pub fn of_root_with(self, subdirectories: usize) -> Self {
        Self { depth: if subdirectories < MANY { 2 } else { 1 }, ..self }
    }

    /// Whether the root itself is in it.
    pub fn has_root(self) -> bool {
        self.number == 1
    }

    /// What becomes of the entry called `name` in the directory `above`.
    pub(super) fn verdict(self, above: AboveShares, name: &[u8], is_directory: bool) -> Verdict {
        let hash = above.below(name);
        let is_ours = hash.spread() % self.of == self.number - 1;
        match is_ours {
            true => Verdict::Counts,
            false if is_directory && hash.depth < self.depth => Verdict::Passes,
            false => Verdict::LeftOut,
        }
    }
}

impl AboveShares {
    /// The root of the tree.
    pub(super) const ROOT: Self = Self { depth: 0, hash: 0xcbf2_9ce4_8422_2325 };

    /// The directory called `name` in it, if that lies above where the tree is shared out, too.
    pub(super) fn enter(self, name: &[u8], share: Share) -> Option<Self> {
        Some(self.below(name)).filter(|below| below.depth < share.depth)
    }

    /// FNV-1a of the names on the way, each with a slash before it. Every machine, and every later weigh, has to come
    /// to the same.
    fn below(self, name: &[u8]) -> Self {
        const PRIME: u64 = 0x0100_0000_01b3;
        let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(PRIME);
        let hash = b"/".iter().chain(name).fold(self.hash, mix);
        Self { depth: self.depth + 1, hash }
    }

    /// Its hash with the upper bits in the lower ones: FNV's lowest bit is the parity of those of all bytes.
    fn spread(self) -> u64 {
        let mixed = (self.hash ^ self.hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each name is in one share, and no share has far more than another; else one machine does the work of all.
    #[test]
    fn names_are_shared_out_evenly() {
        for of in [1, 2, 3, 8, 64] {
            let mut counts = vec![0; of];
            for i in 0..1_000 * of {
                let name = format!("user{i}");
                let is_in = |number: &u64| {
                    let share = Share { number: *number, of: of as u64, depth: 2 };
                    share.verdict(AboveShares::ROOT, name.as_bytes(), false) == Verdict::Counts
                };
                let shares: Vec<_> = (1..=of as u64).filter(is_in).collect();
                assert_eq!(shares.len(), 1, "{name}");
                counts[shares[0] as usize - 1] += 1;
            }
            assert!(counts.iter().all(|count| (800..1_200).contains(count)), "{counts:?}");
        }
    }

    /// Shares that were saved by an earlier weigh, or on another machine, are shares of the same.
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
