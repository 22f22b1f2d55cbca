//! The gateway withholds a successful response that contains an admin key, and removes keys from
//! error messages.

use std::cmp::Reverse;

use quillgate::credential::AdminKey;
use serde_json::Value;

use crate::json;
use crate::upstream::raw_json::unescape;
use crate::upstream::upstream_settings::UpstreamSettings;

/// `None` unless the body is JSON without duplicate names.
pub fn parse_error_body<'a>(
    body: &str,
    keys: impl IntoIterator<Item = &'a AdminKey>,
) -> Option<Value> {
    let mut value = json::parse_lossy(body)?;
    redact(&mut value, &sort_keys(keys));
    Some(value)
}

/// Plain or with JSON escapes.
pub(super) fn redact_text<'a>(text: &str, keys: impl IntoIterator<Item = &'a AdminKey>) -> String {
    remove_keys(&unescape(text), &sort_keys(keys))
}

/// Longest first: if a shorter key is a prefix of a longer one, removing it would leave a rest.
fn sort_keys<'a>(keys: impl IntoIterator<Item = &'a AdminKey>) -> Vec<&'a str> {
    let mut keys: Vec<_> = keys.into_iter().map(AdminKey::expose).collect();
    keys.sort_by_key(|key| Reverse(key.len()));
    keys
}

fn remove_keys(text: &str, keys: &[&str]) -> String {
    let remove = |text: String, key: &&str| text.replace(*key, "[key]");
    keys.iter().fold(text.to_owned(), remove)
}

/// Property names are not forwarded.
fn redact(value: &mut Value, keys: &[&str]) {
    match value {
        Value::String(text) => *text = remove_keys(text, keys),
        Value::Array(items) => items.iter_mut().for_each(|item| redact(item, keys)),
        Value::Object(members) => members.values_mut().for_each(|item| redact(item, keys)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Searches valid or invalid JSON for keys, plain or with JSON escapes. Returns the name of their
/// variable.
pub(super) fn find_key(text: &str, settings: &UpstreamSettings) -> Option<&'static str> {
    let text = unescape(text);
    let contains = |keys: &[AdminKey]| keys.iter().any(|key| text.contains(key.expose()));
    if contains(&settings.admin_keys) {
        return Some("ADMIN_API_KEY");
    }
    contains(&settings.read_keys).then_some("ADMIN_READ_KEY")
}
