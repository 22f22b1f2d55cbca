//! Sessions of the gateway's page. Isolates do not cache sessions, so no isolate accepts a new
//! request of a session that has ended.

pub mod cookie;
pub mod cross_site;
#[cfg(all(target_arch = "wasm32", feature = "runtime"))]
pub(crate) mod object;
pub mod sign_in;

use quillgate::encode::percent_encode;
use quillgate::{Rule, ValidationError};
use serde_json::{Value, json};

use crate::auth::accepts_from;
use crate::auth::auth_settings::AuthSettings;
use crate::auth::caller::{Caller, ISSUER};
use crate::auth::jwt::take_text;
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
    let (mut projects, mut scopes) = (Vec::new(), Vec::new());
    for grant in &caller.grants {
        add_new(&mut projects, &grant.projects);
        add_new(&mut scopes, &grant.scopes);
    }
    let mut archived = projects.clone();
    archived.retain(|project| project.as_str().is_some_and(&is_archived));
    let issuer = Some(caller.issuer.as_str()).filter(|issuer| *issuer != ISSUER);
    json::to_text(&json!({
        "issuer": issuer,
        "subject": caller.subject,
        "projects": Value::Array(projects),
        "archivedProjects": Value::Array(archived),
        "scopes": Value::Array(scopes),
        "keepsPrompts": keeps_prompts,
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

pub fn describe_methods(settings: &AuthSettings) -> String {
    let mut issuers = Vec::new();
    for issuer in &settings.sign_in_issuers {
        let href = format!("/session/start?issuer={}", percent_encode(&issuer.name));
        issuers.push(json!({ "name": issuer.name, "href": href }));
    }
    let access = accepts_from(&settings.trusted_issuers, Source::AccessAssertion);
    json::to_text(&json!({ "token": true, "access": access, "issuers": Value::Array(issuers) }))
}
