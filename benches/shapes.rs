//! Makes the trees that the benchmarks walk: `shapes DIR [SHAPE…] [--entries N] [--seed S]`.
//!
//! | shape      | what it is                                                            | `--entries` |
//! |------------|-----------------------------------------------------------------------|-------------|
//! | balanced   | 10 × 10 × 10 directories, 20 files in each leaf                        | no          |
//! | wide       | one directory full of files                                            | 100,000     |
//! | deep       | a chain of directories, a file in each                                 | 1,500       |
//! | home       | a home directory: log-normal widths and sizes, some links (about 4 GB) | 450,000     |
//! | store      | a package store: most files are hard links to a few thousand inodes    | 1,000,000   |
//! | tiny       | a source tree of 500 files                                             | no          |
//! | empty      | an empty directory                                                     | no          |
//! | gdu-readme | 100,000 directories and 400,000 files, as gdu's README counts them     | no          |
//! | dumac-deep | dumac's benchmark: 4,095 directories in pairs, 100 files in each       | no          |
//!
//! Without a SHAPE it makes all of them. It prints where each one is, a path a line. The name says
//! everything that a tree depends on (`store-5000000`, with `-seed7` for a seed other than 1), and
//! a finished tree has a marker beside it (`store-5000000.made`), so that it is made only once. A
//! run that was interrupted is taken up again: the same name always means the same tree, and what
//! is there already is left as it is.
//!
//! Every random choice hangs on the seed and on the place in the tree, never on the thread that
//! makes it. Files have real blocks (so that sizes differ) but no contents: `fallocate` reserves
//! up to 256 KiB of a file without writing it.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rustix::fs::{AtFlags, FallocateFlags, Mode, OFlags};

const USAGE: &str = "usage: shapes DIR [balanced|wide|deep|home|store|tiny|empty|gdu-readme|dumac-deep]… \
    [--entries N] [--seed S]";
const SHAPES: [&str; 9] =
    ["balanced", "wide", "deep", "home", "store", "tiny", "empty", "gdu-readme", "dumac-deep"];

