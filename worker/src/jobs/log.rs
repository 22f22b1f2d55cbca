//! Log lines about jobs and webhooks.

use serde::Serialize;

use crate::json;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GivenUpWebhook<'a> {
    webhook: &'a str,
    given_up: bool,
    status: Option<u16>,
}

/// Formats the log line about a webhook that is given up. `status` is the receiver's last status,
/// or `None` if it did not respond.
pub fn format_given_up_webhook(id: &str, status: Option<u16>) -> String {
    json::to_text(&GivenUpWebhook {
        webhook: id,
        given_up: true,
        status,
    })
}
