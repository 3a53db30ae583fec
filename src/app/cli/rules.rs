//! Rules of what can be made or downloaded again: those that come with weigh, and those in the config file, as
//! `[[rule]]`.

use std::sync::Arc;

use serde::Deserialize as _;
use toml::Spanned;
use toml::de::{DeValue, ValueDeserializer};

use super::config::{Mistake, line_at};
use super::near::nearest;
use weigh::internal::ask::reclaimable::ReclaimRule;

/// The key of the list of rules.
pub(super) const KEY: &str = "rule";

/// The rules in the `value` of that key in `text`, in its order.
///
/// # Errors
/// The first line that is wrong, with its key.
pub(super) fn read(
    text: &str,
    value: Spanned<DeValue<'_>>,
) -> Result<Vec<Arc<ReclaimRule>>, Mistake> {
    let rules = Vec::<Spanned<ReclaimRule>>::deserialize(ValueDeserializer::from(value));
    let rules = rules.map_err(|error| {
        let (line, key) = key_at(text, error.span().map_or(0, |span| span.start));
        Mistake { line, message: format!("{key}: {}", explained(key, error.message())) }
    })?;
    for rule in &rules {
        rule.get_ref().ensure_proves().map_err(|(key, why)| {
            let line = line_of(text, rule.span().start, key);
            Mistake { line, message: format!("{key}: {why}") }
        })?;
    }
    Ok(rules.into_iter().map(|rule| Arc::new(rule.into_inner())).collect())
}

/// What the parser says of the value of a `key`, in our words.
fn explained(key: &str, message: &str) -> String {
    if message.starts_with("unknown field") {
        // All that it expects are in backticks, after the one that it found.
        let known = message.split('`').skip(3).step_by(2);
        let near = nearest(key, known).map(|near| format!("\ndid you mean {near}?"));
        return format!("a rule has no such key{}", near.unwrap_or_default());
    }
    let takes = match message.rsplit_once("expected ") {
        _ if key == KEY => "tables, as in [[rule]]",
        Some((_, "a boolean")) => "true or false",
        Some((_, "a sequence")) => "a list of strings",
        Some((_, other)) => other,
        None => return message.replace('\n', ", "),
    };
    format!("it takes {takes}")
}

/// The key of a line that begins with one.
fn key_of(line: &str) -> Option<&str> {
    let key = line.split_once('=')?.0.trim();
    let is_key = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_key.then_some(key)
}

/// The line, from 1, of the key whose value has the byte at `offset`.
fn key_at(text: &str, offset: usize) -> (usize, &str) {
    let lines = text.lines().take(line_at(text, offset)).enumerate();
    let keys = lines.filter_map(|(i, line)| Some((i + 1, key_of(line)?)));
    keys.last().unwrap_or((line_at(text, offset), KEY))
}

/// The line, from 1, that has a `key` of the rule that begins at `start`; or where that begins.
fn line_of(text: &str, start: usize, key: &str) -> usize {
    let first = line_at(text, start);
    let rest = text.lines().enumerate().skip(first);
    let mut own = rest.take_while(|(_, line)| !line.trim_start().starts_with('['));
    own.find(|(_, line)| key_of(line) == Some(key)).map_or(first, |(i, _)| i + 1)
}
