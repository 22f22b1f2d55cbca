mod issuers;

use std::collections::BTreeMap;

use quillgate::Millis;
use quillgate_worker::app::config::Config;
use quillgate_worker::auth::session::cookie::SessionId;
use quillgate_worker::auth::session::sign_in::{
    Callback, begin, is_navigation, read_callback, redirect_after_failure,
};
use quillgate_worker::http::problem::Problem;
use quillgate_worker::http::problem_kind::ProblemKind;
use quillgate_worker::http::request_head;
use quillgate_worker::http::response::HeaderFields;
use quillgate_worker::http::url::{decode_percent, split_url};
use sha2::{Digest, Sha256};

use super::{SIGN_IN, signing_in, signing_in_with};
use crate::fixtures::{NOW, RequestHead, SECRET, at, encode, field_and_rule, summarize};

const NEWER_SECRET: &str = "a-newer-secret-of-the-gateway-of-40-letters";

fn pairs(text: &str) -> BTreeMap<String, String> {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap();
        (name.to_owned(), decode_percent(value).unwrap())
    };
    text.split('&').map(pair).collect()
}

fn head(url: &str, cookie: Option<&str>) -> request_head::RequestHead {
    RequestHead::new("GET", url).cookie(cookie).read()
}

/// Completes a sign-in that started with `query`.
fn sign_in(query: &str) -> Result<String, Problem> {
    let browser = Browser::of(&begin_in(query, 1, None)?);
    let config = signing_in();
    let callback = browser.come_back(&browser.answer(), &config, NOW);
    Ok(callback.unwrap().return_path)
}

/// Starts a sign-in, in which every random byte is `seed`.
fn begin_in(query: &str, seed: u8, before: Option<&SessionId>) -> Result<HeaderFields, Problem> {
    let url = format!("https://gate.example/session/start?{query}");
    let (config, head) = (signing_in(), head(&url, None));
    begin(&config.auth, &head, before, &[seed; 32], NOW)
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
    assert_eq!(summarize(&callback.unwrap_err()), "400 sign-in-failed");
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
        assert_eq!(sent[name], value, "{name:?}");
    }
    for name in ["state", "nonce", "code_challenge"] {
        assert_eq!(sent[name].len(), 43, "{name}");
    }
    let cookie = redirect.get("set-cookie").unwrap();
    assert!(cookie.starts_with("__Host-quillgate-sign-in-"));
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
    let callback = browser.come_back(&browser.answer(), &config, at(599));
    let callback = callback.unwrap();
    let expected = "https://second.example/token";
    assert_eq!(callback.issuer.token_endpoint, expected);
    assert_eq!(callback.nonce, browser.sent["nonce"]);
    assert_eq!(callback.return_path, "/?route=jobs");
    assert_eq!(callback.ends, at(600));
    let body = pairs(&callback.body);
    assert_eq!(body["grant_type"], "authorization_code");
    assert_eq!(body["code"], "a+code");
    assert_eq!(body["client_id"], "client-2");
    let expected = "https://gate.example/session/callback";
    assert_eq!(body["redirect_uri"], expected);
    assert!(!body.contains_key("client_secret"));
    let challenge = encode(Sha256::digest(&body["code_verifier"]));
    assert_eq!(challenge, browser.sent["code_challenge"]);
    assert!(!browser.cookie.contains(&body["code_verifier"]));
    assert!(!callback.name.contains(&browser.sent["state"]));
}

#[test]
fn callback_without_a_started_sign_in_is_rejected() {
    let [browser, other] = [1, 2].map(|seed| Browser::new("issuer=Second", seed));
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
    let (name, seed) = browser.cookie.split_once('=').unwrap();
    for cookie in [
        None,
        Some(&*format!("{name}=")),
        Some(&*format!("{name}=a.b.c.d")),
        Some(&*format!("__Host-quillgate-sign-in={seed}")),
    ] {
        assert_failed(read_callback(&config.auth, &head(&url, cookie), NOW));
    }
    let twice = format!("{}; {}", browser.cookie, browser.cookie);
    assert_failed(read_callback(&config.auth, &head(&url, Some(&twice)), NOW));
    let other = signing_in_with(&[("ACCESS_TOKEN_SECRET", Some(NEWER_SECRET))]);
    assert_failed(browser.come_back(&browser.answer(), &other, NOW));
}

