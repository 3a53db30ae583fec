//! The colours that pictures and the screen share, and bars in eighths of a cell.
//!
//! Every colour of 256 and of 16 M is legible on what its theme is for: text has a contrast of 4.5 or more, bars have
//! 3 (WCAG 2.2). If the background is unknown, text keeps the colour of the terminal, because no colour has 4.5 on
//! black and on white.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Write as _;

use nu_ansi_term::Color::{self, Fixed};
use nu_ansi_term::Style;

use super::kinds::KINDS;
use super::name::cut;

/// What the background of the terminal is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Black, or nearly so.
    Dark,
    /// White, or nearly so.
    Light,
    /// Unknown.
    #[default]
    None,
}

/// How many colours the terminal has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// 16, which the user of the terminal chooses.
    #[default]
    Ansi,
    /// 256, fixed except the first 16.
    Fixed,
    /// 16 M.
    Rgb,
}

/// What the terminal can draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// All of Unicode.
    #[default]
    Unicode,
    /// What the fonts of Linux's own console have: that of the kernel (code page 437), and those of Debian.
    Console,
    /// Only ASCII.
    Ascii,
}

impl Charset {
    /// An escaped name with what is not ASCII escaped too, if only ASCII can be shown.
    pub fn text(self, name: String) -> String {
        match self {
            Charset::Ascii if !name.is_ascii() => ascii(&name, |_| None),
            _ => name,
        }
    }

    /// A line with characters of ASCII in place of those that are drawn and cannot be shown; and all others escaped, if
    /// only ASCII can be. The line is safe to print. Colours and links in it stay as they are.
    pub fn drawing(self, line: &str) -> Cow<'_, str> {
        /// The console lacks the first few.
        const DRAWN: &str = "…●◐▸▾▀─│├┌└┐┘┴┬≥≤·↑↓←→×■";
        const ASCII: &[u8; 24] = b"~*o+-\"-||,`.'++><-^v<>x#";
        const LACKING: usize = 6;
        let drawn = |c| {
            let position = DRAWN.chars().position(|drawn| drawn == c)?;
            Some((position, char::from(ASCII[position])))
        };
        match self {
            Charset::Ascii if !line.is_ascii() => ascii(line, |c| Some(drawn(c)?.1)).into(),
            Charset::Console if !line.is_ascii() => {
                let shown = |c| match drawn(c) {
                    Some((..LACKING, ascii)) => ascii,
                    _ => c,
                };
                line.chars().map(shown).collect::<String>().into()
            }
            _ => line.into(),
        }
    }

    /// A line as [`Self::drawing`] has it, cut to at most `width` cells.
    pub fn cut(self, line: &str, width: usize) -> String {
        self.drawing(&cut(&self.drawing(line), width)).into_owned()
    }
}

/// `text` in ASCII: each other character is what `drawn` has for it, or its bytes, escaped.
fn ascii(text: &str, drawn: impl Fn(char) -> Option<char>) -> String {
    let mut ascii = String::new();
    for c in text.chars() {
        match drawn(c) {
            _ if c.is_ascii() => ascii.push(c),
            Some(drawn) => ascii.push(drawn),
            None => c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| {
                // Writing to a string cannot fail.
                let _ = write!(ascii, "\\x{byte:02x}");
            }),
        }
    }
    ascii
}

/// The colours for a theme and a depth.
#[derive(Clone, Copy, Debug, Default)]
pub struct Palette {
    theme: Theme,
    depth: Depth,
    /// The user's own colours.
    own: [Option<Color>; ROLES.len()],
}

/// What a user can give a colour of their own: what is in `OTHERS`, in its order, and all shares.
pub const ROLES: [&str; 6] = ["accent", "aside", "grown", "shrunk", "band", "share"];
const SHARE: usize = 5;

/// A share that makes text bold, in percent, rounded as it is printed.
const LARGE: f64 = 20.0;

/// The shares, in percent, of the colours in `RAMPS`.
const STOPS: [f64; 6] = [0.0, 3.0, 8.0, 20.0, 45.0, 100.0];

