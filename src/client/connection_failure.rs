//! Explains why a request has no response.

use std::fmt;

use http::header::{CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderValue};

use crate::client::error::HostError;
use crate::credential::BaseUrl;

/// The cause of a failed connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectionFailureReason {
    /// The name of the server has no address.
    Dns,
    /// The server refuses connections.
    Refused,
    /// The server cannot be reached from here.
    Unreachable,
    /// A proxy does not connect to the server.
    Proxy,
    /// The certificate of the server is not valid or not trusted.
    Certificate,
    /// The TLS handshake failed.
    Tls,
    /// The response is not HTTP.
    Protocol,
    /// The body of the response is larger than `ReqwestHost` accepts.
    TooLarge,
    /// A browser may have blocked the request, because the page has another origin.
    Cors,
    /// Any other cause, such as a connection that broke.
    Interrupted,
}

use ConnectionFailureReason as Reason;

/// A failed connection: its cause, and the next step.
///
/// # Example
#[doc = concat!("```\n", include_str!("../../tests/client/examples/errors.rs"), "```")]
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ConnectionFailure {
    /// The cause.
    pub reason: ConnectionFailureReason,
    /// The failure, such as `gate.example refuses connections`.
    pub summary: String,
    /// The next step. Empty if there is no advice.
    pub advice: String,
    /// Whether the request can have reached the server.
    pub may_have_been_sent: bool,
    /// Whether a retry can succeed.
    pub can_retry: bool,
    /// The error of the host.
    pub cause: HostError,
}

impl fmt::Display for ConnectionFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary)?;
        if !self.advice.is_empty() {
            write!(f, "; {}", self.advice)?;
        }
        Ok(())
    }
}

/// Texts of an error, the reason, the end of the summary, and the advice. One of the texts must occur.
type Row = (&'static [&'static str], Reason, &'static str, &'static str);

const ADDRESS: &str = "check the address, the network and the proxy";
const PROXY: &str =
    "check the proxy variables, such as HTTPS_PROXY, or exclude the host in NO_PROXY";
const LOGIN: &str = "set its user and password in the proxy variable, percent-encoded";
const AUTHORITY: &str = "if its authority is a company's, add the authority's certificate to those of the operating system, \
    or set SSL_CERT_FILE";
const HANDSHAKE: &str = "is the address http? does the server need a client certificate?";

/// The first row that matches applies. The texts are codes of Node.js, kinds of `std::io::Error`, and
/// messages of reqwest, hyper and rustls.
const FAILURES: &[Row] = &[
    (
        &["proxy authorization required"],
        Reason::Proxy,
        "cannot be reached: the proxy requires credentials (407)",
        LOGIN,
    ),
    (
        &[
            "tunnel error",
            "socks",
            "ERR_PROXY_TUNNEL",
            "Proxy response (",
        ],
        Reason::Proxy,
        "cannot be reached through the proxy",
        PROXY,
    ),
    (
        &["dns error", "ENOTFOUND", "EAI_"],
        Reason::Dns,
        "cannot be resolved",
        ADDRESS,
    ),
    (
        &["ConnectionRefused", "ECONNREFUSED"],
        Reason::Refused,
        "refuses connections",
        ADDRESS,
    ),
    (
        &[
            "HostUnreachable",
            "NetworkUnreachable",
            "NetworkDown",
            "AddrNotAvailable",
            "connect EHOST",
            "connect ENET",
            "CONNECT_TIMEOUT",
        ],
        Reason::Unreachable,
        "cannot be reached from here",
        ADDRESS,
    ),
    (
        &["certificate not valid yet", "NotValidYet", "CERT_NOT_YET"],
        Reason::Certificate,
        "has a certificate that is not valid yet",
        "check the clock",
    ),
    (
        &["certificate expired", "Expired", "CERT_HAS_EXPIRED"],
        Reason::Certificate,
        "has an expired certificate",
        "check the clock",
    ),
    (
        &["not valid for name", "NotValidForName", "ALTNAME"],
        Reason::Certificate,
        "has a certificate for another name",
        ADDRESS,
    ),
    (
        &[
            "invalid peer certificate",
            "UnknownIssuer",
            "CA certificates",
            "CERT_",
            "UNABLE_TO_",
        ],
        Reason::Certificate,
        "has an untrusted certificate",
        AUTHORITY,
    ),
    (
        &[
            "received corrupt message",
            "received fatal alert",
            "peer is incompatible",
            "peer misbehaved",
            "SSL_",
            "EPROTO",
        ],
        Reason::Tls,
        "refuses this TLS handshake",
        HANDSHAKE,
    ),
    (
        &["invalid HTTP", "HPE_", "HTTPParserError"],
        Reason::Protocol,
        "does not answer with HTTP",
        ADDRESS,
    ),
    (
        &["the body is larger than"],
        Reason::TooLarge,
        "sent a body of more than 8 MiB",
        "request fewer rows, or export them in pages",
    ),
];

