//! Who is calling, and what they may do: the gateway's own access tokens, JWTs signed
//! with HS256 (RFC 7519, RFC 7518 section 3.2), sent as bearer tokens (RFC 6750), and
//! those of the issuers that it trusts, which [`crate::oidc`] reads.
//!
//! A token's `alg` says which of the two it is looked at as, and nothing else does:
//! HS256 is only ever checked with the gateway's own secrets, RS256 and ES256 only ever
//! with an issuer's published keys, and any other algorithm is refused.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use quillgate::Millis;
use serde_json::{Map, Value};
use sha2::Sha256;

use crate::config::Config;
use crate::json;
use crate::oidc::{self, Algorithm, Issuer, Source, Unverified};
use crate::problem::Problem;

/// The issuer of the gateway's own tokens, which no other issuer may be called.
pub const OWN_ISSUER: &str = "quillgate";
/// The scope of whoever runs the gateway; it needs no project.
pub const OPERATE: &str = "gateway:operate";
/// The names of the budgets that a caller's [`Quota`] can lower.
pub const POLICIES: [&str; 3] = ["create-job", "send-message", "analytics"];

/// The longest token that is looked at, in bytes.
const LONGEST_TOKEN: usize = 8 * 1024;
/// How far clocks may differ, in seconds.
pub(crate) const LEEWAY: f64 = 60.0;
/// The longest life of an own token, in seconds: 90 days.
const LONGEST_LIFE: f64 = 90.0 * 86_400.0;

const MALFORMED: &str = "the access token is not a signed JWT";
pub(crate) const INCOMPLETE: &str = "the access token's claims are not complete";
pub(crate) const UNKNOWN_KIND: &str = "the access token is of an unknown kind";
pub(crate) const WRONG_SIGNATURE: &str = "the access token's signature is wrong";
pub(crate) const OTHER_ISSUER: &str = "the access token is from another issuer";
pub(crate) const NO_SUBJECT: &str = "the access token has no subject";
pub(crate) const EXPIRED: &str = "the access token has expired";
pub(crate) const NOT_YET: &str = "the access token is not valid yet";

/// Projects, and what may be done in each of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The projects, by their exact ids: no pattern stands for several.
    pub projects: Vec<String>,
    /// The scopes: `jobs:create`, `jobs:read`, `analytics:read`, `gateway:operate`.
    pub scopes: Vec<String>,
}

impl Grant {
    /// The grant of these projects with the scopes that a text lists, separated by
    /// spaces (RFC 6749, section 3.3).
    #[must_use]
    pub fn new(projects: Vec<String>, scope: &str) -> Self {
        let words = scope.split(' ').filter(|word| !word.is_empty());
        Self {
            projects,
            scopes: words.map(str::to_owned).collect(),
        }
    }

    fn has_project(&self, project: &str) -> bool {
        self.projects.iter().any(|own| own == project)
    }

    fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|own| own == scope)
    }
}

/// Ceilings on a caller's own reservations in a budget's window, below the budget itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quota {
    /// In the order of [`POLICIES`].
    ceilings: [Option<u32>; POLICIES.len()],
}

impl Quota {
    /// Reads an object from names of [`POLICIES`] to integers of at least 0, or one such
    /// integer for all of them. One above `u32::MAX` is as good as `u32::MAX`.
    ///
    /// `None` for anything else, and for a name that is no policy's: a ceiling that is
    /// misspelt must not go unheeded.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        let ceiling = |value: &Value| Some(u32::try_from(value.as_u64()?).unwrap_or(u32::MAX));
        let Value::Object(members) = value else {
            let ceilings = [Some(ceiling(value)?); POLICIES.len()];
            return Some(Self { ceilings });
        };
        let mut quota = Self::default();
        for (name, value) in members {
            let at = POLICIES.iter().position(|policy| policy == name)?;
            quota.ceilings[at] = Some(ceiling(value)?);
        }
        Some(quota)
    }

    /// The ceiling in the budget of this policy; `None` when the budget is the only one.
    #[must_use]
    pub fn of(&self, policy: &str) -> Option<u32> {
        let at = POLICIES.iter().position(|known| *known == policy)?;
        self.ceilings[at]
    }

    /// Of two quotas, the lower ceiling of each policy.
    #[must_use]
    pub fn lower(mut self, other: Self) -> Self {
        for (own, other) in self.ceilings.iter_mut().zip(other.ceilings) {
            *own = match (*own, other) {
                (Some(own), Some(other)) => Some(own.min(other)),
                (own, other) => own.or(other),
            };
        }
        self
    }
}

/// Somebody whose token is good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The token's `iss`: [`OWN_ISSUER`] for an own token.
    pub issuer: String,
    /// The token's `sub`.
    pub subject: String,
    /// What the caller may do, and where.
    pub grants: Vec<Grant>,
    /// The caller's own ceilings.
    pub quota: Quota,
}

