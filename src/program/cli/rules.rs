//! Rules of what can be had again: those that come with weigh, and those in the config file, as `[[rule]]`.

use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use super::config::{Mistake, in_order, kind, line_at};
use super::near::nearest;
use weigh::internal::reclaimable::{ReclaimRule, RuleValue};

/// The key of the list of rules.
pub(super) const KEY: &str = "rule";

/// The rules in `text`, in its order.
///
/// # Errors
/// The first line that is wrong, with its key.
pub(super) fn read(text: &str) -> Result<Vec<Arc<ReclaimRule>>, Mistake> {
    let mistake = |at: usize, message: String| Mistake { line: line_at(text, at), message };
    let table = DeTable::parse(text).map_err(|error| {
        mistake(error.span().map_or(0, |span| span.start), error.message().replace('\n', ", "))
    })?;
    let mut rules = Vec::new();
    let Some(list) = table.get_ref().get(KEY) else { return Ok(rules) };
    let wrong =
        |value: &DeValue<'_>| format!("{KEY} takes tables, as in [[{KEY}]], not {}", kind(value));
    let start = list.span().start;
    let DeValue::Array(list) = list.get_ref() else {
        return Err(mistake(start, wrong(list.get_ref())));
    };
    for table in list {
        let start = table.span().start;
        let DeValue::Table(table) = table.get_ref() else {
            return Err(mistake(start, wrong(table.get_ref())));
        };
        rules.push(Arc::new(rule(table, start).map_err(|(at, message)| mistake(at, message))?));
    }
    Ok(rules)
}

/// The rule in a table that begins at `start`; or where it is wrong, and why.
fn rule(table: &DeTable<'_>, start: usize) -> Result<ReclaimRule, (usize, String)> {
    let mut rule = ReclaimRule::default();
    for (key, value) in in_order(table) {
        let (name, at) = (&**key.get_ref(), key.span().start);
        rule.set(name, value_of(value.get_ref())).map_err(|why| (at, explained(name, why)))?;
    }
    rule.ensure_proves().map_err(|(key, why)| {
        let at = table.get_key_value(key).map_or(start, |(key, _)| key.span().start);
        (at, format!("{key}: {why}"))
    })?;
    Ok(rule)
}

fn explained(name: &str, why: String) -> String {
    let keys: Vec<_> = ReclaimRule::KEYS.iter().flat_map(|(_, keys)| *keys).copied().collect();
    match nearest(name, keys.iter().copied()).filter(|_| !keys.contains(&name)) {
        Some(near) => format!("{name}: {why}: did you mean {near}?"),
        None => format!("{name}: {why}"),
    }
}

fn value_of(value: &DeValue<'_>) -> RuleValue {
    match value {
        DeValue::String(text) => RuleValue::Text(text.to_string()),
        DeValue::Boolean(is_on) => RuleValue::Switch(*is_on),
        DeValue::Array(values) => {
            let texts = values.iter().map(|value| value.get_ref().as_str().map(str::to_owned));
            texts.collect::<Option<_>>().map_or(RuleValue::Other, RuleValue::Texts)
        }
        _ => RuleValue::Other,
    }
}
