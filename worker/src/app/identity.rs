//! The identification of callers that needs I/O. The gateway reads the record of a session, or
//! verifies the signature of an issuer's token with the issuer's key.

use std::rc::Rc;

use crate::app::isolate::with_verified;
use crate::app::issuer_keys::find_issuer_key;
use crate::app::pending_request::PendingRequest;
use crate::app::plan::Target;
use crate::auth::caller::Caller;
use crate::auth::jwks::NoKey;
use crate::auth::jwt::WRONG_SIGNATURE;
use crate::auth::oidc::{Checked, Verified};
use crate::auth::session::stub::SessionStub;
use crate::auth::signature::verify_signature;
use crate::auth::{Identity, identify_session, invalid_token};
use crate::http::problem::Problem;

/// Identifies the caller by the record of the caller's session, or by the signature of the caller's
/// token. If the session has ended, the request's assertion can still identify the caller.
///
/// # Errors
/// Returns the problem to respond with if the caller cannot be identified, for example 401 if the
/// session has ended and the request has no assertion.
pub async fn identify(
    pending: &mut PendingRequest,
    target: &Target,
    mut identity: Identity,
) -> Result<Rc<Caller>, Problem> {
    let (config, started) = (Rc::clone(&pending.config), pending.context.started);
    loop {
        let id = match identity {
            Identity::Known(caller) => return Ok(caller),
            Identity::Session(id) => id,
            Identity::Unverified(token) => {
                let token = verify_token(pending, *token).await?;
                return with_verified(|verified| verified.identify(&token, &config.auth, started));
            }
        };
        let record = SessionStub::new(&pending.env, id.as_str())?.read().await?;
        pending.context.session = record.is_some().then_some(id);
        let assertion = pending.head.header("cf-access-jwt-assertion");
        let assertion = assertion.filter(|_| target.accepts_assertion());
        let record = record.as_deref();
        identity = with_verified(|verified| {
            identify_session(record, assertion, &config.auth, started, verified)
        })?;
    }
}

/// Verifies the signature of an issuer's token.
///
/// # Errors
/// Returns a 401 problem for an invalid signature or an unusable key, 500 if the runtime cannot
/// verify signatures, and 503 if the keys are unavailable.
pub async fn verify_token(pending: &PendingRequest, token: Checked) -> Result<Verified, Problem> {
    let started = pending.context.started;
    let found = find_issuer_key(&pending.execution, &token, started).await?;
    let key = found.map_err(|reason| match reason {
        NoKey::Unavailable => Problem::issuer_unavailable(),
        NoKey::Unusable(reason) => invalid_token(reason),
    })?;
    match verify_signature(token.algorithm, token.signed(), &token.signature, &key).await {
        Ok(true) => Ok(token.into_verified()),
        Ok(false) => Err(invalid_token(WRONG_SIGNATURE)),
        Err(error) => Err(Problem::internal().with_operator(format!("WebCrypto failed: {error}"))),
    }
}
