//! JWK Sets (RFC 7517): which key a signature is verified with, and when a set is fetched.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quillgate::Millis;
use serde::Serialize;
use serde_json::Value;

use crate::json;

/// The least length of an RSA modulus, in bits (RFC 7518, section 3.3).
const LEAST_MODULUS: usize = 2048;

/// An algorithm of an issuer's signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// ECDSA with P-256 and SHA-256.
    Es256,
}

impl Algorithm {
    /// The algorithm of this exact name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "ES256" => Some(Self::Es256),
            _ => None,
        }
    }

    /// Its name in a token's header (RFC 7518, section 3.1).
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
        }
    }

    /// Whether a signature can have this length: that of the key for RSA, twice 32 bytes for P-256.
    #[must_use]
    pub const fn fits(self, signature: &[u8]) -> bool {
        match self {
            Self::Rs256 => signature.len() >= LEAST_MODULUS / 8,
            Self::Es256 => signature.len() == 64,
        }
    }
}

/// The public members of a key, as a JWK (RFC 7518, sections 6.2 and 6.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kty")]
pub enum PublicKey {
    /// An RSA key.
    #[serde(rename = "RSA")]
    Rsa {
        /// The modulus, in base64url.
        n: String,
        /// The exponent, in base64url.
        e: String,
    },
    /// A key on an elliptic curve.
    #[serde(rename = "EC")]
    Ec {
        /// The curve: `P-256`.
        crv: &'static str,
        /// The x coordinate, in base64url.
        x: String,
        /// The y coordinate, in base64url.
        y: String,
    },
}

/// The one key of a JWK Set (RFC 7517, section 5) with exactly this `kid`, when it may be
/// used to verify signatures of `algorithm`.
///
/// `None` when no key has that `kid`; the host may have an old set.
///
/// # Errors
/// If the key must not be used or the string is not a set. The message is the detail of the 401.
pub fn find_key(
    jwks: &str,
    kid: &str,
    algorithm: Algorithm,
) -> Result<Option<PublicKey>, &'static str> {
    let keys = read_keys(jwks)?;
    let mut named = keys.iter().filter(|key| key["kid"] == kid);
    match (named.next(), named.next()) {
        (None, _) => Ok(None),
        (Some(key), None) => read_public_key(key, algorithm).map(Some),
        (Some(_), Some(_)) => Err("the issuer has two keys of the access token's kid"),
    }
}

fn read_keys(jwks: &str) -> Result<Vec<Value>, &'static str> {
    const NOT_A_SET: &str = "the issuer's keys are not a JWK Set";
    let Some(Value::Object(mut set)) = json::parse(jwks.as_bytes()) else {
        return Err(NOT_A_SET);
    };
    match set.remove("keys") {
        Some(Value::Array(keys)) if keys.iter().all(Value::is_object) => Ok(keys),
        _ => Err(NOT_A_SET),
    }
}

fn read_public_key(key: &Value, algorithm: Algorithm) -> Result<PublicKey, &'static str> {
    const MALFORMED: &str = "the issuer's key is malformed";
    let absent_or = |name: &str, fits: &str| key.get(name).is_none_or(|value| value == fits);
    let operations = key.get("key_ops");
    let verifies = |operations: &Value| {
        let operations = operations.as_array().map(Vec::as_slice);
        operations.is_some_and(|operations| operations.iter().any(|one| one == "verify"))
    };
    if !absent_or("use", "sig") || !operations.is_none_or(verifies) {
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
            if count_bits(&modulus) < LEAST_MODULUS {
                return Err("the issuer's key is too short");
            }
            // With an exponent of 1 a signature is its own message.
            if count_bits(&exponent) < 2 || exponent.last().is_none_or(|last| last % 2 == 0) {
                return Err(MALFORMED);
            }
            Ok(PublicKey::Rsa { n, e })
        }
        Algorithm::Es256 if key["kty"] == "EC" && key["crv"] == "P-256" => {
            let ((x, across), (y, up)) = (number("x")?, number("y")?);
            if [across.len(), up.len()] != [32, 32] {
                return Err(MALFORMED);
            }
            Ok(PublicKey::Ec { crv: "P-256", x, y })
        }
        _ => Err("the issuer's key is of another type than the algorithm's"),
    }
}

