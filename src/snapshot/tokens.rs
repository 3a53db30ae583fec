//! JSON (RFC 8259), read piece by piece from a stream: neither depth nor length takes memory.
//!
//! This is our own because no crate reads snapshots: serde_json recurses, struson insists on UTF-8 where ncdu writes
//! raw names, and jiter needs the whole text in memory.

use std::io::{self, ErrorKind, Read};
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::bytes::Bytes;

/// The text of a stream, piece by piece.
pub(super) struct Tokens<R> {
    source: Bytes<R>,
    /// The string that was taken last, unless it is `in_place`.
    text: Vec<u8>,
    /// Where it is in the source, if it needs no copy.
    in_place: Option<Range<usize>>,
    /// Whether strings may contain bytes that are not UTF-8.
    is_lax: bool,
    /// Whether what was read so far shows that it is a snapshot or an export.
    is_recognized: bool,
}

/// The longest string, in bytes. No name is as long, and no path except in an attack.
const LONGEST_STRING: usize = 16 * 1024 * 1024;

/// The longest number or literal, in bytes. A double written out in full takes 1,077 digits.
const LONGEST_WORD: usize = 2048;

/// The most levels of a tree, and of a skipped value. A path has at most 2,048 (limits.h, PATH_MAX). Each takes 270
/// bytes while it is open, and up to 600 if everything is kept.
pub(super) const DEEPEST: usize = 300_000;

impl<R: Read> Tokens<R> {
    pub(super) fn new(stream: R) -> Self {
        Self {
            source: Bytes::new(stream),
            text: Vec::new(),
            in_place: None,
            is_lax: false,
            is_recognized: false,
        }
    }

    /// Takes an object. For each member, the key has been taken and `read` takes the value.
    pub(super) fn object(
        &mut self,
        mut read: impl FnMut(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        self.take(b'{')?;
        let mut is_first = true;
        while self.member(is_first)? {
            is_first = false;
            read(self)?;
        }
        Ok(())
    }

    /// Takes a string and decodes it from base64.
    pub(super) fn base64(&mut self) -> io::Result<Vec<u8>> {
        self.string()?;
        STANDARD.decode(self.text()).map_err(|_| self.error("no base64 where it should be"))
    }

    /// From here on, strings may contain bytes that are not UTF-8.
    pub(super) fn allow_any_bytes(&mut self) {
        self.is_lax = true;
    }

    /// What was read so far shows that it is a snapshot or an export. From here on, errors say what is wrong with it.
    pub(super) fn recognize(&mut self) {
        self.is_recognized = true;
    }

    /// An error that says what is wrong, and at which byte; or only that it is not a snapshot.
    pub(super) fn error(&self, what: impl std::fmt::Display) -> io::Error {
        let message = match self.is_recognized {
            true => format!("{what}, at byte {}", self.source.position()),
            false => "it is not a snapshot".to_owned(),
        };
        io::Error::new(ErrorKind::InvalidData, message)
    }

    /// The next byte that is not white space. It is not taken.
    #[inline]
    pub(super) fn peek(&mut self) -> io::Result<u8> {
        match self.source.at_hand().first() {
            Some(next) if *next > b' ' => Ok(*next),
            _ => self.next()?.ok_or_else(|| self.early_end()),
        }
    }

    /// The same; none at the end of the stream.
    #[cold]
    fn next(&mut self) -> io::Result<Option<u8>> {
        loop {
            match self.source.ahead()?.first() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.source.take(1),
                next => return Ok(next.copied()),
            }
        }
    }

    /// Takes `byte`, and white space before it.
    #[inline]
    pub(super) fn take(&mut self, byte: u8) -> io::Result<()> {
        if self.peek()? != byte {
            return Err(self.missing(byte));
        }
        self.source.take(1);
        Ok(())
    }

    #[cold]
    fn missing(&self, byte: u8) -> io::Error {
        self.error(format_args!("no '{}' where one should be", byte as char))
    }

    /// Whether an object has another member. If so, it takes the key, which is then [`Self::text`], and the colon; if
    /// not, it takes the end of the object. `is_first` if no member has been taken.
    pub(super) fn member(&mut self, is_first: bool) -> io::Result<bool> {
        if !self.another(is_first, b'}')? {
            return Ok(false);
        }
        self.string()?;
        self.take(b':')?;
        Ok(true)
    }

    /// Whether a list has another item, which then comes next. If not, it takes the end of the list.
    pub(super) fn item(&mut self, is_first: bool) -> io::Result<bool> {
        self.another(is_first, b']')
    }

