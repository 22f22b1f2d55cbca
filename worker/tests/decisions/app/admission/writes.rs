//! Writes.

mod conditions;

use quillgate::{Operation, RateLimitPolicy};
use quillgate_worker::app::config::Config;
use quillgate_worker::budget::reservation::BudgetRequest;
use quillgate_worker::http::content::MAX_BODY;
use quillgate_worker::http::response::HeaderFields;
use quillgate_worker::jobs::idempotency::Retry;
use quillgate_worker::jobs::write::Write;
use serde_json::json;

use super::{
    BODY, CREATE, EVENTS, JOB, JOBS, MESSAGE, VIEWS, accept, admit, expect_refusal, get, post,
    read_write,
};
use crate::fixtures::{
    RequestHead, bearer, bearer_of, claims_with, configuration, configure, field_and_rule,
    status_and_kind,
};

/// A 32-byte secret that signs webhooks.
const WEBHOOK_SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// Variables that allow a public and a private webhook host.
const HOOKS: [(&str, Option<&str>); 2] = [
    ("WEBHOOK_SECRET", Some(WEBHOOK_SECRET)),
    ("WEBHOOK_HOSTS", Some("hooks.example.com,10.0.0.1")),
];

fn with_key(key: &str) -> HeaderFields {
    HeaderFields::default().with("idempotency-key", key.to_owned())
}

fn with_webhook(url: &str) -> HeaderFields {
    HeaderFields::default().with("webhook-url", url.to_owned())
}

#[test]
fn full_prompt_is_passed_on_only_when_it_is_stored() {
    let body = json!({ "prompt": "first\nsecond" }).to_string();
    let accepted = |config: &Config, url| {
        let headers = HeaderFields::default();
        let write = accept(config, url, &headers, body.as_bytes());
        let write = write.map_err(|problem| problem.detail).unwrap();
        (write.prompt_summary, write.prompt)
    };
    let first_line = configure(&[("KEEP_PROMPTS", Some("first-line"))]);
    for url in [CREATE, MESSAGE] {
        let first = ("first".to_owned(), None);
        assert_eq!(accepted(&first_line, url), first);
        let both = ("first".to_owned(), Some("first\nsecond".to_owned()));
        assert_eq!(accepted(&configuration(), url), both);
    }
}

#[test]
fn body_can_be_rejected_by_its_header_fields() {
    let bearer = bearer();
    for url in [CREATE, MESSAGE] {
        for content_type in [
            None,
            Some("text/plain"),
            Some("application/json, text/plain"),
        ] {
            let problem = expect_refusal(&RequestHead {
                content_type,
                ..post(url, &bearer)
            });
            assert_eq!(
                status_and_kind(&problem),
                (415, "unsupported-media-type"),
                "{content_type:?}"
            );
            assert_eq!(
                problem.headers,
                [("accept-post", "application/json".to_owned())],
                "{content_type:?}"
            );
        }
        let announced = |length: &str| {
            let head = RequestHead {
                content_length: Some(length),
                ..post(url, &bearer)
            };
            admit(&head).result.map_err(|problem| problem.status).err()
        };
        assert_eq!(announced(&MAX_BODY.to_string()), None);
        assert_eq!(announced(&(MAX_BODY + 1).to_string()), Some(413));
        assert_eq!(announced(&u64::MAX.to_string()), Some(413));
        // A malformed `Content-Length` is ignored, because the gateway counts the bytes as they
        // arrive.
        assert_eq!(announced("many"), None);
    }
    // Reads have no body to validate, so their `Content-Type` and `Content-Length` are ignored.
    for url in [JOB, JOBS, EVENTS, VIEWS] {
        let head = RequestHead {
            content_type: Some("text/plain"),
            content_length: Some("999999999"),
            ..get(url, &bearer)
        };
        assert!(admit(&head).result.is_ok(), "{url}");
    }
}

#[test]
fn write_with_a_query_is_rejected() {
    let bearer = bearer();
    for url in [CREATE, MESSAGE] {
        for query in ["prompt=x", "id=j2", "projectId=secret", "x"] {
            let url = format!("{url}?{query}");
            let problem = expect_refusal(&post(&url, &bearer));
            let (_, rule) = field_and_rule(&problem);
            assert_eq!(rule, "unknown", "{url}");
        }
    }
}

#[test]
fn write_is_rebuilt_with_caller_and_metadata() {
    let config = configure(&[
        ("CREATE_LIMIT_PER_HOUR", Some("7")),
        ("MESSAGE_LIMIT_PER_HOUR", Some("9")),
    ]);
    let body = r#" { "prompt" : "\n\n  Fix the typos \nnow" } "#;
    let created = accept(&config, CREATE, &HeaderFields::default(), body.as_bytes()).unwrap();
    let expected = Write {
        operation: Operation::CreateAgentJob,
        budget: BudgetRequest {
            policy: RateLimitPolicy::CreateJob,
            caller: "quillgate alice".to_owned(),
            quota: None,
            ceilings: Vec::new(),
        },
        subject: "alice".to_owned(),
        job: None,
        key: None,
        fingerprint: created.fingerprint.clone(),
        retry: Retry::Normal,
        target: "/v2/agent/demo-docs/job".to_owned(),
        body: Some(r#"{"prompt":"\n\n  Fix the typos \nnow"}"#.to_owned()),
        prompt_summary: "Fix the typos".to_owned(),
        prompt: Some("\n\n  Fix the typos \nnow".to_owned()),
        branch: None,
        webhook: None,
    };
    assert_eq!(created, expected);
    assert_eq!(config.limits.limit(created.budget.policy), 7);

    let url = "https://gate.example/v2/agent/other%20docs/job/j%201/message";
    let sent = accept(&config, url, &HeaderFields::default(), BODY).unwrap();
    let expected = Write {
        operation: Operation::SendMessage,
        budget: BudgetRequest {
            policy: RateLimitPolicy::SendMessage,
            ..expected.budget.clone()
        },
        job: Some("j 1".to_owned()),
        fingerprint: sent.fingerprint.clone(),
        target: "/v2/agent/other%20docs/job/j%201/message".to_owned(),
        body: Some(r#"{"prompt":"x"}"#.to_owned()),
        prompt_summary: "x".to_owned(),
        prompt: Some("x".to_owned()),
        ..expected
    };
    assert_eq!(sent, expected);
    assert_eq!(config.limits.limit(sent.budget.policy), 9);
}

#[test]
fn write_carries_the_quota_of_its_token() {
    for (quota, create, message) in [
        (None, None, None),
        (Some(json!(5)), Some(5), Some(5)),
        (Some(json!({ "create-job": 3 })), Some(3), None),
        (
            Some(json!({ "create-job": 3, "send-message": 0 })),
            Some(3),
            Some(0),
        ),
        (Some(json!({ "analytics": 1 })), None, None),
    ] {
        let bearer = bearer_of(&claims_with("quota", quota));
        let quota = |url| {
            let head = post(url, &bearer);
            let headers = HeaderFields::default();
            let read = read_write(&configuration(), admit(&head).facts, &head, &headers, BODY);
            read.unwrap().budget.quota
        };
        assert_eq!((quota(CREATE), quota(MESSAGE)), (create, message));
    }
}
