//! A call: attempts, their time, and what becomes of the answer.

use std::pin::Pin;

use gloo_net::http::Headers;
use js_sys::{Function, Promise};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, future_to_promise};
use web_sys::{AbortSignal, Response};

use crate::call::{Call, Request};
use crate::credential::{BaseUrl, check_idempotency_key};
use crate::declaration::Method;
use crate::error::{DecodeError, IntegerRule, Rule, ValidationError};
use crate::millis::Millis;
use crate::project::ProjectId;
use crate::response::{Head, is_outcome_unknown};
use crate::retry::{DEFAULT_RETRIES, Failure, Idempotency, Retry};
use crate::value::{Value, optional_integer, optional_text};
use crate::wasm::fault::{self, Plain};
use crate::wasm::host::{self, Answered, Exchange, Refusal, Unanswered, milliseconds};
use crate::wasm::params::Argument;

/// How long one attempt may take, body included, when nothing else is said: 60 s.
const DEFAULT_TIMEOUT: Millis = Millis(60_000);

/// A request that is ready to be sent.
pub struct Prepared {
    /// The name under which `decode.js` knows the result.
    pub result: &'static str,
    pub request: Request,
}

impl Prepared {
    pub fn new(call: &Call, project: &ProjectId) -> Self {
        Self {
            result: call.declaration().result,
            request: call.request(project),
        }
    }
}

/// What a caller may say about one call.
pub struct CallOptions {
    signal: Option<AbortSignal>,
    timeout: Millis,
    total_timeout: Option<Millis>,
    retries: u32,
    idempotency_key: Option<String>,
    deduplicated: bool,
    headers: Option<web_sys::Headers>,
    observer: Option<Function>,
}

impl CallOptions {
    /// Reads `{ signal, timeout, totalTimeout, maxRetries, idempotencyKey, deduplicated,
    /// headers, observer }`.
    pub fn read(options: JsValue) -> Result<Self, JsValue> {
        let options = Self::parse(&Argument(options)).map_err(|error| fault::validation(&error))?;
        match &options.signal {
            Some(signal) if signal.aborted() => Err(signal.reason()),
            _ => Ok(options),
        }
    }

    fn parse(options: &Argument) -> Result<Self, ValidationError> {
        let object = |name| {
            let value = options.member(name).0;
            value.is_object().then_some(value)
        };
        let key = optional_text(options, "idempotencyKey")?;
        if let Some(key) = &key {
            check_idempotency_key(key)?;
        }
        let retries = optional_integer(options, "maxRetries", &IntegerRule::RETRY_COUNT)?;
        Ok(Self {
            signal: object("signal").map(JsCast::unchecked_into),
            timeout: length_of_time(options, "timeout")?.unwrap_or(DEFAULT_TIMEOUT),
            total_timeout: length_of_time(options, "totalTimeout")?,
            retries: retries.map_or(DEFAULT_RETRIES, |retries| {
                u32::try_from(retries).unwrap_or(0)
            }),
            idempotency_key: key,
            deduplicated: options.member("deduplicated").0.is_truthy(),
            headers: object("headers").map(JsCast::unchecked_into),
            observer: options.member("observer").0.dyn_into().ok(),
        })
    }

    /// What the server makes of this call sent twice. It knows a call again by its
    /// key, if it deduplicates and there is one.
    const fn repeat(&self, method: Method) -> Idempotency {
        match method {
            Method::Post if self.deduplicated && self.idempotency_key.is_some() => {
                Idempotency::ByKey
            }
            method => Idempotency::of_method(method),
        }
    }

    /// The signal that takes the call back.
    pub const fn signal(&self) -> Option<&AbortSignal> {
        self.signal.as_ref()
    }

    /// The same call with less time for an attempt.
    pub fn within(mut self, most: Option<Millis>) -> Self {
        if let Some(most) = most {
            self.timeout = self.timeout.min(most);
        }
        self
    }

