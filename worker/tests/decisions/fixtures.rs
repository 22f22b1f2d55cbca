use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use quillgate::{Millis, ProjectId};
use quillgate_worker::app::admission::{self, Admission, Facts};
use quillgate_worker::app::config::Config;
use quillgate_worker::app::routes::Endpoint;
use quillgate_worker::auth::auth_settings::AuthSettings;
use quillgate_worker::auth::caller::Caller;
use quillgate_worker::auth::revocation::RevokedTokens;
use quillgate_worker::auth::session::cookie::Cookie;
use quillgate_worker::auth::{Credentials, Evidence, Identity, VerifiedTokens, identify};
use quillgate_worker::budget::read_budget::ReadBudget;
use quillgate_worker::http::problem::Problem;
use quillgate_worker::http::request_head;
use quillgate_worker::http::route::join_methods;
use serde_json::{Value, json};
use sha2::Sha256;

/// The Unix time of the tests in seconds. [`NOW`] is the same time in milliseconds.
pub const SECONDS: u64 = 1_750_000_000;
pub const NOW: Millis = Millis(SECONDS * 1000);
pub const SECRET: &str = "a-secret-of-the-gateway-of-40-characters";
pub const ADMIN_KEY: &str = "mint_an_admin_key_that_is_shown_nowhere";
pub const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;
pub const RS256_HEADER: &str = r#"{"alg":"RS256","kid":"key-1"}"#;
pub const MALFORMED: &str = "the access token is not a signed JWT";
pub const INCOMPLETE: &str = "the access token's claims are not complete";
pub const WRONG_SIGNATURE: &str = "the access token's signature is wrong";
pub const UNKNOWN_KIND: &str = "the access token is of an unknown kind";
pub const OTHER_ISSUER: &str = "the access token is from another issuer";
pub const NOT_YET: &str = "the access token is not valid yet";
pub const EXPIRED: &str = "the access token has expired";
pub const DAY: u64 = 86_400;

pub fn at(seconds: u64) -> Millis {
    NOW.plus(Millis::from_seconds(seconds))
}

