//! Log lines about jobs and webhooks, by exact JSON.

use quillgate_worker::jobs::log::{
    format_dropped_webhook, format_given_up_webhook, format_lost_job,
};

#[test]
fn dropped_webhooks_and_lost_jobs_are_logged_for_the_operator() {
    let line = format_dropped_webhook("msg_1");
    assert!(
        line.starts_with(r#"{"operator":"webhook msg_1 was dropped: "#),
        "{line}"
    );
    let line = format_lost_job("j \"1\"");
    assert!(
        line.starts_with(r#"{"operator":"job j \"1\" has been unknown"#),
        "{line}"
    );
}

#[test]
fn abandoned_webhook_is_logged_with_its_last_status() {
    let expected = r#"{"webhook":"msg_1","givenUp":true,"status":410}"#;
    assert_eq!(format_given_up_webhook("msg_1", Some(410)), expected);
    let expected = r#"{"webhook":"msg_1","givenUp":true,"status":null}"#;
    assert_eq!(format_given_up_webhook("msg_1", None), expected);
}