    fn observe_retry(&self, fault: &JsValue, wait: Millis) {
        if let Some(observer) = &self.observer {
            // What an observer throws is its own affair and never the call's.
            let wait = milliseconds(wait).into();
            let _ = observer.call3(&JsValue::UNDEFINED, &"retry".into(), fault, &wait);
        }
    }
}

/// A length of time in milliseconds that a timer can take.
pub fn length_of_time(
    options: &Argument,
    field: &'static str,
) -> Result<Option<Millis>, ValidationError> {
    let length = optional_integer(options, field, &IntegerRule::MILLISECONDS)?;
    Ok(length.map(Millis))
}

/// A success.
pub struct Answer {
    /// The decoded body.
    pub data: JsValue,
    /// The host's `Response`, its body read.
    pub response: Response,
    /// What the server asks to wait before asking again.
    pub hint: Option<Millis>,
}

/// A failed attempt.
pub struct Lost {
    /// What the caller is told when this is the end.
    pub fault: JsValue,
    /// How it failed, when that may pass or the caller may know; `None` is final.
    pub failure: Option<Failure>,
    /// What the server asks to wait.
    pub hint: Option<Millis>,
}

impl Lost {
    fn for_good(fault: JsValue) -> Self {
        Self {
            fault,
            failure: None,
            hint: None,
        }
    }
}

/// Sends requests to one address with one credential.
pub struct Sender {
    base: BaseUrl,
    authorization: String,
    fetch: Option<Function>,
}

impl Sender {
    pub fn new(base: BaseUrl, credential: &str, fetch: Option<Function>) -> Self {
        let mut authorization = String::from("Bearer ");
        authorization.push_str(credential);
        Self {
            base,
            authorization,
            fetch,
        }
    }

    /// Carries a call out, attempt after attempt.
    pub async fn run(&self, call: &Prepared, options: &CallOptions) -> Result<Answer, JsValue> {
        let started = host::now();
        let repeat = options.repeat(call.request.method);
        // What runs on after its answer was lost gets the time that an attempt has.
        let mut retry = Retry::new(repeat, options.retries).with_patience(options.timeout);
        loop {
            let left = options
                .total_timeout
                .map(|total| total.since(host::now().since(started)));
            let limit = left.map_or(options.timeout, |left| left.min(options.timeout));
            if limit == Millis(0) {
                return Err(fault::timeout(options.total_timeout.unwrap_or(limit)));
            }
            let lost = match self.attempt_within(limit, call, options).await {
                Ok(answer) => return Ok(answer),
                Err(lost) => lost,
            };
            let wait = lost
                .failure
                .and_then(|failure| retry.after(failure, lost.hint, host::random()));
            match wait {
                Some(wait) if left.is_none_or(|left| wait < left) => {
                    options.observe_retry(&lost.fault, wait);
                    sleep(wait, options.signal()).await?;
                }
                _ => return Err(lost.fault),
            }
        }
    }

    /// One attempt, which takes at most the call's own time, body included.
    pub async fn attempt(&self, call: &Prepared, options: &CallOptions) -> Result<Answer, Lost> {
        self.attempt_within(options.timeout, call, options).await
    }

    async fn attempt_within(
        &self,
        time: Millis,
        call: &Prepared,
        options: &CallOptions,
    ) -> Result<Answer, Lost> {
        let exchange = Exchange::new(milliseconds(time), options.signal());
        let request = exchange.request(
            call.request.method.as_str(),
            &self.base.join(&call.request.target),
            &self.headers(call, options),
            call.request.body.as_deref(),
        );
        let Some(request) = request else {
            exchange.end();
            // The target is ours and sound; what the host refuses is the address before it.
            let error = ValidationError::new("baseUrl", Rule::BaseUrl, "");
            return Err(Lost::for_good(fault::validation(&error)));
        };
        let (own_fetch, observer) = (self.fetch.as_ref(), options.observer.as_ref());
        let sent = exchange.send(&request, own_fetch, observer);
        match JsFuture::from(sent).await {
            Ok(answered) => read(call.result, &answered.unchecked_into()),
            Err(unanswered) => Err(lost(&unanswered.unchecked_into(), options.signal(), time)),
        }
    }

