//! One glob, as git matches it: bytes, `*` and `?` within a name, `**` across names, `[…]`.
//!
//! This is our own and not a crate's, because a glob has to leave out exactly what git does: it needs git's character
//! classes, no braces, and bytes that are not UTF-8. The meaning is that of git's wildmatch.c (2.39), but the
//! algorithm is different: nothing recurses, and a match takes at most the length of the pattern times that of the
//! text.

/// A parsed glob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(Vec<Token>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// This byte.
    Byte(u8),
    /// Any byte except a slash: `?`.
    One,
    /// Any of these bytes except a slash, one bit for each: `[…]`. A file of rules may have millions of sets.
    Set(Box<[u64; 4]>),
    /// Any number of bytes except slashes: `*`.
    Some,
    /// Any number of bytes: `**` between slashes.
    All,
    /// Any number of names, each with a slash after it: `**/`.
    Names,
    /// Nothing: an invalid glob.
    Never,
}

impl Glob {
    /// Parses the glob in `text`. If it `folds`, it matches lower-case text.
    pub fn new(text: &[u8], folds: bool) -> Self {
        let (mut tokens, mut rest) = (Vec::new(), text);
        while let [first, after @ ..] = rest {
            let is_start_of_name = matches!(tokens.last(), None | Some(Token::Byte(b'/')));
            let token;
            (token, rest) = match (first, after) {
                (b'*', _) => stars(rest, is_start_of_name || tokens.last() == Some(&Token::Names)),
                (b'?', _) => (Token::One, after),
                (b'[', _) => set(after, folds).unwrap_or((Token::Never, &[])),
                (b'\\', [escaped, after @ ..]) => (Token::Byte(*escaped), after),
                (b'\\', []) => (Token::Never, after),
                (byte, _) if folds => (Token::Byte(byte.to_ascii_lowercase()), after),
                (byte, _) => (Token::Byte(*byte), after),
            };
            tokens.push(token);
        }
        Glob(tokens)
    }

    /// Whether it is invalid, and so matches nothing.
    pub(super) fn is_nonsense(&self) -> bool {
        self.0.contains(&Token::Never)
    }

    /// Whether it matches all of `text`.
    ///
    /// On a mismatch the last `*` takes one more byte, and at the end of a name the last `**` does. There is no need
    /// to go further back, because whatever an earlier asterisk could take, the last one can take.
    pub fn is_match(&self, text: &[u8]) -> bool {
        let tokens = &self.0;
        let (mut token, mut at) = (0, 0);
        let (mut some, mut all) = (None, None);
        loop {
            match (tokens.get(token), text.get(at)) {
                (None, None) => return true,
                (Some(Token::Some), _) => {
                    token += 1;
                    some = Some((token, at));
                    continue;
                }
                (Some(Token::All | Token::Names), _) => {
                    token += 1;
                    (some, all) = (None, Some((token, at)));
                    continue;
                }
                (Some(one), Some(byte)) if one.is_match(*byte) => {
                    (token, at) = (token + 1, at + 1);
                    continue;
                }
                _ => {}
            }
            if let Some((after, taken)) = some
                && let Some(next) = next_start(tokens.get(after), text, taken)
            {
                (token, at) = (after, next);
                some = Some((token, at));
            } else if let Some((after, taken)) = all
                && let Some(more) = tokens[after - 1].next_end(&text[taken..])
            {
                (token, at) = (after, taken + more);
                (some, all) = (None, Some((token, at)));
            } else {
                return false;
            }
        }
    }
}

