//! Turnstile.

use quillgate::RateLimitPolicy;
use quillgate_worker::auth::turnstile::{
    Turnstile, TurnstileProof, build_verification, failed_problem, is_accepted, unavailable_problem,
};
use quillgate_worker::budget::reservation::BudgetRequest;
use quillgate_worker::jobs::idempotency::Retry;
use quillgate_worker::jobs::write::Write;
use serde_json::{Value, json};

use crate::fixtures::{configure, status_and_kind, to_json, variables};

const SECRET: (&str, Option<&str>) = ("TURNSTILE_SECRET", Some("a-secret-hunter2"));
const SITE_KEY: (&str, Option<&str>) = ("TURNSTILE_SITE_KEY", Some("a-site-key"));

fn turnstile() -> Turnstile {
    configure(&[SECRET, SITE_KEY]).turnstile.unwrap()
}

#[test]
fn turnstile_is_off_without_a_secret() {
    assert_eq!(configure(&[]).turnstile, None);
    assert_eq!(configure(&[SITE_KEY]).turnstile, None);
    assert_eq!(
        configure(&[("TURNSTILE_SECRET", Some(" ")), SITE_KEY]).turnstile,
        None
    );
}

#[test]
fn turnstile_variables_are_read() {
    let read = turnstile();
    assert_eq!(
        (&*read.secret, &*read.site_key),
        ("a-secret-hunter2", "a-site-key")
    );
    let siteverify = "https://challenges.cloudflare.com/turnstile/v0/siteverify";
    assert_eq!(read.verify_url, siteverify);
    let url = ("TURNSTILE_VERIFY_URL", Some("http://127.0.0.1:9000/verify"));
    let read = configure(&[SECRET, SITE_KEY, url]).turnstile.unwrap();
    assert_eq!(read.verify_url, "http://127.0.0.1:9000/verify");
}

