//! Trace propagation (W3C Trace Context).

use quillgate_worker::http::trace::{continue_trace, read_tracestate};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";
const UUID: &str = "01234567-89ab-4def-bedc-ba9876543210";
const RANDOM: &str = "0123456789ab4defbedcba9876543210";
const SPAN: &str = "0123456789ab4def";
const STATE: Option<&str> = Some(" a=1,");

#[test]
fn valid_trace_is_continued_with_a_new_span() {
    for (version, flags, more, sent_on) in [
        ("00", "00", "", "00"),
        ("00", "01", "", "01"),
        ("00", "03", "", "01"),
        ("00", "ff", "", "01"),
        ("00", "fe", "", "00"),
        ("01", "01", "", "01"),
        ("cc", "01", "-what-the-future-will-be-like", "01"),
        ("cc", "00", "-", "00"),
        ("fe", "01", "-x", "01"),
    ] {
        let incoming = format!("{version}-{TRACE}-{PARENT}-{flags}{more}");
        let trace = continue_trace(Some(&incoming), STATE, UUID);
        let expected = format!("00-{TRACE}-{SPAN}-{sent_on}");
        assert_eq!(trace.traceparent, expected, "{incoming}");
        assert_eq!(trace.trace_id, TRACE);
        assert_eq!(trace.tracestate.as_deref(), Some("a=1"));
    }
}

#[test]
fn new_trace_is_started_without_a_valid_one() {
    let plain = |text: &str| text.to_owned();
    let zero = "0".repeat(32);
    for incoming in [
        String::new(),
        plain("00"),
        format!("00-{TRACE}-{PARENT}"),
        format!("00-{TRACE}-{PARENT}-001"),
        format!("00-{TRACE}-{PARENT}-+1"),
        format!("00-{TRACE}-{PARENT}-01-more"),
        format!("00-{TRACE}-{PARENT}-01, 00-{TRACE}-{PARENT}-01"),
        format!("cc-{TRACE}-{PARENT}-01.more"),
        format!("ff-{TRACE}-{PARENT}-01"),
        format!("00-{zero}-{PARENT}-01"),
        format!("00-{TRACE}-{}-01", &zero[..16]),
        format!("00-{}-{PARENT}-01", TRACE.to_uppercase()),
        format!("00-{}-{PARENT}-01", &TRACE[1..]),
        format!("00-{TRACE}-{PARENT}0-01"),
        format!(" 00-{TRACE}-{PARENT}-01"),
        format!("00-{}ä-{PARENT}-01", &TRACE[2..]),
    ] {
        let trace = continue_trace(Some(&incoming), STATE, UUID);
        let expected = format!("00-{RANDOM}-{SPAN}-00");
        assert_eq!(trace.traceparent, expected, "{incoming}");
        assert_eq!(trace.tracestate, None);
        assert_eq!(trace, continue_trace(None, STATE, UUID));
    }
}

#[test]
fn tracestate_is_forwarded_as_a_list() {
    let long = format!("k={}", "x".repeat(256));
    let all_characters = "0a_-*/=!#$%&'()*+-./:;<>?@[]^_`{|}~";
    for (header, expected) in [
        ("rojo=00f067aa0ba902b7", "rojo=00f067aa0ba902b7"),
        ("a=1,b=2", "a=1,b=2"),
        (" a=1 ,\tb=2 ", "a=1,b=2"),
        ("a=1,,b=2,", "a=1,b=2"),
        ("tenant@vendor=1", "tenant@vendor=1"),
        (all_characters, all_characters),
        ("a=b c", "a=b c"),
        (&long, &long),
    ] {
        let expected = Some(expected);
        assert_eq!(read_tracestate(header).as_deref(), expected, "{header}");
    }
}

#[test]
fn partly_malformed_tracestate_is_ignored() {
    let members = |count: usize| {
        let members = (0..count).map(|number| format!("k{number}=1"));
        members.collect::<Vec<_>>().join(",")
    };
    assert_eq!(read_tracestate(&members(32)), Some(members(32)));
    let (many, wide) = (members(33), format!("k={}", "x".repeat(257)));
    let injected = "a=1\r\nx: y";
    for header in [
        "", " ", ",", "a", "=1", "a=", "A=1", "-a=1", "a b=1", "a=1,b", "a=1=2", "a=ä", injected,
        "a=1\tb", &many, &wide,
    ] {
        assert_eq!(read_tracestate(header), None, "{header}");
    }
}

#[test]
fn too_long_tracestate_drops_its_longest_and_then_its_last_members() {
    let member = |key: &str, length: usize| format!("{key}={}", "x".repeat(length - 2));
    let list = |lengths: [usize; 5]| -> Vec<_> {
        let members = lengths.into_iter().zip(["a", "b", "c", "d", "e"]);
        members.map(|(length, key)| member(key, length)).collect()
    };
    let full = list([100, 129, 200, 40, 39]);
    assert_eq!(full.join(",").len(), 512);
    assert_eq!(read_tracestate(&full.join(",")), Some(full.join(",")));
    let over = list([100, 129, 200, 40, 40]);
    let kept = [&over[0][..], &over[3], &over[4]].join(",");
    assert_eq!(read_tracestate(&over.join(",")), Some(kept));
    let even = list([128; 5]);
    assert_eq!(read_tracestate(&even.join(",")), Some(even[..3].join(",")));
    let wide = list([200; 5]);
    assert_eq!(read_tracestate(&wide.join(",")), None);
}
