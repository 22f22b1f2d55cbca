use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quillgate::Millis;
use quillgate_worker::jobs::resource::Resource;
use quillgate_worker::jobs::webhook::{
    JobEnd, Next, RETRY_AFTER, derive_keys, format_event, format_given_up, plan_next, sign,
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
    let statuses = [100, 301, 307, 400, 404, 500, 599].map(Some);
    for status in statuses.into_iter().chain([None]) {
        for (attempt, wait) in (1..).zip(&RETRY_AFTER[1..]) {
            let found = plan_next(attempt, status, None, 0.0);
            assert_eq!(found, Next::Again(*wait), "{status:?}");
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
        let found = plan_next(1, status, asked, 0.0);
        assert_eq!(found, Next::Again(expected), "{status:?} {asked:?}");
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
        let expected = Next::Again(Millis(expected));
        assert_eq!(plan_next(2, None, None, jitter), expected, "{jitter}");
    }
}

#[test]
fn job_ends_have_the_published_names() {
    for (end, name) in [
        (JobEnd::Completed, "completed"),
        (JobEnd::Failed, "failed"),
        (JobEnd::Archived, "archived"),
        (JobEnd::Success, "success"),
        (JobEnd::Failure, "failure"),
        (JobEnd::Unfinished, "unfinished"),
        (JobEnd::NotFound, "not_found"),
    ] {
        assert_eq!(json!(end), name);
    }
}

#[test]
fn payload_has_project_url_and_unchanged_job() {
    let job = r#"{"id":"j1","status":"completed","prLink":null,"x":"\u2028"}"#;
    let (end, time) = ("completed", "2024-02-29T12:34:56.789Z");
    let receiver = ("a \"project\"", "https://hooks.example/\"x\"");
    let written = format_event(Resource::Job, end, time, receiver, job);
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
    let succeeded = r#"{"status":"success"}"#;
    for (end, deployment, kind, is_live) in [
        ("success", succeeded, "ended", json!(true)),
        ("failure", live, "ended", json!(true)),
        ("failure", failed, "ended", json!(false)),
        ("unfinished", running, "unfinished", Value::Null),
        ("not_found", running, "not_found", Value::Null),
    ] {
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

#[test]
fn signature_matches_the_published_example() {
    let secret = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    let (id, body) = ("msg_p5jXN8AQM9LWM0D4loKWxJek", r#"{"test": 2432232314}"#);
    let signature = sign(&[secret.unwrap()], id, 1_614_265_330, body);
    assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

#[test]
fn every_secret_signs_during_rotation() {
    let (new, old) = (vec![1; 24], vec![2; 64]);
    let one = |secret: &Vec<u8>| sign(std::slice::from_ref(secret), "msg_1", 7, "{}");
    let both = sign(&[new.clone(), old.clone()], "msg_1", 7, "{}");
    assert_eq!(both, format!("{} {}", one(&new), one(&old)));
    let none: [Vec<u8>; 0] = [];
    assert_eq!(sign(&none, "msg_1", 7, "{}"), "");
}

#[test]
fn signature_covers_id_time_and_body() {
    let signature_of = |id, time, body| sign(&[vec![1; 32]], id, time, body);
    let signature = signature_of("msg_1", 7, "{}");
    assert_eq!(signature, signature_of("msg_1", 7, "{}"));
    for other in [
        signature_of("msg_2", 7, "{}"),
        signature_of("msg_1", 8, "{}"),
        signature_of("msg_1", 7, "{ }"),
    ] {
        assert_ne!(signature, other);
    }
}

#[test]
fn each_receiver_has_its_own_keys() {
    let secrets = [vec![1; 24], vec![2; 64]];
    let keys = |project, url| derive_keys(&secrets, project, url);
    let own = keys("acme", "https://hooks.example/a");
    assert_eq!(own, keys("acme", "https://hooks.example/a"));
    assert_eq!(own.len(), secrets.len());
    for (key, secret) in own.iter().zip(&secrets) {
        assert_ne!(&key[..], &secret[..]);
    }
    let found = derive_keys(&secrets[1..], "acme", "https://hooks.example/a");
    assert_eq!(found, own[1..]);
    for (project, url) in [
        ("acme", "https://hooks.example/b"),
        ("acme", "https://hooks.example/A"),
        ("acme", "https://other.example/a"),
        ("acme2", "https://hooks.example/a"),
        ("https://hooks.example/a", "acme"),
        ("a\nacme", "https://hooks.example/"),
        ("acme", "https://hooks.example/a\nacme"),
    ] {
        for (other, key) in keys(project, url).iter().zip(&own) {
            assert_ne!(other, key, "{project} {url}");
        }
    }
    assert!(derive_keys(&[], "acme", "https://hooks.example/a").is_empty());
}

/// The expected key is the same as in `tests/harness/webhook_key.test.mjs`.
#[test]
fn key_matches_the_output_of_the_command() {
    let url = "https://hooks.example/quillgate?a=b";
    let keys = derive_keys(&[vec![7; 32]], "demo-docs", url);
    let expected = "i8mj8aaEeiFIr10Ai9Q0MW3SSFpJRxPr+W9YCcfZZQc=";
    assert_eq!(STANDARD.encode(keys[0]), expected);
}
