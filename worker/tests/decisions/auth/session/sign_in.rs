//! Sign-in at an issuer. The gateway redirects the browser to the issuer, checks the callback, and
//! reads the ID token from the token response.

use std::collections::BTreeMap;

use quillgate::Millis;
use quillgate_worker::app::config::Config;
use quillgate_worker::auth::session::cookie::SessionId;
use quillgate_worker::auth::session::sign_in::{
    Callback, begin, failure_path, read_callback, read_token_response,
};
use quillgate_worker::http::problem::Problem;
use quillgate_worker::http::problem_kind::ProblemKind;
use quillgate_worker::http::request_head;
use quillgate_worker::http::response::HeaderFields;
use quillgate_worker::http::url::{decode_percent, split_url};
use sha2::{Digest, Sha256};

use super::{ISSUERS, SIGN_IN, signing_in};
use crate::fixtures::{
    NOW, RequestHead, SECRET, at, configure, encode, field_and_rule, status_and_kind, variables,
};

fn pairs(text: &str) -> BTreeMap<String, String> {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap();
        (name.to_owned(), decode_percent(value).unwrap())
    };
    text.split('&').map(pair).collect()
}

fn head(url: &str, cookie: Option<&str>) -> request_head::RequestHead {
    let head = RequestHead {
        method: "GET",
        url,
        cookie,
        ..RequestHead::default()
    };
    head.read()
}

/// Completes a sign-in that started with `query`. Returns the path to which the gateway then
/// redirects the browser.
fn sign_in(query: &str) -> Result<String, Problem> {
    let browser = Browser::of(&begin_in(query, 1, None)?);
    let config = signing_in();
    let callback = browser.come_back(&browser.answer(), &config, NOW);
    Ok(callback.unwrap().return_path)
}

/// Starts a sign-in, in which every random byte is `seed`. Returns the header fields of the
/// redirect to the issuer. `before` is the browser's current session.
fn begin_in(query: &str, seed: u8, before: Option<&SessionId>) -> Result<HeaderFields, Problem> {
    let url = format!("https://gate.example/session/start?{query}");
    begin(
        &signing_in().auth,
        &head(&url, None),
        before,
        &[seed; 32],
        NOW,
    )
}

/// A browser that has started a sign-in: its cookie and the parameters sent to the issuer.
struct Browser {
    cookie: String,
    sent: BTreeMap<String, String>,
}

impl Browser {
    fn new(query: &str, seed: u8) -> Self {
        Self::of(&begin_in(query, seed, None).unwrap())
    }

    fn of(redirect: &HeaderFields) -> Self {
        let cookie = redirect.get("set-cookie").unwrap();
        let location = redirect.get("location").unwrap();
        Self {
            cookie: cookie.split(';').next().unwrap().to_owned(),
            sent: pairs(split_url(location).1.unwrap()),
        }
    }

    fn come_back<'a>(
        &self,
        query: &str,
        config: &'a Config,
        now: Millis,
    ) -> Result<Callback<'a>, Problem> {
        let url = format!("https://gate.example/session/callback?{query}");
        read_callback(&config.auth, &head(&url, Some(&self.cookie)), now)
    }

    fn answer(&self) -> String {
        format!("code=a%2Bcode&state={}", self.sent["state"])
    }
}

#[track_caller]
fn assert_failed(callback: Result<Callback<'_>, Problem>) {
    assert_eq!(
        status_and_kind(&callback.unwrap_err()),
        (400, "sign-in-failed")
    );
}

#[test]
fn sign_in_requests_a_code_bound_to_the_browser() {
    let query = "issuer=Acme+%26+Sons&return=/?route=views%26project=acme";
    let redirect = begin_in(query, 1, None).unwrap();
    let location = redirect.get("location").unwrap();
    let (endpoint, query) = location.split_once('&').unwrap();
    assert_eq!(endpoint, "https://login.example/authorize?tenant=1");
    let sent = pairs(query);
    for (name, value) in [
        ("response_type", "code"),
        ("client_id", "client-1"),
        ("redirect_uri", "https://gate.example/session/callback"),
        ("scope", "openid email"),
        ("code_challenge_method", "S256"),
    ] {
        assert_eq!(sent[name], value);
    }
    for name in ["state", "nonce", "code_challenge"] {
        assert_eq!(sent[name].len(), 43, "{name}");
    }
    let cookie = redirect.get("set-cookie").unwrap();
    assert!(cookie.starts_with("__Host-quillgate-sign-in="));
    assert!(cookie.ends_with("; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=600"));
    for name in ["state", "nonce"] {
        assert!(!cookie.contains(&sent[name]), "{name}");
    }
    let other = Browser::new("issuer=Second", 2);
    assert_ne!(other.sent["state"], sent["state"]);
}

