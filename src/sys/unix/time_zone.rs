//! Each zone is a file (tzfile(5)).

use std::env;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use rustix::fs::{Mode, OFlags, open};

/// Where the system has them.
const DIRECTORIES: [&str; 3] = ["/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo"];

/// The zone of the system.
pub fn of_system() -> Option<TimeZone> {
    read(Path::new("/etc/localtime"))
}

/// The zone in the file called `name` in a directory of zones, or at the absolute path `name`.
pub fn named(name: &str) -> Option<TimeZone> {
    let own = env::var_os("TZDIR").filter(|directory| !directory.is_empty());
    let directories = own.map(PathBuf::from).into_iter().chain(DIRECTORIES.map(PathBuf::from));
    // To join an absolute path gives that path.
    directories.map(|directory| directory.join(name)).find_map(|path| read(&path))
}

/// The zone in the file at `path`. Its name is for `%Q` in formats.
fn read(path: &Path) -> Option<TimeZone> {
    /// The longest file of the database has 4 KiB (2025b).
    const MOST: u64 = 1 << 20;
    // Without NONBLOCK, to open a FIFO is to wait for a writer.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(open(path, flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut content = Vec::new();
    file.take(MOST).read_to_end(&mut content).ok()?;
    let target = fs::read_link(path).unwrap_or_default();
    let mut paths = [path.to_str(), target.to_str()].into_iter().flatten();
    let below = paths.find_map(|path| path.rsplit_once("zoneinfo/"));
    let name = below.map_or_else(|| path.to_string_lossy(), |(_, name)| name.into());
    TimeZone::tzif(&name, &content).ok()
}
