//! Images made by `mkfs.ext4`, whole and damaged. `tests/it/bulk.rs` compares mounted images with what the kernel says,
//! and `debugfs` those that it may not be able to mount with what debugfs says.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use rustix::fs::FileType;
use tempfile::TempDir;

use super::*;

/// Everything in an image, by its path: inode, type, length, links.
type Found = BTreeMap<Vec<u8>, (u64, FileType, u64, u16)>;

/// Numbers from a seed (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    /// From `least` on, less than `most`.
    fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least)
    }
}

/// What names lead to from the root on, in short, and how many inodes and directories are damaged.
fn all_in(volume: &RawVolume) -> (Found, usize) {
    let (found, wrong) = inodes(volume);
    let short = |(number, its): (u64, Attributes)| (number, its.file_type(), its.length, its.links);
    (found.into_iter().map(|(path, inode)| (path, short(inode))).collect(), wrong)
}

/// Inodes with their numbers, by path.
type Inodes = BTreeMap<Vec<u8>, (u64, Attributes)>;

/// Everything that names lead to from the root on, and how many inodes and directories are damaged.
fn inodes(volume: &RawVolume) -> (Inodes, usize) {
    let (mut found, mut wrong, mut seen) = (BTreeMap::new(), 0, HashSet::new());
    let budget = volume.budget();
    let mut ahead = vec![(Vec::new(), ROOT)];
    let (mut buffer, mut block) = (Vec::new(), Vec::new());
    while let Some((path, number)) = ahead.pop() {
        let Ok(raw) = inode(volume, number, &mut buffer) else {
            wrong += 1;
            continue;
        };
        found.insert(path.clone(), (number, raw.attributes(&volume.layout)));
        wrong += usize::from(!raw.is_sound(number, volume));
        if !raw.is_directory() || raw.is_inline() || raw.is_encrypted() || !seen.insert(number) {
            continue;
        }
        let mut list = || {
            let mut all = Vec::new();
            for run in runs(volume, &raw, &budget)? {
                for at in run.start..run.start + run.count {
                    block.resize(volume.layout.block_size as usize, 0);
                    volume.read_blocks(at, &mut block)?;
                    all.extend_from_slice(&block);
                    entries(&volume.layout, &block, |entry| {
                        let below = [&path, &b"/"[..], entry.name].concat();
                        ahead.push((below, entry.inode));
                        Ok(())
                    })?;
                }
            }
            io::Result::Ok(raw.has_sound_blocks(number, &volume.layout, &all))
        };
        wrong += usize::from(!list().unwrap_or(false));
    }
    (found, wrong)
}

/// The same for a directory, from the system, without inode numbers.
fn walked(top: &Path) -> Found {
    let mut found = Found::new();
    let mut ahead = vec![(Vec::new(), top.to_owned())];
    while let Some((path, at)) = ahead.pop() {
        let data = fs::symlink_metadata(&at).unwrap();
        let file_type = FileType::from_raw_mode(data.mode());
        if file_type == FileType::Directory {
            for entry in fs::read_dir(&at).unwrap().flatten() {
                let name = entry.file_name().into_encoded_bytes();
                ahead.push(([&path, &b"/"[..], &name].concat(), entry.path()));
            }
        }
        found.insert(path, (0, file_type, data.len(), data.nlink() as u16));
    }
    found
}

/// A tree with a large directory, links, and names of every length.
fn tree() -> TempDir {
    let top = tempfile::tempdir().unwrap();
    let at = |name: &str| top.path().join(name);
    for dir in ["a/b/c/d", "e", "large", "names"] {
        fs::create_dir_all(at(dir)).unwrap();
    }
    for i in 0..1_500 {
        fs::write(at(&format!("large/a name of some length {i}")), vec![b'x'; i % 7]).unwrap();
    }
    for length in (1..256).step_by(9) {
        fs::write(at(&format!("names/{}", "n".repeat(length))), "x".repeat(length * 50)).unwrap();
    }
    for i in 0..40 {
        fs::hard_link(at("large/a name of some length 3"), at(&format!("a/b/link {i}"))).unwrap();
    }
    symlink("somewhere", at("e/short")).unwrap();
    symlink("x".repeat(200), at("e/long")).unwrap();
    fs::File::create(at("e/sparse")).unwrap().set_len(5 << 32).unwrap();
    top
}

