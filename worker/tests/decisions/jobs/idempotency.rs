//! Idempotency keys: parsing, and the decision about a request.

use proptest::prelude::*;
use quillgate::Millis;
use quillgate_worker::hash::fingerprint;
use quillgate_worker::http::problem::Problem;
use quillgate_worker::jobs::idempotency::{Key, LIFE, Record, Retry, State, Verdict, decide};
use quillgate_worker::upstream::settlement::{Settlement, settle};

use crate::fixtures::{NOW, field_and_rule, status_and_kind};

const PRINT: &str = "a-fingerprint";

fn record(state: State, status: Option<u16>) -> Record {
    Record {
        fingerprint: PRINT.to_owned(),
        state,
        at: NOW.0 - 1000,
        status,
    }
}

#[track_caller]
fn expect_refusal(verdict: Verdict) -> Problem {
    match verdict {
        Verdict::Refused(problem) => problem,
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
        let read = Key::read(header).unwrap();
        assert_eq!(read.as_str(), key.unwrap_or(header), "{header}");
    }
}

#[test]
fn key_has_1_to_255_characters_bare_or_quoted() {
    let quoted = |text: &str| format!("\"{text}\"");
    let escaped = format!("\"{}\"", "\\\"".repeat(255));
    let (longest, too_long) = ("k".repeat(255), "k".repeat(256));
    for header in [&longest, &quoted(&longest), &escaped] {
        assert_eq!(Key::read(header).unwrap().as_str().len(), 255);
    }
    for header in [&too_long, &quoted(&too_long)] {
        assert!(Key::read(header).is_err());
    }
}

#[test]
fn malformed_key_is_rejected() {
    for header in [
        "",
        " ",
        "\"\"",
        "\"",
        "\"a",
        "\"a\"b",
        "\"a\";x=1",
        "\"a\" \"b\"",
        "\"a\", \"b\"",
        "\"a\",\"b\"",
        "a, b",
        "a,b",
        "a b",
        "\"a b\"",
        "\"a\\",
        "\"a\\\"",
        "\"a\\n\"",
        "\"a\\u0041\"",
        "a\u{7f}",
        "a\0",
        "a\r\nb",
        "ä",
        "\"ä\"",
        "\u{201c}a\u{201d}",
    ] {
        let problem = Key::read(header).unwrap_err();
        assert_eq!(problem.status, 400, "{header}");
        let expected = ("Idempotency-Key".to_owned(), "idempotency-key".to_owned());
        assert_eq!(field_and_rule(&problem), expected, "{header}");
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
        assert_eq!(problem.status, 400, "{value}");
        let expected = (
            "Idempotency-Retry".to_owned(),
            "idempotency-retry".to_owned(),
        );
        assert_eq!(field_and_rule(&problem), expected);
    }
}

