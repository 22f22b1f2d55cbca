//! The values that `openapi.yaml` refers to as `${name}`.

use quillgate::Scope;
use quillgate_worker::auth::session::cookie;
use quillgate_worker::http::content::MAX_BODY;
use quillgate_worker::jobs::poll::LOST_AFTER;
use quillgate_worker::jobs::webhook::{MAX_URL_BYTES, RETRY_AFTER};
use serde_json::{Value, json};

use super::{JsonObject, problems, schemas};

/// Returns the values of the tables, by name.
pub fn from_tables() -> JsonObject {
    let scopes = Scope::ALL.map(|scope| format!("`{}`", scope.as_str()));
    let variables: [(_, Value); _] = [
        ("lost-after", (LOST_AFTER.0 / 60_000).into()),
        ("max-body", MAX_BODY.into()),
        ("max-url-length", MAX_URL_BYTES.into()),
        ("path-segment", schemas::path_segment()),
        ("policies", problems::policies().into()),
        ("problem-types", problems::types().into()),
        ("rules", json!(problems::rules())),
        ("scopes", scopes.join(", ").into()),
        ("session-cookie", cookie::NAME.into()),
        ("version", env!("CARGO_PKG_VERSION").into()),
        ("webhook-attempts", RETRY_AFTER.len().into()),
    ];
    variables
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

/// Replaces the variables in all strings. A variable that is the whole string can have any type.
pub fn substitute(value: &mut Value, variables: &JsonObject) {
    match value {
        Value::String(text) if text.contains("${") => {
            for (name, own) in variables {
                let placeholder = format!("${{{name}}}");
                if *text == placeholder {
                    *value = own.clone();
                    return;
                }
                if text.contains(&placeholder) {
                    let own = own.as_str().map_or_else(|| own.to_string(), str::to_owned);
                    *text = text.replace(&placeholder, &own);
                }
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| substitute(item, variables)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|member| substitute(member, variables)),
        _ => {}
    }
}
