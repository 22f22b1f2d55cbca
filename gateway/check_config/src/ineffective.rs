//! Finds values that the Worker accepts but that do not have the intended effect: rules that
//! match no token, tokens in place of ids, milliseconds in place of seconds, and unknown issuers.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::Report;

/// Timestamps from this value on are probably in milliseconds. In seconds, this value is in the
/// year 5138.
const MIN_MILLISECONDS: u64 = 100_000_000_000;

/// Returns a message about the first rule, revocation or secret that looks wrong, or `None`. The
/// message continues a sentence that starts with the variable's name. Does not compare a value with
/// a list that has another problem.
pub fn find_ineffective(
    name: &str,
    texts: &BTreeMap<&str, &str>,
    report: &Report,
) -> Option<&'static str> {
    let text = |name| texts.get(name).copied().unwrap_or_default();
    let value = read_json(text(name));
    let items = list_items(&value);
    let list = |name| (!report.has_problem(name)).then(|| read_json(text(name)));
    if name == "TRUSTED_ISSUERS" {
        items.iter().find_map(find_unmatched_claim)
    } else if name.starts_with("REVOKED_TOKENS") {
        items.iter().find_map(find_useless_revocation).or_else(|| {
            let trusted = list("TRUSTED_ISSUERS")?;
            let mut issuers = items.iter().filter_map(|item| item["iss"].as_str());
            let is_ineffective = issuers.any(|issuer| lacks(&trusted, "issuer", issuer));
            is_ineffective.then_some(
                "has an issuer that TRUSTED_ISSUERS does not list: that entry revokes nothing",
            )
        })
    } else if name == "SIGN_IN_CLIENT_SECRET" && !text(name).trim().is_empty() {
        // Without the trusted issuers, those of sign-ins could not be read.
        let issuers = list("TRUSTED_ISSUERS").and_then(|_| list("SIGN_IN_ISSUERS"))?;
        let mut names = value.as_object().into_iter().flatten();
        let is_ineffective =
            list_items(&issuers).is_empty() || names.any(|(name, _)| lacks(&issuers, "name", name));
        is_ineffective.then_some("has a secret of an issuer that SIGN_IN_ISSUERS does not list")
    } else {
        None
    }
}

fn read_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

fn list_items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn lacks(list: &Value, property: &str, value: &str) -> bool {
    list_items(list).iter().all(|item| item[property] != value)
}

/// Returns a message about a rule for GitHub that no token can match, or `None`. Either a claim is
/// a number, although GitHub sends ids as strings. Or a claim contains `*`, which is not a
/// wildcard.
fn find_unmatched_claim(issuer: &Value) -> Option<&'static str> {
    let name = issuer["issuer"].as_str()?;
    if !is_github(name) {
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

/// The issuer of GitHub's cloud, of an enterprise there with its own name, of GHE.com, or of GitHub
/// Enterprise Server.
fn is_github(issuer: &str) -> bool {
    let Some(rest) = issuer.strip_prefix("https://token.actions.") else {
        return issuer.ends_with("/_services/token");
    };
    let (host, _) = rest.split_once('/').unwrap_or((rest, ""));
    host == "githubusercontent.com" || host.ends_with(".ghe.com")
}

fn find_useless_revocation(item: &Value) -> Option<&'static str> {
    let id = item.as_str().or_else(|| item["jti"].as_str());
    if id.is_some_and(|id| id.starts_with("eyJ") && id.contains('.')) {
        return Some("has a whole token instead of its id (jti), which revokes nothing");
    }
    let before = item["before"].as_u64();
    before
        .filter(|before| *before >= MIN_MILLISECONDS)
        .map(|_| "has milliseconds in before, which must be in seconds since 1970")
}
