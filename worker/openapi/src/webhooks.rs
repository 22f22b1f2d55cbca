//! Describes the webhooks that the gateway sends when a job or a deployment ends.

use quillgate::schema::HasJsonType as _;
use quillgate::{AgentJob, Deployment, Operation};
use quillgate_worker::jobs::poll::LOST_AFTER;
use quillgate_worker::jobs::webhook::{JobEnd, RETRY_AFTER};
use serde_json::{Value, json};

use super::{JSON, schemas};

/// The name of the webhook at the end of a job.
pub const JOB_ENDED: &str = "agentJobEnded";
/// The name of the webhook at the end of a deployment.
pub const DEPLOYMENT_ENDED: &str = "deploymentEnded";

/// Returns the name of the webhook of what an operation starts.
pub const fn find(operation: Operation) -> Option<&'static str> {
    match operation {
        Operation::CreateAgentJob => Some(JOB_ENDED),
        Operation::CreateDeployment | Operation::CreatePreview => Some(DEPLOYMENT_ENDED),
        _ => None,
    }
}

pub fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/webhooks/{name}") })
}

/// Returns the webhooks: a Path Item Object for each name.
pub fn describe() -> Value {
    let attempts = RETRY_AFTER.len();
    let missing = LOST_AFTER.0 / 60_000;
    let job = format!(
        "The gateway sends it to the `Webhook-Url` of the job, or to the operator's \
        `WEBHOOK_URL`, as specified by Standard Webhooks. It does not follow redirects. Without a \
        2xx response within 20 seconds, it tries again: {attempts} times in total over about \
        three days. Each receiver has its own keys, by address and project. `npm run webhook-key` \
        prints them. `agent_job.unfinished`: the job has not ended while the gateway polled it. \
        `agent_job.not_found`: Mintlify has responded with 404 for {missing} minutes. Nothing \
        follows these two events, unless a follow-up restarts the job. `data` has the last known \
        state of the job."
    );
    let deployment = "Sent like the webhook of a job. `deployment.ended`: the deployment has \
        succeeded or failed, and `isLive` says whether its content is live. \
        `deployment.unfinished` and `deployment.not_found` have the meaning of the events of a \
        job. `data` has the last known state of the deployment.";
    let ends = JobEnd::ALL
        .into_iter()
        .filter(|end| !matches!(end, JobEnd::Success | JobEnd::Failure));
    let job_types: Vec<_> = ends
        .map(|end| format!("agent_job.{}", end.as_str()))
        .collect();
    let deployment_types = [
        "deployment.ended",
        "deployment.unfinished",
        "deployment.not_found",
    ];
    let job_data = schemas::of(&AgentJob::JSON_TYPE);
    let mut deployment_body = body(json!(deployment_types), schemas::of(&Deployment::JSON_TYPE));
    deployment_body["properties"]["isLive"] = json!({
        "description": "Whether the content is live. Only in `deployment.ended`.",
        "type": "boolean",
    });
    json!({
        JOB_ENDED: announce(JOB_ENDED, "agentJobs", "an agent job", &job, &body(json!(job_types), job_data)),
        DEPLOYMENT_ENDED: announce(
            DEPLOYMENT_ENDED,
            "deployments",
            "a deployment",
            deployment,
            &deployment_body,
        ),
    })
}

fn announce(name: &str, tag: &str, what: &str, doc: &str, body: &Value) -> Value {
    json!({ "post": {
        "operationId": format!("webhooks.{name}"),
        "tags": [tag],
        "summary": format!("Announces the end of {what}."),
        "description": doc,
        "security": [],
        "parameters": parameters(),
        "requestBody": { "required": true, "content": { JSON: { "schema": body } } },
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

fn body(types: Value, data: Value) -> Value {
    json!({
        "type": "object",
        "required": ["type", "timestamp", "project", "webhookUrl", "data"],
        "properties": {
            "type": { "enum": types },
            "timestamp": { "type": "string", "format": "date-time" },
            "project": {
                "description": "The project. A receiver of several projects has a key \
                    for each.",
                "type": "string",
            },
            "webhookUrl": {
                "description": "The URL of this receiver, with scheme and host in lower case. \
                    Reject a webhook with another URL.",
                "type": "string",
            },
            "data": data,
        },
        "additionalProperties": false,
    })
}
