mod cross_site;
mod sign_in;

use std::rc::Rc;

use quillgate::{Millis, Operation};
use quillgate_worker::app::admission::Admission;
use quillgate_worker::app::config::Config;
use quillgate_worker::app::routes::Endpoint;
use quillgate_worker::auth::caller::Caller;
use quillgate_worker::auth::session::cookie::{
    Cookie, NAME, SameSite, SessionId, clear_cookie, find_cookie, write_cookie,
};
use quillgate_worker::auth::session::{describe, describe_methods, read_opening};
use quillgate_worker::auth::token::{Proof, Token};
use quillgate_worker::auth::{Identity, session_record};
use quillgate_worker::http::problem::Problem;
use quillgate_worker::jobs::records::KeepPrompts;
use serde_json::{Value, json};

use crate::fixtures::{
    NOW, Outcome, RequestHead, SECONDS, SECRET, access_issuer, admit, admit_identified, bearer,
    claims, configuration, configure, encode, field_and_rule, hmac, summarize, token,
    token_of_issuer, trusted_issuer,
};

const ORIGIN: &str = "https://gate.example";

/// `TRUSTED_ISSUERS` with an issuer for sign-in and Cloudflare Access.
pub fn issuers() -> String {
    let rule = |claims: Value, projects: &[&str], scope: &str| json!({ "claims": claims, "projects": projects, "scope": scope });
    let docs = |scope| rule(json!({ "team": "docs" }), &["demo-docs"], scope);
    let both = ["demo-docs", "other-docs"];
    let lead = rule(json!({ "lead": true }), &both, "jobs:read jobs:create");
    let login = trusted_issuer("login", &json!([docs("jobs:read analytics:read"), lead]));
    json!([login, access_issuer("access", &json!([docs("jobs:read")]))]).to_string()
}

pub const SIGN_IN: &str = r#"[
    {
        "name": "Acme & Sons",
        "issuer": "https://login.example",
        "clientId": "client-1",
        "authorizationEndpoint": "https://login.example/authorize?tenant=1",
        "tokenEndpoint": "https://login.example/token",
        "scope": "openid email"
    },
    {
        "name": "Second",
        "issuer": "https://login.example",
        "clientId": "client-2",
        "authorizationEndpoint": "https://second.example/authorize",
        "tokenEndpoint": "https://second.example/token"
    }
]"#;

pub fn signing_in() -> Config {
    signing_in_with(&[])
}

/// Returns a configuration for sign-in in which `changes` sets or unsets some variables.
#[track_caller]
pub fn signing_in_with(changes: &[(&str, Option<&str>)]) -> Config {
    let issuers = issuers();
    let variables = [
        ("TRUSTED_ISSUERS", Some(&*issuers)),
        ("SIGN_IN_ISSUERS", Some(SIGN_IN)),
        ("ARCHIVE_PROJECTS", Some("not-hers,other-docs")),
    ];
    configure(&[changes, &variables].concat())
}

#[derive(Debug)]
pub struct NewSession {
    pub caller: Rc<Caller>,
    pub record: String,
    pub secret: usize,
}

/// Returns a new session, as if the host had verified the token's signature.
pub fn open(proof: Proof<'_>, config: &Config) -> Result<NewSession, Problem> {
    let token = match Token::read(proof, &config.auth, NOW)? {
        Token::Verified(token) => token,
        Token::Unverified(token) => token.into_verified(&config.auth.revoked)?,
    };
    let secret = token.secret;
    let (caller, record) = session_record::create(proof, token, NOW);
    Ok(NewSession {
        caller,
        record,
        secret,
    })
}

/// Returns the `Cookie` value of a session, signed with the gateway's secret.
fn cookie() -> String {
    let (_, value) = SessionId::new(&[7; 32], SECRET.as_bytes());
    format!("{NAME}={value}")
}

