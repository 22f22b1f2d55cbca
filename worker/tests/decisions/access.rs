//! Which access tokens are accepted, and what they allow.

use proptest::prelude::*;
use quillgate_worker::access::{
    Caller, Credentials, Grant, Identity, OPERATE, OWN_ISSUER, Quota, Revoked, Signature, identify,
};
use quillgate_worker::config::Config;
use quillgate_worker::json::value as strict;
use quillgate_worker::problem::Problem;
use serde_json::{Value, json};

use crate::setting::{
    DAY, HEADER, NOW, SECONDS, SECRET, bearer, claims, claims_with, configuration, encoded,
    signature, signed, token,
};

const MALFORMED: &str = "the access token is not a signed JWT";
const INCOMPLETE: &str = "the access token's claims are not complete";
const WRONG_SIGNATURE: &str = "the access token's signature is wrong";
const WRONG_ALGORITHM: &str = "the access token must be signed with HS256";
const UNKNOWN_KIND: &str = "the access token is of an unknown kind";
const NOT_YET: &str = "the access token is not valid yet";
const EXPIRED: &str = "the access token has expired";
const TOO_LONG_LIVED: &str = "the access token lives longer than 90 days";

const REVOKED: &str = "the access token has been revoked";

fn seen(authorization: Option<&str>) -> Result<Caller, Problem> {
    seen_by(&configuration(), authorization)
}

/// What an own token shows does not depend on whether the host has checked anything.
fn seen_by(config: &Config, authorization: Option<&str>) -> Result<Caller, Problem> {
    let credentials = Credentials {
        authorization,
        access_assertion: None,
    };
    let identity = identify(&credentials, config, NOW, Signature::Unchecked);
    let again = identify(&credentials, config, NOW, Signature::Checked);
    assert_eq!(identity, again);
    match identity? {
        Identity::Caller(caller) => Ok(caller),
        Identity::Unverified(token) => panic!("an issuer's token: {token:?}"),
    }
}

fn verified(token: &str) -> Result<Caller, Problem> {
    seen(Some(&format!("Bearer {token}")))
}

#[track_caller]
fn assert_accepted(token: &str) -> Caller {
    match verified(token) {
        Ok(caller) => caller,
        Err(problem) => panic!("refused: {}", problem.detail),
    }
}

#[track_caller]
fn assert_refused(token: &str, reason: &str) {
    let problem = match verified(token) {
        Ok(caller) => panic!("accepted as {caller:?}, where \"{reason}\" was expected"),
        Err(problem) => problem,
    };
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
fn assert_claim(name: &str, value: Option<Value>, reason: Option<&str>) {
    let token = token(&claims_with(name, value));
    match reason {
        Some(reason) => assert_refused(&token, reason),
        None => drop(assert_accepted(&token)),
    }
}

#[test]
fn a_good_token_gives_its_subject() {
    let caller = assert_accepted(&token(&claims()));
    assert_eq!(caller.subject, "alice");
    assert_eq!(
        (&*caller.issuer, &*caller.key()),
        (OWN_ISSUER, "quillgate alice")
    );
}

#[test]
fn no_bearer_token_gets_a_bare_challenge() {
    let good = token(&claims());
    let absent = [
        None,
        Some(String::new()),
        Some("Bearer".to_owned()),
        Some("Bearer ".to_owned()),
        Some("Bearer   ".to_owned()),
        Some(good.clone()),
        Some(format!("Basic {good}")),
        Some(format!("Token {good}")),
        Some(format!("JWT {good}")),
        Some(format!("BearerX {good}")),
        Some(format!("Bearer\t{good}")),
        Some(format!("Bearer:{good}")),
        Some(format!(" Bearer {good}")),
        Some(format!("Basic Zm9v, Bearer {good}")),
    ];
    for authorization in absent {
        let problem = seen(authorization.as_deref()).unwrap_err();
        assert_eq!((problem.status, problem.kind), (401, "missing-token"));
        let challenge = "Bearer realm=\"quillgate\"".to_owned();
        assert_eq!(problem.headers, [("www-authenticate", challenge)]);
    }
}

#[test]
fn the_schemes_name_is_read_in_any_case() {
    for scheme in ["Bearer", "bearer", "BEARER", "bEaReR"] {
        assert!(seen(Some(&format!("{scheme} {}", token(&claims())))).is_ok());
    }
    assert!(seen(Some(&format!("Bearer   {}", token(&claims())))).is_ok());
}

#[test]
fn two_credentials_in_one_field_are_none() {
    let good = token(&claims());
    for both in [
        format!("{good}, Bearer {good}"),
        format!("{good},{good}"),
        format!("{good} {good}"),
    ] {
        assert!(verified(&both).is_err(), "{both}");
    }
}

#[test]
fn only_hs256_is_an_algorithm_even_when_the_signature_is_right() {
    for alg in [
        "hs256", "Hs256", "HS256 ", " HS256", "HS384", "HS512", "RS256", "ES256", "PS256", "EdDSA",
        "none", "None", "NONE", "nOnE", "dir", "",
    ] {
        let header = json!({ "alg": alg, "typ": "JWT" }).to_string();
        assert_refused(
            &signed(&header, &claims().to_string(), SECRET),
            WRONG_ALGORITHM,
        );
    }
}

#[test]
fn an_unsigned_token_is_refused_however_it_is_written() {
    let claims = encoded(claims().to_string());
    for alg in ["none", "HS256"] {
        let header = encoded(json!({ "alg": alg }).to_string());
        for token in [
            format!("{header}.{claims}."),
            format!("{header}.{claims}"),
            format!("{header}.{claims}.AA"),
            format!("{header}.{claims}.{}", encoded([0; 32])),
        ] {
            assert!(verified(&token).is_err(), "{token}");
        }
    }
}

#[test]
fn a_header_is_one_json_object_that_names_its_algorithm() {
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
        assert_refused(&signed(header, &claims().to_string(), SECRET), MALFORMED);
    }
    let not_utf8 = encoded(b"{\"alg\":\"HS256\",\"typ\":\"\xff\"}");
    let part = format!("{not_utf8}.{}", encoded(claims().to_string()));
    let token = format!("{part}.{}", encoded(signature(&part, SECRET)));
    assert_refused(&token, MALFORMED);
}

