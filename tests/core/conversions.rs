use std::time::{Duration, SystemTime};

use quillgate::encode::{encode_json_string, percent_encode};
use quillgate::{
    DateBound, EndDay, FirstDay, JobId, ListArchivedViews, ListDailyViews, ProjectId, Rule,
    ThreadId, Timestamp,
};

#[test]
fn an_id_converts_from_a_string_and_back() {
    let id: JobId = "j/1".parse().unwrap();
    assert_eq!(id, JobId::try_from("j/1".to_owned()).unwrap());
    assert_eq!(id.to_string(), "j/1");
    assert_eq!(AsRef::<str>::as_ref(&id), "j/1");
    let json = serde_json::to_string(&id).unwrap();
    assert_eq!(json, r#""j/1""#);
    assert_eq!(serde_json::from_str::<JobId>(&json).unwrap(), id);
}

#[test]
fn an_invalid_id_is_rejected_by_every_conversion() {
    let expected = Rule::NotDotSegment;
    assert_eq!("..".parse::<ProjectId>().unwrap_err().rule, expected);
    assert_eq!(JobId::try_from("").unwrap_err().rule, Rule::NotEmpty);
    assert_eq!(ThreadId::try_from("t1").unwrap_err().rule, Rule::Ulid);
    let error = serde_json::from_str::<ThreadId>(r#""t1""#).unwrap_err();
    let begins = "threadId must be a ULID";
    assert!(error.to_string().starts_with(begins), "{error}");
}

#[test]
fn a_day_parameter_must_be_a_date() {
    assert_eq!(FirstDay::new("soon").unwrap_err().rule, Rule::DateFormat);
    let expected = Rule::CalendarDate;
    assert_eq!(EndDay::new("2026-02-30").unwrap_err().rule, expected);
    let archived = ListArchivedViews::try_from("2026-01-01".."2026-02-01").unwrap();
    assert_eq!(archived.date_to.as_str(), "2026-02-01");
    let days = ListDailyViews::try_from("2026-01-01".."2026-02-01").unwrap();
    assert_eq!(days.date_from.as_str(), "2026-01-01");
    assert_eq!(days.date_to.as_str(), "2026-02-01");
}

#[test]
fn a_timestamp_converts_to_other_types_of_instants() {
    let instant: Timestamp = "1970-01-02T01:00:00.007+01:00".parse().unwrap();
    assert_eq!(instant.as_millis(), 86_400_007);
    let expected = "1970-01-02T00:00:00.007Z";
    assert_eq!(DateBound::from(instant).as_str(), expected);
    let time = SystemTime::from(instant);
    assert_eq!(Timestamp::from(time), instant);
    let earlier = Timestamp::from_millis(86_400_000);
    assert_eq!(instant.duration_since(earlier), Duration::from_millis(7));
    assert_eq!(earlier.duration_since(instant), Duration::ZERO);
}

#[test]
fn a_timestamp_needs_an_offset_and_a_year_from_1970() {
    for (text, rule) in [
        ("9999-12-31T23:59:00-01:00", Rule::DateFormat),
        ("2024-02-29T12:00:00", Rule::DateFormat),
        ("1969-12-31T23:59:59Z", Rule::DateFormat),
        ("2024-02-30T12:00:00Z", Rule::CalendarDate),
        ("soon", Rule::DateFormat),
    ] {
        assert_eq!(text.parse::<Timestamp>().unwrap_err().rule, rule, "{text}");
    }
}

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
        let decoded: String = serde_json::from_str(&json).unwrap();
        assert_eq!(decoded.as_bytes(), [code]);
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