#[test]
fn callback_returns_the_code_and_the_pkce_verifier() {
    let browser = Browser::new("issuer=Second&return=/?route=jobs", 1);
    let config = signing_in();
    let callback = browser
        .come_back(&browser.answer(), &config, at(599))
        .unwrap();
    assert_eq!(
        callback.issuer.token_endpoint,
        "https://second.example/token"
    );
    assert_eq!(callback.nonce, browser.sent["nonce"]);
    assert_eq!(callback.return_path, "/?route=jobs");
    assert_eq!(callback.ends, at(600));
    let body = pairs(&callback.body);
    assert_eq!(body["grant_type"], "authorization_code");
    assert_eq!(body["code"], "a+code");
    assert_eq!(body["client_id"], "client-2");
    assert_eq!(
        body["redirect_uri"],
        "https://gate.example/session/callback"
    );
    assert!(!body.contains_key("client_secret"));
    let challenge = encode(Sha256::digest(&body["code_verifier"]));
    assert_eq!(challenge, browser.sent["code_challenge"]);
    assert!(!browser.cookie.contains(&body["code_verifier"]));
    assert!(!callback.name.contains(&browser.sent["state"]));
}

#[test]
fn callback_without_a_started_sign_in_is_rejected() {
    let (browser, other) = (
        Browser::new("issuer=Second", 1),
        Browser::new("issuer=Second", 2),
    );
    let config = signing_in();
    for query in [
        String::new(),
        "code=x".to_owned(),
        "code=x&state=".to_owned(),
        "code=x&state=%".to_owned(),
        format!("code=x&state={}", encode([0; 32])),
        other.answer(),
        format!("state={}", browser.sent["state"]),
        format!("code=&state={}", browser.sent["state"]),
        format!("error=access_denied&state={}", browser.sent["state"]),
        format!("code={}&state={}", "x".repeat(5_000), browser.sent["state"]),
    ] {
        assert_failed(browser.come_back(&query, &config, NOW));
    }
    assert_failed(browser.come_back(&browser.answer(), &config, at(600)));
    let url = format!("https://gate.example/session/callback?{}", browser.answer());
    for cookie in [
        None,
        Some("__Host-quillgate-sign-in="),
        Some("__Host-quillgate-sign-in=a.b.c.d"),
    ] {
        assert_failed(read_callback(&config.auth, &head(&url, cookie), NOW));
    }
    let twice = format!("{}; {}", browser.cookie, browser.cookie);
    assert_failed(read_callback(&config.auth, &head(&url, Some(&twice)), NOW));
    let secret = Some("a-newer-secret-of-the-gateway-of-40-letters");
    let other = configure(&[
        ("TRUSTED_ISSUERS", Some(ISSUERS)),
        ("SIGN_IN_ISSUERS", Some(SIGN_IN)),
        ("ACCESS_TOKEN_SECRET", secret),
    ]);
    assert_failed(browser.come_back(&browser.answer(), &other, NOW));
}

#[test]
fn changed_sign_in_cookie_is_rejected() {
    let browser = Browser::new("issuer=Second", 1);
    let (name, seed) = browser.cookie.split_once('=').unwrap();
    let parts: Vec<_> = seed.split('.').collect();
    let far = u64::MAX.to_string();
    let (issuer, path) = (encode("Acme & Sons"), encode("https://evil.example/"));
    for (at, other) in [(0, parts[3]), (1, &*far), (2, &*issuer), (3, &*path)] {
        let mut changed = parts.clone();
        changed[at] = other;
        let browser = Browser {
            cookie: format!("{name}={}", changed.join(".")),
            sent: browser.sent.clone(),
        };
        assert_failed(browser.come_back(&browser.answer(), &signing_in(), NOW));
    }
}

#[test]
fn previous_session_is_recognized_by_its_hash() {
    let (before, value) = SessionId::new(&[9; 32], SECRET.as_bytes());
    let browser = Browser::of(&begin_in("issuer=Second", 1, Some(&before)).unwrap());
    assert!(!browser.cookie.contains(&value));
    let (config, answer) = (signing_in(), browser.answer());
    let callback = browser.come_back(&answer, &config, NOW).unwrap();
    assert_eq!(callback.before.as_deref(), Some(before.as_str()));
    assert_eq!(callback.return_path, "/");
    // A changed cookie cannot end the session of another caller.
    let (other, _) = SessionId::new(&[8; 32], SECRET.as_bytes());
    let changed = Browser {
        cookie: browser.cookie.replace(before.as_str(), other.as_str()),
        sent: browser.sent.clone(),
    };
    assert_ne!(changed.cookie, browser.cookie);
    assert_failed(changed.come_back(&answer, &config, NOW));
    let none = Browser::new("issuer=Second", 1);
    let callback = none.come_back(&none.answer(), &config, NOW).unwrap();
    assert_eq!(callback.before, None);
}

