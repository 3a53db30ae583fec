//! The user's own colours: `accent=blue`, `band=237`, `share=#3a6296`.

use nu_ansi_term::Color;

use weigh::internal::show::palette::ROLES;

/// The names of the colours that every terminal has, and what each is, plain and bright.
const NAMES: [(&str, Color, Color); 8] = [
    ("black", Color::Black, Color::DarkGray),
    ("red", Color::Red, Color::LightRed),
    ("green", Color::Green, Color::LightGreen),
    ("yellow", Color::Yellow, Color::LightYellow),
    ("blue", Color::Blue, Color::LightBlue),
    ("magenta", Color::Purple, Color::LightPurple),
    ("cyan", Color::Cyan, Color::LightCyan),
    ("white", Color::White, Color::LightGray),
];

/// Reads `ROLE=COLOR`: the number of the role, and the colour.
///
/// # Errors
/// Says which roles or which colours there are.
pub(super) fn parse(text: &str) -> Result<(usize, Color), String> {
    let (role, color) = text.split_once('=').ok_or("it is ROLE=COLOR")?;
    let role = ROLES.iter().position(|known| *known == role);
    let role = role.ok_or_else(|| format!("roles are {}", ROLES.join(", ")))?;
    let bright = color.strip_prefix("bright-");
    let named = NAMES.iter().find(|(name, ..)| *name == bright.unwrap_or(color));
    let named = named.map(|(_, dark, light)| if bright.is_some() { *light } else { *dark });
    let color = named.or_else(|| color.parse().ok().map(Color::Fixed)).or_else(|| rgb(color));
    Ok((role, color.ok_or("a color is a name as in blue or bright-blue, 0 to 255, or #rrggbb")?))
}

fn rgb(text: &str) -> Option<Color> {
    let digits =
        text.strip_prefix('#').filter(|digits| digits.len() == 6 && !digits.starts_with('+'))?;
    let [_, red, green, blue] = u32::from_str_radix(digits, 16).ok()?.to_be_bytes();
    Some(Color::Rgb(red, green, blue))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors() {
        for (text, expected) in [
            ("accent=blue", (0, Color::Blue)),
            ("aside=bright-black", (1, Color::DarkGray)),
            ("band=237", (5, Color::Fixed(237))),
            ("share=#3a6296", (6, Color::Rgb(0x3a, 0x62, 0x96))),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
        for text in [
            "",
            "accent",
            "blue=accent",
            "accent=",
            "accent=256",
            "accent=#12345",
            "accent=#+12345",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
