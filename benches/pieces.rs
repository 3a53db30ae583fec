//! The pieces by themselves, in one thread: `cargo bench --bench pieces [NAME]`.
//!
//! Each is called as the walk and the program call it, by the library's public face. Tallies are fed by
//! [`Grown`], so that no walk is measured. JSON is held against serde_json, which writes the same
//! values from plain structs that are sorted already.
#![allow(
    clippy::unwrap_used,
    reason = "a benchmark that cannot get what it needs should stop there"
)]

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use weigh::internal::base::inode::{Identity, Links};
use weigh::internal::base::measure::{Figures, Mode, View};
use weigh::internal::sys::Stat;
use weigh::internal::tree::tally::{Entry, Tally};
use weigh::internal::tree::{Sums, Tree};

fn main() {
    divan::main();
}

/// Reading a directory of 10,000 files, and stating what is in it.
mod listing {
    use super::*;
    use std::ffi::CString;
    use std::fs::File;
    use std::os::unix::ffi::OsStrExt;

    use tempfile::TempDir;
    use weigh::internal::sys::{Handle, Listing, Query, Source, Symlinks};

    const FILES: usize = 10_000;

    fn directory() -> (TempDir, CString) {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..FILES {
            File::create(dir.path().join(format!("file{number:07}"))).unwrap();
        }
        let path = CString::new(dir.path().as_os_str().as_bytes()).unwrap();
        (dir, path)
    }

    fn list(path: &CString, mut each: impl FnMut(&Handle, &Listing)) -> usize {
        let handle = Source::default().open(path).unwrap();
        let (mut buffer, mut names, mut count) = (Vec::new(), Listing::default(), 0);
        let mut may_go_on = true;
        while may_go_on {
            names.clear();
            may_go_on = handle.read(&mut buffer, &mut names, None).unwrap();
            count += names.len();
            each(&handle, &names);
        }
        count
    }

    #[divan::bench]
    fn names(bencher: Bencher) {
        let (_dir, path) = directory();
        bencher.counter(ItemsCount::new(FILES)).bench_local(|| list(&path, |_, _| ()));
    }

    #[divan::bench]
    fn names_and_stats(bencher: Bencher) {
        let (_dir, path) = directory();
        bencher.counter(ItemsCount::new(FILES)).bench_local(|| {
            list(&path, |handle, names| {
                for listed in names.iter() {
                    divan::black_box(
                        handle.stat_at(listed.name, Symlinks::Stay, Query::default()).unwrap(),
                    );
                }
            })
        });
    }
}

/// What directories come to, with and without hard links.
mod links {
    use super::*;
    use weigh::internal::tree::sum::Sum;

    const ENTRIES: u64 = 1_000_000;

    /// Nothing has links: what every file pays for hard links.
    #[divan::bench]
    fn none(bencher: Bencher) {
        bencher.counter(ItemsCount::new(ENTRIES)).bench_local(|| {
            let mut sum = Sum::default();
            (0..ENTRIES).for_each(|size| sum.add(&of(divan::black_box(size))));
            sum.sums()
        });
    }

    /// One directory with 250 links to each of 4,000 inodes, of 300.
    #[divan::bench]
    fn in_one_directory(bencher: Bencher) {
        bencher.counter(ItemsCount::new(ENTRIES)).bench_local(|| {
            let mut sum = Sum::default();
            (0..ENTRIES).for_each(|n| sum.add_link(identity(n), &of(4096), Links::Of(300)));
            sum.sums()
        });
    }

    /// A store: 4,000 directories of 250 links, each merging into the one above.
    #[divan::bench]
    fn merging(bencher: Bencher) {
        let directories = || -> Vec<Sum> {
            let sum = |directory: u64| {
                let mut sum = Sum::default();
                (0..250).for_each(|n| {
                    sum.add_link(identity(directory * 250 + n), &of(4096), Links::Of(300))
                });
                sum
            };
            (0..4_000).map(sum).collect()
        };
        bencher.with_inputs(directories).counter(ItemsCount::new(ENTRIES)).bench_local_values(
            |directories| {
                let mut above = Sum::default();
                directories.into_iter().for_each(|sum| above.absorb(sum));
                above.sums()
            },
        );
    }