#[test]
fn a_header_may_leave_the_type_out_and_must_not_make_it_another() {
    let with = |header: &str| signed(header, &claims().to_string(), SECRET);
    for good in [
        r#"{"alg":"HS256"}"#,
        r#"{"alg":"HS256","typ":"jwt"}"#,
        r#"{ "typ":"JWT" , "kid":"1", "alg":"HS256" }"#,
    ] {
        assert_accepted(&with(good));
    }
    for other in [
        json!("at+jwt"),
        json!("JWE"),
        json!("JOSE"),
        json!(""),
        json!(" JWT"),
        json!(["JWT"]),
        json!(1),
        Value::Null,
    ] {
        let header = json!({ "alg": "HS256", "typ": other }).to_string();
        assert_refused(&with(&header), UNKNOWN_KIND);
    }
}

#[test]
fn extensions_that_must_be_understood_are_not() {
    for crit in [
        json!(["exp"]),
        json!([]),
        json!("b64"),
        json!({}),
        Value::Null,
    ] {
        let header = json!({ "alg": "HS256", "crit": crit, "b64": false }).to_string();
        assert_refused(
            &signed(&header, &claims().to_string(), SECRET),
            UNKNOWN_KIND,
        );
    }
}

#[test]
fn a_token_has_three_parts_and_no_more() {
    let good = token(&claims());
    let (signed_part, signature) = good.rsplit_once('.').unwrap();
    let (header, claims) = signed_part.split_once('.').unwrap();
    for token in [
        "x".to_owned(),
        ".".to_owned(),
        "..".to_owned(),
        "...".to_owned(),
        header.to_owned(),
        signed_part.to_owned(),
        format!("{good}."),
        format!(".{good}"),
        format!("{header}..{claims}.{signature}"),
        format!("{header}.{claims}..{signature}"),
        format!("{header}.{claims}.{signature}.{signature}"),
        format!("{header}.{claims}.x.{signature}"),
        format!(".{claims}.{signature}"),
    ] {
        assert!(verified(&token).is_err(), "{token}");
    }
}

