//! Describes the webhook that the gateway sends when a job ends.

use quillgate::AgentJob;
use quillgate::schema::HasJsonType as _;
use quillgate_worker::jobs::poll::LOST_AFTER;
use quillgate_worker::jobs::webhook::{JobEnd, RETRY_AFTER};
use serde_json::{Value, json};

use super::{JSON, schemas};

/// The webhook's name in the document.
pub const NAME: &str = "agentJobEnded";

pub fn reference() -> Value {
    json!({ "$ref": format!("#/webhooks/{NAME}") })
}

/// Returns the Path Item Object of the webhook.
pub fn job_ended() -> Value {
    let attempts = RETRY_AFTER.len();
    let missing = LOST_AFTER.0 / 60_000;
    json!({ "post": {
        "operationId": "webhooks.agentJobEnded",
        "tags": ["agentJobs"],
        "summary": "Announces the end of an agent job.",
        "description": format!("The gateway sends it to the `Webhook-Url` of the job, or to the \
            operator's `WEBHOOK_URL`, as specified by Standard Webhooks. It does not follow \
            redirects. Without a 2xx response within 20 seconds, it tries again: {attempts} \
            times in total over about three days. Each receiver has its own keys, by address and \
            project. `npm run webhook-key` prints them. `agent_job.unfinished`: the job has not \
            ended while the gateway polled it. `agent_job.not_found`: Mintlify has responded \
            with 404 for {missing} minutes. Nothing follows these two events, unless a follow-up \
            restarts the job. `data` has the last known state of the job."),
        "security": [],
        "parameters": parameters(),
        "requestBody": { "required": true, "content": { JSON: { "schema": body() } } },
        "responses": {
            "2XX": { "description": "Delivered." },
            "410": { "description": "Rejected. The gateway does not try again." },
            "default": { "description": "Not delivered. The gateway tries again later." },
        },
    } })
}

fn parameters() -> Value {
    let field = |name: &str, doc: &str, pattern: &str| {
        json!({
            "name": name,
            "in": "header",
            "required": true,
            "description": doc,
            "schema": { "type": "string", "pattern": pattern },
        })
    };
    json!([
        field(
            "webhook-id",
            "The id of the event, equal in every attempt.",
            "^msg_[0-9a-f]{32}$"
        ),
        field(
            "webhook-timestamp",
            "The time of sending, in seconds since 1970.",
            "^[0-9]+$"
        ),
        field(
            "webhook-signature",
            "HMAC-SHA-256 of `id.timestamp.body` with the receiver's key, in base64. One \
                signature for each of the gateway's secrets, separated by spaces.",
            "^v1,[A-Za-z0-9+/]{43}=(?: v1,[A-Za-z0-9+/]{43}=)*$",
        ),
    ])
}

fn body() -> Value {
    let types = JobEnd::ALL.map(|end| format!("agent_job.{}", end.as_str()));
    json!({
        "type": "object",
        "required": ["type", "timestamp", "project", "webhookUrl", "data"],
        "properties": {
            "type": { "enum": types },
            "timestamp": { "type": "string", "format": "date-time" },
            "project": {
                "description": "The project of the job. A receiver of several projects has a key \
                    for each.",
                "type": "string",
            },
            "webhookUrl": {
                "description": "The URL of this receiver, with scheme and host in lower case. \
                    Reject a webhook with another URL.",
                "type": "string",
            },
            "data": schemas::of(&AgentJob::JSON_TYPE),
        },
        "additionalProperties": false,
    })
}
