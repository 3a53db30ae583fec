//! Entries whose listing has their attributes: weigh does not examine them, except for symlinks to follow.

use super::*;
use crate::base::measure::Mode;
use crate::scan::walk::{Rules, Walk, WalkOptions, lock, nested};

/// The names and sizes of what is in a directory.
struct Sizes;

impl Tally for Sizes {
    type Part = Vec<(Vec<u8>, u64)>;
    type Answer = ();

    fn leaf(&self, part: &mut Self::Part, entry: &Entry<'_>) {
        part.push((entry.name.to_vec(), entry.sums.all.length));
    }

    fn merge(&self, part: &mut Self::Part, other: Self::Part) {
        part.extend(other);
    }

    fn close(&self, _: &mut Self::Part, _: &Entry<'_>, _: Self::Part) {}

    fn finish(&self, _: &Entry<'_>, _: Self::Part) {}
}

/// What is weighed of `listed`, as if the directory of this module had listed these entries: a name, whether
/// it is a symlink, and its length, if the listing has that.
fn weighed(follow: bool, listed: &[(&CStr, bool, Option<u64>)]) -> Vec<(Vec<u8>, u64)> {
    let options =
        WalkOptions { rules: Rules { follow, ..Rules::default() }, ..WalkOptions::default() };
    let (mut roots, problems) = nested::resolve(vec!["src/scan/walk".into()], &options);
    let root = roots.pop().expect("it is there");
    let walk = Walk::new(options, Sizes, problems, 100);
    let worker = Worker::on_the_stack(&walk, &walk.workers.caller);
    let dir = Arc::new(Dir::root(None, root, &walk.options.filter, |_, _| ()));
    let handle = worker.open(&dir, None).expect("it can be opened").expect("it is there");
    let open = Arc::new(walk.handles.count(handle, None));

    let mut names = Listing::default();
    for (name, is_symlink, length) in listed {
        let mode = Mode(if *is_symlink { 0o120_777 } else { 0o100_644 });
        let device = dir.stat.device;
        let stat = length.map(|length| Stat { device, mode, length, links: 1, ..Stat::default() });
        let (kind, stat) = (Some(mode.kind()), stat.as_ref());
        names.push(Listed { name, kind, inode: 0, stat });
    }
    let mut known = Known::default();
    let mut visit = Visit::new(&worker, &dir, &open, &mut known, true);
    visit.weigh(&names);
    let rest = visit.finish().break_value().expect("no subdirectory");
    assert!(lock(&walk.problems).is_empty());
    dir.subtotal().merge(&Sizes, rest);
    mem::take(&mut dir.subtotal().part)
}

#[test]
fn what_a_listing_tells_is_not_asked() {
    let listed = [(c"no file", false, Some(70)), (c"no symlink", true, Some(5))];
    let expected = [(b"no file".to_vec(), 70), (b"no symlink".to_vec(), 5)];
    assert_eq!(weighed(false, &listed), expected);
    // Nobody knows where it leads, so it counts as itself.
    assert_eq!(weighed(true, &listed), expected);
    // What is not listed is examined, and has vanished.
    assert_eq!(weighed(false, &[(c"no file", false, None), listed[1]]), expected[1..]);
}

#[test]
fn a_symlink_that_is_followed_is_asked_where_it_leads() {
    let listed = [(c"visit.rs", true, Some(u64::MAX))];
    assert_eq!(weighed(false, &listed), [(b"visit.rs".to_vec(), u64::MAX)]);
    let length = include_str!("../visit.rs").len() as u64;
    assert_eq!(weighed(true, &listed), [(b"visit.rs".to_vec(), length)]);
}
