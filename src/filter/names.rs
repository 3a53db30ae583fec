//! Filters by name.

/// Which names count.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names {
    /// Whether to leave out names that begin with a dot.
    pub hidden: bool,
}

impl Names {
    /// Whether every name counts.
    pub fn is_off(self) -> bool {
        !self.hidden
    }

    /// Whether an entry called `name` counts.
    pub fn admit(self, name: &[u8]) -> bool {
        !(self.hidden && name.starts_with(b"."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_names() {
        let all = Names::default();
        let visible = Names { hidden: true };
        for (name, is_hidden) in [(b".git".as_slice(), true), (b"a.b", false), (b"", false)] {
            assert!(all.admit(name));
            assert_eq!(visible.admit(name), !is_hidden);
        }
    }
}
