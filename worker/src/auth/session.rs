//! Sessions of the gateway's page. Isolates do not cache sessions, so no isolate accepts a new
//! request of a session that has ended.

pub mod cookie;
pub mod cross_site;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod object;
pub mod sign_in;

use quillgate::encode::percent_encode;
use quillgate::{Rule, ValidationError};
use serde_json::json;

use crate::auth::accepts_from;
use crate::auth::auth_settings::{AuthSettings, list_once};
use crate::auth::caller::{Caller, ISSUER};
use crate::auth::jwt::take_text;
use crate::auth::session::sign_in::START;
use crate::auth::trusted_issuer::Source;
use crate::http::content::read_object;
use crate::http::problem::Problem;
use crate::json;

/// Without a token, Cloudflare Access must identify the caller.
pub fn read_opening(body: &[u8]) -> Result<Option<String>, Problem> {
    let mut members = read_object(body)?;
    let token = take_text(&mut members, "token");
    match members.keys().next() {
        None => Ok(token),
        Some(name) if name == "token" => {
            Err(ValidationError::new("token", Rule::Text, "not text").into())
        }
        Some(name) => Err(ValidationError::unknown(name).into()),
    }
}

/// `archivedProjects` lets the page skip requests that would return a 501. `keeps_prompts` is the
/// value of `KEEP_PROMPTS`.
pub fn describe(
    caller: &Caller,
    keeps_prompts: &str,
    is_archived: impl Fn(&str) -> bool,
) -> String {
    let projects = list_once(caller.grants.iter().flat_map(|grant| &grant.projects));
    let scopes = list_once(caller.grants.iter().flat_map(|grant| &grant.scopes));
    let mut archived = projects.clone();
    archived.retain(|project| is_archived(project));
    let issuer = Some(caller.issuer.as_str()).filter(|issuer| *issuer != ISSUER);
    json::to_text(&json!({
        "issuer": issuer,
        "subject": caller.subject,
        "projects": projects,
        "archivedProjects": archived,
        "scopes": scopes,
        "keepsPrompts": keeps_prompts,
        "expiresAt": caller.expires.0,
    }))
}

pub fn describe_methods(settings: &AuthSettings) -> String {
    let mut issuers = Vec::new();
    for issuer in &settings.sign_in_issuers {
        let href = format!("{START}?issuer={}", percent_encode(&issuer.name));
        issuers.push(json!({ "name": issuer.name, "href": href }));
    }
    let access = accepts_from(&settings.trusted_issuers, Source::AccessAssertion);
    json::to_text(&json!({ "token": true, "access": access, "issuers": issuers }))
}
