//! Reads the program's JSON, as deep as it may be: a chain of 100,000 directories is an object 100,000 deep, which no
//! recursive parser survives. Nothing here recurses. A member that is not in schema 1 is an error.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// One object of schema 1.
pub struct Document {
    /// What stands beside the root node: `schema`, `measure`, `complete`, …
    pub header: Map<String, Value>,
    /// Every node, parents before their children and children in the order they came; the root is 0.
    pub nodes: Vec<Node>,
}

pub struct Node {
    pub parent: Option<usize>,
    /// The name's bytes, whichever way they were written.
    pub name: Vec<u8>,
    pub kind: String,
    pub size: u64,
    /// The size again, for a measure in which it may be negative.
    pub time: i64,
    pub entries: Option<u64>,
    pub shared: u64,
    pub note: Option<String>,
    /// At least and at most, if it is there.
    pub frees: Vec<u64>,
    pub children: Vec<usize>,
    /// Whether it came with a list of children, be it empty.
    pub listed: bool,
}

impl Document {
    pub fn parse(json: &[u8]) -> Self {
        let mut snapshot = Snapshot { json, at: 0 };
        let mut document = Document { header: Map::new(), nodes: Vec::new() };
        snapshot.take(b'{');
        let mut open = vec![document.add(None)];
        while let Some(&node) = open.last() {
            match snapshot.next() {
                b'"' => {
                    let key = snapshot.string();
                    snapshot.take(b':');
                    if key == "children" {
                        document.nodes[node].listed = true;
                        snapshot.take(b'[');
                        if snapshot.next() == b'{' {
                            snapshot.take(b'{');
                            open.push(document.add(Some(node)));
                            continue;
                        }
                        snapshot.take(b']');
                    } else {
                        document.set(node, &key, snapshot.value());
                    }
                    snapshot.after_member();
                }
                _ => {
                    snapshot.take(b'}');
                    open.pop();
                    let Some(&parent) = open.last() else { break };
                    if snapshot.next() == b',' {
                        snapshot.take(b',');
                        snapshot.take(b'{');
                        open.push(document.add(Some(parent)));
                    } else {
                        snapshot.take(b']');
                        snapshot.after_member();
                    }
                }
            }
        }
        assert_eq!(&json[snapshot.at..], b"\n", "one object, one line feed, and no more");
        document
    }

    pub fn root(&self) -> &Node {
        &self.nodes[0]
    }

    /// Every node below the root by its path from there; the root itself is "". Only for trees whose
    /// paths are short: the sum of their lengths is held.
    pub fn by_path(&self) -> BTreeMap<Vec<u8>, &Node> {
        let mut paths: Vec<Vec<u8>> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            paths.push(match node.parent {
                None => Vec::new(),
                Some(0) => node.name.clone(),
                Some(parent) => [&paths[parent], b"/".as_slice(), &node.name].concat(),
            });
        }
        let count = paths.len();
        let nodes: BTreeMap<_, _> = paths.into_iter().zip(&self.nodes).collect();
        assert_eq!(nodes.len(), count, "a path is listed twice");
        nodes
    }

    /// The node at `path` from the root.
    pub fn node(&self, path: &str) -> &Node {
        self.by_path().remove(path.as_bytes()).unwrap_or_else(|| panic!("no {path}"))
    }

    /// The entries of the `errors` list.
    pub fn errors(&self) -> &[Value] {
        self.header["errors"].as_array().expect("errors is a list")
    }

    fn add(&mut self, parent: Option<usize>) -> usize {
        let index = self.nodes.len();
        if let Some(parent) = parent {
            self.nodes[parent].children.push(index);
        }
        self.nodes.push(Node {
            parent,
            name: Vec::new(),
            kind: String::new(),
            size: u64::MAX,
            time: i64::MIN,
            entries: None,
            shared: 0,
            note: None,
            frees: Vec::new(),
            children: Vec::new(),
            listed: false,
        });
        index
    }

    fn set(&mut self, index: usize, key: &str, value: Value) {
        let node = &mut self.nodes[index];
        let text = || value.as_str().unwrap_or_else(|| panic!("{key}: {value}"));
        let number = || value.as_u64().unwrap_or_else(|| panic!("{key}: {value}"));
        match key {
            // `name_bytes`, where it is there, is the truth; it may stand before or after.
            "name" if node.name.is_empty() => node.name = text().into(),
            "name" => (),
            "name_bytes" => node.name = from_base64(text()),
            "kind" => node.kind = text().into(),
            "size" => match value.as_u64() {
                Some(size) => (node.size, node.time) = (size, value.as_i64().unwrap_or(i64::MAX)),
                None => node.time = value.as_i64().unwrap_or_else(|| panic!("size: {value}")),
            },
            "entries" => node.entries = Some(number()),
            "note" => node.note = Some(text().into()),
            "shared" => node.shared = number(),
            "frees_least" | "frees_most" if index > 0 => node.frees.push(number()),
            _ => {
                assert_eq!(index, 0, "{key} is not for a node below the root");
                let before = self.header.insert(key.into(), value);
                assert_eq!(before, None, "{key} is there twice");
            }
        }
    }
}

/// The name or path under `key`, to the byte: what is not UTF-8 stands beside it in base64.
pub fn exact(object: &Value, key: &str) -> Vec<u8> {
    match object[format!("{key}_bytes")].as_str() {
        Some(bytes) => from_base64(bytes),
        None => object[key].as_str().unwrap().into(),
    }
}

/// The bytes behind standard base64 with padding.
fn from_base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    assert_eq!(text.len() % 4, 0, "{text} is not padded");
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for digit in text.trim_end_matches('=').bytes() {
        let value = DIGITS.iter().position(|&d| d == digit).unwrap();
        bits = bits << 6 | u32::try_from(value).unwrap();
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).unwrap());
        }
    }
    bytes
}

/// A place in the text, and what may come next there.
struct Snapshot<'a> {
    json: &'a [u8],
    at: usize,
}

impl Snapshot<'_> {
    /// The next byte that is not white space, not yet taken.
    fn next(&mut self) -> u8 {
        while self.json.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        *self.json.get(self.at).expect("the JSON ends early")
    }

    fn take(&mut self, expected: u8) {
        let found = self.next();
        let context = &self.json[self.at.saturating_sub(60)..self.at];
        assert_eq!(
            (found as char, found),
            (expected as char, expected),
            "after …{}",
            String::from_utf8_lossy(context)
        );
        self.at += 1;
    }

    /// What follows a member: another one, or the object's end.
    fn after_member(&mut self) {
        if self.next() == b',' {
            self.take(b',');
            assert_eq!(self.next(), b'"', "a comma and no member");
        } else {
            assert_eq!(self.next(), b'}', "a member and no comma");
        }
    }

    fn string(&mut self) -> String {
        match self.value() {
            Value::String(text) => text,
            other => panic!("{other} where a string should be"),
        }
    }

    /// The whole value that starts here. It is not deep: nodes are not read by this.
    fn value(&mut self) -> Value {
        self.next();
        let mut values = serde_json::Deserializer::from_slice(&self.json[self.at..]).into_iter();
        let value = values.next().expect("a value").expect("a valid value");
        self.at += values.byte_offset();
        value
    }
}
