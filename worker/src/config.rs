//! The Worker's variables and secrets, read once and checked.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quillgate::Millis;
use quillgate::credential::{AdminKey, BaseUrl};

use crate::access::Revoked;
use crate::oidc::{self, Issuer};
use crate::turnstile::Turnstile;

/// What the Worker is set up with.
pub struct Config {
    /// Where requests go.
    pub upstream: BaseUrl,
    /// The platform's admin keys, one or, while they rotate, two: newest first.
    pub admin_keys: Vec<AdminKey>,
    /// Admin keys that may only read, for requests that do: none, one or two, newest first.
    pub read_keys: Vec<AdminKey>,
    /// The keys of the gateway's own access tokens: the first signs, all verify.
    pub token_secrets: Vec<Vec<u8>>,
    /// The other issuers whose access tokens are accepted.
    pub trusted_issuers: Vec<Issuer>,
    /// The own access tokens that are no longer accepted.
    pub revoked: Revoked,
    /// The origins that a browser may call from.
    pub allowed_origins: Vec<String>,
    /// How long the upstream may take to the head of its answer, and to an error's body.
    pub upstream_timeout: Millis,
    /// How many jobs may be created in a project within a window.
    pub create_limit: u32,
    /// How many follow-ups may be sent in a project within a window.
    pub message_limit: u32,
    /// How many requests for analytics may be made within a window, by all together.
    pub analytics_limit: u32,
    /// How long a window is.
    pub limit_window: Millis,
    /// How long analytics of a range that has not ended are fresh.
    pub analytics_fresh: Millis,
    /// How long after a job was asked for it is asked for again, while it is watched.
    pub job_poll: Millis,
    /// Where and how it is told that a job has ended.
    pub webhook: WebhookSettings,
    /// How browsers are asked whether a person is there; `None`: they are not.
    pub turnstile: Option<Turnstile>,
}

