//! Job ends that webhooks announce.

use quillgate::Millis;
use quillgate_worker::jobs::job_row::{JobRow, RESTART_TIME};
use quillgate_worker::jobs::webhook::JobEnd;

use super::poll::row;
use crate::fixtures::at;

/// Returns a job that started at its creation and completed half a minute later.
fn completed() -> JobRow {
    JobRow {
        status: Some("completed".to_owned()),
        since: Some(at(30)),
        ..row()
    }
}

#[test]
fn end_is_announced_once() {
    let at_creation = JobRow {
        since: Some(at(0)),
        ..completed()
    };
    for row in [completed(), at_creation] {
        assert_eq!(row.announced_end(), Some(JobEnd::Completed));
        assert!(!row.is_restarted());
    }
    assert_eq!(row().announced_end(), None);
}

#[test]
fn end_that_the_response_to_a_follow_up_repeats_is_announced_again_only_when_a_poll_finds_it() {
    // The response to the follow-up repeats the stored state, or has a new state with the same end.
    for since in [at(30), at(60)] {
        let restarted = JobRow {
            last_started_at: at(60),
            since: Some(since),
            ..completed()
        };
        assert!(restarted.is_restarted(), "{since:?}");
        assert_eq!(restarted.announced_end(), None, "{since:?}");
    }
    let completed_again = JobRow {
        last_started_at: at(60),
        since: Some(at(90)),
        ..completed()
    };
    assert!(!completed_again.is_restarted());
    assert_eq!(completed_again.announced_end(), Some(JobEnd::Completed));
}

#[test]
fn webhook_waits_for_the_end_of_a_follow_up_for_a_limited_time() {
    let day = Millis::from_seconds(86_400);
    assert_eq!(row().webhook_poll_end(day), Some(at(0).plus(day)));
    assert_eq!(completed().webhook_poll_end(day), None);
    let restarted = JobRow {
        last_started_at: at(60),
        ..completed()
    };
    assert_eq!(
        restarted.webhook_poll_end(day),
        Some(at(60).plus(RESTART_TIME))
    );
    let minute = Millis::from_seconds(60);
    assert_eq!(restarted.webhook_poll_end(minute), Some(at(120)));
}