/// The length of a big-endian number in bits, without leading zeros.
fn count_bits(number: &[u8]) -> usize {
    match number.iter().position(|byte| *byte != 0) {
        Some(at) => (number.len() - at) * 8 - number[at].leading_zeros() as usize,
        None => 0,
    }
}

/// How long a set is used before it is fetched again: an hour.
pub const FRESH_FOR: Millis = Millis::from_seconds(3600);
/// The greatest age of a set: a day after it was fetched it counts as unavailable.
pub const MAX_AGE: Millis = Millis::from_seconds(86_400);
/// The shortest time between two looks for keys that the set lacks: a minute.
pub const SEARCH_PAUSE: Millis = Millis::from_seconds(60);
/// The shortest time between two fetches while there is no set at all: ten seconds.
pub const FIRST_PAUSE: Millis = Millis::from_seconds(10);
/// How long an isolate uses a set before it asks the organisation's object for a newer one: a
/// minute.
pub const ISOLATE_FRESH_FOR: Millis = Millis::from_seconds(60);

/// A key set as it was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySet {
    /// The set's JSON.
    pub text: String,
    /// When the issuer sent it.
    pub fetched: Millis,
    kids: Vec<String>,
}

impl KeySet {
    /// Reads a set.
    ///
    /// # Errors
    /// Why the text is not a JWK Set; it must not replace a valid one.
    pub fn read(text: String, fetched: Millis) -> Result<Self, &'static str> {
        let keys = read_keys(&text)?;
        let kid = |key: &Value| key.get("kid")?.as_str().map(str::to_owned);
        let kids = keys.iter().filter_map(kid).collect();
        Ok(Self {
            text,
            fetched,
            kids,
        })
    }

    /// Whether it is not too old to verify anything with.
    #[must_use]
    pub fn is_usable(&self, now: Millis) -> bool {
        now.since(self.fetched) < MAX_AGE
    }

    fn is_fresh(&self, now: Millis) -> bool {
        now.since(self.fetched) < FRESH_FOR
    }

    fn has(&self, kid: &str) -> bool {
        self.kids.iter().any(|own| own == kid)
    }

    fn find(&self, kid: &str, algorithm: Algorithm) -> Result<PublicKey, &'static str> {
        const UNKNOWN: &str = "the access token's kid is not one of its issuer's keys";
        // Nearly every stranger's token ends here, without the set being parsed.
        if !self.has(kid) {
            return Err(UNKNOWN);
        }
        find_key(&self.text, kid, algorithm)?.ok_or(UNKNOWN)
    }
}

/// The key set of an issuer in the organization's object.
///
/// A set is fetched again when it is an hour old, and when it lacks a key. The latter happens at
/// most once a minute, since a stranger can name any key. A set of up to a day is better than none.
#[derive(Debug, Default)]
pub struct KeySource {
    /// The newest set that was fetched.
    pub set: Option<KeySet>,
    asked: Option<Millis>,
    searched: Option<Millis>,
}

/// The action required before looking up a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// Use the set that there is.
    Use,
    /// Fetch the set first, or wait for the fetch that is in progress.
    Fetch,
}

impl KeySource {
    /// Creates a source with a stored set.
    #[must_use]
    pub fn from_kept(set: KeySet) -> Self {
        Self {
            set: Some(set),
            ..Self::default()
        }
    }

    /// The newest set, unless it is too old.
    #[must_use]
    pub fn usable_set(&self, now: Millis) -> Option<&KeySet> {
        self.set.as_ref().filter(|set| set.is_usable(now))
    }

    /// Decides whether the set has to be fetched before this key is looked up; `is_fetching` says
    /// whether a fetch is in progress.
    pub fn look_up(&mut self, kid: &str, is_fetching: bool, now: Millis) -> Lookup {
        let set = self.usable_set(now);
        let is_old = set.is_none_or(|set| !set.is_fresh(now));
        let lacks = set.is_none_or(|set| !set.has(kid));
        if !is_old && !lacks {
            return Lookup::Use;
        }
        let is_due = if is_old {
            let pause = if set.is_some() {
                SEARCH_PAUSE
            } else {
                FIRST_PAUSE
            };
            has_passed(pause, self.asked, now)
        } else {
            has_passed(SEARCH_PAUSE, self.searched, now)
        };
        if !is_fetching && !is_due {
            return Lookup::Use;
        }
        if !is_old {
            self.searched = Some(now);
        }
        if !is_fetching {
            self.asked = Some(now);
        }
        Lookup::Fetch
    }
}

