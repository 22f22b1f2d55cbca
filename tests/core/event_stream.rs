use proptest::prelude::*;
use quillgate::Millis;
use quillgate::event_stream::{EventParser, EventTooLarge, StreamEvent};

fn read(chunks: &[&[u8]]) -> (Vec<StreamEvent>, EventParser) {
    let mut parser = EventParser::default();
    let mut events = Vec::new();
    for chunk in chunks {
        parser.push(chunk).unwrap();
        events.extend(std::iter::from_fn(|| parser.pop()));
    }
    (events, parser)
}

fn event(name: &str, data: &str) -> StreamEvent {
    StreamEvent {
        name: name.to_owned(),
        data: data.to_owned(),
    }
}

/// From the HTML Standard, section 9.2.6.
#[test]
fn the_examples_of_the_standard_are_read() {
    for (stream, expected) in [
        ("data: YHOO\ndata: +2\ndata: 10\n\n", vec!["YHOO\n+2\n10"]),
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            vec!["first event", "second event", " third event"],
        ),
        ("data\n\ndata\ndata\n\ndata:", vec!["\n"]),
        ("data:test\n\ndata: test\n\n", vec!["test", "test"]),
    ] {
        let (events, _) = read(&[stream.as_bytes()]);
        let expected: Vec<_> = expected.iter().map(|data| event("message", data)).collect();
        assert_eq!(events, expected, "{stream:?}");
    }
}

#[test]
fn the_id_counts_after_its_event_is_complete() {
    let (_, mut parser) = read(&[b"id: 1\ndata: a\n\nid: 2\ndata: b\n"]);
    assert_eq!(parser.last_id(), "1");
    parser.restart();
    parser.push(b"data: c\n\n").unwrap();
    assert_eq!(parser.pop(), Some(event("message", "c")));
    assert_eq!(parser.last_id(), "1");
    parser.push(b"id: 3\0\n\nid: 4\n\n").unwrap();
    assert_eq!((parser.pop(), parser.last_id()), (None, "4"));
    parser.push(b"id\n\n").unwrap();
    assert_eq!(parser.last_id(), "");
}

#[test]
fn only_digits_set_the_reconnection_time() {
    for (value, expected) in [
        ("2500", 2_500),
        ("0", 1_000),
        ("-1", 3_000),
        ("1.5", 3_000),
        ("", 3_000),
        ("99999999", 3_000),
    ] {
        let (_, parser) = read(&[format!("retry: {value}\n").as_bytes()]);
        assert_eq!(parser.retry(0.0), Millis(expected), "{value}");
        assert_eq!(parser.retry(1.0), Millis(expected * 5 / 4), "{value}");
    }
}

#[test]
fn a_byte_order_mark_is_skipped_at_the_start_of_a_stream_only() {
    let (events, _) = read(&["\u{feff}data: a\n\n\u{feff}data: b\n\n".as_bytes()]);
    assert_eq!(events, [event("message", "a")]);
}

#[test]
fn an_event_that_never_ends_is_refused() {
    for line in ["data: a", "data: a\n"] {
        let mut parser = EventParser::default();
        let chunk = line.repeat(10_000);
        let refused = (0..100).find_map(|_| parser.push(chunk.as_bytes()).err());
        assert_eq!(refused, Some(EventTooLarge), "{line:?}");
    }
}

proptest! {
    #[test]
    fn chunks_may_end_anywhere(cuts in proptest::collection::vec(0_usize..70, 0..6)) {
        let stream = "\u{feff}id: é\r\nevent: job\r\ndata: {\"a\":\"😀\"}\r\ndata:b\r\r: c\n\nretry: 5000\n\ndata: d\n\n";
        let bytes = stream.as_bytes();
        let mut cuts: Vec<_> = cuts.iter().map(|at| at % bytes.len()).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let chunks: Vec<_> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        let (events, parser) = read(&chunks);
        prop_assert_eq!(events, [event("job", "{\"a\":\"😀\"}\nb"), event("message", "d")]);
        prop_assert_eq!(parser.last_id(), "é");
        prop_assert_eq!(parser.retry(0.0), Millis(5_000));
    }
}