    /// The n-th link leads to one of 4,000 inodes, as if at random.
    fn identity(n: u64) -> Identity {
        let number = (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % 4_000;
        Identity { mount: 1, device: 1, number }
    }
}

/// What a tally gathers on the way up.
mod tallies {
    use super::*;
    use weigh::internal::tree::tally::{Limits, Top, Whole};

    const SHAPES: [Grown; 2] = [Grown::FLAT, Grown::NESTED];

    #[divan::bench(args = SHAPES, sample_count = 20)]
    fn twenty_largest(bencher: Bencher, grown: &Grown) {
        bencher.counter(ItemsCount::new(grown.entries())).bench_local(|| {
            grown.gathered_by(&Top::new(View::default(), Limits { lines: 20, ..Limits::NONE }))
        });
    }

    #[divan::bench(args = SHAPES, sample_count = 20)]
    fn everything(bencher: Bencher, grown: &Grown) {
        bencher
            .counter(ItemsCount::new(grown.entries()))
            .bench_local(|| grown.gathered_by(&Whole::default()));
    }
}

/// Turning a report into text.
mod rendering {
    use super::*;
    use serde::Serialize;
    use weigh::internal::show::tree;
    use weigh::internal::show::{ExportOptions, json};
    use weigh::internal::tree::Report;
    use weigh::internal::tree::tally::{Limits, Top, Whole};
    use weigh::internal::tree::{Child, Order};

    const SHAPES: [Grown; 3] = [Grown::FLAT, Grown::NESTED, Grown::LONG_NAMES];

    #[divan::bench(args = [20, 10_000])]
    fn picture(bencher: Bencher, lines: usize) {
        let report =
            Grown::NESTED.gathered_by(&Top::new(View::default(), Limits { lines, ..Limits::NONE }));
        let options = tree::PictureOptions { width: 120, ..Default::default() };
        let mut out = Vec::new();
        bencher.counter(ItemsCount::new(lines)).bench_local(|| {
            out.clear();
            tree::draw(&mut out, &report, &options).unwrap();
        });
    }

    /// What [`json`] does besides writing: the children of a directory, largest first.
    #[divan::bench(sample_count = 20)]
    fn sorting(bencher: Bencher) {
        let report = Grown::FLAT.gathered_by(&Whole::default());
        let files = ItemsCount::new(Grown::FLAT.entries());
        bencher.counter(files).bench_local(|| report.root().children(Order::Size).len());
    }

    #[divan::bench(args = SHAPES, sample_count = 20)]
    fn json(bencher: Bencher, grown: &Grown) {
        let report = report(grown);
        let mut out = ours(&report);
        bencher
            .counter(ItemsCount::new(grown.entries()))
            .counter(BytesCount::of_slice(&out))
            .bench_local(|| {
                out.clear();
                json::write(&mut out, &report, &ExportOptions::default()).unwrap();
            });
    }

    #[divan::bench(args = SHAPES, sample_count = 20)]
    fn json_by_serde(bencher: Bencher, grown: &Grown) {
        let report = report(grown);
        let node = Node::of(&report.answer.as_ref().unwrap().root());
        let mut out = serde_json::to_vec(&node).unwrap();
        // The same, but for what stands beside the root.
        let (root, ours) = (&out[1..out.len() - 1], ours(&report));
        assert!(ours.strip_suffix(b",\"errors\":[]}\n").unwrap().ends_with(root));
        bencher
            .counter(ItemsCount::new(grown.entries()))
            .counter(BytesCount::of_slice(&out))
            .bench_local(|| {
                out.clear();
                serde_json::to_writer(&mut out, &node).unwrap();
            });
    }

    fn report(grown: &Grown) -> Report {
        let answer = Some(grown.gathered_by(&Whole::default()));
        Report { answer, ..Report::default() }
    }

    fn ours(report: &Report) -> Vec<u8> {
        let mut out = Vec::new();
        json::write(&mut out, report, &ExportOptions::default()).unwrap();
        out
    }

