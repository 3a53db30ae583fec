//! What all parts of the view draw with.

use std::cmp::Ordering;
use std::ops::Range;

use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};

use super::text::Line;
use crate::app::browse::browser::{Browser, PANE_HEIGHT, PANE_WIDTH};
use weigh::internal::base::escape::single;
use weigh::internal::show::name::cells;
use weigh::internal::show::palette::{Charset, Palette};

/// What stands out.
pub(super) const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);

/// The drawing area.
pub(super) struct Canvas<'a> {
    pub(super) buffer: &'a mut Buffer,
    pub(super) area: Rect,
    /// Colours, if any.
    pub(super) palette: Option<Palette>,
    pub(super) charset: Charset,
    /// Where the first line is that can be chosen in a text over the list, and the numbers of those that are drawn.
    pub(super) choices: (usize, Range<usize>),
}

impl<'a> Canvas<'a> {
    pub(super) fn new(browser: &Browser, buffer: &'a mut Buffer) -> Self {
        let palette = browser.options.colors.as_ref().map(|colors| colors.palette);
        let (area, charset) = (buffer.area, browser.options.charset);
        Self { buffer, area, palette, charset, choices: Default::default() }
    }

    /// Writes `text`, which is already escaped, from the column `x` of a line on, in at most `width` cells. Returns
    /// the column after it. Each character gets cells of its own, as terminals draw it (`cells`); ratatui alone would
    /// give some letters with a sign beside them one cell too few.
    pub(super) fn write(
        &mut self,
        (x, y): (usize, usize),
        text: &str,
        width: usize,
        style: Style,
    ) -> usize {
        let (Ok(column), Ok(line)) = (u16::try_from(x), u16::try_from(y)) else { return x };
        if column >= self.area.width || line >= self.area.height {
            return x;
        }
        let text = self.charset.drawing(text);
        let text = single(&text);
        let end = x.saturating_add(width).min(self.area.width.into());
        let mut next = x;
        let starts = text.char_indices().map(|(at, c)| (at, cells(c.encode_utf8(&mut [0; 4]))));
        let mut starts = starts.filter(|(_, cells)| *cells > 0).peekable();
        while let Some((at, cells)) = starts.next() {
            let symbol = &text[at..starts.peek().map_or(text.len(), |(after, _)| *after)];
            if next + cells > end {
                break;
            }
            for x in next..next + cells {
                let Ok(column) = u16::try_from(x) else { return next };
                if let Some(cell) = self.buffer.cell_mut((column, line)) {
                    // The first one draws over the others.
                    match x == next {
                        true => _ = cell.set_symbol(symbol).set_style(style),
                        false => cell.reset(),
                    }
                }
            }
            next += cells;
        }
        next
    }

    /// Writes the parts of a line.
    pub(super) fn line(&mut self, y: usize, line: &Line) {
        for (x, text, style) in line {
            self.write((*x, y), text, self.width(), *style);
        }
    }

    /// Styles the first cells of a line.
    pub(super) fn paint(&mut self, y: usize, width: usize, style: Style) {
        let (Ok(y), Ok(width)) = (u16::try_from(y), u16::try_from(width)) else { return };
        let line = Rect { y, width, height: 1, ..self.area };
        self.buffer.set_style(line.intersection(self.area), style);
    }

    /// Makes the first cells of a line a band: a background, or else all of it reversed, whatever its colours were.
    /// Without colours, a sign stands before it.
    pub(super) fn band(&mut self, y: usize, width: usize) {
        if self.palette.is_none() {
            self.write((0, y), ">", 1, Style::new());
        }
        let band = self.style(Palette::band, Modifier::REVERSED);
        if band.bg.is_some() {
            self.paint(y, width, band);
            // Bars that had a colour for another background.
            let of_bar = self.palette.and_then(Palette::bar_on_band).map(color);
            for x in (0..width).filter(|_| of_bar.is_some()) {
                let Some(cell) = self.cell(x, y) else { return };
                if cell.symbol().starts_with(|c| "▏▎▍▌▋▊▉█".contains(c)) {
                    cell.set_style(Style { fg: of_bar, ..Style::new() });
                }
            }
            return;
        }
        let uniform = Style::new().fg(Color::Reset).remove_modifier(Modifier::DIM);
        self.paint(y, width, uniform.patch(band));
        // A solid bar would be a hole in it.
        for x in 0..width {
            let Some(cell) = self.cell(x, y) else { return };
            match cell.symbol() {
                "█" => _ = cell.set_symbol("▒"),
                "▏" | "▎" | "▍" | "▌" | "▋" | "▊" | "▉" => _ = cell.set_symbol("░"),
                _ => {}
            }
        }
    }

