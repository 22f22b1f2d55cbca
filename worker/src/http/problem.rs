//! Problems (RFC 9457).

use quillgate::{Rule, ValidationError};
use serde_json::{Map, Value, json};

use crate::http::gateway_rule::GatewayRule;
use crate::http::problem_kind::ProblemKind;

pub const MEDIA_TYPE: &str = "application/problem+json";

#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    pub kind: ProblemKind,
    /// Mintlify's if the kind has no fixed status.
    pub status: u16,
    /// Without credentials or prompts.
    pub detail: String,
    pub headers: Vec<(&'static str, String)>,
    /// Extension members (RFC 9457, section 3.2).
    pub members: Map<String, Value>,
    /// Only the log contains this message.
    pub operator: Option<String>,
}

impl Problem {
    /// The status is 502 if the kind has no fixed status.
    pub fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            status: kind.status().unwrap_or(502),
            detail: detail.into(),
            headers: Vec::new(),
            members: Map::new(),
            operator: None,
        }
    }

    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub fn with_member(mut self, name: &str, value: Value) -> Self {
        self.members.insert(name.to_owned(), value);
        self
    }

    pub fn with_operator(mut self, message: impl Into<String>) -> Self {
        self.operator = Some(message.into());
        self
    }

    /// `instance` is the id of the request (RFC 9457, section 3.1.5).
    pub fn to_json(&self, instance: &str) -> String {
        let mut members = Map::new();
        let kind = self.kind.type_uri();
        members.insert("type".into(), kind.into());
        members.insert("title".into(), self.kind.title().into());
        members.insert("status".into(), self.status.into());
        members.insert("detail".into(), self.detail.as_str().into());
        members.insert("instance".into(), instance.into());
        members.extend(self.members.clone());
        crate::json::to_text(&Value::Object(members))
    }

    pub fn not_found() -> Self {
        let detail = "no such path; slashes and escapes must match exactly";
        Self::new(ProblemKind::NotFound, detail)
    }

    /// RFC 9110, section 15.5.6.
    pub fn method_not_allowed(allow: &str) -> Self {
        let detail = format!("this path supports {allow}");
        Self::new(ProblemKind::MethodNotAllowed, detail).with_header("allow", allow)
    }

    pub fn misconfigured(variable: &str, rule: &str) -> Self {
        let detail = format!("the gateway's variable {variable} {rule}");
        Self::new(ProblemKind::Misconfigured, detail).with_member("variable", variable.into())
    }

    pub fn unsupported_media_type() -> Self {
        let detail = "the body must be sent as application/json";
        Self::new(ProblemKind::UnsupportedMediaType, detail)
            .with_header("accept-post", "application/json")
    }

    pub fn content_too_large(max: usize) -> Self {
        let detail = format!("the body must not be larger than {max} bytes");
        Self::new(ProblemKind::ContentTooLarge, detail)
    }

    pub fn field(field: &str, rule: GatewayRule, detail: &str) -> Self {
        Self::broken_rule(field, rule.as_str(), detail)
    }

    fn broken_rule(field: &str, rule: &str, detail: &str) -> Self {
        let item = json!({ "field": field, "rule": rule, "detail": detail });
        Self::new(ProblemKind::InvalidRequest, detail).with_member("errors", json!([item]))
    }

    pub fn malformed_body(detail: &str) -> Self {
        Self::field("body", GatewayRule::JsonObject, detail)
    }

    /// A quoted String can contain characters that [`quillgate::IdempotencyKey`] rejects.
    pub fn invalid_idempotency_key() -> Self {
        let detail = "Idempotency-Key must be 1 to 255 visible ASCII characters; with a comma or a \
                      leading quotation mark, it must be a quoted String";
        Self::broken_rule("Idempotency-Key", Rule::IdempotencyKey.name(), detail)
    }

    pub fn invalid_webhook_url(detail: &str) -> Self {
        Self::broken_rule("Webhook-Url", Rule::WebhookUrl.name(), detail)
    }

    pub fn webhooks_off() -> Self {
        let detail = "Webhook-Url requires a gateway with WEBHOOK_SECRET";
        Self::field("Webhook-Url", GatewayRule::WebhooksOff, detail)
    }

    pub fn no_webhook_hosts() -> Self {
        let detail =
            "Webhook-Url requires a gateway with WEBHOOK_HOSTS, the hosts that callers may use";
        Self::field("Webhook-Url", GatewayRule::WebhookHosts, detail)
    }

    pub fn webhook_without_end() -> Self {
        let detail = "Webhook-Url is only valid when a job is created or a deployment is started";
        Self::field("Webhook-Url", GatewayRule::CreateOnly, detail)
    }

    pub fn job_not_recorded() -> Self {
        let detail = "the gateway has no record of this job in this project";
        Self::new(ProblemKind::JobNotRecorded, detail)
    }

    pub fn deployment_not_found() -> Self {
        let detail =
            "the gateway has no record of this deployment in a project of the access token";
        Self::new(ProblemKind::DeploymentNotFound, detail)
    }

    pub fn too_many_streams(owner: &str, max: u32) -> Self {
        let detail = format!("{owner} has {max} open streams, the maximum");
        Self::new(ProblemKind::TooManyStreams, detail).with_header("retry-after", "5")
    }

    pub fn issuer_unavailable() -> Self {
        let detail = "the keys of the token's issuer cannot be fetched right now";
        Self::new(ProblemKind::IssuerUnavailable, detail).with_header("retry-after", "10")
    }

    /// Also for the archive's D1 database.
    pub fn object_unavailable() -> Self {
        let detail = "the gateway's storage is unavailable right now";
        Self::new(ProblemKind::ObjectUnavailable, detail).with_header("retry-after", "1")
    }

    pub fn archive_not_configured(detail: &str) -> Self {
        Self::new(ProblemKind::ArchiveNotConfigured, detail)
    }

    pub fn internal() -> Self {
        let detail = "the gateway failed; its log has the details";
        Self::new(ProblemKind::Internal, detail)
    }
}

impl From<ValidationError> for Problem {
    fn from(error: ValidationError) -> Self {
        Self::broken_rule(&error.field, error.rule.name(), &error.message())
    }
}