/// From cool to warm, as shares grow: for each depth, on dark, on light, and on both.
const RAMPS: [[Color; 6]; 9] = [
    [Color::Cyan, Color::Cyan, Color::Green, Color::Yellow, Color::LightRed, Color::LightRed],
    [Color::Blue, Color::Blue, Color::Purple, Color::Purple, Color::Red, Color::Red],
    [Color::Purple, Color::Purple, Color::Purple, Color::Red, Color::Red, Color::Red],
    fixed([110, 73, 107, 172, 208, 209]),
    fixed([25, 23, 22, 94, 124, 160]),
    fixed([67, 66, 65, 136, 166, 167]),
    rgb([0x7a9fd0, 0x4fb0ad, 0x66b878, 0xd0a03c, 0xe8894f, 0xf07a62]),
    rgb([0x3a6296, 0x14706d, 0x2a7240, 0x8a5a00, 0xa84a12, 0xb23a22]),
    rgb([0x567daa, 0x268b88, 0x428c5c, 0xb07a1c, 0xc8622d, 0xcc543a]),
];

/// The areas of the kinds of files (`super::kinds`), as on the page; and of directories: for each depth, on dark, on
/// light, and on both. Of the first 16, few are seen on a light
/// background, so kinds share them.
const KIND_COLORS: [[Color; KINDS.len()]; 9] = [
    [
        Color::LightBlue,
        Color::Cyan,
        Color::Yellow,
        Color::LightRed,
        Color::Purple,
        Color::LightPurple,
        Color::LightCyan,
        Color::White,
        Color::DarkGray,
    ],
    FEW_KIND_COLORS,
    FEW_KIND_COLORS,
    fixed([111, 73, 143, 179, 141, 211, 74, 145, 245]),
    fixed([25, 23, 58, 94, 61, 125, 24, 59, 241]),
    fixed([69, 30, 100, 166, 135, 168, 31, 102, 244]),
    rgb([0x7da7ee, 0x4fc0a8, 0xb5bd52, 0xeba24b, 0xb898f0, 0xec86b2, 0x5cb9de, 0xa3adb8, 0x858d97]),
    rgb([0x2b5aa8, 0x0b6557, 0x5c5f0e, 0x96490a, 0x6c3fa3, 0xa32a63, 0x0d6186, 0x535b65, 0x666d76]),
    rgb([0x3d7fed, 0x10947f, 0x838714, 0xcf650e, 0xa25ff5, 0xe83c8d, 0x138cc2, 0x798491, 0x808080]),
];
const FEW_KIND_COLORS: [Color; KINDS.len()] = [
    Color::LightBlue,
    Color::Purple,
    Color::LightPurple,
    Color::Red,
    Color::Purple,
    Color::LightPurple,
    Color::LightBlue,
    Color::DarkGray,
    Color::DarkGray,
];

/// Other colours of text: accent, aside, up, down; and of a background: band. Of 256 and of 16 M, on dark and on
/// light. Elsewhere they are the terminal's own.
const OTHERS: [[Color; 5]; 4] = [
    fixed([75, 247, 209, 114, 17]),
    fixed([25, 242, 124, 22, 195]),
    rgb([0x6ea8f0, 0x9aa1ab, 0xf07a62, 0x6cc07e, 0x26344a]),
    rgb([0x1f62b0, 0x5c616a, 0xb23a22, 0x2a7240, 0xe0eaf8]),
];

impl Palette {
    /// The colours for `theme` and `depth`.
    pub fn new(theme: Theme, depth: Depth) -> Self {
        Self { theme, depth, own: [None; ROLES.len()] }
    }

    /// The same colours for another theme.
    pub fn on(self, theme: Theme) -> Self {
        Self { theme, ..self }
    }

    /// Whether these are for a terminal that may have only 16.
    pub fn has_16_colors(self) -> bool {
        self.depth == Depth::Ansi
    }

    /// With a `color` for one of [`ROLES`], if the terminal has it.
    pub fn with(mut self, role: usize, color: Color) -> Self {
        let needs = match color {
            Color::Rgb(..) => Depth::Rgb,
            Fixed(16..) => Depth::Fixed,
            _ => Depth::Ansi,
        };
        if let Some(own) = self.own.get_mut(role).filter(|_| needs as usize <= self.depth as usize)
        {
            *own = Some(color);
        }
        self
    }

    /// Text about a `part` of `whole`: warmer the larger it is, and bold from a fifth on.
    pub fn share(self, part: u64, whole: u64) -> Style {
        let foreground = (self.theme != Theme::None || self.own[SHARE].is_some())
            .then(|| self.ramp(part, whole));
        Style {
            foreground,
            is_bold: percent(part, whole).round_ties_even() >= LARGE,
            ..Style::new()
        }
    }