#[test]
fn failed_sign_in_redirects_to_the_page_with_a_reason() {
    let path = failure_path(ProblemKind::SignInFailed);
    assert_eq!(path, "/?sign-in-failed=sign-in-failed");
}

#[test]
fn callback_of_another_issuer_is_rejected() {
    let browser = Browser::new("issuer=Second", 1);
    let with = |iss: &str| format!("{}&iss={iss}", browser.answer());
    let config = signing_in();
    assert!(
        browser
            .come_back(&with("https%3A%2F%2Flogin.example"), &config, NOW)
            .is_ok()
    );
    assert_failed(browser.come_back(&with("https%3A%2F%2Fevil.example"), &config, NOW));
    let without: &str = Box::leak(SIGN_IN.replace("\"Second\"", "\"Third\"").into());
    let config = configure(&[
        ("TRUSTED_ISSUERS", Some(ISSUERS)),
        ("SIGN_IN_ISSUERS", Some(without)),
    ]);
    assert_failed(browser.come_back(&browser.answer(), &config, NOW));
}

#[test]
fn return_address_must_be_a_path_of_the_gateway() {
    for (path, is_here) in [
        ("/", true),
        ("/?route=views%26project=acme", true),
        ("/a//b", true),
        ("", false),
        ("//evil.example", false),
        ("/%5Cevil.example", false),
        ("%5C%5Cevil.example", false),
        ("/%09/evil.example", false),
        ("/%0A/evil.example", false),
        ("%09//evil.example", false),
        ("/%0D%0Aset-cookie:%20a=b", false),
        ("https://evil.example", false),
        ("javascript:alert(1)", false),
        ("evil.example", false),
        ("%2F%2Fevil.example", false),
        ("/%C3%A9", false),
        ("/%", false),
    ] {
        let read = sign_in(&format!("issuer=Second&return={path}"));
        match read {
            Ok(path) => assert!(is_here && path.starts_with('/'), "{path}"),
            Err(problem) => {
                assert!(!is_here, "{path}");
                let expected = ("return".to_owned(), "return-path".to_owned());
                assert_eq!(field_and_rule(&problem), expected);
            }
        }
    }
    assert!(sign_in(&format!("issuer=Second&return=/{}", "x".repeat(1_024))).is_err());
    assert_eq!(sign_in("issuer=Second").unwrap(), "/");
    for query in ["", "issuer=", "issuer=second", "issuer=Third"] {
        assert_eq!(
            status_and_kind(&sign_in(query).unwrap_err()),
            (404, "not-found"),
            "{query}"
        );
    }
}

