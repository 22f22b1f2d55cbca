//! Property tests: rules that hold for any server, caller and clock.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;
use crate::properties::{CURSORS, hint, random, status};
use crate::retry::failure;

/// More steps than any task in these tests needs.
const MAX_STEPS: usize = 2_000;

fn options() -> impl Strategy<Value = CallOptions> {
    let timeout = prop_oneof![1..2_000_u64, 1..60_000_u64].prop_map(Millis);
    let total = option::of(prop_oneof![1..5_000_u64, 1..300_000_u64].prop_map(Millis));
    (timeout, total, 0..=10_u32, any::<bool>()).prop_map(
        |(timeout, total_timeout, max_retries, is_deduplicated)| CallOptions {
            timeout,
            total_timeout,
            max_retries,
            is_deduplicated,
        },
    )
}

fn any_failure() -> impl Strategy<Value = Failure> {
    prop_oneof![
        6 => failure(),
        6 => Just(BUSY),
        1 => Just(Failure::OutcomeUnknown),
        1 => Just(Failure::UpstreamRefused),
        1 => Just(Failure::Malformed),
    ]
}

/// A call whose method is `GET`, `DELETE` or `POST`.
fn any_call() -> impl Strategy<Value = Call> {
    prop::sample::select(vec![get(), delete(), create()])
}

/// One attempt and its outcome.
#[derive(Debug, Clone)]
struct Attempt {
    /// The resulting event or the failure.
    outcome: Result<Event<'static>, Failure>,
    retry_after: Option<Millis>,
    /// How long the attempt takes unless it times out.
    duration: u64,
    /// How late the timer fires after the attempt.
    timer_delay: u64,
    random: f64,
}

fn attempt_with(outcome: BoxedStrategy<Result<Event<'static>, Failure>>) -> BoxedStrategy<Attempt> {
    let duration = prop_oneof![2 => 0..500_u64, 1 => 0..70_000_u64];
    let timer_delay = prop_oneof![4 => Just(0), 1 => 0..2_000_u64];
    let waits = option::of(prop_oneof![0..3_000_u64, 0..100_000_u64, any::<u64>()]);
    (outcome, waits, duration, timer_delay, random())
        .prop_map(|(outcome, waits, duration, timer_delay, random)| Attempt {
            outcome,
            retry_after: waits.map(Millis),
            duration,
            timer_delay,
            random,
        })
        .boxed()
}

/// An attempt that results in one of these events or fails.
fn attempt(event: impl Strategy<Value = Event<'static>> + 'static) -> BoxedStrategy<Attempt> {
    let outcome = prop_oneof![1 => event.prop_map(Ok), 3 => any_failure().prop_map(Err)];
    attempt_with(outcome.boxed())
}

fn page() -> impl Strategy<Value = Event<'static>> {
    let next_cursor = option::weighted(0.9, prop::sample::select(CURSORS));
    (0..=50_u64, option::weighted(0.9, Just(true)), next_cursor).prop_map(
        |(rows, has_more, next_cursor)| {
            Event::Page(PageInfo {
                rows,
                has_more,
                next_cursor,
                ..PageInfo::default()
            })
        },
    )
}

fn job() -> impl Strategy<Value = Event<'static>> {
    (status(), any::<bool>(), hint()).prop_map(|(status, is_news, retry_after)| Event::Job {
        status,
        is_news,
        retry_after,
    })
}

/// The work of a driver after one `Next`.
#[derive(Debug)]
struct Run {
    sends: u32,
    /// The total duration without timer delays.
    elapsed: u64,
    end: Command,
}

