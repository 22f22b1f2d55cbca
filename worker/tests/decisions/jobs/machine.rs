mod interleavings;

use quillgate::Millis;
use quillgate_worker::jobs::machine::{
    CloseReason, Effect, Event, Interest, Job, PollFailure, State, Timing,
};
use quillgate_worker::jobs::poll::RESTART_TIME;
use quillgate_worker::jobs::webhook::JobEnd;

use crate::fixtures::{NOW, at};

const TIMING: Timing = Timing {
    poll_interval: Millis::from_seconds(5),
    webhook_poll_interval: Millis::from_seconds(15),
    poll_duration: Millis::from_seconds(1_800),
    timeout: Millis::from_seconds(30),
};
const FAILURE: PollFailure = PollFailure {
    is_missing: false,
    retry_after: None,
};
const MISSING: PollFailure = PollFailure {
    is_missing: true,
    ..FAILURE
};

/// Returns a job with a webhook that was created at [`NOW`] and is active.
fn active() -> Job {
    let mut job = Job::default();
    let created = Event::Created {
        state: state("active", None),
        has_webhook: true,
    };
    assert_eq!(job.apply(created, NOW, &TIMING), []);
    job
}

fn state(data: &str, end: Option<JobEnd>) -> State {
    let data = data.to_owned();
    State { data, end }
}

/// Starts a poll of the job, `seconds` after its creation.
#[track_caller]
fn start_poll(job: &mut Job, poll: u64, seconds: u64) {
    let effects = job.apply(Event::PollStarted(poll), at(seconds), &TIMING);
    assert_eq!(effects, []);
}

/// Answers a poll of the job with a final state.
fn complete(job: &mut Job, data: &str, seconds: u64) -> Vec<Effect> {
    start_poll(job, seconds, seconds);
    let answer = Event::PollAnswered(seconds, state(data, Some(JobEnd::Completed)));
    job.apply(answer, at(seconds), &TIMING)
}

const COMPLETED: Effect = Effect::QueueWebhook(JobEnd::Completed);
const CLOSE_FINISHED: Effect = Effect::CloseWatchers(CloseReason::Finished);
const GIVE_UP: [Effect; 2] = [
    Effect::QueueWebhook(JobEnd::Unfinished),
    Effect::CloseWatchers(CloseReason::GivenUp),
];

#[test]
fn end_is_announced_once() {
    let mut job = active();
    let end = [Effect::Notify, COMPLETED, CLOSE_FINISHED];
    assert_eq!(complete(&mut job, "completed", 30), end);
    assert_eq!(complete(&mut job, "completed", 60), []);
    let update = Effect::UpdateWebhook(JobEnd::Completed);
    let effects = complete(&mut job, "completed, with a link", 90);
    assert_eq!(effects, [Effect::Notify, update, CLOSE_FINISHED]);
    assert_eq!(job.webhook_due(at(90), &TIMING), None);
}

#[test]
fn end_that_the_response_to_a_follow_up_repeats_is_announced_again_only_when_a_poll_finds_it() {
    let mut job = active();
    complete(&mut job, "completed", 58);
    let repeated = job.record.clone().expect("a record").state;
    let follow_up = Event::FollowedUp(Some(repeated));
    assert_eq!(job.apply(follow_up, at(60), &TIMING), []);
    // A watcher does not wait: the caller asks for the job directly after the follow-up.
    assert!(job.is_poll_due(None, at(60), &TIMING) && job.is_poll_due(Some(2), at(60), &TIMING));
    assert!(!job.is_stale(at(64), &TIMING) && job.is_stale(at(65), &TIMING));
    assert!(!job.is_stale(at(60).plus(RESTART_TIME), &TIMING));
    // The webhook waits for the end of the follow-up, for a limited time.
    assert_eq!(job.webhook_due(at(60), &TIMING), Some(at(60 + 15)));
    assert_eq!(job.webhook_due(at(60).plus(RESTART_TIME), &TIMING), None);
    let end = [Effect::Notify, COMPLETED, CLOSE_FINISHED];
    assert_eq!(complete(&mut job, "completed again", 90), end);
}

#[test]
fn lost_response_to_a_follow_up_may_have_restarted_the_job() {
    let mut job = active();
    complete(&mut job, "completed", 30);
    assert_eq!(job.apply(Event::FollowedUp(None), at(60), &TIMING), []);
    assert_eq!(job.webhook_due(at(60), &TIMING), Some(at(60 + 15)));
    let end = [Effect::Notify, COMPLETED, CLOSE_FINISHED];
    assert_eq!(complete(&mut job, "completed again", 90), end);
}

#[test]
fn job_with_a_webhook_is_polled_once_more_at_its_limit() {
    let may_poll = Interest {
        is_watched: false,
        earliest_poll: None,
    };
    let mut job = active();
    let due = |job: &mut Job, interest| job.apply(Event::Due(interest), at(1_800), &TIMING);
    assert_eq!(due(&mut job, may_poll), [Effect::Poll]);
    let end = [Effect::Notify, COMPLETED, CLOSE_FINISHED];
    assert_eq!(complete(&mut job.clone(), "completed", 1_800), end);

    // A poll whose result is lost is not repeated, and without budget no poll is possible.
    let mut lost = job.clone();
    start_poll(&mut lost, 1, 1_800);
    assert!(lost.polling.fail(1, at(1_800)));
    let spent = Interest {
        earliest_poll: Some(at(1_801)),
        ..may_poll
    };
    for (job, interest) in [(&mut lost, may_poll), (&mut job, spent)] {
        assert_eq!(due(job, interest), GIVE_UP);
    }
}

