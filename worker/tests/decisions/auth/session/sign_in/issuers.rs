//! Issuers of a sign-in.

use quillgate_worker::app::config::Config;
use quillgate_worker::auth::session::sign_in::read_token_response;
use quillgate_worker::http::problem::Problem;
use quillgate_worker::http::problem_kind::ProblemKind;

use super::{Browser, pairs};
use crate::auth::session::{ISSUERS, SIGN_IN, signing_in};
use crate::fixtures::{NOW, configure, variables};

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
