//! Sessions of the gateway's own page: a cookie in the place of a token, so that no script of the
//! page can read either.
//!
//! A session is a Durable Object that keeps the claims of the token it was opened with
//! ([`crate::auth::session_record`]). The cookie is the only way to it; no isolate remembers it,
//! so a session that has ended has ended everywhere.

pub mod cookie;
pub mod cross_site;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod object;
pub mod problem;
pub mod sign_in;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod stub;

use quillgate::{Rule, ValidationError};
use serde_json::{Value, json};

use crate::auth::caller::{Caller, ISSUER};
use crate::auth::jwt::take_text;
use crate::auth::settings::AuthSettings;
use crate::auth::trusted_issuer::Source;
use crate::http::problem::Problem;
use crate::http::response::HeaderFields;
use crate::json;

/// The path of the session itself; those of sign-in are below it.
pub const SESSION: &str = "/session";

/// Reads the body of a request that opens a session: its token, or none where Cloudflare Access says
/// who is calling.
///
/// # Errors
/// 400 for a body that is not a JSON object, or has anything else in it.
pub fn read_opening(body: &[u8]) -> Result<Option<String>, Problem> {
    let Some(Value::Object(mut members)) = json::parse(body) else {
        return Err(Problem::malformed_body());
    };
    let token = take_text(&mut members, "token");
    match members.keys().next() {
        None => Ok(token),
        Some(name) if name == "token" => {
            Err(ValidationError::new("token", Rule::Text, "not text").into())
        }
        Some(name) => Err(ValidationError::unknown(name).into()),
    }
}

/// Describes a session as JSON: whose it is, what may be done in it, and until when. Its issuer is
/// `null` where that is the gateway itself: two people of one subject are told apart by it. Which
/// of its projects are archived is among it, so that nobody has to be answered 501 to know.
#[must_use]
pub fn describe(caller: &Caller, is_archived: impl Fn(&str) -> bool) -> String {
    let (mut projects, mut scopes) = (Vec::new(), Vec::new());
    for grant in &caller.grants {
        add_new(&mut projects, &grant.projects);
        add_new(&mut scopes, &grant.scopes);
    }
    let is_archived = |project: &&Value| project.as_str().is_some_and(&is_archived);
    let archived: Vec<Value> = projects.iter().filter(is_archived).cloned().collect();
    let issuer = Some(caller.issuer.as_str()).filter(|issuer| *issuer != ISSUER);
    json::to_text(&json!({
        "issuer": issuer,
        "subject": caller.subject,
        "projects": Value::Array(projects),
        "archivedProjects": Value::Array(archived),
        "scopes": Value::Array(scopes),
        "expiresAt": caller.expires.0,
    }))
}

fn add_new(all: &mut Vec<Value>, more: &[String]) {
    for one in more {
        if !all.iter().any(|other| other == one) {
            all.push(one.as_str().into());
        }
    }
}

/// Describes as JSON how a session can be opened.
#[must_use]
pub fn describe_methods(settings: &AuthSettings) -> String {
    let mut issuers = Vec::new();
    for issuer in &settings.sign_in_issuers {
        let href = sign_in::start_path(issuer);
        issuers.push(json!({ "name": issuer.name, "href": href }));
    }
    let mut trusted = settings.trusted_issuers.iter();
    let access = trusted.any(|issuer| issuer.source == Source::AccessAssertion);
    json::to_text(&json!({ "token": true, "access": access, "issuers": Value::Array(issuers) }))
}

/// Keeps a browser from using an answer again without asking: the session may have ended by then.
pub fn require_revalidation(headers: &mut HeaderFields) {
    let kept = headers.get("cache-control");
    if kept.is_some_and(|kept| kept != "no-store") {
        headers.set("cache-control", "private, no-cache");
    }
}
