//! Tokens of the issuers that the gateway trusts (`OpenID` Connect Core 1.0, RFC 7519): a
//! GitHub workflow's, those of Cloudflare Access, of Auth0 and the like.
//!
//! Everything but the signature is decided here. The signature is for the host, which
//! has the keys to fetch and the asymmetric algorithms: it gets an [`Unverified`], asks
//! [`jwk`] for the one key that may be used, and asks [`crate::access::identify`] again.
//!
//! How long such a token lives is its issuer's affair, from minutes (GitHub) to a month
//! (Cloudflare Access): only `exp` counts, where own tokens end after 90 days.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quillgate::{Millis, OPERATIONS};
use serde_json::{Map, Value};

use crate::access::{
    Caller, EXPIRED, Grant, INCOMPLETE, Identity, LEEWAY, NO_SUBJECT, NOT_YET, OPERATE,
    OTHER_ISSUER, OWN_ISSUER, Quota, Signature, Token, UNKNOWN_KIND, WRONG_SIGNATURE, instant,
    not_accepted, seconds, take_text, texts,
};
use crate::config::is_secure_url;
use crate::json;
use crate::problem::Problem;

/// The longest key id that is looked for, in bytes.
const LONGEST_KID: usize = 256;
/// The longest name of an issuer, in bytes.
const LONGEST_ISSUER: usize = 512;
/// The least length of an RSA modulus, in bits (RFC 7518, section 3.3).
const LEAST_MODULUS: usize = 2048;
/// The header parameters by which a token names its own key (RFC 7515, sections 4.1.2,
/// 4.1.3, 4.1.5 and 4.1.6). None is followed; a token that has one is refused.
const OWN_KEYS: [&str; 4] = ["jwk", "jku", "x5u", "x5c"];

/// An issuer that is trusted to say who somebody is.
#[derive(Debug, Clone, PartialEq)]
pub struct Issuer {
    /// The exact `iss` of its tokens.
    pub issuer: String,
    /// The audiences of which a token's `aud` must contain one.
    pub audiences: Vec<String>,
    /// Where its keys are published, a JWK Set.
    pub jwks: String,
    /// Where its tokens are taken from, and nowhere else.
    pub source: Source,
    /// What its tokens grant.
    pub rules: Vec<Rule>,
}

/// Where a token is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// `Authorization: Bearer`.
    Bearer,
    /// `Cf-Access-Jwt-Assertion`.
    AccessAssertion,
}

/// What tokens with certain claims grant.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Names of claims, each with the values of which the token must have one. At least one.
    claims: Vec<(String, Vec<Value>)>,
    grant: Grant,
    quota: Quota,
}

/// A token of a trusted issuer, good but for its signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unverified {
    /// The issuer.
    pub issuer: String,
    /// Where the issuer's keys are published.
    pub jwks: String,
    /// Which of them the token names.
    pub kid: String,
    /// The algorithm of the signature.
    pub algorithm: Algorithm,
    /// What is signed: the header, a full stop and the claims, as sent.
    pub signed: String,
    /// The signature in base64url, as sent. For ES256 it is `r` and `s`, 32 bytes each
    /// (RFC 7518, section 3.4), as `WebCrypto` takes it.
    pub signature: String,
}

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
    pub fn named(name: &str) -> Option<Self> {
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

    /// Whether a signature can be this long: the key's length for RSA, twice 32 bytes for P-256.
    const fn fits(self, signature: &[u8]) -> bool {
        match self {
            Self::Rs256 => signature.len() >= LEAST_MODULUS / 8,
            Self::Es256 => signature.len() == 64,
        }
    }
}

/// Checks an issuer's token in all but its signature, and gives the caller out when that
/// is [`Signature::Checked`].
///
/// # Errors
/// 401 when the token is not good, 403 when no rule matches it.
pub(crate) fn identify(
    token: &Token<'_>,
    algorithm: Algorithm,
    source: Source,
    issuers: &[Issuer],
    now: Millis,
    signature: Signature,
) -> Result<Identity, Problem> {
    let kid = key_id(token, algorithm).map_err(not_accepted)?;
    let claims = token.claims().map_err(not_accepted)?;
    let issuer = issuer(&claims, source, issuers).map_err(not_accepted)?;
    issuer.checked(&claims, now).map_err(not_accepted)?;
    Ok(match signature {
        // Not before: the answer to a forged token must not tell which rules there are.
        Signature::Checked => Identity::Caller(issuer.caller(&claims)?),
        Signature::Unchecked => Identity::Unverified(Unverified {
            issuer: issuer.issuer.clone(),
            jwks: issuer.jwks.clone(),
            kid,
            algorithm,
            signed: token.signed.to_owned(),
            signature: token.signature.to_owned(),
        }),
    })
}

