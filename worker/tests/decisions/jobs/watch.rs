//! The URL of a watch call to a project's object.

use proptest::prelude::*;
use quillgate_worker::jobs::watch::WatchCall;

fn call() -> WatchCall {
    WatchCall {
        id: "an-id".to_owned(),
        project: "demo docs".to_owned(),
        job: Some("j/1?x#y".to_owned()),
        traceparent: "00-1-2-00".to_owned(),
        caller: "a-hash".to_owned(),
        tracestate: None,
        after: Some(3),
    }
}

#[test]
fn watch_call_round_trips_through_its_url() {
    assert_eq!(WatchCall::from_url(&call().to_url()), Some(call()));
    let from_the_start = WatchCall {
        after: None,
        ..call()
    };
    let url = from_the_start.to_url();
    assert_eq!(WatchCall::from_url(&url), Some(from_the_start));
    let of_all = WatchCall {
        job: None,
        ..call()
    };
    assert_eq!(WatchCall::from_url(&of_all.to_url()), Some(of_all));
}

#[test]
fn other_urls_are_not_watch_calls() {
    let url = call().to_url();
    for other in [
        String::new(),
        "https://gate/".to_owned(),
        "https://gate/watch".to_owned(),
        "https://gate/watch/a/b/c".to_owned(),
        "https://gate/watch/a/b/c/d".to_owned(),
        url.replace("/watch/", "/Watch/"),
        url.replace("/watch/", "/x/watch/"),
        url.replace("an-id", "%"),
    ] {
        assert_eq!(WatchCall::from_url(&other), None, "{other}");
    }
}

proptest! {
    #[test]
    fn any_watch_call_round_trips(
        id in "\\PC{1,12}",
        project in "\\PC{1,12}",
        job in proptest::option::of("\\PC{1,12}"),
        traceparent in "[0-9a-f-]{0,55}",
        caller in "\\PC{1,12}",
        tracestate in proptest::option::of("[ -~]{1,40}"),
        after in prop::option::of(0..1_000_000_000_000_000_u64),
    ) {
        let call = WatchCall { id, project, job, traceparent, tracestate, caller, after };
        prop_assert_eq!(WatchCall::from_url(&call.to_url()), Some(call));
    }
}
