//! Describes the operation that reads the state of a job's pull request.

use quillgate::Scope;
use serde_json::{Value, json};

use super::details::RATE_LIMIT;
use super::fields::{self, Fields};
use super::problems::{self, ADMISSION, BUDGET, PROJECT, RECORD};
use super::{JSON, gateway, schema, schemas, security};

/// Returns the path with its Path Item Object.
pub fn path() -> (&'static str, Value) {
    let get = read();
    let item = json!({ "head": gateway::head(&get), "get": get });
    ("/v2/agent/{projectId}/job/{id}/pull-request", item)
}

fn read() -> Value {
    let segment = |name: &str, description: &str, example: &str| {
        json!({
            "name": name,
            "in": "path",
            "required": true,
            "description": description,
            "schema": schemas::path_segment(),
            "example": example,
        })
    };
    let mut parameters = vec![
        segment("projectId", "The project's identifier.", "demo-docs"),
        segment("id", "The job's identifier.", "job_01"),
    ];
    parameters.extend(fields::parameter_references(&fields::ALL_REQUESTS));
    let kinds = [ADMISSION, PROJECT, BUDGET, RECORD].concat();
    let mut responses = problems::responses(&kinds, &RATE_LIMIT);
    responses.insert(
        "200".to_owned(),
        json!({
            "description": "The state, or `unknown`.",
            "headers": Fields::common().with_optional(&RATE_LIMIT).describe(),
            "content": { JSON: { "schema": schema("PullRequestStatus") } },
        }),
    );
    json!({
        "operationId": "gateway.pullRequest",
        "tags": ["gateway"],
        "summary": "Returns the state of a job's pull request on GitHub.",
        "description": "For jobs that the gateway knows. The state is `unknown` if the gateway \
            does not ask GitHub (`PULL_REQUEST_STATES`), if the job has no pull request on \
            github.com, and if GitHub does not return it. The gateway caches the state of an \
            open pull request for a minute. Sends no request to Mintlify. Counts as a read of \
            jobs.",
        "security": security(Scope::ReadJobs.as_str()),
        "parameters": parameters,
        "responses": responses,
    })
}

/// Returns the name and the schema of the response.
pub fn schema_of_status() -> (&'static str, Value) {
    let status = json!({
        "type": "object",
        "description": "The state of a pull request.",
        "required": ["state", "isDraft", "mergedAt"],
        "properties": {
            "state": { "enum": ["open", "merged", "closed", "unknown"] },
            "isDraft": {
                "type": "boolean",
                "description": "Whether an open pull request is a draft.",
            },
            "mergedAt": {
                "description": "When the pull request was merged. `null` if it was not merged, \
                    or at an unknown time.",
                "type": ["string", "null"],
                "format": "date-time",
            },
        },
        "additionalProperties": false,
    });
    ("PullRequestStatus", status)
}