#[test]
fn retry_mode_round_trips_through_its_name() {
    for (retry, name) in [(Retry::Normal, "normal"), (Retry::Force, "force")] {
        assert_eq!(serde_json::to_value(retry).unwrap(), name);
        assert_eq!(Retry::from_name(name), Some(retry));
    }
    for name in ["", "Force", "again"] {
        assert_eq!(Retry::from_name(name), None, "{name}");
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
    assert_eq!(decide(None, PRINT, Retry::Normal, NOW), Verdict::Fresh);
    assert_eq!(decide(None, PRINT, Retry::Force, NOW), Verdict::Fresh);
}

#[test]
fn repetition_is_replayed_rejected_or_executed_by_state() {
    use Retry::{Force, Normal};
    use State::{Deleted, Done, Running, Unknown};
    const DELETED: Result<Verdict, &str> = Err("record-deleted");
    const IN_USE: Result<Verdict, &str> = Err("idempotency-key-in-use");
    const OUTCOME_UNKNOWN: Result<Verdict, &str> = Err("outcome-unknown");
    for (record, normal, force) in [
        (record(Running, None), IN_USE, IN_USE),
        (record(Deleted, None), DELETED, DELETED),
        (record(Unknown, None), OUTCOME_UNKNOWN, Ok(Verdict::Again)),
        (
            record(Done, Some(201)),
            Ok(Verdict::Replay),
            Ok(Verdict::Replay),
        ),
        (
            record(Done, Some(200)),
            Ok(Verdict::Replay),
            Ok(Verdict::Replay),
        ),
        (
            record(Done, Some(400)),
            Ok(Verdict::Replay),
            Ok(Verdict::Replay),
        ),
        (
            record(Done, Some(404)),
            Ok(Verdict::Replay),
            Ok(Verdict::Replay),
        ),
        (
            record(Done, Some(499)),
            Ok(Verdict::Replay),
            Ok(Verdict::Replay),
        ),
        (
            record(Done, Some(500)),
            Ok(Verdict::Replay),
            Ok(Verdict::Again),
        ),
        (
            record(Done, Some(502)),
            Ok(Verdict::Replay),
            Ok(Verdict::Again),
        ),
        (record(Done, None), OUTCOME_UNKNOWN, Ok(Verdict::Again)),
    ] {
        for (retry, expected) in [(Normal, normal), (Force, force)] {
            let found = match decide(Some(&record), PRINT, retry, NOW) {
                Verdict::Refused(problem) => {
                    assert_eq!(problem.status, 409);
                    Err(problem.kind.as_str())
                }
                other => Ok(other),
            };
            assert_eq!(found, expected, "{record:?} {retry:?}");
        }
    }
}

#[test]
fn key_in_use_is_rejected_with_retry_after() {
    let running = record(State::Running, None);
    let problem = expect_refusal(decide(Some(&running), PRINT, Retry::Normal, NOW));
    assert_eq!(problem.headers, [("retry-after", "1".to_owned())]);
}

#[test]
fn unknown_outcome_is_reported() {
    let unknown = record(State::Unknown, None);
    let problem = expect_refusal(decide(Some(&unknown), PRINT, Retry::Normal, NOW));
    assert_eq!(problem.members["outcome"], "unknown");
    assert_eq!(problem.headers, [], "waiting changes nothing");
    assert!(problem.detail.contains("Idempotency-Retry: force"));
}

#[test]
fn deleted_record_is_not_reported_as_an_unknown_outcome() {
    let deleted = record(State::from_name("deleted"), None);
    let problem = expect_refusal(decide(Some(&deleted), PRINT, Retry::Normal, NOW));
    assert!(!problem.members.contains_key("outcome"));
    assert!(!problem.detail.contains("force"), "{}", problem.detail);
    assert!(problem.detail.contains("was carried out"));
}

#[test]
fn different_request_with_the_same_key_is_rejected() {
    for state in [State::Running, State::Done, State::Unknown, State::Deleted] {
        for retry in [Retry::Normal, Retry::Force] {
            let record = record(state, Some(201));
            let problem = expect_refusal(decide(Some(&record), "another", retry, NOW));
            assert_eq!(status_and_kind(&problem), (422, "idempotency-key-reused"));
        }
    }
}

#[test]
fn key_is_stored_for_a_day() {
    let record = record(State::Done, Some(201));
    let at = Millis(record.at);
    for (later, expected) in [
        (0, Verdict::Replay),
        (LIFE.0 - 1, Verdict::Replay),
        (LIFE.0, Verdict::Fresh),
        (LIFE.0 + 1, Verdict::Fresh),
    ] {
        let now = at.plus(Millis(later));
        assert_eq!(decide(Some(&record), PRINT, Retry::Normal, now), expected);
    }
    let earlier = Millis(at.0 - 5);
    let found = decide(Some(&record), PRINT, Retry::Normal, earlier);
    assert_eq!(found, Verdict::Replay, "a clock that was set back");
    let expired = decide(Some(&record), "another", Retry::Normal, at.plus(LIFE));
    assert_eq!(expired, Verdict::Fresh);
}

#[test]
fn stored_outcome_depends_on_possible_upstream_effects() {
    for (status, expected) in [
        (None, Settlement::Unknown),
        (Some(401), Settlement::Forget),
        (Some(403), Settlement::Forget),
        (Some(408), Settlement::Unknown),
        (Some(421), Settlement::Forget),
        (Some(425), Settlement::Forget),
        (Some(429), Settlement::Forget),
        (Some(200), Settlement::Store),
        (Some(201), Settlement::Store),
        (Some(302), Settlement::Store),
        (Some(400), Settlement::Store),
        (Some(404), Settlement::Store),
        (Some(500), Settlement::Store),
        (Some(503), Settlement::Store),
    ] {
        assert_eq!(settle(status), expected, "{status:?}");
    }
}

#[test]
fn unrecognized_state_name_is_unknown() {
    for (name, state) in [
        ("running", State::Running),
        ("done", State::Done),
        ("unknown", State::Unknown),
        ("", State::Unknown),
        ("Done", State::Unknown),
        ("done ", State::Unknown),
    ] {
        assert_eq!(State::from_name(name), state, "{name}");
    }
}

proptest! {
    #[test]
    fn any_key_round_trips_when_quoted(key in "[!-~]{1,255}") {
        let quoted = format!("\"{}\"", key.replace('\\', "\\\\").replace('"', "\\\""));
        let read = Key::read(&quoted);
        prop_assert_eq!(read.as_ref().map(Key::as_str), Ok(key.as_str()));
    }

    #[test]
    fn any_bare_key_is_read_verbatim(key in "[!#-~][!-~]{0,254}") {
        let expected = (!key.contains(',')).then_some(key.as_str());
        let read = Key::read(&key);
        prop_assert_eq!(read.as_ref().ok().map(Key::as_str), expected);
    }

    #[test]
    fn any_header_value_is_a_key_or_rejected(header in "\\PC{0,300}") {
        if let Ok(key) = Key::read(&header) {
            prop_assert!((1..=255).contains(&key.as_str().len()));
            prop_assert!(key.as_str().bytes().all(|byte| byte.is_ascii_graphic()));
        }
    }
}
