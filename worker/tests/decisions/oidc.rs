//! Which tokens of trusted issuers are accepted, with which of the issuer's keys, and
//! what they allow. The attacks are those of the published advisories on JWT libraries
//! and middlewares: CVE-2015-9235, CVE-2016-10555, CVE-2018-0114, CVE-2022-23540,
//! CVE-2026-22817 and CVE-2026-22818, and of RFC 8725.

use proptest::prelude::*;
use quillgate::Policy;
use quillgate_worker::budget::Ceiling;
use quillgate_worker::config::Config;
use quillgate_worker::identity::caller::Caller;
use quillgate_worker::identity::jwks::{Algorithm, find_key};
use quillgate_worker::identity::oidc::{Source, UnverifiedToken, read_trusted_issuers};
use quillgate_worker::identity::revocation::RevokedTokens;
use quillgate_worker::identity::{self, Credentials, Identity, Signature, VerifiedTokens};
use quillgate_worker::problem::{Problem, ProblemKind};
use serde_json::{Value, json};

use crate::fixtures::{
    NOW, SECONDS, assert_invalid_token, bearer, change, claims as own_claims, configuration,
    encode, issuer_token, key_set, modulus, rsa_key, sign_token, status_and_kind,
    token as own_token,
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
    config.trusted_issuers = read_trusted_issuers(&issuers().to_string()).unwrap();
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

fn token(header: &Value, claims: &Value) -> String {
    issuer_token(&header.to_string(), &claims.to_string())
}

/// Identifies a caller whose token was never seen before.
fn identify(
    credentials: &Credentials<'_>,
    config: &Config,
    signature: Signature,
) -> Result<Identity, Problem> {
    let mut verified = VerifiedTokens::default();
    identity::identify(credentials, config, NOW, signature, &mut verified)
}

/// What credentials show before and after the host has verified the token's signature.
fn identify_twice(credentials: &Credentials<'_>) -> Result<(UnverifiedToken, Caller), Problem> {
    let config = config();
    let before = identify(credentials, &config, Signature::Unverified);
    let after = identify(credentials, &config, Signature::Verified);
    match (before, after) {
        (Ok(Identity::Unverified(token)), Ok(Identity::Caller(caller))) => {
            Ok((token, (*caller).clone()))
        }
        // A forged token must not find out which rules there are.
        (Ok(Identity::Unverified(_)), Err(problem))
            if problem.kind == ProblemKind::IdentityNotMapped =>
        {
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
        (before, after) => panic!("{before:?} before the signature was verified, {after:?} after"),
    }
}

/// What a bearer token shows.
fn identify_bearer(token: &str) -> Result<(UnverifiedToken, Caller), Problem> {
    let authorization = format!("Bearer {token}");
    identify_twice(&Credentials {
        authorization: Some(&authorization),
        access_assertion: None,
    })
}

/// What a token in Access's own header shows.
fn identify_assertion(token: &str) -> Result<(UnverifiedToken, Caller), Problem> {
    identify_twice(&Credentials {
        authorization: None,
        access_assertion: Some(token),
    })
}

#[track_caller]
fn assert_accepted(token: &str) -> Caller {
    match identify_bearer(token) {
        Ok((_, caller)) => caller,
        Err(problem) => panic!("refused: {}", problem.detail),
    }
}

#[track_caller]
fn assert_refused(token: &str, reason: &str) {
    match identify_bearer(token) {
        Ok((_, caller)) => panic!("accepted as {caller:?}, where \"{reason}\" was expected"),
        Err(problem) => assert_invalid_token(&problem, reason),
    }
}

#[track_caller]
fn assert_not_mapped(claims: &Value) {
    let problem = identify_bearer(&token(&header(), claims)).unwrap_err();
    assert_eq!(status_and_kind(&problem), (403, "identity-not-mapped"));
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
    let (unverified, caller) = identify_bearer(&token).unwrap();
    let expected = UnverifiedToken {
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
            problem.map(|problem| problem.kind.as_str()),
            kind,
            "{project} {scope}"
        );
    }
    assert!(caller.require_operator().is_err());
    assert_eq!(caller.quota.ceiling(Policy::CreateJob), Some(10));
    assert_eq!(caller.quota.ceiling(Policy::SendMessage), None);
}

#[test]
fn each_rule_that_matches_is_a_grant_of_its_own() {
    let claims = change(claims(), "repository_owner", Some(json!("acme")));
    let caller = assert_accepted(&token(&header(), &claims));
    assert_eq!(caller.grants.len(), 2);
    assert!(caller.authorize("acme-docs", "jobs:create").is_ok());
    assert!(caller.authorize("acme-site", "analytics:read").is_ok());
    for (project, scope) in [
        ("acme-site", "jobs:create"),
        ("acme-docs", "analytics:read"),
    ] {
        let problem = caller.authorize(project, scope).unwrap_err();
        assert_eq!(problem.kind.as_str(), "insufficient-scope");
    }
    let quota = Policy::ALL.map(|policy| caller.quota.ceiling(policy));
    assert_eq!(quota, [Some(3), None, Some(5), None], "the lower of each");
}

#[test]
fn claims_of_two_rules_never_combine() {
    for (repository, reference) in [
        ("acme/docs", "refs/heads/other"),
        ("acme/other", "refs/heads/main"),
    ] {
        let claims = change(claims(), "repository", Some(json!(repository)));
        assert_not_mapped(&change(claims, "ref", Some(json!(reference))));
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
        assert_not_mapped(&change(claims(), "repository", Some(repository)));
    }
    assert_not_mapped(&change(claims(), "repository", None));
    for name in ["Repository", "repository ", "repository_"] {
        let without = change(claims(), "repository", None);
        assert_not_mapped(&change(without, name, Some(json!("acme/docs"))));
    }
}

#[test]
fn one_of_the_values_is_enough_on_either_side() {
    for (reference, matches) in [
        (json!("refs/heads/next"), true),
        (json!(["refs/heads/next"]), true),
        (json!(["refs/heads/x", "refs/heads/main"]), true),
        (json!(["refs/heads/x"]), false),
        (json!("refs/heads/main refs/heads/next"), false),
        (json!("refs/heads/mai"), false),
    ] {
        let claims = change(claims(), "ref", Some(reference));
        if matches {
            assert_accepted(&token(&header(), &claims));
        } else {
            assert_not_mapped(&claims);
        }
    }
}

#[test]
fn text_is_no_number_and_no_boolean() {
    let other = change(claims(), "repository", None);
    for (attempt, protected, matches) in [
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
        let claims = change(other.clone(), "run_attempt", Some(attempt));
        let claims = change(claims, "ref_protected", Some(protected));
        if matches {
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
    assert!(caller.require_operator().is_err());
}

#[test]
fn only_rs256_and_es256_are_an_issuers_algorithms() {
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
fn without_a_trusted_issuer_only_hs256_is_expected() {
    let config = configuration();
    let authorization = format!("Bearer {}", token(&header(), &claims()));
    let credentials = Credentials {
        authorization: Some(&authorization),
        access_assertion: Some("x"),
    };
    for signature in [Signature::Unverified, Signature::Verified] {
        let problem = identify(&credentials, &config, signature).unwrap_err();
        assert_invalid_token(&problem, "the access token must be signed with HS256");
    }
}

/// The attack on whoever takes an issuer's public key for an HMAC's secret.
#[test]
fn a_public_key_is_no_secret() {
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
fn an_own_secret_does_not_speak_for_an_issuer() {
    assert_refused(&own_token(&claims()), INCOMPLETE);
    let claims = change(own_claims(), "iss", Some(json!(GITHUB)));
    assert_refused(&own_token(&claims), OTHER_ISSUER);
}

#[test]
fn an_issuer_does_not_speak_for_the_gateway() {
    for issuer in ["quillgate", "Quillgate", ""] {
        let claims = change(claims(), "iss", Some(json!(issuer)));
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
        let claims = change(claims(), "iss", Some(json!(issuer)));
        assert_refused(&token(&header(), &claims), OTHER_ISSUER);
    }
    for issuer in [json!(null), json!([GITHUB]), json!(1), json!({})] {
        let claims = change(claims(), "iss", Some(issuer));
        assert_refused(&token(&header(), &claims), INCOMPLETE);
    }
}

#[test]
fn a_key_id_is_text_of_1_to_256_bytes_that_names_nothing_but_a_key() {
    let with = |kid: Option<Value>| token(&change(header(), "kid", kid), &claims());
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
        let (unverified, _) = identify_bearer(&with(Some(json!(kid)))).unwrap();
        assert_eq!(unverified.kid, kid, "it is passed on as it is");
        assert_eq!(unverified.jwks, format!("{GITHUB}/.well-known/jwks"));
        let found = find_key(&key_set(&[rsa_key()]), kid, Algorithm::Rs256);
        assert_eq!(found, Ok(None), "and finds nothing");
    }
}

#[test]
fn a_token_does_not_bring_its_own_key() {
    for (name, value) in [
        ("jwk", rsa_key()),
        ("jwk", json!(null)),
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
        let header = change(header(), "typ", Some(typ));
        assert_refused(&token(&header, &claims()), UNKNOWN_KIND);
    }
    for crit in [json!(["b64"]), json!([]), json!("exp"), json!(null)] {
        let header = change(header(), "crit", Some(crit));
        assert_refused(&token(&header, &claims()), UNKNOWN_KIND);
    }
    for typ in [
        None,
        Some("JWT"),
        Some("jwt"),
        Some("at+jwt"),
        Some("AT+JWT"),
    ] {
        let header = change(header(), "typ", typ.map(Value::from));
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
        assert_refused(&issuer_token(&header, &claims().to_string()), MALFORMED);
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
        assert_refused(&issuer_token(&header().to_string(), &claims), INCOMPLETE);
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
        assert_refused(&issuer_token(&header().to_string(), &text), INCOMPLETE);
    }
}

#[test]
fn one_of_the_audiences_must_be_the_gateways() {
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
        json!("https://github.com/acme"),
        json!("Quillgate"),
        json!("quillgate "),
        json!("quillgate,other"),
        json!("quillgate other"),
        json!("quillgate/"),
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
        Some(json!({ "quillgate": 1 })),
        Some(json!(["quillgate", 1])),
        Some(json!([["quillgate"]])),
    ] {
        let claims = change(claims(), "aud", audience);
        assert_refused(&token(&header(), &claims), INCOMPLETE);
    }
}

#[test]
fn somebody_has_a_subject() {
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
fn a_signature_has_its_algorithms_length_and_one_way_to_be_written() {
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
fn a_token_over_8_kib_is_not_read() {
    let with = |length: usize| {
        let claims = change(claims(), "padding", Some("x".repeat(length).into()));
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
fn each_issuers_tokens_are_taken_from_its_own_header_only() {
    let team = token(&header(), &team_claims());
    let (unverified, caller) = identify_assertion(&team).unwrap();
    assert_eq!(unverified.issuer, TEAM);
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
fn an_authorization_counts_alone() {
    let team = token(&header(), &team_claims());
    let with = |authorization: &str| {
        let credentials = Credentials {
            authorization: Some(authorization),
            access_assertion: Some(&team),
        };
        identify(&credentials, &config(), Signature::Verified)
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
    let Ok(Identity::Caller(caller)) = with(&bearer()) else {
        panic!("the own token counts");
    };
    assert_eq!(caller.subject, "alice");
}

#[test]
fn without_an_issuer_that_uses_it_accesss_header_does_not_count() {
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
            let problem = identify(&credentials, &config, Signature::Verified).unwrap_err();
            assert_eq!(status_and_kind(&problem), (401, "missing-token"));
        }
    }
}

#[test]
fn an_issuers_array_must_hold_one_of_the_rules_values() {
    for (groups, matches) in [
        (json!("docs"), true),
        (json!(["writers"]), true),
        (json!(["docs", 1, null]), true),
        (json!(["docs-evil"]), false),
        (json!(["doc", "s"]), false),
        (json!("docs writers"), false),
        (json!([["docs"]]), false),
        (json!({ "docs": "docs" }), false),
    ] {
        let claims = change(team_claims(), "groups", Some(groups.clone()));
        let identified = identify_assertion(&token(&header(), &claims));
        assert_eq!(identified.is_ok(), matches, "{groups}");
    }
}

fn config_of(issuers: &Value) -> Result<Config, String> {
    let text = issuers.to_string();
    let issuers = read_trusted_issuers(&text).map_err(str::to_owned)?;
    let mut config = configuration();
    config.trusted_issuers = issuers;
    Ok(config)
}

/// The first issuer and its first rule with one member changed or left out.
fn issuer_with(name: &str, value: Option<Value>) -> Value {
    json!([change(issuers()[0].clone(), name, value)])
}

fn rule_with(name: &str, value: Option<Value>) -> Value {
    let rule = change(issuers()[0]["rules"][0].clone(), name, value);
    issuer_with("rules", Some(json!([rule])))
}

#[test]
fn trusted_issuers_are_read() {
    let read = read_trusted_issuers(&issuers().to_string()).unwrap();
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
    assert_eq!(read_trusted_issuers("[]"), Ok(Vec::new()));
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
        assert!(read_trusted_issuers(text).is_err(), "{text}");
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
    let by_access = change(
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
        ("ceiling", Some(json!(null))),
        ("ceiling", Some(json!(-1))),
        ("ceiling", Some(json!({ "create": 10 }))),
        ("caller", Some(json!(null))),
        ("caller", Some(json!("repository_id"))),
        ("caller", Some(json!([]))),
        ("caller", Some(json!([""]))),
        ("caller", Some(json!(["repository_id", 1]))),
        ("callers", Some(json!(["repository_id"]))),
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
    let Ok(Identity::Caller(caller)) = identify(&credentials, &config, Signature::Verified) else {
        panic!("accepted");
    };
    assert!(caller.require_operator().is_ok());
    assert!(caller.authorize("acme-docs", "jobs:read").is_err());
}

proptest! {
    #[test]
    fn no_claims_cause_a_panic_or_are_repeated(
        claims in "\\PC{0,80}",
        name in "(iss|aud|sub|exp|nbf|iat|repository)",
        value in "[a-z0-9]{16,40}",
    ) {
        prop_assert!(identify_bearer(&issuer_token(&header().to_string(), &claims)).is_err());
        let claims = change(self::claims(), &name, Some(json!(value)));
        if let Err(problem) = identify_bearer(&token(&header(), &claims)) {
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
        prop_assert_eq!(identify_bearer(&token(&header(), &claims)).is_ok(), in_time);
    }
}

// --- who counts as one caller --------------------------------------------------

fn rule(claims: &Value, changes: &Value) -> Value {
    let mut rule = json!({ "claims": claims, "projects": ["acme-docs"], "scope": "jobs:create" });
    for (name, value) in changes.as_object().unwrap() {
        rule[name] = value.clone();
    }
    rule
}

/// The caller of a workflow's token with these claims, under these rules.
fn caller_of(rules: &[Value], changes: &Value) -> Result<Caller, Problem> {
    caller_under(rules, changes, &json!([]))
}

fn caller_under(rules: &[Value], changes: &Value, revoked: &Value) -> Result<Caller, Problem> {
    let issuers = json!([{
        "issuer": GITHUB,
        "audience": "quillgate",
        "jwks": format!("{GITHUB}/.well-known/jwks"),
        "rules": rules,
    }]);
    let mut config = configuration();
    config.trusted_issuers = read_trusted_issuers(&issuers.to_string()).unwrap();
    let variable = |name: &str| (name == "REVOKED_TOKENS").then(|| revoked.to_string());
    config.revoked = RevokedTokens::read(variable, &config.trusted_issuers).unwrap();
    let mut claims = claims();
    for (name, value) in changes.as_object().unwrap() {
        claims = change(claims, name, (!value.is_null()).then(|| value.clone()));
    }
    let authorization = format!("Bearer {}", token(&header(), &claims));
    let credentials = Credentials {
        authorization: Some(&authorization),
        access_assertion: None,
    };
    match identify(&credentials, &config, Signature::Verified)? {
        Identity::Caller(caller) => Ok((*caller).clone()),
        Identity::Unverified(_) => panic!("verified"),
    }
}

fn names_of(caller: &Caller) -> Vec<(String, u32)> {
    let ceilings = caller.ceilings(Policy::CreateJob);
    let pair = |ceiling: Ceiling| (ceiling.name, ceiling.most);
    ceilings.into_iter().map(pair).collect()
}

#[test]
fn a_rule_says_by_which_claims_callers_are_told_apart() {
    let by_id = rule(
        &json!({ "repository_owner_id": "3003" }),
        &json!({ "caller": ["repository_id", "run_attempt"], "quota": 2 }),
    );
    let in_environment = |environment: &str, repository: &str| {
        json!({
            "sub": format!("repo:acme/docs:environment:{environment}"),
            "repository_owner_id": "3003",
            "repository_id": repository,
        })
    };
    let rules = [by_id];
    let caller = |environment, repository| {
        caller_of(&rules, &in_environment(environment, repository)).unwrap()
    };
    let first = caller("a", "2002");
    assert_eq!(
        first.key(),
        format!(r#" {GITHUB} {{"repository_id":"2002","run_attempt":"1"}}"#)
    );
    assert_eq!(first.quota.ceiling(Policy::CreateJob), Some(2));
    assert_eq!(caller("b", "2002").key(), first.key());
    assert_ne!(caller("b", "2003").key(), first.key());
    // Nobody passes for such a caller by a subject of one's own.
    let imitated = json!({ "sub": r#"{"repository_id":"2002","run_attempt":"1"}"#, "x": "y" });
    let by_subject = [rule(&json!({ "x": "y" }), &json!({}))];
    let other = caller_of(&by_subject, &imitated).unwrap();
    assert_ne!(other.key(), first.key());
}

#[test]
fn a_token_that_lacks_a_claim_which_tells_callers_apart_is_not_admitted() {
    let rules = [rule(
        &json!({ "repository": "acme/docs" }),
        &json!({ "caller": ["repository_id"] }),
    )];
    for (value, is_admitted) in [
        (json!("2002"), true),
        (json!(2002), true),
        (json!(null), false),
        (json!(["2002"]), false),
        (json!({}), false),
        (json!(20.02), false),
    ] {
        let caller = caller_of(&rules, &json!({ "repository_id": value }));
        assert_eq!(caller.is_ok(), is_admitted, "{value}");
    }
}

#[test]
fn a_ceiling_is_shared_by_all_callers_of_its_rule() {
    let main = json!({ "repository": "acme/docs" });
    let rules = [
        rule(&main, &json!({ "ceiling": { "create-job": 5 } })),
        rule(
            &json!({ "ref": "refs/heads/main" }),
            &json!({ "ceiling": 7 }),
        ),
    ];
    let alice = caller_of(&rules, &json!({ "sub": "alice" })).unwrap();
    let bob = caller_of(&rules, &json!({ "sub": "bob" })).unwrap();
    assert_ne!(alice.key(), bob.key());
    let names = names_of(&alice);
    assert_eq!(names, names_of(&bob));
    let most: Vec<_> = names.iter().map(|(_, most)| *most).collect();
    assert_eq!(most, [5, 7]);
    assert_ne!(names[0].0, names[1].0);
    let messages = alice.ceilings(Policy::SendMessage);
    assert_eq!(messages.len(), 1, "the other has none for it");
    // It is the rule's whatever else changes: a deployment must not reset it.
    let later = [
        rules[1].clone(),
        rule(
            &main,
            &json!({ "ceiling": 1, "quota": 1, "scope": "jobs:read" }),
        ),
    ];
    let carol = caller_of(&later, &json!({ "sub": "carol" })).unwrap();
    assert_eq!(
        names_of(&carol),
        [(names[1].0.clone(), 7), (names[0].0.clone(), 1)]
    );
}

#[test]
fn rules_that_tell_callers_apart_differently_each_count_their_own() {
    let rules = [
        rule(&json!({ "ref": "refs/heads/main" }), &json!({ "quota": 9 })),
        rule(
            &json!({ "repository": "acme/docs" }),
            &json!({ "caller": ["repository_id"], "quota": 2 }),
        ),
        rule(
            &json!({ "repository_owner": "acme" }),
            &json!({ "caller": ["repository_owner"], "quota": 5 }),
        ),
    ];
    let claims = json!({ "sub": "s", "repository_id": "1", "repository_owner": "acme" });
    let caller = caller_of(&rules, &claims).unwrap();
    let by_id = format!(r#" {GITHUB} {{"repository_id":"1"}}"#);
    assert_eq!(caller.key(), by_id);
    assert_eq!(caller.quota.ceiling(Policy::CreateJob), Some(2));
    let by_owner = format!(r#" {GITHUB} {{"repository_owner":"acme"}}"#);
    let shared = [(format!("{GITHUB} s"), 9), (by_owner.clone(), 5)];
    assert_eq!(names_of(&caller), shared);
    // Who matches the last one only is counted under the same name.
    let other = json!({ "ref": "x", "repository": "acme/x", "repository_owner": "acme" });
    let other = caller_of(&rules, &other).unwrap();
    assert_eq!(other.key(), by_owner);
}

// --- revoked -------------------------------------------------------------------

#[test]
fn an_issuers_token_is_revoked_by_its_subject_or_by_other_claims() {
    let rules = [rule(&json!({ "repository": "acme/docs" }), &json!({}))];
    let subject = "repo:acme/docs:ref:refs/heads/main";
    for (revocation, is_revoked) in [
        (json!({ "iss": GITHUB, "sub": subject }), true),
        (json!({ "iss": GITHUB, "sub": "repo:acme/docs" }), false),
        (json!({ "sub": subject, "before": SECONDS + 1 }), false),
        (
            json!({ "iss": GITHUB, "sub": subject, "before": SECONDS + 1 }),
            true,
        ),
        (
            json!({ "iss": GITHUB, "sub": subject, "before": SECONDS }),
            false,
        ),
        (
            json!({ "iss": GITHUB, "claims": { "run_attempt": ["2", "1"] } }),
            true,
        ),
        (
            json!({ "iss": GITHUB, "claims": { "run_attempt": 1 } }),
            false,
        ),
        (
            json!({ "iss": GITHUB, "claims": { "run_attempt": "1", "ref": "refs/heads/x" } }),
            false,
        ),
        (json!({ "iss": GITHUB, "claims": { "none": "1" } }), false),
    ] {
        let caller = caller_under(&rules, &json!({}), &json!(["x", revocation]));
        assert_eq!(caller.is_err(), is_revoked, "{revocation}");
        if let Err(problem) = caller {
            assert_invalid_token(&problem, "the access token has been revoked");
        }
    }
    // One that does not say when it was issued may be of any time.
    let revocation = json!([{ "iss": GITHUB, "sub": subject, "before": 1 }]);
    assert!(caller_under(&rules, &json!({ "iat": null }), &revocation).is_err());
}

#[test]
fn whether_a_forged_token_would_be_revoked_stays_unsaid() {
    let mut config = config();
    let variable = |name: &str| {
        let list = json!([{ "iss": GITHUB, "claims": { "run_attempt": "1" } }]);
        (name == "REVOKED_TOKENS").then(|| list.to_string())
    };
    config.revoked = RevokedTokens::read(variable, &config.trusted_issuers).unwrap();
    let authorization = format!("Bearer {}", token(&header(), &claims()));
    let credentials = Credentials {
        authorization: Some(&authorization),
        access_assertion: None,
    };
    let before = identify(&credentials, &config, Signature::Unverified);
    assert!(matches!(before, Ok(Identity::Unverified(_))));
}
