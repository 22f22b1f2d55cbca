use serde_json::{Value, json};
use upstream::Options;

use crate::client::{Client, JOB, KEY, fast_options};

const JOB_DURATION_MS: u64 = 600_000;

/// Options with jobs that complete only when the clock advances.
fn slow_options() -> Options {
    Options {
        job_duration_ms: JOB_DURATION_MS,
        ..fast_options()
    }
}

fn message(id: &Value) -> String {
    format!("{JOB}/{}/message", id.as_str().unwrap())
}

#[test]
fn a_new_job_is_active_and_has_every_field() {
    let client = Client::start(slow_options());
    let job = client.create("Fix the typos");
    assert_eq!(job["id"].as_str().unwrap().len(), 36);
    assert_eq!(job["status"], "active");
    assert_eq!(
        job["source"],
        json!({ "repository": "acme/docs", "ref": "main" })
    );
    assert!(job["model"].is_string());
    assert_eq!(job.get("prLink"), Some(&Value::Null));
    assert_eq!(job.get("archivedAt"), Some(&Value::Null));
    assert!(job["createdAt"].as_str().unwrap().ends_with('Z'));
    assert_eq!(client.job(&job["id"]), job);
}

#[test]
fn a_job_completes_with_a_pull_request() {
    let client = Client::start(slow_options());
    let id = &client.create("Fix the typos")["id"];
    assert_eq!(client.job(id)["status"], "active");
    client.advance_clock(JOB_DURATION_MS);
    assert_eq!(client.job(id)["status"], "completed");
    let link = client.job(id)["prLink"].clone();
    assert!(
        link.as_str()
            .unwrap()
            .starts_with("https://github.com/acme/docs/pull/")
    );
}

#[test]
fn a_follow_up_makes_the_job_active_again() {
    let client = Client::start(slow_options());
    let id = &client.create("Fix the typos")["id"];
    client.advance_clock(JOB_DURATION_MS);
    let link = client.job(id)["prLink"].clone();
    assert!(link.is_string());
    let response = client.post(&message(id), r#"{"prompt": "And the links"}"#);
    assert_eq!(response.status, 200);
    assert_eq!(response.json()["status"], "active");
    client.advance_clock(JOB_DURATION_MS);
    assert_eq!(client.job(id)["status"], "completed");
    assert_eq!(client.job(id)["prLink"], link);
}

#[test]
fn a_creation_or_follow_up_requires_a_prompt_in_json() {
    let client = Client::start(fast_options());
    let id = &client.create("Fix the typos")["id"];
    for target in [JOB.to_owned(), message(id)] {
        for body in [
            "",
            "{",
            "[]",
            "null",
            "{}",
            r#"{"prompt": ""}"#,
            r#"{"prompt": 7}"#,
            r#"{"prompt": null}"#,
        ] {
            let response = client.post(&target, body);
            assert_eq!(response.status, 400, "{body}");
            assert!(response.json()["error"].is_string());
        }
        let bearer = format!("Bearer {KEY}");
        for content_type in ["text/plain", "application/jsonx"] {
            let headers = [
                ("authorization", bearer.as_str()),
                ("content-type", content_type),
            ];
            let response = client
                .send("POST", &target, &headers, r#"{"prompt": "x"}"#)
                .unwrap();
            assert_eq!(response.status, 400, "{content_type}");
        }
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "Application/JSON; charset=utf-8"),
        ];
        let response = client
            .send("POST", &target, &headers, r#"{"prompt": " ", "more": 1}"#)
            .unwrap();
        assert!(response.status < 300);
    }
}

#[test]
fn a_job_is_found_only_in_its_own_project() {
    let client = Client::start(fast_options());
    let job = client.create("Fix the typos");
    let id = job["id"].as_str().unwrap();
    let prompt = r#"{"prompt": "x"}"#;
    assert_eq!(
        client.get(&format!("/v2/agent/empty-docs/job/{id}")).status,
        404
    );
    assert_eq!(
        client
            .post(&format!("/v2/agent/empty-docs/job/{id}/message"), prompt)
            .status,
        404
    );
    assert_eq!(client.get(&format!("{JOB}/unknown")).status, 404);
    assert_eq!(
        client
            .post(&format!("{JOB}/unknown/message"), prompt)
            .status,
        404
    );
}

#[test]
fn creations_and_follow_ups_are_limited_per_project() {
    let client = Client::start(Options {
        create_limit: 2,
        message_limit: 1,
        ..fast_options()
    });
    let prompt = r#"{"prompt": "x"}"#;
    assert_eq!(client.post(JOB, "{}").status, 400);
    let id = &client.create("first")["id"];
    client.create("second");
    let rejected = client.post(JOB, prompt);
    assert_eq!(
        (rejected.status, rejected.json()["error"].is_string()),
        (429, true)
    );
    assert_eq!(client.post("/v2/agent/empty-docs/job", prompt).status, 201);

    assert_eq!(client.post(&message(id), prompt).status, 200);
    assert_eq!(client.post(&message(id), prompt).status, 429);
    assert_eq!(client.job(id)["id"], *id);
}

#[test]
fn reads_count_against_the_limit_for_creations_when_they_share_it() {
    let client = Client::start(Options {
        create_limit: 3,
        reads_share_job_limit: true,
        ..fast_options()
    });
    let id = &client.create("first")["id"];
    let target = format!("{JOB}/{}", id.as_str().unwrap_or_default());
    assert_eq!(client.get(&target).status, 200);
    assert_eq!(client.get(&target).status, 200);
    assert_eq!(client.get(&target).status, 429);
    assert_eq!(client.post(JOB, r#"{"prompt": "x"}"#).status, 429);
}