/// Drives a task from `Next` until it delivers, fails or ends.
fn drive<'a>(
    driver: &mut Driver,
    options: CallOptions,
    mut attempts: impl Iterator<Item = &'a Attempt>,
) -> Run {
    let (mut sends, mut elapsed, mut timer_delay) = (0, 0, 0);
    let mut random = 0.0;
    let mut command = driver.next_with(options);
    for _ in 0..MAX_STEPS {
        let event = match command {
            Command::Send(within) => {
                assert!(driver.task.call().is_some(), "a request without a call");
                assert!(
                    within > Millis(0) && within <= options.timeout,
                    "{within:?}"
                );
                sends += 1;
                let attempt = attempts.next().unwrap();
                let is_cut_off = attempt.duration >= within.0;
                let took = attempt.duration.min(within.0);
                elapsed += took;
                driver.pass(took);
                (timer_delay, random) = (attempt.timer_delay, attempt.random);
                match &attempt.outcome {
                    _ if is_cut_off => Event::Failed {
                        failure: Failure::Timeout,
                        retry_after: None,
                    },
                    Ok(event) => event.clone(),
                    Err(failure) => Event::Failed {
                        failure: *failure,
                        retry_after: attempt.retry_after,
                    },
                }
            }
            Command::Retry(time) | Command::Wait(time) => {
                elapsed += time.0;
                driver.pass(time.0).pass(timer_delay);
                Event::Waited
            }
            end => {
                return Run {
                    sends,
                    elapsed,
                    end,
                };
            }
        };
        command = driver.task.step(event, driver.now, random);
    }
    panic!("no end after {MAX_STEPS} steps");
}

