//! Plans with the tokens that the isolate has verified, and signatures of issuers' tokens.

use quillgate::Millis;

use crate::app::config::Config;
use crate::app::isolate::with_verified;
use crate::app::issuer_keys::find_issuer_key;
use crate::app::pending_request::PendingRequest;
use crate::app::plan::{Plan, plan};
use crate::auth::jwks::NoKey;
use crate::auth::jwt::WRONG_SIGNATURE;
use crate::auth::oidc::UnverifiedToken;
use crate::auth::signature::verify_signature;
use crate::auth::{Signature, invalid_token};
use crate::http::problem::Problem;
use crate::http::request_head::RequestHead;

/// Plans a request with the tokens that this isolate has verified.
pub fn make_plan(config: &Config, head: &RequestHead, now: Millis, signature: Signature) -> Plan {
    with_verified(|verified| plan(config, head, now, signature, verified))
}

/// Verifies the signature of an issuer's token.
///
/// # Errors
/// 401 for a wrong signature or an unusable key, 503 if the keys are unavailable.
pub async fn verify_token(
    pending: &mut PendingRequest,
    token: &UnverifiedToken,
) -> Result<(), Problem> {
    let started = pending.context.started;
    let found = find_issuer_key(&pending.env, &pending.execution, token, started).await;
    let found = found.map_err(|error| pending.gate_failed(&error))?;
    let key = found.map_err(|reason| match reason {
        NoKey::Unavailable => Problem::issuer_unavailable(),
        NoKey::Unusable(reason) => invalid_token(reason),
    })?;
    match verify_signature(token, &key).await {
        Ok(true) => Ok(()),
        Ok(false) | Err(_) => Err(invalid_token(WRONG_SIGNATURE)),
    }
}
