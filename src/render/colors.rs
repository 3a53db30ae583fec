//! Colours by LS_COLORS, from what the walk already knows of an inode.

use std::cmp::Ordering;

use lscolors::{Indicator, LsColors};
use nu_ansi_term::{Color, Style};

use crate::measure::Mode;

/// Chooses the style of a name.
#[derive(Clone, Debug, Default)]
pub struct Colors {
    names: LsColors,
}

impl Colors {
    /// Colours as in the value of LS_COLORS (dircolors(1)), over ls's own.
    pub fn new(ls_colors: &str) -> Self {
        Self { names: LsColors::from_string(ls_colors) }
    }

    /// The style of an entry called `name`.
    pub fn name(&self, name: &[u8], mode: Mode) -> Style {
        let indicator = self.indicator(mode);
        let by_ending = match indicator {
            Indicator::RegularFile => {
                std::str::from_utf8(name).ok().and_then(|name| self.names.style_for_str(name))
            }
            _ => None,
        };
        let style = by_ending.or_else(|| self.names.style_for_indicator(indicator));
        style.map(lscolors::Style::to_nu_ansi_term_style).unwrap_or_default()
    }

    /// The style of a size: bold, if it is the largest among siblings.
    pub(super) fn size(&self, is_largest: bool, direction: Option<Ordering>) -> Style {
        Style { is_bold: is_largest, ..self.direction(direction) }
    }

    /// The style of what grew or shrank. Only LS_COLORS may give the same colours to anything else.
    pub(super) fn direction(&self, direction: Option<Ordering>) -> Style {
        match direction {
            Some(Ordering::Greater) => Style::new().fg(Color::Red),
            Some(Ordering::Less) => Style::new().fg(Color::Green),
            _ => Style::new(),
        }
    }

    /// The style of dim bars.
    pub(super) fn dim_bar(&self) -> Style {
        Style::new().fg(Color::DarkGray)
    }

    /// The style of remarks beside a name.
    pub(super) fn aside(&self) -> Style {
        Style::new().dimmed()
    }

    fn indicator(&self, mode: Mode) -> Indicator {
        let bits = |mask| mode.0 & mask == mask;
        let or = |indicator, otherwise| {
            if self.names.has_explicit_style_for(indicator) { indicator } else { otherwise }
        };
        match mode.file_type() {
            0o100_000 if bits(0o4000) => or(Indicator::Setuid, Indicator::RegularFile),
            0o100_000 if bits(0o2000) => or(Indicator::Setgid, Indicator::RegularFile),
            0o100_000 if mode.0 & 0o111 != 0 => {
                or(Indicator::ExecutableFile, Indicator::RegularFile)
            }
            0o040_000 if bits(0o1002) => {
                or(Indicator::StickyAndOtherWritable, Indicator::Directory)
            }
            0o040_000 if bits(0o2) => or(Indicator::OtherWritable, Indicator::Directory),
            0o040_000 if bits(0o1000) => or(Indicator::Sticky, Indicator::Directory),
            0o040_000 => Indicator::Directory,
            0o120_000 => Indicator::SymbolicLink,
            0o010_000 => Indicator::FIFO,
            0o140_000 => Indicator::Socket,
            0o060_000 => Indicator::BlockDevice,
            0o020_000 => Indicator::CharacterDevice,
            _ => Indicator::RegularFile,
        }
    }
}
