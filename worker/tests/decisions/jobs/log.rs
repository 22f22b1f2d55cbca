//! The log line about a webhook that is given up. Operators' monitoring depends on its exact JSON.

use quillgate_worker::jobs::log::format_given_up_webhook;

#[test]
fn abandoned_webhook_is_logged_with_its_last_status() {
    let expected = r#"{"webhook":"msg_1","givenUp":true,"status":410}"#;
    assert_eq!(format_given_up_webhook("msg_1", Some(410)), expected);
    let expected = r#"{"webhook":"msg_1","givenUp":true,"status":null}"#;
    assert_eq!(format_given_up_webhook("msg_1", None), expected);
}
