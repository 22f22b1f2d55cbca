//! Base URLs, credentials, idempotency keys and webhook URLs, with the checks that need no request.
//! Errors never contain a credential.

use std::fmt;

use crate::error::{Rule, ValidationError};

/// The URL that precedes the target of every request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(String);

impl BaseUrl {
    /// Mintlify's own base URL.
    pub const UPSTREAM: &'static str = "https://api.mintlify.com";

    /// Creates a base URL. Removes trailing slashes.
    ///
    /// # Errors
    /// [`Rule::BaseUrl`] if `url` is not an absolute `http:` or `https:` URL without credentials,
    /// query or fragment.
    ///
    /// # Example
    /// ```
    /// use quillgate::credential::BaseUrl;
    ///
    /// assert_eq!(BaseUrl::new("https://docs.example/gate/")?.join("/v2/x"), "https://docs.example/gate/v2/x");
    /// assert!(BaseUrl::new("docs.example").is_err());
    /// # Ok::<(), quillgate::ValidationError>(())
    /// ```
    pub fn new(url: impl Into<String>) -> Result<Self, ValidationError> {
        let mut url = url.into();
        let rest = url
            .strip_prefix("https://")
            .or_else(|| url.strip_prefix("http://"));
        let fits = rest.is_some_and(|rest| {
            // `contains` would add a searcher to the package's wasm.
            let is_refused = |byte| matches!(byte, b'?' | b'#' | b'@' | b'\\' | b'"' | b'<' | b'>');
            let clean = |byte: u8| byte.is_ascii_graphic() && !is_refused(byte);
            !matches!(rest.as_bytes(), [] | [b'/' | b':', ..]) && rest.bytes().all(clean)
        });
        if !fits {
            return Err(ValidationError::new("baseUrl", Rule::BaseUrl, ""));
        }
        let slashes = url.bytes().rev().take_while(|byte| *byte == b'/').count();
        url.truncate(url.len() - slashes);
        Ok(Self(url))
    }

    /// Checks that requests with a credential may be sent to this URL.
    ///
    /// # Errors
    /// [`Rule::SecureBaseUrl`] if an `http:` URL is not on this machine and `plain` does not allow
    /// other hosts, because others on the network could read the credential.
    ///
    /// # Example
    /// ```
    /// use quillgate::Rule;
    /// use quillgate::credential::{BaseUrl, PlainHttp};
    ///
    /// assert!(BaseUrl::new("http://localhost:8788")?.for_credential(PlainHttp::Loopback).is_ok());
    /// let url = BaseUrl::new("http://docs.example")?;
    /// let error = url.for_credential(PlainHttp::Loopback).unwrap_err();
    /// assert_eq!(error.rule, Rule::SecureBaseUrl);
    /// # Ok::<(), quillgate::ValidationError>(())
    /// ```
    pub fn for_credential(self, plain: PlainHttp) -> Result<Self, ValidationError> {
        match self.0.strip_prefix("http://") {
            Some(rest) if plain == PlainHttp::Loopback && !is_loopback(rest) => {
                Err(ValidationError::new("baseUrl", Rule::SecureBaseUrl, ""))
            }
            _ => Ok(self),
        }
    }

    /// Returns Mintlify's own base URL.
    #[must_use]
    pub fn upstream() -> Self {
        Self(Self::UPSTREAM.to_owned())
    }

    /// Returns the base URL without trailing slashes.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the URL of a request. `target` must start with `/`.
    #[must_use]
    pub fn join(&self, target: &str) -> String {
        let mut url = self.0.clone();
        url.push_str(target);
        url
    }
}

/// The hosts that may receive a credential without encryption.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PlainHttp {
    /// Only this machine: see [`is_loopback`].
    #[default]
    Loopback,
    /// Any host, such as a gateway in a private network.
    AnyHost,
}

/// The hosts of this machine, as in URLs.
pub const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Returns whether a URL's host is this machine: `localhost`, `127.0.0.1` or `[::1]`. `rest` is the
/// part after `http://`.
#[must_use]
pub fn is_loopback(rest: &str) -> bool {
    LOOPBACK.iter().any(|host| {
        let after = rest.as_bytes().strip_prefix(host.as_bytes());
        // A port and a path may follow.
        after.is_some_and(|after| match after {
            [b':', port @ ..] => {
                let is_digit = |byte: &&u8| byte.is_ascii_digit();
                let digits = port.iter().take_while(is_digit).count();
                matches!(port[digits..], [] | [b'/', ..])
            }
            after => matches!(after, [] | [b'/', ..]),
        })
    })
}

/// A Mintlify admin key, which must stay on servers (docs/mintlify/rules.md, 5).
#[derive(Clone, PartialEq, Eq)]
pub struct AdminKey(String);

impl AdminKey {
    /// Creates an admin key.
    ///
    /// # Errors
    /// [`Rule::AdminKey`] if `key` is another kind of key or not valid in a header field.
    ///
    /// # Example
    /// ```
    /// use quillgate::credential::AdminKey;
    ///
    /// assert!(AdminKey::new("mint_example").is_ok());
    /// assert!(AdminKey::new("mint_dsc_example").is_err());
    /// ```
    pub fn new(key: impl Into<String>) -> Result<Self, ValidationError> {
        let key = key.into();
        let kind = key.strip_prefix("mint_").filter(|rest| !rest.is_empty());
        let other = |rest: &str| rest.starts_with("dsc_") || rest.starts_with("us_");
        match kind {
            Some(rest) if !other(rest) && is_header_value(&key) => Ok(Self(key)),
            _ => Err(ValidationError::new("adminKey", Rule::AdminKey, "")),
        }
    }