    /// The caller's headers, and over them those that the request needs.
    fn headers(&self, call: &Prepared, options: &CallOptions) -> web_sys::Headers {
        let own = options.headers.as_ref();
        let copy = own.and_then(|own| web_sys::Headers::new_with_headers(own).ok());
        let headers = Headers::from_raw(copy.unwrap_or_else(|| Headers::new().into_raw()));
        headers.set("accept", "application/json");
        headers.set("authorization", &self.authorization);
        if call.request.body.is_some() {
            headers.set("content-type", "application/json");
        }
        if let Some(key) = &options.idempotency_key {
            headers.set("idempotency-key", key);
        }
        headers.into_raw()
    }

    /// The request as a plain object, for those who bring their own HTTP.
    pub fn describe(&self, call: &Prepared, options: &CallOptions) -> JsValue {
        let headers = Headers::from_raw(self.headers(call, options)).entries();
        let headers = headers.fold(Plain::new(), |plain, (name, value)| {
            plain.with(&name, value)
        });
        Plain::new()
            .with("method", call.request.method.as_str())
            .with("url", self.base.join(&call.request.target))
            .with("headers", headers)
            .with(
                "body",
                call.request
                    .body
                    .as_deref()
                    .map_or(JsValue::NULL, JsValue::from_str),
            )
            .into()
    }
}

/// A promise of what `work` comes to. Every kind of work goes through one boxed type,
/// so that the machinery of a promise is in the module once.
pub fn promise(work: impl Future<Output = Result<JsValue, JsValue>> + 'static) -> Promise {
    let work: Pin<Box<dyn Future<Output = Result<JsValue, JsValue>>>> = Box::pin(work);
    future_to_promise(work)
}

/// Waits, unless the signal aborts; then its reason is the error.
pub async fn sleep(length: Millis, signal: Option<&AbortSignal>) -> Result<(), JsValue> {
    JsFuture::from(host::sleep(milliseconds(length), signal))
        .await
        .map(drop)
}

/// What it means that there was no answer.
fn lost(unanswered: &Unanswered, signal: Option<&AbortSignal>, time: Millis) -> Lost {
    let (fault, failure) = match signal {
        Some(signal) if signal.aborted() => return Lost::for_good(signal.reason()),
        _ if unanswered.expired() => (fault::timeout(time), Failure::Timeout),
        _ => (fault::connection(unanswered.cause()), Failure::Connection),
    };
    Lost {
        fault,
        failure: Some(failure),
        hint: None,
    }
}

/// What an answer means.
fn read(result: &str, answered: &Answered) -> Result<Answer, Lost> {
    let response = answered.response();
    let headers = Headers::from_raw(response.headers());
    let head = Head {
        status: response.status(),
        request_id: headers.get("x-request-id"),
        retry_after: headers.get("retry-after"),
    };
    let body = answered.body();
    if !head.is_success() {
        let json = (!answered.malformed()).then(|| Argument(body.clone()));
        let error = head.api_error(json.as_ref(), host::now());
        let unknown = json.as_ref().is_some_and(is_outcome_unknown);
        return Err(Lost {
            failure: (!unknown).then(|| Failure::from(&error)),
            hint: error.retry_after,
            fault: fault::api(&error, body, headers.into_raw().into()),
        });
    }
    let decoded = if answered.malformed() {
        Err(DecodeError::new("", "must be JSON"))
    } else {
        let refused = |refusal: Refusal| DecodeError::new(refusal.at(), refusal.what());
        host::decode(result, &body).map_err(refused)
    };
    let hint = head.wait(host::now());
    match decoded {
        Ok(data) => Ok(Answer {
            data,
            response,
            hint,
        }),
        Err(error) => {
            let fault = fault::decode(&error, head.request_id, headers.into_raw().into());
            Err(Lost::for_good(fault))
        }
    }
}