fn main() -> ExitCode {
    let Some(request) = parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    for shape in &request.shapes {
        match make(&request, shape) {
            Ok(place) => println!("{}", place.display()),
            Err(error) => {
                eprintln!("shapes: {shape}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

struct Request {
    dir: PathBuf,
    shapes: Vec<String>,
    entries: Option<usize>,
    seed: u64,
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Request> {
    let (mut dir, mut shapes, mut entries, mut seed) = (None, Vec::new(), None, 1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--entries" => entries = Some(arguments.next()?.replace('_', "").parse().ok()?),
            "--seed" => seed = arguments.next()?.parse().ok()?,
            flag if flag.starts_with('-') => return None,
            path if dir.is_none() => dir = Some(PathBuf::from(path)),
            shape if SHAPES.contains(&shape) => shapes.push(argument),
            _ => return None,
        }
    }
    if shapes.is_empty() {
        shapes = SHAPES.map(String::from).to_vec();
    }
    Some(Request { dir: dir?, shapes, entries, seed })
}

/// Makes one shape, unless its marker says that it is there, and returns where it is.
fn make(request: &Request, shape: &str) -> io::Result<PathBuf> {
    let default = match shape {
        "wide" => Some(100_000),
        "deep" => Some(1_500),
        "home" => Some(450_000),
        "store" => Some(1_000_000),
        _ => None,
    };
    let entries = default.map(|entries| request.entries.unwrap_or(entries));
    let mut name = String::from(shape);
    if let Some(entries) = entries {
        name += &format!("-{entries}");
    }
    if request.seed != 1 {
        name += &format!("-seed{}", request.seed);
    }
    let root = request.dir.join(&name);
    let marker = request.dir.join(name + ".made");
    if marker.exists() {
        return Ok(root);
    }
    fs::create_dir_all(&root)?;
    let (entries, seed) = (entries.unwrap_or(0), request.seed);
    match shape {
        "balanced" => balanced(&root)?,
        "wide" => wide(&root, entries)?,
        "deep" => deep(&root, entries)?,
        "home" => grow(&root, entries / 10, entries - entries / 10, seed)?,
        "store" => store(&root, entries, seed)?,
        "tiny" => grow(&root, 60, 500, seed)?,
        "gdu-readme" => grow(&root, 100_000, 400_000, seed)?,
        "dumac-deep" => pairs(&root, 12, 100)?,
        _ => {}
    }
    File::create(marker)?;
    Ok(root)
}

fn balanced(root: &Path) -> io::Result<()> {
    in_parallel(1_000, |leaf| {
        let dir = root.join(format!("{}/{}/{}", leaf / 100, leaf / 10 % 10, leaf % 10));
        fs::create_dir_all(&dir)?;
        (0..20).try_for_each(|file| write(&dir.join(format!("file{file}")), 4096))
    })
}

fn wide(root: &Path, files: usize) -> io::Result<()> {
    in_parallel(files, |file| write(&root.join(format!("file{file:07}")), 4096))
}

/// Two directories in each, on so many `levels`, the root's among them, and as many files of 70 bytes in all of them.
fn pairs(root: &Path, levels: u32, files: usize) -> io::Result<()> {
    in_parallel((1 << levels) - 1, |number| {
        // As in a heap: 0 is the root, and the parent of a number is half of it.
        let (mut names, mut at) = (Vec::new(), number);
        while at > 0 {
            names.push(if at % 2 == 1 { "d0" } else { "d1" });
            at = (at - 1) / 2;
        }
        let dir = names.iter().rev().fold(root.to_path_buf(), |dir, name| dir.join(name));
        fs::create_dir_all(&dir)?;
        (0..files).try_for_each(|file| write(&dir.join(format!("f{file}.txt")), 70))
    })
}

/// Names of one letter: 1,500 levels of them stay below PATH_MAX, so that programs which walk by
/// full path can be measured too. Made relative to the parent, so that there is no limit here.
fn deep(root: &Path, levels: usize) -> io::Result<()> {
    let mut dir = rustix::fs::open(root, DIRECTORY, Mode::empty())?;
    for _ in 0..levels {
        existing_is_fine(rustix::fs::mkdirat(&dir, c"d", Mode::from(0o755)))?;
        dir = rustix::fs::openat(&dir, c"d", DIRECTORY, Mode::empty())?;
        let new = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
        fill(&File::from(rustix::fs::openat(&dir, c"f", new, Mode::from(0o644))?), 4096)?;
    }
    Ok(())
}

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A tree as people keep them. Every directory hangs below a random earlier one, which makes a
/// mean depth of ln(directories), 11 for the home; files a directory and bytes a file are
/// log-normal; one entry in fifty is a symlink, and one directory in two hundred is a clone of the
/// one before it, made of hard links.
fn grow(root: &Path, directories: usize, files: usize, seed: u64) -> io::Result<()> {
    let mut random = Random(seed);
    let widths = spread(&mut random, files, directories, 1.4);
    let mut paths = vec![root.to_path_buf()];
    for number in 1..directories {
        let parent = &paths[random.below(number)];
        let path = parent.join(format!("{}{number}", random.word()));
        existing_is_fine(fs::create_dir(&path))?;
        paths.push(path);
    }
    let is_clone = |dir: usize| dir % 200 == 199;
    in_parallel(directories, |dir| {
        if is_clone(dir) {
            return Ok(());
        }
        let mut random = Random(seed ^ ((dir as u64 + 1) << 32));
        for number in 0..widths[dir] {
            let extension = EXTENSIONS[random.below(EXTENSIONS.len())];
            let path = paths[dir].join(format!("{}_{number}.{extension}", random.word()));
            if random.below(50) == 0 {
                existing_is_fine(symlink("../elsewhere", &path))?;
            } else {
                write(&path, random.log_normal(2_048.0, 1.6) as u64)?;
            }
        }
        Ok(())
    })?;
    in_parallel(directories / 200, |clone| {
        let to = &paths[clone * 200 + 199];
        for entry in fs::read_dir(&paths[clone * 200 + 198])? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                existing_is_fine(fs::hard_link(entry.path(), to.join(entry.file_name())))?;
            }
        }
        Ok(())
    })
}

/// A package store: `.links` holds every inode once under its hash, and packages with hashed names
/// in one long directory, 250 entries each on average, link to them (92 of 100 files; 5 are files
/// of the package's own, 3 are symlinks). `entries` counts everything, the root included.
fn store(root: &Path, entries: usize, seed: u64) -> io::Result<()> {
    // A few thousand inodes for as many entries as people have; the most popular one of n gets
    // n^(-2/3) of all links, 17,000 of 5 M, below the 65,000 that ext4 allows.
    let inodes = (entries / 250).clamp(1, 4_000).max(entries / 1_000);
    let links = root.join(".links");
    existing_is_fine(fs::create_dir(&links))?;
    in_parallel(inodes, |inode| {
        let mut random = Random(seed ^ ((inode as u64 + 1) << 32));
        write(&links.join(hash(inode, 52)), random.log_normal(2_048.0, 1.6) as u64)
    })?;
    let links = rustix::fs::open(&links, DIRECTORY, Mode::empty())?;

    let mut random = Random(seed);
    let in_packages = entries.saturating_sub(inodes + 2);
    let packages = in_packages.div_ceil(250);
    let sizes = spread(&mut random, in_packages, packages, 1.0);
    in_parallel(packages, |package| {
        let mut random = Random(seed ^ ((package as u64 + 1) << 33));
        let size = sizes[package];
        if size == 0 {
            return Ok(());
        }
        let directories = 1 + (size - 1) / 16;
        let name = format!("{}-{}-1.{}", hash(package, 32), random.word(), random.below(30));
        let mut paths = vec![root.join(name)];
        for number in 1..directories {
            let parent = &paths[random.below(number)];
            paths.push(parent.join(format!("{}{number}", random.word())));
        }
        let widths = spread(&mut random, size - directories, directories, 1.2);
        for (path, &width) in paths.iter().zip(&widths) {
            existing_is_fine(fs::create_dir(path))?;
            let dir = rustix::fs::open(path, DIRECTORY, Mode::empty())?;
            for number in 0..width {
                let extension = EXTENSIONS[random.below(EXTENSIONS.len())];
                let name = format!("{}_{number}.{extension}", random.word());
                match random.below(100) {
                    0..92 => {
                        let inode = (random.fraction().powf(1.5) * inodes as f64) as usize;
                        let inode = hash(inode, 52);
                        let linked =
                            rustix::fs::linkat(&links, inode, &dir, name, AtFlags::empty());
                        existing_is_fine(linked)?;
                    }
                    92..97 => write(&path.join(name), 1 + random.below(4096) as u64)?,
                    _ => existing_is_fine(symlink("../../elsewhere", path.join(name)))?,
                }
            }
        }
        Ok(())
    })
}

/// A file of `size` bytes with nothing in it, its blocks reserved up to 256 KiB.
fn write(path: &Path, size: u64) -> io::Result<()> {
    fill(&File::create(path)?, size)
}

fn fill(file: &File, size: u64) -> io::Result<()> {
    if size > 0 {
        // Where the file system knows no fallocate, the file stays sparse: a hole is a size too.
        let _ = rustix::fs::fallocate(file, FallocateFlags::empty(), 0, size.min(256 << 10));
        file.set_len(size)?;
    }
    Ok(())
}

/// What an interrupted run has made already is as good as new.
fn existing_is_fine<E: Into<io::Error>>(made: Result<(), E>) -> io::Result<()> {
    match made.map_err(E::into) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// Calls `work` with every number below `count`, on all cores, until one fails.
fn in_parallel(count: usize, work: impl Fn(usize) -> io::Result<()> + Sync) -> io::Result<()> {
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(Ok(()));
    let threads = thread::available_parallelism().map_or(1, |threads| threads.get());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                // Relaxed: the counter only deals out numbers; the scope's end publishes the rest.
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    if let Err(error) = work(number) {
                        next.store(count, Ordering::Relaxed);
                        if let Ok(mut failure) = failure.lock() {
                            *failure = Err(error);
                        }
                    }
                }
            });
        }
    });
    failure.into_inner().unwrap_or(Ok(()))
}

