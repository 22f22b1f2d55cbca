//! Admin keys in upstream responses. The gateway withholds a successful response that contains an
//! admin key, and removes admin keys from error messages.

use std::cmp::Reverse;

use quillgate::credential::AdminKey;
use serde_json::Value;

use crate::json;
use crate::upstream::json_scanner::unescape;
use crate::upstream::settings::UpstreamSettings;

/// Parses the body of an upstream error and removes admin keys, so that the gateway neither
/// forwards nor logs them. Returns `None` for a body that is not JSON or has duplicate property
/// names.
pub fn parse_error_body<'a>(
    body: &str,
    keys: impl IntoIterator<Item = &'a AdminKey>,
) -> Option<Value> {
    let mut value = json::parse_lossy(body)?;
    redact(&mut value, &sort_keys(keys));
    Some(value)
}

/// Removes admin keys from a string, plain or with JSON escapes.
pub(super) fn redact_text<'a>(text: &str, keys: impl IntoIterator<Item = &'a AdminKey>) -> String {
    remove_keys(&unescape(text), &sort_keys(keys))
}

/// Returns the keys, longest first. If a shorter key is a prefix of a longer key, removing the
/// shorter key first would leave the rest of the longer key.
fn sort_keys<'a>(keys: impl IntoIterator<Item = &'a AdminKey>) -> Vec<&'a str> {
    let mut keys: Vec<_> = keys.into_iter().map(AdminKey::expose).collect();
    keys.sort_by_key(|key| Reverse(key.len()));
    keys
}

fn remove_keys(text: &str, keys: &[&str]) -> String {
    let remove = |text: String, key: &&str| text.replace(*key, "[key]");
    keys.iter().fold(text.to_owned(), remove)
}

/// Removes keys from all strings of a parsed value. Escapes cannot hide a key, because the parser
/// has resolved them. Property names are not forwarded and stay unchanged.
fn redact(value: &mut Value, keys: &[&str]) {
    match value {
        Value::String(text) => *text = remove_keys(text, keys),
        Value::Array(items) => items.iter_mut().for_each(|item| redact(item, keys)),
        Value::Object(members) => members.values_mut().for_each(|item| redact(item, keys)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Searches a string for the gateway's keys, plain or with JSON escapes. The string can be a whole
/// document, so the search also covers property names and malformed JSON. Returns the name of the
/// variable that contains the key, or `None` if the string contains no key.
pub(super) fn find_key(text: &str, settings: &UpstreamSettings) -> Option<&'static str> {
    let text = unescape(text);
    let contains = |keys: &[AdminKey]| keys.iter().any(|key| text.contains(key.expose()));
    if contains(&settings.admin_keys) {
        return Some("ADMIN_API_KEY");
    }
    contains(&settings.read_keys).then_some("ADMIN_READ_KEY")
}
