//! Problems: every answer that is no success, as RFC 9457 has it.

use quillgate::ValidationError;
use serde_json::{Map, Value, json};

/// The media type of a problem.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// A problem, ready to be answered with.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The HTTP status.
    pub status: u16,
    /// The stable last segment of `type`, under `/problems/`.
    pub kind: &'static str,
    /// What kind of problem this is, always in the same words.
    pub title: &'static str,
    /// What it is this time; never a credential or a prompt.
    pub detail: String,
    /// Header fields that go with it.
    pub headers: Vec<(&'static str, String)>,
    /// Further members.
    pub members: Map<String, Value>,
}

impl Problem {
    /// A problem of this kind.
    #[must_use]
    pub fn new(
        status: u16,
        kind: &'static str,
        title: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            status,
            kind,
            title,
            detail: detail.into(),
            headers: Vec::new(),
            members: Map::new(),
        }
    }

    /// With a header field.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// With a member beside the standard ones.
    #[must_use]
    pub fn with_member(mut self, name: &str, value: Value) -> Self {
        self.members.insert(name.to_owned(), value);
        self
    }

    /// The problem as JSON; `instance` is the request's id.
    #[must_use]
    pub fn to_json(&self, instance: &str) -> String {
        let mut members = Map::new();
        members.insert("type".into(), format!("/problems/{}", self.kind).into());
        members.insert("title".into(), self.title.into());
        members.insert("status".into(), self.status.into());
        members.insert("detail".into(), self.detail.as_str().into());
        members.insert("instance".into(), instance.into());
        members.extend(self.members.clone());
        Value::Object(members).to_string()
    }

    /// 404: no such route.
    #[must_use]
    pub fn not_found() -> Self {
        let detail = "there is no such route; slashes and escapes count";
        Self::new(404, "not-found", "Not found", detail)
    }

    /// 405: the route has other methods (RFC 9110, section 15.5.6).
    #[must_use]
    pub fn method_not_allowed(allow: &str) -> Self {
        let detail = format!("this route takes {allow}");
        Self::new(405, "method-not-allowed", "Method not allowed", detail)
            .with_header("allow", allow)
    }

    /// 500: the Worker's own configuration; `variable` is named, its value never.
    #[must_use]
    pub fn misconfigured(variable: &str, rule: &str) -> Self {
        let detail = format!("the gateway's variable {variable} {rule}");
        Self::new(500, "misconfigured", "The gateway is not set up", detail)
            .with_member("variable", variable.into())
    }

    /// 415: a body of another type.
    #[must_use]
    pub fn unsupported_media_type() -> Self {
        let detail = "the body must be sent as application/json";
        Self::new(
            415,
            "unsupported-media-type",
            "Unsupported media type",
            detail,
        )
        .with_header("accept-post", "application/json")
    }

    /// 413: a body over the cap.
    #[must_use]
    pub fn content_too_large(most: usize) -> Self {
        let detail = format!("the body must not be larger than {most} bytes");
        Self::new(413, "content-too-large", "Content too large", detail)
    }

    /// 400: a value breaks a rule.
    #[must_use]
    pub fn invalid(error: &ValidationError) -> Self {
        let detail = error.message();
        let item = json!({ "field": error.field, "rule": error.rule.name(), "detail": detail });
        Self::new(400, "invalid-request", "The request is not valid", detail)
            .with_member("errors", json!([item]))
    }

    /// 400: a header field, a parameter or the whole body breaks a rule of the gateway's own.
    #[must_use]
    pub fn field(field: &str, rule: &str, detail: &str) -> Self {
        let item = json!({ "field": field, "rule": rule, "detail": detail });
        Self::new(400, "invalid-request", "The request is not valid", detail)
            .with_member("errors", json!([item]))
    }

    /// 400: a body that is no JSON object.
    #[must_use]
    pub fn malformed_body() -> Self {
        let detail = "the body must be a JSON object, with each member once";
        Self::field("body", "json-object", detail)
    }

    /// 400: a webhook where no secret is set up to sign with.
    #[must_use]
    pub fn webhooks_off() -> Self {
        let detail = "Webhook-Url needs a gateway with WEBHOOK_SECRET";
        Self::field("Webhook-Url", "webhooks-off", detail)
    }

    /// 400: a webhook for something else than a new job.
    #[must_use]
    pub fn no_webhook_here() -> Self {
        let detail = "Webhook-Url belongs to the creation of a job";
        Self::field("Webhook-Url", "create-only", detail)
    }

    /// 503: the keys of a trusted issuer cannot be had just now.
    #[must_use]
    pub fn issuer_unavailable() -> Self {
        let detail = "the keys of the token's issuer cannot be fetched just now";
        Self::new(503, "issuer-unavailable", "Issuer not available", detail)
            .with_header("retry-after", "10")
    }

    /// 503: the Durable Object that keeps the budget does not answer.
    #[must_use]
    pub fn gate_unavailable() -> Self {
        let detail = "the gateway cannot reach its own records just now";
        Self::new(503, "gate-unavailable", "Gateway not available", detail)
            .with_header("retry-after", "1")
    }

    /// 500: the Worker itself failed; what happened is for the log.
    #[must_use]
    pub fn internal() -> Self {
        let detail = "the gateway failed; its log says more";
        Self::new(500, "internal", "The gateway failed", detail)
    }
}

impl From<ValidationError> for Problem {
    fn from(error: ValidationError) -> Self {
        Self::invalid(&error)
    }
}
