//! Figures, the views of them, measures with their units, and kinds of entries.
//!
//! This part imports only what says that a value is invalid, so that all others can use it.

use crate::base::invalid::InvalidValue;

/// Seconds in a day.
pub const DAY: i64 = 86_400;

/// Which of the [`Figures`] of a node is its size.
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

/// What an inode, or everything at and below a node, comes to: every inode once. Saturated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// [`Measure::Disk`].
    pub disk: u64,
    /// [`Measure::Apparent`].
    pub length: u64,
    /// [`Measure::Files`].
    pub files: u64,
    /// [`Measure::Inodes`].
    pub inodes: u64,
    /// The newest time, in seconds since the epoch, if times are kept: a maximum and not a sum.
    pub newest: Option<i64>,
}

/// How a node of a comparison changed. The sizes are in the measure of its tree's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<'a> {
    /// What it is now, or was before it was gone; none for a group of entries.
    pub kind: Option<Kind>,
    /// Its size before; none if it is new.
    pub was: Option<u64>,
    /// Its size now; none if it is gone.
    pub is: Option<u64>,
    /// The amount by which its size changed; of a directory, the sum over everything in it, and itself.
    pub churn: u64,
    /// How many entries changed, itself included.
    pub entries: u64,
    /// Where a directory was before, as a path below the root, if it was moved.
    pub moved_from: Option<&'a [u8]>,
}

/// What is shown of figures, and by what the largest are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The figure that is the size.
    pub measure: Measure,
    /// Whether the largest are chosen by their newest time, instead of by size, or in a comparison by churn.
    pub by_time: bool,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Disk, Self::Apparent, Self::Files, Self::Inodes];

    /// The measure that has a name in JSON.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.name() == name)
    }

    /// The measure's name, as JSON has it.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// What people call it.
    pub fn noun(self) -> &'static str {
        self.words().1
    }

    /// The unit of its numbers: `bytes`, `files` or `inodes`.
    pub fn unit(self) -> &'static str {
        self.words().2
    }

    /// Its name, its noun and its unit.
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Measure::Disk => ("disk", "disk usage", "bytes"),
            Measure::Apparent => ("apparent", "apparent sizes", "bytes"),
            Measure::Files => ("files", "numbers of files", "files"),
            Measure::Inodes => ("inodes", "numbers of inodes", "inodes"),
        }
    }
}

/// Which measures a source knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measures([bool; Measure::ALL.len()]);

impl Measures {
    /// All of them.
    pub const ALL: Self = Self([true; Measure::ALL.len()]);

    /// Whether this one is among them.
    pub fn contains(self, measure: Measure) -> bool {
        self.0[measure as usize]
    }

    /// Those that are among `other`, too.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Measure::ALL.into_iter().filter(|it| self.contains(*it) && other.contains(*it)).collect()
    }
}

impl FromIterator<Measure> for Measures {
    fn from_iter<I: IntoIterator<Item = Measure>>(measures: I) -> Self {
        let mut these = Self::default();
        measures.into_iter().for_each(|measure| these.0[measure as usize] = true);
        these
    }
}

impl Figures {
    /// What JSON calls the time of an inode.
    pub const TIME: &str = "modified";

    /// Those of one inode. `blocks` are of 512 bytes, whatever the block size of the file system is (stat(3type)), and
    /// `length` is in bytes.
    #[inline]
    pub fn of(kind: Kind, blocks: u64, length: u64, newest: Option<i64>) -> Self {
        let length = if matches!(kind, Kind::File | Kind::Symlink) { length } else { 0 };
        Self { disk: blocks.saturating_mul(512), length, newest, ..Self::counts_of(kind) }
    }

    /// What one inode of this kind counts, without its bytes.
    #[inline]
    pub fn counts_of(kind: Kind) -> Self {
        Self { files: u64::from(kind == Kind::File), inodes: 1, ..Self::default() }
    }

    /// The same with this `size` in one measure.
    #[must_use]
    pub fn with(mut self, measure: Measure, size: u64) -> Self {
        *match measure {
            Measure::Disk => &mut self.disk,
            Measure::Apparent => &mut self.length,
            Measure::Files => &mut self.files,
            Measure::Inodes => &mut self.inodes,
        } = size;
        self
    }

