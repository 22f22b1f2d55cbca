use quillgate::Millis;
use quillgate_worker::auth::session_record::{MAX_SESSION_LIFETIME, identify};
use quillgate_worker::auth::sign_in_issuer::SignInIssuer;
use quillgate_worker::auth::token::{Proof, Token};
use quillgate_worker::http::problem::Problem;
use serde_json::{Value, json};

use super::session::{NewSession, SIGN_IN, issuers, open, signing_in, signing_in_with};
use crate::fixtures::{
    EXPIRED, HEADER, NOW, RS256_HEADER, SECONDS, SECRET, at, change, claims, claims_with,
    configuration, configure, issuer_token, sign_token, summarize, token,
};

const NONCE: &str = "a-nonce";

fn foreign_claims() -> Value {
    json!({
        "iss": "https://login.example", "aud": "quillgate", "sub": "bob",
        "iat": SECONDS - 10, "exp": SECONDS + 300, "team": "docs",
    })
}

fn foreign(claims: &Value) -> String {
    issuer_token(RS256_HEADER, &claims.to_string())
}

/// Opens a session with an ID token for the first client.
fn open_with_id_token(token: &str) -> Result<NewSession, Problem> {
    let proof = Proof::IdToken {
        token,
        client: &client(),
        nonce: NONCE,
    };
    open(proof, &signing_in())
}

fn open_foreign() -> NewSession {
    let token = foreign(&foreign_claims());
    open(Proof::AccessToken(&token), &signing_in()).unwrap()
}

fn client() -> SignInIssuer {
    signing_in().auth.sign_in_issuers[0].clone()
}

fn id_claims() -> Value {
    let claims = change(foreign_claims(), "aud", Some("client-1".into()));
    change(claims, "nonce", Some(NONCE.into()))
}

#[test]
fn record_contains_the_claims_and_not_the_token() {
    let token = token(&claims());
    let session = open(Proof::AccessToken(&token), &configuration()).unwrap();
    let (kind, kept) = session.record.split_once('\n').unwrap();
    let ends = NOW.plus(MAX_SESSION_LIFETIME).0;
    assert_eq!(kind, format!("own {ends}"));
    assert_eq!(serde_json::from_str::<Value>(kept).unwrap(), claims());
    assert!(!session.record.contains(token.rsplit_once('.').unwrap().1));
    let expected = identify(&session.record, &configuration().auth, NOW).unwrap();
    assert_eq!(session.caller, expected);
}

#[test]
fn session_ends_when_its_tokens_secret_is_removed() {
    let newer = "a-newer-secret-of-the-gateway-of-40-letters";
    let secrets = format!("{newer},{SECRET}");
    let config = configure(&[("ACCESS_TOKEN_SECRET", Some(&secrets))]);
    let old = open(Proof::AccessToken(&token(&claims())), &config).unwrap();
    assert_eq!(config.auth.token_secrets[old.secret], SECRET.as_bytes());
    let newer = sign_token(HEADER, &claims().to_string(), newer);
    assert_eq!(open(Proof::AccessToken(&newer), &config).unwrap().secret, 0);
}

#[test]
fn host_verifies_issuer_signatures() {
    let (config, token) = (signing_in(), foreign(&foreign_claims()));
    let read = Token::read(Proof::AccessToken(&token), &config.auth, NOW).unwrap();
    let Token::Unverified(unverified) = read else {
        panic!("{read:?}");
    };
    assert_eq!(unverified.kid.as_deref(), Some("key-1"));
    assert!(token.starts_with(unverified.signed()));
}

#[test]
fn each_token_type_is_accepted_only_in_its_own_field() {
    let config = signing_in();
    let issuer = Some("https://access.example".into());
    let assertion = foreign(&change(foreign_claims(), "iss", issuer));
    assert!(open(Proof::AccessAssertion(&assertion), &config).is_ok());
    let (foreign, own) = (foreign(&foreign_claims()), token(&claims()));
    for proof in [
        Proof::AccessToken(&assertion),
        Proof::AccessAssertion(&foreign),
        Proof::AccessAssertion(&own),
    ] {
        let problem = open(proof, &config).unwrap_err();
        assert_eq!(summarize(&problem), "401 invalid-token", "{proof:?}");
    }
}

#[test]
fn id_token_must_match_the_client_and_the_sign_in() {
    let with = |name, value: Value| foreign(&change(id_claims(), name, Some(value)));
    let refused = |token: &str| open_with_id_token(token).unwrap_err();
    let session = open_with_id_token(&foreign(&id_claims())).unwrap();
    assert_eq!(session.caller.subject, "bob");
    let with_party = |party: &str| {
        let several = change(id_claims(), "aud", Some(json!(["client-1", "quillgate"])));
        foreign(&change(several, "azp", Some(party.into())))
    };
    assert!(open_with_id_token(&with_party("client-1")).is_ok());

    for token in [
        with("aud", "client-2".into()),
        with("aud", "quillgate".into()),
        with("aud", json!(["client-2", "quillgate"])),
        with("azp", "client-2".into()),
        with("aud", json!(["client-1", "quillgate"])),
        with("aud", json!(["client-1", "client-1"])),
        with_party("client-2"),
        with("nonce", "another".into()),
        foreign(&change(id_claims(), "nonce", None)),
        with("iss", "https://access.example".into()),
        with("exp", (SECONDS - 100).into()),
        // HS256 is valid only for the gateway's own tokens.
        token(&id_claims()),
    ] {
        assert_eq!(summarize(&refused(&token)), "401 invalid-token");
    }
    let unmapped = refused(&foreign(&change(id_claims(), "team", None)));
    assert_eq!(summarize(&unmapped), "403 identity-not-mapped");
}

