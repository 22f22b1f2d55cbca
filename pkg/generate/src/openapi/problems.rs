//! The problems that the gateway answers with (RFC 9457), and where they come from.

use std::collections::BTreeSet;

use quillgate::Rule;
use quillgate_worker::access::POLICIES;
use serde_json::{Map, Value, json};

use super::fields::Fields;
use super::{PROBLEM, patterns, schema};

/// The status that a kind of problem comes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Always this one.
    Own(u16),
    /// Whatever the upstream has said, from 400 to 599.
    Upstream,
}

/// A kind of problem.
pub struct Problem {
    /// The last segment of `type`.
    pub kind: &'static str,
    /// Its status.
    pub status: Status,
    /// `title`, always in the same words.
    pub title: &'static str,
    /// When it comes.
    pub doc: &'static str,
    /// The members that it has beside those of every problem.
    pub members: &'static [&'static str],
    /// The members that it may have.
    pub may_have: &'static [&'static str],
    /// Header fields that come with it.
    pub fields: &'static [&'static str],
}

const fn problem(
    kind: &'static str,
    status: u16,
    title: &'static str,
    doc: &'static str,
) -> Problem {
    Problem {
        kind,
        status: Status::Own(status),
        title,
        doc,
        members: &[],
        may_have: &[],
        fields: &[],
    }
}

impl Problem {
    const fn with(mut self, members: &'static [&'static str]) -> Self {
        self.members = members;
        self
    }

    /// That it may say that nobody knows whether the request was carried out.
    const fn uncertain(mut self) -> Self {
        self.may_have = &["outcome"];
        self
    }

    const fn fields(mut self, fields: &'static [&'static str]) -> Self {
        self.fields = fields;
        self
    }

    /// The schema's name: `quota-exceeded` → `QuotaExceeded`.
    pub fn name(&self) -> String {
        let mut name = String::new();
        for word in self.kind.split('-') {
            let (first, rest) = word.split_at(1);
            name.push_str(&first.to_ascii_uppercase());
            name.push_str(rest);
        }
        name
    }

    fn own_status(&self) -> Option<u16> {
        match self.status {
            Status::Own(status) => Some(status),
            Status::Upstream => None,
        }
    }

    /// The header fields that come with it in an answer of this status.
    fn fields_with(&self, status: Option<u16>) -> &'static [&'static str] {
        match (self.status, status) {
            (Status::Upstream, Some(429 | 503)) => &["Retry-After"],
            _ => self.fields,
        }
    }

    /// `type`.
    pub fn uri(&self) -> String {
        format!("/problems/{}", self.kind)
    }

    fn schema(&self) -> Value {
        let may_have = self.may_have.iter();
        let names: Vec<_> = OF_EVERY
            .iter()
            .chain(self.members)
            .chain(may_have)
            .collect();
        let mut own = json!({ "type": { "const": self.uri() }, "title": { "const": self.title } });
        if let Status::Own(status) = self.status {
            own["status"] = json!({ "const": status });
        }
        let mut schema = json!({
            "description": self.doc,
            "allOf": [schema("Problem")],
            "properties": own,
            "propertyNames": { "enum": names },
        });
        if !self.members.is_empty() {
            schema["required"] = json!(self.members);
        }
        schema
    }
}

/// The members of every problem.
const OF_EVERY: [&str; 5] = ["type", "title", "status", "detail", "instance"];