#[test]
fn job_whose_poll_runs_across_the_limit_is_given_up_when_the_poll_ends() {
    let state = active().record.expect("a record").state;
    for answer in [Event::PollAnswered(1, state), Event::PollFailed(1, FAILURE)] {
        let mut job = active();
        start_poll(&mut job, 1, 1_799);
        assert_eq!(job.apply(answer, at(1_801), &TIMING), GIVE_UP);
        assert_eq!(job.webhook_due(at(1_801), &TIMING), None);
    }
}

#[test]
fn poll_whose_result_is_lost_delays_the_next_one() {
    let mut job = active();
    start_poll(&mut job, 1, 100);
    assert!(job.polling.fail(1, at(110)));
    // One failure doubles the interval.
    assert_eq!(job.webhook_due(at(110), &TIMING), Some(at(110 + 30)));
    assert!(!job.is_stale(at(119), &TIMING) && job.is_stale(at(120), &TIMING));
}

#[test]
fn response_to_an_earlier_poll_is_ignored() {
    let mut job = active();
    let stale = job.record.clone().expect("a record").state;
    start_poll(&mut job, 1, 5);
    let newer = Event::FollowedUp(Some(state("restarted", None)));
    job.apply(newer, at(6), &TIMING);
    let followed_up = job.clone();
    let found = job.apply(Event::PollAnswered(1, stale.clone()), at(7), &TIMING);
    assert_eq!(found, []);
    assert_eq!(job, followed_up);

    start_poll(&mut job, 2, 8);
    job.apply(Event::Deleted, at(9), &TIMING);
    let found = job.apply(Event::PollAnswered(2, stale.clone()), at(10), &TIMING);
    assert_eq!(found, []);
    let late = Event::FollowedUp(Some(stale));
    assert_eq!(job.apply(late, at(11), &TIMING), []);
    assert_eq!(job, Job::default(), "a deleted job stays deleted");
}

#[test]
fn stored_job_is_polled_for_a_watcher_once_an_interval() {
    let mut job = active();
    assert!(Job::default().is_poll_due(None, NOW, &TIMING));
    for (seconds, expected) in [(0, false), (4, false), (5, true), (6, true)] {
        for after in [None, Some(1)] {
            let is_due = job.is_poll_due(after, at(seconds), &TIMING);
            assert_eq!(is_due, expected, "{seconds} {after:?}");
        }
    }
    // A resuming watcher of a finished job only needs the stored changes.
    complete(&mut job, "completed", 30);
    assert!(job.is_poll_due(None, at(35), &TIMING));
    assert!(!job.is_poll_due(Some(1), at(35), &TIMING));
}

#[test]
fn failed_poll_waits_for_the_upstreams_retry_after() {
    let mut job = active();
    start_poll(&mut job, 1, 5);
    let failure = PollFailure {
        retry_after: Some(Millis::from_seconds(60)),
        ..FAILURE
    };
    assert_eq!(job.apply(Event::PollFailed(1, failure), at(5), &TIMING), []);
    for (seconds, expected) in [(5, false), (64, false), (65, true)] {
        let found = job.is_poll_due(None, at(seconds), &TIMING);
        assert_eq!(found, expected, "{seconds}");
        assert_eq!(job.is_stale(at(seconds), &TIMING), expected, "{seconds}");
    }
}

#[test]
fn job_that_mintlify_knows_again_is_not_announced_as_lost() {
    let mut job = active();
    let state = job.record.clone().expect("a record").state;
    for (poll, seconds, answer) in [
        (1, 100, Event::PollFailed(1, MISSING)),
        (2, 500, Event::PollAnswered(2, state)),
        (3, 1_100, Event::PollFailed(3, MISSING)),
    ] {
        start_poll(&mut job, poll, seconds);
        let effects = job.apply(answer, at(seconds), &TIMING);
        assert!(!effects.contains(&Effect::QueueWebhook(JobEnd::NotFound)));
    }
    assert!(complete(&mut job, "completed", 1_200).contains(&COMPLETED));
}

#[test]
fn new_job_that_mintlify_does_not_know_yet_keeps_its_watchers() {
    for (seconds, expected) in [
        (59, vec![]),
        (60, vec![Effect::CloseWatchers(CloseReason::Gone)]),
    ] {
        let mut job = active();
        start_poll(&mut job, 1, seconds);
        let effects = job.apply(Event::PollFailed(1, MISSING), at(seconds), &TIMING);
        assert_eq!(effects, expected, "{seconds}");
        let record = job.record.expect("a record");
        assert_eq!(record.may_be_unknown(at(seconds)), expected.is_empty());
    }
}