    /// The figure that measures `measure`.
    #[inline]
    pub fn get(&self, measure: Measure) -> u64 {
        match measure {
            Measure::Disk => self.disk,
            Measure::Apparent => self.length,
            Measure::Files => self.files,
            Measure::Inodes => self.inodes,
        }
    }
}

impl Change<'_> {
    /// What it is, in JSON and tables.
    pub fn kind_name(&self) -> &'static str {
        self.kind.map_or("group", Kind::name)
    }

    /// By how much its size changed. A moved directory counts as unchanged.
    pub fn difference(&self) -> i128 {
        match self.moved_from {
            None => i128::from(self.is.unwrap_or(0)) - i128::from(self.was.unwrap_or(0)),
            Some(_) => 0,
        }
    }
}

impl View {
    /// The size.
    #[inline]
    pub fn size(self, figures: &Figures) -> u64 {
        figures.get(self.measure)
    }

    /// What bars and the smallest size to be shown compare: the size, or in a comparison the churn.
    #[inline]
    pub fn weight(self, figures: &Figures, change: Option<&Change<'_>>) -> u64 {
        change.map_or_else(|| self.size(figures), |change| change.churn)
    }

    /// What the largest are chosen by: the largest rank comes first. What has no time has the lowest of times.
    #[inline]
    pub fn rank(self, figures: &Figures, change: Option<&Change<'_>>) -> i128 {
        self.rank_of(self.weight(figures, change), figures.newest)
    }

    /// The rank of what has this weight and this time.
    #[inline]
    pub fn rank_of(self, weight: u64, newest: Option<i64>) -> i128 {
        match self.by_time {
            false => weight.into(),
            true => newest.map_or(i128::MIN, i128::from),
        }
    }

    /// What JSON calls it.
    pub fn name(self) -> &'static str {
        if self.by_time { "newest" } else { self.measure.name() }
    }

    /// The unit of what it ranks by: that of its measure, or `seconds` since the epoch.
    pub fn unit(self) -> &'static str {
        if self.by_time { "seconds" } else { self.measure.unit() }
    }
}

impl From<Measure> for View {
    fn from(measure: Measure) -> Self {
        Self { measure, by_time: false }
    }
}

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
    pub const fn name(self) -> &'static str {
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
pub fn parse_size(text: &str) -> Result<u64, InvalidValue> {
    let text = text.trim();
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| InvalidValue::Size)?;
    let unit = unit.trim().to_ascii_lowercase();
    let binary = unit.strip_suffix("ib").or_else(|| unit.strip_suffix('i'));
    let (prefix, thousand) = match (binary, unit.strip_suffix('b')) {
        (Some(prefix), _) => (prefix, 1024_u64),
        (None, Some(prefix)) => (prefix, 1000),
        (None, None) => (&*unit, 1024),
    };
    let power = match ["k", "m", "g", "t", "p", "e"].iter().position(|known| *known == prefix) {
        Some(position) => position as u32 + 1,
        None if matches!(&*unit, "" | "b") => 0,
        None => return Err(InvalidValue::Size),
    };
    // A cast from a float saturates.
    Ok((number * thousand.pow(power) as f64).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_of_what_stat_tells() {
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
            let figures = Figures::of(kind, 8, 5000, None);
            assert_eq!(figures.get(measure), expected, "{measure:?} {kind:?}");
            assert_eq!(View::from(measure).rank(&figures, None), i128::from(expected));
            assert_eq!(figures.with(measure, 7).get(measure), 7);
        }
        assert_eq!(Figures::of(File, u64::MAX, 0, None).disk, u64::MAX);
    }

    #[test]
    fn later_times_rank_higher() {
        let view = View { by_time: true, ..View::default() };
        let times = [i64::MIN, -1_000, -1, 0, 1, 1_763_683_441, i64::MAX].map(Some);
        let figures = [None].into_iter().chain(times).rev();
        let ranks =
            figures.map(|newest| view.rank(&Figures { newest, ..Figures::default() }, None));
        assert!(ranks.is_sorted_by(|later, earlier| later > earlier));
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
