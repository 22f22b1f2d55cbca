use serde_json::{Map, Value, json};

use crate::auth::caller::ISSUER;
use crate::auth::jwt::take_text;
use crate::auth::trusted_issuer::ExpectedClaims;
use crate::json;
use crate::variable::{VariableError, read_variable};

/// Cloudflare limits each variable to 5 kB, enough for about 250 ids.
const VARIABLES: [&str; 4] = [
    "REVOKED_TOKENS",
    "REVOKED_TOKENS_2",
    "REVOKED_TOKENS_3",
    "REVOKED_TOKENS_4",
];

#[derive(Debug, Clone, Default, PartialEq)]
pub struct RevokedTokens(Vec<Revocation>);

#[derive(Debug, Clone, PartialEq)]
struct Revocation {
    /// [`ISSUER`] for the gateway's own tokens.
    issuer: String,
    claims: ExpectedClaims,
    /// In seconds. Matching tokens with an earlier `iat` or none are revoked, or all of them
    /// without a time.
    before: Option<u64>,
}

impl RevokedTokens {
    /// Accepts issuers that are not trusted, so that the operator can remove an issuer and later
    /// trust it again with the same revocations. See [`AuthSettings::unknown_issuers`].
    pub fn read(variables: impl Fn(&str) -> Option<String>) -> Result<Self, VariableError> {
        let mut revoked = Vec::new();
        for variable in VARIABLES {
            revoked.extend(read_variable(variable, &variables, read_revocations)?);
        }
        Ok(Self(revoked))
    }

    /// The issuers of revocations, in their order.
    pub fn issuers(&self) -> impl Iterator<Item = &str> {
        let issuers = self.0.iter().map(|revoked| revoked.issuer.as_str());
        issuers.filter(|issuer| *issuer != ISSUER)
    }

    /// A token without `iat` counts as issued before every revocation.
    pub fn covers(
        &self,
        issuer: &str,
        claims: &Map<String, Value>,
        issued_at: Option<f64>,
    ) -> bool {
        self.0.iter().any(|revoked| {
            let is_older = match (revoked.before, issued_at) {
                (Some(before), Some(at)) => is_before(at, before),
                (None, _) | (_, None) => true,
            };
            is_older && revoked.issuer == issuer && revoked.claims.match_token(claims)
        })
    }
}

fn read_revocations(json: &str) -> Result<Vec<Revocation>, &'static str> {
    let Some(Value::Array(items)) = json::parse(json.as_bytes()) else {
        return Err("must be a JSON list of revocations without duplicate members");
    };
    items.into_iter().map(read_revocation).collect()
}

fn read_revocation(item: Value) -> Result<Revocation, &'static str> {
    const FORMS: &str = "must have only \"jti\", {\"jti\":\"…\"}, {\"sub\":\"…\",\"before\":seconds}, and for a trusted issuer {\"iss\":\"…\",\"sub\":\"…\"} or {\"iss\":\"…\",\"claims\":{…}}, which may have before";
    let item = if item.is_string() {
        json!({ "jti": item })
    } else {
        item
    };
    let Value::Object(mut members) = item else {
        return Err(FORMS);
    };
    let mut take = |name| take_text(&mut members, name).filter(|text| !text.is_empty());
    let (id, issuer, subject) = (take("jti"), take("iss"), take("sub"));
    let before = members.get("before").and_then(Value::as_u64);
    if before.is_some() {
        members.remove("before");
    }
    let claims = members.remove("claims");
    // Any remaining property is misspelt or has the wrong type.
    if !members.is_empty() {
        return Err(FORMS);
    }
    let claims = match (id, &issuer, subject, claims, before) {
        (Some(id), None, None, None, None) => ExpectedClaims::one("jti", id),
        (None, None, Some(subject), None, Some(_)) | (None, Some(_), Some(subject), None, _) => {
            ExpectedClaims::one("sub", subject)
        }
        (None, Some(_), None, Some(Value::Object(claims)), _) => {
            ExpectedClaims::read(claims).ok_or(FORMS)?
        }
        _ => return Err(FORMS),
    };
    if issuer
        .as_ref()
        .is_some_and(|issuer| issuer.eq_ignore_ascii_case(ISSUER))
    {
        return Err(FORMS);
    }
    Ok(Revocation {
        issuer: issuer.unwrap_or_else(|| ISSUER.to_owned()),
        claims,
        before,
    })
}

#[expect(clippy::cast_precision_loss, reason = "an instant far below 2^53 s")]
fn is_before(issued: f64, before: u64) -> bool {
    issued < before as f64
}