/// An image with `tree` on it, made with `options`.
fn image(tree: &Path, options: &str, size: &str) -> (TempDir, std::path::PathBuf) {
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let at = place.path().join("image");
    let mut make = Command::new("mkfs.ext4");
    make.args(["-q", "-F", "-d"]).arg(tree).args(options.split_whitespace()).arg(&at).arg(size);
    let made = make.output().unwrap();
    assert!(made.status.success(), "{options}: {}", String::from_utf8_lossy(&made.stderr));
    (place, at)
}

/// Each is another kind of image.
const OPTIONS: [&str; 12] = [
    "-b 4096",
    "-b 1024",
    "-b 2048 -I 128 -O ^metadata_csum,^64bit",
    "-b 1024 -O ^extent,^64bit,^metadata_csum,^has_journal -E lazy_itable_init=0",
    "-b 1024 -O meta_bg,^resize_inode",
    "-b 4096 -O meta_bg,^resize_inode,bigalloc -C 16384",
    "-b 1024 -O sparse_super2,^resize_inode -E packed_meta_blocks=1",
    "-b 65536 -O ^has_journal -N 4000",
    "-b 4096 -O ^filetype,^dir_index",
    "-b 4096 -O ^flex_bg,uninit_bg,^metadata_csum -g 1024",
    "-b 4096 -O casefold,large_dir,quota,project,orphan_file",
    "-b 4096 -t ext2",
];

#[test]
#[ignore = "runs mkfs.ext4"]
fn images_have_what_was_put_on_them() {
    let tree = tree();
    let expected = walked(tree.path());
    assert!(expected.len() > 1_500);
    for options in OPTIONS {
        let (_place, at) = image(tree.path(), options, "256M");
        let volume = RawVolume::open(File::open(at).unwrap()).unwrap();
        let (mut found, wrong) = all_in(&volume);
        found.retain(|path, _| !path.starts_with(b"/lost+found"));
        let mut inodes = BTreeMap::new();
        for (inode, _, _, links) in found.values() {
            *inodes.entry(*inode).or_insert((0, *links)) =
                (inodes.get(inode).map_or(1, |it: &(u32, u16)| it.0 + 1), *links);
        }
        assert!(inodes.values().any(|(met, _)| *met == 41), "{options}");
        for (path, (_, kind, length, links)) in &expected {
            let (_, is, long, linked) =
                found.remove(path).unwrap_or_else(|| panic!("{options}: {path:?}"));
            // The length and links of a directory depend on the file system.
            let is_directory = *kind == FileType::Directory;
            assert!(
                is == *kind && (is_directory || (long, linked) == (*length, *links)),
                "{options}: {path:?}"
            );
        }
        // The kernel refuses a file of 20 GiB that needs more than three levels of blocks of 1 KiB.
        let refused = usize::from(options.contains("^extent"));
        assert_eq!((found.len(), wrong), (0, refused), "{options}: {found:?}");
    }
}

