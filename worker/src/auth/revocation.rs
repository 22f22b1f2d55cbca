use serde_json::{Map, Value};

use crate::auth::caller::ISSUER;
use crate::auth::jwt::take_text;
use crate::auth::trusted_issuer::ExpectedClaims;
use crate::json;
use crate::variable::VariableError;

/// Cloudflare limits each variable to 5 kB, enough for about 250 ids.
const VARIABLES: [&str; 4] = [
    "REVOKED_TOKENS",
    "REVOKED_TOKENS_2",
    "REVOKED_TOKENS_3",
    "REVOKED_TOKENS_4",
];

#[derive(Debug, Clone, Default, PartialEq)]
pub struct RevokedTokens {
    ids: Vec<String>,
    /// Tokens issued before this time, in seconds, are revoked.
    subjects: Vec<(String, u64)>,
    foreign: Vec<Foreign>,
}

#[derive(Debug, Clone, PartialEq)]
struct Foreign {
    issuer: String,
    claims: ExpectedClaims,
    /// In seconds. Matching tokens with an earlier `iat` or none are revoked, or all of them
    /// without a time.
    before: Option<u64>,
}

impl RevokedTokens {
    /// Accepts issuers that are not trusted: their tokens are refused anyway. So the operator can
    /// remove an issuer, and later trust it again with the same revocations.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, VariableError> {
        let mut revoked = Self::default();
        for name in VARIABLES {
            let Some(text) = variable(name) else {
                continue;
            };
            revoked.add(&text).map_err(|rule| VariableError {
                variable: name,
                rule,
            })?;
        }
        Ok(revoked)
    }

    fn add(&mut self, text: &str) -> Result<(), &'static str> {
        let Some(Value::Array(items)) = json::parse(text.as_bytes()) else {
            return Err("must be a JSON list of revocations without duplicate members");
        };
        for item in items {
            match item {
                Value::String(id) if !id.is_empty() => self.ids.push(id),
                Value::Object(members) => self.add_object(members)?,
                _ => return Err(FORMS),
            }
        }
        Ok(())
    }

    fn add_object(&mut self, mut members: Map<String, Value>) -> Result<(), &'static str> {
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
        let (issuer, claims) = match (id, issuer, subject, claims, before) {
            (Some(id), None, None, None, None) => {
                self.ids.push(id);
                return Ok(());
            }
            (None, None, Some(subject), None, Some(before)) => {
                self.subjects.push((subject, before));
                return Ok(());
            }
            (None, Some(issuer), Some(subject), None, _) => {
                (issuer, ExpectedClaims::one("sub", subject))
            }
            (None, Some(issuer), None, Some(Value::Object(claims)), _) => {
                (issuer, ExpectedClaims::read(claims).ok_or(FORMS)?)
            }
            _ => return Err(FORMS),
        };
        if issuer.eq_ignore_ascii_case(ISSUER) {
            return Err(FORMS);
        }
        self.foreign.push(Foreign {
            issuer,
            claims,
            before,
        });
        Ok(())
    }

    /// The issuers of revocations, in their order.
    pub fn issuers(&self) -> impl Iterator<Item = &str> {
        self.foreign.iter().map(|revoked| revoked.issuer.as_str())
    }

    pub fn covers_own(&self, id: Option<&str>, subject: &str, issued: f64) -> bool {
        let is_covered =
            |(own, before): &(String, u64)| own == subject && is_before(issued, *before);
        id.is_some_and(|id| self.ids.iter().any(|own| own == id))
            || self.subjects.iter().any(is_covered)
    }

    /// A token without `iat` counts as issued before every revocation.
    pub(super) fn covers_foreign(
        &self,
        issuer: &str,
        claims: &Map<String, Value>,
        issued_at: Option<f64>,
    ) -> bool {
        self.foreign.iter().any(|revoked| {
            let is_older = match (revoked.before, issued_at) {
                (Some(before), Some(at)) => is_before(at, before),
                (None, _) | (_, None) => true,
            };
            is_older && revoked.issuer == issuer && revoked.claims.match_token(claims)
        })
    }
}

const FORMS: &str = "must have only \"jti\", {\"jti\":\"…\"}, {\"sub\":\"…\",\"before\":seconds}, and for a trusted issuer {\"iss\":\"…\",\"sub\":\"…\"} or {\"iss\":\"…\",\"claims\":{…}}, which may have before";

#[expect(clippy::cast_precision_loss, reason = "an instant far below 2^53 s")]
fn is_before(issued: f64, before: u64) -> bool {
    issued < before as f64
}
