//! ext2, ext3 and ext4 read in bulk. On images made with random options, the bytes are those of the walk of the same
//! mount, in every measure. If it is not possible, there is a walk, and a line that says why.
#![cfg(target_os = "linux")]

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::dice::{Dice, Names};
use crate::fixture::Fixture;
use crate::rounds::{for_seeds, rounds};
use crate::run::{in_namespace, try_in_namespace, weigh};

/// The numbers of images, of which a quarter cannot be made or mounted, and of walks in a storm.
const IMAGES: (usize, usize) = (10, 700);
const STORMS: (usize, usize) = (6, 200);
const DAMAGED: (usize, usize) = (30, 2_000);

/// Options of mkfs.ext4. Those of one group exclude each other, and the first is the usual one.
const OPTIONS: [&[&str]; 9] = [
    &["-b 4096", "-b 1024", "-b 2048"],
    &["", "-t ext3", "-t ext2", "-O ^extent,^64bit", "-O ^64bit"],
    &["", "-I 128", "-I 512", "-I 1024"],
    &["", "-O ^metadata_csum", "-O ^metadata_csum,uninit_bg"],
    &["", "-O meta_bg,^resize_inode", "-O sparse_super2", "-O ^sparse_super,^resize_inode"],
    &["", "-O ^flex_bg", "-G 4", "-E packed_meta_blocks=1"],
    &["", "-O inline_data", "-O ^dir_index", "-O ^filetype", "-O large_dir", "-O casefold"],
    &[
        "",
        "-O quota,project",
        "-O orphan_file",
        "-O ^huge_file",
        "-O ^dir_nlink",
        "-O bigalloc -C 16384",
    ],
    &["", "-O ^has_journal", "-O ^ext_attr", "-O encrypt", "-O verity"],
];

/// What an image contains besides a random tree: many names in one directory, long names, links, special files.
const MORE: &str = r#"
import os, random, sys
random.seed(int(sys.argv[1]))
os.chdir("top")
os.mkdir("large")
for i in range(random.choice([10, 700, 6000])):
    os.close(os.open(f"large/{i:x}" + "y" * random.randrange(60), os.O_CREAT | os.O_WRONLY))
for i in range(40):
    with open("n" * (215 + i) , "wb") as file:
        file.write(b"x" * random.randrange(300))
with open("fragments", "wb") as one, open("others", "wb") as two:
    for i in range(60):
        one.write(b"x" * 4096); one.flush(); os.fsync(one.fileno())
        two.write(b"x" * 4096); two.flush(); os.fsync(two.fileno())
open("sparse", "wb").truncate(1 << 33)
os.mkfifo("fifo"); os.mknod("device", 0o20644, os.makedev(5, 9))
os.symlink("short", "s"); os.symlink("x" * 59, "fits"); os.symlink("x" * 60, "not"); os.symlink("x" * 900, "l")
for i in range(random.choice([3, 900])):
    os.link("others", f"large/link{i}")
for i in range(random.choice([2, 300])):
    os.makedirs(f"many/{i}")
os.chown("s", 70000, 80000, follow_symlinks=False); os.utime("sparse", (1 << 32, -(1 << 30)))
os.remove("fragments")
os.setxattr("others", "user.x", b"v" * 100) if random.random() < 0.5 else None
"#;

