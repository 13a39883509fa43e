//! Base64 (RFC 4648, section 4): output of terminals, images, audio and files.
use alloc::vec::Vec;
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

/// With padding. Some encoders leave bits in the last character that no byte has.
const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// Decodes base64 text; `None` if it is invalid.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    ENGINE.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::decode;
    use alloc::vec::Vec;

    #[test]
    fn padded_text_is_decoded() {
        assert_eq!(decode(""), Some(Vec::new()));
        assert_eq!(decode("eA=="), Some(b"x".to_vec()));
        assert_eq!(decode("eXk="), Some(b"yy".to_vec()));
        assert_eq!(decode("+/+/"), Some([0xfb, 0xff, 0xbf].to_vec()));
    }

    #[test]
    fn unused_bits_are_ignored() {
        assert_eq!(decode("eB=="), Some(b"x".to_vec()));
    }

    #[test]
    fn other_text_is_invalid() {
        for text in ["eA", "eA=", "e===", "====", "eA==eA==", "e A=", "-_-_"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
