use quillgate::Millis;
use quillgate_worker::auth::caller::ISSUER;
use serde_json::{Value, json};

use crate::fixtures::{
    DAY, EXPIRED, HEADER, INCOMPLETE, MALFORMED, NOT_YET, OTHER_ISSUER, Predicate, SECONDS, SECRET,
    UNKNOWN_KIND, WRONG_SIGNATURE, assert_accepted, assert_invalid_token, claims, claims_with,
    configuration, each, encode, hmac, identify_own, merge, revoked, sign_token, token, verify,
};

const WRONG_ALGORITHM: &str = "the access token must be signed with HS256";
const TOO_LONG_LIVED: &str = "the access token lives longer than 90 days";

const REVOKED: &str = "the access token has been revoked";

#[track_caller]
fn assert_refused(token: &str, reason: &str) {
    assert_invalid_token(&verify(token).unwrap_err(), reason);
}

#[track_caller]
fn assert_claim(name: &str, value: Option<Value>, reason: Option<&str>) {
    let token = token(&claims_with(name, value));
    match reason {
        Some(reason) => assert_refused(&token, reason),
        None => drop(assert_accepted(&token)),
    }
}

fn is_valid(token: &str) -> bool {
    verify(token).is_ok()
}

fn with_header(header: &str) -> String {
    sign_token(header, &claims().to_string(), SECRET)
}

#[test]
fn valid_token_identifies_its_subject() {
    let caller = assert_accepted(&token(&claims()));
    assert_eq!(caller.subject, "alice");
    let expected = (ISSUER, "quillgate alice");
    assert_eq!((&*caller.issuer, &*caller.key()), expected);
}

#[test]
fn caller_expires_with_its_token() {
    for (exp, expected) in [
        (json!(SECONDS + 1), (SECONDS + 1) * 1000),
        (json!(1_750_000_000.25), 1_750_000_000_250),
    ] {
        let caller = assert_accepted(&token(&claims_with("exp", Some(exp.clone()))));
        assert_eq!(caller.expires, Millis(expected), "{exp}");
    }
}

#[test]
fn only_hs256_is_accepted_even_with_a_valid_signature() {
    for alg in [
        "hs256", "Hs256", "HS256 ", " HS256", "HS384", "HS512", "RS256", "ES256", "PS256", "EdDSA",
        "none", "None", "NONE", "nOnE", "dir", "",
    ] {
        let header = json!({ "alg": alg, "typ": "JWT" }).to_string();
        assert_refused(&with_header(&header), WRONG_ALGORITHM);
    }
}

#[test]
fn unsigned_token_is_rejected_in_any_spelling() {
    let claims = encode(claims().to_string());
    for alg in ["none", "HS256"] {
        let header = encode(json!({ "alg": alg }).to_string());
        is_valid.rejects(&[
            format!("{header}.{claims}."),
            format!("{header}.{claims}"),
            format!("{header}.{claims}.AA"),
            format!("{header}.{claims}.{}", encode([0; 32])),
        ]);
    }
}

#[test]
fn jwt_header_is_one_json_object_with_an_algorithm() {
    for header in [
        "",
        "null",
        "{}",
        r#"{"typ":"JWT"}"#,
        r#"{"alg":null}"#,
        r#"{"alg":256}"#,
        r#"{"alg":["HS256"]}"#,
        r#"["HS256","JWT",null]"#,
        r#""HS256""#,
        r#"{"alg":"HS256","alg":"HS256"}"#,
        r#"{"alg":"none","alg":"HS256"}"#,
        r#"{"alg":"HS256"} "x""#,
        r#"{"alg":"HS256""#,
        "{\"alg\":\"HS256\u{0}\"}",
    ] {
        assert_refused(&with_header(header), MALFORMED);
    }
    let not_utf8 = encode(b"{\"alg\":\"HS256\",\"typ\":\"\xff\"}");
    let part = format!("{not_utf8}.{}", encode(claims().to_string()));
    let token = format!("{part}.{}", encode(hmac(&part, SECRET)));
    assert_refused(&token, MALFORMED);
}

