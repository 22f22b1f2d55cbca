//! Describes the gateway's problems (RFC 9457). Their schemas and responses are generated from
//! [`ProblemKind`].

use std::collections::BTreeSet;

use quillgate::RateLimitPolicy;
use quillgate::Rule;
use quillgate_worker::http::gateway_rule::GatewayRule;
use quillgate_worker::http::problem_kind::ProblemKind;
use serde_json::{Map, Value, json};

use super::fields::Fields;
use super::{PROBLEM, patterns, schema};
use quillgate::documentation::join_lines;

/// The properties of every problem.
const COMMON_MEMBERS: [&str; 5] = ["type", "title", "status", "detail", "instance"];

/// The problems that every operation with credentials can cause.
pub const ADMISSION: &[ProblemKind] = &[
    ProblemKind::MissingToken,
    ProblemKind::InvalidToken,
    ProblemKind::SessionEnded,
    ProblemKind::InsufficientScope,
    ProblemKind::IdentityNotMapped,
    ProblemKind::OriginNotAllowed,
    ProblemKind::CrossSite,
    ProblemKind::MethodNotAllowed,
    ProblemKind::Misconfigured,
    ProblemKind::Internal,
    ProblemKind::IssuerUnavailable,
];
/// The problems of requests with parameters and a project.
pub const PROJECT: &[ProblemKind] = &[
    ProblemKind::InvalidRequest,
    ProblemKind::ProjectNotAllowed,
    ProblemKind::NotFound,
    ProblemKind::ObjectUnavailable,
];
/// The problems of writes: the body and idempotency keys.
pub const WRITING: &[ProblemKind] = &[
    ProblemKind::ContentTooLarge,
    ProblemKind::UnsupportedMediaType,
    ProblemKind::IdempotencyKeyInUse,
    ProblemKind::OutcomeUnknown,
    ProblemKind::RecordDeleted,
    ProblemKind::IdempotencyKeyReused,
];
/// The problems that the body of a request can cause.
pub const BODY: &[ProblemKind] = &[
    ProblemKind::ContentTooLarge,
    ProblemKind::UnsupportedMediaType,
];
/// The problems that only requests to the daily archive can cause.
pub const ARCHIVE: &[ProblemKind] = &[ProblemKind::ArchiveNotConfigured];
/// The problems of operations that have a budget.
pub const BUDGET: &[ProblemKind] = &[ProblemKind::QuotaExceeded];
/// The problems of event streams and long polls. The gateway limits the number of open streams.
pub const STREAM: &[ProblemKind] = &[ProblemKind::TooManyStreams];
/// The problem in the last record of an export with mixed pages.
pub const EXPORT: &[ProblemKind] = &[ProblemKind::CountsChanged];
/// The problems of reading or deleting a job's record.
pub const RECORD: &[ProblemKind] = &[ProblemKind::JobNotRecorded];
/// The problems of reading or deleting a deployment.
pub const DEPLOYMENT: &[ProblemKind] = &[ProblemKind::DeploymentNotFound];
/// The problems of a request to Mintlify.
pub const UPSTREAM: &[ProblemKind] = &[
    ProblemKind::UpstreamError,
    ProblemKind::UpstreamMalformed,
    ProblemKind::UpstreamRedirect,
    ProblemKind::UpstreamCredential,
    ProblemKind::UpstreamPlan,
    ProblemKind::UpstreamProject,
    ProblemKind::UpstreamBlocked,
    ProblemKind::UpstreamUnreachable,
    ProblemKind::UpstreamUnavailable,
    ProblemKind::GatewayBusy,
    ProblemKind::UpstreamTimeout,
];
/// The problems of operations that need no access token.
pub const UNAUTHENTICATED: &[ProblemKind] = &[
    ProblemKind::OriginNotAllowed,
    ProblemKind::CrossSite,
    ProblemKind::MethodNotAllowed,
    ProblemKind::Misconfigured,
    ProblemKind::Internal,
];

/// Returns the schema name of a kind. For example, `quota-exceeded` becomes `QuotaExceeded`.
pub fn schema_name(kind: ProblemKind) -> String {
    let mut name = String::new();
    for word in kind.as_str().split('-') {
        let (first, rest) = word.split_at(1);
        name.push_str(&first.to_ascii_uppercase());
        name.push_str(rest);
    }
    name
}

