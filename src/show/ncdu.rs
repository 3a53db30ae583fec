//! ncdu's JSON export, format 1.2 (dev.yorhel.nl/ncdu/jsonfmt): what `ncdu -f` loads.
//!
//! ncdu adds up sizes itself, and counts inodes with several links once. It knows two sizes of a file, and gets both,
//! or the one that is known.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use super::ExportOptions;
use super::partial::{Losses, Partial};
use crate::base::escape::{is_control, is_plain};
use crate::base::inode::{Links, MountedDevice};
use crate::base::measure::{Kind, Measure};
use crate::tree::{Inode, Node, Order, Report, Step, Traversal};

/// Writes the result of a walk.
///
/// # Errors
/// The writer's.
pub fn write(
    out: &mut dyn Write,
    report: &Report,
    &ExportOptions { known, time, .. }: &ExportOptions,
) -> io::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    write!(out, r#"[1,2,{{"progname":"weigh","progver":"{version}","timestamp":{time}"#)?;
    // ncdu takes a size that is missing for 0, and skips what it does not know here.
    let sizes = [Measure::Disk, Measure::Apparent].map(|size| (size, known.contains(size)));
    if let [(size, true), (_, false)] | [(_, false), (size, true)] = sizes {
        write!(out, r#","measure":"{}""#, size.name())?;
    }
    out.write_all(b"}")?;
    let partial = Partial::of(report);
    let Some(tree) = &report.answer else { return out.write_all(b"]\n") };
    let root = tree.root();
    let is_file = !root.is_directory();
    if is_file {
        // In this format, a file must be inside a directory.
        out.write_all(b",\n[{\"name\":\"(total)\"}")?;
    }
    let mut devices = DeviceNumbers::default();
    let device = root.inode().map(|inode| devices.number(inode.identity.mounted_device()));
    let mut traversal = Traversal::new(root);
    while let Some(step) = traversal.next() {
        let Step::Node(node) = step else {
            out.write_all(b"]")?;
            continue;
        };
        let (is_directory, is_root) = (node.is_directory(), traversal.depth() == 0);
        out.write_all(if is_directory { b",\n[{\"name\":\"" } else { b",\n{\"name\":\"" })?;
        name(out, node.shown_name())?;
        out.write_all(b"\"")?;
        let Node { mode, own, sums, inode, .. } = node.node();
        let figures = if is_directory { own.unwrap_or_default() } else { sums.all };
        if known.contains(Measure::Apparent) {
            write!(out, r#","asize":{}"#, figures.length)?;
        }
        if known.contains(Measure::Disk) {
            write!(out, r#","dsize":{}"#, figures.disk)?;
        }
        if let Some(Inode { identity, links, .. }) = inode {
            let is_linked = links.are_several() && !is_directory;
            // Which device it is on matters to links. A tree may have been kept with more than it takes here.
            if is_root || is_linked {
                let number = devices.number(identity.mounted_device());
                if is_root || device != Some(number) {
                    write!(out, r#","dev":{number}"#)?;
                }
            }
            if is_linked {
                write!(out, r#","ino":{},"hlnkc":true"#, identity.number)?;
            }
            if is_linked && let Links::Of(links) = links {
                write!(out, r#","nlink":{links}"#)?;
            }
        }
        if matches!(mode.kind(), Kind::Symlink | Kind::Other) {
            out.write_all(br#","notreg":true"#)?;
        }
        let above = traversal.innermost().map(|losses: &mut Losses| &*losses);
        let losses = partial.at_node(above, node.name());
        if partial.is_unread(&losses, &node, is_root) {
            out.write_all(br#","read_error":true"#)?;
        }
        out.write_all(b"}")?;
        if is_directory {
            traversal.enter(losses, node.children(Order::Size));
        }
    }
    out.write_all(if is_file { b"]]\n" } else { b"]\n" })
}

/// Numbers for devices, of which each mount has another one: inodes count once for each mount, and for each host where
/// several have the same devices. ncdu knows neither, and counts inodes of one `dev` once.
#[derive(Default)]
struct DeviceNumbers {
    /// The number of the first mount of a device is that of the device, if no other mount has it.
    numbers: HashMap<MountedDevice, u64>,
    used: HashSet<u64>,
}

impl DeviceNumbers {
    fn number(&mut self, device: MountedDevice) -> u64 {
        *self.numbers.entry(device).or_insert_with(|| {
            let mut number = device.device;
            while !self.used.insert(number) {
                number = number.wrapping_add(1);
            }
            number
        })
    }
}

/// Writes the bytes of the name, because the format has no encoding and no other way to keep bytes that are not
/// UTF-8. Only what would end the string or steer a terminal is escaped.
fn name(out: &mut dyn Write, name: &[u8]) -> io::Result<()> {
    if is_plain(name) {
        return out.write_all(name);
    }
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' | '\\' => write!(out, "\\{c}")?,
                c if is_control(c) => write!(out, "\\u{:04x}", c as u32)?,
                c => write!(out, "{c}")?,
            }
        }
        out.write_all(chunk.invalid())?;
    }
    Ok(())
}
