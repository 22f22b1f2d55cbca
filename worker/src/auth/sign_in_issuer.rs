use std::rc::Rc;

use serde::Deserialize;
use serde_json::Value;

use crate::auth::jwt::take_text;
use crate::auth::trusted_issuer::{Source, TrustedIssuer};
use crate::http::url::is_secure_url;
use crate::json;

const MAX_NAME_BYTES: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignInIssuer {
    /// Shown by the page. Selects the issuer in `/session/start`.
    pub name: String,
    /// The exact `iss`. `TRUSTED_ISSUERS` has the issuer's rules and keys.
    pub issuer: String,
    /// The audience of the ID tokens.
    pub client_id: String,
    pub authorization_endpoint: String,
    pub token_endpoint: String,
    #[serde(default = "default_scope")]
    pub scope: String,
    /// In addition to PKCE.
    #[serde(skip)]
    pub secret: Option<String>,
}

fn default_scope() -> String {
    "openid".to_owned()
}

/// An error is the violated rule, worded to follow the variable's name.
pub(super) fn read_sign_in_issuers(
    json: &str,
    trusted: &[Rc<TrustedIssuer>],
) -> Result<Vec<SignInIssuer>, &'static str> {
    let Some(Value::Array(items)) = json::parse(json.as_bytes()) else {
        return Err("must be a JSON list of issuers without duplicate members");
    };
    let mut issuers: Vec<SignInIssuer> = Vec::new();
    for item in items {
        let issuer = read_issuer(item, trusted)?;
        if issuers.iter().any(|other| other.name == issuer.name) {
            return Err("must have a different name for each issuer");
        }
        issuers.push(issuer);
    }
    Ok(issuers)
}

pub const UNTRUSTED: &str = "must have in issuer one of TRUSTED_ISSUERS that has no header";

fn read_issuer(item: Value, trusted: &[Rc<TrustedIssuer>]) -> Result<SignInIssuer, &'static str> {
    const MEMBERS: &str = "must have issuers with the properties name, issuer, clientId, authorizationEndpoint, tokenEndpoint and optionally scope, and no others";
    let issuer: SignInIssuer = serde_json::from_value(item).map_err(|_| MEMBERS)?;
    let name = issuer.name.as_str();
    if !(1..=MAX_NAME_BYTES).contains(&name.len()) || name.contains(char::is_control) {
        return Err("must have in name 1 to 64 bytes without control characters");
    }
    let is_same =
        |one: &Rc<TrustedIssuer>| one.issuer == issuer.issuer && one.source == Source::Bearer;
    if !trusted.iter().any(is_same) {
        return Err(UNTRUSTED);
    }
    if issuer.client_id.is_empty() {
        return Err("must have in clientId what the gateway is called there");
    }
    if !is_secure_url(&issuer.authorization_endpoint) || !is_secure_url(&issuer.token_endpoint) {
        return Err(
            "must have endpoints that are https URLs, or http on this machine, without credentials or fragment",
        );
    }
    if !issuer.scope.split(' ').any(|scope| scope == "openid") {
        return Err("must have openid in scope");
    }
    Ok(issuer)
}

/// `secret` of the only issuer, or a JSON object of secrets by issuer name. Ignores secrets of
/// other issuers, so that the operator can remove an issuer.
pub(super) fn assign_secrets(
    issuers: &mut [SignInIssuer],
    secret: Option<String>,
) -> Result<(), &'static str> {
    const RULE: &str = "must be the secret of the one issuer in SIGN_IN_ISSUERS, or a JSON object of secrets by the names of issuers there";
    let Some(secret) = secret else {
        return Ok(());
    };
    if let Some(mut secrets) = json::parse_map(secret.as_bytes()) {
        for issuer in issuers {
            issuer.secret = take_text(&mut secrets, &issuer.name);
        }
        let is_text = |secret: &Value| secret.is_string();
        return secrets.values().all(is_text).then_some(()).ok_or(RULE);
    }
    match issuers {
        [] => {}
        [issuer] => issuer.secret = Some(secret),
        _ => return Err(RULE),
    }
    Ok(())
}