pub fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub fn hmac(signed: &str, secret: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(signed.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

/// Returns a token with `header` and `claims` verbatim, signed with HMAC-SHA-256 and `secret`.
pub fn sign_token(header: &str, claims: &str, secret: &str) -> String {
    let signed = format!("{}.{}", encode(header), encode(claims));
    let signature = encode(hmac(&signed, secret));
    format!("{signed}.{signature}")
}

pub fn claims() -> Value {
    json!({
        "iss": "quillgate",
        "sub": "alice",
        "projects": ["demo-docs", "other docs"],
        "scope": "jobs:create jobs:read analytics:read",
        "iat": SECONDS,
        "exp": SECONDS + 3600,
    })
}

pub fn each(mut array: Value) -> Vec<Value> {
    std::mem::take(array.as_array_mut().unwrap())
}

/// Returns [`claims`] with the claim `name` set to `value`. `None` removes the claim.
pub fn claims_with(name: &str, value: Option<Value>) -> Value {
    change(claims(), name, value)
}

/// Returns `object` with the property `name` set to `value`. `None` removes the property.
pub fn change(mut object: Value, name: &str, value: Option<Value>) -> Value {
    let members = object.as_object_mut().unwrap();
    match value {
        Some(value) => members.insert(name.to_owned(), value),
        None => members.remove(name),
    };
    object
}

/// Returns `object` with the properties of `changes`.
pub fn merge(mut object: Value, changes: &Value) -> Value {
    for (name, value) in changes.as_object().unwrap() {
        object[name] = value.clone();
    }
    object
}

pub fn token(claims: &Value) -> String {
    sign_token(HEADER, &claims.to_string(), SECRET)
}

pub fn bearer() -> String {
    bearer_of(&claims())
}

/// Returns the `Authorization` value for a gateway token with `claims`.
pub fn bearer_of(claims: &Value) -> String {
    format!("Bearer {}", token(claims))
}

/// Returns a trusted issuer's token with `header` and `claims` verbatim and a placeholder signature.
pub fn issuer_token(header: &str, claims: &str) -> String {
    let length = if header.contains("ES256") { 64 } else { 256 };
    let signature = encode(vec![7; length]);
    format!("{}.{}.{signature}", encode(header), encode(claims))
}

/// Returns an entry of `TRUSTED_ISSUERS` for `https://{name}.example`.
pub fn trusted_issuer(name: &str, rules: &Value) -> Value {
    let issuer = format!("https://{name}.example");
    let jwks = format!("{issuer}/jwks");
    json!({ "issuer": issuer, "audience": "quillgate", "jwks": jwks, "rules": rules })
}

/// Like [`trusted_issuer`], for tokens in `Cf-Access-Jwt-Assertion`.
pub fn access_issuer(name: &str, rules: &Value) -> Value {
    let header = json!("Cf-Access-Jwt-Assertion");
    change(trusted_issuer(name, rules), "header", Some(header))
}

/// Returns a token of a [`trusted_issuer`] about `bob` with further claims.
pub fn token_of_issuer(name: &str, claims: &Value) -> String {
    let issuer = format!("https://{name}.example");
    let all = json!({ "iss": issuer, "aud": "quillgate", "sub": "bob", "exp": SECONDS + 300 });
    issuer_token(RS256_HEADER, &merge(all, claims).to_string())
}

/// Returns an RSA modulus of `bits` bits, as base64url.
pub fn modulus(bits: usize) -> String {
    let mut bytes = vec![0xab; bits.div_ceil(8)];
    bytes[0] = 0xff >> ((8 - bits % 8) % 8);
    encode(bytes)
}

/// Returns an RSA JWK with the key id `key-1` and the properties that GitHub publishes.
pub fn rsa_key() -> Value {
    json!({
        "kty": "RSA", "alg": "RS256", "use": "sig", "kid": "key-1", "e": "AQAB",
        "n": modulus(2048), "x5c": ["MIIB"], "x5t": "a-thumbprint",
    })
}

/// Returns a P-256 JWK with the key id `key-2`.
pub fn ec_key() -> Value {
    json!({
        "kty": "EC", "crv": "P-256", "kid": "key-2", "use": "sig", "alg": "ES256",
        "x": encode([1; 32]), "y": encode([2; 32]),
    })
}

pub fn key_set(keys: &[Value]) -> String {
    json!({ "keys": keys }).to_string()
}

pub const fn in_authorization(authorization: &str) -> Credentials<'_> {
    Credentials {
        authorization: Some(authorization),
        session: Cookie::Missing,
        access_assertion: None,
    }
}

pub const fn in_assertion(token: &str) -> Credentials<'_> {
    Credentials {
        authorization: None,
        session: Cookie::Missing,
        access_assertion: Some(token),
    }
}

/// Returns the caller of a gateway token, which is the same with and without the cache.
pub fn identify_own(config: &Config, authorization: Option<&str>) -> Result<Rc<Caller>, Problem> {
    let credentials = Credentials {
        authorization,
        session: Cookie::Missing,
        access_assertion: None,
    };
    let mut verified = VerifiedTokens::default();
    let mut show = || identify(&credentials, &config.auth, NOW, &mut verified);
    let first = show();
    assert_eq!(show(), first);
    match first? {
        Identity::Known(caller) => Ok(caller),
        other => panic!("not one of the gateway's own: {other:?}"),
    }
}

/// Returns the caller of a token, as if the host had verified the signature.
pub fn identify_signed(
    credentials: &Credentials<'_>,
    settings: &AuthSettings,
    now: Millis,
    verified: &mut VerifiedTokens,
) -> Result<Rc<Caller>, Problem> {
    match identify(credentials, settings, now, verified)? {
        Identity::Known(caller) => Ok(caller),
        Identity::Unverified(token) => {
            Ok(verified.remember(token.into_verified(&settings.revoked)?, now))
        }
        Identity::Session(id) => panic!("a session: {id:?}"),
    }
}

#[derive(Debug)]
pub struct Outcome {
    pub facts: Facts,
    pub result: Result<Admission, Problem>,
}

impl Outcome {
    /// Returns the endpoint of an admitted request.
    #[track_caller]
    pub fn endpoint(self) -> Result<Endpoint, Problem> {
        self.result.map(|admission| match admission {
            Admission::Admitted(endpoint) => endpoint,
            other => panic!("not admitted: {other:?}"),
        })
    }