impl ConnectionFailure {
    pub(super) fn new(cause: HostError, server: &BaseUrl) -> Self {
        let origin = find_origin(server.as_str());
        let host = origin.rsplit('/').next().unwrap_or(origin);
        let text = cause.describe();
        let is_match = |(texts, ..): &&Row| texts.iter().any(|known| text.contains(known));
        if let Some((_, reason, words, advice)) = FAILURES.iter().find(is_match) {
            let is_final = matches!(reason, Reason::Certificate | Reason::Tls | Reason::TooLarge);
            let is_final = is_final || *advice == LOGIN;
            return Self {
                reason: *reason,
                summary: [host, " ", words].concat(),
                advice: (*advice).to_owned(),
                may_have_been_sent: !(cause.is_unsent() || is_unsent_by_fetch(*reason)),
                can_retry: !is_final,
                cause,
            };
        }
        let page = cause.blocked_page(origin);
        Self {
            reason: page.as_ref().map_or(Reason::Interrupted, |_| Reason::Cors),
            summary: format!("no answer from {host}: the connection failed or broke"),
            advice: page.map_or_else(String::new, |page| {
                format!("its ALLOWED_ORIGINS must contain {page}")
            }),
            may_have_been_sent: !cause.is_unsent(),
            can_retry: true,
            cause,
        }
    }
}

/// Returns whether a request of `fetch` that failed for this reason was not sent. The texts of the
/// other reasons can also describe a connection that broke later. Natively, the error tells.
const fn is_unsent_by_fetch(reason: Reason) -> bool {
    let is_early = matches!(
        reason,
        Reason::Dns | Reason::Refused | Reason::Proxy | Reason::Certificate
    );
    cfg!(target_arch = "wasm32") && is_early
}

/// Returns the scheme and authority of a URL.
fn find_origin(url: &str) -> &str {
    let authority = url.find("://").map_or(0, |at| at + 3);
    let end = url[authority..]
        .find('/')
        .map_or(url.len(), |at| authority + at);
    &url[..end]
}

/// Returns the message for a response that does not come from the server but from a proxy or from
/// Cloudflare in front of it. For a redirect, adds advice to `message`.
pub(super) fn explain_response(
    message: &str,
    status: u16,
    headers: &HeaderMap,
    is_json: bool,
) -> Option<String> {
    if (300..=399).contains(&status) && headers.contains_key(LOCATION) {
        return Some([message, "; if you trust it, set it as the base URL"].concat());
    }
    if status == 407 {
        return Some(["the proxy requires credentials; ", LOGIN].concat());
    }
    let ray = headers.get("cf-ray").and_then(|ray| ray.to_str().ok());
    // A gateway's own 403 passes through Cloudflare, too.
    let media_type = headers
        .get(CONTENT_TYPE)
        .map_or(&b""[..], HeaderValue::as_bytes);
    let is_html = media_type.to_ascii_lowercase().starts_with(b"text/html");
    let is_blocked =
        headers.contains_key("cf-mitigated") || status == 403 && ray.is_some() && is_html;
    (is_blocked && !is_json).then(|| {
        let ray = ray.unwrap_or("unknown");
        format!(
            "Cloudflare blocked the request before it reached the server (ray {ray}); ask the server's \
             operator to allow this client"
        )
    })
}
