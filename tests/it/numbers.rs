//! Odd numbers: lengths that no disk holds, blocks beyond the end, times before the epoch and at the
//! end of all time, and figures that a broken file system makes up. Sums beyond the largest number saturate;
//! nothing wraps.
#![cfg(target_os = "linux")]

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use rustix::fs::FallocateFlags;

use crate::document::Document;
use crate::fixture::Fixture;
use crate::oracle::du;
use crate::run::weigh;

#[test]
fn blocks_beyond_the_end_are_weighed() {
    const RESERVED: u64 = 1 << 20;
    for place in [Fixture::new(), Fixture::in_memory()] {
        let fixture = place.file("top/f", 10);
        let file = std::fs::File::options().write(true).open(fixture.at("top/f")).unwrap();
        rustix::fs::fallocate(&file, FallocateFlags::KEEP_SIZE, 0, RESERVED).unwrap();
        file.sync_all().unwrap();
        assert_eq!(file.metadata().unwrap().len(), 10);
        let size = |flags| weigh(flags).arg(fixture.at("top")).run().document().root().size;
        assert_eq!(size("-j"), du(&["-sB1"], &fixture.at("top")));
        assert!(size("-j") >= RESERVED);
        assert_eq!(size("-j -s"), 10);
    }
}

/// In seconds: 1938, the epoch, now and a century from it, and the last one that there is.
const TIMES: [i64; 5] = [-1_000_000_000, 0, 1_700_000_000, 5_000_000_000, i64::MAX];

#[test]
fn any_time_is_older_or_younger_as_find_has_it() {
    let mut fixture = Fixture::in_memory();
    for (i, time) in TIMES.into_iter().enumerate() {
        let name = format!("top/{i}");
        fixture = fixture.file(&name, 10).modified(&name, time);
        let kept = std::fs::metadata(fixture.at(&name)).unwrap().mtime();
        assert!(kept == time || i == 4, "this file system has no such times: {kept}");
    }
    let top = fixture.at("top");
    for days in ["0", "1", "+0", "+1", "-1", "-0", "+30000", "-30000"] {
        let find = Command::new("find").arg(&top).args(["-type", "f", "-mtime", days]).output();
        let expected = find.unwrap().stdout.iter().filter(|byte| **byte == b'\n').count();
        let document = weigh(&format!("-j -f -M {days}")).arg(&top).run().document();
        assert_eq!(document.root().size, expected as u64, "-M {days}");
    }
    for flags in ["-j -s --by age", "-c -s --by age"] {
        weigh(flags).arg(&top).run().clean();
    }
    let ages = weigh("-j -s --by age").arg(&top).run().document();
    let sum: u64 = ages.root().children.iter().map(|&child| ages.nodes[child].size).sum();
    assert_eq!(sum, 50, "every file has one age");
}

/// `strace` puts into the kernel's answer what a broken file system might.
#[test]
#[ignore = "needs strace"]
fn what_a_file_system_makes_up_saturates() {
    native_only!("other calls are made there");
    let fixture = Fixture::new().file("top/a", 10).file("top/b", 10).file("top/c", 10);
    // struct statx (statx(2)): mask, block size, attributes, links, user, group, mode, inode, then
    // length and blocks. All that is asked for is there, and it is a regular file with one link.
    let odd = "ff070000 00100000 0000000000000000 01000000 00000000 00000000 a4810000 \
               0700000000000000 ffffffffffffffff ffffffffffffffff";
    let inject = format!("inject=statx:poke_exit=@arg5={}", odd.replace(' ', ""));
    // Only calls relative to the open directory: the root is given as another path than this.
    let path = fixture.at("top");
    let start = |flags: &str| {
        let strace = ["strace", "-f", "-q", "-o", "/dev/null", "-e", &inject, "-P"];
        let starter = strace.map(OsString::from).into_iter().chain([path.clone().into()]);
        weigh(flags).arg("top").within(fixture.path()).under(starter).run()
    };
    for (measure, expected) in [("", u64::MAX), ("-s", u64::MAX), ("-f", 3), ("--inodes", 4)] {
        let json = start(&format!("-j {measure}"));
        assert_eq!(json.code(), i32::from(expected == u64::MAX), "weigh -j {measure}");
        let document = Document::parse(&json.stdout);
        assert_eq!(document.root().size, expected, "weigh -j {measure}");
        assert_eq!(document.nodes.len(), 4, "weigh -j {measure}");
        let is_odd = document.nodes.iter().all(|node| node.size == u64::MAX);
        assert_eq!(is_odd, expected == u64::MAX, "weigh -j {measure}");
        let picture = start(&format!("-c {measure}"));
        let picture = String::from_utf8(picture.stdout).unwrap();
        assert_eq!(picture.lines().count(), 4, "{picture}");
        assert!(!picture.contains("-1"), "{picture}");
    }
}
