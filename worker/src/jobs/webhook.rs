//! Webhooks: where a job's end may be announced, how the announcement is signed, and when it is
//! sent again (Standard Webhooks).

use std::net::{Ipv4Addr, Ipv6Addr};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quillgate::{JobStatus, Millis};
use serde_json::Value;

use crate::hash::{KEY_BYTES, derive_key, hmac_sha256};
use crate::http::gateway_rule::GatewayRule;
use crate::http::problem::Problem;
use crate::http::url::lowercase_origin;
use crate::jobs::settings::WebhookSettings;
use crate::json;

/// The longest address, in bytes.
pub const LONGEST_URL: usize = 2048;
/// The longest name of a host, in bytes (RFC 1035, section 2.3.4).
const LONGEST_HOST: usize = 253;
/// The longest label of such a name.
const LONGEST_LABEL: usize = 63;

/// How long to wait for each attempt after the one before: the schedule of the Standard Webhooks
/// specification, ten attempts over about three days.
pub const RETRY_AFTER: [Millis; 10] = [
    Millis(0),
    Millis::from_seconds(5),
    Millis::from_seconds(5 * 60),
    Millis::from_seconds(30 * 60),
    Millis::from_seconds(2 * 3600),
    Millis::from_seconds(5 * 3600),
    Millis::from_seconds(10 * 3600),
    Millis::from_seconds(14 * 3600),
    Millis::from_seconds(20 * 3600),
    LONGEST_WAIT,
];
/// The longest wait between two attempts, whatever the receiver asks for: 24 h.
const LONGEST_WAIT: Millis = Millis::from_seconds(24 * 3600);

/// Checks that a webhook may be sent to an address, so that it never reaches what only the gateway
/// can (OWASP, server-side request forgery). `hosts` are the `host[:port]` that the operator
/// allows; an empty list allows none. Returns the address with its scheme and host in lower case.
///
/// Only `https` is accepted, without credentials or a fragment. A host is a name of at least two
/// labels that is not a local one, or a public address in its usual notation; everything else
/// that a URL parser would read as an address (`0x7f.1`, `127.1`, `2130706433`) is refused. A
/// loopback host is accepted, with `http` too, when the operator lists it.
///
/// Names are not resolved here: what a listed name leads to is for the operator to know.
///
/// # Errors
/// 400 `invalid-request`, field `Webhook-Url`: rule `webhook-hosts` where no host is allowed, else
/// rule `webhook-url`; the detail says which rule and never repeats the address, which may hold a
/// secret.
pub fn check_address(url: &str, hosts: &[String]) -> Result<String, Problem> {
    if hosts.is_empty() {
        return Err(Problem::no_webhook_hosts());
    }
    check(url, hosts).map_err(|rule| {
        let detail = ["Webhook-Url ", rule].concat();
        Problem::field("Webhook-Url", GatewayRule::WebhookUrl, &detail)
    })
}

fn check(url: &str, hosts: &[String]) -> Result<String, &'static str> {
    if url.len() > LONGEST_URL {
        return Err("must not be longer than 2048 bytes");
    }
    // A URL parser drops tabs and line breaks and takes a backslash for a slash.
    if !url
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'\\')
    {
        return Err("must be visible ASCII without spaces and backslashes");
    }
    if url.contains('#') {
        return Err("must not have a fragment");
    }
    let (scheme, rest) = url
        .split_once("://")
        .ok_or("must be an absolute https URL")?;
    let scheme = scheme.to_ascii_lowercase();
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if authority.contains('@') {
        return Err("must not hold credentials");
    }
    let authority = authority.to_ascii_lowercase();
    let host = split_host(&authority)?;
    let listed = hosts.iter().any(|own| own.eq_ignore_ascii_case(&authority));
    if !listed {
        return Err("must be at a host that the gateway's operator allows");
    }
    let loopback = listed && matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    match scheme.as_str() {
        "https" | "http" if loopback => {}
        "https" => check_public(host)?,
        _ => return Err("must be an absolute https URL"),
    }
    Ok([&scheme, "://", &authority, path].concat())
}

/// Checks again, at each delivery, that a webhook may be sent to an address: the operator's own one
/// as it is now, or one at a host that is allowed now. Returns it in its normal form; `None` when
/// the settings no longer allow it or nothing could be signed.
#[must_use]
pub fn recheck_address(url: &str, settings: &WebhookSettings) -> Option<String> {
    if settings.secrets.is_empty() {
        return None;
    }
    let url = lowercase_origin(url);
    if settings.url.as_ref() == Some(&url) {
        return Some(url);
    }
    check(&url, &settings.hosts).ok()
}

