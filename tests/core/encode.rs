//! Encoding of strings in URLs and JSON.

use quillgate::encode::{encode_json_string, percent_encode};

#[test]
fn percent_encoding_preserves_exactly_the_unreserved_characters() {
    for byte in 0..=127_u8 {
        let text = char::from(byte).to_string();
        let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
        let expected = if unreserved.contains(&text) {
            text.clone()
        } else {
            format!("%{byte:02X}")
        };
        assert_eq!(percent_encode(&text), expected);
    }
}

#[test]
fn percent_encoding_encodes_non_ascii_characters_byte_by_byte() {
    for (text, encoded) in [
        ("", ""),
        ("é", "%C3%A9"),
        ("文", "%E6%96%87"),
        ("🪶", "%F0%9F%AA%B6"),
        ("e\u{301}", "e%CC%81"),
        ("\u{10ffff}", "%F4%8F%BF%BF"),
    ] {
        assert_eq!(percent_encode(text), encoded, "{text:?}");
    }
}

#[test]
fn json_strings_contain_no_raw_control_characters() {
    for code in 0..0x20_u8 {
        let json = encode_json_string(&char::from(code).to_string());
        assert!(json.bytes().all(|byte| byte >= 0x20), "{json:?}");
        assert_eq!(
            serde_json::from_str::<String>(&json).unwrap().as_bytes(),
            [code]
        );
    }
}

#[test]
fn json_strings_escape_quotes_backslashes_and_control_characters() {
    for (text, json) in [
        ("", r#""""#),
        ("a", r#""a""#),
        ("\"\\/", r#""\"\\/""#),
        ("\n\r\t", r#""\n\r\t""#),
        ("\u{8}\u{c}\u{0}\u{1f}", r#""\u0008\u000c\u0000\u001f""#),
        ("\u{7f}\u{2028}é🪶", "\"\u{7f}\u{2028}é🪶\""),
    ] {
        assert_eq!(encode_json_string(text), json, "{text:?}");
    }
}
