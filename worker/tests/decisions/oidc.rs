//! Which tokens of trusted issuers are accepted, with which of the issuer's keys, and
//! what they allow. The attacks are those of the published advisories on JWT libraries
//! and middlewares: CVE-2015-9235, CVE-2016-10555, CVE-2018-0114, CVE-2022-23540,
//! CVE-2026-22817 and CVE-2026-22818, and of RFC 8725.

use proptest::prelude::*;
use quillgate_worker::access::{Caller, Credentials, Identity, Signature, identify};
use quillgate_worker::config::Config;
use quillgate_worker::oidc::{Algorithm, Source, Unverified, jwk, trusted_issuers};
use quillgate_worker::problem::Problem;
use serde_json::{Value, json};

use crate::setting::{
    NOW, SECONDS, bearer, claims as own_claims, configuration, encoded, signed, token as own_token,
};

const GITHUB: &str = "https://token.actions.githubusercontent.com";
const TEAM: &str = "https://acme.cloudflareaccess.com";

/// A workflow's issuer and Cloudflare Access, with rules that overlap.
fn issuers() -> Value {
    json!([
        {
            "issuer": GITHUB,
            "audience": "quillgate",
            "jwks": "https://token.actions.githubusercontent.com/.well-known/jwks",
            "rules": [
                {
                    "claims": {
                        "repository": "acme/docs",
                        "ref": ["refs/heads/main", "refs/heads/next"],
                    },
                    "projects": ["acme-docs"],
                    "scope": "jobs:create jobs:read",
                    "quota": { "create-job": 10, "analytics": 5 },
                },
                {
                    "claims": { "repository_owner": "acme" },
                    "projects": ["acme-site"],
                    "scope": "analytics:read",
                    "quota": { "create-job": 3 },
                },
                {
                    "claims": { "run_attempt": 1, "ref_protected": true },
                    "projects": ["*"],
                    "scope": "jobs:read",
                },
            ],
        },
        {
            "issuer": TEAM,
            "audience": ["first-app", "second-app"],
            "jwks": "https://acme.cloudflareaccess.com/cdn-cgi/access/certs",
            "header": "Cf-Access-Jwt-Assertion",
            "rules": [{
                "claims": { "groups": ["docs", "writers"] },
                "projects": ["acme-docs"],
                "scope": "jobs:read gateway:operate",
            }],
        },
    ])
}

fn config() -> Config {
    let mut config = configuration();
    config.trusted_issuers = trusted_issuers(&issuers().to_string()).unwrap();
    config
}

fn header() -> Value {
    json!({ "alg": "RS256", "typ": "JWT", "kid": "key-1", "x5t": "a-thumbprint" })
}

/// A workflow's claims, as GitHub has them.
fn claims() -> Value {
    json!({
        "iss": GITHUB,
        "aud": "quillgate",
        "sub": "repo:acme/docs:ref:refs/heads/main",
        "exp": SECONDS + 300,
        "nbf": SECONDS - 300,
        "iat": SECONDS,
        "repository": "acme/docs",
        "ref": "refs/heads/main",
        "run_attempt": "1",
        "ref_protected": "true",
    })
}

fn team_claims() -> Value {
    json!({
        "iss": TEAM,
        "aud": ["first-app"],
        "sub": "7335d417-61da-459d-899c-0a01c76a2f94",
        "exp": SECONDS + 30 * 86_400,
        "iat": SECONDS,
        "type": "app",
        "groups": ["staff", "docs"],
    })
}

fn changed(mut object: Value, name: &str, value: Option<Value>) -> Value {
    let members = object.as_object_mut().unwrap();
    match value {
        Some(value) => members.insert(name.to_owned(), value),
        None => members.remove(name),
    };
    object
}

/// A token whose signature has the right length; whether it is right is for the host.
fn token_of(header: &str, claims: &str) -> String {
    let length = if header.contains("ES256") { 64 } else { 256 };
    let signature = encoded(vec![7; length]);
    format!("{}.{}.{signature}", encoded(header), encoded(claims))
}

fn token(header: &Value, claims: &Value) -> String {
    token_of(&header.to_string(), &claims.to_string())
}

fn shown(credentials: &Credentials<'_>) -> Result<(Unverified, Caller), Problem> {
    let config = config();
    let before = identify(credentials, &config, NOW, Signature::Unchecked);
    let after = identify(credentials, &config, NOW, Signature::Checked);
    match (before, after) {
        (Ok(Identity::Unverified(token)), Ok(Identity::Caller(caller))) => Ok((token, caller)),
        // A forged token must not find out which rules there are.
        (Ok(Identity::Unverified(_)), Err(problem)) if problem.kind == "identity-not-mapped" => {
            Err(problem)
        }
        (Err(problem), again) => {
            assert_eq!(
                Err(problem.clone()),
                again,
                "refused both times, and equally"
            );
            Err(problem)
        }
        (before, after) => panic!("{before:?} before the signature's check, {after:?} after"),
    }
}

/// What a bearer token shows.
fn seen(token: &str) -> Result<(Unverified, Caller), Problem> {
    let authorization = format!("Bearer {token}");
    shown(&Credentials {
        authorization: Some(&authorization),
        access_assertion: None,
    })
}

/// What a token in Access's own header shows.
fn asserted(token: &str) -> Result<(Unverified, Caller), Problem> {
    shown(&Credentials {
        authorization: None,
        access_assertion: Some(token),
    })
}

#[track_caller]
fn assert_accepted(token: &str) -> Caller {
    match seen(token) {
        Ok((_, caller)) => caller,
        Err(problem) => panic!("refused: {}", problem.detail),
    }
}

#[track_caller]
fn assert_problem(problem: &Problem, reason: &str) {
    assert_eq!(
        (problem.status, problem.kind, problem.detail.as_str()),
        (401, "invalid-token", reason)
    );
    let challenge = "Bearer realm=\"quillgate\", error=\"invalid_token\"";
    assert_eq!(
        problem.headers,
        [("www-authenticate", challenge.to_owned())]
    );
}

#[track_caller]
fn assert_refused(token: &str, reason: &str) {
    match seen(token) {
        Ok((_, caller)) => panic!("accepted as {caller:?}, where \"{reason}\" was expected"),
        Err(problem) => assert_problem(&problem, reason),
    }
}