#[test]
fn no_other_base64_is_read() {
    // Claims whose base64 holds both characters in which the alphabets differ.
    let claims = claims_with("sub", Some(json!("~~~???>>>ÿÿÿ")));
    let good = token(&claims);
    assert!(good.contains('-') && good.contains('_'));
    assert_accepted(&good);

    let (signed_part, mac) = good.rsplit_once('.').unwrap();
    let standard = signed_part.replace('-', "+").replace('_', "/");
    let again = |part: &str| format!("{part}.{}", encoded(signature(part, SECRET)));
    assert!(verified(&again(&standard)).is_err(), "the other alphabet");
    for part in [
        format!("{signed_part}="),
        format!("{signed_part}=="),
        format!("{signed_part}\n"),
        format!(" {signed_part}"),
        signed_part.replacen('.', "=.", 1),
    ] {
        assert!(verified(&again(&part)).is_err(), "{part:?}");
    }
    for signature in [
        format!("{mac}="),
        format!("{mac} "),
        format!("{mac}\t"),
        mac[..42].to_owned(),
        String::new(),
    ] {
        assert!(verified(&format!("{signed_part}.{signature}")).is_err());
    }
}

#[test]
fn a_signature_can_be_written_in_one_way_only() {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let good = token(&claims());
    let (stem, _) = good.split_at(good.len() - 1);
    let accepted: Vec<String> = ALPHABET
        .chars()
        .map(|last| format!("{stem}{last}"))
        .filter(|token| verified(token).is_ok())
        .collect();
    assert_eq!(accepted, [good]);
}

#[test]
fn a_signature_of_another_secret_or_length_is_wrong() {
    let text = claims().to_string();
    for secret in ["", "x", &SECRET[1..], &SECRET[..39], &SECRET.to_uppercase()] {
        assert_refused(&signed(HEADER, &text, secret), WRONG_SIGNATURE);
    }
    let part = format!("{}.{}", encoded(HEADER), encoded(&text));
    let right = signature(&part, SECRET);
    for wrong in [
        &right[..0],
        &right[..16],
        &right[..31],
        &[&right[..], &[0]].concat()[..],
    ] {
        assert_refused(&format!("{part}.{}", encoded(wrong)), WRONG_SIGNATURE);
    }
}

#[test]
fn each_secret_verifies_while_they_rotate_and_no_other() {
    let (new, old) = ("the-new-secret-of-the-gateway-32-bytes", SECRET);
    let verified = |signing: &str, secrets: &[&str]| {
        let token = signed(HEADER, &claims().to_string(), signing);
        let mut config = configuration();
        config.token_secrets = secrets.iter().map(|secret| (*secret).into()).collect();
        seen_by(&config, Some(&format!("Bearer {token}"))).is_ok()
    };
    assert!(verified(old, &[new, old]) && verified(new, &[new, old]));
    assert!(!verified(old, &[new]), "after the rotation");
    assert!(!verified(
        "a-third-secret-that-is-nobody-s-of-32-b",
        &[new, old]
    ));
    assert!(!verified(&format!("{new},{old}"), &[new, old]));
    assert!(!verified("", &[]));
}

#[test]
fn every_claim_but_the_optional_ones_is_required() {
    for name in ["iss", "sub", "projects", "scope", "iat", "exp"] {
        assert_claim(name, None, Some(INCOMPLETE));
        assert_claim(name, Some(Value::Null), Some(INCOMPLETE));
    }
    for (name, value) in [
        ("jti", json!("one")),
        ("jti", Value::Null),
        ("nbf", Value::Null),
        ("quota", json!(1)),
        ("nbf", json!(SECONDS)),
        ("aud", json!("x")),
    ] {
        assert_claim(name, Some(value), None);
    }
}

#[test]
fn a_claim_of_another_type_is_as_good_as_none() {
    for (name, value) in [
        ("iss", json!(1)),
        ("iss", json!(["quillgate"])),
        ("sub", json!(7)),
        ("projects", json!("demo-docs")),
        ("projects", json!({ "demo-docs": true })),
        ("projects", json!(["demo-docs", 1])),
        ("projects", json!([["demo-docs"]])),
        ("scope", json!(["jobs:read"])),
        ("scope", json!(true)),
        ("iat", json!("1750000000")),
        ("iat", json!([1_750_000_000])),
        ("exp", json!("1750003600")),
        ("exp", json!("never")),
        ("exp", json!(true)),
        ("exp", json!({})),
        ("nbf", json!("soon")),
        ("nbf", json!(false)),
        ("jti", json!(1)),
        ("jti", json!(["one"])),
    ] {
        assert_claim(name, Some(value), Some(INCOMPLETE));
    }
}

