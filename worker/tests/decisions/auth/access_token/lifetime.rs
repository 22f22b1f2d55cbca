//! Limits of the gateway's own access tokens.

use serde_json::{Value, json};

use super::{
    EXPIRED, INCOMPLETE, NOT_YET, REVOKED, TOO_LONG_LIVED, WRONG_SIGNATURE, assert_claim,
    assert_refused,
};
use crate::fixtures::{
    DAY, HEADER, SECONDS, assert_accepted, claims, claims_with, configuration, identify_own,
    revoked, sign_token, token,
};

#[test]
fn token_expires_without_leeway() {
    for (exp, reason) in [
        (json!(SECONDS + 1), None),
        (json!(1_750_000_000.001), None),
        (json!(SECONDS), Some(EXPIRED)),
        (json!(SECONDS - 1), Some(EXPIRED)),
        (json!(0), Some(EXPIRED)),
        (json!(-1), Some(EXPIRED)),
        (json!(-1e308), Some(EXPIRED)),
    ] {
        assert_claim("exp", Some(exp), reason);
    }
}

#[test]
fn signers_clock_can_be_one_minute_ahead() {
    for name in ["iat", "nbf"] {
        for (value, reason) in [
            (json!(SECONDS + 60), None),
            (json!(SECONDS + 61), Some(NOT_YET)),
            (json!(1_750_000_060.01), Some(NOT_YET)),
            (json!(1e308), Some(NOT_YET)),
        ] {
            assert_claim(name, Some(value), reason);
        }
    }
    assert_claim("nbf", Some(json!(-1e308)), None);
}

#[test]
fn token_lives_at_most_90_days() {
    for (exp, reason) in [
        (json!(SECONDS + 90 * DAY), None),
        (json!(SECONDS + 90 * DAY + 1), Some(TOO_LONG_LIVED)),
        (json!(1e15), Some(TOO_LONG_LIVED)),
        (json!(u64::MAX), Some(TOO_LONG_LIVED)),
        (json!(1e308), Some(TOO_LONG_LIVED)),
    ] {
        assert_claim("exp", Some(exp), reason);
    }
    for issued in [
        json!(0),
        json!(-1),
        json!(-1e308),
        json!(SECONDS + 3599 - 90 * DAY),
    ] {
        assert_claim("iat", Some(issued), Some(TOO_LONG_LIVED));
    }
    assert_claim("iat", Some(json!(SECONDS + 3600 - 90 * DAY)), None);
}

#[test]
fn token_over_16_kib_is_rejected() {
    let mut over = 0;
    for padding in 12_044..12_144 {
        let token = token(&claims_with("jti", Some("x".repeat(padding).into())));
        if token.len() > 16_384 {
            assert_refused(&token, "the access token is too long");
            over += 1;
        } else {
            assert_accepted(&token);
        }
    }
    assert!((1..100).contains(&over), "the lengths lie around the limit");
    assert_refused(&"x".repeat(10_000_000), "the access token is too long");
}

#[test]
fn malformed_quota_makes_the_token_invalid() {
    for quota in [
        Value::Null,
        json!(-1),
        json!(1.5),
        json!(10.0),
        json!(1e3),
        json!("10"),
        json!(true),
        json!([10]),
        json!({ "create-job": -1 }),
        json!({ "create-job": 0.5 }),
        json!({ "create-job": "10" }),
        json!({ "create-job": null }),
        json!({ "create-job": { "q": 1 } }),
        json!({ "create_job": 10 }),
        json!({ "create-job": 10, "*": 10 }),
    ] {
        assert_claim("quota", Some(quota), Some(INCOMPLETE));
    }
}

#[test]
fn token_is_revoked_by_id_or_by_subject_and_time() {
    let mut config = configuration();
    config.auth.revoked = revoked(&json!(["stolen", { "sub": "alice", "before": SECONDS - 100 }]));
    for (subject, issued, id, valid) in [
        ("alice", json!(SECONDS), None, true),
        ("alice", json!(SECONDS), Some("mine"), true),
        ("alice", json!(SECONDS), Some("stolen"), false),
        ("bob", json!(SECONDS), Some("stolen"), false),
        ("bob", json!(SECONDS), Some("Stolen"), true),
        ("bob", json!(SECONDS), Some("stolen "), true),
        ("alice", json!(SECONDS - 100), None, true),
        ("alice", json!(SECONDS - 101), None, false),
        ("alice", json!(1_749_999_899.999), None, false),
        ("alice", json!(SECONDS - 101), Some("mine"), false),
        ("Alice", json!(SECONDS - 101), None, true),
        ("alice ", json!(SECONDS - 101), None, true),
        ("bob", json!(SECONDS - 101), None, true),
    ] {
        let mut claims = claims();
        claims["sub"] = json!(subject);
        claims["iat"] = issued;
        claims["jti"] = json!(id);
        let identified = identify_own(&config, Some(&format!("Bearer {}", token(&claims))));
        assert_eq!(identified.is_ok(), valid, "{claims}");
        if let Err(problem) = identified {
            assert_eq!((problem.status, &*problem.detail), (401, REVOKED));
        }
    }
    let forged = sign_token(
        HEADER,
        &claims_with("jti", Some(json!("stolen"))).to_string(),
        "another",
    );
    let problem = identify_own(&config, Some(&format!("Bearer {forged}"))).unwrap_err();
    assert_eq!(problem.detail, WRONG_SIGNATURE);
}