#[test]
#[ignore = "needs root and loop devices"]
fn images_of_every_kind_are_what_the_walk_says() {
    native_only!("bulk is of the native source");
    let (read, refused) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    for_seeds(rounds(IMAGES.0, IMAGES.1), |seed| {
        let mut dice = Dice::new(seed + 5_000_000);
        let mut chosen: Vec<&str> =
            OPTIONS.iter().map(|group| group[dice.below(group.len())]).collect();
        // Half of the time the usual one, because some options exclude those of other groups.
        for (i, group) in OPTIONS.iter().enumerate() {
            if i > 0 && dice.below(2) == 0 {
                chosen[i] = group[0];
            }
        }
        let options = chosen.join(" ");
        let fixture = dice.tree(Fixture::new(), Names::Hostile).dir("top").file("more.py", 0);
        fs::write(fixture.at("more.py"), MORE).unwrap();
        let script = format!(
            r#"
            truncate -s 300M disk
            mkfs.ext4 -q -F -N 40000 {options} disk 2> refused || exit 77
            mount -o loop disk top 2>> refused || exit 77
            set -e
            cp -a tree/. top/ 2> /dev/null || :
            python3 more.py {seed} >&2
            sync -f top
            # The kernel lists directories that changed within the last two seconds.
            [ $(({seed} % 3)) = 0 ] || sleep 2.1
            [ $(({seed} % 2)) = 0 ] || {{ umount top; mount -o loop disk top; }}
            for flags in -j '-j -s' '-j --inodes' '-j -m c' '-j -m m' '--by owner' '-j -T 1' '-j -e 1'; do
                "$0" $flags top > walked
                "$0" $flags --read=bulk --stats top > bulk 2> stats
                cmp walked bulk >&2 || {{ echo "$flags" >&2; exit 1; }}
                grep -q '^    bulk ' stats || {{ cat stats >&2; exit 1; }}
            done
            "$0" --save s.weigh --details top > /dev/null
            "$0" --save b.weigh --details --read=bulk top > /dev/null
            [ $("$0" -j -n 0 --read=bulk top | grep -o '"size":[0-9]*' | head -1 | cut -d: -f2) = $(du -s -B1 top | cut -f1) ]
            "#
        );
        let output = try_in_namespace(&fixture, &script);
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(77) => refused.lock().unwrap().push(options),
            code => assert_eq!(code, Some(0), "seed {seed}, {options}: {said}"),
        }
        read.fetch_add(usize::from(output.status.success()), Ordering::Relaxed);
    });
    let (read, refused) = (read.into_inner(), refused.into_inner().unwrap());
    println!("{read} images read, {} that cannot be made or mounted: {refused:?}", refused.len());
    assert!(2 * read > refused.len());
}

/// Damages one inode or one block of a directory after the other, in ways that the kernel refuses and in any way, and
/// compares. Its arguments are how many random ways, a seed, the program, and options of mkfs.ext4.
const DAMAGE: &str = r#"
import os, random, re, struct, subprocess, sys, time
rounds, seed, weigh, *options = sys.argv[1:]
random.seed(int(seed))
def run(*command, **more): return subprocess.run(command, capture_output=True, text=True, errors="replace", **more)
def debugfs(request): return run("debugfs", "-R", request, "whole").stdout
run("truncate", "-s", "32M", "whole", check=True)
run("mkfs.ext4", "-q", "-F", *options, "whole", check=True)
run("mount", "-o", "loop", "whole", "top", check=True)
os.makedirs("top/dir"); os.mkdir("top/large")
for name in ["file", "dir/below", "extended"]:
    open(f"top/{name}", "w").write("x" * 20000)
with open("top/fragments", "wb") as file:
    for i in range(20):
        file.seek(8192 * i); file.write(b"x" * 4096)
for i in range(600): open(f"top/large/a rather long name for a file {i}", "w")
# Too many for an inode.
for i in range(30): open(f"top/dir/name {i}", "w")
open("top/small", "w").write("x" * 20)
os.symlink("short", "top/short"); os.symlink("x" * 100, "top/long"); os.mkfifo("top/fifo")
os.setxattr("top/extended", "user.x", b"value")
run("umount", "top", check=True)
# The kernel lists directories that changed within the last two seconds.
time.sleep(3.1)
about = run("dumpe2fs", "-h", "whole").stdout
block_size, inode_size = [int(re.search(what + r" size:\s*(\d+)", about)[1]) for what in ("Block", "Inode")]
def place(path):
    found = re.search(r"at block (\d+), offset (0x\w+)", debugfs(f"imap {path}"))
    return int(found[1]) * block_size + int(found[2], 16)
