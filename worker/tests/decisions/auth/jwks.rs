mod cache;

use quillgate_worker::auth::jwks::{Algorithm, KeySet, PublicKey};
use serde_json::{Value, json};

use crate::fixtures::{NOW, change, ec_key, encode, key_set, merge, modulus, rsa_key};

const UNKNOWN: &str = "the access token's kid is not one of its issuer's keys";

fn find_key<'a>(
    jwks: &str,
    kid: impl Into<Option<&'a str>>,
    algorithm: Algorithm,
) -> Result<PublicKey, &'static str> {
    KeySet::read(jwks, NOW)?.find(kid.into(), algorithm)
}

#[test]
fn key_is_returned_without_private_properties() {
    let private = json!({
        "d": encode([3; 32]),
        "p": encode([4; 128]),
        "k": encode("a secret"),
        "ext": "true",
    });
    let keys = key_set(&[merge(rsa_key(), &private), merge(ec_key(), &private)]);
    let json = |kid, algorithm| {
        let key = find_key(&keys, kid, algorithm).unwrap();
        serde_json::to_string(&key).unwrap()
    };
    let n = modulus(2048);
    let expected = format!(r#"{{"kty":"RSA","n":"{n}","e":"AQAB"}}"#);
    assert_eq!(json("key-1", Algorithm::Rs256), expected);
    let (x, y) = (encode([1; 32]), encode([2; 32]));
    let expected = format!(r#"{{"kty":"EC","crv":"P-256","x":"{x}","y":"{y}"}}"#);
    assert_eq!(json("key-2", Algorithm::Es256), expected);
}

#[test]
fn unknown_kid_finds_no_key() {
    let keys = [
        rsa_key(),
        ec_key(),
        json!({}),
        json!({ "kid": 1 }),
        json!({ "kid": null }),
        change(rsa_key(), "kid", None),
        json!({ "kty": "oct", "k": "AAAA", "kid": "symmetric" }),
    ];
    let set = key_set(&keys);
    for kid in [
        "key-3", "KEY-1", "key-1 ", "key", "1", "null", "", "key-1\0",
    ] {
        assert_eq!(find_key(&set, kid, Algorithm::Rs256), Err(UNKNOWN), "{kid}");
    }
    assert!(find_key(&set, "key-1", Algorithm::Rs256).is_ok());
    let found = find_key(r#"{"keys":[]}"#, "key-1", Algorithm::Rs256);
    assert_eq!(found, Err(UNKNOWN));
}

fn other_rsa_key() -> Value {
    change(rsa_key(), "n", Some(json!(modulus(2049))))
}

#[test]
fn two_usable_keys_with_one_kid_are_rejected() {
    let keys = key_set(&[rsa_key(), ec_key(), other_rsa_key()]);
    let found = find_key(&keys, "key-1", Algorithm::Rs256);
    let reason = "the issuer has two keys of the access token's kid";
    assert_eq!(found, Err(reason));
}

/// Keycloak uses one kid for an encryption key and a signing key. Some issuers list a key once per
/// algorithm.
#[test]
fn keys_that_cannot_verify_the_token_do_not_count() {
    let named = |key: Value| change(key, "kid", Some(json!("key-1")));
    for other in [
        rsa_key(),
        named(ec_key()),
        change(other_rsa_key(), "use", Some(json!("enc"))),
        change(other_rsa_key(), "key_ops", Some(json!(["encrypt"]))),
        change(other_rsa_key(), "alg", Some(json!("RS512"))),
        change(other_rsa_key(), "alg", Some(json!("RSA-OAEP"))),
        change(other_rsa_key(), "n", Some(json!(modulus(1024)))),
        json!({ "kid": "key-1", "kty": "AKP", "alg": "ML-DSA-44", "pub": "AA" }),
    ] {
        let own = find_key(&key_set(&[rsa_key()]), "key-1", Algorithm::Rs256);
        for keys in [[rsa_key(), other.clone()], [other.clone(), rsa_key()]] {
            let found = find_key(&key_set(&keys), "key-1", Algorithm::Rs256);
            assert_eq!(found, own, "{other}");
            let unnamed = find_key(&key_set(&keys), None, Algorithm::Rs256);
            assert_eq!(unnamed, own, "{other}");
        }
    }
}

#[test]
fn missing_kid_selects_the_only_usable_key() {
    let unnamed = |key: Value| change(key, "kid", None);
    let null = |key: Value| change(key, "kid", Some(json!(null)));
    let encrypts = change(unnamed(other_rsa_key()), "use", Some(json!("enc")));
    let other_null = null(other_rsa_key());
    let several = Some("the issuer has several keys, and a kid does not name one of them");
    let not_for_signatures = Some("the issuer's key is not for signatures");
    let (any, enc) = (Some("any"), change(rsa_key(), "use", Some(json!("enc"))));
    for (keys, kid, reason) in [
        (vec![rsa_key()], None, None),
        (vec![rsa_key(), ec_key()], None, None),
        (vec![unnamed(rsa_key()), encrypts], None, None),
        (vec![unnamed(rsa_key())], any, None),
        (vec![null(rsa_key()), null(ec_key())], any, None),
        (vec![rsa_key(), other_rsa_key()], None, several),
        (vec![unnamed(rsa_key()), other_null], any, several),
        // One key has a kid, so a kid that no key has is unknown.
        (vec![unnamed(rsa_key()), ec_key()], any, Some(UNKNOWN)),
        (vec![], None, Some("the issuer has no keys")),
        (vec![enc], None, not_for_signatures),
    ] {
        let found = find_key(&key_set(&keys), kid, Algorithm::Rs256);
        assert_eq!(found.err(), reason, "{keys:?} {kid:?}");
    }
}

/// A token's `alg` must not determine the algorithm of a key. Otherwise, attacks such as
/// CVE-2026-22818 succeed.
#[test]
fn key_is_used_only_for_its_algorithm() {
    use Algorithm::{Es256, Rs256};
    const OTHER_TYPE: Option<&str> =
        Some("the issuer's key is of another type than the algorithm's");
    const OTHER_ALGORITHM: Option<&str> = Some("the issuer's key is for another algorithm");
    let find = |key: &Value, algorithm| {
        let key = change(key.clone(), "kid", Some(json!("key")));
        find_key(&key_set(&[key]), "key", algorithm).err()
    };
    let rsa = change(rsa_key(), "alg", None);
    let ec = change(ec_key(), "alg", None);
    let ed25519 = json!({ "kty": "OKP", "crv": "Ed25519" });
    for (key, algorithm, reason) in [
        (&rsa, Rs256, None),
        (&ec, Es256, None),
        (&rsa, Es256, OTHER_TYPE),
        (&ec, Rs256, OTHER_TYPE),
        (&rsa_key(), Es256, OTHER_ALGORITHM),
        (&ec_key(), Rs256, OTHER_ALGORITHM),
        (&json!({ "kty": "oct", "k": "AAAA" }), Rs256, OTHER_TYPE),
        (&ed25519, Es256, OTHER_TYPE),
    ] {
        assert_eq!(find(key, algorithm), reason, "{key} {algorithm:?}");
    }
    for (key, algorithm, name, value, reason) in [
        (&rsa, Rs256, "alg", json!("RS512"), OTHER_ALGORITHM),
        (&rsa, Rs256, "alg", json!("HS256"), OTHER_ALGORITHM),
        (&rsa, Rs256, "alg", json!("rs256"), OTHER_ALGORITHM),
        (&rsa, Rs256, "alg", json!(null), None),
        (&rsa, Rs256, "kty", json!("rsa"), OTHER_TYPE),
        (&rsa, Rs256, "kty", json!(null), OTHER_TYPE),
        (&ec, Es256, "crv", json!("P-384"), OTHER_TYPE),
        (&ec, Es256, "crv", json!(null), OTHER_TYPE),
    ] {
        let changed = change(key.clone(), name, Some(value));
        assert_eq!(find(&changed, algorithm), reason, "{changed}");
    }
}

#[test]
fn key_for_another_use_is_rejected() {
    for (name, value, is_used) in [
        ("use", Some(json!("sig")), true),
        ("use", None, true),
        ("use", Some(json!("enc")), false),
        ("use", Some(json!(null)), true),
        ("use", Some(json!(["sig"])), false),
        ("key_ops", Some(json!(["verify"])), true),
        ("key_ops", Some(json!(["sign", "verify"])), true),
        ("key_ops", Some(json!([])), false),
        ("key_ops", Some(json!(["encrypt", "wrapKey"])), false),
        ("key_ops", Some(json!("verify")), false),
    ] {
        let key = change(rsa_key(), name, value);
        let keys = key_set(std::slice::from_ref(&key));
        let found = find_key(&keys, "key-1", Algorithm::Rs256);
        let reason = (!is_used).then_some("the issuer's key is not for signatures");
        assert_eq!(found.err(), reason, "{key}");
    }
}

#[test]
fn weak_or_malformed_key_is_rejected() {
    const SHORT: Option<&str> = Some("the issuer's key is too short");
    const MALFORMED: Option<&str> = Some("the issuer's key is malformed");
    let find = |key: Value, algorithm| {
        let found = find_key(&key_set(std::slice::from_ref(&key)), None, algorithm);
        (found.err(), key)
    };
    let leading_zeros = encode([vec![0; 2], vec![0xff; 128], vec![0; 128]].concat());
    let half_zero = encode([vec![0; 128], vec![0xff; 128]].concat());
    let valid = modulus(2048);
    for (name, value, reason) in [
        ("n", json!(valid), None),
        ("n", json!(modulus(4096)), None),
        ("n", json!(leading_zeros), None),
        ("n", json!(modulus(2047)), SHORT),
        ("n", json!(half_zero), SHORT),
        ("n", json!(""), SHORT),
        ("n", json!(null), MALFORMED),
        ("n", json!(65_537), MALFORMED),
        ("n", json!(format!("{valid}=")), MALFORMED),
        ("n", json!(format!("+/{valid}")), MALFORMED),
        ("e", json!("Aw"), None),
        ("e", json!(null), MALFORMED),
        ("e", json!(""), MALFORMED),
        ("e", json!("AQ"), MALFORMED),
        ("e", json!("AQAA"), MALFORMED),
        ("e", json!(65_537), MALFORMED),
    ] {
        let (found, key) = find(change(rsa_key(), name, Some(value)), Algorithm::Rs256);
        assert_eq!(found, reason, "{name} of {key}");
    }
    for (name, value) in [
        ("x", json!(null)),
        ("x", json!("")),
        ("x", json!(encode([1; 31]))),
        ("y", json!(encode([0; 33]))),
        ("y", json!(7)),
    ] {
        let (found, key) = find(change(ec_key(), name, Some(value)), Algorithm::Es256);
        assert_eq!(found, MALFORMED, "{name} of {key}");
    }
}

#[test]
fn malformed_jwk_set_is_rejected() {
    let key = rsa_key().to_string();
    let two_kids = key.replacen('{', r#"{"kid":"other","#, 1);
    for text in [
        String::new(),
        "<html>404</html>".to_owned(),
        format!(r#"{{"keys":{key}}}"#),
        format!(r#"{{"keys":[{key},null]}}"#),
        format!(r#"{{"Keys":[{key}]}}"#),
        format!(r#"{{"keys":[],"keys":[{key}]}}"#),
        format!(r#"{{"keys":[{two_kids}]}}"#),
        format!(r#"{{"keys":[{key}]}} x"#),
    ] {
        let read = KeySet::read(&text, NOW);
        assert_eq!(read.err(), Some("the issuer's keys are not a JWK Set"));
        let found = find_key(&text, "key-1", Algorithm::Rs256);
        assert_eq!(found, Err("the issuer's keys are not a JWK Set"), "{text}");
    }
}
