//! Claims and form of issuers' tokens.

use quillgate_worker::auth::Credentials;
use serde_json::json;

use super::super::{
    TEAM, assert_accepted, claims, config, config_of, header, identify, identify_assertion,
    identify_bearer, issuers, team_claims, token,
};
use super::{
    ALGORITHM, EXPIRED, INCOMPLETE, MALFORMED, NOT_YET, OTHER_AUDIENCE, OTHER_ISSUER,
    WRONG_SIGNATURE, assert_refused,
};
use crate::fixtures::{
    SECONDS, assert_invalid_token, bearer, change, claims as own_claims, configuration, encode,
    in_assertion, in_authorization, status_and_kind, token as own_token,
};

#[test]
fn token_audience_must_include_the_gateway() {
    for audience in [
        json!("quillgate"),
        json!(["quillgate"]),
        json!(["https://other.example", "quillgate"]),
    ] {
        let claims = change(claims(), "aud", Some(audience));
        assert_accepted(&token(&header(), &claims));
    }
    for audience in [
        json!(""),
        json!([]),
        json!("Quillgate"),
        json!("quillgate,other"),
        json!(["other", "quillgate2"]),
        json!("first-app"),
    ] {
        let claims = change(claims(), "aud", Some(audience));
        assert_refused(&token(&header(), &claims), OTHER_AUDIENCE);
    }
    for audience in [
        None,
        Some(json!(null)),
        Some(json!(1)),
        Some(json!(["quillgate", 1])),
        Some(json!([["quillgate"]])),
    ] {
        let claims = change(claims(), "aud", audience);
        assert_refused(&token(&header(), &claims), INCOMPLETE);
    }
}

#[test]
fn subject_must_be_a_nonempty_string() {
    for subject in [None, Some(json!(null)), Some(json!(1)), Some(json!(["a"]))] {
        let claims = change(claims(), "sub", subject);
        assert_refused(&token(&header(), &claims), INCOMPLETE);
    }
    let claims = change(claims(), "sub", Some(json!("")));
    assert_refused(
        &token(&header(), &claims),
        "the access token has no subject",
    );
}

#[test]
fn clock_leeway_is_one_minute_at_both_ends() {
    for (name, value, reason) in [
        ("exp", json!(SECONDS - 59), None),
        ("exp", json!(1_749_999_940.001), None),
        ("exp", json!(SECONDS - 60), Some(EXPIRED)),
        ("exp", json!(-1e308), Some(EXPIRED)),
        ("exp", json!(SECONDS + 31 * 86_400), None),
        ("nbf", json!(SECONDS + 60), None),
        ("nbf", json!(1_750_000_060.01), Some(NOT_YET)),
        ("iat", json!(SECONDS + 60), None),
        ("iat", json!(SECONDS + 61), Some(NOT_YET)),
        ("iat", json!(1e308), Some(NOT_YET)),
        ("exp", json!("1750000300"), Some(INCOMPLETE)),
        ("exp", json!(null), Some(INCOMPLETE)),
        ("nbf", json!("1750000000"), Some(INCOMPLETE)),
        ("iat", json!([SECONDS]), Some(INCOMPLETE)),
    ] {
        let token = token(&header(), &change(claims(), name, Some(value)));
        match reason {
            Some(reason) => assert_refused(&token, reason),
            None => drop(assert_accepted(&token)),
        }
    }
    assert_refused(
        &token(&header(), &change(claims(), "exp", None)),
        INCOMPLETE,
    );
    for name in ["nbf", "iat"] {
        assert_accepted(&token(&header(), &change(claims(), name, None)));
    }
}

#[test]
fn signature_has_a_permitted_length_and_one_encoding() {
    let token = token(&header(), &claims());
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let with = |signature: &str| format!("{signed}.{signature}");
    for length in [0, 1, 32, 64, 128, 255] {
        assert_refused(&with(&encode(vec![0; length])), WRONG_SIGNATURE);
    }
    for length in [256, 384, 512] {
        assert_accepted(&with(&encode(vec![0; length])));
    }
    for written in [
        format!("{signature}="),
        format!("{signature}=="),
        format!("{signature} "),
        signature.replacen('B', "+", 1),
        // Four bits of the last character are unused.
        signature.trim_end_matches('w').to_owned() + "x",
    ] {
        assert_refused(&with(&written), MALFORMED);
    }
    assert!(identify_bearer(&format!("{signed}.")).is_err());
    assert!(identify_bearer(signed).is_err());
    assert!(identify_bearer(&format!("{token}.{signature}")).is_err());

    let header = change(header(), "alg", Some(json!("ES256"))).to_string();
    let signed = format!("{}.{}", encode(&header), encode(claims().to_string()));
    for length in [0, 63, 65, 70, 71, 72, 96, 256] {
        let token = format!("{signed}.{}", encode(vec![0; length]));
        assert_refused(&token, WRONG_SIGNATURE);
    }
}

#[test]
fn issuer_tokens_are_accepted_only_in_the_configured_header() {
    let team = token(&header(), &team_claims());
    let (unverified, caller) = identify_assertion(&team).unwrap();
    assert_eq!(unverified.jwks(), format!("{TEAM}/cdn-cgi/access/certs"));
    assert_eq!(caller.subject, "7335d417-61da-459d-899c-0a01c76a2f94");
    assert!(caller.authorize("acme-docs", "jobs:read").is_ok());
    assert!(caller.require_operator().is_ok());

    assert_refused(&team, OTHER_ISSUER);
    let github = token(&header(), &claims());
    assert_invalid_token(&identify_assertion(&github).unwrap_err(), OTHER_ISSUER);
    assert_invalid_token(
        &identify_assertion(&own_token(&own_claims())).unwrap_err(),
        ALGORITHM,
    );
    assert_invalid_token(
        &identify_assertion(&format!("Bearer {team}")).unwrap_err(),
        MALFORMED,
    );
    assert!(
        identify_assertion(&format!("{team}, {team}")).is_err(),
        "two fields"
    );
    assert!(
        identify_assertion(&format!("{team},{team}")).is_err(),
        "two fields"
    );
    assert_eq!(
        identify_assertion("").unwrap_err().kind.as_str(),
        "missing-token"
    );
}

#[test]
fn authorization_takes_precedence_over_an_assertion() {
    let team = token(&header(), &team_claims());
    let with = |authorization: &str| {
        let credentials = Credentials {
            access_assertion: Some(&team),
            ..in_authorization(authorization)
        };
        identify(&credentials, &config())
    };
    for (authorization, kind) in [
        ("", "missing-token"),
        ("Bearer", "missing-token"),
        ("Basic YTpi", "missing-token"),
        ("Bearer x", "invalid-token"),
        (&format!("Bearer {}.x", bearer()), "invalid-token"),
    ] {
        let problem = with(authorization).unwrap_err();
        assert_eq!(status_and_kind(&problem), (401, kind), "{authorization}");
    }
    assert_eq!(with(&bearer()).unwrap().subject, "alice");
}

#[test]
fn access_header_is_ignored_without_an_issuer_for_it() {
    let team = token(&header(), &team_claims());
    for config in [
        configuration(),
        config_of(&json!([issuers()[0]])).ok().unwrap(),
    ] {
        for token in [&team, &own_token(&own_claims())] {
            let problem = identify(&in_assertion(token), &config).unwrap_err();
            let found = status_and_kind(&problem);
            assert_eq!(found, (401, "missing-token"), "{token}");
        }
    }
}