/// The id of the key that a token names, when all of its header is as it should be.
fn key_id(token: &Token<'_>, algorithm: Algorithm) -> Result<String, &'static str> {
    if !token.is_kind(&["jwt", "at+jwt"]) {
        return Err(UNKNOWN_KIND);
    }
    if OWN_KEYS.iter().any(|name| token.header.contains_key(*name)) {
        return Err("the access token brings its own key");
    }
    if !algorithm.fits(&token.signature_bytes()?) {
        return Err(WRONG_SIGNATURE);
    }
    let kid = token.header.get("kid").and_then(Value::as_str);
    kid.filter(|kid| (1..=LONGEST_KID).contains(&kid.len()))
        .map(str::to_owned)
        .ok_or("the access token names no key")
}

fn issuer<'a>(
    claims: &Map<String, Value>,
    source: Source,
    issuers: &'a [Issuer],
) -> Result<&'a Issuer, &'static str> {
    let name = claims.get("iss").and_then(Value::as_str);
    let name = name.ok_or(INCOMPLETE)?;
    let is_it = |issuer: &&Issuer| issuer.source == source && issuer.issuer == name;
    issuers.iter().find(is_it).ok_or(OTHER_ISSUER)
}

impl Issuer {
    fn caller(&self, claims: &Map<String, Value>) -> Result<Caller, Problem> {
        let subject = claims.get("sub").and_then(Value::as_str);
        let caller = Caller {
            issuer: self.issuer.clone(),
            subject: subject.unwrap_or_default().to_owned(),
            grants: Vec::new(),
            quota: Quota::default(),
        };
        let matching = self.rules.iter().filter(|rule| rule.matches(claims));
        let caller = matching.fold(caller, |mut caller, rule| {
            caller.grants.push(rule.grant.clone());
            caller.quota = caller.quota.lower(rule.quota);
            caller
        });
        if caller.grants.is_empty() {
            return Err(not_mapped());
        }
        Ok(caller)
    }

    /// Checks the registered claims (RFC 7519, section 4.1).
    fn checked(&self, claims: &Map<String, Value>, now: Millis) -> Result<(), &'static str> {
        let now = seconds(now);
        match claims.get("sub") {
            Some(Value::String(subject)) if subject.is_empty() => return Err(NO_SUBJECT),
            Some(Value::String(_)) => {}
            _ => return Err(INCOMPLETE),
        }
        if !self.is_audience(claims.get("aud").ok_or(INCOMPLETE)?)? {
            return Err("the access token is for another audience");
        }
        let expires = instant(claims, "exp")?.ok_or(INCOMPLETE)?;
        let begins = [instant(claims, "nbf")?, instant(claims, "iat")?];
        if now >= expires + LEEWAY {
            return Err(EXPIRED);
        }
        if begins.into_iter().flatten().any(|at| at > now + LEEWAY) {
            return Err(NOT_YET);
        }
        Ok(())
    }

    fn is_audience(&self, audience: &Value) -> Result<bool, &'static str> {
        let audiences = one_or_more(audience.clone()).ok_or(INCOMPLETE)?;
        Ok(audiences.iter().any(|one| self.audiences.contains(one)))
    }
}

/// A text, or a list of texts.
fn one_or_more(value: Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text]),
        list => texts(list),
    }
}

/// 403: somebody is known and may do nothing. There is no scope to ask for, so the
/// challenge names none (RFC 6750, section 3.1).
fn not_mapped() -> Problem {
    let detail = "no rule of TRUSTED_ISSUERS matches the access token's claims";
    let challenge = "Bearer realm=\"quillgate\", error=\"insufficient_scope\"";
    Problem::new(403, "identity-not-mapped", "Identity not mapped", detail)
        .with_header("www-authenticate", challenge)
}

impl Rule {
    /// Whether each claim is there with one of its values: the same text, integer or
    /// boolean, and no part of one. Of a list one element has to be.
    fn matches(&self, claims: &Map<String, Value>) -> bool {
        self.claims
            .iter()
            .all(|(name, expected)| match claims.get(name) {
                Some(Value::Array(held)) => held.iter().any(|one| expected.contains(one)),
                Some(held) => expected.contains(held),
                None => false,
            })
    }
}