named = ["file", "dir", "short", "long", "fifo", "fragments", "large", "extended", "small"]
inodes = {name: place("/" + name) for name in named}
blocks = {name: [int(block) for block in debugfs(f"blocks {name}").split()]
          for name in ("/", "/dir", "/large", "/file", "<8>")}
# Offsets in an inode, and what is written there.
fields = [
    (0x00, "<H", 0x31a4), (0x00, "<H", 0xf1a4), (0x1a, "<H", 0), (0x14, "<I", 7), (0x80, "<H", 3), (0x80, "<H", 200),
    (0x28, "<H", 0x1234), (0x2a, "<H", 9), (0x2c, "<H", 9), (0x2c, "<H", 0), (0x2e, "<H", 9), (0x2e, "<H", 1),
    (0x38, "<H", 0), (0x38, "<H", 0x7000), (0x3a, "<H", 0x7fff), (0x3c, "<I", 0), (0x3c, "<I", 1),
    (0x3c, "<I", 0x7fffffff), (0x34, "<I", 0xfffffff0), (0x68, "<I", 1), (0x68, "<I", 0x7fffffff), (0x6c, "<I", 5),
    (0x6c, "<I", 0xffffffff), (0x04, "<I", 0), (0x1c, "<I", 0xffffffff), (0x20, "<I", 0), (0x20, "<I", 0x10080000),
    (0x20, "<I", 0x40080000), (0x20, "<I", 0x280000), (0x20, "<I", 0x80010), (0x28, "<I", 0x7fffffff), (0x7c, "<H", 1),
    (0xa0, "<II", 0xea020000, 0xffffffff), (0xa0, "<II", 0xea020000, 0x00000701),
]
damages = [(inodes[name] + at, struct.pack(kind, *values)) for name in named for at, kind, *values in fields
           if at + struct.calcsize(kind) <= inode_size]