#[test]
fn turnstile_secret_requires_a_site_key_and_a_secure_url() {
    for (changes, variable) in [
        (vec![SECRET], "TURNSTILE_SITE_KEY"),
        (
            vec![
                SECRET,
                SITE_KEY,
                ("TURNSTILE_VERIFY_URL", Some("http://a.example")),
            ],
            "TURNSTILE_VERIFY_URL",
        ),
    ] {
        let read = quillgate_worker::app::config::Config::read(variables(&changes));
        let error = read.err().unwrap();
        assert_eq!(error.variable, variable);
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}

#[test]
fn turnstile_response_must_have_1_to_2048_bytes() {
    let longest = "r".repeat(2048);
    for response in ["r", &longest] {
        let proof = turnstile()
            .require(Some(response), "https://docs.example")
            .unwrap();
        assert_eq!(proof.response, response);
    }
    for response in [None, Some(""), Some(&*format!("{longest}r"))] {
        let problem = turnstile()
            .require(response, "https://docs.example")
            .unwrap_err();
        assert_eq!(status_and_kind(&problem), (403, "turnstile-required"));
        assert_eq!(to_json(&problem)["siteKey"], "a-site-key");
        assert!(!problem.to_json("an-id").contains("hunter2"));
    }
}

#[test]
fn only_a_success_for_the_same_host_is_accepted() {
    let accepted = |answer: &Value| is_accepted(&answer.to_string(), "docs.example");
    assert!(accepted(
        &json!({ "success": true, "hostname": "docs.example", "action": "x" })
    ));
    for answer in [
        json!({ "success": false, "hostname": "docs.example" }),
        json!({ "success": "true", "hostname": "docs.example" }),
        json!({ "success": 1, "hostname": "docs.example" }),
        json!({ "hostname": "docs.example" }),
        json!({ "success": true }),
        json!({ "success": true, "hostname": "evil.example" }),
        json!({ "success": true, "hostname": "docs.example.evil" }),
        json!({ "success": true, "hostname": ["docs.example"] }),
        json!([true, "docs.example"]),
        json!(true),
    ] {
        assert!(!accepted(&answer), "{answer}");
    }
    for text in [
        "",
        "ok",
        r#"{"success":true,"hostname":"docs.example""#,
        r#"{"success":false,"success":true,"hostname":"docs.example"}"#,
    ] {
        assert!(!is_accepted(text, "docs.example"), "{text}");
    }
}

#[test]
fn failed_check_is_forbidden_and_unavailable_check_can_be_retried() {
    let problem = failed_problem();
    assert_eq!(status_and_kind(&problem), (403, "turnstile-failed"));
    assert_eq!(problem.headers, []);
    let problem = unavailable_problem();
    assert_eq!(status_and_kind(&problem), (503, "turnstile-unavailable"));
    assert_eq!(problem.headers, [("retry-after", "5".to_owned())]);
}

fn proof() -> TurnstileProof {
    TurnstileProof {
        response: "a \"response\"".to_owned(),
        hostname: "docs.example".to_owned(),
    }
}

const RANDOM: &str = "0b3c1f0e-6f3a-4c39-8a53-3f4be4e7a001";

fn choose(write: &Write, random_uuid: &str) -> String {
    let key = write.key_fingerprint();
    let body = build_verification("a-secret", &proof(), key.as_deref(), random_uuid);
    let body: Value = serde_json::from_str(&body).unwrap();
    body["idempotency_key"].as_str().unwrap().to_owned()
}

fn write(caller: &str, key: Option<&str>, fingerprint: &str) -> Write {
    Write {
        budget: BudgetRequest {
            policy: RateLimitPolicy::CreateJob,
            caller: caller.to_owned(),
            quota: None,
            ceilings: Vec::new(),
        },
        subject: "alice".to_owned(),
        job: None,
        key: key.map(str::to_owned),
        fingerprint: fingerprint.to_owned(),
        retry: Retry::Normal,
        target: String::new(),
        body: String::new(),
        prompt_summary: String::new(),
        prompt: None,
        webhook: None,
    }
}

fn idempotency_key(fingerprint: &str) -> String {
    choose(&write("alice", Some("a-key"), fingerprint), RANDOM)
}

/// Checks that a string is a version 8 UUID (RFC 9562, sections 4 and 5.8).
#[track_caller]
fn assert_uuid(uuid: &str) {
    let groups: Vec<_> = uuid.split('-').collect();
    let lengths: Vec<_> = groups.iter().map(|group| group.len()).collect();
    assert_eq!(lengths, [8, 4, 4, 4, 12], "{uuid}");
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    assert!(groups.concat().bytes().all(is_hex), "{uuid}");
    assert!(groups[2].starts_with('8'), "the version of {uuid}");
    assert!(
        groups[3].starts_with(['8', '9', 'a', 'b']),
        "the variant of {uuid}"
    );
}

#[test]
fn verification_sends_the_secret_the_response_and_a_uuid() {
    let key = idempotency_key("a-fingerprint");
    let written = write("alice", Some("a-key"), "a-fingerprint").key_fingerprint();
    let body = build_verification("a-secret", &proof(), written.as_deref(), RANDOM);
    let body: Value = serde_json::from_str(&body).unwrap();
    let expected = json!({
        "secret": "a-secret",
        "response": "a \"response\"",
        "idempotency_key": key,
    });
    assert_eq!(body, expected);
    assert_uuid(&key);
    assert_eq!(
        idempotency_key("a-fingerprint"),
        key,
        "the same request is the same check"
    );
}

#[test]
fn turnstile_response_is_bound_to_caller_and_idempotency_key() {
    let choose = |caller, key, print| choose(&write(caller, key, print), RANDOM);
    let own = choose("alice", Some("k1"), "f1");
    for other in [
        choose("bob", Some("k1"), "f1"),
        choose("alice", Some("k2"), "f1"),
        choose("alice", Some("k1"), "f2"),
        choose("alicek1", Some(""), "f1"),
        choose("alice", Some("k1f1"), ""),
    ] {
        assert_ne!(other, own);
    }
}
