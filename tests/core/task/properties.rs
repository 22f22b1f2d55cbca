//! What holds for any server, any caller and any clock.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;
use crate::properties::{CURSORS, failure, hint, random, status};

/// More steps than any task in these tests may take.
const MOST_STEPS: usize = 2_000;

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
        1 => Just(Failure::Malformed),
    ]
}

/// A call of each method.
fn any_call() -> impl Strategy<Value = Call> {
    prop::sample::select(vec![get(), delete(), create()])
}

/// What becomes of an attempt.
#[derive(Debug, Clone)]
struct Attempt {
    /// What it comes to, or how it fails.
    outcome: Result<Event<'static>, Failure>,
    retry_after: Option<Millis>,
    /// How long it takes, unless it is cut off before.
    takes: u64,
    /// How much later than it should the timer of the wait after it goes off.
    late: u64,
    random: f64,
}

fn attempt_with(outcome: BoxedStrategy<Result<Event<'static>, Failure>>) -> BoxedStrategy<Attempt> {
    let takes = prop_oneof![2 => 0..500_u64, 1 => 0..70_000_u64];
    let late = prop_oneof![4 => Just(0), 1 => 0..2_000_u64];
    let waits = option::of(prop_oneof![0..3_000_u64, 0..100_000_u64, any::<u64>()]);
    (outcome, waits, takes, late, random())
        .prop_map(|(outcome, waits, takes, late, random)| Attempt {
            outcome,
            retry_after: waits.map(Millis),
            takes,
            late,
            random,
        })
        .boxed()
}

/// An attempt that comes to one of these events, or fails.
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

/// What a driver did from one `Next` to its end.
#[derive(Debug)]
struct Run {
    sends: u32,
    /// How long all of it took, without what its timers were late by.
    elapsed: u64,
    end: Command,
}

