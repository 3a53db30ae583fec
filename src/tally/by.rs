//! What tells one group from another: the ending of a name, the owner, the age, the size.
//!
//! A key is bytes, whatever it stands for, so that a group is found by what an entry already holds,
//! and nothing is allocated for an entry whose group is known.

use crate::sys::Stat;

/// What is gathered under one heading.
#[derive(Clone, Copy, Debug)]
pub enum By {
    /// What ends alike; directories are a group of their own.
    Type,
    /// What belongs to one user.
    Owner {
        /// The name of a user, by the user id. Asked at the end, and only for what is shown.
        name: fn(u32) -> Option<String>,
    },
    /// What was last written to about the same time.
    Age {
        /// Seconds since the epoch at which a thing would be of no age.
        now: i64,
    },
    /// What is about the same size; directories are a group of their own.
    Size,
}

/// What it takes to tell groups apart, beside names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// When things were last written to.
    pub times: bool,
    /// Whose they are.
    pub owners: bool,
    /// Sizes in bytes.
    pub bytes: bool,
}

/// Stands for directories where names are what counts: no name has a slash in it.
const DIRECTORIES: &[u8] = b"/";

const DAY: i64 = 86_400;

/// Ages by the number of seconds that they end at. What is newer than now by less than a day is new:
/// it was written while the walk went on, or by a machine whose clock is a little ahead.
const AGES: [(i64, &str); 9] = [
    (-DAY, "in the future"),
    (DAY, "under 1 day"),
    (7 * DAY, "1 to 7 days"),
    (30 * DAY, "7 to 30 days"),
    (90 * DAY, "30 to 90 days"),
    (365 * DAY, "90 to 365 days"),
    (2 * 365 * DAY, "1 to 2 years"),
    (5 * 365 * DAY, "2 to 5 years"),
    (i64::MAX, "5 years or more"),
];

/// Sizes in bytes up to which a thing is of the same group.
const SIZES: [(u64, &str); 7] = [
    (0, "empty"),
    (4 << 10, "up to 4 KiB"),
    (64 << 10, "up to 64 KiB"),
    (1 << 20, "up to 1 MiB"),
    (16 << 20, "up to 16 MiB"),
    (256 << 20, "up to 256 MiB"),
    (u64::MAX, "more than 256 MiB"),
];

/// What groups by age and by size are called, in the order in which they are read.
const AGE_NAMES: [&str; AGES.len()] = names(&AGES);
const SIZE_NAMES: [&str; SIZES.len()] = names(&SIZES);

const fn names<T: Copy, const N: usize>(groups: &[(T, &'static str); N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut i = 0;
    while i < N {
        names[i] = groups[i].1;
        i += 1;
    }
    names
}

impl By {
    /// What each is called.
    pub const NAMES: [&str; 4] = ["type", "owner", "age", "size"];

    /// The one that is called `name`. What it may have to ask is the name of a `user`, and what time it is
    /// `now`.
    pub fn named(
        name: &str,
        user: fn(u32) -> Option<String>,
        now: impl FnOnce() -> i64,
    ) -> Option<Self> {
        match name {
            "type" => Some(By::Type),
            "owner" => Some(By::Owner { name: user }),
            "age" => Some(By::Age { now: now() }),
            "size" => Some(By::Size),
            _ => None,
        }
    }

    /// What it takes to tell the groups.
    pub fn needs(self) -> Needs {
        match self {
            By::Type => Needs::default(),
            By::Owner { .. } => Needs { owners: true, ..Needs::default() },
            By::Age { .. } => Needs { times: true, ..Needs::default() },
            By::Size => Needs { bytes: true, ..Needs::default() },
        }
    }

    /// The names of the groups in an order of their own, if they have one beside their size.
    pub fn order(self) -> Option<&'static [&'static str]> {
        match self {
            By::Type | By::Owner { .. } => None,
            By::Age { .. } => Some(&AGE_NAMES),
            By::Size => Some(&SIZE_NAMES),
        }
    }

    /// Hands the key of the group that an entry of this `size` belongs to, to `with`.
    #[inline]
    pub(super) fn with_key<R>(
        self,
        name: &[u8],
        stat: &Stat,
        size: u64,
        with: impl FnOnce(&[u8]) -> R,
    ) -> R {
        match self {
            By::Type | By::Size if stat.is_directory() => with(DIRECTORIES),
            By::Type => with(ending(name)),
            By::Owner { .. } => with(&stat.owner.to_be_bytes()),
            By::Age { now } => {
                let age = now.saturating_sub(stat.modified);
                let bucket = AGES.iter().take_while(|(end, _)| age >= *end).count();
                with(&[bucket.min(AGES.len() - 1) as u8])
            }
            By::Size => {
                let bucket = SIZES.iter().take_while(|(most, _)| size > *most).count();
                with(&[bucket as u8])
            }
        }
    }

    /// What the group under `key` is called.
    pub(super) fn label(self, key: &[u8]) -> Vec<u8> {
        match (self, key) {
            (By::Type, b"") => b"(no extension)".into(),
            (By::Type | By::Size, DIRECTORIES) => b"(directories)".into(),
            (By::Type, ending) => ending.into(),
            (By::Owner { name }, id) => {
                let id = id.try_into().map_or(0, u32::from_be_bytes);
                name(id).unwrap_or_else(|| id.to_string()).into()
            }
            (By::Age { .. }, bucket) => {
                let bucket = bucket.first().map_or(0, |bucket| usize::from(*bucket));
                AGE_NAMES.get(bucket).copied().unwrap_or_default().into()
            }
            (By::Size, bucket) => {
                let bucket = bucket.first().map_or(0, |bucket| usize::from(*bucket));
                SIZE_NAMES.get(bucket).copied().unwrap_or_default().into()
            }
        }
    }
}

/// A name from its last dot on; nothing if that is where it begins or ends.
fn ending(name: &[u8]) -> &[u8] {
    match name.iter().rposition(|byte| *byte == b'.') {
        Some(dot) if dot > 0 && dot + 1 < name.len() => &name[dot..],
        _ => b"",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings() {
        for (name, expected) in [
            (b"a.rs".as_slice(), b".rs".as_slice()),
            (b"a.tar.gz", b".gz"),
            (b".bashrc", b""),
            (b".a.swp", b".swp"),
            (b"a.", b""),
            (b"", b""),
            (b"a.\xff", b".\xff"),
            (b"..", b""),
        ] {
            assert_eq!(ending(name), expected);
        }
    }

    #[test]
    fn ages() {
        let now = 1_000_000_000;
        for (modified, expected) in [
            (now, "under 1 day"),
            (now + DAY, "under 1 day"),
            (now + DAY + 1, "in the future"),
            (now - DAY + 1, "under 1 day"),
            (now - DAY, "1 to 7 days"),
            (now - 5 * 365 * DAY, "5 years or more"),
            (i64::MIN, "5 years or more"),
            (i64::MAX, "in the future"),
        ] {
            let by = By::Age { now };
            let stat = Stat { modified, ..Stat::default() };
            let label = by.with_key(b"", &stat, 0, |key| by.label(key));
            assert_eq!(String::from_utf8_lossy(&label), expected, "{modified}");
        }
    }
}
