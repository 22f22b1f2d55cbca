use quillgate::{Operation, ProjectId, Request, ValidationError};
use quillgate_worker::http::content::{RequestValues, is_json};
use quillgate_worker::http::problem::Problem;
use serde_json::{Value, json};

use crate::fixtures::{Predicate, field_and_rule};

const VIEWS: Operation = Operation::ListPageViews;
const CREATE: Operation = Operation::CreateAgentJob;
const MESSAGE: Operation = Operation::SendMessage;
const JOBS: Operation = Operation::ListAgentJobs;
const GET: Operation = Operation::GetAgentJob;

fn project() -> ProjectId {
    ProjectId::new("demo-docs").unwrap()
}

/// Returns the values of a path, with the job id `id` if any.
fn from_path(operation: Operation, id: Option<&str>) -> RequestValues {
    let mut segments = vec![("projectId", "demo-docs")];
    segments.extend(id.map(|id| ("id", id)));
    RequestValues::from_path(operation, segments).unwrap()
}

/// Returns the upstream request for a list of views or jobs.
fn list(operation: Operation, query: &str) -> Result<Request, ValidationError> {
    let values = from_path(operation, None).with_query(Some(query))?;
    Ok(values.parse()?.request(&project()))
}

#[track_caller]
fn assert_query_refused(operation: Operation, query: &str, field: &str, rule: &str) {
    let error = list(operation, query).unwrap_err();
    let found = (error.field.as_ref(), error.rule.name());
    assert_eq!(found, (field, rule), "{query}");
}

#[test]
fn query_is_rebuilt_in_a_fixed_order() {
    let range = "?dateFrom=2024-02-29&dateTo=2024-03-01";
    let seconds = "?dateFrom=2024-02-29T12%3A00%3A00%2B01%3A00";
    let minutes = "?dateFrom=2024-02-29T12%3A00%2B01%3A00";
    for (query, expected) in [
        ("", ""),
        ("&&", ""),
        ("limit=5", "?limit=5"),
        ("&limit=5&", "?limit=5"),
        ("offset=0&limit=250", "?limit=250&offset=0"),
        ("%6cimit=%35", "?limit=5"),
        ("limit=005", "?limit=5"),
        (
            "offset=9007199254740991",
            "?limit=50&offset=9007199254740991",
        ),
        ("page=1", "?limit=50&offset=0"),
        ("page=3&limit=20", "?limit=20&offset=40"),
        ("p%61ge=2", "?limit=50&offset=50"),
        ("dateTo=2024-03-01&dateFrom=2024-02-29", range),
        ("dateFrom=2024-02-29T12%3A00%3A00%2B01%3A00", seconds),
        // Many clients do not encode the plus sign.
        ("dateFrom=2024-02-29T12:00:00+01:00", seconds),
        ("dateFrom=2024-02-29T12:00%2001:00", minutes),
    ] {
        let request = list(VIEWS, query).unwrap();
        let expected = format!("/v1/analytics/demo-docs/views{expected}");
        assert_eq!(request.target, expected);
        assert_eq!(request.body, None);
    }
}

#[test]
fn duplicate_parameter_is_rejected_in_any_encoding() {
    for query in [
        "limit=5&limit=5",
        "limit=5&limit=6",
        "limit=5&%6Cimit=6",
        "limit=5&offset=1&limit",
    ] {
        assert_query_refused(VIEWS, query, "limit", "once");
    }
}

#[test]
fn unknown_parameter_is_rejected() {
    for (query, field) in [
        ("x=1", "x"),
        ("x", "x"),
        ("=1", ""),
        ("Limit=5", "Limit"),
        ("limit%00=5", "limit\u{fffd}"),
        ("limit[]=5", "limit[]"),
        ("limit=5;offset=1&x", "x"),
        ("limit;offset=5", "limit;offset"),
        ("+limit=5", " limit"),
        ("projectId=other", "projectId"),
        ("id=j1", "id"),
        ("prompt=x", "prompt"),
        ("access_token=x", "access_token"),
        ("__proto__=x", "__proto__"),
    ] {
        assert_query_refused(VIEWS, query, field, "unknown");
    }
    let long = "n".repeat(10_000);
    assert_query_refused(VIEWS, &long, &long[..32], "unknown");
}

#[test]
fn malformed_percent_encoding_is_rejected() {
    assert_query_refused(VIEWS, "limit=%", "limit", "text");
    assert_query_refused(VIEWS, "limit=%ff", "limit", "text");
    assert_query_refused(VIEWS, "%zz=1", "query", "text");
    assert_query_refused(VIEWS, "%c0%ac=1", "query", "text");
}

#[test]
fn job_list_accepts_a_page_size_and_a_cursor() {
    for (query, expected) in [
        ("", ""),
        ("limit=1", "?limit=1"),
        ("cursor=a%2Bb&limit=100", "?limit=100&cursor=a%2Bb"),
        ("%63ursor=%61", "?cursor=a"),
    ] {
        let request = list(JOBS, query).unwrap();
        let expected = format!("/v2/agent/demo-docs/jobs{expected}");
        assert_eq!(request.target, expected);
    }
    for (query, field, rule) in [
        ("limit=0", "limit", "page-size"),
        ("limit=101", "limit", "page-size"),
        ("cursor=", "cursor", "not-empty"),
        ("cursor=a&cursor=a", "cursor", "once"),
        ("cursor=%ff", "cursor", "text"),
        ("offset=5", "offset", "unknown"),
    ] {
        assert_query_refused(JOBS, query, field, rule);
    }
}

