//! Stored jobs.

use quillgate::Millis;
use quillgate_worker::jobs::job_row::JobRow;
use quillgate_worker::jobs::resource::Resource;

use crate::fixtures::NOW;

#[test]
fn only_a_terminal_status_ends_a_job_or_a_deployment() {
    for (status, job, deployment) in [
        (Some("completed"), true, false),
        (Some("failed"), true, false),
        (Some("archived"), true, false),
        (Some("success"), false, true),
        (Some("failure"), false, true),
        (Some("active"), false, false),
        (Some("queued"), false, false),
        (Some("in_progress"), false, false),
        (Some("Completed"), false, false),
        (Some("Success"), false, false),
        (Some(""), false, false),
        (None, false, false),
    ] {
        let ends = |resource: Resource| resource.find_end(status).is_some();
        assert_eq!(ends(Resource::Job), job, "{status:?}");
        assert_eq!(ends(Resource::Deployment), deployment, "{status:?}");
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
        assert_eq!(
            row.record(Resource::Job).is_pollable,
            expected,
            "{}",
            row.id
        );
    }
}