    /// The solid part of a bar, for a `part` of `whole`.
    pub fn bar(self, part: u64, whole: u64) -> Style {
        self.ramp(part, whole).normal()
    }

    /// The area of one of the [`KINDS`] of files.
    pub fn kind(self, kind: usize) -> Style {
        KIND_COLORS[3 * self.depth as usize + self.theme as usize][kind].normal()
    }

    /// Text on that area.
    pub fn on_kind(self, kind: usize) -> Style {
        match (self.kind(kind).foreground, self.depth, self.theme) {
            (Some(area), Depth::Fixed | Depth::Rgb, Theme::Light) => Fixed(231).on(area),
            (Some(area), Depth::Fixed | Depth::Rgb, _) => Fixed(16).on(area),
            // The background of the terminal has the same contrast with it as the area has with the background.
            _ => self.kind(kind).reverse(),
        }
    }

    /// The solid part of a bar that is to draw no attention.
    pub fn quiet(self) -> Style {
        match self.depth {
            Depth::Ansi => Style::new().dimmed(),
            Depth::Fixed | Depth::Rgb => Fixed(244).normal(),
        }
    }

    /// The selected line: a background under the colours of text; if the background of the terminal is unknown, also a
    /// colour for all text on it; or else reversed.
    pub fn band(self) -> Style {
        match (self.other(4), self.unknown()) {
            (Some(color), _) => Style::new().on(color),
            (None, Some([ground, text, _])) => text.on(ground),
            (None, None) => Style::new().reverse(),
        }
    }

    /// Bars on a selected line that has a colour for its text.
    pub fn bar_on_band(self) -> Option<Color> {
        self.unknown().map(|[.., bar]| bar).filter(|_| self.own[4].is_none())
    }

    /// Directories, headings, and whatever can be acted on.
    pub fn accent(self) -> Style {
        let usual = self.unknown().is_none().then(|| self.ramp_colors()[0]);
        Style { foreground: self.other(0).or(usual), ..Style::new().bold() }
    }

    /// The area of a plot.
    pub fn plot(self) -> Style {
        self.other(0).unwrap_or(self.ramp_colors()[0]).normal()
    }

    /// Remarks, and what is not large. Dimmed text may be too pale where the background is unknown.
    pub fn aside(self) -> Style {
        let usual = if self.unknown().is_some() { Style::new() } else { Style::new().dimmed() };
        self.other(1).map_or(usual, Color::normal)
    }

    /// What grew, or shrank.
    pub fn change(self, direction: Option<Ordering>) -> Style {
        let (own, usual) = match direction {
            Some(Ordering::Greater) => (self.other(2), Color::Red),
            Some(Ordering::Less) => (self.other(3), Color::Green),
            _ => return Style::new(),
        };
        let usual = self.unknown().is_none().then_some(usual);
        Style { foreground: own.or(usual), ..Style::new() }
    }

    /// The colours of the selected line, its text and its bars on a background that is unknown, of 256 and of 16 M.
    fn unknown(self) -> Option<[Color; 3]> {
        match (self.theme, self.depth) {
            (Theme::None, Depth::Fixed) => Some(fixed([24, 231, 153])),
            (Theme::None, Depth::Rgb) => Some(rgb([0x2f5f93, 0xffffff, 0xa8c8f0])),
            _ => None,
        }
    }

    fn other(self, number: usize) -> Option<Color> {
        if self.own[number].is_some() {
            return self.own[number];
        }
        match (self.depth, self.theme) {
            (Depth::Ansi, _) | (_, Theme::None) => None,
            (depth, theme) => Some(OTHERS[2 * depth as usize - 2 + theme as usize][number]),
        }
    }

    fn ramp_colors(self) -> [Color; 6] {
        RAMPS[3 * self.depth as usize + self.theme as usize]
    }

    fn ramp(self, part: u64, whole: u64) -> Color {
        if let Some(color) = self.own[SHARE] {
            return color;
        }
        let (share, ramp) = (percent(part, whole), self.ramp_colors());
        let i = STOPS[1..5].partition_point(|stop| *stop <= share);
        let along = (share - STOPS[i]) / (STOPS[i + 1] - STOPS[i]);
        match (ramp[i], ramp[i + 1]) {
            (Color::Rgb(r, g, b), Color::Rgb(red, green, blue)) => {
                let [r, g, b] = [(r, red), (g, green), (b, blue)].map(|(from, to)| {
                    (f64::from(from) + (f64::from(to) - f64::from(from)) * along).round() as u8
                });
                Color::Rgb(r, g, b)
            }
            (from, _) if along < 0.5 => from,
            (_, to) => to,
        }
    }
}

