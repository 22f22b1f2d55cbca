use std::rc::Rc;

use quillgate::Millis;

use crate::app::context::Context;
use crate::app::handlers::HostResponse;
use crate::app::handlers::sessions::open_with_proof;
use crate::auth::session::object::SessionStub;
use crate::auth::session::sign_in;
use crate::auth::token::Proof;
use crate::http::problem::Problem;
use crate::http::response::{GatewayResponse, HeaderFields, JSON};
use crate::runtime::{now, random_bytes};
use crate::upstream::transport::{Caching, Outgoing, send};

/// For a token request and its response.
const TIMEOUT: Millis = Millis::from_seconds(10);
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

pub fn begin(context: &Context) -> Result<HostResponse, Problem> {
    let (settings, started) = (&context.config.auth, context.started);
    let before = context.cookie_session();
    let random = random_bytes()?;
    let headers = sign_in::begin(settings, &context.head, before.as_ref(), &random, started)?;
    Ok(GatewayResponse::new(302, headers, None).into())
}

pub async fn conclude(context: &mut Context) -> Result<HostResponse, Problem> {
    let (config, head) = (Rc::clone(&context.config), Rc::clone(&context.head));
    let callback = sign_in::read_callback(&config.auth, &head, now())?;
    // Marks the sign-in as used before calling the issuer, so that each sign-in causes at most one
    // token request, even if that request fails.
    let mark = SessionStub::new(&context.env, &callback.name)?;
    if !mark.open("", callback.ends).await? {
        let detail = "this sign-in has already been used; begin again";
        return Err(sign_in::failed_problem(detail));
    }
    let headers = HeaderFields::default()
        .with("accept", JSON)
        .with("content-type", "application/x-www-form-urlencoded");
    let sent = send(Outgoing {
        method: "POST",
        url: &callback.issuer.token_endpoint,
        headers,
        body: Some(&callback.body),
        caching: Caching::Bypass,
        time: TIMEOUT,
    });
    let received = sent.await.ok();
    let body = match &received {
        Some(received) => received.body.read(MAX_RESPONSE_BYTES).await,
        None => None,
    };
    let response = received.map(|received| (received.head.status, body.as_deref()));
    let token = sign_in::read_token_response(callback.issuer, response)?;
    let proof = Proof::IdToken {
        token: &token,
        client: callback.issuer,
        nonce: &callback.nonce,
    };
    // The browser does not send the `SameSite=Strict` cookie of its earlier session after a
    // redirect from another site. The sign-in's own cookie names that session instead.
    let (_, cookie) = open_with_proof(context, proof, callback.before.as_deref()).await?;
    let headers = HeaderFields::default()
        .with("location", callback.return_path)
        .with_cookie(cookie)
        .with_cookie(callback.cleared_cookie);
    Ok(GatewayResponse::new(303, headers, None).into())
}
