//! Webhooks (Standard Webhooks): addresses, signatures and retries.

pub mod queue;

use std::net::{Ipv4Addr, Ipv6Addr};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quillgate::Millis;
use quillgate::credential::LOOPBACK;
use serde::Serialize;

use crate::hash::{KEY_BYTES, derive_key, hmac_sha256};
use crate::http::problem::Problem;
use crate::http::url::{is_port, lowercase_origin, origin_of};
use crate::jobs::job_settings::WebhookSettings;
use crate::jobs::resource::Resource;
use crate::json;
use crate::upstream::snapshot::find_live;

pub const MAX_URL_BYTES: usize = 2048;
/// RFC 1035, section 2.3.4.
const MAX_HOST_BYTES: usize = 253;
/// RFC 1035, section 2.3.4.
const MAX_LABEL_BYTES: usize = 63;

/// Without jitter. Standard Webhooks recommends ten attempts over about three days.
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
    MAX_WAIT,
];
/// Before jitter. Also the cap of a receiver's `Retry-After`.
const MAX_WAIT: Millis = Millis::from_seconds(24 * 3600);

/// Prevents server-side request forgery (OWASP). The address must be `https` without credentials or
/// a fragment, and its host and port must be in `hosts`. Local names and other notations of
/// addresses (`0x7f.1`, `127.1`, `2130706433`) are errors. A loopback host in `hosts` is valid,
/// even with `http`.
///
/// Host names are not resolved: the operator is responsible for the addresses of the names in
/// `hosts`. The problem never contains the address, which may contain a secret.
pub fn check_address(url: &str, hosts: &[String]) -> Result<String, Problem> {
    if hosts.is_empty() {
        return Err(Problem::no_webhook_hosts());
    }
    let url = lowercase_origin(url);
    match check(&url, hosts) {
        Ok(()) => Ok(url),
        Err(rule) => Err(Problem::invalid_webhook_url(&format!("Webhook-Url {rule}"))),
    }
}

/// Expects a lowercase scheme and host.
fn check(url: &str, hosts: &[String]) -> Result<(), &'static str> {
    if url.len() > MAX_URL_BYTES {
        return Err("must not be longer than 2048 bytes");
    }
    // URL parsers drop tabs and line breaks, and read a backslash as a slash.
    if !url
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'\\')
    {
        return Err("must be visible ASCII without spaces and backslashes");
    }
    if url.contains('#') {
        return Err("must not have a fragment");
    }
    let (scheme, authority) = origin_of(url)
        .split_once("://")
        .ok_or("must be an absolute https URL")?;
    if authority.contains('@') {
        return Err("must not hold credentials");
    }
    let host = split_host(authority)?;
    if !hosts.iter().any(|own| own.eq_ignore_ascii_case(authority)) {
        return Err("must be at a host that the gateway's operator allows");
    }
    match scheme {
        "https" | "http" if LOOPBACK.contains(&host) => Ok(()),
        "https" => check_public(host),
        _ => Err("must be an absolute https URL"),
    }
}

/// Before each delivery, because the settings may have changed.
pub fn recheck_address(url: &str, settings: &WebhookSettings) -> Option<String> {
    if settings.secrets.is_empty() {
        return None;
    }
    let url = lowercase_origin(url);
    let is_allowed = settings.url.as_ref() == Some(&url) || check(&url, &settings.hosts).is_ok();
    is_allowed.then_some(url)
}

/// The host keeps the brackets of an IPv6 address.
fn split_host(authority: &str) -> Result<&str, &'static str> {
    let end = match authority.strip_prefix('[') {
        Some(rest) => rest.find(']').ok_or("must have a valid host")? + 2,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(end);
    if port.is_empty() || port.strip_prefix(':').is_some_and(is_port) {
        return Ok(host);
    }
    Err("must have no port, or one from 1 to 65535")
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
    if host.len() > MAX_HOST_BYTES || !labels.iter().all(|label| is_label(label)) {
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
    (1..=MAX_LABEL_BYTES).contains(&label.len()) && label.bytes().all(fits)
}

/// WHATWG URL, "ends in a number".
fn is_numeric(label: &str) -> bool {
    label.starts_with("0x") || label.bytes().all(|byte| byte.is_ascii_digit())
}

/// No dot, or reserved for local networks (RFC 6761, 6762, 8375; ICANN for `internal`).
fn is_local(host: &str, labels: &[&str]) -> bool {
    matches!(labels, [_] | [.., "localhost" | "local" | "internal"])
        || host == "home.arpa"
        || host.ends_with(".home.arpa")
}

/// Globally reachable (IANA IPv4 Special-Purpose Address Registry) and not multicast.
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
            // Azure's virtual machines reach platform services at this address, which is not in
            // IANA's registry.
            | [168, 63, 129, 16]
    )
}