/// A bar for a `part` of `whole`, in at most `width` cells and without blanks behind it. It is empty if the part is less
/// than half of what the smallest bar stands for.
pub fn bar(part: u64, whole: u64, width: usize, charset: Charset) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let most = width.min(u16::MAX.into()) as u128 * 8;
    let (part, whole) = (u128::from(part), u128::from(whole.max(1)));
    // In a forged snapshot, a part may be far more than the whole.
    let eighths = ((part * most + whole / 2) / whole).min(most) as usize;
    match charset {
        Charset::Unicode => "█".repeat(eighths / 8) + PARTS[eighths % 8],
        Charset::Console => "█".repeat((eighths + 4) / 8),
        Charset::Ascii => "#".repeat((eighths + 4) / 8),
    }
}

/// The share of `part` in percent.
fn percent(part: u64, whole: u64) -> f64 {
    (part as f64 / whole.max(1) as f64 * 100.0).min(100.0)
}

const fn fixed<const N: usize>(numbers: [u8; N]) -> [Color; N] {
    let mut colors = [Fixed(0); N];
    let mut i = 0;
    while i < N {
        colors[i] = Fixed(numbers[i]);
        i += 1;
    }
    colors
}

const fn rgb<const N: usize>(numbers: [u32; N]) -> [Color; N] {
    let mut colors = [Fixed(0); N];
    let mut i = 0;
    while i < N {
        colors[i] = hex(numbers[i]);
        i += 1;
    }
    colors
}