impl Token {
    fn is_match(&self, byte: u8) -> bool {
        match self {
            Token::Byte(known) => byte == *known,
            Token::One => byte != b'/',
            Token::Set(bits) => {
                byte != b'/' && bits[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
            }
            Token::Some | Token::All | Token::Names | Token::Never => false,
        }
    }

    /// How many bytes of `text` it takes at least, if it has to take more.
    fn next_end(&self, text: &[u8]) -> Option<usize> {
        match self {
            Token::Names => text.iter().position(|byte| *byte == b'/').map(|slash| slash + 1),
            _ => (!text.is_empty()).then_some(1),
        }
    }
}

/// Where what is after a `*` may match next, if the `*` has taken what is before `taken` and takes more. Most of a name
/// is passed over at once.
fn next_start(after: Option<&Token>, text: &[u8], taken: usize) -> Option<usize> {
    let (first, rest) = text.get(taken..)?.split_first()?;
    let more = match after {
        _ if *first == b'/' => None,
        Some(Token::Byte(known)) => {
            let next = rest.iter().position(|byte| *byte == *known || *byte == b'/')?;
            (rest[next] == *known).then_some(next)
        }
        Some(_) => Some(0),
        None => (!rest.contains(&b'/')).then_some(rest.len()),
    };
    more.map(|more| taken + 1 + more)
}

/// The meaning of one or more asterisks, and the rest of the text.
fn stars(text: &[u8], is_start_of_name: bool) -> (Token, &[u8]) {
    let count = text.iter().take_while(|byte| **byte == b'*').count();
    let rest = &text[count..];
    match rest {
        _ if count == 1 || !is_start_of_name => (Token::Some, rest),
        [b'/', rest @ ..] => (Token::Names, rest),
        [] | [b'\\', b'/', ..] => (Token::All, rest),
        _ => (Token::Some, rest),
    }
}

/// The set that begins after an opening bracket, and the rest of the text; none if it is invalid. If it `folds`,
/// ranges and `[:upper:]` include lower-case letters. Like git, it does not fold single letters, escaped or not.
fn set(text: &[u8], folds: bool) -> Option<(Token, &[u8])> {
    let (is_negated, mut rest) = match text {
        [b'!' | b'^', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let mut set = [false; 256];
    // Where a range may begin.
    let mut from = None;
    let mut is_first = true;
    loop {
        let (byte, after) = rest.split_first()?;
        (from, rest) = match (byte, after, from) {
            (b']', _, _) if !is_first => break,
            (b'-', [to, ..], Some(from)) if *to != b']' => {
                let (to, rest) = literal(after)?;
                (from..=to).for_each(|byte| add(&mut set, byte, folds));
                (None, rest)
            }
            (b'[', [b':', class @ ..], _) => {
                let end = class.iter().position(|byte| *byte == b']')?;
                match class[..end].strip_suffix(b":") {
                    Some(name) => {
                        let is_in = class_of(name)?;
                        let all = (0..=u8::MAX).filter(is_in);
                        all.for_each(|byte| add(&mut set, byte, folds));
                        (None, &class[end + 1..])
                    }
                    None => {
                        add(&mut set, b'[', false);
                        (Some(b'['), after)
                    }
                }
            }
            _ => {
                let (byte, rest) = literal(rest)?;
                add(&mut set, byte, false);
                (Some(byte), rest)
            }
        };
        is_first = false;
    }
    let mut bits = [0_u64; 4];
    for (byte, is_in) in set.into_iter().enumerate() {
        bits[byte >> 6] |= u64::from(is_in != is_negated) << (byte & 63);
    }
    Some((Token::Set(Box::new(bits)), &rest[1..]))
}

/// The first byte of `text`, or the one after a backslash, and the rest.
fn literal(text: &[u8]) -> Option<(u8, &[u8])> {
    match text {
        [b'\\', byte, rest @ ..] => Some((*byte, rest)),
        [b'\\'] | [] => None,
        [byte, rest @ ..] => Some((*byte, rest)),
    }
}

fn class_of(name: &[u8]) -> Option<fn(&u8) -> bool> {
    Some(match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| matches!(byte, b' '..=b'~'),
        b"punct" => u8::is_ascii_punctuation,
        b"space" => |byte| matches!(byte, b' ' | b'\t'..=b'\r'),
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    })
}

/// Adds a byte; if it `folds`, a letter in lower case too.
fn add(set: &mut [bool; 256], byte: u8, folds: bool) {
    set[usize::from(byte)] = true;
    if folds {
        set[usize::from(byte.to_ascii_lowercase())] = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matches() {
        for (glob, matching, others) in [
            ("a", &["a"][..], &["", "A", "aa"][..]),
            ("*", &["", "a", "abc"], &["/", "a/b"]),
            ("a*c", &["ac", "abc", "abcc"], &["abcd", "a/c"]),
            ("*a*b*", &["ab", "xaybz"], &["ba", "a/b"]),
            ("a?c", &["abc"], &["ac", "a/c"]),
            ("**/a", &["a", "x/a", "x/y/a"], &["ba", "x/ba", "a/b"]),
            ("a/**", &["a/b", "a/b/c"], &["a", "b/a"]),
            ("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["ab", "a/xb", "a/b/c"]),
            ("a/**/*.c/**/d", &["a/x.c/d", "a/y/x.c/z/d", "a/x.c/d/.c/d"], &["a/x.c", "a/.d/d"]),
            ("a**b", &["ab", "axb"], &["a/b"]),
            ("***/a", &["a", "x/a"], &["xa"]),
            (r"**\/a", &["x/a", "x/y/a", "/a"], &["a"]),
            ("[abc-e]", &["a", "d"], &["", "f", "ab"]),
            ("[!a-c]", &["d", "!"], &["a", "/"]),
            ("[^a]", &["b"], &["a"]),
            ("[]a]", &["]", "a"], &["b"]),
            ("[a-]", &["a", "-"], &["b"]),
            ("[--0]", &["-", ".", "0"], &["/", "1"]),
            (r"[\]\-x]", &["]", "-", "x"], &["\\"]),
            ("[[:alpha:][:digit:]_]", &["a", "7", "_"], &[":", "-"]),
            ("[[:a]", &["[", ":", "a"], &["b"]),
            ("[[:nonsense:]]", &[], &["n", "[", ":"]),
            ("[a", &[], &["a", "[a"]),
            (r"a\*b\\", &[r"a*b\"], &["axb\\"]),
            ("a\\", &[], &["a", "a\\"]),
            ("{a,b}", &["{a,b}"], &["a", "b"]),
        ] {
            let glob = (Glob::new(glob.as_bytes(), false), glob);
            for text in matching {
                assert!(glob.0.is_match(text.as_bytes()), "{} {text}", glob.1);
            }
            for text in others {
                assert!(!glob.0.is_match(text.as_bytes()), "{} {text}", glob.1);
            }
        }
    }

    /// With backtracking to every asterisk, this would take longer than a lifetime.
    #[test]
    fn no_glob_takes_for_ever() {
        for (glob, text) in [("*a", "a"), ("**/a/", "a/")] {
            let (glob, text) = (glob.repeat(200), text.repeat(3000) + "b");
            assert!(!Glob::new(glob.as_bytes(), false).is_match(text.as_bytes()));
        }
    }
}
