use quillgate_worker::auth::Credentials;
use quillgate_worker::auth::caller::OPERATE;
use quillgate_worker::auth::jwks::{Algorithm, KeySet};
use serde_json::{Value, json};

use super::{
    GITHUB, TEAM, assert_accepted, claims, config, config_of, header, identify, identify_assertion,
    identify_bearer, issuers, team_claims, token,
};
use crate::fixtures::{
    EXPIRED, INCOMPLETE, MALFORMED, NOT_YET, NOW, OTHER_ISSUER, SECONDS, UNKNOWN_KIND,
    WRONG_SIGNATURE, assert_invalid_token, bearer, change, claims as own_claims, configuration,
    each, encode, in_assertion, in_authorization, key_set, modulus, rsa_key, sign_token, summarize,
    token as own_token,
};

#[track_caller]
fn assert_refused(token: &str, reason: &str) {
    assert_invalid_token(&identify_bearer(token).unwrap_err(), reason);
}

fn with_header(name: &str, value: Option<Value>) -> String {
    token(&change(header(), name, value), &claims())
}

fn with_claim(name: &str, value: Option<Value>) -> String {
    token(&header(), &change(claims(), name, value))
}

const OTHER_AUDIENCE: &str = "the access token is for another audience";
const NO_KEY: &str = "the access token names no key";
const ITS_OWN_KEY: &str = "the access token brings its own key";
const ALGORITHM: &str =
    "the access token must be signed with HS256, or by a trusted issuer with RS256 or ES256";

#[test]
fn host_must_verify_the_signature_before_admission() {
    let token = token(&header(), &claims());
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let (unverified, caller) = identify_bearer(&token).unwrap();
    assert_eq!(unverified.jwks(), format!("{GITHUB}/.well-known/jwks"));
    assert_eq!(unverified.kid.as_deref(), Some("key-1"));
    assert_eq!(unverified.algorithm, Algorithm::Rs256);
    assert_eq!(unverified.signed(), signed);
    assert_eq!(encode(&unverified.signature), signature);
    assert_eq!(caller.issuer, GITHUB);
    let expected = "https://token.actions.githubusercontent.com repo:acme/docs:ref:refs/heads/main";
    assert_eq!(caller.key(), expected);
}

#[test]
fn issuer_tokens_must_use_rs256_or_es256() {
    for alg in [
        "none", "None", "NONE", "nOnE", "", "hs256", "Hs256", "HS384", "HS512", "rs256", "Rs256",
        "RS256 ", "RS384", "RS512", "RS1", "PS256", "PS384", "es256", "ES256K", "ES384", "ES512",
        "EdDSA", "Ed25519", "RSA-OAEP", "dir", "A128KW",
    ] {
        assert_refused(&with_header("alg", Some(json!(alg))), ALGORITHM);
    }
    for alg in each(json!([null, ["RS256"], { "RS256": 1 }, 256])) {
        assert_refused(&with_header("alg", Some(alg)), MALFORMED);
    }
    let header = change(header(), "alg", Some(json!("ES256")));
    let (unverified, _) = identify_bearer(&token(&header, &claims())).unwrap();
    assert_eq!(unverified.algorithm, Algorithm::Es256);
    assert_eq!(unverified.algorithm.as_str(), "ES256");
}

#[test]
fn only_hs256_is_expected_without_a_trusted_issuer() {
    let config = configuration();
    let authorization = format!("Bearer {}", token(&header(), &claims()));
    let credentials = Credentials {
        access_assertion: Some("x"),
        ..in_authorization(&authorization)
    };
    let problem = identify(&credentials, &config).unwrap_err();
    assert_invalid_token(&problem, "the access token must be signed with HS256");
}

/// An attacker signs an HS256 token with an issuer's public key as the secret.
#[test]
fn public_key_never_verifies_an_hs256_token() {
    let jwk = json!({ "kty": "RSA", "n": modulus(2048), "e": "AQAB" }).to_string();
    let key = modulus(2048);
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{key}\n-----END PUBLIC KEY-----\n");
    for secret in [&*jwk, &*pem, pem.trim_end(), &*modulus(2048), "key-1", ""] {
        for claims in [claims(), own_claims()] {
            for header in [
                json!({ "alg": "HS256", "typ": "JWT", "kid": "key-1" }),
                json!({ "alg": "HS256", "jwk": { "kty": "oct", "k": encode(secret) } }),
            ] {
                let token = sign_token(&header.to_string(), &claims.to_string(), secret);
                assert_refused(&token, WRONG_SIGNATURE);
            }
        }
    }
}

