//! Tokens of the issuers that the gateway trusts (`OpenID` Connect Core 1.0, RFC 7519): those of
//! GitHub workflows, Cloudflare Access, Auth0 and the like.
//!
//! Everything but the signature is checked here. The host verifies the signature, since it has to
//! fetch the keys and has the asymmetric algorithms: it gets an [`UnverifiedToken`], finds the one
//! key that may be used with [`super::jwks::find_key`], and calls [`super::identify`] again.
//!
//! How long such a token lives is up to its issuer, from minutes (GitHub) to a month (Cloudflare
//! Access): only `exp` counts, whereas the gateway's own tokens live for 90 days at most.

use quillgate::{Millis, Scope};
use serde_json::{Map, Value};

use crate::auth::access_token::ISSUER;
use crate::auth::caller::{Caller, Grant, OPERATE, Quota, SharedQuota, caller_key};
use crate::auth::jwks::Algorithm;
use crate::auth::jwt::{
    EXPIRED, INCOMPLETE, Jwt, LEEWAY, NO_SUBJECT, NOT_YET, OTHER_ISSUER, REVOKED, UNKNOWN_KIND,
    WRONG_SIGNATURE, read_instant, take_text, to_millis, to_seconds,
};
use crate::auth::revocation::RevokedTokens;
use crate::auth::session::sign_in::SignInIssuer;
use crate::hash::fingerprint;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::url::is_secure_url;
use crate::json;

/// The longest key id that is looked up, in bytes.
const LONGEST_KID: usize = 256;
/// The longest name of an issuer, in bytes.
const LONGEST_ISSUER: usize = 512;
/// The header parameters by which a token names its own key (RFC 7515, sections 4.1.2,
/// 4.1.3, 4.1.5 and 4.1.6). None is followed; a token that has one is refused.
const OWN_KEYS: [&str; 4] = ["jwk", "jku", "x5u", "x5c"];

/// An issuer that is trusted to identify callers.
#[derive(Debug, Clone, PartialEq)]
pub struct TrustedIssuer {
    /// The exact `iss` of its tokens.
    pub issuer: String,
    /// The accepted audiences; a token's `aud` must contain one of them.
    pub audiences: Vec<String>,
    /// Where its keys are published, a JWK Set.
    pub jwks: String,
    /// The only place from which its tokens are taken.
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
    claims: ExpectedClaims,
    grant: Grant,
    /// The quota of each caller: see [`Rule::quotas`].
    quota: Quota,
    /// The names of the claims that tell one caller from another; `sub` does when there are none.
    caller: Vec<String>,
    /// What all callers that it admits may use together.
    ceiling: Quota,
    /// What they are counted under: two spaces, which no caller's key begins with, and a hash.
    name: String,
}

/// Names of claims, at least one, each with its accepted values; a token must have one of them.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedClaims(Vec<(String, Vec<Value>)>);

/// A trusted issuer's token of which everything but the signature has been checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnverifiedToken {
    /// The issuer.
    pub issuer: String,
    /// Where the issuer's keys are published.
    pub jwks: String,
    /// The id of the key that the token names.
    pub kid: String,
    /// The algorithm of the signature.
    pub algorithm: Algorithm,
    /// What is signed: the header, a full stop and the claims, as sent.
    pub signed: String,
    /// The signature in base64url, as sent. For ES256 it is `r` and `s`, 32 bytes each
    /// (RFC 7518, section 3.4), as `WebCrypto` takes it.
    pub signature: String,
}

/// The claims of an issuer's token, checked.
#[derive(Debug)]
pub struct CheckedClaims<'a> {
    issuer: &'a TrustedIssuer,
    claims: Map<String, Value>,
    subject: String,
    expires: f64,
}

/// Checks everything about an issuer's token but its signature, which the host has to verify.
/// With `clients` it is an ID token for one of them, and else an access token.
///
/// # Errors
/// What is wrong with the token.
pub fn check<'a>(
    token: &Jwt<'_>,
    algorithm: Algorithm,
    source: Source,
    issuers: &'a [TrustedIssuer],
    clients: Option<&[SignInIssuer]>,
    now: Millis,
) -> Result<(CheckedClaims<'a>, UnverifiedToken), &'static str> {
    let kid = read_key_id(token, algorithm)?;
    let checked = check_claims(token.claims()?, source, issuers, clients, now)?;
    let unverified = UnverifiedToken {
        issuer: checked.issuer.issuer.clone(),
        jwks: checked.issuer.jwks.clone(),
        kid,
        algorithm,
        signed: token.signed.to_owned(),
        signature: token.signature.to_owned(),
    };
    Ok((checked, unverified))
}

/// Checks the claims of an issuer's token: see [`check`].
///
/// # Errors
/// What is wrong with them.
pub fn check_claims<'a>(
    claims: Map<String, Value>,
    source: Source,
    issuers: &'a [TrustedIssuer],
    clients: Option<&[SignInIssuer]>,
    now: Millis,
) -> Result<CheckedClaims<'a>, &'static str> {
    let issuer = find_issuer(&claims, source, issuers)?;
    let subject = read_subject(&claims)?;
    issuer.check_audience(&claims, clients)?;
    let expires = check_times(&claims, now)?;
    Ok(CheckedClaims {
        issuer,
        claims,
        subject,
        expires,
    })
}