/// Returns the `type` of a kind.
#[must_use]
pub fn uri(kind: ProblemKind) -> String {
    format!("/problems/{}", kind.as_str())
}

/// Returns the names of a problem's header fields. Upstream errors with status 429 or 503 have
/// `Retry-After`.
fn headers(kind: ProblemKind, status: Option<u16>) -> &'static [&'static str] {
    match (kind.status(), status) {
        (None, Some(429 | 503)) => &["Retry-After"],
        _ => kind.headers(),
    }
}

/// Returns the schemas for `components.schemas`: `Problem`, and one for each kind.
pub fn schemas() -> Map<String, Value> {
    let kinds = ProblemKind::ALL.iter().copied();
    let kinds = kinds.map(|kind| (schema_name(kind), kind_schema(kind)));
    std::iter::once(("Problem".to_owned(), common_schema()))
        .chain(kinds)
        .collect()
}

fn kind_schema(kind: ProblemKind) -> Value {
    let names: Vec<_> = [&COMMON_MEMBERS, kind.members(), kind.optional_members()].concat();
    // Not a constant: a response that an earlier release stored has that release's title.
    let mut own =
        json!({ "type": { "const": uri(kind) }, "title": { "examples": [kind.title()] } });
    if let Some(status) = kind.status() {
        own["status"] = json!({ "const": status });
    }
    let mut described = json!({
        "description": join_lines(kind.documentation()),
        "allOf": [schema("Problem")],
        "properties": own,
        "propertyNames": { "enum": names },
    });
    if !kind.members().is_empty() {
        described["required"] = json!(kind.members());
    }
    described
}

fn common_schema() -> Value {
    let uris = ProblemKind::ALL.iter().copied().map(uri);
    json!({
        "type": "object",
        "description": "An error (RFC 9457).",
        "required": COMMON_MEMBERS,
        "properties": {
            "type": {
                "type": "string",
                "format": "uri-reference",
                "description": "The stable kind of the problem, for programs. The gateway serves a page \
                    about the kind at this path.",
                "enum": uris.collect::<Vec<_>>(),
            },
            "title": {
                "type": "string",
                "minLength": 1,
                "description": "A short summary of the kind, for people. It can change between \
                    releases.",
            },
            "status": {
                "type": "integer",
                "minimum": 400,
                "maximum": 599,
                "description": "The HTTP status.",
            },
            "detail": {
                "type": "string",
                "minLength": 1,
                "description": "The details of this occurrence, for people. Never contains a \
                    credential or a prompt.",
            },
            "instance": {
                "type": "string",
                "pattern": patterns::REQUEST_ID,
                "description": "The id of the request. A replayed response has the id of the \
                    original request.",
            },
            "errors": { "type": "array", "minItems": 1, "items": broken_rule() },
            "upstream": upstream(),
            "details": {
                "type": "array",
                "minItems": 1,
                "description": "Further messages of Mintlify, in its own format.",
                "items": {
                    "type": "object",
                    "required": ["message"],
                    "properties": { "message": { "type": "string" } },
                    "additionalProperties": false,
                },
            },
            "outcome": {
                "const": "unknown",
                "description": "It is unknown whether the write took effect.",
            },
            "violated-policies": {
                "type": "array",
                "minItems": 1,
                "uniqueItems": true,
                "description": "The exceeded budgets, as in `RateLimit-Policy`. Names that end \
                    in `-caller` are quotas of the access token. Names that end in `-rule` are \
                    limits that all callers of a rule in `TRUSTED_ISSUERS` share.",
                "items": { "enum": policies() },
            },
            "variable": {
                "type": "string",
                "pattern": "^[A-Z][A-Z_]*$",
                "description": "The variable with the invalid value, or the missing binding.",
            },
        },
        "additionalProperties": false,
    })
}

fn broken_rule() -> Value {
    json!({
        "type": "object",
        "required": ["field", "rule", "detail"],
        "properties": {
            "field": {
                "type": "string",
                "description": "The parameter, property or header field, or `body`.",
            },
            "rule": {
                "type": "string",
                "description": "The stable name of the violated rule, for programs.",
                "enum": rules().collect::<Vec<_>>(),
            },
            "detail": { "type": "string", "minLength": 1, "description": "The rule in words." },
        },
        "additionalProperties": false,
    })
}

