//! Generates the schemas and responses of the gateway's problems (RFC 9457) from [`ProblemKind`].

use std::collections::BTreeSet;

use quillgate::documentation::join_lines;
use quillgate::{RateLimitPolicy, Rule};
use quillgate_worker::http::gateway_rule::GatewayRule;
use quillgate_worker::http::problem::MEDIA_TYPE;
use quillgate_worker::http::problem_kind::ProblemKind;
use serde_json::{Value, json};

use super::{JsonObject, schema};

/// The properties of every problem.
const COMMON_MEMBERS: [&str; 5] = ["type", "title", "status", "detail", "instance"];

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

/// Returns the names of a problem's header fields. Upstream errors with status 429 or 503 have
/// `Retry-After`.
fn headers_of(kind: ProblemKind, status: Option<u16>) -> &'static [&'static str] {
    match (kind.status(), status) {
        (None, Some(429 | 503)) => &["Retry-After"],
        _ => kind.headers(),
    }
}

/// Returns the schema of each kind, by name.
pub fn schemas() -> JsonObject {
    let kinds = ProblemKind::ALL.iter().copied();
    kinds
        .map(|kind| (schema_name(kind), kind_schema(kind)))
        .collect()
}

fn kind_schema(kind: ProblemKind) -> Value {
    let names: Vec<_> = [&COMMON_MEMBERS, kind.members(), kind.optional_members()].concat();
    // Not a constant: a response that an earlier release stored has that release's title.
    let mut own =
        json!({ "type": { "const": kind.type_uri() }, "title": { "examples": [kind.title()] } });
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

/// Returns the `type` of each kind.
pub fn types() -> Vec<String> {
    ProblemKind::ALL
        .iter()
        .map(|kind| kind.type_uri())
        .collect()
}

/// Returns the names of the validation rules: the core's, except those that only apply to clients,
/// then the gateway's.
pub fn rules() -> Vec<&'static str> {
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
    core.map(|rule| rule.name()).chain(own).collect()
}

/// Returns the names of all policies, and of the limits of callers and rules.
pub fn policies() -> Vec<String> {
    let names = |policy: RateLimitPolicy| {
        ["", "-caller", "-rule"].map(|limit| format!("{}{limit}", policy.as_str()))
    };
    RateLimitPolicy::ALL.into_iter().flat_map(names).collect()
}

/// Returns the kinds with these names. The name of a group selects all of its kinds.
fn find(names: &Value, groups: &Value) -> BTreeSet<ProblemKind> {
    let names = names.as_array().into_iter().flatten();
    let kinds = names.filter_map(Value::as_str).flat_map(|name| {
        if let Some(group) = groups.get(name) {
            return find(group, groups);
        }
        let kind = ProblemKind::ALL.iter().find(|kind| kind.as_str() == name);
        BTreeSet::from([*kind.unwrap_or_else(|| panic!("{name} is not a problem"))])
    });
    kinds.collect()
}

/// Returns the responses for the kinds with these names, keyed by status.
///
/// `fields` are the header fields that responses may have after the budget check.
pub fn responses(names: &Value, fields: Option<&JsonObject>, groups: &Value) -> JsonObject {
    let kinds = find(names, groups);
    let after_budget = find(&groups["after-budget"], groups);
    let describe = |kinds: &[ProblemKind], status| {
        let is_late = kinds.iter().any(|kind| after_budget.contains(kind));
        response(kinds, status, fields.filter(|_| is_late))
    };
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
        (status.to_string(), describe(&kinds, Some(status)))
    });
    let ranges = ["4XX", "5XX"].into_iter().filter(|_| asks_upstream);
    let ranges = ranges.map(|range| {
        let response = describe(&[ProblemKind::UpstreamError], None);
        (range.to_owned(), response)
    });
    by_status.chain(ranges).collect()
}

fn response(kinds: &[ProblemKind], status: Option<u16>, fields: Option<&JsonObject>) -> Value {
    let mut headers = fields.cloned().unwrap_or_default();
    for name in kinds.iter().flat_map(|kind| headers_of(*kind, status)) {
        let has = |kind: &ProblemKind| headers_of(*kind, status).contains(name);
        let presence = if kinds.iter().all(has) {
            "always"
        } else {
            "optional"
        };
        headers.insert((*name).to_owned(), presence.into());
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
        "headers": headers,
        "content": { MEDIA_TYPE: { "schema": schema } },
    })
}
