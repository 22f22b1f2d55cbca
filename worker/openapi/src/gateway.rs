//! Describes operations that only the gateway has: checking its health, unblocking a policy, and
//! reading the `OpenAPI` document. Sessions and pull requests have their own modules.

use quillgate::RateLimitPolicy;
use quillgate_worker::auth::caller::OPERATE;
use quillgate_worker::http::problem_kind::ProblemKind;
use serde_json::{Map, Value, json};

use super::fields::{self, Fields};
use super::problems::{self, ADMISSION, UNAUTHENTICATED};
use super::schemas::path_segment;
use super::{JSON, pull_requests, schema, security, sessions};

/// Returns the paths of the gateway's own operations.
pub fn paths() -> Map<String, Value> {
    let both = |get: Value| json!({ "head": head(&get), "get": get });
    let paths = [
        ("/healthz", both(health())),
        (
            "/healthz/blocks/analytics",
            json!({ "delete": lift_block("gateway.liftAnalyticsBlock", vec![]) }),
        ),
        (
            "/healthz/blocks/create-deployment",
            json!({ "delete": lift_block("gateway.liftDeploymentBlock", vec![]) }),
        ),
        (
            "/healthz/blocks/create-preview",
            json!({ "delete": lift_block("gateway.liftPreviewBlock", vec![]) }),
        ),
        (
            "/healthz/blocks/{policy}",
            json!({ "delete": lift_block("gateway.liftBlock", policy_parameters()) }),
        ),
        ("/openapi.json", both(description())),
        pull_requests::path(),
    ];
    let paths = paths.into_iter().chain(sessions::paths());
    let owned = |(path, item): (&str, Value)| (path.to_owned(), item);
    paths.map(owned).collect()
}

/// Returns the parameters that select a policy and its project.
fn policy_parameters() -> Vec<Value> {
    let blockable = [RateLimitPolicy::CreateJob, RateLimitPolicy::SendMessage];
    vec![
        json!({
            "name": "policy",
            "in": "path",
            "required": true,
            "description": "The policy.",
            "schema": { "enum": blockable.map(RateLimitPolicy::as_str) },
            "example": "create-job",
        }),
        json!({
            "name": "project",
            "in": "query",
            "required": true,
            "description": "The project. The token must list it.",
            "schema": path_segment(),
            "example": "demo-docs",
        }),
    ]
}

fn lift_block(id: &str, mut parameters: Vec<Value>) -> Value {
    parameters.extend(fields::parameter_references(&fields::ALL_REQUESTS));
    let own = [
        ProblemKind::InvalidRequest,
        ProblemKind::ProjectNotAllowed,
        ProblemKind::NotFound,
        ProblemKind::ObjectUnavailable,
    ];
    let mut responses = problems::responses(&[ADMISSION, &own].concat(), &[]);
    responses.insert(
        "204".to_owned(),
        json!({
            "description": "The policy is not blocked.",
            "headers": Fields::common().describe(),
        }),
    );
    json!({
        "operationId": id,
        "tags": ["gateway"],
        "summary": "Lifts the block that a 429 of Mintlify put on a policy.",
        "description": "Without this request, the block ends with Mintlify's `Retry-After`, after \
            one window at most, or when one of the occasional trial requests succeeds.",
        "security": security(OPERATE),
        "parameters": parameters,
        "responses": responses,
    })
}

/// Returns the operation id of the `HEAD` variant of an operation.
pub fn head_id(id: &str) -> String {
    format!("{id}Head")
}

/// Returns the `HEAD` variant of a `GET` operation: its responses have no content (RFC 9110,
/// section 9.3.2).
pub fn head(get: &Value) -> Value {
    let mut head = get.clone();
    if let Some(id) = get["operationId"].as_str() {
        head["operationId"] = head_id(id).into();
    }
    for response in head["responses"]
        .as_object_mut()
        .into_iter()
        .flat_map(Map::values_mut)
    {
        if let Some(response) = response.as_object_mut() {
            response.remove("content");
        }
    }
    head
}