#[track_caller]
fn assert_not_mapped(claims: &Value) {
    let problem = seen(&token(&header(), claims)).unwrap_err();
    assert_eq!((problem.status, problem.kind), (403, "identity-not-mapped"));
    let challenge = "Bearer realm=\"quillgate\", error=\"insufficient_scope\"";
    assert_eq!(
        problem.headers,
        [("www-authenticate", challenge.to_owned())]
    );
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
fn the_host_is_told_what_to_verify_before_anybody_is_let_in() {
    let token = token(&header(), &claims());
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let (unverified, caller) = seen(&token).unwrap();
    let expected = Unverified {
        issuer: GITHUB.to_owned(),
        jwks: format!("{GITHUB}/.well-known/jwks"),
        kid: "key-1".to_owned(),
        algorithm: Algorithm::Rs256,
        signed: signed.to_owned(),
        signature: signature.to_owned(),
    };
    assert_eq!(unverified, expected);
    assert_eq!(caller.issuer, GITHUB);
    assert_eq!(
        caller.key(),
        "https://token.actions.githubusercontent.com repo:acme/docs:ref:refs/heads/main"
    );
}

#[test]
fn a_workflow_may_do_what_its_rule_grants() {
    let caller = assert_accepted(&token(&header(), &claims()));
    for (project, scope, kind) in [
        ("acme-docs", "jobs:create", None),
        ("acme-docs", "jobs:read", None),
        ("acme-docs", "analytics:read", Some("insufficient-scope")),
        (
            "acme-docs",
            "jobs:create jobs:read",
            Some("insufficient-scope"),
        ),
        ("acme-site", "analytics:read", Some("project-not-allowed")),
        ("*", "jobs:read", Some("project-not-allowed")),
    ] {
        let problem = caller.authorize(project, scope).err();
        assert_eq!(
            problem.map(|problem| problem.kind),
            kind,
            "{project} {scope}"
        );
    }
    assert!(caller.operates().is_err());
    assert_eq!(caller.quota.of("create-job"), Some(10));
    assert_eq!(caller.quota.of("send-message"), None);
}

#[test]
fn each_rule_that_matches_is_a_grant_of_its_own() {
    let claims = changed(claims(), "repository_owner", Some(json!("acme")));
    let caller = assert_accepted(&token(&header(), &claims));
    assert_eq!(caller.grants.len(), 2);
    assert!(caller.authorize("acme-docs", "jobs:create").is_ok());
    assert!(caller.authorize("acme-site", "analytics:read").is_ok());
    for (project, scope) in [
        ("acme-site", "jobs:create"),
        ("acme-docs", "analytics:read"),
    ] {
        let problem = caller.authorize(project, scope).unwrap_err();
        assert_eq!(problem.kind, "insufficient-scope");
    }
    let quota = ["create-job", "send-message", "analytics"].map(|policy| caller.quota.of(policy));
    assert_eq!(quota, [Some(3), None, Some(5)], "the lower of each");
}

#[test]
fn claims_of_two_rules_never_combine() {
    for (repository, reference) in [
        ("acme/docs", "refs/heads/other"),
        ("acme/other", "refs/heads/main"),
    ] {
        let claims = changed(claims(), "repository", Some(json!(repository)));
        assert_not_mapped(&changed(claims, "ref", Some(json!(reference))));
    }
}

#[test]
fn a_claim_is_its_value_and_no_part_of_it() {
    for repository in [
        json!("acme/docs-evil"),
        json!("acme/docs/"),
        json!("evil/acme/docs"),
        json!("acme/doc"),
        json!("Acme/docs"),
        json!("acme/docs "),
        json!(" acme/docs"),
        json!("acme/docs\u{0}"),
        json!("acme/docs\n"),
        json!("acme%2fdocs"),
        json!("acme/docs,acme/other"),
        json!("acme/döcs"),
        json!("*"),
        json!(".*"),
        json!(""),
        json!({ "acme/docs": true }),
        json!([["acme/docs"]]),
        json!([]),
        json!(true),
        json!(null),
    ] {
        assert_not_mapped(&changed(claims(), "repository", Some(repository)));
    }
    assert_not_mapped(&changed(claims(), "repository", None));
    for name in ["Repository", "repository ", "repository_"] {
        let without = changed(claims(), "repository", None);
        assert_not_mapped(&changed(without, name, Some(json!("acme/docs"))));
    }
}

#[test]
fn one_of_the_values_is_enough_on_either_side() {
    for (reference, good) in [
        (json!("refs/heads/next"), true),
        (json!(["refs/heads/next"]), true),
        (json!(["refs/heads/x", "refs/heads/main"]), true),
        (json!(["refs/heads/x"]), false),
        (json!("refs/heads/main refs/heads/next"), false),
        (json!("refs/heads/mai"), false),
    ] {
        let claims = changed(claims(), "ref", Some(reference));
        if good {
            assert_accepted(&token(&header(), &claims));
        } else {
            assert_not_mapped(&claims);
        }
    }
}

#[test]
fn text_is_no_number_and_no_boolean() {
    let other = changed(claims(), "repository", None);
    for (attempt, protected, good) in [
        (json!(1), json!(true), true),
        (json!([2, 1]), json!([true]), true),
        (json!("1"), json!(true), false),
        (json!(1), json!("true"), false),
        (json!(1.0), json!(true), false),
        (json!(-1), json!(true), false),
        (json!(true), json!(true), false),
        (json!(1), json!(1), false),
        (json!(1), json!(false), false),
    ] {
        let claims = changed(other.clone(), "run_attempt", Some(attempt));
        let claims = changed(claims, "ref_protected", Some(protected));
        if good {
            let caller = assert_accepted(&token(&header(), &claims));
            assert!(caller.authorize("*", "jobs:read").is_ok(), "a literal star");
            assert!(caller.authorize("acme-docs", "jobs:read").is_err());
        } else {
            assert_not_mapped(&claims);
        }
    }
}

#[test]
fn a_token_cannot_grant_itself_anything() {
    let mut claims = claims();
    claims["projects"] = json!(["acme-site", "*"]);
    claims["scope"] = json!("jobs:create analytics:read gateway:operate");
    claims["quota"] = json!({ "create-job": 1_000_000 });
    claims["grants"] = json!([{ "projects": ["acme-site"], "scopes": ["jobs:create"] }]);
    let caller = assert_accepted(&token(&header(), &claims));
    assert_eq!(caller, assert_accepted(&token(&header(), &self::claims())));
    assert!(caller.authorize("acme-site", "jobs:create").is_err());
    assert!(caller.operates().is_err());
}

#[test]
fn only_rs256_and_es256_are_an_issuers_algorithms() {
    for alg in [
        "none", "None", "NONE", "nOnE", "", "hs256", "Hs256", "HS384", "HS512", "rs256", "Rs256",
        "RS256 ", "RS384", "RS512", "RS1", "PS256", "PS384", "es256", "ES256K", "ES384", "ES512",
        "EdDSA", "Ed25519", "RSA-OAEP", "dir", "A128KW",
    ] {
        let header = changed(header(), "alg", Some(json!(alg)));
        assert_refused(&token(&header, &claims()), ALGORITHM);
    }
    for alg in [
        json!(null),
        json!(["RS256"]),
        json!({ "RS256": 1 }),
        json!(256),
    ] {
        let header = changed(header(), "alg", Some(alg));
        assert_refused(&token(&header, &claims()), MALFORMED);
    }
    let header = changed(header(), "alg", Some(json!("ES256")));
    let (unverified, _) = seen(&token(&header, &claims())).unwrap();
    assert_eq!(unverified.algorithm, Algorithm::Es256);
    assert_eq!(unverified.algorithm.as_str(), "ES256");
}

#[test]
fn an_algorithm_is_not_even_looked_up_where_no_issuer_is_trusted() {
    let config = configuration();
    let authorization = format!("Bearer {}", token(&header(), &claims()));
    let credentials = Credentials {
        authorization: Some(&authorization),
        access_assertion: Some("x"),
    };
    for signature in [Signature::Unchecked, Signature::Checked] {
        let problem = identify(&credentials, &config, NOW, signature).unwrap_err();
        assert_problem(&problem, "the access token must be signed with HS256");
    }
}

/// The attack on whoever takes an issuer's public key for an HMAC's secret.
#[test]
fn a_public_key_is_no_secret() {
    let jwk = key_json();
    let pem = format!(
        "-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n",
        modulus(2048)
    );
    for secret in [&*jwk, &*pem, pem.trim_end(), &*modulus(2048), "key-1", ""] {
        for claims in [claims(), own_claims()] {
            for header in [
                json!({ "alg": "HS256", "typ": "JWT", "kid": "key-1" }),
                json!({ "alg": "HS256", "jwk": { "kty": "oct", "k": encoded(secret) } }),
            ] {
                let token = signed(&header.to_string(), &claims.to_string(), secret);
                assert_refused(&token, WRONG_SIGNATURE);
            }
        }
    }
}

#[test]
fn an_own_secret_does_not_speak_for_an_issuer() {
    assert_refused(&own_token(&claims()), INCOMPLETE);
    let claims = changed(own_claims(), "iss", Some(json!(GITHUB)));
    assert_refused(&own_token(&claims), OTHER_ISSUER);
}

#[test]
fn an_issuer_does_not_speak_for_the_gateway() {
    for issuer in ["quillgate", "Quillgate", ""] {
        let claims = changed(claims(), "iss", Some(json!(issuer)));
        assert_refused(&token(&header(), &claims), OTHER_ISSUER);
    }
    assert_refused(&token(&header(), &own_claims()), OTHER_ISSUER);
}

#[test]
fn an_issuer_is_its_exact_name() {
    for issuer in [
        "https://token.actions.githubusercontent.com/",
        "https://TOKEN.actions.githubusercontent.com",
        "HTTPS://token.actions.githubusercontent.com",
        "http://token.actions.githubusercontent.com",
        "token.actions.githubusercontent.com",
        "https://token.actions.githubusercontent.com.evil.example",
        "https://token.actions.githubusercontent.com@evil.example",
        "https://token.actions.githubusercontent.com:443",
        " https://token.actions.githubusercontent.com",
        "https://token.actions.githubusercontent.com\u{0}",
        "https://evil.example",
        TEAM,
    ] {
        let claims = changed(claims(), "iss", Some(json!(issuer)));
        assert_refused(&token(&header(), &claims), OTHER_ISSUER);
    }
    for issuer in [json!(null), json!([GITHUB]), json!(1), json!({})] {
        let claims = changed(claims(), "iss", Some(issuer));
        assert_refused(&token(&header(), &claims), INCOMPLETE);
    }
}

#[test]
fn a_key_id_is_text_of_1_to_256_bytes_that_names_nothing_but_a_key() {
    let with = |kid: Option<Value>| token(&changed(header(), "kid", kid), &claims());
    for kid in [
        None,
        Some(json!(null)),
        Some(json!("")),
        Some(json!(1)),
        Some(json!(true)),
        Some(json!(["key-1"])),
        Some(json!({ "kid": "key-1" })),
        Some(json!("k".repeat(257))),
        Some(json!("ä".repeat(129))),
    ] {
        assert_refused(&with(kid), NO_KEY);
    }
    for kid in [
        "k",
        &"k".repeat(256),
        "../../../../dev/null",
        "/proc/sys/kernel/randomize_va_space",
        "' UNION SELECT 'secret' -- ",
        "key-1\u{0}",
        "key-1|whoami",
        "http://evil.example/jwks.json",
        "__proto__",
        "0",
    ] {
        let (unverified, _) = seen(&with(Some(json!(kid)))).unwrap();
        assert_eq!(unverified.kid, kid, "it is passed on as it is");
        assert_eq!(unverified.jwks, format!("{GITHUB}/.well-known/jwks"));
        let found = jwk(&set(&[key()]), kid, Algorithm::Rs256);
        assert_eq!(found, Ok(None), "and finds nothing");
    }
}

#[test]
fn a_token_does_not_bring_its_own_key() {
    for (name, value) in [
        ("jwk", key()),
        ("jwk", json!(null)),
        ("jku", json!("https://evil.example/jwks.json")),
        ("jku", json!(format!("{GITHUB}/.well-known/jwks"))),
        ("x5u", json!("https://evil.example/cert.pem")),
        ("x5c", json!(["MIIB"])),
    ] {
        let header = changed(header(), name, Some(value));
        assert_refused(&token(&header, &claims()), ITS_OWN_KEY);
    }
}

#[test]
fn an_unknown_type_or_extension_is_refused() {
    for typ in [
        json!("JWE"),
        json!("dpop+jwt"),
        json!("logout+jwt"),
        json!("application/jwt"),
        json!(""),
        json!("JWT "),
        json!(["JWT"]),
        json!(null),
    ] {
        let header = changed(header(), "typ", Some(typ));
        assert_refused(&token(&header, &claims()), UNKNOWN_KIND);
    }
    for crit in [json!(["b64"]), json!([]), json!("exp"), json!(null)] {
        let header = changed(header(), "crit", Some(crit));
        assert_refused(&token(&header, &claims()), UNKNOWN_KIND);
    }
    for typ in [
        None,
        Some("JWT"),
        Some("jwt"),
        Some("at+jwt"),
        Some("AT+JWT"),
    ] {
        let header = changed(header(), "typ", typ.map(Value::from));
        assert_accepted(&token(&header, &claims()));
    }
}

#[test]
fn a_header_or_claim_that_stands_twice_is_refused() {
    let twice =
        |object: &Value, member: &str| object.to_string().replacen('{', &format!("{{{member},"), 1);
    for member in [
        r#""alg":"HS256""#,
        r#""alg":"RS256""#,
        r#""kid":"key-2""#,
        r#""typ":"JWT""#,
        r#""k\u0069d":"key-1""#,
        r#""a":1,"a":1"#,
    ] {
        let header = twice(&header(), member);
        assert_refused(&token_of(&header, &claims().to_string()), MALFORMED);
    }
    for member in [
        r#""iss":"https://evil.example""#,
        r#""aud":"quillgate""#,
        r#""sub":"admin""#,
        r#""exp":9999999999"#,
        r#""repository":"acme/docs""#,
        r#""r\u0065pository":"acme/docs""#,
        r#""other":1,"other":1"#,
        r#""other":{"a":1,"a":1}"#,
    ] {
        let claims = twice(&claims(), member);
        assert_refused(&token_of(&header().to_string(), &claims), INCOMPLETE);
    }
}

#[test]
fn claims_are_one_json_object() {
    for text in [
        String::new(),
        "null".to_owned(),
        "[]".to_owned(),
        format!("[{}]", claims()),
        format!("{} x", claims()),
        format!("\u{feff}{}", claims()),
        claims().to_string().replace('}', ""),
        claims().to_string().replace(":1750000300", ":1e999"),
        claims().to_string().replace(":1750000300", ":NaN"),
    ] {
        assert_refused(&token_of(&header().to_string(), &text), INCOMPLETE);
    }
}

#[test]
fn one_of_the_audiences_must_be_the_gateways() {
    for audience in [
        json!("quillgate"),
        json!(["quillgate"]),
        json!(["https://other.example", "quillgate"]),
    ] {
        let claims = changed(claims(), "aud", Some(audience));
        assert_accepted(&token(&header(), &claims));
    }
    for audience in [
        json!(""),
        json!([]),
        json!("https://github.com/acme"),
        json!("Quillgate"),
        json!("quillgate "),
        json!("quillgate,other"),
        json!("quillgate other"),
        json!("quillgate/"),
        json!(["other", "quillgate2"]),
        json!("first-app"),
    ] {
        let claims = changed(claims(), "aud", Some(audience));
        assert_refused(&token(&header(), &claims), OTHER_AUDIENCE);
    }
    for audience in [
        None,
        Some(json!(null)),
        Some(json!(1)),
        Some(json!({ "quillgate": 1 })),
        Some(json!(["quillgate", 1])),
        Some(json!([["quillgate"]])),
    ] {
        let claims = changed(claims(), "aud", audience);
        assert_refused(&token(&header(), &claims), INCOMPLETE);
    }
}

#[test]
fn somebody_has_a_subject() {
    for subject in [None, Some(json!(null)), Some(json!(1)), Some(json!(["a"]))] {
        let claims = changed(claims(), "sub", subject);
        assert_refused(&token(&header(), &claims), INCOMPLETE);
    }
    let claims = changed(claims(), "sub", Some(json!("")));
    assert_refused(
        &token(&header(), &claims),
        "the access token has no subject",
    );
}

#[test]
fn clocks_may_differ_by_a_minute_at_both_ends() {
    for (name, value, reason) in [
        ("exp", json!(SECONDS - 59), None),
        ("exp", json!(1_749_999_940.001), None),
        ("exp", json!(SECONDS - 60), Some(EXPIRED)),
        ("exp", json!(SECONDS - 61), Some(EXPIRED)),
        ("exp", json!(0), Some(EXPIRED)),
        ("exp", json!(-1e308), Some(EXPIRED)),
        ("exp", json!(SECONDS + 31 * 86_400), None),
        ("nbf", json!(SECONDS + 60), None),
        ("nbf", json!(1_750_000_060.01), Some(NOT_YET)),
        ("nbf", json!(SECONDS + 61), Some(NOT_YET)),
        ("iat", json!(SECONDS + 60), None),
        ("iat", json!(SECONDS + 61), Some(NOT_YET)),
        ("iat", json!(1e308), Some(NOT_YET)),
        ("exp", json!("1750000300"), Some(INCOMPLETE)),
        ("exp", json!(true), Some(INCOMPLETE)),
        ("exp", json!(null), Some(INCOMPLETE)),
        ("nbf", json!("1750000000"), Some(INCOMPLETE)),
        ("iat", json!([SECONDS]), Some(INCOMPLETE)),
    ] {
        let token = token(&header(), &changed(claims(), name, Some(value)));
        match reason {
            Some(reason) => assert_refused(&token, reason),
            None => drop(assert_accepted(&token)),
        }
    }
    assert_refused(
        &token(&header(), &changed(claims(), "exp", None)),
        INCOMPLETE,
    );
    for name in ["nbf", "iat"] {
        assert_accepted(&token(&header(), &changed(claims(), name, None)));
    }
}

#[test]
fn a_signature_has_its_algorithms_length_and_one_way_to_be_written() {
    let token = token(&header(), &claims());
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let with = |signature: &str| format!("{signed}.{signature}");
    for length in [0, 1, 32, 64, 128, 255] {
        assert_refused(&with(&encoded(vec![0; length])), WRONG_SIGNATURE);
    }
    for length in [256, 384, 512] {
        assert_accepted(&with(&encoded(vec![0; length])));
    }
    for written in [
        format!("{signature}="),
        format!("{signature}=="),
        format!("{signature} "),
        signature.replacen('B', "+", 1),
    ] {
        assert_refused(&with(&written), MALFORMED);
    }
    assert!(seen(&format!("{signed}.")).is_err());
    assert!(seen(signed).is_err());
    assert!(seen(&format!("{token}.{signature}")).is_err());

    let header = changed(header(), "alg", Some(json!("ES256"))).to_string();
    let signed = format!("{}.{}", encoded(&header), encoded(claims().to_string()));
    for length in [0, 63, 65, 70, 71, 72, 96, 256] {
        let token = format!("{signed}.{}", encoded(vec![0; length]));
        assert_refused(&token, WRONG_SIGNATURE);
    }
}

#[test]
fn a_token_over_8_kib_is_not_looked_at() {
    let with = |length: usize| {
        let claims = changed(claims(), "padding", Some("x".repeat(length).into()));
        token(&header(), &claims)
    };
    let longest = (5000..6000)
        .rev()
        .find(|&length| with(length).len() <= 8192);
    let longest = longest.unwrap();
    assert_accepted(&with(longest));
    assert_refused(&with(longest + 3), "the access token is too long");
}

#[test]
fn each_issuer_is_heard_in_its_own_header_only() {
    let team = token(&header(), &team_claims());
    let (unverified, caller) = asserted(&team).unwrap();
    assert_eq!(unverified.issuer, TEAM);
    assert_eq!(caller.subject, "7335d417-61da-459d-899c-0a01c76a2f94");
    assert!(caller.authorize("acme-docs", "jobs:read").is_ok());
    assert!(caller.operates().is_ok());

    assert_refused(&team, OTHER_ISSUER);
    let github = token(&header(), &claims());
    assert_problem(&asserted(&github).unwrap_err(), OTHER_ISSUER);
    assert_problem(&asserted(&own_token(&own_claims())).unwrap_err(), ALGORITHM);
    assert_problem(&asserted(&format!("Bearer {team}")).unwrap_err(), MALFORMED);
    assert!(asserted(&format!("{team}, {team}")).is_err(), "two fields");
    assert!(asserted(&format!("{team},{team}")).is_err(), "two fields");
    assert_eq!(asserted("").unwrap_err().kind, "missing-token");
}

#[test]
fn an_authorization_counts_alone() {
    let team = token(&header(), &team_claims());
    let with = |authorization: &str| {
        let credentials = Credentials {
            authorization: Some(authorization),
            access_assertion: Some(&team),
        };
        identify(&credentials, &config(), NOW, Signature::Checked)
    };
    for (authorization, kind) in [
        ("", "missing-token"),
        ("Bearer", "missing-token"),
        ("Basic YTpi", "missing-token"),
        ("Bearer x", "invalid-token"),
        (&format!("Bearer {}.x", bearer()), "invalid-token"),
    ] {
        let problem = with(authorization).unwrap_err();
        assert_eq!(
            (problem.status, problem.kind),
            (401, kind),
            "{authorization}"
        );
    }
    let Ok(Identity::Caller(caller)) = with(&bearer()) else {
        panic!("the own token counts");
    };
    assert_eq!(caller.subject, "alice");
}

#[test]
fn without_an_issuer_that_uses_it_accesss_header_is_none() {
    let team = token(&header(), &team_claims());
    for config in [
        configuration(),
        config_of(&json!([issuers()[0]])).ok().unwrap(),
    ] {
        for token in [&team, &own_token(&own_claims())] {
            let credentials = Credentials {
                authorization: None,
                access_assertion: Some(token),
            };
            let problem = identify(&credentials, &config, NOW, Signature::Checked).unwrap_err();
            assert_eq!((problem.status, problem.kind), (401, "missing-token"));
        }
    }
}

#[test]
fn an_issuers_array_must_hold_one_of_the_rules_values() {
    for (groups, good) in [
        (json!("docs"), true),
        (json!(["writers"]), true),
        (json!(["docs", 1, null]), true),
        (json!(["docs-evil"]), false),
        (json!(["doc", "s"]), false),
        (json!("docs writers"), false),
        (json!([["docs"]]), false),
        (json!({ "docs": "docs" }), false),
    ] {
        let claims = changed(team_claims(), "groups", Some(groups.clone()));
        let seen = asserted(&token(&header(), &claims));
        assert_eq!(seen.is_ok(), good, "{groups}");
    }
}

fn config_of(issuers: &Value) -> Result<Config, String> {
    let text = issuers.to_string();
    let issuers = trusted_issuers(&text).map_err(str::to_owned)?;
    let mut config = configuration();
    config.trusted_issuers = issuers;
    Ok(config)
}

/// The first issuer and its first rule with one member changed or left out.
fn issuer_with(name: &str, value: Option<Value>) -> Value {
    json!([changed(issuers()[0].clone(), name, value)])
}

fn rule_with(name: &str, value: Option<Value>) -> Value {
    let rule = changed(issuers()[0]["rules"][0].clone(), name, value);
    issuer_with("rules", Some(json!([rule])))
}

#[test]
fn trusted_issuers_are_read() {
    let read = trusted_issuers(&issuers().to_string()).unwrap();
    let [github, team] = &read[..] else {
        panic!("two issuers");
    };
    assert_eq!(github.issuer, GITHUB);
    assert_eq!(github.audiences, ["quillgate"]);
    assert_eq!((github.source, github.rules.len()), (Source::Bearer, 3));
    assert_eq!(team.audiences, ["first-app", "second-app"]);
    assert_eq!(
        (team.source, team.rules.len()),
        (Source::AccessAssertion, 1)
    );
    assert_eq!(trusted_issuers("[]"), Ok(Vec::new()));
}

#[test]
fn an_issuer_that_is_not_understood_is_refused() {
    for (name, value) in [
        ("issuer", None),
        ("issuer", Some(json!(1))),
        ("issuer", Some(json!(""))),
        ("issuer", Some(json!("quillgate"))),
        ("issuer", Some(json!("QuillGate"))),
        ("issuer", Some(json!("https://issuer.example "))),
        ("issuer", Some(json!("https://issuer.example\nx"))),
        ("issuer", Some(json!("https://issüer.example"))),
        ("issuer", Some(json!("x".repeat(513)))),
        ("audience", None),
        ("audience", Some(json!(null))),
        ("audience", Some(json!(""))),
        ("audience", Some(json!([]))),
        ("audience", Some(json!(["quillgate", ""]))),
        ("audience", Some(json!(["quillgate", 1]))),
        ("audience", Some(json!({ "quillgate": 1 }))),
        ("jwks", None),
        ("jwks", Some(json!(null))),
        ("jwks", Some(json!({ "keys": [] }))),
        ("jwks", Some(json!("http://issuer.example/jwks"))),
        ("jwks", Some(json!("http://localhost.evil.example/jwks"))),
        (
            "jwks",
            Some(json!("https://user:hunter2@issuer.example/jwks")),
        ),
        ("jwks", Some(json!("issuer.example/jwks"))),
        ("jwks", Some(json!("data:application/json,{}"))),
        ("header", Some(json!(null))),
        ("header", Some(json!(""))),
        ("header", Some(json!("authorization"))),
        ("header", Some(json!("x-forwarded-user"))),
        ("header", Some(json!("cf_access_jwt_assertion"))),
        ("header", Some(json!(true))),
        ("rules", None),
        ("rules", Some(json!({}))),
        ("rules", Some(json!([null]))),
        ("rules", Some(json!([[]]))),
        ("audiences", Some(json!(["quillgate"]))),
        ("rule", Some(json!([]))),
        ("Header", Some(json!("cf-access-jwt-assertion"))),
    ] {
        let read = config_of(&issuer_with(name, value.clone()));
        let error = read.err().unwrap_or_else(|| panic!("{name}: {value:?}"));
        assert!(error.starts_with("must ") && !error.contains("hunter2"));
    }
    for text in [
        "",
        "null",
        "{}",
        "[null]",
        "[[]]",
        "[{}]",
        r#"["https://issuer.example"]"#,
        &issuers().to_string()[1..],
        &issuers()
            .to_string()
            .replacen('{', r#"{"issuer":"https://issuer.example","#, 1),
        &issuers()
            .to_string()
            .replacen(r#""scope""#, r#""scope":"jobs:read","scope""#, 1),
        &issuers()
            .to_string()
            .replacen(r#""ref":"#, r#""ref":"refs/tags/x","ref":"#, 1),
    ] {
        assert!(trusted_issuers(text).is_err(), "{text}");
    }
}

#[test]
fn keys_may_be_fetched_in_clear_text_from_this_machine_only() {
    for jwks in [
        "http://127.0.0.1:9000/jwks",
        "http://localhost/jwks",
        "http://[::1]:1/",
    ] {
        assert!(config_of(&issuer_with("jwks", Some(json!(jwks)))).is_ok());
    }
}

#[test]
fn an_issuer_stands_once_for_each_header() {
    let github = issuers()[0].clone();
    let by_access = changed(
        github.clone(),
        "header",
        Some(json!("cf-access-jwt-assertion")),
    );
    assert!(config_of(&json!([github, by_access])).is_ok());
    assert!(config_of(&json!([github, github])).is_err());
    assert!(config_of(&json!([by_access, github, by_access])).is_err());
}

#[test]
fn a_rule_that_is_not_understood_is_refused() {
    for (name, value) in [
        ("claims", None),
        ("claims", Some(json!(null))),
        ("claims", Some(json!({}))),
        ("claims", Some(json!([]))),
        ("claims", Some(json!("repository"))),
        ("claims", Some(json!({ "repository": null }))),
        ("claims", Some(json!({ "repository": [] }))),
        ("claims", Some(json!({ "repository": {} }))),
        ("claims", Some(json!({ "repository": ["acme/docs", null] }))),
        (
            "claims",
            Some(json!({ "repository": ["acme/docs", ["x"]] })),
        ),
        ("claims", Some(json!({ "run_attempt": 1.5 }))),
        ("claims", Some(json!({ "run_attempt": 1.0 }))),
        ("projects", None),
        ("projects", Some(json!([]))),
        ("projects", Some(json!([""]))),
        ("projects", Some(json!("acme-docs"))),
        ("projects", Some(json!(["acme-docs", 1]))),
        ("scope", None),
        ("scope", Some(json!(""))),
        ("scope", Some(json!(" "))),
        ("scope", Some(json!("*"))),
        ("scope", Some(json!("jobs:reed"))),
        ("scope", Some(json!("jobs:read,jobs:create"))),
        ("scope", Some(json!("jobs:read\tjobs:create"))),
        ("scope", Some(json!(["jobs:read"]))),
        ("scopes", Some(json!("jobs:read"))),
        ("claim", Some(json!({ "environment": "production" }))),
        ("quota", Some(json!(null))),
        ("quota", Some(json!(-1))),
        ("quota", Some(json!("10"))),
        ("quota", Some(json!({ "create-jobs": 10 }))),
        ("quotas", Some(json!(1))),
    ] {
        let read = config_of(&rule_with(name, value.clone()));
        assert!(read.is_err(), "{name}: {value:?}");
    }
    assert!(
        config_of(&issuer_with("rules", Some(json!([])))).is_ok(),
        "denies all"
    );
}

#[test]
fn whoever_only_runs_the_gateway_needs_no_project() {
    let operator = json!([{
        "claims": { "repository": "acme/docs" },
        "projects": [],
        "scope": "gateway:operate",
    }]);
    let config = config_of(&issuer_with("rules", Some(operator)))
        .ok()
        .unwrap();
    let authorization = format!("Bearer {}", token(&header(), &claims()));
    let credentials = Credentials {
        authorization: Some(&authorization),
        access_assertion: None,
    };
    let Ok(Identity::Caller(caller)) = identify(&credentials, &config, NOW, Signature::Checked)
    else {
        panic!("accepted");
    };
    assert!(caller.operates().is_ok());
    assert!(caller.authorize("acme-docs", "jobs:read").is_err());
}

/// The base64url of a modulus of that many bits.
fn modulus(bits: usize) -> String {
    let mut bytes = vec![0xab; bits.div_ceil(8)];
    bytes[0] = 0xff >> ((8 - bits % 8) % 8);
    encoded(bytes)
}

/// A key as GitHub publishes it.
fn key() -> Value {
    json!({
        "kty": "RSA", "alg": "RS256", "use": "sig", "kid": "key-1", "e": "AQAB",
        "n": modulus(2048), "x5c": ["MIIB"], "x5t": "a-thumbprint",
    })
}

fn ec_key() -> Value {
    json!({
        "kty": "EC", "crv": "P-256", "kid": "key-2", "use": "sig", "alg": "ES256",
        "x": encoded([1; 32]), "y": encoded([2; 32]),
    })
}

fn key_json() -> String {
    format!(r#"{{"kty":"RSA","n":"{}","e":"AQAB"}}"#, modulus(2048))
}

fn set(keys: &[Value]) -> String {
    json!({ "keys": keys }).to_string()
}

#[test]
fn the_key_of_a_kid_is_given_out_without_anything_private() {
    let private = [
        ("d", encoded([3; 32])),
        ("p", encoded([4; 128])),
        ("k", encoded("a secret")),
        ("ext", "true".to_owned()),
    ];
    let with_private = |mut key: Value| {
        for (name, value) in &private {
            key[*name] = json!(value);
        }
        key
    };
    let keys = set(&[with_private(key()), with_private(ec_key())]);
    assert_eq!(jwk(&keys, "key-1", Algorithm::Rs256), Ok(Some(key_json())));
    let (x, y) = (encoded([1; 32]), encoded([2; 32]));
    let expected = format!(r#"{{"kty":"EC","crv":"P-256","x":"{x}","y":"{y}"}}"#);
    assert_eq!(jwk(&keys, "key-2", Algorithm::Es256), Ok(Some(expected)));
}

#[test]
fn a_kid_that_no_key_has_may_be_in_a_newer_set() {
    let keys = [
        key(),
        ec_key(),
        json!({}),
        json!({ "kid": 1 }),
        json!({ "kid": null }),
        changed(key(), "kid", None),
        json!({ "kty": "oct", "k": "AAAA", "kid": "symmetric" }),
    ];
    let set = set(&keys);
    for kid in [
        "key-3",
        "KEY-1",
        "key-1 ",
        "key",
        "1",
        "null",
        "",
        "key-1\u{0}",
    ] {
        assert_eq!(jwk(&set, kid, Algorithm::Rs256), Ok(None), "{kid}");
    }
    assert!(jwk(&set, "key-1", Algorithm::Rs256).is_ok_and(|key| key.is_some()));
    assert_eq!(jwk(r#"{"keys":[]}"#, "key-1", Algorithm::Rs256), Ok(None));
}

#[test]
fn two_keys_of_one_kid_are_none() {
    for other in [key(), changed(ec_key(), "kid", Some(json!("key-1")))] {
        let found = jwk(&set(&[key(), ec_key(), other]), "key-1", Algorithm::Rs256);
        assert!(found.is_err());
    }
}

/// CVE-2026-22818 and its kind: the token's `alg` must not choose what a key is used for.
#[test]
fn a_key_is_used_for_its_own_algorithm_only() {
    let other_type = "the issuer's key is of another type than the algorithm's";
    let other_algorithm = "the issuer's key is for another algorithm";
    let named = |key: Value| changed(key, "kid", Some(json!("key")));
    let free = |key: Value| changed(named(key), "alg", None);
    for (key, algorithm, reason) in [
        (free(key()), Algorithm::Rs256, None),
        (free(ec_key()), Algorithm::Es256, None),
        (free(key()), Algorithm::Es256, Some(other_type)),
        (free(ec_key()), Algorithm::Rs256, Some(other_type)),
        (named(key()), Algorithm::Es256, Some(other_algorithm)),
        (named(ec_key()), Algorithm::Rs256, Some(other_algorithm)),
        (
            changed(free(key()), "alg", Some(json!("RS512"))),
            Algorithm::Rs256,
            Some(other_algorithm),
        ),
        (
            changed(free(key()), "alg", Some(json!("PS256"))),
            Algorithm::Rs256,
            Some(other_algorithm),
        ),
        (
            changed(free(key()), "alg", Some(json!("HS256"))),
            Algorithm::Rs256,
            Some(other_algorithm),
        ),
        (
            changed(free(key()), "alg", Some(json!("rs256"))),
            Algorithm::Rs256,
            Some(other_algorithm),
        ),
        (
            changed(free(key()), "alg", Some(json!(null))),
            Algorithm::Rs256,
            Some(other_algorithm),
        ),
        (
            changed(free(key()), "kty", Some(json!("rsa"))),
            Algorithm::Rs256,
            Some(other_type),
        ),
        (
            changed(free(key()), "kty", None),
            Algorithm::Rs256,
            Some(other_type),
        ),
        (
            changed(free(key()), "kty", Some(json!("oct"))),
            Algorithm::Rs256,
            Some(other_type),
        ),
        (
            changed(free(ec_key()), "crv", Some(json!("P-384"))),
            Algorithm::Es256,
            Some(other_type),
        ),
        (
            changed(free(ec_key()), "crv", Some(json!("secp256k1"))),
            Algorithm::Es256,
            Some(other_type),
        ),
        (
            changed(free(ec_key()), "crv", None),
            Algorithm::Es256,
            Some(other_type),
        ),
        (
            json!({ "kid": "key", "kty": "oct", "k": "AAAA" }),
            Algorithm::Rs256,
            Some(other_type),
        ),
        (
            json!({ "kid": "key", "kty": "OKP", "crv": "Ed25519", "x": "AAAA" }),
            Algorithm::Es256,
            Some(other_type),
        ),
    ] {
        let found = jwk(&set(std::slice::from_ref(&key)), "key", algorithm);
        assert_eq!(found.as_ref().err().copied(), reason, "{key}");
        assert!(found != Ok(None));
    }
}

#[test]
fn a_key_for_something_else_is_not_used() {
    for (name, value, good) in [
        ("use", Some(json!("sig")), true),
        ("use", None, true),
        ("use", Some(json!("enc")), false),
        ("use", Some(json!("SIG")), false),
        ("use", Some(json!(null)), false),
        ("use", Some(json!(["sig"])), false),
        ("key_ops", Some(json!(["verify"])), true),
        ("key_ops", Some(json!(["sign", "verify"])), true),
        ("key_ops", Some(json!([])), false),
        ("key_ops", Some(json!(["sign"])), false),
        ("key_ops", Some(json!(["encrypt", "wrapKey"])), false),
        ("key_ops", Some(json!("verify")), false),
        ("key_ops", Some(json!(null)), false),
    ] {
        let key = changed(key(), name, value);
        let found = jwk(&set(std::slice::from_ref(&key)), "key-1", Algorithm::Rs256);
        let reason = (!good).then_some("the issuer's key is not for signatures");
        assert_eq!(found.err(), reason, "{key}");
    }
}

#[test]
fn a_weak_or_broken_key_is_not_used() {
    let (short, malformed) = (
        "the issuer's key is too short",
        "the issuer's key is malformed",
    );
    let padded = {
        let mut bytes = vec![0, 0];
        bytes.extend(vec![0xff; 128]);
        bytes.extend(vec![0; 128]);
        bytes
    };
    for (name, value, reason) in [
        ("n", Some(json!(modulus(2048))), None),
        ("n", Some(json!(modulus(4096))), None),
        ("n", Some(json!(encoded(&padded))), None),
        ("n", Some(json!(modulus(2047))), Some(short)),
        ("n", Some(json!(modulus(1024))), Some(short)),
        (
            "n",
            Some(json!(encoded([vec![0; 128], vec![0xff; 128]].concat()))),
            Some(short),
        ),
        ("n", Some(json!("")), Some(short)),
        ("n", None, Some(malformed)),
        ("n", Some(json!(65_537)), Some(malformed)),
        (
            "n",
            Some(json!(format!("{}=", modulus(2048)))),
            Some(malformed),
        ),
        (
            "n",
            Some(json!(format!("{}\"", modulus(2048)))),
            Some(malformed),
        ),
        (
            "n",
            Some(json!(format!("+/{}", modulus(2048)))),
            Some(malformed),
        ),
        ("e", Some(json!("Aw")), None),
        ("e", None, Some(malformed)),
        ("e", Some(json!("")), Some(malformed)),
        ("e", Some(json!("AA")), Some(malformed)),
        ("e", Some(json!("AQ")), Some(malformed)),
        ("e", Some(json!("AAE")), Some(malformed)),
        ("e", Some(json!("AQAA")), Some(malformed)),
        ("e", Some(json!(65_537)), Some(malformed)),
    ] {
        let key = changed(key(), name, value);
        let found = jwk(&set(std::slice::from_ref(&key)), "key-1", Algorithm::Rs256);
        assert_eq!(found.err(), reason, "{name} of {key}");
    }
    for (name, value) in [
        ("x", None),
        ("x", Some(json!(""))),
        ("x", Some(json!(encoded([1; 31])))),
        ("y", Some(json!(encoded([0; 33])))),
        ("y", Some(json!(7))),
        ("y", Some(json!("+"))),
    ] {
        let key = changed(ec_key(), name, value);
        let found = jwk(&set(std::slice::from_ref(&key)), "key-2", Algorithm::Es256);
        assert_eq!(found, Err(malformed), "{key}");
    }
}

#[test]
fn what_is_no_jwk_set_gives_no_key() {
    let key = key().to_string();
    for text in [
        String::new(),
        "<html>404</html>".to_owned(),
        "null".to_owned(),
        "{}".to_owned(),
        key.clone(),
        format!("[{key}]"),
        format!(r#"{{"keys":{key}}}"#),
        format!(r#"{{"keys":[{key},null]}}"#),
        r#"{"keys":["x"]}"#.to_owned(),
        format!(r#"{{"Keys":[{key}]}}"#),
        format!(r#"{{"keys":[],"keys":[{key}]}}"#),
        format!(
            r#"{{"keys":[{}]}}"#,
            key.replacen('{', r#"{"kid":"other","#, 1)
        ),
        format!(r#"{{"keys":[{key}]}} x"#),
    ] {
        let found = jwk(&text, "key-1", Algorithm::Rs256);
        assert_eq!(found, Err("the issuer's keys are no JWK Set"), "{text}");
    }
}

proptest! {
    #[test]
    fn whatever_the_claims_are_they_are_judged_without_a_panic_and_never_repeated(
        claims in "\\PC{0,80}",
        name in "(iss|aud|sub|exp|nbf|iat|repository)",
        value in "[a-z0-9]{16,40}",
    ) {
        prop_assert!(seen(&token_of(&header().to_string(), &claims)).is_err());
        let claims = changed(self::claims(), &name, Some(json!(value)));
        if let Err(problem) = seen(&token(&header(), &claims)) {
            prop_assert!(!problem.to_json("an-id").contains(&value));
        } else {
            prop_assert_eq!(name, "sub");
        }
    }

    #[test]
    fn a_token_that_is_accepted_is_within_its_time(
        exp in -1000.0..1000.0f64,
        nbf in -1000.0..1000.0f64,
        iat in -1000.0..1000.0f64,
    ) {
        let now = 1_750_000_000.0;
        let mut claims = claims();
        claims["exp"] = json!(now + exp);
        claims["nbf"] = json!(now + nbf);
        claims["iat"] = json!(now + iat);
        let (exp, nbf, iat) = (now + exp, now + nbf, now + iat);
        let in_time = now < exp + 60.0 && nbf <= now + 60.0 && iat <= now + 60.0;
        prop_assert_eq!(seen(&token(&header(), &claims)).is_ok(), in_time);
    }

    #[test]
    fn whatever_a_jwk_set_is_no_key_comes_of_text(text in "\\PC{0,80}", kid in "\\PC{0,20}") {
        let found = jwk(&text, &kid, Algorithm::Rs256);
        prop_assert!(!matches!(found, Ok(Some(_))));
    }
}
