//! A typed pattern that filters a list or selects what to mark: a glob, a size or an age.

use super::listing::Item;
use weigh::internal::base::measure::parse_size;
use weigh::internal::fs::git::IgnoreRules;
use weigh::internal::scan::filter::Days;

/// A pattern for names.
#[derive(Clone, Debug)]
pub struct NamePattern {
    /// The text as typed.
    pub(super) text: String,
    /// None if the text has no wildcard.
    rules: Option<IgnoreRules>,
    /// Whether it matches upper case, too.
    folds: bool,
}

/// Selects entries to mark.
#[derive(Clone, Debug)]
pub enum MarkedBy {
    /// Entries whose names match.
    Name(NamePattern),
    /// Entries of at least this size, or at most.
    Size {
        /// In the measure's unit.
        size: u64,
        /// At most, instead of at least.
        is_most: bool,
    },
    /// Entries in which the last was written to before or after this many days ago.
    Age(Days),
    /// Entries that git ignores.
    Ignored,
}

impl NamePattern {
    /// The glob in `text`; without a wildcard, it matches anywhere in a name. Without a capital letter and without `[`,
    /// it matches both cases (of ASCII).
    ///
    /// # Errors
    /// The reason if it is not a valid glob.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.contains('/') {
            return Err("a name has no slash".to_owned());
        }
        let mut rules = None;
        if text.contains(['*', '?', '[']) {
            // The comment and negation characters of git's rules are literal here.
            let escape = if text.starts_with(['!', '#']) { "\\" } else { "" };
            let glob = rules.insert(IgnoreRules::default());
            glob.add(format!("{escape}{text}").as_bytes())?;
        }
        Ok(Self {
            text: text.to_owned(),
            rules,
            folds: !text.contains(|c: char| c.is_uppercase() || c == '['),
        })
    }

    /// The part of a shown `name` that it matches, and where that begins; with a wildcard, all of it.
    pub(super) fn part_of<'a>(&self, name: &'a str) -> (usize, &'a str) {
        if self.rules.is_some() {
            return (0, name.trim_end_matches('/'));
        }
        let mut starts = name.char_indices().map(|(start, _)| start);
        let part = starts.find_map(|start| {
            let part = name.get(start..start + self.text.len())?;
            let is_it =
                if self.folds { part.eq_ignore_ascii_case(&self.text) } else { part == self.text };
            is_it.then_some((start, part))
        });
        part.unwrap_or((0, ""))
    }

    /// Whether it matches `name`.
    pub fn is_match(&self, name: &[u8], is_directory: bool) -> bool {
        let text = self.text.as_bytes();
        match &self.rules {
            Some(rules) => {
                let name = if self.folds { &*name.to_ascii_lowercase() } else { name };
                rules.decide(name, is_directory) == Some(true)
            }
            None if text.is_empty() => true,
            None if self.folds => {
                name.windows(text.len()).any(|part| part.eq_ignore_ascii_case(text))
            }
            None => name.windows(text.len()).any(|part| part == text),
        }
    }
}

impl MarkedBy {
    /// Examples of its syntax.
    pub const EXAMPLES: &str = "*.o, >100M, <1k, older 1y, newer 7d, ignored";

    /// Reads a glob, `>SIZE` or `<SIZE`, `older AGE` or `newer AGE`, or `ignored`.
    ///
    /// # Errors
    /// The reason if it is none of them.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match (text.split_at_checked(1), text.split_once(' ')) {
            (Some((">", size)), _) => Self::by_size(size, false),
            (Some(("<", size)), _) => Self::by_size(size, true),
            (_, Some(("older", days))) => age(days, "+").map(Self::Age),
            (_, Some(("newer", days))) => age(days, "-").map(Self::Age),
            _ if text == "ignored" => Ok(Self::Ignored),
            (None, _) => Err(format!("as in {}", Self::EXAMPLES)),
            // What is marked may be deleted, so case counts.
            _ => NamePattern::parse(text)
                .map(|name| Self::Name(NamePattern { folds: false, ..name })),
        }
    }

    fn by_size(size: &str, is_most: bool) -> Result<Self, String> {
        let size = parse_size(size).map_err(|error| error.to_string())?;
        Ok(Self::Size { size, is_most })
    }

    /// Whether more in an entry could mean that it is not selected.
    pub(super) fn is_most(&self) -> bool {
        matches!(self, Self::Size { is_most: true, .. } | Self::Age(Days::MoreThan(_)))
    }

    /// Whether it selects the entry. A directory is as old as the newest in it.
    pub(super) fn is_match(&self, item: &Item<'_>, now: i64) -> bool {
        match self {
            Self::Name(pattern) => pattern.is_match(&item.name, item.is_directory()),
            Self::Size { size, is_most: false } => item.totals.size >= *size,
            Self::Size { size, is_most: true } => item.totals.size <= *size,
            Self::Age(days) => {
                let age = item.totals.newest.map(|newest| now.saturating_sub(newest));
                age.is_some_and(|age| days.admit(age))
            }
            Self::Ignored => false,
        }
    }
}

/// An age in days, as in `90d`, or in years, as in `1y`, with the sign that [`Days`] are written with.
fn age(days: &str, sign: &str) -> Result<Days, String> {
    let days = days.trim();
    let years: Option<u32> = days.strip_suffix('y').and_then(|years| years.parse().ok());
    if let Some(years) = years {
        return age(&(u64::from(years) * 365).to_string(), sign);
    }
    let days = Days::parse(&format!("{sign}{}", days.strip_suffix('d').unwrap_or(days)));
    days.map_err(|_| "an age is a number of days or years, as in 90d or 1y".to_owned())
}
