//! Log lines about jobs and webhooks.

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

/// Formats a line for a webhook after its last failed attempt. `status` is `None` if the receiver did
/// not respond.
#[must_use]
pub fn format_given_up_webhook(id: &str, status: Option<u16>) -> String {
    json::to_text(&GivenUpWebhook {
        webhook: id,
        given_up: true,
        status,
    })
}

/// Formats a line for a webhook with an address that the configuration no longer allows. The line
/// omits the address, which may contain a secret.
#[must_use]
pub fn format_dropped_webhook(id: &str) -> String {
    format_operator_line(&format!(
        "webhook {id} was dropped: the configuration no longer allows its address"
    ))
}

/// Formats a line for a lost job.
#[must_use]
pub fn format_lost_job(id: &str) -> String {
    format_operator_line(&format!(
        "job {id} has been unknown to the upstream for 15 minutes: its webhook says so and waits no longer"
    ))
}
