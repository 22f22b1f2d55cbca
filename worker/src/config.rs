//! The Worker's variables and secrets, read once and checked.

use std::fmt;

use quillgate::Millis;
use quillgate::credential::{AdminKey, BaseUrl};

/// What the Worker is set up with.
pub struct Config {
    /// Where requests go.
    pub upstream: BaseUrl,
    /// The platform's admin key.
    pub admin_key: AdminKey,
    /// The keys of the gateway's own access tokens: the first signs, all verify.
    pub token_secrets: Vec<Vec<u8>>,
    /// The origins that a browser may call from.
    pub allowed_origins: Vec<String>,
    /// How long the upstream may take to the head of its answer, and to an error's body.
    pub upstream_timeout: Millis,
}

/// A variable that is missing or malformed: named, and never quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfigError {
    /// The variable's name.
    pub variable: &'static str,
    /// What it must be.
    pub rule: &'static str,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.variable, self.rule)
    }
}

/// The least length of a key for HS256: that of the hash (RFC 7518, section 3.2).
const LEAST_SECRET: usize = 32;

impl Config {
    /// Reads the variables through `variable`; what is only white space counts as not set.
    ///
    /// # Errors
    /// The first variable that is missing or malformed.
    ///
    /// # Example
    /// ```
    /// use quillgate_worker::config::Config;
    ///
    /// let error = Config::read(|_| None).err().unwrap();
    /// assert_eq!(error.to_string(), "ADMIN_API_KEY is not set");
    /// ```
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let value = |name: &str| {
            let value = variable(name)?;
            let value = value.trim();
            (!value.is_empty()).then(|| value.to_owned())
        };
        Ok(Self {
            admin_key: admin_key(value("ADMIN_API_KEY"))?,
            token_secrets: token_secrets(value("ACCESS_TOKEN_SECRET"))?,
            upstream: upstream(value("UPSTREAM_BASE_URL"))?,
            allowed_origins: allowed_origins(value("ALLOWED_ORIGINS"))?,
            upstream_timeout: upstream_timeout(value("UPSTREAM_TIMEOUT_SECONDS"))?,
        })
    }
}

fn admin_key(value: Option<String>) -> Result<AdminKey, ConfigError> {
    let error = |rule| ConfigError {
        variable: "ADMIN_API_KEY",
        rule,
    };
    let key = value.ok_or(error("is not set"))?;
    AdminKey::new(key).map_err(|_| {
        error("must be an admin key, which begins with mint_ and not with mint_dsc_ or mint_us_")
    })
}

fn token_secrets(value: Option<String>) -> Result<Vec<Vec<u8>>, ConfigError> {
    let error = |rule| ConfigError {
        variable: "ACCESS_TOKEN_SECRET",
        rule,
    };
    let value = value.ok_or(error("is not set"))?;
    let secrets: Vec<_> = value
        .split(',')
        .map(|secret| secret.trim().as_bytes().to_vec())
        .collect();
    if secrets.iter().any(|secret| secret.len() < LEAST_SECRET) {
        return Err(error(
            "must be at least 32 bytes, or several such separated by commas",
        ));
    }
    Ok(secrets)
}

/// The admin key goes there, so it has to be `https`, this machine aside.
fn upstream(value: Option<String>) -> Result<BaseUrl, ConfigError> {
    let url = value.unwrap_or_else(|| BaseUrl::UPSTREAM.to_owned());
    let error = ConfigError {
        variable: "UPSTREAM_BASE_URL",
        rule: "must be an absolute https URL, or http on this machine, without credentials, query or fragment",
    };
    match url.strip_prefix("http://") {
        Some(rest) if !is_loopback(rest) => Err(error),
        _ => BaseUrl::new(&url).map_err(|_| error),
    }
}

/// Whether what follows `http://` is an address of this machine.
fn is_loopback(rest: &str) -> bool {
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    matches!(host, "localhost" | "127.0.0.1" | "[::1]")
}

fn allowed_origins(value: Option<String>) -> Result<Vec<String>, ConfigError> {
    let value = value.unwrap_or_default();
    let origins = value
        .split(',')
        .map(str::trim)
        .filter(|origin| !origin.is_empty());
    let origins: Vec<_> = origins.map(str::to_owned).collect();
    if origins.iter().all(|origin| is_origin(origin)) {
        return Ok(origins);
    }
    Err(ConfigError {
        variable: "ALLOWED_ORIGINS",
        rule: "must be exact origins such as https://docs.example, separated by commas",
    })
}

fn upstream_timeout(value: Option<String>) -> Result<Millis, ConfigError> {
    let digits = |text: &String| text.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = value.map_or(Some(30), |text| {
        digits(&text).then(|| text.parse().ok()).flatten()
    });
    match seconds {
        Some(seconds @ 1..=300) => Ok(Millis::from_seconds(seconds)),
        _ => Err(ConfigError {
            variable: "UPSTREAM_TIMEOUT_SECONDS",
            rule: "must be an integer from 1 to 300",
        }),
    }
}

/// Whether `text` is an origin as a browser serialises it (RFC 6454, section 6.2).
fn is_origin(text: &str) -> bool {
    let host = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    host.is_some_and(|host| {
        let fits = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-:[]".contains(&byte)
        };
        !host.is_empty() && host.bytes().all(fits)
    })
}
