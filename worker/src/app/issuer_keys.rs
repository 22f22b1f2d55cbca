//! The keys of trusted issuers, from memory or from the organization's object. Concurrent requests
//! share one call of the object.

use std::cell::RefCell;

use js_sys::Promise;
use quillgate::Millis;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use worker::Env;
use worker::worker_sys::Context;

use crate::analytics::organization_stub::OrganizationStub;
use crate::auth::jwks::{Call, NoKey, PublicKey, RememberedSet, Search};
use crate::auth::oidc::UnverifiedToken;
use crate::log::format_operator_line;
use crate::runtime::{HostResult, Wait, Wake, into_promise, log_error, now};

/// The maximum wait for another request's search. The object's requests to the issuer limit its duration.
const MAX_SEARCH: Millis = Millis::from_seconds(30);

/// The remembered key set of an issuer.
struct IssuerKeys {
    address: String,
    set: RememberedSet,
    /// The requests that wait for the search in progress.
    waiting: Vec<Wake>,
}

thread_local! {
    static KEY_SETS: RefCell<Vec<IssuerKeys>> = const { RefCell::new(Vec::new()) };
}

/// Finds the key that a token names.
///
/// # Errors
/// The inner error is the reason for a missing key.
pub async fn find_issuer_key(
    env: &Env,
    execution: &Context,
    token: &UnverifiedToken,
    started: Millis,
) -> HostResult<Result<PublicKey, NoKey>> {
    let search = with_issuer_keys(&token.jwks, |keys| {
        keys.set.search(&token.kid, token.algorithm, started)
    });
    match search {
        Search::Found(found) => return Ok(found),
        Search::FoundAndRefresh(key) => {
            let _promise = begin_call(env, execution, token, Call::Refresh)?;
            return Ok(Ok(key));
        }
        Search::Ask(call) => {
            let promise = begin_call(env, execution, token, call)?;
            JsFuture::from(promise).await?;
        }
        Search::Wait => {
            // The runtime forbids awaiting the promise of another request.
            Wait::begin(MAX_SEARCH, |wake| {
                with_issuer_keys(&token.jwks, |keys| keys.waiting.push(wake));
            })
            .await;
        }
    }
    Ok(with_issuer_keys(&token.jwks, |keys| {
        keys.set.find(&token.kid, token.algorithm, now())
    }))
}

/// Calls the organization's object. The call continues after its client disconnects, so that one client
/// cannot cancel it for the others.
fn begin_call(
    env: &Env,
    execution: &Context,
    token: &UnverifiedToken,
    call: Call,
) -> HostResult<Promise> {
    let (env, address) = (env.clone(), token.jwks.clone());
    let (kid, algorithm) = (token.kid.clone(), token.algorithm);
    let promise = into_promise(async move {
        let asked = async { OrganizationStub::new(&env)?.key_set(&address, &kid).await };
        let set = asked.await.unwrap_or_else(|error| {
            log_error(&format_operator_line(&error.to_string()));
            None
        });
        let waiting = with_issuer_keys(&address, |keys| {
            keys.set.conclude(call, set, &kid, algorithm, now());
            match call {
                Call::Search => std::mem::take(&mut keys.waiting),
                Call::Refresh => Vec::new(),
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

/// Calls `run` with the cached key set for `address`, which is empty at first.
fn with_issuer_keys<T>(address: &str, run: impl FnOnce(&mut IssuerKeys) -> T) -> T {
    KEY_SETS.with_borrow_mut(|all| {
        // Addresses come from the configuration, so their number is bounded.
        let known = all.iter().position(|keys| keys.address == address);
        let at = known.unwrap_or_else(|| {
            all.push(IssuerKeys {
                address: address.to_owned(),
                set: RememberedSet::default(),
                waiting: Vec::new(),
            });
            all.len() - 1
        });
        run(&mut all[at])
    })
}
