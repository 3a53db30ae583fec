//! What the terminal answers to the screen, when it is asked for its background.
//!
//! Nobody waits for the answer. It comes as keys, because crossterm does not know it: Alt-], then characters. What
//! cannot be part of one are keys. Answers that nobody asked for, and those that nobody understands, are not: they
//! would open the search. A terminal that answers nothing costs nothing. Only who leaves the screen right after the
//! question waits for the answer, so that it does not come to the shell.

use std::io;
use std::mem;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::app::terminal::background::{LAST_QUESTION, is_answered, theme};
use weigh::internal::show::palette::Theme;
use weigh::internal::sys;

/// The answer, as far as it has come.
#[derive(Debug, Default)]
pub(super) enum Background {
    /// Nobody has asked, or the answer has come.
    #[default]
    Known,
    /// It was asked then.
    Asked(Instant),
    /// One has begun `at` that time, with this text.
    Begun { at: Instant, text: String, is_asked: bool },
}

/// How long an answer may take. Over slow lines, half a second is usual.
const PATIENCE: Duration = Duration::from_secs(1);

impl Background {
    /// The terminal has been asked.
    pub(super) fn asked_now() -> Self {
        Self::Asked(Instant::now())
    }

    /// Takes from the terminal what it still answers, once it was asked the last question with `ask`. What was typed
    /// meanwhile is lost.
    pub(super) fn drain(&mut self, ask: impl FnOnce(&str) -> io::Result<()>) {
        match mem::take(self) {
            Self::Known => return,
            Self::Asked(at) if at.elapsed() >= PATIENCE => return,
            Self::Asked(_) | Self::Begun { .. } => {}
        }
        if ask(LAST_QUESTION).is_err() {
            return;
        }
        // From this question on, whose answer comes last. On a slow line it comes as long after the first answer as the
        // last question after the first one.
        let mut end = Instant::now() + PATIENCE;
        let longest = end + PATIENCE;
        let mut answer = Vec::new();
        while let Some(left) = end.checked_duration_since(Instant::now())
            && let Ok(bytes @ [_, ..]) = sys::typed(left).as_deref()
        {
            answer.extend_from_slice(bytes);
            // Not for keys: whatever is answered begins with it.
            if bytes.contains(&0x1b) {
                end = longest;
            }
            if is_answered(&answer) {
                return;
            }
        }
    }

    /// Takes a key. None if no answer has to do with it; else the theme, if the answer is complete and says one.
    pub(super) fn take(&mut self, key: KeyEvent) -> Option<Option<Theme>> {
        const ST: (KeyCode, KeyModifiers) = (KeyCode::Char('\\'), KeyModifiers::ALT);
        const BEL: (KeyCode, KeyModifiers) = (KeyCode::Char('g'), KeyModifiers::CONTROL);
        const OSC: (KeyCode, KeyModifiers) = (KeyCode::Char(']'), KeyModifiers::ALT);
        match (&mut *self, (key.code, key.modifiers)) {
            (Self::Known | Self::Asked(_), OSC) => {
                let is_asked = matches!(self, Self::Asked(_));
                *self = Self::Begun { at: Instant::now(), text: String::new(), is_asked };
            }
            (Self::Begun { text, is_asked, .. }, ST | BEL) => {
                let theme = is_asked.then(|| theme(text)).flatten();
                *self = Self::Known;
                return Some(theme);
            }
            (
                Self::Begun { at, text, .. },
                (KeyCode::Char(c), KeyModifiers::NONE | KeyModifiers::SHIFT),
            ) if at.elapsed() < PATIENCE && is_answer(text, c) => {
                text.push(c);
            }
            (Self::Begun { .. }, _) => {
                *self = Self::Known;
                return None;
            }
            _ => return None,
        }
        Some(None)
    }
}

/// Whether `c` can come after `text` in an answer, which begins with a number.
fn is_answer(text: &str, c: char) -> bool {
    const LONGEST: usize = 64;
    text.len() < LONGEST && (!text.is_empty() || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of `keys` after a question, and the theme. `]` and `\` stand for Alt with them.
    fn taken(keys: &str) -> (String, Option<Theme>) {
        let (mut background, mut left, mut theme) = (Background::asked_now(), String::new(), None);
        for c in keys.chars() {
            let modifiers = match c {
                ']' | '\\' => KeyModifiers::ALT,
                '\x07' => KeyModifiers::CONTROL,
                _ => KeyModifiers::NONE,
            };
            let code = KeyCode::Char(if c == '\x07' { 'g' } else { c });
            match background.take(KeyEvent::new(code, modifiers)) {
                Some(found) => theme = theme.or(found),
                None => left.push(c),
            }
        }
        (left, theme)
    }

    #[test]
    fn answers_are_taken_and_keys_are_left() {
        let (dark, light) = (Some(Theme::Dark), Some(Theme::Light));
        for (keys, left, theme) in [
            ("]11;rgb:1e1e/1e1e/1e1e\x07q", "q", dark),
            ("j]11;rgb:FFFF/ffff/ffff\\k", "jk", light),
            ("]11;rgb:f/f/f\x07", "", light),
            ("]11;rgba:00/2b/36/ff\\", "", dark),
            ("jk q", "jk q", None),
            // No answer: what follows is typed.
            ("]d11", "d11", None),
            // Answers that say nothing.
            ("]11;?\x07q", "q", None),
            ("]11;#ffffff\x07q", "q", None),
            ("]11;rgb:zz\x07q", "q", None),
            ("]10;rgb:f/f/f\x07q", "q", None),
            ("]11;rgb:\x07", "", None),
            ("]11;rgb:///\x07", "", None),
            ("]11;rgb:ffffffff/0/0\x07", "", None),
            (
                "]11;rgb:ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
                "fffffffffffff",
                None,
            ),
            // Only the first one was asked for.
            ("]11;rgb:0/0/0\x07]11;rgb:f/f/f\x07q", "q", dark),
        ] {
            assert_eq!(taken(keys), (left.to_owned(), theme), "{keys:?}");
        }
    }
}
