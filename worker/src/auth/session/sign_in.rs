//! Sign-in at an issuer: the authorization code flow of `OpenID` Connect with PKCE (RFC 6749,
//! section 4.1; RFC 7636). Each sign-in has its own cookie, so that several tabs can sign in
//! concurrently. `state`, the PKCE verifier and `nonce` are derived from the whole cookie with a
//! secret key, so the callback rejects a modified cookie.

use std::cmp::Reverse;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quillgate::Millis;
use quillgate::encode::percent_encode;
use sha2::{Digest, Sha256};

use crate::auth::auth_settings::AuthSettings;
use crate::auth::jwt::take_text;
use crate::auth::session::cookie::{
    Cookie, RANDOM_BYTES, SameSite, SessionId, clear_cookie, find_cookie, read_cookies,
    write_cookie,
};
use crate::auth::sign_in_issuer::SignInIssuer;
use crate::hash::{KEY_BYTES, derive_key, fingerprint, hmac_sha256, verify_hmac_sha256};
use crate::http::gateway_rule::GatewayRule;
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::request_head::{RequestHead, accepts_page};
use crate::http::response::{GatewayResponse, HeaderFields};
use crate::http::url::{decode_percent, decode_query, find_parameter, origin_of};
use crate::json;

pub const CALLBACK: &str = "/session/callback";
pub const START: &str = "/session/start";
const NAME_PREFIX: &str = "__Host-quillgate-sign-in-";
/// Per browser. Another sign-in replaces the oldest.
const MAX_STARTED: usize = 5;
const LIFETIME: Millis = Millis::from_seconds(600);
/// Browsers limit the length of cookies.
const MAX_RETURN_BYTES: usize = 1_024;
const MAX_CODE_BYTES: usize = 4_096;

/// `before`, the browser's session, ends when the sign-in succeeds.
pub fn begin(
    settings: &AuthSettings,
    head: &RequestHead,
    before: Option<&SessionId>,
    random: &[u8; RANDOM_BYTES],
    now: Millis,
) -> Result<HeaderFields, Problem> {
    let query = head.query.as_deref();
    let name = read_parameter(query, "issuer").ok_or_else(Problem::not_found)?;
    let issuer = find_issuer(settings, &name).ok_or_else(Problem::not_found)?;
    let seed = [
        URL_SAFE_NO_PAD.encode(random),
        now.plus(LIFETIME).0.to_string(),
        URL_SAFE_NO_PAD.encode(name),
        URL_SAFE_NO_PAD.encode(read_return_path(query)?),
        before.map_or("", SessionId::as_str).to_owned(),
    ]
    .join(".");
    // `AuthSettings::read` guarantees at least one secret, so the empty default is never used.
    let key = derive_keys(settings).next().unwrap_or_default();
    let secret = |purpose| derive_text(&key, purpose, &seed);
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(secret(VERIFIER)));
    let state = secret(STATE);
    let parameters = write_pairs(&[
        ("response_type", "code"),
        ("client_id", &issuer.client_id),
        ("redirect_uri", &callback_of(&head.url)),
        ("scope", &issuer.scope),
        ("state", &state),
        ("nonce", &secret(NONCE)),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
    ]);
    let endpoint = issuer.authorization_endpoint.as_str();
    let separator = if endpoint.contains('?') { "&" } else { "?" };
    // `SameSite=Lax` lets browsers send the cookie with the issuer's redirect from another site.
    let cookie = write_cookie(&name_cookie(&state), &seed, SameSite::Lax, LIFETIME);
    let mut headers = HeaderFields::default()
        .with("location", format!("{endpoint}{separator}{parameters}"))
        .with_cookie(cookie);
    for name in find_oldest(head.header("cookie")) {
        headers = headers.with_cookie(clear_cookie(name));
    }
    Ok(headers)
}

fn find_issuer<'a>(settings: &'a AuthSettings, name: &str) -> Option<&'a SignInIssuer> {
    let mut issuers = settings.sign_in_issuers.iter();
    issuers.find(|issuer| issuer.name == name)
}

fn name_cookie(state: &str) -> String {
    format!("{NAME_PREFIX}{}", fingerprint(&["sign-in cookie", state]))
}

fn find_oldest(cookies: Option<&str>) -> impl Iterator<Item = &str> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let mut started: Vec<_> = read_cookies(cookies)
        .filter(|(name, _)| name.starts_with(NAME_PREFIX) && name.bytes().all(is_name))
        .map(|(name, seed)| (read_end(seed), name))
        .collect();
    started.sort_unstable_by(|a, b| b.cmp(a));
    let oldest = started.into_iter().skip(MAX_STARTED - 1);
    oldest.map(|(_, name)| name)
}

