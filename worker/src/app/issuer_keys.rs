//! The keys of trusted issuers in an isolate. Concurrent searches for unknown keys share one fetch.

use std::cell::RefCell;
use std::collections::BTreeMap;

use quillgate::Millis;

use crate::app::context::Context;
use crate::auth::invalid_token;
use crate::auth::jwks::{
    FRESH_FOR, FetchReason, KeySet, KeySetReply, PublicKey, RememberedSet, read_age,
};
use crate::auth::jwt::WRONG_SIGNATURE;
use crate::auth::signature::verify_signature;
use crate::auth::token::{UnverifiedToken, VerifiedToken};
use crate::http::problem::Problem;
use crate::http::response::HeaderFields;
use crate::runtime::{now, share_fetch};
use crate::upstream::transport::{Caching, Outgoing, send};

const TIMEOUT: Millis = Millis::from_seconds(5);
/// In bytes. The key sets of common issuers take a few kilobytes.
const MAX_BYTES: usize = 128 * 1024;

thread_local! {
    /// By URL. The URLs come from the configuration, so the map is bounded.
    static KEY_SETS: RefCell<BTreeMap<String, RememberedSet>> =
        const { RefCell::new(BTreeMap::new()) };
}

/// Returns 401 for an invalid signature or an unusable key, 500 if the runtime cannot verify
/// signatures, and 503 if the keys are unavailable.
pub async fn verify_token(
    context: &Context,
    token: UnverifiedToken,
) -> Result<VerifiedToken, Problem> {
    let key = find_key(context, &token).await?;
    match verify_signature(token.algorithm, token.signed(), &token.signature, &key).await {
        Ok(true) => token.into_verified(&context.config.auth.revoked),
        Ok(false) => Err(invalid_token(WRONG_SIGNATURE)),
        Err(error) => Err(Problem::internal().with_operator(format!("WebCrypto failed: {error}"))),
    }
}

/// If the keys must be fetched, waits for the same fetch of another request, if any.
async fn find_key(context: &Context, token: &UnverifiedToken) -> Result<PublicKey, Problem> {
    let (address, kid, algorithm) = (token.jwks(), token.kid.as_deref(), token.algorithm);
    let mut time = context.started;
    // Searches twice, because the first search can wait for a fetch that looked for another key.
    for _ in 0..2 {
        let reason = with_key_set(address, |set| set.plan_fetch(kid, algorithm, time));
        let Some(reason) = reason else { break };
        let name = match reason {
            FetchReason::First | FetchReason::Search => address.to_owned(),
            FetchReason::Refresh => format!("newer {address}"),
        };
        let (address, kid) = (address.to_owned(), token.kid.clone());
        let fetch = Box::pin(async move {
            let kid = kid.as_deref();
            let fetched = fetch_key_set(&address, kid, reason).await;
            with_key_set(&address, |set| {
                set.conclude(reason, fetched, kid, algorithm, now());
            });
        });
        share_fetch(&context.execution, name, fetch).await?;
        time = now();
    }
    with_key_set(address, |set| set.find(kid, algorithm, time))
}

/// Only an isolate's first set may come from Cloudflare's cache, because all other fetches look for
/// changes.
async fn fetch_key_set(address: &str, kid: Option<&str>, reason: FetchReason) -> Option<KeySet> {
    if reason != FetchReason::First {
        return request_key_set(address, Caching::Bypass).await.set;
    }
    let cached = request_key_set(address, Caching::For(FRESH_FOR)).await;
    if !cached.needs_issuer(kid) {
        return cached.set;
    }
    let current = request_key_set(address, Caching::Bypass).await;
    current.set.or(cached.set)
}

async fn request_key_set(address: &str, caching: Caching) -> KeySetReply {
    let sent = send(Outgoing {
        method: "GET",
        url: address,
        headers: HeaderFields::default().with("accept", "application/json"),
        body: None,
        caching,
        time: TIMEOUT,
    });
    let Ok(message) = sent.await else {
        return KeySetReply::default();
    };
    let age = match caching {
        Caching::Bypass => Millis(0),
        Caching::For(_) => read_age(message.head.headers.get("age")),
    };
    let text = match message.head.status {
        200 => message.body.read(MAX_BYTES).await,
        _ => None,
    };
    KeySetReply {
        set: text.and_then(|text| KeySet::read(&text, now().since(age)).ok()),
        is_from_cache: age > Millis(0),
    }
}

fn with_key_set<T>(address: &str, run: impl FnOnce(&mut RememberedSet) -> T) -> T {
    KEY_SETS.with_borrow_mut(|all| run(all.entry(address.to_owned()).or_default()))
}