impl CheckedClaims<'_> {
    /// The caller whose token it is. Only for a token whose signature has been verified: the
    /// answer to a forged token must not show which rules there are.
    ///
    /// # Errors
    /// 403 when no rule of the issuer matches the claims.
    pub fn caller(&self) -> Result<Caller, Problem> {
        let mut caller = Caller {
            issuer: self.issuer.issuer.clone(),
            subject: self.subject.clone(),
            grants: Vec::new(),
            quota: Quota::default(),
            claims: None,
            shared: Vec::new(),
            expires: to_millis(self.expires + LEEWAY),
        };
        let mut quotas = Vec::new();
        let rules = self.issuer.rules.iter();
        for rule in rules.filter(|rule| rule.admits(&self.claims)) {
            let claims = rule.caller_claims(&self.claims);
            let key = caller_key(&caller.issuer, &caller.subject, claims.as_deref());
            caller.grants.push(rule.grant.clone());
            let (own, shared) = rule.quotas();
            quotas.push((key, own));
            quotas.push((rule.name.clone(), shared));
            caller.claims = caller.claims.or(claims);
        }
        if caller.grants.is_empty() {
            return Err(not_mapped_problem());
        }
        // Rules may tell callers apart by other claims than the first one does. Each of their
        // quotas is counted by its own, or a choice among the rules would lift all of them.
        let key = caller.key();
        for (name, quota) in quotas.into_iter().filter(|(_, quota)| quota.is_limited()) {
            let mut shared = caller.shared.iter_mut();
            if name == key {
                caller.quota = caller.quota.lower(quota);
            } else if let Some(same) = shared.find(|shared| shared.name == name) {
                same.quota = same.quota.lower(quota);
            } else {
                caller.shared.push(SharedQuota { name, quota });
            }
        }
        Ok(caller)
    }

    /// Checks that the operator still accepts the token.
    ///
    /// # Errors
    /// That it has been revoked.
    pub fn check_revoked(&self, revoked: &RevokedTokens) -> Result<(), &'static str> {
        if revoked.covers_foreign(&self.issuer.issuer, &self.claims)? {
            return Err(REVOKED);
        }
        Ok(())
    }

    /// When it expires.
    #[must_use]
    pub fn expires(&self) -> Millis {
        to_millis(self.expires)
    }

    /// Whether a claim is this text.
    #[must_use]
    pub fn has(&self, name: &str, value: &str) -> bool {
        self.claims.get(name).is_some_and(|held| *held == *value)
    }
}

/// The id of the key that a token names, when the rest of its header is valid as well.
fn read_key_id(token: &Jwt<'_>, algorithm: Algorithm) -> Result<String, &'static str> {
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

fn find_issuer<'a>(
    claims: &Map<String, Value>,
    source: Source,
    issuers: &'a [TrustedIssuer],
) -> Result<&'a TrustedIssuer, &'static str> {
    let name = claims.get("iss").and_then(Value::as_str);
    let name = name.ok_or(INCOMPLETE)?;
    let is_it = |issuer: &&TrustedIssuer| issuer.source == source && issuer.issuer == name;
    issuers.iter().find(is_it).ok_or(OTHER_ISSUER)
}

impl TrustedIssuer {
    fn check_audience(
        &self,
        claims: &Map<String, Value>,
        clients: Option<&[SignInIssuer]>,
    ) -> Result<(), &'static str> {
        let audience = claims.get("aud").cloned().ok_or(INCOMPLETE)?;
        let audiences = read_one_or_more(audience).ok_or(INCOMPLETE)?;
        // An ID token may name several, and then has to say whose it is (OpenID Connect Core, section
        // 3.1.3.7).
        let party = claims.get("azp");
        let is_for = |client: &SignInIssuer| {
            client.issuer == self.issuer
                && audiences.contains(&client.client_id)
                && party.map_or(audiences.len() == 1, |party| *party == *client.client_id)
        };
        let fits = match clients {
            Some(clients) => clients.iter().any(is_for),
            None => audiences.iter().any(|one| self.audiences.contains(one)),
        };
        if fits {
            return Ok(());
        }
        Err("the access token is for another audience")
    }
}

