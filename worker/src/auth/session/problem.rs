//! Problems for requests without a session, or with one that has ended.

use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;

/// The header field of the 401 for a request without a valid session.
const CHALLENGE: (&str, &str) = ("www-authenticate", "Bearer realm=\"quillgate\"");

/// Returns a 401 for a cookie without an open session.
pub fn ended_problem() -> Problem {
    let detail = "this session has ended; sign in again";
    Problem::new(ProblemKind::SessionEnded, detail).with_header(CHALLENGE.0, CHALLENGE.1)
}

/// Returns a 401 for a request without a session.
pub fn missing_problem() -> Problem {
    let detail = "there is no session; sign in first";
    Problem::new(ProblemKind::MissingToken, detail).with_header(CHALLENGE.0, CHALLENGE.1)
}