#[test]
fn changed_rule_applies_immediately() {
    let record = open_foreign().record;
    let issuers = issuers();
    for (from, to, expected) in [
        ("", "", Ok("jobs:read analytics:read")),
        ("jobs:read analytics:read", "jobs:read", Ok("jobs:read")),
        (r#""docs""#, r#""web""#, Err("identity-not-mapped")),
        (r#""quillgate""#, r#""elsewhere""#, Err("invalid-token")),
        (&*issuers, "[]", Err("invalid-token")),
    ] {
        let changed = issuers.replace(from, to);
        let config = configure(&[("TRUSTED_ISSUERS", Some(&changed))]);
        let scopes = identify(&record, &config.auth, NOW)
            .map(|caller| caller.grants[0].scopes.join(" "))
            .map_err(|problem| problem.kind.as_str());
        assert_eq!(scopes.as_deref().map_err(|kind| *kind), expected, "{to}");
    }
}

#[test]
fn sessions_of_a_removed_client_end() {
    let record = open_with_id_token(&foreign(&id_claims())).unwrap().record;
    assert!(identify(&record, &signing_in().auth, NOW).is_ok());
    let renamed = SIGN_IN.replace("client-1", "client-3");
    for clients in [None, Some("[]"), Some(&*renamed)] {
        let config = signing_in_with(&[("SIGN_IN_ISSUERS", clients)]);
        let problem = identify(&record, &config.auth, NOW).unwrap_err();
        assert_eq!(summarize(&problem), "401 invalid-token");
    }
}

#[test]
fn sessions_of_a_revoked_token_end() {
    let own = token(&claims_with("jti", Some("an-id".into())));
    let own = open(Proof::AccessToken(&own), &configuration()).unwrap();
    let (own, foreign) = (own.record, open_foreign().record);
    for (record, revoked) in [
        (&own, r#"["an-id"]"#),
        (&own, r#"[{"sub":"alice","before":1750000001}]"#),
        (&foreign, r#"[{"iss":"https://login.example","sub":"bob"}]"#),
    ] {
        let config = signing_in_with(&[("REVOKED_TOKENS", Some(revoked))]);
        let problem = identify(record, &config.auth, NOW).unwrap_err();
        assert_eq!(problem.detail, "the access token has been revoked");
        assert!(identify(record, &signing_in().auth, NOW).is_ok());
    }
}

#[test]
fn session_ends_when_its_token_expires() {
    let own = open(Proof::AccessToken(&token(&claims())), &configuration()).unwrap();
    assert_eq!(own.caller.expires, at(3600));
    assert!(identify(&own.record, &configuration().auth, at(3599)).is_ok());
    let problem = identify(&own.record, &configuration().auth, at(3600)).unwrap_err();
    assert_eq!(problem.detail, EXPIRED);
    let foreign = open_foreign();
    assert!(identify(&foreign.record, &signing_in().auth, at(359)).is_ok());
    assert!(identify(&foreign.record, &signing_in().auth, at(360)).is_err());
}

#[test]
fn session_lasts_at_most_90_days() {
    let most = Millis::from_seconds(90 * 86_400);
    assert_eq!(MAX_SESSION_LIFETIME, most);
    let ends = NOW.plus(most);
    // The year 2500.
    let far = change(foreign_claims(), "exp", Some(16_725_225_600_u64.into()));
    let session = open(Proof::AccessToken(&foreign(&far)), &signing_in()).unwrap();
    assert_eq!(session.caller.expires, ends);
    let later = Millis(ends.0 - 1);
    let caller = identify(&session.record, &signing_in().auth, later).unwrap();
    assert_eq!(caller.expires, ends);
    let problem = identify(&session.record, &signing_in().auth, ends).unwrap_err();
    assert_eq!(problem.detail, EXPIRED);
    // Earlier releases did not store the session's latest possible expiry.
    let (_, claims) = session.record.split_once('\n').unwrap();
    let earlier = ["bearer\n", claims].concat();
    assert!(identify(&earlier, &signing_in().auth, NOW).is_ok());
}

#[test]
fn malformed_record_identifies_no_caller() {
    let (other, bearer) = ("other\n{}", "bearer\n{}");
    for record in ["", "own", "own\n", "own\n[]", "own\n{}", other, bearer, "x"] {
        let problem = identify(record, &signing_in().auth, NOW).unwrap_err();
        assert_eq!(summarize(&problem), "401 invalid-token", "{record}");
    }
}
