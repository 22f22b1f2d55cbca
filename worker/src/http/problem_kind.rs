//! The kinds of problems, from which the `OpenAPI` description is generated.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! problem_kinds {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident = $status:expr, $kind:literal, $title:literal
        $(, members: [$($member:literal),*])?
        $(, optional_members: [$($optional:literal),*])?
        $(, headers: [$($header:literal),*])?;
    )+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ProblemKind {
            $($(#[doc = $doc])+ $name,)+
        }

        impl ProblemKind {
            /// Ordered by status. The kind without a fixed status is last.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The last segment of `type`, which is stable.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $kind,)+ }
            }

            /// Such as `/problems/not-found`.
            pub fn type_uri(self) -> String {
                format!("/problems/{}", self.as_str())
            }

            /// `None` for Mintlify's status.
            pub const fn status(self) -> Option<u16> {
                match self { $(Self::$name => $status,)+ }
            }

            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)+ }
            }

            /// For the `OpenAPI` description, one string per line.
            pub const fn documentation(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($doc),+],)+ }
            }

            /// Always present.
            pub const fn members(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($($member),*)?],)+ }
            }

            /// Possibly present.
            pub const fn optional_members(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($($optional),*)?],)+ }
            }

            /// Always present.
            pub const fn headers(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($($header),*)?],)+ }
            }
        }
    };
}