/// Returns a valid assertion of Cloudflare Access about `carol`.
fn access_assertion() -> String {
    let claims = json!({ "sub": "carol", "team": "docs", "exp": SECONDS + 60 });
    token_of_issuer("access", &claims)
}

fn needs_session(outcome: &Outcome) -> bool {
    matches!(
        outcome.result,
        Ok(Admission::Unidentified(Identity::Session(_)))
    )
}

#[track_caller]
fn refuse(head: &RequestHead<'_>) -> Problem {
    admit(&signing_in(), head).result.unwrap_err()
}

fn head<'a>(method: &'a str, url: &'a str) -> RequestHead<'a> {
    let head = RequestHead::new(method, url).origin((method != "GET").then_some(ORIGIN));
    head.content_type("application/json")
}

const VIEWS: &str = "https://gate.example/v1/analytics/demo-docs/views";
const SESSION: &str = "https://gate.example/session";

#[test]
fn session_cookie_resolves_to_its_object_and_caller() {
    let (config, cookie) = (configuration(), cookie());
    let unread = head("GET", VIEWS).cookie(&*cookie);
    let first = admit(&config, &unread);
    assert!(needs_session(&first));
    assert!(first.facts.caller.is_none() && first.facts.project.is_none());

    let token = token(&claims());
    let record = open(Proof::AccessToken(&token), &config).unwrap().record;
    let second = admit_identified(&config, &unread, Some(&record));
    assert_eq!(second.facts.caller.as_ref().unwrap().subject, "alice");
    let expected = Ok(Endpoint::Operation(Operation::ListPageViews));
    assert_eq!(second.endpoint(), expected);

    let ended = admit_identified(&config, &unread, None);
    let problem = ended.result.unwrap_err();
    assert_eq!(summarize(&problem), "401 session-ended");
    assert_eq!(problem.headers[0].0, "www-authenticate");
}

#[test]
fn assertion_is_used_after_the_session_ended() {
    let (config, cookie, assertion) = (signing_in(), cookie(), access_assertion());
    let jobs = "https://gate.example/v2/agent/demo-docs/jobs";
    for cookie in [cookie, format!("{NAME}=made-up")] {
        let head = head("GET", jobs).cookie(&*cookie);
        let head = head.access_assertion(&*assertion);
        let outcome = admit_identified(&config, &head, None);
        assert_eq!(outcome.facts.caller.as_ref().unwrap().subject, "carol");
        let list = Endpoint::Operation(Operation::ListAgentJobs);
        assert_eq!(outcome.endpoint(), Ok(list));

        let wrong = head.access_assertion("x");
        let wrong = admit_identified(&config, &wrong, None).result.unwrap_err();
        assert_eq!(summarize(&wrong), "401 invalid-token");
        // In the default configuration, no issuer uses `Cf-Access-Jwt-Assertion`, so the assertion
        // is ignored.
        let unused = admit_identified(&configuration(), &head, None);
        let unused = unused.result.unwrap_err();
        assert_eq!(summarize(&unused), "401 session-ended");
    }
}

#[test]
fn only_the_cookie_identifies_the_caller_of_the_session() {
    let (cookie, assertion) = (cookie(), access_assertion());
    let head = head("GET", SESSION).cookie(&*cookie);
    let ended = head.access_assertion(&*assertion);
    let outcome = admit_identified(&signing_in(), &ended, None);
    assert_eq!(summarize(&outcome.result.unwrap_err()), "401 session-ended");
}

#[test]
fn token_precedes_session_and_session_precedes_assertion() {
    let (bearer, cookie) = (bearer(), cookie());
    let both = head("GET", VIEWS).authorization(&*bearer).cookie(&*cookie);
    // Browsers never attach a bearer token automatically, so the cross-site check is skipped.
    for fetch_site in [None, Some("cross-site")] {
        let outcome = admit(&configuration(), &RequestHead { fetch_site, ..both });
        let views = Endpoint::Operation(Operation::ListPageViews);
        assert_eq!(outcome.endpoint(), Ok(views));
    }

    let wrong = both.authorization("Bearer x");
    assert_eq!(summarize(&refuse(&wrong)), "401 invalid-token");

    let assertion = both.authorization(None).access_assertion("x");
    assert!(needs_session(&admit(&signing_in(), &assertion)));
}

