//! Suggests flags and values for misspelt ones.

use std::error::Error as _;
use std::num::{IntErrorKind, ParseIntError};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};

use super::elsewhere;
use weigh::internal::filter::known_types;
use weigh::internal::measure::parse_size;
use weigh::internal::tally::By;

/// The one of `names` that is nearest to `typed`, if one is near: a name that begins with it, or that differs in at
/// most a third of its letters. clap is more generous: it suggests `--no-print-errors` for `--nope`, and knows no
/// keys of the config file.
pub(super) fn nearest<'n>(typed: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    /// Too many names begin with fewer letters.
    const BEGINNING: usize = 3;
    let most = typed.chars().count() / 3;
    let names = names.map(|name| match name.strip_prefix(typed) {
        Some(_) if typed.len() >= BEGINNING => (0, name),
        _ => (strsim::damerau_levenshtein(typed, name), name),
    });
    names.filter(|(distance, _)| *distance <= most).min().map(|(_, name)| name)
}

/// `error` with our suggestion in place of clap's: a flag of `command`, or a value. Without clap's usage, which has
/// flags that nobody typed.
pub(super) fn suggest(mut error: Error, command: &Command) -> Error {
    error.remove(ContextKind::Usage);
    if let Some(wrong) = error.source().and_then(|source| source.downcast_ref::<ParseIntError>()) {
        let (typed, flag) =
            (text(&error, ContextKind::InvalidValue), text(&error, ContextKind::InvalidArg));
        let instead = match wrong.kind() {
            IntErrorKind::PosOverflow => "a smaller number",
            IntErrorKind::Zero => "1 or more",
            _ => "a whole number, as in 20",
        };
        let message = format!("invalid value '{typed}' for '{flag}': give {instead}\n");
        return Error::raw(ErrorKind::ValueValidation, message);
    }
    if let Some(ContextValue::Strings(values)) = error.get(ContextKind::ValidValue) {
        let typed = text(&error, ContextKind::InvalidValue);
        let near = nearest(&typed, values.iter().map(String::as_str)).map(str::to_owned);
        return with(error, ContextKind::SuggestedValue, near.map(ContextValue::String));
    }
    // This flag cannot be used with any other. clap does not name one.
    if matches!(error.get(ContextKind::PriorArg), Some(ContextValue::None)) {
        let flag = text(&error, ContextKind::InvalidArg);
        let message = format!("{flag} stands alone, without other flags and PATHs\n");
        return Error::raw(ErrorKind::ArgumentConflict, message);
    }
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let typed = text(&error, ContextKind::InvalidArg);
    let instead = elsewhere::instead(&typed);
    let near = typed.strip_prefix("--").filter(|_| instead.is_none());
    let near = near.and_then(|typed| nearest(typed, command.get_arguments().flat_map(names)));
    let near = near.map(|near| ContextValue::String(format!("--{near}")));
    let instead = instead.map(|instead| ContextValue::StyledStrs(vec![instead.into()]));
    with(with(error, ContextKind::Suggested, instead), ContextKind::SuggestedArg, near)
}

/// What to type instead of `-t VALUE`, where no file is called `value`: here -t takes none.
pub(super) fn instead_of_value(value: &str) -> Option<String> {
    let is_type = || known_types().iter().any(|(name, _)| name == value);
    Some(match value {
        // As in fd.
        "f" => "-F".to_owned(),
        "d" => "-D".to_owned(),
        _ if By::NAMES.contains(&value) => format!("--by {value}"),
        // As in ripgrep.
        _ if is_type() => format!("--type {value}"),
        // As in du.
        _ if parse_size(value).is_ok() => format!("-z {value}"),
        _ => return None,
    })
}

/// The text that `error` has in this `context`.
fn text(error: &Error, context: ContextKind) -> String {
    match error.get(context) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    }
}

/// `error` with `value` as its only `context` of that kind.
fn with(mut error: Error, context: ContextKind, value: Option<ContextValue>) -> Error {
    error.remove(context);
    if let Some(value) = value {
        error.insert(context, value);
    }
    error
}

/// The long names of a flag.
pub(super) fn names(arg: &Arg) -> Vec<&str> {
    arg.get_long_and_visible_aliases().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near_differs_in_little() {
        let names = ["no-dim", "no-print-errors", "colors", "number-of-lines", "reverse", "type"];
        for (typed, near) in [
            ("nope", None),
            ("n", None),
            ("x", None),
            ("number", Some("number-of-lines")),
            ("colour", Some("colors")),
            ("revesre", Some("reverse")),
            ("tipe", Some("type")),
            ("no-print-error", Some("no-print-errors")),
            ("tyep", Some("type")),
        ] {
            assert_eq!(nearest(typed, names.into_iter()), near, "{typed}");
        }
    }
}
