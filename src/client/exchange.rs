//! One attempt: a request, and its answer with the whole body.

use gloo_net::http::{Headers, Method as HttpMethod, RequestBuilder};
use js_sys::JsString;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Request, RequestRedirect, Response};

use crate::call::Call;
use crate::client::error::HostError;
use crate::client::host::{self, AbortOnDrop};
use crate::client::race::{First, race};
use crate::client::settings::Settings;
use crate::client::{AbortSignal, Client};
use crate::declaration::Method;
use crate::error::{Rule, ValidationError};
use crate::millis::Millis;
use crate::response::Head;

/// An answer, whatever its status.
pub struct Answer {
    pub head: Head,
    pub body: String,
}

/// Why there is no answer.
pub enum Unanswered {
    /// It cannot be sent.
    Unsendable(ValidationError),
    /// The connection failed or broke.
    Connection(HostError),
    /// The time ran out.
    Timeout,
    /// The signal aborted.
    Aborted(HostError),
}

/// Sends a request and reads its answer, within a time and until the settings' signal aborts.
/// Dropping the future aborts the request.
pub async fn exchange(
    client: &Client,
    call: &Call,
    limit: Millis,
    settings: &Settings,
) -> Result<Answer, Unanswered> {
    let guard = AbortOnDrop::new();
    let request = build_request(client, call, settings, guard.signal().as_ref())
        .map_err(Unanswered::Unsendable)?;
    let answer = async {
        let response = host::fetch(&request, client.fetch.as_ref()).await?;
        read(&response).await
    };
    // Raced against, and not only handed to `fetch`: a custom one may not listen to a signal.
    let timed = race(answer, host::sleep(limit));
    match race(host::wait_for_abort(settings.signal.as_ref()), timed).await {
        First::Left(reason) => Err(Unanswered::Aborted(reason)),
        First::Right(First::Left(answer)) => answer.map_err(Unanswered::Connection),
        First::Right(First::Right(())) => Err(Unanswered::Timeout),
    }
}

fn build_request(
    client: &Client,
    call: &Call,
    settings: &Settings,
    signal: Option<&AbortSignal>,
) -> Result<Request, ValidationError> {
    let request = call.request(&client.project);
    let headers = Headers::new();
    for (name, value) in &*settings.headers {
        headers.set(name, value);
    }
    headers.set("accept", "application/json");
    headers.set("authorization", &client.server.authorization());
    if request.body.is_some() {
        headers.set("content-type", "application/json");
    }
    if let Some(key) = &settings.key {
        headers.set("idempotency-key", key.as_str());
    }
    if settings.is_forced {
        headers.set("idempotency-retry", "force");
    }
    let builder = RequestBuilder::new(&client.server.base.join(&request.target))
        .method(match request.method {
            Method::Get => HttpMethod::GET,
            Method::Post => HttpMethod::POST,
            Method::Delete => HttpMethod::DELETE,
        })
        .headers(headers)
        .redirect(RequestRedirect::Manual)
        .abort_signal(signal);
    let built = match request.body {
        Some(body) => builder.body(body),
        None => builder.build(),
    };
    // The target is ours and sound; what the host refuses is the address before it.
    built
        .map(Request::from)
        .map_err(|_| ValidationError::new("baseUrl", Rule::BaseUrl, ""))
}

async fn read(response: &Response) -> Result<Answer, HostError> {
    let headers = Headers::from_raw(response.headers());
    let head = Head {
        status: response.status(),
        request_id: headers.get("x-request-id"),
        retry_after: headers.get("retry-after"),
    };
    match read_body(response).await {
        Ok(body) => Ok(Answer { head, body }),
        // A success has to have its body; what refuses has said so by its status.
        Err(cause) if head.is_success() => Err(cause),
        Err(_) => Ok(Answer {
            head,
            body: String::new(),
        }),
    }
}

async fn read_body(response: &Response) -> Result<String, HostError> {
    let promise = response.text().map_err(HostError::new)?;
    let text = JsFuture::from(promise).await.map_err(HostError::new)?;
    Ok(String::from(JsString::from(text)))
}