/// Whatever is written over an image, there is an error or a total, and soon.
#[test]
#[ignore = "runs mkfs.ext4"]
fn nothing_in_an_image_makes_it_panic_or_go_on_for_ever() {
    let rounds = std::env::var("WEIGH_TEST_IMAGES").map_or(600, |count| count.parse().unwrap());
    let tree = tree();
    let seed = std::env::var("WEIGH_TEST_SEED").map_or(7, |seed| seed.parse().unwrap());
    let (mut opened, mut complained) = (0, 0);
    let mut random = Random(seed);
    let options = [
        "-b 1024 -N 2000",
        "-b 1024 -N 2000 -O ^extent,^64bit,^metadata_csum,^has_journal",
        "-b 4096 -O meta_bg,^resize_inode,^has_journal",
    ];
    for (i, options) in options.iter().enumerate() {
        let (_place, at) = image(tree.path(), options, "8M");
        let whole = fs::read(&at).unwrap();
        let file = fs::OpenOptions::new().read(true).write(true).open(&at).unwrap();
        // Only what is read is overwritten.
        let volume = RawVolume::open(File::open(&at).unwrap()).unwrap();
        let targets = targets(&volume);
        drop(volume);
        for _ in 0..rounds / 3 {
            let mut changed = Vec::new();
            for _ in 0..random.between(1, 6) {
                let (start, length) = targets[random.between(0, targets.len() as u64) as usize];
                let offset = start + random.between(0, length);
                let bytes: Vec<u8> = match random.between(0, 4) {
                    0 => vec![whole[offset as usize] ^ 1 << random.between(0, 8)],
                    1 => vec![0xff; random.between(1, 9) as usize],
                    2 => vec![0; random.between(1, 9) as usize],
                    _ => (0..random.between(1, 9)).map(|_| random.next() as u8).collect(),
                };
                file.write_all_at(&bytes, offset).unwrap();
                changed.push((offset, bytes.len()));
            }
            if let Ok(volume) = RawVolume::open(file.try_clone().unwrap()) {
                opened += 1;
                let mut buffer = Vec::new();
                for group in 0..volume.groups.len() {
                    let _ = each_inode(&volume, group, &mut buffer, |_, raw| {
                        std::hint::black_box((raw.attributes(&volume.layout), raw.state()));
                        Ok(())
                    });
                }
                let (kept, stop) = (Kept { times: true, owners: true }, AtomicBool::new(false));
                let packer = InodePacker::new(&volume, kept, &stop);
                let groups = (0..volume.groups.len()).map(|group| packer.group(group));
                if let Ok(found) = groups.collect::<io::Result<Vec<_>>>() {
                    let (groups, runs): (Vec<_>, Vec<_>) = found.into_iter().unzip();
                    let ((all, read), runs) = (packer.packed(groups), runs.concat());
                    let size = volume.layout.block_size;
                    let blocks: u64 = runs.iter().map(|run| run.count).sum();
                    assert!(blocks <= volume.layout.blocks && read <= whole.len() as u64);
                    for number in 0..2_002 {
                        let Some((run, _)) = all.directory(number) else { continue };
                        let Run { start, count } = run;
                        assert!(start > 0 && start + count <= volume.layout.blocks);
                        let its = all.attributes(number).unwrap();
                        assert_eq!(its.file_type(), FileType::Directory);
                        assert_eq!(its.length, count * size);
                    }
                    std::hint::black_box((all.attributes(ROOT), joined(runs, GAP / size)));
                }
                complained += usize::from(all_in(&volume).1 > 0);
            }
            for (offset, length) in changed {
                let (from, to) = (offset as usize, (offset as usize + length).min(whole.len()));
                file.write_all_at(&whole[from..to], offset).unwrap();
            }
            file.set_len(whole.len() as u64).unwrap();
        }
        assert_eq!(fs::read(&at).unwrap(), whole, "{i}: it is changed back");
    }
    println!("{rounds} images: {opened} opened, {complained} of them with damaged directories");
    assert!(opened > rounds / 4 && complained > rounds / 40);
}

/// A directory that claims 4 GiB of alternating blocks, by an indirect block that is used again and again.
#[test]
#[ignore = "runs mkfs.ext4"]
fn a_directory_in_millions_of_pieces_takes_no_more_memory_for_them() {
    let options = "-b 1024 -N 100 -O ^extent,^64bit,^metadata_csum,^has_journal";
    let tree = tempfile::tempdir().unwrap();
    let (_place, at) = image(tree.path(), options, "2G");
    let file = fs::OpenOptions::new().read(true).write(true).open(&at).unwrap();
    let [triple, double, single] = [2_000_000, 2_000_001, 2_000_002_u32];
    let block = |pointers: [u32; 2]| -> Vec<u8> {
        pointers.iter().cycle().take(256).flat_map(|pointer| pointer.to_le_bytes()).collect()
    };
    for (at, pointers) in [(triple, [double; 2]), (double, [single; 2]), (single, [1_000, 2_000])] {
        file.write_all_at(&block(pointers), u64::from(at) * 1024).unwrap();
    }
    let volume = RawVolume::open(file).unwrap();
    let mut buffer = Vec::new();
    let mut raw = inode(&volume, ROOT, &mut buffer).unwrap().bytes.to_vec();
    raw[0x4..0x8].copy_from_slice(&u32::MAX.to_le_bytes());
    raw[0x28..0x64].fill(0);
    raw[0x60..0x64].copy_from_slice(&triple.to_le_bytes());
    let error = runs(&volume, &RawInode { bytes: &raw }, &volume.budget()).unwrap_err();
    assert!(error.to_string().ends_with("a directory in too many pieces"), "{error}");
}

