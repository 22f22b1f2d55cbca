//! Whether JSON has the shape that the core describes ([`quillgate::schema`]): the same check as the
//! package's decoders make, without code for each type.

use quillgate::schema::{Kind, Object};
use serde_json::Value;

/// The largest integer that every reader of JSON reads exactly (RFC 8259, section 6).
const MAX_COUNT: u64 = (1 << 53) - 1;

/// Whether a value is of this kind. Unknown members may be anything; a member that may be `null` may
/// be missing.
///
/// ```
/// use quillgate::AgentJob;
/// use quillgate::schema::Described;
/// use quillgate_worker::shape::is_of_kind;
/// use serde_json::json;
///
/// assert!(is_of_kind(&json!({ "id": "j1", "more": [] }), &AgentJob::KIND));
/// assert!(!is_of_kind(&json!({ "id": 5 }), &AgentJob::KIND));
/// ```
#[must_use]
pub fn is_of_kind(value: &Value, kind: &Kind) -> bool {
    match kind {
        Kind::Text | Kind::OpenEnum(_) => value.is_string(),
        Kind::Count => is_count(value),
        Kind::Flag => value.is_boolean(),
        Kind::Nothing => false,
        Kind::Object(object) => is_object(value, object),
        Kind::List(kind) => match value {
            Value::Array(items) => items.iter().all(|item| is_of_kind(item, kind)),
            _ => false,
        },
        Kind::Nullable(kind) => value.is_null() || is_of_kind(value, kind),
    }
}

fn is_count(value: &Value) -> bool {
    match value.as_u64() {
        Some(count) => count <= MAX_COUNT,
        // JSON has one kind of number: 5.0 is 5.
        None => value.as_f64().is_some_and(|number| {
            number.fract() == 0.0 && (0.0..=9_007_199_254_740_991.0).contains(&number)
        }),
    }
}

fn is_object(value: &Value, object: &Object) -> bool {
    let Value::Object(members) = value else {
        return false;
    };
    object.fields.iter().all(|field| {
        let member = members.get(field.name).unwrap_or(&Value::Null);
        is_of_kind(member, &field.kind)
    })
}
