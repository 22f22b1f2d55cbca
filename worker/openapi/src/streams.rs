//! Describes the events in the streams of one job and of the job list.

use quillgate::Operation;
use quillgate_worker::jobs::resource::Resource;
use serde_json::{Value, json};

use super::fields::Fields;
use super::{EVENT_STREAM, JSON, schema};

/// The header fields that only event streams have.
pub const HEADERS: [&str; 1] = ["X-Accel-Buffering"];

/// Describes the stream of one job or deployment.
pub fn events(operation: Operation, fields: &Fields) -> Value {
    let (result, name) = (operation.result(), Resource::of(operation).as_str());
    let end = json!({
        "type": "object",
        "required": ["reason", "detail"],
        "properties": {
            "reason": { "const": "poll-limit" },
            "detail": { "type": "string" },
        },
    });
    stream(
        fields,
        "The changes after `Last-Event-ID`, or the current state and the changes after it.",
        &[
            numbered(event(name, &schema(result.name()))),
            event("end", &end),
        ],
        match Resource::of(operation) {
            Resource::Job => "id: 1\nevent: job\ndata: {\"id\":\"job-1\",\"status\":\"active\"}",
            Resource::Deployment => {
                "id: 1\nevent: deployment\ndata: {\"_id\":\"d-1\",\"status\":\"queued\"}"
            }
        },
    )
}

/// Describes the stream of the list of jobs or deployments.
pub fn list_events(operation: Operation, fields: &Fields) -> Value {
    let (result, name) = (operation.result(), Resource::of(operation).as_str());
    let deleted = json!({
        "type": "object",
        "required": ["id"],
        "properties": { "id": { "type": "string" } },
    });
    stream(
        fields,
        "The changes after `Last-Event-ID`, or the latest states and the changes after them.",
        &[
            numbered(event(name, &schema(result.name()))),
            numbered(event("deleted", &deleted)),
            numbered(event("reset", &json!({ "type": "object" }))),
        ],
        r#"id: 8
event: deleted
data: {"id":"job-1"}"#,
    )
}

/// Returns the schema of a server-sent event named `name`. `data` is the schema of its JSON data.
fn event(name: &str, data: &Value) -> Value {
    json!({
        "required": ["event", "data"],
        "properties": {
            "event": { "const": name },
            "data": { "type": "string", "contentMediaType": JSON, "contentSchema": data },
        },
        "additionalProperties": false,
    })
}

/// Adds a required `id`, a positive integer, to the schema of an event.
fn numbered(mut event: Value) -> Value {
    event["required"] = json!(["id", "event", "data"]);
    event["properties"]["id"] = json!({ "type": "string", "pattern": "^[1-9][0-9]*$" });
    event
}

fn stream(fields: &Fields, doc: &str, events: &[Value], example: &str) -> Value {
    json!({
        "description": doc,
        "headers": fields.describe(),
        "content": { EVENT_STREAM: {
            "schema": {
                "type": "object",
                "description": "The fields of one event.",
                "oneOf": events,
            },
            "example": format!("retry: 3000\n\n{example}\n\n"),
        } },
    })
}
