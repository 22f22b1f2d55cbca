//! The webhook that the gateway sends when a job ends.

use quillgate::AgentJob;
use quillgate::schema::Described as _;
use quillgate_worker::jobs::poll::LOST_AFTER;
use quillgate_worker::jobs::webhook::{JobEnd, RETRY_AFTER};
use serde_json::{Value, json};

use super::{JSON, schemas};

/// The webhook's name in the document.
pub const NAME: &str = "agentJobEnded";

/// Returns a reference to the webhook.
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
        "summary": "Announces that an agent job has ended.",
        "description": format!("Sent to the `Webhook-Url` of the job's creation, or to the operator's \
            `WEBHOOK_URL`, as Standard Webhooks specifies. Redirects are not followed. What is not answered \
            with a 2xx within 20 seconds is sent again, {attempts} times in all over about three days. Each \
            receiver has keys of its own, by its address and the project: `npm run webhook-key` prints them. \
            `agent_job.unfinished` says that the job has not ended in the time for which the gateway asks \
            for it, and `agent_job.not_found` that the upstream has answered 404 for {missing} minutes. Then \
            nothing more follows, unless a follow-up sets the job to work again; `data` is the job as it was last seen."),
        "security": [],
        "parameters": parameters(),
        "requestBody": { "required": true, "content": { JSON: { "schema": body() } } },
        "responses": {
            "2XX": { "description": "It has arrived." },
            "410": { "description": "It is not wanted and is not sent again." },
            "default": { "description": "It has not arrived and is sent again later." },
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
            "The event's id, the same in every attempt.",
            "^msg_[0-9a-f]{32}$"
        ),
        field(
            "webhook-timestamp",
            "When it was sent, in seconds since 1970.",
            "^[0-9]+$"
        ),
        field(
            "webhook-signature",
            "HMAC-SHA-256 over `id.timestamp.body` in base64 with the receiver's own key, one for each of \
             the gateway's secrets, separated by spaces.",
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
                "description": "The project of the job. A receiver of several has a key for each.",
                "type": "string",
            },
            "webhookUrl": {
                "description": "The address that it was sent to, with scheme and host in lower case. What \
                    names another one is not meant for this receiver.",
                "type": "string",
            },
            "data": schemas::of(&AgentJob::KIND),
        },
        "additionalProperties": false,
    })
}