#[test]
fn operations_without_parameters_reject_a_query() {
    for operation in [CREATE, MESSAGE] {
        assert!(from_path(operation, None).with_query(Some("")).is_ok());
        for query in ["prompt=x", "id=j1", "limit=5"] {
            let read = from_path(operation, None).with_query(Some(query));
            let rule = read.unwrap_err().rule.name();
            assert_eq!(rule, "unknown", "{query} {operation:?}");
        }
    }
}

#[test]
fn job_id_comes_only_from_the_path() {
    let read = |query| from_path(GET, Some("j%201")).with_query(query);
    let call = read(Some("&")).unwrap().parse().unwrap();
    let target = call.request(&project()).target;
    assert_eq!(target, "/v2/agent/demo-docs/job/j%201");
    for query in ["id=j2", "%69d=j2", "id", "wait=25", "prompt=x"] {
        let error = read(Some(query)).unwrap_err();
        assert_eq!(error.rule.name(), "unknown", "{query}");
    }
}

#[test]
fn only_application_json_is_json() {
    let is_json_type = |value: &str| is_json(Some(value));
    is_json_type.accepts(&[
        "application/json",
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
        "application/json;",
        "application/json ;x",
    ]);
    is_json_type.rejects(&[
        "",
        "application/json, text/plain",
        "application/jsonp",
        "application/problem+json",
        "application/x-www-form-urlencoded",
        "text/plain;application/json",
        "application/json\0",
        "\"application/json\"",
    ]);
    assert!(!is_json(None));
}

fn create(body: &[u8]) -> Result<Request, Problem> {
    let call = from_path(CREATE, None).parse_with_body(body)?;
    Ok(call.request(&project()))
}

#[track_caller]
fn assert_body_refused(body: impl AsRef<[u8]>, field: &str, rule: &str) {
    let shown = String::from_utf8_lossy(body.as_ref()).into_owned();
    let problem = create(body.as_ref()).unwrap_err();
    assert_eq!(field_and_rule(&problem), [field, rule], "{shown}");
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
fn body_must_be_a_json_object_without_duplicate_properties() {
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
        r#"{"prompt":"x","prompt":"y"}"#,
        r#"{"prompt":"x","prompt":"x"}"#,
        r#"{"prompt":"x","\u0070rompt":"y"}"#,
        r#"{"prompt":null,"prompt":"y"}"#,
        r#"{"a":1,"a":1,"prompt":"y"}"#,
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
    let twice_encoded = r#""{\"prompt\":\"x\"}""#;
    for (body, found) in [
        ("", "but it is empty"),
        ("\u{feff} \r\n", "but it is empty"),
        (r#"[{"prompt":"x"}]"#, "found an array"),
        ("null", "found null"),
        ("5", "found a number"),
        (twice_encoded, "found a string; encode it only once"),
    ] {
        let detail = format!("the body must be a JSON object, {found}");
        assert_detail(body.as_bytes(), &detail);
    }
    let control = "control character (\\u0000-\\u001F) found while parsing a string";
    for (body, fault, place) in [
        (r#"{"prompt":"x",}"#, "trailing comma", "line 1 column 15"),
        ("{\"prompt\":\n\"a\nb\"}", control, "line 3 column 0"),
        ("'{prompt:x}'", "expected value", "line 1 column 1"),
        (
            r#"{"prompt":"x""#,
            "EOF while parsing an object",
            "line 1 column 13",
        ),
    ] {
        let detail = format!("the body must be valid JSON: {fault} at {place}");
        assert_detail(body.as_bytes(), &detail);
    }
    let unknown = "Prompt is not a parameter of this operation; use prompt";
    assert_detail(br#"{"Prompt":"x"}"#, unknown);
    let twice = concat!(
        "the body must have each property once, found \"prompt\" twice",
        " at line 1 column 27"
    );
    assert_detail(br#"{"prompt":"x","prompt":"y"}"#, twice);
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
        let json = problem.to_json("an-id");
        assert!(!json.contains("confidential"), "{body}");
    }
}

#[test]
fn follow_up_takes_its_job_id_only_from_the_path() {
    let follow_up = |id, body: &str| {
        let call = from_path(MESSAGE, Some(id)).parse_with_body(body.as_bytes());
        call.map(|call| call.request(&project()).target)
    };
    let body = r#"{"prompt":"x"}"#;
    let target = "/v2/agent/demo-docs/job/j%201/message";
    assert_eq!(follow_up("j%201", body).unwrap(), target);
    for body in [r#"{"prompt":"x","id":"j2"}"#, r#"{"id":"j2"}"#] {
        let problem = follow_up("j1", body).unwrap_err();
        assert_eq!(field_and_rule(&problem), ["id", "unknown"]);
    }
    for id in ["..", "."] {
        let problem = follow_up(id, body).unwrap_err();
        assert_eq!(field_and_rule(&problem), ["id", "not-dot-segment"]);
    }
}
