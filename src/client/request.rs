//! Requests that no method of the client declares.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::call::Call;
use crate::client::Client;
use crate::client::call::convert;
use crate::client::driver::{Exchange, Unsent, drive};
use crate::client::error::Error;
use crate::client::host::MaybeSend;
use crate::client::response::ApiResponse;
use crate::client::settings::{Settings, settings};
use crate::credential::IdempotencyKey;
use crate::declaration::Repeat;
use crate::encode::percent_encode;
use crate::error::{DecodeError, Rule, ValidationError};
use crate::request_path;
use crate::task::{Event, Task};
use crate::text::replace_half_surrogates;

/// A request with any method and path, with the client's credential, timeouts, retries and errors.
///
/// A write is retried only with an [idempotency key](Self::idempotency_key), and only by a gateway. All
/// methods except `GET` and `HEAD` are writes.
///
/// # Example
#[doc = concat!("```\n", include_str!("../../tests/client/examples/request.rs"), "```")]
#[must_use = "nothing is sent before `send`"]
pub struct ApiRequest {
    client: Client,
    unsent: Result<Unsent, ValidationError>,
    settings: Settings,
}

/// Shows only the method, because a value may be confidential.
impl fmt::Debug for ApiRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiRequest")
            .field("method", &self.unsent.as_ref().map(|unsent| &unsent.method))
            .finish_non_exhaustive()
    }
}

impl ApiRequest {
    pub(super) fn new(client: &Client, method: http::Method, path: String) -> Self {
        Self {
            client: client.clone(),
            unsent: request_path::check(&path).map(|()| Unsent {
                method,
                target: path,
                body: None,
            }),
            settings: client.settings.clone(),
        }
    }

    settings!();

    /// Adds a query parameter. The name and the value are percent-encoded.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/request.rs"), "```")]
    pub fn query(mut self, name: &str, value: impl fmt::Display) -> Self {
        if let Ok(Unsent { target, .. }) = &mut self.unsent {
            target.push(if target.contains('?') { '&' } else { '?' });
            target.push_str(&percent_encode(name));
            target.push('=');
            target.push_str(&percent_encode(&value.to_string()));
        }
        self
    }

    /// Sets the JSON body.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/request.rs"), "```")]
    pub fn body(mut self, body: impl Into<Value>) -> Self {
        if let Ok(unsent) = &mut self.unsent {
            unsent.body = Some(body.into().to_string());
        }
        self
    }

    /// Sets the idempotency key of a write to a gateway; see
    /// [`ApiCall::idempotency_key`](crate::client::ApiCall::idempotency_key).
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/idempotency_key.rs"), "```")]
    pub fn idempotency_key<K>(mut self, key: K) -> Self
    where
        K: TryInto<IdempotencyKey, Error: Into<ValidationError>>,
    {
        match convert(key) {
            Ok(key) => self.settings.key = Some(key),
            Err(error) => self.unsent = self.unsent.and(Err(error)),
        }
        self
    }

    /// Sends the request and decodes the JSON of its response. An empty body is read as `null`.
    ///
    /// # Errors
    /// [`Error::Validation`] if the path could leave the base URL or is not percent-encoded, and for
    /// a body of a `GET` or `HEAD`. Otherwise as [`ApiCall::send`](crate::client::ApiCall::send).
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/request.rs"), "```")]
    pub async fn send<T: DeserializeOwned + MaybeSend>(self) -> Result<T, Error> {
        let response = self.send_with_response().await?;
        Ok(response.result)
    }

    /// Sends the request and returns its result with the status and the header fields of the
    /// response; see [`Self::send`].
    ///
    /// # Errors
    /// As [`Self::send`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/request.rs"), "```")]
    pub async fn send_with_response<T>(self) -> Result<ApiResponse<T>, Error>
    where
        T: DeserializeOwned + MaybeSend,
    {
        self.run(|body| {
            let body = if body.is_empty() { "null" } else { body };
            serde_json::from_str(&replace_half_surrogates(body))
                .map_err(|error| DecodeError::new("", error.to_string()))
        })
        .await
    }

    /// Sends the request and returns the body of its response as text, such as CSV; see
    /// [`Self::send`].
    ///
    /// # Errors
    /// As [`Self::send`], except that any body is valid.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/request.rs"), "```")]
    pub async fn send_for_text(self) -> Result<ApiResponse<String>, Error> {
        self.run(|body| Ok(body.to_owned())).await
    }

    async fn run<T: MaybeSend>(self, decode: Decoder<T>) -> Result<ApiResponse<T>, Error> {
        let Self {
            client,
            unsent,
            settings,
        } = self;
        let unsent = unsent?;
        let is_read = matches!(unsent.method, http::Method::GET | http::Method::HEAD);
        if unsent.body.is_some() && is_read {
            return Err(ValidationError::new("body", Rule::Unknown, "").into());
        }
        let repeat = if is_read { Repeat::Safe } else { Repeat::Keyed };
        let mut task = Task::raw(repeat);
        let sent = Raw(unsent, decode);
        let result = drive(&client, &settings, &mut task, &sent, |_, _| Event::Result);
        let response = result.await?.map(|delivery| delivery.response);
        response.ok_or_else(Error::missing)
    }
}

type Decoder<T> = fn(&str) -> Result<T, DecodeError>;

/// An undeclared request.
struct Raw<T>(Unsent, Decoder<T>);

impl<T: MaybeSend> Exchange for Raw<T> {
    type Output = T;

    fn request(&self, _: &Client, _: Option<&Call>) -> Option<Unsent> {
        Some(self.0.clone())
    }

    fn decode(&self, _: Option<&Call>, body: &str) -> Result<T, DecodeError> {
        self.1(body)
    }
}
