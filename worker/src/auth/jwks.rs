//! JWK Sets (RFC 7517).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quillgate::Millis;
use serde::Serialize;
use serde_json::Value;

use crate::auth::invalid_token;
use crate::http::problem::Problem;
use crate::json;

/// RFC 7518, section 3.3.
const MIN_MODULUS_BITS: usize = 2048;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    Rs256,
    Es256,
}

impl Algorithm {
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "ES256" => Some(Self::Es256),
            _ => None,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
        }
    }

    pub const fn fits(self, signature: &[u8]) -> bool {
        match self {
            Self::Rs256 => signature.len() >= MIN_MODULUS_BITS / 8,
            Self::Es256 => signature.len() == 64,
        }
    }
}

/// The parameters of a JWK (RFC 7518, sections 6.2 and 6.3), in base64url.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kty")]
pub enum PublicKey {
    #[serde(rename = "RSA")]
    Rsa { n: String, e: String },
    #[serde(rename = "EC")]
    Ec {
        /// Always `P-256`.
        crv: &'static str,
        x: String,
        y: String,
    },
}

fn read_public_key(key: &Value, algorithm: Algorithm) -> Result<PublicKey, &'static str> {
    const MALFORMED: &str = "the issuer's key is malformed";
    let absent_or = |name: &str, fits: &str| key.get(name).is_none_or(|value| value == fits);
    let can_verify = key.get("key_ops").is_none_or(|operations| {
        let operations = operations.as_array();
        operations.is_some_and(|operations| operations.iter().any(|one| one == "verify"))
    });
    if !absent_or("use", "sig") || !can_verify {
        return Err("the issuer's key is not for signatures");
    }
    if !absent_or("alg", algorithm.as_str()) {
        return Err("the issuer's key is for another algorithm");
    }
    let number = |name: &str| -> Result<_, &'static str> {
        let text = key.get(name).and_then(Value::as_str).ok_or(MALFORMED)?;
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| MALFORMED)?;
        Ok((text.to_owned(), bytes))
    };
    match algorithm {
        Algorithm::Rs256 if key["kty"] == "RSA" => {
            let ((n, modulus), (e, exponent)) = (number("n")?, number("e")?);
            if count_bits(&modulus) < MIN_MODULUS_BITS {
                return Err("the issuer's key is too short");
            }
            // With an exponent of 1, a signature equals the padded hash that it signs, so anyone
            // could forge a signature.
            if count_bits(&exponent) < 2 || exponent.last().is_none_or(|last| last % 2 == 0) {
                return Err(MALFORMED);
            }
            Ok(PublicKey::Rsa { n, e })
        }
        Algorithm::Es256 if key["kty"] == "EC" && key["crv"] == "P-256" => {
            let ((x, x_bytes), (y, y_bytes)) = (number("x")?, number("y")?);
            if [x_bytes.len(), y_bytes.len()] != [32, 32] {
                return Err(MALFORMED);
            }
            Ok(PublicKey::Ec { crv: "P-256", x, y })
        }
        _ => Err("the issuer's key is of another type than the algorithm's"),
    }
}

/// Big-endian, without leading zeros.
fn count_bits(number: &[u8]) -> usize {
    match number.iter().position(|byte| *byte != 0) {
        Some(at) => (number.len() - at) * 8 - number[at].leading_zeros() as usize,
        None => 0,
    }
}

/// A set of this age is fetched again.
pub const FRESH_FOR: Millis = Millis::from_seconds(3600);
/// A set of this age is no longer used.
const MAX_AGE: Millis = Millis::from_seconds(86_400);
/// Between two fetches for missing keys, and between two refreshes.
const SEARCH_PAUSE: Millis = Millis::from_seconds(60);
/// Between two fetches while there is no usable set.
const FIRST_PAUSE: Millis = Millis::from_seconds(10);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySet {
    /// When the issuer sent the set.
    fetched: Millis,
    keys: Vec<Value>,
}

impl KeySet {
    pub fn read(text: &str, fetched: Millis) -> Result<Self, &'static str> {
        const NOT_A_SET: &str = "the issuer's keys are not a JWK Set";
        let mut set = json::parse_map(text.as_bytes()).ok_or(NOT_A_SET)?;
        let Some(Value::Array(mut keys)) = set.remove("keys") else {
            return Err(NOT_A_SET);
        };
        for key in &mut keys {
            json::remove_nulls(key.as_object_mut().ok_or(NOT_A_SET)?);
        }
        Ok(Self { fetched, keys })
    }

    /// No key has `None`.
    pub fn has(&self, kid: Option<&str>) -> bool {
        kid.is_some_and(|kid| self.keys.iter().any(|key| key["kid"] == kid))
    }

    /// The only usable key with this exact `kid`, or the only usable key of the set if the token or
    /// all keys lack a `kid` (RFC 7515, section 4.1.4; RFC 7517, section 4.5). Issuers also use one
    /// `kid` for keys of other purposes, and list one key several times.
    pub fn find(&self, kid: Option<&str>, algorithm: Algorithm) -> Result<PublicKey, &'static str> {
        let has_ids = self.keys.iter().any(|key| key.get("kid").is_some());
        let name = kid.filter(|_| has_ids);
        let named = |key: &&Value| name.is_none_or(|name| key["kid"] == name);
        let (mut usable, mut refusal) = (None, None);
        for key in self.keys.iter().filter(named) {
            match read_public_key(key, algorithm) {
                Ok(key) if usable.as_ref().is_some_and(|other| *other != key) => {
                    return Err(match name {
                        Some(_) => "the issuer has two keys of the access token's kid",
                        None => "the issuer has several keys, and a kid does not name one of them",
                    });
                }
                Ok(key) => usable = Some(key),
                Err(reason) => refusal = refusal.or(Some(reason)),
            }
        }
        usable.ok_or(refusal.unwrap_or(match kid {
            Some(_) => "the access token's kid is not one of its issuer's keys",
            None => "the issuer has no keys",
        }))
    }
}

