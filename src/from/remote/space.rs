//! How full file systems on another machine are, as its `df -P -k` and `stat -f` print it.

use super::connection::MOST_SHOWN;
use crate::sys::Space;

/// A file system around a path, as the other machine describes it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ToldSpace {
    pub(super) point: Vec<u8>,
    pub(super) space: Space,
    /// Whether it knows its inodes, and its size in bytes, because there is a `stat -f`.
    pub(super) is_exact: bool,
}

/// The file systems around the paths that were asked for, in their order, as these `lines` describe them; or why `df` failed.
pub(super) fn read(lines: &[Vec<u8>]) -> Vec<Result<ToldSpace, String>> {
    let mut told = Vec::<Result<ToldSpace, String>>::new();
    for line in lines {
        match (line.strip_prefix(b"stat "), told.last_mut()) {
            (Some(figures), Some(Ok(last))) => {
                if let Some(space) = exact(figures) {
                    (last.space, last.is_exact) = (space, true);
                }
            }
            _ => told.push(of_df(line).ok_or_else(|| {
                // As in `df: /x: No such file or directory`.
                let text = String::from_utf8_lossy(&line[..line.len().min(MOST_SHOWN)]);
                text.rsplit_once(": ").map_or(&*text, |(_, why)| why).to_owned()
            })),
        }
    }
    told
}

/// A line of `df -P -k`: name, KiB in all, used and available, per cent, mount point (POSIX.1-2017, df). Names and mount
/// points may have blanks.
fn of_df(line: &[u8]) -> Option<ToldSpace> {
    let start = line.windows(2).position(|it| it == b" /")?;
    // Names of devices and mount points may have a slash after a blank, but only the mount point has the numbers before it.
    let starts = (start..line.len()).filter(|at| line[*at..].starts_with(b" /"));
    starts.into_iter().find_map(|at| {
        let (before, point) = (str::from_utf8(&line[..at]).ok()?, &line[at + 1..]);
        let mut fields = before.split_ascii_whitespace().rev();
        let share = fields.next()?;
        let is_share = share == "-" || share.strip_suffix('%').is_some_and(|it| !it.is_empty());
        let mut number = || Some(fields.next()?.parse::<u64>().ok()?.saturating_mul(1024));
        let (available, used, size) = (number()?, number()?, number()?);
        let space = Space { size, free: size.saturating_sub(used), available, ..Space::default() };
        is_share.then(|| ToldSpace { point: point.to_vec(), space, is_exact: false })
    })
}

/// The output of `stat -f -c '%S %b %f %a %c %d'`: the size of a block, how many there are, are free and are available, and
/// how many inodes there are and are free. The `stat` of BSD prints something else.
fn exact(figures: &[u8]) -> Option<Space> {
    let figures = str::from_utf8(figures).ok()?.split_ascii_whitespace();
    let figures: Vec<u64> = figures.map(|it| it.parse().ok()).collect::<Option<_>>()?;
    let [block, all, free, available, inodes, free_inodes] = figures[..] else { return None };
    let [size, free, available] = [all, free, available].map(|it| it.saturating_mul(block));
    let used_inodes = inodes.saturating_sub(free_inodes);
    Some(Space { size, free, available, inodes, used_inodes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_df_are_read() {
        let space = |size: u64, used: u64, available: u64| Space {
            size: size << 10,
            free: (size - used) << 10,
            available: available << 10,
            ..Space::default()
        };
        for (line, expected) in [
            (
                "/dev/vda  263940000 36000000 59000000  38% /",
                Some(("/", space(263_940_000, 36_000_000, 59_000_000))),
            ),
            ("a b /c    10 4 5  45% /srv/a b /c", Some(("/srv/a b /c", space(10, 4, 5)))),
            ("none 0 0 0 - /proc", Some(("/proc", space(0, 0, 0)))),
            ("//nas/x 10 4 5 45% /mnt/x", Some(("/mnt/x", space(10, 4, 5)))),
            ("Filesystem 1024-blocks Used Available Capacity Mounted on", None),
            ("x 1 2 % /", None),
            ("", None),
        ] {
            let found = of_df(line.as_bytes());
            let expected = expected.map(|(point, space)| ToldSpace {
                point: point.into(),
                space,
                is_exact: false,
            });
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn what_stat_prints_counts_if_it_is_that_of_linux() {
        let line = |text: &str| text.as_bytes().to_vec();
        let told = read(&[
            line("/dev/vda 100 50 40 56% /"),
            line("stat 4096 25 12 10 1000 990"),
            line("df: /x: No such file or directory"),
            line("/dev/vdb 100 50 40 56% /b"),
            line("stat -c"),
        ]);
        let space =
            Space { size: 102_400, free: 49_152, available: 40_960, inodes: 1000, used_inodes: 10 };
        assert_eq!(told[0], Ok(ToldSpace { point: b"/".into(), space, is_exact: true }));
        assert_eq!(told[1], Err("No such file or directory".to_owned()));
        assert!(told[2].as_ref().is_ok_and(|it| !it.is_exact && it.space.inodes == 0));
    }
}
