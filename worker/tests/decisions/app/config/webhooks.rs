use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quillgate_worker::app::config::Config;
use quillgate_worker::auth::caller::ISSUER;
use quillgate_worker::auth::revocation::RevokedTokens;
use serde_json::json;

use super::{Variable, read};
use crate::fixtures::{configure, variables};

#[test]
fn webhook_url_must_be_https_or_loopback() {
    let url = |value: &str| {
        let secret = ("WEBHOOK_SECRET", Some(WEBHOOK_SECRET));
        Config::read(variables(&[secret, ("WEBHOOK_URL", Some(value))]))
    };
    for value in [
        "https://hooks.example",
        "https://hooks.example:8443/a/@me?b=c",
        "http://localhost:9000/hook",
        "http://127.0.0.1:9000",
        "http://[::1]/hook",
    ] {
        let config = url(value).map_err(|error| error.to_string()).unwrap();
        assert_eq!(config.jobs.webhook.url.as_deref(), Some(value), "{value:?}");
    }
    let config = url("https://Hooks.Example/Done?A").ok();
    let normal = config.and_then(|config| config.jobs.webhook.url);
    assert_eq!(normal.as_deref(), Some("https://hooks.example/Done?A"));
    for value in [
        "http://localhost.evil.example",
        "http://localhost:80@evil.example",
        "http://localhost\\@evil.example",
        "https://user:hunter2@hooks.example",
        "https://hooks.example#hunter2",
        "https://?hunter2",
    ] {
        let error = url(value).err().unwrap_or_else(|| panic!("{value}"));
        assert_eq!(error.variable, "WEBHOOK_URL", "{value}");
        assert!(!error.to_string().contains("hunter2"));
    }
}

/// A webhook secret with the minimum length of 24 bytes.
const WEBHOOK_SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";

#[test]
fn webhook_url_requires_a_signing_secret() {
    let url = ("WEBHOOK_URL", Some("https://hooks.example"));
    for secret in [None, Some(""), Some(" ")] {
        let error = Config::read(variables(&[url, ("WEBHOOK_SECRET", secret)]));
        let expected = "WEBHOOK_SECRET is not set, and must be when WEBHOOK_URL is";
        assert_eq!(error.err().unwrap().to_string(), expected);
    }
    let secret = ("WEBHOOK_SECRET", Some(WEBHOOK_SECRET));
    assert!(Config::read(variables(&[url, secret])).is_ok());
    assert!(Config::read(variables(&[secret])).is_ok());
}

#[test]
fn webhook_secret_is_24_to_64_bytes_in_base64() {
    for length in [0, 1, 23, 24, 32, 64, 65, 100] {
        let bytes = vec![0xfb; length];
        let value = format!("whsec_{}", STANDARD.encode(&bytes));
        let config = Config::read(variables(&[("WEBHOOK_SECRET", Some(&value))]));
        let secrets = config.ok().map(|config| config.jobs.webhook.secrets);
        let expected = (24..=64).contains(&length).then(|| vec![bytes]);
        assert_eq!(secrets, expected, "{length}");
    }
    Variable("WEBHOOK_SECRET").rejects(&[
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYX",
        "WHSEC_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX",
        "whsec_whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX",
        "whsec_hunter2",
        "whsec_-_ECAwQFBgcICQoLDA0ODxAREhMUFRYX",
        "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX,",
        "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX",
        "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX,hunter2",
    ]);
    let value =
        "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX , whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk=";
    let secrets = read("WEBHOOK_SECRET", Some(value)).jobs.webhook.secrets;
    let (new, old): (Vec<u8>, Vec<u8>) = ((0..24).collect(), (32..58).collect());
    assert_eq!(secrets, [new, old]);
}

#[test]
fn webhook_hosts_must_be_exact() {
    Variable("WEBHOOK_HOSTS").rejects(&[
        "*",
        "https://hooks.example",
        "user@hooks.example",
        ":8443",
        "hooks.example b.example",
        "hööks.example",
    ]);
    let hosts = "hooks.example, b.example:8443,127.0.0.1:9000,[::1]:9000,[::1],";
    let hosts = read("WEBHOOK_HOSTS", Some(hosts)).jobs.webhook.hosts;
    let expected = [
        "hooks.example",
        "b.example:8443",
        "127.0.0.1:9000",
        "[::1]:9000",
        "[::1]",
    ];
    assert_eq!(hosts, expected);
    for value in [None, Some(""), Some(" , ,")] {
        assert_eq!(read("WEBHOOK_HOSTS", value).jobs.webhook.hosts, [""; 0]);
    }
}

#[test]
fn revoked_tokens_with_unknown_content_are_rejected() {
    let malformed = [
        "\"stolen-hunter2\"",
        r#"["stolen-hunter2", 1]"#,
        "[{}]",
        r#"[{"jti":"a"}"#,
        r#"[{"jti":""}]"#,
        r#"[{"id":"a"}]"#,
        r#"[{"jti":"a","jti":"b"}]"#,
        r#"[{"jti":"a","before":1}]"#,
        r#"[{"jti":"a","sub":"b","before":1}]"#,
        r#"[{"sub":"a"}]"#,
        r#"[{"before":1}]"#,
        r#"[{"sub":"","before":1}]"#,
        r#"[{"sub":"a","before":-1}]"#,
        r#"[{"sub":"a","after":1}]"#,
        r#"[{"iss":"quillgate","sub":"a"}]"#,
        r#"[{"iss":"https://hunter2.example","claims":{}}]"#,
        r#"[{"iss":"https://hunter2.example","claims":{"a":null}}]"#,
        r#"[{"iss":"https://hunter2.example","sub":"a","claims":{"a":1}}]"#,
        r#"[{"iss":"https://hunter2.example","jti":"a"}]"#,
    ];
    Variable("REVOKED_TOKENS").rejects(&malformed);
    Variable("REVOKED_TOKENS_4").rejects(&malformed);
    for value in [None, Some(""), Some(" "), Some("[]")] {
        let expected = RevokedTokens::default();
        assert_eq!(read("REVOKED_TOKENS", value).auth.revoked, expected);
    }
    let list = r#" [ {"jti":"a"}, {"before":1766000000,"sub":"alice"} ] "#;
    let expected = RevokedTokens::default();
    assert_ne!(read("REVOKED_TOKENS", Some(list)).auth.revoked, expected);
}

#[test]
fn revocations_of_an_issuer_that_is_not_trusted_are_accepted_and_reported() {
    let list = r#"[{"iss":"https://a.example","sub":"a"},{"iss":"https://a.example","sub":"b"}]"#;
    let config = read("REVOKED_TOKENS", Some(list));
    assert_eq!(config.auth.unknown_issuers(), ["https://a.example"]);
    assert_eq!(read("REVOKED_TOKENS", None).auth.unknown_issuers(), [""; 0]);
}

#[test]
fn revocations_can_span_several_variables() {
    let config = configure(&[
        ("REVOKED_TOKENS", Some(r#"["a"]"#)),
        ("REVOKED_TOKENS_3", Some(r#"["c"]"#)),
        ("REVOKED_TOKENS_4", Some(r#"[{"jti":"d"}]"#)),
    ]);
    for (id, is_revoked) in [("a", true), ("b", false), ("c", true), ("d", true)] {
        let claims = json!({ "jti": id, "sub": "alice" });
        let claims = claims.as_object().unwrap();
        let found = config.auth.revoked.covers(ISSUER, claims, Some(0.0));
        assert_eq!(found, is_revoked, "{id}");
    }
}
