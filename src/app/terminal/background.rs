//! Asks the terminal for its background (OSC 11). It answers `ESC ] 11;rgb:1e1e/1e1e/1e1e BEL`.

use std::env;
use std::time::Duration;

use weigh::internal::show::palette::Theme;
use weigh::internal::sys;

/// The question. A terminal ends its answer as the question ends.
pub const QUESTION: &str = "\x1b]11;?\x07";

/// A second question that every terminal answers (DA1): `ESC [ ? 6 c`. Terminals answer in the order of the questions.
pub const LAST_QUESTION: &str = "\x1b[c";

/// Asks the terminal, and waits for the answer; none if it says nothing that is understood. A terminal that does not know
/// the first question answers the last one at once, so only one that knows neither costs the longest wait.
pub fn ask() -> Option<Theme> {
    let is_far = env::var_os("SSH_CONNECTION").is_some();
    let patience = Duration::from_millis(if is_far { 1_000 } else { 200 });
    let question = [QUESTION, LAST_QUESTION].concat();
    let answer = sys::asked(question.as_bytes(), patience, is_answered).ok()?;
    let answer = String::from_utf8_lossy(&answer);
    let (_, answer) = answer.split_once("\x1b]")?;
    theme(answer.split(['\x07', '\x1b']).next()?)
}

/// Whether the answer to [`LAST_QUESTION`] is in `bytes`.
pub fn is_answered(bytes: &[u8]) -> bool {
    let starts = bytes.windows(3).enumerate().filter(|(_, it)| it == b"\x1b[?");
    let mut rests = starts.map(|(at, _)| bytes[at + 3..].iter());
    rests.any(|mut rest| rest.find(|it| !it.is_ascii_digit() && **it != b';') == Some(&b'c'))
}

/// The theme for the colour in an answer: by its luminance, roughly.
pub fn theme(text: &str) -> Option<Theme> {
    let (_, colors) = text.strip_prefix("11;rgb")?.split_once(':')?;
    let share = |digits: &str| {
        let most = 16_u32.checked_pow(digits.len().try_into().ok()?)? - 1;
        Some(f64::from(u32::from_str_radix(digits, 16).ok()?) / f64::from(most))
    };
    let mut shares = colors.split('/').map(share);
    let [red, green, blue] = [shares.next()??, shares.next()??, shares.next()??];
    let is_light = 0.3 * red + 0.6 * green + 0.1 * blue > 0.5;
    Some(if is_light { Theme::Light } else { Theme::Dark })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answer_is_known() {
        for (bytes, expected) in [
            (&b"\x1b]11;rgb:0/0/0\x07\x1b[?62;22c"[..], true),
            (b"\x1b[?6c", true),
            (b"c\x1b[?6", false),
            (b"\x1b[?25lc", false),
            (b"", false),
        ] {
            assert_eq!(is_answered(bytes), expected, "{bytes:?}");
        }
    }
}