#[test]
fn gateway_secret_cannot_sign_issuer_tokens() {
    assert_refused(&own_token(&claims()), INCOMPLETE);
    let claims = change(own_claims(), "iss", Some(json!(GITHUB)));
    assert_refused(&own_token(&claims), OTHER_ISSUER);
}

#[test]
fn issuer_key_cannot_sign_gateway_tokens() {
    for issuer in ["quillgate", "Quillgate", ""] {
        assert_refused(&with_claim("iss", Some(json!(issuer))), OTHER_ISSUER);
    }
    assert_refused(&token(&header(), &own_claims()), OTHER_ISSUER);
}

#[test]
fn issuer_is_compared_exactly() {
    for issuer in [
        "https://token.actions.githubusercontent.com/",
        "https://TOKEN.actions.githubusercontent.com",
        "https://token.actions.githubusercontent.com.evil.example",
        "https://token.actions.githubusercontent.com@evil.example",
        "https://token.actions.githubusercontent.com:443",
        "https://token.actions.githubusercontent.com\u{0}",
        TEAM,
    ] {
        assert_refused(&with_claim("iss", Some(json!(issuer))), OTHER_ISSUER);
    }
    for issuer in each(json!([null, [GITHUB], 1, {}])) {
        assert_refused(&with_claim("iss", Some(issuer)), INCOMPLETE);
    }
}

#[test]
fn key_id_is_a_string_of_1_to_256_bytes() {
    let with = |kid: Option<Value>| token(&change(header(), "kid", kid), &claims());
    let long = ["k".repeat(257), "ä".repeat(129)];
    for kid in each(json!(["", 1, ["key-1"], long[0], long[1]])) {
        assert_refused(&with(Some(kid)), NO_KEY);
    }
    for kid in [None, Some(json!(null))] {
        let (unverified, _) = identify_bearer(&with(kid)).unwrap();
        assert_eq!(unverified.kid, None);
    }
    let key_set = KeySet::read(&key_set(&[rsa_key()]), NOW).unwrap();
    for kid in [
        "k",
        &"k".repeat(256),
        "../../../../dev/null",
        "' UNION SELECT 'secret' -- ",
        "key-1\u{0}",
        "http://evil.example/jwks.json",
    ] {
        let (unverified, _) = identify_bearer(&with(Some(json!(kid)))).unwrap();
        assert_eq!(unverified.kid.as_deref(), Some(kid));
        assert_eq!(unverified.jwks(), format!("{GITHUB}/.well-known/jwks"));
        let found = key_set.find(Some(kid), Algorithm::Rs256);
        let expected = Err("the access token's kid is not one of its issuer's keys");
        assert_eq!(found, expected);
    }
}

#[test]
fn token_cannot_contain_its_own_key() {
    for (name, value) in [
        ("jwk", rsa_key()),
        ("jku", json!("https://evil.example/jwks.json")),
        ("jku", json!(format!("{GITHUB}/.well-known/jwks"))),
        ("x5u", json!("https://evil.example/cert.pem")),
        ("x5c", json!(["MIIB"])),
    ] {
        assert_refused(&with_header(name, Some(value)), ITS_OWN_KEY);
    }
}

#[test]
fn unknown_type_or_extension_is_rejected() {
    let dpop = "application/dpop+jwt";
    for typ in each(json!(["JWE", "dpop+jwt", dpop, "", ["JWT"]])) {
        assert_refused(&with_header("typ", Some(typ)), UNKNOWN_KIND);
    }
    for crit in each(json!([["b64"], [], "exp"])) {
        assert_refused(&with_header("crit", Some(crit)), UNKNOWN_KIND);
    }
    assert_accepted(&with_header("typ", None));
    let (full, capitals) = ("application/at+jwt", "Application/AT+JWT");
    for typ in ["JWT", "at+jwt", full, capitals] {
        assert_accepted(&with_header("typ", Some(json!(typ))));
    }
}

