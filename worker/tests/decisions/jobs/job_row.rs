//! Stored jobs.

use quillgate::Millis;
use quillgate_worker::jobs::job_row::{JobRow, find_end};

use crate::fixtures::NOW;

#[test]
fn only_a_terminal_status_ends_a_job() {
    for (status, expected) in [
        (Some("completed"), true),
        (Some("failed"), true),
        (Some("archived"), true),
        (Some("active"), false),
        (Some("queued"), false),
        (Some("Completed"), false),
        (Some(""), false),
        (None, false),
    ] {
        assert_eq!(find_end(status).is_some(), expected, "{status:?}");
    }
}

#[test]
fn job_with_an_id_that_no_path_can_have_is_not_polled() {
    for (id, expected) in [
        ("j".repeat(256), true),
        ("j".repeat(257), false),
        ("é".repeat(129), false),
        ("..".to_owned(), false),
    ] {
        let row = JobRow {
            row: 1,
            id,
            is_listed: true,
            webhook: None,
            created_at: NOW,
            status: Some("active".to_owned()),
            data: "{}".to_owned(),
            version: 1,
            checked_at: NOW,
            last_started_at: NOW,
            not_before: Millis(0),
            missing_since: None,
            since: None,
            is_given_up: false,
            webhook_poll: None,
        };
        assert_eq!(row.record().is_pollable, expected, "{}", row.id);
    }
}