/// Global unicast (`2000::/3`), except IETF protocol assignments such as Teredo (`2001::/23`),
/// documentation (`2001:db8::/32`, `3fff::/20`) and 6to4 (`2002::/16`), which contains an IPv4
/// address that may not be public.
fn is_public_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        [0x2001, second, ..] => second > 0x1ff && second != 0xdb8,
        [0x2002, ..] => false,
        [0x3fff, second, ..] => second > 0xfff,
        [first, ..] => (0x2000..=0x3fff).contains(&first),
    }
}

/// One key per secret, derived with HKDF-SHA-256 without a salt. A receiver can compute neither the
/// secrets nor the keys of other receivers. Addresses never contain a line feed, which separates
/// the parts of `info`.
pub fn derive_keys(secrets: &[Vec<u8>], project: &str, url: &str) -> Vec<[u8; KEY_BYTES]> {
    let info = ["quillgate webhook", url, project].join("\n");
    let derive = |secret: &Vec<u8>| derive_key(secret, info.as_bytes());
    secrets.iter().map(derive).collect()
}

/// The value of `webhook-signature`. During a rotation of secrets, the header has one signature per
/// secret. `id` contains no full stop.
pub fn sign(keys: &[impl AsRef<[u8]>], id: &str, timestamp_seconds: u64, body: &str) -> String {
    let signed = format!("{id}.{timestamp_seconds}.{body}");
    let signatures = keys.iter().map(|key| {
        let signature = STANDARD.encode(hmac_sha256(key.as_ref(), &[signed.as_bytes()]));
        format!("v1,{signature}")
    });
    signatures.collect::<Vec<_>>().join(" ")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    Done,
    Again(Millis),
    /// The receiver responded 410, or the last attempt failed.
    GivenUp,
}

/// `attempt` is counted from 1. `status` is `None` if no response arrived in time. Redirects are
/// failures and are never followed. `jitter`, from 0 to 1, lengthens the wait by up to 10 %. After
/// a 429 or 503, a longer `retry_after` replaces the wait.
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
    let scheduled = scheduled.jitter(1.0, 1.1, jitter);
    let requested = retry_after.filter(|_| matches!(status, Some(429 | 503)));
    let wait = requested.map_or(scheduled, |wait| wait.min(MAX_WAIT).max(scheduled));
    Next::Again(wait)
}

/// A job can end more than once, because it can restart, and its final status can change. The
/// serialized name is the one in the `outbox` table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JobEnd {
    Completed,
    Failed,
    Archived,
    Success,
    Failure,
    Unfinished,
    /// Mintlify responded 404 for [`LOST_AFTER`](crate::jobs::poll::LOST_AFTER).
    NotFound,
}

/// The body contains the project and the address, so that a receiver can reject events for other
/// receivers. `timestamp` is in ISO 8601. `job` is JSON, inserted verbatim. `isLive` says whether an
/// ended deployment is live.
pub fn format_event(
    resource: Resource,
    end: &str,
    timestamp: &str,
    (project, url): (&str, &str),
    job: &str,
) -> String {
    let (kind, is_live) = match (resource, end) {
        (Resource::Job, end) => (format!("agent_job.{end}"), None),
        (Resource::Deployment, "success" | "failure") => {
            let is_live = json::parse(job.as_bytes()).and_then(|job| find_live(&job));
            ("deployment.ended".to_owned(), is_live)
        }
        (Resource::Deployment, end) => (format!("deployment.{end}"), None),
    };
    let is_live = is_live.map_or(String::new(), |is_live| format!(r#","isLive":{is_live}"#));
    format!(
        r#"{{"type":"{kind}","timestamp":"{timestamp}","project":{},"webhookUrl":{}{is_live},"data":{job}}}"#,
        json::to_text(&project),
        json::to_text(&url),
    )
}

pub fn format_given_up(id: &str, status: Option<u16>) -> String {
    let (id, status) = (json::to_text(&id), json::to_text(&status));
    format!(r#"{{"webhook":{id},"givenUp":true,"status":{status}}}"#)
}
