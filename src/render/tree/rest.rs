//! The last line: what all the others leave out.
//!
//! It counts the inodes below the root that have no line and are in no directory that is shown without what is in
//! it: such a directory's line speaks for them. Their size is what those lines leave of the total, with the blocks
//! of the directories that are shown with what is in them. So the lines that have none below them, and this one,
//! come to the whole. Nothing has to be remembered for it while walking.
//!
//! Where lines share inodes, they come to more than there is, and what is left is a lower bound.

use super::PictureOptions;
use crate::render::lines::Line;
use crate::render::size::Format;
use crate::tree::{Shape, Totals, Tree};

/// What has no line.
pub(in crate::render) struct Rest {
    pub(in crate::render) totals: Totals,
    pub(in crate::render) name: String,
    /// Whether there may be more of it.
    pub(super) is_at_least: bool,
}

impl Rest {
    /// What has none of `lines`, if there is anything.
    pub(in crate::render) fn of(
        lines: &[Line<'_>],
        tree: &Tree,
        options: &PictureOptions,
    ) -> Option<Self> {
        let (root, below) = lines.split_first()?;
        if below.is_empty() && options.root_alone {
            return None;
        }
        let Totals { mut size, mut entries, .. } = root.totals;
        let is_inode = |line: &Line<'_>, is_root: bool| match tree.shape() {
            Shape::Groups => false,
            _ if is_root && tree.is_above_roots() => false,
            _ => line.has_own || !options.knows_own,
        };
        entries = entries.saturating_sub(is_inode(root, true).into());
        let mut is_at_least = false;
        for line in below {
            if line.has_children {
                entries = entries.saturating_sub(is_inode(line, false).into());
            } else {
                entries = entries.saturating_sub(line.totals.entries);
                size = size.saturating_sub(line.totals.size);
                is_at_least |= line.totals.shared > 0;
            }
        }
        let count = Format::Count.write(entries);
        let is_time = matches!(options.format, Format::Time(_));
        let name = match tree.shape() {
            _ if options.one_kind => format!("{count} others"),
            Shape::Groups => format!("{count} in smaller groups"),
            _ if is_time => format!("{count} older"),
            _ => format!("{count} smaller"),
        };
        // Directories in a list of files are others too, and have no size that way.
        let is_worth_a_line = entries > 0 && (size > 0 || !options.one_kind || is_time);
        let size = if is_time { 0 } else { size };
        let totals = Totals { size, entries, ..Totals::default() };
        is_worth_a_line.then_some(Self { totals, name, is_at_least })
    }
}