#[test]
fn jwt_type_is_optional_and_must_be_jwt() {
    for valid in [
        r#"{"alg":"HS256"}"#,
        r#"{"alg":"HS256","typ":"jwt"}"#,
        r#"{"alg":"HS256","typ":"application/jwt"}"#,
        r#"{"alg":"HS256","typ":null,"crit":null}"#,
        r#"{ "typ":"JWT" , "kid":"1", "alg":"HS256" }"#,
    ] {
        assert_accepted(&with_header(valid));
    }
    for other in each(json!(["at+jwt", "JWE", "JOSE", "", " JWT", ["JWT"], 1])) {
        let header = json!({ "alg": "HS256", "typ": other }).to_string();
        assert_refused(&with_header(&header), UNKNOWN_KIND);
    }
}

#[test]
fn token_with_critical_extensions_is_rejected() {
    for crit in [json!(["exp"]), json!([]), json!("b64"), json!({})] {
        let header = json!({ "alg": "HS256", "crit": crit, "b64": false }).to_string();
        assert_refused(&with_header(&header), UNKNOWN_KIND);
    }
}

#[test]
fn token_has_exactly_three_parts() {
    let valid = token(&claims());
    let (signed_part, signature) = valid.rsplit_once('.').unwrap();
    let (header, claims) = signed_part.split_once('.').unwrap();
    is_valid.rejects(&[
        "x".to_owned(),
        "..".to_owned(),
        header.to_owned(),
        signed_part.to_owned(),
        format!("{valid}."),
        format!(".{valid}"),
        format!("{header}.{claims}.{signature}.{signature}"),
        format!("{header}.{claims}.x.{signature}"),
        format!(".{claims}.{signature}"),
    ]);
}

#[test]
fn only_unpadded_base64url_is_accepted() {
    // These claims encode to both characters that differ between base64 and base64url.
    let claims = claims_with("sub", Some(json!("~~~???>>>ÿÿÿ")));
    let valid = token(&claims);
    assert!(valid.contains('-') && valid.contains('_'));
    assert_accepted(&valid);

    let (signed_part, mac) = valid.rsplit_once('.').unwrap();
    let standard = signed_part.replace('-', "+").replace('_', "/");
    let is_signed_part = |part: &str| is_valid(&format!("{part}.{}", encode(hmac(part, SECRET))));
    assert!(!is_signed_part(&standard), "the other alphabet");
    is_signed_part.rejects(&[
        format!("{signed_part}="),
        format!("{signed_part}=="),
        format!("{signed_part}\n"),
        format!(" {signed_part}"),
        signed_part.replacen('.', "=.", 1),
    ]);
    for signature in [
        format!("{mac}="),
        format!("{mac} "),
        format!("{mac}\t"),
        mac[..42].to_owned(),
        String::new(),
    ] {
        assert!(
            !is_valid(&format!("{signed_part}.{signature}")),
            "{signature:?}"
        );
    }
}

#[test]
fn signature_has_only_one_encoding() {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let valid = token(&claims());
    // Two bits of the last character are unused.
    let (stem, _) = valid.split_at(valid.len() - 1);
    let tokens = ALPHABET.chars().map(|last| format!("{stem}{last}"));
    let accepted: Vec<_> = tokens.filter(|token| is_valid(token)).collect();
    assert_eq!(accepted, [valid]);
}

#[test]
fn signature_of_another_secret_or_length_is_rejected() {
    let text = claims().to_string();
    for secret in ["", "x", &SECRET[1..], &SECRET[..39], &SECRET.to_uppercase()] {
        assert_refused(&sign_token(HEADER, &text, secret), WRONG_SIGNATURE);
    }
    let part = format!("{}.{}", encode(HEADER), encode(&text));
    let right = hmac(&part, SECRET);
    let longer = [&right[..], &[0]].concat();
    for wrong in [&right[..0], &right[..16], &right[..31], &longer] {
        assert_refused(&format!("{part}.{}", encode(wrong)), WRONG_SIGNATURE);
    }
}

#[test]
fn only_configured_secrets_verify_during_rotation() {
    let (new, old) = ("the-new-secret-of-the-gateway-32-bytes", SECRET);
    let verifies = |signing: &str, secrets: &[&str]| {
        let token = sign_token(HEADER, &claims().to_string(), signing);
        let mut config = configuration();
        config.auth.token_secrets = secrets.iter().map(|secret| (*secret).into()).collect();
        identify_own(&config, Some(&format!("Bearer {token}"))).is_ok()
    };
    assert!(verifies(old, &[new, old]) && verifies(new, &[new, old]));
    assert!(!verifies(old, &[new]), "after the rotation");
    let third = "a-third-secret-that-is-not-in-use-of-32";
    for other in [third, &format!("{new},{old}")] {
        assert!(!verifies(other, &[new, old]), "{other}");
    }
    assert!(!verifies("", &[]));
}