    /// Returns the project that the caller may use.
    pub fn project(&self) -> Option<&str> {
        self.facts.project.as_ref().map(ProjectId::as_str)
    }

    /// Returns the methods that a response to `OPTIONS` names.
    #[track_caller]
    pub fn allowed_methods(&self) -> String {
        match &self.result {
            Ok(Admission::Preflight(methods)) => join_methods(methods),
            other => panic!("no preflight: {other:?}"),
        }
    }
}

/// Admits a request up to the identification of its caller.
pub fn admit(config: &Config, head: &RequestHead<'_>) -> Outcome {
    let mut facts = Facts::default();
    let state = (&mut VerifiedTokens::default(), &mut ReadBudget::default());
    let result = admission::admit(config, &head.read(), NOW, None, state, &mut facts);
    Outcome { facts, result }
}

/// Admits a request as if all signatures were valid. `record` is that of a session, unless it ended.
pub fn admit_identified(config: &Config, head: &RequestHead<'_>, record: Option<&str>) -> Outcome {
    admit_counted(config, head, record, &mut ReadBudget::default())
}

/// Admits a request like [`admit_identified`], and counts it in `reads`.
pub fn admit_counted(
    config: &Config,
    head: &RequestHead<'_>,
    record: Option<&str>,
    reads: &mut ReadBudget,
) -> Outcome {
    let (mut verified, mut facts) = (VerifiedTokens::default(), Facts::default());
    let mut evidence = None;
    for _ in 0..3 {
        let state = (&mut verified, &mut *reads);
        let shown = evidence.take();
        let result = admission::admit(config, &head.read(), NOW, shown, state, &mut facts);
        evidence = match result {
            Ok(Admission::Unidentified(Identity::Session(_))) => {
                Some(Evidence::Record(record.map(str::to_owned)))
            }
            Ok(Admission::Unidentified(Identity::Unverified(token))) => {
                match token.into_verified(&config.auth.revoked) {
                    Ok(token) => Some(Evidence::Caller(verified.remember(token, NOW))),
                    Err(problem) => {
                        let result = Err(problem);
                        return Outcome { facts, result };
                    }
                }
            }
            result => return Outcome { facts, result },
        };
    }
    panic!("not identified: {evidence:?}");
}

/// Returns the caller of a gateway token, with the default configuration.
pub fn verify(token: &str) -> Result<Rc<Caller>, Problem> {
    identify_own(&configuration(), Some(&format!("Bearer {token}")))
}

#[track_caller]
pub fn assert_accepted(token: &str) -> Rc<Caller> {
    verify(token).unwrap()
}

/// Checks that a problem is the 401 for an invalid token, and that `reason` is its detail.
#[track_caller]
pub fn assert_invalid_token(problem: &Problem, reason: &str) {
    assert_eq!(summarize(problem), "401 invalid-token");
    assert_eq!(problem.detail, reason);
    let challenge = "Bearer realm=\"quillgate\", error=\"invalid_token\"";
    let expected = [("www-authenticate", challenge.to_owned())];
    assert_eq!(problem.headers, expected);
}

/// A predicate that tests apply to lists of strings.
pub trait Predicate: Fn(&str) -> bool {
    #[track_caller]
    fn accepts(&self, texts: &[impl AsRef<str>]) {
        for text in texts.iter().map(AsRef::as_ref) {
            assert!(self(text), "{text:?}");
        }
    }

    #[track_caller]
    fn rejects(&self, texts: &[impl AsRef<str>]) {
        for text in texts.iter().map(AsRef::as_ref) {
            assert!(!self(text), "{text:?}");
        }
    }
}

impl<F: Fn(&str) -> bool> Predicate for F {}