    fn cell(&mut self, x: usize, y: usize) -> Option<&mut Cell> {
        self.buffer.cell_mut((u16::try_from(x).ok()?, u16::try_from(y).ok()?))
    }

    /// A style of the palette, or a modifier where there are no colours.
    pub(super) fn style(
        &self,
        of: impl FnOnce(Palette) -> nu_ansi_term::Style,
        plain: Modifier,
    ) -> Style {
        self.palette.map_or(Style::new().add_modifier(plain), |palette| style(of(palette)))
    }

    /// The style of what is less important.
    pub(super) fn aside(&self) -> Style {
        self.style(Palette::aside, Modifier::DIM)
    }

    /// The style of the dot that marks.
    pub(super) fn of_mark(&self) -> Style {
        let style = self.style(|it| it.change(Some(Ordering::Greater)), Modifier::BOLD);
        if style.fg.is_some() { style } else { BOLD }
    }

    pub(super) fn width(&self) -> usize {
        self.area.width.into()
    }

    pub(super) fn height(&self) -> usize {
        self.area.height.into()
    }
}

/// Converts a style of `nu_ansi_term` to ratatui's.
pub(super) fn style(style: nu_ansi_term::Style) -> Style {
    let modifiers = [
        (style.is_bold, Modifier::BOLD),
        (style.is_dimmed, Modifier::DIM),
        (style.is_italic, Modifier::ITALIC),
        (style.is_underline, Modifier::UNDERLINED),
        (style.is_reverse, Modifier::REVERSED),
    ];
    let modifiers = modifiers.into_iter().filter(|(is_on, _)| *is_on);
    Style {
        fg: style.foreground.map(color),
        bg: style.background.map(color),
        add_modifier: modifiers.map(|(_, modifier)| modifier).collect(),
        ..Style::new()
    }
}

fn color(color: nu_ansi_term::Color) -> Color {
    match color {
        nu_ansi_term::Color::Black => Color::Black,
        nu_ansi_term::Color::DarkGray => Color::DarkGray,
        nu_ansi_term::Color::Red => Color::Red,
        nu_ansi_term::Color::LightRed => Color::LightRed,
        nu_ansi_term::Color::Green => Color::Green,
        nu_ansi_term::Color::LightGreen => Color::LightGreen,
        nu_ansi_term::Color::Yellow => Color::Yellow,
        nu_ansi_term::Color::LightYellow => Color::LightYellow,
        nu_ansi_term::Color::Blue => Color::Blue,
        nu_ansi_term::Color::LightBlue => Color::LightBlue,
        nu_ansi_term::Color::Purple | nu_ansi_term::Color::Magenta => Color::Magenta,
        nu_ansi_term::Color::LightPurple | nu_ansi_term::Color::LightMagenta => Color::LightMagenta,
        nu_ansi_term::Color::Cyan => Color::Cyan,
        nu_ansi_term::Color::LightCyan => Color::LightCyan,
        nu_ansi_term::Color::White => Color::Gray,
        nu_ansi_term::Color::LightGray => Color::White,
        nu_ansi_term::Color::Fixed(number) => Color::Indexed(number),
        nu_ansi_term::Color::Rgb(red, green, blue) => Color::Rgb(red, green, blue),
        nu_ansi_term::Color::Default => Color::Reset,
    }
}

// Where the parts of the screen are. What is least needed goes first where there is no room: blanks, the names of the
// views, headings, the line of marks.

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