/// Returns the names of the validation rules: the core's, except those that only apply to clients,
/// then the gateway's.
fn rules() -> impl Iterator<Item = &'static str> {
    const CLIENT_ONLY: [Rule; 7] = [
        Rule::BaseUrl,
        Rule::SecureBaseUrl,
        Rule::AdminKey,
        Rule::MILLISECONDS,
        Rule::RETRY_COUNT,
        Rule::Credential,
        Rule::GatewayOnly,
    ];
    let core = Rule::ALL.iter().filter(|rule| !CLIENT_ONLY.contains(rule));
    let own = GatewayRule::ALL.into_iter().map(GatewayRule::as_str);
    core.map(|rule| rule.name()).chain(own)
}

fn upstream() -> Value {
    json!({
        "type": "object",
        "required": ["status", "error", "details"],
        "description": "The error of Mintlify.",
        "properties": {
            "status": { "type": "integer", "minimum": 400, "maximum": 999 },
            "error": { "type": "string" },
            "details": { "type": "array", "items": { "type": "string" } },
        },
        "additionalProperties": false,
    })
}

fn policies() -> Vec<String> {
    let names = |policy: RateLimitPolicy| {
        ["", "-caller", "-rule"].map(|limit| format!("{}{limit}", policy.as_str()))
    };
    RateLimitPolicy::ALL.into_iter().flat_map(names).collect()
}

/// Returns the responses for these kinds, keyed by status.
///
/// `may_have` lists the header fields that responses may have after the gateway has checked the
/// budget or called Mintlify.
pub fn responses(kinds: &[ProblemKind], may_have: &[&'static str]) -> Map<String, Value> {
    let mut kinds = kinds.to_vec();
    kinds.sort_unstable();
    let asks_upstream = kinds.contains(&ProblemKind::UpstreamError);
    let mut statuses: BTreeSet<_> = kinds.iter().filter_map(|kind| kind.status()).collect();
    if asks_upstream {
        statuses.insert(429);
    }
    let by_status = statuses.into_iter().map(|status| {
        let occurs = |kind: &ProblemKind| match kind.status() {
            Some(own) => own == status,
            // Mintlify's 401 and 403 concern the gateway, so callers receive 502 instead.
            None => !matches!(status, 401 | 403),
        };
        let kinds: Vec<_> = kinds.iter().copied().filter(occurs).collect();
        (status.to_string(), response(&kinds, Some(status), may_have))
    });
    let ranges = ["4XX", "5XX"].into_iter().filter(|_| asks_upstream);
    let ranges = ranges.map(|range| {
        let response = response(&[ProblemKind::UpstreamError], None, may_have);
        (range.to_owned(), response)
    });
    by_status.chain(ranges).collect()
}

fn response(kinds: &[ProblemKind], status: Option<u16>, may_have: &[&'static str]) -> Value {
    let mut fields = Fields::common();
    for name in kinds.iter().flat_map(|kind| headers(*kind, status)) {
        let has = |kind: &ProblemKind| headers(*kind, status).contains(name);
        fields = if kinds.iter().all(has) {
            fields.with(&[name])
        } else {
            fields.with_optional(&[name])
        };
    }
    let defects: &[ProblemKind] = &[ProblemKind::Misconfigured, ProblemKind::Internal];
    let after_budget = [BUDGET, UPSTREAM, RECORD, DEPLOYMENT, defects].concat();
    if kinds.iter().any(|kind| after_budget.contains(kind)) {
        fields = fields.with_optional(may_have);
    }
    let names: Vec<_> = kinds
        .iter()
        .map(|kind| format!("`{}`", kind.as_str()))
        .collect();
    let schemas: Vec<_> = kinds
        .iter()
        .map(|kind| schema(&schema_name(*kind)))
        .collect();
    let schema = match &schemas[..] {
        [only] => only.clone(),
        several => json!({ "oneOf": several }),
    };
    json!({
        "description": format!("A problem: {}.", names.join(" or ")),
        "headers": fields.describe(),
        "content": { PROBLEM: { "schema": schema } },
    })
}