/// Splits `total` over `parts`, log-normally, with a median far below the mean.
fn spread(random: &mut Random, total: usize, parts: usize, sigma: f64) -> Vec<usize> {
    let weights: Vec<f64> = (0..parts).map(|_| random.log_normal(1.0, sigma)).collect();
    let sum: f64 = weights.iter().sum();
    let (mut reached, mut given) = (0.0, 0);
    let share = |weight| {
        reached += weight;
        let end = ((reached / sum * total as f64).round() as usize).min(total);
        let share = end - given;
        given = end;
        share
    };
    weights.into_iter().map(share).collect()
}

/// The name of number `n` in a store: `length` letters and digits that look random.
fn hash(n: usize, length: usize) -> String {
    let mut random = Random(!(n as u64) << 8);
    let alphabet = b"0123456789abcdfghijklmnpqrsvwxyz";
    (0..length).map(|_| char::from(alphabet[random.below(32)])).collect()
}

/// SplitMix64 (Steele, Lea, Flood 2014): one word of state, the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Uniform in 0 ≤ x < 1.
    fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.fraction() * bound as f64) as usize
    }

    /// Twelve uniform numbers less six stand in for a normal one.
    fn log_normal(&mut self, median: f64, sigma: f64) -> f64 {
        let normal = (0..12).map(|_| self.fraction()).sum::<f64>() - 6.0;
        median * (sigma * normal).exp()
    }

    fn word(&mut self) -> String {
        let parts = 1 + self.below(3);
        let parts: Vec<&str> = (0..parts).map(|_| WORDS[self.below(WORDS.len())]).collect();
        parts.join("-")
    }
}

const EXTENSIONS: [&str; 12] =
    ["rs", "js", "json", "h", "c", "py", "md", "txt", "so", "png", "jpg", "html"];

const WORDS: [&str; 32] = [
    "app", "archive", "assets", "backup", "bin", "build", "cache", "common", "config", "core",
    "data", "docs", "draft", "font", "icon", "index", "lib", "list", "locale", "main", "module",
    "note", "parser", "photo", "report", "shared", "src", "store", "test", "theme", "utils",
    "vendor",
];
