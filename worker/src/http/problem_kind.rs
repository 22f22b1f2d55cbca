//! The kinds of problems and their properties.
//!
//! The table below declares the status, title, documentation, extension members and header fields
//! of each kind. The gateway's `OpenAPI` description is generated from it.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The HTTP status of the problems of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KindStatus {
    /// Always this status.
    Always(u16),
    /// The status of the upstream's response, from 400 to 599.
    Upstream,
}

/// Declares [`ProblemKind`] and the properties of each kind.
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
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $kind,)+ }
            }

            /// Returns the `type` of the problem, such as `/problems/not-found`.
            #[must_use]
            pub fn type_uri(self) -> String {
                format!("/problems/{}", self.as_str())
            }

            /// Returns the status of the response.
            #[must_use]
            pub const fn status(self) -> KindStatus {
                match self { $(Self::$name => $status,)+ }
            }

            /// Returns the `title`, which is the same for all problems of this kind.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)+ }
            }

            /// Returns the kind's documentation for the `OpenAPI` description, one string per line.
            #[must_use]
            pub const fn documentation(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($doc),+],)+ }
            }

            /// Returns the extension members that are always present.
            #[must_use]
            pub const fn members(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($member),*],)+ }
            }

            /// Returns the extension members that may be present.
            #[must_use]
            pub const fn optional_members(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($optional),*],)+ }
            }

            /// Returns the names of the header fields that the response always has.
            #[must_use]
            pub const fn headers(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($header),*],)+ }
            }
        }
    };
}

use KindStatus::{Always, Upstream};

