//! Writes databases as bbolt does, from keys with the buckets around them.

use std::collections::BTreeMap;

const PAGE: usize = 4096;

/// What is in a bucket, by name.
#[derive(Default)]
pub struct Bucket(BTreeMap<Vec<u8>, Item>);

enum Item {
    Value(Vec<u8>),
    Bucket(Bucket),
}

impl Bucket {
    /// Adds a value. The last name of the path, which has slashes between names, is its key. A backslash before a
    /// slash makes it part of a name.
    pub fn put(&mut self, path: &str, value: impl AsRef<[u8]>) -> &mut Self {
        let path = path.replace("\\/", "\0");
        let mut names: Vec<_> =
            path.split('/').map(|name| name.replace('\0', "/").into_bytes()).collect();
        let (key, mut bucket) = (names.pop().unwrap(), &mut *self);
        for name in names {
            let item = bucket.0.entry(name).or_insert_with(|| Item::Bucket(Self::default()));
            let Item::Bucket(below) = item else { panic!("{path} is in a value") };
            bucket = below;
        }
        bucket.0.insert(key, Item::Value(value.as_ref().to_vec()));
        self
    }

    /// The database with these buckets at its top, which it got in this `transaction`.
    pub fn database(&self, transaction: u64) -> Vec<u8> {
        let mut pages = vec![0; 4 * PAGE];
        let root = self.write(&mut pages);
        let end = (pages.len() / PAGE) as u64;
        for (number, transaction) in [transaction - 1, transaction].into_iter().enumerate() {
            let page = &mut pages[number * PAGE..][..PAGE];
            page[..8].copy_from_slice(&(number as u64).to_le_bytes());
            page[8..10].copy_from_slice(&4_u16.to_le_bytes());
            let words = [0xed0c_daed_u32, 2, PAGE as u32, 0].map(u32::to_le_bytes).concat();
            let more = [root, 0, 2, end, transaction].map(u64::to_le_bytes).concat();
            let meta = [words, more].concat();
            page[16..72].copy_from_slice(&meta);
            page[72..80].copy_from_slice(&fnv(&meta).to_le_bytes());
        }
        // Empty, as the free list is.
        pages[2 * PAGE + 8] = 16;
        pages[2 * PAGE] = 2;
        pages
    }

    /// Writes its pages, each with at most 20 elements, and returns the number of the topmost.
    fn write(&self, pages: &mut Vec<u8>) -> u64 {
        const MOST: usize = 20;
        let mut elements: Vec<_> =
            self.0.iter().map(|(key, item)| item.element(key, pages)).collect();
        let mut flags = 2;
        loop {
            if elements.len() <= MOST {
                return add(pages, flags, &elements);
            }
            let chunks = elements.chunks(MOST);
            let above = chunks.map(|some| {
                let number = add(pages, flags, some);
                let key = &some[0].1;
                (0, key.clone(), number.to_le_bytes().to_vec())
            });
            elements = above.collect();
            flags = 1;
        }
    }

    /// Its page in a value, if it is small and no bucket is in it.
    fn inline(&self) -> Option<Vec<u8>> {
        let is_value = |item: &Item| matches!(item, Item::Value(_));
        let all = self.0.values().all(is_value);
        let elements =
            all.then(|| self.0.iter().map(|(key, item)| item.element(key, &mut Vec::new())));
        let page = page(0, 2, &elements?.collect::<Vec<_>>());
        (page.len() <= PAGE / 4).then_some(page)
    }
}

/// Flags, key and value.
type Element = (u32, Vec<u8>, Vec<u8>);

impl Item {
    fn element(&self, key: &[u8], pages: &mut Vec<u8>) -> Element {
        match self {
            Self::Value(value) => (0, key.to_vec(), value.clone()),
            Self::Bucket(bucket) => {
                let inline = bucket.inline();
                let root = if inline.is_some() { 0 } else { bucket.write(pages) };
                let header = [root, 0].map(u64::to_le_bytes).concat();
                (1, key.to_vec(), [header, inline.unwrap_or_default()].concat())
            }
        }
    }
}

/// Adds a page, and returns its number.
fn add(pages: &mut Vec<u8>, flags: u16, elements: &[Element]) -> u64 {
    let number = (pages.len() / PAGE) as u64;
    let mut page = page(number, flags, elements);
    let overflow = (page.len().div_ceil(PAGE) - 1) as u32;
    page[12..16].copy_from_slice(&overflow.to_le_bytes());
    page.resize((overflow as usize + 1) * PAGE, 0);
    pages.extend(page);
    number
}

fn page(number: u64, flags: u16, elements: &[Element]) -> Vec<u8> {
    let mut page = number.to_le_bytes().to_vec();
    page.extend(flags.to_le_bytes());
    page.extend((elements.len() as u16).to_le_bytes());
    page.extend([0; 4]);
    let (mut data, headers) = (Vec::<u8>::new(), 16 * (1 + elements.len()));
    for (i, (kind, key, value)) in elements.iter().enumerate() {
        let at = (headers + data.len() - 16 * (1 + i)) as u32;
        data.extend(key);
        if flags == 1 {
            page.extend([at, key.len() as u32].map(u32::to_le_bytes).concat());
            page.extend(value);
        } else {
            let [key, length] = [key, value].map(|bytes| bytes.len() as u32);
            page.extend([*kind, at, key, length].map(u32::to_le_bytes).concat());
            data.extend(value);
        }
    }
    page.extend(data);
    page
}

/// FNV-1a, of 64 bits.
pub fn fnv(bytes: &[u8]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}
