//! Finds mistakes in values that the Worker accepts: a rule that matches no token, or a revocation
//! that revokes nothing. They do not stop a gateway.

use serde_json::Value;

/// The first number taken for milliseconds. As seconds, it is in the year 5138.
const MILLISECONDS_FROM: u64 = 100_000_000_000;

/// Returns a mistake in the value of an accepted variable, worded to follow the variable's name.
pub fn find_slip(name: &str, text: &str) -> Option<&'static str> {
    let value: Value = serde_json::from_str(text).ok()?;
    let items = value.as_array()?;
    if name == "TRUSTED_ISSUERS" {
        items.iter().find_map(find_slip_of_issuer)
    } else if name.starts_with("REVOKED_TOKENS") {
        items.iter().find_map(find_slip_of_revocation)
    } else {
        None
    }
}

/// Finds mistakes in rules for GitHub's tokens. GitHub's claims are strings, even ids, and rules
/// compare whole values.
fn find_slip_of_issuer(issuer: &Value) -> Option<&'static str> {
    let name = issuer["issuer"].as_str()?;
    let is_github =
        name == "https://token.actions.githubusercontent.com" || name.ends_with("/_services/token");
    if !is_github {
        return None;
    }
    let rules = issuer["rules"].as_array()?;
    let claims = rules.iter().filter_map(|rule| rule["claims"].as_object());
    let values = claims.flat_map(|claims| claims.values());
    values
        .flat_map(|value| value.as_array().map_or(std::slice::from_ref(value), |all| all))
        .find_map(|value| match value {
            Value::String(text) if text.contains('*') => {
                Some("has a claim with *, which is not a wildcard: a claim must match exactly, so list every value")
            }
            Value::Number(_) => {
                Some("has a claim of GitHub that is a number: GitHub sends ids as strings, so put them in quotes")
            }
            _ => None,
        })
}

fn find_slip_of_revocation(item: &Value) -> Option<&'static str> {
    let id = item.as_str().or_else(|| item["jti"].as_str());
    if id.is_some_and(|id| id.starts_with("eyJ") && id.contains('.')) {
        return Some("has a whole token in the place of its id (jti), which revokes nothing");
    }
    let before = item["before"].as_u64();
    before
        .filter(|before| *before >= MILLISECONDS_FROM)
        .map(|_| "has milliseconds in before, which is in seconds since 1970")
}
