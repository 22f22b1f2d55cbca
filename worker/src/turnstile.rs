//! Turnstile: whether a person sits at the browser that asks to change something. It is
//! optional, and never asked of a caller that is no browser.

use serde::Serialize;

use crate::config::{ConfigError, is_secure_url};
use crate::json;
use crate::problem::Problem;

/// Where Cloudflare says whether a response is good.
const SITEVERIFY: &str = "https://challenges.cloudflare.com/turnstile/v0/siteverify";
/// The longest response, in characters, by Cloudflare's documentation.
const LONGEST_RESPONSE: usize = 2048;

/// How the gateway asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turnstile {
    /// What the gateway proves itself with.
    pub secret: String,
    /// What a page needs to show the widget; public.
    pub site_key: String,
    /// Where a response is checked.
    pub verify_url: String,
}

/// A response that is still to be checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Human {
    /// The widget's response, good for 300 s and for one check.
    pub response: String,
    /// The host of the page that it must come from.
    pub hostname: String,
}

impl Turnstile {
    /// Reads the three variables; without a secret nobody is asked.
    ///
    /// # Errors
    /// A secret without a site key, or an address that is not `https`.
    pub fn read(
        value: impl Fn(&'static str) -> Option<String>,
    ) -> Result<Option<Self>, ConfigError> {
        let Some(secret) = value("TURNSTILE_SECRET") else {
            return Ok(None);
        };
        let site_key = value("TURNSTILE_SITE_KEY").ok_or(ConfigError {
            variable: "TURNSTILE_SITE_KEY",
            rule: "is not set, and must be when TURNSTILE_SECRET is",
        })?;
        let verify_url = value("TURNSTILE_VERIFY_URL").unwrap_or_else(|| SITEVERIFY.to_owned());
        if !is_secure_url(&verify_url) {
            return Err(ConfigError {
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

    /// What has to be checked before a page of `origin` may change something.
    ///
    /// # Errors
    /// 403 `turnstile-required`, with the site key, when there is no response to check.
    pub fn asked(&self, response: Option<&str>, origin: &str) -> Result<Human, Problem> {
        let fits = |response: &&str| (1..=LONGEST_RESPONSE).contains(&response.len());
        let response = response.filter(fits).ok_or_else(|| self.required())?;
        Ok(Human {
            response: response.to_owned(),
            hostname: host(origin).to_owned(),
        })
    }

    fn required(&self) -> Problem {
        let detail = "a browser must send a Turnstile response as Cf-Turnstile-Response";
        let title = "Turnstile response required";
        Problem::new(403, "turnstile-required", title, detail)
            .with_member("siteKey", self.site_key.as_str().into())
    }
}

/// The host of an origin, without a port.
fn host(origin: &str) -> &str {
    let authority = origin.split_once("://").map_or(origin, |(_, rest)| rest);
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => host,
        _ => authority,
    }
}

/// Whether Cloudflare's answer says that a person was there, on a page of this host.
#[must_use]
pub fn passed(answer: &str, hostname: &str) -> bool {
    json::value(answer.as_bytes()).is_some_and(|answer| {
        json::flag(&answer, "success") && json::text(&answer, "hostname") == Some(hostname)
    })
}

/// 403: the response is not good, or was used before.
#[must_use]
pub fn failed() -> Problem {
    let detail = "the Turnstile response was not accepted; it is good for five minutes and once";
    Problem::new(
        403,
        "turnstile-failed",
        "Turnstile response not accepted",
        detail,
    )
}

/// 503: nobody can say just now whether the response is good.
#[must_use]
pub fn unavailable() -> Problem {
    let detail = "Turnstile responses cannot be checked just now; nothing was sent";
    Problem::new(
        503,
        "turnstile-unavailable",
        "Turnstile not available",
        detail,
    )
    .with_header("retry-after", "5")
}
