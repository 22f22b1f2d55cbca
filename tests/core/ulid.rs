use quillgate::ulid::is_ulid;

const ULID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// The ULID with the character at index `at` replaced.
fn with(at: usize, c: char) -> String {
    let replace = |(here, kept)| if here == at { c } else { kept };
    ULID.chars().enumerate().map(replace).collect()
}

#[test]
fn a_ulid_may_be_in_either_case() {
    for text in [
        ULID,
        "01arz3ndektsv4rrffq69g5fav",
        "01aRz3NdEkTsV4rRfFq69g5FaV",
        "00000000000000000000000000",
    ] {
        assert!(is_ulid(text), "{text}");
    }
}

#[test]
fn a_ulid_has_at_most_128_bits() {
    assert!(is_ulid("7ZZZZZZZZZZZZZZZZZZZZZZZZZ"));
    for first in "01234567".chars() {
        assert!(is_ulid(&with(0, first)), "{first}");
    }
    for first in "89AZaz".chars() {
        assert!(!is_ulid(&with(0, first)), "{first}");
    }
}

#[test]
fn every_character_after_the_first_is_one_of_the_32() {
    for c in (0..=255_u8).map(char::from) {
        let known = c.is_ascii_alphanumeric() && !"ILOUilou".contains(c);
        for at in [1, 13, 25] {
            assert_eq!(is_ulid(&with(at, c)), known, "{c:?} at {at}");
        }
    }
}