#[test]
fn sign_in_continues_after_a_rotation_of_the_secret() {
    let browser = Browser::new("issuer=Second", 1);
    let secrets = format!("{NEWER_SECRET},{SECRET}");
    let config = signing_in_with(&[("ACCESS_TOKEN_SECRET", Some(&secrets))]);
    let callback = browser.come_back(&browser.answer(), &config, NOW);
    let callback = callback.unwrap();
    assert_eq!(callback.nonce, browser.sent["nonce"]);
    let challenge = encode(Sha256::digest(&pairs(&callback.body)["code_verifier"]));
    assert_eq!(challenge, browser.sent["code_challenge"]);
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
fn failed_navigation_redirects_to_the_page_with_a_reason() {
    let redirect = redirect_after_failure(ProblemKind::SignInFailed);
    let location = redirect.headers.get("location");
    assert_eq!(location, Some("/?sign-in-failed=sign-in-failed"));
    for (path, header, is_expected) in [
        ("/session/start", ("accept", "text/html,*/*;q=0.8"), true),
        ("/session/callback", ("accept", "text/html"), true),
        ("/session/callback", ("sec-fetch-mode", "navigate"), true),
        ("/session/callback", ("accept", "application/json"), false),
        ("/session/callback", ("sec-fetch-mode", "cors"), false),
        ("/session", ("accept", "text/html"), false),
    ] {
        let url = format!("https://gate.example{path}?state=x");
        let mut head = head(&url, None);
        head.headers.set(header.0, header.1);
        assert_eq!(is_navigation(&head), is_expected, "{path} {header:?}");
    }
}

/// Returns the sign-ins of a browser in the order in which they began, and its cookies.
fn begin_in_tabs(count: u8) -> (Vec<Browser>, BTreeMap<String, String>) {
    let (mut tabs, mut jar) = (Vec::new(), BTreeMap::new());
    for tab in 0..count {
        let url = format!("https://gate.example/session/start?issuer=Second&return=/{tab}");
        let header = cookie_header(&jar);
        let begun = NOW.plus(Millis(u64::from(tab)));
        let head = head(&url, Some(&header));
        let redirect = begin(&signing_in().auth, &head, None, &[tab; 32], begun).unwrap();
        for (_, cookie) in redirect.iter().filter(|(name, _)| *name == "set-cookie") {
            let (name, rest) = cookie.split_once('=').unwrap();
            let (value, attributes) = rest.split_once(';').unwrap();
            if attributes.ends_with("Max-Age=0") {
                jar.remove(name);
            } else {
                jar.insert(name.to_owned(), value.to_owned());
            }
        }
        tabs.push(Browser::of(&redirect));
    }
    (tabs, jar)
}

fn cookie_header(jar: &BTreeMap<String, String>) -> String {
    let pairs = jar.iter().map(|(name, value)| format!("{name}={value}"));
    pairs.collect::<Vec<_>>().join("; ")
}

#[test]
fn sign_ins_in_several_tabs_finish_in_any_order() {
    let (tabs, jar) = begin_in_tabs(7);
    assert_eq!(jar.len(), 5);
    let (header, config) = (cookie_header(&jar), signing_in());
    for (at, tab) in tabs.iter().enumerate().rev() {
        let url = format!("https://gate.example/session/callback?{}", tab.answer());
        let callback = read_callback(&config.auth, &head(&url, Some(&header)), NOW);
        if at < 2 {
            // Another sign-in replaced the oldest one.
            assert_failed(callback);
            continue;
        }
        let callback = callback.unwrap();
        assert_eq!(callback.return_path, format!("/{at}"));
        let (name, _) = tab.cookie.split_once('=').unwrap();
        let deleted = format!("{name}=; Path=/;");
        assert!(callback.cleared_cookie.starts_with(&deleted));
        assert!(callback.cleared_cookie.ends_with("Max-Age=0"));
    }
}

#[test]
fn sign_in_ignores_malformed_names_of_cookies() {
    let name = "__Host-quillgate-sign-in-";
    let cookies = (0..9).map(|at| format!("{name}{at}\u{e9}=x; {name}{at} x=y"));
    let header = cookies.collect::<Vec<_>>().join("; ");
    let url = "https://gate.example/session/start?issuer=Second";
    let head = head(url, Some(&header));
    let redirect = begin(&signing_in().auth, &head, None, &[1; 32], NOW).unwrap();
    let names = redirect.iter().map(|(name, _)| name);
    assert_eq!(names.collect::<Vec<_>>(), ["location", "set-cookie"]);
}

#[test]
fn callback_of_another_issuer_is_rejected() {
    let browser = Browser::new("issuer=Second", 1);
    let with = |iss: &str| format!("{}&iss={iss}", browser.answer());
    let config = signing_in();
    let own = with("https%3A%2F%2Flogin.example");
    assert!(browser.come_back(&own, &config, NOW).is_ok());
    assert_failed(browser.come_back(&with("https%3A%2F%2Fevil.example"), &config, NOW));
    let without = SIGN_IN.replace("\"Second\"", "\"Third\"");
    let config = signing_in_with(&[("SIGN_IN_ISSUERS", Some(&without))]);
    assert_failed(browser.come_back(&browser.answer(), &config, NOW));
}

#[test]
fn return_address_must_be_a_path_of_the_gateway() {
    for (path, is_here) in [
        ("/", true),
        ("/?route=views%26project=acme", true),
        ("", false),
        ("//evil.example", false),
        ("/%5Cevil.example", false),
        ("/%09/evil.example", false),
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
                assert_eq!(field_and_rule(&problem), ["return", "return-path"]);
            }
        }
    }
    assert_eq!(sign_in("issuer=Second").unwrap(), "/");
    for query in ["", "issuer=", "issuer=second", "issuer=Third"] {
        let expected = "404 not-found";
        assert_eq!(summarize(&sign_in(query).unwrap_err()), expected, "{query}");
    }
}

#[test]
fn long_return_address_loses_its_longest_parameters() {
    let long = |count: usize| "x".repeat(count);
    for (path, expected) in [
        (format!("/{}", long(1_023)), format!("/{}", long(1_023))),
        (format!("/{}", long(1_024)), "/".to_owned()),
        (format!("/?{}", long(1_024)), "/".to_owned()),
        (format!("/{}?route=views", long(1_100)), "/".to_owned()),
        (
            format!("/?route=views&open={}&signed-in=", long(5_000)),
            "/?route=views&signed-in=".to_owned(),
        ),
        (
            format!("/?open={}&path={}&route=views", long(900), long(500)),
            format!("/?path={}&route=views", long(500)),
        ),
    ] {
        let encoded = path.replace('&', "%26");
        let read = sign_in(&format!("issuer=Second&return={encoded}"));
        assert_eq!(read.unwrap(), expected);
    }
}