fn read_subject(claims: &Map<String, Value>) -> Result<String, &'static str> {
    match claims.get("sub") {
        Some(Value::String(subject)) if subject.is_empty() => Err(NO_SUBJECT),
        Some(Value::String(subject)) => Ok(subject.clone()),
        _ => Err(INCOMPLETE),
    }
}

/// Checks a token's times (RFC 7519, section 4.1) and returns when it expires, in seconds.
fn check_times(claims: &Map<String, Value>, now: Millis) -> Result<f64, &'static str> {
    let now = to_seconds(now);
    let expires = read_instant(claims, "exp")?.ok_or(INCOMPLETE)?;
    let begins = [read_instant(claims, "nbf")?, read_instant(claims, "iat")?];
    if now >= expires + LEEWAY {
        return Err(EXPIRED);
    }
    if begins.into_iter().flatten().any(|at| at > now + LEEWAY) {
        return Err(NOT_YET);
    }
    Ok(expires)
}

/// A text, or a list of texts.
fn read_one_or_more(value: Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text]),
        list => json::into_strings(list),
    }
}

/// 403: the caller is known and may do nothing. There is no scope to ask for, so the challenge
/// names none (RFC 6750, section 3.1).
fn not_mapped_problem() -> Problem {
    let detail = "no rule of TRUSTED_ISSUERS matches the access token's claims";
    let challenge = "Bearer realm=\"quillgate\", error=\"insufficient_scope\"";
    Problem::new(ProblemKind::IdentityNotMapped, detail).with_header("www-authenticate", challenge)
}

impl Rule {
    /// Whether the rule admits a token. One that lacks a claim which tells callers apart is not
    /// admitted: nobody could say whose it is.
    fn admits(&self, claims: &Map<String, Value>) -> bool {
        let has = |name: &String| claims.get(name).is_some_and(is_plain);
        self.claims.match_token(claims) && self.caller.iter().all(has)
    }

    /// The quota of each caller, and the quota of all callers of the rule together.
    ///
    /// A workflow chooses its subject, so a quota for each subject would limit nothing. Without
    /// `caller`, the quota therefore counts all callers together, except for policies with a ceiling.
    fn quotas(&self) -> (Quota, Quota) {
        if !self.caller.is_empty() {
            return (self.quota, self.ceiling);
        }
        let together = self.quota.without(self.ceiling);
        (self.quota.without(together), self.ceiling.lower(together))
    }

    /// The claims that tell the caller of an admitted token from others, as JSON; `None` when its
    /// subject does.
    fn caller_claims(&self, claims: &Map<String, Value>) -> Option<String> {
        if self.caller.is_empty() {
            return None;
        }
        // One by one: collected, they would be sorted first, by three kilobytes of code.
        let mut own = Map::new();
        for name in &self.caller {
            if let Some(value) = claims.get(name) {
                own.insert(name.clone(), value.clone());
            }
        }
        Some(json::to_text(&Value::Object(own)))
    }
}

impl ExpectedClaims {
    /// A claim with its only accepted value.
    #[must_use]
    pub fn one(name: &str, value: String) -> Self {
        Self(vec![(name.to_owned(), vec![Value::String(value)])])
    }

    /// Reads claims, each with a text, an integer, a boolean or a list of these.
    ///
    /// `None` for anything else, and when there is none: that would be every token.
    #[must_use]
    pub fn read(claims: Map<String, Value>) -> Option<Self> {
        let claims: Option<Vec<_>> = claims.into_iter().map(read_claim).collect();
        claims.filter(|claims| !claims.is_empty()).map(Self)
    }

    /// Whether a token has each claim with one of its values: exactly the same text, integer or
    /// boolean. Of a list, one element has to be equal.
    #[must_use]
    pub fn match_token(&self, claims: &Map<String, Value>) -> bool {
        self.0
            .iter()
            .all(|(name, expected)| match claims.get(name) {
                Some(Value::Array(held)) => held.iter().any(|one| expected.contains(one)),
                Some(held) => expected.contains(held),
                None => false,
            })
    }
}

/// Reads `TRUSTED_ISSUERS`: a JSON list of issuers, each with the members `issuer`, `audience`
/// (one or a list), `jwks`, `rules` and optionally `header`; each rule has `claims`, `projects`,
/// `scope` and optionally `quota`, `caller` and `ceiling`.
///
/// # Errors
/// The rule that is broken, in words that follow the variable's name. Unknown and duplicate
/// members are refused: a misspelt rule must not silently grant or deny anything.
pub fn read_trusted_issuers(json: &str) -> Result<Vec<TrustedIssuer>, &'static str> {
    let Some(Value::Array(items)) = json::parse(json.as_bytes()) else {
        return Err("must be a JSON list of issuers without duplicate members");
    };
    let mut issuers: Vec<TrustedIssuer> = Vec::new();
    for item in items {
        let issuer = read_issuer(item)?;
        let same =
            |other: &TrustedIssuer| other.issuer == issuer.issuer && other.source == issuer.source;
        if issuers.iter().any(same) {
            return Err("must have each issuer once for each header");
        }
        issuers.push(issuer);
    }
    Ok(issuers)
}

