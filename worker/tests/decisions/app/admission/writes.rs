use std::collections::BTreeSet;

use quillgate::{Operation, RateLimitPolicy};
use quillgate_worker::app::config::Config;
use quillgate_worker::budget::reservation::BudgetRequest;
use quillgate_worker::http::content::MAX_BODY;
use quillgate_worker::http::response::HeaderFields;
use quillgate_worker::jobs::idempotency::Retry;
use quillgate_worker::jobs::write::Write;
use serde_json::{Value, json};

use super::{
    BODY, CREATE, EVENTS, JOB, JOBS, MESSAGE, VIEWS, accept, admit, expect_refusal, get, post,
    read_write, write,
};
use crate::fixtures::{
    bearer, bearer_of, claims_with, configuration, configure, field_and_rule, summarize,
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
        let write = accept(config, url, &HeaderFields::default(), body.as_bytes()).unwrap();
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
        let two_types = Some("application/json, text/plain");
        for content_type in [None, Some("text/plain"), two_types] {
            let problem = expect_refusal(&post(url, &bearer).content_type(content_type));
            let expected = "415 unsupported-media-type";
            assert_eq!(summarize(&problem), expected, "{content_type:?}");
            let expected = [("accept-post", "application/json".to_owned())];
            assert_eq!(problem.headers, expected, "{content_type:?}");
        }
        let announced = |length: &str| {
            let head = post(url, &bearer).content_length(length);
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
        let head = get(url, &bearer).content_type("text/plain");
        let outcome = admit(&head.content_length("999999999"));
        assert!(outcome.result.is_ok(), "{url}");
    }
}

#[test]
fn write_with_a_query_is_rejected() {
    let bearer = bearer();
    for url in [CREATE, MESSAGE] {
        for query in ["prompt=x", "id=j2", "projectId=secret", "x"] {
            let url = format!("{url}?{query}");
            let problem = expect_refusal(&post(&url, &bearer));
            let [_, rule] = field_and_rule(&problem);
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
    let both = json!({ "create-job": 3, "send-message": 0 });
    for (quota, create, message) in [
        (None, None, None),
        (Some(json!(5)), Some(5), Some(5)),
        (Some(json!({ "create-job": 3 })), Some(3), None),
        (Some(both), Some(3), Some(0)),
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

#[test]
fn new_job_can_name_a_webhook_url() {
    let config = configure(&HOOKS);
    let url = "HTTPS://Hooks.Example.com/Done?t=1";
    let named = write(&config, CREATE, &with_webhook(url)).webhook;
    assert_eq!(named.as_deref(), Some("https://hooks.example.com/Done?t=1"));
    let none = write(&config, CREATE, &HeaderFields::default()).webhook;
    assert_eq!(none, None);
}

#[test]
fn webhook_needs_a_new_job_a_signing_secret_and_an_allowed_host() {
    let (off, set_up) = (configuration(), configure(&HOOKS));
    let without_hosts = configure(&[
        ("WEBHOOK_SECRET", Some(WEBHOOK_SECRET)),
        ("WEBHOOK_URL", Some("https://own.example.com/done")),
    ]);
    let (hook, own) = ("https://hooks.example.com/", "https://own.example.com/done");
    let secret = "https://me:secret-word@hooks.example.com/";
    let wrong = ["", "https://evil.example.com/", secret];
    for (config, target, urls, rule) in [
        (&set_up, CREATE, wrong, "webhook-url"),
        (&off, CREATE, [hook, "", "http://x"], "webhooks-off"),
        (&without_hosts, CREATE, [hook, own, ""], "webhook-hosts"),
        (&off, MESSAGE, [hook; 3], "create-only"),
        (&set_up, MESSAGE, [hook; 3], "create-only"),
    ] {
        for url in urls {
            let problem = accept(config, target, &with_webhook(url), BODY).unwrap_err();
            assert_eq!(field_and_rule(&problem), ["Webhook-Url", rule], "{url}");
            assert!(!problem.to_json("an-id").contains("secret-word"));
        }
    }
    let used = write(&without_hosts, CREATE, &HeaderFields::default()).webhook;
    assert_eq!(used.as_deref(), Some(own));
}

#[test]
fn job_without_a_webhook_uses_the_operators_webhook() {
    let config = configure(&[
        ("WEBHOOK_SECRET", Some(WEBHOOK_SECRET)),
        ("WEBHOOK_HOSTS", Some("hooks.example.com")),
        ("WEBHOOK_URL", Some("https://Own.Example.com/done")),
    ]);
    let none = HeaderFields::default();
    let webhook = |url, headers: &HeaderFields| write(&config, url, headers).webhook;
    let expected = Some("https://own.example.com/done");
    assert_eq!(webhook(CREATE, &none).as_deref(), expected);
    assert_eq!(webhook(MESSAGE, &none), None, "its job has it already");
    let other = "https://hooks.example.com/";
    let expected = Some(other);
    assert_eq!(webhook(CREATE, &with_webhook(other)).as_deref(), expected);
}

#[test]
fn fingerprint_ignores_the_spelling_of_a_request() {
    let config = configure(&HOOKS);
    let print = |url, headers: &HeaderFields, body: &str| {
        let write = accept(&config, url, headers, body.as_bytes());
        write.unwrap().fingerprint
    };
    let none = HeaderFields::default();
    let same = print(CREATE, &none, r#"{"prompt":"x y"}"#);
    // The order of properties needs no test, because the body has a single property.
    for body in [
        "{\"prompt\":\"x y\"}",
        " {\r\n\t\"prompt\" : \"x y\" } \n",
        r#"{"\u0070rompt":"\u0078\u0020y"}"#,
    ] {
        assert_eq!(print(CREATE, &none, body), same, "{body}");
    }
    let encoded = CREATE.replace("demo-docs", "%64emo%2Ddocs");
    let with_query = format!("{CREATE}?&");
    let body = r#"{"prompt":"x y"}"#;
    assert_eq!(print(&encoded, &none, body), same);
    assert_eq!(print(&with_query, &none, body), same);

    let other_project = CREATE.replace("demo-docs", "other%20docs");
    let other_job = MESSAGE.replace("j1", "j2");
    let first_hook = with_webhook("https://hooks.example.com/1");
    let second_hook = with_webhook("https://hooks.example.com/2");
    let prints = [
        same,
        print(CREATE, &none, r#"{"prompt":"x  y"}"#),
        print(CREATE, &none, r#"{"prompt":"x y "}"#),
        print(CREATE, &none, r#"{"prompt":"X y"}"#),
        print(CREATE, &none, r#"{"prompt":"x y\u0000"}"#),
        print(&other_project, &none, body),
        print(MESSAGE, &none, body),
        print(&other_job, &none, body),
        print(CREATE, &first_hook, body),
        print(CREATE, &second_hook, body),
    ];
    assert_eq!(BTreeSet::from(prints.clone()).len(), prints.len());
}

#[test]
fn fingerprint_ignores_the_caller() {
    // The fingerprint can omit the caller, because idempotency records are stored per caller.
    let print = |claims: &Value| {
        let bearer = bearer_of(claims);
        let head = post(CREATE, &bearer);
        let (facts, headers) = (admit(&head).facts, with_key("8e03"));
        read_write(&configuration(), facts, &head, &headers, BODY).unwrap()
    };
    let alice = print(&claims_with("sub", Some(json!("alice"))));
    let bob = print(&claims_with("sub", Some(json!("bob"))));
    assert_eq!(alice.fingerprint, bob.fingerprint);
    assert_eq!(bob.budget.caller, "quillgate bob");
    assert_ne!(alice.budget.caller, bob.budget.caller);
}