/// Reads `TRUSTED_ISSUERS`: a JSON list of issuers, of which each has the members
/// `issuer`, `audience` (one or a list), `jwks`, `rules` and perhaps `header`; each rule
/// has `claims`, `projects`, `scope` and perhaps `quota`.
///
/// # Errors
/// The rule that is broken, in words that follow the variable's name. Members that are
/// not known, or stand twice, are refused: a misspelt rule must not grant, or not grant,
/// in silence.
pub fn trusted_issuers(json: &str) -> Result<Vec<Issuer>, &'static str> {
    let Some(Value::Array(items)) = json::value(json.as_bytes()) else {
        return Err("must be a JSON list of issuers, in which no member stands twice");
    };
    let mut issuers: Vec<Issuer> = Vec::new();
    for item in items {
        let issuer = read_issuer(item)?;
        let same = |other: &Issuer| other.issuer == issuer.issuer && other.source == issuer.source;
        if issuers.iter().any(same) {
            return Err("must have each issuer once for each header");
        }
        issuers.push(issuer);
    }
    Ok(issuers)
}

fn read_issuer(item: Value) -> Result<Issuer, &'static str> {
    const MEMBERS: &str = "must have issuers with the members issuer, audience, jwks, rules and perhaps header, and no other";
    let Value::Object(mut members) = item else {
        return Err(MEMBERS);
    };
    let name = take_text(&mut members, "issuer").ok_or(MEMBERS)?;
    let audience = members.remove("audience").ok_or(MEMBERS)?;
    let jwks = take_text(&mut members, "jwks").ok_or(MEMBERS)?;
    let header = members.remove("header");
    let Some(Value::Array(rules)) = members.remove("rules") else {
        return Err(MEMBERS);
    };
    if !members.is_empty() {
        return Err(MEMBERS);
    }
    if !is_issuer(&name) {
        return Err(
            "must name each issuer by its exact iss, which has no spaces and is not quillgate",
        );
    }
    let audiences = one_or_more(audience).filter(|audiences| {
        !audiences.is_empty() && audiences.iter().all(|audience| !audience.is_empty())
    });
    if !is_secure_url(&jwks) {
        return Err(
            "must have in jwks an https URL, or http on this machine, without credentials or fragment",
        );
    }
    Ok(Issuer {
        issuer: name,
        audiences: audiences.ok_or("must have in audience a text or a list of texts")?,
        jwks,
        source: read_source(header)?,
        rules: rules.into_iter().map(read_rule).collect::<Result<_, _>>()?,
    })
}

/// The own issuer is refused in any case, so that no log can be misread.
fn is_issuer(name: &str) -> bool {
    let visible = name.bytes().all(|byte| byte.is_ascii_graphic());
    let fits = (1..=LONGEST_ISSUER).contains(&name.len());
    visible && fits && !name.eq_ignore_ascii_case(OWN_ISSUER)
}

fn read_source(header: Option<Value>) -> Result<Source, &'static str> {
    match header {
        None => Ok(Source::Bearer),
        Some(Value::String(name)) if name.eq_ignore_ascii_case("cf-access-jwt-assertion") => {
            Ok(Source::AccessAssertion)
        }
        Some(_) => Err("must have in header cf-access-jwt-assertion, or no header"),
    }
}

fn read_rule(item: Value) -> Result<Rule, &'static str> {
    const MEMBERS: &str =
        "must have rules with the members claims, projects, scope and perhaps quota, and no other";
    let Value::Object(mut members) = item else {
        return Err(MEMBERS);
    };
    let Some(Value::Object(claims)) = members.remove("claims") else {
        return Err(MEMBERS);
    };
    let projects = members.remove("projects").and_then(texts).ok_or(MEMBERS)?;
    let scope = take_text(&mut members, "scope").ok_or(MEMBERS)?;
    let quota = members.remove("quota");
    if !members.is_empty() {
        return Err(MEMBERS);
    }
    let claims: Option<Vec<_>> = claims.into_iter().map(read_claim).collect();
    let quota = quota.map_or(Some(Quota::default()), |quota| Quota::read(&quota));
    Ok(Rule {
        claims: claims.filter(|claims| !claims.is_empty()).ok_or(
            "must have in claims at least one claim, each with a text, an integer, a boolean or a list of such",
        )?,
        grant: read_grant(projects, &scope)?,
        quota: quota.ok_or(
            "must have in quota an integer, or integers for create-job, send-message or analytics",
        )?,
    })
}

