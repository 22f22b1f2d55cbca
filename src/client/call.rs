//! A call that is not a list: one request, and its result.

use std::fmt;
use std::future::IntoFuture;
use std::pin::Pin;

use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::client::driver::drive;
use crate::client::error::Error;
use crate::client::host;
use crate::client::settings::{Settings, settings};
use crate::credential::IdempotencyKey;
use crate::declaration::Method;
use crate::endpoint::Endpoint;
use crate::error::DecodeError;
use crate::task::{Event, Task};

/// A future on the heap, as wide as a pointer: what a call is turned into by `.await`.
pub(super) type Boxed<T> = Pin<Box<dyn Future<Output = T>>>;

/// A call that is ready to be sent: `.await` sends it.
///
/// # Errors
/// By `.await`: [`Error::Validation`] for options out of bounds; [`Error::Api`],
/// [`Error::Connection`] and [`Error::Timeout`] of the last attempt; [`Error::Decode`] for a success
/// that is not what the operation promises; [`Error::Aborted`].
///
/// # Example
#[doc = concat!("```\n", include_str!("../../tests/client/examples/create.rs"), "```")]
#[must_use = "a call is sent by `.await`"]
pub struct ApiCall<E> {
    client: Client,
    endpoint: E,
    settings: Settings,
}

/// The names of the arguments without their values, which may be confidential.
impl<E: Endpoint> fmt::Debug for ApiCall<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let call = self.endpoint.to_call();
        f.debug_tuple("ApiCall").field(&call).finish()
    }
}

impl<E: Endpoint> ApiCall<E> {
    pub(super) fn new(client: &Client, endpoint: E) -> Self {
        Self {
            client: client.clone(),
            endpoint,
            settings: client.settings.clone(),
        }
    }

    settings! {
        /// # Example
        #[doc = concat!("```\n", include_str!("../../tests/client/examples/call_options.rs"), "```")]
    }

    /// The same, with this key in place of a fresh one: of calls with one key a gateway carries out
    /// the first and gives its answer to all. It keeps a key for 24 hours.
    ///
    /// The platform itself does not support idempotency keys: there it changes nothing.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/idempotency_key.rs"), "```")]
    pub fn with_idempotency_key(mut self, key: IdempotencyKey) -> Self {
        self.settings.key = Some(key);
        self
    }

    /// The same, carried out again though an earlier call with this key may have been. That is for
    /// when nobody knows: a gateway has answered with the problem `/problems/outcome-unknown`. It is
    /// sent once.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/force.rs"), "```")]
    pub fn force(mut self, key: IdempotencyKey) -> Self {
        self.settings.key = Some(key);
        self.settings.is_forced = true;
        self
    }
}

impl<E> IntoFuture for ApiCall<E>
where
    E: Endpoint + 'static,
    E::Output: DeserializeOwned,
{
    type Output = Result<E::Output, Error>;
    type IntoFuture = Boxed<Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let Self {
            client,
            endpoint,
            mut settings,
        } = self;
        let call = endpoint.to_call();
        Box::pin(async move {
            // Where the host has no randomness the call has no key, and so is sent once.
            if call.method() == Method::Post && client.server.deduplicates() {
                settings.key = settings.key.or_else(host::make_key);
            }
            let mut task = Task::new(call);
            let result = drive::<E, _>(&client, &settings, &mut task, |_, _| Event::Result).await?;
            match result {
                Some(delivery) => Ok(delivery.value),
                // A task of one call ends with a result or an error.
                None => Err(Error::from_core(
                    DecodeError::new("", "is missing").into(),
                    None,
                )),
            }
        })
    }
}
