//! Protection against cross-site request forgery (CSRF). This module protects callers that
//! authenticate with a session cookie or a Cloudflare Access cookie.
//!
//! `SameSite=Strict` is not enough: pages of sibling subdomains are same-site, and browsers have
//! had bugs in enforcing `SameSite`. The header fields `Origin` and `Sec-Fetch-Site` must therefore
//! show that the gateway's own page sent the request.

use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::request_head::RequestHead;
use crate::http::url::origin_of;

/// Checks that a request came from the gateway's own pages.
///
/// `Origin` must be the gateway's own origin. `GET` and `HEAD` requests may omit `Origin`. If
/// `Sec-Fetch-Site` is present, its value must be `same-origin`. For `GET` and `HEAD`, the value
/// may also be `none`, which browsers send for a URL that the user typed.
///
/// # Errors
/// Returns a 403 problem for any other request.
pub fn check_same_origin(head: &RequestHead) -> Result<(), Problem> {
    let reads = matches!(&*head.method, "GET" | "HEAD");
    let is_own = match head.header("origin") {
        Some(origin) => origin == origin_of(&head.url),
        None => reads,
    };
    let is_near = match head.header("sec-fetch-site") {
        None | Some("same-origin") => true,
        Some(site) => reads && site == "none",
    };
    if is_own && is_near {
        return Ok(());
    }
    let detail = "only the gateway's own page may send this request; other clients must send Authorization: Bearer";
    Err(Problem::new(ProblemKind::CrossSite, detail))
}
