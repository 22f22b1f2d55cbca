use std::future::pending;
use std::io::Write as _;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use futures_util::future::{Either, select};
use futures_util::stream::{self, StreamExt as _};
use quillgate::client::http::Method;
use quillgate::client::{Client, ConnectionFailureReason, Error, ReqwestHost};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// Serves `router` on a free port and returns a client of this server.
async fn connect(router: Router) -> Client {
    let url = serve(router).await;
    let builder = Client::builder().gateway(url, "token-1").project("acme");
    builder.max_retries(0).build().unwrap()
}

async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

const JOB: &str = "/v2/agent/acme/job/j1";

#[tokio::test]
async fn a_request_and_its_response_pass_over_the_network() {
    let (requests, mut received) = mpsc::unbounded_channel();
    let create = post(|headers: HeaderMap, body: String| async move {
        requests.send((headers, body)).unwrap();
        let problem = r#"{"type":"/problems/limit","detail":"too many"}"#;
        let headers = [("x-request-id", "r-1"), ("retry-after", "120")];
        (StatusCode::TOO_MANY_REQUESTS, headers, problem)
    });
    let client = connect(Router::new().route("/v2/agent/acme/job", create)).await;
    let error = client.agent_jobs().create("é").send().await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_mins(2)));
    let Error::Api(error) = error else {
        panic!("{error:?}");
    };
    assert_eq!(error.status, 429);
    assert_eq!(error.message, "too many");
    assert_eq!(error.request_id.as_deref(), Some("r-1"));
    let (headers, body) = received.recv().await.unwrap();
    assert_eq!(body, r#"{"prompt":"é"}"#);
    assert_eq!(headers["authorization"], "Bearer token-1");
    assert_eq!(headers["content-type"], "application/json");
    assert_eq!(headers["idempotency-key"].len(), 32);
    let agent = concat!("quillgate-rust/", env!("CARGO_PKG_VERSION"));
    assert_eq!(headers["user-agent"], agent);
}

/// An event of a stalled request, as the server sees it.
#[derive(Debug, PartialEq)]
enum Seen {
    Request,
    End,
}

/// Reports the end of a request when it is dropped.
struct OnDrop(mpsc::UnboundedSender<Seen>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        let _ = self.0.send(Seen::End);
    }
}

#[derive(Debug, Clone, Copy)]
enum Stall {
    Head,
    Body,
}

/// A server that never finishes its response, and what it sees.
async fn stalled(stall: Stall) -> (Client, mpsc::UnboundedReceiver<Seen>) {
    let (seen, receiver) = mpsc::unbounded_channel();
    let respond = move || async move {
        seen.send(Seen::Request).unwrap();
        let guard = OnDrop(seen);
        if matches!(stall, Stall::Head) {
            pending::<()>().await;
        }
        let start = stream::iter([Ok::<_, std::io::Error>("{\"id\":")]);
        let rest = stream::unfold(guard, |guard| async move {
            pending::<()>().await;
            Some((Ok(""), guard))
        });
        Body::from_stream(start.chain(rest)).into_response()
    };
    let client = connect(Router::new().route(JOB, get(respond))).await;
    (client, receiver)
}

#[tokio::test]
async fn the_timeout_closes_a_stalled_connection() {
    for stall in [Stall::Head, Stall::Body] {
        let (client, mut seen) = stalled(stall).await;
        // The first request loads certificates, which takes longest.
        let timeout = Duration::from_secs(2);
        let call = client.agent_jobs().get("j1").timeout(timeout);
        assert_eq!(call.send().await, Err(Error::Timeout(timeout)), "{stall:?}");
        assert_eq!(seen.recv().await, Some(Seen::Request));
        assert_eq!(seen.recv().await, Some(Seen::End));
    }
}

#[tokio::test]
async fn dropping_a_call_closes_its_connection() {
    for stall in [Stall::Head, Stall::Body] {
        let (client, mut seen) = stalled(stall).await;
        {
            let call = client.agent_jobs().get("j1").send();
            match select(pin!(call), pin!(seen.recv())).await {
                Either::Left((result, _)) => panic!("{stall:?}: {result:?}"),
                Either::Right((event, _)) => assert_eq!(event, Some(Seen::Request)),
            }
        }
        assert_eq!(seen.recv().await, Some(Seen::End), "{stall:?}");
    }
}

