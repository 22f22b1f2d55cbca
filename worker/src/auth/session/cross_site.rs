//! Protection against cross-site request forgery. `SameSite=Strict` is not enough: pages of sibling
//! subdomains are same-site, and browsers have had bugs in enforcing it.

use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::request_head::RequestHead;
use crate::http::url::origin_of;

/// `GET` and `HEAD` may omit `Origin`. Their `Sec-Fetch-Site` may be `none`, as for a URL that the
/// user typed.
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
