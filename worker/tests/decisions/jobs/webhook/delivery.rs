//! Webhook deliveries.

use quillgate::Millis;
use quillgate_worker::jobs::resource::Resource;
use quillgate_worker::jobs::webhook::{
    JobEnd, Next, RETRY_AFTER, format_event, format_given_up, plan_next,
};
use serde_json::{Value, json};

const DAY: Millis = Millis(86_400_000);

#[test]
fn delivery_attempts_follow_the_published_schedule() {
    let seconds = RETRY_AFTER.map(|wait| wait.0 / 1000);
    let expected = [
        0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400,
    ];
    assert_eq!(seconds, expected);
    for status in [
        None,
        Some(100),
        Some(301),
        Some(307),
        Some(400),
        Some(404),
        Some(500),
        Some(599),
    ] {
        for (attempt, wait) in (1..).zip(&RETRY_AFTER[1..]) {
            assert_eq!(
                plan_next(attempt, status, None, 0.0),
                Next::Again(*wait),
                "{status:?}"
            );
        }
        for attempt in [10, 11, u32::MAX] {
            assert_eq!(plan_next(attempt, status, None, 0.0), Next::GivenUp);
        }
    }
}

#[test]
fn delivery_ends_after_2xx_or_410() {
    for attempt in [1, 5, 10, 11] {
        for status in 200..=299 {
            assert_eq!(plan_next(attempt, Some(status), Some(DAY), 0.5), Next::Done);
        }
        assert_eq!(plan_next(attempt, Some(410), Some(DAY), 0.5), Next::GivenUp);
    }
}

#[test]
fn receiver_can_extend_but_not_shorten_the_wait() {
    let five = RETRY_AFTER[1];
    for (status, asked, expected) in [
        (Some(429), Some(Millis(60_000)), Millis(60_000)),
        (Some(503), Some(Millis(60_000)), Millis(60_000)),
        (Some(429), Some(Millis(1)), five),
        (Some(429), None, five),
        (Some(429), Some(Millis(u64::MAX)), DAY),
        (Some(500), Some(Millis(60_000)), five),
        (Some(301), Some(Millis(60_000)), five),
        (None, Some(Millis(60_000)), five),
    ] {
        assert_eq!(
            plan_next(1, status, asked, 0.0),
            Next::Again(expected),
            "{status:?} {asked:?}"
        );
    }
    assert_eq!(plan_next(10, Some(429), Some(DAY), 0.0), Next::GivenUp);
}

#[test]
fn jitter_extends_a_wait_by_at_most_a_tenth() {
    for (jitter, expected) in [
        (0.0, 300_000),
        (0.5, 315_000),
        (1.0, 330_000),
        (-1.0, 300_000),
        (7.0, 330_000),
        (f64::NAN, 300_000),
        (f64::INFINITY, 330_000),
    ] {
        assert_eq!(
            plan_next(2, None, None, jitter),
            Next::Again(Millis(expected)),
            "{jitter}"
        );
    }
}

#[test]
fn job_ends_have_the_published_names() {
    let ends = [
        JobEnd::Completed,
        JobEnd::Failed,
        JobEnd::Archived,
        JobEnd::Success,
        JobEnd::Failure,
        JobEnd::Unfinished,
        JobEnd::NotFound,
    ];
    let names = ends.map(JobEnd::as_str);
    assert_eq!(
        names,
        [
            "completed",
            "failed",
            "archived",
            "success",
            "failure",
            "unfinished",
            "not_found"
        ]
    );
}

#[test]
fn payload_has_project_url_and_unchanged_job() {
    let job = r#"{"id":"j1","status":"completed","prLink":null,"x":"\u2028"}"#;
    let written = format_event(
        Resource::Job,
        JobEnd::Completed.as_str(),
        "2024-02-29T12:34:56.789Z",
        ("a \"project\"", "https://hooks.example/\"x\""),
        job,
    );
    let value: Value = serde_json::from_str(&written).unwrap();
    let expected = json!({
        "type": "agent_job.completed",
        "timestamp": "2024-02-29T12:34:56.789Z",
        "project": "a \"project\"",
        "webhookUrl": "https://hooks.example/\"x\"",
        "data": serde_json::from_str::<Value>(job).unwrap(),
    });
    assert_eq!(value, expected);
    assert!(written.contains(job));
}

#[test]
fn payload_of_a_deployment_says_whether_it_is_live() {
    let timestamp = "2024-02-29T12:34:56.789Z";
    let receiver = ("acme", "https://hooks.example/");
    let live = r#"{"_id":"d1","status":"failure","logs":["Successfully updated deployment","Failed to revalidate domain: a.example"]}"#;
    let failed = r#"{"_id":"d1","status":"failure","logs":["Failed to build"]}"#;
    let running = r#"{"_id":"d1","status":"in_progress"}"#;
    for (end, deployment, kind, is_live) in [
        (
            JobEnd::Success,
            r#"{"status":"success"}"#,
            "ended",
            json!(true),
        ),
        (JobEnd::Failure, live, "ended", json!(true)),
        (JobEnd::Failure, failed, "ended", json!(false)),
        (JobEnd::Unfinished, running, "unfinished", Value::Null),
        (JobEnd::NotFound, running, "not_found", Value::Null),
    ] {
        let end = end.as_str();
        let written = format_event(Resource::Deployment, end, timestamp, receiver, deployment);
        let value: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(value["type"], format!("deployment.{kind}"));
        assert_eq!(value["isLive"], is_live, "{deployment}");
        assert!(written.contains(deployment));
    }
}

/// Operators' monitoring depends on the exact JSON of the log line.
#[test]
fn abandoned_webhook_is_logged_with_its_last_status() {
    let expected = r#"{"webhook":"msg_1","givenUp":true,"status":410}"#;
    assert_eq!(format_given_up("msg_1", Some(410)), expected);
    let expected = r#"{"webhook":"msg_1","givenUp":true,"status":null}"#;
    assert_eq!(format_given_up("msg_1", None), expected);
}
