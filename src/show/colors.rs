//! Colours of names by LS_COLORS, from what the walk already knows of an inode; and the palette for all else.

use lscolors::{Indicator, LsColors};
use nu_ansi_term::{Color, Style};

use super::palette::Palette;
use crate::base::measure::{Kind, Mode};

/// Chooses the style of a name.
#[derive(Clone, Debug, Default)]
pub struct Colors {
    names: LsColors,
    /// The colours of what is no name.
    pub palette: Palette,
}

impl Colors {
    /// Names as in the value of LS_COLORS (dircolors(1)), over ls's own; all else as in `palette`.
    pub fn new(ls_colors: &str, palette: Palette) -> Self {
        Self { names: LsColors::from_string(ls_colors), palette }
    }

    /// The style of an entry called `name`.
    pub fn name(&self, name: &[u8], mode: Mode) -> Style {
        let indicator = match indicator(mode) {
            // A regular file may have a style by its ending.
            special @ (Indicator::Setuid | Indicator::Setgid | Indicator::ExecutableFile)
                if !self.names.has_explicit_style_for(special) =>
            {
                Indicator::RegularFile
            }
            indicator => indicator,
        };
        let by_ending = match (indicator, std::str::from_utf8(name)) {
            (Indicator::RegularFile, Ok(name)) => self.names.style_for_str(name),
            _ => None,
        };
        let style = by_ending.or_else(|| self.names.style_for_indicator(indicator));
        let style = style.map(lscolors::Style::to_nu_ansi_term_style).unwrap_or_default();
        // A background outshouts sizes, and its foreground is for it alone. ls's own blue, which is also that of most
        // distributions, can hardly be read on black.
        let is_loud = style.background.is_some() || style.is_reverse;
        match mode.kind() {
            Kind::Directory if is_loud || style == Color::Blue.bold() => self.palette.accent(),
            _ if is_loud => Style::new(),
            _ => style,
        }
    }
}

/// What LS_COLORS calls the type and the permissions of an inode. A directory without a style for its permissions has
/// that of all directories.
fn indicator(mode: Mode) -> Indicator {
    let permissions = mode.0;
    match mode.file_type() {
        0o100_000 if permissions & 0o4000 != 0 => Indicator::Setuid,
        0o100_000 if permissions & 0o2000 != 0 => Indicator::Setgid,
        0o100_000 if permissions & 0o111 != 0 => Indicator::ExecutableFile,
        0o040_000 if permissions & 0o1002 == 0o1002 => Indicator::StickyAndOtherWritable,
        0o040_000 if permissions & 0o2 != 0 => Indicator::OtherWritable,
        0o040_000 if permissions & 0o1000 != 0 => Indicator::Sticky,
        0o040_000 => Indicator::Directory,
        0o120_000 => Indicator::SymbolicLink,
        0o010_000 => Indicator::FIFO,
        0o140_000 => Indicator::Socket,
        0o060_000 => Indicator::BlockDevice,
        0o020_000 => Indicator::CharacterDevice,
        _ => Indicator::RegularFile,
    }
}
