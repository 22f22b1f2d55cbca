//! Webhooks and fingerprints of writes.

use quillgate_worker::http::response::HeaderFields;
use serde_json::{Value, json};

use super::super::{BODY, CREATE, MESSAGE, accept, admit, pair, post, read_write, write};
use super::{HOOKS, WEBHOOK_SECRET, with_key, with_webhook};
use crate::fixtures::{bearer_of, claims_with, configuration, configure, field_and_rule};

#[test]
fn new_job_can_name_a_webhook_url() {
    let config = configure(&HOOKS);
    let url = "HTTPS://Hooks.Example.com/Done?t=1";
    let named = write(&config, CREATE, &with_webhook(url)).webhook;
    assert_eq!(named.as_deref(), Some("https://hooks.example.com/Done?t=1"));
    let none = write(&config, CREATE, &HeaderFields::default()).webhook;
    assert_eq!(none, None);
    for url in [
        "",
        "https://evil.example.com/",
        "https://me:secret-word@hooks.example.com/",
    ] {
        let problem = accept(&config, CREATE, &with_webhook(url), BODY).unwrap_err();
        let expected = pair("Webhook-Url", "webhook-url");
        assert_eq!(field_and_rule(&problem), expected, "{url}");
        assert!(!problem.to_json("an-id").contains("secret-word"));
    }
}

#[test]
fn webhook_is_rejected_without_a_signing_secret() {
    for url in ["https://hooks.example.com/", "", "http://x"] {
        let problem = accept(&configuration(), CREATE, &with_webhook(url), BODY).unwrap_err();
        assert_eq!(problem.status, 400);
        assert_eq!(
            field_and_rule(&problem),
            pair("Webhook-Url", "webhooks-off")
        );
    }
}

#[test]
fn without_allowed_hosts_only_the_operators_webhook_is_used() {
    let config = configure(&[
        ("WEBHOOK_SECRET", Some(WEBHOOK_SECRET)),
        ("WEBHOOK_URL", Some("https://own.example.com/done")),
    ]);
    for url in [
        "https://hooks.example.com/",
        "https://own.example.com/done",
        "",
    ] {
        let problem = accept(&config, CREATE, &with_webhook(url), BODY).unwrap_err();
        assert_eq!(problem.status, 400, "{url:?}");
        assert_eq!(
            field_and_rule(&problem),
            pair("Webhook-Url", "webhook-hosts"),
            "{url:?}"
        );
    }
    let own = write(&config, CREATE, &HeaderFields::default()).webhook;
    assert_eq!(own.as_deref(), Some("https://own.example.com/done"));
}

#[test]
fn follow_up_with_a_webhook_is_rejected() {
    let set_up = configure(&HOOKS);
    for config in [configuration(), set_up] {
        let problem = accept(
            &config,
            MESSAGE,
            &with_webhook("https://hooks.example.com/"),
            BODY,
        )
        .unwrap_err();
        assert_eq!(problem.status, 400);
        assert_eq!(field_and_rule(&problem), pair("Webhook-Url", "create-only"));
    }
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
    assert_eq!(
        webhook(CREATE, &none).as_deref(),
        Some("https://own.example.com/done")
    );
    assert_eq!(webhook(MESSAGE, &none), None, "its job has it already");
    let other = "https://hooks.example.com/";
    assert_eq!(
        webhook(CREATE, &with_webhook(other)).as_deref(),
        Some(other)
    );
}

#[test]
fn fingerprint_ignores_the_spelling_of_a_request() {
    let config = configure(&HOOKS);
    let print = |url, headers: &HeaderFields, body: &str| {
        let write = accept(&config, url, headers, body.as_bytes());
        write.map_err(|problem| problem.detail).unwrap().fingerprint
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
    let mut prints = vec![
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
    let count = prints.len();
    prints.sort_unstable();
    prints.dedup();
    assert_eq!(prints.len(), count);
}

#[test]
fn fingerprint_ignores_the_caller() {
    // The fingerprint can omit the caller, because idempotency records are stored per caller.
    let print = |claims: &Value| {
        let bearer = bearer_of(claims);
        let head = post(CREATE, &bearer);
        let read = read_write(
            &configuration(),
            admit(&head).facts,
            &head,
            &with_key("8e03"),
            BODY,
        );
        read.unwrap()
    };
    let alice = print(&claims_with("sub", Some(json!("alice"))));
    let bob = print(&claims_with("sub", Some(json!("bob"))));
    assert_eq!(alice.fingerprint, bob.fingerprint);
    assert_eq!(bob.budget.caller, "quillgate bob");
    assert_ne!(alice.budget.caller, bob.budget.caller);
}
