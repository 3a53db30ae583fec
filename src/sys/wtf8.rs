//! WTF-8, which represents any Windows name as bytes (simonsapin.github.io/wtf-8).

/// The 16-bit units of `bytes`. Windows gives no name that is invalid WTF-8; each invalid byte becomes the replacement
/// character.
pub fn units(bytes: &[u8]) -> Vec<u16> {
    const REPLACEMENT: u16 = 0xfffd;
    let (mut units, mut rest) = (Vec::with_capacity(bytes.len()), bytes);
    while !rest.is_empty() {
        let valid = match str::from_utf8(rest) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let (text, after) = rest.split_at(valid);
        units.extend(str::from_utf8(text).unwrap_or_default().encode_utf16());
        rest = match after {
            [0xed, high @ 0xa0..=0xbf, low @ 0x80..=0xbf, after @ ..] => {
                units.push(0xd000 | u16::from(high & 0x3f) << 6 | u16::from(low & 0x3f));
                after
            }
            [_, after @ ..] => {
                units.push(REPLACEMENT);
                after
            }
            [] => after,
        };
    }
    units
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As the definition has it.
    fn encode(units: &[u16]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for unit in char::decode_utf16(units.iter().copied()) {
            match unit {
                Ok(c) => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
                Err(error) => {
                    let unit = error.unpaired_surrogate();
                    let last = |bits: u16| 0x80 | (bits & 0x3f) as u8;
                    bytes.extend([0xed, last(unit >> 6), last(unit)]);
                }
            }
        }
        bytes
    }

    proptest! {
        #[test]
        fn every_name_of_windows_comes_back(
            name in prop::collection::vec(prop_oneof![any::<u16>(), 0xd800..=0xdfff_u16, 97..99_u16], 0..20),
        ) {
            prop_assert_eq!(units(&encode(&name)), name);
        }

        #[test]
        fn no_bytes_are_too_bad(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let text = String::from_utf8_lossy(&bytes);
            if text.as_bytes() == bytes {
                prop_assert_eq!(units(&bytes), text.encode_utf16().collect::<Vec<_>>());
            } else {
                prop_assert!(units(&bytes).len() <= bytes.len());
            }
        }
    }
}