#[test]
fn null_header_property_counts_as_absent() {
    for name in ["typ", "crit", "jwk", "jku", "x5u", "x5c", "kid"] {
        assert_accepted(&with_header(name, Some(json!(null))));
        let header = change(header(), name, Some(json!(null)));
        assert!(identify_assertion(&token(&header, &team_claims())).is_ok());
    }
}

/// Auth0's `iss` ends in a slash, which configurations often lack.
#[test]
fn operator_learns_the_refused_issuer_and_audience() {
    let refuse = |name: &str, value: Value| {
        let claims = change(claims(), name, Some(value));
        identify_bearer(&token(&header(), &claims)).unwrap_err()
    };
    let problem = refuse("iss", json!(format!("{GITHUB}/\n\"")));
    let expected = Some(
        r#"TRUSTED_ISSUERS does not accept a token whose iss is "https://token.actions.githubusercontent.com/\n\"""#,
    );
    assert_eq!(problem.operator.as_deref(), expected);
    let answer = problem.to_json("an-id");
    assert!(!answer.contains("github") && !answer.contains("TRUSTED_ISSUERS"));
    let long = refuse("iss", json!("ä".repeat(5_000)));
    let cut = format!("{}\"", "ä".repeat(256));
    assert!(long.operator.unwrap().ends_with(&cut));
    let problem = refuse("aud", json!(["first", "second"]));
    let operator = problem.operator.unwrap();
    assert!(operator.ends_with("aud is \"first second\""));
}

#[test]
fn token_audience_must_include_the_gateway() {
    let others = ["https://other.example", "quillgate"];
    for audience in each(json!(["quillgate", ["quillgate"], others])) {
        assert_accepted(&with_claim("aud", Some(audience)));
    }
    let (other, joined) = (["other", "quillgate2"], "quillgate,other");
    for audience in each(json!(["", [], "Quillgate", joined, other, "first-app"])) {
        assert_refused(&with_claim("aud", Some(audience)), OTHER_AUDIENCE);
    }
    assert_refused(&with_claim("aud", None), INCOMPLETE);
    for audience in each(json!([null, 1, ["quillgate", 1], [["quillgate"]]])) {
        assert_refused(&with_claim("aud", Some(audience)), INCOMPLETE);
    }
}

#[test]
fn subject_must_be_a_nonempty_string() {
    for subject in [None, Some(json!(null)), Some(json!(1)), Some(json!(["a"]))] {
        assert_refused(&with_claim("sub", subject), INCOMPLETE);
    }
    let anonymous = with_claim("sub", Some(json!("")));
    assert_refused(&anonymous, "the access token has no subject");
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
        let token = with_claim(name, Some(value));
        match reason {
            Some(reason) => assert_refused(&token, reason),
            None => drop(assert_accepted(&token)),
        }
    }
    assert_refused(&with_claim("exp", None), INCOMPLETE);
    for name in ["nbf", "iat"] {
        assert_accepted(&with_claim(name, None));
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
    assert!(caller.require_anywhere(OPERATE).is_ok());

    assert_refused(&team, OTHER_ISSUER);
    let github = token(&header(), &claims());
    for (token, reason) in [
        (github, OTHER_ISSUER),
        (own_token(&own_claims()), ALGORITHM),
        (format!("Bearer {team}"), MALFORMED),
    ] {
        assert_invalid_token(&identify_assertion(&token).unwrap_err(), reason);
    }
    for two_fields in [format!("{team}, {team}"), format!("{team},{team}")] {
        assert!(identify_assertion(&two_fields).is_err(), "{two_fields}");
    }
    let expected = "missing-token";
    assert_eq!(identify_assertion("").unwrap_err().kind.as_str(), expected);
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
        let expected = format!("401 {kind}");
        assert_eq!(summarize(&problem), expected, "{authorization}");
    }
    assert_eq!(with(&bearer()).unwrap().subject, "alice");
}

#[test]
fn access_header_is_ignored_without_an_issuer_for_it() {
    let team = token(&header(), &team_claims());
    for config in [configuration(), config_of(&json!([issuers()[0]])).unwrap()] {
        for token in [&team, &own_token(&own_claims())] {
            let problem = identify(&in_assertion(token), &config).unwrap_err();
            assert_eq!(summarize(&problem), "401 missing-token", "{token}");
        }
    }
}
