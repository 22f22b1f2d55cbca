//! Lines of the log about jobs and webhooks.

use serde::Serialize;

use crate::json;
use crate::log::format_operator_line;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GivenUpWebhook<'a> {
    webhook: &'a str,
    given_up: bool,
    status: Option<u16>,
}

/// Formats a line for a webhook that was not delivered and is not sent again; `status` is the receiver's
/// last one, `None` when it did not answer.
#[must_use]
pub fn format_given_up_webhook(id: &str, status: Option<u16>) -> String {
    json::to_text(&GivenUpWebhook {
        webhook: id,
        given_up: true,
        status,
    })
}

/// Formats a line for a webhook that is not sent, since the configuration no longer allows where it
/// would go; an address may be a secret, and is not named.
#[must_use]
pub fn format_dropped_webhook(id: &str) -> String {
    format_operator_line(
        &[
            "webhook ",
            id,
            " was dropped: the configuration no longer allows its address",
        ]
        .concat(),
    )
}

/// Formats a line for a job whose end nobody will learn, since the upstream does not know it.
#[must_use]
pub fn format_lost_job(id: &str) -> String {
    format_operator_line(
        &[
            "job ",
            id,
            " has been unknown to the upstream for 15 minutes: its webhook says so and waits no longer",
        ]
        .concat(),
    )
}
