//! Sessions of the gateway's page.

mod cookie;
mod cross_site;
mod sign_in;

use std::rc::Rc;

use quillgate::Operation;
use quillgate_worker::app::admission::Admission;
use quillgate_worker::app::config::Config;
use quillgate_worker::app::routes::Endpoint;
use quillgate_worker::auth::Identity;
use quillgate_worker::auth::caller::Caller;
use quillgate_worker::auth::session::cookie::{NAME, SessionId};
use quillgate_worker::auth::session::{describe, describe_methods, read_opening};
use quillgate_worker::auth::session_record;
use quillgate_worker::auth::token::{Proof, Token};
use quillgate_worker::http::problem::Problem;
use quillgate_worker::jobs::records::KeepPrompts;
use serde_json::{Value, json};

use crate::fixtures::{
    NOW, Outcome, RequestHead, SECONDS, SECRET, admit, admit_identified, bearer, configuration,
    configure, field_and_rule, issuer_token, status_and_kind, token,
};

const ORIGIN: &str = "https://gate.example";

/// `TRUSTED_ISSUERS` with an issuer for sign-in and Cloudflare Access.
pub const ISSUERS: &str = r#"[
    {
        "issuer": "https://login.example",
        "audience": "quillgate",
        "jwks": "https://login.example/jwks",
        "rules": [
            { "claims": { "team": "docs" }, "projects": ["demo-docs"], "scope": "jobs:read analytics:read" },
            { "claims": { "lead": true }, "projects": ["demo-docs", "other-docs"], "scope": "jobs:read jobs:create" }
        ]
    },
    {
        "issuer": "https://access.example",
        "audience": "quillgate",
        "jwks": "https://access.example/jwks",
        "header": "Cf-Access-Jwt-Assertion",
        "rules": [{ "claims": { "team": "docs" }, "projects": ["demo-docs"], "scope": "jobs:read" }]
    }
]"#;

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
    configure(&[
        ("TRUSTED_ISSUERS", Some(ISSUERS)),
        ("SIGN_IN_ISSUERS", Some(SIGN_IN)),
        ("ARCHIVE_PROJECTS", Some("not-hers,other-docs")),
    ])
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
    let claims = json!({
        "iss": "https://access.example",
        "aud": "quillgate",
        "sub": "carol",
        "team": "docs",
        "exp": SECONDS + 60,
    });
    issuer_token(r#"{"alg":"RS256","kid":"key-1"}"#, &claims.to_string())
}

fn needs_session(outcome: &Outcome) -> bool {
    matches!(
        outcome.result,
        Ok(Admission::Unidentified {
            identity: Identity::Session(_),
            ..
        })
    )
}

#[track_caller]
fn refuse(head: &RequestHead<'_>) -> Problem {
    admit(&signing_in(), head).result.unwrap_err()
}

fn head(method: &'static str, url: &'static str) -> RequestHead<'static> {
    RequestHead {
        method,
        url,
        origin: (method != "GET").then_some(ORIGIN),
        content_type: Some("application/json"),
        ..RequestHead::default()
    }
}

const VIEWS: &str = "https://gate.example/v1/analytics/demo-docs/views";
const SESSION: &str = "https://gate.example/session";

#[test]
fn session_cookie_resolves_to_its_object_and_caller() {
    let (config, cookie) = (configuration(), cookie());
    let unread = RequestHead {
        cookie: Some(&cookie),
        ..head("GET", VIEWS)
    };
    let first = admit(&config, &unread);
    assert!(needs_session(&first));
    assert!(first.facts.caller.is_none() && first.facts.project.is_none());

    let record = open(
        Proof::AccessToken(&token(&crate::fixtures::claims())),
        &config,
    );
    let record = record.unwrap().record;
    let second = admit_identified(&config, &unread, Some(&record));
    assert_eq!(second.facts.caller.as_ref().unwrap().subject, "alice");
    assert_eq!(
        second.endpoint(),
        Ok(Endpoint::Operation(Operation::ListPageViews))
    );

    let ended = admit_identified(&config, &unread, None);
    let problem = ended.result.unwrap_err();
    assert_eq!(status_and_kind(&problem), (401, "session-ended"));
    assert_eq!(problem.headers[0].0, "www-authenticate");
}

#[test]
fn assertion_is_used_after_the_session_ended() {
    let (config, cookie) = (signing_in(), cookie());
    let made_up = format!("{NAME}=made-up");
    let assertion = access_assertion();
    let jobs = "https://gate.example/v2/agent/demo-docs/jobs";
    let ended = RequestHead {
        cookie: Some(&cookie),
        access_assertion: Some(&assertion),
        ..head("GET", jobs)
    };
    let forged = RequestHead {
        cookie: Some(&made_up),
        ..ended
    };
    for head in [ended, forged] {
        let outcome = admit_identified(&config, &head, None);
        assert_eq!(outcome.facts.caller.as_ref().unwrap().subject, "carol");
        let list = Endpoint::Operation(Operation::ListAgentJobs);
        assert_eq!(outcome.endpoint(), Ok(list));

        let wrong = RequestHead {
            access_assertion: Some("x"),
            ..head
        };
        let wrong = admit_identified(&config, &wrong, None).result.unwrap_err();
        assert_eq!(status_and_kind(&wrong), (401, "invalid-token"));
        // In the default configuration, no issuer uses `Cf-Access-Jwt-Assertion`, so the assertion
        // is ignored.
        let unused = admit_identified(&configuration(), &head, None);
        let unused = unused.result.unwrap_err();
        assert_eq!(status_and_kind(&unused), (401, "session-ended"));
    }
}