fn has_passed(pause: Millis, last: Option<Millis>, now: Millis) -> bool {
    last.is_none_or(|at| now.since(at) >= pause)
}

/// A key set as an isolate remembers it, so that strangers do not reach the organisation's object:
/// whatever keys their tokens name, and whether or not the set is available, they cause one call a
/// minute.
///
/// A key that is known is used at once while its set is less than a day old, whether or not the
/// organisation's object answers. A call that finds the key it was made for does not count: who
/// had it looked up is no stranger to the issuer, and the next new key must not wait.
#[derive(Debug, Default)]
pub struct RememberedSet {
    set: Option<KeySet>,
    /// When the last call for an unknown key began, however it ended.
    searched: Option<Millis>,
    /// When the set was last replaced, or a call for a newer one began.
    refreshed: Option<Millis>,
    is_searching: bool,
}

/// The reason for requesting a set from the organization's object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// A key is not known.
    Search,
    /// The key is known, but may have been withdrawn.
    Refresh,
}

/// Why there is no key to verify with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoKey {
    /// The issuer's keys are not available.
    Unavailable,
    /// The token names no key that may be used, for this reason.
    Unusable(&'static str),
}

/// Where an isolate finds a key.
#[derive(Debug, PartialEq, Eq)]
pub enum Search {
    /// It has the key, or knows that there is none to verify with.
    Found(Result<PublicKey, NoKey>),
    /// It has the key, and has to refresh the set without waiting for it.
    FoundAndRefresh(PublicKey),
    /// It has to ask the organisation's object, and to [`RememberedSet::conclude`].
    Ask(Call),
    /// It has to wait for the call that is in progress.
    Wait,
}

impl RememberedSet {
    /// Looks a key up. A call that this demands counts as begun.
    pub fn search(&mut self, kid: &str, algorithm: Algorithm, now: Millis) -> Search {
        match self.find(kid, algorithm, now) {
            Ok(key) => {
                if !has_passed(ISOLATE_FRESH_FOR, self.refreshed, now) {
                    return Search::Found(Ok(key));
                }
                self.refreshed = Some(now);
                if self.set.as_ref().is_some_and(|set| set.is_fresh(now)) {
                    return Search::FoundAndRefresh(key);
                }
                // The set is more than an hour old, so the key may have been withdrawn.
                Search::Ask(Call::Refresh)
            }
            Err(_) if has_passed(SEARCH_PAUSE, self.searched, now) => {
                self.searched = Some(now);
                self.is_searching = true;
                Search::Ask(Call::Search)
            }
            Err(_) if self.is_searching => Search::Wait,
            Err(reason) => Search::Found(Err(reason)),
        }
    }

    /// The key in the set that is remembered.
    ///
    /// # Errors
    /// Why there is no key to verify with.
    pub fn find(&self, kid: &str, algorithm: Algorithm, now: Millis) -> Result<PublicKey, NoKey> {
        let set = self.set.as_ref().filter(|set| set.is_usable(now));
        let set = set.ok_or(NoKey::Unavailable)?;
        set.find(kid, algorithm).map_err(NoKey::Unusable)
    }

    /// Takes the result of a call that [`Self::search`] demanded for this key: a set, or `None`
    /// when none was to be had, which leaves the one that is remembered.
    pub fn conclude(
        &mut self,
        call: Call,
        set: Option<KeySet>,
        kid: &str,
        algorithm: Algorithm,
        now: Millis,
    ) {
        let known = self.set.as_ref().map(|known| known.fetched);
        // Calls may end in another order than they began.
        if let Some(set) = set.filter(|set| known.is_none_or(|known| known <= set.fetched)) {
            self.set = Some(set);
            self.refreshed = Some(now);
        }
        if call == Call::Search {
            self.is_searching = false;
            if self.find(kid, algorithm, now).is_ok() {
                self.searched = None;
            }
        }
    }
}