/// Returns the host of an authority, with its brackets if it has any, and checks the port.
fn split_host(authority: &str) -> Result<&str, &'static str> {
    let end = match authority.strip_prefix('[') {
        Some(rest) => rest.find(']').ok_or("must have a valid host")? + 2,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(end);
    if port.is_empty() || is_port(port) {
        return Ok(host);
    }
    Err("must have no port, or one from 1 to 65535")
}

fn is_port(port: &str) -> bool {
    port.strip_prefix(':').is_some_and(|digits| {
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        plain && !digits.starts_with('0') && digits.parse::<u16>().is_ok()
    })
}

fn check_public(host: &str) -> Result<(), &'static str> {
    const PRIVATE: &str = "must not be at an address that is not public";
    const MALFORMED: &str = "must have a valid host";
    if let Some(literal) = host.strip_prefix('[') {
        let literal = literal.strip_suffix(']').ok_or(MALFORMED)?;
        let address: Ipv6Addr = literal.parse().map_err(|_| MALFORMED)?;
        return is_public_v6(address).then_some(()).ok_or(PRIVATE);
    }
    let labels: Vec<_> = host.split('.').collect();
    if host.len() > LONGEST_HOST || !labels.iter().all(|label| is_label(label)) {
        return Err(MALFORMED);
    }
    if labels.last().is_some_and(|label| is_numeric(label)) {
        let address: Ipv4Addr = host.parse().map_err(|_| PRIVATE)?;
        return is_public_v4(address).then_some(()).ok_or(PRIVATE);
    }
    if is_local(host, &labels) {
        return Err("must not be at a local host");
    }
    Ok(())
}

fn is_label(label: &str) -> bool {
    let fits =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    (1..=LONGEST_LABEL).contains(&label.len()) && label.bytes().all(fits)
}

/// Whether a host with this last label is an address to a URL parser (WHATWG URL, "ends in a
/// number").
fn is_numeric(label: &str) -> bool {
    label.starts_with("0x") || label.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a name has no dot, or a meaning only in the local network (RFC 6761, 6762, 8375; ICANN
/// for `internal`).
fn is_local(host: &str, labels: &[&str]) -> bool {
    matches!(labels, [_] | [.., "localhost" | "local" | "internal"])
        || host == "home.arpa"
        || host.ends_with(".home.arpa")
}

/// Whether an address is globally reachable by the IANA IPv4 Special-Purpose Address Registry, and
/// not multicast.
fn is_public_v4(address: Ipv4Addr) -> bool {
    !matches!(
        address.octets(),
        [0 | 10 | 127 | 224.., ..]
            | [100, 64..=127, ..]
            | [169, 254, ..]
            | [172, 16..=31, ..]
            | [192, 168, ..]
            | [192, 0, 0 | 2, _]
            | [192, 88, 99, _]
            | [198, 18 | 19, ..]
            | [198, 51, 100, _]
            | [203, 0, 113, _]
            // Where Azure's machines reach their own host.
            | [168, 63, 129, 16]
    )
}

/// Whether an address is global unicast (`2000::/3`), without IETF protocol assignments such as
/// Teredo (`2001::/23`), documentation (`2001:db8::/32`, `3fff::/20`) and 6to4 (`2002::/16`), which
/// leads to an IPv4 address.
fn is_public_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        [0x2001, second, ..] => second > 0x1ff && second != 0xdb8,
        [0x2002, ..] => false,
        [0x3fff, second, ..] => second > 0xfff,
        [first, ..] => (0x2000..=0x3fff).contains(&first),
    }
}

/// Derives the keys of one receiver, by its address in its normal form and the project: one of each
/// secret. A receiver that knows its own keys can neither compute another one's nor the secrets.
///
/// The keys are HKDF-SHA-256 without a salt, 32 bytes long. `info` is `quillgate webhook`, the
/// address and the project, separated by line feeds, which no address contains.
#[must_use]
pub fn derive_keys(secrets: &[Vec<u8>], project: &str, url: &str) -> Vec<[u8; KEY_BYTES]> {
    let info = ["quillgate webhook", url, project].join("\n");
    let derive = |secret: &Vec<u8>| derive_key(secret, info.as_bytes());
    secrets.iter().map(derive).collect()
}