const fn hex(color: u32) -> Color {
    let [_, red, green, blue] = color.to_be_bytes();
    Color::Rgb(red, green, blue)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DARK: [u32; 5] = [0x000000, 0x16181d, 0x1e1e1e, 0x282c34, 0x002b36];
    const LIGHT: [u32; 3] = [0xffffff, 0xfbfbf9, 0xfdf6e3];

    /// The colour as red, green and blue; of the first 16, xterm's.
    fn channels(color: Color) -> [u8; 3] {
        match color {
            Color::Rgb(red, green, blue) => [red, green, blue],
            Fixed(number @ 232..) => [8 + 10 * (number - 232); 3],
            Fixed(number @ 16..) => [36, 6, 1].map(|unit| {
                let step = (number - 16) / unit % 6;
                if step == 0 { 0 } else { 55 + 40 * step }
            }),
            Color::Red => [205, 0, 0],
            Color::LightRed => [255, 0, 0],
            Color::Green => [0, 205, 0],
            Color::Yellow => [205, 205, 0],
            Color::Blue => [0, 0, 238],
            Color::Purple => [205, 0, 205],
            Color::Cyan => [0, 205, 205],
            Color::White => [229, 229, 229],
            Color::DarkGray => [127, 127, 127],
            Color::LightBlue => [92, 92, 255],
            Color::LightPurple => [255, 0, 255],
            Color::LightCyan => [0, 255, 255],
            other => panic!("{other:?} is not in the table"),
        }
    }

    /// WCAG 2.2, "contrast ratio" and "relative luminance".
    fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
        let [one, other] = [one, other].map(|channels| {
            let [red, green, blue] = channels.map(|channel| {
                let channel = f64::from(channel) / 255.0;
                if channel <= 0.04045 {
                    channel / 12.92
                } else {
                    ((channel + 0.055) / 1.055).powf(2.4)
                }
            });
            0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
        });
        one.max(other) / one.min(other)
    }

    fn ensure(color: Color, on: [u8; 3], least: f64, what: &str) {
        let contrast = contrast(channels(color), on);
        assert!(contrast >= least, "{what}: {color:?} on {on:02x?} has {contrast:.2}");
    }

    fn grounds(theme: Theme, depth: Depth) -> Vec<[u8; 3]> {
        let hex = match theme {
            Theme::Dark => DARK.to_vec(),
            Theme::Light => LIGHT.to_vec(),
            Theme::None => [&DARK[..], &LIGHT].concat(),
        };
        let hex = hex.into_iter().map(|hex| hex.to_be_bytes()[1..].try_into().expect("three"));
        // Who has 16 colours chose them for the background: only black and white can be checked.
        hex.filter(|ground| depth != Depth::Ansi || [[0; 3], [255; 3]].contains(ground)).collect()
    }

    #[test]
    fn contrasts_are_as_wcag_has_them() {
        assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 0.001);
        assert!((contrast([119; 3], [255; 3]) - 4.478).abs() < 0.001);
    }

    #[test]
    fn everything_is_legible_on_its_background() {
        for theme in [Theme::Dark, Theme::Light, Theme::None] {
            for depth in [Depth::Ansi, Depth::Fixed, Depth::Rgb] {
                let palette = Palette::new(theme, depth);
                let what = &format!("{theme:?}, {depth:?}");
                let band = palette.band().background.map(channels);
                assert_eq!(band.is_some(), depth != Depth::Ansi, "{what}");
                for ground in grounds(theme, depth) {
                    for share in 0..=100 {
                        let bar = palette.bar(share, 100).foreground.expect("a colour");
                        ensure(bar, ground, 3.0, &format!("bars, {what}"));
                    }
                    for kind in 0..KINDS.len() {
                        let area = palette.kind(kind).foreground.expect("a colour");
                        ensure(area, ground, 3.0, &format!("areas, {what}"));
                        let text = palette.on_kind(kind).foreground.expect("a colour");
                        match depth {
                            Depth::Ansi => assert!(palette.on_kind(kind).is_reverse),
                            _ => ensure(text, channels(area), 4.5, &format!("on areas, {what}")),
                        }
                    }
                    if let Some(quiet) = palette.quiet().foreground {
                        ensure(quiet, ground, 3.0, &format!("the rest, {what}"));
                    }
                }
                if let (Some(band), Some(bar)) = (band, palette.bar_on_band()) {
                    ensure(palette.band().foreground.expect("a colour"), band, 4.5, "the band");
                    ensure(bar, band, 3.0, "bars on the band");
                    // It is seen on any background.
                    for ground in grounds(theme, depth) {
                        ensure(
                            palette.band().background.expect("a colour"),
                            ground,
                            1.5,
                            "the band",
                        );
                    }
                    // Everything else has the terminal's own colour.
                    let texts = [palette.accent(), palette.aside(), palette.share(50, 100)];
                    let changes =
                        [Ordering::Greater, Ordering::Less].map(|it| palette.change(Some(it)));
                    for text in texts.into_iter().chain(changes) {
                        assert_eq!((text.foreground, text.is_dimmed), (None, false), "{what}");
                    }
                    continue;
                }
                for ground in grounds(theme, depth).into_iter().chain(band) {
                    let shares = (0..=100).filter_map(|share| palette.share(share, 100).foreground);
                    let mut texts: Vec<Color> = shares.collect();
                    assert_eq!(texts.is_empty(), theme == Theme::None, "{what}");
                    if theme != Theme::None {
                        texts.extend(palette.accent().foreground);
                    }
                    if depth != Depth::Ansi && theme != Theme::None {
                        let [up, down] = [Ordering::Greater, Ordering::Less]
                            .map(|direction| palette.change(Some(direction)));
                        let others = [palette.aside(), up, down];
                        texts.extend(others.map(|style| style.foreground.expect("a colour")));
                    }
                    for text in texts {
                        ensure(text, ground, 4.5, &format!("text, {what}"));
                    }
                }
            }
        }
    }

    #[test]
    fn a_fifth_and_more_is_bold() {
        let palette = Palette::new(Theme::Dark, Depth::Rgb);
        assert!(!palette.share(194, 1_000).is_bold);
        assert!(palette.share(196, 1_000).is_bold, "20% is printed beside it");
        assert!(!palette.share(0, 0).is_bold);
        assert_eq!(palette.share(u64::MAX, 1), palette.share(1, 1), "a forged part");
    }

    #[test]
    fn bars_have_eighths() {
        for (part, whole, width, drawn, ascii) in [
            (0, 100, 4, "", ""),
            (0, 0, 4, "", ""),
            (1, 1_000, 4, "", ""),
            (1, 64, 4, "▏", ""),
            (12, 32, 4, "█▌", "##"),
            (11, 32, 4, "█▍", "#"),
            (31, 32, 4, "███▉", "####"),
            (32, 32, 4, "████", "####"),
            (u64::MAX, 1, 4, "████", "####"),
            (1, 1, 0, "", ""),
        ] {
            let what = format!("{part} of {whole} in {width}");
            assert_eq!(bar(part, whole, width, Charset::Unicode), drawn, "{what}");
            assert_eq!(bar(part, whole, width, Charset::Ascii), ascii, "{what}");
        }
    }
}