#[test]
fn claims_are_one_json_object() {
    let list = json!([
        "quillgate",
        "alice",
        ["demo-docs"],
        "jobs:read",
        SECONDS,
        SECONDS + 60,
        null
    ]);
    for claims in [
        String::new(),
        "null".to_owned(),
        "[]".to_owned(),
        list.to_string(),
        format!("[{}]", claims()),
        format!("{} x", claims()),
        format!("\u{feff}{}", claims()),
        claims().to_string().replace('}', ""),
        claims().to_string().replace(":1750003600", ":NaN"),
        claims().to_string().replace(":1750003600", ":Infinity"),
        claims().to_string().replace(":1750003600", ":1e999"),
        claims().to_string().replace(":1750003600", ":+1750003600"),
        claims().to_string().replace(":1750003600", ":0x7fffffff"),
    ] {
        assert_refused(&signed(HEADER, &claims, SECRET), INCOMPLETE);
    }
}

#[test]
fn a_claim_that_stands_twice_is_refused() {
    let text = claims().to_string();
    for second in [
        r#""exp":9999999999"#,
        r#""iat":1750000000"#,
        r#""projects":["secret-docs"]"#,
        r#""scope":"jobs:create""#,
        r#""sub":"bob""#,
        r#""iss":"quillgate""#,
        r#""\u0065xp":9999999999"#,
        r#""nbf":1,"nbf":1"#,
        r#""jti":"a","jti":"b""#,
        r#""other":1,"other":1"#,
        r#""quota":{"analytics":1,"analytics":100}"#,
    ] {
        let doubled = text.replacen('{', &format!("{{{second},"), 1);
        assert_refused(&signed(HEADER, &doubled, SECRET), INCOMPLETE);
    }
}

#[test]
fn only_the_gateways_own_tokens_are_accepted() {
    for issuer in [
        "",
        "Quillgate",
        "quillgate ",
        "quillgate/",
        "https://quillgate",
    ] {
        let reason = "the access token is from another issuer";
        assert_claim("iss", Some(json!(issuer)), Some(reason));
    }
    assert_claim(
        "sub",
        Some(json!("")),
        Some("the access token has no subject"),
    );
}

