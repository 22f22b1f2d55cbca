//! A rule that holds for any server, caller and clock.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn any_options() -> impl Strategy<Value = CallOptions> {
    (1..60_000_u64, 0..=10_u32, any::<bool>()).prop_map(
        |(timeout, max_retries, is_deduplicated)| CallOptions {
            timeout: Millis(timeout),
            max_retries,
            is_deduplicated,
            ..CallOptions::default()
        },
    )
}

fn any_failure() -> impl Strategy<Value = Failure> {
    prop_oneof![
        any::<u16>().prop_map(Failure::Status),
        prop::sample::select(vec![
            BUSY,
            Failure::StillRunning,
            Failure::Connection,
            Failure::Timeout,
            Failure::OutcomeUnknown,
            Failure::Malformed,
        ]),
    ]
}

/// Any event, including those that no driver would report.
fn any_event() -> impl Strategy<Value = Event<'static>> {
    let hint = prop::option::of((0..100_000_u64).prop_map(Millis));
    prop_oneof![
        3 => any_options().prop_map(Event::Next),
        3 => Just(Event::Waited),
        1 => Just(Event::Result),
        1 => any::<u64>().prop_map(|rows| Event::Page(PageInfo { rows, ..PageInfo::default() })),
        4 => (any_failure(), hint).prop_map(|(failure, retry_after)| Event::Failed { failure, retry_after }),
    ]
}

proptest! {
    #[test]
    fn a_post_that_is_not_deduplicated_is_never_sent_twice(
        events in vec((any_event(), 0..100_000_u64, 0.0..=1.0), 1..60),
    ) {
        let mut driver = Driver::new(Task::new(create()));
        let mut is_deduplicated = false;
        let mut sent = Vec::new();
        for (event, elapsed, random) in events {
            if let Event::Next(options) = &event {
                is_deduplicated = options.is_deduplicated;
            }
            driver.pass(elapsed);
            if matches!(driver.task.step(event, driver.now, random), Command::Send(_)) {
                sent.push(is_deduplicated);
            }
        }
        prop_assert!(sent.len() <= 1 || sent.iter().all(|sent| *sent), "{:?}", sent);
    }
}