/// Returns the variables of a valid configuration. `changes` sets or unsets some of them.
pub fn variables(changes: &[(&str, Option<&str>)]) -> impl Fn(&str) -> Option<String> {
    move |name| {
        if let Some((_, value)) = changes.iter().find(|(changed, _)| *changed == name) {
            return value.map(str::to_owned);
        }
        let value = match name {
            "ADMIN_API_KEY" => ADMIN_KEY,
            "ACCESS_TOKEN_SECRET" => SECRET,
            "UPSTREAM_BASE_URL" => "https://api.example",
            "ALLOWED_ORIGINS" => "https://docs.example, http://localhost:5173",
            _ => return None,
        };
        Some(value.to_owned())
    }
}

pub fn configuration() -> Config {
    configure(&[])
}

/// Returns a valid configuration in which `changes` sets or unsets some variables.
#[track_caller]
pub fn configure(changes: &[(&str, Option<&str>)]) -> Config {
    let config = Config::read(variables(changes));
    config.map_err(|error| error.to_string()).unwrap()
}

pub fn to_json(problem: &Problem) -> Value {
    parse_json(&problem.to_json("an-id"))
}

pub fn parse_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Returns the status and the kind of a problem, such as `403 cross-site`.
pub fn summarize(problem: &Problem) -> String {
    format!("{} {}", problem.status, problem.kind.as_str())
}

/// Returns the value of a header field.
pub fn header<'a>(headers: &'a [(&str, String)], name: &str) -> Option<&'a str> {
    let found = headers.iter().find(|(other, _)| *other == name);
    found.map(|(_, value)| value.as_str())
}

/// Returns the field and the rule in the `errors` of a validation problem with one error.
#[track_caller]
pub fn field_and_rule(problem: &Problem) -> [String; 2] {
    assert_eq!(summarize(problem), "400 invalid-request", "{problem:?}");
    let json = to_json(problem);
    assert_eq!(json["type"], "/problems/invalid-request", "{json}");
    let items = json["errors"].as_array().unwrap();
    assert_eq!(items.len(), 1);
    ["field", "rule"].map(|name| items[0][name].as_str().unwrap().to_owned())
}

/// Returns the revocations in `list`, the `REVOKED_TOKENS` of a gateway without trusted issuers.
pub fn revoked(list: &Value) -> RevokedTokens {
    let variable = |name: &str| (name == "REVOKED_TOKENS").then(|| list.to_string());
    RevokedTokens::read(variable).unwrap()
}

/// A request head with the values that tests can set. Other header fields are absent.
#[derive(Debug, Clone, Copy, Default)]
pub struct RequestHead<'a> {
    pub method: &'a str,
    pub url: &'a str,
    pub authorization: Option<&'a str>,
    pub access_assertion: Option<&'a str>,
    pub origin: Option<&'a str>,
    pub content_type: Option<&'a str>,
    pub content_length: Option<&'a str>,
    pub fetch_site: Option<&'a str>,
    pub cookie: Option<&'a str>,
}

macro_rules! setters {
    ($($name:ident: $type:ty,)*) => {
        impl<'a> RequestHead<'a> {
            $(pub fn $name(self, $name: impl Into<$type>) -> Self {
                Self { $name: $name.into(), ..self }
            })*
        }
    };
}

setters! {
    method: &'a str,
    authorization: Option<&'a str>,
    access_assertion: Option<&'a str>,
    origin: Option<&'a str>,
    content_type: Option<&'a str>,
    content_length: Option<&'a str>,
    fetch_site: Option<&'a str>,
    cookie: Option<&'a str>,
}

impl<'a> RequestHead<'a> {
    pub fn new(method: &'a str, url: &'a str) -> Self {
        Self {
            method,
            url,
            ..Self::default()
        }
    }

    /// Returns the request head that the Worker uses, with the same values.
    pub fn read(&self) -> request_head::RequestHead {
        let fields = [
            ("authorization", self.authorization),
            ("cf-access-jwt-assertion", self.access_assertion),
            ("origin", self.origin),
            ("content-type", self.content_type),
            ("content-length", self.content_length),
            ("sec-fetch-site", self.fetch_site),
            ("cookie", self.cookie),
        ];
        let fields = fields.into_iter();
        let headers = fields.filter_map(|(name, value)| Some((name, value?.to_owned())));
        let (method, url) = (self.method.to_owned(), self.url.to_owned());
        request_head::RequestHead::read("uuid".to_owned(), method, url, headers.collect())
    }
}
