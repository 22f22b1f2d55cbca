//! The routes of the gateway: its own, and the operations that the crate `quillgate` declares.
//!
//! Paths are matched exactly, including slashes. The runtime's URL parser has already resolved `.`
//! and `..`. Upstream requests are built from the matched values, never from the path.

use quillgate::Operation;

use crate::auth::session::sign_in::{CALLBACK, START};
use crate::http::route::{PathSegments, match_path};

/// The path of the liveness check and of the health report.
pub const HEALTH: &str = "/healthz";

/// The endpoint that answers a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// A declared operation.
    Operation(Operation),
    /// The state of a job's pull request. It has the scope, the budget and the parameters of
    /// [`Operation::GetAgentJobRecord`].
    PullRequest,
    /// The liveness check, which needs no caller.
    Liveness,
    /// The health report for operators.
    Health,
    /// Lifts the block that a 429 from Mintlify put on a policy.
    LiftBlock,
    /// The `OpenAPI` description.
    Description,
    /// Describes the caller's session.
    ReadSession,
    /// Opens a session, and ends the browser's earlier session, if any.
    OpenSession,
    /// Ends the browser's session, if any.
    EndSession,
    /// The ways to open a session.
    SignInMethods,
    /// Redirects the browser to an issuer's sign-in page.
    BeginSignIn,
    /// Opens a session after a sign-in at an issuer.
    ConcludeSignIn,
}

/// The method, the pattern and the endpoint of each own route.
const OWN: [(&str, &str, Endpoint); 10] = [
    ("GET", HEALTH, Endpoint::Health),
    ("DELETE", "/healthz/blocks/{policy}", Endpoint::LiftBlock),
    ("GET", "/openapi.json", Endpoint::Description),
    ("GET", "/session", Endpoint::ReadSession),
    ("POST", "/session", Endpoint::OpenSession),
    ("DELETE", "/session", Endpoint::EndSession),
    ("GET", "/session/methods", Endpoint::SignInMethods),
    ("GET", START, Endpoint::BeginSignIn),
    ("GET", CALLBACK, Endpoint::ConcludeSignIn),
    ("GET", PULL_REQUEST, Endpoint::PullRequest),
];
const PULL_REQUEST: &str = "/v2/agent/{projectId}/job/{id}/pull-request";

/// The route of a request.
#[derive(Debug)]
pub struct Route<'a> {
    /// The endpoint of the method and the path.
    pub endpoint: Endpoint,
    /// The pattern of the path, such as `/v2/agent/{projectId}/jobs`.
    pub pattern: &'static str,
    /// The values of the path, percent-encoded.
    pub segments: PathSegments<'a>,
}

/// Finds the route of a method and a path. `HEAD` selects the route of `GET` (RFC 9110, section
/// 9.3.2), except for the two navigations of a sign-in.
///
/// # Errors
/// Returns the methods of the path if `method` is not one of them. The list is empty if the path is
/// unknown.
pub fn find<'a>(method: &str, path: &'a str) -> Result<Route<'a>, Vec<&'static str>> {
    let declared = Operation::ALL.iter().map(|operation| {
        let declared = operation.declaration();
        (
            declared.method.as_str(),
            declared.path,
            Endpoint::Operation(*operation),
        )
    });
    let mut methods = Vec::new();
    for (own, pattern, endpoint) in OWN.into_iter().chain(declared) {
        let Some(segments) = match_path(pattern, path) else {
            continue;
        };
        let has_head =
            own == "GET" && !matches!(endpoint, Endpoint::BeginSignIn | Endpoint::ConcludeSignIn);
        if method == own || has_head && method == "HEAD" {
            return Ok(Route {
                endpoint,
                pattern,
                segments,
            });
        }
        methods.push(own);
        if has_head {
            methods.push("HEAD");
        }
    }
    Err(methods)
}
