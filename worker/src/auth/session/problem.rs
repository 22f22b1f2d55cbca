//! Problems of sessions.

use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;

/// The header field of the 401 for a request whose session does not count.
const CHALLENGE: (&str, &str) = ("www-authenticate", "Bearer realm=\"quillgate\"");

/// 401: the cookie is not that of a session which is open.
#[must_use]
pub fn ended_problem() -> Problem {
    let detail = "this session has ended; sign in again";
    Problem::new(ProblemKind::SessionEnded, detail).with_header(CHALLENGE.0, CHALLENGE.1)
}

/// 401: there is no session.
#[must_use]
pub fn missing_problem() -> Problem {
    let detail = "there is no session; sign in first";
    Problem::new(ProblemKind::MissingToken, detail).with_header(CHALLENGE.0, CHALLENGE.1)
}
