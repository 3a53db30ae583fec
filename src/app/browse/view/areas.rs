//! Where the parts of the screen are. What is least needed goes first where there is no room: blanks, the names of the
//! views, headings, the line of marks.

use crate::app::browse::browser::{PANE_HEIGHT, PANE_WIDTH};

/// The lines and columns of the parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Areas {
    /// The lines before the list, and those after it.
    pub(super) head: usize,
    pub(super) foot: usize,
    /// The columns of the list, and the first one of the second pane, if there is one.
    pub(super) list: usize,
    pub(super) pane: Option<usize>,
}

impl Areas {
    /// For a screen of so many columns and lines.
    pub(super) fn of(width: usize, height: usize) -> Self {
        let (head, foot) = match height {
            0..PANE_HEIGHT => (1, 1),
            PANE_HEIGHT..14 => (2, 1),
            14..22 => (3, 2),
            _ => (4, 2),
        };
        // The pane's title needs a line below the first one, which has the total.
        let is_wide = width >= PANE_WIDTH && height >= PANE_HEIGHT;
        let list = if is_wide { width * 3 / 5 } else { width };
        Self { head, foot, list, pane: is_wide.then_some(list + 3) }
    }

    /// The lines of the list on a screen of this height.
    pub(super) fn lines(self, height: usize) -> usize {
        height.saturating_sub(self.head + self.foot)
    }
}
