//! What the tests share: an instant, a secret, tokens, a configuration.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use quillgate::Millis;
use quillgate_worker::config::Config;
use quillgate_worker::problem::Problem;
use serde_json::{Value, json};
use sha2::Sha256;

/// The instant of every decision, in seconds and in milliseconds.
pub const SECONDS: u64 = 1_750_000_000;
pub const NOW: Millis = Millis(SECONDS * 1000);
pub const SECRET: &str = "a-secret-of-the-gateway-of-40-characters";
pub const ADMIN_KEY: &str = "mint_an_admin_key_that_is_shown_nowhere";
pub const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;
pub const DAY: u64 = 86_400;

pub fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub fn signature(signed: &str, secret: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(signed.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

/// A token of exactly these texts, rightly signed with HMAC-SHA-256 whatever they say.
pub fn signed(header: &str, claims: &str, secret: &str) -> String {
    let signed = format!("{}.{}", encoded(header), encoded(claims));
    let signature = encoded(signature(&signed, secret));
    format!("{signed}.{signature}")
}

pub fn claims() -> Value {
    json!({
        "iss": "quillgate",
        "sub": "alice",
        "projects": ["demo-docs", "other docs"],
        "scope": "jobs:create jobs:read analytics:read",
        "iat": SECONDS,
        "exp": SECONDS + 3600,
    })
}

/// The claims with one of them changed, or left out.
pub fn claims_with(name: &str, value: Option<Value>) -> Value {
    let mut claims = claims();
    let members = claims.as_object_mut().unwrap();
    match value {
        Some(value) => members.insert(name.to_owned(), value),
        None => members.remove(name),
    };
    claims
}

pub fn token(claims: &Value) -> String {
    signed(HEADER, &claims.to_string(), SECRET)
}

pub fn bearer() -> String {
    bearer_of(&claims())
}

/// `Authorization` with an own token of these claims.
pub fn bearer_of(claims: &Value) -> String {
    format!("Bearer {}", token(claims))
}

/// A working configuration, with some variables changed or, when `None`, not set.
pub fn variables(
    changes: &[(&'static str, Option<&'static str>)],
) -> impl Fn(&str) -> Option<String> {
    let changes = changes.to_vec();
    move |name| {
        if let Some((_, value)) = changes.iter().find(|(changed, _)| *changed == name) {
            return value.map(str::to_owned);
        }
        let value = match name {
            "ADMIN_API_KEY" => ADMIN_KEY,
            "ACCESS_TOKEN_SECRET" => SECRET,
            "UPSTREAM_BASE_URL" => "https://api.example",
            "ALLOWED_ORIGINS" => "https://docs.example, http://localhost:5173",
            _ => return None,
        };
        Some(value.to_owned())
    }
}

pub fn configuration() -> Config {
    configured(&[])
}

/// A working configuration with some variables changed.
#[track_caller]
pub fn configured(changes: &[(&'static str, Option<&'static str>)]) -> Config {
    let config = Config::read(variables(changes));
    config.map_err(|error| error.to_string()).unwrap()
}

/// A problem's JSON as it is sent.
pub fn json_of(problem: &Problem) -> Value {
    serde_json::from_str(&problem.to_json("an-id")).unwrap()
}

/// The one item of a validation problem's `errors`: field and rule.
#[track_caller]
pub fn field_and_rule(problem: &Problem) -> (String, String) {
    let json = json_of(problem);
    assert_eq!(json["type"], "/problems/invalid-request", "{json}");
    let items = json["errors"].as_array().unwrap();
    assert_eq!(items.len(), 1);
    let text = |name: &str| items[0][name].as_str().unwrap().to_owned();
    (text("field"), text("rule"))
}