    fn another(&mut self, is_first: bool, end: u8) -> io::Result<bool> {
        match self.peek()? {
            byte if byte == end => {
                self.source.take(1);
                Ok(false)
            }
            _ if is_first => Ok(true),
            _ => self.take(b',').map(|()| true),
        }
    }

    /// The string that was taken last, as bytes, with escapes resolved. It is lost when the next token is taken,
    /// except for the colon after a key.
    #[inline]
    pub(super) fn text(&self) -> &[u8] {
        match &self.in_place {
            Some(place) => self.source.at(place.clone()),
            None => &self.text,
        }
    }

    /// Takes a string.
    #[inline]
    pub(super) fn string(&mut self) -> io::Result<()> {
        self.in_place = self.short_string();
        if self.in_place.is_some() { Ok(()) } else { self.long_string() }
    }

    /// Takes a string that is at hand as it is, in ASCII, with the next token. Nearly every string is, and need not be
    /// copied.
    #[inline]
    fn short_string(&mut self) -> Option<Range<usize>> {
        let (b'"', ahead) = self.source.at_hand().split_first()? else { return None };
        let length = plain(ahead, true);
        let (b'"', next) = ahead.get(length..)?.split_first()? else { return None };
        next.first().filter(|next| **next > b' ')?;
        let Range { start, end } = self.source.pass(length + 2);
        Some(start + 1..end - 1)
    }

    /// Takes a string, piece by piece.
    fn long_string(&mut self) -> io::Result<()> {
        self.take(b'"')?;
        self.text.clear();
        loop {
            let ahead = self.source.ahead()?;
            let plain = plain(ahead, false);
            self.text.extend_from_slice(&ahead[..plain]);
            let next = ahead.get(plain).copied();
            let is_end = ahead.is_empty();
            self.source.take(plain);
            match next {
                Some(b'"') => {
                    self.source.take(1);
                    if !self.is_lax && !is_utf8(&self.text) {
                        return Err(self.error("a string that is not UTF-8"));
                    }
                    return Ok(());
                }
                Some(b'\\') => {
                    self.source.take(1);
                    self.escape()?;
                }
                Some(_) => return Err(self.error("a control character in a string")),
                None if is_end => return Err(self.early_end()),
                None => {}
            }
            if self.text.len() > LONGEST_STRING {
                return Err(self.error("a string without end"));
            }
        }
    }

    /// Takes a string that is UTF-8.
    pub(super) fn utf8(&mut self) -> io::Result<&str> {
        self.string()?;
        Ok(std::str::from_utf8(self.text()).unwrap_or_default())
    }

    /// Takes a whole number of 0 or more.
    pub(super) fn number(&mut self) -> io::Result<u64> {
        if let Some((number, digits)) = short_number(self.source.at_hand()) {
            self.source.take(digits);
            return Ok(number);
        }
        let mut number = Some(0_u64);
        let mut digits = 0;
        let has_zero = self.peek()? == b'0';
        while let Some(digit) = self.source.next_if(|byte| byte.is_ascii_digit())? {
            digits += 1;
            if number.is_none() {
                break;
            }
            number = number.and_then(|number| number.checked_mul(10));
            number = number.and_then(|number| number.checked_add(u64::from(digit - b'0')));
        }
        let goes_on = self.source.next_if(|byte| matches!(byte, b'.' | b'e' | b'E'))?.is_some();
        match number {
            Some(number) if digits > 0 && !goes_on && !(has_zero && digits > 1) => Ok(number),
            _ => Err(self.error("no whole number of 64 bits where one should be")),
        }
    }

    /// Takes a whole number.
    pub(super) fn signed(&mut self) -> io::Result<i64> {
        self.peek()?;
        let is_negative = self.source.next_if(|byte| byte == b'-')?.is_some();
        let number = self.number()?;
        let signed =
            if is_negative { 0_i64.checked_sub_unsigned(number) } else { number.try_into().ok() };
        signed.ok_or_else(|| self.error("a number that is too large"))
    }

    /// Takes `true` or `false`.
    pub(super) fn boolean(&mut self) -> io::Result<bool> {
        match self.word()?.as_slice() {
            b"true" => Ok(true),
            b"false" => Ok(false),
            _ => Err(self.error("neither true nor false where one should be")),
        }
    }