fn read_claim((name, value): (String, Value)) -> Option<(String, Vec<Value>)> {
    let values = match value {
        Value::Array(values) => values,
        one => vec![one],
    };
    let fits = |value: &Value| value.is_string() || value.is_boolean() || is_integer(value);
    (!values.is_empty() && values.iter().all(fits)).then_some((name, values))
}

fn is_integer(value: &Value) -> bool {
    value.is_u64() || value.is_i64()
}

/// A rule that grants nothing is a mistake, and so is a scope that nothing needs.
fn read_grant(projects: Vec<String>, scope: &str) -> Result<Grant, &'static str> {
    let grant = Grant::new(projects, scope);
    let needed = |scope: &String| {
        scope == OPERATE || OPERATIONS.iter().any(|operation| operation.scope == scope)
    };
    if grant.scopes.is_empty() || !grant.scopes.iter().all(needed) {
        return Err(
            "must have in scope some of jobs:create, jobs:read, analytics:read and gateway:operate, separated by spaces",
        );
    }
    let operates_only = grant.scopes.iter().all(|scope| scope == OPERATE);
    if grant.projects.iter().any(String::is_empty) || (grant.projects.is_empty() && !operates_only)
    {
        return Err("must have in projects the ids of projects");
    }
    Ok(grant)
}

/// The one key of a JWK Set (RFC 7517, section 5) with exactly this `kid`, when it may be
/// used to verify signatures of `algorithm`: as JSON of its public members alone, which
/// are `kty`, `n` and `e`, or `kty`, `crv`, `x` and `y`.
///
/// `None` when no key has that `kid`: the host may have an old set.
///
/// # Errors
/// Why the key must not be used, or the set is none: for the log, and the 401's detail
/// through [`not_accepted`].
pub fn jwk(jwks: &str, kid: &str, algorithm: Algorithm) -> Result<Option<String>, &'static str> {
    const NO_SET: &str = "the issuer's keys are no JWK Set";
    let Some(Value::Object(mut set)) = json::value(jwks.as_bytes()) else {
        return Err(NO_SET);
    };
    let Some(Value::Array(keys)) = set.remove("keys") else {
        return Err(NO_SET);
    };
    if !keys.iter().all(Value::is_object) {
        return Err(NO_SET);
    }
    let mut named = keys.iter().filter(|key| key["kid"] == kid);
    match (named.next(), named.next()) {
        (None, _) => Ok(None),
        (Some(key), None) => public_key(key, algorithm).map(Some),
        (Some(_), Some(_)) => Err("the issuer has two keys of the access token's kid"),
    }
}

fn public_key(key: &Value, algorithm: Algorithm) -> Result<String, &'static str> {
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
    let number = |name: &str| {
        let text = key.get(name).and_then(Value::as_str).ok_or(MALFORMED)?;
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| MALFORMED)?;
        Ok((text, bytes))
    };
    match algorithm {
        Algorithm::Rs256 if key["kty"] == "RSA" => {
            let ((n, modulus), (e, exponent)) = (number("n")?, number("e")?);
            if bits(&modulus) < LEAST_MODULUS {
                return Err("the issuer's key is too short");
            }
            // With an exponent of 1 a signature is its own message.
            if bits(&exponent) < 2 || exponent.last().is_none_or(|last| last % 2 == 0) {
                return Err(MALFORMED);
            }
            Ok(format!(r#"{{"kty":"RSA","n":"{n}","e":"{e}"}}"#))
        }
        Algorithm::Es256 if key["kty"] == "EC" && key["crv"] == "P-256" => {
            let ((x, across), (y, up)) = (number("x")?, number("y")?);
            if [across.len(), up.len()] != [32, 32] {
                return Err(MALFORMED);
            }
            Ok(format!(
                r#"{{"kty":"EC","crv":"P-256","x":"{x}","y":"{y}"}}"#
            ))
        }
        _ => Err("the issuer's key is of another type than the algorithm's"),
    }
}

/// The length of a big-endian number in bits, leading zeros aside.
fn bits(number: &[u8]) -> usize {
    match number.iter().position(|byte| *byte != 0) {
        Some(at) => (number.len() - at) * 8 - number[at].leading_zeros() as usize,
        None => 0,
    }
}