fn read_issuer(item: Value) -> Result<TrustedIssuer, &'static str> {
    const MEMBERS: &str = "must have issuers with the members issuer, audience, jwks, rules and optionally header, and no others";
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
    let audiences = read_one_or_more(audience).filter(|audiences| {
        !audiences.is_empty() && audiences.iter().all(|audience| !audience.is_empty())
    });
    if !is_secure_url(&jwks) {
        return Err(
            "must have in jwks an https URL, or http on this machine, without credentials or fragment",
        );
    }
    let rules = rules.into_iter().map(|rule| read_rule(rule, &name));
    Ok(TrustedIssuer {
        rules: rules.collect::<Result<_, _>>()?,
        issuer: name,
        audiences: audiences.ok_or("must have in audience a string or a list of strings")?,
        jwks,
        source: read_source(header)?,
    })
}

/// The gateway's own name is refused whatever its case, so that no log can be misread.
fn is_issuer(name: &str) -> bool {
    let visible = name.bytes().all(|byte| byte.is_ascii_graphic());
    let fits = (1..=LONGEST_ISSUER).contains(&name.len());
    visible && fits && !name.eq_ignore_ascii_case(ISSUER)
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

fn read_rule(item: Value, issuer: &str) -> Result<Rule, &'static str> {
    const MEMBERS: &str = "must have rules with the members claims, projects, scope and optionally quota, caller and ceiling, and no others";
    let Value::Object(mut members) = item else {
        return Err(MEMBERS);
    };
    let claims = members.remove("claims").ok_or(MEMBERS)?;
    let name = fingerprint(&[issuer, &json::to_text(&claims)]);
    let Value::Object(claims) = claims else {
        return Err(MEMBERS);
    };
    let projects = members
        .remove("projects")
        .and_then(json::into_strings)
        .ok_or(MEMBERS)?;
    let scope = take_text(&mut members, "scope").ok_or(MEMBERS)?;
    let quota = members.remove("quota");
    let ceiling = members.remove("ceiling");
    let caller = members.remove("caller");
    if !members.is_empty() {
        return Err(MEMBERS);
    }
    Ok(Rule {
        claims: ExpectedClaims::read(claims).ok_or(
            "must have in claims at least one claim, each with a string, an integer, a boolean or a list of these",
        )?,
        grant: read_grant(projects, &scope)?,
        quota: read_quota(quota).ok_or(
            "must have in quota an integer, or integers for create-job, send-message, analytics or read-jobs",
        )?,
        caller: read_caller(caller).ok_or("must have in caller a list of names of claims")?,
        ceiling: read_quota(ceiling).ok_or(
            "must have in ceiling an integer, or integers for create-job, send-message, analytics or read-jobs",
        )?,
        name: ["", "", &name].join(" "),
    })
}

fn read_quota(quota: Option<Value>) -> Option<Quota> {
    quota.map_or(Some(Quota::default()), |quota| Quota::read(&quota))
}

fn read_caller(names: Option<Value>) -> Option<Vec<String>> {
    let Some(names) = names else {
        return Some(Vec::new());
    };
    let names = json::into_strings(names)?;
    (!names.is_empty() && names.iter().all(|name| !name.is_empty())).then_some(names)
}

fn read_claim((name, value): (String, Value)) -> Option<(String, Vec<Value>)> {
    let values = match value {
        Value::Array(values) => values,
        one => vec![one],
    };
    (!values.is_empty() && values.iter().all(is_plain)).then_some((name, values))
}

/// Whether it is a text, a boolean or an integer.
fn is_plain(value: &Value) -> bool {
    value.is_string() || value.is_boolean() || value.is_u64() || value.is_i64()
}

/// A rule that grants nothing is a mistake, and so is a scope that nothing needs.
fn read_grant(projects: Vec<String>, scope: &str) -> Result<Grant, &'static str> {
    let grant = Grant::new(projects, scope);
    let is_known = |scope: &String| Scope::ALL.iter().any(|known| known.as_str() == scope);
    if grant.scopes.is_empty() || !grant.scopes.iter().all(is_known) {
        return Err(
            "must have in scope some of jobs:create, jobs:read, analytics:read, analytics:conversations and gateway:operate, separated by spaces",
        );
    }
    let operates_only = grant.scopes.iter().all(|scope| scope == OPERATE);
    if grant.projects.iter().any(String::is_empty) || (grant.projects.is_empty() && !operates_only)
    {
        return Err("must have in projects the ids of projects");
    }
    Ok(grant)
}