#[derive(Default)]
pub struct KeySetReply {
    pub set: Option<KeySet>,
    /// A cache may have sent the response.
    pub is_from_cache: bool,
}

impl KeySetReply {
    /// A cached response can be an error, or older than the key.
    pub fn needs_issuer(&self, kid: Option<&str>) -> bool {
        let has_key = self.set.as_ref().is_some_and(|set| set.has(kid));
        self.is_from_cache && !has_key
    }
}

/// `Age`, at most [`FRESH_FOR`]: the isolate then soon asks the issuer itself.
pub fn read_age(field: Option<&str>) -> Millis {
    let seconds = field.and_then(|text| text.parse().ok()).unwrap_or(0);
    Millis::from_seconds(seconds).min(FRESH_FOR)
}

fn has_passed(pause: Millis, last: Option<Millis>, now: Millis) -> bool {
    last.is_none_or(|at| now.since(at) >= pause)
}

/// Limits how many fetches unauthenticated clients can cause: one per `SEARCH_PAUSE` for unknown
/// keys, or per `FIRST_PAUSE` without a usable set or after a failure. Keys without `kid` count, too, because the
/// issuer may have replaced them. A fetch that finds its key does not count.
#[derive(Debug, Default)]
pub struct RememberedSet {
    set: Option<KeySet>,
    /// When the last fetch for an unknown key began, unless it found the key.
    searched: Option<Millis>,
    /// When the last fetch for a newer set began.
    refreshed: Option<Millis>,
    is_searching: bool,
    /// The last fetch for an unknown key failed, so the issuer may have the key.
    has_failed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchReason {
    /// No usable set. A cached response suffices.
    First,
    /// The set lacks the key. A cached response may lack it, too.
    Search,
    /// The key is known, but may have been withdrawn.
    Refresh,
}

impl RememberedSet {
    /// The reason for a fetch, which already counts as started: wait for the fetch in progress, or
    /// fetch the set and call [`Self::conclude`]. `None` if no fetch is required or allowed now.
    pub fn plan_fetch(
        &mut self,
        kid: Option<&str>,
        algorithm: Algorithm,
        now: Millis,
    ) -> Option<FetchReason> {
        let set = self.usable_set(now);
        let is_fresh = set.is_some_and(|set| now.since(set.fetched) < FRESH_FOR);
        let (reason, pause) = match set {
            Some(_) if self.has_failed => (FetchReason::Search, FIRST_PAUSE),
            Some(_) => (FetchReason::Search, SEARCH_PAUSE),
            None => (FetchReason::First, FIRST_PAUSE),
        };
        let may_search = has_passed(pause, self.searched, now);
        let is_usable = self.find(kid, algorithm, now).is_ok();
        if is_usable && (self.has(kid) || !may_search) {
            if is_fresh || !has_passed(SEARCH_PAUSE, self.refreshed, now) {
                return None;
            }
            self.refreshed = Some(now);
            return Some(FetchReason::Refresh);
        }
        if may_search {
            self.searched = Some(now);
            self.is_searching = true;
        }
        self.is_searching.then_some(reason)
    }

    fn usable_set(&self, now: Millis) -> Option<&KeySet> {
        let set = self.set.as_ref();
        set.filter(|set| now.since(set.fetched) < MAX_AGE)
    }

    fn has(&self, kid: Option<&str>) -> bool {
        self.set.as_ref().is_some_and(|set| set.has(kid))
    }

    pub fn find(
        &self,
        kid: Option<&str>,
        algorithm: Algorithm,
        now: Millis,
    ) -> Result<PublicKey, Problem> {
        let set = self.usable_set(now);
        let set = set.ok_or_else(Problem::issuer_unavailable)?;
        set.find(kid, algorithm).map_err(|reason| {
            if self.has_failed && !set.has(kid) {
                return Problem::issuer_unavailable();
            }
            invalid_token(reason)
        })
    }

    pub fn conclude(
        &mut self,
        reason: FetchReason,
        set: Option<KeySet>,
        kid: Option<&str>,
        algorithm: Algorithm,
        now: Millis,
    ) {
        let known = self.set.as_ref().map(|known| known.fetched);
        self.has_failed = set.is_none() && (self.has_failed || reason != FetchReason::Refresh);
        // Fetches can finish out of order.
        if let Some(set) = set.filter(|set| known.is_none_or(|known| known <= set.fetched)) {
            self.set = Some(set);
        }
        if reason != FetchReason::Refresh {
            self.is_searching = false;
            if self.has(kid) && self.find(kid, algorithm, now).is_ok() {
                self.searched = None;
            }
        }
    }
}
