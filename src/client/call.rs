//! Calls with a single result. [`ApiCall`] collects the settings of a call and sends it.

use std::fmt;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;

use crate::agent_job::CreateAgentJob;
use crate::call::Call;
use crate::client::Client;
use crate::client::driver::{Declared, drive};
use crate::client::error::Error;
use crate::client::host::MaybeSend;
use crate::client::response::ApiResponse;
use crate::client::settings::{Settings, settings};
use crate::credential::{IdempotencyKey, WebhookUrl};
use crate::declaration::Repeat;
use crate::deployment::{CreateDeployment, CreatePreview};
use crate::endpoint::Endpoint;
use crate::error::{Rule, ValidationError};
use crate::task::{Event, Task};

/// An [`Endpoint`] whose result the client can decode. Every operation implements it.
pub trait ApiOperation:
    Endpoint<Output: DeserializeOwned + MaybeSend> + MaybeSend + 'static
{
}

impl<E> ApiOperation for E
where
    E: Endpoint + MaybeSend + 'static,
    E::Output: DeserializeOwned + MaybeSend,
{
}

pub(super) fn convert<T>(
    argument: impl TryInto<T, Error: Into<ValidationError>>,
) -> Result<T, ValidationError> {
    argument.try_into().map_err(Into::into)
}

/// Converts an operation to a call, which is validated before it is sent.
pub(super) fn prepare<E: Endpoint>(
    operation: Result<E, impl Into<ValidationError>>,
) -> Result<Call, ValidationError> {
    operation
        .map_err(Into::into)
        .map(|operation| operation.to_call())
}

/// A call with its settings. [`send`](Self::send) sends it.
///
/// # Example
#[doc = concat!("```\n", include_str!("../../tests/client/examples/create.rs"), "```")]
#[must_use = "nothing is sent before `send`"]
pub struct ApiCall<E> {
    client: Client,
    pub(super) call: Result<Call, ValidationError>,
    settings: Settings,
    operation: PhantomData<fn() -> E>,
}

/// Shows only the names of the arguments, because a value may be confidential.
impl<E> fmt::Debug for ApiCall<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ApiCall").field(&self.call).finish()
    }
}

/// An operation that starts a job, a deployment or a preview. A gateway can send a webhook at its end.
pub trait WebhookEndpoint: ApiOperation {}

impl WebhookEndpoint for CreateAgentJob {}
impl WebhookEndpoint for CreateDeployment {}
impl WebhookEndpoint for CreatePreview {}

impl<E: WebhookEndpoint> ApiCall<E> {
    /// Sets the URL that receives a webhook when the job or the deployment ends. The gateway's operator must allow
    /// the URL's host. Default: the operator's URL, if one is set.
    ///
    /// [`Self::send`] fails with [`Rule::GatewayOnly`] if the client calls Mintlify directly.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/webhook_url.rs"), "```")]
    pub fn webhook_url<U>(mut self, url: U) -> Self
    where
        U: TryInto<WebhookUrl, Error: Into<ValidationError>>,
    {
        match convert(url) {
            Ok(url) => self.settings.webhook = Some(url),
            Err(error) => self.call = self.call.and(Err(error)),
        }
        self
    }
}

impl<E: ApiOperation> ApiCall<E> {
    pub(super) fn new(client: &Client, call: Result<Call, ValidationError>) -> Self {
        Self {
            client: client.clone(),
            call,
            settings: client.settings.clone(),
            operation: PhantomData,
        }
    }

    settings!();

    /// Sets the idempotency key of a write to a gateway. Default: a random key for a `POST`.
    ///
    /// The gateway processes the first of several equal calls with the same key and returns its
    /// response to all of them. It rejects a different call with the key, and stores keys for 24
    /// hours. Mintlify does not support idempotency keys.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/idempotency_key.rs"), "```")]
    pub fn idempotency_key<K>(mut self, key: K) -> Self
    where
        K: TryInto<IdempotencyKey, Error: Into<ValidationError>>,
    {
        match convert(key) {
            Ok(key) => self.settings.key = Some(key),
            Err(error) => self.call = self.call.and(Err(error)),
        }
        self
    }

    /// Makes the gateway process the call again if an earlier one with the same idempotency key
    /// failed with a 5xx or has an unknown outcome.
    ///
    /// The earlier call may have succeeded. In that case, Mintlify performs the write twice. The
    /// client does not retry a forced `POST`.
    ///
    /// Requires [`Self::idempotency_key`]: [`Self::send`] fails with [`Rule::Required`] without it.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/force.rs"), "```")]
    pub const fn force(mut self) -> Self {
        self.settings.is_forced = true;
        self
    }

    /// Sends the call and returns its result. Transient failures are retried.
    ///
    /// # Errors
    /// [`Error::Validation`] if an argument or an option is invalid. Otherwise the failure of the
    /// last attempt: [`Error::Api`], [`Error::Decode`], [`Error::Connection`] or
    /// [`Error::Timeout`]. [`Error::Timeout`] also if the total timeout has passed before an
    /// attempt. In WebAssembly, also `Error::Aborted`.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/create.rs"), "```")]
    pub async fn send(self) -> Result<E::Output, Error> {
        let response = self.send_with_response().await?;
        Ok(response.result)
    }

    /// Sends the call and returns its result with the status and the header fields of the response.
    ///
    /// # Errors
    /// As [`Self::send`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/send_with_response.rs"), "```")]
    pub async fn send_with_response(self) -> Result<ApiResponse<E::Output>, Error> {
        let Self {
            client,
            call,
            mut settings,
            ..
        } = self;
        let call = call?.check()?;
        if settings.webhook.is_some() && !client.server.deduplicates() {
            return Err(ValidationError::new("webhookUrl", Rule::GatewayOnly, "").into());
        }
        if settings.is_forced && settings.key.is_none() {
            return Err(ValidationError::new("idempotencyKey", Rule::Required, "").into());
        }
        if call.repeat() == Repeat::Keyed && client.server.deduplicates() {
            let random = || client.host.random().map(IdempotencyKey::from_bytes);
            settings.key = settings.key.or_else(random);
        }
        let mut task = Task::new(call);
        let sent = Declared::<E>::NEW;
        let result = drive(&client, &settings, &mut task, &sent, |_, _| Event::Result).await?;
        result
            .map(|delivery| delivery.response)
            .ok_or_else(Error::missing)
    }
}
