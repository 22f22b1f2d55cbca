//! Handlers of a sign-in at an issuer.

use std::rc::Rc;

use quillgate::Millis;
use web_sys::Request;

use crate::app::pending_request::PendingRequest;
use crate::app::reply::Reply;
use crate::app::sessions::{end_session, find_session, open_with_proof};
use crate::auth::session::sign_in;
use crate::auth::session::sign_in::{Callback, SignIn};
use crate::auth::session::stub::SessionStub;
use crate::auth::session_record::Proof;
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::request_head::PackedHead;
use crate::http::response::{HeaderFields, JSON};
use crate::http::url::split_url;
use crate::runtime::{now, random_bytes};
use crate::upstream::transport::{Outgoing, send};

/// The time limit of a request to a token endpoint.
const TOKEN_TIMEOUT: Millis = Millis::from_seconds(10);
/// The maximum length of a token response, in bytes.
const MAX_TOKEN_RESPONSE_BYTES: usize = 64 * 1024;

/// Redirects the browser to an issuer's sign-in page.
pub fn begin(pending: &mut PendingRequest, packed: &PackedHead<'_>) -> Result<Reply, Problem> {
    let config = Rc::clone(&pending.config);
    let sign_in = SignIn::read(split_url(packed.url).1, &config.auth)?;
    let random = random_bytes().map_err(|error| pending.gate_failed(&error))?;
    let started = pending.context.started;
    let before = find_session(pending);
    let (before, url) = (before.as_ref(), packed.url);
    let redirect = sign_in::begin(&config.auth, &sign_in, before, url, &random, started);
    Ok(redirect_to(302, redirect.location, redirect.cookie))
}

/// Exchanges the code of a callback, opens a session and redirects the browser to its page.
pub async fn conclude(
    pending: &mut PendingRequest,
    packed: &PackedHead<'_>,
) -> Result<Reply, Problem> {
    let cookies = pending.cookies();
    let (config, cookies) = (Rc::clone(&pending.config), cookies.as_deref());
    let callback = sign_in::read_callback(&config.auth, packed.url, cookies, now())?;
    consume(pending, &callback).await?;
    let token = request_token(&callback).await?;
    let proof = Proof::IdToken {
        token: &token,
        client: callback.issuer,
        nonce: &callback.nonce,
    };
    let (_, cookie) = open_with_proof(pending, proof).await?;
    // The redirect comes from another site, so the browser withholds the cookie of its old session.
    if let Some(before) = &callback.before {
        end_session(pending, before).await?;
    }
    Ok(redirect_to(303, callback.return_path, cookie))
}

/// Returns whether a browser expects a page.
pub fn wants_page(request: &Request) -> bool {
    let accept = request.headers().get("accept");
    sign_in::accepts_page(accept.ok().flatten().as_deref())
}

/// Redirects a browser whose sign-in failed to a page that explains the problem.
pub fn redirect_after_failure(kind: ProblemKind) -> Reply {
    let headers = HeaderFields::default().with("location", sign_in::failure_path(kind));
    Reply {
        problem: Some(kind),
        ..Reply::empty(303, headers)
    }
}

/// Marks a sign-in as used before the issuer is called. Each sign-in costs the issuer at most one
/// token request, even if that request fails.
async fn consume(pending: &mut PendingRequest, callback: &Callback<'_>) -> Result<(), Problem> {
    let stored = async {
        let session = SessionStub::new(&pending.env, &callback.name)?;
        session.open("", callback.ends).await
    };
    if stored.await.map_err(|error| pending.gate_failed(&error))? {
        return Ok(());
    }
    Err(sign_in::failed_problem(
        "this sign-in has already been used; begin again",
    ))
}

/// Requests the ID token for the code of a callback.
async fn request_token(callback: &Callback<'_>) -> Result<String, Problem> {
    let headers = HeaderFields::default()
        .with("accept", JSON)
        .with("content-type", "application/x-www-form-urlencoded");
    let sent = send(Outgoing {
        method: "POST",
        url: &callback.issuer.token_endpoint,
        headers,
        body: Some(&callback.body),
        time: TOKEN_TIMEOUT,
    });
    let message = sent.await.map_err(|_| Problem::issuer_unavailable())?;
    let response = match message.head.status {
        200..=299 => message.read_text(MAX_TOKEN_RESPONSE_BYTES).await,
        400..=499 => {
            let detail = "the issuer has not accepted the code";
            return Err(sign_in::failed_problem(detail));
        }
        _ => None,
    };
    let response = response.ok_or_else(Problem::issuer_unavailable)?;
    let token = sign_in::read_id_token(&response);
    token.ok_or_else(Problem::issuer_unavailable)
}

fn redirect_to(status: u16, location: String, cookie: String) -> Reply {
    let headers = HeaderFields::default()
        .with("location", location)
        .with("set-cookie", cookie);
    Reply::empty(status, headers)
}
