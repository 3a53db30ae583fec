//! How to browse.

use std::env;
use std::path::PathBuf;

use nu_ansi_term::Color;

use super::flags::Flags;
use super::parse::path_in;
use super::{HOME, filters};
use crate::app::browse::{self, Bindings, BrowseOptions, SortKey, Sorting};
use crate::app::terminal;
use weigh::internal::ask::Input;
use weigh::internal::fs::git::{Git, GitConfig};
use weigh::internal::remove::UserDirectories;
use weigh::internal::show::palette::{ROLES, Theme};
use weigh::internal::sys;
use weigh::internal::tree::tally::Inodes;

impl Flags {
    /// What to keep of inodes, to be browsed in: of a snapshot, what it says.
    pub(super) fn browsed_inodes(&self) -> Inodes {
        let is_walked = !self.is_loaded();
        let inodes = match self.snapshots.details {
            true => Inodes::ALL,
            false if is_walked => Inodes::DIRECTORIES,
            false => Inodes::DATED_DIRECTORIES,
        };
        Inodes { fingerprints: is_walked, ..inodes }
    }

    /// How to browse what is in `source`, if that is asked for, or in one line why that cannot be done. A `note` is shown at
    /// first.
    pub(super) fn browse(
        &self,
        source: &Input,
        note: Option<&str>,
    ) -> Result<Option<BrowseOptions>, String> {
        if !self.screen.ui {
            return Ok(None);
        }
        if !browse::IS_BUILT {
            return Err("ui is not in this weigh: it was built without the feature tui".into());
        }
        let keys = Bindings::new(self.screen.key_of.clone())?;
        if let Some(why) = terminal::lacks_screen() {
            return Err(why);
        }
        if self.filetime().is_some() {
            return Err("ui sorts by time with the key M\nleave out --sort time".into());
        }
        let is_compared = self.snapshots.since.is_some();
        let usual = if is_compared { SortKey::Change } else { SortKey::Size };
        let is_colored = self.wants_colors(terminal::allows_colors);
        // Who does not use git has no configuration that could be wrong.
        let config = filters::git_config().unwrap_or_else(|_| GitConfig::default());
        Ok(Some(BrowseOptions {
            format: self.format(),
            times: Some(self.times()),
            sorting: Sorting { by: self.show.sort.unwrap_or(usual), ..Sorting::default() },
            print0: self.screen.print0,
            prints_directory: self.screen.cd,
            is_raw: !terminal::is_stdout(),
            read_only: self.screen.read_only,
            is_root: sys::is_root(),
            keys,
            directories: user_directories(),
            homes: homes(),
            ignored: Git { config: config.into(), ..Git::default() },
            colors: is_colored.then(|| self.colors()),
            charset: terminal::charset(),
            size: terminal::usual_size(),
            asks_background: self.may_ask_background(),
            has_time_style: self.print.time_style.is_some(),
            search: Some(self.search_later()?),
            begins_with_clean: self.show.reclaimable,
            kept: match source {
                Input::Roots(roots) => Some(self.kept_scans(roots)),
                _ => None,
            },
            note: note.filter(|_| !self.print.quiet).map(|note| note.replace('\n', ": ")),
        }))
    }
}

impl Flags {
    /// Whether the background may be asked for: if nothing says what it is. Linux's console may print the question.
    pub(super) fn may_ask_background(&self) -> bool {
        self.print.theme.flatten().is_none()
            && terminal::theme() == Theme::None
            && env::var_os("TERM").is_some()
            && !terminal::is_linux_console()
    }
}

/// The user's home: by the environment, or by the user database.
fn home() -> Option<PathBuf> {
    let home = path_in(HOME).filter(|home| home.is_absolute());
    home.or_else(|| sys::user_home(sys::user_id()))
}

/// The user's homes: by the environment, by the user database, and with sudo, of the user who called it.
pub(super) fn homes() -> Vec<PathBuf> {
    let caller = env::var("SUDO_UID").ok().and_then(|id| sys::user_home(id.parse().ok()?));
    [home(), sys::user_home(sys::user_id()), caller].into_iter().flatten().collect()
}

/// The user's directories for data and state.
pub(super) fn user_directories() -> UserDirectories {
    UserDirectories::of(|name| if name == HOME { home() } else { path_in(name) })
}

// The user's own colours: `accent=blue`, `band=237`, `share=#3a6296`.

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
            ("band=237", (4, Color::Fixed(237))),
            ("share=#3a6296", (5, Color::Rgb(0x3a, 0x62, 0x96))),
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