proptest! {
    #[test]
    fn a_call_is_sent_at_most_once_plus_its_retries(
        call in any_call(),
        options in options(),
        attempts in vec(attempt(Just(Event::Result)), 1..20),
    ) {
        let is_over = |attempt: &&Attempt| attempt.outcome != Err(Failure::StillRunning);
        let attempts: Vec<_> = attempts.iter().filter(is_over).cloned().collect();
        prop_assume!(!attempts.is_empty());
        let is_repeatable = call.method() != quillgate::Method::Post || options.is_deduplicated;
        let mut driver = Driver::new(Task::new(call));
        let run = drive(&mut driver, options, attempts.iter().cycle());
        let max = if is_repeatable { options.max_retries + 1 } else { 1 };
        prop_assert!((1..=max).contains(&run.sends), "{:?}", run);
    }

    #[test]
    fn attempts_and_delays_of_a_call_end_within_the_total_timeout(
        call in any_call(),
        options in options(),
        attempts in vec(attempt(Just(Event::Result)), 1..20),
    ) {
        let mut driver = Driver::new(Task::new(call));
        let run = drive(&mut driver, options, attempts.iter().cycle());
        if let Some(total) = options.total_timeout {
            prop_assert!(run.elapsed <= total.0, "{:?}", run);
        }
        match run.end {
            Command::Yield | Command::Fail(Reason::Failure) => {}
            Command::Fail(Reason::TotalTimeout(time)) => {
                prop_assert_eq!(Some(time), options.total_timeout);
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }

    #[test]
    fn a_request_that_runs_forever_is_polled_at_most_once_a_second(
        options in options(),
        attempt in attempt_with(Just(Err(Failure::StillRunning)).boxed()),
    ) {
        let options = CallOptions { is_deduplicated: true, ..options };
        let mut driver = Driver::new(Task::new(create()));
        let run = drive(&mut driver, options, std::iter::repeat(&attempt));
        // An attempt that times out uses up a retry. After any other attempt, a pause of at least
        // 1 s counts against the patience, which equals the timeout of an attempt.
        let max = 1 + u64::from(options.max_retries) + options.timeout.0 / 1_000;
        prop_assert!(u64::from(run.sends) <= max, "{:?}", run);
    }

    #[test]
    fn each_page_of_a_list_is_delivered_once_despite_failures(
        by_cursor: bool,
        options in options(),
        attempts in vec(attempt(page()), 1..30),
    ) {
        let operation = if by_cursor { Operation::ListAgentJobs } else { Operation::ListPageViews };
        let mut driver = Driver::new(Task::list(Pages::new(call(operation, &json!({ "limit": 50 })))));
        let mut attempts = attempts.iter().cycle();
        let mut seen = Vec::new();
        for _ in 0..30 {
            let requested = driver.task.call().cloned();
            let run = drive(&mut driver, options, &mut attempts);
            if let Some(total) = options.total_timeout {
                prop_assert!(run.elapsed <= total.0, "{:?}", run);
            }
            match run.end {
                Command::Yield => {
                    prop_assert!(!seen.contains(&requested), "{:?} again", requested);
                    seen.push(requested);
                    prop_assert!(driver.task.call().is_none_or(|next| !seen.contains(&Some(next.clone()))));
                }
                Command::Fail(Reason::Page(_)) => prop_assert_eq!(driver.task.call(), None),
                Command::Fail(_) => prop_assert_eq!(driver.task.call(), requested.as_ref()),
                Command::Done => {
                    prop_assert_eq!(requested, None);
                    prop_assert_eq!(run.sends, 0);
                    break;
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }

    #[test]
    fn requesting_the_next_page_at_any_time_skips_and_repeats_no_page(
        events in vec(prop_oneof![
            3 => Just(None),
            2 => page().prop_map(Some),
            1 => any_failure().prop_map(|failure| Some(Event::Failed { failure, retry_after: None })),
        ], 1..60),
    ) {
        let mut driver = Driver::new(Task::list(Pages::new(call(Operation::ListPageViews, &json!({ "limit": 50 })))));
        let mut delivered = 0;
        let mut command = driver.next();
        for event in events {
            let offset = driver.task.call().and_then(|call| call.integer("offset"));
            command = match (event, command) {
                (Some(event), Command::Send(_)) => {
                    prop_assert_eq!(offset, Some(delivered * 50));
                    driver.step(event)
                }
                (Some(_), Command::Retry(time)) => driver.end_wait(time.0),
                // Request the next page, even during an attempt or a delay.
                _ => driver.next(),
            };
            delivered += u64::from(command == Command::Yield);
            if command == Command::Done {
                prop_assert_eq!(driver.task.call(), None);
            }
        }
    }

    #[test]
    fn a_watch_ends_by_its_deadline_and_polls_at_most_every_2_s(
        timeout in prop_oneof![1..10_000_u64, 1..600_000_u64],
        options in options(),
        attempts in vec(attempt(job()), 1..20),
        pauses in vec(prop_oneof![Just(0), 0..20_000_u64], 1..20),
    ) {
        let mut driver = Driver::new(Task::watch(get(), Millis(timeout), START));
        let mut attempts = attempts.iter().cycle();
        let mut sends = 0;
        for pause in pauses.iter().cycle().take(MAX_STEPS) {
            let before = driver.now;
            let run = drive(&mut driver, options, &mut attempts);
            sends += u64::from(run.sends);
            // The last poll begins at the deadline, or when the caller returns after it.
            let longest = (timeout + 1_000).saturating_sub(before.since(START).0).max(1_000);
            prop_assert!(run.elapsed <= longest, "{:?} of {}", run, longest);
            match run.end {
                Command::Yield => {
                    driver.pass(*pause);
                }
                Command::YieldLast => {
                    let call = driver.next_with(options);
                    prop_assert_eq!(call, Command::Done);
                    break;
                }
                Command::Fail(Reason::Failure | Reason::WatchTimeout) => break,
                other => prop_assert!(false, "{:?}", other),
            }
        }
        prop_assert!(sends <= timeout / 2_000 + 3, "{} polls", sends);
    }
}

/// Any event, including those that no driver would report.
fn any_event() -> impl Strategy<Value = Event<'static>> {
    prop_oneof![
        3 => options().prop_map(Event::Next),
        3 => Just(Event::Waited),
        1 => Just(Event::Result),
        2 => page(),
        1 => any::<u64>().prop_map(|rows| Event::Page(PageInfo { rows, ..PageInfo::default() })),
        2 => job(),
        4 => (any_failure(), hint()).prop_map(|(failure, retry_after)| Event::Failed { failure, retry_after }),
    ]
}

fn any_task() -> impl Strategy<Value = Task> {
    let list = |operation| Task::list(Pages::new(call(operation, &json!({}))));
    prop_oneof![
        any_call().prop_map(Task::new),
        Just(list(Operation::ListPageViews)),
        Just(list(Operation::ListAgentJobs)),
        Just(list(Operation::GetCallerStats)),
        any::<u64>().prop_map(|timeout| Task::watch(get(), Millis(timeout), START)),
    ]
}

proptest! {
    #[test]
    fn events_in_any_order_and_at_any_time_send_only_valid_requests(
        task in any_task(),
        events in vec((any_event(), any::<u64>(), random()), 1..60),
    ) {
        let mut task = task;
        for (event, now, random) in events {
            let command = task.step(event, Millis(now), random);
            if let Command::Send(within) = command {
                prop_assert!(task.call().is_some());
                prop_assert!(within > Millis(0));
            }
        }
    }

    #[test]
    fn a_post_that_is_not_deduplicated_is_never_sent_twice(
        events in vec((any_event(), 0..100_000_u64, random()), 1..60),
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
