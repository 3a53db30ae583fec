//! The last line, which sums up everything without a line of its own.
//!
//! A line for a directory without lines for its content stands for the content. All other inodes below the root that
//! have no line are counted here. Their size is the root's size less the sizes of all lines without lines below them;
//! it includes the blocks of the directories whose content has lines. So this line and the lines without lines below
//! them add up to the root. The walk does not have to remember anything for it.
//!
//! If lines share inodes, their sum is too large, and the rest is a lower bound. So it is if the root's size is one,
//! because it is larger than 16 EiB.

use super::PictureOptions;
use crate::show::lines::Line;
use crate::show::size::Format;
use crate::tree::{Shape, Totals, Tree};

/// The inodes without a line.
pub(in crate::show) struct Rest {
    pub(in crate::show) totals: Totals,
    pub(in crate::show) name: String,
    /// Whether this is a lower bound.
    pub(super) is_at_least: bool,
}

impl Rest {
    /// The inodes that have none of `lines`, if there are any.
    pub(in crate::show) fn of<'l, 'n: 'l>(
        lines: impl IntoIterator<Item = &'l Line<'n>>,
        tree: &Tree,
        options: &PictureOptions,
    ) -> Option<Self> {
        let mut lines = lines.into_iter().peekable();
        let root = lines.next()?;
        if lines.peek().is_none() && options.root_alone {
            return None;
        }
        let Totals { mut weight, mut entries, .. } = root.totals;
        entries = entries.saturating_sub(is_inode(root, tree, options).into());
        let mut is_at_least = weight == u64::MAX;
        for line in lines {
            if line.has_children {
                entries = entries.saturating_sub(is_inode(line, tree, options).into());
            } else {
                entries = entries.saturating_sub(line.totals.entries);
                weight = weight.saturating_sub(line.totals.weight);
                is_at_least |= line.totals.shared > 0;
            }
        }
        let count = Format::Count.write(entries);
        let is_time = options.times.is_some();
        let name = match tree.shape() {
            _ if options.one_kind && entries == 1 => "1 other".to_owned(),
            _ if options.one_kind => format!("{count} others"),
            Shape::Groups => format!("{count} in smaller groups"),
            _ if is_time => format!("{count} older"),
            _ => format!("{count} smaller"),
        };
        // In a list of files, directories are among the others, and have no size there.
        let is_worth_a_line = entries > 0 && (weight > 0 || !options.one_kind || is_time);
        let weight = if is_time { 0 } else { weight };
        let totals = Totals { size: weight, weight, entries, ..Totals::default() };
        is_worth_a_line.then_some(Self { totals, name, is_at_least })
    }
}

/// Whether a line is for an inode that counts, and not for a group or for several roots.
fn is_inode(line: &Line<'_>, tree: &Tree, options: &PictureOptions) -> bool {
    match tree.shape() {
        Shape::Groups => false,
        _ if line.parent.is_none() && tree.root().is_total() => false,
        _ => line.has_own || !options.knows_own,
    }
}
