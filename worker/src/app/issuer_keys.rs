//! The keys of trusted issuers in an isolate. [`find_issuer_key`] finds a key in memory, or
//! requests the key set from the organization's object. Concurrent searches for unknown keys share
//! one call to the object.

use std::cell::RefCell;
use std::collections::BTreeMap;

use js_sys::Promise;
use quillgate::Millis;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use worker::Env;
use worker::worker_sys::Context;

use crate::analytics::organization_stub::OrganizationStub;
use crate::auth::jwks::{LookupReason, NoKey, PublicKey, RememberedSet, Search};
use crate::auth::oidc::Checked;
use crate::runtime::{HostResult, Wait, Wake, into_promise, log_for_operator, now};

/// The maximum wait for another request's search. A search normally ends much earlier, because the
/// object's request to the issuer has a short timeout.
const MAX_SEARCH: Millis = Millis::from_seconds(30);

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
/// found. If the call to the organization's object fails, the error is logged and the cached set is
/// used.
pub async fn find_issuer_key(
    env: &Env,
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
        Search::FoundAndRefresh(key) => {
            let _promise = begin_call(env, execution, token, LookupReason::Refresh)?;
            return Ok(Ok(key));
        }
        Search::Ask(reason) => {
            let promise = begin_call(env, execution, token, reason)?;
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

/// Starts a call to the organization's object. The call continues after the client disconnects,
/// because other requests may wait for the key set.
fn begin_call(
    env: &Env,
    execution: &Context,
    token: &Checked,
    reason: LookupReason,
) -> HostResult<Promise> {
    let (env, address) = (env.clone(), token.jwks().to_owned());
    let (kid, algorithm) = (token.kid.clone(), token.algorithm);
    let promise = into_promise(async move {
        let fetched = async {
            let kid = kid.as_deref();
            OrganizationStub::new(&env)?.key_set(&address, kid).await
        };
        let set = fetched.await.unwrap_or_else(|error| {
            log_for_operator(&error.to_string());
            None
        });
        let waiting = with_issuer_keys(&address, |keys| {
            keys.set
                .conclude(reason, set, kid.as_deref(), algorithm, now());
            match reason {
                LookupReason::Search => std::mem::take(&mut keys.waiting),
                LookupReason::Refresh => Vec::new(),
            }
        });
        for wake in waiting {
            wake.wake();
        }
        Ok(JsValue::UNDEFINED)
    });
    execution.wait_until(&promise)?;
    Ok(promise)
}

/// Calls `run` with the cached key set for `address`. Creates an empty entry if the address has
/// none.
fn with_issuer_keys<T>(address: &str, run: impl FnOnce(&mut IssuerKeys) -> T) -> T {
    KEY_SETS.with_borrow_mut(|all| run(all.entry(address.to_owned()).or_default()))
}