/// Every kind of problem, by status.
pub static ALL: [Problem; 29] = [
    problem(
        "invalid-request",
        400,
        "The request is not valid",
        "A value, a header field or the body breaks a rule; `errors` says which.",
    )
    .with(&["errors"]),
    problem("missing-token", 401, "No access token", "There is no access token.")
        .fields(&["WWW-Authenticate"]),
    problem(
        "invalid-token",
        401,
        "Access token not accepted",
        "The access token is not good: expired, revoked, wrongly signed or from somebody else.",
    )
    .fields(&["WWW-Authenticate"]),
    problem(
        "insufficient-scope",
        403,
        "Insufficient scope",
        "The access token lacks the scope that the operation needs.",
    )
    .fields(&["WWW-Authenticate"]),
    problem(
        "identity-not-mapped",
        403,
        "Identity not mapped",
        "The trusted issuer's token is good, and no rule of `TRUSTED_ISSUERS` matches its claims.",
    )
    .fields(&["WWW-Authenticate"]),
    problem(
        "project-not-allowed",
        403,
        "Project not allowed",
        "The access token is not for this project.",
    ),
    problem(
        "origin-not-allowed",
        403,
        "Origin not allowed",
        "The `Origin` is neither the gateway's own nor one of `ALLOWED_ORIGINS`.",
    ),
    problem(
        "turnstile-required",
        403,
        "Turnstile response required",
        "A browser asks without `Cf-Turnstile-Response`; `siteKey` is what its widget needs.",
    )
    .with(&["siteKey"]),
    problem(
        "turnstile-failed",
        403,
        "Turnstile response not accepted",
        "The Turnstile response is not good, or was used before.",
    ),
    problem("not-found", 404, "Not found", "There is no such path; slashes and escapes count."),
    problem(
        "method-not-allowed",
        405,
        "Method not allowed",
        "The path has other methods, which `Allow` lists.",
    )
    .fields(&["Allow"]),
    problem(
        "idempotency-key-in-use",
        409,
        "Idempotency key in use",
        "The first request under this idempotency key is still being carried out.",
    )
    .fields(&["Retry-After"]),
    problem(
        "outcome-unknown",
        409,
        "Outcome unknown",
        "Nobody knows whether the first request under this idempotency key was carried out; \
         `Idempotency-Retry: force` sends it again.",
    )
    .with(&["outcome"]),
    problem(
        "content-too-large",
        413,
        "Content too large",
        "The body is larger than 131072 bytes.",
    ),
    problem(
        "unsupported-media-type",
        415,
        "Unsupported media type",
        "The body is not sent as `application/json`.",
    )
    .fields(&["Accept-Post"]),
    problem(
        "idempotency-key-reused",
        422,
        "Idempotency key reused",
        "The idempotency key was used for another request.",
    ),
    problem(
        "quota-exceeded",
        429,
        "Quota exceeded",
        "The budget that `violated-policies` names is used up, or what is left of it is owed to others; \
         nothing was sent upstream.",
    )
    .with(&["violated-policies"])
    .fields(&["Retry-After", "RateLimit", "RateLimit-Policy"]),
    problem(
        "misconfigured",
        500,
        "The gateway is not set up",
        "The gateway's `variable` is missing or malformed; its value is never said.",
    )
    .with(&["variable"]),
    problem("internal", 500, "The gateway failed", "The gateway itself failed; its log says more."),
    problem(
        "upstream-malformed",
        502,
        "Upstream gave no JSON",
        "The upstream's success broke off, or is not what it promises.",
    )
    .uncertain(),
    problem(
        "upstream-redirect",
        502,
        "Upstream redirected",
        "The upstream answered with a redirect, which is never followed.",
    )
    .uncertain(),
    problem(
        "upstream-credential",
        502,
        "Upstream refused the gateway",
        "The upstream does not accept the gateway's own key.",
    ),
    problem(
        "upstream-unreachable",
        502,
        "Upstream gave no answer",
        "The connection to the upstream failed or broke.",
    )
    .uncertain(),
    problem(
        "upstream-unavailable",
        503,
        "Upstream unavailable",
        "The upstream keeps failing and is left alone for a while; nothing was sent.",
    )
    .fields(&["Retry-After"]),
    problem(
        "turnstile-unavailable",
        503,
        "Turnstile not available",
        "Turnstile responses cannot be checked just now; nothing was sent upstream.",
    )
    .fields(&["Retry-After"]),
    problem(
        "issuer-unavailable",
        503,
        "Issuer not available",
        "The keys of the access token's issuer cannot be fetched just now.",
    )
    .fields(&["Retry-After"]),
    problem(
        "gate-unavailable",
        503,
        "Gateway not available",
        "The gateway cannot reach its own records just now.",
    )
    .uncertain()
    .fields(&["Retry-After"]),
    problem(
        "upstream-timeout",
        504,
        "Upstream gave no answer in time",
        "The upstream did not answer in time.",
    )
    .uncertain(),
    Problem {
        kind: "upstream-error",
        status: Status::Upstream,
        title: "Upstream error",
        doc: "The upstream's own error, with its status and its words.",
        members: &["upstream"],
        may_have: &["details", "outcome"],
        fields: &[],
    },
];