problem_kinds! {
    /// A value, a header field or the body breaks a rule. `errors` lists the violations.
    InvalidRequest = Some(400), "invalid-request", "Invalid request",
        members: ["errors"];
    /// The sign-in was started in another browser, expired, was already completed, or failed at the
    /// issuer.
    SignInFailed = Some(400), "sign-in-failed", "Sign-in failed";
    /// The request has no access token or other credential.
    MissingToken = Some(401), "missing-token", "Missing access token",
        headers: ["WWW-Authenticate"];
    /// The access token is invalid, for example expired, revoked, wrongly signed, or from an
    /// untrusted issuer.
    InvalidToken = Some(401), "invalid-token", "Invalid access token",
        headers: ["WWW-Authenticate"];
    /// The session of this cookie has ended or never existed.
    SessionEnded = Some(401), "session-ended", "Session ended",
        headers: ["WWW-Authenticate"];
    /// The access token lacks the scope that the operation needs.
    InsufficientScope = Some(403), "insufficient-scope", "Insufficient scope",
        headers: ["WWW-Authenticate"];
    /// The trusted issuer's token is valid, but no rule of `TRUSTED_ISSUERS` matches its claims.
    IdentityNotMapped = Some(403), "identity-not-mapped", "Identity not mapped",
        headers: ["WWW-Authenticate"];
    /// The access token does not grant access to this project.
    ProjectNotAllowed = Some(403), "project-not-allowed", "Project not allowed";
    /// The `Origin` is neither the gateway's own nor listed in `ALLOWED_ORIGINS`.
    OriginNotAllowed = Some(403), "origin-not-allowed", "Origin not allowed";
    /// The request carries a cookie of a session or of Cloudflare Access, and may have been sent by
    /// a page other than the gateway's own.
    CrossSite = Some(403), "cross-site", "Cross-site request";
    /// The path does not exist. Paths are not normalized, so extra slashes and escapes matter.
    NotFound = Some(404), "not-found", "Not found";
    /// The gateway has no record of the job. It only records jobs that were created through it.
    JobNotRecorded = Some(404), "job-not-recorded", "Job not recorded";
    /// The deployment belongs to no project of the access token, or was not started through the
    /// gateway.
    DeploymentNotFound = Some(404), "deployment-not-found", "Deployment not found";
    /// The path does not support the method. `Allow` lists the supported methods.
    MethodNotAllowed = Some(405), "method-not-allowed", "Method not allowed",
        headers: ["Allow"];
    /// The first request with this idempotency key is still running.
    IdempotencyKeyInUse = Some(409), "idempotency-key-in-use", "Idempotency key in use",
        headers: ["Retry-After"];
    /// The outcome of the first request with this idempotency key is unknown.
    /// `Idempotency-Retry: force` sends the request again.
    OutcomeUnknown = Some(409), "outcome-unknown", "Outcome unknown",
        members: ["outcome"];
    /// The first request with this idempotency key was completed, but an operator deleted the job's
    /// record.
    RecordDeleted = Some(409), "record-deleted", "Record deleted";
    /// The body is larger than 1048576 bytes.
    ContentTooLarge = Some(413), "content-too-large", "Content too large";
    /// The body's media type is not `application/json`.
    UnsupportedMediaType = Some(415), "unsupported-media-type", "Unsupported media type",
        headers: ["Accept-Post"];
    /// The idempotency key was already used for a different request.
    IdempotencyKeyReused = Some(422), "idempotency-key-reused", "Idempotency key reused";
    /// The budgets in `violated-policies` are used up. Nothing was sent to Mintlify.
    QuotaExceeded = Some(429), "quota-exceeded", "Quota exceeded",
        members: ["violated-policies"],
        headers: ["Retry-After", "RateLimit", "RateLimit-Policy"];
    /// The caller, the job or the project has too many open streams and long polls. `detail` names
    /// the limit. Close one first.
    TooManyStreams = Some(429), "too-many-streams", "Too many streams",
        headers: ["Retry-After"];
    /// The gateway's setting or binding named by `variable` is missing or malformed. Its value is
    /// never shown.
    Misconfigured = Some(500), "misconfigured", "Gateway misconfigured",
        members: ["variable"];
    /// The gateway itself failed. Its log has the details. If a write was in progress, `outcome` is
    /// `unknown`.
    Internal = Some(500), "internal", "Internal error",
        optional_members: ["outcome"];
    /// The gateway has no daily archive of the project. `detail` describes the missing setup.
    ArchiveNotConfigured = Some(501), "archive-not-configured", "Project not archived";
    /// Mintlify's 2xx response was incomplete, malformed, or contained one of the gateway's keys.
    UpstreamMalformed = Some(502), "upstream-malformed", "Invalid response from Mintlify",
        optional_members: ["outcome"];
    /// Only in the last record of an export. The totals changed while the export was read, so rows
    /// can be missing or repeated. Export again, or export a range that has ended.
    CountsChanged = Some(502), "counts-changed", "Counts changed";
    /// Mintlify responded with a redirect. The gateway never follows redirects.
    UpstreamRedirect = Some(502), "upstream-redirect", "Redirect from Mintlify",
        optional_members: ["outcome"];
    /// Mintlify rejected the gateway's key. An operator must replace the key.
    UpstreamCredential = Some(502), "upstream-credential", "Gateway key rejected";
    /// The organization's plan at Mintlify does not include the operation. An operator must upgrade
    /// the plan.
    UpstreamPlan = Some(502), "upstream-plan", "Mintlify plan too low";
    /// Mintlify does not know the project, or the project belongs to another organization.
    UpstreamProject = Some(502), "upstream-project", "Project rejected by Mintlify";
    /// The network in front of Mintlify blocked the request. Mintlify did not receive it.
    UpstreamBlocked = Some(502), "upstream-blocked", "Request blocked before Mintlify";
    /// The connection to Mintlify failed or broke.
    UpstreamUnreachable = Some(502), "upstream-unreachable", "Mintlify unreachable",
        optional_members: ["outcome"];
    /// Mintlify keeps failing, so the gateway has paused its requests. Nothing was sent.
    UpstreamUnavailable = Some(503), "upstream-unavailable", "Mintlify unavailable",
        headers: ["Retry-After"];
    /// All of the gateway's connections to Mintlify are in use. Nothing was sent.
    GatewayBusy = Some(503), "gateway-busy", "Gateway busy",
        headers: ["Retry-After"];
    /// The gateway cannot fetch the keys of the access token's issuer at the moment, or the issuer
    /// cannot complete a sign-in.
    IssuerUnavailable = Some(503), "issuer-unavailable", "Issuer unavailable",
        headers: ["Retry-After"];
    /// The gateway cannot reach its own storage at the moment.
    ObjectUnavailable = Some(503), "object-unavailable", "Gateway storage unavailable",
        optional_members: ["outcome"],
        headers: ["Retry-After"];
    /// Mintlify did not respond in time.
    UpstreamTimeout = Some(504), "upstream-timeout", "Mintlify timed out",
        optional_members: ["outcome"];
    /// An error response from Mintlify, with its status and message.
    UpstreamError = None, "upstream-error", "Error from Mintlify",
        members: ["upstream"],
        optional_members: ["details", "outcome"];
}

impl Serialize for ProblemKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ProblemKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let kind = Self::ALL.iter().find(|kind| kind.as_str() == name);
        kind.copied()
            .ok_or_else(|| D::Error::custom("unknown problem type"))
    }
}
