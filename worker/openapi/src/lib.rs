//! Generates the gateway's `OpenAPI` 3.1 description. It is derived from the tables that the
//! gateway itself uses: operations with their parameters, scopes and results, problems, and the
//! core's types.
//!
//! This module and its submodules add what no table contains: the header fields of requests and
//! responses, and the problems of each operation. Requests are described as strictly as they are
//! validated: the gateway accepts exactly the requests that match the document. Schemas of 2xx
//! responses allow additional properties, because the upstream may add some.

mod fields;
mod gateway;
mod links;
mod operations;
mod patterns;
mod problems;
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
An edge gateway in front of a documentation platform's admin API. It holds the admin key, takes \
callers' own tokens, keeps the platform's hourly limits, and carries a request out at most once.

Every answer carries `X-Request-Id`, `X-Content-Type-Options: nosniff`, `Vary: Origin` and, unless \
something else is said, `Cache-Control: no-store`. Every answer that is not a success is a problem \
(RFC 9457) of one of the types listed under `Problem`. A page of an origin in `ALLOWED_ORIGINS` is \
answered with the header fields that CORS asks for, a page of another origin with 403. Each path of the \
API answers `OPTIONS` with 204 and `Allow`. A parameter of the query that is not listed, or stands \
twice, is refused.";

/// Returns the whole document.
#[must_use]
pub fn description() -> Value {
    let paths = paths();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Quillgate",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "An edge gateway to a documentation platform's admin API",
            "description": ABOUT,
            "license": { "name": "MIT", "identifier": "MIT" },
        },
        "servers": [{ "url": "/", "description": "The gateway that this document comes from" }],
        "tags": [
            { "name": "agentJobs", "description": "Background jobs of the documentation agent" },
            { "name": "analytics", "description": "Who reads the documentation, what they search for and what they say" },
            { "name": "gateway", "description": "The gateway itself" },
        ],
        "paths": paths,
        "webhooks": { webhooks::NAME: webhooks::job_ended() },
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
    components.extend(sessions.map(|(name, schema)| (name.to_owned(), schema)));
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
            "description": format!("An access token: one of the gateway's own (HS256), or one of an \
                issuer in `TRUSTED_ISSUERS` (RS256, ES256). It names the projects that it is for; the \
                scopes are {}.", list_scopes()),
        },
        "cloudflareAccess": {
            "type": "apiKey",
            "in": "header",
            "name": "Cf-Access-Jwt-Assertion",
            "description": "The token that Cloudflare Access adds, of an issuer in `TRUSTED_ISSUERS` \
                that says so. It counts only without `Authorization`.",
        },
    })
}

fn list_scopes() -> String {
    let scopes = Scope::ALL.map(|scope| format!("`{}`", scope.as_str()));
    scopes.join(", ")
}

/// Returns security requirements: either credential, with this scope.
fn security(scope: &str) -> Value {
    json!([{ "accessToken": [scope] }, { "cloudflareAccess": [scope] }])
}

/// Returns a Reference Object for a component.
fn reference(section: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{section}/{name}") })
}

fn schema(name: &str) -> Value {
    reference("schemas", name)
}