/// What comes of any request, before it is carried out.
pub const ADMISSION: &[&str] = &[
    "missing-token",
    "invalid-token",
    "insufficient-scope",
    "identity-not-mapped",
    "origin-not-allowed",
    "method-not-allowed",
    "misconfigured",
    "internal",
    "issuer-unavailable",
];
/// What comes of one that has values, and a project with its records.
pub const PROJECT: &[&str] = &[
    "invalid-request",
    "project-not-allowed",
    "not-found",
    "gate-unavailable",
];
/// What comes of a body, of doing something at most once, and of asking who sits there.
pub const WRITING: &[&str] = &[
    "content-too-large",
    "unsupported-media-type",
    "idempotency-key-in-use",
    "outcome-unknown",
    "idempotency-key-reused",
    "turnstile-required",
    "turnstile-failed",
    "turnstile-unavailable",
];
/// What comes of a budget.
pub const BUDGET: &[&str] = &["quota-exceeded"];
/// What comes of asking the upstream.
pub const UPSTREAM: &[&str] = &[
    UPSTREAM_ERROR,
    "upstream-malformed",
    "upstream-redirect",
    "upstream-credential",
    "upstream-unreachable",
    "upstream-unavailable",
    "upstream-timeout",
];
/// What comes of a path that needs nothing.
pub const PLAIN: &[&str] = &[
    "origin-not-allowed",
    "method-not-allowed",
    "misconfigured",
    "internal",
];

const UPSTREAM_ERROR: &str = "upstream-error";

/// The rules that the gateway has beside the core's.
const OWN_RULES: [&str; 6] = [
    "json-object",
    "cursor",
    "idempotency-retry",
    "webhook-url",
    "webhooks-off",
    "create-only",
];
/// The core's rules, of which those of a client's own settings are not the gateway's.
fn rules() -> impl Iterator<Item = &'static str> {
    const CLIENT_ONLY: [Rule; 5] = [
        Rule::BaseUrl,
        Rule::AdminKey,
        Rule::Milliseconds,
        Rule::RetryCount,
        Rule::Credential,
    ];
    let core = Rule::ALL
        .into_iter()
        .filter(|rule| !CLIENT_ONLY.contains(rule));
    core.map(Rule::name).chain(OWN_RULES)
}

/// `components.schemas`: what every problem is, and each kind.
pub fn schemas() -> Map<String, Value> {
    let kinds = ALL.iter().map(|problem| (problem.name(), problem.schema()));
    std::iter::once(("Problem".to_owned(), every()))
        .chain(kinds)
        .collect()
}

fn every() -> Value {
    json!({
        "type": "object",
        "description": "An answer that is no success (RFC 9457).",
        "required": OF_EVERY,
        "properties": {
            "type": {
                "type": "string",
                "format": "uri-reference",
                "description": "What kind of problem this is: for programs, and stable.",
                "enum": ALL.iter().map(Problem::uri).collect::<Vec<_>>(),
            },
            "title": { "type": "string", "description": "The kind in words, always the same." },
            "status": {
                "type": "integer",
                "minimum": 400,
                "maximum": 599,
                "description": "The status of the answer.",
            },
            "detail": {
                "type": "string",
                "minLength": 1,
                "description": "What it is this time, for people; never a credential or a prompt.",
            },
            "instance": {
                "type": "string",
                "pattern": patterns::REQUEST_ID,
                "description": "The id of the request; of a replayed answer, that of the first.",
            },
            "errors": { "type": "array", "minItems": 1, "items": broken_rule() },
            "upstream": upstream(),
            "details": {
                "type": "array",
                "minItems": 1,
                "description": "The upstream's further messages, in its own shape.",
                "items": {
                    "type": "object",
                    "required": ["message"],
                    "properties": { "message": { "type": "string" } },
                    "additionalProperties": false,
                },
            },
            "outcome": {
                "const": "unknown",
                "description": "Nobody knows whether the request, which changes something, was carried \
                    out.",
            },
            "violated-policies": {
                "type": "array",
                "minItems": 1,
                "uniqueItems": true,
                "description": "The budgets that refuse, as in `RateLimit-Policy`; with `-caller` the \
                    access token's own quota.",
                "items": { "enum": policies() },
            },
            "siteKey": { "type": "string", "description": "The public key of the Turnstile widget." },
            "variable": {
                "type": "string",
                "pattern": "^[A-Z][A-Z_]*$",
                "description": "The gateway's variable that is at fault.",
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
                "description": "The parameter, the member, the header field, or `body`.",
            },
            "rule": {
                "type": "string",
                "description": "The rule that it breaks: for programs, and stable.",
                "enum": rules().collect::<Vec<_>>(),
            },
            "detail": { "type": "string", "minLength": 1, "description": "The rule in words." },
        },
        "additionalProperties": false,
    })
}