/// A malformed cookie has ended.
fn read_end(seed: &str) -> Millis {
    let end = seed.split('.').nth(1).and_then(|end| end.parse().ok());
    Millis(end.unwrap_or(0))
}

fn read_return_path(query: Option<&str>) -> Result<String, Problem> {
    let Some(path) = find_parameter(query, "return") else {
        return Ok("/".to_owned());
    };
    match decode_percent(path) {
        Some(path) if is_own_path(&path) => Ok(shorten(path)),
        _ => {
            let detail = "return must be a path of the gateway's own page, such as /?route=views";
            Err(Problem::field("return", GatewayRule::ReturnPath, detail))
        }
    }
}

/// Browsers resolve `//host` and `/\host` to another host, and remove tabs and line breaks.
fn is_own_path(path: &str) -> bool {
    let visible = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
    path.starts_with('/') && !path.starts_with("//") && path.bytes().all(visible)
}

/// Removes the longest query parameters, which only arrange a route, such as the list of open
/// folders.
fn shorten(path: String) -> String {
    if path.len() <= MAX_RETURN_BYTES {
        return path;
    }
    let (page, query) = path.split_once('?').unwrap_or((&path, ""));
    if page.len() > MAX_RETURN_BYTES {
        return "/".to_owned();
    }
    let mut pairs: Vec<&str> = query.split('&').collect();
    let mut longest: Vec<usize> = (0..pairs.len()).collect();
    longest.sort_unstable_by_key(|index| Reverse(pairs[*index].len()));
    let mut length = path.len();
    for index in longest {
        if length <= MAX_RETURN_BYTES {
            break;
        }
        length -= pairs[index].len() + 1;
        pairs[index] = "";
    }
    pairs.retain(|pair| !pair.is_empty());
    let separator = if pairs.is_empty() { "" } else { "?" };
    [page, separator, &pairs.join("&")].concat()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callback<'a> {
    pub issuer: &'a SignInIssuer,
    /// The Durable Object that marks the sign-in as used.
    pub name: String,
    /// Of the sign-in and its mark.
    pub ends: Millis,
    pub nonce: String,
    /// The browser's session when the sign-in began. The issuer's redirect omits its
    /// `SameSite=Strict` cookie.
    pub before: Option<String>,
    pub return_path: String,
    pub cleared_cookie: String,
    pub body: String,
}

/// 400 if this browser did not begin the sign-in, if it has expired, or if the issuer did not sign
/// the user in.
pub fn read_callback<'a>(
    settings: &'a AuthSettings,
    head: &RequestHead,
    now: Millis,
) -> Result<Callback<'a>, Problem> {
    const UNKNOWN: &str = "this browser has not begun this sign-in, or too long ago; begin again";
    let failed = || failed_problem(UNKNOWN);
    let query = head.query.as_deref();
    let state = read_parameter(query, "state").ok_or_else(failed)?;
    let cookie = name_cookie(&state);
    let Cookie::One(seed) = find_cookie(head.header("cookie"), &cookie) else {
        return Err(failed());
    };
    let tag = URL_SAFE_NO_PAD.decode(&state).map_err(|_| failed())?;
    let key = derive_keys(settings)
        .find(|key| verify_hmac_sha256(key, &[STATE, seed.as_bytes()], &tag))
        .ok_or_else(failed)?;
    let ends = read_end(seed);
    let mut parts = seed.split('.').skip(2);
    let mut next = || parts.next().unwrap_or("");
    let (name, return_path) = (decode_text(next()), decode_text(next()));
    let before = Some(next()).filter(|before| !before.is_empty());
    let issuer = name.and_then(|name| find_issuer(settings, &name));
    let (Some(issuer), Some(return_path), true) = (issuer, return_path, now < ends) else {
        return Err(failed());
    };
    // An issuer can identify itself in `iss` (RFC 9207).
    let other = read_parameter(query, "iss").is_some_and(|iss| iss != issuer.issuer);
    let code = read_parameter(query, "code").filter(|code| code.len() <= MAX_CODE_BYTES);
    let (Some(code), false) = (code, other) else {
        return Err(failed_problem("the issuer has not signed anybody in"));
    };
    let (redirect_uri, verifier) = (callback_of(&head.url), derive_text(&key, VERIFIER, seed));
    let mut fields = vec![
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("client_id", &issuer.client_id),
        ("redirect_uri", &redirect_uri),
        ("code_verifier", &verifier),
    ];
    if let Some(secret) = &issuer.secret {
        fields.push(("client_secret", secret));
    }
    Ok(Callback {
        name: fingerprint(&["sign-in", &state]),
        ends,
        nonce: derive_text(&key, NONCE, seed),
        before: before.map(str::to_owned),
        return_path,
        cleared_cookie: clear_cookie(&cookie),
        body: write_pairs(&fields),
        issuer,
    })
}

