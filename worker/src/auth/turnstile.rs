//! Turnstile. This optional check shows that a person, not a bot, uses the browser that creates a
//! job or sends a message. The gateway does not check requests without `Origin`, because browsers
//! send `Origin` with every `POST`.

use sha2::{Digest, Sha256};

use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::url::is_secure_url;
use crate::json;
use crate::variable::VariableError;

/// The Cloudflare endpoint that verifies responses.
const SITEVERIFY: &str = "https://challenges.cloudflare.com/turnstile/v0/siteverify";
/// The maximum length of a Turnstile response in characters, according to Cloudflare's
/// documentation.
const MAX_RESPONSE_LENGTH: usize = 2048;

/// The configuration of Turnstile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turnstile {
    /// The secret that authenticates the gateway to Cloudflare.
    pub secret: String,
    /// The public key with which a page shows the widget.
    pub site_key: String,
    /// The URL to which the gateway sends a response for verification.
    pub verify_url: String,
}

/// A Turnstile response, and the host of the page that sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnstileProof {
    /// The widget's response, which is valid for 300 seconds and for one verification.
    pub response: String,
    /// The host of the page that sent the response. The host in Cloudflare's response must be the
    /// same.
    pub hostname: String,
}

impl Turnstile {
    /// Reads the configuration from the Worker's variables. Returns `None` without a secret: no
    /// request is checked then.
    ///
    /// # Errors
    /// Returns an error if a secret has no site key, or if the verification URL is not `https`. A
    /// loopback host may use `http`.
    pub fn read(
        value: impl Fn(&'static str) -> Option<String>,
    ) -> Result<Option<Self>, VariableError> {
        // All three variables are read even without a secret: `check_config` records which names
        // are read, and reports other names as unknown.
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

    /// Requires a Turnstile response with a write from a page of `origin`.
    ///
    /// # Errors
    /// Returns a 403 `turnstile-required` problem with the site key if `response` is missing, empty
    /// or too long.
    pub fn require(&self, response: Option<&str>, origin: &str) -> Result<TurnstileProof, Problem> {
        let fits = |response: &&str| (1..=MAX_RESPONSE_LENGTH).contains(&response.len());
        let Some(response) = response.filter(fits) else {
            let detail = "a browser must send a Turnstile response as Cf-Turnstile-Response";
            return Err(Problem::new(ProblemKind::TurnstileRequired, detail)
                .with_member("siteKey", self.site_key.as_str().into()));
        };
        Ok(TurnstileProof {
            response: response.to_owned(),
            hostname: host_of(origin).to_owned(),
        })
    }
}

/// Returns the host of an origin, without its port.
fn host_of(origin: &str) -> &str {
    let authority = origin.split_once("://").map_or(origin, |(_, rest)| rest);
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => host,
        _ => authority,
    }
}

/// Whether Cloudflare's answer accepts a response and confirms that a page of this host received
/// the response.
pub fn is_accepted(answer: &str, hostname: &str) -> bool {
    json::parse(answer.as_bytes()).is_some_and(|answer| {
        json::is_true(&answer, "success") && json::text(&answer, "hostname") == Some(hostname)
    })
}

/// Returns a 403 for a Turnstile response that is invalid, expired or already used.
pub fn failed_problem() -> Problem {
    let detail = "the Turnstile response was rejected; a response is valid once, for five minutes";
    Problem::new(ProblemKind::TurnstileFailed, detail)
}

/// Returns a 503 for a Turnstile response that cannot be verified now.
pub fn unavailable_problem() -> Problem {
    let detail = "Turnstile responses cannot be verified right now; nothing was sent upstream";
    Problem::new(ProblemKind::TurnstileUnavailable, detail).with_header("retry-after", "5")
}

/// Builds the body that verifies a response.
///
/// Cloudflare verifies a response again only if the UUID is the same as in the first verification.
/// With an idempotency key, the UUID derives from `key_fingerprint`, so a retried request passes
/// again. Without a key, the UUID is `random_uuid`.
pub fn build_verification(
    secret: &str,
    proof: &TurnstileProof,
    key_fingerprint: Option<&str>,
    random_uuid: &str,
) -> String {
    json::to_text(&serde_json::json!({
        "secret": secret,
        "response": proof.response,
        "idempotency_key": key_fingerprint.map_or_else(|| random_uuid.to_owned(), derive_uuid),
    }))
}

/// Derives a UUID from a fingerprint: version 8, with bits of its hash (RFC 9562, section 5.8).
fn derive_uuid(fingerprint: &str) -> String {
    let digest = Sha256::digest(fingerprint.as_bytes());
    let bytes = digest.iter().take(16);
    let number = bytes.fold(0, |number: u128, byte| (number << 8) | u128::from(*byte));
    let hex = format!("{number:032x}");
    // The digit 8 at the start of the third group is the version. The digit 8 at the start of the
    // fourth group is the variant of RFC 9562.
    let (low, middle, node) = (&hex[..8], &hex[8..12], &hex[20..]);
    format!("{low}-{middle}-8{}-8{}-{node}", &hex[13..16], &hex[17..20])
}
