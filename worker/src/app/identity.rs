//! Obtains the evidence that identifies a caller: reads the record of a session, or verifies the
//! signature of an issuer's token.

use std::rc::Rc;

use crate::app::action::Action;
use crate::app::isolate::with_verified;
use crate::app::issuer_keys::find_issuer_key;
use crate::app::pending_request::PendingRequest;
use crate::app::plan::PendingPlan;
use crate::auth::jwks::NoKey;
use crate::auth::jwt::WRONG_SIGNATURE;
use crate::auth::oidc::{Checked, Verified};
use crate::auth::session::cookie::SessionId;
use crate::auth::session::stub::SessionStub;
use crate::auth::signature::verify_signature;
use crate::auth::{Evidence, Identified, invalid_token};
use crate::http::problem::Problem;

/// Reads the session's record or verifies the token's signature, whichever the plan needs, and
/// resumes the plan. If the session has ended, the request's assertion can still identify the
/// caller.
///
/// # Errors
/// The problem that refuses the caller.
pub async fn identify(
    pending: &mut PendingRequest,
    mut plan: PendingPlan,
) -> Result<Action, Problem> {
    let config = Rc::clone(&pending.config);
    let (head, started) = (Rc::clone(&pending.head), pending.context.started);
    loop {
        let PendingPlan { target, evidence } = plan;
        let identified = match evidence {
            Evidence::Session(id) => {
                let record = read_session(pending, id).await?;
                with_verified(|verified| {
                    let record = record.as_deref();
                    target.identify_session(record, &head, &config.auth, started, verified)
                })?
            }
            Evidence::Signature(token) => {
                let token = verify_token(pending, *token).await?;
                let caller =
                    with_verified(|verified| verified.identify(&token, &config.auth, started));
                Identified::Caller(caller?)
            }
        };
        let resumed = target.resume(identified, &config, &head, started);
        pending.context.caller = resumed.caller;
        pending.context.project = resumed.project;
        match resumed.action? {
            Action::Identify(next) => plan = *next,
            action => return Ok(action),
        }
    }
}

async fn read_session(
    pending: &mut PendingRequest,
    id: SessionId,
) -> Result<Option<String>, Problem> {
    let record = SessionStub::new(&pending.env, id.as_str())?.read().await?;
    pending.context.session = record.is_some().then_some(id);
    Ok(record)
}

/// Verifies the signature of an issuer's token.
///
/// # Errors
/// 401 for a wrong signature or an unusable key, 500 if the runtime cannot verify signatures, 503 if
/// the keys are unavailable.
pub async fn verify_token(pending: &PendingRequest, token: Checked) -> Result<Verified, Problem> {
    let started = pending.context.started;
    let found = find_issuer_key(&pending.env, &pending.execution, &token, started).await?;
    let key = found.map_err(|reason| match reason {
        NoKey::Unavailable => Problem::issuer_unavailable(),
        NoKey::Unusable(reason) => invalid_token(reason),
    })?;
    let is_valid = verify_signature(token.algorithm, token.signed(), &token.signature, &key).await;
    let is_valid = is_valid
        .map_err(|error| Problem::internal().with_operator(format!("WebCrypto failed: {error}")))?;
    if is_valid {
        Ok(token.into_verified())
    } else {
        Err(invalid_token(WRONG_SIGNATURE))
    }
}
