use quillgate::Millis;
use quillgate_worker::jobs::events::{
    END_TEXT, HEARTBEAT_TEXT, ListHistory, LongPoll, MAX_REPLAYED, MAX_SESSION_STREAM_LIFETIME,
    MAX_STREAM_LIFETIME, OPENING_TEXT, StreamEvent, limit_stream, parse_event_number,
    parse_preferred_wait,
};

use crate::fixtures::{NOW, Predicate};

fn event(id: u64, status: &str) -> StreamEvent {
    StreamEvent {
        id,
        name: "job".to_owned(),
        data: format!(r#"{{"id":"j1","status":"{status}"}}"#),
    }
}

#[test]
fn end_of_polling_is_an_event_without_an_id() {
    let (event, data) = END_TEXT.split_once("\ndata: ").unwrap();
    assert_eq!(event, "event: end");
    let data = data.strip_suffix("\n\n").unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["reason"], "poll-limit");
    assert_eq!(StreamEvent::from_text(END_TEXT), None);
}

#[test]
fn stream_ends_with_its_token_or_after_an_hour_and_that_of_a_session_after_five_minutes() {
    let (hour, five_minutes) = (Millis::from_seconds(3600), Millis::from_seconds(300));
    assert_eq!(MAX_STREAM_LIFETIME, hour);
    assert_eq!(MAX_SESSION_STREAM_LIFETIME, five_minutes);
    for (is_session, most) in [(false, hour), (true, five_minutes)] {
        for (expires, expected) in [
            (Millis(0), Millis(0)),
            (NOW, Millis(0)),
            (NOW.plus(Millis(1)), Millis(1)),
            (NOW.plus(most), most),
            (NOW.plus(most).plus(Millis(1)), most),
            (Millis(u64::MAX), most),
        ] {
            let found = limit_stream(expires, NOW, is_session);
            assert_eq!(found, expected, "{is_session} {expires:?}");
        }
    }
}

