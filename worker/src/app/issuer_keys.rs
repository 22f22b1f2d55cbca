//! The keys of trusted issuers, as an isolate comes by them: from memory, or by one call of the
//! organisation's object that all requests share.

use std::cell::RefCell;

use js_sys::Promise;
use quillgate::Millis;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use worker::Env;
use worker::worker_sys::Context;

use crate::analytics::organization_stub::OrgStub;
use crate::auth::jwks::{Call, NoKey, PublicKey, RememberedSet, Search};
use crate::auth::oidc::UnverifiedToken;
use crate::log::format_operator_line;
use crate::runtime::{HostResult, Wait, Wake, into_promise, log_error, now};

/// The longest that a request waits for another's search, which takes as long as the object's requests
/// to the issuer and no longer.
const LONGEST_SEARCH: Millis = Millis::from_seconds(30);

/// What is remembered of the key set at an address.
struct IssuerKeys {
    address: String,
    /// The set.
    set: RememberedSet,
    /// What to call when the search that is in progress has ended.
    waiting: Vec<Wake>,
}

thread_local! {
    static KEY_SETS: RefCell<Vec<IssuerKeys>> = const { RefCell::new(Vec::new()) };
}

/// Finds the key that a token names.
///
/// # Errors
/// Why there is none to verify with.
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
            let _ends_by_itself = begin_call(env, execution, token, Call::Refresh)?;
            return Ok(Ok(key));
        }
        Search::Ask(call) => {
            let promise = begin_call(env, execution, token, call)?;
            JsFuture::from(promise).await?;
        }
        Search::Wait => {
            // A wait of its own: the promise of another request must not be awaited.
            Wait::begin(LONGEST_SEARCH, |wake| {
                with_issuer_keys(&token.jwks, |keys| keys.waiting.push(wake));
            })
            .await;
        }
    }
    Ok(with_issuer_keys(&token.jwks, |keys| {
        keys.set.find(&token.kid, token.algorithm, now())
    }))
}

/// Calls the organisation's object. The call is brought to its end though its client leaves: a
/// stranger must not be able to break it off for everybody.
fn begin_call(
    env: &Env,
    execution: &Context,
    token: &UnverifiedToken,
    call: Call,
) -> HostResult<Promise> {
    let (env, address) = (env.clone(), token.jwks.clone());
    let (kid, algorithm) = (token.kid.clone(), token.algorithm);
    let promise = into_promise(async move {
        let asked = async { OrgStub::new(&env)?.key_set(&address, &kid).await };
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
            // That one of them has left is nothing to the others.
            wake.wake();
        }
        Ok(JsValue::UNDEFINED)
    });
    execution.wait_until(&promise)?;
    Ok(promise)
}

/// Runs something with what is remembered of the key set at an address.
fn with_issuer_keys<T>(address: &str, run: impl FnOnce(&mut IssuerKeys) -> T) -> T {
    KEY_SETS.with_borrow_mut(|all| {
        // Addresses are the configuration's: there are no more of them than issuers.
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
