//! Whole numbers in arguments. Errors are in our words, and not in those of a library.

use std::num::NonZeroUsize;

/// Reads a number of lines.
pub(super) fn lines(text: &str) -> Result<usize, String> {
    whole(text, 0, usize::MAX)
}

/// Reads a number of levels.
pub(super) fn levels(text: &str) -> Result<u32, String> {
    whole(text, 0, u32::MAX)
}

/// Reads a number of columns.
pub(super) fn columns(text: &str) -> Result<u16, String> {
    whole(text, 1, u16::MAX)
}

/// Reads a number of 1 or more.
pub(super) fn positive(text: &str) -> Result<NonZeroUsize, String> {
    let number = whole(text, 1, usize::MAX)?;
    NonZeroUsize::new(number).ok_or_else(|| below(1))
}

fn whole<N: TryFrom<u64> + TryInto<u64>>(text: &str, least: u64, most: N) -> Result<N, String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("give a whole number, as in 20".to_owned());
    }
    let most = most.try_into().unwrap_or(u64::MAX);
    // Digits that do not parse are too many.
    let number = text.parse().ok().filter(|number| *number <= most);
    let fitting = number.and_then(|number| N::try_from(number).ok().map(|fits| (number, fits)));
    match fitting {
        None => Err(format!("give {most} or less")),
        Some((number, _)) if number < least => Err(below(least)),
        Some((_, fits)) => Ok(fits),
    }
}

fn below(least: u64) -> String {
    format!("give {least} or more")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_what_fits() {
        assert_eq!(lines("020"), Ok(20));
        assert_eq!(columns("65535"), Ok(u16::MAX));
        assert_eq!(levels("4294967295"), Ok(u32::MAX));
        assert_eq!(positive("1"), Ok(NonZeroUsize::MIN));
        for text in ["", "-1", "+1", "x", "1.5", "0x1", " 1"] {
            assert_eq!(lines(text), Err("give a whole number, as in 20".to_owned()), "{text}");
        }
        for text in ["65536", "99999999999999999999999"] {
            assert_eq!(columns(text), Err("give 65535 or less".to_owned()), "{text}");
        }
        assert_eq!(positive("0"), Err("give 1 or more".to_owned()));
        assert_eq!(columns("0"), Err("give 1 or more".to_owned()));
    }
}
