//! Problems: every answer that is not a success, in the form of RFC 9457.
//!
//! [`ProblemKind`] is the table of them: status, title, documentation, members and header fields.
//! The `OpenAPI` description is generated from it.

use quillgate::ValidationError;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

/// The media type of a problem.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// The status of a kind of problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KindStatus {
    /// Always this one.
    Always(u16),
    /// The upstream's own, from 400 to 599.
    Upstream,
}

/// Declares [`ProblemKind`] and what is known about each kind.
macro_rules! problem_kinds {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident {
            kind: $kind:literal,
            status: $status:expr,
            title: $title:literal,
            members: [$($member:literal),*],
            optional_members: [$($optional:literal),*],
            headers: [$($header:literal),*],
        }
    )+) => {
        /// What kind of problem an answer is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ProblemKind {
            $($(#[doc = $doc])+ $name,)+
        }

        impl ProblemKind {
            /// Every kind, by status.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The last segment of `type`, under `/problems/`; stable.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $kind,)+ }
            }

            /// The status of the answer.
            #[must_use]
            pub const fn status(self) -> KindStatus {
                match self { $(Self::$name => $status,)+ }
            }

            /// `title`: the kind in words, always the same.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)+ }
            }

            /// When it occurs, as lines of documentation.
            #[must_use]
            pub const fn documentation(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($doc),+],)+ }
            }

            /// The members that it has in addition to those of every problem.
            #[must_use]
            pub const fn members(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($member),*],)+ }
            }

            /// The members that it may have as well.
            #[must_use]
            pub const fn optional_members(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($optional),*],)+ }
            }

            /// The header fields that come with it.
            #[must_use]
            pub const fn headers(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($header),*],)+ }
            }
        }
    };
}

use KindStatus::{Always, Upstream};