/// `OpenID` Connect Core, section 3.1.3.3. Returns 400 for a 4xx other than 429, unless the issuer
/// rejects the gateway as a client, and otherwise 503.
pub fn read_token_response(
    issuer: &SignInIssuer,
    response: Option<(u16, Option<&str>)>,
) -> Result<String, Problem> {
    let message = |reason: &str| format!("the token endpoint of {} {reason}", issuer.name);
    let failed = |reason: &str| {
        let detail = "the issuer cannot complete the sign-in right now";
        Problem::new(ProblemKind::IssuerUnavailable, detail)
            .with_header("retry-after", "60")
            .with_operator(message(reason))
    };
    let Some((status, body)) = response else {
        return Err(failed("did not respond"));
    };
    let body = body.and_then(|body| json::parse_map(body.as_bytes()));
    let mut members = body.unwrap_or_default();
    if (200..=299).contains(&status) {
        let token = take_text(&mut members, "id_token");
        return token.ok_or_else(|| failed("returned no ID token"));
    }
    // For an unknown client, issuers may respond 400 instead of 401 (RFC 6749, section 5.2).
    let error = take_text(&mut members, "error");
    let is_client_rejected = status == 401
        || matches!(
            error.as_deref(),
            Some("invalid_client" | "unauthorized_client")
        );
    if is_client_rejected {
        return Err(failed(
            "does not accept the gateway as a client: check `clientId` in SIGN_IN_ISSUERS and \
             SIGN_IN_CLIENT_SECRET",
        ));
    }
    let reason = format!("responded with {status}");
    if (400..=499).contains(&status) && status != 429 {
        let problem = failed_problem("the issuer has not accepted the code");
        return Err(problem.with_operator(message(&reason)));
    }
    Err(failed(&reason))
}

/// A person would see the JSON of a problem.
pub fn is_navigation(head: &RequestHead) -> bool {
    matches!(&*head.path, START | CALLBACK)
        && (accepts_page(head.header("accept"))
            || head.header("sec-fetch-mode") == Some("navigate"))
}

/// The page explains a failed sign-in.
pub fn redirect_after_failure(kind: ProblemKind) -> GatewayResponse {
    let location = format!("/?sign-in-failed={}", kind.as_str());
    GatewayResponse {
        headers: HeaderFields::default().with("location", location),
        problem: Some(kind),
        ..GatewayResponse::empty(303)
    }
}

pub fn failed_problem(detail: &str) -> Problem {
    Problem::new(ProblemKind::SignInFailed, detail)
}

// Prefixes of the HMAC input, by which values that derive from the same cookie differ.
const STATE: &[u8] = b"state ";
const VERIFIER: &[u8] = b"verifier ";
const NONCE: &[u8] = b"nonce ";

fn derive_keys(settings: &AuthSettings) -> impl Iterator<Item = [u8; KEY_BYTES]> {
    let secrets = settings.token_secrets.iter();
    secrets.map(|secret| derive_key(secret, b"quillgate sign-in"))
}

fn derive_text(key: &[u8], purpose: &[u8], seed: &str) -> String {
    URL_SAFE_NO_PAD.encode(hmac_sha256(key, &[purpose, seed.as_bytes()]))
}

fn decode_text(encoded: &str) -> Option<String> {
    String::from_utf8(URL_SAFE_NO_PAD.decode(encoded).ok()?).ok()
}

fn callback_of(url: &str) -> String {
    format!("{}{CALLBACK}", origin_of(url))
}

/// Returns `None` if the parameter is missing, empty or malformed.
fn read_parameter(query: Option<&str>, name: &str) -> Option<String> {
    let value = decode_query(find_parameter(query, name)?)?;
    (!value.is_empty()).then_some(value)
}

fn write_pairs(pairs: &[(&str, &str)]) -> String {
    let write = |(name, value): &(&str, &str)| format!("{name}={}", percent_encode(value));
    pairs.iter().map(write).collect::<Vec<_>>().join("&")
}