#[test]
fn event_format_follows_the_html_standard() {
    for (name, data) in [("job", r#"{"id":"j1"}"#), ("deleted", r#"{"id":"j2"}"#)] {
        let event = StreamEvent {
            id: 7,
            name: name.to_owned(),
            data: data.to_owned(),
        };
        let expected = format!("id: 7\nevent: {name}\ndata: {data}\n\n");
        assert_eq!(event.to_text(), expected);
        assert_eq!(StreamEvent::from_text(&expected), Some(event));
    }
}

#[test]
fn malformed_event_is_rejected() {
    let is_event = |text: &str| StreamEvent::from_text(text).is_some();
    let text = event(7, "active").to_text();
    is_event.rejects(&[
        "",
        "{}",
        OPENING_TEXT,
        HEARTBEAT_TEXT,
        &text[..text.len() - 1],
        &text[1..],
        &text.replace("id: 7", "id: x"),
        &text.replace("id: 7", "id: -7"),
        &text.replace("id: 7", "id: "),
        &text.replace("id: 7", "id: 1234567890123456"),
        &text.replace("event: ", "event:"),
        &text.replace("data: ", "data:"),
    ]);
}

#[test]
fn event_is_final_when_its_job_finished() {
    for (status, expected) in [
        ("completed", true),
        ("failed", true),
        ("archived", true),
        ("active", false),
        ("queued", false),
        ("", false),
    ] {
        assert_eq!(event(1, status).is_final(), expected, "{status}");
    }
    let (null, list) = (r#"{"status":null}"#, r#"{"status":["failed"]}"#);
    for data in ["", "{}", "null", null, list, "failed"] {
        let event = StreamEvent {
            data: data.to_owned(),
            ..event(1, "active")
        };
        assert!(!event.is_final(), "{data}");
    }
}

#[test]
fn event_id_has_1_to_15_digits() {
    for (text, expected) in [
        ("0", Some(0)),
        ("7", Some(7)),
        ("007", Some(7)),
        ("999999999999999", Some(999_999_999_999_999)),
        ("1000000000000000", None),
        ("", None),
        ("7 ", None),
        ("-7", None),
        ("٧", None),
    ] {
        assert_eq!(parse_event_number(text), expected, "{text}");
    }
}

/// The gateway's first version used the regular expression
/// `/(?:^|[,;])\s*wait\s*=\s*"?(\d{1,6})"?\s*(?:[,;]|$)/i` and limited the seconds to 25. The
/// results must not change, except that longer numbers are limited too.
#[test]
fn preferred_wait_is_parsed_from_prefer() {
    for (prefer, expected) in [
        ("wait=5", Some(5)),
        ("wait=25", Some(25)),
        ("wait=26", Some(25)),
        ("wait=3600000", Some(25)),
        ("wait=99999999999999999999", Some(25)),
        ("wait=0000005", Some(5)),
        ("wait=+5", None),
        ("WAIT = 5", Some(5)),
        ("  wait\t=\t5  ", Some(5)),
        ("wait=\"5\"", Some(5)),
        ("wait=\"5", Some(5)),
        ("wait=5\"", Some(5)),
        ("wait=\" 5\"", None),
        ("wait='5'", None),
        ("respond-async, wait=5", Some(5)),
        ("wait=5;x=y", Some(5)),
        ("wait=5 respond-async", None),
        ("await=5", None),
        ("wait=", None),
        ("wait=-5", None),
        ("wait=5.5", None),
        ("wait=5=6", None),
        ("wait=٥", None),
        ("wait=5, wait=7", Some(5)),
        ("wait=1234567;wait=5", Some(25)),
        ("x=\"a,wait=5\"", Some(5)),
        (",;,wait=5,;", Some(5)),
        ("", None),
    ] {
        assert_eq!(parse_preferred_wait(Some(prefer)), expected, "{prefer}");
    }
    assert_eq!(parse_preferred_wait(None), None);
}

#[test]
fn long_poll_without_an_etag_waits_for_the_first_change() {
    let mut poll = LongPoll::new(None);
    assert!(!poll.on_event(event(1, "active")));
    assert!(poll.on_event(event(2, "active")));
    let expected = Some("\"2\"");
    assert_eq!(poll.to_response(5).unwrap().headers.get("etag"), expected);
}

#[test]
fn long_poll_of_a_finished_job_ends_immediately() {
    for known in [None, Some("\"1\""), Some("\"9\"")] {
        let mut poll = LongPoll::new(known);
        assert!(poll.on_event(event(1, "completed")));
    }
}

#[test]
fn long_poll_with_an_outdated_etag_ends_immediately() {
    for (known, first, expected) in [
        ("\"1\"", 1, false),
        ("W/\"1\"", 1, false),
        ("\"1\"", 2, true),
        ("\"2\"", 1, true),
        // Any value that is not one of the gateway's entity tags is ignored.
        ("\"x\"", 1, false),
        ("1", 2, false),
        ("*", 2, false),
        ("\"1234567890123456\"", 1, false),
        ("\"1x\"", 2, false),
        ("\"-1\"", 2, false),
        ("", 2, false),
        // Proxies that compress responses change the tags.
        ("\"1-gzip\"", 1, false),
        ("W/\"1-br\"", 2, true),
        ("\"1--gzip\"", 2, true),
        ("\"1\"-gzip", 2, true),
        // The caller has the newest state of a list.
        ("\"1\", \"2\"", 2, false),
        ("\"2\",\"1\"", 2, false),
        ("\"1\", W/\"2-gzip\"", 3, true),
        ("\"x\", \"2\"", 3, true),
    ] {
        let mut poll = LongPoll::new(Some(known));
        let is_ready = poll.on_event(event(first, "active"));
        assert_eq!(is_ready, expected, "{known}");
        assert!(poll.on_event(event(first + 1, "active")));
    }
}

#[test]
fn long_poll_returns_the_latest_state() {
    let mut poll = LongPoll::new(None);
    poll.on_event(event(3, "active"));
    let response = poll.to_response(25).unwrap();
    assert_eq!((response.status, response.problem), (200, None));
    let expected = [
        ("content-type", "application/json"),
        ("etag", "\"3\""),
        ("preference-applied", "wait=25"),
        ("vary", "Origin, Prefer"),
    ];
    assert_eq!(response.headers.iter().collect::<Vec<_>>(), expected);
    assert_eq!(response.body, Some(event(3, "active").data));

    let mut poll = LongPoll::new(None);
    poll.on_event(event(3, "active"));
    poll.on_event(event(4, "failed"));
    let expected = Some(event(4, "failed").data);
    assert_eq!(poll.to_response(0).unwrap().body, expected);
}

#[test]
fn history_is_complete_unless_later_changes_are_missing() {
    let history = ListHistory {
        revision: 900,
        forgotten: 500,
        changes: MAX_REPLAYED,
        deletions: MAX_REPLAYED,
    };
    for (position, is_complete) in [(499, false), (500, true), (900, true), (901, false)] {
        let found = history.can_replay_after(position);
        assert_eq!(found, is_complete, "{position}");
    }
    let (changes, deletions) = (MAX_REPLAYED + 1, MAX_REPLAYED + 1);
    assert!(!ListHistory { changes, ..history }.can_replay_after(600));
    let longer = ListHistory {
        deletions,
        ..history
    };
    assert!(!longer.can_replay_after(600));
}