problem_kinds! {
    /// A value, a header field or the body breaks a rule; `errors` says which.
    InvalidRequest {
        kind: "invalid-request",
        status: Always(400),
        title: "The request is not valid",
        members: ["errors"],
        optional_members: [],
        headers: [],
    }
    /// A sign-in at an issuer that was not begun in this browser, took too long, was concluded before,
    /// or did not succeed there.
    SignInFailed {
        kind: "sign-in-failed",
        status: Always(400),
        title: "Sign-in failed",
        members: [],
        optional_members: [],
        headers: [],
    }
    /// There is no access token.
    MissingToken {
        kind: "missing-token",
        status: Always(401),
        title: "No access token",
        members: [],
        optional_members: [],
        headers: ["WWW-Authenticate"],
    }
    /// The access token is not valid: expired, revoked, wrongly signed or from somebody else.
    InvalidToken {
        kind: "invalid-token",
        status: Always(401),
        title: "Access token not accepted",
        members: [],
        optional_members: [],
        headers: ["WWW-Authenticate"],
    }
    /// The cookie is not that of a session which is open: it has ended, or somebody made it up.
    SessionEnded {
        kind: "session-ended",
        status: Always(401),
        title: "Session ended",
        members: [],
        optional_members: [],
        headers: ["WWW-Authenticate"],
    }
    /// The access token lacks the scope that the operation needs.
    InsufficientScope {
        kind: "insufficient-scope",
        status: Always(403),
        title: "Insufficient scope",
        members: [],
        optional_members: [],
        headers: ["WWW-Authenticate"],
    }
    /// The trusted issuer's token is valid, and no rule of `TRUSTED_ISSUERS` matches its claims.
    IdentityNotMapped {
        kind: "identity-not-mapped",
        status: Always(403),
        title: "Identity not mapped",
        members: [],
        optional_members: [],
        headers: ["WWW-Authenticate"],
    }
    /// The access token is not for this project.
    ProjectNotAllowed {
        kind: "project-not-allowed",
        status: Always(403),
        title: "Project not allowed",
        members: [],
        optional_members: [],
        headers: [],
    }
    /// The `Origin` is neither the gateway's own nor one of `ALLOWED_ORIGINS`.
    OriginNotAllowed {
        kind: "origin-not-allowed",
        status: Always(403),
        title: "Origin not allowed",
        members: [],
        optional_members: [],
        headers: [],
    }
    /// A request with the cookie of a session or of Cloudflare Access that another page than the
    /// gateway's own may have sent.
    CrossSite {
        kind: "cross-site",
        status: Always(403),
        title: "Sent by another page",
        members: [],
        optional_members: [],
        headers: [],
    }
    /// A browser asks without `Cf-Turnstile-Response`; `siteKey` is what its widget needs.
    TurnstileRequired {
        kind: "turnstile-required",
        status: Always(403),
        title: "Turnstile response required",
        members: ["siteKey"],
        optional_members: [],
        headers: [],
    }
    /// The Turnstile response is not valid, or was used before.
    TurnstileFailed {
        kind: "turnstile-failed",
        status: Always(403),
        title: "Turnstile response not accepted",
        members: [],
        optional_members: [],
        headers: [],
    }
    /// There is no such path; slashes and escapes count.
    NotFound {
        kind: "not-found",
        status: Always(404),
        title: "Not found",
        members: [],
        optional_members: [],
        headers: [],
    }
    /// The gateway has no record of the job, or the job was not created through it.
    JobNotRecorded {
        kind: "job-not-recorded",
        status: Always(404),
        title: "No record of the job",
        members: [],
        optional_members: [],
        headers: [],
    }
    /// The path has other methods, which `Allow` lists.
    MethodNotAllowed {
        kind: "method-not-allowed",
        status: Always(405),
        title: "Method not allowed",
        members: [],
        optional_members: [],
        headers: ["Allow"],
    }
    /// The first request under this idempotency key is still being carried out.
    IdempotencyKeyInUse {
        kind: "idempotency-key-in-use",
        status: Always(409),
        title: "Idempotency key in use",
        members: [],
        optional_members: [],
        headers: ["Retry-After"],
    }
    /// Nobody knows whether the first request under this idempotency key was carried out;
    /// `Idempotency-Retry: force` sends it again.
    OutcomeUnknown {
        kind: "outcome-unknown",
        status: Always(409),
        title: "Outcome unknown",
        members: ["outcome"],
        optional_members: [],
        headers: [],
    }
    /// The first request under this idempotency key was carried out, and an operator has deleted the record
    /// of its job.
    RecordDeleted {
        kind: "record-deleted",
        status: Always(409),
        title: "Record deleted",
        members: [],
        optional_members: [],
        headers: [],
    }
    /// The body is larger than 131072 bytes.
    ContentTooLarge {
        kind: "content-too-large",
        status: Always(413),
        title: "Content too large",
        members: [],
        optional_members: [],
        headers: [],
    }
    /// The body is not sent as `application/json`.
    UnsupportedMediaType {
        kind: "unsupported-media-type",
        status: Always(415),
        title: "Unsupported media type",
        members: [],
        optional_members: [],
        headers: ["Accept-Post"],
    }
    /// The idempotency key was used for another request.
    IdempotencyKeyReused {
        kind: "idempotency-key-reused",
        status: Always(422),
        title: "Idempotency key reused",
        members: [],
        optional_members: [],
        headers: [],
    }
    /// The budget that `violated-policies` names is used up, or what is left of it is owed to
    /// others; nothing was sent upstream.
    QuotaExceeded {
        kind: "quota-exceeded",
        status: Always(429),
        title: "Quota exceeded",
        members: ["violated-policies"],
        optional_members: [],
        headers: ["Retry-After", "RateLimit", "RateLimit-Policy"],
    }
    /// The caller, the job or the project has the maximum number of streams and long polls open, or
    /// the caller or the organization has the maximum number of waiting exports. `detail` names the
    /// owner of the limit. Close one first.
    TooManyStreams {
        kind: "too-many-streams",
        status: Always(429),
        title: "Too many streams",
        members: [],
        optional_members: [],
        headers: ["Retry-After"],
    }
    /// The gateway's `variable` is missing or malformed; its value is never shown.
    Misconfigured {
        kind: "misconfigured",
        status: Always(500),
        title: "The gateway is not set up",
        members: ["variable"],
        optional_members: [],
        headers: [],
    }
    /// The gateway itself failed; its log says more. If that happened during a write, `outcome` is
    /// `unknown`.
    Internal {
        kind: "internal",
        status: Always(500),
        title: "The gateway failed",
        members: [],
        optional_members: ["outcome"],
        headers: [],
    }
    /// The gateway keeps no daily archive of the project; `detail` says what to configure.
    ArchiveNotConfigured {
        kind: "archive-not-configured",
        status: Always(501),
        title: "No archive of this project",
        members: [],
        optional_members: [],
        headers: [],
    }
    /// The upstream's success broke off, is not what it promises, or contains a key of the gateway.
    UpstreamMalformed {
        kind: "upstream-malformed",
        status: Always(502),
        title: "Upstream gave no JSON",
        members: [],
        optional_members: ["outcome"],
        headers: [],
    }
    /// The upstream answered with a redirect, which is never followed.
    UpstreamRedirect {
        kind: "upstream-redirect",
        status: Always(502),
        title: "Upstream redirected",
        members: [],
        optional_members: ["outcome"],
        headers: [],
    }
    /// The upstream does not accept the gateway's own key.
    UpstreamCredential {
        kind: "upstream-credential",
        status: Always(502),
        title: "Upstream refused the gateway",
        members: [],
        optional_members: [],
        headers: [],
    }
    /// The connection to the upstream failed or broke.
    UpstreamUnreachable {
        kind: "upstream-unreachable",
        status: Always(502),
        title: "Upstream gave no answer",
        members: [],
        optional_members: ["outcome"],
        headers: [],
    }
    /// The upstream keeps failing and is left alone for a while; nothing was sent.
    UpstreamUnavailable {
        kind: "upstream-unavailable",
        status: Always(503),
        title: "Upstream unavailable",
        members: [],
        optional_members: [],
        headers: ["Retry-After"],
    }
    /// All connections to the upstream are in use; nothing was sent.
    GatewayBusy {
        kind: "gateway-busy",
        status: Always(503),
        title: "The gateway is busy",
        members: [],
        optional_members: [],
        headers: ["Retry-After"],
    }
    /// Turnstile responses cannot be checked right now; nothing was sent upstream.
    TurnstileUnavailable {
        kind: "turnstile-unavailable",
        status: Always(503),
        title: "Turnstile not available",
        members: [],
        optional_members: [],
        headers: ["Retry-After"],
    }
    /// The keys of the access token's issuer cannot be fetched right now.
    IssuerUnavailable {
        kind: "issuer-unavailable",
        status: Always(503),
        title: "Issuer not available",
        members: [],
        optional_members: [],
        headers: ["Retry-After"],
    }
    /// The gateway cannot reach its own records right now.
    GateUnavailable {
        kind: "gate-unavailable",
        status: Always(503),
        title: "Gateway not available",
        members: [],
        optional_members: ["outcome"],
        headers: ["Retry-After"],
    }
    /// The upstream did not answer in time.
    UpstreamTimeout {
        kind: "upstream-timeout",
        status: Always(504),
        title: "Upstream gave no answer in time",
        members: [],
        optional_members: ["outcome"],
        headers: [],
    }
    /// The upstream's own error, with its status and its words.
    UpstreamError {
        kind: "upstream-error",
        status: Upstream,
        title: "Upstream error",
        members: ["upstream"],
        optional_members: ["details", "outcome"],
        headers: [],
    }
}

