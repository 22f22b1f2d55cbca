//! Validation of issuers' tokens.

mod claims;

use quillgate_worker::auth::Credentials;
use quillgate_worker::auth::jwks::{Algorithm, KeySet};
use serde_json::{Value, json};

use super::{
    GITHUB, TEAM, assert_accepted, claims, header, identify, identify_assertion, identify_bearer,
    team_claims, token,
};
use crate::fixtures::{
    NOW, assert_invalid_token, change, claims as own_claims, configuration, encode,
    in_authorization, key_set, modulus, rsa_key, sign_token, token as own_token,
};

#[track_caller]
fn assert_refused(token: &str, reason: &str) {
    match identify_bearer(token) {
        Ok((_, caller)) => panic!("accepted as {caller:?}, where \"{reason}\" was expected"),
        Err(problem) => assert_invalid_token(&problem, reason),
    }
}

const MALFORMED: &str = "the access token is not a signed JWT";
const INCOMPLETE: &str = "the access token's claims are not complete";
const WRONG_SIGNATURE: &str = "the access token's signature is wrong";
const UNKNOWN_KIND: &str = "the access token is of an unknown kind";
const OTHER_ISSUER: &str = "the access token is from another issuer";
const OTHER_AUDIENCE: &str = "the access token is for another audience";
const NO_KEY: &str = "the access token names no key";
const ITS_OWN_KEY: &str = "the access token brings its own key";
const EXPIRED: &str = "the access token has expired";
const NOT_YET: &str = "the access token is not valid yet";
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
    assert_eq!(
        caller.key(),
        "https://token.actions.githubusercontent.com repo:acme/docs:ref:refs/heads/main"
    );
}

#[test]
fn issuer_tokens_must_use_rs256_or_es256() {
    for alg in [
        "none", "None", "NONE", "nOnE", "", "hs256", "Hs256", "HS384", "HS512", "rs256", "Rs256",
        "RS256 ", "RS384", "RS512", "RS1", "PS256", "PS384", "es256", "ES256K", "ES384", "ES512",
        "EdDSA", "Ed25519", "RSA-OAEP", "dir", "A128KW",
    ] {
        let header = change(header(), "alg", Some(json!(alg)));
        assert_refused(&token(&header, &claims()), ALGORITHM);
    }
    for alg in [
        json!(null),
        json!(["RS256"]),
        json!({ "RS256": 1 }),
        json!(256),
    ] {
        let header = change(header(), "alg", Some(alg));
        assert_refused(&token(&header, &claims()), MALFORMED);
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
    let pem = format!(
        "-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n",
        modulus(2048)
    );
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
        let claims = change(claims(), "iss", Some(json!(issuer)));
        assert_refused(&token(&header(), &claims), OTHER_ISSUER);
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
        let claims = change(claims(), "iss", Some(json!(issuer)));
        assert_refused(&token(&header(), &claims), OTHER_ISSUER);
    }
    for issuer in [json!(null), json!([GITHUB]), json!(1), json!({})] {
        let claims = change(claims(), "iss", Some(issuer));
        assert_refused(&token(&header(), &claims), INCOMPLETE);
    }
}

#[test]
fn key_id_is_a_string_of_1_to_256_bytes() {
    let with = |kid: Option<Value>| token(&change(header(), "kid", kid), &claims());
    for kid in [
        json!(""),
        json!(1),
        json!(["key-1"]),
        json!("k".repeat(257)),
        json!("ä".repeat(129)),
    ] {
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
        assert_eq!(
            found,
            Err("the access token's kid is not one of its issuer's keys")
        );
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
        let header = change(header(), name, Some(value));
        assert_refused(&token(&header, &claims()), ITS_OWN_KEY);
    }
}

#[test]
fn unknown_type_or_extension_is_rejected() {
    for typ in [
        json!("JWE"),
        json!("dpop+jwt"),
        json!("application/dpop+jwt"),
        json!(""),
        json!(["JWT"]),
    ] {
        let header = change(header(), "typ", Some(typ));
        assert_refused(&token(&header, &claims()), UNKNOWN_KIND);
    }
    for crit in [json!(["b64"]), json!([]), json!("exp")] {
        let header = change(header(), "crit", Some(crit));
        assert_refused(&token(&header, &claims()), UNKNOWN_KIND);
    }
    for typ in [
        None,
        Some("JWT"),
        Some("at+jwt"),
        Some("application/at+jwt"),
        Some("Application/AT+JWT"),
    ] {
        let header = change(header(), "typ", typ.map(Value::from));
        assert_accepted(&token(&header, &claims()));
    }
}

#[test]
fn null_header_property_counts_as_absent() {
    for name in ["typ", "crit", "jwk", "jku", "x5u", "x5c", "kid"] {
        let header = change(header(), name, Some(json!(null)));
        assert_accepted(&token(&header, &claims()));
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
    assert_eq!(
        problem.operator.as_deref(),
        Some(
            r#"TRUSTED_ISSUERS does not accept a token whose iss is "https://token.actions.githubusercontent.com/\n\"""#
        )
    );
    let answer = problem.to_json("an-id");
    assert!(!answer.contains("github") && !answer.contains("TRUSTED_ISSUERS"));
    let long = refuse("iss", json!("ä".repeat(5_000)));
    assert!(
        long.operator
            .unwrap()
            .ends_with(&format!("{}\"", "ä".repeat(256)))
    );
    let problem = refuse("aud", json!(["first", "second"]));
    assert!(
        problem
            .operator
            .unwrap()
            .ends_with("aud is \"first second\"")
    );
}
