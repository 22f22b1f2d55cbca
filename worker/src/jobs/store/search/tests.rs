use wasm_bindgen_test::wasm_bindgen_test;

use super::*;

#[wasm_bindgen_test]
fn a_folded_copy_is_stored_only_if_sqlite_would_not_create_the_same() {
    assert_eq!(find_folded("Fix the API"), None);
    assert_eq!(find_folded("ÜBERSICHT").as_deref(), Some("übersicht"));
    assert_eq!(
        find_folded("Before\0After").as_deref(),
        Some("before after")
    );
}

#[wasm_bindgen_test]
fn spellings_of_the_same_text_are_folded_to_the_same_string() {
    for (folded, spellings) in [
        ("café", &["café", "cafe\u{301}", "CAFÉ", "Cafe\u{301}"][..]),
        ("faq", &["FAQ", "ＦＡＱ", "ｆａｑ", "𝐅𝐀𝐐"]),
        (
            "istanbul",
            &["İstanbul", "I\u{307}stanbul", "ISTANBUL", "ıstanbul"],
        ),
        ("strasse", &["Straße", "STRASSE", "STRAẞE"]),
        ("οδοσ 1", &["ΟΔΟΣ 1", "οδος １", "οδοσ ①"]),
        ("ガイド", &["ガイド", "ｶﾞｲﾄﾞ", "カ\u{3099}イト\u{3099}"]),
        (
            "한국",
            &["한국", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}"],
        ),
        ("file ǰ", &["ﬁle ǰ", "FILE\u{a0}J\u{30c}", "file\0ǰ"]),
    ] {
        for spelling in spellings {
            assert_eq!(fold(spelling), folded, "{spelling}");
            assert_eq!(fold(&fold(spelling)), folded, "{spelling}");
        }
    }
}