    /// An error if anything follows. It reads to the end of the stream, because a decompressor verifies its checksum
    /// only there.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.next()?.map_or(Ok(()), |_| Err(self.error("something after the end")))
    }

    /// An error if there are more levels than allowed.
    pub(super) fn check_depth(&self, levels: usize) -> io::Result<()> {
        if levels <= DEEPEST {
            return Ok(());
        }
        Err(self.error(format_args!("it is deeper than {DEEPEST} levels")))
    }

    /// Takes the letters, digits and signs of a number or a literal.
    pub(super) fn word(&mut self) -> io::Result<Vec<u8>> {
        let mut word = Vec::new();
        self.peek()?;
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
        while let Some(byte) = self.source.next_if(is_part)? {
            word.push(byte);
            if word.len() > LONGEST_WORD {
                return Err(self.error("a number or word without end"));
            }
        }
        Ok(word)
    }

    /// Resolves what follows a backslash.
    fn escape(&mut self) -> io::Result<()> {
        let plain = match self.source.next_if(|_| true)? {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 0x08,
            Some(b'f') => 0x0c,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                let mut units = vec![self.code_unit()?];
                if (0xd800..0xdc00).contains(&units[0]) {
                    if (self.source.next_if(|_| true)?, self.source.next_if(|_| true)?)
                        != (Some(b'\\'), Some(b'u'))
                    {
                        return Err(self.error("half a surrogate pair"));
                    }
                    units.push(self.code_unit()?);
                }
                let text = String::from_utf16(&units);
                let text = text.map_err(|_| self.error("half a surrogate pair"))?;
                self.text.extend_from_slice(text.as_bytes());
                return Ok(());
            }
            _ => return Err(self.error("an escape that means nothing")),
        };
        self.text.push(plain);
        Ok(())
    }

    /// Takes four hexadecimal digits.
    fn code_unit(&mut self) -> io::Result<u16> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.source.next_if(|_| true)?.and_then(|byte| (byte as char).to_digit(16));
            let digit = digit.ok_or_else(|| self.error("an escape that means nothing"))?;
            unit = unit << 4 | digit as u16;
        }
        Ok(unit)
    }

    fn early_end(&self) -> io::Error {
        self.error("it ends too early")
    }
}

/// How many of the bytes `ahead` come before the first that ends a string, escapes, or is not allowed; or, with
/// `is_ascii`, that is not ASCII. Eight at a time, because that takes a third of the time.
#[inline]
fn plain(ahead: &[u8], is_ascii: bool) -> usize {
    const ONES: u64 = u64::MAX / 0xff;
    const TOPS: u64 = ONES << 7;
    // Sets the top bit of the lowest byte that is less than `bound`, and of no byte below it. `bound` is at most 0x80
    // (Hacker's Delight, 6-1).
    let less = |bytes: u64, bound: u64| bytes.wrapping_sub(ONES * bound) & !bytes & TOPS;
    let others = if is_ascii { TOPS } else { 0 };
    let is_plain = |byte: &u8| {
        *byte >= b' ' && *byte != b'"' && *byte != b'\\' && (byte.is_ascii() || !is_ascii)
    };
    let (eights, _) = ahead.as_chunks::<8>();
    for (i, eight) in eights.iter().enumerate() {
        let bytes = u64::from_le_bytes(*eight);
        let equal = |byte: u8| less(bytes ^ (ONES * u64::from(byte)), 1);
        let found = less(bytes, b' '.into()) | equal(b'"') | equal(b'\\') | bytes & others;
        if found != 0 {
            return 8 * i + found.trailing_zeros() as usize / 8;
        }
    }
    let rest = 8 * eights.len();
    ahead[rest..].iter().position(|byte| !is_plain(byte)).map_or(ahead.len(), |at| rest + at)
}

fn is_utf8(text: &[u8]) -> bool {
    text.is_ascii() || std::str::from_utf8(text).is_ok()
}

