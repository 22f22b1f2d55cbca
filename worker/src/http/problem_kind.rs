//! The kinds of problems and their properties.
//!
//! The table below declares the status, title, documentation, extension members and header fields
//! of each kind. The gateway's `OpenAPI` description is generated from it.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Declares [`ProblemKind`] and the properties of each kind.
macro_rules! problem_kinds {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident {
            kind: $kind:literal,
            status: $status:expr,
            title: $title:literal,
            $(members: [$($member:literal),*],)?
            $(optional_members: [$($optional:literal),*],)?
            $(headers: [$($header:literal),*],)?
        }
    )+) => {
        /// The kind of a problem.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ProblemKind {
            $($(#[doc = $doc])+ $name,)+
        }

        impl ProblemKind {
            /// All kinds, ordered by status.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Returns the last segment of `type`, after `/problems/`, such as `not-found`. It is
            /// stable.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $kind,)+ }
            }

            /// Returns the `type` of the problem, such as `/problems/not-found`.
            pub fn type_uri(self) -> String {
                format!("/problems/{}", self.as_str())
            }

            /// Returns the status of the response. `None` if the response has the upstream's
            /// status, from 400 to 599.
            pub const fn status(self) -> Option<u16> {
                match self { $(Self::$name => $status,)+ }
            }

            /// Returns the `title`, which is the same for all problems of this kind.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)+ }
            }

            /// Returns the kind's documentation for the `OpenAPI` description, one string per line.
            pub const fn documentation(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($doc),+],)+ }
            }

            /// Returns the extension members that are always present.
            pub const fn members(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($($member),*)?],)+ }
            }

            /// Returns the extension members that may be present.
            pub const fn optional_members(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($($optional),*)?],)+ }
            }

            /// Returns the names of the header fields that the response always has.
            pub const fn headers(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($($header),*)?],)+ }
            }
        }
    };
}

