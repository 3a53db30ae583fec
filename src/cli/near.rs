//! What was likely meant by the name of a flag that there is not.

use clap::error::{ContextKind, ContextValue};
use clap::{Command, Error};

/// The one of `names` that is nearest to `typed`, if one is near: what that begins, or what differs in a third
/// of its letters at most. clap calls near what has as many letters in common as `--nope` and `--no-print-errors`.
pub(super) fn nearest<'n>(typed: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    /// Fewer letters begin too much.
    const BEGINNING: usize = 3;
    let most = typed.chars().count() / 3;
    let distance = |name: &str| match name.strip_prefix(typed) {
        Some(_) if typed.len() >= BEGINNING => 0,
        _ => strsim::damerau_levenshtein(typed, name),
    };
    let near = names.map(|name| (distance(name), name)).filter(|(distance, _)| *distance <= most);
    near.min().map(|(_, name)| name)
}

/// `error` with what is near in place of what clap suggests, if it is about a flag that `command` does not have.
pub(super) fn suggest(mut error: Error, command: &Command) -> Error {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let Some(typed) = typed.strip_prefix("--").map(str::to_owned) else { return error };
    if error.remove(ContextKind::SuggestedArg).is_none() {
        return error;
    }
    let names = command.get_arguments().filter_map(|arg| arg.get_long());
    if let Some(near) = nearest(&typed, names) {
        let near = ContextValue::String(format!("--{near}"));
        error.insert(ContextKind::SuggestedArg, near);
    }
    error
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
        ] {
            assert_eq!(nearest(typed, names.into_iter()), near, "{typed}");
        }
    }
}
