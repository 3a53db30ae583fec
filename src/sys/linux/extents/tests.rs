//! Answers that no file system at hand gives.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;

use rustix::fs;
use rustix::io::Errno;

use super::*;
use crate::sys::{Query, Source};

const BLOCK: u64 = 4096;

fn extent(at: u64, blocks: u64, flags: Flags) -> io::Result<Extent> {
    let (logical, length) = (at * BLOCK, blocks * BLOCK);
    Ok(Extent { logical, physical: (1_000 + at) * BLOCK, length, flags })
}

/// What `extents` come to in a file of 100 blocks, and where those are that may be shared.
fn added_up(extents: Vec<io::Result<Extent>>) -> (io::Result<Mapped>, Vec<Range<u64>>) {
    let mut places = Vec::new();
    let allocated = 100 * BLOCK / 512;
    let mapped = add_up(extents.into_iter(), allocated, allocated, |place| places.push(place));
    (mapped, places)
}

#[test]
fn all_is_its_own_but_what_is_shared_or_encoded() {
    let (mapped, places) = added_up(vec![
        extent(0, 10, Flags::empty()),
        extent(10, 20, Flags::SHARED),
        extent(50, 5, Flags::UNWRITTEN),
        extent(60, 1, Flags::DELALLOC | Flags::UNKNOWN),
        extent(70, 4, Flags::ENCODED),
        extent(80, 3, Flags::SHARED | Flags::UNWRITTEN),
        extent(90, 1, Flags::DATA_INLINE | Flags::LAST),
    ]);
    let mapped = mapped.unwrap();
    assert_eq!((mapped.own / BLOCK, mapped.unplaced / BLOCK), (100 - 20 - 1 - 4 - 3 - 1, 2));
    let blocks = |place: &Range<u64>| place.start / BLOCK..place.end / BLOCK;
    let places: Vec<_> = places.iter().map(blocks).collect();
    assert_eq!(places, [1_010..1_030, 1_070..1_074, 1_080..1_083]);
}

#[test]
fn more_shared_than_allocated_leaves_nothing_of_its_own() {
    let (mapped, _) = added_up(vec![extent(0, 101, Flags::SHARED | Flags::LAST)]);
    assert_eq!(mapped.unwrap(), Mapped::default());
}

#[test]
fn an_error_ends_the_listing() {
    let error = || Err(io::Error::from(Errno::IO));
    let (mapped, places) = added_up(vec![extent(0, 1, Flags::SHARED), error()]);
    assert_eq!(mapped.unwrap_err().raw_os_error(), Some(Errno::IO.raw_os_error()));
    assert_eq!(places.len(), 1);
}

/// Otherwise the same extents would be asked for again and again.
#[test]
fn extents_that_do_not_advance_are_an_error() {
    let empty = vec![extent(0, 1, Flags::empty()), extent(1, 0, Flags::empty())];
    let back = vec![extent(5, 1, Flags::empty()), extent(0, 1, Flags::empty())];
    let past = extent(9, 1, Flags::empty()).map(|past| Extent { logical: u64::MAX - 1, ..past });
    for extents in [empty, back, vec![past]] {
        let error = added_up(extents).0.unwrap_err();
        assert!(error.to_string().contains("not in order"), "{error}");
    }
}

#[test]
fn a_file_that_grows_for_ever_is_left() {
    let endless = (0..).map(|at| extent(at, 1, Flags::empty()));
    let error = add_up(endless, 800, 800, |_| ()).unwrap_err();
    assert!(error.to_string().contains("grew"), "{error}");
}

/// None of them waits, or maps another file than the one that was weighed.
#[test]
fn what_was_put_in_its_place_is_not_mapped() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    for name in ["file", "other"] {
        std::fs::write(path.join(name), "x").unwrap();
    }
    fs::mkfifoat(fs::CWD, path.join("pipe"), fs::Mode::RUSR).unwrap();
    fs::symlinkat("file", fs::CWD, path.join("symlink")).unwrap();
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    let handle = Source::Native.open(&path).unwrap();
    let stat = handle.stat_at(c"file", Symlinks::Stay, Query::default()).unwrap();
    let error = |name| map_extents(Some(&handle), name, &stat, |_| ()).unwrap_err();
    for name in [c"other", c"pipe"] {
        assert!(error(name).to_string().contains("replaced"), "{name:?}");
    }
    assert_eq!(error(c"symlink").raw_os_error(), Some(Errno::LOOP.raw_os_error()));
    assert_eq!(error(c"gone").raw_os_error(), Some(Errno::NOENT.raw_os_error()));
}