fn upstream() -> Value {
    json!({
        "type": "object",
        "required": ["status", "error", "details"],
        "description": "What the upstream has said.",
        "properties": {
            "status": { "type": "integer", "minimum": 400, "maximum": 999 },
            "error": { "type": "string" },
            "details": { "type": "array", "items": { "type": "string" } },
        },
        "additionalProperties": false,
    })
}

fn policies() -> Vec<String> {
    let both = |policy: &str| [policy.to_owned(), format!("{policy}-caller")];
    POLICIES.into_iter().flat_map(both).collect()
}

/// The answers that are problems of these kinds, by status. `may_have` are the header fields that
/// an answer may carry once the budget or the upstream has been asked.
pub fn responses(kinds: &[&str], may_have: &[&'static str]) -> Map<String, Value> {
    let known: Vec<_> = ALL
        .iter()
        .filter(|problem| kinds.contains(&problem.kind))
        .collect();
    let asks = kinds.contains(&UPSTREAM_ERROR);
    let mut statuses: BTreeSet<_> = known
        .iter()
        .filter_map(|problem| problem.own_status())
        .collect();
    if asks {
        statuses.insert(429);
    }
    let own = statuses.into_iter().map(|status| {
        let comes = |problem: &&&Problem| match problem.status {
            Status::Own(own) => own == status,
            // To the upstream, 401 and 403 are about the gateway's own key.
            Status::Upstream => !matches!(status, 401 | 403),
        };
        let of_this: Vec<_> = known.iter().filter(comes).copied().collect();
        (
            status.to_string(),
            response(&of_this, Some(status), may_have),
        )
    });
    let ranges = ["4XX", "5XX"].into_iter().filter(|_| asks).map(|range| {
        let of_this: Vec<_> = known
            .iter()
            .filter(|it| it.kind == UPSTREAM_ERROR)
            .copied()
            .collect();
        (range.to_owned(), response(&of_this, None, may_have))
    });
    own.chain(ranges).collect()
}

fn response(problems: &[&Problem], status: Option<u16>, may_have: &[&'static str]) -> Value {
    let has = |name, problem: &&Problem| problem.fields_with(status).contains(name);
    let mut fields = Fields::common();
    for name in problems
        .iter()
        .flat_map(|problem| problem.fields_with(status))
    {
        let all = problems.iter().all(|problem| has(name, problem));
        fields = if all {
            fields.with(&[name])
        } else {
            fields.perhaps(&[name])
        };
    }
    let asked = [BUDGET, UPSTREAM].concat();
    if problems.iter().any(|problem| asked.contains(&problem.kind)) {
        fields = fields.perhaps(may_have);
    }
    let names: Vec<_> = problems
        .iter()
        .map(|problem| format!("`{}`", problem.kind))
        .collect();
    let schemas: Vec<_> = problems
        .iter()
        .map(|problem| schema(&problem.name()))
        .collect();
    let schema = match &schemas[..] {
        [only] => only.clone(),
        several => json!({ "oneOf": several }),
    };
    json!({
        "description": format!("A problem: {}.", names.join(" or ")),
        "headers": fields.described(),
        "content": { PROBLEM: { "schema": schema } },
    })
}