#[test]
fn a_token_ends_at_its_second_without_any_leeway() {
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
fn the_clock_of_whoever_signs_may_be_a_minute_ahead() {
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
fn a_token_lives_ninety_days_at_the_most() {
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
fn a_token_over_8_kib_is_not_looked_at() {
    let mut over = 0;
    for padding in 5900..6000 {
        let token = token(&claims_with("jti", Some("x".repeat(padding).into())));
        if token.len() > 8192 {
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
fn a_caller_may_work_on_the_tokens_projects_only() {
    let caller = assert_accepted(&token(&claims()));
    for project in ["demo-docs", "other docs"] {
        assert!(caller.authorize(project, "jobs:read").is_ok());
    }
    for project in [
        "",
        "demo",
        "demo-docs ",
        "demo-docs2",
        "Demo-docs",
        "demo-docs,other docs",
        "*",
    ] {
        let problem = caller.authorize(project, "jobs:read").unwrap_err();
        assert_eq!((problem.status, problem.kind), (403, "project-not-allowed"));
        assert_eq!(problem.headers, []);
    }
}

#[test]
fn no_pattern_stands_for_projects() {
    for pattern in ["*", "%", ".*", "demo-*", "", "demo-docs,secret-docs"] {
        let claims = claims_with("projects", Some(json!([pattern])));
        let caller = assert_accepted(&token(&claims));
        assert!(caller.authorize("demo-docs", "jobs:read").is_err());
    }
    let nothing = assert_accepted(&token(&claims_with("projects", Some(json!([])))));
    assert!(nothing.authorize("demo-docs", "jobs:read").is_err());
    assert!(nothing.authorize("", "jobs:read").is_err());
}

#[test]
fn a_caller_may_do_what_the_scopes_say_word_by_word() {
    let may = |scope: &str, needed: &str| {
        let caller = assert_accepted(&token(&claims_with("scope", Some(json!(scope)))));
        caller.authorize("demo-docs", needed)
    };
    for scope in ["jobs:read", "jobs:create jobs:read", " jobs:read  x "] {
        assert!(may(scope, "jobs:read").is_ok(), "{scope}");
    }
    for scope in [
        "",
        " ",
        "*",
        "jobs",
        "jobs:*",
        "jobs:",
        "jobs:readx",
        "xjobs:read",
        "JOBS:READ",
        "jobs:create",
        "jobs:create,jobs:read",
        "jobs:create\tjobs:read",
        "jobs:read\n",
        "jobs:read;",
        "admin",
    ] {
        let problem = may(scope, "jobs:read").unwrap_err();
        assert_eq!((problem.status, problem.kind), (403, "insufficient-scope"));
        let challenge =
            "Bearer realm=\"quillgate\", error=\"insufficient_scope\", scope=\"jobs:read\"";
        assert_eq!(
            problem.headers,
            [("www-authenticate", challenge.to_owned())]
        );
    }
}

fn caller_with(grants: &[(&[&str], &str)]) -> Caller {
    let grant = |(projects, scope): &(&[&str], &str)| {
        Grant::new(
            projects.iter().map(|&project| project.into()).collect(),
            scope,
        )
    };
    Caller {
        issuer: "https://issuer.example".to_owned(),
        subject: "somebody".to_owned(),
        grants: grants.iter().map(grant).collect(),
        quota: Quota::default(),
    }
}

#[test]
fn one_grant_must_hold_both_the_project_and_the_scope() {
    let caller = caller_with(&[
        (&["docs"], "jobs:read"),
        (&["blog"], "jobs:create jobs:read"),
        (&["docs", "site"], "analytics:read"),
        (&[], "gateway:operate"),
    ]);
    for (project, scope, expected) in [
        ("docs", "jobs:read", None),
        ("docs", "analytics:read", None),
        ("site", "analytics:read", None),
        ("blog", "jobs:create", None),
        ("docs", "jobs:create", Some("insufficient-scope")),
        ("docs", "gateway:operate", Some("insufficient-scope")),
        ("site", "jobs:read", Some("insufficient-scope")),
        ("blog", "analytics:read", Some("insufficient-scope")),
        ("", "gateway:operate", Some("project-not-allowed")),
        ("other", "jobs:read", Some("project-not-allowed")),
    ] {
        let refused = caller.authorize(project, scope).err();
        let kind = refused.map(|problem| problem.kind);
        assert_eq!(kind, expected, "{project} {scope}");
    }
    let nobody = caller_with(&[]).authorize("docs", "jobs:read").unwrap_err();
    assert_eq!(nobody.kind, "project-not-allowed");
}

#[test]
fn whoever_runs_the_gateway_needs_the_scope_and_no_project() {
    let operates = |scope: &str| caller_with(&[(&["docs"], "jobs:read"), (&[], scope)]).operates();
    assert_eq!(OPERATE, "gateway:operate");
    assert!(operates("jobs:read gateway:operate").is_ok());
    for scope in [
        "",
        "*",
        "gateway",
        "gateway:",
        "gateway:*",
        "GATEWAY:OPERATE",
        "gateway:operatex",
    ] {
        let problem = operates(scope).unwrap_err();
        assert_eq!((problem.status, problem.kind), (403, "insufficient-scope"));
        let challenge =
            "Bearer realm=\"quillgate\", error=\"insufficient_scope\", scope=\"gateway:operate\"";
        assert_eq!(
            problem.headers,
            [("www-authenticate", challenge.to_owned())]
        );
    }
    let claims = claims_with("scope", Some(json!("gateway:operate")));
    assert!(assert_accepted(&token(&claims)).operates().is_ok());
}

#[test]
fn a_quota_is_one_integer_or_one_for_each_policy() {
    for (quota, create, send, analytics) in [
        (None, None, None, None),
        (Some(json!({})), None, None, None),
        (Some(json!(0)), Some(0), Some(0), Some(0)),
        (Some(json!(7)), Some(7), Some(7), Some(7)),
        (Some(json!({ "create-job": 10 })), Some(10), None, None),
        (
            Some(json!({ "send-message": 0, "analytics": 3 })),
            None,
            Some(0),
            Some(3),
        ),
        (
            Some(json!({ "analytics": u64::MAX })),
            None,
            None,
            Some(u32::MAX),
        ),
    ] {
        let token = token(&claims_with("quota", quota.clone()));
        let own = assert_accepted(&token).quota;
        let ceilings = ["create-job", "send-message", "analytics"].map(|policy| own.of(policy));
        assert_eq!(ceilings, [create, send, analytics], "{quota:?}");
        assert_eq!((own.of(""), own.of("Create-Job")), (None, None));
    }
}

#[test]
fn a_quota_that_is_anything_else_makes_the_token_invalid() {
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
fn of_two_quotas_each_policy_has_the_lower_ceiling() {
    let quota = |value: Value| Quota::read(&value).unwrap();
    let both = quota(json!({ "create-job": 5, "analytics": 1 })).lower(quota(
        json!({ "create-job": 9, "send-message": 2, "analytics": 0 }),
    ));
    let expected = json!({ "create-job": 5, "send-message": 2, "analytics": 0 });
    assert_eq!(both, quota(expected));
    assert_eq!(both.lower(Quota::default()), both);
}

/// Who is accepted of: no `jti`, another one, the revoked one; and issued before.
#[test]
fn a_token_is_revoked_by_its_id_or_by_its_subject_and_time() {
    let list = json!([{ "jti": "stolen" }, { "sub": "alice", "before": SECONDS - 100 }]);
    let mut config = configuration();
    config.revoked = Revoked::read(&list.to_string()).unwrap();
    for (subject, issued, id, good) in [
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
        let seen = seen_by(&config, Some(&format!("Bearer {}", token(&claims))));
        assert_eq!(seen.is_ok(), good, "{claims}");
        if let Err(problem) = seen {
            assert_eq!((problem.status, &*problem.detail), (401, REVOKED));
        }
    }
    let forged = signed(
        HEADER,
        &claims_with("jti", Some(json!("stolen"))).to_string(),
        "another",
    );
    let problem = seen_by(&config, Some(&format!("Bearer {forged}"))).unwrap_err();
    assert_eq!(problem.detail, WRONG_SIGNATURE);
}

#[test]
fn json_is_read_with_each_member_once_at_any_depth() {
    for json in [
        r#"{"a":1,"a":1}"#,
        r#"{"a":1,"\u0061":1}"#,
        r#"{"a":{"b":1,"b":2}}"#,
        r#"[[{"b":1,"b":2}]]"#,
        r#"{"a":1e999}"#,
        r#"{"a":1}x"#,
        "{'a':1}",
        "{\"a\":1,}",
        "\u{feff}{}",
        "",
    ] {
        assert_eq!(strict(json.as_bytes()), None, "{json}");
    }
    assert_eq!(strict(&b"[".repeat(100_000)), None);
    let text = r#"{"a":{"a":[null,true,-1,18446744073709551615,0.5,"\u00e9\ud83d\ude00",{}]},"b":{"a":1}}"#;
    let expected: Value = serde_json::from_str(text).unwrap();
    assert_eq!(strict(text.as_bytes()), Some(expected));
}

proptest! {
    #[test]
    fn any_change_of_one_byte_breaks_a_token(at in any::<prop::sample::Index>(), byte in 33u8..127) {
        let good = token(&claims());
        let mut bytes = good.clone().into_bytes();
        let at = at.index(bytes.len());
        prop_assume!(bytes[at] != byte);
        bytes[at] = byte;
        let changed = String::from_utf8(bytes).unwrap();
        prop_assert!(verified(&changed).is_err(), "{changed}");
    }

    #[test]
    fn whatever_is_sent_is_answered_401_without_being_repeated(text in "\\PC{0,80}", prefix in any::<bool>()) {
        let sent = if prefix { format!("Bearer {text}") } else { text.clone() };
        let problem = seen(Some(&sent)).unwrap_err();
        prop_assert_eq!(problem.status, 401);
        prop_assert!(text.len() < 12 || !problem.to_json("an-id").contains(&text));
    }

    #[test]
    fn whatever_is_signed_as_claims_is_judged_without_a_panic(claims in "\\PC{0,80}") {
        prop_assert!(verified(&signed(HEADER, &claims, SECRET)).is_err());
    }

    #[test]
    fn an_accepted_token_is_within_its_time(
        iat in -1e10..1e10f64,
        exp in -1e10..1e10f64,
        near in any::<bool>(),
    ) {
        let now = 1_750_000_000.0;
        let (iat, exp) = if near { (now + iat / 1e6, now + exp / 1e6) } else { (iat, exp) };
        let mut claims = claims_with("iat", Some(json!(iat)));
        claims["exp"] = json!(exp);
        let in_time = iat <= now + 60.0 && exp > now && exp - iat <= 7_776_000.0;
        prop_assert_eq!(verified(&token(&claims)).is_ok(), in_time);
    }
}

#[test]
fn the_tests_own_bearer_is_good() {
    assert!(seen(Some(&bearer())).is_ok());
}
