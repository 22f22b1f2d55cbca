//! Requests that a page of another site makes a browser send along with a cookie: that of a session,
//! or that of Cloudflare Access.
//!
//! `SameSite=Strict` keeps pages of other sites out, but a subdomain's page is of the same site, and
//! browsers have had gaps: a request counts only if it says itself that the gateway's own page sent
//! it.

use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::request_head::RequestHead;
use crate::http::url::origin_of;

/// Checks that no page but the gateway's own has sent a request: by `Origin`, without which nothing
/// may be changed, and by `Sec-Fetch-Site`, where the browser sends it. An address that somebody
/// typed may be read.
///
/// # Errors
/// 403 for anything else.
pub fn check_same_origin(head: &RequestHead<'_>) -> Result<(), Problem> {
    let reads = matches!(head.method, "GET" | "HEAD");
    let is_own = match head.origin {
        Some(origin) => origin == origin_of(head.url),
        None => reads,
    };
    let is_near = match head.fetch_site {
        None | Some("same-origin") => true,
        Some(site) => reads && site == "none",
    };
    if is_own && is_near {
        return Ok(());
    }
    let detail = "only the gateway's own page may send this request; other clients must send Authorization: Bearer";
    Err(Problem::new(ProblemKind::CrossSite, detail))
}