impl Caller {
    /// Whether the caller may work on `project` and do what needs `scope`: one grant has
    /// to hold both.
    ///
    /// # Errors
    /// 403 when no grant has the project; 403 with a challenge that names the scope when
    /// one has the project, and none with it the scope (RFC 6750, section 3.1).
    pub fn authorize(&self, project: &str, scope: &str) -> Result<(), Problem> {
        let mut grants = self
            .grants
            .iter()
            .filter(|grant| grant.has_project(project));
        let Some(first) = grants.next() else {
            let detail = "the access token is not for this project";
            return Err(Problem::new(
                403,
                "project-not-allowed",
                "Project not allowed",
                detail,
            ));
        };
        if first.has_scope(scope) || grants.any(|grant| grant.has_scope(scope)) {
            return Ok(());
        }
        Err(insufficient_scope(scope))
    }

    /// Whether the caller runs the gateway: any grant has the scope [`OPERATE`].
    ///
    /// # Errors
    /// 403 with a challenge that names the scope.
    pub fn operates(&self) -> Result<(), Problem> {
        if self.grants.iter().any(|grant| grant.has_scope(OPERATE)) {
            return Ok(());
        }
        Err(insufficient_scope(OPERATE))
    }

    /// What budgets and idempotency keys of this caller are kept under: issuer and
    /// subject, between them a space, which no issuer contains.
    #[must_use]
    pub fn key(&self) -> String {
        [&*self.issuer, &*self.subject].join(" ")
    }
}

/// The header fields that a caller can show a token in.
#[derive(Debug, Clone, Copy, Default)]
pub struct Credentials<'a> {
    /// `Authorization`. When it is there, it alone counts, good or bad.
    pub authorization: Option<&'a str>,
    /// `Cf-Access-Jwt-Assertion`, which Cloudflare Access adds. It counts when a trusted
    /// issuer takes its tokens from it.
    pub access_assertion: Option<&'a str>,
}

/// Whether the host has checked the signature of an issuer's token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signature {
    /// Not yet.
    Unchecked,
    /// Yes: that of the very [`Unverified`] which the same credentials gave before, with
    /// the key that [`oidc::jwk`] gave for it.
    Checked,
}

/// What credentials have shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// Who is calling.
    Caller(Caller),
    /// A trusted issuer's token, good but for its signature. The host checks that and
    /// asks again with [`Signature::Checked`]; until then nobody is let in by it.
    Unverified(Unverified),
}

/// Finds out who is calling. Own tokens are checked to the end; an issuer's token is
/// checked in full each time but for its signature, which the host has to check.
///
/// # Errors
/// 401 with a challenge: bare when there is no token, `invalid_token` when it is not
/// good. 403 when it is good and none of its issuer's rules matches it. The detail says
/// what is wrong and never repeats the token.
pub fn identify(
    credentials: &Credentials<'_>,
    config: &Config,
    now: Millis,
    signature: Signature,
) -> Result<Identity, Problem> {
    let issuers = &config.trusted_issuers;
    let (token, source) = shown(credentials, issuers).ok_or_else(no_token)?;
    let token = Token::read(token).map_err(not_accepted)?;
    if token.algorithm == "HS256" && source == Source::Bearer {
        return own(&token, config, now)
            .map(Identity::Caller)
            .map_err(not_accepted);
    }
    let algorithm = Algorithm::named(&token.algorithm).filter(|_| takes(issuers, source));
    let algorithm = algorithm.ok_or_else(|| not_accepted(expected_algorithm(issuers)))?;
    oidc::identify(&token, algorithm, source, issuers, now, signature)
}

/// The token that counts, and where it was found.
fn shown<'a>(credentials: &Credentials<'a>, issuers: &[Issuer]) -> Option<(&'a str, Source)> {
    if let Some(authorization) = credentials.authorization {
        return Some((bearer(authorization)?, Source::Bearer));
    }
    let assertion = credentials.access_assertion?;
    let counts = !assertion.is_empty() && takes(issuers, Source::AccessAssertion);
    counts.then_some((assertion, Source::AccessAssertion))
}

/// The token of the `Bearer` scheme, whose name is not case-sensitive (RFC 9110, section 11.1).
fn bearer(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.split_once(' ')?;
    let token = token.trim_start_matches(' ');
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

fn takes(issuers: &[Issuer], source: Source) -> bool {
    issuers.iter().any(|issuer| issuer.source == source)
}

fn expected_algorithm(issuers: &[Issuer]) -> &'static str {
    if issuers.is_empty() {
        "the access token must be signed with HS256"
    } else {
        "the access token must be signed with HS256, or by a trusted issuer with RS256 or ES256"
    }
}

