//! Suggests flags and values for misspelt ones.

use clap::error::{ContextKind, ContextValue};
use clap::{Command, Error};

/// The one of `names` that is nearest to `typed`, if one is near: a name that begins with it, or that differs in at
/// most a third of its letters. clap is more generous: it suggests `--no-print-errors` for `--nope`.
pub(super) fn nearest<'n>(typed: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    /// Too many names begin with fewer letters.
    const BEGINNING: usize = 3;
    let most = typed.chars().count() / 3;
    let distance = |name: &str| match name.strip_prefix(typed) {
        Some(_) if typed.len() >= BEGINNING => 0,
        _ => strsim::damerau_levenshtein(typed, name),
    };
    let near = names.map(|name| (distance(name), name)).filter(|(distance, _)| *distance <= most);
    near.min().map(|(_, name)| name)
}

/// `error` with our suggestion in place of clap's: a flag of `command`, or a value.
pub(super) fn suggest(mut error: Error, command: &Command) -> Error {
    let text = |context| match error.get(context) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let (kind, near) =
        if let Some(ContextValue::Strings(values)) = error.get(ContextKind::ValidValue) {
            let typed = text(ContextKind::InvalidValue).unwrap_or_default();
            let near = nearest(&typed, values.iter().map(String::as_str));
            (ContextKind::SuggestedValue, near.map(str::to_owned))
        } else {
            let Some(typed) = text(ContextKind::InvalidArg) else { return error };
            let Some(typed) = typed.strip_prefix("--") else { return error };
            let near = nearest(typed, command.get_arguments().filter_map(|arg| arg.get_long()));
            (ContextKind::SuggestedArg, near.map(|near| format!("--{near}")))
        };
    let is_suggested = error.remove(kind).is_some();
    if let Some(near) = near.filter(|_| is_suggested || kind == ContextKind::SuggestedValue) {
        error.insert(kind, ContextValue::String(near));
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
            ("tyep", Some("type")),
        ] {
            assert_eq!(nearest(typed, names.into_iter()), near, "{typed}");
        }
    }
}