/// What no file system can have is an error, and not a figure.
#[test]
#[ignore = "runs mkfs.ext4"]
fn impossible_sizes_are_damage() {
    let tree = tempfile::tempdir().unwrap();
    let (_place, at) = image(tree.path(), "-b 4096 -O bigalloc -C 16384", "64M");
    let file = fs::OpenOptions::new().read(true).write(true).open(&at).unwrap();
    let volume = RawVolume::open(file.try_clone().unwrap()).unwrap();
    assert!(volume.own_space().unwrap().iter().all(|(_, size)| *size < 64 << 20));
    let journal = volume.groups.groups[0].table * 4096 + (JOURNAL - 1) * 256;
    file.write_all_at(&[0xff; 4], journal + 0x1c).unwrap();
    let error = volume.own_space().unwrap_err();
    assert!(error.to_string().ends_with("the size of an inode"), "{error}");
    for size in [0x3f, 0x40, 0xff] {
        file.write_all_at(&[size], 1024 + 0x1c).unwrap();
        let error = RawVolume::open(file.try_clone().unwrap()).unwrap_err();
        assert!(error.to_string().ends_with("the size of its clusters"), "{error}");
    }
}

/// The places of the superblock, descriptors, inodes, maps and directories.
fn targets(volume: &RawVolume) -> Vec<(u64, u64)> {
    let size = volume.layout.block_size;
    let mut targets = vec![(1024, 0x60), (1024 + 0x60, 0x220), (size * (1 + 1024 / size), 64)];
    let budget = volume.budget();
    let mut buffer = Vec::new();
    for number in [ROOT, 11, 12, 13, 14, 15, 16, 17, 18, 40] {
        let at =
            volume.groups.groups[0].table * size + (number - 1) * volume.layout.inode_size as u64;
        targets.extend([(at, 0x28), (at + 0x28, 60)]);
        let raw = inode(volume, number, &mut buffer).unwrap();
        let runs =
            if raw.is_directory() { runs(volume, &raw, &budget).unwrap() } else { Vec::new() };
        targets.extend(runs.iter().take(3).map(|run| (run.start * size, 200.min(size))));
        let maps = [0x3c, 0x54, 0x58].map(|at| u64::from(u32_at(raw.bytes, at)));
        let maps = maps
            .into_iter()
            .filter(|block| raw.is_directory() && (1..volume.layout.blocks).contains(block));
        targets.extend(maps.map(|block| (block * size, 64)));
    }
    targets
}

mod debugfs {
    //! Images that this kernel may not be able to mount, because it has no casefold, or because a block is larger than
    //! a page: what debugfs says of them. `--bulk` itself needs a mount.

    use std::fs::File;
    use std::io::Write;
    use std::process::Stdio;

    use super::*;

    /// These, and those of the other tests. Linux 6.18 on x86 mounts none with more than 4 KiB a block, and none of the
    /// others if it was built without CONFIG_UNICODE.
    const MORE: [&str; 7] = [
        "-b 8192",
        "-b 16384 -O bigalloc -C 65536",
        "-b 32768 -O ^metadata_csum,^64bit -I 128",
        "-b 65536 -O ^extent,^64bit,^has_journal",
        "-O casefold -E encoding=utf8 -b 1024",
        "-O casefold,encrypt,large_dir -E encoding=utf8",
        "-b 65536 -O casefold,large_dir",
    ];

    /// What is added to the tree: special files, large numbers, times before 1970 and after 2038.
    const CHANGES: &str = "
mknod fifo p
mknod device c 5 9
sif fifo uid 70000
sif fifo gid 80000
sif device mtime 19300101000000
sif e/sparse mtime_extra 5
sif e/short atime_extra 2
";

    /// Lets debugfs run `commands`, and returns what it prints for each.
    fn debugfs(image: &Path, flags: &[&str], commands: &str) -> Vec<String> {
        let mut child = Command::new("debugfs");
        child.args(flags).arg(image).env("TZ", "UTC").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = child.stderr(Stdio::null()).spawn().unwrap();
        let (mut stdin, commands) = (child.stdin.take().unwrap(), commands.to_owned());
        // It prints while it reads.
        let writer = std::thread::spawn(move || stdin.write_all(commands.as_bytes()).unwrap());
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        let output = String::from_utf8(output.stdout).unwrap();
        output.split("debugfs: ").filter(|said| said.contains('\n')).map(str::to_owned).collect()
    }

