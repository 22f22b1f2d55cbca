//! Handlers for sign-ins at an issuer. They redirect the browser to the issuer, and open a session
//! when the issuer redirects the browser back.

use std::rc::Rc;

use crate::app::pending_request::PendingRequest;
use crate::app::post::post;
use crate::app::reply::Reply;
use crate::app::sessions::open_with_proof;
use crate::auth::session::cookie::SessionId;
use crate::auth::session::sign_in;
use crate::auth::session::stub::SessionStub;
use crate::auth::session_record::Proof;
use crate::http::problem::Problem;
use crate::http::response::{HeaderFields, JSON};
use crate::runtime::{now, random_bytes};

/// Redirects the browser to an issuer's sign-in page.
pub fn begin(pending: &PendingRequest, before: Option<&SessionId>) -> Result<Reply, Problem> {
    let (settings, started) = (&pending.config.auth, pending.context.started);
    let headers = sign_in::begin(settings, &pending.head, before, &random_bytes()?, started)?;
    Ok(Reply::empty(302, headers))
}

/// Exchanges the authorization code of a callback, opens a session and redirects the browser to the
/// return path.
pub async fn conclude(pending: &mut PendingRequest) -> Result<Reply, Problem> {
    let (config, head) = (Rc::clone(&pending.config), Rc::clone(&pending.head));
    let callback = sign_in::read_callback(&config.auth, &head, now())?;
    // Marks the sign-in as used before calling the issuer, so that each sign-in causes at most one
    // token request, even if that request fails.
    let mark = SessionStub::new(&pending.env, &callback.name)?;
    if !mark.open("", callback.ends).await? {
        let detail = "this sign-in has already been used; begin again";
        return Err(sign_in::failed_problem(detail));
    }
    let headers = HeaderFields::default()
        .with("accept", JSON)
        .with("content-type", "application/x-www-form-urlencoded");
    let sent = post(&callback.issuer.token_endpoint, headers, &callback.body).await;
    let response = sent.as_ref();
    let response = response.map(|response| (response.status, response.body.as_deref()));
    let token = sign_in::read_token_response(callback.issuer, response)?;
    let proof = Proof::IdToken {
        token: &token,
        client: callback.issuer,
        nonce: &callback.nonce,
    };
    // The browser does not send the `SameSite=Strict` cookie of its earlier session after a
    // redirect from another site. The sign-in's own cookie names that session instead.
    let (_, cookie) = open_with_proof(pending, proof, callback.before.as_deref()).await?;
    let headers = HeaderFields::default()
        .with("location", callback.return_path)
        .with_cookie(cookie)
        .with_cookie(callback.cleared_cookie);
    Ok(Reply::empty(303, headers))
}