fn no_token() -> Problem {
    let detail = "an access token must be sent as Authorization: Bearer";
    Problem::new(401, "missing-token", "No access token", detail)
        .with_header("www-authenticate", "Bearer realm=\"quillgate\"")
}

/// 401: the token is not good (RFC 6750, section 3.1). For the host too, when an issuer's
/// signature is wrong or its key is not to be had; `reason` must not repeat the token.
#[must_use]
pub fn not_accepted(reason: &str) -> Problem {
    let challenge = "Bearer realm=\"quillgate\", error=\"invalid_token\"";
    Problem::new(401, "invalid-token", "Access token not accepted", reason)
        .with_header("www-authenticate", challenge)
}

fn insufficient_scope(scope: &str) -> Problem {
    let challenge =
        format!("Bearer realm=\"quillgate\", error=\"insufficient_scope\", scope=\"{scope}\"");
    let detail = format!("this needs an access token with the scope {scope}");
    Problem::new(403, "insufficient-scope", "Insufficient scope", detail)
        .with_header("www-authenticate", challenge)
}

/// A token in its three parts (RFC 7515, section 7.1), of which the header has been read.
pub(crate) struct Token<'a> {
    pub(crate) header: Map<String, Value>,
    pub(crate) algorithm: String,
    /// The header and the claims as sent: what the signature is over.
    pub(crate) signed: &'a str,
    pub(crate) signature: &'a str,
    claims: &'a str,
}

impl<'a> Token<'a> {
    fn read(token: &'a str) -> Result<Self, &'static str> {
        if token.len() > LONGEST_TOKEN {
            return Err("the access token is too long");
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(MALFORMED)?;
        let (header, claims) = signed.split_once('.').ok_or(MALFORMED)?;
        let mut header = part(header).ok_or(MALFORMED)?;
        let algorithm = take_text(&mut header, "alg").ok_or(MALFORMED)?;
        Ok(Self {
            header,
            algorithm,
            signed,
            signature,
            claims,
        })
    }

    /// The claims' set.
    pub(crate) fn claims(&self) -> Result<Map<String, Value>, &'static str> {
        part(self.claims).ok_or(INCOMPLETE)
    }

    /// Whether `typ` is absent or one of `kinds`, which are not case-sensitive (RFC 7515,
    /// section 4.1.9), and no extension must be understood: none is.
    pub(crate) fn is_kind(&self, kinds: &[&str]) -> bool {
        let known = |typ: &Value| {
            let typ = typ.as_str().unwrap_or_default();
            kinds.iter().any(|kind| typ.eq_ignore_ascii_case(kind))
        };
        !self.header.contains_key("crit") && self.header.get("typ").is_none_or(known)
    }

    /// The signature's bytes: unpadded base64url, which has one way to write them.
    pub(crate) fn signature_bytes(&self) -> Result<Vec<u8>, &'static str> {
        URL_SAFE_NO_PAD
            .decode(self.signature)
            .map_err(|_| MALFORMED)
    }
}

fn own(token: &Token<'_>, config: &Config, now: Millis) -> Result<Caller, &'static str> {
    if !token.is_kind(&["jwt"]) {
        return Err(UNKNOWN_KIND);
    }
    let signature = token.signature_bytes()?;
    let signs = |secret: &Vec<u8>| signs(secret, token.signed, &signature);
    if !config.token_secrets.iter().any(signs) {
        return Err(WRONG_SIGNATURE);
    }
    let claims = Claims::read(token.claims()?)?;
    if config.revoked.covers(&claims) {
        return Err("the access token has been revoked");
    }
    claims.checked(now)
}

/// Compares in constant time.
fn signs(secret: &[u8], signed: &str, signature: &[u8]) -> bool {
    Hmac::<Sha256>::new_from_slice(secret).is_ok_and(|mut mac| {
        mac.update(signed.as_bytes());
        mac.verify_slice(signature).is_ok()
    })
}

/// The claims of an own token.
struct Claims {
    issuer: String,
    subject: String,
    grant: Grant,
    issued: f64,
    expires: f64,
    not_before: Option<f64>,
    id: Option<String>,
    quota: Quota,
}

impl Claims {
    fn read(mut members: Map<String, Value>) -> Result<Self, &'static str> {
        let members = &mut members;
        let projects = members.remove("projects").ok_or(INCOMPLETE)?;
        let scope = take_text(members, "scope").ok_or(INCOMPLETE)?;
        let quota = match members.remove("quota") {
            Some(quota) => Quota::read(&quota).ok_or(INCOMPLETE)?,
            None => Quota::default(),
        };
        let id = match members.remove("jti") {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) => Some(id),
            Some(_) => return Err(INCOMPLETE),
        };
        Ok(Self {
            issuer: take_text(members, "iss").ok_or(INCOMPLETE)?,
            subject: take_text(members, "sub").ok_or(INCOMPLETE)?,
            grant: Grant::new(texts(projects).ok_or(INCOMPLETE)?, &scope),
            issued: instant(members, "iat")?.ok_or(INCOMPLETE)?,
            expires: instant(members, "exp")?.ok_or(INCOMPLETE)?,
            not_before: instant(members, "nbf")?,
            id,
            quota,
        })
    }

    fn checked(self, now: Millis) -> Result<Caller, &'static str> {
        let now = seconds(now);
        if self.issuer != OWN_ISSUER {
            return Err(OTHER_ISSUER);
        }
        if self.subject.is_empty() {
            return Err(NO_SUBJECT);
        }
        if now >= self.expires {
            return Err(EXPIRED);
        }
        if self.issued > now + LEEWAY || self.not_before.is_some_and(|nbf| nbf > now + LEEWAY) {
            return Err(NOT_YET);
        }
        if self.expires - self.issued > LONGEST_LIFE {
            return Err("the access token lives longer than 90 days");
        }
        Ok(Caller {
            issuer: self.issuer,
            subject: self.subject,
            grants: vec![self.grant],
            quota: self.quota,
        })
    }
}