#[test]
fn session_paths_accept_only_their_methods() {
    for (method, rest, expected) in [
        ("PUT", "", "405 method-not-allowed"),
        ("POST", "/methods", "405 method-not-allowed"),
        ("POST", "/callback", "405 method-not-allowed"),
        ("GET", "s", "404 not-found"),
        ("GET", "/", "404 not-found"),
        ("GET", "", "401 missing-token"),
    ] {
        let problem = refuse(&head(method, &format!("{SESSION}{rest}")));
        assert_eq!(summarize(&problem), expected, "{method} {rest}");
    }
    let methods = admit(&signing_in(), &head("GET", &format!("{SESSION}/methods")));
    assert_eq!(methods.endpoint(), Ok(Endpoint::SignInMethods));
    let options = admit(&signing_in(), &head("OPTIONS", SESSION));
    let methods = options.allowed_methods();
    assert_eq!(methods, "GET, HEAD, POST, DELETE, OPTIONS");
}

#[test]
fn session_opening_body_has_at_most_one_token() {
    let token = read_opening(br#"{"token":"a.b.c"}"#).unwrap();
    assert_eq!(token.as_deref(), Some("a.b.c"));
    assert_eq!(read_opening(b"{}").unwrap(), None);
    for (body, field, rule) in [
        (r#"{"token":5}"#, "token", "text"),
        (r#"{"token":null}"#, "token", "text"),
        (r#"{"tokens":"a"}"#, "tokens", "unknown"),
        (r#"{"token":"a","token":"b"}"#, "body", "json-object"),
        ("[]", "body", "json-object"),
        ("", "body", "json-object"),
    ] {
        let problem = read_opening(body.as_bytes()).unwrap_err();
        assert_eq!(field_and_rule(&problem), [field, rule], "{body}");
    }
    let form = head("POST", SESSION).content_type("application/x-www-form-urlencoded");
    assert_eq!(summarize(&refuse(&form)), "415 unsupported-media-type");
}

#[test]
fn session_description_has_caller_and_permissions() {
    let config = signing_in();
    let foreign = token_of_issuer("login", &json!({ "team": "docs", "lead": true }));
    let session = open(Proof::AccessToken(&foreign), &config).unwrap();
    let describe = |session: &NewSession, keep: KeepPrompts| -> Value {
        let is_archived = |project: &str| config.analytics.archive.includes(project);
        serde_json::from_str(&describe(&session.caller, keep.name(), is_archived)).unwrap()
    };
    let described = describe(&session, KeepPrompts::FirstLine);
    let expected = json!({
        "issuer": "https://login.example",
        "subject": "bob",
        "projects": ["demo-docs", "other-docs"],
        "archivedProjects": ["other-docs"],
        "scopes": ["jobs:read", "analytics:read", "jobs:create"],
        "keepsPrompts": "first-line",
        "expiresAt": (SECONDS + 360) * 1000,
    });
    assert_eq!(described, expected);
    let own = token(&claims());
    let own = open(Proof::AccessToken(&own), &config).unwrap();
    let described = describe(&own, KeepPrompts::Whole);
    let expected = (&Value::Null, &"alice".into());
    assert_eq!((&described["issuer"], &described["subject"]), expected);
}

#[test]
fn sign_in_methods_come_from_the_configuration() {
    let described =
        |config: &Config| serde_json::from_str::<Value>(&describe_methods(&config.auth)).unwrap();
    let expected = json!({ "token": true, "access": false, "issuers": [] });
    assert_eq!(described(&configuration()), expected);
    let expected = json!({
        "token": true,
        "access": true,
        "issuers": [
            { "name": "Acme & Sons", "href": "/session/start?issuer=Acme%20%26%20Sons" },
            { "name": "Second", "href": "/session/start?issuer=Second" },
        ],
    });
    assert_eq!(described(&signing_in()), expected);
}

fn read(header: &str, secrets: &[&str]) -> Option<SessionId> {
    let secrets: Vec<_> = secrets.iter().map(|one| one.as_bytes().to_vec()).collect();
    SessionId::read(find_cookie(Some(header), NAME), &secrets)
}

const OTHER: &str = "another-secret-of-the-gateway-of-40-letters";

#[test]
fn cookie_is_found_by_exact_name() {
    for (header, found) in [
        ("a=1", Cookie::One("1")),
        ("b=2; a=1; c=3", Cookie::One("1")),
        ("b=2;a=1", Cookie::One("1")),
        ("\t a=1 \t", Cookie::One("1")),
        ("a=", Cookie::One("")),
        ("a=b=c", Cookie::One("b=c")),
        ("a=\"1\"", Cookie::One("\"1\"")),
        ("a=1; a=1", Cookie::Several),
        ("a=1; b=2; a=3; a=4", Cookie::Several),
        ("", Cookie::Missing),
        ("a", Cookie::Missing),
        ("A=1", Cookie::Missing),
        ("a =1", Cookie::Missing),
        ("ba=1; aa=1", Cookie::Missing),
        ("b=1, a=1", Cookie::Missing),
    ] {
        assert_eq!(find_cookie(Some(header), "a"), found, "{header}");
    }
    assert_eq!(find_cookie(None, "a"), Cookie::Missing);
}

#[test]
fn cookie_is_host_only_and_hidden_from_scripts() {
    let expected = "__Host-quillgate=x; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=61";
    let found = write_cookie(NAME, "x", SameSite::Strict, Millis(61_999));
    assert_eq!(found, expected);
    let expected = "__Host-quillgate=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0";
    assert_eq!(clear_cookie(NAME), expected);
    assert!(write_cookie("a", "b", SameSite::Lax, Millis(0)).contains("; SameSite=Lax;"));
}

#[test]
fn cookie_is_valid_as_long_as_its_secret() {
    let (id, value) = SessionId::new(&[1; 32], OTHER.as_bytes());
    let header = format!("theme=dark; {NAME}={value}");
    for all in [&[OTHER][..], &[SECRET, OTHER]] {
        assert_eq!(read(&header, all), Some(id.clone()));
    }
    assert_eq!(read(&header, &[SECRET]), None);
}

#[test]
fn object_name_differs_from_the_cookie_value() {
    let (id, value) = SessionId::new(&[1; 32], SECRET.as_bytes());
    assert_eq!(value.len(), 86);
    assert!(!id.as_str().contains(&value) && !value.contains(id.as_str()));
    let (other, other_value) = SessionId::new(&[2; 32], SECRET.as_bytes());
    assert!(other != id && other_value != value);
}

#[test]
fn forged_cookie_is_rejected() {
    let (_, value) = SessionId::new(&[1; 32], SECRET.as_bytes());
    // The tag is an HMAC with the secret itself instead of the derived key.
    let underived = [vec![1; 32], hmac(&"\u{1}".repeat(32), SECRET)].concat();
    for forged in [
        String::new(),
        encode([1; 32]),
        encode(underived),
        value[..85].to_owned(),
        format!("{value}A"),
        format!("\"{value}\""),
        format!("{value}, {NAME}={value}"),
        value.to_lowercase(),
    ] {
        let header = format!("{NAME}={forged}");
        assert_eq!(read(&header, &[SECRET, OTHER]), None, "{forged:.90}");
    }
    let twice = format!("{NAME}={value}; {NAME}={value}");
    assert_eq!(read(&twice, &[SECRET]), None);
    assert_eq!(read("theme=dark", &[SECRET]), None);
}
