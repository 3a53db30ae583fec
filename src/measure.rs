//! Measures, their units, and kinds of entries.
//!
//! This part imports nothing, so that all others can use it.

/// What a total measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// Bytes allocated on the device: `st_blocks × 512` of everything, directories included.
    #[default]
    Disk,
    /// Bytes of content: `st_size` of regular files and symlinks, as GNU `du --apparent-size` 9.2.
    Apparent,
    /// Regular files.
    Files,
    /// Inodes of every kind, directories included.
    Inodes,
    /// The latest time of all inodes, directories included: a maximum and not a sum.
    Newest(Time),
}

/// Which of an inode's times (inode(7)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// When it was last read from.
    Accessed,
    /// When it was last written to, renamed, linked, or changed in owner or mode.
    Changed,
    /// When it was last written to.
    Modified,
}

impl Measure {
    /// The weight of one inode. `blocks` are of 512 bytes, whatever the block size of the file system is
    /// (stat(3type)); `length` is in bytes, and `time` in seconds since the epoch.
    pub fn weight(
        self,
        kind: Kind,
        blocks: u64,
        length: u64,
        time: impl FnOnce(Time) -> i64,
    ) -> u64 {
        match (self, kind) {
            (Measure::Newest(which), _) => weight_of_time(time(which)),
            (Measure::Disk, _) => blocks.saturating_mul(512),
            (Measure::Apparent, Kind::File | Kind::Symlink) => length,
            (Measure::Files, Kind::File) | (Measure::Inodes, _) => 1,
            (Measure::Apparent | Measure::Files, _) => 0,
        }
    }

    /// The measure that has a name in JSON.
    pub fn named(name: &str) -> Option<Self> {
        let measures = [Measure::Disk, Measure::Apparent, Measure::Files, Measure::Inodes];
        measures.into_iter().find(|measure| measure.name() == name)
    }

    /// The measure's name, as JSON has it.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Disk => "disk",
            Measure::Apparent => "apparent",
            Measure::Files => "files",
            Measure::Inodes => "inodes",
            Measure::Newest(_) => "newest",
        }
    }

    /// The unit of its numbers: `bytes`, `files`, `inodes`, or `seconds` since the epoch.
    pub fn unit(self) -> &'static str {
        match self {
            Measure::Disk | Measure::Apparent => "bytes",
            Measure::Files => "files",
            Measure::Inodes => "inodes",
            Measure::Newest(_) => "seconds",
        }
    }
}

/// The weight of a time in seconds since the epoch: the later, the larger. No time has the weight 0, which would be
/// 290 billion years ago.
pub fn weight_of_time(seconds: i64) -> u64 {
    seconds.cast_unsigned() ^ SIGN
}

/// The time whose [`weight_of_time`] this is.
pub fn time_of_weight(weight: u64) -> i64 {
    (weight ^ SIGN).cast_signed()
}

/// The sign bit of a number.
const SIGN: u64 = 1 << 63;

/// What kind of inode it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link.
    Symlink,
    /// A device, a FIFO, a socket, or unknown.
    Other,
}

impl Kind {
    /// The kind that has a name in JSON.
    pub fn named(name: &[u8]) -> Option<Self> {
        let kinds = [Kind::Directory, Kind::File, Kind::Symlink, Kind::Other];
        kinds.into_iter().find(|kind| kind.name().as_bytes() == name)
    }

    /// The kind's name, as JSON has it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Directory => "directory",
            Kind::File => "file",
            Kind::Symlink => "symlink",
            Kind::Other => "other",
        }
    }
}

/// File type and permission bits, as in `st_mode` (inode(7)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mode(pub u16);

impl Mode {
    /// `S_IFMT`, the bits that hold the file type.
    const TYPE: u16 = 0o170_000;
    /// A directory without permission bits: the node above several roots.
    pub const DIRECTORY: Mode = Mode(0o040_000);

    /// The usual permissions of each kind. Snapshots do not contain them.
    pub fn usual(kind: Kind) -> Mode {
        match kind {
            Kind::Directory => Mode(0o040_755),
            Kind::File => Mode(0o100_644),
            Kind::Symlink => Mode(0o120_777),
            Kind::Other => Mode(0),
        }
    }

    /// The file type bits alone.
    pub fn file_type(self) -> u16 {
        self.0 & Self::TYPE
    }

    /// The kind that the file type bits name.
    pub fn kind(self) -> Kind {
        match self.file_type() {
            0o040_000 => Kind::Directory,
            0o100_000 => Kind::File,
            0o120_000 => Kind::Symlink,
            _ => Kind::Other,
        }
    }
}

/// Reads a size: a number, perhaps with a fraction, and a unit. `k`, `K` and `KiB` are 1024 bytes, `kB` and `KB` are
/// 1000, and likewise with M, G, T, P and E. Without a unit, or with `B`, it is in bytes. Saturates.
///
/// # Errors
/// What a valid size looks like.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let usage = || "a size is a number and a unit, as in 512, 10k, 10KiB, 10kB, 1.5G".to_owned();
    let number: f64 = number.parse().map_err(|_| usage())?;
    let unit = unit.trim().to_ascii_lowercase();
    let (prefix, thousand) = match unit.as_str() {
        "" | "b" => ("", 1_u64),
        unit => match unit.strip_suffix("ib") {
            Some(prefix) => (prefix, 1024),
            None => match unit.strip_suffix('b') {
                Some(prefix) => (prefix, 1000),
                None => (unit.strip_suffix('i').unwrap_or(unit), 1024),
            },
        },
    };
    let power = match prefix {
        "" => 0,
        prefix => match ["k", "m", "g", "t", "p", "e"].iter().position(|p| *p == prefix) {
            Some(position) => position as u32 + 1,
            None => return Err(usage()),
        },
    };
    if power == 0 && thousand != 1 {
        return Err(usage());
    }
    // A cast from a float saturates.
    Ok((number * thousand.pow(power) as f64).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights() {
        use Kind::*;
        for (measure, kind, expected) in [
            (Measure::Disk, Directory, 4096),
            (Measure::Disk, Other, 4096),
            (Measure::Apparent, File, 5000),
            (Measure::Apparent, Symlink, 5000),
            (Measure::Apparent, Directory, 0),
            (Measure::Files, File, 1),
            (Measure::Files, Symlink, 0),
            (Measure::Inodes, Other, 1),
        ] {
            let weight = measure.weight(kind, 8, 5000, |_| 0);
            assert_eq!(weight, expected, "{measure:?} {kind:?}");
        }
        assert_eq!(Measure::Disk.weight(File, u64::MAX, 0, |_| 0), u64::MAX);
    }

    #[test]
    fn later_times_weigh_more() {
        let times = [i64::MIN, -1_000, -1, 0, 1, 1_763_683_441, i64::MAX];
        let weights = times.map(weight_of_time);
        assert!(weights.is_sorted());
        assert_eq!(weights.map(time_of_weight), times);
    }

    #[test]
    fn sizes() {
        for (text, expected) in [
            ("512", 512),
            ("0", 0),
            ("10k", 10_240),
            ("10K", 10_240),
            ("10KiB", 10_240),
            ("10Ki", 10_240),
            ("10kB", 10_000),
            ("10 MB", 10_000_000),
            ("1.5G", 1_610_612_736),
            ("3b", 3),
            ("16E", u64::MAX),
            ("99999999999999999999999", u64::MAX),
        ] {
            assert_eq!(parse_size(text), Ok(expected), "{text}");
        }
        for text in ["", "k", "1.5.2", "-1", "10q", "ib", "1i", "1iB", "1e3", "nan"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