#[test]
fn each_issuer_has_its_own_client_secret() {
    let body = |secret: &'static str, query: &str| {
        let config = configure(&[
            ("TRUSTED_ISSUERS", Some(ISSUERS)),
            ("SIGN_IN_ISSUERS", Some(SIGN_IN)),
            ("SIGN_IN_CLIENT_SECRET", Some(secret)),
        ]);
        let browser = Browser::new(query, 1);
        let callback = browser.come_back(&browser.answer(), &config, NOW).unwrap();
        pairs(&callback.body).get("client_secret").cloned()
    };
    let both = r#"{"Acme & Sons":"one","Second":"two"}"#;
    assert_eq!(body(both, "issuer=Second").as_deref(), Some("two"));
    assert_eq!(body(both, "issuer=Acme+%26+Sons").as_deref(), Some("one"));
    assert_eq!(body(r#"{"Second":"two"}"#, "issuer=Acme+%26+Sons"), None);
}

#[test]
fn invalid_sign_in_variables_are_rejected() {
    let refusal = |issuers: &str, secret: Option<&'static str>| {
        let issuers: &'static str = Box::leak(issuers.into());
        let changes = [
            ("TRUSTED_ISSUERS", Some(ISSUERS)),
            ("SIGN_IN_ISSUERS", Some(issuers)),
            ("SIGN_IN_CLIENT_SECRET", secret),
        ];
        Config::read(variables(&changes))
            .err()
            .map(|error| error.to_string())
    };
    assert_eq!(refusal(SIGN_IN, None), None);
    for (from, to, words) in [
        (SIGN_IN, "{}", "must be a JSON list"),
        (SIGN_IN, "[5]", "must have issuers with the properties"),
        (
            r#""clientId": "client-1","#,
            "",
            "must have issuers with the properties",
        ),
        (
            r#""scope""#,
            r#""scopes""#,
            "must have issuers with the properties",
        ),
        (
            r#""clientId": "client-1""#,
            r#""clientId": """#,
            "must have in clientId",
        ),
        (
            r#""name": "Second""#,
            r#""name": "Acme & Sons""#,
            "must have a different name",
        ),
        (r#""name": "Second""#, r#""name": """#, "must have in name"),
        (
            r#""issuer": "https://login.example""#,
            r#""issuer": "https://access.example""#,
            "must have in issuer one of TRUSTED_ISSUERS",
        ),
        (
            "https://second.example/token",
            "http://second.example/token",
            "must have endpoints",
        ),
        ("openid email", "email", "must have openid in scope"),
    ] {
        let error = refusal(&SIGN_IN.replace(from, to), None).unwrap();
        assert!(
            error.starts_with(&format!("SIGN_IN_ISSUERS {words}")),
            "{error}"
        );
    }
    for secret in ["hunter2", r#"{"Third":"hunter2"}"#, r#"{"Second":5}"#] {
        let error = refusal(SIGN_IN, Some(secret)).unwrap();
        assert!(
            error.starts_with("SIGN_IN_CLIENT_SECRET must be"),
            "{error}"
        );
        assert!(!error.contains("hunter2"));
    }
    let one = SIGN_IN.split("},").next().unwrap().to_owned() + "}]";
    assert_eq!(refusal(&one, Some("hunter2")), None);
}

/// Reads a response of the token endpoint of the issuer `Second`. Returns the ID token.
fn token_response(response: Option<(u16, Option<&str>)>) -> Result<String, Problem> {
    let config = signing_in();
    let issuers = &config.auth.sign_in_issuers;
    let second = issuers.iter().find(|issuer| issuer.name == "Second");
    read_token_response(second.unwrap(), response)
}

fn operator(problem: &Problem) -> &str {
    problem.operator.as_deref().unwrap()
}

#[test]
fn id_token_is_read_from_the_token_response() {
    let answer = r#"{"access_token":"x","id_token":"a.b.c","token_type":"Bearer"}"#;
    let token = token_response(Some((200, Some(answer))));
    assert_eq!(token.as_deref(), Ok("a.b.c"));
    for other in [
        "",
        "[]",
        "{}",
        r#"{"id_token":5}"#,
        r#"{"id_token":"a","id_token":"b"}"#,
    ] {
        let problem = token_response(Some((200, Some(other)))).unwrap_err();
        assert_eq!(
            operator(&problem),
            "the token endpoint of Second returned no ID token",
            "{other}"
        );
        assert_eq!(problem.kind, ProblemKind::IssuerUnavailable);
    }
}

#[test]
fn a_rejected_client_is_a_failure_of_the_issuer_that_names_the_variables() {
    for (status, body) in [
        (401, None),
        (401, Some(r#"{"error":"invalid_client"}"#)),
        (400, Some(r#"{"error":"invalid_client"}"#)),
        (
            400,
            Some(r#"{"error":"unauthorized_client","error_description":"x"}"#),
        ),
    ] {
        let problem = token_response(Some((status, body))).unwrap_err();
        assert_eq!(
            problem.kind,
            ProblemKind::IssuerUnavailable,
            "{status} {body:?}"
        );
        for variable in ["SIGN_IN_ISSUERS", "SIGN_IN_CLIENT_SECRET"] {
            assert!(operator(&problem).contains(variable), "{problem:?}");
            assert!(!problem.detail.contains(variable));
        }
    }
}

#[test]
fn only_a_rejected_code_is_a_failed_sign_in() {
    let invalid_grant = r#"{"error":"invalid_grant"}"#;
    for (response, kind, reason) in [
        (
            Some((400, Some(invalid_grant))),
            ProblemKind::SignInFailed,
            "responded with 400",
        ),
        (
            Some((400, None)),
            ProblemKind::SignInFailed,
            "responded with 400",
        ),
        (
            Some((429, None)),
            ProblemKind::IssuerUnavailable,
            "responded with 429",
        ),
        (
            Some((500, Some(invalid_grant))),
            ProblemKind::IssuerUnavailable,
            "responded with 500",
        ),
        (None, ProblemKind::IssuerUnavailable, "did not respond"),
    ] {
        let problem = token_response(response).unwrap_err();
        let message = format!("the token endpoint of Second {reason}");
        assert_eq!((problem.kind, operator(&problem)), (kind, &*message));
    }
}
