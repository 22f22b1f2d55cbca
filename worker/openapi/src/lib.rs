//! Generates the gateway's `OpenAPI` 3.1 description. The description is derived from the tables
//! that the gateway itself uses. They contain the operations (with parameters, scopes and results),
//! the problems, and the core's types.
//!
//! This module and its submodules add the parts that no table contains: the header fields of
//! requests and responses, and the problems of each operation. Request schemas are as strict as the
//! gateway's validation, as far as a schema can express the rules; `patterns` documents exceptions.
//! Schemas of the core's types allow additional properties, because Mintlify may add some.

mod details;
mod exports;
mod fields;
mod gateway;
mod links;
mod operations;
mod patterns;
mod problems;
mod pull_requests;
mod schemas;
mod sessions;
mod streams;
#[cfg(test)]
mod tests;
mod webhooks;

pub use problems::uri as problem_uri;
use quillgate::{Method, Operation, Scope};

use serde_json::{Map, Value, json};

/// The media type of a problem (RFC 9457).
const PROBLEM: &str = quillgate_worker::http::problem::MEDIA_TYPE;
const JSON: &str = "application/json";
const EVENT_STREAM: &str = "text/event-stream";
const CSV: &str = "text/csv";
const NDJSON: &str = "application/x-ndjson";

const ABOUT: &str = "\
An edge gateway in front of Mintlify's admin API. It holds the admin key, accepts scoped access \
tokens, enforces Mintlify's hourly limits, and sends each write at most once.

Every response has `X-Request-Id`, `X-Content-Type-Options: nosniff` and `Vary: Origin`. It also has \
`Cache-Control: no-store`, unless stated otherwise. Every error is a problem (RFC 9457) of a type listed \
under `Problem`. Pages of origins in `ALLOWED_ORIGINS` receive the CORS header fields. Pages of other \
origins receive 403. Each path of the API responds to `OPTIONS` with 204 and `Allow`. Unknown and \
repeated query parameters are rejected.";

/// Returns the whole document.
#[must_use]
pub fn description() -> Value {
    let paths = paths();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Quillgate",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "An edge gateway to Mintlify's admin API",
            "description": ABOUT,
            "license": { "name": "MIT", "identifier": "MIT" },
        },
        "servers": [{ "url": "/", "description": "The gateway that serves this document" }],
        "tags": [
            { "name": "agentJobs", "description": "Background jobs of the documentation agent" },
            { "name": "analytics", "description": "Page views, visitors, searches, feedback and \
                conversations" },
            { "name": "deployments", "description": "Deployments of the site" },
            { "name": "previews", "description": "Previews of branches" },
            { "name": "automations", "description": "Runs of scheduled automations" },
            { "name": "gateway", "description": "The gateway itself" },
        ],
        "paths": paths,
        "webhooks": webhooks::describe(),
        "components": {
            "schemas": components(),
            "parameters": fields::parameters(),
            "headers": fields::headers(&paths),
            "securitySchemes": security_schemes(),
        },
    })
}

/// Returns the Paths Object: the declared operations and the gateway's own.
fn paths() -> Map<String, Value> {
    let mut paths = gateway::paths();
    for operation in Operation::ALL.iter().copied() {
        let declared = operation.declaration();
        let item = paths.entry(declared.path).or_insert_with(|| json!({}));
        let method = declared.method.as_str().to_ascii_lowercase();
        item[method] = operations::describe(operation);
        if declared.method == Method::Get {
            item["head"] = gateway::head(&item["get"]);
        }
    }
    paths
}

fn components() -> Map<String, Value> {
    let mut components = schemas::named();
    components.extend(problems::schemas());
    components.extend(gateway::schemas());
    let sessions = sessions::schemas().into_iter();
    let own = sessions.chain([pull_requests::schema_of_status()]);
    components.extend(own.map(|(name, schema)| (name.to_owned(), schema)));
    components
}

fn security_schemes() -> Value {
    let (name, session) = sessions::security_scheme();
    json!({
        name: session,
        "accessToken": {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "JWT",
            "description": format!("An access token of the gateway (HS256) or of an issuer in \
                `TRUSTED_ISSUERS` (RS256, ES256). It lists its projects and scopes. The scopes \
                are {}.", list_scopes()),
        },
        "cloudflareAccess": {
            "type": "apiKey",
            "in": "header",
            "name": "Cf-Access-Jwt-Assertion",
            "description": "The token that Cloudflare Access adds, if `TRUSTED_ISSUERS` includes \
                Cloudflare Access. Ignored if the request has `Authorization`.",
        },
    })
}

fn list_scopes() -> String {
    let scopes = Scope::ALL.map(|scope| format!("`{}`", scope.as_str()));
    scopes.join(", ")
}

/// Returns the Security Requirement Objects: an access token, a Cloudflare Access token or a
/// session, each with this scope.
fn security(scope: &str) -> Value {
    json!([
        { "accessToken": [scope] },
        { "cloudflareAccess": [scope] },
        { sessions::SCHEME: [scope] },
    ])
}

/// Returns a Reference Object for a component.
fn reference(section: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{section}/{name}") })
}

fn schema(name: &str) -> Value {
    reference("schemas", name)
}
