//! Derived keys, by the vectors of RFC 5869, appendix A.

use proptest::prelude::*;
use quillgate_worker::hkdf::{derive_key, hmac_sha256, verify_hmac_sha256};

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<_> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
    let byte = |pair: &[u32]| u8::try_from(pair[0] * 16 + pair[1]).unwrap();
    digits.chunks(2).map(byte).collect()
}

#[test]
fn keys_are_those_of_the_published_vectors() {
    let sequence = |from: u8, to: u8| (from..=to).collect::<Vec<_>>();
    for (ikm, salt, info, expected) in [
        (
            vec![0x0b; 22],
            sequence(0x00, 0x0c),
            sequence(0xf0, 0xf9),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
        ),
        (
            sequence(0x00, 0x4f),
            sequence(0x60, 0xaf),
            sequence(0xb0, 0xff),
            "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c\
             59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71\
             cc30c58179ec3e87c14c01d5c1f3434f1d87",
        ),
        (
            vec![0x0b; 22],
            Vec::new(),
            Vec::new(),
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
        ),
    ] {
        let expected = bytes(expected);
        assert_eq!(derive_key(&salt, &ikm, &info, expected.len()), expected);
    }
}

#[test]
fn a_key_has_at_most_255_blocks() {
    assert_eq!(derive_key(b"", b"", b"", 8160).len(), 8160);
    assert_eq!(derive_key(b"", b"", b"", 9000).len(), 8160);
    assert_eq!(derive_key(b"", b"", b"", 0), [0; 0]);
}

proptest! {
    #[test]
    fn a_shorter_key_is_the_beginning_of_a_longer_one(ikm in any::<[u8; 32]>(), length in 0_usize..200) {
        let key = derive_key(b"salt", &ikm, b"info", length);
        prop_assert_eq!(&key[..], &derive_key(b"salt", &ikm, b"info", 200)[..length]);
    }
}

#[test]
fn a_tag_is_verified_whole_and_over_all_parts() {
    let tag = hmac_sha256(b"key", &[b"one", b"two"]);
    assert!(verify_hmac_sha256(b"key", &[b"onetwo"], &tag));
    assert!(!verify_hmac_sha256(b"yek", &[b"onetwo"], &tag));
    assert!(!verify_hmac_sha256(b"key", &[b"one"], &tag));
    for wrong in [&tag[..31], &tag[1..], &[][..], &[tag, tag].concat()] {
        assert!(!verify_hmac_sha256(b"key", &[b"onetwo"], wrong));
    }
}