fn health() -> Value {
    let mut parameters = vec![
        json!({
            "name": "deep",
            "in": "query",
            "description": "With any value, includes the state of the gateway and of Mintlify.",
            "schema": { "type": "string" },
            "allowEmptyValue": true,
            "example": "1",
        }),
        json!({
            "name": "project",
            "in": "query",
            "description": "Like `deep`, with the project's budgets. The token must list the \
                project.",
            "schema": path_segment(),
            "example": "demo-docs",
        }),
    ];
    parameters.extend(fields::parameter_references(&fields::ALL_REQUESTS));
    let own = [ProblemKind::InvalidRequest, ProblemKind::ProjectNotAllowed];
    let mut responses = problems::responses(&[ADMISSION, &own].concat(), &[]);
    responses.insert(
        "200".to_owned(),
        json!({
            "description": "The Worker is running.",
            "headers": Fields::common().describe(),
            "content": { JSON: { "schema": { "oneOf": [schema("Liveness"), schema("Health")] } } },
        }),
    );
    let mut operators = security(OPERATE);
    if let Some(schemes) = operators.as_array_mut() {
        schemes.insert(0, json!({}));
    }
    json!({
        "operationId": "gateway.health",
        "tags": ["gateway"],
        "summary": "Reports that the Worker is running. Sends no request to Mintlify.",
        "description": format!("Needs no access token. `deep` needs one with the scope \
            `{OPERATE}`. Other parameters are ignored."),
        "security": operators,
        "parameters": parameters,
        "responses": responses,
    })
}

fn description() -> Value {
    let mut responses = problems::responses(UNAUTHENTICATED, &[]);
    responses.insert(
        "200".to_owned(),
        json!({
            "description": "The document.",
            "headers": Fields::common().describe(),
            "content": { JSON: { "schema": {
                "type": "object",
                "required": ["openapi", "info", "paths"],
                "properties": { "openapi": { "const": "3.1.0" } },
            } } },
        }),
    );
    json!({
        "operationId": "gateway.description",
        "tags": ["gateway"],
        "summary": "Returns this document.",
        "security": [],
        "parameters": fields::parameter_references(&fields::ALL_REQUESTS),
        "responses": responses,
    })
}

/// Returns the schemas of health responses for `components.schemas`.
pub fn schemas() -> Map<String, Value> {
    let schemas = [
        ("Liveness", liveness()),
        ("Health", deep_health()),
        ("ProjectHealth", project_health()),
        ("Budget", budget()),
    ];
    schemas
        .into_iter()
        .map(|(name, schema)| (name.to_owned(), schema))
        .collect()
}

fn liveness() -> Value {
    json!({
        "type": "object",
        "required": ["status"],
        "properties": { "status": { "const": "ok" } },
        "additionalProperties": false,
    })
}

fn deep_health() -> Value {
    json!({
        "type": "object",
        "required": ["status", "organization", "trustedIssuers"],
        "properties": {
            "status": {
                "description": "`degraded`: Mintlify keeps failing, so the gateway temporarily \
                    sends no requests.",
                "enum": ["ok", "degraded"],
            },
            "organization": {
                "type": "object",
                "required": ["breaker", "budgets", "cachedPages"],
                "properties": {
                    "breaker": breaker(),
                    "budgets": budgets(&[
                        RateLimitPolicy::Analytics,
                        RateLimitPolicy::CreateDeployment,
                        RateLimitPolicy::CreatePreview,
                    ]),
                    "cachedPages": { "type": "integer", "minimum": 0 },
                },
                "additionalProperties": false,
            },
            "project": schema("ProjectHealth"),
            "trustedIssuers": { "type": "array", "items": { "type": "string" } },
        },
        "additionalProperties": false,
    })
}

fn project_health() -> Value {
    json!({
        "type": "object",
        "required": ["breaker", "budgets", "watchers", "webhooksWaiting", "alarms"],
        "properties": {
            "breaker": breaker(),
            "budgets": budgets(&[RateLimitPolicy::CreateJob, RateLimitPolicy::SendMessage]),
            "watchers": { "type": "integer", "minimum": 0 },
            "webhooksWaiting": { "type": "integer", "minimum": 0 },
            "alarms": {
                "description": "The number of alarms since the project's object started.",
                "type": "integer",
                "minimum": 0,
            },
        },
        "additionalProperties": false,
    })
}

fn breaker() -> Value {
    json!({ "enum": ["closed", "open"] })
}

fn budgets(policies: &[RateLimitPolicy]) -> Value {
    let names: Vec<_> = policies.iter().map(|policy| policy.as_str()).collect();
    let budgets = names
        .iter()
        .map(|name| ((*name).to_owned(), schema("Budget")));
    json!({
        "type": "object",
        "required": names,
        "properties": budgets.collect::<Map<_, _>>(),
        "additionalProperties": false,
    })
}

fn budget() -> Value {
    json!({
        "type": "object",
        "required": ["limit", "left", "blockedUntil"],
        "properties": {
            "limit": { "type": "integer", "minimum": 1 },
            "left": { "type": "integer", "minimum": 0 },
            "blockedUntil": {
                "description": "The time at which Mintlify accepts requests again, in \
                    milliseconds since 1970.",
                "type": ["integer", "null"],
            },
        },
        "additionalProperties": false,
    })
}