impl ProblemKind {
    /// The kind of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let mut kinds = Self::ALL.iter().copied();
        kinds.find(|kind| kind.as_str() == name)
    }
}

impl Serialize for ProblemKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ProblemKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::from_name(&name).ok_or_else(|| serde::de::Error::custom("unknown problem type"))
    }
}

/// A rule of the gateway, in addition to those of the core ([`quillgate::Rule`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewayRule {
    /// The body is a JSON object without duplicate members.
    JsonObject,
    /// A cursor is the `nextCursor` of an earlier page.
    Cursor,
    /// `Idempotency-Retry` is `force`.
    IdempotencyRetry,
    /// `Webhook-Url` is an address to which a webhook may be sent.
    WebhookUrl,
    /// Webhooks need `WEBHOOK_SECRET`.
    WebhooksOff,
    /// A caller's webhook needs `WEBHOOK_HOSTS`.
    WebhookHosts,
    /// The header field belongs to the creation of a job.
    CreateOnly,
    /// A text to look for has 200 characters at most.
    LongestText,
    /// A day of the archive is `YYYY-MM-DD`, without a time.
    Day,
    /// A range of the archive has 3,660 days at most.
    LongestRange,
    /// `prefix` begins with a slash and ends with none.
    Prefix,
    /// `path` and `prefix` exclude each other.
    NotWithPath,
    /// `return` is a path of the gateway's own page.
    ReturnPath,
}