    #[derive(Serialize)]
    struct Node {
        name: String,
        kind: &'static str,
        size: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        entries: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        children: Option<Vec<Node>>,
    }

    impl Node {
        fn of(child: &Child<'_>) -> Self {
            let nodes = || child.children(Order::Size).iter().map(Node::of).collect();
            let children = child.is_directory().then(nodes);
            let entries = child.is_directory().then(|| child.totals().entries);
            let name = String::from_utf8(child.name().to_vec()).unwrap();
            Node { name, kind: child.mode().kind().name(), size: child.size(), entries, children }
        }
    }
}

/// A made-up tree: `width` directories in each, `depth` levels of them, and `files` in each of the
/// last.
#[derive(Clone, Copy, Debug)]
struct Grown {
    label: &'static str,
    width: u64,
    depth: u32,
    files: u64,
    name_length: usize,
}

impl Grown {
    const FLAT: Grown =
        Grown { label: "flat", width: 0, depth: 0, files: 1_000_000, name_length: 15 };
    const NESTED: Grown = Grown { label: "nested", width: 10, depth: 5, files: 9, name_length: 15 };
    const LONG_NAMES: Grown =
        Grown { label: "long names", width: 100, depth: 1, files: 2_000, name_length: 255 };

    fn entries(&self) -> u64 {
        let directories: u64 = (0..=self.depth).map(|level| self.width.pow(level)).sum();
        directories + self.width.pow(self.depth) * self.files
    }

    /// What `tally` reports of it.
    fn gathered_by<T: Tally<Answer = Tree>>(&self, tally: &T) -> Tree {
        let mut part = T::Part::default();
        let sums = self.fill(tally, &mut part, 0);
        let stat = Stat { mode: Mode::DIRECTORY, ..Stat::default() };
        tally.finish(
            &Entry {
                name: b"root",
                depth: 0,
                stat: &stat,
                mount: 0,
                links: Links::Alone,
                own: Some(of(0)),
                sums,
                change: None,
            },
            part,
        )
    }

    /// Feeds `tally` with what is in a directory `depth` levels down.
    fn fill<T: Tally>(&self, tally: &T, part: &mut T::Part, depth: u32) -> Sums {
        let mut sums = Sums::of(of(0));
        let mut name = Vec::with_capacity(self.name_length);
        let mut add = |below: Sums| {
            sums.all.disk += below.all.disk;
            sums.all.inodes += below.all.inodes;
            sums.entries += below.entries;
        };
        if depth == self.depth {
            let stat = Stat { mode: Mode(0o100_644), links: 1, ..Stat::default() };
            for number in 0..self.files {
                self.write_name(&mut name, number);
                // Up to 64 KiB, and in no order.
                let size = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
                let (depth, name) = (depth + 1, name.as_slice());
                let (stat, mount, links) = (&stat, 0, Links::Alone);
                let (own, sums, change) = (None, Sums::of(of(size)), None);
                tally.leaf(part, &Entry { name, depth, stat, mount, links, own, sums, change });
                add(sums);
            }
        } else {
            let stat = Stat { mode: Mode::DIRECTORY, ..Stat::default() };
            for number in 0..self.width {
                let mut below = T::Part::default();
                let sums = self.fill(tally, &mut below, depth + 1);
                self.write_name(&mut name, number);
                let (depth, name) = (depth + 1, name.as_slice());
                tally.close(
                    part,
                    &Entry {
                        name,
                        depth,
                        stat: &stat,
                        mount: 0,
                        links: Links::Alone,
                        own: Some(of(0)),
                        sums,
                        change: None,
                    },
                    below,
                );
                add(sums);
            }
        }
        sums
    }

    /// As long as names are, and different ones for different numbers.
    fn write_name(&self, name: &mut Vec<u8>, mut number: u64) {
        name.clear();
        name.resize(self.name_length, b'n');
        for digit in name.iter_mut().rev().take(7) {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
        }
    }
}

impl std::fmt::Display for Grown {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.label)
    }
}

/// What an inode comes to that takes so much on disk.
fn of(disk: u64) -> Figures {
    Figures { disk, length: disk, inodes: 1, ..Figures::default() }
}
