use quillgate::credential::AdminKey;
use quillgate::{Method, Millis, Operation};
use quillgate_worker::app::config::Config;
use quillgate_worker::upstream::attempts::{Attempts, NextAttempt};
use quillgate_worker::upstream::failure::TransportError;
use quillgate_worker::upstream::refusal::Refusal;
use quillgate_worker::upstream::request::{USER_AGENT, UpstreamRequest};

use super::{JSON, head, ids, with_field};
use crate::fixtures::{ADMIN_KEY, NOW, at, configuration, configure};

#[test]
fn request_carries_the_key_and_its_trace() {
    let headers = |body, tracestate| {
        let request = UpstreamRequest {
            operation: Operation::CreateAgentJob,
            ids: &ids(tracestate),
            target: "/v2/agent/demo-docs/job",
            body,
        };
        request.headers(&AdminKey::new(ADMIN_KEY).unwrap())
    };
    let authorization = format!("Bearer {ADMIN_KEY}");
    let sent = headers(None, None);
    let expected = [
        ("accept", "application/json"),
        ("authorization", authorization.as_str()),
        ("traceparent", "00-1-2-00"),
        ("user-agent", "quillgate/0.1.0"),
    ];
    assert_eq!(sent.iter().collect::<Vec<_>>(), expected);
    assert_eq!(USER_AGENT, "quillgate/0.1.0");
    let sent = headers(Some("{}"), Some("vendor=1"));
    assert_eq!(sent.get("content-type"), Some("application/json"));
    assert_eq!(sent.get("tracestate"), Some("vendor=1"));
    assert_eq!(sent.iter().count(), 6);
}

const UNAVAILABLE: [u16; 3] = [502, 503, 504];

/// Returns a configuration with comma-separated write keys in `admin` and read keys in `read`.
fn with_keys(admin: &'static str, read: Option<&'static str>) -> Config {
    configure(&[("ADMIN_API_KEY", Some(admin)), ("ADMIN_READ_KEY", read)])
}

fn with_four_keys() -> Config {
    let read = Some("mint_new_read,mint_old_read");
    with_keys("mint_new_write,mint_old_write", read)
}

fn attempts(config: &Config, method: Method) -> Attempts<'_> {
    Attempts::new(&config.upstream, method, at(30))
}

/// Returns the next attempt after a response with `status`.
fn after_status(attempts: &mut Attempts<'_>, status: u16) -> NextAttempt {
    let refusal = (status == 401).then_some(Refusal::Key);
    attempts.plan_next(Ok(&head(status, JSON)), refusal, at(1))
}

fn key<'a>(attempts: &Attempts<'a>) -> &'a str {
    attempts.key().expose()
}

#[test]
fn request_uses_the_newest_key_for_its_method() {
    let one = with_keys("mint_write", None);
    let all = with_four_keys();
    for (config, method, expected) in [
        (&one, Method::Get, "mint_write"),
        (&one, Method::Post, "mint_write"),
        (&all, Method::Get, "mint_new_read"),
        (&all, Method::Post, "mint_new_write"),
    ] {
        assert_eq!(key(&attempts(config, method)), expected);
    }
}

#[test]
fn request_is_repeated_with_the_older_key_after_401() {
    let all = with_four_keys();
    let (get, post) = (Method::Get, Method::Post);
    for (method, older) in [(get, "mint_old_read"), (post, "mint_old_write")] {
        let mut attempts = attempts(&all, method);
        assert_eq!(attempts.describe_refused_key(), None);
        assert_eq!(after_status(&mut attempts, 401), NextAttempt::OtherKey);
        assert_eq!(key(&attempts), older);
        let note = attempts.describe_refused_key().unwrap();
        assert!(note.contains("the first of the gateway's keys"), "{note}");
        assert_eq!(after_status(&mut attempts, 401), NextAttempt::Stop);
        assert_eq!(key(&attempts), older);
    }
    let one = with_keys("mint_write", None);
    for method in [get, post] {
        let mut attempts = attempts(&one, method);
        assert_eq!(after_status(&mut attempts, 401), NextAttempt::Stop);
    }
}

#[test]
fn only_a_401_for_the_key_is_repeated_with_the_older_key() {
    let config = with_keys("mint_new,mint_old", None);
    for (status, refusal) in [
        (401, Some(Refusal::Plan)),
        (401, Some(Refusal::Project)),
        (401, Some(Refusal::Network)),
        (403, Some(Refusal::Key)),
        (403, Some(Refusal::Network)),
        (404, None),
    ] {
        let mut attempts = attempts(&config, Method::Post);
        let next = attempts.plan_next(Ok(&head(status, JSON)), refusal, at(1));
        assert_eq!(next, NextAttempt::Stop, "{status} {refusal:?}");
        assert_eq!(attempts.describe_refused_key(), None);
    }
    // The older key can be refused for another reason than the newest key.
    let mut attempts = attempts(&config, Method::Post);
    assert_eq!(after_status(&mut attempts, 401), NextAttempt::OtherKey);
    let next = attempts.plan_next(Ok(&head(401, JSON)), Some(Refusal::Plan), at(1));
    assert_eq!(next, NextAttempt::Stop);
}