#[test]
fn required_claims_must_be_present() {
    for name in ["iss", "sub", "projects", "scope", "iat", "exp"] {
        assert_claim(name, None, Some(INCOMPLETE));
        assert_claim(name, Some(Value::Null), Some(INCOMPLETE));
    }
    for (name, value) in [
        ("jti", json!("one")),
        ("nbf", Value::Null),
        ("quota", json!(1)),
        ("quota", Value::Null),
        ("aud", json!("x")),
    ] {
        assert_claim(name, Some(value), None);
    }
}

#[test]
fn claim_of_the_wrong_type_counts_as_missing() {
    for (name, value) in [
        ("iss", json!(1)),
        ("iss", json!(["quillgate"])),
        ("sub", json!(7)),
        ("projects", json!("demo-docs")),
        ("projects", json!(["demo-docs", 1])),
        ("projects", json!([["demo-docs"]])),
        ("scope", json!(["jobs:read"])),
        ("iat", json!("1750000000")),
        ("exp", json!("1750003600")),
        ("exp", json!(true)),
        ("nbf", json!("soon")),
        ("jti", json!(1)),
    ] {
        assert_claim(name, Some(value), Some(INCOMPLETE));
    }
}

#[test]
fn claims_must_be_one_json_object() {
    let (projects, exp) = (["demo-docs"], SECONDS + 60);
    let list = json!([
        "quillgate",
        "alice",
        projects,
        "jobs:read",
        SECONDS,
        exp,
        null
    ]);
    for claims in [
        String::new(),
        "[]".to_owned(),
        list.to_string(),
        format!("[{}]", claims()),
        format!("{} x", claims()),
        format!("\u{feff}{}", claims()),
        claims().to_string().replace('}', ""),
        claims().to_string().replace(":1750003600", ":NaN"),
        claims().to_string().replace(":1750003600", ":1e999"),
    ] {
        assert_refused(&sign_token(HEADER, &claims, SECRET), INCOMPLETE);
    }
}

#[test]
fn duplicate_claim_is_rejected() {
    let text = claims().to_string();
    for second in [
        r#""exp":9999999999"#,
        r#""projects":["secret-docs"]"#,
        r#""sub":"bob""#,
        r#""\u0065xp":9999999999"#,
        r#""jti":"a","jti":"b""#,
        r#""other":1,"other":1"#,
        r#""quota":{"analytics":1,"analytics":100}"#,
    ] {
        let doubled = text.replacen('{', &format!("{{{second},"), 1);
        assert_refused(&sign_token(HEADER, &doubled, SECRET), INCOMPLETE);
    }
}

#[test]
fn only_tokens_issued_by_the_gateway_are_accepted() {
    let url = "https://quillgate";
    for issuer in ["", "Quillgate", "quillgate ", "quillgate/", url] {
        assert_claim("iss", Some(json!(issuer)), Some(OTHER_ISSUER));
    }
    let reason = Some("the access token has no subject");
    assert_claim("sub", Some(json!("")), reason);
}

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
    for issued in each(json!([0, -1, -1e308, SECONDS + 3599 - 90 * DAY])) {
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
    for quota in each(json!([
        -1, 1.5, 10.0, 1e3, "10", true, [10], { "create_job": 10 },
        { "create-job": -1 }, { "create-job": 0.5 }, { "create-job": "10" }, { "create-job": null },
        { "create-job": { "q": 1 } }, { "create-job": 10, "*": 10 },
    ])) {
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
        let claims = merge(
            claims(),
            &json!({ "sub": subject, "iat": issued, "jti": id }),
        );
        let identified = identify_own(&config, Some(&format!("Bearer {}", token(&claims))));
        assert_eq!(identified.is_ok(), valid, "{claims}");
        if let Err(problem) = identified {
            assert_eq!((problem.status, &*problem.detail), (401, REVOKED));
        }
    }
    let stolen = claims_with("jti", Some(json!("stolen")));
    let forged = sign_token(HEADER, &stolen.to_string(), "another");
    let problem = identify_own(&config, Some(&format!("Bearer {forged}"))).unwrap_err();
    assert_eq!(problem.detail, WRONG_SIGNATURE);
}