impl GatewayRule {
    /// Every rule.
    pub const ALL: [Self; 13] = [
        Self::JsonObject,
        Self::Cursor,
        Self::IdempotencyRetry,
        Self::WebhookUrl,
        Self::WebhooksOff,
        Self::WebhookHosts,
        Self::CreateOnly,
        Self::LongestText,
        Self::Day,
        Self::LongestRange,
        Self::Prefix,
        Self::NotWithPath,
        Self::ReturnPath,
    ];

    /// The rule's name in `errors`: for programs, and stable.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::JsonObject => "json-object",
            Self::Cursor => "cursor",
            Self::IdempotencyRetry => "idempotency-retry",
            Self::WebhookUrl => "webhook-url",
            Self::WebhooksOff => "webhooks-off",
            Self::WebhookHosts => "webhook-hosts",
            Self::CreateOnly => "create-only",
            Self::LongestText => "longest-text",
            Self::Day => "day",
            Self::LongestRange => "longest-range",
            Self::Prefix => "prefix",
            Self::NotWithPath => "not-with-path",
            Self::ReturnPath => "return-path",
        }
    }
}

/// A problem as an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// What kind of problem it is.
    pub kind: ProblemKind,
    /// The HTTP status.
    pub status: u16,
    /// What happened this time; never a credential or a prompt.
    pub detail: String,
    /// The header fields of the answer.
    pub headers: Vec<(&'static str, String)>,
    /// Members in addition to those of every problem.
    pub members: Map<String, Value>,
}