/// The number at the beginning of `ahead`, and how many digits it has; none if it may be invalid or go on.
#[inline]
fn short_number(ahead: &[u8]) -> Option<(u64, usize)> {
    /// Any number of so many digits fits 64 bits.
    const DIGITS: usize = 19;
    let mut number = 0;
    for (digits, byte) in ahead.iter().enumerate().take(DIGITS + 1) {
        if !byte.is_ascii_digit() {
            let is_odd = matches!(byte, b'.' | b'e' | b'E') || ahead[0] == b'0' && digits > 1;
            return (digits > 0 && !is_odd).then_some((number, digits));
        }
        if digits == DIGITS {
            break;
        }
        number = number * 10 + u64::from(byte - b'0');
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot read should stop there")]
mod tests {
    use std::slice::Chunks;

    use super::*;

    /// Gives one byte at a time, so that every token comes in pieces.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let mut one = &self.0[..self.0.len().min(1)];
            let read = one.read(buffer)?;
            self.0 = &self.0[read..];
            Ok(read)
        }
    }

    /// Gives one piece at a time.
    struct Pieces<'p, 'a>(&'p mut Chunks<'a, u8>);

    impl Read for Pieces<'_, '_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let mut piece = self.0.next().unwrap_or_default();
            piece.read(buffer)
        }
    }

    fn tokens(json: &[u8]) -> Tokens<Drip<'_>> {
        Tokens::new(Drip(json))
    }

    #[test]
    fn strings() {
        for (json, text) in [
            (r#""""#, ""),
            (r#" "a\"\\\/b" "#, "a\"\\/b"),
            (r#""\b\f\n\r\t""#, "\u{8}\u{c}\n\r\t"),
            (r#""\u00e9\ud83d\uDE00é""#, "é😀é"),
        ] {
            let mut tokens = tokens(json.as_bytes());
            tokens.string().unwrap();
            assert_eq!(tokens.text(), text.as_bytes());
            tokens.end().unwrap();
        }
        for json in
            [r#""a"#, r#""\x""#, r#""\u12g4""#, r#""\ud800""#, r#""\ud800\u0041""#, "\"\n\"", "a"]
        {
            assert!(tokens(json.as_bytes()).string().is_err(), "{json}");
        }
        assert_eq!(tokens(b"\"\xff\"").utf8().unwrap_err().kind(), ErrorKind::InvalidData);
    }

    /// At hand as a whole, and in pieces.
    #[test]
    fn the_end_of_a_string_is_found_wherever_it_is() {
        for stop in [b"\"".as_slice(), b"\\n\"", b"\x1f\""] {
            for before in 0..20 {
                for filler in ["x", "\u{7f}", "#", "!", "é", "\u{a2}\u{dc}", " "] {
                    let json = [b"\"", filler.repeat(before).as_bytes(), stop].concat();
                    let read = |string: io::Result<()>, text: &[u8]| {
                        string.map(|()| text.to_vec()).map_err(|error| error.to_string())
                    };
                    let (mut whole, mut dripping) = (Tokens::new(&*json), tokens(&json));
                    let (one, other) = (whole.string(), dripping.string());
                    assert_eq!(read(one, whole.text()), read(other, dripping.text()));
                    let is_wrong = stop[0] == 0x1f;
                    assert_eq!(whole.end().is_err(), is_wrong, "{json:?}");
                    let ending = if stop.len() == 3 { "\n" } else { "" };
                    let text = [filler.repeat(before).as_bytes(), ending.as_bytes()].concat();
                    assert!(is_wrong || whole.text() == text, "{json:?}");
                }
            }
        }
    }

    /// A key and its value must survive that the next piece of the stream takes the place of theirs.
    #[test]
    fn keys_and_values_are_the_same_however_the_stream_comes() {
        const JSON: &[u8] = r#"{"key":"value","é":"\n", "k" : "ü" ,"":""}"#.as_bytes();
        for length in 1..=JSON.len() {
            let mut pieces = JSON.chunks(length);
            let (mut tokens, mut found) = (Tokens::new(Pieces(&mut pieces)), Vec::new());
            let read = |tokens: &mut Tokens<_>| {
                found.push(String::from_utf8(tokens.text().to_vec()).unwrap());
                found.push(tokens.utf8()?.to_owned());
                Ok(())
            };
            tokens.object(read).unwrap();
            tokens.end().unwrap();
            assert_eq!(found, ["key", "value", "é", "\n", "k", "ü", "", ""], "{length}");
        }
    }

    #[test]
    fn numbers() {
        for json in ["0", "7", "10", "1234567890123456789", "12345678901234567890"] {
            let mut whole = Tokens::new(json.as_bytes());
            assert_eq!(whole.number().unwrap().to_string(), json);
            let listed = format!("{json},");
            assert_eq!(Tokens::new(listed.as_bytes()).number().unwrap().to_string(), json);
            for wrong in [format!("0{json},"), format!("{json}.0,"), format!("{json}e1,")] {
                assert!(Tokens::new(wrong.as_bytes()).number().is_err(), "{wrong}");
            }
        }

        assert_eq!(tokens(b" 18446744073709551615,").number().unwrap(), u64::MAX);
        assert_eq!(tokens(b"-9223372036854775808").signed().unwrap(), i64::MIN);
        assert_eq!(tokens(b"7").signed().unwrap(), 7);
        for json in ["18446744073709551616", "-1", "01", "1.0", "1e3", "", "x"] {
            assert!(tokens(json.as_bytes()).number().is_err(), "{json}");
        }
        assert!(tokens(b"9223372036854775808").signed().is_err());
    }
}
