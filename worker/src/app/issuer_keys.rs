//! The keys of trusted issuers in an isolate. [`find_issuer_key`] finds a key in memory, or fetches
//! the key set from the issuer. Concurrent searches for unknown keys share one fetch.

use std::cell::RefCell;
use std::collections::BTreeMap;

use js_sys::Promise;
use quillgate::Millis;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use worker::worker_sys::Context;

use crate::auth::jwks::{
    FRESH_FOR, FetchReason, KeySet, KeySetReply, NoKey, PublicKey, RememberedSet, Search, read_age,
};
use crate::auth::oidc::Checked;
use crate::http::response::HeaderFields;
use crate::runtime::{HostResult, Wait, Wake, into_promise, now};
use crate::upstream::transport::{Caching, Outgoing, send};

/// The time limit of a request to an issuer.
const TIMEOUT: Millis = Millis::from_seconds(5);
/// The maximum wait for another request's search, which sends at most two requests.
const MAX_SEARCH: Millis = Millis::from_seconds(15);
/// The maximum size of a key set, in bytes. The key sets of common issuers take a few kilobytes.
const MAX_BYTES: usize = 128 * 1024;

#[derive(Default)]
struct IssuerKeys {
    set: RememberedSet,
    /// The requests that wait for the search in progress.
    waiting: Vec<Wake>,
}

thread_local! {
    /// Issuers' keys, by the URL of the key set. URLs come from the configuration, so the map is
    /// bounded.
    static KEY_SETS: RefCell<BTreeMap<String, IssuerKeys>> =
        const { RefCell::new(BTreeMap::new()) };
}

/// Finds the key that a token names.
///
/// # Errors
/// Returns an outer error if the runtime fails, and an inner error with the reason if no key is
/// found.
pub async fn find_issuer_key(
    execution: &Context,
    token: &Checked,
    started: Millis,
) -> HostResult<Result<PublicKey, NoKey>> {
    let search = with_issuer_keys(token.jwks(), |keys| {
        keys.set
            .search(token.kid.as_deref(), token.algorithm, started)
    });
    match search {
        Search::Found(found) => return Ok(found),
        Search::Fetch(reason) => {
            let promise = begin_fetch(token, reason);
            // The fetch continues after the client disconnects, because other requests may wait for
            // the key set.
            execution.wait_until(&promise)?;
            JsFuture::from(promise).await?;
        }
        Search::Wait => {
            // Waits for a separate promise, because the other request's promise never settles if
            // the runtime cancels the other request.
            Wait::begin(MAX_SEARCH, |wake| {
                with_issuer_keys(token.jwks(), |keys| keys.waiting.push(wake));
            })
            .await;
        }
    }
    Ok(with_issuer_keys(token.jwks(), |keys| {
        keys.set.find(token.kid.as_deref(), token.algorithm, now())
    }))
}

/// Fetches a key set, keeps it and wakes the waiting requests.
fn begin_fetch(token: &Checked, reason: FetchReason) -> Promise {
    let address = token.jwks().to_owned();
    let (kid, algorithm) = (token.kid.clone(), token.algorithm);
    into_promise(async move {
        let kid = kid.as_deref();
        let set = fetch_key_set(&address, kid, reason).await;
        let waiting = with_issuer_keys(&address, |keys| {
            keys.set.conclude(reason, set, kid, algorithm, now());
            match reason {
                FetchReason::First | FetchReason::Search => std::mem::take(&mut keys.waiting),
                FetchReason::Refresh => Vec::new(),
            }
        });
        for wake in waiting {
            wake.wake();
        }
        Ok(JsValue::UNDEFINED)
    })
}

/// Fetches a key set. Only an isolate's first set may come from Cloudflare's cache, because all
/// other fetches look for changes. Returns `None` if no valid set arrives.
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

/// Requests a key set. The set is missing if the request fails, the status is not 200, or the body
/// is not a key set or exceeds [`MAX_BYTES`].
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
        return KeySetReply {
            set: None,
            is_from_cache: false,
        };
    };
    let age = match caching {
        Caching::Bypass => Millis(0),
        Caching::For(_) => read_age(message.head.headers.get("age")),
    };
    let text = match message.head.status {
        200 => message.read_text(MAX_BYTES).await,
        _ => None,
    };
    KeySetReply {
        set: text.and_then(|text| KeySet::read(&text, now().since(age)).ok()),
        is_from_cache: age > Millis(0),
    }
}

/// Calls `run` with the cached key set for `address`. Creates an empty entry if the address has
/// none.
fn with_issuer_keys<T>(address: &str, run: impl FnOnce(&mut IssuerKeys) -> T) -> T {
    KEY_SETS.with_borrow_mut(|all| run(all.entry(address.to_owned()).or_default()))
}