has_checksums = re.search(r"features:.* metadata_csum\s", about)
# With checksums, one field is as good as another.
damages = [] if has_checksums else random.sample(damages, min(2 * int(rounds), len(damages)))
damages = [[damage] for damage in damages]
# A value behind its name, an inode with two maps, and a length within a block.
crafted = [("extended", 0xa6, "<H", 8), ("small", 0x20, "<I", 0x10080000), ("dir", 4, "<I", 24),
           ("large", 4, "<I", len(blocks["/large"]) * block_size - block_size // 2)]
crafted = [[(inodes[name] + at, struct.pack(kind, value))] for name, at, kind, value in crafted]
content = open("whole", "rb").read()
start = blocks["/dir"][0] * block_size
below = content[start + 24:start + 36]
def entry(length, inode=0, name_length=0): return struct.pack("<IHBB", inode, length, name_length, 0).ljust(length, b"\0")
def moved(by, after=0):
    length = struct.pack("<H", block_size - 24 - by - after)
    return (below[:4] + length + below[6:]).ljust(block_size - 24 - by - after, b"\0")
# Unused entries: without room for a name, with a name that is too long, and one at the end of the block.
crafted += [[(start + 24, unused)] for unused in
            (entry(8) + moved(8), entry(12, 0, 200) + moved(12), moved(0, 8) + entry(8))]
if " extent " in about:
    # A node of a tree of extents in a file's block, whose extent is in the journal.
    node, last = blocks["/file"][0], blocks["<8>"][-1]
    tree = struct.pack("<HHHHI", 0xf30a, 1, 4, 1, 0) + struct.pack("<IIHH", 0, node, 0, 0)
    leaf = struct.pack("<HHHHI", 0xf30a, 1, 9, 0, 0) + struct.pack("<IHHI", 0, 1, 0, last)
    crafted += [[(inodes["dir"] + 0x28, tree), (node * block_size, leaf),
                 (last * block_size, content[start:start + block_size])]]
damages += [] if has_checksums else crafted
for i in range(int(rounds)):
    at = random.choice(list(inodes.values())) + random.randrange(inode_size)
    # Without checksums nobody can tell whether a name is damaged.
    if has_checksums and i % 2:
        block = random.choice(random.choice([blocks[name] for name in ("/", "/dir", "/large")]))
        at = block * block_size + random.choice([random.randrange(64), random.randrange(block_size)])
    damages.append([(at, bytes([random.choice([0, 255, random.randrange(256)])]))])
# The kernel is asked about nothing in the whole image.
run("mount", "-o", "loop,ro", "whole", "top", check=True)
run("strace", "-f", "-e", "trace=getdents64,statx", "-o", "calls", weigh, "-j", "--read=bulk", "top", check=True)
run("umount", "top", check=True)
if asked := re.findall(r'getdents64\(.*|statx\(\d+, "[^"].*', open("calls").read()):
    sys.exit(f"{options}: {asked[:3]}")
refused = 0
for damage in damages:
    run("cp", "whole", "damaged", check=True)
    with open("damaged", "r+b") as file:
        for at, content in damage: file.seek(at); file.write(content)
    if run("mount", "-o", "loop,ro", "damaged", "top").returncode:
        continue
    walked, bulk = (run(weigh, "-j", "--print-errors", *flags, "top") for flags in ([], ["--read=bulk"]))
    run("umount", "top", check=True)
    seen, found = ((one.returncode, re.sub(r',"time":.*,"complete":', "", one.stdout), one.stderr)
                   for one in (walked, bulk))
    if seen != found:
        sys.exit(f"{options}, {damage}: {walked.stderr} {bulk.stderr}")
    refused += walked.returncode
print(refused, "of", len(damages))
if refused < len(damages) / 4:
    sys.exit("the kernel hardly refused any")
"#;

/// What the kernel refuses, because its checksum is wrong or what it says makes no sense, does not count.
#[test]
#[ignore = "needs root, loop devices and strace"]
fn what_the_kernel_refuses_is_refused() {
    native_only!("bulk is of the native source");
    let options = [
        "",
        "-O ^metadata_csum",
        "-t ext3 -I 256",
        "-b 4096 -O metadata_csum_seed",
        "-I 256 -O ^metadata_csum,inline_data",
    ];
    for_seeds(options.len(), |seed| {
        let fixture = Fixture::new().dir("top");
        fs::write(fixture.at("damage.py"), DAMAGE).unwrap();
        let options = options[usize::try_from(seed).unwrap()];
        let rounds = rounds(DAMAGED.0, DAMAGED.1);
        let script = format!("python3 damage.py {rounds} {seed} \"$0\" {options}");
        let output = in_namespace(&fixture, &script);
        println!("{options}: {}", String::from_utf8_lossy(&output.stdout));
    });
}

/// File systems mounted below it count, and what they hide does not.
#[test]
#[ignore = "needs root and loop devices"]
fn what_is_mounted_in_it_is_walked_and_put_in_place() {
    native_only!("bulk is of the native source");
    let fixture = Fixture::new().dir("top");
    let script = r#"
        set -e
        truncate -s 64M disk; mkfs.ext4 -q disk; mount -o loop disk top
        mkdir -p top/a/b/hidden top/c top/d/a top/e
        head -c 100000 /dev/zero > top/a/b/hidden/f; echo x > top/c/f; ln top/c/f top/d/g; echo > top/e/file
        mount -t tmpfs none top/a/b; head -c 50000 /dev/zero > top/a/b/seen; mkdir top/a/b/below
        mount --bind top/c top/d/a
        mount --bind top/c/f top/e/file
        sync -f top; sleep 2.1
        for flags in -j '-j -x' '-j --inodes' '-d 3 -b'; do
            "$0" $flags top > walked; "$0" $flags --read=bulk --stats top > bulk 2> stats
            cmp walked bulk >&2; grep -q '^    bulk ' stats
        done
        # One root in bulk, one that lies in it, and one that is walked.
        mkdir other; cd top/c; "$0" -j .. . ../../other > ../../walked
        "$0" -j --read=bulk --stats .. . ../../other > ../../bulk 2> ../../said; cd ../..
        cmp walked bulk >&2; grep -q '^    bulk ' said
        [ "$(grep -c 'was walked, not read in bulk' said)" = 1 ]; grep -q '^weigh: note: ../../other was walked' said
    "#;
    in_namespace(&fixture, script);
}

/// Directories that have just changed are opened and listed by the kernel. For a chain of them, the number of calls
/// must not grow with the square of its length.
#[test]
#[ignore = "needs root, loop devices and strace"]
fn a_chain_of_new_directories_takes_few_calls() {
    native_only!("bulk is of the native source");
    let fixture = Fixture::new().dir("top");
    let script = r#"
        set -e
        truncate -s 64M disk; mkfs.ext4 -q disk; mount -o loop disk top
        path=top; for i in $(seq 1000); do path=$path/d; done
        mkdir -p $path; echo > $path/file
        strace -f -e trace=openat,openat2 -o calls "$0" -j --read=bulk --stats top > bulk 2> stats
        "$0" -j top > walked; cmp walked bulk >&2; grep -q '^    bulk ' stats
    "#;
    in_namespace(&fixture, script);
    let calls = fixture.text("calls").lines().count();
    // One for each, and for the first 64 one for each directory above them.
    assert!((1_000..5_000).contains(&calls), "{calls}");
}

/// The owners on the device are not those that stat(2) returns in a user namespace, or on a mount that maps them.
#[test]
#[ignore = "needs root and loop devices"]
fn owners_are_those_of_the_walk() {
    native_only!("bulk is of the native source");
    let fixture = Fixture::new().dir("top");
    let script = r#"
        set -e
        truncate -s 64M disk; mkfs.ext4 -q disk; mount -o loop disk top
        echo > top/mine; echo > top/theirs; chown 70000:80000 top/theirs; sync -f top; sleep 2.1
        "$0" --by owner top > walked; "$0" --by owner --read=bulk --stats top > bulk 2> stats
        cmp walked bulk >&2; grep -q '^    bulk ' stats
        unshare -Ur "$0" --by owner top > walked; unshare -Ur "$0" --by owner --read=bulk top > bulk 2> said
        cmp walked bulk >&2; grep -q 'maps owners' said
        unshare -Ur "$0" --read=bulk --stats top > bulk 2> stats; grep -q '^    bulk ' stats
    "#;
    in_namespace(&fixture, script);
}

#[test]
#[ignore = "needs root and loop devices"]
fn where_it_cannot_be_done_it_is_walked_and_said_why() {
    native_only!("bulk is of the native source");
    let fixture = Fixture::new().dir("top").dir("memory");
    let script = r#"
        set -e
        chmod 755 . top memory
        truncate -s 64M disk; mkfs.ext4 -q -m 0 disk; mount -o loop disk top; mount -t tmpfs none memory
        mkdir top/sub memory/sub; echo x > top/sub/f; chmod -R a+rX top; rm -rf top/lost+found; sync -f top
        cp "$0" weigh; chmod 755 weigh
        one() { "$@" > bulk 2>> said; }
        one "$0" --read=bulk top/sub; one "$0" --read=bulk memory
        one setpriv --reuid 65534 --regid 65534 --clear-groups ./weigh --read=bulk top
        "$0" top > walked; cmp walked bulk
        # The same, and without --read=bulk silent.
        setpriv --reuid 65534 --regid 65534 --clear-groups ./weigh top 2> silent > bulk; cmp walked bulk; [ ! -s silent ]
    "#;
    in_namespace(&fixture, script);
    let said = fixture.text("said");
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines.len(), 3, "{said}");
    let no_mount = "was walked, not read in bulk: no ext2, ext3 or ext4 is mounted there";
    assert_eq!(lines[0], format!("weigh: note: top/sub {no_mount}"));
    assert_eq!(lines[1], format!("weigh: note: memory {no_mount}"));
    assert!(
        lines[2].starts_with("weigh: note: top was walked, not read in bulk: /dev/loop"),
        "{said}"
    );
    assert!(lines[2].ends_with(": Permission denied"), "{said}");
}

/// In a container, the root is an overlay, other file systems are mounted below it, and there are no device nodes, or
/// only some that may not be read. There is always a walk, and only `--read=bulk` says why.
#[test]
#[ignore = "needs root and loop devices"]
fn in_a_container_it_is_walked_and_only_bulk_says_why() {
    native_only!("bulk is of the native source");
    let fixture = Fixture::new().dir("top").dir("layers").dir("inside");
    let script = r#"
        set -e
        truncate -s 64M disk; mkfs.ext4 -q disk; mount -o loop disk top
        mkdir top/sub; echo x > top/sub/f; sync -f top
        mount -t tmpfs none layers; cd layers; mkdir -p lower/sub upper work
        mkdir lower/usr lower/lib lower/lib64 lower/bin lower/proc lower/dev lower/data lower/volume
        echo x > lower/sub/f; cp "$0" lower/weigh; cd ..
        mount -t overlay none -o lowerdir=layers/lower,upperdir=layers/upper,workdir=layers/work inside
        for dir in usr lib lib64 bin; do [ ! -e /$dir ] || mount --bind /$dir inside/$dir; done
        mount -t proc none inside/proc
        # A volume of a container is a whole file system, or a directory of one.
        mount --bind top inside/data; mount --bind top/sub inside/volume
        one() {
            name=$1; shift
            "$@" > $name.silent 2> $name.complaint; [ ! -s $name.complaint ] || { cat $name.complaint >&2; exit 1; }
            "$@" --read=bulk > $name.bulk 2> $name.said
            cmp $name.silent $name.bulk >&2
            grep -q '"size":' $name.bulk
        }
        # Without nodes of devices.
        mount -t tmpfs none inside/dev
        one overlay chroot inside /weigh -j -x /
        one whole chroot inside /weigh -j /data
        one part chroot inside /weigh -j /volume
        # With one that not even root may open.
        number=$(grep " $PWD/top " /proc/self/mountinfo | cut -d' ' -f3)
        mount -o remount,nodev inside/dev; mkdir inside/dev/block
        mknod -m 666 inside/dev/block/$number b ${number%:*} ${number#*:}
        one node chroot inside /weigh -j /data
        # With root inside, who is a plain user outside.
        umount inside/dev; mount --rbind /dev inside/dev; chmod 755 . layers layers/lower layers/upper top top/sub
        rmdir top/lost+found
        one rootless setpriv --reuid 65534 --regid 65534 --clear-groups unshare -Ur chroot inside /weigh -j /data
    "#;
    in_namespace(&fixture, script);
    let no_mount = "no ext2, ext3 or ext4 is mounted there";
    let denied = "/dev/block/";
    for (name, root, reason, end) in [
        ("overlay", "/", no_mount, ""),
        ("whole", "/data", "its device was not found", ""),
        ("part", "/volume", no_mount, ""),
        ("node", "/data", denied, ": Permission denied"),
        ("rootless", "/data", "/dev/loop", ": Permission denied"),
    ] {
        let said = fixture.text(format!("{name}.said"));
        let [line] = said.lines().collect::<Vec<_>>()[..] else { panic!("{name}: {said}") };
        let start = format!("weigh: note: {root} was walked, not read in bulk: {reason}");
        assert!(line.starts_with(&start) && line.ends_with(end), "{name}: {line}");
    }
}

#[test]
fn without_a_file_system_of_its_own_it_is_a_walk() {
    let fixture = Fixture::new().file("top/f", 10_000);
    let run = |flags: &str| weigh(flags).arg("top").within(fixture.path()).run();
    let (bulk, walked) = (run("-b --read=bulk"), run("-b"));
    assert_eq!((bulk.code(), &bulk.stdout), (0, &walked.stdout));
    assert!(bulk.complaint().starts_with("weigh: note: top was walked, not read in bulk: "));
    assert_eq!(run("--read=bulk -L").code(), 2);
}

/// While eight processes create, rename and remove files, the rest is exact, and a file that only came and went is not
/// reported.
#[test]
#[ignore = "needs root and loop devices"]
fn in_a_storm_what_is_left_alone_is_exact() {
    native_only!("bulk is of the native source");
    let rounds = rounds(STORMS.0, STORMS.1);
    let fixture = Dice::new(6_000_000).tree(Fixture::new(), Names::Hostile).dir("top");
    let storm = r#"
import os, random, sys
number = sys.argv[1]
random.seed(number)
os.chdir("top/storm")
while True:
    name = f"{random.randrange(40)}"
    try:
        match random.randrange(6):
            case 0: os.mkdir(name)
            case 1: open(f"{name}/{number}f{random.randrange(60)}", "w").write("x" * random.randrange(9000))
            case 2: os.rename(name, f"{random.randrange(40)}")
            case 3: os.remove(f"{name}/{number}f{random.randrange(60)}")
            case 4: os.rename(f"{name}/{number}f{random.randrange(60)}", f"{random.randrange(40)}/{number}f{random.randrange(60)}")
            case 5: os.link(f"{name}/{number}f{random.randrange(60)}", f"{name}/{number}l{random.randrange(30)}")
    except OSError:
        pass
"#;
    fs::write(fixture.at("storm.py"), storm).unwrap();
    let script = format!(
        r#"
        set -e
        truncate -s 300M disk; mkfs.ext4 -q -N 40000 disk; mount -o loop disk top
        mkdir top/calm top/storm top/mixed; cp -a tree/. top/calm
        for i in $(seq 500); do echo $i > top/mixed/untouched$i; done
        sync -f top; sleep 2.1
        "$0" -j top/calm > calm
        for i in 1 2 3 4 5 6 7 8; do python3 storm.py $i & storms="$storms $!"; done
        (set +e; while :; do for i in $(seq 50); do echo > top/mixed/new$i; done; rm -f top/mixed/new*; done) 2> /dev/null & storms="$storms $!"
        trap 'kill $storms || :; wait' EXIT
        mkdir out
        for i in $(seq {rounds}); do
            code=0
            "$0" -j --read=bulk top > out/$i 2> out/$i.said || code=$?
            [ $code = 0 ] || {{ cat out/$i.said >&2; exit 1; }}
        done
        "#
    );
    in_namespace(&fixture, &script);
    let calm = crate::document::Document::parse(&fixture.bytes("calm"));
    let expected: Vec<_> =
        calm.by_path().into_iter().map(|(path, node)| (path, node.size, node.entries)).collect();
    for i in 1..=rounds {
        let document = crate::document::Document::parse(&fixture.bytes(format!("out/{i}")));
        let nodes = document.by_path();
        for (path, size, entries) in &expected {
            let separator: &[u8] = if path.is_empty() { b"" } else { b"/" };
            let at = [b"calm", separator, path].concat();
            let node = nodes
                .get(&at)
                .unwrap_or_else(|| panic!("round {i}: {:?} is not there", at.escape_ascii()));
            assert_eq!(
                (node.size, node.entries),
                (*size, *entries),
                "round {i}: {:?}",
                at.escape_ascii()
            );
        }
        let mixed = nodes.keys().filter(|path| path.starts_with(b"mixed/untouched")).count();
        assert_eq!(mixed, 500, "round {i}");
    }
}