/// Computes the value of `webhook-signature`: for each key `v1,` and HMAC-SHA-256, in base64, over
/// `id.timestamp.body`, separated by spaces. While secrets rotate, the keys of all of them sign.
///
/// `id` contains no full stop; `timestamp_seconds` is the value of `webhook-timestamp`.
#[must_use]
pub fn sign(keys: &[impl AsRef<[u8]>], id: &str, timestamp_seconds: u64, body: &str) -> String {
    let signed = [id, &timestamp_seconds.to_string(), body].join(".");
    let signatures = keys.iter().map(|key| {
        let signature = STANDARD.encode(hmac_sha256(key.as_ref(), &[signed.as_bytes()]));
        format!("v1,{signature}")
    });
    signatures.collect::<Vec<_>>().join(" ")
}

/// What follows an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Nothing: it was delivered.
    Done,
    /// Another attempt, after this long.
    Again(Millis),
    /// Nothing: the receiver does not want it, or all attempts have been made.
    GivenUp,
}

/// Decides what follows an attempt that ended with `status`, `None` when there was no answer in
/// time; `attempt` is how many attempts have been made, from 1.
///
/// A 2xx means that the webhook was delivered; a redirect is a failure and is never followed; a
/// 410 ends the attempts. The wait is that of [`RETRY_AFTER`], made up to a tenth longer by
/// `jitter`, from 0 to 1. If a 429 or 503 asks for a longer wait, that counts, up to 24 hours.
#[must_use]
pub fn plan_next(
    attempt: u32,
    status: Option<u16>,
    retry_after: Option<Millis>,
    jitter: f64,
) -> Next {
    match status {
        Some(200..=299) => return Next::Done,
        Some(410) => return Next::GivenUp,
        _ => {}
    }
    let Some(scheduled) = RETRY_AFTER.get(attempt as usize) else {
        return Next::GivenUp;
    };
    let scheduled = lengthen(*scheduled, jitter);
    let requested = retry_after.filter(|_| matches!(status, Some(429 | 503)));
    let wait = requested.map_or(scheduled, |wait| wait.min(LONGEST_WAIT).max(scheduled));
    Next::Again(wait)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "jitter is a number from 0 to 1, and NaN counts as 0"
)]
fn lengthen(wait: Millis, jitter: f64) -> Millis {
    let permille = (jitter.clamp(0.0, 1.0) * 100.0) as u64;
    Millis(wait.0 + wait.0 * permille / 1000)
}

/// What a webhook announces of a job, after which nothing follows unless the job is set to work again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobEnd {
    /// It was completed.
    Completed,
    /// It failed.
    Failed,
    /// It was archived.
    Archived,
    /// It has not ended in the time for which the gateway asks for it.
    Unfinished,
    /// The upstream has not known it for a while, and the gateway has stopped asking for it.
    NotFound,
}

impl JobEnd {
    /// Every end.
    pub const ALL: [Self; 5] = [
        Self::Completed,
        Self::Failed,
        Self::Archived,
        Self::Unfinished,
        Self::NotFound,
    ];

    /// The end of a job with this status; `None` while it has not ended.
    #[must_use]
    pub const fn of(status: &JobStatus) -> Option<Self> {
        match status {
            JobStatus::Completed => Some(Self::Completed),
            JobStatus::Failed => Some(Self::Failed),
            JobStatus::Archived => Some(Self::Archived),
            JobStatus::Active | JobStatus::Other(_) => None,
        }
    }

    /// The end of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|end| end.as_str() == name)
    }

    /// Its name in the table of webhooks, and the last part of the event's type.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Archived => "archived",
            Self::Unfinished => "unfinished",
            Self::NotFound => "not_found",
        }
    }
}

/// A webhook's event.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// What has happened.
    pub end: JobEnd,
    /// When, in ISO 8601.
    pub timestamp: &'a str,
    /// The project.
    pub project: &'a str,
    /// The address that it is sent to, in its normal form.
    pub url: &'a str,
    /// The job as JSON, which is inserted as it is.
    pub job: &'a str,
}

impl Event<'_> {
    /// The body of the webhook. It names project and address, so that it is of no use elsewhere.
    #[must_use]
    pub fn to_json(&self) -> String {
        let quote = |text: &str| json::to_text(&Value::from(text));
        [
            "{\"type\":\"agent_job.",
            self.end.as_str(),
            "\",\"timestamp\":\"",
            self.timestamp,
            "\",\"project\":",
            &quote(self.project),
            ",\"webhookUrl\":",
            &quote(self.url),
            ",\"data\":",
            self.job,
            "}",
        ]
        .concat()
    }
}
