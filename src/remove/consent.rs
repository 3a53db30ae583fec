//! The user's consent to a removal.

use super::target::Target;

/// Consent to remove so many entries. No flag, setting, environment variable or file name makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Consent {
    /// None for entries that are moved into the trash by a key: that can be undone.
    entries: Option<u64>,
}

impl Consent {
    /// From what somebody `typed` who was asked for the number of `entries`: its digits, or as the question shows it.
    pub fn typed(entries: u64, typed: &str) -> Option<Self> {
        let digits: String = match typed.split(',').collect::<Vec<_>>().as_slice() {
            [first, groups @ ..]
                if !first.is_empty()
                    && first.len() <= 3
                    && groups.iter().all(|group| group.len() == 3) =>
            {
                typed.replace(',', "")
            }
            _ => typed.to_owned(),
        };
        (digits == entries.to_string()).then_some(Self { entries: Some(entries) })
    }

    /// From a plan that names these `entries`, all of which weigh's own rules have found again just as it says.
    pub fn planned(entries: u64) -> Self {
        Self { entries: Some(entries) }
    }

    /// From a key, to move entries into the trash.
    pub fn to_trash() -> Self {
        Self { entries: None }
    }

    /// To remove fewer entries.
    #[must_use]
    pub fn less(self, entries: u64) -> Self {
        Self { entries: self.entries.map(|all| all.saturating_sub(entries)) }
    }

    /// Whether it is to remove `targets`; only to move them into the trash unless `is_delete`.
    pub(super) fn covers(self, targets: &[Target], is_delete: bool) -> bool {
        let entries: u64 = targets.iter().map(|target| target.totals.0).sum();
        self.entries.map_or(!is_delete, |all| all == entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_number_is_consent() {
        for typed in ["4162", "4,162"] {
            assert_eq!(
                Consent::typed(4162, typed),
                Some(Consent { entries: Some(4162) }),
                "{typed}"
            );
        }
        for typed in
            ["", "y", "yes", "4161", "41,62", "4,16,2", "+4162", "04162", "4162 ", ",4162", "4.162"]
        {
            assert_eq!(Consent::typed(4162, typed), None, "{typed}");
        }
        assert_eq!(Consent::typed(0, ""), None);
    }
}
