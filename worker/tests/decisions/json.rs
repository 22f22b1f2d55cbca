use quillgate::text::compact;
use quillgate_worker::json::{is_true, parse, text, to_text};
use serde_json::{Value, json};

use crate::fixtures::Predicate;

#[test]
fn duplicate_json_members_are_rejected_at_any_depth() {
    let is_valid = |json: &str| parse(json.as_bytes()).is_some();
    is_valid.rejects(&[
        r#"{"a":1,"a":1}"#,
        r#"{"a":1,"\u0061":1}"#,
        r#"{"a":{"b":1,"b":2}}"#,
        r#"[[{"b":1,"b":2}]]"#,
        r#"{"a":1e999}"#,
        r#"{"a":1}x"#,
        "{'a':1}",
        "{\"a\":1,}",
        "\u{feff}{}",
        "",
    ]);
    assert_eq!(parse(&b"[".repeat(100_000)), None);
    let all = r#"{"a":{"a":[null,true,-1,18446744073709551615,0.5,"\u00e9\ud83d\ude00",{}]},"b":{"a":1}}"#;
    let expected: Value = serde_json::from_str(all).unwrap();
    assert_eq!(parse(all.as_bytes()), Some(expected));
}

#[test]
fn member_of_another_type_is_not_read() {
    let object = json!({ "a": "x", "b": true, "c": false, "d": 1, "e": "true", "f": null });
    assert_eq!(text(&object, "a"), Some("x"));
    assert!(is_true(&object, "b"));
    for name in ["b", "c", "d", "f", "missing"] {
        assert_eq!(text(&object, name), None, "{name}");
    }
    for name in ["a", "c", "d", "e", "f", "missing"] {
        assert!(!is_true(&object, name), "{name}");
    }
    for other in [json!(["a"]), json!("a"), json!(null)] {
        assert_eq!((text(&other, "a"), is_true(&other, "a")), (None, false));
    }
}

#[test]
fn json_is_written_on_one_line() {
    let value = json!({ "a": ["x\ny", null, 1.5], "b": { "c": "\u{2028}" } });
    let text = to_text(&value);
    let expected = "{\"a\":[\"x\\ny\",null,1.5],\"b\":{\"c\":\"\u{2028}\"}}";
    assert_eq!(text, expected);
    assert_eq!(parse(text.as_bytes()), Some(value));
}

#[test]
fn only_insignificant_whitespace_is_removed() {
    let spaced = "\t{ \"a \\\" : \\\\\" : [ 1 , -0.50 ] ,\r\n\"\u{e9} \\n\":null }\n";
    let compacted = "{\"a \\\" : \\\\\":[1,-0.50],\"\u{e9} \\n\":null}";
    assert_eq!(compact(spaced), compacted);
    for broken in ["", "\\", "\" \\", "\\\u{e9} \u{1f600}", "\" \u{e9}"] {
        assert!(compact(broken).len() <= broken.len(), "{broken}");
    }
}
