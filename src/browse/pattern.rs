//! What is typed to narrow a list, or to mark by: a glob, a size or an age.

use crate::filter::{Days, IgnoreRules};
use crate::measure::parse_size;
use crate::tree::{Details, Totals};

/// What names match.
#[derive(Clone, Debug)]
pub struct NamePattern {
    text: String,
    rules: IgnoreRules,
}

/// What is marked together.
#[derive(Clone, Debug)]
pub enum MarkedBy {
    /// What has such a name.
    Name(NamePattern),
    /// What is at least so large, or at most.
    Size {
        /// In the measure's unit.
        size: u64,
        /// At most, rather than at least.
        is_most: bool,
    },
    /// What was written to so many days ago.
    Age(Days),
    /// What git ignores.
    Ignored,
}

impl NamePattern {
    /// The glob in `text`; without any sign of one, what is in the middle of a name.
    ///
    /// # Errors
    /// Why it is no glob.
    pub fn parse(text: &str) -> Result<Self, String> {
        let is_glob = text.contains(['*', '?', '[']);
        let glob = if is_glob { text.to_owned() } else { format!("*{text}*") };
        // A name has no slash, and what begins a comment or takes something back there is a letter here.
        let escaped = match glob.chars().next() {
            Some('!' | '#') => format!("\\{glob}"),
            _ => glob,
        };
        if text.contains('/') {
            return Err("a name has no slash".to_owned());
        }
        let mut rules = IgnoreRules::default();
        rules.add(escaped.as_bytes())?;
        Ok(Self { text: text.to_owned(), rules })
    }

    /// Whether it matches `name`.
    pub fn is_match(&self, name: &[u8], is_directory: bool) -> bool {
        self.rules.decide(name, is_directory) == Some(true)
    }

    /// As it was typed.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl MarkedBy {
    /// What examples of it look like.
    pub const EXAMPLES: &str = "*.o, >100M, <1k, older 90d, newer 7d, ignored";

    /// Reads a glob, `>SIZE` or `<SIZE`, `older AGE` or `newer AGE`, or `ignored`.
    ///
    /// # Errors
    /// Why it is none of them.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let age = |days: &str, sign: &str| {
            let days = days.trim();
            Days::parse(&format!("{sign}{}", days.strip_suffix('d').unwrap_or(days)))
        };
        match (text.split_at_checked(1), text.split_once(' ')) {
            (Some((">", size)), _) => Ok(Self::Size { size: parse_size(size)?, is_most: false }),
            (Some(("<", size)), _) => Ok(Self::Size { size: parse_size(size)?, is_most: true }),
            (_, Some(("older", days))) => age(days, "+").map(Self::Age),
            (_, Some(("newer", days))) => age(days, "-").map(Self::Age),
            _ if text == "ignored" => Ok(Self::Ignored),
            (None, _) => Err(format!("as in {}", Self::EXAMPLES)),
            _ => NamePattern::parse(text).map(Self::Name),
        }
    }

    /// Whether an entry is to be marked; of its age there is nothing to be known without `details`.
    pub(super) fn is_match(
        &self,
        (name, is_directory): (&[u8], bool),
        totals: Totals,
        details: Option<Details>,
        now: i64,
    ) -> bool {
        match self {
            Self::Name(pattern) => pattern.is_match(name, is_directory),
            Self::Size { size, is_most: false } => totals.size >= *size,
            Self::Size { size, is_most: true } => totals.size <= *size,
            Self::Age(days) => {
                let age = details.map(|details| now.saturating_sub(details.modified));
                age.is_some_and(|age| days.admit(age))
            }
            Self::Ignored => false,
        }
    }
}