problem_kinds! {
    /// A value, a header field or the body breaks a rule. `errors` lists the violations.
    InvalidRequest {
        kind: "invalid-request",
        status: Always(400),
        title: "The request is not valid",
        members: ["errors"],
        optional_members: [],
        headers: [],
    }
    /// The sign-in was started in another browser, expired, was already completed, or failed at the
    /// issuer.
    SignInFailed {
        kind: "sign-in-failed",
        status: Always(400),
        title: "Sign-in failed",
        members: [],
        optional_members: [],
        headers: [],
    }
    /// The request has no access token or other credential.
    MissingToken {
        kind: "missing-token",
        status: Always(401),
        title: "No access token",
        members: [],
        optional_members: [],
        headers: ["WWW-Authenticate"],
    }
    /// The access token is invalid, for example expired, revoked, wrongly signed, or from an
    /// untrusted issuer.
    InvalidToken {
        kind: "invalid-token",
        status: Always(401),
        title: "Access token not accepted",
        members: [],
        optional_members: [],
        headers: ["WWW-Authenticate"],
    }
    /// The session of this cookie has ended or never existed.
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
    /// The trusted issuer's token is valid, but no rule of `TRUSTED_ISSUERS` matches its claims.
    IdentityNotMapped {
        kind: "identity-not-mapped",
        status: Always(403),
        title: "Identity not mapped",
        members: [],
        optional_members: [],
        headers: ["WWW-Authenticate"],
    }
    /// The access token does not grant access to this project.
    ProjectNotAllowed {
        kind: "project-not-allowed",
        status: Always(403),
        title: "Project not allowed",
        members: [],
        optional_members: [],
        headers: [],
    }
    /// The `Origin` is neither the gateway's own nor listed in `ALLOWED_ORIGINS`.
    OriginNotAllowed {
        kind: "origin-not-allowed",
        status: Always(403),
        title: "Origin not allowed",
        members: [],
        optional_members: [],
        headers: [],
    }
    /// A page other than the gateway's own may have sent this request, and it carries a cookie of a
    /// session or of Cloudflare Access.
    CrossSite {
        kind: "cross-site",
        status: Always(403),
        title: "Sent by another page",
        members: [],
        optional_members: [],
        headers: [],
    }
    /// The browser's request lacks a usable `Cf-Turnstile-Response`. The widget needs `siteKey`.
    TurnstileRequired {
        kind: "turnstile-required",
        status: Always(403),
        title: "Turnstile response required",
        members: ["siteKey"],
        optional_members: [],
        headers: [],
    }
    /// The Turnstile response is invalid or was used before.
    TurnstileFailed {
        kind: "turnstile-failed",
        status: Always(403),
        title: "Turnstile response not accepted",
        members: [],
        optional_members: [],
        headers: [],
    }
    /// The path does not exist. Paths are not normalized, so extra slashes and escapes matter.
    NotFound {
        kind: "not-found",
        status: Always(404),
        title: "Not found",
        members: [],
        optional_members: [],
        headers: [],
    }
    /// The gateway has no record of the job. It only records jobs that were created through it.
    JobNotRecorded {
        kind: "job-not-recorded",
        status: Always(404),
        title: "No record of the job",
        members: [],
        optional_members: [],
        headers: [],
    }
    /// The path does not support the method. `Allow` lists the supported methods.
    MethodNotAllowed {
        kind: "method-not-allowed",
        status: Always(405),
        title: "Method not allowed",
        members: [],
        optional_members: [],
        headers: ["Allow"],
    }
    /// The first request with this idempotency key is still running.
    IdempotencyKeyInUse {
        kind: "idempotency-key-in-use",
        status: Always(409),
        title: "Idempotency key in use",
        members: [],
        optional_members: [],
        headers: ["Retry-After"],
    }
    /// The outcome of the first request with this idempotency key is unknown.
    /// `Idempotency-Retry: force` sends the request again.
    OutcomeUnknown {
        kind: "outcome-unknown",
        status: Always(409),
        title: "Outcome unknown",
        members: ["outcome"],
        optional_members: [],
        headers: [],
    }
    /// The first request with this idempotency key was completed, but an operator deleted the job's
    /// record.
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
    /// The body's media type is not `application/json`.
    UnsupportedMediaType {
        kind: "unsupported-media-type",
        status: Always(415),
        title: "Unsupported media type",
        members: [],
        optional_members: [],
        headers: ["Accept-Post"],
    }
    /// The idempotency key was already used for a different request.
    IdempotencyKeyReused {
        kind: "idempotency-key-reused",
        status: Always(422),
        title: "Idempotency key reused",
        members: [],
        optional_members: [],
        headers: [],
    }
    /// The budgets in `violated-policies` are used up. Nothing was sent upstream.
    QuotaExceeded {
        kind: "quota-exceeded",
        status: Always(429),
        title: "Quota exceeded",
        members: ["violated-policies"],
        optional_members: [],
        headers: ["Retry-After", "RateLimit", "RateLimit-Policy"],
    }
    /// The caller, the job or the project has too many open streams and long polls. Or the caller
    /// or the organization has too many waiting exports. `detail` names the limit. Close one first.
    TooManyStreams {
        kind: "too-many-streams",
        status: Always(429),
        title: "Too many streams",
        members: [],
        optional_members: [],
        headers: ["Retry-After"],
    }
    /// The gateway's setting named by `variable` is missing or malformed. Its value is never shown.
    Misconfigured {
        kind: "misconfigured",
        status: Always(500),
        title: "The gateway is not set up",
        members: ["variable"],
        optional_members: [],
        headers: [],
    }
    /// The gateway itself failed. Its log has the details. If a write was in progress, `outcome` is
    /// `unknown`.
    Internal {
        kind: "internal",
        status: Always(500),
        title: "The gateway failed",
        members: [],
        optional_members: ["outcome"],
        headers: [],
    }
    /// The gateway has no daily archive of the project. `detail` describes the missing setup.
    ArchiveNotConfigured {
        kind: "archive-not-configured",
        status: Always(501),
        title: "No archive of this project",
        members: [],
        optional_members: [],
        headers: [],
    }
    /// The upstream's 2xx response was incomplete, malformed, or contained one of the gateway's
    /// keys.
    UpstreamMalformed {
        kind: "upstream-malformed",
        status: Always(502),
        title: "Upstream gave no JSON",
        members: [],
        optional_members: ["outcome"],
        headers: [],
    }
    /// The upstream responded with a redirect. The gateway never follows redirects.
    UpstreamRedirect {
        kind: "upstream-redirect",
        status: Always(502),
        title: "Upstream redirected",
        members: [],
        optional_members: ["outcome"],
        headers: [],
    }
    /// The upstream rejected the gateway's key.
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
    /// The upstream keeps failing, so the gateway has paused its requests. Nothing was sent.
    UpstreamUnavailable {
        kind: "upstream-unavailable",
        status: Always(503),
        title: "Upstream unavailable",
        members: [],
        optional_members: [],
        headers: ["Retry-After"],
    }
    /// All of the gateway's connections to the upstream are in use. Nothing was sent.
    GatewayBusy {
        kind: "gateway-busy",
        status: Always(503),
        title: "The gateway is busy",
        members: [],
        optional_members: [],
        headers: ["Retry-After"],
    }
    /// The gateway cannot verify Turnstile responses at the moment. Nothing was sent upstream.
    TurnstileUnavailable {
        kind: "turnstile-unavailable",
        status: Always(503),
        title: "Turnstile not available",
        members: [],
        optional_members: [],
        headers: ["Retry-After"],
    }
    /// The gateway cannot fetch the keys of the access token's issuer at the moment, or the issuer
    /// cannot complete a sign-in.
    IssuerUnavailable {
        kind: "issuer-unavailable",
        status: Always(503),
        title: "Issuer not available",
        members: [],
        optional_members: [],
        headers: ["Retry-After"],
    }
    /// The gateway cannot reach its own storage at the moment.
    ObjectUnavailable {
        kind: "object-unavailable",
        status: Always(503),
        title: "Gateway not available",
        members: [],
        optional_members: ["outcome"],
        headers: ["Retry-After"],
    }
    /// The upstream did not respond in time.
    UpstreamTimeout {
        kind: "upstream-timeout",
        status: Always(504),
        title: "Upstream gave no answer in time",
        members: [],
        optional_members: ["outcome"],
        headers: [],
    }
    /// An error response from the upstream, with its status and message.
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
    /// Returns the kind whose [`as_str`](Self::as_str) is `name`, or `None`.
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