#[test]
fn get_is_repeated_once_after_an_unavailable_upstream() {
    let config = configuration();
    for status in UNAVAILABLE {
        let mut attempts = attempts(&config, Method::Get);
        assert_eq!(after_status(&mut attempts, status), NextAttempt::Repeat);
        for again in [status, 502, 401, 200] {
            assert_eq!(after_status(&mut attempts, again), NextAttempt::Stop);
        }
    }
    let mut attempts = attempts(&config, Method::Get);
    let broken = Err(TransportError::Broken);
    assert_eq!(attempts.plan_next(broken, None, at(1)), NextAttempt::Repeat);
    assert_eq!(attempts.plan_next(broken, None, at(1)), NextAttempt::Stop);
}

#[test]
fn repetition_starts_with_the_newest_key() {
    let config = with_keys("mint_new,mint_old", None);
    let mut attempts = attempts(&config, Method::Get);
    assert_eq!(after_status(&mut attempts, 401), NextAttempt::OtherKey);
    assert_eq!(after_status(&mut attempts, 502), NextAttempt::Repeat);
    assert_eq!(key(&attempts), "mint_new");
    assert_eq!(after_status(&mut attempts, 401), NextAttempt::OtherKey);
    assert_eq!(key(&attempts), "mint_old");
    assert_eq!(after_status(&mut attempts, 502), NextAttempt::Stop);
}

#[test]
fn post_is_never_repeated() {
    let config = with_keys("mint_new,mint_old", None);
    for status in [200, 400, 404, 429, 500, 502, 503, 504] {
        let mut attempts = attempts(&config, Method::Post);
        assert_eq!(after_status(&mut attempts, status), NextAttempt::Stop);
        assert_eq!(key(&attempts), "mint_new");
    }
    for error in [TransportError::Broken, TransportError::TimedOut] {
        let mut attempts = attempts(&config, Method::Post);
        let next = attempts.plan_next(Err(error), None, at(1));
        assert_eq!(next, NextAttempt::Stop);
    }
    // After a 401, the other key gets one attempt. A 502 to that attempt is final.
    let mut attempts = attempts(&config, Method::Post);
    assert_eq!(after_status(&mut attempts, 401), NextAttempt::OtherKey);
    assert_eq!(after_status(&mut attempts, 502), NextAttempt::Stop);
}

#[test]
fn any_other_response_is_final() {
    let config = with_keys("mint_new,mint_old", None);
    for status in 0..=999 {
        if status == 401 || UNAVAILABLE.contains(&status) {
            continue;
        }
        let mut attempts = attempts(&config, Method::Get);
        let expected = NextAttempt::Stop;
        assert_eq!(after_status(&mut attempts, status), expected, "{status}");
    }
    let mut attempts = attempts(&config, Method::Get);
    let timed_out = Err(TransportError::TimedOut);
    let expected = NextAttempt::Stop;
    assert_eq!(attempts.plan_next(timed_out, None, at(1)), expected);
}

#[test]
fn request_is_not_repeated_when_the_upstream_sends_retry_after() {
    let config = configuration();
    for status in UNAVAILABLE {
        for wait in ["0", "7", "soon", ""] {
            let head = with_field(head(status, JSON), "retry-after", Some(wait));
            let mut attempts = attempts(&config, Method::Get);
            let expected = NextAttempt::Stop;
            assert_eq!(attempts.plan_next(Ok(&head), None, at(1)), expected);
        }
    }
}

#[test]
fn request_is_not_repeated_after_its_deadline() {
    let config = configuration();
    for (now, expected) in [
        (NOW, NextAttempt::Repeat),
        (Millis(at(30).0 - 1), NextAttempt::Repeat),
        (at(30), NextAttempt::Stop),
        (at(31), NextAttempt::Stop),
    ] {
        let unavailable = head(503, None);
        for reply in [Ok(&unavailable), Err(TransportError::Broken)] {
            let mut attempts = attempts(&config, Method::Get);
            assert_eq!(attempts.plan_next(reply, None, now), expected, "{now:?}");
        }
    }
    let two = with_keys("mint_new,mint_old", None);
    for method in [Method::Get, Method::Post] {
        let refused = head(401, JSON);
        let mut attempts = attempts(&two, method);
        let found = attempts.plan_next(Ok(&refused), Some(Refusal::Key), at(30));
        assert_eq!(found, NextAttempt::Stop, "nor with the other key");
        assert_eq!(key(&attempts), "mint_new");
    }
    let attempts = attempts(&config, Method::Get);
    for (now, left) in [(NOW, 30_000), (at(29), 1_000), (at(30), 0), (at(31), 0)] {
        assert_eq!(attempts.deadline.since(now), Millis(left));
    }
}
