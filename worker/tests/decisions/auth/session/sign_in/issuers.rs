use quillgate_worker::app::config::Config;
use quillgate_worker::auth::session::sign_in::read_token_response;
use quillgate_worker::http::problem::Problem;
use quillgate_worker::http::problem_kind::ProblemKind;

use super::{Browser, pairs};
use crate::auth::session::{SIGN_IN, issuers, signing_in, signing_in_with};
use crate::fixtures::{NOW, variables};

#[test]
fn each_issuer_has_its_own_client_secret() {
    let body = |secret: &str, query: &str| {
        let config = signing_in_with(&[("SIGN_IN_CLIENT_SECRET", Some(secret))]);
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
    let trusted = issuers();
    let refusal = |sign_in: &str, secret: Option<&str>| {
        let changes = [
            ("TRUSTED_ISSUERS", Some(&*trusted)),
            ("SIGN_IN_ISSUERS", Some(sign_in)),
            ("SIGN_IN_CLIENT_SECRET", secret),
        ];
        let error = Config::read(variables(&changes)).err();
        error.map(|error| error.to_string())
    };
    assert_eq!(refusal(SIGN_IN, None), None);
    let properties = "must have issuers with the properties";
    let one_of = "must have in issuer one of TRUSTED_ISSUERS";
    let different = "must have a different name";
    let endpoint = "https://second.example/t";
    for (from, to, words) in [
        (SIGN_IN, "{}", "must be a JSON list"),
        (SIGN_IN, "[5]", properties),
        (r#""clientId": "client-1","#, "", properties),
        (r#""scope""#, r#""scopes""#, properties),
        (r#": "client-1""#, r#": """#, "must have in clientId"),
        (": \"Second\"", ": \"Acme & Sons\"", different),
        (r#""name": "Second""#, r#""name": """#, "must have in name"),
        ("login.example\",", "access.example\",", one_of),
        (endpoint, "http://second.example/t", "must have endpoints"),
        ("openid email", "email", "must have openid in scope"),
    ] {
        let error = refusal(&SIGN_IN.replace(from, to), None).unwrap();
        let begins = format!("SIGN_IN_ISSUERS {words}");
        assert!(error.starts_with(&begins), "{error}");
    }
    for secret in ["hunter2", r#"{"Third":5}"#, r#"{"Second":5}"#] {
        let error = refusal(SIGN_IN, Some(secret)).unwrap();
        let begins = "SIGN_IN_CLIENT_SECRET must be";
        assert!(error.starts_with(begins), "{error}");
        assert!(!error.contains("hunter2"));
    }
    let one = SIGN_IN.split("},").next().unwrap().to_owned() + "}]";
    assert_eq!(refusal(&one, Some("hunter2")), None);
    // A secret of an issuer that was removed.
    assert_eq!(refusal("[]", Some("hunter2")), None);
    assert_eq!(refusal(&one, Some(r#"{"Third":"hunter2"}"#)), None);
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
        let expected = "the token endpoint of Second returned no ID token";
        assert_eq!(operator(&problem), expected, "{other}");
        assert_eq!(problem.kind, ProblemKind::IssuerUnavailable);
    }
}

#[test]
fn a_rejected_client_is_a_failure_of_the_issuer_that_names_the_variables() {
    let unauthorized = r#"{"error":"unauthorized_client","error_description":"x"}"#;
    for (status, body) in [
        (401, None),
        (401, Some(r#"{"error":"invalid_client"}"#)),
        (400, Some(r#"{"error":"invalid_client"}"#)),
        (400, Some(unauthorized)),
    ] {
        let problem = token_response(Some((status, body))).unwrap_err();
        let expected = ProblemKind::IssuerUnavailable;
        assert_eq!(problem.kind, expected, "{status} {body:?}");
        for variable in ["SIGN_IN_ISSUERS", "SIGN_IN_CLIENT_SECRET"] {
            assert!(operator(&problem).contains(variable), "{problem:?}");
            assert!(!problem.detail.contains(variable));
        }
    }
}

#[test]
fn only_a_rejected_code_is_a_failed_sign_in() {
    let invalid_grant = Some(r#"{"error":"invalid_grant"}"#);
    let (failed, unavailable) = (ProblemKind::SignInFailed, ProblemKind::IssuerUnavailable);
    for (response, kind, reason) in [
        (Some((400, invalid_grant)), failed, "responded with 400"),
        (Some((400, None)), failed, "responded with 400"),
        (Some((429, None)), unavailable, "responded with 429"),
        (
            Some((500, invalid_grant)),
            unavailable,
            "responded with 500",
        ),
        (None, unavailable, "did not respond"),
    ] {
        let problem = token_response(response).unwrap_err();
        let message = format!("the token endpoint of Second {reason}");
        assert_eq!((problem.kind, operator(&problem)), (kind, &*message));
    }
}
