//! Failed connections over real sockets: who failed, and whether the request can have been sent.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::conformance::decode_base64;
use crate::fake_host::{FakeHost, get_job};
use quillgate::client::ConnectionFailureReason::{
    self, Certificate, Dns, Interrupted, Protocol, Proxy, Refused, Tls,
};
use quillgate::client::{ClientBuilder, ConnectionFailure, ReqwestHost};
use quillgate::{Client, Error};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection};

/// A server that answers every connection with these bytes, and counts the connections.
pub struct Server {
    pub authority: String,
    connections: Arc<AtomicUsize>,
}

impl Server {
    pub fn new(response: impl AsRef<[u8]> + Send + 'static) -> Self {
        Self::with(move |mut connection| {
            let _ = connection.read(&mut [0; 4096]);
            let _ = connection.write_all(response.as_ref());
        })
    }

    fn with(answer: impl Fn(std::net::TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let authority = listener.local_addr().unwrap().to_string();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::Relaxed);
                answer(connection);
            }
        });
        Self {
            authority,
            connections,
        }
    }

    pub fn count(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

/// The authority of a port at which nothing listens.
fn closed() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

pub fn builder(url: String) -> ClientBuilder {
    let builder = Client::builder().gateway(url, "token-1").project("acme");
    builder.allow_plain_http().max_retries(1)
}

async fn fail(client: ClientBuilder) -> ConnectionFailure {
    match get_job(&client.build().unwrap()).send().await {
        Err(error @ Error::Connection(_)) => {
            let may_have_been_sent = error.may_have_been_sent();
            let Error::Connection(failure) = error else {
                unreachable!()
            };
            assert_eq!(failure.may_have_been_sent, may_have_been_sent);
            assert!(!format!("{failure} {failure:?}").contains("token-1"));
            *failure
        }
        other => panic!("expected a failed connection, found {other:?}"),
    }
}

fn through(proxy: &str) -> ReqwestHost {
    // Another test of the process may have installed it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let proxy = reqwest::Proxy::all(format!("http://{proxy}")).unwrap();
    let client = reqwest::Client::builder().proxy(proxy).build().unwrap();
    ReqwestHost::with_client(client)
}

#[track_caller]
fn assert_failure(failure: &ConnectionFailure, reason: ConnectionFailureReason, text: &str) {
    assert_eq!(failure.reason, reason, "{failure:?}");
    assert_eq!(failure.to_string(), text);
}

const ADDRESS: &str = "check the address, the network and the proxy";

#[tokio::test]
async fn a_name_without_an_address_was_not_sent_to() {
    let failure = fail(builder("https://gate.invalid".to_owned())).await;
    let text = format!("gate.invalid cannot be resolved; {ADDRESS}");
    assert_failure(&failure, Dns, &text);
    assert!(!failure.may_have_been_sent);
}

#[tokio::test]
async fn a_refused_connection_was_not_sent() {
    let authority = closed();
    let failure = fail(builder(format!("http://{authority}"))).await;
    let text = format!("{authority} refuses connections; {ADDRESS}");
    assert_failure(&failure, Refused, &text);
    assert!(!failure.may_have_been_sent);
}

#[tokio::test]
async fn a_connection_that_breaks_may_have_been_sent_and_is_tried_again() {
    let server = Server::new(b"");
    let failure = fail(builder(format!("http://{}", server.authority))).await;
    let (gate, broke) = (&server.authority, "the connection failed or broke");
    let summary = format!("no answer from {gate}: {broke}");
    assert_failure(&failure, Interrupted, &summary);
    assert!(failure.may_have_been_sent);
    assert_eq!(server.count(), 2);
}

#[tokio::test]
async fn a_server_that_does_not_speak_http_is_named() {
    let server = Server::new(b"SSH-2.0-OpenSSH_9.9\r\n");
    let failure = fail(builder(format!("http://{}", server.authority))).await;
    let text = format!("{} does not answer with HTTP; {ADDRESS}", server.authority);
    assert_failure(&failure, Protocol, &text);
    assert!(failure.may_have_been_sent);
}

#[tokio::test]
async fn a_tls_handshake_with_a_plain_server_is_not_repeated() {
    let server = Server::new(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
    let failure = fail(builder(format!("https://{}", server.authority))).await;
    let advice = "is the address http? does the server need a client certificate?";
    let text = format!("{} refuses this TLS handshake; {advice}", server.authority);
    assert_failure(&failure, Tls, &text);
    assert!(!failure.may_have_been_sent);
    assert_eq!(server.count(), 1);
}

/// A certificate for 127.0.0.1 from 2020 that no authority signed, and its key. Both serve only this test.
const CERTIFICATE: &str = "MIIBWjCCAQGgAwIBAgIUO9RmHsiMtgmfqFXONRuth4s/AqowCgYIKoZIzj0EAwIwFDESMBAGA1UEAwwJ\
    bG9jYWxob3N0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAUMRIwEAYDVQQDDAlsb2Nh\
    bGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARS0BKysBkd0d49t2R6qy8vhsTJvlGAjdSTu6Xv\
    +8ojeT8YlU9/JiP24Ru3m/D5zMstGB9UYMAKpfKHigPx1PSQoy8wLTAPBgNVHRMBAf8EBTADAQH/MBoG\
    A1UdEQQTMBGHBH8AAAGCCWxvY2FsaG9zdDAKBggqhkjOPQQDAgNHADBEAiAgix1SB32/XyhBWc6gjrlH\
    AztCf8YHn8MW5NOT0e+P9gIgTOPcSHq2rO5lU+6V9DRCOzyAdv41ByojJcePUqGLOz0=";
const KEY: &str = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgUfZH/j7DXqwgILvi4c10NcOF8XqMNy5u\
    Bn4PnxpypTGhRANCAARS0BKysBkd0d49t2R6qy8vhsTJvlGAjdSTu6Xv+8ojeT8YlU9/JiP24Ru3m/D5\
    zMstGB9UYMAKpfKHigPx1PSQ";

#[tokio::test]
async fn an_untrusted_certificate_is_not_tried_again() {
    let certificate = CertificateDer::from(decode_base64(CERTIFICATE));
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(decode_base64(KEY)));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let config = Arc::new(config);
    let server = Server::with(move |mut socket| {
        let mut tls = ServerConnection::new(Arc::clone(&config)).unwrap();
        let _ = rustls::Stream::new(&mut tls, &mut socket).read(&mut [0; 16]);
    });
    let failure = fail(builder(format!("https://{}", server.authority))).await;
    assert_eq!(failure.reason, Certificate, "{failure:?}");
    let summary = format!("{} has an untrusted certificate", server.authority);
    assert_eq!(failure.summary, summary);
    assert!(failure.advice.contains("SSL_CERT_FILE"), "{failure}");
    assert!(!failure.may_have_been_sent && !failure.can_retry);
    assert_eq!(server.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_certificate_that_is_not_valid_yet_is_not_an_expired_one() {
    for (cause, summary) in [
        (
            "not valid yet: verification time 1",
            "a certificate that is not valid yet",
        ),
        ("expired: verification time 3", "an expired certificate"),
    ] {
        let cause = format!(r#"{{"broken":"invalid peer certificate: certificate {cause}"}}"#);
        let host = FakeHost::new([cause]);
        let failure = fail(host.builder()).await;
        let text = format!("gate.example has {summary}; check the clock");
        assert_failure(&failure, Certificate, &text);
    }
}

#[tokio::test]
async fn a_proxy_that_requires_credentials_is_named_and_not_tried_again() {
    let proxy = Server::new(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    let host = through(&proxy.authority);
    let failure = fail(builder("https://gate.invalid".to_owned()).host(host)).await;
    let text = "gate.invalid cannot be reached: the proxy requires credentials (407); set its user \
        and password in the proxy variable, percent-encoded";
    assert_failure(&failure, Proxy, text);
    assert!(!failure.may_have_been_sent);
    assert_eq!(proxy.count(), 1);
}

#[tokio::test]
async fn a_proxy_that_does_not_connect_is_named() {
    let busy = Server::new(b"HTTP/1.1 503 Service Unavailable\r\n\r\n");
    for proxy in [busy.authority.clone(), closed()] {
        let host = through(&proxy);
        let failure = fail(builder("https://gate.invalid".to_owned()).host(host)).await;
        assert_eq!(failure.reason, Proxy, "{failure:?}");
        let expected = "gate.invalid cannot be reached through the proxy";
        assert_eq!(failure.summary, expected);
        assert!(!failure.may_have_been_sent);
    }
    assert_eq!(busy.count(), 2, "another attempt can succeed");
}

#[tokio::test(start_paused = true)]
async fn responses_of_a_proxy_and_of_cloudflare_name_them() {
    let proxy = "the proxy requires credentials; set its user and password in the proxy variable, \
        percent-encoded";
    let blocked = "Cloudflare blocked the request before it reached the server (ray 8f); ask the \
        server's operator to allow this client";
    let page = r#"{"status":403,"headers":{"cf-ray":"8f","content-type":"Text/HTML; charset=UTF-8"},"text":"<html>"}"#;
    let challenge =
        r#"{"status":429,"headers":{"cf-ray":"8f","cf-mitigated":"challenge"},"text":"<html>"}"#;
    let gateway = r#"{"status":403,"headers":{"cf-ray":"8f"},"json":{"detail":"scope"}}"#;
    let plain =
        r#"{"status":403,"headers":{"cf-ray":"8f","content-type":"text/plain"},"text":"no"}"#;
    for (response, message) in [
        (r#"{"status":407,"text":"<html>"}"#, proxy),
        (page, blocked),
        (challenge, blocked),
        (gateway, "scope"),
        (r#"{"status":403,"text":"<html>"}"#, "forbidden"),
        (plain, "forbidden"),
    ] {
        let host = FakeHost::new([response]);
        let error = get_job(&host.client()).max_retries(0).send().await;
        let Err(Error::Api(error)) = error else {
            panic!("expected an API error");
        };
        assert_eq!(error.message, message, "{response:?}");
    }
}