    /// Everything in the image: the same as `inodes`.
    fn listed(image: &Path) -> Inodes {
        let mut found = BTreeMap::new();
        let mut ahead = vec![(Vec::new(), ROOT)];
        while !ahead.is_empty() {
            let stats: String =
                ahead.iter().map(|(_, inode)| format!("stat <{inode}>\n")).collect();
            let stats = debugfs(image, &[], &stats);
            assert_eq!(stats.len(), ahead.len());
            let mut directories = Vec::new();
            for ((path, inode), said) in ahead.into_iter().zip(stats) {
                let its = attributes(inode, &said);
                if its.file_type() == FileType::Directory {
                    directories.push((path.clone(), inode));
                }
                found.insert(path, (inode, its));
            }
            let lists: String =
                directories.iter().map(|(_, inode)| format!("ls -p <{inode}>\n")).collect();
            let lists = debugfs(image, &[], &lists);
            assert_eq!(lists.len(), directories.len());
            ahead = Vec::new();
            for ((path, _), said) in directories.iter().zip(lists) {
                for line in said.lines().filter(|line| line.starts_with('/')) {
                    // /inode/mode/user/group/name/size/
                    let fields: Vec<_> = line.split('/').collect();
                    // Inode 0 is a gap between entries.
                    if fields[1] != "0" && !matches!(fields[5], "." | "..") {
                        let below = [path, &b"/"[..], fields[5].as_bytes()].concat();
                        ahead.push((below, fields[1].parse().unwrap()));
                    }
                }
            }
        }
        found
    }

    /// What `stat` of debugfs says of an inode.
    fn attributes(inode: u64, said: &str) -> Attributes {
        let after = |label: &str| {
            let rest = &said[said.find(label).unwrap_or_else(|| panic!("{label}{said}"))..];
            rest[label.len()..].split_whitespace().next().unwrap().to_owned()
        };
        let number = |label: &str| after(label).parse::<u64>().unwrap();
        assert_eq!(number("Inode: "), inode);
        // In hexadecimal: the seconds, and nanoseconds with two more bits of the seconds. Without these in an old
        // inode.
        let time = |label: &str| {
            if !said.contains(label) {
                return 0;
            }
            let text = after(label);
            let (seconds, extra) = text.split_once(':').unwrap_or((&text, "0"));
            let hex = |text: &str| u32::from_str_radix(text, 16).unwrap();
            i64::from(hex(&seconds[2..]) as i32) + (i64::from(hex(extra) & 3) << 32)
        };
        let kind: u16 = match &*after("Type: ") {
            "regular" => 0o100_000,
            "directory" => 0o40_000,
            "symlink" => 0o120_000,
            "FIFO" => 0o10_000,
            "character" => 0o20_000,
            other => panic!("{other}: {said}"),
        };
        let mode = u16::from_str_radix(&after("Mode: "), 8).unwrap();
        Attributes {
            links: number("Links: ") as u16,
            mode: kind | mode,
            blocks: number("Blockcount: "),
            length: number("Size: "),
            accessed: time("atime: "),
            modified: time("mtime: "),
            changed: time("ctime: "),
            // It prints whole seconds.
            changed_nanos: 0,
            born: time("crtime: "),
            owner: number("User: ") as u32,
            group: number("Group: ") as u32,
        }
    }

    #[test]
    #[ignore = "runs mkfs.ext4, e2fsck and debugfs"]
    fn what_cannot_be_mounted_is_what_debugfs_says() {
        let tree = tree();
        for options in MORE.iter().chain(&OPTIONS) {
            let (_place, at) = image(tree.path(), options, "256M");
            debugfs(&at, &["-w"], CHANGES);
            if options.contains("casefold") {
                // Two directories whose names fold, one of them large.
                for name in ["names", "large"] {
                    let said = debugfs(&at, &[], &format!("stat {name}\n")).concat();
                    let flags = said.split("Flags: 0x").nth(1).unwrap();
                    let flags = u32::from_str_radix(flags.split_whitespace().next().unwrap(), 16);
                    let flags = flags.unwrap() | 0x4000_0000;
                    debugfs(&at, &["-w"], &format!("sif {name} flags {flags}\n"));
                }
            }
            // It makes the indexes of large directories, and finds what the changes have made wrong.
            let checked = Command::new("e2fsck").args(["-fyD"]).arg(&at).output().unwrap();
            let checked_said = String::from_utf8_lossy(&checked.stdout);
            assert!(matches!(checked.status.code(), Some(0 | 1)), "{options}: {checked_said}");
            let volume = RawVolume::open(File::open(&at).unwrap()).unwrap();
            let ((found, wrong), expected) = (inodes(&volume), listed(&at));
            assert!(wrong == 0 && found.len() > 1_500, "{options}: {} {wrong}", found.len());
            let is_late = expected.values().any(|(_, its)| its.modified > 1 << 32);
            // Old inodes have no room for that.
            assert_eq!(is_late, !options.contains("-I 128"), "{options}");
            for (path, inode) in &expected {
                assert_eq!(found.get(path), Some(inode), "{options}: {}", path.escape_ascii());
            }
            assert_eq!(found.len(), expected.len(), "{options}");
        }
    }
}
