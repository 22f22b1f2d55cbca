//! Responses with a job.

use quillgate_worker::upstream::job_snapshot::JobSnapshot;
use serde_json::json;

const MALFORMED: [&str; 11] = [
    "",
    "{\"id\":\"j1\"",
    "[]",
    "[{}]",
    "null",
    "\"text\"",
    "{}x",
    "{\"id\":5}",
    "{\"status\":[]}",
    "{\"source\":\"acme/docs\"}",
    "{\"id\":\"j1\",\"id\":\"j2\"}",
];

#[test]
fn snapshot_has_the_id_status_and_link_of_its_job() {
    let text =
        "{\n  \"id\": \"j1\",\n  \"status\": \"done\",\n  \"prLink\": \"https://a.example/1\"\n}";
    let job = JobSnapshot::read(200, text, None).unwrap();
    assert_eq!(job.http_status, 200);
    assert_eq!(job.text, text);
    let line = "{\"id\":\"j1\",\"status\":\"done\",\"prLink\":\"https://a.example/1\"}";
    assert_eq!(job.data, line);
    assert_eq!(job.id.as_deref(), Some("j1"));
    assert_eq!(job.status.as_deref(), Some("done"));
    assert_eq!(job.pr_link.as_deref(), Some("https://a.example/1"));
}

#[test]
fn only_a_created_job_needs_an_id() {
    for text in [
        "{}",
        "{\"id\":null,\"status\":null,\"more\":{\"a\":1}}",
        "{\"prLink\":\"\"}",
        "{\"prLink\":\"null\"}",
    ] {
        let job = JobSnapshot::read(200, text, Some("j1")).unwrap();
        assert_eq!((job.id, job.status, job.pr_link), (None, None, None));
        assert_eq!(job.data, text);
        assert_eq!(JobSnapshot::read(201, text, None), None, "{text}");
    }
}

#[test]
fn body_that_is_not_a_job_has_no_snapshot() {
    for text in MALFORMED {
        assert_eq!(JobSnapshot::read(200, text, None), None, "{text}");
    }
}

#[test]
fn response_about_another_job_is_malformed() {
    let read = |id: &str, requested| {
        JobSnapshot::read(200, &json!({ "id": id }).to_string(), Some(requested))
    };
    assert!(read("j1", "j1").is_some());
    for other in ["j2", "J1", "j1 ", "", "j1\0", "é"] {
        assert_eq!(read(other, "j1"), None, "{other:?}");
    }
}

#[test]
fn new_job_needs_an_id_that_a_path_can_contain() {
    let read = |id: &str| JobSnapshot::read(201, &json!({ "id": id }).to_string(), None);
    for id in ["j1", "a b", "é", &"a".repeat(256)] {
        assert!(read(id).is_some(), "{id}");
    }
    let too_long = "a".repeat(60_000);
    for id in ["", "..", "../../x?y", "a/b", "a%2f", "a\0b\n", &too_long] {
        assert_eq!(read(id), None, "{id:?}");
    }
}

#[test]
fn half_surrogates_are_replaced_in_any_property() {
    for (half, replaced) in [
        (
            r#"{"id":"j1","model":"\ud83d"}"#,
            r#"{"id":"j1","model":"\ufffd"}"#,
        ),
        (r#"{"id":"j1","a\uDC00":1}"#, r#"{"id":"j1","a\ufffd":1}"#),
        (
            r#"{"id":"j1","x":["\ud83d\ud83d\udd25","\\ud83d"]}"#,
            r#"{"id":"j1","x":["\ufffd\ud83d\udd25","\\ud83d"]}"#,
        ),
    ] {
        let job = JobSnapshot::read(200, half, Some("j1")).unwrap();
        assert_eq!(job.text, replaced, "{half:?}");
        assert_eq!(job.data, replaced, "{half:?}");
    }
}