/// The own tokens that are no longer accepted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Revoked {
    ids: Vec<String>,
    /// Subjects, and the instant (in seconds) that their tokens must not be issued before.
    subjects: Vec<(String, u64)>,
}

impl Revoked {
    /// Reads a JSON list of `{"jti":"…"}`, a token, and `{"sub":"…","before":seconds}`,
    /// all tokens of a subject whose `iat` is before that instant.
    ///
    /// # Errors
    /// The rule that is broken, in words that follow the variable's name.
    pub fn read(json: &str) -> Result<Self, &'static str> {
        const RULE: &str = "must be a JSON list of {\"jti\":\"…\"} and {\"sub\":\"…\",\"before\":seconds}, with nothing else in them";
        let Some(Value::Array(items)) = json::value(json.as_bytes()) else {
            return Err(RULE);
        };
        let mut revoked = Self::default();
        for item in items {
            let Value::Object(mut members) = item else {
                return Err(RULE);
            };
            let id = take_text(&mut members, "jti");
            let subject = take_text(&mut members, "sub");
            let before = members.get("before").and_then(Value::as_u64);
            if before.is_some() {
                members.remove("before");
            }
            match (id, subject, before) {
                (Some(id), None, None) if !id.is_empty() => revoked.ids.push(id),
                (None, Some(subject), Some(before)) if !subject.is_empty() => {
                    revoked.subjects.push((subject, before));
                }
                _ => return Err(RULE),
            }
            if !members.is_empty() {
                return Err(RULE);
            }
        }
        Ok(revoked)
    }

    #[expect(clippy::cast_precision_loss, reason = "an instant far below 2^53 s")]
    fn covers(&self, claims: &Claims) -> bool {
        let of_subject = |(subject, before): &(String, u64)| {
            *subject == claims.subject && claims.issued < *before as f64
        };
        let id = claims.id.as_ref();
        id.is_some_and(|id| self.ids.contains(id)) || self.subjects.iter().any(of_subject)
    }
}

/// A part of a token is a JSON object (RFC 7519, section 7.2) in unpadded base64url.
fn part(encoded: &str) -> Option<Map<String, Value>> {
    match json::value(&URL_SAFE_NO_PAD.decode(encoded).ok()?)? {
        Value::Object(members) => Some(members),
        _ => None,
    }
}

/// Takes a member that is text out of an object; one that is not stays there.
pub(crate) fn take_text(members: &mut Map<String, Value>, name: &str) -> Option<String> {
    match members.get_mut(name)? {
        Value::String(text) => {
            let text = std::mem::take(text);
            members.remove(name);
            Some(text)
        }
        _ => None,
    }
}

/// The elements of a list of texts.
pub(crate) fn texts(value: Value) -> Option<Vec<String>> {
    let Value::Array(items) = value else {
        return None;
    };
    let text = |item| match item {
        Value::String(text) => Some(text),
        _ => None,
    };
    items.into_iter().map(text).collect()
}

/// A `NumericDate` of the claims (RFC 7519, section 2): seconds since 1970, perhaps with
/// a fraction. `null` counts as left out.
pub(crate) fn instant(
    claims: &Map<String, Value>,
    name: &str,
) -> Result<Option<f64>, &'static str> {
    match claims.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_f64().map(Some).ok_or(INCOMPLETE),
    }
}

/// An instant in seconds, as tokens have it.
#[expect(clippy::cast_precision_loss, reason = "the clock is far below 2^53 ms")]
pub(crate) fn seconds(now: Millis) -> f64 {
    now.0 as f64 / 1000.0
}