/// Drives a task from `Next` on until it hands something over.
fn drive<'a>(
    driver: &mut Driver,
    options: CallOptions,
    mut attempts: impl Iterator<Item = &'a Attempt>,
) -> Run {
    let (mut sends, mut elapsed, mut late) = (0, 0, 0);
    let mut random = 0.0;
    let mut command = driver.next_with(options);
    for _ in 0..MOST_STEPS {
        let event = match command {
            Command::Send(within) => {
                assert!(driver.task.call().is_some(), "a request of no call");
                assert!(
                    within > Millis(0) && within <= options.timeout,
                    "{within:?}"
                );
                sends += 1;
                let attempt = attempts.next().unwrap();
                let is_cut_off = attempt.takes >= within.0;
                let took = attempt.takes.min(within.0);
                elapsed += took;
                driver.pass(took);
                (late, random) = (attempt.late, attempt.random);
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
                driver.pass(time.0).pass(late);
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
    panic!("no end after {MOST_STEPS} steps");
}

proptest! {
    #[test]
    fn a_call_is_sent_once_and_once_for_each_retry_at_most(
        call in any_call(),
        options in options(),
        attempts in vec(attempt(Just(Event::Result)), 1..20),
    ) {
        let runs_on = |attempt: &&Attempt| attempt.outcome != Err(Failure::StillRunning);
        let attempts: Vec<_> = attempts.iter().filter(runs_on).cloned().collect();
        prop_assume!(!attempts.is_empty());
        let is_repeatable = call.method() != quillgate::Method::Post || options.is_deduplicated;
        let mut driver = Driver::new(Task::new(call));
        let run = drive(&mut driver, options, attempts.iter().cycle());
        let most = if is_repeatable { options.max_retries + 1 } else { 1 };
        prop_assert!((1..=most).contains(&run.sends), "{:?}", run);
    }

    #[test]
    fn a_call_s_attempts_and_waits_together_keep_to_the_total_timeout_and_come_to_an_end(
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
            Command::Deliver | Command::Fail(Reason::Failure) => {}
            Command::Fail(Reason::TotalTimeout(time)) => {
                prop_assert_eq!(Some(time), options.total_timeout);
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }

    #[test]
    fn a_server_that_still_runs_for_ever_is_asked_after_no_oftener_than_every_second(
        options in options(),
        attempt in attempt_with(Just(Err(Failure::StillRunning)).boxed()),
    ) {
        let options = CallOptions { is_deduplicated: true, ..options };
        let mut driver = Driver::new(Task::new(create()));
        let run = drive(&mut driver, options, std::iter::repeat(&attempt));
        // Attempts that are cut off use up retries, the others the time that an attempt has.
        let most = 1 + u64::from(options.max_retries) + options.timeout.0 / 1_000;
        prop_assert!(u64::from(run.sends) <= most, "{:?}", run);
    }

    #[test]
    fn a_list_s_pages_are_each_delivered_once_whatever_fails_between_them(
        by_cursor: bool,
        options in options(),
        attempts in vec(attempt(page()), 1..30),
    ) {
        let operation = if by_cursor { Operation::ListAgentJobs } else { Operation::ListPageViews };
        let mut driver = Driver::new(Task::list(Pages::new(call(operation, &json!({ "limit": 50 })))));
        let mut attempts = attempts.iter().cycle();
        let mut seen = Vec::new();
        for _ in 0..30 {
            let asked = driver.task.call().cloned();
            let run = drive(&mut driver, options, &mut attempts);
            if let Some(total) = options.total_timeout {
                prop_assert!(run.elapsed <= total.0, "{:?}", run);
            }
            match run.end {
                Command::Deliver => {
                    prop_assert!(!seen.contains(&asked), "{:?} again", asked);
                    seen.push(asked);
                    prop_assert!(driver.task.call().is_none_or(|next| !seen.contains(&Some(next.clone()))));
                }
                Command::Fail(Reason::Page(_)) => prop_assert_eq!(driver.task.call(), None),
                Command::Fail(_) => prop_assert_eq!(driver.task.call(), asked.as_ref()),
                Command::End => {
                    prop_assert_eq!(asked, None);
                    prop_assert_eq!(run.sends, 0);
                    break;
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }

    #[test]
    fn a_list_that_is_asked_in_the_middle_of_anything_skips_no_page_and_gives_none_twice(
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
                // Also in the middle of an attempt or a wait.
                _ => driver.next(),
            };
            delivered += u64::from(command == Command::Deliver);
            if command == Command::End {
                prop_assert_eq!(driver.task.call(), None);
            }
        }
    }

    #[test]
    fn a_watch_comes_to_an_end_by_its_deadline_and_polls_no_oftener_than_every_2_s(
        timeout in prop_oneof![1..10_000_u64, 1..600_000_u64],
        options in options(),
        attempts in vec(attempt(job()), 1..20),
        pauses in vec(prop_oneof![Just(0), 0..20_000_u64], 1..20),
    ) {
        let mut driver = Driver::new(Task::watch(get(), Millis(timeout), START));
        let mut attempts = attempts.iter().cycle();
        let mut sends = 0;
        for pause in pauses.iter().cycle().take(MOST_STEPS) {
            let before = driver.now;
            let run = drive(&mut driver, options, &mut attempts);
            sends += u64::from(run.sends);
            // The last poll begins at the deadline, or when the caller comes back after it.
            let longest = (timeout + 1_000).saturating_sub(before.since(START).0).max(1_000);
            prop_assert!(run.elapsed <= longest, "{:?} of {}", run, longest);
            match run.end {
                Command::Deliver => {
                    driver.pass(*pause);
                }
                Command::Finish => {
                    let call = driver.next_with(options);
                    prop_assert_eq!(call, Command::End);
                    break;
                }
                Command::Fail(Reason::Failure | Reason::WatchTimeout) => break,
                other => prop_assert!(false, "{:?}", other),
            }
        }
        prop_assert!(sends <= timeout / 2_000 + 3, "{} polls", sends);
    }
}

/// An event that need not be what a driver would report.
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
    fn events_in_any_order_at_any_time_break_nothing(
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
        for (event, later, random) in events {
            if let Event::Next(options) = &event {
                is_deduplicated = options.is_deduplicated;
            }
            driver.pass(later);
            if matches!(driver.task.step(event, driver.now, random), Command::Send(_)) {
                sent.push(is_deduplicated);
            }
        }
        prop_assert!(sent.len() <= 1 || sent.iter().all(|sent| *sent), "{:?}", sent);
    }
}