problem_kinds! {
    /// A value, a header field or the body breaks a rule. `errors` lists the violations.
    InvalidRequest {
        kind: "invalid-request",
        status: Some(400),
        title: "Invalid request",
        members: ["errors"],
    }
    /// The sign-in was started in another browser, expired, was already completed, or failed at the
    /// issuer.
    SignInFailed {
        kind: "sign-in-failed",
        status: Some(400),
        title: "Sign-in failed",
    }
    /// The request has no access token or other credential.
    MissingToken {
        kind: "missing-token",
        status: Some(401),
        title: "Missing access token",
        headers: ["WWW-Authenticate"],
    }
    /// The access token is invalid, for example expired, revoked, wrongly signed, or from an
    /// untrusted issuer.
    InvalidToken {
        kind: "invalid-token",
        status: Some(401),
        title: "Invalid access token",
        headers: ["WWW-Authenticate"],
    }
    /// The session of this cookie has ended or never existed.
    SessionEnded {
        kind: "session-ended",
        status: Some(401),
        title: "Session ended",
        headers: ["WWW-Authenticate"],
    }
    /// The access token lacks the scope that the operation needs.
    InsufficientScope {
        kind: "insufficient-scope",
        status: Some(403),
        title: "Insufficient scope",
        headers: ["WWW-Authenticate"],
    }
    /// The trusted issuer's token is valid, but no rule of `TRUSTED_ISSUERS` matches its claims.
    IdentityNotMapped {
        kind: "identity-not-mapped",
        status: Some(403),
        title: "Identity not mapped",
        headers: ["WWW-Authenticate"],
    }
    /// The access token does not grant access to this project.
    ProjectNotAllowed {
        kind: "project-not-allowed",
        status: Some(403),
        title: "Project not allowed",
    }
    /// The `Origin` is neither the gateway's own nor listed in `ALLOWED_ORIGINS`.
    OriginNotAllowed {
        kind: "origin-not-allowed",
        status: Some(403),
        title: "Origin not allowed",
    }
    /// The request carries a cookie of a session or of Cloudflare Access, and may have been sent by
    /// a page other than the gateway's own.
    CrossSite {
        kind: "cross-site",
        status: Some(403),
        title: "Cross-site request",
    }
    /// The browser's request lacks a usable `Cf-Turnstile-Response`. The widget needs `siteKey`.
    TurnstileRequired {
        kind: "turnstile-required",
        status: Some(403),
        title: "Turnstile response required",
        members: ["siteKey"],
    }
    /// The Turnstile response is invalid or was used before.
    TurnstileFailed {
        kind: "turnstile-failed",
        status: Some(403),
        title: "Invalid Turnstile response",
    }
    /// The path does not exist. Paths are not normalized, so extra slashes and escapes matter.
    NotFound {
        kind: "not-found",
        status: Some(404),
        title: "Not found",
    }
    /// The gateway has no record of the job. It only records jobs that were created through it.
    JobNotRecorded {
        kind: "job-not-recorded",
        status: Some(404),
        title: "Job not recorded",
    }
    /// The path does not support the method. `Allow` lists the supported methods.
    MethodNotAllowed {
        kind: "method-not-allowed",
        status: Some(405),
        title: "Method not allowed",
        headers: ["Allow"],
    }
    /// The first request with this idempotency key is still running.
    IdempotencyKeyInUse {
        kind: "idempotency-key-in-use",
        status: Some(409),
        title: "Idempotency key in use",
        headers: ["Retry-After"],
    }
    /// The outcome of the first request with this idempotency key is unknown.
    /// `Idempotency-Retry: force` sends the request again.
    OutcomeUnknown {
        kind: "outcome-unknown",
        status: Some(409),
        title: "Outcome unknown",
        members: ["outcome"],
    }
    /// The first request with this idempotency key was completed, but an operator deleted the job's
    /// record.
    RecordDeleted {
        kind: "record-deleted",
        status: Some(409),
        title: "Record deleted",
    }
    /// The body is larger than 131072 bytes.
    ContentTooLarge {
        kind: "content-too-large",
        status: Some(413),
        title: "Content too large",
    }
    /// The body's media type is not `application/json`.
    UnsupportedMediaType {
        kind: "unsupported-media-type",
        status: Some(415),
        title: "Unsupported media type",
        headers: ["Accept-Post"],
    }
    /// The idempotency key was already used for a different request.
    IdempotencyKeyReused {
        kind: "idempotency-key-reused",
        status: Some(422),
        title: "Idempotency key reused",
    }
    /// The budgets in `violated-policies` are used up. Nothing was sent upstream.
    QuotaExceeded {
        kind: "quota-exceeded",
        status: Some(429),
        title: "Quota exceeded",
        members: ["violated-policies"],
        headers: ["Retry-After", "RateLimit", "RateLimit-Policy"],
    }
    /// The caller, the job or the project has too many open streams and long polls. Or the caller
    /// or the organization has too many waiting exports. `detail` names the limit. Close one first.
    TooManyStreams {
        kind: "too-many-streams",
        status: Some(429),
        title: "Too many streams",
        headers: ["Retry-After"],
    }
    /// The gateway's setting named by `variable` is missing or malformed. Its value is never shown.
    Misconfigured {
        kind: "misconfigured",
        status: Some(500),
        title: "Gateway misconfigured",
        members: ["variable"],
    }
    /// The gateway itself failed. Its log has the details. If a write was in progress, `outcome` is
    /// `unknown`.
    Internal {
        kind: "internal",
        status: Some(500),
        title: "Internal error",
        optional_members: ["outcome"],
    }
    /// The gateway has no daily archive of the project. `detail` describes the missing setup.
    ArchiveNotConfigured {
        kind: "archive-not-configured",
        status: Some(501),
        title: "Project not archived",
    }
    /// The upstream's 2xx response was incomplete, malformed, or contained one of the gateway's
    /// keys.
    UpstreamMalformed {
        kind: "upstream-malformed",
        status: Some(502),
        title: "Invalid upstream response",
        optional_members: ["outcome"],
    }
    /// The upstream responded with a redirect. The gateway never follows redirects.
    UpstreamRedirect {
        kind: "upstream-redirect",
        status: Some(502),
        title: "Upstream redirect",
        optional_members: ["outcome"],
    }
    /// The upstream rejected the gateway's key.
    UpstreamCredential {
        kind: "upstream-credential",
        status: Some(502),
        title: "Gateway key rejected",
    }
    /// The connection to the upstream failed or broke.
    UpstreamUnreachable {
        kind: "upstream-unreachable",
        status: Some(502),
        title: "Upstream unreachable",
        optional_members: ["outcome"],
    }
    /// The upstream keeps failing, so the gateway has paused its requests. Nothing was sent.
    UpstreamUnavailable {
        kind: "upstream-unavailable",
        status: Some(503),
        title: "Upstream unavailable",
        headers: ["Retry-After"],
    }
    /// All of the gateway's connections to the upstream are in use. Nothing was sent.
    GatewayBusy {
        kind: "gateway-busy",
        status: Some(503),
        title: "Gateway busy",
        headers: ["Retry-After"],
    }
    /// The gateway cannot verify Turnstile responses at the moment. Nothing was sent upstream.
    TurnstileUnavailable {
        kind: "turnstile-unavailable",
        status: Some(503),
        title: "Turnstile unavailable",
        headers: ["Retry-After"],
    }
    /// The gateway cannot fetch the keys of the access token's issuer at the moment, or the issuer
    /// cannot complete a sign-in.
    IssuerUnavailable {
        kind: "issuer-unavailable",
        status: Some(503),
        title: "Issuer unavailable",
        headers: ["Retry-After"],
    }
    /// The gateway cannot reach its own storage at the moment.
    ObjectUnavailable {
        kind: "object-unavailable",
        status: Some(503),
        title: "Gateway storage unavailable",
        optional_members: ["outcome"],
        headers: ["Retry-After"],
    }
    /// The upstream did not respond in time.
    UpstreamTimeout {
        kind: "upstream-timeout",
        status: Some(504),
        title: "Upstream timeout",
        optional_members: ["outcome"],
    }
    /// An error response from the upstream, with its status and message.
    UpstreamError {
        kind: "upstream-error",
        status: None,
        title: "Upstream error",
        members: ["upstream"],
        optional_members: ["details", "outcome"],
    }
}

impl ProblemKind {
    /// Returns the kind whose [`as_str`](Self::as_str) is `name`, or `None`.
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
