//! The record of a session: the verified claims of the token that opened it, but never the token.
//! Every request checks the claims again, so a changed rule applies immediately.

use std::rc::Rc;

use quillgate::Millis;

use crate::auth::auth_settings::AuthSettings;
use crate::auth::caller::{Caller, ISSUER};
use crate::auth::jwt::{EXPIRED, INCOMPLETE};
use crate::auth::token::{Proof, VerifiedToken};
use crate::auth::trusted_issuer::Source;
use crate::auth::{access_token, invalid_token, oidc};
use crate::http::problem::Problem;
use crate::json;

/// Even if an issuer's token lives longer.
pub const MAX_SESSION_LIFETIME: Millis = Millis::from_seconds(90 * 86_400);

/// The record has the kind of the token and the session's expiry, in milliseconds, in one line, and
/// the claims in the next.
pub fn create(proof: Proof<'_>, token: VerifiedToken, now: Millis) -> (Rc<Caller>, String) {
    let kind = match proof {
        Proof::AccessToken(_) if token.caller.issuer == ISSUER => "own",
        Proof::AccessToken(_) => "bearer",
        Proof::AccessAssertion(_) => "assertion",
        Proof::IdToken { .. } => "id-token",
    };
    let ends = now.plus(MAX_SESSION_LIFETIME);
    let record = format!("{kind} {}\n{}", ends.0, json::to_text(&token.claims));
    (limit_expiry(token.caller, ends), record)
}

fn limit_expiry(caller: Caller, ends: Millis) -> Rc<Caller> {
    let expires = caller.expires.min(ends);
    Rc::new(Caller { expires, ..caller })
}

pub fn identify(record: &str, settings: &AuthSettings, now: Millis) -> Result<Rc<Caller>, Problem> {
    let (head, claims) = record.split_once('\n').unwrap_or((record, ""));
    // Records of earlier releases have no absolute expiry.
    let (kind, ends) = head.split_once(' ').unwrap_or((head, ""));
    let ends = ends.parse().map_or(Millis(u64::MAX), Millis);
    if now >= ends {
        return Err(invalid_token(EXPIRED));
    }
    let claims = json::parse_map(claims.as_bytes());
    let claims = claims.ok_or_else(|| invalid_token(INCOMPLETE))?;
    let caller = if kind == "own" {
        access_token::read_caller(&claims, &settings.revoked, now).map_err(invalid_token)?
    } else {
        let (source, clients) = match kind {
            "assertion" => (Source::AccessAssertion, None),
            "id-token" => (Source::Bearer, Some(&settings.sign_in_issuers[..])),
            _ => (Source::Bearer, None),
        };
        let checked = oidc::check_claims(claims, source, &settings.trusted_issuers, clients, now);
        checked?.caller(&settings.revoked)?
    };
    Ok(limit_expiry(caller, ends))
}