#[test]
fn only_the_cookie_identifies_the_caller_of_the_session() {
    let cookie = cookie();
    let assertion = access_assertion();
    let ended = RequestHead {
        cookie: Some(&cookie),
        access_assertion: Some(&assertion),
        ..head("GET", SESSION)
    };
    let refused = admit_identified(&signing_in(), &ended, None).result;
    let problem = refused.unwrap_err();
    assert_eq!(status_and_kind(&problem), (401, "session-ended"));
}

#[test]
fn token_precedes_session_and_session_precedes_assertion() {
    let (bearer, cookie) = (bearer(), cookie());
    let both = RequestHead {
        authorization: Some(&bearer),
        cookie: Some(&cookie),
        ..head("GET", VIEWS)
    };
    // Browsers never attach a bearer token automatically, so the cross-site check is skipped.
    for fetch_site in [None, Some("cross-site")] {
        let outcome = admit(&configuration(), &RequestHead { fetch_site, ..both });
        let views = Endpoint::Operation(Operation::ListPageViews);
        assert_eq!(outcome.endpoint(), Ok(views));
    }

    let wrong = RequestHead {
        authorization: Some("Bearer x"),
        ..both
    };
    assert_eq!(status_and_kind(&refuse(&wrong)), (401, "invalid-token"));

    let assertion = RequestHead {
        authorization: None,
        access_assertion: Some("x"),
        ..both
    };
    assert!(needs_session(&admit(&signing_in(), &assertion)));
}

#[test]
fn session_paths_accept_only_their_methods() {
    for (method, url, status, kind) in [
        ("PUT", SESSION, 405, "method-not-allowed"),
        (
            "POST",
            "https://gate.example/session/methods",
            405,
            "method-not-allowed",
        ),
        (
            "POST",
            "https://gate.example/session/callback",
            405,
            "method-not-allowed",
        ),
        ("GET", "https://gate.example/sessions", 404, "not-found"),
        ("GET", "https://gate.example/session/", 404, "not-found"),
        ("GET", SESSION, 401, "missing-token"),
    ] {
        let problem = refuse(&head(method, url));
        assert_eq!(status_and_kind(&problem), (status, kind), "{method} {url}");
    }
    let methods = admit(
        &signing_in(),
        &head("GET", "https://gate.example/session/methods"),
    );
    assert_eq!(methods.endpoint(), Ok(Endpoint::SignInMethods));
    let options = admit(&signing_in(), &head("OPTIONS", SESSION));
    let methods = options.allowed_methods();
    assert_eq!(methods, "GET, HEAD, POST, DELETE, OPTIONS");
}

#[test]
fn session_opening_body_has_at_most_one_token() {
    assert_eq!(
        read_opening(br#"{"token":"a.b.c"}"#).unwrap().as_deref(),
        Some("a.b.c")
    );
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
        assert_eq!(
            field_and_rule(&problem),
            (field.to_owned(), rule.to_owned()),
            "{body}"
        );
    }
    let form = RequestHead {
        content_type: Some("application/x-www-form-urlencoded"),
        ..head("POST", SESSION)
    };
    assert_eq!(
        status_and_kind(&refuse(&form)),
        (415, "unsupported-media-type")
    );
}

#[test]
fn session_description_has_caller_and_permissions() {
    let config = signing_in();
    let claims = json!({
        "iss": "https://login.example", "aud": "quillgate", "sub": "bob",
        "exp": SECONDS + 300, "team": "docs", "lead": true,
    });
    let foreign = crate::fixtures::issuer_token(super::session_record::HEADER, &claims.to_string());
    let session = open(Proof::AccessToken(&foreign), &config).unwrap();
    let described: Value = serde_json::from_str(&describe(
        &session.caller,
        KeepPrompts::FirstLine.name(),
        |project| config.analytics.archive.includes(project),
    ))
    .unwrap();
    assert_eq!(
        described,
        json!({
            "issuer": "https://login.example",
            "subject": "bob",
            "projects": ["demo-docs", "other-docs"],
            "archivedProjects": ["other-docs"],
            "scopes": ["jobs:read", "analytics:read", "jobs:create"],
            "keepsPrompts": "first-line",
            "expiresAt": (SECONDS + 360) * 1000,
        })
    );
    let own = token(&crate::fixtures::claims());
    let own = open(Proof::AccessToken(&own), &config).unwrap();
    let described: Value = serde_json::from_str(&describe(
        &own.caller,
        KeepPrompts::Whole.name(),
        |project| config.analytics.archive.includes(project),
    ))
    .unwrap();
    assert_eq!(
        (&described["issuer"], &described["subject"]),
        (&Value::Null, &"alice".into())
    );
}

#[test]
fn sign_in_methods_come_from_the_configuration() {
    let described =
        |config: &Config| serde_json::from_str::<Value>(&describe_methods(&config.auth)).unwrap();
    assert_eq!(
        described(&configuration()),
        json!({ "token": true, "access": false, "issuers": [] })
    );
    assert_eq!(
        described(&signing_in()),
        json!({
            "token": true,
            "access": true,
            "issuers": [
                { "name": "Acme & Sons", "href": "/session/start?issuer=Acme%20%26%20Sons" },
                { "name": "Second", "href": "/session/start?issuer=Second" },
            ],
        })
    );
}
