//! JSON bodies. The rejection of a body names the fault and never the prompt.

use quillgate::Request;
use quillgate_worker::http::problem::Problem;
use serde_json::{Value, json};

use super::{CREATE, MESSAGE, from_path, project};
use crate::fixtures::field_and_rule;

/// Returns the upstream request for a follow-up to the job `id`.
fn follow_up(id: &str, body: &[u8]) -> Result<Request, Problem> {
    let values = from_path(MESSAGE, Some(id));
    Ok(values.parse_with_body(body)?.request(&project()))
}

fn create(body: &[u8]) -> Result<Request, Problem> {
    let values = from_path(CREATE, None);
    Ok(values.parse_with_body(body)?.request(&project()))
}

#[track_caller]
fn assert_body_refused(body: impl AsRef<[u8]>, field: &str, rule: &str) {
    let shown = String::from_utf8_lossy(body.as_ref()).into_owned();
    let problem = match create(body.as_ref()) {
        Ok(request) => panic!("{shown} became {:?}", request.body),
        Err(problem) => problem,
    };
    assert_eq!(problem.status, 400);
    assert_eq!(
        field_and_rule(&problem),
        (field.to_owned(), rule.to_owned()),
        "{shown}"
    );
}

#[test]
fn body_is_rebuilt_from_its_values() {
    for (body, prompt) in [
        (r#"{"prompt":"x"}"#, "x"),
        (" {\n\"prompt\" :\t\"x\" } \r\n", "x"),
        ("\u{feff}{\"prompt\":\"x\"}", "x"),
        (r#"{"\u0070rompt":"\u0078"}"#, "x"),
        (
            r#"{"prompt":"\ud83d\ude00 \" \\ \u0000 </script>"}"#,
            "😀 \" \\ \0 </script>",
        ),
        (r#"{"prompt":" "}"#, " "),
    ] {
        let request = create(body.as_bytes()).unwrap();
        let sent: Value = serde_json::from_str(&request.body.unwrap()).unwrap();
        assert_eq!(sent, json!({ "prompt": prompt }), "{body:?}");
        assert_eq!(request.target, "/v2/agent/demo-docs/job");
    }
}

#[test]
fn body_must_be_a_json_object() {
    let nested = format!("{{\"prompt\":{}", "[".repeat(100_000));
    let closed = format!("{{\"prompt\":{}{}}}", "[".repeat(500), "]".repeat(500));
    for body in [
        "",
        "null",
        "[]",
        r#"[{"prompt":"x"}]"#,
        r#"{"prompt":"x"}{}"#,
        r#"{"prompt":"x",}"#,
        r#"{"prompt":'x'}"#,
        "\u{feff}\u{feff}{\"prompt\":\"x\"}",
        "prompt=x",
        "{\"prompt\":\"a\nb\"}",
        r#"{"prompt":"\ud800"}"#,
        "{\"prompt\":\"x\"}\0",
        "// x\n{\"prompt\":\"x\"}",
        r#"{"prompt":1e999}"#,
        &nested,
        &closed,
    ] {
        assert_body_refused(body, "body", "json-object");
    }
    for bytes in [
        &b"{\"prompt\":\"\xff\"}"[..],
        b"{\"prompt\":\"\xed\xa0\x80\"}",
        b"{\"prompt\":\"\xc0\xae\"}",
        b"\xff\xfe{\0\"\0",
        b"\x1f\x8b\x08\x00",
    ] {
        assert_body_refused(bytes, "body", "json-object");
    }
}

#[track_caller]
fn assert_detail(body: &[u8], detail: &str) {
    let shown = String::from_utf8_lossy(body);
    assert_eq!(create(body).unwrap_err().detail, detail, "{shown}");
}

/// Windows programs send other encodings.
#[test]
fn rejection_of_a_body_names_its_encoding() {
    let json = "{\"prompt\":\"x\"}";
    for text in [json.to_owned(), format!("\u{feff}{json}")] {
        for order in [u16::to_le_bytes, u16::to_be_bytes] {
            let body: Vec<u8> = text.encode_utf16().flat_map(order).collect();
            assert_detail(&body, "the body must be UTF-8, found UTF-16 or UTF-32");
        }
    }
    let other = "the body must be UTF-8, found another encoding at byte 14";
    assert_detail(b"{\"prompt\":\"caf\xe9\"}", other);
    assert_detail(b"\x1f\x8b\x08\x00", "the body must be UTF-8, found gzip");
}

#[test]
fn rejection_of_a_body_names_the_fault() {
    for (body, fault) in [
        ("", "a JSON object, but it is empty"),
        ("\u{feff} \r\n", "a JSON object, but it is empty"),
        (r#"[{"prompt":"x"}]"#, "a JSON object, found an array"),
        ("null", "a JSON object, found null"),
        ("5", "a JSON object, found a number"),
        (
            r#""{\"prompt\":\"x\"}""#,
            "a JSON object, found a string; encode it only once",
        ),
        (
            r#"{"prompt":"x",}"#,
            "valid JSON: trailing comma at line 1 column 15",
        ),
        (
            "{\"prompt\":\n\"a\nb\"}",
            "valid JSON: control character (\\u0000-\\u001F) found while parsing a string at line 3 column 0",
        ),
        (
            "'{prompt:x}'",
            "valid JSON: expected value at line 1 column 1",
        ),
        (
            r#"{"prompt":"x""#,
            "valid JSON: EOF while parsing an object at line 1 column 13",
        ),
    ] {
        assert_detail(body.as_bytes(), &format!("the body must be {fault}"));
    }
    let unknown = "Prompt is not a parameter of this operation; use prompt";
    assert_detail(br#"{"Prompt":"x"}"#, unknown);
    let twice = "the body must have each property once, found \"prompt\" twice";
    let position = " at line 1 column 27";
    assert_detail(
        br#"{"prompt":"x","prompt":"y"}"#,
        &format!("{twice}{position}"),
    );
}

/// Programs that cut strings can cut an emoji in half.
#[test]
fn half_a_surrogate_pair_is_named() {
    for (prompt, column) in [
        (r"x \ud83d", 20),
        (r"x \ud83d y", 20),
        (r"x \ud83d\n", 21),
        (r"\ude00 x", 17),
        (r"\ud83d\ud83d", 23),
    ] {
        let detail = format!(
            "the body must be Unicode, found half a surrogate pair, such as half an emoji, at line 1 column {column}"
        );
        assert_detail(format!(r#"{{"prompt":"{prompt}"}}"#).as_bytes(), &detail);
    }
}

#[test]
fn duplicate_property_is_rejected() {
    for body in [
        r#"{"prompt":"x","prompt":"y"}"#,
        r#"{"prompt":"x","prompt":"x"}"#,
        r#"{"prompt":"x","\u0070rompt":"y"}"#,
        r#"{"prompt":null,"prompt":"y"}"#,
        r#"{"a":1,"a":1,"prompt":"y"}"#,
    ] {
        assert_body_refused(body, "body", "json-object");
    }
}

#[test]
fn unknown_property_is_rejected() {
    for (body, field) in [
        (r#"{"prompt":"x","model":"y"}"#, "model"),
        (r#"{"prompt":"x","Prompt":"y"}"#, "Prompt"),
        (r#"{"prompt":"x","":"y"}"#, ""),
        (r#"{"prompt":"x","id":"j2"}"#, "id"),
        (r#"{"prompt":"x","projectId":"other"}"#, "projectId"),
        (r#"{"prompt":"x","__proto__":{"a":1}}"#, "__proto__"),
        (r#"{"prompt":"x","a\r\nb":1}"#, "a\u{fffd}\u{fffd}b"),
    ] {
        assert_body_refused(body, field, "unknown");
    }
    let long = format!(r#"{{"{}":1}}"#, "n".repeat(1000));
    assert_body_refused(long, &"n".repeat(32), "unknown");
}

#[test]
fn prompt_must_be_a_nonempty_string() {
    for (value, rule) in [
        ("1", "text"),
        ("true", "text"),
        ("[]", "text"),
        ("[\"x\"]", "text"),
        ("{}", "text"),
        ("{\"text\":\"x\"}", "text"),
        ("null", "required"),
        ("\"\"", "not-empty"),
    ] {
        assert_body_refused(format!("{{\"prompt\":{value}}}"), "prompt", rule);
    }
    assert_body_refused("{}", "prompt", "required");
}

#[test]
fn rejection_never_reveals_the_prompt() {
    for body in [
        r#"{"prompt":"confidential","x":1}"#,
        r#"{"prompt":["confidential"]}"#,
        r#"{"prompt":"confidential","prompt":"confidential"}"#,
        r#"{"prompt":"confidential""#,
    ] {
        let problem = create(body.as_bytes()).unwrap_err();
        assert!(
            !problem.to_json("an-id").contains("confidential"),
            "{body:?}"
        );
    }
}

#[test]
fn follow_up_takes_its_job_id_only_from_the_path() {
    let request = follow_up("j%201", br#"{"prompt":"x"}"#).unwrap();
    assert_eq!(request.target, "/v2/agent/demo-docs/job/j%201/message");
    for body in [r#"{"prompt":"x","id":"j2"}"#, r#"{"id":"j2"}"#] {
        let problem = follow_up("j1", body.as_bytes()).err().unwrap();
        assert_eq!(
            field_and_rule(&problem),
            ("id".to_owned(), "unknown".to_owned())
        );
    }
    for id in ["..", "."] {
        let problem = follow_up(id, br#"{"prompt":"x"}"#).unwrap_err();
        assert_eq!(
            field_and_rule(&problem),
            ("id".to_owned(), "not-dot-segment".to_owned())
        );
    }
}
