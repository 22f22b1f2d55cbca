use quillgate_worker::upstream::snapshot::Snapshot;
use serde_json::{Value, json};

use crate::fixtures::{Predicate, parse_json};

#[test]
fn snapshot_has_the_id_status_and_link_of_its_job() {
    let text =
        "{\n  \"id\": \"j1\",\n  \"status\": \"done\",\n  \"prLink\": \"https://a.example/1\"\n}";
    let job = Snapshot::read_job(200, text, None).unwrap();
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
        let job = Snapshot::read_job(200, text, Some("j1")).unwrap();
        assert_eq!(
            (job.id.as_deref(), job.status, job.pr_link),
            (Some("j1"), None, None)
        );
        let mut stored = parse_json(text);
        stored["id"] = "j1".into();
        assert_eq!(parse_json(&job.data), stored);
        assert_eq!(job.text, text, "the caller gets Mintlify's response");
        assert_eq!(Snapshot::read_job(201, text, None), None, "{text}");
    }
}

#[test]
fn body_that_is_not_a_job_has_no_snapshot() {
    let is_job = |text: &str| Snapshot::read_job(200, text, None).is_some();
    is_job.rejects(&[
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
    ]);
}

#[test]
fn response_about_another_job_is_malformed() {
    let read = |id: &str, requested| {
        Snapshot::read_job(200, &json!({ "id": id }).to_string(), Some(requested))
    };
    assert!(read("j1", "j1").is_some());
    for other in ["j2", "J1", "j1 ", "", "j1\0", "é"] {
        assert_eq!(read(other, "j1"), None, "{other:?}");
    }
}

#[test]
fn new_job_needs_an_id_that_a_path_can_contain() {
    let read = |id: &str| Snapshot::read_job(201, &json!({ "id": id }).to_string(), None);
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
    for (half, rest) in [
        (r"\ud83d", r#"{"id":"j1","model":"HALF"}"#),
        (r"\uDC00", r#"{"id":"j1","aHALF":1}"#),
        (
            r"\ud83d",
            r#"{"id":"j1","x":["HALF\ud83d\udd25","\\ud83d"]}"#,
        ),
    ] {
        let job = Snapshot::read_job(200, &rest.replace("HALF", half), Some("j1")).unwrap();
        let replaced = rest.replace("HALF", r"\ufffd");
        assert_eq!((&job.text, &job.data), (&replaced, &replaced), "{half}");
    }
}

const STATUS: &str = r#"{"_id":"d1","projectId":"acme","status":"failure","summary":"Failed to revalidate domain: docs.acme.example","logs":["Successfully updated deployment"]}"#;

#[test]
fn deployment_has_its_status_and_whether_it_is_live() {
    let read = |body: &str| Snapshot::read_deployment(200, body, "d1", Some("acme")).unwrap();
    let failed = read(STATUS);
    assert_eq!(failed.status.as_deref(), Some("failure"));
    assert_eq!((failed.is_live, &*failed.data), (Some(true), STATUS));
    for (status, is_live) in [
        ("success", Some(true)),
        ("failure", Some(false)),
        ("queued", None),
        ("in_progress", None),
        ("rolled_back", None),
    ] {
        let body = json!({ "_id": "d1", "status": status }).to_string();
        assert_eq!(read(&body).is_live, is_live, "{status}");
    }
    assert_eq!(read("{}").status, None);
}

#[test]
fn stored_deployment_has_its_id_although_the_response_lacks_it() {
    let with_status = json!({ "_id": "d1", "status": "success" });
    for (body, data) in [
        (r#"{"status":"success"}"#, with_status),
        (r#"{"_id":null}"#, json!({ "_id": "d1" })),
    ] {
        let deployment = Snapshot::read_deployment(200, body, "d1", Some("acme")).unwrap();
        assert_eq!(parse_json(&deployment.data), data);
        assert_eq!(deployment.text, body, "the caller gets Mintlify's response");
    }
}

#[test]
fn response_about_another_deployment_or_project_is_malformed() {
    let read = |id, project| Snapshot::read_deployment(200, STATUS, id, project).is_some();
    assert!(read("d1", Some("acme")));
    assert!(read("d1", None));
    assert!(!read("d2", Some("acme")));
    assert!(!read("d1", Some("other")));
    assert!(!read("d1", Some("ACME")));
}

#[test]
fn started_deployment_is_queued_and_needs_an_id_that_a_path_can_contain() {
    let read = |body: Value| Snapshot::read_started(202, &body.to_string());
    let started = read(json!({ "statusId": "d1" })).unwrap();
    assert_eq!(started.id.as_deref(), Some("d1"));
    assert_eq!(started.data, r#"{"_id":"d1","status":"queued"}"#);
    assert_eq!((started.preview_url, started.is_live), (None, None));
    let url = "https://acme-fix.mintlify.site";
    let preview = read(json!({ "statusId": "d1", "previewUrl": url })).unwrap();
    assert_eq!(preview.preview_url.as_deref(), Some(url));
    for id in [json!(null), json!(""), json!(".."), json!("a/b"), json!(7)] {
        assert_eq!(read(json!({ "statusId": id })), None, "{id}");
    }
    assert_eq!(read(json!({})), None);
}

#[test]
fn run_of_an_automation_has_no_state() {
    let body = r#"{"schemaId":"a1","instanceId":"r1","jobId":null}"#;
    let run = Snapshot::read_run(202, body).unwrap();
    assert_eq!((run.id, run.status, &*run.text), (None, None, body));
    assert_eq!(Snapshot::read_run(202, "[]"), None);
    assert_eq!(Snapshot::read_run(202, r#"{"jobId":7}"#), None);
}
