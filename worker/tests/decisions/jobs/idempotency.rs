use quillgate::Millis;
use quillgate_worker::hash::fingerprint;
use quillgate_worker::http::problem::Problem;
use quillgate_worker::http::response::GatewayResponse;
use quillgate_worker::jobs::idempotency::{
    KeyDecision, KeyRecord, KeyState, LIFE, Retry, decide, read_key,
};
use quillgate_worker::upstream::failure::KeyOutcome;

use crate::fixtures::{NOW, field_and_rule, summarize};

const PRINT: &str = "a-fingerprint";

fn record(state: KeyState, status: Option<u16>) -> KeyRecord {
    KeyRecord {
        fingerprint: PRINT.to_owned(),
        state,
        at: NOW.0 - 1000,
        status,
        headers: None,
        body: None,
    }
}

/// Returns the problem that rejects a repetition of a request, by the record of its key.
#[track_caller]
fn expect_refusal(record: &KeyRecord, fingerprint: &str, retry: Retry) -> Problem {
    match decide(Some(record), fingerprint, retry, NOW) {
        KeyDecision::Refuse(problem) => problem,
        other => panic!("{other:?} is not a refusal"),
    }
}

#[test]
fn bare_and_quoted_keys_are_equal() {
    for (header, key) in [
        ("8e03978e-40d5-43e8-bc93-6894a57f9324", None),
        ("\"8e03978e\"", Some("8e03978e")),
        ("  a\t", Some("a")),
        (" \"a\" ", Some("a")),
        ("a;b=1", None),
        ("a\"b", None),
        ("a\\b", None),
        ("\"a,b\"", Some("a,b")),
        (r#""a\"b""#, Some("a\"b")),
        (r#""a\\b""#, Some("a\\b")),
        (r#""\\\"""#, Some("\\\"")),
        ("!", None),
        ("~", None),
    ] {
        assert_eq!(read_key(header).unwrap(), key.unwrap_or(header), "{header}");
    }
}

#[test]
fn key_has_1_to_255_characters_bare_or_quoted() {
    let quoted = |text: &str| format!("\"{text}\"");
    let escaped = format!("\"{}\"", "\\\"".repeat(255));
    let (longest, too_long) = ("k".repeat(255), "k".repeat(256));
    for header in [&longest, &quoted(&longest), &escaped] {
        assert_eq!(read_key(header).unwrap().len(), 255);
    }
    for header in [&too_long, &quoted(&too_long)] {
        assert!(read_key(header).is_err());
    }
}

#[test]
fn malformed_key_is_rejected() {
    let (parameter, list) = ("\"a\";x=1", "\"a\", \"b\"");
    let (escaped, curly) = ("\"a\\u0041\"", "\u{201c}a\u{201d}");
    for header in [
        "", "\"\"", "\"", "\"a", "\"a\"b", parameter, list, "a,b", "a b", "\"a\\", "\"a\\n\"",
        escaped, "a\u{7f}", "a\r\nb", "ä", curly,
    ] {
        let problem = read_key(header).unwrap_err();
        let expected = ["Idempotency-Key", "idempotency-key"];
        assert_eq!(field_and_rule(&problem), expected, "{header}");
        assert!(problem.detail.contains("must be a quoted String"));
    }
}

#[test]
fn only_the_exact_value_force_forces_a_retry() {
    assert_eq!(Retry::read(None), Ok(Retry::Normal));
    for value in ["force", "Force", "FORCE", " force\t"] {
        assert_eq!(Retry::read(Some(value)), Ok(Retry::Force), "{value}");
    }
    for value in ["", "true", "1", "forced", "force, force", "\"force\"", "?1"] {
        let problem = Retry::read(Some(value)).unwrap_err();
        let expected = ["Idempotency-Retry", "idempotency-retry"];
        assert_eq!(field_and_rule(&problem), expected);
    }
}

#[test]
fn fingerprint_is_sha_256_over_the_parts_and_their_lengths() {
    let empty = "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU";
    assert_eq!(fingerprint(&[]), empty);
    let same = |parts: &[&str], others: &[&str]| fingerprint(parts) == fingerprint(others);
    assert!(same(&["POST", "/a", "{}"], &["POST", "/a", "{}"]));
    for (parts, others) in [
        (&["ab", "c"][..], &["a", "bc"][..]),
        (&["abc"], &["a", "bc"]),
        (&["a"], &["a", ""]),
        (&["", "a"], &["a", ""]),
        (&[""], &[]),
        (&["a", "b"], &["b", "a"]),
        (&["a\0b"], &["a", "b"]),
    ] {
        assert!(!same(parts, others), "{parts:?} {others:?}");
    }
}

#[test]
fn request_with_a_new_key_is_executed() {
    assert_eq!(decide(None, PRINT, Retry::Normal, NOW), KeyDecision::Send);
    assert_eq!(decide(None, PRINT, Retry::Force, NOW), KeyDecision::Send);
}

#[test]
fn repetition_is_replayed_rejected_or_executed_by_state() {
    use KeyState::{Deleted, Done, Running, Unknown};
    use Retry::{Force, Normal};
    type Expected = Result<KeyDecision, &'static str>;
    const DELETED: Expected = Err("record-deleted");
    const IN_USE: Expected = Err("idempotency-key-in-use");
    const OUTCOME_UNKNOWN: Expected = Err("outcome-unknown");
    const REPLAY: Expected = Ok(KeyDecision::Replay);
    const SEND: Expected = Ok(KeyDecision::Send);
    for (state, status, normal, force) in [
        (Running, None, IN_USE, IN_USE),
        (Deleted, None, DELETED, DELETED),
        (Unknown, None, OUTCOME_UNKNOWN, SEND),
        (Done, Some(201), REPLAY, REPLAY),
        (Done, Some(400), REPLAY, REPLAY),
        (Done, Some(499), REPLAY, REPLAY),
        (Done, Some(500), REPLAY, SEND),
        (Done, None, OUTCOME_UNKNOWN, SEND),
    ] {
        for (retry, expected) in [(Normal, normal), (Force, force)] {
            let found = match decide(Some(&record(state, status)), PRINT, retry, NOW) {
                KeyDecision::Refuse(problem) => {
                    assert_eq!(problem.status, 409, "{state:?} {status:?} {retry:?}");
                    Err(problem.kind.as_str())
                }
                other => Ok(other),
            };
            assert_eq!(found, expected, "{state:?} {status:?} {retry:?}");
        }
    }
}

#[test]
fn key_in_use_is_rejected_with_retry_after() {
    let running = record(KeyState::Running, None);
    let problem = expect_refusal(&running, PRINT, Retry::Normal);
    assert_eq!(problem.headers, [("retry-after", "1".to_owned())]);
}

#[test]
fn unknown_outcome_is_reported() {
    let unknown = record(KeyState::Unknown, None);
    let problem = expect_refusal(&unknown, PRINT, Retry::Normal);
    assert_eq!(problem.members["outcome"], "unknown");
    assert_eq!(problem.headers, [], "waiting changes nothing");
    assert!(problem.detail.contains("Idempotency-Retry: force"));
}

#[test]
fn deleted_record_is_not_reported_as_an_unknown_outcome() {
    let deleted = record(KeyState::Deleted, None);
    let problem = expect_refusal(&deleted, PRINT, Retry::Normal);
    assert!(!problem.members.contains_key("outcome"));
    assert!(!problem.detail.contains("force"), "{}", problem.detail);
    assert!(problem.detail.contains("succeeded"));
}

#[test]
fn different_request_with_the_same_key_is_rejected() {
    use KeyState::{Deleted, Done, Running, Unknown};
    for state in [Running, Done, Unknown, Deleted] {
        for retry in [Retry::Normal, Retry::Force] {
            let record = record(state, Some(201));
            let problem = expect_refusal(&record, "another", retry);
            assert_eq!(summarize(&problem), "422 idempotency-key-reused");
        }
    }
}

#[test]
fn key_is_stored_for_a_day() {
    let record = record(KeyState::Done, Some(201));
    let at = Millis(record.at);
    for (later, expected) in [
        (0, KeyDecision::Replay),
        (LIFE.0 - 1, KeyDecision::Replay),
        (LIFE.0, KeyDecision::Send),
        (LIFE.0 + 1, KeyDecision::Send),
    ] {
        let now = at.plus(Millis(later));
        let found = decide(Some(&record), PRINT, Retry::Normal, now);
        assert_eq!(found, expected, "{later:?}");
    }
    let earlier = Millis(at.0 - 5);
    let found = decide(Some(&record), PRINT, Retry::Normal, earlier);
    assert_eq!(found, KeyDecision::Replay, "a clock that was set back");
    let expired = decide(Some(&record), "another", Retry::Normal, at.plus(LIFE));
    assert_eq!(expired, KeyDecision::Send);
}

#[test]
fn stored_outcome_depends_on_possible_upstream_effects() {
    for (status, expected) in [
        (None, KeyOutcome::Unknown),
        (Some(401), KeyOutcome::Release),
        (Some(403), KeyOutcome::Release),
        (Some(408), KeyOutcome::Unknown),
        (Some(421), KeyOutcome::Release),
        (Some(425), KeyOutcome::Release),
        (Some(429), KeyOutcome::Release),
        (Some(200), KeyOutcome::Store),
        (Some(201), KeyOutcome::Store),
        (Some(302), KeyOutcome::Store),
        (Some(400), KeyOutcome::Store),
        (Some(404), KeyOutcome::Store),
        (Some(500), KeyOutcome::Store),
        (Some(503), KeyOutcome::Store),
    ] {
        assert_eq!(KeyOutcome::from_status(status), expected, "{status:?}");
    }
}

#[test]
fn stored_response_is_replayed_unchanged_with_a_mark() {
    let response = GatewayResponse::json(201, "{\"id\":\"j1\"}");
    let stored = KeyRecord {
        headers: Some(response.headers.to_json()),
        body: response.body.clone(),
        ..record(KeyState::Done, Some(201))
    };
    let headers = response.headers.clone().with("idempotent-replayed", "true");
    let expected = GatewayResponse {
        headers,
        ..response
    };
    assert_eq!(stored.response(), Some(expected));
    assert_eq!(record(KeyState::Done, Some(201)).response(), None);
}