    /// Returns the key. Use it only for the `Authorization` header field.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// Hides the secret.
impl fmt::Debug for AdminKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdminKey(…)")
    }
}

/// An access token of a gateway. Its content is opaque to clients.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken(String);

impl AccessToken {
    /// Creates an access token.
    ///
    /// # Errors
    /// [`Rule::Credential`] if `token` is not valid in a header field.
    ///
    /// # Example
    /// ```
    /// use quillgate::credential::AccessToken;
    ///
    /// assert!(AccessToken::new("eyJhbGciOiJIUzI1NiJ9.e30.c2ln").is_ok());
    /// assert!(AccessToken::new("two words").is_err());
    /// ```
    pub fn new(token: impl Into<String>) -> Result<Self, ValidationError> {
        let token = token.into();
        if is_header_value(&token) {
            return Ok(Self(token));
        }
        Err(ValidationError::new("token", Rule::Credential, ""))
    }

    /// Returns the token. Use it only for the `Authorization` header field.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// Hides the secret.
impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessToken(…)")
    }
}

/// Returns whether `text` is valid as a credential in a header field: at least one character, all
/// visible ASCII, no spaces.
#[must_use]
pub fn is_header_value(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// A string that identifies a write, sent as `Idempotency-Key`. Gateways process each key once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Creates an idempotency key.
    ///
    /// # Errors
    /// [`Rule::IdempotencyKey`] if `key` is not 1 to 255 visible ASCII characters, contains a comma
    /// or starts with a quotation mark.
    ///
    /// # Example
    /// ```
    /// use quillgate::credential::IdempotencyKey;
    ///
    /// assert!(IdempotencyKey::new("release-2.4").is_ok());
    /// assert!(IdempotencyKey::new("two words").is_err());
    /// ```
    pub fn new(key: impl Into<String>) -> Result<Self, ValidationError> {
        let key = key.into();
        check_idempotency_key(&key)?;
        Ok(Self(key))
    }

    /// Creates a key from random bytes, as hexadecimal digits.
    ///
    /// ```
    /// use quillgate::credential::IdempotencyKey;
    ///
    /// assert_eq!(IdempotencyKey::from_bytes([0xab; 16]).as_str(), "ab".repeat(16));
    /// ```
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
        let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        Self(digits.map(digit).collect())
    }

    /// Returns the key as a string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Checks an idempotency key; see [`IdempotencyKey::new`].
///
/// # Errors
/// [`Rule::IdempotencyKey`] if `key` is invalid.
pub fn check_idempotency_key(key: &str) -> Result<(), ValidationError> {
    let is_bare = !key.starts_with('"') && key.bytes().all(|byte| byte != b',');
    if key.len() <= 255 && is_header_value(key) && is_bare {
        return Ok(());
    }
    Err(ValidationError::new(
        "idempotencyKey",
        Rule::IdempotencyKey,
        "",
    ))
}

/// The maximum length of a webhook URL, in bytes.
const MAX_WEBHOOK_URL: usize = 2048;

/// The URL that receives a webhook when a job ends, sent as `Webhook-Url`. Only gateways send
/// webhooks.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookUrl(String);

impl WebhookUrl {
    /// Creates a webhook URL. The gateway also requires a host that its operator allows.
    ///
    /// # Errors
    /// [`Rule::WebhookUrl`] if `url` is not an absolute `https:` URL, or an `http:` URL on this
    /// machine, of at most 2,048 visible ASCII characters without credentials, backslash or
    /// fragment.
    ///
    /// # Example
    /// ```
    /// use quillgate::credential::WebhookUrl;
    ///
    /// assert!(WebhookUrl::new("https://hooks.example/quillgate").is_ok());
    /// assert!(WebhookUrl::new("hooks.example").is_err());
    /// ```
    pub fn new(url: impl Into<String>) -> Result<Self, ValidationError> {
        let url = url.into();
        check_webhook_url(&url)?;
        Ok(Self(url))
    }

    /// Returns the URL as a string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Hides the URL, because it may contain a secret.
impl fmt::Debug for WebhookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookUrl(…)")
    }
}

/// Checks a webhook URL; see [`WebhookUrl::new`].
///
/// # Errors
/// [`Rule::WebhookUrl`] if `url` is invalid.
pub fn check_webhook_url(url: &str) -> Result<(), ValidationError> {
    let rest = match url.strip_prefix("https://") {
        None => url.strip_prefix("http://").filter(|rest| is_loopback(rest)),
        rest => rest,
    };
    let fits = rest.is_some_and(|rest| {
        let clean = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'#' | b'\\');
        let mut authority = rest.bytes().take_while(|byte| !matches!(byte, b'/' | b'?'));
        !matches!(rest.as_bytes(), [] | [b'/' | b'?' | b':', ..])
            && rest.bytes().all(clean)
            && authority.all(|byte| byte != b'@')
    });
    if fits && url.len() <= MAX_WEBHOOK_URL {
        return Ok(());
    }
    Err(ValidationError::new("webhookUrl", Rule::WebhookUrl, ""))
}