impl Problem {
    /// A problem of this kind. One with the upstream's status is made by
    /// [`crate::upstream::error_problem`].
    #[must_use]
    pub fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        let status = match kind.status() {
            KindStatus::Always(status) => status,
            KindStatus::Upstream => 502,
        };
        Self {
            kind,
            status,
            detail: detail.into(),
            headers: Vec::new(),
            members: Map::new(),
        }
    }

    /// With this status.
    #[must_use]
    pub const fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// With a header field.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// With a member in addition to the standard ones.
    #[must_use]
    pub fn with_member(mut self, name: &str, value: Value) -> Self {
        self.members.insert(name.to_owned(), value);
        self
    }

    /// The problem as JSON; `instance` is the request's id (RFC 9457, section 3.1.5).
    #[must_use]
    pub fn to_json(&self, instance: &str) -> String {
        let mut members = Map::new();
        members.insert(
            "type".into(),
            ["/problems/", self.kind.as_str()].concat().into(),
        );
        members.insert("title".into(), self.kind.title().into());
        members.insert("status".into(), self.status.into());
        members.insert("detail".into(), self.detail.as_str().into());
        members.insert("instance".into(), instance.into());
        members.extend(self.members.clone());
        crate::json::to_text(&Value::Object(members))
    }

    /// 404: no such route.
    #[must_use]
    pub fn not_found() -> Self {
        let detail = "there is no such route; slashes and escapes count";
        Self::new(ProblemKind::NotFound, detail)
    }

    /// 405: the route has other methods (RFC 9110, section 15.5.6).
    #[must_use]
    pub fn method_not_allowed(allow: &str) -> Self {
        let detail = ["this route accepts ", allow].concat();
        Self::new(ProblemKind::MethodNotAllowed, detail).with_header("allow", allow)
    }

    /// 500: the Worker's configuration is wrong; `variable` is named, but never its value.
    #[must_use]
    pub fn misconfigured(variable: &str, rule: &str) -> Self {
        let detail = ["the gateway's variable ", variable, " ", rule].concat();
        Self::new(ProblemKind::Misconfigured, detail).with_member("variable", variable.into())
    }

    /// 415: a body of another type.
    #[must_use]
    pub fn unsupported_media_type() -> Self {
        let detail = "the body must be sent as application/json";
        Self::new(ProblemKind::UnsupportedMediaType, detail)
            .with_header("accept-post", "application/json")
    }

    /// 413: a body of more than `most` bytes.
    #[must_use]
    pub fn content_too_large(most: usize) -> Self {
        let detail = format!("the body must not be larger than {most} bytes");
        Self::new(ProblemKind::ContentTooLarge, detail)
    }

    /// 400: a value breaks a rule of the core.
    #[must_use]
    pub fn invalid(error: &ValidationError) -> Self {
        Self::broken_rule(&error.field, error.rule.name(), &error.message())
    }

    /// 400: a header field, a parameter or the whole body breaks a rule of the gateway.
    #[must_use]
    pub fn field(field: &str, rule: GatewayRule, detail: &str) -> Self {
        Self::broken_rule(field, rule.as_str(), detail)
    }

    fn broken_rule(field: &str, rule: &str, detail: &str) -> Self {
        let item = json!({ "field": field, "rule": rule, "detail": detail });
        Self::new(ProblemKind::InvalidRequest, detail).with_member("errors", json!([item]))
    }

    /// 400: a body that is not a JSON object.
    #[must_use]
    pub fn malformed_body() -> Self {
        let detail = "the body must be a JSON object without duplicate members";
        Self::field("body", GatewayRule::JsonObject, detail)
    }

    /// 400: a webhook without a secret with which the gateway could sign it.
    #[must_use]
    pub fn webhooks_off() -> Self {
        let detail = "Webhook-Url needs a gateway with WEBHOOK_SECRET";
        Self::field("Webhook-Url", GatewayRule::WebhooksOff, detail)
    }

    /// 400: a caller's webhook where the operator has not said which hosts callers may name.
    #[must_use]
    pub fn no_webhook_hosts() -> Self {
        let detail =
            "Webhook-Url needs a gateway with WEBHOOK_HOSTS, the hosts that callers may name";
        Self::field("Webhook-Url", GatewayRule::WebhookHosts, detail)
    }

    /// 400: a webhook for something other than a new job.
    #[must_use]
    pub fn webhook_on_follow_up() -> Self {
        let detail = "Webhook-Url belongs to the creation of a job";
        Self::field("Webhook-Url", GatewayRule::CreateOnly, detail)
    }

    /// 404: the ledger does not have the job.
    #[must_use]
    pub fn job_not_recorded() -> Self {
        let detail = "the gateway has no record of this job in this project";
        Self::new(ProblemKind::JobNotRecorded, detail)
    }

    /// 429: `owner`, the caller or the job, has `most` streams open already.
    #[must_use]
    pub fn too_many_streams(owner: &str, most: u32) -> Self {
        let most = most.to_string();
        let detail = [owner, " has ", &most, " streams open, and may have no more"].concat();
        Self::new(ProblemKind::TooManyStreams, detail).with_header("retry-after", "5")
    }

    /// 429: `owner`, the caller or the organization, already has `most` exports that wait.
    #[must_use]
    pub fn too_many_exports(owner: &str, most: u32) -> Self {
        let detail = format!("{owner} has {most} exports waiting for the budget, the maximum");
        Self::new(ProblemKind::TooManyStreams, detail).with_header("retry-after", "60")
    }

    /// 503: the keys of a trusted issuer are not available right now.
    #[must_use]
    pub fn issuer_unavailable() -> Self {
        let detail = "the keys of the token's issuer cannot be fetched right now";
        // As long as an isolate waits between two looks.
        Self::new(ProblemKind::IssuerUnavailable, detail).with_header("retry-after", "60")
    }

    /// 503: the Durable Object that keeps the records does not answer.
    #[must_use]
    pub fn gate_unavailable() -> Self {
        let detail = "the gateway cannot reach its own records right now";
        Self::new(ProblemKind::GateUnavailable, detail).with_header("retry-after", "1")
    }

    /// 501: there is no archive, or none of the project.
    #[must_use]
    pub fn archive_not_configured(detail: &str) -> Self {
        Self::new(ProblemKind::ArchiveNotConfigured, detail)
    }

    /// 500: the Worker itself failed; the log says why.
    #[must_use]
    pub fn internal() -> Self {
        let detail = "the gateway failed; its log says more";
        Self::new(ProblemKind::Internal, detail)
    }
}

impl From<ValidationError> for Problem {
    fn from(error: ValidationError) -> Self {
        Self::invalid(&error)
    }
}
