//! Turnstile: checks that a person uses the browser that asks to change something. It is optional,
//! and only browsers are checked.

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::url::is_secure_url;
use crate::json;
use crate::variable::VariableError;

/// Where Cloudflare verifies a response.
const SITEVERIFY: &str = "https://challenges.cloudflare.com/turnstile/v0/siteverify";
/// The longest response, in characters, according to Cloudflare's documentation.
const LONGEST_RESPONSE: usize = 2048;

/// How responses are verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turnstile {
    /// The secret with which the gateway identifies itself.
    pub secret: String,
    /// The key that a page needs to show the widget; public.
    pub site_key: String,
    /// Where a response is verified.
    pub verify_url: String,
}

/// A response that has yet to be verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TurnstileProof {
    /// The widget's response, valid for 300 s and for one verification.
    pub response: String,
    /// The host of the page that it must come from.
    pub hostname: String,
}

impl Turnstile {
    /// Reads the three variables; without a secret nobody is checked.
    ///
    /// # Errors
    /// A secret without a site key, or an address that is not `https`.
    pub fn read(
        value: impl Fn(&'static str) -> Option<String>,
    ) -> Result<Option<Self>, VariableError> {
        // All are asked for, whether or not they count: that is how a check knows their names.
        let [secret, site_key, verify_url] = [
            "TURNSTILE_SECRET",
            "TURNSTILE_SITE_KEY",
            "TURNSTILE_VERIFY_URL",
        ]
        .map(value);
        let Some(secret) = secret else {
            return Ok(None);
        };
        let site_key = site_key.ok_or(VariableError {
            variable: "TURNSTILE_SITE_KEY",
            rule: "is not set, and must be when TURNSTILE_SECRET is",
        })?;
        let verify_url = verify_url.unwrap_or_else(|| SITEVERIFY.to_owned());
        if !is_secure_url(&verify_url) {
            return Err(VariableError {
                variable: "TURNSTILE_VERIFY_URL",
                rule: "must be an absolute https URL, or http on this machine, without credentials or fragment",
            });
        }
        Ok(Some(Self {
            secret,
            site_key,
            verify_url,
        }))
    }

    /// Requires a response before a page of `origin` may change something.
    ///
    /// # Errors
    /// 403 `turnstile-required`, with the site key, when there is no response to verify.
    pub fn require(&self, response: Option<&str>, origin: &str) -> Result<TurnstileProof, Problem> {
        let fits = |response: &&str| (1..=LONGEST_RESPONSE).contains(&response.len());
        let response = response
            .filter(fits)
            .ok_or_else(|| self.required_problem())?;
        Ok(TurnstileProof {
            response: response.to_owned(),
            hostname: host_of(origin).to_owned(),
        })
    }

    fn required_problem(&self) -> Problem {
        let detail = "a browser must send a Turnstile response as Cf-Turnstile-Response";
        Problem::new(ProblemKind::TurnstileRequired, detail)
            .with_member("siteKey", self.site_key.as_str().into())
    }
}

/// The host of an origin, without its port.
fn host_of(origin: &str) -> &str {
    let authority = origin.split_once("://").map_or(origin, |(_, rest)| rest);
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => host,
        _ => authority,
    }
}

/// Whether Cloudflare's answer confirms a person, on a page of this host.
#[must_use]
pub fn is_accepted(answer: &str, hostname: &str) -> bool {
    json::parse(answer.as_bytes()).is_some_and(|answer| {
        json::is_true(&answer, "success") && json::text(&answer, "hostname") == Some(hostname)
    })
}

/// 403: the response is not valid, or was used before.
#[must_use]
pub fn failed_problem() -> Problem {
    let detail = "the Turnstile response was not accepted; it is valid once, for five minutes";
    Problem::new(ProblemKind::TurnstileFailed, detail)
}

/// 503: the response cannot be verified right now.
#[must_use]
pub fn unavailable_problem() -> Problem {
    let detail = "Turnstile responses cannot be checked right now; nothing was sent";
    Problem::new(ProblemKind::TurnstileUnavailable, detail).with_header("retry-after", "5")
}

/// Chooses the UUID under which Cloudflare verifies a Turnstile response.
///
/// Cloudflare accepts a response again only under the UUID of its first verification. A request
/// with an idempotency key derives the UUID from `key_fingerprint`, so a repeated request passes.
/// Any other request gets `random_uuid`.
#[must_use]
pub fn choose_idempotency_key(key_fingerprint: Option<&str>, random_uuid: &str) -> String {
    key_fingerprint.map_or_else(|| random_uuid.to_owned(), derive_uuid)
}

/// Builds the body with which a response is verified; `idempotency_key` is a UUID of
/// [`choose_idempotency_key`].
#[must_use]
pub fn build_verification(secret: &str, proof: &TurnstileProof, idempotency_key: &str) -> String {
    json::to_text(&serde_json::json!({
        "secret": secret,
        "response": proof.response,
        "idempotency_key": idempotency_key,
    }))
}

/// Derives a UUID from a fingerprint: 120 bits of its hash (RFC 9562, section 5.8).
fn derive_uuid(fingerprint: &str) -> String {
    let digest = Sha256::digest(fingerprint.as_bytes());
    let mut hex = String::with_capacity(36);
    for (at, byte) in digest.iter().take(16).enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            hex.push('-');
        }
        let byte = match at {
            // The version, which is 8, and the variant, of which two bits are left at zero.
            6 | 8 => 0x80 | (byte & 0x0f),
            _ => *byte,
        };
        for digit in [byte >> 4, byte & 0x0f] {
            hex.extend(char::from_digit(digit.into(), 16));
        }
    }
    hex
}
