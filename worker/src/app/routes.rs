//! The routes of the gateway. The runtime's URL parser has already resolved `.` and `..` in a path.
//! Upstream requests are built from the matched values, never from the path.

use quillgate::Operation;

use crate::auth::session::sign_in::{CALLBACK, START};
use crate::http::route::{PathSegments, match_path};

pub const HEALTH: &str = "/healthz";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    Operation(Operation),
    /// Has the scope, the budget and the parameters of [`Operation::GetAgentJobRecord`].
    PullRequest,
    /// Needs no caller.
    Liveness,
    Health,
    /// Lifts the block that a 429 from Mintlify put on a policy.
    LiftBlock,
    Description,
    ReadSession,
    /// Ends the browser's earlier session, if any.
    OpenSession,
    EndSession,
    SignInMethods,
    BeginSignIn,
    ConcludeSignIn,
}

pub const GATEWAY_ROUTES: [(&str, &str, Endpoint); 10] = [
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

#[derive(Debug)]
pub struct Route<'a> {
    pub endpoint: Endpoint,
    /// Such as `/v2/agent/{projectId}/jobs`.
    pub pattern: &'static str,
    /// Percent-encoded.
    pub segments: PathSegments<'a>,
}

/// `HEAD` selects the route of `GET` (RFC 9110, section 9.3.2), except for the two navigations of a
/// sign-in. The error contains the methods of the path.
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
    for (own, pattern, endpoint) in GATEWAY_ROUTES.into_iter().chain(declared) {
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
