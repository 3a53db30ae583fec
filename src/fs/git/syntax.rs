//! The syntax of git's configuration files, as config.c (2.39) reads it: sections, variables, values with quotes,
//! escapes and comments, and lines continued after a backslash.

/// The full name of a variable, in lower case except for the subsection, and its value; none without a `=`.
pub(super) type Variable = (Vec<u8>, Option<Vec<u8>>);

/// Reads the variables in a file, one after the other.
pub(super) struct Variables {
    text: Vec<u8>,
    at: usize,
    /// The prefix of variables in this section: `core.`.
    section: Vec<u8>,
    /// The number of the current line, from 1.
    pub(super) line: usize,
    is_end_of_line: bool,
    is_over: bool,
}

impl Variables {
    pub(super) fn new(mut text: Vec<u8>) -> Self {
        if text.starts_with(b"\xef\xbb\xbf") {
            text.drain(..3);
        }
        Self { text, at: 0, section: Vec::new(), line: 1, is_end_of_line: false, is_over: false }
    }

    /// The next byte. Lines end in `\n`, and the last one is treated as if it did, too.
    fn byte(&mut self) -> u8 {
        self.line += usize::from(self.is_end_of_line);
        let byte = match self.text[self.at..] {
            [b'\r', b'\n', ..] => {
                self.at += 1;
                b'\n'
            }
            [byte, ..] => byte,
            [] => {
                self.is_over = true;
                return b'\n';
            }
        };
        self.at += 1;
        self.is_end_of_line = byte == b'\n';
        byte
    }

    /// The name between brackets, with a dot after it. The opening bracket has been read.
    fn section(&mut self) -> Option<Vec<u8>> {
        let mut name = Vec::new();
        loop {
            match self.byte() {
                b']' if !name.is_empty() => break,
                b' ' | b'\t' | b'\r' => {
                    self.subsection(&mut name)?;
                    break;
                }
                byte if is_of_name(byte) || byte == b'.' => name.push(byte.to_ascii_lowercase()),
                _ => return None,
            }
        }
        name.push(b'.');
        Some(name)
    }

    /// Appends the text in quotes, up to the closing bracket.
    fn subsection(&mut self, name: &mut Vec<u8>) -> Option<()> {
        let mut byte = self.byte();
        while matches!(byte, b' ' | b'\t' | b'\r') {
            byte = self.byte();
        }
        name.push(b'.');
        if byte != b'"' {
            return None;
        }
        loop {
            match self.byte() {
                b'\n' => return None,
                b'"' => return (self.byte() == b']').then_some(()),
                b'\\' => name.push(Some(self.byte()).filter(|byte| *byte != b'\n')?),
                byte => name.push(byte),
            }
        }
    }

    /// The variable whose name begins with `first`.
    fn variable(&mut self, first: u8) -> Option<Variable> {
        let mut name = self.section.clone();
        let mut byte = first;
        while is_of_name(byte) {
            name.push(byte.to_ascii_lowercase());
            byte = self.byte();
        }
        while matches!(byte, b' ' | b'\t') {
            byte = self.byte();
        }
        match byte {
            b'\n' => Some((name, None)),
            b'=' => Some((name, Some(self.value()?))),
            _ => None,
        }
    }

    /// The rest of the line and of its continuations, without blanks at the ends.
    fn value(&mut self) -> Option<Vec<u8>> {
        let (mut value, mut length, mut is_quoted) = (Vec::new(), 0, false);
        loop {
            match self.byte() {
                b'\n' if is_quoted => return None,
                b'\n' => break,
                b' ' | b'\t' | b'\r' if !is_quoted && value.is_empty() => continue,
                byte @ (b' ' | b'\t' | b'\r') if !is_quoted => {
                    value.push(byte);
                    continue;
                }
                b'#' | b';' if !is_quoted => {
                    while self.byte() != b'\n' {}
                    break;
                }
                b'"' => is_quoted = !is_quoted,
                b'\\' => match self.byte() {
                    b'\n' => {}
                    b't' => value.push(b'\t'),
                    b'b' => value.push(b'\x08'),
                    b'n' => value.push(b'\n'),
                    byte @ (b'\\' | b'"') => value.push(byte),
                    _ => return None,
                },
                byte => value.push(byte),
            }
            length = value.len();
        }
        value.truncate(length);
        Some(value)
    }
}

impl Iterator for Variables {
    /// None for invalid syntax. Nothing after it is valid.
    type Item = Option<Variable>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.byte() {
                _ if self.is_over => return None,
                b' ' | b'\t' | b'\r' | b'\n' => {}
                b'#' | b';' => while self.byte() != b'\n' {},
                b'[' => match self.section() {
                    Some(section) => self.section = section,
                    None => return Some(None),
                },
                first if first.is_ascii_alphabetic() => return Some(self.variable(first)),
                _ => return Some(None),
            }
        }
    }
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}
