//! Skips unknown members, because a later version, or ncdu, may write more.

use std::io::{self, Read};

use super::tokens::Tokens;

impl<R: Read> Tokens<R> {
    /// Skips any value. Lists and objects are only searched for their ends.
    pub(super) fn skip(&mut self) -> io::Result<()> {
        let mut ends = Vec::new();
        loop {
            match self.peek()? {
                b'"' => self.string()?,
                bracket @ (b'{' | b'[') => {
                    ends.push(if bracket == b'{' { b'}' } else { b']' });
                    self.check_depth(ends.len())?;
                    self.take(bracket)?;
                }
                bracket @ (b'}' | b']') => {
                    if ends.pop() != Some(bracket) {
                        return Err(self.error("a bracket that closes nothing"));
                    }
                    self.take(bracket)?;
                }
                sign @ (b',' | b':') if !ends.is_empty() => self.take(sign)?,
                _ => {
                    let word = self.word()?;
                    if serde_json::from_slice::<serde_json::Value>(&word).is_err() {
                        return Err(self.error("no value where one should be"));
                    }
                }
            }
            if ends.is_empty() {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot read should stop there")]
mod tests {
    use super::*;
    use crate::snapshot::tokens::DEEPEST;

    #[test]
    fn anything_is_skipped() {
        let deep = "[".repeat(DEEPEST) + &"]".repeat(DEEPEST);
        for json in [r#"{"a":[1,-2.5e+3,"]"],"b":{"c":null}}"#, "true", "-1.5", "\"x\"", &deep] {
            let mut tokens = Tokens::new(json.as_bytes());
            tokens.skip().unwrap();
            tokens.end().unwrap();
        }
        let deeper = format!("[{deep}]");
        for json in ["[}", "]", "nul", "+1", "-", "[1", "", "{", "?", &deeper] {
            assert!(Tokens::new(json.as_bytes()).skip().is_err(), "{json}");
        }
    }
}
