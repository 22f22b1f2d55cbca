//! What a request is sent with: an address and a credential, checked so far as they
//! can be without sending anything. No error here repeats a credential.

use std::fmt;

use crate::error::{Rule, ValidationError};

/// The address that a request's target is put after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(String);

impl BaseUrl {
    /// The platform's own address.
    pub const UPSTREAM: &'static str = "https://api.mintlify.com";

    /// Takes `url` as a base; slashes at its end are dropped.
    ///
    /// # Errors
    /// [`Rule::BaseUrl`] unless it is an absolute `http:` or `https:` URL without
    /// credentials, query or fragment.
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
            let clean = |byte: u8| byte.is_ascii_graphic() && !b"?#@\\\"<>".contains(&byte);
            !matches!(rest.as_bytes(), [] | [b'/' | b':', ..]) && rest.bytes().all(clean)
        });
        if !fits {
            return Err(ValidationError::new("baseUrl", Rule::BaseUrl, ""));
        }
        while url.ends_with('/') {
            url.pop();
        }
        Ok(Self(url))
    }

    /// Takes `url` as the base of requests that carry an admin key.
    ///
    /// # Errors
    /// As [`Self::new`], and [`Rule::SecureBaseUrl`] for `http:` to another machine, where anybody
    /// on the way could read the key.
    ///
    /// # Example
    /// ```
    /// use quillgate::Rule;
    /// use quillgate::credential::BaseUrl;
    ///
    /// assert!(BaseUrl::for_admin_key("http://localhost:8788").is_ok());
    /// let error = BaseUrl::for_admin_key("http://docs.example").unwrap_err();
    /// assert_eq!(error.rule, Rule::SecureBaseUrl);
    /// ```
    pub fn for_admin_key(url: &str) -> Result<Self, ValidationError> {
        let base = Self::new(url)?;
        match base.0.strip_prefix("http://") {
            Some(rest) if !is_loopback(rest) => {
                Err(ValidationError::new("baseUrl", Rule::SecureBaseUrl, ""))
            }
            _ => Ok(base),
        }
    }

    /// The platform's own address, as a base.
    #[must_use]
    pub fn upstream() -> Self {
        Self(Self::UPSTREAM.to_owned())
    }

    /// The base itself, without slashes at its end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address of a request's target, which begins with `/`.
    #[must_use]
    pub fn join(&self, target: &str) -> String {
        let mut url = self.0.clone();
        url.push_str(target);
        url
    }
}

/// Whether what follows `http://` is an address of this machine.
#[must_use]
pub fn is_loopback(rest: &str) -> bool {
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|host| {
        let after = rest.as_bytes().strip_prefix(host.as_bytes());
        // A port may follow, and a path.
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

/// The platform's admin key: a server-side secret (docs/platform.md, 5).
#[derive(Clone, PartialEq, Eq)]
pub struct AdminKey(String);

impl AdminKey {
    /// Takes `key` as an admin key.
    ///
    /// # Errors
    /// [`Rule::AdminKey`] when it is another kind of key or cannot stand in a header.
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

    /// The key itself, for the `Authorization` header and nothing else.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// A secret shows nothing of itself.
impl fmt::Debug for AdminKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdminKey(…)")
    }
}

/// An access token of a gateway. What is in it is the gateway's affair.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken(String);

impl AccessToken {
    /// Takes `token` as an access token.
    ///
    /// # Errors
    /// [`Rule::Credential`] when it cannot stand in a header.
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

    /// The token itself, for the `Authorization` header and nothing else.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// A secret shows nothing of itself.
impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessToken(…)")
    }
}

/// Whether `text` can stand in a header as a credential: visible ASCII, no spaces.
#[must_use]
pub fn is_header_value(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// What tells a call that changes something from any other: sent as `Idempotency-Key`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Takes `key` as an idempotency key.
    ///
    /// # Errors
    /// [`Rule::IdempotencyKey`] unless it has 1 to 255 visible ASCII characters.
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

    /// A key of random bytes, in hexadecimal digits.
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

    /// The key as it is sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Checks an idempotency key: 1 to 255 visible ASCII characters.
///
/// # Errors
/// [`Rule::IdempotencyKey`] when it is anything else.
pub fn check_idempotency_key(key: &str) -> Result<(), ValidationError> {
    if key.len() <= 255 && is_header_value(key) {
        return Ok(());
    }
    Err(ValidationError::new(
        "idempotencyKey",
        Rule::IdempotencyKey,
        "",
    ))
}
