use quillgate::client::{AbortSignal, Client, Headers};
use quillgate::{CallOptions, Millis};

/// Ties every call of a client to the request that a Worker is handling.
pub fn within(client: Client, signal: AbortSignal, trace: &str) -> Client {
    let headers = Headers::new();
    headers.set("traceparent", trace);
    let options = CallOptions {
        timeout: Millis::from_seconds(10),
        total_timeout: Some(Millis::from_seconds(25)),
        ..CallOptions::default()
    };
    client
        .with_options(options)
        .with_signal(signal)
        .with_headers(&headers)
}