/// The webhooks' settings.
pub struct WebhookSettings {
    /// The address for jobs whose creator named none.
    pub url: Option<String>,
    /// The keys that webhooks are signed with, of 24 to 64 bytes each; all of them sign.
    /// Without any there are no webhooks.
    pub secrets: Vec<Vec<u8>>,
    /// The hosts, as `host` or `host:port`, that a job's creator may name: any public one
    /// when this is empty.
    pub hosts: Vec<String>,
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
        let integer = |name, default, range| integer(name, value(name), default, range);
        let seconds = |name, default, range| {
            integer(name, default, range).map(|seconds| Millis::from_seconds(seconds.into()))
        };
        Ok(Self {
            admin_keys: admin_keys("ADMIN_API_KEY", value("ADMIN_API_KEY"), Need::Required)?,
            read_keys: admin_keys("ADMIN_READ_KEY", value("ADMIN_READ_KEY"), Need::Optional)?,
            token_secrets: token_secrets(value("ACCESS_TOKEN_SECRET"))?,
            trusted_issuers: json("TRUSTED_ISSUERS", value, oidc::trusted_issuers)?,
            revoked: json("REVOKED_TOKENS", value, Revoked::read)?,
            upstream: upstream(value("UPSTREAM_BASE_URL"))?,
            allowed_origins: allowed_origins(value("ALLOWED_ORIGINS"))?,
            upstream_timeout: seconds("UPSTREAM_TIMEOUT_SECONDS", 30, Range::To300)?,
            create_limit: integer("CREATE_LIMIT_PER_HOUR", 100, Range::ToMillion)?,
            message_limit: integer("MESSAGE_LIMIT_PER_HOUR", 100, Range::ToMillion)?,
            analytics_limit: integer("ANALYTICS_LIMIT_PER_HOUR", 100, Range::ToMillion)?,
            limit_window: seconds("LIMIT_WINDOW_SECONDS", 3600, Range::ToDay)?,
            analytics_fresh: seconds("ANALYTICS_FRESH_SECONDS", 300, Range::ToDay)?,
            job_poll: seconds("JOB_POLL_SECONDS", 5, Range::To300)?,
            webhook: WebhookSettings::read(value)?,
            turnstile: Turnstile::read(value)?,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Required,
    Optional,
}

fn admin_keys(
    variable: &'static str,
    value: Option<String>,
    need: Need,
) -> Result<Vec<AdminKey>, ConfigError> {
    let error = |rule| ConfigError { variable, rule };
    let Some(value) = value else {
        return match need {
            Need::Required => Err(error("is not set")),
            Need::Optional => Ok(Vec::new()),
        };
    };
    let keys: Result<Vec<_>, _> = value
        .split(',')
        .map(|key| AdminKey::new(key.trim()))
        .collect();
    keys.ok().filter(|keys| keys.len() <= 2).ok_or(error(
        "must be an admin key, which begins with mint_ and not with mint_dsc_ or mint_us_, or two such separated by a comma",
    ))
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

/// Reads a variable that is JSON; one that is not set is empty.
fn json<T: Default>(
    variable: &'static str,
    value: impl Fn(&str) -> Option<String>,
    read: impl Fn(&str) -> Result<T, &'static str>,
) -> Result<T, ConfigError> {
    value(variable).map_or_else(
        || Ok(T::default()),
        |value| read(&value).map_err(|rule| ConfigError { variable, rule }),
    )
}

impl WebhookSettings {
    fn read(value: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let settings = Self {
            url: webhook_url(value("WEBHOOK_URL"))?,
            secrets: webhook_secrets(value("WEBHOOK_SECRET").as_deref())?,
            hosts: webhook_hosts(value("WEBHOOK_HOSTS"))?,
        };
        if settings.url.is_some() && settings.secrets.is_empty() {
            return Err(ConfigError {
                variable: "WEBHOOK_SECRET",
                rule: "is not set, and must be when WEBHOOK_URL is",
            });
        }
        Ok(settings)
    }
}

fn webhook_url(value: Option<String>) -> Result<Option<String>, ConfigError> {
    match value {
        Some(url) if !is_secure_url(&url) => Err(ConfigError {
            variable: "WEBHOOK_URL",
            rule: "must be an absolute https URL, or http on this machine, without credentials or fragment",
        }),
        url => Ok(url),
    }
}

/// Secrets as Standard Webhooks writes them.
fn webhook_secrets(value: Option<&str>) -> Result<Vec<Vec<u8>>, ConfigError> {
    let secret = |text: &str| {
        let secret = STANDARD.decode(text.trim().strip_prefix("whsec_")?).ok()?;
        (24..=64).contains(&secret.len()).then_some(secret)
    };
    let secrets = value.map_or(Some(Vec::new()), |value| {
        value.split(',').map(secret).collect()
    });
    secrets.ok_or(ConfigError {
        variable: "WEBHOOK_SECRET",
        rule: "must be whsec_ and the base64 of 24 to 64 bytes, or several such separated by commas",
    })
}

fn webhook_hosts(value: Option<String>) -> Result<Vec<String>, ConfigError> {
    let hosts = listed(value);
    if hosts.iter().all(|host| is_host(host)) {
        return Ok(hosts);
    }
    Err(ConfigError {
        variable: "WEBHOOK_HOSTS",
        rule: "must be hosts such as hooks.example or hooks.example:8443, in lower case and separated by commas",
    })
}

/// Whether `text` is a host, perhaps with a port, as a URL parser writes it.
fn is_host(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let is_port = |port: &str| !port.starts_with(['+', '0']) && port.parse::<u16>().is_ok();
    let bracketed = host.len() > 2 && host.starts_with('[') && host.ends_with(']');
    is_authority(host) && (bracketed || !host.contains([':', '[', ']'])) && port.is_none_or(is_port)
}

/// Whether `url` is one that may be fetched from: absolute and `https`, or `http` on this
/// machine, of visible ASCII, without credentials or a fragment.
#[must_use]
pub fn is_secure_url(url: &str) -> bool {
    let rest = match url.strip_prefix("http://") {
        Some(rest) if is_loopback(rest) => Some(rest),
        _ => url.strip_prefix("https://"),
    };
    let clean = |byte: u8| byte.is_ascii_graphic() && !b"#\\\"<>".contains(&byte);
    rest.is_some_and(|rest| {
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        let named = !authority.is_empty() && !authority.starts_with(':');
        named && !authority.contains('@') && rest.bytes().all(clean)
    })
}

/// Whether what follows `http://` is an address of this machine.
#[must_use]
pub fn is_loopback(rest: &str) -> bool {
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    matches!(host, "localhost" | "127.0.0.1" | "[::1]")
}

fn allowed_origins(value: Option<String>) -> Result<Vec<String>, ConfigError> {
    let origins = listed(value);
    if origins.iter().all(|origin| is_origin(origin)) {
        return Ok(origins);
    }
    Err(ConfigError {
        variable: "ALLOWED_ORIGINS",
        rule: "must be exact origins such as https://docs.example, separated by commas",
    })
}

/// The items of a list that is separated by commas; empty ones are none.
fn listed(value: Option<String>) -> Vec<String> {
    let value = value.unwrap_or_default();
    let items = value.split(',').map(str::trim);
    let items = items.filter(|item| !item.is_empty());
    items.map(str::to_owned).collect()
}

/// The range of an integer.
#[derive(Clone, Copy)]
enum Range {
    To300,
    ToDay,
    ToMillion,
}

impl Range {
    const fn most(self) -> u32 {
        match self {
            Self::To300 => 300,
            Self::ToDay => 86_400,
            Self::ToMillion => 1_000_000,
        }
    }

    const fn rule(self) -> &'static str {
        match self {
            Self::To300 => "must be an integer from 1 to 300",
            Self::ToDay => "must be an integer from 1 to 86400",
            Self::ToMillion => "must be an integer from 1 to 1000000",
        }
    }
}

fn integer(
    variable: &'static str,
    value: Option<String>,
    default: u32,
    range: Range,
) -> Result<u32, ConfigError> {
    let Some(text) = value else {
        return Ok(default);
    };
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.then(|| text.parse().ok()).flatten();
    number
        .filter(|number| (1..=range.most()).contains(number))
        .ok_or(ConfigError {
            variable,
            rule: range.rule(),
        })
}

/// Whether `text` is an origin as a browser serialises it (RFC 6454, section 6.2).
fn is_origin(text: &str) -> bool {
    let host = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    host.is_some_and(is_authority)
}

/// Whether `text` consists of what hosts and ports are written with, in lower case.
fn is_authority(text: &str) -> bool {
    let fits =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-:[]".contains(&byte);
    !text.is_empty() && text.bytes().all(fits)
}
