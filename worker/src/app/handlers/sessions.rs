use std::rc::Rc;

use quillgate::RateLimitPolicy;

use crate::app::config::Config;
use crate::app::context::Context;
use crate::app::handlers::HostResponse;
use crate::app::isolate::with_admission;
use crate::app::issuer_keys::verify_token;
use crate::auth::caller::Caller;
use crate::auth::session::cookie::{SameSite, SessionId, clear_cookie, write_cookie};
use crate::auth::session::object::SessionStub;
use crate::auth::session::{cookie, describe, read_opening};
use crate::auth::token::{Proof, Token};
use crate::auth::{missing_token_problem, session_record};
use crate::budget::reservation::BudgetRequest;
use crate::http::problem::Problem;
use crate::http::response::GatewayResponse;
use crate::runtime::{now, random_bytes};

/// Per caller, window and isolate, because each session creates a Durable Object.
const MAX_SESSIONS: u32 = 60;

/// For the access token in the body, or else for the assertion.
pub async fn open(context: &mut Context) -> Result<HostResponse, Problem> {
    let token = read_opening(&context.read_body().await?)?;
    let head = Rc::clone(&context.head);
    let proof = match (&token, head.header("cf-access-jwt-assertion")) {
        (Some(token), _) => Proof::AccessToken(token),
        (None, Some(assertion)) => Proof::AccessAssertion(assertion),
        (None, None) => return Err(missing_token_problem()),
    };
    let before = context.cookie_session();
    let before = before.as_ref().map(SessionId::as_str);
    let (caller, cookie) = open_with_proof(context, proof, before).await?;
    let body = describe_session(&caller, &context.config);
    Ok(GatewayResponse::json(201, body)
        .with_header("set-cookie", cookie)
        .into())
}

pub fn read(context: &Context) -> Result<HostResponse, Problem> {
    let body = describe_session(context.caller()?, &context.config);
    Ok(GatewayResponse::json(200, body).into())
}

fn describe_session(caller: &Caller, config: &Config) -> String {
    let archive = &config.analytics.archive;
    let keeps_prompts = config.jobs.keep_prompts.name();
    describe(caller, keeps_prompts, |project| archive.includes(project))
}

pub async fn end(context: &Context) -> Result<HostResponse, Problem> {
    if let Some(id) = context.cookie_session() {
        SessionStub::new(&context.env, id.as_str())?.end().await?;
    }
    let response = GatewayResponse::empty(204);
    Ok(response
        .with_header("set-cookie", clear_cookie(cookie::NAME))
        .into())
}

/// Opens a session for the proof's subject and ends the session `before`, if any. `before` ends
/// last, so that users stay signed in if the new session cannot be stored. If ending `before`
/// fails, the new session is removed and the browser keeps its earlier cookie.
pub async fn open_with_proof(
    context: &mut Context,
    proof: Proof<'_>,
    before: Option<&str>,
) -> Result<(Rc<Caller>, String), Problem> {
    let (config, started) = (Rc::clone(&context.config), context.started);
    let token = match Token::read(proof, &config.auth, started)? {
        Token::Verified(token) => token,
        Token::Unverified(token) => verify_token(context, token).await?,
    };
    let secret = config.auth.token_secrets.get(token.secret);
    let secret = secret.ok_or_else(Problem::internal)?;
    let (caller, record) = session_record::create(proof, token, started);
    context.facts.caller = Some(Rc::clone(&caller));
    let window = config.limits.window;
    let request = BudgetRequest {
        // The key differs from the keys of job reads, because no project id begins with a line
        // feed.
        caller: format!("\nsession\n{}", caller.key()),
        ..BudgetRequest::of_all(RateLimitPolicy::ReadJobs)
    };
    let reserved =
        with_admission(|(_, reads)| reads.reserve(&request, MAX_SESSIONS, window, now()));
    if let Err(refused) = reserved {
        let seconds = window.0.div_ceil(1000);
        let detail = format!("a caller may open {MAX_SESSIONS} sessions in any {seconds} seconds");
        return Err(Problem { detail, ..refused });
    }
    let (id, value) = SessionId::new(&random_bytes()?, secret);
    let session = SessionStub::new(&context.env, id.as_str())?;
    session.open(&record, caller.expires).await?;
    if let Some(before) = before
        && let Err(error) = SessionStub::new(&context.env, before)?.end().await
    {
        // If ending the new session fails too, the new session stays unused until it expires.
        let _removed = session.end().await;
        return Err(error.into());
    }
    let lifetime = caller.expires.since(started);
    let cookie = write_cookie(cookie::NAME, &value, SameSite::Strict, lifetime);
    Ok((caller, cookie))
}