#[tokio::test]
async fn events_arrive_before_the_stream_ends_and_dropping_a_watch_closes_it() {
    let (seen, mut receiver) = mpsc::unbounded_channel();
    let (next, events) = mpsc::unbounded_channel::<&str>();
    let events = Arc::new(Mutex::new(Some(events)));
    let respond = move |headers: HeaderMap| async move {
        assert_eq!(headers["accept-encoding"], "identity");
        let events = events.lock().unwrap().take().unwrap();
        let state = (events, OnDrop(seen));
        let body = stream::unfold(state, |(mut events, guard)| async move {
            let status = events.recv().await?;
            let event = format!("event: job\ndata: {{\"status\":\"{status}\"}}\n\n");
            Some((Ok::<_, std::io::Error>(event), (events, guard)))
        });
        let content_type = [(header::CONTENT_TYPE, "text/event-stream")];
        (content_type, Body::from_stream(body))
    };
    let router = Router::new().route("/v2/agent/acme/job/j1/events", get(respond));
    let mut watch = connect(router).await.agent_jobs().watch("j1");
    for status in ["active", "completed"] {
        next.send(status).unwrap();
        let job = watch.next().await.unwrap().unwrap().job;
        assert_eq!(job.status.unwrap().as_str(), status);
    }
    drop(watch);
    // The server notices the end when it sends again.
    while receiver.try_recv().is_err() {
        let _ = next.send("active");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn polls_replace_a_compressed_stream() {
    let (seen, mut requests) = mpsc::unbounded_channel();
    let polled = seen.clone();
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CONTENT_ENCODING, "gzip"),
    ];
    let stream = move || async move {
        seen.send("stream").unwrap();
        (headers, compress(100))
    };
    let poll = move || async move {
        polled.send("poll").unwrap();
        r#"{"id":"j1","status":"completed"}"#
    };
    let events = "/v2/agent/acme/job/j1/events";
    let router = Router::new().route(events, get(stream));
    let client = connect(router.route(JOB, get(poll))).await;
    client.agent_jobs().watch("j1").wait().await.unwrap();
    assert_eq!(requests.recv().await, Some("stream"));
    assert_eq!(requests.recv().await, Some("poll"));
}

/// Runs itself again, because the variables apply to the whole process.
#[tokio::test]
async fn only_https_needs_certificates() {
    if std::env::var_os("SSL_CERT_FILE").is_none() {
        let again = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "native_host::only_https_needs_certificates"])
            .env("SSL_CERT_FILE", "/nonexistent")
            .env("SSL_CERT_DIR", "/nonexistent")
            .output();
        let again = again.unwrap();
        assert!(again.status.success(), "{again:?}");
        return;
    }
    let client = connect(Router::new().route(JOB, get(|| async { r#"{"id":"j1"}"# }))).await;
    assert!(client.agent_jobs().get("j1").send().await.is_ok());
}

#[tokio::test]
async fn a_client_can_use_a_custom_reqwest_client() {
    let echo = get(|headers: HeaderMap| async move {
        let agent = headers["user-agent"].to_str().unwrap_or_default();
        format!(r#"{{"model":"{agent}"}}"#)
    });
    let url = serve(Router::new().route(JOB, echo)).await;
    // Another test of the process may have installed it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let custom = reqwest::Client::builder().user_agent("custom/1");
    let host = ReqwestHost::with_client(custom.build().unwrap());
    let builder = Client::builder().gateway(url, "token-1").project("acme");
    let client = builder.host(host).build().unwrap();
    let job = client.agent_jobs().get("j1").send().await.unwrap();
    assert_eq!(job.model.as_deref(), Some("custom/1"));
}

fn compress(length: usize) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let text = ["\"", &"a".repeat(length - 2), "\""].concat();
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn a_body_has_at_most_8_mib_decoded() {
    const LIMIT: usize = 8 << 20;
    let gzip = || [(header::CONTENT_ENCODING, "gzip")];
    let fits = get(move || async move { (gzip(), compress(LIMIT)) });
    let bomb = get(move || async move { (gzip(), compress(LIMIT + 1)) });
    let plain = get(|| async { "a".repeat(LIMIT + 1) });
    let router = Router::new().route("/fits", fits).route("/bomb", bomb);
    let router = router.route("/plain", plain);
    let client = connect(router).await;
    let read = |path: &str| {
        client
            .request(Method::GET, path)
            .max_retries(1)
            .send_for_text()
    };
    assert_eq!(read("/fits").await.unwrap().result.len(), LIMIT);
    for path in ["/bomb", "/plain"] {
        let Err(Error::Connection(failure)) = read(path).await else {
            panic!("expected {path} to be refused");
        };
        let reason = ConnectionFailureReason::TooLarge;
        assert_eq!(failure.reason, reason, "{failure:?}");
        assert!(failure.may_have_been_sent && !failure.can_retry);
    }
}
