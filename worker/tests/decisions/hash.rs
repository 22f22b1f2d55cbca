use quillgate_worker::hash::{derive_key, hmac_sha256, verify_hmac_sha256};

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<_> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
    let byte = |pair: &[u32]| u8::try_from(pair[0] * 16 + pair[1]).unwrap();
    digits.chunks(2).map(byte).collect()
}

#[test]
fn derived_key_matches_rfc_5869_test_case_3() {
    let key = bytes("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d");
    assert_eq!(derive_key(&[0x0b; 22], b"")[..], key);
}

#[test]
fn hmac_is_verified_in_full_and_over_all_parts() {
    let tag = hmac_sha256(b"key", &[b"one", b"two"]);
    assert!(verify_hmac_sha256(b"key", &[b"onetwo"], &tag));
    assert!(!verify_hmac_sha256(b"yek", &[b"onetwo"], &tag));
    assert!(!verify_hmac_sha256(b"key", &[b"one"], &tag));
    for wrong in [&tag[..31], &tag[1..], &[][..], &[tag, tag].concat()] {
        assert!(!verify_hmac_sha256(b"key", &[b"onetwo"], wrong));
    }
}
